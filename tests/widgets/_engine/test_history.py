"""Test undo and redo: which changes are one step, and which are forgotten."""

import pytest

from bdl_teach.widgets._engine.history import History

START = {"x": 0.0, "kind": "a"}


def moved(*values: float, every: float = 10.0) -> History:
    """Change x to each of these values, so many seconds apart."""
    made = History(START)
    for i, x in enumerate(values):
        made.note({**START, "x": x}, every * i)
    return made


def test_a_long_drag_is_one_undo_step() -> None:
    made = moved(*(0.1 * k for k in range(1, 60)), every=0.9)
    assert made.undo() == START
    assert made.redo() == {**START, "x": pytest.approx(5.9)}
    assert not made.ahead


def test_a_pause_or_another_control_starts_a_new_undo_step() -> None:
    made = History(START)
    made.note({**START, "x": 1.0}, 0.0)
    made.note({**START, "x": 2.0}, 0.5)
    made.note({**START, "x": 3.0}, 1.6)  # more than a second later
    made.note({"x": 3.0, "kind": "b"}, 1.7)
    assert made.undo() == {**START, "x": 3.0}
    assert made.undo() == {**START, "x": 2.0}
    assert made.undo() == START


def test_values_rounded_by_the_page_add_no_undo_step() -> None:
    made = moved(0.1, 2.0)
    assert made.undo() == {**START, "x": 0.1}
    made.note({**START, "x": 0.1 * (1 + 1e-12)}, 30.0)  # the page's answer to an undo
    assert made.redo() == {**START, "x": 2.0}


def test_a_preset_right_after_a_slider_starts_an_undo_step() -> None:
    for first in ({"x": 1.0}, {"kind": "b"}):
        made = History(START)
        made.note({**START, **first}, 0.0)
        made.note({"x": 2.0, "kind": "c"}, 0.1)
        assert made.before == {**START, **first}


def test_two_quick_drags_are_two_undo_steps() -> None:
    made = History(START)
    for x in (1.0, 2.0):
        made.end_movement()
        made.held = True
        for step in (0.1, 0.2):
            made.note({**START, "x": x + step}, 0.0)
        made.held = False
    assert [made.undo(), made.undo()] == [{**START, "x": 1.2}, START]
