"""The control that holds the learner's own points: one without a widget."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import traitlets

from bdl_teach.problems import own_points
from bdl_teach.problems.own_points import Value


class Unseen(traitlets.HasTraits):
    """A control without a widget: a hand in the picture sets it, or a line of Python.

    Args:
        read: Returns a value as the control will hold it, or raises ``ValueError``.
        words: Says such a value in words.
    """

    value = traitlets.Any(None, allow_none=True)

    def __init__(self, read: Callable[[object], Any], words: Callable[[Any], str]) -> None:
        super().__init__()
        self.read, self.words = read, words


class Points(Unseen):
    """The control that holds the points; pointer, keys and a pasted table set it.

    Args:
        most: How many there may be; of more, as many are drawn at random.
    """

    def __init__(self, most: int = own_points.MOST) -> None:
        super().__init__(self._taken, _how_many)
        self.most = most
        self._notes: dict[Value, str] = {}

    def _taken(self, given: object) -> Value | None:
        value, notes = own_points.read(given, self.most)
        if value is not None and notes:
            self._notes[value] = f" Your table: {'; '.join(notes)}."
        return value

    def notes(self, value: Value | None) -> str:
        """A sentence on how the points of ``value`` have been read, if there is anything to say."""
        return "" if value is None else self._notes.get(value, "")


def _how_many(value: Value | None) -> str:
    return "as drawn" if value is None else f"{len(value[0])} by hand"
