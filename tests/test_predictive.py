"""Intervals, densities and variances of predictive distributions."""

import warnings

import numpy as np
import pytest
from scipy import special, stats

from bdl_teach import predictive
from bdl_teach.mlp import MLP
from bdl_teach.predictive import BernoulliPredictive, Predictive

NETWORK = MLP(1, (4,))
GRID = np.linspace(-1.0, 1.0, 9)[:, None]


def two_humps(noise_std: float = 0.5) -> Predictive:
    """Return a prediction at three inputs whose draws form two separate groups."""
    rng = np.random.default_rng(0)
    samples = rng.normal(size=(40, 3)) * 0.3 + rng.choice([-4.0, 3.0], (40, 1))
    return Predictive.from_samples(samples + [0.0, 10.0, -100.0], noise_std)


def mixture_cdf(p: Predictive, y: np.ndarray) -> np.ndarray:
    return stats.norm(p.samples, p.aleatoric_std).cdf(y).mean(axis=0)


def draw(n_samples: int, seed: int = 1) -> np.ndarray:
    mean, std = np.linspace(-1.0, 1.0, 13), np.full(13, 0.3)
    weights = predictive.draw_weights(mean, std, n_samples, seed)
    return predictive.evaluate_weights(NETWORK, weights, GRID)


def test_mc_error_is_the_standard_error_of_the_mean():
    for n in (2, 40):
        p = Predictive.from_samples(two_humps().samples[:n], 0.5)
        np.testing.assert_allclose(p.mc_error, stats.sem(p.samples, axis=0))
    np.testing.assert_array_equal(Predictive.from_samples([[1.0, 2.0]], 0.5).mc_error, 0.0)


def test_log_prob_of_draws_equals_the_oracle(oracle):
    truth = oracle("regression_metrics")
    p = Predictive.from_samples(truth["samples"], np.sqrt(truth["v_noise"]))
    assert p.log_prob(truth["y"]).mean() == pytest.approx(truth["mixture_ll"], abs=truth["tol"])


def test_log_prob_is_minus_infinity_without_noise_if_no_draw_equals_the_target():
    p = Predictive.from_samples([[1.0, 1.0]], 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(p.log_prob([1.0, 2.0]), [np.inf, -np.inf])


@pytest.mark.parametrize("level", [0.01, 0.95])
def test_interval_has_its_probability_under_the_mixture(level):
    p = two_humps()
    lower, upper = p.interval(level)
    np.testing.assert_allclose(mixture_cdf(p, lower), (1 - level) / 2, atol=1e-9)
    np.testing.assert_allclose(mixture_cdf(p, upper), (1 + level) / 2, atol=1e-9)


def test_noise_at_one_input_does_not_affect_intervals_at_others():
    draws = np.random.default_rng(0).standard_normal((400, 1))
    quiet, loud = (Predictive.from_samples(draws, noise).interval(0.95) for noise in (0.0, 2.0))
    both = Predictive(np.zeros(2), np.ones(2), np.array([0.0, 2.0]), np.tile(draws, (1, 2)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lower, upper = both.interval(0.95)
    np.testing.assert_allclose([lower[1], upper[1]], np.ravel(loud), rtol=1e-6)
    np.testing.assert_allclose([lower[0], upper[0]], np.ravel(quiet), atol=0.05)


def test_first_draws_are_the_same_when_more_are_requested():
    many = draw(230)
    for n_samples in (1, 50, 51):
        few = draw(n_samples)
        assert few.shape == (n_samples, len(GRID))
        np.testing.assert_allclose(few, many[:n_samples], rtol=1e-5, atol=1e-6)


def test_drawn_weights_are_independent_and_follow_the_seed():
    """The covariance over draws is diag(σ²), and zero between two seeds."""
    mean, std, n = np.array([2.0, -1.0, 0.0]), np.array([0.5, 0.1, 3.0]), 20_000
    one, two = ((predictive.draw_weights(mean, std, n, seed) - mean) / std for seed in (1, 2))
    assert (np.abs(one.mean(axis=0)) < 5 / np.sqrt(n)).all()
    error = 5 * np.sqrt((1 + np.eye(3)) / n)
    assert (np.abs(one.T @ one / n - np.eye(3)) < error).all()
    assert (np.abs(one.T @ two / n) < error).all()


@pytest.mark.parametrize("n", [1, 51])
def test_each_weight_vector_is_evaluated_independently(n):
    weights = np.random.default_rng(3).normal(size=(n, NETWORK.n_weights))
    together = predictive.evaluate_weights(NETWORK, weights, GRID)
    assert together.shape == (n, len(GRID))
    w = weights[n // 2]
    hidden = np.maximum(GRID * w[:4] + w[4:8], 0.0)
    np.testing.assert_allclose(together[n // 2], hidden @ w[8:12] + w[12], rtol=1e-4, atol=1e-5)


LOGITS = np.random.default_rng(7).normal(0.0, 3.0, (50, 4))


def test_classifier_probability_is_the_mean_of_the_sigmoids():
    prediction = BernoulliPredictive.from_logits(LOGITS)
    np.testing.assert_allclose(prediction.probability, special.expit(LOGITS).mean(axis=0))
    plug_in = special.expit(LOGITS.mean(axis=0))
    assert np.abs(prediction.probability - plug_in).max() > 0.02


def test_label_variance_splits_into_epistemic_and_aleatoric():
    prediction = BernoulliPredictive.from_logits(LOGITS)
    p = prediction.probability
    np.testing.assert_allclose(prediction.total_std**2, p * (1 - p))
    each = special.expit(LOGITS)
    np.testing.assert_array_equal(prediction.samples, each)
    np.testing.assert_allclose(prediction.epistemic_std, each.std(axis=0))
    np.testing.assert_allclose(prediction.aleatoric_std**2, (each * (1 - each)).mean(axis=0))
    certain = BernoulliPredictive.from_logits(np.array([[800.0, -800.0]] * 2))
    np.testing.assert_array_equal(certain.total_std, 0.0)


def test_log_probability_of_labels_is_bernoulli():
    prediction = BernoulliPredictive.from_logits(LOGITS)
    labels = np.array([0.0, 1.0, 1.0, 0.0])
    expected = stats.bernoulli(prediction.probability).logpmf(labels)
    np.testing.assert_allclose(prediction.log_prob(labels[:, None]), expected)
    with pytest.raises(ValueError, match=r"y: expected labels 0 and 1, got \[0.5 1.5\]"):
        prediction.log_prob(labels + 0.5)


def test_interval_of_new_labels_contains_the_requested_probability():
    prediction = BernoulliPredictive.from_logits(np.array([[-9.0, -1.0, 1.0, 9.0]]))
    lower, upper = prediction.interval(0.9)
    np.testing.assert_array_equal(lower, [0, 0, 0, 1])
    np.testing.assert_array_equal(upper, [0, 1, 1, 1])
    quarter = BernoulliPredictive(np.array([0.75]), np.zeros(1), np.zeros(1))
    np.testing.assert_array_equal(quarter.interval(0.5), [[0], [1]])  # P(y <= 0) equals the tail
