"""Variational methods on binary labels, against quadrature.

Logistic regression f = a x + b has two weights, so its posterior is a sum over a grid and the free
energy of a Gaussian one integral per point.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.special import expit

from bdl_teach.densities import Gaussian
from bdl_teach.methods import local_reparam, low_rank

RNG = np.random.default_rng(3)
X = RNG.uniform(0.0, 2.0, (12, 1))
LABELS = np.float64(RNG.random((12, 1)) < expit(3.0 * X - 2.0))
DESIGN = np.hstack([X, np.ones_like(X)])
PRIOR_STD = 2.0
LINEAR: dict[str, Any] = {
    "likelihood": "bernoulli",
    "prior": Gaussian(PRIOR_STD),
    "hidden_units": (),
}
NODES, SHARES = np.polynomial.hermite_e.hermegauss(40)
SHARES = SHARES / SHARES.sum()


def nll(f: Any, y: Any) -> Any:
    return np.logaddexp(0.0, f) - y * f


def free_energy(mean: Any, cov: Any) -> float:
    """Return F of q = N(mean, cov): KL in closed form, each logit over 40 Gauss points."""
    kl = 0.5 * (np.trace(cov) / PRIOR_STD**2 + mean @ mean / PRIOR_STD**2 - 2)
    kl += 2 * np.log(PRIOR_STD) - 0.5 * np.linalg.slogdet(cov)[1]
    spread = np.sqrt(np.einsum("ni,ij,nj->n", DESIGN, cov, DESIGN))
    f = (DESIGN @ mean)[:, None] + spread[:, None] * NODES
    return float(kl + (nll(f, LABELS) @ SHARES).sum())


@lru_cache
def best(correlated: bool) -> tuple[float, Any, Any]:
    """Return F, mean and covariance of the best Gaussian, diagonal or correlated."""

    def gaussian(theta: Any) -> tuple[Any, Any]:
        root = np.array([[np.exp(theta[2]), 0.0], [theta[4] * correlated, np.exp(theta[3])]])
        return theta[:2], root @ root.T

    found = optimize.minimize(lambda theta: free_energy(*gaussian(theta)), np.zeros(5))
    return float(found.fun), *gaussian(found.x)


@lru_cache
def quiet() -> local_reparam.Fit:
    options = {**local_reparam.QUIET, "steps": 2000, **LINEAR}
    return local_reparam.fit(X, LABELS, **options)


def test_mean_field_classifier_finds_the_best_diagonal_gaussian():
    """Without a hidden layer the quiet estimator draws nothing."""
    energy, mean, cov = best(False)
    fit = quiet()
    np.testing.assert_allclose(fit.mean, mean, rtol=1e-3)
    np.testing.assert_allclose(fit.std, np.sqrt(np.diag(cov)), rtol=1e-3)
    assert fit.cost(40_000).total == pytest.approx(energy, abs=0.03)
    assert fit.converged


def test_full_rank_classifier_finds_the_correlation():
    fit = low_rank.fit(X, LABELS, rank=2, n_samples=10, steps=3000, learning_rate=0.05, **LINEAR)
    energy, mean, cov = best(True)
    assert free_energy(fit.mean, fit.cov) == pytest.approx(energy, abs=0.02)
    assert fit.cost(40_000).total == pytest.approx(free_energy(fit.mean, fit.cov), abs=0.03)
    np.testing.assert_allclose(fit.cov, cov, rtol=0.15)
