"""Base classes of fits of a network's weights: prediction, and frames of the training."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import likelihoods, optimise, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach.methods._loop import Capacity, embed
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A fit that predicts by drawing weights of a network; a subclass defines ``draw``.

    Attributes:
        network: The network that the weights belong to.
        noise_std: Standard deviation of the observation noise.
        likelihood: ``"gaussian"``, or ``"bernoulli"`` for labels: then the outputs are logits.
        capacity: Sizes that it was compiled for; those of the network if ``None``.
    """

    network: MLP
    noise_std: float
    likelihood: str = "gaussian"
    capacity: Capacity | None = None

    @property
    def padded(self) -> MLP:
        """Return the network that the program was compiled for."""
        if self.capacity is None:
            return self.network
        return MLP(self.network.n_inputs, self.capacity.hidden_units)

    def draw(self, n_samples: int, seed: int = 1) -> Array:
        """Draw weight vectors ``[s, n_weights]``.

        Raises:
            ValueError: A count is out of range.
        """
        raise NotImplementedError

    def predict(self, x: ArrayLike, n_samples: int = 500, seed: int = 1) -> Predictive:
        """Average networks drawn from the posterior.

        Args:
            x: Test inputs ``[m, d]``.
            n_samples: Number of draws S, >= 1; a fit of one or some networks has no others.
            seed: Seed of the draws.

        Returns:
            A ``Predictive`` with ``samples`` ``[s, m]``; of labels a ``BernoulliPredictive``.

        Raises:
            ValueError: x does not fit the network, or a count is out of range.
        """
        n_samples, seed = checks.count("n_samples", n_samples), checks.count("seed", seed, 0)
        outputs = self.evaluate(self.draw(n_samples, seed), x)
        return likelihoods.predict(self.likelihood, outputs, self.noise_std)

    def evaluate(self, weights: ArrayLike, x: ArrayLike) -> Array:
        """Evaluate the network at given weights: drawn from the prior, pruned, averaged.

        Args:
            weights: ``[s, n_weights]``, in the order of ``network``.
            x: Inputs ``[m, d]``.

        Returns:
            Outputs ``[s, m]``.

        Raises:
            ValueError: The shapes do not fit the network.
        """
        weights = checks.inputs("weights", weights, self.network.n_weights)
        x = checks.inputs("x", x, self.network.n_inputs)
        return predictive.evaluate_weights(
            self.padded, embed(weights, self.network, self.padded), x
        )


@dataclass(frozen=True, kw_only=True)
class NetworkFit(Drawn):
    """A fit of a network's weights by gradient steps.

    A subclass with fields other than ``weights`` computes them from the loop's parameters
    (``_posterior_at``).

    Attributes:
        history: ``step`` and what was recorded then, in nats.
        path: The way of the training, for :meth:`at`; ``None`` for a network of many weights.
    """

    history: dict[str, Array]
    path: optimise.Path | None = field(default=None, repr=False)

    @property
    def given(self) -> dict[str, Any]:
        """Return the arguments for another fit of the same network, beside data and prior."""
        shared = {"likelihood": self.likelihood, "noise_std": self.noise_std}
        return {**shared, "hidden_units": self.network.hidden_units, "capacity": self.capacity}

    def at(self, frame: int) -> Self:
        """Return the fit at a frame of its training, after ``path.steps[frame]`` steps.

        Args:
            frame: 0 for the start, −1 for the end, which is the fit itself.

        Raises:
            ValueError: There is no such frame, or no path.
        """
        path = optimise.with_frame(self.path, frame)
        history = optimise.history_until(frame, path, self.history)
        then = [parameters[frame].astype(np.float64) for parameters in path.parameters]
        return replace(self, history=history, **self._posterior_at(then))

    def _posterior_at(self, parameters: Sequence[Array]) -> dict[str, Any]:
        """Return the fields that follow from the loop's parameters, in float64."""
        return {"weights": parameters[0]}
