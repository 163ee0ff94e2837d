"""The compiled training loop that methods share: checks, padding, noise, minibatches, Adam.

Arrays are padded to fixed sizes, so that the loop is not compiled again when a slider moves.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import elbo, likelihoods, optimise
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf
from bdl_teach.densities import Gaussian, HalfNormal, LogDensityTerms, Prior, as_prior
from bdl_teach.methods._settings import LearntNoise, Training, TwoHeads
from bdl_teach.mlp import MLP

STRIDE = 97  # rows of a table of noise between two draws of one step
_TABLE = 2**23  # largest number of entries in the table of ζ: 32 MB
_DRAWN = 32  # data points whose ζ is drawn at a time
_ROOMS = (2048, 8192)  # rows of a table of ζ to compile for: short fits, and long ones


class Capacity(NamedTuple):
    """Sizes that a training program is compiled for; a problem of at most these sizes can use it.

    Attributes:
        n: Number of data points.
        hidden_units: Width of each hidden layer.
        n_samples: Number of weight draws in a step; all numbers from 2 to 1000 share a program.
        chunk: Number of data points evaluated at a time, so that fewer points take less time;
            ``None`` evaluates all at once.
    """

    n: int
    hidden_units: tuple[int, ...]
    n_samples: int
    chunk: int | None = None


@one_line
class Problem(NamedTuple):
    """The data, prior and KL weight that a posterior and its free energy belong to."""

    x: Array  # [n, d]
    y: Array  # [n, 1]
    prior: Prior  # of each weight; unused if the method learns it
    kl_weight: float
    seed: int
    noise_prior: HalfNormal | None = None  # of a noise that is learnt


class LoopInputs(NamedTuple):
    """The tensors that a training program takes besides starting parameters and a schedule."""

    x: Tensor  # [chunks, rows, d]
    y: Tensor  # [chunks, rows, 1]
    row_weight: Tensor  # [chunks, rows, 1]: 1 for a data point, 0 for padding
    unit_mask: Tensor  # [n_weights]: 1 for a weight, 0 for padding
    eps: Tensor  # [table, n_weights]: draw s of step t is row (t + 97 s) mod table; () without
    n_samples: Tensor  # S
    n_chunks: Tensor  # chunks that hold data points
    prior: Tensor  # [3]: σ₁, σ₂, π
    prior_terms: LogDensityTerms  # the prior in the form that ``expected_log_prob`` takes
    noise_std: Tensor  # if it is learnt, σ to start from
    kl_weight: Tensor
    kl_shares: Tensor  # [slots]: π_i of each minibatch
    n_batches: Tensor
    zeta: Tensor = ()  # [table, chunks, units, rows]: noise of each data point, where it has any
    noise_prior: Tensor = ()  # [2], if σ is learnt: −log P(σ) = ½ (aσ)² + b
    own: Any = ()  # tensors that only this method has; its objective unpacks them


class Block(NamedTuple):
    """The inputs of one block, which is one weight draw and one chunk of data points in a step."""

    x: Tensor  # [rows, d]
    y: Tensor  # [rows, 1]
    row_weight: Tensor  # [rows, 1]: 1 for a data point of this step's minibatch
    kl_share: Tensor  # π of the minibatch
    row: Tensor  # row of the tables of noise
    eps: Tensor  # [n_weights], or ()
    zeta: Tensor  # [units, rows], or ()


Costs: TypeAlias = "tuple[Tensor, Tensor]"  # what a block adds to loss, and records


class Plan(NamedTuple):
    """What :func:`lay_out` returns: checked data and settings, and the loop's inputs."""

    problem: Problem
    network: MLP  # the requested one
    padded: MLP  # the one that the loop is compiled for
    capacity: Capacity  # sizes that the loop is compiled for
    settings: Training  # checked
    n_rows: int  # number of rows of the tables of noise
    draw: Array  # [n_weights]: a standard normal number for each weight, for a starting point
    inputs: LoopInputs

    @property
    def shared(self) -> dict[str, Any]:
        """Return the fields that every fit with drawn weights has, as a dict."""
        return {
            "network": self.network,
            "noise_std": self.settings.noise_std,
            "likelihood": self.settings.likelihood,
            "capacity": self.capacity,
        }

    def embed(self, values: Array) -> Tensor:
        """Return ``values`` [..., n_weights], padded with 0, as float32 [..., padded.n_weights]."""
        return as_float(embed(values, self.network, self.padded))

    def calm(self, values: Array) -> Array:
        """Return starting weights ``[..., n_weights]`` whose second head, if any, is log sd(y)."""
        if self.network.n_outputs == 1:
            return values
        *_, weight, bias = self.network.split(np.arange(self.network.n_weights))
        out = np.array(values)
        out[..., weight[1]], out[..., bias[1]] = 0.0, np.log(self.problem.y.std() or 1.0)
        return out

    def given(self, **inputs: Any) -> Plan:
        """Return a plan with other values of some fields of ``inputs``."""
        return self._replace(inputs=self.inputs._replace(**inputs))

    def train(
        self,
        program: Callable[..., optimise.Trace],
        starts: Sequence[Tensor],
        cooldown: float,
        record: tuple[Sequence[str], str],
    ) -> tuple[list[Array], dict[str, Any]]:
        """Run a program of :func:`programs`; return the final parameters and other fields of a fit.

        ``starts`` are padded. The returned parameters ``[n_weights, ...]``, in float64, are not. A
        noise that is learnt is trained, too, and returned among the fields.
        ``cooldown`` is explained in ``optimise.schedule``. ``record`` holds the names of the
        recorded quantities, and the advice to give if one of them is not finite.
        """
        o, used, inputs = self.settings, self.network.positions_in(self.padded), self.inputs
        learnt = tf.is_tensor(inputs.noise_prior)
        if learnt:
            starts = [*starts, tf.math.log(inputs.noise_std)[None]]
        schedule = optimise.schedule(o.steps, o.learning_rate, cooldown)
        looped = self.capacity.n_samples > 1 or self.capacity.chunk is not None
        n_blocks = inputs.n_samples * inputs.n_chunks if looped else None
        trace = program(list(starts), schedule, n_blocks, inputs)
        history = optimise.history(trace, *record)
        path = optimise.path(trace)
        n = len(trace.parameters) - learnt  # the rest is log σ
        path = path and path._replace(
            parameters=[*(p[:, used] for p in path.parameters[:n]), *path.parameters[n:]]
        )
        fields = {**self.shared, **noise_of(*(p.numpy() for p in trace.parameters[n:]))}
        fields |= {"history": history, "path": path}
        return [p.numpy()[used].astype(np.float64) for p in trace.parameters[:n]], fields


def lay_out(
    x: ArrayLike,
    y: ArrayLike,
    o: Training,
    prior: Prior | None = None,
    n_samples: int = 1,
    draws_weights: bool = False,
) -> Plan:
    """Check data, prior and settings, and prepare them for a loop without minibatches.

    With ``draws_weights`` a table of ε is drawn, with a row for each step, but at least 1000 rows.
    The program is compiled again for another number of rows.
    """
    noise_std, noise_prior = _noise_asked(o)
    x, y = likelihoods.data(o.likelihood, x, y)
    n_outputs = likelihoods.n_outputs(o.likelihood)
    network = MLP(x.shape[1], checks.layer_widths("hidden_units", o.hidden_units), n_outputs)
    prior = as_prior("prior", Gaussian() if prior is None else prior)
    n_samples, steps = checks.count("n_samples", n_samples), checks.count("steps", o.steps)
    least = Capacity(len(x), network.hidden_units, n_samples)
    capacity = o.capacity or least
    check_capacity(capacity, least)
    padded = MLP(network.n_inputs, capacity.hidden_units, n_outputs)
    n_rows = max(steps, 1000, capacity.n_samples)
    n_rows += n_rows % STRIDE == 0  # so that the draws of one step are different rows
    seed = checks.count("seed", o.seed, 0)
    draw, eps = _noise(network, padded, n_rows if draws_weights else 0, seed)
    n_chunks = -(-len(x) // (capacity.chunk or capacity.n))
    start = float(y.std()) or 1.0 if noise_prior else noise_std
    inputs = LoopInputs(
        x=chunks(x, capacity),
        y=chunks(y, capacity),
        row_weight=chunks(np.ones_like(y), capacity),
        unit_mask=as_float(embed(np.ones(network.n_weights), network, padded)),
        eps=eps,
        n_samples=tf.constant(n_samples),
        n_chunks=tf.constant(n_chunks),
        prior=as_float(prior.mixture, "prior"),
        prior_terms=LogDensityTerms(*map(as_float, prior.terms)),
        noise_std=as_float(start, "noise_std"),
        kl_weight=as_float(1.0),
        kl_shares=as_float([1.0]),
        n_batches=tf.constant(1),
        noise_prior=as_float(noise_prior.terms) if noise_prior else (),
    )
    return Plan(
        problem=Problem(x, y, prior, 1.0, seed, noise_prior),
        network=network,
        padded=padded,
        capacity=capacity,
        settings=replace(o, noise_std=noise_prior or noise_std),
        n_rows=n_rows,
        draw=draw,
        inputs=inputs,
    )


def _noise_asked(o: Training) -> tuple[float, HalfNormal | None]:
    """Return σ, and the prior of one that is learnt; refuse what the method cannot do."""
    method = type(o).__module__.rpartition(".")[2]
    kinds = (*likelihoods.LIKELIHOODS, *[likelihoods.TWO_HEADS] * isinstance(o, TwoHeads))
    checks.choice("likelihood", o.likelihood, kinds)
    if not isinstance(o.noise_std, HalfNormal):
        return checks.positive("noise_std", o.noise_std), None
    if not isinstance(o, LearntNoise) or o.likelihood != "gaussian":
        where = f"in {method}" if o.likelihood == "gaussian" else f"with {o.likelihood!r}"
        raise ValueError(f"noise_std: expected a number {where}, got {o.noise_std!r}")
    return 1.0, o.noise_std


def noise_of(*log_std: Array) -> dict[str, Any]:
    """Return σ as a field of a fit, or no field if the noise is not learnt; log σ is ``[1]``."""
    return {"noise_std": float(np.exp(np.float64(log_std[0][0])))} if log_std else {}


@lru_cache(maxsize=4)
def _noise(network: MLP, padded: MLP, n_rows: int, seed: int) -> tuple[Array, Tensor]:
    """Draw standard normal numbers: ``[n_weights]`` for the start, and the table of ε.

    The table is ``[n_rows, padded.n_weights]``, or () if ``n_rows`` is 0. A larger ``n_rows``
    or a wider ``padded`` adds numbers, and changes none.
    """
    rng = np.random.default_rng(seed)
    draw = rng.standard_normal(network.n_weights)
    if not n_rows:
        return draw, ()
    noise = rng.standard_normal((n_rows, network.n_weights), np.float32)
    return draw, tf.constant(embed(noise, network, padded))


def check_capacity(capacity: Capacity, least: Capacity) -> None:
    """Raise ``ValueError`` unless ``capacity`` is valid and at least as large as ``least``."""
    rooms, widths = capacity.hidden_units, least.hidden_units
    wide = len(rooms) == len(widths) and all(map(operator.ge, rooms, widths))
    if not wide or capacity.n < least.n or capacity.n_samples < least.n_samples:
        raise ValueError(f"capacity: expected sizes of at least {least}, got {capacity}")
    if capacity.chunk is not None:
        checks.count("capacity.chunk", capacity.chunk)


def embed(values: Array, network: MLP, padded: MLP) -> Array:
    """Return ``values`` [..., n_weights] in the flat order of ``padded``, with 0 as padding."""
    if padded == network:  # a copy of the noise of all steps would take a sixth of a refit
        return values
    out = np.zeros((*values.shape[:-1], padded.n_weights), values.dtype)
    out[..., network.positions_in(padded)] = values
    return out


def inverse_softplus(std: Array) -> Array:
    """Return ρ such that softplus(ρ) = ``std`` > 0, without overflow."""
    return np.asarray(std + np.log(-np.expm1(-std)))


def chunks(values: Array, capacity: Capacity) -> Tensor:
    """Split ``values`` [n, d] into chunks [chunks, rows, d], padded with zeros."""
    rows = capacity.chunk or capacity.n
    out = np.zeros((-(-capacity.n // rows) * rows, values.shape[1]))
    out[: len(values)] = values
    return as_float(out.reshape(-1, rows, values.shape[1]))


def programs(objective: Callable[..., Tensor]) -> Callable[..., Compiled]:
    """Return a function that takes ``choices`` (network, likelihood, ...) and returns a program.

    The program minimises ``objective(*choices, theta, block, inputs)`` over theta by Adam. Programs
    are cached, and compiled again for arrays of another shape, but not for other values.
    """

    @lru_cache(maxsize=32)
    def program(*choices: Any) -> Compiled:
        def loop(
            theta: list[Tensor], schedule: optimise.Schedule, n_blocks: Tensor, inputs: LoopInputs
        ) -> Tensor:
            return optimise.adam(
                lambda theta, step, i: with_noise(
                    partial(objective, *choices), theta, make_block(step, i, inputs), inputs
                ),
                theta,
                schedule,
                n_blocks=n_blocks,
                keep_path=True,
            )

        return Compiled(loop)

    return program


def with_noise(
    objective: Callable[..., Costs], theta: Sequence[Tensor], block: Block, p: LoopInputs
) -> Costs:
    """Return ``objective(theta, block, p)``; if the noise is learnt, with the last of θ as log σ.

    −log P(σ) is then a part of the likelihood's cost. log σ is ``[1]``, or ``[k, 1]`` for k starts.
    """
    if not tf.is_tensor(p.noise_prior):
        return objective(theta, block, p)
    std = tf.exp(theta[-1])
    given = p._replace(noise_std=std[..., None] if len(std.shape) > 1 else std[0])
    loss, records = objective(theta[:-1], block, given)
    of_block = (0.5 * (p.noise_prior[0] * std[..., 0]) ** 2 + p.noise_prior[1]) / tf.cast(
        p.n_samples * p.n_chunks, tf.float32
    )
    records += tf.stack([of_block, tf.zeros_like(of_block), of_block])
    return loss + of_block / tf.cast(p.n_batches, tf.float32), records


def make_block(step: Tensor, i: Tensor, p: LoopInputs) -> Block:
    """Return the inputs of block ``i`` of a step."""
    # ``tf.gather``, since XLA would compile ``values[i]`` again for each value of i.
    draw, chunk = i // p.n_chunks, i % p.n_chunks
    batch, row = step % p.n_batches, step + STRIDE * draw
    x, y, row_weight = (tf.gather(values, chunk) for values in (p.x, p.y, p.row_weight))
    eps, zeta = p.eps, p.zeta
    if tf.is_tensor(eps):
        eps = tf.gather(p.eps, row % p.eps.shape[0])
    if tf.is_tensor(zeta):
        zeta = tf.gather(tf.gather(zeta, row % zeta.shape[0]), chunk)
    point = chunk * x.shape[0] + tf.range(x.shape[0])[:, None]
    in_batch = tf.cast(point % p.n_batches == batch, tf.float32)
    share = tf.gather(p.kl_shares, batch)
    return Block(x, y, row_weight * in_batch, share, row, eps, zeta)


def costs(complexity: Tensor, likelihood: Tensor, block: Block, p: LoopInputs) -> Costs:
    """Return what a block adds to a step's free energy, and what it adds to the recorded costs.

    ``complexity`` is the KL over all weights, or an estimate; ``likelihood`` is −log P of the
    block's data points for one draw. Both are in nats.

    Source: Blundell et al. 2015, eq. 2 with the factor 1/S, and eq. 8 for minibatches.
    """
    n_samples, n_chunks = tf.cast(p.n_samples, tf.float32), tf.cast(p.n_chunks, tf.float32)
    complexity, likelihood = complexity / (n_samples * n_chunks), likelihood / n_samples
    loss = elbo.free_energy(complexity, likelihood, p.kl_weight * block.kl_share)
    whole = likelihood * tf.cast(p.n_batches, tf.float32)  # estimate over the whole data set
    return loss, tf.stack([elbo.free_energy(complexity, whole, p.kl_weight), complexity, whole])


def row_noise(plan: Plan, widths: Callable[[MLP], Sequence[int]]) -> Tensor:
    """Draw standard normal numbers ζ ``[draws, chunks, units, rows]``; () if none are needed.

    ``widths(network)`` lists how many numbers a data point needs, for example for each layer.
    Adding data points does not change the noise of the points before them.
    """
    small, large = tuple(widths(plan.network)), tuple(widths(plan.padded))
    if not large:
        return ()
    # The cache holds one table: that of the last short fit, which the next tick needs again.
    table = _row_noise if plan.n_rows <= _ROOMS[0] else _row_noise.__wrapped__
    n = min(-(-len(plan.problem.x) // _DRAWN) * _DRAWN, plan.capacity.n)
    return table(small, large, plan.capacity, plan.n_rows, plan.problem.seed, n)


@lru_cache(maxsize=1)
def _row_noise(
    widths: Sequence[int], padded: Sequence[int], capacity: Capacity, n_rows: int, seed: int, n: int
) -> Tensor:
    """Draw ζ of :func:`row_noise` for ``n`` data points; ``padded`` holds the padded ``widths``."""
    rows = capacity.chunk or capacity.n
    chunks = -(-capacity.n // rows)
    most = max(64, _TABLE // (sum(padded) * chunks * rows))
    room = n_rows  # several draws a step cycle through the table, all rows of which are used
    if capacity.n_samples == 1:  # rows after the last step stay unread: one program
        room = next((room for room in _ROOMS if room >= n_rows), n_rows)
    room, steps = min(room, most), min(n_rows, most)
    rng = np.random.default_rng([seed, 0x10CA1])
    drawn = rng.standard_normal((n, steps, sum(widths)), np.float32)
    starts = np.cumsum([0, *padded[:-1]])
    units = [at + np.arange(width) for at, width in zip(starts, widths, strict=True)]
    values = np.zeros((room, chunks, sum(padded), rows), np.float32)
    for chunk in range(-(-n // rows)):
        part = drawn[chunk * rows : (chunk + 1) * rows]
        values[:steps, chunk, np.concatenate(units), : len(part)] = part.transpose(1, 2, 0)
    return tf.constant(values)
