"""Threads that end before the interpreter does.

A daemon thread that is inside TensorFlow when Python exits brings the process down with "FATAL:
exception not rethrown"; so each is told to stop, and waited for.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable

_PATIENCE = 30.0  # seconds to wait at exit for one compilation or one window of chains to end
_lock = threading.Lock()  # a thread is started and noted in one go
_threads: set[threading.Thread] = set()
STOPS: list[Callable[[], object]] = []  # to be called at exit, before threads are waited for


def start(work: Callable[[], object]) -> threading.Thread:
    """Run ``work`` on a daemon thread that is waited for at exit."""
    thread = threading.Thread(target=work, daemon=True, name=f"bdl_teach {work.__qualname__}")
    with _lock:
        atexit.unregister(finish)  # exit hooks run last in, first out: ours before TensorFlow's,
        atexit.register(finish)  # which may have been loaded since the last thread was started
        thread.start()
        _threads.difference_update({other for other in _threads if not other.is_alive()})
        _threads.add(thread)
    return thread


def finish() -> None:
    """Stop the background work and wait for its threads; called at exit and between tests."""
    for stop in STOPS:
        stop()
    waited_for: set[threading.Thread] = set()
    while left := _threads.copy() - waited_for:  # one that ends may have started another
        thread = left.pop()
        thread.join(_PATIENCE)
        waited_for.add(thread)
