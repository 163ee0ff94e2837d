"""TensorFlow, imported once: quietly, with Keras 2, and set up for small compiled loops."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeAlias

from numpy.typing import ArrayLike

from bdl_teach._support import memory, xla_cache

# Small matrices lose more to XLA's thread hand-over than a second core gives back: with this
# flag a refit of the 1-20-20-1 network takes 27 ms instead of 45 (two cores, TF 2.21).
_XLA_FLAG = "--xla_cpu_multi_thread_eigen=false"

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


memory.keep_heap_small()
os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
os.environ.setdefault(_THREADS, "1")
if "xla_cpu_multi_thread_eigen" not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_XLA_FLAG}".strip()
xla_cache.prepare()
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

with _quiet_stderr(), _without_collections():
    import tensorflow as tf
    import tensorflow_probability as tfp

    tfd = tfp.distributions

__all__ = ["Values", "Tensor", "as_float", "tf", "tfd", "tfp"]

Tensor: TypeAlias = Any  # TensorFlow has no types: where this stands, a tensor is meant
Values: TypeAlias = Any  # numbers and arrays, or tensors: what comes out is of the same kind


def as_float(values: ArrayLike) -> Tensor:
    """Return ``values`` as a float32 tensor."""
    return tf.constant(values, tf.float32)
