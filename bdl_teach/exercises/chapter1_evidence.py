"""Exercises 1.7 and 1.8: the evidence of each prior, the best independent Gaussians."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import multivariate_normal, norm

from bdl_teach.checks import Array
from bdl_teach.exercises.engine import Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(1)


def _log_evidence(phi: Any, y: Any, s: Any, candidates: Any) -> Array:
    return np.array([_marginal(phi @ phi.T * c**2 + s**2 * np.eye(len(y)), y) for c in candidates])


def _marginal(cov: Any, y: Any) -> float:
    return float(multivariate_normal(np.zeros(len(y)), cov, allow_singular=True).logpdf(y))


def _misfit(phi: Any, y: Any, s: Any, c: Any) -> Any:
    cov = phi @ phi.T * c**2 + s**2 * np.eye(len(y))
    return -0.5 * y @ np.linalg.solve(cov, y)


def _plug_in(phi: Any, y: Any, s: Any, c: Any) -> Any:
    w = np.linalg.solve(phi.T @ phi / s**2 + np.eye(phi.shape[1]) / c**2, phi.T @ y / s**2)
    return norm(phi @ w, s).logpdf(y).sum()


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
            "σ_p not squared",
            "the prior enters the covariance of y as σ_p², a variance.",
            lambda phi, y, s, c: _log_evidence(phi, y, s, np.sqrt(c)),
        ),
        Mistake(
            "s not squared",
            "the noise enters the covariance of y as s², a variance.",
            lambda phi, y, s, c: _log_evidence(phi, y, np.sqrt(s), c),
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
            "these minimise KL[p ‖ q], the shadow of p; KL[q ‖ p] wants the slice of p.",
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
            "diagonal of the Cholesky factor",
            "each weight given only those before it; hold *all* the others fixed.",
            lambda cov: np.diag(np.linalg.cholesky(cov)),
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

EXERCISES: tuple[Exercise, ...] = (EVIDENCE, FACTORISED)
