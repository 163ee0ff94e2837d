"""Empirical Bayes: its KL, the optimal prior, the largest evidence, and pruning."""

import numpy as np
import pytest
from scipy import integrate, optimize, stats

from bdl_teach import densities
from bdl_teach.backend import tf
from bdl_teach.methods import empirical_bayes


def test_empirical_bayes_kl_and_prior_equal_the_oracle(oracle):
    truth = oracle("eb_kl")
    for case in truth["cases"]:
        tolerance = {"rel": truth["tol"], "abs": truth["tol"]}
        assert empirical_bayes.kl([case["gamma"]]) == pytest.approx(case["kl_at_opt"], **tolerance)
        std = empirical_bayes.optimal_prior_std(case["mu"], case["sigma"])
        assert std**2 == pytest.approx(case["opt_prior_var"], **tolerance)
        to_unit = densities.gaussian_kl(case["mu"], case["sigma"], 0.0, 1.0)
        assert to_unit == pytest.approx(case["kl_unit_prior"], **tolerance)


@pytest.mark.parametrize(
    ("gamma", "expected"),
    [(1e-200, 0.0), (1e-9, 5e-19), (1.0, np.log(2) / 2)]
    + [(1e9, 9 * np.log(10)), (-1e200, 200 * np.log(10))],
)
def test_empirical_bayes_kl_is_finite_for_every_finite_gamma(gamma, expected):
    assert empirical_bayes.kl(gamma) == pytest.approx(expected, rel=1e-14, abs=1e-300)


MU = np.random.default_rng(0).normal(size=5)
SIGMA = np.random.default_rng(1).uniform(0.1, 1.0, 5)
GROUPS = np.array([0, 0, 1, 1, 1])


def test_tied_weights_share_the_prior_found_by_numerical_search():
    shared = empirical_bayes.optimal_prior_std(MU, SIGMA, GROUPS)
    for group in (0, 1):
        member = group == GROUPS
        found = optimize.minimize_scalar(
            lambda s, m=member: densities.gaussian_kl(MU[m], SIGMA[m], 0.0, np.exp(s)).sum(),
            bounds=(-5.0, 5.0),
            options={"xatol": 1e-8},
        )
        np.testing.assert_allclose(shared[member], np.exp(found.x), rtol=1e-6)
    total = densities.gaussian_kl(MU, SIGMA, 0.0, shared).sum()
    assert empirical_bayes.tied_kl(MU, SIGMA, GROUPS) == pytest.approx(total, rel=1e-12)


def test_float32_kl_is_accurate_if_mean_over_std_is_small():
    gamma = np.full(1000, 1e-3, np.float32)
    cost = float(empirical_bayes.weight_cost(tf.constant(gamma)))
    assert cost == pytest.approx(empirical_bayes.kl(gamma), rel=1e-4)


LINEAR_X = np.tile([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]], (5, 1))
_NOISE = np.random.default_rng(1).standard_normal((20, 1))
LINEAR_Y = LINEAR_X @ [[0.8], [0.3]] - 0.5 + 0.5 * _NOISE
DESIGN = np.hstack([LINEAR_X, np.ones((20, 1))])
S = (DESIGN**2).sum(axis=0) / 0.25  # precision of each weight from the data
Q = DESIGN.T @ LINEAR_Y[:, 0] / 0.25


def log_evidence(prior_std) -> float:
    """Return ln p(D) for one prior sd per weight, from the covariance of y."""
    cov = DESIGN @ np.diag(np.broadcast_to(prior_std, 3) ** 2) @ DESIGN.T + 0.25 * np.eye(20)
    return float(stats.multivariate_normal(np.zeros(20), cov).logpdf(LINEAR_Y[:, 0]))


def best_prior_std(tie: str) -> np.ndarray:
    """Return the prior sds of largest exact evidence; per weight 1/α = (q² − s)/s²."""
    if tie == "weight":
        return np.sqrt((Q**2 - S) / S**2)
    result = optimize.minimize_scalar(
        lambda s: -log_evidence(np.exp(s)), bounds=(-5, 5), options={"xatol": 1e-9}
    )
    return np.full(3, np.exp(result.x))


def linear_fits(**changes) -> list[empirical_bayes.Fit]:
    """Fit from five seeds, starting at γ = 0, since γ of the wrong sign leads past a saddle."""
    plan = {"noise_std": 0.5, "hidden_units": (), "n_samples": 10, "steps": 2000}
    plan |= {"learning_rate": 0.1, "cooldown": 1.0, "initial_gamma": 0.0, **changes}
    y = plan.pop("y", LINEAR_Y)
    return [empirical_bayes.fit(LINEAR_X, y, **plan, seed=seed) for seed in range(5)]


@pytest.mark.parametrize(
    ("tie", "estimator"), [("weight", "local"), ("layer", "shared"), ("all", "quiet")]
)
def test_empirical_bayes_finds_the_largest_evidence_of_linear_model(tie, estimator):
    """The columns are orthogonal, so q can be exact and the bound is tight."""
    prior_std = best_prior_std(tie)
    var = 1 / (prior_std**-2 + S)
    fits = linear_fits(tie=tie, estimator=estimator)
    for values, optimum in (
        (np.array([(fit.mean - var * Q) / np.sqrt(var) for fit in fits]), 0.0),
        (np.array([fit.std / np.sqrt(var) for fit in fits]), 1.0),
        (np.array([fit.prior_std / prior_std for fit in fits]), 1.0),
    ):
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        assert (error < 0.03).all()  # else the next line would be weak
        assert (np.abs(values.mean(axis=0) - optimum) < 6 * error + 0.01).all()
    energies = [fit.history["free_energy"][-20:].mean() for fit in fits]
    error = np.std(energies, ddof=1) / np.sqrt(len(energies))
    assert error < 0.3
    assert abs(np.mean(energies) + log_evidence(prior_std)) < 6 * error + 0.01


def test_elbo_of_one_weight_equals_largest_log_evidence(oracle):
    """Integrate Basov's ELBO at its optimum by quadrature and compare with max ln p(D | α)."""
    for case in oracle("eb_one_weight")["cases"]:
        x, y, noise = np.array(case["x"]), np.array(case["y"]), case["noise_sd"]
        mu, sigma = case["eb_mu"], case["eb_sigma"]

        def expected(w, x=x, y=y, noise=noise, mu=mu, sigma=sigma):
            fit = stats.norm.logpdf(y, w * x, noise).sum()
            return fit * stats.norm.pdf(w, mu, sigma)

        likelihood, _ = integrate.quad(expected, mu - 12 * sigma, mu + 12 * sigma)
        elbo = likelihood - empirical_bayes.kl(mu / sigma)
        assert elbo == pytest.approx(case["max_log_evidence"], abs=1e-6)
        assert elbo > case["log_evidence_alpha1"]


def test_weight_of_an_irrelevant_input_is_pruned():
    """α is infinite where q² <= s: the second column is unrelated to y."""
    y = LINEAR_Y - LINEAR_X[:, [1]] * Q[1] / S[1]
    fit, *_ = linear_fits(y=y, tie="weight", estimator="local")
    report = fit.pruning()
    assert report.pruned.tolist() == [False, True, False]
    assert report.fraction == pytest.approx(1 / 3) == report.by_layer[0]
    assert fit.prior_std[1] < 0.2 * fit.prior_std[[0, 2]].min()
    assert fit.pruning(threshold=1e9).fraction == 1.0
    with pytest.raises(ValueError, match=r"^threshold: expected a finite number.*got"):
        fit.pruning(threshold=0.0)
