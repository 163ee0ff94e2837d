"""Gradient variance of five estimators by minibatch size, in theory and measured.

One weight, y = w·x with w ~ N(μ, σ²), at random minibatches of M of N points: for μ, shared
weights give c² σ² (Σx²)² and noise for each point c² σ² Σx⁴, with c = (N/M)/noise²; their ratio
(Σx²)²/Σx⁴ grows as M.

Source: Kingma, Salimans & Welling 2015, section 2.1 and 2.2; Wen et al. 2018 (Flipout).
"""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean

import numpy as np

from bdl_teach import estimators
from bdl_teach.experiments.table import Results, Row, Task, grid, grouped, verdict

TITLE = (
    "Variance of the gradient of one weight's expected cost, in units of (Nσ/noise²)², "
    "for minibatches of M"
)
COLUMNS = "theory"  # what is held against
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
    """Return the tasks: one estimator, one size of minibatch, one minibatch of that size."""
    sizes, batches, n_draws = (SIZES[:3], 3, 2000) if quick else (SIZES, 10, 20_000)
    key = "{kind}/{size}/batch-{seed:02d}"
    return grid(key, size=sizes, kind=LABELS, seed=range(batches), n_draws=[n_draws])


def run(kind: str, size: int, seed: int, n_draws: int) -> dict[str, float]:
    """Draw the gradient at one minibatch; return its variance, measured and in closed form.

    Args:
        kind: One of ``estimators.KINDS``.
        size: Points in the minibatch.
        seed: Which minibatch, and which draws.
        n_draws: How many gradients to draw.

    Returns:
        For ``mu`` and ``sigma``: the variance in units of (Nσ/noise²)², its ``_theory``, its
        Monte-Carlo ``_error``, and the ``_bias`` of the mean in standard errors.
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
    """Draw a minibatch of the one-weight model, for the estimators."""
    rng = np.random.default_rng([seed, size])
    x = rng.uniform(0.5, 1.5, (size, 1))
    y = 0.7 * x[:, 0] + NOISE_STD * rng.standard_normal(size)
    return estimators.minibatch([MU], [SIGMA], x, y, NOISE_STD, N_DATA)


def summarise(results: Results) -> list[Row]:
    """Average variances, their ratios and the bias over the minibatches."""
    cells = grouped(results, "size", "kind")
    rows = [
        _row(f"M = {size}, {LABELS[kind]}", f"Var d/d{symbol}", _averages(name, figures), figures)
        for name, symbol in (("mu", "μ"), ("sigma", "σ"))
        for (size, kind), figures in cells.items()
    ]
    for size in sorted({size for size, _ in cells}):
        if (size, "shared") in cells and (size, "local") in cells:
            local = cells[size, "local"]
            ratio = _ratio(_averages("mu", cells[size, "shared"]), _averages("mu", local))
            rows.append(_row(f"M = {size}, shared : local", "ratio of Var d/dμ", ratio, local))
    by_kind = grouped(results, "kind")
    for kind in LABELS:
        if figures := by_kind.get((kind,)):
            bias = [f[f"{name}_bias"] for f in figures for name in ("mu", "sigma")]
            rms, error = math.hypot(*bias) / len(bias) ** 0.5, (2 * len(bias)) ** -0.5
            rows.append(_row(LABELS[kind], "bias / its error, rms", (rms, 1.0, error), bias))
    return rows


Measured = tuple[float, float, float]  # what was measured, what theory says, the error


def _row(label: str, quantity: str, measured: Measured, each: Sequence[object]) -> Row:
    ours, theory, error = measured
    judged = verdict(ours, theory, error, within=3.0)
    return Row(label, quantity, f"{theory:.4g}", ours, error, len(each), judged)


def _ratio(shared: Measured, local: Measured) -> Measured:
    """Return the variance with shared weights over that of local: (Σx²)²/Σx⁴ for equal x."""
    ratio = shared[0] / local[0]
    error = ratio * math.hypot(shared[2] / shared[0], local[2] / local[0])
    return ratio, shared[1] / local[1], error


def _averages(name: str, figures: Sequence[Mapping[str, float]]) -> Measured:
    """Average over the minibatches."""
    ours, theory, error = ([f[name + end] for f in figures] for end in ("", "_theory", "_error"))
    return fmean(ours), fmean(theory), math.hypot(*error) / len(figures)
