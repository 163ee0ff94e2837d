"""MC dropout: hidden units are left out at random, in training and in prediction.

A draw keeps hidden unit j with probability 1 − rate (z_j = 1, else 0) and divides a kept unit's
output by 1 − rate. This is a draw of weights: a weight m_ij that leaves unit j becomes
m_ij z_j/(1 − rate), every other weight keeps its learnt value. So q puts two points on each
weight behind a hidden unit, m/(1 − rate) and 0; all weights that leave one unit share z_j.

With a prior, training minimises −E_q[log P(D | w)] − E_q[log P(w)], in which a weight counts
(1 − rate) log P(m/(1 − rate)) + rate log P(0). For the prior N(0, σ²) that is weight decay,
m²/(2 (1 − rate) σ²). Noise and prior are given; the paper infers the noise from the decay.

Two weaknesses: the entropy of q is left out, since it is −∞ for points, so that the KL from a
prior with a density is not finite (Hron et al. 2018); and at a fixed rate the spread is that of the
masks, which more data need not narrow (Osband 2016).

Source: Gal & Ghahramani 2016, section 3, and its appendix (arXiv 1506.02142, 1506.02157); Hron,
Matthews & Ghahramani 2018; Osband 2016.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bdl_teach import likelihoods, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf
from bdl_teach.densities import Prior, scale_mixture_log_prob
from bdl_teach.methods import _loop
from bdl_teach.methods._fitted import NetworkFit
from bdl_teach.methods._loop import Block, Costs, LoopInputs
from bdl_teach.methods._settings import Training, taking
from bdl_teach.methods.point import COOLDOWN, RECORD
from bdl_teach.mlp import MLP, multiply


@dataclass(frozen=True, kw_only=True)
class Settings(Training):
    """Settings of MC dropout, in addition to those of every method.

    Attributes:
        rate: Probability that a draw leaves a hidden unit out, in [0, 1); 0 gives ``point.fit``.
        prior: Prior of each weight; a Gaussian one acts as weight decay.
        steps: Adam steps; each step draws anew, for each data point, the units to leave out.
    """

    rate: float = 0.1
    prior: Prior | None = None


def _sources(network: MLP) -> Array:
    """Return for each weight the index of the hidden unit whose output it multiplies.

    Biases and first-layer weights, which multiply no hidden unit's output, get the number of hidden
    units, an index that no unit has.
    """
    first = np.cumsum((0, *network.hidden_units))
    numbers = []
    for i, (n_out, n_in) in enumerate(network.shapes):
        behind = i % 2 == 0 and i > 0
        units = first[i // 2 - 1] + np.arange(n_in) if behind else np.full(n_in, first[-1])
        numbers.append(np.tile(units, n_out))
    return np.concatenate(numbers)


def _forward(network: MLP, w: Tensor, x: Tensor, scale: Tensor) -> Tensor:
    """Return outputs ``[rows, 1]``, with each hidden unit multiplied by ``scale`` [units, rows]."""
    parts = network.unflatten(w)
    h = tf.transpose(x)  # [d, rows]
    pairs = zip(parts[0:-2:2], parts[1:-2:2], strict=True)
    scales = tf.split(scale, network.hidden_units) if network.hidden_units else []
    for (weight, bias), z in zip(pairs, scales, strict=True):
        h = tf.nn.relu(multiply(weight, h) + bias) * z
    return tf.transpose(multiply(parts[-2], h) + parts[-1])


def _loss(network: MLP, kind: str, theta: Tensor, block: Block, p: LoopInputs) -> Costs:
    """Return what a block (one draw, one chunk of data) adds to the loss and to the recorded costs.

    The loss is −E_q[log P(D | w)] − E_q[log P(w)], without the second term if there is no prior.
    """
    (w,), (limit, rate, kept, has_prior), (sigma1, sigma2, pi) = theta, p.own, tf.unstack(p.prior)
    there, gone = (
        scale_mixture_log_prob(value, sigma1, sigma2, pi) for value in (w / kept, tf.zeros_like(w))
    )
    log_prior = (kept * there + (1.0 - kept) * gone) * p.unit_mask
    prior_cost = -has_prior * tf.reduce_sum(log_prior)
    scale = tf.cast(block.zeta > limit, tf.float32) / (1.0 - rate)  # 0 for a dropped unit
    f = _forward(network, w, block.x, scale)
    likelihood = likelihoods.cost(kind, block.y, f, p.noise_std, block.row_weight)
    return _loop.costs(prior_cost, likelihood, block, p)


_program = _loop.programs(_loss)


@taking(Settings, warns=True)
def fit(x: ArrayLike, y: ArrayLike, settings: Settings) -> Fit:
    """Fit one network by MC dropout: in training, hidden units are left out at random."""
    rate, prior = checks.probability("rate", settings.rate), settings.prior
    if rate == 1.0:
        raise ValueError("rate: expected a number in [0, 1), got 1: no unit would be left")
    plan = _loop.lay_out(x, y, settings, prior)
    behind = _sources(plan.padded) < sum(plan.padded.hidden_units)
    kept = np.where(behind, 1.0 - rate, 1.0)  # probability that a weight is not 0 [n_weights]
    own = tuple(map(as_float, (ndtri(rate), rate, kept, float(prior is not None))))
    plan = plan.given(zeta=_loop.row_noise(plan, lambda network: network.hidden_units), own=own)
    start = plan.embed(plan.draw * np.sqrt(2.0 / plan.network.fan_in))
    program = _program(plan.padded, settings.likelihood)
    (weights,), fields = plan.train(program, [start], COOLDOWN, RECORD)
    return Fit(weights=weights, rate=rate, **fields)


@one_line
@dataclass(frozen=True, kw_only=True)
class Fit(NetworkFit):
    """A fitted network, and the rate at which a draw leaves out its hidden units.

    Attributes:
        weights: m ``[n_weights]``, in the order of ``network``: the mean of q.
        rate: Probability that a draw leaves a hidden unit out.
        history: ``step``, ``loss``, ``prior_cost`` and ``likelihood_cost`` in nats, for one draw.
    """

    weights: Array
    rate: float

    def _draw(self, n_samples: int, seed: int) -> Array:
        """Draw weights ``[s, n_weights]``; for one seed, a higher rate drops additional units."""
        zeros = np.zeros(sum(self.network.hidden_units))
        zeta = predictive.draw_weights(zeros, zeros + 1.0, n_samples, seed)  # [s, units]
        scale = np.ones((n_samples, len(zeros) + 1))  # last: weights that are never dropped
        scale[:, :-1] = (zeta > ndtri(self.rate)) / (1.0 - self.rate)
        return np.asarray(self.weights * scale[:, _sources(self.network)])
