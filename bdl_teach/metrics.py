"""Score predictions, in NumPy and float64."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.special import entr, logsumexp

from bdl_teach._support.checks import Array
from bdl_teach.densities import gaussian_nll


def rmse(y: ArrayLike, mean: ArrayLike) -> float:
    """Return the root mean squared error of predicted means, in the units of y.

    Args:
        y: Targets ``[m]``.
        mean: Predictions ``[m]``.

    Raises:
        ValueError: The shapes differ, or an array is empty or has NaN.
    """
    y, mean = _paired(y=y, mean=mean)
    return float(np.sqrt(np.mean((y - mean) ** 2)))


def log_likelihood(y: ArrayLike, mean: ArrayLike, var: ArrayLike) -> float:
    """Return the mean log density of y under N(mean, var), in nats per point.

    Args:
        y: Targets ``[m]``.
        mean: Predicted means ``[m]``.
        var: *Total* predictive variances ``[m]``: those of the network output plus the noise.

    Raises:
        ValueError: The shapes differ, an array is empty or has NaN, or a variance is not > 0.
    """
    y, mean, var = _paired(y=y, mean=mean, var=var)
    return float(-np.mean(gaussian_nll(y, mean, var)))


def coverage(y: ArrayLike, lower: ArrayLike, upper: ArrayLike) -> float:
    """Return the share of targets inside [lower, upper].

    Args:
        y: Targets ``[m]``.
        lower: Lower ends of the intervals ``[m]``.
        upper: Upper ends of the intervals ``[m]``.

    Raises:
        ValueError: The shapes differ, or an array is empty or has NaN.
    """
    y, lower, upper = _paired(y=y, lower=lower, upper=upper)
    return float(np.mean((lower <= y) & (y <= upper)))


def auroc(labels: ArrayLike, scores: ArrayLike) -> float:
    """Return the area under the ROC curve, P(score of a positive > score of a negative).

    Args:
        labels: 1 for positive, 0 for negative ``[m]``.
        scores: Scores ``[m]``; a higher one says that the input is more probably positive. A pair
            of equal scores counts half.

    Raises:
        ValueError: The shapes differ, or the labels are not 0 and 1 with at least one of each.
    """
    labels, scores = _paired(labels=labels, scores=scores)
    if not np.array_equal(np.unique(labels), (0.0, 1.0)):
        raise ValueError(f"labels: expected both 0 and 1 to occur, got {np.unique(labels)[:5]}")
    positive, negative = scores[labels == 1], scores[labels == 0]
    wins = scipy.stats.mannwhitneyu(positive, negative).statistic  # pairs in the right order
    return float(wins / (len(positive) * len(negative)))


def predictive_entropy(probabilities: ArrayLike) -> Array:
    """Return the entropy of the averaged class probabilities, H[1/T Σ_t p_t], in nats ``[n]``.

    Args:
        probabilities: ``[t, n, c]``: T draws, n inputs, c classes; rows sum to 1.

    Raises:
        ValueError: The shape is not ``[t, n, c]`` or rows do not sum to 1.
    """
    return np.asarray(entr(_class_probabilities(probabilities).mean(axis=0)).sum(axis=-1))


def mutual_information(probabilities: ArrayLike) -> Array:
    """Return the mutual information of label and weights, in nats ``[n]``.

    This is the predictive entropy minus the mean entropy of the draws.

    Args:
        probabilities: ``[t, n, c]``: T draws, n inputs, c classes; rows sum to 1.

    Raises:
        ValueError: The shape is not ``[t, n, c]`` or rows do not sum to 1.

    Source: Houlsby et al. 2011 (BALD).
    """
    p = _class_probabilities(probabilities)
    return np.asarray(predictive_entropy(p) - entr(p).sum(axis=-1).mean(axis=0))


def variance_score(probabilities: ArrayLike) -> Array:
    """Return the variance of class probabilities over the draws, averaged over classes ``[n]``.

    Args:
        probabilities: ``[t, n, c]``: T draws, n inputs, c classes; rows sum to 1.

    Raises:
        ValueError: The shape is not ``[t, n, c]`` or rows do not sum to 1.
    """
    return np.asarray(_class_probabilities(probabilities).var(axis=0).mean(axis=-1))


def class_log_likelihood(log_probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return the mean log probability of the labels under the averaged draws, in nats.

    Args:
        log_probabilities: ``[t, n, c]``: T draws, n inputs, c classes. These are *logarithms*, so
            that a tiny probability has a finite cost.
        labels: ``[n]``, whole numbers from 0 to c − 1.

    Raises:
        ValueError: The shapes do not fit, rows do not sum to 1, or a label is out of range.
    """
    logs = np.asarray(log_probabilities, dtype=np.float64)
    _class_probabilities(np.exp(logs))
    n, c = logs.shape[1:]
    each = logs[:, np.arange(n), _labels(labels, n, c)]  # [t, n]
    return float(np.mean(logsumexp(each, axis=0)) - np.log(len(each)))


def brier_score(probabilities: ArrayLike, labels: ArrayLike) -> float:
    """Return the mean over inputs of Σ_c (p_c − 1[c = y])², from 0 (right) to 2 (certainly wrong).

    Args:
        probabilities: ``[n, c]``: rows sum to 1.
        labels: ``[n]``, whole numbers from 0 to c − 1.

    Raises:
        ValueError: The shapes do not fit, rows do not sum to 1, or a label is out of range.

    Source: Brier 1950.
    """
    p, y = classified(probabilities, labels)
    return float(np.mean(((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1)))


def risk_coverage(probabilities: ArrayLike, labels: ArrayLike) -> tuple[Array, Array]:
    """Return coverage and error rate of a classifier that answers only its k surest inputs.

    Args:
        probabilities: ``[n, c]``: rows sum to 1; the largest of a row is the confidence.
        labels: ``[n]``, whole numbers from 0 to c − 1.

    Returns:
        For k = 1 … n the coverage k/n ``[n]``, and the share of wrong answers among the k inputs
        ``[n]``. Inputs of equal confidence each count with their mean error rate.

    Raises:
        ValueError: The shapes do not fit, rows do not sum to 1, or a label is out of range.

    Source: El-Yaniv & Wiener 2010; Geifman & El-Yaniv 2017.
    """
    p, y = classified(probabilities, labels)
    wrong, confidence = p.argmax(axis=1) != y, p.max(axis=1)
    _, group, size = np.unique(-confidence, return_inverse=True, return_counts=True)
    even = np.bincount(group, weights=wrong) / size  # share of errors at each confidence
    answered = np.arange(1, len(y) + 1)
    return answered / len(y), np.cumsum(even[np.sort(group)]) / answered


def classified(probabilities: ArrayLike, labels: ArrayLike) -> tuple[Array, Array]:
    """Return both as arrays, ``[n, c]`` and ``[n]``; raise ``ValueError`` if they are invalid."""
    p = np.asarray(probabilities, dtype=np.float64)
    if p.ndim != 2:
        raise ValueError(f"probabilities: expected shape [n, c], got {p.shape}")
    p = _class_probabilities(p[None])[0]
    return p, _labels(labels, *p.shape)


def _labels(labels: ArrayLike, n: int, c: int) -> Array:
    y = np.asarray(labels)
    if y.shape != (n,) or not np.isin(y, np.arange(c)).all():
        raise ValueError(f"labels: expected {n} whole numbers from 0 to {c - 1}, got {y}")
    return y.astype(int)


def _paired(**arrays: ArrayLike) -> list[Array]:
    """Return float64 arrays ``[m]``; raise ``ValueError`` for unequal shapes, NaN or no numbers."""
    doubles = {name: np.asarray(a, dtype=np.float64) for name, a in arrays.items()}
    flat = {name: np.atleast_1d(a.squeeze()) for name, a in doubles.items()}
    first, reference = next(iter(flat.items()))
    for name, array in flat.items():
        if np.isnan(array).any() or not array.size:
            raise ValueError(f"{name}: expected one or more numbers, got {array}")
        if array.shape != reference.shape:
            raise ValueError(
                f"{name}: expected the shape of {first}, {reference.shape}, got {array.shape}"
            )
    return list(flat.values())


def _class_probabilities(value: ArrayLike) -> Array:
    p = np.asarray(value, dtype=np.float64)
    if p.ndim != 3 or 0 in p.shape:
        raise ValueError(f"probabilities: expected shape [t, n, c], got {p.shape}")
    sums = p.sum(axis=-1)
    if not np.allclose(sums, 1.0, atol=1e-5) or (p < 0).any():
        raise ValueError(
            "probabilities: expected numbers >= 0 that sum to 1 in each row, "
            f"got numbers from {p.min():g} and sums from {sums.min():g} to {sums.max():g}"
        )
    return p
