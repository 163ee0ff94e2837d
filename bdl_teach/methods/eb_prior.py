"""The prior that empirical Bayes learns, in closed form, and which weights share it.

KL[N(μ, σ²) ‖ N(0, σ_p²)] is smallest in σ_p at σ_p² = μ² + σ², averaged over the weights that
share the prior. What is left of it with a prior a weight depends on γ = μ/σ alone.

Source: Basov, "Empirical Bayesian neural networks", sections 6 and 7.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bdl_teach import checks
from bdl_teach.backend import tf
from bdl_teach.checks import Array
from bdl_teach.mlp import MLP

TIES = ("weight", "layer", "all")
ESTIMATORS = ("local", "shared")
_FAR = 1e9  # from here on ½ ln(1 + γ²) is ln |γ|


def kl(gamma: Any) -> float:
    """KL[q ‖ p] at the best prior of each weight: ½ Σ ln(1 + γ²).

    Args:
        gamma: γ = μ/σ of each weight, any shape.

    Returns:
        Nats, summed over the weights, in float64.

    Raises:
        ValueError: A γ is not finite.

    Source: Basov, section 7.
    """
    size = np.abs(checks.finite("gamma", gamma))
    near, far = np.minimum(size, _FAR), np.maximum(size, _FAR)  # the square of far may overflow
    return float((0.5 * np.log1p(near**2) + np.log(far / _FAR)).sum())


def optimal_prior_std(mu: Any, sigma: Any, groups: Any = None) -> Array:
    """The prior's standard deviation that makes KL[q ‖ p] smallest: √(mean of μ² + σ²).

    Args:
        mu: Means of q ``[n_weights]``, or any shape without groups.
        sigma: Standard deviations of q, >= 0, of the same shape.
        groups: Number of the group that each weight shares its prior with ``[n_weights]``, from
            0; each weight has a prior of its own if ``None``.

    Returns:
        σ_p of each weight, of the shape of ``mu``, in float64.

    Raises:
        ValueError: A value is not finite, a σ is negative or the shapes differ.

    Source: Basov, section 6; MacKay 1992 for tied weights.
    """
    mu, sigma = checks.finite("mu", mu), checks.finite("sigma", sigma)
    if not (sigma >= 0).all():
        raise ValueError(f"sigma: expected numbers >= 0, got a smallest of {sigma.min()}")
    if mu.shape != sigma.shape:
        raise ValueError(f"sigma: expected the shape of mu, {mu.shape}, got {sigma.shape}")
    own = np.asarray(np.hypot(mu, sigma))
    if groups is None:
        return own
    groups = np.asarray(groups)
    if groups.shape != own.shape or own.ndim != 1:
        raise ValueError(f"groups: expected one a weight, {own.shape}, got {groups.shape}")
    if groups.dtype.kind not in "iu" or (groups < 0).any():
        raise ValueError(f"groups: expected integers >= 0, got {groups}")
    _, groups = np.unique(groups, return_inverse=True)  # a number that nobody has is no group
    return np.asarray(np.sqrt(np.bincount(groups, own**2) / np.bincount(groups))[groups])


def tied_kl(mu: Any, sigma: Any, groups: Any) -> float:
    """KL[q ‖ p] at the best shared priors: Σ_k ln(σ_p/σ_k), in nats.

    The quadratic part, ½ Σ (μ² + σ²)/σ_p² − ½, is 0 at the best σ_p of each group.

    Args:
        mu: Means of q ``[n_weights]``.
        sigma: Standard deviations of q ``[n_weights]``, > 0.
        groups: Number of the group of each weight ``[n_weights]``, from 0.

    Raises:
        ValueError: As :func:`optimal_prior_std`, or a σ is 0.
    """
    sigma = checks.finite("sigma", sigma)
    if not (sigma > 0).all():
        raise ValueError(f"sigma: expected numbers > 0, got a smallest of {sigma.min()}")
    return float(np.log(optimal_prior_std(mu, sigma, groups) / sigma).sum())


def weight_cost(gamma: Any) -> Any:
    """½ Σ ln(1 + γ²) of a tensor; 0 where γ is, so that padding costs nothing."""
    return 0.5 * tf.reduce_sum(tf.math.log1p(gamma**2))


def group_cost(gamma: Any, std: Any, groups: Any) -> Any:
    """Σ_g ½ n_g ln(mean over g of μ² + σ²) − Σ ln σ of tensors.

    Args:
        gamma: ``[n_weights]``.
        std: σ ``[n_weights]``.
        groups: ``[groups, n_weights]``: 1 where a weight belongs to a group; rows and columns of
            zeros cost nothing.

    Returns:
        Nats.
    """
    counts = tf.reduce_sum(groups, axis=1)  # [groups]
    counted = tf.reduce_sum(groups, axis=0) > 0  # [n_weights]
    moments = tf.linalg.matvec(groups, std**2 * (1.0 + gamma**2))  # [groups]
    means = tf.where(counts > 0, moments, 1.0) / tf.maximum(counts, 1.0)
    log_std = tf.math.log(tf.where(counted, std, 1.0))
    return 0.5 * tf.reduce_sum(counts * tf.math.log(means)) - tf.reduce_sum(log_std)


class Model(NamedTuple):
    """The choices that make up a model, weight by weight where they differ."""

    network: MLP
    likelihood: str
    estimator: str
    layers: Array  # [n_weights]: 0 for those of the first layer, ...
    groups: Array  # [n_weights]: number of the prior that a weight has
    used: Array  # [n_weights]: False for a bias that is left out
    unit: Array  # [n_weights]: σ = unit · softplus(ρ)


def choose(
    network: MLP, likelihood: str, tie: str, estimator: str, biases: bool, scale: str
) -> Model:
    """Check the choices, and say for each weight what they come to."""
    checks.choice("estimator", estimator, ESTIMATORS)
    layers = np.concatenate([np.full(a * b, i // 2) for i, (a, b) in enumerate(network.shapes)])
    is_bias = np.concatenate([np.full(a * b, i % 2) for i, (a, b) in enumerate(network.shapes)])
    groups = {"weight": np.arange(len(layers)), "layer": layers, "all": 0 * layers}
    units = {"fan_in": network.fan_in**-0.5, "none": np.ones(len(layers))}
    return Model(
        network=network,
        likelihood=likelihood,
        estimator=estimator,
        layers=layers,
        groups=groups[checks.choice("tie", tie, TIES)],
        used=(is_bias == 0) | bool(biases),
        unit=units[checks.choice("scale", scale, tuple(units))],
    )
