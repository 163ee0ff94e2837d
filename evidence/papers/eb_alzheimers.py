"""ROC-AUC of empirical Bayes on the Alzheimer's table, by width of the hidden layer.

Four models on the same five splits of 80/20: a network fitted by maximum likelihood, one with the
weight decay that is best on a validation split, empirical Bayes as in the source (no biases, one
draw of the weights a step), and an improved one (with biases, σ in units of 1/√fan-in, and local
reparameterization).

Source: Basov, "Empirical Bayesian neural networks", section 9 and figure 1.
"""

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

from scipy import stats

from bdl_teach import datasets, metrics
from bdl_teach._support.checks import Array
from bdl_teach.methods import empirical_bayes, point
from evidence.table import Results, Row, Task, grid, grouped

TITLE = "ROC-AUC on the Alzheimer's table by width, 1500 steps: empirical Bayes, one network"
COLUMNS = "measured"  # heading of the published numbers
LABELS = {
    "classic": "classic",
    "decay": "classic, weight decay",
    "eb_source": "EB, no biases, one W a step",
    "eb_local": "EB, biases, fan-in, local",
}
PUBLISHED = {  # mean training and test AUC by width, on five other splits
    "classic": {1: (0.870, 0.858), 4: (0.931, 0.867), 16: (1.0, 0.832), 60: (1.0, 0.853)},
    "eb_source": {1: (0.809, 0.792), 4: (0.910, 0.904), 16: (0.941, 0.925), 60: (0.946, 0.927)},
    "eb_local": {1: (0.897, 0.889), 4: (0.937, 0.930), 16: (0.954, 0.946), 60: (0.956, 0.943)},
}
DECAYS = (1.0, 3.0, 10.0, 30.0, 100.0)


def tasks(quick: bool) -> list[Task]:
    """Return a task for each width (if ``quick``, only four), model and split."""
    widths = (1, 4, 16, 60) if quick else range(1, 61)
    key = "{model}/width-{width:02d}/split-{split}"
    return grid(key, width=widths, model=LABELS, split=range(5))


def run(model: str, width: int, split: int) -> dict[str, float]:
    """Fit a model of ``LABELS`` on one split; return its ROC-AUC on training and test rows.

    Empirical Bayes adds ``pruned``, the share of pruned weights; weight decay adds ``decay``.
    """
    table = datasets.alzheimers()
    train, test = table.splits()[split]
    x, y = (table.x - table.x[train].mean(axis=0)) / table.x[train].std(axis=0), table.y
    fit, extra = _fit(model, x[train], y[train], width)
    train_auc, test_auc = (
        metrics.auroc(y[rows], fit.predict(x[rows], n_samples=200).mean) for rows in (train, test)
    )
    return {"train": train_auc, "test": test_auc, **extra}


def _fit(model: str, x: Array, y: Array, width: int) -> tuple[Any, dict[str, float]]:
    common: dict[str, Any] = {"likelihood": "bernoulli", "hidden_units": (width,), "steps": 1500}
    if model == "classic":
        return point.fit(x, y, **common), {}
    if model == "decay":
        decay = best_decay(x, y, common)
        return point.fit(x, y, weight_decay=decay, **common), {"decay": decay}
    common |= {**empirical_bayes.SOURCE, "learning_rate": 0.02}
    if model == "eb_source":
        common |= {"biases": False, "scale": "none", "estimator": "shared"}
    fit = empirical_bayes.fit(x, y, **common)
    return fit, {"pruned": fit.pruning().fraction}


def best_decay(x: Array, y: Array, common: Mapping[str, Any]) -> float:
    """Return the weight decay of best ROC-AUC on the last fifth of the training rows."""
    held = len(x) - len(x) // 5

    def score(decay: float) -> float:
        fit = point.fit(x[:held], y[:held], weight_decay=decay, **common)
        return metrics.auroc(y[held:], fit.predict(x[held:]).mean)

    return max(DECAYS, key=score)


def summarise(results: Results) -> list[Row]:
    """Return rows: AUCs of each model and width, then correlations of training and test AUC."""
    cells, widths = grouped(results, "model", "width"), range(1, 61)
    rows = [
        row
        for model, width in product(LABELS, widths)
        if (model, width) in cells
        for row in _rows(model, width, cells[model, width])
    ]
    return rows + [row for model in LABELS for row in _correlations(model, results)]


def _rows(model: str, width: int, runs: Sequence[Mapping[str, float]]) -> list[Row]:
    label = f"{LABELS[model]}, width {width}"
    train, test = ([f[part] for f in runs] for part in ("train", "test"))
    gap = [one - other for one, other in zip(train, test, strict=True)]
    quantities = {"train AUC": train, "test AUC": test, "train − test": gap}
    rows = [Row.mean(label, quantity, values) for quantity, values in quantities.items()]
    if width in (published := PUBLISHED.get(model, {})):
        high, low = published[width]
        for i, held in enumerate((high, low, high - low)):
            said = _verdict(rows[i].ours - held, rows[i].standard_error, rows[i].n) if i < 2 else ""
            rows[i] = rows[i]._replace(published=f"{held:.3f}", verdict=said)
    return rows


def _verdict(difference: float, error: float, n: int) -> str:
    """Return as text whether two means over different splits agree: "agrees: +0.003".

    Each mean is taken to have the standard error ``error``, over ``n`` splits. They agree if they
    differ by at most 0.01 or by at most t √2 ``error``; t is Student's 97.5 % quantile.
    """
    reach = float(stats.t.ppf(0.975, n - 1)) * math.sqrt(2) * error
    close = abs(difference) <= max(0.01, reach)  # one split has no error: 0.01
    better = "agrees" if close else ("higher" if difference > 0 else "lower")
    return f"{better}: {difference:+.3f}"


def _correlations(model: str, results: Results) -> list[Row]:
    """Return rows of the correlation of training and test AUC, over widths and over splits."""
    mine = [(arguments, f) for arguments, f in results if arguments["model"] == model]
    kinds = {"Pearson r": stats.pearsonr, "Spearman r": stats.spearmanr}
    known = dict(zip(kinds, ("0.973", "0.745"), strict=True)) if model == "eb_source" else {}
    rows = []
    for across, fixed in (("widths", "split"), ("splits", "width")):
        groups = [found for found in grouped(mine, fixed).values() if len(found) > 2]
        pairs = [[[f[part] for f in found] for part in ("train", "test")] for found in groups]
        for kind, measure in kinds.items():
            values = [v for pair in pairs if math.isfinite(v := float(measure(*pair)[0]))]
            published = known.get(kind, "") if across == "widths" else "0" * bool(known)
            if values:
                rows.append(Row.mean(f"{LABELS[model]}, across {across}", kind, values, published))
    return rows
