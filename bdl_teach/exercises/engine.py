"""How an answer is run, compared with the reference and with known mistakes, and reported."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bdl_teach.checks import Array

RELATIVE, ABSOLUTE = 1e-5, 1e-8  # an answer may be computed in another order, not otherwise
SOLVED, OPEN, WRONG = "✓", "·", "✗"

# What one call came to: an array, the exception that it raised, or None for "not answered".
Outcome = Array | BaseException | None


@dataclass(frozen=True)
class Result:
    """What a check found; true if the answer is right, and quiet as the last line of a cell.

    Attributes:
        number: Number of the exercise.
        solved: Whether the answer is right.
        message: The sentence that was printed.
    """

    number: str
    solved: bool
    message: str

    def __bool__(self) -> bool:
        return self.solved

    def _ipython_display_(self) -> None:
        """Show nothing: the message has been printed."""


@dataclass(frozen=True)
class Mistake:
    """A known mistake, recognised by what it computes.

    Attributes:
        name: The mistake in a few words.
        hint: What to think about, as a sentence.
        wrong: The answer with this mistake: a function, or a value.
        recognises: For a mistake with many faces: says of (outcomes, expected) whether it is it.
    """

    name: str
    hint: str
    wrong: Any = None
    recognises: Callable[[Sequence[Outcome], Sequence[Outcome]], bool] | None = None


@dataclass(frozen=True)
class Exercise:
    """An exercise that asks for a function.

    Attributes:
        number: Such as ``"3.1"``.
        title: What the learner's progress calls it.
        section: Section of the notebook to read.
        reference: A right answer.
        cases: Arguments to try it on.
        mistakes: Known mistakes, the most specific first.
    """

    number: str
    title: str
    section: str
    reference: Any
    cases: tuple[tuple[Any, ...], ...] = ()
    mistakes: tuple[Mistake, ...] = ()

    def find(self, answer: Any) -> tuple[str, str]:
        """Return (mark, sentence) for an answer."""
        if _is_stub(answer):
            return OPEN, "nothing to check yet: replace the ... and run the cell again."
        if not callable(answer):
            return WRONG, f"expected a function, got {_short(answer)}."
        outcomes = [outcome(answer, case) for case in self.cases]
        if any(o is None or isinstance(o, NotImplementedError) for o in outcomes):
            return OPEN, "nothing to check yet: the function returns nothing or `...`."
        expected = [outcome(self.reference, case) for case in self.cases]
        if same(outcomes, expected):
            return SOLVED, "right."
        return WRONG, self._diagnose(outcomes, expected)

    def _diagnose(self, outcomes: Sequence[Outcome], expected: Sequence[Outcome]) -> str:
        for mistake in self.mistakes:
            if _recognised(mistake, outcomes, expected, self.cases):
                return f"{mistake.name}: {mistake.hint} Read section {self.section}."
        for case, got, want in zip(self.cases, outcomes, expected, strict=True):
            if not same([got], [want]):
                return f"{self._differs(case, got, want, outcomes, expected)}"
        raise AssertionError("unreachable: some outcome differs")

    def _differs(
        self, case: Any, got: Any, want: Any, outcomes: Sequence[Outcome], expected: Any
    ) -> str:
        """Describe a difference that no known mistake explains."""
        where = f"for {self._arguments(case)}"
        if isinstance(got, BaseException):
            said = f"{type(got).__name__}: {got}".rstrip(".")
            return f"{where} your function raised {said}."
        if got.shape != want.shape:
            return f"{where} expected {_shape(want)}, got {_shape(got)}."
        if not np.isfinite(got).all() and np.isfinite(want).all():
            return f"{where} your answer contains {_first_bad(got)}. Read section {self.section}."
        if same([_negated(o) for o in outcomes], expected):
            return f"the sign is wrong everywhere. Read section {self.section}."
        return f"{where} expected {_show(want)}, got {_show(got)}. Read section {self.section}."

    def _arguments(self, case: tuple[Any, ...]) -> str:
        names = inspect.signature(self.reference).parameters
        return ", ".join(f"{n}={_show(v)}" for n, v in zip(names, case, strict=True))


@dataclass(frozen=True)
class Choice(Exercise):
    """An exercise that asks which of some statements are true.

    Attributes:
        statements: For each letter, what to say if the answer has it wrong.
    """

    statements: Mapping[str, str] = field(default_factory=dict)

    def find(self, answer: Any) -> tuple[str, str]:
        """Return (mark, sentence) for an answer."""
        if _is_stub(answer):
            return OPEN, "nothing to check yet: put the letters of the true statements."
        letters = _letters(answer)
        if letters is None or not letters <= set(self.statements):
            known = ", ".join(self.statements)
            return WRONG, f"expected a set of letters out of {known}, got {_short(answer)}."
        for letter in sorted(letters ^ self.reference):
            verdict = "is not true" if letter in letters else "was left out"
            say = f"statement {letter} {verdict}: {self.statements[letter]}"
            return WRONG, f"{say} Read section {self.section}."
        return SOLVED, "right."


class Session:
    """The exercises solved since the notebook was started."""

    def __init__(self, registry: Mapping[str, Exercise]) -> None:
        self._registry = registry
        self._marks: dict[str, str] = {}

    def check(self, number: str, answer: Any, *, record: bool = True) -> Result:
        """Check an answer and print what was found; see :func:`bdl_teach.exercises.check`."""
        if number not in self._registry:
            raise ValueError(f"number: expected one of {', '.join(self._registry)}, got {number!r}")
        mark, sentence = self._registry[number].find(answer)
        result = Result(number, mark == SOLVED, f"{mark} {number} {sentence}")
        if record and self._marks.get(number) != SOLVED:
            self._marks[number] = mark
        print(result.message)
        return result

    def table(self, chapter: int | None = None) -> str:
        """One line an exercise, of one chapter or of all, and how many are solved."""
        chapters = sorted({int(number.split(".")[0]) for number in self._registry})
        if chapter is not None and chapter not in chapters:
            known = ", ".join(map(str, chapters))
            raise ValueError(f"chapter: expected one of {known}, got {chapter!r}")
        wanted = {
            n: e
            for n, e in self._registry.items()
            if chapter is None or n.split(".")[0] == str(chapter)
        }
        rows = [f"{self._marks.get(n, OPEN)} {n:5} {e.title}" for n, e in wanted.items()]
        solved = sum(self._marks.get(n) == SOLVED for n in wanted)
        return "\n".join([*rows, f"solved {solved} of {len(wanted)}"])


def outcome(function: Callable[..., Any], case: tuple[Any, ...]) -> Outcome:
    """Run a function on one case; nothing that it does gets out."""
    arguments = copy.deepcopy(case)
    try:
        with np.errstate(all="ignore"):
            value = function(*arguments)
            if _is_stub(value):
                return None
            result = np.asarray(value, dtype=np.float64)
    except Exception as error:  # whatever a learner's code raises
        return error
    if any(not np.array_equal(a, b) for a, b in zip(arguments, case, strict=True)):
        return ValueError("it changed its argument; work on a copy")
    return result


def same(got: Sequence[Outcome], want: Sequence[Outcome]) -> bool:
    """Whether two lists of outcomes agree: in shape, in value, in the error raised."""
    return all(_same(a, b) for a, b in zip(got, want, strict=True))


def _same(a: Outcome, b: Outcome) -> bool:
    if a is None or b is None or isinstance(a, BaseException) or isinstance(b, BaseException):
        return a is not None and type(a) is type(b)
    return a.shape == b.shape and bool(np.allclose(a, b, RELATIVE, ABSOLUTE, equal_nan=True))


def _recognised(
    mistake: Mistake,
    outcomes: Sequence[Outcome],
    expected: Sequence[Outcome],
    cases: tuple[tuple[Any, ...], ...],
) -> bool:
    if mistake.recognises is not None:
        return mistake.recognises(outcomes, expected)
    return same(outcomes, [outcome(mistake.wrong, case) for case in cases])


def _is_stub(value: Any) -> bool:
    return value is None or value is Ellipsis


def _letters(answer: Any) -> set[str] | None:
    try:
        parts = [str(part).strip().lower() for part in answer]
    except TypeError:
        return None
    return {part for part in parts if part not in ("", ",")}


def _negated(value: Outcome) -> Outcome:
    return -value if isinstance(value, np.ndarray) else value


def _shape(value: Array) -> str:
    return f"shape {value.shape}" if value.shape else "one number"


def _first_bad(value: Array) -> str:
    bad = value[~np.isfinite(value)].ravel()[0]
    return "NaN" if np.isnan(bad) else "an infinite value"


def _show(value: Any) -> str:
    text = np.array2string(
        np.asarray(value), threshold=8, edgeitems=2, formatter={"float_kind": _six_figures}
    )
    return " ".join(text.split())  # a matrix on one line


def _six_figures(value: Any) -> str:
    return f"{value:.6g}"  # numpy would write 8 as "8.", and a sentence would end twice


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
