"""Exercises 7.1 to 7.4: scores of a predictive distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp, ndtr

from bdl_teach.exercises.engine import Choice, Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(7)


def _log_normal(y: Any, mean: Any, std: Any) -> Any:
    return -0.5 * ((y - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)


def _log_score(y: Any, samples: Any, noise_std: Any) -> Any:
    return logsumexp(_log_normal(y, samples, noise_std)) - np.log(len(samples))


LOG_SCORE = Exercise(
    "7.1",
    "Compute: the log score of an ensemble",
    "7.3",
    _log_score,
    tuple(
        (y, _RNG.normal(0.0, spread, s), noise)
        for y, spread, s, noise in ((0.4, 1.0, 5, 0.5), (-2.0, 0.3, 20, 2.0), (3.0, 2.0, 50, 0.1))
    ),
    (
        Mistake(
            "missing 1/S",
            "the predictive density is the mean over the draws: subtract log S.",
            lambda y, f, s: logsumexp(_log_normal(y, f, s)),
        ),
        Mistake(
            "mean of logarithms",
            "average the densities, then take the logarithm: by Jensen yours is too small.",
            lambda y, f, s: np.mean(_log_normal(y, f, s)),
        ),
        Mistake(
            "moments for the mixture",
            "one Gaussian with the mixture's mean and variance is another density.",
            lambda y, f, s: _log_normal(y, np.mean(f), np.sqrt(np.var(f) + s**2)),
        ),
        Mistake(
            "the noise is missing",
            "the spread of the draws alone is a density for the function, not for y.",
            lambda y, f, s: _log_normal(y, np.mean(f), np.std(f)),
        ),
        Mistake(
            "plug-in for the average",
            "this scores the mean network alone.",
            lambda y, f, s: _log_normal(y, np.mean(f), s),
        ),
        Mistake(
            "density for log density",
            "take the logarithm of the mean.",
            lambda y, f, s: np.exp(_log_score(y, f, s)),
        ),
        Mistake(
            "σ² for σ",
            "noise_std is a standard deviation: square it once, in the exponent.",
            lambda y, f, s: _log_score(y, f, s**2),
        ),
        Mistake(
            "wrong sign",
            "the log score is a log density: larger is better.",
            lambda y, f, s: -_log_score(y, f, s),
        ),
        Mistake(
            "the normaliser is missing",
            "a Gaussian density has the factor 1/(σ√(2π)): −log σ − ½ log 2π.",
            lambda y, f, s: logsumexp(-0.5 * ((y - f) / s) ** 2) - np.log(len(f)),
        ),
        Mistake(
            "a product of densities",
            "the networks are alternatives, not independent events: average their densities.",
            lambda y, f, s: np.sum(_log_normal(y, f, s)),
        ),
    ),
)

_Y = _RNG.normal(0.0, 2.0, 40)
_M = 0.5 * _RNG.normal(0.0, 1.0, 40)
_E = _RNG.uniform(0.1, 1.5, 40)


def _within(y: Any, mean: Any, std: Any, noise: Any, z: float) -> Any:
    return np.mean(np.abs(y - mean) <= z * np.sqrt(std**2 + noise**2))


def _coverage(y: Any, mean: Any, epistemic_std: Any, noise_std: Any) -> Any:
    return _within(y, mean, epistemic_std, noise_std, 1.959963984540054)


COVERAGE = Exercise(
    "7.2",
    "Compute: the coverage of a 95 % interval",
    "7.4",
    _coverage,
    ((_Y, _M, _E, 0.4), (_Y[:17], _M[:17], 2 * _E[:17], 0.1), (_Y, 0 * _M, _E, 1.0)),
    (
        Mistake(
            "the noise is missing",
            "that is the interval of the function; new data also carry noise.",
            lambda y, m, e, s: _coverage(y, m, e, 0.0),
        ),
        Mistake(
            "standard deviations added",
            "variances add: √(epistemic² + noise²).",
            lambda y, m, e, s: _coverage(y, m, e + s, 0.0),
        ),
        Mistake(
            "σ² for σ",
            "the half-width is in the units of y: take the root.",
            lambda y, m, e, s: np.mean(np.abs(y - m) <= 1.96 * (e**2 + s**2)),
        ),
        Mistake(
            "one-sided quantile",
            "95 % in the middle leaves 2.5 % on each side: 1.96, not 1.64.",
            lambda y, m, e, s: _within(y, m, e, s, 1.6448536269514722),
        ),
        Mistake(
            "one sd for the quantile",
            "±1 sd holds 68 %.",
            lambda y, m, e, s: _within(y, m, e, s, 1.0),
        ),
        Mistake(
            "misses for hits",
            "you return the share outside.",
            lambda y, m, e, s: 1 - _coverage(y, m, e, s),
        ),
        Mistake(
            "counted, not averaged",
            "a share is wanted: divide by the number of points.",
            lambda y, m, e, s: len(y) * _coverage(y, m, e, s),
        ),
        Mistake(
            "one end only",
            "a point below the lower end is outside too: use |y − mean|.",
            lambda y, m, e, s: np.mean(y - m <= 1.959963984540054 * np.hypot(e, s)),
        ),
        Mistake(
            "two for 1.96",
            "±2 sd holds 95.4 %; the exercise asks for 95 %.",
            lambda y, m, e, s: _within(y, m, e, s, 2.0),
        ),
        Mistake(
            "1.96 for 1.96²",
            "if the squares are compared, the quantile is squared too.",
            lambda y, m, e, s: _within(y, m, e, s, 1.96**0.5),
        ),
        Mistake(
            "the epistemic part is missing",
            "the mean is uncertain as well: √(epistemic² + noise²).",
            lambda y, m, e, s: _coverage(y, m, 0 * e, s),
        ),
        Mistake(
            "per cent",
            "a share lies between 0 and 1.",
            lambda y, m, e, s: 100 * _coverage(y, m, e, s),
        ),
        Mistake(
            "what was announced",
            "95 % is the claim; count how many targets are in fact inside.",
            lambda y, m, e, s: 0.95,
        ),
    ),
)


def _pit(y: Any, samples: Any, noise_std: Any) -> Any:
    return ndtr((y - samples) / noise_std).mean(axis=0)


_F = _RNG.normal(0.0, 1.0, (30, 6))

PIT = Exercise(
    "7.3",
    "Compute: the probability integral transform",
    "7.4",
    _pit,
    ((_A([-2.0, -0.5, 0.0, 0.3, 1.0, 3.0]), _F, 0.5), (_A([0.1, -0.4]), 2 * _F[:5, :2], 0.2)),
    (
        Mistake(
            "moments for the mixture",
            "the distribution function of a mixture is the mean of its parts' functions.",
            lambda y, f, s: ndtr((y - f.mean(axis=0)) / np.sqrt(f.var(axis=0) + s**2)),
        ),
        Mistake(
            "the noise is missing",
            "this is the rank among the functions; y is a function value plus noise.",
            lambda y, f, s: (f <= y).mean(axis=0),
        ),
        Mistake(
            "plug-in for the average",
            "average the 30 probabilities, not the 30 networks.",
            lambda y, f, s: ndtr((y - f.mean(axis=0)) / s),
        ),
        Mistake(
            "upper tail",
            "the distribution function is the probability *below* y.",
            lambda y, f, s: 1 - _pit(y, f, s),
        ),
        Mistake(
            "density for distribution function",
            "take Φ, the cumulative one.",
            lambda y, f, s: np.exp(_log_normal(y, f, s)).mean(axis=0),
        ),
        Mistake(
            "averaged over the points",
            "one value for each target: the mean is over the draws, axis 0.",
            lambda y, f, s: ndtr((y - f) / s).mean(),
        ),
        Mistake(
            "not averaged",
            "one value for each target: take the mean over the draws, axis 0.",
            lambda y, f, s: ndtr((y - f) / s),
        ),
        Mistake(
            "mean over the wrong axis",
            "samples are [S, m]: one value for each target is the mean over axis 0.",
            lambda y, f, s: ndtr((y - f) / s).mean(axis=1),
        ),
        Mistake(
            "σ² for σ",
            "Φ wants the error in standard deviations: divide by noise_std.",
            lambda y, f, s: ndtr((y - f) / s**2).mean(axis=0),
        ),
        Mistake(
            "not divided by σ",
            "Φ wants the error in standard deviations: divide by noise_std.",
            lambda y, f, s: ndtr(y - f).mean(axis=0),
        ),
    ),
)

STATEMENTS = Choice(
    "7.4",
    "Explain: true or false",
    "7.3 and 7.4",
    frozenset("bde"),
    statements={
        "a": "a constant forecast of the mean and spread of all y covers 95 % as well.",
        "b": "the RMSE sees the mean alone: scale all standard deviations by 10 and it stays.",
        "c": "the average hides it: too wide among the data makes up for too narrow in the gap.",
        "d": "what does the expected log score under the truth differ by? A KL divergence.",
        "e": "which direction of the KL forgives a missed mode? See the table of section 7.7.",
        "f": "chains that agree may all have missed the same mode: section 7.1.",
    },
)

EXERCISES: tuple[Exercise, ...] = (LOG_SCORE, COVERAGE, PIT, STATEMENTS)
