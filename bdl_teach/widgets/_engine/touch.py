"""What pointer and keys do to an explorer's points, between the page and the controls.

The page knows where the panel lies and what its axes show, so that it speaks in data coordinates;
while a point is held it stays where the hand is, and the picture follows as fast as it can.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import AutoLocator, FuncFormatter, MaxNLocator, ScalarFormatter

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import points
from bdl_teach.widgets._engine.points import COURSE, Units, Value


@dataclass
class Panel:
    """A panel whose points can be touched.

    Attributes:
        axes: The panel.
        room: Its height, which stays while a point is held.
        truth: The line of the noise-free function, gone where there is none.
        columns: Of the panel's legend; 0 if it has none of its own.
        stays: What a learner sees while the edges of a band are drawn; () where none are.
        hover: Whether a hand that only points at something is of interest.
        most: How many points there may be.
        kind: "points", or "at" where a place is all that is pointed at.
        units: In which its axes are labelled.
    """

    axes: Axes
    room: plots.Room | None = None
    truth: Artist | None = None
    columns: int = 6
    stays: Sequence[Artist] = ()
    hover: bool = False
    most: int = points.MOST
    kind: str = "points"
    units: Units = COURSE

    def hold(self, held: bool) -> None:
        """Keep the height while a point is held: it would slip from under the hand."""
        if self.room is not None:
            self.room.held = held

    def label(self, data: datasets.Regression1D) -> bool:
        """Label the axes in the units of ``data``; says whether that changed anything."""
        units = points.units_of(data) if self.kind == "points" else COURSE
        if units == self.units:
            return False
        self.units = units
        if self.truth is not None:
            self.truth.set_visible(units == COURSE)
            if self.columns:
                plots.legend_above(self.axes, self.columns)
        x0, x1, y0, y1 = units
        _label(self.axes.xaxis, x0, x1)
        _label(self.axes.yaxis, y0, y1)
        return True

    def place(self) -> dict[str, Any]:
        """Where it lies in the picture, in shares of it from the left and the top, and its axes."""
        box, whole = self.axes.bbox, self.axes.figure.bbox
        return {
            "kind": self.kind,
            "most": self.most,
            "hover": self.hover,
            "left": _share(box.x0, whole.width),
            "top": 1.0 - _share(box.y1, whole.height),
            "width": _share(box.width, whole.width),
            "height": _share(box.height, whole.height),
            "x": list(map(float, self.axes.get_xlim())),
            "y": list(map(float, self.axes.get_ylim())),
            "units": list(self.units),
        }


def of_fit(fit: plots.FitArtists) -> Panel:
    """The panel of a fit to the points of the sinusoid."""
    return Panel(fit.axes, fit.room, fit.truth)


def _share(part: float, whole: float) -> float:
    return round(float(part / whole), 5)


class _OwnTicks(MaxNLocator):
    """Ticks at round numbers of the learner's units."""

    def __init__(self, start: float, scale: float) -> None:
        super().__init__(nbins=7, steps=[1, 2, 2.5, 5, 10])
        self._start, self._scale = start, scale

    def tick_values(self, vmin: float, vmax: float) -> Any:
        ends = (self._start + self._scale * end for end in (vmin, vmax))
        return (np.asarray(super().tick_values(*ends)) - self._start) / self._scale


def _label(axis: Any, start: float, scale: float) -> None:
    if (start, scale) == (0.0, 1.0):
        axis.set_major_locator(AutoLocator())
        axis.set_major_formatter(ScalarFormatter())
    else:
        axis.set_major_locator(_OwnTicks(start, scale))
        axis.set_major_formatter(FuncFormatter(lambda at, _: f"{start + scale * at:.4g}"))


def after(did: Mapping[str, Any], now: Value, most: int = points.MOST) -> Value | None:
    """The points after a hand did something to them; ``None`` if it did nothing that can be.

    Args:
        did: ``touch``, which is "move", "add" or "remove"; ``i``, the point's place, and ``x``
            and ``y`` in the course's units, where it needs them.
        now: The points before.
        most: How many there may be.
    """
    x, y = points.in_course(now)
    try:
        act, i = did["touch"], int(did.get("i", -1))
        # A thousandth of the course's x and a hundredth of its y are less than a pixel.
        at = round(float(did.get("x", math.nan)), 3), round(float(did.get("y", math.nan)), 2)
    except (KeyError, TypeError, ValueError, OverflowError):
        return None
    there, finite = 0 <= i < len(x), all(map(math.isfinite, at))
    if act == "move" and there and finite:
        x[i], y[i] = at
    elif act == "add" and finite and len(x) < most:
        x, y = np.append(x, at[0]), np.append(y, at[1])
    elif act == "remove" and there and len(x) > 1:
        x, y = np.delete(x, i), np.delete(y, i)
    else:
        return None
    return points.from_course(x, y, now[2])


def least_sure(x_grid: Array, spread: Array, taken: Array) -> float:
    """Where on the grid ``[m]`` the spread ``[m]`` is largest, but for points that are there."""
    near = np.abs(x_grid[:, None] - taken[None]).min(axis=1, initial=math.inf) < 0.02
    return float(x_grid[np.argmax(np.where(near, -math.inf, spread))])
