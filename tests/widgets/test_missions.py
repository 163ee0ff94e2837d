"""Missions: what an explorer asks for can be done as its hint says, and is not done by itself.

Nothing is drawn: the explorers are made without their workers. A mission at NUTS is checked with a
prediction that is made up.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import ipywidgets
import numpy as np
import pytest

from bdl_teach import datasets, widgets
from bdl_teach.widgets._engine import background, controls, mission_checks, points
from bdl_teach.widgets._engine.controls import Values
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.missions import SEEDS, Mission
from bdl_teach.widgets.truth import fits as truth_fits

X_GRID = np.linspace(-1.5, 1.5, 121)[:, None]
WITH_MISSIONS = [name for name in widgets.__all__ if getattr(widgets, name).MISSIONS]


@pytest.fixture(scope="module", params=WITH_MISSIONS)
def idle(request: pytest.FixtureRequest) -> Iterator[Explorer[Any]]:
    """An explorer whose worker has not been started, for whom nothing waits, at another seed."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "start", lambda _: None)
        made = getattr(widgets, request.param)()
    made._slot.take()
    made._assign({"seed": made._controls["seed"].max} if "seed" in made._controls else {})
    yield made
    made.close()


def missions_of(explorer: Explorer[Any]) -> tuple[Mission, ...]:
    found: tuple[Mission, ...] = explorer.MISSIONS  # type: ignore[attr-defined]
    return found


def taken(explorer: Explorer[Any], values: Values) -> Values:
    """A state, as the controls hold it."""
    known = explorer._controls
    state = {n: controls.take(n, known[n], value) for n, value in values.items()}
    return {**explorer._defaults, **state}


def holds(explorer: Explorer[Any], mission: Mission, values: Values) -> bool:
    """Whether a mission is done in this state for the first seeds; no other state is shown."""
    states = [{**taken(explorer, values), "seed": seed} for seed in range(SEEDS)]
    return not any(mission.missing(state, explorer._compute(state)) for state in states)


def said(control: Any, value: Any) -> set[str]:
    """Ways to write a value in a hint, as its slider shows it among them."""
    if isinstance(value, bool):
        return {control.description}
    if isinstance(value, float):
        return {f"{value:g}", controls.written(control, value)}
    if isinstance(control, ipywidgets.Dropdown):  # as its menu has it
        return {label for label, named in control.options if named == value}
    return {str(value)}


def test_each_explorer_has_three_missions_and_every_id_is_there_once() -> None:
    ids = [m.id for name in WITH_MISSIONS for m in getattr(widgets, name).MISSIONS]
    assert len(ids) == len(set(ids)) >= 3 * len(WITH_MISSIONS) > 0
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", one) for one in ids)


def test_at_the_start_it_says_what_is_not_as_asked_in_words_that_fit(idle: Explorer[Any]) -> None:
    if isinstance(idle, widgets.VAEExplorer):  # it would train
        return
    result = idle._compute(state := taken(idle, {}))
    for mission in missions_of(idle):
        missing = mission.missing(state, result)
        assert missing, mission.id
        for words in missing:
            assert "nan" not in words and 5 < len(words) < 100, (mission.id, words)
            assert not words.endswith("."), (mission.id, words)


def test_a_mission_is_asked_of_two_other_seeds_too(idle: Explorer[Any]) -> None:
    state = taken(idle, {})
    others = idle._next_seeds(state)
    if isinstance(idle, widgets.VAEExplorer):  # it would train for seconds
        assert others == []
        return
    assert len({state.get("seed", 0), *(other["seed"] for other in others)}) == SEEDS
    assert all({**other, "seed": 0} == {**state, "seed": 0} for other in others)


def test_a_point_is_asked_for_by_the_doubt_of_the_model_without_the_noise(
    idle: Explorer[Any],
) -> None:
    if "data" not in idle._controls:
        return
    result = idle._compute(taken(idle, {}))
    x, sd = idle._doubt(result)
    shown = getattr(result, "predictions", {"": getattr(result, "prediction", None)})
    doubts = [p.epistemic_std for p in shown.values() if p.epistemic_std.any()]
    np.testing.assert_array_equal(sd, doubts[0])
    np.testing.assert_array_equal(x, result.x_grid[:, 0] if hasattr(result, "x_grid") else x)
    assert len(x) == len(sd) and (np.diff(x) > 0).all()


def elsewhere(idle: Explorer[Any]) -> Values:
    """A state in which no control stands where it stood at the start, if it can."""
    state = dict(idle._defaults)
    for name, control in idle._controls.items():
        if name not in state:
            continue
        if isinstance(state[name], bool):
            state[name] = not state[name]
        elif hasattr(control, "step"):
            state[name] = state[name] + control.step
        elif hasattr(control, "options"):
            others = [o[1] if isinstance(o, tuple) else o for o in control.options]
            state[name] = next(other for other in others if other != state[name])
    return state


def test_controls_that_were_moved_are_named_as_their_labels_are(idle: Explorer[Any]) -> None:
    if isinstance(idle, widgets.VAEExplorer):
        return
    labels = {n: getattr(c, "description", n) for n, c in idle._controls.items()}
    result, state = idle._compute(taken(idle, {})), elsewhere(idle)
    for mission in missions_of(idle):
        moved = [one for one in mission.missing(state, result) if one.startswith("take {")]
        for words in moved:
            said = words.removeprefix("take ").format_map(labels)
            named = [re.sub(" back to .*$", "", way) for way in said.split(" and ")]
            assert set(named) <= set(labels.values()), (mission.id, named)


def test_the_second_hint_names_what_to_move_and_nothing_before_it_does(
    idle: Explorer[Any],
) -> None:
    for mission in missions_of(idle):
        first, second = mission.hints
        assert "“" not in mission.text + first, mission.id  # the labels of controls stand in these
        for name, value in mission.way.items():
            if name == "data":
                assert re.search(r"click|drag", second, re.IGNORECASE), mission.id
                continue
            control = idle._controls[name]
            assert f"“{control.description}”" in second, (mission.id, name)
            assert any(one in second for one in said(control, value)), (mission.id, name, value)


def test_the_controls_can_stand_where_the_way_takes_them(idle: Explorer[Any]) -> None:
    for mission in missions_of(idle):
        assert mission.way
        taken(idle, mission.way)
        for name, value in mission.way.items():
            control = idle._controls[name]
            if isinstance(control, ipywidgets.FloatSlider | ipywidgets.FloatLogSlider):
                at = np.log10(value) if isinstance(control, ipywidgets.FloatLogSlider) else value
                steps = (at - control.min) / control.step
                assert abs(steps - round(steps)) < 1e-6, (mission.id, name)


def test_a_mission_is_done_by_its_second_hint_and_not_at_the_start(
    idle: Explorer[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No picture is drawn of what is computed for other seeds."""
    monkeypatch.setattr(type(idle), "_draw", lambda *_: pytest.fail("it was drawn"))
    for mission in missions_of(idle):
        if mission.way.get("nuts") or isinstance(idle, widgets.VAEExplorer):
            continue
        assert holds(idle, mission, mission.way), mission.id
        assert not holds(idle, mission, {}), mission.id
        without = {name: value for name, value in mission.way.items() if name != "data"}
        if without != mission.way:
            assert not holds(idle, mission, without), f"{mission.id} needs no points"


def test_no_condition_of_a_mission_always_holds(idle: Explorer[Any]) -> None:
    """From its way, one control at a time: each condition keeps some state from being done."""
    if isinstance(idle, widgets.VAEExplorer):  # it would train
        return
    for mission in missions_of(idle):
        if mission.way.get("nuts"):
            continue
        states = [{}, *(values for _, values in idle.PRESETS.values())]
        for name, control in idle._controls.items():
            if name not in ("nuts", "play", "seed", "starts", "n_samples"):
                states += [{**mission.way, name: value} for value in ends(control)]
        kept: set[int] = set()
        for state in ({**taken(idle, values), "nuts": False} for values in states):
            with suppress(ValueError):  # values that do not go together
                found = mission.check(state, idle._compute(state))
                kept |= {k for k, condition in enumerate(found) if not condition.holds}
        asked = mission.check(taken(idle, {}), idle._compute(taken(idle, {})))
        assert kept >= set(range(len(asked))), (mission.id, [asked[k].now for k in kept])


def ends(control: Any) -> list[Any]:
    """The first and the last value of a control; of points, none by hand, and a line."""
    if isinstance(control, points.Unseen):
        x = np.linspace(-1.0, 1.0, 32)
        return [None, (tuple(x), tuple(3.0 * x), points.COURSE)]
    if isinstance(control, ipywidgets.ToggleButton):
        return [not control.value]
    if hasattr(control, "options"):
        values = [o[1] if isinstance(o, tuple) else o for o in control.options]
        return values[:1] + values[-1:]
    base = getattr(control, "base", None)
    return [end if base is None else base**end for end in (control.min, control.max)]


@pytest.mark.parametrize(("off", "done"), [(0.5, True), (4.0, False)])
def test_the_prior_is_mended_when_nuts_comes_near_the_sine(off: float, done: bool) -> None:
    mission = next(m for m in widgets.TruthExplorer.MISSIONS if m.way.get("nuts"))
    x = truth_fits.X_GRID[:, 0]
    model = truth_fits.Model(
        truth_fits.GapProblem(own=mission.way["data"]), mission.way["prior_std"]
    )
    assert len(model.problem.data.x) == 35
    regions = model.problem.regions(x)
    band = SimpleNamespace(mean=truth_fits.TRUTH - off, epistemic_std=np.full(len(x), 0.1))
    bare = truth_fits.TruthResult(model, regions, *[SimpleNamespace(prediction=band, tried=0)] * 3)  # type: ignore[arg-type]
    result = truth_fits.beside_nuts(bare, band, "")  # type: ignore[arg-type]
    state = {"gap": 0.3, "prior_std": 1.0, "noise_std": 1.0, **mission.way}
    assert (not mission.missing(state, result)) is done
    assert mission.missing({**state, "prior_std": 3.0}, result)
    assert mission.missing(state, replace(result, prior_miss=None))  # before NUTS has come


def test_a_method_that_is_not_shown_has_not_done_anything() -> None:
    shown = {"data": 0.9, "gap": 0.1, "outside": 0.2}
    agree, few, hears = widgets.ComparisonExplorer.MISSIONS
    for mission, names, state in (
        (agree, ("map", "bbb", "local", "eb", "pbp"), {"noise_std": 1.0}),
        (few, ("mle", "map", "bbb", "local", "eb"), {"n": 8}),
    ):
        less = {name: {**shown, "data": 0.8} for name in ("mle", "map") if mission is few}
        coverage = {**dict.fromkeys(names, shown), **less}
        assert not mission.missing(state, SimpleNamespace(coverage=coverage))
        for name in names:
            as_much = 0.66 if mission is agree else 0.9 if name in less else 0.8
            near_misses = [{**shown, "data": as_much}]
            near_misses += [{**shown, "gap": 0.26}] if mission is agree else []
            for near in near_misses:
                missed = SimpleNamespace(coverage={**coverage, name: near})
                assert mission.missing(state, missed), (name, near)
            without = {other: c for other, c in coverage.items() if other != name}
            assert mission.missing(state, SimpleNamespace(coverage=without)), name
        other = {"noise_std": 0.9} if mission is agree else {"n": 16}
        assert mission.missing(other, SimpleNamespace(coverage=coverage))
    state = {"noise_std": 1.0, "gap": 0.0}
    for learnt, changed, done in (
        (1.55, {}, True),
        (1.65, {}, False),
        (1.55, {"gap": 0.02}, False),
        (1.55, {"noise_std": 0.9}, False),
    ):
        predictions = {"pbp": SimpleNamespace(aleatoric_std=np.full(3, learnt))}
        result = SimpleNamespace(predictions=predictions)
        assert (not hears.missing({**state, **changed}, result)) is done, (learnt, changed)
    assert hears.missing(state, SimpleNamespace(predictions={})) == ["PBP is not shown"]


# Of each mission, the controls that are to stand where they stood, as its text says.
LEFT = {
    "linear-sure-at-both-ends": {"prior_std", "noise_std", "n_features", "kind"},
    "linear-nothing-to-learn": {"noise_std"},
    "truth-one-point": {"gap", "prior_std", "noise_std", "width"},
    "truth-few-units-reach-as-far": {"gap", "noise_std", "n"},
    "sinusoid-wider-at-1": {"n", "noise_std", "kl_weight", "width"},
    "sinusoid-found-in-noise": {"n", "kl_weight"},
    "sinusoid-six-points": {"sigma1", "sigma2", "pi", "noise_std", "kl_weight", "width"},
    "empirical-bayes-own-best": {"n", "noise_std"},
    "empirical-bayes-no-idle-weights": {"n", "noise_std"},
    "kl-budget-sure-at-1": {"kl_weight"},
    "comparison-pbp-hears-the-noise": {"noise_std"},
    "gradient-the-sign-at-least": {"mu", "sigma", "curvature", "ripple", "parameter"},
    "pbp-unlearn-a-guess": {"n", "noise_std"},
    "rivals-the-limit-opens": {"gap", "noise_std", "n"},
    "rivals-pushed-draws-stay": {"gap", "noise_std", "n", "width"},
    "rivals-one-point-joins": {"gap", "prior_std", "noise_std", "width", "members"},
}


def test_each_control_that_is_to_be_left_is_named_where_it_was_moved(idle: Explorer[Any]) -> None:
    for mission in (m for m in missions_of(idle) if m.id in LEFT):
        state, named = taken(idle, mission.way), set()
        result = idle._compute(state)
        for name, other in elsewhere(idle).items():
            said = mission.missing({**state, name: other}, result)
            named |= {name} if any(f"{{{name}}} back to" in words for words in said) else set()
        assert named == LEFT[mission.id], mission.id


def test_points_that_were_moved_are_not_untouched() -> None:
    start = {"n": 32, "noise_std": 1.0}
    moved = mission_checks.with_more(datasets.sinusoid(), (1.0, 0.0))
    assert len(moved[0]) == 33 and moved[2] == points.COURSE
    assert mission_checks.untouched({**start, "seed": 5}, start, "n", "noise_std").holds
    fewer = mission_checks.untouched({**start, "n": 31}, start, "n", "noise_std")
    assert fewer == (False, "take {n} back to 32")
    both = mission_checks.untouched({"n": 31, "noise_std": 2.0}, start, "n", "noise_std")
    assert both == (False, "take {n} back to 32 and {noise_std} back to 1")
    by_hand = mission_checks.untouched({**start, "data": moved}, start)
    assert by_hand == (False, "a hand has set points")


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (-1.88e-8, "0"),
        (-0.9451, "−0.945"),
        (12, "12"),
        (1234.56, "1235"),
        (0.000321, "0.000321"),
        (True, "on"),
        (False, "off"),
        ("bumps", "bumps"),
    ],
)
def test_a_figure_is_said_as_a_sentence_has_it(value: object, said: str) -> None:
    start = {"it": value}
    words = mission_checks.left({"it": 77}, start, "it").now
    assert words == f"take {{it}} back to {said}"


def test_points_are_the_learner_s_by_hand_or_by_a_table() -> None:
    drawn = datasets.sinusoid()
    hand, table = (
        points.chosen((x, x, units), 1.0, lambda: drawn)
        for x, units in (((0.0, 1.0), points.COURSE), ((0.0, 1.0), (0.0, 2.0, 0.0, 2.0)))
    )
    assert [mission_checks.own(data).holds for data in (drawn, hand, table)] == [False, True, True]
    asked = [mission_checks.by_hand(data) for data in (drawn, hand, table)]
    assert [one.holds for one in asked] == [False, True, False]
    assert "at random" in asked[0].now and "stretched" in asked[2].now
