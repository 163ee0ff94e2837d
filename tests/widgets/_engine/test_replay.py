"""Replay: what its slider and its button do, on a small explorer that has been trained."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ipywidgets
import numpy as np
import pytest

from bdl_teach.widgets._engine import texts, worker
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.latest import LatestValue
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.replay import Film
from tests.waiting import until

STEPS = (0, 1, 2, 4, 8)


@dataclass(frozen=True)
class Grown:
    """A height, and how many steps it took."""

    height: float
    steps: Sequence[int] = STEPS


class Trained(Explorer[Grown]):
    """A bar that grows to n in eight steps."""

    TEXTS = texts.parse("""
title = "Trained"
alt = "A bar."
[controls]
n = ["count", "n", 8, [0, 800], "height"]
m = ["count", "m", 1, [1, 9], ""]
[groups]
ALL = ["n", "m"]
[status]
line = "Height {height:g}."
""")

    def _make_controls(self) -> dict[str, Any]:
        self.replayed: list[tuple[int, str]] = []
        return super()._make_controls()

    def _make_canvas(self) -> Canvas:
        canvas = Canvas(200, 100)
        ax = canvas.figure.add_subplot()
        ax.set_ylim(0, 10)
        (self._bar,) = ax.plot([0, 1], [0, 0])
        canvas.animate([self._bar])
        return canvas

    def _compute(self, values: dict[str, Any]) -> Grown:
        if values["n"] == 13:
            raise ValueError("n: expected luck")
        steps = {0: (), 7: tuple(range(8))}.get(values["n"], STEPS)
        return Grown(float(values["n"]), steps)

    def _frames(self, result: Grown) -> Sequence[int]:
        return result.steps

    def _replay(self, result: Grown, frame: int) -> Grown:
        self.replayed.append((frame, threading.current_thread().name))
        return replace(result, height=result.height * result.steps[frame] / result.steps[-1])

    def _draw(self, result: Grown) -> None:
        self._bar.set_ydata([0, result.height])

    def _readings(self, result: Grown) -> dict[str, float]:
        return {"height": result.height}

    @property
    def slider(self) -> Any:
        return self._film._slider

    @property
    def button(self) -> Any:
        return self._film._button

    @property
    def height(self) -> float:
        return float(self._bar.get_ydata()[1])


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> Iterator[Trained]:
    monkeypatch.setattr(worker, "PACE", 0.02)
    made = Trained().wait()
    yield made
    made.close()


def at(explorer: Trained, frame: int) -> Trained:
    """Move the slider, as the page does."""
    explorer.slider.index = frame
    return explorer.wait()


# The slider


@pytest.mark.parametrize(("frame", "height"), [(0, 0.0), (2, 2.0), (3, 4.0)])
def test_a_frame_is_drawn_and_said_and_changes_neither_state_nor_result(
    trained: Trained, frame: int, height: float
) -> None:
    state, result, ticks = trained.state(), trained.result, trained.ticks
    at(trained, frame)
    assert trained.height == height
    assert trained.status == f"Step {STEPS[frame]} of 8: Height {height:g}."
    assert (trained.state(), trained.ticks) == (state, ticks)
    assert trained.result is result
    assert trained._acts["undo"].disabled and trained.code() == "widgets.Trained()"
    until(lambda: trained._picture.alt.endswith(f"Height {height:g}."), "the words of the frame")


@pytest.mark.parametrize("act", ["a control", "set", "undo", "reset", "preset"])
def test_whatever_moves_shows_the_whole_fit_again(trained: Trained, act: str) -> None:
    trained.set(n=4)
    at(trained, 1)
    assert trained.height == 0.5
    if act == "a control":
        trained._controls["n"].value = 5
    elif act == "preset":
        trained._choose = lambda name: trained._go({"n": 5})  # type: ignore[method-assign]
        trained._choose("")
    else:
        {"set": lambda: trained.set(n=4), "undo": trained.undo, "reset": trained.reset}[act]()
    trained.wait()
    assert trained.slider.index == 4
    assert trained.height == trained.state()["n"]
    assert trained.status.startswith("Height")


# The button


def test_it_plays_from_the_start_to_the_end_and_stops_there(trained: Trained) -> None:
    trained.button.value = True
    until(lambda: trained.button.description == "‖ pause", "the play")
    until(lambda: not trained.button.value, "the end")
    assert [frame for frame, _ in trained.replayed] == [0, 1, 2, 3]
    assert trained.button.description == "▶ replay"
    until(lambda: trained.status == "Height 8.", "the fit")
    assert trained.slider.index == 4 and trained.height == 8.0


@pytest.mark.parametrize("act", ["pause", "slider", "control", "replay"])
def test_it_stops_when_something_moves(
    trained: Trained, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    monkeypatch.setattr(worker, "PACE", 60.0)
    trained.button.value = True
    until(lambda: trained.status.startswith("Step 0 of 8"), "the first frame")
    assert trained._film.playing
    if act == "pause":
        trained.button.value = False
    elif act == "slider":
        trained.slider.index = 3
    elif act == "control":
        trained._controls["n"].value = 4
    else:
        trained.replay(4)
    trained.wait()
    assert not trained._film.playing and not trained.button.value
    expected = {"pause": 0.0, "slider": 4.0, "control": 4.0, "replay": 4.0}
    assert trained.height == expected[act]
    assert trained.set(m=5).height == trained.state()["n"], "the worker is free"


def test_what_plays_ends_with_the_explorer(
    trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained.close()
    alive = len(ipywidgets.widgets.widget._instances)
    made = Trained().wait()
    monkeypatch.setattr(worker, "PACE", 60.0)
    made.button.value = True
    until(lambda: made.status.startswith("Step 0 of 8"), "the first frame")
    (thread,) = (t for t in threading.enumerate() if t.name.endswith("_work") and t.is_alive())
    made.close()
    thread.join(10)
    assert not thread.is_alive()
    assert len(ipywidgets.widgets.widget._instances) == alive


# Who has none


def test_two_hands_at_once_leave_the_slider_where_the_picture_is() -> None:
    """The page moves the slider while the worker plays: whoever comes last is shown."""
    slot: LatestValue[int] = LatestValue()
    film: Film[int] = Film(
        lambda _: tuple(range(50)), lambda _, frame: frame, lambda act: slot.put(0, act)
    )
    film.develop(49)
    rng = np.random.default_rng(0)

    def play() -> None:
        while not slot.closed:
            for act in slot.messages():
                act()
            film.advance() if film.playing else film._start()

    worker = threading.Thread(target=play, daemon=True)
    worker.start()
    for frame in rng.integers(0, 50, 300):
        film._slider.index = int(frame)
    slot.close()
    worker.join(30)
    for act in slot.messages():
        act()
    assert film._slider.index == film._frame
