"""The page of an explorer: its layout. It sends what the user does and shows what it is told."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from typing import Any

import ipywidgets

from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.canvas import Picture
from bdl_teach.widgets._engine.controls import Values, Widget
from bdl_teach.widgets._engine.missions import MissionBox, Missions
from bdl_teach.widgets._engine.model import Model
from bdl_teach.widgets._engine.own_data import Unseen
from bdl_teach.widgets._engine.presets import OWN
from bdl_teach.widgets._engine.question import QuestionBox
from bdl_teach.widgets._engine.replay import FilmRow
from bdl_teach.widgets._engine.session import Session
from bdl_teach.widgets._engine.stage import Stage

BUTTONS = {
    "my data": ("my data", "paste or drop a table of two columns"),
    "ask": (
        "ask where unsure",
        "a new point where the epistemic sd is largest, anywhere in the picture",
    ),
}
WHILE_OWN = "draws other points: undo or reset takes your own away first"

Send = Callable[..., object]  # ``Worker.send``


class View:
    """The widgets of an explorer; only the worker's thread calls the methods that show something.

    Args:
        name: The name of the explorer's class.
        model: The model, with the texts and the controls.
        send: Gets what the user does, as ``Worker.send`` does.
    """

    def __init__(self, name: str, model: Model[Any], send: Send) -> None:
        self._name, self._model, self._send = name, model, send
        self._texts = model.TEXTS
        self.controls: dict[str, Widget] = {n: model.make_control(n) for n in self._texts.controls}
        self.picture = Picture(alt=self._texts.alt)
        self._status = controls.words("", "bdl-status")
        self._film = FilmRow(send) if type(model).replay is not Model.replay else None
        self._pin = controls.toggle("pin A", "keep this in grey, to compare with what comes")
        self._numbers = controls.toggle("numbers", "all readings, and what each means")
        self._table = ipywidgets.HTML()
        self._table.add_class("bdl-readings")
        self._tabs = self._make_tabs()
        question, missions = self._texts.question, self._texts.missions
        self._question = None if question is None else QuestionBox(question, send)
        self._missions = MissionBox(missions, send) if missions else None
        self._menu = ipywidgets.Dropdown(
            options=[OWN, *self._texts.presets],
            value=OWN,
            description="start from",
            tooltip="settings that show something, and where to look",
            style={"description_width": "initial"},
        )
        self._look = controls.words("", "bdl-look")
        self._acts = self._make_acts()
        self._made = self._make_group_widgets()
        self.more = controls.toggle("more", "all other controls, and what else there is to do")
        self.more.add_class("bdl-more")
        self.rows = self._make_rows()

    def _make_tabs(self) -> Widget:
        """Make the tabs of the context panels, if there are several."""
        labels = [(label, name) for name, (label, _) in self._texts.context.items()]
        tabs = ipywidgets.ToggleButtons(options=labels)
        tabs.add_class("bdl-tabs")
        if len(labels) < 2:
            tabs.layout.display = "none"
        return tabs

    def _make_acts(self) -> dict[str, Widget]:
        """Make the buttons beside the title."""
        made = {
            name: controls.button(name, hint, act)
            for name, hint, act in (
                ("undo", "the movement before (Ctrl+Z)", self._sender("undo")),
                ("redo", "what was undone (Ctrl+Y)", self._sender("redo")),
                ("reset", "all as it was at the start", self._sender("reset")),
                ("full screen", "for a lecture room; Esc ends it", self._close_more),
                ("save picture", "as SVG and PNG", self._sender("save")),
                (
                    "share",
                    "copy the line of Python that rebuilds this",
                    self._sender("share"),
                ),
            )
        }
        made["full screen"].add_class("bdl-full")
        made["share"].add_class("bdl-share")
        return made

    def _close_more(self) -> None:
        """Leave the room that *more* takes to the picture: a script fills the screen."""
        self.more.value = False

    def _make_group_widgets(self) -> dict[str, Widget]:
        """Return the controls, the buttons and other widgets of the groups, by name."""
        acts: dict[str, Callable[[], object]] = {"my data": controls.in_the_page}
        acts["ask"] = self._sender("ask")
        acts |= {name: self._sender("press", name=name) for name in self._model.buttons()}
        labels = {**BUTTONS, **self._texts.buttons}
        made = {**self.controls, **self._model.beside()}
        for name in (one for row in self._texts.groups.values() for one in row):
            if name not in made:
                label, hint = labels[name]
                made[name] = controls.button(label, hint, acts[name])
        if "my data" in made:
            made["my data"].add_class("bdl-own")
        return made

    def _sender(self, act: str, **given: Any) -> Callable[[], object]:
        return lambda: self._send(act, **given)

    def _make_rows(self) -> list[Widget]:
        """Return the rows of the page, from the title and the buttons down to what *more* opens."""
        links, asked = [], []
        if self._question is not None:
            links.append(self._question.toggle)
            asked.append(self._question.box)
        if self._missions is not None:
            links.append(self._missions.toggle)
            asked.append(self._missions.box)
        groups = {
            name: controls.group(name, [self._made[one] for one in row])
            for name, row in self._texts.groups.items()
        }
        at_first = [box for name, box in groups.items() if name not in self._texts.folded]
        folded = [box for name, box in groups.items() if name in self._texts.folded]
        acts = [self._acts[name] for name in self._acts if name != "undo"]
        film = [] if self._film is None else [self._film.row]
        self._numbers.add_class("bdl-numbers")
        for link in (*links, self._numbers):
            link.add_class("bdl-link")
        title = controls.words(self._texts.title, "bdl-title")
        buttons = controls.box("bdl-acts", [*links, self._pin, self._acts["undo"], self.more])
        later = controls.box("bdl-later", [*film, *folded, controls.box("bdl-acts", acts)])
        body = [
            self._tabs,
            controls.box("bdl-stage", [self.picture]),
            controls.box("bdl-side", []),
            controls.box("bdl-controls", at_first),
        ]
        return [
            controls.box("bdl-head", [title, self._menu, buttons]),
            self._look,
            controls.box("bdl-place-of-question", asked),
            controls.box("bdl-body", body),
            controls.box("bdl-below", [self._status, self._numbers]),
            self._table,
            later,
        ]

    # What the user does.

    def listen(self) -> None:
        """Begin to send what the user does."""
        for name, control in self.controls.items():
            control.observe(self._sender_of(name), names="value")
        self._menu.observe(self._on_preset, names="value")
        self._tabs.observe(lambda c: self._send("show", name=c["new"]), names="value")
        self._pin.observe(lambda c: self._send("pin", on=c["new"]), names="value")
        self._numbers.observe(lambda _: self._send("wake"), names="value")
        self.picture.observe(lambda c: self._send("place", place=c["new"]), names="place")
        self.picture.observe(lambda c: c["new"] or self._send("wake"), names="in_use")
        self.picture.on_msg(self._on_message)

    def _sender_of(self, name: str) -> Callable[[Any], object]:
        def move(change: Any) -> None:
            self._dim(self.state())  # at once, since the keyboard may go on to the next control
            self._send("move", name=name, value=change["new"])

        return move

    def _on_preset(self, change: Any) -> None:
        if change["new"] != OWN:
            self._send("preset", name=change["new"])

    def _on_message(self, _picture: Any, content: Any, _buffers: Any) -> None:
        """Send on a message of ``page.js`` or ``pointer.js``."""
        act = content.get("act") if isinstance(content, dict) else None
        if act in ("undo", "redo"):
            self._send(act)
        elif act == "preset" and content["name"] in self._texts.presets:
            self._send(act, name=content["name"])
        elif act == "ask whether done":
            self._send("ask_whether_done", number=content["number"])
        elif act == "table":
            self._send(act, did=content)
        elif act in ("down", "at", "move", "up", "add", "remove"):
            self._send("pointer", did=content)

    # What is shown.

    @property
    def said(self) -> str:
        """Return the text of the status line."""
        return html.unescape(self._status.value)

    def say(self, sentence: str) -> None:
        """Show a sentence in the status line."""
        self._status.value = html.escape(sentence)

    def state(self) -> Values:
        """Return the values of all controls that have one."""
        values = {name: control.value for name, control in self.controls.items()}
        return {name: value for name, value in values.items() if value is not None}

    def code(self) -> str:
        """Return the line of Python that rebuilds the explorer in its present state."""
        default = self._texts.defaults.get
        moved = {name: v for name, v in self.state().items() if v != default(name)}
        shown = {n: float(f"{v:.10g}") if isinstance(v, float) else v for n, v in moved.items()}
        if self._tabs.value != next(iter(self._texts.context), None):
            shown["show"] = self._tabs.value
        given = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"widgets.{self._name}({given})"

    def show_controls(self, session: Session) -> None:
        """Show the values of the controls, and what goes with them: menu, buttons, dimmed ones."""
        values = session.values
        for name, control in self.controls.items():
            if control.value != values.get(name):
                control.value = values.get(name)
        preset, look = session.presets.at(values)
        self._menu.value = preset
        stop = "" if look.endswith("?") else "."
        self._look.value = look and f"<b>Look:</b> {html.escape(look)}{stop}"
        self._dim(values)
        moved = ", ".join(self._moved_behind_more(values))
        self.more.description = f"more ({moved})" if moved else "more"
        if session.show:
            self._tabs.value = session.show
        self._acts["undo"].disabled = session.history.before is None
        self._acts["redo"].disabled = not session.history.ahead
        self.picture.line = f"from bdl_teach import widgets; {self.code()}"
        if self._question is not None and session.asked is not None:
            self._question.show(session.asked)

    def _moved_behind_more(self, values: Values) -> Iterator[str]:
        """Yield a text for each control behind *more* that is not at its default."""
        behind = {one for name in self._texts.folded for one in self._texts.groups[name]}
        for name, control in self.controls.items():
            default = self._texts.defaults.get(name)
            if name in behind and not controls.alike(values.get(name), default):
                yield f"{control.description} {controls.written(control, values[name])}"

    def _dim(self, values: Values) -> None:
        """Dim the controls that have no effect, or that would replace the learner's own points."""
        idle, drawn_by = self._model.idle(values), {*self._model.DRAWN_BY, "seed"}
        own = drawn_by if values.get("data") is not None else set()
        for name, control in self.controls.items():
            dimmed = name in idle or name in own
            if isinstance(control, Unseen) or dimmed == control.disabled:
                continue
            control.disabled = dimmed
            (control.add_class if dimmed else control.remove_class)("bdl-idle")
            if name in drawn_by:
                control.tooltip = WHILE_OWN if name in own else self._texts.controls[name].hint

    def show(self, said: str, stage: Stage, missions: Missions, points: dict[str, Any]) -> None:
        """Show the status line, and the states of replay, pin, mission and points."""
        self.say(said)
        if self._film is not None:
            self._film.show(stage.film)
        self._pin.value = stage.pin.wanted
        if self._numbers.value:
            self._table.value = stage.table()
        if self._missions is not None:
            self._missions.show(missions)
        self.picture.points = points

    def show_picture(self, picture: bytes, panels: list[dict[str, Any]]) -> None:
        """Show the picture, and tell the page where its panels are."""
        self.picture.is_still = False
        self.picture.value = picture
        self.picture.panels = panels

    def offer(self, svg: bytes, png: bytes) -> None:
        """Offer the picture as two files."""
        for kind, mime, content in (("svg", "image/svg+xml", svg), ("png", "image/png", png)):
            self.picture.send({"save": f"{self._name}.{kind}", "kind": mime}, [content])

    @property
    def parts(self) -> list[Widget]:
        """Return all widgets of the rows, with their layouts and styles, deepest first."""
        return [one for row in self.rows for one in _parts(row)]


def _parts(widget: Widget) -> list[Widget]:
    parts: list[Widget] = []
    for child in getattr(widget, "children", ()):
        parts += _parts(child)
    style = [widget.style] if hasattr(widget, "style") else []
    return [*parts, widget.layout, *style, widget]
