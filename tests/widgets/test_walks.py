"""Random walks of a hand through every explorer: nothing raises, and the picture is the state's.

Here through those that compute in no time; through all of them, and longer: BDL_TEACH_WALK=500.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import ipywidgets
import numpy as np
import pytest

from bdl_teach import widgets
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.own_data import Points, Unseen

STEPS = int(os.environ.get("BDL_TEACH_WALK", "25"))
QUICK = ["GradientLab", "LinearRegressionExplorer", "LocalReparamLab", "PBPStepper"]
WALKED = list(widgets.__all__) if "BDL_TEACH_WALK" in os.environ else QUICK
SLOW = {"n_samples", "starts", "play", "nuts", "beta"}  # what only costs time
TRAINS_APART = {"VAEExplorer": {"seed", "kind"}}  # for seconds, in a thread of its own

Act = Callable[[Explorer[Any], np.random.Generator], object]


def placed_by_hand(rng: np.random.Generator) -> points.Value:
    """Points that a hand may have set, or a table of its own units."""
    n = rng.integers(32, 41)  # as many as there are minibatches, at least
    units = points.COURSE if rng.integers(2) else (rng.normal(), 3.0, rng.normal(), 0.2)
    return points.from_course(rng.uniform(-1.0, 1.0, n), rng.uniform(-25.0, 25.0, n), units)


def anywhere(control: Any, rng: np.random.Generator) -> Any:
    """A value that the control can be moved to."""
    if isinstance(control, Points):
        return placed_by_hand(rng) if rng.integers(2) else None
    if isinstance(control, Unseen):
        return None
    if isinstance(control, ipywidgets.ToggleButton):
        return bool(rng.integers(2))
    if hasattr(control, "options"):
        values = [o[1] if isinstance(o, tuple) else o for o in control.options]
        return values[rng.integers(len(values))]
    if isinstance(control, ipywidgets.IntSlider):
        return int(rng.integers(control.min, control.max + 1))
    if hasattr(control, "base"):
        return float(control.base ** rng.uniform(control.min, control.max))
    return float(rng.uniform(control.min, control.max))


def move(explorer: Explorer[Any], rng: np.random.Generator) -> None:
    """Move a slider, or press what is there to be pressed."""
    still = SLOW | TRAINS_APART.get(type(explorer).__name__, set())
    names = [
        name
        for name, control in explorer._controls.items()
        if name not in still and not isinstance(control, Unseen) and not control.disabled
    ]
    name = names[rng.integers(len(names))]
    explorer.set(**{name: anywhere(explorer._controls[name], rng)})


def hand(explorer: Explorer[Any], rng: np.random.Generator) -> None:
    """Do something in the picture, as the page would say it."""
    panels = explorer._picture.panels
    if not panels:
        return
    number = int(rng.integers(len(panels)))
    panel = panels[number]
    at = {axis: float(rng.uniform(*panel[axis])) for axis in "xy"}
    if panel["kind"] == "at":
        acts = [("down", {"panel": number, **at}), ("up", {"panel": number, **at})]
    elif panel["kind"] == "points" and rng.random() < 0.7:
        n = max(len(explorer._picture.points.get("at", ())), 1)
        i = {"i": int(rng.integers(n))}
        drag = [("down", {}), ("move", {**i, **at}), ("up", {})]
        acts = (drag, [("add", at)], [("remove", i)])[rng.integers(3)]
    else:
        acts = [("hover", {"panel": number, **at}), ("hover", {"panel": -1})]
    for act, more in acts:
        explorer._picture._handle_custom_msg({"act": act, **more}, [])


def table(explorer: Explorer[Any], rng: np.random.Generator) -> None:
    """Bring a table along."""
    control = explorer._controls.get("data")
    if isinstance(control, Points):
        n = int(rng.integers(32, control.most + 1))
        explorer.set(data=(rng.normal(50.0, 9.0, n), rng.normal(-3.0, 0.1, n)))


def draw(explorer: Explorer[Any], _: np.random.Generator) -> None:
    """Go on with a drawing of the band."""
    if explorer._drawn_band is not None:
        explorer._made["draw"].click()


def replay(explorer: Explorer[Any], rng: np.random.Generator) -> None:
    """Go to a step of the training."""
    explorer.replay(int(rng.integers(1500)) if rng.random() < 0.7 else None)


def preset(explorer: Explorer[Any], rng: np.random.Generator) -> None:
    """Start from somewhere else, where that takes no training apart and no chains."""
    names = [
        name
        for name, (_, values) in explorer.PRESETS.items()
        if not values.get("nuts") and type(explorer).__name__ not in TRAINS_APART
    ]
    if names:
        explorer.preset(names[rng.integers(len(names))])


ACTS: dict[str, Act] = {
    "move": move, "hand": hand, "table": table, "draw": draw, "replay": replay, "preset": preset,
    "undo": lambda e, _: e.undo(), "redo": lambda e, _: e.redo(), "reset": lambda e, _: e.reset(),
    "pin": lambda e, _: e.pin(), "unpin": lambda e, _: e.unpin(),
}  # fmt: skip
OFTEN = {"move": 6.0, "hand": 5.0}


def assert_the_picture_is_the_state_s(explorer: Explorer[Any], did: list[str]) -> None:
    """What is shown was computed for the values that the controls have, and nothing failed."""
    assert not explorer._notice.get_visible(), (did, explorer.status)
    assert controls.same(explorer._painted, explorer.state()), did
    own = explorer.state().get("data")
    if own is not None:
        data = explorer._data(explorer.result)
        np.testing.assert_allclose(np.stack(points.in_course(own), 1), np.hstack([data.x, data.y]))


@pytest.fixture(params=WALKED)
def explorer(request: pytest.FixtureRequest) -> Iterator[Explorer[Any]]:
    made = getattr(widgets, request.param)().wait()
    yield made
    made.close()


def test_explorer_stays_consistent_under_random_actions(explorer: Explorer[Any]) -> None:
    rng = np.random.default_rng(len(type(explorer).__name__))
    odds = np.array([OFTEN.get(name, 1.0) for name in ACTS])
    did: list[str] = []
    for _ in range(STEPS):
        name = str(rng.choice(list(ACTS), p=odds / odds.sum()))
        did.append(name)
        try:
            ACTS[name](explorer, rng)
            explorer.wait()
        except ValueError as error:  # fewer points than there are minibatches
            assert "n_batches" in str(error), (did, error)
            explorer.reset()
            explorer.wait()
        assert_the_picture_is_the_state_s(explorer, did)
