"""Pin A: keep what is shown in grey, to compare with what comes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.background import Owned
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.controls import Values
from bdl_teach.widgets._engine.status import Said


@dataclass(frozen=True)
class Seen:
    """The values and the result of a shown state, and what describes it."""

    values: Values
    result: Any
    describe: Callable[[], Said]

    @cached_property
    def said(self) -> Said:
        """Return the status line; its readings are computed when it is asked for first."""
        return self.describe()


def is_trained(result: Any) -> bool:
    """Return whether a result has been improved; ``True`` for one that is exact at once."""
    return getattr(result, "trained", True)


class Pin(Owned):
    """The pinned state A, and its grey copies.

    ``settle`` adds or removes the grey copies, and calls ``hold`` to fix or free the y limits.
    Callers of ``note`` and ``settle`` must hold ``RENDER_LOCK``.
    """

    def __init__(self, canvas: Canvas, hold: Callable[[], object]) -> None:
        self._canvas, self._hold = canvas, hold
        self._of_question = False  # pinned by a question, which stays visible
        self.seen: Seen | None = None  # what the picture shows
        self.pinned: Seen | None = None
        self.wanted = False  # whether the button *pin A* is down

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
            self._of_question = False
        else:
            self._canvas.pin()
        self._hold()
        return True

    @property
    def is_fair(self) -> bool:
        """Return whether of the shown result and A both are trained, or neither."""
        both = (self.seen, self.pinned)
        return len({is_trained(seen.result) for seen in both if seen is not None}) == 1

    def on_pin(self, on: bool) -> None:
        """Pin what is shown, or unpin A."""
        (self.set if on else self.unset)()
