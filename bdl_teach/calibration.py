"""Is a predictive distribution right? Its distance to another one, its coverage, its PIT values."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach.predictive import Predictive


def distance(a: Predictive, b: Predictive, where: Array | None = None) -> float:
    """Root mean square over x of the 2-Wasserstein distance between two networks' outputs.

    At each x both are taken as Gaussians: W² = (m_a − m_b)² + (s_a − s_b)², with s the epistemic
    standard deviations.

    Args:
        a: One predictive, at m inputs.
        b: Another, at the same inputs.
        where: Mask ``[m]`` of the inputs that count; all if not given.

    Returns:
        A distance in the units of y; NaN where no input counts.

    Raises:
        ValueError: They are not at the same number of inputs.
    """
    if len(a.mean) != len(b.mean):
        raise ValueError(f"b: expected {len(a.mean)} test inputs, got {len(b.mean)}")
    squared = (a.mean - b.mean) ** 2 + (a.epistemic_std - b.epistemic_std) ** 2
    return math.sqrt(average(squared, where))


def expected_coverage(
    truth: ArrayLike, noise_std: float, lower: ArrayLike, upper: ArrayLike
) -> Array:
    """Probability that a new y = truth + noise falls into [lower, upper]: no sampling needed.

    Args:
        truth: Noise-free targets ``[m]``.
        noise_std: Standard deviation of the Gaussian noise, > 0.
        lower: Lower ends ``[m]``.
        upper: Upper ends ``[m]``.

    Returns:
        Φ((upper − truth)/noise) − Φ((lower − truth)/noise), ``[m]``.

    Raises:
        ValueError: noise_std is not > 0.
    """
    noise_std = checks.positive("noise_std", noise_std)
    truth, lower, upper = np.asarray(truth), np.asarray(lower), np.asarray(upper)
    return np.asarray(ndtr((upper - truth) / noise_std) - ndtr((lower - truth) / noise_std))


def pit(prediction: Predictive, y: ArrayLike) -> Array:
    """Probability integral transform F(y | x): uniform on [0, 1] if the predictive is right.

    Args:
        prediction: At m inputs.
        y: Targets ``[m]`` or ``[m, 1]``.

    Returns:
        ``[m]``: of a mixture, the mean of its parts' distribution functions.

    Raises:
        ValueError: y does not have one finite target a test input.

    Source: Gneiting, Balabdaoui & Raftery 2007.
    """
    y = checks.finite("y", y).ravel()
    if y.shape != prediction.mean.shape:
        raise ValueError(f"y: expected shape {prediction.mean.shape}, got {y.shape}")
    if prediction.samples is None:
        return np.asarray(ndtr((y - prediction.mean) / prediction.total_std))
    z = (y - prediction.samples) / prediction.aleatoric_std  # [s, m]
    return np.asarray(ndtr(z).mean(axis=0))


def average(values: Array, where: Array | None = None) -> float:
    """Mean of the values that count; NaN of none, without a warning."""
    kept = values if where is None else values[where]
    return float(kept.mean()) if kept.size else float("nan")
