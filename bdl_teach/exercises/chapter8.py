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


def _tops(first: Any, second: Any) -> Any:
    """The highest point of each path, of both its legs ``[k]``."""
    return np.maximum(first.max(axis=1), second.max(axis=1))


def _pass(first: Any, second: Any) -> Any:
    return np.min(_tops(first, second)) - max(first[0, 0], second[0, -1])


def _leg(u: Any) -> Any:
    """How far each leg climbs above the higher of its own two ends ``[k]``."""
    return u.max(axis=1) - np.maximum(u[:, 0], u[:, -1])


def _above(base: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """The lowest pass, above a height of one's own."""
    return lambda first, second: np.min(_tops(first, second)) - base(first, second)


PASS = Exercise(
    "8.1",
    "Extend: the lowest pass",
    "8.1",
    _pass,
    (
        (
            _A([[30.0, 90.0, 60.0], [30.0, 60.0, 100.0], [30.0, 85.0, 40.0], [30.0, 50.0, 38.0]]),
            _A([[60.0, 70.0, 36.0], [100.0, 95.0, 36.0], [40.0, 48.0, 36.0], [38.0, 120.0, 36.0]]),
        ),
        (
            _A([[9.0, 14.0, 25.0, 12.0], [9.0, 31.0, 22.0, 16.0]]),
            _A([[12.0, 13.0, 40.0, 2.0], [16.0, 33.0, 27.0, 2.0]]),
        ),
        (_A([[-4.0, -1.0, -6.0]]), _A([[-6.0, -2.5, -9.0]])),
        (_A([[5.0, 8.0, 7.0], [5.0, 4.0, 3.0]]), _A([[7.0, 6.0, 1.0], [3.0, 2.0, 1.0]])),
        # the best path is highest at its middle point, and where it ends
        (_A([[1.0, 2.0, 5.0], [1.0, 8.0, 4.0]]), _A([[5.0, 3.0, 0.0], [4.0, 6.0, 0.0]])),
        (_A([[2.0, 3.0, 4.0]]), _A([[4.0, 5.0, 7.0]])),
    ),
    (
        Mistake(
            "the middle point is changed on the way",
            "both legs lead by the same middle point: first the top of each path, of both its "
            "legs, then the lowest of these tops.",
            lambda a, b: max(a.max(axis=1).min(), b.max(axis=1).min()) - max(a[0, 0], b[0, -1]),
        ),
        Mistake(
            "the highest of all",
            "who may choose a path takes the one whose top is lowest.",
            lambda a, b: np.max(_tops(a, b)) - max(a[0, 0], b[0, -1]),
        ),
        Mistake(
            "one leg only",
            "a path climbs as high as the higher of its two legs.",
            (
                lambda a, b: a.max(axis=1).min() - max(a[0, 0], b[0, -1]),
                lambda a, b: b.max(axis=1).min() - max(a[0, 0], b[0, -1]),
            ),
        ),
        Mistake(
            "by the lowest middle point",
            "a low middle point may lie behind a high wall: look at the whole of both legs.",
            lambda a, b: _tops(a, b)[np.argmin(b[:, 0])] - max(a[0, 0], b[0, -1]),
        ),
        Mistake(
            "the height of the middle point",
            "a leg may climb higher on the way than at its ends: take its largest value.",
            lambda a, b: np.min(b[:, 0]) - max(a[0, 0], b[0, -1]),
        ),
        Mistake(
            "the middle point is left out",
            "a path passes its middle point, too, and may be highest there.",
            lambda a, b: np.min(_tops(a[:, :-1], b[:, 1:])) - max(a[0, 0], b[0, -1]),
        ),
        Mistake(
            "above the ends of a leg",
            "count from the two modes: the middle point is a place to pass, and no end.",
            (
                lambda a, b: np.min(np.maximum(_leg(a), _leg(b))),
                lambda a, b: np.min(_leg(a) + _leg(b)),
            ),
        ),
        Mistake(
            "above the lower mode",
            "who starts at the higher one has less to climb: count from the higher one.",
            _above(lambda a, b: min(a[0, 0], b[0, -1])),
        ),
        Mistake(
            "above the start",
            "a pass is the same from both sides: count from the higher of the two modes.",
            _above(lambda a, b: a[0, 0]),
        ),
        Mistake(
            "above the mean of the modes",
            "count from the higher one, so that a slope without a top is no wall.",
            _above(lambda a, b: (a[0, 0] + b[0, -1]) / 2),
        ),
        Mistake(
            "the height alone",
            "asked is how far one must climb: subtract the height of the higher mode.",
            _above(lambda a, b: 0.0),
        ),
    ),
)


# Exercise 8.2.


def _precision(seen: Any, prior_std: Any, noise_std: Any) -> Any:
    return seen.T @ seen / noise_std**2 + np.eye(seen.shape[1]) / prior_std**2


def _anchors(x: Any, prior_std: Any, noise_std: Any) -> Any:
    return prior_std**4 * _precision(x, prior_std, noise_std)


def _inputs(n: int, d: int, prior_std: float, noise_std: float) -> tuple[Any, ...]:
    rng = np.random.default_rng([8, n, d])
    return rng.normal(size=(n, d)).round(1), prior_std, noise_std


ANCHORS = Exercise(
    "8.2",
    "Change: all doubt in the anchors",
    "8.2",
    _anchors,
    (_inputs(1, 1, 2.0, 0.5), _inputs(5, 2, 3.0, 1.5), _inputs(2, 3, 0.5, 2.0)),
    (
        Mistake(
            "the prior alone",
            "with these anchors the members have Λ⁻²/σ_p²: the noise on the targets is missing, "
            "and the anchors must make up for it.",
            lambda x, p, s: p**2 * np.eye(x.shape[1]),
        ),
        Mistake(
            "the posterior's covariance",
            "that is what the members shall have; (8.2) shrinks an anchor on its way there.",
            lambda x, p, s: np.linalg.inv(_precision(x, p, s)),
        ),
        Mistake(
            "σ_p⁴ is missing",
            "a member gets Λ⁻¹ a_k/σ_p²: with this C its covariance is Λ⁻¹/σ_p⁴.",
            _precision,
        ),
        Mistake(
            "σ_p² for σ_p⁴",
            "an anchor is divided by σ_p² on its way into a member, its covariance by the square.",
            lambda x, p, s: p**2 * _precision(x, p, s),
        ),
        Mistake(
            "Λ² for Λ",
            "Λ⁻¹ stands on both sides of C, and one Λ⁻¹ shall be left.",
            lambda x, p, s: p**4 * _precision(x, p, s) @ _precision(x, p, s),
        ),
        Mistake(
            "what the noise lacks, alone",
            "that makes up for the noise on the targets; the anchors' own σ_p² I is still needed.",
            lambda x, p, s: p**4 * (x.T @ x) / s**2,
        ),
        Mistake(
            "the data's part is not weighted",
            "the pull of the noise, Xᵀε/σ², is an anchor of σ_p² Xᵀε/σ²: what is its covariance?",
            (
                lambda x, p, s: p**2 * np.eye(x.shape[1]) + x.T @ x / s**2,
                lambda x, p, s: p**2 * np.eye(x.shape[1]) + s**2 * (x.T @ x),
                lambda x, p, s: p**2 * np.eye(x.shape[1]) + p**2 * (x.T @ x) / s**2,
            ),
        ),
        Mistake(
            "sd for variance",
            "precisions are one over σ², not over σ.",
            lambda x, p, s: _anchors(x, np.sqrt(p), np.sqrt(s)),
        ),
        Mistake(
            "the inverse",
            "a covariance is asked for, not a precision.",
            lambda x, p, s: np.linalg.inv(_anchors(x, p, s)),
        ),
    ),
)


# Exercise 8.3.


def _in_groups(contributions: Any, group: Any, rate: Any) -> Any:
    sums = [contributions[:, group == g].sum(axis=1) for g in np.unique(group)]
    return np.sqrt(rate / (1 - rate) * np.square(sums).sum(axis=0))


def _dropout_std(contributions: Any, rate: Any) -> Any:
    """(8.3): each unit falls out by itself."""
    return _in_groups(contributions, np.arange(contributions.shape[1]), rate)


def _sizes(group: Any) -> Any:
    """How many units are in the group of each."""
    return (group == group[:, None]).sum(axis=0)


_CONTRIBUTIONS = np.random.default_rng(83).normal(size=(4, 6)).round(1)

GROUPS = Exercise(
    "8.3",
    "Change: units that fall out together",
    "8.3",
    _in_groups,
    (
        (_CONTRIBUTIONS, _A([0, 0, 1, 1, 1, 2]), 0.1),
        (3 * _CONTRIBUTIONS[:2], _A([7, 2, 7, 2, 5, 2]), 0.5),
        (_CONTRIBUTIONS[:3, :3], _A([2, 1, 0]), 0.3),
        (_A([[1.0, -1.0]]), _A([4, 4]), 0.2),
        (_A([[2.0]]), _A([0]), 0.0),
    ),
    (
        Mistake(
            "each unit by itself",
            "that is (8.3) as it stands; units with one z are not independent.",
            lambda c, group, rate: _dropout_std(c, rate),
        ),
        Mistake(
            "all units at once",
            "groups are independent of each other: between them variances add.",
            lambda c, group, rate: _in_groups(c, 0 * group, rate),
        ),
        Mistake(
            "sds are added in a group",
            "contributions of opposite sign cancel while they come and go together.",
            lambda c, group, rate: _in_groups(np.abs(c), group, rate),
        ),
        Mistake(
            "the mean of a group",
            "the output is the sum over the units of a group, not their mean.",
            lambda c, group, rate: _in_groups(c / _sizes(group), group, rate),
        ),
        Mistake(
            "squares times the size of a group",
            "add the contributions of a group before you square; they are not all alike.",
            lambda c, group, rate: _dropout_std(c * np.sqrt(_sizes(group)), rate),
        ),
        Mistake(
            "the variance",
            "the exercise asks for the standard deviation: take the root.",
            lambda c, group, rate: _in_groups(c, group, rate) ** 2,
        ),
        Mistake(
            "what is kept is not divided",
            "each z is divided by 1 − r: its variance is r (1 − r)/(1 − r)².",
            lambda c, group, rate: (1 - rate) * _in_groups(c, group, rate),
        ),
        Mistake(
            "rate and its rest swapped",
            "r is the probability that a unit is left out.",
            lambda c, group, rate: _in_groups(c, group, 1 - max(rate, 1e-12)),
        ),
        Mistake(
            "the rate alone",
            "divide by 1 − r: z has the variance r (1 − r), and is divided by 1 − r.",
            lambda c, group, rate: math.sqrt(1 - rate) * _in_groups(c, group, rate),
        ),
    ),
)


# Exercise 8.4.


def _averaged(seen: Any, new: Any, prior_std: Any, noise_std: Any) -> Any:
    g = new.mean(axis=0)
    return np.sqrt(g @ np.linalg.solve(_precision(seen, prior_std, noise_std), g))


def _linearised(seen: Any, new: Any, prior_std: Any, noise_std: Any) -> Any:
    """The sd at each new input, as under (8.5)."""
    cov = np.linalg.inv(_precision(seen, prior_std, noise_std))
    return np.sqrt(np.sum(new @ cov * new, axis=1))


def _diagonal(seen: Any, new: Any, prior_std: Any, noise_std: Any) -> Any:
    return np.sqrt(new.mean(axis=0) ** 2 @ (1 / np.diag(_precision(seen, prior_std, noise_std))))


def _marginals(seen: Any, new: Any, prior_std: Any, noise_std: Any) -> Any:
    cov = np.linalg.inv(_precision(seen, prior_std, noise_std))
    return np.sqrt(new.mean(axis=0) ** 2 @ np.diag(cov))


def _rows(n: int, m: int, k: int, prior_std: float, noise_std: float) -> tuple[Any, ...]:
    rng = np.random.default_rng([84, n, k])
    return rng.normal(size=(n, k)).round(1), rng.normal(size=(m, k)).round(1), prior_std, noise_std


AVERAGED = Exercise(
    "8.4",
    "Change: the doubt of an average",
    "8.4",
    _averaged,
    (_rows(4, 3, 2, 2.0, 0.5), _rows(2, 2, 5, 0.7, 1.5), _rows(1, 4, 1, 3.0, 1.0)),
    (
        Mistake(
            "the mean of the sds",
            "that would be so if all outputs moved as one: they share the weights, each with "
            "factors of its own.",
            lambda seen, new, p, s: np.mean(_linearised(seen, new, p, s)),
        ),
        Mistake(
            "the root of the mean variance",
            "that is the doubt at a typical input; in an average ups and downs cancel.",
            lambda seen, new, p, s: np.sqrt(np.mean(_linearised(seen, new, p, s) ** 2)),
        ),
        Mistake(
            "as if they were independent",
            "outputs of one draw share its weights, so that their doubts do not average out.",
            lambda seen, new, p, s: np.linalg.norm(_linearised(seen, new, p, s)) / len(new),
        ),
        Mistake(
            "the sum",
            "asked is the mean over the new inputs.",
            lambda seen, new, p, s: _averaged(seen, new, p, s) * len(new),
        ),
        Mistake(
            "the noise is in it",
            "asked for is the doubt about f; the noise on y comes on top.",
            (
                lambda seen, new, p, s: np.sqrt(_averaged(seen, new, p, s) ** 2 + s**2),
                lambda seen, new, p, s: np.sqrt(_averaged(seen, new, p, s) ** 2 + s**2 / len(new)),
            ),
        ),
        Mistake(
            "the variance",
            "the exercise asks for a standard deviation: take the root.",
            lambda seen, new, p, s: _averaged(seen, new, p, s) ** 2,
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
            lambda seen, new, p, s: _averaged(seen, new, math.sqrt(p), math.sqrt(s)),
        ),
        Mistake(
            "the precision for the covariance",
            "Λ is the precision; the variance of g·w is g Λ⁻¹ g.",
            lambda seen, new, p, s: np.sqrt(
                new.mean(axis=0) @ _precision(seen, p, s) @ new.mean(axis=0)
            ),
        ),
    ),
)


# Exercise 8.5.

JUDGE = Choice(
    "8.5",
    "Explain: true or false",
    "8.1, 8.2, 8.3, 8.4 and 8.8",
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


def _parts(w: Any, seen: Any, prior_std: Any, noise_std: Any) -> tuple[Any, Any, Any]:
    """What pulls log σ_p: the weights outwards, their number inwards, the doubt outwards."""
    cov = np.linalg.inv(_precision(seen, prior_std, noise_std))
    return w @ w / prior_std**2, len(w), np.trace(cov) / prior_std**2


def _pull(w: Any, seen: Any, prior_std: Any, noise_std: Any) -> Any:
    weights, number, doubt = _parts(w, seen, prior_std, noise_std)
    return weights - number + doubt


def _weighed(by_weights: float, by_number: float, by_doubt: float) -> Callable[..., Any]:
    """The slope with factors before its three parts."""
    return lambda *given: np.dot((by_weights, -by_number, by_doubt), _parts(*given))


def _diagonal_pull(w: Any, seen: Any, prior_std: Any, noise_std: Any) -> Any:
    weights, number, _ = _parts(w, seen, prior_std, noise_std)
    doubt = np.sum(1 / np.diag(_precision(seen, prior_std, noise_std))) / prior_std**2
    return weights - number + doubt


def _precise_pull(w: Any, seen: Any, prior_std: Any, noise_std: Any) -> Any:
    weights, number, _ = _parts(w, seen, prior_std, noise_std)
    return weights - number + np.trace(_precision(seen, prior_std, noise_std)) / prior_std**2


def _mode(n: int, k: int, prior_std: float, noise_std: float) -> tuple[Any, ...]:
    rng = np.random.default_rng([86, n, k])
    w, seen = prior_std * rng.normal(size=k), rng.normal(size=(n, k))
    return w.round(1), seen.round(1), prior_std, noise_std


PULL = Exercise(
    "8.6",
    "Extend: where the evidence pulls the prior",
    "8.5",
    _pull,
    (_mode(4, 2, 2.0, 0.5), _mode(3, 5, 0.6, 1.5), _mode(1, 1, 3.0, 0.8), _mode(8, 60, 1.7, 0.3)),
    (
        Mistake(
            "the determinant stands still",
            "Λ knows σ_p: a wider prior leaves the weights more room, and ½ log|Λ| falls.",
            _weighed(1, 1, 0),
        ),
        Mistake(
            "the prior's normaliser stands still",
            "log P(w*) has −log σ_p for each weight: a wider prior is lower everywhere.",
            _weighed(1, 0, 1),
        ),
        Mistake(
            "the weights are missing",
            "log P(w*) knows how far the weights are from 0, in σ_p.",
            _weighed(0, 1, 1),
        ),
        Mistake(
            "the determinant pulls inwards",
            "(8.6) has −½ log|Λ|, and Λ falls where σ_p grows: two signs.",
            _weighed(1, 1, -1),
        ),
        Mistake(
            "the 2 of σ_p² is lost",
            "by log σ_p the derivative of 1/σ_p² is −2/σ_p²; the ½ before it is then gone.",
            (_weighed(0.5, 1, 1), _weighed(1, 1, 0.5), _weighed(0.5, 1, 0.5)),
        ),
        Mistake(
            "by another quantity",
            "asked is the derivative by log σ_p, not by σ_p nor by the variance.",
            (
                lambda w, seen, p, s: _pull(w, seen, p, s) / p,
                lambda w, seen, p, s: _pull(w, seen, p, s) / 2,
                lambda w, seen, p, s: _pull(w, seen, p, s) / (2 * p**2),
            ),
        ),
        Mistake(
            "the diagonal of the precision",
            "the trace of Λ⁻¹ is not the sum of one over Λ's diagonal.",
            _diagonal_pull,
        ),
        Mistake(
            "the precision for the covariance",
            "the derivative of log|Λ| is the trace of Λ⁻¹ times that of Λ.",
            _precise_pull,
        ),
        Mistake(
            "sd for variance",
            "precisions are one over σ², not over σ.",
            lambda w, seen, p, s: _pull(w, seen, math.sqrt(p), math.sqrt(s)),
        ),
        Mistake(
            "how many are told",
            "that counts the directions that the data tell; the size of the weights is against it.",
            _weighed(0, -1, -1),
        ),
    ),
)


# Exercise 8.7.


def _kicked(w: Any, v: Any, slope: Any, rate: Any, beta: Any, kick: Any) -> tuple[Any, Any]:
    v = beta * v - rate * slope + kick
    return w + v, v


def _step(
    w: Any, v: Any, slope: Any, rate: Any, momentum: Any, temperature: Any, xi: Any
) -> tuple[Any, Any]:
    kick = np.sqrt(2 * (1 - momentum) * rate * temperature) * xi
    return _kicked(w, v, slope, rate, momentum, kick)


def _noisy(std: Callable[[Any, Any, Any], Any]) -> Callable[..., Any]:
    """A step whose noise has an sd of one's own, of rate, momentum and temperature."""
    return lambda w, v, g, rate, b, t, xi: _kicked(w, v, g, rate, b, std(rate, b, t) * xi)


def _late(w: Any, v: Any, slope: Any, rate: Any, beta: Any, t: Any, xi: Any) -> tuple[Any, Any]:
    return w + v, _step(w, v, slope, rate, beta, t, xi)[1]


def _shaken(w: Any, v: Any, slope: Any, rate: Any, beta: Any, t: Any, xi: Any) -> tuple[Any, Any]:
    """The noise moves w, and not v."""
    kick = np.sqrt(2 * (1 - beta) * rate * t) * xi
    w, v = _kicked(w, v, slope, rate, beta, 0.0)
    return w + kick, v


_WALKER = (_A([0.5, -1.0, 2.0]), _A([0.2, 0.1, -0.4]), _A([4.0, 0.5, -3.0]))
_XI = _A([0.3, -1.2, 0.7])

STEP = Exercise(
    "8.7",
    "Extend: a step with momentum",
    "8.6",
    _step,
    (
        (*_WALKER, 0.01, 0.9, 1.0, _XI),
        (*_WALKER, 0.1, 0.7, 0.25, _XI),
        (*_WALKER, 0.05, 0.8, 0.0, _XI),
        (*_WALKER, 0.02, 0.0, 3.0, _XI),
        (_A([1.0]), _A([0.5]), _A([-2.0]), 0.02, 0.6, 4.0, _A([1.0])),
    ),
    (
        Mistake(
            "the noise of plain steps",
            "a kick goes on to carry w, for 1/(1 − β) steps: the walker scatters too far.",
            _noisy(lambda rate, b, t: np.sqrt(2 * rate * t)),
        ),
        Mistake(
            "the sd shrinks as the drift grows",
            "it is the variance, not the sd, that must stay in proportion to the drift.",
            _noisy(lambda rate, b, t: (1 - b) * np.sqrt(2 * rate * t)),
        ),
        Mistake(
            "the velocity's own spread",
            "that keeps the variance of v; asked is how far w scatters.",
            (
                _noisy(lambda rate, b, t: np.sqrt((1 - b**2) * rate * t)),
                _noisy(lambda rate, b, t: np.sqrt((1 - b**2) * 2 * rate * t)),
            ),
        ),
        Mistake(
            "the 2 is missing",
            "without it the walker samples at half the temperature; try β = 0.",
            _noisy(lambda rate, b, t: np.sqrt((1 - b) * rate * t)),
        ),
        Mistake(
            "no root",
            "the variance of the noise is in proportion to ℓ T, its sd to the root.",
            _noisy(lambda rate, b, t: 2 * (1 - b) * rate * t),
        ),
        Mistake(
            "T outside the root",
            "the variance of the noise is in proportion to T: the sd has √T.",
            _noisy(lambda rate, b, t: np.sqrt(2 * (1 - b) * rate) * t),
        ),
        Mistake(
            "T is missing",
            "at T = 0 nothing is left but gradient descent with momentum.",
            _noisy(lambda rate, b, t: np.sqrt(2 * (1 - b) * rate)),
        ),
        Mistake(
            "β and its rest swapped",
            "β is the share of the velocity that is kept.",
            lambda w, v, g, rate, b, t, xi: _step(w, v, g, rate, 1 - b, t, xi),
        ),
        Mistake(
            "uphill",
            "U is to fall: subtract its gradient.",
            lambda w, v, g, rate, b, t, xi: _step(w, v, -g, rate, b, t, xi),
        ),
        Mistake(
            "w moves by the old velocity",
            "first the velocity, then the weights by the new one.",
            _late,
        ),
        Mistake("the noise moves w alone", "the noise is a kick to the velocity.", _shaken),
        Mistake(
            "the velocity is forgotten",
            "without β v the walker has no momentum: it starts each step at rest.",
            lambda w, v, g, rate, b, t, xi: _step(w, 0 * v, g, rate, b, t, xi),
        ),
        Mistake(
            "the pair turned round",
            "first the weights, then the velocity.",
            lambda *given: _step(*given)[::-1],
        ),
    ),
)


# Exercise 8.8.

_UNIT = math.sqrt(2 * math.pi * math.e)  # of the entropy of N(0, σ²), log(σ √(2πe))


def _entropy(own_std: Any, columns: Any) -> Any:
    scaled = columns / own_std[:, None]
    log_det = np.linalg.slogdet(np.eye(columns.shape[1]) + scaled.T @ scaled)[1]
    return np.log(own_std * _UNIT).sum() + 0.5 * log_det


def _crossed(mean: Any, own_std: Any, columns: Any, prior_std: Any) -> Any:
    """Minus the mean of log P(w) under q."""
    square = np.sum(mean**2) + np.sum(own_std**2) + np.sum(columns**2)
    return 0.5 * square / prior_std**2 + len(mean) * math.log(prior_std * math.sqrt(2 * math.pi))


def _price(mean: Any, own_std: Any, columns: Any, prior_std: Any) -> Any:
    return _crossed(mean, own_std, columns, prior_std) - _entropy(own_std, columns)


def _reverse(mean: Any, own_std: Any, columns: Any, prior_std: Any) -> Any:
    """KL of the prior from q, by Woodbury's identity."""
    scaled = columns / own_std[:, None]
    inner = np.eye(columns.shape[1]) + scaled.T @ scaled
    part = scaled.T @ (mean / own_std)
    far = np.sum((mean / own_std) ** 2) - part @ np.linalg.solve(inner, part)
    across = columns / own_std[:, None] ** 2
    trace = np.sum(own_std**-2.0) - np.trace(np.linalg.solve(inner, across.T @ across))
    logs = len(mean) * math.log(prior_std * _UNIT) - _entropy(own_std, columns)
    return 0.5 * (far + prior_std**2 * trace - len(mean)) - logs


def _columns(d: int, k: int, prior_std: float, scale: float = 1.0) -> tuple[Any, ...]:
    rng = np.random.default_rng([88, d, k])
    own_std, columns = np.exp(rng.normal(size=d).round(1)), rng.normal(size=(d, k)).round(1)
    return rng.normal(size=d).round(1), scale * own_std, scale * columns, prior_std


PRICE = Exercise(
    "8.8",
    "Extend: what q costs with a few columns",
    "8.7",
    _price,
    (_columns(3, 1, 2.0), _columns(5, 2, 0.7), _columns(2, 2, 3.0), _columns(3000, 2, 1.5, 0.01)),
    (
        Mistake(
            "the columns are missing",
            "that is mean field; the columns are in the entropy and in the variances.",
            lambda m, d, columns, p: _price(m, d, 0 * columns, p),
        ),
        Mistake(
            "variances without the columns",
            "a weight's variance is the diagonal of D² + LLᵀ: the columns are in it.",
            lambda m, d, columns, p: _price(m, d, columns, p) - 0.5 * np.sum(columns**2) / p**2,
        ),
        Mistake(
            "the entropy without the columns",
            "the determinant of D² + LLᵀ is not that of D² alone: see (8.8).",
            lambda m, d, columns, p: _crossed(m, d, columns, p) - _entropy(d, 0 * columns),
        ),
        Mistake(
            "the means are missing",
            "a weight far from 0 is dear, however sure: E w² has μ² in it.",
            lambda m, d, columns, p: _price(0 * m, d, columns, p),
        ),
        Mistake(
            "the entropy alone",
            "KL[q‖p] is −H[q] less the mean of log p(w) under q.",
            (
                lambda m, d, columns, p: -_entropy(d, columns),
                lambda m, d, columns, p: _entropy(d, columns),
            ),
        ),
        Mistake(
            "without the entropy",
            "KL[q‖p] is −H[q] less the mean of log p(w) under q.",
            _crossed,
        ),
        Mistake(
            "log σ_p is missing",
            "each weight's prior has the factor 1/σ_p.",
            lambda m, d, columns, p: _price(m, d, columns, p) - len(m) * math.log(p),
        ),
        Mistake(
            "the constants do not cancel",
            "log 2π cancels between entropy and prior; of the entropy's ½ a weight stays −½.",
            (
                lambda m, d, columns, p: _price(m, d, columns, p) + 0.5 * len(m),
                lambda m, d, columns, p: (
                    _price(m, d, columns, p) - 0.5 * len(m) * math.log(2 * math.pi)
                ),
                lambda m, d, columns, p: (
                    _price(m, d, columns, p) + 0.5 * len(m) * (1 + math.log(2 * math.pi))
                ),
            ),
        ),
        Mistake(
            "sd for variance",
            "squares are divided by σ_p², not by σ_p.",
            lambda m, d, columns, p: (
                _price(m, d, columns, p)
                + (p - 1) * (_crossed(m, d, columns, p) - _crossed(0 * m, 0 * d, 0 * columns, p))
            ),
        ),
        Mistake(
            "the half of log det is missing",
            "log det is of a covariance: the entropy has half of it.",
            lambda m, d, columns, p: (
                _price(m, d, columns, p) - _entropy(d, columns) + _entropy(d, 0 * columns)
            ),
        ),
        Mistake(
            "the columns are not divided by D",
            "in log det, what counts is how far a column goes beyond a weight's own sd: D⁻¹ L.",
            lambda m, d, columns, p: _crossed(m, d, columns, p) - _entropy(d, columns * d[:, None]),
        ),
        Mistake(
            "D⁻¹ for D⁻²",
            "in Lᵀ D⁻² L each entry of L is divided by D once, on both sides.",
            lambda m, d, columns, p: (
                _crossed(m, d, columns, p) - _entropy(d, columns * d[:, None] ** 0.5)
            ),
        ),
        Mistake(
            "the KL the other way round",
            "asked is KL[q‖p], an average under q; this is one under the prior.",
            _reverse,
        ),
        Mistake(
            "another base",
            "nats come of natural logarithms.",
            tuple(lambda m, d, columns, p, b=base: _price(m, d, columns, p) / b for base in BASES),
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


_WIDTHS = np.geomspace(0.5, 50.0, 41)


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
    """Whether each world has its own square; one number for all is nobody's square."""
    found, best = _numbers(got), _numbers(want)
    near = [0.7 < g / w**2 < 1.4 for g, w in zip(found, best, strict=False)]
    return all(near) and len(set(found)) > 1


def _too_wide(got: Sequence[Outcome], want: Sequence[Outcome]) -> bool:
    return _all_between(9.5, math.inf)(got, want) and not _squared(got, want)


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
            "too narrow",
            "so narrow a prior forbids the peaks that the data show: maximise log P(D).",
            recognises=_all_between(1e-9, 2.9),
        ),
        Mistake(
            "too wide",
            "what a prior allows beyond what the data show is paid for: log P(D) falls again.",
            recognises=_too_wide,
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
            "above the usual rate",
            "there it is more than twice as vague: go down, and draw the sd over the rate.",
            recognises=_all_between(0.2 + 1e-9, 0.9),
        ),
        Mistake(
            "the probability of keeping",
            "the rate is the probability that a unit is left out.",
            recognises=_all_between(0.9 + 1e-9, 1 - 1e-9),
        ),
        Mistake(
            "no rate",
            "a rate is at least 0 and below 1.",
            recognises=lambda got, _: any(not 0 <= rate < 1 for rate in _numbers(got)),
        ),
    ),
    compared=_calm,
)
