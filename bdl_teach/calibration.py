"""Compare predictive distributions with each other and with data: distance, coverage, PIT.

For classifiers: reliability, the expected calibration error, and a temperature that reduces it.
"""

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

_COLDEST, _HOTTEST = 0.05, 20.0  # temperatures that are looked at


class Reliability(NamedTuple):
    """Confidence and accuracy of a classifier's answers, by bins of confidence.

    Attributes:
        size: Answers in each bin of confidence ``[b]``.
        confidence: Their mean confidence ``[b]``; NaN in an empty bin.
        accuracy: The share of them that is right ``[b]``; NaN in an empty bin.
    """

    size: Array
    confidence: Array
    accuracy: Array

    @property
    def error(self) -> float:
        """Return the expected calibration error: mean |accuracy − confidence|, weighted by size."""
        distance = np.abs(np.nan_to_num(self.accuracy - self.confidence))
        return float(self.size @ distance / self.size.sum())


def reliability(probabilities: ArrayLike, labels: ArrayLike, n_bins: int = 10) -> Reliability:
    """Sort a classifier's answers into bins by their confidence, the largest class probability.

    Args:
        probabilities: ``[n, c]``: rows sum to 1.
        labels: ``[n]``, whole numbers from 0 to c − 1.
        n_bins: Bins of equal width between 0 and 1; the upper edge belongs to a bin.

    Raises:
        ValueError: The shapes do not fit, rows do not sum to 1, a label is no class, no bin.

    Source: Naeini, Cooper & Hauskrecht 2015; Guo, Pleiss, Sun & Weinberger 2017, section 2.
    """
    p, y = metrics.classified(probabilities, labels)
    n_bins = checks.count("n_bins", n_bins)
    confidence, right = p.max(axis=1), p.argmax(axis=1) == y
    place = np.clip(np.ceil(confidence * n_bins).astype(int) - 1, 0, n_bins - 1)
    size, said, held = (
        np.bincount(place, weights=w, minlength=n_bins) for w in (None, confidence, right)
    )
    with np.errstate(invalid="ignore"):
        return Reliability(size, said / size, held / size)


def tempered(log_probabilities: ArrayLike, temperature: float) -> Array:
    """Soften (T > 1) or sharpen (T < 1) class probabilities: log of p^(1/T), normalised.

    Args:
        log_probabilities: ``[..., c]``: logarithms, or logits.
        temperature: T, > 0.

    Raises:
        ValueError: The temperature is not > 0.

    Source: Guo et al. 2017, section 4.2.
    """
    logs = np.asarray(log_probabilities, dtype=np.float64)
    return np.asarray(log_softmax(logs / checks.positive("temperature", temperature), axis=-1))


def best_temperature(log_probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return the temperature at which the labels have the highest likelihood.

    Args:
        log_probabilities: ``[n, c]``, of inputs that the classifier was not trained on.
        labels: ``[n]``, whole numbers from 0 to c − 1.

    Returns:
        T between 0.05 and 20: at an end if the labels ask for more.

    Raises:
        ValueError: The shapes do not fit, or a label is no class.
    """
    logs = tempered(log_probabilities, 1.0)

    def cost(log_t: float) -> float:
        return -metrics.class_log_likelihood(tempered(logs, math.exp(log_t))[None], labels)

    ends = math.log(_COLDEST), math.log(_HOTTEST)
    return math.exp(minimize_scalar(cost, bounds=ends, method="bounded").x)


def distance(a: Predictive, b: Predictive, where: Array | None = None) -> float:
    """Return the rms over x of the 2-Wasserstein distance between two predictives' outputs.

    At each x both are taken as Gaussians: W² = (m_a − m_b)² + (s_a − s_b)², with s the epistemic
    standard deviations.

    Args:
        a: One predictive, at m inputs.
        b: Another, at the same inputs.
        where: Mask ``[m]`` of the inputs that count; all if not given.

    Returns:
        A distance in the units of y; NaN where no input counts.

    Raises:
        ValueError: The two have different numbers of inputs.
    """
    if len(a.mean) != len(b.mean):
        raise ValueError(f"b: expected {len(a.mean)} test inputs, got {len(b.mean)}")
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
    """Return the factor on a method's sd that makes bands hold a share ``level`` of new points.

    Split conformal prediction: the ⌈(n + 1) level⌉-th smallest of n scores. The promise is marginal
    and only for a point that is drawn as these n were.

    Args:
        scores: |y − mean|/sd of n points that the method has not seen ``[n]``.
        level: Share of points to hold, in (0, 1).

    Returns:
        The factor; infinite where so few scores cannot promise so much.

    Raises:
        ValueError: ``level`` is not inside (0, 1), or a score is negative or not finite.

    Source: Lei, G'Sell, Rinaldo, Tibshirani & Wasserman 2018, section 2.2.
    """
    level = checks.level(level)
    scores = checks.finite("scores", scores).ravel()
    if scores.min(initial=0.0) < 0:
        raise ValueError(f"scores: expected numbers >= 0, got {scores.min():g}")
    rank = math.ceil((len(scores) + 1) * level - 1e-9)  # 33 · 0.9 may round to more than it is
    return float(np.sort(scores)[rank - 1]) if rank <= len(scores) else math.inf


def pit(prediction: Predictive, y: ArrayLike) -> Array:
    """Return the probability integral transform F(y | x): uniform if the predictive is right.

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
    """Return the mean of the selected values; NaN without a warning if none is selected."""
    kept = values if where is None else values[where]
    return float(kept.mean()) if kept.size else float("nan")
