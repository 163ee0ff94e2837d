"""The sinusoid explorer: its artists hold its result, its sentences say it, its presets keep word.

What a preset or an answer says of Bayes by Backprop is looked at for five data seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import ipywidgets
import numpy as np
import pytest
from explorer_claims import (
    PRESET_RULE,
    artist,
    as_printed,
    assert_a_step_of_the_limits_draws_the_axis_alone,
    assert_choosing_a_preset_sets_its_values_and_says_where_to_look,
    assert_every_control_and_preset_is_on_the_page_once,
    assert_nothing_is_cut_where_it_is_narrow,
    assert_the_picture_is_not_stale,
    assert_the_replay_leads_to_the_fit,
    band,
    bars,
    curves,
    every_picture_is_drawn,
    legend_labels,
    line,
    panel,
    said,
)

from bdl_teach import calibration, datasets
from bdl_teach.densities import ScaleMixture, gaussian_kl
from bdl_teach.elbo import FreeEnergy
from bdl_teach.methods import bbb, exact, local_reparam
from bdl_teach.mlp import MLP
from bdl_teach.predictive import Predictive
from bdl_teach.widgets import SinusoidExplorer
from bdl_teach.widgets._engine.nuts import GoldStandard, Run
from bdl_teach.widgets.sinusoid import fits as sinusoid_fits
from bdl_teach.widgets.sinusoid.fits import INSIDE, SinusoidResult

X = np.linspace(-1.5, 1.5, 121)
AMONG = np.abs(X) < 0.5 + 1e-9
SEEDS = range(5)
ARTICLE: dict[str, Any] = {
    "estimator": "quiet",
    "sigma1": 1.5,
    "sigma2": 0.1,
    "pi": 0.5,
    "noise_std": 1.0,
    "kl_weight": 1.0,
    "n_samples": 1,
    "n_predictions": 10**2.4,
    "width": 20,
    "n": 32,
    "seed": 0,
    "prior_functions": False,
    "nuts": False,
}
PRESETS: dict[str, dict[str, Any]] = {  # where each leaves the article
    "article": {},
    "few points": {"n": 6},
    "many points": {"n": 64},
    "loud noise": {"noise_std": 3.0},
    "narrow prior": {"sigma1": 0.3, "sigma2": 10**-0.5},
    "cold posterior": {"kl_weight": 0.01},
    "KL takes over": {"kl_weight": 10.0},
    "paper's noise": {"estimator": "weights"},
    "calm gradients": {"estimator": "weights", "n_samples": 10},
}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"n": 6, "noise_std": 2.5, "seed": 3, "width": 5, "prior_functions": True},
    {"kl_weight": 0.1, "n_predictions": 25, "sigma1": 0.5, "pi": 0.25, "n_samples": 2},
]


@pytest.fixture(scope="module")
def explorer() -> Iterator[SinusoidExplorer]:
    made = SinusoidExplorer().warm()
    yield made
    made.close()


@pytest.fixture
def nuts(explorer: SinusoidExplorer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A stand-in for NUTS; what it was asked for is kept under its arguments' names."""
    rng = np.random.default_rng(7)
    gold = GoldStandard(
        Predictive.from_samples(rng.normal(0, 1 + np.abs(X), (40, 121)), 1.0), "R-hat is 1.01."
    )
    asked: dict[str, Any] = {"gold": gold}

    def ask(wanted: bool, run: Run) -> GoldStandard:
        asked.update(wanted=wanted, key=run.key, run=run)
        return gold if wanted else GoldStandard()

    monkeypatch.setattr(explorer._nuts, "ask", ask)
    return asked


# The replay


def test_the_replay_leads_from_the_start_to_the_fit(explorer: SinusoidExplorer) -> None:
    explorer.preset("article").set(sigma1=1.4)
    assert_the_replay_leads_to_the_fit(explorer)


@pytest.mark.parametrize("frame", [0, 12])
def test_a_frame_shows_and_says_what_the_fit_was_then(
    explorer: SinusoidExplorer, nuts: dict[str, Any], frame: int
) -> None:
    explorer.preset("article").set(n_predictions=10**1.5, nuts=True)
    whole = explorer.result.fit
    then, step = whole.at(frame), whole.path.steps[frame]
    told = then.predict(X[:, None], 32)
    explorer.replay(step)
    ax = panel(explorer, "What the network believes")
    np.testing.assert_array_equal(line(ax, "mean")[1], told.mean)
    _, low, high = band(ax, "±2 sd epistemic")
    np.testing.assert_allclose(high - low, 4 * told.epistemic_std, atol=1e-9)
    steps, f = line(panel(explorer, "How the free energy"), "F")
    assert steps[-1] == step and len(f) == len(then.history["step"])
    heights, _ = bars(panel(explorer, "Prior and fitted"), "fitted μ")
    inside = np.histogram(np.clip(then.mean, -5, 5), np.linspace(-5, 5, 61), density=True)[0]
    np.testing.assert_allclose(heights, np.maximum(inside, 1e-4))
    cost, gold = then.cost(100), nuts["gold"].prediction
    total, kl, nll = said(explorer.status, "free energy # nats = # (complexity) + # (likelihood)")
    assert (kl, nll) == (as_printed(cost.complexity, 0), as_printed(cost.likelihood, 0))
    assert total == kl + nll
    assert explorer.status.startswith(f"Step {step} of 1500: in training, 32 points: ")
    gaps = [calibration.distance(told, gold, mask) for mask in (INSIDE, ~INSIDE)]
    shown = said(explorer.status, "gap to NUTS # among the data, # outside")
    assert shown == [as_printed(gap, 2) for gap in gaps]
    assert "below the quick fit" not in explorer.status


def test_the_replay_of_what_was_trained_on_begins_where_all_began(
    explorer: SinusoidExplorer,
) -> None:
    """Else it would begin where next to nothing is left to move."""
    explorer.preset("article")
    quick = explorer.result
    on = replace(quick, fit=quick.fit.refined(), runs=(quick.fit, quick.fit.refined()))
    frames = sinusoid_fits.frames(on)
    assert [f.steps for f in frames[:41]] == list(quick.fit.path.steps)
    assert [f.steps for f in frames[41:]] == sorted({f.steps for f in frames[41:]})
    assert (frames[41].steps > 1500, frames[-1].steps, len(frames)) == (True, 3000, 51)
    np.testing.assert_array_equal(frames[-1].run.at(frames[-1].frame).mean, on.fit.mean)
    np.testing.assert_array_equal(sinusoid_fits.at(on, 0).fit.mean, quick.fit.at(0).mean)
    np.testing.assert_array_equal(sinusoid_fits.at(on, 40).fit.mean, quick.fit.mean)
    whole, f = sinusoid_fits.history(on), "free_energy"
    np.testing.assert_array_equal(whole[f][:100], quick.fit.history[f])
    np.testing.assert_array_equal(whole[f][100:], on.fit.history[f])
    np.testing.assert_array_equal(whole["step"], 15 * np.arange(1, 201))
    for k in (20, 45):  # in the first run and in the second
        then = sinusoid_fits.history(sinusoid_fits.at(on, k))
        np.testing.assert_array_equal(then[f], whole[f][: len(then[f])])
        assert 0 <= frames[k].steps - then["step"][-1] < 15
    explorer._draw(on)
    np.testing.assert_array_equal(line(panel(explorer, "How the"), "F")[0], whole["step"])
    explorer._draw(quick)


def test_the_history_of_three_runs_goes_on_where_each_ended(explorer: SinusoidExplorer) -> None:
    quick = explorer.preset("article").result
    runs = (quick.fit, quick.fit.refined(steps=300), quick.fit.refined(steps=600))
    steps = sinusoid_fits.history(replace(quick, runs=runs))["step"]
    ends = np.cumsum([run.history["step"][-1] for run in runs])
    assert (np.diff(steps) > 0).all() and steps[-1] == ends[-1]
    assert {*ends} <= {*steps}


def test_where_the_height_steps_one_axis_is_drawn_and_not_three_panels(
    explorer: SinusoidExplorer,
) -> None:
    explorer.preset("article").set(nuts=False)
    assert_a_step_of_the_limits_draws_the_axis_alone(explorer, kl_weight=0.01)


def test_an_improvement_keeps_the_runs_that_led_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Training on has a run before it, another start has none."""
    quick = sinusoid_fits.refit(**{**FIT, "noise_std": 0.3})
    result, kinds, stages, nats = quick, [], [str(quick.stage)], iter(np.arange(1e3, 2e3))
    monkeypatch.setattr(bbb.Fit, "cost", lambda *_: FreeEnergy(-next(nats), 0.0))  # ever lower
    for _ in range(sinusoid_fits.MOST_RUNS):
        result = sinusoid_fits.improve(result, 10)
        kinds.append(len(result.runs))
        stages.append(str(result.stage))
        assert result.runs[-1] is result.fit
    assert len(kinds) == quick.fit.n_longer + 1 == 9, "the longer runs, and the best trained on"
    assert kinds == [2, *7 * [1], 2]
    assert stages[:3] == ["quick fit", "longer run 1 of 9", "longer run 2 of 9"]
    assert stages[-1] in ("refined", "not converged")


def test_a_longer_run_that_ends_higher_leaves_the_fit_as_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    quick, nats = sinusoid_fits.refit(**{**FIT, "noise_std": 0.3}), iter(np.arange(1e4, 2e4))
    asked: list[int] = []
    monkeypatch.setattr(bbb.Fit, "longer", lambda fit, k: asked.append(k) or fit.at(20))
    monkeypatch.setattr(bbb.Fit, "cost", lambda *_: FreeEnergy(next(nats), 0.0))
    result = quick
    for _ in range(2):
        result = sinusoid_fits.improve(result, 10)
        assert result.stage.gain == 0.0
    assert result == replace(quick, stage=result.stage) and result.stage.runs == 2
    assert asked == [0, 1], "each from elsewhere"


def test_a_better_fit_is_shown_with_as_many_draws_and_beside_nuts(
    explorer: SinusoidExplorer, nuts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.preset("article").set(n_predictions=10**1.2, prior_functions=True, nuts=True)
    quick = explorer.result
    monkeypatch.setattr(bbb.Fit, "longer", lambda fit, _: fit.at(20))
    monkeypatch.setattr(bbb.Fit, "cost", lambda *_: FreeEnergy(-1e4, 0.0))
    better = explorer._improve(explorer.state(), quick)
    assert better is not None and better.fit is not quick.fit
    assert len(better.prediction.samples) == len(quick.prediction.samples) == 16
    np.testing.assert_array_equal(better.prior_functions, quick.prior_functions)
    gaps = [
        calibration.distance(better.prediction, nuts["gold"].prediction, mask)
        for mask in (INSIDE, ~INSIDE)
    ]
    assert [better.gap, better.gap_outside] == gaps != [quick.gap, quick.gap_outside]


def test_a_stage_says_how_far_a_fit_has_come() -> None:
    stage = sinusoid_fits.Stage("quiet", 300.0)
    last = replace(stage, runs=sinusoid_fits.MOST_RUNS)
    told = {
        "quick fit": stage,
        "longer run 3 of 9": replace(stage, runs=3, gain=50.0),
        "refined": replace(last, gain=10.0),
        "not converged": replace(last, gain=10.1),
        "in training": replace(last, trained=False),
        "weights drawn": sinusoid_fits.Stage("weights", 300.0),
        "the article's recipe": sinusoid_fits.Stage("article", 300.0),
    }
    assert {words: str(one) for words, one in told.items()} == {words: words for words in told}
    refined = [words for words, one in told.items() if one.refined]
    assert refined == ["refined", "not converged"]
    going_on = [words for words, one in told.items() if not one.over]
    assert going_on == ["quick fit", "longer run 3 of 9"]


def test_a_refined_fit_says_how_far_below_the_quick_one_it_is(explorer: SinusoidExplorer) -> None:
    result = explorer.preset("article").result
    told = replace(result.stage, quick=result.cost.total + 25.4, runs=9, gain=1.0)
    said_of_it = explorer._describe(replace(result, stage=told))
    assert said_of_it.startswith("refined, 32 points: ")
    assert f"{result.cost}, 25 below the quick fit; epistemic" in said_of_it
    assert "below" not in explorer._describe(replace(result, stage=replace(told, runs=4)))


@pytest.mark.parametrize(("n", "steps"), [(64, 1500), (65, 900), (200, 900)])
def test_a_table_of_more_points_is_fitted_in_fewer_steps(n: int, steps: int) -> None:
    x = np.linspace(-0.5, 0.5, n)
    value = (tuple(x), tuple(np.sin(x)), (0.0, 1.0, 0.0, 1.0))
    result = sinusoid_fits.refit(**FIT, data=value)
    assert len(result.data.x) == n and result.fit.path.steps[-1] == steps


def test_points_by_hand_are_fitted(explorer: SinusoidExplorer) -> None:
    own = ((-0.4, 0.0, 0.4), (1.0, 2.0, 3.0), (0.0, 1.0, 0.0, 1.0))
    result = explorer.preset("article").set(data=own, noise_std=2.0).result
    np.testing.assert_array_equal(result.data.x[:, 0], own[0])
    assert (result.prediction.aleatoric_std == 2.0).all()
    assert "3 points of your own" in explorer.status


def outputs(weights: Any, width: int, x: Any) -> Any:
    """Outputs ``[s, m]`` of the two-layer network for flat weights ``[s, d]``, written out."""
    sizes = np.cumsum([width, width, width**2, width, width])
    w1, b1, w2, b2, w3, b3 = np.split(weights, sizes, axis=1)
    h = np.maximum(w1[:, :, None] * x + b1[:, :, None], 0)  # [s, width, m]
    h = np.maximum(w2.reshape(-1, width, width) @ h + b2[:, :, None], 0)
    return (w3[:, None] @ h)[:, 0] + b3


# What the picture holds.


@every_picture_is_drawn
@pytest.mark.parametrize("values", SETTINGS)
def test_the_function_panel_holds_the_predictive_the_data_and_the_truth(
    explorer: SinusoidExplorer, values: dict[str, Any]
) -> None:
    prediction = explorer.preset("article").set(**values).result.prediction
    ax = panel(explorer, "What the network believes about y")
    np.testing.assert_allclose(line(ax, "mean"), [X, prediction.mean])
    total = np.hypot(prediction.epistemic_std, prediction.aleatoric_std)
    for name, std in (("epistemic", prediction.epistemic_std), ("total", total)):
        x, low, high = band(ax, f"±2 sd {name}")
        np.testing.assert_allclose(x, X)
        np.testing.assert_allclose([low, high], prediction.mean + np.array([[-2], [2]]) * std)
    drawn = [curve[:, 1] for curve in curves(ax, "some draws")]
    np.testing.assert_array_equal(drawn, prediction.samples[:10])
    state = explorer.state()
    data = datasets.sinusoid(state["n"], state["noise_std"], state["seed"])
    np.testing.assert_array_equal(line(ax, "data"), [data.x[:, 0], data.y[:, 0]])
    np.testing.assert_allclose(line(ax, "truth"), [X, 10 * np.sin(2 * np.pi * X)], atol=1e-12)
    assert_the_picture_is_not_stale(explorer)


@pytest.mark.parametrize("values", SETTINGS)
def test_the_other_panels_hold_the_history_the_prior_and_the_weights(
    explorer: SinusoidExplorer, values: dict[str, Any]
) -> None:
    fit = explorer.preset("article").set(**values).result.fit
    ax = panel(explorer, "How the free energy F fell")
    for label, name in (
        ("F", "free_energy"),
        ("complexity", "complexity_cost"),
        ("likelihood", "likelihood_cost"),
    ):
        np.testing.assert_array_equal(line(ax, label), [fit.history["step"], fit.history[name]])
    ax = panel(explorer, "Prior and fitted weights")
    w, density = line(ax, "prior")
    state = explorer.state()
    prior = ScaleMixture(state["sigma1"], state["sigma2"], state["pi"])
    np.testing.assert_allclose(density, np.exp(prior.log_prob(w)), rtol=1e-6)
    heights, edges = bars(ax, "fitted μ")
    counts, _ = np.histogram(np.clip(fit.mean, edges[0], edges[-1]), edges)
    shown = counts > 0
    np.testing.assert_allclose(heights[shown], (counts / counts.sum() / np.diff(edges))[shown])
    assert heights[~shown].max(initial=0) <= 1e-3, "empty bins are below the frame"
    _, q = line(ax, "fitted q")
    z = (w - fit.mean[:, None]) / fit.std[:, None]
    marginal = np.mean(np.exp(-(z**2) / 2) / (np.sqrt(2 * np.pi) * fit.std[:, None]), axis=0)
    np.testing.assert_allclose(q, np.maximum(marginal, q.min()), rtol=1e-3)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("weight w", "density (log)")


@every_picture_is_drawn
def test_prior_functions_are_networks_drawn_from_this_prior(explorer: SinusoidExplorer) -> None:
    prior = {"sigma1": 0.7, "sigma2": 10**-0.5, "pi": 0.3, "seed": 4, "width": 6}
    explorer.preset("article").set(**prior, prior_functions=True)
    ax = panel(explorer, "What the network believes")
    weights = ScaleMixture(0.7, 10**-0.5, 0.3).sample((10, 61), 4)
    drawn = np.array([curve[:, 1] for curve in curves(ax, "10 prior functions")])
    np.testing.assert_allclose(drawn, outputs(weights, 6, X), rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(drawn, explorer.result.prior_functions)
    explorer.set(kl_weight=0.1, n=8, noise_std=2.0)
    again = [curve[:, 1] for curve in curves(ax, "10 prior functions")]
    np.testing.assert_array_equal(again, drawn, "they have seen no data")
    assert artist(ax, "10 prior functions").get_visible()
    explorer.set(sigma1=2.0)
    assert not (curves(ax, "10 prior functions")[0][:, 1] == drawn[0]).all()
    assert_the_picture_is_not_stale(explorer)
    explorer.set(prior_functions=False)
    assert not artist(ax, "10 prior functions").get_visible()
    assert explorer.result.prior_functions is None


ALWAYS = {"±2 sd total", "±2 sd epistemic", "some draws", "mean", "truth", "data"}


@every_picture_is_drawn
def test_the_legend_names_what_is_there(explorer: SinusoidExplorer, nuts: dict[str, Any]) -> None:
    ax = panel(explorer, "What the network believes about y")
    gold, prior = {"NUTS mean", "NUTS ±2 sd epistemic"}, {"10 prior functions"}
    for values, more in (
        ({}, set()),
        ({"prior_functions": True}, prior),
        ({"prior_functions": True, "nuts": True}, prior | gold),
        ({"nuts": True}, gold),
        ({}, set()),
    ):
        explorer.preset("article").set(**{"nuts": False, **values})  # which a preset leaves alone
        assert set(legend_labels(ax)) == ALWAYS | more
        assert_nothing_is_cut_where_it_is_narrow(explorer)
        assert_the_picture_is_not_stale(explorer)
    ax = panel(explorer, "Prior and fitted")
    assert set(legend_labels(ax)) == {"prior", "fitted μ", "fitted q"}


# What is marked, of what one points at.


def test_while_a_band_is_drawn_no_function_is_marked(explorer: SinusoidExplorer) -> None:
    result = explorer.preset("article").result
    at = {"x": float(result.x_grid[60, 0]), "y": float(result.prediction.samples[0, 60])}
    explorer._on_touch({"touch": "hover", "panel": 0, **at})
    assert explorer._pointed is not None
    explorer._on_touch({"touch": "hover", "panel": -1, "x": 0.0, "y": 0.0})
    explorer._drawn.click()
    explorer.wait()._on_touch({"touch": "hover", "panel": 0, **at})
    assert explorer._pointed is None
    explorer.reset()


def test_only_draws_that_are_drawn_can_be_pointed_at(explorer: SinusoidExplorer) -> None:
    result = explorer.preset("article").result
    drawn, x = result.prediction.samples, result.x_grid[:, 0]
    found = {
        explorer._linked(result, 0, x[at], drawn[k, at])
        for k in range(40) for at in range(0, len(x), 7)
    }  # fmt: skip
    numbers = {one[1] for one in found if one is not None}
    assert numbers <= set(range(10)) and len(numbers) > 5


def test_a_draw_is_pointed_at_from_as_near_as_the_eye_tells_apart(
    explorer: SinusoidExplorer,
) -> None:
    result = explorer.preset("article").result
    drawn = result.prediction.samples[:10]
    near = 0.03 * np.ptp(panel(explorer, "What the network believes").get_ylim())
    for k in range(10):
        above = drawn[k] - np.delete(drawn, k, axis=0).max(axis=0)
        column = int(np.argmax(above))  # where nothing is above it, or least
        if above[column] > 0:
            x, y = X[column], drawn[k, column]
            assert explorer._linked(result, 0, x, y + 0.9 * near) == ("draw", k)
            assert explorer._linked(result, 0, x, y + 1.1 * near) is None


def test_where_no_weight_is_none_is_named(explorer: SinusoidExplorer) -> None:
    result = explorer.preset("article").result
    highest = result.fit.mean.max()
    assert explorer._linked(result, 1, highest + 0.2, 0.0) is None
    assert explorer._linked(result, 1, highest + 0.05, 1e-3) is not None


def test_both_panels_are_interested_in_a_hand_that_points(explorer: SinusoidExplorer) -> None:
    panels = [panel.place() for panel in explorer._touched]
    assert [(p["kind"], p["hover"]) for p in panels] == [("points", True), ("seen", True)]


def test_along_a_weight_the_others_stay_at_their_means(explorer: SinusoidExplorer) -> None:
    fit, i = explorer.preset("article").result.fit, 45
    mark = sinusoid_fits.mark(explorer.result, "weight", i)
    steps = np.linspace(-2, 2, 10)
    np.testing.assert_allclose(mark.weights, fit.mean[i] + steps * fit.std[i])
    weights = np.tile(fit.mean, (10, 1))
    weights[:, i] = mark.weights
    np.testing.assert_allclose(mark.functions, outputs(weights, 20, X), rtol=1e-4, atol=1e-4)
    named = sinusoid_fits._name(fit.network, i)
    assert mark.words == f"{named}: {fit.mean[i]:.2f} ± {fit.std[i]:.2f}; here from −2 to 2 sd"
    assert sinusoid_fits.mark(explorer.result, "draw", 3).words == "draw 4, and its 481 weights"


def test_a_marked_draw_has_the_weights_of_its_function(explorer: SinusoidExplorer) -> None:
    result = explorer.preset("article").result
    mark = sinusoid_fits.mark(result, "draw", 3)
    drawn = result.fit.evaluate(mark.weights[None], result.x_grid)
    np.testing.assert_allclose(drawn, mark.functions, rtol=1e-4, atol=1e-4)


def test_of_the_weights_at_a_place_the_least_certain_is_named(explorer: SinusoidExplorer) -> None:
    result = explorer.preset("article").result
    near = np.abs(result.fit.mean) < 0.02
    kind, i = explorer._linked(result, 1, 0.0, 1.0)  # type: ignore[misc]
    assert kind == "weight" and result.fit.std[i] >= result.fit.std[near].max()


def test_a_weight_is_named_from_its_unit_to_the_next() -> None:
    names = [sinusoid_fits._name(MLP(1, (3, 3)), i) for i in range(22)]
    assert names[:6] == [
        *(f"layer 1, weight from unit 1 to {k}" for k in (1, 2, 3)),
        *(f"layer 1, bias of {k}" for k in (1, 2, 3)),
    ]
    assert names[6:15] == [
        f"layer 2, weight from unit {k} to {j}" for j in (1, 2, 3) for k in (1, 2, 3)
    ]
    assert names[15:18] == [f"layer 2, bias of {k}" for k in (1, 2, 3)]
    assert names[18:] == [
        *(f"layer 3, weight from unit {k} to 1" for k in (1, 2, 3)),
        "layer 3, bias of 1",
    ]


# What is fitted.


@pytest.mark.parametrize(
    ("estimator", "method", "recipe"),
    [
        ("quiet", local_reparam, {"estimator": "quiet", "learning_rate": 0.2}),
        ("weights", bbb, {}),
        ("article", bbb, {"start_scale": 1.0, "initial_rho": 0.0, "cooldown": 0.0}),
    ],
)
def test_every_slider_reaches_the_fit_under_its_own_name(
    monkeypatch: pytest.MonkeyPatch, estimator: str, method: Any, recipe: dict[str, Any]
) -> None:
    fitted: dict[str, Any] = {}

    def fit(x: Any, y: Any, **values: Any) -> Any:
        fitted.update(values, x=x, y=y)
        return original(x, y, **values)

    original = method.fit
    monkeypatch.setattr(method, "fit", fit)
    result = sinusoid_fits.refit(
        estimator=estimator, sigma1=2.0, sigma2=0.3, pi=0.7, noise_std=1.3, kl_weight=0.4,
        n_samples=3, n_predictions=17, width=7, n=40, seed=6,
    )  # fmt: skip
    data = datasets.sinusoid(40, 1.3, 6)
    assert (fitted.pop("x") == data.x).all() and (fitted.pop("y") == data.y).all()
    assert (result.data.y == data.y).all()
    capacity = fitted.pop("capacity")
    assert fitted == {
        "prior": ScaleMixture(2.0, 0.3, 0.7),
        "noise_std": 1.3,
        "hidden_units": (7, 7),
        "n_samples": 3,
        "kl_weight": 0.4,
        "seed": 6,
        **recipe,
    }
    assert result.prior == fitted["prior"]
    assert capacity.n >= 40 and capacity.n_samples >= 3
    drawn = result.fit.predict(X[:, None], 17)
    assert (result.x_grid[:, 0] == X).all()
    np.testing.assert_array_equal(result.prediction.samples, drawn.samples)
    assert result.cost.kl_weight == 0.4
    assert result.stage.estimator == estimator and result.stage.quick == result.cost.total


def test_a_number_of_draws_between_two_whole_ones_is_rounded(explorer: SinusoidExplorer) -> None:
    explorer.preset("article").set(n_predictions=10**1.1)  # 12.6
    assert len(explorer.result.prediction.samples) == 13


def test_the_free_energy_is_that_of_q_on_all_points() -> None:
    """Beside the closed KL and 2000 draws of our own; σ₁ = σ₂ makes the prior a Gaussian."""
    result = sinusoid_fits.refit(**{**FIT, "sigma1": 0.5, "sigma2": 0.5, "noise_std": 1.7})
    fit, y = result.fit, result.data.y[:, 0]
    kl = gaussian_kl(fit.mean, fit.std, 0.0, 0.5).sum()
    w = fit.mean + fit.std * np.random.default_rng(1).standard_normal((2000, 481))
    log_ratio = np.sum((w / 0.5) ** 2 / 2 - ((w - fit.mean) / fit.std) ** 2 / 2, axis=1)
    assert result.cost.complexity == pytest.approx(kl, abs=4 * log_ratio.std() / 10)
    z = (y - outputs(w, 20, result.data.x[:, 0])) / 1.7
    nll = np.sum(z**2 / 2 + np.log(1.7) + np.log(2 * np.pi) / 2, axis=1)
    assert result.cost.likelihood == pytest.approx(nll.mean(), abs=4 * nll.std() / 10)


def test_nuts_is_asked_for_the_posterior_of_the_sliders(
    explorer: SinusoidExplorer, nuts: dict[str, Any]
) -> None:
    explorer.preset("article").set(nuts=True)
    key = nuts["key"]
    assert nuts["wanted"] is True
    assert nuts["run"].sample.func is sinusoid_fits.sample
    assert nuts["run"].sample.args[0] is nuts["run"].chains
    assert nuts["run"].x_grid is explorer.result.x_grid
    assert (nuts["run"].chains["y"] == explorer.result.data.y).all()
    result, state = explorer.result, explorer.state()

    def key_with(**values: Any) -> Any:
        explorer._beside_nuts(result, {**state, **values})
        return nuts["key"]

    for name, value in {"n_predictions": 20, "kl_weight": 0.1, "n_samples": 2}.items():
        assert key_with(**{name: value}) == key, f"the true posterior does not know {name}"
    for name, value in {
        "sigma1": 1.0, "sigma2": 1.0, "pi": 0.2, "noise_std": 2.0, "width": 4, "n": 9, "seed": 1,
        "data": ((-0.4, 0.0, 0.4), (1.0, 2.0, 3.0), (0.0, 1.0, 0.0, 1.0)),
    }.items():  # fmt: skip
        assert key_with(**{name: value}) != key, name
    explorer.preset("few points")
    assert nuts["wanted"] is True, "a preset leaves NUTS where it is"
    explorer.undo()
    assert explorer.wait().state() == {**ARTICLE, "nuts": True}, "and so does an undo"
    explorer.set(nuts=False)
    assert nuts["wanted"] is False


def test_nuts_samples_what_was_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "nuts", lambda x, y, **values: (x, y, values))
    result = sinusoid_fits.refit(**{**FIT, "n": 9, "width": 3, "noise_std": 0.6, "kl_weight": 0.1})
    report = lambda *_: None  # noqa: E731
    of = ("sigma1", "sigma2", "pi")
    chains = sinusoid_fits.chains(
        **{name: FIT[name] for name in of}, noise_std=0.6, width=3, n=9, seed=FIT["seed"]
    )
    x, y, values = sinusoid_fits.sample(chains, report)
    assert (x == result.data.x).all() and (y == result.data.y).all()
    transitions = values.pop("n_samples") * values.pop("n_thin")
    assert transitions >= 5000, "of four chains, the article's prior asks for as many"
    assert values == {
        "n_chains": 4,
        "prior": result.prior,
        "noise_std": 0.6,
        "hidden_units": (3, 3),
        "progress": report,
    }


def test_the_gap_to_nuts_is_measured_inside_and_outside(
    explorer: SinusoidExplorer, nuts: dict[str, Any]
) -> None:
    result = explorer.preset("article").set(nuts=True).result
    gold = nuts["gold"].prediction
    assert result.nuts is gold
    squared = (result.prediction.mean - gold.mean) ** 2 + (
        result.prediction.epistemic_std - gold.epistemic_std
    ) ** 2
    inside, outside = (float(np.sqrt(squared[mask].mean())) for mask in (AMONG, ~AMONG))
    assert (result.gap, result.gap_outside) == pytest.approx((inside, outside))
    numbers = said(explorer.status, "gap to NUTS # among the data, # outside. R-hat is 1.01.")
    assert numbers == [as_printed(inside, 2), as_printed(outside, 2)]
    ax = panel(explorer, "What the network believes")
    np.testing.assert_allclose(line(ax, "NUTS mean"), [X, gold.mean])
    assert "NUTS" not in explorer.set(nuts=False).status
    assert explorer.result.nuts is explorer.result.gap is explorer.result.gap_outside is None


# What the status line says.


@pytest.mark.parametrize("values", [*SETTINGS, {"kl_weight": 10.0, "noise_std": 0.3}])
def test_the_status_says_the_numbers_of_the_result(
    explorer: SinusoidExplorer, values: dict[str, Any]
) -> None:
    result = explorer.preset("article").set(**values).result
    sd, cost = result.prediction.epistemic_std, result.cost
    points, *_, inside, ends = said(
        explorer.status.replace(str(cost), "F"),
        "# points: F; epistemic sd # among the data, # at x = ±1.5.",
    )
    assert points == explorer.state()["n"]
    assert inside == as_printed(sd[AMONG].mean(), 1)
    assert ends == as_printed((sd[0] + sd[-1]) / 2, 1)
    assert cost.kl_weight == explorer.state()["kl_weight"]
    assert str(cost) in explorer.status
    assert str(cost) in explorer._repr_mimebundle_()["text/plain"]


def test_one_drawn_network_has_no_spread_to_report(explorer: SinusoidExplorer) -> None:
    explorer.preset("article").set(n_predictions=1)
    assert "one drawn network shows no epistemic sd" in explorer.status
    assert "sd 0.0" not in explorer.status


def test_a_free_energy_adds_up_as_it_is_printed() -> None:
    rng = np.random.default_rng(3)
    for complexity, likelihood, power in rng.uniform((0, -50, -3), (900, 900, 1), (300, 3)):
        plain = FreeEnergy(complexity, likelihood)
        total, c, nll = said(str(plain), "free energy # nats = # (complexity) + # (likelihood)")
        assert total == c + nll
        assert (c, nll) == (as_printed(complexity, 0), as_printed(likelihood, 0))
        assert total == pytest.approx(plain.total, abs=1.01)
        weighted = FreeEnergy(complexity, likelihood, 10**power)
        total, weight, c, nll = said(
            str(weighted), "free energy # nats = # × # (complexity) + # (likelihood)"
        )
        assert total == round(weight * c + nll)
        assert (c, nll) == (as_printed(complexity, 1), as_printed(likelihood, 0))
        assert weight == pytest.approx(10**power, rel=5e-4)
        assert total == pytest.approx(10**power * complexity + likelihood, abs=1.6 + 0.005 * weight)


def test_the_sliders_end_where_the_fit_has_room(explorer: SinusoidExplorer) -> None:
    ends = {
        "sigma1": (0.1, 5.0), "sigma2": (0.01, 10.0), "pi": (0.0, 1.0), "noise_std": (0.1, 3.0),
        "kl_weight": (1e-3, 10.0), "n_predictions": (1.0, 1000.0), "seed": (0, 99), "n": (4, 64),
        "width": (2, 20), "n_samples": (1, 10),
    }  # fmt: skip
    assert set(explorer._controls) == {*ends, "estimator", "prior_functions", "nuts", "data"}
    for name in ends:
        control = explorer._controls[name]
        logarithmic = isinstance(control, ipywidgets.FloatLogSlider)
        found = [10.0**e if logarithmic else e for e in (control.min, control.max)]
        assert found == pytest.approx(ends[name]), name


# Presets, and the question.

FIT = {name: v for name, v in ARTICLE.items() if name not in ("prior_functions", "nuts")}


@pytest.fixture(scope="module")
def fits() -> dict[str, list[SinusoidResult]]:
    """The fit of each preset for five seeds."""
    return {
        name: [sinusoid_fits.refit(**{**FIT, **values, "seed": seed}) for seed in SEEDS]
        for name, values in PRESETS.items()
    }


def error(result: SinusoidResult) -> float:
    """Root mean square distance of the mean to the sine, among the data."""
    off = result.prediction.mean - 10 * np.sin(2 * np.pi * X)
    return float(np.sqrt(np.mean(off[AMONG] ** 2)))


def epistemic(result: SinusoidResult, where: Any = AMONG) -> float:
    return float(result.prediction.epistemic_std[where].mean())


def total(result: SinusoidResult) -> float:
    return float(result.prediction.total_std[AMONG].mean())


def peak(result: SinusoidResult) -> float:
    return float(np.abs(result.prediction.mean[AMONG]).max())


def roughness(result: SinusoidResult) -> float:
    """How much the free energy jumps between records, in the second half of the descent."""
    return float(np.diff(result.fit.history["free_energy"][50:]).std())


def compared(
    fits: dict[str, list[SinusoidResult]], name: str, of: Callable[[SinusoidResult], float]
) -> list[tuple[float, float]]:
    """(the article's, the preset's) for each seed."""
    return [(of(a), of(b)) for a, b in zip(fits["article"], fits[name], strict=True)]


def test_presets_are_the_article_but_for_what_they_name(explorer: SinusoidExplorer) -> None:
    assert SinusoidExplorer.PRESETS.keys() == PRESETS.keys(), PRESET_RULE
    for name, (_, values) in SinusoidExplorer.PRESETS.items():
        assert values == {**ARTICLE, **PRESETS[name]}, name
    assert_every_control_and_preset_is_on_the_page_once(explorer)
    assert_choosing_a_preset_sets_its_values_and_says_where_to_look(explorer)


def test_article_is_wide_outside_the_data(fits: dict[str, list[SinusoidResult]]) -> None:
    ratios = np.array([epistemic(r, [0, -1]) / epistemic(r) for r in fits["article"]])
    assert ratios.mean() > 1.8 and ratios.min() > 1.3


def test_few_points_lose_the_sine(fits: dict[str, list[SinusoidResult]]) -> None:
    assert all(b > 1.5 * a for a, b in compared(fits, "few points", error))


def test_many_points_take_epistemic_and_leave_the_noise(
    fits: dict[str, list[SinusoidResult]],
) -> None:
    before, after = np.transpose(compared(fits, "many points", epistemic))
    assert after.mean() < 0.95 * before.mean()
    assert (after < before).sum() >= 4
    assert all((r.prediction.aleatoric_std == 1).all() for r in fits["many points"])


def test_loud_noise_hides_the_sine_and_widens_the_total_band(
    fits: dict[str, list[SinusoidResult]],
) -> None:
    assert all(b > 1.5 * a for a, b in compared(fits, "loud noise", error))
    assert all(b > 2 * a for a, b in compared(fits, "loud noise", total))


def test_a_narrow_prior_does_not_reach_the_peaks(fits: dict[str, list[SinusoidResult]]) -> None:
    assert all(b < 8.5 < 9 < a for a, b in compared(fits, "narrow prior", peak))


def test_a_cold_posterior_is_that_of_points_seen_a_hundred_times(
    fits: dict[str, list[SinusoidResult]],
) -> None:
    """0.01 KL + L = 0.01 (KL + 100 L); the band shrinks among the data, less outside."""
    assert 100 * PRESETS["cold posterior"]["kl_weight"] == 1
    assert_it_shrinks_less_outside(zip(fits["article"], fits["cold posterior"], strict=True))


def assert_it_shrinks_less_outside(pairs: Iterable[tuple[SinusoidResult, SinusoidResult]]) -> None:
    for one, other in pairs:
        inside, outside = (
            epistemic(other, mask) / epistemic(one, mask) for mask in (AMONG, ~AMONG)
        )
        assert 0.05 < inside < 0.33
        assert outside > 1.2 * inside


def test_a_costly_kl_lowers_the_mean_and_widens_the_band(
    fits: dict[str, list[SinusoidResult]],
) -> None:
    assert all(
        b < 0.85 * a for a, b in compared(fits, "KL takes over", lambda r: r.cost.complexity)
    )
    assert all(b < 0.95 * a for a, b in compared(fits, "KL takes over", peak))
    before, after = np.transpose(compared(fits, "KL takes over", epistemic))
    assert (after / before).mean() > 1.1
    for result in fits["KL takes over"]:
        assert 10 * result.cost.complexity > result.cost.likelihood, "most of F is the KL"


def free_energy(result: SinusoidResult) -> float:
    return result.fit.free_energy


def test_the_paper_s_noise_descends_more_roughly_and_ends_higher(
    fits: dict[str, list[SinusoidResult]],
) -> None:
    assert all(b > 2 * a for a, b in compared(fits, "paper's noise", roughness))
    assert np.mean([b - a for a, b in compared(fits, "paper's noise", free_energy)]) > 15


def test_calm_gradients_descend_more_smoothly_and_lower(
    fits: dict[str, list[SinusoidResult]],
) -> None:
    pairs = list(zip(fits["paper's noise"], fits["calm gradients"], strict=True))
    assert all(roughness(b) < 0.6 * roughness(a) for a, b in pairs)
    assert np.mean([free_energy(b) - free_energy(a) for a, b in pairs]) < -5


def test_the_answer_is_what_the_kl_weight_does_at_its_target(explorer: SinusoidExplorer) -> None:
    asked = SinusoidExplorer.QUESTION
    assert "from 1 to 0.01" in asked.text and asked.control == "kl_weight"
    before = explorer.preset("article").result
    after = explorer.set(**{asked.control: 0.01}).result
    assert_it_shrinks_less_outside([(before, after)])
    assert asked.choices[asked.answer] == "It shrinks among the data, less outside them"


def test_an_explorer_starts_at_the_article_and_closing_it_ends_nuts() -> None:
    """Last here: it takes the place of the explorer that the other tests share."""
    made = SinusoidExplorer().wait()
    assert made.state() == ARTICLE
    made.close()
    assert made._nuts._closed
