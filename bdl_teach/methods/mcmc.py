"""Markov chains on the true posterior of a network: HMC, which is fast, and NUTS to check it.

HMC moves weights w with a momentum p ~ N(0, I) along the potential U(w) = −log P(D, w):

    p ← p − ½ε ∇U(w);  then L times  w ← w + ε p,  p ← p − ε ∇U(w)  (the last one by half),

and accepts the end with probability min(1, exp(−ΔU − Δ½|p|²)). Over the warm-up ε is adapted, and
L rises to its given value. Each transition draws its own L, up to 40 % below or above that value.
A noise that is learnt is sampled with the weights, as log σ, whose density is P(σ) σ.
NUTS chooses L by itself, and takes longer. All chains move at once, in a compiled program that runs
a window (a fixed number of transitions) at a time.

L is not adapted: on the course's network, the methods ChEES and SNAPER, which adapt it, chose 1 to
39. The smallest effective sample size of an output was then 5 to 76; with L = 60 it was 290.

Source: Neal 2011, section 5.2 (HMC); Hoffman & Gelman 2014 (NUTS, and the adaptation of ε), both
through ``tfp.mcmc``; Vehtari et al. 2021 for R-hat and the effective sample size, through
``arviz-stats``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from bdl_teach import likelihoods
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.errors import DivergedError
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf, tfp
from bdl_teach.densities import (
    HALF_LOG_TWO_PI,
    Gaussian,
    Prior,
    ScaleMixture,
    scale_mixture_log_prob,
)
from bdl_teach.methods._fitted import Drawn
from bdl_teach.methods._loop import Capacity, LoopInputs, lay_out
from bdl_teach.methods._settings import Training, TwoHeads, taking
from bdl_teach.mlp import MLP, multiply
from bdl_teach.predictive import Predictive

__all__ = ["MIXED", "Capacity", "Fit", "diagnose", "hmc", "largest_r_hat", "nuts"]

REMEDY = "raise the noise_std, or shrink the prior"
R_HAT_LIMIT = 1.01  # chains agree if every R-hat is below it (Vehtari et al. 2021)
ESS_FLOOR = 100  # effective draws of each chain that are enough (Vehtari et al. 2021)
# Chains have *mixed*, which is enough for a picture, if ``largest_r_hat`` of the shown function is
# at most this. To have *converged*, which is enough for a number in a table, asks for more.
MIXED = 1.02
_JUDGED = 250  # draws of each chain, evenly spread, from which ``largest_r_hat`` is computed
_WINDOW = 25  # transitions of NUTS between two reports of progress
_JITTER = 0.4  # L of a transition differs from the given L by at most this share
_DIVERGENT = -1000.0  # log of the acceptance below which TFP's NUTS calls a transition divergent

Progress = Callable[[int, int], None]  # called with (transitions done, transitions in all)


class _Recipe(NamedTuple):
    """The settings that a program is compiled for."""

    sampler: str
    padded: MLP
    likelihood: str
    is_gaussian: bool  # of the prior
    n_warmup: int
    window: int  # transitions of one call


def _log_density(recipe: _Recipe, w: Tensor, p: LoopInputs) -> Tensor:
    """Return log P(D, w) of weights ``[chains, n_weights]``, in nats ``[chains]``.

    With a learnt noise, log σ is one more column, and the density is that of (w, log σ).

    The last layer is written as a product and a sum over units, which XLA can fuse with what
    follows, unlike a matrix product: HMC takes a tenth less time.
    """
    noise_std, log_noise = p.noise_std, 0.0
    if tf.is_tensor(p.noise_prior):  # log σ comes last; its density is P(σ) σ
        w, log_std = w[:, :-1], w[:, -1]
        noise_std = tf.exp(log_std)[:, None, None]
        a, b = tf.unstack(p.noise_prior)
        log_noise = log_std - 0.5 * (a * tf.exp(log_std)) ** 2 - b
    w = w * p.unit_mask  # weights that are padding move, but have no effect
    *hidden, weight, bias = recipe.padded.unflatten(w)
    h = tf.transpose(p.x)  # [units, rows]
    for matrix, shift in zip(hidden[::2], hidden[1::2], strict=True):
        h = tf.nn.relu(multiply(matrix, h) + shift)
    if recipe.padded.n_outputs == 1:
        f = tf.reduce_sum(tf.linalg.matrix_transpose(weight) * h, axis=-2) + bias[..., 0]
        f = f[..., None]
    else:
        f = tf.linalg.matrix_transpose(multiply(weight, h) + bias)
    cost = likelihoods.cost(recipe.likelihood, p.y, f, noise_std, p.row_weight)
    if recipe.is_gaussian:
        std = p.prior[0]
        log_prior = -0.5 * (w / std) ** 2 - tf.math.log(std) - HALF_LOG_TWO_PI
    else:
        log_prior = scale_mixture_log_prob(w, p.prior[0], p.prior[1], p.prior[2])
    return tf.reduce_sum(log_prior * p.unit_mask, axis=-1) - cost + log_noise


def _kernel(recipe: _Recipe, target: LoopInputs) -> Tensor:
    """Return the sampler; its step size adapts over four fifths of the warm-up."""
    log_density = partial(_log_density, recipe, p=target)
    if recipe.sampler == "nuts":
        inner = tfp.mcmc.NoUTurnSampler(log_density, step_size=0.01, max_tree_depth=8)
    else:
        inner = tfp.mcmc.HamiltonianMonteCarlo(log_density, step_size=0.01, num_leapfrog_steps=1)
    return tfp.mcmc.DualAveragingStepSizeAdaptation(
        inner, num_adaptation_steps=int(0.8 * recipe.n_warmup), target_accept_prob=0.8
    )


def _traced(_state: Tensor, results: Tensor) -> tuple[Tensor, Tensor]:
    """Return each chain's log P(D, w) after a transition, and whether the transition diverged."""
    inner = results.inner_results
    if hasattr(inner, "has_divergence"):
        return inner.target_log_prob, inner.has_divergence
    return inner.accepted_results.target_log_prob, inner.log_accept_ratio < _DIVERGENT


class _Jittered:
    """HMC with a random number of leapfrog steps; a fixed one could lead back to the start."""

    is_calibrated = True

    def __init__(self, kernel: Any, n_leapfrog: Tensor) -> None:
        self._kernel, self._n_leapfrog = kernel, n_leapfrog

    def one_step(self, state: Tensor, results: Any, seed: Tensor = None) -> Any:
        share = tf.random.stateless_uniform([], seed, 1.0 - _JITTER, 1.0 + _JITTER)
        steps = tf.cast(tf.math.ceil(share * self._n_leapfrog), tf.int32)
        inner = results.inner_results
        accepted = inner.accepted_results._replace(num_leapfrog_steps=steps)
        results = results._replace(inner_results=inner._replace(accepted_results=accepted))
        return self._kernel.one_step(state, results, seed=seed)


@lru_cache(maxsize=8)
def _programs(recipe: _Recipe) -> tuple[Compiled, Compiled]:
    """Compile two functions: one prepares the sampler's state, one runs a window of transitions."""

    def begin(state: Tensor, target: LoopInputs) -> Tensor:
        return _kernel(recipe, target).bootstrap_results(state)

    def advance(
        state: Tensor, results: Tensor, n_leapfrog: Tensor, seed: Tensor, target: LoopInputs
    ) -> Tensor:
        kernel = _kernel(recipe, target)
        drawn, traced, results = tfp.mcmc.sample_chain(
            recipe.window,
            current_state=state,
            previous_kernel_results=results,
            kernel=_Jittered(kernel, n_leapfrog) if recipe.sampler == "hmc" else kernel,
            trace_fn=_traced,
            return_final_kernel_results=True,
            seed=seed,
        )
        return drawn[-1], results, (drawn, *traced)

    return Compiled(begin), Compiled(advance)


class _Chains(NamedTuple):
    """The state of the chains, and what is needed to continue them."""

    recipe: _Recipe
    target: LoopInputs
    seed: int  # of all transitions
    n_leapfrog: int  # mean number of leapfrog steps of a transition of HMC
    n_thin: int  # transitions from one draw that is kept to the next
    state: Tensor  # [chains, n_weights]: weights after the last window; then log σ, if learnt
    kernel: Tensor  # the sampler's own state
    done: int = 0  # transitions so far, the warm-up's included
    ahead: tuple[Array, ...] = ()  # transitions after those that ``run`` has returned

    def run(self, n: int, progress: Progress | None) -> tuple[_Chains, tuple[Array, ...]]:
        """Run the chains for n more transitions, not counting the warm-up.

        Return the chains as they are then, and the n transitions: weights ``[n, chains,
        n_weights]``, log densities ``[n, chains]``, and whether each diverged ``[n, chains]``.
        """
        _, advance = _programs(self.recipe)
        state, kernel, done = self.state, self.kernel, self.done
        window, warmup = self.recipe.window, self.recipe.n_warmup
        parts = [self.ahead] if self.ahead else []
        total = max(done, warmup) + n - sum(len(weights) for weights, *_ in parts)
        while done < total:
            rise = min(1.0, (done + window) / warmup)
            n_leapfrog, seed = tf.constant(rise * self.n_leapfrog), tf.constant([self.seed, done])
            state, kernel, drawn = advance(state, kernel, n_leapfrog, seed, self.target)
            new = max(0, warmup - done)
            parts.append(tuple(part.numpy()[new:] for part in drawn))
            done += window
            if progress is not None:
                progress(min(done, total), total)
        every = [np.concatenate(of) for of in zip(*parts, strict=True)]
        ahead = tuple(part[n:] for part in every)
        then = self._replace(state=state, kernel=kernel, done=done, ahead=ahead)
        return then, tuple(part[:n] for part in every)


@dataclass(frozen=True, kw_only=True)
class Settings(TwoHeads):
    """Settings of the samplers, in addition to those of every method.

    Attributes:
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given.
        n_samples: Draws kept of each chain, at least 4, since R-hat compares halves.
        n_chains: Chains, at least 2, since R-hat compares them; each starts from the prior.
        n_warmup: Transitions that adapt the step size and are thrown away.
        seed: Seed of the starts and of the chains.
        progress: Called with (transitions done, transitions in all) as the chains run; an exception
            that it raises ends the run.
    """

    prior: Prior | None = None
    n_samples: int = 500
    n_chains: int = 2
    n_warmup: int = 500
    progress: Progress | None = None


@dataclass(frozen=True, kw_only=True)
class NutsSettings(Settings):
    """Settings of NUTS, in addition to those of the samplers.

    Attributes:
        n_thin: Transitions from one kept draw to the next, >= 1.
    """

    n_thin: int = 1


@dataclass(frozen=True, kw_only=True)
class HmcSettings(Settings):
    """Settings of HMC, in addition to those of the samplers.

    Attributes:
        n_leapfrog: Mean number of leapfrog steps of a transition after the warm-up, >= 1.
        window: Number of transitions between two reports of progress, >= 1.
        capacity: Sizes to compile for, if not this problem's; ``capacity.n_samples`` is unused.
    """

    n_chains: int = 4
    n_warmup: int = 150
    n_leapfrog: int = 100
    window: int = 50
    capacity: Capacity | None = None


@dataclass(frozen=True, kw_only=True)
class _Laid(TwoHeads, Training):
    """The settings that ``lay_out`` takes."""


@taking(NutsSettings)
def nuts(x: ArrayLike, y: ArrayLike, settings: NutsSettings) -> Fit:
    """Sample the posterior of a network with NUTS; read ``report`` before believing the draws."""
    n_thin = checks.count("n_thin", settings.n_thin)
    return _sample("nuts", x, y, settings, _WINDOW, n_leapfrog=1, n_thin=n_thin)


@taking(HmcSettings)
def hmc(x: ArrayLike, y: ArrayLike, settings: HmcSettings) -> Fit:
    """Sample the posterior of a network with HMC; read ``report`` before believing the draws."""
    steps = checks.count("n_leapfrog", settings.n_leapfrog)
    window = checks.count("window", settings.window)
    return _sample("hmc", x, y, settings, window, n_leapfrog=steps, n_thin=1)


def _sample(
    sampler: str, x: ArrayLike, y: ArrayLike, o: Settings, window: int, n_leapfrog: int, n_thin: int
) -> Fit:
    """Check a sampler's arguments, warm up its chains, and return a fit with their draws."""
    prior = ScaleMixture() if o.prior is None else o.prior
    shared = {name: value for name, value in vars(o).items() if hasattr(Training, name)}
    plan = lay_out(x, y, _Laid(steps=1, **shared), prior)
    inputs, prior, seed = plan.inputs, plan.problem.prior, plan.problem.seed
    rows = {name: getattr(inputs, name) for name in ("x", "y", "row_weight")}
    rows = {name: tf.reshape(part, [-1, part.shape[-1]]) for name, part in rows.items()}
    target = inputs._replace(**rows)  # all chunks of the data as one
    shape = (checks.count("n_chains", o.n_chains, minimum=2), plan.network.n_weights)
    warmup = checks.count("n_warmup", o.n_warmup)
    is_gaussian = isinstance(prior, Gaussian)
    recipe = _Recipe(sampler, plan.padded, o.likelihood, is_gaussian, warmup, window)
    begin, _ = _programs(recipe)
    state, start_std, learnt = plan.embed(plan.calm(prior.sample(shape, seed=seed))), {}, None
    if plan.problem.noise_prior:  # chains start within a factor of a few of the sd of y
        around = 0.5 * np.random.default_rng([seed, 0x4015E]).standard_normal((shape[0], 1))
        log_std = tf.math.log(inputs.noise_std) + as_float(around)
        state, learnt = tf.concat([state, log_std], axis=1), np.zeros((shape[0], 0))
        start_std = {"noise_std": float(inputs.noise_std)}
    chains = _Chains(recipe, target, seed, n_leapfrog, n_thin, state, begin(state, target))
    weights, each = np.zeros((shape[0], 0, shape[1])), np.zeros((shape[0], 0))
    fields = plan.shared | start_std
    start = Fit(weights, each, each, plan.problem.x, chains, learnt, **fields)
    return start.longer(checks.count("n_samples", o.n_samples, minimum=4), o.progress)


def diagnose(draws: ArrayLike) -> tuple[Array, Array]:
    """Return rank-normalised split R-hat and the effective sample size of chains.

    Draws are replaced by the normal scores of their ranks, so that R-hat is valid for heavy tails,
    too. It is computed from half chains twice, for the draws (location) and for their distances
    from the median (scale); the larger value is returned. The effective sample size is the smallest
    of those for the bulk and for the 5 % and 95 % quantiles.

    Args:
        draws: ``[chains, s, k]``: k quantities; at least 2 chains of 4 draws.

    Returns:
        R-hat ``[k]``, 1 at best, and the effective number of draws ``[k]``, summed over the chains.
        Where a chain did not move, in either half of its draws, these are infinity and 0.

    Raises:
        ValueError: ``draws`` has another shape, or numbers that are not finite.

    Source: Vehtari, Gelman, Simpson, Carpenter, Bürkner 2021, sections 3.1, 4.1 and 4.3.
    """
    from arviz_stats.base.array import array_stats

    draws = checks.finite("draws", draws)
    if draws.ndim != 3 or draws.shape[0] < 2 or draws.shape[1] < 4 or draws.shape[2] < 1:
        expected = "[chains, s, k] with at least 2 chains of 4 draws"
        raise ValueError(f"draws: expected shape {expected}, got {draws.shape}")
    axes = {"chain_axis": 0, "draw_axis": 1}
    with np.errstate(divide="ignore", invalid="ignore"):  # of chains that did not move
        bulk = array_stats.ess(draws, method="bulk", **axes)
        tail = array_stats.ess(draws, method="tail", prob=(0.05, 0.95), **axes)
    moved = ~_still(draws).any(axis=0)
    return r_hat(draws), np.where(moved, np.minimum(bulk, tail), 0.0)


def _halves(draws: Array) -> Array:
    """Split draws ``[chains, s, k]`` into the halves of each chain ``[2, chains, s // 2, k]``."""
    n = draws.shape[1] // 2
    return np.stack([draws[:, :n], draws[:, -n:]])


def _still(draws: Array) -> Array:
    """Return whether a chain did not move in one of its halves ``[chains, k]``."""
    return np.asarray((np.ptp(_halves(draws), axis=2) == 0).any(axis=0))


def r_hat(draws: Array) -> Array:
    """Return only the R-hat ``[k]`` of :func:`diagnose`, for draws ``[chains, s, k]``."""
    from scipy.stats import rankdata  # takes long to load

    halves = np.concatenate(_halves(draws))  # [2 chains, n, k]
    n = halves.shape[1]
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    found = []
    with np.errstate(divide="ignore", invalid="ignore"):  # of chains that did not move
        for values in (halves, folded):
            ranks = rankdata(values.reshape(-1, draws.shape[2]), axis=0).reshape(values.shape)
            scores = ndtri((ranks - 0.375) / (2 * len(draws) * n + 0.25))
            within = scores.var(axis=1, ddof=1).mean(axis=0)
            between = scores.mean(axis=1).var(axis=0, ddof=1)
            found.append(np.sqrt((n - 1) / n + between / within))
    return np.where(_still(draws).any(axis=0), np.inf, np.fmax(*found))


def largest_r_hat(outputs: Array) -> float:
    """Return the largest R-hat of functions ``[chains, s, m]`` over their m inputs.

    The inputs should be all those that a picture shows, a gap in the data included. The chains have
    mixed if the number is at most ``MIXED``; it is infinite if a chain did not move.
    """
    every = -(-outputs.shape[1] // _JUDGED)
    return float(r_hat(outputs[:, ::every]).max())


@one_line
@dataclass(frozen=True)
class Fit(Drawn):
    """Draws from the weights' true posterior, as far as the chains have explored it.

    Convergence is judged by the network's outputs at the training inputs and by the log density,
    not by the weights: two hidden units can swap their weights, and the outputs stay the same.

    Attributes:
        weights: ``[chains, s, n_weights]``.
        log_density: log P(D, w) of each draw, in nats ``[chains, s]``.
        diverged: Share of divergent transitions since the previous draw ``[chains, s]``.
        x: Training inputs ``[n, d]``.
        noise_chains: σ of the noise of each draw ``[chains, s]``, if it is learnt.
    """

    weights: Array
    log_density: Array
    diverged: Array
    x: Array
    chains: _Chains | None = field(default=None, repr=False)
    noise_chains: Array | None = None

    @property
    def noise_draws(self) -> Array | None:
        """Return σ of each draw ``[chains · s]``, where it is learnt."""
        return None if self.noise_chains is None else self.noise_chains.ravel()

    def longer(self, n_samples: int = 500, progress: Progress | None = None) -> Fit:
        """Return a fit with longer chains, the same as if all draws had been made in one run.

        Args:
            n_samples: Further draws of each chain, >= 1.
            progress: Called with (transitions done, transitions in all), as in :func:`hmc`.

        Returns:
            A fit that holds the old draws and the new ones.

        Raises:
            ValueError: ``n_samples`` < 1.
            DivergedError: A chain became NaN or infinite.
        """
        assert self.chains is not None
        n_samples, thin = checks.count("n_samples", n_samples), self.chains.n_thin
        chains, drawn = self.chains.run(n_samples * thin, progress)
        weights, log_density = (part[thin - 1 :: thin].swapaxes(0, 1) for part in drawn[:2])
        used, noise = self.network.positions_in(self.chains.recipe.padded), self.noise_chains
        weights = weights.astype(np.float64)
        if noise is not None:
            noise = np.concatenate([noise, np.exp(weights[..., -1])], axis=1)
        weights = weights[..., used]
        diverged = drawn[2].reshape(n_samples, thin, -1).mean(axis=1).T
        lost = np.flatnonzero(~np.isfinite(log_density).all(axis=0))
        if lost.size:
            draw = self.weights.shape[1] + int(lost[0]) + 1
            raise DivergedError(self.chains.recipe.n_warmup + thin * draw, REMEDY)
        return replace(
            self,
            weights=np.concatenate([self.weights, weights], axis=1),
            log_density=np.concatenate([self.log_density, log_density], axis=1),
            diverged=np.concatenate([self.diverged, diverged], axis=1),
            chains=chains,
            noise_chains=noise,
            noise_std=self.noise_std if noise is None else float(noise.mean()),
        )

    @property
    def divergences(self) -> float:
        """Return the share of the transitions that diverged."""
        return float(self.diverged.mean())

    @cached_property
    def _judged(self) -> Array:
        outputs = self.outputs(self.x).reshape(*self.log_density.shape, -1)
        judged = [outputs, self.log_density[..., None]]
        if self.noise_chains is not None:
            judged.append(np.log(self.noise_chains)[..., None])
        return np.concatenate(judged, axis=-1)

    @cached_property
    def _diagnosed(self) -> tuple[Array, Array]:
        return diagnose(self._judged)

    @property
    def r_hat(self) -> Array:
        """Return R-hat ``[n + 1]``: of the output at each training input, then of log P(D, w).

        With a learnt noise the last of ``[n + 2]`` is that of log σ.
        """
        return self._diagnosed[0]

    @property
    def ess(self) -> Array:
        """Return the effective sample size of each quantity that ``r_hat`` judges."""
        return self._diagnosed[1]

    @property
    def converged(self) -> bool:
        """Return whether every R-hat is below 1.01, with at least 100 effective draws a chain."""
        enough = self.ess >= ESS_FLOOR * len(self.weights)
        return bool((self.r_hat < R_HAT_LIMIT).all() and enough.all())

    @property
    def report(self) -> str:
        """Return a sentence with R-hat and ESS that says whether the chains have converged."""
        worst, least = float(self.r_hat.max()), float(self.ess.min())
        needs = f"needs R-hat < {R_HAT_LIMIT} and ESS >= {ESS_FLOOR * len(self.weights)}"
        verdict = "converged" if self.converged else f"NOT converged ({needs})"
        name = self.chains.recipe.sampler.upper() if self.chains else "MCMC"
        if np.isinf(worst):
            still = int(_still(self._judged).any(axis=1).sum())
            return f"{name} NOT converged: {still} of {len(self.weights)} chains did not move"
        return f"{name} {verdict}: largest R-hat {worst:.3f}, smallest ESS {least:.0f}"

    def outputs(self, x: ArrayLike) -> Array:
        """Return the network's outputs for every draw ``[chains, s, m]``: means of y, or logits.

        Args:
            x: Inputs ``[m, d]``.

        Returns:
            The outputs; with two heads, f and log σ, ``[chains, s, m, 2]``.

        Raises:
            ValueError: x does not fit the network.
        """
        return np.stack([self.evaluate(chain, x) for chain in self.weights])

    def predict(self, x: ArrayLike, n_samples: int | None = None, seed: int = 1) -> Predictive:
        """Return the predictive: the average of the drawn networks.

        Args:
            x: Test inputs ``[m, d]``.
            n_samples: Number of draws to use, picked at random; all of them if not given.
            seed: Seed of the random choice of draws.

        Raises:
            ValueError: x does not fit the network, or more draws are asked for than there are.
        """
        if n_samples is not None:
            return super().predict(x, n_samples, seed)
        outputs = self.evaluate(self.weights.reshape(-1, self.network.n_weights), x)
        noise = self.noise_std if self.noise_draws is None else self.noise_draws
        return likelihoods.predict(self.likelihood, outputs, noise)

    def _noise(self, n_samples: int, seed: int) -> float | Array:
        if self.noise_draws is None:
            return self.noise_std
        return np.random.default_rng(seed).permutation(self.noise_draws)[:n_samples]

    def _draw(self, n_samples: int, seed: int) -> Array:
        draws = self.weights.reshape(-1, self.network.n_weights)
        if n_samples > len(draws):
            stored = f"the {len(draws)} stored"
            raise ValueError(f"n_samples: expected at most {stored}, got {n_samples}")
        return np.random.default_rng(seed).permutation(draws)[:n_samples]
