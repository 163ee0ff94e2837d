"""The layout of an explorer: head, question, picture beside controls, status line."""

from __future__ import annotations

import html
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import ipywidgets

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.controls import Presets, Values, Widget

OWN = "own settings"


class PresetMenu:
    """The menu of presets, and the sentence that says where to look in the chosen one.

    Args:
        presets: By name: a sentence that says where to look, and values.
        choose: Called with the name of the preset that the user chose.
        stays: Controls whose values do not matter for presets that leave them out.

    Attributes:
        menu: The presets' names.
        look: The sentence of the chosen preset.
    """

    def __init__(
        self, presets: Presets, choose: Callable[[str], object], stays: frozenset[str] = frozenset()
    ) -> None:
        self._presets, self._choose, self._quiet = presets, choose, False
        self._chosen, self._stays = OWN, stays
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
        """Select the preset whose values ``state`` has, and say where to look.

        If several match: the one that was chosen, or else the one that sets most controls.
        """
        fitting = {
            name: len(values)
            for name, (_, values) in self._presets.items()
            if controls.same({c: state[c] for c in self._stays if c in state} | values, state)
        }
        name = max(fitting, key=fitting.__getitem__, default=OWN)
        if self._chosen in fitting:
            name = self._chosen
        else:
            self._chosen = OWN
        self._quiet = True
        self.menu.value = name
        self._quiet = False
        sentence = "" if name == OWN else html.escape(self._presets[name][0])
        self.look.value = sentence and f"<b>Look:</b> {sentence}."

    def _on_choice(self, change: Any) -> None:
        if not self._quiet and change["new"] != OWN:
            self.choose(change["new"])

    def choose(self, name: str) -> None:
        """Choose the preset ``name``, as a click in the menu does."""
        self._chosen = name
        self._choose(name)


def head(title: str, start: PresetMenu | None, acts: Iterable[Widget]) -> Widget:
    """Lay out the first line: title, presets, buttons."""
    menu = [] if start is None else [start.menu]
    return controls.box(
        "bdl-head", [controls.words(title, "bdl-title"), *menu, controls.box("bdl-acts", acts)]
    )


def body(
    picture: Widget,
    groups: Mapping[str, Iterable[Widget]],
    film: Widget | None = None,
    folded: Collection[str] = (),
    more: Widget | None = None,
) -> Widget:
    """Lay out picture, replay row and groups of controls.

    The groups called ``folded`` stand behind the button ``more``.
    """
    panels = [controls.group(name, widgets) for name, widgets in groups.items()]
    if more is not None:
        behind = [panel for name, panel in zip(groups, panels, strict=True) if name in folded]
        for panel in behind:
            panel.add_class("bdl-folded")
        panels = [*(panel for panel in panels if panel not in behind), more, *behind]
    stage = controls.box("bdl-stage", [picture])
    shown = stage if film is None else controls.box("bdl-shown", [stage, film])
    return controls.box("bdl-body", [shown, controls.box("bdl-controls", panels)])
