"""Exercises of chapter 8: ensembles, Laplace and sampling."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach.exercises._engine import Choice, Exercise, Mistake, Outcome
from bdl_teach.exercises._faces import BASES

if TYPE_CHECKING:
    from bdl_teach.methods import laplace

_A = np.array
_GAP = (0.1, 0.4)
_GIVEN: dict[str, Any] = {"prior": densities.Gaussian(3.0), "hidden_units": (20,)}

# Exercise 8.1.


def _wall(u: Any) -> Any:
    return np.max(u) - max(u[0], u[-1])


WALL = Exercise(
    "8.1",
    "Compute: how high is the wall",
    "8.1",
    _wall,
    (
        (_A([30.0, 120.0, 235.0, 80.0, 36.0]),),
        (_A([12.5, 11.0, 7.0, 3.0]),),
        (_A([-4.0, -1.0, -2.5, -9.0]),),
        (_A([2.0, 9.0, 1.0, 15.0, 7.5, 8.0]),),
    ),
    (
        Mistake(
            "above the lower end",
            "who starts at the higher end has less to climb: count from the higher one.",
            lambda u: np.max(u) - min(u[0], u[-1]),
        ),
        Mistake(
            "above the start",
            "a wall is the same from both sides: count from the higher of the two ends.",
            lambda u: np.max(u) - u[0],
        ),
        Mistake(
            "above the mean of the ends",
            "count from the higher end, so that a slope without a top is no wall.",
            lambda u: np.max(u) - (u[0] + u[-1]) / 2,
        ),
        Mistake(
            "the height at half-way",
            "the top need not be in the middle: take the largest value.",
            lambda u: u[len(u) // 2] - max(u[0], u[-1]),
        ),
        Mistake(
            "above the lowest point",
            "count from the ends, where the two modes are.",
            lambda u: np.max(u) - np.min(u),
        ),
    ),
)


# Exercise 8.2.


def _member(
    x: Any, y: Any, anchor: Any, noise: Any, prior_std: Any, noise_std: Any, n: float = 1.0
) -> Any:
    precision = np.eye(x.shape[1]) / prior_std**2 + x.T @ x / noise_std**2
    pull = anchor / prior_std**2 + x.T @ (y + n * noise) / noise_std**2
    return np.linalg.solve(precision, pull)


def _anchored(x: Any, y: Any, anchor: Any, noise: Any, prior_std: Any, noise_std: Any) -> Any:
    return _member(x, y, anchor, noise, prior_std, noise_std)


def _unweighted(x: Any, y: Any, anchor: Any, noise: Any, prior_std: Any, noise_std: Any) -> Any:
    precision = np.eye(x.shape[1]) / prior_std**2 + x.T @ x / noise_std**2
    return np.linalg.solve(precision, anchor + x.T @ (y + noise) / noise_std**2)


def _ordinary(x: Any, y: Any, anchor: Any, noise: Any, prior_std: Any, noise_std: Any) -> Any:
    """Standard deviations where precisions belong."""
    precision = np.eye(x.shape[1]) / prior_std + x.T @ x / noise_std
    return np.linalg.solve(precision, anchor / prior_std + x.T @ (y + noise) / noise_std)


def _problem(n: int, d: int, prior_std: float, noise_std: float) -> tuple[Any, ...]:
    rng = np.random.default_rng([8, n, d])
    x, y = rng.normal(size=(n, d)).round(1), rng.normal(size=n).round(1)
    return x, y, rng.normal(size=d).round(1), rng.normal(size=n).round(1), prior_std, noise_std


MEMBER = Exercise(
    "8.2",
    "Compute: one anchored member",
    "8.2",
    _anchored,
    (_problem(1, 1, 2.0, 0.5), _problem(5, 2, 3.0, 1.5), _problem(2, 3, 0.5, 2.0)),
    (
        Mistake(
            "the targets have no noise",
            "without it the members are too alike: add the noise to y.",
            lambda x, y, a, e, p, s: _member(x, y, a, e, p, s, 0.0),
        ),
        Mistake(
            "no anchor",
            "the pull of the prior goes to a_k, not to 0.",
            lambda x, y, a, e, p, s: _member(x, y, 0 * a, e, p, s),
        ),
        Mistake(
            "the anchor counts fully",
            "it pulls with the precision of the prior: a_k/σ_p².",
            _unweighted,
        ),
        Mistake("sd for variance", "precisions are one over σ², not over σ.", _ordinary),
        Mistake(
            "the anchor added afterwards",
            "the anchor is the prior's mean; the data pull away from it.",
            lambda x, y, a, e, p, s: _member(x, y, 0 * a, e, p, s) + a,
        ),
    ),
)


# Exercise 8.3.


def _dropout_std(contributions: Any, rate: Any) -> Any:
    return np.sqrt(rate / (1 - rate) * np.sum(contributions**2, axis=-1))


_CONTRIBUTIONS = np.random.default_rng(83).normal(size=(4, 6)).round(1)

DROPOUT = Exercise(
    "8.3",
    "Compute: the band of dropout",
    "8.3",
    _dropout_std,
    (
        (_CONTRIBUTIONS, 0.1),
        (3 * _CONTRIBUTIONS[:2], 0.5),
        (_A([[1.0, -1.0]]), 0.2),
        (_A([[2.0]]), 0.0),
    ),
    (
        Mistake(
            "the variance",
            "the exercise asks for the standard deviation: take the root.",
            lambda c, rate: _dropout_std(c, rate) ** 2,
        ),
        Mistake(
            "what is kept is not divided",
            "each z_j is divided by 1 − r: its variance is r (1 − r)/(1 − r)².",
            lambda c, rate: np.sqrt(rate * (1 - rate) * np.sum(c**2, axis=-1)),
        ),
        Mistake(
            "the sum is squared",
            "the z_j are independent: add their variances, not the contributions.",
            lambda c, rate: np.sqrt(rate / (1 - rate)) * np.abs(c.sum(axis=-1)),
        ),
        Mistake(
            "rate and its rest swapped",
            "r is the probability that a unit is left out.",
            lambda c, rate: np.sqrt((1 - rate) / max(rate, 1e-12) * np.sum(c**2, axis=-1)),
        ),
        Mistake(
            "the mean over the units",
            "the output is the sum over the units, and so is its variance.",
            lambda c, rate: np.sqrt(rate / (1 - rate) * np.mean(c**2, axis=-1)),
        ),
        Mistake(
            "the rate alone",
            "divide by 1 − r: z_j has the variance r (1 − r), and is divided by 1 − r.",
            lambda c, rate: np.sqrt(rate * np.sum(c**2, axis=-1)),
        ),
    ),
)


# Exercise 8.4.


def _precision(seen: Any, prior_std: Any, noise_std: Any) -> Any:
    return seen.T @ seen / noise_std**2 + np.eye(seen.shape[1]) / prior_std**2


def _linearised(seen: Any, new: Any, prior_std: Any, noise_std: Any) -> Any:
    cov = np.linalg.inv(_precision(seen, prior_std, noise_std))
    return np.sqrt(np.sum(new @ cov * new, axis=1))


def _diagonal(seen: Any, new: Any, prior_std: Any, noise_std: Any) -> Any:
    return np.sqrt(new**2 @ (1 / np.diag(_precision(seen, prior_std, noise_std))))


def _marginals(seen: Any, new: Any, prior_std: Any, noise_std: Any) -> Any:
    cov = np.linalg.inv(_precision(seen, prior_std, noise_std))
    return np.sqrt(new**2 @ np.diag(cov))


def _rows(n: int, m: int, k: int, prior_std: float, noise_std: float) -> tuple[Any, ...]:
    rng = np.random.default_rng([84, n, k])
    return rng.normal(size=(n, k)).round(1), rng.normal(size=(m, k)).round(1), prior_std, noise_std


LINEARISED = Exercise(
    "8.4",
    "Compute: Laplace's band",
    "8.4",
    _linearised,
    (_rows(4, 3, 2, 2.0, 0.5), _rows(2, 2, 5, 0.7, 1.5), _rows(1, 4, 1, 3.0, 1.0)),
    (
        Mistake(
            "the noise is in it",
            "asked for is the doubt about f; the noise on y comes on top.",
            lambda seen, new, p, s: np.sqrt(_linearised(seen, new, p, s) ** 2 + s**2),
        ),
        Mistake(
            "the variance",
            "the exercise asks for standard deviations: take the roots.",
            lambda seen, new, p, s: _linearised(seen, new, p, s) ** 2,
        ),
        Mistake(
            "the diagonal of the precision",
            "invert the whole matrix: what the data know are sums of weights.",
            _diagonal,
        ),
        Mistake(
            "the diagonal of the covariance",
            "weights are correlated: g Λ⁻¹ g has all entries of Λ⁻¹ in it.",
            _marginals,
        ),
        Mistake(
            "sd for variance",
            "precisions are one over σ², not over σ.",
            lambda seen, new, p, s: _linearised(seen, new, math.sqrt(p), math.sqrt(s)),
        ),
        Mistake(
            "the precision for the covariance",
            "Λ is the precision; the variance of g·w is g Λ⁻¹ g.",
            lambda seen, new, p, s: np.sqrt(np.sum(new @ _precision(seen, p, s) * new, axis=1)),
        ),
    ),
)


# Exercise 8.5.

JUDGE = Choice(
    "8.5",
    "Explain: true or false",
    "8.1 and 8.2 and 8.4 and 8.8",
    frozenset("adf"),
    statements={
        "a": "the shuffled network of 8.1 has the same outputs everywhere, and a wall before it.",
        "b": "members differ as far as training ends in different minima; on a linear model it "
        "never does, and no number of members finds the posterior there.",
        "c": "(8.3) knows of the data by the weights only; see (8.4), which holds whatever the "
        "data.",
        "d": "the last layer is linear in its weights, with Gaussian prior and noise: chapter 1.",
        "e": "the parabola is that of the linear model; the network leaves it along every "
        "direction that no datum tells.",
        "f": "independent units of a sum have one covariance at every width, if what leaves them "
        "is scaled; see (8.9) and the check under it.",
    },
)


# Exercise 8.6.


def _evidence(log_joint: Any, precision: Any) -> Any:
    k = len(precision)
    return log_joint + 0.5 * k * math.log(2 * math.pi) - 0.5 * np.linalg.slogdet(precision)[1]


def _told(k: int, scale: float, log_joint: float) -> tuple[Any, ...]:
    root = np.random.default_rng([86, k]).normal(size=(k + 2, k)).round(1)
    return log_joint, scale * (root.T @ root + np.eye(k))


EVIDENCE = Exercise(
    "8.6",
    "Compute: Laplace's evidence",
    "8.5",
    _evidence,
    (
        _told(2, 1.0, -3.0),
        _told(5, 0.1, -40.0),
        (-7.5, _A([[4.0]])),
        _told(150, 1e4, -1000.0),
    ),
    (
        Mistake(
            "log |Λ| with a plus",
            "a sharper peak has less room under it: the determinant of the precision lowers it.",
            lambda j, lam: 2 * j + len(lam) * math.log(2 * math.pi) - _evidence(j, lam),
        ),
        Mistake(
            "2π is missing",
            "the integral under a Gaussian of k weights has (2π)^(k/2) in it.",
            lambda j, lam: _evidence(j, lam) - 0.5 * len(lam) * math.log(2 * math.pi),
        ),
        Mistake(
            "the half of log |Λ| is missing",
            "the integral has the root of the determinant.",
            lambda j, lam: _evidence(j, lam) - 0.5 * np.linalg.slogdet(lam)[1],
        ),
        Mistake(
            "the diagonal's determinant",
            "the determinant of Λ is not the product of its diagonal.",
            lambda j, lam: _evidence(j, np.diag(np.diag(lam))),
        ),
        Mistake(
            "the determinant overflows",
            "of 150 large numbers the product is no float: np.linalg.slogdet adds logarithms.",
            lambda j, lam: (
                j + 0.5 * len(lam) * math.log(2 * math.pi) - 0.5 * np.log(np.linalg.det(lam))
            ),
            breaks=True,
        ),
        Mistake(
            "another base",
            "nats come of natural logarithms.",
            tuple(lambda j, lam, b=base: j + (_evidence(j, lam) - j) / b for base in BASES),
        ),
    ),
)


# Exercise 8.7.


def _step(w: Any, slope: Any, rate: Any, temperature: Any, xi: Any) -> Any:
    return w - rate * slope + np.sqrt(2 * rate * temperature) * xi


_WEIGHTS = (_A([0.5, -1.0, 2.0]), _A([4.0, 0.5, -3.0]))
_XI = _A([0.3, -1.2, 0.7])

STEP = Exercise(
    "8.7",
    "Change: a step at temperature T",
    "8.6",
    _step,
    (
        (*_WEIGHTS, 0.01, 1.0, _XI),
        (*_WEIGHTS, 0.1, 0.25, _XI),
        (*_WEIGHTS, 0.05, 0.0, _XI),
        (_A([1.0]), _A([-2.0]), 0.02, 4.0, _A([1.0])),
    ),
    (
        Mistake(
            "uphill",
            "U is to fall: subtract its gradient.",
            lambda w, g, rate, t, xi: _step(w, -g, rate, t, xi),
        ),
        Mistake(
            "the noise is as long as the step",
            "it grows with the root of the rate: √(2 ℓ T).",
            lambda w, g, rate, t, xi: w - rate * g + 2 * rate * t * xi,
        ),
        Mistake(
            "the 2 is missing",
            "without it the chain samples at half the temperature.",
            lambda w, g, rate, t, xi: _step(w, g, rate, t / 2, xi),
        ),
        Mistake(
            "T outside the root",
            "the variance of the noise is 2 ℓ T: the sd has √T.",
            lambda w, g, rate, t, xi: _step(w, g, rate, t**2, xi),
        ),
        Mistake(
            "one over T",
            "cold is quiet: at T = 0 there is no noise.",
            lambda w, g, rate, t, xi: _step(w, g, rate, 1 / max(t, 1e-12), xi),
        ),
        Mistake(
            "T is missing",
            "at T = 0 nothing is left but gradient descent.",
            lambda w, g, rate, t, xi: _step(w, g, rate, 1.0, xi),
        ),
    ),
)


# Exercise 8.8.


def _entropy(own_std: Any, columns: Any) -> Any:
    scaled = columns / own_std[:, None]
    log_det = np.linalg.slogdet(np.eye(columns.shape[1]) + scaled.T @ scaled)[1]
    each = np.log(own_std).sum() + 0.5 * len(own_std) * (1 + math.log(2 * math.pi))
    return each + 0.5 * log_det


def _columns(d: int, k: int, scale: float = 1.0) -> tuple[Any, ...]:
    rng = np.random.default_rng([88, d, k])
    return scale * np.exp(rng.normal(size=d).round(1)), scale * rng.normal(size=(d, k)).round(1)


ENTROPY = Exercise(
    "8.8",
    "Compute: the entropy of a few columns",
    "8.7",
    _entropy,
    (_columns(3, 1), _columns(5, 2), _columns(2, 2), _columns(3000, 2, 0.01)),
    (
        Mistake(
            "the columns are missing",
            "that is mean field; of the columns comes ½ log det(I + Lᵀ D⁻² L).",
            lambda d, columns: _entropy(d, 0 * columns),
        ),
        Mistake(
            "the half is missing",
            "log det is of a covariance: the entropy has half of it.",
            lambda d, columns: 2 * _entropy(d, columns) - _entropy(d, 0 * columns),
        ),
        Mistake(
            "the columns are not divided by D",
            "what counts is how far a column goes beyond a weight's own sd: D⁻¹ L.",
            lambda d, columns: _entropy(d, columns * d[:, None]),
        ),
        Mistake(
            "D⁻¹ for D⁻²",
            "in Lᵀ D⁻² L each entry of L is divided by D once, on both sides.",
            lambda d, columns: _entropy(d, columns * d[:, None] ** 0.5),
        ),
        Mistake(
            "the constant is missing",
            "each weight adds ½ (1 + log 2π).",
            lambda d, columns: _entropy(d, columns) - 0.5 * len(d) * (1 + math.log(2 * math.pi)),
        ),
        Mistake(
            "another base",
            "nats come of natural logarithms.",
            tuple(lambda d, columns, b=base: _entropy(d, columns) / b for base in BASES),
        ),
    ),
)


# Exercise 8.9.

_NEAR = 0.1  # nats below the highest evidence


@lru_cache(maxsize=8)
def _last_layer(seed: int) -> laplace.Fit:
    from bdl_teach.methods import laplace

    data = datasets.sinusoid(n=32, noise_std=1.0, seed=seed, gap=_GAP)
    return laplace.fit(data.x, data.y, structure="last_layer", **_GIVEN)


def _log_evidence(prior_std: float, seed: int) -> float:
    """Of the frozen features; NaN where this is no sd."""
    if not (math.isfinite(prior_std) and prior_std > 0):
        return math.nan
    return _last_layer(seed).with_prior(densities.Gaussian(float(prior_std))).log_evidence


_WIDTHS = np.geomspace(0.5, 50.0, 81)


@lru_cache(maxsize=8)
def _deserved(seed: int) -> Any:
    return float(max(_WIDTHS, key=lambda prior_std: _log_evidence(prior_std, seed)))


def _deserves(prior_std: Any, seed: int) -> Any:
    best = _log_evidence(_deserved(seed), seed)
    return float(best - _log_evidence(float(prior_std), seed) < _NEAR)


def _numbers(outcomes: Sequence[Outcome]) -> list[float]:
    """What every world gave; nothing where one gave no number."""
    numbers = [float(o) for o in outcomes if isinstance(o, np.ndarray) and o.size == 1]
    return numbers if len(numbers) == len(outcomes) and np.isfinite(numbers).all() else []


def _all_between(low: float, high: float) -> Callable[..., bool]:
    """Whether the numbers of all worlds are from ``low`` to ``high``."""
    return lambda got, _: bool(found := _numbers(got)) and low <= min(found) <= max(found) <= high


def _squared(got: Sequence[Outcome], want: Sequence[Outcome]) -> bool:
    pairs = zip(_numbers(got), _numbers(want), strict=False)
    return all([_numbers(got), *(0.7 < g / w**2 < 1.4 for g, w in pairs)])


DESERVED = Exercise(
    "8.9",
    "Experiment: the prior that the features deserve",
    "8.4 and 8.5",
    _deserved,
    ((0,), (1,), (2,)),
    (
        Mistake("the variance", "return σ_p, not σ_p².", recognises=_squared),
        Mistake(
            "the prior that it was trained with",
            "move σ_p alone, with the features frozen, and look where the evidence is highest.",
            recognises=_all_between(3.0, 3.0),
        ),
        Mistake(
            "no standard deviation",
            "σ_p is above 0.",
            recognises=_all_between(-math.inf, 0.0),
        ),
        Mistake(
            "the lowest evidence",
            "so narrow a prior forbids the peaks that the data show: maximise log P(D).",
            recognises=_all_between(1e-9, 1.5),
        ),
    ),
    compared=_deserves,
)


# Exercise 8.10.

_SURE = (0.55, 0.75)  # units of y: Laplace's doubt among the data is 0.6 on average


@lru_cache(maxsize=64)
def _vagueness(rate: float, seed: int) -> float:
    """Mean epistemic sd of dropout among the data, by (8.3); NaN where this is no rate."""
    from bdl_teach.methods import mc_dropout

    if not 0 <= rate < 1:
        return math.nan
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=seed, gap=_GAP)
    m = mc_dropout.fit(data.x, data.y, rate=rate, **_GIVEN).weights
    units = np.maximum(0.0, data.x * m[:20] + m[20:40]) * m[40:60]
    return float(_dropout_std(units, rate).mean())


@lru_cache(maxsize=8)
def _calm_rate(seed: int) -> Any:
    """By halving, since a higher rate is vaguer."""
    low, high = 0.001, 0.1
    while not _SURE[0] + 0.04 < _vagueness((low + high) / 2, seed) < _SURE[1] - 0.04:
        middle = (low + high) / 2
        low, high = (middle, high) if _vagueness(middle, seed) < sum(_SURE) / 2 else (low, middle)
    return (low + high) / 2


def _calm(rate: Any, seed: int) -> Any:
    return float(_SURE[0] < _vagueness(float(rate), seed) < _SURE[1])


CALM = Exercise(
    "8.10",
    "Experiment: calm dropout down",
    "8.3",
    _calm_rate,
    ((0,), (1,), (2,)),
    (
        Mistake(
            "no dropout",
            "at rate 0 nothing varies, and the sd is 0.",
            recognises=_all_between(0.0, 0.0),
        ),
        Mistake(
            "near the usual rate",
            "there it is about twice as vague: go down, and draw the sd over the rate.",
            recognises=_all_between(0.04, 0.2),
        ),
        Mistake(
            "the probability of keeping",
            "the rate is the probability that a unit is left out.",
            recognises=_all_between(0.5, 1 - 1e-9),
        ),
        Mistake(
            "no rate",
            "a rate is at least 0 and below 1.",
            recognises=lambda got, _: any(not 0 <= rate < 1 for rate in _numbers(got)),
        ),
    ),
    compared=_calm,
)
