"""A wrong answer is explained by one change of the right formula, or by none."""

import inspect
import re
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from bdl_teach import exercises
from bdl_teach.exercises import _changes
from bdl_teach.exercises._engine import Exercise


def squared(a: Any) -> Any:
    return np.sum(a**2, axis=-1)


def score(x: Any, s: Any, b: Any) -> Any:
    z = (x - b) / s
    return 0.5 * squared(z) + np.log(s) - expit(b) * b


CASES = (
    (np.array([1.0, 2.0, 4.0]), 0.5, 0.3),
    (np.array([3.0, -1.0]), 3.0, -1.2),
    (np.array([0.5]), 1.7, 2.0),
)
MADE = Exercise("1.1", "", "1.4", score, CASES)


def say(answer: Any, made: Exercise = MADE) -> str:
    return made.find(answer)[1]


def z(x: Any, s: Any, b: Any) -> Any:
    return (x - b) / s


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (
            "another term: yours is what is asked for − log s",
            lambda x, s, b: score(x, s, b) - np.log(s),
        ),
        ("a term is left out: look at b.", lambda x, s, b: score(x, s, b) + expit(b) * b),
        ("a sign is wrong: look at s and b.", lambda x, s, b: score(x, s, b) + 2 * expit(b) * b),
        ("a factor is left out", lambda x, s, b: score(x, s, b) + (b - 1) * expit(b)),
        (
            "a power is left out",
            lambda x, s, b: score(x, s, b) + 0.5 * np.sum(z(x, s, b) - z(x, s, b) ** 2),
        ),
        (
            "multiplied for divided",
            lambda x, s, b: score(x, s, b) + 0.5 * np.sum(((x - b) * s) ** 2 - z(x, s, b) ** 2),
        ),
        ("not the slope", lambda x, s, b: score(x, s, b) + (expit(b) - np.exp(b)) * b),
        ("exp for log: look at s.", lambda x, s, b: score(x, s, b) - np.log(s) + np.exp(s)),
        ("s for b", lambda x, s, b: score(x, s, b) + (expit(b) - expit(s)) * b),
        (
            "mean for sum",
            lambda x, s, b: score(x, s, b) + 0.5 * (1 / len(x) - 1) * squared(z(x, s, b)),
        ),
        (
            "a term is left out: look at b, and look at s.",
            lambda x, s, b: score(x, s, b) + expit(b) * b - np.log(s),
        ),
    ],
)
def test_one_change_that_explains_every_case_is_named(said: str, answer: Any) -> None:
    message = say(answer)
    assert message.startswith(said) and " expected " in message


def sd(x: Any, s: Any, b: Any) -> Any:
    return np.sqrt(x**2 @ x**2) + np.log(s / (b + 3)) + np.sqrt(s + b**2)


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        (
            "standard deviations added, not variances: look at x.",
            lambda x, s, b: sd(x, s, b) + np.abs(x) @ np.abs(x) - np.sqrt(x**2 @ x**2),
        ),
        (
            "standard deviations added, not variances: look at s and b.",
            lambda x, s, b: sd(x, s, b) + np.sqrt(s) + np.abs(b) - np.sqrt(s + b**2),
        ),
        (
            "a difference for the logarithm of a ratio: look at s and b.",
            lambda x, s, b: sd(x, s, b) + s - b - 3 - np.log(s / (b + 3)),
        ),
        (
            "clipped at a small number: look at s and b.",
            lambda x, s, b: sd(x, s, b) + np.log(np.maximum(s / (b + 3), 1e-9) / s * (b + 3)),
        ),
    ],
)
def test_change_of_a_sum_of_variances_or_of_a_logarithm_is_named(said: str, answer: Any) -> None:
    made = Exercise("1.1", "", "1.4", sd, (*CASES, (np.array([0.7]), 1e-12, 0.4)))
    assert say(answer, made).startswith(said)


@pytest.mark.parametrize(
    "answer",
    [
        lambda x, s, b: score(x, s, b) - np.log(s) * (len(x) > 1),  # right in the last case
        lambda x, s, b: score(x, s, b) - 1.001 * np.log(s),
        lambda x, s, b: score(x, s, b) * (1 + 0.01 * np.sin(s)),
    ],
)
def test_answer_that_no_change_explains_in_every_case_gets_no_name(answer: Any) -> None:
    assert say(answer).startswith("for x=")


def test_no_name_is_given_where_the_cases_do_not_tell_two_changes_apart() -> None:
    cases = ((2.0, 3.0, 3.0), (1.5, -4.0, -4.0))  # the second and third argument are equal
    made = Exercise("1.1", "", "1.4", lambda a, b, c: a * a + np.exp(b) - c**2, cases)
    assert say(lambda a, b, c: a * a + np.exp(b) - b**2, made) == "right."
    assert say(lambda a, b, c: a * a + np.exp(c) - 2 * b, made).startswith("a power")
    two = Exercise("1.1", "", "1.4", lambda a, b, c: a * a + b + 2 * c - c, cases)
    assert say(lambda a, b, c: a * a + c, two).startswith("for a=")


EXACT = [
    exercise
    for exercise in exercises.REGISTRY.values()
    if not isinstance(exercise, exercises.Choice) and exercise.is_exact
]


@pytest.mark.slow
@pytest.mark.parametrize("exercise", EXACT, ids=lambda exercise: exercise.number)
def test_an_answer_that_is_off_at_random_is_explained_by_no_change(exercise: Exercise) -> None:
    rng = np.random.default_rng(0)
    off = [
        np.asarray(r * (1 + 0.01 * rng.normal(size=np.shape(r))) + 1e-9) for r in exercise._expected
    ]

    def fits(i: int, values: Any) -> bool:
        return isinstance(values, np.ndarray) and exercise._same(exercise.cases[i], off[i], values)

    if not exercise.same(off, exercise._expected):
        assert _changes.explain(exercise.reference, exercise.cases, fits) is None


@pytest.mark.parametrize("exercise", EXACT, ids=lambda exercise: exercise.number)
def test_who_does_what_a_hint_on_a_sum_asks_for_is_right(exercise: Exercise) -> None:
    for slip in exercise._changed_answers:
        if slip.name not in ("sum for mean", "mean for sum"):
            continue
        name, axis = re.findall(r"(\w+)\.shape\[(\d)\]", slip.hint)[0]
        at = [*inspect.signature(exercise.reference).parameters].index(name)
        mended = []
        for case, value in zip(exercise.cases, slip.values, strict=True):
            n = case[at].shape[int(axis)]
            mended.append(np.asarray(value / n if slip.name == "sum for mean" else value * n))
        assert exercise.same(mended, exercise._expected), slip
