"""The one compiled training loop: Adam inside a while-loop, with a recorded history.

Everything here runs while a compiled function is traced; step counts and learning rates are
tensors, so that changing them never compiles anything again.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

import numpy as np

from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.errors import DivergedError
from bdl_teach.backend import Tensor, as_float, tf

Fitted = TypeVar("Fitted")

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-7
_NEXT_START = 10**6  # from the seed of one start to that of the next

# (parameters, step, block) -> (this block's part of the loss, and of what is recorded)
Objective = Callable[[Sequence[Tensor], Tensor, Tensor], tuple[Tensor, Tensor]]


class Schedule(NamedTuple):
    """How many steps, and how long each is; all tensors, so that no value compiles again.

    Attributes:
        steps: Number of steps, int32.
        learning_rate: Step size until the cooldown, float.
        cooldown: Share of the steps, at the end, over which it falls linearly to 0, in [0, 1].
    """

    steps: Tensor
    learning_rate: Tensor
    cooldown: Tensor

    def rate(self, step: Tensor) -> Tensor:
        """Learning rate of step number ``step``, counted from 0."""
        left = 1.0 - tf.cast(step, tf.float32) / tf.cast(self.steps, tf.float32)
        return self.learning_rate * tf.minimum(1.0, left / tf.maximum(self.cooldown, 1e-9))


def schedule(steps: int, learning_rate: float, cooldown: float) -> Schedule:
    """Make the schedule that a user asked for.

    Raises:
        ValueError: ``steps`` < 1, the learning rate is not > 0, or the cooldown not in [0, 1].
    """
    return Schedule(
        tf.constant(checks.count("steps", steps)),
        as_float(checks.positive("learning_rate", learning_rate)),
        as_float(checks.probability("cooldown", cooldown)),
    )


class Trace(NamedTuple):
    """What a run of the loop leaves behind.

    Attributes:
        parameters: The optimised tensors, in the order in which they were given.
        steps: Step numbers at which the objective was recorded, ``[r]``.
        records: The recorded quantities, ``[r, k]``.
    """

    parameters: list[Tensor]
    steps: Tensor
    records: Tensor


class _Adam(NamedTuple):
    step: Tensor
    parameters: list[Tensor]
    means: list[Tensor]
    squares: list[Tensor]


def adam(
    objective: Objective,
    parameters: Sequence[Tensor],
    schedule: Schedule,
    *,
    n_blocks: Tensor = None,
    n_records: int = 100,
) -> Trace:
    """Minimise the sum of ``objective`` over its blocks with Adam, recording it as it goes.

    Args:
        objective: Maps (parameters, step, block) to (scalar loss, recorded quantities ``[k]``).
        parameters: Float tensors to start from.
        schedule: Number of steps and their size.
        n_blocks: Number of blocks, an int32 tensor; ``None`` is one block without a loop.
        n_records: How many times to record; fixed, since it is a shape.

    Source: Kingma & Ba 2015, algorithm 1, in the form with one corrected step size.
    """

    def gradient(parameters: Sequence[Tensor], step: Tensor) -> tuple[list[Tensor], Tensor]:
        return _sum_over_blocks(objective, parameters, step, n_blocks)

    start = _Adam(tf.constant(0), list(parameters), *(_zeros(parameters) for _ in range(2)))
    width = objective(parameters, start.step, 0)[1].shape[0]
    stops = (tf.range(1, n_records + 1) * schedule.steps + n_records - 1) // n_records

    def record(i: Tensor, state: _Adam, records: Tensor) -> tuple[Tensor, _Adam, Tensor]:
        state = _run_until(stops[i], gradient, state, schedule)
        _, now = gradient(state.parameters, state.step - 1)
        return i + 1, state, tf.tensor_scatter_nd_update(records, [[i]], now[None])

    begin = (tf.constant(0), start, tf.zeros([n_records, width]))
    _, state, records = tf.while_loop(lambda i, *_: i < n_records, record, begin)
    return Trace(state.parameters, stops, records)


def _sum_over_blocks(
    objective: Objective, parameters: Sequence[Tensor], step: Tensor, n_blocks: Tensor
) -> tuple[list[Tensor], Tensor]:
    """Return the gradient of the summed loss, and the summed records."""

    def one(block: Tensor) -> tuple[list[Tensor], Tensor]:
        with tf.GradientTape() as tape:
            tape.watch(parameters)
            loss, record = objective(parameters, step, block)
        return tape.gradient(loss, parameters), record

    if n_blocks is None:
        return one(0)

    def add(
        block: Tensor, gradients: list[Tensor], record: Tensor
    ) -> tuple[Tensor, list[Tensor], Tensor]:
        more, extra = one(block)
        return block + 1, [a + b for a, b in zip(gradients, more, strict=True)], record + extra

    zero = tf.zeros_like(objective(parameters, step, 0)[1])
    begin = (tf.constant(0), _zeros(parameters), zero)
    _, gradients, record = tf.while_loop(lambda block, *_: block < n_blocks, add, begin)
    return gradients, record


def _run_until(
    stop: Tensor, gradient: Callable[..., Tensor], state: _Adam, schedule: Schedule
) -> _Adam:
    """Take Adam steps until ``state.step`` is ``stop``."""

    def update(state: _Adam) -> tuple[_Adam]:
        gradients, _ = gradient(state.parameters, state.step)
        t = tf.cast(state.step + 1, tf.float32)
        rate = schedule.rate(state.step) * tf.sqrt(1 - BETA2**t) / (1 - BETA1**t)
        means = _blend(BETA1, state.means, gradients)
        squares = _blend(BETA2, state.squares, [g * g for g in gradients])
        moved = [
            p - rate * m / (tf.sqrt(v) + EPSILON)
            for p, m, v in zip(state.parameters, means, squares, strict=True)
        ]
        return (_Adam(state.step + 1, moved, means, squares),)

    (state,) = tf.while_loop(lambda state: state.step < stop, update, (state,))
    return state


def _blend(decay: float, old: Sequence[Tensor], new: Sequence[Tensor]) -> list[Tensor]:
    return [decay * a + (1 - decay) * b for a, b in zip(old, new, strict=True)]


def _zeros(tensors: Sequence[Tensor]) -> list[Tensor]:
    return [tf.zeros_like(t) for t in tensors]


def history(trace: Trace, names: Sequence[str], remedy: str) -> dict[str, Array]:
    """Return what was recorded, by name, after making sure that the run stayed finite.

    Args:
        trace: What :func:`adam` returned, as tensors.
        names: A name for each recorded quantity.
        remedy: What the user should change if the run diverged, as a sentence.

    Returns:
        ``step`` and each name: arrays ``[r]``.

    Raises:
        DivergedError: A record or a final parameter is not finite.
    """
    steps, records = trace.steps.numpy(), trace.records.numpy()
    bad = np.flatnonzero(~np.isfinite(records).all(axis=-1))
    if bad.size:
        raise DivergedError(int(steps[bad[0]]), remedy)
    if not all(np.isfinite(p.numpy()).all() for p in trace.parameters):
        raise DivergedError(int(steps[-1]), remedy)
    kept = np.flatnonzero(np.diff(steps, prepend=0))  # fewer steps than records repeat a step
    columns = dict(zip(names, records[kept].T, strict=True))
    return {"step": steps[kept], **columns}


def start_seeds(seed: int, starts: int) -> list[int]:
    """Seeds of so many starts: ``seed``, then each a million from the one before.

    Raises:
        ValueError: ``seed`` < 0 or ``starts`` < 1.
    """
    first = checks.count("seed", seed, 0)
    return [first + _NEXT_START * k for k in range(checks.count("starts", starts))]


def best_of(
    fit: Callable[[int], Fitted], seeds: Sequence[int], cost: Callable[[Fitted], float]
) -> Fitted:
    """Fit from each seed, as many at a time as there are cores, and keep the lowest cost.

    A compiled loop holds no lock of Python's, so that threads do for side by side. A start that
    diverges is passed over.

    Args:
        fit: Maps a seed to a fit.
        seeds: At least one.
        cost: What to compare, once there are two.

    Raises:
        DivergedError: Every start diverged: that of the first.
    """

    def attempt(seed: int) -> Fitted | DivergedError:
        try:
            return fit(seed)
        except DivergedError as error:
            return error

    first = attempt(seeds[0])  # alone: it may have to be compiled
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        outcomes = [first, *pool.map(attempt, seeds[1:])]
    fitted = [one for one in outcomes if not isinstance(one, DivergedError)]
    if not fitted:
        assert isinstance(first, DivergedError)
        raise first
    return fitted[0] if len(fitted) == 1 else min(fitted, key=cost)
