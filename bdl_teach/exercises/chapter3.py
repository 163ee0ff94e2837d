"""Exercises of chapter 3: Bayes by Backprop."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import entr, expit, log_softmax, ndtr, softmax

from bdl_teach import datasets, densities, mlp, predictive
from bdl_teach._support.checks import Array
from bdl_teach.datasets.toy import Regression1D
from bdl_teach.exercises._engine import Choice, Exercise, Mistake
from bdl_teach.exercises._faces import BASES, TINY
from bdl_teach.methods import local_reparam

_A = np.array
_PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)


def _sinusoid(seed: int) -> Regression1D:
    return datasets.sinusoid(seed=seed)


# Exercise 3.1.

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
        (_A([0.1, -0.3]), _A([0.9, 1.1]), _A([0.0, -0.2]), _A([1.0, 1.0])),  # nearly the same
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


# Exercise 3.2.


def _pilot(exactly: float, sd: float, n: int) -> tuple[Array, float]:
    """A pilot of n estimates, and an error that ``exactly`` draws would have."""
    estimates = 380.0 + sd * _RNG.normal(size=n)
    return estimates, float(estimates.std(ddof=1) / np.sqrt(exactly))


def _draws_for(estimates: Any, error: Any) -> Any:
    return np.ceil(np.var(estimates, ddof=1) / error**2)


DRAWS = Exercise(
    "3.2",
    "Compute: how many draws?",
    "3.5",
    _draws_for,
    (
        _pilot(7.3, 12.0, 1000),
        _pilot(40.6, 0.5, 1000),
        _pilot(1.35, 90.0, 1000),
        _pilot(0.4, 3.0, 1000),
        _pilot(640.4, 25.0, 8000),
    ),
    (
        Mistake(
            "not rounded up",
            "a number of draws is whole, and the last one is needed as well.",
            (
                lambda f, error: np.var(f, ddof=1) / error**2,
                lambda f, error: np.var(f) / error**2,
                lambda f, error: np.floor(np.var(f, ddof=1) / error**2),
                lambda f, error: np.round(np.var(f, ddof=1) / error**2),
            ),
        ),
        Mistake(
            "sd for variance",
            "the *variance* of a mean falls as 1/S, its standard error as 1/√S.",
            (
                lambda f, error: np.ceil(np.std(f, ddof=1) / error),
                lambda f, error: np.ceil(np.std(f, ddof=1) / error**2),
            ),
        ),
        Mistake(
            "the error is not squared",
            "a variance over a standard error is no number: square the error.",
            lambda f, error: np.ceil(np.var(f, ddof=1) / error),
        ),
        Mistake(
            "always one draw",
            "the pilot's mean may be as good as that already, and a share of F is soon reached; "
            "but one draw has the variance of the estimates themselves, and `error` is in nats.",
            lambda f, error: np.ceil(np.var(f, ddof=1) / len(f) / error**2),
        ),
        Mistake(
            "the mean for the spread",
            "how large F is does not matter, only how far its estimates scatter.",
            (
                lambda f, error: np.ceil(np.mean(f) / error),
                lambda f, error: np.ceil(np.mean(f) / error**2),
                lambda f, error: np.ceil((np.mean(f) / error) ** 2),
                lambda f, error: np.ceil(np.mean(f**2) / error**2),
            ),
        ),
        Mistake(
            "upside down",
            "the smaller the error that is wanted, the more draws.",
            lambda f, error: np.ceil(error**2 / np.var(f, ddof=1)),
        ),
        Mistake(
            "two standard errors",
            "`error` is *one* standard error.",
            lambda f, error: np.ceil(4 * np.var(f, ddof=1) / error**2),
        ),
    ),
)


# Exercise 3.3.


def _slope(rho: Any) -> Any:
    return 1.0 / (1.0 + np.exp(-rho))


def _softplus(rho: Any) -> Any:
    return np.logaddexp(0.0, rho)


DELTA_RHO = Exercise(
    "3.3",
    "Change: Δρ for σ = e^ρ",
    "3.5",
    lambda mu, rho, eps, df_dw, df_drho: df_dw * eps * np.exp(rho) + df_drho,
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
            "the slope of softplus",
            "1/(1 + e^(−ρ)) belongs to σ = log(1 + e^ρ); here σ = e^ρ.",
            lambda m, r, e, w, p: w * e * _slope(r) + p,
        ),
        Mistake(
            "softplus for its derivative",
            "neither is σ a softplus here, nor is it enough to put σ itself of (3.8).",
            lambda m, r, e, w, p: w * e * _softplus(r) + p,
        ),
        Mistake(
            "Δσ for Δρ",
            "this is the path to σ; ρ moves σ by dσ/dρ.",
            lambda m, r, e, w, p: w * e + p,
        ),
        Mistake(
            "the logarithm's slope",
            "1/σ is dρ/dσ: the chain rule needs dσ/dρ.",
            lambda m, r, e, w, p: w * e * np.exp(-r) + p,
        ),
        Mistake(
            "ρ for e^ρ",
            "the derivative of e^ρ is e^ρ.",
            lambda m, r, e, w, p: w * e * r + p,
        ),
        Mistake(
            "the explicit part subtracted",
            "(3.13) adds the two parts.",
            lambda m, r, e, w, p: w * e * np.exp(r) - p,
        ),
        Mistake(
            "the path is missing",
            "f depends on ρ through w as well: ∂f/∂w · ∂w/∂ρ.",
            lambda m, r, e, w, p: p,
        ),
        Mistake(
            "∂f/∂w is missing",
            "the chain rule has two factors: ∂f/∂w · ∂w/∂ρ.",
            lambda m, r, e, w, p: e * np.exp(r) + p,
        ),
        Mistake(
            "the weight for the noise",
            "∂w/∂ρ has ε in it, not w or μ.",
            (
                lambda m, r, e, w, p: w * (m + np.exp(r) * e) + p,
                lambda m, r, e, w, p: w * (m + np.exp(r) * e) * np.exp(r) + p,
                lambda m, r, e, w, p: w * m * np.exp(r) + p,
            ),
        ),
        Mistake(
            "the explicit part is missing",
            "f depends on ρ also through log q: add ∂f/∂ρ.",
            lambda m, r, e, w, p: w * e * np.exp(r),
        ),
        Mistake(
            "chain rule applied twice",
            "∂f/∂ρ is a derivative with respect to ρ already.",
            lambda m, r, e, w, p: (w * e + p) * np.exp(r),
        ),
        Mistake(
            "ε forgotten",
            "∂w/∂ρ = ε dσ/dρ: without ε every weight would widen alike.",
            lambda m, r, e, w, p: w * np.exp(r) + p,
        ),
        Mistake("Δμ for Δρ", "this is the step of the mean.", lambda m, r, e, w, p: w + p),
        Mistake(
            "wrong sign",
            "Δρ is the gradient; the minus comes in the update.",
            lambda m, r, e, w, p: -(w * e * np.exp(r) + p),
        ),
    ),
)


# Exercise 3.4.

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


# Exercise 3.5.


def _trained_weight(factor: Any, n_data: Any, batch_size: Any, mean: Any) -> Any:
    return factor * n_data if mean else factor * n_data / batch_size


KL_WEIGHT = Exercise(
    "3.5",
    "Diagnose: which KL weight is that?",
    "3.7",
    _trained_weight,
    (
        (1.0, 320, 32, True),
        (1.0, 320, 32, False),
        (0.01, 60, 20, True),
        (0.2, 64, 16, False),
        (1 / 720, 720, 45, True),
        (0.5, 50, 50, False),
    ),
    (
        Mistake(
            "a sum for a mean",
            "the mean over the batch is 1/N of the whole likelihood cost, on average: what must "
            "it be multiplied with?",
            lambda c, n, b, mean: c * n / b,
        ),
        Mistake(
            "a mean for a sum",
            "a *sum* over the batch is B/N of the whole likelihood cost, on average.",
            lambda c, n, b, mean: c * n,
        ),
        Mistake(
            "sum and mean swapped",
            "a sum over B points is larger than their mean, so that the KL counts for less.",
            lambda c, n, b, mean: _trained_weight(c, n, b, not mean),
        ),
        Mistake(
            "the factor itself",
            "it is λ only where the likelihood beside it is that of *all* data.",
            lambda c, n, b, mean: c,
        ),
        Mistake(
            "upside down",
            "which factor makes the likelihood whole? The KL is multiplied with the same.",
            (
                lambda c, n, b, mean: c / n if mean else c * b / n,
                lambda c, n, b, mean: 1 / _trained_weight(c, n, b, mean),
            ),
        ),
        Mistake(
            "the batch size for N",
            "the mean over a batch stands for the mean over *all* data: multiply with N.",
            lambda c, n, b, mean: c * b if mean else c,
        ),
        Mistake(
            "λ/N for λ",
            "the loss may be multiplied by any number; make its likelihood that of all the data.",
            lambda c, n, b, mean: _trained_weight(c, n, b, mean) / n,
        ),
    ),
)


# Exercise 3.6.


def _band(mean: Any, width: Any) -> Array:
    return np.array([mean - width, mean + width])


BAND = Exercise(
    "3.6",
    "Change: the band for a new observation",
    "3.8",
    lambda mean, epistemic_std, noise_std: tuple(
        _band(mean, 2 * np.hypot(epistemic_std, noise_std))
    ),
    (
        (_A([0.0, 1.0, -2.0]), _A([0.5, 3.0, 0.2]), 1.0),
        (_A([4.0]), _A([1.5]), 0.3),
        (_A([-7.0, 0.1, 2.5, 30.0, -0.6]), _A([2.2, 0.7, 0.05, 9.0, 1.3]), 2.6),
        (_A([1e-4, -3e-4]), _A([2e-4, 5e-5]), 1e-4),
        (_A([300.0, -90.0, 0.0, 55.0]), _A([41.0, 7.0, 88.0, 0.3]), 19.0),
    ),
    (
        Mistake(
            "the noise is missing",
            "this is the epistemic band; a new y also has its own noise.",
            lambda m, e, s: _band(m, 2 * e),
        ),
        Mistake(
            "only the noise",
            "the function itself is uncertain too.",
            lambda m, e, s: _band(m, 2 * (s + 0 * e)),
        ),
        Mistake(
            "standard deviations added",
            "independent *variances* add: √(e² + s²).",
            lambda m, e, s: _band(m, 2 * (e + s)),
        ),
        Mistake(
            "σ² for σ",
            "take the root of the summed variances.",
            lambda m, e, s: _band(m, 2 * (e**2 + s**2)),
        ),
        Mistake(
            "σ for σ² of the noise",
            "variances add: square the noise's standard deviation as well.",
            lambda m, e, s: _band(m, 2 * np.sqrt(e**2 + s)),
        ),
        Mistake(
            "σ for σ² of the epistemic part",
            "variances add: square the epistemic standard deviation as well.",
            lambda m, e, s: _band(m, 2 * np.sqrt(e + s**2)),
        ),
        Mistake(
            "variances for sds",
            "you add standard deviations under the root; square both first.",
            lambda m, e, s: _band(m, 2 * np.sqrt(e + s)),
        ),
        Mistake(
            "1.96 for 2",
            "that is the 95 % interval of a Gaussian; the exercise asks for ± 2 sd.",
            (
                lambda m, e, s: _band(m, 1.96 * np.hypot(e, s)),
                lambda m, e, s: _band(m, 1.959963984540054 * np.hypot(e, s)),
            ),
        ),
        Mistake(
            "three sds for two",
            "the band is ± 2 sd.",
            lambda m, e, s: _band(m, 3 * np.hypot(e, s)),
        ),
        Mistake(
            "a small number added",
            "the root of a sum of squares needs no help.",
            tuple(
                lambda m, e, s, t=t: _band(m, 2 * np.sqrt(e**2 + s**2 + t))
                for t in TINY
                if t > 1e-12
            ),
        ),
        Mistake(
            "the half width",
            "return the two ends: mean − 2 sd and mean + 2 sd.",
            (lambda m, e, s: 2 * np.hypot(e, s), lambda m, e, s: _band(0 * m, 2 * np.hypot(e, s))),
        ),
        Mistake(
            "one row a point",
            "return (lower, upper): all lower ends first, then all upper ends.",
            lambda m, e, s: _band(m, 2 * np.hypot(e, s)).T,
        ),
        Mistake("one sd for two", "the band is ± 2 sd.", lambda m, e, s: _band(m, np.hypot(e, s))),
        Mistake(
            "the noise twice",
            "2 sd of the whole: √(e² + s²) once, times 2.",
            (
                lambda m, e, s: _band(m, 2 * np.hypot(e, np.sqrt(2) * s)),
                lambda m, e, s: _band(m, 2 * np.hypot(e, 2 * s)),
            ),
        ),
        Mistake(
            "upper and lower swapped",
            "return (lower, upper).",
            lambda m, e, s: _band(m, -2 * np.hypot(e, s)),
        ),
    ),
)


# Exercise 3.7.


def _log_normal(w: Any, sigma: Any) -> Any:
    return -0.5 * (w / sigma) ** 2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)


def _log_mixture(w: Any, sigma1: Any, sigma2: Any, pi: Any) -> Any:
    wide, narrow = _log_normal(w, sigma1), _log_normal(w, sigma2)
    return np.logaddexp(np.log(pi) + wide, np.log1p(-pi) + narrow)


def _density(w: Any, a: Any, b: Any, pi: Any) -> Any:
    return pi * np.exp(_log_normal(w, a)) + (1 - pi) * np.exp(_log_normal(w, b))


LOG_PRIOR = Exercise(
    "3.7",
    "Break: a log prior that cannot break",
    "3.6",
    _log_mixture,
    (
        (_A([0.0, 0.3, -1.1]), 1.5, 0.1, 0.25),
        (_A([2.0, -0.02]), 2.0, 0.5, 0.7),
        (_A([0.4]), 30.0, 0.003, 0.02),
        (_A([-9.0, 11.0, 4.0, -13.0, 0.6]), 1.3, 1.1, 0.35),
        (_A([1e-4, -2e-3, 0.0]), 2e-3, 1e-4, 0.6),
        (_A([22.0, -100.0, 1000.0]), 1.5, 0.1, 0.5),
        (_A([60.0, -64.0, 25.0, 70.0]), 1.5, 1.4993, 0.3),  # both parts count, both underflow
        (_A([-1000.0, 700.0]), 250.0, 230.0, 0.9),
    ),
    (
        Mistake(
            "underflow",
            "right for small |w|, but for large ones both densities are 0 and their logarithm is "
            "−∞: take logarithms first, and add with np.logaddexp.",
            lambda w, a, b, p: np.log(_density(w, a, b, p)),
        ),
        Mistake(
            "a small number added",
            "it hides that both densities are 0 in floating point, and makes a large weight far "
            "too probable: take logarithms first, and add with np.logaddexp.",
            (
                *(lambda w, a, b, p, t=t: np.log(_density(w, a, b, p) + t) for t in TINY),
                *(
                    lambda w, a, b, p, t=t: np.log(np.maximum(_density(w, a, b, p), t))
                    for t in TINY
                ),
            ),
        ),
        Mistake("density for log density", "take the logarithm.", _density),
        Mistake(
            "π and 1 − π swapped",
            "π belongs to σ₁.",
            lambda w, a, b, p: _log_mixture(w, a, b, 1 - p),
        ),
        Mistake(
            "average of logarithms",
            "the mixture adds densities, not their logarithms.",
            lambda w, a, b, p: p * _log_normal(w, a) + (1 - p) * _log_normal(w, b),
        ),
        Mistake(
            "only one part",
            "the mixture has a wide and a narrow part, and both count where they are alike.",
            (
                lambda w, a, b, p: np.log(p) + _log_normal(w, a),
                lambda w, a, b, p: np.log1p(-p) + _log_normal(w, b),
                lambda w, a, b, p: np.maximum(
                    np.log(p) + _log_normal(w, a), np.log1p(-p) + _log_normal(w, b)
                ),
                lambda w, a, b, p: _log_normal(w, a),
            ),
        ),
        Mistake(
            "mixture weights forgotten",
            "add log π and log(1 − π) to the two log densities.",
            (
                lambda w, a, b, p: np.logaddexp(_log_normal(w, a), _log_normal(w, b)),
                lambda w, a, b, p: _log_mixture(w, a, b, 0.5),
            ),
        ),
        Mistake(
            "π for log π",
            "the densities are multiplied by π and 1 − π: their logarithms are added.",
            (
                lambda w, a, b, p: np.logaddexp(p + _log_normal(w, a), 1 - p + _log_normal(w, b)),
                lambda w, a, b, p: np.logaddexp(p * _log_normal(w, a), (1 - p) * _log_normal(w, b)),
            ),
        ),
        Mistake(
            "σ for σ²",
            "σ₁ and σ₂ are standard deviations: the exponent is −½ (w/σ)².",
            lambda w, a, b, p: _log_mixture(w, np.sqrt(a), np.sqrt(b), p),
        ),
        Mistake(
            "σ² for σ",
            "σ₁ and σ₂ are standard deviations: divide w by them, not by their squares.",
            lambda w, a, b, p: _log_mixture(w, a**2, b**2, p),
        ),
        Mistake(
            "1/σ forgotten",
            "log N(w | 0, σ²) contains −log σ; it differs between the two parts and does matter.",
            lambda w, a, b, p: np.logaddexp(
                np.log(p) + _log_normal(w, a) + np.log(a),
                np.log1p(-p) + _log_normal(w, b) + np.log(b),
            ),
        ),
        Mistake(
            "the ½ is missing",
            "the exponent of a Gaussian is −½ (w/σ)².",
            lambda w, a, b, p: _log_mixture(w, a / np.sqrt(2), b / np.sqrt(2), p) - 0.5 * np.log(2),
        ),
        Mistake(
            "normalising constant forgotten",
            "½ log 2π is missing; harmless for the optimum, wrong as a density.",
            lambda w, a, b, p: _log_mixture(w, a, b, p) + 0.5 * np.log(2 * np.pi),
        ),
        Mistake(
            "wrong constant",
            "the constant of a Gaussian is −½ log 2π.",
            (
                lambda w, a, b, p: _log_mixture(w, a, b, p) - 0.5 * np.log(2 * np.pi),
                lambda w, a, b, p: _log_mixture(w, a, b, p) + np.log(2 * np.pi),
            ),
        ),
        Mistake(
            "another logarithm",
            "nats belong to the natural logarithm, np.log.",
            tuple(lambda w, a, b, p, base=base: _log_mixture(w, a, b, p) / base for base in BASES),
        ),
        Mistake(
            "summed or averaged",
            "(3.17) is one log density for each weight; their sum is the log prior of the network.",
            (
                lambda w, a, b, p: np.sum(_log_mixture(w, a, b, p)),
                lambda w, a, b, p: np.mean(_log_mixture(w, a, b, p)),
            ),
        ),
        Mistake(
            "wrong sign",
            "the log density, not the cost −log P(w).",
            lambda w, a, b, p: -_log_mixture(w, a, b, p),
        ),
    ),
)


# Exercise 3.8.


def _shares(n_batches: int, ratio: float) -> Array:
    return np.asarray(softmax(np.arange(n_batches) * np.log(ratio)))


def _powers(n_batches: int, ratio: float) -> Array:
    return np.asarray(float(ratio) ** np.arange(n_batches))


def _by_formula(m: int, r: float) -> Array:
    return np.asarray(_powers(m, r) * np.float64(1 - r) / np.float64(1 - np.float64(r) ** m))


SHARES = Exercise(
    "3.8",
    "Break: shares of any ratio",
    "3.7",
    _shares,
    (
        (2, 0.5),
        (3, 0.25),
        (4, 1.0),
        (1, 0.7),
        (10, 2.0),
        (70, 0.999),
        (200, 1.1),
        (1030, 0.5),
        (2000, 2.0),  # 2^2000 is no floating-point number
        (5000, 1.0),
        (5000, 1.5),
    ),
    (
        Mistake(
            "overflow",
            "right for few batches, but ratio^M is no floating-point number for long: of what "
            "overflows only the ratios to the largest are wanted.",
            (
                lambda m, r: _powers(m, r) / _powers(m, r).sum(),
                lambda m, r: np.full(m, 1 / m) if r == 1 else _by_formula(m, r),
                lambda m, r: (
                    np.exp(np.arange(m) * np.log(r)) / np.sum(np.exp(np.arange(m) * np.log(r)))
                ),
            ),
            breaks=True,
        ),
        Mistake(
            "0/0 where all batches carry alike",
            "at a ratio of 1 the formula of the geometric series is 0/0; what should it be?",
            lambda m, r: (
                np.full(m, np.nan)
                if r == 1
                else (_by_formula(m, r) if r < 1 else _by_formula(m, 1 / r)[::-1])
            ),
            breaks=True,
        ),
        Mistake(
            "overflow, and 0/0 where all batches carry alike",
            "the formula of the geometric series has two weak places: a ratio of 1, and a large "
            "power.",
            _by_formula,
            breaks=True,
        ),
        Mistake(
            "halves, whatever the ratio",
            "(3.19) is the case of the ratio ½.",
            (
                lambda m, r: _shares(m, 0.5),
                lambda m, r: 0.5 ** np.arange(1, m + 1) / (1 - 0.5**m),
            ),
        ),
        Mistake(
            "uniform",
            "these are the shares 1/M of the other scheme.",
            lambda m, r: np.full(m, 1.0 / m),
        ),
        Mistake(
            "not normalised",
            "the shares sum to 1.",
            (_powers, lambda m, r: r * _powers(m, r)),
        ),
        Mistake(
            "upside down",
            "the ratio is that of a batch to the one *before* it.",
            lambda m, r: _shares(m, 1 / r),
        ),
        Mistake(
            "one power too many",
            "the shares sum to 1; yours sum to the ratio, or to one over it.",
            (lambda m, r: r * _shares(m, r), lambda m, r: _shares(m, r) / r),
        ),
        Mistake(
            "a softmax of the ratios",
            "e^(ri) is no power of r: which number, times i, has r^i as its exponential?",
            lambda m, r: softmax(r * np.arange(m)),
        ),
        Mistake("wrong sign", "a share is positive.", lambda m, r: -_shares(m, r)),
    ),
)


# Exercise 3.9.

_RNG_3_9 = np.random.default_rng(3)


def _with_zeros(mean: Any, open_: Any) -> Array:
    return np.where(open_, 0.0, mean)


def _decided(mean: Any, std: Any, level: Any) -> Array:
    return _with_zeros(mean, ndtr(-np.abs(mean) / std) > level)


SIGNS = Exercise(
    "3.9",
    "Extend: drop the weights whose sign is open",
    "3.12",
    _decided,
    (
        *(
            (_RNG_3_9.normal(0.0, 1.0, n), _RNG_3_9.gamma(1.0, 0.5, n) + 0.05, level)
            for n, level in ((6, 0.1), (9, 0.3), (40, 0.2), (25, 0.025), (7, 0.5), (60, 0.01))
        ),
        (_A([3e-9, 0.5, -0.03, 2.0]), _A([1e-10, 0.01, 0.5, 3.0]), 0.1),
    ),
    (
        Mistake(
            "two tails for one",
            "the other sign lies on one side only.",
            lambda m, s, a: _with_zeros(m, 2 * ndtr(-np.abs(m) / s) > a),
        ),
        Mistake(
            "the wrong ones",
            "drop the weights whose sign is open, not those whose sign is decided.",
            lambda m, s, a: _with_zeros(m, ndtr(-np.abs(m) / s) <= a),
        ),
        Mistake(
            "the probability of its own sign",
            "a weight goes if the *other* sign is too probable.",
            lambda m, s, a: _with_zeros(m, ndtr(np.abs(m) / s) > a),
        ),
        Mistake(
            "σ ignored",
            "measure |μ| in units of σ.",
            lambda m, s, a: _with_zeros(m, ndtr(-np.abs(m)) > a),
        ),
        Mistake(
            "σ² for σ",
            "(w − μ)/σ is standard normal.",
            lambda m, s, a: _with_zeros(m, ndtr(-np.abs(m) / s**2) > a),
        ),
        Mistake(
            "the absolute value is missing",
            "of a negative weight the other sign is the positive one.",
            lambda m, s, a: _with_zeros(m, ndtr(-m / s) > a),
        ),
        Mistake(
            "the probability to lie above 0",
            "of a positive weight the other sign is the negative one.",
            lambda m, s, a: _with_zeros(m, ndtr(m / s) > a),
        ),
        Mistake(
            "the ratio for a probability",
            "`level` is a probability: turn |μ|/σ into one.",
            lambda m, s, a: _with_zeros(m, np.abs(m) / s < a),
        ),
        Mistake(
            "the density for the probability",
            "the probability of the other sign is the area of a tail, not a height.",
            (
                lambda m, s, a: _with_zeros(m, np.exp(-0.5 * (m / s) ** 2) > a),
                lambda m, s, a: _with_zeros(
                    m, np.exp(-0.5 * (m / s) ** 2) / np.sqrt(2 * np.pi) > a
                ),
            ),
        ),
        Mistake(
            "a share of the weights",
            "`level` is no fraction to be removed: each weight is judged by itself.",
            lambda m, s, a: _with_zeros(
                m, np.argsort(np.argsort(np.abs(m) / s)) < int(a * np.size(m))
            ),
        ),
        Mistake(
            "cut out, not set to 0",
            "the network keeps its shape: return all weights, the dropped ones as 0.",
            lambda m, s, a: m[ndtr(-np.abs(m) / s) <= a],
        ),
        Mistake(
            "a mask",
            "multiply the weights with it.",
            lambda m, s, a: ndtr(-np.abs(m) / s) <= a,
        ),
        Mistake(
            "the probabilities returned",
            "return the weights, not how open their signs are.",
            lambda m, s, a: ndtr(-np.abs(m) / s),
        ),
    ),
)


# Exercise 3.10.


def _path(mu: Any, sigma: Any, eps: Any, x: Any, y: Any, prior_var: Any, seen: Any = 1.0) -> Any:
    """∂f/∂w at the drawn weight of the classifier; ``seen`` is a factor on the likelihood."""
    w = mu + sigma * eps
    return -eps / sigma + w / prior_var + seen * np.sum((expit(w * x) - y) * x)


def _path_gradient(mu: Any, rho: Any, eps: Any, x: Any, y: Any, sigma_p: Any) -> Any:
    return _path(mu, _softplus(rho), eps, x, y, sigma_p**2) * eps * _slope(rho)


def _of_path(change: Any) -> Any:
    """The answer with something added to ∂f/∂w: ``change`` of (σ, w, eps, x, y, sigma_p)."""

    def answer(m: Any, r: Any, e: Any, x: Any, y: Any, p: Any) -> Any:
        sigma = _softplus(r)
        df_dw = _path(m, sigma, e, x, y, p**2) + change(sigma, m + sigma * e, e, x, y, p)
        return df_dw * e * _slope(r)

    return answer


PATH_GRADIENT = Exercise(
    "3.10",
    "Extend: a gradient that lands",
    "3.5",
    _path_gradient,
    (
        (0.4, -1.0, 0.7, _A([1.0, -0.5, 2.0]), _A([1.0, 0.0, 1.0]), 1.5),
        (-0.3, 0.4, -1.2, _A([0.3, 1.4]), _A([0.0, 1.0]), 0.7),
        (1.3, -4.0, 2.1, _A([-2.2]), _A([1.0]), 0.4),
        (-2.0, 2.5, 0.3, _RNG_3_9.normal(0.0, 3.0, 7), _A([0.0, 1, 1, 0, 1, 0, 0]), 5.0),
        (0.002, -7.0, -0.9, _A([0.8, -0.3, 0.4]), _A([1.0, 1.0, 0.0]), 0.6),
        (2.0, 0.3, 0.5, _A([0.1, -0.4]), _A([0.0, 0.0]), 0.04),
    ),
    (
        Mistake(
            "the explicit part is still there",
            "this is the whole Δρ. Leave out ∂f/∂ρ, that of log q at a fixed w.",
            lambda m, r, e, x, y, p: (
                _path_gradient(m, r, e, x, y, p) + (e**2 - 1) / _softplus(r) * _slope(r)
            ),
        ),
        Mistake(
            "nothing of log q is left",
            "only ∂f/∂ρ at a fixed w goes; the dependence of log q on w itself remains.",
            _of_path(lambda s, w, e, x, y, p: e / s),
        ),
        Mistake(
            "Δμ for Δρ",
            "w moves with ρ by another factor than with μ, see (3.13).",
            lambda m, r, e, x, y, p: _path(m, _softplus(r), e, x, y, p**2),
        ),
        Mistake(
            "the ε is missing",
            "w = μ + σε: when σ moves by one, w moves by ε.",
            lambda m, r, e, x, y, p: _path(m, _softplus(r), e, x, y, p**2) * _slope(r),
        ),
        Mistake(
            "the slope of the softplus is missing",
            "this is the derivative by σ; σ moves with ρ by the slope of the softplus.",
            lambda m, r, e, x, y, p: _path(m, _softplus(r), e, x, y, p**2) * e,
        ),
        Mistake(
            "exponential for softplus",
            "here σ = log(1 + e^ρ), not e^ρ.",
            lambda m, r, e, x, y, p: _path(m, np.exp(r), e, x, y, p**2) * e * np.exp(r),
        ),
        Mistake(
            "softplus for its derivative",
            "∂σ/∂ρ is 1/(1 + e^(−ρ)), not σ.",
            lambda m, r, e, x, y, p: _path(m, _softplus(r), e, x, y, p**2) * e * _softplus(r),
        ),
        Mistake(
            "softplus forgotten",
            "σ = log(1 + e^ρ); ρ itself may be negative.",
            (
                lambda m, r, e, x, y, p: _path(m, r, e, x, y, p**2) * e * _slope(r),
                lambda m, r, e, x, y, p: _path(m, r, e, x, y, p**2) * e,
            ),
        ),
        Mistake(
            "the likelihood of section 3.5",
            "(y − wx) x/s² is the slope of a Gaussian's logarithm; here y is a label.",
            _of_path(lambda s, w, e, x, y, p: np.sum((w * x - expit(w * x)) * x)),
        ),
        Mistake(
            "wrong sign of the path term",
            "log N falls when w moves away from μ.",
            _of_path(lambda s, w, e, x, y, p: 2 * e / s),
        ),
        Mistake(
            "ε/σ² for ε/σ",
            "(w − μ)/σ² is ε/σ: one σ cancels.",
            _of_path(lambda s, w, e, x, y, p: e / s - e / s**2),
        ),
        Mistake(
            "wrong sign of the prior",
            "−log P(w) rises with |w|.",
            _of_path(lambda s, w, e, x, y, p: -2 * w / p**2),
        ),
        Mistake(
            "the prior is missing",
            "−log P(w) has a slope, too.",
            _of_path(lambda s, w, e, x, y, p: -w / p**2),
        ),
        Mistake(
            "σ_p for σ_p²",
            "divide the weight by the prior's *variance* σ_p².",
            _of_path(lambda s, w, e, x, y, p: w / p - w / p**2),
        ),
        Mistake(
            "the factor x is missing",
            "∂(wx)/∂w = x: each residual is multiplied by its x.",
            _of_path(lambda s, w, e, x, y, p: np.sum((expit(w * x) - y) * (1 - x))),
        ),
        Mistake(
            "the likelihood is missing",
            "−log P(D | w) has a slope, too.",
            lambda m, r, e, x, y, p: _path(m, _softplus(r), e, x, y, p**2, 0.0) * e * _slope(r),
        ),
        Mistake(
            "wrong sign of the likelihood",
            "−log P(D | w) falls when w moves towards the data.",
            lambda m, r, e, x, y, p: _path(m, _softplus(r), e, x, y, p**2, -1.0) * e * _slope(r),
        ),
        Mistake(
            "mean for sum",
            "the likelihood cost is a sum over all data points.",
            lambda m, r, e, x, y, p: (
                _path(m, _softplus(r), e, x, y, p**2, 1 / len(x)) * e * _slope(r)
            ),
        ),
        Mistake(
            "the slope of the sigmoid twice",
            "p(1 − p) cancels between the logarithm's slope and the sigmoid's.",
            _of_path(
                lambda s, w, e, x, y, p: np.sum(
                    (expit(w * x) - y) * x * (expit(w * x) * expit(-w * x) - 1)
                )
            ),
        ),
        Mistake(
            "wrong sign",
            "Δρ is the gradient; the minus comes in the update.",
            lambda m, r, e, x, y, p: -_path_gradient(m, r, e, x, y, p),
        ),
        Mistake(
            "gradient at μ",
            "evaluate it at the drawn weight w = μ + σε.",
            lambda m, r, e, x, y, p: (
                (_path(m, _softplus(r), 0.0, x, y, p**2) - e / _softplus(r)) * e * _slope(r)
            ),
        ),
    ),
)


# Exercise 3.11.

_RNG_3_11 = np.random.default_rng(13)
_SOFT = _RNG_3_11.dirichlet(np.ones(4), (5, 3))  # [T, n, classes]
_WIDE = _RNG_3_11.dirichlet(np.full(3, 0.3), (6, 7))
_HARD = np.eye(3)[_A([[0, 1], [0, 2], [0, 1]])]  # certain networks: probabilities of exactly 0
_ONE = _RNG_3_11.dirichlet(np.ones(5), (1, 4))  # one network
_LONG = np.stack([np.r_[t, np.full(1999, (1 - t) / 1999)][None] for t in (0.95, 0.93)])

# Two networks that disagree about 1200 pictures, about each to another degree.
_OFF = _RNG_3_11.permutation(np.linspace(0.02, 0.48, 1200))
_TWO = np.stack([np.stack([0.5 + d, 0.5 - d], axis=-1) for d in (_OFF, -_OFF)])


def _total(p: Any) -> Any:
    return entr(np.mean(p, axis=0)).sum(axis=-1)


def _naive(p: Any) -> Any:
    """The entropy of each distribution, NaN where a probability is 0."""
    return -np.sum(p * np.log(p), axis=-1)


def _expected(p: Any) -> Any:
    return entr(p).sum(axis=-1).mean(axis=0)


ENTROPY = Exercise(
    "3.11",
    "Compute: predictive entropy",
    "9.4",
    lambda p: _total(p),
    ((_SOFT,), (_WIDE,), (_HARD,), (_ONE,), (_LONG,)),
    (
        Mistake(
            "0 · log 0",
            "right where all probabilities are > 0; where one is 0, its term counts as 0, the "
            "limit of p log p.",
            lambda p: _naive(np.mean(p, axis=0)),
            breaks=True,
        ),
        Mistake(
            "a small number added",
            "the terms with p = 0 are 0: leave them out, and the logarithm of the others as it is.",
            (
                *(
                    lambda p, t=t: -np.sum(p.mean(axis=0) * np.log(p.mean(axis=0) + t), axis=-1)
                    for t in TINY
                    if t > 1e-13
                ),
                *(lambda p, t=t: _naive(np.maximum(p.mean(axis=0), t)) for t in TINY if t > 1e-16),
                *(lambda p, t=t: _naive(np.clip(p.mean(axis=0), t, 1 - t)) for t in TINY[5:]),
                *(lambda p, t=t: _naive(p.mean(axis=0) + t) for t in TINY if t > 1e-16),
            ),
        ),
        Mistake(
            "mean of entropies",
            "this is the expected entropy, the aleatoric part: average the probabilities first.",
            (_expected, lambda p: _naive(p).mean(axis=0)),
            breaks=True,
        ),
        Mistake(
            "mutual information",
            "the entropy of the average alone; nothing is subtracted.",
            (
                lambda p: _total(p) - _expected(p),
                lambda p: _naive(p.mean(axis=0)) - _naive(p).mean(axis=0),
            ),
            breaks=True,
        ),
        Mistake(
            "wrong sign",
            "log p is negative: a minus sign is missing.",
            (lambda p: -_total(p), lambda p: -_naive(p.mean(axis=0))),
            breaks=True,
        ),
        Mistake(
            "another logarithm",
            "nats: the natural logarithm, np.log.",
            (
                *(lambda p, b=b: _total(p) / b for b in BASES),
                *(lambda p, b=b: _naive(p.mean(axis=0)) / b for b in BASES),
            ),
            breaks=True,
        ),
        Mistake(
            "mean over the classes",
            "an entropy is a *sum* over the classes.",
            (
                lambda p: _total(p) / np.shape(p)[-1],
                lambda p: _naive(p.mean(axis=0)) / np.shape(p)[-1],
            ),
            breaks=True,
        ),
        Mistake(
            "divided by its largest value",
            "log C is the entropy of a shrug over C classes; (9.3) is not divided by it.",
            lambda p: _total(p) / np.log(np.shape(p)[-1]),
        ),
        Mistake(
            "entropies of each network",
            "average over the T networks first: one number a picture.",
            (lambda p: entr(p).sum(axis=-1), _naive),
            breaks=True,
        ),
        Mistake(
            "the weights are missing",
            "each −log p̄ is multiplied by its p̄.",
            (
                lambda p: -np.sum(np.log(p.mean(axis=0)), axis=-1),
                lambda p: -np.mean(np.log(p.mean(axis=0)), axis=-1),
            ),
        ),
        Mistake(
            "summed over the networks",
            "the mean over the T networks, not their sum.",
            (
                lambda p: entr(np.sum(p, axis=0)).sum(axis=-1),
                lambda p: entr(p).sum(axis=-1).sum(axis=0),
            ),
        ),
        Mistake(
            "taken over the pictures",
            "one number for each picture: the networks are the first axis.",
            (
                lambda p: entr(p.mean(axis=1)).sum(axis=-1),
                lambda p: _total(p).mean(),
                lambda p: _total(p).sum(),
            ),
        ),
        Mistake(
            "variance",
            "this is the variance of the probabilities over the draws.",
            (
                lambda p: np.var(p, axis=0).mean(axis=-1),
                lambda p: np.var(p, axis=0).sum(axis=-1),
            ),
        ),
        Mistake(
            "how sure of the likeliest class",
            "1 minus the largest probability, or its −log, leaves the other classes out.",
            (
                lambda p: 1 - p.mean(axis=0).max(axis=-1),
                lambda p: -np.log(p.mean(axis=0).max(axis=-1)),
                lambda p: p.mean(axis=0).max(axis=-1),
            ),
        ),
    ),
    atol=1e-14,  # of a certain picture it is exactly 0, also in float32
)


# Exercise 3.12.


def _picked(values: Any, labels: Any) -> Any:
    return values[np.arange(len(labels)), labels]


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return -_picked(log_softmax(logits, axis=-1), labels)


def _softmax(logits: Any) -> Any:
    return np.exp(log_softmax(logits, axis=-1))


CROSS_ENTROPY = Exercise(
    "3.12",
    "Break: a cross-entropy that cannot break",
    "9.1",
    _cross_entropy,
    (
        (_A([[2.0, -1.0, 0.5], [0.1, 0.2, 0.3]]), _A([0, 2])),
        (_RNG_3_11.normal(size=(4, 5)), _A([4, 0, 1, 1])),
        (_RNG_3_11.normal(size=(7, 2)), _A([1, 1, 0, 1, 0, 0, 1])),
        (_A([[-0.3, 1.2, 0.7]]), _A([1])),
        (_A([[0.0, 2000.0, -3.0], [-2000.0, -2001.0, -1999.0]]), _A([2, 0])),
        (_A([[300.0, 299.0, 295.0, -80.0], [5.0, 4.0, -38.0, 7.0]]), _A([2, 2])),
        (_A([[1985.0, 2000.0], [-1980.0, -2000.0], [3.0, 2.5]]), _A([0, 1, 1])),
        (_A([[1000.0, 0.0], [720.0, 0.0], [900.0, 0.0]]), _A([1, 1, 0])),
        (_A([[120.0, 0.0], [0.0, 95.0]]), _A([1, 0])),
    ),
    (
        Mistake(
            "overflow",
            "right for small logits, but e^2000 is no floating-point number (and e^−2000 is 0): "
            "subtract the largest logit of each row before the exponential.",
            (
                lambda f, y: -np.log(_picked(np.exp(f) / np.exp(f).sum(-1, keepdims=True), y)),
                lambda f, y: np.log(np.exp(f).sum(axis=-1)) - _picked(f, y),
                lambda f, y: np.log(np.exp(f.astype(np.float32)).sum(axis=-1)) - _picked(f, y),
            ),
            breaks=True,
        ),
        Mistake(
            "log of the rounded softmax",
            "the softmax is safe, but a probability that is rounded to 0 costs infinity: take the "
            "logarithm of the sum, not of the quotient.",
            (
                lambda f, y: -np.log(_picked(_softmax(f), y)),
                lambda f, y: -np.log(_picked(_softmax(f.astype(np.float32)), y)),
            ),
        ),
        Mistake(
            "one maximum for all rows",
            "a row far below the largest logit of *all* rows underflows: subtract each row's own.",
            lambda f, y: np.log(np.exp(f - f.max()).sum(axis=-1)) - _picked(f - f.max(), y),
        ),
        Mistake(
            "clipped, or a small number added",
            "that hides the underflow, and makes a sure mistake far too cheap: take the logarithm "
            "of the sum, not of the quotient.",
            (
                *(lambda f, y, t=t: -np.log(_picked(_softmax(f), y) + t) for t in TINY),
                *(lambda f, y, t=t: -np.log(np.clip(_picked(_softmax(f), y), t, 1)) for t in TINY),
                *(
                    lambda f, y, t=t: -np.log(np.clip(_picked(_softmax(f), y), t, 1 - t))
                    for t in TINY[5:]
                ),
                *(
                    lambda f, y, t=t: _cross_entropy(np.clip(f, -t, t), y)
                    for t in (20, 50, 88, 100, 500, 700, 709)
                ),
            ),
        ),
        Mistake("wrong sign", "the cost is −log P.", lambda f, y: -_cross_entropy(f, y)),
        Mistake(
            "probability for its logarithm",
            "take −log of the probability of the label.",
            lambda f, y: _picked(_softmax(f), y),
        ),
        Mistake(
            "another logarithm",
            "nats belong to the natural logarithm, np.log.",
            tuple(lambda f, y, b=b: _cross_entropy(f, y) / b for b in BASES),
        ),
        Mistake(
            "mean for each",
            "one cost for each picture; do not average.",
            lambda f, y: np.mean(_cross_entropy(f, y)),
        ),
        Mistake(
            "summed",
            "one cost for each picture; do not sum.",
            lambda f, y: np.sum(_cross_entropy(f, y)),
        ),
        Mistake(
            "every class",
            "the cost of a picture is that of its label: one column a row.",
            lambda f, y: -log_softmax(f, axis=-1),
        ),
        Mistake(
            "a cost for each pair of picture and label",
            "logits[:, labels] takes all columns for every row: logits[np.arange(n), labels].",
            lambda f, y: -log_softmax(f, axis=-1)[:, y],
        ),
        Mistake(
            "the likeliest class for the label",
            "the label says which class it was, however unlikely.",
            lambda f, y: -log_softmax(f, axis=-1).max(axis=-1),
        ),
        Mistake(
            "the maximum is not added back",
            "log Σ e^(f − max) = logsumexp − max: shift the label's logit too, or add max again.",
            lambda f, y: _cross_entropy(f, y) - np.max(f, axis=-1),
        ),
        Mistake(
            "softmax over the pictures",
            "the classes are the last axis: axis=-1.",
            lambda f, y: -_picked(log_softmax(f, axis=0), y),
        ),
        Mistake(
            "the label's logit is missing",
            "this is the logsumexp alone; subtract the logit of the label.",
            lambda f, y: _cross_entropy(f, y) + _picked(f, y),
        ),
        Mistake(
            "the logsumexp is missing",
            "logits are not log probabilities: they need their normaliser.",
            lambda f, y: -_picked(f, y),
        ),
        Mistake(
            "labels counted from 1",
            "class 0 is the first column.",
            lambda f, y: _cross_entropy(f, y - 1),
        ),
    ),
)


# Exercise 3.13.


def _order(score: Any, k: int) -> Array:
    return np.argsort(-np.asarray(score), kind="stable")[:k]


CHOICE = Exercise(
    "3.13",
    "Extend: which pictures should be labelled next?",
    "9.4",
    lambda p, k: _order(_total(p) - _expected(p), k),
    (
        (_RNG_3_11.dirichlet(np.ones(4), (6, 9)), 3),
        (_RNG_3_11.dirichlet(np.ones(3), (10, 12)) * 0.9 + 1 / 30, 5),
        (_RNG_3_11.dirichlet(np.full(5, 0.6), (7, 6)), 1),
        (_RNG_3_11.dirichlet(np.ones(2), (5, 20)), 20),  # every place in the order
        (_RNG_3_11.dirichlet(_A([0.5, 2.0, 4.0]), (12, 30)), 30),
        (_RNG_3_11.dirichlet(np.ones(10), (4, 25)), 11),
        (_TWO, 350),
    ),
    (
        Mistake(
            "predictive entropy",
            "it is also high where each network is unsure by itself, and there a label teaches "
            "little: subtract the expected entropy.",
            lambda p, k: _order(_total(p), k),
        ),
        Mistake(
            "expected entropy",
            "this chooses the pictures that every single network finds hard.",
            lambda p, k: _order(_expected(p), k),
        ),
        Mistake(
            "variance of the probabilities",
            "close in spirit; the question is about (9.4).",
            lambda p, k: _order(np.var(p, axis=0).sum(axis=-1), k),
        ),
        Mistake(
            "standard deviation of the probabilities",
            "close in spirit; the question is about (9.4).",
            lambda p, k: _order(np.std(p, axis=0).sum(axis=-1), k),
        ),
        Mistake(
            "the least sure prediction",
            "the largest averaged probability mixes hard pictures with those on which the "
            "networks disagree; the question is about (9.4).",
            lambda p, k: _order(-p.mean(axis=0).max(axis=-1), k),
        ),
        Mistake(
            "information over entropy",
            "(9.4) is a difference; it is not divided.",
            (
                lambda p, k: _order((_total(p) - _expected(p)) / _total(p), k),
                lambda p, k: _order(_total(p) / _expected(p), k),
            ),
        ),
        Mistake(
            "entropies added",
            "(9.4) subtracts the expected entropy.",
            lambda p, k: _order(_total(p) + _expected(p), k),
        ),
        Mistake(
            "in the order of the pictures",
            "the right pictures; return the most informative first.",
            lambda p, k: np.sort(_order(_total(p) - _expected(p), k)),
        ),
        Mistake(
            "the place of each picture",
            "np.argsort once gives the pictures in order; twice, each one's place in it.",
            lambda p, k: np.argsort(_order(_total(p) - _expected(p), np.shape(p)[1]))[:k],
        ),
        Mistake(
            "least informative",
            "np.argsort sorts upwards: the last ones are the largest.",
            lambda p, k: _order(_expected(p) - _total(p), k),
        ),
        Mistake(
            "least informative of the best first",
            "the right pictures, in the wrong order: most informative first.",
            lambda p, k: _order(_total(p) - _expected(p), k)[::-1],
        ),
        Mistake(
            "values for indices",
            "return which pictures, not how informative they are.",
            lambda p, k: -np.sort(_expected(p) - _total(p))[:k],
        ),
        Mistake(
            "all of them",
            "return k indices only.",
            lambda p, k: _order(_total(p) - _expected(p), np.shape(p)[1]),
        ),
    ),
)


# Exercise 3.14.

_LEFT, _ERROR = 18, 1.2  # weights; RMSE in units of y
_AMONG = np.linspace(-0.5, 0.5, 101)[:, None]


@lru_cache(maxsize=8)
def _quiet_fit(seed: int) -> Any:
    data = datasets.sinusoid(seed=seed)
    return local_reparam.fit(data.x, data.y, prior=_PRIOR, **local_reparam.QUIET)


def _few_weights(seed: int) -> Array:
    fit = _quiet_fit(seed)
    w = np.array(fit.mean)
    w[np.argsort(fit.signal_to_noise)[:-_LEFT]] = 0.0
    return w


def _rmse(w: Any, seed: int) -> float:
    f = predictive.evaluate_weights(mlp.MLP(1, (20, 20)), w[None], _AMONG)[0]
    return float(np.sqrt(np.mean((f - 10 * np.sin(2 * np.pi * _AMONG[:, 0])) ** 2)))


def _judged_weights(w: Any, seed: int) -> float:
    """Which fault 481 weights have: 0 none, 1 too many of them, 2 the sine is lost."""
    if np.count_nonzero(w) > _LEFT:
        return 1.0
    return 2.0 if _rmse(w, seed) > _ERROR else 0.0


FEW_WEIGHTS = Exercise(
    "3.14",
    "Experiment: eighteen weights",
    "3.12",
    _few_weights,
    ((0,), (1,), (2,)),
    (
        Mistake(
            "too many weights",
            "at most 18 of the 481 entries may differ from 0.",
            lambda seed: _quiet_fit(seed).mean,
        ),
        Mistake(
            "the sine is lost",
            "with these weights alone the RMSE to the sine is above 1.2: draw it over the number "
            "of weights left, for more than one order of removal.",
            lambda seed: np.zeros(481),
        ),
    ),
    compared=_judged_weights,
)


# Exercise 3.15.

_PROBLEMS = tuple((d.x, d.y) for d in map(_sinusoid, range(30, 34)))
_UNSEEN = range(40, 48)  # seeds of the data sets at which a σ₁ is judged
_NATS = 20.0  # above F at σ₁ = 1; over other sets 0.7 and 1.2 end some 13 above, 1.5 some 26


@lru_cache(maxsize=32)
def _mean_free_energy(sigma1: float) -> float:
    """Mean F in nats of quiet fits to the unseen data sets."""
    prior = densities.ScaleMixture(sigma1, 0.1, 0.5)
    fits = (
        local_reparam.fit(d.x, d.y, prior=prior, **local_reparam.QUIET)
        for d in map(_sinusoid, _UNSEEN)
    )
    return float(np.mean([fit.free_energy for fit in fits]))


def _judged_sigma(sigma1: Any, problems: Any) -> float:
    """Which fault a σ₁ has: 0 none, 1 not above 0, 2 too narrow, 3 too wide."""
    sigma1 = float(sigma1)
    if sigma1 <= 0:
        return 1.0
    if 0.3 < sigma1 < 4 and _mean_free_energy(sigma1) < _mean_free_energy(1.0) + _NATS:
        return 0.0
    return 2.0 if sigma1 < 1 else 3.0


TUNE_PRIOR = Exercise(
    "3.15",
    "Experiment: tune the prior",
    "3.6 and 3.10",
    lambda problems: 1.0,
    ((_PROBLEMS,),),
    (
        Mistake("not above 0", "σ₁ is a standard deviation.", lambda problems: -1.0),
        Mistake(
            "too narrow",
            "on other data sets the mean F is more than 20 nats above what another σ₁ reaches: "
            "draw your curve down to 0.3 and up to 4.",
            lambda problems: 0.4,
        ),
        Mistake(
            "too wide",
            "on other data sets the mean F is more than 20 nats above what another σ₁ reaches: "
            "draw your curve down to 0.3 and up to 4.",
            lambda problems: 3.0,
        ),
    ),
    compared=_judged_sigma,
)
