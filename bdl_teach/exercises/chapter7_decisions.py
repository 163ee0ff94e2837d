"""Exercises 7.5 to 7.8: distances, recalibration, and decisions under uncertainty."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.exercises._engine import Exercise, Mistake

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
        (_A([0.4]), _A([1.3]), _A([-0.2]), _A([0.5])),
        tuple(_RNG.uniform(0.1, 3.0, (4, 7)).round(2)),
        tuple(1e-6 * _RNG.uniform(0.1, 3.0, (4, 3))),  # what is added under the root shows
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
            "absolute values for squares",
            "root mean *square*: square the differences, average, take the root.",
            (
                lambda a, s, b, t: np.mean(np.abs(a - b) + np.abs(s - t)),
                lambda a, s, b, t: np.mean(np.abs(a - b)) + np.mean(np.abs(s - t)),
            ),
        ),
        Mistake(
            "the means are ignored",
            "two predictives of the same spread can still differ: add (m_a − m_b)².",
            lambda a, s, b, t: np.sqrt(np.mean((s - t) ** 2)),
        ),
        Mistake(
            "squared after adding",
            "add the two squares; differences of opposite sign must not cancel.",
            lambda a, s, b, t: np.sqrt(np.mean((a - b + s - t) ** 2)),
        ),
        Mistake(
            "the spreads are added",
            "it is the difference of the sds that counts: two equal predictives are 0 apart.",
            (
                lambda a, s, b, t: np.sqrt(np.mean((a - b) ** 2 + s**2 + t**2)),
                lambda a, s, b, t: np.sqrt(np.mean((a - b) ** 2 + (s + t) ** 2)),
            ),
        ),
        Mistake(
            "eps under the root",
            "two predictives may be 10⁻⁶ apart, or equal: nothing may be added.",
            tuple(
                lambda a, s, b, t, eps=eps: np.sqrt(np.mean((a - b) ** 2 + (s - t) ** 2) + eps)
                for eps in (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)
            ),
        ),
        Mistake(
            "both parts averaged",
            "the two squares are added at each x; the mean is over x alone.",
            lambda a, s, b, t: np.sqrt(0.5 * np.mean((a - b) ** 2 + (s - t) ** 2)),
        ),
        Mistake(
            "m − 1 for m",
            "(7.1) divides by the number of points.",
            lambda a, s, b, t: np.sqrt(np.sum((a - b) ** 2 + (s - t) ** 2) / (len(a) - 1)),
        ),
        Mistake(
            "the largest for the mean",
            "(7.1) averages over x.",
            lambda a, s, b, t: np.max(np.hypot(a - b, s - t)),
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


def _announced(count: int, factor: float, shift: float) -> tuple[Any, Any, Any]:
    """Targets whose errors are ``factor`` times as large as announced, and not centred."""
    mean, std = _RNG.normal(size=count).round(2), _RNG.uniform(0.2, 1.9, count).round(2)
    return (mean + std * (shift + factor * _RNG.standard_normal(count))).round(2), mean, std


RECALIBRATE = Exercise(
    "7.6",
    "Break: mend an overconfident model by one factor",
    "7.3",
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
    _root = _RNG.normal(size=(_size, _size))
    _CASES.append(
        (
            _RNG.normal(size=_size).round(2),
            (_root @ _root.T + 0.1 * np.eye(_size)).round(3),
            _RNG.normal(size=(_actions, _size)).round(2),
            _RNG.standard_normal(_size).round(2),
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

_PAYS = _RNG.normal(size=(12, 4)).round(2)
_CHOSEN = _RNG.integers(0, 4, 12)


def _regret(pays: Any, chosen: Any) -> Any:
    return np.cumsum(pays.max(axis=1) - pays[np.arange(len(chosen)), chosen])


REGRET = Exercise(
    "7.8",
    "Extend: cumulative regret",
    "7.8",
    _regret,
    (
        ((_PAYS[:3, :2] + 3.0), _A([0, 1, 0])),
        (_PAYS, _CHOSEN),
        (_PAYS[:5, :3] - 4.0, _A([2, 0, 1, 1, 0])),
        (_RNG.normal(size=(7, 7)), _RNG.integers(0, 7, 7)),
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

EXERCISES: tuple[Exercise, ...] = (GAP, RECALIBRATE, THOMPSON, REGRET)
