"""Gold standards: the closed form of linear regression, and NUTS on the network itself.

Source: Bishop 2006, section 3.3 (linear regression); Hoffman & Gelman 2014 (NUTS), through
``tfp.mcmc``; Vehtari et al. 2021 for R-hat and the effective sample size, through ``arviz-stats``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from bdl_teach import elbo, likelihoods, predictive
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.errors import DivergedError
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf, tfp
from bdl_teach.densities import Prior, ScaleMixture, as_prior, scale_mixture_log_prob
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive

R_HAT_LIMIT = 1.01  # chains agree below it, and tell enough with
ESS_FLOOR = 100  # effective draws of each: so advise Vehtari et al. 2021
SAMPLER_VERSION = 1  # raised by whoever changes what ``nuts`` draws: stored runs are of one version
_WINDOW = 25  # transitions between two reports of progress


def linear_regression(
    x: ArrayLike, y: ArrayLike, prior_std: float, noise_std: float
) -> LinearPosterior:
    """Exact Bayesian linear regression; x carries its own column of ones for an intercept.

    Λ = I/prior_std² + xᵀx/noise_std², mean = Λ⁻¹ xᵀy/noise_std², cov = Λ⁻¹.

    Args:
        x: Design matrix ``[n, d]``.
        y: Targets ``[n]`` or ``[n, 1]``.
        prior_std: Standard deviation of each weight's prior, > 0.
        noise_std: Standard deviation of the noise, > 0.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.

    Source: Bishop 2006, eq. 3.53, 3.54 and 3.86.
    """
    x, y = checks.regression_data(x, y)
    n, d = x.shape
    noise_std = checks.positive("noise_std", noise_std)
    s2, noise2 = checks.positive("prior_std", prior_std) ** 2, noise_std**2
    precision = np.eye(d) / s2 + x.T @ x / noise2  # [d, d]
    factor = cho_factor(precision)
    mean = cho_solve(factor, x.T @ y[:, 0]) / noise2
    misfit = np.sum((y[:, 0] - x @ mean) ** 2) / noise2 + mean @ mean / s2
    log_det = 2.0 * np.log(np.diag(factor[0])).sum()
    constant = d * math.log(s2) + n * math.log(2 * math.pi * noise2)
    log_evidence = -0.5 * (misfit + log_det + constant)
    return LinearPosterior(mean, cho_solve(factor, np.eye(d)), float(log_evidence), noise_std)


@one_line
@dataclass(frozen=True)
class LinearPosterior:
    """The exact posterior of y = x·w + noise under w ~ N(0, prior_std² I).

    Attributes:
        mean: ``[d]``.
        cov: ``[d, d]``.
        log_evidence: log P(y | x), in nats.
        noise_std: Standard deviation of the noise.
    """

    mean: Array
    cov: Array
    log_evidence: float
    noise_std: float

    def predict(self, x: ArrayLike) -> Predictive:
        """Exact predictive at ``x`` [m, d]: mean x·m, epistemic variance xᵀ Σ x.

        Raises:
            ValueError: x does not have d columns.
        """
        x = checks.inputs("x", x, len(self.mean))
        variance = np.einsum("md,de,me->m", x, self.cov, x)
        noise = np.full(len(x), self.noise_std)
        return Predictive(x @ self.mean, np.sqrt(np.maximum(variance, 0.0)), noise)


def _kernel(
    network: MLP, warmup: int, x: Tensor, y: Tensor, prior: Tensor, noise_std: Tensor
) -> Tensor:
    """NUTS on log P(D, w), its step size adapted over four fifths of the warm-up."""

    def log_density(w: Tensor) -> Tensor:
        log_prior = scale_mixture_log_prob(w, prior[0], prior[1], prior[2])
        return tf.reduce_sum(log_prior, axis=-1) - elbo.likelihood_cost(y, network(w, x), noise_std)

    nuts_kernel = tfp.mcmc.NoUTurnSampler(log_density, step_size=0.01, max_tree_depth=8)
    return tfp.mcmc.DualAveragingStepSizeAdaptation(
        nuts_kernel, num_adaptation_steps=int(0.8 * warmup), target_accept_prob=0.8
    )


@lru_cache(maxsize=4)
def _nuts_programs(network: MLP, warmup: int) -> tuple[Compiled, Compiled]:
    """Compile (advance one window, initial kernel state) for one network."""

    def begin(state: Tensor, *target: Tensor) -> Tensor:
        return _kernel(network, warmup, *target).bootstrap_results(state)

    def advance(state: Tensor, results: Tensor, seed: Tensor, *target: Tensor) -> Tensor:
        drawn, traced, results = tfp.mcmc.sample_chain(
            _WINDOW,
            current_state=state,
            previous_kernel_results=results,
            kernel=_kernel(network, warmup, *target),
            trace_fn=lambda _, r: (
                r.inner_results.target_log_prob,
                r.inner_results.has_divergence,
            ),
            return_final_kernel_results=True,
            seed=seed,
        )
        return drawn[-1], results, (drawn, *traced)

    return Compiled(advance), Compiled(begin)


class _Sampler:
    """NUTS in windows of a fixed length, so that one compiled program serves any run."""

    def __init__(self, network: MLP, warmup: int, target: Tensor, seed: int) -> None:
        self._advance, self._begin = _nuts_programs(network, warmup)
        self._target, self._seed = target, seed

    def run(
        self,
        state: Tensor,
        warmup: int,
        kept: int,
        thin: int,
        progress: Callable[[int, int], None] | None,
    ) -> tuple[Array, Array, float]:
        """Return weights [chains, kept, d], log densities [chains, kept], divergent share."""
        total = warmup + kept * thin
        kernel, draws = self._begin(state, *self._target), []
        for done in range(0, total, _WINDOW):
            window_seed = tf.constant([self._seed, done])
            state, kernel, drawn = self._advance(state, kernel, window_seed, *self._target)
            draws.append([part.numpy() for part in drawn])
            if progress is not None:
                progress(min(done + _WINDOW, total), total)
        weights, log_density, diverging = (
            np.concatenate(parts)[warmup:total].swapaxes(0, 1) for parts in zip(*draws, strict=True)
        )
        each = slice(thin - 1, None, thin)
        return weights[:, each].astype(np.float64), log_density[:, each], float(diverging.mean())


def nuts(
    x: ArrayLike,
    y: ArrayLike,
    *,
    prior: Prior | None = None,
    noise_std: float = 1.0,
    hidden_units: tuple[int, ...] = (20, 20),
    n_samples: int = 500,
    n_chains: int = 2,
    n_warmup: int = 500,
    n_thin: int = 1,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> NutsFit:
    """Sample the posterior of the same network under the same prior with NUTS.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        prior: Prior of each weight; ``ScaleMixture(1.5, 0.1, 0.5)`` if not given.
        noise_std: Standard deviation of the noise on y, in the units of y, > 0.
        hidden_units: Width of each hidden ReLU layer; () is a linear model.
        n_samples: Draws kept of each chain, at least 4, since R-hat compares halves.
        n_chains: Chains, at least 2, since R-hat compares them; each starts from the prior.
        n_warmup: Transitions that adapt the step size and are thrown away.
        n_thin: Transitions from one draw that is kept to the next. A prior of two scales needs
            thousands of transitions, but fewer draws say as much.
        seed: Seed of the starts and of the chains.
        progress: Called with (transitions done, transitions in all) as the chains run.

    Returns:
        A :class:`NutsFit`; read ``.report`` before believing it.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
        DivergedError: A chain left the finite log densities.
    """
    x, y = likelihoods.data("gaussian", x, y)
    network = MLP(x.shape[1], checks.layer_widths("hidden_units", hidden_units))
    prior = as_prior("prior", ScaleMixture() if prior is None else prior)
    kept = checks.count("n_samples", n_samples, minimum=4)
    warmup = checks.count("n_warmup", n_warmup)
    thin = checks.count("n_thin", n_thin)
    chains = checks.count("n_chains", n_chains, minimum=2)
    target = (
        as_float(x),
        as_float(y),
        as_float(prior.mixture, "prior"),
        as_float(checks.positive("noise_std", noise_std), "noise_std"),
    )
    start = prior.sample((chains, network.n_weights), seed=checks.count("seed", seed, 0))
    sampler = _Sampler(network, warmup, target, seed)
    weights, log_density, diverging = sampler.run(as_float(start), warmup, kept, thin, progress)
    lost = np.flatnonzero(~np.isfinite(log_density).all(axis=0))
    if lost.size:
        step = warmup + thin * (int(lost[0]) + 1)
        raise DivergedError(step, "raise the noise_std, or shrink the prior")
    outputs = np.stack([predictive.evaluate_weights(network, w, x) for w in weights])
    judged = np.concatenate([outputs, log_density[..., None]], axis=-1)  # [chains, s, n + 1]
    return NutsFit(weights, network, float(noise_std), *diagnose(judged), diverging)


def diagnose(draws: ArrayLike) -> tuple[Array, Array]:
    """Rank-normalised split R-hat and effective sample size of what chains have drawn.

    Draws are replaced by the normal scores of their ranks, so that heavy tails hide nothing, and
    R-hat compares half chains twice: where they are, and (folded about the median) how wide. The
    larger value counts. Of the effective sample sizes the smallest counts: that of the bulk, and
    those of the 5 % and 95 % quantiles.

    Args:
        draws: ``[chains, s, k]``: k quantities; at least 2 chains of 4 draws.

    Returns:
        R-hat ``[k]``, 1 at best (NaN where no draw differs from another, infinite where each chain
        stands still in a place of its own), and the effective number of draws, summed over the
        chains ``[k]``.

    Raises:
        ValueError: Fewer axes, chains or draws, or numbers that are not finite.

    Source: Vehtari, Gelman, Simpson, Carpenter, Bürkner 2021, sections 3.1, 4.1 and 4.3.
    """
    from arviz_stats.base.array import array_stats

    draws = checks.finite("draws", draws)
    if draws.ndim != 3 or draws.shape[0] < 2 or draws.shape[1] < 4 or draws.shape[2] < 1:
        expected = "[chains, s, k] with at least 2 chains of 4 draws"
        raise ValueError(f"draws: expected shape {expected}, got {draws.shape}")
    axes = {"chain_axis": 0, "draw_axis": 1}
    with np.errstate(divide="ignore", invalid="ignore"):  # of chains that stand still
        r_hat = array_stats.rhat(draws, **axes)
        bulk = array_stats.ess(draws, method="bulk", **axes)
        tail = array_stats.ess(draws, method="tail", prob=(0.05, 0.95), **axes)
    return np.asarray(r_hat), np.minimum(bulk, tail)


@one_line
@dataclass(frozen=True)
class NutsFit:
    """Draws of the weights' true posterior, as far as the chains have found it.

    The weights of a network are not identified (hidden units can be swapped), so that
    convergence is judged on what is: the network's outputs at the training inputs, and the log
    density.

    Attributes:
        weights: ``[chains, s, n_weights]``.
        network: The network that the weights belong to.
        noise_std: Standard deviation of the observation noise.
        r_hat: R-hat of each output at the training inputs, then of the log density ``[n + 1]``,
            as :func:`diagnose` has it.
        ess: Effective sample size of the same, summed over the chains ``[n + 1]``.
        divergences: Share of the transitions that NUTS gave up as divergent.
    """

    weights: Array
    network: MLP
    noise_std: float
    r_hat: Array
    ess: Array
    divergences: float

    @property
    def converged(self) -> bool:
        """Whether every R-hat is below 1.01, from at least 100 effective draws a chain."""
        enough = self.ess >= ESS_FLOOR * len(self.weights)
        return bool((self.r_hat < R_HAT_LIMIT).all() and enough.all())

    @property
    def report(self) -> str:
        """R-hat and effective sample size, as a sentence that says whether to trust the draws."""
        worst, least = float(self.r_hat.max()), float(self.ess.min())
        needs = f"needs R-hat < {R_HAT_LIMIT} and ESS >= {ESS_FLOOR * len(self.weights)}"
        verdict = "converged" if self.converged else f"NOT converged ({needs})"
        return f"NUTS {verdict}: largest R-hat {worst:.3f}, smallest ESS {least:.0f}"

    def predict(self, x: ArrayLike, n_samples: int | None = None, seed: int = 1) -> Predictive:
        """Average networks over the draws.

        Args:
            x: Test inputs ``[m, d]``.
            n_samples: Use this many draws, picked at random; all of them if not given.
            seed: Seed of the pick.

        Raises:
            ValueError: x does not fit the network, or more draws are asked for than there are.
        """
        x = checks.inputs("x", x, self.network.n_inputs)
        draws = self.weights.reshape(-1, self.network.n_weights)
        if n_samples is not None:
            if checks.count("n_samples", n_samples) > len(draws):
                raise ValueError(f"n_samples: expected at most {len(draws)}, got {n_samples}")
            rng = np.random.default_rng(checks.count("seed", seed, 0))
            draws = rng.permutation(draws)[:n_samples]
        samples = predictive.evaluate_weights(self.network, draws, x)
        return Predictive.from_samples(samples, self.noise_std)
