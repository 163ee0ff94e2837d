"""Missions: what a learner is to bring about in an explorer, and how it is told that it is so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from bdl_teach.widgets._engine.controls import Values, Widget

SEEDS = 3  # a mission is done when it holds for so many seeds: the learner's own, and the next


class NotThere(Exception):
    """A result needs what only a run beside the picture would give."""


@dataclass(frozen=True)
class Mission:
    """Something to bring about by moving controls, or points.

    Attributes:
        id: Its name in the learner's progress, such as ``"sinusoid-wider-at-1"``.
        text: What is to be brought about, in a sentence.
        hints: Two: where to look, then which control to take where.
        check: Whether a state and its result are what was asked for. Of other seeds it is asked
            with the result that ``_compute`` gives for that state with another ``seed``.
        way: What the second hint says, as values of controls.
    """

    id: str
    text: str
    hints: tuple[str, str]
    check: Callable[[Values, Any], bool]
    way: Values


def next_seeds(values: Values, seed: Widget) -> list[Values]:
    """The same values with the next seeds; after the last one comes the first.

    Args:
        values: Of all controls.
        seed: The slider of that name.
    """
    places = seed.max - seed.min + 1
    following = ((values["seed"] - seed.min + k) % places + seed.min for k in range(1, SEEDS))
    return [{**values, "seed": number} for number in following]
