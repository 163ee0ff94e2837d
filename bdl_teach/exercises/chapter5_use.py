"""Exercises 5.6 to 5.9: what is pruned, what breaks, and what to predict."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.exercises.engine import Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(5)


def _prior_var(x: Any, y: Any, s: float) -> Any:
    precision, pull = x @ x / s**2, x @ y / s**2
    return max((pull**2 - precision) / precision**2, 0.0)


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
            "the square of least squares",
            "(b/s)² is inflated by the noise of the estimate: subtract 1/s.",
            lambda x, y, s: (x @ y / (x @ x)) ** 2,
        ),
    ),
)


def _overflows(outcomes: Any, expected: Any) -> bool:
    pairs = list(zip(outcomes, expected, strict=True))
    arrays = [(o, e) for o, e in pairs if isinstance(o, np.ndarray) and o.shape == e.shape]
    finite = [np.isfinite(o).all() for o, _ in arrays]
    right = [np.allclose(o, e) for (o, e), ok in zip(arrays, finite, strict=True) if ok]
    return len(arrays) == len(pairs) and not all(finite) and bool(right) and all(right)


STABLE = Exercise(
    "5.7",
    "Break: a KL for every γ",
    "5.5",
    lambda gamma: np.log(np.hypot(1.0, gamma)),
    (
        (_A([0.0, 0.5, -3.0]),),
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
            recognises=_overflows,
        ),
        Mistake(
            "the ½ is missing",
            "ln √(1 + γ²) is half of ln(1 + γ²).",
            lambda g: 2 * np.log(np.hypot(1.0, g)),
        ),
        Mistake(
            "the square is missing",
            "for large γ the KL is ln|γ|, but near 0 it is ½γ², not ½|γ|.",
            lambda g: 0.5 * np.log1p(np.abs(g)),
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
        Mistake("wrong sign", "a KL is never negative.", lambda g: -np.log(np.hypot(1.0, g))),
    ),
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
            lambda x, s: np.sqrt(x @ s**2),
        ),
        Mistake(
            "averaged over the inputs",
            "a unit sums over its inputs.",
            lambda x, s: np.sqrt(x**2 @ s**2 / len(s)),
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
            "P(y = 0)",
            "the logit is that of y = 1.",
            lambda f: _sigmoid(-f).mean(axis=0),
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (RELEVANCE, STABLE, PREACTIVATION, PROBABILITY)
