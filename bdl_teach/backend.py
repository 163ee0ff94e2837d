"""Import TensorFlow without messages and with Keras 2, set up for small compiled loops."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach._startup import kept_programs, loading, steady_names

_lock = threading.Lock()
_n_quiet = 0  # contexts in which nothing is printed: threads may overlap
_stderr = -1  # a copy of the file descriptor 2 meanwhile


@contextmanager
def quiet_stderr() -> Iterator[None]:
    """Discard the messages that TensorFlow's C++ code prints in this context."""
    global _n_quiet, _stderr
    with _lock:
        _n_quiet += 1
        if _n_quiet == 1:
            _stderr, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 2)
            os.close(null)
    try:
        yield
    finally:
        with _lock:
            _n_quiet -= 1
            if _n_quiet == 0:
                os.dup2(_stderr, 2)
                os.close(_stderr)


os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
# The threads of a compiled loop wait for each other in a busy loop, which occupies the second core.
# With one thread a quiet fit takes 22 ms instead of 28, or 23 instead of 38 after a pause of 0.1 s;
# NUTS takes 5.6 s instead of 8.8 to 11, a VAE on the digits 0.84 s instead of 1.08 (two cores).
os.environ.setdefault("TF_NUM_INTRAOP_THREADS", "1")
kept_programs.prepare()
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

with quiet_stderr(), loading.light_import():
    import tensorflow as tf

steady_names.install()
tfp, tfd = loading.probability(), loading.probability("distributions")

__all__ = ["Values", "Tensor", "as_float", "tf", "tfd", "tfp"]

Tensor: TypeAlias = Any  # TensorFlow has no type annotations
Values: TypeAlias = Any  # numbers, arrays or tensors; a function returns what it was given


def as_float(values: ArrayLike, name: str = "") -> Tensor:
    """Return ``values`` as a float32 tensor.

    Raises:
        ValueError: ``name`` is given, and a value overflows or underflows in float32.
    """
    if name:
        size, limits = np.abs(np.asarray(values)), np.finfo(np.float32)
        if ((size > limits.max) | ((size > 0) & (size < limits.tiny))).any():
            expected = "0, or a size between 1e-37 and 3e38, as float32 holds it"
            raise ValueError(f"{name}: expected {expected}, got {values!r}")
    return tf.constant(values, tf.float32)
