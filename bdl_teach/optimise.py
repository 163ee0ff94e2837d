"""The compiled training loop: Adam inside a while-loop, with a recorded history.

Number of steps and learning rate are tensors, so that new values do not compile the loop again.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np

from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.errors import DivergedError
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf

Fitted = TypeVar("Fitted")

BETA1, BETA2, EPSILON = 0.9, 0.999, 1e-7
_NEXT_START = 10**6  # between the seeds of two starts
_EARLY = (0, 1, 2, 4, 8)  # steps at which a path has frames before the first record
_KEPT = 36  # further frames of a path, denser at the start, where a fit moves most
MOST_NUMBERS = 2**21  # numbers in the parameters of a path, at most

# (parameters, step, block) -> what the block adds to (the loss, the recorded quantities)
Objective = Callable[[Sequence[Tensor], Tensor, Tensor], tuple[Tensor, Tensor]]


class Schedule(NamedTuple):
    """Number of steps and their learning rates, as tensors."""

    steps: Tensor
    learning_rate: Tensor  # until the cooldown
    cooldown: Tensor  # share of the steps, at the end, over which it falls linearly to 0

    def rate(self, step: Tensor) -> Tensor:
        """Return the learning rate of a step, counted from 0."""
        left = 1.0 - tf.cast(step, tf.float32) / tf.cast(self.steps, tf.float32)
        return self.learning_rate * tf.minimum(1.0, left / tf.maximum(self.cooldown, 1e-9))


def schedule(steps: int, learning_rate: float, cooldown: float) -> Schedule:
    """Return a schedule whose rate falls to 0 over the last share ``cooldown`` of the steps.

    Raises:
        ValueError: ``steps`` < 1, the learning rate is not > 0, or the cooldown not in [0, 1].
    """
    return Schedule(
        tf.constant(checks.count("steps", steps)),
        as_float(checks.positive("learning_rate", learning_rate), "learning_rate"),
        as_float(checks.probability("cooldown", cooldown)),
    )


@one_line
class Path(NamedTuple):
    """Frames of a training run.

    Attributes:
        steps: Number of steps taken at each frame, ``[f]``: 0 at the first, all at the last.
        records: The recorded quantities at each frame, ``[f, k, ...]``.
        parameters: The parameters at each frame, ``[f, ...]`` each.
    """

    steps: Tensor
    records: Tensor
    parameters: list[Tensor]


class Trace(NamedTuple):
    """The result of :func:`adam`: the optimised parameters and the recorded quantities."""

    parameters: list[Tensor]  # optimised
    steps: Tensor  # at which the objective was recorded [r]
    records: Tensor  # the recorded quantities [r, k, ...]
    path: Path | None = None  # the frames of the run, if they were kept


class _Adam(NamedTuple):
    step: Tensor
    parameters: list[Tensor]
    means: list[Tensor]
    squares: list[Tensor]


class Run(NamedTuple):
    """A run of Adam that has stopped at a pause, and can go on."""

    pauses: Tensor  # steps at which a record is made ``[5 + n_records]``
    number: Tensor  # number of pauses so far
    state: _Adam
    records: Tensor  # ``[5 + n_records, k, ...]``
    frames: list[Tensor]  # of each parameter ``[f, ...]``, if the path is kept


def adam(
    objective: Objective,
    parameters: Sequence[Tensor],
    schedule: Schedule,
    *,
    n_blocks: Tensor = None,
    n_records: int = 100,
    keep_path: bool = False,
) -> Trace:
    """Minimise a loss with Adam; the loss is a sum of blocks, such as draws or chunks of data.

    Args:
        objective: Maps (parameters, step, number of a block) to that block's (loss, recorded
            quantities ``[k, ...]``); both are summed over the blocks. Where starts train side by
            side, the loss has an entry for each of them.
        parameters: Float tensors to start from.
        schedule: What :func:`schedule` returns.
        n_blocks: Number of blocks, an int32 tensor; ``None`` for one block without a loop.
        n_records: How often the quantities are recorded; another number compiles a new program.
        keep_path: Whether to keep up to 41 frames; none if they exceed ``MOST_NUMBERS`` numbers.

    Source: Kingma & Ba 2015, algorithm 1, in the form with one corrected step size.
    """
    run = begin(objective, parameters, schedule, n_records=n_records, keep_path=keep_path)
    run = advance(objective, run, run.pauses.shape[0], schedule, n_blocks=n_blocks)
    return finish(run)


def begin(
    objective: Objective,
    parameters: Sequence[Tensor],
    schedule: Schedule,
    *,
    n_records: int = 100,
    keep_path: bool = False,
) -> Run:
    """Return a run of :func:`adam` before its first step, with the same arguments."""
    zeros = [tf.zeros_like(p) for p in parameters]
    start = _Adam(tf.constant(0), list(parameters), zeros, zeros)
    shape = objective(parameters, start.step, 0)[1].shape
    stops = (tf.range(1, n_records + 1) * schedule.steps + n_records - 1) // n_records
    n_frames = _frames(n_records)[-1] + 1
    fits = keep_path and n_frames * sum(math.prod(p.shape) for p in parameters) <= MOST_NUMBERS
    frames = [tf.zeros([n_frames, *p.shape]) for p in parameters] if fits else []
    early = tf.minimum(tf.constant(_EARLY, tf.int32), stops[0])
    pauses = tf.concat([early, stops], axis=0)
    return Run(pauses, tf.constant(0), start, tf.zeros([*pauses.shape, *shape]), frames)


def advance(
    objective: Objective,
    run: Run,
    until: Tensor,
    schedule: Schedule,
    *,
    n_blocks: Tensor = None,
    beta2: float = BETA2,
) -> Run:
    """Continue a run of :func:`adam` to pause number ``until``; further arguments as there.

    ``beta2`` is the decay of the mean of squared gradients, per step.
    """
    shape, slots = run.records.shape[1:], _frames(run.pauses.shape[0] - len(_EARLY))

    def gradient(parameters: Sequence[Tensor], step: Tensor) -> Tensor:
        def of_block(block: Tensor) -> Tensor:
            with tf.GradientTape() as tape:
                tape.watch(parameters)
                loss, _ = objective(parameters, step, block)
            return tape.gradient(loss, parameters)

        return _sum_over_blocks(of_block, [tf.zeros_like(p) for p in parameters], n_blocks)

    def recorded(parameters: Sequence[Tensor], step: Tensor) -> Tensor:
        zero = tf.zeros(shape)
        return _sum_over_blocks(lambda i: objective(parameters, step, i)[1:], [zero], n_blocks)[0]

    def record(
        i: Tensor, state: _Adam, records: Tensor, frames: list[Tensor]
    ) -> tuple[Tensor, _Adam, Tensor, list[Tensor]]:
        state = _run_until(run.pauses[i], gradient, state, schedule, beta2)
        last = tf.maximum(state.step - 1, 0)
        now = recorded(state.parameters, last)
        slot = tf.gather(slots, i)
        frames = [_put(f, slot, p) for f, p in zip(frames, state.parameters, strict=False)]
        return i + 1, state, _put(records, i, now), frames

    return Run(run.pauses, *tf.while_loop(lambda i, *_: i < until, record, run[1:]))


def finish(run: Run) -> Trace:
    """Return the trace of a run that has come to its last pause."""
    n_records = run.pauses.shape[0] - len(_EARLY)
    slots, path = _frames(n_records), None
    if run.frames:
        last = np.flatnonzero(np.diff(slots, append=slots[-1] + 1))  # of each frame
        path = Path(tf.gather(run.pauses, last), tf.gather(run.records, last), run.frames)
    stops, records = run.pauses[-n_records:], run.records[-n_records:]
    return Trace(run.state.parameters, stops, records, path)


def _frames(n_records: int) -> Array:
    """Return for each record the index of its frame ``[5 + n_records]``.

    The first five records have a frame each. Later ones may share a frame, which keeps the last.
    """
    n = min(_KEPT, n_records)
    kept = np.unique(np.ceil(n_records * (np.arange(1, n + 1) / n) ** 1.5))  # counted from 1
    later = len(_EARLY) + np.searchsorted(kept, np.arange(1, n_records + 1))
    return np.concatenate([np.arange(len(_EARLY)), later]).astype(np.int32)


def _put(rows: Tensor, i: Tensor, row: Tensor) -> Tensor:
    return tf.tensor_scatter_nd_update(rows, [[i]], row[None])


def _sum_over_blocks(part: Callable[[Tensor], Tensor], zeros: Tensor, n_blocks: Tensor) -> Tensor:
    """Sum the tensors ``part(block)`` over all blocks, starting from ``zeros`` of their shapes."""
    if n_blocks is None:
        return part(0)

    def add(block: Tensor, sums: Tensor) -> tuple[Tensor, Tensor]:
        return block + 1, [a + b for a, b in zip(sums, part(block), strict=True)]

    begin = (tf.constant(0), list(zeros))
    return tf.while_loop(lambda block, _: block < n_blocks, add, begin)[1]


def _run_until(
    stop: Tensor, gradient: Callable[..., Tensor], state: _Adam, schedule: Schedule, beta2: float
) -> _Adam:
    """Return Adam's state after ``stop`` steps, continued from ``state``."""

    def update(state: _Adam) -> tuple[_Adam]:
        gradients = gradient(state.parameters, state.step)
        t = tf.cast(state.step + 1, tf.float32)
        rate = schedule.rate(state.step) * tf.sqrt(1 - beta2**t) / (1 - BETA1**t)
        means = _blend(BETA1, state.means, gradients)
        squares = _blend(beta2, state.squares, [g * g for g in gradients])
        moved = [
            p - rate * m / (tf.sqrt(v) + EPSILON)
            for p, m, v in zip(state.parameters, means, squares, strict=True)
        ]
        return (_Adam(state.step + 1, moved, means, squares),)

    (state,) = tf.while_loop(lambda state: state.step < stop, update, (state,))
    return state


def _blend(decay: float, old: Sequence[Tensor], new: Sequence[Tensor]) -> list[Tensor]:
    return [decay * a + (1 - decay) * b for a, b in zip(old, new, strict=True)]


def history(trace: Trace, names: Sequence[str], remedy: str) -> dict[str, Array]:
    """Return the recorded quantities as a dict; raise ``DivergedError`` unless all are finite.

    Args:
        trace: What :func:`adam` returned, as tensors.
        names: A name for each recorded quantity.
        remedy: What the user should change if the run diverged, as a sentence.

    Returns:
        Arrays ``[r]``: ``step``, the steps of the records, and one array for each of ``names``.

    Raises:
        DivergedError: A record or a final parameter is not finite.
    """
    steps, records = trace.steps.numpy(), trace.records.numpy()
    bad = np.flatnonzero(~np.isfinite(records).all(axis=-1))
    if bad.size:
        raise DivergedError(int(steps[bad[0]]), remedy)
    if not all(np.isfinite(p.numpy()).all() for p in trace.parameters):
        raise DivergedError(int(steps[-1]), remedy)
    kept = np.flatnonzero(np.diff(steps, prepend=0))  # with few steps, records repeat a step
    return {"step": steps[kept], **dict(zip(names, records[kept].T, strict=True))}


def path(trace: Trace) -> Path | None:
    """Return a run's frames as NumPy arrays, no two of the same step; ``None`` if it kept none."""
    if trace.path is None:
        return None
    steps = trace.path.steps.numpy()
    kept = np.flatnonzero(np.diff(steps, append=-1))  # the last frame of each step
    tensors = [np.asarray(p)[kept] for p in trace.path.parameters]
    return Path(steps[kept], trace.path.records.numpy()[kept], tensors)


def with_frame(path: Path | None, frame: int) -> Path:
    """Return ``path``; raise ``ValueError`` if it is ``None`` or has no such frame (−1: last)."""
    n = 0 if path is None else len(path.steps)
    if path is None or not -n <= frame < n:
        kept = f"a number from {-n} to {n - 1}" if n else "a fit with stored frames (this has none)"
        raise ValueError(f"frame: expected {kept}, got {frame}")
    return path


def start_seeds(seed: int, starts: int) -> list[int]:
    """Return the seeds of several starts: ``seed``, ``seed + 10⁶``, ``seed + 2·10⁶``, ...

    Raises:
        ValueError: ``seed`` < 0 or ``starts`` < 1.
    """
    first = checks.count("seed", seed, 0)
    return [first + _NEXT_START * k for k in range(checks.count("starts", starts))]


def best_start(
    fit: Callable[[Any], Fitted], settings: Any, cost: Callable[[Fitted], float]
) -> Fitted:
    """Fit from several starts in parallel; return the fit of lowest cost that did not diverge.

    Args:
        fit: Maps settings with the seed of one start to a fit.
        settings: A dataclass with ``seed`` and ``starts``, see :func:`start_seeds`.
        cost: Maps a fit to its cost; called only if several fits did not diverge.

    Raises:
        ValueError: ``seed`` < 0 or ``starts`` < 1.
        DivergedError: Every start diverged; the error is that of the first.
    """
    seeds, errors = start_seeds(settings.seed, settings.starts), []
    if len(seeds) == 1:
        return fit(settings)

    def attempt(seed: int) -> Fitted | None:
        try:
            return fit(replace(settings, seed=seed))
        except DivergedError as error:
            errors.append(error)
            return None

    fitted = [one for one in side_by_side(attempt, seeds) if one is not None]
    if not fitted:
        raise errors[0]
    return fitted[0] if len(fitted) == 1 else min(fitted, key=cost)


def side_by_side(fit: Callable[[int], Fitted], seeds: Sequence[int]) -> list[Fitted]:
    """Return the fits of all seeds, in their order, run in threads (programs release the GIL)."""
    first = fit(seeds[0])  # alone, since it may compile the program
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return [first, *pool.map(fit, seeds[1:])]
