"""Code that the mean-field methods share: settings, preparation for the loop, the posterior.

A method brings its objective; this module adds checks of arguments, several starts, the history,
and the fit's own diagnostics: its free energy on all the data, and whether training on would lower
it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import elbo, likelihoods, optimise, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf
from bdl_teach.densities import Prior, ScaleMixture, scale_mixture_log_prob
from bdl_teach.elbo import FreeEnergy
from bdl_teach.methods import _quiet
from bdl_teach.methods._fitted import NetworkFit
from bdl_teach.methods._loop import Plan, Problem, Record, inverse_softplus, lay_out, row_noise
from bdl_teach.methods._settings import Training
from bdl_teach.methods._variational import Variational
from bdl_teach.mlp import MLP

REMEDY = (
    "lower the learning rate; if that does not help, the scale of the data does not go with "
    "noise_std or the prior"
)
ARRIVED = 20.0  # nats that a fit may be above the lowest free energy known and have arrived
# Nats by which longer runs may be below a fit that is called converged: fewer, since eight of 3000
# steps do not go as low as the lowest of eight of 10,000. claim: converged-knows
TOLERANCE = 16.0
_LONGER = 3000  # steps of a longer run
_RATE = 0.3  # their learning rate
# Their new starts, as unlike as may be: the scale of the means, ρ. Where the KL or the noise weighs
# much, a start near 0 gives the data up; one that is wide and sure finds minima far below. The last
# is another draw of the start that a fit has of itself.
_AFRESH = (
    (0.5, -5.0), (1.0, -5.0), (None, -2.0), (None, -5.0), (None, -2.0), (None, -5.0), (None, -1.0),
)  # fmt: skip
N_LONGER = 1 + len(_AFRESH)
COSTS = ("free_energy", "complexity_cost", "likelihood_cost")
RECORD = Record(COSTS, REMEDY)
_BATCH_SLOTS = 32  # room for the KL shares of this many minibatches, whatever their number
_START_SCALE = 0.3


@dataclass(frozen=True, kw_only=True)
class Settings(Training):
    """Settings of a mean-field method, beside those of every method.

    Attributes:
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given.
        learning_rate: Adam step size, > 0.
        n_samples: Draws averaged in each step's gradient.
        kl_weight: Factor on the KL term, >= 0; 1 is Bayes' rule.
        n_batches: Minibatches M an epoch; step t sees the points i with i ≡ t (mod M), so
            that rows in an order of their own, such as labels 0, 1, 0, 1, are to be shuffled first.
        kl_scheme: ``"uniform"`` or ``"geometric"``, see ``elbo.minibatch_weights``.
        start_scale: Standard deviation of the starting means, in prior standard deviations; the
            source article has 1. By default 0.3 of them, and no more than √(2/inputs of the layer)
            (He et al. 2015), so that a wide prior does not start far from all data.
        initial_rho: Starting value of every ρ; the source article starts from 0.
        initial: Start from this posterior instead: (means, standard deviations), each
            ``[n_weights]`` in the order of the network, or one number for all.
        cooldown: Share of the steps, at the end, over which the learning rate falls linearly
            to 0; the source article has 0.
        starts: Fit from so many starting points, each with noise of its own, and keep the fit
            whose free energy is lowest; the k-th has the seed ``seed + 10⁶ k``.
    """

    prior: Prior | None = None
    learning_rate: float = 0.08
    n_samples: int = 1
    kl_weight: float = 1.0
    n_batches: int = 1
    kl_scheme: str = "uniform"
    start_scale: float | None = None
    initial_rho: float = -1.0
    initial: tuple[ArrayLike, ArrayLike] | None = None
    cooldown: float = 1.0
    starts: int = 1


def _no_units(_: MLP) -> tuple[int, ...]:
    """Return no units: no data point has noise of its own."""
    return ()


def fit(
    program: Callable[[MLP, str], Compiled],
    x: ArrayLike,
    y: ArrayLike,
    settings: Settings,
    widths: Callable[[MLP], Sequence[int]] = _no_units,
    draws_weights: bool = True,
) -> Fit:
    """Check the arguments of ``bbb.fit``, run a method's program, and return its posterior.

    Args:
        program: Gives the compiled loop of a network and a likelihood.
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        settings: What the user chose.
        widths: How many units of a network have noise of their own at each data point.
        draws_weights: Whether a step draws weights.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
        DivergedError: The free energy became NaN or infinite, from every start.
    """

    def once(seed: int) -> Fit:
        o = replace(settings, seed=seed)
        plan = prepare(x, y, o, draws_weights)
        inputs = plan.inputs._replace(zeta=row_noise(plan, widths))
        moved, told = plan.train(
            program(plan.padded, o.likelihood), start(o, plan), inputs, o.cooldown, RECORD
        )
        return Fit(**_posterior(*moved), problem=plan.problem, **told)

    seeds = optimise.start_seeds(settings.seed, settings.starts)
    return optimise.best_of(once, seeds, lambda fitted: fitted.free_energy)


def prepare(x: ArrayLike, y: ArrayLike, o: Settings, draws_weights: bool = True) -> Plan:
    """Check the settings, and prepare the problem for the compiled loop, with its minibatches.

    Raises:
        ValueError: An argument is out of range, or the problem does not fit the capacity.
    """
    prior = ScaleMixture() if o.prior is None else o.prior
    plan = lay_out(x, y, o, prior, o.n_samples, draws_weights)
    n_batches = checks.batches(o.n_batches, len(plan.problem.x))
    scheme = checks.choice("kl_scheme", o.kl_scheme, elbo.SCHEMES)
    shares = elbo.minibatch_weights(n_batches, scheme)
    kl_weight = checks.non_negative("kl_weight", o.kl_weight)
    inputs = plan.inputs._replace(
        kl_weight=as_float(kl_weight, "kl_weight"),
        kl_shares=as_float(np.resize(shares, max(_BATCH_SLOTS, n_batches))),
        n_batches=tf.constant(n_batches),
    )
    return plan._replace(inputs=inputs, problem=plan.problem._replace(kl_weight=kl_weight))


def start(o: Settings, plan: Plan) -> tuple[Tensor, Tensor]:
    """Return the first (μ, ρ), each ``[padded.n_weights]``: drawn, or as given."""
    shape, prior = plan.network.n_weights, plan.problem.prior
    scale = np.minimum(_START_SCALE * prior.std, np.sqrt(2.0 / plan.network.fan_in))
    if o.start_scale is not None:
        scale = np.full(shape, checks.non_negative("start_scale", o.start_scale) * prior.std)
    mean = scale * plan.draw
    rho = np.full(shape, checks.starting_rho("initial_rho", o.initial_rho))
    if o.initial is not None:
        mean, rho = _given(o.initial, shape)
    return plan.embed(mean), plan.embed(rho)


def _given(initial: Sequence[ArrayLike], n_weights: int) -> tuple[Array, Array]:
    """Return (μ, ρ), each ``[n_weights]``, from the means and sds of ``initial``."""
    if len(initial) != 2:
        raise ValueError(f"initial: expected (means, standard deviations), got {len(initial)}")
    both = []
    for name, values in zip(("mean", "std"), initial, strict=True):
        values = checks.finite(f"initial {name}", values)
        if values.shape not in ((), (n_weights,)):
            wanted = f"one number or {(n_weights,)}"
            raise ValueError(f"initial {name}: expected {wanted}, got {values.shape}")
        both.append(np.broadcast_to(values, n_weights))
    mean, std = both
    if not (std > 0).all():
        raise ValueError(f"initial std: expected numbers > 0, got a smallest of {std.min()}")
    as_float(std, "initial std")
    return mean, inverse_softplus(std)


def _posterior(mean: Array, rho: Array) -> dict[str, Any]:
    """Return the fields of a fit that follow from (μ, ρ), each ``[n_weights]``."""
    return {"mean": mean, "std": np.logaddexp(0.0, rho)}


@lru_cache(maxsize=2)
def _mean_cost(likelihood: str) -> Callable[..., tuple[Tensor, Tensor]]:
    """Make a graph of both parts of F for any number of draws; eager execution is slow."""

    def mean_cost(
        w: Tensor, eps: Tensor, std: Tensor, prior: Tensor, y: Tensor, f: Tensor, noise: Tensor
    ) -> tuple[Tensor, Tensor]:
        log_prior = scale_mixture_log_prob(w, *tf.unstack(prior))
        complexity = elbo.complexity_cost(eps, std, log_prior)
        nll = likelihoods.cost(likelihood, y, f, noise)
        return tf.reduce_mean(complexity), tf.reduce_mean(nll)

    shapes: list[list[int | None]]
    shapes = [[None, None], [None, None], [None], [3], [None, 1], [None, None, 1], []]
    signature = [tf.TensorSpec(shape) for shape in shapes]
    graph: Callable[..., tuple[Tensor, Tensor]] = tf.function(
        mean_cost, input_signature=signature, autograph=False
    )
    return graph


@one_line
@dataclass(frozen=True, kw_only=True)
class Fit(NetworkFit, Variational):
    """A fitted mean-field posterior.

    Attributes:
        mean: μ of each weight ``[n_weights]``, in the order of ``network``.
        std: σ of each weight ``[n_weights]``.
        problem: The data and the prior that it was fitted to.
        history: ``step``, ``free_energy``, ``complexity_cost`` and ``likelihood_cost`` in nats,
            one-step estimates at each recorded step; ``complexity_cost`` is the whole KL, before
            ``kl_weight``.
    """

    mean: Array
    std: Array
    problem: Problem

    def _posterior_at(self, parameters: Sequence[Array]) -> dict[str, Any]:
        """Return the fields that follow from the loop's parameters."""
        return _posterior(*parameters)

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
        eps, prior = (weights - self.mean) / self.std, self.problem.prior.mixture
        told: list[ArrayLike] = [weights, eps, self.std, prior, self.problem.y, f, self.noise_std]
        kl, nll = _mean_cost(self.likelihood)(*map(as_float, told))
        return FreeEnergy(float(kl), float(nll), self.problem.kl_weight)

    def refined(self, steps: int = 1500, learning_rate: float = 0.1) -> Fit:
        """Train on from this fit, on the whole data with the quiet estimator of the same F.

        Args:
            steps: Adam steps, at a rate that falls linearly to 0.
            learning_rate: Adam step size at first, > 0.

        Returns:
            The posterior that it comes to.

        Raises:
            ValueError: An argument is out of range.
            DivergedError: The free energy became NaN or infinite.
        """
        return self._quietly(steps, learning_rate, initial=(self.mean, self.std))

    def longer(self, k: int) -> Fit:
        """Return the k-th longer run that :attr:`converged` needs: 0 trains on, others start anew.

        Args:
            k: 0 to ``N_LONGER`` - 1.

        Raises:
            DivergedError: The free energy became NaN or infinite.
        """
        if k == 0:
            return self.refined(_LONGER)
        seed, (scale, rho) = optimise.start_seeds(self.problem.seed, N_LONGER)[k], _AFRESH[k - 1]
        return self._quietly(_LONGER, _RATE, start_scale=scale, initial_rho=rho, seed=seed)

    # Of ``converged``: one run trains on, the others start elsewhere: so it is also said of a fit
    # that is stuck in a poor minimum that it has not converged. Some tenths of a second, once.
    # claim: converged-knows
    n_longer = N_LONGER

    @property
    def tolerance(self) -> float:
        """Return 16 nats: by how much longer runs may lower F if the fit has converged."""
        return TOLERANCE

    def _quietly(self, steps: int, learning_rate: float, **changes: Any) -> Fit:
        """Fit the same problem with the quiet estimator, on the whole data."""
        problem = self.problem
        same: dict[str, Any] = {"prior": problem.prior, "kl_weight": problem.kl_weight}
        same |= {"seed": problem.seed, **self.given, **changes}
        o = Settings(steps=steps, learning_rate=learning_rate, **same)
        widths = partial(_quiet.noise_widths, likelihood=self.likelihood)
        return fit(_quiet.program, problem.x, problem.y, o, widths, draws_weights=False)

    @property
    def signal_to_noise(self) -> Array:
        """Return |μ|/σ of each weight ``[n_weights]``, by which pruning sorts."""
        return np.abs(self.mean) / self.std

    def draw(self, n_samples: int, seed: int = 1) -> Array:
        """Draw weight vectors ``[s, n_weights]``.

        Raises:
            ValueError: A count is out of range.
        """
        n_samples, seed = checks.count("n_samples", n_samples), checks.count("seed", seed, 0)
        return predictive.draw_weights(self.mean, self.std, n_samples, seed)
