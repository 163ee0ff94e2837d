"""Exercises 7.5 to 7.8: distances, recalibration, and decisions under uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.exercises.engine import Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(77)


def _gap(mean_a: Any, std_a: Any, mean_b: Any, std_b: Any) -> Any:
    return np.sqrt(np.mean((mean_a - mean_b) ** 2 + (std_a - std_b) ** 2))


GAP = Exercise(
    "7.5",
    "Change: the distance to a gold standard",
    "7.2",
    _gap,
    (
        (_A([0.0, 1.0, 2.0]), _A([1.0, 0.5, 2.0]), _A([0.1, 0.7, 4.0]), _A([2.0, 0.6, 0.3])),
        (_RNG.normal(size=9), _RNG.uniform(0.1, 2, 9), _RNG.normal(size=9), np.ones(9)),
    ),
    (
        Mistake(
            "the spreads are ignored",
            "two predictives with the same mean can still differ: add (s_a − s_b)².",
            lambda a, s, b, t: np.sqrt(np.mean((a - b) ** 2)),
        ),
        Mistake(
            "variances for standard deviations",
            "the distance between the spreads is in the units of y: (s_a − s_b)².",
            lambda a, s, b, t: np.sqrt(np.mean((a - b) ** 2 + (s**2 - t**2) ** 2)),
        ),
        Mistake(
            "the variances are subtracted",
            "square the difference of the sds, do not take the difference of the squares.",
            lambda a, s, b, t: np.sqrt(np.abs(np.mean((a - b) ** 2 + s**2 - t**2))),
        ),
        Mistake(
            "the root is missing",
            "this is in squared units of y.",
            lambda a, s, b, t: np.mean((a - b) ** 2 + (s - t) ** 2),
        ),
        Mistake(
            "root before mean",
            "root mean square: average the squares over x, then take the root.",
            lambda a, s, b, t: np.mean(np.hypot(a - b, s - t)),
        ),
        Mistake(
            "sum for mean",
            "average over x, or a finer grid looks like a larger gap.",
            lambda a, s, b, t: np.sqrt(np.sum((a - b) ** 2 + (s - t) ** 2)),
        ),
        Mistake(
            "not averaged",
            "one number is wanted: the mean over x, under the root.",
            lambda a, s, b, t: np.hypot(a - b, s - t),
        ),
        Mistake(
            "two roots added",
            "one root over the sum of both mean squares.",
            lambda a, s, b, t: np.sqrt(np.mean((a - b) ** 2)) + np.sqrt(np.mean((s - t) ** 2)),
        ),
    ),
)


def _factor(y: Any, mean: Any, std: Any) -> Any:
    return np.sqrt(np.mean(((y - mean) / std) ** 2))


_MEAN, _STD = _RNG.normal(size=50), _RNG.uniform(0.2, 1.0, 50)

RECALIBRATE = Exercise(
    "7.6",
    "Break: mend an overconfident model by one factor",
    "7.4",
    _factor,
    tuple((_MEAN + c * _STD * _RNG.standard_normal(50), _MEAN, _STD) for c in (3.0, 0.4, 1.0)),
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
            "never below 1",
            "a model that is too unsure needs a factor below 1.",
            lambda y, m, s: max(1.0, _factor(y, m, s)),
        ),
    ),
)


def _choice(mean: Any, covariance: Any, contexts: Any, eps: Any) -> Any:
    w = mean + np.linalg.cholesky(covariance) @ eps
    return np.argmax(contexts @ w)


def _symmetric_root(covariance: Any) -> Any:
    values, vectors = np.linalg.eigh(covariance)
    return vectors * np.sqrt(values) @ vectors.T


_CASES = []
for _ in range(30):
    _root = _RNG.normal(size=(3, 3))
    _CASES.append(
        (
            _RNG.normal(size=3),
            _root @ _root.T + 0.1 * np.eye(3),
            _RNG.normal(size=(6, 3)),
            _RNG.standard_normal(3),
        )
    )

THOMPSON = Exercise(
    "7.7",
    "Extend: Thompson's choice",
    "7.8",
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
            lambda m, c, x, e: np.argmax(x @ m + np.sqrt(np.einsum("ij,jk,ik->i", x, c, x))),
        ),
        Mistake(
            "another root",
            "your draws are as good, but the check needs the same ones: the Cholesky root, L @ ε.",
            lambda m, c, x, e: np.argmax(x @ (m + _symmetric_root(c) @ e)),
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

_PAYS = _RNG.normal(size=(12, 4))
_CHOSEN = _RNG.integers(0, 4, 12)


def _regret(pays: Any, chosen: Any) -> Any:
    return np.cumsum(pays.max(axis=1) - pays[np.arange(len(chosen)), chosen])


REGRET = Exercise(
    "7.8",
    "Extend: cumulative regret",
    "7.8",
    _regret,
    ((_PAYS, _CHOSEN), (_PAYS[:5, :2] + 3.0, _A([0, 1, 1, 0, 1]))),
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
            lambda p, c: np.cumsum(p[:, p.mean(axis=0).argmax()] - p[np.arange(len(c)), c]),
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

EXERCISES: tuple[Exercise, ...] = (GAP, RECALIBRATE, THOMPSON, REGRET)
