"""The control that holds the learner's own points: one without a widget."""

from __future__ import annotations

from typing import Any

import traitlets

from bdl_teach.problems import own_points
from bdl_teach.problems.own_points import Value


class Unseen(traitlets.HasTraits):
    """A control without a widget: the pointer in the picture or a line of Python sets it."""

    value = traitlets.Any(None, allow_none=True)

    def read(self, given: Any) -> Any:
        """Return a value as the control holds it, or raise ``ValueError``."""
        raise NotImplementedError

    def words(self, value: Any) -> str:
        """Write such a value in words."""
        raise NotImplementedError


class Points(Unseen):
    """The control that holds the points; pointer, keys and a pasted table set it.

    Args:
        most: How many there may be; of more, as many are drawn at random.
    """

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
        """Say how the points of ``value`` were read, if there is anything to say."""
        return "" if value is None else self._notes.get(value, "")
