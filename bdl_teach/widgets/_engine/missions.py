"""Missions: tasks in an explorer, and the conditions that say whether a task is done."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from bdl_teach.widgets._engine.controls import Values, Widget
from bdl_teach.widgets._engine.status import Readings, Said

SEEDS = 3  # a mission is done when it holds for so many seeds: the learner's own, and the next
_NOTHING = 1e-6  # what is smaller in a figure comes from rounding


class Moved(Exception):
    """Raised in a computation when the controls have moved on from its values."""


def is_same(one: Any, other: Any) -> bool:
    """Say whether two values are the same, up to the page's rounding."""
    both = isinstance(one, int | float) and isinstance(other, int | float)
    return math.isclose(one, other, rel_tol=1e-6) if both else bool(one == other)


COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": is_same,
    "!=": lambda one, other: not is_same(one, other),
}


class Need(NamedTuple):
    """One condition of a mission.

    Attributes:
        name: Name of a reading, or of a control if there is no such reading.
        comparison: One of ``COMPARISONS``.
        value: What it is compared with.
        words: The message while the condition does not hold: ``{}`` is the figure,
            ``{name:.3g}`` that of another reading.
    """

    name: str
    comparison: str
    value: Any
    words: str

    def lacks(self, values: Values, readings: Readings) -> str | None:
        """Say what is missing; ``None`` if the condition holds, "" if its reading is absent."""
        if self.name not in readings and self.name not in values:
            return ""
        found = readings.get(self.name, values.get(self.name))
        if COMPARISONS[self.comparison](found, self.value):
            return None
        return str(Said(self.words.replace("{}", figure(found)), readings))


@dataclass(frozen=True)
class Mission:
    """A task to do by moving controls or points.

    Attributes:
        id: Its name in the learner's progress, such as ``"sinusoid-wider-at-1"``.
        text: The task, in a sentence or two.
        hints: Two: where to look, then which control to move where.
        way: The solution in the second hint, as values of controls.
        needs: The conditions on a state and its readings. For other seeds they are judged by the
            result that ``_compute`` gives for that state with another ``seed``.
        leave: Controls that must keep their starting values, and these values; ``None`` stands
            for the points of the start.
    """

    id: str
    text: str
    hints: tuple[str, str]
    way: Values
    needs: tuple[Need, ...]
    leave: Mapping[str, Any] = field(default_factory=dict)

    def missing(self, values: Values, readings: Readings) -> list[str]:
        """Return what is missing from the mission, one text for each condition that fails.

        Args:
            values: Of all controls.
            readings: The readings at these values.
        """
        said = [need.lacks(values, readings) for need in self.needs]
        return list(dict.fromkeys([*self._moved(values), *(s for s in said if s is not None)]))

    def _moved(self, values: Values) -> list[str]:
        """Say which controls must be moved back, and to which value; ``{name}`` is a label."""
        moved = {n: v for n, v in self.leave.items() if not is_same(values.get(n), v)}
        if moved.pop("data", "") is None:
            return ["points were dragged, added or removed"]
        ways = [f"{{{name}}} back to {figure(value)}" for name, value in moved.items()]
        return [f"take {' and '.join(ways)}"] if ways else []


def figure(value: Any) -> str:
    """Write a value for a sentence: three digits of a number, and 0 for rounding errors."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return value
    shown = 0.0 if abs(value) < _NOTHING else value
    return f"{shown:{'.3g' if abs(shown) < 1000 else '.0f'}}".replace("-", "−")


def next_seeds(values: Values, seed: Widget) -> list[Values]:
    """Return the same values with the next seeds; the first follows the last.

    Args:
        values: Of all controls.
        seed: The slider of the seed.
    """
    places = seed.max - seed.min + 1
    following = ((values["seed"] - seed.min + k) % places + seed.min for k in range(1, SEEDS))
    return [{**values, "seed": number} for number in following]
