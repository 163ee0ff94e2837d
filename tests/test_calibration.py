"""Calibration: distances, coverage and PIT values against what they stand for."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import softmax
from sklearn.calibration import calibration_curve

from bdl_teach import calibration
from bdl_teach.predictive import Predictive

RNG = np.random.default_rng(0)


def gaussian(mean, epistemic, noise=1.0):
    mean = np.asarray(mean, float)
    return Predictive(mean, np.full_like(mean, epistemic), np.full_like(mean, noise))


def test_the_distance_of_two_gaussians_is_wasserstein_s():
    """In one dimension W² = ∫ (F⁻¹ − G⁻¹)² dp: by quadrature over the quantiles."""
    p = (np.arange(200_000) + 0.5) / 200_000
    quantiles = stats.norm(1.0, 0.5).ppf(p) - stats.norm(-0.4, 2.0).ppf(p)
    w = calibration.distance(gaussian([1.0], 0.5), gaussian([-0.4], 2.0))
    assert w == pytest.approx(np.sqrt(np.mean(quantiles**2)), rel=1e-3)


def test_expected_coverage_is_the_share_of_many_draws():
    truth, lower, upper = np.array([0.0, 1.0]), np.array([-1.0, 1.5]), np.array([0.5, 9.0])
    y = truth + 0.7 * RNG.standard_normal((100_000, 2))
    share = ((lower <= y) & (y <= upper)).mean(axis=0)
    expected = calibration.expected_coverage(truth, 0.7, lower, upper)
    np.testing.assert_allclose(expected, share, atol=4 * 0.5 / 100_000**0.5)
    with pytest.raises(ValueError, match="noise_std"):
        calibration.expected_coverage(truth, 0.0, lower, upper)


@pytest.mark.parametrize(("level", "rank"), [(0.5, 17), (0.9, 30), (0.91, 31), (0.96, 32)])
def test_the_conformal_factor_is_the_score_of_its_rank(level, rank):
    scores = RNG.permutation(np.arange(1.0, 33.0))
    assert calibration.conformal_factor(scores, level) == rank
    assert calibration.conformal_factor(scores, 0.98) == math.inf, "33 ranks do not hold so much"


def test_a_rank_that_is_whole_is_not_rounded_to_the_next():
    """25 · 0.28 is 7, and 7.000000000000001 in the machine."""
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


def test_pit_of_correct_predictive_is_uniform():
    samples = RNG.normal(size=(5, 1)) * np.ones((5, 4000))
    mixture = Predictive.from_samples(samples, 0.3)
    y = samples[RNG.integers(0, 5, 4000), 0] + 0.3 * RNG.standard_normal(4000)
    assert stats.kstest(calibration.pit(mixture, y), "uniform").pvalue > 0.01
    right = gaussian(np.zeros(4000), 1.2, 0.9)
    y = 1.5 * RNG.standard_normal((4000, 1))
    assert stats.kstest(calibration.pit(right, y), "uniform").pvalue > 0.01
    assert stats.kstest(calibration.pit(gaussian(np.zeros(4000), 0.5), y), "uniform").pvalue < 1e-6


LOGITS = 2.0 * RNG.normal(size=(4000, 5))
RIGHT = np.array([RNG.choice(5, p=p) for p in softmax(LOGITS, axis=1)])  # what LOGITS say, is so


@pytest.mark.filterwarnings("error")
def test_reliability_is_scikit_learns_with_the_counts():
    p = softmax(1.7 * LOGITS, axis=1)
    bins = calibration.reliability(p, RIGHT, 8)
    confidence = p.max(axis=1)
    held, said = calibration_curve(p.argmax(axis=1) == RIGHT, confidence, n_bins=8)
    full = bins.size > 0
    np.testing.assert_allclose(bins.accuracy[full], held)
    np.testing.assert_allclose(bins.confidence[full], said)
    np.testing.assert_array_equal(bins.size, np.histogram(confidence, 8, (0, 1))[0])
    assert np.isnan(bins.accuracy[~full]).all() and bins.size[:1] == 0  # no largest is below 1/5


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_best_temperature_recovers_factor_on_logits(factor):
    assert calibration.best_temperature(factor * LOGITS, RIGHT) == pytest.approx(factor, rel=0.05)
    p = np.exp(calibration.tempered(factor * LOGITS, factor))
    assert calibration.reliability(p, RIGHT).error < 0.03
