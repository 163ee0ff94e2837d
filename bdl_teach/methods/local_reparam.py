"""Local reparameterization: draw what a layer passes on, not its weights.

With q(w) = Π N(w_ij | μ_ij, σ_ij²), what reaches unit j from data point m, b_mj = Σ_i x_mi w_ij,
is Gaussian: its mean is γ_mj = Σ_i x_mi μ_ij, its variance δ_mj = Σ_i x_mi² σ_ij². To draw
b_mj = γ_mj + √δ_mj ζ_mj anew for each data point is to give each its own weights: the
expected likelihood stays as it is, and the noise of a gradient averages out over the minibatch.
Flipout reaches the same end from one draw of weights, whose signs it flips for each data point.

No weights are drawn, so that the KL term is the closed form for a Gaussian prior, and for a
mixture, which has none, an estimate from weights drawn for it alone.

Source: Kingma, Salimans & Welling 2015, eq. 6 (local); Wen et al. 2018, section 3 (Flipout).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import checks, elbo, optimise
from bdl_teach.backend import tf
from bdl_teach.checks import Array
from bdl_teach.compiled import Compiled
from bdl_teach.densities import (
    Gaussian,
    Prior,
    ScaleMixture,
    as_prior,
    gaussian_kl,
    numpy_or_tensor,
    scale_mixture_log_prob,
)
from bdl_teach.methods import bbb
from bdl_teach.methods.bbb import Capacity, Fit
from bdl_teach.mlp import MLP, multiply

ESTIMATORS = ("local", "flipout")
_TINY = 1e-30  # keeps the slope of √δ finite when every σ has gone to 0
_TABLE = 2**23  # numbers in the table of ζ, at most: 32 MB


class _Problem(NamedTuple):
    """What one run of the compiled loop is told, all of it tensors."""

    x: Any  # [n, d]
    y: Any  # [n, 1]
    row_weight: Any  # [n, 1]: 1 for a data point, 0 for padding
    unit_mask: Any  # [n_weights]: 1 for a weight, 0 for padding
    eps: Any  # [rows, n_weights]: noise of the weights
    zeta: Any  # [rows, units, n]: noise of the pre-activations, or the signs of Flipout
    n_samples: Any  # S
    prior: Any  # [3]: σ₁, σ₂, π
    noise_std: Any
    kl_weight: Any
    kl_shares: Any  # [slots]: π_i of each minibatch
    n_batches: Any


@numpy_or_tensor
def _moments(x: Any, mu: Any, sigma: Any) -> Any:
    return tf.matmul(x, mu), tf.matmul(x**2, sigma**2)


def preactivation_moments(x: Any, mu: Any, sigma: Any) -> tuple[Any, Any]:
    """Mean γ = xμ and variance δ = x²σ² of what a layer of Gaussian weights passes on.

    Args:
        x: Inputs of the layer ``[n, in]``; a column of ones if it has biases.
        mu: Means of the weights ``[in, out]``.
        sigma: Standard deviations of the weights ``[in, out]``, > 0.

    Returns:
        (mean ``[n, out]``, variance ``[n, out]``), in float64.

    Raises:
        ValueError: A value is not finite, a σ is not > 0, or the shapes do not fit.

    Source: Kingma, Salimans & Welling 2015, eq. 6.
    """
    x, mu = checks.inputs("x", x), checks.inputs("mu", mu)
    sigma = checks.inputs("sigma", sigma)
    if mu.shape[0] != x.shape[1] or sigma.shape != mu.shape:
        raise ValueError(
            f"mu, sigma: expected [{x.shape[1]}, out] both, got {mu.shape} and {sigma.shape}"
        )
    if not (sigma > 0).all():
        raise ValueError(f"sigma: expected numbers > 0, got a smallest of {sigma.min()}")
    mean, var = _moments(x, mu, sigma)
    return mean, var


def fit(
    x: Any,
    y: Any,
    *,
    estimator: str = "local",
    prior: Prior | None = None,
    noise_std: float = 1.0,
    hidden_units: tuple[int, ...] = (20, 20),
    steps: int = 1500,
    learning_rate: float = 0.08,
    n_samples: int = 1,
    kl_weight: float = 1.0,
    n_batches: int = 1,
    kl_scheme: str = "uniform",
    initial_rho: float = -1.0,
    cooldown: float = 0.25,
    seed: int = 0,
    capacity: Capacity | None = None,
) -> Fit:
    """Fit the posterior of ``bbb.fit`` with noise that is drawn for each data point.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        estimator: ``"local"`` draws each pre-activation; ``"flipout"`` draws one W a step and
            flips the signs of W − μ for each data point.
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given. The KL of a
            ``Gaussian`` is taken in closed form.
        noise_std: Standard deviation of the noise on y, in the units of y, > 0.
        hidden_units: Width of each hidden ReLU layer; () is a linear model.
        steps: Adam steps.
        learning_rate: Adam step size, > 0.
        n_samples: Draws averaged in each step's gradient.
        kl_weight: Factor on the KL term, >= 0; 1 is Bayes' rule.
        n_batches: Minibatches M an epoch; step t sees the points i with i ≡ t (mod M).
        kl_scheme: ``"uniform"`` or ``"geometric"``, see ``elbo.minibatch_weights``.
        initial_rho: Starting value of every ρ.
        cooldown: Share of the steps, at the end, over which the learning rate falls to 0.
        seed: Seed of the starting point, which is that of ``bbb.fit``, and of the noise.
        capacity: Compile for these sizes instead of exactly this problem's.

    Returns:
        A :class:`bbb.Fit`.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
        DivergedError: The free energy left the finite numbers.
    """
    x, y = checks.regression_data(x, y)
    network = MLP(x.shape[1], checks.layer_widths("hidden_units", hidden_units))
    prior = as_prior("prior", ScaleMixture() if prior is None else prior)
    checks.choice("estimator", estimator, ESTIMATORS)
    n_samples, steps = checks.count("n_samples", n_samples), checks.count("steps", steps)
    n_batches = checks.count("n_batches", n_batches)
    if n_batches > len(x):
        raise ValueError(
            f"n_batches: expected at most one a data point ({len(x)}), got {n_batches}"
        )
    capacity = capacity or Capacity(len(x), network.hidden_units, n_samples)
    bbb._check_room(capacity, len(x), network, n_samples)
    padded = MLP(network.n_inputs, capacity.hidden_units)
    seed, n_rows = checks.count("seed", seed, 0), bbb._n_rows(steps, capacity.n_samples)
    start, eps = bbb._noise(network, padded, n_rows, seed)
    zeta = _row_noise(estimator, len(x), network, capacity.n, padded, n_rows, seed)
    shares = elbo.minibatch_weights(n_batches, kl_scheme)
    problem = _Problem(
        x=_rows(x, capacity.n),
        y=_rows(y, capacity.n),
        row_weight=_rows(np.ones_like(y), capacity.n),
        unit_mask=_float(bbb._embed(np.ones(network.n_weights), network, padded)),
        eps=eps,
        zeta=zeta,
        n_samples=tf.constant(n_samples),
        prior=_float(prior.mixture),
        noise_std=_float(checks.positive("noise_std", noise_std)),
        kl_weight=_float(checks.non_negative("kl_weight", kl_weight)),
        kl_shares=_float(np.resize(shares, max(bbb._BATCH_SLOTS, n_batches))),
        n_batches=tf.constant(n_batches),
    )
    trace = _program(padded, estimator, isinstance(prior, Gaussian), capacity.n_samples > 1)(
        _float(prior.std * start),
        _float(checks.number("initial_rho", initial_rho)),
        optimise.Schedule(
            tf.constant(steps),
            _float(checks.positive("learning_rate", learning_rate)),
            _float(checks.probability("cooldown", cooldown)),
        ),
        problem,
    )
    return bbb._fitted(trace, network, padded, float(noise_std), capacity)


@lru_cache(maxsize=32)
def _program(network: MLP, estimator: str, closed_kl: bool, looped: bool) -> Compiled:
    """Compile the loop for one network; shapes of the data compile it again, values never."""

    def run(mu: Any, rho: Any, schedule: Any, problem: _Problem) -> Any:
        return optimise.adam(
            lambda theta, step, draw: _free_energy(
                network, estimator, closed_kl, theta, step, draw, problem
            ),
            [mu, rho + tf.zeros_like(mu)],
            schedule,
            n_blocks=problem.n_samples if looped else None,
        )

    return Compiled(run)


def _free_energy(
    network: MLP, estimator: str, closed_kl: bool, theta: Any, step: Any, draw: Any, p: _Problem
) -> tuple[Any, Any]:
    """Return one draw's share of the free energy of a step, and of what is recorded of it."""
    mu, rho = theta
    std = tf.nn.softplus(rho)
    batch, row = step % p.n_batches, step + bbb._STRIDE * draw
    share = tf.gather(p.kl_shares, batch)  # indexing would make XLA compile for each n_batches
    in_batch = tf.cast(tf.range(p.x.shape[0])[:, None] % p.n_batches == batch, tf.float32)
    eps = p.eps[row % p.eps.shape[0]]  # [n_weights]
    zeta = p.zeta[row % p.zeta.shape[0]]  # [units, n]
    f = _forward(network, estimator, mu, std, eps, zeta, p.x)
    n_samples = tf.cast(p.n_samples, tf.float32)
    likelihood = elbo.likelihood_cost(p.y, f, p.noise_std, p.row_weight * in_batch) / n_samples
    complexity = _complexity(closed_kl, mu, std, eps, p) / n_samples
    loss = elbo.free_energy(complexity, likelihood, p.kl_weight * share)
    whole = likelihood * tf.cast(p.n_batches, tf.float32)  # estimate over the whole data set
    return loss, tf.stack([elbo.free_energy(complexity, whole, p.kl_weight), complexity, whole])


def _complexity(closed_kl: bool, mu: Any, std: Any, eps: Any, p: _Problem) -> Any:
    """KL[q ‖ P(w)]: in closed form, or estimated from weights drawn for it."""
    if closed_kl:
        return tf.reduce_sum(gaussian_kl(mu, std, 0.0, p.prior[0]) * p.unit_mask)
    log_prior = scale_mixture_log_prob(mu + std * eps, p.prior[0], p.prior[1], p.prior[2])
    return elbo.complexity_cost(eps, std, log_prior, p.unit_mask)


def _forward(network: MLP, estimator: str, mu: Any, std: Any, eps: Any, zeta: Any, x: Any) -> Any:
    """Network outputs ``[n, 1]`` for one draw of whatever the estimator draws."""
    noise = tf.split(zeta, _noise_widths(network, estimator))  # a part [units, n] each
    means = network.unflatten(mu)
    spreads = network.unflatten(std if estimator == "local" else std * eps)
    layer = _local_layer if estimator == "local" else _flipout_layer
    n_layers = len(network.shapes) // 2
    h = tf.transpose(x)  # [units, n]: one column a data point
    for i in range(n_layers):
        parts = slice(2 * i, 2 * i + 2)
        b = layer(h, means[parts], spreads[parts], noise[i::n_layers])
        h = tf.nn.relu(b)
    return tf.transpose(b)


def _local_layer(h: Any, mean: Any, std: Any, zeta: Any) -> Any:
    """Draw b = γ + √δ ⊙ ζ ``[out, n]`` for h ``[in, n]``; the bias is a weight on an input of 1.

    Source: Kingma, Salimans & Welling 2015, eq. 6.
    """
    gamma = multiply(mean[0], h) + mean[1]  # [out, in] @ [in, n]
    delta = multiply(std[0] ** 2, h**2) + std[1] ** 2
    return gamma + tf.sqrt(tf.maximum(delta, _TINY)) * zeta[0]


def _flipout_layer(h: Any, mean: Any, change: Any, noise: Any) -> Any:
    """Draw b = μh + r ⊙ (ΔW (s ⊙ h)) ``[out, n]``, with signs r ``[out, n]`` and s ``[in, n]``.

    Source: Wen et al. 2018, section 3; the bias is a weight on an input of 1 whose sign is kept.
    """
    r, s = (tf.where(z < 0, -tf.ones_like(z), tf.ones_like(z)) for z in noise)
    return multiply(mean[0], h) + mean[1] + r * (multiply(change[0], s * h) + change[1])


def _noise_widths(network: MLP, estimator: str) -> list[int]:
    """Rows of noise of each layer's outputs and, for Flipout, then of each layer's inputs."""
    outputs, inputs = network.sizes[1:], network.sizes[:-1]
    return [*outputs, *(inputs if estimator == "flipout" else ())]


@lru_cache(maxsize=2)
def _row_noise(
    estimator: str, n: int, network: MLP, room: int, padded: MLP, n_rows: int, seed: int
) -> Any:
    """Draw the table of ζ ``[rows, units, room]``: a data point's noise is its own."""
    small, large = _noise_widths(network, estimator), _noise_widths(padded, estimator)
    starts = np.cumsum([0, *large[:-1]])
    units = np.concatenate([at + np.arange(k) for at, k in zip(starts, small, strict=True)])
    n_rows = min(n_rows, max(64, _TABLE // (sum(large) * room)))
    rng = np.random.default_rng([seed, 0x10CA1])
    table = np.zeros((n_rows, sum(large), room), np.float32)
    for i in range(n):  # so that more data points keep the noise of the first ones
        table[:, units, i] = rng.standard_normal((n_rows, len(units)), np.float32)
    return tf.constant(table)


def _rows(values: Array, n: int) -> Any:
    """Pad ``values`` [k, d] with rows of zeros to [n, d]."""
    return _float(np.concatenate([values, np.zeros((n - len(values), values.shape[1]))]))


def _float(values: Any) -> Any:
    return tf.constant(values, tf.float32)
