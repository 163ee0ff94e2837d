"""The exercises of chapter 3, Bayes by Backprop, and the mistakes that they recognise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from bdl_teach.checks import Array
from bdl_teach.exercises.engine import Choice, Exercise, Mistake, Outcome, same

_A = np.array
_RNG = np.random.default_rng(3)


def _kl(mu_q: Any, sigma_q: Any, mu_p: Any, sigma_p: Any) -> Any:
    return np.log(sigma_p / sigma_q) + (sigma_q**2 + (mu_q - mu_p) ** 2) / (2 * sigma_p**2) - 0.5


KL = Exercise(
    "3.1",
    "Compute: the KL between two Gaussians",
    "3.3",
    _kl,
    (
        (0.3, 0.5, 0.0, 1.0),
        (_A([0.0, -1.2]), _A([0.7, 2.0]), _A([0.5, 0.1]), _A([1.5, 0.4])),
        (1.0, 0.2, 1.0, 0.2),
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
            "log of variances without ½",
            "log(σ_p²/σ_q²) is twice log(σ_p/σ_q).",
            lambda a, b, c, d: 2 * np.log(d / b) + (b**2 + (a - c) ** 2) / (2 * d**2) - 0.5,
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
            "the difference of the means is not squared",
            "(μ_q − μ_p)² cannot care which mean is larger.",
            lambda a, b, c, d: np.log(d / b) + (b**2 + (a - c)) / (2 * d**2) - 0.5,
        ),
        Mistake(
            "summed",
            "return one KL for each element; who wants the sum can add them up.",
            lambda a, b, c, d: np.sum(_kl(a, b, c, d)),
        ),
        Mistake(
            "wrong sign",
            "a KL is never negative.",
            lambda a, b, c, d: -_kl(a, b, c, d),
        ),
    ),
)

_DRAWS = tuple(
    tuple(_RNG.normal(centre, 1.0, s) for centre in (-3.0, -7.0, -40.0)) for s in (1, 4, 10)
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
            "not averaged",
            "one number is wanted: average over the draws.",
            lambda q, p, d: q - p - d,
        ),
        Mistake(
            "density for log density",
            "the arrays hold logarithms already.",
            lambda q, p, d: np.mean(np.log(q) - np.log(p) - np.log(d)),
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
    "3.3 and 3.8",
    frozenset("ace"),
    statements={
        "a": "what is the relation between F and the ELBO?",
        "b": "what if the posterior is not in the family?",
        "c": "which symbols are in KL[q ‖ P(w)]?",
        "d": "can a hundred thermometer readings make the thermometer better?",
        "e": "a small KL weight is like counting every data point ten times.",
        "f": "can a weight be unknown because it does not matter?",
    },
)

_LOSSES = (
    (12.0, _A([1.5, 0.3, 2.5, 0.7]), 32),
    (3.0, _A([0.9, 1.7]), 10),
    (250.0, _RNG.gamma(2.0, 1.0, 8), 64),
)

BATCH_LOSS = Exercise(
    "3.5",
    "Change: a loss for Keras minibatches",
    "3.7",
    lambda kl, nll, n_data: kl / n_data + np.mean(nll),
    _LOSSES,
    (
        Mistake(
            "missing 1/N",
            "a whole KL beside a mean loss pulls N times too hard to the prior.",
            lambda k, v, n: k + np.mean(v),
        ),
        Mistake(
            "KL divided by the batch size",
            "there is one set of weights for all N points: divide by N.",
            lambda k, v, n: k / len(v) + np.mean(v),
        ),
        Mistake(
            "1/M for 1/N",
            "KL/M belongs to a *sum* over the batch; Keras takes the mean.",
            lambda k, v, n: k * len(v) / n + np.mean(v),
        ),
        Mistake(
            "sum for mean",
            "Keras averages over the batch, and KL/N fits an average.",
            lambda k, v, n: k / n + np.sum(v),
        ),
        Mistake(
            "F_i of eq. 3.18",
            "right as a sum; Keras wants the mean over the batch: divide by B.",
            lambda k, v, n: k * len(v) / n + np.sum(v),
        ),
        Mistake(
            "missing 1/N and 1/B", "both terms must be divided.", lambda k, v, n: k + np.sum(v)
        ),
        Mistake(
            "N/B times the batch",
            "right as an estimate of F; Keras wants F/N.",
            lambda k, v, n: k + n / len(v) * np.sum(v),
        ),
        Mistake(
            "wrong sign",
            "nll is −log P already: it is added.",
            lambda k, v, n: k / n - np.mean(v),
        ),
    ),
)


def _band(mean: Any, width: Any) -> Array:
    return np.array([mean - width, mean + width])


BAND = Exercise(
    "3.6",
    "Change: the band for a new observation",
    "3.8",
    lambda mean, epistemic_std, noise_std: _band(mean, 2 * np.hypot(epistemic_std, noise_std)),
    (
        (_A([0.0, 1.0, -2.0]), _A([0.5, 3.0, 0.2]), 1.0),
        (_A([4.0]), _A([1.5]), 0.3),
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
        Mistake("one sd for two", "the band is ± 2 sd.", lambda m, e, s: _band(m, np.hypot(e, s))),
        Mistake(
            "upper and lower swapped",
            "return (lower, upper).",
            lambda m, e, s: _band(m, -2 * np.hypot(e, s)),
        ),
    ),
)


def _log_normal(w: Any, sigma: Any) -> Any:
    return -0.5 * (w / sigma) ** 2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)


def _log_mixture(w: Any, a: Any, b: Any, pi: Any) -> Any:
    return np.logaddexp(np.log(pi) + _log_normal(w, a), np.log1p(-pi) + _log_normal(w, b))


def _density(w: Any, a: Any, b: Any, pi: Any) -> Any:
    return pi * np.exp(_log_normal(w, a)) + (1 - pi) * np.exp(_log_normal(w, b))


def _right_until(first: int) -> Any:
    """Recognise an answer that is right in the first cases and wrong in a later one."""

    def recognises(got: Sequence[Outcome], want: Sequence[Outcome]) -> bool:
        return same(got[:first], want[:first]) and not same(got[first:], want[first:])

    return recognises


LOG_PRIOR = Exercise(
    "3.7",
    "Break: a log prior that cannot break",
    "3.6",
    _log_mixture,
    (
        (_A([0.0, 0.3, -1.1]), 1.5, 0.1, 0.25),
        (_A([2.0, -0.02]), 2.0, 0.5, 0.7),
        (_A([22.0, -100.0, 1000.0]), 1.5, 0.1, 0.5),
    ),
    (
        Mistake(
            "underflow",
            "right for small |w|, but for large ones both densities are 0 and their logarithm is "
            "−∞: take logarithms first, and add with np.logaddexp.",
            recognises=_right_until(2),
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
            "mixture weights forgotten",
            "add log π and log(1 − π) to the two log densities.",
            lambda w, a, b, p: np.logaddexp(_log_normal(w, a), _log_normal(w, b)),
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
            "normalising constant forgotten",
            "½ log 2π is missing; harmless for the optimum, wrong as a density.",
            lambda w, a, b, p: _log_mixture(w, a, b, p) + 0.5 * np.log(2 * np.pi),
        ),
        Mistake(
            "summed",
            "return one log density for each weight.",
            lambda w, a, b, p: np.sum(_log_mixture(w, a, b, p)),
        ),
        Mistake(
            "wrong sign",
            "the log density, not the cost −log P(w).",
            lambda w, a, b, p: -_log_mixture(w, a, b, p),
        ),
    ),
)


def _shares(n_batches: int) -> Array:
    i = np.arange(1, n_batches + 1)
    return np.asarray(0.5**i / (1 - 0.5**n_batches))


SHARES = Exercise(
    "3.8",
    "Break: shares for any number of batches",
    "3.7",
    _shares,
    ((1,), (2,), (10,), (5000,)),
    (
        Mistake(
            "overflow",
            "right for few batches, but 2^M is no floating-point number from M = 1024 on (and "
            "no int64 from M = 63 on): divide both sides of the fraction by 2^M.",
            recognises=_right_until(3),
        ),
        Mistake(
            "uniform",
            "these are the shares 1/M of the other scheme.",
            lambda m: np.full(m, 1.0 / m),
        ),
        Mistake(
            "not normalised",
            "2^(−i) sums to 1 − 2^(−M): for M = 1 the one batch must carry everything.",
            lambda m: 0.5 ** np.arange(1, m + 1),
        ),
        Mistake(
            "order reversed",
            "the first batch carries most.",
            lambda m: _shares(m)[::-1],
        ),
        Mistake(
            "counted from 0",
            "i runs from 1 to M; yours sum to 2.",
            lambda m: 2 * _shares(m),
        ),
    ),
)


def _pruned(mean: Any, fraction: float, score: Any) -> Array:
    out = np.array(mean)
    out[np.argsort(score)[: int(fraction * out.size)]] = 0.0
    return out


_NETS = tuple(
    (_RNG.normal(0.0, 1.0, n), _RNG.gamma(1.0, 0.5, n) + 0.05, fraction)
    for n, fraction in ((10, 0.3), (23, 0.5), (7, 0.0), (15, 0.99))
)

PRUNE = Exercise(
    "3.9",
    "Extend: prune a network",
    "3.12",
    lambda mean, std, fraction: _pruned(mean, fraction, np.abs(mean) / std),
    _NETS,
    (
        Mistake(
            "σ ignored",
            "you sort by |μ|; a small weight that is known well may matter.",
            lambda m, s, f: _pruned(m, f, np.abs(m)),
        ),
        Mistake(
            "the wrong end",
            "you remove the weights with the *highest* signal-to-noise ratio.",
            lambda m, s, f: _pruned(m, f, -np.abs(m) / s),
        ),
        Mistake(
            "the absolute value is missing",
            "a large negative weight is a strong one: sort by |μ|/σ.",
            lambda m, s, f: _pruned(m, f, m / s),
        ),
        Mistake(
            "σ² for σ",
            "the ratio is |μ|/σ.",
            lambda m, s, f: _pruned(m, f, np.abs(m) / s**2),
        ),
        Mistake(
            "μ ignored",
            "you remove the widest weights; a wide one with a large |μ| carries signal.",
            lambda m, s, f: _pruned(m, f, -s),
        ),
        Mistake(
            "kept the fraction",
            "`fraction` is the share to be removed, not to be kept.",
            lambda m, s, f: _pruned(m, 1 - f, np.abs(m) / s),
        ),
        Mistake(
            "the ratio returned",
            "return the weights, not their signal-to-noise ratio.",
            lambda m, s, f: np.abs(m) / s,
        ),
    ),
)


def _path(mu: Any, sigma: Any, eps: Any, x: Any, y: Any, noise_var: Any, prior_var: Any) -> Any:
    w = mu + sigma * eps
    return -eps / sigma + w / prior_var - np.sum((y - w * x) * x) / noise_var


def _path_gradient(
    mu: Any, rho: Any, eps: Any, x: Any, y: Any, noise_std: Any, sigma_p: Any
) -> Any:
    return _path(mu, _softplus(rho), eps, x, y, noise_std**2, sigma_p**2)


PATH_GRADIENT = Exercise(
    "3.10",
    "Extend: a gradient that lands",
    "3.5",
    _path_gradient,
    (
        (0.4, -1.0, 0.7, _A([1.0, -0.5, 2.0]), _A([0.9, -0.2, 1.1]), 0.5, 1.5),
        (-0.3, 0.4, -1.2, _A([0.3, 1.4]), _A([-1.0, 0.8]), 0.8, 0.7),
    ),
    (
        Mistake(
            "the explicit part is still there",
            "the two parts of log q cancel in the whole Δμ; leave out ∂f/∂μ = ε/σ, and the path "
            "term ∂ log q/∂w = −ε/σ remains.",
            lambda m, r, e, x, y, s, p: _path_gradient(m, r, e, x, y, s, p) + e / _softplus(r),
        ),
        Mistake(
            "softplus forgotten",
            "σ = log(1 + e^ρ); ρ itself may be negative.",
            lambda m, r, e, x, y, s, p: _path(m, r, e, x, y, s**2, p**2),
        ),
        Mistake(
            "exponential for softplus",
            "here σ = log(1 + e^ρ), not e^ρ.",
            lambda m, r, e, x, y, s, p: _path(m, np.exp(r), e, x, y, s**2, p**2),
        ),
        Mistake(
            "σ for σ²",
            "divide by the variances s² and σ_p².",
            lambda m, r, e, x, y, s, p: _path(m, _softplus(r), e, x, y, s, p),
        ),
        Mistake(
            "s for s²",
            "divide the misfit by the noise *variance* s².",
            lambda m, r, e, x, y, s, p: _path(m, _softplus(r), e, x, y, s, p**2),
        ),
        Mistake(
            "mean for sum",
            "the likelihood cost is a sum over all data points.",
            lambda m, r, e, x, y, s, p: _path(m, _softplus(r), e, x, y, s**2 * len(x), p**2),
        ),
        Mistake(
            "wrong sign of the likelihood",
            "−log P(D | w) falls when w moves towards the data.",
            lambda m, r, e, x, y, s, p: _path(m, _softplus(r), e, x, y, -(s**2), p**2),
        ),
        Mistake(
            "the prior is missing",
            "−log P(w) contributes w/σ_p².",
            lambda m, r, e, x, y, s, p: _path(m, _softplus(r), e, x, y, s**2, np.inf),
        ),
        Mistake(
            "gradient at μ",
            "evaluate it at the drawn weight w = μ + σε.",
            lambda m, r, e, x, y, s, p: (
                _path(m, _softplus(r), 0.0, x, y, s**2, p**2) - e / _softplus(r)
            ),
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (
    KL,
    FREE_ENERGY,
    DELTA_RHO,
    STATEMENTS,
    BATCH_LOSS,
    BAND,
    LOG_PRIOR,
    SHARES,
    PRUNE,
    PATH_GRADIENT,
)
