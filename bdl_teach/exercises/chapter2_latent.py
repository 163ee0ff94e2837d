"""Exercises 2.1 to 2.4: the KL term, the draw of z, the score function, what is true."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.exercises._engine import Choice, Exercise, Mistake
from bdl_teach.exercises._faces import BASES, TINY

_A = np.array
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


def _score_case(n: int, mu: float, sigma: float) -> tuple[Any, ...]:
    eps = _RNG.standard_normal(n)
    return (3.0 * eps**2 - 4.0 * eps - 1.0, mu + sigma * eps, mu, sigma)


SCORE = Exercise(
    "2.3",
    "Compute: the score-function gradient",
    "2.5",
    lambda f, z, mu, sigma: np.mean(f * (z - mu) / sigma**2),
    (
        _score_case(5, 0.4, 0.5),
        _score_case(40, -1.0, 2.0),
        _score_case(1, 0.2, 0.3),
        (_A([1.5, -0.3, 2.2]), _A([1.1, 0.2, 0.9]), 0.5, 0.8),  # a gradient above 0
        _score_case(3, 0.002, 0.001),
        _score_case(2, -7.0, 31.0),
    ),
    (
        Mistake(
            "missing 1/S",
            "an expectation is a mean over the draws, yours is their sum.",
            lambda f, z, m, s: np.sum(f * (z - m) / s**2),
        ),
        Mistake(
            "σ for σ²",
            "∂ log N(z | μ, σ²)/∂μ = (z − μ)/σ²: a variance below.",
            lambda f, z, m, s: np.mean(f * (z - m) / s),
        ),
        Mistake(
            "log q for its derivative",
            "the score is ∂ log q/∂μ = (z − μ)/σ², not log q itself.",
            lambda f, z, m, s: np.mean(
                f * (-0.5 * ((z - m) / s) ** 2 - np.log(s) - 0.5 * np.log(2 * np.pi))
            ),
        ),
        Mistake(
            "the variance is missing",
            "∂ log N(z | μ, σ²)/∂μ = (z − μ)/σ²: divide by the variance.",
            lambda f, z, m, s: np.mean(f * (z - m)),
        ),
        Mistake(
            "wrong sign",
            "log N falls when μ moves away from z: (z − μ)/σ².",
            lambda f, z, m, s: np.mean(f * (m - z) / s**2),
        ),
        Mistake(
            "divided by S − 1",
            "an expectation is a mean over the draws: divide by S.",
            lambda f, z, m, s: np.sum(f * (z - m) / s**2) / (len(f) - 1),
            breaks=True,  # one draw
        ),
        Mistake(
            "a mean of the draws subtracted",
            "(2.10) is the mean of f (z − μ)/σ²: neither the mean of f nor that of z is taken off.",
            lambda f, z, m, s: np.mean(f * (z - z.mean()) / s**2),
        ),
        Mistake(
            "a factor of 2",
            "the derivative of −½ ((z − μ)/σ)² by μ is (z − μ)/σ²: the ½ and the 2 cancel.",
            (
                lambda f, z, m, s: np.mean(f * (z - m) / s**2) / 2,
                lambda f, z, m, s: np.mean(f * (z - m) / s**2) * 2,
            ),
        ),
        Mistake(
            "σ⁴ for σ²",
            "σ is the standard deviation: its square stands below, not that of σ².",
            lambda f, z, m, s: np.mean(f * (z - m) / s**4),
        ),
        Mistake(
            "q for its logarithm",
            "∂q = q ∂ log q: the draws bring the q already, what is left is the score.",
            lambda f, z, m, s: np.mean(
                f * (z - m) / s**2 * np.exp(-0.5 * ((z - m) / s) ** 2) / (s * np.sqrt(2 * np.pi))
            ),
        ),
        Mistake(
            "the cost is missing",
            "the score alone has mean 0: weigh it with f(z).",
            lambda f, z, m, s: np.mean((z - m) / s**2),
        ),
        Mistake(
            "two means multiplied",
            "the mean of a product, not the product of means: f and the score go together.",
            lambda f, z, m, s: np.mean(f) * np.mean((z - m) / s**2),
        ),
        Mistake(
            "derivative by σ",
            "this is the gradient by σ; asked for is the one by μ.",
            lambda f, z, m, s: np.mean(f * (((z - m) / s) ** 2 - 1) / s),
        ),
        Mistake(
            "not averaged",
            "one number is wanted: average over the draws.",
            lambda f, z, m, s: f * (z - m) / s**2,
        ),
        Mistake(
            "μ forgotten",
            "the score measures from the mean: z − μ.",
            lambda f, z, m, s: np.mean(f * z / s**2),
        ),
    ),
)

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
        "d": "what remains of the gap in (2.5) when q is the posterior? See section 2.3.",
        "e": 'what is a KL of 0 for every image called? See "β" in section 2.7.',
        "f": "what does the offset of the cost do to each estimator? See (2.11) in section 2.5.",
    },
)

EXERCISES: tuple[Exercise, ...] = (KL, DRAW, SCORE, STATEMENTS)
