"""Gold standards: the closed form, and NUTS that says whether to be believed."""

import numpy as np
import pytest
from scipy import stats

from bdl_teach import datasets, densities, elbo
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import exact

X = np.random.default_rng(0).uniform(-1.0, 1.0, (12, 1))
Y = 0.8 * X - 0.4 + 0.5 * np.random.default_rng(1).standard_normal((12, 1))
GRID = np.linspace(-2.0, 2.0, 7)[:, None]


def with_ones(x: np.ndarray) -> np.ndarray:
    return np.hstack([x, np.ones_like(x)])


def oracle_posterior(case: dict) -> exact.LinearPosterior:
    stds = case["prior_precision"] ** -0.5, case["noise_precision"] ** -0.5
    return exact.linear_regression(case["X"], case["y"], *stds)


# The closed form


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


def test_the_best_mean_field_elbo_equals_the_oracle_and_stays_below_the_evidence(oracle):
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


def test_the_evidence_is_the_density_of_the_targets():
    cov = 0.7**2 * X @ X.T + 0.5**2 * np.eye(len(X))
    by_hand = stats.multivariate_normal(np.zeros(len(X)), cov).logpdf(Y[:, 0])
    evidence = exact.linear_regression(X, Y, prior_std=0.7, noise_std=0.5).log_evidence
    assert evidence == pytest.approx(by_hand, rel=1e-9)


def test_more_data_leave_less_doubt():
    x = np.tile(X, (100, 1))
    few, many = (exact.linear_regression(v, v[:, 0], 1.0, 0.5).predict(GRID) for v in (X, x))
    assert (many.epistemic_std < 0.2 * few.epistemic_std).sum() == 6  # all but x = 0
    np.testing.assert_array_equal(few.aleatoric_std, many.aleatoric_std)


# NUTS on a linear model, where the truth is known


@pytest.fixture(scope="module")
def nuts() -> tuple[exact.NutsFit, list[tuple[int, int]]]:
    calls: list[tuple[int, int]] = []
    fit = exact.nuts(
        X,
        Y,
        prior=Gaussian(0.7),
        noise_std=0.5,
        hidden_units=(),
        n_samples=4000,
        n_warmup=310,  # no multiple of the sampler's window
        progress=lambda done, total: calls.append((done, total)),
    )
    return fit, calls


def test_nuts_finds_the_exact_posterior_to_monte_carlo_error(nuts):
    fit, _ = nuts
    truth = exact.linear_regression(with_ones(X), Y, 0.7, 0.5).predict(with_ones(X))
    prediction, ess = fit.predict(X), fit.ess[:-1]
    error = truth.epistemic_std / np.sqrt(ess)
    assert (ess > 100).all()  # else the next lines would not say much
    assert (np.abs(prediction.mean - truth.mean) < 5 * error).all()
    np.testing.assert_allclose(prediction.epistemic_std, truth.epistemic_std, rtol=0.1)
    np.testing.assert_allclose(prediction.aleatoric_std, 0.5)


def test_nuts_finds_the_exact_spread_to_monte_carlo_error(nuts):
    """(w − m)ᵀ Λ (w − m) is χ² with 2 degrees, and mixes as the log density does."""
    fit, _ = nuts
    posterior = exact.linear_regression(with_ones(X), Y, prior_std=0.7, noise_std=0.5)
    away = fit.weights.reshape(-1, 2) - posterior.mean
    distance = np.einsum("si,ij,sj->s", away, np.linalg.inv(posterior.cov), away)
    assert fit.ess[-1] > 1500  # else the next line would not say much
    assert abs(distance.mean() - 2.0) < 4 * 2.0 / np.sqrt(fit.ess[-1])


def test_nuts_extrapolates_like_the_closed_form(nuts):
    fit, _ = nuts
    truth = exact.linear_regression(with_ones(X), Y, 0.7, 0.5).predict(with_ones(GRID))
    error = truth.epistemic_std / np.sqrt(fit.ess.min())
    assert (np.abs(fit.predict(GRID).mean - truth.mean) < 5 * error).all()


def test_nuts_reports_that_it_converged(nuts):
    fit, _ = nuts
    assert fit.r_hat.shape == fit.ess.shape == (len(X) + 1,)
    assert fit.converged
    assert fit.divergences < 0.01
    assert fit.report.startswith("NUTS converged: largest R-hat ")
    assert f"{fit.r_hat.max():.3f}" in fit.report
    assert f"smallest ESS {fit.ess.min():.0f}" in fit.report


def test_nuts_keeps_what_was_asked_for(nuts):
    fit, _ = nuts
    assert fit.weights.shape == (2, 4000, 2)
    assert fit.predict(GRID).samples.shape == (8000, 7)
    picked = fit.predict(GRID, n_samples=30, seed=2).samples
    every = fit.predict(GRID).samples
    assert all((np.abs(every - row).max(axis=1) < 1e-5).any() for row in picked)
    assert (picked != fit.predict(GRID, n_samples=30, seed=3).samples).any()


def test_progress_is_called_to_the_total(nuts):
    _, calls = nuts
    done, totals = zip(*calls, strict=True)
    assert set(totals) == {4310}
    assert list(done) == sorted(set(done))
    assert done[-1] == 4310
    assert len(done) > 20


@pytest.mark.parametrize(
    "moved", [{"seed": 1}, {"prior": Gaussian(0.2)}, {"noise_std": 5.0}], ids=str
)
def test_moving_a_knob_changes_the_draws(moved):
    base = {"prior": Gaussian(0.7), "noise_std": 0.5, "hidden_units": (), "n_warmup": 310}
    before, again, after = (
        exact.nuts(X, Y, n_samples=15, **{**base, **changes}) for changes in ({}, {}, moved)
    )
    np.testing.assert_array_equal(before.weights, again.weights)
    assert (before.predict(GRID).mean != after.predict(GRID).mean).all()


# NUTS on a network


def test_a_run_that_is_too_short_says_that_it_has_not_converged():
    data = datasets.sinusoid(n=16)
    fit = exact.nuts(
        data.x, data.y, prior=ScaleMixture(), hidden_units=(4,), n_samples=10, n_warmup=5
    )
    assert not fit.converged
    assert fit.r_hat.max() > 1.05
    assert fit.report.startswith("NUTS NOT converged (needs R-hat < 1.05)")
    assert np.isfinite(fit.predict(GRID).mean).all()


def test_chains_in_different_places_do_not_pass():
    apart = np.random.default_rng(0).normal(size=(2, 200, 3)) + [[[0.0, 0.0, 0.0]], [[0.0, 3, 9]]]
    r_hat = exact._split_r_hat(apart)
    assert r_hat[0] < 1.05 < r_hat[1] < r_hat[2]


def test_the_effective_sample_size_of_independent_draws_is_their_number():
    draws = np.random.default_rng(0).normal(size=(4, 1000, 2))
    np.testing.assert_allclose(exact._ess(draws), 4000, rtol=0.25)
    sticky = np.repeat(draws, 10, axis=1)
    np.testing.assert_allclose(exact._ess(sticky), 4000, rtol=0.25)
