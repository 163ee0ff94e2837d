"""Exercises 3.9 and 3.10: pruning, and a gradient without its explicit part."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.exercises._engine import Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(3)


def _slope(rho: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-rho))


def _softplus(rho: Any) -> Any:
    return np.logaddexp(0.0, rho)


def _pruned(mean: Any, fraction: float, score: Any, rounded: Any = np.floor) -> Array:
    out = np.array(mean)
    out[np.argsort(score)[: int(rounded(fraction * out.size))]] = 0.0
    return out


_NETS = tuple(
    (_RNG.normal(0.0, 1.0, n), _RNG.gamma(1.0, 0.5, n) + 0.05, fraction)
    for n, fraction in (
        (10, 0.3),
        (23, 0.5),
        (7, 0.0),
        (15, 0.99),
        (10, 0.25),
        (9, 0.3),
        (40, 0.62),
        (3, 0.2),
        (1, 0.9),
        (4, 0.8),
        (6, 1.0),
    )
)
# A small weight that is known well: what is added to σ shows.
_SURE = _A([3e-9, 0.5, -0.03, 2.0]), _A([1e-10, 0.01, 0.5, 3.0]), 0.5
# Two weights are 0 already, and count.
_SPARSE = (_A([0.0, 1.2, -2.1, 0.0, 0.4, -3.0]), _A([0.5, 0.3, 0.7, 0.2, 0.1, 0.6]), 0.5)

PRUNE = Exercise(
    "3.9",
    "Extend: prune a network",
    "3.12",
    lambda mean, std, fraction: _pruned(mean, fraction, np.abs(mean) / std),
    (*_NETS, _SPARSE, _SURE),
    (
        Mistake(
            "a small number added",
            "a weight with μ and σ of 10⁻⁹ may be known well: its ratio is |μ|/σ as it is.",
            tuple(
                lambda m, s, f, eps=eps: _pruned(m, f, np.abs(m) / (s + eps))
                for eps in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
            ),
        ),
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
            "rounded to the nearest",
            "round the number of weights down: int(fraction * mean.size).",
            lambda m, s, f: _pruned(m, f, np.abs(m) / s, np.round),
        ),
        Mistake(
            "rounded up",
            "round the number of weights down: int(fraction * mean.size).",
            lambda m, s, f: _pruned(m, f, np.abs(m) / s, np.ceil),
        ),
        Mistake(
            "product for ratio",
            "signal over noise: divide by σ.",
            lambda m, s, f: _pruned(m, f, np.abs(m) * s),
        ),
        Mistake(
            "the narrowest weights removed",
            "a small σ is a weight that is known well.",
            lambda m, s, f: _pruned(m, f, s),
        ),
        Mistake(
            "cut out, not set to 0",
            "the network keeps its shape: return all weights, the pruned ones as 0.",
            lambda m, s, f: m[np.sort(np.argsort(np.abs(m) / s)[int(f * m.size) :])],
        ),
        Mistake(
            "the weights sorted",
            "each weight stays in its place.",
            lambda m, s, f: _pruned(m, f, np.abs(m) / s)[np.argsort(np.abs(m) / s)],
        ),
        Mistake(
            "the indices",
            "return the weights, not which ones are pruned.",
            lambda m, s, f: np.argsort(np.abs(m) / s)[: int(f * m.size)],
        ),
        Mistake(
            "a mask",
            "multiply the weights with it.",
            lambda m, s, f: _pruned(m, f, np.abs(m) / s) != 0,
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
        (1.3, -4.0, 2.1, _A([-2.2]), _A([3.0]), 2.7, 0.4),
        (-2.0, 2.5, 0.3, *_RNG.normal(0.0, 3.0, (2, 7)), 13.0, 5.0),
        (0.002, -7.0, -0.9, _A([0.8, -0.3, 0.4]), _A([0.9, 0.2, -0.7]), 0.003, 0.6),
        (2.0, 0.3, 0.5, _A([0.1, -0.4]), _A([0.3, 0.2]), 5.0, 0.004),
    ),
    (
        Mistake(
            "nothing of log q is left",
            "this is the whole Δμ, in which the two parts of log q cancel (the gradient of MAP). "
            "Leave out only ∂f/∂μ = ε/σ; the path term ∂ log q/∂w = −ε/σ remains.",
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
            "wrong sign of the path term",
            "log N falls when w moves away from μ: ∂ log q/∂w = −ε/σ.",
            lambda m, r, e, x, y, s, p: _path_gradient(m, r, e, x, y, s, p) + 2 * e / _softplus(r),
        ),
        Mistake(
            "ε/σ² for ε/σ",
            "(w − μ)/σ² is ε/σ: one σ cancels.",
            lambda m, r, e, x, y, s, p: (
                _path_gradient(m, r, e, x, y, s, p) + e / _softplus(r) - e / _softplus(r) ** 2
            ),
        ),
        Mistake(
            "Δρ for Δμ",
            "∂w/∂μ = 1: nothing is multiplied.",
            lambda m, r, e, x, y, s, p: _path_gradient(m, r, e, x, y, s, p) * e * _slope(r),
        ),
        Mistake(
            "wrong sign of the prior",
            "−log P(w) rises with |w|: + w/σ_p².",
            lambda m, r, e, x, y, s, p: _path(m, _softplus(r), e, x, y, s**2, -(p**2)),
        ),
        Mistake(
            "σ_p for σ_p²",
            "divide the weight by the prior's *variance* σ_p².",
            lambda m, r, e, x, y, s, p: _path(m, _softplus(r), e, x, y, s**2, p),
        ),
        Mistake(
            "the factor x is missing",
            "∂(wx)/∂w = x: each residual is multiplied by its x.",
            lambda m, r, e, x, y, s, p: (
                -e / _softplus(r)
                + (m + _softplus(r) * e) / p**2
                - np.sum(y - (m + _softplus(r) * e) * x) / s**2
            ),
        ),
        Mistake(
            "the likelihood is missing",
            "−log P(D | w) contributes −Σ (y − wx) x / s².",
            lambda m, r, e, x, y, s, p: _path(m, _softplus(r), e, x, y, np.inf, p**2),
        ),
        Mistake(
            "wrong sign",
            "Δμ is the gradient; the minus comes in the update.",
            lambda m, r, e, x, y, s, p: -_path_gradient(m, r, e, x, y, s, p),
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
