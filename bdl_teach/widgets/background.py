"""Threads that end before the interpreter does.

A daemon thread that is inside TensorFlow when Python exits brings the process down with "FATAL:
exception not rethrown"; so each is told to stop, and waited for.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable
from typing import Any

_PATIENCE = 30.0  # seconds to wait at exit for one compilation or one window of NUTS to end
_threads: set[threading.Thread] = set()
_stops: list[Callable[[], Any]] = []


def start(work: Callable[[], Any]) -> threading.Thread:
    """Run ``work`` on a daemon thread that is waited for at exit."""
    _threads.difference_update({thread for thread in _threads if not thread.is_alive()})
    thread = threading.Thread(target=work, daemon=True, name=f"bdl_teach {work.__qualname__}")
    _threads.add(thread)
    atexit.unregister(finish)  # exit hooks run last in, first out: ours before TensorFlow's,
    atexit.register(finish)  # which may have been loaded since the last thread was started
    thread.start()
    return thread


def at_exit(stop: Callable[[], Any]) -> Callable[[], Any]:
    """Have ``stop`` called before the threads are waited for (a decorator)."""
    _stops.append(stop)
    return stop


def finish() -> None:
    """Stop what runs in the background and wait for its threads: at exit, and between tests."""
    for stop in _stops:
        stop()
    for thread in list(_threads):
        thread.join(_PATIENCE)
