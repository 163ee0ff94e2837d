"""Exercises 5.1 to 5.5: the prior in closed form, and the gradients of γ and ρ."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.exercises._engine import Choice, Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(51)
_EPS = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)  # what programs add below a line


def _weights(count: int) -> tuple[Any, Any]:
    """Means of either sign and standard deviations."""
    return _RNG.normal(0.0, 1.5, count).round(2), _RNG.uniform(0.1, 2.0, count).round(2)


def _kl(mu: Any, sigma: Any) -> Any:
    return 0.5 * np.sum(np.log1p((mu / sigma) ** 2))


KL = Exercise(
    "5.1",
    "Compute: the KL at the best prior",
    "5.4",
    _kl,
    (
        (_A([0.3]), _A([0.5])),
        (_A([0.0, -1.2, 2.0]), _A([0.7, 2.0, 0.1])),
        (_A([5.0, -5.0]), _A([0.01, 1.0])),
        _weights(3),
        _weights(7),
        (_A([-0.4, 0.9]), _A([1e-6, 0.6])),  # what is added to σ shows
        (_A([0.08]), _A([0.7])),  # what is added in the logarithm shows
    ),
    (
        Mistake(
            "the ½ is missing",
            "the KL of two Gaussians has ½ before its logarithm of variances.",
            lambda m, s: np.sum(np.log1p((m / s) ** 2)),
        ),
        Mistake(
            "σ for σ²",
            "the ratio is μ²/σ², both squared: γ² with γ = μ/σ.",
            lambda m, s: 0.5 * np.sum(np.log1p(m**2 / s)),
        ),
        Mistake(
            "μ is not squared",
            "the ratio is μ²/σ², both squared.",
            (
                lambda m, s: 0.5 * np.sum(np.log1p(np.abs(m) / s**2)),
                lambda m, s: 0.5 * np.sum(np.log1p(m / s**2)),
            ),
            breaks=True,
        ),
        Mistake(
            "the squares are missing",
            "the ratio is μ²/σ² = γ², not γ.",
            (
                lambda m, s: 0.5 * np.sum(np.log1p(np.abs(m) / s)),
                lambda m, s: 0.5 * np.sum(np.log1p(m / s)),
            ),
            breaks=True,
        ),
        Mistake(
            "not in nats",
            "the logarithm is the natural one, np.log or np.log1p.",
            (lambda m, s: _kl(m, s) / np.log(2), lambda m, s: _kl(m, s) / np.log(10)),
        ),
        Mistake(
            "eps in the denominator",
            "a σ of 10⁻⁶ is small because the weight is known well: nothing may be added to it.",
            tuple(
                [
                    *(lambda m, s, eps=eps: _kl(m, np.sqrt(s**2 + eps)) for eps in _EPS),
                    *(lambda m, s, eps=eps: _kl(m, s + eps) for eps in _EPS[:4]),
                ]
            ),
        ),
        Mistake(
            "eps in the logarithm",
            "1 + μ²/σ² is at least 1: its logarithm needs no help.",
            tuple(
                lambda m, s, eps=eps: 0.5 * np.sum(np.log(1 + (m / s) ** 2 + eps))
                for eps in (1e-3, 1e-4, 1e-5, 1e-6)
            ),
        ),
        Mistake(
            "one prior for all",
            "(5.9) gives each weight a prior of its own; what is shared is (5.10).",
            lambda m, s: np.sum(np.log(_shared(m, s) / s)),
        ),
        Mistake(
            "the KL the other way round",
            "it is KL[q‖p], with the prior second.",
            lambda m, s: 0.5 * np.sum(m**2 / s**2 + (m / s) ** 2 - np.log1p((m / s) ** 2)),
        ),
        Mistake(
            "the ratio is upside down",
            "a weight with μ = 0 costs nothing: σ² stands below.",
            lambda m, s: 0.5 * np.sum(np.log1p((s / m) ** 2)),
            breaks=True,
        ),
        Mistake(
            "the KL to N(0, 1)",
            "the prior is not fixed: put σ_p² = μ² + σ² into the formula.",
            lambda m, s: 0.5 * np.sum(s**2 + m**2 - np.log(s**2) - 1),
        ),
        Mistake(
            "not summed",
            "one number is wanted: the KL of independent weights is the sum of theirs.",
            lambda m, s: 0.5 * np.log1p((m / s) ** 2),
        ),
        Mistake(
            "mean for sum",
            "every weight costs its own nats: a sum.",
            lambda m, s: _kl(m, s) / np.size(m),
        ),
        Mistake("wrong sign", "a KL is never negative.", lambda m, s: -_kl(m, s)),
        Mistake(
            "the 1 is missing",
            "½ ln(μ²/σ²) is −∞ for a weight with μ = 0, and a KL is never negative: 1 + μ²/σ².",
            lambda m, s: 0.5 * np.sum(np.log((m / s) ** 2)),
        ),
        Mistake(
            "one ratio for all",
            "each weight has its own μ²/σ²: take the logarithm first, then the sum.",
            lambda m, s: 0.5 * np.log1p(np.sum(m**2) / np.sum(s**2)),
        ),
    ),
)


def _shared(mu: Any, sigma: Any) -> Any:
    return np.sqrt(np.mean(mu**2 + sigma**2))


SHARED = Exercise(
    "5.2",
    "Compute: one prior for a whole layer",
    "5.4",
    _shared,
    (
        (_A([0.3, -0.1]), _A([0.5, 0.2])),
        (_A([0.0, -1.2, 2.0]), _A([0.7, 2.0, 0.1])),
        (_A([3.0, 3.0, 3.0, 0.0]), _A([0.1, 0.1, 0.1, 4.0])),
        _weights(1),
        _weights(7),
        (_A([2e-6, -3e-6]), _A([1e-6, 5e-6])),  # what is added under the root shows
    ),
    (
        Mistake(
            "σ_p² for σ_p",
            "this is the variance; a standard deviation is asked for.",
            lambda m, s: np.mean(m**2 + s**2),
        ),
        Mistake(
            "sum for mean",
            "weights that share a prior vote on its variance: an average.",
            lambda m, s: np.sqrt(np.sum(m**2 + s**2)),
        ),
        Mistake(
            "a prior for each weight",
            "the layer shares one: average μ² + σ² over it.",
            lambda m, s: np.sqrt(m**2 + s**2),
        ),
        Mistake(
            "standard deviations averaged",
            "the derivative of the KL in σ_p averages variances: take the root last.",
            lambda m, s: np.mean(np.sqrt(m**2 + s**2)),
        ),
        Mistake(
            "σ is missing",
            "E_q[w²] is μ² + σ²: an unsure weight asks for room as well.",
            lambda m, s: np.sqrt(np.mean(m**2)),
        ),
        Mistake(
            "μ is missing",
            "E_q[w²] is μ² + σ²: the prior is centred at 0, not at μ.",
            lambda m, s: np.sqrt(np.mean(s**2)),
        ),
        Mistake(
            "centred at the mean of μ",
            "the prior's mean stays at 0: take μ², not its deviation from the average.",
            lambda m, s: np.sqrt(np.var(m) + np.mean(s**2)),
        ),
        Mistake(
            "averaged before squaring",
            "it is μ² + σ² that is averaged: μ of both signs must not cancel.",
            lambda m, s: np.hypot(np.mean(m), np.mean(s)),
        ),
        Mistake("α for σ_p", "α is the precision, 1/σ_p².", lambda m, s: 1 / _shared(m, s) ** 2),
        Mistake(
            "n − 1 for n",
            "nothing has been estimated before: (5.10) divides by the number of weights.",
            lambda m, s: np.sqrt(np.sum(m**2 + s**2) / (len(m) - 1)),
        ),
        Mistake(
            "σ for σ²",
            "E_q[w²] is μ² + σ²: square σ.",
            lambda m, s: np.sqrt(np.mean(m**2 + s)),
        ),
        Mistake(
            "μ for μ²",
            "E_q[w²] is μ² + σ²: square μ.",
            (
                lambda m, s: np.sqrt(np.mean(m + s**2)),
                lambda m, s: np.sqrt(np.mean(np.abs(m) + s**2)),
            ),
            breaks=True,
        ),
        Mistake(
            "eps under the root",
            "the weights of a layer that is switched off are 10⁻⁶: nothing may be added.",
            tuple(lambda m, s, eps=eps: np.sqrt(np.mean(m**2 + s**2) + eps) for eps in _EPS),
        ),
        Mistake(
            "squared after adding",
            "(μ + σ)² has a term 2μσ that E_q[w²] = μ² + σ² has not.",
            (
                lambda m, s: np.sqrt(np.mean((m + s) ** 2)),
                lambda m, s: np.sqrt(np.mean((np.abs(m) + s) ** 2)),
            ),
        ),
    ),
)

STATEMENTS = Choice(
    "5.3",
    "Explain: true or false",
    "5.4, 5.6, 5.7 and 5.10",
    frozenset("bce"),
    statements={
        "a": "which evidence does the bound with a learnt prior stay below (section 5.6)?",
        "b": "what happens to μ²/σ² when μ and σ grow alike (section 5.7)?",
        "c": "what is the slope of ½ ln(1 + γ²) at γ = 0 (section 5.7)?",
        "d": "what does γ/(1 + γ²) do for large γ (section 5.7)?",
        "e": "which of the two has more freedom to fit the prior to q (section 5.4)?",
        "f": "are there two networks of one width among the pairs that gave 0.97 (section 5.10)?",
    },
)


def _sigmoid(rho: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-rho))


def _softplus(rho: Any) -> Any:
    return np.logaddexp(0.0, rho)


_STEPS = (
    (0.5, -1.0, 0.7, -14.7),
    (-2.0, 0.5, -1.9, 4.0),
    (_A([1.0, -3.0]), _A([-1.0, 2.0]), _A([0.3, -0.8]), _A([2.0, 5.0])),
    (_A([0.0, -0.4]), _A([-2.5, 0.1]), _A([1.3, 0.2]), _A([0.8, -1.6])),
    tuple(_RNG.normal(0.0, 2.0, (4, 7)).round(2)),
)

DELTA_GAMMA = Exercise(
    "5.4",
    "Compute: Δγ",
    "5.5 and 5.7",
    lambda gamma, rho, eps, dnll_dw: dnll_dw * _softplus(rho) + gamma / (1 + gamma**2),
    _STEPS,
    (
        Mistake(
            "the KL is missing",
            "the loss is nll + KL; dKL/dγ = γ/(1 + γ²).",
            lambda g, r, e, d: d * _softplus(r),
        ),
        Mistake(
            "softplus forgotten",
            "∂w/∂γ = σ, and σ = softplus(ρ).",
            lambda g, r, e, d: d * r + g / (1 + g**2),
        ),
        Mistake(
            "∂w/∂γ is missing",
            "w = σ (γ + ε): a step of γ moves w by σ.",
            lambda g, r, e, d: d + g / (1 + g**2),
        ),
        Mistake(
            "the ½ is missing",
            "½ ln(1 + γ²) has the slope γ/(1 + γ²), not twice that.",
            lambda g, r, e, d: d * _softplus(r) + 2 * g / (1 + g**2),
        ),
        Mistake(
            "the slope of weight decay",
            "½γ² would pull with γ; the logarithm lets large γ go.",
            lambda g, r, e, d: d * _softplus(r) + g,
        ),
        Mistake(
            "wrong sign of the KL",
            "the KL is added to the loss.",
            lambda g, r, e, d: d * _softplus(r) - g / (1 + g**2),
        ),
        Mistake(
            "wrong sign",
            "Δγ is the gradient; the minus comes in the update.",
            lambda g, r, e, d: -d * _softplus(r) - g / (1 + g**2),
        ),
        Mistake(
            "the derivative of softplus for softplus",
            "∂w/∂γ is σ itself.",
            lambda g, r, e, d: d * _sigmoid(r) + g / (1 + g**2),
        ),
        Mistake(
            "∂w/∂σ for ∂w/∂γ",
            "w = σ (γ + ε): a step of γ moves w by σ; γ + ε is what a step of σ moves it by.",
            lambda g, r, e, d: d * (g + e) + g / (1 + g**2),
        ),
        Mistake(
            "ε where there is none",
            "w = σγ + σε: only the first term contains γ.",
            lambda g, r, e, d: d * _softplus(r) * e + g / (1 + g**2),
        ),
        Mistake(
            "the KL for its slope",
            "½ ln(1 + γ²) is the KL; its derivative is asked for.",
            lambda g, r, e, d: d * _softplus(r) + 0.5 * np.log1p(g**2),
        ),
        Mistake(
            "the inner derivative is missing",
            "by the chain rule, ½ ln(1 + γ²) has the slope ½ · 2γ/(1 + γ²).",
            (
                lambda g, r, e, d: d * _softplus(r) + 0.5 / (1 + g**2),
                lambda g, r, e, d: d * _softplus(r) + 1 / (1 + g**2),
            ),
        ),
        Mistake(
            "exp for softplus",
            "σ is ln(1 + e^ρ), not e^ρ.",
            lambda g, r, e, d: d * np.exp(r) + g / (1 + g**2),
        ),
        Mistake(
            "the likelihood is missing",
            "w = σ (γ + ε) contains γ: the nll moves as well.",
            lambda g, r, e, d: g / (1 + g**2),
        ),
    ),
)

DELTA_RHO = Exercise(
    "5.5",
    "Change: Δρ when the mean moves along",
    "5.5",
    lambda gamma, rho, eps, dnll_dw: dnll_dw * (gamma + eps) * _sigmoid(rho),
    _STEPS,
    (
        Mistake(
            "the mean held still",
            "this is Δρ of Bayes by Backprop; here μ = γσ moves with σ: ∂w/∂σ = γ + ε.",
            lambda g, r, e, d: d * e * _sigmoid(r),
        ),
        Mistake(
            "softplus forgotten",
            "this is the step of σ; ρ moves σ by 1/(1 + e^(−ρ)).",
            lambda g, r, e, d: d * (g + e),
        ),
        Mistake(
            "softplus for its derivative",
            "∂σ/∂ρ is 1/(1 + e^(−ρ)), not σ.",
            lambda g, r, e, d: d * (g + e) * _softplus(r),
        ),
        Mistake(
            "ε forgotten",
            "w = γσ + εσ: both terms contain σ.",
            lambda g, r, e, d: d * g * _sigmoid(r),
        ),
        Mistake(
            "a KL where there is none",
            "½ ln(1 + γ²) does not contain ρ.",
            lambda g, r, e, d: d * (g + e) * _sigmoid(r) + g / (1 + g**2),
        ),
        Mistake(
            "wrong sign in the exponent",
            "the derivative of softplus grows with ρ: 1/(1 + e^(−ρ)).",
            lambda g, r, e, d: d * (g + e) * _sigmoid(-r),
        ),
        Mistake(
            "exp for softplus",
            "σ is ln(1 + e^ρ), not e^ρ: its derivative is 1/(1 + e^(−ρ)).",
            lambda g, r, e, d: d * (g + e) * np.exp(r),
        ),
        Mistake(
            "σ twice",
            "∂w/∂σ is γ + ε, without another σ.",
            lambda g, r, e, d: d * (g + e) * _softplus(r) * _sigmoid(r),
        ),
        Mistake(
            "wrong sign",
            "Δρ is the gradient; the minus comes in the update.",
            lambda g, r, e, d: -d * (g + e) * _sigmoid(r),
        ),
        Mistake(
            "the derivative of the sigmoid",
            "softplus has the derivative 1/(1 + e^(−ρ)); that of the sigmoid is one too many.",
            lambda g, r, e, d: d * (g + e) * _sigmoid(r) * _sigmoid(-r),
        ),
        Mistake(
            "∂nll/∂w is missing",
            "by the chain rule: ∂nll/∂w · ∂w/∂σ · ∂σ/∂ρ.",
            lambda g, r, e, d: (g + e) * _sigmoid(r),
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (KL, SHARED, STATEMENTS, DELTA_GAMMA, DELTA_RHO)
