"""A sweep as a moving picture: which states it shows, what the file holds, what stays."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ipywidgets
import numpy as np
import pytest
from PIL import Image

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine import record as recording
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.points import Points


class Dial(Explorer[float]):
    """A line as high as its slider, in a panel that fills the picture."""

    ALT = "A line."
    TITLE = "A dial"

    def _make_controls(self) -> dict[str, Any]:
        return {
            "height": controls.slider("height", 1.0, 0.0, 4.0, 0.5, ""),
            "scale": controls.log_slider("scale", 1.0, -2, 1, ".2f", ""),
            "n": controls.count_slider("n", 2, 1, 9, ""),
            "kind": controls.choice_slider("kind", "b", ("a", "b", "c"), ""),
            "on": controls.toggle("on", ""),
        }

    def _make_groups(self) -> dict[str, list[Any]]:
        return {"ALL": list(self._controls.values())}

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

    def _describe(self, result: float) -> str:
        return f"Height {result:g}."


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


def test_a_sweep_goes_evenly_over_the_places_of_a_slider() -> None:
    assert values("height", 0.0, 2.0) == [0.0, 0.5, 1.0, 1.5, 2.0]
    assert values("height", 2.0, 1.0) == [2.0, 1.5, 1.0], "downwards"
    assert values("height", 0.0, 4.0, frames=3) == [0.0, 2.0, 4.0]
    assert values("n", 1, 4) == [1, 2, 3, 4]
    assert all(isinstance(n, int) for n in values("n", 1, 9, frames=4))
    assert values("kind", "c", "a") == ["c", "b", "a"]


def test_a_sweep_begins_and_ends_where_it_was_asked_to() -> None:
    """Some tenths are 5.999 steps from the low end."""
    slider = controls.slider("noise σ", 1.0, 0.1, 3.0, 0.1, "")
    for tenth in range(2, 31):
        value = tenth / 10
        for ends in ((0.1, value), (value, 0.1)):
            swept = [state["noise_std"] for state in recording.sweep("noise_std", slider, *ends, 5)]
            assert (swept[0], swept[-1]) == ends


def test_a_slider_whose_last_step_is_shorter_ends_at_its_end() -> None:
    slider = controls.slider("share", 0.0, 0.0, 1.0, 0.6, "")
    swept = recording.sweep("share", slider, 0.0, 1.0, 5)
    assert [state["share"] for state in swept] == [0.0, 0.6, 1.0]


def test_points_by_hand_are_no_slider() -> None:
    with pytest.raises(ValueError, match="^data: expected a slider, or states"):
        recording.sweep("data", Points(), None, None, 5)


def test_a_slider_of_powers_goes_evenly_on_its_own_scale() -> None:
    np.testing.assert_allclose(values("scale", 0.01, 10.0, frames=4), [0.01, 0.1, 1.0, 10.0])
    assert len(values("scale", 0.01, 10.0)) == 31, "tenths of a decade"


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


def test_by_default_it_takes_four_seconds_and_is_720_pixels_wide(dial: Dial) -> None:
    with Image.open(dial.record("height", 0.5, 2.0)) as gif:
        assert (gif.size, gif.info["duration"]) == ((720, 480), 1000)


def test_no_picture_is_shown_for_less_than_a_browser_would_show_it(tmp_path: Path) -> None:
    """Of less than 20 ms most make 100."""
    pictures = [Image.new("RGB", (9, 9), (shade, 0, 0)) for shade in (0, 90, 180)]
    recording._write_gif(tmp_path / "a.gif", pictures, 0.01)
    with Image.open(tmp_path / "a.gif") as gif:
        assert gif.info["duration"] == 20


def test_what_stands_still_does_not_flicker(dial: Dial) -> None:
    shown = [np.asarray(p) for p in frames(dial.record("height", 0.5, 3.5, width=300))]
    assert all((picture[-20:] == shown[0][-20:]).all() for picture in shown)
    assert (shown[0][0] == 255).all(), "paper is white"
    assert np.abs(shown[0][-1, 0].astype(int) - (0x20, 0x40, 0x80)).max() < 12


def test_states_of_ones_own_are_shown_as_they_come(dial: Dial) -> None:
    states = [{"height": 3.0}, {"height": 1.0, "on": True}, {"height": 2.0}]
    path = dial.record(states=states, file=Path("own.gif"), width=300)
    np.testing.assert_allclose([dark(p) for p in frames(path)], [0.75, 0.25, 0.5], atol=0.02)


def test_afterwards_everything_is_as_it_was(dial: Dial) -> None:
    dial.set(height=2.0).set(kind="c", on=True)
    state, before = dial.state(), dial.png()
    dial.record("height", 0.0, 4.0, width=300)
    assert dial.state() == state and dial.png() == before
    dial.undo()
    assert dial.wait().state() == {**state, "kind": "b", "on": False}
    dial.undo()
    assert dial.wait().state()["height"] == 1.0


def test_also_where_a_state_fails(dial: Dial) -> None:
    state = dial.state()
    with pytest.raises(ArithmeticError):
        dial.record("n", 1, 9)
    assert dial.state() == state and "Height 1." in dial.status
    assert list(Path().iterdir()) == []


def fake_ffmpeg(folder: Path, script: str) -> None:
    """A program called ffmpeg, alone on the PATH: there may be none on this machine."""
    program = folder / "ffmpeg"
    program.write_text(f"#!{sys.executable}\nimport sys\n{script}\n", encoding="utf-8")
    program.chmod(0o755)


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
def test_an_mp4_is_what_ffmpeg_makes_of_all_pixels(
    dial: Dial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    fake_ffmpeg(
        tmp_path,
        "pixels = sys.stdin.buffer.read()\n"
        "open(sys.argv[-1], 'w').write(f'{len(pixels)} {list(pixels[-3:])} {sys.argv}')",
    )
    Path("a.mp4").write_text("an older one", encoding="utf-8")
    path = dial.record("height", 0.5, 4.0, file="a.mp4", seconds=3.0, width=301)
    said = path.read_text(encoding="utf-8")
    assert said.startswith(f"{8 * 301 * 201 * 3} {[0x20, 0x40, 0x80]} ")
    given, made = said.split("'-i', '-'")
    assert "'-y'" in given, "in the place of an older one"
    assert "'rgb24', '-s', '301x201', '-r', '2.66667'" in given
    assert "yuv420p" in made, "which every player knows"
    assert "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white" in made, "and which wants even sides"


@pytest.mark.skipif(os.name == "nt", reason="a script is no program there")
@pytest.mark.parametrize(
    ("end", "said"), [("'stream 0\\nno encoder\\n'", "no encoder"), ("1", "nothing")]
)
def test_what_ffmpeg_says_last_when_it_fails_is_said(
    dial: Dial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str, said: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    fake_ffmpeg(tmp_path, f"sys.stdin.buffer.read()\nsys.exit({end})")
    with pytest.raises(RuntimeError, match=rf"could not write a\.mp4; it said: {said}$"):
        dial.record("n", 1, 3, file="a.mp4")


def none_for_this_system() -> str:
    raise RuntimeError("No ffmpeg exe could be found.")


@pytest.mark.parametrize(
    "package", [None, SimpleNamespace(get_ffmpeg_exe=none_for_this_system)], ids=["none", "empty"]
)
def test_without_ffmpeg_an_mp4_is_refused_before_anything_is_computed(
    dial: Dial, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: Any
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", package)
    shown: list[Any] = []
    monkeypatch.setattr(dial, "_draw", shown.append)
    with pytest.raises(RuntimeError, match=r"needs the program ffmpeg.*name a \.gif"):
        dial.record("height", 0.0, 4.0, file="a.mp4")
    assert set(shown) <= {1.0}


def test_a_closed_one_records_nothing(dial: Dial) -> None:
    dial.close()
    with pytest.raises(RuntimeError, match="was closed"):
        dial.record("height", 0.0, 4.0)


def test_a_row_of_choices_can_be_gone_through_too() -> None:
    row = ipywidgets.ToggleButtons(options=[("A", "a"), ("B", "b")])
    assert recording.sweep("row", row, "a", "b", 5) == [{"row": "a"}, {"row": "b"}]


def test_of_many_colours_each_is_the_same_in_all_pictures(tmp_path: Path) -> None:
    still = np.random.default_rng(0).integers(0, 256, (40, 40, 3), dtype=np.uint8)
    moving = (np.full((40, 40, 3), shade, np.uint8) for shade in (0, 60, 120, 180))
    pictures = [Image.fromarray(np.hstack([still, part])) for part in moving]
    recording._write_gif(tmp_path / "a.gif", pictures, 1.0)
    shown = [np.asarray(picture)[:, :40] for picture in frames(tmp_path / "a.gif")]
    assert len(shown) == 4 and all((part == shown[0]).all() for part in shown)


def test_each_picture_has_its_own_colours_though_one_palette_is_of_all(tmp_path: Path) -> None:
    colours = np.random.default_rng(1).integers(0, 240, (8, 3))
    pictures = [Image.new("RGB", (30, 30), tuple(map(int, colour))) for colour in colours]
    recording._write_gif(tmp_path / "a.gif", pictures, 1.0)
    shown = [np.asarray(picture)[0, 0].astype(int) for picture in frames(tmp_path / "a.gif")]
    assert np.abs(np.array(shown) - colours).max() < 12
