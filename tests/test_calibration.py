"""Calibration: distances, coverage and PIT values against what they stand for."""

import math

import numpy as np
import pytest
from scipy import stats

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


def test_the_distance_is_a_root_mean_square_over_what_counts():
    a, b = gaussian([0.0, 0.0, 0.0], 1.0), gaussian([3.0, 4.0, 9.0], 1.0)
    assert calibration.distance(a, b, np.array([1, 1, 0], bool)) == pytest.approx(12.5**0.5)
    assert calibration.distance(a, a) == 0
    assert math.isnan(calibration.distance(a, b, np.zeros(3, bool)))


def test_distances_need_the_same_inputs():
    with pytest.raises(ValueError, match="expected 2 test inputs, got 3"):
        calibration.distance(gaussian([0.0] * 2, 1.0), gaussian([0.0] * 3, 1.0))


def test_expected_coverage_is_the_share_of_many_draws():
    truth, lower, upper = np.array([0.0, 1.0]), np.array([-1.0, 1.5]), np.array([0.5, 9.0])
    y = truth + 0.7 * RNG.standard_normal((100_000, 2))
    share = ((lower <= y) & (y <= upper)).mean(axis=0)
    expected = calibration.expected_coverage(truth, 0.7, lower, upper)
    np.testing.assert_allclose(expected, share, atol=4 * 0.5 / 100_000**0.5)
    with pytest.raises(ValueError, match="noise_std"):
        calibration.expected_coverage(truth, 0.0, lower, upper)


def test_pit_is_uniform_for_a_right_mixture_and_for_a_right_gaussian():
    samples = RNG.normal(size=(5, 1)) * np.ones((5, 4000))
    mixture = Predictive.from_samples(samples, 0.3)
    y = samples[RNG.integers(0, 5, 4000), 0] + 0.3 * RNG.standard_normal(4000)
    assert stats.kstest(calibration.pit(mixture, y), "uniform").pvalue > 0.01
    right = gaussian(np.zeros(4000), 1.2, 0.9)
    y = 1.5 * RNG.standard_normal((4000, 1))
    assert stats.kstest(calibration.pit(right, y), "uniform").pvalue > 0.01
    assert stats.kstest(calibration.pit(gaussian(np.zeros(4000), 0.5), y), "uniform").pvalue < 1e-6


def test_pit_of_one_draw_is_its_normal_distribution_function():
    one = Predictive.from_samples([[1.0, 2.0]], 0.5)
    expected = stats.norm([1.0, 2.0], 0.5).cdf([1.2, 0.0])
    np.testing.assert_allclose(calibration.pit(one, [1.2, 0.0]), expected)
    with pytest.raises(ValueError, match="expected shape"):
        calibration.pit(one, [1.0, 2.0, 3.0])
