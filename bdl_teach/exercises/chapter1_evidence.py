"""Exercises 1.7 and 1.8: the evidence of each prior, the best independent Gaussians."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.exercises._engine import Exercise, Mistake
from bdl_teach.exercises._faces import BASES

_A = np.array
_RNG = np.random.default_rng(1)


def _cov(phi: Any, s: Any, c: Any) -> Any:
    return phi @ phi.T * c**2 + s**2 * np.eye(len(phi))


def _misfit(cov: Any, y: Any) -> Any:
    return -0.5 * y @ np.linalg.solve(cov, y)


def _log_density(cov: Any, y: Any) -> Any:
    """Log N(y | 0, cov)."""
    return _misfit(cov, y) - 0.5 * np.linalg.slogdet(cov)[1] - len(y) / 2 * np.log(2 * np.pi)


def _by_determinant(cov: Any, y: Any) -> Any:
    return _misfit(cov, y) - 0.5 * np.log(np.linalg.det(cov)) - len(y) / 2 * np.log(2 * np.pi)


def _log_evidence(phi: Any, y: Any, noise_std: Any, candidates: Any) -> Array:
    return np.array([_log_density(_cov(phi, noise_std, c), y) for c in candidates])


def _posterior(phi: Any, y: Any, s: Any, c: Any) -> Any:
    """Mean and precision of the weights."""
    precision = phi.T @ phi / s**2 + np.eye(phi.shape[1]) / c**2
    return np.linalg.solve(precision, phi.T @ y / s**2), precision


def _plug_in(phi: Any, y: Any, s: Any, c: Any) -> Any:
    return _log_density(s**2 * np.eye(len(y)), y - phi @ _posterior(phi, y, s, c)[0])


def _joint(phi: Any, y: Any, s: Any, c: Any) -> Any:
    w = _posterior(phi, y, s, c)[0]
    return _plug_in(phi, y, s, c) + _log_density(c**2 * np.eye(len(w)), w)


def _each(function: Any) -> Any:
    """The array over the candidates of a function of (phi, y, noise_std, one candidate)."""
    return lambda phi, y, s, candidates: np.array([function(phi, y, s, c) for c in candidates])


_MANY = _RNG.normal(size=(90, 3))

EVIDENCE = Exercise(
    "1.7",
    "Extend: the evidence of each prior",
    "1.6",
    _log_evidence,
    (
        (_RNG.normal(size=(5, 2)), _RNG.normal(size=5), 0.5, _A([0.1, 1.0, 3.0])),
        (_RNG.normal(size=(4, 6)), 3 * _RNG.normal(size=4), 1.5, _A([2.3, 0.4])),
        (np.ones((1, 1)), _A([2.0]), 1.2, _A([0.1, 1.0, 10.0])),
        (_RNG.normal(size=(7, 3)), 0.002 * _RNG.normal(size=7), 0.001, _A([0.003])),
        # The determinant is 0 in floating point, and then the density infinite as well.
        (_MANY, 0.004 * _RNG.normal(size=90), 0.0037, _A([0.001, 0.002])),
        (_MANY, 1e-5 * _RNG.normal(size=90), 1.1e-5, _A([3e-6, 5e-6])),
    ),
    (
        Mistake(
            "underflow",
            "right for a few points, but the determinant of hundreds of small variances is 0 in "
            "floating point: take np.linalg.slogdet, or a Gaussian's logpdf.",
            (
                _each(lambda phi, y, s, c: _by_determinant(_cov(phi, s, c), y)),
                _each(
                    lambda phi, y, s, c: (
                        _misfit(_cov(phi, s, c), y)
                        - 0.5 * np.log(np.linalg.det(2 * np.pi * _cov(phi, s, c)))
                    )
                ),
            ),
        ),
        Mistake(
            "the density's own size",
            "P(D) of hundreds of points is 0 or infinite in floating point: never leave the "
            "logarithms, take a Gaussian's logpdf.",
            lambda phi, y, s, c: np.log(np.exp(_log_evidence(phi, y, s, c))),
        ),
        Mistake(
            "likelihood of the MAP weights",
            "this is how well the *best* weights fit: it never falls as the prior widens. The "
            "evidence averages over the prior.",
            _each(_plug_in),
        ),
        Mistake(
            "likelihood and prior at the MAP weights",
            "that is log P(D | w) + log P(w) at one w; (1.16) subtracts log P(w | D) there.",
            _each(_joint),
        ),
        Mistake(
            "the determinant is missing",
            "a wide prior spreads its mass thinly: −½ log det is what it pays.",
            _each(
                lambda phi, y, s, c: _misfit(_cov(phi, s, c), y) - len(y) / 2 * np.log(2 * np.pi)
            ),
        ),
        Mistake(
            "the ½ of the determinant is missing",
            "−½ log det C: the density is divided by the root of the determinant.",
            _each(
                lambda phi, y, s, c: (
                    _log_density(_cov(phi, s, c), y) - 0.5 * np.linalg.slogdet(_cov(phi, s, c))[1]
                )
            ),
        ),
        Mistake(
            "wrong sign of the determinant",
            "a wide Gaussian is low everywhere: −½ log det C.",
            _each(
                lambda phi, y, s, c: (
                    _log_density(_cov(phi, s, c), y) + np.linalg.slogdet(_cov(phi, s, c))[1]
                )
            ),
        ),
        Mistake(
            "the ½ of the misfit is missing",
            "the exponent is −½ yᵀC⁻¹y.",
            _each(
                lambda phi, y, s, c: _log_density(_cov(phi, s, c), y) + _misfit(_cov(phi, s, c), y)
            ),
        ),
        Mistake(
            "only the misfit",
            "−½ log det(2π C) is missing: the normalising constant of the Gaussian.",
            _each(lambda phi, y, s, c: _misfit(_cov(phi, s, c), y)),
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
            "the prior is missing",
            "the weights are drawn from N(0, σ_p²): σ_p² ΦΦᵀ + s² I.",
            lambda phi, y, s, c: _log_evidence(phi, y, s, np.ones(len(c))),
        ),
        Mistake(
            "only the noise",
            "the function is random as well: add σ_p² ΦΦᵀ.",
            lambda phi, y, s, c: _log_evidence(0 * phi, y, s, c),
        ),
        Mistake(
            "correlations dropped",
            "two outputs share their weights: the covariance of y is not diagonal.",
            _each(lambda phi, y, s, c: _log_density(np.diag(np.diag(_cov(phi, s, c))), y)),
        ),
        Mistake(
            "wrong sign",
            "the log evidence, to be maximised.",
            lambda phi, y, s, c: -_log_evidence(phi, y, s, c),
        ),
        Mistake(
            "another logarithm",
            "nats belong to the natural logarithm, np.log.",
            tuple(lambda phi, y, s, c, b=b: _log_evidence(phi, y, s, c) / b for b in BASES),
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


def _given_those_before(cov: Any) -> Any:
    return np.diag(np.linalg.cholesky(cov))


_FACTOR = _RNG.normal(size=(5, 5)) + 2 * np.eye(5)

FACTORISED = Exercise(
    "1.8",
    "Extend: the best independent Gaussians",
    "1.8",
    _factorised,
    (
        (_A([[1.0, 0.9], [0.9, 1.0]]),),
        (_A([[2.0, -0.6, 0.1], [-0.6, 0.5, 0.2], [0.1, 0.2, 1.5]]),),
        (_A([[4.0, 1.0], [1.0, 9.0]]),),
        (_A([[0.3]]),),
        (1e-6 * _FACTOR @ _FACTOR.T,),
        (_A([[7.0e8, 2.0e8, -1.0e8], [2.0e8, 4.0e8, 0.5e8], [-1.0e8, 0.5e8, 9.0e8]]),),
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
            (lambda cov: 1 / np.sqrt(np.diag(cov)), lambda cov: 1 / np.diag(cov)),
        ),
        Mistake(
            "marginal variances",
            "these are the variances of KL[p ‖ q]'s answer; take the precision matrix, and roots.",
            lambda cov: np.diag(cov),
        ),
        Mistake(
            "diagonal of the Cholesky factor",
            "each weight given only those before it, or after it; hold *all* the others fixed.",
            (
                _given_those_before,
                lambda cov: _given_those_before(cov[::-1, ::-1])[::-1],
            ),
        ),
        Mistake(
            "eigenvalues",
            "q's axes are those of the weights, not those of the ellipse.",
            (
                lambda cov: np.sqrt(np.linalg.eigvalsh(cov)),
                lambda cov: np.sqrt(np.linalg.eigvalsh(cov))[::-1],
                lambda cov: np.linalg.eigvalsh(cov),
                lambda cov: np.linalg.eigvalsh(cov)[::-1],
            ),
        ),
        Mistake(
            "root of the precision",
            "the sd is one over it.",
            lambda cov: np.sqrt(np.diag(np.linalg.inv(cov))),
        ),
        Mistake(
            "a matrix",
            "one sd a weight is wanted: the diagonal.",
            (
                lambda cov: np.diag(_factorised(cov)),
                lambda cov: np.linalg.inv(cov),
                lambda cov: np.diag(1 / np.diag(np.linalg.inv(cov))),
            ),
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (EVIDENCE, FACTORISED)
