"""What the learner has set: the values of the controls, their history, and the question."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.background import Owned
from bdl_teach.widgets._engine.controls import Values, Widget
from bdl_teach.widgets._engine.history import History
from bdl_teach.widgets._engine.model import Model
from bdl_teach.widgets._engine.presets import Presets
from bdl_teach.widgets._engine.question import Asked


class Session(Owned):
    """The values of the controls, and what changes them; it has no page.

    Args:
        model: The model, which says what a movement sets besides.
        known: The controls by name, which say which values they take.
        values: Values that differ from the controls' own.
    """

    def __init__(self, model: Model[Any], known: Mapping[str, Widget], values: Values) -> None:
        self._model, self.known = model, known
        self.values: Values = {}
        self.version = 0  # grows with each reason for a tick
        self.compared: Values | None = None  # the state to pin before the next tick
        # ``left_out`` has sentences on values that were given for controls that are gone.
        self.show = next(iter(model.TEXTS.context), "")  # the name of the context panel
        if "show" in values:
            self.on_show(self.panel(values["show"]))
        taken, self.left_out = self.taken({n: v for n, v in values.items() if n != "show"})
        self._assign({name: control.value for name, control in known.items()})
        self._assign(taken)
        self.history = History(self._undoable)
        self.presets = Presets(model.TEXTS.presets, model.TEXTS.stays)
        asked = model.TEXTS.question
        self.asked = None if asked is None else Asked(asked, known[asked.control], self.values)

    @property
    def _undoable(self) -> Values:
        return self._model.undoable(self.values)

    def taken(self, values: Values) -> tuple[Values, str]:
        """Return the values as the controls take them, and a sentence on those that are left out.

        Raises:
            ValueError: No such control, or a value outside its range.
        """
        gone, renamed = self._model.TEXTS.gone, self._model.TEXTS.renamed
        left_out = "".join(f" {gone[name]}" for name in values if name in gone)
        kept = {n: value for n, value in values.items() if n not in gone}
        kept |= {n: new.get(kept[n], kept[n]) for n, new in renamed.items() if n in kept}
        return {n: controls.take(self.known, n, value) for n, value in kept.items()}, left_out

    def panel(self, name: str) -> str:
        """Return ``name`` if a context panel has this name, else raise ``ValueError``."""
        if name not in (known := self._model.TEXTS.context):
            raise ValueError(f"show: expected one of {', '.join(known)}, got {name!r}")
        return name

    def _follow(self, values: Values) -> None:
        """Show the panel that a movement to ``values`` brings; switching off brings none."""
        for panel, (_, brought_by) in self._model.TEXTS.context.items():
            moved = (n for n in brought_by if values.get(n, False) is not False)
            if any(not controls.alike(values[n], self.values.get(n)) for n in moved):
                self.show = panel

    def _assign(self, values: Values) -> None:
        """Set values; ``None`` takes the value of a control that the pointer sets away."""
        if "data" in self.known and values.keys() & {*self._model.DRAWN_BY}:
            values = {"data": None, **values}
        both = {**self.values, **values}
        self.values = {name: value for name, value in both.items() if value is not None}

    def _go(self, values: Values, when: float) -> None:
        """Set values as one movement."""
        self._follow(values)
        self._assign(values)
        self.history.end_movement()
        self._moved(when)

    def _moved(self, when: float) -> None:
        self.on_tick()
        self.history.note(self._undoable, when)
        if self.asked is not None:
            self.asked.see(self.values)

    def _whole(self, state: Values) -> Values:
        """Return a copy of ``state`` with ``None`` for each missing control without a widget."""
        return {n: None for n, one in self._model.TEXTS.controls.items() if one.unseen} | state

    # What the messages of page, Python and worker set.

    def on_tick(self) -> None:
        """Have a tick made: something that the result depends on may have changed."""
        self.version += 1

    def on_move(self, name: str, value: Any, when: float) -> None:
        """Set one control, as the page does; fast movements of it are one movement."""
        self.left_out = ""
        self._follow({name: value})
        self._assign({name: value})
        self._assign(self._model.after(self.values, name))
        self._moved(when)

    def on_edit(self, values: Values, when: float, *, goes_on: bool = False) -> None:
        """Set values; ``goes_on`` if this is a part of the movement before."""
        if not goes_on:
            self.history.end_movement()
        self.left_out = ""
        self._follow(values)
        self._assign(values)
        self._moved(when)

    def on_show(self, name: str) -> None:
        """Show the context panel ``name``."""
        self.show = name

    def on_set(self, values: Values, left_out: str, when: float) -> None:
        """Set values that ``taken`` returned, with its sentence."""
        self.left_out = left_out
        self._go(values, when)

    def on_undo(self, when: float) -> None:
        """Go back to the state before the last movement."""
        if (state := self.history.undo()) is not None:
            self._go(self._whole(state), when)

    def on_redo(self, when: float) -> None:
        """Go forward to the state that was undone last."""
        if (state := self.history.redo()) is not None:
            self._go(self._whole(state), when)

    def go_to_first(self, when: float) -> None:
        """Go to the first state, and ask the question again."""
        self._go(self._whole(self.history.first), when)
        if self.asked is not None:
            self.asked.begin(self.values)

    def go_to_preset(self, name: str, when: float) -> None:
        """Set the values of a preset."""
        self._go(self._whole(self.presets.choose(name)), when)
        self.show = self._model.TEXTS.shows.get(name, self.show)

    def on_go(self, when: float) -> None:
        """Go from the first state to the one that the question asks about.

        The answer is right for this start, but perhaps not for other values. ``compared`` is the
        state where the question begins, without the movement that it asks about.
        """
        if self.asked is None or self.asked.choice is None:
            return
        stays = {n: v for n, v in self.values.items() if n in self._model.TEXTS.stays}
        before, target = self.asked.question.before, self.asked.target
        first = {**self.history.first, **before}
        self.compared = {**stays, **first}
        control = self.asked.question.control
        self._go({**self._whole(first), control: target}, when)
