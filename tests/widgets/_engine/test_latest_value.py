"""The slot between controls and worker: of values that queue the last counts, and none is lost."""

from __future__ import annotations

import threading

import pytest

from bdl_teach.widgets._engine.background import LatestValue


def test_newer_value_replaces_older_and_last_is_kept() -> None:
    slot, seen = LatestValue[int](), []

    def work() -> None:
        while (job := slot.take()) is not None:
            seen.append(job[1])
            slot.done(job[0], None)

    worker = threading.Thread(target=work, daemon=True)  # if this fails, Python still ends
    worker.start()
    for value in range(5000):
        slot.put(value)
    slot.wait(120)
    assert seen[-1] == 4999
    assert seen == sorted(set(seen))  # and none twice
    slot.close()
    worker.join(120)
    assert not worker.is_alive()


def test_timeout_says_how_long_it_waited() -> None:
    slot: LatestValue[str] = LatestValue()
    slot.wait(0.0)  # for nothing
    slot.put("one")
    slot.take()
    with pytest.raises(TimeoutError, match=r"within 0\.01 s"):
        slot.wait(0.01)


def test_error_is_raised_once_even_if_shown_again() -> None:
    slot: LatestValue[str] = LatestValue()
    for value in ("one", "the same, smaller"):
        slot.put(value)
    slot.done(1, ArithmeticError("too far"))
    slot.shown_again(2)
    with pytest.raises(ArithmeticError):
        slot.wait(1.0)
    slot.wait(1.0)


def test_done_version_does_not_complete_a_newer_one() -> None:
    slot: LatestValue[str] = LatestValue()
    slot.put("one")
    version, _ = slot.take() or (0, "")
    slot.put("two")
    slot.done(version, None)
    with pytest.raises(TimeoutError):
        slot.wait(0.01)


def test_closed_slot_wakes_all_waiters() -> None:
    slot: LatestValue[str] = LatestValue()
    slot.put("one")
    slot.close()
    assert slot.closed and slot.take() is None
    slot.wait(60.0)
