"""Stochastic-gradient MCMC: gradient descent with added noise, so that it samples the posterior.

With U(w) = −log P(D | w) − log P(w), a step size ℓ, a diagonal mass M and the temperature T, a
step of SGHMC and the density that it samples as ℓ → 0 are

    v ← β v − ℓ M⁻¹ ∇U(w) + √(2 (1 − β) ℓ T) M^(−½) ξ,   w ← w + v,   ξ ~ N(0, I),
    p_T(w) ∝ exp(−U(w)/T),

with β = 0.9, so that T = 1 is the posterior, and T = 0 is gradient descent with momentum to a
minimum of U. SGLD is the case β = 0.

A finite step widens the draws: where U is a parabola with the matrix Λ, the covariance of w is
T (Λ − ℓ/(2(1 + β)) Λ M⁻¹ Λ)⁻¹ instead of T Λ⁻¹. Let λ be the largest eigenvalue of M^(−½)ΛM^(−½):
at ℓλ = 2(1 + β) the chain diverges.

Source: Welling & Teh 2011 (SGLD); Chen, Fox & Guestrin 2014, eq. 15 (SGHMC, their α is 1 − β);
Li et al. 2016 for a mass from squared gradients, here held fixed while the chain samples, so that
their term Γ is 0; Wenzel et al. 2020, eq. 1 for T.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import likelihoods, optimise, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.errors import DivergedError
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf
from bdl_teach.densities import Prior, ScaleMixture, scale_mixture_log_prob
from bdl_teach.methods._fitted import Drawn
from bdl_teach.methods._loop import LoopInputs, embed, lay_out
from bdl_teach.methods._settings import Training, taking
from bdl_teach.methods.mcmc import diagnose
from bdl_teach.mlp import MLP

REMEDY = (
    "lower the learning rate, if need be by a factor of 100; with few points a narrower prior may "
    "help, too"
)
MOMENTUM = np.float32(0.9)  # β, in the precision of the loop
EVERY = 10  # steps from one draw that is kept to the next
_WINDOW = 500  # steps of one run of the compiled loop, a multiple of EVERY
_DESCENT = 400  # Adam steps from the start to a mode
_RATE = 0.05  # learning rate of these Adam steps
_PROBES = 16  # made-up data sets of each chain from which its mass is estimated
_TRANSIENT = 0.25  # share of a path, at the start, that is no draw: it leads away from the mode


@dataclass(frozen=True, kw_only=True)
class Settings(Training):
    """Settings of the samplers, in addition to those of every method.

    Attributes:
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given.
        steps: Steps of each chain, >= 10; every tenth is a draw.
        learning_rate: Step size ℓ > 0; it has no unit, since the masses have that of the curvature.
        n_chains: Number of chains.
        n_batches: Number of minibatches in an epoch; each epoch visits them in another order.
        temperature: T >= 0: 1 for the posterior, 0 for a minimum of U.
        capacity: Sizes to compile for, instead of exactly those of this problem. The masses
            are estimated on simulated data, which change with the capacity.
    """

    prior: Prior | None = None
    learning_rate: float = 0.005
    n_chains: int = 8
    n_batches: int = 1
    temperature: float = 1.0


class _Dynamics(NamedTuple):
    """The tensors that only these samplers need; they are passed as ``LoopInputs.own``."""

    precision: Tensor  # curvature of −log P(w)
    dealt: Tensor  # [n, 1]: the minibatch of each row
    learning_rate: Tensor  # ℓ
    temperature: Tensor  # T
    seed: Tensor


class State(NamedTuple):
    """Weights, velocities and mass of all chains after a number of steps."""

    step: Tensor  # steps taken
    w: Tensor  # [chains, n_weights]
    v: Tensor  # [chains, n_weights]: velocities
    mass: Tensor  # [n_weights]: M of each weight, the same for all chains


class Sampler(NamedTuple):
    """A network and its likelihood: what the compiled functions depend on besides tensors."""

    network: MLP
    kind: str  # the likelihood

    def loss(self, w: Tensor, row_weight: Tensor, p: LoopInputs) -> Tensor:
        """Return −log P(D, w) in nats ``[chains]``, with data points weighted by ``row_weight``."""
        log_prior = scale_mixture_log_prob(w, p.prior[0], p.prior[1], p.prior[2])
        f = self.network(w, p.x[0])
        likelihood = likelihoods.cost(self.kind, p.y[0], f, p.noise_std, row_weight)
        return likelihood - tf.reduce_sum(log_prior * p.unit_mask, axis=-1)

    def move(self, state: State, noise: Tensor, batches: Tensor, p: LoopInputs) -> State:
        """Take one step of all chains, with ∇U estimated from a minibatch."""
        own, now = p.own, state.step % _WINDOW
        in_batch = tf.cast(own.dealt == tf.gather(batches, now), tf.float32) * p.row_weight[0]
        with tf.GradientTape() as tape:
            tape.watch(state.w)
            u = self.loss(state.w, in_batch * tf.cast(p.n_batches, tf.float32), p)
        push = own.learning_rate / state.mass * tape.gradient(u, state.w)
        heat = 2.0 * (1.0 - MOMENTUM) * own.learning_rate * own.temperature
        v = MOMENTUM * state.v - push + tf.sqrt(heat / state.mass) * tf.gather(noise, now)
        return State(state.step + 1, state.w + v, v, state.mass)

    def mass(self, w: Tensor, p: LoopInputs) -> Tensor:
        """Return the mass √(V V̄) of each weight ``[n_weights]``.

        V estimates the curvature of U along the weight, averaged over the chains; V̄ is the mean of
        V over all weights. V is the prior's curvature plus the Fisher information, i.e. the mean
        squared gradient of the log-likelihood for data simulated from the model. (The real data
        would give almost 0, since w is at a mode.) With V itself as mass, weights without effect
        at the mode would take such long steps that chains diverge.
        """
        draws = tf.repeat(w, _PROBES, axis=0)
        with tf.GradientTape() as tape:
            tape.watch(draws)
            f = self.network(draws, p.x[0])  # [probes, n, 1]
            share = tf.stop_gradient(tf.sigmoid(f))  # of the labels that are 1
            spread = tf.sqrt(share * (1.0 - share))
            if self.kind == "gaussian":
                spread = 1.0 / p.noise_std
            xi = tf.random.stateless_normal(f.shape, tf.stack([p.own.seed, -1]))
            score = tf.reduce_sum(xi * spread * f * p.row_weight[0])
        curvature = p.own.precision + tf.reduce_mean(tape.gradient(score, draws) ** 2, axis=0)
        mean = tf.reduce_sum(curvature * p.unit_mask) / tf.reduce_sum(p.unit_mask)
        return tf.sqrt(curvature * mean)

    def descend(self, start: Tensor, schedule: optimise.Schedule, p: LoopInputs) -> State:
        """Bring each chain to a mode by Adam, and compute the mass of each weight there."""

        def objective(parameters: Tensor, _step: Tensor, _block: Tensor) -> tuple[Tensor, Tensor]:
            u = self.loss(parameters[0], p.row_weight[0], p)
            return tf.reduce_sum(u), u

        (w,) = optimise.adam(objective, [start], schedule, n_records=1).parameters
        return State(tf.constant(0), w, tf.zeros_like(w), self.mass(w, p))

    def advance(
        self, state: State, stop: Tensor, noise: Tensor, batches: Tensor, p: LoopInputs
    ) -> tuple[State, Tensor, Tensor]:
        """Take all chains to step ``stop``; return the state, and weights and U every tenth step.

        Weights [50, chains, n_weights] and U [50, chains] have a row for each tenth step, also one
        for ``stop`` if it is between two of these, and then rows of zeros. All steps lie in one
        window of 500 steps, for which ``noise`` [500, chains, n_weights] holds the normal noise and
        ``batches`` [500] the minibatches.
        """

        def record(
            i: Tensor, state: State, path: Tensor, potential: Tensor
        ) -> tuple[Tensor, State, Tensor, Tensor]:
            until = tf.minimum(stop, (state.step // EVERY + 1) * EVERY)
            (state,) = tf.while_loop(
                lambda state: state.step < until,
                lambda state: (self.move(state, noise, batches, p),),
                (state,),
            )
            u = self.loss(state.w, p.row_weight[0], p)
            path = tf.tensor_scatter_nd_update(path, [[i]], state.w[None])
            return i + 1, state, path, tf.tensor_scatter_nd_update(potential, [[i]], u[None])

        chains, d = state.w.shape
        room = _WINDOW // EVERY
        begin = (tf.constant(0), state, tf.zeros([room, chains, d]), tf.zeros([room, chains]))
        _, *rest = tf.while_loop(lambda _, state, *__: state.step < stop, record, begin)
        return tuple(rest)


@lru_cache(maxsize=32)
def _program(sampler: Sampler) -> tuple[Compiled, Compiled]:
    return Compiled(sampler.descend), Compiled(sampler.advance)


@lru_cache(maxsize=3)
def _noise(seed: int, window: int, n_chains: int, network: MLP, padded: MLP) -> Tensor:
    """Draw standard normal numbers for a window of steps ``[window, chains, n_weights]``.

    NumPy draws them in a tenth of the time that the compiled loop would need. Weights that are
    padding get 0, so that they stay at 0.
    """
    rng = np.random.default_rng([seed, window])
    shape = (_WINDOW, n_chains, network.n_weights)
    return as_float(embed(rng.standard_normal(shape, np.float32), network, padded))


def _batch_order(seed: int, window: int, n_batches: int) -> Tensor:
    """Return the minibatch of each step of a window ``[window]``, in a new order for each epoch.

    In a fixed order all draws, which are ten steps apart, could follow the same minibatch.
    """
    steps = np.arange(window * _WINDOW, (window + 1) * _WINDOW)
    epochs = range(steps[0] // n_batches, steps[-1] // n_batches + 1)
    orders = [np.random.default_rng([seed, 0x7024, e]).permutation(n_batches) for e in epochs]
    return tf.constant(np.concatenate(orders)[steps - epochs[0] * n_batches], tf.int32)


@taking(Settings, warns=True)
def fit(x: ArrayLike, y: ArrayLike, settings: Settings) -> Fit:
    """Sample the posterior of a network by SGHMC, several chains at once.

    Each chain goes from a start of its own to a mode by Adam, then samples. No step is rejected, so
    that the draws spread too widely if the learning rate is too large.
    """
    o = settings
    prior = ScaleMixture() if o.prior is None else o.prior
    steps = checks.count("steps", o.steps, EVERY)
    if o.capacity is not None and o.capacity.chunk is not None:  # as many rows, in one chunk
        rows = -(-o.capacity.n // o.capacity.chunk) * o.capacity.chunk
        o = replace(o, capacity=o.capacity._replace(n=rows, chunk=None))
    plan = lay_out(x, y, o, prior)
    n, (sigma1, sigma2, pi) = len(plan.problem.x), plan.problem.prior.mixture
    n_batches = checks.batches(o.n_batches, n)
    order = np.random.default_rng([plan.problem.seed, 0xDEA1]).permutation(n)
    padding = (0, plan.inputs.x.shape[1] - n)
    dynamics = _Dynamics(
        precision=as_float(pi / sigma1**2 + (1.0 - pi) / sigma2**2),
        dealt=tf.constant(np.pad(order % n_batches, padding)[:, None], tf.int32),
        learning_rate=as_float(checks.positive("learning_rate", o.learning_rate), "learning_rate"),
        temperature=as_float(checks.non_negative("temperature", o.temperature), "temperature"),
        seed=tf.constant(plan.problem.seed),
    )
    inputs = plan.inputs._replace(n_batches=tf.constant(n_batches), own=dynamics)
    shape = (checks.count("n_chains", o.n_chains), plan.network.n_weights)
    draw = np.random.default_rng(o.seed).standard_normal(shape)
    start = plan.embed(draw * np.sqrt(2.0 / plan.network.fan_in))
    descend, _ = _program(Sampler(plan.padded, o.likelihood))
    return Fit(
        path=np.zeros((0, *shape)),
        potential=np.zeros((0, len(draw))),
        inputs=inputs,
        state=descend(start, optimise.schedule(_DESCENT, _RATE, 0.25), inputs),
        **plan.shared,
    ).longer(steps)


@one_line
@dataclass(frozen=True, kw_only=True)
class Fit(Drawn):
    """Chains that sample the posterior, and can be continued.

    Attributes:
        path: Weights every tenth step ``[draws, chains, n_weights]``, in the order of ``network``.
        potential: −log P(D, w) of these weights, in nats ``[draws, chains]``.
    """

    path: Array
    potential: Array
    inputs: LoopInputs
    state: State

    def longer(self, steps: int = 1500) -> Fit:
        """Return a fit with longer chains, equal to what one run of all the steps would give.

        Args:
            steps: Further steps of each chain, >= 1.

        Raises:
            ValueError: ``steps`` < 1.
            DivergedError: A chain became NaN or infinite.
        """
        _, advance = _program(Sampler(self.padded, self.likelihood))
        used = self.network.positions_in(self.padded)
        at, state, seed = int(self.state.step), self.state, int(self.inputs.own.seed)
        end = at + checks.count("steps", steps)
        paths, potentials = [self.path], [self.potential]
        while at < end:
            stop = min(end, (at // _WINDOW + 1) * _WINDOW)
            noise = _noise(seed, at // _WINDOW, len(state.w), self.network, self.padded)
            batches = _batch_order(seed, at // _WINDOW, int(self.inputs.n_batches))
            state, path, potential = advance(state, tf.constant(stop), noise, batches, self.inputs)
            new = stop // EVERY - at // EVERY  # a last stretch of fewer steps is no draw yet
            paths.append(path.numpy()[:new, :, used].astype(np.float64))
            potentials.append(potential.numpy()[:new].astype(np.float64))
            at = stop
        path, potential = np.concatenate(paths), np.concatenate(potentials)
        lost = np.flatnonzero(~np.isfinite(potential).all(axis=1))
        if lost.size:
            raise DivergedError((int(lost[0]) + 1) * EVERY, REMEDY)
        return replace(self, path=path, potential=potential, state=state)

    @property
    def history(self) -> dict[str, Array]:
        """Return arrays ``step`` and ``potential``: −log P(D, w), averaged over the chains."""
        steps = EVERY * np.arange(1, len(self.path) + 1)
        return {"step": steps, "potential": self.potential.mean(axis=1)}

    @property
    def samples(self) -> Array:
        """Return the last three quarters of the draws ``[s, n_weights]``, chain after chain."""
        return self._by_chain.reshape(-1, self.network.n_weights)

    @cached_property
    def r_hat(self) -> Array:
        """Return R-hat of the outputs at the training inputs ``[n]``: 1 where the chains agree.

        Raises:
            ValueError: There are fewer than 2 chains, or fewer than 4 draws of each.
        """
        x = self.inputs.x.numpy()[self.inputs.row_weight.numpy()[..., 0] > 0].astype(np.float64)
        f = [predictive.evaluate_weights(self.network, chain, x) for chain in self._by_chain]
        return diagnose(np.stack(f))[0]

    @property
    def _by_chain(self) -> Array:
        """Return the last three quarters of the draws ``[chains, s, n_weights]``."""
        return self.path[int(_TRANSIENT * len(self.path)) :].swapaxes(0, 1)

    def _draw(self, n_samples: int, seed: int) -> Array:
        samples, rng = self.samples, np.random.default_rng(seed)
        return samples[rng.choice(len(samples), n_samples, replace=n_samples > len(samples))]
