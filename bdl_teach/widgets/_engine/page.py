"""The page of an explorer: its layout, and the callbacks of its controls and buttons."""

import html
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import ipywidgets

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.canvas import Place
from bdl_teach.widgets._engine.contract import Contract, Result
from bdl_teach.widgets._engine.controls import Presets, Values, Widget
from bdl_teach.widgets._engine.own_data import Unseen
from bdl_teach.widgets._engine.pointer import BUTTONS, WHILE_OWN
from bdl_teach.widgets._engine.question import QuestionBox
from bdl_teach.widgets._engine.worker import Worker

OWN = "own settings"


class PresetMenu:
    """The menu of presets, which may switch the toggles named in ``stays`` on, but never off."""

    def __init__(
        self, presets: Presets, set_values: Callable[[Values], object], stays: frozenset[str]
    ) -> None:
        self._presets = {
            name: (look, {c: v for c, v in values.items() if v or c not in stays})
            for name, (look, values) in presets.items()
        }
        self._set_values, self._stays = set_values, stays
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
        """Show in the menu which preset ``state`` matches; if it matches none, show ``OWN``.

        If it matches several, show the one that was chosen last.
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
        self._chosen = name
        self._set_values(self._presets[name][1])


class Page(Worker[Result]):
    """The part of an explorer that lays out its page and handles its controls and buttons."""

    def _make_groups(self) -> dict[str, list[Widget]]:
        """Make the buttons, and return the controls and buttons of each group, by its name."""
        acts = {
            "my data": controls.in_the_page,
            "ask": self._ask_for_point,
            "draw": lambda: self._draw_again(self._go_on_drawing),
            "resample": self._resample,
            **self._buttons(),
        }
        labels = {**BUTTONS, **self.TEXTS.buttons}
        self._made = made = {**self._controls, **self._beside()}
        for name in (one for row in self.TEXTS.groups.values() for one in row):
            if name not in made:
                label, hint = labels[name]
                made[name] = controls.button(label, hint, acts[name])
        if "my data" in made:
            made["my data"].add_class("bdl-own")
        return {name: [made[one] for one in row] for name, row in self.TEXTS.groups.items()}

    def _make_frame(self) -> list[Widget]:
        """Return the rows of the page, from the title and the buttons down to the status line."""
        acts = self._acts = {
            name: controls.button(name, hint, act)
            for name, hint, act in (
                ("undo", "the movement before (Ctrl+Z)", self.undo),
                ("redo", "what was undone (Ctrl+Y)", self.redo),
                ("reset", "all as it was at the start", self.reset),
                ("full screen", "for a lecture room; Esc ends it", controls.in_the_page),
                ("save picture", "as SVG and PNG", self._offer_picture),
                ("share", "copy the line of Python that rebuilds this", self._say_copied),
            )
        }
        acts["full screen"].add_class("bdl-full")
        acts["share"].add_class("bdl-share")
        toggles, asked = [self._pin.toggle], [self._pin.box]
        self._asks: QuestionBox | None = None
        if (question := self.QUESTION) is not None:
            control, pin = self._controls[question.control], self._pin.set_for_question
            self._asks = QuestionBox(
                question, control, self._go_from_the_start, lambda: self._draw_again(pin)
            )
            asked.insert(0, self._asks)
        if self._missions is not None:
            toggles.append(self._missions.toggle)
            asked.append(self._missions.box)
        stage = controls.box("bdl-stage", [self._picture])
        if type(self)._replay is not Contract._replay:
            stage = controls.box("bdl-shown", [stage, self._film.row])
        groups = self._make_controls_box([*toggles, acts["save picture"], acts["share"]])
        self._start = PresetMenu(self.PRESETS, self._set_preset, self.TEXTS.stays)
        title = controls.words(self.TEXTS.title, "bdl-title")
        buttons = controls.box("bdl-acts", [*toggles, *acts.values()])
        return [
            controls.box("bdl-head", [title, self._start.menu, buttons]),
            self._start.look,
            controls.box("bdl-place-of-question", asked),
            controls.box("bdl-body", [stage, groups]),
            self._status,
        ]

    def _make_controls_box(self, less_used: list[Widget]) -> Widget:
        """Make the box of groups; its button *more* reveals folded groups and ``less_used``."""
        groups, folded = self._make_groups(), self.TEXTS.folded
        panels = {name: controls.group(name, widgets) for name, widgets in groups.items()}
        behind = [widget for name in folded for widget in groups[name]]
        self._behind = {n: control for n, control in self._controls.items() if control in behind}
        self._more: Widget | None = None
        shown = [panel for name, panel in panels.items() if name not in folded]
        if folded:
            self._more = controls.toggle("more", "all other controls, and what else there is to do")
            self._more.add_class("bdl-more")
            later = [panel for name, panel in panels.items() if name in folded]
            for widget in (*less_used, *later):
                widget.add_class("bdl-folded")
            shown += [self._more, *later]
        return controls.box("bdl-controls", shown)

    def _go_from_the_start(self, values: Values) -> None:
        """Set controls to ``values``, and all others but ``TEXTS.stays`` to their starting values.

        The answer to the explorer's question is right for this start, but perhaps not for other
        values. The worker first pins the state where the question begins.
        """
        assert self.QUESTION is not None
        first = {**self._past.first, **self.QUESTION.before}
        stays = {name: value for name, value in self.state().items() if name in self.TEXTS.stays}
        self._compared = {**stays, **first}
        self._go({**self._whole(self._past.first), **values})

    def _set_preset(self, values: Values) -> None:
        self._pin.unset(of_question=True)
        self._go(self._whole(values))

    def _whole(self, state: Values) -> Values:
        """Return a copy of ``state`` with ``None`` for each missing control without a widget."""
        return {n: None for n, control in self.TEXTS.controls.items() if control.unseen} | state

    def _go(self, values: Values) -> None:
        """Set controls to ``values`` and ask for a tick."""
        self._assign(values)
        self._past.end_movement()
        self._request(self._film.to_end)

    def _taken(self, values: Values) -> Values:
        """Return the values as the controls take them, without those of controls that are gone."""
        gone = self.TEXTS.gone
        self._left_out = "".join(f" {gone[name]}" for name in values if name in gone)
        kept = {n: value for n, value in values.items() if n not in gone}
        return {n: controls.take(self._controls, n, value) for n, value in kept.items()}

    def _assign(self, values: Values) -> None:
        """Set controls to ``values`` without a tick, or set none and raise ``ValueError``."""
        values = self._taken(values)
        if "data" in self._controls and any(name in values for name in self._DRAWN_BY):
            values.setdefault("data", None)
        self._quiet = True
        try:
            with ExitStack() as held:  # observers are called after all values are set
                for name in values:
                    held.enter_context(self._controls[name].hold_trait_notifications())
                for name, value in values.items():
                    self._controls[name].value = value
        finally:
            self._quiet = False

    def _offer_picture(self) -> None:
        name = type(self).__name__
        self._picture.send({"save": f"{name}.svg", "kind": "image/svg+xml"}, [self.svg()])
        self._picture.send({"save": f"{name}.png", "kind": "image/png"}, [self.png()])

    def _say_copied(self) -> None:
        self._say(f"Copied: {self.code()}")

    def _resample(self) -> None:
        drawn = {"data": None} if "data" in self._controls else {}
        self._go({"seed": (self._controls["seed"].value + 1) % 100, **drawn})

    def _on_change(self, change: Any) -> None:
        if self._quiet:
            return
        self._left_out = ""
        if any(change["owner"] is self._controls.get(name) for name in self._DRAWN_BY):
            self._assign({"data": None} if "data" in self._controls else {})
        self._request(self._film.to_end)

    def _show_state(self) -> None:
        """Update menu, buttons and dimmed controls to the present state."""
        state = self.state()
        self._start.show(state)
        self._dim(state)
        if self._more is not None:
            moved = ", ".join(
                f"{control.description} {controls.written(control, control.value)}"
                for name, control in self._behind.items()
                if not controls.alike(state[name], self.DEFAULTS[name])
            )
            self._more.description = f"more ({moved})" if moved else "more"
        self._acts["undo"].disabled = self._past.before is None
        self._acts["redo"].disabled = not self._past.ahead
        self._picture.line = f"from bdl_teach import widgets; {self.code()}"

    def _dim(self, state: Values) -> None:
        """Dim the controls that have no effect, or that would replace the learner's own points."""
        idle = self._idle(state)
        drawing = {*self._DRAWN_BY, "seed"} if state.get("data") is not None else set()
        for name, control in self._controls.items():
            dimmed = name in idle or name in drawing
            if isinstance(control, Unseen) or dimmed == control.disabled:
                continue
            control.disabled = dimmed
            (control.add_class if dimmed else control.remove_class)("bdl-idle")
            if name in (*self._DRAWN_BY, "seed"):
                control.tooltip = WHILE_OWN if name in drawing else self.TEXTS.controls[name].hint

    def _on_place(self, change: Any) -> None:
        self._shown_at = Place(**change["new"])
        self._draw_again()
        self._begin_chores()

    def _on_use(self, change: Any) -> None:
        if not change["new"] and self._without_still:
            self._draw_again()
