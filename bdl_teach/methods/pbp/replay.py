"""The posterior of probabilistic backpropagation after any number of its steps, for a stepper."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import optimise
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, tf
from bdl_teach.methods import pbp
from bdl_teach.methods.pbp import _loop as pbp_loop
from bdl_teach.methods.pbp._loop import State
from bdl_teach.predictive import Predictive

_FRAMES = 41  # of a fit's replay
CHUNK = 256  # steps between the states that a trail keeps
_REFINE = -1  # in a schedule, where a point's row would stand


@one_line
@dataclass(frozen=True)
class Replay:
    """Where the method is after some steps, and how it came there.

    A step learns one point, or, at the end of an epoch, refines the prior of the weights.

    Attributes:
        fit: The posterior now.
        before: The posterior before the last step; the same one if there was no step.
        epoch: Epoch of the last step, counted from 0.
        point: Row that the last step learned; None for a refinement or before the first step.
        seen: Rows learned in this epoch so far, in their order.
        noise: α and β after each step ``[n_steps + 1, 2]``, the prior's first.
        noise_std: √(β/(α−1)) of each, in the units of y ``[n_steps + 1]``.
    """

    fit: pbp.Fit
    before: pbp.Fit
    epoch: int
    point: int | None
    seen: Array
    noise: Array
    noise_std: Array

    def predict(self, x: Array) -> tuple[Predictive, Predictive]:
        """Predict at ``x`` [m, d] with ``fit`` and with ``before``, in one compiled call."""
        fits = (self.fit, self.before)
        states = [(fit.state.mean, fit.state.var) for fit in fits]
        moments = _forward()(tf.constant(self.fit.scaling.inputs(x)), *states)
        now, before = (
            fit.in_units_of_y(mean.numpy(), var.numpy())
            for fit, (mean, var) in zip(fits, moments, strict=True)
        )
        return now, before


class Trail:
    """The steps of one problem, taken as far as asked for; some states on the way are kept.

    Going back, or on by a few steps, then takes at most ``CHUNK`` steps anew.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        hidden_units: Width of each hidden ReLU layer.
        noise_prior: α > 1 and β > 0 of the noise precision before any data.
        shuffle: Whether each epoch has a new order; otherwise it is that of the rows.
        seed: Seed of the starting point and of the orders.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """

    def __init__(
        self,
        x: ArrayLike,
        y: ArrayLike,
        *,
        hidden_units: tuple[int, ...] = (50,),
        noise_prior: tuple[float, float] = pbp.NOISE_PRIOR,
        shuffle: bool = True,
        seed: int = 0,
    ) -> None:
        self._data = pbp.Standardised.of(x, y, hidden_units, noise_prior, seed)
        self._shuffle = shuffle
        self._states = [self._data.start]  # after 0, CHUNK, 2 CHUNK, ... steps
        self._noise = [self._data.start.noise.numpy()[None]]  # α, β on the way to each

    def at(self, n_steps: int) -> Replay:
        """Return where the method is after ``n_steps`` >= 0 steps."""
        n_steps = checks.count("n_steps", n_steps, 0)
        chunk, at = divmod(max(n_steps - 1, 0), CHUNK)  # the last step is taken alone
        while len(self._states) <= chunk:
            state, noise = self._advance(len(self._states) - 1, self._states[-1], 0, CHUNK)
            self._states.append(state)
            self._noise.append(noise)
        before, noise = self._advance(chunk, self._states[chunk], 0, at)
        state, last = self._advance(chunk, before, at, at + min(n_steps, 1))
        return self._replay(n_steps, before, state, [*self._noise[: chunk + 1], noise, last])

    def _replay(self, n_steps: int, before: State, state: State, noise: list[Array]) -> Replay:
        epoch = max(n_steps - 1, 0) // (self._data.n + 1)
        taken = self._schedule(epoch)[: n_steps - epoch * (self._data.n + 1)]
        path = np.concatenate(noise)
        return Replay(
            fit=self._data.fitted(state),
            before=self._data.fitted(before),
            epoch=epoch,
            point=int(taken[-1]) if n_steps and taken[-1] != _REFINE else None,
            seen=taken[taken != _REFINE],
            noise=path,
            noise_std=np.sqrt(path[:, 1] / (path[:, 0] - 1.0)) * self._data.scaling.y_std,
        )

    def _schedule(self, epoch: int) -> Array:
        """Rows of the steps of an epoch ``[n + 1]``, the refinement last."""
        n = self._data.n
        return np.append(self._data.order(epoch) if self._shuffle else np.arange(n), _REFINE)

    def _advance(self, chunk: int, state: State, start: int, stop: int) -> tuple[State, Array]:
        """Take steps ``start`` to ``stop`` of a chunk; returns also α and β after each."""
        first, skipped = divmod(chunk * CHUNK, self._data.n + 1)
        last = (chunk * CHUNK + CHUNK) // (self._data.n + 1)
        rows = np.concatenate([self._schedule(epoch) for epoch in range(first, last + 1)])
        schedule = tf.constant(rows[skipped : skipped + CHUNK], tf.int32)
        limits = tf.constant(start), tf.constant(stop)
        state, noise = _steps()(state, self._data.x, self._data.y, schedule, *limits)
        return state, noise.numpy()[start:stop]


def replay(x: ArrayLike, y: ArrayLike, n_steps: int, **options: object) -> Replay:
    """Take ``n_steps`` >= 0 steps of :func:`pbp.steps`; some milliseconds for a thousand.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        n_steps: Steps: n points and one refinement an epoch.
        **options: As of :class:`Trail`.

    Returns:
        A :class:`Replay`.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    return Trail(x, y, **cast("dict[str, Any]", options)).at(n_steps)


def fit(
    x: ArrayLike,
    y: ArrayLike,
    *,
    hidden_units: tuple[int, ...] = (50,),
    epochs: int = 40,
    seed: int = 0,
) -> Fit:
    """Do what :func:`pbp.fit` does, many steps a call: sooner where there are few points.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        hidden_units: Width of each hidden ReLU layer.
        epochs: Passes over the data, a refinement of the prior after each.
        seed: Seed of the starting point and of the orders.

    Returns:
        A :class:`Fit`, without a history.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    n_steps = checks.count("epochs", epochs) * (len(checks.inputs("x", x)) + 1)
    trail = Trail(x, y, hidden_units=hidden_units, seed=seed)
    return Fit(**vars(trail.at(n_steps).fit), trail=trail, n_steps=n_steps)


@one_line
@dataclass(frozen=True)
class Fit(pbp.Fit):
    """A fit that knows what it was on its way.

    Attributes:
        trail: Its steps.
        n_steps: How many there were.
    """

    trail: Trail
    n_steps: int

    @property
    def path(self) -> optimise.Path:
        """Steps of the frames that ``at`` takes: the closer together, the earlier."""
        steps = np.ceil(self.n_steps * np.linspace(0.0, 1.0, _FRAMES) ** 1.5)
        kept = np.unique(steps.astype(int))
        return optimise.Path(kept, np.empty((len(kept), 0)), [])

    def at(self, frame: int) -> pbp.Fit:
        """Return the posterior after ``path.steps[frame]`` steps.

        Args:
            frame: 0 for the prior, −1 for the end.

        Raises:
            ValueError: There is no such frame.
        """
        path = optimise.with_frame(self.path, frame)
        return self.trail.at(int(path.steps[frame])).fit


@lru_cache(maxsize=1)
def _steps() -> Compiled:
    """Compile: (state, x [n, d], y [n], schedule [k], start, stop) to (state, noise [k, 2])."""

    def run(
        state: State, x: Tensor, y: Tensor, schedule: Tensor, start: Tensor, stop: Tensor
    ) -> Tensor:
        def step(i: Tensor, state: State, noise: Tensor) -> tuple[Tensor, State, Tensor]:
            row = tf.gather(schedule, [i])
            state = tf.cond(
                row[0] == _REFINE,
                lambda: pbp_loop.refine_prior(state),
                lambda: pbp_loop.learn_point(state, tf.gather(x, row), tf.gather(y, row))[0],
            )
            return i + 1, state, noise.write(i, state.noise)

        noise = tf.TensorArray(tf.float64, size=CHUNK, element_shape=[2])
        begin = (start, state, noise)
        _, state, noise = tf.while_loop(lambda i, *_: i < stop, step, begin)
        return state, noise.stack()

    return Compiled(run)


@lru_cache(maxsize=1)
def _forward() -> Compiled:
    """Compile: moments of the output at x [m, d] for each of some (mean, var) of the weights."""
    return Compiled(lambda x, *states: [pbp_loop.forward(x, *state) for state in states])
