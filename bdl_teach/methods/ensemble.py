"""Deep ensembles: the same network fitted from several starts; how far they part is the doubt.

Member k minimises −log P(D | w) − log P(w) from a start of its own, and the members are averaged.
Where the loss has one minimum, all of them end in it: the spread is that of the minima, and no
posterior. The noise is known here, and there are no adversarial examples, which the paper has too.

Anchored, member k has its own prior mean and its own targets,

    w_k = argmin Σ (y + ε_k − f_w(x))²/(2 noise²) + ‖w − a_k‖²/(2 σ²),   a_k ~ N(0, σ² I),
    ε_k ~ N(0, noise²).

For a linear f = x·w, w_k = Λ⁻¹ (a_k/σ² + xᵀ(y + ε_k)/noise²) with Λ = I/σ² + xᵀx/noise². Its mean
is the posterior's, Λ⁻¹ xᵀy/noise², and so is its variance, Λ⁻¹ (I/σ² + xᵀx/noise²) Λ⁻¹ = Λ⁻¹: each
member is a draw from the exact posterior. Anchors alone give Λ⁻¹ Λ⁻¹/σ², which is too narrow;
Pearce et al. leave the targets alone, and would have to spread the anchors wider by as much as the
data say. For a network nothing of this is exact, nor for labels, which take no such noise.

Source: Lakshminarayanan, Pritzel & Blundell 2017, algorithm 1; Pearce, Leibfried, Brintrup, Zaki &
Neely 2020 for anchors; Osband, Aslanides & Cassirer 2018, section 3, for the targets.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import likelihoods, optimise, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled, room
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf
from bdl_teach.densities import Gaussian, Prior, as_prior, scale_mixture_log_prob
from bdl_teach.methods._filmed import Filmed
from bdl_teach.methods._loop import Capacity, Plan, embed, lay_out
from bdl_teach.methods.point import REMEDY
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

__all__ = ["REMEDY", "Capacity", "Fit", "fit"]

_RECORDS = 100  # steps at which the loss is recorded


class _LoopInputs(NamedTuple):
    """What one run of the compiled loop is told, all of it tensors."""

    x: Tensor  # [chunks, rows, d]
    y: Tensor  # [chunks, rows, members]: each member's own targets
    row_weight: Tensor  # of the shape of y: 1 for a data point, 0 for padding
    unit_mask: Tensor  # [n_weights]: 1 for a weight, 0 for padding
    anchors: Tensor  # [members, n_weights]: what the weights are pulled towards
    n_chunks: Tensor  # chunks that hold data points
    noise_std: Tensor
    prior: Tensor  # [3]: σ₁, σ₂, π
    prior_weight: Tensor  # 1 for members with a prior, 0 without


def _of_member(k: Tensor, p: _LoopInputs) -> _LoopInputs:
    """What member ``k`` sees: its targets ``[chunks, rows, 1]`` and its anchor ``[n_weights]``."""
    y, row_weight = (tf.gather(values, [k], axis=-1) for values in (p.y, p.row_weight))
    return p._replace(y=y, row_weight=row_weight, anchors=tf.gather(p.anchors, k))


def _loss(
    network: MLP, kind: str, w: Tensor, chunk: Tensor, p: _LoopInputs
) -> tuple[Tensor, Tensor]:
    """One chunk's share of −log P(D | w) − log P(w − anchor), and what is recorded of it."""
    log_prior = scale_mixture_log_prob(w - p.anchors, p.prior[0], p.prior[1], p.prior[2])
    prior_cost = -p.prior_weight * tf.reduce_sum(log_prior * p.unit_mask)
    prior_cost /= tf.cast(p.n_chunks, tf.float32)
    x, y, row_weight = (tf.gather(values, chunk) for values in (p.x, p.y, p.row_weight))
    likelihood = likelihoods.cost(kind, y, network(w, x), p.noise_std, row_weight)
    loss = prior_cost + likelihood
    return loss, tf.stack([loss, prior_cost, likelihood])


@lru_cache(maxsize=32)
def _program(network: MLP, likelihood: str) -> Compiled:
    """Compile: train the first ``n_members`` of ``starts`` [room, n_weights], one by one.

    One after the other they take 7 ms each, and their number compiles nothing; as a batch, ten
    take a third more, since XLA multiplies single matrices faster than batches of small ones.
    """

    def run(
        starts: Tensor,
        n_members: Tensor,
        schedule: optimise.Schedule,
        n_blocks: Tensor,
        p: _LoopInputs,
    ) -> Tensor:
        none = (tf.zeros([_RECORDS], tf.int32), tf.zeros([_RECORDS, 3]))
        film = optimise.blank_path([starts], _RECORDS, none[1].shape[1])

        def train(
            k: Tensor, weights: Tensor, _: Tensor, records: Tensor, film: list[Tensor]
        ) -> tuple[Tensor, Tensor, Tensor, Tensor, list[Tensor]]:
            own = _of_member(k, p)
            trace = optimise.adam(
                lambda theta, _, chunk: _loss(network, likelihood, theta[0], chunk, own),
                [tf.gather(starts, k)],
                schedule,
                n_blocks=n_blocks,
                n_records=_RECORDS,
                keep_path=bool(film),
            )
            weights = tf.tensor_scatter_nd_update(weights, [[k]], [trace.parameters[0]])
            film = _with_member(film, k, trace.path)
            return k + 1, weights, trace.steps, records + trace.records, film

        begin = (tf.constant(0), starts, *none, film)
        done = tf.while_loop(lambda k, *_: k < n_members, train, begin)
        _, weights, steps, records, film = done
        return optimise.Trace([weights], steps, _mean(records, n_members), _path(film, n_members))

    return Compiled(run)


def _mean(records: Tensor, n_members: Tensor) -> Tensor:
    """Turn a sum over the members into their mean."""
    return records / tf.cast(n_members, tf.float32)


def _with_member(film: list[Tensor], k: Tensor, path: optimise.Path | None) -> list[Tensor]:
    """Put member ``k``'s path among those of all: steps, summed records, weights by member."""
    if path is None:
        return []
    _, records, weights = film
    weights = tf.tensor_scatter_nd_update(weights, [[k]], [path.parameters[0]])
    return [path.steps, records + path.records, weights]


def _path(film: list[Tensor], n_members: Tensor) -> optimise.Path | None:
    """The path of all members, the members first; ``None`` if it was not kept."""
    if not film:
        return None
    steps, records, weights = film
    return optimise.Path(steps, _mean(records, n_members), [weights])


def _path_of(trace: optimise.Trace, n_members: int, used: Array) -> optimise.Path | None:
    """The path of the members that there are, the frames first, as arrays.

    Of the room for others nothing is copied: that took a fifth of the time of a single member.
    """
    if trace.path is None:
        return None
    film = np.asarray(trace.path.parameters[0])[:n_members].swapaxes(0, 1)  # a view
    path = optimise.path(trace._replace(path=trace.path._replace(parameters=[film])))
    return path and path._replace(parameters=[path.parameters[0][..., used]])


def fit(
    x: ArrayLike,
    y: ArrayLike,
    *,
    n_members: int = 10,
    prior: Prior | None = None,
    anchored: bool = False,
    likelihood: str = "gaussian",
    noise_std: float = 1.0,
    hidden_units: tuple[int, ...] = (20, 20),
    steps: int = 1500,
    learning_rate: float = 0.02,
    seed: int = 0,
    capacity: Capacity | None = None,
) -> Fit:
    """Fit several networks, each from its own start: MLE, or MAP when a ``prior`` is given.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``: numbers, or labels 0 and 1.
        n_members: Number k of networks.
        prior: Prior of each weight.
        anchored: Give each member its own draw from the prior as prior mean, and with the Gaussian
            likelihood its own noise on the targets. The prior is then the Gaussian of
            ``prior``'s standard deviation.
        likelihood: ``"gaussian"``, or ``"bernoulli"`` for labels 0 and 1.
        noise_std: Standard deviation of the noise on y, in the units of y, > 0.
        hidden_units: Width of each hidden ReLU layer; () is a linear model.
        steps: Adam steps of each member.
        learning_rate: Adam step size, > 0; it falls to 0 over the last quarter of the steps.
        seed: Seed of the first member, which is ``point.fit``'s network of this seed; that of the
            k-th is ``seed + 10⁶ k``, as that of a k-th start.
        capacity: Compile for these sizes instead of exactly this problem's; its ``n_samples`` is
            of no meaning. The number of members needs none.

    Returns:
        A :class:`Fit`.

    Raises:
        ValueError: An argument is out of range, or anchors are wanted without a prior.
        DivergedError: The loss of a member left the finite numbers.
    """
    x, y = likelihoods.data(likelihood, x, y)
    network = MLP(x.shape[1], checks.layer_widths("hidden_units", hidden_units))
    noise_std = checks.positive("noise_std", noise_std)
    seeds = optimise.start_seeds(seed, checks.count("n_members", n_members))
    prior = _prior(prior, anchored)
    anchors = np.zeros((len(seeds), network.n_weights))
    targets = np.repeat(y, len(seeds), axis=1)  # [n, members]
    if anchored and prior is not None:
        anchors = prior.std * _draws(seeds, network.n_weights, 0xA2C)
        if likelihood == "gaussian":
            targets += noise_std * _draws(seeds, len(x), 0xDA7A).T
    targets = _with_room(targets.T).T
    plan = lay_out(x, targets, network, 1, steps, seed, capacity, draws_weights=False)
    trace = _program(plan.padded, likelihood)(
        plan.embed(_with_room(_starts(seeds, network))),
        tf.constant(len(seeds)),
        optimise.schedule(steps, learning_rate, 0.25),
        plan.n_blocks,
        _inputs(plan, anchors, noise_std, prior),
    )
    history = optimise.history(trace, ("loss", "prior_cost", "likelihood_cost"), REMEDY)
    used = network.positions_in(plan.padded)
    weights = trace.parameters[0].numpy()[: len(seeds), used].astype(np.float64)
    path = _path_of(trace, len(seeds), used)
    return Fit(weights, anchors, network, noise_std, history, plan.capacity, likelihood, path)


def _prior(prior: Prior | None, anchored: bool) -> Prior | None:
    """The prior that the members are fitted with."""
    if prior is None:
        if anchored:
            raise ValueError("prior: expected one to draw the anchors from, got None")
        return None
    prior = as_prior("prior", prior)
    return Gaussian(prior.std) if anchored else prior


def _starts(seeds: Sequence[int], network: MLP) -> Array:
    """Where ``point.fit`` starts with these seeds: ``[members, n_weights]``."""
    draws = [np.random.default_rng(seed).standard_normal(network.n_weights) for seed in seeds]
    return np.stack(draws) * np.sqrt(2.0 / network.fan_in)


def _draws(seeds: Sequence[int], n: int, what: int) -> Array:
    """Standard normal numbers ``[members, n]``; more of them keep the first ones."""
    return np.stack([np.random.default_rng([seed, what]).standard_normal(n) for seed in seeds])


def _with_room(values: Array) -> Array:
    """Fill up ``[members, ...]`` with zeros, so that few numbers of members are compiled."""
    out = np.zeros((room(len(values)), *values.shape[1:]))
    out[: len(values)] = values
    return out


def _inputs(plan: Plan, anchors: Array, noise_std: float, prior: Prior | None) -> _LoopInputs:
    """Make the loop's arguments."""
    return _LoopInputs(
        **{name: plan.fields[name] for name in ("x", "y", "row_weight", "n_chunks")},
        unit_mask=plan.embed(np.ones(plan.network.n_weights)),
        anchors=plan.embed(_with_room(anchors)),
        noise_std=as_float(noise_std, "noise_std"),
        prior=as_float((1.0, 1.0, 0.5) if prior is None else prior.mixture, "prior"),
        prior_weight=as_float(float(prior is not None)),
    )


@one_line
@dataclass(frozen=True)
class Fit(Filmed):
    """The members.

    Attributes:
        weights: Of each member ``[k, n_weights]``, in the order of ``network``.
        anchors: What each was pulled towards ``[k, n_weights]``: draws from the prior, or 0.
        network: The network that the weights belong to.
        noise_std: Standard deviation of the observation noise.
        history: ``step``, ``loss``, ``prior_cost`` and ``likelihood_cost`` in nats, averaged over
            the members.
        capacity: Sizes that it was compiled for.
        likelihood: ``"gaussian"`` or ``"bernoulli"``.
        path: The way of the training, for :meth:`at`; ``None`` for networks of many weights.
    """

    weights: Array
    anchors: Array
    network: MLP
    noise_std: float
    history: dict[str, Array]
    capacity: Capacity
    likelihood: str = "gaussian"
    path: optimise.Path | None = field(default=None, repr=False)

    def predict(self, x: ArrayLike, n_samples: int = 1, seed: int = 1) -> Predictive:
        """Average the members: an equal mixture of what each of them says.

        Args:
            x: Test inputs ``[m, d]``.
            n_samples: Accepted so that every method is called alike; nothing is drawn.
            seed: Accepted likewise.

        Returns:
            A ``Predictive`` whose ``samples`` are the members ``[k, m]``.

        Raises:
            ValueError: x does not fit the network, or a count is out of range.
        """
        x = checks.inputs("x", x, self.network.n_inputs)
        checks.count("n_samples", n_samples)
        checks.count("seed", seed, 0)
        padded = MLP(self.network.n_inputs, self.capacity.hidden_units)
        weights = embed(self.weights, self.network, padded)
        f = predictive.evaluate_weights(padded, weights, x)
        return likelihoods.predict(self.likelihood, f, self.noise_std)
