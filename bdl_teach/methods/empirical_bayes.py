"""Empirical Bayes: learn the prior's standard deviation along with the posterior.

q(w) = Π N(w_k | μ_k, σ_k²), prior N(w_k | 0, σ_p²). The ELBO depends on σ_p through the KL term
alone, and is largest at σ_p² = μ² + σ², averaged over the weights that share the prior. At that
σ_p, with one prior for each weight, KL = ½ Σ ln(1 + μ²/σ²) = ½ Σ ln(1 + γ²) with γ = μ/σ.

The ELBO is a lower bound of the type-II evidence, which is the maximum of ln p(D | priors) over the
priors. So the ELBO can exceed ln p(D) under a prior that is fixed beforehand.

Source: Basov, "Empirical Bayesian neural networks", sections 4-8; the same bound as Kharitonov,
Molchanov & Vetrov 2018, "Variational dropout via empirical Bayes" (arXiv 1811.00596).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import likelihoods, optimise
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, tf
from bdl_teach.methods import _loop, _mean_field, _rao_blackwell, local_reparam
from bdl_teach.methods._fitted import ARRIVED
from bdl_teach.methods._loop import Block, Costs, LoopInputs, Plan
from bdl_teach.methods._settings import Training, taking
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

TIES = ("weight", "layer", "all")
# The quiet estimator with a higher rate, which its gradients allow: ``fit(x, y, **QUIET)``.
QUIET: dict[str, Any] = {"estimator": "quiet", "learning_rate": 0.3}
# Steps in γ from small weights, as in the source, for ``fit(x, y, **SOURCE)``. The fit ends far
# above one with steps in μ.
# claim: steps-of-gamma-stop-far-above
SOURCE: dict[str, Any] = {
    "coordinates": "gamma",
    "learning_rate": 0.08,
    "initial_rho": 0.0,
    "initial_gamma": 1.0,
    "cooldown": 0.25,
}
_NEW_STARTS = ((8.0, -1.0), (20.0, -2.0), (4.0, -1.0), (50.0, -3.0))  # (sd of γ, ρ) of new starts
_CALMEST = {"gaussian": "quiet", "bernoulli": "local"}  # estimator of least variance
REMEDY = (
    "lower the learning rate; if that does not help, the scale of the data does not fit noise_std"
)
RECORD = (_mean_field.COSTS, REMEDY)
# estimator -> function from a network to the numbers of units with noise at each data point
_WIDTHS: dict[str, Callable[[MLP], Sequence[int]]] = {
    "local": partial(local_reparam.noise_widths, "local"),
    "shared": lambda network: (),
    "quiet": _rao_blackwell.noise_widths,
}
_FAR = 1e9  # from here on ½ ln(1 + γ²) is ln |γ|


@dataclass(frozen=True, kw_only=True)
class Settings(Training):
    """Settings of empirical Bayes, in addition to those of every method.

    Attributes:
        tie: Which weights share a prior: with ``"weight"`` each has its own, with ``"layer"`` those
            of a layer share one (biases included), with ``"all"`` all do.
        estimator: ``"local"`` draws each pre-activation, ``"shared"`` draws weights that all data
            points share; ``"quiet"``, for the Gaussian likelihood, averages over the last two
            layers in closed form.
        biases: Whether layers have biases; the source has none.
        scale: Unit of σ: ``"fan_in"`` is 1/√(inputs of the layer), ``"none"`` is 1. It changes
            the starting point and the length of a step, but not the ELBO.
        learning_rate: Adam step size, > 0.
        n_samples: Draws averaged in each step's gradient.
        coordinates: What is trained beside ρ: ``"mu"`` is the mean in units of ``scale``;
            ``"gamma"`` is μ/σ, which the source trains (see ``SOURCE``).
        initial_rho: Starting value of every ρ; σ is softplus(ρ) in units of ``scale``.
        initial_gamma: Standard deviation of the starting γ = μ/σ, >= 0. With a small one, weights
            are switched off before the fit has used them.
        cooldown: Share of the steps, at the end, over which the learning rate falls to 0.
        starts: Number of fits from different starting points and noise, of which the one of lowest
            free energy is kept. Start k = 0, 1, ... has the seed ``seed + 10⁶ k``.
    """

    tie: str = "weight"
    estimator: str = "local"
    biases: bool = True
    scale: str = "fan_in"
    learning_rate: float = 0.2
    n_samples: int = 1
    coordinates: str = "mu"
    initial_rho: float = -1.0
    initial_gamma: float = 8.0
    cooldown: float = 1.0
    starts: int = 1


class Model(NamedTuple):
    """Arrays that say which weights exist, which of them share a prior, and how σ is scaled."""

    layers: Array  # [n_weights]: 0 for those of the first layer, ...
    groups: Array  # [n_weights]: number of the prior that a weight has
    used: Array  # [n_weights]: False for a bias that is left out
    unit: Array  # [n_weights]: σ = unit · softplus(ρ)


class Descent(NamedTuple):
    """How F is minimised: the gradient estimator, and which parameters the steps change."""

    estimator: str
    coordinates: str
    own_priors: bool = True  # of each weight, whose best σ_p is then known in closed form


def choose(network: MLP, tie: str, biases: bool, scale: str) -> Model:
    """Check the settings ``tie``, ``biases`` and ``scale``, and return them as a :class:`Model`."""
    layers = np.concatenate([np.full(a * b, i // 2) for i, (a, b) in enumerate(network.shapes)])
    is_bias = np.concatenate([np.full(a * b, i % 2) for i, (a, b) in enumerate(network.shapes)])
    groups = {"weight": np.arange(len(layers)), "layer": layers, "all": 0 * layers}
    units = {"fan_in": network.fan_in**-0.5, "none": np.ones(len(layers))}
    return Model(
        layers=layers,
        groups=groups[checks.choice("tie", tie, TIES)],
        used=(is_bias == 0) | bool(biases),
        unit=units[checks.choice("scale", scale, tuple(units))],
    )


def kl(gamma: ArrayLike) -> float:
    """Return KL[q ‖ p] at the best prior of each weight: ½ Σ ln(1 + γ²).

    Args:
        gamma: γ = μ/σ of each weight, any shape.

    Returns:
        Nats, summed over the weights, in float64.

    Raises:
        ValueError: A γ is not finite.

    Source: Basov, section 7.
    """
    size = np.abs(checks.finite("gamma", gamma))
    near, far = np.minimum(size, _FAR), np.maximum(size, _FAR)  # far² may overflow
    return float((0.5 * np.log1p(near**2) + np.log(far / _FAR)).sum())


def optimal_prior_std(mu: ArrayLike, sigma: ArrayLike, groups: ArrayLike | None = None) -> Array:
    """Return the σ_p that minimises KL[q ‖ p]: √(mean of μ² + σ²) in each group.

    Args:
        mu: Means of q ``[n_weights]``, or any shape without groups.
        sigma: Standard deviations of q, >= 0, of the shape of ``mu``.
        groups: Number of each weight's group ``[n_weights]``, from 0: a group shares one prior.
            Each weight has a prior of its own if ``None``.

    Returns:
        σ_p of each weight, of the shape of ``mu``, in float64.

    Raises:
        ValueError: A value is not finite, a σ is negative or the shapes differ.

    Source: Basov, section 6; MacKay 1992 for tied weights.
    """
    mu, sigma = checks.finite("mu", mu), checks.finite("sigma", sigma)
    if not (sigma >= 0).all():
        raise ValueError(f"sigma: expected numbers >= 0, got a minimum of {sigma.min()}")
    if mu.shape != sigma.shape:
        raise ValueError(f"sigma: expected the shape of mu, {mu.shape}, got {sigma.shape}")
    own = np.asarray(np.hypot(mu, sigma))
    if groups is None:
        return own
    groups = np.asarray(groups)
    if groups.shape != own.shape or own.ndim != 1:
        raise ValueError(
            f"groups: expected shape {own.shape}, one for each weight, got {groups.shape}"
        )
    if groups.dtype.kind not in "iu" or (groups < 0).any():
        raise ValueError(f"groups: expected integers >= 0, got {groups}")
    _, groups = np.unique(groups, return_inverse=True)  # unused numbers are no groups
    return np.asarray(np.sqrt(np.bincount(groups, own**2) / np.bincount(groups))[groups])


def tied_kl(mu: ArrayLike, sigma: ArrayLike, groups: ArrayLike) -> float:
    """Return KL[q ‖ p] at the best shared priors: Σ_k ln(σ_p/σ_k), in nats.

    The quadratic part, ½ Σ (μ² + σ²)/σ_p² − ½, is 0 at the best σ_p of each group.

    Args:
        mu: Means of q ``[n_weights]``.
        sigma: Standard deviations of q ``[n_weights]``, > 0.
        groups: Number of the group of each weight ``[n_weights]``, from 0.

    Raises:
        ValueError: :func:`optimal_prior_std` refuses the values, or a σ is 0.
    """
    sigma = checks.finite("sigma", sigma)
    if not (sigma > 0).all():
        raise ValueError(f"sigma: expected numbers > 0, got a minimum of {sigma.min()}")
    return float(np.log(optimal_prior_std(mu, sigma, groups) / sigma).sum())


def weight_cost(gamma: Tensor) -> Tensor:
    """Return ½ Σ ln(1 + γ²) of a tensor; padding has γ = 0 and costs nothing."""
    return 0.5 * tf.reduce_sum(tf.math.log1p(gamma**2))


def group_cost(gamma: Tensor, std: Tensor, groups: Tensor) -> Tensor:
    """Return KL[q ‖ p] at the best shared priors: Σ_g ½ n_g ln(s_g) − Σ ln σ, in nats.

    s_g is the mean of μ² + σ² over the n_g weights of group g. ``groups`` [groups, n_weights] is 1
    where a weight belongs to a group; rows and columns of zeros cost nothing.
    """
    counts = tf.reduce_sum(groups, axis=1)  # [groups]
    counted = tf.reduce_sum(groups, axis=0) > 0  # [n_weights]
    moments = tf.linalg.matvec(groups, std**2 * (1.0 + gamma**2))  # [groups]
    means = tf.where(counts > 0, moments, 1.0) / tf.maximum(counts, 1.0)
    log_std = tf.math.log(tf.where(counted, std, 1.0))
    return 0.5 * tf.reduce_sum(counts * tf.math.log(means)) - tf.reduce_sum(log_std)


def _free_energy(
    network: MLP, likelihood: str, descent: Descent, theta: Tensor, block: Block, p: LoopInputs
) -> Costs:
    std = tf.nn.softplus(theta[1])
    gamma = theta[0] if descent.coordinates == "gamma" else theta[0] / std
    unit, groups = p.own  # [n_weights]; [layers, n_weights], 1 where a weight is in a group
    gamma, std = gamma * p.unit_mask, std * unit * p.unit_mask
    kl = weight_cost(gamma) if descent.own_priors else group_cost(gamma, std, groups)
    mu = gamma * std
    if descent.estimator == "quiet":
        moments = _rao_blackwell.output_moments(network, mu, std, block.zeta, block.x)
        given = (block.y, *moments, p.noise_std, block.row_weight)
        return _loop.costs(kl, likelihoods.expected_cost(likelihood, *given), block, p)
    if descent.estimator == "shared":
        f = network(mu + std * block.eps, block.x)
    else:
        f = local_reparam.forward(network, "local", mu, std, block.eps, block.zeta, block.x)
    nll = likelihoods.cost(likelihood, block.y, f, p.noise_std, block.row_weight)
    return _loop.costs(kl, nll, block, p)


_program = _loop.programs(_free_energy)


@taking(Settings)
def fit(x: ArrayLike, y: ArrayLike, settings: Settings) -> Fit:
    """Fit a Bayesian neural network together with the standard deviation of its prior."""
    offered = [name for name in _WIDTHS if name != "quiet" or settings.likelihood == "gaussian"]
    descent = Descent(
        checks.choice("estimator", settings.estimator, offered),
        checks.choice("coordinates", settings.coordinates, ("mu", "gamma")),
        settings.tie == "weight",
    )
    strength = checks.non_negative("initial_gamma", settings.initial_gamma)
    rho = checks.starting_rho("initial_rho", settings.initial_rho)

    def once(o: Settings) -> Fit:
        plan = _loop.lay_out(x, y, o, None, o.n_samples, descent.estimator == "shared")
        model = choose(plan.network, o.tie, o.biases, o.scale)
        rhos = np.full(len(plan.draw), rho)
        return _train(model, descent, plan, strength * plan.draw, rhos, o.cooldown)

    return optimise.best_start(once, settings, lambda fitted: fitted.free_energy)


def _train(
    model: Model, descent: Descent, plan: Plan, gamma: Array, rho: Array, cooldown: float
) -> Fit:
    """Train from the starting (γ, ρ), each ``[n_weights]``, and return the fit."""
    place = gamma if descent.coordinates == "gamma" else gamma * np.logaddexp(0.0, rho)
    n_layers = len(plan.network.shapes) // 2
    groups = (np.arange(n_layers)[:, None] == model.groups) * model.used
    plan = plan.given(
        unit_mask=plan.embed(1.0 * model.used),
        zeta=_loop.row_noise(plan, _WIDTHS[descent.estimator]),
        own=(plan.embed(model.unit), plan.embed(1.0 * groups)),
    )
    program = _program(plan.padded, plan.settings.likelihood, descent)
    starts = [plan.embed(place), plan.embed(rho)]
    moved, fields = plan.train(program, starts, cooldown, RECORD)
    posterior = _posterior(moved, model, descent)
    return Fit(**posterior, model=model, descent=descent, problem=plan.problem, **fields)


def _posterior(parameters: Sequence[Array], model: Model, descent: Descent) -> dict[str, Any]:
    """Return a fit's ``mean``, ``std``, ``gamma`` and ``prior_std``, from trained parameters."""
    place, rho = parameters
    std = np.logaddexp(0.0, rho)
    gamma = model.used * (place if descent.coordinates == "gamma" else place / std)
    std *= model.used * model.unit
    used, prior_std = model.used, np.zeros_like(std)
    prior_std[used] = optimal_prior_std((gamma * std)[used], std[used], model.groups[used])
    return {"mean": gamma * std, "std": std, "gamma": gamma, "prior_std": prior_std}


@one_line
@dataclass(frozen=True, kw_only=True)
class Fit(_mean_field.Fit):
    """A fitted posterior and its prior.

    Attributes:
        gamma: γ = μ/σ of each weight ``[n_weights]``, in the order of ``network``.
        prior_std: Learnt σ_p of each weight's prior ``[n_weights]``.
        model: The chosen model: which weights exist and which share a prior.
        descent: The gradient estimator, and the parameter that is trained beside ρ: μ or γ.
    """

    gamma: Array
    prior_std: Array
    model: Model
    descent: Descent = Descent("local", "mu")
    exact = False
    n_longer = 1 + len(_NEW_STARTS)
    tolerance = ARRIVED
    _new_starts = _NEW_STARTS
    _rates = {"gaussian": (0.1, 0.3), "bernoulli": (0.02, 0.08)}

    def _posterior_at(self, parameters: Sequence[Array]) -> dict[str, Any]:
        return _posterior(parameters, self.model, self.descent)

    @property
    def signal_to_noise(self) -> Array:
        """Return |γ| = |μ|/σ of each weight ``[n_weights]``, finite also where μ and σ are 0."""
        return np.abs(self.gamma)

    def _complexity(self, weights: Array) -> float:
        used = self.model.used
        return tied_kl(self.mean[used], self.std[used], self.model.groups[used])

    def _refit(self, steps: int, learning_rate: float, **start: Any) -> Self:
        """Return a fit (see ``VariationalFit._refit``); a new start has γ ~ N(0, start_scale²)."""
        same = {**self._same_problem, "seed": start.get("seed", self.problem.seed)}
        del same["prior"], same["kl_weight"]
        o = Training(steps=steps, learning_rate=learning_rate, **same)
        plan = _loop.lay_out(self.problem.x, self.problem.y, o)
        std = np.where(self.model.used, self.std / self.model.unit, 1.0)
        gamma, rho = self.gamma, _loop.inverse_softplus(std)
        if start:
            gamma = start["start_scale"] * plan.draw
            rho = np.full(len(gamma), start["initial_rho"])
        descent = self.descent._replace(estimator=_CALMEST[self.likelihood], coordinates="mu")
        return cast("Self", _train(self.model, descent, plan, gamma, rho, 1.0))

    def plug_in(self, x: ArrayLike) -> Predictive:
        """Return the prediction of the single network at the mean weights."""
        outputs = self.evaluate(self.mean[None], x)
        return likelihoods.predict(self.likelihood, outputs, self.noise_std)

    def pruning(self, threshold: float = 0.5) -> Pruning:
        """Return which weights have |γ| below ``threshold``: their draws are mostly noise."""
        used, layers = self.model.used, self.model.layers
        pruned = used & (np.abs(self.gamma) < checks.positive("threshold", threshold))
        shares = (np.bincount(layers, pruned) / np.bincount(layers, used)).tolist()
        return Pruning(pruned, float(pruned.sum() / used.sum()), tuple(shares))


@one_line
@dataclass(frozen=True)
class Pruning:
    """The weights that the learnt prior has switched off, and what share of all weights they are.

    Attributes:
        pruned: ``[n_weights]``: ``True`` where |γ| is below the threshold.
        fraction: Share of all weights that are pruned.
        by_layer: Share of each layer's weights that are pruned, from the input on.
    """

    pruned: Array
    fraction: float
    by_layer: tuple[float, ...]
