"""Exercises 5.6 to 5.9: what is pruned, what breaks, and what to predict."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.exercises._engine import Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(5)
_EPS = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)  # what programs add under a root


def _prior_var(x: Any, y: Any, s: float) -> Any:
    precision, pull = x @ x / s**2, x @ y / s**2
    return max((pull**2 - precision) / precision**2, 0.0)


def _kept(x: Any, y: Any, s: float) -> bool:
    return bool(_prior_var(x, y, s) > 0)


RELEVANCE = Exercise(
    "5.6",
    "Compute: is this weight worth keeping?",
    "5.6",
    lambda x, y, noise_std: _prior_var(x, y, noise_std),
    (
        (_A([0.5, -1.2, 2.0]), _A([0.4, -1.0, 1.1]), 0.5),
        (_A([1.0, 1.0]), _A([0.3, 0.2]), 0.3),
        (_A([1.0, -1.0, 0.5]), _A([0.1, 0.1, -0.2]), 0.4),
        (_A([2.0, 1.0]), _A([-4.0, -2.5]), 1.5),
        (_A([0.8]), _A([0.5]), 0.45),  # b² is a little above s ...
        (_A([-0.8]), _A([0.4]), 0.42),  # ... and a little below
        (_RNG.normal(size=7).round(2), _RNG.normal(size=7).round(2), 0.7),
        (_A([1.1, 0.3, -2.2]), _A([2.3, -0.4, -3.9]), 2.3),
        # small inputs: what is added below a line shows
        (_A([2e-4, 3e-4]), _A([0.5, 0.9]), 0.1),
        (_A([0.5, -0.7]), _A([0.013, -0.011]), 0.004),  # hardly any noise
    ),
    (
        Mistake(
            "a negative variance",
            "where b² <= s the evidence is largest at σ_p = 0: return 0.",
            lambda x, y, s: ((x @ y / s**2) ** 2 - x @ x / s**2) / (x @ x / s**2) ** 2,
        ),
        Mistake(
            "α for σ_p²",
            "this is the prior's precision; its variance is 1/α.",
            lambda x, y, s: 1 / _prior_var(x, y, s) if _prior_var(x, y, s) else np.inf,
        ),
        Mistake(
            "σ_p for σ_p²",
            "the variance is asked for, not its root.",
            lambda x, y, s: np.sqrt(_prior_var(x, y, s)),
        ),
        Mistake(
            "the noise is missing",
            "s and b are divided by the variance of the noise.",
            lambda x, y, s: _prior_var(x, y, 1.0),
        ),
        Mistake(
            "σ for σ²",
            "s and b are divided by the variance of the noise, not by its root.",
            lambda x, y, s: _prior_var(x, y, np.sqrt(s)),
        ),
        Mistake(
            "the precision for the variance",
            "this is α; the variance is 1/α = (b² − s)/s².",
            lambda x, y, s: 1 / _prior_var(x, y, s) if _prior_var(x, y, s) else 0.0,
        ),
        Mistake(
            "|b² − s|",
            "where b² <= s nothing is left to be kept: the variance is 0, not the distance.",
            lambda x, y, s: np.abs((x @ y / s**2) ** 2 - x @ x / s**2) / (x @ x / s**2) ** 2,
        ),
        Mistake(
            "s for s²",
            "it is (b² − s)/s²: the square root of it has to have the unit of b/s.",
            lambda x, y, s: _prior_var(x, y, s) * (x @ x / s**2),
        ),
        Mistake(
            "b for b²",
            "it is (b² − s)/s²: the pull is squared, so that its sign does not matter.",
            lambda x, y, s: max((x @ y - x @ x) / s**2 / (x @ x / s**2) ** 2, 0.0),
        ),
        Mistake(
            "the posterior's variance",
            "1/(α + s) is the variance of the weight after the data; the prior's is 1/α.",
            lambda x, y, s: 1 / (1 / _prior_var(x, y, s) + x @ x / s**2) if _kept(x, y, s) else 0.0,
        ),
        Mistake(
            "an infinite variance",
            "a pruned weight has α = ∞ and so the variance 0.",
            lambda x, y, s: _prior_var(x, y, s) if _kept(x, y, s) else np.inf,
        ),
        Mistake(
            "pruned, or not shrunk at all",
            "where the weight is kept the variance is (b² − s)/s²: b²/s² less 1/s.",
            lambda x, y, s: (x @ y / (x @ x)) ** 2 if _kept(x, y, s) else 0.0,
        ),
        Mistake(
            "the square of least squares",
            "(b/s)² is inflated by the noise of the estimate: subtract 1/s.",
            lambda x, y, s: (x @ y / (x @ x)) ** 2,
        ),
    ),
    atol=0.0,  # a pruned weight has a variance of 0, not of 10⁻⁸
)


STABLE = Exercise(
    "5.7",
    "Break: a KL for every γ",
    "5.5",
    lambda gamma: np.log(np.hypot(1.0, gamma)),
    (
        (_A([0.0, 0.5, -3.0]),),
        (_A([20.0, -150.0, 0.07, 1.0]),),
        (_A([1e100, -1e150]),),
        (_A([1e200, 0.0]),),
        (_A([-1e300]),),
    ),
    (
        Mistake(
            "ln|γ|",
            "this is right for large γ only; at γ = 0, where nothing is to be paid, it is −∞.",
            lambda g: np.log(np.abs(g)),
        ),
        Mistake(
            "overflow",
            "γ² is above the largest float from |γ| = 10¹⁵⁵ on; np.hypot(1, γ) is √(1 + γ²) and "
            "never squares.",
            lambda g: 0.5 * np.log1p(g**2),
        ),
        Mistake(
            "cut off",
            "a γ that is held below 10¹⁵⁴ cannot overflow, but 10³⁰⁰ has a KL of its own.",
            tuple(
                lambda g, most=most: 0.5 * np.log1p(np.clip(g, -most, most) ** 2)
                for most in (1e100, 1e150, 1e153, 1e154, np.sqrt(np.finfo(float).max))
            ),
        ),
        Mistake(
            "the logarithm of a negative number",
            "γ has either sign: take ln|γ| where you take a logarithm of it.",
            (
                lambda g: np.log(g),
                lambda g: 0.5 * np.logaddexp(0.0, 2 * np.log(g)),
                lambda g: np.log(g) + 0.5 * np.log1p(1 / g**2),
            ),
            breaks=True,
        ),
        Mistake(
            "1/γ² at γ = 0",
            "ln|γ| + ½ ln(1 + 1/γ²) is right for large γ; at γ = 0 it is −∞ + ∞.",
            lambda g: np.log(np.abs(g)) + 0.5 * np.log1p(1 / g / g),
            breaks=True,
        ),
        Mistake(
            "the ½ is missing",
            "ln √(1 + γ²) is half of ln(1 + γ²).",
            (lambda g: 2 * np.log(np.hypot(1.0, g)), lambda g: np.log1p(g**2)),
        ),
        Mistake(
            "the square is missing",
            "for large γ the KL is ln|γ|, but near 0 it is ½γ², not ½|γ|.",
            (lambda g: 0.5 * np.log1p(np.abs(g)), lambda g: 0.5 * np.log1p(g)),
            breaks=True,
        ),
        Mistake(
            "ln(1 + |γ|)",
            "this agrees for large γ only; at 0 its slope is 1.",
            lambda g: np.log1p(np.abs(g)),
        ),
        Mistake(
            "summed",
            "return the KL of each weight here.",
            lambda g: np.sum(np.log(np.hypot(1.0, g))),
        ),
        Mistake(
            "two formulas that do not meet",
            "½ ln(1 + γ²) is a little more than ln|γ|: 0.35 at 1, and still 0.00002 at 150.",
            tuple(
                lambda g, start=start: np.where(
                    np.abs(g) > start, np.log(np.abs(g)), 0.5 * np.log1p(g**2)
                )
                for start in (1.0, 2.0, 5.0, 10.0, 100.0)
            ),
        ),
    ),
    rtol=3e-7,  # the exercise is about large γ: 10³⁰⁰ is beyond float32 in any case
)


def _spread(x: Any, sigma: Any) -> Any:
    return np.sqrt(x**2 @ sigma**2)


PREACTIVATION = Exercise(
    "5.8",
    "Break: the noise of a pre-activation",
    "5.8",
    _spread,
    (
        (_A([[1.0, -2.0]]), _A([[0.5], [0.1]])),
        (_RNG.normal(size=(3, 4)), _RNG.uniform(0.1, 1.0, (4, 2))),
        (np.ones((2, 3)), _A([[0.3, 0.2], [0.4, 0.1], [1.2, 0.9]])),
        (_RNG.normal(size=(2, 1)), _RNG.uniform(0.1, 1.0, (1, 7))),
        # almost certain weights: what is added under the root shows
        (_RNG.normal(size=(2, 3)), 1e-6 * _RNG.uniform(0.1, 1.0, (3, 1))),
    ),
    (
        Mistake(
            "one ε for all inputs",
            "x·σ is what a single ε shared by every weight would do; independent weights add "
            "their variances.",
            lambda x, s: x @ s,
        ),
        Mistake(
            "one ε for all inputs, made positive",
            "independent weights add their variances, not their standard deviations.",
            lambda x, s: np.abs(x @ s),
        ),
        Mistake(
            "absolute values added",
            "independent weights add their variances, not their standard deviations.",
            lambda x, s: np.abs(x) @ s,
        ),
        Mistake("δ for √δ", "this is the variance; take its root.", lambda x, s: x**2 @ s**2),
        Mistake(
            "σ for σ²",
            "the variance of x w is x² σ².",
            lambda x, s: np.sqrt(x**2 @ s),
        ),
        Mistake(
            "x is not squared",
            "the variance of x w is x² σ²: both are squared.",
            (lambda x, s: np.sqrt(x @ s**2), lambda x, s: np.sqrt(np.abs(x) @ s**2)),
            breaks=True,
        ),
        Mistake(
            "eps under the root",
            "with σ = 10⁻⁶ there is hardly any noise: add nothing, and set no least value.",
            tuple(lambda x, s, eps=eps: np.sqrt(x**2 @ s**2 + eps) for eps in _EPS),
        ),
        Mistake(
            "averaged over the inputs",
            "a unit sums over its inputs.",
            (
                lambda x, s: np.sqrt(x**2 @ s**2 / len(s)),
                lambda x, s: np.sqrt(x**2 @ s**2) / len(s),
            ),
        ),
    ),
)


def _sigmoid(f: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-f))


PROBABILITY = Exercise(
    "5.9",
    "Extend: the posterior predictive of a label",
    "5.1",
    lambda logits: _sigmoid(logits).mean(axis=0),
    (
        (_A([[-4.0, 0.3], [4.0, 0.5], [5.0, -1.0]]),),
        (_RNG.normal(1.0, 3.0, (6, 4)),),
        (_A([[2.0], [-7.0]]),),
        (_RNG.normal(-1.0, 4.0, (5, 7)),),
        (_A([[0.4, -1.7, 3.0]]),),
        (_A([[-14.0, -9.0], [-11.5, -12.0], [-12.5, -10.0]]),),  # all but certain of 0
    ),
    (
        Mistake(
            "plug-in",
            "this is the sigmoid of the mean logit; average the probabilities.",
            lambda f: _sigmoid(f.mean(axis=0)),
        ),
        Mistake(
            "a vote",
            "a network that says 0.51 does not say 1: average probabilities, not decisions.",
            lambda f: (f > 0).mean(axis=0),
        ),
        Mistake(
            "averaged over the inputs",
            "the draws are in the first axis.",
            lambda f: _sigmoid(f).mean(axis=1),
        ),
        Mistake("not averaged", "one probability an input: average.", lambda f: _sigmoid(f)),
        Mistake(
            "log odds for a probability",
            "a logit has to go through the sigmoid.",
            lambda f: f.mean(axis=0),
        ),
        Mistake(
            "sum for mean",
            "probabilities above 1 are none: divide by the number of draws.",
            lambda f: _sigmoid(f).sum(axis=0),
        ),
        Mistake(
            "exp for the sigmoid",
            "e^f are the odds; the probability is 1/(1 + e^(−f)).",
            lambda f: np.exp(f).mean(axis=0),
        ),
        Mistake(
            "one Gaussian for the draws",
            "this is an approximation for when only their mean and variance are known; here "
            "the draws are there.",
            lambda f: _sigmoid(f.mean(axis=0) / np.sqrt(1 + np.pi / 8 * f.var(axis=0))),
        ),
        Mistake(
            "mean of logarithms",
            "average the probabilities themselves.",
            (
                lambda f: np.exp(np.log(_sigmoid(f)).mean(axis=0)),
                lambda f: np.log(_sigmoid(f)).mean(axis=0),
            ),
        ),
        Mistake(
            "softmax over the draws",
            "every draw is a network of its own: a sigmoid for each, then the mean.",
            lambda f: (np.exp(f) / np.exp(f).sum(axis=0)).mean(axis=0),
        ),
        Mistake(
            "softmax over the inputs",
            "every input is a patient of its own: a sigmoid for each.",
            lambda f: (np.exp(f) / np.exp(f).sum(axis=1, keepdims=True)).mean(axis=0),
        ),
        Mistake(
            "the median",
            "the predictive is the mean of the draws' probabilities.",
            (
                lambda f: np.median(_sigmoid(f), axis=0),
                lambda f: _sigmoid(np.median(f, axis=0)),
            ),
        ),
        Mistake(
            "P(y = 0)",
            "the logit is that of y = 1.",
            lambda f: _sigmoid(-f).mean(axis=0),
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (RELEVANCE, STABLE, PREACTIVATION, PROBABILITY)
