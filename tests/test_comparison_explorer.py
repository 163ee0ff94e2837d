"""The comparison explorer, driven from Python: what moves, what is kept, what NUTS says."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from explorer_claims import (
    assert_every_control_moves_the_picture,
    pixels,
)

from bdl_teach import DivergedError, calibration
from bdl_teach.compiled import trace_count
from bdl_teach.methods import pbp
from bdl_teach.widgets import ComparisonExplorer, comparison, comparison_fits
from bdl_teach.widgets.comparison_fits import METHODS, Problem

MOVES: dict[str, Any] = {
    "n": 16,
    "noise_std": 2.0,
    "gap": 0.1,
    "seed": 3,
    "epochs": 20,
    "mle": True,
    "map": False,
    "bbb": False,
    "local": True,
    "eb": True,
    "pbp": False,
}


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

    def counted(name: str) -> Any:
        return lambda *arguments: fitted.append(name) or METHODS[name].fit(*arguments)

    counting = {name: method._replace(fit=counted(name)) for name, method in METHODS.items()}
    monkeypatch.setattr(comparison, "METHODS", counting)
    explorer.set(epochs=20)
    assert fitted == list(comparison_fits.CHEAPEST_FIRST), "each once, the cheapest first"
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


def test_divergence_is_said_over_the_plot_and_the_next_tick_works(
    explorer: ComparisonExplorer, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = pixels(explorer.preset("start"))

    def diverge(*_: Any) -> Any:
        raise DivergedError(7, "lower the learning rate")

    with monkeypatch.context() as patch:
        broken = {**METHODS, "bbb": METHODS["bbb"]._replace(fit=diverge)}
        patch.setattr(comparison, "METHODS", broken)
        with pytest.raises(DivergedError):
            explorer.set(seed=50)
        assert "diverged by step 7" in explorer.status
    assert (pixels(explorer.set(seed=0)) == before).all()


def test_no_value_of_any_slider_traces_again(explorer: ComparisonExplorer) -> None:
    explorer.preset("all methods")
    traces = trace_count()
    for name, values in {
        "n": (8, 16),
        "noise_std": (0.3, 3.0),
        "gap": (0.0, 0.4),
        "seed": (99,),
        "epochs": (10, 20),
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


def test_regions_partition_the_axis() -> None:
    x = comparison.X_GRID[:, 0]
    for gap in (0.0, 0.2, 0.4):
        problem = Problem(gap=gap)
        regions = problem.regions(x)
        assert (sum(mask.astype(int) for mask in regions.values()) == 1).all()
        assert not problem.regions(problem.data.x[:, 0])["gap"].any()
    assert regions["gap"].any() and regions["outside"].any()


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
    data, took = problem.data, METHODS["pbp"].fit(problem, 30)
    fit = pbp.fit(data.x, data.y, hidden_units=(comparison_fits.WIDTH,), epochs=30, seed=0)
    expected, got = fit.predict(comparison.X_GRID), took.predict(comparison.X_GRID)
    np.testing.assert_allclose(got.mean, expected.mean, rtol=1e-8)
    np.testing.assert_allclose(got.total_std, expected.total_std, rtol=1e-8)


@pytest.mark.slow
def test_nuts_comes_beside_with_the_gap_as_a_number(explorer: ComparisonExplorer) -> None:
    explorer.preset("start").set(nuts=True)
    assert explorer.result.nuts is None
    assert "NUTS is running" in explorer.status
    for _ in range(900):
        time.sleep(0.2)
        if explorer.wait().result.nuts is not None:
            break
    result = explorer.result
    distance = calibration.distance(result.predictions["bbb"], result.nuts, result.regions["gap"])
    assert result.gap["bbb"]["gap"] == distance > result.gap["bbb"]["data"] > 0
    assert "largest R-hat" in explorer.status and "gap to NUTS" in explorer.status
    assert 0.8 < result.coverage["nuts"]["gap"] <= 1
    with_nuts = pixels(explorer)
    assert (pixels(explorer.set(nuts=False)) != with_nuts).any()
    assert (pixels(explorer.set(nuts=True)) == with_nuts).all(), "cached, shown at once"
    assert explorer.set(seed=1).result.nuts is None, "the gold standard of other values"
    assert replace(result, nuts=None).gap == result.gap
    explorer.preset("start")
