"""What the local-reparameterization lab draws: gradients and outputs, each at most once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from bdl_teach.checks import Array

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
N_DATA = SIZES[-1]
MOST_INPUTS = 4
KINDS = ("score", "shared", "per_example", "flipout", "local")  # from top to bottom


@lru_cache(maxsize=4)
def _pool(d: int, seed: int) -> tuple[Array, Array, Array]:
    """Weights ``[d]``, and 256 data points of which a minibatch takes the first M."""
    rng = np.random.default_rng([seed, 0])
    x, mu = rng.uniform(0.5, 1.5, (N_DATA, MOST_INPUTS))[:, :d], np.linspace(0.6, -0.6, d)
    return mu, x, x @ mu + rng.standard_normal(N_DATA)


def _problem(size: int, d: int, sigma: float, seed: int) -> dict[str, Any]:
    mu, x, y = _pool(d, seed)
    return {"mu": mu, "sigma": np.full(d, sigma), "x": x[:size], "y": y[:size]}


@lru_cache(maxsize=8 * len(KINDS) * len(SIZES))  # moving M, or a button, draws nothing anew
def gradients(
    kind: str, size: int, d: int, sigma: float, seed: int, n_draws: int, name: str
) -> Array:
    """Drawn gradients of the first weight's μ or σ, per data point ``[n_draws]``."""
    from bdl_teach import estimators

    problem = _problem(size, d, sigma, seed)
    drawn = estimators.gradient_samples(kind, **problem, n_draws=n_draws, seed=100 * size + seed)
    return np.asarray(getattr(drawn, name)[:, 0] / size)


@lru_cache(maxsize=8 * len(KINDS))
def theory(kind: str, d: int, sigma: float, seed: int, name: str) -> Array:
    """Their variance in closed form, at each of ``SIZES``."""
    from bdl_teach import estimators

    found = [estimators.gradient_variance(kind, **_problem(m, d, sigma, seed)) for m in SIZES]
    return np.array([getattr(v, name)[0] / m**2 for m, v in zip(SIZES, found, strict=True)])


@lru_cache(maxsize=8)
def two_rows(kind: str, d: int, sigma: float, seed: int, n_draws: int) -> Array:
    """Outputs of two data points at each draw, standardised ``[n_draws, 2]``."""
    from bdl_teach import estimators

    mu, x, _ = _pool(d, seed)
    std = np.full(d, sigma)
    drawn = estimators.output_samples(kind, mu, std, x[:2], n_draws=n_draws, seed=seed)
    return np.asarray((drawn - x[:2] @ mu) / np.sqrt(x[:2] ** 2 @ std**2))
