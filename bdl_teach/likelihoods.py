"""What the data are like: real numbers with Gaussian noise, or labels 0 and 1.

A network has one output f. With ``"gaussian"`` it is the mean of y ~ N(f, noise²); with
``"bernoulli"`` it is the logit of P(y = 1).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import elbo
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach.backend import Tensor, tf
from bdl_teach.predictive import BernoulliPredictive, Predictive

LIKELIHOODS = ("gaussian", "bernoulli")


def data(likelihood: str, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Return ``x`` [n, d] and ``y`` [n, 1], checked for this likelihood.

    Raises:
        ValueError: There is no such likelihood, x and y do not fit, or a label is not 0 or 1.
    """
    checks.choice("likelihood", likelihood, LIKELIHOODS)
    x, y = checks.regression_data(x, y)
    if likelihood == "bernoulli" and not np.isin(y, (0.0, 1.0)).all():
        raise ValueError(f"y: expected labels 0 and 1, got {np.unique(y)[:5]}")
    return x, y


def cost(
    likelihood: str, y: Tensor, f: Tensor, noise_std: Tensor, row_weight: Tensor = 1.0
) -> Tensor:
    """−Σ log p(y | f) over the data points.

    Args:
        likelihood: ``"gaussian"`` or ``"bernoulli"``.
        y: Targets ``[n, 1]``.
        f: Network outputs ``[..., n, 1]``: means, or logits.
        noise_std: Standard deviation of the Gaussian noise.
        row_weight: ``[n, 1]``: 1 for a point that counts, 0 for one that does not.

    Returns:
        Nats ``[...]``.
    """
    if likelihood == "gaussian":
        return elbo.likelihood_cost(y, f, noise_std, row_weight)
    nll = tf.nn.softplus(f) - y * f  # −log of sigmoid(f)^y (1 − sigmoid(f))^(1−y)
    return tf.reduce_sum(nll * row_weight, axis=[-2, -1])


def predict(likelihood: str, outputs: Array, noise_std: float) -> Predictive:
    """Build the predictive from network outputs ``[s, m]``: means, or logits."""
    if likelihood == "bernoulli":
        return BernoulliPredictive.from_logits(outputs)
    return Predictive.from_samples(outputs, noise_std)
