"""Bayes by Backprop: a Gaussian over each weight, fitted by gradient descent.

q(w | θ) = Π_j N(w_j | μ_j, σ_j²) with σ = softplus(ρ); θ = (μ, ρ) minimises the free energy
F = KL[q ‖ P(w)] − E_q[log P(D | w)], both terms estimated at w = μ + σ ⊙ ε.

Source: Blundell et al. 2015, "Weight uncertainty in neural networks", eq. 1-7, section 3.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from bdl_teach import elbo, likelihoods
from bdl_teach.backend import Tensor, tf
from bdl_teach.densities import scale_mixture_log_prob
from bdl_teach.methods import _loop, _mean_field
from bdl_teach.methods._loop import Block, Capacity, Costs, LoopInputs
from bdl_teach.methods._mean_field import Fit
from bdl_teach.methods._settings import LearntNoise, taking
from bdl_teach.mlp import MLP

__all__ = ["ARTICLE", "Capacity", "Fit", "fit"]

# Start and schedule of Krasser 2019, for ``fit(x, y, **ARTICLE)``: means as wide as the prior,
# σ = 0.69, a fixed learning rate. Such a fit ends some 60 nats above one with the defaults.
ARTICLE: dict[str, Any] = {"start_scale": 1.0, "initial_rho": 0.0, "cooldown": 0.0}


@dataclass(frozen=True, kw_only=True)
class Settings(LearntNoise, _mean_field.Settings):
    """Settings of Bayes by Backprop: those of every mean-field method."""


def _free_energy(network: MLP, kind: str, theta: Tensor, block: Block, p: LoopInputs) -> Costs:
    """Return what one block adds to F and to the recorded costs (Blundell et al. 2015, eq. 2)."""
    mu, rho = theta
    std = tf.nn.softplus(rho)
    w = mu + std * block.eps  # [n_weights]; 0 where there is padding, since μ and ε are
    log_prior = scale_mixture_log_prob(w, p.prior[0], p.prior[1], p.prior[2])
    complexity = elbo.complexity_cost(block.eps, std, log_prior, p.unit_mask)
    f = network(w, block.x)
    likelihood = likelihoods.cost(kind, block.y, f, p.noise_std, block.row_weight)
    return _loop.costs(complexity, likelihood, block, p)


_program = _loop.programs(_free_energy)


@taking(Settings)
def fit(x: ArrayLike, y: ArrayLike, settings: Settings) -> Fit:
    """Fit a Bayesian neural network by Bayes by Backprop."""
    return _mean_field.fit(_program, x, y, settings)
