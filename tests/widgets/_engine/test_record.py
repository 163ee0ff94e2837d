"""A sweep as a moving picture: which states it shows, what the file holds, what stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from bdl_teach.widgets._engine import record as recording
from bdl_teach.widgets._engine import texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer


class Dial(Explorer[float]):
    """A line as high as its slider, in a panel that fills the picture."""

    TEXTS = texts.parse("""
title = "A dial"
alt = "A line."
[controls]
height = ["slider", "height", 1.0, [0.0, 4.0, 0.5], ""]
scale = ["powers", "scale", 1.0, [-2, 1], ""]
n = ["count", "n", 2, [1, 9], ""]
kind = ["places", "kind", "b", ["a", "b", "c"], ""]
on = ["toggle", "on", false, [], ""]
[groups]
ALL = ["height", "scale", "n", "kind", "on"]
[status]
line = "Height {height:g}."
""")

    def _make_canvas(self) -> Canvas:
        canvas = Canvas(300, 200)
        ax = canvas.figure.add_axes((0, 0, 1, 1))
        ax.set(xlim=(0, 1), ylim=(0, 4))
        ax.set_axis_off()
        self._band = ax.fill_between([0, 1], 0, 1, color="#204080")
        canvas.animate([self._band])
        return canvas

    def _compute(self, values: dict[str, Any]) -> float:
        if values["n"] == 9:
            raise ArithmeticError("too far")
        return float(values["height"])

    def _draw(self, result: float) -> None:
        self._band.set_data([0, 1], 0, result)

    def _readings(self, result: float) -> dict[str, float]:
        return {"height": result}


@pytest.fixture
def dial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dial]:
    monkeypatch.chdir(tmp_path)
    made = Dial().wait()
    yield made
    made.close()


def dark(picture: Image.Image) -> float:
    """Share of the picture that is not white."""
    return float((np.asarray(picture.convert("L")) < 128).mean())


def frames(path: Path) -> list[Image.Image]:
    with Image.open(path) as gif:
        found = []
        for i in range(gif.n_frames):  # type: ignore[attr-defined]
            gif.seek(i)
            found.append(gif.convert("RGB"))
        return found


# Which states


def values(name: str, *given: Any, frames: int = 40) -> list[Any]:
    control = Dial._make_controls(None)[name]  # type: ignore[arg-type]
    swept = recording.sweep(name, control, *given, frames)
    assert all(list(state) == [name] for state in swept)
    return [state[name] for state in swept]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"control": "hight", "start": 0, "stop": 1}, "hight: expected one of the controls height"),
        ({"control": "height", "start": 0.0, "stop": 5.0}, "height: expected a value between 0"),
        ({"control": "kind", "start": "a", "stop": "z"}, "kind: expected one of a, b, c, got 'z'"),
        ({"control": "on", "start": False, "stop": True}, "on: expected a slider, or states"),
        ({"control": "n", "start": 1, "stop": 4, "frames": 1}, "frames: expected an integer >= 2"),
        ({"control": "n", "start": 1, "stop": 4, "file": "a.webm"}, "expected a name that ends in"),
        ({"control": "n", "start": 1, "stop": 4, "seconds": 0}, "seconds: expected"),
        ({"control": "n", "start": 1, "stop": 4, "width": 99}, "width: expected an integer >= 100"),
        ({"states": [{"n": 2}, {"n": 99}]}, "n: expected a value between 1 and 9, got 99"),
        ({"states": []}, "states: expected at least one"),
        ({}, "record: expected a control with two values, or states"),
        ({"control": "n", "start": 1, "stop": 4, "states": [{}]}, "record: expected a control"),
    ],
)
def test_what_cannot_be_recorded_is_refused_before_anything_moves(
    dial: Dial, given: dict[str, Any], words: str
) -> None:
    ticks = dial.ticks
    with pytest.raises(ValueError, match=words):
        dial.record(**given)
    assert list(Path().iterdir()) == [] and dial.wait().ticks <= ticks + 1


# What the file holds


def test_a_gif_shows_each_state_in_its_order_as_long_as_was_asked(
    dial: Dial, capsys: pytest.CaptureFixture[str]
) -> None:
    path = dial.record("height", 0.5, 3.5, seconds=1.4, width=300)
    assert path == Path("Dial.gif")
    shown = frames(path)
    shares = [dark(picture) for picture in shown]
    np.testing.assert_allclose(shares, np.arange(0.5, 3.6, 0.5) / 4, atol=0.02)
    assert shown[0].size == (300, 200)
    with Image.open(path) as gif:
        assert gif.info["duration"] == 200 and gif.info["loop"] == 0
    assert "Dial.gif" in capsys.readouterr().err, "progress"


def test_afterwards_everything_is_as_it_was(dial: Dial) -> None:
    dial.set(height=2.0).set(kind="c", on=True)
    state, before = dial.state(), dial.png()
    dial.record("height", 0.0, 4.0, width=300)
    assert dial.state() == state and dial.png() == before
    dial.undo()
    assert dial.wait().state() == {**state, "kind": "b", "on": False}
    dial.undo()
    assert dial.wait().state()["height"] == 1.0
