"""Exercises 1.1 to 1.4: likelihood, posterior of one weight, statements, weight decay."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.exercises.engine import Choice, Exercise, Mistake

_A = np.array


def _nll(y: Any, f: Any, s: Any) -> Any:
    return np.sum((y - f) ** 2) / (2 * s**2) + len(y) / 2 * np.log(2 * np.pi * s**2)


NLL = Exercise(
    "1.1",
    "Compute: the negative log likelihood",
    "1.1",
    _nll,
    (
        (_A([0.9, -0.4, 2.0]), _A([1.0, 0.1, 1.2]), 0.5),
        (_A([3.0]), _A([-1.0]), 2.0),
        (_A([0.1, 0.2, 0.3, 0.9]), _A([0.0, 0.0, 0.5, 0.5]), 0.1),
    ),
    (
        Mistake(
            "σ for σ²",
            "s is a standard deviation: square it in both terms.",
            lambda y, f, s: np.sum((y - f) ** 2) / (2 * s) + len(y) / 2 * np.log(2 * np.pi * s),
        ),
        Mistake(
            "the normalising constant is missing",
            "the second term does not depend on w, but it does on s.",
            lambda y, f, s: np.sum((y - f) ** 2) / (2 * s**2),
        ),
        Mistake(
            "the normalising constant counted once",
            "each of the n points brings its own ½ log 2πs².",
            lambda y, f, s: np.sum((y - f) ** 2) / (2 * s**2) + np.log(2 * np.pi * s**2) / 2,
        ),
        Mistake(
            "mean for sum",
            "the likelihood of the data is a product over the points: its logarithm is a sum.",
            lambda y, f, s: _nll(y, f, s) / len(y),
        ),
        Mistake(
            "not summed",
            "one number for all the data is wanted: add over the points.",
            lambda y, f, s: (y - f) ** 2 / (2 * s**2) + np.log(2 * np.pi * s**2) / 2,
        ),
        Mistake(
            "the ½ is missing",
            "the exponent of a Gaussian is −½ (r/s)².",
            lambda y, f, s: np.sum((y - f) ** 2) / s**2 + len(y) / 2 * np.log(2 * np.pi * s**2),
        ),
        Mistake(
            "wrong sign",
            "this is log P(D | w); the *negative* log likelihood is what is minimised.",
            lambda y, f, s: -_nll(y, f, s),
        ),
        Mistake(
            "density for log density",
            "this is P(D | w) itself; take −log.",
            lambda y, f, s: np.exp(-_nll(y, f, s)),
        ),
        Mistake(
            "the ½ of the constant is missing",
            "the constant is ½ log 2πs² a point: half a logarithm of a variance.",
            lambda y, f, s: np.sum((y - f) ** 2) / (2 * s**2) + len(y) * np.log(2 * np.pi * s**2),
        ),
        Mistake(
            "σ for σ² in the constant",
            "the constant contains the variance, s².",
            lambda y, f, s: np.sum((y - f) ** 2) / (2 * s**2) + len(y) / 2 * np.log(2 * np.pi * s),
        ),
        Mistake(
            "the 2π is missing",
            "½ log 2π a point belongs to a density.",
            lambda y, f, s: np.sum((y - f) ** 2) / (2 * s**2) + len(y) * np.log(s),
        ),
        Mistake(
            "the squared error alone",
            "the noise is missing: divide by 2s², and add the constant, which contains s.",
            lambda y, f, s: np.sum((y - f) ** 2),
        ),
        Mistake(
            "the mean squared error",
            "that is Keras' loss; (1.1) is a sum, measured against 2s², with a constant.",
            lambda y, f, s: np.mean((y - f) ** 2),
        ),
        Mistake(
            "residuals not squared",
            "errors of different sign must not cancel.",
            lambda y, f, s: np.sum(y - f) / (2 * s**2) + len(y) / 2 * np.log(2 * np.pi * s**2),
        ),
    ),
)


def _posterior(x: Any, y: Any, s: Any, sigma_p: Any) -> Any:
    precision = x @ x / s**2 + 1 / sigma_p**2
    return np.array([x @ y / s**2 / precision, 1 / np.sqrt(precision)])


POSTERIOR = Exercise(
    "1.2",
    "Compute: the posterior of one weight",
    "1.4",
    _posterior,
    (
        (_A([-1.0, -0.5, 0.5, 1.5]), _A([-0.9, -0.1, 0.5, 1.1]), 0.5, 1.0),
        (_A([2.0]), _A([3.0]), 1.5, 0.7),
        (_A([0.3, 1.1]), _A([-1.0, 0.4]), 0.8, 3.0),
    ),
    (
        Mistake(
            "the prior is missing",
            "this is the likelihood alone: add the prior's precision 1/σ_p².",
            lambda x, y, s, p: _posterior(x, y, s, 1e9),
        ),
        Mistake(
            "prior and noise swapped",
            "the data come with the noise s, the weight with the prior σ_p.",
            lambda x, y, s, p: _posterior(x, y, p, s),
        ),
        Mistake(
            "variance for sd",
            "the second number is a standard deviation: take the root.",
            lambda x, y, s, p: _posterior(x, y, s, p) ** _A([1.0, 2.0]),
        ),
        Mistake(
            "precision for sd",
            "1/s² adds up to the *precision*; the sd is one over its root.",
            lambda x, y, s, p: _posterior(x, y, s, p) ** _A([1.0, -2.0]),
        ),
        Mistake(
            "σ for σ²",
            "precisions are one over *variances*.",
            lambda x, y, s, p: _posterior(x, y, np.sqrt(s), np.sqrt(p)),
        ),
        Mistake(
            "sds added for precisions",
            "information adds up: 1/sd² = Σx²/s² + 1/σ_p².",
            lambda x, y, s, p: _A([_posterior(x, y, s, p)[0], s / np.sqrt(x @ x) + p]),
        ),
        Mistake(
            "mean of maximum likelihood",
            "the sd is right, but the mean must be pulled towards 0 as well.",
            lambda x, y, s, p: _A([x @ y / (x @ x), _posterior(x, y, s, p)[1]]),
        ),
        Mistake(
            "x not squared",
            "a point at large |x| says more about the slope: Σx², not Σ|x| or n.",
            lambda x, y, s, p: _A(
                [x @ y / s**2 / (len(x) / s**2 + 1 / p**2), 1 / np.sqrt(len(x) / s**2 + 1 / p**2)]
            ),
        ),
        Mistake(
            "the noise is missing in the mean",
            "the sd is right; the mean is Σxy/s² over the precision: the s² has been left out.",
            lambda x, y, s, p: _posterior(x, y, s, p) * _A([s**2, 1.0]),
        ),
        Mistake(
            "noise taken as 1",
            "each point counts 1/s², here it counts 1.",
            lambda x, y, s, p: _posterior(x, y, 1.0, p),
        ),
        Mistake(
            "the sd without the prior",
            "the mean is right; the prior's precision 1/σ_p² narrows the posterior as well.",
            lambda x, y, s, p: _A([_posterior(x, y, s, p)[0], s / np.sqrt(x @ x)]),
        ),
        Mistake(
            "sd first",
            "return the mean first, then the sd.",
            lambda x, y, s, p: _posterior(x, y, s, p)[::-1],
        ),
        Mistake(
            "sd of the prediction",
            "the noise on y does not widen the posterior of w.",
            lambda x, y, s, p: _A(
                [_posterior(x, y, s, p)[0], np.hypot(_posterior(x, y, s, p)[1], s)]
            ),
        ),
    ),
)

STATEMENTS = Choice(
    "1.3",
    "Explain: true or false",
    "1.5 and 1.6",
    frozenset("bdf"),
    statements={
        "a": "what does the noise do when you know the weights exactly?",
        "b": "compare the law of total variance with what the plug-in leaves out.",
        "c": "a straight line through a sine: how wide is its band after a million points?",
        "d": "multiply the one-step-ahead predictive densities.",
        "e": "what happens to the training error as features are added, and to the evidence?",
        "f": "where does the posterior predictive put the functions that the data do not exclude?",
    },
)


def _decay(s: Any, sigma_p: Any, n: Any) -> Any:
    return s**2 / (n * sigma_p**2)


WEIGHT_DECAY = Exercise(
    "1.4",
    "Change: a prior for Keras",
    "1.2",
    _decay,
    ((0.5, 1.0, 4), (2.0, 0.3, 100), (0.1, 3.0, 32)),
    (
        Mistake(
            "missing 1/N",
            "Keras averages the squared errors over N points: so must the penalty be.",
            lambda s, p, n: s**2 / p**2,
        ),
        Mistake(
            "upside down",
            "a wide prior is a weak penalty: σ_p stands below.",
            lambda s, p, n: p**2 / (n * s**2),
        ),
        Mistake(
            "σ for σ²",
            "both are variances in the objective.",
            lambda s, p, n: s / (n * p),
        ),
        Mistake(
            "upside down, and missing 1/N",
            "a wide prior is a weak penalty; and Keras averages over the N points.",
            lambda s, p, n: p**2 / s**2,
        ),
        Mistake(
            "half of it",
            "multiply (1.4) by 2s²/N: the ½ of the prior goes too.",
            lambda s, p, n: s**2 / (2 * n * p**2),
        ),
        Mistake(
            "twice it",
            "Keras' mean of squares has no ½ before it, and neither has λ w².",
            lambda s, p, n: 2 * s**2 / (n * p**2),
        ),
        Mistake(
            "the noise is missing",
            "1/2σ_p² goes with a sum of squares that is divided by 2s²; Keras does not divide.",
            lambda s, p, n: 1 / (2 * p**2),
        ),
        Mistake(
            "the noise and the 1/N are missing",
            "multiply (1.4) by 2s²/N, so that the first term is Keras' mean of squares.",
            lambda s, p, n: 1 / p**2,
        ),
        Mistake(
            "half of it, and missing 1/N",
            "multiply (1.4) by 2s²/N: the ½ of the prior goes too.",
            lambda s, p, n: s**2 / (2 * p**2),
        ),
        Mistake(
            "the noise is missing, the 1/N is there",
            "the penalty is measured against the noise: loud data weigh less.",
            lambda s, p, n: 1 / (n * p**2),
        ),
        Mistake(
            "N times too large", "divide by N, do not multiply.", lambda s, p, n: n * s**2 / p**2
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (NLL, POSTERIOR, STATEMENTS, WEIGHT_DECAY)
