"""An exercise: what it asks, how an answer is judged, and what was solved."""

import copy
import inspect
import tomllib
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.resources import files
from typing import Any, TypeVar

import numpy as np
from IPython.utils.capture import capture_output
from numpy.typing import ArrayLike

from bdl_teach._support.checks import Array
from bdl_teach.exercises import _outcomes, _wording, slips
from bdl_teach.exercises._outcomes import Case, Function, Outcome, Unreadable
from bdl_teach.exercises.slips import Slip
from bdl_teach.progress import OPEN, SOLVED, WRONG, Progress

# Titles, where to read, faults and statements, by the numbers of the exercises.
_TEXTS = tomllib.loads(files(__package__).joinpath("texts.toml").read_text("utf-8"))
# The course computes in float32, and an answer may take another order: a share of each value may
# be off, and where zero is expected, a share of the largest value beside it.
RELATIVE, OF_LARGEST = 3e-5, 1e-6
F = TypeVar("F", bound=Function)


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
    """A known mistake, recognised by what it computes in every case."""

    name: str  # in a few words
    hint: str  # what to think about, as a sentence with its full stop; not the answer itself
    faces: tuple[Function, ...]  # functions of the reference's arguments that make this mistake


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
    """Cases that are made on first use, so that loading the exercises does not load their data."""

    def __init__(self, make: Callable[[], tuple[Case, ...]]) -> None:
        self._made = cache(make)

    def __getitem__(self, i: Any) -> Any:
        return self._made()[i]

    def __len__(self) -> int:
        return len(self._made())


@dataclass(frozen=True)
class Exercise:
    """An exercise that asks for a function; :class:`Choice` for one that asks for statements."""

    number: str  # chapter and place in it, such as "3.1"
    title: str  # what to do, and about what, as the notebook's heading has it: "Compute: the KL"
    section: str  # sections of the notebook to read: "3.5", or "7.6 and 7.7"
    # A right answer: it returns a number, an array, or a tuple of these, takes NumPy's float64, and
    # leaves its arguments as they are.
    reference: Function
    # Arguments to try it on; together they tell every known mistake from the others. Ordinary
    # numbers first (a message quotes the first case that differs), then what breaks wrong answers:
    # zeros, one data point, very large and very small values.
    cases: Sequence[Case] = ()
    mistakes: tuple[Mistake, ...] = ()  # each differs from the others in some case
    rtol: float = RELATIVE  # share of a value by which an answer may be off
    atol: float = OF_LARGEST  # where zero is expected: share of the largest value of that answer
    # Of (answer, *case), the numbers to compare; the answer itself if not given.
    compared: Callable[..., ArrayLike] | None = None
    # Of (answer, *case), the name of its fault, "" if it has none; for an exercise that has many
    # right answers. No message quotes one then.
    judge: Callable[..., str] | None = None
    # For the name of each fault, what to think about. That of the first case is named.
    faults: Mapping[str, str] = field(default_factory=dict)
    # Of the answers to all cases, the name of a fault that only shows when they are seen together.
    overall: Callable[[list[Array]], str] | None = None

    @property
    def is_exact(self) -> bool:
        """Return whether answers are compared number by number, so that common slips are tried."""
        return self.compared is None and self.judge is None and self.rtol < 0.01

    @property
    def read(self) -> str:
        """Return a sentence that says which sections to read."""
        return f"Read section{'s' if ' and ' in self.section else ''} {self.section}."

    def find(self, answer: object, tries: int = 0) -> tuple[str, str]:
        """Return (mark, sentence) for an answer.

        Args:
            answer: What the learner gave.
            tries: How many wrong answers came before it.
        """
        if _outcomes.is_stub(answer):
            return OPEN, "nothing to check yet: replace the ... and run the cell again."
        if not callable(answer):
            return WRONG, f"expected a function, got {_outcomes.short(answer)}."
        first = _outcomes.outcome(answer, self.cases[0])
        with capture_output():  # what an answer prints is shown for the first case only
            outcomes = [first, *(_outcomes.outcome(answer, case) for case in self.cases[1:])]
        if all(o is None or isinstance(o, NotImplementedError) for o in outcomes):
            return OPEN, "nothing to check yet: the function returns nothing or `...`."
        if self.same(outcomes, self._expected):
            return SOLVED, "right."
        return WRONG, self._diagnose(outcomes)

    def same(
        self, got: Sequence[Outcome], want: Sequence[Outcome], *, equal_nan: bool = False
    ) -> bool:
        """Say whether outcomes agree in every case: in shape, in value, in the error raised."""
        cases = zip(self.cases, got, want, strict=True)
        return all(self._same(case, a, b, equal_nan) for case, a, b in cases)

    def _same(self, case: Case, a: Outcome, b: Outcome, equal_nan: bool = False) -> bool:
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
            return a is not None and type(a) is type(b) and not isinstance(a, Unreadable)
        a = _outcomes.unboxed(a, b)
        if a.shape != b.shape:
            return False
        if self.judge is not None:
            return not _outcomes.breaks(a, b) and self.judge(a, *case) == self.judge(b, *case)
        if self.compared is not None:
            if _outcomes.breaks(a, b):  # NaN is above no limit, and below none
                return False
            a, b = (np.asarray(self.compared(o, *case), np.float64) for o in (a, b))
        return _outcomes.close(a, b, self.rtol, self.atol, equal_nan=equal_nan)

    def _diagnose(self, outcomes: Sequence[Outcome]) -> str:
        """Name the one mistake that explains every case, or say where the answer differs."""
        found = {
            f"{mistake.name}: {mistake.hint}"
            for mistake, given in self._mistaken
            if self.same(outcomes, given, equal_nan=True)
        }
        if len(found) == 1:
            return f"{found.pop()} {self.read}"
        if not found and (fault := self._fault(outcomes)) in self.faults:
            return f"{fault}: {self.faults[fault]} {self.read}"
        differs = next(
            self._differs(case, got, want)
            for case, got, want in zip(self.cases, outcomes, self._expected, strict=True)
            if not self._same(case, got, want)
        )
        for known in self._slips(outcomes) if self.is_exact and not found else ():
            fitting = {slip[:2] for slip in known if self.same(outcomes, slip.values)}
            if len(fitting) == 1:
                name, hint = fitting.pop()
                return f"{name}: {hint} F{differs[1:]}"
        return differs

    def _fault(self, outcomes: Sequence[Outcome]) -> str:
        """Return the name of the fault of all answers together, or of the first that has one."""
        answers = self._shaped(outcomes)
        if not answers or any(map(_outcomes.breaks, answers, self._expected)):
            return ""
        if self.overall is not None and (name := self.overall(answers)):
            return name
        for case, answer in zip(self.cases, answers, strict=True):
            if self.judge is not None and (name := self.judge(answer, *case)):
                return name
        return ""

    def _shaped(self, outcomes: Sequence[Outcome]) -> list[Array]:
        """Return the answers to all cases, or none if one has an unexpected shape."""
        pairs = zip(outcomes, self._expected, strict=True)
        fitted = [_outcomes.unboxed(a, b) for a, b in pairs if isinstance(a, np.ndarray)]
        shapes = [np.shape(want) for want in self._expected]
        return fitted if [a.shape for a in fitted] == shapes else []

    @cached_property
    def _returned(self) -> list[Any]:
        """Run the reference on all cases at the first use, because some references train."""
        with np.errstate(all="ignore"):
            return [self.reference(*copy.deepcopy(case)) for case in self.cases]

    @cached_property
    def _expected(self) -> list[Any]:
        return [_outcomes.read(value) for value in self._returned]

    @cached_property
    def _mistaken(self) -> list[tuple[Mistake, list[Outcome]]]:
        """Compute what each formula of each mistake gives, at the first use."""
        return [
            (mistake, [_outcomes.outcome(face, case) for case in self.cases])
            for mistake in self.mistakes
            for face in mistake.faces
        ]

    def _slips(self, outcomes: Sequence[Outcome]) -> Iterator[list[Slip]]:
        """Yield the slips that may explain an answer, one kind after another."""
        yield self._slips_of_answers
        with np.errstate(all="ignore"):
            yield [*slips.of_parts(outcomes, self._expected)]
            yield [*slips.of_constants(self._shaped(outcomes), self._expected)]
        yield self._slips_of_arguments

    @cached_property
    def _slips_of_answers(self) -> list[Slip]:
        with np.errstate(all="ignore"):
            found = [*slips.of_answers(self._expected, self.cases, self._returned[0])]
        return [slip for slip in found if self._can_be_told(slip.values)]

    @cached_property
    def _slips_of_arguments(self) -> list[Slip]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [
                Slip(name, hint, [_outcomes.outcome(self.reference, case) for case in cases])
                for name, hint, cases in slips.of_arguments(self.reference, self.cases)
            ]
        return [slip for slip in found if self._can_be_told(slip.values)]

    def _can_be_told(self, values: Sequence[Outcome]) -> bool:
        """Say whether a slip's numbers are wrong, and not the same in all cases."""
        arrays = [value.ravel() for value in values if isinstance(value, np.ndarray)]
        if len(arrays) < len(values) or np.isnan(together := np.concatenate(arrays)).any():
            return False
        return len(np.unique(together)) > 1 and not self.same(values, self._expected)

    def _differs(self, case: Case, got: Outcome, want: Any) -> str:
        """Describe a difference that no known mistake explains."""
        got = _outcomes.unboxed(got, want) if isinstance(got, np.ndarray) else got
        shaped = isinstance(got, np.ndarray) and got.shape == want.shape
        if shaped and self.judge is not None and not _outcomes.breaks(got, want):
            said = f" your answer, {_wording.show(got)}, does not do what is asked."
        else:
            is_pair = isinstance(self._returned[0], tuple)
            said = _wording.difference(got, want, is_pair=is_pair)
        names = inspect.signature(self.reference).parameters
        where = ", ".join(_wording.argument(n, v) for n, v in zip(names, case, strict=True))
        return f"for {where}{said}" + (f" {self.read}" if shaped else "")


@dataclass(frozen=True)
class Choice(Exercise):
    """An exercise that asks which of some statements are true.

    The message after the first wrong answer says how many are judged wrongly, later ones which.
    """

    reference: AbstractSet[str]  # type: ignore[assignment]  # letters, where others have a function
    statements: Mapping[str, str] = field(default_factory=dict)  # why each is true, or is not

    def find(self, answer: object, tries: int = 0) -> tuple[str, str]:
        """Return (mark, sentence) for an answer; see :meth:`Exercise.find`."""
        if _outcomes.is_stub(answer):
            return OPEN, "nothing to check yet: put the letters of the true statements."
        letters = _outcomes.read_letters(answer)
        if letters is None or not letters <= set(self.statements):
            known = ", ".join(self.statements)
            got = _outcomes.short(answer)
            return WRONG, f"expected a set of letters out of {known}, got {got}."
        wrong = sorted(letters ^ self.reference)
        if not wrong:
            return SOLVED, "right."
        if tries == 0:
            many = "1 statement is" if len(wrong) == 1 else f"{len(wrong)} statements are"
            return WRONG, (
                f"{many} judged wrongly, of {len(self.statements)}. Think again; after the next "
                f"wrong answer you are told which. {self.read}"
            )
        said = [
            f"statement {letter} {'is not true' if letter in letters else 'was left out'}: "
            f"{self.statements[letter]}"
            for letter in wrong
        ]
        return WRONG, f"{' '.join(said)} {self.read}"


FOUND: list[Exercise] = []  # what the chapters' modules have defined


def exercise(number: str, *rows: Any, cases: Any = None, **options: Any) -> Callable[[F], F]:
    """Make the decorated function the reference of an exercise, and return it unchanged.

    Its title, the sections to read and the sentences of its faults stand in ``texts.toml``.

    Args:
        number: See :class:`Exercise`, for all that follows.
        *rows: The cases, a tuple each, of which a list stands for an array; then the known
            mistakes, see :func:`mistakes`.
        cases: The cases, where they are made late.
        **options: The other attributes of :class:`Exercise`.
    """
    title, section = _TEXTS["exercises"].get(number, ("", ""))
    named: Any = {"faults": _TEXTS["faults"].get(number, {}), **options}
    n = next((i for i, row in enumerate(rows) if isinstance(row, str)), len(rows))
    if cases is None:
        arrays = [[np.array(v) if isinstance(v, list) else v for v in case] for case in rows[:n]]
        cases = tuple(map(tuple, arrays))

    def register(reference: F) -> F:
        known = mistakes(*rows[n:])
        FOUND.append(Exercise(number, title, section, reference, cases, known, **named))
        return reference

    return register


def choices() -> list[Choice]:
    """Return the exercises that ask for statements."""
    found = []
    for number, hints in _TEXTS["statements"].items():
        (title, section), true = _TEXTS["exercises"][number], frozenset(hints["true"])
        statements = {letter: hint for letter, hint in hints.items() if letter != "true"}
        found.append(Choice(number, title, section, true, statements=statements))
    return found


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
        """Return the number of an exercise; refuse an unknown one, or one that is not text."""
        if not isinstance(number, str):
            raise ValueError(
                f'number: expected text such as "3.10", got {number!r}; as a number, 3.10 is 3.1'
            )
        if number not in self._registry:
            raise ValueError(f"number: expected one of {', '.join(self._registry)}, got {number!r}")
        return number

    def table(self, chapter: int | None = None) -> str:
        """Return one line per exercise, of one chapter or of all, and how many are solved.

        The table of all chapters counts the missions, too: an explorer is in several chapters.
        """
        wanted, missions, marks, solved, done = self._counted(chapter)
        rows = [f"{marks.get(n, OPEN)} {n:5} {self._registry[n].title}" for n in wanted]
        counted = [f"missions: {done} of {len(missions)}"] if missions else []
        return "\n".join([*rows, f"solved {solved} of {len(wanted)}", *counted])

    def reset(self, chapter: int | None = None) -> str:
        """Forget what was tried in one chapter, or in all with every mission; say so."""
        wanted, missions, _, solved, done = self._counted(chapter)
        self._progress.forget([*wanted, *missions])
        counted = f", and {done} of {len(missions)} missions" if missions else ""
        return f"Forgotten: {solved} solved of {len(wanted)}{counted}."

    def _counted(self, chapter: int | None) -> tuple[list[str], Sequence[str], Any, int, int]:
        """Return exercises, missions, all marks, and how many of both are solved."""
        wanted, marks = self._of(chapter), self._progress.marks()
        missions = self._missions() if chapter is None else ()
        solved, done = (sum(marks.get(n) == SOLVED for n in ids) for ids in (wanted, missions))
        return wanted, missions, marks, solved, done

    def _of(self, chapter: int | None) -> list[str]:
        """Return the numbers of a chapter's exercises, or of all."""
        chapters = sorted({int(number.split(".")[0]) for number in self._registry})
        if chapter is not None and chapter not in chapters:
            known = ", ".join(map(str, chapters))
            raise ValueError(f"chapter: expected one of {known}, got {chapter!r}")
        return [n for n in self._registry if chapter is None or n.split(".")[0] == str(chapter)]
