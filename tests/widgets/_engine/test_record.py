"""Test the recording of a sweep as a GIF."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from bdl_teach.widgets._engine.canvas import Canvas
from tests.widgets._engine.toy import Toy


class Dial(Toy):
    """A dark band as high as the toy's bar, in a panel that fills the picture."""

    SIZE = (300, 200)

    def _make_panels(self, canvas: Canvas) -> None:
        ax = canvas.figure.add_axes((0, 0, 1, 1))
        ax.set(xlim=(0, 1), ylim=(0, 4))
        ax.set_axis_off()
        self._band = ax.fill_between([0, 1], 0, 1, color="#204080")
        canvas.animate([self._band])

    def _draw(self, result: float) -> None:
        self._band.set_data([0, 1], 0, result)


@pytest.fixture
def dial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Dial]:
    monkeypatch.chdir(tmp_path)
    made = Dial().wait()
    yield made
    made.close()


def dark(picture: Image.Image) -> float:
    """Return the share of dark pixels."""
    return float((np.asarray(picture.convert("L")) < 128).mean())


def frames(path: Path) -> list[Image.Image]:
    with Image.open(path) as gif:
        found = []
        for i in range(gif.n_frames):  # type: ignore[attr-defined]
            gif.seek(i)
            found.append(gif.convert("RGB"))
        return found


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"control": "hight", "start": 0, "stop": 1}, "hight: expected one of the controls width"),
        ({"control": "width", "start": 0.5, "stop": 5.0}, "width: expected a value between 0.5"),
        ({"control": "n", "start": 1, "stop": 4, "frames": 1}, "frames: expected an integer >= 2"),
        ({"control": "n", "start": 1, "stop": 4, "file": "a.webm"}, "expected a name that ends in"),
        ({"states": [{"n": 2}, {"n": 99}]}, "n: expected a value between 0 and 90, got 99"),
        ({}, "record: expected a control with start and stop, or states"),
    ],
)
def test_invalid_recording_is_refused_and_no_control_moves(
    dial: Dial, given: dict[str, Any], words: str
) -> None:
    ticks = dial.ticks
    with pytest.raises(ValueError, match=words):
        dial.record(**given)
    assert list(Path().iterdir()) == [] and dial.wait().ticks <= ticks + 1


def test_gif_shows_states_in_order_and_leaves_the_explorer_unchanged(
    dial: Dial, capsys: pytest.CaptureFixture[str]
) -> None:
    state, before = dial.set(n=3).state(), dial.png()
    path = dial.record("width", 0.5, 1.0, seconds=0.4, width=300)
    assert path == Path("Dial.gif")
    shown = frames(path)
    shares = [dark(picture) for picture in shown]
    np.testing.assert_allclose(shares, np.array([1.5, 3.0]) / 4, atol=0.02)
    assert shown[0].size == (300, 200)
    with Image.open(path) as gif:
        assert gif.info["duration"] == 200 and gif.info["loop"] == 0
    assert "Dial.gif" in capsys.readouterr().err
    assert dial.state() == state and dial.png() == before
    dial.undo()
    assert dial.wait().state() == {**state, "n": 2}
