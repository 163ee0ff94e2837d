"""Test the sinusoid explorer: its picture, readings, question, prior functions and hovering."""

from dataclasses import replace
from typing import Any

import numpy as np
from explorer_claims import (
    artist,
    assert_reads,
    assert_shows,
    assert_the_picture_is_not_stale,
    bars,
    curves,
    every_picture_is_drawn,
    legend_labels,
    line,
    panel,
    set_to,
)

from bdl_teach import calibration, datasets, plots
from bdl_teach.densities import ScaleMixture
from bdl_teach.problems import COST_DRAWS, Problem
from bdl_teach.widgets import SinusoidExplorer

ARTICLE = SinusoidExplorer.DEFAULTS
X = np.linspace(-1.5, 1.5, 121)
AMONG = np.abs(X) < 0.5 + 1e-9
EXPLORER = SinusoidExplorer
SETTINGS: list[dict[str, Any]] = [
    {},
    {"n": 6, "noise_std": 2.5, "seed": 3, "width": 5, "prior_functions": True},
    {"kl_weight": 0.1, "n_predictions": 25, "sigma1": 0.5, "pi": 0.25, "n_samples": 2},
]


@every_picture_is_drawn
@set_to(SETTINGS)
def test_picture_and_readings_show_fit_data_and_prior(
    explorer: SinusoidExplorer,
) -> None:
    result = explorer.result
    state, fit, prediction = explorer.state(), result.fit, result.prediction
    ax = panel(explorer, "What the network believes about y")
    assert_shows(ax, prediction)
    drawn = [curve[:, 1] for curve in curves(ax, "drawn networks")]
    np.testing.assert_array_equal(drawn, prediction.samples[:10])
    data = datasets.sinusoid(state["n"], state["noise_std"], state["seed"])
    np.testing.assert_array_equal(line(ax, "data"), [data.x[:, 0], data.y[:, 0]])
    assert (fit.problem.x == data.x).all() and (fit.problem.y == data.y).all()
    assert (fit.noise_std, fit.problem.seed) == (state["noise_std"], state["seed"])
    np.testing.assert_allclose(
        line(ax, "true function"), [X, 10 * np.sin(2 * np.pi * X)], atol=1e-12
    )
    ax = panel(explorer, "Free energy F")
    for label, name in (
        ("F", "free_energy"),
        ("complexity", "complexity_cost"),
        ("likelihood", "likelihood_cost"),
    ):
        np.testing.assert_array_equal(line(ax, label), [fit.history["step"], fit.history[name]])
    ax = panel(explorer, "Prior and weights")
    w, density = line(ax, "prior")
    prior = ScaleMixture(state["sigma1"], state["sigma2"], state["pi"])
    np.testing.assert_allclose(density, np.exp(prior.log_prob(w)), rtol=1e-6)
    assert fit.problem.prior == prior
    heights, edges = bars(ax, "fitted μ")
    counts, _ = np.histogram(np.clip(fit.mean, edges[0], edges[-1]), edges)
    shown = counts > 0
    np.testing.assert_allclose(heights[shown], (counts / counts.sum() / np.diff(edges))[shown])
    q = line(ax, "fitted q")[1]
    z = (w - fit.mean[:, None]) / fit.std[:, None]
    marginal = np.mean(np.exp(-(z**2) / 2) / (np.sqrt(2 * np.pi) * fit.std[:, None]), axis=0)
    np.testing.assert_allclose(q, np.maximum(marginal, q.min()), rtol=1e-3)
    assert_the_picture_is_not_stale(explorer)

    assert result.cost == fit.cost(COST_DRAWS) and result.cost.kl_weight == state["kl_weight"]
    cost = result.cost
    assert_reads(explorer, complexity=cost.complexity, likelihood=cost.likelihood)
    mean, sd = prediction.mean, prediction.epistemic_std
    assert_reads(explorer, sd_data=sd[AMONG].mean(), sd_ends=(sd[0] + sd[-1]) / 2)
    places = {"sd_at_1": (sd, 1.0), "mean_up": (mean, 0.25), "mean_down": (mean, -0.25)}
    read = {name: np.interp(x, X, curve) for name, (curve, x) in places.items()}
    assert_reads(explorer, **read)


def test_take_me_there_button_pins_initial_values_and_keeps_the_y_axis(
    explorer: SinusoidExplorer,
) -> None:
    height = panel(explorer, "What the network believes").get_ylim()
    explorer.preset("few points")
    explorer.set(show="spread")
    explorer._view._question._choices.index = 1
    explorer._view._question._there.click()
    explorer.wait()
    pinned = explorer._worker.stage.pin.pinned.values
    assert (pinned["noise_std"], pinned["n"], explorer.state()["noise_std"]) == (1.0, 32, 3.0)
    assert panel(explorer, "What the network believes").get_ylim() == height
    ax = panel(explorer, "How unsure")
    ghosts = [artist.get_ydata() for artist in ax.lines if artist.get_label() == "_pinned"]
    before = next(ghost for ghost in ghosts if np.isfinite(ghost).all() and len(ghost))
    np.testing.assert_allclose(line(ax, "fit")[1], explorer.result.prediction.epistemic_std)
    assert (line(ax, "fit")[1] != before).any()
    then = explorer._worker.stage.pin.pinned.said.readings
    assert explorer.readings()["mean_up"] < 0.5 * then["mean_up"], "the mean loses the sine"
    explorer.preset("article")
    stage = explorer._worker.stage
    assert stage.pin.pinned is None and not stage.panels[0].room.held
    explorer.pin().preset("few points")
    assert stage.pin.pinned is not None, "an A that the learner has pinned stays"
    explorer.unpin().reset()


@every_picture_is_drawn
def test_prior_functions_are_networks_drawn_from_the_prior(explorer: SinusoidExplorer) -> None:
    prior = {"sigma1": 0.7, "sigma2": 10**-0.5, "pi": 0.3, "seed": 4, "width": 6}
    result = explorer.set(**prior, prior_functions=True).result
    ax, label = panel(explorer, "What the network believes"), "10 prior functions"
    weights = ScaleMixture(0.7, 10**-0.5, 0.3).sample((10, 61), 4)
    drawn = np.array([curve[:, 1] for curve in curves(ax, label)])
    np.testing.assert_array_equal(drawn, result.fit.evaluate(weights, result.x_grid))
    explorer.set(kl_weight=0.1, n=8, noise_std=2.0)
    again = [curve[:, 1] for curve in curves(ax, label)]
    np.testing.assert_array_equal(again, drawn, "prior functions changed with the data")
    explorer.set(sigma1=2.0)
    assert not (curves(ax, label)[0][:, 1] == drawn[0]).all()
    assert artist(ax, label).get_visible()
    assert_the_picture_is_not_stale(explorer)
    explorer.set(prior_functions=False)
    assert not artist(ax, label).get_visible()


def test_true_posterior_depends_only_on_the_controls_of_the_model(
    explorer: SinusoidExplorer, nuts: dict[str, Any]
) -> None:
    explorer.set(nuts=True)
    assert nuts["problem"] == Problem.of(ARTICLE, layers=2)
    state = explorer.state()

    def problem_with(**values: Any) -> Any:
        explorer._worker.model.complete({**state, **values}, explorer.result)
        return nuts["problem"]

    problem = problem_with()
    for name, value in {"n_predictions": 20, "kl_weight": 0.1, "n_samples": 2}.items():
        assert problem_with(**{name: value}) == problem, name
    for name, value in {
        "sigma1": 1.0, "sigma2": 1.0, "pi": 0.2, "noise_std": 2.0, "width": 4, "n": 9, "seed": 1,
        "data": ((-0.4, 0.0, 0.4), (1.0, 2.0, 3.0), (0.0, 1.0, 0.0, 1.0)),
    }.items():  # fmt: skip
        assert problem_with(**{name: value}) != problem, name
    explorer.set(nuts=False)
    assert nuts["problem"] is None


def test_chains_that_have_not_mixed_are_pale_and_give_no_distance(
    explorer: SinusoidExplorer, nuts: dict[str, Any]
) -> None:
    ax = panel(explorer, "What the network believes")
    for mixed, alpha in ((False, 0.4), (True, None)):
        nuts["mixed"] = mixed
        explorer.set(nuts=False).set(nuts=True)
        assert artist(ax, "true posterior").get_alpha() == alpha
        assert ("gap" in explorer.readings()) == mixed


def test_distance_to_posterior_is_reported_at_and_outside_the_data(
    explorer: SinusoidExplorer, nuts: dict[str, Any]
) -> None:
    result = explorer.set(nuts=True).result
    gold = nuts["gold"]
    inside, outside = (
        calibration.distance(result.prediction, gold, mask) for mask in (AMONG, ~AMONG)
    )
    assert_reads(explorer, gap=inside, gap_outside=outside)
    assert "R-hat is 1.01." in explorer.status
    ax = panel(explorer, "What the network believes")
    np.testing.assert_allclose(line(ax, "true posterior"), [X, gold.mean])
    spread = panel(explorer, "How unsure")
    assert legend_labels(spread) == ["fit", plots.POSTERIOR]
    assert "posterior" not in explorer.set(nuts=False).status
    assert legend_labels(panel(explorer, "How unsure")) == ["fit"]
    assert explorer.result.nuts is None and not explorer.result.gaps


def test_switching_the_truth_on_or_off_keeps_the_trained_fit(
    explorer: SinusoidExplorer, nuts: dict[str, Any]
) -> None:
    quick = explorer.set(n=9, nuts=False).result.find_quick
    for shown in (True, False):
        result = explorer.set(nuts=shown).result
        assert result.find_quick is quick and (result.nuts is not None) == shown
    assert explorer.set(n=10, nuts=True).result.find_quick is not quick
    session = explorer._worker.session
    for shown, panel_now in ((False, "spread"), (True, "parts")):  # its end brings no panel
        explorer.set(nuts=not shown)
        explorer.set(show="spread")
        explorer.set(nuts=shown)
        assert session.show == panel_now


def test_noise_of_the_descent_can_be_seen(explorer: SinusoidExplorer) -> None:
    rough = []
    for n_samples in (1, 10):
        explorer.set(n_samples=n_samples)
        ax = panel(explorer, "Free energy F")
        last = line(ax, "F, drawn")[1][-15:]
        low, high = ax.get_ylim()
        assert low < last.min() and last.max() < high
        rough.append(np.abs(np.diff(last)).mean() / (high - low))
    assert rough[0] > 0.01 and rough[0] > 1.5 * rough[1]


def test_sentence_says_that_f_still_falls_after_longer_training(explorer: SinusoidExplorer) -> None:
    model, quick = explorer._worker.model, explorer.set(nuts=False).result
    said = {gain: model.words(replace(quick, trained=True, gain=gain)) for gain in (11.0, 9.0)}
    assert said[11.0]["stage"] == "{falls}" and said[9.0]["stage"] != "{falls}"
    assert "F still falls" in model.TEXTS.status["falls"]
