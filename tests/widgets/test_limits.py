"""What a function panel draws is inside its frame, or a word at the edge says that it is not."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

import ipywidgets
import matplotlib.figure
import numpy as np
import pytest
from matplotlib.axes import Axes

from bdl_teach import plots, widgets
from bdl_teach.problems import own_points as points
from bdl_teach.problems.own_points import COURSE, Value
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.points import Points, Unseen

# As many random states of each explorer; a longer look: BDL_TEACH_STATES=500.
STATES = int(os.environ.get("BDL_TEACH_STATES", "30"))
# Of each: its panel, and the curves of a result that it draws there.
PANELS: dict[str, Callable[[Any], Axes]] = {
    "SinusoidExplorer": lambda e: e._function_axes,
    "LinearRegressionExplorer": lambda e: e._function.axes,
    "EmpiricalBayesExplorer": lambda e: e._function.axes,
    "KLBudgetLab": lambda e: e._function.axes,
    "PBPStepper": lambda e: e._function.axes,
    "TruthExplorer": lambda e: e._functions.axes,
    "RivalsExplorer": lambda e: e._panels["first"].axes,
}
SLOW = {"n_samples": 1, "starts": 1, "play": False, "nuts": False}  # what only costs time


@pytest.fixture(params=list(PANELS))
def explorer(request: pytest.FixtureRequest) -> Iterator[Explorer[Any]]:
    made = getattr(widgets, request.param)().wait()
    yield made
    made.close()


def by_hand(rng: np.random.Generator) -> Value:
    """Points that a hand may have set, or a table of its own units."""
    n = rng.integers(32, 41)  # as many as there are minibatches, at least
    units = COURSE if rng.integers(2) else (rng.normal(), 3.0, rng.normal(), 0.2)
    return points.from_course(rng.uniform(-1.0, 1.0, n), rng.uniform(-25.0, 25.0, n), units)


def anywhere(control: Any, rng: np.random.Generator) -> Any:
    """A value that the control can be moved to."""
    if isinstance(control, Points):
        return by_hand(rng) if rng.integers(2) else None
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


def test_mean_and_band_are_inside_the_frame_or_the_edge_says_so(explorer: Explorer[Any]) -> None:
    ax = PANELS[type(explorer).__name__](explorer)
    rng, hidden = np.random.default_rng(0), []
    for _ in range(STATES):
        values = {name: anywhere(c, rng) for name, c in explorer._controls.items()}
        values |= {name: value for name, value in SLOW.items() if name in values}
        result = explorer._compute(values)
        frames = list(explorer._frames(result))[:-1]
        if frames and rng.integers(2):
            result = explorer._replay(result, int(rng.integers(len(frames))))
        with RENDER_LOCK:
            explorer._draw(result)
        low, high = ax.get_ylim()
        said = " ".join(t.get_text() for t in ax.texts if t.get_visible())
        for name, curve in plots.edges(result.prediction).items():
            if type(explorer).__name__ == "TruthExplorer":  # its band is of the function alone
                p = result.prediction
                curve = p.mean + (name == "band") * 2 * p.epistemic_std
            if (curve.min() < low or curve.max() > high) and f"{name} leaves" not in said:
                hidden.append((values, name, float(curve.min()), float(curve.max()), (low, high)))
    assert hidden == []


@pytest.fixture
def room() -> plots.Room:
    return plots.Room(matplotlib.figure.Figure().add_subplot(), (10.0, 20.0, 40.0))


@pytest.mark.parametrize(
    ("reach", "limit", "words"),
    [
        (3.0, 10.0, ""),
        (10.0, 10.0, ""),
        (-10.5, 20.0, ""),
        (39.0, 40.0, ""),
        (41.0, 40.0, "▲ mean leaves, to +41"),
        (-1234.0, 40.0, "▼ mean leaves, to −1,234"),
    ],
)
def test_the_height_is_the_first_step_that_holds_all(
    room: plots.Room, reach: float, limit: float, words: str
) -> None:
    moved = room.hold({"band": [0.0, 5.0], "mean": [1.0, reach, 2.0]})
    assert moved == (limit != 10.0)
    assert room._ax.get_ylim() == (-limit, limit)
    assert room._words.get_text() == words
    assert not room.hold({"mean": [reach]}), "it stays where it is"
