"""States to go back to: what counts as one movement, and what is forgotten."""

from __future__ import annotations

import pytest

from bdl_teach.widgets._engine.history import History

START = {"x": 0.0, "kind": "a"}


def moved(*values: float, every: float = 10.0) -> History:
    made = History(START)
    for i, x in enumerate(values):
        made.note({**START, "x": x}, every * i)
    return made


def test_a_drag_counts_once_however_long_it_is() -> None:
    made = moved(*(0.1 * k for k in range(1, 60)), every=0.9)
    assert made.undo() == START
    assert made.redo() == {**START, "x": pytest.approx(5.9)}
    assert not made.ahead


def test_a_pause_or_another_control_begins_a_new_movement() -> None:
    made = History(START)
    made.note({**START, "x": 1.0}, 0.0)
    made.note({**START, "x": 2.0}, 0.5)
    made.note({**START, "x": 3.0}, 1.6)  # more than a second later
    made.note({"x": 3.0, "kind": "b"}, 1.7)
    assert made.undo() == {**START, "x": 3.0}
    assert made.undo() == {**START, "x": 2.0}
    assert made.undo() == START


def test_unchanged_state_is_no_movement() -> None:
    """The page answers an undo with the values that it was given, rounded."""
    made = moved(0.1, 2.0)
    assert made.undo() == {**START, "x": 0.1}
    made.note({**START, "x": 0.1 * (1 + 1e-12)}, 30.0)
    assert made.ahead
    assert made.redo() == {**START, "x": 2.0}


def test_a_control_that_moves_along_with_another_begins_a_movement() -> None:
    """As a preset does, however soon after a slider that it moves, too."""
    for first in ({"x": 1.0}, {"kind": "b"}):
        made = History(START)
        made.note({**START, **first}, 0.0)
        made.note({"x": 2.0, "kind": "c"}, 0.1)
        assert made.before == {**START, **first}


def test_two_quick_drags_are_two_movements() -> None:
    made = History(START)
    for x in (1.0, 2.0):
        made.end_movement()
        made.held = True
        for step in (0.1, 0.2):
            made.note({**START, "x": x + step}, 0.0)
        made.held = False
    assert [made.undo(), made.undo()] == [{**START, "x": 1.2}, START]
