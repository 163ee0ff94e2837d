"""Give traced functions the same names in every process, so that stored programs are found.

TensorFlow numbers what a process traces, and the name of a stored program depends on the numbers.
Here the numbers of each program start from a hash of its function and shapes. (Chapters 3 and 4's
explorers, opened in another order, take 10 s of processor time; without, 13 to 15 s.) If two
programs get the same hash, no harm is done, since XLA also compares what they compute.
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

_NUMBERS = 2**28  # numbers for one program: many more than it has tensors
_FIRST, _LAST = 2**30, 2**34  # range of programs: far above TensorFlow's own numbers
_used: set[int] = set()
_lock = threading.Lock()
_tracing = threading.local()


@contextmanager
def while_running() -> Iterator[None]:
    """Return a context that ends what :func:`begin` does: TensorFlow then counts as usual."""
    try:
        yield
    finally:
        _tracing.numbers = None


def begin(function: Callable[..., Any], arguments: Any) -> None:
    """Make TensorFlow's next names, in this thread, the same in every process.

    The numbers in the names count up from a hash of ``function`` and of the shapes and types of the
    tensors in ``arguments``. If another program of this process has the same hash, the next free
    number is taken.
    """
    if PLAIN:
        return
    import tensorflow as tf

    shapes = [(x.shape, x.dtype) for x in tf.nest.flatten(arguments) if tf.is_tensor(x)]
    digest = hashlib.sha256(repr((identity(function), shapes)).encode()).digest()
    program = _FIRST + int.from_bytes(digest[:8]) % (_LAST - _FIRST)
    with _lock:  # two programs of this process need different names
        program = next(n for n in count(program) if n not in _used)
        _used.add(program)
    _tracing.numbers = count(_NUMBERS * program)


def identity(function: Callable[..., Any]) -> tuple[Any, ...]:
    """Return the name of a function, and the values in its closure as text."""
    values = [cell.cell_contents for cell in function.__closure__ or ()]
    texts = [
        identity(v) if isfunction(v) else re.sub(" at 0x[0-9a-f]+", "", repr(v)) for v in values
    ]
    return (function.__module__, function.__qualname__, *texts)


def install() -> None:
    """Make TensorFlow use :func:`begin`'s numbers in its names; it must be imported already."""
    if PLAIN:
        return
    with suppress(ImportError, AttributeError):  # a TensorFlow without this function: no change
        from tensorflow.python.framework import ops

        given = ops.uid

        def uid() -> int:
            numbers = getattr(_tracing, "numbers", None)
            return int(given()) if numbers is None else next(numbers)

        ops.uid = uid
