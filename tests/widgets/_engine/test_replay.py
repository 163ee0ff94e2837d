"""Replay: what its slider and its button do, on a small explorer that has been trained."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import ipywidgets
import numpy as np
import pytest
from explorer_claims import assert_is_still_of

from bdl_teach.widgets._engine import controls, live, replay
from bdl_teach.widgets._engine.canvas import Canvas
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

    ALT = "A bar."
    TITLE = "Trained"

    def _make_controls(self) -> dict[str, Any]:
        self.replayed: list[tuple[int, str]] = []
        return {
            "n": controls.count_slider("n", 8, 0, 800, "height"),
            "m": controls.count_slider("m", 1, 1, 9, ""),
        }

    def _make_groups(self) -> dict[str, list[Any]]:
        return {"ALL": list(self._controls.values())}

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

    def _describe(self, result: Grown) -> str:
        return f"Height {result.height:g}."

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
    monkeypatch.setattr(live, "PACE", 0.02)
    made = Trained().wait()
    yield made
    made.close()


def at(explorer: Trained, frame: int) -> Trained:
    """Move the slider, as the page does."""
    explorer.slider.index = frame
    return explorer.wait()


# The slider


def test_the_slider_has_a_place_for_every_frame_and_stands_at_the_last(trained: Trained) -> None:
    assert [label for label, _ in trained.slider.options] == ["0", "1", "2", "4", "8"]
    assert (trained.slider.index, trained.slider.label) == (4, "8")
    assert not trained.slider.disabled and not trained.button.disabled
    assert trained.height == 8.0 and trained.replayed == []


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


def test_the_last_frame_is_the_fit(trained: Trained) -> None:
    whole, status = trained.png(), trained.status
    assert at(trained, 1).png() != whole
    assert at(trained, 4).png() == whole
    assert trained.status == status and trained.result == Grown(8.0)
    assert [frame for frame, _ in trained.replayed] == [1], "nobody makes the fit anew"


def test_frames_are_made_by_the_worker(trained: Trained) -> None:
    at(trained, 2)
    assert {thread for _, thread in trained.replayed} == {"bdl_teach Explorer._work"}


def test_frames_that_are_passed_over_are_not_made(
    trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, real = threading.Event(), threading.Event(), trained._film._replay

    def slowly(result: Grown, frame: int) -> Grown:
        begun.set()
        assert go_on.wait(60)
        return real(result, frame)

    monkeypatch.setattr(trained._film, "_replay", slowly)
    trained.slider.index = 3
    assert begun.wait(60)
    for frame in (2, 1, 2, 0):
        trained.slider.index = frame
    go_on.set()
    assert trained.wait().height == 0.0
    assert [frame for frame, _ in trained.replayed] == [3, 0]


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


def test_a_hand_on_the_slider_during_a_refit_gets_the_frame_of_the_new_fit(
    trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on, real = threading.Event(), threading.Event(), trained._compute

    def slowly(values: dict[str, Any]) -> Grown:
        begun.set()
        assert go_on.wait(60)
        return real(values)

    monkeypatch.setattr(trained, "_compute", slowly)
    trained._controls["n"].value = 4
    assert begun.wait(60)
    trained.slider.index = 2
    go_on.set()
    assert trained.wait().height == 1.0
    assert trained.result == Grown(4.0)


def test_what_asks_for_a_picture_by_itself_leaves_the_frame(trained: Trained) -> None:
    """A gold standard that has come, for one."""
    at(trained, 3)
    trained._request()
    assert trained.wait().height == 4.0
    assert (trained.slider.index, trained.status[:12]) == (3, "Step 4 of 8:")


def test_another_number_of_steps_has_other_places(trained: Trained) -> None:
    trained.set(n=7)
    assert [label for label, _ in trained.slider.options] == list(map(str, range(8)))
    assert trained.slider.index == 7 and trained.height == 7.0
    assert at(trained, 3).height == 3.0
    trained.set(n=8)
    assert (trained.slider.index, trained.slider.label) == (4, "8")
    assert trained._film.at_end


@pytest.mark.parametrize("n", [0, 13])
def test_without_a_training_there_is_nothing_to_move(trained: Trained, n: int) -> None:
    """None was needed, or it failed: what is over the picture stays there."""
    trained._controls["n"].value = n
    until(lambda: trained.slider.disabled, "an empty film")
    assert trained.button.disabled and trained.slider.index == 0
    if n == 13:
        with pytest.raises(ValueError, match="luck"):
            trained.wait()
    trained.set(n=8)
    assert not trained.slider.disabled and trained.slider.index == 4


def test_a_frame_that_cannot_be_made_is_said_over_the_picture(
    trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_result: Grown, _frame: int) -> Grown:
        raise ArithmeticError("too far")

    monkeypatch.setattr(trained._film, "_replay", fail)
    at(trained, 1)
    assert trained.status == "ArithmeticError: too far"
    assert trained._notice.get_visible() and trained.slider.disabled
    assert trained.set(n=3).height == 3.0


def test_the_frame_stays_at_another_size_of_the_page(trained: Trained) -> None:
    at(trained, 2)
    trained._picture.place = {"width": 500, "height": 320, "ratio": 1}
    assert trained.wait().height == 2.0
    assert trained.status.startswith("Step 2 of 8")
    assert [frame for frame, _ in trained.replayed] == [2]


def test_a_still_and_its_words_are_of_the_same_frame(trained: Trained) -> None:
    at(trained, 2)
    bundle = trained._repr_mimebundle_()
    assert bundle["text/plain"] == "A bar. Step 2 of 8: Height 2."
    assert_is_still_of(base64.b64decode(bundle["image/png"]), trained.png())


def test_python_goes_to_the_nearest_frame(trained: Trained) -> None:
    for step, height in ((0, 0.0), (3, 2.0), (5, 4.0), (7, 8.0), (None, 8.0)):
        assert trained.replay(step).height == height
        assert trained.slider.index == trained._film._frame
    trained.close()
    with pytest.raises(RuntimeError, match="was closed"):
        trained.replay(0)


# The button


def test_it_plays_from_the_start_to_the_end_and_stops_there(trained: Trained) -> None:
    trained.button.value = True
    assert trained.button.description == "‖ pause"
    until(lambda: not trained.button.value, "the end")
    assert [frame for frame, _ in trained.replayed] == [0, 1, 2, 3]
    assert trained.button.description == "▶ replay"
    until(lambda: trained.status == "Height 8.", "the fit")
    assert trained.slider.index == 4 and trained.height == 8.0


def test_it_plays_on_from_where_the_slider_stands(trained: Trained) -> None:
    at(trained, 2)
    trained.button.value = True
    until(lambda: not trained.button.value, "the end")
    assert [frame for frame, _ in trained.replayed] == [2, 3]


@pytest.mark.parametrize("act", ["pause", "slider", "control", "replay"])
def test_it_stops_when_something_moves(
    trained: Trained, monkeypatch: pytest.MonkeyPatch, act: str
) -> None:
    monkeypatch.setattr(live, "PACE", 60.0)
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
    monkeypatch.setattr(live, "PACE", 60.0)
    made.button.value = True
    until(lambda: made.status.startswith("Step 0 of 8"), "the first frame")
    (worker,) = (t for t in threading.enumerate() if t.name.endswith("_work") and t.is_alive())
    made.close()
    worker.join(10)
    assert not worker.is_alive()
    assert len(ipywidgets.widgets.widget._instances) == alive


def test_pictures_are_a_pace_apart(trained: Trained, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "PACE", 0.2)
    began = time.perf_counter()
    trained.button.value = True
    until(lambda: not trained.button.value, "the end")
    assert time.perf_counter() - began > 4 * 0.2 * 0.9


# What rests is improved


class Improving(Trained):
    """It is trained on, while nothing moves, to twice the height in twice the steps."""

    def _improve(self, values: dict[str, Any], result: Grown) -> Grown | None:
        return None if result.height >= 16 else Grown(16.0, (0, 4, 16))


def test_a_better_fit_has_a_replay_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "REST", 0.25)
    made = Improving().wait()
    until(lambda: made.status == "Height 16.", "an improvement")
    assert [label for label, _ in made.slider.options] == ["0", "4", "16"]
    assert made.slider.index == 2
    assert at(made, 1).status == "Step 4 of 16: Height 4."
    made.close()


def test_a_frame_on_the_way_is_left_in_peace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "REST", 0.25)
    monkeypatch.setattr(live, "SHARPEN", 0.05)
    made = Improving()
    made.replay(2)
    time.sleep(0.6)
    assert made.result == Grown(8.0) and made.status == "Step 2 of 8: Height 2."
    made.replay()
    until(lambda: made.status == "Height 16.", "an improvement")
    made.close()


# Who has none


def test_an_explorer_that_does_not_train_has_no_row() -> None:
    class Plain(Trained):
        _frames = Explorer._frames

    alive = len(ipywidgets.widgets.widget._instances)
    plain = Plain().wait()
    rows = [part for part in live._parts(plain) if "bdl-film" in getattr(part, "_dom_classes", ())]
    assert rows == []
    assert plain._film.at_end and plain.height == 8.0
    plain.close()
    assert len(ipywidgets.widgets.widget._instances) == alive


def test_two_hands_at_once_leave_the_slider_where_the_picture_is() -> None:
    """The page moves the slider while the worker plays: whoever comes last is shown."""
    film: Film[int] = Film(lambda _: tuple(range(50)), lambda _, frame: frame, lambda: None)
    film.develop(49)
    stop, rng = threading.Event(), np.random.default_rng(0)

    def play() -> None:
        while not stop.is_set():
            if not film.advance():
                film._on_button({"new": True})

    worker = threading.Thread(target=play, daemon=True)
    worker.start()
    for frame in rng.integers(0, 50, 300):
        film._slider.index = int(frame)
    stop.set()
    worker.join(30)
    assert film._slider.index == film._frame


def test_a_slider_has_two_places_at_least_which_a_page_needs_to_draw_it() -> None:
    assert replay._options((5,)) == replay._options(()) == [("0", 0), ("1", 1)]
    assert replay._options((0, 7)) == [("0", 0), ("7", 1)]
