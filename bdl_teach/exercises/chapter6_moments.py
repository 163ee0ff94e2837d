"""Exercises 6.1 to 6.4: log Z, the ADF update, true or false, moments of a ReLU."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from bdl_teach.exercises._engine import Choice, Exercise, Mistake

_A = np.array
_EPS = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)  # what programs add below a line


def _log_normal(y: Any, m: Any, v: Any) -> Any:
    return -0.5 * (np.log(2 * np.pi * v) + (y - m) ** 2 / v)


LOG_Z = Exercise(
    "6.1",
    "Compute: log Z of one point",
    "6.6 and 6.7",
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
                for eps in _EPS
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
                for eps in _EPS[:4]
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


def _adf(m: Any, v: Any, gm: Any, gv: Any) -> Any:
    return m + v * gm, v - v**2 * (gm**2 - 2 * gv)


ADF = Exercise(
    "6.2",
    "Compute: one ADF update",
    "6.3",
    _adf,
    (
        (_A([0.3]), _A([0.25]), _A([0.63]), _A([-0.11])),
        (_A([0.0, -1.2]), _A([1.5, 0.4]), _A([0.2, 1.6]), _A([-0.2, 1.0])),
        (_A([-0.8]), _A([0.7]), _A([-0.4]), _A([0.9])),  # a heavy tail: a far point widens
        (_A([0.4, 2.1, -0.6]), _A([0.3, 1.2, 2.1]), _A([0.5, -0.3, 0.1]), _A([0.4, 0.6, -0.1])),
        (_A([0.2, -1.0]), _A([2e-7, 3e-5]), _A([300.0, -41.0]), _A([-1e4, 600.0])),  # sure weights
        (_A([1.0]), _A([9.0]), _A([1.1]), _A([0.6])),  # an unsure one makes a long step
    ),
    (
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
            "never wider",
            "a surprising point may widen the Gaussian: where the bracket is negative, v grows.",
            (
                lambda m, v, gm, gv: (m + v * gm, v - v**2 * np.maximum(gm**2 - 2 * gv, 0)),
                lambda m, v, gm, gv: (m + v * gm, v - v**2 * np.abs(gm**2 - 2 * gv)),
            ),
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
    ),
)

STATEMENTS = Choice(
    "6.3",
    "Explain: true or false",
    "6.2, 6.7, 6.9 and 6.10",
    frozenset("bdf"),
    statements={
        "a": "which of the two arguments of the KL is the approximation, in ADF (section 6.2)?",
        "b": "how does a Gaussian get the mean and the variance of two peaks (section 6.2)?",
        "c": "is what is thrown away after each point the same in each order (section 6.9)?",
        "d": "how does ADF know that it has seen a point before (section 6.9)?",
        "e": "what else lies between y and the mean of the network (section 6.10)?",
        "f": "what does α do at each point (section 6.7)?",
    },
)


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


RELU = Exercise(
    "6.4",
    "Compute: a Gaussian through a ReLU",
    "6.5",
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
                for eps in _EPS
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


def _with_density(m: Any, v: Any, factor: float) -> Any:
    """The moments with another factor than 1/√(2π) in φ."""
    phi, above = factor * np.exp(-0.5 * m**2 / v), ndtr(m / np.sqrt(v))
    mean = m * above + np.sqrt(v) * phi
    return mean, (m**2 + v) * above + m * np.sqrt(v) * phi - mean**2


EXERCISES: tuple[Exercise, ...] = (LOG_Z, ADF, STATEMENTS, RELU)
