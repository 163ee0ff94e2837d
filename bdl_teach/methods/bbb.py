"""Bayes by Backprop: a Gaussian over each weight, fitted by gradient descent.

q(w | θ) = Π_j N(w_j | μ_j, σ_j²) with σ = softplus(ρ); θ = (μ, ρ) minimises the free energy
F = KL[q ‖ P(w)] − E_q[log P(D | w)], both terms estimated at w = μ + σ ⊙ ε.

Source: Blundell et al. 2015, "Weight uncertainty in neural networks", eq. 1-7, section 3.2.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from bdl_teach import elbo
from bdl_teach._support.compiled import Compiled
from bdl_teach.backend import tf
from bdl_teach.densities import Prior, scale_mixture_log_prob
from bdl_teach.methods import _mean_field
from bdl_teach.methods._mean_field import REMEDY, Block, Capacity, Fit, LoopInputs
from bdl_teach.mlp import MLP

__all__ = ["REMEDY", "Capacity", "Fit", "fit"]


def fit(
    x: Any,
    y: Any,
    *,
    prior: Prior | None = None,
    noise_std: float = 1.0,
    hidden_units: tuple[int, ...] = (20, 20),
    steps: int = 1500,
    learning_rate: float = 0.08,
    n_samples: int = 1,
    kl_weight: float = 1.0,
    n_batches: int = 1,
    kl_scheme: str = "uniform",
    initial_rho: float = -1.0,
    cooldown: float = 0.25,
    seed: int = 0,
    capacity: Capacity | None = None,
) -> Fit:
    """Fit a Bayesian network by Bayes by Backprop.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given.
        noise_std: Standard deviation of the noise on y, in the units of y, > 0.
        hidden_units: Width of each hidden ReLU layer; () is a linear model.
        steps: Adam steps.
        learning_rate: Adam step size, > 0.
        n_samples: Weight draws averaged in each step's gradient.
        kl_weight: Factor on the KL term, >= 0; 1 is Bayes' rule.
        n_batches: Minibatches M an epoch; step t sees the points i with i ≡ t (mod M).
        kl_scheme: ``"uniform"`` or ``"geometric"``, see ``elbo.minibatch_weights``.
        initial_rho: Starting value of every ρ; the source article starts from 0.
        cooldown: Share of the steps, at the end, over which the learning rate falls linearly
            to 0; the source article has 0. A start at σ = 0.31 and a cooldown of a quarter bring
            one-sample gradients to a lower free energy in the same 1500 steps.
        seed: Seed of the starting point and of every ε.
        capacity: Compile for these sizes instead of exactly this problem's.

    Returns:
        A :class:`Fit`.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
        DivergedError: The free energy left the finite numbers.
    """
    return _mean_field.fit(
        _program,
        x,
        y,
        prior=prior,
        noise_std=noise_std,
        hidden_units=hidden_units,
        steps=steps,
        learning_rate=learning_rate,
        n_samples=n_samples,
        kl_weight=kl_weight,
        n_batches=n_batches,
        kl_scheme=kl_scheme,
        initial_rho=initial_rho,
        cooldown=cooldown,
        seed=seed,
        capacity=capacity,
    )


@lru_cache(maxsize=32)
def _program(network: MLP) -> Compiled:
    """Compile the loop for one network; shapes of the data compile it again, values never."""
    return Compiled(_mean_field.run(lambda theta, b, p: _free_energy(network, theta, b, p)))


def _free_energy(network: MLP, theta: Any, block: Block, p: LoopInputs) -> tuple[Any, Any]:
    """Return one block's share of the free energy of a step, and of what is recorded of it.

    Source: Blundell et al. 2015, eq. 2.
    """
    mu, rho = theta
    std = tf.nn.softplus(rho)
    w = mu + std * block.eps  # [n_weights]; 0 where there is padding, since μ and ε are
    log_prior = scale_mixture_log_prob(w, p.prior[0], p.prior[1], p.prior[2])
    complexity = elbo.complexity_cost(block.eps, std, log_prior, p.unit_mask)
    return _mean_field.costs(complexity, network(w, block.x), block, p)
