"""Test the question of an explorer: predict first, then move the control to see the answer."""

from __future__ import annotations

import html

import ipywidgets

from bdl_teach.widgets._engine.question import Question, QuestionBox

ASKED = Question("From 0 to 5: up or down?", ("up", "down"), 1, "It is heavy", "mass", target=5)


def test_answer_needs_a_choice_and_then_the_target_value() -> None:
    slider = ipywidgets.IntSlider(0, 0, 9)
    box = QuestionBox(ASKED, slider, lambda _: None)
    slider.value = 6
    assert not box.unlocked, "the slider moved before a choice"
    slider.value = 0
    box._choices.index = 0
    for slider.value in (1, 4, 2):
        assert not box.unlocked
        assert html.unescape(box._said.value) == "<b>Predict first.</b> From 0 to 5: up or down?"
    slider.value = 5
    assert box.unlocked and box._choices.disabled and box._there.disabled
    assert html.unescape(box._said.value) == "<b>✗</b> The answer is “down”. It is heavy"
