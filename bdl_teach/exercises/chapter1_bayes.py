"""Exercises 1.5 and 1.6: predict from draws, a KL with zeros."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp, rel_entr
from scipy.stats import norm

from bdl_teach.exercises.engine import Exercise, Mistake

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
        (60.0, _A([0.0, 3.0, 5.0]), 1.0),
    ),
    (
        Mistake(
            "underflow",
            "right near the draws, but far from them every density is 0 and its logarithm −∞: "
            "add in logarithms, with scipy.special.logsumexp.",
            lambda y, f, s: np.log(np.mean(norm.pdf(y, f, s))),
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
            "1/T outside the logarithm",
            "the average is inside the logarithm: subtract log T, do not divide by T.",
            lambda y, f, s: logsumexp(norm.logpdf(y, f, s)) / len(f),
        ),
        Mistake(
            "the normalising constant is missing",
            "a density carries −log s − ½ log 2π as well.",
            lambda y, f, s: logsumexp(-0.5 * ((y - f) / s) ** 2) - np.log(len(f)),
        ),
        Mistake(
            "plug-in",
            "this is the density around the mean function; it forgets that the draws disagree.",
            lambda y, f, s: norm.logpdf(y, np.mean(f), s),
        ),
        Mistake(
            "one Gaussian for the mixture",
            "matching mean and variance is close, but the average of Gaussians is no Gaussian.",
            lambda y, f, s: norm.logpdf(y, np.mean(f), np.sqrt(np.var(f) + s**2)),
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
            "σ² for σ",
            "the noise is given as a standard deviation.",
            lambda y, f, s: _log_predictive(y, f, s**2),
        ),
        Mistake(
            "σ for σ²",
            "divide by s twice in the exponent.",
            lambda y, f, s: _log_predictive(y, f, np.sqrt(s)),
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
)

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
        ),
        Mistake(
            "infinity taken away",
            "right where it is finite; but where p = 0 and q > 0, q says possible to what p "
            "excludes: the KL is infinite.",
            lambda q, p: np.sum(rel_entr(q, p)[(q > 0) & (p > 0)]),
        ),
        Mistake("in bits", "use the natural logarithm: nats.", lambda q, p: _kl(q, p) / np.log(2)),
        Mistake("wrong sign", "a KL is never negative.", lambda q, p: -_kl(q, p)),
        Mistake(
            "cross-entropy",
            "this is −Σ q log p; the entropy of q is missing.",
            lambda q, p: -np.sum(q[q > 0] * np.log(p[q > 0])),
        ),
        Mistake(
            "mean for sum",
            "q is the weight of each term already.",
            lambda q, p: _kl(q, p) / len(q),
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (PREDICTIVE, KL_TABLE)
