"""Each exercise accepts right answers, is friendly to stubs and names common mistakes."""

import ast
import importlib
import inspect
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from answers.forms import single

from bdl_teach import datasets, densities, exercises
from bdl_teach._support.compiled import trace_count
from bdl_teach.exercises import _engine, chapter10
from bdl_teach.exercises._engine import Session
from bdl_teach.methods import bbb, ensemble, local_reparam, point
from bdl_teach.problems import MAX_WIDTH, live_fits

NUMBERS = list(exercises.REGISTRY)

# Each chapter's RIGHT = [(number, answer)] are right answers computed differently than the
# reference. WRONG = [(number, expected words, answer)] are answers that fail in an extreme case
# only, and one answer for each fault that a judge names.
ANSWERS = [
    importlib.import_module(f"answers.{path.stem}")
    for path in sorted((Path(__file__).parent / "answers").glob("chapter*.py"))
]
RIGHT = [right for answers in ANSWERS for right in answers.RIGHT]
WRONG = [wrong for answers in ANSWERS for wrong in answers.WRONG]
FUNCTIONS = [n for n in NUMBERS if not isinstance(exercises.REGISTRY[n], exercises.Choice)]
TRAINED = ("2.11", "3.14", "3.15", "4.6", "7.10", "8.9", "10.3", "10.10")  # they take seconds
OF_FLOAT64 = ("5.6", "6.7", "11.8")  # their numbers overflow or vanish in float32
EXACT = [n for n in FUNCTIONS if exercises.REGISTRY[n].is_exact]


def boxed(value: Any) -> Any:
    return [*map(np.atleast_1d, value)] if isinstance(value, tuple) else np.atleast_1d(value)


FORMS = (np.float32, tf.constant, boxed)


def not_implemented(*_: Any) -> Any:
    raise NotImplementedError


def broken(*_: Any) -> Any:
    raise KeyError("w")


STUBS = (..., None, lambda *_: ..., lambda *_: None, not_implemented)
NONSENSE = (
    *(3.0, "text", [1, 2], object(), broken, lambda: 1.0, lambda *_: "text", lambda *_: np.nan),
    *(lambda *_: np.full((2, 3, 5), np.inf), lambda *_: [[1.0], [1.0, 2.0]], lambda *_: 1j),
    *(lambda *_: 0.123, lambda *_: 8.0),
)


def quiet_check(number: str, answer: Any) -> exercises.Result:
    """Check an answer as a second attempt, for which misjudged statements are named."""
    session = Session(exercises.REGISTRY)
    if number not in FUNCTIONS:
        exercise: Any = exercises.REGISTRY[number]
        session.check(number, set(exercise.statements) - exercise.reference)
    return session.check(number, answer)


def replayed(values: Iterable[Any]) -> Any:
    """Return an answer that returns these values case by case, without computing."""
    left = iter(values)
    return lambda *_: next(left)


@pytest.mark.parametrize(
    "number", [pytest.param(n, marks=[pytest.mark.slow] * (n in TRAINED)) for n in NUMBERS]
)
def test_right_answers_pass_in_every_number_format(number: str) -> None:
    exercise: Any = exercises.REGISTRY[number]
    answers = [answer for n, answer in RIGHT if n == number]
    if number in EXACT:
        answers += [exercise.reference, *(replayed(map(f, exercise._returned)) for f in FORMS)]
        answers += [single(exercise.reference)] * (number not in OF_FLOAT64)
    else:
        answers += [replayed(exercise._returned) if number in FUNCTIONS else exercise.reference]
    for answer in answers:
        assert quiet_check(number, answer).message == f"✓ {number} right."


@pytest.mark.parametrize("number", FUNCTIONS)
def test_reference_answer_is_valid_in_every_case(number: str) -> None:
    exercise = exercises.REGISTRY[number]
    for case, found in zip(exercise.cases, exercise._expected, strict=True):
        assert isinstance(found, np.ndarray), found
        assert exercise.judge is None or exercise.judge(found, *case) == ""
    assert exercise.title and exercise.section, "exercises/texts.toml has both"


def test_wrong_one_element_array_is_shown_as_a_number() -> None:
    result = quiet_check("6.1", lambda *_: np.array([8.0]))
    assert "expected 0.15" in result.message and "got 8." in result.message
    result = quiet_check("7.2", lambda m, v, *_: [np.atleast_1d(m), np.atleast_1d(v)])
    assert "got [[0.3] [0.25]]." in result.message


@pytest.mark.parametrize("number", NUMBERS)
def test_unfilled_stub_gets_a_friendly_message(number: str) -> None:
    of_letters = isinstance(exercises.REGISTRY[number], exercises.Choice)
    for stub in STUBS:
        result = quiet_check(number, stub)
        assert not result
        if not (of_letters and callable(stub)):
            assert result.message.startswith(f"· {number} nothing to check yet")


@pytest.mark.parametrize(("number", "said", "answer"), WRONG)
def test_feedback_names_the_mistake_of_a_wrong_answer(number: str, said: str, answer: Any) -> None:
    result = quiet_check(number, answer)
    assert not result
    assert result.message.startswith(f"✗ {number} ")
    assert said in result.message


def test_every_fault_message_is_triggered_by_an_answer() -> None:
    for number, exercise in exercises.REGISTRY.items():
        said = [said for n, said, _ in WRONG if n == number]
        for fault in exercise.faults:
            assert any(words in fault for words in said), (number, fault)


def test_every_condition_that_a_judge_names_has_a_hint() -> None:
    for number, exercise in exercises.REGISTRY.items():
        judges = [f for f in (exercise.judge, exercise.overall) if f and f.__name__ != "<lambda>"]
        for judge in judges:
            for part in ast.walk(ast.parse(inspect.getsource(judge))):
                for word in ast.walk(part) if isinstance(part, ast.Return) else ():
                    if isinstance(word, ast.Constant) and isinstance(word.value, str):
                        assert any(word.value in name for name in ["", *exercise.faults]), number


def test_feedback_names_the_one_misjudged_statement() -> None:
    for number in set(NUMBERS) - set(FUNCTIONS):
        exercise: Any = exercises.REGISTRY[number]
        for letter, hint in exercise.statements.items():
            message = quiet_check(number, exercise.reference ^ {letter}).message
            assert f"statement {letter} " in message and hint in message


@pytest.mark.slow
@pytest.mark.parametrize("number", NUMBERS)
def test_nonsense_answer_gets_a_sentence_and_no_traceback(
    number: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_engine, "SEARCH_S", 0.02)  # test_changes.py tests the search
    for answer in NONSENSE:
        result = quiet_check(number, answer)
        assert not result
        assert result.message.startswith(f"✗ {number} ")
        assert result.message.endswith(".")
        assert ".." not in result.message.replace("...", "")


@pytest.mark.parametrize("number", FUNCTIONS)
def test_each_known_mistake_has_its_own_name_and_is_refused_by_it(number: str) -> None:
    exercise = exercises.REGISTRY[number]
    names = [mistake.name for mistake in exercise.mistakes]
    assert len(set(names)) == len(names) <= 8
    for mistake in exercise.mistakes:
        for formula in mistake.formulas:
            mark, sentence = exercise.find(formula)
            assert mark == "✗", mistake.name
            assert sentence.startswith(f"{mistake.name}: "), (mistake.name, sentence)


@pytest.mark.slow
@pytest.mark.parametrize("number", EXACT)
def test_common_mistakes_are_refused_and_explained(number: str) -> None:
    exercise = exercises.REGISTRY[number]
    names = [mistake.name for mistake in exercise.mistakes]
    for slip in (*exercise._changed_answers, *exercise._changed_arguments):
        mark, sentence = exercise.find(replayed(slip.values))
        assert mark == "✗", slip.name
        assert sentence.split(": ")[0] in names or re.search(
            " expected | your answer contains an infinite", sentence
        ), (slip.name, sentence)


def test_feedback_uses_argument_names_of_the_notebook() -> None:
    texts = Path(__file__).parents[2] / "notebooks" / "text"
    asked: dict[str, list[str]] = {}
    for text in sorted(texts.glob("*.py")):
        stubs = r"^def (my_\w+)\((.*)\):\n    return \.\.\.\n+exercises\.check\(\"(.*)\", \1\)"
        for stub in re.finditer(stubs, text.read_text(encoding="utf-8"), re.MULTILINE):
            asked[stub[3]] = stub[2].split(", ")
    assert list(asked) == FUNCTIONS
    for number, names in asked.items():
        reference = exercises.REGISTRY[number].reference
        assert list(inspect.signature(reference).parameters) == names, number


def test_unknown_exercise_number_lists_valid_ones() -> None:
    with pytest.raises(ValueError, match=r"expected one of .*3\.1, .*got '9\.9'"):
        exercises.check("9.9", 1)


def test_result_of_a_check_is_not_printed_twice(capsys: pytest.CaptureFixture[str]) -> None:
    result = exercises.check("3.1", ..., record=False)
    capsys.readouterr()
    result._ipython_display_()
    assert capsys.readouterr().out == ""


def test_exercises_of_chapter_10_compile_nothing_new() -> None:
    """Each more program takes a second to compile and 20 to 40 MB of the kernel."""
    room = bbb.Capacity(*live_fits.COMPARED)
    problem, x_new = chapter10._problems()[0], chapter10._NEW
    for fit in (point.fit, ensemble.fit):
        fit(*problem, hidden_units=(MAX_WIDTH,), capacity=room).predict(x_new)
    before = trace_count()
    chapter10._cover_the_gap((problem,), x_new)
    chapter10._ensemble_draws((problem,), x_new)
    assert trace_count() == before


def test_free_energy_is_higher_for_a_prior_that_is_too_wide() -> None:
    """Exercise 3.15 judges σ₁ by F on eight data sets, of which this is one."""
    data = datasets.sinusoid(seed=40)
    one, wide = (
        local_reparam.fit(
            data.x, data.y, prior=densities.ScaleMixture(sigma1, 0.1, 0.5), **local_reparam.QUIET
        ).free_energy
        for sigma1 in (1.0, 1.6)
    )
    assert one + 10.0 < wide
