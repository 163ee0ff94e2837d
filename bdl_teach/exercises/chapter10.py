"""Exercises of chapter 10: scores and decisions."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import scipy
from scipy.special import expit, logsumexp, ndtr, ndtri

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.claims.claim import World
from bdl_teach.claims.experiments import bandits
from bdl_teach.densities import Gaussian
from bdl_teach.exercises._engine import Choice, Exercise, Mistake
from bdl_teach.exercises._faces import EPS
from bdl_teach.methods import bbb, ensemble, point

_A = np.array

# Exercise 10.1.

_RNG = np.random.default_rng(7)
_EPS = (1e-300, 1e-30, 1e-16, 1e-12, 1e-10, 1e-8, 1e-7, 1e-6)  # added in logarithms


def _log_normal(y: Any, mean: Any, std: Any) -> Any:
    return -0.5 * ((y - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)


def _harmonic(each: Any) -> Any:
    """Logarithm of the harmonic mean of densities, from their logarithms."""
    return np.log(len(each)) - logsumexp(-each)


def _left_out(y: Any, samples: Any, noise_std: Any) -> Any:
    return _harmonic(_log_normal(y, samples, noise_std))


def _density(y: Any, samples: Any, noise_std: Any) -> Any:
    return np.exp(_log_normal(y, samples, noise_std))


LOG_SCORE = Exercise(
    "10.1",
    "Compute: the score of a point that was left out",
    "10.3",
    _left_out,
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
            "the point is still in it",
            "this is (10.2): the networks were drawn knowing the point. What must their weights "
            "be, so that they have not?",
            lambda y, f, s: logsumexp(_log_normal(y, f, s)) - np.log(len(f)),
        ),
        Mistake(
            "weights upside down",
            "a network that explains the point well was drawn too often, not too rarely.",
            lambda y, f, s: logsumexp(2 * _log_normal(y, f, s)) - logsumexp(_log_normal(y, f, s)),
        ),
        Mistake(
            "missing 1/S",
            "what is averaged over the draws is divided by S.",
            lambda y, f, s: -logsumexp(-_log_normal(y, f, s)),
        ),
        Mistake(
            "log S subtracted",
            "1/S is inside what is turned upside down: mind its sign.",
            lambda y, f, s: -np.log(len(f)) - logsumexp(-_log_normal(y, f, s)),
        ),
        Mistake(
            "mean of logarithms",
            "average first what the derivation averages, then take the logarithm.",
            lambda y, f, s: np.mean(_log_normal(y, f, s)),
        ),
        Mistake(
            "overflow",
            "far from every network all densities are 0, and 1/0 is no weight: take logsumexp of "
            "logarithms.",
            (
                lambda y, f, s: -np.log(np.mean(1 / _density(y, f, s))),
                lambda y, f, s: np.log(len(f) / np.sum(1 / _density(y, f, s))),
                lambda y, f, s: -np.log(np.mean(np.exp(-_log_normal(y, f, s)))),
            ),
            breaks=True,
        ),
        Mistake(
            "eps in the logarithm",
            "far from every network the score is then log eps, whatever y is: take logsumexp of "
            "logarithms.",
            tuple(
                lambda y, f, s, eps=eps: -np.log(np.mean(1 / (_density(y, f, s) + eps)))
                for eps in _EPS
            ),
        ),
        Mistake(
            "eps beside the noise",
            "a noise of 10⁻⁶ is what the data have: nothing may be added to it.",
            tuple(
                face
                for eps in (1e-6, 1e-7, 1e-8)
                for face in (
                    lambda y, f, s, eps=eps: _left_out(y, f, s + eps),
                    lambda y, f, s, eps=eps: _left_out(y, f, np.sqrt(s**2 + eps)),
                )
            ),
        ),
        Mistake(
            "moments for the mixture",
            "no Gaussian with the networks' mean and variance is asked for.",
            (
                lambda y, f, s: _log_normal(y, np.mean(f), np.sqrt(np.var(f) + s**2)),
                lambda y, f, s: _log_normal(y, np.mean(f), np.sqrt(np.var(f, ddof=1) + s**2)),
            ),
        ),
        Mistake(
            "plug-in for the average",
            "this scores the mean network alone.",
            lambda y, f, s: _log_normal(y, np.mean(f), s),
        ),
        Mistake(
            "the farthest network alone",
            "all S networks count; the one with the largest weight is only the largest term.",
            (
                lambda y, f, s: np.min(_log_normal(y, f, s)),
                lambda y, f, s: np.min(_log_normal(y, f, s)) + np.log(len(f)),
            ),
        ),
        Mistake(
            "not in nats",
            "the logarithm is the natural one, np.log.",
            (
                lambda y, f, s: _left_out(y, f, s) / np.log(2),
                lambda y, f, s: _left_out(y, f, s) / np.log(10),
            ),
        ),
        Mistake(
            "density for log density",
            "take the logarithm.",
            lambda y, f, s: np.exp(_left_out(y, f, s)),
        ),
        Mistake(
            "σ² for σ",
            "noise_std is a standard deviation: square it once, in the exponent.",
            lambda y, f, s: _left_out(y, f, s**2),
        ),
        Mistake(
            "σ for σ²",
            "the exponent is −(y − f)²/(2σ²).",
            (
                lambda y, f, s: _harmonic(_log_normal(y, f, np.sqrt(s)) - 0.5 * np.log(s)),
                lambda y, f, s: _left_out(y, f, np.sqrt(s)),
            ),
        ),
        Mistake(
            "the ½ is missing",
            "the exponent is −(y − f)²/(2σ²).",
            lambda y, f, s: _harmonic(_log_normal(y, f, s) - 0.5 * ((y - f) / s) ** 2),
        ),
        Mistake(
            "the normaliser is missing",
            "a Gaussian density has the factor 1/(σ√(2π)): −log σ − ½ log 2π.",
            (
                lambda y, f, s: _harmonic(-0.5 * ((y - f) / s) ** 2),
                lambda y, f, s: _left_out(y, f, s) + np.log(s),
                lambda y, f, s: _left_out(y, f, s) + 0.5 * np.log(2 * np.pi),
            ),
        ),
        Mistake(
            "wrong sign",
            "the score is a log density: larger is better.",
            lambda y, f, s: -_left_out(y, f, s),
        ),
    ),
)


# Exercise 10.2.


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
    "10.2",
    "Compute: the coverage of a 95 % interval",
    "10.4",
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
                lambda y, m, e, s: _within(y, m, e, s, scipy.stats.t.ppf(0.975, len(y) - 1)),
                lambda y, m, e, s: _within(y, m, e, s, scipy.stats.t.ppf(0.975, len(y))),
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


# Exercise 10.3.


def _quantile(level: Any, samples: Any, noise_std: Any, below: Any = ndtr) -> Any:
    """Where the mean of the distribution functions reaches the level, by bisection."""
    low = samples.min(axis=0) - 50 * noise_std
    high = samples.max(axis=0) + 50 * noise_std
    for _ in range(100):
        middle = (low + high) / 2
        short = below((middle - samples) / noise_std).mean(axis=0) < level
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high


def _held_near(far: float) -> Any:
    """What a search finds that ends so many sds of the noise beyond the lowest and the highest."""
    return lambda u, f, s: np.clip(
        _quantile(u, f, s), f.min(axis=0) - far * s, f.max(axis=0) + far * s
    )


def _quantile_of_ensemble(level: Any, samples: Any, noise_std: Any) -> Any:
    return _quantile(level, samples, noise_std)


_F = _RNG.normal(0.0, 1.0, (30, 6))


def _two_moments(level: Any, samples: Any, noise_std: Any, ddof: int) -> Any:
    spread = np.sqrt(samples.var(axis=0, ddof=ddof) + noise_std**2)
    return samples.mean(axis=0) + spread * ndtri(level)


def _of_functions(level: Any, samples: Any) -> Any:
    return np.array([np.quantile(f, u) for f, u in zip(samples.T, level, strict=True)])


QUANTILE = Exercise(
    "10.3",
    "Compute: a quantile of an ensemble",
    "10.4",
    _quantile_of_ensemble,
    (
        (_A([0.1, 0.8]), (2 * _F[:3, :2]).round(2), 0.2),
        (_A([0.02, 0.25, 0.5, 0.66, 0.9, 0.999]), _F, 0.5),
        (_A([0.3, 0.05, 0.95, 0.7, 0.6, 0.15, 0.45]), _RNG.normal(0.2, 1.5, (4, 7)), 1.7),
        (_A([0.975, 0.025, 0.4]), _RNG.normal(0.0, 0.5, (2, 3)), 0.8),
        (_A([0.6, 0.1]), 1e-6 * _F[:3, :2], 1e-6),  # what is added to the noise shows
        (_A([0.5, 0.9]), _A([[-3.0, 0.4], [5.1, 8.1], [5.3, 0.9]]), 0.3),  # two groups
        # two that agree, and their tails
        (_A([1e-4, 0.999, 0.01]), _A([[0.6, -2.0, 7.0], [0.6, -2.0, 7.0]]), 1.4),
    ),
    (
        Mistake(
            "the networks' quantiles averaged",
            "the mean of the networks' quantiles is no quantile of their mixture: it is the "
            "distribution functions that are averaged.",
            lambda u, f, s: f.mean(axis=0) + s * ndtri(u),
        ),
        Mistake(
            "the median network's quantile",
            "all networks count: it is the distribution functions that are averaged.",
            lambda u, f, s: np.median(f, axis=0) + s * ndtri(u),
        ),
        Mistake(
            "moments for the mixture",
            "a mixture has the quantiles of a Gaussian only if it is one.",
            (
                lambda u, f, s: _two_moments(u, f, s, 0),
                lambda u, f, s: _two_moments(u, f, s, 1),
            ),
        ),
        Mistake(
            "the noise is missing",
            "this is a quantile of the functions; y is a function value plus noise.",
            (
                lambda u, f, s: _of_functions(u, f),
                lambda u, f, s: f.mean(axis=0) + f.std(axis=0) * ndtri(u),
                lambda u, f, s: f.mean(axis=0) + f.std(axis=0, ddof=1) * ndtri(u),
            ),
        ),
        Mistake(
            "noise added to a quantile",
            "quantiles of a sum are no sums of quantiles.",
            lambda u, f, s: _of_functions(u, f) + s * ndtri(u),
        ),
        Mistake(
            "searched too near",
            "a level of 10⁻⁴ is almost 4 sds of the noise below a network: begin farther out.",
            tuple(map(_held_near, (0.0, 1.0, 1.96, 2.0, 3.0))),
        ),
        Mistake(
            "upper tail",
            "the level is the probability *below* the quantile.",
            lambda u, f, s: _quantile(1 - u, f, s),
        ),
        Mistake(
            "the level of a central interval",
            "the level is the probability below, not around the middle.",
            (
                lambda u, f, s: _quantile((1 + u) / 2, f, s),
                lambda u, f, s: _quantile((1 - u) / 2, f, s),
            ),
        ),
        Mistake(
            "the PIT of the level",
            "(10.5) leads from a value to its level; you are asked for the way back.",
            lambda u, f, s: ndtr((u[None] - f) / s).mean(axis=0),
        ),
        Mistake(
            "the sigmoid for Φ",
            "the noise is Gaussian: Φ, not 1/(1 + e^(−z)).",
            (
                lambda u, f, s: _quantile(u, f, s, expit),
                lambda u, f, s: _quantile(u, f, s / 1.702, expit),
            ),
        ),
        Mistake(
            "erf for Φ",
            "Φ(z) = ½ + ½ erf(z/√2): mind the √2.",
            lambda u, f, s: _quantile(u, f, s / np.sqrt(2)),
        ),
        Mistake(
            "eps beside the noise",
            "a noise of 10⁻⁶ is what the data have: nothing may be added to it.",
            tuple(lambda u, f, s, eps=eps: _quantile(u, f, s + eps) for eps in (1e-6, 1e-7, 1e-8)),
        ),
        Mistake(
            "√σ for σ",
            "Φ wants the error in standard deviations: divide by noise_std.",
            lambda u, f, s: _quantile(u, f, np.sqrt(s)),
        ),
        Mistake(
            "σ² for σ",
            "Φ wants the error in standard deviations: divide by noise_std.",
            lambda u, f, s: _quantile(u, f, s**2),
        ),
        Mistake(
            "not divided by σ",
            "Φ wants the error in standard deviations: divide by noise_std.",
            lambda u, f, s: _quantile(u, f, 1.0),
        ),
        Mistake(
            "all inputs in one mixture",
            "each target has a mixture of its own: the column of samples.",
            lambda u, f, s: _quantile(u, np.repeat(f.reshape(-1, 1), len(u), axis=1), s),
        ),
    ),
    rtol=1e-4,
)


# Exercise 10.4.

STATEMENTS = Choice(
    "10.4",
    "Explain: true or false",
    "10.1, 10.3, 10.4 and 10.7",
    frozenset("bde"),
    statements={
        "a": "a constant forecast of the mean and spread of all y covers 95 % as well (section "
        "10.4).",
        "b": "the RMSE sees the mean alone: scale all standard deviations by 10 and it stays "
        "(section 10.3).",
        "c": "the average hides it: too wide among the data makes up for too narrow in the gap "
        "(section 10.4).",
        "d": "what does the expected log score under the truth differ by? A KL divergence "
        "(section 10.3).",
        "e": "which direction of the KL forgives a missed mode? See the table of section 10.7.",
        "f": "chains that agree may all have missed the same mode (section 10.1).",
    },
)


# Exercise 10.5.

_RNG_10_5 = np.random.default_rng(77)


def _transport(a: Any, b: Any) -> Any:
    return np.sqrt(np.mean((np.sort(a, axis=0) - np.sort(b, axis=0)) ** 2))


def _moments(ddof: int) -> Any:
    """(10.1) of the draws' means and standard deviations."""

    def gap(a: Any, b: Any) -> Any:
        spreads = a.std(axis=0, ddof=ddof) - b.std(axis=0, ddof=ddof)
        return np.sqrt(np.mean((a.mean(axis=0) - b.mean(axis=0)) ** 2 + spreads**2))

    return gap


def _nearest(a: Any, b: Any) -> Any:
    """Every draw of a to the nearest of b, wherever that one is needed more."""
    return np.sqrt(np.mean(np.min((a[:, None] - b) ** 2, axis=1)))


def _two_sets(s: int, m: int, scale: float = 1.0) -> tuple[Any, Any]:
    """Draws round one peak and round two, at m inputs ``[s, m]`` each."""
    one = _RNG_10_5.normal(0.5, 1.0, (s, m))
    side = np.where(_RNG_10_5.random((s, m)) < 0.5, -2.0, 2.0)
    return scale * one.round(2), scale * (side + _RNG_10_5.normal(0.0, 0.6, (s, m))).round(2)


GAP = Exercise(
    "10.5",
    "Extend: a distance without Gaussians",
    "10.2",
    _transport,
    (
        (_A([[0.0, 1.0], [3.0, 1.5], [1.0, -2.0]]), _A([[2.5, 0.0], [0.5, 4.0], [-1.0, 0.5]])),
        _two_sets(20, 4),
        _two_sets(7, 7),
        _two_sets(40, 1),
        (_A([[0.4], [1.3]]), _A([[1.4], [0.2]])),
        _two_sets(5, 3, 1e-6),  # what is added under the root shows
    ),
    (
        Mistake(
            "draws paired as they come",
            "draw k of the one has nothing to do with draw k of the other: which pairs make the "
            "way short?",
            lambda a, b: np.sqrt(np.mean((a - b) ** 2)),
        ),
        Mistake(
            "Gaussians again",
            "(10.1) sees mean and sd alone: one peak and two may have the same.",
            (_moments(0), _moments(1)),
        ),
        Mistake(
            "sorted over the inputs",
            "at each input the draws are moved; no draw goes from one input to another.",
            lambda a, b: np.sqrt(np.mean((np.sort(a, axis=1) - np.sort(b, axis=1)) ** 2)),
        ),
        Mistake(
            "sorted over everything",
            "at each input the draws are moved; no draw goes from one input to another.",
            lambda a, b: np.sqrt(np.mean((np.sort(a, axis=None) - np.sort(b, axis=None)) ** 2)),
        ),
        Mistake(
            "to the nearest draw",
            "each draw of b is wanted once: where two go to the same, another is left out.",
            (_nearest, lambda a, b: _nearest(b, a)),
        ),
        Mistake(
            "every pair",
            "that is the distance of draws picked by chance; two equal sets must be 0 apart.",
            lambda a, b: np.sqrt(np.mean((a[:, None] - b) ** 2)),
        ),
        Mistake(
            "absolute values for squares",
            "root mean *square*: square the differences, average, take the root.",
            lambda a, b: np.mean(np.abs(np.sort(a, axis=0) - np.sort(b, axis=0))),
        ),
        Mistake(
            "the root is missing",
            "this is in squared units of y.",
            lambda a, b: _transport(a, b) ** 2,
        ),
        Mistake(
            "root before mean",
            "root mean square: average the squares over x too, then take the root.",
            lambda a, b: np.mean(
                np.sqrt(np.mean((np.sort(a, axis=0) - np.sort(b, axis=0)) ** 2, axis=0))
            ),
        ),
        Mistake(
            "not averaged over x",
            "one number is wanted: the mean over x, under the root.",
            lambda a, b: np.sqrt(np.mean((np.sort(a, axis=0) - np.sort(b, axis=0)) ** 2, axis=0)),
        ),
        Mistake(
            "sum for mean",
            "average over draws and over x, or more of either look like a larger distance.",
            (
                lambda a, b: _transport(a, b) * np.sqrt(a.size),
                lambda a, b: _transport(a, b) * np.sqrt(len(a)),
                lambda a, b: _transport(a, b) * np.sqrt(a.shape[1]),
            ),
        ),
        Mistake(
            "eps under the root",
            "two predictives may be 10⁻⁶ apart, or equal: nothing may be added.",
            tuple(lambda a, b, eps=eps: np.sqrt(_transport(a, b) ** 2 + eps) for eps in EPS),
        ),
    ),
)


# Exercise 10.6.


def _factor(y: Any, mean: Any, std: Any) -> Any:
    return np.sqrt(np.mean(((y - mean) / std) ** 2))


def _announced(count: int, factor: float, shift: float) -> tuple[Any, Any, Any]:
    """Targets whose errors are ``factor`` times as large as announced, and not centred."""
    mean, std = _RNG_10_5.normal(size=count).round(2), _RNG_10_5.uniform(0.2, 1.9, count).round(2)
    return (mean + std * (shift + factor * _RNG_10_5.standard_normal(count))).round(2), mean, std


RECALIBRATE = Exercise(
    "10.6",
    "Break: mend an overconfident model by one factor",
    "10.3",
    _factor,
    tuple(
        _announced(*case)
        for case in ((3, 3.0, 0.5), (50, 3.0, -0.4), (7, 0.4, 0.1), (2, 2.0, 0.3), (20, 1.0, 0.2))
    )
    + (
        (_A([3e-6, -1e-6]), _A([0.0, 1e-6]), _A([1e-6, 2e-6])),  # what is added to s shows
        (_A([4.0, -2.5, 7.1]), _A([0.2, 1.0, -0.3]), _A([0.03, 0.08, 0.05])),  # far too sure
    ),
    (
        Mistake(
            "σ² for σ",
            "this is the factor for the variances; the root of it is for the sds.",
            lambda y, m, s: np.mean(((y - m) / s) ** 2),
        ),
        Mistake(
            "inverse",
            "an overconfident model (|z| > 1) needs a factor above 1.",
            lambda y, m, s: 1 / _factor(y, m, s),
        ),
        Mistake(
            "absolute values for squares",
            "the Gaussian likelihood is maximal at the root mean square of z.",
            lambda y, m, s: np.mean(np.abs(y - m) / s),
        ),
        Mistake(
            "ratio of averages",
            "divide each error by its own sd first.",
            lambda y, m, s: np.sqrt(np.mean((y - m) ** 2) / np.mean(s**2)),
        ),
        Mistake(
            "the sds are ignored",
            "this is the RMSE; the factor multiplies each sd.",
            lambda y, m, s: np.sqrt(np.mean((y - m) ** 2)),
        ),
        Mistake(
            "centred",
            "the mean of z is error too: do not subtract it.",
            lambda y, m, s: np.std((y - m) / s),
        ),
        Mistake(
            "sum for mean",
            "the derivative is Σz²/k³ − n/k: the n does not drop out.",
            lambda y, m, s: np.sqrt(np.sum(((y - m) / s) ** 2)),
        ),
        Mistake(
            "mean of z",
            "signed errors cancel; the likelihood sees their squares.",
            lambda y, m, s: np.mean((y - m) / s),
        ),
        Mistake(
            "n − 1 for n",
            "the derivative is Σz²/k³ − n/k: no mean has been estimated.",
            (
                lambda y, m, s: np.sqrt(np.sum(((y - m) / s) ** 2) / (len(y) - 1)),
                lambda y, m, s: np.std((y - m) / s, ddof=1),
            ),
        ),
        Mistake(
            "the sds for their squares",
            "z is the error in standard deviations: (y − m)²/s².",
            (
                lambda y, m, s: np.sqrt(np.mean((y - m) ** 2 / s)),
                lambda y, m, s: np.sqrt(np.mean(((y - m) / s**2) ** 2)),
            ),
        ),
        Mistake(
            "eps beside the sd",
            "a model may announce an sd of 10⁻⁶: nothing may be added to it.",
            tuple(
                face
                for eps in (1e-6, 1e-7, 1e-8, 1e-9)
                for face in (
                    lambda y, m, s, eps=eps: _factor(y, m, s + eps),
                    lambda y, m, s, eps=eps: _factor(y, m, np.sqrt(s**2 + eps)),
                )
            ),
        ),
        Mistake(
            "median for mean",
            "the Gaussian likelihood is maximal at the root *mean* square of z.",
            (
                lambda y, m, s: np.median(np.abs(y - m) / s),
                lambda y, m, s: np.median(np.abs(y - m) / s) / 0.6744897501960817,
            ),
        ),
        Mistake(
            "the factor of the 95 % interval",
            "this makes the coverage right at one level; the log score asks for all of y.",
            (
                lambda y, m, s: np.quantile(np.abs(y - m) / s, 0.95) / 1.959963984540054,
                lambda y, m, s: np.quantile(np.abs(y - m) / s, 0.95) / 1.96,
                lambda y, m, s: np.quantile(np.abs(y - m) / s, 0.95),
            ),
        ),
        Mistake(
            "never below 1",
            "a model that is too unsure needs a factor below 1.",
            lambda y, m, s: max(1.0, _factor(y, m, s)),
        ),
    ),
    rtol=2e-4,  # the largest score may also be searched for
)


# Exercise 10.7.


def _choice(mean: Any, covariance: Any, contexts: Any, eps: Any) -> Any:
    w = mean + np.linalg.cholesky(covariance) @ eps
    return np.argmax(contexts @ w)


def _symmetric_root(covariance: Any) -> Any:
    return _eigen_root(covariance) @ np.linalg.eigh(covariance)[1].T


def _eigen_root(covariance: Any) -> Any:
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(values)


def _singular_root(covariance: Any) -> Any:
    vectors, values, _ = np.linalg.svd(covariance)
    return vectors * np.sqrt(values)


_CASES = []
for _actions, _size in 8 * [(3, 2), (6, 3), (9, 4), (5, 7)]:
    _root = _RNG_10_5.normal(size=(_size, _size))
    _CASES.append(
        (
            _RNG_10_5.normal(size=_size).round(2),
            (_root @ _root.T + 0.1 * np.eye(_size)).round(3),
            _RNG_10_5.normal(size=(_actions, _size)).round(2),
            _RNG_10_5.standard_normal(_size).round(2),
        )
    )


THOMPSON = Exercise(
    "10.7",
    "Extend: Thompson's choice",
    "10.8",
    _choice,
    tuple(_CASES),
    (
        Mistake(
            "greedy",
            "act on a *draw* of w, not on its mean: use eps.",
            lambda m, c, x, e: np.argmax(x @ m),
        ),
        Mistake(
            "covariance for its root",
            "w = m + L ε with L Lᵀ = Σ; with Σ itself the draws have covariance Σ².",
            lambda m, c, x, e: np.argmax(x @ (m + c @ e)),
        ),
        Mistake(
            "correlations ignored",
            "the square roots of the diagonal are not a root of Σ: use Cholesky.",
            lambda m, c, x, e: np.argmax(x @ (m + np.sqrt(np.diag(c)) * e)),
        ),
        Mistake(
            "L transposed",
            "NumPy returns the lower L with Σ = L Lᵀ: L @ ε, not Lᵀ @ ε.",
            lambda m, c, x, e: np.argmax(x @ (m + np.linalg.cholesky(c).T @ e)),
        ),
        Mistake(
            "an upper bound",
            "mean plus a multiple of the sd is UCB, which draws nothing.",
            tuple(
                lambda m, c, x, e, k=k: np.argmax(
                    x @ m + k * np.sqrt(np.einsum("ij,jk,ik->i", x, c, x))
                )
                for k in (1.0, 2.0, 1.96, 3.0)
            ),
        ),
        Mistake(
            "another root",
            "your draws are as good, but the check needs the same ones: the Cholesky root, L @ ε.",
            (
                lambda m, c, x, e: np.argmax(x @ (m + _symmetric_root(c) @ e)),
                lambda m, c, x, e: np.argmax(x @ (m + _eigen_root(c) @ e)),
                lambda m, c, x, e: np.argmax(x @ (m + _singular_root(c) @ e)),
                lambda m, c, x, e: np.argmax(
                    x @ (m + np.linalg.solve(np.linalg.cholesky(np.linalg.inv(c)).T, e))
                ),
            ),
        ),
        Mistake(
            "precision for covariance",
            "`covariance` is Σ already: it is not inverted.",
            (
                lambda m, c, x, e: np.argmax(x @ (m + np.linalg.cholesky(np.linalg.inv(c)) @ e)),
                lambda m, c, x, e: np.argmax(x @ (m + np.linalg.solve(np.linalg.cholesky(c).T, e))),
                lambda m, c, x, e: np.argmax(x @ (m + np.linalg.solve(np.linalg.cholesky(c), e))),
            ),
        ),
        Mistake(
            "ε is added as it is",
            "standard normal noise has the covariance 1: multiply it by a root of Σ.",
            lambda m, c, x, e: np.argmax(x @ (m + e)),
        ),
        Mistake(
            "subtracted",
            "as a distribution it is the same; but with this ε the draw is m + L ε.",
            lambda m, c, x, e: np.argmax(x @ (m - np.linalg.cholesky(c) @ e)),
        ),
        Mistake(
            "the weight for the action",
            "the action is the largest reward, x_a · w: not the largest weight.",
            lambda m, c, x, e: np.argmax(m + np.linalg.cholesky(c) @ e),
        ),
        Mistake(
            "the size of the reward",
            "a reward may be negative: take the largest, not the largest |reward|.",
            lambda m, c, x, e: np.argmax(np.abs(x @ (m + np.linalg.cholesky(c) @ e))),
        ),
        Mistake(
            "the variances as a root",
            "a root of Σ is wanted, correlations included: Cholesky.",
            lambda m, c, x, e: np.argmax(x @ (m + np.diag(c) * e)),
        ),
        Mistake(
            "the mean is missing",
            "the draw is m + L ε.",
            lambda m, c, x, e: np.argmax(x @ np.linalg.cholesky(c) @ e),
        ),
        Mistake(
            "the worst",
            "take the largest reward: argmax.",
            lambda m, c, x, e: np.argmin(x @ (m + np.linalg.cholesky(c) @ e)),
        ),
        Mistake(
            "reward for action",
            "return the index of the best action, not what it pays.",
            lambda m, c, x, e: np.max(x @ (m + np.linalg.cholesky(c) @ e)),
        ),
    ),
)


# Exercise 10.8.

_PAYS = _RNG_10_5.normal(size=(12, 4)).round(2)
_CHOSEN = _RNG_10_5.integers(0, 4, 12)


def _regret(pays: Any, chosen: Any) -> Any:
    return np.cumsum(pays.max(axis=1) - pays[np.arange(len(chosen)), chosen])


REGRET = Exercise(
    "10.8",
    "Extend: cumulative regret",
    "10.8",
    _regret,
    (
        ((_PAYS[:3, :2] + 3.0), _A([0, 1, 0])),
        (_PAYS, _CHOSEN),
        (_PAYS[:5, :3] - 4.0, _A([2, 0, 1, 1, 0])),
        (_RNG_10_5.normal(size=(7, 7)), _RNG_10_5.integers(0, 7, 7)),
    ),
    (
        Mistake(
            "not cumulative",
            "add up what has been lost so far: np.cumsum.",
            lambda p, c: p.max(axis=1) - p[np.arange(len(c)), c],
        ),
        Mistake(
            "only the total",
            "a curve is wanted, one value a round.",
            lambda p, c: _regret(p, c)[-1],
        ),
        Mistake(
            "reward for regret",
            "this is what was earned; regret is what the best action would have earned more.",
            lambda p, c: np.cumsum(p[np.arange(len(c)), c]),
        ),
        Mistake(
            "wrong sign",
            "regret is best minus chosen, and never falls.",
            lambda p, c: -_regret(p, c),
        ),
        Mistake(
            "one best action for all rounds",
            "in a contextual bandit the best action changes with the context.",
            (
                lambda p, c: np.cumsum(p[:, p.mean(axis=0).argmax()] - p[np.arange(len(c)), c]),
                lambda p, c: np.cumsum(p.mean(axis=0).max() - p[np.arange(len(c)), c]),
                lambda p, c: np.cumsum(p[:, 0] - p[np.arange(len(c)), c]),
            ),
        ),
        Mistake(
            "best of all rounds",
            "compare with the best action of the *same* round: max over axis 1.",
            lambda p, c: np.cumsum(p.max() - p[np.arange(len(c)), c]),
        ),
        Mistake(
            "averaged",
            "the regret is a sum over the rounds, not a mean.",
            lambda p, c: _regret(p, c) / np.arange(1, len(c) + 1),
        ),
        Mistake(
            "squared",
            "regret is what was lost, in the units of the reward.",
            lambda p, c: np.cumsum((p.max(axis=1) - p[np.arange(len(c)), c]) ** 2),
        ),
        Mistake(
            "the total in every round",
            "after round t only what was lost so far is counted: np.cumsum.",
            lambda p, c: np.full(len(c), _regret(p, c)[-1]),
        ),
        Mistake(
            "counted from the end",
            "after the first round only the first is counted: add from the front.",
            lambda p, c: np.cumsum((p.max(axis=1) - p[np.arange(len(c)), c])[::-1]),
        ),
        Mistake(
            "one round late",
            "the regret after a round contains this round.",
            lambda p, c: np.concatenate([[0.0], _regret(p, c)[:-1]]),
        ),
        Mistake(
            "the mean action for the best",
            "regret compares with the best action of the round.",
            lambda p, c: np.cumsum(p.mean(axis=1) - p[np.arange(len(c)), c]),
        ),
        Mistake(
            "wrong choices counted",
            "regret is what they cost, not how many they were.",
            lambda p, c: np.cumsum(p.argmax(axis=1) != c),
        ),
        Mistake(
            "every column for every round",
            "pays[:, chosen] is a matrix; pays[np.arange(n), chosen] takes one entry a round.",
            lambda p, c: np.cumsum(p.max(axis=1) - p[:, c]),
        ),
        Mistake(
            "nothing subtracted",
            "this is what the best actions earn; subtract what the chosen ones did.",
            lambda p, c: np.cumsum(p.max(axis=1)),
        ),
    ),
)

# Exercise 10.9.

_STANDS = range(100, 104)  # seeds of the stands at which a plan is tried
_REGRET = 600.0  # of a good plan; 5 % in all rounds lose some 640
_OUGHT = {"good": 0.0, "no share": 1.0, "late": 2.0, "little": 3.0}


def _plan_of_exploring(t: Any) -> Any:
    return 0.2 * (t < 500)


def _explored(answer: Any, t: Any) -> Array:
    """Which fault a plan has, by what it loses at four stands: 0 is none."""
    if ((answer < 0) | (answer > 1)).any():
        return np.array(_OUGHT["no share"])
    regret = np.mean([_regret_of(answer, seed) for seed in _STANDS])
    if regret < _REGRET:
        return np.array(_OUGHT["good"])
    return np.array(_OUGHT["late" if answer[-500:].mean() > 0.02 else "little"])


def _regret_of(plan: Array, seed: int) -> float:
    """Mean regret of an agent that acts at random in a share ``plan[t]`` of round t."""
    shares = iter(plan)

    def policy(mean: Array, sd: Array, rng: np.random.Generator) -> Array:
        explore = rng.random(mean.shape) < next(shares)
        return np.where(explore, rng.random(mean.shape) < 0.5, mean >= 0)

    return float(bandits.play(bandits.Stand.open(seed), policy, seed + 50)[-1].mean())


EXPLORING = Exercise(
    "10.9",
    "Open: an exploration that ends",
    "10.8",
    _plan_of_exploring,
    ((np.arange(bandits.ROUNDS),),),
    (
        Mistake(
            "no share",
            "ε is the share of the rounds in which the agent acts at random: 0 to 1.",
            lambda t: 2.0 + 0 * t,
        ),
        Mistake(
            "it still explores at the end",
            "what has been learnt by then is paid for in every later round, too: draw the regret "
            "of your plan round by round, and let ε fall.",
            lambda t: 1.0 + 0 * t,
        ),
        Mistake(
            "too little is learnt, or too dearly",
            "draw the regret of several plans: more at first, for longer, or less of it?",
            lambda t: 0.0 * t,
        ),
    ),
    compared=_explored,
)

# Exercise 10.10.

_GAP_WORLDS = tuple(map(World, range(300, 306)))
_NEW = np.linspace(-0.5, 0.5, 101)[:, None]
_IN_GAP = np.abs(_NEW[:, 0] - 0.25) < 0.15
_GIVEN: dict[str, Any] = {  # with room for as many points as the chapter's fits: one program
    "hidden_units": (20,),
    "capacity": bbb.Capacity(64, (20,), 1),
}


def _problems() -> tuple[tuple[Array, Array], ...]:
    """Points of six worlds: 32 each, none between 0.1 and 0.4."""
    made = (datasets.sinusoid(seed=world.data_seed, gap=(0.1, 0.4)) for world in _GAP_WORLDS)
    return tuple((data.x, data.y) for data in made)


def _members(problems: Any, x_new: Any, n: int, noise_std: float = 1.0) -> Any:
    """Mean and sd of n MAP networks that differ in their start, ``[world, 2, m]``."""
    bands = []
    for x, y in problems:
        fits = [point.fit(x, y, prior=Gaussian(10.0), seed=k, **_GIVEN) for k in range(n)]
        f = np.array([fit.predict(x_new).mean for fit in fits])
        bands.append([f.mean(axis=0), np.hypot(f.std(axis=0), noise_std)])
    return np.array(bands)


def _sine(x_new: Any) -> Any:
    """What the data sets have in common, and nobody told."""
    return 10 * np.sin(2 * np.pi * x_new[:, 0])


def _repeats(answer: Any) -> bool:
    """Whether two data sets, which have nothing but the sine in common, got the same."""
    return any(np.array_equal(one, other) for one, other in combinations(answer, 2))


def _judged(answer: Any, problems: Any, x_new: Any) -> Array:
    """Which fault six bands have: 0 none, 1 no sd, 2 data, 3 gap, 4 vague, 5 not of the data."""
    mean, sd = answer[:, 0], answer[:, 1]
    if (sd <= 0).any():
        return np.array(1.0)
    truth = _sine(x_new)
    covered = ndtr(mean + 1.96 * sd - truth) - ndtr(mean - 1.96 * sd - truth)
    score = -0.5 * np.log(2 * np.pi * sd**2) - 0.5 * ((truth - mean) ** 2 + 1) / sd**2
    if covered[:, ~_IN_GAP].mean() < 0.85:
        return np.array(2.0)
    if covered[:, _IN_GAP].mean() < 0.7:
        return np.array(3.0)
    if score[:, ~_IN_GAP].mean() < -2.0:
        return np.array(4.0)
    return np.array(5.0 * _repeats(answer))


COVER_THE_GAP = Exercise(
    "10.10",
    "Open: cover the gap without NUTS",
    "10.5 and 10.7",
    lambda problems, x_new: _members(problems, x_new, 10),
    ((_problems(), _NEW),),
    (
        Mistake(
            "no sd",
            "a standard deviation is above 0 everywhere.",
            lambda problems, x_new: 0.0 * _members(problems, x_new, 1),
        ),
        Mistake(
            "too sure among the data",
            "fewer than 85 % of the new points there fall into your 95 % interval, over the six "
            "data sets: a new point has noise of sd 1.",
            lambda problems, x_new: _members(problems, x_new, 1, 0.1),
        ),
        Mistake(
            "the gap is missed",
            "fewer than 70 % of the new points in the gap fall into your 95 % interval, over the "
            "six data sets: draw your band on two of them. Do fits from other starts agree there?",
            lambda problems, x_new: np.array(
                [[np.zeros(len(x_new)), 1 + 10 * ~_IN_GAP] for _ in problems]
            ),
        ),
        Mistake(
            "covered by being vague",
            "a band that is wide everywhere covers the gap, but among the data it scores below −2 "
            "nats a point.",
            lambda problems, x_new: np.array(
                [[np.zeros(len(x_new)), np.full(len(x_new), 9.0)] for _ in problems]
            ),
        ),
        Mistake(
            "one band for several data sets",
            "each data set is to have the band that a fit to it alone announces.",
            lambda problems, x_new: np.array([[_sine(x_new), np.ones(len(x_new))]] * len(problems)),
        ),
    ),
    compared=_judged,
)


# Exercise 10.11.

_RNG_10_11 = np.random.default_rng(1011)


def _rank(scores: Any, level: Any) -> int:
    """Of the upper end: above it is (1 − level)/2 at most."""
    return int(np.ceil((len(scores) + 1) * (1 + level) / 2 - 1e-9))


def _by_ranks(rank: Any) -> Any:
    """Both ends at new inputs, with a rank of one's own for the upper; the lower is its mirror."""

    def ends(y: Any, mean: Any, std: Any, new_mean: Any, new_std: Any, level: Any) -> Any:
        scores = np.sort((y - mean) / std)
        k = int(rank(scores, level))
        return new_mean + scores[-k] * new_std, new_mean + scores[k - 1] * new_std

    return ends


_conformal = _by_ranks(_rank)


def _symmetric(y: Any, mean: Any, std: Any, new_mean: Any, new_std: Any, level: Any) -> Any:
    """(10.11) as it stands."""
    scores = np.sort(np.abs(y - mean) / std)
    factor = scores[int(np.ceil((len(y) + 1) * level - 1e-9)) - 1]
    return new_mean - factor * new_std, new_mean + factor * new_std


def _interpolated(y: Any, mean: Any, std: Any, new_mean: Any, new_std: Any, level: Any) -> Any:
    ends = np.quantile((y - mean) / std, [(1 - level) / 2, (1 + level) / 2])
    return tuple(new_mean + end * new_std for end in ends)


def _lower_too_high(y: Any, mean: Any, std: Any, new_mean: Any, new_std: Any, level: Any) -> Any:
    """Both ranks rounded up."""
    lower = np.sort((y - mean) / std)[int(np.ceil((len(y) + 1) * (1 - level) / 2)) - 1]
    return new_mean + lower * new_std, _conformal(y, mean, std, new_mean, new_std, level)[1]


def _round_the_mean(to_side: Any) -> Any:
    """Ends of which ``to_side`` keeps each distance, turned outwards, on its side of the mean."""

    def ends(y: Any, mean: Any, std: Any, new_mean: Any, new_std: Any, level: Any) -> Any:
        lower, upper = _conformal(y, mean, std, new_mean, new_std, level)
        return new_mean - to_side(new_mean - lower), new_mean + to_side(upper - new_mean)

    return ends


def _mirrored(y: Any, mean: Any, std: Any, new_mean: Any, new_std: Any, level: Any) -> Any:
    """The upper end's factor to both sides."""
    upper = _conformal(y, mean, std, new_mean, new_std, level)[1]
    return 2 * new_mean - upper, upper


def _believed(y: Any, mean: Any, std: Any, new_mean: Any, new_std: Any, level: Any) -> Any:
    reach = ndtri((1 + level) / 2) * new_std
    return new_mean - reach, new_mean + reach


def _kept_apart(n: int, m: int, level: float, lean: float = 0.4) -> tuple[Any, ...]:
    """Points that lean to one side, some far off, with sds that differ; m new inputs."""
    mean, std = _RNG_10_11.normal(size=n).round(2), _RNG_10_11.uniform(0.3, 2.5, n).round(2)
    y = mean + std * (lean + 1.7 * _RNG_10_11.standard_t(3, n))
    new_mean, new_std = _RNG_10_11.normal(size=m), _RNG_10_11.uniform(0.3, 2.5, m)
    return y.round(3), mean, std, new_mean.round(2), new_std.round(2), level


CONFORMAL = Exercise(
    "10.11",
    "Extend: a counted band that may lean",
    "10.9",
    _conformal,
    tuple(
        _kept_apart(*case)
        for case in (
            *((63, 4, 0.95), (24, 3, 0.9), (12, 5, 0.8), (45, 1, 0.55)),
            *((31, 3, 0.75), (7, 2, 0.5)),  # (n + 1)(1 + c)/2 is whole, in floating point, too
            *((20, 3, 0.6, 4.0), (17, 2, 0.7, -4.0)),  # both ends on one side of the mean
        )
    ),
    (
        Mistake(
            "as far to both sides",
            "that is (10.11), by the size of the scores; here each end has a rank of its own.",
            _symmetric,
        ),
        Mistake(
            "one end's factor for both",
            "the scores lean: below, others are far off than above. Rank from either end.",
            _mirrored,
        ),
        Mistake(
            "the mean is kept inside",
            "where nearly all scores have one sign, both ends lie on that side of the mean.",
            (_round_the_mean(np.abs), _round_the_mean(lambda far: np.maximum(far, 0))),
        ),
        Mistake(
            "the whole level at each end",
            "then twice 1 − c is left out: give each end one half of it.",
            _by_ranks(lambda scores, c: np.ceil((len(scores) + 1) * c - 1e-9)),
        ),
        Mistake(
            "one rank too low",
            "the new point takes a rank among the others, n + 1 scores in all; and the level is "
            "promised at least: round up.",
            (
                _by_ranks(lambda scores, c: np.ceil(len(scores) * (1 + c) / 2 - 1e-9)),
                _by_ranks(lambda scores, c: np.floor((len(scores) + 1) * (1 + c) / 2)),
            ),
        ),
        Mistake(
            "one rank too far out",
            "where (n + 1)(1 + c)/2 is whole, it is the rank itself: the next leaves out less than "
            "it may. (Python counts from 0.)",
            _by_ranks(lambda scores, c: np.floor((len(scores) + 1) * (1 + c) / 2 + 1e-9) + 1),
        ),
        Mistake(
            "the lower rank is rounded up",
            "a lower end that is too high leaves out too much: count its rank from below as that "
            "of the upper end from above.",
            _lower_too_high,
        ),
        Mistake(
            "a quantile between two scores",
            "(10.11) takes one of the scores itself; np.quantile interpolates, and counts from "
            "the smallest to the largest of n.",
            _interpolated,
        ),
        Mistake(
            "the ends turned round",
            "the lower end comes first.",
            lambda *given: _conformal(*given)[::-1],
        ),
        Mistake(
            "the sign of the scores",
            "where y lies above the mean the score is positive: (y − m)/s.",
            lambda y, m, s, n, t, c: _conformal(2 * m - y, m, s, n, t, c),
        ),
        Mistake(
            "not divided by s",
            "a score is counted in the standard deviations announced for that point.",
            lambda y, m, s, n, t, c: _conformal(y, m, 1.0, n, t, c),
        ),
        Mistake(
            "one width for all",
            "a factor is one number; an end is that many of the new inputs' own sds away.",
            (
                lambda y, m, s, n, t, c: _conformal(y, m, s, n, 1.0, c),
                lambda y, m, s, n, t, c: _conformal(y, m, 1.0, n, 1.0, c),
            ),
        ),
        Mistake(
            "the means are missing",
            "the ends are wanted, not how far they are from the new means.",
            lambda y, m, s, n, t, c: _conformal(y, m, s, 0.0 * n, t, c),
        ),
        Mistake(
            "believed, not counted",
            "that is the Gaussian's own interval: it uses none of the points kept apart.",
            _believed,
        ),
    ),
)

# Exercise 10.12.

_PRICE = 8.0  # what an offer costs; the sine brings more round its peak only
_PEAK = np.abs(_NEW[:, 0] - 0.25) < 0.1
_N_DRAWS = 50


def _one_a_decision(problems: Any, x_new: Any) -> Any:
    """Members of an anchored ensemble, drawn with replacement, of each data set ``[w, s, m]``."""
    drawn = []
    for x, y in problems:
        fit = ensemble.fit(x, y, prior=Gaussian(3.0), anchored=True, **_GIVEN)
        which = np.random.default_rng(0).integers(0, 10, _N_DRAWS)
        members = fit.predict(x_new).samples
        assert members is not None  # an ensemble's are its functions
        drawn.append(members[which])
    return np.array(drawn)


def _tried(answer: Any, problems: Any, x_new: Any) -> Array:
    """Which fault draws have: 0 none, 1 all alike, 2 dear, 3 never tries, 4 not of the data."""
    takes = answer >= _PRICE
    if answer[:, :, _PEAK].std(axis=1).mean() < 1e-3:
        return np.array(1.0)
    if takes[:, :, ~_IN_GAP].mean() > 0.02:
        return np.array(2.0)
    if takes[:, :, _PEAK].mean(axis=(1, 2)).min() < 0.05:
        return np.array(3.0)
    return np.array(4.0 * _repeats(answer))


def _constant(value: float, spread: float = 1.0) -> Any:
    """Draws that know nothing of the data: a constant each, round ``value``."""
    rng = np.random.default_rng(0)
    each = value + spread * rng.standard_normal((len(_GAP_WORLDS), _N_DRAWS, 1))
    return lambda problems, x_new: each + np.zeros(len(x_new))


ONE_DRAW = Exercise(
    "10.12",
    "Open: an agent that tries the gap",
    "10.8",
    _one_a_decision,
    ((_problems(), _NEW),),
    (
        Mistake(
            "all draws are alike",
            "an agent that always acts on the same function never tries what this one calls bad: "
            "each decision needs a draw of its own.",
            _constant(0.0, 0.0),
        ),
        Mistake(
            "tries what is known not to pay",
            "among the data too many draws pay 8 for less: there the posterior knows better. Draw "
            "functions, without the noise of a new y.",
            _constant(9.0),
        ),
        Mistake(
            "the peak is hardly tried",
            "in at least one of the six worlds fewer than one draw in twenty takes what lies near "
            "the peak: which method of the course is unsure in the gap?",
            _constant(0.0),
        ),
        Mistake(
            "the same draws for several data sets",
            "each data set is to have draws of what a fit to it alone believes.",
            lambda problems, x_new: np.array(
                [np.linspace(0.9, 1.1, _N_DRAWS)[:, None] * _sine(x_new)] * len(problems)
            ),
        ),
    ),
    compared=_tried,
)
