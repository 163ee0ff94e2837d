"""Laplace's approximation: a Gaussian round the most probable weights, from the curvature there.

At a mode w* of P(w | D), −log P(w | D) is replaced by a parabola:

    P(w | D) ≈ N(w*, Λ⁻¹),   Λ = Σ_i h_i g_i g_iᵀ + diag(δ),   g_i = ∂f(x_i)/∂w

with h = −∂² log P(y | f)/∂f²: 1/noise² for numbers, p (1 − p) for labels. Λ is the generalised
Gauss-Newton matrix: the Hessian without the curvature of f, so that it has no negative direction.

**The mode.** Adam ends some nats above a mode; from there ``fit`` uses Newton's method. At a mode
the kinks of some ReLUs lie on data points; there g_i is the slope of one side of the kink.

**The prior's δ** is 1/σ² for a Gaussian. For a scale mixture, whose curvature can be negative, each
weight has δ_j = E[1/σ² | w_j], the mean of 1/σ² over the two components that w_j may come from.

**Structures.** ``"full"``: Λ as it is. ``"diagonal"``: only its diagonal; this is the diagonal
Gaussian with the lowest KL[q ‖ N(w*, Λ⁻¹)]. ``"last_layer"``: all layers before the last are fixed
at the mode, and the posterior of the last layer is exact if noise and prior are Gaussian.

**Predictions.** By default (``linearised``) they are those of f(w*) + g·(w − w*), a model that is
linear in the weights: the mean is that of the mode, the epistemic variance gᵀ Λ⁻¹ g.

**A noise that is learnt** is one number: σ at the mode of P(w, σ | D), a density of σ, not log σ.
The Gaussian and the evidence are those for this σ.

**The evidence** of k weights is log P(D) ≈ log P(D | w*) + log P(w*) + ½ k log 2π − ½ log |Λ|.

Source: MacKay 1992, "A practical Bayesian framework for backpropagation networks"; Daxberger et al.
2021, "Laplace redux"; Immer et al. 2021a, "Improving predictions of Bayesian neural nets via local
linearization"; Immer et al. 2021b, "Scalable marginal likelihood estimation".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import svd
from scipy.optimize import minimize

from bdl_teach import likelihoods, optimise, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.one_line import one_line
from bdl_teach.densities import HALF_LOG_TWO_PI, Gaussian, Prior, as_prior
from bdl_teach.methods import _loop, _newton, point
from bdl_teach.methods._fitted import NetworkFit
from bdl_teach.methods._newton import Target
from bdl_teach.methods._settings import LearntNoise, Training, taking
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

STRUCTURES = ("full", "diagonal", "last_layer")
NEWTON_STEPS = 50  # for a last layer, at most; Gaussian noise and prior need one
ROUNDS = 8  # turns of weights and noise on the way to their mode
NIL = 1e-9  # nats: a smaller gain ends the search
SEARCH = 1e3  # factor up and down within which ``tuned`` searches prior and noise


@dataclass(frozen=True, kw_only=True)
class Settings(LearntNoise, Training):
    """Settings of Laplace's approximation, in addition to those of every method.

    Attributes:
        prior: Prior of each weight; ``Gaussian(1.0)`` if not given.
        structure: ``"full"``, ``"diagonal"`` or ``"last_layer"``.
        linearised: Whether to predict with the model that is linear in the weights.
        steps: Adam steps; Newton's method then continues to the mode.
        starts: Number of starting points of Adam; the one with the lowest last loss is kept.
    """

    prior: Prior | None = None
    structure: str = "full"
    linearised: bool = True
    starts: int = 1


@one_line
class Problem(NamedTuple):
    """The mode, the data and the structure of an approximation: all but its prior and noise."""

    mode: point.Fit
    x: Array  # [n, d]
    y: Array  # [n, 1]
    structure: str
    linearised: bool

    @property
    def n_layers(self) -> int | None:
        """Return how many of the last layers have a posterior, or ``None`` if all have one."""
        return 1 if self.structure == "last_layer" else None

    def target(self, prior: Prior, noise_std: float) -> Target:
        """Return P(w | D) for this prior and noise, as the ``Target`` of Newton's method."""
        mode = self.mode
        return Target(mode.network, self.x, self.y, prior, noise_std, mode.likelihood)


@one_line
class Spread(NamedTuple):
    """The Gaussian N(0, Λ⁻¹) of k weights, stored as a square root S of its covariance.

    S = diag(scale) (I − Vᵀ diag(shrinkage) V). ``scale`` holds the prior's standard deviations.
    Each row of V (``directions``, at most one for each data point) is a direction in which the data
    multiply the standard deviation by 1 − ``shrinkage``. If only the diagonal of Λ is used, V has
    no rows, and ``scale`` holds the posterior's standard deviations.
    """

    scale: Array  # [k]: δ^(−½), or with a diagonal Λ the square roots of the diagonal of Λ⁻¹
    directions: Array  # [r, k]: V, orthonormal rows in units of ``scale``
    shrinkage: Array  # [r]: share by which the data shrink the sd in each direction, in [0, 1)

    def narrowed(self, rows: Array) -> Array:
        """Return ``rows`` · (I − Vᵀ diag(shrinkage) V) ``[m, k]``, where V is ``directions``."""
        return np.asarray(rows - ((rows @ self.directions.T) * self.shrinkage) @ self.directions)

    def std(self, rows: Array) -> Array:
        """Return the standard deviations √(g · Λ⁻¹ g) ``[m]`` for the rows g of ``rows`` [m, k]."""
        return np.asarray(np.linalg.norm(self.narrowed(rows * self.scale), axis=1))

    def draw(self, n_samples: int, seed: int) -> Array:
        """Draw from N(0, Λ⁻¹): differences ``[s, k]`` of the weights from the mode."""
        zero, one = np.zeros_like(self.scale), np.ones_like(self.scale)
        return self.narrowed(predictive.draw_weights(zero, one, n_samples, seed)) * self.scale

    @property
    def cov(self) -> Array:
        """Return the covariance Λ⁻¹ ``[k, k]``."""
        root = self.narrowed(np.diag(self.scale))
        return np.asarray(root @ root.T)

    @property
    def log_det(self) -> float:
        """Return log |Λ| of the precision matrix Λ."""
        return float(-2.0 * (np.log(self.scale).sum() + np.log1p(-self.shrinkage).sum()))


def jacobian(
    network: MLP, weights: Array, x: Array, n_layers: int | None = None
) -> tuple[Array, Array]:
    """Return the outputs of a network and their derivatives by its weights, in float64.

    At the kink of a ReLU the derivative is that of the side where the unit is off.

    Args:
        network: A network with one output.
        weights: Its weights ``[n_weights]``.
        x: Inputs ``[n, d]``.
        n_layers: Differentiate by the weights of this many last layers; of all if ``None``.

    Returns:
        f ``[n]`` and ∂f/∂w ``[n, k]``, k the number of weights of those layers.
    """
    at = _newton.forward(network, weights, x)
    return at.f, at.jacobian(n_layers)


def to_mode(
    mode: point.Fit, x: ArrayLike, y: ArrayLike, *, prior: Prior | None = None
) -> point.Fit:
    """Go from a trained network to a nearby mode by Newton's method; if σ is learnt, by turns.

    Args:
        mode: A network fitted with this prior to these data.
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        prior: Prior of each weight; ``Gaussian(1.0)`` if not given.

    Returns:
        The network at the mode, which is also the last entry of its history and the last frame of
        its path. A network of more than 1000 weights keeps its weights.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    prior = as_prior("prior", Gaussian() if prior is None else prior)
    p = _problem(mode, x, y)
    noise, weights, noise_std = mode.noise_prior, mode.weights, mode.noise_std
    for turn in range(ROUNDS if noise else 1):
        if noise and turn:
            residuals = p.y[:, 0] - _newton.forward(mode.network, weights, p.x).f
            noise_std = noise.mode(residuals)
        target = p.target(prior, noise_std)
        weights = _newton.to_mode(target, weights)
    cost = target.cost(_newton.forward(mode.network, weights, p.x).f, weights)
    cost -= float(noise.log_prob(noise_std)) if noise else 0.0
    prior_cost = -np.sum(prior.log_prob(weights))
    last = [mode.history["step"][-1], cost, prior_cost, cost - prior_cost]
    history = {
        name: np.append(values[:-1], value)
        for (name, values), value in zip(mode.history.items(), last, strict=True)
    }
    path = mode.path
    if path is not None:
        records = np.vstack([path.records[:-1], last[1:]])
        frames = [np.vstack([path.parameters[0][:-1], weights])]
        if noise:
            frames.append(np.vstack([path.parameters[1][:-1], [[math.log(noise_std)]]]))
        path = optimise.Path(path.steps, records, frames)
    return replace(mode, weights=weights, noise_std=noise_std, history=history, path=path)


def _problem(
    mode: point.Fit, x: ArrayLike, y: ArrayLike, structure: str = "full", linearised: bool = True
) -> Problem:
    """Check that the data fit the network and that the structure exists; return a ``Problem``."""
    checks.choice("structure", structure, STRUCTURES)
    x, y = likelihoods.data(mode.likelihood, x, y)
    return Problem(mode, checks.inputs("x", x, mode.network.n_inputs), y, structure, linearised)


@taking(Settings, warns=True)
def fit(x: ArrayLike, y: ArrayLike, settings: Settings) -> Fit:
    """Find a mode of the posterior of the weights, and put a Gaussian there."""
    checks.choice("likelihood", settings.likelihood, likelihoods.LIKELIHOODS)
    chosen = dict(vars(settings))
    around_mode = {name: chosen.pop(name) for name in ("structure", "linearised")}
    checks.choice("structure", settings.structure, STRUCTURES)
    prior = as_prior("prior", Gaussian() if settings.prior is None else settings.prior)
    start = point.best(x, y, point.Settings(**{**chosen, "prior": prior}))
    mode = to_mode(start, x, y, prior=prior)
    return around(mode, x, y, prior=prior, **around_mode)


def around(
    mode: point.Fit,
    x: ArrayLike,
    y: ArrayLike,
    *,
    prior: Prior | None = None,
    structure: str = "full",
    linearised: bool = True,
) -> Fit:
    """Put a Gaussian round a trained network's weights, without moving them.

    Args:
        mode: A network fitted with this prior to these data; see :func:`to_mode`.
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        prior: Prior of each weight; ``Gaussian(1.0)`` if not given.
        structure: ``"full"``, ``"diagonal"`` or ``"last_layer"``.
        linearised: Whether to predict with the model that is linear in the weights.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    prior = as_prior("prior", Gaussian() if prior is None else prior)
    return _approximate(_problem(mode, x, y, structure, linearised), prior, mode.noise_std)


def _approximate(p: Problem, prior: Prior, noise_std: float) -> Fit:
    """Return the fit: the Gaussian at the mode under this prior and noise, and its log evidence."""
    mode, target, mean = p.mode, p.target(prior, noise_std), p.mode.weights.copy()
    f, rows = jacobian(mode.network, mean, p.x, p.n_layers)
    learnt = mean[len(mean) - rows.shape[1] :]  # a view of the weights with a posterior
    if p.structure == "last_layer":
        learnt[:] = _last_layer(target, rows, learnt)
        f = rows @ learnt
    spread = _spread(target, f, rows, learnt, p.structure == "diagonal")
    log_joint = -target.cost(f, learnt)
    return Fit(
        mean=mean,
        spread=spread,
        log_evidence=log_joint - 0.5 * spread.log_det + len(learnt) * HALF_LOG_TWO_PI,
        prior=prior,
        problem=p,
        history=mode.history,
        path=mode.path,
        network=mode.network,
        likelihood=mode.likelihood,
        noise_std=noise_std,
    )


def _spread(target: Target, f: Array, rows: Array, w: Array, diagonal: bool = False) -> Spread:
    """Return the Gaussian N(0, Λ⁻¹), with Λ computed at the weights w ``[k]``.

    f ``[n]`` are the outputs at w, ``rows`` [n, k] their derivatives ∂f/∂w. With ``diagonal`` the
    entries of Λ outside its diagonal count as 0.
    """
    _, h = target.by_output(f)
    delta = target.prior.precision(w)
    if diagonal:
        return Spread((h @ rows**2 + delta) ** -0.5, np.zeros((0, len(w))), np.zeros(0))
    scale = delta**-0.5
    _, s, directions = svd(np.sqrt(h)[:, None] * rows * scale, full_matrices=False)
    return Spread(scale, directions, 1.0 - 1.0 / np.sqrt(1.0 + s**2))


def _last_layer(target: Target, rows: Array, w: Array) -> Array:
    """Return a mode of the last layer's weights ``[k]``, by Newton's method from ``w``.

    For labels each step is multiplied by log(1 + r)/r, with r its largest change of a logit. It
    then does not overshoot, since a change of f by r changes the curvature of log P(y | f) by at
    most a factor e^r.

    Source: Bach 2010, "Self-concordant analysis for logistic regression".
    """
    for _ in range(NEWTON_STEPS):
        f = rows @ w
        slope, _ = target.by_output(f)
        gradient = slope @ rows - target.prior.precision(w) * w
        step = _spread(target, f, rows, w).cov @ gradient
        reach = np.abs(rows @ step).max()
        if target.likelihood == "bernoulli" and reach > 0.0:
            step *= math.log1p(reach) / reach
        w = w + step
        if gradient @ step < NIL:
            break
    return w


@one_line
@dataclass(frozen=True, kw_only=True)
class Fit(NetworkFit):
    """A Gaussian round the mode of a network's weights.

    Attributes:
        mean: The mode ``[n_weights]``, in the order of ``network``.
        spread: The covariance of the last k weights (all, or those of the last layer).
        log_evidence: Laplace's log P(D), in nats. With the structure ``"last_layer"`` it is that of
            a linear model of the last hidden layer's outputs.
        prior: Prior of each weight.
        problem: The mode, the data, the structure, and whether to predict ``linearised``.
        history: What ``point.fit`` recorded on its way to the mode; the last entry is the mode.
    """

    mean: Array
    spread: Spread
    log_evidence: float
    prior: Prior
    problem: Problem

    def _posterior_at(self, parameters: Sequence[Array]) -> dict[str, Any]:
        mode = replace(self.problem.mode, weights=parameters[0])
        noise_std = _loop.noise_of(*parameters[1:]).get("noise_std", self.noise_std)
        then = _approximate(self.problem._replace(mode=mode), self.prior, noise_std)
        names = ("mean", "spread", "log_evidence", "problem", "noise_std")
        return {name: getattr(then, name) for name in names}

    @property
    def newton_decrement(self) -> float:
        """Estimate by how many nats U = −log P(D, w) at ``mean`` exceeds its value at a mode.

        It is ½ ∂U · Λ⁻¹ ∂U at ``mean``. Where the kink of a ReLU lies on a data point, ∂U is
        taken with a slightly smoothed ReLU; it is between the slopes of the two sides.
        """
        target, size = self.problem.target(self.prior, self.noise_std), len(self.spread.scale)
        slope = _newton.gradient(target, self.mean, not self.problem.n_layers)[-size:]
        return float(0.5 * self.spread.std(slope[None])[0] ** 2)

    @property
    def cov(self) -> Array:
        """Return the covariance Λ⁻¹ ``[k, k]`` of the weights that have a posterior."""
        return self.spread.cov

    def with_prior(self, prior: Prior, noise_std: float | None = None) -> Fit:
        """Return the approximation at this mode under another prior and other noise.

        Nothing is trained: the weights stay where they are ("post hoc"). With the structure
        ``"last_layer"``, those of the last layer move to their new mode.

        Args:
            prior: Prior of each weight.
            noise_std: Standard deviation of the noise, > 0; unchanged if not given.

        Raises:
            ValueError: An argument is out of range.
        """
        noise = self.noise_std if noise_std is None else checks.positive("noise_std", noise_std)
        return _approximate(self.problem, as_prior("prior", prior), noise)

    def tuned(self) -> Fit:
        """Return the approximation at this mode under the prior and noise of highest evidence.

        The network is not trained again. MacKay's scheme alternates tuning and training.

        Raises:
            ValueError: The prior is no Gaussian, or the evidence still rises where the search ends.

        Source: MacKay 1992; Immer et al. 2021b, "post hoc".
        """
        if not isinstance(self.prior, Gaussian):
            raise ValueError(f"prior: expected a Gaussian for tuning, got {self.prior!r}")
        free = 1 if self.problem.mode.likelihood == "bernoulli" else 2  # labels have no noise
        centre = np.array([self.prior.sigma, self.noise_std])

        def at(log_factors: Array) -> Fit:
            sigma, noise = centre * np.exp(np.pad(log_factors, (0, 2 - free)))
            return self.with_prior(Gaussian(float(sigma)), float(noise))

        found = minimize(
            lambda factors: -at(factors).log_evidence,
            np.zeros(free),
            method="L-BFGS-B",
            bounds=[(-math.log(SEARCH), math.log(SEARCH))] * free,
        )
        best = at(found.x)
        for name, value, factor in zip(
            ("prior", "noise_std"), (best.prior, best.noise_std), found.x, strict=False
        ):
            if abs(factor) > math.log(SEARCH) - 1e-3:
                raise ValueError(
                    f"{name}: expected the evidence to have a maximum within a factor of "
                    f"{SEARCH:.0f} of this fit's {name}, but it still rises at {value}: "
                    "choose one yourself, and give it to with_prior"
                )
        return best

    def _draw(self, n_samples: int, seed: int) -> Array:
        """Draw weights ``[s, n_weights]``, equal to the mode in layers without a posterior."""
        steps = self.spread.draw(n_samples, seed)
        fixed = len(self.mean) - steps.shape[1]  # number of weights in the layers before
        return np.asarray(self.mean + np.pad(steps, ((0, 0), (fixed, 0))))

    def draw_linearised(self, x: ArrayLike, n_samples: int, seed: int = 1) -> Array:
        """Draw functions of the model linearised in the weights, f(x) + g(x)·(w − w*): ``[s, m]``.

        Args:
            x: Inputs ``[m, d]``.
            n_samples: Number of functions S, >= 1.
            seed: Seed of the draws.

        Raises:
            ValueError: x does not fit the network, ``n_samples`` < 1, or ``seed`` < 0.
        """
        f, rows = self._linear(x)
        n_samples, seed = checks.count("n_samples", n_samples), checks.count("seed", seed, 0)
        return np.asarray(f + self.spread.draw(n_samples, seed) @ rows.T)

    def _linear(self, x: ArrayLike) -> tuple[Array, Array]:
        """Return the outputs ``[m]`` at the mode, and their derivatives by weights ``[m, k]``."""
        x = checks.inputs("x", x, self.network.n_inputs)
        return jacobian(self.network, self.mean, x, self.problem.n_layers)

    def predict(self, x: ArrayLike, n_samples: int = 500, seed: int = 1) -> Predictive:
        """Return the predictive, which averages over the Gaussian of the weights.

        It is in closed form if the model is linearised and has Gaussian noise, else it uses draws.

        Args:
            x: Test inputs ``[m, d]``.
            n_samples: Number of draws S, >= 1; unused in closed form.
            seed: Seed of the draws.

        Returns:
            A ``Predictive``; its ``samples`` are ``None`` in closed form.

        Raises:
            ValueError: x does not fit the network, ``n_samples`` < 1, or ``seed`` < 0.
        """
        if not self.problem.linearised:
            return super().predict(x, n_samples, seed)
        if self.likelihood == "bernoulli":
            logits = self.draw_linearised(x, n_samples, seed)
            return likelihoods.predict(self.likelihood, logits, self.noise_std)
        f, rows = self._linear(x)
        checks.count("n_samples", n_samples)
        checks.count("seed", seed, 0)
        return Predictive(f, self.spread.std(rows), np.full(len(f), self.noise_std))
