"""Test the empirical-Bayes explorer: learnt priors, the KL curve and the best prior."""

from typing import Any

import numpy as np
from explorer_claims import assert_reads, assert_shows, line, panel, set_to

from bdl_teach import densities
from bdl_teach.widgets import EmpiricalBayesExplorer

HOME = EmpiricalBayesExplorer.DEFAULTS
MOVES: dict[str, Any] = {"prior_std": 10**0.5, "noise_std": 2.0, "width": 7, "n": 11, "seed": 3}
EXPLORER = EmpiricalBayesExplorer
everywhere = set_to(
    [
        {},
        {"prior_std": 10.0, "width": 7, "prior": "one for all"},
        {**MOVES, "prior": "per layer"},
        {**MOVES, "prior": "per weight"},
    ]
)


def kl(result: Any, std: Any) -> float:
    """Return KL[q ‖ N(0, std²)] of the fit in nats."""
    return float(densities.gaussian_kl(result.fit.mean, result.fit.std, 0.0, std).sum())


def best_of(result: Any, groups: Any) -> Any:
    """Return the best prior sd of each weight's group, √(mean of μ² + σ²)."""
    square = result.fit.mean**2 + result.fit.std**2
    return np.sqrt([square[groups == group].mean() for group in groups])


@everywhere
def test_prior_panel_and_readings_show_the_chosen_prior(explorer: EmpiricalBayesExplorer) -> None:
    v, result, ax = explorer.state(), explorer.result, panel(explorer, "σ of each weight's prior")
    layers = np.repeat([0, 1], [2 * v["width"], v["width"] + 1])
    alone = np.hypot(result.fit.mean, result.fit.std)
    expected = {
        "fixed": np.full(len(layers), v["prior_std"]),
        "one for all": best_of(result, 0 * layers),
        "per layer": best_of(result, layers),
        "per weight": alone,
    }[v["prior"]]
    order, floor = np.argsort(-alone), ax.get_ylim()[0]
    for label, of in (("best: √(μ² + σ²)", alone), ("in use", expected)):
        places, std = line(ax, label)
        np.testing.assert_array_equal(places, 1 + np.arange(len(order)))
        np.testing.assert_allclose(std, np.maximum(of[order], floor))
    complexity, best = kl(result, expected), best_of(result, 0 * layers)[0]
    off = result.fit.signal_to_noise < 0.5
    assert_reads(explorer, used=(~off).sum(), off=off.mean(), complexity=complexity, best=best)
    assert_reads(explorer, F=complexity + result.likelihood, saved=complexity - kl(result, best))


@everywhere
def test_function_and_kl_panels_show_the_prediction_and_the_kl(
    explorer: EmpiricalBayesExplorer,
) -> None:
    v, result = explorer.state(), explorer.result
    assert_shows(panel(explorer, "What the network believes about y"), result.prediction)
    drawn = result.fit.predict(result.x_grid, n_samples=200)
    np.testing.assert_array_equal(result.prediction.samples, drawn.samples)
    assert (result.prediction.aleatoric_std == v["noise_std"]).all()
    ax = panel(explorer, "KL by σ of one prior for all")
    std, above = line(ax, "KL")
    lowest = best_of(result, np.zeros(len(result.fit.mean), int))[0]
    left, right = ax.get_xlim()
    assert std[0] <= left and std[-1] >= right and (np.diff(std) > 0).all()
    at = np.flatnonzero((std > 0.3) & (std < 30))[::9]
    expected = [kl(result, std[i]) - kl(result, lowest) for i in at]
    np.testing.assert_allclose(above[at], expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(line(ax, "best").ravel(), [lowest, 0.0])
    now = line(ax, "now")
    if v["prior"] == "fixed":
        height = min(kl(result, v["prior_std"]) - kl(result, lowest), ax.get_ylim()[1])
        np.testing.assert_allclose(now.ravel(), [v["prior_std"], height], rtol=1e-6)
    elif v["prior"] != "one for all":
        assert now.size == 0, "with several σ, the curve has no point for them"


def test_best_button_sets_the_slider_value_nearest_to_the_best_prior(
    made: EmpiricalBayesExplorer,
) -> None:
    for values in ({}, {"prior": "per weight"}):
        best = made.set(**{**HOME, **values}).result.best_std
        made._view._made["best"].click()
        state = made.wait().state()
        assert state["prior"] == "fixed"
        assert abs(np.log10(state["prior_std"] / best)) <= 0.05 + 1e-9


def test_shown_free_energy_counts_the_kl_once(explorer: EmpiricalBayesExplorer) -> None:
    likelihood = explorer.result.fit.cost(100).likelihood
    once = kl(explorer.result, HOME["prior_std"]) + likelihood
    assert_reads(explorer, likelihood=likelihood, F=once)


def test_replay_shows_the_prior_that_each_frame_had_learnt(
    explorer: EmpiricalBayesExplorer,
) -> None:
    ax, used = panel(explorer, "σ of each weight's prior"), set()
    result = explorer.set(prior="per weight").result
    for step in (result.fit.history["step"][0], None):
        explorer.replay(step)
        np.testing.assert_allclose(line(ax, "in use"), line(ax, "best: √(μ² + σ²)"))
        used.add(line(ax, "in use")[1].sum())
    assert len(used) == 2, "it was learnt on the way"
