"""What the mean-field methods share: the posterior that they return, and the run of the loop.

A method brings its objective; from here it gets what is round it: the checks at the door,
minibatches, the history, and a problem laid out for the loop (``mean_field_plan``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bdl_teach import checks, elbo, optimise, predictive
from bdl_teach.backend import tf
from bdl_teach.checks import Array
from bdl_teach.compiled import Compiled
from bdl_teach.densities import Prior, ScaleMixture, as_prior
from bdl_teach.methods.mean_field_loop import Problem
from bdl_teach.methods.mean_field_plan import Capacity, Plan, as_float, embed, lay_out, schedule
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

REMEDY = (
    "lower the learning rate; if that does not help, the scale of the data does not go with "
    "noise_std or the prior"
)
_BATCH_SLOTS = 32  # room for the KL shares of this many minibatches, whatever their number


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


# (number of data points, plan) -> the estimator's table [table, chunks, units, rows], or ()
RowNoise = Callable[[int, Plan], Any]


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
        row_noise: Maps the number of data points and the plan to the noise of each point.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
        DivergedError: The free energy left the finite numbers.
    """
    x, y = checks.regression_data(x, y)
    network = MLP(x.shape[1], checks.layer_widths("hidden_units", hidden_units))
    prior = as_prior("prior", ScaleMixture() if prior is None else prior)
    n_batches = _batches(n_batches, len(x))
    shares = elbo.minibatch_weights(n_batches, kl_scheme)
    plan = lay_out(x, y, network, n_samples, steps, seed, capacity)
    problem = Problem(
        **plan.fields,
        unit_mask=plan.embed(np.ones(network.n_weights)),
        zeta=row_noise(len(x), plan),
        prior=as_float(prior.mixture),
        noise_std=as_float(checks.positive("noise_std", noise_std)),
        kl_weight=as_float(checks.non_negative("kl_weight", kl_weight)),
        kl_shares=as_float(np.resize(shares, max(_BATCH_SLOTS, n_batches))),
        n_batches=tf.constant(n_batches),
    )
    trace = program(plan.padded)(
        as_float(prior.std * plan.start),
        as_float(checks.number("initial_rho", initial_rho)),
        schedule(steps, learning_rate, cooldown),
        plan.n_blocks,
        problem,
    )
    return _fitted(trace, network, plan.padded, float(noise_std), plan.capacity)


def _batches(n_batches: int, n: int) -> int:
    n_batches = checks.count("n_batches", n_batches)
    if n_batches > n:
        raise ValueError(f"n_batches: expected at most one a data point ({n}), got {n_batches}")
    return n_batches


def _fitted(trace: Any, network: MLP, padded: MLP, noise_std: float, capacity: Capacity) -> Fit:
    """Turn the loop's tensors into a :class:`Fit`, or raise ``DivergedError``."""
    names = ("free_energy", "complexity_cost", "likelihood_cost")
    history = optimise.history(trace, names, REMEDY)
    used = network.positions_in(padded)
    mean, rho = (p.numpy()[used].astype(np.float64) for p in trace.parameters)
    return Fit(mean, np.logaddexp(0.0, rho), network, noise_std, history, capacity)
