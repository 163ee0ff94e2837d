"""Low rank: a Gaussian over the weights whose covariance is a diagonal plus a few columns.

q(w) = N(μ, D² + L Lᵀ) with D = diag(σ), σ = softplus(ρ), and L = D B, which has K columns:
w = μ + σ ⊙ (ε + B ζ) with ε ~ N(0, I_d), ζ ~ N(0, I_K). Rank K = 0 is mean field; K = d allows
any covariance. The fit minimises, over μ, ρ and B,

    F = −H[q] − E_q[log P(w)] − E_q[log P(D | w)],   H[q] = d/2 (1 + log 2π) + ½ log det(D² + L Lᵀ),
    log det(D² + L Lᵀ) = 2 Σ log σ + log det(I_K + Bᵀ B)   (matrix determinant lemma).

SWAG is cheaper: it minimises no F, but computes D and L from an optimiser's path round a mode.

Source: Ong, Nott & Smith 2018 (this q); Mishkin et al. 2018 and Tomczak et al. 2020 (on networks);
Maddox et al. 2019, section 3.2 and algorithm 1 (SWAG).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import likelihoods, optimise, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf
from bdl_teach.densities import HALF_LOG_TWO_PI, Prior, scale_mixture_log_prob
from bdl_teach.methods import _loop, _mean_field, point
from bdl_teach.methods._fitted import VariationalFit
from bdl_teach.methods._loop import Block, Costs, LoopInputs, Plan
from bdl_teach.methods._mean_field import RECORD, REMEDY
from bdl_teach.methods._settings import Common, Training, taking
from bdl_teach.mlp import MLP

_RANKS = (8, 32, 128)  # padded ranks to compile for; beyond 128 its multiples
# Size of a step of B times √(K d), relative to a step of μ. A column moves all weights at once:
# with steps of B as long as those of μ, a fit of rank 5 ends 100 nats above mean field.
_PACE = 2.0
_START = 0.5  # size of the first B, in steps of B
_NEW_STARTS = ((1.0, -5.0), (None, -2.0))  # new starts of longer runs: (scale of the means, ρ)
_STEPS_A_DRAW = 10  # SWAG: steps between two weight vectors of the path
_BATCHES = 8  # SWAG: minibatches in an epoch, at most
_N_PATH = 100  # SWAG: weight vectors of the path


@dataclass(frozen=True, kw_only=True)
class Settings(_mean_field.Settings):
    """Settings of the low-rank method, in addition to those of ``bbb.fit``.

    Attributes:
        rank: Number K of columns, from 0 (mean field) to the number of weights.
        columns: Start from this L ``[n_weights, rank]``; small random columns if not given.
    """

    rank: int = 5
    columns: ArrayLike | None = None


@dataclass(frozen=True, kw_only=True)
class SwagSettings(Training):
    """Settings of SWAG, in addition to those of every method.

    Attributes:
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given.
        rank: Number K of columns, 0 or 2 to 100.
        steps: Adam steps to the mode.
        learning_rate: Step size on the path, > 0; a larger one gives a wider posterior.
    """

    prior: Prior | None = None
    rank: int = 20
    learning_rate: float = 0.05


def _log_det(b: Tensor) -> Tensor:
    """Return log det(I + Bᵀ B) for B ``[n_weights, columns]``; columns of zeros add nothing."""
    inner = tf.matmul(b, b, transpose_a=True) + tf.eye(b.shape[1])
    return 2.0 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(tf.linalg.cholesky(inner))))


def _free_energy(network: MLP, kind: str, theta: Tensor, block: Block, p: LoopInputs) -> Costs:
    table, pace = p.own  # ζ [table, padded rank]; factor on each column of B, 0 for padding
    mu, rho, b = theta[0], theta[1], theta[2] * pace
    std, zeta = tf.nn.softplus(rho), tf.gather(table, block.row % table.shape[0])
    w = mu + std * (block.eps + tf.linalg.matvec(b, zeta))
    log_prior = scale_mixture_log_prob(w, *tf.unstack(p.prior))
    each = -tf.math.log(std) - HALF_LOG_TWO_PI - 0.5 - log_prior
    complexity = tf.reduce_sum(each * p.unit_mask) - 0.5 * _log_det(b)
    likelihood = likelihoods.cost(kind, block.y, network(w, block.x), p.noise_std, block.row_weight)
    return _loop.costs(complexity, likelihood, block, p)


_program = _loop.programs(_free_energy)  # a new number of padded columns compiles it again


def _potential(network: MLP, kind: str, theta: Tensor, block: Block, p: LoopInputs) -> Costs:
    """Return a minibatch's part of U = −log P(D | w) − log P(w), and the weights w to record."""
    (w,) = theta
    log_prior = scale_mixture_log_prob(w, *tf.unstack(p.prior))
    prior_cost = -tf.reduce_sum(log_prior) * block.kl_share
    f = network(w, block.x)
    return prior_cost + likelihoods.cost(kind, block.y, f, p.noise_std, block.row_weight), w


_path_program = _loop.programs(_potential)


@taking(Settings)
def fit(x: ArrayLike, y: ArrayLike, settings: Settings) -> Fit:
    """Fit a Gaussian of low rank by gradient descent on the free energy, as ``bbb.fit`` does."""

    def once(o: Settings) -> Fit:
        plan, rank = _mean_field.prepare(x, y, o), checks.count("rank", o.rank, 0)
        d = plan.network.n_weights
        if rank > d:
            raise ValueError(f"rank: expected at most {d}, the number of weights, got {rank}")
        mu, rho = _mean_field.start(o, plan)
        pace, padded_rank = _pace(d, rank), _padded_rank(rank)
        paces = as_float(np.where(np.arange(padded_rank) < rank, pace, 0.0))
        own = _zeta(plan.n_rows, padded_rank, plan.problem.seed), paces
        b = _first_columns(plan, rank, o.columns)
        if o.columns is not None:
            b /= pace * tf.nn.softplus(rho)[:, None]
        program, plan = _program(plan.padded, o.likelihood), plan.given(own=own)
        moved, fitted = plan.train(program, [mu, rho, b], o.cooldown, RECORD)
        return Fit(**_posterior(moved, rank), problem=plan.problem, **fitted)

    return optimise.best_start(once, settings, lambda fitted: fitted.free_energy)


def _pace(d: int, rank: int) -> float:
    """Return c of B = c b, for ``d`` weights; Adam trains b, and c sets the length of B's steps."""
    return float(_PACE / (max(rank, 1) * d) ** 0.5)


def _posterior(parameters: Sequence[Array], rank: int) -> dict[str, Any]:
    """Return the fields ``mean``, ``own_std`` and ``columns`` of a fit, as a dict.

    ``parameters`` are the trained μ, ρ and b (see :func:`_pace`); further columns of b are padding.
    """
    mean, rho, b = parameters
    own_std = np.logaddexp(0.0, rho)
    columns = _pace(len(mean), rank) * own_std[:, None] * b[:, :rank]
    return {"mean": mean, "own_std": own_std, "columns": columns}


def _padded_rank(rank: int) -> int:
    """Return ``rank`` rounded up to one of few numbers, so that few programs are compiled."""
    return next((k for k in _RANKS if k >= rank), -(-rank // _RANKS[-1]) * _RANKS[-1])


@lru_cache(maxsize=4)
def _zeta(n_rows: int, padded_rank: int, seed: int) -> Tensor:
    """Draw ζ ``[n_rows, padded_rank]``; a higher rank does not change the first columns."""
    rng = np.random.default_rng([seed, 0x2E7A])
    return tf.constant(rng.standard_normal((padded_rank, n_rows), np.float32).T)


def _first_columns(plan: Plan, rank: int, given: ArrayLike | None) -> Tensor:
    """Return the ``given`` L ``[n_weights, rank]``, or a random start of b if it is ``None``.

    Either is padded with zeros. b (see :func:`_pace`) does not start from 0, where ∂F/∂b = 0.
    """
    shape = plan.network.n_weights, rank
    if given is None:
        rng = np.random.default_rng([plan.problem.seed, 0xC01])
        values = _START * rng.standard_normal(shape[::-1]).T
    else:
        values = checks.finite("columns", given)
        if values.shape != shape:
            raise ValueError(f"columns: expected shape {shape}, got {values.shape}")
    padded = np.pad(values, ((0, 0), (0, _padded_rank(rank) - rank)))
    return tf.transpose(plan.embed(padded.T))


@taking(SwagSettings)
def swag(x: ArrayLike, y: ArrayLike, settings: SwagSettings) -> Fit:
    """Fit a Gaussian of low rank to an optimiser's path round a mode (SWAG).

    After a MAP fit, 1000 Adam steps on minibatches at a constant rate yield a hundred weight
    vectors. q = N(mean, D² + L Lᵀ) has their mean; D² is half their variances, and L Lᵀ half the
    covariance of the last ``rank`` deviations from the running mean. With rank 0, D² is their whole
    variances. Without minibatches the path would come to rest: step t sees the points i with
    i ≡ t (mod M), M = 8 or n. ``history`` is that of the MAP fit.
    """
    o, rank = settings, checks.count("rank", settings.rank, 0)
    if rank == 1 or rank > _N_PATH:
        raise ValueError(f"rank: expected 0 or a number from 2 to {_N_PATH}, got {rank}")
    x, y = likelihoods.data(o.likelihood, x, y)
    on_path = {"n_batches": min(_BATCHES, len(x)), "steps": _N_PATH * _STEPS_A_DRAW}
    plan = _mean_field.prepare(x, y, Settings(**{**vars(o), **on_path}))
    to_mode = {name: getattr(o, name) for name in vars(Common())}
    mode = point.fit(x, y, prior=plan.problem.prior, steps=o.steps, **to_mode)
    record = [str(j) for j in range(plan.padded.n_weights)], REMEDY
    program, start = _path_program(plan.padded, o.likelihood), [plan.embed(mode.weights)]
    _, fields = plan.train(program, start, 0.0, record)
    used = plan.network.positions_in(plan.padded)
    path = np.stack([fields["history"][str(j)] for j in used], axis=1).astype(np.float64)
    mean, own_std, columns = _moments(path, rank)
    fields |= {"history": mode.history, "path": None}
    return Fit(mean=mean, own_std=own_std, columns=columns, problem=plan.problem, **fields)


def _moments(path: Array, rank: int) -> tuple[Array, Array, Array]:
    """Return μ ``[d]``, σ ``[d]`` and L ``[d, K]`` of SWAG for the weights on a path ``[r, d]``.

    Source: Maddox et al. 2019, eq. 1; for K = 0 their SWAG-Diagonal.
    """
    so_far = np.cumsum(path, axis=0) / np.arange(1, len(path) + 1)[:, None]
    deviations = (path - so_far)[len(path) - rank :].T
    share = 0.5 if rank else 1.0
    tiny = 1e-6 * (1.0 + np.abs(path[-1]))  # a dead unit's weights do not move
    own_std = np.maximum(np.sqrt(share) * path.std(axis=0), tiny)
    return path.mean(axis=0), own_std, deviations * np.sqrt(share / max(rank - 1, 1))


@one_line
@dataclass(frozen=True, kw_only=True)
class Fit(VariationalFit):
    """A Gaussian with covariance D² + L Lᵀ.

    Attributes:
        own_std: The diagonal σ of D ``[n_weights]``.
        columns: L ``[n_weights, rank]``.
        history: ``step``, ``free_energy``, ``complexity_cost`` and ``likelihood_cost`` in nats;
            for SWAG the history of the MAP fit, see ``point.Fit``.
    """

    own_std: Array
    columns: Array
    n_longer = 1 + len(_NEW_STARTS)
    _new_starts = _NEW_STARTS
    _rates = dict.fromkeys(likelihoods.LIKELIHOODS, (0.02, 0.1))

    def _posterior_at(self, parameters: Sequence[Array]) -> dict[str, Any]:
        return _posterior(parameters, self.columns.shape[1])

    @property
    def std(self) -> Array:
        """Return the marginal standard deviation of each weight ``[n_weights]``."""
        return np.asarray(np.sqrt(self.own_std**2 + (self.columns**2).sum(axis=1)))

    @property
    def cov(self) -> Array:
        """Return the covariance D² + L Lᵀ ``[n_weights, n_weights]``."""
        return np.asarray(np.diag(self.own_std**2) + self.columns @ self.columns.T)

    @property
    def entropy(self) -> float:
        """Return the entropy H[q] in nats, by the matrix determinant lemma."""
        scaled = self.columns / self.own_std[:, None]
        _, log_det = np.linalg.slogdet(np.eye(scaled.shape[1]) + scaled.T @ scaled)
        each = np.log(self.own_std) + HALF_LOG_TWO_PI + 0.5
        return float(each.sum() + 0.5 * log_det)

    def _draw(self, n_samples: int, seed: int) -> Array:
        own = predictive.draw_weights(self.mean, self.own_std, n_samples, seed)
        rng = np.random.default_rng([seed, 0x2E7A])
        return own + rng.standard_normal((n_samples, self.columns.shape[1])) @ self.columns.T

    def _complexity(self, weights: Array) -> float:
        log_prior = np.asarray(self.problem.prior.log_prob(as_float(weights))).sum(axis=-1)
        return -self.entropy - float(log_prior.mean())

    def _refit(self, steps: int, learning_rate: float, **start: Any) -> Self:
        start = start or {"initial": (self.mean, self.own_std), "columns": self.columns}
        settings = {**self._same_problem, "rank": self.columns.shape[1], **start}
        x, y = self.problem.x, self.problem.y
        again = fit(x, y, steps=steps, learning_rate=learning_rate, **settings)
        return cast("Self", again)
