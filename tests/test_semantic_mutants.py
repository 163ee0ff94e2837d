"""Mistakes in the method: each is patched in at run time, and its check must fail.

A mutant wraps the real function and replaces it under every name in the package. Its check is a
test of the suite that passes without the mutant.
"""

import inspect
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from arviz_stats.base.array import array_stats
from forgetting import clear, modules
from scipy import stats

from bdl_teach import metrics, predictive
from bdl_teach.backend import tf
from tests import (
    test_calibration,
    test_elbo,
    test_expectation_gradients,
    test_likelihoods,
    test_metrics,
    test_predictive,
)
from tests.methods import (
    test_empirical_bayes,
    test_exact,
    test_float64_references,
    test_infinite_width,
    test_laplace,
    test_low_rank,
    test_mc_dropout,
    test_mcmc,
    test_pbp,
    test_vae,
)

# Checks: tests of the suite


def of_nuts_draws() -> None:
    with pytest.MonkeyPatch.context() as patch:
        kept = 37 + np.arange(40)
        test_mcmc.test_draws_after_warm_up_are_kept_and_diagnosed(
            patch, test_mcmc.SHORT, kept, 13 / 120
        )


of_bbb, of_local_reparameterization = (
    partial(
        test_float64_references.test_mean_field_fit_equals_float64_reference,
        *test_float64_references.MEAN_FIELD[i],
    )
    for i in (0, 1)
)
of_free_energy = test_exact.test_best_mean_field_elbo_equals_oracle_and_is_below_evidence
of_minibatch_weights = test_elbo.test_minibatch_weights_equal_formula_of_the_paper
of_expected_cost = partial(
    test_likelihoods.test_expected_cost_equals_cost_averaged_over_gaussian_outputs, "gaussian"
)
of_intervals = partial(test_predictive.test_interval_has_its_probability_under_the_mixture, 0.95)
of_drawn_weights = test_predictive.test_drawn_weights_are_independent_and_follow_the_seed
of_uncertainty = test_metrics.test_uncertainty_scores_equal_the_oracle
of_conformal = partial(
    test_calibration.test_conformal_factor_is_the_score_at_the_conformal_rank, 0.9, 30
)
of_auroc = partial(
    test_metrics.test_auroc_is_share_of_ordered_pairs_plus_half_of_ties.hypothesis.inner_test,
    [(True, 1), (False, 1), (False, 0)],
)
of_linear_moments = test_pbp.test_linear_moments_equal_those_of_drawn_weights
of_jacobian = test_laplace.test_jacobian_equals_automatic_differentiation
of_low_rank = partial(test_low_rank.test_low_rank_entropy_and_draws_match_its_covariance, 3)
of_kernel = partial(
    test_infinite_width.test_kernel_in_closed_form_equals_numerical_integration, (7,), (0.2, 0.5)
)
of_gradient_estimators = partial(
    test_expectation_gradients.test_gradient_estimators_have_exact_mean_and_stated_variance,
    *("score", "μ", test_expectation_gradients.COSTS[1]),
)
TRACED = (of_bbb, of_local_reparameterization)  # compiled: caches must be cleared


# Mutants


class Mutant(NamedTuple):
    """A mistake: what is wrong, in which function, how it is changed, and the check that fails."""

    wrong: str
    where: str
    change: Callable[[Any], Any]
    check: Callable[..., None]


def block_with(change: Callable[[Any], dict[str, Any]]) -> Callable[[Any], Any]:
    def mutate(real: Any) -> Any:
        def make(*given: Any) -> Any:
            block = real(*given)
            return block._replace(**change(block))

        return make

    return mutate


def first(noise: Any, axis: int = -1) -> Any:
    """Repeat the first number along an axis in place of each."""
    return tf.gather(noise, [0], axis=axis) + tf.zeros_like(noise)


B = "bdl_teach."
M = "bdl_teach.methods."
MUTANTS = [
    Mutant("q and p swapped", B + "densities.gaussian_kl",
           lambda real: lambda a, b, c, d: real(c, d, a, b), of_free_energy),
    Mutant("shares of the KL backwards", B + "elbo.minibatch_weights",
           lambda real: lambda n, scheme="uniform": real(n, scheme)[::-1], of_minibatch_weights),
    Mutant("each minibatch pays the whole KL", B + "elbo.minibatch_weights",
           lambda real: lambda n, scheme="uniform": n * real(n, scheme), of_minibatch_weights),
    Mutant("variance of the output forgotten", B + "likelihoods.expected_cost",
           lambda real: lambda kind, y, m, v, *rest: real(kind, y, m, 0 * v, *rest),
           of_expected_cost),
    Mutant("noise left out of an interval", B + "predictive.Predictive.interval",
           lambda real: lambda self, level=0.95: real(
               replace(self, aleatoric_std=0 * self.aleatoric_std), level), of_intervals),
    Mutant("mean of logs for log of mean", B + "predictive.Predictive.log_prob",
           lambda real: lambda self, y: stats.norm.logpdf(
               y, self.samples, self.aleatoric_std).mean(axis=0),
           test_predictive.test_log_prob_of_draws_equals_the_oracle),
    Mutant("sigmoid of the mean logit", B + "predictive.BernoulliPredictive.from_logits",
           lambda real: lambda logits: real(np.mean(logits, axis=0, keepdims=True)),
           test_predictive.test_classifier_probability_is_the_mean_of_the_sigmoids),
    Mutant("one ε for all weights", B + "predictive.draw_weights",
           lambda real: lambda m, s, n, seed: m + s * real(m[:1], s[:1], n, seed),
           of_drawn_weights),
    Mutant("ties won", B + "metrics.auroc",
           lambda real: lambda labels, s: real(labels, np.add(s, 1e-9 * np.array(labels))),
           of_auroc),
    Mutant("total for epistemic", B + "metrics.mutual_information",
           lambda real: metrics.predictive_entropy, of_uncertainty),
    Mutant("n for n + 1", B + "calibration.conformal_factor",
           lambda real: lambda s, level: np.quantile(s, level, method="inverted_cdf") - 1,
           of_conformal),
    Mutant("spread ignored", B + "calibration.distance",
           lambda real: lambda a, b, where=None: real(
               replace(a, epistemic_std=b.epistemic_std), b, where),
           test_calibration.test_distance_of_two_gaussians_is_their_wasserstein_distance),
    Mutant("warm-up for draws", M + "mcmc._Chains.run",
           lambda real: lambda self, n_draws, progress: real(
               self._replace(recipe=self.recipe._replace(n_warmup=1)), n_draws, progress),
           of_nuts_draws),
    Mutant("tails not judged", M + "mcmc.diagnose",
           lambda real: lambda draws: (real(draws)[0], array_stats.ess(
               draws, method="bulk", chain_axis=0, draw_axis=1)),
           test_mcmc.test_effective_sample_size_detects_autocorrelated_tails),
    Mutant("each weight its own prior", M + "empirical_bayes.optimal_prior_std",
           lambda real: lambda m, s, groups=None: real(m, s),
           test_empirical_bayes.test_tied_weights_share_the_prior_found_by_numerical_search),
    Mutant("variance of the weights left out", M + "pbp._moments.linear_moments",
           lambda real: lambda m, v, wm, wv: real(m, v, wm, 0 * wv), of_linear_moments),
    Mutant("noise never learnt", M + "pbp._moments.gamma_update",
           lambda real: lambda a, b, r, v: (real(a, b, r, v)[0], b),
           test_pbp.test_gamma_update_without_weight_variance_is_nearly_conjugate),
    Mutant("a gradient through dead units", M + "laplace.jacobian",
           lambda real: lambda network, w, x, n=None: (
               real(network, w, x, n)[0], real(network, np.abs(w), x, n)[1]), of_jacobian),
    Mutant("correlations not drawn", M + "low_rank.Fit._draw",
           lambda real: lambda self, n, seed=1: predictive.draw_weights(
               self.mean, np.sqrt(self.own_std**2 + (self.columns**2).sum(axis=1)), n, seed),
           of_low_rank),
    Mutant("kept units not scaled up", M + "mc_dropout.Fit._draw",
           lambda real: lambda self, n, seed=1: np.minimum(real(self, n, seed), self.weights),
           test_mc_dropout.test_dropout_draw_removes_whole_units_only),
    Mutant("no bias of the output", M + "infinite_width._weighted",
           lambda real: lambda moments, factor, constant: real(moments, factor, 0.0), of_kernel),
    Mutant("no entropy of q", M + "vae.sampled_kl",
           lambda real: lambda eps, std, z: real(eps, tf.ones_like(std), z),
           test_vae.test_elbo_of_linear_vae_equals_the_oracle),
    Mutant("score without 1/σ", B + "expectation_gradients.draws",
           lambda real: lambda kind, by, cost, m, s, eps: (
               real(kind, by, cost, m, s, eps) * (s if kind == "score" else 1.0)),
           of_gradient_estimators),
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
    """Patch a mutant in wherever the package uses the function."""
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


@pytest.mark.parametrize("mutant", MUTANTS, ids=[f"{m.where[10:]}: {m.wrong}" for m in MUTANTS])
def test_mistake_put_into_the_code_fails_a_check(mutant: Mutant, oracle: Any) -> None:
    given = {"oracle": oracle} if "oracle" in inspect.signature(mutant.check).parameters else {}
    with put_in(mutant), pytest.raises(AssertionError):
        mutant.check(**given)
