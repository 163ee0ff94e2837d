"""What the mean-field methods share: the posterior that they return, and the run of the loop.

A method brings its objective; from here it gets everything round it: the checks at the door, the
padding that keeps sliders from compiling, common noise, minibatches, the history.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import checks, elbo, optimise, predictive
from bdl_teach.backend import tf
from bdl_teach.checks import Array
from bdl_teach.compiled import Compiled
from bdl_teach.densities import Prior, ScaleMixture, as_prior
from bdl_teach.methods.mean_field_loop import STRIDE, Block, Problem, _block, costs, run
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

__all__ = [
    "REMEDY", "Block", "Capacity", "Fit", "Problem", "_block", "as_float", "chunks", "costs",
    "embed", "fit", "run",
]  # fmt: skip

REMEDY = (
    "lower the learning rate; if that does not help, the scale of the data does not go with "
    "noise_std or the prior"
)
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
            embed(weights, self.network, self._padded),
            checks.inputs("x", x, self.network.n_inputs),
        )

    @property
    def _padded(self) -> MLP:
        return MLP(self.network.n_inputs, self.capacity.hidden_units)


# (estimator's own table of noise for n data points) -> [table, chunks, units, rows], or ()
RowNoise = Callable[[int, MLP, MLP, Capacity, int, int], Any]


def no_row_noise(*_: Any) -> Any:
    """Let no data point have noise of its own."""
    return ()


def fit(
    program: Callable[[MLP], Compiled],
    x: Any,
    y: Any,
    *,
    prior: Prior | None,
    noise_std: float,
    hidden_units: tuple[int, ...],
    steps: int,
    learning_rate: float,
    n_samples: int,
    kl_weight: float,
    n_batches: int,
    kl_scheme: str,
    initial_rho: float,
    cooldown: float,
    seed: int,
    capacity: Capacity | None,
    row_noise: RowNoise = no_row_noise,
) -> Fit:
    """Check the arguments of ``bbb.fit``, run a method's program on them, return its posterior.

    Args:
        program: Gives the compiled loop of a network: a ``Compiled`` of :func:`run`'s arguments.
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        prior: This and what follows: see ``bbb.fit``.
        noise_std: In the units of y, > 0.
        hidden_units: Width of each hidden layer.
        steps: Adam steps.
        learning_rate: Adam step size, > 0.
        n_samples: Draws averaged in each step.
        kl_weight: Factor on the KL term, >= 0.
        n_batches: Minibatches an epoch.
        kl_scheme: How they share the KL.
        initial_rho: Starting value of every ρ.
        cooldown: Share of the steps over which the learning rate falls.
        seed: Seed of the starting point and of all noise.
        capacity: Sizes to compile for.
        row_noise: Maps (n, network, padded network, capacity, rows of the table, seed) to the
            noise of each data point.

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
    n_rows, seed = _n_rows(steps, capacity.n_samples), checks.count("seed", seed, 0)
    start, eps = _noise(network, padded, n_rows, seed)
    shares = elbo.minibatch_weights(n_batches, kl_scheme)
    n_chunks = -(-len(x) // (capacity.chunk or capacity.n))
    problem = Problem(
        x=chunks(x, capacity),
        y=chunks(y, capacity),
        row_weight=chunks(np.ones_like(y), capacity),
        unit_mask=as_float(embed(np.ones(network.n_weights), network, padded)),
        eps=eps,
        zeta=row_noise(len(x), network, padded, capacity, n_rows, seed),
        n_samples=tf.constant(n_samples),
        n_chunks=tf.constant(n_chunks),
        prior=as_float(prior.mixture),
        noise_std=as_float(checks.positive("noise_std", noise_std)),
        kl_weight=as_float(checks.non_negative("kl_weight", kl_weight)),
        kl_shares=as_float(np.resize(shares, max(_BATCH_SLOTS, n_batches))),
        n_batches=tf.constant(n_batches),
    )
    trace = program(padded)(
        as_float(prior.std * start),
        as_float(checks.number("initial_rho", initial_rho)),
        optimise.Schedule(
            tf.constant(steps),
            as_float(checks.positive("learning_rate", learning_rate)),
            as_float(checks.probability("cooldown", cooldown)),
        ),
        tf.constant(n_samples * n_chunks) if capacity.looped else None,
        problem,
    )
    return _fitted(trace, network, padded, float(noise_std), capacity)


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
    return rows + (rows % STRIDE == 0)


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
    return embed(start, network, padded), tf.constant(table)


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


def embed(values: Array, network: MLP, padded: MLP) -> Array:
    """Place ``values`` [..., n_weights] in the flat vector of ``padded``; zeros elsewhere."""
    out = np.zeros((*values.shape[:-1], padded.n_weights))
    out[..., network.positions_in(padded)] = values
    return out


def chunks(values: Array, capacity: Capacity) -> Any:
    """Cut ``values`` [n, d] into chunks [chunks, rows, d], filled up with zeros."""
    rows = capacity.chunk or capacity.n
    out = np.zeros((-(-capacity.n // rows) * rows, values.shape[1]))
    out[: len(values)] = values
    return as_float(out.reshape(-1, rows, values.shape[1]))


def as_float(values: Any) -> Any:
    """Return ``values`` as a float32 tensor."""
    return tf.constant(values, tf.float32)
