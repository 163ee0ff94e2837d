"""An explorer's data file: its controls, and all texts that it shows a learner.

A file has, in this order:

``title``: the first line of the page.
``alt``: a description of the picture for screen readers, without numbers.
``stays``: toggles that a preset may only switch on, and that undo, redo and reset do not change.
``folded``: groups that are shown only by the button *more*, below the picture.
``[controls]``: ``name = [kind, label, default, range, hint, readout]``, see ``controls.Control``.
    An empty row ``name = []``, and ``name`` in a group, stand for controls that the class supplies.
``[gone]``: ``name = sentence`` for each control of earlier versions, whose values a state may still
    hold: they are left out, and the sentence below the picture says so.
``[renamed.CONTROL]``: ``old = new`` for each value of a control that earlier versions wrote
    otherwise.
``[groups]``: ``NAME = [names of controls and buttons]``, in their order beside the picture.
``[context]``: ``name = [label, [names of controls]]`` for each context panel that ``make_panels``
    makes, in the order of their tabs. A movement of one of the controls brings the panel.
``[buttons]``: ``name = [label, hint]`` of the explorer's own buttons.
``[presets]``: ``name = [look, values]``: a sentence that says where to look, which must be true for
    every seed, and the values that differ from the defaults; ``show`` among them is the context
    panel that it brings.
``[question]``: the fields of ``question.Question``.
``[missions.ID]``: ``text``; ``hints``, two; ``leave``: controls that must keep their starting
    values; ``needs``: rows ``[name, comparison, value, words]``, where ``name`` is a reading or a
    control, and ``words`` may be left out if ``[readings]`` has them; ``way``: values of controls
    that solve the mission; ``add``: points that the solution adds to the drawn ones.
``[readings]``: ``name = [words, format, meaning]`` for the rows of the table *numbers* and for what
    missions name; the formats are those of ``status.py``, the meaning may be left out.
``[status]``: ``line``, the template of the sentence below the picture (see ``status.py``), and the
    templates that it can contain.
"""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bdl_teach.problems import Problem
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine.controls import Control, Presets, Values
from bdl_teach.widgets._engine.missions import Mission, Need
from bdl_teach.widgets._engine.question import Question

FOLDER = Path(__file__).parents[1] / "texts"


class Row(NamedTuple):
    """A row of the table *numbers*: what a reading is called, how it is written, what it means."""

    words: str
    form: str = ".3g"
    meaning: str = ""


@dataclass(frozen=True)
class Texts:
    """The texts of one explorer, as its data file holds them."""

    title: str
    alt: str
    controls: Mapping[str, Control]
    defaults: Values  # the starting values of the controls that have a widget
    status: Mapping[str, str]
    groups: Mapping[str, tuple[str, ...]]
    gone: Mapping[str, str] = field(default_factory=dict)
    renamed: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    context: Mapping[str, tuple[str, Sequence[str]]] = field(default_factory=dict)
    buttons: Mapping[str, Sequence[str]] = field(default_factory=dict)
    presets: Presets = field(default_factory=dict)
    shows: Mapping[str, str] = field(default_factory=dict)  # the context panel that a preset brings
    question: Question | None = None
    missions: tuple[Mission, ...] = ()
    readings: Mapping[str, Row] = field(default_factory=dict)
    stays: frozenset[str] = frozenset()
    folded: frozenset[str] = frozenset()

    def in_words(self, message: str) -> str:
        """Return an error's message with the controls' labels in place of arguments' names.

        A name that could be a word, such as "rate", is replaced at the beginning only.
        """
        for name, control in self.controls.items():
            before = "" if re.search(r"[_\d]", name) else "^"
            message = re.sub(rf"{before}\b{name}\b", control.label or name, message)
        return message


def of(name: str, **given: Mapping[str, Control]) -> Texts:
    """Read the data file ``name`` of this package; ``given`` is passed to :func:`parse`."""
    return parse((FOLDER / f"{name}.toml").read_text(encoding="utf-8"), **given)


def parse(text: str, **given: Mapping[str, Control]) -> Texts:
    """Parse the text of a data file.

    ``given`` holds, by name, controls that the file names without declaring them.

    Raises:
        ValueError: A preset, the question, a mission or a context panel names a control that does
            not exist, or a preset a context panel.
        TypeError: The file has an unknown table or key.
    """
    file = tomllib.loads(text)
    known: dict[str, Control] = {}
    for name, row in file["controls"].items():
        known |= given[name] if name in given else {name: Control(*row)}
    start = {name: c.value(c.default) for name, c in known.items() if not c.unseen}
    file |= {"controls": known, "defaults": start}
    file["groups"] = {
        group: tuple(name for one in row for name in given.get(one, (one,)))
        for group, row in file["groups"].items()
    }
    file |= {name: frozenset(file.get(name, ())) for name in ("stays", "folded")}
    left = dict.fromkeys(file["stays"], False)  # unless a preset switches them on
    presets = file.get("presets", {})
    shows = {name: values.pop("show") for name, (_, values) in presets.items() if "show" in values}
    panels = file.get("context", {})
    if unknown := {*shows.values()} - panels.keys():
        raise ValueError(f"show: expected one of {', '.join(panels)}, got {', '.join(unknown)}")
    for _, movers in panels.values():
        _check(known, movers)
    file["shows"] = shows
    file["presets"] = {
        name: (look, start | left | _values(known, values))
        for name, (look, values) in presets.items()
    }
    if "question" in file:
        asked = file["question"]
        asked["before"] = _values(known, asked.get("before", {}))
        if "target" in asked:
            there = _values(known, {asked["control"]: asked["target"]})
            asked["target"] = there[asked["control"]]
        file["question"] = Question(**asked)
    words = {name: Row(*row) for name, row in file.get("readings", {}).items()}
    file["readings"] = words
    missions = file.get("missions", {}).items()
    file["missions"] = tuple(_mission(name, known, start, words, **rows) for name, rows in missions)
    return Texts(**file)


def _check(known: Mapping[str, Control], names: Iterable[str]) -> None:
    """Raise ``ValueError`` unless all are names of controls."""
    if unknown := {*names} - known.keys():
        raise ValueError(f"values: expected names of controls, got {', '.join(sorted(unknown))}")


def _values(known: Mapping[str, Control], given: Values) -> Values:
    """Convert values of a data file to those of the controls."""
    _check(known, given)
    return {name: known[name].value(value) for name, value in given.items()}


def _mission(
    name: str, known: Mapping[str, Control], start: Values, words: Mapping[str, Row], **fields: Any
) -> Mission:
    fields["way"] = _values(known, fields["way"])
    if "add" in fields:
        fields["way"]["data"] = _with_points(start, fields.pop("add"))
    fields["leave"] = {one: start.get(one) for one in fields.get("leave", ())}
    fields["needs"] = [
        Need(reading, comparison, value, said[0] if said else f"{words[reading].words} is {{}}")
        for reading, comparison, value, *said in fields["needs"]
    ]
    return Mission(name, **fields)


def _with_points(start: Values, more: list[tuple[float, float]]) -> points.Value:
    """Return a value of the control ``data``: the points of ``start`` and the points ``more``."""
    data = Problem.of({"n": 32, "noise_std": 1.0, "seed": 0} | start).data
    x, y = np.append(data.x[:, 0], [p[0] for p in more]), np.append(data.y, [p[1] for p in more])
    return points.from_course(x.round(3), y.round(2))
