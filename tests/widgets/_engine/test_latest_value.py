"""Test the slot between controls and worker, which keeps the latest value only."""

import threading

import pytest

from bdl_teach.widgets._engine.background import LatestValue


def test_worker_skips_replaced_values_and_gets_the_last() -> None:
    slot, seen = LatestValue[int](), []

    def work() -> None:
        while (job := slot.take()) is not None:
            seen.append(job[1])
            slot.done(job[0], None)

    worker = threading.Thread(target=work, daemon=True)  # so that a failure does not hang Python
    worker.start()
    for value in range(5000):
        slot.put(value)
    slot.wait(120)
    assert seen[-1] == 4999
    assert seen == sorted(set(seen)), "a value was taken twice, or too late"
    slot.close()
    worker.join(120)
    assert not worker.is_alive()


def test_wait_for_a_newer_value_times_out() -> None:
    slot: LatestValue[str] = LatestValue()
    slot.wait(0.0)  # there is no value to wait for
    slot.put("one")
    version, _ = slot.take() or (0, "")
    slot.put("two")
    slot.done(version, None)
    with pytest.raises(TimeoutError, match=r"within 0\.01 s"):
        slot.wait(0.01)


def test_error_is_raised_once_even_if_a_later_value_is_shown() -> None:
    slot: LatestValue[str] = LatestValue()
    for value in ("one", "the same, smaller"):
        slot.put(value)
    slot.done(1, ArithmeticError("too far"))
    slot.shown_again(2)
    with pytest.raises(ArithmeticError):
        slot.wait(1.0)
    slot.wait(1.0)


def test_closing_a_latest_value_ends_all_waits_for_it() -> None:
    slot: LatestValue[str] = LatestValue()
    slot.put("one")
    slot.close()
    assert slot.closed and slot.take() is None
    slot.wait(60.0)
