"""Gradient variance of five estimators by minibatch size, in theory and measured.

The model is y = w·x with w ~ N(μ, σ²), at random minibatches of M of N points. The variance of
d/dμ is c² σ² (Σx²)² with shared weights and c² σ² Σx⁴ with weights for each point, where
c = (N/M)/noise²; their ratio (Σx²)²/Σx⁴ grows as M.

Source: Kingma, Salimans & Welling 2015, section 2.1 and 2.2; Wen et al. 2018 (Flipout).
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from bdl_teach import estimators
from evidence.table import Results, Row, Task, grid, grouped, verdict

TITLE = (
    "Variance of the gradient of one weight's expected cost, in units of (Nσ/noise²)², "
    "for minibatches of M"
)
COLUMNS = "theory"  # heading of the published numbers
LABELS = {
    "score": "score function",
    "shared": "shared weights",
    "per_example": "weights per example",
    "local": "local",
    "flipout": "Flipout",
}
SIZES = (1, 4, 16, 64, 256)
N_DATA, NOISE_STD, MU, SIGMA = 1024, 0.5, 0.6, 0.3


def tasks(quick: bool) -> list[Task]:
    """Return a task for each estimator, size and seed of a minibatch; few if ``quick``."""
    sizes, batches, n_draws = (SIZES[:3], 3, 2000) if quick else (SIZES, 10, 20_000)
    key = "{kind}/{size}/batch-{seed:02d}"
    return grid(key, size=sizes, kind=LABELS, seed=range(batches), n_draws=[n_draws])


def run(kind: str, size: int, seed: int, n_draws: int) -> dict[str, float]:
    """Measure the variance of an estimator's gradient at one minibatch of ``size`` points.

    ``mu`` and ``sigma`` are the variances of d/dμ and d/dσ in units of (Nσ/noise²)². For each,
    ``_theory`` is the variance in closed form, ``_error`` its Monte-Carlo error, and ``_bias`` the
    distance of the mean from the exact gradient, in standard errors.
    """
    problem = minibatch(size, seed)
    place = seed * len(LABELS) + list(LABELS).index(kind)
    draws_seed = 1000 * place + size  # no draw is used twice
    draws = estimators.gradient_samples(kind, problem, n_draws=n_draws, seed=draws_seed)
    theory = estimators.gradient_variance(kind, problem)
    truth = problem.expected
    unit = (N_DATA * SIGMA / NOISE_STD**2) ** 2
    figures = {}
    for name in ("mu", "sigma"):
        off = getattr(draws, name)[:, 0] - getattr(truth, name)[0]
        square = (off - off.mean()) ** 2
        figures[name] = float(square.mean()) / unit
        figures[f"{name}_theory"] = float(getattr(theory, name)[0]) / unit
        figures[f"{name}_error"] = float(square.std()) / math.sqrt(n_draws) / unit
        figures[f"{name}_bias"] = float(off.mean() / np.sqrt(square.mean() / n_draws))
    return figures


def minibatch(size: int, seed: int) -> estimators.Minibatch:
    """Draw a minibatch of data for the model with one weight."""
    rng = np.random.default_rng([seed, size])
    x = rng.uniform(0.5, 1.5, (size, 1))
    y = 0.7 * x[:, 0] + NOISE_STD * rng.standard_normal(size)
    return estimators.minibatch([MU], [SIGMA], x, y, NOISE_STD, N_DATA)


def summarise(results: Results) -> list[Row]:
    """Return the table's rows: variances, their ratios, and biases, averaged over minibatches."""
    cells = grouped(results, "size", "kind")
    rows = [
        _row(f"M = {size}, {LABELS[kind]}", f"Var d/d{symbol}", _averages(name, figures), figures)
        for name, symbol in (("mu", "μ"), ("sigma", "σ"))
        for (size, kind), figures in cells.items()
    ]
    for size in sorted({size for size, _ in cells}):
        if (size, "shared") in cells and (size, "local") in cells:
            one, other = (_averages("mu", cells[size, kind]) for kind in ("shared", "local"))
            relative = math.hypot(one[2] / one[0], other[2] / other[0])
            ratio = one[0] / other[0], one[1] / other[1], one[0] / other[0] * relative
            label = f"M = {size}, shared : local"
            rows.append(_row(label, "ratio of Var d/dμ", ratio, cells[size, "local"]))
    by_kind = grouped(results, "kind")
    for kind in LABELS:
        if figures := by_kind.get((kind,)):
            bias = [f[f"{name}_bias"] for f in figures for name in ("mu", "sigma")]
            rms, error = math.hypot(*bias) / len(bias) ** 0.5, (2 * len(bias)) ** -0.5
            rows.append(_row(LABELS[kind], "bias / its error, rms", (rms, 1.0, error), bias))
    return rows


Measured = tuple[float, float, float]  # measured value, value in theory, error


def _row(label: str, quantity: str, measured: Measured, each: Sequence[object]) -> Row:
    ours, theory, error = measured
    judged = verdict(ours, theory, error, within=3.0)
    return Row(label, quantity, f"{theory:.4g}", ours, error, len(each), judged)


def _averages(name: str, figures: Sequence[Mapping[str, float]]) -> Measured:
    """Return the mean measured and theoretical Var d/d``name``, and the error of the first."""
    ours, theory, error = ([f[name + end] for f in figures] for end in ("", "_theory", "_error"))
    return fmean(ours), fmean(theory), math.hypot(*error) / len(figures)
