"""Exercises 1.5 and 1.6: predict from draws, a KL with zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp, rel_entr
from scipy.stats import norm

from bdl_teach.exercises._engine import Exercise, Mistake
from bdl_teach.exercises._faces import BASES, TINY

_A = np.array


def _log_predictive(y: Any, f: Any, s: Any) -> Any:
    return logsumexp(norm.logpdf(y, f, s)) - np.log(len(f))


PREDICTIVE = Exercise(
    "1.5",
    "Change: a log predictive density from draws",
    "1.5",
    _log_predictive,
    (
        (1.0, _A([0.2, 0.9, 1.5, -0.3]), 0.5),
        (-2.0, _A([-1.0, 1.0]), 1.2),
        (0.7, _A([-0.4]), 2.3),  # one draw
        (0.01, _A([0.012, 0.004, 0.007]), 0.002),
        (9.0, _A([1.1, 0.3, -0.8, 1.0, 0.2, -2.0, 0.95]), 0.6),  # densities near 1e-38
        (60.0, _A([0.0, 3.0, 5.0]), 1.0),  # all densities are 0, and
        (60.0, _A([5.0, 5.0, 0.0]), 1.0),  # two draws share the largest
        (-70.0, _A([1.0, 1.02, 0.98, 4.0]), 1.7),
        (3000.0, _A([-20.0, 45.0]), 4.0),
    ),
    (
        Mistake(
            "underflow",
            "right near the draws, but far from them every density is 0 and its logarithm −∞: "
            "add in logarithms, with scipy.special.logsumexp.",
            lambda y, f, s: np.log(np.mean(norm.pdf(y, f, s))),
        ),
        Mistake(
            "a small number added",
            "it hides that the densities are 0 in floating point, and makes the score far too "
            "good: add in logarithms, with scipy.special.logsumexp.",
            (
                *(lambda y, f, s, t=t: np.log(np.mean(norm.pdf(y, f, s)) + t) for t in TINY),
                *(lambda y, f, s, t=t: np.log(max(np.mean(norm.pdf(y, f, s)), t)) for t in TINY),
                *(
                    lambda y, f, s, t=t: np.log(np.mean(np.maximum(norm.pdf(y, f, s), t)))
                    for t in TINY
                ),
            ),
        ),
        Mistake(
            "only the nearest draw",
            "average over all draws: this is the largest of the log densities, less log T at most.",
            (
                lambda y, f, s: norm.logpdf(y, f, s).max(),
                lambda y, f, s: norm.logpdf(y, f, s).max() - np.log(len(f)),
            ),
        ),
        Mistake(
            "mean of logarithms",
            "average the *densities*, then take the logarithm; the other order is never larger.",
            lambda y, f, s: np.mean(norm.logpdf(y, f, s)),
        ),
        Mistake(
            "missing 1/T",
            "an average over T draws divides by T: subtract log T.",
            lambda y, f, s: logsumexp(norm.logpdf(y, f, s)),
        ),
        Mistake(
            "log T added",
            "log(1/T) = −log T.",
            lambda y, f, s: logsumexp(norm.logpdf(y, f, s)) + np.log(len(f)),
        ),
        Mistake(
            "1/T outside the logarithm",
            "the average is inside the logarithm: subtract log T, do not divide by T.",
            lambda y, f, s: logsumexp(norm.logpdf(y, f, s)) / len(f),
        ),
        Mistake(
            "another logarithm",
            "nats belong to the natural logarithm, np.log.",
            tuple(lambda y, f, s, b=b: _log_predictive(y, f, s) / b for b in BASES),
        ),
        Mistake(
            "the normalising constant is missing",
            "a density carries −log s − ½ log 2π as well.",
            lambda y, f, s: logsumexp(-0.5 * ((y - f) / s) ** 2) - np.log(len(f)),
        ),
        Mistake(
            "the 2π is missing",
            "−½ log 2π belongs to a density.",
            lambda y, f, s: _log_predictive(y, f, s) + 0.5 * np.log(2 * np.pi),
        ),
        Mistake(
            "−log s is missing",
            "a narrow Gaussian is high: its density is divided by s.",
            lambda y, f, s: _log_predictive(y, f, s) + np.log(s),
        ),
        Mistake(
            "the ½ is missing",
            "the exponent of a Gaussian is −½ (r/s)².",
            lambda y, f, s: _log_predictive(y, f, s / np.sqrt(2)) - 0.5 * np.log(2),
        ),
        Mistake(
            "plug-in",
            "this is the density around the mean function; it forgets that the draws disagree.",
            lambda y, f, s: norm.logpdf(y, np.mean(f), s),
        ),
        Mistake(
            "one Gaussian for the mixture",
            "matching mean and variance is close, but the average of Gaussians is no Gaussian.",
            (
                lambda y, f, s: norm.logpdf(y, np.mean(f), np.sqrt(np.var(f) + s**2)),
                lambda y, f, s: norm.logpdf(
                    y, np.mean(f), np.sqrt(np.sum((f - np.mean(f)) ** 2) / (len(f) - 1) + s**2)
                ),
            ),
            breaks=True,  # one draw has no sample variance
        ),
        Mistake(
            "density for log density",
            "take the logarithm.",
            lambda y, f, s: np.exp(_log_predictive(y, f, s)),
        ),
        Mistake(
            "summed logarithms",
            "the draws are alternatives, not independent data: no product over them.",
            lambda y, f, s: np.sum(norm.logpdf(y, f, s)),
        ),
        Mistake(
            "one for each draw",
            "one number is wanted: average the densities over the draws.",
            lambda y, f, s: norm.logpdf(y, f, s),
        ),
        Mistake(
            "σ² for σ",
            "the noise is given as a standard deviation.",
            lambda y, f, s: _log_predictive(y, f, s**2),
        ),
        Mistake(
            "σ for σ²",
            "divide by s twice in the exponent.",
            (
                lambda y, f, s: _log_predictive(y, f, np.sqrt(s)),
                lambda y, f, s: _log_predictive(y, f, np.sqrt(s)) - 0.5 * np.log(s),
            ),
        ),
        Mistake(
            "wrong sign", "the log density, not −log.", lambda y, f, s: -_log_predictive(y, f, s)
        ),
    ),
)


def _kl(q: Any, p: Any) -> Any:
    inside = q > 0
    return np.sum(q[inside] * (np.log(q[inside]) - np.log(p[inside])))


def _naive(q: Any, p: Any) -> Any:
    return np.sum(q * np.log(q / p))


_TABLES = (
    (_A([0.2, 0.5, 0.3]), _A([0.25, 0.25, 0.5])),
    (_A([0.7, 0.1, 0.1, 0.1]), _A([0.1, 0.2, 0.3, 0.4])),
    (_A([0.5, 0.5, 0.0]), _A([0.25, 0.25, 0.5])),
    (_A([0.9, 0.0, 0.1, 0.0]), _A([0.5, 0.0, 0.4, 0.1])),
    (_A([0.25, 0.25, 0.5]), _A([0.5, 0.5, 0.0])),
    (_A([0.35, 0.65]), _A([1e-12, 1.0 - 1e-12])),
    (_A([0.05, 0.0, 0.3, 0.2, 0.15, 0.1, 0.2]), _A([0.3, 0.1, 0.05, 0.25, 0.1, 0.15, 0.05])),
    (_A([0.6, 0.4]), _A([0.6, 0.4])),
    (_A([0.0, 1.0]), _A([1.0, 0.0])),
)


def _dropped(q: Any, p: Any) -> Any:
    return rel_entr(q, p)[(q > 0) & (p > 0)]


KL_TABLE = Exercise(
    "1.6",
    "Break: a KL that survives zeros",
    "1.8",
    _kl,
    _TABLES,
    (
        Mistake(
            "0 log 0 left undefined",
            "right without zeros; where q = 0 the term is 0, its limit, whatever p is.",
            _naive,
            breaks=True,
        ),
        Mistake(
            "KL reversed",
            "this is KL[p ‖ q]: the average is over the first argument.",
            lambda q, p: _kl(p, q),
        ),
        Mistake(
            "KL reversed, and 0 log 0 left undefined",
            "this is KL[p ‖ q]: the average is over the first argument; a term with weight 0 is 0.",
            lambda q, p: _naive(p, q),
            breaks=True,
        ),
        Mistake(
            "infinity taken away",
            "right where it is finite; but where p = 0 and q > 0, q says possible to what p "
            "excludes: the KL is infinite.",
            (
                lambda q, p: np.sum(_dropped(q, p)),
                lambda q, p: np.nan_to_num(_kl(q, p), posinf=0.0),
                lambda q, p: np.nan_to_num(_kl(q, p)),
            ),
        ),
        Mistake(
            "a small number added",
            "it makes a number out of an infinite KL, and shifts the finite ones: leave out the "
            "terms with q = 0, and nothing else.",
            (
                *(lambda q, p, t=t: _naive(q + t, p + t) for t in TINY),
                *(lambda q, p, t=t: np.sum(q * np.log((q + t) / (p + t))) for t in TINY),
                *(lambda q, p, t=t: np.sum(rel_entr(q, p + t)) for t in TINY),
                *(lambda q, p, t=t: np.sum(q * np.log(q / (p + t) + t)) for t in TINY),
                *(lambda q, p, t=t: _naive(np.maximum(q, t), np.maximum(p, t)) for t in TINY),
                *(lambda q, p, t=t: np.sum(rel_entr(q, np.maximum(p, t))) for t in TINY),
            ),
        ),
        Mistake(
            "another logarithm",
            "use the natural logarithm: nats.",
            tuple(lambda q, p, b=b: _kl(q, p) / b for b in BASES),
        ),
        Mistake(
            "wrong sign",
            "a KL is never negative.",
            (lambda q, p: -_kl(q, p), lambda q, p: -_naive(q, p)),
            breaks=True,
        ),
        Mistake(
            "cross-entropy",
            "this is −Σ q log p; the entropy of q is missing.",
            (
                lambda q, p: -np.sum(q[q > 0] * np.log(p[q > 0])),
                lambda q, p: -np.sum(q * np.log(p)),
            ),
            breaks=True,
        ),
        Mistake(
            "mean for sum",
            "q is the weight of each term already.",
            (
                lambda q, p: _kl(q, p) / len(q),
                lambda q, p: np.mean(rel_entr(q, p)[q > 0]),
                lambda q, p: _naive(q, p) / len(q),
            ),
            breaks=True,
        ),
        Mistake(
            "not summed",
            "one number is wanted: add the terms.",
            (lambda q, p: rel_entr(q, p), lambda q, p: q * np.log(q / p)),
            breaks=True,
        ),
        Mistake(
            "the weights are missing",
            "the average is over q: each log(q/p) is multiplied by its q.",
            (
                lambda q, p: np.sum(np.log(q / p)),
                lambda q, p: np.mean(np.log(q / p)),
                lambda q, p: np.sum(np.log(q[q > 0] / p[q > 0])),
                lambda q, p: np.mean(np.log(q[q > 0] / p[q > 0])),
            ),
            breaks=True,
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (PREDICTIVE, KL_TABLE)
