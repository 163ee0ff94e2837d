"""TensorFlow, imported once: quietly, with Keras 2, and set up for small compiled loops.

TensorFlow Probability, and with it Keras, loads when something of it is first asked for: it takes
half a second, and no refit needs it.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from types import ModuleType
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach._support import memory, xla_cache

# What is left of a compiled loop's threads wait for each other in a busy loop, which takes the
# second core, and lose their places in every pause: with one thread the quiet fit takes 22 ms
# instead of 28, after a tenth of a second's rest 23 instead of 38; NUTS 5.6 s instead of 8.8 to
# 11. Larger models gain, too: a VAE on the digits .84 s instead of 1.08 (two cores, TF 2.21).
_THREADS = "TF_NUM_INTRAOP_THREADS"


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """Silence what TensorFlow's C++ code prints while it loads."""
    saved, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    try:
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(null)


@contextmanager
def _without_collections() -> Iterator[None]:
    """Keep Python from looking for garbage among what an import leaves behind.

    TensorFlow leaves 350,000 objects that stay. Going through them again and again takes 0.7 s of
    its 2.6, and then 0.2 s at each full collection: ``freeze`` has those leave them out.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if was_on:
            gc.enable()


@contextmanager
def _without_keras() -> Iterator[None]:
    """Keep TensorFlow from loading Keras at once; ``tf.keras`` still does when it is named."""
    eager = "tf_keras.src.optimizers"  # what it asks for, and may do without
    hidden = {} if eager in sys.modules else {eager: None}
    sys.modules.update(cast("dict[str, ModuleType]", hidden))
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


class _Late:
    """A part of TensorFlow Probability, which loads when something of it is first asked for."""

    def __init__(self, *path: str) -> None:
        self._path = path

    def _loaded(self) -> Any:
        with tf.init_scope():  # what it makes while it loads is no part of a program being traced
            found = importlib.import_module("tensorflow_probability")
        return reduce(getattr, self._path, found)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loaded(), name)

    def __dir__(self) -> list[str]:
        return dir(self._loaded())


memory.keep_heap_small()
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
os.environ.setdefault(_THREADS, "1")
xla_cache.prepare()
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

with _quiet_stderr(), _without_collections(), _without_keras():
    import tensorflow as tf

tfp, tfd = _Late(), _Late("distributions")

__all__ = ["Values", "Tensor", "as_float", "tf", "tfd", "tfp"]

Tensor: TypeAlias = Any  # TensorFlow has no types: where this stands, a tensor is meant
Values: TypeAlias = Any  # numbers and arrays, or tensors: what comes out is of the same kind


def as_float(values: ArrayLike, name: str = "") -> Tensor:
    """Return ``values`` as a float32 tensor.

    Raises:
        ValueError: They have a ``name``, and float32 makes 0 or inf of one.
    """
    if name:
        size, held = np.abs(np.asarray(values)), np.finfo(np.float32)
        if ((size > held.max) | ((size > 0) & (size < held.tiny))).any():
            wanted = "0, or a size that float32 holds, 1e-37 to 3e38"
            raise ValueError(f"{name}: expected {wanted}, got {values!r}")
    return tf.constant(values, tf.float32)
