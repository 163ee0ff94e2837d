"""Wait for events in tests, and fail with a sentence instead of hanging."""

import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import IO, TypeVar

import pytest

T = TypeVar("T")


def until(
    happened: Callable[[], T],
    what: str,
    child: subprocess.Popen[str] | None = None,
    seconds: float = 60.0,
) -> T:
    """Call `happened` until its result is true; fail after `seconds` or if the child ends."""
    end = time.monotonic() + seconds
    while True:
        over = time.monotonic() > end or (child is not None and child.poll() is not None)
        if found := happened():
            return found
        if over:
            pytest.fail(f"expected {what} within {seconds:g} s{last_words(child)}")
        time.sleep(0.01)


def successive(step: Callable[[T], T | None], first: T, most: int = 100) -> Iterator[T]:
    """Yield step(first), step(step(first)) and so on until None; fail after `most` steps."""
    found: T | None = first
    for _ in range(most + 1):
        if (found := step(found)) is None:
            return
        yield found
    pytest.fail(f"expected an end within {most} steps")


def first_line(child: subprocess.Popen[str], stream: IO[str], seconds: float = 60.0) -> str:
    """Return the next line of a child's output; fail if none comes in time."""
    timer = threading.Timer(seconds, child.kill)
    timer.start()
    try:
        line = stream.readline()
    finally:
        timer.cancel()
    if not line:
        pytest.fail(f"expected a line within {seconds:g} s{last_words(child)}")
    return line


def last_words(child: subprocess.Popen[str] | None) -> str:
    """Kill a child; return its exit code and output as words for an error message."""
    if child is None:
        return ""
    child.kill()
    with suppress(subprocess.TimeoutExpired):
        written = "".join(part or "" for part in child.communicate(timeout=10))
        return f"; its process ended with {child.returncode} and said: {written}"
    return "; its process was killed, and what it had started still runs"
