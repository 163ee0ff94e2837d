"""Daemon threads that have ended before the interpreter exits.

A daemon thread that is inside TensorFlow when Python exits crashes the process with "FATAL:
exception not rethrown". So at exit the threads are told to stop, and waited for.
"""

from __future__ import annotations

import atexit
import threading
from collections.abc import Callable

_PATIENCE = 30.0  # seconds to wait for one compilation or one window of chains
_lock = threading.Lock()  # held while a thread is started and added to _threads
_threads: set[threading.Thread] = set()
STOPS: list[Callable[[], object]] = []  # called at exit, before the threads are waited for


def start(work: Callable[[], object]) -> threading.Thread:
    """Run ``work`` on a daemon thread that is waited for at exit."""
    thread = threading.Thread(target=work, daemon=True, name=f"bdl_teach {work.__qualname__}")
    with _lock:
        atexit.unregister(finish)  # exit hooks run last in, first out: this one must run
        atexit.register(finish)  # before TensorFlow's, which may have been registered meanwhile
        thread.start()
        _threads.difference_update({other for other in _threads if not other.is_alive()})
        _threads.add(thread)
    return thread


def finish() -> None:
    """Stop the background work and wait for its threads; called at exit and between tests."""
    for stop in STOPS:
        stop()
    waited_for: set[threading.Thread] = set()
    while left := _threads.copy() - waited_for:  # a thread that has ended may have started another
        thread = left.pop()
        thread.join(_PATIENCE)
        waited_for.add(thread)
