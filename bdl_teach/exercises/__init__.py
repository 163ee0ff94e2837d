"""Diagnostic checks: ``check("3.1", answer)`` says "right", or which mistake it recognises.

An answer is run on a few inputs and compared with a reference; if it differs, it is compared
with what well-known mistakes would have computed. A check never raises: a stub, a wrong type or
an error inside the answer is met with a sentence. What was solved is kept in a small file in the
user's data folder (``_record.py``), so that it outlives the kernel.

Exercise 6.6 stands in ``chapter6.py`` under the line ``# Exercise 6.6.`` To add one, say 6.10:

1. ``chapter6.py``: at the end, under ``# Exercise 6.10.``, its helpers, and at the top level of the
   module an :class:`Exercise` (for statements a :class:`Choice`); there it is found, no list names
   it. What its parts and those of a :class:`Mistake` must be, the two classes say. Draw its cases
   from a generator of its own, so that those of other exercises stay as they are. ``_faces.py`` has
   the numbers that wrong answers like to use.
2. ``tests/exercises/answers/chapter6.py``: in ``RIGHT`` an answer written in another way than the
   reference, in ``ALSO`` more of them, in ``WRONG`` at least four wrong ones, each with what must
   be said. What holds of every exercise, ``test_exercises.py`` beside it tries unasked.
3. ``notebooks/06_….ipynb`` and its paired text: the heading with number and title, a cell with the
   stub and the check (tag ``exercise``), a hidden one with a worked solution (tag ``solution``).
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from bdl_teach.exercises._engine import Choice, Exercise, Mistake, Result, Session
from bdl_teach.exercises._record import own

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
    """All exercises of the modules ``chapterN``, in the order of their numbers."""
    names = [m.name for m in iter_modules(__path__) if m.name.startswith("chapter")]
    modules = [import_module(f"{__name__}.{name}") for name in names]
    found = [e for module in modules for e in vars(module).values() if isinstance(e, Exercise)]
    found.sort(key=lambda exercise: [int(part) for part in exercise.number.split(".")])
    return {exercise.number: exercise for exercise in found}


def _missions() -> list[str]:
    """The ids of all missions, explorer by explorer."""
    from bdl_teach import widgets

    explorers = [getattr(widgets, name) for name in widgets.__all__]
    return [mission.id for explorer in explorers for mission in explorer.MISSIONS]


REGISTRY: dict[str, Exercise] = _collect()
SESSION = Session(REGISTRY, own(), _missions)


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
