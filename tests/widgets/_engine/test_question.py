"""Predict first: the answer comes once a choice was made and the control has got to its target."""

from __future__ import annotations

import html
from typing import Any

import ipywidgets

from bdl_teach.widgets._engine.question import Question, QuestionBox

ASKED = Question("From 0 to 5: up or down?", ("up", "down"), 1, "It is heavy", "mass", target=5)


def asked(value: int = 0) -> tuple[QuestionBox, Any]:
    control = ipywidgets.IntSlider(value, 0, 9)
    return QuestionBox(ASKED, control, lambda _: None), control


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
    assert box.unlocked and box._choices.disabled and box._there.disabled
    assert said(box) == "<b>✗</b> The answer is “down”. It is heavy"


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
