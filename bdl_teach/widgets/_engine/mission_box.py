"""The missions of an explorer in its page: which is chosen, its two hints, and whether it is done.

One success may be luck. So a mission must also hold for the next seeds, which are computed while
nothing moves and are not shown.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import ipywidgets

from bdl_teach import progress
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.controls import Values
from bdl_teach.widgets._engine.missions import Mission, Moved
from bdl_teach.widgets._engine.status import Readings

_DONE = "✓"
_NOT_YET = "Not yet"
_LOOKING = "Wait …"  # until the controls rest, and while other seeds are computed
_Tried = list[tuple[Any, list[str] | None]]  # of each seed, what it lacks; None where unknown


class MissionBox:
    """The box that takes the question's place while missions are open.

    Args:
        missions: The explorer's, one at least.
        known: The explorer's controls, by name; the points have no label.
        ask: Called when another is chosen: makes the worker run ``judge`` at rest.

    Attributes:
        toggle: The button that opens and closes the box.
        box: The box itself.
    """

    def __init__(
        self,
        missions: Sequence[Mission],
        known: Mapping[str, controls.Widget],
        ask: Callable[[], object],
    ) -> None:
        self._missions, self._ask = missions, ask
        self._labels = {n: getattr(control, "description", n) for n, control in known.items()}
        self._done: frozenset[str] = frozenset()
        self._tried: tuple[Mission, Values, _Tried] | None = None
        self._quiet = False
        self.toggle = controls.toggle("missions", "tasks for this explorer, each with two hints")
        self._row = controls.choices("mission", 0, self._options(), [])
        self._hints = [
            controls.toggle("hint 1", "where to look"),
            controls.toggle("hint 2", "which control to move where; after the first hint"),
        ]
        self._text, self._hinted, self._verdict = (ipywidgets.HTML() for _ in range(3))
        acts = [self._row, controls.box("bdl-hints", self._hints)]
        words = [self._text, self._verdict, self._hinted]  # the task comes first
        self.box = controls.box(
            "bdl-missions",
            [controls.box("bdl-mission-acts", acts), controls.box("bdl-mission-words", words)],
        )
        self.toggle.observe(lambda _: self._on_toggle(), names="value")
        self._row.observe(lambda _: self._on_row(), names="value")
        for hint in self._hints:
            hint.observe(lambda _: self._show_hints(), names="value")
        self._begin()

    @property
    def chosen(self) -> Mission | None:
        """Return the chosen mission; ``None`` while the box is closed."""
        return self._missions[self._row.value] if self.toggle.value else None

    def choose(self, name: str | None) -> None:
        """Open the box at the mission of that id; close it for ``None``.

        Raises:
            ValueError: There is no such mission.
        """
        ids = [mission.id for mission in self._missions]
        if name is not None and name not in ids:
            raise ValueError(f"mission: expected one of {', '.join(ids)}, or None, got {name!r}")
        if name is not None:
            self._row.value = ids.index(name)
        self.toggle.value = name is not None

    def moved(self) -> None:
        """Remove the verdict, because it was about another state."""
        if (mission := self.chosen) is not None:
            self._say(mission, _LOOKING)

    def done(self) -> tuple[str, ...]:
        """List the ids of those that the learner has done, here or in an earlier session."""
        marks = progress.own().marks()
        return tuple(
            mission.id for mission in self._missions if marks.get(mission.id) == progress.SOLVED
        )

    def judge(
        self,
        values: Values,
        readings: Readings,
        others: Iterable[Values],
        read: Callable[[Values], Readings],
    ) -> Iterator[None]:
        """Find out whether the chosen mission is done, and say so; on the worker.

        Yields before each other seed is computed, so that a movement can come first.

        Args:
            values: Of all controls.
            readings: The readings at these values.
            others: The same values with other seeds; the true posterior is switched on in them only
                if the mission needs it.
            read: Computes the readings of such values.
        """
        if (mission := self.chosen) is None:
            return
        self._mark(self.done())
        if missing := self._missing(mission, values, lambda _: readings):
            self._say(mission, _not_yet(missing))
            return
        tried: _Tried = [(values.get("seed"), [])]
        if self._tried is not None and self._tried[0] is mission and self._tried[1] == values:
            tried = self._tried[2]
            others = ()
        for other in others:
            own = f" With seed {values['seed']}." if "seed" in values else ""
            self._say(mission, f"{_DONE}{own} {_LOOKING}")
            yield
            tried.append((other.get("seed"), self._missing(mission, other, read)))
        self._tried = mission, dict(values), tried
        if not any(lacks for _, lacks in tried):
            self._record(mission)
        self._say(mission, _verdict(tried))

    def _missing(
        self, mission: Mission, values: Values, read: Callable[[Values], Readings]
    ) -> list[str]:
        """Say what is missing from the mission with these values.

        An exception while computing counts as not done.
        """
        try:
            missing = mission.missing(values, read(values))
        except Moved:
            raise
        except Exception:
            return [""]
        return [words.format_map(self._labels) for words in missing]

    def _record(self, mission: Mission) -> None:
        """Record the mission as done, once."""
        if mission.id not in self._done:
            progress.own().add(mission.id, progress.SOLVED)
            self._mark([*self._done, mission.id])

    def _mark(self, done: Iterable[str]) -> None:
        """Mark the missions that are done in the row of buttons."""
        if (now := frozenset(done)) != self._done:
            self._done, chosen = now, self._row.value
            self._quiet = True
            self._row.options = self._options()  # goes to the first
            self._row.value = chosen
            self._quiet = False

    def _options(self) -> list[tuple[str, int]]:
        return [
            (f"{i + 1} {_DONE}" if mission.id in self._done else str(i + 1), i)
            for i, mission in enumerate(self._missions)
        ]

    def _on_toggle(self) -> None:
        """Open the box in the question's place, or close it."""
        (self.box.add_class if self.toggle.value else self.box.remove_class)("bdl-open")
        self._ask()

    def _on_row(self) -> None:
        if not self._quiet:
            self._begin()
            self._ask()

    def _begin(self) -> None:
        """Show the task of the chosen mission, without hints."""
        self._verdict.value = f"<b>{_LOOKING}</b>"
        for hint in self._hints:
            hint.value = False
        self._hints[1].disabled = True
        text = self._missions[self._row.value].text
        self._text.value = f"<b>Mission.</b> {html.escape(text)}"  # the last: all of it is there

    def _show_hints(self) -> None:
        """Show the hints that were asked for; the second is offered after the first."""
        mission = self._missions[self._row.value]
        if self._hints[0].value:
            self._hints[1].disabled = False
        self._hinted.value = " ".join(
            f"<b>Hint {i + 1}.</b> {html.escape(text)}"
            for i, (hint, text) in enumerate(zip(self._hints, mission.hints, strict=True))
            if hint.value
        )

    def _say(self, mission: Mission, verdict: str) -> None:
        if self.chosen is mission:
            self._verdict.value = f"<b>{html.escape(verdict)}</b>"


def _not_yet(missing: Sequence[str]) -> str:
    """Say what is missing; of more than two things, which would fill the box, the first two."""
    said = _first_two(missing)
    return f"{_NOT_YET}: {said}." if said else f"{_NOT_YET}."


def _first_two(missing: Sequence[str]) -> str:
    return "; ".join([words for words in missing if words][:2])


def _verdict(tried: _Tried) -> str:
    """Say for which seeds the mission holds, and for which it does not."""
    (own, _), *others = tried
    wrong = [(str(seed), lacks) for seed, lacks in others if lacks]
    right = [str(seed) for seed, lacks in others if not lacks]
    if wrong:
        seeds = f"seed{'s' * (len(wrong) > 1)} {' and '.join(seed for seed, _ in wrong)}"
        first, lacks = wrong[0]
        how = f" With seed {first} {said}." if (said := _first_two(lacks)) else ""
        here = "as it stands" if own is None else f"for seed {own}"
        return f"✗ It holds {here}, but not for {seeds}: luck.{how}"
    if right:
        return f"{_DONE} Done, also with seed{'s' * (len(right) > 1)} {' and '.join(right)}."
    return f"{_DONE} Done."
