"""A slot for one value between a slider and the worker, with a queue of functions beside it.

Values that come while the worker is busy replace each other. The queued functions are all called,
in order, before the worker takes the value.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class LatestValue(Generic[T]):
    """A slot for one value: a newer value replaces one that has not been taken yet."""

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
        """Take all queued functions, in their order."""
        with self._changed:
            taken, self._messages = self._messages, []
        return taken

    def take(self, timeout: float | None = None) -> tuple[int, T] | None:
        """Wait for a new value; return (version, value), or ``None`` if closed or timed out."""
        with self._changed:
            self._changed.wait_for(lambda: self.closed or self._put > self._taken, timeout)
            if self.closed or self._put == self._taken:
                return None
            self._taken = self._put
            return self._taken, self._value

    def done(self, version: int, error: BaseException | None) -> None:
        """Record that ``version`` has been shown, or the error that prevented it."""
        with self._changed:
            self._done, self._error = version, error
            self._changed.notify_all()

    def shown_again(self, version: int) -> None:
        """Record that ``version`` needed no new result; keep an error that was not raised yet."""
        with self._changed:
            self._done = version
            self._changed.notify_all()

    def wait(self, timeout: float) -> None:
        """Wait until the newest value has been shown, and raise the error that prevented it.

        Raises:
            TimeoutError: It took longer than ``timeout`` seconds.
        """
        with self._changed:
            over = self._changed.wait_for(lambda: self.closed or self._done >= self._put, timeout)
            error, self._error = self._error, None
        if not over:
            raise TimeoutError(f"expected a picture within {timeout:g} s, got none")
        if error is not None:
            raise error

    def close(self) -> None:
        """Close the slot and wake every thread that waits for it."""
        with self._changed:
            self.closed = True
            self._changed.notify_all()
