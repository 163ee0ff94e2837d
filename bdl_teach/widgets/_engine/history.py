"""The states that an explorer has been in, for undo and redo."""

from bdl_teach.widgets._engine.background import Owned
from bdl_teach.widgets._engine.controls import Values, same

_KEPT = 200  # states
_ONE_MOVE_S = 1.0  # faster changes of one control are one movement


class History(Owned):
    """The states for undo and redo; changes while ``held`` (during a drag) are one movement."""

    def __init__(self, state: Values) -> None:
        self.first, self.held = dict(state), False
        self._states, self._at = [dict(state)], 0
        self._moved: frozenset[str] = frozenset()
        self._when = float("-inf")

    @property
    def before(self) -> Values | None:
        """Return the state that ``undo`` would return; ``None`` at the first state."""
        return dict(self._states[self._at - 1]) if self._at else None

    @property
    def ahead(self) -> bool:
        """Return whether there is a state to redo."""
        return self._at + 1 < len(self._states)

    def note(self, state: Values, when: float) -> None:
        """Store ``state``, reached at the time ``when`` (seconds); forget states to redo."""
        now = self._states[self._at]
        if same(state, now):
            return
        names = state.keys() | now.keys()
        moved = frozenset(name for name in names if state.get(name) != now.get(name))
        goes_on = moved <= self._moved and (self.held or when - self._when < _ONE_MOVE_S)
        self._moved, self._when = moved, when
        if goes_on:
            self._states[self._at] = dict(state)
            return
        self._states[self._at + 1 :] = [dict(state)]
        del self._states[:-_KEPT]
        self._at = len(self._states) - 1

    def end_movement(self) -> None:
        """Count the next state as a new movement, however soon it comes."""
        self._moved = frozenset()

    def undo(self) -> Values | None:
        """Go back to the state before, and return it; ``None`` at the first state."""
        return None if self.before is None else self._go(-1)

    def redo(self) -> Values | None:
        """Go forward to the state that was undone last and return it; ``None`` if there is none."""
        return self._go(+1) if self.ahead else None

    def _go(self, step: int) -> Values:
        self._at += step
        self.end_movement()
        return dict(self._states[self._at])
