"""Mistakes in the method, not in the code: each is put in at run time, and a check must notice it.

A mutant is a function of the real function, patched in under every name that the package has for
it. Its check, nearly always a test of the suite, passes without it and fails with it. So a reader
sees which errors of meaning the suite is known to catch.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

import ipywidgets
import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from forgetting import clear, modules
from scipy import stats

from bdl_teach import datasets, densities, metrics, optimise, predictive
from bdl_teach import expectation_gradients as eg
from bdl_teach.backend import tf
from bdl_teach.experiments import judge
from bdl_teach.experiments.claim import Claim, Rule
from bdl_teach.methods import ensemble, sgmcmc
from bdl_teach.mlp import MLP
from bdl_teach.widgets._engine import missions
from tests import (
    test_calibration,
    test_densities,
    test_elbo,
    test_expectation_gradients,
    test_likelihoods,
    test_metrics,
    test_predictive,
)
from tests.methods import (
    test_empirical_bayes,
    test_exact,
    test_infinite_width,
    test_laplace,
    test_local_reparam,
    test_low_rank,
    test_mc_dropout,
    test_mcmc,
    test_pbp,
    test_twins,
    test_vae,
)

near = pytest.approx


# Checks: tests of the suite where one notices, and what none says as shortly


def of_judging() -> None:
    """Mean 1, standard deviation 2 and 64 worlds: the error is ¼, and 1 is four of them off."""
    claim = Claim("a", "s", "m", "", Rule(above=0.0))
    assert judge.judge(claim, [-1.0, 3.0] * 32).verdict == judge.HOLDS
    assert judge.judge(claim, [-1.0, 3.0] * 4).verdict == judge.OPEN


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


def of_starts() -> None:
    assert len({*optimise.start_seeds(3, 4)}) == 4 and optimise.start_seeds(3, 4)[0] == 3
    slider = ipywidgets.IntSlider(min=0, max=9)
    others = missions.next_seeds({"seed": 8}, slider)
    assert [values["seed"] for values in others] == [9, 0]


def of_data() -> None:
    data = datasets.sinusoid(n=4000, noise_std=3.0, seed=1)
    assert (data.y - data.truth(data.x)).std() == near(3.0, rel=0.05)


def of_nuts_draws() -> None:
    with pytest.MonkeyPatch.context() as patch:
        kept = 37 + np.arange(40)
        test_mcmc.test_the_draws_after_the_warm_up_are_kept_and_judged(
            patch, test_mcmc.SHORT, kept, 13 / 120
        )


def of_bbb() -> None:
    twin = test_twins.test_a_mean_field_fit_is_its_twin_s
    twin("bbb", test_twins.MIXTURE, 2, test_twins.GEOMETRIC, 0.7, None)


def of_local_reparameterization() -> None:
    twin = test_twins.test_a_mean_field_fit_is_its_twin_s
    twin("local", densities.Gaussian(0.8), 1, (1.0,), 1.0, None)


of_linear_regression = test_exact.test_linear_regression_equals_the_oracle
of_free_energy = test_exact.test_best_mean_field_elbo_equals_oracle_and_is_below_evidence
of_mixture = test_densities.test_mixture_log_prob_and_slope_are_exact
of_minibatch_weights = test_elbo.test_geometric_weights_equal_the_paper_formula
of_cost = partial(
    test_likelihoods.test_the_cost_of_each_draw_is_its_twin_summed_over_the_points, "gaussian"
)
of_expected_cost = partial(
    test_likelihoods.test_the_expected_cost_is_the_cost_averaged_over_gaussian_outputs, "gaussian"
)
of_intervals = partial(test_predictive.test_interval_holds_its_share_of_the_mixture, 0.95)
of_drawn_weights = test_predictive.test_drawn_weights_are_independent_and_follow_the_seed
of_scores = test_metrics.test_regression_scores_equal_the_oracle
of_uncertainty = test_metrics.test_uncertainty_scores_equal_the_oracle
of_conformal = partial(test_calibration.test_the_conformal_factor_is_the_score_of_its_rank, 0.9, 30)
of_auroc = partial(
    test_metrics.test_auroc_is_share_of_ordered_pairs_with_ties_half.hypothesis.inner_test,
    [(True, 1), (False, 1), (False, 0)],
)
of_adf = partial(
    test_pbp.test_adf_of_a_gaussian_likelihood_is_the_exact_posterior.hypothesis.inner_test,
    *(1.0, 2.0, 3.0, 0.5),
)
of_empirical_bayes = test_empirical_bayes.test_kl_and_prior_equal_the_oracle
of_linear_moments = test_pbp.test_linear_moments_are_those_of_drawn_weights
of_jacobian = test_laplace.test_the_jacobian_is_that_of_automatic_differentiation
of_low_rank = partial(test_low_rank.test_entropy_spread_and_draws_are_those_of_its_covariance, 3)
of_kernel = partial(test_infinite_width.test_kernel_equals_its_integral, (7,), (0.2, 0.5))
of_gradient_estimators = partial(
    test_expectation_gradients.test_both_estimators_have_the_gradient_as_mean_and_the_variance_said,
    *("score", "μ", eg.Cost(curvature=2.0, offset=1.0)),
)
TRACED = (of_bbb, of_local_reparameterization, of_ensemble, of_langevin)  # kept as programs


# Mutants


class Mutant(NamedTuple):
    """What goes wrong, where, how, and the check that notices."""

    wrong: str
    where: str
    change: Callable[[Any], Any]
    check: Callable[..., None]


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
           lambda real: lambda a, b, c, d: real(c, d, a, b), of_free_energy),
    Mutant("KL without its −½", B + "densities.gaussian_kl", shifted(0.5), of_free_energy),
    Mutant("sd for variance", B + "densities.gaussian_nll",
           lambda real: lambda y, m, v: real(y, m, v**0.5), of_free_energy),
    Mutant("no log 2π", B + "densities.gaussian_nll", shifted(-HALF_LOG), of_free_energy),
    Mutant("π of the narrow part", B + "densities.scale_mixture_log_prob",
           lambda real: lambda w, a, b, pi: real(w, a, b, 1 - pi), of_mixture),
    Mutant("shares of the KL backwards", B + "elbo.minibatch_weights",
           lambda real: lambda n, scheme="uniform": real(n, scheme)[::-1], of_minibatch_weights),
    Mutant("each minibatch pays the whole KL", B + "elbo.minibatch_weights",
           lambda real: lambda n, scheme="uniform": n * real(n, scheme), of_minibatch_weights),
    Mutant("2 nll for nll", B + "elbo.likelihood_cost", scaled(2.0), of_cost),
    Mutant("variance of the output forgotten", B + "elbo.expected_likelihood_cost",
           lambda real: lambda y, m, v, s, *w: real(y, m, 0 * v, s, *w), of_expected_cost),
    Mutant("noise left out of an interval", B + "predictive.Predictive.interval",
           lambda real: lambda self, level=0.95: real(
               replace(self, aleatoric_std=0 * self.aleatoric_std), level), of_intervals),
    Mutant("mean of logs for log of mean", B + "predictive.Predictive.log_prob",
           lambda real: lambda self, y: stats.norm.logpdf(
               y, self.samples, self.aleatoric_std).mean(axis=0),
           test_predictive.test_log_prob_of_draws_equals_the_oracle),
    Mutant("n for n − 1", B + "predictive.Predictive.mc_error",
           lambda real: property(lambda self: self.epistemic_std / len(self.samples) ** 0.5),
           test_predictive.test_mc_error_is_the_unbiased_standard_error_of_the_mean),
    Mutant("sds added", B + "predictive.Predictive.total_std",
           lambda real: property(lambda self: self.epistemic_std + self.aleatoric_std),
           test_predictive.test_variances_add),
    Mutant("sigmoid of the mean logit", B + "predictive.BernoulliPredictive.from_logits",
           lambda real: lambda logits: real(np.mean(logits, axis=0, keepdims=True)),
           test_predictive.test_a_classifier_s_probability_is_the_mean_of_the_sigmoids),
    Mutant("one ε for all weights", B + "predictive.draw_weights",
           lambda real: lambda m, s, n, seed: m + s * real(m[:1], s[:1], n, seed),
           of_drawn_weights),
    Mutant("variance for sd", B + "predictive.draw_weights",
           lambda real: lambda m, s, n, seed: real(m, s**2, n, seed), of_drawn_weights),
    Mutant("mean square for its root", B + "metrics.rmse",
           lambda real: lambda y, m: real(y, m) ** 2, of_scores),
    Mutant("sd for variance", B + "metrics.log_likelihood",
           lambda real: lambda y, m, v: real(y, m, v**0.5), of_scores),
    Mutant("upper end ignored", B + "metrics.coverage",
           lambda real: lambda y, low, high: real(y, low, np.add(high, 99)),
           test_metrics.test_coverage_includes_the_ends),
    Mutant("ties won", B + "metrics.auroc",
           lambda real: lambda labels, s: real(labels, np.add(s, 1e-9 * np.array(labels))),
           of_auroc),
    Mutant("mean of the entropies", B + "metrics.predictive_entropy",
           lambda real: lambda p: real(np.asarray(p)[:1]), of_uncertainty),
    Mutant("total for epistemic", B + "metrics.mutual_information",
           lambda real: metrics.predictive_entropy, of_uncertainty),
    Mutant("n for n + 1", B + "calibration.conformal_factor",
           lambda real: lambda s, level: np.quantile(s, level, method="inverted_cdf") - 1,
           of_conformal),
    Mutant("spread ignored", B + "calibration.distance",
           lambda real: lambda a, b, where=None: real(
               replace(a, epistemic_std=b.epistemic_std), b, where),
           test_calibration.test_the_distance_of_two_gaussians_is_wasserstein_s),
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
           test_mcmc.test_effective_sample_size_detects_autocorrelated_tails),
    Mutant("no ½", M + "empirical_bayes.kl", scaled(2.0), of_empirical_bayes),
    Mutant("μ for √(μ² + σ²)", M + "empirical_bayes.optimal_prior_std",
           lambda real: lambda m, s, groups=None: real(m, 0 * np.asarray(s), groups),
           of_empirical_bayes),
    Mutant("each weight its own prior", M + "empirical_bayes.optimal_prior_std",
           lambda real: lambda m, s, groups=None: real(m, s),
           test_empirical_bayes.test_tied_weights_share_the_prior_that_a_search_finds),
    Mutant("E[z²] for Var[z]", M + "pbp._moments.relu_moments",
           lambda real: lambda m, v: (real(m, v)[0], real(m, v)[1] + real(m, v)[0] ** 2),
           test_pbp.test_relu_moments_match_the_oracle_from_alpha_minus_40_to_40),
    Mutant("no 1/√(in + 1)", M + "pbp._moments.linear_moments",
           lambda real: lambda m, v, wm, wv: (
               real(m, v, wm, wv)[0] * 2**0.5, real(m, v, wm, wv)[1]), of_linear_moments),
    Mutant("variance of the weights left out", M + "pbp._moments.linear_moments",
           lambda real: lambda m, v, wm, wv: real(m, v, wm, 0 * wv), of_linear_moments),
    Mutant("v for v²", M + "pbp._moments.adf_update",
           lambda real: lambda m, v, a, b: (real(m, v, a, b)[0], v - (a * a - 2 * b)),
           of_adf),
    Mutant("noise never learnt", M + "pbp._moments.gamma_update",
           lambda real: lambda a, b, r, v: (real(a, b, r, v)[0], b),
           test_pbp.test_without_weight_uncertainty_the_gamma_update_is_nearly_conjugate),
    Mutant("σ for σ²", M + "local_reparam.preactivation_moments",
           lambda real: lambda x, m, s: real(x, m, np.sqrt(s)),
           test_local_reparam.test_preactivation_moments_equal_the_oracle),
    Mutant("sd of the prior for its variance", M + "laplace.prior_precision",
           lambda real: lambda w, prior: real(w, prior) ** 0.5,
           test_laplace.test_prior_precision_is_slope_over_weight_and_never_negative),
    Mutant("a gradient through dead units", M + "laplace.jacobian",
           lambda real: lambda network, w, x, n=None: (
               real(network, w, x, n)[0], real(network, np.abs(w), x, n)[1]), of_jacobian),
    Mutant("correlations not drawn", M + "low_rank.Fit.draw",
           lambda real: lambda self, n, seed=1: predictive.draw_weights(
               self.mean, np.sqrt(self.own_std**2 + (self.columns**2).sum(axis=1)), n, seed),
           of_low_rank),
    Mutant("SWAG's halves whole", M + "low_rank._moments",
           lambda real: lambda path, rank: (
               real(path, rank)[0], 2**0.5 * real(path, rank)[1], real(path, rank)[2]),
           test_low_rank.test_swag_takes_its_moments_as_algorithm_1_does),
    Mutant("kept units not scaled up", M + "mc_dropout.Fit.draw",
           lambda real: lambda self, n, seed=1: np.minimum(real(self, n, seed), self.weights),
           test_mc_dropout.test_dropout_draw_removes_whole_units_only),
    Mutant("all members start alike", M + "ensemble._draws",
           lambda real: lambda seeds, n, what: real([seeds[0]] * len(seeds), n, what),
           of_ensemble),
    Mutant("temperature ignored", M + "sgmcmc._move",
           lambda real: lambda *given: real(
               *given[:-1], SimpleNamespace(
                   own=SimpleNamespace(**{**vars(given[-1].own), "temperature": 1.0}))),
           of_langevin),
    Mutant("no bias of the output", M + "infinite_width._weighted",
           lambda real: lambda moments, factor, constant: real(moments, factor, 0.0), of_kernel),
    Mutant("mean over the codes for their sum", M + "vae.kl_from_prior", scaled(0.5),
           test_vae.test_the_analytic_kl_is_that_of_tfp),
    Mutant("no entropy of q", M + "vae.sampled_kl",
           lambda real: lambda eps, std, z: real(eps, tf.ones_like(std), z),
           test_vae.test_a_linear_elbo_is_that_of_the_oracle),
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
    forget = clear if mutant.check in TRACED else lambda: None
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
        forget()
        yield
    forget()


passed: set[Any] = set()  # checks that were seen to pass without a mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=[f"{m.where[10:]}: {m.wrong}" for m in MUTANTS])
def test_mistake_in_the_method_is_noticed(mutant: Mutant, oracle: Any) -> None:
    given = {"oracle": oracle} if "oracle" in inspect.signature(mutant.check).parameters else {}
    if mutant.check not in passed:
        mutant.check(**given)
        passed.add(mutant.check)
    with put_in(mutant), pytest.raises(AssertionError):
        mutant.check(**given)
