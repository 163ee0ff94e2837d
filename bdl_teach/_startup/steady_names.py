"""Give traced functions the same names in every process, so that stored programs are found.

TensorFlow names a traced function, and each loop in it, after a counter of all that the process
has traced, and looks up a stored program by these names, too: if another cell ran before, XLA
would compile again. Here each program's counter starts from a number made of its function and its
shapes. XLA also compares the computation, so that two programs with the same number cannot be
confused in another process.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from inspect import isfunction
from itertools import count
from typing import Any

from bdl_teach._startup import PLAIN

_ROOM = 2**28  # numbers of one program: many more than it has tensors
_FIRST, _LAST = 2**30, 2**34  # programs: far beyond what TensorFlow itself counts up to
_given: set[int] = set()
_lock = threading.Lock()
_tracing = threading.local()


@contextmanager
def while_running() -> Iterator[None]:
    """Let a program called in this thread keep the names that it was first traced with."""
    try:
        yield
    finally:
        _tracing.numbers = None


def begin(function: Callable[..., Any], arguments: Any) -> None:
    """Name what this thread traces from now on after ``function`` and the shapes."""
    if PLAIN:
        return
    import tensorflow as tf

    shapes = [(x.shape, x.dtype) for x in tf.nest.flatten(arguments) if tf.is_tensor(x)]
    digest = hashlib.sha256(repr((identity(function), shapes)).encode()).digest()
    program = _FIRST + int.from_bytes(digest[:8]) % (_LAST - _FIRST)
    with _lock:  # a second program of that kind is a function of its own
        program = next(n for n in count(program) if n not in _given)
        _given.add(program)
    _tracing.numbers = count(_ROOM * program)


def identity(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Describe a function by its name and the values in its closure."""
    held = [cell.cell_contents for cell in function.__closure__ or ()]
    said = [identity(h) if isfunction(h) else re.sub(" at 0x[0-9a-f]+", "", repr(h)) for h in held]
    return (function.__module__, function.__qualname__, *said)


def install() -> None:
    """Make TensorFlow, which is imported, take the numbers in its names from here."""
    if PLAIN:
        return
    with suppress(ImportError, AttributeError):  # elsewhere in another TensorFlow: names as before
        from tensorflow.python.framework import ops

        given = ops.uid

        def uid() -> int:
            numbers = getattr(_tracing, "numbers", None)
            return int(given()) if numbers is None else next(numbers)

        ops.uid = uid
