"""Exercises 3.1 to 3.4: the free energy and its gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.exercises._engine import Choice, Exercise, Mistake
from bdl_teach.exercises._faces import BASES, TINY

_A = np.array
_RNG = np.random.default_rng(3)


def _kl(mu_q: Any, sigma_q: Any, mu_p: Any, sigma_p: Any) -> Any:
    return np.log(sigma_p / sigma_q) + (sigma_q**2 + (mu_q - mu_p) ** 2) / (2 * sigma_p**2) - 0.5


KL = Exercise(
    "3.1",
    "Compute: the KL between two Gaussians",
    "1.8",
    _kl,
    (
        (_A([0.3]), _A([0.5]), _A([0.0]), _A([1.0])),
        (_A([0.0, -1.2]), _A([0.7, 2.0]), _A([0.5, 0.1]), _A([1.5, 0.4])),
        (_A([1.0]), _A([0.2]), _A([1.0]), _A([0.2])),
        (
            *_RNG.normal(size=(1, 3)),
            _RNG.gamma(2.0, 1.0, 3),
            *_RNG.normal(size=(1, 3)),
            _RNG.gamma(2.0, 1.0, 3),
        ),
        (
            _A([0.7, -2.0, 4.0]),
            _A([1e-6, 0.003, 25.0]),
            _A([0.2, -2.01, -60.0]),
            _A([0.9, 0.004, 7.0]),
        ),
        (_A([2e-6, 0.4]), _A([3e-6, 2.0]), _A([-1e-6, 5.0]), _A([2e-6, 0.03])),
    ),
    (
        Mistake(
            "KL reversed",
            "this is KL[p ‖ q]; the expectation is over q, so σ_q² stands over σ_p².",
            lambda a, b, c, d: _kl(c, d, a, b),
        ),
        Mistake(
            "σ for σ²",
            "the fraction has variances in it: square both standard deviations.",
            lambda a, b, c, d: np.log(d / b) + (b + (a - c) ** 2) / (2 * d) - 0.5,
        ),
        Mistake(
            "σ_p not squared",
            "the denominator is 2 σ_p², a variance.",
            lambda a, b, c, d: np.log(d / b) + (b**2 + (a - c) ** 2) / (2 * d) - 0.5,
        ),
        Mistake(
            "σ_q not squared",
            "the numerator is σ_q² + (μ_q − μ_p)²: a variance.",
            lambda a, b, c, d: np.log(d / b) + (b + (a - c) ** 2) / (2 * d**2) - 0.5,
        ),
        Mistake(
            "another logarithm",
            "nats belong to the natural logarithm, np.log.",
            (
                *(lambda a, b, c, d, base=base: _kl(a, b, c, d) / base for base in BASES),
                *(
                    lambda a, b, c, d, base=base: _kl(a, b, c, d) - np.log(d / b) * (1 - 1 / base)
                    for base in BASES
                ),
            ),
        ),
        Mistake(
            "a small number added",
            "standard deviations are positive already; a small number beside them changes the KL "
            "of narrow Gaussians.",
            (
                *(
                    lambda a, b, c, d, t=t: (
                        np.log((d + t) / (b + t)) + (b**2 + (a - c) ** 2) / (2 * d**2) - 0.5
                    )
                    for t in TINY
                    if t > 1e-10
                ),
                *(
                    lambda a, b, c, d, t=t: (
                        np.log(d / (b + t)) + (b**2 + (a - c) ** 2) / (2 * d**2) - 0.5
                    )
                    for t in TINY
                    if t > 1e-10
                ),
                *(
                    lambda a, b, c, d, t=t: (
                        np.log(d / b) + (b**2 + (a - c) ** 2) / (2 * d**2 + t) - 0.5
                    )
                    for t in TINY
                    if t > 1e-16
                ),
            ),
        ),
        Mistake(
            "log of variances without ½",
            "log(σ_p²/σ_q²) is twice log(σ_p/σ_q).",
            lambda a, b, c, d: 2 * np.log(d / b) + (b**2 + (a - c) ** 2) / (2 * d**2) - 0.5,
        ),
        Mistake(
            "1 for ½",
            "the last term is −½: for p = q the KL must be 0.",
            lambda a, b, c, d: _kl(a, b, c, d) - 0.5,
        ),
        Mistake(
            "twice the KL",
            "the ½ of the Gaussians' exponents is missing everywhere.",
            lambda a, b, c, d: 2 * _kl(a, b, c, d),
        ),
        Mistake(
            "wrong sign of σ_q²",
            "a wider q costs more in the fraction: σ_q² + (μ_q − μ_p)².",
            lambda a, b, c, d: np.log(d / b) + ((a - c) ** 2 - b**2) / (2 * d**2) - 0.5,
        ),
        Mistake(
            "the −½ is missing",
            "for p = q the KL must be 0; yours is ½.",
            lambda a, b, c, d: _kl(a, b, c, d) + 0.5,
        ),
        Mistake(
            "the logarithm is missing",
            "the two normalising constants leave log(σ_p/σ_q).",
            lambda a, b, c, d: _kl(a, b, c, d) - np.log(d / b),
        ),
        Mistake(
            "the logarithm is upside down",
            "it is log(σ_p/σ_q): a narrower q costs more.",
            lambda a, b, c, d: _kl(a, b, c, d) - 2 * np.log(d / b),
        ),
        Mistake(
            "the fraction's ½ is missing",
            "the denominator is 2 σ_p².",
            lambda a, b, c, d: np.log(d / b) + (b**2 + (a - c) ** 2) / d**2 - 0.5,
        ),
        Mistake(
            "the means are missing",
            "(μ_q − μ_p)² stands beside σ_q²: a shifted q costs as well.",
            lambda a, b, c, d: _kl(a, b, a, d),
        ),
        Mistake(
            "the difference of the means is not squared",
            "(μ_q − μ_p)² cannot care which mean is larger.",
            lambda a, b, c, d: np.log(d / b) + (b**2 + (a - c)) / (2 * d**2) - 0.5,
        ),
        Mistake(
            "summed or averaged",
            "return one KL for each element; who wants the sum, or the mean, can take it.",
            (
                lambda a, b, c, d: np.sum(_kl(a, b, c, d)),
                lambda a, b, c, d: np.mean(_kl(a, b, c, d)),
            ),
        ),
        Mistake(
            "wrong sign",
            "a KL is never negative.",
            lambda a, b, c, d: -_kl(a, b, c, d),
        ),
    ),
)

_DRAWS = tuple(
    tuple(_RNG.normal(centre, 1.0, s) for centre in centres)
    for s, centres in (
        (1, (-3.0, -7.0, -40.0)),
        (4, (-3.0, -7.0, -40.0)),
        (10, (2.0, -30.0, -60.0)),
        (7, (40.0, 20.0, 9.0)),  # densities above 1
        (3, (-900.0, -2500.0, -1200.0)),
        (5, (-8.0, -7.5, 2.0)),
        (2, (1.0, 4.0, -20.0)),
    )
)

FREE_ENERGY = Exercise(
    "3.2",
    "Compute: the Monte-Carlo free energy",
    "3.5",
    lambda log_q, log_prior, log_likelihood: np.mean(log_q - log_prior - log_likelihood),
    _DRAWS,
    (
        Mistake(
            "missing 1/S",
            "an expectation is a mean over the draws, yours is their sum.",
            lambda q, p, d: np.sum(q - p - d),
        ),
        Mistake(
            "wrong sign",
            "this is the ELBO, −F; the free energy is what is minimised.",
            lambda q, p, d: np.mean(p + d - q),
        ),
        Mistake(
            "wrong sign and missing 1/S",
            "this is the sum of ELBOs; F is the mean with the other sign.",
            lambda q, p, d: np.sum(p + d - q),
        ),
        Mistake(
            "prior and posterior swapped",
            "the complexity cost is log q − log P(w).",
            lambda q, p, d: np.mean(p - q - d),
        ),
        Mistake(
            "wrong sign of the likelihood",
            "the likelihood cost is −log P(D | w): a better fit lowers F.",
            lambda q, p, d: np.mean(q - p + d),
        ),
        Mistake(
            "wrong sign of the prior",
            "log P(w) is subtracted: a plausible weight lowers F.",
            lambda q, p, d: np.mean(q + p - d),
        ),
        Mistake("the prior is missing", "F has three terms.", lambda q, p, d: np.mean(q - d)),
        Mistake(
            "log q is missing",
            "without it σ would shrink to 0: this is the MAP objective.",
            lambda q, p, d: np.mean(-p - d),
        ),
        Mistake(
            "the likelihood is missing",
            "log q − log P(w) is the complexity cost alone; the data have a say as well.",
            lambda q, p, d: np.mean(q - p),
        ),
        Mistake(
            "divided by S − 1",
            "an expectation is a mean over the S draws.",
            lambda q, p, d: np.sum(q - p - d) / (len(q) - 1),
            breaks=True,  # one draw
        ),
        Mistake(
            "the likelihood summed, the rest averaged",
            "the sum over data points is inside log P(D | w); over the draws all is averaged.",
            lambda q, p, d: np.mean(q - p) - np.sum(d),
        ),
        Mistake(
            "weighted with q",
            "the draws come from q: an expectation over q is their plain mean.",
            (
                lambda q, p, d: np.mean(np.exp(q) * (q - p - d)),
                lambda q, p, d: np.sum(np.exp(q) * (q - p - d)),
                lambda q, p, d: np.mean(np.exp(q) * (q - p)) - np.mean(d),
            ),
        ),
        Mistake(
            "not averaged",
            "one number is wanted: average over the draws.",
            lambda q, p, d: q - p - d,
        ),
        Mistake(
            "density for log density",
            "the arrays hold logarithms already.",
            lambda q, p, d: np.mean(np.log(q) - np.log(p) - np.log(d)),
            breaks=True,
        ),
        Mistake(
            "logarithms turned back",
            "F is made of log densities: no exponentials.",
            (
                lambda q, p, d: np.mean(np.exp(q) - np.exp(p) - np.exp(d)),
                lambda q, p, d: np.mean(np.exp(q - p - d)),
            ),
        ),
    ),
)


def _slope(rho: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-rho))


def _softplus(rho: Any) -> Any:
    return np.logaddexp(0.0, rho)


DELTA_RHO = Exercise(
    "3.3",
    "Compute: Δρ",
    "3.5",
    lambda mu, rho, eps, df_dw, df_drho: df_dw * eps * _slope(rho) + df_drho,
    (
        (0.2, -3.0, 0.7, -14.7, -0.5),
        (0.2, 0.5, -1.9, 4.0, -0.3),
        (_A([1.0, -1.0]), _A([-1.0, 2.0]), _A([0.3, -0.8]), _A([2.0, 5.0]), _A([0.1, -2.0])),
        (-1.7, -6.0, 1.3, 900.0, 0.02),
        tuple(_RNG.normal(0.0, 2.0, 5) for _ in range(5)),
        (0.4, 5.0, 2.1, -0.8, 0.0),
    ),
    (
        Mistake(
            "softplus forgotten",
            "this is Δσ; ρ moves σ by softplus′(ρ) = 1/(1 + e^(−ρ)).",
            lambda m, r, e, w, p: w * e + p,
        ),
        Mistake(
            "softplus for its derivative",
            "∂σ/∂ρ is 1/(1 + e^(−ρ)), not σ itself.",
            lambda m, r, e, w, p: w * e * _softplus(r) + p,
        ),
        Mistake(
            "exponential for softplus",
            "∂σ/∂ρ = e^ρ belongs to σ = e^ρ.",
            lambda m, r, e, w, p: w * e * np.exp(r) + p,
        ),
        Mistake(
            "wrong sign in the exponent",
            "the derivative of softplus grows with ρ: 1/(1 + e^(−ρ)).",
            lambda m, r, e, w, p: w * e * _slope(-r) + p,
        ),
        Mistake(
            "tanh for the logistic function",
            "softplus′(ρ) = 1/(1 + e^(−ρ)), between 0 and 1.",
            lambda m, r, e, w, p: w * e * np.tanh(r) + p,
        ),
        Mistake(
            "the second derivative",
            "softplus′ is the logistic function itself; s(1 − s) is its derivative.",
            lambda m, r, e, w, p: w * e * _slope(r) * _slope(-r) + p,
        ),
        Mistake(
            "divided by the slope",
            "the chain rule multiplies: ∂w/∂ρ = ε softplus′(ρ).",
            (
                lambda m, r, e, w, p: w * e / _slope(r) + p,
                lambda m, r, e, w, p: w * e * (1 + np.exp(r)) + p,
            ),
        ),
        Mistake(
            "the explicit part subtracted",
            "(3.13) adds the two parts.",
            lambda m, r, e, w, p: w * e * _slope(r) - p,
        ),
        Mistake(
            "the path is missing",
            "f depends on ρ through w as well: ∂f/∂w · ∂w/∂ρ.",
            lambda m, r, e, w, p: p,
        ),
        Mistake(
            "∂f/∂w is missing",
            "the chain rule has two factors: ∂f/∂w · ∂w/∂ρ.",
            lambda m, r, e, w, p: e * _slope(r) + p,
        ),
        Mistake(
            "the weight for the noise",
            "∂w/∂ρ has ε in it, not w or μ.",
            (
                lambda m, r, e, w, p: w * (m + _softplus(r) * e) * _slope(r) + p,
                lambda m, r, e, w, p: w * m * _slope(r) + p,
            ),
        ),
        Mistake(
            "the explicit part is missing",
            "f depends on ρ also through log q: add ∂f/∂ρ.",
            lambda m, r, e, w, p: w * e * _slope(r),
        ),
        Mistake(
            "chain rule applied twice",
            "∂f/∂ρ is a derivative with respect to ρ already.",
            lambda m, r, e, w, p: (w * e + p) * _slope(r),
        ),
        Mistake(
            "ε forgotten",
            "∂w/∂ρ = ε/(1 + e^(−ρ)): without ε every weight would widen alike.",
            lambda m, r, e, w, p: w * _slope(r) + p,
        ),
        Mistake("Δμ for Δρ", "this is the step of the mean.", lambda m, r, e, w, p: w + p),
        Mistake(
            "wrong sign",
            "Δρ is the gradient; the minus comes in the update.",
            lambda m, r, e, w, p: -(w * e * _slope(r) + p),
        ),
    ),
)

STATEMENTS = Choice(
    "3.4",
    "Explain: true or false",
    "3.3, 3.8, 3.10 and 3.12",
    frozenset("ace"),
    statements={
        "a": "what is the relation between F and the ELBO? See (3.7) in section 3.3.",
        "b": "what if the posterior is not in the family? See the start of section 3.3 and what "
        "section 3.8 says of Hamiltonian Monte Carlo.",
        "c": "which symbols are in KL[q ‖ P(w)]? See (3.5) in section 3.3.",
        "d": "can a hundred thermometer readings make the thermometer better? See (3.21) in "
        "section 3.8.",
        "e": "a small KL weight is like counting every data point ten times. See the KL weight in "
        "section 3.10.",
        "f": "can a weight be unknown because it does not matter? See section 3.12.",
    },
)

EXERCISES: tuple[Exercise, ...] = (
    KL,
    FREE_ENERGY,
    DELTA_RHO,
    STATEMENTS,
)
