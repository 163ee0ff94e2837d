"""How an answer is run, compared with the reference and with known mistakes, and reported."""

from __future__ import annotations

import copy
import inspect
import linecache
import os
import re
import sysconfig
import tomllib
import traceback
import warnings
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, cached_property
from numbers import Real
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from IPython.utils.capture import capture_output
from numpy.typing import ArrayLike

from bdl_teach._support.checks import Array
from bdl_teach.exercises import slips
from bdl_teach.exercises.slips import Slip
from bdl_teach.progress import OPEN, SOLVED, WRONG, Progress

# The course computes in float32, and an answer may take another order: a share of each value may
# be off, and where zero is expected, a share of the largest value beside it.
RELATIVE, OF_LARGEST = 3e-5, 1e-6
# Letters that a Russian or a Chinese keyboard writes where a Latin one is meant.
_LATIN = str.maketrans(
    "\u0430\u0432\u0441\u0435" + "".join(map(chr, range(0xFF41, 0xFF5B))),
    "abce" + "abcdefghijklmnopqrstuvwxyz",
)
# A line of a function that TensorFlow made a graph of, as its errors have it.
_IN_GRAPH = re.compile(r'File "[^"]*", line (\d+), in \S+  \*\n(.*)')
_WRITTEN = 8  # of a longer array a message shows the ends
_LONG = 150  # letters of an argument; of a longer one it says the shape
_LIBRARIES = tuple(
    f"{folder}{os.sep}"
    for folder in (
        Path(__file__).resolve().parents[1],
        *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
    )
)


@dataclass(frozen=True)
class Unreadable:
    """What a function returned when it is nothing that can be compared; ``text`` says what."""

    text: str


class Changed(Exception):
    """Stands for the result of a call that changed its arguments."""


F = TypeVar("F", bound=Callable[..., Any])
Function = Callable[..., Any]  # what an exercise asks for: numbers in, numbers out
Case = tuple[Any, ...]  # the arguments of one call

# What one call came to: an array, the exception that it raised, what was no number, or None
# where nothing (or `...`) was returned.
Outcome = Array | BaseException | Unreadable | None


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
    """A known mistake, recognised by what it computes in every case.

    Attributes:
        name: The mistake in a few words.
        hint: What to think about, as a sentence with its full stop; not the answer itself.
        faces: Functions of the reference's arguments that make this mistake.
    """

    name: str
    hint: str
    faces: tuple[Function, ...]


def mistakes(*rows: str | Function | tuple[Function, ...]) -> tuple[Mistake, ...]:
    """Read a table of mistakes: in turn a sentence, and the formula to which it belongs.

    Args:
        *rows: A sentence ``"name: hint."``, then the answer with this mistake, as a function of
            the reference's arguments, or several that make the same mistake.

    Raises:
        ValueError: Sentences and formulas do not alternate.
    """
    found = []
    for sentence, formula in zip(rows[::2], rows[1::2], strict=True):
        if not isinstance(sentence, str) or isinstance(formula, str) or ": " not in sentence:
            raise ValueError(f'mistakes: expected "name: hint." and a formula, got {sentence!r}')
        name, hint = sentence.split(": ", 1)
        found.append(Mistake(name, hint, formula if isinstance(formula, tuple) else (formula,)))
    return tuple(found)


class Late(Sequence[Case]):
    """Cases that are made on first use: to load the exercises must not load what these need."""

    def __init__(self, make: Callable[[], tuple[Case, ...]]) -> None:
        self._made = cache(make)

    def __getitem__(self, i: Any) -> Any:
        return self._made()[i]

    def __len__(self) -> int:
        return len(self._made())


@dataclass(frozen=True)
class Exercise:
    """An exercise that asks for a function; :class:`Choice` for one that asks for statements.

    Attributes:
        number: Chapter and place in it, such as ``"3.1"``; the first part names the module.
        title: What to do, and about what, as the notebook's heading has it: ``"Compute: the KL"``.
        section: Sections of the notebook to read: ``"3.5"``, or ``"7.6 and 7.7"``.
        reference: A right answer. It returns a number, an array, or a tuple of these, takes NumPy's
            float64, and leaves its arguments as they are.
        cases: Arguments to try it on; together they tell every known mistake from the others.
            Ordinary numbers first (a message quotes the first case that differs), then what breaks
            wrong answers: zeros, one data point, very large and very small values.
        mistakes: Known mistakes, in any order; each differs from the others in some case.
        rtol: Share of a value by which an answer may be off.
        atol: Where zero is expected: share of the largest value of that answer.
        compared: Of (answer, *case), the numbers to compare; the answer itself if not given.
        judge: Of (answer, *case), the name of its fault, ``""`` if it has none; for an exercise
            that has many right answers. No message quotes one then.
        faults: A sentence ``"name: hint."`` for each fault. One is named if it is the only one in
            all cases.
        fatal: Names of faults that are named if they are found in any case, the worst first.
        overall: Of the answers to all cases, the name of a fault that only shows when they are
            seen together, ``""`` if they have none.
    """

    number: str
    title: str
    section: str
    reference: Function
    cases: Sequence[Case] = ()
    mistakes: tuple[Mistake, ...] = ()
    rtol: float = RELATIVE
    atol: float = OF_LARGEST
    compared: Callable[..., ArrayLike] | None = None
    judge: Callable[..., str] | None = None
    faults: tuple[str, ...] = ()
    fatal: tuple[str, ...] = ()
    overall: Callable[[list[Array]], str] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the answer itself is compared, digit by digit: common slips are looked for."""
        return self.compared is None and self.judge is None and self.rtol < 0.01

    @property
    def read(self) -> str:
        """Return where to read, as a sentence."""
        return f"Read section{'s' if ' and ' in self.section else ''} {self.section}."

    def find(self, answer: object, tries: int = 0) -> tuple[str, str]:
        """Return (mark, sentence) for an answer.

        Args:
            answer: What the learner gave.
            tries: How many wrong answers came before it.
        """
        if _is_stub(answer):
            return OPEN, "nothing to check yet: replace the ... and run the cell again."
        if not callable(answer):
            return WRONG, f"expected a function, got {_short(answer)}."
        outcomes = self._run(answer)
        if all(o is None or isinstance(o, NotImplementedError) for o in outcomes):
            return OPEN, "nothing to check yet: the function returns nothing or `...`."
        if self.same(outcomes, self._expected):
            return SOLVED, "right."
        return WRONG, self._diagnose(outcomes)

    def _run(self, answer: Function) -> list[Outcome]:
        """Run an answer on all cases; what it prints is shown for the first one only."""
        if not self.cases:
            return []
        first = outcome(answer, self.cases[0])
        with capture_output():
            return [first, *(outcome(answer, case) for case in self.cases[1:])]

    def same(
        self, got: Sequence[Outcome], want: Sequence[Outcome], *, equal_nan: bool = False
    ) -> bool:
        """Say whether outcomes agree in every case: in shape, in value, in the error raised."""
        cases = zip(self.cases, got, want, strict=True)
        return all(self._same(case, a, b, equal_nan) for case, a, b in cases)

    def _same(self, case: Case, a: Outcome, b: Outcome, equal_nan: bool = False) -> bool:
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
            return a is not None and type(a) is type(b) and not isinstance(a, Unreadable)
        a = _unboxed(a, b)
        if a.shape != b.shape:
            return False
        if self.judge is not None:
            return not _breaks(a, b) and self.judge(a, *case) == self.judge(b, *case)
        if self.compared is not None:
            if _breaks(a, b):  # NaN is above no limit, and below none
                return False
            a, b = (np.asarray(self.compared(o, *case), np.float64) for o in (a, b))
        return close(a, b, self.rtol, self.atol, equal_nan=equal_nan)

    def _diagnose(self, outcomes: Sequence[Outcome]) -> str:
        """Name the one mistake that explains every case, or say where the answer differs."""
        found = {
            f"{mistake.name}: {mistake.hint}"
            for mistake, given in self._mistaken
            if self.same(outcomes, given, equal_nan=True)
        }
        fault = "" if found else self._fault(outcomes)
        found |= {sentence for sentence in self.faults if sentence.split(": ")[0] == fault}
        if len(found) == 1:
            return f"{found.pop()} {self.read}"
        differs = next(
            self._differs(case, got, want)
            for case, got, want in zip(self.cases, outcomes, self._expected, strict=True)
            if not self._same(case, got, want)
        )
        if found:
            return differs
        if not self.is_exact:
            negated = [np.asarray(-o) if isinstance(o, np.ndarray) else o for o in outcomes]
            is_negated = self.same(negated, self._expected)
            return (
                f"wrong sign: the sign is wrong everywhere. F{differs[1:]}"
                if is_negated
                else differs
            )
        kinds = self._slips_of_answers, self._constants(outcomes), self._slips_of_arguments
        for known in kinds:
            fitting = [slip for slip in known if self.same(outcomes, slip.values)]
            if len({slip.name for slip in fitting}) == 1:
                return f"{fitting[0].name}: {fitting[0].hint} F{differs[1:]}"
        return differs

    def _fault(self, outcomes: Sequence[Outcome]) -> str:
        """Return the name of the fault that all wrong answers share, or of a fatal one."""
        answers = self._shaped(outcomes)
        if not answers or any(map(_breaks, answers, self._expected)):
            return ""
        if self.overall is not None and (name := self.overall(answers)):
            return name
        if self.judge is None:
            return ""
        pairs = zip(self.cases, answers, strict=True)
        found = {self.judge(answer, *case) for case, answer in pairs} - {""}
        named = [name for name in self.fatal if name in found] or [*found]
        return named[0] if named and (len(found) == 1 or named[0] in self.fatal) else ""

    def _shaped(self, outcomes: Sequence[Outcome]) -> list[Array]:
        """Return the answers to all cases; none unless each has the shape that is expected."""
        fitted = [
            _unboxed(got, want)
            for got, want in zip(outcomes, self._expected, strict=True)
            if isinstance(got, np.ndarray) and _shape(_unboxed(got, want)) == _shape(want)
        ]
        return fitted if len(fitted) == len(outcomes) else []

    @cached_property
    def _expected(self) -> list[Outcome]:
        """Compute the right answers, when they are first needed: some references train."""
        return [outcome(self.reference, case) for case in self.cases]

    @cached_property
    def _mistaken(self) -> list[tuple[Mistake, list[Outcome]]]:
        """Compute what each form of each mistake gives, when it is first needed."""
        return [
            (mistake, [outcome(face, case) for case in self.cases])
            for mistake in self.mistakes
            for face in mistake.faces
        ]

    @cached_property
    def _slips_of_answers(self) -> list[Slip]:
        first = self.reference(*copy.deepcopy(self.cases[0]))
        with np.errstate(all="ignore"):
            found = [*slips.of_answers(self._expected, self.cases, first)]
        return [slip for slip in found if self._can_be_told(slip.values)]

    def _constants(self, outcomes: Sequence[Outcome]) -> list[Slip]:
        with np.errstate(all="ignore"):
            return [*slips.of_constants(self._shaped(outcomes), self._expected)]

    @cached_property
    def _slips_of_arguments(self) -> list[Slip]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [
                Slip(name, hint, [outcome(self.reference, case) for case in cases])
                for name, hint, cases in slips.of_arguments(self.reference, self.cases)
            ]
        return [slip for slip in found if self._can_be_told(slip.values)]

    def _can_be_told(self, values: Sequence[Outcome]) -> bool:
        """Say whether a slip gives numbers: not one for all cases, and not the right ones."""
        arrays = [value for value in values if isinstance(value, np.ndarray)]
        if len(arrays) < len(values) or any(map(_breaks, arrays, self._expected)):
            return False
        several = len(np.unique(np.concatenate([array.ravel() for array in arrays]))) > 1
        return several and not self.same(values, self._expected)

    def _differs(self, case: Case, got: Outcome, want: Outcome) -> str:
        """Describe a difference that no known mistake explains."""
        where = f"for {self._arguments(case)}"
        if isinstance(got, Changed):
            return f"{where} your function changed its argument; work on a copy."
        if isinstance(got, BaseException):
            return f"{where} your function raised {_error(got)}."
        if got is None:
            return f"{where} your function returned nothing: does every way through it return?"
        if isinstance(got, Unreadable):
            wanted = self._wanted(case, want)
            return f"{where} expected {wanted}, and your function returned {got.text}."
        got = _unboxed(got, want)
        if not isinstance(want, np.ndarray) or got.shape != want.shape:
            return f"{where} expected {self._wanted(case, want)}, got {_kind(got)}."
        if _breaks(got, want):
            return f"{where} your answer contains {_first_bad(got)}. {self.read}"
        if self.judge is not None:
            return f"{where} your answer, {_show(got)}, does not do what is asked. {self.read}"
        if want.size > _WRITTEN and _show(want) == _show(got):  # they differ in what is left out
            at = _farthest(got, want)
            where += f", at index {', '.join(map(str, at))},"
            got, want = got[at], want[at]
        differs = f"expected {_show(want, got)}, got {_show(got, want)}"
        return f"{where} {differs}. {self.read}"

    def _wanted(self, case: tuple[Any, ...], want: Any) -> str:
        """Say what kind of thing is expected; a pair was stacked to be compared."""
        with np.errstate(all="ignore"):
            pair = isinstance(want, np.ndarray) and isinstance(self.reference(*case), tuple)
        if pair:
            return f"a pair, each {_kind(want[0])}" if want.ndim > 1 else "a pair of numbers"
        return _kind(want)

    def _arguments(self, case: Case) -> str:
        names = inspect.signature(self.reference).parameters
        return ", ".join(_argument(n, v) for n, v in zip(names, case, strict=True))


@dataclass(frozen=True)
class Choice(Exercise):
    """An exercise that asks which of some statements are true.

    A first wrong answer hears how many statements it has wrong, a later one which.

    Attributes:
        reference: The letters of the true statements.
        statements: For each letter, in the order of the alphabet, why it is true or not, as a
            sentence; said if the answer has it wrong.
    """

    reference: AbstractSet[str]  # type: ignore[assignment]  # letters, where others have a function
    statements: Mapping[str, str] = field(default_factory=dict)

    def find(self, answer: object, tries: int = 0) -> tuple[str, str]:
        """Return (mark, sentence) for an answer; see :meth:`Exercise.find`."""
        if _is_stub(answer):
            return OPEN, "nothing to check yet: put the letters of the true statements."
        letters = _letters(answer)
        if letters is None or not letters <= set(self.statements):
            known = ", ".join(self.statements)
            return WRONG, f"expected a set of letters out of {known}, got {_short(answer)}."
        wrong = sorted(letters ^ self.reference)
        if not wrong:
            return SOLVED, "right."
        if tries == 0:
            return WRONG, self._how_many(len(wrong))
        said = [self._which(letter, letter in letters) for letter in wrong]
        return WRONG, f"{' '.join(said)} {self.read}"

    def _how_many(self, count: int) -> str:
        many = "1 statement is" if count == 1 else f"{count} statements are"
        return (
            f"{many} judged wrongly, of {len(self.statements)}. Think again; after the next wrong "
            f"answer you are told which. {self.read}"
        )

    def _which(self, letter: str, chosen: bool) -> str:
        verdict = "is not true" if chosen else "was left out"
        return f"statement {letter} {verdict}: {self.statements[letter]}"


FOUND: list[Exercise] = []  # what the chapters' modules have defined


def exercise(
    heading: str,
    section: str,
    cases: Sequence[Case],
    mistakes: tuple[Mistake, ...] = (),
    **options: Any,
) -> Callable[[F], F]:
    """Make the decorated function the reference of an exercise; it stays the function it is.

    Args:
        heading: Number and title, as the notebook's heading has them.
        section: See :class:`Exercise`, for all that follows.
        cases: Arguments to try an answer on.
        mistakes: Known mistakes, see :func:`mistakes`.
        **options: The other attributes of :class:`Exercise`.
    """
    number, title = heading.split(" ", 1)

    def register(reference: F) -> F:
        FOUND.append(Exercise(number, title, section, reference, cases, mistakes, **options))
        return reference

    return register


def read_choices(text: str) -> list[Choice]:
    """Read the exercises that ask for statements from TOML."""
    return [
        Choice(number, e["title"], e["section"], frozenset(e["true"]), statements=e["statements"])
        for number, e in tomllib.loads(text).items()
    ]


class Session:
    """The exercises that a learner has tried.

    Args:
        registry: The exercises by their numbers.
        progress: What was solved, here and in earlier sessions; only here if not given.
        missions: Gives the ids of the explorers' missions, when they are counted.
    """

    def __init__(
        self,
        registry: Mapping[str, Exercise],
        progress: Progress | None = None,
        missions: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._registry, self._missions = registry, missions
        self._progress = Progress() if progress is None else progress

    def check(self, number: str, answer: object, *, record: bool = True) -> Result:
        """Check an answer and print what was found; see :func:`bdl_teach.exercises.check`."""
        exercise = self._registry[self._known(number)]
        tries = self._progress.tries(number) if record else 0
        mark, sentence = exercise.find(answer, tries)
        uncounted = "" if record else "(not counted) "
        result = Result(number, mark == SOLVED, f"{mark} {number} {uncounted}{sentence}")
        if record and mark != OPEN:
            self._progress.add(number, mark)
        print(result.message)
        return result

    def _known(self, number: object) -> str:
        """Refuse what is no exercise's number; 3.10 as a number would be 3.1."""
        if not isinstance(number, str):
            raise ValueError(
                f'number: expected text such as "3.10", got {number!r}; as a number, 3.10 is 3.1'
            )
        if number not in self._registry:
            raise ValueError(f"number: expected one of {', '.join(self._registry)}, got {number!r}")
        return number

    def table(self, chapter: int | None = None) -> str:
        """Return one line an exercise, of one chapter or of all, and how many are solved.

        The table of all chapters counts the missions, too: an explorer is in several chapters.
        """
        wanted, marks = self._of(chapter), self._progress.marks()
        rows = [f"{marks.get(n, OPEN)} {n:5} {self._registry[n].title}" for n in wanted]
        solved = sum(marks.get(n) == SOLVED for n in wanted)
        missions = self._missions() if chapter is None else ()
        done = sum(marks.get(id_) == SOLVED for id_ in missions)
        counted = [f"missions: {done} of {len(missions)}"] if missions else []
        return "\n".join([*rows, f"solved {solved} of {len(wanted)}", *counted])

    def reset(self, chapter: int | None = None) -> str:
        """Forget what was tried in one chapter, or in all and every mission; say so."""
        wanted, marks = self._of(chapter), self._progress.marks()
        solved = sum(marks.get(n) == SOLVED for n in wanted)
        missions = self._missions() if chapter is None else ()
        done = sum(marks.get(id_) == SOLVED for id_ in missions)
        self._progress.forget([*wanted, *missions])
        counted = f", and {done} of {len(missions)} missions" if missions else ""
        return f"Forgotten: {solved} solved of {len(wanted)}{counted}."

    def _of(self, chapter: int | None) -> list[str]:
        """Return the numbers of a chapter's exercises, or of all."""
        chapters = sorted({int(number.split(".")[0]) for number in self._registry})
        if chapter is not None and chapter not in chapters:
            known = ", ".join(map(str, chapters))
            raise ValueError(f"chapter: expected one of {known}, got {chapter!r}")
        return [n for n in self._registry if chapter is None or n.split(".")[0] == str(chapter)]


def outcome(function: Function, case: Case) -> Outcome:
    """Run a function on a copy of one case, and catch what it raises."""
    arguments = copy.deepcopy(case)
    try:
        with np.errstate(all="ignore"):
            value = function(*arguments)
    except (Exception, SystemExit) as error:  # whatever a learner's code raises
        return error
    if not _unchanged(arguments, case):
        return Changed()
    return read(value)


def _unchanged(now: object, before: object) -> bool:
    """Say whether arguments are what they were: numbers, arrays, and tuples of these.

    A false alarm here would be raised for the reference and for each answer alike, and whatever is
    raised alike counts as right. So a tuple is never made an array, and NaN is what it was.
    """
    if isinstance(before, tuple | list):
        if not isinstance(now, tuple | list) or len(now) != len(before):
            return False
        return all(_unchanged(a, b) for a, b in zip(now, before, strict=True))
    kept = np.asarray(before)
    return np.array_equal(np.asarray(now), kept, equal_nan=kept.dtype.kind in "fc")


def read(value: object) -> Outcome:
    """Turn what a function returned into an array of floats, if numbers are in it.

    NumPy, TensorFlow and Python numbers do, fractions too, alone or in tuples and lists.
    """
    if _is_stub(value):
        return None
    try:
        array = _stack(value) if isinstance(value, tuple | list) else _array(value)
        if array.dtype.kind in "biuf":
            return np.asarray(array, dtype=np.float64)
    except Exception:  # ragged, or an object that is no array
        pass
    return Unreadable(_short(value))


def _array(value: object) -> Array:
    """Make an array, of floats if it holds fractions, decimals or very large integers."""
    array = np.asarray(value)
    exact = array.dtype.kind == "O" and all(isinstance(v, Real | Decimal) for v in array.flat)
    return array.astype(np.float64) if exact else array


def _stack(parts: Sequence[object]) -> Array:
    """Make one array of the parts of a tuple; beside numbers, arrays of one are numbers."""
    arrays = [_array(part) for part in parts]
    if {array.shape for array in arrays} == {(), (1,)}:
        arrays = [array.reshape(()) for array in arrays]
    return np.asarray(arrays)


def close(got: Array, want: Array, rtol: float, atol: float, *, equal_nan: bool = False) -> bool:
    """Say whether arrays of one shape agree, each value by its own size.

    Args:
        got: What was computed.
        want: What was expected.
        rtol: Share of each expected value by which it may be off.
        atol: Where the expected value is 0 (to rounding): share of the largest one.
        equal_nan: Whether NaN agrees with NaN.
    """
    finite = np.abs(want[np.isfinite(want)])
    largest = finite.max(initial=0.0) or 1.0
    allowed = np.where(np.abs(want) > 1e-12 * largest, rtol * np.abs(want), atol * largest)
    with np.errstate(invalid="ignore"):
        near = (got == want) | (np.isfinite(got) & np.isfinite(want) & (abs(got - want) <= allowed))
    return bool((near | (np.isnan(got) & np.isnan(want)) if equal_nan else near).all())


def _unboxed(got: Array, want: Outcome) -> Array:
    """Return a number that came as an array of one, alone or in a pair, as a number."""
    if isinstance(want, np.ndarray) and want.ndim <= 1 and want.size <= 2:
        return got[..., 0] if got.shape == (*want.shape, 1) else got
    return got


def _shape(value: Outcome) -> tuple[int, ...] | None:
    return value.shape if isinstance(value, np.ndarray) else None


def _error(error: BaseException) -> str:
    """Return an error's type and words, and the line of the learner's own code that raised it.

    An error in a ``tf.function`` has these lines in its text, and a file that TensorFlow wrote.
    """
    if (in_graph := _IN_GRAPH.findall(str(error))) and "in user code:" in str(error):
        said = str(error).strip().splitlines()[-1].strip()
        number, text = in_graph[-1]
        return f"{said.rstrip('.: ')}, in line {number}: `{text.strip()}`"
    said = f"{type(error).__name__}: {error}".rstrip(".: ")
    return f"{said}{_line(error)}"


def _line(error: BaseException) -> str:
    """Say in which line of the learner's own code an error was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.lineno and not f.filename.startswith(_LIBRARIES)]
    if not own:
        return ""
    last = own[-1]
    text = (last.line or linecache.getline(last.filename, last.lineno or 0)).strip()
    return f", in line {last.lineno}" + (f": `{text}`" if text else "")


def _is_stub(value: object) -> bool:
    """Say whether a value, or a part of a tuple, is still to be filled in."""
    if isinstance(value, tuple | list) and len(value):
        return any(part is None or part is Ellipsis for part in value)
    return value is None or value is Ellipsis


def _letters(answer: Any) -> set[str] | None:
    """Read letters from text, a collection, or a mapping to true or false."""
    if isinstance(answer, Mapping):
        answer = [letter for letter, holds in answer.items() if holds]
    if isinstance(answer, str):
        words = re.findall(r"\w+", answer)
        answer = words if all(len(word) == 1 for word in words) else list("".join(words))
    try:
        parts = [re.sub(r"[\W_]", "", str(part)).lower().translate(_LATIN) for part in answer]
    except TypeError:
        return None
    return {part for part in parts if part}


def _argument(name: str, value: Any) -> str:
    """Format an argument for a message; if that is too long, give its shape."""
    text = _show(value)
    if len(text) <= _LONG:
        return f"{name}={text}"
    try:
        return f"{name} of shape {np.shape(value)}"
    except ValueError:  # a ragged tuple
        return f"{name} of {len(value)} parts"


def _breaks(got: Outcome, want: Outcome) -> bool:
    """Say whether NaN or infinity stands where a finite number should."""
    if not isinstance(got, np.ndarray) or not isinstance(want, np.ndarray):
        return False
    return bool(not np.isfinite(got).all() and np.isfinite(want).all())


def _kind(value: Outcome) -> str:
    """Say what kind of thing an outcome is."""
    if not isinstance(value, np.ndarray):
        return f"a {type(value).__name__}" if isinstance(value, BaseException) else "nothing"
    return f"shape {value.shape}" if value.shape else "one number"


def _farthest(got: Array, want: Array) -> tuple[int, ...]:
    """Return the index at which two arrays of one shape lie farthest apart."""
    with np.errstate(invalid="ignore"):
        apart = np.where(got == want, 0.0, np.abs(got - want))
    place = np.unravel_index(np.argmax(np.nan_to_num(apart, nan=np.inf)), want.shape)
    return tuple(int(index) for index in place)


def _first_bad(value: Array) -> str:
    bad = value[~np.isfinite(value)].ravel()[0]
    return "NaN" if np.isnan(bad) else "an infinite value"


def _show(value: object, other: object = None) -> str:
    """Write a value with six figures, or with all where six do not tell it from ``other``."""
    text = _digits(value, 6)
    if other is not None and text == _digits(other, 6):
        text = _digits(value, 16)
    return text


def _digits(value: Any, digits: int) -> str:
    try:
        array = np.asarray(value)
    except ValueError:  # a ragged tuple: part by part
        return f"({', '.join(_digits(part, digits) for part in value)})"
    # NumPy would write 8 as "8.", and a sentence would end twice.
    formatter: Any = {"float_kind": lambda number: f"{number + 0.0:.{digits}g}"}  # no "-0"
    text = np.array2string(array, threshold=_WRITTEN, edgeitems=2, formatter=formatter)
    return " ".join(text.split())  # a matrix on one line


def _short(value: object) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
