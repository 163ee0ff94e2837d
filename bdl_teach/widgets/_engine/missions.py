"""Missions: tasks in an explorer, the conditions for each, and the box that shows them."""

import html
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import ipywidgets

from bdl_teach import progress
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.background import Owned
from bdl_teach.widgets._engine.controls import Values, Widget
from bdl_teach.widgets._engine.status import Readings, Said

SEEDS = 3  # a mission must hold for so many: the learner's seed and the next ones; one may be luck
_NOTHING = 1e-6  # smaller values come from rounding
_DONE = "✓"
_LOOKING = "Wait …"  # until the controls rest, and while other seeds are computed
_Tried = list[tuple[Any, list[str]]]  # each seed, and the conditions that fail for it

COMPARISONS: Mapping[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": controls.alike,
    "!=": lambda one, other: not controls.alike(one, other),
}


class Moved(Exception):
    """Raised to stop what the worker does when a control has moved, or another request came."""


class Need(NamedTuple):
    """A mission's condition on the reading ``name`` or, if there is none, the control ``name``."""

    name: str
    comparison: str  # a key of COMPARISONS
    value: Any
    words: str  # shown while it fails; {} is the reading, {name:.3g} another reading

    def lacks(self, values: Values, readings: Readings) -> str | None:
        """Return why the condition fails, ``None`` if it holds, "" if the reading is unknown."""
        if self.name not in readings and self.name not in values:
            return ""
        found = readings.get(self.name, values.get(self.name))
        if COMPARISONS[self.comparison](found, self.value):
            return None
        return str(Said(self.words.replace("{}", written(found)), readings))


@dataclass(frozen=True)
class Mission:
    """A task to do by moving controls or points."""

    id: str  # its name in the learner's progress, such as "sinusoid-wider-at-1"
    text: str
    hints: Sequence[str]  # two: where to look, then which control to move where
    way: Values  # the solution in the second hint
    needs: Sequence[Need]
    leave: Mapping[str, Any]  # starting values that controls must keep; None for data

    def missing(self, values: Values, readings: Readings) -> list[str]:
        """Return a template for each failed condition; ``{name}`` stands for a control's label."""
        moved = {n: v for n, v in self.leave.items() if not controls.alike(values.get(n), v)}
        said = []
        if moved.pop("data", "") is None:
            said = ["points were dragged, added or removed"]
        elif moved:
            ways = [f"{{{name}}} back to {written(value)}" for name, value in moved.items()]
            said = [f"take {' and '.join(ways)}"]
        lacks = (need.lacks(values, readings) for need in self.needs)
        return list(dict.fromkeys([*said, *(words for words in lacks if words is not None)]))


def written(value: Any) -> str:
    """Return a value as text: three digits, 0 for a rounding error, a dash for no number."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        return value
    return points.figure(0.0 if abs(value) < _NOTHING else value)


class Missions(Owned):
    """Which mission is chosen, and whether it is done."""

    def __init__(self, missions: Sequence[Mission], known: Mapping[str, Widget]) -> None:
        self.all = missions
        self._labels = {n: getattr(control, "description", n) for n, control in known.items()}
        self._tried: tuple[Mission, Values, _Tried] | None = None
        self.chosen: Mission | None = None
        self.verdict = ""
        self.marked: tuple[str, ...] = ()  # what ``done`` returned when a mission was last judged

    def on_mission(self, name: str | None) -> None:
        """Choose the mission with the id ``name``; ``None`` for none."""
        self.chosen = next((one for one in self.all if one.id == name), None)
        self.marked = self.done()
        self.look()

    def look(self) -> None:
        """Replace the verdict by "Wait …", because a control has moved."""
        self.verdict = _LOOKING if self.chosen is not None else ""

    def done(self) -> tuple[str, ...]:
        """Return the ids of the missions that have been done, now or in an earlier session."""
        marks, ids = progress.own().marks(), (mission.id for mission in self.all)
        return tuple(name for name in ids if marks.get(name) == progress.SOLVED)

    def judge(
        self,
        values: Values,
        readings: Readings,
        others: Iterable[Values],
        read: Callable[[Values], Readings],
    ) -> Iterator[None]:
        """Check whether the chosen mission is done, and set the verdict.

        ``others`` are copies of ``values`` with other seeds, whose readings ``read`` computes. The
        generator yields before each such call, so that the worker can show the verdict so far, and
        stop if a control has moved.
        """
        if (mission := self.chosen) is None:
            return
        self.marked = self.done()
        if missing := self._missing(mission, values, lambda _: readings):
            self.verdict = f"Not yet{_first_two(': ', missing)}."
            return
        tried: _Tried = [(values.get("seed"), [])]
        if self._tried is not None and self._tried[0] is mission and self._tried[1] == values:
            tried = self._tried[2]
            others = ()
        for other in others:
            own = f" With seed {values['seed']}." if "seed" in values else ""
            self.verdict = f"{_DONE}{own} {_LOOKING}"
            yield
            tried.append((other.get("seed"), self._missing(mission, other, read)))
        self._tried = mission, dict(values), tried
        if mission.id not in self.done() and not any(lacks for _, lacks in tried):
            progress.own().add(mission.id, progress.SOLVED)
            self.marked = self.done()
        self.verdict = _verdict(tried)

    def _missing(
        self, mission: Mission, values: Values, read: Callable[[Values], Readings]
    ) -> list[str]:
        """Return a text for each condition that fails at ``values``, or [""] if ``read`` fails."""
        try:
            missing = mission.missing(values, read(values))
        except Moved:
            raise
        except Exception:
            return [""]
        return [words.format_map(self._labels) for words in missing]


class MissionBox:
    """The box of missions and its button.

    ``send`` gets "mission" with the id ``name`` of the chosen one; ``None`` if the box is closed.
    """

    def __init__(self, missions: Sequence[Mission], send: Callable[..., object]) -> None:
        self._missions, self._send = missions, send
        self.toggle = controls.toggle("missions", "tasks for this explorer, each with two hints")
        self._row = controls.Control("row", "mission", 0, _options(missions, ())).make()
        self._hints = [
            controls.toggle("hint 1", "where to look"),
            controls.toggle("hint 2", "which control to move where; after the first hint"),
        ]
        self._text, self._hinted, self._verdict = (ipywidgets.HTML() for _ in range(3))
        acts = [self._row, controls.box("bdl-hints", self._hints)]
        words = [self._text, self._verdict, self._hinted]
        self.box = controls.box(
            "bdl-missions",
            [controls.box("bdl-mission-acts", acts), controls.box("bdl-mission-words", words)],
        )
        self.toggle.observe(lambda _: self._choose(), names="value")
        self._row.observe(lambda _: self._choose(), names="value")
        for hint in self._hints:
            hint.observe(lambda _: self._show_hints(), names="value")

    def _choose(self) -> None:
        chosen = self._missions[self._row.value].id if self.toggle.value else None
        self._send("mission", name=chosen)

    def show(self, missions: Missions) -> None:
        """Show the chosen mission and its verdict."""
        chosen = missions.chosen
        (self.box.add_class if chosen else self.box.remove_class)("bdl-open")
        self.toggle.value = chosen is not None
        if chosen is None:
            return
        options = _options(self._missions, missions.marked)
        number = self._missions.index(chosen)
        if options != list(self._row.options):
            self._row.options = options  # this selects the first option
        self._row.value = number
        text = f"<b>Mission.</b> {html.escape(chosen.text)}"
        if text != self._text.value:
            for hint in self._hints:
                hint.value = False
            self._hints[1].disabled = True
        self._verdict.value = f"<b>{html.escape(missions.verdict)}</b>"
        self._text.value = text  # last, when all else is set

    def _show_hints(self) -> None:
        mission = self._missions[self._row.value]
        if self._hints[0].value:
            self._hints[1].disabled = False
        self._hinted.value = " ".join(
            f"<b>Hint {i + 1}.</b> {html.escape(text)}"
            for i, (hint, text) in enumerate(zip(self._hints, mission.hints, strict=True))
            if hint.value
        )


def _options(missions: Sequence[Mission], done: Sequence[str]) -> list[tuple[str, int]]:
    """Return the labels of the row of missions, such as "2 ✓", and their indices."""
    return [
        (f"{i + 1} {_DONE}" if mission.id in done else str(i + 1), i)
        for i, mission in enumerate(missions)
    ]


def _first_two(begin: str, missing: Sequence[str]) -> str:
    """Return ``begin`` and the first two texts in ``missing`` that are not empty; "" if none is."""
    said = "; ".join([words for words in missing if words][:2])  # the box has room for two
    return f"{begin}{said}" if said else ""


def _verdict(tried: _Tried) -> str:
    """Return the sentence that says for which seeds in ``tried`` the mission holds."""
    (own, _), *others = tried
    wrong = [(seed, lacks) for seed, lacks in others if lacks]
    seeds = [str(seed) for seed, lacks in others if bool(lacks) is bool(wrong)]
    named = f"seed{'s' * (len(seeds) > 1)} {' and '.join(seeds)}"
    if wrong:
        first, lacks = wrong[0]
        how = f"{said}." if (said := _first_two(f" With seed {first} ", lacks)) else ""
        here = "as it stands" if own is None else f"for seed {own}"
        return f"✗ It holds {here}, but not for {named}: luck.{how}"
    return f"{_DONE} Done, also with {named}." if seeds else f"{_DONE} Done."
