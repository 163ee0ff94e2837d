"""What the mean-field methods share: settings, training, and the Gaussian posterior ``Fit``."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from bdl_teach import elbo, likelihoods, optimise, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf
from bdl_teach.densities import HALF_LOG_TWO_PI, Prior, ScaleMixture, scale_mixture_log_prob
from bdl_teach.methods import _rao_blackwell
from bdl_teach.methods._fitted import VariationalFit
from bdl_teach.methods._loop import Plan, inverse_softplus, lay_out, noise_of, row_noise
from bdl_teach.methods._settings import Training, TwoHeads
from bdl_teach.mlp import MLP

REMEDY = (
    "lower the learning rate; if that does not help, the scale of the data does not fit "
    "noise_std or the prior"
)
# Nats by which longer runs may lower the F of a converged fit. The number is less than ``ARRIVED``,
# since eight runs of 10,000 steps reach a lower F than eight of 3000. claim: converged-knows
TOLERANCE = 16.0
# Very different starts of longer runs: (scale of the means, ρ). With a large KL weight or noise a
# start near 0 ends in a fit that ignores the data; a start with large means and small σ finds
# minima far below. The last one is another draw of a fit's default start.
_NEW_STARTS: tuple[tuple[float | None, float], ...] = (
    (0.5, -5.0), (1.0, -5.0), (None, -2.0), (None, -5.0), (None, -2.0), (None, -5.0), (None, -1.0),
)  # fmt: skip
N_LONGER = 1 + len(_NEW_STARTS)
COSTS = ("free_energy", "complexity_cost", "likelihood_cost")
RECORD = (COSTS, REMEDY)
_BATCH_SLOTS = 32  # KL shares that the loop has room for, so that a new M compiles nothing
_START_SCALE = 0.3


@dataclass(frozen=True, kw_only=True)
class Settings(Training):
    """Settings of a mean-field method, in addition to those of every method.

    Attributes:
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given.
        learning_rate: Adam step size, > 0.
        n_samples: Draws averaged in each step's gradient.
        kl_weight: Factor on the KL term, >= 0; 1 is Bayes' rule.
        n_batches: Minibatches M in an epoch; step t sees the points i with i ≡ t (mod M), so
            shuffle rows that have an order of their own, such as labels 0, 1, 0, 1.
        kl_scheme: ``"uniform"`` or ``"geometric"``, see ``elbo.minibatch_weights``.
        start_scale: Standard deviation of the starting means, in prior standard deviations; 1 in
            Krasser 2019, see ``bbb.ARTICLE``. By default 0.3, but at most √(2/inputs of the layer)
            in absolute units (He et al. 2015): a wide prior should not start far from the data.
        initial_rho: Starting value of every ρ; 0 in Krasser 2019.
        initial: Posterior to start from: (means, standard deviations), each ``[n_weights]`` in the
            order of the network, or one number for all; a third number is σ of a learnt noise.
        cooldown: Share of the steps, at the end, over which the learning rate falls linearly
            to 0; Krasser 2019 has none.
        starts: Number of fits from different starting points and noise, of which the one of lowest
            free energy is kept. Start k = 0, 1, ... has the seed ``seed + 10⁶ k``.
    """

    prior: Prior | None = None
    learning_rate: float = 0.08
    n_samples: int = 1
    kl_weight: float = 1.0
    n_batches: int = 1
    kl_scheme: str = "uniform"
    start_scale: float | None = None
    initial_rho: float = -1.0
    initial: tuple[ArrayLike, ...] | None = None
    cooldown: float = 1.0
    starts: int = 1


@dataclass(frozen=True, kw_only=True)
class Again(TwoHeads, Settings):
    """Settings of a fit that continues another of this family."""


def fit(
    program: Callable[[MLP, str], Compiled],
    x: ArrayLike,
    y: ArrayLike,
    settings: Settings,
    **noise: Any,
) -> Fit:
    """Train with a method's ``program``, from ``settings.starts`` starts, and return the best fit.

    ``noise`` are arguments of :func:`prepare`.
    """

    def once(o: Settings) -> Fit:
        plan = prepare(x, y, o, **noise)
        loop = program(plan.padded, o.likelihood)
        moved, fields = plan.train(loop, start(o, plan), o.cooldown, RECORD)
        return Fit(**_posterior(*moved), problem=plan.problem, **fields)

    return optimise.best_start(once, settings, lambda fitted: fitted.free_energy)


def prepare(
    x: ArrayLike,
    y: ArrayLike,
    o: Settings,
    widths: Callable[[MLP], Sequence[int]] = lambda network: (),
    draws_weights: bool = True,
) -> Plan:
    """Check the settings, and return the plan of a minibatch training.

    :func:`row_noise` explains ``widths``, and :func:`lay_out` explains ``draws_weights``.
    """
    prior = ScaleMixture() if o.prior is None else o.prior
    plan = lay_out(x, y, o, prior, o.n_samples, draws_weights)
    n_batches = checks.batches(o.n_batches, len(plan.problem.x))
    scheme = checks.choice("kl_scheme", o.kl_scheme, elbo.SCHEMES)
    shares = elbo.minibatch_weights(n_batches, scheme)
    kl_weight = checks.non_negative("kl_weight", o.kl_weight)
    inputs = plan.inputs._replace(
        zeta=row_noise(plan, widths),
        kl_weight=as_float(kl_weight, "kl_weight"),
        kl_shares=as_float(np.resize(shares, max(_BATCH_SLOTS, n_batches))),
        n_batches=tf.constant(n_batches),
    )
    if plan.problem.noise_prior and o.initial is not None and len(o.initial) == 3:
        noise_std = checks.positive("initial noise_std", cast("float", o.initial[2]))
        inputs = inputs._replace(noise_std=as_float(noise_std))
    return plan._replace(inputs=inputs, problem=plan.problem._replace(kl_weight=kl_weight))


def start(o: Settings, plan: Plan) -> tuple[Tensor, Tensor]:
    """Return the starting (μ, ρ), each ``[padded.n_weights]``: drawn, or ``o.initial`` if given."""
    shape, prior = plan.network.n_weights, plan.problem.prior
    scale = np.minimum(_START_SCALE * prior.std, np.sqrt(2.0 / plan.network.fan_in))
    if o.start_scale is not None:
        scale = np.full(shape, checks.non_negative("start_scale", o.start_scale) * prior.std)
    mean = plan.calm(scale * plan.draw)
    rho = np.full(shape, checks.starting_rho("initial_rho", o.initial_rho))
    if o.initial is not None:
        mean, rho = _given(o.initial, shape)
    return plan.embed(mean), plan.embed(rho)


def _given(initial: Sequence[ArrayLike], n_weights: int) -> tuple[Array, Array]:
    """Check ``initial`` = (means, standard deviations), and return (μ, ρ), each ``[n_weights]``."""
    if len(initial) not in (2, 3):
        wanted = "two values, means and standard deviations, or three with σ of the noise"
        raise ValueError(f"initial: expected {wanted}, got {len(initial)}")
    both = []
    for name, values in zip(("mean", "std"), initial, strict=False):
        values = checks.finite(f"initial {name}", values)
        if values.shape not in ((), (n_weights,)):
            wanted = f"one number or shape {(n_weights,)}"
            raise ValueError(f"initial {name}: expected {wanted}, got shape {values.shape}")
        both.append(np.broadcast_to(values, n_weights))
    mean, std = both
    if not (std > 0).all():
        raise ValueError(f"initial std: expected numbers > 0, got a minimum of {std.min()}")
    as_float(std, "initial std")
    return mean, inverse_softplus(std)


def exact_free_energy(fit: Fit) -> float:
    """Return F in nats, in float64: for a Gaussian likelihood and at most one hidden layer."""
    network, problem, mean, std = fit.network, fit.problem, fit.mean, fit.std
    means, spreads = network.split(mean), network.split(std**2)
    h, var = problem.x.T, np.zeros_like(problem.x.T)  # [units, n]
    for i in range(0, len(means), 2):
        at = means[i] @ h + means[i + 1]
        spread = spreads[i] @ (h**2 + var) + means[i] ** 2 @ var + spreads[i + 1]
        root = np.sqrt(spread)  # moments of a rectified Gaussian
        above, density = ndtr(at / root), np.exp(-0.5 * spread**-1 * at**2 - HALF_LOG_TWO_PI)
        h = at * above + root * density
        var = (at**2 + spread) * above + at * root * density - h**2
    error = ((problem.y.T - at) ** 2 + spread).sum() / fit.noise_std**2
    nll = 0.5 * error + len(problem.x) * (math.log(fit.noise_std) + HALF_LOG_TWO_PI)
    log_prior, entropy = problem.prior.mean_log_prob(mean, std), np.log(std) + HALF_LOG_TWO_PI + 0.5
    return float(nll - problem.kl_weight * (log_prior + entropy).sum() + fit._noise_cost)


def _posterior(mean: Array, rho: Array, *log_std: Array) -> dict[str, Any]:
    return {"mean": mean, "std": np.logaddexp(0.0, rho), **noise_of(*log_std)}


@lru_cache(maxsize=1)
def _mean_complexity() -> Callable[..., Tensor]:
    """Compile a function of (w, ε, σ, prior) that averages log q − log P(w) over draws of w."""

    def mean_complexity(w: Tensor, eps: Tensor, std: Tensor, prior: Tensor) -> Tensor:
        log_prior = scale_mixture_log_prob(w, *tf.unstack(prior))
        return tf.reduce_mean(elbo.complexity_cost(eps, std, log_prior))

    signature = [tf.TensorSpec(shape) for shape in ([None, None], [None, None], [None], [3])]
    graph: Callable[..., Tensor] = tf.function(
        mean_complexity, input_signature=signature, autograph=False
    )
    return graph


@one_line
@dataclass(frozen=True, kw_only=True)
class Fit(VariationalFit):
    """A fitted mean-field posterior.

    A noise that is learnt is one number, the σ that minimises F − log P(σ), which ``free_energy``
    then means: the maximum is that of a density of σ, not of log σ.

    Attributes:
        std: σ of each weight ``[n_weights]``.
        history: ``step``, ``free_energy``, ``complexity_cost`` and ``likelihood_cost`` in nats,
            one-step estimates at each recorded step; ``complexity_cost`` is the whole KL,
            not multiplied by ``kl_weight``.
    """

    std: Array
    # claim: converged-knows
    n_longer = N_LONGER
    tolerance = TOLERANCE
    _new_starts = _NEW_STARTS
    _rates = dict.fromkeys((*likelihoods.LIKELIHOODS, likelihoods.TWO_HEADS), (0.1, 0.3))

    def _posterior_at(self, parameters: Sequence[Array]) -> dict[str, Any]:
        return _posterior(*parameters)

    def _complexity(self, weights: Array) -> float:
        eps = (weights - self.mean) / self.std
        given: list[ArrayLike] = [weights, eps, self.std, self.problem.prior.mixture]
        return float(_mean_complexity()(*map(as_float, given)))

    def _refit(self, steps: int, learning_rate: float, **start: Any) -> Self:
        """Return a new fit (see ``VariationalFit._refit``) with the Rao-Blackwellised estimator."""
        start = start or {"initial": (self.mean, self.std, self.noise_std)}
        o = Again(steps=steps, learning_rate=learning_rate, **{**self._same_problem, **start})
        x, y, noise = self.problem.x, self.problem.y, _rao_blackwell.noise(self.likelihood)
        return cast("Self", fit(_rao_blackwell.program, x, y, o, **noise))

    @property
    def exact(self) -> bool:
        """Return whether ``free_energy`` is exact, and not an average over draws."""
        return self.likelihood == "gaussian" and len(self.network.hidden_units) <= 1

    @cached_property
    def free_energy(self) -> float:
        """Return F in nats on all data points: exactly if possible, else from many new draws."""
        return exact_free_energy(self) if self.exact else self.cost().total

    @property
    def signal_to_noise(self) -> Array:
        """Return |μ|/σ of each weight ``[n_weights]``; pruning starts at the smallest."""
        return np.abs(self.mean) / self.std

    def _draw(self, n_samples: int, seed: int) -> Array:
        return predictive.draw_weights(self.mean, self.std, n_samples, seed)
