"""A question to answer before a control is moved: first the prediction, then the verdict."""

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
        answer: Index of the right answer in ``choices``.
        because: The reason, in a sentence or two; shown when the control is at the target.
        control: Name of the control that will move.
        target: Its value at which the verdict is shown; ``None`` for one step from where it is.
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
    """The question with its choices; a verdict replaces it once the control is at the target.

    "Take me there" calls ``take`` with values to set; a choice at the start calls ``compare``,
    which pins the picture. ``unlocked``: whether the verdict is shown.
    """

    def __init__(
        self,
        question: Question,
        control: Widget,
        take: Callable[[dict[str, Any]], object],
        compare: Callable[[], object] = lambda: None,
    ) -> None:
        self._question, self._control = question, control
        self._take, self._pin_start = take, compare
        self._said = controls.words("", "bdl-asked")
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
        self._from, self.unlocked = self._control.value, False
        self._choices.value, self._choices.disabled, self._there.disabled = None, False, True
        self._said.value = f"<b>Predict first.</b> {html.escape(self._question.text)}"

    @property
    def target(self) -> Any:
        """Return the value of the control at which the verdict is shown."""
        if self._question.target is not None:
            return self._question.target
        return self._from + (1 if self._from < self._control.max else -1)

    def _on_choice(self) -> None:
        if not self.unlocked and self._choices.value is not None:
            self._from = self._control.value
            self._there.disabled = False
            if not self._question.before:
                self._pin_start()

    def _on_move(self) -> None:
        """Show the verdict if a choice was made and the control is at the target or beyond."""
        value, target = self._control.value, self.target
        if self.unlocked or self._choices.value is None:
            return
        there = controls.alike(value, target)
        begins_elsewhere = self._question.control in dict(self._question.before)
        if not (there or begins_elsewhere or isinstance(value, bool | str)):
            there = min(self._from, value) < target < max(self._from, value)
        if there:
            self._unlock()

    def _go(self) -> None:
        if self._choices.value is not None:
            self._take({**dict(self._question.before), self._question.control: self.target})
            self._on_move()

    def _unlock(self) -> None:
        """Fix the choice, and say in the question's place whether it was right."""
        self.unlocked = self._choices.disabled = self._there.disabled = True
        right = self._choices.index == self._question.answer
        expected = self._question.choices[self._question.answer]
        verdict = "As you said" if right else f"The answer is “{expected}”"
        said = f"{verdict}. {self._question.because}"
        self._said.value = f"<b>{'✓' if right else '✗'}</b> {html.escape(said)}"
