"""The linear-regression explorer: exact, so that its claims can be held to formulas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from explorer_claims import (
    assert_every_control_moves_the_picture,
    assert_every_preset_shows_another_picture_and_says_what_to_see,
    pixels,
)
from scipy.stats import multivariate_normal

from bdl_teach import features
from bdl_teach.compiled import trace_count
from bdl_teach.widgets import LinearRegressionExplorer, linear

MOVES: dict[str, Any] = {
    "n": 5,
    "prior_std": 10**0.5,
    "noise_std": 2.0,
    "n_features": 7,
    "seed": 3,
    "kind": "polynomial",
}


@pytest.fixture
def explorer() -> Iterator[LinearRegressionExplorer]:
    made = LinearRegressionExplorer().wait()
    yield made
    made.close()


def marginal_log_density(result: linear.LinearResult, kind: str, d: int, s: float) -> float:
    """log N(y | 0, s² Φ Φᵀ + noise² I): the evidence without its weights."""
    phi = features.design(kind, result.data.x, d)
    cov = s**2 * phi @ phi.T + result.data.noise_std**2 * np.eye(len(phi))
    return float(multivariate_normal(np.zeros(len(phi)), cov).logpdf(result.data.y[:, 0]))


def test_every_control_moves_the_picture(explorer: LinearRegressionExplorer) -> None:
    explorer.preset("eight points")
    assert_every_control_moves_the_picture(explorer, MOVES)


def test_every_preset_shows_another_picture_and_says_what_to_see(
    explorer: LinearRegressionExplorer,
) -> None:
    assert_every_preset_shows_another_picture_and_says_what_to_see(explorer)


def test_the_state_rebuilds_the_explorer() -> None:
    first = LinearRegressionExplorer(**MOVES).wait()
    picture, state = pixels(first), first.state()
    again = LinearRegressionExplorer(**state).wait()
    assert again.state() == state == MOVES
    assert (pixels(again) == picture).all()
    again.close()


def test_before_any_data_the_posterior_is_the_prior(explorer: LinearRegressionExplorer) -> None:
    result = explorer.set(n=0, prior_std=10.0, n_features=6, kind="bumps").result
    np.testing.assert_allclose(result.posterior.mean, 0.0, atol=1e-12)
    np.testing.assert_allclose(result.posterior.cov, 100.0 * np.eye(6), atol=1e-9)
    assert result.log_evidence == 0.0
    assert not result.evidence_by_prior.any()
    assert not result.evidence_by_count.any()


def test_points_arrive_one_by_one_and_stay(explorer: LinearRegressionExplorer) -> None:
    data = [explorer.set(n=n, noise_std=1.0, seed=4).result.data for n in (3, 9, 32)]
    for fewer, more in zip(data, data[1:], strict=False):
        np.testing.assert_array_equal(more.x[: len(fewer.x)], fewer.x)
        np.testing.assert_array_equal(more.y[: len(fewer.y)], fewer.y)
    assert sorted(data[-1].x[:, 0]) == pytest.approx(np.linspace(-0.5, 0.5, 32))


def test_the_epistemic_band_never_widens_as_points_arrive(
    explorer: LinearRegressionExplorer,
) -> None:
    explorer.preset("eight points")
    bands = [explorer.set(n=n).result.prediction.epistemic_std for n in (0, 1, 2, 8, 20, 32)]
    for before, after in zip(bands, bands[1:], strict=False):
        assert (after <= before + 1e-9).all()


@pytest.mark.parametrize("kind", features.KINDS)
def test_every_point_of_the_evidence_plots_is_the_marginal_density(
    explorer: LinearRegressionExplorer, kind: str
) -> None:
    result = explorer.set(n=9, noise_std=1.5, prior_std=10.0, n_features=6, kind=kind).result
    by_prior = [marginal_log_density(result, kind, 6, s) for s in linear.PRIOR_STDS]
    by_count = [marginal_log_density(result, kind, int(d), 10.0) for d in linear.COUNTS]
    np.testing.assert_allclose(result.evidence_by_prior, by_prior, rtol=1e-8)
    np.testing.assert_allclose(result.evidence_by_count, by_count, rtol=1e-8)
    assert result.log_evidence == pytest.approx(marginal_log_density(result, kind, 6, 10.0))


def test_the_preset_of_the_evidence_is_where_the_evidence_peaks(
    explorer: LinearRegressionExplorer,
) -> None:
    result = explorer.preset("evidence's choice").result
    assert linear.COUNTS[np.argmax(result.evidence_by_count)] == explorer.state()["n_features"]
    best = result.evidence_by_prior.max()
    assert best - result.log_evidence < 1.0


def test_drawn_functions_are_draws_of_the_posterior() -> None:
    explorer = LinearRegressionExplorer(n=6, n_features=5).wait()
    assert explorer.result.functions.shape == (10, len(linear.X_GRID))
    draws = np.concatenate([explorer.set(seed=s, n=0).result.weights for s in range(60)])
    scaled = draws / 10.0  # of the prior, whose sd is 10
    assert abs(scaled.mean()) < 4 / np.sqrt(scaled.size)
    assert scaled.std() == pytest.approx(1.0, abs=4 / np.sqrt(2 * scaled.size))
    explorer.close()


def test_the_draws_keep_their_noise_while_sliders_move(explorer: LinearRegressionExplorer) -> None:
    explorer.preset("before any data")
    narrow = explorer.set(prior_std=1.0).result.weights
    np.testing.assert_allclose(explorer.set(prior_std=10.0).result.weights, 10 * narrow)


@pytest.mark.parametrize("kind", features.KINDS)
@pytest.mark.parametrize(("noise_std", "prior_std"), [(0.1, 10**1.5), (0.1, 0.1), (5.0, 10**1.5)])
def test_the_far_corners_of_the_sliders_work(
    explorer: LinearRegressionExplorer, kind: str, noise_std: float, prior_std: float
) -> None:
    for n, d in ((0, 2), (1, 14), (32, 14), (32, 3)):
        result = explorer.set(
            n=n, n_features=d, kind=kind, noise_std=noise_std, prior_std=prior_std
        ).result
        assert np.isfinite(result.functions).all()
        assert np.isfinite(result.evidence_by_count).all()


def test_no_tick_compiles_anything(explorer: LinearRegressionExplorer) -> None:
    traces = trace_count()
    for name in explorer.presets:
        explorer.preset(name)
    assert trace_count() == traces


def test_the_picture_has_words_for_who_cannot_see_it(explorer: LinearRegressionExplorer) -> None:
    words = explorer.preset("eight points")._repr_mimebundle_()["text/plain"]
    assert words.startswith(explorer.ALT)
    assert "8 points, 10 features: log evidence" in words
    assert explorer.preset("one point").status.startswith("1 point, ")


def test_resample_brings_other_data(explorer: LinearRegressionExplorer) -> None:
    before = explorer.preset("eight points").result.data.y
    explorer._resample()
    explorer.wait()
    assert explorer.state()["seed"] == 1
    assert (explorer.result.data.y != before).any()


@pytest.mark.parametrize(
    ("values", "words"),
    [({"n": 33}, "n: expected a value between"), ({"kind": "splines"}, "kind:"), ({"m": 1}, "m:")],
)
def test_values_out_of_range_are_refused(
    explorer: LinearRegressionExplorer, values: dict[str, Any], words: str
) -> None:
    state = explorer.preset("eight points").state()
    with pytest.raises(ValueError, match=words):
        explorer.set(**values)
    assert explorer.state() == state
