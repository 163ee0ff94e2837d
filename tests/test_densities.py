"""Log densities and KLs: exact in float64, finite everywhere, equal to TFP's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from bdl_teach import densities
from bdl_teach.backend import tf, tfd
from bdl_teach.densities import Gaussian, ScaleMixture

WEIGHTS = np.concatenate([np.linspace(-30.0, 30.0, 241), [0.0, 1e-6, -100.0, 1e4]])
scales = st.floats(1e-3, 1e3)
finite = st.floats(-1e6, 1e6)


def slope(w: np.ndarray, sigma1: float, sigma2: float, pi: float) -> np.ndarray:
    w = tf.constant(w)
    with tf.GradientTape() as tape:
        tape.watch(w)
        log_prob = densities.scale_mixture_log_prob(w, sigma1, sigma2, pi)
    return tape.gradient(log_prob, w).numpy()


def test_mixture_log_prob_and_slope_equal_the_oracle(oracle):
    truth = oracle("scale_mixture")
    for case in truth["cases"]:
        parameters = case["sigma1"], case["sigma2"], case["pi"]
        log_prob = densities.scale_mixture_log_prob(case["w"], *parameters)
        assert log_prob == pytest.approx(case["log_prob"], rel=truth["tol_logprob"])
        gradient = slope(np.float64(case["w"]), *parameters)
        assert gradient == pytest.approx(case["dlogp_dw"], rel=truth["tol_logprob"])


@given(finite, scales, finite, scales)
def test_gaussian_kl_equals_tfp_and_is_never_negative(mu_q, sigma_q, mu_p, sigma_p):
    kl = densities.gaussian_kl(mu_q, sigma_q, mu_p, sigma_p)
    q, p = (tfd.Normal(*np.float64(m)) for m in ((mu_q, sigma_q), (mu_p, sigma_p)))
    assert kl == pytest.approx(float(tfd.kl_divergence(q, p)), rel=1e-12)
    assert kl >= -1e-12


def test_gaussian_nll_equals_tfp():
    y, mean, var = np.random.default_rng(0).uniform(0.1, 5.0, (3, 50))
    expected = -tfd.Normal(mean, np.sqrt(var)).log_prob(y).numpy()
    np.testing.assert_allclose(densities.gaussian_nll(y, mean, var), expected, rtol=1e-12)


@pytest.mark.parametrize(("sigma1", "sigma2", "pi"), [(1.5, 0.1, 0.5), (1.0, 0.0025, 0.25)])
def test_scale_mixture_log_prob_equals_tfp(sigma1, sigma2, pi):
    reference = tfd.MixtureSameFamily(
        tfd.Categorical(probs=np.array([pi, 1.0 - pi])),
        tfd.Normal(np.zeros(2), np.array([sigma1, sigma2])),
    )
    log_prob = ScaleMixture(sigma1, sigma2, pi).log_prob(WEIGHTS)
    np.testing.assert_allclose(log_prob, reference.log_prob(WEIGHTS), rtol=1e-12)


@pytest.mark.parametrize(
    ("prior", "allowed"),  # the errors that the docstring states
    [
        (ScaleMixture(), 0.005),
        (ScaleMixture(0.05, 3.0, 0.71), 0.08),
        (ScaleMixture(1.5, 0.001, 0.5), 0.25),
        (ScaleMixture(1.5, 0.1, 1.0), 1e-10),
        (ScaleMixture(0.7, 0.7, 0.3), 0.005),
        (Gaussian(0.8), 1e-10),
    ],
    ids=str,
)
def test_expected_log_density_equals_quadrature(prior, allowed):
    terms = densities.LogDensityTerms(*(tf.constant(np.float64(t)) for t in prior.terms))
    for mean, std in ((0.0, 0.02), (0.05, 0.1), (-0.4, 0.3), (2.0, 1.5)):
        w = mean + std * np.linspace(-12.0, 12.0, 100_001)  # a step of 0.0004 at most
        exact = integrate.trapezoid(Gaussian(std).density(w - mean) * prior.log_prob(w), w)
        given = [tf.constant([value], tf.float64) for value in (mean, std)]
        with tf.GradientTape() as tape:
            tape.watch(given)
            ours = densities.expected_log_prob(*given, terms)
        assert ours.numpy()[0] == pytest.approx(exact, abs=allowed)
        for slope, step in zip(
            tape.gradient(ours, given), np.eye(2)[..., None] * 1e-6, strict=True
        ):
            ends = [densities.expected_log_prob(*(given + k * step), terms) for k in (1, -1)]
            rise = (ends[0] - ends[1]).numpy() / 2e-6
            np.testing.assert_allclose(slope, rise, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False),
    scales,
    scales,
    st.floats(0.0, 1.0, allow_subnormal=False),
)
def test_mixture_log_prob_and_slope_are_finite_for_every_weight(dtype, w, sigma1, sigma2, pi):
    largest = float(np.finfo(dtype).max)
    w = dtype([np.clip(w, -largest, largest), largest, 22.0])  # at 22 both densities underflow
    log_prob = densities.scale_mixture_log_prob(tf.constant(w), sigma1, sigma2, pi).numpy()
    assert log_prob.dtype == dtype and np.isfinite(log_prob).all()
    assert np.isfinite(slope(w, sigma1, sigma2, pi)).all()


def test_densities_return_float64_but_keep_dtype_of_tensors():
    assert densities.gaussian_kl(0, 1, 0, 1).dtype == np.float64
    assert densities.gaussian_nll(np.float32([0.0]), 0, 1).dtype == np.float64
    assert densities.gaussian_kl(tf.constant(0.0), 1.0, 0.0, 1.0).dtype == tf.float32
    assert densities.gaussian_kl(0.0, 1.0, tf.constant(0.0), 1.0).dtype == tf.float32
    assert densities.scale_mixture_log_prob(tf.constant(WEIGHTS), 1.5, 0.1, 0.5).dtype == tf.float64


@pytest.mark.parametrize("prior", [ScaleMixture(1.5, 0.1, 0.3), Gaussian(0.7)])
def test_samples_of_prior_have_its_standard_deviation(prior):
    n = 200_000
    w = prior.sample((n,), seed=0)
    kurtosis = np.mean(w**4) / prior.std**4
    error = prior.std * np.sqrt((kurtosis - 1) / (4 * n))  # of a sample standard deviation
    assert abs(w.std() - prior.std) < 5 * error
    assert abs(w.mean()) < 5 * prior.std / np.sqrt(n)
    np.testing.assert_allclose(prior.density(w), np.exp(prior.log_prob(w)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: densities.gaussian_kl(0.0, 0.0, 0.0, 1.0), "sigma_q: expected finite numbers > 0"),
        (lambda: densities.gaussian_nll(0.0, 0.0, [2.0, 0.0]), "var: expected finite numbers > 0"),
        (lambda: densities.scale_mixture_log_prob(0.0, 0.0, 0.1, 0.5), "sigma1: expected finite"),
        (lambda: densities.scale_mixture_log_prob(0.0, 1.0, np.nan, 0.5), "sigma2: expected"),
        (lambda: densities.scale_mixture_log_prob(0.0, 1.0, 0.1, 1.1), "pi: expected a number in"),
        (
            lambda: densities.gaussian_nll([1, 2, 3], [1, 2], 1),
            r".*y \(3,\), mean \(2,\), var \(\)",
        ),
        (lambda: ScaleMixture(sigma1=0.0), "sigma1: expected a finite number > 0"),
        (lambda: ScaleMixture(pi=1.1), "pi: expected a number in"),
        (lambda: Gaussian(0.0), "sigma: expected a finite number > 0"),
        (lambda: densities.as_prior("other", 0.7), "other: expected densities.ScaleMixture or .Ga"),
    ],
)
def test_invalid_density_argument_is_refused(call, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        call()


def test_prior_precision_is_positive_and_is_cost_slope_divided_by_weight():
    w = np.array([-3.0, -0.4, -0.05, 0.0, 0.2, 0.3, 1.0])
    np.testing.assert_allclose(Gaussian(0.5).precision(w), 4.0)
    mixture = ScaleMixture(1.5, 0.1, 0.5)
    near, h = np.where(w == 0, 1e-4, w), 1e-5
    below, at, above = (mixture.log_prob(near + d) for d in (-h, 0.0, h))
    delta = mixture.precision(w)
    np.testing.assert_allclose(delta, -(above - below) / (2 * h) / near, rtol=1e-4)
    assert (delta >= 1.5**-2 - 1e-9).all() and (delta <= 0.1**-2).all()
    curvature = -(above - 2 * at + below) / h**2
    assert curvature.min() < -10, "the true curvature is negative"
