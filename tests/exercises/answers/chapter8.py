"""Chapter 8: right answers computed differently than the references, and wrong answers."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import minimize_scalar

from bdl_teach import datasets, densities
from bdl_teach.methods import exact, point

GAP = (0.1, 0.4)
SETTINGS: dict[str, Any] = {"prior": densities.Gaussian(3.0), "hidden_units": (20,)}


@lru_cache(maxsize=8)
def features(seed: int) -> Any:
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=seed, gap=GAP)
    w = point.fit(data.x, data.y, **SETTINGS).weights
    h = np.maximum(0, data.x * w[:20] + w[20:40])
    return np.hstack([h, np.ones_like(data.x)]), data.y


def deserved(seed: int) -> Any:
    phi, y = features(seed)

    def cost(log_sd: float) -> float:
        return -exact.linear_regression(phi, y, math.exp(log_sd), 1.0).log_evidence

    return math.exp(minimize_scalar(cost, bounds=(-2, 5), method="bounded").x)


def by_quadrature(phi: Any, y: Any, mean: Any, cov: Any, prior_std: Any, noise_std: Any) -> Any:
    """Compute the bound of 8.11 by Gauss-Hermite nodes for each point, and eigenvalues of cov."""
    nodes, shares = np.polynomial.hermite_e.hermegauss(20)
    f = phi @ mean + np.sqrt(np.einsum("ni,ij,nj->n", phi, cov, phi)) * nodes[:, None]
    each = shares @ stats.norm.logpdf(y, f, noise_std) / shares.sum()
    ratios = np.linalg.eigvalsh(cov) / prior_std**2
    return each.sum() - (ratios - np.log(ratios) - 1).sum() / 2 - mean @ mean / prior_std**2 / 2


RIGHT: list[tuple[str, Any]] = [
    ("8.9", deserved),
    ("8.10", lambda seed: 0.01),
    ("8.11", by_quadrature),
]

WRONG: list[tuple[str, str, Any]] = [
    ("8.9", "the variance", lambda seed: deserved(seed) ** 2),
    ("8.9", "the prior that it was trained with", lambda seed: 3.0),
    ("8.9", "no standard deviation", lambda seed: -deserved(seed)),
    ("8.9", "too narrow", lambda seed: 1.5),
    ("8.9", "too wide", lambda seed: 45.0),
    ("8.10", "no dropout", lambda seed: 0.0),
    ("8.10", "too calm", lambda seed: 0.002),
    ("8.10", "near the usual rate", lambda seed: 0.1),
    ("8.10", "the probability of keeping", lambda seed: 0.99),
    ("8.10", "no rate", lambda seed: 1.0),
    ("8.10", "above the usual rate", lambda seed: 0.5),
]
