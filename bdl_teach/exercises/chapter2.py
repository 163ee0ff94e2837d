"""Exercises of chapter 2: latent variables and bounds."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit, logsumexp

from bdl_teach import datasets
from bdl_teach import expectation_gradients as eg
from bdl_teach._support.checks import Array
from bdl_teach.exercises._engine import Choice, Exercise, Late, Mistake
from bdl_teach.exercises._faces import BASES, NOT_LARGEST, TINY
from bdl_teach.methods import vae
from bdl_teach.methods.vae import kl_from_prior

_A = np.array

# Exercise 2.1.

_RNG = np.random.default_rng(2)


def _each_kl(mean: Any, std: Any) -> Any:
    return 0.5 * (mean**2 + std**2 - 1.0 - 2.0 * np.log(std))


KL = Exercise(
    "2.1",
    "Compute: the KL to the prior",
    "2.2",
    lambda mean, std: _each_kl(mean, std).sum(axis=-1),
    (
        (_A([[0.0, 0.0], [1.0, -2.0], [0.5, 3.0]]), _A([[1.0, 1.0], [0.5, 0.1], [2.0, 0.3]])),
        (_A([[0.3, -0.7, 1.1]]), _A([[0.2, 1.5, 0.9]])),
        (_A([[1.7], [-0.4]]), _A([[0.3], [2.6]])),
        (_RNG.normal(0.0, 2.0, (4, 5)), _RNG.gamma(2.0, 1.0, (4, 5)) + 0.05),
        (_A([[0.002, -0.1], [0.0, 30.0]]), _A([[1e-6, 3e-5], [25.0, 1e-3]])),
    ),
    (
        Mistake(
            "not summed",
            "each example has one KL: add up the coordinates of z, the last axis.",
            _each_kl,
        ),
        Mistake(
            "mean for sum",
            "the KL of independent coordinates is the sum of theirs, not the mean.",
            lambda m, s: _each_kl(m, s).mean(axis=-1),
        ),
        Mistake(
            "summed over everything",
            "return one KL for each example.",
            lambda m, s: _each_kl(m, s).sum(),
        ),
        Mistake(
            "σ for σ²",
            "the spread enters as σ², a variance.",
            lambda m, s: (0.5 * (m**2 + s - 1 - np.log(s))).sum(axis=-1),
        ),
        Mistake(
            "σ for σ² outside the logarithm",
            "the spread enters as σ², a variance.",
            lambda m, s: (0.5 * (m**2 + s - 1 - 2 * np.log(s))).sum(axis=-1),
        ),
        Mistake(
            "μ not squared",
            "a code on the left of 0 is as far from the prior as one on the right: μ².",
            (
                lambda m, s: (0.5 * (m + s**2 - 1 - 2 * np.log(s))).sum(axis=-1),
                lambda m, s: (0.5 * (np.abs(m) + s**2 - 1 - 2 * np.log(s))).sum(axis=-1),
            ),
        ),
        Mistake(
            "the means are missing",
            "a code far from 0 must cost: μ².",
            lambda m, s: _each_kl(0 * m, s).sum(axis=-1),
        ),
        Mistake(
            "the logarithm is missing",
            "without −log σ the smallest σ would be the cheapest.",
            lambda m, s: (0.5 * (m**2 + s**2 - 1)).sum(axis=-1),
        ),
        Mistake(
            "σ² is missing",
            "a wide code costs as well: σ².",
            lambda m, s: (0.5 * (m**2 - 1 - 2 * np.log(s))).sum(axis=-1),
        ),
        Mistake(
            "another logarithm",
            "nats belong to the natural logarithm, np.log.",
            (
                *(lambda m, s, b=b: _each_kl(m, s).sum(axis=-1) / b for b in BASES),
                *(
                    lambda m, s, b=b: (_each_kl(m, s) + np.log(s) * (1 - 1 / b)).sum(axis=-1)
                    for b in BASES
                ),
            ),
        ),
        Mistake(
            "a small number added",
            "σ is positive already; with a small number beside it the price of a sure code is off.",
            (
                *(
                    lambda m, s, t=t: (0.5 * (m**2 + s**2 - 1) - np.log(s + t)).sum(axis=-1)
                    for t in TINY
                    if t > 1e-10
                ),
                *(
                    lambda m, s, t=t: (0.5 * (m**2 + s**2 - 1 - np.log(s**2 + t))).sum(axis=-1)
                    for t in TINY
                    if t > 1e-15
                ),
            ),
        ),
        Mistake(
            "summed over the examples",
            "return one KL for each example: the coordinates are the last axis.",
            lambda m, s: _each_kl(m, s).sum(axis=0),
        ),
        Mistake(
            "mean over the examples",
            "return one KL for each example; the mean over a batch comes later.",
            lambda m, s: _each_kl(m, s).sum(axis=-1).mean(),
        ),
        Mistake(
            "log σ for log σ²",
            "½ log σ² = log σ: inside the ½ stands 2 log σ.",
            lambda m, s: (0.5 * (m**2 + s**2 - 1 - np.log(s))).sum(axis=-1),
        ),
        Mistake(
            "σ read as a logarithm",
            "the familiar line with e^(log σ²) is for a network that outputs log σ²; this is σ.",
            (
                lambda m, s: (0.5 * (m**2 + np.exp(s) - 1 - s)).sum(axis=-1),
                lambda m, s: (0.5 * (m**2 + np.exp(2 * s) - 1 - 2 * s)).sum(axis=-1),
            ),
        ),
        Mistake(
            "wrong sign of the logarithm",
            "a small σ must cost: −log σ.",
            lambda m, s: (0.5 * (m**2 + s**2 - 1 + 2 * np.log(s))).sum(axis=-1),
        ),
        Mistake(
            "missing ½",
            "check with μ = 2, σ = 1: the KL is μ²/2.",
            lambda m, s: 2 * _each_kl(m, s).sum(axis=-1),
        ),
        Mistake(
            "the −1 is missing",
            "for q = p the KL must be 0.",
            lambda m, s: (_each_kl(m, s) + 0.5).sum(axis=-1),
        ),
        Mistake(
            "KL reversed",
            "this is KL[p(z) ‖ q]; the expectation is over q.",
            lambda m, s: (0.5 * ((m**2 + 1) / s**2 - 1 + 2 * np.log(s))).sum(axis=-1),
        ),
        Mistake(
            "wrong sign",
            "a KL is never negative.",
            lambda m, s: -_each_kl(m, s).sum(axis=-1),
        ),
    ),
)


# Exercise 2.2.


def _softplus(rho: Any) -> Any:
    return np.logaddexp(0.0, rho)


DRAW = Exercise(
    "2.2",
    "Compute: z from noise",
    "2.4 and 2.6",
    lambda mean, rho, eps: mean + _softplus(rho) * eps,
    (
        (_A([0.5, -1.0]), _A([-2.0, 0.7]), _A([1.2, -0.4])),
        (_RNG.normal(size=(3, 2)), _RNG.normal(size=(3, 2)), _RNG.normal(size=(3, 2))),
        (_A([0.0]), _A([3.0]), _A([-1.5])),
        (_A([0.04, 0.1, -0.07]), _A([-8.0, -10.0, -7.0]), _A([1.2, -2.1, 0.4])),  # hardly a spread
        (_A([[0.01], [-0.002]]), _A([[-5.0], [-4.2]]), _A([[-0.6], [1.9]])),
        (_A([2.0, -7.0, 3.0, 0.5]), _A([6.0, 4.5, 8.0, 0.0]), _A([-0.9, 1.3, 0.2, 2.5])),
    ),
    (
        Mistake(
            "softplus forgotten",
            "σ = log(1 + e^ρ); ρ itself may be negative.",
            lambda m, r, e: m + r * e,
        ),
        Mistake(
            "exponential for softplus",
            "here σ = log(1 + e^ρ), not e^ρ.",
            lambda m, r, e: m + np.exp(r) * e,
        ),
        Mistake(
            "ρ read as log σ²",
            "e^(ρ/2) belongs to a network that outputs log σ²; here σ = log(1 + e^ρ).",
            lambda m, r, e: m + np.exp(r / 2) * e,
        ),
        Mistake(
            "σ² for σ",
            "the noise is scaled by the standard deviation.",
            lambda m, r, e: m + _softplus(r) ** 2 * e,
        ),
        Mistake(
            "√σ for σ",
            "softplus(ρ) is the standard deviation already.",
            lambda m, r, e: m + np.sqrt(_softplus(r)) * e,
        ),
        Mistake(
            "another softplus",
            "σ = log(1 + e^ρ), with the natural logarithm.",
            (
                *(lambda m, r, e, b=b: m + _softplus(r) / b * e for b in BASES),
                lambda m, r, e: m + np.maximum(r, 0.0) * e,
                lambda m, r, e: m + _softplus(-r) * e,
            ),
        ),
        Mistake(
            "the slope of softplus",
            "1/(1 + e^(−ρ)) is the derivative of log(1 + e^ρ).",
            lambda m, r, e: m + e / (1 + np.exp(-r)),
        ),
        Mistake(
            "μ and ε swapped",
            "σ scales the noise, not the mean.",
            lambda m, r, e: m * _softplus(r) + e,
        ),
        Mistake(
            "minus for plus",
            "z has the same distribution, but asked for is μ + σ ⊙ ε, with this ε.",
            lambda m, r, e: m - _softplus(r) * e,
        ),
        Mistake(
            "the mean is missing",
            "σ ⊙ ε is drawn round 0, not round the code of x.",
            lambda m, r, e: _softplus(r) * e,
        ),
        Mistake(
            "ε is missing",
            "μ + σ is no draw: it is the same each time.",
            lambda m, r, e: m + _softplus(r) + 0 * e,
        ),
        Mistake(
            "no draw at all",
            "z = μ is the plain autoencoder.",
            lambda m, r, e: m + 0 * r * e,
        ),
    ),
)


# Exercise 2.3.


def _score_case(n: int, mu: float, sigma: float) -> tuple[Any, ...]:
    eps = _RNG.standard_normal(n)
    return (3.0 * eps**2 - 4.0 * eps - 1.0, mu + sigma * eps, mu, sigma)


def _by_sigma(z: Any, mu: Any, sigma: Any) -> Any:
    """∂ log N(z | μ, σ²)/∂σ."""
    return (((z - mu) / sigma) ** 2 - 1) / sigma


SCORE = Exercise(
    "2.3",
    "Change: the score-function gradient by σ",
    "2.5",
    lambda f, z, mu, sigma: np.mean(f * _by_sigma(z, mu, sigma)),
    (
        _score_case(5, 0.4, 0.5),
        _score_case(40, -1.0, 2.0),
        _score_case(1, 0.2, 0.3),
        (_A([1.5, -0.3, 2.2]), _A([1.1, 0.2, 0.9]), 0.5, 0.8),
        _score_case(3, 0.002, 0.001),
        _score_case(2, -7.0, 31.0),
    ),
    (
        Mistake(
            "missing 1/S",
            "an expectation is a mean over the draws, yours is their sum.",
            lambda f, z, m, s: np.sum(f * _by_sigma(z, m, s)),
        ),
        Mistake(
            "derivative by μ",
            "this is the gradient by μ, as in the cell; asked for is the one by σ.",
            lambda f, z, m, s: np.mean(f * (z - m) / s**2),
        ),
        Mistake(
            "the normaliser is forgotten",
            "log q contains −log σ as well: its derivative is missing.",
            lambda f, z, m, s: np.mean(f * (z - m) ** 2 / s**3),
        ),
        Mistake(
            "derivative by σ²",
            "differentiate by the standard deviation, not by the variance.",
            lambda f, z, m, s: np.mean(f * _by_sigma(z, m, s) / (2 * s)),
        ),
        Mistake(
            "derivative by log σ",
            "∂ log σ/∂σ = 1/σ is still to be multiplied.",
            lambda f, z, m, s: np.mean(f * _by_sigma(z, m, s) * s),
        ),
        Mistake(
            "σ² for σ",
            "−½ ((z − μ)/σ)² has the derivative (z − μ)²/σ³, −log σ has −1/σ.",
            (
                lambda f, z, m, s: np.mean(f * _by_sigma(z, m, s) / s),
                lambda f, z, m, s: np.mean(f * ((z - m) ** 2 / s**2 - 1 / s)),
            ),
        ),
        Mistake(
            "wrong sign",
            "log N rises with σ where z is far from μ: (z − μ)²/σ³ has a plus.",
            lambda f, z, m, s: -np.mean(f * _by_sigma(z, m, s)),
        ),
        Mistake(
            "divided by S − 1",
            "an expectation is a mean over the draws: divide by S.",
            lambda f, z, m, s: np.sum(f * _by_sigma(z, m, s)) / (len(f) - 1),
            breaks=True,  # one draw
        ),
        Mistake(
            "log q for its derivative",
            "the score is ∂ log q/∂σ, not log q itself.",
            lambda f, z, m, s: np.mean(
                f * (-0.5 * ((z - m) / s) ** 2 - np.log(s) - 0.5 * np.log(2 * np.pi))
            ),
        ),
        Mistake(
            "the pathwise gradient's ε",
            "ε = (z − μ)/σ multiplies a *slope* of f; here only values of f are known.",
            lambda f, z, m, s: np.mean(f * (z - m) / s),
        ),
        Mistake(
            "the cost is missing",
            "the score alone has mean 0: weigh it with f(z).",
            lambda f, z, m, s: np.mean(_by_sigma(z, m, s)),
        ),
        Mistake(
            "two means multiplied",
            "the mean of a product, not the product of means: f and the score go together.",
            lambda f, z, m, s: np.mean(f) * np.mean(_by_sigma(z, m, s)),
        ),
        Mistake(
            "not averaged",
            "one number is wanted: average over the draws.",
            lambda f, z, m, s: f * _by_sigma(z, m, s),
        ),
        Mistake(
            "μ forgotten",
            "the score measures from the mean: z − μ.",
            lambda f, z, m, s: np.mean(f * _by_sigma(z, 0.0, s)),
        ),
    ),
)


# Exercise 2.4.

STATEMENTS = Choice(
    "2.4",
    "Explain: true or false",
    "2.1, 2.3, 2.4, 2.5 and 2.7",
    frozenset("bdf"),
    statements={
        "a": "who told the codes of a plain autoencoder where to live? See section 2.1.",
        "b": "which of μ, σ and ε does the generator know in (2.8)? See section 2.4.",
        "c": "what did the encoder's σ stand for: the spread of one code, or of all codes "
        "together? See section 2.7.",
        "d": "which of the three terms of (2.5) does the encoder not move? See section 2.3.",
        "e": 'what is a KL of 0 for every image called? See "β" in section 2.7.',
        "f": "what does the offset of the cost do to each estimator? See (2.11) in section 2.5.",
    },
)


# Exercise 2.5.

_RNG_2_5 = np.random.default_rng(22)


def _free_nats(log_likelihood: Any, kl: Any, free: Any) -> Any:
    return np.sum(np.maximum(kl.mean(axis=0), free)) - np.mean(log_likelihood)


def _with_term(term: Any) -> Any:
    """The loss with another term in the place of the codes' price."""
    return lambda a, k, free: term(k, free) - np.mean(a)


FREE = Exercise(
    "2.5",
    "Change: nats that are free",
    "2.6 and 2.7",
    _free_nats,
    (
        (
            _A([[-21.0, -25.0, -19.5], [-20.0, -23.0, -18.0]]),  # [draws, images]
            _A([[0.1, 2.0], [0.0, 3.5], [1.4, 2.9]]),  # [images, coordinates]
            0.6,
        ),
        (_A([[-3.0, -2.0]]), _A([[0.7], [0.1]]), 0.0),
        (_A([[-0.4], [-0.9]]), _A([[0.2, 0.9, 0.0]]), 0.3),
        (_RNG_2_5.normal(-30.0, 4.0, (5, 7)), _RNG_2_5.gamma(0.5, 1.0, (7, 4)), 0.25),
        (_RNG_2_5.normal(3.0, 2.0, (2, 4)), _RNG_2_5.gamma(1.0, 2.0, (4, 3)), 2.0),
        (_A([[-12.0, -9.0]]), _A([[0.01, 0.02, 4.0], [0.03, 0.0, 6.0]]), 1.0),
        (_A([[-7.0, -8.5]]), _A([[0.1, 0.2], [1.3, 0.0]]), 1.0),  # together less than λ
    ),
    (
        Mistake(
            "each image has its own allowance",
            "λ is what a coordinate may say on average over the batch: average first.",
            _with_term(lambda k, free: np.maximum(k, free).mean(axis=0).sum()),
        ),
        Mistake(
            "one allowance for all coordinates",
            "each coordinate has an allowance of its own; what one leaves, no other may use.",
            (
                _with_term(lambda k, free: np.maximum(k.mean(axis=0).sum(), free)),
                _with_term(lambda k, free: np.maximum(k.sum(axis=1), free).mean()),
            ),
        ),
        Mistake(
            "an allowance for the mean coordinate",
            "each coordinate has an allowance of its own: add after the comparison.",
            _with_term(lambda k, free: k.shape[1] * np.maximum(k.mean(), free)),
        ),
        Mistake(
            "only what is above λ",
            "below λ a coordinate costs λ, above it what it says: this is less by λ each, which "
            "changes no gradient, but is not the loss that was asked for.",
            _with_term(lambda k, free: np.maximum(k.mean(axis=0) - free, 0).sum()),
        ),
        Mistake(
            "at most λ",
            "this takes the price from codes that say much; free is what says little.",
            _with_term(lambda k, free: np.minimum(k.mean(axis=0), free).sum()),
        ),
        Mistake(
            "nothing is free",
            "this is −ELBO: where is λ?",
            _with_term(lambda k, free: k.mean(axis=0).sum()),
        ),
        Mistake(
            "λ as a factor",
            "λ is in nats; it is no β.",
            _with_term(lambda k, free: free * k.mean(axis=0).sum()),
        ),
        Mistake(
            "λ added",
            "a coordinate costs λ *or* what it says, whichever is more.",
            _with_term(lambda k, free: (k.mean(axis=0) + free).sum()),
        ),
        Mistake(
            "mean over the coordinates",
            "the KL of a code is the sum over its coordinates (2.3).",
            _with_term(lambda k, free: np.maximum(k.mean(axis=0), free).mean()),
        ),
        Mistake(
            "summed over the images",
            "the loss is averaged over the batch, in both of its terms.",
            _with_term(lambda k, free: np.maximum(k.sum(axis=0), free).sum()),
        ),
        Mistake(
            "the axes of the KL swapped",
            "kl is [n, k]: images first, then coordinates.",
            _with_term(lambda k, free: np.maximum(k.mean(axis=1), free).sum()),
        ),
        Mistake(
            "missing 1/S or 1/n",
            "the reconstruction is a mean over draws and images.",
            (
                lambda a, k, free: np.maximum(k.mean(axis=0), free).sum() - np.sum(a),
                lambda a, k, free: np.maximum(k.mean(axis=0), free).sum() - a.mean(axis=0).sum(),
                lambda a, k, free: np.maximum(k.mean(axis=0), free).sum() - a.mean(axis=1).sum(),
            ),
        ),
        Mistake(
            "wrong sign: a bound for a loss",
            "the optimiser minimises: the reconstruction enters with a minus.",
            lambda a, k, free: -_free_nats(a, k, free),
        ),
        Mistake(
            "wrong sign of the KL",
            "a code far from the prior must cost.",
            lambda a, k, free: -np.maximum(k.mean(axis=0), free).sum() - np.mean(a),
        ),
        Mistake(
            "wrong sign of the reconstruction",
            "a better reconstruction, a larger log p(x | z), must lower the loss.",
            lambda a, k, free: np.maximum(k.mean(axis=0), free).sum() + np.mean(a),
        ),
        Mistake(
            "the reconstruction is missing",
            "without it the cheapest code says nothing.",
            lambda a, k, free: np.maximum(k.mean(axis=0), free).sum(),
        ),
        Mistake(
            "not averaged",
            "one number is wanted: the mean over draws and images.",
            (
                lambda a, k, free: np.maximum(k.mean(axis=0), free).sum() - a,
                lambda a, k, free: np.maximum(k.mean(axis=0), free).sum() - a.mean(axis=0),
            ),
        ),
    ),
)


# Exercise 2.6.


def _log_integral(a: Any) -> Any:
    """Logarithm of ∫ e^(xa) dx over [0, 1], which is (e^a − 1)/a."""
    size = np.abs(a)
    below = np.where(size > 0, -np.expm1(-size) / np.where(size > 0, size, 1.0), 1.0)
    return np.maximum(a, 0.0) + np.log(below)


def _pixels(x: Any, logits: Any) -> Any:
    return x * logits - _log_integral(logits)


def _grey(x: Any, logits: Any) -> Any:
    return _pixels(x, logits).sum(axis=-1)


def _without(log_integral: Any) -> Any:
    """The answer with another normaliser."""
    return lambda x, a: (x * a - log_integral(a)).sum(axis=-1)


GREY = Exercise(
    "2.6",
    "Break: a density for grey values",
    "2.6",
    _grey,
    (
        (_A([[0.0, 1.0, 0.3], [1.0, 1.0, 0.0]]), _A([[-1.0, 2.0, 0.5], [0.1, -3.0, 1.4]])),
        (_A([[0.2, 1.0, 0.0, 0.7]]), _A([[0.3, 0.8, 0.15, 0.6]])),
        (_RNG_2_5.uniform(size=(5, 2)), _RNG_2_5.normal(0.0, 3.0, (5, 2))),
        (_A([[0.4], [1.0], [0.0]]), _A([[-1.3], [0.2], [2.2]])),
        (_A([[0.4, 0.9]]), _A([[0.0, 1.5]])),  # a logit of 0: every grey value alike
        (np.ones((1, 21)), _A([[2.0] + 20 * [0.006]])),  # beside 0 the limit is no answer
        (_A([[1.0], [0.2]]), _A([[0.09], [-0.05]])),
        (_A([[0.0, 1.0]]), _A([[800.0, -900.0]])),
        (_A([[1.0, 0.0], [0.6, 1.0]]), _A([[40.0, -40.0], [-60.0, 1000.0]])),
        (_A([[0.1, 0.9, 1.0], [0.6, 0.0, 1.0]]), _A([[120.0, -95.0, 0.0], [-710.0, 37.0, -990.0]])),
    ),
    (
        Mistake(
            "breaks for large logits",
            "e^800 is no number, and its logarithm is one: take the large factor out of e^a − 1 "
            "first, with a pencil.",
            (
                _without(lambda a: np.log((np.exp(a) - 1) / a)),
                _without(lambda a: np.log(np.expm1(a) / a)),
                _without(lambda a: np.where(a == 0, 0.0, np.log((np.exp(a) - 1) / a))),
                _without(lambda a: np.where(a == 0, 0.0, np.log(np.expm1(a) / a))),
            ),
            breaks=True,
        ),
        Mistake(
            "breaks at a logit of 0",
            "0/0 has a limit there: what is the density that treats every grey value alike?",
            (
                _without(lambda a: np.maximum(a, 0) + np.log(-np.expm1(-np.abs(a)) / np.abs(a))),
                _without(lambda a: np.maximum(a, 0) + np.log((1 - np.exp(-np.abs(a))) / np.abs(a))),
                _without(lambda a: np.log(np.sinh(a / 2) / (a / 2)) + a / 2),
            ),
            breaks=True,
        ),
        Mistake(
            "the limit for a region",
            "the logarithm is 0 at a logit of 0 alone; beside it it is a/2: compute it there, too.",
            tuple(
                _without(lambda a, t=t: np.where(np.abs(a) < t, 0.0, _log_integral(a)))
                for t in (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
            ),
        ),
        Mistake(
            "clipped, or a small number added",
            "that hides the overflow, and is wrong for a pixel that is sure.",
            (
                *(
                    lambda x, a, t=t: _grey(x, np.clip(a, -t, t))
                    for t in (10, 15, 20, 30, 50, 80, 88, 100, 500, 700, 709)
                ),
                *(
                    _without(lambda a, t=t: np.log(np.expm1(np.clip(a, -700, 700)) / (a + t)))
                    for t in TINY
                ),
            ),
        ),
        Mistake(
            "the cross-entropy",
            "its e^(xa)/(1 + e^a) sums to 1 over x = 0 and x = 1; over all grey values between "
            "them it does not integrate to 1.",
            _without(lambda a: np.logaddexp(0.0, a)),
        ),
        Mistake(
            "not normalised",
            "e^(xa) has no integral of 1 yet.",
            _without(lambda a: 0 * a),
        ),
        Mistake(
            "wrong sign of the normaliser",
            "a density is divided by the integral.",
            _without(lambda a: -_log_integral(a)),
        ),
        Mistake(
            "the 1/a is missing",
            "∫ e^(xa) dx = e^(xa)/a.",
            _without(lambda a: np.maximum(a, 0) + np.log(-np.expm1(-np.abs(a)))),
            breaks=True,
        ),
        Mistake("wrong sign", "asked for is the log density.", lambda x, a: -_grey(x, a)),
        Mistake(
            "mean over the pixels",
            "the log density of a picture is the sum over its pixels.",
            lambda x, a: _pixels(x, a).mean(axis=-1),
        ),
        Mistake("not summed", "return one number a picture: sum over the last axis.", _pixels),
        Mistake(
            "summed over everything",
            "return one number a picture.",
            lambda x, a: _grey(x, a).sum(),
        ),
        Mistake(
            "summed over the pictures",
            "return one number a picture: the pixels are the last axis.",
            lambda x, a: _pixels(x, a).sum(axis=0),
        ),
        Mistake(
            "mean over the pictures",
            "return one number a picture; the mean over a batch comes later.",
            lambda x, a: _grey(x, a).mean(),
        ),
        Mistake(
            "another logarithm",
            "nats belong to the natural logarithm, np.log.",
            tuple(lambda x, a, b=b: _grey(x, a) / b for b in BASES),
        ),
        Mistake(
            "grey values rounded",
            "x stands in the formula as it is.",
            lambda x, a: _grey(np.round(x), a),
        ),
        Mistake(
            "a Gaussian's error",
            "−(x − p)² belongs to a Gaussian.",
            (
                lambda x, a: -((x - expit(a)) ** 2).sum(axis=-1),
                lambda x, a: -0.5 * ((x - expit(a)) ** 2).sum(axis=-1),
            ),
        ),
        Mistake(
            "x and 1 − x swapped",
            "a large logit makes a bright pixel probable.",
            lambda x, a: _grey(1.0 - x, a),
        ),
    ),
)


# Exercise 2.7.


def _of_others(f: Any) -> Any:
    """Mean cost of the other draws."""
    return (f.sum() - f) / (len(f) - 1)


def _leave_one_out(f: Any, score: Any) -> Any:
    return np.mean((f - _of_others(f)) * score)


def _cost_case(n: int, mu: float, sigma: float, offset: float) -> tuple[Any, Any]:
    eps = _RNG_2_5.standard_normal(n)
    return offset + (mu + sigma * eps - 1.0) ** 2, eps / sigma


BASELINE = Exercise(
    "2.7",
    "Extend: a baseline for the score function",
    "2.5",
    _leave_one_out,
    (
        _cost_case(2, 0.3, 0.5, 4.0),
        _cost_case(5, -1.0, 0.8, -2.0),
        _cost_case(40, 0.0, 0.5, 3.0),
        _cost_case(3, 2.0, 30.0, 0.0),
        _cost_case(7, 0.1, 1.7, 6.0),
    ),
    (
        Mistake(
            "no baseline",
            "subtract from each cost the mean of the others.",
            lambda f, g: np.mean(f * g),
        ),
        Mistake(
            "its own cost in the baseline",
            "with f_i in its own baseline the estimate is S/(S − 1) times too small: leave it out.",
            lambda f, g: np.mean((f - f.mean()) * g),
        ),
        Mistake(
            "baseline added",
            "the baseline is subtracted.",
            lambda f, g: np.mean((f + _of_others(f)) * g),
        ),
        Mistake(
            "others divided by S",
            "there are S − 1 others.",
            lambda f, g: np.mean((f - (f.sum() - f) / len(f)) * g),
        ),
        Mistake(
            "all costs divided by S − 1",
            "the baseline of draw i is the mean of the *others*: take f_i out of the sum.",
            lambda f, g: np.mean((f - f.sum() / (len(f) - 1)) * g),
        ),
        Mistake(
            "the sum of the others",
            "the baseline is their mean: divide by S − 1.",
            lambda f, g: np.mean((f - (f.sum() - f)) * g),
        ),
        Mistake(
            "missing 1/S",
            "average over the draws.",
            lambda f, g: len(f) * _leave_one_out(f, g),
        ),
        Mistake(
            "divided by S − 1",
            "there are S − 1 *other* draws, but the average is over all S.",
            lambda f, g: len(f) / (len(f) - 1) * _leave_one_out(f, g),
        ),
        Mistake(
            "wrong sign",
            "the cost comes first, the baseline is subtracted from it.",
            lambda f, g: -_leave_one_out(f, g),
        ),
        Mistake(
            "the baseline alone",
            "subtract it from the cost, then multiply by the score.",
            lambda f, g: np.mean(_of_others(f) * g),
        ),
        Mistake(
            "always 0",
            "the costs less their baselines have mean 0, whatever the costs: multiply each by its "
            "own score before you average.",
            lambda f, g: 0.0,
        ),
        Mistake(
            "standardised",
            "dividing by the costs' standard deviation changes the gradient.",
            (
                lambda f, g: np.mean((f - f.mean()) / f.std() * g),
                lambda f, g: _leave_one_out(f, g) / f.std(),
            ),
        ),
        Mistake(
            "not averaged",
            "one number is wanted: average over the draws.",
            lambda f, g: (f - _of_others(f)) * g,
        ),
    ),
    rtol=2e-4,  # costs nearly cancel against their baselines: float32 keeps four digits
)


# Exercise 2.8.

TIGHTER = Exercise(
    "2.8",
    "Extend: a tighter bound",
    "2.3",
    lambda log_w: logsumexp(log_w) - np.log(len(log_w)),
    (
        (_A([-1.0, -2.0, -0.5]),),
        (_A([-3.2]),),
        (_A([3.0, 7.5, 6.1]),),
        (_A([-40.0, -41.0, -39.5, -43.0]),),
        (_A([-1000.0, -1002.0]),),
        (_A([-990.5, -991.0, -990.5, -994.0, -991.3]),),
        (_A([-2400.0, -1000.0, -1001.0]),),
        (_A([-20000.0, -12000.5, -12001.5]),),  # e^8000 and e^−12000 are no numbers either
        (_A([-1000.5, -4000.0, -4001.0]),),
        (_RNG_2_5.normal(-30.0, 3.0, 50),),
    ),
    (
        Mistake(
            "underflow",
            "e^(−1000) is 0 and its logarithm −∞: take the maximum out first (logsumexp).",
            lambda a: np.log(np.mean(np.exp(a))),
        ),
        Mistake(
            "a small number added",
            "it hides that e^(−1000) is 0 in floating point, and makes the bound far too good: "
            "take the maximum out first (logsumexp).",
            (
                *(lambda a, t=t: np.log(np.mean(np.exp(a)) + t) for t in TINY),
                *(lambda a, t=t: np.log(max(np.mean(np.exp(a)), t)) for t in TINY),
                *(lambda a, t=t: np.log(np.mean(np.maximum(np.exp(a), t))) for t in TINY),
            ),
        ),
        Mistake(
            "not the largest taken out",
            "a weight far above the one that is taken out overflows, and one far below counts for "
            "nothing anyway: take out the maximum.",
            tuple(
                lambda a, out=out: out(a) + np.log(np.mean(np.exp(a - out(a))))
                for out in NOT_LARGEST
            ),
        ),
        Mistake(
            "mean of logarithms",
            "that is the ELBO; the tighter bound is the logarithm of a mean.",
            lambda a: np.mean(a),
        ),
        Mistake(
            "missing 1/S",
            "the weights are averaged inside the logarithm: subtract log S.",
            lambda a: logsumexp(a),
        ),
        Mistake(
            "wrong sign of log S",
            "log(1/S) = −log S.",
            lambda a: logsumexp(a) + np.log(len(a)),
        ),
        Mistake(
            "1/S outside the logarithm",
            "the mean is inside the logarithm.",
            lambda a: logsumexp(a) / len(a),
        ),
        Mistake(
            "the best draw only",
            "that is the largest log weight, less log S at most; average over all of them.",
            (lambda a: np.max(a), lambda a: np.max(a) - np.log(len(a))),
        ),
        Mistake(
            "the maximum is not added back",
            "log Σ e^a = max + log Σ e^(a − max).",
            lambda a: logsumexp(a) - np.max(a) - np.log(len(a)),
        ),
        Mistake(
            "another logarithm",
            "nats belong to the natural logarithm, np.log.",
            (
                *(lambda a, b=b: (logsumexp(a) - np.log(len(a))) / b for b in BASES),
                *(lambda a, b=b: logsumexp(a) - np.log(len(a)) / b for b in BASES),
            ),
        ),
        Mistake(
            "the mean weight",
            "take the logarithm of the mean.",
            lambda a: np.mean(np.exp(a)),
        ),
        Mistake(
            "summed logarithms",
            "average the weights, not their product.",
            lambda a: np.sum(a),
        ),
        Mistake(
            "wrong sign",
            "this is the bound on −log p(x).",
            lambda a: np.log(len(a)) - logsumexp(a),
        ),
    ),
)


# Exercise 2.9.

_EQUAL = 0.2  # by how much the logarithm of the two variances' ratio may be off


def _log_ratio(ripple: float, mu: float, sigma: float, curvature: float) -> float:
    """Log of the score function's variance over the pathwise one's, by μ."""
    cost = eg.Cost(curvature, ripple=ripple)
    score, path = (eg.variance(kind, "μ", cost, mu, sigma) for kind in eg.KINDS)
    return float(np.log(score / path))


def _ripple(mu: Any, sigma: Any, curvature: Any) -> Any:
    return brentq(_log_ratio, 0.0, 50.0, args=(mu, sigma, curvature))


def _judged_ripple(ripple: Any, *case: Any) -> float:
    """Which fault an amplitude has: 0 none, 1 below 0, 2 too small, 3 too large."""
    ripple = float(ripple)
    if ripple < 0:
        return 1.0
    off = _log_ratio(ripple, *case)
    return 0.0 if abs(off) < _EQUAL else 2.0 if off > 0 else 3.0


RIPPLE = Exercise(
    "2.9",
    "Experiment: where the score function is quieter",
    "2.5",
    _ripple,
    (
        (0.0, 1.0, 1.0),
        (1.0, 1.0, 0.1),
        (0.5, 0.5, 2.0),
        (1.0, 0.3, 1.0),
        (0.2, 2.0, 0.5),
        (-0.5, 0.7, 0.3),
    ),
    (
        Mistake("below 0", "an amplitude is 0 or more.", lambda mu, sigma, curvature: -1.0),
        Mistake(
            "the score function is noisier still",
            "draw both variances over the amplitude: the ripple's *slopes* are what the pathwise "
            "gradient sees.",
            lambda mu, sigma, curvature: 0.0,
        ),
        Mistake(
            "the score function is quieter already",
            "draw both variances over the amplitude, on logarithmic axes, and look where they "
            "cross.",
            lambda mu, sigma, curvature: 30.0,
        ),
    ),
    compared=_judged_ripple,
)


# Exercise 2.10.

_NATS, _OFF = 2.0, 0.15  # KL of a held-out code on average over orders; how far off it may be


def _shuffled(seed: int) -> Array:
    """The digits in another order ``[1797, 64]``: the first 1500 are to train with."""
    images = datasets.digits().images
    order = np.random.default_rng(seed).permutation(len(images))
    return np.asarray(images.reshape(len(images), -1)[order])


@lru_cache(maxsize=1)
def _prices() -> Array:
    """Slope and height of the line that the nats of a held-out code follow over β near 2 nats.

    A single fit jumps by up to 0.2 nats from one β to the next: where the optimiser stands after
    500 steps is luck. The line through three β and eight unseen orders is not.
    """
    betas = np.repeat([1.0, 1.2, 1.4], 8)
    orders = [_shuffled(seed) for seed in range(40, 48)] * 3
    nats = [
        kl_from_prior(*vae.fit(pixels[:1500], beta=beta, steps=500).encode(pixels[1500:])).mean()
        for beta, pixels in zip(betas, orders, strict=True)
    ]
    return np.polyfit(betas, nats, 1)


def _judged_beta(beta: Any, shuffles: Any) -> float:
    """Which fault a β has: 0 none, 1 not above 0, 2 it spends too much, 3 too little."""
    beta = float(beta)
    if beta <= 0:
        return 1.0
    off = np.polyval(_prices(), beta) - _NATS
    return 0.0 if abs(off) < _OFF else 2.0 if off > 0 else 3.0


TWO_NATS = Exercise(
    "2.10",
    "Experiment: two nats a code",
    "2.7",
    lambda shuffles: 1.2,
    Late(lambda: ((np.stack([_shuffled(30), _shuffled(31)]),),)),
    (
        Mistake("not above 0", "β is a price: above 0.", lambda shuffles: -1.0),
        Mistake(
            "the code says too much",
            "on other digits a code spends more than 2.15 nats: it is too cheap. Draw the KL of "
            "held-out digits over β.",
            lambda shuffles: 0.7,
        ),
        Mistake(
            "the code says too little",
            "on other digits a code spends less than 1.85 nats: it is too dear. Draw the KL of "
            "held-out digits over β.",
            lambda shuffles: 2.0,
        ),
    ),
    compared=_judged_beta,
)
