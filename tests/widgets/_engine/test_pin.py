"""Pin A: what stays in picture and status line while a small explorer moves on."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

import pytest

from bdl_teach import plots
from bdl_teach.widgets._engine import texts, worker
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from tests.waiting import until


class Slope(Explorer[float]):
    """A line as steep as the product of its controls, improved by 0.5 while it rests."""

    TEXTS = texts.parse("""
title = "A slope"
alt = "A line."
[controls]
slope = ["slider", "slope σ₁", 1.0, [0.5, 3.0, 0.5], ""]
times = ["count", "times", 2, [1, 90], ""]
kind = ["row", "kind", "a", [["Alpha", "a"], ["Beta", "b"]], []]
on = ["toggle", "on or off", false, [], ""]
[groups]
ALL = ["slope", "times", "kind", "on"]
[presets]
steep = ["The end", { slope = 3.0, times = 9 }]
[readings]
height = "height"
steps = "steps"
[status]
line = "Height {height:.1f} after {steps} step."
""")

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

    def _readings(self, result: float) -> dict[str, float]:
        return {"height": result, "steps": 1}


ASKED = "A is pinned, in grey. Move something: what stayed the same?"


@pytest.fixture
def slope(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slope]:
    monkeypatch.setattr(worker, "REST", 1e6)
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


def test_of_what_rests_a_is_what_it_becomes(slope: Slope, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a fit that was trained on would be compared with one that was not."""
    monkeypatch.setattr(worker, "REST", worker.SHARPEN)
    slope.pin()
    until(lambda: said(slope) == "Height 2.5 after 1 step.", "an improvement")
    assert [0, 2.5] in ghosts(slope)
    monkeypatch.setattr(worker, "REST", 1e6)
    slope.set(times=5)
    assert said(slope) == "Height 5.0 (+2.5 since A) after 1 step."
    assert said(slope.set(times=2)) == "Height 2.0 (−0.5 since A) after 1 step.", (
        "not yet trained on"
    )
    assert [0, 2.5] in ghosts(slope)
    slope._pin._answer.value = True
    assert answer(slope).startswith("Stayed: 4 of 4 controls; ")
    assert "Changed: height 2.5 → 2.0 (−0.5)" in answer(slope)


# What stayed the same?


def test_the_answer_comes_when_it_is_asked_for_and_follows_the_controls(slope: Slope) -> None:
    slope.pin()
    assert answer(slope) == ASKED
    slope._pin._answer.value = True
    assert answer(slope) == "Nothing has moved: this is A itself."
    slope.set(slope=3.0, kind="b", on=True)
    assert answer(slope) == (
        "Stayed: 1 of 4 controls; steps 1; in the picture zero. "
        "Changed: slope σ₁ 1.00 → 3.00, kind Alpha → Beta, on or off off → on; "
        "height 2.0 → 6.0 (+4.0); in the picture line."
    )
    slope.set(slope=1.0, kind="a", on=False, times=5)
    assert answer(slope).startswith("Stayed: 3 of 4 controls; ")
    assert "times 2 → 5; height 2.0 → 5.0" in answer(slope)
    slope._pin._answer.value = False
    assert answer(slope) == ASKED
