"""Exercises 7.1 to 7.4: scores of a predictive distribution."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import erf, expit, logsumexp, ndtr
from scipy.stats import t as student

from bdl_teach.exercises._engine import Choice, Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(7)
_EPS = (1e-300, 1e-30, 1e-16, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6)  # added in logarithms


def _log_normal(y: Any, mean: Any, std: Any) -> Any:
    return -0.5 * ((y - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)


def _log_score(y: Any, samples: Any, noise_std: Any) -> Any:
    return logsumexp(_log_normal(y, samples, noise_std)) - np.log(len(samples))


def _mean_density(y: Any, samples: Any, noise_std: Any) -> Any:
    return np.mean(np.exp(_log_normal(y, samples, noise_std)))


LOG_SCORE = Exercise(
    "7.1",
    "Compute: the log score of an ensemble",
    "7.3",
    _log_score,
    tuple(
        (y, _RNG.normal(0.0, spread, s), noise)
        for y, spread, s, noise in (
            (0.4, 1.0, 5, 0.5),
            (-2.0, 0.3, 20, 2.0),
            (3.0, 2.0, 50, 0.1),
            (-0.7, 1.5, 3, 0.8),
            (0.9, 1.0, 2, 1.3),
            (60.0, 2.0, 7, 0.6),  # a hundred standard deviations away: every density is 0
            (3e-6, 2e-6, 4, 1e-6),  # what is added to the noise shows
            (-75.0, 0.01, 3, 0.9),  # far from all, which are near each other: none is the nearest
        )
    ),
    (
        Mistake(
            "missing 1/S",
            "the predictive density is the mean over the draws: subtract log S.",
            (
                lambda y, f, s: logsumexp(_log_normal(y, f, s)),
                lambda y, f, s: np.log(np.sum(np.exp(_log_normal(y, f, s)))),
            ),
        ),
        Mistake(
            "mean of logarithms",
            "average the densities, then take the logarithm: by Jensen yours is too small.",
            lambda y, f, s: np.mean(_log_normal(y, f, s)),
        ),
        Mistake(
            "moments for the mixture",
            "one Gaussian with the mixture's mean and variance is another density.",
            (
                lambda y, f, s: _log_normal(y, np.mean(f), np.sqrt(np.var(f) + s**2)),
                lambda y, f, s: _log_normal(y, np.mean(f), np.sqrt(np.var(f, ddof=1) + s**2)),
            ),
        ),
        Mistake(
            "the noise is missing",
            "the spread of the draws alone is a density for the function, not for y.",
            (
                lambda y, f, s: _log_normal(y, np.mean(f), np.std(f)),
                lambda y, f, s: _log_normal(y, np.mean(f), np.std(f, ddof=1)),
            ),
        ),
        Mistake(
            "plug-in for the average",
            "this scores the mean network alone.",
            lambda y, f, s: _log_normal(y, np.mean(f), s),
        ),
        Mistake(
            "underflow",
            "far from every network all densities are 0, and log 0 is −∞: take logsumexp of the "
            "log densities.",
            lambda y, f, s: np.log(_mean_density(y, f, s)),
        ),
        Mistake(
            "eps in the logarithm",
            "far from every network the score is then log eps, whatever y is: take logsumexp of "
            "the log densities.",
            tuple(
                face
                for eps in _EPS
                for face in (
                    lambda y, f, s, eps=eps: np.log(_mean_density(y, f, s) + eps),
                    lambda y, f, s, eps=eps: np.log(np.maximum(_mean_density(y, f, s), eps)),
                )
            ),
        ),
        Mistake(
            "eps beside the noise",
            "a noise of 10⁻⁶ is what the data have: nothing may be added to it.",
            tuple(
                face
                for eps in (1e-6, 1e-7, 1e-8)
                for face in (
                    lambda y, f, s, eps=eps: _log_score(y, f, s + eps),
                    lambda y, f, s, eps=eps: _log_score(y, f, np.sqrt(s**2 + eps)),
                    lambda y, f, s, eps=eps: (
                        logsumexp(-0.5 * ((y - f) / (s + eps)) ** 2 - np.log(s)) + _rest(f)
                    ),
                )
            ),
        ),
        Mistake(
            "the nearest network alone",
            "all S densities are averaged; the largest one is only the largest term.",
            (
                lambda y, f, s: np.max(_log_normal(y, f, s)),
                lambda y, f, s: np.max(_log_normal(y, f, s)) - np.log(len(f)),
            ),
        ),
        Mistake(
            "not in nats",
            "the logarithm is the natural one, np.log.",
            (
                lambda y, f, s: _log_score(y, f, s) / np.log(2),
                lambda y, f, s: _log_score(y, f, s) / np.log(10),
            ),
        ),
        Mistake(
            "log S added",
            "the mean divides by S: subtract log S.",
            lambda y, f, s: logsumexp(_log_normal(y, f, s)) + np.log(len(f)),
        ),
        Mistake(
            "the noise added to the draws' spread",
            "each network's density has the noise alone; the draws spread by themselves.",
            lambda y, f, s: _log_score(y, f, np.sqrt(s**2 + np.var(f))),
        ),
        Mistake(
            "density for log density",
            "take the logarithm of the mean.",
            lambda y, f, s: np.exp(_log_score(y, f, s)),
        ),
        Mistake(
            "σ² for σ",
            "noise_std is a standard deviation: square it once, in the exponent.",
            (
                lambda y, f, s: _log_score(y, f, s**2),
                lambda y, f, s: logsumexp(-0.5 * ((y - f) / s**2) ** 2 - np.log(s)) + _rest(f),
                lambda y, f, s: logsumexp(-0.5 * ((y - f) / s) ** 2 - np.log(s**2)) + _rest(f),
            ),
        ),
        Mistake(
            "σ for σ²",
            "the exponent is −(y − f)²/(2σ²).",
            (
                lambda y, f, s: logsumexp(-0.5 * (y - f) ** 2 / s - np.log(s)) + _rest(f),
                lambda y, f, s: _log_score(y, f, np.sqrt(s)),
            ),
        ),
        Mistake(
            "the ½ is missing",
            "the exponent is −(y − f)²/(2σ²).",
            lambda y, f, s: logsumexp(-(((y - f) / s) ** 2) - np.log(s)) + _rest(f),
        ),
        Mistake(
            "wrong sign",
            "the log score is a log density: larger is better.",
            lambda y, f, s: -_log_score(y, f, s),
        ),
        Mistake(
            "the normaliser is missing",
            "a Gaussian density has the factor 1/(σ√(2π)): −log σ − ½ log 2π.",
            (
                lambda y, f, s: logsumexp(-0.5 * ((y - f) / s) ** 2) - np.log(len(f)),
                lambda y, f, s: np.log(np.mean(np.exp(-0.5 * ((y - f) / s) ** 2))),
                lambda y, f, s: _log_score(y, f, s) + np.log(s),
                lambda y, f, s: _log_score(y, f, s) + 0.5 * np.log(2 * np.pi),
                lambda y, f, s: _log_score(y, f, s) - 0.5 * np.log(2 * np.pi),
            ),
        ),
        Mistake(
            "a product of densities",
            "the networks are alternatives, not independent events: average their densities.",
            lambda y, f, s: np.sum(_log_normal(y, f, s)),
        ),
    ),
)


def _rest(samples: Any) -> Any:
    return -0.5 * np.log(2 * np.pi) - np.log(len(samples))


def _targets(count: int, most: float, noise: float) -> tuple[Any, ...]:
    """Targets on both sides, the nearer to an end of their interval the more of them."""
    mean, epistemic = most * 0.5 * _RNG.normal(size=count), most * _RNG.uniform(0.05, 1.0, count)
    near = np.where(_RNG.random(count) < 0.5, 0.15, 1.0) * _RNG.normal(size=count)
    z = _RNG.choice([-1.0, 1.0], count) * np.abs(1.96 + near)
    z += np.where(np.abs(np.abs(z) - 1.96) < 1e-3, 0.01, 0.0)  # 1.96 or its exact value: the same
    return mean + z * np.hypot(epistemic, noise), mean, epistemic, noise


def _within(y: Any, mean: Any, std: Any, noise: Any, z: float) -> Any:
    return np.mean(np.abs(y - mean) <= z * np.sqrt(std**2 + noise**2))


def _coverage(y: Any, mean: Any, epistemic_std: Any, noise_std: Any) -> Any:
    return _within(y, mean, epistemic_std, noise_std, 1.959963984540054)


COVERAGE = Exercise(
    "7.2",
    "Compute: the coverage of a 95 % interval",
    "7.4",
    _coverage,
    # A share is a coarse number: only many cases tell every rule from every other.
    tuple(
        _targets(count, most, noise)
        for count, most, noise in (
            *((5, 1.5, 0.4), (151, 1.5, 0.4), (97, 2.5, 0.1), (83, 0.6, 1.7), (211, 1.0, 1.0)),
            *((307, 3.0, 2.2), (173, 0.3, 0.2), (269, 0.9, 0.6), (101, 3e-6, 2e-6)),
        )
    ),
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
            "σ for σ²",
            "variances add, and both of these are standard deviations: square both.",
            (
                lambda y, m, e, s: np.mean(np.abs(y - m) <= 1.96 * np.sqrt(e + s**2)),
                lambda y, m, e, s: np.mean(np.abs(y - m) <= 1.96 * np.sqrt(e**2 + s)),
                lambda y, m, e, s: np.mean(np.abs(y - m) <= 1.96 * np.sqrt(e + s)),
            ),
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
            "a point beyond the other end is outside too: use |y − mean|.",
            (
                lambda y, m, e, s: np.mean(y - m <= 1.959963984540054 * np.hypot(e, s)),
                lambda y, m, e, s: np.mean(m - y <= 1.959963984540054 * np.hypot(e, s)),
            ),
        ),
        Mistake(
            "two for 1.96",
            "±2 sd holds 95.4 %; the exercise asks for 95 %.",
            lambda y, m, e, s: _within(y, m, e, s, 2.0),
        ),
        Mistake(
            "Student's quantile",
            "nothing is estimated from few points here: the predictive is Gaussian, 1.96.",
            (
                lambda y, m, e, s: _within(y, m, e, s, student.ppf(0.975, len(y) - 1)),
                lambda y, m, e, s: _within(y, m, e, s, student.ppf(0.975, len(y))),
            ),
        ),
        Mistake(
            "the quantile of another level",
            "1.96 leaves 2.5 % on each side.",
            tuple(
                lambda y, m, e, s, z=z: _within(y, m, e, s, z)
                for z in (
                    0.6744897501960817,
                    1.2815515655446004,
                    2.3263478740408408,
                    2.5758293035489,
                )
            ),
        ),
        Mistake(
            "three sd",
            "±3 sd holds 99.7 %.",
            lambda y, m, e, s: _within(y, m, e, s, 3.0),
        ),
        Mistake(
            "half of the width on each side",
            "1.96 sd reach from the mean to one end, not from end to end.",
            lambda y, m, e, s: _within(y, m, e, s, 0.98),
        ),
        Mistake(
            "one width for all",
            "each input has an epistemic sd of its own: do not average over them.",
            (
                lambda y, m, e, s: _within(y, m, np.mean(e), s, 1.96),
                lambda y, m, e, s: _within(y, m, np.sqrt(np.mean(e**2)), s, 1.96),
            ),
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


def _two_moments(y: Any, samples: Any, noise_std: Any, ddof: int) -> Any:
    spread = np.sqrt(samples.var(axis=0, ddof=ddof) + noise_std**2)
    return ndtr((y - samples.mean(axis=0)) / spread)


PIT = Exercise(
    "7.3",
    "Compute: the probability integral transform",
    "7.4",
    _pit,
    (
        (_A([0.1, -0.4]), (2 * _F[:3, :2]).round(2), 0.2),
        (_A([-2.0, -0.5, 0.0, 0.3, 1.0, 3.0]), _F, 0.5),
        (_RNG.normal(size=7), _RNG.normal(0.2, 1.5, (4, 7)), 1.7),
        (_RNG.normal(size=3), _RNG.normal(0.0, 0.5, (2, 3)), 0.8),
        (_A([1e-6, -2e-6]), 1e-6 * _F[:3, :2], 1e-6),  # what is added to the noise shows
        (_A([-3.0, 4.1]), _A([[-0.3, 0.4], [0.1, 1.1]]), 1.1),  # near 0 and near 1
    ),
    (
        Mistake(
            "moments for the mixture",
            "the distribution function of a mixture is the mean of its parts' functions.",
            (
                lambda y, f, s: _two_moments(y, f, s, 0),
                lambda y, f, s: _two_moments(y, f, s, 1),
            ),
        ),
        Mistake(
            "the noise is missing",
            "this is the rank among the functions; y is a function value plus noise.",
            (
                lambda y, f, s: (f <= y).mean(axis=0),
                lambda y, f, s: ndtr((y - f.mean(axis=0)) / f.std(axis=0)),
                lambda y, f, s: ndtr((y - f.mean(axis=0)) / f.std(axis=0, ddof=1)),
            ),
        ),
        Mistake(
            "plug-in for the average",
            "average the S probabilities, not the S networks.",
            lambda y, f, s: ndtr((y - f.mean(axis=0)) / s),
        ),
        Mistake(
            "upper tail",
            "the distribution function is the probability *below* y.",
            lambda y, f, s: 1 - _pit(y, f, s),
        ),
        Mistake(
            "erf for Φ",
            "Φ(z) = ½ + ½ erf(z/√2): mind the √2 and the two halves.",
            (
                lambda y, f, s: (0.5 + 0.5 * erf((y - f) / s)).mean(axis=0),
                lambda y, f, s: erf((y - f) / s).mean(axis=0),
                lambda y, f, s: erf((y - f) / s / np.sqrt(2)).mean(axis=0),
            ),
        ),
        Mistake(
            "eps beside the noise",
            "a noise of 10⁻⁶ is what the data have: nothing may be added to it.",
            tuple(
                lambda y, f, s, eps=eps: ndtr((y - f) / (s + eps)).mean(axis=0)
                for eps in (1e-6, 1e-7, 1e-8, 1e-9)
            ),
        ),
        Mistake(
            "√σ for σ",
            "Φ wants the error in standard deviations: divide by noise_std.",
            lambda y, f, s: ndtr((y - f) / np.sqrt(s)).mean(axis=0),
        ),
        Mistake(
            "the sigmoid for Φ",
            "the noise is Gaussian: Φ, not 1/(1 + e^(−z)).",
            (
                lambda y, f, s: expit((y - f) / s).mean(axis=0),
                lambda y, f, s: expit(1.702 * (y - f) / s).mean(axis=0),
            ),
        ),
        Mistake(
            "sum for mean",
            "a probability is at most 1: divide by the number of draws.",
            lambda y, f, s: ndtr((y - f) / s).sum(axis=0),
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
    "7.1, 7.3, 7.4 and 7.7",
    frozenset("bde"),
    statements={
        "a": "a constant forecast of the mean and spread of all y covers 95 % as well (section "
        "7.4).",
        "b": "the RMSE sees the mean alone: scale all standard deviations by 10 and it stays "
        "(section 7.3).",
        "c": "the average hides it: too wide among the data makes up for too narrow in the gap "
        "(section 7.4).",
        "d": "what does the expected log score under the truth differ by? A KL divergence "
        "(section 7.3).",
        "e": "which direction of the KL forgives a missed mode? See the table of section 7.7.",
        "f": "chains that agree may all have missed the same mode (section 7.1).",
    },
)

EXERCISES: tuple[Exercise, ...] = (LOG_SCORE, COVERAGE, PIT, STATEMENTS)
