"""Test the truth explorer: its picture, readings, search for the best fit, and sentences."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from explorer_claims import (
    artist,
    assert_nothing_is_cut_where_it_is_narrow,
    assert_reads,
    assert_the_picture_is_not_stale,
    band,
    every_picture_is_drawn,
    legend_labels,
    line,
    panel,
    set_to,
)
from matplotlib.patches import Rectangle
from waiting import successive

from bdl_teach import calibration, datasets, plots
from bdl_teach.methods import mcmc
from bdl_teach.problems import Problem, truth_search
from bdl_teach.problems.truth_search import TruthResult
from bdl_teach.widgets import TruthExplorer

EXPLORER = TruthExplorer
X = np.linspace(-0.7, 0.7, 71)
SINE = 10 * np.sin(2 * np.pi * X)
IN_GAP = np.abs(X - 0.25) < 0.15 - 1e-9
AMONG = (np.abs(X) < 0.5 + 1e-9) & ~IN_GAP
SETTINGS: list[dict[str, Any]] = [
    {},
    {"n": 8, "noise_std": 2.0, "seed": 4, "width": 5, "gap": 0.4, "starts": 3},
    {"gap": 0.0, "prior_std": 0.5, "n": 16},
]


def searched(explorer: TruthExplorer, rounds: int = 100) -> TruthResult:
    """Search for the best fit as the explorer does at rest, and show the result."""
    for _ in range(rounds):
        better = explorer._improve(explorer.state(), explorer.result)
        if better is None:
            break
        explorer._paint(better, explorer.state(), better=True)
        explorer._say_what_is_shown()
    assert explorer.result is not None
    return explorer.result


@every_picture_is_drawn
@set_to(SETTINGS)
def test_picture_and_readings_show_fit_data_truth_and_gap(explorer: TruthExplorer) -> None:
    p = explorer.result.prediction
    ax, fit = panel(explorer, "What each believes"), explorer.result.fit
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
    assert_reads(explorer, F=round(fit.history["free_energy"][-1]))
    assert "lowest" not in explorer.status and "Over the gap" not in explorer.status


@every_picture_is_drawn
def test_best_fit_and_posterior_are_drawn_beside_the_fit(
    explorer: TruthExplorer, nuts: dict[str, Any]
) -> None:
    explorer.set(nuts=True)
    ax, below = panel(explorer, "What each believes"), panel(explorer, "How sure each is")
    assert np.isnan(line(below, "best fit")[1]).all(), "the search has not begun"
    result, gold = searched(explorer), nuts["gold"]
    best = result.search.prediction
    np.testing.assert_allclose(line(ax, "best fit mean"), [X, best.mean])
    assert artist(ax, "best fit mean").get_visible()
    np.testing.assert_allclose(line(ax, "posterior mean"), [X, gold.mean])
    for name, p in {"fit": result.prediction, "best fit": best, plots.POSTERIOR: gold}.items():
        np.testing.assert_allclose(line(below, name), [X, p.epistemic_std])
    assert set(legend_labels(ax)) == {
        "fit ±2 sd epistemic", "fit mean", "best fit mean", "truth", "data", "posterior mean",
        "posterior ±2 sd",
    }  # fmt: skip
    assert_nothing_is_cut_where_it_is_narrow(explorer)
    assert_the_picture_is_not_stale(explorer)
    explorer.set(nuts=False)
    for name in (plots.POSTERIOR, "best fit"):
        assert np.isnan(line(below, name)[1]).all()
    assert "posterior mean" not in legend_labels(ax) and "best fit mean" not in legend_labels(ax)


@every_picture_is_drawn
def test_bars_and_readings_show_the_parts_of_the_gap(
    explorer: TruthExplorer, nuts: dict[str, Any]
) -> None:
    explorer.set(nuts=True, seed=1)
    result, gold = searched(explorer), nuts["gold"]
    best = result.search.prediction
    missed = np.maximum(np.abs(SINE - gold.mean) - 2 * gold.epistemic_std, 0)
    expected = {
        "optimisation": calibration.distance(result.prediction, best, IN_GAP),
        "family": calibration.distance(best, gold, IN_GAP),
        "prior": float(np.sqrt((missed[IN_GAP] ** 2).mean())),
    }
    ax = panel(explorer, "Parts of the gap")
    names = [tick.get_text() for tick in ax.get_yticklabels()]
    lengths = {names[round(b.get_y() + b.get_height() / 2)]: b.get_width() for b in ax.patches}
    words = {names[text.get_position()[1]]: text.get_text() for text in ax.texts}
    assert lengths == pytest.approx(expected)
    assert words == {name: f"{part:.2f}" for name, part in expected.items()}
    assert ax.get_xlim()[0] == 0 and max(lengths.values()) <= ax.get_xlim()[1]
    assert_the_picture_is_not_stale(explorer)

    whole = calibration.distance(result.prediction, gold, IN_GAP)
    assert whole <= expected["optimisation"] + expected["family"] + 1e-9
    assert_reads(explorer, whole=whole, prior_miss=expected.pop("prior"), **expected)
    read = explorer.readings()
    assert read["F"] == read["lowest"] + read["excess"] and read["excess"] >= 0
    assert read["lowest"] == round(result.search.best.history["free_energy"][-1])
    for name, p in (("fit", result.prediction), ("nuts", gold)):
        sds = {"gap": p.epistemic_std[IN_GAP].mean(), "data": p.epistemic_std[AMONG].mean()}
        assert_reads(explorer, **{f"{name}_{region}": sd for region, sd in sds.items()})
    assert explorer.status.startswith("refined: ") and "R-hat is 1.01." in explorer.status


def test_search_lowers_the_free_energy_and_ends(explorer: TruthExplorer) -> None:
    result = truth_search.refit(Problem(seed=2), 1)
    seen, quick = [truth_search.free_energy(result.search.best)], result
    for result in successive(truth_search.improve, quick):
        assert result.fit is quick.fit and result.prediction is quick.prediction
        seen.append(truth_search.free_energy(result.search.best))
    assert (np.diff(seen) <= 0).all() and seen[-1] < seen[0] - 1
    assert result.excess == seen[0] - seen[-1] and str(result.search) == "refined"
    longest = result.search.best.predict(X[:, None], 500)
    np.testing.assert_array_equal(result.search.prediction.samples, longest.samples)
    lagging = replace(result.search, gain=7.2, rounds=truth_search.MOST_ROUNDS)
    assert lagging.over and str(lagging) == "not converged, the last round gained 7 nats"


@every_picture_is_drawn
def test_band_of_the_posterior_follows_the_controls(
    explorer: TruthExplorer, chains_run: None
) -> None:
    explorer.set(nuts=True, prior_std=2.0, n=16).settle()
    result = explorer.result
    sampled = mcmc.hmc(**result.problem.given, n_samples=500, seed=3).predict(X[:, None])
    assert calibration.distance(result.nuts, sampled, AMONG) < 0.1
    assert calibration.distance(result.nuts, sampled, IN_GAP) < 0.5
    assert "4 × 800 draws: mixed (R-hat 1.0" in explorer.status and " · refit" in explorer.status
    before = explorer.png()
    assert explorer.set(noise_std=2.0).result.nuts is None
    explorer.set(noise_std=1.0)
    assert explorer.result.nuts is result.nuts and explorer.png() == before, (
        "the run was not cached"
    )


@pytest.mark.parametrize("seed", range(2))
def test_sentences_of_the_truth_explorer_agree_with_its_numbers(
    explorer: TruthExplorer, seed: int
) -> None:
    presets = {name: values for name, (_, values) in TruthExplorer.PRESETS.items()}

    def read(values: dict[str, Any], search: bool = True) -> TruthResult:
        state = {**explorer._whole(TruthExplorer.DEFAULTS), **values, "nuts": True, "seed": seed}
        best = explorer._compute(state)
        if search:
            *_, best = successive(truth_search.improve, best)
        return explorer._with_truth(best, explorer._chains.whole(explorer._problem(state)))

    def held(result: TruthResult) -> float:
        off = np.abs(SINE - result.nuts.mean)
        return float((off < 2 * result.nuts.epistemic_std)[IN_GAP].mean())

    opens = read(presets["the truth opens the gap"])
    sds = (p.epistemic_std[IN_GAP].mean() for p in (opens.search.prediction, opens.nuts))
    assert 2 * next(sds) < next(sds) and opens.parts["family"] > opens.parts["prior_miss"]
    misses = read(presets["the truth misses it too"])
    parts = misses.parts
    assert parts["prior_miss"] > max(2, parts["family"], parts["optimisation"])
    asked = TruthExplorer.QUESTION
    assert asked is not None and asked.choices[asked.answer] == "next to nothing"
    assert held(misses) < 0.2
    (mends,) = (m for m in TruthExplorer.MISSIONS if m.id == "truth-points-mend-the-prior")
    assert read(mends.way, search=False).parts["prior_miss"] < 2
