"""Point estimates: maximum likelihood (MLE) and maximum a posteriori (MAP).

MLE minimises −log P(D | w), which for Gaussian noise is the sum of squares; MAP minimises
−log P(D | w) − log P(w), and a Gaussian prior is weight decay: λ = 1/σ².

Source: MacKay 1992; Blundell et al. 2015, section 2.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import likelihoods, optimise, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf
from bdl_teach.densities import Prior, as_prior, scale_mixture_log_prob
from bdl_teach.methods._filmed import Filmed
from bdl_teach.methods._loop import Capacity, check_room, embed, path_of
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

REMEDY = "lower the learning rate; if that does not help, noise_std is far too small for the data"


class _LoopInputs(NamedTuple):
    """What one run of the compiled loop is told, all of it tensors."""

    x: Tensor  # [n, d]
    y: Tensor  # [n, 1]
    row_weight: Tensor  # [n, 1]: 1 for a data point, 0 for what fills the room
    unit_mask: Tensor  # [n_weights]: 1 for a weight, 0 for what fills the room
    noise_std: Tensor
    prior: Tensor  # [3]: σ₁, σ₂, π
    prior_weight: Tensor  # 1 for MAP with a prior, 0 without
    weight_decay: Tensor  # λ


def _loss(network: MLP, kind: str, w: Tensor, p: _LoopInputs) -> tuple[Tensor, Tensor]:
    """−log P(D | w) − log P(w), and (loss, prior cost, likelihood cost) to be recorded.

    A weight that fills the room is 0 at the start, and stays it: nothing pulls at it.
    """
    each = scale_mixture_log_prob(w, p.prior[0], p.prior[1], p.prior[2])
    log_prior = tf.reduce_sum(p.unit_mask * each)
    prior_cost = 0.5 * p.weight_decay * tf.reduce_sum(w**2) - p.prior_weight * log_prior
    likelihood = likelihoods.cost(kind, p.y, network(w, p.x), p.noise_std, p.row_weight)
    loss = prior_cost + likelihood
    return loss, tf.stack([loss, prior_cost, likelihood])


@lru_cache(maxsize=32)
def _program(network: MLP, likelihood: str) -> Compiled:
    def run(start: Tensor, schedule: optimise.Schedule, inputs: _LoopInputs) -> Tensor:
        def objective(parameters: Tensor, _step: Tensor, _block: Tensor) -> tuple[Tensor, Tensor]:
            return _loss(network, likelihood, parameters[0], inputs)

        return optimise.adam(objective, [start], schedule, keep_path=True)

    return Compiled(run)


def fit(
    x: ArrayLike,
    y: ArrayLike,
    *,
    prior: Prior | None = None,
    weight_decay: float = 0.0,
    likelihood: str = "gaussian",
    noise_std: float = 1.0,
    hidden_units: tuple[int, ...] = (20, 20),
    steps: int = 1500,
    learning_rate: float = 0.02,
    starts: int = 1,
    seed: int = 0,
    capacity: Capacity | None = None,
) -> Fit:
    """Fit one network: MLE, or MAP when a ``prior`` or ``weight_decay`` is given.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``: numbers, or labels 0 and 1.
        prior: Prior of each weight, for MAP.
        weight_decay: λ >= 0 of the penalty ½ λ Σ w²; the same as ``Gaussian(1/√λ)``.
        likelihood: ``"gaussian"``, or ``"bernoulli"`` for labels 0 and 1.
        noise_std: Standard deviation of the noise on y, in the units of y, > 0.
        hidden_units: Width of each hidden ReLU layer; () is a linear model.
        steps: Adam steps.
        learning_rate: Adam step size, > 0; it falls to 0 over the last quarter of the steps.
        starts: Fit from so many starting points and keep the fit whose last loss is lowest; the
            k-th has the seed ``seed + 10⁶ k``.
        seed: Seed of the starting point.
        capacity: Compile for these sizes instead of exactly this problem's; of its ``n_samples``
            and ``chunk`` nothing is asked.

    Returns:
        A :class:`Fit`.

    Raises:
        ValueError: An argument is out of range, or both a prior and weight decay are given.
        DivergedError: The loss left the finite numbers, from every start.
    """
    x, y = likelihoods.data(likelihood, x, y)
    network = MLP(x.shape[1], checks.layer_widths("hidden_units", hidden_units))
    decay = checks.non_negative("weight_decay", weight_decay)
    if prior is not None and decay:
        raise ValueError("expected a prior or weight_decay, got both: weight decay is a prior")
    capacity = capacity or Capacity(len(x), network.hidden_units, 1)
    check_room(capacity, len(x), network, 1)
    padded = MLP(network.n_inputs, capacity.hidden_units)
    inputs = _LoopInputs(
        x=_filled(x, capacity.n),
        y=_filled(y, capacity.n),
        row_weight=_filled(np.ones((len(x), 1)), capacity.n),
        unit_mask=as_float(embed(np.ones(network.n_weights), network, padded)),
        noise_std=as_float(checks.positive("noise_std", noise_std), "noise_std"),
        prior=as_float(
            (1.0, 1.0, 0.5) if prior is None else as_prior("prior", prior).mixture, "prior"
        ),
        prior_weight=as_float(float(prior is not None)),
        weight_decay=as_float(decay, "weight_decay"),
    )
    schedule = optimise.schedule(steps, learning_rate, 0.25)
    program, used = _program(padded, likelihood), network.positions_in(padded)

    def fit_once(seed: int) -> Fit:
        draw = np.random.default_rng(seed).standard_normal(network.n_weights)
        start = as_float(embed(draw * np.sqrt(2.0 / network.fan_in), network, padded))
        trace = program(start, schedule, inputs)
        return _fitted(trace, network, used, float(noise_std), likelihood)

    seeds = optimise.start_seeds(seed, starts)
    return optimise.best_of(fit_once, seeds, lambda fitted: float(fitted.history["loss"][-1]))


def _filled(rows: Array, room: int) -> Tensor:
    """Fill rows ``[n, k]`` up with zeros to ``[room, k]``."""
    return as_float(np.pad(rows, ((0, room - len(rows)), (0, 0))))


def _fitted(
    trace: optimise.Trace, network: MLP, used: Array, noise_std: float, likelihood: str
) -> Fit:
    """Turn the loop's tensors into a :class:`Fit`: ``used`` are the places of its weights."""
    history = optimise.history(trace, ("loss", "prior_cost", "likelihood_cost"), REMEDY)
    weights = trace.parameters[0].numpy()[used].astype(np.float64)
    return Fit(weights, network, noise_std, history, likelihood, path_of(trace, used))


@one_line
@dataclass(frozen=True)
class Fit(Filmed):
    """One weight vector.

    Attributes:
        weights: ``[n_weights]``, in the order of ``network``.
        network: The network that the weights belong to.
        noise_std: Standard deviation of the observation noise.
        history: ``step``, ``loss``, ``prior_cost`` and ``likelihood_cost`` in nats.
        likelihood: ``"gaussian"`` or ``"bernoulli"``.
        path: The way of the training, for :meth:`at`; ``None`` for a network of many weights.
    """

    weights: Array
    network: MLP
    noise_std: float
    history: dict[str, Array]
    likelihood: str = "gaussian"
    path: optimise.Path | None = field(default=None, repr=False)

    def predict(self, x: ArrayLike, n_samples: int = 1, seed: int = 1) -> Predictive:
        """Evaluate the one network; its epistemic standard deviation is 0 everywhere.

        Args:
            x: Test inputs ``[m, d]``.
            n_samples: Accepted so that every method is called alike; there is one network.
            seed: Accepted likewise.

        Raises:
            ValueError: x does not fit the network, or a count is out of range.
        """
        x = checks.inputs("x", x, self.network.n_inputs)
        checks.count("n_samples", n_samples)
        checks.count("seed", seed, 0)
        f = predictive.evaluate_weights(self.network, self.weights[None], x)
        return likelihoods.predict(self.likelihood, f, self.noise_std)
