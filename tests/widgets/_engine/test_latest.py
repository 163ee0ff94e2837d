"""The slot between controls and worker: of values that queue the last counts, and none is lost."""

from __future__ import annotations

import pytest

from bdl_teach.widgets._engine.latest import LatestValue


def test_of_values_that_nobody_has_taken_the_last_is_taken_once() -> None:
    slot: LatestValue[str] = LatestValue()
    slot.put("one")
    slot.put("two")
    assert slot.take() == (2, "two")
    assert slot.take(0.0) is None, "the first is not to be had any more"


def test_who_waits_in_vain_is_told_how_long_it_was() -> None:
    slot: LatestValue[str] = LatestValue()
    slot.wait(0.0)  # for nothing
    slot.put("one")
    slot.take()
    with pytest.raises(TimeoutError, match=r"within 0\.01 s"):
        slot.wait(0.01)


def test_an_error_is_raised_once_also_where_the_same_was_shown_again_meanwhile() -> None:
    slot: LatestValue[str] = LatestValue()
    for value in ("one", "the same, smaller"):
        slot.put(value)
    slot.done(1, ArithmeticError("too far"))
    slot.shown_again(2)
    with pytest.raises(ArithmeticError):
        slot.wait(1.0)
    slot.wait(1.0)


def test_what_is_done_is_not_what_came_after_it() -> None:
    slot: LatestValue[str] = LatestValue()
    slot.put("one")
    version, _ = slot.take() or (0, "")
    slot.put("two")
    slot.done(version, None)
    with pytest.raises(TimeoutError):
        slot.wait(0.01)


def test_a_closed_slot_lets_everyone_go_home() -> None:
    slot: LatestValue[str] = LatestValue()
    slot.put("one")
    slot.close()
    assert slot.closed and slot.take() is None
    slot.wait(60.0)
