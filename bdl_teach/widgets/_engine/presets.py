"""The presets of an explorer, and which of them the controls are at."""

from __future__ import annotations

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.background import Owned
from bdl_teach.widgets._engine.controls import Values

OWN = "own settings"


class Presets(Owned):
    """The presets, which may switch the toggles named in ``stays`` on, but never off."""

    def __init__(self, presets: controls.Presets, stays: frozenset[str]) -> None:
        self._presets = {
            name: (look, {c: v for c, v in values.items() if v or c not in stays})
            for name, (look, values) in presets.items()
        }
        self._stays, self._chosen = stays, OWN
        self._last = ""  # the last one that matched

    def choose(self, name: str) -> Values:
        """Return the values of a preset; of several that fit them, ``at`` returns this one."""
        self._chosen = name
        return self._presets[name][1]

    def at(self, state: Values) -> tuple[str, str]:
        """Return the preset that ``state`` matches, else ``OWN``, and where to look.

        The last preset may have asked for a movement: its words stay while no second control has
        moved, points aside.
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
        if name != OWN:
            self._last = name
        look, values = self._presets.get(self._last, ("", {}))
        moved = (state.keys() | values.keys()) - self._stays - {"data"}
        differ = [c for c in moved if not controls.alike(state.get(c), values.get(c))]
        return name, look if len(differ) < 2 else ""
