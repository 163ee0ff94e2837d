"""California housing with two hidden layers of 50 units: PBP compared with the faulty listing.

Source: the book chapter of the course, section 5.7 (the split: 10 % test, seed 0).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from bdl_teach import datasets, metrics
from bdl_teach.methods import pbp
from bdl_teach.problems import pbp_listing
from evidence.table import Results, Row, Task, grid, grouped

TITLE = "California housing, 8-50-50-1: PBP beside the simplified listing (book chapter, 5.7)"
COLUMNS = "measured elsewhere"  # heading of the published numbers
HIDDEN_UNITS = (50, 50)
KEY = "{method}/epochs-{epochs}/seed-{seed}"  # of a task
METHODS: dict[str, Callable[..., pbp.Fit]] = {"PBP": pbp.fit, "listing": pbp_listing.fit}


class Case(NamedTuple):
    """A method and its number of epochs, with the published log-likelihood and its tolerance."""

    method: str
    epochs: int
    n_seeds: int
    published: str
    low: float
    high: float


CASES = (
    Case("PBP", 1, 5, "about -0.85 to -0.89", -0.95, -0.80),
    Case("PBP", 40, 5, "about -0.67", -0.75, -0.60),
    Case("listing", 1, 5, "-1.79", -1.90, -1.70),
    Case("listing", 40, 1, "-6.50", -6.60, -6.40),
)


def tasks(quick: bool) -> list[Task]:
    """Return a task for each case and seed; if ``quick``, one epoch of each method."""
    return [
        task
        for method, epochs, n, *_ in CASES
        if epochs == 1 or not quick
        for task in grid(KEY, method=[method], epochs=[epochs], seed=range(1 if quick else n))
    ]


def run(method: str, epochs: int, seed: int) -> dict[str, float]:
    """Fit and score one case; ``seed`` fixes the start and PBP's order of the points.

    ``rmse`` is in units of 100,000 dollars, ``log_likelihood`` in nats a point, ``noise_var`` in
    squared units of y; ``alpha`` is α of the Gamma distribution of the noise precision.
    """
    from sklearn.model_selection import train_test_split

    table = datasets.california()
    x, x_test, y, y_test = train_test_split(table.x, table.y, test_size=0.1, random_state=0)
    fit = METHODS[method](x, y, hidden_units=HIDDEN_UNITS, epochs=epochs, seed=seed)
    prediction = fit.predict(x_test)
    return {
        "rmse": metrics.rmse(y_test, prediction.mean),
        "log_likelihood": float(np.mean(prediction.log_prob(y_test))),
        "alpha": fit.alpha,
        "noise_var": fit.noise_std**2,
    }


def summarise(results: Results) -> list[Row]:
    """Return the table's rows: log-likelihood, RMSE, α and noise variance of each case."""
    groups, cases = grouped(results, "method", "epochs"), {case[:2]: case for case in CASES}
    return [row for key, found in groups.items() for row in _rows(cases[key], found)]


def _rows(case: Case, found: Sequence[Mapping[str, float]]) -> list[Row]:
    label = f"{case.method}, {case.epochs} epoch{'s' if case.epochs > 1 else ''}"
    saturates = "stops near √(0.5/1e-6) = 707" if case.method == "listing" else "≤ N·epochs/2"
    published = {"log_likelihood": case.published, "rmse": "", "alpha": saturates, "noise_var": ""}
    score, *others = (
        Row.mean(label, name.replace("_", " "), [figures[name] for figures in found], figure)
        for name, figure in published.items()
    )
    agrees = "agrees" if case.low <= score.ours <= case.high else "differs"
    return [score._replace(verdict=f"{agrees}: [{case.low:g}, {case.high:g}]"), *others]
