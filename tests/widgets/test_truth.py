"""The truth explorer: its artists hold its result, its numbers add up, its presets keep word.

What a preset or the answer says is looked at for twenty data seeds; where NUTS is part of it, as
a claim, and in a slow test for one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
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
    assert_every_preset_shows_another_picture_and_says_what_to_see,
    assert_nothing_is_cut_where_it_is_narrow,
    assert_the_picture_is_not_stale,
    assert_the_replay_leads_to_the_fit,
    band,
    curves,
    every_picture_is_drawn,
    legend_labels,
    line,
    panel,
    pixels,
    said,
)
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy.stats import norm
from waiting import successive, until

from bdl_teach import DivergedError, calibration, datasets, plots
from bdl_teach._support.compiled import trace_count
from bdl_teach.densities import Gaussian
from bdl_teach.methods import exact, local_reparam, point
from bdl_teach.predictive import Predictive
from bdl_teach.widgets import TruthExplorer
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from bdl_teach.widgets._engine.nuts import GoldStandard, Run
from bdl_teach.widgets.comparison.fits import ROOM, GapProblem
from bdl_teach.widgets.truth import fits as truth_fits
from bdl_teach.widgets.truth.fits import Model, TruthResult
from bdl_teach.widgets.truth.panels import PartsPanel

X = np.linspace(-0.7, 0.7, 71)
SINE = 10 * np.sin(2 * np.pi * X)
IN_GAP = np.abs(X - 0.25) < 0.15 - 1e-9
AMONG = (np.abs(X) < 0.5 + 1e-9) & ~IN_GAP
OUTSIDE = np.abs(X) > 0.5 + 1e-9
SEEDS = range(20)
START: dict[str, Any] = {
    "gap": 0.3,
    "prior_std": 3.0,
    "starts": 1,
    "width": 20,
    "noise_std": 1.0,
    "n": 32,
    "seed": 0,
    "prior_functions": False,
    "nuts": False,
}
MOVES: dict[str, Any] = {  # the starts while the prior is wide: there each ends elsewhere
    "starts": 8,
    "gap": 0.2,
    "prior_std": 1.0,
    "width": 7,
    "noise_std": 2.0,
    "n": 16,
    "seed": 3,
    "prior_functions": True,
}
PRESETS: dict[str, dict[str, Any]] = {  # where each leaves the start
    "start": {},
    "NUTS opens the gap": {"nuts": True},
    "NUTS misses it too": {"prior_std": 1.0, "nuts": True},
    "no gap": {"gap": 0.0, "nuts": True},
    "eight starts": {"prior_std": 1.0, "starts": 8},
    "before the data": {"prior_std": 0.5, "prior_functions": True},
}
SETTINGS: list[dict[str, Any]] = [
    {},
    {"n": 8, "noise_std": 2.0, "seed": 4, "width": 5, "gap": 0.4, "starts": 3},
    {"gap": 0.0, "prior_std": 0.5, "n": 16},
]


@pytest.fixture(scope="module")
def made() -> Iterator[TruthExplorer]:
    one = TruthExplorer().warm()
    yield one
    one.close()


@pytest.fixture
def explorer(made: TruthExplorer) -> TruthExplorer:
    """The explorer at its start."""
    return made.set(**START)


@pytest.fixture
def nuts(explorer: TruthExplorer, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A stand-in for NUTS; what it was asked for is kept under its arguments' names."""
    drawn = 0.6 * SINE + np.random.default_rng(7).normal(0, 1 + np.abs(X), (40, 71))
    gold = Predictive.from_samples(drawn, 1.0)
    asked: dict[str, Any] = {"gold": gold}

    def ask(wanted: bool, run: Run) -> GoldStandard:
        asked["run"] = run
        return GoldStandard(asked["gold"], "R-hat is 1.01.") if wanted else GoldStandard()

    monkeypatch.setattr(explorer._nuts, "ask", ask)
    return asked


# The replay


def test_the_replay_leads_from_the_start_to_the_fit(explorer: TruthExplorer) -> None:
    assert_the_replay_leads_to_the_fit(explorer.set(gap=0.25))


@pytest.mark.parametrize("frame", [0, 15])
def test_a_frame_shows_the_fit_then_and_its_parts_of_the_gap(
    explorer: TruthExplorer, nuts: dict[str, Any], frame: int
) -> None:
    explorer.set(nuts=True)
    whole = explorer.result
    explorer.result = truth_fits.beside_nuts(
        truth_fits.improve(whole), whole.nuts, whole.nuts_report
    )
    then, step = whole.fit.at(frame), whole.fit.path.steps[frame]
    told = then.predict(X[:, None], truth_fits.N_PREDICTIONS)
    best = explorer.result.search
    explorer.replay(step)
    ax = panel(explorer, "What each believes")
    np.testing.assert_array_equal(line(ax, "fit mean")[1], told.mean)
    np.testing.assert_array_equal(line(ax, "best fit mean")[1], best.prediction.mean)
    np.testing.assert_array_equal(line(panel(explorer, "How sure"), "fit")[1], told.epistemic_std)
    gap = whole.regions["gap"]
    off = calibration.distance(told, best.prediction, gap)
    assert said(explorer.status, "optimisation #, family") == [as_printed(off, 2)]
    f, lowest, excess = said(
        explorer.status, "free energy # nats = # (lowest found) + # (optimisation)"
    )
    assert f == as_printed(then.history["free_energy"][-1], 0) == lowest + excess
    assert then.history["step"][-1] == step


def searched(explorer: TruthExplorer, rounds: int = 100) -> TruthResult:
    """Search on as the explorer does while its sliders rest, and show where that led."""
    for _ in range(rounds):
        better = explorer._improve(explorer.state(), explorer.result)
        if better is None:
            break
        explorer._paint(better, explorer.state(), better=True)
        explorer._say_what_is_shown()
    assert explorer.result is not None
    return explorer.result


def outputs(weights: Any, width: int) -> Any:
    """Outputs ``[s, 71]`` of the one-layer network for flat weights ``[s, d]``, written out."""
    w1, b1, w2, b2 = np.split(weights, np.cumsum([width, width, width]), axis=1)
    hidden = np.maximum(w1[:, :, None] * X + b1[:, :, None], 0)  # [s, width, m]
    return (w2[:, None] @ hidden)[:, 0] + b2


def rms_distance(a: Predictive, b: Predictive, mask: Any = IN_GAP) -> float:
    squared = (a.mean - b.mean) ** 2 + (a.epistemic_std - b.epistemic_std) ** 2
    return float(np.sqrt(squared[mask].mean()))


# What the picture holds.


@every_picture_is_drawn
@pytest.mark.parametrize("values", SETTINGS)
def test_the_function_panel_holds_the_fit_the_data_the_truth_and_the_gap(
    explorer: TruthExplorer, values: dict[str, Any]
) -> None:
    p = explorer.set(**values).result.prediction
    ax = panel(explorer, "What each believes")
    np.testing.assert_allclose(line(ax, "fit mean"), [X, p.mean])
    _, low, high = band(ax, "fit ±2 sd epistemic")
    np.testing.assert_allclose([low, high], p.mean + np.array([[-2], [2]]) * p.epistemic_std)
    np.testing.assert_allclose(line(ax, "truth"), [X, SINE], atol=1e-12)
    state = explorer.state()
    half = state["gap"] / 2
    ends = (0.25 - half, 0.25 + half) if half else None
    data = datasets.sinusoid(state["n"], state["noise_std"], state["seed"], ends)
    np.testing.assert_array_equal(line(ax, "data"), [data.x[:, 0], data.y[:, 0]])
    assert not artist(ax, "best fit mean").get_visible()
    inside = X[np.abs(X - 0.25) < half - 1e-9]
    for one in (ax, panel(explorer, "How sure each is")):
        (grey,) = (patch for patch in one.patches if isinstance(patch, Rectangle))
        found = (grey.get_x(), grey.get_x() + grey.get_width())
        assert found == pytest.approx((inside[0], inside[-1]) if len(inside) else (0, 0))
    assert_the_picture_is_not_stale(explorer)


@every_picture_is_drawn
def test_best_fit_and_nuts_come_beside_with_their_spreads(
    explorer: TruthExplorer, nuts: dict[str, Any]
) -> None:
    explorer.set(nuts=True)
    ax, below = panel(explorer, "What each believes"), panel(explorer, "How sure each is")
    assert np.isnan(line(below, "best fit")[1]).all(), "nothing was searched yet"
    result, gold = searched(explorer), nuts["gold"]
    best = result.search.prediction
    np.testing.assert_allclose(line(ax, "best fit mean"), [X, best.mean])
    assert artist(ax, "best fit mean").get_visible()
    np.testing.assert_allclose(line(ax, "NUTS mean"), [X, gold.mean])
    for name, p in {"fit": result.prediction, "best fit": best, "NUTS": gold}.items():
        np.testing.assert_allclose(line(below, name), [X, p.epistemic_std])
    assert set(legend_labels(ax)) == {
        "fit ±2 sd epistemic", "fit mean", "best fit mean", "truth", "data", "NUTS mean",
        "NUTS ±2 sd epistemic",
    }  # fmt: skip
    assert_nothing_is_cut_where_it_is_narrow(explorer)
    assert_the_picture_is_not_stale(explorer)
    explorer.set(nuts=False)
    assert np.isnan(line(below, "NUTS")[1]).all() and np.isnan(line(below, "best fit")[1]).all()
    assert "NUTS mean" not in legend_labels(ax) and "best fit mean" not in legend_labels(ax)


def test_prior_functions_are_networks_drawn_from_this_prior(explorer: TruthExplorer) -> None:
    explorer.set(prior_std=0.7, width=6, seed=4, prior_functions=True)
    ax = panel(explorer, "What each believes")
    drawn = np.array([curve[:, 1] for curve in curves(ax, "10 prior functions")])
    expected = outputs(Gaussian(0.7).sample((10, 19), 4), 6)
    np.testing.assert_allclose(drawn, expected, rtol=1e-4, atol=1e-4)
    explorer.set(noise_std=2.0, n=8)
    again = [curve[:, 1] for curve in curves(ax, "10 prior functions")]
    np.testing.assert_array_equal(again, drawn, "they have seen no data")
    explorer.set(prior_functions=False)
    assert not artist(ax, "10 prior functions").get_visible()


def test_of_prior_functions_the_middle_nine_of_ten_at_each_x_have_room(
    explorer: TruthExplorer,
) -> None:
    """One that runs away does not make the others small; one peak of nine does need its place."""
    explorer.set(prior_std=3.0, width=20, seed=0, prior_functions=True)
    result, ax = explorer.result, panel(explorer, "What each believes")
    nine = np.linspace(-20.0, 20.0, 9)[:, None] * np.ones(len(X))
    one_higher = np.vstack([nine, np.full(len(X), 39.0)])
    peak = nine + 50.0 * np.sign(nine) * (np.abs(X - 0.2) < 0.03)
    for functions, top in ((one_higher, 24.0), (np.vstack([peak, 0 * X]), 80.0)):
        with RENDER_LOCK:
            explorer._draw(replace(result, prior_functions=functions))
        assert ax.get_ylim() == (-top, top)


def bars(explorer: TruthExplorer) -> dict[str, tuple[float, str]]:
    """Length and words of each bar by the name beside it."""
    ax = panel(explorer, "Parts of the gap")
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    lengths = [bar.get_width() for bar in ax.patches]
    places = [bar.get_y() + bar.get_height() / 2 for bar in ax.patches]
    np.testing.assert_allclose(places, range(3))
    assert [text.get_position()[1] for text in ax.texts] == [0, 1, 2]
    assert max(lengths) <= ax.get_xlim()[1] and ax.get_xlim()[0] == 0
    words = [text.get_text() for text in ax.texts]
    return dict(zip(names, zip(lengths, words, strict=True), strict=True))


@every_picture_is_drawn
def test_the_bars_are_the_parts_of_the_result(
    explorer: TruthExplorer, nuts: dict[str, Any]
) -> None:
    explorer.set(nuts=True, seed=1)
    result, gold = searched(explorer), nuts["gold"]
    best = result.search.prediction
    missed = np.maximum(np.abs(SINE - gold.mean) - 2 * gold.epistemic_std, 0)
    expected = {
        "optimisation": rms_distance(result.prediction, best),
        "family": rms_distance(best, gold),
        "prior": float(np.sqrt((missed[IN_GAP] ** 2).mean())),
    }
    assert (result.optimisation, result.family, result.prior_miss) == pytest.approx(
        tuple(expected.values())
    )
    assert result.whole == pytest.approx(rms_distance(result.prediction, gold))
    assert result.whole <= expected["optimisation"] + expected["family"] + 1e-9
    assert {name: length for name, (length, _) in bars(explorer).items()} == pytest.approx(expected)
    assert [words for _, words in bars(explorer).values()] == [
        f"{part:.2f}" for part in expected.values()
    ]
    assert_the_picture_is_not_stale(explorer)


@pytest.mark.parametrize("height", [0.3, 1.7])
def test_the_prior_s_bar_counts_on_either_side_of_the_truth(
    explorer: TruthExplorer, nuts: dict[str, Any], height: float
) -> None:
    """Where the truth lies in the band of NUTS it misses nothing."""
    nuts["gold"] = Predictive(height * SINE, np.full(len(X), 0.5), np.ones(len(X)), None)
    missed = np.maximum(0.7 * np.abs(SINE) - 1.0, 0.0)
    expected = np.sqrt((missed[IN_GAP] ** 2).mean())
    assert explorer.set(nuts=True).result.prior_miss == pytest.approx(expected) and expected > 1


def test_a_bar_that_is_not_known_says_why(explorer: TruthExplorer, nuts: dict[str, Any]) -> None:
    def words() -> list[str]:
        assert all(length == 0 for length, said in bars(explorer).values() if not said[0].isdigit())
        return [said for _, said in bars(explorer).values()]

    rest, without = "when the sliders have rested", "press NUTS"
    assert words() == [rest, without, without]
    result = explorer.set(nuts=True).result
    assert words() == [rest, rest, f"{result.prior_miss:.2f}"]
    explorer.set(nuts=False)
    searched(explorer, rounds=1)
    assert words()[1:] == [without, without] and float(words()[0]) >= 0
    explorer.set(gap=0.0, nuts=True)
    searched(explorer, rounds=1)
    assert words() == ["there is no gap"] * 3
    waiting = replace(explorer.set(gap=0.3, nuts=False).result, nuts_report="NUTS is running")
    explorer._paint(waiting, explorer.state())
    assert words() == [rest, "NUTS has not come yet", "NUTS has not come yet"]


# What is fitted.


def test_every_control_reaches_the_fit_under_its_own_name(monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[dict[str, Any]] = []
    original = local_reparam.fit

    def fit(x: Any, y: Any, **values: Any) -> Any:
        given.append({**values, "x": x, "y": y})
        return original(x, y, **values)

    monkeypatch.setattr(local_reparam, "fit", fit)
    result = truth_fits.refit(Model(GapProblem(16, 1.3, 0.2, 6), 2.0, 7), 3)
    data = datasets.sinusoid(16, 1.3, 6, (0.15, 0.35))
    assert sorted(one["seed"] for one in given) == [6, 10**6 + 6, 2 * 10**6 + 6]
    for one in given:
        assert (one.pop("x") == data.x).all() and (one.pop("y") == data.y).all()
        assert one.pop("capacity") == (32, (20,), 1, None)
        assert one.pop("seed") % 10**6 == 6
        assert one == {
            **local_reparam.QUIET, "prior": Gaussian(2.0), "noise_std": 1.3, "hidden_units": (7,),
            "steps": 500,
        }  # fmt: skip
    assert (result.fit.predict(X[:, None], 500).samples == result.prediction.samples).all()


def test_of_several_starts_the_lowest_free_energy_is_kept() -> None:
    model = Model(GapProblem(seed=2), 1.0)
    each = [model.fit(steps=500, seed=model.seed(k)) for k in range(4)]
    lowest = min(truth_fits.free_energy(fit) for fit in each)
    assert truth_fits.free_energy(truth_fits.refit(model, 4).fit) == lowest
    assert truth_fits.free_energy(truth_fits.refit(model, 1).fit) == truth_fits.free_energy(each[0])


def test_a_record_is_the_free_energy_itself() -> None:
    """Beside 4000 fresh draws, whose mean has a standard error of about a third of a nat."""
    fits = [truth_fits.refit(Model(GapProblem(seed=seed)), 1).fit for seed in range(6)]
    off = [truth_fits.free_energy(fit) - fit.cost(4000, 1 + k).total for k, fit in enumerate(fits)]
    assert np.abs(off).max() < 1.5
    assert abs(np.mean(off)) < 0.6


def test_each_start_of_the_search_goes_to_a_mode_of_its_own() -> None:
    model = Model(GapProblem(seed=1))
    modes = [truth_fits.mode(model, k) for k in (0, 1, 1)]
    np.testing.assert_array_equal(modes[1], modes[2])
    assert np.abs(modes[0] - modes[1]).max() > 0.5


@pytest.mark.parametrize("prior_std", [0.5, 3.0])
def test_the_cold_mean_field_is_at_a_mode(prior_std: float) -> None:
    """Its −log posterior is as low as that of the point estimate from the same number of starts."""
    model = Model(GapProblem(seed=1), prior_std)
    data = model.problem.data
    network = model.fit(steps=1)

    def cost(weights: Any) -> float:
        f = network.evaluate(weights[None], data.x)[0]
        return float(np.sum((data.y[:, 0] - f) ** 2) + np.sum((weights / prior_std) ** 2)) / 2

    points = [
        point.fit(data.x, data.y, prior=model.prior, hidden_units=(20,), seed=k).weights
        for k in range(3)
    ]
    colds = [truth_fits.mode(model, k) for k in range(3)]
    assert min(map(cost, colds)) < min(map(cost, points)) + 0.5


def test_the_search_only_ever_goes_down_and_comes_to_an_end(explorer: TruthExplorer) -> None:
    result = truth_fits.refit(Model(GapProblem(seed=2)), 1)
    seen, stages = [truth_fits.free_energy(result.search.best)], [str(result.search)]
    quick = result
    for result in successive(truth_fits.improve, quick):
        assert result.fit is quick.fit and result.prediction is quick.prediction
        seen.append(truth_fits.free_energy(result.search.best))
        stages.append(str(result.search))
    assert (np.diff(seen) <= 0).all() and seen[-1] < seen[0] - 1
    assert result.excess == seen[0] - seen[-1]
    assert stages[:3] == [
        "quick fit", "quick fit, 1 of 8 starts searched", "quick fit, 2 of 8 starts searched",
    ]  # fmt: skip
    assert stages[8] == "quick fit, the best start being trained on" and stages[-1] == "refined"
    longest = result.search.best.predict(X[:, None], 500)
    np.testing.assert_array_equal(result.search.prediction.samples, longest.samples)
    lagging = replace(result.search, gain=7.2, rounds=truth_fits.MOST_ROUNDS)
    assert lagging.over and str(lagging) == "not converged, the last round gained 7 nats"


@pytest.mark.usefixtures("improved_at_rest")
def test_while_the_sliders_rest_the_search_runs(made: TruthExplorer) -> None:
    made.set(**{**START, "seed": 9})
    assert made.result.search.tried == 0
    ends = ("refined: free energy", "not converged")
    until(lambda: made.status.startswith(ends), "the end of the search", seconds=180.0)
    assert made.result.search.over and made.result.search.tried == 8


def test_nuts_is_asked_for_the_posterior_of_the_sliders(
    explorer: TruthExplorer, nuts: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {"gap": 0.2, "prior_std": 2.0, "width": 4, "noise_std": 0.7, "n": 8, "seed": 5}
    explorer.set(**values, nuts=True)
    model = Model(GapProblem(8, 0.7, 0.2, 5), 2.0, 4)
    assert explorer.result.model == model
    run = nuts["run"]
    assert run.sample.func is truth_fits.sample and run.sample.args == (model,)
    explorer.set(starts=2, prior_functions=True)
    assert nuts["run"].key == run.key, "the true posterior does not know these"
    explorer.set(prior_std=1.0)
    assert nuts["run"].key != run.key
    given: dict[str, Any] = {}

    def remember(x: Any, y: Any, **values: Any) -> point.Fit:
        given.update(values, x=x, y=y)
        return point.Fit(np.zeros(1), None, 9.0, {})  # type: ignore[arg-type]

    monkeypatch.setattr(exact, "nuts", remember)
    report = lambda *_: None  # noqa: E731
    assert truth_fits.sample(model, report).noise_std == 0.7, "new points have the problem's noise"
    data = model.problem.data
    assert (given.pop("x") == np.repeat(data.x, 4, axis=0)).all()
    assert (given.pop("y") == np.repeat(data.y, 4, axis=0)).all()
    assert given.pop("noise_std") == pytest.approx(1.4)
    assert given.pop("n_chains") >= 4 and given.pop("n_samples") >= 1000
    assert given.pop("n_warmup") >= 1000
    assert given == {
        "prior": Gaussian(2.0), "hidden_units": (4,), "seed": 5, "progress": report,
    }  # fmt: skip


# What the status line says.


def test_the_status_says_the_numbers_of_the_result_and_they_add_up(
    explorer: TruthExplorer, nuts: dict[str, Any]
) -> None:
    for values in ({"seed": 2}, {"prior_std": 1.0, "noise_std": 2.0, "seed": 5}):
        explorer.set(**values)
        assert explorer.status.startswith("quick fit: free energy ")
        fit = explorer.result.fit
        (f,) = said(explorer.status, "quick fit: free energy # nats; epistemic sd")
        assert f == as_printed(fit.history["free_energy"][-1], 0)
        assert "lowest" not in explorer.status and "Over the gap" not in explorer.status
        result, gold = searched(explorer.set(nuts=True)), nuts["gold"]
        status = explorer.status
        f, lowest, nats = said(
            status, "refined: free energy # nats = # (lowest found) + # (optimisation); epistemic"
        )
        assert f == lowest + nats and nats >= 0
        assert lowest == as_printed(result.search.best.history["free_energy"][-1], 0)
        assert nats == pytest.approx(result.excess, abs=1)
        for name, p in (("fit", result.prediction), ("NUTS", gold)):
            gap, data = said(status, f"{name} # in the gap, # among the data")
            assert gap == as_printed(p.epistemic_std[IN_GAP].mean(), 2)
            assert data == as_printed(p.epistemic_std[AMONG].mean(), 2)
        parts = said(status, "optimisation #, family # (both at once #), prior #. R-hat is 1.01.")
        wanted = (result.optimisation, result.family, result.whole, result.prior_miss)
        assert parts == [as_printed(part, 2) for part in wanted]
        explorer.set(nuts=False)


def test_without_a_gap_the_status_says_so(explorer: TruthExplorer, nuts: dict[str, Any]) -> None:
    result = searched(explorer.set(gap=0.0, nuts=True), rounds=1)
    assert result.optimisation is result.family is result.prior_miss is result.whole is None
    (sd,) = said(explorer.status, "; no gap; epistemic sd #. R-hat")
    inside = np.abs(X) < 0.5 + 1e-9
    assert sd == as_printed(result.prediction.epistemic_std[inside].mean(), 2)


def test_the_picture_has_words_for_who_cannot_see_it(explorer: TruthExplorer) -> None:
    bundle = explorer._repr_mimebundle_()
    assert bundle["text/plain"].startswith(explorer.ALT) and "image/png" in bundle
    for word in ("optimisation", "family", "prior", "±2 sd", "NUTS", "gap"):
        assert word in explorer.ALT


# How it moves.


def test_every_control_moves_the_picture(explorer: TruthExplorer) -> None:
    assert_every_control_moves_the_picture(explorer, MOVES, frozenset({"nuts"}))


def test_the_state_rebuilds_the_explorer(
    made: TruthExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TruthExplorer, "_replace_the_one_before", lambda self: None)
    before = pixels(made.set(**MOVES))
    rebuilt = TruthExplorer(**made.state()).wait()
    assert rebuilt.state() == made.state()
    assert (pixels(rebuilt) == before).all()
    rebuilt.close()
    made.set(**START)
    assert (pixels(made) != before).any()
    assert (pixels(made.set(**MOVES)) == before).all(), "there and back is the same picture"


@every_picture_is_drawn
def test_limits_follow_what_is_shown(explorer: TruthExplorer, nuts: dict[str, Any]) -> None:
    for values in ({}, {"prior_std": 5.0, "n": 8, "gap": 0.4, "seed": 2}, {"nuts": True}):
        result = explorer.set(**values).result
        for p in filter(None, (result.prediction, result.nuts)):
            top = panel(explorer, "What each believes").get_ylim()[1]
            assert (np.abs(p.mean) + 2 * p.epistemic_std).max() <= top
            assert p.epistemic_std.max() <= panel(explorer, "How sure").get_ylim()[1]
        assert_the_picture_is_not_stale(explorer)


def test_no_value_of_any_control_traces_again(explorer: TruthExplorer) -> None:
    traces = trace_count()
    for name, values in {
        "gap": (0.0, 0.4), "prior_std": (0.3, 5.0), "starts": (2, 8), "width": (2, 19),
        "noise_std": (0.3, 3.0), "n": (8, 16), "seed": (99,), "prior_functions": (True,),
    }.items():  # fmt: skip
        for value in values:
            explorer.set(**{**START, name: value})
            searched(explorer, rounds=1)
    explorer.set(width=2, n=8, prior_functions=True)
    searched(explorer)
    assert trace_count() == traces


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"sigma_p": 1.0}, "sigma_p: expected one of the controls gap, prior_std"),
        ({"gap": 0.6}, r"gap: expected a value between 0 and 0\.4, got 0\.6"),
        ({"prior_std": 0.0}, r"prior_std: expected a value between 0\.3 and 5"),
        ({"starts": 9}, "starts: expected a value between 1 and 8"),
        ({"width": 1}, "width: expected a value between 2 and 20"),
        ({"n": 20}, "n: expected one of 8, 16, 32"),
        ({"noise_std": "loud"}, "noise_std:"),
        ({"nuts": 2}, "nuts: expected True or False"),
    ],
)
def test_values_out_of_range_are_refused_and_nothing_is_lost(
    explorer: TruthExplorer, values: dict[str, Any], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        explorer.set(**values)
    assert explorer.state() == START


def test_divergence_is_said_over_the_plot_and_the_next_tick_works(
    explorer: TruthExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = pixels(explorer)

    def diverge(*_: Any, **__: Any) -> Any:
        raise DivergedError(7, "lower the learning rate")

    with monkeypatch.context() as patch:
        patch.setattr(local_reparam, "fit", diverge)
        with pytest.raises(DivergedError):
            explorer.set(seed=50)
        assert "diverged by step 7" in explorer.status
    assert (pixels(explorer.set(seed=0)) == before).all()


# Presets, and the question.


def test_presets_are_the_start_but_for_what_they_name(
    explorer: TruthExplorer, nuts: dict[str, Any]
) -> None:
    assert TruthExplorer.PRESETS.keys() == PRESETS.keys(), PRESET_RULE
    for name, (_, values) in TruthExplorer.PRESETS.items():
        assert values == {**START, **PRESETS[name]}, name
    assert_every_control_and_preset_is_on_the_page_once(explorer)
    assert_choosing_a_preset_sets_its_values_and_says_where_to_look(explorer)
    assert_every_preset_shows_another_picture_and_says_what_to_see(explorer)


def found(model: Model, starts: int = 1) -> TruthResult:
    """What the explorer shows when it has rested."""
    *_, result = successive(truth_fits.improve, truth_fits.refit(model, starts))
    return result


def test_start_stays_narrower_in_the_gap_than_outside() -> None:
    for seed in SEEDS:
        result = found(Model(GapProblem(seed=seed)))
        for p in (result.prediction, result.search.prediction):
            assert p.epistemic_std[IN_GAP].mean() < 0.75 * p.epistemic_std[OUTSIDE].mean(), seed


def test_eight_starts_leave_the_search_a_few_nats_at_most() -> None:
    for seed in SEEDS:
        assert 0 <= found(Model(GapProblem(seed=seed), 1.0), starts=8).excess < 6, seed


def test_before_the_data_no_network_comes_near_the_peak() -> None:
    for seed in SEEDS:
        assert np.abs(outputs(Gaussian(0.5).sample((10, 61), seed), 20)).max() < 6, seed


def beside(seed: int, **changes: Any) -> TruthResult:
    """What the explorer shows with NUTS beside it."""
    prior_std = changes.pop("prior_std", 3.0)
    result = found(Model(GapProblem(seed=seed, **changes), prior_std))
    sampled = truth_fits.sample(result.model)
    return truth_fits.beside_nuts(result, sampled.predict(X[:, None]), sampled.report)


def held(result: TruthResult) -> float:
    """Share of the gap in which NUTS's ±2 sd band holds the sine."""
    gold = result.nuts
    assert gold is not None
    return float((np.abs(SINE - gold.mean) < 2 * gold.epistemic_std)[IN_GAP].mean())


def assert_nuts_misses_the_sine(result: TruthResult) -> None:
    """The sentence of its preset, and the answer to the question."""
    question = TruthExplorer.QUESTION
    assert question.control == "prior_std"
    assert question.choices[question.answer] == "next to nothing"
    assert held(result) < 0.1
    parts = (result.optimisation, result.family, result.prior_miss)
    assert result.prior_miss == max(part for part in parts if part is not None)


@pytest.mark.slow
def test_what_is_said_of_a_narrow_prior_beside_nuts_holds_for_a_seed() -> None:
    """Over twenty worlds and more, and for the wide prior, these are claims."""
    assert_nuts_misses_the_sine(beside(1, prior_std=1.0))


def test_a_curve_as_high_as_the_peak_is_improbable_under_the_narrow_prior() -> None:
    """What the answer gives as the reason: f(¼) under N(0, 1), from 20,000 networks."""
    drawn = outputs(Gaussian(1.0).sample((20_000, 61), 0), 20)[:, np.argmin(np.abs(X - 0.25))]
    assert (np.abs(drawn) > 9.5).mean() < 0.02
    wide = outputs(Gaussian(3.0).sample((2000, 61), 0), 20)[:, np.argmin(np.abs(X - 0.25))]
    assert (np.abs(wide) > 9.5).mean() > 0.5
    assert norm.sf(9.5 / drawn.std()) < 0.01


@pytest.mark.slow
@pytest.mark.usefixtures("improved_at_rest")
def test_nuts_comes_beside_and_is_kept(made: TruthExplorer) -> None:
    made.set(**{**START, "n": 8, "width": 2, "nuts": True})
    assert made.result.nuts is None and "NUTS is running" in made.status
    until(lambda: "largest R-hat" in made.wait().status, "NUTS", seconds=180.0)
    until(lambda: made.result.family, "what the family costs", seconds=180.0)
    assert made.result.family > 0 and made.result.nuts is not None
    assert made.set(nuts=False).result.nuts is None
    assert made.set(nuts=True).result.nuts is not None, "cached, shown at once"
    assert made.set(prior_std=1.0).result.nuts is None, "the gold standard of other values"
    made.set(**START)


def test_the_search_tries_each_start_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    result = truth_fits.refit(Model(), 1)

    def start(_model: Model, k: int) -> Any:
        asked.append(k)
        return result.fit, result.fit

    monkeypatch.setattr(truth_fits, "_from_start", start)
    for _ in range(truth_fits.N_STARTS):
        result = truth_fits.improve(result)
    assert asked == list(range(truth_fits.N_STARTS))


def fake(free_energy: float, **more: Any) -> Any:
    """A fit that says no more of itself than where it ended."""
    told = {"history": {"free_energy": np.array([999.0, free_energy])}, **more}
    return SimpleNamespace(**told, predict=lambda *_: f"that of {free_energy:g}")


@pytest.mark.parametrize("ends", [(90.0, 95.0), (95.0, 90.0), (110.0, 130.0)])
def test_a_start_counts_as_it_is_and_from_its_mode(
    monkeypatch: pytest.MonkeyPatch, ends: tuple[float, float]
) -> None:
    monkeypatch.setattr(truth_fits, "_from_start", lambda _, k: tuple(map(fake, ends)))
    quick = truth_fits.Search(fake(100.0), "that of 100")  # type: ignore[arg-type]
    result = TruthResult(Model(), {}, quick.best, quick.prediction, quick)
    search = truth_fits.improve(result).search  # type: ignore[union-attr]
    assert (search.tried, search.rounds) == (1, 0)
    assert truth_fits.free_energy(search.best) == min(100.0, *ends), "the lowest so far is kept"
    assert search.prediction == f"that of {min(100.0, *ends):g}"


@pytest.mark.parametrize(("end", "gain"), [(96.0, 4.0), (103.0, 0.0)])
def test_after_all_starts_the_best_is_trained_on(end: float, gain: float) -> None:
    best = fake(100.0, refined=lambda: fake(end))
    search = truth_fits.Search(best, "that of 100", tried=truth_fits.N_STARTS)  # type: ignore[arg-type]
    result = TruthResult(Model(), {}, fake(140.0), search.prediction, search)
    after = truth_fits.improve(result).search  # type: ignore[union-attr]
    assert (after.tried, after.rounds, after.gain) == (truth_fits.N_STARTS, 1, gain)
    assert after.prediction == f"that of {100 - gain:g}" and after.over is (gain < 1)


def test_the_search_is_over_when_a_round_gains_less_than_a_nat_or_after_five() -> None:
    def over(tried: int = 8, rounds: int = 1, gain: float = 7.2) -> bool:
        return truth_fits.Search(None, None, tried, rounds, gain).over  # type: ignore[arg-type]

    assert over(gain=0.9) and over(rounds=5)
    assert not (over(gain=1.0) or over(rounds=4) or over(tried=7, rounds=5, gain=0.0))


def test_a_start_goes_on_from_the_mode_that_it_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[dict[str, Any]] = []

    def fit(_self: Model, temperature: float = 1.0, **given: Any) -> Any:
        asked.append({"temperature": temperature, **given})
        return SimpleNamespace(mean="the mode")

    monkeypatch.setattr(Model, "fit", fit)
    model = Model(GapProblem(seed=4), 2.0)
    truth_fits._from_start(model, 3)
    plain, cold, again = asked
    alike = {"steps": 1500, "seed": 3 * 10**6 + 4}
    assert plain == {"temperature": 1.0, **alike}
    narrow = np.log1p(np.exp(cold.pop("initial_rho")))
    assert narrow == pytest.approx(0.1 * 2.0 * np.sqrt(1e-3)), "a tenth of the cold prior's sd"
    assert cold == {"temperature": 1e-3, **alike}
    assert again == {"temperature": 1.0, "initial": ("the mode", 0.1), **alike}


def test_at_a_temperature_noise_and_prior_have_the_root_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given: dict[str, Any] = {}
    monkeypatch.setattr(local_reparam, "fit", lambda x, y, **values: given.update(values))
    Model(GapProblem(noise_std=1.2), 2.0).fit(0.25)
    assert (given["prior"], given["noise_std"]) == (Gaussian(1.0), pytest.approx(0.6))


def test_a_table_has_a_room_of_its_own() -> None:
    def room(n: int) -> int:
        x = np.linspace(-0.5, 0.5, n)
        own = (tuple(x), tuple(x), (0.0, 1.0, 0.0, 1.0))
        return Model(GapProblem(own=own)).capacity.n

    assert (room(3), room(ROOM)) == (ROOM, ROOM)
    assert room(ROOM + 1) == room(200) == 200


def test_a_bar_s_figure_stands_inside_it_where_there_is_no_room_beside_it() -> None:
    ax = Figure().add_subplot()
    parts = PartsPanel(ax)
    given = {"optimisation": 1.9, "family": 0.5, "prior": "press NUTS"}
    assert not parts.update(given) and ax.get_xlim() == (0, 2)
    inside, beside, word = ax.texts
    assert (inside.get_ha(), inside.get_color()) == ("right", "white")
    assert inside.get_position()[0] < 1.9 and inside.get_text() == "1.90"
    for text, length in ((beside, 0.5), (word, 0.0)):
        assert (text.get_ha(), text.get_color()) == ("left", plots.BLACK)
        assert length < text.get_position()[0] < length + 0.2
    assert word.get_text() == "press NUTS" and ax.patches[2].get_width() == 0
    assert parts.update({**given, "family": 2.1}) and ax.get_xlim() == (0, 4)
    assert inside.get_ha() == "left", "there is room now"
    assert not parts.update({**given, "family": 2.2})
    assert parts.update(given) and ax.get_xlim() == (0, 2)


def test_the_panel_of_spreads_is_as_high_as_the_widest_of_them() -> None:
    ax, one = Figure().add_subplot(), np.ones(len(X))
    spreads = plots.SpreadPanel(ax, X[:, None], {"fit": ("-", "b"), "NUTS": ("--", "g")})
    fit, gold = (Predictive(one, sd * one, one) for sd in (0.5, 3.0))
    assert not spreads.update({"fit": fit, "NUTS": None}, IN_GAP) and ax.get_ylim() == (0, 1)
    assert spreads.update({"fit": fit, "NUTS": gold}, IN_GAP) and ax.get_ylim() == (0, 4)
    assert not spreads.update({"fit": gold, "NUTS": fit}, IN_GAP) and ax.get_ylim() == (0, 4)
    assert spreads.update({"fit": fit, "NUTS": None}, IN_GAP) and ax.get_ylim() == (0, 1)


def test_a_hand_s_points_and_its_drawing_are_in_the_panel_of_functions(
    explorer: TruthExplorer,
) -> None:
    own = ((-0.4, 0.0, 0.4), (1.0, 2.0, 3.0), (0.0, 1.0, 0.0, 1.0))
    result = explorer.set(data=own, noise_std=2.0).result
    np.testing.assert_array_equal(result.model.problem.data.x[:, 0], own[0])
    assert result.model.problem.data.noise_std == 2.0
    (touched,) = explorer._touched
    assert touched.axes is panel(explorer, "What each believes")
    x, doubt = explorer._doubt(result)
    np.testing.assert_array_equal([x, doubt], [X, result.prediction.epistemic_std])
    explorer.reset()


def test_where_the_gap_is_moved_the_points_are_drawn_anew(explorer: TruthExplorer) -> None:
    own = ((-0.4, 0.0, 0.4), (1.0, 2.0, 3.0), (0.0, 1.0, 0.0, 1.0))
    explorer.set(data=own)
    explorer.set(gap=0.25)
    assert "data" not in explorer.state() and len(explorer.result.model.problem.data.x) == 32
    explorer.set(data=own)
    explorer._controls["gap"].value = 0.5
    assert "data" not in explorer.wait().state()
