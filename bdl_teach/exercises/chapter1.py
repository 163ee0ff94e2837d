"""Exercises of chapter 1: from maximum likelihood to Bayes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import expit, log_expit, logsumexp, rel_entr, softmax

from bdl_teach import datasets, features
from bdl_teach._support.checks import Array
from bdl_teach.exercises import _normal as norm
from bdl_teach.exercises._engine import Choice, Exercise, Mistake, Outcome
from bdl_teach.exercises._faces import BASES, NOT_LARGEST, TINY
from bdl_teach.methods import exact

_A = np.array

# Exercise 1.1.

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


# Exercise 1.2.


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


# Exercise 1.3.

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
        "d": "(1.17) holds in both orders: which side of it knows of none? See section 1.6.",
        "e": "what happens to the training error as features are added, and to the evidence? "
        "See the figure of section 1.6.",
        "f": "where do the draws of section 1.4 part, and where is the band of section 1.5 wide?",
    },
)


# Exercise 1.4.


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


# Exercise 1.5.


def _mixed(each: Any, log_weights: Any) -> Any:
    """Logarithm of Σ_t a_t p_t / Σ_t a_t, from those of densities and weights."""
    return logsumexp(each + log_weights) - logsumexp(log_weights)


def _log_predictive(y: Any, f: Any, s: Any, log_weights: Any) -> Any:
    return _mixed(norm.logpdf(y, f, s), log_weights)


def _above(values: Any, top: Any) -> Any:
    """Logarithm of Σ e^v, with ``top`` taken out."""
    return top + np.log(np.sum(np.exp(values - top)))


def _taken_out(out: Any, of_weights: Any = np.max) -> Any:
    """The answer with something else taken out of the terms, and of the weights."""

    def answer(y: Any, f: Any, s: Any, log_weights: Any) -> Any:
        each = norm.logpdf(y, f, s) + log_weights
        return _above(each, out(each)) - _above(log_weights, of_weights(log_weights))

    return answer


def _mean_density(y: Any, f: Any, s: Any, log_weights: Any) -> Any:
    return norm.pdf(y, f, s) @ np.exp(log_weights - logsumexp(log_weights))


def _weighted_mean(f: Any, log_weights: Any) -> Any:
    return f @ np.exp(log_weights - logsumexp(log_weights))


PREDICTIVE = Exercise(
    "1.5",
    "Change: a log predictive density from weighted draws",
    "1.5",
    _log_predictive,
    (
        (1.0, _A([0.2, 0.9, 1.5, -0.3]), 0.5, _A([-1.0, 0.5, 0.3, -2.0])),
        (-2.0, _A([-1.0, 1.0]), 1.2, _A([0.7, 1.6])),
        (0.7, _A([-0.4]), 2.3, _A([3.0])),  # one draw: its weight does not matter
        (0.01, _A([0.012, 0.004, 0.007]), 0.002, _A([-3.0, 0.0, -1.0])),
        (9.0, _A([1.1, 0.3, -0.8, 1.0, 0.2, -2.0, 0.95]), 0.6, _A([0.1, 2, -1, 0.4, 1, 3, -2])),
        (60.0, _A([0.0, 3.0, 5.0]), 1.0, _A([9.0, 1.0, -4.0])),  # all densities are 0
        (0.5, _A([0.1, 0.8, 2.0]), 0.7, _A([-1001.0, -1000.0, -1003.0])),  # and all weights
        (0.5, _A([0.1, 0.8, 2.0]), 0.7, _A([804.0, 802.0, 805.0])),
        (-70.0, _A([1.0, 1.02, 0.98, 4.0]), 1.7, _A([-2.0, 0.0, 1.0, 60.0])),
        (0.0, _A([60.0, 0.0, 100.0]), 1.0, _A([0.2, 0.0, -0.3])),  # one draw has it all
    ),
    (
        Mistake(
            "underflow",
            "right near the draws, but far from them every density is 0 and its logarithm −∞: "
            "add in logarithms, with scipy.special.logsumexp.",
            (
                lambda y, f, s, a: np.log(_mean_density(y, f, s, a)),
                lambda y, f, s, a: np.log(norm.pdf(y, f, s) @ np.exp(a) / np.sum(np.exp(a))),
                lambda y, f, s, a: np.log(np.average(norm.pdf(y, f, s), weights=np.exp(a))),
            ),
            breaks=True,
        ),
        Mistake(
            "the weights underflow",
            "a logarithm of −1000 is no number above 0: normalise in logarithms, too.",
            (
                lambda y, f, s, a: logsumexp(norm.logpdf(y, f, s) + a) - np.log(np.sum(np.exp(a))),
                lambda y, f, s, a: logsumexp(
                    norm.logpdf(y, f, s) + np.log(np.exp(a) / np.sum(np.exp(a)))
                ),
                lambda y, f, s, a: logsumexp(norm.logpdf(y, f, s), b=np.exp(a) / np.exp(a).sum()),
            ),
            breaks=True,
        ),
        Mistake(
            "a small number added",
            "it hides that the densities are 0 in floating point, and makes the score far too "
            "good: add in logarithms, with scipy.special.logsumexp.",
            tuple(lambda y, f, s, a, t=t: np.log(_mean_density(y, f, s, a) + t) for t in TINY),
        ),
        Mistake(
            "not the largest taken out",
            "a term far above the one that is taken out overflows, and one far below counts for "
            "nothing anyway: take out the maximum.",
            tuple(
                _taken_out(out, of_weights) for out in NOT_LARGEST for of_weights in (out, np.max)
            ),
        ),
        Mistake(
            "the weights are ignored",
            "(1.12) is for draws that all count the same; here they do not.",
            lambda y, f, s, a: _log_predictive(y, f, s, 0 * f),
        ),
        Mistake(
            "the weights do not sum to 1",
            "a mean divides by the sum of its weights.",
            lambda y, f, s, a: logsumexp(norm.logpdf(y, f, s) + a),
        ),
        Mistake(
            "divided by T",
            "with equal weights their sum would be T; here it is another number.",
            lambda y, f, s, a: logsumexp(norm.logpdf(y, f, s) + a) - np.log(len(f)),
        ),
        Mistake(
            "divided by T as well",
            "a mean divides by the sum of its weights, and by nothing else.",
            lambda y, f, s, a: _log_predictive(y, f, s, a) - np.log(len(f)),
        ),
        Mistake(
            "logarithms for weights",
            "`log_weights` are logarithms of the weights.",
            (
                lambda y, f, s, a: logsumexp(norm.logpdf(y, f, s), b=a / np.sum(a)),
                lambda y, f, s, a: np.log(norm.pdf(y, f, s) @ a / np.sum(a)),
            ),
            breaks=True,
        ),
        Mistake(
            "only the heaviest draw",
            "average over all draws: one term is not the sum.",
            lambda y, f, s, a: norm.logpdf(y, f[np.argmax(a)], s),
        ),
        Mistake(
            "only the largest term",
            "average over all draws: one term is not the sum.",
            lambda y, f, s, a: np.max(norm.logpdf(y, f, s) + a) - logsumexp(a),
        ),
        Mistake(
            "mean of logarithms",
            "average the *densities*, then take the logarithm; the other order is never larger.",
            lambda y, f, s, a: _weighted_mean(norm.logpdf(y, f, s), a),
        ),
        Mistake(
            "another logarithm",
            "nats belong to the natural logarithm, np.log.",
            tuple(lambda y, f, s, a, b=b: _log_predictive(y, f, s, a) / b for b in BASES),
        ),
        Mistake(
            "the normalising constant is missing",
            "a density carries −log s − ½ log 2π as well.",
            lambda y, f, s, a: _mixed(-0.5 * ((y - f) / s) ** 2, a),
        ),
        Mistake(
            "the 2π is missing",
            "−½ log 2π belongs to a density.",
            lambda y, f, s, a: _log_predictive(y, f, s, a) + 0.5 * np.log(2 * np.pi),
        ),
        Mistake(
            "−log s is missing",
            "a narrow Gaussian is high: its density is divided by s.",
            lambda y, f, s, a: _log_predictive(y, f, s, a) + np.log(s),
        ),
        Mistake(
            "the ½ is missing",
            "the exponent of a Gaussian is −½ (r/s)².",
            lambda y, f, s, a: _log_predictive(y, f, s / np.sqrt(2), a) - 0.5 * np.log(2),
        ),
        Mistake(
            "plug-in",
            "this is the density around the mean function; it forgets that the draws disagree.",
            lambda y, f, s, a: norm.logpdf(y, _weighted_mean(f, a), s),
        ),
        Mistake(
            "one Gaussian for the mixture",
            "matching mean and variance is close, but the average of Gaussians is no Gaussian.",
            lambda y, f, s, a: norm.logpdf(
                y,
                _weighted_mean(f, a),
                np.sqrt(_weighted_mean((f - _weighted_mean(f, a)) ** 2, a) + s**2),
            ),
        ),
        Mistake(
            "density for log density",
            "take the logarithm.",
            lambda y, f, s, a: np.exp(_log_predictive(y, f, s, a)),
        ),
        Mistake(
            "one for each draw",
            "one number is wanted: average the densities over the draws.",
            lambda y, f, s, a: norm.logpdf(y, f, s),
        ),
        Mistake(
            "σ² for σ",
            "the noise is given as a standard deviation.",
            lambda y, f, s, a: _log_predictive(y, f, s**2, a),
        ),
        Mistake(
            "σ for σ²",
            "divide by s twice in the exponent.",
            (
                lambda y, f, s, a: _log_predictive(y, f, np.sqrt(s), a),
                lambda y, f, s, a: _log_predictive(y, f, np.sqrt(s), a) - 0.5 * np.log(s),
            ),
        ),
        Mistake(
            "wrong sign",
            "the log density, not −log.",
            lambda y, f, s, a: -_log_predictive(y, f, s, a),
        ),
    ),
)


# Exercise 1.6.


def _kl(a: Any, b: Any) -> Any:
    log_q, log_p = a - logsumexp(a), b - logsumexp(b)
    return np.sum(np.exp(log_q) * (log_q - log_p))


def _naive(q: Any, p: Any) -> Any:
    return np.sum(q * np.log(q / p))


def _of_tables(q: Any, p: Any) -> Any:
    """KL[q ‖ p] with what becomes of probabilities that round to 0."""
    return np.sum(rel_entr(q, p))


def _cut(q: Any, p: Any) -> Any:
    """The same without the terms that are infinite."""
    inside = (q > 0) & (p > 0)
    return np.sum(rel_entr(q[inside], p[inside]))


_LOGITS = (
    (_A([0.2, -0.5, 1.3]), _A([0.25, 0.25, -0.5])),
    (_A([0.7, 0.1, -2.1, 3.1]), _A([1.1, 0.2, 0.3, -0.4])),
    (_A([0.9, 0.0, -40.0, 1.0]), _A([0.5, -30.0, 0.4, 0.1])),
    (_A([2.0, 0.0, -1.0]), _A([400.0, -500.0, 30.0])),  # p rounds to 0, and the KL is finite
    (_A([-800.0, 900.0]), _A([0.3, -0.2])),  # e^900 is no number
    (_A([-1000.0, -1001.0, -1003.0]), _A([-1002.0, -1000.0, -1001.0])),  # nor is e^−1000 above 0
    (_A([1.0, 1001.0]), _A([1000.0, 0.0])),
    (_A([0.4, -0.4]), _A([5.4, 4.2])),  # nearly the same
    (_A([0.3, 1.2, 0.6]), _A([0.9, 0.4, 0.1])),  # no logit below 0
)


KL_TABLE = Exercise(
    "1.6",
    "Break: a KL of two that are sure",
    "1.8",
    _kl,
    _LOGITS,
    (
        Mistake(
            "overflow, or underflow",
            "right for small logits; but e^900 is no number, and a probability that rounds to 0 "
            "has no logarithm: normalise in logarithms, with scipy.special.logsumexp.",
            (
                lambda a, b: _of_tables(np.exp(a) / np.exp(a).sum(), np.exp(b) / np.exp(b).sum()),
                lambda a, b: _naive(np.exp(a) / np.exp(a).sum(), np.exp(b) / np.exp(b).sum()),
                lambda a, b: _of_tables(softmax(a), softmax(b)),
                lambda a, b: _naive(softmax(a), softmax(b)),
                lambda a, b: (
                    np.sum(np.exp(a) / np.exp(a).sum() * (a - b - np.log(np.exp(a).sum())))
                    + np.log(np.exp(b).sum())
                ),
            ),
            breaks=True,
        ),
        Mistake(
            "infinity taken away",
            "a term that is infinite in floating point is a large number here: normalise in "
            "logarithms.",
            (
                lambda a, b: _cut(softmax(a), softmax(b)),
                lambda a, b: np.nan_to_num(_of_tables(softmax(a), softmax(b))),
            ),
        ),
        Mistake(
            "a small number added, or clipped",
            "it puts a limit to what is large, and shifts the rest: a logarithm of e^b needs no "
            "e^b.",
            (
                *(lambda a, b, t=t: _naive(softmax(a) + t, softmax(b) + t) for t in TINY),
                *(lambda a, b, t=t: _of_tables(softmax(a), softmax(b) + t) for t in TINY),
                *(
                    lambda a, b, t=t: np.sum(
                        softmax(a) * np.log((softmax(a) + t) / (softmax(b) + t))
                    )
                    for t in TINY
                ),
                *(
                    lambda a, b, t=t: _naive(np.maximum(softmax(a), t), np.maximum(softmax(b), t))
                    for t in TINY
                ),
                *(
                    lambda a, b, t=t: _kl(np.clip(a, -t, t), np.clip(b, -t, t))
                    for t in (10, 20, 30, 50, 80, 100, 500, 700)
                ),
            ),
        ),
        Mistake(
            "KL reversed",
            "this is KL[p ‖ q]: the average is over the first argument.",
            lambda a, b: _kl(b, a),
        ),
        Mistake(
            "not normalised",
            "a logit is a log probability up to a constant, and the two constants differ.",
            lambda a, b: np.sum(softmax(a) * (a - b)),
        ),
        Mistake(
            "logits for probabilities",
            "a logit may be any number: e^a, divided by the sum of all of them, is a probability.",
            (lambda a, b: np.sum(a * np.log(a / b)), lambda a, b: _of_tables(a, b)),
            breaks=True,
        ),
        Mistake(
            "sigmoids for the softmax",
            "the probabilities of the classes sum to 1: each depends on all logits.",
            (
                lambda a, b: _of_tables(expit(a), expit(b)),
                lambda a, b: np.sum(expit(a) * (log_expit(a) - log_expit(b))),
            ),
            breaks=True,
        ),
        Mistake(
            "another logarithm",
            "use the natural logarithm: nats.",
            tuple(lambda a, b, base=base: _kl(a, b) / base for base in BASES),
        ),
        Mistake("wrong sign", "a KL is never negative.", lambda a, b: -_kl(a, b)),
        Mistake(
            "cross-entropy",
            "this is −Σ q log p; the entropy of q is missing.",
            lambda a, b: -np.sum(softmax(a) * (b - logsumexp(b))),
        ),
        Mistake(
            "mean for sum",
            "q is the weight of each term already.",
            lambda a, b: _kl(a, b) / len(a),
        ),
        Mistake(
            "not summed",
            "one number is wanted: add the terms.",
            lambda a, b: softmax(a) * (a - logsumexp(a) - b + logsumexp(b)),
        ),
        Mistake(
            "the weights are missing",
            "the average is over q: each log(q/p) is multiplied by its q.",
            (
                lambda a, b: np.sum(a - logsumexp(a) - b + logsumexp(b)),
                lambda a, b: np.mean(a - logsumexp(a) - b + logsumexp(b)),
            ),
        ),
    ),
)


# Exercise 1.7.

_RNG_1_7 = np.random.default_rng(1)


def _cov(phi: Any, s: Any, c: Any) -> Any:
    return (phi * c**2) @ phi.T + s**2 * np.eye(len(phi))


def _misfit(cov: Any, y: Any) -> Any:
    return -0.5 * y @ np.linalg.solve(cov, y)


def _log_density(cov: Any, y: Any) -> Any:
    """Log N(y | 0, cov)."""
    return _misfit(cov, y) - 0.5 * np.linalg.slogdet(cov)[1] - len(y) / 2 * np.log(2 * np.pi)


def _by_determinant(cov: Any, y: Any) -> Any:
    return _misfit(cov, y) - 0.5 * np.log(np.linalg.det(cov)) - len(y) / 2 * np.log(2 * np.pi)


def _log_evidence(phi: Any, y: Any, noise_std: Any, candidates: Any) -> Array:
    return np.array([_log_density(_cov(phi, noise_std, c), y) for c in candidates])


def _posterior_of_all(phi: Any, y: Any, s: Any, c: Any) -> Any:
    """Mean and precision of the weights."""
    precision = phi.T @ phi / s**2 + np.eye(phi.shape[1]) / c**2
    return np.linalg.solve(precision, phi.T @ y / s**2), precision


def _plug_in(phi: Any, y: Any, s: Any, c: Any) -> Any:
    return _log_density(s**2 * np.eye(len(y)), y - phi @ _posterior_of_all(phi, y, s, c)[0])


def _joint(phi: Any, y: Any, s: Any, c: Any) -> Any:
    w = _posterior_of_all(phi, y, s, c)[0]
    return _plug_in(phi, y, s, c) + _log_density(c**2 * np.eye(len(w)), w)


def _each(function: Any) -> Any:
    """The array over the candidates of a function of (phi, y, noise_std, one candidate)."""
    return lambda phi, y, s, candidates: np.array([function(phi, y, s, c) for c in candidates])


_MANY = _RNG_1_7.normal(size=(90, 3))
_WIDTHS = _RNG_1_7.gamma(2.0, 1.0, (3, 6))
_TINY_WIDTHS = _A([[0.001, 0.002, 0.004], [0.003, 0.0005, 0.001]])

EVIDENCE = Exercise(
    "1.7",
    "Extend: a prior width for each weight",
    "1.6",
    _log_evidence,
    (
        (_RNG_1_7.normal(size=(5, 2)), _RNG_1_7.normal(size=5), 0.5, _A([[0.1, 1.0], [3.0, 0.3]])),
        (
            _RNG_1_7.normal(size=(4, 6)),
            3 * _RNG_1_7.normal(size=4),
            1.5,
            _RNG_1_7.gamma(2.0, 1.0, (3, 6)),
        ),
        (np.ones((1, 1)), _A([2.0]), 1.2, _A([[0.1], [1.0], [10.0]])),
        (
            _RNG_1_7.normal(size=(7, 3)),
            0.002 * _RNG_1_7.normal(size=7),
            0.001,
            _A([[0.003, 0.0004, 0.02]]),
        ),
        # The determinant is 0 in floating point, and then the density infinite as well.
        (
            _MANY,
            0.004 * _RNG_1_7.normal(size=90),
            0.0037,
            _A([[0.001, 0.002, 0.004], [0.003, 0.0005, 0.001]]),
        ),
        (_MANY, 1e-5 * _RNG_1_7.normal(size=90), 1.1e-5, _A([[3e-6, 5e-6, 1e-6]])),
    ),
    (
        Mistake(
            "underflow",
            "right for a few points, but the determinant of hundreds of small variances is 0 in "
            "floating point: take np.linalg.slogdet, or a Gaussian's logpdf.",
            (
                _each(lambda phi, y, s, c: _by_determinant(_cov(phi, s, c), y)),
                _each(
                    lambda phi, y, s, c: (
                        _misfit(_cov(phi, s, c), y)
                        - 0.5 * np.log(np.linalg.det(2 * np.pi * _cov(phi, s, c)))
                    )
                ),
            ),
        ),
        Mistake(
            "the density's own size",
            "P(D) of hundreds of points is 0 or infinite in floating point: never leave the "
            "logarithms, take a Gaussian's logpdf.",
            lambda phi, y, s, c: np.log(np.exp(_log_evidence(phi, y, s, c))),
        ),
        Mistake(
            "likelihood of the MAP weights",
            "this is how well the *best* weights fit: it never falls as the prior widens. The "
            "evidence averages over the prior.",
            _each(_plug_in),
        ),
        Mistake(
            "likelihood and prior at the MAP weights",
            "that is log P(D | w) + log P(w) at one w; (1.16) subtracts log P(w | D) there.",
            _each(_joint),
        ),
        Mistake(
            "the determinant is missing",
            "a wide prior spreads its mass thinly: −½ log det is what it pays.",
            _each(
                lambda phi, y, s, c: _misfit(_cov(phi, s, c), y) - len(y) / 2 * np.log(2 * np.pi)
            ),
        ),
        Mistake(
            "the ½ of the determinant is missing",
            "−½ log det C: the density is divided by the root of the determinant.",
            _each(
                lambda phi, y, s, c: (
                    _log_density(_cov(phi, s, c), y) - 0.5 * np.linalg.slogdet(_cov(phi, s, c))[1]
                )
            ),
        ),
        Mistake(
            "wrong sign of the determinant",
            "a wide Gaussian is low everywhere: −½ log det C.",
            _each(
                lambda phi, y, s, c: (
                    _log_density(_cov(phi, s, c), y) + np.linalg.slogdet(_cov(phi, s, c))[1]
                )
            ),
        ),
        Mistake(
            "the ½ of the misfit is missing",
            "the exponent is −½ yᵀC⁻¹y.",
            _each(
                lambda phi, y, s, c: _log_density(_cov(phi, s, c), y) + _misfit(_cov(phi, s, c), y)
            ),
        ),
        Mistake(
            "only the misfit",
            "−½ log det(2π C) is missing: the normalising constant of the Gaussian.",
            _each(lambda phi, y, s, c: _misfit(_cov(phi, s, c), y)),
        ),
        Mistake(
            "the constant is missing",
            "−n/2 log 2π belongs to a density of n numbers.",
            lambda phi, y, s, c: _log_evidence(phi, y, s, c) + len(y) / 2 * np.log(2 * np.pi),
        ),
        Mistake(
            "σ for σ²",
            "the covariance of y is made of variances: σ_j² and s².",
            lambda phi, y, s, c: _log_evidence(phi, y, np.sqrt(s), np.sqrt(c)),
        ),
        Mistake(
            "σ_p not squared",
            "the priors enter the covariance of y as σ_j², variances.",
            lambda phi, y, s, c: _log_evidence(phi, y, s, np.sqrt(c)),
        ),
        Mistake(
            "s not squared",
            "the noise enters the covariance of y as s², a variance.",
            lambda phi, y, s, c: _log_evidence(phi, y, np.sqrt(s), c),
        ),
        Mistake(
            "the prior is missing",
            "each weight is drawn from its own N(0, σ_j²), and Φ carries them to the outputs.",
            lambda phi, y, s, c: _log_evidence(phi, y, s, np.ones_like(c)),
        ),
        Mistake(
            "one width for all",
            "each weight has its own σ_j: its column of Φ is scaled by it.",
            (
                _each(lambda phi, y, s, c: _log_density(_cov(phi, s, np.mean(c)), y)),
                _each(lambda phi, y, s, c: _log_density(_cov(phi, s, np.mean(c**2) ** 0.5), y)),
                _each(lambda phi, y, s, c: _log_density(_cov(phi, s, c[0]), y)),
            ),
        ),
        Mistake(
            "only the noise",
            "the function is random as well: add what Φ makes of the weights' variances.",
            lambda phi, y, s, c: _log_evidence(0 * phi, y, s, c),
        ),
        Mistake(
            "correlations dropped",
            "two outputs share their weights: the covariance of y is not diagonal.",
            _each(lambda phi, y, s, c: _log_density(np.diag(np.diag(_cov(phi, s, c))), y)),
        ),
        Mistake(
            "wrong sign",
            "the log evidence, to be maximised.",
            lambda phi, y, s, c: -_log_evidence(phi, y, s, c),
        ),
        Mistake(
            "another logarithm",
            "nats belong to the natural logarithm, np.log.",
            tuple(lambda phi, y, s, c, b=b: _log_evidence(phi, y, s, c) / b for b in BASES),
        ),
        Mistake(
            "density for log density",
            "take the logarithm: P(D) itself underflows with a few hundred points.",
            lambda phi, y, s, c: np.exp(_log_evidence(phi, y, s, c)),
        ),
        Mistake(
            "per point",
            "the log evidence of all the data is wanted, not its mean.",
            lambda phi, y, s, c: _log_evidence(phi, y, s, c) / len(y),
        ),
    ),
)


# Exercise 1.8.


def _inverse_by_group(matrix: Any, group: Any) -> Any:
    """The inverse of each group's block, and 0 elsewhere."""
    return np.linalg.inv(np.where(group[:, None] == group, matrix, 0.0))


def _in_groups(cov: Any, group: Any) -> Any:
    """The sds of the best q."""
    return np.sqrt(np.diag(_inverse_by_group(np.linalg.inv(cov), group)))


def _alone(cov: Any) -> Any:
    return 1 / np.sqrt(np.diag(np.linalg.inv(cov)) * np.diag(cov))


def _given_those_before(cov: Any) -> Any:
    return np.diag(np.linalg.cholesky(cov))


_FACTOR = _RNG_1_7.normal(size=(5, 5)) + 2 * np.eye(5)


def _too_sure(cov: Any, group: Any) -> Any:
    return _in_groups(cov, group) / np.sqrt(np.diag(cov))


TOO_SURE = Exercise(
    "1.8",
    "Extend: how much too sure?",
    "1.8",
    _too_sure,
    (
        (_A([[2.0, -0.6, 0.1], [-0.6, 0.5, 0.2], [0.1, 0.2, 1.5]]), _A([0, 1, 0])),
        (_A([[1.0, 0.9], [0.9, 1.0]]), _A([0, 1])),
        (_A([[4.0, 1.0], [1.0, 9.0]]), _A([2, 2])),
        (_A([[0.3]]), _A([0])),
        (1e-6 * _FACTOR @ _FACTOR.T, _A([0, 1, 0, 2, 1])),
        (
            _A([[7.0e8, 2.0e8, -1.0e8], [2.0e8, 4.0e8, 0.5e8], [-1.0e8, 0.5e8, 9.0e8]]),
            _A([1, 0, 0]),
        ),
    ),
    (
        Mistake(
            "upside down",
            "q's sd stands above: where it is too sure, the ratio is below 1.",
            lambda cov, group: 1 / _too_sure(cov, group),
        ),
        Mistake(
            "each weight alone",
            "this is (1.22), for an independent q; here q holds the other *groups* fixed, and "
            "knows the correlations inside of its own.",
            lambda cov, group: _alone(cov),
        ),
        Mistake(
            "the covariance's blocks inverted",
            "within a group nothing is held fixed, and the other groups are: of which matrix are "
            "these the blocks?",
            lambda cov, group: np.diag(_inverse_by_group(cov, group) * cov) ** -0.5,
        ),
        Mistake(
            "variances for sds",
            "a ratio of standard deviations is wanted: take the root.",
            lambda cov, group: _too_sure(cov, group) ** 2,
        ),
        Mistake(
            "q's sds alone",
            "divide them by the posterior's own.",
            _in_groups,
        ),
        Mistake(
            "the posterior's sds alone",
            "these are what q's sds are divided by.",
            lambda cov, group: np.sqrt(np.diag(cov)),
        ),
        Mistake(
            "all ratios are 1",
            "KL[p ‖ q], the forward KL, would find the posterior's own sds, and so would one group "
            "of all weights; KL[q ‖ p] wants the slice of p. Or is a ratio written into a copy?",
            lambda cov, group: np.ones(len(cov)),
        ),
        Mistake(
            "the inverse of the diagonal",
            "the precision matrix is the inverse of the covariance, not of its diagonal.",
            (
                lambda cov, group: 1 / np.diag(cov),
                lambda cov, group: 1 / np.diag(cov) ** 1.5,
            ),
        ),
        Mistake(
            "what is missing to 1",
            "return the ratio of the two sds itself.",
            lambda cov, group: 1 - _too_sure(cov, group),
        ),
        Mistake(
            "diagonal of the Cholesky factor",
            "each weight given only those before it, or after it; hold all the other groups fixed.",
            (
                lambda cov, group: _given_those_before(cov) / np.sqrt(np.diag(cov)),
                lambda cov, group: (
                    _given_those_before(cov[::-1, ::-1])[::-1] / np.sqrt(np.diag(cov))
                ),
            ),
        ),
        Mistake(
            "eigenvalues",
            "an sd is wanted along each weight, not along the axes of the ellipse.",
            (
                lambda cov, group: np.sqrt(np.linalg.eigvalsh(cov) / np.diag(cov)),
                lambda cov, group: np.sqrt(np.linalg.eigvalsh(cov)[::-1] / np.diag(cov)),
            ),
        ),
        Mistake(
            "a matrix",
            "one ratio a weight is wanted: the diagonal.",
            lambda cov, group: np.diag(_too_sure(cov, group)),
        ),
    ),
)


# Exercise 1.9.

_GRID = np.linspace(-1, 1, 201)
_SURE = 3.0  # sd, units of y; measuring where the sd is largest ends at 1.3, evenly at 4 to 5


def _epistemic(inputs: Any) -> Array:
    """Epistemic sd at ``_GRID`` of ten bumps, measured at some inputs."""
    phi = features.bumps(np.reshape(inputs, (-1, 1)), 10)
    known = exact.linear_regression(phi, np.zeros(len(phi)), 10.0, 1.0)
    return known.predict(features.bumps(_GRID[:, None], 10)).epistemic_std


def _measure(seen: Any) -> Array:
    inputs = list(seen)
    for _ in range(6):
        inputs.append(_GRID[np.argmax(_epistemic(inputs))])
    return np.array(inputs[-6:])


def _judged_inputs(new: Any, seen: Any) -> float:
    """Which fault six inputs have: 0 none, 1 outside, 2 all in one place, 3 still unsure."""
    if np.abs(new).max() > 1 + 1e-6:
        return 1.0
    if _epistemic([*seen, *new]).max() < _SURE:
        return 0.0
    return 2.0 if np.ptp(new) < 0.05 else 3.0


def _seen(seed: int, left: float = -0.6, right: float = 0.3) -> Array:
    return np.random.default_rng(seed).uniform(left, right, 12)


def _input_faults(outcomes: Sequence[Outcome]) -> set[float]:
    """The faults of six inputs in all cases; none unless each has six."""
    given = [(got, *case) for got, case in zip(outcomes, MEASURE.cases, strict=True)]
    if not all(isinstance(got, np.ndarray) and got.shape == (6,) for got, _ in given):
        return set()
    return {_judged_inputs(*each) for each in given} - {0.0}


MEASURE = Exercise(
    "1.9",
    "Experiment: where to measure next",
    "1.4 and 1.5",
    _measure,
    (
        *((_seen(seed),) for seed in range(100, 112)),
        *((_seen(112, left, left + 0.9),) for left in (-1.0, -0.1, 0.1)),
    ),
    (
        Mistake(
            "outside",
            "the inputs lie in [−1, 1].",
            recognises=lambda got, _: 1.0 in _input_faults(got),
        ),
        Mistake(
            "all in one place",
            "one measurement there makes the model sure of it; look again where it is unsure "
            "*then*.",
            recognises=lambda got, _: _input_faults(got) == {2.0},
        ),
        Mistake(
            "still unsure somewhere",
            "for some `seen` the largest epistemic sd stays above 3: draw it over x after each "
            "point, and see where it is left.",
            recognises=lambda got, _: _input_faults(got) in ({3.0}, {2.0, 3.0}),
        ),
    ),
    compared=_judged_inputs,
)


# Exercise 1.10.

_LOUD = tuple((0.5, 1.0, 2.0, 4.0)[seed % 4] for seed in range(24))
_SETS = tuple(datasets.sinusoid(16, sd, seed + 100) for seed, sd in enumerate(_LOUD))
_NOISES = 10 ** np.linspace(-1, 1.3, 70)
_ON_AVERAGE, _APART = 0.12, 0.5  # of log(estimate / truth); the evidence: 0 ± 0.04, and 0.17


def _loudness(problems: Any) -> Array:
    found = []
    for x, y in problems:
        phi = features.bumps(x, 8)
        log_p = [exact.linear_regression(phi, y, 10.0, sd).log_evidence for sd in _NOISES]
        found.append(_NOISES[np.argmax(log_p)])
    return np.array(found)


def _training_error(phi: Any, y: Any) -> float:
    w = np.linalg.lstsq(phi, y, rcond=None)[0]
    return float(np.sqrt(np.mean((y - phi @ w) ** 2)))


def _judged_noises(found: Any, problems: Any) -> float:
    """Which fault estimates have: 0 none, 1 not above 0, 2 quiet, 3 loud, 4 not theirs."""
    if found.min() <= 0:
        return 1.0
    off = np.log(found / np.array(_LOUD))
    if abs(off.mean()) > _ON_AVERAGE:
        return 2.0 if off.mean() < 0 else 3.0
    return 4.0 if off.std() > _APART else 0.0


LOUDNESS = Exercise(
    "1.10",
    "Experiment: how loud are the data?",
    "1.5 and 1.6",
    _loudness,
    ((tuple((d.x, d.y) for d in _SETS),),),
    (
        Mistake(
            "not above 0",
            "a standard deviation is positive.",
            lambda problems: np.zeros(len(problems)),
        ),
        Mistake(
            "too quiet",
            "on average your sd is more than a tenth too small. Noise that was fitted is in no "
            "training error: how many directions did the data decide?",
            lambda problems: [_training_error(features.bumps(x, 8), y) for x, y in problems],
        ),
        Mistake(
            "too loud",
            "on average your sd is more than a tenth too large. What the model cannot bend to is "
            "no noise; and an sd is no variance.",
            lambda problems: [_training_error(features.polynomial(x, 2), y) for x, y in problems],
        ),
        Mistake(
            "not that of each data set",
            "right on average; but the noise differs from data set to data set.",
            lambda problems: np.full(len(problems), 2**0.5),
        ),
    ),
    compared=_judged_noises,
)
