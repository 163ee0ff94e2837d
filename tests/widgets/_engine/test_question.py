"""Predict first: the answer is shown only after a choice, and a movement after it."""

import html

import ipywidgets
import pytest

from bdl_teach.widgets import KLBudgetLab
from bdl_teach.widgets._engine.question import Question, QuestionBox

ASKED = Question("Up or down?", ("up", "down"), 1, "It is heavy", "mass")


def asked() -> tuple[QuestionBox, ipywidgets.IntSlider]:
    slider = ipywidgets.IntSlider(0, 0, 9)
    return QuestionBox(ASKED, slider), slider


def test_the_answer_waits_for_a_choice_and_then_for_a_movement() -> None:
    box, slider = asked()
    slider.value = 1
    assert not box.unlocked  # moved, but nothing predicted yet
    box._choices.index = 0
    assert not box.unlocked
    assert "heavy" not in box._answer.value
    slider.value = 2
    assert box.unlocked
    assert box._answer.value == "You said otherwise; it is: down. It is heavy"
    box._choices.index = 1
    assert box._answer.value == "As you said. It is heavy"


@pytest.mark.parametrize("answer", [0, 1, 2])
def test_only_the_answer_s_choice_is_right_and_the_others_hear_which_it_is(answer: int) -> None:
    choices = ("a < b", "a = b", "a > b")
    question = Question("<i>Which</i>?", choices, answer, "A & B.", "mass")
    slider = ipywidgets.IntSlider(0, 0, 9)
    box = QuestionBox(question, slider)
    text, shown, said = box.children
    assert "Predict first." in text.value
    assert "<i>" not in text.value.replace("<b>", "")
    assert "<i>Which</i>?" in html.unescape(text.value)
    assert (shown.options, shown.value) == (choices, None), "nothing is chosen at the start"
    shown.index = 0
    assert said.value == "Now move the control, and look."
    slider.value = 5
    for k in range(3):
        shown.index = k
        verdict = html.unescape(said.value)
        assert verdict.startswith("As you said. ") == (k == answer)
        assert verdict.endswith("A & B.")
        assert said.value == html.escape(verdict)
        assert (f"it is: {choices[answer]}. " in verdict) == (k != answer)


def test_an_explorer_asks_above_its_picture_and_leaves_nothing_behind() -> None:
    alive = len(ipywidgets.widgets.widget._instances)
    lab = KLBudgetLab().wait()
    box = lab.children[0]
    assert isinstance(box, QuestionBox)
    box._choices.index = 1
    lab.set(scheme="geometric")
    assert box._answer.value.startswith("As you said")
    lab.close()
    assert len(ipywidgets.widgets.widget._instances) <= alive
