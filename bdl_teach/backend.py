"""Import TensorFlow once: without messages, with Keras 2, set up for small compiled loops."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach._startup import kept_programs, loading, memory, steady_names

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


memory.keep_heap_small()
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
os.environ.setdefault(_THREADS, "1")
kept_programs.prepare()
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

with _quiet_stderr(), loading.light_import():
    import tensorflow as tf

steady_names.install()
tfp, tfd = loading.probability(), loading.probability("distributions")

__all__ = ["Values", "Tensor", "as_float", "tf", "tfd", "tfp"]

Tensor: TypeAlias = Any  # TensorFlow has no types: where this stands, a tensor is meant
Values: TypeAlias = Any  # numbers and arrays, or tensors: what comes out is of the same kind


def as_float(values: ArrayLike, name: str = "") -> Tensor:
    """Return ``values`` as a float32 tensor.

    Raises:
        ValueError: ``name`` is given, and float32 turns a value into 0 or inf.
    """
    if name:
        size, held = np.abs(np.asarray(values)), np.finfo(np.float32)
        if ((size > held.max) | ((size > 0) & (size < held.tiny))).any():
            wanted = "0, or a size that float32 holds, 1e-37 to 3e38"
            raise ValueError(f"{name}: expected {wanted}, got {values!r}")
    return tf.constant(values, tf.float32)
