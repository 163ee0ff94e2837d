"""Exercises 3.9 and 3.10: pruning, and a gradient without its explicit part."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.checks import Array
from bdl_teach.exercises.engine import Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(3)


def _slope(rho: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-rho))


def _softplus(rho: Any) -> Any:
    return np.logaddexp(0.0, rho)


def _pruned(mean: Any, fraction: float, score: Any) -> Array:
    out = np.array(mean)
    out[np.argsort(score)[: int(fraction * out.size)]] = 0.0
    return out


_NETS = tuple(
    (_RNG.normal(0.0, 1.0, n), _RNG.gamma(1.0, 0.5, n) + 0.05, fraction)
    for n, fraction in ((10, 0.3), (23, 0.5), (7, 0.0), (15, 0.99))
)

PRUNE = Exercise(
    "3.9",
    "Extend: prune a network",
    "3.12",
    lambda mean, std, fraction: _pruned(mean, fraction, np.abs(mean) / std),
    _NETS,
    (
        Mistake(
            "σ ignored",
            "you sort by |μ|; a small weight that is known well may matter.",
            lambda m, s, f: _pruned(m, f, np.abs(m)),
        ),
        Mistake(
            "the wrong end",
            "you remove the weights with the *highest* signal-to-noise ratio.",
            lambda m, s, f: _pruned(m, f, -np.abs(m) / s),
        ),
        Mistake(
            "the absolute value is missing",
            "a large negative weight is a strong one: sort by |μ|/σ.",
            lambda m, s, f: _pruned(m, f, m / s),
        ),
        Mistake(
            "σ² for σ",
            "the ratio is |μ|/σ.",
            lambda m, s, f: _pruned(m, f, np.abs(m) / s**2),
        ),
        Mistake(
            "μ ignored",
            "you remove the widest weights; a wide one with a large |μ| carries signal.",
            lambda m, s, f: _pruned(m, f, -s),
        ),
        Mistake(
            "kept the fraction",
            "`fraction` is the share to be removed, not to be kept.",
            lambda m, s, f: _pruned(m, 1 - f, np.abs(m) / s),
        ),
        Mistake(
            "the ratio returned",
            "return the weights, not their signal-to-noise ratio.",
            lambda m, s, f: np.abs(m) / s,
        ),
    ),
)


def _path(mu: Any, sigma: Any, eps: Any, x: Any, y: Any, noise_var: Any, prior_var: Any) -> Any:
    w = mu + sigma * eps
    return -eps / sigma + w / prior_var - np.sum((y - w * x) * x) / noise_var


def _path_gradient(
    mu: Any, rho: Any, eps: Any, x: Any, y: Any, noise_std: Any, sigma_p: Any
) -> Any:
    return _path(mu, _softplus(rho), eps, x, y, noise_std**2, sigma_p**2)


PATH_GRADIENT = Exercise(
    "3.10",
    "Extend: a gradient that lands",
    "3.5",
    _path_gradient,
    (
        (0.4, -1.0, 0.7, _A([1.0, -0.5, 2.0]), _A([0.9, -0.2, 1.1]), 0.5, 1.5),
        (-0.3, 0.4, -1.2, _A([0.3, 1.4]), _A([-1.0, 0.8]), 0.8, 0.7),
    ),
    (
        Mistake(
            "the explicit part is still there",
            "the two parts of log q cancel in the whole Δμ; leave out ∂f/∂μ = ε/σ, and the path "
            "term ∂ log q/∂w = −ε/σ remains.",
            lambda m, r, e, x, y, s, p: _path_gradient(m, r, e, x, y, s, p) + e / _softplus(r),
        ),
        Mistake(
            "softplus forgotten",
            "σ = log(1 + e^ρ); ρ itself may be negative.",
            lambda m, r, e, x, y, s, p: _path(m, r, e, x, y, s**2, p**2),
        ),
        Mistake(
            "exponential for softplus",
            "here σ = log(1 + e^ρ), not e^ρ.",
            lambda m, r, e, x, y, s, p: _path(m, np.exp(r), e, x, y, s**2, p**2),
        ),
        Mistake(
            "σ for σ²",
            "divide by the variances s² and σ_p².",
            lambda m, r, e, x, y, s, p: _path(m, _softplus(r), e, x, y, s, p),
        ),
        Mistake(
            "s for s²",
            "divide the misfit by the noise *variance* s².",
            lambda m, r, e, x, y, s, p: _path(m, _softplus(r), e, x, y, s, p**2),
        ),
        Mistake(
            "mean for sum",
            "the likelihood cost is a sum over all data points.",
            lambda m, r, e, x, y, s, p: _path(m, _softplus(r), e, x, y, s**2 * len(x), p**2),
        ),
        Mistake(
            "wrong sign of the likelihood",
            "−log P(D | w) falls when w moves towards the data.",
            lambda m, r, e, x, y, s, p: _path(m, _softplus(r), e, x, y, -(s**2), p**2),
        ),
        Mistake(
            "the prior is missing",
            "−log P(w) contributes w/σ_p².",
            lambda m, r, e, x, y, s, p: _path(m, _softplus(r), e, x, y, s**2, np.inf),
        ),
        Mistake(
            "gradient at μ",
            "evaluate it at the drawn weight w = μ + σε.",
            lambda m, r, e, x, y, s, p: (
                _path(m, _softplus(r), 0.0, x, y, s**2, p**2) - e / _softplus(r)
            ),
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (
    PRUNE,
    PATH_GRADIENT,
)
