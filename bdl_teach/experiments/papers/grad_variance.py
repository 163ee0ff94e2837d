"""Gradient variance of five estimators by minibatch size, in theory and measured.

One weight, y = w·x with w ~ N(μ, σ²), at random minibatches of M of N points: for μ, shared
weights give c² σ² (Σx²)² and noise for each point c² σ² Σx⁴, with c = (N/M)/noise²; their ratio
(Σx²)²/Σx⁴ grows as M.

Source: Kingma, Salimans & Welling 2015, section 2.1 and 2.2; Wen et al. 2018 (Flipout).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from bdl_teach.experiments.table import Results, Row, Task, grid, grouped, mean_and_error, verdict

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
    import numpy as np

    from bdl_teach import estimators

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


def minibatch(size: int, seed: int) -> Any:
    """Draw a minibatch of the one-weight model, for the estimators."""
    import numpy as np

    from bdl_teach import estimators

    rng = np.random.default_rng([seed, size])
    x = rng.uniform(0.5, 1.5, (size, 1))
    y = 0.7 * x[:, 0] + NOISE_STD * rng.standard_normal(size)
    return estimators.minibatch([MU], [SIGMA], x, y, NOISE_STD, N_DATA)


def summarise(results: Results) -> list[Row]:
    """Average variances, their ratios and the bias over the minibatches."""
    cells = grouped(results, "size", "kind")
    rows = [
        _variance_row(size, kind, name, figures)
        for name in ("mu", "sigma")
        for (size, kind), figures in cells.items()
    ]
    sizes = sorted({size for size, _ in cells})
    ratios = [
        _ratio_row(size, cells[size, "shared"], cells[size, "local"])
        for size in sizes
        if (size, "shared") in cells and (size, "local") in cells
    ]
    present = [kind for kind in LABELS if any(kind == k for _, k in cells)]
    return [*rows, *ratios, *(_bias_row(kind, results) for kind in present)]


def _variance_row(size: int, kind: str, name: str, figures: Sequence[Mapping[str, float]]) -> Row:
    ours, theory, error = _averages(name, figures)
    label = f"M = {size}, {LABELS[kind]}"
    quantity = f"Var d/d{'μ' if name == 'mu' else 'σ'}"
    judged = verdict(ours, theory, error, within=3.0)
    return Row(label, quantity, f"{theory:.4g}", ours, error, len(figures), judged)


def _ratio_row(
    size: int, shared: Sequence[Mapping[str, float]], local: Sequence[Mapping[str, float]]
) -> Row:
    """Return the mean variance with shared weights over that of local: (Σx²)²/Σx⁴ for equal x."""
    (top, top_theory, top_error), (low, low_theory, low_error) = (
        _averages("mu", figures) for figures in (shared, local)
    )
    ratio, theory = top / low, top_theory / low_theory
    error = ratio * math.hypot(top_error / top, low_error / low)
    judged = verdict(ratio, theory, error, within=3.0)
    label = f"M = {size}, shared : local"
    return Row(label, "ratio of Var d/dμ", f"{theory:.4g}", ratio, error, len(local), judged)


def _averages(name: str, figures: Sequence[Mapping[str, float]]) -> tuple[float, float, float]:
    """Average over the minibatches: measured variance, theory, and the measured one's error."""
    ours, theory = (
        mean_and_error([f[key] for f in figures])[0] for key in (name, f"{name}_theory")
    )
    error = math.sqrt(sum(f[f"{name}_error"] ** 2 for f in figures)) / len(figures)
    return ours, theory, error


def _bias_row(kind: str, results: Results) -> Row:
    """Return the rms of the bias over its standard error: 1 if there is none."""
    squares = [
        figures[f"{name}_bias"] ** 2
        for arguments, figures in results
        if arguments["kind"] == kind
        for name in ("mu", "sigma")
    ]
    rms = math.sqrt(sum(squares) / len(squares))
    error = 1.0 / math.sqrt(2 * len(squares))
    judged = verdict(rms, 1.0, error, within=3.0)
    return Row(LABELS[kind], "bias / its error, rms", "1", rms, error, len(squares), judged)
