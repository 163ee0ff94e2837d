"""The learner's own points: the control that holds them, their edits, and axes in their units."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import traitlets
from matplotlib import dates as matplotlib_dates
from matplotlib.ticker import AutoLocator, Formatter, Locator, MaxNLocator, ScalarFormatter

from bdl_teach.problems import own_points
from bdl_teach.problems.own_points import Value

_DATES: Any = matplotlib_dates  # without types


class Unseen(traitlets.HasTraits):
    """A control without a widget; the pointer in the picture or a line of Python sets its value."""

    value = traitlets.Any(None, allow_none=True)

    def read(self, given: Any) -> Any:
        """Convert ``given`` to what the control holds, or raise ``ValueError``."""
        raise NotImplementedError

    def words(self, value: Any) -> str:
        """Return a value of the control as text for the learner."""
        raise NotImplementedError


class Points(Unseen):
    """The control that holds the learner's points, at most ``most``."""

    def __init__(self, most: int = own_points.MOST) -> None:
        super().__init__()
        self.most = most
        self._notes: dict[Value, str] = {}

    def read(self, given: Any) -> Value | None:
        value, notes = own_points.read(given, self.most)
        if value is not None and notes:
            self._notes[value] = f" Your table: {'; '.join(notes)}."
        return value

    def words(self, value: Value | None) -> str:
        return "as drawn" if value is None else f"{len(value[0])} by hand"

    def notes(self, value: Value | None) -> str:
        """Return a sentence on how a pasted table was read; "" if there is nothing to say."""
        return "" if value is None else self._notes.get(value, "")


def after(did: Mapping[str, Any], now: Value, most: int = own_points.MOST) -> Value | None:
    """Return the points after an edit of ``now`` by the pointer; ``None`` if it cannot be made.

    ``did["act"]`` is "move", "add" or "remove", ``did["i"]`` the index of the point, and
    ``did["x"]`` and ``did["y"]`` its new place in the course's units. At least one point and at
    most ``most`` must remain.
    """
    x, y = own_points.in_course(now)
    act, i = did["act"], did.get("i", -1)
    # 0.001 in the course's x and 0.01 in its y are less than a pixel.
    at = round(did.get("x", 0.0), 3), round(did.get("y", 0.0), 2)
    if act == "add" and len(x) < most:
        x, y = np.append(x, at[0]), np.append(y, at[1])
    elif not 0 <= i < len(x):  # the page does not know of a removed point yet
        return None
    elif act == "move":
        x[i], y[i] = at
    elif act == "remove" and len(x) > 1:
        x, y = np.delete(x, i), np.delete(y, i)
    else:
        return None
    return own_points.from_course(x, y, *now[2:])


def label_axis(
    axis: Any, name: str, start: float, scale: float, zero: str = "", whole: bool = False
) -> None:
    """Label an axis, with ticks in the learner's units: start + scale · (value on the axis).

    ``zero`` is the date that is 0 in these units, if any; ``whole`` puts ticks at whole numbers
    only.
    """
    axis.set_label_text(name)
    if (start, scale) == (0.0, 1.0):
        axis.set_major_locator(AutoLocator())
        axis.set_major_formatter(ScalarFormatter())
        return
    if "-" in zero:
        start += float(_DATES.date2num(np.datetime64(zero.replace(" ", "T"))))
        ticks = _DATES.AutoDateLocator(maxticks=7)
        words = _DATES.ConciseDateFormatter(ticks)
    else:
        ticks = MaxNLocator(steps=[1, 2, 2.5, 5, 10], integer=whole)
        words = ScalarFormatter()
    axis.set_major_locator(_OwnTicks(ticks, start, scale))
    axis.set_major_formatter(_OwnFormatter(words, start, scale, name))


class _OwnTicks(Locator):
    """A tick locator that lets the locator ``inner`` choose ticks in the learner's units."""

    def __init__(self, inner: Locator, start: float, scale: float) -> None:
        self._inner, self._start, self._scale = inner, start, scale

    def __call__(self) -> Any:
        axis: Any = self.axis
        ends: Any = self._start + self._scale * np.array(axis.get_view_interval())
        if isinstance(self._inner, MaxNLocator):
            self._inner.set_params(
                nbins=min(max(5 if axis.axis_name == "y" else 3, axis.get_tick_space()), 7)
            )
        else:
            ends = _DATES.num2date(ends)
        return (np.asarray(self._inner.tick_values(*ends), float) - self._start) / self._scale


class _OwnFormatter(Formatter):
    """A tick formatter that lets the formatter ``inner`` write labels in the learner's units."""

    def __init__(self, inner: Formatter, start: float, scale: float, name: str) -> None:
        self._inner, self._start, self._scale, self._name = inner, start, scale, name
        inner.create_dummy_axis()

    def format_ticks(self, values: Any) -> list[str]:
        axis: Any = self.axis
        inner: Any = self._inner.axis
        ends = self._start + self._scale * np.array(axis.get_view_interval())
        inner.set_view_interval(*ends)
        places = self._start + self._scale * np.asarray(values, float)
        words = self._inner.format_ticks(places.tolist())
        offset = self._inner.get_offset()
        axis.set_label_text(f"{self._name} ({offset})" if offset else self._name)
        return words
