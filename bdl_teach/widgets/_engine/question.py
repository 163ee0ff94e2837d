"""Predict first: the learner says what a control will do, then moves it; then comes the answer."""

from __future__ import annotations

import html
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ipywidgets

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.controls import Widget


@dataclass(frozen=True)
class Question:
    """A question about an explorer that the learner answers before trying.

    Attributes:
        text: The question, which says which control will move where.
        choices: The possible answers.
        answer: Position of the right one in ``choices``.
        because: The reason, in a sentence or two; shown when the control is at the target.
        control: Name of the control to move.
        target: The value to move it to, or ``None`` for one step from where it is.
        before: Values of controls at which the question begins.
    """

    text: str
    choices: tuple[str, ...]
    answer: int
    because: str
    control: str
    target: Any = None
    before: tuple[tuple[str, Any], ...] = ()


class QuestionBox(ipywidgets.VBox):  # type: ignore[misc]
    """The question with its choices; the verdict replaces it once the control is at the target.

    Args:
        question: What to ask.
        control: The control that must reach the target after a choice has been made.
        take: Called with values to set: what "take me there" does.
        compare: Called when a choice is made at the start: pins the picture to compare with.
    """

    def __init__(
        self,
        question: Question,
        control: Widget,
        take: Callable[[dict[str, Any]], object],
        compare: Callable[[], object] = lambda: None,
    ) -> None:
        self._question, self._control, self._take = question, control, take
        self._pin_here = compare
        self._said = ipywidgets.HTML()
        self._said.add_class("bdl-asked")
        self._choices = ipywidgets.RadioButtons(
            options=list(question.choices), value=None, layout={"width": "auto"}
        )
        self._there = controls.button(
            "take me there", "choose an answer first; then this goes there from the start", self._go
        )
        answers = controls.box("bdl-answers", [self._choices, self._there])
        super().__init__(children=[self._said, answers])
        self.add_class("bdl-question")
        self._choices.observe(lambda _: self._on_choice(), names="value")
        control.observe(lambda _: self._on_move(), names="value")
        self.ask()

    def ask(self) -> None:
        """Show the question with no choice made."""
        self._from, self._locked = self._control.value, False
        self._choices.value, self._choices.disabled, self._there.disabled = None, False, True
        self._said.value = f"<b>Predict first.</b> {html.escape(self._question.text)}"

    @property
    def unlocked(self) -> bool:
        """Return whether the answer is shown: after a choice and a move to the target."""
        return self._locked

    @property
    def target(self) -> Any:
        """Return the value of the control at which the answer is shown."""
        question, control = self._question, self._control
        if question.target is not None:
            return question.target
        step = 1 if self._from < control.max else -1
        return self._from + step

    def _on_choice(self) -> None:
        if self._locked or self._choices.value is None:
            return
        self._from = self._control.value
        self._there.disabled = False
        if not self._question.before:
            self._pin_here()

    def _on_move(self) -> None:
        if not self._locked and self._choices.value is not None and self._reached():
            self._lock()

    def _reached(self) -> bool:
        """Say whether the control is at the target, or beyond it from where it started."""
        value, target = self._control.value, self.target
        if isinstance(target, bool | str) or isinstance(value, bool | str):
            return bool(value == target)
        near = abs(value - target) <= 1e-6 * max(1.0, abs(target))
        if self._question.control in dict(self._question.before):  # it begins elsewhere
            return bool(near)
        return bool(near or min(self._from, value) < target < max(self._from, value))

    def _go(self) -> None:
        if self._choices.value is not None:
            self._take({**dict(self._question.before), self._question.control: self.target})
            self._on_move()

    def _lock(self) -> None:
        """Fix the choice, and say in the question's place whether it was right."""
        self._locked = self._choices.disabled = self._there.disabled = True
        right = self._choices.index == self._question.answer
        expected = self._question.choices[self._question.answer]
        verdict = "As you said" if right else f"The answer is “{expected}”"
        mark = "✓" if right else "✗"
        said = f"{verdict}. {self._question.because}"
        self._said.value = f"<b>{mark}</b> {html.escape(said)}"
