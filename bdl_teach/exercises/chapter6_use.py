"""Exercises 6.7 to 6.9: the score in the units of y, brute force, the cavity."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from bdl_teach.exercises.engine import Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(6)


def _score(m: Any, v: Any, alpha: Any, beta: Any, y_mean: Any, y_std: Any, y: Any) -> Any:
    mean, var = m * y_std + y_mean, (v + beta / (alpha - 1)) * y_std**2
    return np.mean(norm.logpdf(y, mean, np.sqrt(var)))


_SCORES = tuple(
    (_RNG.normal(size=k), _RNG.uniform(0.1, 1, k), 9.0, 2.0, 22.5, 9.2, 22.5 + _RNG.normal(0, 9, k))
    for k in (1, 5)
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
    z = np.trapezoid(tilted, w)
    mean = np.trapezoid(w * tilted, w) / z
    return mean, np.trapezoid((w - mean) ** 2 * tilted, w) / z


def _unnormalised(w: Any, prior: Any, likelihood: Any) -> Any:
    mean = np.trapezoid(w * prior * likelihood, w)
    return mean, np.trapezoid((w - mean) ** 2 * prior * likelihood, w)


_W = np.linspace(-6, 6, 601)
_PRIORS = tuple(
    np.exp(-0.5 * (_W - m) ** 2 / v) / np.sqrt(2 * np.pi * v) for m, v in ((0, 1), (1, 0.3))
)

MATCH = Exercise(
    "6.8",
    "Extend: moment matching by brute force",
    "6.2",
    _match,
    ((_W, _PRIORS[0], 1 / (1 + np.exp(-2 * _W))), (_W, _PRIORS[1], np.exp(-np.abs(_W - 2)))),
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
            lambda w, p, f: (
                np.sum(w * p * f),
                np.sum((w - np.sum(w * p * f)) ** 2 * p * f),
            ),
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
    ((0.3, 0.5, 0.8, 0.0), (_A([1.0, -2.0]), _A([0.1, 1.0]), _A([3.0, 0.5]), _A([0.4, -1.0]))),
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
            lambda m, v, p, s: (_cavity(m, v, p, s)[0], 1 / (1 / v - 1 / p)),
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
