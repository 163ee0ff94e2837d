"""The rivals' explorer: its artists and its status hold its result, its presets keep word.

What its presets and its answer say of methods are claims over worlds; here they are looked at for
one seed, by moving the controls.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from explorer_claims import (
    artist,
    as_printed,
    assert_the_picture_is_not_stale,
    band,
    curves,
    every_picture_is_drawn,
    line,
    names_over_the_panels,
    panel,
    said,
)

from bdl_teach import calibration, datasets
from bdl_teach.predictive import Predictive
from bdl_teach.problems import Problem
from bdl_teach.problems import own_points as points
from bdl_teach.problems.live_fits import QUICK as METHODS
from bdl_teach.problems.live_fits import Options
from bdl_teach.widgets import RivalsExplorer
from bdl_teach.widgets._engine.nuts import GoldStandard, Run
from bdl_teach.widgets.rivals import fits
from bdl_teach.widgets.rivals.explorer import _DEFAULTS as START

X = np.linspace(-0.7, 0.7, 71)
SINE = 10 * np.sin(2 * np.pi * X)
PLACES = ("first", "second")
DATA = datasets.sinusoid(gap=(0.1, 0.4))


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
        data = result.problem.data
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
    assert nuts["run"].problem == Problem()


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


# What is fitted: the methods themselves, asked for in another way.


def shown(method: str, **options: Any) -> fits.Shown:
    return fits.fit(method, Problem(), Options(**options)).shown


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
    own = tuple(x), tuple(y), points.COURSE
    problem = Problem(noise_std=2.0, seed=3, own=own, scales=(1.5,), hidden_units=(3,))
    found = fits.fit(method, problem, options).shown
    np.testing.assert_allclose(found.prediction.aleatoric_std, 2.0)
    moved = {
        "noise": replace(problem, noise_std=1.0),
        "prior": replace(problem, scales=(1.0,)),
        "seed": replace(problem, seed=4),
        "width": replace(problem, hidden_units=(4,)),
    }
    for name, other in moved.items():
        again = fits.fit(method, other, options).shown.prediction
        same = np.allclose(again.mean, found.prediction.mean, rtol=1e-6, atol=1e-6)
        assert same == (name == "seed" and method == "infinite"), name
    if method == "low_rank":
        assert found.fit.columns.shape == (10, 10), "no more columns than weights"


def test_drawn_functions_have_the_spread_of_the_band() -> None:
    """Twenty of them: their sd is known to a sixth, and its mean over x better than to a third."""
    for method in ("laplace", "infinite"):
        found = shown(method)
        ratio = found.functions.std(axis=0, ddof=1) / found.prediction.epistemic_std
        assert 0.67 < ratio.mean() < 1.33, method


# How it moves.


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
