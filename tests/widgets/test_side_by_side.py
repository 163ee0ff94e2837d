"""Test the two explorers that show methods side by side."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from explorer_claims import (
    artist,
    assert_reads,
    assert_shows,
    assert_the_picture_is_not_stale,
    curves,
    every_picture_is_drawn,
    legend_labels,
    line,
    panel,
)
from scipy.stats import norm

from bdl_teach import calibration, datasets, plots
from bdl_teach.methods import local_reparam
from bdl_teach.predictive import Predictive
from bdl_teach.problems import Problem, live_fits
from bdl_teach.widgets import ComparisonExplorer, RivalsExplorer
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets.side_by_side import COMPARED as METHODS
from bdl_teach.widgets.side_by_side import LABELS, PAIRED, PLACES

X = np.linspace(-0.7, 0.7, 71)
TRUTH = 10 * np.sin(2 * np.pi * X)
SIX = ["mle", "map", "bbb", "local", "eb", "pbp"]
COMPARED, PAIR = ({**one.DEFAULTS, "nuts": False} for one in (ComparisonExplorer, RivalsExplorer))


@pytest.fixture(scope="module")
def comparison() -> Iterator[ComparisonExplorer]:
    made = ComparisonExplorer().wait()
    yield made
    made.close()


@pytest.fixture(scope="module")
def pair() -> Iterator[RivalsExplorer]:
    made = RivalsExplorer().wait()
    yield made
    made.close()


def regions(gap: float) -> dict[str, Any]:
    """Return masks ``[m]`` of X at the data, in the gap and outside."""
    inside, beyond = np.abs(X - 0.25) < gap / 2 - 1e-6, np.abs(X) > 0.5 + 1e-6
    return {"data": ~inside & ~beyond, "gap": inside, "outside": beyond}


def test_only_methods_with_changed_settings_are_refitted(
    comparison: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison.preset("all methods")
    comparison._worker.model._fits.clear()
    fitted: list[str] = []
    fit = live_fits.fit
    monkeypatch.setattr(live_fits, "fit", lambda *a, **o: fitted.append(a[0]) or fit(*a, **o))
    comparison.set(epochs=20)
    assert fitted == SIX, "cheapest first"
    fitted.clear()
    comparison.set(epochs=10)
    assert fitted == ["pbp"]
    comparison.set(map=False, epochs=20)
    comparison.set(map=True)
    assert fitted == ["pbp"], "both earlier fits were cached"


@every_picture_is_drawn
@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("comparison", {"mle": True, "pbp": False, "gap": 0.2, "seed": 4}),
        ("comparison", {"gap": 0.0, "noise_std": 2.0, "local": True, "eb": True, "map": False}),
        ("pair", {}),
        ("pair", {"first": "laplace", "second": "infinite", "gap": 0.0}),
    ],
)
def test_each_panel_shows_its_method_the_data_and_the_truth(
    request: pytest.FixtureRequest, nuts: dict[str, Any], kind: str, values: dict[str, Any]
) -> None:
    explorer: Explorer[Any] = request.getfixturevalue(kind)
    if kind == "comparison":
        explorer.preset("all methods")  # so that every panel has been filled before
    result = explorer.set(**{**explorer.DEFAULTS, "nuts": False, **values}).result
    state = explorer.state()
    half = state["gap"] / 2
    ends = (0.25 - half, 0.25 + half) if half else None
    data = datasets.sinusoid(32, state["noise_std"], state["seed"], ends)
    titles = LABELS if kind == "comparison" else {p: f"{p}: {PAIRED[state[p]]}" for p in PLACES}
    chosen = {name for name in METHODS if state.get(name)} or {*PLACES}
    assert set(result.methods) == chosen
    for place, title in titles.items():
        if place == "nuts":
            continue
        ax = panel(explorer, title)
        assert ax.get_visible() == (place in chosen)
        if place not in chosen:
            continue
        told = result.methods[place]
        p = told.prediction
        assert_shows(ax, p)
        if kind == "pair":
            drawn = [curve[:, 1] for curve in curves(ax, "functions")]
            np.testing.assert_array_equal(drawn, p.samples)
        np.testing.assert_allclose(line(ax, "true function"), [X, TRUTH], atol=1e-12)
        np.testing.assert_array_equal(line(ax, "data"), [data.x[:, 0], data.y[:, 0]])
        assert not artist(ax, "true posterior").get_visible()
        assert not any("chosen" in text.get_text() for text in ax.texts)
        (grey,) = ax.patches
        inside = X[regions(state["gap"])["gap"]]
        edges = (inside[0], inside[-1]) if len(inside) else (0, 0)
        assert (grey.get_x(), grey.get_x() + grey.get_width()) == pytest.approx(edges)
    assert_the_picture_is_not_stale(explorer)


def test_true_posterior_is_drawn_beside_each_method_with_its_distance(
    comparison: ComparisonExplorer, pair: RivalsExplorer, nuts: dict[str, Any]
) -> None:
    for explorer, start in ((comparison, COMPARED), (pair, PAIR)):
        result = explorer.set(**{**start, "nuts": True}).result
        gold = nuts["gold"]
        for name, p in result.predictions.items():
            off = {r: calibration.distance(p, gold, mask) for r, mask in regions(0.3).items()}
            assert_reads(explorer, **{f"{name}_off_{r}": far for r, far in off.items()})
            title = LABELS.get(name, name)
            np.testing.assert_allclose(
                line(panel(explorer, title), "true posterior"), [X, gold.mean]
            )
        assert "R-hat is 1.01." in explorer.status and nuts["problem"] == Problem()
    np.testing.assert_allclose(
        line(panel(pair, "How unsure"), plots.POSTERIOR)[1], gold.epistemic_std
    )
    assert {"true posterior", "true posterior ±2 sd"} <= {*legend_labels(panel(pair, "first"))}
    for explorer in (comparison, pair):
        assert "R-hat" not in explorer.set(nuts=False).status
        assert not any("_off_" in name for name in explorer.readings())


def test_both_panels_have_the_units_of_a_table(pair: RivalsExplorer) -> None:
    x = np.linspace(100.0, 300.0, 12)
    pair.set(**{**PAIR, "data": (x, 40 * np.sin(x / 30))}).png()
    for title in (*PLACES, "How unsure, by x"):
        ticks = [tick.get_text() for tick in panel(pair, title).get_xticklabels()]
        assert "200" in ticks, title
    assert "true function" not in legend_labels(panel(pair, "first"))
    pair.set(data=None)


def test_sentence_names_the_methods_that_hold_least_and_most_in_the_gap(
    comparison: ComparisonExplorer,
) -> None:
    comparison.set(**COMPARED)
    held = {name: comparison.readings()[f"{name}_gap"] for name in ("map", "bbb", "pbp")}
    few, many = (f"{held[n]:.0f} % ({LABELS[n]})" for n in (min(held, key=held.__getitem__), "pbp"))
    assert f"In the gap the 95 % intervals hold {few} to {many} of new points." in comparison.status
    assert "Among the data " in comparison.set(gap=0.0).status
    comparison.set(**dict.fromkeys(held, False), show="spread")
    assert "No method is chosen." in comparison.status


def coverage(prediction: Predictive, mask: Any, sds: float) -> float:
    """Return the probability in percent, averaged over a region, of a new y within ``sds`` sds."""
    reach = sds * prediction.total_std
    ends = ((prediction.mean + sign * reach - TRUTH) / 2.0 for sign in (1, -1))
    high, low = (norm.cdf(end)[mask] for end in ends)
    return float(100 * (high - low).mean()) if mask.any() else float("nan")


def conformal(prediction: Predictive, gap: float, level: float) -> float:
    """Return the conformal half-width in sds, from 99 calibration points of another seed."""
    ends = (0.25 - gap / 2, 0.25 + gap / 2) if gap else None
    others = datasets.sinusoid(99, 2.0, 3 + 10_000, gap=ends)
    x, y = others.x[:, 0], others.y[:, 0]
    off = np.abs(y - np.interp(x, X, prediction.mean))
    score = np.sort(off / np.interp(x, X, prediction.total_std))
    return float(score[round(100 * level) - 1])


@every_picture_is_drawn
@pytest.mark.parametrize(("level", "gap"), [(0.5, 0.0), (0.99, 0.3)])
def test_coverage_by_region_is_right_and_conformal_bands_need_no_refit(
    comparison: ComparisonExplorer,
    nuts: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    level: float,
    gap: float,
) -> None:
    values = {"gap": gap, "noise_std": 2.0, "seed": 3, "map": False, "eb": True, "nuts": True}
    comparison.set(**{**COMPARED, **values})
    monkeypatch.setattr(live_fits, "fit", None)
    for counted in (False, True):
        result = comparison.set(level=level, conformal=counted).result
        shown = {**result.predictions, "nuts": nuts["gold"]}
        assert set(shown) == {"bbb", "eb", "pbp", "nuts"}
        held: dict[str, dict[str, float]] = {}
        for name, p in shown.items():
            sds = conformal(p, gap, level) if counted else norm.ppf(0.5 + level / 2)
            held[name] = {r: coverage(p, mask, sds) for r, mask in regions(gap).items()}
            found = {r: comparison.readings()[f"{name}_{r}"] for r in held[name]}
            assert found == pytest.approx(held[name], nan_ok=True)
            if name == "nuts":
                continue
            ends = [
                a.get_ydata()
                for a in panel(comparison, LABELS[name]).lines
                if a.get_visible() and a.get_color() == plots.PURPLE
            ]
            assert bool(ends) == counted
            if counted:
                edges = p.mean + np.outer([-sds, sds], p.total_std)
                np.testing.assert_allclose(ends, edges)
        ax = panel(comparison, "New points held")
        rows = [tick.get_text() for tick in ax.get_yticklabels()]
        assert rows == [LABELS[name] for name in LABELS if name in shown]
        for region in regions(gap):
            share, y = line(ax, region)
            marked = {rows[round(at)]: s for s, at in zip(share, y, strict=True)}
            wanted = {LABELS[name]: by[region] for name, by in held.items()}
            assert marked == pytest.approx(wanted, nan_ok=True)
        dashed = [a for a in ax.lines if a.get_linestyle() == "--"]
        assert set(dashed[0].get_xdata()) == {100 * level}
        assert ("conformal bands" in comparison.status) == counted
        assert_the_picture_is_not_stale(comparison)


@pytest.mark.slow
def test_at_rest_mean_field_is_the_lowest_and_sghmc_shows_all_its_steps_at_once(
    comparison: ComparisonExplorer,
    pair: RivalsExplorer,
    improved_at_rest: None,
    chains_run: None,
) -> None:
    for explorer, name, values in (
        (comparison, "local", {**COMPARED, "mle": True, "local": True, "map": False}),
        (pair, "first", {**PAIR, "first": "local", "second": "sgmcmc"}),
    ):
        drawn: list[Any] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                explorer._worker.model, "draw", lambda result, drawn=drawn: drawn.append(result)
            )
            explorer.set(data=None, **values).settle()
        shown = (r.methods[name].fit for r in drawn if name in r.methods)
        quick, lowest = {id(fit): fit for fit in shown}.values()
        problem = explorer.result.problem
        known = local_reparam.fit(**problem.given, seed=problem.seed, **local_reparam.LOWEST)
        assert lowest.free_energy == pytest.approx(known.free_energy, abs=1e-6)
        assert lowest.free_energy < quick.free_energy
        assert "Mean field: the lowest F of 32 starts, which " in explorer.status
    assert "F still falls: BBB." in comparison.status, "a longer run ends lower"
    steps = [result.methods["second"].fit.history["step"][-1] for result in drawn]
    assert sorted(set(steps)) == [300, 6300]
    first, last = (drawn[i].methods["second"].prediction.mean for i in (0, -1))
    assert not np.allclose(first, last), "the picture is that of all steps"
    assert explorer.set(gap=0.3).result.methods["first"].fit is lowest, "a cached fit"


def test_status_says_which_fits_miss_points_that_are_not_scaled(pair: RivalsExplorer) -> None:
    years = np.arange(1990.0, 2022.0)
    raw = (tuple(years), tuple(350 + 2 * (years - 1990)), (0.0, 1.0, 0.0, 1.0))
    pair.set(first="ensemble", second="local", data=raw).wait()
    assert "ensemble (misses points that are not scaled)" in pair.status
    pair.set(data=raw[:2]).wait()  # the explorer chooses the units
    assert "not scaled" not in pair.status
    pair.set(**PAIR, data=None)


def test_states_with_earlier_names_of_methods_open(pair: RivalsExplorer) -> None:
    pair.set(first="mean_field", second="sghmc")
    assert (pair.state()["first"], pair.state()["second"]) == ("local", "sgmcmc")
    with pytest.raises(ValueError, match="first: expected one of .*, got 'nonsense'"):
        pair.set(first="nonsense")
