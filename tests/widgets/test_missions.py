"""Missions: what an explorer asks for can be done as its hint says, and is not done by itself.

Nothing is drawn: the explorers are made without their workers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import ipywidgets
import numpy as np
import pytest

from bdl_teach import widgets
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.controls import Values
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.missions import SEEDS, Mission, Need
from tests.widgets.idle import idle_explorer
from tests.widgets.near_misses import MISSES

WITH_MISSIONS = [name for name in widgets.__all__ if getattr(widgets, name).MISSIONS]


@pytest.fixture(scope="module", params=WITH_MISSIONS)
def idle(request: pytest.FixtureRequest) -> Iterator[Explorer[Any]]:
    """An explorer whose worker has not been started, for whom nothing waits, at another seed."""
    with idle_explorer(request.param) as made:
        made._slot.take()
        made._assign({"seed": made._controls["seed"].max} if "seed" in made._controls else {})
        yield made


def missions_of(explorer: Explorer[Any]) -> tuple[Mission, ...]:
    return explorer.MISSIONS


def taken(explorer: Explorer[Any], values: Values) -> Values:
    """A state, as the controls hold it."""
    known = explorer._controls
    state = {n: controls.take(known, n, value) for n, value in values.items()}
    return {**explorer._defaults, **state}


def missing(explorer: Explorer[Any], mission: Mission, state: Values) -> list[str]:
    return mission.missing(state, explorer._readings_of(explorer._compute(state)))


def test_mission_ids_are_unique() -> None:
    ids = [m.id for name in WITH_MISSIONS for m in getattr(widgets, name).MISSIONS]
    assert len(ids) == len(set(ids)) > 0 and set(MISSES) <= set(ids)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)+", one) for one in ids)


def test_a_mission_is_asked_of_two_other_seeds_too(idle: Explorer[Any]) -> None:
    state = taken(idle, {})
    others = idle._next_seeds(state)
    if isinstance(idle, widgets.VAEExplorer):  # it would train for seconds
        assert others == []
        return
    assert len({state.get("seed", 0), *(other["seed"] for other in others)}) == SEEDS
    assert all({**other, "seed": 0} == {**state, "seed": 0} for other in others)


def test_point_is_asked_for_by_epistemic_uncertainty_only(
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


def test_second_hint_is_necessary_and_sufficient_for_mission(idle: Explorer[Any]) -> None:
    """Nor by what falls just short of one thing that it asks for."""
    for mission in missions_of(idle):
        state = taken(idle, mission.way)
        for name, value in mission.way.items():
            control = idle._controls[name]
            if isinstance(control, ipywidgets.FloatSlider | ipywidgets.FloatLogSlider):
                at = np.log10(value) if isinstance(control, ipywidgets.FloatLogSlider) else value
                steps = (at - control.min) / control.step
                assert abs(steps - round(steps)) < 1e-6, (mission.id, name, "no key leads there")
        if mission.way.get("nuts") or isinstance(idle, widgets.VAEExplorer):
            continue
        for seed in range(SEEDS):
            assert missing(idle, mission, {**state, "seed": seed}) == [], (mission.id, seed)
        short = [{}, *MISSES.get(mission.id, [])]
        if "data" in mission.way:
            short.append({"data": None})
        for changed in short:
            way = {**mission.way, **changed} if changed else {}
            seeds = range(1 if changed else SEEDS)
            each = [{**taken(idle, {}), **idle._whole({}), **way, "seed": k} for k in seeds]
            assert any(missing(idle, mission, one) for one in each), (mission.id, changed)


STEP = 1e-3  # of a figure
INSIDE = {"<": -STEP, "<=": 0.0, ">": STEP, ">=": 0.0, "==": 0.0}
BESIDE = {"<": 0.0, "<=": STEP, ">": 0.0, ">=": -STEP, "==": -STEP}


def near(need: Need, by: dict[str, float]) -> Any:
    """A figure as it is asked for, or just beside that; of words others."""
    if isinstance(need.value, bool | str):
        return need.value if (by is INSIDE) is (need.comparison == "==") else "another"
    return need.value + by[need.comparison] * (abs(need.value) or 1.0)


def test_every_condition_of_a_mission_is_necessary(
    idle: Explorer[Any],
) -> None:
    """And is read off a result, or a control."""
    for mission in missions_of(idle):
        state = {**taken(idle, mission.way), **mission.leave}
        readings = {need.name: near(need, INSIDE) for need in mission.needs}
        if not mission.way.get("nuts") and not isinstance(idle, widgets.VAEExplorer):
            found = idle._readings_of(idle._compute(taken(idle, mission.way)))
            assert {need.name for need in mission.needs} <= {*state, *found}, mission.id
            readings = {**found, **readings}
        assert mission.missing(state, readings) == [], mission.id
        for need in mission.needs:
            lacks = mission.missing(state, {**readings, need.name: near(need, BESIDE)})
            assert len(lacks) == 1, (mission.id, need)
        for name in mission.leave:
            (said,) = mission.missing({**state, name: "elsewhere"}, readings)
            assert name == "data" or f"{{{name}}}" in said
