"""What a hand does in the picture of an explorer: points, a table, a band that is drawn.

The page says what the hand did (``touch.js``); here it becomes values of controls, and what the
picture then marks or hides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from bdl_teach import datasets
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine import controls, status, touch
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from bdl_teach.widgets._engine.contract import Contract, Result
from bdl_teach.widgets._engine.controls import Widget
from bdl_teach.widgets._engine.points import Points
from bdl_teach.widgets._engine.sketch import ASKS, Sketch

WHILE_OWN = "draws other points: undo or reset takes your own away first"


class Touched(Contract[Result], abstract=True):
    """The part of an explorer that answers a hand in its picture."""

    # Points by hand.

    @property
    def _most(self) -> int:
        """How many points there may be."""
        most: int = self._controls["data"].most
        return most

    def _label_axes(self, result: Any) -> bool:
        """Label what can be touched in the units of the points; says whether that changed."""
        if "data" not in self._controls:
            return False
        data = self._data(result)
        return any([panel.label(data) for panel in self._touched])

    def _words_on_points(self, result: Any) -> dict[str, str]:
        """How many points there are, where the ends of their axis are, and in which units."""
        if "data" not in self._controls:
            return {"units": ""}
        data = self._data(result)
        return {
            "units": points.stretched(data),
            "points": points.count(data).replace(str(len(data.x)), "{n}", 1),
            "ends": status.plain(points.ends(data)),
        }

    def _readings_on_points(self, result: Any) -> dict[str, float]:
        """How many points there are; 1 if they are the learner's own, if they are a table's."""
        if "data" not in self._controls:
            return {}
        data = self._data(result)
        return {
            "n": len(data.x),
            "own": float(isinstance(data, points.OwnPoints)),
            "table": float(points.units_of(data) != points.COURSE),
        }

    def _make_sketch(self) -> Sketch | None:
        """Edges to be drawn by hand, in the first panel where something stays meanwhile."""
        for panel in self._touched:
            if panel.stays:
                sketch = Sketch(panel.axes, panel.stays)
                self._canvas.animate(sketch.artists)
                return sketch
        return None

    @property
    def _drawing(self) -> Sketch | None:
        """The edges, while a hand draws them."""
        return self._sketch if self._sketch is not None and self._sketch.drawing else None

    def _draw_button(self) -> Widget:
        """The button that begins a drawing, shows the fit, and takes the drawing away."""
        self._drawn = controls.button(
            "draw it", "draw the band yourself, before you see it", self._on_draw
        )
        return self._drawn

    def _on_draw(self) -> None:
        """Go on with the drawing: begin, show the fit beside it, take it away."""
        sketch = self._sketch
        if sketch is None or self.result is None:
            return
        with RENDER_LOCK:
            sketch.uncover()
            room = self._touched[0].room
            if not sketch.stage and room is not None and room.conceal():
                self._canvas.redraw_background()
            sketch.advance()
            self._hold_axes()
            if sketch.drawing:
                self._pin.unset()  # its ghost would give the band away
                sketch.hide(self._canvas.moving)
        self._name_drawing(sketch)
        self._say_what_is_shown()
        self._show_points()
        self._draw_again()

    def _name_drawing(self, sketch: Sketch) -> None:
        """Have the button say what it does next."""
        words = {"": "draw it", "drawing": "show the fit", "shown": "clear"}
        self._drawn.description = words[sketch.stage]

    def _end_drawing(self) -> None:
        """Take a drawing away, be it finished or not, and show what it hides."""
        for _ in range(2):  # a drawn band stands beside the fit first
            if self._sketch is not None and self._sketch.stage:
                self._on_draw()

    def _forget_drawing(self) -> None:
        """Take away a band that was drawn for points in other units."""
        if (sketch := self._sketch) is not None and sketch.stage == "shown":
            sketch.advance()
            self._name_drawing(sketch)

    def _beside_drawing(self, said: str) -> str:
        """The status line: what a drawing asks for while it is drawn, and its score after it."""
        sketch = self._sketch
        if sketch is None or not sketch.stage:
            return said
        if sketch.drawing:
            return ASKS
        shown: Any = self._shown
        x, prediction = self._doubt(shown)[0], shown.prediction
        return f"{sketch.score(x, prediction.mean, prediction.epistemic_std)}; {said}"

    def _notes_on_points(self) -> str:
        """Say how the points that are shown have been read from a table."""
        data = self._controls.get("data")
        return data.notes(self._painted.get("data")) if isinstance(data, Points) else ""

    def _lost_points(self) -> str:
        """Say it where the last movement has taken the learner's points away."""
        before = self._past.before
        lost = before is not None and before.get("data") is not None
        if not lost or self._controls["data"].value is not None:
            return ""
        return " Your points are gone: “undo” brings them back."

    def _hand_buttons(self) -> dict[str, Callable[[], Widget]]:
        """Say how to make the buttons of who has a panel with points."""
        return {"my data": self._own_button, "ask": self._ask_button, "draw": self._draw_button}

    def _own_button(self) -> Widget:
        own = controls.button(
            "my data", "paste or drop a table of two columns", controls.in_the_page
        )
        own.add_class("bdl-own")
        return own

    def _ask_button(self) -> Widget:
        return controls.button(
            "ask where unsure",
            "a new point where the epistemic sd is largest, anywhere in the picture",
            self._ask_for_point,
        )

    def _now(self) -> points.Value | None:
        """The points that are shown, as a value of their control."""
        if (set_by_hand := self._controls["data"].value) is not None:
            value: points.Value = set_by_hand
            return value
        data = None if self.result is None else self._data(self.result)
        return None if data is None else points.from_course(data.x[:, 0], data.y[:, 0])

    def _on_touch(self, did: dict[str, Any]) -> None:
        """Do to the points what the hand did in the page."""
        act, now = did["touch"], self._now() if "data" in self._controls else None
        self._heard = int(did.get("number", self._heard))
        if act == "hover":
            self._on_hover(did)
            return
        if act in ("down", "up"):
            self._hold(act == "down")
        if "panel" in did:
            x, y = float(did.get("x", 0.0)), float(did.get("y", 0.0))
            self._point_at(int(did["panel"]), x, y, act == "down")
        elif act == "table":
            self._picture.answer_table(**self._take_table(did))
        elif (sketch := self._drawing) is not None:
            if act == "move" and math.isfinite(y := float(did.get("y", math.nan))):
                sketch.move(int(did.get("i", 0)), y)
                self._show_points()
        elif now is not None:
            self._edit_points(did, now)

    def _edit_points(self, did: dict[str, Any], now: points.Value) -> None:
        """Do to the points what can be done to them; all but a way is a movement of its own."""
        after = touch.after(did, now, self._most)
        if after is not None:
            if did["touch"] != "move":
                self._past.end_movement()
            self._controls["data"].value = after
            self._show_points()

    def _show_points(self) -> None:
        """Tell the page where the points are."""
        if (sketch := self._drawing) is not None:
            self._picture.points = {
                "at": sketch.handles(), "answers": self._heard, "kind": "edges"
            }  # fmt: skip
        elif "data" in self._controls and (now := self._now()) is not None:
            at = np.stack(points.in_course(now), axis=1).round(4).tolist()
            self._picture.points = {"at": at, "answers": self._heard}

    def _on_hover(self, did: dict[str, Any]) -> None:
        """Have marked what the hand points at, if that is something else than before."""
        panel, at = int(did.get("panel", -1)), (float(did.get("x", 0)), float(did.get("y", 0)))
        shown = None if self._drawing is not None else self._shown
        found = None if shown is None or panel < 0 else self._linked(shown, panel, *at)
        if found != self._pointed:
            self._pointed = found
            self._draw_again()

    def _hold(self, held: bool) -> None:
        """Keep limits still while a hand holds a point, and take its way for one movement."""
        self._past.end_movement()
        self._past.held = held
        self._hold_axes(held)
        if not held and self._drawing is None:
            self._request()

    def _hold_axes(self, held: bool = False) -> None:
        """Keep heights while a hand holds a point or draws, or a question compares two pictures."""
        held = held or self._drawing is not None or self._pin.compares
        for panel in self._touched:
            panel.hold(held)

    def _take_table(self, did: dict[str, Any]) -> dict[str, Any]:
        """Take a table that was pasted, or return what is wrong with it, or to be chosen."""
        chosen = {name: did[name] for name in ("columns", "decimal", "day_first") if name in did}
        try:
            self._go({"data": datasets.read_points(str(did.get("text")), **chosen)})
        except datasets.ChooseColumns as error:
            return {"refused": "Which columns are x and y?", "columns": list(error.names)}
        except datasets.Ambiguous as error:
            ways = [[value, words] for value, words in error.readings.items()]
            return {"refused": error.question, "argument": error.argument, "readings": ways}
        except ValueError as error:
            return {"refused": str(error).removeprefix("data: ")}
        except Exception as error:  # a paste must not be without an answer
            return {"refused": f"this table cannot be used: {type(error).__name__}: {error}"}
        return {"refused": ""}

    def _ask_for_point(self) -> None:
        """Add a point where the model is least sure; the truth answers, with its noise."""
        result, now = self.result, self._now()
        if result is None or now is None:
            return
        data: Any = self._data(result)
        x_grid, spread = self._doubt(result)
        at = touch.least_sure(x_grid, spread, data.x[:, 0])
        y = float(data.truth(at))
        if math.isnan(y):
            place = f"{points.x_name(data)} = {points.at(data, at)}"
            self._say(
                f"No truth is known behind your own points: measure {points.y_name(data)} at "
                f"{place}, and add the point."
            )
            return
        rng = np.random.default_rng([self.state().get("seed", 0), len(now[0])])
        y += data.noise_std * rng.standard_normal()
        self._edit_points({"touch": "add", "x": at, "y": y}, now)
