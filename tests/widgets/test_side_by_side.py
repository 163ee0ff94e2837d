"""Methods side by side, in both layouts: the picture and the status line hold the result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
from scipy.stats import norm

from bdl_teach import calibration, datasets, plots
from bdl_teach.predictive import Predictive
from bdl_teach.problems import Problem, live_fits
from bdl_teach.problems.live_fits import QUICK
from bdl_teach.widgets import ComparisonExplorer, RivalsExplorer
from bdl_teach.widgets._engine.beside_truth import GoldStandard
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets.comparison import LABELS, METHODS

X = np.linspace(-0.7, 0.7, 71)
TRUTH = 10 * np.sin(2 * np.pi * X)
SIX = ["mle", "map", "bbb", "local", "eb", "pbp"]
PLACES = ("first", "second")
SEEDS = range(3)
COMPARED, PAIR = ({**one.DEFAULTS, "nuts": False} for one in (ComparisonExplorer, RivalsExplorer))


@pytest.fixture(scope="module")
def comparison() -> Iterator[ComparisonExplorer]:
    made = ComparisonExplorer().warm()
    yield made
    made.close()


@pytest.fixture(scope="module")
def pair() -> Iterator[RivalsExplorer]:
    made = RivalsExplorer().warm()
    yield made
    made.close()


@pytest.fixture
def nuts(
    comparison: ComparisonExplorer, pair: RivalsExplorer, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """A stand-in for the true posterior; what it was asked for is kept."""
    drawn = 0.6 * TRUTH + np.random.default_rng(7).normal(0, 1 + np.abs(X), (40, 71))
    asked: dict[str, Any] = {"gold": Predictive.from_samples(drawn, 1.0)}

    def ask(problem: Problem | None) -> GoldStandard:
        asked["problem"] = problem
        return GoldStandard(asked["gold"], "R-hat is 1.01.") if problem else GoldStandard()

    for explorer in (comparison, pair):
        monkeypatch.setattr(explorer._chains, "ask", ask)
    return asked


def regions(gap: float) -> dict[str, Any]:
    """Where the data are, where they were left out, and what lies beyond: masks ``[m]``."""
    inside, beyond = np.abs(X - 0.25) < gap / 2 - 1e-6, np.abs(X) > 0.5 + 1e-6
    return {"data": ~inside & ~beyond, "gap": inside, "outside": beyond}


def total(prediction: Predictive) -> Any:
    return np.hypot(prediction.epistemic_std, prediction.aleatoric_std)


# Only what changed is fitted.


def test_only_what_changed_is_fitted_again(
    comparison: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    comparison.preset("all methods")
    comparison._fits.clear()
    fitted: list[str] = []
    fit = live_fits.fit
    monkeypatch.setattr(live_fits, "fit", lambda *a: fitted.append(a[0]) or fit(*a))
    comparison.set(epochs=20)
    assert fitted == SIX, "each once, the cheapest first"
    fitted.clear()
    comparison.set(epochs=10)
    assert fitted == ["pbp"]
    comparison.set(map=False, epochs=20)
    comparison.set(map=True)
    assert fitted == ["pbp"], "what was fitted before is kept"


def test_unchanged_methods_report_zero_time(pair: RivalsExplorer) -> None:
    told = pair.set(**PAIR, data=None).set(seed=41).result.told
    assert all(one.seconds > 0 for one in told.values())
    told = pair.set(rate=0.35).result.told
    assert told["first"].seconds == 0.0 < told["second"].seconds, "what stays is kept"
    took = said(pair.status, "(first # ms, second # ms)")
    assert took == [0, as_printed(1e3 * told["second"].seconds, 0)]


# What the pictures hold.


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
def test_each_panel_holds_its_method_the_data_and_the_truth(
    request: pytest.FixtureRequest, nuts: dict[str, Any], kind: str, values: dict[str, Any]
) -> None:
    explorer: Explorer[Any] = request.getfixturevalue(kind)
    if kind == "comparison":
        explorer.preset("all methods")  # all panels have been filled before
    result = explorer.set(**{**explorer.DEFAULTS, "nuts": False, **values}).result
    state = explorer.state()
    half = state["gap"] / 2
    ends = (0.25 - half, 0.25 + half) if half else None
    data = datasets.sinusoid(32, state["noise_std"], state["seed"], ends)
    titles = (
        LABELS if kind == "comparison" else {p: f"{p}: {QUICK[state[p]].label}" for p in PLACES}
    )
    chosen = {name for name in METHODS if state.get(name)} or {*PLACES}
    assert set(result.told) == chosen
    for place, title in titles.items():
        if place == "nuts":
            continue
        ax = panel(explorer, title)
        assert ax.get_visible() == (place in chosen)
        if place not in chosen:
            continue
        told = result.told[place]
        p = told.prediction
        np.testing.assert_allclose(line(ax, "mean"), [X, p.mean])
        for name, std in (("epistemic", p.epistemic_std), ("total", total(p))):
            _, low, high = band(ax, f"±2 sd {name}")
            np.testing.assert_allclose([low, high], p.mean + np.array([[-2], [2]]) * std)
        if kind == "pair":
            drawn = [curve[:, 1] for curve in curves(ax, "draws or members")]
            np.testing.assert_array_equal(drawn, p.samples)
        np.testing.assert_allclose(line(ax, "truth"), [X, TRUTH], atol=1e-12)
        np.testing.assert_array_equal(line(ax, "data"), [data.x[:, 0], data.y[:, 0]])
        assert not artist(ax, "posterior mean").get_visible()
        assert not any("chosen" in text.get_text() for text in ax.texts)
        (grey,) = ax.patches
        inside = X[regions(state["gap"])["gap"]]
        edges = (inside[0], inside[-1]) if len(inside) else (0, 0)
        assert (grey.get_x(), grey.get_x() + grey.get_width()) == pytest.approx(edges)
    assert_the_picture_is_not_stale(explorer)


def test_posterior_comes_beside_each_with_its_distances(
    comparison: ComparisonExplorer, pair: RivalsExplorer, nuts: dict[str, Any]
) -> None:
    gold = nuts["gold"]

    def distances(p: Predictive) -> list[float]:
        return [calibration.distance(p, gold, mask) for mask in regions(0.3).values()]

    result = comparison.set(**{**COMPARED, "nuts": True}).result
    words = comparison.status.split("gap to the posterior: ")[1]
    for name in ("map", "bbb", "pbp"):
        off = distances(result.predictions[name])
        assert said(words, f"{LABELS[name]} #/#/#") == [as_printed(v, 1) for v in off]
        np.testing.assert_allclose(
            line(panel(comparison, LABELS[name]), "posterior mean"), [X, gold.mean]
        )
    assert comparison.status.split(" · ")[0].endswith("R-hat is 1.01.")
    assert nuts["problem"] == Problem()
    assert plots.POSTERIOR not in comparison.set(nuts=False).status.split("interval")[1]

    result = pair.set(**{**PAIR, "nuts": True}).result
    words = pair.status.partition("Distance to the posterior: ")[2]
    for place in PLACES:
        off = distances(result.predictions[place])
        sentence = f"the {place} ({QUICK[PAIR[place]].label}): data #, gap #, outside #"
        assert said(words, sentence) == [as_printed(v, 2) for v in off]
        np.testing.assert_allclose(line(panel(pair, place), "posterior mean"), [X, gold.mean])
    np.testing.assert_allclose(
        line(panel(pair, "How sure"), plots.POSTERIOR)[1], gold.epistemic_std
    )
    assert {"posterior mean", "posterior ±2 sd"} <= names_over_the_panels(pair)
    assert "R-hat is 1.01." in pair.status


def test_pin_a_compares_each_method_by_its_name(comparison: ComparisonExplorer) -> None:
    comparison.set(**COMPARED).pin()
    comparison._pin._answer.value = True
    held = comparison.set(gap=0.4).readings()["bbb_gap"]
    assert f"BBB: share held in the gap 10 → {held:.0f}%" in comparison._pin._words.value
    comparison.unpin()


def test_axes_of_both_methods_have_table_units(pair: RivalsExplorer) -> None:
    x = np.linspace(100.0, 300.0, 12)
    pair.set(**{**PAIR, "data": (x, 40 * np.sin(x / 30))}).png()
    for title in (*PLACES, "How sure each is"):
        ticks = [tick.get_text() for tick in panel(pair, title).get_xticklabels()]
        assert "200" in ticks, title
    assert "truth" not in names_over_the_panels(pair)
    pair.set(data=None)


# Intervals, and the points that conformal ones are counted on.


def coverage(prediction: Predictive, noise_std: float, mask: Any, sds: float = 0.0) -> float:
    """Chance that a new y falls within 1.96 sd of the mean, averaged over the region."""
    reach = (sds or norm.ppf(0.975)) * total(prediction)
    ends = ((prediction.mean + sign * reach - TRUTH) / noise_std for sign in (1, -1))
    high, low = (norm.cdf(end)[mask] for end in ends)
    return float((high - low).mean()) if mask.any() else float("nan")


def percents(shares: Mapping[str, float]) -> str:
    return "/".join("–" if np.isnan(s) else f"{100 * s:.0f}" for s in shares.values()) + "%"


@every_picture_is_drawn
@pytest.mark.parametrize("gap", [0.0, 0.3])
def test_coverage_marks_and_words_match_each_region(
    comparison: ComparisonExplorer, nuts: dict[str, Any], gap: float
) -> None:
    values = {"gap": gap, "noise_std": 2.0, "seed": 3, "map": False, "eb": True, "nuts": True}
    result = comparison.set(**{**COMPARED, **values}).result
    shown = {**result.predictions, "nuts": nuts["gold"]}
    expected = {
        name: {region: coverage(p, 2.0, mask) for region, mask in regions(gap).items()}
        for name, p in shown.items()
    }
    assert set(shown) == {"bbb", "eb", "pbp", "nuts"} == set(result.coverage)
    for name, shares in expected.items():
        assert result.coverage[name] == pytest.approx(shares, nan_ok=True)
        assert f"{LABELS[name]} {percents(shares)}" in comparison.status
    ax = panel(comparison, "Inside the interval")
    rows = [tick.get_text() for tick in ax.get_yticklabels()]
    assert rows == [LABELS[name] for name in LABELS if name in shown]
    assert ax.get_ylim() == (len(rows) - 0.5, -0.5), "from top to bottom"
    for region in ("data", "gap", "outside"):
        share, y = line(ax, region)
        np.testing.assert_array_equal(np.round(y), range(len(rows)))
        marked = dict(zip(rows, share / 100, strict=True))
        wanted = {LABELS[name]: shares[region] for name, shares in expected.items()}
        assert marked == pytest.approx(wanted, nan_ok=True)
    assert_the_picture_is_not_stale(comparison)


def counted(prediction: Predictive, gap: float, noise_std: float, seed: int, level: float) -> float:
    """The score of that rank among 99 points of another seed, of 100 with the new one."""
    ends = (0.25 - gap / 2, 0.25 + gap / 2) if gap else None
    others = datasets.sinusoid(99, noise_std, seed + 10_000, gap=ends)
    x, y = others.x[:, 0], others.y[:, 0]
    off = np.abs(y - np.interp(x, X, prediction.mean))
    return float(np.sort(off / np.interp(x, X, total(prediction)))[round(100 * level) - 1])


@every_picture_is_drawn
@pytest.mark.parametrize(("level", "gap"), [(0.5, 0.0), (0.99, 0.3)])
def test_conformal_band_uses_rank_score_without_refit(
    comparison: ComparisonExplorer,
    nuts: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    level: float,
    gap: float,
) -> None:
    values = {"gap": gap, "noise_std": 2.0, "seed": 3, "nuts": True}
    for name in comparison.set(**{**COMPARED, **values}).result.told:
        assert not artist(panel(comparison, LABELS[name]), "conformal").get_visible()
    monkeypatch.setattr(live_fits, "fit", None)
    result = comparison.set(level=level, conformal=True).result
    for name, p in {**result.predictions, "nuts": nuts["gold"]}.items():
        sds = counted(p, gap, 2.0, 3, level)
        by = {r: coverage(p, 2.0, mask, sds) for r, mask in regions(gap).items()}
        assert result.coverage[name] == pytest.approx(by, nan_ok=True)
        assert f"{LABELS[name]} {percents(by)}" in comparison.status
        if name != "nuts":
            ends = [
                a.get_ydata()
                for a in panel(comparison, LABELS[name]).lines
                if a.get_visible() and a.get_color() == plots.PURPLE
            ]
            np.testing.assert_allclose(ends, p.mean + np.outer([-sds, sds], total(p)))
    words = f"Conformal bands of {100 * level:.0f} %, counted on 99 other points, hold (data"
    assert words in comparison.status
    dashed = [a for a in panel(comparison, "Inside the").lines if a.get_linestyle() == "--"]
    assert set(dashed[0].get_xdata()) == {100 * level}
    assert_the_picture_is_not_stale(comparison)


# What presets and answers say, over a few seeds.


def test_comparison_presets_sentences_match_readings(comparison: ComparisonExplorer) -> None:
    def read(preset: str, seed: int, **changes: Any) -> dict[str, float]:
        return comparison.preset(preset).set(seed=seed, **changes).readings()

    for seed in SEEDS:
        every, few = read("all methods", seed), read("few points", seed)
        assert max(every[f"{name}_gap"] for name in SIX) < 95
        whole = read("no gap", seed)
        assert 80 < whole["map_data"] < 95 < whole["pbp_data"]
        assert few["bbb_data"] < few["map_data"]
        loud, early = read("loud noise", seed), read("PBP, few epochs", seed)
        assert max(loud[f"{name}_gap"] for name in ("map", "bbb", "pbp")) < 90
        assert 2.4 < early["pbp_noise"] < 4.2 and early["pbp_data"] > 95
        asked = ComparisonExplorer.QUESTION
        assert asked.choices[asked.answer] == "far fewer"
        assert read("start", seed, **{asked.control: asked.target})["bbb_gap"] < 60


def test_rivals_presets_sentences_match_readings(pair: RivalsExplorer) -> None:
    def read(name: str, **changes: Any) -> float:
        return pair.set(**changes).readings()[name]

    pair.set(data=None).preset("start")
    assert read("first_times") > 3 and read("second_times") < 1.5
    pair.preset("with anchors and without")
    assert read("first_data") > 1.5 * read("second_data")
    pair.preset("Laplace explodes")
    assert read("first_data") > 20 * read("first_data", linearised=True)
    pair.preset("Laplace's diagonal")
    assert read("first_times") < 1.5 and read("first_times", structure="full") > 3
    pair.preset("the last layer alone")
    assert read("first_gap") < read("second_gap")
    pair.preset("temperature 0")
    assert read("first_data") < 2 / 3 * read("first_data", temperature=1.0)
    pair.preset("eight columns")
    assert read("first_gap") == pytest.approx(read("first_gap", rank=0), rel=1 / 3)
    pair.preset("infinitely wide")
    assert read("first_gap") < read("second_gap")
    asked = RivalsExplorer.QUESTION
    assert asked.choices[asked.answer] == "more than twenty times as wide"
    before = pair.preset("start").set(**dict(asked.before)).readings()["first_data"]
    assert read("first_data", **{asked.control: asked.target}) > 20 * before
