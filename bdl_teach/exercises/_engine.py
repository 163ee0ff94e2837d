"""Define exercises, check answers to them, and count what a learner has solved."""

import copy
import inspect
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from typing import Any, TypeVar

import numpy as np
from IPython.utils.capture import capture_output
from numpy.typing import ArrayLike

from bdl_teach._support.checks import Array
from bdl_teach.exercises import _changes, _outcomes, _wording, common_mistakes
from bdl_teach.exercises._outcomes import Case, Function, Outcome
from bdl_teach.exercises.common_mistakes import Candidate
from bdl_teach.progress import OPEN, SOLVED, WRONG, Progress

F = TypeVar("F", bound=Function)
PATIENCE_S = 10.0  # seconds without an answer until a sentence says how to stop the function
SEARCH_S = 3.0  # seconds of computing in which a change of the right formula is looked for


@dataclass(frozen=True)
class Result:
    """The result of a check: true if ``solved``; ``message`` is the sentence that was printed."""

    number: str
    solved: bool
    message: str

    def __bool__(self) -> bool:
        return self.solved

    def _ipython_display_(self) -> None:
        """Display nothing if a result is the last value of a cell: it was printed already."""


@dataclass(frozen=True)
class Mistake:
    """A known mistake: its name, a hint for the learner, and ``formulas`` that contain it."""

    name: str  # in a few words
    hint: str  # a sentence on what to think about, without the answer itself
    formulas: tuple[Function, ...]  # answers with this mistake


def mistakes(*rows: str | Function | tuple[Function, ...]) -> tuple[Mistake, ...]:
    """Return a mistake for each pair of rows: a sentence ``"name: hint."``, then its formula.

    Instead of one formula, the second row can be a tuple of formulas.
    """
    found = []
    for sentence, formula in zip(rows[::2], rows[1::2], strict=True):
        if not isinstance(sentence, str) or isinstance(formula, str) or ": " not in sentence:
            raise ValueError(f'mistakes: expected "name: hint.", then a formula, got {sentence!r}')
        name, hint = sentence.split(": ", 1)
        found.append(Mistake(name, hint, formula if isinstance(formula, tuple) else (formula,)))
    return tuple(found)


class CasesOnUse(Sequence[Case]):
    """Cases that are made on first use, so that importing a chapter does not load data."""

    def __init__(self, make: Callable[[], tuple[Case, ...]]) -> None:
        self._made = cache(make)

    def __getitem__(self, i: Any) -> Any:
        return self._made()[i]

    def __len__(self) -> int:
        return len(self._made())


@dataclass(frozen=True)
class Exercise:
    """An exercise that asks the learner to write a function."""

    number: str  # "3.1": exercise 1 of chapter 3
    title: str  # the exercise's heading in the notebook: "Compute: the KL"
    section: str  # sections of the notebook to read: "3.5", or "7.6 and 7.7"
    # A right answer: a function of NumPy float64 values that returns a number, an array, or a tuple
    # of these, and does not change its arguments.
    reference: Function
    # Arguments on which answers are compared; every two mistakes differ in some case. Ordinary
    # numbers come first, because a message quotes the first case that differs; then zeros, one data
    # point, very large and very small values.
    cases: Sequence[Case] = ()
    mistakes: tuple[Mistake, ...] = ()
    # Float32 and another order of operations change a value by a small share of it, and one that
    # should be 0 by a small share of the largest value of the same answer.
    rtol: float = 3e-5  # tolerance, as a share of each expected value
    atol: float = 1e-6  # tolerance for 0, as a share of the largest expected value
    # Takes (answer, *case) and returns the numbers to compare; by default the answer is compared.
    compared: Callable[..., ArrayLike] | None = None
    # Takes (answer, *case) and returns the name of the answer's fault, or "" for a right answer. An
    # exercise with many right answers has one; its messages quote no right answer.
    judge: Callable[..., str] | None = None
    faults: Mapping[str, str] = field(default_factory=dict)  # a hint for each name of a fault
    # Takes the answers to all cases and returns the fault that no single case shows, or "".
    overall: Callable[[list[Array]], str] | None = None
    near: float = 0.05  # with a judge: by which share answers with one and the same mistake differ
    # With a judge: whether the answers measure one quantity, so that their root may be a right one.
    is_measured: bool = False

    @property
    def is_exact(self) -> bool:
        """Return whether right answers must agree with the reference answer to better than 1 %."""
        return self.compared is None and self.judge is None and self.rtol < 0.01

    @property
    def read(self) -> str:
        """Return the sentence "Read section ...", which names the sections to read."""
        return f"Read section{'s' if ' and ' in self.section else ''} {self.section}."

    def find(self, answer: object, tries: int = 0) -> tuple[str, str]:
        """Return the mark (✓, ✗, or · for a stub) and a message, after ``tries`` wrong answers."""
        if _outcomes.is_stub(answer):
            return OPEN, "nothing to check yet: replace the ... and run the cell again."
        if not callable(answer):
            return WRONG, f"expected a function, got {_outcomes.short(answer)}."
        outcomes: list[Outcome] = []
        page = sys.stdout

        def remind() -> None:
            """Say which case takes so long, and how to stop it."""
            where = self._where(self.cases[len(outcomes)])
            said = f"{self.number} no answer yet for {where}: it computes, as fits do for a while; "
            said += "if a loop of the function never ends, stop it with ■ (Kernel → Interrupt)."
            print(said, file=page, flush=True)

        timer = threading.Timer(PATIENCE_S, remind)
        timer.daemon = True
        timer.start()
        try:
            outcomes.append(_outcomes.outcome(answer, self.cases[0]))
            with capture_output():  # what an answer prints is shown for the first case only
                for case in self.cases[1:]:
                    outcomes.append(_outcomes.outcome(answer, case))
        except KeyboardInterrupt:
            where = self._where(self.cases[len(outcomes)])
            return OPEN, f"stopped, no answer for {where}: does every loop of the function end?"
        finally:
            timer.cancel()
        if all(o is None or isinstance(o, NotImplementedError) for o in outcomes):
            return OPEN, "nothing to check yet: the function returns nothing or `...`."
        if self.same(outcomes, self._expected):
            return SOLVED, "right."
        return WRONG, self._diagnose(outcomes)

    def same(self, got: Sequence[Outcome], want: Sequence[Outcome]) -> bool:
        """Return whether in every case both are arrays that agree, or errors of one type."""
        return all(map(self._same, self.cases, got, want))

    def _same(self, case: Case, a: Outcome, b: Outcome) -> bool:
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray):
            return a is not None and type(a) is type(b) and not isinstance(a, str)
        a = _outcomes.unboxed(a, b)
        if a.shape != b.shape or _outcomes.breaks(a, b):  # NaN passes every comparison
            return False
        if self.judge is not None:
            return self.judge(a, *case) == self.judge(b, *case)
        if self.compared is not None:
            a, b = (np.asarray(self.compared(o, *case), np.float64) for o in (a, b))
        return _outcomes.close(a, b, self.rtol, self.atol)

    def _diagnose(self, outcomes: Sequence[Outcome]) -> str:
        """Return the one mistake that explains the answer, or else how the answer differs."""
        known = {c[:2] for c in self._known if self._same_wrong(outcomes, c.values)}
        known = known or {c[:2] for c in self._known if self._same_wrong(outcomes, c.values, True)}
        if len(known) == 1:
            return f"{': '.join(known.pop())} {self.read}"
        if not known and (fault := self._fault(outcomes)):
            return f"{': '.join(fault)} {self.read}"
        differs = next(
            self._differs(case, got, want)
            for case, got, want in zip(self.cases, outcomes, self._expected, strict=True)
            if not self._same(case, got, want)
        )
        exact = not known and self.judge is None and self.rtol < 0.01
        for candidates in self._common(outcomes) if exact else ():
            fitting = {c[:2] for c in candidates if self.same(outcomes, c.values)}
            fitting = fitting or {
                c[:2] for c in candidates if self._same_wrong(outcomes, c.values, True)
            }
            if len(fitting) == 1:
                return f"{': '.join(fitting.pop())} F{differs[1:]}"
        explained = self._explained(outcomes) if exact else ""
        if explained:
            return f"{explained} F{differs[1:]}"
        names = [*inspect.signature(self.reference).parameters]
        rows = zip(outcomes, self._expected, self.cases, strict=True)
        meant = (_wording.meant(got, want, case, names) for got, want, case in rows)
        words = "" if isinstance(self._returned[0], tuple) else next(filter(None, meant), "")
        kinds = [words[:5] != "truth" or np.isin(o, (0, 1)).all() for o in self._shaped(outcomes)]
        words = words if all(kinds) else ""
        return f"{words}{differs}" if not words else f"{words} F{differs[1:]}"

    def _same_wrong(self, ours: Sequence[Outcome], values: Any, some: bool = False) -> bool:
        """Return whether a mistake with these values explains an answer.

        With ``some``, or a judge, a case does not count where only the right answer is finite, if
        they agree on a wrong one in all others.
        """
        if not some and self.judge is None:
            return self.same(ours, values)
        same = [self.judge is not None]
        for case, a, b, want in zip(self.cases, ours, values, self._expected, strict=True):
            if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
                return False
            if a.shape == b.shape and (_outcomes.breaks(a, want) or _outcomes.breaks(b, want)):
                continue
            if self.judge is None:
                same.append(not self._same(case, b, want))
                alike = self._same(case, a, b)
            else:
                largest = np.abs(b).max(initial=0.0)
                alike = a.shape == b.shape and np.allclose(a, b, self.near, self.near * largest / 5)
            if not alike:
                return False
        return any(same)

    def _explained(self, outcomes: Sequence[Outcome]) -> str:
        """Return name and hint of what explains an answer that has no known mistake, or ""."""
        same = [*map(self._same, self.cases, outcomes, self._expected)]
        names = [*inspect.signature(self.reference).parameters]
        answers = self._shaped(outcomes)
        broken = [isinstance(o, np.ndarray) and _outcomes.breaks(o, np.zeros(1)) for o in outcomes]
        if any(same) and all(a or b for a, b in zip(same, broken, strict=True)):
            for name, column in zip(names, zip(*self.cases, strict=True), strict=True):
                if common_mistakes.breaks_below_0(outcomes, column):
                    return f"NaN where {name} < 0, by a root or a logarithm: is |{name}| meant?"
            return "right, but not for every number: what overflows, divides by 0, or is log 0?"
        if _all_alike(answers) and not _all_alike(self._expected):
            return "the same in every case: is all that is given used, and each limit ever passed?"
        if words := common_mistakes.of_whole_numbers(answers, self._expected):
            return words
        until = time.thread_time() + SEARCH_S
        if found := self._changed(outcomes, slice(None), until):
            return ": ".join(found)
        said = []
        for part in (
            range(len(answers[0])) if answers and isinstance(self._returned[0], tuple) else ()
        ):
            mixed = [np.array(a) for a in answers]
            for one, right in zip(mixed, self._expected, strict=True):
                one[part] = right[part]
            if not self.same(mixed, answers):
                if not (found := self._changed(answers, part, until)):
                    return ""
                said.append(f"{found[0]} in part {part + 1}: {found[1]}")
        return " ".join(said) or common_mistakes.of_pattern(answers, self._expected)

    def _changed(
        self, outcomes: Sequence[Outcome], part: Any, until: float
    ) -> tuple[str, str] | None:
        """Return the change of the right formula that explains a part of the answers, or None."""

        def fits(i: int, values: Outcome) -> bool:
            ours = outcomes[i]
            if not isinstance(values, np.ndarray) or not isinstance(ours, np.ndarray):
                return False
            if part == slice(None):
                return self._same(self.cases[i], ours, values)
            mixed = np.array(ours)
            mixed[part] = values[part] if values.shape == ours.shape else np.nan
            return self._same(self.cases[i], ours, mixed)

        return _changes.explain(self.reference, self.cases, fits, until)

    def _fault(self, outcomes: Sequence[Outcome]) -> tuple[str, str] | None:
        """Return name and hint of a fault that ``overall`` or ``judge`` finds, or None."""
        answers = self._shaped(outcomes)
        if not answers or any(map(_outcomes.breaks, answers, self._expected)):
            return None
        name = self.overall(answers) if self.overall is not None else ""
        if not name and self.is_measured and (undone := self._undone(answers)):
            return undone
        judge = self.judge or (lambda *_: "")
        judged = (judge(a, *case) for case, a in zip(self.cases, answers, strict=True) if not name)
        name = name or next(filter(None, judged), "")
        return (name, self.faults[name]) if name in self.faults else None

    def _undone(self, answers: Sequence[Array]) -> tuple[str, str] | None:
        """Return names and hint of changes whose reverse makes the answers right, or None."""
        found = {}
        for name, hint, reverse in common_mistakes.UNDONE:
            with np.errstate(all="ignore"):
                tried = [np.asarray(reverse(answer)) for answer in answers]
            if all(np.isfinite(t).all() for t in tried) and self.same(tried, self._expected):
                found[name] = hint
        return (", or ".join(found), next(iter(found.values()))) if found else None

    def _shaped(self, outcomes: Sequence[Outcome]) -> list[Array]:
        """Return the answer's array for each case; [] if one is no array or has a wrong shape."""
        pairs = zip(outcomes, self._expected, strict=True)
        fitted = [_outcomes.unboxed(a, b) for a, b in pairs if isinstance(a, np.ndarray)]
        shapes = [want.shape for want in self._expected]
        return fitted if [a.shape for a in fitted] == shapes else []

    @cached_property
    def _returned(self) -> list[Any]:
        """Return the reference's results in all cases, computed on first use (some take long)."""
        with np.errstate(all="ignore"):
            return [self.reference(*copy.deepcopy(case)) for case in self.cases]

    @cached_property
    def _expected(self) -> list[Any]:
        return [_outcomes.read(value) for value in self._returned]

    @cached_property
    def _known(self) -> list[Candidate]:
        return [
            Candidate(known.name, known.hint, [_outcomes.outcome(f, case) for case in self.cases])
            for known in self.mistakes
            for f in known.formulas
        ]

    def _common(self, outcomes: Sequence[Outcome]) -> Iterator[list[Candidate]]:
        """Yield, for each of five kinds of common mistakes, the wrong answers that they lead to."""
        yield self._changed_answers
        with np.errstate(all="ignore"):
            yield [*common_mistakes.of_parts(outcomes, self._expected)]
            shaped = self._shaped(outcomes)
            yield [*common_mistakes.of_constants(shaped, self._expected)]
            names = [*inspect.signature(self.reference).parameters]
            yield [*common_mistakes.of_terms(shaped, self._expected, self.cases, names)]
        yield self._changed_arguments

    @cached_property
    def _changed_answers(self) -> list[Candidate]:
        parts = isinstance(self._returned[0], tuple)
        names = [*inspect.signature(self.reference).parameters]
        return self._wrong(common_mistakes.of_answers(self._expected, self.cases, names, parts))

    @cached_property
    def _changed_arguments(self) -> list[Candidate]:
        return self._wrong(common_mistakes.of_arguments(self.reference, self.cases))

    def _wrong(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Return the candidates that can explain a wrong answer.

        A candidate is left out if it is right in all cases, always gives the same number, or gives
        NaN or an error in some case.
        """
        found = []
        with warnings.catch_warnings(action="ignore"), np.errstate(all="ignore"):
            for candidate in candidates:
                arrays = [v.ravel() for v in candidate.values if isinstance(v, np.ndarray)]
                if len(arrays) < len(self.cases) or np.isnan(np.concatenate(arrays)).any():
                    continue
                varies = len(np.unique(np.concatenate(arrays))) > 1
                if varies and not self.same(candidate.values, self._expected):
                    found.append(candidate)
        return found

    def _differs(self, case: Case, got: Outcome, want: Any) -> str:
        """Return a sentence on how an answer differs from the reference in one case."""
        got = _outcomes.unboxed(got, want) if isinstance(got, np.ndarray) else got
        shaped = isinstance(got, np.ndarray) and got.shape == want.shape
        if shaped and self.judge is not None and not _outcomes.breaks(got, want):
            words = f" your answer, {_wording.show(got)}, does not do what is asked."
        else:
            is_pair = isinstance(self._returned[0], tuple)
            words = _wording.difference(got, want, is_pair=is_pair)
        numbers = isinstance(got, np.ndarray)
        return f"for {self._where(case)}{words}" + (f" {self.read}" if numbers else "")

    def _where(self, case: Case) -> str:
        """Return the arguments of a case in words."""
        names = inspect.signature(self.reference).parameters
        return ", ".join(_wording.argument(n, v) for n, v in zip(names, case, strict=True))


def _all_alike(answers: Sequence[Array]) -> bool:
    return len(answers) > 1 and all(np.array_equal(answer, answers[0]) for answer in answers)


@dataclass(frozen=True)
class Choice(Exercise):
    """An exercise that asks which of some statements are true."""

    reference: AbstractSet[str]  # type: ignore[assignment]  # letters of the true statements
    statements: Mapping[str, str] = field(default_factory=dict)  # for each letter, a hint

    def find(self, answer: object, tries: int = 0) -> tuple[str, str]:
        """Return the mark and a message; if ``tries`` > 0, it names the misjudged statements."""
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
        told = [re.findall(r"section (\d+\.\d+)", self.statements[letter]) for letter in wrong]
        about = sorted({*sum(told, [])}, key=lambda n: [*map(int, n.split("."))])
        section = " and ".join([*filter(None, [", ".join(about[:-1])]), *about[-1:]])
        if tries == 0:
            read = replace(self, section=section).read if all(told) else self.read
            many = "1 statement is" if len(wrong) == 1 else f"{len(wrong)} statements are"
            return WRONG, (
                f"{many} judged wrongly, of {len(self.statements)}. Think again; after the next "
                f"wrong answer you are told which. {read}"
            )
        hints = [
            f"statement {letter} {'is not true' if letter in letters else 'was left out'}: "
            f"{self.statements[letter]}"
            for letter in wrong
        ]
        return WRONG, " ".join([*hints, *[self.read] * (not all(told))])  # else the hints name it


DEFINED: list[Exercise] = []  # the exercises that ask for a function


def exercise(number: str, *rows: Any, cases: Any = None, **options: Any) -> Callable[[F], F]:
    """Return a decorator that defines an exercise whose right answer is the decorated function.

    Its title, sections to read and hints for faults are in ``texts.toml``. If the right
    answer is a formula, call the decorator: ``exercise("1.4", ...)(lambda s: s**2)``.

    Args:
        number: Number of the exercise.
        *rows: First the cases, each a tuple of arguments (a list in it becomes an array). Then the
            known mistakes: for each a sentence ``"name: hint."`` and a formula that contains it.
        cases: The cases as :class:`CasesOnUse`; then all ``rows`` are mistakes.
        **options: Values of other attributes of :class:`Exercise`.
    """
    title, section = _wording.TEXTS["exercises"].get(number, ("", ""))
    options["faults"] = _wording.TEXTS["faults"].get(number, {})
    n = next((i for i, row in enumerate(rows) if isinstance(row, str)), len(rows))
    if cases is None:
        arrays = [[np.array(v) if isinstance(v, list) else v for v in case] for case in rows[:n]]
        cases = tuple(map(tuple, arrays))

    def register(reference: F) -> F:
        known = mistakes(*rows[n:])
        DEFINED.append(Exercise(number, title, section, reference, cases, known, **options))
        return reference

    return register


def choices() -> list[Choice]:
    """Return the exercises that ask which statements are true, from ``texts.toml``."""
    found = []
    for number, hints in _wording.TEXTS["statements"].items():
        (title, section), true = _wording.TEXTS["exercises"][number], frozenset(hints["true"])
        statements = {letter: hint for letter, hint in hints.items() if letter != "true"}
        found.append(Choice(number, title, section, true, statements=statements))
    return found


class Session:
    """Check one learner's answers, and count the exercises and missions that are solved.

    ``registry`` holds the exercises by number. ``progress`` stores the results, by default in
    memory only. The function ``missions`` returns the ids of all missions.
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
        """Check an answer, print the result and record it, as ``exercises.check`` does."""
        if not isinstance(number, str):
            raise ValueError(
                f'number: expected text such as "3.10", got {number!r}; as a number, 3.10 is 3.1'
            )
        if number not in self._registry:
            raise ValueError(f"number: expected one of {', '.join(self._registry)}, got {number!r}")
        exercise = self._registry[number]
        tries = self._progress.tries(number) if record else 0
        mark, sentence = exercise.find(answer, tries)
        uncounted = "" if record else "(not counted) "
        result = Result(number, mark == SOLVED, f"{mark} {number} {uncounted}{sentence}")
        if record and mark != OPEN:
            self._progress.add(number, mark)
        print(result.message)
        return result

    def table(self, chapter: int | None = None) -> str:
        """Return a table of one chapter's exercises, or of all, that ends with how many are solved.

        Without a chapter, the solved missions are counted, too.
        """
        wanted, missions, marks, solved, done = self._counted(chapter)
        rows = [f"{marks.get(n, OPEN)} {n:5} {self._registry[n].title}" for n in wanted]
        counted = [f"missions: {done} of {len(missions)}"] if missions else []
        return "\n".join([*rows, f"solved {solved} of {len(wanted)}", *counted])

    def reset(self, chapter: int | None = None) -> str:
        """Delete a chapter's results, or those of all chapters and missions; return a summary."""
        wanted, missions, _, solved, done = self._counted(chapter)
        self._progress.forget([*wanted, *missions])
        counted = f", and {done} of {len(missions)} missions" if missions else ""
        return f"Forgotten: {solved} solved of {len(wanted)}{counted}."

    def _counted(self, chapter: int | None) -> tuple[list[str], Sequence[str], Any, int, int]:
        """Return ids of exercises, ids of missions, marks by id, and how many of each are solved.

        If ``chapter`` is given, only its exercises are returned, and no missions.
        """
        chapters = sorted({int(number.split(".")[0]) for number in self._registry})
        if chapter is not None and chapter not in chapters:
            known = ", ".join(map(str, chapters))
            raise ValueError(f"chapter: expected one of {known}, got {chapter!r}")
        wanted = [n for n in self._registry if chapter is None or n.split(".")[0] == str(chapter)]
        missions, marks = self._missions() if chapter is None else (), self._progress.marks()
        solved, done = (sum(marks.get(n) == SOLVED for n in ids) for ids in (wanted, missions))
        return wanted, missions, marks, solved, done
