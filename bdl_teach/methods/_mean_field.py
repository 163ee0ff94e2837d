"""What the mean-field methods share: their settings, the way into the loop, the posterior.

A method brings its objective; from here it gets what is round it: the checks at the door, several
starts, the history, and what a fitted posterior says of itself: its free energy on all the data,
and whether training on would lower it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial, wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import elbo, likelihoods, optimise, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf
from bdl_teach.densities import (
    LogDensityTerms,
    Prior,
    ScaleMixture,
    as_prior,
    scale_mixture_log_prob,
)
from bdl_teach.elbo import FreeEnergy
from bdl_teach.methods import _quiet
from bdl_teach.methods._filmed import Filmed
from bdl_teach.methods._loop import (
    Capacity,
    LoopInputs,
    Plan,
    embed,
    inverse_softplus,
    lay_out,
    path_of,
    row_noise,
)
from bdl_teach.methods._variational import Variational
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

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
RECORDED = ("free_energy", "complexity_cost", "likelihood_cost")
_BATCH_SLOTS = 32  # room for the KL shares of this many minibatches, whatever their number
_START_SCALE = 0.3


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a user of a mean-field method may choose.

    Attributes:
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given.
        likelihood: ``"gaussian"``, or ``"bernoulli"`` for labels 0 and 1.
        noise_std: Standard deviation of the noise on y, in the units of y, > 0; labels have none.
        hidden_units: Width of each hidden ReLU layer; () is a linear model.
        steps: Adam steps.
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
        seed: Seed of the starting point and of the noise.
        capacity: Compile for these sizes instead of exactly this problem's.
    """

    prior: Prior | None = None
    likelihood: str = "gaussian"
    noise_std: float = 1.0
    hidden_units: tuple[int, ...] = (20, 20)
    steps: int = 1500
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
    seed: int = 0
    capacity: Capacity | None = None


BY_NAME = "settings: Each by its name."  # where a docstring says what the settings say
P = ParamSpec("P")
S = TypeVar("S", bound=Settings)
F = TypeVar("F")
Inner: TypeAlias = "Callable[[ArrayLike, ArrayLike, S], F]"
Public: TypeAlias = "Callable[Concatenate[ArrayLike, ArrayLike, P], F]"


def taking(settings: Callable[P, S]) -> Callable[[Inner[S, F]], Public[P, F]]:
    """Make of ``fit(x, y, settings)`` the public ``fit(x, y, *, prior=None, ...)``.

    Arguments, defaults and what is said of them are written once, in the settings: those that are
    a method's own come first, then those that all mean-field methods share.
    """
    kind: Any = settings
    fields = sorted(
        inspect.signature(kind).parameters.values(), key=lambda f: f.name not in vars(kind)
    )
    attributes = [
        (inspect.getdoc(k) or "").partition("Attributes:\n")[2] for k in kind.__mro__[:-1]
    ]

    def decorate(fit: Inner[S, F]) -> Public[P, F]:
        @wraps(fit)
        def public(x: ArrayLike, y: ArrayLike, **chosen: Any) -> F:
            if unknown := chosen.keys() - kind.__dataclass_fields__.keys():
                raise TypeError(f"fit() got an unexpected keyword argument {min(unknown)!r}")
            return fit(x, y, kind(**chosen))

        said, face = inspect.getdoc(fit) or "", inspect.signature(fit)
        public.__doc__ = said.replace(f"    {BY_NAME}", "\n".join(attributes))
        vars(public)["__signature__"] = face.replace(
            parameters=[*face.parameters.values()][:2] + fields
        )
        return cast("Public[P, F]", public)

    return decorate


def _no_units(_: MLP) -> tuple[int, ...]:
    """Let no data point have noise of its own."""
    return ()


@one_line
class Problem(NamedTuple):
    """What a posterior is the posterior of: what its free energy is measured on.

    Attributes:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]``.
        prior: Prior of each weight; of no meaning where it is learnt.
        kl_weight: Factor on the KL term.
        seed: Seed of the fit.
        likelihood: ``"gaussian"`` or ``"bernoulli"``.
    """

    x: Array
    y: Array
    prior: Prior
    kl_weight: float
    seed: int
    likelihood: str = "gaussian"


def fit(
    program: Callable[[MLP, str], Compiled],
    x: ArrayLike,
    y: ArrayLike,
    settings: Settings,
    widths: Callable[[MLP], Sequence[int]] = _no_units,
    draws_weights: bool = True,
) -> Fit:
    """Check what ``bbb.fit`` is given, run a method's program on it, return its posterior.

    Args:
        program: Gives the compiled loop of a network and a likelihood: a ``Compiled`` of
            ``_loop.run``'s arguments.
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        settings: What the user chose.
        widths: How many units of a network have noise of their own at each data point.
        draws_weights: Whether a step draws weights.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
        DivergedError: The free energy left the finite numbers, from every start.
    """
    x, y = likelihoods.data(settings.likelihood, x, y)
    return optimise.best_of(
        lambda seed: _fit_once(program, x, y, replace(settings, seed=seed), widths, draws_weights),
        optimise.start_seeds(settings.seed, settings.starts),
        lambda fitted: fitted.free_energy,
    )


def _fit_once(
    program: Callable[[MLP, str], Compiled],
    x: Array,
    y: Array,
    o: Settings,
    widths: Callable[[MLP], Sequence[int]],
    draws_weights: bool,
) -> Fit:
    plan, inputs, problem = prepare(x, y, o, widths, draws_weights)
    trace = program(plan.padded, o.likelihood)(
        *start(o, plan, problem.prior),
        optimise.schedule(o.steps, o.learning_rate, o.cooldown),
        plan.n_blocks,
        inputs,
    )
    return _fitted(trace, plan, float(o.noise_std), problem)


def prepare(
    x: Array,
    y: Array,
    o: Settings,
    widths: Callable[[MLP], Sequence[int]] = _no_units,
    draws_weights: bool = True,
) -> tuple[Plan, LoopInputs, Problem]:
    """Check the settings, and lay the problem out for the compiled loop.

    Raises:
        ValueError: An argument is out of range, or the problem does not fit the capacity.
    """
    network = MLP(x.shape[1], checks.layer_widths("hidden_units", o.hidden_units))
    prior = as_prior("prior", ScaleMixture() if o.prior is None else o.prior)
    n_batches = checks.batches(o.n_batches, len(x))
    scheme = checks.choice("kl_scheme", o.kl_scheme, elbo.SCHEMES)
    shares = elbo.minibatch_weights(n_batches, scheme)
    plan = lay_out(x, y, network, o.n_samples, o.steps, o.seed, o.capacity, draws_weights)
    kl_weight = checks.non_negative("kl_weight", o.kl_weight)
    inputs = LoopInputs(
        **plan.fields,
        unit_mask=plan.embed(np.ones(network.n_weights)),
        zeta=row_noise(len(x), plan, widths),
        prior=as_float(prior.mixture, "prior"),
        prior_terms=LogDensityTerms(*map(as_float, prior.terms)),
        noise_std=as_float(checks.positive("noise_std", o.noise_std), "noise_std"),
        kl_weight=as_float(kl_weight, "kl_weight"),
        kl_shares=as_float(np.resize(shares, max(_BATCH_SLOTS, n_batches))),
        n_batches=tf.constant(n_batches),
    )
    return plan, inputs, Problem(x, y, prior, kl_weight, o.seed, o.likelihood)


def start(o: Settings, plan: Plan, prior: Prior) -> tuple[Tensor, Tensor]:
    """The first (μ, ρ), each ``[padded.n_weights]``: drawn, or those that were given."""
    shape = plan.network.n_weights
    scale = np.minimum(_START_SCALE * prior.std, np.sqrt(2.0 / plan.network.fan_in))
    if o.start_scale is not None:
        scale = np.full(shape, checks.non_negative("start_scale", o.start_scale) * prior.std)
    mean = scale * plan.draw
    rho = np.full(shape, checks.starting_rho("initial_rho", o.initial_rho))
    if o.initial is not None:
        mean, rho = _given(o.initial, shape)
    return plan.embed(mean), plan.embed(rho)


def _given(initial: Sequence[ArrayLike], n_weights: int) -> tuple[Array, Array]:
    """(μ, ρ), each ``[n_weights]``, of the means and standard deviations of ``initial``."""
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


def _fitted(trace: optimise.Trace, plan: Plan, noise_std: float, problem: Problem) -> Fit:
    """Turn the loop's tensors into a :class:`Fit`, or raise ``DivergedError``."""
    history = optimise.history(trace, RECORDED, REMEDY)
    used = plan.network.positions_in(plan.padded)
    return Fit(
        **_posterior(p.numpy()[used] for p in trace.parameters),
        network=plan.network,
        noise_std=noise_std,
        history=history,
        capacity=plan.capacity,
        problem=problem,
        path=path_of(trace, used),
    )


def _posterior(parameters: Iterable[Array]) -> dict[str, Any]:
    """The fields of a fit that follow from (μ, ρ), each ``[n_weights]`` of float32."""
    mean, rho = (p.astype(np.float64) for p in parameters)
    return {"mean": mean, "std": np.logaddexp(0.0, rho)}


@lru_cache(maxsize=2)
def _mean_cost(likelihood: str) -> Callable[..., tuple[Tensor, Tensor]]:
    """Make a graph of both parts of F, of any number of draws; operation by operation is slow."""

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


def evaluate(network: MLP, capacity: Capacity, weights: ArrayLike, x: ArrayLike) -> Array:
    """Evaluate ``network`` at weights ``[s, n_weights]`` and ``x`` [m, d] in its room: ``[s, m]``.

    Raises:
        ValueError: The shapes do not fit the network.
    """
    weights = checks.inputs("weights", weights, network.n_weights)
    x = checks.inputs("x", x, network.n_inputs)
    padded = MLP(network.n_inputs, capacity.hidden_units)
    return predictive.evaluate_weights(padded, embed(weights, network, padded), x)


@one_line
@dataclass(frozen=True)
class Fit(Filmed, Variational):
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
        problem: The data and the prior that it was fitted to.
        path: The way of the training, for :meth:`at`; ``None`` for a network of many weights.
    """

    mean: Array
    std: Array
    network: MLP
    noise_std: float
    history: dict[str, Array]
    capacity: Capacity
    problem: Problem
    path: optimise.Path | None = field(default=None, kw_only=True, repr=False)

    def _posterior_at(self, parameters: Sequence[Array]) -> dict[str, Any]:
        """The fields that follow from what the loop moves."""
        return _posterior(parameters)

    def cost(self, n_draws: int = 1000, seed: int = 1) -> FreeEnergy:
        """Average both parts of F over fresh draws of the weights, on all data points.

        Args:
            n_draws: Number of draws, >= 1.
            seed: Seed of the draws.

        Raises:
            ValueError: A count is out of range.
        """
        n_draws, seed = checks.count("n_draws", n_draws), checks.count("seed", seed, 0)
        weights = predictive.draw_weights(self.mean, self.std, n_draws, seed)  # [s, n_weights]
        f = self.evaluate(weights, self.problem.x)[..., None]  # [s, n, 1]
        eps, prior = (weights - self.mean) / self.std, self.problem.prior.mixture
        told: list[ArrayLike] = [weights, eps, self.std, prior, self.problem.y, f, self.noise_std]
        kl, nll = _mean_cost(self.likelihood)(*map(as_float, told))
        return FreeEnergy(float(kl), float(nll), self.problem.kl_weight)

    def refined(self, steps: int = 1500, learning_rate: float = 0.1) -> Fit:
        """Train on from here, on the whole data with the quiet estimator of the same F.

        Args:
            steps: Adam steps, at a rate that falls linearly to 0.
            learning_rate: Adam step size at first, > 0.

        Returns:
            The posterior that it comes to.

        Raises:
            ValueError: An argument is out of range.
            DivergedError: The free energy left the finite numbers.
        """
        return self._quietly(steps, learning_rate, initial=(self.mean, self.std))

    def longer(self, k: int) -> Fit:
        """The k-th of the longer runs that :attr:`converged` asks: 0 trains on, the others start.

        Args:
            k: 0 to ``N_LONGER`` - 1.

        Raises:
            DivergedError: The free energy left the finite numbers.
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
        """16 nats by which longer runs may be below a fit that is called converged."""
        return TOLERANCE

    def _quietly(self, steps: int, learning_rate: float, **changes: Any) -> Fit:
        """Fit the same problem with the quiet estimator, on the whole data."""
        problem = self.problem
        o = Settings(
            prior=problem.prior,
            likelihood=problem.likelihood,
            noise_std=self.noise_std,
            hidden_units=self.network.hidden_units,
            steps=steps,
            learning_rate=learning_rate,
            kl_weight=problem.kl_weight,
            capacity=self.capacity,
            **{"seed": problem.seed, **changes},
        )
        widths = partial(_quiet.noise_widths, likelihood=problem.likelihood)
        return fit(_quiet.program, problem.x, problem.y, o, widths, draws_weights=False)

    @property
    def likelihood(self) -> str:
        """``"gaussian"``, or ``"bernoulli"`` for labels: then the outputs are logits."""
        return self.problem.likelihood

    @property
    def signal_to_noise(self) -> Array:
        """|μ|/σ of each weight ``[n_weights]``: what pruning sorts by."""
        return np.abs(self.mean) / self.std

    def predict(self, x: ArrayLike, n_samples: int = 500, seed: int = 1) -> Predictive:
        """Average networks drawn from the posterior.

        Args:
            x: Test inputs ``[m, d]``.
            n_samples: Number of draws S, >= 1.
            seed: Seed of the draws.

        Returns:
            A ``Predictive`` with ``samples`` ``[s, m]``; of labels a ``BernoulliPredictive``.

        Raises:
            ValueError: x does not fit the network, or S < 1.
        """
        weights = predictive.draw_weights(
            self.mean,
            self.std,
            checks.count("n_samples", n_samples),
            checks.count("seed", seed, 0),
        )
        return likelihoods.predict(self.likelihood, self.evaluate(weights, x), self.noise_std)

    def evaluate(self, weights: ArrayLike, x: ArrayLike) -> Array:
        """Evaluate the network at weights of your own: drawn from the prior, pruned, averaged.

        Args:
            weights: ``[s, n_weights]``, in the order of ``network``.
            x: Inputs ``[m, d]``.

        Returns:
            Outputs ``[s, m]``.

        Raises:
            ValueError: The shapes do not fit the network.
        """
        return evaluate(self.network, self.capacity, weights, x)
