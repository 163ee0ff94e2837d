"""Predict first: say what a slider will do, then move it; only then is the answer shown."""

from __future__ import annotations

import html
from dataclasses import dataclass

import ipywidgets

from bdl_teach.widgets._engine.controls import Widget


@dataclass(frozen=True)
class Question:
    """A question about an explorer that the learner answers before trying.

    Attributes:
        text: What will happen, and which control to move to see it.
        choices: Possible answers, as the learner may choose them.
        answer: Position of the right one in ``choices``.
        because: Why it is so, in a sentence or two; shown when the control has been moved.
        control: Name of the control to move.
    """

    text: str
    choices: tuple[str, ...]
    answer: int
    because: str
    control: str


class QuestionBox(ipywidgets.VBox):  # type: ignore[misc]
    """The question with its choices; the answer appears once both are done.

    Args:
        question: What to ask.
        control: The control that must be moved after a choice has been made.
    """

    def __init__(self, question: Question, control: Widget) -> None:
        self._question, self._moved = question, False
        text = ipywidgets.HTML(f"<b>Predict first.</b> {html.escape(question.text)}")
        self._choices = ipywidgets.RadioButtons(
            options=list(question.choices), value=None, layout={"width": "auto"}
        )
        self._answer = ipywidgets.HTML("Choose, then move the control.")
        super().__init__(children=[text, self._choices, self._answer])
        self._choices.observe(lambda _: self._look(), names="value")
        control.observe(lambda _: self._on_move(), names="value")

    @property
    def unlocked(self) -> bool:
        """Whether the answer is shown: a choice was made, and the control moved after it."""
        return self._moved

    def _on_move(self) -> None:
        if self._choices.value is not None and not self._moved:
            self._moved = True
            self._look()

    def _look(self) -> None:
        if not self._moved:
            self._answer.value = "Now move the control, and look."
            return
        right = self._choices.index == self._question.answer
        expected = self._question.choices[self._question.answer]
        verdict = "As you said" if right else f"You said otherwise; it is: {expected}"
        self._answer.value = html.escape(f"{verdict}. {self._question.because}")
