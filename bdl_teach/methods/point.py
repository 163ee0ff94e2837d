"""Point estimates: maximum likelihood (MLE) and maximum a posteriori (MAP).

MLE minimises −log P(D | w), which for Gaussian noise is the sum of squares. MAP minimises
−log P(D | w) − log P(w); a Gaussian prior of standard deviation σ is weight decay, λ = 1/σ².

A noise that is learnt is one more parameter: the loss is then −log P(D | w, σ) − log P(σ), and the
mode is that of a density of σ, not of log σ. Without a prior of w and with a flat one of σ this is
maximum likelihood, σ² the mean square of the residuals.

Source: MacKay 1992; Blundell et al. 2015, section 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import likelihoods, optimise
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf
from bdl_teach.densities import HalfNormal, Prior, scale_mixture_log_prob
from bdl_teach.methods import _loop
from bdl_teach.methods._fitted import NetworkFit
from bdl_teach.methods._loop import Block, Costs, LoopInputs, Plan
from bdl_teach.methods._settings import Training, TwoHeads, taking
from bdl_teach.mlp import MLP

REMEDY = "lower the learning rate; if that does not help, noise_std is far too small for the data"
RECORD = (("loss", "prior_cost", "likelihood_cost"), REMEDY)
COOLDOWN = 0.25  # share of the steps over which the learning rate falls to 0


@dataclass(frozen=True, kw_only=True)
class Settings(TwoHeads, Training):
    """Settings of a point estimate, in addition to those of every method.

    Attributes:
        prior: Prior of each weight, for MAP.
        weight_decay: λ >= 0 of the penalty ½ λ Σ w²; equivalent to the prior ``Gaussian(1/√λ)``.
        starts: Number of fits from different starting points, of which the one of lowest last loss
            is kept. Start k = 0, 1, ... has the seed ``seed + 10⁶ k``.
    """

    prior: Prior | None = None
    weight_decay: float = 0.0
    starts: int = 1


def _loss(network: MLP, kind: str, theta: Tensor, block: Block, p: LoopInputs) -> Costs:
    """Return what a block (one chunk of data) adds to the loss and to the recorded costs.

    The loss is −log P(D | w), minus log P(w) if there is a prior, plus the weight decay.
    """
    (w,) = theta
    (anchor, has_prior, weight_decay), (sigma1, sigma2, pi) = p.own, tf.unstack(p.prior)
    each = scale_mixture_log_prob(w - anchor, sigma1, sigma2, pi)
    prior_cost = -has_prior * tf.reduce_sum(p.unit_mask * each)
    prior_cost += 0.5 * weight_decay * tf.reduce_sum(w**2)
    likelihood = likelihoods.cost(kind, block.y, network(w, block.x), p.noise_std, block.row_weight)
    return _loop.costs(prior_cost, likelihood, block, p)


_program = _loop.programs(_loss)


@taking(Settings, warns=True)
def fit(x: ArrayLike, y: ArrayLike, settings: Settings) -> Fit:
    """Fit one network: MLE, or MAP when a ``prior`` or ``weight_decay`` (not both) is given."""
    return best(x, y, settings)


def best(x: ArrayLike, y: ArrayLike, settings: Settings) -> Fit:
    """Return what :func:`fit` returns, without a warning."""
    decay = checks.non_negative("weight_decay", settings.weight_decay)
    if settings.prior is not None and decay:
        raise ValueError(f"weight_decay: expected 0 if a prior is given, got {decay}")

    plan = _loop.lay_out(x, y, settings, settings.prior)
    plan = with_prior(plan, settings.prior is not None, weight_decay=decay)
    return optimise.best_start(
        lambda o: train(plan, o.seed),
        settings,
        lambda fitted: float(fitted.history["loss"][-1]),
    )


def with_prior(
    plan: Plan, has_prior: bool, anchor: ArrayLike = 0.0, weight_decay: float = 0.0
) -> Plan:
    """Return a plan for :func:`train`; ``anchor`` [n_weights] or 0 is the mean of the prior.

    Without ``has_prior`` the loss has no −log P(w). ``weight_decay`` is λ of the penalty ½ λ Σ w².
    """
    mean = plan.embed(np.broadcast_to(anchor, plan.network.n_weights))
    decay = as_float(weight_decay, "weight_decay")
    return plan.given(own=(mean, as_float(float(has_prior)), decay))


def train(plan: Plan, seed: int) -> Fit:
    """Fit one network to the data of ``plan``, from a starting point drawn with this seed."""
    draw = np.random.default_rng(seed).standard_normal(plan.network.n_weights)
    start = plan.embed(plan.calm(draw * np.sqrt(2.0 / plan.network.fan_in)))
    program = _program(plan.padded, plan.settings.likelihood)
    (weights,), fields = plan.train(program, [start], COOLDOWN, RECORD)
    return Fit(weights=weights, noise_prior=plan.problem.noise_prior, **fields)


@one_line
@dataclass(frozen=True, kw_only=True)
class Fit(NetworkFit):
    """One weight vector; its predictions have no epistemic standard deviation.

    Attributes:
        weights: ``[n_weights]``, in the order of ``network``.
        history: ``step``, ``loss``, ``prior_cost`` and ``likelihood_cost`` in nats; the last one
            includes −log P(σ) of a learnt noise.
        noise_prior: Prior of a noise that has been learnt.
    """

    weights: Array
    noise_prior: HalfNormal | None = None

    def _draw(self, n_samples: int, seed: int) -> Array:
        return self.weights[None]
