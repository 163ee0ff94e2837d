"""Test the mailbox of a worker, and that an object belongs to one thread."""

import threading

import pytest

from bdl_teach.widgets._engine.background import Mailbox, Owned


def test_worker_gets_every_message_once_and_in_order() -> None:
    box, seen = Mailbox(), []

    def work() -> None:
        while box.ready() and not box.closed:
            messages = box.take()
            seen.extend(message.given["value"] for message in messages)
            box.done(len(messages))

    worker = threading.Thread(target=work, daemon=True)  # so that a failure does not hang Python
    worker.start()
    for value in range(5000):
        box.put("set", {"value": value})
    assert box.wait(120)
    assert seen == list(range(5000))
    box.close()
    worker.join(120)
    assert not worker.is_alive()


def test_wait_ends_when_all_messages_are_answered() -> None:
    box = Mailbox()
    assert box.wait(0.0), "there is no message to wait for"
    for act in ("one", "two"):
        box.put(act, {})
    box.done(len(box.take("one")))
    assert not box.wait(0.01)
    box.done(len(box.take()))
    assert box.wait(0.01)


def test_rest_lasts_until_a_message_that_moves() -> None:
    box = Mailbox()
    box.rest()
    box.put("place", {})
    assert box.resting and not box.moving
    box.put("set", {}, moves=True)
    assert not box.resting and box.moving
    box.rest()
    assert not box.resting, "the result is already old"


def test_error_is_raised_once_even_if_a_later_message_is_answered() -> None:
    box = Mailbox()
    box.fail(ArithmeticError("too far"))
    box.done(0)
    with pytest.raises(ArithmeticError):
        box.wait(1.0)
    assert box.wait(1.0)


def test_closing_a_mailbox_ends_all_waits_for_it() -> None:
    box = Mailbox()
    box.put("one", {})
    box.close()
    assert box.wait(60.0, for_rest=True)


def test_object_may_be_changed_by_its_owner_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Owned, "CHECKED", True)
    one, errors = Owned(), []

    def change() -> None:
        try:
            one.value = 2
        except RuntimeError as error:
            errors.append(str(error))

    one.value = 1
    one.own()
    other = threading.Thread(target=change, name="another")
    other.start()
    other.join()
    (said,) = errors
    assert one.value == 1 and said.startswith("Owned.value: expected its owner")
    assert said.endswith("got another")
