"""A question to answer before a control is moved."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ipywidgets

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.background import Owned
from bdl_teach.widgets._engine.controls import Values, Widget


@dataclass(frozen=True)
class Question:
    """A question about an explorer that the learner answers before trying."""

    text: str  # the question, which says which control will move where
    choices: Sequence[str]
    answer: int  # index of the right choice
    because: str  # the reason, shown with the verdict
    control: str  # name of the control that will move
    target: Any = None  # its value at which the verdict is shown; None for one step from its value
    before: Values = field(default_factory=dict)  # values of controls where the question begins


class Asked(Owned):
    """A question that is asked; a verdict comes once its control is at the target.

    Args:
        question: The question.
        control: Its control, which says how far it can move.
        values: The values of the controls when the question is asked.
    """

    def __init__(self, question: Question, control: Widget, values: Values) -> None:
        self.question, self._control = question, control
        self.begin(values)

    def begin(self, values: Values) -> None:
        """Ask the question, without an answer and a verdict."""
        self._start = values[self.question.control]
        self.choice: str | None = None
        self.verdict = ""

    def choose(self, choice: str, values: Values) -> None:
        """Note an answer, given at these values."""
        if not self.verdict:
            self.choice, self._start = choice, values[self.question.control]

    @property
    def target(self) -> Any:
        """Return the value of the control at which the verdict is shown."""
        if self.question.target is not None:
            return self.question.target
        return self._start + (1 if self._start < self._control.max else -1)

    def see(self, values: Values) -> None:
        """Give the verdict if there is an answer and the control is at the target or beyond."""
        value, target, question = values[self.question.control], self.target, self.question
        if self.verdict or self.choice is None:
            return
        there = controls.alike(value, target)
        if not (there or question.control in question.before or isinstance(value, bool | str)):
            there = min(self._start, value) < target < max(self._start, value)
        if there:
            expected = question.choices[question.answer]
            right = self.choice == expected
            said = "As you said" if right else f"The answer is “{expected}”"
            said = html.escape(f"{said}. {question.because}")
            self.verdict = f"<b>{'✓' if right else '✗'}</b> {said}"


class QuestionBox:
    """The box with the question, its choices and *take me there*, or the verdict; and its link.

    ``send`` gets "answer" with the ``choice``, and "go" from the button.
    """

    def __init__(self, question: Question, send: Callable[..., object]) -> None:
        self.toggle = controls.toggle("predict first", "a question on what a movement will change")
        self.toggle.add_class("bdl-asks")
        self._said = controls.words("", "bdl-asked")
        self._choices = ipywidgets.RadioButtons(
            options=list(question.choices), value=None, layout={"width": "auto"}
        )
        self._there = controls.button(
            "take me there",
            "choose an answer first; then this goes there from the start",
            lambda: send("go"),
        )
        answers = controls.box("bdl-answers", [self._choices, self._there])
        self.box = ipywidgets.VBox([self._said, answers])
        self.box.add_class("bdl-question")
        self._choices.observe(lambda change: send("answer", choice=change["new"]), names="value")

    def show(self, asked: Asked) -> None:
        """Show the question or its verdict."""
        over = bool(asked.verdict)
        text = html.escape(asked.question.text)
        self._said.value = asked.verdict or f"<b>Predict first.</b> {text}"
        self._choices.value, self._choices.disabled = asked.choice, over
        self._there.disabled = over or asked.choice is None
