"""The comparison explorer, driven from Python: what moves, what is kept, what NUTS says.

What a preset or an answer says of a method is looked at for five data seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from typing import Any

import numpy as np
import pytest
from explorer_claims import (
    artist,
    as_printed,
    assert_the_picture_is_not_stale,
    band,
    every_picture_is_drawn,
    line,
    panel,
    said,
)
from matplotlib.patches import Rectangle
from scipy.stats import norm

from bdl_teach import datasets, plots
from bdl_teach.densities import Gaussian
from bdl_teach.methods import bbb, empirical_bayes, exact, local_reparam, pbp, point
from bdl_teach.predictive import Predictive
from bdl_teach.problems import MAX_WIDTH, Problem, live_fits
from bdl_teach.widgets import ComparisonExplorer
from bdl_teach.widgets._engine.nuts import GoldStandard, Run
from bdl_teach.widgets.comparison import explorer as comparison
from bdl_teach.widgets.comparison import fits as comparison_fits
from bdl_teach.widgets.comparison.explorer import _DEFAULTS as START
from bdl_teach.widgets.comparison.explorer import ComparisonResult
from bdl_teach.widgets.comparison.fits import METHODS, Interval

SIX = ("mle", "map", "bbb", "local", "eb", "pbp")  # that the presets' sentences are about
FURTHER = tuple(name for name in METHODS if name not in SIX)

PRESETS = {name: values for name, (_, values) in ComparisonExplorer.PRESETS.items()}
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


def test_only_what_changed_is_fitted_again(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    explorer.preset("all methods")
    explorer._fits.clear()
    fitted: list[str] = []

    fit = live_fits.fit
    monkeypatch.setattr(live_fits, "fit", lambda *a: fitted.append(a[0]) or fit(*a))
    explorer.set(epochs=20)
    assert fitted == list(SIX), "each once, the cheapest first"
    fitted.clear()
    explorer.set(epochs=10)
    assert fitted == ["pbp"]
    explorer.set(map=False, epochs=20)
    explorer.set(map=True)
    assert fitted == ["pbp"], "what was fitted before is kept"


@pytest.mark.parametrize("n", [8, 16])
def test_repeated_points_with_louder_noise_are_the_same_posterior(n: int) -> None:
    """Σ over the rows of (y − f)²/2s² is the same for any f."""
    problem = Problem(n=n, noise_std=0.7)
    data, repeated = problem.data, problem.repeated
    for f in (np.zeros(1), np.sin(7 * data.x)):
        one = np.sum((data.y - f) ** 2) / (2 * 0.7**2)
        many = np.repeat(np.broadcast_to(f, data.x.shape), 32 // n, axis=0)
        two = np.sum((repeated["y"] - many) ** 2) / (2 * repeated["noise_std"] ** 2)
        assert one == pytest.approx(two)


def test_pbp_is_what_its_fit_would_be() -> None:
    """The explorer takes the way of many steps in one call; the method's own goes by epochs."""
    problem = Problem(n=8)
    data, took = problem.data, live_fits.fit("pbp", problem, 30)
    fit = pbp.fit(data.x, data.y, hidden_units=(MAX_WIDTH,), epochs=30, seed=0)
    expected, got = fit.predict(comparison.X_GRID), took.predict(comparison.X_GRID)
    np.testing.assert_allclose(got.mean, expected.mean, rtol=1e-8)
    np.testing.assert_allclose(got.total_std, expected.total_std, rtol=1e-8)


# What the picture holds, and what the status line says of it.


# Points by hand


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
    monkeypatch.setattr(live_fits, "fit", None)
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
    assert run.problem == Problem()
    assert "NUTS" not in explorer.set(nuts=False).status.split("interval")[1]
    assert explorer.result.gap == {}


# Which have converged.


# What is fitted.


def test_each_method_is_given_the_problem_and_its_own_prior(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem = Problem(n=8, noise_std=0.7, gap=0.2, seed=5)
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
        fitted = live_fits.fit(name, problem, 100)
        repeated = name in ("mle", "map")
        assert (given.pop("x") == np.repeat(problem.data.x, 4 if repeated else 1, axis=0)).all()
        assert (given.pop("y") == np.repeat(problem.data.y, 4 if repeated else 1, axis=0)).all()
        assert given.pop("noise_std") == pytest.approx(1.4 if repeated else 0.7)
        assert given.pop("capacity") == bbb.Capacity(64, (20,), 1)
        assert given == {"hidden_units": (20,), "seed": 5, **more}, name
        assert fitted.noise_std == (0.7 if repeated else FITTED.noise_std)
    gold = problem.sample(comparison_fits.chains(problem))
    assert given["prior"] == Gaussian(3.0) and given["noise_std"] == pytest.approx(1.4)
    assert (given["n_chains"], given["n_samples"]) == (4, 500)
    assert (given["n_warmup"], given["n_thin"]) == (300, 2)
    assert gold.noise_std == 0.7, "new points have the noise of the problem"


FITTED = point.Fit(np.zeros(1), None, 9.0, {})  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def compared() -> Callable[..., list[ComparisonResult]]:
    """Results of some methods for five seeds, each fitted once."""
    kept: dict[Any, ComparisonResult] = {}

    def compare(names: tuple[str, ...], epochs: int = 100, **problem: Any) -> Any:
        for seed in SEEDS:
            key = (names, epochs, seed, *problem.items())
            if key not in kept:
                one = Problem(seed=seed, **problem)
                fits = {n: live_fits.fit(n, one, epochs) for n in names}
                told = {n: fit.predict(X[:, None], 200) for n, fit in fits.items()}
                kept[key] = comparison._result(one, told)
        return [kept[names, epochs, seed, *problem.items()] for seed in SEEDS]

    return compare


Compared = Callable[..., list[ComparisonResult]]
THREE = ("map", "bbb", "pbp")


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
        problem = Problem(seed=seed)
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
