"""Bayes by Backprop: a Gaussian over each weight, fitted by gradient descent.

q(w | θ) = Π_j N(w_j | μ_j, σ_j²) with σ = softplus(ρ); θ = (μ, ρ) minimises the free energy
F = KL[q ‖ P(w)] − E_q[log P(D | w)], both terms estimated at w = μ + σ ⊙ ε.

Source: Blundell et al. 2015, "Weight uncertainty in neural networks", eq. 1-7, section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import checks, elbo, optimise, predictive
from bdl_teach.backend import tf
from bdl_teach.checks import Array
from bdl_teach.compiled import Compiled
from bdl_teach.densities import Prior, ScaleMixture, as_prior, scale_mixture_log_prob
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

REMEDY = (
    "lower the learning rate; if that does not help, the scale of the data does not go with "
    "noise_std or the prior"
)
_STRIDE = 97  # distance in the table of ε between two draws of one step
_BATCH_SLOTS = 32  # room for the KL shares of this many minibatches, whatever their number


class Capacity(NamedTuple):
    """Sizes to compile for, so that every smaller problem runs without compiling again.

    Attributes:
        n: Data points.
        hidden_units: Width of each hidden layer.
        n_samples: Weight draws a step: 1, or more than 1.
        chunk: Points evaluated at a time; all at once if ``None``. With chunks, fewer points
            take less time in the same program.
    """

    n: int
    hidden_units: tuple[int, ...]
    n_samples: int
    chunk: int | None = None

    @property
    def looped(self) -> bool:
        """Whether a step goes through several blocks: one draw and one chunk of points each."""
        return self.n_samples > 1 or self.chunk is not None


class _Problem(NamedTuple):
    """What one run of the compiled loop is told, all of it tensors."""

    x: Any  # [chunks, rows, d]
    y: Any  # [chunks, rows, 1]
    row_weight: Any  # [chunks, rows, 1]: 1 for a data point, 0 for padding
    unit_mask: Any  # [n_weights]: 1 for a weight, 0 for padding
    eps: Any  # [rows, n_weights]: draw s of step t is row (t + 97 s) mod rows
    n_samples: Any  # S
    n_chunks: Any  # chunks that hold data points
    prior: Any  # [3]: σ₁, σ₂, π
    noise_std: Any
    kl_weight: Any
    kl_shares: Any  # [slots]: π_i of each minibatch
    n_batches: Any


@dataclass(frozen=True)
class Fit:
    """A fitted mean-field posterior.

    Attributes:
        mean: μ of each weight ``[n_weights]``, in the order of ``network``.
        std: σ of each weight ``[n_weights]``.
        network: The network that the weights belong to.
        noise_std: Standard deviation of the observation noise.
        history: ``step``, ``free_energy``, ``complexity_cost`` and ``likelihood_cost`` in nats,
            one-step estimates at each recorded step; ``complexity_cost`` is the whole KL, before
            ``kl_weight``.
        capacity: Sizes that it was compiled for.
    """

    mean: Array
    std: Array
    network: MLP
    noise_std: float
    history: dict[str, Array]
    capacity: Capacity

    @property
    def signal_to_noise(self) -> Array:
        """|μ|/σ of each weight ``[n_weights]``: what pruning sorts by."""
        return np.abs(self.mean) / self.std

    def predict(self, x: Any, n_samples: int = 500, seed: int = 1) -> Predictive:
        """Average networks drawn from the posterior.

        Args:
            x: Test inputs ``[m, d]``.
            n_samples: Number of draws S, >= 1.
            seed: Seed of the draws.

        Returns:
            A ``Predictive`` with ``samples`` ``[s, m]``.

        Raises:
            ValueError: x does not fit the network, or S < 1.
        """
        weights = predictive.draw_weights(
            self.mean,
            self.std,
            checks.count("n_samples", n_samples),
            checks.count("seed", seed, 0),
        )
        return Predictive.from_samples(self.evaluate(weights, x), self.noise_std)

    def evaluate(self, weights: Any, x: Any) -> Array:
        """Evaluate the network at weights of your own: drawn from the prior, pruned, averaged.

        Args:
            weights: ``[s, n_weights]``, in the order of ``network``.
            x: Inputs ``[m, d]``.

        Returns:
            Outputs ``[s, m]``.

        Raises:
            ValueError: The shapes do not fit the network.
        """
        weights = checks.inputs("weights", weights, self.network.n_weights)
        return predictive.evaluate_weights(
            self._padded,
            _embed(weights, self.network, self._padded),
            checks.inputs("x", x, self.network.n_inputs),
        )

    @property
    def _padded(self) -> MLP:
        return MLP(self.network.n_inputs, self.capacity.hidden_units)


def fit(
    x: Any,
    y: Any,
    *,
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
    """Fit a Bayesian network by Bayes by Backprop.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given.
        noise_std: Standard deviation of the noise on y, in the units of y, > 0.
        hidden_units: Width of each hidden ReLU layer; () is a linear model.
        steps: Adam steps.
        learning_rate: Adam step size, > 0.
        n_samples: Weight draws averaged in each step's gradient.
        kl_weight: Factor on the KL term, >= 0; 1 is Bayes' rule.
        n_batches: Minibatches M an epoch; step t sees the points i with i ≡ t (mod M).
        kl_scheme: ``"uniform"`` or ``"geometric"``, see ``elbo.minibatch_weights``.
        initial_rho: Starting value of every ρ; the source article starts from 0.
        cooldown: Share of the steps, at the end, over which the learning rate falls linearly
            to 0; the source article has 0. A start at σ = 0.31 and a cooldown of a quarter bring
            one-sample gradients to a lower free energy in the same 1500 steps.
        seed: Seed of the starting point and of every ε.
        capacity: Compile for these sizes instead of exactly this problem's.

    Returns:
        A :class:`Fit`.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
        DivergedError: The free energy left the finite numbers.
    """
    x, y = checks.regression_data(x, y)
    network = MLP(x.shape[1], checks.layer_widths("hidden_units", hidden_units))
    prior = as_prior("prior", ScaleMixture() if prior is None else prior)
    n_samples, steps = checks.count("n_samples", n_samples), checks.count("steps", steps)
    n_batches = checks.count("n_batches", n_batches)
    if n_batches > len(x):
        raise ValueError(
            f"n_batches: expected at most one a data point ({len(x)}), got {n_batches}"
        )
    capacity = capacity or Capacity(len(x), network.hidden_units, n_samples)
    _check_room(capacity, len(x), network, n_samples)
    padded = MLP(network.n_inputs, capacity.hidden_units)
    n_rows = _n_rows(steps, capacity.n_samples)
    start, eps = _noise(network, padded, n_rows, checks.count("seed", seed, 0))
    shares = elbo.minibatch_weights(n_batches, kl_scheme)
    n_chunks = -(-len(x) // (capacity.chunk or capacity.n))
    problem = _Problem(
        x=_chunks(x, capacity),
        y=_chunks(y, capacity),
        row_weight=_chunks(np.ones_like(y), capacity),
        unit_mask=_float(_embed(np.ones(network.n_weights), network, padded)),
        eps=eps,
        n_samples=tf.constant(n_samples),
        n_chunks=tf.constant(n_chunks),
        prior=_float(prior.mixture),
        noise_std=_float(checks.positive("noise_std", noise_std)),
        kl_weight=_float(checks.non_negative("kl_weight", kl_weight)),
        kl_shares=_float(np.resize(shares, max(_BATCH_SLOTS, n_batches))),
        n_batches=tf.constant(n_batches),
    )
    trace = _program(padded)(
        _float(prior.std * start),
        _float(checks.number("initial_rho", initial_rho)),
        optimise.Schedule(
            tf.constant(steps),
            _float(checks.positive("learning_rate", learning_rate)),
            _float(checks.probability("cooldown", cooldown)),
        ),
        tf.constant(n_samples * n_chunks) if capacity.looped else None,
        problem,
    )
    return _fitted(trace, network, padded, float(noise_std), capacity)


@lru_cache(maxsize=32)
def _program(network: MLP) -> Compiled:
    """Compile the loop for one network; shapes of the data compile it again, values never."""

    def run(mu: Any, rho: Any, schedule: Any, n_blocks: Any, problem: _Problem) -> Any:
        return optimise.adam(
            lambda theta, step, block: _free_energy(network, theta, step, block, problem),
            [mu, rho + tf.zeros_like(mu)],
            schedule,
            n_blocks=n_blocks,
        )

    return Compiled(run)


def _free_energy(network: MLP, theta: Any, step: Any, block: Any, p: _Problem) -> tuple[Any, Any]:
    """Return one block's share of the free energy of a step, and of what is recorded of it.

    Source: Blundell et al. 2015, eq. 2 with the factor 1/S, and eq. 8 for minibatches.
    """
    mu, rho = theta
    draw, chunk = block // p.n_chunks, block % p.n_chunks
    batch = step % p.n_batches
    # tf.gather throughout: indexing would make XLA compile anew for each value of an argument.
    x, y, row_weight = (tf.gather(values, chunk) for values in (p.x, p.y, p.row_weight))
    eps = tf.gather(p.eps, (step + _STRIDE * draw) % p.eps.shape[0])  # [n_weights]
    share = tf.gather(p.kl_shares, batch)
    point = chunk * x.shape[0] + tf.range(x.shape[0])[:, None]
    in_batch = tf.cast(point % p.n_batches == batch, tf.float32)
    std = tf.nn.softplus(rho)
    w = mu + std * eps  # [n_weights]; 0 where there is padding, since μ and ε are
    log_prior = scale_mixture_log_prob(w, p.prior[0], p.prior[1], p.prior[2])
    n_samples, n_chunks = tf.cast(p.n_samples, tf.float32), tf.cast(p.n_chunks, tf.float32)
    complexity = elbo.complexity_cost(eps, std, log_prior, p.unit_mask) / (n_samples * n_chunks)
    nll = elbo.likelihood_cost(y, network(w, x), p.noise_std, row_weight * in_batch)
    likelihood = nll / n_samples
    loss = elbo.free_energy(complexity, likelihood, p.kl_weight * share)
    whole = likelihood * tf.cast(p.n_batches, tf.float32)  # estimate over the whole data set
    return loss, tf.stack([elbo.free_energy(complexity, whole, p.kl_weight), complexity, whole])


def _fitted(trace: Any, network: MLP, padded: MLP, noise_std: float, capacity: Capacity) -> Fit:
    """Turn the loop's tensors into a :class:`Fit`, or raise ``DivergedError``."""
    names = ("free_energy", "complexity_cost", "likelihood_cost")
    history = optimise.history(trace, names, REMEDY)
    used = network.positions_in(padded)
    mean, rho = (p.numpy()[used].astype(np.float64) for p in trace.parameters)
    return Fit(mean, np.logaddexp(0.0, rho), network, noise_std, history, capacity)


def _n_rows(steps: int, n_samples: int) -> int:
    """Rows of the table of ε: enough that the draws of one step are different rows."""
    rows = max(steps, 1000, n_samples)
    return rows + (rows % _STRIDE == 0)


@lru_cache(maxsize=4)
def _noise(network: MLP, padded: MLP, n_rows: int, seed: int) -> tuple[Array, Any]:
    """Draw the starting point ``[n_weights]`` and the table of ε ``[n_rows, n_weights]``.

    Both depend on the network and the seed alone, so that moving any other slider moves only
    what it names; a larger capacity sees the same numbers.
    """
    rng = np.random.default_rng(seed)
    start = rng.standard_normal(network.n_weights)
    table = np.zeros((n_rows, padded.n_weights), np.float32)
    table[:, network.positions_in(padded)] = rng.standard_normal(
        (n_rows, network.n_weights), np.float32
    )
    return _embed(start, network, padded), tf.constant(table)


def _check_room(capacity: Capacity, n: int, network: MLP, n_samples: int) -> None:
    wide = len(capacity.hidden_units) == len(network.hidden_units) and all(
        room >= units
        for room, units in zip(capacity.hidden_units, network.hidden_units, strict=True)
    )
    if not wide or capacity.n < n or capacity.n_samples < n_samples:
        wanted = Capacity(n, network.hidden_units, n_samples)
        raise ValueError(f"capacity: expected room for {wanted}, got {capacity}")
    if capacity.chunk is not None:
        checks.count("capacity.chunk", capacity.chunk)


def _embed(values: Array, network: MLP, padded: MLP) -> Array:
    """Place ``values`` [..., n_weights] in the flat vector of ``padded``; zeros elsewhere."""
    out = np.zeros((*values.shape[:-1], padded.n_weights))
    out[..., network.positions_in(padded)] = values
    return out


def _chunks(values: Array, capacity: Capacity) -> Any:
    """Cut ``values`` [n, d] into chunks [chunks, rows, d], filled up with zeros."""
    rows = capacity.chunk or capacity.n
    out = np.zeros((-(-capacity.n // rows) * rows, values.shape[1]))
    out[: len(values)] = values
    return _float(out.reshape(-1, rows, values.shape[1]))


def _float(values: Any) -> Any:
    return tf.constant(values, tf.float32)
