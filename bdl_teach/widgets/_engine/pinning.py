"""Pin A: keep what is shown in grey, and say what stayed the same and what changed since."""

import html
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import ipywidgets

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.background import Owned
from bdl_teach.widgets._engine.canvas import RENDER_LOCK, Canvas
from bdl_teach.widgets._engine.controls import Values, Widget
from bdl_teach.widgets._engine.status import Said

_ASKED = "<b>A is pinned</b>, in grey. Move something: what stayed the same?"
_UNEQUAL = "<b>A and this</b> are compared once both are trained alike."


class Seen(NamedTuple):
    """The values, the status line and the result of a shown state."""

    values: Values
    said: Said
    result: Any = None


def is_trained(result: Any) -> bool:
    """Return whether a result has been improved; ``True`` for one that is exact at once."""
    return getattr(result, "trained", True)


class Pin(Owned):
    """The pinned state A: its grey copies, and what stayed the same and what changed since.

    ``settle`` adds or removes the grey copies, and calls ``hold`` to fix or free the y limits.
    Callers of ``note`` and ``settle`` must hold ``RENDER_LOCK``.
    """

    def __init__(
        self,
        canvas: Canvas,
        known: Mapping[str, Widget],
        labels: Mapping[str, str],
        hold: Callable[[], object],
    ) -> None:
        self._canvas, self._controls, self._labels, self._hold = canvas, known, labels, hold
        self._of_question = False  # pinned by a question, which stays visible
        self.seen: Seen | None = None  # what the picture shows
        self.pinned: Seen | None = None
        self.wanted = self.compared = False  # whether the buttons *pin A* and *answer* are down

    @property
    def pinned_by_question(self) -> bool:
        """Return whether a state is pinned, and was pinned by ``set_for_question``."""
        return self._of_question and self.pinned is not None

    def set(self) -> None:
        """Ask ``settle`` to pin what is shown, in place of what is pinned now."""
        self.pinned = None
        self.wanted = True

    def set_for_question(self) -> None:
        """Ask ``settle`` to pin what is shown: the state where the explorer's question begins."""
        self._of_question = True
        self.set()

    def unset(self, *, of_question: bool = False) -> None:
        """Ask ``settle`` to unpin A; if ``of_question``, only if ``set_for_question`` pinned it."""
        if self._of_question or not of_question:
            self.wanted = False

    def note(self, seen: Seen, *, better: bool = False) -> None:
        """Store what is shown; if it is a ``better`` result for the values of A, pin it as A."""
        self.seen = seen
        pinned = self.pinned if self.wanted else None  # else `settle` removes the pin
        if better and pinned is not None and controls.same(seen.values, pinned.values):
            self.pinned = None
        self.settle()

    def settle(self) -> bool:
        """Pin what is shown if the button is down, else unpin; return whether the pin changed."""
        wanted = self.seen if self.wanted else None
        if (wanted is None) == (self.pinned is None):
            return False
        self.pinned = wanted
        if wanted is None:
            self._canvas.unpin()
            self.compared = self._of_question = False
        else:
            self._canvas.pin()
        self._hold()
        return True

    def marked(self, said: Said) -> str:
        """Return a status line with each reading's change since the pinned state in brackets.

        While only one of the two results is trained, there are no brackets.
        """
        return said.marked(self.pinned.said if self.pinned is not None and self._is_fair else None)

    @property
    def _is_fair(self) -> bool:
        """Return whether of the shown result and A both are trained, or neither."""
        both = (self.seen, self.pinned)
        return len({is_trained(seen.result) for seen in both if seen is not None}) == 1

    @property
    def words(self) -> str:
        """Return, as HTML, what stayed the same and what changed, or what to do."""
        if self.pinned is not None and not self._is_fair:
            return _UNEQUAL
        if not (self.compared and self.pinned is not None and self.seen is not None):
            return _ASKED
        with RENDER_LOCK:  # artists are read
            found = self._compare(self.pinned, self.seen)
        return " ".join(f"<b>{name}:</b> {html.escape(what)}." for name, what in found.items())

    def on_pin(self, on: bool) -> None:
        """Pin what is shown, or unpin A."""
        (self.set if on else self.unset)()

    def on_compare(self, on: bool) -> None:
        """Say what stayed the same since A, or ask for it."""
        self.compared = on

    def _compare(self, then: Seen, now: Seen) -> dict[str, str]:
        """Return what stayed the same between two states and what changed: texts by heading."""
        moved = [
            _arrow(name, control, then.values.get(name), now.values.get(name))
            for name, control in self._controls.items()
            if not controls.alike(then.values.get(name), now.values.get(name))
        ]
        if not moved and str(then.said) == str(now.said):
            return {"Nothing has moved": "this is A itself"}
        n = len(self._controls)
        parts = {"Stayed": [f"{n - len(moved)} of {n} controls"], "Changed": [", ".join(moved)]}
        numbers = [f for f in now.said.numbers(then.said) if f.name in self._labels]
        drawn = self._canvas.unmoved().items()
        for stayed, part in zip((True, False), parts.values(), strict=True):
            same = [f for f in numbers if (f.then == f.now) is stayed]
            part.append(", ".join(f"{self._labels[f.name]} {f}" for f in same))
            if names := [name for name, unmoved in drawn if unmoved is stayed]:
                part.append(f"in the picture {', '.join(names)}")
        return {name: "; ".join(filter(None, part)) or "nothing" for name, part in parts.items()}


def _arrow(name: str, control: Widget, then: object, now: object) -> str:
    old, new = (controls.written(control, value) for value in (then, now))
    return f"{getattr(control, 'description', name)} {old} → {new}"


class PinBox:
    """The button *pin A*, and the box that compares the shown state with A.

    ``send`` gets "pin" and "compare", each with ``on``.
    """

    def __init__(self, send: Callable[..., object]) -> None:
        self.toggle = controls.toggle("pin A", "keep this in grey, to compare with what comes")
        self.toggle.observe(lambda change: send("pin", on=change["new"]), names="value")
        self._answer = controls.toggle("answer", "what stayed the same, and what differs from A")
        self._answer.observe(lambda change: send("compare", on=change["new"]), names="value")
        self._words = ipywidgets.HTML(_ASKED)
        self.box = controls.box("bdl-pin", [self._answer, self._words])

    def show(self, pin: Pin) -> None:
        """Show whether A is pinned, and what changed since."""
        self.toggle.value, self._answer.value, self._words.value = (
            pin.wanted,
            pin.compared,
            pin.words,
        )
        open_ = pin.pinned is not None and not pin.pinned_by_question
        (self.box.add_class if open_ else self.box.remove_class)("bdl-pinned")
