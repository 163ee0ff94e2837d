"""Exercises 1.5 to 1.8: predict from draws, a KL with zeros, the evidence, a factorised q."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from bdl_teach.checks import Array
from bdl_teach.exercises.engine import Exercise, Mistake, Outcome, same

_A = np.array
_RNG = np.random.default_rng(1)


def _log_normal(y: Any, mean: Any, s: Any) -> Any:
    return -0.5 * ((y - mean) / s) ** 2 - np.log(s) - 0.5 * np.log(2 * np.pi)


def _log_predictive(y: Any, f: Any, s: Any) -> Any:
    return logsumexp(_log_normal(y, f, s)) - np.log(len(f))


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
            recognises=lambda got, want: _first_two_right(got, want),
        ),
        Mistake(
            "mean of logarithms",
            "average the *densities*, then take the logarithm; the other order is never larger.",
            lambda y, f, s: np.mean(_log_normal(y, f, s)),
        ),
        Mistake(
            "missing 1/T",
            "an average over T draws divides by T: subtract log T.",
            lambda y, f, s: logsumexp(_log_normal(y, f, s)),
        ),
        Mistake(
            "plug-in",
            "this is the density around the mean function; it forgets that the draws disagree.",
            lambda y, f, s: _log_normal(y, np.mean(f), s),
        ),
        Mistake(
            "one Gaussian for the mixture",
            "matching mean and variance is close, but the average of Gaussians is no Gaussian.",
            lambda y, f, s: _log_normal(y, np.mean(f), np.sqrt(np.var(f) + s**2)),
        ),
        Mistake(
            "density for log density",
            "take the logarithm.",
            lambda y, f, s: np.exp(_log_predictive(y, f, s)),
        ),
        Mistake(
            "summed logarithms",
            "the draws are alternatives, not independent data: no product over them.",
            lambda y, f, s: np.sum(_log_normal(y, f, s)),
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


def _first_two_right(got: Sequence[Outcome], want: Sequence[Outcome]) -> bool:
    return same(got[:2], want[:2]) and not same(got[2:], want[2:])


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
            "infinity taken away",
            "right where it is finite; but where p = 0 and q > 0, q says possible to what p "
            "excludes: the KL is infinite.",
            recognises=lambda got, want: same(got[:4], want[:4]) and not same(got[4:], want[4:]),
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


def _log_evidence(phi: Any, y: Any, s: Any, candidates: Any) -> Array:
    return np.array([_marginal(phi @ phi.T * c**2 + s**2 * np.eye(len(y)), y) for c in candidates])


def _marginal(cov: Any, y: Any) -> float:
    return float(multivariate_normal(np.zeros(len(y)), cov, allow_singular=True).logpdf(y))


def _misfit(phi: Any, y: Any, s: Any, c: Any) -> Any:
    cov = phi @ phi.T * c**2 + s**2 * np.eye(len(y))
    return -0.5 * y @ np.linalg.solve(cov, y)


def _plug_in(phi: Any, y: Any, s: Any, c: Any) -> Any:
    w = np.linalg.solve(phi.T @ phi / s**2 + np.eye(phi.shape[1]) / c**2, phi.T @ y / s**2)
    return np.sum(_log_normal(y, phi @ w, s))


def _each(function: Any) -> Any:
    """The array over the candidates of a function of (phi, y, noise_std, one candidate)."""
    return lambda phi, y, s, candidates: np.array([function(phi, y, s, c) for c in candidates])


_SIGMAS = _A([0.1, 1.0, 10.0])

EVIDENCE = Exercise(
    "1.7",
    "Extend: the evidence of each prior",
    "1.6",
    _log_evidence,
    (
        (_RNG.normal(size=(5, 2)), _RNG.normal(size=5), 0.5, _SIGMAS),
        (_RNG.normal(size=(4, 6)), 3 * _RNG.normal(size=4), 1.5, _SIGMAS[:2]),
        (np.ones((1, 1)), _A([2.0]), 1.0, _SIGMAS),
    ),
    (
        Mistake(
            "likelihood of the MAP weights",
            "this is how well the *best* weights fit: it never falls as the prior widens. The "
            "evidence averages over the prior.",
            _each(_plug_in),
        ),
        Mistake(
            "the determinant is missing",
            "a wide prior spreads its mass thinly: −½ log det is what it pays.",
            _each(lambda phi, y, s, c: _misfit(phi, y, s, c) - len(y) / 2 * np.log(2 * np.pi)),
        ),
        Mistake(
            "only the misfit",
            "−½ log det(2π C) is missing: the normalising constant of the Gaussian.",
            _each(_misfit),
        ),
        Mistake(
            "the constant is missing",
            "−n/2 log 2π belongs to a density of n numbers.",
            lambda phi, y, s, c: _log_evidence(phi, y, s, c) + len(y) / 2 * np.log(2 * np.pi),
        ),
        Mistake(
            "σ for σ²",
            "the covariance of y is σ_p² ΦΦᵀ + s² I: variances.",
            lambda phi, y, s, c: _log_evidence(phi, y, np.sqrt(s), np.sqrt(c)),
        ),
        Mistake(
            "the noise is missing",
            "y is the function *plus noise*: add s² I.",
            lambda phi, y, s, c: _log_evidence(phi, y, 1e-6, c),
        ),
        Mistake(
            "wrong sign",
            "the log evidence, to be maximised.",
            lambda phi, y, s, c: -_log_evidence(phi, y, s, c),
        ),
        Mistake(
            "density for log density",
            "take the logarithm: P(D) itself underflows with a few hundred points.",
            lambda phi, y, s, c: np.exp(_log_evidence(phi, y, s, c)),
        ),
        Mistake(
            "per point",
            "the log evidence of all the data is wanted, not its mean.",
            lambda phi, y, s, c: _log_evidence(phi, y, s, c) / len(y),
        ),
    ),
)


def _factorised(cov: Any) -> Any:
    return 1 / np.sqrt(np.diag(np.linalg.inv(cov)))


FACTORISED = Exercise(
    "1.8",
    "Extend: the best independent Gaussians",
    "1.8",
    _factorised,
    (
        (_A([[1.0, 0.9], [0.9, 1.0]]),),
        (_A([[2.0, -0.6, 0.1], [-0.6, 0.5, 0.2], [0.1, 0.2, 1.5]]),),
        (_A([[4.0, 1.0], [1.0, 9.0]]),),
    ),
    (
        Mistake(
            "marginal sds",
            "these minimise KL[p ‖ q]; here the average is over q, which must fit *inside* p.",
            lambda cov: np.sqrt(np.diag(cov)),
        ),
        Mistake(
            "variances for sds",
            "take the root.",
            lambda cov: 1 / np.diag(np.linalg.inv(cov)),
        ),
        Mistake(
            "precisions for sds",
            "these are 1/σ².",
            lambda cov: np.diag(np.linalg.inv(cov)),
        ),
        Mistake(
            "the inverse is missing",
            "the precision matrix is the inverse of the covariance, not of its diagonal.",
            lambda cov: 1 / np.sqrt(np.diag(cov)),
        ),
        Mistake(
            "marginal variances",
            "these are the variances of KL[p ‖ q]'s answer; take the precision matrix, and roots.",
            lambda cov: np.diag(cov),
        ),
        Mistake(
            "eigenvalues",
            "q's axes are those of the weights, not those of the ellipse.",
            lambda cov: np.sqrt(np.linalg.eigvalsh(cov)),
        ),
        Mistake(
            "root of the precision",
            "the sd is one over it.",
            lambda cov: np.sqrt(np.diag(np.linalg.inv(cov))),
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (PREDICTIVE, KL_TABLE, EVIDENCE, FACTORISED)
