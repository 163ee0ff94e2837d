"""The empirical-Bayes explorer: its star is the closed form, and learnt priors are where it is."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from artists import (
    artist,
    assert_says,
    assert_shows,
    controls_of,
    functions,
    line,
    panel,
    words_of_the_buttons,
)
from explorer_claims import (
    PRESET_RULE,
    assert_every_control_moves_the_picture,
    assert_every_preset_shows_another_picture_and_says_what_to_see,
    assert_the_replay_leads_to_the_fit,
    pixels,
)
from matplotlib.figure import Figure
from waiting import successive

from bdl_teach import datasets, densities
from bdl_teach._support.compiled import trace_count
from bdl_teach.widgets import EmpiricalBayesExplorer
from bdl_teach.widgets._engine import points
from bdl_teach.widgets.empirical_bayes import BestPriorArtists, SortedArtists

MOVES: dict[str, Any] = {
    "prior_std": 10**0.5,
    "noise_std": 2.0,
    "width": 7,
    "n": 11,
    "seed": 3,
    "prior": "per weight",
}

HOME = {"prior_std": 1.0, "noise_std": 1.0, "width": 20, "n": 32, "seed": 0, "prior": "fixed"}
PRESETS: dict[str, dict[str, Any]] = {  # what each changes
    "by hand": {},
    "too narrow": {"prior_std": 0.1},
    "too wide": {"prior_std": 10.0},
    "learn one": {"prior": "one for all"},
    "learn each": {"prior": "per weight"},
    "wider, no worse": {"prior": "per weight", "width": 30},
    "noise wins": {"prior": "per weight", "noise_std": 3.0, "n": 8},
}
SETTINGS = ({}, {"prior_std": 10.0, "width": 7}, {**MOVES, "prior": "per layer"}, MOVES)
X = np.linspace(-1.0, 1.0, 121)
INSIDE = np.abs(X) <= 0.5


@pytest.fixture(scope="module")
def explorer() -> Iterator[EmpiricalBayesExplorer]:
    made = EmpiricalBayesExplorer().warm()
    yield made
    made.close()


@pytest.fixture(params=SETTINGS, ids=("home", "wide prior", "per layer", "per weight"))
def moved(explorer: EmpiricalBayesExplorer, request: Any) -> EmpiricalBayesExplorer:
    return explorer.set(**{**HOME, **request.param})


# The replay


@pytest.mark.parametrize("prior", ["fixed", "per weight", "one for all"])
def test_the_replay_leads_from_the_start_to_the_fit_and_its_prior(
    explorer: EmpiricalBayesExplorer, prior: str
) -> None:
    explorer.set(**{**HOME, "prior": prior, "width": 19})
    assert_the_replay_leads_to_the_fit(explorer)
    start = explorer.result.fit.at(0)
    explorer.replay(0)
    assert_shows(panel(explorer, "What the network believes"), start.predict(X[:, None], 200))
    used = np.full(len(start.mean), 1.0) if prior == "fixed" else start.prior_std
    wanted = np.sqrt(start.mean**2 + start.std**2)
    ax = panel(explorer, "σ of each weight's prior")
    np.testing.assert_allclose(line(ax, "in use")[1], used[np.argsort(-wanted)], rtol=1e-9)
    np.testing.assert_allclose(line(ax, "best: √(μ² + σ²)")[1], -np.sort(-wanted), rtol=1e-9)


def kl(result: Any, std: Any) -> float:
    """KL[q ‖ N(0, std²)] of the q that was found, in nats."""
    return float(densities.gaussian_kl(result.fit.mean, result.fit.std, 0.0, std).sum())


def best_of(result: Any, groups: Any) -> Any:
    """√(mean of μ² + σ²) over each group of weights: the closed form."""
    square = result.fit.mean**2 + result.fit.std**2
    return np.sqrt([square[groups == group].mean() for group in groups])


# What is computed, and what the panels hold.


def test_the_points_are_those_of_the_sinusoid(moved: EmpiricalBayesExplorer) -> None:
    v = moved.state()
    data = datasets.sinusoid(v["n"], v["noise_std"], v["seed"])
    np.testing.assert_array_equal(moved.result.data.y, data.y)
    assert len(moved.result.fit.mean) == 3 * v["width"] + 1


def test_the_network_s_panel_holds_the_predictive_of_the_fit(
    moved: EmpiricalBayesExplorer,
) -> None:
    v, result = moved.state(), moved.result
    ax = panel(moved, "What the network believes about y", "x", "y")
    assert_shows(ax, result.prediction)
    fresh = result.fit.predict(X[:, None], n_samples=2000, seed=9)
    samples = len(result.prediction.samples)
    error = fresh.epistemic_std * np.sqrt(1 / samples + 1 / 2000)
    assert (np.abs(result.prediction.mean - fresh.mean) < 5 * error + 1e-9).all()
    ratio = result.prediction.epistemic_std / fresh.epistemic_std
    assert np.abs(ratio - 1).max() < 0.5 and np.median(ratio) == pytest.approx(1, abs=0.2)
    assert (result.prediction.aleatoric_std == v["noise_std"]).all()
    np.testing.assert_array_equal(functions(ax, "some draws"), result.prediction.samples[:10])
    np.testing.assert_array_equal(line(ax, "data"), [result.data.x[:, 0], result.data.y[:, 0]])
    np.testing.assert_allclose(line(ax, "truth"), [X, 10 * np.sin(2 * np.pi * X)], atol=1e-12)


def test_the_likelihood_is_that_of_the_fit_at_its_end(moved: EmpiricalBayesExplorer) -> None:
    """Against fresh draws of networks: what the last records say within their own noise."""
    result, noise = moved.result, moved.state()["noise_std"]
    drawn = result.fit.predict(result.data.x, n_samples=2000, seed=3).samples
    each = 0.5 * ((result.data.y[:, 0] - drawn) / noise) ** 2 + np.log(noise * np.sqrt(2 * np.pi))
    expected = each.sum(axis=1)  # one a draw
    error = expected.std() * np.sqrt(1 / 100 + 1 / 2000)
    assert result.likelihood == pytest.approx(expected.mean(), abs=4 * error)


@pytest.mark.parametrize("prior", ["fixed", "one for all", "per layer", "per weight"])
def test_the_prior_in_use_is_the_one_that_was_chosen(
    explorer: EmpiricalBayesExplorer, prior: str
) -> None:
    v = explorer.set(**{**HOME, "width": 7, "prior_std": 10**0.3, "prior": prior}).state()
    result, k = explorer.result, v["width"]
    layers = np.repeat([0, 1], [2 * k, k + 1])
    expected = {
        "fixed": np.full(len(layers), v["prior_std"]),
        "one for all": best_of(result, 0 * layers),
        "per layer": best_of(result, layers),
        "per weight": np.hypot(result.fit.mean, result.fit.std),
    }
    np.testing.assert_allclose(result.prior_std, expected[prior])
    np.testing.assert_allclose(result.wanted_std, expected["per weight"])
    assert result.best_std == pytest.approx(expected["one for all"][0])
    assert result.complexity == pytest.approx(kl(result, expected[prior]), abs=1e-6)
    assert result.least_complexity == pytest.approx(kl(result, expected["one for all"][0]))
    ratio = np.abs(result.fit.mean) / np.maximum(result.fit.std, 1e-30)
    assert result.off == pytest.approx((ratio < 0.5).mean())


def test_the_kl_panel_holds_the_kl_of_this_q_its_lowest_point_and_now(
    moved: EmpiricalBayesExplorer,
) -> None:
    v, result = moved.state(), moved.result
    ax = panel(moved, "KL by σ of one prior for all", "prior σ", "nats above")
    std, above = line(ax, "KL")
    lowest = best_of(result, np.zeros(len(result.fit.mean), int))[0]
    left, right = ax.get_xlim()
    assert std[0] <= left and std[-1] >= right and (np.diff(std) > 0).all()
    at = np.flatnonzero((std > 0.3) & (std < 30))[::9]
    expected = [kl(result, std[i]) - kl(result, lowest) for i in at]
    np.testing.assert_allclose(above[at], expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(line(ax, "best").ravel(), [lowest, 0.0])
    now = line(ax, "now")
    if v["prior"] != "fixed":
        assert now.size == 0  # more than one σ: there is no place for it
    else:
        height = min(kl(result, v["prior_std"]) - kl(result, lowest), ax.get_ylim()[1])
        np.testing.assert_allclose(now.ravel(), [v["prior_std"], height], rtol=1e-6)


def test_now_is_seen_where_the_star_stands_on_it(explorer: EmpiricalBayesExplorer) -> None:
    explorer.preset("learn one")
    ax = panel(explorer, "KL by σ of one prior for all")
    now, star = artist(ax, "now"), artist(ax, "best")
    np.testing.assert_allclose(now.get_data(), star.get_data(), atol=1e-9)
    assert now.get_markerfacecolor() == "none" and now.get_markersize() > star.get_markersize()
    moving = explorer._canvas._moving
    assert moving.index(now) > moving.index(star)


def test_the_sorted_panel_holds_both_priors_of_each_weight(moved: EmpiricalBayesExplorer) -> None:
    ax = panel(moved, "σ of each weight's prior", "weights, from the widest", "σ")
    result, floor = moved.result, ax.get_ylim()[0]
    places, wanted = line(ax, "best: √(μ² + σ²)")
    order = np.argsort(-np.hypot(result.fit.mean, result.fit.std))
    np.testing.assert_array_equal(places, 1 + np.arange(len(order)))
    np.testing.assert_allclose(wanted, np.maximum(result.wanted_std[order], floor))
    in_use = line(ax, "in use")
    np.testing.assert_array_equal(in_use[0], places)
    np.testing.assert_allclose(in_use[1], np.maximum(result.prior_std[order], floor))


def test_what_lies_beyond_a_panel_is_at_its_edge() -> None:
    best, each = Figure().subplots(1, 2)
    best.set(xscale="log", xlim=(0.025, 40), ylim=(-12, 200))
    each.set(yscale="log", ylim=(1e-3, 40))
    lowest, sorted_ = BestPriorArtists(best), SortedArtists(each)
    lowest.update(61, 10.0, 0.1)
    np.testing.assert_array_equal(lowest.artists[-1].get_data(), [[0.1], [200.0]])
    sorted_.update(np.array([1e-6, 2.0]), np.array([1e-5, 3.0]))
    for drawn, heights in zip(sorted_.artists, ([2.0, 1e-3], [3.0, 1e-3]), strict=True):
        np.testing.assert_allclose(drawn.get_data(), [[1, 2], heights])


def test_a_table_of_as_many_points_as_there_may_be_is_fitted_and_its_axis_drawn(
    explorer: EmpiricalBayesExplorer,
) -> None:
    """In programs that are there once it is warm."""
    table = datasets.sinusoid(points.MOST)
    own = points.from_course(table.x[:, 0], 4 * table.y[:, 0])
    explorer.set(**HOME)
    traces = trace_count()
    for prior in ("fixed", "per weight", "per layer", "one for all"):
        assert len(explorer.set(prior=prior, data=own).result.data.x) == points.MOST
    assert trace_count() == traces
    assert panel(explorer, "What the network believes").get_ylim()[1] >= 40
    explorer.set(data=None)


def test_the_prior_in_use_is_sorted_by_what_each_weight_wants(
    explorer: EmpiricalBayesExplorer,
) -> None:
    result = explorer.set(**{**HOME, "prior": "per layer"}).result
    order = np.argsort(-np.hypot(result.fit.mean, result.fit.std))
    in_use = line(panel(explorer, "σ of each weight's prior"), "in use")[1]
    np.testing.assert_allclose(in_use, result.prior_std[order])
    assert (np.diff(in_use) > 0).any() and (np.diff(in_use) < 0).any()  # the layers are mixed


# What the status line says.


def test_the_status_has_the_figures_of_the_fit(moved: EmpiricalBayesExplorer) -> None:
    result = moved.result
    complexity, off = kl(result, result.prior_std), result.fit.signal_to_noise < 0.5
    best = best_of(result, np.zeros(len(result.fit.mean), int))[0]
    saved = complexity - kl(result, best)
    assert_says(
        moved.status,
        "{} of {} weights in use, {}% switched off (|μ| < σ/2): free energy {} nats "
        "(complexity {}, {} "
        f"{'more' if saved >= 0 else 'less'} than under the best single prior, σ {{}}; "
        "likelihood {}).",
        *((~off).sum(), off.size, 100 * off.mean()),
        *(complexity + result.likelihood, complexity, abs(saved), best, result.likelihood),
    )


# What presets promise, and the question.


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sets_every_control(explorer: EmpiricalBayesExplorer, name: str) -> None:
    assert tuple(PRESETS) == explorer.presets, PRESET_RULE
    assert explorer.preset(name).state() == {**HOME, **PRESETS[name]}


def over_seeds(explorer: EmpiricalBayesExplorer, preset: str, n: int = 20) -> list[Any]:
    """Results of a preset with the first seeds; nothing is drawn."""
    return [explorer._compute({**HOME, **PRESETS[preset], "seed": seed}) for seed in range(n)]


def test_by_hand_the_star_is_further_right(explorer: EmpiricalBayesExplorer) -> None:
    for result in over_seeds(explorer, "by hand"):
        assert 1.1 < result.best_std < 2.6
        assert result.complexity > result.least_complexity + 1


def test_under_too_narrow_a_prior_no_weight_gets_anywhere_and_the_star_agrees(
    explorer: EmpiricalBayesExplorer,
) -> None:
    for result in over_seeds(explorer, "too narrow"):
        assert np.ptp(result.prediction.mean) < 1  # of the sine's 20
        assert result.best_std == pytest.approx(0.1, rel=0.1)
        assert result.off > 0.95


def test_under_too_wide_a_prior_the_star_is_near_8_and_the_band_opens(
    explorer: EmpiricalBayesExplorer,
) -> None:
    home = over_seeds(explorer, "by hand")
    for before, result in zip(home, over_seeds(explorer, "too wide"), strict=True):
        assert result.best_std == pytest.approx(8.4, rel=0.1)
        ends = [r.prediction.epistemic_std[[0, -1]].mean() for r in (before, result)]
        assert ends[1] > 2 * ends[0]


def test_one_learnt_prior_is_where_the_star_is(explorer: EmpiricalBayesExplorer) -> None:
    for result in over_seeds(explorer, "learn one", 3):
        np.testing.assert_allclose(result.prior_std, result.best_std)


def test_with_a_prior_each_most_weights_are_switched_off(
    explorer: EmpiricalBayesExplorer,
) -> None:
    assert min(r.off for r in over_seeds(explorer, "learn each")) > 0.5
    off = [r.off for r in over_seeds(explorer, "noise wins")]
    assert np.mean(off) == pytest.approx(0.9, abs=0.06) and min(off) > 0.75


def test_wider_is_no_worse_over_seeds(explorer: EmpiricalBayesExplorer) -> None:
    def error(result: Any) -> float:
        off = result.prediction.mean - result.data.truth(result.x_grid)[:, 0]
        return float(np.sqrt((off[INSIDE] ** 2).mean()))

    narrow, wide = (over_seeds(explorer, name) for name in ("learn each", "wider, no worse"))
    assert min(r.off for r in wide) > 0.5
    assert np.mean([error(r) for r in wide]) < 1.1 * np.mean([error(r) for r in narrow])


def test_under_a_narrow_prior_the_star_comes_down_to_it(explorer: EmpiricalBayesExplorer) -> None:
    """The question: σ from 1 to 0.1, in every seed."""
    asked = explorer.QUESTION
    for seed in range(5):
        explorer.preset("by hand").set(seed=seed)
        before = explorer.result.best_std
        after = explorer.set(**{asked.control: 0.1}).result.best_std
        assert before > 1.1
        assert after == pytest.approx(0.1, rel=0.1)
    assert asked.choices[asked.answer] == "Near 0.1"
    assert asked.control == "prior_std"


def test_the_button_sets_the_prior_to_the_nearest_step_of_the_star(
    explorer: EmpiricalBayesExplorer,
) -> None:
    for values in ({}, {"prior": "per weight"}):
        best = explorer.set(**{**HOME, **values}).result.best_std
        explorer._to_best()
        state = explorer.wait().state()
        assert state["prior"] == "fixed"
        assert abs(np.log10(state["prior_std"] / best)) <= 0.05 + 1e-9
        assert explorer.result.prior_std[0] == state["prior_std"]


@pytest.mark.parametrize(("best", "end"), [(1e-3, -1.5), (1e3, 1.5)])
def test_of_a_star_beyond_the_slider_the_button_sets_the_slider_s_end(
    best: float, end: float
) -> None:
    assigned: dict[str, Any] = {}
    shown = SimpleNamespace(best_std=best)
    stand_in: Any = SimpleNamespace(result=shown, _assign=assigned.update, _request=lambda: None)
    EmpiricalBayesExplorer._to_best(stand_in)
    assert assigned == {"prior": "fixed", "prior_std": pytest.approx(10**end)}


def test_the_controls_are_called_what_they_move(explorer: EmpiricalBayesExplorer) -> None:
    assert controls_of(explorer) == {
        "prior_std": ("σ_p", -1.5, 1.5),
        "noise_std": ("noise σ", 0.1, 3),
        "width": ("width", 1, 30),
        "n": ("points N", 4, 64),
        "seed": ("seed", 0, 99),
        "prior": ("prior", "fixed", "per weight", "per layer", "one for all"),
    }


def test_no_two_buttons_have_one_name(explorer: EmpiricalBayesExplorer) -> None:
    words = words_of_the_buttons(explorer)
    assert len(set(words)) == len(words) >= len(explorer._acts)


# Has it arrived?


def test_once_the_sliders_rest_the_status_says_whether_the_fit_has_converged(
    explorer: EmpiricalBayesExplorer,
) -> None:
    result = explorer.preset("learn one").result
    assert result.arrival.converged is None
    assert "onverged" not in explorer._describe(result)
    *_, result = successive(partial(explorer._improve, explorer.state()), result)
    assert result.arrival.converged == result.fit.converged
    said = explorer._describe(result)
    assert said.endswith(str(result.arrival)) and "onverged" in said


# What holds of every explorer.


def test_every_control_moves_the_picture(explorer: EmpiricalBayesExplorer) -> None:
    explorer.preset("by hand")
    assert_every_control_moves_the_picture(explorer, MOVES)


def test_every_preset_shows_another_picture_and_says_what_to_see(
    explorer: EmpiricalBayesExplorer,
) -> None:
    assert_every_preset_shows_another_picture_and_says_what_to_see(explorer)


def test_the_slider_of_the_prior_rests_while_the_prior_is_learnt(
    explorer: EmpiricalBayesExplorer,
) -> None:
    slider = explorer._controls["prior_std"]
    for name, rests in (("learn each", True), ("by hand", False), ("learn one", True)):
        explorer.preset(name)
        assert slider.disabled == rests
    explorer._to_best()
    assert not slider.disabled and explorer.wait().state()["prior"] == "fixed"


def test_there_and_back_is_the_same_picture(explorer: EmpiricalBayesExplorer) -> None:
    before = pixels(explorer.preset("by hand"))
    explorer.preset("learn each")
    assert (pixels(explorer.preset("by hand")) == before).all()


def test_no_value_of_any_slider_traces_again(explorer: EmpiricalBayesExplorer) -> None:
    for prior in ("fixed", "per weight", "per layer", "one for all"):
        explorer.set(prior=prior)
    before = trace_count()
    for prior in ("fixed", "per weight", "per layer", "one for all"):
        for width, n in ((1, 4), (30, 64), (11, 19)):
            explorer.set(prior=prior, width=width, n=n, noise_std=0.7, seed=width)
    assert trace_count() == before


def test_setting_the_prior_to_the_best_one_arrives_at_a_fixed_point(
    explorer: EmpiricalBayesExplorer,
) -> None:
    explorer.preset("by hand").set(prior_std=10**-0.3)
    for _ in range(8):
        explorer._to_best()
        explorer.wait()
    std, best = explorer.state()["prior_std"], explorer.result.best_std
    assert std > 1.0
    assert abs(np.log10(best / std)) <= 0.11  # a step of the slider


def test_of_a_wider_network_a_larger_share_is_switched_off(
    explorer: EmpiricalBayesExplorer,
) -> None:
    explorer.preset("learn each")
    narrow, wide = (
        np.mean([explorer.set(width=width, seed=seed).result.off for seed in range(4)])
        for width in (10, 30)
    )
    assert wide > narrow + 0.03
    assert wide > 0.5


def test_the_state_rebuilds_the_explorer(explorer: EmpiricalBayesExplorer) -> None:
    picture, state = pixels(explorer.set(**MOVES)), explorer.state()
    again = type("Again", (EmpiricalBayesExplorer,), {})(**state).wait()
    assert again.state() == state == MOVES
    assert (pixels(again) == picture).all()
    again.close()


def test_resample_takes_the_next_seed_and_wrong_values_are_refused(
    explorer: EmpiricalBayesExplorer,
) -> None:
    explorer.preset("by hand")
    with pytest.raises(ValueError, match="width"):
        explorer.set(width=31)
    explorer._resample()
    assert explorer.wait().state()["seed"] == 1
