"""Exercises 6.7 to 6.9: the score in the units of y, brute force, the cavity."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from bdl_teach.exercises._engine import Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(6)


def _score(m: Any, v: Any, alpha: Any, beta: Any, y_mean: Any, y_std: Any, y: Any) -> Any:
    mean, var = m * y_std + y_mean, (v + beta / (alpha - 1)) * y_std**2
    return np.mean(norm.logpdf(y, mean, np.sqrt(var)))


def _test_points(count: int, alpha: float, beta: float, y_mean: float, y_std: float) -> Any:
    y = y_mean + y_std * _RNG.normal(0.0, 1.3, count)
    outputs = _RNG.normal(size=count).round(2), _RNG.uniform(0.1, 1.0, count).round(2)
    return *outputs, alpha, beta, y_mean, y_std, y.round(2)


# Units and noises of every size: none can be hard-coded. The last noise is small, and without it
# a point far out.
_SCORES = (
    _test_points(1, 9.0, 2.0, 22.5, 9.2),
    _test_points(3, 4.5, 7.3, -3.1, 0.4),
    _test_points(7, 120.0, 11.0, 0.8, 31.0),
    (_A([0.1, -0.4]), _A([1e-3, 4e-3]), 2.2, 0.004, -50.0, 2.7, _A([-49.5, -47.2])),
    (_A([0.3, -1.1]), _A([0.2, 0.1]), 8.0, 1.4, 4.0, 3.0, _A([-9.7, 14.8])),  # densities of 10⁻¹⁴
    (_A([0.2, -0.5]), _A([0.03, 0.02]), 6.0, 0.2, 0.3, 0.01, _A([0.3015, 0.2955])),  # above 1
)

SCORE = Exercise(
    "6.7",
    "Change: the test log-likelihood in the units of y",
    "6.10",
    _score,
    _SCORES,
    (
        Mistake(
            "the noise is missing",
            "without β/(α−1) it is the density of the function, not of y.",
            lambda m, v, a, b, c, s, y: _score(m, v, a, 0.0 * b, c, s, y),
        ),
        Mistake(
            "standardised units",
            "a density changes with the unit: subtract log y_std.",
            lambda m, v, a, b, c, s, y: _score(m, v, a, b, c, s, y) + np.log(s),
        ),
        Mistake(
            "y_std for y_std²",
            "variances scale with the square of the unit.",
            lambda m, v, a, b, c, s, y: np.mean(
                -0.5 * np.log(2 * np.pi * (v + b / (a - 1)) * s)
                - 0.5 * (y - m * s - c) ** 2 / ((v + b / (a - 1)) * s)
            ),
        ),
        Mistake(
            "the outputs are left standardised",
            "bring them to the units of y first: m y_std + y_mean, and variances times y_std².",
            lambda m, v, a, b, c, s, y: _score(m, v, a, b, 0.0, 1.0, y),
        ),
        Mistake(
            "the noise is left standardised",
            "β/(α−1) belongs to standardised targets: y_std² multiplies both variances.",
            lambda m, v, a, b, c, s, y: _score(m, v + (1 / s**2 - 1) * b / (a - 1), a, b, c, s, y),
        ),
        Mistake(
            "the network's variance is missing",
            "y is uncertain by the noise and by the weights: v + β/(α−1).",
            lambda m, v, a, b, c, s, y: _score(m, 0 * v, a, b, c, s, y),
        ),
        Mistake(
            "the network's variance is left standardised",
            "y_std² multiplies both variances.",
            lambda m, v, a, b, c, s, y: _score(m, v / s**2, a, b, c, s, y),
        ),
        Mistake(
            "precision for variance",
            "α/β is a precision; the noise variance is β/(α−1).",
            (
                lambda m, v, a, b, c, s, y: _score(m, v + a / b, a, 0.0, c, s, y),
                lambda m, v, a, b, c, s, y: _score(m, v + (a - 1) / b, a, 0.0, c, s, y),
            ),
        ),
        Mistake(
            "variance for sd",
            "a variance is not squared again; a scale is its root.",
            (
                lambda m, v, a, b, c, s, y: _score(m, (v + b / (a - 1)) ** 2, a, 0.0, c, s, y),
                lambda m, v, a, b, c, s, y: _score(
                    m, (v + b / (a - 1)) ** 2 * s**2, a, 0.0, c, s, y
                ),
            ),
        ),
        Mistake(
            "not in nats",
            "the logarithm is the natural one, np.log.",
            (
                lambda m, v, a, b, c, s, y: _score(m, v, a, b, c, s, y) / np.log(2),
                lambda m, v, a, b, c, s, y: _score(m, v, a, b, c, s, y) / np.log(10),
            ),
        ),
        Mistake(
            "log 2π is missing",
            "without −½ log 2π it is no log density.",
            lambda m, v, a, b, c, s, y: _score(m, v, a, b, c, s, y) + 0.5 * np.log(2 * np.pi),
        ),
        Mistake(
            "the logarithm of the mean density",
            "papers report the mean of the points' log densities.",
            lambda m, v, a, b, c, s, y: np.log(
                np.mean(norm.pdf(y, m * s + c, np.sqrt(v + b / (a - 1)) * s))
            ),
        ),
        Mistake(
            "eps in the logarithm",
            "far from its mean a point then scores log eps, wherever it is: write the logarithm "
            "of a Gaussian out.",
            tuple(
                face
                for eps in (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)
                for face in (
                    lambda m, v, a, b, c, s, y, eps=eps: np.mean(
                        np.log(norm.pdf(y, m * s + c, np.sqrt(v + b / (a - 1)) * s) + eps)
                    ),
                    lambda m, v, a, b, c, s, y, eps=eps: np.mean(
                        np.log(
                            np.maximum(norm.pdf(y, m * s + c, np.sqrt(v + b / (a - 1)) * s), eps)
                        )
                    ),
                )
            ),
        ),
        Mistake(
            "eps in the variance",
            "v + β/(α−1) is positive as it is: nothing may be added.",
            tuple(
                lambda m, v, a, b, c, s, y, eps=eps: _score(m, v + eps, a, b, c, s, y)
                for eps in (1e-3, 1e-4, 1e-5, 1e-6)
            ),
        ),
        Mistake(
            "the variance is left standardised",
            "y_std² multiplies it.",
            lambda m, v, a, b, c, s, y: _score(
                m, (v + b / (a - 1)) / s**2 - b / (a - 1), a, b, c, s, y
            ),
        ),
        Mistake(
            "β/α for β/(α−1)",
            "the mean of the noise variance is β/(α−1).",
            lambda m, v, a, b, c, s, y: _score(m, v + b / a - b / (a - 1), a, b, c, s, y),
        ),
        Mistake(
            "y_mean is missing",
            "standardising subtracted it: add it again.",
            lambda m, v, a, b, c, s, y: _score(m, v, a, b, 0.0, s, y),
        ),
        Mistake(
            "not averaged",
            "papers report the mean over the test points: one number.",
            lambda m, v, a, b, c, s, y: norm.logpdf(y, m * s + c, np.sqrt(v + b / (a - 1)) * s),
        ),
        Mistake(
            "sum for mean",
            "papers report the mean over the test points.",
            lambda m, v, a, b, c, s, y: _score(m, v, a, b, c, s, y) * len(y),
        ),
        Mistake(
            "wrong sign",
            "this is the negative log-likelihood.",
            lambda m, v, a, b, c, s, y: -_score(m, v, a, b, c, s, y),
        ),
    ),
)


def _match(w: Any, prior: Any, likelihood: Any) -> Any:
    tilted = prior * likelihood
    return _with_z(w, tilted, np.trapezoid(tilted, w))


def _with_z(w: Any, tilted: Any, z: Any) -> Any:
    mean = np.trapezoid(w * tilted, w) / z
    return mean, np.trapezoid((w - mean) ** 2 * tilted, w) / z


def _unnormalised(w: Any, prior: Any, likelihood: Any) -> Any:
    mean = np.trapezoid(w * prior * likelihood, w)
    return mean, np.trapezoid((w - mean) ** 2 * prior * likelihood, w)


def _grid(low: float, high: float, count: int, mean: float, var: float) -> tuple[Any, Any]:
    """An even grid and a Gaussian prior on it, which is over before the grid is."""
    w = np.linspace(low, high, count)
    return w, np.exp(-0.5 * (w - mean) ** 2 / var) / np.sqrt(2 * np.pi * var)


def _tilts() -> tuple[tuple[Any, Any, Any], ...]:
    """Smooth functions on grids of several steps: there every rule of integration is exact.

    No step can be hard-coded, and neither Simpson's rule nor plain sums differ from the reference.
    """
    (a, p), (b, q), (c, r) = (
        _grid(-8, 8, 801, 0, 1),
        _grid(-3, 5, 1201, 1, 0.3),
        _grid(2, 12, 334, 7, 0.6),
    )
    return (
        (a, p, 1 / (1 + np.exp(-2 * a))),
        (b, q, 3.7 / (1 + (b - 2.5) ** 2)),
        (c, r, np.exp(-2 * (c - 6) ** 2) + 0.4 * np.exp(-3 * (c - 8) ** 2)),
        (a, p, 1e-9 / (1 + np.exp(1 - 3 * a))),  # a point that was hardly expected: Z is small
    )


MATCH = Exercise(
    "6.8",
    "Extend: moment matching by brute force",
    "6.2",
    _match,
    _tilts(),
    (
        Mistake(
            "Z is missing",
            "prior times likelihood is no density yet: divide by its integral.",
            _unnormalised,
        ),
        Mistake(
            "the prior is missing",
            "the exact posterior is proportional to prior times likelihood.",
            lambda w, p, f: _match(w, 1.0, f),
        ),
        Mistake(
            "the likelihood is missing",
            "these are the moments of the prior.",
            lambda w, p, f: _match(w, p, 1.0),
        ),
        Mistake(
            "second moment for variance",
            "subtract the square of the mean.",
            lambda w, p, f: (_match(w, p, f)[0], _match(w, p, f)[1] + _match(w, p, f)[0] ** 2),
        ),
        Mistake(
            "sd for variance",
            "return the variance.",
            lambda w, p, f: (_match(w, p, f)[0], np.sqrt(_match(w, p, f)[1])),
        ),
        Mistake(
            "Z is missing from the mean",
            "divide prior times likelihood by its integral before taking moments.",
            lambda w, p, f: (
                np.trapezoid(w * p * f, w),
                np.trapezoid(w**2 * p * f, w) - np.trapezoid(w * p * f, w) ** 2,
            ),
        ),
        Mistake(
            "sums for integrals",
            "a sum over the grid counts points: multiply by the step, or use np.trapezoid.",
            (
                lambda w, p, f: (np.sum(w * p * f), np.sum((w - np.sum(w * p * f)) ** 2 * p * f)),
                lambda w, p, f: (
                    np.sum(w * p * f),
                    np.sum(w**2 * p * f) - np.sum(w * p * f) ** 2,
                ),
            ),
        ),
        Mistake(
            "averages over the grid",
            "np.mean divides by the number of points; the moments are weighted by the density.",
            (
                lambda w, p, f: (
                    np.mean(w * p * f),
                    np.mean((w - np.mean(w * p * f)) ** 2 * p * f),
                ),
                lambda w, p, f: (np.mean(w), np.var(w)),
            ),
        ),
        Mistake(
            "Z is missing from the variance",
            "the mean is right; the variance is an integral over the same density, with Z below.",
            lambda w, p, f: (
                _match(w, p, f)[0],
                np.trapezoid((w - _match(w, p, f)[0]) ** 2 * p * f, w),
            ),
        ),
        Mistake(
            "eps beside Z",
            "Z may be small, where the point was hardly expected: nothing may be added to it.",
            tuple(
                lambda w, p, f, eps=eps: _with_z(w, p * f, np.trapezoid(p * f, w) + eps)
                for eps in (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)
            ),
        ),
        Mistake(
            "the spread about 0",
            "the variance is about the mean of the tilted density.",
            lambda w, p, f: (
                _match(w, p, f)[0],
                np.trapezoid(w**2 * p * f, w),
            ),
        ),
        Mistake(
            "the spread about the prior's mean",
            "the variance is about the mean of the tilted density itself.",
            lambda w, p, f: (
                _match(w, p, f)[0],
                _match(w, p, f)[1] + (_match(w, p, f)[0] - _match(w, p, 1.0)[0]) ** 2,
            ),
        ),
        Mistake(
            "the likelihood twice",
            "the point is taken in once.",
            lambda w, p, f: _match(w, p, f**2),
        ),
        Mistake(
            "a sum for a product",
            "the tilted density is prior *times* likelihood.",
            lambda w, p, f: _match(w, 1.0, p + f),
        ),
        Mistake(
            "mean and variance swapped",
            "return (mean, variance).",
            lambda w, p, f: _match(w, p, f)[::-1],
        ),
        Mistake(
            "mode for mean",
            "ADF matches the mean; the highest point is the MAP estimate.",
            lambda w, p, f: (w[np.argmax(p * f)], _match(w, p, f)[1]),
        ),
    ),
)


def _cavity(m: Any, v: Any, precision: Any, shift: Any) -> Any:
    rest = 1 / v - precision
    return (m / v - shift) / rest, 1 / rest


CAVITY = Exercise(
    "6.9",
    "Extend: take a factor out",
    "6.8",
    _cavity,
    (
        (_A([0.3]), _A([0.5]), _A([0.8]), _A([0.0])),
        (_A([1.0, -2.0]), _A([0.1, 1.0]), _A([3.0, 0.5]), _A([0.4, -1.0])),
        (_A([-1.7]), _A([0.4]), _A([1.1]), _A([0.9])),
        (_A([0.02]), _A([1e-4]), _A([2e3]), _A([30.0])),
        (_A([2.0]), _A([1e5]), _A([3e-6]), _A([1e-5])),  # what is added to a precision shows
        (_A([0.2, 1.3, -0.6]), _A([2.0, 0.3, 0.7]), _A([0.1, 2.9, 1.2]), _A([-0.5, 1.6, 0.3])),
    ),
    (
        Mistake(
            "the factor is put in once more",
            "to take a factor out, *subtract* its natural parameters.",
            lambda m, v, p, s: ((m / v + s) / (1 / v + p), 1 / (1 / v + p)),
        ),
        Mistake(
            "variances are subtracted",
            "Gaussians multiply by adding precisions 1/v, not variances.",
            lambda m, v, p, s: ((m / v - s) * (v - 1 / p), v - 1 / p),
        ),
        Mistake(
            "the factor's variance is subtracted from a precision",
            "`precision` is 1/variance already: 1/v − precision.",
            (
                lambda m, v, p, s: (_cavity(m, v, p, s)[0], 1 / (1 / v - 1 / p)),
                lambda m, v, p, s: ((m / v - s) / (1 / v - 1 / p), 1 / (1 / v - 1 / p)),
            ),
        ),
        Mistake(
            "a precision is subtracted from a variance",
            "1/v − precision: the precision of q comes first.",
            (
                lambda m, v, p, s: (_cavity(m, v, p, s)[0], v - p),
                lambda m, v, p, s: ((m / v - s) * (v - p), v - p),
                lambda m, v, p, s: ((m - s) / (v - p), 1 / (v - p)),
            ),
        ),
        Mistake(
            "eps beside the precision",
            "a cavity may know next to nothing: nothing may be added to 1/v − precision.",
            tuple(
                lambda m, v, p, s, eps=eps: (
                    (m / v - s) / (1 / v - p + eps),
                    1 / (1 / v - p + eps),
                )
                for eps in (1e-6, 1e-7, 1e-8, 1e-9)
            ),
        ),
        Mistake(
            "the shift for a mean",
            "`shift` is precision times mean already: m/v − shift.",
            lambda m, v, p, s: ((m / v - p * s) / (1 / v - p), 1 / (1 / v - p)),
        ),
        Mistake(
            "the shift is subtracted from the mean",
            "`shift` is precision times mean: subtract it from m/v.",
            (
                lambda m, v, p, s: (m - s, 1 / (1 / v - p)),
                lambda m, v, p, s: ((m - s) / (1 / v - p), 1 / (1 / v - p)),
            ),
        ),
        Mistake(
            "the shift is added",
            "take it out of the mean as well: m/v − shift.",
            lambda m, v, p, s: ((m / v + s) / (1 / v - p), 1 / (1 / v - p)),
        ),
        Mistake(
            "the shift is missing",
            "take the factor out of m/v as well: m/v − shift.",
            lambda m, v, p, s: (m / v / (1 / v - p), 1 / (1 / v - p)),
        ),
        Mistake(
            "sd for variance",
            "return the variance.",
            lambda m, v, p, s: (_cavity(m, v, p, s)[0], np.sqrt(1 / (1 / v - p))),
        ),
        Mistake(
            "mean and variance swapped",
            "return (mean, variance).",
            lambda m, v, p, s: _cavity(m, v, p, s)[::-1],
        ),
        Mistake(
            "the old variance in the mean",
            "m/v − shift is multiplied by the *cavity's* variance.",
            lambda m, v, p, s: ((m / v - s) * v, _cavity(m, v, p, s)[1]),
        ),
        Mistake(
            "the natural parameter for the mean",
            "m/v − shift is mean over variance: multiply by the cavity's variance.",
            lambda m, v, p, s: (m / v - s, 1 / (1 / v - p)),
        ),
        Mistake(
            "precision for variance",
            "return the variance, 1 over the precision.",
            lambda m, v, p, s: (_cavity(m, v, p, s)[0], 1 / v - p),
        ),
        Mistake(
            "the mean is left as it is",
            "the factor pulled the mean as well: use its shift.",
            lambda m, v, p, s: (m, _cavity(m, v, p, s)[1]),
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (SCORE, MATCH, CAVITY)
