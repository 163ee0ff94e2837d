"""What the buttons of the page do that concerns several parts of an explorer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bdl_teach.widgets._engine.background import Owned
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from bdl_teach.widgets._engine.model import Model
from bdl_teach.widgets._engine.session import Session
from bdl_teach.widgets._engine.stage import Stage

if TYPE_CHECKING:
    from bdl_teach.widgets._engine.view import View


class Buttons(Owned):
    """The messages of buttons and menu; ``Worker`` says what a handler returns."""

    def __init__(self, model: Model[Any], session: Session, stage: Stage, view: View) -> None:
        self._model, self._session, self._stage, self._view = model, session, stage, view

    def on_press(self, name: str, when: float) -> None:
        """Set what one of the explorer's own buttons sets."""
        values = self._model.buttons()[name](self._session.values, self._stage.result)
        if values is not None:
            self._session.on_set(values, "", when)

    def on_preset(self, name: str, when: float) -> None:
        """Go to a preset; unpin what a question has pinned."""
        self._stage.pin.unset(of_question=True)
        self._session.go_to_preset(name, when)

    def on_reset(self, when: float) -> None:
        """Go to the first state; remove what a question has pinned."""
        self._stage.pin.unset(of_question=True)
        self._session.go_to_first(when)

    def on_answer(self, choice: str) -> None:
        """Note the answer to the question, and pin the state where it begins."""
        asked = self._session.asked
        assert asked is not None
        asked.choose(choice, self._session.values)
        if not asked.question.before:
            self._stage.pin.set_for_question()

    def on_save(self) -> bool:
        """Offer the picture as files."""
        with RENDER_LOCK:
            self._view.offer(self._stage.canvas.as_svg(), self._stage.canvas.still())
        return False

    def on_share(self) -> str:
        """Say what the page has copied."""
        return f"Copied: {self._view.code()}"
