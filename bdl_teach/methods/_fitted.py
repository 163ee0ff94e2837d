"""Base classes of fits: they estimate F, check convergence, predict, and return to a frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import likelihoods, optimise, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.errors import DivergedError
from bdl_teach.backend import as_float, tf
from bdl_teach.elbo import FreeEnergy
from bdl_teach.methods._loop import Capacity, Problem, embed, noise_of
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

ARRIVED = 20.0  # nats: a fit so little above the lowest known free energy has converged
LONGER = 3000  # steps of a longer run
# Nats for each data point by which a longer run may lower the F of a converged fit to many points:
# about as much as ``ARRIVED`` divided by the 32 points of a small problem.
TOLERANCE_A_POINT = 0.5


class Variational(ABC):
    """Base class of fits that minimise a free energy F."""

    n_longer: int = 1
    problem: Any  # what F belongs to; its ``x`` holds a row for each data point

    @property
    def tolerance(self) -> float:
        """Return by how many nats a longer run may lower the F of a converged fit."""
        return TOLERANCE_A_POINT * len(self.problem.x)

    @abstractmethod
    def cost(self) -> FreeEnergy:
        """Estimate the two parts of F, KL and likelihood cost, on all data points."""

    def refined(self) -> Self:
        """Return a fit whose training starts where the training of this one ended."""
        raise NotImplementedError

    def longer(self, k: int) -> Self:
        """Return the fit of the k-th longer run, which :attr:`converged` compares with this one.

        Raises:
            DivergedError: The free energy became NaN or infinite.
        """
        return self.refined()

    @cached_property
    def free_energy(self) -> float:
        """Return F in nats on all data points, from many new draws: less noisy than ``history``."""
        return self.cost().total

    @cached_property
    def converged(self) -> bool:
        """Return whether none of ``n_longer`` longer runs lowers F by more than ``tolerance``."""
        for k in range(self.n_longer):
            with suppress(DivergedError):
                if not self.free_energy - self.longer(k).free_energy <= self.tolerance:
                    return False
        return True


class ClosedForm(ABC):
    """Base class of fits that draw nothing: their predictive is a Gaussian in closed form."""

    def predict(self, x: ArrayLike, n_samples: int = 1, seed: int = 1) -> Predictive:
        """Return the predictive in the units of y; its ``samples`` are ``None``.

        Args:
            x: Test inputs ``[m, d]``.
            n_samples: Unused, since nothing is drawn; >= 1.
            seed: Unused; >= 0.

        Raises:
            ValueError: x does not have d columns, ``n_samples`` < 1, or ``seed`` < 0.
        """
        checks.count("n_samples", n_samples)
        checks.count("seed", seed, 0)
        return self._predict(x)

    @abstractmethod
    def _predict(self, x: ArrayLike) -> Predictive: ...


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """Base class of fits that predict with drawn weights; a subclass defines ``_draw``.

    Attributes:
        network: The network that the weights belong to.
        noise_std: Standard deviation of the observation noise: the known one, the fitted one, or
            its posterior mean; unused with two heads.
        likelihood: ``"gaussian"``, or ``"bernoulli"`` for labels: then the outputs are logits.
        capacity: Sizes that the training was compiled for; ``None`` means exactly those needed.
    """

    network: MLP
    noise_std: float
    likelihood: str = "gaussian"
    capacity: Capacity | None = None

    @property
    def padded(self) -> MLP:
        """Return the network that training was compiled for, at least as wide as ``network``."""
        if self.capacity is None:
            return self.network
        return replace(self.network, hidden_units=self.capacity.hidden_units)

    @property
    def noise_draws(self) -> Array | None:
        """Return σ of each of k draws ``[k]``, where it has been learnt with draws."""
        return None

    def _noise(self, n_samples: int, seed: int) -> float | Array:
        """Return σ: one number, or that of each draw that ``draw`` returns."""
        return self.noise_std

    def draw(self, n_samples: int = 1, seed: int = 1) -> Array:
        """Draw weight vectors ``[s, n_weights]``, in the order of ``network``.

        Args:
            n_samples: Number of draws S, >= 1; a fit that consists of k networks returns those k.
            seed: Seed of the draws.

        Raises:
            ValueError: ``n_samples`` < 1 or ``seed`` < 0.
        """
        return self._draw(checks.count("n_samples", n_samples), checks.count("seed", seed, 0))

    def _draw(self, n_samples: int, seed: int) -> Array:
        raise NotImplementedError

    def predict(self, x: ArrayLike, n_samples: int = 500, seed: int = 1) -> Predictive:
        """Return the predictive: the average of networks drawn from the posterior.

        Args:
            x: Test inputs ``[m, d]``.
            n_samples: Number of draws S, >= 1; a fit that consists of k networks uses those k.
            seed: Seed of the draws.

        Returns:
            A ``Predictive`` with ``samples`` ``[s, m]``; a ``BernoulliPredictive`` for labels.

        Raises:
            ValueError: x does not fit the network, ``n_samples`` < 1, or ``seed`` < 0.
        """
        outputs = self.evaluate(self.draw(n_samples, seed), x)
        return likelihoods.predict(self.likelihood, outputs, self._noise(n_samples, seed))

    def evaluate(self, weights: ArrayLike, x: ArrayLike) -> Array:
        """Evaluate the network at given weights.

        Args:
            weights: ``[s, n_weights]``, in the order of ``network``.
            x: Inputs ``[m, d]``.

        Returns:
            Outputs ``[s, m]``; with two heads, f and log σ, ``[s, m, 2]``.

        Raises:
            ValueError: The shapes do not fit the network.
        """
        weights = checks.inputs("weights", weights, self.network.n_weights)
        x = checks.inputs("x", x, self.network.n_inputs)
        padded = embed(weights, self.network, self.padded)
        return predictive.evaluate_weights(self.padded, padded, x)


@dataclass(frozen=True, kw_only=True)
class NetworkFit(Drawn):
    """Base class of gradient-trained fits; without a field ``weights``, override ``_posterior_at``.

    Attributes:
        history: Arrays by name: ``step``, and the costs recorded at these steps, in nats.
        path: Frames of the training, for :meth:`at`; ``None`` if the network is too large.
    """

    history: dict[str, Array]
    path: optimise.Path | None = field(default=None, repr=False)

    def at(self, frame: int) -> Self:
        """Return the fit as it was at a frame of its training, after ``path.steps[frame]`` steps.

        Args:
            frame: 0 for the start, −1 for the end.

        Raises:
            ValueError: There is no such frame, or no path.
        """
        path = optimise.with_frame(self.path, frame)
        before = self.history["step"] < path.steps[frame]
        now = dict(zip(self.history, [path.steps[frame], *path.records[frame]], strict=True))
        history = {name: np.append(v[before], now[name]) for name, v in self.history.items()}
        then = [parameters[frame].astype(np.float64) for parameters in path.parameters]
        return replace(self, history=history, **self._posterior_at(then))

    def _posterior_at(self, parameters: Sequence[Array]) -> dict[str, Any]:
        """Return the fit's fields that depend on the trained ``parameters``, as a dict."""
        return {"weights": parameters[0], **noise_of(*parameters[1:])}


@dataclass(frozen=True, kw_only=True)
class VariationalFit(NetworkFit, Variational):
    """Base class of fits with a Gaussian q(w); a subclass defines ``_complexity`` and ``_refit``.

    Attributes:
        mean: μ of each weight ``[n_weights]``, in the order of ``network``.
        problem: The data and the prior.
    """

    mean: Array
    problem: Problem
    tolerance = ARRIVED
    _new_starts: ClassVar[Sequence[tuple[float | None, float]]]  # (scale of means, ρ) of new starts
    _rates: ClassVar[Mapping[str, tuple[float, float]]]  # to continue a fit, and for a new start

    def cost(self, n_draws: int = 1000, seed: int = 1) -> FreeEnergy:
        """Estimate the two parts of F on all data points, KL and likelihood cost, from new draws.

        Args:
            n_draws: Number of draws of the weights, >= 1.
            seed: Seed of the draws.

        Raises:
            ValueError: ``n_draws`` < 1 or ``seed`` < 0.
        """
        weights = self.draw(checks.count("n_draws", n_draws), seed)
        f = self.evaluate(weights, self.problem.x)  # [s, n]
        f = f if self.network.n_outputs > 1 else f[..., None]  # [s, n, outputs]
        y, noise_std = as_float(self.problem.y), as_float(self.noise_std)
        nll = tf.reduce_mean(likelihoods.cost(self.likelihood, y, as_float(f), noise_std))
        likelihood = float(nll) + self._noise_cost
        return FreeEnergy(self._complexity(weights), likelihood, self.problem.kl_weight)

    @property
    def _noise_cost(self) -> float:
        """Return −log P(σ) in nats; 0 for a known noise."""
        prior = self.problem.noise_prior
        return -float(prior.log_prob(self.noise_std)) if prior else 0.0

    def _complexity(self, weights: Array) -> float:
        """Return KL[q ‖ P(w)] in nats: exactly, or averaged over ``weights`` [s, n_weights]."""
        raise NotImplementedError

    def refined(self, steps: int = 1500, learning_rate: float | None = None) -> Self:
        """Return this fit trained further, on all data and with the estimator of least variance.

        Args:
            steps: Adam steps, at a rate that falls linearly to 0.
            learning_rate: First Adam step size, > 0; a default of the method if not given.

        Raises:
            ValueError: An argument is out of range.
            DivergedError: The free energy became NaN or infinite.
        """
        rate = self._rates[self.likelihood][0] if learning_rate is None else learning_rate
        return self._refit(steps, rate)

    def longer(self, k: int) -> Self:
        """Return the fit of the k-th longer run, which :attr:`converged` compares with this one.

        Run 0 continues the training of this fit. Each further run has a new starting point, so
        that a fit in a poor minimum does not count as converged.

        Args:
            k: 0 to ``n_longer`` - 1.

        Raises:
            DivergedError: The free energy became NaN or infinite.
        """
        if k == 0:
            return self.refined(LONGER)
        (scale, rho), rate = self._new_starts[k - 1], self._rates[self.likelihood][1]
        seed = optimise.start_seeds(self.problem.seed, k + 1)[k]
        return self._refit(LONGER, rate, start_scale=scale, initial_rho=rho, seed=seed)

    def _refit(self, steps: int, learning_rate: float, **start: Any) -> Self:
        """Return a new fit to all data, trained from this fit or from a new start.

        ``start`` is empty, or holds ``start_scale``, ``initial_rho`` and ``seed`` of a new start.
        """
        raise NotImplementedError

    @property
    def _same_problem(self) -> dict[str, Any]:
        """Return this fit's network, likelihood, prior and seed, as arguments for a new fit."""
        problem = self.problem
        return {
            "hidden_units": self.network.hidden_units,
            "capacity": self.capacity,
            "likelihood": self.likelihood,
            "noise_std": problem.noise_prior or self.noise_std,
            "prior": problem.prior,
            "kl_weight": problem.kl_weight,
            "seed": problem.seed,
        }
