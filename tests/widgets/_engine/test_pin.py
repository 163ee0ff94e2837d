"""Pin A: what stays in picture and status line while a small explorer moves on."""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Iterator
from typing import Any

import ipywidgets
import numpy as np
import pytest

from bdl_teach import plots
from bdl_teach.widgets._engine import controls, live
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.picture import Place
from bdl_teach.widgets._engine.points import COURSE, Points
from tests.waiting import until


class Slope(Explorer[float]):
    """A line as steep as the product of its controls, improved by 0.5 while it rests."""

    ALT = "A line."
    TITLE = "A slope"
    PRESETS = {"steep": ("The end", {"slope": 3.0, "times": 9, "kind": "a", "on": False})}  # noqa: RUF012

    def _make_controls(self) -> dict[str, Any]:
        return {
            "slope": controls.slider("slope σ₁", 1.0, 0.5, 3.0, 0.5, ""),
            "times": controls.count_slider("times", 2, 1, 90, ""),
            "kind": ipywidgets.ToggleButtons(
                options=[("Alpha", "a"), ("Beta", "b")], value="a", description="kind"
            ),
            "on": controls.toggle("on or off", ""),
        }

    def _make_groups(self) -> dict[str, list[Any]]:
        return {"ALL": list(self._controls.values())}

    def _make_canvas(self) -> Canvas:
        canvas = Canvas(300, 200)
        ax = canvas.figure.add_subplot()
        self._room = plots.Room(ax, (25.0, 100.0))
        (self._rising,) = ax.plot([0, 1], [0, 0], label="line")
        (self._zero,) = ax.plot([0, 1], [0, 0], ":", label="zero")
        canvas.animate([self._zero, self._rising, *self._room.artists])
        return canvas

    def _compute(self, values: dict[str, Any]) -> float:
        if values["times"] == 13:
            raise ArithmeticError("too far")
        return float(values["slope"] * values["times"])

    def _improve(self, values: dict[str, Any], result: float) -> float | None:
        return None if result % 1 else result + 0.5

    def _draw(self, result: float) -> None:
        self._rising.set_ydata([0, result])
        if self._room.hold({"line": [result]}):
            self._canvas.redraw_background()

    def _describe(self, result: float) -> str:
        return f"Height {result:.1f} after 1 step."


ASKED = "A is pinned, in grey. Move something: what stayed the same?"


@pytest.fixture
def slope(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slope]:
    monkeypatch.setattr(live, "REST", 1e6)
    made = Slope().wait()
    yield made
    made.close()


def ghosts(explorer: Slope) -> list[list[float]]:
    """Heights of the grey lines."""
    ax = explorer._canvas.figure.axes[0]
    return [list(a.get_ydata()) for a in ax.lines if a.get_label() == "_ghost"]


def answer(explorer: Slope) -> str:
    words = html.unescape(explorer._pin._words.value)
    return re.sub("<.*?>", "", words)


def said(explorer: Slope) -> str:
    """The status line without its time."""
    return explorer.status.partition(" · ")[0]


def test_what_was_pinned_stays_in_grey_and_each_figure_says_its_change(slope: Slope) -> None:
    assert slope.pin() is slope
    assert [0, 2] in ghosts(slope) and said(slope) == "Height 2.0 after 1 step."
    slope.set(times=5)
    assert [0, 2] in ghosts(slope) and slope._rising.get_ydata()[1] == 5
    assert said(slope) == "Height 5.0 (+3.0 since A) after 1 step."
    assert "ms" in slope.status
    assert slope._repr_mimebundle_()["text/plain"].endswith(
        "Height 5.0 (+3.0 since A) after 1 step."
    )


def test_unpinned_there_is_no_trace_of_it(slope: Slope) -> None:
    before = slope.set(times=5).png()
    slope.set(times=2)
    slope.pin().set(times=5)
    assert slope.png() != before
    assert slope.unpin() is slope
    assert slope.png() == before and ghosts(slope) == []
    assert said(slope) == "Height 5.0 after 1 step."
    assert "bdl-pinned" not in slope._pin.box._dom_classes
    slope.unpin()  # there is nothing left


def test_the_button_does_the_same_and_shows_what_is_so(slope: Slope) -> None:
    button = slope._pin.toggle
    assert button in slope.children[0].children[-1].children, "among the acts"
    button.value = True
    slope.wait()
    assert [0, 2] in ghosts(slope) and "bdl-pinned" in slope._pin.box._dom_classes
    slope.unpin()
    assert not button.value
    assert slope.pin()._pin.toggle.value


def test_pinned_anew_it_is_the_state_of_now(slope: Slope) -> None:
    slope.pin().set(times=5)
    slope.pin()
    assert [0, 5] in ghosts(slope) and [0, 2] not in ghosts(slope)
    assert said(slope) == "Height 5.0 after 1 step."


def test_the_way_back_and_presets_keep_it(slope: Slope) -> None:
    slope.pin().preset("steep")
    assert said(slope) == "Height 27.0 (+25.0 since A) after 1 step."
    slope.undo()
    assert said(slope.wait()) == "Height 2.0 after 1 step."
    slope.redo()
    slope.wait().reset()
    assert [0, 2] in ghosts(slope.wait())
    assert slope.code() == "widgets.Slope()", "it is no part of the state"


def test_limits_that_grew_for_a_have_room_for_it_and_a_tick_costs_no_background(
    slope: Slope, monkeypatch: pytest.MonkeyPatch
) -> None:
    ax = slope._canvas.figure.axes[0]
    slope.set(times=60)
    slope.pin().set(times=2)
    assert ax.get_ylim() == (-100, 100)
    drawn: list[Any] = []
    real = slope._canvas._draw_background
    monkeypatch.setattr(slope._canvas, "_draw_background", lambda: drawn.append(1) or real())
    slope.set(times=3)
    slope.set(times=4)
    assert drawn == []
    slope.unpin()
    assert ax.get_ylim() == (-25, 25)


def test_it_stays_at_another_size_of_the_page(slope: Slope) -> None:
    slope.pin().set(times=5)
    for width in (400, 800):
        slope._picture.place = {"width": width, "height": 300, "ratio": 1}
        slope.wait()
        assert [0, 2] in ghosts(slope) and said(slope).endswith("(+3.0 since A) after 1 step.")
    assert slope._canvas.place == Place(800, 300, 1)


def test_asked_before_the_first_picture_it_pins_that(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    real = Slope._compute
    monkeypatch.setattr(Slope, "_compute", lambda e, v: go_on.wait(60) and real(e, v))
    early = Slope()
    early._pin.toggle.value = True
    go_on.set()
    early.wait()
    assert [0, 2] in ghosts(early) and "Height 2.0" in early.status
    early.close()


def test_a_failure_is_not_hidden_by_it(slope: Slope) -> None:
    with pytest.raises(ArithmeticError):
        slope.pin().set(times=13)
    assert "too far" in slope.status
    slope._pin.toggle.value = False
    slope.wait()
    assert "too far" in slope.status
    assert said(slope.set(times=5)) == "Height 5.0 after 1 step."


def test_of_what_rests_a_is_what_it_becomes(slope: Slope, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a fit that was trained on would be compared with one that was not."""
    monkeypatch.setattr(live, "REST", live.SHARPEN)
    slope.pin()
    until(lambda: said(slope) == "Height 2.5 after 1 step.", "an improvement")
    assert [0, 2.5] in ghosts(slope)
    monkeypatch.setattr(live, "REST", 1e6)
    slope.set(times=5)
    assert said(slope) == "Height 5.0 (+2.5 since A) after 1 step."
    assert said(slope.set(times=2)) == "Height 2.0 (−0.5 since A) after 1 step.", (
        "not yet trained on"
    )
    assert [0, 2.5] in ghosts(slope)
    slope._pin._answer.value = True
    assert answer(slope).startswith("Stayed: 4 of 4 controls; ")
    assert "Changed: Height 2.5 → 2.0 (−0.5)" in answer(slope)


def test_a_better_result_elsewhere_leaves_a_as_it_was(
    slope: Slope, monkeypatch: pytest.MonkeyPatch
) -> None:
    slope.pin()
    monkeypatch.setattr(live, "REST", live.SHARPEN)
    slope.set(times=5)
    until(lambda: said(slope) == "Height 5.5 (+3.5 since A) after 1 step.", "an improvement")
    assert [0, 2] in ghosts(slope)
    monkeypatch.setattr(live, "REST", 1e6)


# What stayed the same?


def test_the_answer_comes_when_it_is_asked_for_and_follows_the_controls(slope: Slope) -> None:
    slope.pin()
    assert answer(slope) == ASKED
    slope._pin._answer.value = True
    assert answer(slope) == "Nothing has moved: this is A itself."
    slope.set(slope=3.0, kind="b", on=True)
    assert answer(slope) == (
        "Stayed: 1 of 4 controls; after 1 step; in the picture zero. "
        "Changed: slope σ₁ 1.00 → 3.00, kind Alpha → Beta, on or off off → on; "
        "Height 2.0 → 6.0 (+4.0); in the picture line."
    )
    slope.set(slope=1.0, kind="a", on=False, times=5)
    assert answer(slope).startswith("Stayed: 3 of 4 controls; ")
    assert "times 2 → 5; Height 2.0 → 5.0" in answer(slope)
    slope._pin._answer.value = False
    assert answer(slope) == ASKED


def test_what_has_no_name_or_is_a_setting_is_not_said_to_have_stayed(
    slope: Slope, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slope, "_describe", lambda h: f"Height {h:.1f}/44/55; for S = 66: it is 7")
    slope.set(times=3).pin().set(times=5)
    slope._pin._answer.value = True
    stayed = answer(slope).partition("Changed")[0]
    assert "it is 7" in stayed
    assert not any(figure in stayed for figure in ("44", "55", "66"))


def test_where_words_alone_have_changed_no_figure_and_no_control_has(
    slope: Slope, monkeypatch: pytest.MonkeyPatch
) -> None:
    slope.pin()._pin._answer.value = True
    monkeypatch.setattr(slope, "_describe", lambda _: "Otherwise.")
    slope._request()
    slope.wait()
    assert answer(slope) == "Stayed: 4 of 4 controls; in the picture zero, line. Changed: nothing."


def test_the_answer_is_text_and_not_markup(slope: Slope) -> None:
    slope._controls["on"].description = "a < b"
    slope.pin().set(on=True)
    slope._pin._answer.value = True
    assert "a &lt; b off → on" in slope._pin._words.value


def test_unpinned_the_answer_is_taken_back(slope: Slope) -> None:
    slope.pin()._pin._answer.value = True
    slope.unpin()
    assert (slope._pin._answer.value, answer(slope)) == (False, ASKED)


def test_the_question_stands_where_it_stood_and_the_box_shares_its_place(slope: Slope) -> None:
    (place,) = (c for c in slope.children if "bdl-place-of-question" in c._dom_classes)
    assert place.children == (slope._pin.box,)


def test_a_closed_one_pins_nothing(slope: Slope) -> None:
    slope.close()
    for act in (slope.pin, slope.unpin):
        with pytest.raises(RuntimeError, match="was closed"):
            act()


def test_values_are_written_as_their_controls_show_them() -> None:
    made = {
        "1.50": (controls.slider("", 1, 0, 2, 0.1, ""), 1.5),
        "0.100": (controls.log_slider("", 1, -2, 2, ".3f", ""), 0.1),
        "10.0": (controls.log_slider("", 1, -2, 2, ".3g", ""), 10.0),
        "7": (controls.count_slider("", 7, 0, 9, ""), np.int64(7)),
        "4": (controls.choice_slider("", 4, (1, 4), ""), 4),
        "B": (ipywidgets.ToggleButtons(options=[("A", "a"), ("B", "b")]), "b"),
        "off": (controls.toggle("", ""), False),
        "as drawn": (Points(), None),
        "4 by hand": (Points(), ((0.1, 0.2, 0.3, 0.4), (1.0, 2.0, 3.0, 4.0), COURSE)),
    }
    for text, (control, value) in made.items():
        assert controls.written(control, value) == text
