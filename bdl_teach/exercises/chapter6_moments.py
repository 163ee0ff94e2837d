"""Exercises 6.1 to 6.4: log Z, the ADF update, true or false, moments of a ReLU."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from bdl_teach.exercises.engine import Choice, Exercise, Mistake

_A = np.array


def _log_normal(y: Any, m: Any, v: Any) -> Any:
    return -0.5 * (np.log(2 * np.pi * v) + (y - m) ** 2 / v)


LOG_Z = Exercise(
    "6.1",
    "Compute: log Z of one point",
    "6.6",
    lambda y, m, v, a, b: _log_normal(y, m, v + b / (a - 1)),
    (
        (0.7, -0.4, 1.5, 6.0, 6.0),
        (_A([0.6, 0.8, 0.8]), 0.8, _A([0.4, 0.9, 0.1]), 40.0, 2.0),
        (2.0, 2.0, 0.3, 3.0, 0.2),
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
            lambda y, m, v, a, b: _log_normal(y, m, v + a / b),
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
        (0.3, 0.25, 0.63, -0.11),
        (_A([0.0, -1.2]), _A([1.5, 0.4]), _A([0.2, 1.6]), _A([-0.2, 1.0])),
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
    "6.2 and 6.9",
    frozenset("bdf"),
    statements={
        "a": "which of the two arguments of the KL is the approximation, in ADF?",
        "b": "what must a Gaussian do to have the same mean and variance as two peaks?",
        "c": "is the product of the first factors and the prior the same in each order? And once "
        "each product has been projected?",
        "d": "how does ADF know that it has seen a point before?",
        "e": "what else lies between y and the mean of the network?",
        "f": "what does α do at each point?",
    },
)


def _relu(m: Any, v: Any) -> Any:
    s = np.sqrt(v)
    density, above = np.exp(-0.5 * m**2 / v) / np.sqrt(2 * np.pi), ndtr(m / s)
    mean = m * above + s * density
    return mean, (m**2 + v) * above + m * s * density - mean**2


RELU = Exercise(
    "6.4",
    "Compute: a Gaussian through a ReLU",
    "6.5",
    _relu,
    (
        (0.0, 1.0),
        (_A([-1.0, 0.5, 3.0]), _A([1.0, 4.0, 0.25])),
        (2.0, 9.0),
    ),
    (
        Mistake(
            "relu of the mean",
            "the mean of the outputs is not the output of the mean.",
            lambda m, v: (np.maximum(m, 0), _relu(m, v)[1]),
        ),
        Mistake(
            "second moment for variance",
            "subtract the square of the mean.",
            lambda m, v: (_relu(m, v)[0], _relu(m, v)[1] + _relu(m, v)[0] ** 2),
        ),
        Mistake(
            "truncated for rectified",
            "dividing by Φ(α) gives the moments given a > 0; the zeros count, too.",
            recognises=lambda got, want: _is_truncated(got),
        ),
        Mistake(
            "sd for variance",
            "return the variance.",
            lambda m, v: (_relu(m, v)[0], np.sqrt(_relu(m, v)[1])),
        ),
        Mistake(
            "variance for sd",
            "α = m/√v, and √v multiplies φ: the argument v is a variance.",
            lambda m, v: _relu(m, v**2),
        ),
        Mistake(
            "h(α)² for h(α) h(−α)",
            "the bracket of the variance is Φ(α) − h(α) h(−α).",
            lambda m, v: (_relu(m, v)[0], v * ndtr(m / np.sqrt(v)) - _relu(m, v)[0] ** 2),
        ),
        Mistake(
            "the scale is missing",
            "h(α) is for v = 1: the mean takes √v, the variance v.",
            lambda m, v: (_relu(m, v)[0] / np.sqrt(v), _relu(m, v)[1] / v),
        ),
        Mistake(
            "the φ part is missing",
            "m Φ(α) alone is 0 at m = 0, where half of the draws are positive.",
            lambda m, v: (m * ndtr(m / np.sqrt(v)), _relu(m, v)[1]),
        ),
    ),
)


def _is_truncated(got: Any) -> bool:
    """Whether the mean is E[a | a > 0], whatever the variance."""
    for outcome, (m, v) in zip(got, RELU.cases, strict=True):
        if not isinstance(outcome, np.ndarray) or outcome.shape != (2, *np.shape(m)):
            return False
        if not np.allclose(outcome[0], _relu(m, v)[0] / ndtr(m / np.sqrt(v))):
            return False
    return True


EXERCISES: tuple[Exercise, ...] = (LOG_Z, ADF, STATEMENTS, RELU)
