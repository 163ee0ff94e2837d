"""The toy problems: what they are, and that a seed decides every draw."""

import numpy as np
import pytest

from bdl_teach.datasets import blundell_curve, sinusoid

MAKERS = [sinusoid, blundell_curve]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("n", [1, 2, 33])
def test_data_come_as_columns_with_their_noise(make, n):
    data = make(n=n, noise_std=0.25)
    assert data.x.shape == data.y.shape == (n, 1)
    assert data.x.dtype == data.y.dtype == np.float64
    assert data.noise_std == 0.25


@pytest.mark.parametrize("make", MAKERS)
def test_the_seed_decides_the_data(make):
    np.testing.assert_array_equal(make(seed=3).y, make(seed=3).y)
    assert (make(seed=3).y != make(seed=4).y).all()


# The sinusoid


def test_sinusoid_is_32_even_points_with_unit_noise_unless_told():
    data = sinusoid()
    np.testing.assert_allclose(data.x[:, 0], np.linspace(-0.5, 0.5, 32))
    assert data.noise_std == 1.0


def test_truth_is_ten_sines_in_any_shape():
    data = sinusoid()
    x = np.linspace(-2.0, 2.0, 12).reshape(3, 4)
    np.testing.assert_allclose(data.truth(x), 10 * np.sin(2 * np.pi * x))
    assert data.truth(0.25) == pytest.approx(10.0)


def test_noise_has_the_standard_deviation_asked_for():
    n, std = 50_000, 3.0
    data = sinusoid(n=n, noise_std=std)
    noise = data.y - data.truth(data.x)
    assert noise.std() == pytest.approx(std, abs=5 * std / np.sqrt(2 * n))
    assert noise.mean() == pytest.approx(0.0, abs=5 * std / np.sqrt(n))


def test_moving_the_noise_scales_the_same_draw():
    quiet, loud = sinusoid(noise_std=0.5), sinusoid(noise_std=1.5)
    truth = quiet.truth(quiet.x)
    np.testing.assert_allclose(3 * (quiet.y - truth), loud.y - truth)


@pytest.mark.parametrize("gap", [(-0.2, 0.2), (-0.5, 0.0), (0.3, 0.5), (-9.0, -0.4), (0.4, 9.0)])
def test_a_gap_is_empty_and_the_rest_is_full(gap):
    n, (low, high) = 40, gap
    x = sinusoid(n=n, gap=gap).x[:, 0]
    assert len(x) == n
    assert ((x <= low + 1e-12) | (x >= high - 1e-12)).all()
    assert (x >= -0.5).all()
    assert (x <= 0.5 + 1e-12).all()
    left = np.clip([low, high], -0.5, 0.5)
    spacing = (1.0 - (left[1] - left[0])) / (n - 1)
    across = np.diff(x) > 2 * spacing
    np.testing.assert_allclose(np.diff(x)[~across], spacing)
    assert across.sum() <= 1


@pytest.mark.parametrize(
    "gap", [(-0.5, 0.5), (0.2, 0.1), (0.7, 0.9), (0.1, 0.1), (np.nan, 0.2), 5, (1, 2, 3), "ab"]
)
def test_a_gap_that_leaves_nothing_or_is_none_is_refused(gap):
    with pytest.raises(ValueError, match="gap: expected.*got"):
        sinusoid(gap=gap)


# The curve of the paper


def test_blundell_curve_lives_on_the_first_half():
    x = blundell_curve(n=500).x
    assert x.min() >= 0.0
    assert x.max() <= 0.5
    assert (np.diff(x[:, 0]) >= 0).all()


def test_blundell_truth_is_the_formula_without_noise():
    x = np.linspace(-0.2, 1.2, 15)
    formula = x + 0.3 * np.sin(2 * np.pi * x) + 0.3 * np.sin(4 * np.pi * x)
    np.testing.assert_allclose(blundell_curve().truth(x), formula)


def test_blundell_noise_sits_inside_the_sines():
    data = blundell_curve(n=20_000, noise_std=1e-4)
    eps_effect = (data.y - data.truth(data.x)) / data.noise_std
    slope = 1 + 0.6 * np.pi * np.cos(2 * np.pi * data.x) + 1.2 * np.pi * np.cos(4 * np.pi * data.x)
    eps = eps_effect / slope
    steep = np.abs(slope) > 0.5
    n = steep.sum()
    assert eps[steep].std() == pytest.approx(1.0, abs=5 / np.sqrt(2 * n) + 1e-2)
