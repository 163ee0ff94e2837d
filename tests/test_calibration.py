"""Distances, conformal factors and temperatures against independent computations."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import softmax

from bdl_teach import calibration
from bdl_teach.predictive import BernoulliPredictive, Predictive

RNG = np.random.default_rng(0)


def gaussian(mean, epistemic, noise=1.0):
    mean = np.asarray(mean, float)
    return Predictive(mean, np.full_like(mean, epistemic), np.full_like(mean, noise))


def test_distance_of_two_gaussians_is_their_wasserstein_distance():
    """Integrate W² = ∫ (F⁻¹ − G⁻¹)² dp over the quantiles."""
    p = (np.arange(200_000) + 0.5) / 200_000
    quantiles = stats.norm(1.0, 0.5).ppf(p) - stats.norm(-0.4, 2.0).ppf(p)
    w = calibration.distance(gaussian([1.0], 0.5), gaussian([-0.4], 2.0))
    assert w == pytest.approx(np.sqrt(np.mean(quantiles**2)), rel=1e-3)


@pytest.mark.parametrize(("level", "rank"), [(0.5, 17), (0.9, 30), (0.91, 31), (0.96, 32)])
def test_conformal_factor_is_the_score_at_the_conformal_rank(level, rank):
    scores = RNG.permutation(np.arange(1.0, 33.0))
    assert calibration.conformal_factor(scores, level) == rank
    assert calibration.conformal_factor(scores, 0.98) == math.inf, "the rank is above 32"


def test_conformal_rank_that_is_whole_is_not_rounded_up():
    """25 · 0.28 is 7, but 7.000000000000001 in floating point."""
    assert 25 * 0.28 > 7
    assert calibration.conformal_factor(np.arange(1.0, 25.0), 0.28) == 7


def test_conformal_factor_refuses_negative_scores_and_invalid_levels():
    for level in (0.0, 1.0):
        with pytest.raises(ValueError, match="level: expected a number inside"):
            calibration.conformal_factor([1.0], level)
    with pytest.raises(ValueError, match="scores: expected numbers >= 0, got -2"):
        calibration.conformal_factor([1.0, -2.0], 0.5)
    for bad in (math.nan, math.inf):
        with pytest.raises(ValueError, match="scores"):
            calibration.conformal_factor([1.0, bad], 0.5)


def test_calibration_error_weights_each_bin_by_its_size():
    """Three right answers are 0.05 from their confidence, and a wrong one is 0.65."""
    p = [[0.95, 0.05], [0.95, 0.05], [0.95, 0.05], [0.65, 0.35]]
    told = calibration.reliability(p, [0, 0, 0, 1])
    assert told.size[[6, 9]].tolist() == [1, 3]
    assert told.error == pytest.approx((3 * 0.05 + 0.65) / 4)


def test_bins_of_confidence_include_their_upper_edge():
    told = calibration.reliability([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5]], [0, 0, 0], n_bins=4)
    assert told.size.tolist() == [0, 1, 2, 0] and told.accuracy[1:3].tolist() == [1.0, 0.5]


def test_expected_coverage_is_the_share_of_drawn_targets_inside():
    truth, lower, upper = np.array([0.0, 2.0]), np.array([-0.5, 1.0]), np.array([1.0, 5.0])
    y = truth + 0.6 * np.random.default_rng(1).standard_normal((100_000, 2))
    inside = ((lower <= y) & (y <= upper)).mean(axis=0)
    found = calibration.expected_coverage(truth, 0.6, lower, upper)
    np.testing.assert_allclose(found, inside, atol=5 * 0.5 / np.sqrt(len(y)))


@given(level=st.floats(0.01, 0.99), noise=st.floats(0.1, 3.0), seed=st.integers(0, 99))
def test_pit_of_interval_ends_differ_by_the_level(level, noise, seed):
    draws = np.random.default_rng(seed).standard_cauchy((30, 4))
    for p in (Predictive.from_samples(draws, noise), gaussian(draws[0], 0.7, noise)):
        lower, upper = (calibration.pit(p, end) for end in p.interval(level))
        np.testing.assert_allclose([lower, 1 - upper], (1 - level) / 2, atol=1e-7)


def test_pit_of_labels_is_their_distribution_function():
    prediction = BernoulliPredictive.from_logits(np.log([[3.0, 1.0]] * 2))
    np.testing.assert_allclose(calibration.pit(prediction, [0.0, 0.0]), [0.25, 0.5])
    np.testing.assert_allclose(calibration.pit(prediction, [1.0, -1.0]), [1.0, 0.0])


def test_pit_of_draws_is_the_cdf_of_their_mixture():
    draws, noise = np.array([[-1.0, 0.0], [2.0, 0.5]]), np.array([0.5, 2.0])
    prediction = Predictive(draws.mean(axis=0), draws.std(axis=0), noise, draws)
    cdf = [
        0.5 * stats.norm(-1.0, 0.5).cdf(-0.7) + 0.5 * stats.norm(2.0, 0.5).cdf(-0.7),
        0.5 * stats.norm(0.0, 2.0).cdf(1.0) + 0.5 * stats.norm(0.5, 2.0).cdf(1.0),
    ]
    np.testing.assert_allclose(calibration.pit(prediction, [-0.7, 1.0]), cdf, rtol=1e-9)


LOGITS = 2.0 * RNG.normal(size=(4000, 5))
RIGHT = np.array([RNG.choice(5, p=p) for p in softmax(LOGITS, axis=1)])  # labels drawn from LOGITS


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_best_temperature_recovers_the_factor_on_logits(factor):
    assert calibration.best_temperature(factor * LOGITS, RIGHT) == pytest.approx(factor, rel=0.05)
    p = np.exp(calibration.tempered(factor * LOGITS, factor))
    assert calibration.reliability(p, RIGHT).error < 0.03
