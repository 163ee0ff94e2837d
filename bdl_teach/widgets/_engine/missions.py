"""Missions: what a learner is to bring about in an explorer, and how it is told that it is so."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bdl_teach.widgets._engine.controls import Values, Widget

SEEDS = 3  # a mission is done when it holds for so many seeds: the learner's own, and the next


class NotThere(Exception):
    """A result needs what only a run beside the picture would give."""


class Condition(NamedTuple):
    """One of the things that a mission asks for.

    Attributes:
        holds: Whether it is so.
        now: How it stands, for a learner whom it keeps from the end: ``"F is 215"``; a control's
            name in braces stands for its label.
    """

    holds: bool
    now: str


@dataclass(frozen=True)
class Mission:
    """Something to bring about by moving controls, or points.

    Attributes:
        id: Its name in the learner's progress, such as ``"sinusoid-wider-at-1"``.
        text: What is to be brought about, in a sentence.
        hints: Two: where to look, then which control to take where.
        check: What is asked of a state and its result, each with how it stands. Of other seeds it
            is asked with the result that ``_compute`` gives for that state with another ``seed``.
        way: What the second hint says, as values of controls.
    """

    id: str
    text: str
    hints: tuple[str, str]
    check: Callable[[Values, Any], Sequence[Condition]]
    way: Values

    def missing(self, values: Values, result: object) -> list[str]:
        """Say how those conditions stand that do not hold; all do where there is none."""
        return [now for holds, now in self.check(values, result) if not holds]


def next_seeds(values: Values, seed: Widget) -> list[Values]:
    """The same values with the next seeds; after the last one comes the first.

    Args:
        values: Of all controls.
        seed: The slider of that name.
    """
    places = seed.max - seed.min + 1
    following = ((values["seed"] - seed.min + k) % places + seed.min for k in range(1, SEEDS))
    return [{**values, "seed": number} for number in following]
