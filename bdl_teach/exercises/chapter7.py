"""Exercises of chapter 7: probabilistic backpropagation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import ndtr

from bdl_teach import datasets, metrics
from bdl_teach._support.checks import Array
from bdl_teach._support.errors import DivergedError
from bdl_teach.exercises import _normal as norm
from bdl_teach.exercises._engine import Choice, Exercise, Mistake, Outcome, close
from bdl_teach.exercises._faces import EPS
from bdl_teach.methods import pbp

_A = np.array

# Exercise 7.1.


def _log_normal(y: Any, m: Any, v: Any) -> Any:
    return -0.5 * (np.log(2 * np.pi * v) + (y - m) ** 2 / v)


LOG_Z = Exercise(
    "7.1",
    "Compute: log Z of one point",
    "7.6 and 7.7",
    lambda y, m, v, alpha, beta: _log_normal(y, m, v + beta / (alpha - 1)),
    (
        (0.7, -0.4, 1.5, 6.0, 6.0),
        (0.6, 0.8, 0.4, 40.0, 2.0),
        (2.0, 2.0, 0.3, 3.0, 0.2),
        (-9.0, 1.3, 0.7, 1.5, 2.4),
        (4.1, 1.7, 0.05, 11.0, 17.0),
        (-7.3, 1.9, 0.3, 21.0, 18.0),  # a density of 10⁻¹⁶: what is added to it shows
        (3e-4, 0.0, 1e-7, 40.0, 4e-6),  # nearly no variance: what is added to it shows
    ),
    (
        Mistake(
            "wrong sign",
            "this is the negative log-likelihood; log Z is what the updates ascend.",
            lambda y, m, v, a, b: -_log_normal(y, m, v + b / (a - 1)),
        ),
        Mistake(
            "the logarithm is divided by v",
            "only the square stands over the variance: −½[log 2πv + (y−m)²/v].",
            lambda y, m, v, a, b: (
                -0.5 * (np.log(v + b / (a - 1)) + (y - m) ** 2) / (v + b / (a - 1))
            ),
        ),
        Mistake(
            "log 2π is missing",
            "without it exp(log Z) is no density; add −½ log 2π.",
            lambda y, m, v, a, b: _log_normal(y, m, v + b / (a - 1)) + 0.5 * np.log(2 * np.pi),
        ),
        Mistake(
            "the noise is missing",
            "v is the variance of the network's output; y has the noise's β/(α−1) as well.",
            lambda y, m, v, a, b: _log_normal(y, m, v),
        ),
        Mistake(
            "β/α for β/(α−1)",
            "the mean of the variance 1/γ is β/(α−1); α/β is the mean of γ.",
            lambda y, m, v, a, b: _log_normal(y, m, v + b / a),
        ),
        Mistake(
            "precision for variance",
            "α/β is a precision; the noise variance is β/(α−1).",
            (
                lambda y, m, v, a, b: _log_normal(y, m, v + a / b),
                lambda y, m, v, a, b: _log_normal(y, m, v + (a - 1) / b),
            ),
        ),
        Mistake(
            "the ½ is missing",
            "both terms have it: −½[log 2πv + (y−m)²/v].",
            (
                lambda y, m, v, a, b: 2 * _log_normal(y, m, v + b / (a - 1)),
                lambda y, m, v, a, b: (
                    _log_normal(y, m, v + b / (a - 1)) - 0.5 * (y - m) ** 2 / (v + b / (a - 1))
                ),
                lambda y, m, v, a, b: (
                    _log_normal(y, m, v + b / (a - 1)) - 0.5 * np.log(2 * np.pi * (v + b / (a - 1)))
                ),
                lambda y, m, v, a, b: (
                    _log_normal(y, m, v + b / (a - 1)) - 0.5 * np.log(v + b / (a - 1))
                ),
            ),
        ),
        Mistake(
            "wrong sign of one term",
            "both are subtracted: −½[log 2πv + (y−m)²/v].",
            (
                lambda y, m, v, a, b: (
                    _log_normal(y, m, v + b / (a - 1)) + (y - m) ** 2 / (v + b / (a - 1))
                ),
                lambda y, m, v, a, b: (
                    _log_normal(y, m, v + b / (a - 1)) + np.log(2 * np.pi * (v + b / (a - 1)))
                ),
                lambda y, m, v, a, b: _log_normal(y, m, v + b / (a - 1)) + np.log(v + b / (a - 1)),
            ),
        ),
        Mistake(
            "the residual is not squared",
            "it is (y − m)² that stands over the variance.",
            (
                lambda y, m, v, a, b: (
                    -0.5 * (np.log(2 * np.pi * (v + b / (a - 1))) + (y - m) / (v + b / (a - 1)))
                ),
                lambda y, m, v, a, b: (
                    -0.5
                    * (np.log(2 * np.pi * (v + b / (a - 1))) + np.abs(y - m) / (v + b / (a - 1)))
                ),
            ),
        ),
        Mistake(
            "not in nats",
            "the logarithm is the natural one, np.log.",
            (
                lambda y, m, v, a, b: _log_normal(y, m, v + b / (a - 1)) / np.log(2),
                lambda y, m, v, a, b: _log_normal(y, m, v + b / (a - 1)) / np.log(10),
            ),
        ),
        Mistake(
            "eps in the logarithm",
            "far from m the result is then log eps, whatever y is: write the logarithm of a "
            "Gaussian out.",
            tuple(
                face
                for eps in EPS
                for face in (
                    lambda y, m, v, a, b, eps=eps: np.log(
                        np.exp(_log_normal(y, m, v + b / (a - 1))) + eps
                    ),
                    lambda y, m, v, a, b, eps=eps: np.log(
                        np.maximum(np.exp(_log_normal(y, m, v + b / (a - 1))), eps)
                    ),
                )
            ),
        ),
        Mistake(
            "eps in the variance",
            "v + β/(α−1) is positive as it is: nothing may be added.",
            tuple(
                lambda y, m, v, a, b, eps=eps: _log_normal(y, m, v + b / (a - 1) + eps)
                for eps in EPS[:4]
            ),
        ),
        Mistake(
            "variance for sd",
            "v + β/(α−1) is a variance: it is not squared again. A scale is its root.",
            lambda y, m, v, a, b: _log_normal(y, m, (v + b / (a - 1)) ** 2),
        ),
        Mistake(
            "variances and standard deviations mixed",
            "v and β/(α−1) are variances, and these add.",
            (
                lambda y, m, v, a, b: _log_normal(y, m, v + np.sqrt(b / (a - 1))),
                lambda y, m, v, a, b: _log_normal(y, m, v + (b / (a - 1)) ** 2),
                lambda y, m, v, a, b: _log_normal(y, m, v**2 + b / (a - 1)),
                lambda y, m, v, a, b: _log_normal(y, m, np.sqrt(v) + b / (a - 1)),
                lambda y, m, v, a, b: _log_normal(y, m, v**2 + (b / (a - 1)) ** 2),
                lambda y, m, v, a, b: _log_normal(y, m, (np.sqrt(v) + np.sqrt(b / (a - 1))) ** 2),
            ),
        ),
        Mistake(
            "the network's variance is missing",
            "y is uncertain by the noise and by the weights: v + β/(α−1).",
            lambda y, m, v, a, b: _log_normal(y, m, b / (a - 1)),
        ),
        Mistake(
            "β/(α+1) for β/(α−1)",
            "that is the most probable noise variance; its mean is β/(α−1).",
            lambda y, m, v, a, b: _log_normal(y, m, v + b / (a + 1)),
        ),
        Mistake(
            "sd for variance",
            "v + β/(α−1) is a variance already: no root.",
            lambda y, m, v, a, b: _log_normal(y, m, np.sqrt(v + b / (a - 1))),
        ),
        Mistake(
            "density for log density",
            "take the logarithm.",
            lambda y, m, v, a, b: np.exp(_log_normal(y, m, v + b / (a - 1))),
        ),
    ),
)


# Exercise 7.2.


def _adf(m: Any, v: Any, gm: Any, gv: Any) -> Any:
    return m + v * gm, v - v**2 * (gm**2 - 2 * gv)


def _label_slopes(m: Any, v: Any, x: Any, t: Any) -> Any:
    """∂log Z/∂m and ∂log Z/∂v of Z = Φ(t x m/√(1 + x²v))."""
    total = 1 + x**2 * v
    z = t * x * m / np.sqrt(total)
    ratio = norm.pdf(z) / ndtr(z)
    return t * x / np.sqrt(total) * ratio, -0.5 * z * x**2 / total * ratio


def _from_label(m: Any, v: Any, x: Any, t: Any) -> Any:
    return _adf(m, v, *_label_slopes(m, v, x, t))


_LEAST = (1e-2, 1e-3, 1e-4, 1e-5, *EPS)  # Φ is 6·10⁻¹⁰ in a case: the last two are below it


def _with_least(guard: Callable[[Any, float], Any], eps: float) -> Any:
    """The answer with a guarded Φ in the denominator."""

    def updated(m: Any, v: Any, x: Any, t: Any) -> Any:
        mass = ndtr(t * x * m / np.sqrt(1 + x**2 * v))
        return _adf(m, v, *(g * mass / guard(mass, eps) for g in _label_slopes(m, v, x, t)))

    return updated


def _with_slopes(update: Any) -> Any:
    """The answer with another update: one of (m, v, gm, gv)."""
    return lambda m, v, x, t: update(m, v, *_label_slopes(m, v, x, t))


def _of_label(mistake: Mistake) -> Mistake:
    """A mistake of the update, made with the right slopes."""
    return replace(mistake, wrong=tuple(_with_slopes(face) for face in mistake.faces))


_UPDATES = (
    Mistake(
        "wrong sign of the mean's step",
        "the mean goes up the gradient of log Z, towards weights that explain the point.",
        lambda m, v, gm, gv: (m - v * gm, _adf(m, v, gm, gv)[1]),
    ),
    Mistake(
        "the outer square is lost",
        "the bracket is multiplied by v², as both of its terms are per squared weight.",
        lambda m, v, gm, gv: (m + v * gm, v - v * (gm**2 - 2 * gv)),
    ),
    Mistake(
        "the inner square is lost",
        "the bracket is (∂log Z/∂m)² − 2 ∂log Z/∂v.",
        lambda m, v, gm, gv: (m + v * gm, v - v**2 * (gm - 2 * gv)),
    ),
    Mistake(
        "both squares are lost",
        "v − v²[(∂log Z/∂m)² − 2 ∂log Z/∂v] has two.",
        lambda m, v, gm, gv: (m + v * gm, v - v * (gm - 2 * gv)),
    ),
    Mistake(
        "the factor 2 is missing",
        "it is −2 ∂log Z/∂v.",
        lambda m, v, gm, gv: (m + v * gm, v - v**2 * (gm**2 - gv)),
    ),
    Mistake(
        "v² for v",
        "the mean moves by v ∂log Z/∂m; v² is for the variance.",
        lambda m, v, gm, gv: (m + v**2 * gm, _adf(m, v, gm, gv)[1]),
    ),
    Mistake(
        "the new variance in the mean's step",
        "both steps start from the old v.",
        lambda m, v, gm, gv: (m + _adf(m, v, gm, gv)[1] * gm, _adf(m, v, gm, gv)[1]),
    ),
    Mistake(
        "gm and gv swapped",
        "the derivative in m is squared; that in v is multiplied by 2.",
        (
            lambda m, v, gm, gv: _adf(m, v, gv, gm),
            lambda m, v, gm, gv: (m + v * gm, v - v**2 * (gv**2 - 2 * gm)),
        ),
    ),
    Mistake(
        "wrong sign in the bracket",
        "it is (∂log Z/∂m)² minus 2 ∂log Z/∂v.",
        lambda m, v, gm, gv: (m + v * gm, v - v**2 * (gm**2 + 2 * gv)),
    ),
    Mistake(
        "wrong sign of the variance's step",
        "it is v *minus* v² times the bracket.",
        lambda m, v, gm, gv: (m + v * gm, v + v**2 * (gm**2 - 2 * gv)),
    ),
    Mistake(
        "the bracket is lost",
        "v² multiplies both terms: v − v²[(∂log Z/∂m)² − 2 ∂log Z/∂v].",
        lambda m, v, gm, gv: (m + v * gm, v - v**2 * gm**2 - 2 * gv),
    ),
    Mistake(
        "a least variance",
        "a weight may be as sure as it likes: v′ is what the formula says.",
        tuple(
            lambda m, v, gm, gv, least=least: (
                _adf(m, v, gm, gv)[0],
                np.maximum(_adf(m, v, gm, gv)[1], least),
            )
            for least in (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
        ),
    ),
    Mistake(
        "√v for v",
        "the mean moves by v ∂log Z/∂m: by the variance, not the sd.",
        lambda m, v, gm, gv: (m + np.sqrt(v) * gm, _adf(m, v, gm, gv)[1]),
    ),
    Mistake(
        "mean and variance swapped",
        "return (new mean, new variance).",
        lambda m, v, gm, gv: _adf(m, v, gm, gv)[::-1],
    ),
    Mistake(
        "the step is not scaled by v",
        "an uncertain weight moves more: m + v ∂log Z/∂m.",
        lambda m, v, gm, gv: (m + gm, _adf(m, v, gm, gv)[1]),
    ),
    Mistake(
        "sd for variance",
        "return the new variance, not its root.",
        lambda m, v, gm, gv: (m + v * gm, np.sqrt(_adf(m, v, gm, gv)[1])),
    ),
)

ADF = Exercise(
    "7.2",
    "Compute: one ADF update from a label",
    "7.3",
    _from_label,
    (
        (_A([0.3]), _A([0.25]), _A([2.0]), _A([1.0])),
        (_A([0.0, -1.2]), _A([1.5, 0.4]), _A([1.0, -0.7]), _A([1.0, -1.0])),
        (_A([-0.8]), _A([0.7]), _A([1.5]), _A([1.0])),
        (_A([0.4, 2.1, -0.6]), _A([0.3, 1.2, 2.1]), _A([-1.0, 0.5, 3.0]), _A([-1.0, -1.0, 1.0])),
        (_A([0.2, -1.0]), _A([2e-7, 3e-5]), _A([3.0, -2.0]), _A([1.0, -1.0])),  # sure weights
        (_A([1.0]), _A([9.0]), _A([0.8]), _A([-1.0])),  # an unsure one makes a long step
        # a label with a probability of 10⁻⁹, and one that was nearly sure
        (_A([3.6, -2.5]), _A([0.1, 0.4]), _A([2.0, 1.5]), _A([-1.0, -1.0])),
    ),
    (
        *map(_of_label, _UPDATES),
        Mistake(
            "the variance is missing from Z",
            "an unsure weight makes the label less sure, too: Z contains v, and is differentiated "
            "by it.",
            (
                lambda m, v, x, t: _adf(m, v, *_label_slopes(m, 0.0, x, t)),
                lambda m, v, x, t: _adf(m, v, _label_slopes(m, 0.0, x, t)[0], 0.0),
            ),
        ),
        Mistake(
            "eps or a least value in the denominator",
            "Φ(z) is small where the label is a surprise, and there the step is long: nothing may "
            "be added to it.",
            (
                *(_with_least(np.add, eps) for eps in _LEAST),
                *(_with_least(np.maximum, eps) for eps in _LEAST[:-2]),
            ),
        ),
        Mistake(
            "no slope in v",
            "Z depends on v through the root.",
            lambda m, v, x, t: _adf(m, v, _label_slopes(m, v, x, t)[0], 0.0),
        ),
        Mistake(
            "the label is ignored",
            "for the label −1 the mean goes the other way.",
            lambda m, v, x, t: _from_label(m, v, x, 1.0),
        ),
        Mistake(
            "x is missing",
            "the inner derivative of Φ contains x.",
            lambda m, v, x, t: _adf(
                m, v, *(g / x**k for k, g in enumerate(_label_slopes(m, v, x, t), 1))
            ),
        ),
        Mistake(
            "the slopes of Z for those of log Z",
            "∂log Z = ∂Z/Z.",
            lambda m, v, x, t: _adf(
                m,
                v,
                *(g * ndtr(t * x * m / np.sqrt(1 + x**2 * v)) for g in _label_slopes(m, v, x, t)),
            ),
        ),
    ),
)


# Exercise 7.3.

STATEMENTS = Choice(
    "7.3",
    "Explain: true or false",
    "7.2, 7.7, 7.9 and 7.10",
    frozenset("bdf"),
    statements={
        "a": "which of the two arguments of the KL is the approximation, in ADF (section 7.2)?",
        "b": "how does a Gaussian get the mean and the variance of two peaks (section 7.2)?",
        "c": "is what is thrown away after each point the same in each order (section 7.9)?",
        "d": "how does ADF know that it has seen a point before (section 7.9)?",
        "e": "what else lies between y and the mean of the network (section 7.10)?",
        "f": "what does α do at each point (section 7.7)?",
    },
)


# Exercise 7.4.


def _relu(m: Any, v: Any) -> Any:
    s = np.sqrt(v)
    density, above = np.exp(-0.5 * m**2 / v) / np.sqrt(2 * np.pi), ndtr(m / s)
    mean = m * above + s * density
    return mean, v * above - mean * (mean - m)


def _by_ratio(m: Any, v: Any, eps: float = 0.0, above: Any = None) -> Any:
    """The paper's form, with the ratio φ/Φ; ``above`` may stand for Φ in the denominator."""
    s, phi, mass = np.sqrt(v), np.exp(-0.5 * m**2 / v) / np.sqrt(2 * np.pi), ndtr(m / np.sqrt(v))
    ratio = phi / ((mass if above is None else above(mass)) + eps)
    given = m + s * ratio
    mean = mass * given
    return mean, mean * given * (1 - mass) + mass * v * (1 - ratio * (ratio + m / s))


def _truncated(m: Any, v: Any) -> Any:
    """Mean and variance of a, given a > 0."""
    ratio = np.exp(-0.5 * m**2 / v) / np.sqrt(2 * np.pi) / ndtr(m / np.sqrt(v))
    return m + np.sqrt(v) * ratio, v * (1 - ratio * (ratio + m / np.sqrt(v)))


def _few_digits(got: Any, m: Any, v: Any) -> Any:
    """What to compare: far below 0 the subtraction leaves float32 two digits.

    There a hundredth power stands for the value: 0.3 % of it are the tolerance, and below −8 a
    smaller one: a tenth of it. What has been added below a line is far more than that.
    """
    alpha = m / np.sqrt(v)
    power = np.select([alpha < -40, alpha < -8, alpha < -3.5], [1.0, 3e-4, 0.01], 1.0)
    return np.sign(got) * np.abs(got) ** power


def _with_density(m: Any, v: Any, factor: float) -> Any:
    """The moments with another factor than 1/√(2π) in φ."""
    phi, above = factor * np.exp(-0.5 * m**2 / v), ndtr(m / np.sqrt(v))
    mean = m * above + np.sqrt(v) * phi
    return mean, (m**2 + v) * above + m * np.sqrt(v) * phi - mean**2


RELU = Exercise(
    "7.4",
    "Compute: a Gaussian through a ReLU",
    "7.5",
    _relu,
    (
        (_A([0.0]), _A([1.0])),
        (_A([-1.0, 0.5, 3.0]), _A([1.0, 4.0, 0.25])),
        (_A([2.0]), _A([9.0])),
        (_A([-1.3, 0.8, -0.2, 5.1, 0.4]), _A([0.6, 0.3, 2.2, 1.7, 3.1])),
        (_A([-3.0]), _A([0.25])),
        (_A([-24.0]), _A([4.0])),  # a mean of 10⁻³⁴
        (_A([0.004, -0.002]), _A([1e-4, 3e-5])),  # what is added to v shows
        (_A([-50.0, 1.0, -7.5]), _A([1.0, 1.5, 1.0])),
    ),
    (
        Mistake(
            "relu of the mean",
            "the mean of the outputs is not the output of the mean.",
            (
                lambda m, v: (np.maximum(m, 0), _relu(m, v)[1]),
                lambda m, v: (np.maximum(m, 0), v * (m > 0)),
                lambda m, v: (np.maximum(m, 0), v + 0 * m),
                lambda m, v: (np.maximum(m, 0), v * ndtr(m / np.sqrt(v))),
            ),
        ),
        Mistake(
            "second moment for variance",
            "subtract the square of the mean.",
            lambda m, v: (_relu(m, v)[0], _relu(m, v)[1] + _relu(m, v)[0] ** 2),
        ),
        Mistake(
            "truncated for rectified",
            "dividing by Φ(α) gives the moments given a > 0; the zeros count, too.",
            (
                _truncated,
                lambda m, v: (_truncated(m, v)[0], _relu(m, v)[1]),
                lambda m, v: (_relu(m, v)[0], _truncated(m, v)[1]),
                lambda m, v: (_relu(m, v)[0], _relu(m, v)[1] / ndtr(m / np.sqrt(v))),
                lambda m, v: [moment / ndtr(m / np.sqrt(v)) for moment in _relu(m, v)],
                lambda m, v: (_relu(m, v)[0] / ndtr(m / np.sqrt(v)), _relu(m, v)[1]),
            ),
            breaks=True,
        ),
        Mistake(
            "0/0",
            "far below 0 both φ(α) and Φ(α) are 0: use h(α), which divides by nothing.",
            _by_ratio,
            breaks=True,
        ),
        Mistake(
            "eps or a least value in the denominator",
            "Φ(−6) is 10⁻⁹ on purpose: use h(α), which divides by nothing.",
            tuple(
                face
                for eps in EPS
                for face in (
                    lambda m, v, eps=eps: _by_ratio(m, v, eps),
                    lambda m, v, eps=eps: _by_ratio(m, v, above=lambda p: np.maximum(p, eps)),
                )
            ),
        ),
        Mistake(
            "0 far below",
            "both moments are small there, and not 0: h(α) gives them as it is.",
            tuple(
                face
                for limit in (-3.0, -4.0, -5.0, -6.0, -7.0, -8.0, -10.0)
                for face in (
                    lambda m, v, limit=limit: [q * (m > limit * np.sqrt(v)) for q in _relu(m, v)],
                    lambda m, v, limit=limit: [q * (m > limit) for q in _relu(m, v)],
                )
            ),
        ),
        Mistake(
            "sd for variance",
            "return the variance.",
            lambda m, v: (_relu(m, v)[0], np.sqrt(_relu(m, v)[1])),
        ),
        Mistake(
            "variance for sd",
            "α = m/√v, and √v multiplies φ: the argument v is a variance.",
            (lambda m, v: _relu(m, v**2), lambda m, v: (_relu(m, v**2)[0], _relu(m, v)[1])),
        ),
        Mistake(
            "h(α)² for h(α) h(−α)",
            "the bracket of the variance is Φ(α) − h(α) h(−α).",
            lambda m, v: (_relu(m, v)[0], v * ndtr(m / np.sqrt(v)) - _relu(m, v)[0] ** 2),
        ),
        Mistake(
            "the scale is missing",
            "h(α) is for v = 1: the mean takes √v, the variance v.",
            (
                lambda m, v: (_relu(m, v)[0] / np.sqrt(v), _relu(m, v)[1] / v),
                lambda m, v: (_relu(m, v)[0] / np.sqrt(v), _relu(m, v)[1]),
                lambda m, v: (_relu(m, v)[0], _relu(m, v)[1] / v),
                lambda m, v: (_relu(m, v)[0], _relu(m, v)[1] / np.sqrt(v)),
            ),
        ),
        Mistake(
            "the φ part is missing",
            "m Φ(α) alone is 0 at m = 0, where half of the draws are positive.",
            lambda m, v: (m * ndtr(m / np.sqrt(v)), _relu(m, v)[1]),
        ),
        Mistake(
            "φ without 1/√(2π)",
            "φ is a density: exp(−α²/2)/√(2π).",
            lambda m, v: _with_density(m, v, 1.0),
        ),
        Mistake(
            "mean and variance swapped",
            "return (mean, variance).",
            lambda m, v: _relu(m, v)[::-1],
        ),
    ),
    compared=_few_digits,
)

# Exercise 7.5.

_RNG = np.random.default_rng(6)


def _layer(mean: Any, var: Any, w_mean: Any, w_var: Any, scale: float | None = None) -> Any:
    mean, var = np.append(mean, 1.0), np.append(var, 0.0)
    scale = 1 / len(mean) if scale is None else scale
    out_var = w_mean**2 @ var + w_var @ mean**2 + w_var @ var
    return np.sqrt(scale) * (w_mean @ mean), scale * out_var


def _layer_without(mean: Any, var: Any, w_mean: Any, w_var: Any, part: str) -> Any:
    z_mean, z_var = np.append(mean, 1.0), np.append(var, 0.0)
    parts = {"w": w_mean**2 @ z_var, "z": w_var @ z_mean**2, "both": w_var @ z_var}
    out = sum(value for name, value in parts.items() if name != part)
    return (w_mean @ z_mean) / np.sqrt(len(z_mean)), out / len(z_mean)


LAYER = Exercise(
    "7.5",
    "Change: a Gaussian through a linear layer",
    "7.4",
    lambda mean, var, weight_mean, weight_var: _layer(mean, var, weight_mean, weight_var),
    tuple(
        (_RNG.normal(size=k), _RNG.uniform(0.1, 1, k), _RNG.normal(size=s), _RNG.uniform(0.1, 1, s))
        for k, s in ((2, (3, 3)), (4, (1, 5)), (1, (5, 2)), (7, (2, 8)))
    )
    + (
        # All but certain, and not certain at all: what limits a variance shows.
        (
            np.array([0.4, -1.3]),
            np.array([2e-6, 3e-5]),
            np.array([[0.02, -0.1, 0.3], [1.1, 0.2, 0.7]]),
            np.array([[4e-6, 7e-5, 1e-6], [30.0, 2e-4, 8.0]]),
        ),
        (np.array([5.2]), np.array([14.0]), np.array([[-4.0, 9.0]]), np.array([[6.0, 25.0]])),
    ),
    (
        Mistake(
            "the scale is missing",
            "divide the mean by √(in + 1) and the variance by in + 1.",
            lambda m, v, a, b: _layer(m, v, a, b, 1.0),
        ),
        Mistake(
            "a small number added",
            "a variance of 10⁻⁶ is what is known: add nothing, and set no least value.",
            tuple(
                face
                for eps in (1e-3, 1e-4, 1e-5, 1e-6)
                for face in (
                    lambda m, v, a, b, eps=eps: (
                        _layer(m, v, a, b)[0],
                        _layer(m, v, a, b)[1] + eps,
                    ),
                    lambda m, v, a, b, eps=eps: _layer(m, v + eps, a, b),
                    lambda m, v, a, b, eps=eps: _layer(m, v, a, b + eps),
                )
            ),
        ),
        Mistake(
            "1/√in for 1/√(in + 1)",
            "the bias is an input too, of value 1.",
            lambda m, v, a, b: _layer(m, v, a, b, 1 / len(m)),
        ),
        Mistake(
            "the variance is divided by √(in + 1)",
            "a variance scales with the square: divide it by in + 1.",
            lambda m, v, a, b: (_layer(m, v, a, b)[0], _layer(m, v, a, b)[1] * np.sqrt(len(m) + 1)),
        ),
        Mistake(
            "the variance is divided by (in + 1)²",
            "dividing a by √(in + 1) divides its variance by in + 1.",
            lambda m, v, a, b: (_layer(m, v, a, b)[0], _layer(m, v, a, b)[1] / (len(m) + 1)),
        ),
        Mistake(
            "only one of the two is scaled",
            "divide the mean by √(in + 1) and the variance by in + 1.",
            (
                lambda m, v, a, b: (_layer(m, v, a, b, 1.0)[0], _layer(m, v, a, b)[1]),
                lambda m, v, a, b: (_layer(m, v, a, b)[0], _layer(m, v, a, b, 1.0)[1]),
            ),
        ),
        Mistake(
            "second moment for variance",
            "E[a²] contains m_w² m_z², which belongs to the square of the mean.",
            lambda m, v, a, b: (
                _layer(m, v, a, b)[0],
                _layer(m, v, a, b)[1] + a**2 @ np.append(m, 1.0) ** 2 / (len(m) + 1),
            ),
        ),
        Mistake(
            "a mean is not squared",
            "Var[wz] = m_w² v_z + v_w m_z² + v_w v_z: both means are squared.",
            (
                lambda m, v, a, b: (
                    _layer(m, v, a, b)[0],
                    _layer(m, v, a, b)[1] + (a - a**2)[:, :-1] @ v / (len(m) + 1),
                ),
                lambda m, v, a, b: (
                    _layer(m, v, a, b)[0],
                    _layer(m, v, a, b)[1] + b[:, :-1] @ (m - m**2) / (len(m) + 1),
                ),
                lambda m, v, a, b: (
                    _layer(m, v, a, b)[0],
                    _layer(m, v, a, b)[1]
                    + ((a - a**2)[:, :-1] @ v + b[:, :-1] @ (m - m**2)) / (len(m) + 1),
                ),
            ),
        ),
        Mistake(
            "the bias is first",
            "the bias is the last column: append the 1, do not put it in front.",
            lambda m, v, a, b: _layer(m, v, np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)),
        ),
        Mistake(
            "sd for variance",
            "return the variance, not its root.",
            lambda m, v, a, b: (_layer(m, v, a, b)[0], np.sqrt(_layer(m, v, a, b)[1])),
        ),
        Mistake(
            "mean and variance swapped",
            "return (mean, variance).",
            lambda m, v, a, b: _layer(m, v, a, b)[::-1],
        ),
        Mistake(
            "the variance of z is missing",
            "the input is uncertain as well: m_w² v_z.",
            lambda m, v, a, b: _layer_without(m, v, a, b, "w"),
        ),
        Mistake(
            "the product of the two variances is missing",
            "Var[wz] = m_w² v_z + v_w m_z² + v_w v_z.",
            lambda m, v, a, b: _layer_without(m, v, a, b, "both"),
        ),
        Mistake(
            "the variance of the weights is missing",
            "without v_w nothing would ever be uncertain at the first layer.",
            lambda m, v, a, b: _layer_without(m, v, a, b, "z"),
        ),
        Mistake(
            "the mean is divided by in + 1",
            "the activations are divided by √(in + 1), and so is their mean; in + 1 is for "
            "variances.",
            lambda m, v, a, b: (
                _layer(m, v, a, b)[0] / np.sqrt(len(m) + 1),
                _layer(m, v, a, b)[1],
            ),
        ),
        Mistake(
            "the bias is missing",
            "append a 1 to the inputs: the last column multiplies it.",
            lambda m, v, a, b: (
                _layer(m, v, a, b)[0] - a[:, -1] / np.sqrt(len(m) + 1),
                _layer(m, v, a, b)[1] - b[:, -1] / (len(m) + 1),
            ),
        ),
        Mistake(
            "the bias's input is uncertain",
            "the input that is appended is a known 1: its variance is 0.",
            lambda m, v, a, b: (
                _layer(m, v, a, b)[0],
                _layer(m, v, a, b)[1] + (a**2 + b)[:, -1] / (len(m) + 1),
            ),
        ),
        Mistake(
            "the bias's variance is missing",
            "the bias is the last column, with an input of mean 1 and variance 0.",
            lambda m, v, a, b: (
                _layer(m, v, a, b)[0],
                _layer(m, v, a, b)[1] - b[:, -1] / (len(m) + 1),
            ),
        ),
    ),
)


# Exercise 7.6.


def _gamma(
    alpha: Any,
    beta: Any,
    r: Any,
    v: Any,
    *,
    shift: float = 0.0,
    eps: float = 0.0,
    ratio: Callable[[Any, Any], Any] = lambda l10, l21: l21 - l10,
    one: Callable[[Any], Any] = lambda alpha: np.log1p(1 / alpha),
    back: Callable[[Any], Any] = np.expm1,
    sign: float = -1.0,
) -> Any:
    """(7.13); what can be given makes its mistakes."""
    v0, v1, v2 = (v + beta / (alpha + k + shift) for k in (-1.0, 0.0, 1.0))
    at = alpha + shift

    def log_ratio(before: Any, after: Any, change: Any) -> Any:
        return -0.5 * (np.log1p(change / before) - r**2 * change / (before * after))

    l10 = log_ratio(v0, v1, -beta / (at * (at - 1)))
    l21 = log_ratio(v1, v2, -beta / (at * (at + 1)))
    new = 1 / (back(ratio(l10, l21) + one(alpha)) + eps)
    return new, new * beta / alpha * np.exp(sign * l10)


def _steps(got: Any, alpha: Any, beta: Any, _r: Any, _v: Any) -> Any:
    """What to compare: the steps, beside which α = 10¹² is large; β's in units of β/α."""
    return (got - np.array([alpha, beta])) * np.array([1.0, alpha / beta])


# At α = 10¹² float64 leaves the step three digits.
_STEP = 3e-3
_NOISES = (
    (6.0, 6.0, 0.1, 0.2),
    (6.0, 5.3, -2.2, 0.3),
    (2.3, 0.9, 0.7, 0.11),
    (51.0, 4.0, 0.9, 0.02),
    (1e4, 2.5e3, 1.1, 1e-2),
    (1e8, 3.0e7, -0.2, 2e-2),
    (1e10, 4.1e9, 1.7, 3e-3),
    (1e12, 8e10, 0.6, 1e-3),
)


def _loses_digits(got: Sequence[Outcome], want: Sequence[Outcome]) -> bool:
    """Whether the answer is right but for the rounding of numbers near 1.

    Rounding moves the bracket, 1/α′, by some multiple of 2⁻⁵³, another one in each case. Where α is
    small that is nothing, where it is large it is all. A term that was added moves it by the same
    everywhere; a wrong formula, by far less or by far more.
    """
    unit = 2.0**-53
    moved = []
    for case, a, b in zip(GAMMA.cases, got, want, strict=True):
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.shape != b.shape:
            return False
        with np.errstate(all="ignore"):
            change = (1 / a - 1 / b) * np.array([1.0, case[1] / case[0]]) / unit
        if not (np.abs(change) < 200).all():
            return False
        if case[0] < 1e6 and not close(_steps(a, *case), _steps(b, *case), _STEP, 0.0):
            return False
        moved.append(change[0])
    large = np.array(moved[-3:])
    return bool((np.abs(large) > 0.1).sum() >= 2 and np.ptp(large) > 0.5)


GAMMA = Exercise(
    "7.6",
    "Break: a noise update that never stops",
    "7.7",
    lambda alpha, beta, r, v: _gamma(alpha, beta, r, v),
    _NOISES,
    (
        Mistake(
            "eps in the denominator",
            "this is the fault that stops α at √(0.5/eps): add nothing, use expm1 and log1p.",
            tuple(
                face
                for eps in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-18)
                for face in (
                    lambda a, b, r, v, eps=eps: _gamma(a, b, r, v, eps=eps),
                    lambda a, b, r, v, eps=eps: (
                        _gamma(a, b, r, v, eps=eps)[0],
                        1 / (1 / _gamma(a, b, r, v)[1] + eps),
                    ),
                    lambda a, b, r, v, eps=eps: (
                        _gamma(a, b, r, v, eps=eps)[0],
                        _gamma(a, b, r, v)[1],
                    ),
                )
            ),
        ),
        Mistake(
            "digits are lost",
            "at α = 10¹² the ratio is 1 + 10⁻¹²: form its logarithm by log1p, then expm1, and form "
            "ℓ₁₀ and ℓ₂₁ without subtracting two logarithms: from v₁ − v₀ = −β/(α(α−1)).",
            recognises=_loses_digits,
        ),
        Mistake(
            "the network's variance is ignored",
            "α + ½, β + ½ r² is right for v = 0 only: part of the residual is the weights' fault.",
            (
                lambda a, b, r, v: (a + 0.5, b + 0.5 * r**2),
                lambda a, b, r, v: _gamma(a, b, r, 0.0),
            ),
        ),
        Mistake(
            "α and β swapped",
            "return (α′, β′).",
            lambda a, b, r, v: _gamma(a, b, r, v)[::-1],
        ),
        Mistake(
            "wrong sign of ℓ₁₀ in β′",
            "β′ = α′ (β/α) exp(−ℓ₁₀), with a minus.",
            lambda a, b, r, v: _gamma(a, b, r, v, sign=1.0),
        ),
        Mistake(
            "ℓ₁₀ and ℓ₂₁ swapped",
            "the ratio Z Z₂/Z₁² has the logarithm ℓ₂₁ − ℓ₁₀.",
            lambda a, b, r, v: _gamma(a, b, r, v, ratio=lambda l10, l21: l10 - l21),
        ),
        Mistake(
            "ℓ₁₀ added",
            "the ratio Z Z₂/Z₁² has the logarithm ℓ₂₁ − ℓ₁₀: Z₁ stands below, twice.",
            lambda a, b, r, v: _gamma(a, b, r, v, ratio=lambda l10, l21: l21 + l10),
        ),
        Mistake(
            "1/α for log1p(1/α)",
            "however large α is, ln(1 + 1/α) is smaller than 1/α by 1/(2α²), and that is half a "
            "step.",
            lambda a, b, r, v: _gamma(a, b, r, v, one=lambda alpha: 1 / alpha),
        ),
        Mistake(
            "expm1 is missing",
            "however large α is, e^t − 1 is larger than t by t²/2, and that is half a step.",
            lambda a, b, r, v: _gamma(a, b, r, v, back=lambda t: t),
        ),
        Mistake(
            "β/α for β/(α−1)",
            "Z has the noise variance β/(α−1); at α + 1 it is β/α.",
            lambda a, b, r, v: _gamma(a, b, r, v, shift=1.0),
        ),
        Mistake(
            "β is not updated",
            "β′ = α′ (β/α) exp(−l₁₀).",
            lambda a, b, r, v: (_gamma(a, b, r, v)[0], b),
        ),
        Mistake(
            "α is not updated",
            "α′ = 1/expm1(ℓ₂₁ − ℓ₁₀ + log1p(1/α)).",
            (
                lambda a, b, r, v: (a, _gamma(a, b, r, v)[1]),
                lambda a, b, r, v: (a, _gamma(a, b, r, v)[1] * a / _gamma(a, b, r, v)[0]),
            ),
        ),
        Mistake(
            "exp(−l₁₀) is missing",
            "β′ = α′ (β/α) exp(−l₁₀).",
            lambda a, b, r, v: _gamma(a, b, r, v, sign=0.0),
        ),
        Mistake(
            "sd for variance",
            "v is the variance of the output already: it is not squared.",
            lambda a, b, r, v: _gamma(a, b, r, v**2),
        ),
        Mistake(
            "the residual is not squared",
            "the ℓ contain r², as log N(y | m, v) does.",
            lambda a, b, r, v: _gamma(a, b, np.sqrt(np.abs(r)), v),
        ),
    ),
    rtol=_STEP,
    compared=_steps,
)


# Exercise 7.7.

_RNG_7_7 = np.random.default_rng(6)


def _score(m: Any, v: Any, alpha: Any, beta: Any, y_mean: Any, y_std: Any, y: Any) -> Any:
    mean, var = m * y_std + y_mean, (v + beta / (alpha - 1)) * y_std**2
    return np.mean(norm.logpdf(y, mean, np.sqrt(var)))


def _test_points(count: int, alpha: float, beta: float, y_mean: float, y_std: float) -> Any:
    y = y_mean + y_std * _RNG_7_7.normal(0.0, 1.3, count)
    outputs = _RNG_7_7.normal(size=count).round(2), _RNG_7_7.uniform(0.1, 1.0, count).round(2)
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
    "7.7",
    "Change: the test log-likelihood in the units of y",
    "7.10",
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


# Exercise 7.8.


def _match(w: Any, prior: Any, likelihood: Any) -> Any:
    tilted = prior * likelihood
    return _with_z(w, tilted, np.trapezoid(tilted, w))


def _with_z(w: Any, tilted: Any, z: Any) -> Any:
    mean = np.trapezoid(w * tilted, w) / z
    return mean, np.trapezoid((w - mean) ** 2 * tilted, w) / z


def _unnormalised(w: Any, prior: Any, likelihood: Any) -> Any:
    mean = np.trapezoid(w * prior * likelihood, w)
    return mean, np.trapezoid((w - mean) ** 2 * prior * likelihood, w)


def _tilts() -> tuple[tuple[Any, ...], ...]:
    """Smooth functions on grids of several steps: there every rule of integration is exact.

    No step can be hard-coded, and neither Simpson's rule nor plain sums differ from the reference.
    """
    a, b, c = (np.linspace(-8, 8, 801), np.linspace(-3, 5, 1201), np.linspace(2, 12, 334))
    return (
        (a, 0.0, 1.0, 1 / (1 + np.exp(-2 * a))),
        (b, 1.0, 0.3, 3.7 / (1 + 5 * (b - 3) ** 2) ** 2),  # a heavy tail: the precision falls
        (c, 7.0, 0.6, np.exp(-2 * (c - 6) ** 2) + 0.4 * np.exp(-3 * (c - 8) ** 2)),
        (a, 0.0, 1.0, 1e-9 / (1 + np.exp(1 - 3 * a))),  # hardly expected: Z is small
    )


def _contributed(moments: Any, m: Any, v: Any) -> Any:
    """Precision and shift that lead from N(m, v) to these moments."""
    mean, var = moments
    return 1 / var - 1 / v, mean / var - m / v


def _normal(w: Any, m: Any, v: Any) -> Any:
    return norm.pdf(w, m, np.sqrt(v))


def _site(w: Any, m: Any, v: Any, likelihood: Any) -> Any:
    return _contributed(_match(w, _normal(w, m, v), likelihood), m, v)


def _with_moments(moments: Any) -> Any:
    """The answer with other moments: those of (w, prior, likelihood)."""
    return lambda w, m, v, f: _contributed(moments(w, _normal(w, m, v), f), m, v)


def _of_site(mistake: Mistake) -> Mistake:
    """A mistake of the moments, of which the prior is then taken away."""
    return replace(mistake, wrong=tuple(_with_moments(face) for face in mistake.faces))


_MOMENTS = (
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
            lambda w, p, f, eps=eps: _with_z(w, p * f, np.trapezoid(p * f, w) + eps) for eps in EPS
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
        "mode for mean",
        "ADF matches the mean; the highest point is the MAP estimate.",
        lambda w, p, f: (w[np.argmax(p * f)], _match(w, p, f)[1]),
    ),
)

SITE = Exercise(
    "7.8",
    "Extend: what one point has contributed",
    "7.2 and 7.9",
    _site,
    _tilts(),
    (
        *map(_of_site, _MOMENTS),
        Mistake(
            "the moments themselves",
            "what did the Gaussian know before the point came?",
            lambda w, m, v, f: _match(w, _normal(w, m, v), f),
        ),
        Mistake(
            "the prior is still in it",
            "a contribution is what came in addition.",
            lambda w, m, v, f: _contributed(_match(w, _normal(w, m, v), f), 0.0, np.inf),
        ),
        Mistake(
            "moments subtracted",
            "means and variances do not add when densities are multiplied; what does?",
            (
                lambda w, m, v, f: tuple(
                    new - old
                    for new, old in zip(_match(w, _normal(w, m, v), f), (m, v), strict=True)
                ),
                lambda w, m, v, f: (
                    _site(w, m, v, f)[0],
                    _match(w, _normal(w, m, v), f)[0] - m,
                ),
            ),
        ),
        Mistake(
            "before less after",
            "the sign is that of what the point adds.",
            lambda w, m, v, f: tuple(-part for part in _site(w, m, v, f)),
        ),
        Mistake(
            "a mean for a shift",
            "the shift is precision times mean: it stays finite where the precision is 0.",
            lambda w, m, v, f: (
                _site(w, m, v, f)[0],
                _site(w, m, v, f)[1] / _site(w, m, v, f)[0],
            ),
        ),
        Mistake(
            "a variance for a precision",
            "the precision may be 0 or negative, where no variance is.",
            lambda w, m, v, f: (1 / _site(w, m, v, f)[0], _site(w, m, v, f)[1]),
        ),
        Mistake(
            "precision and shift swapped",
            "return (precision, shift).",
            lambda w, m, v, f: _site(w, m, v, f)[::-1],
        ),
    ),
)


# Exercise 7.9.


def _cavity(m: Any, v: Any, precision: Any, shift: Any) -> Any:
    rest = 1 / v - precision
    return (m / v - shift) / rest, 1 / rest


CAVITY = Exercise(
    "7.9",
    "Extend: take a factor out",
    "7.8",
    _cavity,
    (
        (_A([0.3]), _A([0.5]), _A([0.8]), _A([0.0])),
        (_A([1.0, -2.0]), _A([0.1, 1.0]), _A([3.0, 0.5]), _A([0.4, -1.0])),
        (_A([-1.7]), _A([0.4]), _A([1.1]), _A([0.9])),
        (_A([0.02]), _A([1e-4]), _A([2e3]), _A([30.0])),
        (_A([2.0]), _A([1e5]), _A([3e-6]), _A([1e-5])),  # what is added to a precision shows
        (_A([0.2, 1.3, -0.6]), _A([2.0, 0.3, 0.7]), _A([0.1, 2.9, 1.2]), _A([-0.5, 1.6, 0.3])),
        (_A([1.0, -0.5]), _A([1.0, 0.4]), _A([-0.5, -0.9]), _A([0.0, 0.3])),  # they made q wider
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
            "a negative precision is refused",
            "a factor may have made q wider: then q is the narrower without it.",
            (
                lambda m, v, p, s: _cavity(m, v, np.maximum(p, 0), s),
                lambda m, v, p, s: _cavity(m, v, np.abs(p), s),
                lambda m, v, p, s: _cavity(m, v, np.maximum(p, 0), s * (p > 0)),
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


# Exercise 7.10.

_TRUE_NOISES = (0.5, 1.0, 3.0)
_TRIALS = (200, 201)  # seeds of the data sets and starts at which a plan is tried
_FACTOR = 1.6  # by which the believed noise may be off; 40 epochs from (6, 6) are off by 4.8
_DOUBT = 0.55  # of the error: 40 epochs leave some 0.9 of it, 200 some 0.3
_PLAN_FAULTS = {"none": 0.0, "no plan": 1.0, "loud": 2.0, "quiet": 3.0, "sure": 4.0}


@lru_cache(maxsize=32)
def _beliefs(alpha: float, beta: float, epochs: int) -> tuple[Any, float]:
    """Believed noise over the true one, for each true noise, and doubt over error among the data.

    Each is the geometric mean of the trials.
    """
    noise, doubt, among = [], [], np.linspace(-0.5, 0.5, 51)[:, None]
    for true in _TRUE_NOISES:
        for seed in _TRIALS:
            data = datasets.sinusoid(n=32, noise_std=true, seed=seed)
            fit = pbp.fit(data.x, data.y, noise_prior=(alpha, beta), epochs=epochs, seed=seed)
            p = fit.predict(among)
            noise.append(fit.noise_std / true)
            doubt.append(p.epistemic_std.mean() / metrics.rmse(data.truth(among)[:, 0], p.mean))
    ratios = np.exp(np.log(noise).reshape(len(_TRUE_NOISES), -1).mean(axis=1))
    return ratios, float(np.exp(np.log(doubt).mean()))


def _planned(answer: Any, _: Any) -> Array:
    """Which fault a plan (α, β, epochs) has."""
    alpha, beta, epochs = answer
    sound = np.isfinite(answer).all() and alpha > 1 and beta > 0 and 1 <= epochs <= 1000
    if not sound or epochs % 1:
        return np.array(_PLAN_FAULTS["no plan"])
    try:
        ratios, doubt = _beliefs(float(alpha), float(beta), int(epochs))
    except DivergedError:
        return np.array(_PLAN_FAULTS["quiet"])
    if ratios.max() > _FACTOR:
        return np.array(_PLAN_FAULTS["loud"])
    if ratios.min() < 1 / _FACTOR:
        return np.array(_PLAN_FAULTS["quiet"])
    return np.array(_PLAN_FAULTS["sure" if doubt < _DOUBT else "none"])


FIND_THE_NOISE = Exercise(
    "7.10",
    "Experiment: find the noise, keep the doubt",
    "7.9 and 7.12",
    lambda n: _A([6.0, 0.2, 40.0]),
    ((32,),),
    (
        Mistake(
            "no plan",
            "return (α, β, epochs) with α > 1, β > 0, and a whole number of epochs from 1 to 1000.",
            lambda n: (1.0, 0.2, 40),
        ),
        Mistake(
            "the noise is believed too large",
            "by more than a factor of 1.6 at one of the true noises: what is not yet learnt counts "
            "as noise. A first guess of the spread of y is a large one.",
            lambda n: (6.0, 6.0, 40),
        ),
        Mistake(
            "the noise is believed too small",
            "by more than a factor of 1.6 at one of the true noises, or the network left the "
            "finite numbers: the first guess may be too small, or too sure.",
            lambda n: (500.0, 0.5, 20),
        ),
        Mistake(
            "the doubt is counted away",
            "the noise is found, but among the data the epistemic sd is below 0.55 of the error "
            "that the mean makes: each epoch counts the data again.",
            lambda n: (6.0, 0.5, 200),
        ),
    ),
    compared=_planned,
)


# Exercise 7.11.


def _log_of_alpha(eps: float, n: int, seed: int) -> tuple[Any, Any]:
    """Points learned and α, 41 times, of the update (7.13) with eps in the denominator of α′.

    The residuals have sd 0.5, and the network's variance falls to a small one.
    """
    rng, alpha, beta, log = np.random.default_rng(seed), 6.0, 6.0, [6.0]
    marks = np.linspace(0, n, 41).astype(int)
    for i, r in enumerate(rng.normal(0.0, 0.5, n)):
        a, b = _gamma(alpha, beta, r, 0.005 + 0.5 / (20.0 + i))
        alpha, beta = 1 / (1 / a + eps), 1 / (1 / b + eps)
        if i + 1 in marks[1:]:
            log.append(alpha)
    return marks.astype(float), _A(log)


def _eps_of(points: Any, alpha: Any) -> Any:
    """From the steps of α: c/2 − eps α², a line in α²."""
    steps, middle = np.diff(alpha) / np.diff(points), 0.5 * (alpha[1:] + alpha[:-1])
    return -np.polyfit(middle**2, steps, 1)[0]


def _all_alike(got: Sequence[Outcome], _: Sequence[Outcome]) -> bool:
    """Whether each log got the same number."""
    first = got[0]
    return isinstance(first, np.ndarray) and all(
        isinstance(o, np.ndarray) and o.size == 1 and o == first for o in got
    )


READ_EPS = Exercise(
    "7.11",
    "Experiment: which eps was it?",
    "7.11",
    _eps_of,
    tuple(
        _log_of_alpha(eps, n, seed)
        for eps, n, seed in ((1e-4, 600, 0), (2e-5, 800, 1), (3e-6, 600, 2), (4e-7, 1200, 3))
    ),
    (
        Mistake(
            "taken to be at rest",
            "this is right where α has come to rest. Draw α beside 6 + points/2: in some of the "
            "logs it is still rising at the end.",
            lambda points, alpha: 0.5 / alpha[-1] ** 2,
        ),
        Mistake(
            "the square is missing",
            "at rest α is a *root*, √(1/(2 eps)), and on the way the step is ½ − eps α².",
            lambda points, alpha: 0.5 / alpha[-1],
        ),
        Mistake(
            "the half is missing",
            "a point counts one half: at rest, eps α² = ½.",
            lambda points, alpha: 1 / alpha[-1] ** 2,
        ),
        Mistake(
            "the same for all",
            "the logs differ: measure each.",
            recognises=_all_alike,
        ),
    ),
    rtol=0.4,
)
