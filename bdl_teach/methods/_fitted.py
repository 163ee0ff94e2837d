"""Base classes of fits of a network's weights: prediction, and frames of the training."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import likelihoods, optimise, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach.backend import as_float, tf
from bdl_teach.elbo import FreeEnergy
from bdl_teach.methods._loop import Capacity, Problem, embed
from bdl_teach.methods._variational import Variational
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

ARRIVED = 20.0  # nats that a fit may be above the lowest free energy known and have arrived
LONGER = 3000  # steps of a longer run

FitT = TypeVar("FitT", bound=Variational)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """A fit that predicts by drawing weights of a network; a subclass defines ``_draw``.

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

    def draw(self, n_samples: int = 1, seed: int = 1) -> Array:
        """Draw weight vectors ``[s, n_weights]``, in the order of ``network``.

        Args:
            n_samples: Number of draws S, >= 1; a fit of one or some networks returns those.
            seed: Seed of the draws.

        Raises:
            ValueError: A count is out of range.
        """
        return self._draw(checks.count("n_samples", n_samples), checks.count("seed", seed, 0))

    def _draw(self, n_samples: int, seed: int) -> Array:
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


@dataclass(frozen=True, kw_only=True)
class VariationalFit(NetworkFit, Variational):
    """A Gaussian over the weights of a network; a subclass defines its KL, and fits it again.

    Attributes:
        mean: μ of each weight ``[n_weights]``, in the order of ``network``.
        problem: The data and the prior that it was fitted to.
    """

    mean: Array
    problem: Problem
    tolerance = ARRIVED
    _afresh: ClassVar[Sequence[tuple[float | None, float]]]  # scale of the means, ρ of new starts
    _rates: ClassVar[Mapping[str, tuple[float, float]]]  # to train on, and from a new start

    def cost(self, n_draws: int = 1000, seed: int = 1) -> FreeEnergy:
        """Average both parts of F over fresh draws of the weights, on all data points.

        Args:
            n_draws: Number of draws, >= 1.
            seed: Seed of the draws.

        Raises:
            ValueError: A count is out of range.
        """
        weights = self.draw(checks.count("n_draws", n_draws), seed)
        f = self.evaluate(weights, self.problem.x)[..., None]  # [s, n, 1]
        y, noise_std = as_float(self.problem.y), as_float(self.noise_std)
        nll = tf.reduce_mean(likelihoods.cost(self.likelihood, y, as_float(f), noise_std))
        return FreeEnergy(self._complexity(weights), float(nll), self.problem.kl_weight)

    def _complexity(self, weights: Array) -> float:
        """Return KL[q ‖ P(w)], exactly or averaged over drawn weights ``[s, n_weights]``."""
        raise NotImplementedError

    def refined(self, steps: int = 1500, learning_rate: float | None = None) -> Self:
        """Train on from this fit, on the whole data with the calmest estimator of the same F.

        Args:
            steps: Adam steps, at a rate that falls linearly to 0.
            learning_rate: Adam step size at first, > 0; the method's own if not given.

        Returns:
            The posterior that it comes to.

        Raises:
            ValueError: An argument is out of range.
            DivergedError: The free energy became NaN or infinite.
        """
        rate = self._rates[self.likelihood][0] if learning_rate is None else learning_rate
        return self._again(steps, rate, **self._here)

    def longer(self, k: int) -> Self:
        """Return the k-th longer run that :attr:`converged` needs: 0 trains on, others start anew.

        So a fit that is stuck in a poor minimum has not converged.

        Args:
            k: 0 to ``n_longer`` - 1.

        Raises:
            DivergedError: The free energy became NaN or infinite.
        """
        if k == 0:
            return self.refined(LONGER)
        (scale, rho), rate = self._afresh[k - 1], self._rates[self.likelihood][1]
        seed = optimise.start_seeds(self.problem.seed, k + 1)[k]
        return self._again(LONGER, rate, start_scale=scale, initial_rho=rho, seed=seed)

    @property
    def _here(self) -> dict[str, Any]:
        """Return the arguments of ``_again`` that start from this fit."""
        raise NotImplementedError

    def _again(self, steps: int, learning_rate: float, **start: Any) -> Self:
        """Fit the same problem from elsewhere, on the whole data."""
        raise NotImplementedError

    @property
    def _same(self) -> dict[str, Any]:
        """Return the settings of another fit of the same network and problem."""
        problem = self.problem
        return {
            "hidden_units": self.network.hidden_units,
            "capacity": self.capacity,
            "likelihood": self.likelihood,
            "noise_std": self.noise_std,
            "prior": problem.prior,
            "kl_weight": problem.kl_weight,
            "seed": problem.seed,
        }


def best_start(once: Callable[[Any], FitT], settings: Any) -> FitT:
    """Fit from each of ``settings.starts`` seeds, and return the fit of lowest free energy."""
    return optimise.best_of(
        lambda seed: once(replace(settings, seed=seed)),
        optimise.start_seeds(settings.seed, settings.starts),
        lambda fitted: fitted.free_energy,
    )
