"""Mistakes in the method, not in the code: each is put in at run time, and a check must notice it.

A mutant is a function of the real function: it is patched in under every name that the package has
for it, with all compiled programs and tables cleared before and after. Its check passes without it
and fails with it. So a reader sees which errors of meaning the suite is known to catch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, NamedTuple

import ipywidgets
import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from forgetting import clear, modules
from scipy import stats

from bdl_teach import calibration, datasets, densities, elbo, metrics, optimise, predictive
from bdl_teach import expectation_gradients as eg
from bdl_teach.backend import tf
from bdl_teach.experiments import judge
from bdl_teach.experiments.claim import Claim, Rule
from bdl_teach.methods import empirical_bayes as eb
from bdl_teach.methods import (
    ensemble,
    exact,
    infinite_width,
    laplace,
    local_reparam,
    low_rank,
    mc_dropout,
    pbp,
    sgmcmc,
    vae,
)
from bdl_teach.mlp import MLP
from bdl_teach.predictive import BernoulliPredictive, Predictive
from bdl_teach.widgets._engine import missions
from tests.methods import test_mcmc, test_pbp, test_twins

near = pytest.approx
RNG = np.random.default_rng(0)
SAMPLES = RNG.normal(size=(6, 3))


# Checks: what is true of the package, in a few numbers


def of_densities() -> None:
    normal = stats.norm(0.5, 2.0)
    assert densities.gaussian_nll(2.0, 0.5, 4.0) == near(-normal.logpdf(2.0))
    assert densities.gaussian_kl(1.0, 0.5, 0.0, 2.0) == near(np.log(4.0) + 1.25 / 8 - 0.5)
    parts = 0.3 * stats.norm.pdf(1.0, 0, 2.0) + 0.7 * stats.norm.pdf(1.0, 0, 0.5)
    assert densities.scale_mixture_log_prob(1.0, 2.0, 0.5, 0.3) == near(np.log(parts))


def of_minibatch_weights() -> None:
    for scheme in ("uniform", "geometric"):
        shares = elbo.minibatch_weights(3, scheme)
        assert shares.sum() == near(1.0) and (np.diff(shares) <= 0).all()
    assert elbo.minibatch_weights(3, "geometric")[0] == near(4 / 7)


def of_costs() -> None:
    y, f = tf.constant([[1.0]]), tf.constant([[3.0]])
    nll = -stats.norm(3.0, 2.0).logpdf(1.0)
    assert float(elbo.likelihood_cost(y, f, tf.constant(2.0))) == near(nll, rel=1e-5)
    spread = elbo.expected_likelihood_cost(y, f, tf.constant([[4.0]]), tf.constant(2.0))
    assert float(spread) == near(nll + 0.5, rel=1e-5)


def of_predictions() -> None:
    p = Predictive.from_samples(SAMPLES, 0.7)
    each = stats.norm.pdf(0.3, SAMPLES, 0.7)
    np.testing.assert_allclose(p.log_prob([0.3] * 3), np.log(each.mean(axis=0)))
    for level, end in zip((0.05, 0.95), p.interval(0.9), strict=True):
        np.testing.assert_allclose(stats.norm.cdf(end, SAMPLES, 0.7).mean(axis=0), level, rtol=1e-6)
    np.testing.assert_allclose(p.epistemic_std**2, SAMPLES.var(axis=0))
    np.testing.assert_allclose(p.total_std**2, SAMPLES.var(axis=0) + 0.49)
    np.testing.assert_allclose(p.mc_error, SAMPLES.std(axis=0, ddof=1) / np.sqrt(6))
    labels = BernoulliPredictive.from_logits(3 * SAMPLES)
    np.testing.assert_allclose(labels.probability, (1 / (1 + np.exp(-3 * SAMPLES))).mean(axis=0))


def of_drawn_weights() -> None:
    drawn = predictive.draw_weights(np.full(2, 1.0), np.array([0.5, 2.0]), 4000, 0)
    np.testing.assert_allclose(drawn.mean(axis=0), 1.0, atol=0.15)
    np.testing.assert_allclose(np.cov(drawn.T), np.diag([0.25, 4.0]), atol=0.25)


def of_metrics() -> None:
    y = np.array([0.0, 1.0, 4.0])
    assert metrics.rmse(y, np.zeros(3)) == near(np.sqrt(17 / 3))
    said = stats.norm(1.0, 2.0).logpdf(y).mean()
    assert metrics.log_likelihood(y, np.ones(3), np.full(3, 4.0)) == near(said)
    assert metrics.coverage(y, np.full(3, 0.5), np.full(3, 3.0)) == near(1 / 3)
    assert metrics.auroc([0, 0, 1], [0.1, 0.5, 0.5]) == near(0.75)
    p = np.array([[[0.9, 0.1]], [[0.1, 0.9]]])
    assert metrics.predictive_entropy(p)[0] == near(np.log(2))
    assert metrics.mutual_information(p)[0] == near(np.log(2) - stats.entropy([0.9, 0.1]))


def of_calibration() -> None:
    assert calibration.conformal_factor(np.arange(1.0, 20.0), 0.95) == near(19.0)
    one = Predictive(np.zeros(2), np.ones(2), np.ones(2))
    other = Predictive(np.full(2, 3.0), np.full(2, 5.0), np.ones(2))
    assert calibration.distance(one, other) == near(5.0)


def of_judging() -> None:
    """Mean 1, standard deviation 2 and 64 worlds: the error is ¼, and 1 is four of them off."""
    claim = Claim("a", "s", "m", "", Rule(above=0.0))
    assert judge.judge(claim, [-1.0, 3.0] * 32).verdict == judge.HOLDS
    assert judge.judge(claim, [-1.0, 3.0] * 4).verdict == judge.OPEN


def of_linear_regression() -> None:
    posterior = exact.linear_regression([[1.0]], [[2.0]], prior_std=2.0, noise_std=3.0)
    assert posterior.mean[0] == near(2 * 4 / 13) and posterior.cov[0, 0] == near(36 / 13)
    assert posterior.log_evidence == near(stats.norm(0.0, np.sqrt(13)).logpdf(2.0))
    p = posterior.predict([[2.0]])
    assert (p.epistemic_std[0] ** 2, p.aleatoric_std[0]) == (near(4 * 36 / 13), near(3.0))


def of_empirical_bayes() -> None:
    assert eb.kl([1.0, 2.0]) == near(0.5 * np.log(2) + 0.5 * np.log(5))
    np.testing.assert_allclose(eb.optimal_prior_std([3.0, 1.0], [4.0, 1.0]), [5.0, 2**0.5])
    tied = eb.optimal_prior_std([3.0, 1.0], [4.0, 0.0], [0, 0])
    np.testing.assert_allclose(tied, np.sqrt(13.0))


def of_pbp() -> None:
    z = RNG.normal(1.0, 0.8, 200_000).clip(0.0)
    mean, var = pbp.relu_moments(1.0, 0.64)
    assert (float(mean), float(var)) == (near(z.mean(), rel=0.01), near(z.var(), rel=0.02))
    mean, var = pbp.linear_moments(
        np.array([2.0]), np.array([1.0]), np.array([[3.0, 1.0]]), np.array([[0.5, 0.25]])
    )
    assert mean[0] == near(7 / 2**0.5)  # with the bias, over the root of both
    assert var[0] == near((9 * 1 + 0.5 * (4 + 1) + 0.25) / 2)
    m, v = 1.0, 2.0  # of a Gaussian likelihood the update is the exact posterior
    slope, slope_v = (3.0 - m) / (v + 1), 0.5 * (((3.0 - m) / (v + 1)) ** 2 - 1 / (v + 1))
    assert pbp.adf_update(m, v, slope, slope_v) == (near(1 + 4 / 3), near(2 / 3))


def of_local_moments() -> None:
    mean, var = local_reparam.preactivation_moments([[2.0, 1.0]], [[3.0], [1.0]], [[0.5], [0.1]])
    assert (mean.item(), var.item()) == (near(7.0), near(4 * 0.25 + 0.01))


def of_laplace() -> None:
    np.testing.assert_allclose(
        laplace.prior_precision(np.array([0.3]), densities.Gaussian(2.0)), 0.25
    )
    network, x = MLP(1, (3,)), np.array([[0.7], [-1.2]])
    w = np.random.default_rng(1).normal(size=network.n_weights)
    f, rows = laplace.jacobian(network, w, x)
    steps = [laplace.jacobian(network, w + 1e-6 * e, x)[0] for e in np.eye(len(w))]
    np.testing.assert_allclose(rows.T, (np.array(steps) - f) / 1e-6, atol=1e-4)


def of_low_rank() -> None:
    columns = np.array([[1.0], [2.0]])
    held: Any = SimpleNamespace(mean=np.zeros(2), own_std=np.array([0.5, 1.0]), columns=columns)
    exactly = np.array([[1.25, 2.0], [2.0, 5.0]])
    drawn = low_rank.Fit.draw(held, 20_000, 0)
    np.testing.assert_allclose(np.cov(drawn.T), exactly, atol=0.2)
    path = RNG.normal(size=(4000, 2)) @ np.diag([1.0, 3.0])
    mean, own, spread = low_rank._moments(path, 500)
    np.testing.assert_allclose(mean, 0.0, atol=0.15)
    half = np.diag([1.0, 9.0])  # SWAG takes half of the variance from each part
    np.testing.assert_allclose(2 * np.diag(own**2), half, atol=0.7)
    np.testing.assert_allclose(2 * spread @ spread.T, half, atol=1.2)


def of_dropout() -> None:
    network = MLP(1, (4,))
    held: Any = SimpleNamespace(network=network, rate=0.25, weights=np.ones(network.n_weights))
    drawn = mc_dropout.Fit.draw(held, 4000, 0)
    np.testing.assert_allclose(drawn.mean(axis=0), 1.0, atol=0.05)
    outgoing = drawn[:, 8:12]  # the weights behind the four hidden units
    np.testing.assert_allclose(np.corrcoef(outgoing.T) - np.eye(4), 0.0, atol=0.08)


def of_ensemble() -> None:
    one, other = ensemble._draws([1, 2], 50, 0)
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.5 and (one != other).any()


def of_langevin() -> None:
    """Far from all data the noise alone moves a chain: by 2 (1 − momentum) rate · T / mass."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sgmcmc, "_slope", lambda *_: tf.zeros([1, 20_000]))
        noise = tf.random.stateless_normal([1, 1, 20_000], [0, 1])
        zero, one = tf.zeros([1, 20_000]), tf.ones([1, 20_000])
        walk = SimpleNamespace(learning_rate=0.01, momentum=0.9, temperature=0.5)
        told: Any = SimpleNamespace(own=walk)
        state = sgmcmc.State(tf.constant(0), zero, zero, 4.0 * one)
        patch.setattr(sgmcmc, "_WINDOW", 1)
        moved = sgmcmc._move(MLP(1, ()), "gaussian", state, noise, zero, told).w
    assert float(tf.math.reduce_variance(moved)) == near(2 * 0.1 * 0.01 * 0.5 / 4, rel=0.05)


def of_infinite_width() -> None:
    x, prior = np.array([[0.5], [-1.0]]), densities.Gaussian(1.5)
    unit = RNG.normal(size=(2, 400_000)) * 1.5
    hidden = np.maximum(0.0, x * unit[0] + unit[1])  # [2, units]
    by_hand = 2.25 * 7 * (hidden @ hidden.T) / 400_000 + 2.25
    found = infinite_width.kernel(x, prior=prior, hidden_units=(7,))
    np.testing.assert_allclose(found, by_hand, rtol=0.02)


def of_vae() -> None:
    mean, std = np.array([[1.0, 0.0]]), np.array([[0.5, 3.0]])
    analytic = vae.kl_from_prior(mean, std)
    assert analytic[0] == near((0.5 * (mean**2 + std**2 - 1) - np.log(std)).sum())
    eps = RNG.normal(size=(100_000, 1, 2))
    drawn = vae.sampled_kl(tf.constant(eps), tf.constant(std), tf.constant(mean + std * eps))
    assert float(tf.reduce_mean(drawn)) == near(analytic[0], rel=0.02)


def of_starts() -> None:
    assert len({*optimise.start_seeds(3, 4)}) == 4 and optimise.start_seeds(3, 4)[0] == 3
    slider = ipywidgets.IntSlider(min=0, max=9)
    others = missions.next_seeds({"seed": 8}, slider)
    assert [values["seed"] for values in others] == [9, 0]


def of_gradient_estimators() -> None:
    cost, eps = eg.Cost(curvature=2.0, offset=1.0), RNG.normal(size=200_000)
    for kind in ("score", "pathwise"):
        drawn = eg.draws(kind, "μ", cost, 0.5, 0.8, eps)
        assert drawn.mean() == near(cost.gradient(0.5, 0.8)[0], rel=0.03)
        assert drawn.var() == near(eg.variance(kind, "μ", cost, 0.5, 0.8), rel=0.05)


def of_data() -> None:
    data = datasets.sinusoid(n=4000, noise_std=3.0, seed=1)
    assert (data.y - data.truth(data.x)).std() == near(3.0, rel=0.05)


def of_nuts_draws() -> None:
    with pytest.MonkeyPatch.context() as patch:
        kept = 37 + np.arange(40)
        test_mcmc.test_the_draws_after_the_warm_up_are_kept_and_judged(
            patch, test_mcmc.SHORT, kept, 13 / 120
        )


def of_tail_draws() -> None:
    test_mcmc.test_effective_sample_size_detects_autocorrelated_tails()


def of_noise_precision() -> None:
    test_pbp.test_without_weight_uncertainty_the_gamma_update_is_nearly_conjugate()


def of_bbb() -> None:
    twin = test_twins.test_a_mean_field_fit_is_its_twin_s
    twin("bbb", test_twins.MIXTURE, 2, test_twins.GEOMETRIC, 0.7, None)


def of_local_reparameterization() -> None:
    twin = test_twins.test_a_mean_field_fit_is_its_twin_s
    twin("local", densities.Gaussian(0.8), 1, (1.0,), 1.0, None)


# Mutants


class Mutant(NamedTuple):
    """What goes wrong, where, how, and the check that notices."""

    wrong: str
    where: str
    change: Callable[[Any], Any]
    check: Callable[[], None]


def scaled(factor: float) -> Callable[[Any], Any]:
    return lambda real: lambda *given, **named: factor * real(*given, **named)


def shifted(by: float) -> Callable[[Any], Any]:
    return lambda real: lambda *given, **named: real(*given, **named) + by


def block_with(change: Callable[[Any], dict[str, Any]]) -> Callable[[Any], Any]:
    def mutate(real: Any) -> Any:
        def make(*given: Any) -> Any:
            block = real(*given)
            return block._replace(**change(block))

        return make

    return mutate


def first(noise: Any, axis: int = -1) -> Any:
    """The first number along an axis in place of each."""
    return tf.gather(noise, [0], axis=axis) + tf.zeros_like(noise)


B = "bdl_teach."
M = "bdl_teach.methods."
HALF_LOG = 0.5 * np.log(2 * np.pi)
MUTANTS = [
    Mutant("q and p swapped", B + "densities.gaussian_kl",
           lambda real: lambda a, b, c, d: real(c, d, a, b), of_densities),
    Mutant("KL without its −½", B + "densities.gaussian_kl", shifted(0.5), of_densities),
    Mutant("sd for variance", B + "densities.gaussian_nll",
           lambda real: lambda y, m, v: real(y, m, v**0.5), of_densities),
    Mutant("no log 2π", B + "densities.gaussian_nll", shifted(-HALF_LOG), of_densities),
    Mutant("π of the narrow part", B + "densities.scale_mixture_log_prob",
           lambda real: lambda w, a, b, pi: real(w, a, b, 1 - pi), of_densities),
    Mutant("shares of the KL backwards", B + "elbo.minibatch_weights",
           lambda real: lambda n, scheme="uniform": real(n, scheme)[::-1], of_minibatch_weights),
    Mutant("each minibatch pays the whole KL", B + "elbo.minibatch_weights",
           lambda real: lambda n, scheme="uniform": n * real(n, scheme), of_minibatch_weights),
    Mutant("2 nll for nll", B + "elbo.likelihood_cost", scaled(2.0), of_costs),
    Mutant("variance of the output forgotten", B + "elbo.expected_likelihood_cost",
           lambda real: lambda y, m, v, s, *w: real(y, m, 0 * v, s, *w), of_costs),
    Mutant("noise left out of an interval", B + "predictive.Predictive.interval",
           lambda real: lambda self, level=0.95: real(
               replace(self, aleatoric_std=0 * self.aleatoric_std), level), of_predictions),
    Mutant("mean of logs for log of mean", B + "predictive.Predictive.log_prob",
           lambda real: lambda self, y: stats.norm.logpdf(
               y, self.samples, self.aleatoric_std).mean(axis=0), of_predictions),
    Mutant("n for n − 1", B + "predictive.Predictive.mc_error",
           lambda real: property(lambda self: self.epistemic_std / len(self.samples) ** 0.5),
           of_predictions),
    Mutant("sds added", B + "predictive.Predictive.total_std",
           lambda real: property(lambda self: self.epistemic_std + self.aleatoric_std),
           of_predictions),
    Mutant("sigmoid of the mean logit", B + "predictive.BernoulliPredictive.from_logits",
           lambda real: lambda logits: real(np.mean(logits, axis=0, keepdims=True)),
           of_predictions),
    Mutant("one ε for all weights", B + "predictive.draw_weights",
           lambda real: lambda m, s, n, seed: m + s * real(m[:1], s[:1], n, seed),
           of_drawn_weights),
    Mutant("variance for sd", B + "predictive.draw_weights",
           lambda real: lambda m, s, n, seed: real(m, s**2, n, seed), of_drawn_weights),
    Mutant("mean square for its root", B + "metrics.rmse",
           lambda real: lambda y, m: real(y, m) ** 2, of_metrics),
    Mutant("sd for variance", B + "metrics.log_likelihood",
           lambda real: lambda y, m, v: real(y, m, v**0.5), of_metrics),
    Mutant("upper end ignored", B + "metrics.coverage",
           lambda real: lambda y, low, high: real(y, low, high + 99), of_metrics),
    Mutant("ties won", B + "metrics.auroc",
           lambda real: lambda labels, s: real(labels, np.add(s, 1e-9 * np.array(labels))),
           of_metrics),
    Mutant("mean of the entropies", B + "metrics.predictive_entropy",
           lambda real: lambda p: real(np.asarray(p)[:1]), of_metrics),
    Mutant("total for epistemic", B + "metrics.mutual_information",
           lambda real: metrics.predictive_entropy, of_metrics),
    Mutant("n for n + 1", B + "calibration.conformal_factor",
           lambda real: lambda s, level: np.quantile(s, level, method="inverted_cdf") - 1,
           of_calibration),
    Mutant("spread ignored", B + "calibration.distance",
           lambda real: lambda a, b, where=None: real(
               replace(a, epistemic_std=b.epistemic_std), b, where), of_calibration),
    Mutant("sd for standard error", B + "experiments.judge.mean_and_error",
           lambda real: lambda effects: (real(effects)[0], np.std(effects, ddof=1)), of_judging),
    Mutant("variance of the prior for its sd", M + "exact.linear_regression",
           lambda real: lambda x, y, prior_std, noise_std: real(x, y, prior_std**2, noise_std),
           of_linear_regression),
    Mutant("variance of the noise for its sd", M + "exact.linear_regression",
           lambda real: lambda x, y, prior_std, noise_std: real(x, y, prior_std, noise_std**2),
           of_linear_regression),
    Mutant("warm-up for draws", M + "mcmc._Chains.run",
           lambda real: lambda self, n_draws, progress: real(
               self._replace(recipe=self.recipe._replace(n_warmup=0)), n_draws, progress),
           of_nuts_draws),
    Mutant("tails not judged", M + "mcmc.diagnose",
           lambda real: lambda draws: (real(draws)[0], array_stats.ess(
               draws, method="bulk", chain_axis=0, draw_axis=1)),
           of_tail_draws),
    Mutant("no ½", M + "empirical_bayes.kl", scaled(2.0), of_empirical_bayes),
    Mutant("μ for √(μ² + σ²)", M + "empirical_bayes.optimal_prior_std",
           lambda real: lambda m, s, groups=None: real(m, 0 * np.asarray(s), groups),
           of_empirical_bayes),
    Mutant("each weight its own prior", M + "empirical_bayes.optimal_prior_std",
           lambda real: lambda m, s, groups=None: real(m, s), of_empirical_bayes),
    Mutant("E[z²] for Var[z]", M + "pbp._moments.relu_moments",
           lambda real: lambda m, v: (real(m, v)[0], real(m, v)[1] + real(m, v)[0] ** 2), of_pbp),
    Mutant("no 1/√(in + 1)", M + "pbp._moments.linear_moments",
           lambda real: lambda m, v, wm, wv: (
               real(m, v, wm, wv)[0] * 2**0.5, real(m, v, wm, wv)[1]), of_pbp),
    Mutant("variance of the weights left out", M + "pbp._moments.linear_moments",
           lambda real: lambda m, v, wm, wv: real(m, v, wm, 0 * wv), of_pbp),
    Mutant("v for v²", M + "pbp._moments.adf_update",
           lambda real: lambda m, v, a, b: (real(m, v, a, b)[0], v - (a * a - 2 * b)), of_pbp),
    Mutant("noise never learnt", M + "pbp._moments.gamma_update",
           lambda real: lambda a, b, r, v: (real(a, b, r, v)[0], b), of_noise_precision),
    Mutant("σ for σ²", M + "local_reparam.preactivation_moments",
           lambda real: lambda x, m, s: real(x, m, np.sqrt(s)), of_local_moments),
    Mutant("sd of the prior for its variance", M + "laplace.prior_precision",
           lambda real: lambda w, prior: real(w, prior) ** 0.5, of_laplace),
    Mutant("a gradient through dead units", M + "laplace.jacobian",
           lambda real: lambda network, w, x, n=None: (
               real(network, w, x, n)[0], real(network, np.abs(w), x, n)[1]), of_laplace),
    Mutant("correlations not drawn", M + "low_rank.Fit.draw",
           lambda real: lambda self, n, seed=1: predictive.draw_weights(
               self.mean, np.sqrt(self.own_std**2 + (self.columns**2).sum(axis=1)), n, seed),
           of_low_rank),
    Mutant("SWAG's halves whole", M + "low_rank._moments",
           lambda real: lambda path, rank: (
               real(path, rank)[0], 2**0.5 * real(path, rank)[1], real(path, rank)[2]),
           of_low_rank),
    Mutant("kept units not scaled up", M + "mc_dropout.Fit.draw",
           lambda real: lambda self, n, seed=1: np.minimum(real(self, n, seed), self.weights),
           of_dropout),
    Mutant("all members start alike", M + "ensemble._draws",
           lambda real: lambda seeds, n, what: real([seeds[0]] * len(seeds), n, what),
           of_ensemble),
    Mutant("temperature ignored", M + "sgmcmc._move",
           lambda real: lambda *given: real(
               *given[:-1], SimpleNamespace(
                   own=SimpleNamespace(**{**vars(given[-1].own), "temperature": 1.0}))),
           of_langevin),
    Mutant("no bias of the output", M + "infinite_width._weighted",
           lambda real: lambda moments, factor, constant: real(moments, factor, 0.0),
           of_infinite_width),
    Mutant("mean over the codes for their sum", M + "vae.kl_from_prior", scaled(0.5), of_vae),
    Mutant("no entropy of q", M + "vae.sampled_kl",
           lambda real: lambda eps, std, z: real(eps, tf.ones_like(std), z), of_vae),
    Mutant("every start the same", B + "optimise.start_seeds",
           lambda real: lambda seed, n: [seed] * n, of_starts),
    Mutant("one seed for all worlds of a mission", B + "widgets._engine.missions.next_seeds",
           lambda real: lambda values, seed: [values, values], of_starts),
    Mutant("second moment for variance", B + "expectation_gradients.variance",
           lambda real: lambda kind, by, cost, m, s: (
               real(kind, by, cost, m, s) + cost.gradient(m, s)[0] ** 2), of_gradient_estimators),
    Mutant("score without 1/σ", B + "expectation_gradients.draws",
           lambda real: lambda kind, by, cost, m, s, eps: (
               real(kind, by, cost, m, s, eps) * (s if kind == "score" else 1.0)),
           of_gradient_estimators),
    Mutant("noise of variance σ", B + "datasets.toy.sinusoid",
           lambda real: lambda n=32, noise_std=1.0, seed=0: real(n, noise_std**0.5, seed), of_data),
    Mutant("a minibatch pays the whole KL", M + "_loop.make_block",
           block_with(lambda b: {"kl_share": tf.ones_like(b.kl_share)}), of_bbb),
    Mutant("one ε for all weights of a step", M + "_loop.make_block",
           block_with(lambda b: {"eps": first(b.eps)}), of_bbb),
    Mutant("no log q", B + "elbo.complexity_cost",
           lambda real: lambda eps, std, log_prior, mask=1.0: real(
               eps, tf.ones_like(std), log_prior, mask), of_bbb),
    Mutant("one ζ for all points", M + "local_reparam._local_layer",
           lambda real: lambda h, mean, std, zeta: real(h, mean, std, [first(zeta[0])]),
           of_local_reparameterization),
]  # fmt: skip


@contextmanager
def put_in(mutant: Mutant) -> Iterator[None]:
    """Patch a mutant in wherever the package has the function."""
    path, _, name = mutant.where.rpartition(".")
    owner: Any = sys.modules.get(path)
    with pytest.MonkeyPatch.context() as patch:
        if owner is None:  # a class
            module, _, kind = path.rpartition(".")
            owner = getattr(sys.modules[module], kind)
            real = vars(owner)[name]
            bound = getattr(owner, name) if isinstance(real, classmethod) else real
            new = mutant.change(bound)
            patch.setattr(owner, name, staticmethod(new) if bound is not real else new)
        else:
            real = getattr(owner, name)
            new = mutant.change(real)
            for module in modules():
                for alias in [key for key, value in vars(module).items() if value is real]:
                    patch.setattr(module, alias, new)
        clear()
        yield
    clear()


passed: set[Any] = set()  # checks that were seen to pass without a mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=[f"{m.where[10:]}: {m.wrong}" for m in MUTANTS])
def test_mistake_in_the_method_is_noticed(mutant: Mutant) -> None:
    if mutant.check not in passed:
        mutant.check()
        passed.add(mutant.check)
    with put_in(mutant), pytest.raises(AssertionError):
        mutant.check()
