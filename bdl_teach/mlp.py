"""A multilayer perceptron as a pure function of one flat weight vector."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.backend import Tensor, tf


@dataclass(frozen=True)
class MLP:
    """A ReLU network ``f(w, x)`` with a linear output; with ``hidden_units=()`` a linear model.

    The flat vector w holds for each layer the weight matrix ``[out, in]``, row by row, and then
    the biases ``[out]``.
    """

    n_inputs: int
    hidden_units: tuple[int, ...]
    n_outputs: int = 1

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of units of each layer, inputs and outputs included."""
        return (self.n_inputs, *self.hidden_units, self.n_outputs)

    @property
    def shapes(self) -> list[tuple[int, int]]:
        """Return the shapes of the weight matrices (out, in) and biases (out, 1), in flat order."""
        pairs = zip(self.sizes[:-1], self.sizes[1:], strict=True)
        return [shape for n_in, n_out in pairs for shape in ((n_out, n_in), (n_out, 1))]

    @property
    def n_weights(self) -> int:
        """Return the number of weights and biases."""
        return sum(rows * columns for rows, columns in self.shapes)

    @property
    def fan_in(self) -> Array:
        """Return, for each weight, the number of inputs of its layer ``[n_weights]``."""
        layers = zip(self.sizes[:-1], self.sizes[1:], strict=True)
        return np.concatenate([np.full((n_in + 1) * n_out, n_in) for n_in, n_out in layers])

    def unflatten(self, w: Tensor) -> list[Tensor]:
        """Split ``w`` [..., n_weights] into matrices [..., out, in] and biases [..., out, 1]."""
        parts = tf.split(w, [rows * columns for rows, columns in self.shapes], axis=-1)
        pairs = zip(parts, self.shapes, strict=True)
        return [tf.reshape(part, [*w.shape[:-1], *shape]) for part, shape in pairs]

    def split(self, w: Array) -> list[Array]:
        """Return what :meth:`unflatten` returns, for an array ``w`` [..., n_weights]."""
        parts = np.split(w, np.cumsum([rows * columns for rows, columns in self.shapes])[:-1], -1)
        pairs = zip(parts, self.shapes, strict=True)
        return [part.reshape(*w.shape[:-1], *shape) for part, shape in pairs]

    def __call__(self, w: Tensor, x: Tensor) -> Tensor:
        """Return outputs ``[..., n, n_outputs]`` for ``w`` [..., n_weights] and ``x`` [n, d]."""
        parts = self.unflatten(w)
        h = tf.transpose(x)  # [units, n]
        for weight, bias in zip(parts[0:-2:2], parts[1:-2:2], strict=True):
            h = tf.nn.relu(multiply(weight, h) + bias)  # [..., out, in] @ [..., in, n]
        return tf.linalg.matrix_transpose(multiply(parts[-2], h) + parts[-1])

    def positions_in(self, larger: MLP) -> Array:
        """Return the index of each weight in the flat vector of a wider network ``[n_weights]``."""
        found, start = [], 0
        for (rows, columns), (n_rows, n_columns) in zip(self.shapes, larger.shapes, strict=True):
            grid = start + np.arange(n_rows * n_columns).reshape(n_rows, n_columns)
            found.append(grid[:rows, :columns].ravel())
            start += grid.size
        return np.concatenate(found)


def multiply(weight: Tensor, h: Tensor) -> Tensor:
    """Return the matrix product of ``weight`` [..., out, in] and ``h`` [..., in, n].

    If ``in`` is 1, the product is computed elementwise, which XLA can fuse with other operations.
    """
    if h.shape[-2] == 1:
        return weight * h
    return _product(weight, h) if len(weight.shape) == len(h.shape) else tf.matmul(weight, h)


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _product(weight: Tensor, h: Tensor) -> tuple[Tensor, Tensor]:
    """Return the matrix product of two tensors with the same leading axes.

    The gradient multiplies by a transposed copy of the weights. In XLA this is three times as fast
    as TensorFlow's own gradient, which makes no copy.
    """

    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor]:
        transposed = tf.linalg.matrix_transpose(weight)  # [..., in, out]
        return tf.matmul(upstream, h, transpose_b=True), tf.matmul(transposed, upstream)

    return tf.matmul(weight, h), gradient
