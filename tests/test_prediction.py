"""Predict first: the answer is shown only after a choice, and a movement after it."""

import ipywidgets

from bdl_teach.widgets import KLBudgetLab
from bdl_teach.widgets.prediction import Prediction, PredictionBox

ASKED = Prediction("Up or down?", ("up", "down"), 1, "It is heavy", "mass")


def asked() -> tuple[PredictionBox, ipywidgets.IntSlider]:
    slider = ipywidgets.IntSlider(0, 0, 9)
    return PredictionBox(ASKED, slider), slider


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


def test_an_explorer_asks_above_its_picture_and_leaves_nothing_behind() -> None:
    alive = len(ipywidgets.widgets.widget._instances)
    lab = KLBudgetLab().wait()
    box = lab.children[0]
    assert isinstance(box, PredictionBox)
    box._choices.index = 1
    lab.set(scheme="geometric")
    assert box._answer.value.startswith("As you said")
    lab.close()
    assert len(ipywidgets.widgets.widget._instances) <= alive
