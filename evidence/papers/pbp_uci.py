"""PBP on nine UCI sets with the published splits: RMSE and log-likelihood of each split.

Source: Hernández-Lobato & Adams 2015, tables 1 and 2; the "original" numbers are from the authors'
own program, run on the same splits.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import datasets, metrics
from bdl_teach.methods import pbp
from evidence.table import Results, Row, Task, grid, grouped, verdict

TITLE = "PBP on UCI sets, test RMSE and log-likelihood (Hernández-Lobato & Adams 2015)"
COLUMNS = "paper; authors' program, same splits"  # heading of the published numbers


class Published(NamedTuple):
    """One line of the published table."""

    paper: tuple[str, str]  # RMSE and log-likelihood as the paper prints them; "" if it does not
    original: tuple[tuple[float, float], tuple[float, float]]  # (mean, error or NaN) of both
    hidden_units: tuple[int, ...] = (50,)
    epochs: int = 40
    n_splits: int = 20


PUBLISHED = {
    "boston": Published(("3.014±.180", "-2.574±.089"), ((3.005, 0.180), (-2.574, 0.093))),
    "concrete": Published(("5.667±.093", "-3.161±.019"), ((5.707, 0.104), (-3.169, 0.021))),
    "energy": Published(("1.804±.048", "-2.042±.019"), ((1.815, 0.048), (-2.045, 0.020))),
    "kin8nm": Published((".098±.0007", ".896±.006"), ((0.0980, 0.0007), (0.900, 0.007))),
    "naval": Published((".006", "3.731±.006"), ((0.0056, math.nan), (3.745, 0.006))),
    "power": Published(("4.124±.035", "-2.837±.009"), ((4.122, 0.033), (-2.836, 0.008))),
    "protein": Published(
        ("4.732±.013", "-2.973±.003"), ((4.725, 0.010), (-2.972, 0.002)), (100,), 20, 5
    ),
    "wine": Published((".635±.008", "-.968±.014"), ((0.634, 0.008), (-0.966, 0.014))),
    "yacht": Published(("1.015±.054", "-1.634±.016"), ((0.995, 0.050), (-1.626, 0.015))),
    "boston, two layers": Published(("", ""), ((2.840, math.nan), (-2.443, math.nan)), (50, 50)),
    "concrete, two layers": Published(("", ""), ((5.280, math.nan), (-3.084, math.nan)), (50, 50)),
    "energy, two layers": Published(("", ""), ((0.847, math.nan), (-1.702, math.nan)), (50, 50)),
    "wine, two layers": Published(("", ""), ((0.635, math.nan), (-0.956, math.nan)), (50, 50)),
    "yacht, two layers": Published(("", ""), ((0.831, math.nan), (-1.785, math.nan)), (50, 50)),
}


def tasks(quick: bool) -> list[Task]:
    """Return a task for each row of the table and split; if ``quick``, only four tasks."""
    key, lines = "{line}/split-{split:02d}", ("boston", "yacht") if quick else PUBLISHED
    return [
        task
        for line in lines
        for task in grid(key, line=[line], split=range(2 if quick else PUBLISHED[line].n_splits))
    ]


def run(line: str, split: int) -> dict[str, float]:
    """Fit one split, whose number is also the seed, and score its test rows.

    ``rmse`` is in the units of y, ``log_likelihood`` in nats a point, ``alpha_share`` the final
    α divided by half the number of updates.
    """
    published, table = PUBLISHED[line], datasets.uci(line.partition(",")[0])
    train, test = table.splits()[split]
    plan: dict[str, Any] = {"hidden_units": published.hidden_units, "epochs": published.epochs}
    fit = pbp.fit(table.x[train], table.y[train], seed=split, **plan)
    prediction = fit.predict(table.x[test])
    return {
        "rmse": metrics.rmse(table.y[test], prediction.mean),
        "log_likelihood": float(np.mean(prediction.log_prob(table.y[test]))),
        "alpha_share": fit.alpha / (len(train) * published.epochs / 2),
    }


def summarise(results: Results) -> list[Row]:
    """Return the table's rows: RMSE, log-likelihood and α of each published line."""
    return [
        row
        for (line,), found in grouped(results, "line").items()
        if line in PUBLISHED  # not chapter 7's substitute for missing data
        for row in _rows(line, found)
    ]


def _rows(line: str, found: Sequence[Mapping[str, float]]) -> list[Row]:
    rows, published = [], PUBLISHED[line]
    quantities = {"RMSE": "rmse", "log-likelihood": "log_likelihood"}
    for k, (quantity, name) in enumerate(quantities.items()):
        original, error = published.original[k]
        known = not math.isnan(error)
        heading = f"{published.paper[k] or 'not given'}; {original:g}" + f"±{error:g}" * known
        row = Row.mean(line, quantity, [figures[name] for figures in found], heading)
        # scaled to our number of splits; our own error if none was published
        unit = error * math.sqrt(published.n_splits / row.n) if known else row.standard_error
        judged = "" if math.isnan(unit) else verdict(row.ours, original, unit)
        rows.append(row._replace(verdict=judged))
    shares = [figures["alpha_share"] for figures in found]
    row = Row.mean(line, "α / (N·epochs/2)", shares, "of the order of 1")
    runs_away = "differs: the noise update saturates or runs away"
    return [*rows, row._replace(verdict="agrees" if 0.3 < row.ours < 3.0 else runs_away)]
