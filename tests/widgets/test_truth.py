"""Test the truth explorer: its picture, readings, search for the best fit, and sentences."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from explorer_claims import (
    assert_reads,
    assert_the_picture_is_not_stale,
    band,
    every_picture_is_drawn,
    legend_labels,
    line,
    panel,
    set_to,
)
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from waiting import successive

from bdl_teach import calibration, datasets, plots
from bdl_teach.methods import local_reparam, mcmc
from bdl_teach.problems import Problem
from bdl_teach.widgets import TruthExplorer, truth_search
from bdl_teach.widgets.parts import EDGE, PartsPanel
from bdl_teach.widgets.truth_search import MOST_ROUNDS, Search, TruthResult

EXPLORER = TruthExplorer
X = np.linspace(-0.7, 0.7, 71)
SINE = 10 * np.sin(2 * np.pi * X)
IN_GAP = np.abs(X - 0.25) < 0.15 - 1e-9
AMONG = (np.abs(X) < 0.5 + 1e-9) & ~IN_GAP
SETTINGS: list[dict[str, Any]] = [
    {},
    {"n": 8, "noise_std": 2.0, "seed": 4, "width": 5, "gap": 0.4},
    {"gap": 0.0, "prior_std": 0.5, "n": 16},
]


@every_picture_is_drawn
@set_to(SETTINGS)
def test_picture_and_readings_show_the_fit_the_data_and_the_gap(explorer: TruthExplorer) -> None:
    p = explorer.result.prediction
    ax, fit = panel(explorer, "What each believes"), explorer.result.fit
    np.testing.assert_allclose(line(ax, "mean"), [X, p.mean])
    _, low, high = band(ax, "±2 sd epistemic")
    np.testing.assert_allclose([low, high], p.mean + np.array([[-2], [2]]) * p.epistemic_std)
    np.testing.assert_allclose(line(ax, "true function"), [X, SINE], atol=1e-12)
    state = explorer.state()
    half = state["gap"] / 2
    ends = (0.25 - half, 0.25 + half) if half else None
    data = datasets.sinusoid(state["n"], state["noise_std"], state["seed"], ends)
    np.testing.assert_array_equal(line(ax, "data"), [data.x[:, 0], data.y[:, 0]])
    assert np.isnan(line(ax, "quick fit")[1]).all(), "nothing was searched yet"
    inside = X[np.abs(X - 0.25) < half - 1e-9]
    for one in (ax, panel(explorer, "How unsure")):
        (grey,) = (patch for patch in one.patches if isinstance(patch, Rectangle))
        found = (grey.get_x(), grey.get_x() + grey.get_width())
        assert found == pytest.approx((inside[0], inside[-1]) if len(inside) else (0, 0))
    assert_the_picture_is_not_stale(explorer)
    assert_reads(explorer, F=fit.history["free_energy"][-1])
    assert explorer.status.startswith("A quick fit; the lowest follows. ")


@every_picture_is_drawn
def test_lowest_fit_replaces_the_quick_one_in_all_panels(
    explorer: TruthExplorer, nuts: dict[str, Any]
) -> None:
    quick = explorer.set(nuts=True, seed=1).result
    ax, below = panel(explorer, "What each believes"), panel(explorer, "How unsure")
    worker, better = explorer._worker, truth_search.improve(quick)
    worker.send("found", version=worker.session.version, better=better, pinned=None)
    explorer.wait()
    result, gold = explorer.result, nuts["gold"]
    lowest = fit_lowest(quick.problem)
    gained = quick.fit.free_energy - lowest.free_energy
    assert gained > 1 and result.fit.free_energy == pytest.approx(lowest.free_energy, abs=1e-9)
    agree = (lowest.starts_free_energy < lowest.free_energy + 0.5).sum()
    assert explorer.status.startswith(f"The lowest F of 16 starts, which {agree} reach. ")
    assert "R-hat is 1.01." in explorer.status

    best = result.prediction
    np.testing.assert_array_equal(best.samples, lowest.predict(X[:, None], 500).samples)
    np.testing.assert_allclose(line(ax, "mean"), [X, best.mean])
    np.testing.assert_allclose(line(ax, "quick fit"), [X, quick.prediction.mean])
    np.testing.assert_allclose(line(ax, "true posterior"), [X, gold.mean])
    for name, p in {"fit": best, plots.POSTERIOR: gold}.items():
        np.testing.assert_allclose(line(below, name), [X, p.epistemic_std])
    assert {"quick fit", "true posterior", "true posterior ±2 sd"} <= set(legend_labels(ax))

    missed = np.maximum(np.abs(SINE - gold.mean) - 2 * gold.epistemic_std, 0)
    expected = {
        "optimisation": calibration.distance(quick.prediction, best, IN_GAP),
        "family": calibration.distance(best, gold, IN_GAP),
        "prior": float(np.sqrt((missed[IN_GAP] ** 2).mean())),
    }
    bars = panel(explorer, "Whose distance")
    names = [tick.get_text() for tick in bars.get_yticklabels()]
    lengths = {names[round(b.get_y() + b.get_height() / 2)]: b.get_width() for b in bars.patches}
    words = {names[text.get_position()[1]]: text.get_text() for text in bars.texts}
    assert lengths == pytest.approx(expected)
    assert words == {name: f"{part:.2f}" for name, part in expected.items()}
    assert bars.get_xlim()[0] == 0 and max(lengths.values()) <= bars.get_xlim()[1]
    assert_the_picture_is_not_stale(explorer)

    whole = calibration.distance(quick.prediction, gold, IN_GAP)
    assert_reads(explorer, whole=whole, prior_miss=expected.pop("prior"), **expected)
    assert_reads(explorer, F=lowest.free_energy, excess=gained)
    for name, p in (("fit", best), ("nuts", gold)):
        sds = {"gap": p.epistemic_std[IN_GAP].mean(), "data": p.epistemic_std[AMONG].mean()}
        assert_reads(explorer, **{f"{name}_{region}": sd for region, sd in sds.items()})

    explorer.set(nuts=False)
    below = panel(explorer, "How unsure")
    assert np.isnan(line(below, plots.POSTERIOR)[1]).all()
    assert "true posterior" not in legend_labels(ax)
    explorer.set(seed=2)
    assert np.isnan(line(ax, "quick fit")[1]).all()


def test_error_is_split_from_the_first_quick_fit_however_often_f_falls(
    explorer: TruthExplorer,
) -> None:
    quick = explorer.result
    first, second = quick.fit.at(3), quick.fit.at(5)
    ends = replace(quick.search, fit=second)
    found: Any = quick
    for search in (replace(quick.search, fit=first), ends):
        step: Any = SimpleNamespace(improved=lambda search=search: search)
        found = truth_search.improve(replace(found, search=step))
    assert found.fit is second and found.quick is quick.prediction


def fit_lowest(problem: Problem) -> Any:
    given = {**problem.given, "seed": problem.seed}
    return local_reparam.fit(**given, **local_reparam.LOWEST)


def test_search_shows_one_further_fit_at_most_and_says_if_f_still_falls() -> None:
    steps = list(successive(lambda s: s.improved(), Search(Problem(noise_std=0.3), Quick())))
    assert [step.trained for step in steps] == [True] + [False] * (len(steps) - 2) + [True]
    found, *_, last = steps
    assert found.fit is found.further and last.rounds == len(steps) - 1 >= 2
    changed = last.fit is not found.fit
    assert changed == (found.fit.free_energy - last.further.free_energy >= 0.5)
    assert found.excess == Quick.free_energy - found.fit.free_energy
    assert last.excess == pytest.approx(Quick.free_energy - last.fit.free_energy)
    assert last.over and "F still falls" not in str(last)
    falls = replace(last, rounds=MOST_ROUNDS, further=replace(last.further, gain=0.6))
    assert str(falls).endswith("; F still falls") and falls.improved() is None


class Quick:
    """A quick fit."""

    free_energy = 1000.0


@pytest.mark.slow
def test_lowest_fit_is_shown_once_while_no_control_moves(
    explorer: TruthExplorer,
    improved_at_rest: None,
    chains_run: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    shown: list[TruthResult] = []
    model, draw = explorer._worker.model, explorer._worker.model.draw
    monkeypatch.setattr(model, "draw", lambda result: (shown.append(result), draw(result)))
    explorer.set(seed=3).settle()
    assert explorer.result.search.over
    pictures = {id(result.prediction): result.trained for result in shown}
    assert list(pictures.values()) == [False, True], "the quick fit, then the lowest"
    assert explorer.status.startswith("The lowest F of 32 starts")


def test_controls_that_are_gone_are_left_out_with_a_sentence(explorer: TruthExplorer) -> None:
    explorer.set(starts=8, prior_std=1.0)
    assert explorer.state()["prior_std"] == 1.0 and "starts" not in explorer.state()
    assert "“starts” is no longer a control" in explorer.status
    assert "no longer" not in explorer.set(prior_std=2.0).status
    with pytest.raises(ValueError, match="ends"):
        explorer.set(ends=8)


def test_error_axis_shrinks_only_once_all_parts_of_the_error_are_known() -> None:
    names = ("optimisation", "family", "prior_miss")
    rows = [(name, name, "black") for name in names]
    bars, limits = PartsPanel(Figure().add_subplot(), "", "", rows), []
    for prior, known in ((7.0, 4), (0.5, 1), (0.5, 4)):
        parts = {"optimisation": 0.5, "family": 0.5, "prior_miss": prior, "whole": 0.8}
        bars.update(dict(list(parts.items())[:known]), lambda name: "unknown")
        limits.append(bars._ax.get_xlim()[1])
    assert limits == pytest.approx([8 * EDGE, 8 * EDGE, 2 * EDGE])


@every_picture_is_drawn
def test_band_of_the_posterior_follows_the_controls(
    explorer: TruthExplorer, chains_run: None
) -> None:
    explorer.set(nuts=True, prior_std=2.0, n=16).settle()
    result = explorer.result
    sampled = mcmc.hmc(**result.problem.given, n_samples=500, seed=3).predict(X[:, None])
    assert calibration.distance(result.nuts, sampled, AMONG) < 0.1
    assert calibration.distance(result.nuts, sampled, IN_GAP) < 0.5
    assert "4 × 800 draws: mixed (R-hat 1.0" in explorer.status
    before = explorer.png()
    for other in ({"n": 8}, {"noise_std": 2.0}):
        assert explorer.set(**other).result.nuts is None, "the band is that of another problem"
        explorer.set(noise_std=1.0, n=16)
    assert explorer.result.nuts is result.nuts and explorer.png() == before, (
        "the run was not cached"
    )
