"""What the mean-field methods share: the posterior that they return, and the run of the loop.

A method brings its objective; from here it gets what is round it: the checks at the door,
minibatches, padding that keeps sliders from compiling, common noise, Adam and the history.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import elbo, optimise, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach.backend import Tensor, as_float, tf
from bdl_teach.densities import Prior, ScaleMixture, as_prior
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

STRIDE = 97  # distance in a table of noise between two draws of one step
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


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a user of a mean-field method may choose.

    Attributes:
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given.
        noise_std: Standard deviation of the noise on y, in the units of y, > 0.
        hidden_units: Width of each hidden ReLU layer; () is a linear model.
        steps: Adam steps.
        learning_rate: Adam step size, > 0.
        n_samples: Draws averaged in each step's gradient.
        kl_weight: Factor on the KL term, >= 0; 1 is Bayes' rule.
        n_batches: Minibatches M an epoch; step t sees the points i with i ≡ t (mod M).
        kl_scheme: ``"uniform"`` or ``"geometric"``, see ``elbo.minibatch_weights``.
        initial_rho: Starting value of every ρ; the source article starts from 0.
        cooldown: Share of the steps, at the end, over which the learning rate falls linearly
            to 0; the source article has 0. A start at σ = 0.31 and a cooldown of a quarter bring
            one-sample gradients to a lower free energy in the same 1500 steps.
        seed: Seed of the starting point and of the noise.
        capacity: Compile for these sizes instead of exactly this problem's.
    """

    prior: Prior | None = None
    noise_std: float = 1.0
    hidden_units: tuple[int, ...] = (20, 20)
    steps: int = 1500
    learning_rate: float = 0.08
    n_samples: int = 1
    kl_weight: float = 1.0
    n_batches: int = 1
    kl_scheme: str = "uniform"
    initial_rho: float = -1.0
    cooldown: float = 0.25
    seed: int = 0
    capacity: Capacity | None = None


BY_NAME = "settings: Each by its name."  # where a docstring says what the settings say
P = ParamSpec("P")
S = TypeVar("S", bound=Settings)
Inner: TypeAlias = "Callable[[ArrayLike, ArrayLike, S], Fit]"
Public: TypeAlias = "Callable[Concatenate[ArrayLike, ArrayLike, P], Fit]"


def taking(settings: Callable[P, S]) -> Callable[[Inner[S]], Public[P]]:
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

    def decorate(fit: Inner[S]) -> Public[P]:
        @wraps(fit)
        def public(x: ArrayLike, y: ArrayLike, **chosen: Any) -> Fit:
            if unknown := chosen.keys() - kind.__dataclass_fields__.keys():
                raise TypeError(f"fit() got an unexpected keyword argument {min(unknown)!r}")
            return fit(x, y, kind(**chosen))

        said, face = inspect.getdoc(fit) or "", inspect.signature(fit)
        public.__doc__ = said.replace(f"    {BY_NAME}", "\n".join(attributes))
        vars(public)["__signature__"] = face.replace(
            parameters=[*face.parameters.values()][:2] + fields
        )
        return cast("Public[P]", public)

    return decorate


class LoopInputs(NamedTuple):
    """What one run of the compiled loop is told, all of it tensors."""

    x: Tensor  # [chunks, rows, d]
    y: Tensor  # [chunks, rows, 1]
    row_weight: Tensor  # [chunks, rows, 1]: 1 for a data point, 0 for padding
    unit_mask: Tensor  # [n_weights]: 1 for a weight, 0 for padding
    eps: Tensor  # [table, n_weights]: draw s of step t is row (t + 97 s) mod table
    zeta: Tensor  # [table, chunks, units, rows]: noise of each data point; () where it has none
    n_samples: Tensor  # S
    n_chunks: Tensor  # chunks that hold data points
    prior: Tensor  # [3]: σ₁, σ₂, π
    noise_std: Tensor
    kl_weight: Tensor
    kl_shares: Tensor  # [slots]: π_i of each minibatch
    n_batches: Tensor


class Block(NamedTuple):
    """What one block of a step sees: one draw, and one chunk of the data points."""

    x: Tensor  # [rows, d]
    y: Tensor  # [rows, 1]
    row_weight: Tensor  # [rows, 1]: 1 for a data point of this step's minibatch
    kl_share: Tensor  # π of the minibatch
    eps: Tensor  # [n_weights]
    zeta: Tensor  # [units, rows], or ()


class Plan(NamedTuple):
    """A problem laid out for a compiled loop: what does not depend on the method.

    Attributes:
        network: The network asked for.
        padded: The network that the loop is compiled for.
        capacity: The sizes that the loop is compiled for.
        seed: Seed of the starting point and of all noise.
        n_rows: Rows of the tables of noise.
        start: Standard normal starting point ``[padded.n_weights]``, 0 where there is padding.
        n_blocks: Blocks of a step, as ``optimise.adam`` takes them.
        fields: The fields of ``LoopInputs`` that hold the data points, ε and the counts.
    """

    network: MLP
    padded: MLP
    capacity: Capacity
    seed: int
    n_rows: int
    start: Array
    n_blocks: Tensor
    fields: dict[str, Tensor]

    def embed(self, values: Array) -> Tensor:
        """Place ``values`` [..., n_weights] among the padding, as a float32 tensor."""
        return as_float(embed(values, self.network, self.padded))


def lay_out(
    x: Array,
    y: Array,
    network: MLP,
    n_samples: int,
    steps: int,
    seed: int,
    capacity: Capacity | None,
) -> Plan:
    """Lay out checked data ``[n, d]``, ``[n, 1]`` for a loop; the counts are checked here.

    Raises:
        ValueError: A count is out of range, or the problem does not fit the capacity.
    """
    n_samples, steps = checks.count("n_samples", n_samples), checks.count("steps", steps)
    capacity = capacity or Capacity(len(x), network.hidden_units, n_samples)
    _check_room(capacity, len(x), network, n_samples)
    padded = MLP(network.n_inputs, capacity.hidden_units)
    n_rows, seed = _n_rows(steps, capacity.n_samples), checks.count("seed", seed, 0)
    start, eps = _noise(network, padded, n_rows, seed)
    n_chunks = -(-len(x) // (capacity.chunk or capacity.n))
    fields = {
        "x": _chunks(x, capacity),
        "y": _chunks(y, capacity),
        "row_weight": _chunks(np.ones_like(y), capacity),
        "eps": eps,
        "n_samples": tf.constant(n_samples),
        "n_chunks": tf.constant(n_chunks),
    }
    n_blocks = tf.constant(n_samples * n_chunks) if capacity.looped else None
    return Plan(network, padded, capacity, seed, n_rows, start, n_blocks, fields)


def _n_rows(steps: int, n_samples: int) -> int:
    """Rows of the table of ε: enough that the draws of one step are different rows."""
    rows = max(steps, 1000, n_samples)
    return rows + (rows % STRIDE == 0)


@lru_cache(maxsize=4)
def _noise(network: MLP, padded: MLP, n_rows: int, seed: int) -> tuple[Array, Tensor]:
    """Draw the starting point ``[n_weights]`` and the table of ε ``[n_rows, n_weights]``.

    Both depend on the network and the seed alone, so that moving any other slider moves only
    what it names; a larger capacity sees the same numbers.
    """
    rng = np.random.default_rng(seed)
    start = rng.standard_normal(network.n_weights)
    table = noise = rng.standard_normal((n_rows, network.n_weights), np.float32)
    if padded != network:
        table = np.zeros((n_rows, padded.n_weights), np.float32)
        table[:, network.positions_in(padded)] = noise
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


def _chunks(values: Array, capacity: Capacity) -> Tensor:
    """Cut ``values`` [n, d] into chunks [chunks, rows, d], filled up with zeros."""
    rows = capacity.chunk or capacity.n
    out = np.zeros((-(-capacity.n // rows) * rows, values.shape[1]))
    out[: len(values)] = values
    return as_float(out.reshape(-1, rows, values.shape[1]))


def run(objective: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """Make the function that a method compiles: ``objective(theta, block, inputs)`` by Adam."""

    def loop(
        mu: Tensor, rho: Tensor, schedule: optimise.Schedule, n_blocks: Tensor, inputs: LoopInputs
    ) -> Tensor:
        return optimise.adam(
            lambda theta, step, i: objective(theta, make_block(step, i, inputs), inputs),
            [mu, rho + tf.zeros_like(mu)],
            schedule,
            n_blocks=n_blocks,
        )

    return loop


def make_block(step: Tensor, i: Tensor, p: LoopInputs) -> Block:
    """Gather what block ``i`` of a step sees.

    With tf.gather throughout: indexing would make XLA compile anew for each value of an argument.
    """
    draw, chunk = i // p.n_chunks, i % p.n_chunks
    batch, row = step % p.n_batches, step + STRIDE * draw
    x, y, row_weight = (tf.gather(values, chunk) for values in (p.x, p.y, p.row_weight))
    eps = tf.gather(p.eps, row % p.eps.shape[0])
    zeta = p.zeta
    if tf.is_tensor(zeta):
        zeta = tf.gather(tf.gather(zeta, row % zeta.shape[0]), chunk)
    point = chunk * x.shape[0] + tf.range(x.shape[0])[:, None]
    in_batch = tf.cast(point % p.n_batches == batch, tf.float32)
    return Block(x, y, row_weight * in_batch, tf.gather(p.kl_shares, batch), eps, zeta)


def costs(complexity: Tensor, f: Tensor, block: Block, p: LoopInputs) -> tuple[Tensor, Tensor]:
    """Return one block's share of a step's free energy, and of what is recorded of it.

    Args:
        complexity: The whole KL, or an estimate of it, in nats.
        f: Outputs of the network at the block's data points ``[rows, 1]``.
        block: The block.
        p: What the loop is told.

    Source: Blundell et al. 2015, eq. 2 with the factor 1/S, and eq. 8 for minibatches.
    """
    n_samples, n_chunks = tf.cast(p.n_samples, tf.float32), tf.cast(p.n_chunks, tf.float32)
    complexity = complexity / (n_samples * n_chunks)
    likelihood = elbo.likelihood_cost(block.y, f, p.noise_std, block.row_weight) / n_samples
    loss = elbo.free_energy(complexity, likelihood, p.kl_weight * block.kl_share)
    whole = likelihood * tf.cast(p.n_batches, tf.float32)  # estimate over the whole data set
    return loss, tf.stack([elbo.free_energy(complexity, whole, p.kl_weight), complexity, whole])


# (number of data points, plan) -> the estimator's table [table, chunks, units, rows], or ()
RowNoise = Callable[[int, Plan], Tensor]


def no_row_noise(*_: Tensor) -> Tensor:
    """Let no data point have noise of its own."""
    return ()


def fit(
    program: Callable[[MLP], Compiled],
    x: ArrayLike,
    y: ArrayLike,
    settings: Settings,
    row_noise: RowNoise = no_row_noise,
) -> Fit:
    """Check what ``bbb.fit`` is given, run a method's program on it, return its posterior.

    Args:
        program: Gives the compiled loop of a network: a ``Compiled`` of :func:`run`'s arguments.
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        settings: What the user chose.
        row_noise: Maps the number of data points and the plan to the noise of each point.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
        DivergedError: The free energy left the finite numbers.
    """
    x, y = checks.regression_data(x, y)
    o = settings
    network = MLP(x.shape[1], checks.layer_widths("hidden_units", o.hidden_units))
    prior = as_prior("prior", ScaleMixture() if o.prior is None else o.prior)
    n_batches = _batches(o.n_batches, len(x))
    shares = elbo.minibatch_weights(n_batches, o.kl_scheme)
    plan = lay_out(x, y, network, o.n_samples, o.steps, o.seed, o.capacity)
    inputs = LoopInputs(
        **plan.fields,
        unit_mask=plan.embed(np.ones(network.n_weights)),
        zeta=row_noise(len(x), plan),
        prior=as_float(prior.mixture),
        noise_std=as_float(checks.positive("noise_std", o.noise_std)),
        kl_weight=as_float(checks.non_negative("kl_weight", o.kl_weight)),
        kl_shares=as_float(np.resize(shares, max(_BATCH_SLOTS, n_batches))),
        n_batches=tf.constant(n_batches),
    )
    trace = program(plan.padded)(
        as_float(prior.std * plan.start),
        as_float(checks.number("initial_rho", o.initial_rho)),
        optimise.schedule(o.steps, o.learning_rate, o.cooldown),
        plan.n_blocks,
        inputs,
    )
    return _fitted(trace, network, plan.padded, float(o.noise_std), plan.capacity)


def _batches(n_batches: int, n: int) -> int:
    n_batches = checks.count("n_batches", n_batches)
    if n_batches > n:
        raise ValueError(f"n_batches: expected at most one a data point ({n}), got {n_batches}")
    return n_batches


def _fitted(
    trace: optimise.Trace, network: MLP, padded: MLP, noise_std: float, capacity: Capacity
) -> Fit:
    """Turn the loop's tensors into a :class:`Fit`, or raise ``DivergedError``."""
    names = ("free_energy", "complexity_cost", "likelihood_cost")
    history = optimise.history(trace, names, REMEDY)
    used = network.positions_in(padded)
    mean, rho = (p.numpy()[used].astype(np.float64) for p in trace.parameters)
    return Fit(mean, np.logaddexp(0.0, rho), network, noise_std, history, capacity)


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

    def predict(self, x: ArrayLike, n_samples: int = 500, seed: int = 1) -> Predictive:
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
        weights = checks.inputs("weights", weights, self.network.n_weights)
        return predictive.evaluate_weights(
            self._padded,
            embed(weights, self.network, self._padded),
            checks.inputs("x", x, self.network.n_inputs),
        )

    @property
    def _padded(self) -> MLP:
        return MLP(self.network.n_inputs, self.capacity.hidden_units)
