"""Gradients of the free energy written out by hand, against quadrature and autodiff."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from bdl_teach import densities, estimators
from bdl_teach.backend import tf, tfd
from bdl_teach.densities import Gaussian, ScaleMixture

PRIORS = [Gaussian(1.0), ScaleMixture(1.5, 0.1, 0.5), ScaleMixture(1.5, 0.1, 0.0)]
X, Y = np.array([0.5, -1.2, 2.0]), np.array([0.3, -0.4, 1.1])


def autodiff(mu, rho, eps, x, y, noise_std, prior):
    """Let TensorFlow and TFP find what the formulas give."""
    mu, rho = tf.Variable(mu, dtype=tf.float64), tf.Variable(rho, dtype=tf.float64)
    with tf.GradientTape() as tape:
        w = mu + tf.nn.softplus(rho) * eps
        log_q = tfd.Normal(mu, tf.nn.softplus(rho)).log_prob(w)
        log_lik = tf.reduce_sum(tfd.Normal(w * x, np.float64(noise_std)).log_prob(y))
        f = log_q - prior.log_prob(w) - log_lik
    return [g.numpy() for g in tape.gradient(f, [mu, rho])]


def inverse_softplus(sigma: float) -> float:
    return float(np.log(np.expm1(sigma)))


def test_gradients_equal_the_oracle(oracle):
    truth = oracle("bbb_gradients")
    priors = {"gauss": Gaussian(1.0), "mix": ScaleMixture(1.5, 0.1, 0.5)}
    for case in truth["cases"]:
        parts = [case[name] for name in ("mu", "rho", "eps", "x", "y", "noise_sd")]
        delta = estimators.bbb_gradients(*parts, priors[case["prior"]])
        np.testing.assert_allclose(
            delta, [case["delta_mu"], case["delta_rho"]], atol=truth["tol"], rtol=truth["tol"]
        )


@pytest.mark.parametrize("prior", PRIORS, ids=str)
@given(st.floats(-3, 3), st.floats(-5, 3), st.floats(-3, 3), st.floats(0.1, 3))
def test_gradients_equal_autodiff(prior, mu, rho, eps, noise_std):
    by_hand = estimators.bbb_gradients(mu, rho, eps, X, Y, noise_std, prior)
    by_tape = autodiff(mu, rho, eps, X, Y, noise_std, prior)
    np.testing.assert_allclose(by_hand, by_tape, rtol=1e-8, atol=1e-8)


def test_gradients_average_to_the_gradient_of_the_exact_free_energy():
    mu, rho, noise_std, prior_std = 0.4, -0.5, 0.7, 0.9
    eps = np.random.default_rng(0).standard_normal(100_000)
    same = np.ones_like(eps)
    delta = estimators.bbb_gradients(
        mu * same, rho * same, eps, X, Y, noise_std, Gaussian(prior_std)
    )
    precision = 1 / prior_std**2 + (X**2).sum() / noise_std**2
    sigma = np.logaddexp(0.0, rho)
    exact = (
        precision * mu - (X * Y).sum() / noise_std**2,
        (precision * sigma - 1 / sigma) * expit(rho),
    )
    for estimate, truth in zip(delta, exact, strict=True):
        assert abs(estimate.mean() - truth) < 5 * estimate.std() / np.sqrt(len(eps))


def test_at_the_exact_posterior_only_the_partial_term_is_noisy(oracle):
    truth = oracle("stl_variance")
    mu, sigma = truth["mu"], truth["sigma"]
    likelihood_precision = sigma**-2 - 1.0  # the prior is N(0, 1)
    y = mu * sigma**-2 / likelihood_precision
    eps = np.random.default_rng(0).standard_normal(50_000)
    delta_mu, _ = estimators.bbb_gradients(
        np.full_like(eps, mu),
        np.full_like(eps, inverse_softplus(sigma)),
        eps,
        1.0,
        y,
        likelihood_precision**-0.5,
        Gaussian(1.0),
    )
    path_only = delta_mu - eps / sigma
    assert path_only.var() == pytest.approx(truth["var_path_only"], abs=1e-18)
    error = truth["var_full"] * np.sqrt(2 / len(eps))
    assert abs(delta_mu.var() - truth["var_full"]) < 5 * error


def test_prior_score_is_the_slope_of_the_log_density(oracle):
    truth = oracle("scale_mixture")
    for case in truth["cases"]:
        prior = ScaleMixture(case["sigma1"], case["sigma2"], case["pi"])
        score = estimators.prior_score(case["w"], prior)
        assert score == pytest.approx(case["dlogp_dw"], rel=truth["tol_logprob"], abs=1e-12)


@pytest.mark.parametrize("prior", PRIORS, ids=str)
def test_prior_score_equals_autodiff_for_arrays(prior):
    w = tf.constant(np.linspace(-5.0, 5.0, 40).reshape(8, 5))
    with tf.GradientTape() as tape:
        tape.watch(w)
        log_prob = densities.scale_mixture_log_prob(w, *prior.mixture)
    by_tape = tape.gradient(log_prob, w)
    np.testing.assert_allclose(estimators.prior_score(w, prior), by_tape, rtol=1e-10)


def test_gradients_keep_the_shape_of_the_parameters_and_float64():
    shape = (4, 3)
    values = np.zeros(shape, np.float32)
    for delta in estimators.bbb_gradients(values, values, values, X, Y, 1.0, Gaussian(1.0)):
        assert delta.shape == shape
        assert delta.dtype == np.float64
