"""Exercises of chapter 5: local reparameterization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bdl_teach import estimators
from bdl_teach._support.checks import Array
from bdl_teach.exercises._engine import Choice, Exercise, Mistake, Outcome
from bdl_teach.exercises._faces import EPS

_A = np.array

# Exercise 5.1.

_RNG = np.random.default_rng(4)


def _layer(n: int, n_in: int, n_out: int) -> tuple[Any, Any, Any]:
    """Inputs ``[n, in]``, means and standard deviations ``[in, out]``."""
    return (
        _RNG.normal(size=(n, n_in)).round(2),
        _RNG.normal(size=(n_in, n_out)).round(2),
        _RNG.uniform(0.1, 1.2, (n_in, n_out)).round(2),
    )


_LAYERS = (
    _layer(2, 3, 1),
    _layer(4, 5, 3),
    _layer(3, 1, 7),
    (_A([[2.0, -1.0]]), _A([[0.5], [1.2]]), _A([[0.3], [0.7]])),
)


_X, _MU, _SIGMA = _layer(3, 4, 2)
_SURE = (_X, 0 * _MU, 3e-7 * _SIGMA)  # almost certain: what is added to a variance shows
_RNG_5_1 = np.random.default_rng(51)
_WITH_U = (
    *((*layer, _RNG_5_1.normal(0.0, 0.6, layer[1].shape).round(2)) for layer in _LAYERS),
    (*_SURE, 1e-7 * _RNG_5_1.normal(size=_MU.shape)),
)


def _moments(x: Any, mu: Any, sigma: Any, u: Any) -> Any:
    return x @ mu, x**2 @ sigma**2 + (x @ u) ** 2


def _with_variance(variance: Any) -> Any:
    """The answer with another variance: a function of (x, σ, u)."""
    return lambda x, m, s, u: (x @ m, variance(x, s, u))


MOMENTS = Exercise(
    "5.1",
    "Compute: what reaches a unit whose weights move together",
    "5.3",
    _moments,
    _WITH_U,
    (
        Mistake(
            "a small number added",
            "add nothing to δ, and set no least value: here it may be 10⁻¹³.",
            tuple(
                face
                for eps in EPS
                for face in (
                    _with_variance(lambda x, s, u, eps=eps: x**2 @ s**2 + (x @ u) ** 2 + eps),
                    _with_variance(
                        lambda x, s, u, eps=eps: np.maximum(x**2 @ s**2 + (x @ u) ** 2, eps)
                    ),
                )
            ),
        ),
        Mistake(
            "an η for each weight",
            "all weights of a unit share one η: what do their contributions add up to before it is "
            "drawn?",
            _with_variance(lambda x, s, u: x**2 @ (s**2 + u**2)),
        ),
        Mistake(
            "no η at all",
            "this is (5.6): η moves the unit as well.",
            _with_variance(lambda x, s, u: x**2 @ s**2),
        ),
        Mistake(
            "no ε at all",
            "each weight still has a noise of its own.",
            _with_variance(lambda x, s, u: (x @ u) ** 2),
        ),
        Mistake(
            "one ε for all weights",
            "the ε of different weights are independent: their variances add.",
            (
                _with_variance(lambda x, s, u: (x @ s) ** 2 + (x @ u) ** 2),
                _with_variance(lambda x, s, u: (np.abs(x) @ s) ** 2 + (x @ u) ** 2),
            ),
        ),
        Mistake(
            "σ and u under one noise",
            "ε and η are independent: the variances of the two parts add.",
            (
                _with_variance(lambda x, s, u: x**2 @ (s + u) ** 2),
                _with_variance(lambda x, s, u: (x @ (s + u)) ** 2),
                _with_variance(lambda x, s, u: (np.sqrt(x**2 @ s**2) + np.abs(x @ u)) ** 2),
            ),
        ),
        Mistake(
            "u without its sign",
            "inputs whose weights move in opposite directions cancel.",
            _with_variance(lambda x, s, u: x**2 @ s**2 + (np.abs(x) @ np.abs(u)) ** 2),
        ),
        Mistake(
            "u in the mean",
            "η has mean 0: it moves the unit both ways.",
            lambda x, m, s, u: (x @ (m + u), x**2 @ s**2 + (x @ u) ** 2),
        ),
        Mistake(
            "xu not squared",
            "xu is what multiplies η: a standard deviation.",
            _with_variance(lambda x, s, u: x**2 @ s**2 + x @ u),
        ),
        Mistake(
            "σ for σ²",
            "variances add, standard deviations do not: square σ.",
            _with_variance(lambda x, s, u: x**2 @ s + (x @ u) ** 2),
        ),
        Mistake(
            "x not squared",
            "Var[x w] = x² Var[w].",
            _with_variance(lambda x, s, u: x @ s**2 + (x @ u) ** 2),
        ),
        Mistake(
            "mean for sum",
            "a unit adds up its inputs: nothing is divided by their number.",
            (
                lambda x, m, s, u: tuple(part / len(m) for part in _moments(x, m, s, u)),
                _with_variance(lambda x, s, u: (x**2 @ s**2 + (x @ u) ** 2) / len(s)),
            ),
        ),
        Mistake(
            "standard deviation for variance",
            "the exercise asks for δ, not √δ.",
            _with_variance(lambda x, s, u: np.sqrt(x**2 @ s**2 + (x @ u) ** 2)),
        ),
        Mistake(
            "second moment for variance",
            "δ is the variance: μ² does not belong in it.",
            lambda x, m, s, u: (x @ m, x**2 @ (s**2 + m**2) + (x @ u) ** 2),
        ),
        Mistake(
            "mean and variance swapped",
            "return the mean first.",
            lambda x, m, s, u: _moments(x, m, s, u)[::-1],
        ),
    ),
)


# Exercise 5.2.


def _draw(x: Any, theta: Any, alpha: Any, zeta: Any) -> Any:
    return x @ theta + np.sqrt(x**2 @ (alpha * theta**2)) * zeta


def _with_sigma(answer: Any) -> Any:
    """What an answer that knows σ does: one of (x, μ, σ, ζ)."""
    return lambda x, t, a, z: answer(x, t, np.sqrt(a) * np.abs(t), z)


_X, _MU, _SIGMA = _layer(3, 4, 2)

# The weights of the last layer are tiny: what is added under the root shows.
_WITH_ZETA = tuple(
    (*layer, _RNG.normal(size=(len(layer[0]), layer[1].shape[1])))
    for layer in (*_LAYERS, (_X, 3e-7 * _MU, _SIGMA))
)

DRAW = Exercise(
    "5.2",
    "Change: one local draw under multiplicative noise",
    "5.3",
    _draw,
    _WITH_ZETA,
    (
        Mistake(
            "variance for standard deviation",
            "δ is a variance; the noise is multiplied by its root.",
            _with_sigma(lambda x, m, s, z: x @ m + (x**2 @ s**2) * z),
        ),
        Mistake(
            "one ε for all weights",
            "every weight has a noise of its own; the sd of the sum is √Σ x²σ².",
            (
                _with_sigma(lambda x, m, s, z: x @ m + (x @ s) * z),
                _with_sigma(lambda x, m, s, z: x @ m + (np.abs(x) @ s) * z),
                lambda x, t, a, z: x @ t + (x @ (np.sqrt(a) * t)) * z,
            ),
        ),
        Mistake(
            "the output's size for the weights'",
            "the noise multiplies each weight, and not the sum: √α |γ| is no sd of it.",
            (
                lambda x, t, a, z: (x @ t) * (1 + np.sqrt(a.mean(axis=0)) * z),
                lambda x, t, a, z: x @ t + np.sqrt(a.sum(axis=0)) * (x @ t) * z,
                lambda x, t, a, z: x @ t + np.sqrt(a.mean(axis=0)) * np.abs(x @ t) * z,
            ),
        ),
        Mistake(
            "α for σ²",
            "α is the variance of the *factor*: what is that of the weight?",
            lambda x, t, a, z: x @ t + np.sqrt(x**2 @ a) * z,
        ),
        Mistake(
            "α squared",
            "α is the square of what multiplies ε already.",
            lambda x, t, a, z: x @ t + np.sqrt(x**2 @ (a**2 * t**2)) * z,
        ),
        Mistake(
            "θ not squared",
            "Var[θ · factor] = θ² Var[factor].",
            (
                lambda x, t, a, z: x @ t + np.sqrt(x**2 @ (a * t)) * z,
                lambda x, t, a, z: x @ t + np.sqrt(x**2 @ (a * np.abs(t))) * z,
            ),
            breaks=True,
        ),
        Mistake(
            "one draw for all rows",
            "each row needs noise of its own: use all of ζ, not its first row.",
            _with_sigma(lambda x, m, s, z: x @ m + np.sqrt(x**2 @ s**2) * z[:1]),
        ),
        Mistake(
            "one draw for all units",
            "each unit needs noise of its own: use all of ζ, not its first column.",
            _with_sigma(lambda x, m, s, z: x @ m + np.sqrt(x**2 @ s**2) * z[:, :1]),
        ),
        Mistake(
            "x not squared",
            "Var[x w] = x² Var[w]; with x alone the variance can come out negative.",
            _with_sigma(lambda x, m, s, z: x @ m + np.sqrt(x @ s**2) * z),
            breaks=True,
        ),
        Mistake(
            "eps under the root",
            "add nothing to δ, and set no least value: weights of 10⁻⁷ have hardly any noise.",
            tuple(
                _with_sigma(lambda x, m, s, z, eps=eps: x @ m + np.sqrt(x**2 @ s**2 + eps) * z)
                for eps in EPS
            ),
        ),
        Mistake(
            "mean for sum",
            "a unit adds up its inputs: nothing is divided by their number.",
            (
                _with_sigma(lambda x, m, s, z: x @ m + np.sqrt(x**2 @ s**2 / len(m)) * z),
                _with_sigma(lambda x, m, s, z: (x @ m + np.sqrt(x**2 @ s**2) * z) / len(m)),
            ),
        ),
        Mistake(
            "ζ is missing",
            "γ + √δ is one sd above the mean, each time: multiply √δ by the noise.",
            _with_sigma(lambda x, m, s, z: x @ m + np.sqrt(x**2 @ s**2)),
        ),
        Mistake(
            "the mean is missing",
            "the noise is added to γ = xθ.",
            _with_sigma(lambda x, m, s, z: np.sqrt(x**2 @ s**2) * z),
        ),
        Mistake(
            "the scale is missing",
            "standard normal noise has sd 1; the output needs √δ.",
            lambda x, t, a, z: x @ t + z,
        ),
        Mistake(
            "subtracted",
            "as a distribution it is the same; but with this ζ the definition adds.",
            _with_sigma(lambda x, m, s, z: x @ m - np.sqrt(x**2 @ s**2) * z),
        ),
    ),
)


# Exercise 5.3.

INDEPENDENCE = Choice(
    "5.3",
    "Explain: what is independent of what?",
    "5.4",
    {"a", "c", "e"},
    statements={
        "a": "the weights of two units are different weights, so their outputs are independent.",
        "b": "rows that share one W covary: Σ_i x_mi x_ni σ_i² is not 0 in general.",
        "c": "each row has its own ζ, and ζ is all the randomness that there is.",
        "d": "two evaluations at the same x would give two values: there is no function behind it.",
        "e": "each single output has the same distribution; a sum over rows needs no more than "
        "that for its mean.",
    },
)


# Exercise 5.4.

_UNITS = (
    (_RNG.normal(size=(2, 3)).round(2), _RNG.uniform(0.1, 1.2, 3).round(2), _A([0, 0])),
    (_RNG.normal(size=(3, 5)), _RNG.uniform(0.1, 1.2, 5), _A([0, 1, 0])),
    (_A([[2.0], [-1.0]]), _A([0.5]), _A([0, 1])),
    (_RNG.normal(size=(1, 3)), _RNG.uniform(0.1, 1.2, 3), _A([2])),
    (_RNG.normal(size=(7, 2)), _A([0.2, 1.7]), _A([0, 1, 1, 2, 0, 2, 1])),
)


def _same(machine: Any) -> Any:
    """1 where two rows are on one machine."""
    return 1.0 * (machine[:, None] == machine)


def _one_w(x: Any, sigma: Any) -> Any:
    """The covariance of rows that share W: (5.8)."""
    return (x * sigma**2) @ x.T


def _covariance(x: Any, sigma: Any, machine: Any) -> Any:
    return _one_w(x, sigma) * _same(machine)


COVARIANCE = Exercise(
    "5.4",
    "Change: one W for each machine",
    "5.4",
    _covariance,
    (
        *_UNITS,
        (_A([[1.5, -0.3, 2.0], [0.7, 1.0, -5.0]]), _A([8.0, 12.0, 2e-4]), _A([3, 3])),
    ),
    (
        Mistake(
            "one W for all rows",
            "this is (5.8); rows on two machines have no draw in common.",
            lambda x, s, k: _one_w(x, s),
        ),
        Mistake(
            "only the diagonal",
            "these are the variances; rows that share W also covary with each other.",
            lambda x, s, k: np.diag(np.diag(_one_w(x, s))),
        ),
        Mistake(
            "no diagonal",
            "the diagonal holds the variances.",
            lambda x, s, k: _one_w(x, s) * (_same(k) - np.eye(len(x))),
        ),
        Mistake(
            "only rows on different machines",
            "it is rows on *one* machine that share a draw.",
            (
                lambda x, s, k: _one_w(x, s) * (1 - _same(k)),
                lambda x, s, k: _one_w(x, s) * (1 - _same(k) + np.eye(len(x))),
            ),
        ),
        Mistake(
            "mean for sum",
            "b is a sum over the inputs, and so is its covariance.",
            lambda x, s, k: _covariance(x, s, k) / len(s),
        ),
        Mistake(
            "σ for σ²",
            "a covariance is built from variances: square σ.",
            lambda x, s, k: _covariance(x, np.sqrt(s), k),
        ),
        Mistake(
            "x squared",
            "x_mi x_ni is a product of two rows, and may be negative.",
            lambda x, s, k: _covariance(x**2, s, k),
        ),
        Mistake(
            "|x| for x",
            "rows with inputs of opposite sign covary negatively.",
            lambda x, s, k: _covariance(np.abs(x), s, k),
        ),
        Mistake(
            "one ε for all inputs",
            "(x_m·σ)(x_n·σ) is the covariance if all weights shared one ε; they have one each.",
            lambda x, s, k: np.outer(x @ s, x @ s) * _same(k),
        ),
        Mistake(
            "correlation for covariance",
            "do not divide by the standard deviations.",
            lambda x, s, k: _covariance(x, s, k) / np.sqrt(np.outer(*[np.diag(_one_w(x, s))] * 2)),
        ),
        Mistake(
            "columns for rows",
            "xᵀx compares inputs; xxᵀ compares data points.",
            lambda x, s, k: (x.T @ x) * s**2,
        ),
        Mistake(
            "the weights' variance is missing",
            "where is σ?",
            lambda x, s, k: _covariance(x, np.ones_like(s), k),
        ),
    ),
)


# Exercise 5.5.


def _given_rows(n_data: Any, size: Any, var: Any, cov: Any) -> Any:
    """(5.1): over the draws of the weights."""
    return n_data**2 * (var / size + (size - 1) / size * cov)


def _of_rows(n_data: Any, size: Any, spread: Any) -> Any:
    """Of the mean gradients: over the choice of the rows, without replacement."""
    return n_data**2 * spread / size * (n_data - size) / (n_data - 1)


def _variance(n_data: Any, size: Any, var: Any, cov: Any, spread: Any) -> Any:
    return _given_rows(n_data, size, var, cov) + _of_rows(n_data, size, spread)


def _with_rows(given_rows: Any) -> Any:
    """The answer with another variance given the rows: a function of (N, M, var, cov)."""
    return lambda n, m, v, c, spread: given_rows(n, m, v, c) + _of_rows(n, m, spread)


MINIBATCH = Exercise(
    "5.5",
    "Extend: which rows came, too",
    "5.1",
    _variance,
    (
        (50, 10, 2.0, 0.5, 3.0),
        (1000, 1, 2.0, 0.5, 1.7),
        (20, 20, 1.53, 1.07, 6.0),  # all the data
        (12, 7, 2.31, -0.17, 0.9),
        (2, 1, 0.3, 0.1, 0.7),
        (60000, 128, 0.3, 0.0, 0.8),
        (90000, 2000, 0.004, 2e-5, 1e-3),
    ),
    (
        Mistake(
            "the rows are given",
            "this is (5.1); which rows come is random as well.",
            lambda n, m, v, c, spread: _given_rows(n, m, v, c),
        ),
        Mistake(
            "the weights are given",
            "this is what the choice of the rows does alone; the weights are drawn as well.",
            lambda n, m, v, c, spread: _of_rows(n, m, spread),
        ),
        Mistake(
            "with replacement",
            "no point comes twice: a minibatch of all the data has no noise of its rows left.",
            lambda n, m, v, c, spread: _given_rows(n, m, v, c) + n**2 * spread / m,
        ),
        Mistake(
            "N for N − 1",
            'with M = 1 nothing is left of "without replacement": what is your factor then?',
            lambda n, m, v, c, spread: _given_rows(n, m, v, c) + n**2 * spread / m * (n - m) / n,
        ),
        Mistake(
            "all of it vanishes with the rows' noise",
            "a minibatch of all the data still has the noise of the weights.",
            (
                lambda n, m, v, c, spread: (
                    (_given_rows(n, m, v, c) + n**2 * spread / m) * (n - m) / (n - 1)
                ),
                lambda n, m, v, c, spread: _variance(n, m, v, c, spread) * (n - m) / (n - 1),
            ),
        ),
        Mistake(
            "the factor squared",
            "it multiplies a variance already.",
            lambda n, m, v, c, spread: (
                _given_rows(n, m, v, c) + n**2 * spread / m * ((n - m) / (n - 1)) ** 2
            ),
        ),
        Mistake(
            "the rows' noise does not average out",
            "it falls as 1/M, and a little faster.",
            (
                lambda n, m, v, c, spread: (
                    _given_rows(n, m, v, c) + n**2 * spread * (n - m) / (n - 1)
                ),
                lambda n, m, v, c, spread: _given_rows(n, m, v, c) + n**2 * spread,
            ),
        ),
        Mistake(
            "standard deviations added",
            "variances are what adds: that of the mean, and the mean of those.",
            lambda n, m, v, c, spread: (
                (np.sqrt(_given_rows(n, m, v, c)) + np.sqrt(_of_rows(n, m, spread))) ** 2
            ),
        ),
        Mistake(
            "the covariance is missing",
            "this is right only for independent points; M(M−1) pairs covary.",
            _with_rows(lambda n, m, v, c: n**2 * v / m),
        ),
        Mistake(
            "N for N²",
            "the cost is scaled by N/M, its variance by (N/M)².",
            lambda n, m, v, c, spread: _variance(n, m, v, c, spread) / n,
        ),
        Mistake(
            "N/M not squared",
            "a factor in front of a sum enters its variance squared: (N/M)².",
            lambda n, m, v, c, spread: _variance(n, m, v, c, spread) * m / n,
        ),
        Mistake(
            "the factor N² is missing",
            "this is the variance of the *mean* over the minibatch; the estimate is N times it.",
            lambda n, m, v, c, spread: _variance(n, m, v, c, spread) / n**2,
        ),
        Mistake(
            "the factor N/M is missing",
            "this is the variance of the plain sum; the minibatch stands for all N points.",
            lambda n, m, v, c, spread: _variance(n, m, v, c, spread) * (m / n) ** 2,
        ),
        Mistake(
            "a point paired with itself",
            "of the M² pairs, M are a point with itself: they carry the variance.",
            _with_rows(lambda n, m, v, c: n**2 * (v / m + c)),
        ),
        Mistake(
            "pairs counted once",
            "each pair stands twice in the square of a sum.",
            _with_rows(lambda n, m, v, c: n**2 * (v / m + (m - 1) / (2 * m) * c)),
        ),
        Mistake(
            "pairs counted twice",
            "of i and j, M(M−1) ordered pairs can be made: both orders are in this number.",
            _with_rows(lambda n, m, v, c: n**2 * (v / m + 2 * (m - 1) / m * c)),
        ),
        Mistake(
            "standard deviation for variance",
            "no root: the exercise asks for the variance.",
            lambda n, m, v, c, spread: np.sqrt(_variance(n, m, v, c, spread)),
        ),
    ),
)


# Exercise 5.6.


def _ratio(x: Any) -> Any:
    square = (x / np.max(np.abs(x))) ** 2
    return square.sum() ** 2 / (square**2).sum()


def _gain(x: Any) -> Any:
    """(5.4) as it stands."""
    return (x**2).sum() ** 2 / (x**4).sum()


_RNG_5_6 = np.random.default_rng(5)

# Ordinary batches, and among them those where what one might scale by is 0: the first input, the
# last, the largest, the sum, the spread, the median. Then the sizes that the exercise speaks of.
_BATCHES = (
    _RNG_5_6.normal(size=7),
    _RNG_5_6.uniform(0.5, 1.5, 20),
    _A([-3.0]),
    np.full(8, 1.3),
    _A([0.0, 0.0, -2.0, 0.0, -1.1]),
    _A([1.5, -2.5, 3.0, -2.0, 0.0]),
    _A([0.7, 0.0, 2.2]),
    1e200 * _A([1.0, -2.0, 0.5]),
    1e-120 * _A([3.0, 1.0]),
    1e-83 * _A([3.0, -2.0, 1.0]),
    _A([1e-120, -1e200, 3e199, 1.0]),
)

RATIO = Exercise(
    "5.6",
    "Break: a gain that cannot overflow",
    "5.2",
    _ratio,
    tuple((x,) for x in _BATCHES),
    (
        Mistake(
            "overflow",
            "x or a power of it leaves the floating-point numbers (float64 holds 10^±308, "
            "float32 10^±38); the ratio does not depend on the scale of x, so choose one.",
            (
                _gain,
                lambda x: ((x**2).sum() / np.sqrt((x**4).sum())) ** 2,
                lambda x: (np.linalg.norm(x) / np.linalg.norm(x, 4)) ** 4,
                lambda x: _gain(x / np.linalg.norm(x)),
                lambda x: _gain(x / np.sqrt((x**2).mean())),
                lambda x: _ratio(np.sqrt(x**2)),
                lambda x: np.exp(2 * np.log((x**2).sum()) - np.log((x**4).sum())),
            ),
            breaks=True,
        ),
        Mistake(
            "a scale that can be 0",
            "the sum, the mean, the spread or one of the inputs may be 0, or far below the rest; "
            "divide by the largest |x|.",
            tuple(
                lambda x, scale=scale: _gain(x / scale(x))
                for scale in (
                    *(np.sum, np.mean, np.max, np.min, np.std, np.median, np.ptp),
                    lambda x: np.median(np.abs(x)),
                    lambda x: x[0],
                    lambda x: x[-1],
                )
            ),
            breaks=True,
        ),
        Mistake(
            "only the large ones are scaled",
            "the fourth power of 10⁻¹²⁰ is 0 in floating point: divide small inputs by their "
            "largest as well.",
            lambda x: _gain(x / max(np.abs(x).max(), 1.0)),
            breaks=True,
        ),
        Mistake(
            "eps in the denominator",
            "inputs of 10⁻¹²⁰ are small on purpose: add nothing, and set no least value.",
            tuple(
                face
                for eps in EPS
                for face in (
                    lambda x, eps=eps: _gain(x / (np.abs(x).max() + eps)),
                    lambda x, eps=eps: (x**2).sum() ** 2 / ((x**4).sum() + eps),
                )
            ),
            breaks=True,
        ),
        Mistake(
            "upside down",
            "the shared variance stands above: the gain is at least 1.",
            (lambda x: 1 / _ratio(x), lambda x: 1 / _gain(x)),
            breaks=True,
        ),
        Mistake(
            "the number of points",
            "M is the gain only if all |x| are equal.",
            lambda x: float(len(x)),
        ),
        Mistake(
            "x for x²",
            "the two sums are over x² and x⁴.",
            (
                lambda x: x.sum() ** 2 / (x**2).sum(),
                lambda x: (x / np.abs(x).max()).sum() ** 2 / ((x / np.abs(x).max()) ** 2).sum(),
            ),
            breaks=True,
        ),
        Mistake(
            "the square is inside",
            "(Σx²)² and Σx⁴ are not the same: square after the sum above.",
            lambda x: (x**4).sum() / (x**4).sum(),
            breaks=True,
        ),
        Mistake(
            "the square is missing",
            "the numerator is (Σx²)², the square of the sum.",
            (
                lambda x: (x**2).sum() / (x**4).sum(),
                lambda x: ((x / np.abs(x).max()) ** 2).sum() / ((x / np.abs(x).max()) ** 4).sum(),
            ),
            breaks=True,
        ),
        Mistake(
            "divided by M",
            "the gain itself is asked for, not its share of M.",
            (lambda x: _ratio(x) / len(x), lambda x: _gain(x) / len(x)),
            breaks=True,
        ),
    ),
)


# Exercise 5.7.


def _signs(*shape: int) -> Any:
    return _RNG.choice([-1.0, 1.0], shape)


_RNG_5_7 = np.random.default_rng(57)


def _with_signs(x: Any, mu: Any, _: Any) -> tuple[Any, ...]:
    (n, n_in), n_out = x.shape, mu.shape[1]
    eps, r, s = _RNG.normal(size=(n_in, n_out)), _signs(n, n_out), _signs(n, n_in)
    return x, eps, r, s, _RNG_5_7.normal(size=(n, n_out)).round(2)


def _gradient(x: Any, eps: Any, r: Any, s: Any, g: Any) -> Any:
    return eps * ((x * s).T @ (g * r))


FLIPOUT = Exercise(
    "5.7",
    "Extend: Flipout, backwards",
    "5.6",
    _gradient,
    tuple(_with_signs(*_layer(*sizes)) for sizes in ((6, 3, 2), (5, 2, 4), (1, 2, 7), (4, 3, 3))),
    (
        Mistake(
            "no signs",
            "this is the gradient with the shared W: each row saw its own signs of the change.",
            lambda x, e, r, s, g: e * (x.T @ g),
        ),
        Mistake(
            "only the signs of the inputs",
            "the change came back with the signs r as well.",
            lambda x, e, r, s, g: e * ((x * s).T @ g),
        ),
        Mistake(
            "only the signs of the outputs",
            "the change met inputs with the signs s.",
            lambda x, e, r, s, g: e * (x.T @ (g * r)),
        ),
        Mistake(
            "r and s swapped",
            "s [n, in] belongs to the inputs, r [n, out] to the outputs.",
            lambda x, e, r, s, g: e * ((x * r).T @ (g * s)),
        ),
        Mistake(
            "the first row's signs for all",
            "each row has signs of its own.",
            lambda x, e, r, s, g: e * ((x * s[0]).T @ (g * r[0])),
        ),
        Mistake(
            "ε is missing",
            "this is the gradient by the change of the weights; that is σ ⊙ ε.",
            lambda x, e, r, s, g: (x * s).T @ (g * r),
        ),
        Mistake(
            "the gradient by μ",
            "μ meets the inputs without signs; how does σ?",
            lambda x, e, r, s, g: x.T @ g,
        ),
        Mistake(
            "both gradients added",
            "σ does not reach the output by way of μ.",
            lambda x, e, r, s, g: x.T @ g + e * ((x * s).T @ (g * r)),
        ),
        Mistake(
            "mean for sum",
            "the loss already knows how it is averaged: the gradients of the rows add.",
            lambda x, e, r, s, g: _gradient(x, e, r, s, g) / len(x),
        ),
        Mistake(
            "transposed",
            "the gradient has the shape of σ, [in, out].",
            lambda x, e, r, s, g: _gradient(x, e, r, s, g).T,
        ),
        Mistake(
            "|ε| for ε",
            "the signs r and s are the rows'; ε keeps a sign of its own.",
            lambda x, e, r, s, g: np.abs(e) * ((x * s).T @ (g * r)),
        ),
        Mistake(
            "ε twice",
            "∂(σε)/∂σ = ε.",
            lambda x, e, r, s, g: e**2 * ((x * s).T @ (g * r)),
        ),
        Mistake(
            "wrong sign",
            "the minus comes in the update.",
            lambda x, e, r, s, g: -_gradient(x, e, r, s, g),
        ),
    ),
)


# Exercise 5.8.

_ENOUGH = 1.25  # times the least variance; the wrong ways of the cases are at 1.4 and more
_BUDGET = 256
_SWAPPED = 4.0


def _split_world(seed: int, sigma: float) -> tuple[Any, ...]:
    """Data of y = w x, a posterior of sd ``sigma``, and a budget."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.5, 1.5, 500)
    return x, 0.7 * x + 0.5 * rng.standard_normal(500), 0.6, sigma, 0.5, _BUDGET


def _parts(x: Any, y: Any, mu: Any, sigma: Any, noise_std: Any) -> tuple[Any, Any, Any]:
    """Of a point's gradient: variance over points, over draws of w, covariance of two points."""
    over_points = np.var(x * (mu * x - y))
    own, common = sigma**2 * np.mean(x**4), sigma**2 * np.mean(x**2) ** 2
    return over_points / noise_std**4, own / noise_std**4, common / noise_std**4


def _variance_of_split(rows: Any, draws: Any, parts: tuple[Any, Any, Any]) -> Any:
    """Over N², of a minibatch drawn with replacement, averaged over ``draws`` shared weights."""
    over_points, own, common = parts
    return over_points / rows + (own / rows + common * (rows - 1) / rows) / draws


def _best_split(x: Any, y: Any, mu: Any, sigma: Any, noise_std: Any, budget: Any) -> Any:
    parts = _parts(x, y, mu, sigma, noise_std)
    rows = np.arange(1, budget + 1)
    best = int(rows[_variance_of_split(rows, budget // rows, parts).argmin()])
    return best, budget // best


def _split_fault(got: Any, *case: Any) -> float:
    """What is wrong with a split: 0 nothing, 1 no split, 2 too few draws, 3 too few rows."""
    rows, draws = got
    *problem, budget = case
    if (got % 1).any() or min(got) < 1 or rows * draws > budget:
        return 1.0
    parts, (best_rows, best_draws) = _parts(*problem), _best_split(*case)
    least = _variance_of_split(best_rows, best_draws, parts)
    if _variance_of_split(rows, draws, parts) <= _ENOUGH * least:
        return 0.0
    return 2.0 if rows > best_rows else 3.0


def _pairs(outcomes: Sequence[Outcome]) -> list[Array]:
    """The split of each world; none unless each has a pair."""
    pairs = [got for got in outcomes if isinstance(got, np.ndarray) and got.shape == (2,)]
    return pairs if len(pairs) == len(outcomes) else []


def _split_faults(outcomes: Sequence[Outcome]) -> set[float]:
    """The faults in all worlds; ``_SWAPPED`` alone where (K, M) for (M, K) would have none."""
    pairs = _pairs(outcomes)
    every, swapped = (
        {_split_fault(p[::way], *case) for case, p in zip(SPLIT.cases, pairs, strict=bool(pairs))}
        for way in (1, -1)
    )
    return {_SWAPPED} if swapped == {0.0} and every != {0.0} else every - {0.0}


def _one_for_all(outcomes: Sequence[Outcome]) -> bool:
    return len({tuple(pair) for pair in _pairs(outcomes)}) == 1


SPLIT = Exercise(
    "5.8",
    "Experiment: more rows or more draws?",
    "5.1",
    _best_split,
    (_split_world(0, 0.3), _split_world(1, 2.0), _split_world(2, 0.1)),
    (
        Mistake(
            "no split of the budget",
            "M and K are whole numbers from 1 on, and M K is at most the budget.",
            recognises=lambda got, _: 1.0 in _split_faults(got),
        ),
        Mistake(
            "M and K are swapped",
            "the rows come first, then the draws.",
            recognises=lambda got, _: _split_faults(got) == {_SWAPPED},
        ),
        Mistake(
            "too few draws of w",
            "in some world more rows help no longer: what they have in common is the draw.",
            recognises=lambda got, _: _split_faults(got) == {2.0},
        ),
        Mistake(
            "too few rows",
            "in some world the choice of the rows is the noise, not the draw of the weight.",
            recognises=lambda got, _: _split_faults(got) == {3.0},
        ),
        Mistake(
            "one split for all worlds",
            "in one world the rows are too few, in another the draws: measure both parts in each.",
            recognises=lambda got, _: _split_faults(got) == {2.0, 3.0} and _one_for_all(got),
        ),
        Mistake(
            "too few rows here, too few draws there",
            "where the parts are alike in size, so is what they cost: measure both in each world.",
            recognises=lambda got, _: _split_faults(got) == {2.0, 3.0} and not _one_for_all(got),
        ),
    ),
    compared=_split_fault,
)


# Exercise 5.9.

_PROGRAMS = ("shared", "local", "flipout")  # 0, 1, 2
_SIZES = _A([4, 16, 64, 256])


def _programs(seed: int, order: Sequence[int]) -> tuple[Any, Any, Any]:
    """Batch sizes, and 400 gradients for μ and for σ ``[program, size, draw]`` of three programs.

    Each program has a posterior of its own, so that no single variance gives it away.
    """
    rng = np.random.default_rng(seed)
    x = rng.uniform(0.5, 1.5, 256)
    y = 0.7 * x + 0.5 * rng.standard_normal(256)
    found = []
    for at, program in enumerate(order):
        sigma = float(rng.uniform(0.3, 1.2))
        drawn = [
            estimators.gradient_samples(
                _PROGRAMS[program],
                [0.6],
                [sigma],
                x[:size, None],
                y[:size],
                noise_std=0.5,
                n_data=1000,
                n_draws=400,
                seed=10 * seed + at,
            )
            for size in _SIZES
        ]
        found.append([[d.mu[:, 0] for d in drawn], [d.sigma[:, 0] for d in drawn]])
    gradients: Array = np.array(found)
    return _SIZES, gradients[:, 0], gradients[:, 1]


def _falls(gradients: Any) -> Any:
    """Whether the variance falls to less than a sixth from the least batch to the largest."""
    variance = gradients.var(axis=-1)
    return variance[:, -1] < variance[:, 0] / 6


def _which_program(sizes: Any, mu_gradients: Any, sigma_gradients: Any) -> Any:
    falls_mu, falls_sigma = _falls(mu_gradients), _falls(sigma_gradients)
    return np.where(falls_mu, np.where(falls_sigma, 1, 2), 0)


WHICH_PROGRAM = Exercise(
    "5.9",
    "Experiment: who drew these gradients?",
    "5.6",
    _which_program,
    tuple(
        _programs(seed, order)
        for seed, order in enumerate(((0, 1, 2), (2, 0, 1), (1, 2, 0), (0, 2, 2)))
    ),
    (
        Mistake(
            "Flipout is taken for local draws",
            "for μ their variances fall alike; for σ the two differ.",
            lambda sizes, m, s: _falls(m).astype(float),
        ),
        Mistake(
            "Flipout is taken for a shared W",
            "for σ they are flat alike; for μ the two differ.",
            lambda sizes, m, s: _falls(s).astype(float),
        ),
        Mistake(
            "shared and local are swapped",
            "it is the shared draw of which a larger batch cannot rid the gradient.",
            lambda sizes, m, s: _A([1, 0, 2])[_which_program(sizes, m, s)],
        ),
        Mistake(
            "local and Flipout are swapped",
            "rows that share the size of ε share it for σ: which of the two has a floor there?",
            lambda sizes, m, s: _A([0, 2, 1])[_which_program(sizes, m, s)],
        ),
        Mistake(
            "judged by the size of the variance",
            "the programs have posteriors of different widths: see how a variance *changes* with "
            "the batch.",
            (
                lambda sizes, m, s: np.argsort(np.argsort(-m[:, -1].var(axis=-1))),
                lambda sizes, m, s: np.argsort(np.argsort(-m[:, 0].var(axis=-1))),
            ),
        ),
        Mistake(
            "all alike",
            "in each world there are at least two kinds: draw the variances over the batch size.",
            tuple(lambda sizes, m, s, k=k: np.full(len(m), k) for k in range(3)),
        ),
    ),
)
