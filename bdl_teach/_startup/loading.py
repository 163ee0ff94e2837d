"""A lighter import of TensorFlow: no garbage collection, no Keras, and TFP on first use.

TensorFlow Probability, and Keras with it, takes half a second to load, and no refit needs it.
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

_EAGER = "tf_keras.src.optimizers"  # what TensorFlow asks for, and may do without


@contextmanager
def light_import() -> Iterator[None]:
    """Import TensorFlow without Keras, and exclude its objects from garbage collection.

    ``tf.keras`` still loads Keras when it is named. TensorFlow creates 350,000 objects that stay.
    Collecting during the import takes 0.7 s of its 2.6, and later 0.2 s at each full collection:
    ``gc.freeze`` avoids both.
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
    """Return the part of TensorFlow Probability at ``path``, which is imported on its first use."""
    late = _LazyPart(path)
    return late.loaded() if PLAIN else late


class _LazyPart:
    """A part of TensorFlow Probability that is not loaded yet."""

    def __init__(self, path: tuple[str, ...]) -> None:
        self._path = path

    def loaded(self) -> Any:
        import tensorflow as tf

        with tf.init_scope():  # what it makes while it loads is no part of a program being traced
            found = importlib.import_module("tensorflow_probability")
        return reduce(getattr, self._path, found)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.loaded(), name)

    def __dir__(self) -> list[str]:
        return dir(self.loaded())
