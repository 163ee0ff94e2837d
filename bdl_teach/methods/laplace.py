"""Laplace's approximation: a Gaussian round the most probable weights, as wide as they are sharp.

At a mode w* of P(w | D), −log P(w | D) is taken for a parabola:

    P(w | D) ≈ N(w*, Λ⁻¹),   Λ = Σ_i h_i g_i g_iᵀ + diag(δ),   g_i = ∂f(x_i)/∂w

with h = −∂² log P(y | f)/∂f²: 1/noise² for numbers, p (1 − p) for labels. This is the generalised
Gauss-Newton matrix: of the Hessian it leaves out what bends in f, so that it has no negative
direction, and is exact for a linear model.

**The mode.** ``fit`` walks from where Adam ends to a mode by Newton's method (``to_mode``): 1500
steps of Adam are still some nats from one, and there the Gaussian is too wide in a gap. How far
from a mode it may be says ``Fit.newton_decrement``. At a mode the kinks of some ReLUs lie on data
points, where f bends: J has the slope of one side there, and a Gaussian can have no V.

**The prior's δ** is 1/σ² for a Gaussian. A scale mixture has no one curvature; between its scales
that is even negative. Each weight then has δ_j = E[1/σ² | w_j], the mean precision of the component
that it may have come from: what the true curvature leaves out, again, is the part that can be
negative, −w² Var[1/σ² | w]. It is an approximation more, and it sees one mode of very many.

**Structures.** ``"full"``: Λ as it is. ``"diagonal"``: only its diagonal, inverted entry by entry;
of all diagonal Gaussians the one with the lowest KL[q ‖ N(w*, Λ⁻¹)], and as every such one too
narrow for each weight by itself. And
``"last_layer"``: what stands before the last layer is frozen where the mode has it, and the last
layer's posterior is solved for itself; with Gaussian noise and a Gaussian prior that is exact,
chapter 1's regression on the network's last hidden layer as features.

**Predictions.** Λ belongs to the model that is linear in the weights, f(w*) + g·(w − w*), and there
its posterior is meant to be used (``linearised``, the default): the mean is that of the mode, the
variance gᵀ Λ⁻¹ g. To push the same draws of w through the network itself leaves the region where
the parabola holds.

**The evidence**, log P(D) ≈ log P(D | w*) + log P(w*) + ½ k log 2π − ½ log |Λ| of k weights, is
there to choose prior and noise by.

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
from bdl_teach.backend import tf
from bdl_teach.densities import HALF_LOG_TWO_PI, Gaussian, Prior, as_prior
from bdl_teach.methods import _newton, point
from bdl_teach.methods._fitted import NetworkFit
from bdl_teach.methods._newton import Target, prior_precision
from bdl_teach.methods._settings import Training, taking
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

STRUCTURES = ("full", "diagonal", "last_layer")
NEWTON_STEPS = 50  # of a last layer, at most; Gaussian noise and prior need one
NIL = 1e-9  # nats that are none
SEARCH = 1e3  # prior and noise of the highest evidence: sought up to so many times, or so few


@dataclass(frozen=True, kw_only=True)
class Settings(Training):
    """Settings of Laplace, beside those of every method.

    Attributes:
        prior: Prior of each weight; ``Gaussian(1.0)`` if not given.
        structure: ``"full"``, ``"diagonal"`` or ``"last_layer"``.
        linearised: Predict with the model that is linear in the weights; else push draws of the
            weights through the network.
        steps: Adam steps, from whose end Newton's method goes on to the mode.
        starts: Search the mode from so many starting points and keep the highest.
    """

    prior: Prior | None = None
    structure: str = "full"
    linearised: bool = True
    starts: int = 1


@one_line
class Problem(NamedTuple):
    """A mode, and the structure of its approximation: all but prior and noise."""

    mode: point.Fit
    x: Array  # [n, d]
    y: Array  # [n, 1]
    structure: str
    linearised: bool

    @property
    def n_layers(self) -> int | None:
        """Return the number of last layers that have a posterior; ``None`` for all."""
        return 1 if self.structure == "last_layer" else None

    def target(self, prior: Prior, noise_std: float) -> Target:
        """Return the posterior whose mode the weights are, under this prior and noise."""
        mode = self.mode
        return Target(mode.network, self.x, self.y, prior, noise_std, mode.likelihood)


@one_line
class Spread(NamedTuple):
    """N(0, Λ⁻¹) of k weights, kept as the prior's scales and what the data narrow.

    Λ^(−½) = diag(scale) (I − Vᵀ diag(told) V). With n points of data V has at most n rows, so that
    nothing here costs k³.
    """

    scale: Array  # [k]: δ^(−½), the standard deviations before the data
    directions: Array  # [r, k]: V, orthonormal rows in units of ``scale``
    told: Array  # [r]: share by which the data narrow each direction, in [0, 1)

    def narrowed(self, rows: Array) -> Array:
        """Multiply ``rows`` [m, k] by I − Vᵀ diag(told) V."""
        return np.asarray(rows - ((rows @ self.directions.T) * self.told) @ self.directions)

    def std(self, rows: Array) -> Array:
        """Return the standard deviation √(g · Λ⁻¹ g) of each row g of ``rows`` [m, k]: ``[m]``."""
        return np.asarray(np.linalg.norm(self.narrowed(rows * self.scale), axis=1))

    def draw(self, n_samples: int, seed: int) -> Array:
        """Draw weights ``[s, k]``."""
        zero, one = np.zeros_like(self.scale), np.ones_like(self.scale)
        return self.narrowed(predictive.draw_weights(zero, one, n_samples, seed)) * self.scale

    @property
    def cov(self) -> Array:
        """Return Λ⁻¹ ``[k, k]``."""
        root = self.narrowed(np.diag(self.scale))
        return np.asarray(root @ root.T)

    @property
    def log_det(self) -> float:
        """Return log |Λ|."""
        return float(-2.0 * (np.log(self.scale).sum() + np.log1p(-self.told).sum()))


def jacobian(
    network: MLP, weights: Array, x: Array, n_layers: int | None = None
) -> tuple[Array, Array]:
    """Return the outputs of a network, and their derivatives by its weights (backpropagation).

    They are float64, since the matrix J Jᵀ loses half of all digits. At a kink the derivative is
    that of the side where the unit is off.

    Args:
        network: A network with one output.
        weights: Its flat weights ``[n_weights]``.
        x: Inputs ``[n, d]``.
        n_layers: Differentiate by the last so many layers only.

    Returns:
        f ``[n]`` and ∂f/∂w ``[n, k]``, k the number of weights of those layers.
    """
    told = _newton.forward(network, weights, x)
    return told.f, told.jacobian(n_layers)


def to_mode(
    mode: point.Fit, x: ArrayLike, y: ArrayLike, *, prior: Prior | None = None
) -> point.Fit:
    """Go from a trained network to a mode nearby, by Newton's method.

    Args:
        mode: A network fitted with this prior to these data.
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        prior: Prior of each weight; ``Gaussian(1.0)`` if not given.

    Returns:
        The network there, which is the last entry of its history and the last frame of its path.
        A network of more than 1000 weights stays where it is: train it for longer.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    prior = as_prior("prior", Gaussian() if prior is None else prior)
    p = _problem(mode, x, y)
    weights = _newton.to_mode(p.target(prior, mode.noise_std), mode.weights)
    f, log_prior = jacobian(mode.network, weights, p.x)[0], np.sum(prior.log_prob(weights))
    joint = _log_joint(p, f, weights, prior, mode.noise_std)
    last = [mode.history["step"][-1], -joint, -log_prior, log_prior - joint]
    history = {
        name: np.append(values[:-1], value)
        for (name, values), value in zip(mode.history.items(), last, strict=True)
    }
    path = mode.path
    if path is not None:
        records = np.vstack([path.records[:-1], last[1:]])
        frames = np.vstack([path.parameters[0][:-1], weights])
        path = optimise.Path(path.steps, records, [frames])
    return replace(mode, weights=weights, history=history, path=path)


def _problem(
    mode: point.Fit, x: ArrayLike, y: ArrayLike, structure: str = "full", linearised: bool = True
) -> Problem:
    """Check that the data fit the network, and that the structure exists."""
    checks.choice("structure", structure, STRUCTURES)
    x, y = likelihoods.data(mode.likelihood, x, y)
    return Problem(mode, checks.inputs("x", x, mode.network.n_inputs), y, structure, linearised)


def _log_joint(p: Problem, f: Array, w: Array, prior: Prior, noise_std: float) -> float:
    """Return log P(D | f) + log P(w) of the k weights that have a posterior, in nats."""
    y, outputs, noise = (tf.constant(v, tf.float64) for v in (p.y, f[:, None], noise_std))
    cost = likelihoods.cost(p.mode.likelihood, y, outputs, noise)
    return float(np.sum(prior.log_prob(w)) - cost)


@taking(Settings)
def fit(x: ArrayLike, y: ArrayLike, settings: Settings) -> Fit:
    """Find a mode of the posterior of the weights, and put a Gaussian there."""
    chosen = dict(vars(settings))
    around_mode = {name: chosen.pop(name) for name in ("structure", "linearised")}
    checks.choice("structure", settings.structure, STRUCTURES)
    prior = as_prior("prior", Gaussian() if settings.prior is None else settings.prior)
    mode = to_mode(point.fit(x, y, **{**chosen, "prior": prior}), x, y, prior=prior)
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
    """Put a Gaussian round a network as it is: the last step of :func:`fit`.

    Args:
        mode: A network fitted with this prior to these data, with its noise and likelihood; see
            :func:`to_mode`.
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        prior: Prior of each weight; ``Gaussian(1.0)`` if not given.
        structure: As :func:`fit` takes it.
        linearised: As :func:`fit` takes it.

    Returns:
        A :class:`Fit`.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    prior = as_prior("prior", Gaussian() if prior is None else prior)
    return _approximate(_problem(mode, x, y, structure, linearised), prior, mode.noise_std)


def _approximate(p: Problem, prior: Prior, noise_std: float) -> Fit:
    """Compute the curvature at the mode, and the log evidence."""
    mean = p.mode.weights.copy()
    f, rows = jacobian(p.mode.network, mean, p.x, p.n_layers)
    learnt = mean[len(mean) - rows.shape[1] :]  # a view: those that have a posterior
    if p.structure == "last_layer":
        learnt[:] = _last_layer(p, rows, learnt, prior, noise_std)
        f = rows @ learnt
    spread = _spread(p, f, rows, learnt, prior, noise_std)
    log_evidence = _log_joint(p, f, learnt, prior, noise_std) - 0.5 * spread.log_det
    log_evidence += len(learnt) * HALF_LOG_TWO_PI
    way: dict[str, Any] = {"history": p.mode.history, "path": p.mode.path}
    way |= {"network": p.mode.network, "likelihood": p.mode.likelihood, "noise_std": noise_std}
    return Fit(mean=mean, spread=spread, log_evidence=log_evidence, prior=prior, problem=p, **way)


def _spread(p: Problem, f: Array, rows: Array, w: Array, prior: Prior, noise_std: float) -> Spread:
    """Return Λ⁻¹ at weights w ``[k]`` with outputs f ``[n]`` and derivatives ``[n, k]``."""
    _, h = p.target(prior, noise_std).by_output(f)
    delta = prior_precision(w, prior)
    if p.structure == "diagonal":
        return Spread((h @ rows**2 + delta) ** -0.5, np.zeros((0, len(w))), np.zeros(0))
    scale = delta**-0.5
    _, s, directions = svd(np.sqrt(h)[:, None] * rows * scale, full_matrices=False)
    return Spread(scale, directions, 1.0 - 1.0 / np.sqrt(1.0 + s**2))


def _last_layer(p: Problem, rows: Array, w: Array, prior: Prior, noise_std: float) -> Array:
    """Return the mode of the last layer's weights ``[k]``, by Newton's method.

    The output is linear in them, so that Λ is exact: with Gaussian noise and prior one step
    suffices. The curvature of a label's log probability changes by at most e^r where its logit
    moves by r; then log(1 + r)/r of a step never overshoots.

    Source: Bach 2010, "Self-concordant analysis for logistic regression", for what e^r leads to.
    """
    for _ in range(NEWTON_STEPS):
        f = rows @ w
        slope, _ = p.target(prior, noise_std).by_output(f)
        gradient = slope @ rows - prior_precision(w, prior) * w
        step = _spread(p, f, rows, w, prior, noise_std).cov @ gradient
        reach = np.abs(rows @ step).max()
        if p.mode.likelihood == "bernoulli" and reach > 0.0:
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
        mean: The mode ``[n_weights]``, in the order of ``network``; its last layer solved anew
            where that alone has a posterior.
        spread: The Gaussian round it, of the k weights with a posterior: the last ones of ``mean``.
        log_evidence: Laplace's log P(D), in nats, at a mode; of the last layer given its features,
            where that alone has a posterior.
        prior: Prior of each weight.
        problem: The mode, the data, and what was asked for.
        history: What ``point.fit`` recorded on its way to the mode, and of the mode itself.
    """

    mean: Array
    spread: Spread
    log_evidence: float
    prior: Prior
    problem: Problem

    def _posterior_at(self, parameters: Sequence[Array]) -> dict[str, Any]:
        """Return the Gaussian round the weights at a frame of the training, as if they were a mode.

        A posterior of the last layer alone is fitted to the features at that frame.
        """
        mode = replace(self.problem.mode, weights=parameters[0])
        then = _approximate(self.problem._replace(mode=mode), self.prior, self.noise_std)
        return {name: getattr(then, name) for name in ("mean", "spread", "log_evidence", "problem")}

    @property
    def newton_decrement(self) -> float:
        """Return ½ ∂U · Λ⁻¹ ∂U, the nats from ``mean`` down to the parabola's minimum: 0 at a mode.

        Where a kink lies on a data point, ∂U is the rounded network's average of both sides.
        """
        target, size = self.problem.target(self.prior, self.noise_std), len(self.spread.scale)
        tau = [] if self.problem.n_layers else _newton.least_rounding(target, self.mean)
        slope = _newton.gradient(target, self.mean, tau)[-size:]
        return float(0.5 * self.spread.std(slope[None])[0] ** 2)

    @property
    def cov(self) -> Array:
        """Return the covariance Λ⁻¹ ``[k, k]`` of the weights that have a posterior."""
        return self.spread.cov

    def with_prior(self, prior: Prior, noise_std: float | None = None) -> Fit:
        """Return the approximation of the same network under another prior and other noise.

        Nothing is trained: the mode stays where it was found ("post hoc"). Only if the last layer
        alone has a posterior is it solved again; with a Gaussian prior and noise, exactly.

        Args:
            prior: Prior of each weight.
            noise_std: Standard deviation of the noise, > 0; as it was, if not given.

        Raises:
            ValueError: An argument is out of range.
        """
        noise = self.noise_std if noise_std is None else checks.positive("noise_std", noise_std)
        return _approximate(self.problem, as_prior("prior", prior), noise)

    def tuned(self) -> Fit:
        """Return the same network under the Gaussian prior and the noise of highest evidence.

        A network that was trained under another prior is not at the mode under this one: to train
        again with ``.prior`` and ``.noise_std``, repeatedly, is MacKay's scheme.

        Raises:
            ValueError: The prior is no Gaussian, or the evidence still rises where the search
                ends: data without noise, which a network fits exactly, do not say how much.

        Source: MacKay 1992; Immer et al. 2021b, "post hoc".
        """
        if not isinstance(self.prior, Gaussian):
            raise ValueError(f"prior: expected a Gaussian to be tuned, got {self.prior!r}")
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
                    f"{name}: expected a highest evidence within a factor of {SEARCH:.0f} of where "
                    f"the search began, got one that still rises at {value}: the data do not say"
                )
        return best

    def _draw(self, n_samples: int, seed: int) -> Array:
        """Draw weights; layers without a posterior stay at the mode."""
        steps = self.spread.draw(n_samples, seed)
        fixed = len(self.mean) - steps.shape[1]  # weights of the layers before
        return np.asarray(self.mean + np.pad(steps, ((0, 0), (fixed, 0))))

    def draw_linearised(self, x: ArrayLike, n_samples: int, seed: int = 1) -> Array:
        """Draw functions of the model linearised in the weights, f(x) + g(x)·(w − w*): ``[s, m]``.

        Args:
            x: Inputs ``[m, d]``.
            n_samples: Number of functions S, >= 1.
            seed: Seed of the draws.

        Raises:
            ValueError: x does not fit the network, or a count is out of range.
        """
        f, rows = self._linear(x)
        n_samples, seed = checks.count("n_samples", n_samples), checks.count("seed", seed, 0)
        return np.asarray(f + self.spread.draw(n_samples, seed) @ rows.T)

    def _linear(self, x: ArrayLike) -> tuple[Array, Array]:
        """Return f ``[m]`` at the mode, and its derivatives by the weights ``[m, k]``."""
        x = checks.inputs("x", x, self.network.n_inputs)
        return jacobian(self.network, self.mean, x, self.problem.n_layers)

    def predict(self, x: ArrayLike, n_samples: int = 500, seed: int = 1) -> Predictive:
        """Average over the weights: in closed form if the model is linear and Gaussian.

        Args:
            x: Test inputs ``[m, d]``.
            n_samples: Number of draws S, >= 1, where there are draws.
            seed: Seed of the draws.

        Returns:
            A ``Predictive``, its ``samples`` ``None`` in closed form; of labels draws of the logits
            in a ``BernoulliPredictive``.

        Raises:
            ValueError: x does not fit the network, or a count is out of range.
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
