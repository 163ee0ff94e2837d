"""The rivals' explorer: its artists and its status hold its result, its presets keep word.

What its presets and its answer say of methods are claims over worlds; here they are looked at for
one seed, by moving the controls.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from explorer_claims import (
    PRESET_RULE,
    artist,
    as_printed,
    assert_choosing_a_preset_sets_its_values_and_says_where_to_look,
    assert_every_control_moves_the_picture,
    assert_every_preset_shows_another_picture_and_says_what_to_see,
    assert_no_more_than_three_fits_are_kept,
    assert_the_picture_is_not_stale,
    assert_what_is_cancelled_is_nuts,
    band,
    curves,
    every_picture_is_drawn,
    line,
    names_over_the_panels,
    panel,
    pixels,
    said,
)
from waiting import successive

from bdl_teach import calibration, datasets
from bdl_teach._support.compiled import trace_count
from bdl_teach.densities import Gaussian
from bdl_teach.methods import ensemble, infinite_width, laplace, mc_dropout, point
from bdl_teach.predictive import Predictive
from bdl_teach.widgets import RivalsExplorer
from bdl_teach.widgets._engine import background, points
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from bdl_teach.widgets._engine.nuts import GoldStandard, Run
from bdl_teach.widgets.comparison.fits import GapProblem
from bdl_teach.widgets.rivals import explorer as rivals_explorer
from bdl_teach.widgets.rivals import fits
from bdl_teach.widgets.rivals.fits import METHODS, Options
from bdl_teach.widgets.truth.fits import Model

X = np.linspace(-0.7, 0.7, 71)
SINE = 10 * np.sin(2 * np.pi * X)
PLACES = ("first", "second")
START: dict[str, Any] = {
    "first": "ensemble",
    "second": "dropout",
    "members": 10,
    "rate": 0.1,
    "structure": "full",
    "linearised": True,
    "temperature": 1.0,
    "rank": 8,
    "prior_std": 3.0,
    "noise_std": 1.0,
    "width": 20,
    "gap": 0.3,
    "n": 32,
    "seed": 0,
    "nuts": False,
}
MOVES: dict[str, Any] = {  # an option while a method that heeds it is shown
    "members": 4,
    "rate": 0.3,
    "first": "laplace",
    "second": "sghmc",
    "structure": "last_layer",
    "linearised": False,
    "temperature": 0.2,
    "prior_std": 1.0,
    "noise_std": 2.0,
    "width": 7,
    "gap": 0.2,
    "n": 16,
    "seed": 3,
}
PRESETS: dict[str, dict[str, Any]] = {  # where each leaves the start
    "start": {},
    "with anchors and without": {"first": "anchored", "second": "ensemble"},
    "Laplace explodes": {"first": "laplace", "second": "map", "linearised": False},
    "Laplace's diagonal": {"first": "laplace", "second": "sghmc", "structure": "diagonal"},
    "the last layer alone": {"first": "laplace", "second": "sghmc", "structure": "last_layer"},
    "temperature 0": {"first": "sghmc", "temperature": 0.0, "second": "ensemble"},
    "eight columns": {"first": "low_rank", "second": "mean_field"},
    "infinitely wide": {"first": "infinite", "second": "sghmc"},
}
DATA = datasets.sinusoid(gap=(0.1, 0.4))
GIVEN: dict[str, Any] = {"prior": Gaussian(3.0), "noise_std": 1.0, "hidden_units": (20,)}


@pytest.fixture(scope="module")
def made() -> Iterator[RivalsExplorer]:
    one = RivalsExplorer().warm()
    yield one
    one.close()


@pytest.fixture
def explorer(made: RivalsExplorer) -> RivalsExplorer:
    """The explorer at its start, with the points of the course."""
    return made.set(**START, data=None)


@pytest.fixture
def nuts(explorer: RivalsExplorer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A stand-in for NUTS; what it was asked for is kept."""
    drawn = 0.6 * SINE + np.random.default_rng(7).normal(0, 1 + np.abs(X), (40, 71))
    asked: dict[str, Any] = {"gold": Predictive.from_samples(drawn, 1.0)}

    def ask(wanted: bool, run: Run) -> GoldStandard:
        asked["run"] = run
        return GoldStandard(asked["gold"], "R-hat is 1.01.") if wanted else GoldStandard()

    monkeypatch.setattr(explorer._nuts, "ask", ask)
    return asked


def spread(explorer: RivalsExplorer, place: str, region: str) -> float:
    result = explorer.result
    std = result.rivals[place].prediction.epistemic_std
    return float(std[result.regions[region]].mean())


# What the picture holds.


@every_picture_is_drawn
@pytest.mark.parametrize("values", [{}, {"first": "laplace", "second": "infinite", "gap": 0.0}])
def test_both_panels_hold_their_method_the_data_and_the_truth(
    explorer: RivalsExplorer, values: dict[str, Any]
) -> None:
    result = explorer.set(**values).result
    below = panel(explorer, "How sure each is")
    for place in PLACES:
        name = METHODS[explorer.state()[place]].label
        ax, p = panel(explorer, f"{place}: {name}"), result.rivals[place].prediction
        np.testing.assert_allclose(line(ax, "mean"), [X, p.mean])
        for label, std in (("epistemic", p.epistemic_std), ("total", p.total_std)):
            _, low, high = band(ax, f"±2 sd {label}")
            np.testing.assert_allclose([low, high], p.mean + np.array([[-2], [2]]) * std)
        drawn = [curve[:, 1] for curve in curves(ax, "draws or members")]
        np.testing.assert_array_equal(drawn, result.rivals[place].shown.functions)
        np.testing.assert_allclose(line(ax, "truth"), [X, SINE], atol=1e-12)
        data = result.model.problem.data
        np.testing.assert_array_equal(line(ax, "data"), [data.x[:, 0], data.y[:, 0]])
        np.testing.assert_allclose(line(below, place), [X, p.epistemic_std])
        assert not artist(ax, "NUTS mean").get_visible()
        (grey,) = ax.patches
        inside = X[result.regions["gap"]]
        ends = (inside[0], inside[-1]) if len(inside) else (0.0, 0.0)
        assert (grey.get_x(), grey.get_x() + grey.get_width()) == pytest.approx(ends)
    assert names_over_the_panels(explorer) == ALWAYS | {"truth"}
    assert np.isnan(line(below, "NUTS")[1]).all()
    assert_the_picture_is_not_stale(explorer)


def test_nuts_comes_beside_with_its_distances(
    explorer: RivalsExplorer, nuts: dict[str, Any]
) -> None:
    result, gold = explorer.set(nuts=True).result, nuts["gold"]
    for place in PLACES:
        np.testing.assert_allclose(line(panel(explorer, place), "NUTS mean"), [X, gold.mean])
        off = [
            calibration.distance(result.rivals[place].prediction, gold, mask)
            for mask in result.regions.values()
        ]
        words = f"the {place} ({METHODS[START[place]].label}): data #, gap #, outside #"
        status = explorer.status.partition("Distance to NUTS of ")[2]
        assert said(status, words) == [as_printed(value, 2) for value in off]
    np.testing.assert_allclose(line(panel(explorer, "How sure"), "NUTS")[1], gold.epistemic_std)
    assert names_over_the_panels(explorer) == ALWAYS | GOLD | {"truth"}
    assert "R-hat is 1.01." in explorer.status
    assert nuts["run"].sample.args == (Model(GapProblem()),)


def test_the_status_says_each_spread_and_what_took_how_long(explorer: RivalsExplorer) -> None:
    explorer.set(seed=41)
    for place in PLACES:
        words = f"the {place} ({METHODS[START[place]].label}): data #, gap #, outside #, gap/data #"
        expected = [spread(explorer, place, region) for region in ("data", "gap", "outside")]
        expected.append(expected[1] / expected[0])
        assert said(explorer.status, words) == [as_printed(value, 2) for value in expected]
    assert all(rival.seconds > 0 for rival in explorer.result.rivals.values())
    explorer.set(rate=0.35)
    rivals = explorer.result.rivals
    assert rivals["first"].seconds == 0.0 < rivals["second"].seconds, "what stays is kept"
    took = said(explorer.status, "(first # ms, second # ms)")
    assert took == [0, as_printed(1e3 * rivals["second"].seconds, 0)]
    assert "gap –," in explorer.set(gap=0.0).status
    explorer.set(first="map", gap=0.3)
    assert "data 0.00, gap 0.00, outside 0.00, gap/data –;" in explorer.status


ALWAYS = {"±2 sd total", "±2 sd epistemic", "draws or members", "mean", "data"}
GOLD = {"NUTS mean", "NUTS ±2 sd"}


@pytest.mark.parametrize("widest", [*PLACES, "NUTS"])
def test_both_panels_have_the_height_of_the_widest(explorer: RivalsExplorer, widest: str) -> None:
    result, made = explorer.result, {}
    for name in (*PLACES, "NUTS"):
        made[name] = Predictive(np.zeros(71), np.full(71, 30.0 if name == widest else 2.0), X * 0)
    rivals = {
        place: replace(rival, shown=rival.shown._replace(prediction=made[place]))
        for place, rival in result.rivals.items()
    }
    with RENDER_LOCK:
        explorer._draw(replace(result, rivals=rivals, nuts=made["NUTS"]))
    heights = {panel(explorer, place).get_ylim()[1] for place in PLACES}
    assert len(heights) == 1 and 60 <= heights.pop() < 120
    explorer.set(seed=1)


def test_no_more_than_so_many_fits_are_kept_and_the_oldest_goes_first(
    explorer: RivalsExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rivals_explorer, "_KEPT", 3)
    explorer.set(first="map", second="infinite")
    assert_no_more_than_three_fits_are_kept(explorer, lambda key: key[1].problem.seed)


def test_what_is_cancelled_is_nuts(explorer: RivalsExplorer, nuts: dict[str, Any]) -> None:
    assert_what_is_cancelled_is_nuts(explorer)


def test_closing_it_ends_nuts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "start", lambda _: None)
    other = type("Other", (RivalsExplorer,), {})()
    other.close()
    assert other._nuts._closed


def test_of_a_table_in_other_units_there_is_no_truth(explorer: RivalsExplorer) -> None:
    rng = np.random.default_rng(0)
    explorer.set(data=(rng.normal(50, 10, 40), rng.normal(5, 2, 40)))
    for place in PLACES:
        ax = panel(explorer, place)
        assert not artist(ax, "truth").get_visible() and len(line(ax, "data")[0]) == 40
        x = [float(t.get_text().replace("−", "-")) for t in ax.get_xticklabels()]
        assert min(x) > 0 and max(x) > 60, "ten about fifty, as in the table"
    assert names_over_the_panels(explorer) == ALWAYS
    explorer.set(data=None)
    assert artist(panel(explorer, "first"), "truth").get_visible()


# What is fitted: the methods themselves, asked for in another way.


def shown(method: str, **options: Any) -> fits.Shown:
    return fits.fit(method, Model(GapProblem()), Options(**options)).shown


def test_an_ensemble_is_the_package_s_with_as_many_members() -> None:
    for name, anchored in (("ensemble", False), ("anchored", True)):
        expected = ensemble.fit(DATA.x, DATA.y, n_members=3, anchored=anchored, **GIVEN)
        found = shown(name, members=3)
        assert found.functions.shape == (3, 71)
        np.testing.assert_allclose(found.fit.weights, expected.weights, rtol=0.02, atol=0.02)


def test_dropout_and_rank_are_the_slider_s() -> None:
    found = shown("dropout", rate=0.25)
    assert isinstance(found.fit, mc_dropout.Fit) and found.fit.rate == 0.25
    assert shown("low_rank", rank=3).fit.columns.shape == (61, 3)
    assert float(shown("sghmc", temperature=0.4).fit.inputs.temperature) == pytest.approx(0.4)


HEARD: dict[str, dict[str, Any]] = {  # every method, and what it may be told beside
    **{name: {} for name in METHODS},
    "laplace, pushed": {"linearised": False},
    "laplace, last layer": {"structure": "last_layer"},
    "laplace, last layer pushed": {"structure": "last_layer", "linearised": False},
    "low_rank": {"rank": 20},
}


@pytest.mark.parametrize("what", HEARD)
def test_every_method_hears_the_noise_the_prior_the_width_and_the_seed(what: str) -> None:
    """Points of one's own do not change with the seed: what does is the start, or the draws."""
    method, options = what.partition(",")[0], Options(**HEARD[what])
    x, y = DATA.x[::4, 0].tolist(), DATA.y[::4, 0].tolist()
    problem = GapProblem(noise_std=2.0, seed=3, own=(tuple(x), tuple(y), points.COURSE))
    model = Model(problem, prior_std=1.5, width=3)
    found = fits.fit(method, model, options).shown
    np.testing.assert_allclose(found.prediction.aleatoric_std, 2.0)
    moved = {
        "noise": replace(model, problem=replace(problem, noise_std=1.0)),
        "prior": replace(model, prior_std=1.0),
        "seed": replace(model, problem=replace(problem, seed=4)),
        "width": replace(model, width=4),
    }
    for name, other in moved.items():
        again = fits.fit(method, other, options).shown.prediction
        same = np.allclose(again.mean, found.prediction.mean, rtol=1e-6, atol=1e-6)
        assert same == (name == "seed" and method == "infinite"), name
    if method == "low_rank":
        assert found.fit.columns.shape == (10, 10), "no more columns than weights"


@pytest.mark.parametrize("structure", laplace.STRUCTURES)
@pytest.mark.parametrize("linearised", [True, False])
def test_laplace_predicts_as_the_package_s_does(structure: str, linearised: bool) -> None:
    found = shown("laplace", structure=structure, linearised=linearised)
    expected = found.fit.predict(X[:, None], 500)
    np.testing.assert_allclose(found.prediction.mean, expected.mean, rtol=1e-3, atol=1e-3)
    std = expected.epistemic_std
    np.testing.assert_allclose(found.prediction.epistemic_std, std, rtol=1e-3)
    problem = found.fit.problem
    assert (problem.structure, problem.linearised) == (structure, linearised)
    trained = point.fit(DATA.x, DATA.y, **GIVEN)
    mode = laplace.to_mode(trained, DATA.x, DATA.y, prior=GIVEN["prior"])
    kept = slice(40 if structure == "last_layer" else 61)  # its own layer is solved exactly
    np.testing.assert_allclose(found.fit.mean[kept], mode.weights[kept], rtol=0.02, atol=0.02)


def test_a_last_layer_keeps_its_network_while_the_prior_moves() -> None:
    """And is exact for it: the same features, the prior of the slider."""
    wide, narrow = (
        fits.fit("laplace", Model(GapProblem(), std), Options(structure="last_layer")).shown.fit
        for std in (3.0, 0.5)
    )
    assert isinstance(wide, laplace.Fit) and isinstance(narrow, laplace.Fit)
    np.testing.assert_array_equal(wide.mean[:40], narrow.mean[:40])
    assert wide.problem.mode is narrow.problem.mode
    assert np.abs(narrow.mean[40:]).sum() < np.abs(wide.mean[40:]).sum()
    assert narrow.prior == Gaussian(0.5)


def test_drawn_functions_have_the_spread_of_the_band() -> None:
    """Twenty of them: their sd is known to a sixth, and its mean over x better than to a third."""
    for method in ("laplace", "infinite"):
        found = shown(method)
        ratio = found.functions.std(axis=0, ddof=1) / found.prediction.epistemic_std
        assert 0.67 < ratio.mean() < 1.33, method


def test_functions_of_the_process_vary_together_as_it_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not only as wide as the band: neighbours agree."""
    monkeypatch.setattr(fits, "N_FUNCTIONS", 4000)
    drawn = shown("infinite")
    grid, given = X[:, None], {"prior": Gaussian(3.0), "hidden_units": (20,)}
    noisy = infinite_width.kernel(DATA.x, **given) + np.eye(len(DATA.x))
    across = infinite_width.kernel(DATA.x, grid, **given)
    cov = infinite_width.kernel(grid, **given) - across.T @ np.linalg.solve(noisy, across)
    sd = np.sqrt(np.diag(cov))
    error = (np.cov(drawn.functions.T) - cov) / np.outer(sd, sd)
    assert np.abs(error).max() < 0.1


def test_infinite_width_is_the_limit_of_the_slider_s_width() -> None:
    found = fits.fit("infinite", Model(GapProblem(), 2.0, 7), Options()).shown
    expected = infinite_width.fit(DATA.x, DATA.y, prior=Gaussian(2.0), hidden_units=(7,))
    assert found.fit.log_evidence == expected.log_evidence


def test_while_all_rests_the_chains_run_on(explorer: RivalsExplorer) -> None:
    explorer.set(first="sghmc", second="sghmc")
    steps = []
    assert "SGHMC, 300 steps" in explorer.status
    for result in successive(partial(explorer._improve, explorer.state()), explorer.result):
        assert result.rivals["first"].shown is result.rivals["second"].shown
        steps.append(result.fit.history["step"][-1])
    assert steps == [1300, 2300, 3300, 4300, 5300, 6300]
    assert explorer.set(first="map", second="infinite").result is not None
    assert explorer._improve(explorer.state(), explorer.result) is None


def test_as_the_chains_run_on_the_distance_is_that_of_all_their_draws(
    explorer: RivalsExplorer, nuts: dict[str, Any]
) -> None:
    explorer.set(first="sghmc", second="map", nuts=True)
    better = explorer._improve(explorer.state(), explorer.result)
    assert better is not None and better.nuts is nuts["gold"]
    for place in PLACES:
        expected = {
            region: calibration.distance(better.rivals[place].prediction, nuts["gold"], mask)
            for region, mask in better.regions.items()
        }
        assert better.distances[place] == expected
    assert better.distances["first"] != explorer.result.distances["first"]


# How it moves.


def test_what_neither_method_heeds_is_disabled(explorer: RivalsExplorer) -> None:
    def live_ones() -> set[str]:
        idle = {n for n in Options._fields if "bdl-idle" in explorer._controls[n]._dom_classes}
        off = {n for n in Options._fields if explorer._controls[n].disabled}
        assert idle == off
        return set(Options._fields) - off

    assert live_ones() == {"members", "rate"}
    explorer.set(first="laplace", second="low_rank")
    assert live_ones() == {"structure", "linearised", "rank"}
    explorer.set(first="mean_field", second="sghmc")
    assert live_ones() == {"temperature"}


def test_every_control_moves_the_picture(explorer: RivalsExplorer) -> None:
    """The rank while there is one, and points by hand have tests of their own."""
    assert_every_control_moves_the_picture(explorer, MOVES, frozenset({"nuts", "rank"}))
    before = pixels(explorer.set(second="low_rank"))
    assert (pixels(explorer.set(rank=0)) != before).any()


def test_the_state_rebuilds_the_picture(explorer: RivalsExplorer) -> None:
    before = pixels(explorer.set(**MOVES))
    explorer.set(**START)
    explorer._fits.clear()
    assert (pixels(explorer.set(**MOVES)) == before).all()


def test_no_value_of_any_control_traces_again(explorer: RivalsExplorer) -> None:
    traces = trace_count()
    for name in METHODS:
        explorer.set(**{**START, "first": name, "second": name})
        explorer.set(width=2, n=8, prior_std=0.5, noise_std=2.0, gap=0.0, seed=9)
        explorer._improve(explorer.state(), explorer.result)
    for values in (
        {"first": "ensemble", "members": 20},
        {"first": "dropout", "rate": 0.5},
        {"first": "low_rank", "rank": 0},
        {"first": "low_rank", "rank": 20},
        {"first": "laplace", "structure": "last_layer", "linearised": False},
        {"first": "sghmc", "temperature": 0.0},
    ):
        explorer.set(**{**START, **values, "width": 3})
    assert trace_count() == traces


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"first": "vae"}, "first: expected one of ensemble, anchored, dropout"),
        ({"members": 21}, "members: expected a value between 1 and 20"),
        ({"structure": "block"}, "structure: expected one of full, diagonal, last_layer"),
        ({"rank": -1}, "rank: expected a value between 0 and 20"),
    ],
)
def test_values_out_of_range_are_refused(
    explorer: RivalsExplorer, values: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        explorer.set(**values)
    assert explorer.state() == START


# Presets, and the question.


def test_presets_are_the_start_but_for_what_they_name(explorer: RivalsExplorer) -> None:
    assert list(RivalsExplorer.PRESETS) == list(PRESETS), PRESET_RULE
    for name, (_, values) in RivalsExplorer.PRESETS.items():
        assert values == {**START, **PRESETS[name]}, name
    assert_choosing_a_preset_sets_its_values_and_says_where_to_look(explorer)
    assert_every_preset_shows_another_picture_and_says_what_to_see(explorer)


def test_what_the_presets_say_is_seen(explorer: RivalsExplorer) -> None:
    def sd(place: str, region: str, **changes: Any) -> float:
        return spread(explorer.set(**changes), place, region)

    explorer.preset("start")
    assert sd("first", "gap") > 3 * sd("first", "data")
    assert sd("second", "gap") < 1.5 * sd("second", "data")
    explorer.preset("with anchors and without")
    assert sd("first", "data") > 1.5 * sd("second", "data")
    explorer.preset("Laplace explodes")
    assert sd("first", "data") > 20 * sd("first", "data", linearised=True)
    explorer.preset("Laplace's diagonal")
    assert sd("first", "gap") < 1.5 * sd("first", "data")
    assert sd("first", "gap", structure="full") > 3 * sd("first", "data")
    explorer.preset("the last layer alone")
    assert sd("first", "gap") < sd("second", "gap")
    explorer.preset("temperature 0")
    assert sd("first", "data") < 2 / 3 * sd("first", "data", temperature=1.0)
    explorer.preset("eight columns")
    assert sd("first", "gap") == pytest.approx(sd("first", "gap", rank=0), rel=1 / 3)
    explorer.preset("infinitely wide")
    assert sd("first", "gap") < sd("second", "gap")


def test_the_answer_is_seen_where_the_question_leads(explorer: RivalsExplorer) -> None:
    asked = RivalsExplorer.QUESTION
    assert asked.choices[asked.answer] == "more than twenty times as wide"
    before = spread(explorer.set(**dict(asked.before)), "first", "data")
    explorer.set(**{asked.control: asked.target})
    assert spread(explorer, "first", "data") > 20 * before


def test_the_time_of_a_kept_fit_is_none_of_this_tick(explorer: RivalsExplorer) -> None:
    first = explorer.result.rivals["first"]
    again = explorer.set(second="map").set(second="dropout").result.rivals["first"]
    assert again == replace(first, seconds=0.0)


def test_the_replay_leads_to_the_fit_and_says_what_stands_still(explorer: RivalsExplorer) -> None:
    explorer.preset("start").set(second="infinite").replay(0)
    panel(explorer, "second: infinite width, which stands still")
    fit: Any = explorer.result.fit
    steps = fits.steps_of(explorer.result.rivals["first"])
    assert steps[0] == 0 and steps[-1] == 1500
    begun = fits.at_share(explorer.result.rivals["first"], 0.0, explorer.result.model)
    np.testing.assert_array_equal(begun.shown.fit.weights, fit.at(0).weights)
    explorer.set(first="infinite", second="map")  # now the first stands still
    steps = fits.steps_of(explorer.result.rivals["second"])
    assert explorer._frames(explorer.result) == steps and steps[-1] == 1500
    explorer.set(second="infinite")
    assert explorer._frames(explorer.result) == ()


LED: dict[str, dict[str, Any]] = {  # every method that goes in steps
    **{name: {} for name in METHODS if name not in ("infinite", "sghmc")},
    "laplace, diagonal": {"structure": "diagonal"},
    "laplace, last layer": {"structure": "last_layer"},
    "laplace, pushed": {"linearised": False},
}


@pytest.mark.parametrize("what", LED)
def test_the_last_frame_is_the_fit_in_every_number(explorer: RivalsExplorer, what: str) -> None:
    explorer.preset("start").set(width=7, first=what.partition(",")[0], second="infinite")
    rival = explorer.set(**LED[what]).result.rivals["first"]
    model, traces = explorer.result.model, trace_count()
    steps = fits.steps_of(rival)
    assert steps[0] == 0 and steps[-1] == 1500 and len(steps) == 41
    first, middle, last = (fits.at_share(rival, share, model) for share in (0.0, 0.2, 1.0))
    assert trace_count() == traces
    for values in ("mean", "epistemic_std", "total_std"):
        whole = getattr(rival.prediction, values)
        np.testing.assert_array_equal(getattr(last.prediction, values), whole)
    np.testing.assert_array_equal(last.shown.functions, rival.shown.functions)
    seen = [r.prediction.mean for r in (first, middle, last)]
    assert min(np.abs(a - b).max() for a, b in itertools.combinations(seen, 2)) > 0.1
    assert last.remark == ""


@pytest.mark.parametrize(
    ("structure", "remark"),
    [
        ("full", "round the weights so far"),
        ("diagonal", "round the weights so far"),
        ("last_layer", "on the features so far"),
    ],
)
def test_before_the_end_laplace_says_that_there_is_no_mode_yet(
    explorer: RivalsExplorer, structure: str, remark: str
) -> None:
    explorer.preset("start").set(first="laplace", structure=structure)
    explorer.replay(15)
    panel(explorer, f"first: Laplace, {remark}")
    assert f"the first (Laplace, {remark}): " in explorer.status
    explorer.replay()
    panel(explorer, "first: Laplace")
    assert "so far" not in explorer.status


def test_a_frame_of_the_chains_is_what_they_had_drawn(explorer: RivalsExplorer) -> None:
    chains = explorer.preset("start").set(first="sghmc").result.rivals["first"]
    steps = fits.steps_of(chains)
    model = explorer.result.model
    early: Any = fits.at_share(chains, steps[0] / steps[-1], model).shown.fit
    assert early.history["step"][-1] == steps[0]
    last = fits.at_share(chains, 1.0, model)
    np.testing.assert_array_equal(last.prediction.mean, chains.prediction.mean)
