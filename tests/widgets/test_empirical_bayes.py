"""The empirical-Bayes explorer: its star is the closed form, and learnt priors are where it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from artists import (
    assert_reads,
    assert_shows,
    line,
    panel,
)

from bdl_teach import densities
from bdl_teach.widgets import EmpiricalBayesExplorer

HOME = EmpiricalBayesExplorer.DEFAULTS
MOVES: dict[str, Any] = {
    "prior_std": 10**0.5,
    "noise_std": 2.0,
    "width": 7,
    "n": 11,
    "seed": 3,
    "prior": "per weight",
}

PRESETS = {name: values for name, (_, values) in EmpiricalBayesExplorer.PRESETS.items()}
SETTINGS = ({}, {"prior_std": 10.0, "width": 7}, {**MOVES, "prior": "per layer"}, MOVES)
X = np.linspace(-1.0, 1.0, 121)


@pytest.fixture(scope="module")
def explorer() -> Iterator[EmpiricalBayesExplorer]:
    made = EmpiricalBayesExplorer().wait()
    yield made
    made.close()


@pytest.fixture(params=SETTINGS, ids=("home", "wide prior", "per layer", "per weight"))
def moved(explorer: EmpiricalBayesExplorer, request: Any) -> EmpiricalBayesExplorer:
    return explorer.set(**{**HOME, **request.param})


def kl(result: Any, std: Any) -> float:
    """KL[q ‖ N(0, std²)] of the q that was found, in nats."""
    return float(densities.gaussian_kl(result.fit.mean, result.fit.std, 0.0, std).sum())


def best_of(result: Any, groups: Any) -> Any:
    """√(mean of μ² + σ²) over each group of weights: the closed form."""
    square = result.fit.mean**2 + result.fit.std**2
    return np.sqrt([square[groups == group].mean() for group in groups])


def test_the_network_s_panel_holds_the_predictive_of_the_fit(
    moved: EmpiricalBayesExplorer,
) -> None:
    v, result = moved.state(), moved.result
    ax = panel(moved, "What the network believes about y", "x", "y")
    assert_shows(ax, result.prediction)
    fresh = result.fit.predict(X[:, None], n_samples=2000, seed=9)
    samples = len(result.prediction.samples)
    error = fresh.epistemic_std * np.sqrt(1 / samples + 1 / 2000)
    assert (np.abs(result.prediction.mean - fresh.mean) < 5 * error + 1e-9).all()
    ratio = result.prediction.epistemic_std / fresh.epistemic_std
    assert np.abs(ratio - 1).max() < 0.5 and np.median(ratio) == pytest.approx(1, abs=0.2)
    assert (result.prediction.aleatoric_std == v["noise_std"]).all()


@pytest.mark.parametrize("prior", ["fixed", "one for all", "per layer", "per weight"])
def test_the_prior_in_use_is_the_one_that_was_chosen(
    explorer: EmpiricalBayesExplorer, prior: str
) -> None:
    v = explorer.set(**{**HOME, "width": 7, "prior_std": 10**0.3, "prior": prior}).state()
    result, k = explorer.result, v["width"]
    layers = np.repeat([0, 1], [2 * k, k + 1])
    expected = {
        "fixed": np.full(len(layers), v["prior_std"]),
        "one for all": best_of(result, 0 * layers),
        "per layer": best_of(result, layers),
        "per weight": np.hypot(result.fit.mean, result.fit.std),
    }
    np.testing.assert_allclose(result.prior_std, expected[prior])
    np.testing.assert_allclose(result.wanted_std, expected["per weight"])
    assert result.best_std == pytest.approx(expected["one for all"][0])
    assert result.complexity == pytest.approx(kl(result, expected[prior]), abs=1e-6)
    assert result.least_complexity == pytest.approx(kl(result, expected["one for all"][0]))
    ratio = np.abs(result.fit.mean) / np.maximum(result.fit.std, 1e-30)
    assert result.off == pytest.approx((ratio < 0.5).mean())


def test_kl_panel_shows_kl_its_minimum_and_current_prior(
    moved: EmpiricalBayesExplorer,
) -> None:
    v, result = moved.state(), moved.result
    ax = panel(moved, "KL by σ of one prior for all", "prior σ", "nats above")
    std, above = line(ax, "KL")
    lowest = best_of(result, np.zeros(len(result.fit.mean), int))[0]
    left, right = ax.get_xlim()
    assert std[0] <= left and std[-1] >= right and (np.diff(std) > 0).all()
    at = np.flatnonzero((std > 0.3) & (std < 30))[::9]
    expected = [kl(result, std[i]) - kl(result, lowest) for i in at]
    np.testing.assert_allclose(above[at], expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(line(ax, "best").ravel(), [lowest, 0.0])
    now = line(ax, "now")
    if v["prior"] != "fixed":
        assert now.size == 0  # more than one σ: there is no place for it
    else:
        height = min(kl(result, v["prior_std"]) - kl(result, lowest), ax.get_ylim()[1])
        np.testing.assert_allclose(now.ravel(), [v["prior_std"], height], rtol=1e-6)


def test_the_sorted_panel_holds_both_priors_of_each_weight(moved: EmpiricalBayesExplorer) -> None:
    ax = panel(moved, "σ of each weight's prior", "weights, from the widest", "σ")
    result, floor = moved.result, ax.get_ylim()[0]
    order = np.argsort(-np.hypot(result.fit.mean, result.fit.std))
    for label, of in (("best: √(μ² + σ²)", result.wanted_std), ("in use", result.prior_std)):
        places, std = line(ax, label)
        np.testing.assert_array_equal(places, 1 + np.arange(len(order)))
        np.testing.assert_allclose(std, np.maximum(of[order], floor))


def test_readings_are_those_of_the_fit(moved: EmpiricalBayesExplorer) -> None:
    result = moved.result
    complexity, off = kl(result, result.prior_std), result.fit.signal_to_noise < 0.5
    best = best_of(result, np.zeros(len(result.fit.mean), int))[0]
    assert_reads(moved, used=(~off).sum(), off=off.mean(), complexity=complexity, best=best)
    assert_reads(moved, F=complexity + result.likelihood, saved=complexity - kl(result, best))


def test_best_button_sets_prior_to_step_nearest_star(
    explorer: EmpiricalBayesExplorer,
) -> None:
    for values in ({}, {"prior": "per weight"}):
        best = explorer.set(**{**HOME, **values}).result.best_std
        explorer._to_best()
        state = explorer.wait().state()
        assert state["prior"] == "fixed"
        assert abs(np.log10(state["prior_std"] / best)) <= 0.05 + 1e-9
        assert explorer.result.prior_std[0] == state["prior_std"]
