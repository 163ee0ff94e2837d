"""Low rank: a Gaussian over the weights whose covariance is a diagonal and a few columns.

q(w) = N(μ, D² + L Lᵀ) with D = diag(σ), σ = softplus(ρ), and L = D B of K columns:
w = μ + σ ⊙ (ε + B ζ) with ε ~ N(0, I_d), ζ ~ N(0, I_K). Rank 0 is mean field; K = d is any
Gaussian. B, and not L, is what is stepped in, so that a step is as large as the weight is unsure.
It minimises, over μ, ρ and B,

    F = −H[q] − E_q[log P(w)] − E_q[log P(D | w)],   H[q] = d/2 (1 + log 2π) + ½ log det(D² + L Lᵀ),
    log det(D² + L Lᵀ) = 2 Σ log σ + log det(I_K + Bᵀ B),

the last by the matrix determinant lemma: a determinant of size K, not d.

SWAG is the cheap cousin: no F is minimised. D and L are read off the path that an optimiser takes
round a mode, so that their scale is that of its steps.

Source: Ong, Nott & Smith 2018 (this q); Mishkin et al. 2018 and Tomczak et al. 2020 (on networks);
Maddox et al. 2019, section 3.2 and algorithm 1 (SWAG).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import likelihoods, optimise, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf
from bdl_teach.densities import HALF_LOG_TWO_PI, Prior, ScaleMixture, scale_mixture_log_prob
from bdl_teach.elbo import FreeEnergy
from bdl_teach.methods import _loop, _mean_field, point
from bdl_teach.methods._filmed import Filmed
from bdl_teach.methods._loop import STRIDE, Block, Capacity, LoopInputs, Plan, path_of
from bdl_teach.methods._mean_field import RECORDED, REMEDY, Problem, taking
from bdl_teach.methods._variational import Variational
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

_ROOMS = (8, 32, 128)  # columns to compile for; more than the last are rounded up to its multiples
# Size of a step of B, times √(K d), in those of μ and ρ. All weights move along a column at once:
# with steps as long as those of μ, a network of rank 5 ends 100 nats higher than mean field does.
_PACE = 2.0
_START = 0.5  # size of the first B, in such steps
_LONGER = 3000  # steps of a longer run
_RATE = 0.1  # their learning rate
_AFRESH = ((1.0, -5.0), (None, -2.0))  # their new starts: the scale of the means, ρ
_STEPS_A_DRAW = 10  # SWAG: steps between two weights of the path
_N_PATH = 100  # SWAG: weights of the path


@dataclass(frozen=True, kw_only=True)
class Settings(_mean_field.Settings):
    """What low rank takes besides.

    Attributes:
        rank: Number K of columns, from 0 (mean field) to the number of weights.
        columns: Start from this L ``[n_weights, rank]``; small random columns if not given.
    """

    rank: int = 5
    columns: ArrayLike | None = None


class _Inputs(NamedTuple):
    """What one run of the compiled loop is told, all of it tensors."""

    common: LoopInputs
    zeta: Tensor  # [table, room]: draw s of step t is row (t + 97 s) mod table
    pace: Tensor  # [room]: what a step of B is multiplied by in each of K columns, 0 for padding


def _log_det(b: Tensor) -> Tensor:
    """Log det(I + Bᵀ B) of B ``[n_weights, room]``."""
    inner = tf.matmul(b, b, transpose_a=True) + tf.eye(b.shape[1])
    return 2.0 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(tf.linalg.cholesky(inner))))


def _free_energy(
    network: MLP, kind: str, theta: Tensor, block: Block, zeta: Tensor, p: _Inputs
) -> tuple[Tensor, Tensor]:
    """Return one block's share of the free energy of a step, and of what is recorded of it."""
    mu, rho, b = theta[0], theta[1], theta[2] * p.pace
    std, common = tf.nn.softplus(rho), p.common
    w = mu + std * (block.eps + tf.linalg.matvec(b, zeta))
    log_prior = scale_mixture_log_prob(w, common.prior[0], common.prior[1], common.prior[2])
    each = -tf.math.log(std) - HALF_LOG_TWO_PI - 0.5 - log_prior
    complexity = tf.reduce_sum(each * common.unit_mask) - 0.5 * _log_det(b)
    f = network(w, block.x)
    likelihood = likelihoods.cost(kind, block.y, f, common.noise_std, block.row_weight)
    return _loop.costs(complexity, likelihood, block, common)


@lru_cache(maxsize=32)
def _program(network: MLP, likelihood: str = "gaussian") -> Compiled:
    """Compile the loop for one network; the shape of L compiles it again, its rank never."""

    def loop(
        theta: list[Tensor], schedule: optimise.Schedule, n_blocks: Tensor, inputs: _Inputs
    ) -> Tensor:
        def objective(theta: Tensor, step: Tensor, i: Tensor) -> tuple[Tensor, Tensor]:
            block = _loop.make_block(step, i, inputs.common)
            row = step + STRIDE * (i // inputs.common.n_chunks)
            zeta = tf.gather(inputs.zeta, row % inputs.zeta.shape[0])
            return _free_energy(network, likelihood, theta, block, zeta, inputs)

        return optimise.adam(objective, theta, schedule, n_blocks=n_blocks, keep_path=True)

    return Compiled(loop)


@lru_cache(maxsize=32)
def _path_program(network: MLP, likelihood: str = "gaussian") -> Compiled:
    """Compile Adam on U = −log P(D | w) − log P(w), which records the weights on its way."""

    def run(start: Tensor, schedule: optimise.Schedule, inputs: LoopInputs) -> Tensor:
        def objective(theta: Tensor, step: Tensor, _block: Tensor) -> tuple[Tensor, Tensor]:
            (w,), p = theta, inputs
            block = _loop.make_block(step, tf.constant(0), p)
            log_prior = scale_mixture_log_prob(w, p.prior[0], p.prior[1], p.prior[2])
            prior_cost = -tf.reduce_sum(log_prior) * block.kl_share
            f = network(w, block.x)
            cost = likelihoods.cost(likelihood, block.y, f, p.noise_std, block.row_weight)
            return prior_cost + cost, w

        return optimise.adam(objective, [start], schedule, n_records=_N_PATH)

    return Compiled(run)


@taking(Settings)
def fit(x: ArrayLike, y: ArrayLike, settings: Settings) -> Fit:
    """Fit a Gaussian of low rank by gradient descent on the free energy, as ``bbb.fit`` does.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``: numbers, or labels 0 and 1.
        settings: Each by its name.

    Returns:
        A :class:`Fit`.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
        DivergedError: The free energy left the finite numbers, from every start.
    """
    x, y = likelihoods.data(settings.likelihood, x, y)
    return optimise.best_of(
        lambda seed: _fit_once(x, y, replace(settings, seed=seed)),
        optimise.start_seeds(settings.seed, settings.starts),
        lambda fitted: fitted.free_energy,
    )


def _fit_once(x: Array, y: Array, o: Settings) -> Fit:
    plan, common, problem = _mean_field.prepare(x, y, o)
    d, rank = plan.network.n_weights, _rank(o.rank, plan.network)
    mu, rho = _mean_field.start(o, plan, problem.prior)
    pace = _pace(d, rank)
    room = np.where(np.arange(_room(rank)) < rank, pace, 0.0)
    inputs = _Inputs(common, _zeta(plan.n_rows, _room(rank), plan.seed), as_float(room))
    b = _embed(_columns(plan, rank), plan)
    if o.columns is not None:
        b = _embed(_given(o.columns, (d, rank)), plan) / (pace * tf.nn.softplus(rho)[:, None])
    schedule = optimise.schedule(o.steps, o.learning_rate, o.cooldown)
    trace = _program(plan.padded, o.likelihood)([mu, rho, b], schedule, plan.n_blocks, inputs)
    history = optimise.history(trace, RECORDED, REMEDY)
    used = plan.network.positions_in(plan.padded)
    return Fit(
        **_posterior((p.numpy()[used] for p in trace.parameters), rank),
        network=plan.network,
        noise_std=float(o.noise_std),
        history=history,
        capacity=plan.capacity,
        problem=problem,
        path=path_of(trace, used),
    )


def _pace(d: int, rank: int) -> float:
    """What a step of B is multiplied by."""
    return float(_PACE / (max(rank, 1) * d) ** 0.5)


def _posterior(parameters: Iterable[Array], rank: int) -> dict[str, Array]:
    """μ, σ ``[d]`` and L ``[d, K]`` of (μ, ρ, B), of float32 and with room for more columns."""
    mean, rho, b = (p.astype(np.float64) for p in parameters)
    own_std = np.logaddexp(0.0, rho)
    columns = _pace(len(mean), rank) * own_std[:, None] * b[:, :rank]
    return {"mean": mean, "own_std": own_std, "columns": columns}


def _rank(rank: int, network: MLP) -> int:
    rank = checks.count("rank", rank, 0)
    if rank > network.n_weights:
        most = f"at most one column a weight ({network.n_weights})"
        raise ValueError(f"rank: expected {most}, got {rank}")
    return rank


def _room(rank: int) -> int:
    """Columns to compile for, so that a slider of the rank compiles at a few places only."""
    return next((room for room in _ROOMS if room >= rank), -(-rank // _ROOMS[-1]) * _ROOMS[-1])


@lru_cache(maxsize=4)
def _zeta(n_rows: int, room: int, seed: int) -> Tensor:
    """The table of ζ ``[n_rows, room]``; drawn column by column, so that a rank keeps its noise."""
    rng = np.random.default_rng([seed, 0x2E7A])
    return tf.constant(rng.standard_normal((room, n_rows), np.float32).T)


def _columns(plan: Plan, rank: int) -> Array:
    """Small random columns of B ``[n_weights, room]``: at 0 their slope is 0."""
    rng = np.random.default_rng([plan.seed, 0xC01])
    out = np.zeros((plan.network.n_weights, _room(rank)))
    out[:, :rank] = _START * rng.standard_normal((rank, len(out))).T
    return out


def _given(columns: ArrayLike, shape: tuple[int, int]) -> Array:
    """The columns that a user starts from, with room."""
    values = checks.finite("columns", columns)
    if values.shape != shape:
        raise ValueError(f"columns: expected {shape}, got {values.shape}")
    return np.pad(values, ((0, 0), (0, _room(shape[1]) - shape[1])))


def _embed(columns: Array, plan: Plan) -> Tensor:
    """Place the rows of ``columns`` [n_weights, room] among the padding."""
    return tf.transpose(plan.embed(columns.T))


def swag(
    x: ArrayLike,
    y: ArrayLike,
    *,
    prior: Prior | None = None,
    likelihood: str = "gaussian",
    noise_std: float = 1.0,
    hidden_units: tuple[int, ...] = (20, 20),
    rank: int = 20,
    steps: int = 1500,
    learning_rate: float = 0.05,
    n_batches: int | None = None,
    seed: int = 0,
    capacity: Capacity | None = None,
) -> Fit:
    """Read a Gaussian of low rank off an optimiser's path round a mode (SWAG).

    A MAP fit, then 1000 Adam steps on minibatches at a constant rate: the mean of a hundred
    weights on the way, half their variances as D², and half of what their last ``rank`` deviations
    from the mean so far span as L Lᵀ. Without minibatches a path is narrower and
    narrower: it comes to rest.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``: numbers, or labels 0 and 1.
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given.
        likelihood: ``"gaussian"``, or ``"bernoulli"`` for labels 0 and 1.
        noise_std: Standard deviation of the noise on y, in the units of y, > 0.
        hidden_units: Width of each hidden ReLU layer; () is a linear model.
        rank: Number K of columns, 0 or 2 to 100.
        steps: Adam steps to the mode.
        learning_rate: Step size of the path, > 0: with it grows the posterior that is read off.
        n_batches: Minibatches M an epoch; step t sees the points i with i ≡ t (mod M), so
            that rows in an order of their own, such as labels 0, 1, 0, 1, are to be shuffled
            first. 8 if not given, or one a data point where these are fewer.
        seed: Seed of the start.
        capacity: Compile the path for these sizes instead of exactly this problem's.

    Returns:
        A :class:`Fit`; its history is that of the mode.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
        DivergedError: The path left the finite numbers.
    """
    x, y = likelihoods.data(likelihood, x, y)
    prior = ScaleMixture() if prior is None else prior
    n_path = _N_PATH * _STEPS_A_DRAW
    shared: dict[str, Any] = {
        "prior": prior, "likelihood": likelihood, "noise_std": noise_std,
        "hidden_units": hidden_units, "seed": seed,
    }  # fmt: skip
    batches = min(8, len(x)) if n_batches is None else n_batches
    o = Settings(**shared, n_batches=batches, steps=n_path, capacity=capacity)
    plan, inputs, problem = _mean_field.prepare(x, y, o)
    rank = _rank_of_path(rank)
    schedule = optimise.schedule(n_path, learning_rate, 0.0)
    mode = point.fit(x, y, **shared, steps=steps)
    trace = _path_program(plan.padded, likelihood)(plan.embed(mode.weights), schedule, inputs)
    optimise.history(trace, [str(j) for j in range(plan.padded.n_weights)], REMEDY)  # finite?
    path = trace.records.numpy()[:, plan.network.positions_in(plan.padded)].astype(np.float64)
    mean, own_std, columns = _moments(path, rank)
    network, noise_std, history = plan.network, mode.noise_std, mode.history
    return Fit(mean, own_std, columns, network, noise_std, history, plan.capacity, problem)


def _rank_of_path(rank: int) -> int:
    rank = checks.count("rank", rank, 0)
    if rank == 1 or rank > _N_PATH:
        raise ValueError(f"rank: expected 0 or a number from 2 to {_N_PATH}, got {rank}")
    return rank


def _moments(path: Array, rank: int) -> tuple[Array, Array, Array]:
    """μ, σ ``[d]`` and L ``[d, K]`` of weights along a path ``[r, d]``: Maddox et al., eq. 1.

    With K = 0 the diagonal is the whole variance (their SWAG-Diagonal).
    """
    so_far = np.cumsum(path, axis=0) / np.arange(1, len(path) + 1)[:, None]
    deviations = (path - so_far)[len(path) - rank :].T
    share = 0.5 if rank else 1.0
    tiny = 1e-6 * (1.0 + np.abs(path[-1]))  # a dead unit's weights stand still
    own_std = np.maximum(np.sqrt(share) * path.std(axis=0), tiny)
    return path.mean(axis=0), own_std, deviations * np.sqrt(share / max(rank - 1, 1))


@one_line
@dataclass(frozen=True)
class Fit(Filmed, Variational):
    """A Gaussian with covariance D² + L Lᵀ.

    Attributes:
        mean: μ of each weight ``[n_weights]``, in the order of ``network``.
        own_std: σ, the diagonal of D ``[n_weights]``: what each weight has apart from L.
        columns: L ``[n_weights, rank]``.
        network: The network that the weights belong to.
        noise_std: Standard deviation of the observation noise.
        history: ``step``, ``free_energy``, ``complexity_cost`` and ``likelihood_cost`` in nats;
            of SWAG that of the mode, see ``point.Fit``.
        capacity: Sizes that it was compiled for.
        problem: The data and the prior that it was fitted to.
        path: The way of the training, for :meth:`at`; ``None`` of SWAG, and of many weights.
    """

    mean: Array
    own_std: Array
    columns: Array
    network: MLP
    noise_std: float
    history: dict[str, Array]
    capacity: Capacity
    problem: Problem
    path: optimise.Path | None = field(default=None, repr=False)

    n_longer = 1 + len(_AFRESH)

    def _posterior_at(self, parameters: Sequence[Array]) -> dict[str, Any]:
        return _posterior(parameters, self.columns.shape[1])

    @property
    def likelihood(self) -> str:
        """``"gaussian"``, or ``"bernoulli"`` for labels: then the outputs are logits."""
        return self.problem.likelihood

    @property
    def std(self) -> Array:
        """Standard deviation of each weight ``[n_weights]``, the others averaged over."""
        return np.asarray(np.sqrt(self.own_std**2 + (self.columns**2).sum(axis=1)))

    @property
    def cov(self) -> Array:
        """D² + L Lᵀ ``[n_weights, n_weights]``."""
        return np.asarray(np.diag(self.own_std**2) + self.columns @ self.columns.T)

    @property
    def entropy(self) -> float:
        """H[q] in nats, by the matrix determinant lemma."""
        scaled = self.columns / self.own_std[:, None]
        _, log_det = np.linalg.slogdet(np.eye(scaled.shape[1]) + scaled.T @ scaled)
        each = np.log(self.own_std) + HALF_LOG_TWO_PI + 0.5
        return float(each.sum() + 0.5 * log_det)

    def draw(self, n_samples: int, seed: int = 1) -> Array:
        """Draw weight vectors ``[s, n_weights]``.

        Raises:
            ValueError: A count is out of range.
        """
        n_samples, seed = checks.count("n_samples", n_samples), checks.count("seed", seed, 0)
        own = predictive.draw_weights(self.mean, self.own_std, n_samples, seed)
        rng = np.random.default_rng([seed, 0x2E7A])
        return own + rng.standard_normal((n_samples, self.columns.shape[1])) @ self.columns.T

    def cost(self, n_draws: int = 1000, seed: int = 1) -> FreeEnergy:
        """Average both parts of F over fresh draws of the weights, on all data points.

        Args:
            n_draws: Number of draws, >= 1.
            seed: Seed of the draws.

        Raises:
            ValueError: A count is out of range.
        """
        weights = self.draw(checks.count("n_draws", n_draws), seed)
        f = self.evaluate(weights, self.problem.x)[..., None]  # [s, n, 1]
        log_prior = np.asarray(self.problem.prior.log_prob(as_float(weights))).sum(axis=-1)
        y, noise_std = as_float(self.problem.y), as_float(self.noise_std)
        nll = likelihoods.cost(self.likelihood, y, as_float(f), noise_std)
        complexity = -self.entropy - float(log_prior.mean())
        return FreeEnergy(complexity, float(tf.reduce_mean(nll)), self.problem.kl_weight)

    def refined(self, steps: int = 1500, learning_rate: float = 0.02) -> Fit:
        """Train on from here, on the whole data.

        Args:
            steps: Adam steps, at a rate that falls linearly to 0.
            learning_rate: Adam step size at first, > 0.

        Returns:
            The posterior that it comes to.

        Raises:
            ValueError: An argument is out of range.
            DivergedError: The free energy left the finite numbers.
        """
        here: dict[str, Any] = {"initial": (self.mean, self.own_std), "columns": self.columns}
        return self._again(steps, learning_rate, **here)

    def longer(self, k: int) -> Fit:
        """The k-th of the longer runs that ``converged`` asks: 0 trains on, the others start.

        Raises:
            DivergedError: The free energy left the finite numbers.
        """
        if k == 0:
            return self.refined(_LONGER)
        seed = optimise.start_seeds(self.problem.seed, self.n_longer)[k]
        scale, rho = _AFRESH[k - 1]
        return self._again(_LONGER, _RATE, start_scale=scale, initial_rho=rho, seed=seed)

    @property
    def tolerance(self) -> float:
        """20 nats by which longer runs may be below a fit that is called converged."""
        return _mean_field.ARRIVED

    def _again(self, steps: int, learning_rate: float, **changes: Any) -> Fit:
        """Fit the same problem, on the whole data."""
        given: dict[str, Any] = {
            "prior": self.problem.prior,
            "likelihood": self.likelihood,
            "noise_std": self.noise_std,
            "hidden_units": self.network.hidden_units,
            "kl_weight": self.problem.kl_weight,
            "capacity": self.capacity,
            "seed": self.problem.seed,
            "rank": self.columns.shape[1],
            **changes,
        }
        x, y = self.problem.x, self.problem.y
        return fit(x, y, steps=steps, learning_rate=learning_rate, **given)

    def predict(self, x: ArrayLike, n_samples: int = 500, seed: int = 1) -> Predictive:
        """Average networks drawn from the posterior; see ``catalogue.Fitted``."""
        f = self.evaluate(self.draw(n_samples, seed), x)
        return likelihoods.predict(self.likelihood, f, self.noise_std)

    def evaluate(self, weights: ArrayLike, x: ArrayLike) -> Array:
        """Evaluate the network at weights of your own ``[s, n_weights]``: ``[s, m]``.

        Raises:
            ValueError: The shapes do not fit the network.
        """
        return _mean_field.evaluate(self.network, self.capacity, weights, x)
