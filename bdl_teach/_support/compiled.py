"""Compile TensorFlow functions with XLA where it works, and count the traces."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from contextlib import nullcontext
from functools import lru_cache
from typing import ClassVar

from bdl_teach._startup import kept_programs, loading, steady_names
from bdl_teach.backend import Tensor, quiet_stderr, tf

_LOG = logging.getLogger("bdl_teach")
_COUNT = threading.Lock()
# TensorFlow 2.20 prints an error for each stored program that it loads without one.
_QUIET = quiet_stderr if tf.__version__.startswith("2.20.") else nullcontext


# TensorFlow would warn that a program is traced again for each shape, which is intended here.
tf.get_logger().addFilter(lambda record: "tf.function retracing" not in record.getMessage())


@lru_cache(maxsize=1)
def xla_available() -> bool:
    """Return whether XLA can compile and run a small function on this CPU."""
    works = _probe() or (kept_programs.clear() and _probe())
    if not works:
        _LOG.warning("XLA is not available here: refits run in plain graph mode, more slowly.")
    return works


def _probe() -> bool:
    try:
        with _QUIET(), tf.device("CPU:0"), steady_names.while_running():
            probe = tf.function(_sum_of_squares, jit_compile=True, autograph=False)
            works = float(probe(tf.constant([1.0, 2.0]))) == 5.0
        kept_programs.seal()
        return works
    except Exception as error:  # any failure of a plug-in or a missing compiler means "no"
        _LOG.debug("XLA probe: %s", error)
        return False


def _sum_of_squares(x: Tensor) -> Tensor:
    steady_names.begin(_sum_of_squares, x)
    return tf.reduce_sum(x * x)


class Compiled:
    """A function that is traced once per shape of its arguments, and compiled where XLA works."""

    all_traces: ClassVar[int] = 0  # traces of all programs in this process

    def __init__(self, function: Callable[..., Tensor]) -> None:
        self._function = function
        self._program: Callable[..., Tensor] | None = None
        self._lock = threading.Lock()
        self.traces = 0  # how often the Python function was traced

    def __call__(self, *arguments: Tensor) -> Tensor:
        """Run the function; trace and compile it first if the shapes are new."""
        if self._program is None:
            with self._lock:
                self._program = self._program or self._build()
        before = self.traces
        try:
            with _QUIET():
                result = self._program(*arguments)
        except tf.errors.OpError as error:
            if self.traces == before or not kept_programs.clear():
                raise
            result = self._without_xla(error, arguments)
        if self.traces > before:
            kept_programs.seal()
            loading.trim_heap()
        return result

    def _without_xla(self, error: Exception, arguments: tuple[Tensor, ...]) -> Tensor:
        """Build and run again without XLA, after an error of its stored programs."""
        self._program = self._build(with_xla=False)
        result = self._program(*arguments)
        _LOG.warning(
            "XLA cannot store its programs (%s): this refit runs in plain graph mode, more slowly. "
            'To use XLA without stored programs, set %s="" and restart.',
            str(error).partition(" [Op:")[0],
            kept_programs.VARIABLE,
        )
        return result

    def _build(self, with_xla: bool = True) -> Callable[..., Tensor]:
        def body(*arguments: Tensor) -> Tensor:
            self.traces += 1
            with _COUNT:
                Compiled.all_traces += 1
            steady_names.begin(self._function, arguments)
            return self._function(*arguments)

        program: Callable[..., Tensor] = steady_names.while_running()(
            tf.function(body, jit_compile=with_xla and xla_available(), autograph=False)
        )
        return program


def padded_size(n: int) -> int:
    """Return the smallest power of two >= max(n, 64), so that few sizes have to be compiled."""
    return max(64, 1 << (n - 1).bit_length())


def trace_count() -> int:
    """Return how often this process has traced compiled functions."""
    return Compiled.all_traces
