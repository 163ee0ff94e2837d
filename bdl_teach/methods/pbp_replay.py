"""The posterior of probabilistic backpropagation after any number of its steps, for a stepper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bdl_teach import checks
from bdl_teach.checks import Array
from bdl_teach.methods import pbp


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


def replay(
    x: Any,
    y: Any,
    n_steps: int,
    *,
    hidden_units: tuple[int, ...] = (50,),
    noise_prior: tuple[float, float] = pbp.NOISE_PRIOR,
    shuffle: bool = True,
    seed: int = 0,
) -> Replay:
    """Take ``n_steps`` steps of :func:`pbp.steps`; a few milliseconds for hundreds of them.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        n_steps: Steps, >= 0: n points and one refinement an epoch.
        hidden_units: Width of each hidden ReLU layer.
        noise_prior: α > 1 and β > 0 of the noise precision before any data.
        shuffle: Whether each epoch has a new order; otherwise it is that of the rows.
        seed: Seed of the starting point and of the orders.

    Returns:
        A :class:`Replay`.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    problem = pbp.Problem.of(x, y, hidden_units, noise_prior, seed)
    n, n_steps = problem.n, checks.count("n_steps", n_steps, 0)
    last_epoch = max(n_steps - 1, 0) // (n + 1)
    orders = [problem.order(e) if shuffle else np.arange(n) for e in range(last_epoch + 1)]
    state, noise = problem.start, [problem.start.noise.numpy()[None]]
    for order in orders[:-1]:
        state, trace = problem.advance(state, order, 0, n, refine=True)
        noise += [trace[:, :2], state.noise.numpy()[None]]
    left = n_steps - last_epoch * (n + 1)
    stop, refine = min(left, n), left > n
    head = stop if refine else max(stop - 1, 0)  # the last step is taken alone, to show it
    before, trace = problem.advance(state, orders[-1], 0, head, refine=False)
    state, rest = problem.advance(before, orders[-1], head, stop, refine=refine)
    noise += [trace[:, :2], rest[:, :2], *([state.noise.numpy()[None]] if refine else [])]
    path = np.concatenate(noise)
    point = int(orders[-1][stop - 1]) if n_steps and not refine else None
    noise_std = np.sqrt(path[:, 1] / (path[:, 0] - 1.0)) * problem.scaling.y_std
    fits = problem.fitted(state), problem.fitted(before)
    return Replay(*fits, last_epoch, point, orders[-1][:stop], path, noise_std)
