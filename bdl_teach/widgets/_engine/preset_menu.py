"""The menu of presets, and the sentence that says where to look in the chosen one."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

import ipywidgets

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.controls import Presets, Values

OWN = "own settings"


class PresetMenu:
    """The menu of presets, and the sentence that says where to look in the chosen one.

    The values of ``stays`` do not matter for presets that leave them out.
    """

    def __init__(
        self, presets: Presets, set_preset: Callable[[str], object], stays: frozenset[str]
    ) -> None:
        self._presets, self._set_preset, self._stays = presets, set_preset, stays
        self._quiet, self._chosen = False, OWN
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
        if self._chosen not in fitting:
            self._chosen = OWN
        name = self._chosen
        if name == OWN and fitting:
            name = max(fitting, key=fitting.__getitem__)
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
        self._set_preset(name)
