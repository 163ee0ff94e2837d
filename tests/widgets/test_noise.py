"""Test the noise explorer: what its panels and readings say of σ, and the chains behind them."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from explorer_claims import assert_reads, every_picture_is_drawn, line, panel
from scipy import stats

from bdl_teach.densities import HalfNormal
from bdl_teach.methods import point
from bdl_teach.predictive import Predictive
from bdl_teach.problems import GAP_GRID, NOISE_SCALE, Problem
from bdl_teach.widgets import NoiseExplorer
from bdl_teach.widgets._engine import beside_truth

EXPLORER = NoiseExplorer
X = GAP_GRID[:, 0]
RNG = np.random.default_rng(0)


def with_noise(draws: np.ndarray) -> Predictive:
    """Return a posterior with these draws of σ ``[s, 1]`` or ``[s, m]``."""
    f = RNG.standard_normal((40, len(X)))
    middle = np.broadcast_to(np.median(draws, axis=0), X.shape)
    return Predictive(f.mean(axis=0), f.std(axis=0), middle, None, draws)


@every_picture_is_drawn
def test_density_of_sigma_is_that_of_the_draws_and_lines_stand_at_single_values(
    explorer: NoiseExplorer, nuts: dict[str, Any]
) -> None:
    draws = np.exp(0.2 + 0.3 * RNG.standard_normal((4000, 1)))
    nuts["gold"] = with_noise(draws)
    explorer.set(nuts=True, noise_std=0.9)
    result, ax = explorer.result, panel(explorer, "How loud?")
    assert result.problem.settings["noise_std"] == HalfNormal(NOISE_SCALE)
    at, density = line(ax, "true posterior")
    exact = stats.lognorm(s=np.hypot(0.3, 0.1), scale=np.exp(0.2)).pdf(at)
    np.testing.assert_allclose(density, exact / exact.max(), atol=0.06)
    assert line(ax, "mean field")[0] == pytest.approx([result.fit.noise_std] * 2)
    assert line(ax, "true σ")[0] == pytest.approx([0.9, 0.9])
    low, high = np.quantile(draws, [0.05, 0.95])
    assert_reads(explorer, fit_sigma=result.fit.noise_std, true_sigma=0.9)
    assert_reads(explorer, nuts_low=low, nuts_high=high, nuts_sigma=draws.mean())
    assert f"{low:.3f} to {high:.2f} (nine in ten)" in explorer.status


@every_picture_is_drawn
def test_sigma_by_x_grows_in_the_data_and_is_drawn_with_its_range(
    explorer: NoiseExplorer, nuts: dict[str, Any]
) -> None:
    draws = np.exp(0.5 * X + 0.2 * RNG.standard_normal((3000, 1)))
    nuts["gold"] = with_noise(draws)
    explorer.set(noise="x", grows=True, nuts=True)
    ax, result = panel(explorer, "How loud, by x"), explorer.result
    assert result.fit.likelihood == "heteroscedastic" and "A quick fit. σ(x)" in explorer.status
    np.testing.assert_allclose(line(ax, "true σ"), [X, np.exp(2.0 * X)])
    np.testing.assert_allclose(line(ax, "true posterior")[1], np.median(draws, axis=0))
    noise = result.fit.predict(GAP_GRID).noise_draws
    np.testing.assert_allclose(line(ax, "mean field")[1], np.median(noise, axis=0))
    even, louder = Problem(n=8, seed=3), Problem(n=8, seed=3, growth=2.0)
    x = even.data.x
    away = [p.data.y - p.data.truth(x) for p in (even, louder)]
    np.testing.assert_allclose(away[1], np.exp(2.0 * x) * away[0])


def test_told_noise_is_that_of_the_slider_and_maximum_likelihood_follows_at_rest(
    explorer: NoiseExplorer,
) -> None:
    explorer.set(noise="told", noise_std=0.7)
    model, result = explorer._worker.model, explorer.result
    assert result.fit.noise_std == 0.7 and "is told σ = 0.7" in explorer.status
    better = model.improve(explorer.state(), result, at_rest=False)
    assert better is not None and better.trained and better.likely is not None
    data, flat = result.data, HalfNormal(np.inf)
    same = point.fit(data.x, data.y, noise_std=flat, hidden_units=(20,), steps=5000, seed=1)
    assert better.likely.aleatoric_std[0] == pytest.approx(same.noise_std, rel=0.02)
    assert model.readings(better)["likely_sigma"] == pytest.approx(same.noise_std, rel=0.02)


def test_chains_are_judged_by_log_sigma_too() -> None:
    f, noise = RNG.standard_normal((4, 100, len(X))), np.exp(RNG.standard_normal((4, 100)))
    fit: Any = SimpleNamespace(outputs=lambda x: f, noise_chains=noise)
    found = beside_truth._outputs(fit, GAP_GRID)
    np.testing.assert_allclose(found[..., -1], np.log(noise))
    apart = np.concatenate([f, f[..., :1] + 5.0 * np.arange(4)[:, None, None]], axis=-1)
    problem = Problem(noise="learnt")
    regions = problem.regions(X)
    assert beside_truth._judge(found, regions, problem)[0] < 1.1
    assert beside_truth._judge(apart, regions, problem)[0] > 2.0
    two: Any = SimpleNamespace(outputs=lambda x: np.stack([f, 2 * f], -1), noise_chains=None)
    np.testing.assert_array_equal(
        beside_truth._outputs(two, GAP_GRID), np.concatenate([f, 2 * f], axis=-1)
    )


def test_a_posterior_with_learnt_noise_has_its_median_at_each_x() -> None:
    noise = np.exp(RNG.standard_normal((4, 50, 1)))
    gold = beside_truth._gold(Problem(), X, X**2, "", 1.0, noise).prediction
    assert gold is not None
    np.testing.assert_allclose(gold.aleatoric_std, np.full_like(X, np.median(noise)))
    assert beside_truth._shape(Problem()) != beside_truth._shape(Problem(noise="learnt"))
