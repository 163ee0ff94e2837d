"""Diagnostic checks: ``check("3.1", answer)`` says "right", or which mistake it recognises.

An answer is run on a few inputs and compared with a reference; if it differs, it is compared
with what well-known mistakes would compute. A check never raises: a stub, a wrong type or an
error inside the answer gets a sentence.

What was solved is remembered in a small file in the user's data folder, so that it outlives the
kernel. An exercise that asks for a function is the decorated reference in its chapter's module;
titles, and the exercises that ask which statements are true, stand in ``texts.toml``.
"""

from importlib import import_module
from pkgutil import iter_modules

from bdl_teach.exercises._engine import FOUND, Choice, Exercise, Mistake, Result, Session, choices
from bdl_teach.progress import missions, own

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


def _collect() -> dict[str, Exercise]:
    """Return all exercises, in the order of their numbers."""
    for module in iter_modules(__path__):
        if module.name.startswith("chapter"):
            import_module(f"{__name__}.{module.name}")
    order = sorted([*FOUND, *choices()], key=lambda e: [int(part) for part in e.number.split(".")])
    return {exercise.number: exercise for exercise in order}


REGISTRY: dict[str, Exercise] = _collect()
SESSION = Session(REGISTRY, own(), missions)


def check(number: str, answer: object, *, record: bool = True) -> Result:
    """Check an answer, print what was found, and remember whether it was right.

    Args:
        number: Number of the exercise as text, such as ``"3.1"``.
        answer: The function or the value that the exercise asks for.
        record: Whether it counts for :func:`progress`; worked solutions do not.

    Returns:
        A :class:`Result`, true if the answer is right.

    Raises:
        ValueError: There is no exercise of that number, or it is not text.
    """
    return SESSION.check(number, answer, record=record)


def progress(chapter: int | None = None) -> None:
    """Print which exercises have been solved, in this session or an earlier one.

    Args:
        chapter: Number of a chapter; all chapters, and the explorers' missions, if not given.

    Raises:
        ValueError: There is no such chapter.
    """
    print(SESSION.table(chapter))


def reset(chapter: int | None = None) -> None:
    """Forget which exercises have been solved.

    Args:
        chapter: Number of a chapter; all chapters, and the explorers' missions, if not given.

    Raises:
        ValueError: There is no such chapter.
    """
    print(SESSION.reset(chapter))
