"""Measure and improve calibration: coverage, PIT, conformal bands, reliability, temperature."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, ndtr

from bdl_teach import metrics
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach.predictive import Predictive

_COLDEST, _HOTTEST = 0.05, 20.0  # range of temperatures to search


class Reliability(NamedTuple):
    """Confidence and accuracy of a classifier's predictions, in bins by confidence.

    Attributes:
        size: Number of predictions in each bin ``[b]``.
        confidence: Mean confidence of the predictions in each bin ``[b]``; NaN if it is empty.
        accuracy: Share of right predictions in each bin ``[b]``; NaN if it is empty.
    """

    size: Array
    confidence: Array
    accuracy: Array

    @property
    def error(self) -> float:
        """Return the expected calibration error, Σ size |accuracy − confidence| / Σ size."""
        distance = np.abs(np.nan_to_num(self.accuracy - self.confidence))
        return float(self.size @ distance / self.size.sum())


def reliability(probabilities: ArrayLike, labels: ArrayLike, n_bins: int = 10) -> Reliability:
    """Return confidence (the largest class probability) and accuracy, in bins of confidence.

    Args:
        probabilities: ``[n, c]``: rows sum to 1.
        labels: ``[n]``, whole numbers from 0 to c − 1.
        n_bins: Number of bins of equal width between 0 and 1; a bin includes its upper edge.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.

    Source: Naeini, Cooper & Hauskrecht 2015; Guo, Pleiss, Sun & Weinberger 2017, section 2.
    """
    p, y = metrics.classified(probabilities, labels)
    n_bins = checks.count("n_bins", n_bins)
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    place = np.clip(np.ceil(confidence * n_bins).astype(int) - 1, 0, n_bins - 1)
    size, sum_of_confidence, n_right = (
        np.bincount(place, weights=w, minlength=n_bins) for w in (None, confidence, right)
    )
    with np.errstate(invalid="ignore"):
        return Reliability(size, sum_of_confidence / size, n_right / size)


def tempered(log_probabilities: ArrayLike, temperature: float) -> Array:
    """Return the logarithms of p^(1/T), normalised: softer for T > 1, sharper for T < 1.

    Args:
        log_probabilities: Logarithms of class probabilities, or logits ``[..., c]``.
        temperature: T, > 0.

    Raises:
        ValueError: The temperature is not > 0.

    Source: Guo et al. 2017, section 4.2.
    """
    logs = np.asarray(log_probabilities, dtype=np.float64)
    return np.asarray(log_softmax(logs / checks.positive("temperature", temperature), axis=-1))


def best_temperature(log_probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return the temperature, from 0.05 to 20, at which the labels have the highest likelihood.

    Args:
        log_probabilities: ``[n, c]``, for inputs that the classifier was not trained on.
        labels: ``[n]``, whole numbers from 0 to c − 1.

    Raises:
        ValueError: The shapes do not fit, or a label is out of range.
    """
    logs = tempered(log_probabilities, 1.0)

    def cost(log_t: float) -> float:
        return -metrics.class_log_likelihood(tempered(logs, math.exp(log_t))[None], labels)

    ends = math.log(_COLDEST), math.log(_HOTTEST)
    return math.exp(minimize_scalar(cost, bounds=ends, method="bounded").x)


def distance(a: Predictive, b: Predictive, where: Array | None = None) -> float:
    """Return the rms over x of the 2-Wasserstein distance between two predictives' outputs.

    At each x the outputs are taken as Gaussians: W² = (m_a − m_b)² + (s_a − s_b)², where m is the
    mean and s the epistemic standard deviation.

    Args:
        a: Predictive at m inputs.
        b: Predictive at the inputs of ``a``.
        where: Mask ``[m]`` of the inputs that count; all if not given.

    Returns:
        A distance in the units of y; NaN if no input counts.

    Raises:
        ValueError: The predictives have different numbers of inputs.
    """
    if len(a.mean) != len(b.mean):
        raise ValueError(f"b: expected {len(a.mean)} predictions (as in `a`), got {len(b.mean)}")
    squared = (a.mean - b.mean) ** 2 + (a.epistemic_std - b.epistemic_std) ** 2
    return math.sqrt(average(squared, where))


def expected_coverage(
    truth: ArrayLike, noise_std: float, lower: ArrayLike, upper: ArrayLike
) -> Array:
    """Return the probability that a new y = truth + noise lies in [lower, upper], in closed form.

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


def conformal_factor(scores: ArrayLike, level: float) -> float:
    """Return k so that mean ± k sd contains a new point with probability ``level`` or more.

    Split conformal prediction: k is the ⌈(n + 1) level⌉-th smallest of n scores. The probability is
    marginal, and holds for a point that is drawn from the same distribution as the n points.

    Args:
        scores: |y − mean|/sd of n points that the method has not seen ``[n]``.
        level: Probability, inside (0, 1).

    Returns:
        The factor k; infinite if there are too few scores for this level.

    Raises:
        ValueError: ``level`` is not inside (0, 1), or a score is negative or not finite.

    Source: Lei, G'Sell, Rinaldo, Tibshirani & Wasserman 2018, section 2.2.
    """
    level = checks.level(level)
    scores = checks.finite("scores", scores).ravel()
    if scores.min(initial=0.0) < 0:
        raise ValueError(f"scores: expected numbers >= 0, got {scores.min():g}")
    rank = math.ceil((len(scores) + 1) * level - 1e-9)  # a whole number may be rounded upwards
    return float(np.sort(scores)[rank - 1]) if rank <= len(scores) else math.inf


def pit(prediction: Predictive, y: ArrayLike) -> Array:
    """Return the probability integral transform F(y | x): uniform if the predictive is right.

    Args:
        prediction: Predictive at m inputs.
        y: Targets ``[m]`` or ``[m, 1]``.

    Returns:
        P(a new target at x_i is at most y_i) under the predictive, for each input ``[m]``.

    Raises:
        ValueError: y does not have one finite target for each input.

    Source: Gneiting, Balabdaoui & Raftery 2007.
    """
    return prediction.below(prediction.targets(y))


def average(values: Array, where: Array | None = None) -> float:
    """Return the mean of the values ``where`` the mask is true; NaN if it is true nowhere."""
    selected = values if where is None else values[where]
    return float(selected.mean()) if selected.size else math.nan
