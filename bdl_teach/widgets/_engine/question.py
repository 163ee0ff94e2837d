"""A question to answer before a control is moved."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import ipywidgets

from bdl_teach.widgets._engine import controls
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


class QuestionBox(ipywidgets.VBox):  # type: ignore[misc]
    """The question with its choices; a verdict replaces it once the control is at the target.

    The button *take me there* calls ``take`` with the values to set. Choosing an answer calls
    ``compare``, which pins the present state. If ``question.before`` has values, ``compare`` is not
    called, because the question begins in another state.
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
        self._start, self.unlocked = self._control.value, False  # unlocked: the verdict is shown
        self._choices.value, self._choices.disabled, self._there.disabled = None, False, True
        self._said.value = f"<b>Predict first.</b> {html.escape(self._question.text)}"

    @property
    def target(self) -> Any:
        """Return the value of the control at which the verdict is shown."""
        if self._question.target is not None:
            return self._question.target
        return self._start + (1 if self._start < self._control.max else -1)

    def _on_choice(self) -> None:
        if not self.unlocked and self._choices.value is not None:
            self._start = self._control.value
            self._there.disabled = False
            if not self._question.before:
                self._pin_start()

    def _on_move(self) -> None:
        """Show the verdict if a choice was made and the control is at the target or beyond."""
        value, target = self._control.value, self.target
        if self.unlocked or self._choices.value is None:
            return
        there = controls.alike(value, target)
        begins_elsewhere = self._question.control in self._question.before
        if not (there or begins_elsewhere or isinstance(value, bool | str)):
            there = min(self._start, value) < target < max(self._start, value)
        if not there:
            return
        self.unlocked = self._choices.disabled = self._there.disabled = True
        right = self._choices.index == self._question.answer
        expected = self._question.choices[self._question.answer]
        verdict = "As you said" if right else f"The answer is “{expected}”"
        said = f"{verdict}. {self._question.because}"
        self._said.value = f"<b>{'✓' if right else '✗'}</b> {html.escape(said)}"

    def _go(self) -> None:
        if self._choices.value is not None:
            self._take({**self._question.before, self._question.control: self.target})
            self._on_move()
