"""Generated data follow their seed, real data have their published sizes, splits their recipe."""

import numpy as np
import pytest
from datafiles import need_data
from hypothesis import assume, given
from hypothesis import strategies as st

from bdl_teach import datasets
from bdl_teach.datasets import blundell_curve, sinusoid

MAKERS = [sinusoid, blundell_curve]


@pytest.mark.parametrize("make", MAKERS)
def test_seed_determines_the_data(make):
    for n in (1, 2, 33):
        data = make(n=n, noise_std=0.25, seed=3)
        assert data.x.shape == data.y.shape == (n, 1) and data.noise_std == 0.25
        assert data.x.dtype == data.y.dtype == np.float64
        np.testing.assert_array_equal(data.y, make(n, 0.25, seed=3).y)
        assert (data.y != make(n, 0.25, seed=4).y).all()


def test_sinusoid_truth_is_ten_times_the_sine_of_2_pi_x():
    data = sinusoid()
    x = np.linspace(-2.0, 2.0, 12).reshape(3, 4)
    np.testing.assert_allclose(data.truth(x), 10 * np.sin(2 * np.pi * x))
    assert data.truth(0.25) == pytest.approx(10.0)


def test_noise_has_the_requested_standard_deviation_and_scales_with_it():
    n, std = 50_000, 3.0
    data, quiet = (sinusoid(n=n, noise_std=noise_std) for noise_std in (std, 1.0))
    noise = data.y - data.truth(data.x)
    assert noise.std() == pytest.approx(std, abs=5 * std / np.sqrt(2 * n))
    assert noise.mean() == pytest.approx(0.0, abs=5 * std / np.sqrt(n))
    np.testing.assert_allclose(std * (quiet.y - quiet.truth(quiet.x)), noise, atol=1e-9)


@pytest.mark.parametrize("gap", [(-0.2, 0.2), (-0.5, 0.0), (0.4, 9.0)])
def test_gap_is_empty_and_other_inputs_are_evenly_spaced(gap):
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


@pytest.mark.parametrize("gap", [(-0.5, 0.5), (0.2, 0.1), (np.nan, 0.2), 5])
def test_gap_that_is_empty_or_covers_all_inputs_is_refused(gap):
    with pytest.raises(ValueError, match="gap: expected.*got"):
        sinusoid(gap=gap)


def test_blundell_truth_is_the_formula_without_noise():
    x = np.linspace(-0.2, 1.2, 15)
    formula = x + 0.3 * np.sin(2 * np.pi * x) + 0.3 * np.sin(4 * np.pi * x)
    np.testing.assert_allclose(blundell_curve().truth(x), formula)


def test_blundell_noise_is_added_inside_the_sines():
    data = blundell_curve(n=20_000, noise_std=1e-4)
    eps_effect = (data.y - data.truth(data.x)) / data.noise_std
    slope = 1 + 0.6 * np.pi * np.cos(2 * np.pi * data.x) + 1.2 * np.pi * np.cos(4 * np.pi * data.x)
    eps = eps_effect / slope
    steep = np.abs(slope) > 0.5
    n = steep.sum()
    assert eps[steep].std() == pytest.approx(1.0, abs=5 / np.sqrt(2 * n) + 1e-2)


SIZES = "506x13 1030x8 768x8 8192x8 11934x16 9568x4 45730x9 1599x11 308x6"  # n x d, as published
REAL = {
    **dict(zip(datasets.UCI, SIZES.split(), strict=True)),
    **{"california": "20640x8", "alzheimers": "2149x32"},
    **{"fashion-sprite": "900x28x28", "mnist-test": "10000x28x28"},
}


@pytest.mark.parametrize("name", REAL)
def test_real_data_sets_have_their_published_sizes(name):
    need_data(name)
    if name in datasets.UCI:
        data = datasets.uci(name)
    else:
        data = getattr(datasets, name.replace("-", "_"))()
    x, y = (data.x, data.y) if isinstance(data, datasets.Table) else (data.images, data.labels)
    assert ("x".join(map(str, x.shape)), y.shape) == (REAL[name], (len(x),))
    assert np.isfinite(x).all() and np.isfinite(y).all()


def test_digits_load_without_a_data_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("BDL_TEACH_DATA", str(tmp_path / "nothing"))
    digits = datasets.digits()
    assert digits.images.shape == (1797, 8, 8) and digits.images.dtype == np.float32
    assert (digits.images.min(), digits.images.max()) == (0.0, 1.0)
    assert digits.labels[:10].tolist() == list(range(10))


def test_splits_equal_those_of_the_published_code():
    n = 506
    np.random.seed(1)
    recipe = [np.random.choice(range(n), n, replace=False) for _ in range(3)]
    for (train, test), order in zip(datasets.splits(n, 3), recipe, strict=True):
        np.testing.assert_array_equal(train, order[:455])
        np.testing.assert_array_equal(test, order[455:])


@given(
    n=st.integers(2, 300),
    n_splits=st.integers(1, 4),
    share=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**31),
)
def test_each_split_uses_each_row_once(n, n_splits, share, seed):
    assume(0 < round(share * n) < n)
    again = datasets.splits(n, n_splits + 1, share, seed)
    for (train, test), (train_again, _) in zip(
        datasets.splits(n, n_splits, share, seed), again, strict=False
    ):
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(n))
        np.testing.assert_array_equal(train, train_again)


@pytest.mark.parametrize(
    "bad", [{"n": 1}, {"train_share": 1.0}, {"train_share": 0.01}, {"n_splits": 0}, {"seed": -1}]
)
def test_split_without_training_or_test_rows_is_refused(bad):
    (name,) = bad
    with pytest.raises(ValueError, match=f"^{name}: expected.*got"):
        datasets.splits(**{"n": 10, **bad})
