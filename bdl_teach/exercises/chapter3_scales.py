"""Exercises 3.5 to 3.8: scales that go wrong: losses, bands, priors, shares."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.checks import Array
from bdl_teach.exercises.engine import Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(3)

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
            "everything divided by N",
            "KL/N is right, but the batch has only B points: its mean is their sum over B.",
            lambda k, v, n: (k + np.sum(v)) / n,
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
        Mistake(
            "σ for σ² of the noise",
            "variances add: square the noise's standard deviation as well.",
            lambda m, e, s: _band(m, 2 * np.sqrt(e**2 + s)),
        ),
        Mistake(
            "1.96 for 2",
            "that is the 95 % interval of a Gaussian; the exercise asks for ± 2 sd.",
            lambda m, e, s: _band(m, 1.96 * np.hypot(e, s)),
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
        (_A([22.0, -100.0, 1000.0]), 1.5, 0.1, 0.5),
    ),
    (
        Mistake(
            "underflow",
            "right for small |w|, but for large ones both densities are 0 and their logarithm is "
            "−∞: take logarithms first, and add with np.logaddexp.",
            lambda w, a, b, p: np.log(_density(w, a, b, p)),
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
            "1/σ forgotten",
            "log N(w | 0, σ²) contains −log σ; it differs between the two parts and does matter.",
            lambda w, a, b, p: np.logaddexp(
                np.log(p) + _log_normal(w, a) + np.log(a),
                np.log1p(-p) + _log_normal(w, b) + np.log(b),
            ),
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
            (
                lambda m: 2.0 ** (m - np.arange(1.0, m + 1)) / (2.0**m - 1),
                lambda m: 2.0 ** (m - np.arange(1.0, m + 1)) / (np.exp2(float(m)) - 1),
            ),
            breaks=True,
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

EXERCISES: tuple[Exercise, ...] = (
    BATCH_LOSS,
    BAND,
    LOG_PRIOR,
    SHARES,
)
