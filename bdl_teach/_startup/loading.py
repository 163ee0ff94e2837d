"""Import TensorFlow without garbage collection and without Keras, and TFP on first use.

TensorFlow Probability and Keras take half a second to load, and no refit needs them.
"""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from types import ModuleType
from typing import Any, cast

from bdl_teach._startup import PLAIN

_EAGER = "tf_keras.src.optimizers"  # TensorFlow tries to import it, but can do without it


@contextmanager
def light_import() -> Iterator[None]:
    """Return a context that imports TensorFlow without Keras and without garbage collection.

    Garbage collections would take 0.7 of the 2.6 s of the import. Later collections skip
    TensorFlow's objects, too, which saves 0.2 s each. ``tf.keras`` still loads Keras on first use.
    """
    if PLAIN:
        yield
        return
    was_on, hidden = gc.isenabled(), {} if _EAGER in sys.modules else {_EAGER: None}
    sys.modules.update(cast("dict[str, ModuleType]", hidden))
    gc.disable()
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]
        gc.freeze()
        if was_on:
            gc.enable()


def probability(*path: str) -> Any:
    """Return TensorFlow Probability or a part, such as "distributions", imported on first use."""
    part = _LazyPart(path)
    return part.loaded() if PLAIN else part


class _LazyPart:
    """A stand-in for a part of TensorFlow Probability, which loads it on first use."""

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
