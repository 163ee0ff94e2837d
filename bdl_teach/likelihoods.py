"""The likelihoods: ``"gaussian"``, ``"bernoulli"`` and, in few methods, ``"heteroscedastic"``.

With ``"gaussian"``, y ~ N(f, noise²). With ``"bernoulli"``, y is 0 or 1, f the logit of P(y = 1).
With ``"heteroscedastic"`` the network has a second output s: y ~ N(f, e^(2s)).

Source: Nix & Weigend 1994 (heteroscedastic).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import elbo
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach.backend import Tensor, tf
from bdl_teach.densities import HALF_LOG_TWO_PI
from bdl_teach.predictive import BernoulliPredictive, Predictive

LIKELIHOODS = ("gaussian", "bernoulli")
TWO_HEADS = "heteroscedastic"
# Gauss-Hermite quadrature over a logit of standard deviation up to 2 errs by at most 2e-6 nats, up
# to 5 by 0.003, up to 10 by 0.04.
_NODES, _SHARES = np.polynomial.hermite_e.hermegauss(20)
_SHARES /= _SHARES.sum()
_LEAST_VARIANCE = 1e-30  # keeps the gradient of its square root finite


def data(likelihood: str, x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Check data for this likelihood, and return them as arrays ``x`` [n, d] and ``y`` [n, 1].

    Raises:
        ValueError: The likelihood is unknown, the shapes of x and y do not fit, a label is not 0
            or 1, or the values of a column are so close that float32 makes them equal.
    """
    checks.choice("likelihood", likelihood, (*LIKELIHOODS, TWO_HEADS))
    x, y = checks.regression_data(x, y)
    x, y = checks.resolved_in_float32("x", x), checks.resolved_in_float32("y", y)
    if likelihood == "bernoulli" and not np.isin(y, (0.0, 1.0)).all():
        raise ValueError(f"y: expected labels 0 and 1, got {np.unique(y)[:5]}")
    return x, y


def n_outputs(likelihood: str) -> int:
    """Return the number of the network's outputs: 2 for the mean and log σ, else 1."""
    return 2 if likelihood == TWO_HEADS else 1


def cost(
    likelihood: str, y: Tensor, f: Tensor, noise_std: Tensor, row_weight: Tensor = 1.0
) -> Tensor:
    """Return −Σ log p(y | f) over the data points, in nats ``[...]``.

    Args:
        likelihood: ``"gaussian"``, ``"bernoulli"`` or ``"heteroscedastic"``.
        y: Targets ``[n, 1]``.
        f: Network outputs ``[..., n, 1]``; ``[..., n, 2]`` with two heads.
        noise_std: Standard deviation of the Gaussian noise, one number or ``[..., 1, 1]``.
        row_weight: 1 for a point that counts, else 0, ``[n, 1]``.
    """
    if likelihood == "gaussian":
        return elbo.likelihood_cost(y, f, noise_std, row_weight)
    if likelihood == TWO_HEADS:
        return elbo.likelihood_cost(y, f[..., :1], tf.exp(f[..., 1:]), row_weight)
    nll = tf.nn.softplus(f) - y * f  # −log of sigmoid(f)^y (1 − sigmoid(f))^(1−y)
    return tf.reduce_sum(nll * row_weight, axis=[-2, -1])


def expected_cost(
    likelihood: str,
    y: Tensor,
    mean: Tensor,
    var: Tensor,
    noise_std: Tensor,
    row_weight: Tensor = 1.0,
) -> Tensor:
    """Return −Σ E[log p(y | f)] over the data points, for outputs f ~ N(mean, var), in nats.

    With ``"gaussian"``, E(y − f)² = (y − mean)² + var, and f need not be Gaussian. With two heads,
    which are independent, this is multiplied by E e^(−2s) = exp(−2 mean + 2 var) of the second.

    Args:
        likelihood: ``"gaussian"``, ``"bernoulli"`` or ``"heteroscedastic"``.
        y: Targets ``[n, 1]``.
        mean: Means of the network outputs ``[..., n, 1]``; ``[..., n, 2]`` with two heads.
        var: Variances of the network outputs, of the same shape.
        noise_std: Standard deviation of the Gaussian noise, one number or ``[..., 1, 1]``.
        row_weight: 1 for a point that counts, else 0, ``[n, 1]``.
    """
    if likelihood == "gaussian":
        each = noise_std[..., 0, 0] if len(noise_std.shape) > 1 else noise_std
        spread = 0.5 * tf.reduce_sum(var * row_weight, axis=[-2, -1]) / each**2
        return elbo.likelihood_cost(y, mean, noise_std, row_weight) + spread
    if likelihood == TWO_HEADS:
        log_std = mean[..., 1:]
        square = (y - mean[..., :1]) ** 2 + var[..., :1]
        nll = 0.5 * square * tf.exp(2.0 * (var[..., 1:] - log_std)) + log_std + HALF_LOG_TWO_PI
        return tf.reduce_sum(nll * row_weight, axis=[-2, -1])
    nodes, shares = tf.constant(_NODES, mean.dtype), tf.constant(_SHARES, mean.dtype)
    f = mean + tf.sqrt(tf.maximum(var, _LEAST_VARIANCE)) * nodes  # [n, nodes]
    nll = tf.reduce_sum(tf.nn.softplus(f) * shares, axis=-1, keepdims=True) - y * mean
    return tf.reduce_sum(row_weight * nll, axis=[-2, -1])


def predict(likelihood: str, outputs: Array, noise_std: float | Array) -> Predictive:
    """Return the predictive at m inputs, given the outputs f of s drawn networks.

    The outputs are ``[s, m]``, with two heads ``[s, m, 2]``; ``noise_std`` is a number or ``[s]``.
    """
    if likelihood == TWO_HEADS:
        return Predictive.from_samples(outputs[..., 0], np.exp(outputs[..., 1]))
    if likelihood == "bernoulli":
        return BernoulliPredictive.from_logits(outputs)
    return Predictive.from_samples(outputs, noise_std)
