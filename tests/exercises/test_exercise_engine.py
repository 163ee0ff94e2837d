"""The engine of the exercises, on small exercises made for each claim."""

import json
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bdl_teach import exercises, widgets
from bdl_teach import progress as record
from bdl_teach.exercises._engine import Choice, Exercise, Session, close, mistakes
from bdl_teach.progress import VARIABLE, Progress, place

SQUARE = Exercise(
    "1.1",
    "Square",
    "1.4",
    lambda x: np.square(x),
    ((np.array([0.0, 2.0, -3.0]),), (5.0,), (1e6,)),
    mistakes(
        "doubled: multiply by itself.",
        lambda x: 2 * x,
        "root: that is the way back.",
        lambda x: np.sqrt(x),
        "cube: one x too many.",
        (lambda x: x**3, lambda x: np.abs(x) ** 3),
    ),
)
TRUTHS = Choice(
    "1.2", "True or false", "1.5", frozenset("bd"), statements={s: f"think of {s}." for s in "abcd"}
)
PAIR = Exercise("2.1", "Pair", "2.2", lambda x: (x + 1.0, x * x), ((2.0,), (3.0,)))
REGISTRY = {e.number: e for e in (SQUARE, TRUTHS, PAIR)}


def say(answer: Any, number: str = "1.1") -> str:
    return Session(REGISTRY).check(number, answer).message


def test_a_number_is_compared_by_its_own_size_and_zero_by_the_largest_beside_it() -> None:
    want = np.array([0.0, 1e-3, 1e6])
    assert close(want * (1 + 2e-5) + np.array([0.5, 0, 0]), want, 3e-5, 1e-6)
    assert not close(want + np.array([2.0, 0, 0]), want, 3e-5, 1e-6)
    assert not close(want + np.array([0, 1e-6, 0]), want, 3e-5, 1e-6)
    assert not close(want * (1 + 4e-5), want, 3e-5, 1e-6)
    assert close(np.array([np.inf, -np.inf]), np.array([np.inf, -np.inf]), 3e-5, 1e-6)
    assert not close(np.array([np.inf]), np.array([-np.inf]), 3e-5, 1e-6)
    assert close(np.zeros(2), np.zeros(2), 3e-5, 1e-6)
    assert not close(np.full(2, np.nan), np.full(2, np.nan), 3e-5, 1e-6)


def test_nan_is_named_only_where_the_mistake_makes_it() -> None:
    assert say(lambda x: np.full(np.shape(x), np.nan)).startswith("✗ 1.1 for x=[0 2 -3] your")
    assert say(lambda x: np.sqrt(x)).startswith("✗ 1.1 root: ")
    assert "root" not in say(lambda x: np.where(np.asarray(x) < 0, np.nan, 7.0 * x))


def test_every_face_of_a_mistake_is_named_and_no_face_explains_a_part() -> None:
    assert say(lambda x: np.abs(x) ** 3).startswith("✗ 1.1 cube: ")
    assert "cube" not in say(lambda x: x**3 if np.ndim(x) == 0 else np.abs(x) ** 2.5)


def test_a_mistake_that_another_explains_as_well_is_not_named() -> None:
    two = mistakes("a: .", lambda x: 2 * x, "b: .", lambda x: x + x)
    shared = Exercise("1.1", "", "1.4", SQUARE.reference, SQUARE.cases, two)
    message = Session({"1.1": shared}).check("1.1", lambda x: 2 * x).message
    assert message == "✗ 1.1 for x=[0 2 -3] expected [0 4 9], got [0 4 -6]. Read section 1.4."


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: 1.5, "expected shape (3,), got one number."),
        (lambda x: "text", "expected shape (3,), and your function returned 'text'."),
        (lambda x: "4.0", "expected shape (3,), and your function returned '4.0'."),
        (lambda x: 1j * x, "expected shape (3,), and your function returned array(["),
        (lambda x: [[1.0], [1.0, 2.0]], "your function returned [[1.0], [1.0, 2.0]]."),
        (
            lambda x: -(x**2),
            "wrong sign: the sign is wrong everywhere. For x=[0 2 -3] expected [0 4 9], got",
        ),
        (lambda x: x**2 if np.ndim(x) else None, "does every way through it return?"),
        (lambda x: x**2 * np.where(x == 5.0, 1.1, 1.0), "for x=5 expected 25, got 27.5."),
        (lambda x: x**2 * (1 + 1e-4), "expected [0 4 9], got [0 4.0004 9.0009]."),
        (lambda: 1.0, "your function raised TypeError"),
        (lambda x: x.__imul__(2.0), "your function changed its argument; work on a copy"),
        (3.0, "expected a function, got 3.0."),
    ],
)
def test_what_no_known_mistake_explains_is_said_as_it_is(answer: Any, said: str) -> None:
    assert said in say(answer)


def test_six_equal_figures_become_more() -> None:
    message = say(lambda x: x**2 * (1 + 4e-5 * (np.ndim(x) == 0)))
    assert "for x=5 expected 25, got 25.001." in message
    exact = Exercise("1.1", "", "1.4", lambda x: x, ((3.0,),), rtol=1e-12)
    message = Session({"1.1": exact}).check("1.1", lambda x: x * (1 + 1e-9)).message
    assert "expected 3, got 3.000000003" in message


def test_two_long_arrays_that_look_alike_are_told_apart_by_a_place() -> None:
    doubled = Exercise("1.1", "", "1.4", lambda x: 2 * x, ((np.arange(10.0),),))
    session = Session({"1.1": doubled})

    def at_three(x: Any) -> Any:
        return 2 * x + (x == 3)

    assert ", at index 3, expected 6, got 7." in session.check("1.1", at_three).message
    table = Exercise("1.1", "", "1.4", lambda x: 2 * x, ((np.arange(25.0).reshape(5, 5),),))
    said = Session({"1.1": table}).check("1.1", lambda x: 2 * x + 1e-3 * (x == 12)).message
    assert ", at index 2, 2, expected 24, got 24.001." in said
    zeros = session.check("1.1", lambda x: np.where(x == 3, 5.0, -2 * x * 0.0 + 2 * x)).message
    assert "-0" not in zeros and ", at index 3, expected 6, got 5." in zeros


def test_where_a_pair_is_expected_the_sentence_says_so() -> None:
    assert say(lambda x: x + 1.0, "2.1").endswith("expected a pair of numbers, got one number.")
    both = Exercise("1.1", "", "1.4", lambda x: (x, x * x), ((np.arange(3.0),),))
    message = Session({"1.1": both}).check("1.1", lambda x: x).message
    assert message.endswith("expected a pair, each shape (3,), got shape (3,).")


def test_the_line_of_the_learner_that_raised_is_said() -> None:
    def helper(x: Any) -> Any:
        return np.linalg.inv(np.zeros((2, 2)))  # raised inside NumPy, called from here

    line = helper.__code__.co_firstlineno + 1
    said = say(lambda x: helper(x))
    assert "raised LinAlgError: Singular matrix" in said
    assert f", in line {line}: `return np.linalg.inv(np.zeros((2, 2)))" in said


def test_of_a_graph_the_line_of_the_learner_is_said_and_not_tensorflow_s() -> None:
    import tensorflow as tf

    @tf.function  # type: ignore[untyped-decorator]
    def mine(x: Any) -> Any:
        tf.reduce_sum(x)
        return tf.constant([1.0, 2.0, 3.0]) * tf.ones([2], tf.float64)

    said = say(mine)
    assert "your function raised TypeError: Input 'y' of 'Mul' Op has type float64" in said
    line = mine.python_function.__code__.co_firstlineno + 3
    assert said.endswith(
        f", in line {line}: `return tf.constant([1.0, 2.0, 3.0]) * tf.ones([2], tf.float64)`."
    )
    assert "\n" not in said and "user code" not in said


def test_of_arguments_that_would_fill_the_message_the_shape_is_said() -> None:
    worlds = np.arange(96.0).reshape(2, 3, 4, 4)
    ragged = tuple((np.arange(20.0), np.arange(30.0)) for _ in range(5))
    many = Exercise("1.1", "", "1.4", lambda x, y, s: 1.0, ((worlds, ragged, 0.5),))
    message = Session({"1.1": many}).check("1.1", lambda *_: 2.0).message
    assert message.startswith("✗ 1.1 for x of shape (2, 3, 4, 4), y of 5 parts, s=0.5 expected 1,")


def judged(answer: Any, width: float) -> str:
    if answer <= 0:
        return "not above 0"
    return "" if 1 < answer / width < 9 else "too low" if answer < width else "too high"


JUDGED = Exercise(
    "1.1",
    "",
    "1.4",
    lambda width: 4.321 * width,
    ((1.0,), (2.0,), (4.0,)),
    judge=judged,
    faults=("not above 0: it is.", "too low: more.", "all alike: look at each."),
    fatal=("not above 0",),
    overall=lambda found: "all alike" if len(set(map(float, found))) == 1 else "",
)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda width: 8.9 * width, "right."),
        (lambda width: 0.5 * width, "too low: more. Read section 1.4."),
        (lambda width: 3.0 if width < 4 else 1.0, "too low: more. Read section 1.4."),
        (lambda width: 9.5, "all alike: look at each. Read section 1.4."),
        (lambda width: width - 1.0, "not above 0: it is. Read section 1.4."),
        (lambda width: 30.0 if width < 4 else 1.0, "for width=1 your answer, 30, does not do"),
        (lambda width: -5.0 * width, "not above 0: it is."),
        (lambda width: np.nan, "for width=1 your answer contains NaN. Read section 1.4."),
        (lambda width: np.inf, "for width=1 your answer contains an infinite value."),
        (lambda width: [1.0, 2.0], "for width=1 expected one number, got shape (2,)."),
    ],
)
def test_a_fault_is_named_if_all_cases_share_it_or_it_is_fatal(answer: Any, said: str) -> None:
    """No message quotes the reference: other answers are as right."""
    found = Session({"1.1": JUDGED}).check("1.1", answer).message
    assert said in found and "4.3" not in found and "17.2" not in found


def scaled(x: Any, s: float, n: int) -> Any:
    return np.sum(x) / s**2 + np.log(s) + n


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x, s, n: 2 * scaled(x, s, n), "twice as much: "),
        (lambda x, s, n: scaled(x, s, n) / np.log(2), "another logarithm: "),
        (lambda x, s, n: scaled(x, s, n) ** 2, "the square: "),
        (lambda x, s, n: 1 / scaled(x, s, n), "upside down: "),
        (lambda x, s, n: scaled(x, s, n) / len(x), "mean for sum: "),
        (lambda x, s, n: 0.3 * scaled(x, s, n), "another factor: yours is 0.3 times"),
        (lambda x, s, n: scaled(x, s, n) - 1.5, "another constant: yours is -1.5 beside"),
        (lambda x, s, n: scaled(x, np.sqrt(s), n), "s for s²: "),
        (lambda x, s, n: scaled(x, s**2, n), "s² for s: "),
        (lambda x, s, n: scaled(x, 1 / s, n), "1/s for s: "),
        (lambda x, s, n: scaled(x, s + 1e-8, n), "a small number added to s: "),
        (lambda x, s, n: scaled(x, 1.0, n), "s taken as 1: "),
        (lambda x, s, n: scaled(-x, s, n), "the sign of x: "),
        (lambda x, s, n: scaled(x, s, n - 1) - np.log(s), "for x=[1 2 4], s=0.5, n=3 expected"),
        (lambda x, s, n: scaled(x, s, n) + (n > 3), "for x=[3], s=3, n=7 expected"),
    ],
)
def test_a_common_slip_is_named_if_it_explains_every_case(answer: Any, said: str) -> None:
    cases = (
        (np.array([1.0, 2.0, 4.0]), 0.5, 3),
        (np.array([3.0]), 3.0, 7),
        (np.array([0.5, 0.7]), 1e-5, 2),
    )
    sums = Exercise("1.1", "", "1.4", scaled, cases)
    message = Session({"1.1": sums}).check("1.1", answer).message
    assert message.startswith(f"✗ 1.1 {said}") and " expected " in message


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: (x * x, x + 1.0), "the other way round: "),
        (lambda x: (x + 1.0, x), "the root in the second part: "),
        (lambda x: (1 / (x + 1.0), x * x), "upside down in the first part: "),
    ],
)
def test_a_slip_in_one_part_of_a_pair_is_named(answer: Any, said: str) -> None:
    assert say(answer, "2.1").startswith(f"✗ 2.1 {said}")


def test_a_slip_that_gives_the_right_numbers_here_is_not_named() -> None:
    ones = Exercise("1.1", "", "1.4", lambda x: x, ((1.0,), (1.0,)))
    message = Session({"1.1": ones}).check("1.1", lambda x: 4.0).message
    assert message == "✗ 1.1 for x=1 expected 1, got 4. Read section 1.4."


def test_one_number_for_all_cases_is_no_slip() -> None:
    product = Exercise("1.1", "", "1.4", lambda x, s: x * s, ((2.0, 3.0), (4.0, 0.5)))
    message = Session({"1.1": product}).check("1.1", lambda x, s: 0.0).message
    assert message == "✗ 1.1 for x=2, s=3 expected 6, got 0. Read section 1.4."


def test_a_specific_mistake_goes_before_a_common_slip() -> None:
    known = replace(SQUARE, mistakes=mistakes("minus: no.", lambda x: -np.square(x)))
    assert "✗ 1.1 minus: no." in Session({"1.1": known}).check("1.1", lambda x: -(x**2)).message


def test_what_an_answer_prints_is_shown_for_one_run(capsys: pytest.CaptureFixture[str]) -> None:
    def mine(x: Any) -> Any:
        print("my x is", x)
        return x**2

    assert Session(REGISTRY).check("1.1", mine)
    assert capsys.readouterr().out == "my x is [ 0.  2. -3.]\n✓ 1.1 right.\n"


def test_an_answer_may_call_the_package_and_the_line_is_still_the_learner_s() -> None:
    from bdl_teach import metrics

    def mine(x: Any) -> Any:
        return metrics.rmse(x, "nonsense")

    assert f"in line {mine.__code__.co_firstlineno + 1}: `return metrics.rmse" in say(mine)


@pytest.mark.parametrize(
    "argument",
    [
        (np.ones(2), (3.0, np.ones(3))),
        ([1.0], [2.0, 3.0]),
        (np.array([np.nan, 1.0]), float("nan")),
        ("words", None, np.sum),
    ],
)
def test_no_argument_makes_every_answer_right(argument: Any) -> None:
    first = Exercise("1.1", "", "1.4", lambda x: len(x), ((argument,),))
    session = Session({"1.1": first})
    assert session.check("1.1", lambda x: len(x))
    assert not session.check("1.1", lambda x: len(x) + 1.0)


def test_a_ragged_argument_is_written_part_by_part() -> None:
    first = Exercise("1.1", "", "1.4", lambda x: x[0], (((1.0, (np.ones(2), [2.0])),),))
    message = Session({"1.1": first}).check("1.1", lambda x: 3.0).message
    assert "for x=(1, ([1 1], [2])) expected 1, got 3." in message


def test_a_change_deep_in_an_argument_is_seen() -> None:
    nested = Exercise("1.1", "", "1.4", lambda x: x[0], (((1.0, (np.ones(2), [2.0])),),))
    session = Session({"1.1": nested})

    def doubles(x: Any) -> Any:
        x[1][0][1] *= 2
        return x[0]

    def appends(x: Any) -> Any:
        x[1][1].append(3.0)
        return x[0]

    for answer in (doubles, appends):
        assert "your function changed its argument" in session.check("1.1", answer).message


def test_an_answer_that_ends_python_is_a_sentence() -> None:
    assert "your function raised SystemExit" in say(lambda x: exit())


def test_a_column_is_no_vector() -> None:
    assert "expected shape (3,), got shape (3, 1)" in say(lambda x: np.square(x)[..., None])


def test_a_part_that_is_missing_is_met_as_a_stub() -> None:
    assert say(lambda x: (x + 1.0, ...), "2.1").startswith("· 2.1 nothing to check yet")


def test_statements_are_counted_first_and_named_after_the_second_wrong_answer() -> None:
    session = Session(REGISTRY)
    first = session.check("1.2", "a").message
    assert first.startswith("✗ 1.2 3 statements are judged wrongly, of 4.")
    assert "think of" not in first and "Read section 1.5." in first
    second = session.check("1.2", "ab").message
    for said in ("statement a is not true: think of a.", "statement d was left out: think of d."):
        assert said in second
    assert "statement b" not in second
    assert (
        Session(REGISTRY)
        .check("1.2", {"a", "b", "d"})
        .message.startswith("✗ 1.2 1 statement is judged")
    )


def test_letters_of_another_keyboard_are_those_that_they_look_like() -> None:
    wide, cyrillic = "\uff42\u3001\uff44", {"\u0412", "d"}
    for answer in (wide, cyrillic):
        assert say(answer, "1.2") == "✓ 1.2 right."
    assert "1 statement is" in say({"\u0430", "b", "d"}, "1.2")
    assert "expected a set of letters" in say("\u0434", "1.2")  # looks like no Latin letter


def test_a_worked_solution_or_a_stub_is_no_try() -> None:
    session = Session(REGISTRY)
    session.check("1.2", "a", record=False)
    session.check("1.2", ...)
    assert "1 statement is" in session.check("1.2", "d").message


@pytest.mark.parametrize(
    "answer",
    [
        "bd",
        "b, d",
        "B D",
        "b;d",
        {"(b)", "d."},
        ["b", "d"],
        ("d", "b"),
        {"a": False, "b": 1, "d": 1},
    ],
)
def test_letters_may_come_in_any_form(answer: Any) -> None:
    assert say(answer, "1.2") == "✓ 1.2 right."


@pytest.mark.parametrize("answer", ["b and d", "be", 3, {"b", "z"}, "true"])
def test_what_is_no_letter_is_said(answer: Any) -> None:
    assert "expected a set of letters out of a, b, c, d, got" in say(answer, "1.2")


@pytest.mark.parametrize("number", [1.1, 3.10, 10.1, 3, None])
def test_a_number_that_is_not_text_is_refused(number: Any) -> None:
    with pytest.raises(ValueError, match=r'expected text such as "3\.10", got .*3\.10 is 3\.1'):
        exercises.check(number, lambda x: x)


# What was solved outlives the kernel.


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "new folder" / "progress.json"


def session_of(file: Path) -> Session:
    return Session(REGISTRY, Progress(file))


def test_another_session_knows_what_was_solved_and_how_often_it_was_tried(file: Path) -> None:
    before = session_of(file)
    before.check("1.1", np.square)
    before.check("1.2", "a")
    after = session_of(file)
    assert [line[0] for line in after.table().splitlines()[:3]] == ["✓", "✗", "·"]
    assert "statement a is not true" in after.check("1.2", "a").message
    assert after.table(1).endswith("solved 1 of 2")


def test_two_notebooks_do_not_take_each_other_s_progress_away(file: Path) -> None:
    one, other = session_of(file), session_of(file)
    one.check("1.1", np.square)
    other.check("1.2", "bd")
    one.check("2.1", PAIR.reference)
    assert session_of(file).table().endswith("solved 3 of 3")


def test_what_is_solved_stays_solved_until_it_is_forgotten(file: Path) -> None:
    session = session_of(file)
    for answer in (np.square, lambda x: 2 * x, ...):
        session.check("1.1", answer)
    session.check("2.1", PAIR.reference)
    assert session_of(file).table().endswith("solved 2 of 3")
    assert session.reset(1) == "Forgotten: 1 solved of 2."
    assert session_of(file).table().endswith("solved 1 of 3")
    assert session.reset() == "Forgotten: 1 solved of 3."
    assert session_of(file).table().endswith("solved 0 of 3")
    with pytest.raises(ValueError, match="chapter: expected one of 1, 2, got 9"):
        session.reset(9)


def test_missions_are_counted_in_a_line_of_their_own_and_forgotten_with_all(file: Path) -> None:
    ids = ("lift-high", "lift-low")
    session = Session(REGISTRY, Progress(file), lambda: ids)
    assert session.table().endswith("\nsolved 0 of 3\nmissions: 0 of 2")
    Progress(file).add("lift-high", record.SOLVED)  # an explorer's, perhaps another kernel's
    session.check("1.1", np.square)
    assert session.table().endswith("\nsolved 1 of 3\nmissions: 1 of 2")
    assert session.table(1).endswith("\nsolved 1 of 2"), "no chapter has them for its own"
    assert session.reset(1) == "Forgotten: 1 solved of 2."
    assert session.table().endswith("missions: 1 of 2")
    assert session.reset() == "Forgotten: 0 solved of 3, and 1 of 2 missions."
    assert session.table().endswith("missions: 0 of 2")


def test_an_explorer_s_thread_and_the_notebook_s_lose_nothing_of_each_other(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress, writing, go_on = Progress(file), threading.Event(), threading.Event()
    write = Progress._write

    def slowly(self: Progress) -> None:
        writing.set()
        assert go_on.wait(20.0)
        write(self)

    monkeypatch.setattr(Progress, "_write", slowly)
    one = threading.Thread(target=progress.add, args=("lift-high", record.SOLVED), daemon=True)
    other = threading.Thread(target=progress.add, args=("1.1", record.SOLVED), daemon=True)
    one.start()
    assert writing.wait(20.0)
    other.start()
    other.join(0.1)  # without a lock it would have read what is not written yet
    go_on.set()
    for thread in (one, other):
        thread.join(20.0)
    assert Progress(file).marks() == {"lift-high": "✓", "1.1": "✓"}


def test_the_learner_s_record_is_one_object_for_checks_and_missions() -> None:
    assert record.own() is record.own() is exercises.SESSION._progress


def test_stubs_leave_no_file(file: Path) -> None:
    session_of(file).check("1.1", ...)
    session_of(file).check("1.1", np.square, record=False)
    assert not file.exists()


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        "3",
        "null",
        '{"1.1": 3}',
        '{"1.1": ["?", 0]}',
        '{"1.1": ["✓", "x"]}',
        '{"numbering": 2}',
        '{"numbering": 2, "tried": []}',
        '{"numbering": 2, "tried": {"1.1": 3}}',
        '{"numbering": 3, "tried": {}}',
    ],
)
def test_a_damaged_file_is_put_aside_and_said_once(
    file: Path, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file.parent.mkdir()
    file.write_text(text, encoding="utf-8")
    session = session_of(file)
    session.check("1.1", np.square)
    assert capsys.readouterr().out.count("was no record of yours; it is now") == 1
    assert file.with_suffix(".damaged").read_text(encoding="utf-8") == text
    assert session_of(file).table().endswith("solved 1 of 3")


def test_a_folder_that_cannot_be_written_costs_no_answer(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(record, "write_whole", refuse)
    session = session_of(file)
    assert session.check("1.1", np.square)
    assert session.check("1.2", "bd")
    assert capsys.readouterr().out.count("cannot be written: Permission denied") == 1
    assert session.table().endswith("solved 2 of 3"), "in this session it counts"


@pytest.mark.skipif(os.name == "nt", reason="Windows has no named pipes in folders")
@pytest.mark.parametrize("kind", ["mkdir", "mkfifo"])
def test_nothing_is_put_in_the_place_of_what_is_no_file(tmp_path: Path, kind: str) -> None:
    special = tmp_path / "special"
    getattr(os, kind)(special)
    session = session_of(special)
    assert session.check("1.1", np.square)
    assert not special.is_file() and list(tmp_path.iterdir()) == [special]
    assert session.table().endswith("solved 1 of 3")


def test_a_break_while_writing_leaves_the_old_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = session_of(file)
    session.check("1.1", np.square)
    held = file.read_text(encoding="utf-8")

    def stop(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", stop)
        with pytest.raises(KeyboardInterrupt):
            session.check("1.2", "bd")
    assert file.read_text(encoding="utf-8") == held
    assert set(file.parent.iterdir()) == {file, file.with_suffix(".lock")}
    assert json.loads(held) == {"numbering": 2, "tried": {"1.1": ["✓", 0]}}


def test_chapter_10_is_not_chapter_1_and_its_tenth_exercise_not_its_first(file: Path) -> None:
    registry = {n: replace(SQUARE, number=n) for n in ("1.1", "10.1", "10.10")}
    session = Session(registry, Progress(file))
    session.check("10.10", np.square)
    assert session.table(1).splitlines() == ["· 1.1   Square", "solved 0 of 1"]
    assert session.table(10).splitlines() == ["· 10.1  Square", "✓ 10.10 Square", "solved 1 of 2"]
    assert session.reset(1) == "Forgotten: 0 solved of 1."
    assert session.reset(10) == "Forgotten: 1 solved of 2."


def test_what_was_solved_under_an_old_number_counts_for_the_same_exercise(file: Path) -> None:
    old = {"1.1": 0, "3.10": 1, "4.3": 2, "5.3": 3, "6.9": 4, "7.8": 5, "7.10": 6}
    file.parent.mkdir()
    file.write_text(json.dumps({n: ["✓", wrong] for n, wrong in old.items()}), encoding="utf-8")
    now = {"1.1": 0, "3.10": 1, "5.3": 2, "6.3": 3, "7.9": 4, "10.8": 5, "10.10": 6}
    for _ in range(2):  # also from the file as it is written now: nothing moves twice
        progress = Progress(file)
        assert list(progress.marks()) == list(now)
        assert {number: progress.tries(number) for number in now} == now
        assert progress.tries("4.3") == 0, "no exercise that is new counts as tried"
        progress.forget([])


def test_the_file_is_the_one_named_or_in_the_user_s_data_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(VARIABLE, "here.json")
    assert place() == tmp_path / "here.json"
    monkeypatch.setenv(VARIABLE, "")
    assert place() is None
    monkeypatch.delenv(VARIABLE)
    found = place()
    assert found is not None and found.is_absolute()
    assert "bdl_teach" in found.parts and found.name == "progress.json"


def test_progress_and_reset_are_the_learner_s_own(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(exercises, "SESSION", Session(exercises.REGISTRY, Progress(file)))
    exercises.check("1.4", exercises.REGISTRY["1.4"].reference)
    exercises.progress(1)
    assert "✓ 1.4 " in capsys.readouterr().out
    exercises.reset(1)
    exercises.progress(1)
    assert "✓" not in capsys.readouterr().out


def test_every_mission_of_every_explorer_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    explorers = [getattr(widgets, name) for name in widgets.__all__]
    ids = [mission.id for explorer in explorers for mission in explorer.MISSIONS]
    assert sorted(exercises.missions()) == sorted(set(ids))
    monkeypatch.setattr(exercises, "SESSION", Session(REGISTRY, Progress(), exercises.missions))
    assert exercises.SESSION.table().endswith(f"missions: 0 of {len(ids)}")
