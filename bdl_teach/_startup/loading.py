"""Import TensorFlow without garbage collection and TFP on first use; keep their heaps small."""

from __future__ import annotations

import ctypes
import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import reduce
from typing import Any

from bdl_teach._startup import PLAIN

_ARENA_MAX = -8  # of glibc's mallopt


@contextmanager
def light_import() -> Iterator[None]:
    """Return a context that imports TensorFlow without garbage collection, into two heaps.

    Collections would take a second of the import; later ones skip TensorFlow's objects. With a heap
    for each thread (glibc), and explorers have several, a kernel would hold 60 MB more.
    """
    if PLAIN:
        yield
        return
    with suppress(OSError, AttributeError, TypeError):  # only glibc has mallopt
        ctypes.CDLL(None).mallopt(_ARENA_MAX, 2)
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


def trim_heap() -> None:
    """Give the system back what a compilation or a closed explorer has freed.

    Binder stops a kernel that holds too much: after 20 reruns of an explorer's cell its heap has
    540 MB, and without this function 650.
    """
    gc.collect()
    if sys.platform == "linux" and not PLAIN:
        with suppress(OSError, AttributeError):  # musl has no malloc_trim
            ctypes.CDLL(None).malloc_trim(0)


def probability(*path: str) -> Any:
    """Return TensorFlow Probability or a part, such as "distributions", imported on first use."""
    part = _LazyPart(path)
    return part.loaded() if PLAIN else part


class _LazyPart:
    """A part of TensorFlow Probability that is loaded on first use, which takes two seconds."""

    def __init__(self, path: tuple[str, ...]) -> None:
        self._path = path

    def loaded(self) -> Any:
        import tensorflow as tf

        with tf.init_scope():  # keeps tensors made by the import out of a program being traced
            module = importlib.import_module("tensorflow_probability")
        return reduce(getattr, self._path, module)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loaded(), name)

    def __dir__(self) -> list[str]:
        return dir(self.loaded())
