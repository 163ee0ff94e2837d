"""Replay probabilistic backpropagation to any step, for the explorer ``pbp_stepper``."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import tf
from bdl_teach.methods import pbp
from bdl_teach.methods.pbp._loop import REFINE, forward
from bdl_teach.predictive import Predictive


@one_line
@dataclass(frozen=True)
class Replay:
    """The posterior after some steps, and the posterior before the last of these steps.

    A step learns one point or, at the end of an epoch, refines the prior of the weights.

    Attributes:
        fit: The posterior after the last step.
        before: The posterior before the last step; equal to ``fit`` if there was no step.
        epoch: Epoch of the last step, counted from 0.
        point: Row that the last step learned; None for a refinement or before the first step.
        seen: Rows learned in this epoch so far, in their order.
        noise: α and β of the noise before the first step and after each step ``[n_steps + 1, 2]``.
        noise_std: √(β/(α−1)) of each row of ``noise``, in the units of y ``[n_steps + 1]``.
    """

    fit: pbp.Fit
    before: pbp.Fit
    epoch: int
    point: int | None
    seen: Array
    noise: Array
    noise_std: Array

    def predict(self, x: Array) -> tuple[Predictive, Predictive]:
        """Return the predictives at ``x`` [m, d] after and before the last step."""
        fits = (self.fit, self.before)
        states = [(fit.state.mean, fit.state.var) for fit in fits]
        moments = _forward()(tf.constant(self.fit.scaling.inputs(x)), *states)
        now, before = (
            fit.in_units_of_y(mean.numpy(), var.numpy())
            for fit, (mean, var) in zip(fits, moments, strict=True)
        )
        return now, before


class Trail:
    """A run of probabilistic backpropagation that can show its state after any number of steps.

    The options are ``hidden_units``, ``noise_prior`` and ``seed`` of ``pbp.fit``, and ``shuffle``:
    without it each epoch visits the rows in their order.
    """

    def __init__(self, x: ArrayLike, y: ArrayLike, **options: Any) -> None:
        self._passes = pbp.Passes.of(x, y, **options)

    def at(self, n_steps: int) -> Replay:
        """Return the posterior after ``n_steps`` >= 0 steps, as a :class:`Replay`."""
        n_steps, passes = checks.count("n_steps", n_steps, 0), self._passes
        last = max(n_steps - 1, 0)  # the last step is taken by itself
        before, trace = passes.after(last)
        state, final = passes.advance(before, last, n_steps)
        noise = np.concatenate([passes.start.noise.numpy()[None], trace[:, :2], final[:, :2]])
        epoch = last // passes.length
        taken = passes.rows(epoch)[: n_steps - epoch * passes.length]
        return Replay(
            fit=passes.fitted(state),
            before=passes.fitted(before),
            epoch=epoch,
            point=int(taken[-1]) if n_steps and taken[-1] != REFINE else None,
            seen=taken[taken != REFINE],
            noise=noise,
            noise_std=np.sqrt(noise[:, 1] / (noise[:, 0] - 1.0)) * passes.scaling.y_std,
        )


def replay(x: ArrayLike, y: ArrayLike, n_steps: int, **options: Any) -> Replay:
    """Return the posterior after ``n_steps`` >= 0 steps of :func:`pbp.steps`.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        n_steps: Number of steps; an epoch has one for each point and one refinement.
        **options: Arguments of :class:`Trail`.

    Returns:
        A :class:`Replay`.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    return Trail(x, y, **options).at(n_steps)


@lru_cache(maxsize=1)
def _forward() -> Compiled:
    """Compile a function of x and pairs (mean, var), which returns ``forward`` for each pair."""
    return Compiled(lambda x, *states: [forward(x, *state) for state in states])
