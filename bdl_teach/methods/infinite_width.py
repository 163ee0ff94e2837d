"""Infinite width: the Gaussian process that a network becomes when its hidden layers grow.

**Which networks.** ``hidden_units=(K₁, …, K_L)`` names a finite network whose weights and biases
all have the prior. Consider networks with n K₁, …, n K_L hidden units, where the weights from a
hidden layer to the next layer are divided by √n, so that no output grows with n. As n → ∞ their
functions under the prior become draws of a Gaussian process, whose posterior given Gaussian noise
has a closed form.

**The covariance** cˡ of the pre-activations of layer l, with σ the prior's standard deviation:

    c¹(x, x′) = Σ_i s_i² x_i x′_i + s_b²,      c^(l+1) = σ² (K_l E[relu(u) relu(u′)] + 1)

for (u, u′) Gaussian with the covariance cˡ; Cho & Saul's arc-cosine formula gives E. With a
Gaussian prior each s is σ. Under a scale mixture each s is σ₁ or σ₂, and E is also taken over all
choices of s, since a unit of the first layer has too few weights to become Gaussian.

With one hidden layer the finite network has this covariance for every n, with more only as n → ∞.

Source: Neal 1996 and Williams 1997 for one hidden layer; Lee et al. 2018 and Matthews et al. 2018
for more; Cho & Saul 2009, the kernel of degree 1; Rasmussen & Williams 2006, algorithm 2.1.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_solve, cholesky, solve_triangular

from bdl_teach import likelihoods
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.one_line import one_line
from bdl_teach.densities import HALF_LOG_TWO_PI, Prior, ScaleMixture, as_prior
from bdl_teach.methods._fitted import ClosedForm
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

MOST_SCALES = 1024  # choices of s under a mixture prior, at most: nine inputs


class _Moments(NamedTuple):
    """Second moments E[u u′] of a layer's units u at n inputs and u′ at m other inputs."""

    cross: Array  # [n, m]
    left: Array  # [n, 1]: of the first set with itself
    right: Array  # [1, m]: of the second


def _rectified(z: _Moments) -> _Moments:
    """Return E[relu(u) relu(u′)] of Gaussians u, u′ with mean 0: the arc-cosine kernel.

    It is √(aa′) (sin θ + (π − θ) cos θ)/2π with cos θ = c/√(aa′), for variances a, a′ and
    covariance c; for u = u′ that is a/2.
    """
    reach = np.sqrt(z.left) * np.sqrt(z.right)  # > 0, since each unit has a bias
    cosine = np.clip(z.cross / reach, -1.0, 1.0)
    mean = (math.pi - np.arccos(cosine)) * cosine + np.sqrt(1.0 - cosine**2)
    return _Moments(reach / (2.0 * math.pi) * mean, z.left / 2.0, z.right / 2.0)


def _weighted(moments: _Moments, factor: float, constant: float) -> _Moments:
    return _Moments(*(factor * values + constant for values in moments))


def _first_layer(x: Array, other: Array, prior: Prior) -> _Moments:
    """Return E[relu(u) relu(u′)] of the first layer's units at the inputs ``x`` and ``other``."""
    one, two = (np.hstack([values, np.ones((len(values), 1))]) for values in (x, other))
    total = _Moments(*(np.zeros(shape) for shape in ((len(x), len(other)), (len(x), 1), (1, 1))))
    for share, scales in _scales(prior, one.shape[1]):
        a, b = one * scales, two * scales
        pair = _Moments(a @ b.T, (a**2).sum(axis=1)[:, None], (b**2).sum(axis=1)[None])
        total = _Moments(*(t + share * v for t, v in zip(total, _rectified(pair), strict=True)))
    return total


def _scales(prior: Prior, n_weights: int) -> list[tuple[float, Array]]:
    """Return all pairs (probability, s), with s the σ of each weight of a first-layer unit.

    s ``[n_weights]`` has the bias last; under a mixture each of its entries is σ₁ or σ₂.
    """
    sigma1, sigma2, pi = prior.mixture
    if sigma1 == sigma2:
        return [(1.0, np.full(n_weights, sigma1))]
    each = [(share, s) for share, s in ((pi, sigma1), (1.0 - pi, sigma2)) if share > 0]
    if len(each) ** n_weights > MOST_SCALES:
        expected = f"a Gaussian for {MOST_SCALES.bit_length() - 1} or more inputs"
        raise ValueError(f"prior: expected {expected}, got {prior!r} for {n_weights - 1}")
    choices = (zip(*chosen, strict=True) for chosen in itertools.product(each, repeat=n_weights))
    return [(math.prod(shares), np.array(s)) for shares, s in choices]


def _moments(x: Array, other: Array, prior: Prior, hidden_units: tuple[int, ...]) -> _Moments:
    """Return the second moments of the outputs at ``x`` and ``other`` under the prior."""
    variance = prior.std**2
    if not hidden_units:
        squares = (x**2).sum(axis=1)[:, None], (other**2).sum(axis=1)[None]
        return _weighted(_Moments(x @ other.T, *squares), variance, variance)
    layer = _first_layer(x, other, prior)
    for width in hidden_units[:-1]:
        layer = _rectified(_weighted(layer, variance * width, variance))
    return _weighted(layer, variance * hidden_units[-1], variance)


def kernel(
    x: ArrayLike,
    other: ArrayLike | None = None,
    *,
    prior: Prior | None = None,
    hidden_units: tuple[int, ...] = (20, 20),
) -> Array:
    """Return the covariance of the network's outputs at two sets of inputs, under the prior.

    Args:
        x: Inputs ``[n, d]``.
        other: Inputs ``[m, d]``; ``x`` itself if not given.
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given.
        hidden_units: Width of each hidden ReLU layer of the finite network; () is a linear model.

    Returns:
        ``[n, m]``, in squared units of y.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    x = checks.inputs("x", x)
    other = x if other is None else checks.inputs("other", other, x.shape[1])
    prior = as_prior("prior", ScaleMixture() if prior is None else prior)
    return _moments(x, other, prior, checks.layer_widths("hidden_units", hidden_units)).cross


def prior_functions(
    x: ArrayLike,
    n_samples: int = 100,
    *,
    prior: Prior | None = None,
    hidden_units: tuple[int, ...] = (20, 20),
    seed: int = 0,
) -> Array:
    """Draw finite networks from the prior, and return their outputs.

    Args:
        x: Inputs ``[m, d]``.
        n_samples: Number of networks S.
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given.
        hidden_units: Width of each hidden ReLU layer; () is a linear model.
        seed: Seed of the weights.

    Returns:
        Outputs ``[s, m]``.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    x = checks.inputs("x", x)
    prior = as_prior("prior", ScaleMixture() if prior is None else prior)
    network = MLP(x.shape[1], checks.layer_widths("hidden_units", hidden_units))
    shape = (checks.count("n_samples", n_samples), network.n_weights)
    parts = network.split(prior.sample(shape, seed=checks.count("seed", seed, 0)))
    h = parts[0] @ x.T + parts[1]  # [s, units, m]
    for weight, bias in zip(parts[2::2], parts[3::2], strict=True):
        h = weight @ np.maximum(0.0, h) + bias
    return np.asarray(h[:, 0])


def fit(
    x: ArrayLike,
    y: ArrayLike,
    *,
    prior: Prior | None = None,
    noise_std: float = 1.0,
    hidden_units: tuple[int, ...] = (20, 20),
) -> Fit:
    """Fit the Gaussian process of the network's prior to data, in closed form.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given. With a
            mixture d is at most 9, since it needs 2^(d+1) terms.
        noise_std: Standard deviation of the noise on y, in the units of y, > 0.
        hidden_units: Width of each hidden ReLU layer of the finite network; () is a linear model.

    Returns:
        A :class:`Fit`.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    x, y = likelihoods.data("gaussian", x, y)  # checked for float32, since the kernel squares x
    prior = as_prior("prior", ScaleMixture() if prior is None else prior)
    widths = checks.layer_widths("hidden_units", hidden_units)
    noise_std = checks.positive("noise_std", noise_std)
    covariance = _moments(x, x, prior, widths).cross + noise_std**2 * np.eye(len(x))
    factor = cholesky(covariance, lower=True)
    pull = cho_solve((factor, True), y[:, 0])
    log_det = 2.0 * np.log(np.diag(factor)).sum()
    log_evidence = -0.5 * (y[:, 0] @ pull + log_det) - len(x) * HALF_LOG_TWO_PI
    return Fit(x, prior, widths, noise_std, pull, factor, float(log_evidence))


@one_line
@dataclass(frozen=True)
class Fit(ClosedForm):
    """A Gaussian process, conditioned on data.

    Attributes:
        log_evidence: log P(y | x), in nats.
        pull: (C + noise² I)⁻¹ y ``[n]``, with C the prior covariance of the outputs at the training
            inputs: how strongly each data point pulls at the mean.
        factor: Lower Cholesky factor of C + noise² I ``[n, n]``.
    """

    x: Array
    prior: Prior
    hidden_units: tuple[int, ...]
    noise_std: float
    pull: Array
    factor: Array
    log_evidence: float

    def _predict(self, x: ArrayLike) -> Predictive:
        x = checks.inputs("x", x, self.x.shape[1])
        prior = _moments(self.x, x, self.prior, self.hidden_units)
        explained = solve_triangular(self.factor, prior.cross, lower=True)  # [n, m]
        std = np.sqrt(np.maximum(prior.right[0] - (explained**2).sum(axis=0), 0.0))
        return Predictive(prior.cross.T @ self.pull, std, np.full(len(x), self.noise_std))
