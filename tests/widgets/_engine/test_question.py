"""Predict first: the answer comes once a choice was made and the control has got to its target."""

from __future__ import annotations

import html
from typing import Any

import ipywidgets

from bdl_teach.widgets._engine.question import Question, QuestionBox

ASKED = Question("From 0 to 5: up or down?", ("up", "down"), 1, "It is heavy", "mass", target=5)


def asked(question: Question = ASKED, **slider: Any) -> tuple[QuestionBox, Any]:
    """A question about a slider of its own, which "take me there" moves."""
    control = ipywidgets.IntSlider(**{"value": 0, "min": 0, "max": 9, **slider})

    def take(values: dict[str, Any]) -> None:
        control.value = values[question.control]

    return QuestionBox(question, control, take), control


def said(box: QuestionBox) -> str:
    return html.unescape(box._said.value)


def test_the_answer_waits_for_a_choice_and_then_for_the_target() -> None:
    box, slider = asked()
    slider.value = 6
    assert not box.unlocked, "moved, but nothing predicted yet"
    slider.value = 0
    box._choices.index = 0
    for slider.value in (1, 4, 2):
        assert not box.unlocked, "not there yet"
        assert said(box) == "<b>Predict first.</b> From 0 to 5: up or down?"
    slider.value = 5
    assert box.unlocked
    assert said(box) == "<b>✗</b> The answer is “down”. It is heavy"


def test_choice_can_change_until_target_is_reached() -> None:
    box, slider = asked()
    box._choices.index = 0
    slider.value = 2
    box._choices.index = 1
    assert not box._choices.disabled
    slider.value = 5
    assert said(box) == "<b>✓</b> As you said. It is heavy"
    assert box._choices.disabled and box._there.disabled
    slider.value = 0
    slider.value = 5
    assert said(box) == "<b>✓</b> As you said. It is heavy"
    box._choices.index = 0  # as a script might
    assert box._there.disabled


def test_control_already_at_target_must_leave_and_return() -> None:
    box, slider = asked(value=5)
    box._choices.index = 0
    assert not box.unlocked
    slider.value = 4
    assert not box.unlocked
    slider.value = 5
    assert box.unlocked


def test_question_can_be_sent_to_a_page() -> None:
    """A name of its own must not hide one that ipywidgets needs for that."""
    box, _ = asked()
    assert box.get_state(drop_defaults=True)["children"]
