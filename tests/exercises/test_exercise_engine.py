"""The engine that judges answers, on small made-up exercises."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from bdl_teach import exercises, widgets
from bdl_teach.exercises import _engine
from bdl_teach.exercises._engine import Choice, Exercise, Session, mistakes
from bdl_teach.exercises._outcomes import close
from bdl_teach.progress import SOLVED, Progress

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


def asked(reference: Any, *cases: Any, answer: Any, **options: Any) -> str:
    """Return the message for an answer to a made-up exercise."""
    made = Exercise("1.1", "", "1.4", reference, cases, **options)
    return Session({"1.1": made}).check("1.1", answer).message


def test_tolerance_is_relative_and_for_zeros_relative_to_the_largest_value() -> None:
    want = np.array([0.0, 1e-3, 1e6])
    assert close(want * (1 + 2e-5) + np.array([0.5, 0, 0]), want, 3e-5, 1e-6)
    for off in (want + [2.0, 0, 0], want + [0, 1e-6, 0], want * (1 + 4e-5)):
        assert not close(off, want, 3e-5, 1e-6)
    assert close(np.array([np.inf, -np.inf]), np.array([np.inf, -np.inf]), 3e-5, 1e-6)
    assert not close(np.array([np.inf]), np.array([-np.inf]), 3e-5, 1e-6)


def helper(x: Any) -> Any:
    return np.linalg.inv(np.zeros((2, 2)))  # raised inside NumPy, called from here


def in_line(function: Any) -> str:
    return f", in line {function.__code__.co_firstlineno + 1}: `return "


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        # a known mistake that explains every case
        (lambda x: np.sqrt(x), "✗ 1.1 root: "),
        (lambda x: np.abs(x) ** 3, "✗ 1.1 cube: "),
        (lambda x: x**3 if np.ndim(x) == 0 else np.abs(x) ** 2.5, "✗ 1.1 for x=[0 2 -3] expected"),
        # no known mistake explains the answer
        (lambda x: np.full(np.shape(x), np.nan), "✗ 1.1 for x=[0 2 -3] your answer contains NaN"),
        (lambda x: 1.5, "expected shape (3,), got one number."),
        (lambda x: "4.0", "expected shape (3,), and your function returned '4.0'."),
        (lambda x: [[1.0], [1.0, 2.0]], "your function returned [[1.0], [1.0, 2.0]]."),
        (lambda x: x**2 if np.ndim(x) else None, "does every way through it return?"),
        (lambda x: x**2 * (1 + 4e-5 * (np.ndim(x) == 0)), "for x=5 expected 25, got 25.001."),
        (lambda x: x.__imul__(2.0), "your function changed its argument; work on a copy"),
        (lambda: 1.0, "your function raised TypeError"),
        (lambda x: exit(), "your function raised SystemExit"),
        (lambda x: helper(x), f"raised LinAlgError: Singular matrix{in_line(helper)}np.linalg.inv"),
        (3.0, "expected a function, got 3.0."),
    ],
)
def test_feedback_names_known_mistake_or_first_differing_case(answer: Any, said: str) -> None:
    assert said in say(answer)


def test_no_mistake_is_named_if_two_explain_the_answer() -> None:
    two = mistakes("a: .", lambda x: 2 * x, "b: .", lambda x: x + x)
    message = asked(SQUARE.reference, *SQUARE.cases, answer=lambda x: 2 * x, mistakes=two)
    assert message == "✗ 1.1 for x=[0 2 -3] expected [0 4 9], got [0 4 -6]. Read section 1.4."


def test_feedback_quotes_the_differing_element_of_long_arrays() -> None:
    def double(x: Any) -> Any:
        return 2 * x

    table = np.arange(25.0).reshape(5, 5)
    said = asked(double, (table,), answer=lambda x: 2 * x + 1e-3 * (x == 12))
    assert ", at index 2, 2, expected 24, got 24.001." in said


def test_feedback_says_if_a_pair_is_expected() -> None:
    assert " expected a pair of numbers, got one number. Read" in say(lambda x: x + 1.0, "2.1")
    said = asked(lambda x: (x, x * x), (np.arange(3.0),), answer=lambda x: x)
    assert " expected a pair, each shape (3,), got shape (3,). Read" in said
    assert say(lambda x: (x + 1.0, ...), "2.1").startswith("· 2.1 nothing to check yet")


def test_error_in_tensorflow_graph_names_the_learner_s_line() -> None:
    import tensorflow as tf

    @tf.function  # type: ignore[untyped-decorator]
    def mine(x: Any) -> Any:
        return tf.constant([1.0, 2.0, 3.0]) * tf.ones([2], tf.float64)

    said = say(mine)
    assert "your function raised TypeError: Input 'y' of 'Mul' Op has type float64" in said
    line = mine.python_function.__code__.co_firstlineno + 2
    assert f", in line {line}: `return tf.constant([1.0, 2.0, 3.0])" in said
    assert "\n" not in said and "user code" not in said


def test_feedback_shows_long_arguments_by_their_shape() -> None:
    worlds = np.arange(96.0).reshape(2, 3, 4, 4)
    ragged = tuple((np.arange(20.0), np.arange(30.0)) for _ in range(5))
    message = asked(lambda x, y, s: 1.0, (worlds, ragged, 0.5), answer=lambda *_: 7.25)
    assert message.startswith("✗ 1.1 for x of shape (2, 3, 4, 4), y of 5 parts, s=0.5 expected 1,")


def judged(answer: Any, width: float) -> str:
    if answer <= 0:
        return "not above 0"
    return "" if 1 < answer / width < 9 else "too low" if answer < width else "too high"


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda width: 8.9 * width, "right."),
        (lambda width: 0.5 * width, "too low: more. Read section 1.4."),
        (lambda width: 3.0 if width < 4 else 1.0, "too low: more. Read section 1.4."),
        (lambda width: 9.5, "all alike: look at each. Read section 1.4."),
        (lambda width: 1.5 if width < 2 else width - 9.0, "not above 0: it is."),
        (lambda width: 30.0 if width < 4 else 1.0, "for width=1 your answer, 30, does not do"),
        (lambda width: np.nan, "for width=1 your answer contains NaN. Read section 1.4."),
        (lambda width: [1.0, 2.0], "an axis too many: axis 0 of yours, of length 2, is to go."),
    ],
)
def test_feedback_names_first_fault_without_quoting_a_right_answer(answer: Any, said: str) -> None:
    found = asked(
        lambda width: 4.321 * width,
        *((1.0,), (2.0,), (4.0,)),
        answer=answer,
        judge=judged,
        faults={"not above 0": "it is.", "too low": "more.", "all alike": "look at each."},
        overall=lambda found: "all alike" if len(set(map(float, found))) == 1 else "",
    )
    assert said in found and "4.3" not in found and "17.2" not in found


def scaled(x: Any, s: float, n: int) -> Any:
    return np.sum(x) / s**2 + np.log(s) + n


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x, s, n: -scaled(x, s, n), "wrong sign: "),
        (lambda x, s, n: 2 * scaled(x, s, n), "twice as much: "),
        (lambda x, s, n: scaled(x, s, n) / np.log(2), "another logarithm: "),
        (lambda x, s, n: 1 / scaled(x, s, n), "upside down: "),
        (lambda x, s, n: scaled(x, s, n) / len(x), "mean for sum: "),
        (lambda x, s, n: x / s**2 + (np.log(s) + n) / len(x), "the sum is missing: "),
        (lambda x, s, n: 0.3 * scaled(x, s, n), "another factor: yours is 0.3 times"),
        (lambda x, s, n: scaled(x, s, n) - 1.5, "another constant: yours is -1.5 beside"),
        (lambda x, s, n: scaled(x, np.sqrt(s), n), "s for s²: "),
        (lambda x, s, n: scaled(x, 1 / s, n), "1/s for s: "),
        (lambda x, s, n: scaled(x, s + 1e-8, n), "a small number added to s: "),
        (lambda x, s, n: scaled(x, 1.0, n), "s taken as 1: "),
        (lambda x, s, n: scaled(-x, s, n), "the sign of x: "),
        (lambda x, s, n: scaled(x, s, n - 1) - np.log(s), "for x=[1 2 4], s=0.5, n=3 expected"),
        (lambda x, s, n: scaled(x, s, n) + (n > 3), "for x=[3], s=3, n=7 expected"),
    ],
)
def test_common_mistake_is_named_if_it_explains_every_case(answer: Any, said: str) -> None:
    cases = (
        (np.array([1.0, 2.0, 4.0]), 0.5, 3),
        (np.array([3.0]), 3.0, 7),
        (np.array([0.5, 0.7]), 1e-5, 2),
    )
    message = asked(scaled, *cases, answer=answer)
    assert message.startswith(f"✗ 1.1 {said}") and " expected " in message


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: np.log(np.exp(x)), "underflow: "),
        (lambda x: np.maximum(x, -700.0), "for x=-800 expected -800, got -700."),
    ],
)
def test_feedback_names_log_of_underflowed_value(answer: Any, said: str) -> None:
    assert asked(lambda x: x, (-3.0,), (-800.0,), answer=answer).startswith(f"✗ 1.1 {said}")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: (x * x, x + 1.0), "the other way round: "),
        (lambda x: (1 / (x + 1.0), x * x), "upside down in the first part: "),
    ],
)
def test_common_mistake_in_one_part_of_a_pair_is_named(answer: Any, said: str) -> None:
    assert say(answer, "2.1").startswith(f"✗ 2.1 {said}")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda x: np.sort(x)[::-1], "values for places: "),
        (lambda x: np.argsort(-x, axis=0)[:2], "for x="),
        (
            lambda x: np.stack([np.argsort(-x)] * 2),
            "an axis too many: axis 0 of yours, of length 2,",
        ),
        (lambda x: 1.0, "one for all: "),
    ],
)
def test_shape_or_kind_of_a_wrong_answer_is_named(answer: Any, said: str) -> None:
    def order(x: Any) -> Any:
        return np.argsort(-x)

    cases = ((np.array([0.1, 0.7, 0.4]),), (np.array([0.9, 0.2, 0.5, 0.6]),))
    assert asked(order, *cases, answer=answer).startswith(f"✗ 1.1 {said}")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda width: width**2, "the square: "),
        (lambda width: np.log(width), "a logarithm: "),
        (lambda width: 0.51 * width, "half of the width: "),
        (lambda width: 0.3 * width, "too low: more"),
    ],
)
def test_slip_in_a_measured_answer_is_named_before_its_outcome(answer: Any, said: str) -> None:
    found = asked(
        lambda width: width,
        *((3.0,), (20.0,), (50.0,)),
        answer=answer,
        judge=lambda a, width: "" if 0.9 < a / width < 1.1 else "too low",
        faults={"too low": "more."},
        is_measured=True,
        mistakes=mistakes("half of the width: measure both sides.", lambda width: width / 2),
    )
    assert found.startswith(f"✗ 1.1 {said}")


def labels(x: Any) -> Any:
    return x % 3


def shares(x: Any) -> Any:
    return softmax(x)


def growth(x: Any) -> Any:
    return np.log1p(np.abs(x))


def steps(x: Any) -> Any:
    return int(np.floor(3 * x)) + 1


def scatter(x: Any) -> Any:
    return x.T @ x


def price(s: Any, n: Any) -> Any:
    return 1 / (n * s)


ASKED: dict[Any, Any] = {
    labels: [(np.array([5, 1, 3, 2, 7, 6, 8]),)],
    shares: [(np.array([0.5, -3.0, 2.0]),), (np.array([1.0, -1.0, 4.0, 0.2]),)],
    growth: [(np.array([0.5, -3.0, 2.0]),), (2.0,)],
    steps: [(2.5,), (3.1,), (1.8,)],
    scatter: [(np.array([[4.0, 1.0], [1.0, 9.0], [0.0, 2.0]]),), (np.diag([2.5, 3.0]),)],
    price: [(0.4, 3.0), (2.1, 0.7), (0.3, 5.1)],
}


@pytest.mark.parametrize(
    ("reference", "answer", "said"),
    [
        (labels, lambda x: -x % 3, "labels exchanged: 1 is called 2, 2 is called 1. For"),
        (labels, lambda x: np.where(x == 7, 2, x % 3), "for x="),
        (labels, lambda x: ["no"] * 7, "for x=[5 1 3 2 7 6 8] expected numbers, not names, and"),
        (growth, lambda x: np.log1p(np.where(x < 0, np.nan, x)), "NaN where x < 0, by a root or a"),
        (growth, lambda x: growth(x) / (np.abs(x) < 3), "right, but not for every number: "),
        (shares, lambda x: np.exp(x - x.max()), "a factor that differs from case to case: what"),
        (shares, lambda x: np.exp(x - x.max()) + 0.1, "for x="),
        (steps, lambda x: round(3 * x), "one too few in some cases, right in others: which way"),
        (steps, lambda x: steps(x) + (x > 3) - (x < 2), "for x="),
        (scatter, lambda x: x.T @ x / np.outer(*2 * [np.sum(x**2, 0) ** 0.5]), "a correlation for"),
        (scatter, lambda x: x.T @ x > 0, "truth values: return the values that are asked for."),
        (scatter, lambda x: (len(x) - 1.0) * np.eye(2), "for x="),
        (price, lambda s, n: 1 / (2 * n * s**3), "another factor: yours is divided by 2 s². For"),
    ],
)
def test_kind_of_a_wrong_answer_is_named_if_all_cases_show_it(
    reference: Any, answer: Any, said: str
) -> None:
    assert asked(reference, *ASKED[reference], answer=answer).startswith(f"✗ 1.1 {said}")


def test_second_feedback_sends_to_the_sections_of_the_misjudged_statements_alone() -> None:
    statements = {"a": "look at section 2.1.", "b": "think.", "c": "look at section 2.3."}
    made = Choice("1.2", "", "2.1, 2.2 and 2.3", frozenset("b"), statements=statements)
    assert made.find("bc", 0)[1].endswith("Read section 2.3.")
    assert made.find("bc", 1)[1] == "statement c is not true: look at section 2.3."
    assert made.find("c", 1)[1].endswith("Read sections 2.1, 2.2 and 2.3.")


def test_known_mistake_is_named_though_the_answer_breaks_elsewhere() -> None:
    """Where the wrong formula or the answer is no number, the other cases decide."""
    with_slip = mistakes("doubled: once.", lambda x: 2 * np.exp(x) / (x < 600))
    cases = ((1.0,), (2.0,), (650.0,))
    said = asked(np.exp, *cases, answer=lambda x: 2 * np.exp(x), mistakes=with_slip)
    assert said.startswith("✗ 1.1 doubled: ")


def test_constant_wrong_answer_is_not_called_a_common_mistake() -> None:
    message = asked(lambda x: x, (1.0,), (1.0,), answer=lambda x: 4.0)
    assert message == "✗ 1.1 for x=1 expected 1, got 4. Read section 1.4."


def test_output_printed_by_an_answer_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    def mine(x: Any) -> Any:
        print("my x is", x)
        return x**2

    assert Session(REGISTRY).check("1.1", mine)
    assert capsys.readouterr().out == "my x is [ 0.  2. -3.]\n✓ 1.1 right.\n"


def test_first_feedback_counts_wrong_statements_and_second_names_them() -> None:
    session = Session(REGISTRY)
    session.check("1.2", "a", record=False)  # a worked solution or a stub is no attempt
    session.check("1.2", ...)
    first = session.check("1.2", "a").message
    assert first.startswith("✗ 1.2 3 statements are judged wrongly, of 4.")
    assert "think of" not in first and "Read section 1.5." in first
    second = session.check("1.2", "ab").message
    for said in ("statement a is not true: think of a.", "statement d was left out: think of d."):
        assert said in second
    assert "statement b" not in second
    assert say({"a", "b", "d"}, "1.2").startswith("✗ 1.2 1 statement is judged")


WIDE, CYRILLIC = "\uff42\u3001\uff44", {"\u0412", "d"}  # letters of another keyboard


@pytest.mark.parametrize(
    "answer",
    [
        *("bd", "B, D", "b;d", {"(b)", "d."}, ["b", "d"], WIDE, CYRILLIC),
        {"a": False, "b": 1, "d": 1},
    ],
)
def test_answer_letters_are_accepted_as_text_list_set_or_mapping(answer: Any) -> None:
    assert say(answer, "1.2") == "✓ 1.2 right."


@pytest.mark.parametrize("answer", ["b and d", 3, {"b", "z"}, "\u0434"])
def test_invalid_letter_is_reported(answer: Any) -> None:
    assert "expected a set of letters out of a, b, c, d, got" in say(answer, "1.2")


@pytest.mark.parametrize("number", [3.10, 3, None])
def test_exercise_number_given_as_float_is_refused(number: Any) -> None:
    with pytest.raises(ValueError, match=r'expected text such as "3\.10", got .*3\.10 is 3\.1'):
        exercises.check(number, lambda x: x)


def marks(table: str) -> str:
    return "".join(line[0] for line in table.splitlines())


def test_new_session_knows_solved_exercises_and_attempts(tmp_path: Path) -> None:
    """Marks last until they are reset; chapter 10 is not chapter 1."""
    registry = {**REGISTRY, **{n: replace(SQUARE, number=n) for n in ("10.1", "10.10")}}
    before, after = (Session(registry, Progress(tmp_path / "new" / "p.json")) for _ in range(2))
    for answer in (..., np.square, lambda x: 2 * x, ...):
        before.check("1.1", answer)
    before.check("10.10", np.square)
    before.check("2.1", PAIR.reference, record=False)
    before.check("1.2", "a")
    assert "statement a is not true" in after.check("1.2", "a").message
    assert after.table(1).endswith("solved 1 of 2")
    assert marks(after.table()) == "✓✗··✓s"
    assert after.reset(1) == "Forgotten: 1 solved of 2."
    assert marks(before.table()) == "····✓s"
    assert before.reset() == "Forgotten: 1 solved of 5."
    for ask in (after.table, after.reset):
        with pytest.raises(ValueError, match="chapter: expected one of 1, 2, 10, got 9"):
            ask(9)


def test_missions_are_not_counted_as_exercises_but_reset_with_them(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "p.json")
    session = Session(REGISTRY, progress, lambda: ("lift-high", "lift-low"))
    progress.add("lift-high", SOLVED)
    session.check("1.1", np.square)
    assert session.table().endswith("\nsolved 1 of 3\nmissions: 1 of 2")
    assert session.table(1).endswith("\nsolved 1 of 2"), "missions belong to no chapter"
    assert session.reset(1) == "Forgotten: 1 solved of 2."
    assert session.reset() == "Forgotten: 0 solved of 3, and 1 of 2 missions."


def test_progress_and_reset_include_every_mission(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    explorers = [getattr(widgets, name) for name in widgets.__all__]
    ids = {mission.id for explorer in explorers for mission in explorer.MISSIONS}
    assert sorted(exercises.missions()) == sorted(ids)
    session = Session(exercises.REGISTRY, Progress(), exercises.missions)
    monkeypatch.setattr(exercises, "SESSION", session)
    exercises.check("1.4", exercises.REGISTRY["1.4"].reference)
    exercises.progress()
    said = capsys.readouterr().out
    assert "✓ 1.4 " in said and said.endswith(f"missions: 0 of {len(ids)}\n")
    exercises.reset(1)
    exercises.progress(1)
    assert "✓" not in capsys.readouterr().out


def test_answer_without_an_end_is_named_and_can_be_stopped(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_engine, "PATIENCE_S", 0.1)

    said = []

    def endless(x: Any) -> Any:
        if np.ndim(x):
            return np.square(x)
        time.sleep(1.0)
        said.append(capsys.readouterr().out)
        raise KeyboardInterrupt  # as the button does

    assert "stopped, no answer for x=5: does every loop" in say(endless)
    assert "no answer yet for x=5: it computes, as fits do for a while; if a loop" in said[0]
