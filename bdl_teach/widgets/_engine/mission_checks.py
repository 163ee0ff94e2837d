"""What the checks of missions share: what was left as it was, how near a mean comes, points set."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import points
from bdl_teach.widgets._engine.controls import Values

AMONG = 0.5  # |x| up to which the drawn points lie


def untouched(state: Values, start: Values, *names: str) -> bool:
    """Whether these controls stand where they stood at the start, and no hand has set a point."""
    return state.get("data") is None and all(at_start(state, start, name) for name in names)


def at_start(state: Values, start: Values, name: str) -> bool:
    """Whether a control stands where it stood at the start, but for what a page rounds."""
    return math.isclose(state[name], start[name], rel_tol=1e-6)


def error(result: Any, x_grid: Array, mask: Array | None = None) -> float:
    """Root mean square distance of the mean to the sine, where the drawn points lie or ``mask``."""
    where = np.abs(x_grid[:, 0]) <= AMONG if mask is None else mask
    off = result.prediction.mean - datasets.sinusoid().truth(x_grid)[:, 0]
    return float(np.sqrt((off[where] ** 2).mean()))


def at(x_grid: Array, curve: Array, x: float) -> float:
    """A curve ``[m]`` on the grid ``[m, 1]`` at the place of it that is nearest to ``x``."""
    return float(curve[np.abs(x_grid[:, 0] - x).argmin()])


def finds_both_peaks(result: Any, x_grid: Array, height: float) -> bool:
    """Whether the mean is above ``height`` at ¼, and as far below at −¼."""
    up, down = (at(x_grid, result.prediction.mean, x) for x in (0.25, -0.25))
    return up > height and down < -height


def with_more(data: datasets.Regression1D, *more: tuple[float, float]) -> points.Value:
    """The points of ``data``, and more, as a hand would leave them."""
    x, y = np.append(data.x[:, 0], [p[0] for p in more]), np.append(data.y, [p[1] for p in more])
    return points.from_course(x.round(3), y.round(2))
