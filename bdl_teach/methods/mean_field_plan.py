"""How a problem of the mean-field methods is laid out for a compiled loop.

Padding that keeps sliders from compiling, chunks of data points, the tables of common noise.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import checks, optimise
from bdl_teach.backend import tf
from bdl_teach.checks import Array
from bdl_teach.methods.mean_field_loop import STRIDE
from bdl_teach.mlp import MLP


class Capacity(NamedTuple):
    """Sizes to compile for, so that every smaller problem runs without compiling again.

    Attributes:
        n: Data points.
        hidden_units: Width of each hidden layer.
        n_samples: Weight draws a step: 1, or more than 1.
        chunk: Points evaluated at a time; all at once if ``None``. With chunks, fewer points
            take less time in the same program.
    """

    n: int
    hidden_units: tuple[int, ...]
    n_samples: int
    chunk: int | None = None

    @property
    def looped(self) -> bool:
        """Whether a step goes through several blocks: one draw and one chunk of points each."""
        return self.n_samples > 1 or self.chunk is not None


def schedule(steps: int, learning_rate: float, cooldown: float) -> optimise.Schedule:
    """Make the loop's schedule of what the user asked for, checked."""
    return optimise.Schedule(
        tf.constant(checks.count("steps", steps)),
        as_float(checks.positive("learning_rate", learning_rate)),
        as_float(checks.probability("cooldown", cooldown)),
    )


class Plan(NamedTuple):
    """A problem laid out for a compiled loop: what does not depend on the method.

    Attributes:
        network: The network asked for.
        padded: The network that the loop is compiled for.
        capacity: The sizes that the loop is compiled for.
        seed: Seed of the starting point and of all noise.
        n_rows: Rows of the tables of noise.
        start: Standard normal starting point ``[padded.n_weights]``, 0 where there is padding.
        n_blocks: Blocks of a step, as ``optimise.adam`` takes them.
        fields: The fields of ``Problem`` that hold the data points, ε and the counts.
    """

    network: MLP
    padded: MLP
    capacity: Capacity
    seed: int
    n_rows: int
    start: Array
    n_blocks: Any
    fields: dict[str, Any]

    def embed(self, values: Array) -> Any:
        """Place ``values`` [..., n_weights] among the padding, as a float32 tensor."""
        return as_float(embed(values, self.network, self.padded))


def lay_out(
    x: Array,
    y: Array,
    network: MLP,
    n_samples: int,
    steps: int,
    seed: int,
    capacity: Capacity | None,
) -> Plan:
    """Lay out checked data ``[n, d]``, ``[n, 1]`` for a loop; the counts are checked here.

    Raises:
        ValueError: A count is out of range, or the problem does not fit the capacity.
    """
    n_samples, steps = checks.count("n_samples", n_samples), checks.count("steps", steps)
    capacity = capacity or Capacity(len(x), network.hidden_units, n_samples)
    _check_room(capacity, len(x), network, n_samples)
    padded = MLP(network.n_inputs, capacity.hidden_units)
    n_rows, seed = _n_rows(steps, capacity.n_samples), checks.count("seed", seed, 0)
    start, eps = _noise(network, padded, n_rows, seed)
    n_chunks = -(-len(x) // (capacity.chunk or capacity.n))
    fields = {
        "x": _chunks(x, capacity),
        "y": _chunks(y, capacity),
        "row_weight": _chunks(np.ones_like(y), capacity),
        "eps": eps,
        "n_samples": tf.constant(n_samples),
        "n_chunks": tf.constant(n_chunks),
    }
    n_blocks = tf.constant(n_samples * n_chunks) if capacity.looped else None
    return Plan(network, padded, capacity, seed, n_rows, start, n_blocks, fields)


def _n_rows(steps: int, n_samples: int) -> int:
    """Rows of the table of ε: enough that the draws of one step are different rows."""
    rows = max(steps, 1000, n_samples)
    return rows + (rows % STRIDE == 0)


@lru_cache(maxsize=4)
def _noise(network: MLP, padded: MLP, n_rows: int, seed: int) -> tuple[Array, Any]:
    """Draw the starting point ``[n_weights]`` and the table of ε ``[n_rows, n_weights]``.

    Both depend on the network and the seed alone, so that moving any other slider moves only
    what it names; a larger capacity sees the same numbers.
    """
    rng = np.random.default_rng(seed)
    start = rng.standard_normal(network.n_weights)
    table = noise = rng.standard_normal((n_rows, network.n_weights), np.float32)
    if padded != network:
        table = np.zeros((n_rows, padded.n_weights), np.float32)
        table[:, network.positions_in(padded)] = noise
    return embed(start, network, padded), tf.constant(table)


def _check_room(capacity: Capacity, n: int, network: MLP, n_samples: int) -> None:
    wide = len(capacity.hidden_units) == len(network.hidden_units) and all(
        room >= units
        for room, units in zip(capacity.hidden_units, network.hidden_units, strict=True)
    )
    if not wide or capacity.n < n or capacity.n_samples < n_samples:
        wanted = Capacity(n, network.hidden_units, n_samples)
        raise ValueError(f"capacity: expected room for {wanted}, got {capacity}")
    if capacity.chunk is not None:
        checks.count("capacity.chunk", capacity.chunk)


def embed(values: Array, network: MLP, padded: MLP) -> Array:
    """Place ``values`` [..., n_weights] in the flat vector of ``padded``; zeros elsewhere."""
    out = np.zeros((*values.shape[:-1], padded.n_weights))
    out[..., network.positions_in(padded)] = values
    return out


def _chunks(values: Array, capacity: Capacity) -> Any:
    """Cut ``values`` [n, d] into chunks [chunks, rows, d], filled up with zeros."""
    rows = capacity.chunk or capacity.n
    out = np.zeros((-(-capacity.n // rows) * rows, values.shape[1]))
    out[: len(values)] = values
    return as_float(out.reshape(-1, rows, values.shape[1]))


def as_float(values: Any) -> Any:
    """Return ``values`` as a float32 tensor."""
    return tf.constant(values, tf.float32)
