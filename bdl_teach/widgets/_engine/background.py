"""Run daemon threads that Python waits for at exit, and pass the newest value to a thread.

A daemon thread that is still inside TensorFlow when Python exits crashes the process.
"""

import atexit
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")

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


class LatestValue(Generic[T]):
    """The newest value for a worker thread, and functions that the thread calls before using it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._value: T  # set by the first put
        self._messages: list[Callable[[], object]] = []
        self._put = self._taken = self._done = 0
        self._error: BaseException | None = None
        self.closed = False

    def put(self, value: T, act: Callable[[], object] | None = None) -> None:
        """Store ``value``, queue ``act`` if one is given, and wake the worker."""
        with self._changed:
            self._value, self._put = value, self._put + 1
            self._messages += [] if act is None else [act]
            self._changed.notify_all()

    def messages(self) -> list[Callable[[], object]]:
        """Empty the queue of functions, and return them."""
        with self._changed:
            taken, self._messages = self._messages, []
        return taken

    def ready(self, timeout: float | None = None) -> bool:
        """Wait for a new value or ``close``; return ``False`` after ``timeout`` s, if given."""
        with self._changed:
            return self._changed.wait_for(lambda: self.closed or self._put > self._taken, timeout)

    def take(self) -> tuple[int, T] | None:
        """Wait for a new value; return (version, value), or ``None`` after ``close``."""
        with self._changed:
            self.ready()
            if self.closed:
                return None
            self._taken = self._put
            return self._taken, self._value

    def done(self, version: int, error: BaseException | None) -> None:
        """Record that value number ``version`` was shown, or the error that prevented it."""
        with self._changed:
            self._done, self._error = version, error
            self._changed.notify_all()

    def shown_again(self, version: int) -> None:
        """Record that value number ``version`` was shown; keep an error that ``done`` recorded."""
        with self._changed:
            self._done = version
            self._changed.notify_all()

    def wait(self, timeout: float) -> None:
        """Wait until the newest value is shown; raise the recorded error, or ``TimeoutError``."""
        with self._changed:
            over = self._changed.wait_for(lambda: self.closed or self._done >= self._put, timeout)
            error, self._error = self._error, None
        if not over:
            raise TimeoutError(f"expected a picture within {timeout:g} s, got none")
        if error is not None:
            raise error

    def close(self) -> None:
        """Set ``closed``, and wake every thread that waits in a method of this object."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()
