"""XLA with a probed fallback: one decorator, and a count of what it traced."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from functools import lru_cache
from typing import Any, ClassVar

from bdl_teach._support import memory
from bdl_teach.backend import tf

_LOG = logging.getLogger("bdl_teach")
_COUNT = threading.Lock()


# A program is traced once for each shape on purpose; TensorFlow would warn a learner about it.
tf.get_logger().addFilter(lambda record: "tf.function retracing" not in record.getMessage())


@lru_cache(maxsize=1)
def xla_available() -> bool:
    """Say whether XLA compiles and runs a tiny loop on this machine's CPU (probed once)."""
    try:
        with tf.device("CPU:0"):
            probe = tf.function(lambda x: tf.reduce_sum(x * x), jit_compile=True, autograph=False)
            works = float(probe(tf.constant([1.0, 2.0]))) == 5.0
    except Exception as error:  # any failure of a plug-in or a missing compiler means "no"
        _LOG.debug("XLA probe: %s", error)
        works = False
    if not works:
        _LOG.warning("XLA is not available here: refits run in plain graph mode, more slowly.")
    return works


class Compiled:
    """A function that is traced once per shape of its arguments, and compiled where XLA works.

    Attributes:
        traces: How often the Python body was traced; values never add to it, shapes do.
        all_traces: The same of all programs together, those that are gone included.
    """

    all_traces: ClassVar[int] = 0

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._program: Callable[..., Any] | None = None
        self._lock = threading.Lock()
        self.traces = 0
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        """Run the function, tracing and compiling it first where these shapes are new."""
        if self._program is None:
            with self._lock:
                self._program = self._program or self._build()
        before = self.traces
        result = self._program(*arguments)
        if self.traces != before:
            memory.release()
        return result

    def _build(self) -> Callable[..., Any]:
        def body(*arguments: Any) -> Any:
            self.traces += 1
            with _COUNT:
                Compiled.all_traces += 1
            return self._function(*arguments)

        program: Callable[..., Any] = tf.function(
            body, jit_compile=xla_available(), autograph=False
        )
        return program


def room(n: int) -> int:
    """Smallest power of two that is at least ``n``, and at least 64: few sizes are compiled."""
    return max(64, 1 << (n - 1).bit_length())


def trace_count() -> int:
    """Return how often any compiled function of this process has been traced; it never falls."""
    return Compiled.all_traces
