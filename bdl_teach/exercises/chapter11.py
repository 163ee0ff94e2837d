"""Define the exercises of chapter 11: noise that is learnt."""

from typing import Any

import numpy as np

from bdl_teach.densities import HALF_LOG_TWO_PI
from bdl_teach.exercises._engine import exercise

_RNG = np.random.default_rng(11)


def _points(n: int) -> tuple[Any, Any]:
    """Draw targets and predictions ``[n]``."""
    f = _RNG.normal(size=n).round(2)
    return (f + 0.7 * _RNG.normal(size=n)).round(2), f


exercise(
    "11.1",
    *map(_points, (7, 20, 4)),
    (np.array([1e6, 3e6]), np.array([2e6, -1e6])),
    (np.array([2.0]), np.array([0.5])),
    "a variance: σ is the root of the mean square.",
    lambda y, f: np.mean((y - f) ** 2),
    "about the mean of the residuals: the density has its middle at f.",
    lambda y, f: np.std(y - f),
    "the mean distance: set the derivative of (11.1) by σ to 0.",
    lambda y, f: np.mean(np.abs(y - f)),
    "the sum for the mean: n stands in front of log σ in (11.1).",
    lambda y, f: np.sqrt(np.sum((y - f) ** 2)),
)(lambda y, f: np.sqrt(np.mean((y - f) ** 2)))


def _design(n: int, p: int) -> tuple[Any, Any]:
    """Draw inputs ``[n, p]`` and targets ``[n]`` of a linear model."""
    x = _RNG.normal(size=(n, p)).round(2)
    return x, (x.sum(axis=1) + _RNG.normal(size=n)).round(2)


def _rss(x: Any, y: Any) -> Any:
    """Return the sum of squared residuals of least squares."""
    return np.sum((y - x @ np.linalg.solve(x.T @ x, x.T @ y)) ** 2)


exercise(
    "11.2",
    *(_design(*size) for size in ((9, 2), (20, 5), (6, 5), (12, 1))),
    "nothing is paid for the weights: least squares has bent p of the n residuals to 0.",
    lambda x, y: _rss(x, y) / len(y),
    "one for all weights: n − 1 is right for one weight.",
    lambda x, y: _rss(x, y) / (len(y) - 1),
    "a bias that is not there: the columns of x are all the weights there are.",
    lambda x, y: _rss(x, y) / (len(y) - x.shape[1] - 1),
    "one too many: the columns of x are all the weights there are.",
    lambda x, y: _rss(x, y) / (len(y) - x.shape[1] + 1),
)(lambda x, y: _rss(x, y) / (len(y) - x.shape[1]))


def _half_normal(log_std: Any, scale: Any) -> Any:
    """Return log P(σ) of the half-normal prior at σ = exp(``log_std``)."""
    at = np.exp(log_std) / scale
    return np.log(2.0) - np.log(scale) - HALF_LOG_TWO_PI - 0.5 * at**2


exercise(
    "11.4",
    (0.3, 2.0),
    (np.array([-1.0, 0.5, 1.2]), 5.0),
    (-7.0, 0.4),
    (2.0, 1.0),
    "the density of σ: dσ is not d log σ: what do they differ by?",
    _half_normal,
    "the factor upside down: a density in log σ is that in σ times dσ/d log σ.",
    lambda u, s: _half_normal(u, s) - u,
    "a whole normal: half of it has twice the height.",
    lambda u, s: _half_normal(u, s) + u - np.log(2.0),
    "the factor is not logged: you return a log density.",
    lambda u, s: _half_normal(u, s) + np.exp(u),
)(lambda log_std, scale: _half_normal(log_std, scale) + log_std)


def _outputs(n: int) -> tuple[Any, Any, Any]:
    """Draw targets, and means and variances of outputs under q ``[n]``."""
    y, mean = _points(n)
    return y, mean, _RNG.uniform(0.05, 2.0, n).round(2)


exercise(
    "11.5",
    *map(_outputs, (6, 15, 3)),
    (np.array([1.0, 2.0]), np.array([1.0, 2.0]), np.array([0.3, 0.5])),
    "the doubt is missing: (11.5) has the mean of *squares under q*: expand E(y − f)².",
    lambda y, m, v: np.sqrt(np.mean((y - m) ** 2)),
    "a variance: σ is its root.",
    lambda y, m, v: np.mean((y - m) ** 2 + v),
    "sds are added: squares are.",
    lambda y, m, v: np.sqrt(np.mean((y - m) ** 2)) + np.mean(np.sqrt(v)),
    "a variance is squared: v is a variance already.",
    lambda y, m, v: np.sqrt(np.mean((y - m) ** 2 + v**2)),
)(lambda y, mean, var: np.sqrt(np.mean((y - mean) ** 2 + var)))


def _flat_enough(kl: Any, flat_std: Any, std: Any) -> Any:
    return int(np.floor(kl / np.log(flat_std / std))) + 1


exercise(
    "11.6",
    (45.0, 4.4, 1.0),
    (30.0, 7.0, 2.0),
    (80.0, 4.4, 0.5),
    (12.3, 1.3, 1.1),
    (0.4, 5.0, 1.0),
    "a ratio for its logarithm: a point gains the logarithm of the two σ's ratio.",
    lambda k, a, b: int(np.floor(k / (a / b))) + 1,
    "twice as many: log σ stands whole in (11.1), its square has the ½.",
    lambda k, a, b: int(np.floor(2 * k / np.log(a / b))) + 1,
    "half as many: log σ² is 2 log σ: which of them stands in (11.1)?",
    lambda k, a, b: int(np.floor(0.5 * k / np.log(a / b))) + 1,
    "not yet: with so many points the flat fit still has the lower F.",
    lambda k, a, b: int(np.floor(k / np.log(a / b))),
)(lambda kl, flat_std, std: _flat_enough(kl, flat_std, std))


def _mixture(y: Any, f: Any, std: Any) -> Any:
    """Return log N(y | f_s, σ_s²) of each draw ``[s]``."""
    return -0.5 * ((y - f) / std) ** 2 - np.log(std) - HALF_LOG_TWO_PI


def _mean_density(y: Any, f: Any, std: Any) -> Any:
    each = _mixture(y, f, std)
    top = each.max()
    return top + np.log(np.mean(np.exp(each - top)))


exercise(
    "11.7",
    *((y, _RNG.normal(size=n).round(2), _RNG.uniform(0.3, 2.0, n).round(2)) for y, n in
      ((0.4, 5), (-2.0, 12), (1.5, 3))),
    (80.0, np.array([0.0, 0.5]), np.array([0.7, 1.1])),  # each density is 0 in float64
    "one σ for all draws: each draw of the weights has its own.",
    lambda y, f, s: _mean_density(y, f, np.full_like(s, np.mean(s))),
    "the root mean square of σ: that is the sd of the mixture's noise, and no draw has it.",
    lambda y, f, s: _mean_density(y, f, np.full_like(s, np.sqrt(np.mean(s**2)))),
    "the mean of the logarithms: average the densities, then take the logarithm.",
    lambda y, f, s: np.mean(_mixture(y, f, s)),
    "one Gaussian for a mixture: the mixture has its two moments, and other tails.",
    lambda y, f, s: _mixture(y, np.mean(f), np.sqrt(np.var(f) + np.mean(s**2))),
    "underflow: take the largest logarithm out before you exponentiate.",
    lambda y, f, s: np.log(np.mean(np.exp(_mixture(y, f, s)))),
)(_mean_density)  # fmt: skip


def _two_heads(y: Any, f: Any, s: Any) -> Any:
    return 0.5 * ((y - f) * np.exp(-s)) ** 2 + s + HALF_LOG_TWO_PI


exercise(
    "11.8",
    *((*_points(n), _RNG.normal(size=n).round(2)) for n in (5, 3, 8)),
    (np.array([0.2]), np.array([0.2]), np.array([-500.0])),
    (np.array([1e-200, 3.0]), np.array([0.0, 1.0]), np.array([-460.0, 500.0])),
    "the second output is log σ, not log σ²: the square of e^s is e^(2s).",
    lambda y, f, s: 0.5 * (y - f) ** 2 * np.exp(-s) + 0.5 * s + HALF_LOG_TWO_PI,
    "the price of a large σ is missing: without it σ(x) grows for ever.",
    lambda y, f, s: 0.5 * ((y - f) * np.exp(-s)) ** 2 + HALF_LOG_TWO_PI,
    "overflow: e^(−2s) is too large for float64 where e^(−s) is not: multiply, then square.",
    (lambda y, f, s: 0.5 * (y - f) ** 2 * np.exp(-2 * s) + s + HALF_LOG_TWO_PI,
     lambda y, f, s: 0.5 * (y - f) ** 2 / np.exp(s) ** 2 + s + HALF_LOG_TWO_PI),
    "the second output is σ: it would have to be positive; s is its logarithm.",
    lambda y, f, s: 0.5 * ((y - f) / s) ** 2 + np.log(np.abs(s)) + HALF_LOG_TWO_PI,
    "softplus: this head is log σ, so that σ is e^s.",
    lambda y, f, s: _two_heads(y, f, np.log(np.logaddexp(0, s))),
)(_two_heads)  # fmt: skip


def _ranks(seed: int, kinds: str) -> tuple[Any]:
    """Draw ranks of the true value among draws ``[program, world]``; a letter for each program.

    r: right; n: bands too narrow; w: too wide; s: shifted.
    """
    rng, found = np.random.default_rng(seed), []
    for kind in kinds:
        u = rng.random(400)
        skewed = {"r": u, "s": u**1.7, "n": rng.beta(0.5, 0.5, 400), "w": rng.beta(2.5, 2.5, 400)}
        found.append(skewed[kind])
    return (np.array(found),)


def _by_width(ranks: Any) -> Any:
    var = ranks.var(axis=1)
    return np.where(var > 0.1, 1, np.where(var < 0.065, 2, 0))


def _which_bug(ranks: Any) -> Any:
    shifted = np.abs(ranks.mean(axis=1) - 0.5) > 0.07
    return np.where(shifted, 3, _by_width(ranks))


exercise(
    "11.9",
    *(_ranks(k, kinds) for k, kinds in enumerate(("rnws", "snr", "wwrn", "nsrw"))),
    "narrow is taken for wide: where bands are too narrow, the truth is often beyond all draws.",
    lambda r: np.array([0, 2, 1, 3])[_which_bug(r)],
    "only the mean is looked at: a U and a hump have the mean of a flat histogram.",
    lambda r: np.where(_which_bug(r) == 3, 3, 0),
    "a shift is taken for a width: look at the mean of the ranks first.",
    lambda r: np.where(_which_bug(r) == 3, 2, _which_bug(r)),
    "a shift to one side only: the mean of the ranks may be too low or too high.",
    lambda r: np.where(r.mean(axis=1) - 0.5 > 0.07, 3, _by_width(r)),
    "the sd for the variance: a flat histogram has the sd 0.29 and the variance 1/12.",
    lambda r: np.where(_which_bug(r) == 3, 3, 1),
    "only coverage is looked at: count the ranks in each tail alone.",
    lambda r: np.where(_which_bug(r) == 3, 1, _which_bug(r)),
)(_which_bug)


def _mode(residuals: Any, scale: Any, extra: float = 0.0) -> Any:
    """Return σ at which n/σ + σ/scale² = RSS/σ³, with n − ``extra`` in place of n."""
    n, rss = len(residuals) - extra, np.sum(residuals**2)
    return np.sqrt(2.0 * rss / (n + np.sqrt(n**2 + 4.0 * rss / scale**2)))


exercise(
    "11.10",
    *((_RNG.normal(size=n).round(2), scale) for n, scale in ((6, 0.5), (15, 2.0), (3, 0.3))),
    (np.array([200.0, -300.0, 100.0, 50.0]), 1.0),
    (np.array([1e-3, -2e-3]), 3.0),
    "no prior: that is maximum likelihood.",
    lambda r, s: np.sqrt(np.mean(r**2)),
    "the mode of log σ: its density has one more log σ; here n of them count.",
    lambda r, s: _mode(r, s, 1.0),
    "a variance: solve for σ², and take the root.",
    lambda r, s: _mode(r, s) ** 2,
    "a compromise of two σ's: set the derivative of (11.1) plus σ²/(2 scale²) to 0.",
    lambda r, s: (np.sqrt(np.mean(r**2)) ** -2 + s**-2) ** -0.5,
)(lambda residuals, scale: _mode(residuals, scale))
