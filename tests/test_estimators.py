"""Hand-written gradients of the free energy, and their variances, against autodiff."""

import numpy as np
import pytest

from bdl_teach import estimators
from bdl_teach.backend import tf, tfd
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.estimators import KINDS
from evidence.papers import grad_variance


def inverse_softplus(sigma: float) -> float:
    return float(np.log(np.expm1(sigma)))


def test_bbb_gradients_equal_the_oracle(oracle):
    truth = oracle("bbb_gradients")
    priors = {"gauss": Gaussian(1.0), "mix": ScaleMixture(1.5, 0.1, 0.5)}
    for case in truth["cases"]:
        parts = [case[name] for name in ("mu", "rho", "eps", "x", "y", "noise_sd")]
        delta = estimators.bbb_gradients(*parts, priors[case["prior"]])
        np.testing.assert_allclose(
            delta, [case["delta_mu"], case["delta_rho"]], atol=truth["tol"], rtol=truth["tol"]
        )


def test_path_gradient_has_no_variance_at_the_posterior(oracle):
    """Var Δμ is (Λσ − 1/σ)² for the path alone, and Λ²σ² for the whole gradient."""
    truth = oracle("stl_variance")
    mu, precision = truth["mu"], truth["sigma"] ** -2
    y = mu * precision / (precision - 1.0)
    eps = np.random.default_rng(0).standard_normal(50_000)
    for sigma, path_var in ((truth["sigma"], truth["var_path_only"]), (1.1 * truth["sigma"], None)):
        rho = np.full_like(eps, inverse_softplus(sigma))
        parts = np.full_like(eps, mu), rho, eps, 1.0, y, (precision - 1.0) ** -0.5, Gaussian(1.0)
        full = estimators.bbb_gradients(*parts)[0].var()
        path = estimators.bbb_gradients(*parts, path_only=True)[0].var()
        if path_var is None:
            path_var = (precision * sigma - 1.0 / sigma) ** 2
        assert path == pytest.approx(path_var, rel=5 * np.sqrt(2 / len(eps)), abs=1e-18)
        assert full == pytest.approx((precision * sigma) ** 2, rel=5 * np.sqrt(2 / len(eps)))
        assert path < full / 10


RNG = np.random.default_rng(7)
BATCH = {
    "mu": RNG.normal(size=3),
    "sigma": RNG.uniform(0.2, 1.0, 3),
    "x": RNG.normal(size=(6, 3)),
    "y": RNG.normal(size=6),
    "noise_std": 0.7,
    "n_data": 60,
}


def by_autodiff(prior: Gaussian) -> list[np.ndarray]:
    """Return gradients by μ and σ of the closed-form cost: expected squared error and KL."""
    x, y = tf.constant(BATCH["x"]), tf.constant(BATCH["y"])
    theta = [tf.constant(BATCH["mu"]), tf.constant(BATCH["sigma"])]
    with tf.GradientTape() as tape:
        tape.watch(theta)
        mu, sigma = theta
        error = (tf.linalg.matvec(x, mu) - y) ** 2 + tf.linalg.matvec(x**2, sigma**2)
        cost = 0.5 * 10.0 / BATCH["noise_std"] ** 2 * tf.reduce_sum(error)  # 6 of 60 points
        other = tfd.Normal(np.float64(0.0), np.float64(prior.sigma))
        cost += tf.reduce_sum(tfd.kl_divergence(tfd.Normal(mu, sigma), other))
    return [g.numpy() for g in tape.gradient(cost, theta)]


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_estimators_are_unbiased_against_autodiff(kind):
    batch, prior = estimators.minibatch(**BATCH), Gaussian(0.8)
    draws = estimators.gradient_samples(kind, batch, prior=prior, n_draws=40_000, seed=1)
    for sample, exact in zip(draws, by_autodiff(prior), strict=True):
        error = sample.std(axis=0) / np.sqrt(len(sample))
        assert (np.abs(sample.mean(axis=0) - exact) < 5 * error).all()


def test_sampled_kl_adds_its_variance_to_that_of_the_likelihood_gradient():
    """At x = noise = prior's σ = 1 both gradients by μ are w plus a constant."""
    batch = estimators.minibatch([0.3], [0.5], [[1.0]], [0.7], 1.0, 1)
    prior = ScaleMixture(1.0, 0.1, 1.0)  # not in closed form, but only one scale has weight
    draws = estimators.gradient_samples("shared", batch, prior=prior, n_draws=20_000)
    assert draws.mu.var() == pytest.approx(0.5**2 + 0.5**2, rel=0.05)


def test_gradient_variances_of_one_weight_equal_the_oracle(oracle):
    truth = oracle("local_reparam")
    for case in truth["grad_variance"]:
        x = np.array(case["x"])[:, None]
        noise_std, n_data = case["noise_var"] ** 0.5, case["N"]
        batch = estimators.minibatch([0.5], [case["sigma_w"]], x, 0.7 * x, noise_std, n_data)
        shared, local = (estimators.gradient_variance(k, batch).mu for k in ("shared", "local"))
        assert shared == pytest.approx(case["var_grad_mu_shared_weight"], rel=1e-10)
        assert local == pytest.approx(case["var_grad_mu_local"], rel=1e-10)
        assert shared / local == pytest.approx(case["ratio"], rel=1e-10)
        assert shared / local == pytest.approx((x**2).sum() ** 2 / (x**4).sum(), rel=1e-10)


def test_gradient_variance_table_agrees_with_closed_forms():
    tasks = [task for task in grad_variance.tasks(quick=True) if task.arguments["size"] == 16]
    rows = grad_variance.summarise([(t.arguments, grad_variance.run(**t.arguments)) for t in tasks])
    assert len(rows) == 2 * len(KINDS) + 1 + len(KINDS)
    assert [row.label for row in rows if not row.verdict.startswith("agrees")] == []
    ratio = next(row for row in rows if row.quantity.startswith("ratio"))
    assert 8 < ratio.ours < 16
