"""What the pointer and keys do to an explorer's points, between the page and the controls.

The page knows where the panel is and what its axes show, so it speaks in data coordinates. A point
that is dragged stays under the pointer, and the picture follows as fast as it can.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import dates as matplotlib_dates
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.ticker import AutoLocator, Formatter, Locator, MaxNLocator, ScalarFormatter

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import own_points as points
from bdl_teach.problems.own_points import COURSE, PLAIN, Labels, Units, Value

_DATES: Any = matplotlib_dates  # it has no types
_LONGEST_Y = 16  # letters of a name along the height of a panel, with room for a power of ten


@dataclass
class Panel:
    """A panel whose points can be touched.

    Attributes:
        axes: The panel.
        room: Its height, which stays while a point is held.
        truth: The line of the noise-free function, hidden where that is unknown.
        columns: Of the panel's legend; 0 if it has none of its own.
        stays: What a learner sees while the edges of a band are drawn; () where none are.
        hover: Whether the panel reacts to a pointer that moves over it without a click.
        most: How many points there may be.
        kind: "points", or "at" if the pointer only chooses a place.
        spread: A panel of standard deviations of y along the same x, labelled in the same units.
        units: In which its axes are labelled.
        labels: The names and dates that they have.
    """

    axes: Axes
    room: plots.Room | None = None
    truth: Artist | None = None
    columns: int = 6
    stays: Sequence[Artist] = ()
    hover: bool = False
    most: int = points.MOST
    kind: str = "points"
    spread: Axes | None = None
    units: Units = COURSE
    labels: Labels = PLAIN

    def __post_init__(self) -> None:
        self._names = self.axes.get_xlabel(), self.axes.get_ylabel()
        self._spread_name = "" if self.spread is None else self.spread.get_ylabel()

    def hold(self, held: bool) -> None:
        """Keep the height while a point is dragged, so that it does not slip from the pointer."""
        if self.room is not None:
            self.room.held = held

    def label(self, data: datasets.Regression1D) -> bool:
        """Label the axes in the units of ``data``; return whether that changed anything."""
        units, labels = COURSE, PLAIN
        if self.kind == "points":
            units, labels = points.units_of(data), points.labels_of(data)
        if (units, labels) == (self.units, self.labels):
            return False
        self.units, self.labels = units, labels
        if self.truth is not None:
            self.truth.set_visible(units == COURSE)
            if self.columns:
                plots.legend_above(self.axes, self.columns)
        if self.room is not None:
            self.room.scale = units[3]
            self.room.start = units[2]
        for i, axis in enumerate((self.axes.xaxis, self.axes.yaxis)):
            name = labels[i] or self._names[i]
            if i == 1 and len(name) > _LONGEST_Y:  # the panel is no higher
                name = f"{name[: _LONGEST_Y - 1]}…"
            start, scale = units[2 * i : 2 * i + 2]
            values = start + scale * (data.x, data.y)[i]
            whole = bool((np.abs(values - np.round(values)) < 1e-5 * scale).all())
            _label(axis, name, start, scale, labels[2 + i], whole)
            if self.spread is not None and i == 0:
                _label(self.spread.xaxis, name, start, scale, labels[2], whole)
        if self.spread is not None:  # a standard deviation has no start, and no date
            _label(self.spread.yaxis, self._spread_name, 0.0, units[3], "", False)
        return True

    def place(self) -> dict[str, Any]:
        """Return the panel's place in the picture, as shares from left and top, and its limits."""
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
            "zeros": list(self.labels[2:]),
        }


def _share(part: float, whole: float) -> float:
    return round(float(part / whole), 5)


class _OwnTicks(Locator):
    """Ticks at the places that another locator chooses in the learner's units."""

    def __init__(self, inner: Locator, own: _Own) -> None:
        self._inner, self._own = inner, own

    def tick_values(self, vmin: float, vmax: float) -> Any:
        ends: Any = self._own.of_learner(np.array([vmin, vmax]))
        if isinstance(self._inner, _DATES.AutoDateLocator):
            ends = _DATES.num2date(ends)
        return self._own.of_course(np.asarray(self._inner.tick_values(*ends), float))

    def __call__(self) -> Any:
        assert self.axis is not None
        if isinstance(self._inner, MaxNLocator):
            self._inner.set_params(nbins=min(max(5, self.axis.get_tick_space()), 7))
        return self.tick_values(*self.axis.get_view_interval())


class _OwnFormatter(Formatter):
    """Write tick labels in the learner's units, as another formatter would."""

    def __init__(self, inner: Formatter, own: _Own, name: str) -> None:
        self._inner, self._own, self._name = inner, own, name
        inner.create_dummy_axis()

    def format_ticks(self, values: Any) -> list[str]:
        axis: Any = self.axis
        assert self._inner.axis is not None
        low, high = self._own.of_learner(np.array(axis.get_view_interval()))
        self._inner.axis.set_view_interval(low, high)
        words = self._inner.format_ticks(self._own.of_learner(np.asarray(values, float)).tolist())
        offset = self._inner.get_offset()
        axis.set_label_text(f"{self._name} ({offset})" if offset else self._name)
        return words

    def __call__(self, x: float, pos: int | None = None) -> str:
        return self.format_ticks([x])[0]


@dataclass(frozen=True)
class _Own:
    """Places of an axis converted to the learner's units; dates as matplotlib counts them."""

    start: float
    scale: float

    def of_learner(self, places: Array) -> Array:
        return self.start + self.scale * places

    def of_course(self, places: Array) -> Array:
        return (places - self.start) / self.scale


def _label(axis: Any, name: str, start: float, scale: float, zero: str, whole: bool) -> None:
    """Name an axis and show the learner's units on it."""
    axis.set_label_text(name)
    if (start, scale) == (0.0, 1.0):
        axis.set_major_locator(AutoLocator())
        axis.set_major_formatter(ScalarFormatter())
        return
    ticks: Locator
    words: Formatter
    if "-" in zero:
        start += float(_DATES.date2num(np.datetime64(zero.replace(" ", "T"))))
        ticks = _DATES.AutoDateLocator(maxticks=7)
        words = _DATES.ConciseDateFormatter(ticks)
    else:
        ticks = MaxNLocator(steps=[1, 2, 2.5, 5, 10], integer=whole)
        words = ScalarFormatter()
        name = f"{name}, hours after {zero}" if zero else name
    own = _Own(start, scale)
    axis.set_major_locator(_OwnTicks(ticks, own))
    axis.set_major_formatter(_OwnFormatter(words, own, name))


def after(did: Mapping[str, Any], now: Value, most: int = points.MOST) -> Value | None:
    """Return the points after an act of the pointer; ``None`` if it is impossible.

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
    return points.from_course(x, y, *now[2:])


def least_sure(x_grid: Array, spread: Array, taken: Array) -> float:
    """Return the grid point (of ``[m]``) of the largest spread ``[m]`` that is not yet taken."""
    near = np.abs(x_grid[:, None] - taken[None]).min(axis=1, initial=math.inf) < 0.02
    return float(x_grid[np.argmax(np.where(near, -math.inf, spread))])
