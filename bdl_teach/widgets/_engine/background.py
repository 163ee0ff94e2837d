"""Daemon threads that Python waits for at exit, the owner of an object, and a thread's mailbox.

A daemon thread that is still inside TensorFlow when Python exits crashes the process.
"""

from __future__ import annotations

import atexit
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

_PATIENCE = 30.0  # seconds to wait for one compilation or one window of chains
_lock = threading.Lock()  # held while a thread is started and added to _threads
_threads: set[threading.Thread] = set()
STOPS: list[Callable[[], object]] = []  # called at exit, before the threads are waited for


def start(work: Callable[[], object]) -> threading.Thread:
    """Run ``work`` on a daemon thread; at exit, Python waits for it, 30 seconds at most."""
    thread = threading.Thread(target=work, daemon=True, name=f"bdl_teach {work.__qualname__}")
    with _lock:
        atexit.unregister(finish)  # exit hooks run last in, first out: this one must run
        atexit.register(finish)  # before TensorFlow's, which may have been registered meanwhile
        thread.start()
        _threads.difference_update({other for other in _threads if not other.is_alive()})
        _threads.add(thread)
    return thread


def finish() -> None:
    """Call all functions in ``STOPS``, then wait up to 30 s per thread; for exit and tests."""
    for stop in STOPS:
        stop()
    waited_for: set[threading.Thread] = set()
    while left := _threads.copy() - waited_for:  # a thread that has ended may have started another
        thread = left.pop()
        thread.join(_PATIENCE)
        waited_for.add(thread)


class Owned:
    """An object whose attributes only one thread may assign: its maker or, later, its owner.

    Attributes:
        CHECKED: Whether an assignment by another thread raises ``RuntimeError``; the tests set it.
    """

    CHECKED: ClassVar[bool] = False
    _owner: int | None = None  # the ident of the owner

    def __setattr__(self, name: str, value: Any) -> None:
        """Assign an attribute; raise ``RuntimeError`` if the object belongs to another thread."""
        if Owned.CHECKED and self._owner not in (None, threading.get_ident()):
            raise RuntimeError(
                f"{type(self).__name__}.{name}: expected its owner, thread {self._owner}, to "
                f"assign it; got {threading.current_thread().name}"
            )
        super().__setattr__(name, value)

    def own(self) -> None:
        """Make the present thread the owner."""
        self.__dict__["_owner"] = threading.get_ident()


class Message(NamedTuple):
    """One message to a worker: which of its handlers to call, and with what."""

    act: str  # the name of the handler, without "on_"
    given: dict[str, Any]
    when: float  # by ``time.monotonic``


class Mailbox:
    """The messages to one worker, in their order, and how far it has come with them."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._messages: list[Message] = []
        self._open = 0  # number of messages that are not answered
        self._error: BaseException | None = None
        self.failed = False  # whether the last tick failed
        self.resting = False  # whether the newest result will not become better
        self.moving = 0  # number of waiting messages that can ask for a tick
        self.closed = False

    def put(self, act: str, given: dict[str, Any], *, moves: bool = False) -> None:
        """Add a message; ``moves`` says whether it can ask for a tick."""
        with self._changed:
            self._messages.append(Message(act, given, time.monotonic()))
            self._open += 1
            self.moving += moves
            self.resting = self.resting and not moves
            self._changed.notify_all()

    def ready(self, timeout: float | None = None) -> bool:
        """Wait for a message or ``close``; return ``False`` after ``timeout`` s, if given."""
        with self._changed:
            return self._changed.wait_for(lambda: self.closed or bool(self._messages), timeout)

    def take(self, act: str | None = None) -> list[Message]:
        """Return all messages, or those for the handler ``act``, and remove them here."""
        with self._changed:
            taken = [one for one in self._messages if act in (None, one.act)]
            self._messages = [one for one in self._messages if act not in (None, one.act)]
            self.moving = 0 if act is None else self.moving
            return taken

    @property
    def overtaken(self) -> bool:
        """Return whether a message waits that can ask for a tick, or the mailbox is closed."""
        return self.closed or self.moving > 0

    def done(self, number: int) -> None:
        """Record that so many more messages are answered."""
        with self._changed:
            self._open -= number
            self._changed.notify_all()

    def fail(self, error: BaseException | None) -> None:
        """Record the error of the last tick, ``None`` if there was none, for ``wait``."""
        with self._changed:
            self._error, self.failed = error, error is not None

    def rest(self) -> None:
        """Record that the newest result will not become better, unless a tick is asked for."""
        with self._changed:
            self.resting = not self.moving
            self._changed.notify_all()

    def wait(self, timeout: float, *, for_rest: bool = False) -> bool:
        """Wait until all messages are answered and, if asked for, the result is at rest.

        Returns:
            Whether this has come within ``timeout`` s, or the mailbox was closed.

        Raises:
            BaseException: The error of the last tick, once.
        """

        def is_over() -> bool:
            return self.closed or (self._open <= 0 and (self.resting or not for_rest))

        with self._changed:
            over = self._changed.wait_for(is_over, timeout)
            error, self._error = self._error, None
        if error is not None:
            raise error
        return over

    def close(self) -> None:
        """Set ``closed``, and wake every thread that waits in a method of this object."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()
