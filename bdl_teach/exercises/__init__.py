"""Diagnostic checks: ``check("3.1", answer)`` says "right", or which mistake it recognises.

An answer is run on a few inputs and compared with a reference; if it differs, it is compared
with what well-known mistakes would have computed. A check never raises: a stub, a wrong type or
an error inside the answer is met with a sentence.
"""

from __future__ import annotations

from typing import Any

from bdl_teach.exercises import chapter3_extend, chapter3_objective, chapter3_scales
from bdl_teach.exercises.engine import Exercise, Mistake, Result, Session

_MODULES = (chapter3_objective, chapter3_scales, chapter3_extend)

REGISTRY: dict[str, Exercise] = {e.number: e for m in _MODULES for e in m.EXERCISES}
SESSION = Session(REGISTRY)

__all__ = ["REGISTRY", "SESSION", "Exercise", "Mistake", "Result", "Session", "check", "progress"]


def check(number: str, answer: Any, *, record: bool = True) -> Result:
    """Check an answer, print what was found, and remember whether it was right.

    Args:
        number: Number of the exercise, such as ``"3.1"``.
        answer: The function or the value that the exercise asks for.
        record: Whether it counts for :func:`progress`; worked solutions do not.

    Returns:
        A :class:`Result`, true if the answer is right.

    Raises:
        ValueError: There is no exercise of that number.
    """
    return SESSION.check(str(number), answer, record=record)


def progress() -> None:
    """Print which exercises have been solved since the notebook was started."""
    print(SESSION.table())
