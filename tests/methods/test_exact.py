"""The closed form of Bayesian linear regression."""

import numpy as np
import pytest

from bdl_teach import densities, elbo
from bdl_teach.methods import exact


def oracle_posterior(case: dict) -> exact.LinearPosterior:
    stds = case["prior_precision"] ** -0.5, case["noise_precision"] ** -0.5
    return exact.linear_regression(case["X"], case["y"], *stds)


def test_linear_regression_equals_the_oracle(oracle):
    truth = oracle("bayes_linear_regression")
    tol = {"atol": truth["tol"], "rtol": truth["tol"]}
    for case in truth["cases"]:
        posterior = oracle_posterior(case)
        prediction = posterior.predict(case["x_test"])
        np.testing.assert_allclose(posterior.mean, case["post_mean"], **tol)
        np.testing.assert_allclose(posterior.cov, case["post_cov"], **tol)
        np.testing.assert_allclose(posterior.log_evidence, case["log_evidence"], **tol)
        np.testing.assert_allclose(prediction.mean, case["pred_mean"], **tol)
        np.testing.assert_allclose(prediction.total_std**2, case["pred_var"], **tol)
        assert prediction.samples is None


def test_best_mean_field_elbo_equals_oracle_and_is_below_evidence(oracle):
    truth = oracle("bayes_linear_regression")
    for case in truth["cases"]:
        posterior, sigma = oracle_posterior(case), np.array(case["meanfield_sigma"])
        x, y, noise_var = np.array(case["X"]), np.array(case["y"]), 1 / case["noise_precision"]
        prior_std = case["prior_precision"] ** -0.5
        kl = densities.gaussian_kl(posterior.mean, sigma, 0.0, prior_std).sum()
        nll = densities.gaussian_nll(y, x @ posterior.mean, noise_var).sum()
        nll += (x**2 @ sigma**2).sum() / (2 * noise_var)
        free_energy = elbo.free_energy(kl, nll, 1.0)
        assert free_energy == pytest.approx(-case["meanfield_elbo"], abs=truth["tol"])
        assert -free_energy < posterior.log_evidence
