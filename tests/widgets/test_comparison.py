"""The comparison explorer, driven from Python: what moves, what is kept, what NUTS says.

What a preset or an answer says of a method is looked at for five data seeds.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import wraps
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from explorer_claims import (
    PRESET_RULE,
    artist,
    as_printed,
    assert_choosing_a_preset_sets_its_values_and_says_where_to_look,
    assert_every_control_and_preset_is_on_the_page_once,
    assert_every_control_moves_the_picture,
    assert_no_more_than_three_fits_are_kept,
    assert_the_picture_is_not_stale,
    assert_the_replay_leads_to_the_fit,
    assert_what_is_cancelled_is_nuts,
    band,
    every_picture_is_drawn,
    line,
    names_over_the_panels,
    panel,
    pixels,
    said,
)
from matplotlib.patches import Rectangle
from scipy.stats import norm
from waiting import until

from bdl_teach import DivergedError, calibration, datasets, plots
from bdl_teach._support.compiled import trace_count
from bdl_teach.densities import Gaussian
from bdl_teach.methods import bbb, empirical_bayes, exact, local_reparam, pbp, point
from bdl_teach.methods.pbp import replay as pbp_replay
from bdl_teach.predictive import Predictive
from bdl_teach.widgets import ComparisonExplorer
from bdl_teach.widgets._engine import live, points, stored_nuts
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from bdl_teach.widgets._engine.nuts import GoldStandard, Run
from bdl_teach.widgets._engine.picture import Place
from bdl_teach.widgets.comparison import explorer as comparison
from bdl_teach.widgets.comparison import fits as comparison_fits
from bdl_teach.widgets.comparison.explorer import ComparisonResult
from bdl_teach.widgets.comparison.fits import METHODS, GapProblem, Interval

SIX = ("mle", "map", "bbb", "local", "eb", "pbp")  # that the presets' sentences are about
FURTHER = tuple(name for name in METHODS if name not in SIX)
MOVES: dict[str, Any] = {
    "n": 16,
    "noise_std": 2.0,
    "gap": 0.1,
    "seed": 3,
    "epochs": 20,
    "level": 0.5,
    "conformal": True,
    "mle": True,
    "map": False,
    "bbb": False,
    "local": True,
    "eb": True,
    "pbp": False,
    **dict.fromkeys(FURTHER, True),
}

START: dict[str, Any] = {
    "n": 32,
    "noise_std": 1.0,
    "gap": 0.3,
    "seed": 0,
    "epochs": 100,
    "level": 0.95,
    "conformal": False,
    "mle": False,
    "map": True,
    "bbb": True,
    "local": False,
    "eb": False,
    "pbp": True,
    **dict.fromkeys(FURTHER, False),
    "nuts": False,
}
PRESETS: dict[str, dict[str, Any]] = {  # where each leaves the start
    "start": {},
    "all methods": {"mle": True, "local": True, "eb": True},
    "no gap": {"gap": 0.0},
    "few points": {"n": 8},
    "loud noise": {"noise_std": 3.0},
    "conformal": {"conformal": True},
    "PBP, few epochs": {"epochs": 10},
}
LABELS = {
    "mle": "MLE",
    "map": "MAP",
    "bbb": "BBB",
    "local": "local, quiet",
    "eb": "emp. Bayes",
    "pbp": "PBP",
    **{name: METHODS[name].label for name in FURTHER},
    "nuts": "NUTS",
}
X = np.linspace(-0.7, 0.7, 71)
TRUTH = 10 * np.sin(2 * np.pi * X)
SEEDS = range(5)


@pytest.fixture(scope="module")
def explorer() -> Iterator[ComparisonExplorer]:
    made = ComparisonExplorer().warm()
    yield made
    made.close()


def test_every_control_moves_the_picture(explorer: ComparisonExplorer) -> None:
    explorer.preset("start")
    assert_every_control_moves_the_picture(explorer, MOVES, frozenset({"nuts"}))


def test_every_preset_is_shown(explorer: ComparisonExplorer) -> None:
    for name in explorer.presets:
        before = pixels(explorer.set(**MOVES))
        explorer.preset(name)
        assert explorer.PRESETS[name][1].items() <= explorer.state().items()
        assert (pixels(explorer) != before).any()
        assert explorer.PRESETS[name][0], "a preset says what to look for"


def test_there_and_back_is_the_same_picture_from_the_state_alone(
    explorer: ComparisonExplorer,
) -> None:
    before = pixels(explorer.preset("start"))
    state = explorer.state()
    assert (pixels(explorer.set(gap=0.1)) != before).any()
    explorer._fits.clear()
    assert (pixels(explorer.set(**state)) == before).all()


def test_only_what_changed_is_fitted_again(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.preset("all methods")
    explorer._fits.clear()
    fitted: list[str] = []

    fit = comparison_fits.fit
    monkeypatch.setattr(comparison_fits, "fit", lambda *a: fitted.append(a[0]) or fit(*a))
    explorer.set(epochs=20)
    assert fitted == list(SIX), "each once, the cheapest first"
    fitted.clear()
    explorer.set(epochs=10)
    assert fitted == ["pbp"]
    explorer.set(map=False, epochs=20)
    explorer.set(map=True)
    assert fitted == ["pbp"], "what was fitted before is kept"


def test_a_method_that_takes_long_does_not_hold_the_picture_of_the_others(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.preset("start")
    explorer._fits.clear()
    shown: list[list[str]] = []
    original = explorer._draw
    monkeypatch.setattr(explorer, "_draw", lambda r: shown.append([*r.predictions]) or original(r))
    monkeypatch.setattr(comparison, "_PATIENCE_S", -1.0)
    explorer.set(seed=1)
    assert shown == [["map"], ["map", "bbb"], ["map", "bbb", "pbp"]]


def test_of_values_that_have_moved_on_no_further_method_is_fitted(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.preset("start")
    explorer._fits.clear()
    fitted: list[tuple[str, int]] = []
    really = comparison_fits.fit

    def moved_on(name: str, problem: GapProblem, epochs: int) -> Any:
        fitted.append((name, problem.seed))
        explorer._controls["seed"].value = 2  # as a learner does while the first is fitted
        return really(name, problem, epochs)

    monkeypatch.setattr(comparison_fits, "fit", moved_on)
    explorer.set(seed=1).wait()
    assert fitted == [("map", 1), ("map", 2), ("bbb", 2), ("pbp", 2)]


def test_another_place_for_the_picture_leaves_no_method_out(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page says how large it is while the first picture is made: no value has moved."""
    explorer.preset("start")
    explorer._fits.clear()
    really = comparison_fits.fit

    def resized(*given: Any) -> Any:
        explorer._draw_again()
        return really(*given)

    monkeypatch.setattr(comparison_fits, "fit", resized)
    explorer.set(seed=1).wait()
    assert [*explorer.result.predictions] == ["map", "bbb", "pbp"]


def fail_once(explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Bayes by Backprop diverge in one tick; after it the worker draws nothing more."""

    def diverge(*_: Any, **__: Any) -> Any:
        raise DivergedError(7, "lower the learning rate")

    with monkeypatch.context() as patch:
        patch.setattr(bbb, "fit", diverge)
        with pytest.raises(DivergedError):
            explorer.set(seed=50)


def test_divergence_is_said_over_the_plot_and_the_next_tick_works(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = pixels(explorer.preset("start"))

    fail_once(explorer, monkeypatch)
    assert "diverged by step 7" in explorer.status
    assert (pixels(explorer.set(seed=0)) == before).all()


@every_picture_is_drawn
def test_a_picture_before_all_are_fitted_says_which_are_still_to_come(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.preset("start")
    seen: list[list[str]] = []
    original = live.as_data_url

    def look(picture: Any) -> str:
        words = {name: panel._words.get_text() for name, panel in explorer._panels.items()}
        seen.append([name for name, said in words.items() if said == "being fitted …"])
        return original(picture)

    monkeypatch.setattr(live, "as_data_url", look)
    monkeypatch.setattr(comparison, "_PATIENCE_S", -1.0)
    explorer._fits.clear()
    explorer.set(seed=1)
    assert seen[:3] == [["bbb", "pbp"], ["pbp"], []]


@every_picture_is_drawn
def test_the_notice_of_a_failure_is_gone_from_the_first_picture_after_it(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.preset("start")
    seen: list[bool] = []
    original = live.as_data_url

    def look(picture: Any) -> str:
        seen.append(explorer._notice.get_visible())
        return original(picture)

    fail_once(explorer, monkeypatch)
    assert explorer._notice.get_visible()
    monkeypatch.setattr(live, "as_data_url", look)
    monkeypatch.setattr(comparison, "_PATIENCE_S", -1.0)
    explorer._fits.clear()
    explorer.set(seed=1)
    assert len(seen) >= 3 and not any(seen)


def test_no_value_of_any_slider_traces_again(explorer: ComparisonExplorer) -> None:
    explorer.preset("all methods")
    traces = trace_count()
    for name, values in {
        "n": (8, 16),
        "noise_std": (0.3, 3.0),
        "gap": (0.0, 0.4),
        "seed": (99,),
        "epochs": (10, 20),
        "level": (0.5, 0.99),
        "conformal": (True,),
    }.items():
        for value in values:
            explorer.preset("all methods").set(**{name: value})
    assert trace_count() == traces


def test_words_for_who_cannot_see_it(explorer: ComparisonExplorer) -> None:
    explorer.preset("start")
    bundle = explorer._repr_mimebundle_()
    assert bundle["text/plain"].startswith(explorer.ALT)
    assert "image/png" in bundle
    assert "32 points. 95 % intervals hold (data / gap / outside): MAP " in explorer.status
    assert "no method chosen" in explorer.set(map=False, bbb=False, pbp=False).status
    assert "/–/" in explorer.preset("no gap").status


def test_bayes_by_backprop_is_too_sure_in_the_gap(explorer: ComparisonExplorer) -> None:
    explorer.preset("start")
    shares = explorer.result.coverage["bbb"]
    assert shares["data"] > 0.85
    assert shares["gap"] < 0.5


def test_of_a_table_no_region_is_a_gap_and_of_points_by_hand_the_course_s() -> None:
    x = comparison.X_GRID[:, 0]
    table, hand = (
        GapProblem(gap=0.2, own=((0.0, 1.0), (0.0, 1.0), units))
        for units in ((0.0, 2.0, 0.0, 2.0), points.COURSE)
    )
    assert not table.regions(x)["gap"].any()
    np.testing.assert_array_equal(hand.regions(x)["gap"], GapProblem(gap=0.2).regions(x)["gap"])


def test_points_of_one_s_own_are_told_once_whatever_the_slider_says() -> None:
    own = ((-0.3, 0.0, 0.4), (1.0, 2.0, 3.0), points.COURSE)
    told = GapProblem(n=8, noise_std=0.7, own=own).repeated
    assert told["noise_std"] == 0.7
    np.testing.assert_array_equal(told["x"][:, 0], own[0])
    np.testing.assert_array_equal(np.ravel(told["y"]), own[1])


def test_no_more_than_so_many_fits_are_kept_and_the_oldest_goes_first(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparison, "_KEPT", 3)
    explorer.preset("start").set(bbb=False)
    assert_no_more_than_three_fits_are_kept(explorer, lambda key: key[1].seed)
    explorer.preset("start")


def test_what_is_cancelled_is_nuts(explorer: ComparisonExplorer, nuts: dict[str, Any]) -> None:
    assert_what_is_cancelled_is_nuts(explorer.preset("start"))


def test_before_all_programs_are_there_no_longer_run_is_made(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A movement would wait for what it compiles."""
    result = explorer.preset("start").set(seed=2).result
    monkeypatch.setattr(explorer, "_warmed", threading.Event())
    assert explorer._improve(explorer.state(), result) is None
    explorer._warmed.set()
    better = explorer._improve(explorer.state(), result)
    assert better is not None and better.arrivals["bbb"].runs == 1


def test_where_nothing_had_to_be_fitted_there_is_one_picture(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.preset("start").set(seed=1)
    shown: list[Any] = []
    monkeypatch.setattr(explorer, "_show", shown.append)
    monkeypatch.setattr(comparison, "_PATIENCE_S", -1.0)
    explorer.set(level=0.8)
    assert not shown and explorer.result.interval.level == 0.8


def test_a_hand_can_set_as_many_points_as_there_is_room_for(explorer: ComparisonExplorer) -> None:
    assert {panel.most for panel in explorer._touch_panels()} == {comparison_fits.OWN_ROOM}


def test_regions_partition_the_axis() -> None:
    x = comparison.X_GRID[:, 0]
    for gap in (0.0, 0.2, 0.4):
        problem = GapProblem(gap=gap)
        regions = problem.regions(x)
        assert (sum(mask.astype(int) for mask in regions.values()) == 1).all()
        assert not problem.regions(problem.data.x[:, 0])["gap"].any()
    assert regions["gap"].any() and regions["outside"].any()


@pytest.mark.parametrize("n", [8, 16])
def test_repeated_points_with_louder_noise_are_the_same_posterior(n: int) -> None:
    """Σ over the rows of (y − f)²/2s² is the same for any f."""
    problem = GapProblem(n=n, noise_std=0.7)
    data, repeated = problem.data, problem.repeated
    for f in (np.zeros(1), np.sin(7 * data.x)):
        one = np.sum((data.y - f) ** 2) / (2 * 0.7**2)
        many = np.repeat(np.broadcast_to(f, data.x.shape), 32 // n, axis=0)
        two = np.sum((repeated["y"] - many) ** 2) / (2 * repeated["noise_std"] ** 2)
        assert one == pytest.approx(two)


def test_pbp_is_what_its_fit_would_be() -> None:
    """The explorer takes the way of many steps in one call; the method's own goes by epochs."""
    problem = GapProblem(n=8)
    data, took = problem.data, comparison_fits.fit("pbp", problem, 30)
    fit = pbp.fit(data.x, data.y, hidden_units=(comparison_fits.WIDTH,), epochs=30, seed=0)
    expected, got = fit.predict(comparison.X_GRID), took.predict(comparison.X_GRID)
    np.testing.assert_allclose(got.mean, expected.mean, rtol=1e-8)
    np.testing.assert_allclose(got.total_std, expected.total_std, rtol=1e-8)


@pytest.mark.slow
def test_nuts_comes_beside_with_the_gap_as_a_number(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And a run made here is the one that came with the package, but for chance."""
    monkeypatch.setattr(stored_nuts, "load", lambda _: None)
    explorer.preset("start").set(nuts=True)
    assert explorer.result.nuts is None
    assert "NUTS is running" in explorer.status
    until(lambda: "largest R-hat" in explorer.wait().status, "NUTS", seconds=180.0)
    result = explorer.result
    distance = calibration.distance(result.predictions["bbb"], result.nuts, result.regions["gap"])
    assert result.gap["bbb"]["gap"] == distance > result.gap["bbb"]["data"] > 0
    assert "gap to NUTS" in explorer.status
    assert 0.8 < result.coverage["nuts"]["gap"] <= 1
    with_nuts = pixels(explorer)
    assert (pixels(explorer.set(nuts=False)) != with_nuts).any()
    assert (pixels(explorer.set(nuts=True)) == with_nuts).all(), "cached, shown at once"
    assert explorer.set(seed=1).result.nuts is None, "the gold standard of other values"
    assert_it_is_the_stored_run(result.nuts)
    assert replace(result, nuts=None).gap == result.gap
    explorer.preset("start").set(nuts=False)


def assert_it_is_the_stored_run(made: Predictive) -> None:
    """Within what 900 effective draws leave open; else the sampler is another one by now."""
    of = comparison.nuts_run(START)
    kept = stored_nuts.read()[of.key]
    error = np.sqrt(2 / 900) * made.epistemic_std
    np.testing.assert_array_less(np.abs(made.mean - kept.mean), 5 * error)
    ratio = np.array(kept.epistemic_std) / made.epistemic_std
    assert np.abs(np.log(ratio)).max() < 0.25, "run tools/store_nuts.py, with another version"


# What the picture holds, and what the status line says of it.


# Points by hand


@every_picture_is_drawn
def test_every_method_is_refitted_to_the_points_of_a_hand(explorer: ComparisonExplorer) -> None:
    explorer.preset("start")
    before = explorer.result
    explorer._on_touch({"touch": "move", "i": 20, "x": 0.6, "y": 9.0})
    after = explorer.wait().result
    assert len(after.data.x) == 32 and after.data.x[20, 0] == 0.6 and after.data.y[20, 0] == 9.0
    for name in after.predictions:
        x, y = explorer._panels[name]._points.get_data()
        assert (x[20], y[20]) == (0.6, 9.0)
        moved = after.predictions[name].mean - before.predictions[name].mean
        assert np.abs(moved[np.abs(X - 0.6) < 0.1]).max() > 1.0, name
    assert len(explorer._picture.panels) == 3, "those that are shown"
    explorer.preset("start")
    for name, prediction in before.predictions.items():
        np.testing.assert_array_equal(explorer.result.predictions[name].mean, prediction.mean)


def test_a_table_has_no_truth_to_hold_intervals_against(explorer: ComparisonExplorer) -> None:
    explorer.preset("start")
    explorer.set(data=((1.0, 2.0, 4.0), (5.0, 3.0, 8.0)))
    assert explorer.status.startswith("3 points of your own. No truth of a table to hold intervals")
    assert all(np.isnan(v) for by in explorer.result.coverage.values() for v in by.values())
    explorer.set(data=(range(65), range(65)))
    assert len(explorer.result.data.x) == 64
    assert "64 of 65 points are taken at random" in explorer.status
    explorer.preset("start")


@pytest.fixture
def nuts(explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A stand-in for NUTS; what it was asked for is kept under its arguments' names."""
    rng = np.random.default_rng(7)
    gold = Predictive.from_samples(TRUTH + rng.normal(0, 1 + np.abs(X), (40, 71)), 1.0)
    asked: dict[str, Any] = {"gold": gold}

    def ask(wanted: bool, run: Run) -> GoldStandard:
        asked["run"] = run
        return GoldStandard(gold, "R-hat is 1.01.") if wanted else GoldStandard()

    monkeypatch.setattr(explorer._nuts, "ask", ask)
    return asked


# The replay


def test_the_replay_leads_from_the_start_to_all_fits(explorer: ComparisonExplorer) -> None:
    explorer.preset("all methods").set(noise_std=0.9)
    assert_the_replay_leads_to_the_fit(explorer)


def test_every_method_is_at_the_same_share_of_its_training(
    explorer: ComparisonExplorer, nuts: dict[str, Any]
) -> None:
    explorer.preset("start").set(nuts=True, epochs=40)
    fits, steps = explorer.result.fits, explorer._frames(explorer.result)
    assert list(fits) == ["map", "bbb", "pbp"] and steps[-1] == 1500
    for frame, epochs in ((0, 0.0), (25, 40 * steps[25] / 1500)):
        explorer.replay(steps[frame])
        taken = np.array(fits["pbp"].path.steps)
        near = int(np.abs(taken / taken[-1] - epochs / 40).argmin())
        assert abs(taken[near] / 33 - epochs) < 0.8
        then = {"map": fits["map"].at(frame), "bbb": fits["bbb"].at(frame)}
        then["pbp"] = fits["pbp"].at(near)
        for name, fit in then.items():
            told = fit.predict(X[:, None], 200)
            ax = explorer._panels[name].axes
            np.testing.assert_array_equal(line(ax, "mean")[1], told.mean)
            apart = [
                calibration.distance(told, nuts["gold"], m)
                for m in explorer.result.regions.values()
            ]
            written = "/".join(f"{gap:.1f}" for gap in apart)
            assert f"{METHODS[name].label} {written}" in explorer.status.partition("gap to NUTS")[2]
        assert f"; PBP after {steps[frame] / 1500:.1%} of the epochs" in explorer.status
    explorer.replay()
    assert "of the epochs" not in explorer.status


def test_pbp_alone_is_replayed_at_its_own_steps_and_nothing_without_a_method(
    explorer: ComparisonExplorer,
) -> None:
    explorer.preset("start").set(map=False, bbb=False, epochs=20)
    assert explorer._frames(explorer.result)[-1] == 20 * 33
    explorer.replay(0)
    assert explorer.status.startswith("Step 0 of 660: ")
    explorer.set(pbp=False)
    assert explorer._film._slider.disabled


def test_the_last_frame_of_repeated_rows_is_the_fit_in_every_number() -> None:
    """Laplace weighs them with their own noise, √r as loud, and predicts with that of a point."""
    for name in ("map", "laplace"):
        fit: Any = comparison_fits.fit(name, GapProblem(n=8), 10)
        whole = fit.predict(X[:, None], 50)
        for frame, same in ((0.3, False), (1.0, True)):
            told = comparison_fits.at_share(fit, frame).predict(X[:, None], 50)
            assert (told.mean == whole.mean).all() == same
            np.testing.assert_array_equal(told.aleatoric_std, whole.aleatoric_std)
        np.testing.assert_array_equal(told.epistemic_std, whole.epistemic_std)


def test_a_replay_says_of_each_method_what_it_is(explorer: ComparisonExplorer) -> None:
    explorer.preset("start").set(laplace=True, infinite=True)
    words = ("; Laplace round the weights so far", "; ∞ width as at the end")
    for step, there in ((15, True), (None, False)):
        explorer.replay(step) if step else explorer.replay()
        assert all((word in explorer.status) == there for word in words)


def test_a_fit_without_frames_stays_what_it_is() -> None:
    fit = SimpleNamespace(path=None)
    assert comparison_fits.at_share(fit, 0.3) is fit


def regions(gap: float) -> dict[str, Any]:
    """Where the data are, where they were left out, and what lies beyond: masks ``[m]``."""
    inside, beyond = np.abs(X - 0.25) < gap / 2 - 1e-6, np.abs(X) > 0.5 + 1e-6
    return {"data": ~inside & ~beyond, "gap": inside, "outside": beyond}


def coverage(prediction: Predictive, noise_std: float, mask: Any, sds: float = 0.0) -> float:
    """Chance that a new y falls within 1.96 sd of the mean, averaged over the region."""
    reach = (sds or norm.ppf(0.975)) * np.hypot(prediction.epistemic_std, prediction.aleatoric_std)
    ends = ((prediction.mean + sign * reach - TRUTH) / noise_std for sign in (1, -1))
    high, low = (norm.cdf(end)[mask] for end in ends)
    return float((high - low).mean()) if mask.any() else float("nan")


def distance(a: Predictive, b: Predictive, mask: Any) -> float:
    squared = (a.mean - b.mean) ** 2 + (a.epistemic_std - b.epistemic_std) ** 2
    return float(np.sqrt(squared[mask].mean())) if mask.any() else float("nan")


@every_picture_is_drawn
@pytest.mark.parametrize(
    "values",
    [
        {"mle": True, "pbp": False, "gap": 0.2, "seed": 4},
        {"gap": 0.0, "noise_std": 2.0, "local": True, "eb": True, "map": False},
    ],
)
def test_each_panel_holds_its_method_s_predictive_or_is_not_there(
    explorer: ComparisonExplorer, nuts: dict[str, Any], values: dict[str, Any]
) -> None:
    explorer.set(**{**START, **PRESETS["all methods"]})  # all panels have been filled before
    result = explorer.set(**{**START, **values}).result
    chosen = {name for name in METHODS if {**START, **values}[name]}
    assert set(result.predictions) == chosen
    state = explorer.state()
    half = state["gap"] / 2
    data = datasets.sinusoid(
        32, state["noise_std"], state["seed"], (0.25 - half, 0.25 + half) if half else None
    )
    for name in METHODS:
        ax = panel(explorer, LABELS[name])
        assert ax.get_visible() == (name in chosen)
        if name not in chosen:
            continue
        np.testing.assert_allclose(line(ax, "truth"), [X, TRUTH], atol=1e-12)
        np.testing.assert_array_equal(line(ax, "data"), [data.x[:, 0], data.y[:, 0]])
        words = [text.get_text() for text in ax.texts if "chosen" in text.get_text()]
        shown = [artist(ax, a) for a in ("mean", "±2 sd epistemic", "±2 sd total")]
        assert all(a.get_visible() for a in shown) and words == []
        assert not artist(ax, "NUTS mean").get_visible()
        (grey,) = (p for p in ax.patches if isinstance(p, Rectangle))
        inside = X[regions(state["gap"])["gap"]]
        ends = (inside[0], inside[-1]) if len(inside) else (0, 0)
        assert (grey.get_x(), grey.get_x() + grey.get_width()) == pytest.approx(ends)
        assert_holds(ax, result.predictions[name])
    assert_the_picture_is_not_stale(explorer)


def assert_holds(ax: Any, prediction: Predictive) -> None:
    np.testing.assert_allclose(line(ax, "mean"), [X, prediction.mean])
    total = np.hypot(prediction.epistemic_std, prediction.aleatoric_std)
    for name, std in (("epistemic", prediction.epistemic_std), ("total", total)):
        _, low, high = band(ax, f"±2 sd {name}")
        np.testing.assert_allclose([low, high], prediction.mean + np.array([[-2], [2]]) * std)


NAMED = {"±2 sd total", "±2 sd epistemic", "mean", "data"}
BANDS: list[tuple[dict[str, Any], set[str]]] = [
    ({}, {"truth"}),
    ({"conformal": True}, {"truth", "conformal"}),
    ({"nuts": True}, {"truth", "NUTS mean", "NUTS ±2 sd"}),
    ({"nuts": True, "conformal": True}, {"truth", "conformal", "NUTS mean", "NUTS ±2 sd"}),
    ({"data": ((1.0, 2.0, 4.0), (5.0, 3.0, 8.0))}, set()),
]


@pytest.mark.parametrize(("values", "more"), BANDS)
def test_the_legend_over_the_panels_names_what_is_drawn_and_is_not_cut(
    explorer: ComparisonExplorer, nuts: dict[str, Any], values: dict[str, Any], more: set[str]
) -> None:
    explorer.set(**{**START, **values})
    assert names_over_the_panels(explorer) == NAMED | more
    explorer.set(data=None)


@every_picture_is_drawn
@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_coverage_is_that_of_each_region_in_the_marks_and_in_the_words(
    explorer: ComparisonExplorer, nuts: dict[str, Any], gap: float
) -> None:
    values = {"gap": gap, "noise_std": 2.0, "seed": 3, "map": False, "eb": True, "nuts": True}
    result = explorer.set(**{**START, **values}).result
    shown = {**result.predictions, "nuts": nuts["gold"]}
    expected = {
        name: {region: coverage(p, 2.0, mask) for region, mask in regions(gap).items()}
        for name, p in shown.items()
    }
    assert set(shown) == {"bbb", "eb", "pbp", "nuts"} == set(result.coverage)
    for name, shares in expected.items():
        assert result.coverage[name] == pytest.approx(shares, nan_ok=True)
        assert f"{LABELS[name]} {percents(shares)}" in explorer.status
    ax = panel(explorer, "Inside the interval")
    rows = [tick.get_text() for tick in ax.get_yticklabels()]
    assert rows == [LABELS[name] for name in LABELS if name in shown]
    assert ax.get_ylim() == (len(rows) - 0.5, -0.5), "from top to bottom"
    words = {"data": "data", "gap": "gap", "outside": "outside"}
    for region, label in words.items():
        share, y = line(ax, label)
        np.testing.assert_array_equal(np.round(y), range(len(rows)))
        marked = {name: s for name, s in zip(rows, share / 100, strict=True)}
        wanted = {LABELS[name]: shares[region] for name, shares in expected.items()}
        assert marked == pytest.approx(wanted, nan_ok=True)
    heights = [line(ax, label)[1][0] for label in words.values()]
    assert heights == sorted(heights), "the three marks of a row in the order of the words"
    (dashed,) = (a for a in ax.lines if a.get_linestyle() == "--")
    assert set(dashed.get_xdata()) == {95}
    assert_the_picture_is_not_stale(explorer)


# Where the panels stand.


@pytest.mark.parametrize(("n", "rows", "columns"), [(1, 1, 1), (3, 1, 3), (5, 2, 3), (12, 3, 4)])
def test_the_chosen_methods_share_the_place_and_each_letter_is_in_the_picture(
    explorer: ComparisonExplorer, n: int, rows: int, columns: int
) -> None:
    names = list(METHODS)[:n]
    with RENDER_LOCK:
        explorer._stand(tuple(names), nuts=n == 12)
        explorer._canvas.redraw_background(arrange=True)
        explorer._canvas.fit(Place(911.0, 322.0))
        explorer._canvas.render()
        shown = [explorer._panels[name].axes for name in names]
        boxes = [ax.get_tightbbox() for ax in [*shown, explorer._coverage._ax]]
        whole = explorer._canvas.figure.bbox
        rights = [tick.get_text() for tick in explorer._coverage._ax.get_yticklabels()]
        labelled = [ax.get_xlabel() for ax in shown]
    corners = np.array([ax.get_position().p0 for ax in shown]).round(6)
    assert [len(set(corners[:, i])) for i in (1, 0)] == [rows, columns]
    assert not any(p.axes.get_visible() for m, p in explorer._panels.items() if m not in names)
    for box in boxes:
        assert box.x0 >= -1 and box.x1 <= whole.x1 + 1 and box.y0 >= -1 and box.y1 <= whole.y1 + 1
    ticks = explorer._coverage._ax.get_yticklabels()
    ends = [tick.get_window_extent() for tick in ticks]
    assert all(upper.y0 >= lower.y1 - 1 for upper, lower in itertools.pairwise(ends))
    assert rights == [LABELS[name] for name in names] + ["NUTS"] * (n == 12)
    assert labelled == [""] * (n - columns) + ["x"] * columns, "below which no other stands"
    for i, ax in enumerate(shown):
        first, last = i % columns == 0, i + columns >= n
        assert ax.get_ylabel() == ("y" if first else "")
        written = [any(t.get_visible() for t in a.get_ticklabels()) for a in (ax.yaxis, ax.xaxis)]
        assert written == [first, last], (i, "ticks are named at the edges of the grid")
    explorer.preset("start").set(seed=1)


@every_picture_is_drawn
def test_without_a_method_one_panel_says_that_it_is_not_chosen(
    explorer: ComparisonExplorer,
) -> None:
    explorer.preset("start").set(map=False, bbb=False, pbp=False)
    assert [name for name, p in explorer._panels.items() if p.axes.get_visible()] == ["mle"]
    assert "not chosen" in [text.get_text() for text in panel(explorer, "MLE").texts]
    assert_the_picture_is_not_stale(explorer)


def test_a_panel_that_is_not_shown_leaves_no_trace_over_those_that_are(
    explorer: ComparisonExplorer,
) -> None:
    alone = {**START, "bbb": False, "pbp": False}
    before = pixels(explorer.set(**alone))
    explorer.set(**{**START, "seed": 7})
    assert (pixels(explorer.set(**alone)) == before).all()


def test_a_method_of_chapter_8_is_fitted_to_the_problem_in_a_program_that_is_there(
    explorer: ComparisonExplorer,
) -> None:
    """Its doubt is its own: Laplace's and the ensemble's widen in the gap."""
    for name in FURTHER:
        comparison_fits.warm(name)
    explorer.set(**{**START, **dict.fromkeys(METHODS, False), **dict.fromkeys(FURTHER, True)})
    traces = trace_count()
    result = explorer.set(n=8, noise_std=2.0, gap=0.2, seed=4).result
    explorer.set(data=points.from_course(np.linspace(-0.5, 0.5, 37), np.zeros(37), points.COURSE))
    assert trace_count() == traces
    assert set(result.predictions) == set(FURTHER) and len(FURTHER) == 6
    for p in result.predictions.values():
        np.testing.assert_allclose(p.aleatoric_std, 2.0)
    explorer.preset("start")
    wide = explorer.set(**dict.fromkeys(("laplace", "ensemble"), True)).result
    for name in ("laplace", "ensemble"):
        sd = wide.predictions[name].epistemic_std
        assert sd[regions(0.3)["gap"]].mean() > 1.3 * sd[regions(0.3)["data"]].mean()


# Conformal bands.


def counted(prediction: Predictive, gap: float, noise_std: float, seed: int, level: float) -> float:
    """The score of that rank among 99 points of another seed, of 100 with the new one."""
    ends = (0.25 - gap / 2, 0.25 + gap / 2) if gap else None
    others = datasets.sinusoid(99, noise_std, seed + 10_000, gap=ends)
    x, y = others.x[:, 0], others.y[:, 0]
    off = np.abs(y - np.interp(x, X, prediction.mean))
    sd = np.hypot(prediction.epistemic_std, prediction.aleatoric_std)
    return float(np.sort(off / np.interp(x, X, sd))[round(100 * level) - 1])


@every_picture_is_drawn
@pytest.mark.parametrize(("level", "gap"), [(0.5, 0.0), (0.99, 0.3)])
def test_a_conformal_band_ends_at_the_score_of_its_rank_and_nothing_is_fitted(
    explorer: ComparisonExplorer,
    nuts: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    level: float,
    gap: float,
) -> None:
    values = {"gap": gap, "noise_std": 2.0, "seed": 3, "nuts": True}
    for name in explorer.set(**{**START, **values}).result.predictions:
        ax = panel(explorer, LABELS[name])
        assert not artist(ax, "conformal").get_visible()
    monkeypatch.setattr(comparison_fits, "fit", None)
    result = explorer.set(level=level, conformal=True).result
    shown = {**result.predictions, "nuts": nuts["gold"]}
    assert set(shown) == {"map", "bbb", "pbp", "nuts"}
    for name, p in shown.items():
        sds = counted(p, gap, 2.0, 3, level)
        by = {r: coverage(p, 2.0, mask, sds) for r, mask in regions(gap).items()}
        assert result.coverage[name] == pytest.approx(by, nan_ok=True)
        assert f"{LABELS[name]} {percents(by)}" in explorer.status
        if name != "nuts":
            drawn = [a.get_ydata() for a in panel(explorer, LABELS[name]).lines if is_end(a)]
            total = np.hypot(p.epistemic_std, p.aleatoric_std)
            np.testing.assert_allclose(drawn, p.mean + np.outer([-sds, sds], total))
    said = f"Conformal bands of {100 * level:.0f} %, counted on 99 other points, hold (data"
    assert said in explorer.status
    (dashed,) = (
        a for a in panel(explorer, "Inside the interval").lines if a.get_linestyle() == "--"
    )
    assert set(dashed.get_xdata()) == {100 * level}
    assert_the_picture_is_not_stale(explorer)


def is_end(drawn: Any) -> bool:
    """Whether this line is an end of the conformal band."""
    return bool(drawn.get_visible() and drawn.get_color() == plots.PURPLE)


def test_without_counting_the_level_moves_each_method_s_own_interval(
    explorer: ComparisonExplorer,
) -> None:
    result = explorer.set(**{**START, "level": 0.5}).result
    for name, p in result.predictions.items():
        by = {r: coverage(p, 1.0, m, norm.ppf(0.75)) for r, m in regions(0.3).items()}
        assert result.coverage[name] == pytest.approx(by, nan_ok=True)
    assert "32 points. 50 % intervals hold (data" in explorer.status


def test_the_points_kept_apart_are_like_the_data_and_share_no_noise_with_them() -> None:
    one, other = (GapProblem(noise_std=0.7, gap=0.2, seed=seed) for seed in (0, 1))
    apart = one.kept_apart
    assert apart is not None and len(apart.x) == 99 and apart.noise_std == 0.7
    assert not one.regions(apart.x[:, 0])["gap"].any() and np.abs(apart.x).max() <= 0.5
    noises = [(p.y - p.truth(p.x))[:9, 0] for p in (one.data, apart, other.kept_apart)]
    assert np.abs(np.diff([noises[i] for i in (0, 1, 2, 0)], axis=0)).min() > 1e-3


def test_of_a_table_no_points_are_kept_apart_and_of_points_by_hand_the_course_s(
    explorer: ComparisonExplorer,
) -> None:
    explorer.set(**{**START, "conformal": True}, data=((1.0, 2.0, 4.0), (5.0, 3.0, 8.0)))
    assert "Conformal" not in explorer.status
    assert not artist(panel(explorer, "BBB"), "conformal").get_visible()
    explorer.preset("conformal")._on_touch({"touch": "move", "i": 20, "x": 0.6, "y": 9.0})
    assert "Conformal bands of 95 %, counted on 99 other points" in explorer.wait().status
    explorer.preset("start")


def test_a_conformal_band_is_inside_the_frame_or_the_edge_says_that_it_leaves(
    explorer: ComparisonExplorer,
) -> None:
    for far, told in ((90.0, False), (600.0, True)):
        both = {
            name: Predictive(np.zeros(71), np.zeros(71), np.full(71, reach / 4))
            for name, reach in (("map", far), ("bbb", 4.0))
        }
        wide = comparison._result(GapProblem(), both, Interval(0.5))
        factors = {"map": 4.0, "bbb": 4.0}
        wide = replace(wide, factors=factors, interval=Interval(0.5, GapProblem().kept_apart))
        with RENDER_LOCK:
            explorer._draw(wide)
        ax = panel(explorer, "MAP")
        assert panel(explorer, "BBB").get_ylim() == ax.get_ylim()
        words = " ".join(text.get_text() for text in ax.texts)
        assert ("conformal leaves" in words) == told == (ax.get_ylim()[1] < far)
    explorer.preset("start").set(seed=1)


@pytest.mark.parametrize("widest", ["map", "bbb", "nuts"])
def test_all_panels_have_the_height_of_the_widest(
    explorer: ComparisonExplorer, widest: str
) -> None:
    reach = {name: 60.0 if name == widest else 5.0 for name in ("map", "bbb", "nuts")}
    wide = {n: Predictive(np.zeros(71), np.zeros(71), np.full(71, r / 2)) for n, r in reach.items()}
    nuts = wide.pop("nuts")
    with RENDER_LOCK:
        explorer._draw(comparison._result(GapProblem(), wide, Interval(0.95), nuts))
    heights = {panel(explorer, name).get_ylim()[1] for name in ("MAP", "BBB")}
    assert len(heights) == 1 and 60 <= heights.pop() < 120
    explorer.preset("start").set(seed=1)


def percents(shares: Mapping[str, float]) -> str:
    return "/".join("–" if np.isnan(s) else f"{100 * s:.0f}" for s in shares.values()) + "%"


def test_the_gap_to_nuts_is_measured_region_by_region(
    explorer: ComparisonExplorer, nuts: dict[str, Any]
) -> None:
    result = explorer.set(**{**START, "nuts": True}).result
    gold = nuts["gold"]
    for name in ("map", "bbb", "pbp"):
        expected = {
            region: distance(result.predictions[name], gold, mask)
            for region, mask in regions(0.3).items()
        }
        assert result.gap[name] == pytest.approx(expected)
        words = explorer.status.split("gap to NUTS: ")[1]
        numbers = said(words, f"{LABELS[name]} #/#/#")
        assert numbers == [as_printed(v, 1) for v in expected.values()]
    assert explorer.status.split(" · ")[0].endswith("R-hat is 1.01.")
    for name in ("map", "bbb", "pbp"):
        ax = panel(explorer, LABELS[name])
        np.testing.assert_allclose(line(ax, "NUTS mean"), [X, gold.mean])
    run = nuts["run"]
    assert run.sample.func is comparison_fits.sample and run.sample.args == (GapProblem(),)
    assert "NUTS" not in explorer.set(nuts=False).status.split("interval")[1]
    assert explorer.result.gap == {}


# Which have converged.


@pytest.mark.usefixtures("improved_at_rest")
def test_once_the_sliders_rest_the_status_says_which_methods_have_converged(
    explorer: ComparisonExplorer,
) -> None:
    explorer._fits.clear()
    chosen = {"bbb": True, "local": True, "eb": True}
    shown = explorer.set(**{**START, **chosen}).result
    assert [*shown.arrivals] == [*chosen], "MAP and PBP have no free energy to be lower"
    kept = {key[0]: one.fit for key, one in explorer._fits.items()}
    result = rested(explorer)
    words = explorer._describe(result)
    for name in chosen:
        assert result.arrivals[name].converged is kept[name].converged
    names = [LABELS[name] for name in chosen if kept[name].converged]
    assert f"Converged: {', '.join(names)}." in words
    assert result.predictions == shown.predictions, "the picture stays that of the fits"
    assert explorer.set(map=False).result.arrivals == result.arrivals, "found once, and kept"


def rested(explorer: ComparisonExplorer) -> ComparisonResult:
    """What is shown when nothing has moved for so long that nothing is left to find."""
    until(
        lambda: all(found.over for found in explorer.result.arrivals.values()),
        "the last of the longer runs",
    )
    return explorer.result


@pytest.mark.usefixtures("improved_at_rest")
def test_a_fit_that_a_longer_run_leaves_behind_is_named_with_the_nats(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    below = {"bbb": 34.4, "local": 3.0, "eb": 21.0}

    def fit(name: str, problem: GapProblem, epochs: int) -> Any:
        found = really(name, problem, epochs)
        if name in below:
            vars(found)["free_energy"] = 400.0
            vars(found)["longer"] = lambda k: SimpleNamespace(free_energy=400.0 - below[name])
        return found

    really = comparison_fits.fit
    monkeypatch.setattr(comparison_fits, "fit", fit)
    explorer._fits.clear()
    words = explorer._describe(explorer.set(**{**START, "local": True, "eb": True}).result)
    late = "Not converged, a longer run ends lower: BBB by 34, emp. Bayes by 21 nats."
    said = f"{words} {late} Converged: local, quiet."
    assert explorer._describe(rested(explorer)) == said
    explorer._fits.clear()


# What is fitted.


def test_the_regions_are_where_the_data_were_left_out() -> None:
    for gap in (0.0, 0.2, 0.4):
        mine, theirs = regions(gap), GapProblem(gap=gap).regions(X)
        assert all((mine[name] == theirs[name]).all() for name in mine)
        x = GapProblem(gap=gap).data.x
        assert np.diff(x[:, 0]).max() >= gap
        assert list(theirs) == ["data", "gap", "outside"]


def test_each_method_is_given_the_problem_and_its_own_prior(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = GapProblem(n=8, noise_std=0.7, gap=0.2, seed=5)
    given: dict[str, Any] = {}

    def remember(module: Any, name: str) -> None:
        @wraps(getattr(module, name))  # what it takes is read off it
        def fit(x: Any, y: Any, **values: Any) -> Any:
            given.clear()
            given.update(values, x=x, y=y)
            return FITTED

        monkeypatch.setattr(module, name, fit)

    for module in (point, bbb, local_reparam, empirical_bayes):
        remember(module, "fit")
    remember(exact, "nuts")
    own: dict[str, dict[str, Any]] = {
        "mle": {"prior": None},
        "map": {"prior": Gaussian(3.0)},
        "bbb": {"prior": Gaussian(3.0)},
        "local": {"prior": Gaussian(3.0), **local_reparam.QUIET},
        "eb": {"tie": "all", "estimator": "quiet", "learning_rate": 0.3},
    }
    for name, more in own.items():
        fitted = comparison_fits.fit(name, problem, 100)
        repeated = name in ("mle", "map")
        assert (given.pop("x") == np.repeat(problem.data.x, 4 if repeated else 1, axis=0)).all()
        assert (given.pop("y") == np.repeat(problem.data.y, 4 if repeated else 1, axis=0)).all()
        assert given.pop("noise_std") == pytest.approx(1.4 if repeated else 0.7)
        assert given.pop("capacity") == bbb.Capacity(64, (20,), 1)
        assert given == {"hidden_units": (20,), "seed": 5, **more}, name
        assert fitted.noise_std == (0.7 if repeated else FITTED.noise_std)
    gold = comparison_fits.sample(problem)
    assert given["prior"] == Gaussian(3.0) and given["noise_std"] == pytest.approx(1.4)
    assert (given["n_chains"], given["n_samples"]) == (4, 500)
    assert (given["n_warmup"], given["n_thin"]) == (300, 2)
    assert gold.noise_std == 0.7, "new points have the noise of the problem"


FITTED = point.Fit(np.zeros(1), None, 9.0, {})  # type: ignore[arg-type]


def test_pbp_is_given_as_many_passes_as_the_slider_says(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, at = GapProblem(n=8, seed=5), []
    given: dict[str, Any] = {}

    def trail(x: Any, y: Any, **values: Any) -> Any:
        given.update(values, x=x, y=y)
        fit = SimpleNamespace(state="there", scaling=None, history={})
        return SimpleNamespace(at=lambda steps: at.append(steps) or SimpleNamespace(fit=fit))

    monkeypatch.setattr(pbp_replay, "Trail", trail)
    assert comparison_fits.fit("pbp", problem, 20).state == "there"
    assert at == [20 * 9], "8 points and a refinement an epoch"
    assert (given.pop("x") == problem.data.x).all() and (given.pop("y") == problem.data.y).all()
    assert given == {"hidden_units": (20,), "seed": 5}


def test_a_predictive_is_of_two_hundred_draws_on_the_grid(explorer: ComparisonExplorer) -> None:
    result = explorer.set(**START).result
    assert (result.x_grid[:, 0] == X).all()
    assert result.predictions["bbb"].samples.shape == (200, 71)
    expected = comparison_fits.fit("bbb", GapProblem(), 100).predict(X[:, None], 200)
    np.testing.assert_array_equal(result.predictions["bbb"].samples, expected.samples)


# Presets, and the question.


@pytest.fixture(scope="module")
def compared() -> Callable[..., list[ComparisonResult]]:
    """Results of some methods for five seeds, each fitted once."""
    kept: dict[Any, ComparisonResult] = {}

    def compare(names: tuple[str, ...], epochs: int = 100, **problem: Any) -> Any:
        for seed in SEEDS:
            key = (names, epochs, seed, *problem.items())
            if key not in kept:
                one = GapProblem(seed=seed, **problem)
                fits = {n: comparison_fits.fit(n, one, epochs) for n in names}
                told = {n: fit.predict(X[:, None], 200) for n, fit in fits.items()}
                kept[key] = comparison._result(one, told)
        return [kept[names, epochs, seed, *problem.items()] for seed in SEEDS]

    return compare


Compared = Callable[..., list[ComparisonResult]]
THREE = ("map", "bbb", "pbp")


def test_presets_are_the_start_but_for_what_they_name(explorer: ComparisonExplorer) -> None:
    assert ComparisonExplorer.PRESETS.keys() == PRESETS.keys(), PRESET_RULE
    for name, (_, values) in ComparisonExplorer.PRESETS.items():
        assert values == {**START, **PRESETS[name]}, name
    assert_every_control_and_preset_is_on_the_page_once(explorer)
    assert_choosing_a_preset_sets_its_values_and_says_where_to_look(explorer)


def test_in_the_gap_all_six_fall_short(compared: Compared) -> None:
    results = compared(SIX)
    shares = np.array([[r.coverage[name]["gap"] for name in SIX] for r in results])
    assert (shares < 0.95).all()
    assert shares.mean(axis=0).max() < 0.7


def test_without_a_gap_map_holds_a_little_less_and_pbp_more(compared: Compared) -> None:
    for result in compared(THREE, gap=0.0):
        assert 0.8 < result.coverage["map"]["data"] < 0.95 < result.coverage["pbp"]["data"]


def test_conformal_bands_hold_95_among_the_data_and_fall_short_in_the_gap(
    compared: Compared,
) -> None:
    among, gap = [], []
    for seed, believed in enumerate(compared(THREE)):
        problem = GapProblem(seed=seed)
        interval = Interval(START["level"], problem.kept_apart)
        shares = comparison._result(problem, believed.predictions, interval).coverage
        among.append([shares[name]["data"] for name in THREE])
        gap.append([shares[name]["gap"] for name in THREE])
    assert np.mean(among, axis=0) == pytest.approx(0.95, abs=0.04)
    assert np.mean(gap, axis=0).max() < 0.85


def test_with_few_points_bbb_holds_fewer_among_the_data_than_map(compared: Compared) -> None:
    shares = [r.coverage for r in compared(("map", "bbb"), n=8)]
    behind = [share["map"]["data"] - share["bbb"]["data"] for share in shares]
    assert min(behind) > 0 and np.mean(behind) > 0.15


def test_loud_noise_takes_the_peak_from_all_three(compared: Compared) -> None:
    gap = regions(0.3)["gap"]
    for result in compared(THREE, noise_std=3.0):
        for name in THREE:
            assert (result.predictions[name].mean - TRUTH)[gap].mean() < -3
            assert result.coverage[name]["gap"] < 0.9


def test_after_few_epochs_pbp_believes_in_loud_noise_and_covers_by_being_vague(
    compared: Compared,
) -> None:
    for few, many in zip(compared(("pbp",), epochs=10), compared(("pbp",)), strict=True):
        noises = [r.predictions["pbp"].aleatoric_std.mean() for r in (few, many)]
        assert 2.4 < noises[0] < 4.2
        assert noises[0] > 1.3 * noises[1]
        assert few.coverage["pbp"]["data"] > 0.95
        assert few.predictions["pbp"].total_std.min() > many.predictions["pbp"].total_std.min()


def test_the_answer_is_what_a_gap_of_its_target_does(
    explorer: ComparisonExplorer, compared: Compared
) -> None:
    asked = ComparisonExplorer.QUESTION
    assert asked.control == "gap" and "32 points" in asked.text and "0.4" in asked.text
    target = explorer.set(**{**START, asked.control: 0.4}).result
    mask = regions(0.4)
    for result in [target, *compared(("bbb",), gap=0.4)]:
        share, prediction = result.coverage["bbb"]["gap"], result.predictions["bbb"]
        true = [0.9 < share < 0.97, share >= 0.97, share < 0.6]
        assert true == [choice == asked.choices[asked.answer] for choice in asked.choices]
        below = (prediction.mean - TRUTH)[mask["gap"]].mean()
        widths = [prediction.epistemic_std[mask[name]].mean() for name in ("gap", "data")]
        assert below < -3
        assert widths[0] < 2 * widths[1]


def test_closing_it_ends_nuts_and_the_explorer_itself() -> None:
    made = ComparisonExplorer(bbb=False, pbp=False)
    made.close()
    assert made._nuts._closed
    with pytest.raises(RuntimeError, match="was closed"):
        made.wait()
