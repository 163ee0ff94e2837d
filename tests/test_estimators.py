"""Hand-written gradients of the free energy, and their variances, against autodiff."""

import numpy as np
import pytest

from bdl_teach import estimators
from bdl_teach.backend import tf
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.estimators import KINDS


def test_bbb_gradients_equal_the_oracle(oracle):
    truth = oracle("bbb_gradients")
    priors = {"gauss": Gaussian(1.0), "mix": ScaleMixture(1.5, 0.1, 0.5)}
    for case in truth["cases"]:
        parts = [case[name] for name in ("mu", "rho", "eps", "x", "y", "noise_sd")]
        delta = estimators.bbb_gradients(*parts, priors[case["prior"]])
        np.testing.assert_allclose(
            delta, [case["delta_mu"], case["delta_rho"]], atol=truth["tol"], rtol=truth["tol"]
        )


RNG = np.random.default_rng(7)
BATCH = {
    "mu": RNG.normal(size=3),
    "sigma": RNG.uniform(0.2, 1.0, 3),
    "x": RNG.normal(size=(6, 3)),
    "y": RNG.normal(size=6),
    "noise_std": 0.7,
    "n_data": 60,
}


@pytest.mark.parametrize("kind", KINDS)
def test_gradient_estimators_have_mean_of_autodiff_and_stated_variance(kind):
    batch = estimators.minibatch(**BATCH)
    x, y = tf.constant(BATCH["x"]), tf.constant(BATCH["y"])
    theta = [tf.constant(BATCH["mu"]), tf.constant(BATCH["sigma"])]
    with tf.GradientTape() as tape:
        tape.watch(theta)
        error = (tf.linalg.matvec(x, theta[0]) - y) ** 2 + tf.linalg.matvec(x**2, theta[1] ** 2)
        cost = 0.5 * 10.0 / BATCH["noise_std"] ** 2 * tf.reduce_sum(error)  # 6 of 60 points
    draws = estimators.gradient_samples(kind, batch, n_draws=40_000, seed=1)
    for sample, exact in zip(draws, tape.gradient(cost, theta), strict=True):
        error = sample.std(axis=0) / np.sqrt(len(sample))
        assert (np.abs(sample.mean(axis=0) - exact.numpy()) < 5 * error).all()
    for sample, stated in zip(draws, estimators.gradient_variance(kind, batch), strict=True):
        square = (sample - sample.mean(axis=0)) ** 2
        error = square.std(axis=0) / np.sqrt(len(sample))
        assert (np.abs(square.mean(axis=0) - stated) < 5 * error).all()


def test_score_variance_equals_quadrature_over_both_weights():
    """The integrand is a polynomial of degree 12 at most, so the sum is exact."""
    batch = estimators.minibatch(
        **{**BATCH, "mu": [0.3, -0.8], "sigma": [0.5, 0.9], "x": BATCH["x"][:, :2]}
    )
    nodes, shares = np.polynomial.hermite_e.hermegauss(9)
    eps = np.stack(np.meshgrid(nodes, nodes), axis=-1).reshape(-1, 2)
    p = np.outer(shares, shares).ravel() / shares.sum() ** 2
    error = batch.residual + (batch.sigma * eps) @ batch.x.T
    cost = 0.5 * batch.scale * (error**2).sum(axis=1)[:, None]
    draws = cost * eps / batch.sigma, cost * (eps**2 - 1.0) / batch.sigma
    for one, stated in zip(draws, estimators.gradient_variance("score", batch), strict=True):
        np.testing.assert_allclose(p @ one**2 - (p @ one) ** 2, stated, rtol=1e-9)


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
