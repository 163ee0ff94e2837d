"""Exercises 3.5 to 3.8: scales that go wrong: losses, bands, priors, shares."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.exercises._engine import Exercise, Mistake
from bdl_teach.exercises._faces import BASES, TINY

_A = np.array
_RNG = np.random.default_rng(3)

_LOSSES = (
    (12.0, _A([1.5, 0.3, 2.5, 0.7]), 32),
    (3.0, _A([0.9, 1.7]), 10),
    (250.0, _RNG.gamma(2.0, 1.0, 8), 64),
    (0.7, _A([-1.3]), 5),
    (81.0, _A([-0.4, 2.2, 0.9]), 50),  # the last batch may be smaller: N is no multiple of B
    (1900.0, _RNG.gamma(2.0, 1.0, 7), 7),
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
            "the KL is missing",
            "without KL/N this is maximum likelihood.",
            lambda k, v, n: np.mean(v),
        ),
        Mistake(
            "the data are missing",
            "the mean of nll over the batch is the other half.",
            (lambda k, v, n: k / n, lambda k, v, n: k / len(v)),
        ),
        Mistake(
            "the mean divided by N",
            "np.mean(nll) estimates F's likelihood cost over N already: only the KL is divided.",
            lambda k, v, n: (k + np.mean(v)) / n,
        ),
        Mistake(
            "N for 1/N",
            "divide the KL by N.",
            lambda k, v, n: k * n + np.mean(v),
        ),
        Mistake(
            "KL/(N·B)",
            "the KL is not averaged over the batch: divide by N alone.",
            lambda k, v, n: k / (n * len(v)) + np.mean(v),
        ),
        Mistake(
            "not averaged",
            "one number for the batch is wanted: average over its points.",
            lambda k, v, n: k / n + v,
        ),
        Mistake(
            "wrong sign of the KL",
            "the complexity cost is added.",
            lambda k, v, n: np.mean(v) - k / n,
        ),
        Mistake(
            "the ELBO for the loss",
            "Keras minimises: nll and KL both enter with a plus.",
            lambda k, v, n: -k / n - np.mean(v),
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


def _shares(n_batches: int) -> Array:
    i = np.arange(1, n_batches + 1)
    return np.asarray(0.5**i / (1 - 0.5**n_batches))


def _first_form(n_batches: int, kind: Any) -> Any:
    """2^(M − i)/(2^M − 1) in arithmetic of a kind, which overflows."""
    i = np.arange(1, n_batches + 1).astype(kind)
    two = np.asarray(2, kind)
    return two ** (kind(n_batches) - i) / (two ** kind(n_batches) - 1)


SHARES = Exercise(
    "3.8",
    "Break: shares for any number of batches",
    "3.7",
    _shares,
    ((1,), (2,), (3,), (10,), (40,), (70,), (200,), (1030,), (5000,)),
    (
        Mistake(
            "overflow",
            "right for few batches, but 2^M is no floating-point number from M = 1024 on (and "
            "no int64 from M = 63 on): divide both sides of the fraction by 2^M.",
            (
                lambda m: _first_form(m, np.float64),
                lambda m: _first_form(m, np.float32),
                lambda m: _first_form(m, np.int64),
                lambda m: 2 ** (m - np.arange(1, m + 1)) / (2**m - 1),
                lambda m: 2.0 ** (m - np.arange(1, m + 1)) / (2**m - 1),
                lambda m: 2.0 ** (m - np.arange(1, m + 1)) / (2.0**m - 1),
                lambda m: np.array([2.0 ** (m - i) / (2.0**m - 1) for i in range(1, m + 1)]),
                lambda m: np.array([2.0 ** (m - i) for i in range(1, m + 1)]) / (2.0**m - 1),
                lambda m: np.array([2.0 ** (m - i) / (2**m - 1) for i in range(1, m + 1)]),
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
            "i runs from 1 to M; yours sum to 2, or to ½.",
            (lambda m: 2 * _shares(m), lambda m: _shares(m) / 2),
        ),
        Mistake(
            "the remainder to the last batch",
            "2^(−i) with the rest on top of the last share sums to 1, but is not (3.19).",
            lambda m: 0.5 ** np.minimum(np.arange(1, m + 1), max(m - 1, 0)),
        ),
        Mistake(
            "another ratio",
            "each share is half of the one before.",
            tuple(
                lambda m, r=r: r ** np.arange(m) / (r ** np.arange(m)).sum()
                for r in (np.exp(-1), 0.25, 0.9)
            ),
        ),
        Mistake(
            "wrong sign",
            "2^(−i)/(1 − 2^(−M)): a share is positive.",
            lambda m: -_shares(m),
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (
    BATCH_LOSS,
    BAND,
    LOG_PRIOR,
    SHARES,
)
