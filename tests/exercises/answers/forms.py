"""Convert answers: references, float32, TensorFlow tensors."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bdl_teach import exercises


def reference(number: str) -> Callable[..., Any]:
    """Return the reference answer, to build wrong answers that differ in one detail."""
    return exercises.REGISTRY[number].reference


def single(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Return the answer computed in NumPy's float32."""
    return lambda *case: answer(*(_narrow(value) for value in case))


def tensors(answer: Callable[..., Any]) -> Callable[..., Any]:
    """Return the answer computed from TensorFlow's float32 tensors."""

    def with_tensors(*case: Any) -> Any:
        import tensorflow as tf

        return answer(*(tf.constant(_narrow(value)) for value in case))

    return with_tensors


def _narrow(value: Any) -> Any:
    array = np.asarray(value)
    return array.astype(np.float32)[()] if array.dtype.kind == "f" else value
