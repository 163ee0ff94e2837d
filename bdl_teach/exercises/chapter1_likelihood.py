"""Exercises 1.1 to 1.4: likelihood, posterior of one weight, statements, weight decay."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.exercises._engine import Choice, Exercise, Mistake
from bdl_teach.exercises._faces import BASES, TINY

_A = np.array
_RNG = np.random.default_rng(11)


def _nll(y: Any, f: Any, s: Any) -> Any:
    return np.sum((y - f) ** 2) / (2 * s**2) + len(y) / 2 * np.log(2 * np.pi * s**2)


def _densities(y: Any, f: Any, s: Any) -> Any:
    return np.exp(-0.5 * ((y - f) / s) ** 2) / (s * np.sqrt(2 * np.pi))


NLL = Exercise(
    "1.1",
    "Compute: the negative log likelihood",
    "1.1",
    _nll,
    (
        (_A([0.9, -0.4, 2.0]), _A([1.0, 0.1, 1.2]), 0.5),
        (_A([3.0]), _A([-1.0]), 2.0),
        (_A([0.1, 0.2, 0.3, 0.9]), _A([0.0, 0.0, 0.5, 0.5]), 0.1),
        (_A([1.0, -1.5]), _A([2.2, -2.7]), 0.7),  # the residuals sum to 0
        (_A([0.004, -0.002, 0.011]), _A([0.001, 0.006, 0.003]), 0.003),
        (_RNG.normal(0.0, 40.0, 7), _RNG.normal(0.0, 40.0, 7), 31.0),
        (_A([0.3, 60.0]), _A([0.1, -40.0]), 0.8),  # an outlier: its density is 0
        (_RNG.normal(0.0, 2.0, 900), np.zeros(900), 1.9),  # the product of the densities is 0
    ),
    (
        Mistake(
            "σ² for σ",
            "s is a standard deviation: it is squared once. The scale of a normal distribution is "
            "s itself.",
            lambda y, f, s: _nll(y, f, s**2),
        ),
        Mistake(
            "underflow",
            "right for a few points near the outputs; but the density of a far one, and the "
            "product of hundreds, are 0 in floating point: add logarithms of densities, with the "
            "square written out.",
            (
                lambda y, f, s: -np.log(np.prod(_densities(y, f, s))),
                lambda y, f, s: -np.sum(np.log(_densities(y, f, s))),
            ),
        ),
        Mistake(
            "a small number added",
            "it hides that the density of a far point is 0 in floating point, and makes its "
            "cost far too small: write the logarithm of a Gaussian out.",
            (
                *(lambda y, f, s, t=t: -np.sum(np.log(_densities(y, f, s) + t)) for t in TINY),
                *(
                    lambda y, f, s, t=t: -np.sum(np.log(np.maximum(_densities(y, f, s), t)))
                    for t in TINY
                ),
            ),
        ),
        Mistake(
            "σ for σ²",
            "s is a standard deviation: square it in both terms.",
            lambda y, f, s: np.sum((y - f) ** 2) / (2 * s) + len(y) / 2 * np.log(2 * np.pi * s),
        ),
        Mistake(
            "σ for σ² in the exponent",
            "the squares are divided by twice the *variance*, 2s².",
            lambda y, f, s: np.sum((y - f) ** 2) / (2 * s) + len(y) / 2 * np.log(2 * np.pi * s**2),
        ),
        Mistake(
            "another logarithm",
            "nats belong to the natural logarithm, np.log.",
            (
                *(lambda y, f, s, b=b: _nll(y, f, s) / b for b in BASES),
                *(
                    lambda y, f, s, b=b: (
                        np.sum((y - f) ** 2) / (2 * s**2)
                        + len(y) / 2 * np.log(2 * np.pi * s**2) / b
                    )
                    for b in BASES
                ),
            ),
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
            "mean for sum in the first term",
            "(1.1) adds the squares up; the second term has its n already.",
            lambda y, f, s: (
                np.mean((y - f) ** 2) / (2 * s**2) + len(y) / 2 * np.log(2 * np.pi * s**2)
            ),
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
            "wrong sign of the constant",
            "a wide Gaussian is low everywhere: a larger s costs ½ log 2πs² a point.",
            lambda y, f, s: (
                np.sum((y - f) ** 2) / (2 * s**2) - len(y) / 2 * np.log(2 * np.pi * s**2)
            ),
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
        Mistake(
            "absolute residuals",
            "|r| belongs to a Laplace distribution; the Gaussian has r².",
            lambda y, f, s: (
                np.sum(np.abs(y - f)) / (2 * s**2) + len(y) / 2 * np.log(2 * np.pi * s**2)
            ),
        ),
    ),
)


def _posterior(x: Any, y: Any, s: Any, sigma_p: Any) -> Any:
    precision = x @ x / s**2 + 1 / sigma_p**2
    return np.array([x @ y / s**2 / precision, 1 / np.sqrt(precision)])


def _with_moments(squares: Any) -> Any:
    """The posterior with something else in the place of Σx²."""

    def wrong(x: Any, y: Any, s: Any, sigma_p: Any) -> Any:
        precision = squares(x) / s**2 + 1 / sigma_p**2
        return np.array([x @ y / s**2 / precision, 1 / np.sqrt(precision)])

    return wrong


POSTERIOR = Exercise(
    "1.2",
    "Compute: the posterior of one weight",
    "1.4",
    lambda x, y, s, sigma_p: tuple(_posterior(x, y, s, sigma_p)),
    (
        (_A([-1.0, -0.5, 0.5, 1.5]), _A([-0.9, -0.1, 0.5, 1.1]), 0.5, 1.0),
        (_A([2.0]), _A([3.0]), 1.5, 0.7),
        (_A([0.3, 1.1]), _A([-1.0, 0.4]), 0.8, 3.0),
        (_A([0.7, -2.1, 0.4]), _A([1.3, 0.2, -3.0]), 2.3, 0.06),
        (_A([1.0, -2.0]), _A([0.01, 0.03]), 0.02, 0.004),
        (_A([0.013, -0.02, 0.031, 0.008]), _A([0.002, 0.001, 0.006, -0.003]), 0.004, 0.15),
        (_RNG.normal(0.0, 30.0, 7), _RNG.normal(5.0, 900.0, 7), 700.0, 24.0),
    ),
    (
        Mistake(
            "the prior is missing",
            "this is the likelihood alone: add the prior's precision 1/σ_p².",
            lambda x, y, s, p: _posterior(x, y, s, np.inf),
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
            "root of the precision for sd",
            "the sd is one over it.",
            lambda x, y, s, p: _posterior(x, y, s, p) ** _A([1.0, -1.0]),
        ),
        Mistake(
            "σ for σ²",
            "precisions are one over *variances*.",
            lambda x, y, s, p: _posterior(x, y, np.sqrt(s), np.sqrt(p)),
        ),
        Mistake(
            "s not squared",
            "each point brings x²/s²: a variance below, wherever s stands.",
            lambda x, y, s, p: _posterior(x, y, np.sqrt(s), p),
        ),
        Mistake(
            "σ_p not squared",
            "the prior's precision is 1/σ_p².",
            lambda x, y, s, p: _posterior(x, y, s, np.sqrt(p)),
        ),
        Mistake(
            "the prior's variance for its precision",
            "a narrow prior holds the weight: add 1/σ_p², not σ_p².",
            lambda x, y, s, p: _posterior(x, y, s, 1 / p),
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
            "a point at large |x| says more about the slope: Σx², not Σ|x|, n or (Σx)².",
            (
                _with_moments(len),
                _with_moments(lambda x: np.abs(x).sum()),
                _with_moments(lambda x: x.sum() ** 2),
            ),
        ),
        Mistake(
            "means for sums",
            "every point adds to the precision: Σx² and Σxy are sums.",
            lambda x, y, s, p: _posterior(x, y, s * np.sqrt(len(x)), p),
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
    "1.5, 1.6 and 1.9",
    frozenset("bdf"),
    statements={
        "a": "what does the noise do when you know the weights exactly? (1.11) in section 1.5.",
        "b": "compare (1.11) in section 1.5 with what the plug-in leaves out.",
        "c": "a straight line through a sine: how wide is its band after a million points? See "
        '"Features and their kind" in section 1.9.',
        "d": "(1.17) in section 1.6: a sum of logarithms is the logarithm of a product.",
        "e": "what happens to the training error as features are added, and to the evidence? "
        "See the figure of section 1.6.",
        "f": "where do the draws of section 1.4 part, and where is the band of section 1.5 wide?",
    },
)


def _decay(s: Any, sigma_p: Any, n: Any) -> Any:
    return s**2 / (n * sigma_p**2)


WEIGHT_DECAY = Exercise(
    "1.4",
    "Change: a prior for Keras",
    "1.2",
    _decay,
    (
        (0.5, 1.0, 4),
        (2.0, 0.3, 100),
        (0.1, 3.0, 32),
        (0.37, 1.9, 1),
        (3.1, 0.004, 53),
        (0.003, 0.45, 7),
        (0.02, 0.003, 1),
    ),
    (
        Mistake(
            "missing 1/N",
            "Keras averages the squared errors over N points: so must the penalty be.",
            lambda s, p, n: s**2 / p**2,
        ),
        Mistake(
            "upside down",
            "a wide prior is a weak penalty: σ_p stands below.",
            (lambda s, p, n: p**2 / (n * s**2), lambda s, p, n: n * p**2 / s**2),
        ),
        Mistake(
            "σ for σ²",
            "both are variances in the objective.",
            lambda s, p, n: s / (n * p),
        ),
        Mistake(
            "s not squared",
            "(1.4) is multiplied by 2s²/N: the noise enters as a variance.",
            lambda s, p, n: s / (n * p**2),
        ),
        Mistake(
            "σ_p not squared",
            "the prior enters (1.5) as σ_p², a variance.",
            lambda s, p, n: s**2 / (n * p),
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
            "twice it, and missing 1/N",
            "Keras' mean of squares has no ½ before it; and it is a mean over N points.",
            lambda s, p, n: 2 * s**2 / p**2,
        ),
        Mistake(
            "the factor 2s²/N is missing",
            "1/2σ_p² is the prior's part of (1.4); Keras' objective is (1.4) times 2s²/N.",
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
            "the penalty is measured against the noise: the louder the data, the larger λ.",
            lambda s, p, n: 1 / (n * p**2),
        ),
        Mistake(
            "the factor 2s² is missing",
            "the 1/N is there; but (1.4) divides the squares by 2s², and Keras does not: the "
            "prior's part is multiplied by it as well.",
            lambda s, p, n: 1 / (2 * n * p**2),
        ),
        Mistake(
            "N times for 1/N", "divide by N, do not multiply.", lambda s, p, n: n * s**2 / p**2
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (NLL, POSTERIOR, STATEMENTS, WEIGHT_DECAY)
