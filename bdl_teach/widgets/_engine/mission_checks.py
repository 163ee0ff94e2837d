"""What the checks of missions share: what was left as it was, how near a mean comes, points set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine.controls import Values
from bdl_teach.widgets._engine.missions import Condition

_NOTHING = 1e-6  # what is smaller in a figure comes from rounding
AMONG = 0.5  # |x| up to which the drawn points lie


def untouched(state: Values, start: Values, *names: str) -> Condition:
    """That these controls stand where they stood at the start, and no hand has set a point."""
    drawn = Condition(state.get("data") is None, "a hand has set points")
    return left(state, start, *names) if drawn.holds else drawn


def left(state: Values, start: Values, *names: str) -> Condition:
    """That these controls stand where they stood at the start; else where to take them back."""
    moved = [name for name in names if not at_start(state, start, name)]
    ways = [f"{{{name}}} back to {_figure(start[name])}" for name in moved]
    return Condition(not moved, f"take {' and '.join(ways)}")


def own(data: datasets.Regression1D) -> Condition:
    """That the learner has set the points, by hand or by a table."""
    set_by_hand = isinstance(data, points.OwnPoints)
    return Condition(set_by_hand, "the points are drawn at random: drag one, or click a new one in")


def by_hand(data: datasets.Regression1D) -> Condition:
    """That a hand has set the points, in the course's units: where a table's would not do."""
    if points.units_of(data) != points.COURSE:
        return Condition(False, "a table is stretched and does not count; “reset”, then drag")
    return own(data)


def hidden(names: Sequence[str]) -> Condition:
    """That none of these, which are to be shown, is hidden."""
    return Condition(not names, f"{_all(names)} not shown")


def _all(names: Sequence[str]) -> str:
    """Names as the subject of a sentence, with its verb."""
    return f"{' and '.join(names)} {'is' if len(names) == 1 else 'are'}"


def as_asked(holds: bool, what: str, value: float) -> Condition:
    """That a figure is as asked; ``what`` it is, and how large now, is said where it is not."""
    return Condition(bool(holds), f"{what} is {_figure(value)}")


def _figure(value: Any) -> str:
    """A value as a sentence has it: three digits of a number, what rounding has left as 0."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return value
    shown = 0.0 if abs(value) < _NOTHING else value
    return f"{shown:{'.3g' if abs(shown) < 1000 else '.0f'}}".replace("-", "−")


def ratio(one: float, other: float) -> float:
    """How many times as large as the other the one is; the other may be 0."""
    return one / other if other > 0 else math.inf


def at_start(state: Values, start: Values, name: str) -> bool:
    """Whether a control stands where it stood at the start, but for what a page rounds."""
    now, then = state[name], start[name]
    return math.isclose(now, then, rel_tol=1e-6) if isinstance(then, float) else now == then


def error(result: Any, x_grid: Array, mask: Array | None = None) -> float:
    """Root mean square distance of the mean to the sine, where the drawn points lie or ``mask``."""
    where = np.abs(x_grid[:, 0]) <= AMONG if mask is None else mask
    off = result.prediction.mean - datasets.sinusoid().truth(x_grid)[:, 0]
    return float(np.sqrt((off[where] ** 2).mean()))


def at(x_grid: Array, curve: Array, x: float) -> float:
    """A curve ``[m]`` on the grid ``[m, 1]`` at the place of it that is nearest to ``x``."""
    return float(curve[np.abs(x_grid[:, 0] - x).argmin()])


def finds_both_peaks(result: Any, x_grid: Array, height: float) -> Condition:
    """That the mean is above ``height`` at ¼, and as far below at −¼."""
    up, down = (at(x_grid, result.prediction.mean, x) for x in (0.25, -0.25))
    found = up > height and down < -height
    return Condition(found, f"the mean is {up:.3g} at x = ¼ and {down:.3g} at −¼")


def follows(result: Any, x_grid: Array, mask: Array | None = None, *, within: float) -> Condition:
    """That the mean comes near to the sine, where ``error`` looks."""
    off = error(result, x_grid, mask)
    return Condition(off < within, f"the mean is {off:.3g} off the sine (root mean square)")


def with_more(data: datasets.Regression1D, *more: tuple[float, float]) -> points.Value:
    """The points of ``data``, and more, as a hand would leave them."""
    x, y = np.append(data.x[:, 0], [p[0] for p in more]), np.append(data.y, [p[1] for p in more])
    return points.from_course(x.round(3), y.round(2))
