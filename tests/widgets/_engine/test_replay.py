"""Test the replay of a training: its slider and its button."""

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from bdl_teach.widgets._engine import worker
from bdl_teach.widgets._engine.live import Explorer
from tests.waiting import until
from tests.widgets._engine.toy import ToyModel

STEPS = (0, 1, 2, 4, 8)


class TrainedModel(ToyModel):
    """A toy whose bar grows in eight training steps."""

    def frames(self, result: float) -> Sequence[int]:
        return STEPS

    def replay(self, result: float, frame: int) -> float:
        return result * STEPS[frame] / STEPS[-1]


class Trained(Explorer.of("Trained", TrainedModel)):  # type: ignore[misc]
    @property
    def slider(self) -> Any:
        return self._view._film._slider

    @property
    def button(self) -> Any:
        return self._view._film._button

    @property
    def height(self) -> float:
        return self._worker.model.height


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> Iterator[Trained]:
    monkeypatch.setattr(worker, "PACE", 0.02)
    made = Trained(n=8).wait()
    yield made
    made.close()


def at(explorer: Trained, frame: int) -> Trained:
    explorer.slider.index = frame
    return explorer.wait()


def test_moved_control_ends_replay_and_shows_the_fit(trained: Trained) -> None:
    trained.set(n=4)
    for act in (
        lambda: trained.set(n=4),
        lambda: setattr(trained._view.controls["n"], "value", 5),
        trained.undo,
        lambda: trained.preset("high"),
        trained.reset,
    ):
        at(trained, 1)
        assert trained.height == trained.result / 8
        act()
        trained.wait()
        assert trained.slider.index == 4
        assert trained.height == trained.result == trained.readings()["height"]
        assert trained.status.startswith("Height")


def test_replay_button_plays_all_frames_and_then_shows_the_fit(
    trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown, draw = [], trained._worker.model.draw
    monkeypatch.setattr(
        trained._worker.model, "draw", lambda height: (shown.append(height), draw(height))
    )
    trained.button.value = True
    until(lambda: trained.button.description == "‖ pause", "the play")
    until(lambda: not trained.button.value, "the end")
    assert shown == [0.0, 1.0, 2.0, 4.0, 8.0]
    assert trained.button.description == "▶ replay"
    until(lambda: trained.status == "Height 8.", "the fit")
    assert trained.slider.index == 4 and trained.height == 8.0


def test_replay_stops_when_a_control_moves(
    trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "PACE", 60.0)
    for act, height in (
        (lambda: setattr(trained.button, "value", False), 0.0),
        (lambda: setattr(trained.slider, "index", 3), 4.0),
        (lambda: setattr(trained._view.controls["n"], "value", 4), 4.0),
    ):
        trained.set(n=8).button.value = True
        until(lambda: trained.status.startswith("Step 0 of 8"), "the first frame")
        act()
        trained.wait()
        assert not trained._worker.stage.film.playing and not trained.button.value
        assert trained.height == height
        assert trained.set(m=1).height == trained.state()["n"], "the worker is not blocked"
        trained.reset()


def test_closing_the_explorer_ends_a_playing_replay(
    trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained.close()
    made = Trained().wait()
    monkeypatch.setattr(worker, "PACE", 60.0)
    made.button.value = True
    until(lambda: made.status.startswith("Step 0 of 8"), "the first frame")
    (thread,) = (t for t in threading.enumerate() if t.name.endswith("Worker.run") and t.is_alive())
    made.close()
    thread.join(10)
    assert not thread.is_alive()
