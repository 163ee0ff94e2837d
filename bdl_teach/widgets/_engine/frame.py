"""Where everything of an explorer stands: head, question, picture beside controls, status."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import ipywidgets

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.controls import Presets, Values, Widget

OWN = "own settings"


class Start:
    """Which preset is shown, and where to look then; choosing another sets its values.

    Args:
        presets: By name: a sentence that says where to look, and values.
        choose: Called with the name of the preset that the user chose.

    Attributes:
        menu: The presets' names.
        look: The sentence of the one that is shown.
    """

    def __init__(self, presets: Presets, choose: Callable[[str], object]) -> None:
        self._presets, self._choose, self._quiet = presets, choose, False
        self.menu = ipywidgets.Dropdown(
            options=[OWN, *presets],
            value=OWN,
            description="start from",
            tooltip="settings that show something, and where to look",
            style={"description_width": "initial"},
        )
        self.look = controls.words("", "bdl-look")
        self.menu.observe(self._on_choice, names="value")

    def show(self, state: Values) -> None:
        """Mark the preset whose values ``state`` has, and say where to look."""
        name = next(
            (n for n, (_, values) in self._presets.items() if controls.same(values, state)), OWN
        )
        self._quiet = True
        self.menu.value = name
        self._quiet = False
        sentence = "" if name == OWN else html.escape(self._presets[name][0])
        self.look.value = sentence and f"<b>Look:</b> {sentence}."

    def _on_choice(self, change: Any) -> None:
        if not self._quiet and change["new"] != OWN:
            self._choose(change["new"])


def head(title: str, start: Start | None, acts: Iterable[Widget]) -> Widget:
    """The first line: what this is, where to start from, what can be done with it."""
    menu = [] if start is None else [start.menu]
    return controls.box(
        "bdl-head", [controls.words(title, "bdl-title"), *menu, controls.box("bdl-acts", acts)]
    )


def body(
    picture: Widget, groups: Mapping[str, Iterable[Widget]], film: Widget | None = None
) -> Widget:
    """The picture, under it what replays a training, and the controls in their groups."""
    panels = [controls.group(name, widgets) for name, widgets in groups.items()]
    stage = controls.box("bdl-stage", [picture])
    shown = stage if film is None else controls.box("bdl-shown", [stage, film])
    return controls.box("bdl-body", [shown, controls.box("bdl-controls", panels)])
