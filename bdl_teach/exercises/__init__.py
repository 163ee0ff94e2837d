"""Check answers to exercises: ``check("3.1", answer)`` prints "right", or names the mistake.

Most answers are functions that the learner has written. Their results for a few inputs are compared
with those of a right function and, if they differ, of functions that contain known mistakes. If an
answer is still ``...``, has a wrong type or raises an error, the check says so.
"""

from importlib import import_module
from pkgutil import iter_modules

from bdl_teach.exercises._engine import DEFINED, Choice, Exercise, Mistake, Result, Session, choices
from bdl_teach.progress import own
from bdl_teach.widgets import missions

__all__ = [
    "REGISTRY",
    "SESSION",
    "Choice",
    "Exercise",
    "Mistake",
    "Result",
    "check",
    "progress",
    "reset",
]

for _module in iter_modules(__path__):
    if _module.name.startswith("chapter"):
        import_module(f"{__name__}.{_module.name}")

_SORTED = sorted([*DEFINED, *choices()], key=lambda e: [*map(int, e.number.split("."))])
REGISTRY: dict[str, Exercise] = {exercise.number: exercise for exercise in _SORTED}
SESSION = Session(REGISTRY, own(), missions)


def check(number: str, answer: object, *, record: bool = True) -> Result:
    """Check an answer, print the result, and record whether it was right.

    Args:
        number: Number of the exercise, such as ``"3.1"``.
        answer: The function or the value that the exercise asks for.
        record: Whether the result counts for :func:`progress`.

    Returns:
        A :class:`Result`, true if the answer is right.

    Raises:
        ValueError: There is no exercise of that number, or the number is not text.
    """
    return SESSION.check(number, answer, record=record)


def progress(chapter: int | None = None) -> None:
    """Print which exercises have been solved, in this session or an earlier one.

    Args:
        chapter: Number of a chapter; by default all chapters and the explorers' missions.

    Raises:
        ValueError: There is no such chapter.
    """
    print(SESSION.table(chapter))


def reset(chapter: int | None = None) -> None:
    """Delete the recorded results of one chapter, or of all, and print how many were solved.

    Args:
        chapter: Number of a chapter; by default all chapters and the explorers' missions.

    Raises:
        ValueError: There is no such chapter.
    """
    print(SESSION.reset(chapter))
