"""Handle what ``pointer.js`` reports: edits of points, pasted tables, a band that is drawn."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from bdl_teach import datasets
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine import own_data, status
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from bdl_teach.widgets._engine.contract import Contract, Result
from bdl_teach.widgets._engine.prediction_drawing import ASKS, DrawnBand

BUTTONS = {
    "my data": ("my data", "paste or drop a table of two columns"),
    "ask": (
        "ask where unsure",
        "a new point where the epistemic sd is largest, anywhere in the picture",
    ),
    "draw": ("draw it", "draw the band yourself, before you see it"),
}
WHILE_OWN = "draws other points: undo or reset takes your own away first"


class PointerInput(Contract[Result]):
    """The part of an explorer that handles the pointer in its picture."""

    # Texts and readings about the points.

    def _label_axes(self, result: Any) -> bool:
        """Label the panels in the units of the points; return whether the units changed."""
        data = self._data(result)
        return data is not None and any([panel.label(data) for panel in self._active_panels])

    def _words_on_points(self, result: Any) -> dict[str, str]:
        """Return the templates of the status line that depend on the points."""
        if (data := self._data(result)) is None:
            return {"units": ""}
        return {
            "units": points.stretched(data),
            "points": points.count(data).replace(str(len(data.x)), "{n}", 1),
            "ends": status.plain(points.ends(data)),
        }

    def _readings_on_points(self, result: Any) -> dict[str, float]:
        """Return readings: "n" (points), "own" (1 if the learner's) and "table" (1 if pasted)."""
        if (data := self._data(result)) is None:
            return {}
        return {
            "n": len(data.x),
            "own": float(isinstance(data, points.OwnPoints)),
            "table": float(points.units_of(data) != points.COURSE),
        }

    def _notes_on_points(self) -> str:
        """Return a sentence on how the table of the shown points was read; "" if there is none."""
        data = self._controls.get("data")
        return "" if data is None else str(data.notes(self._painted.get("data")))

    def _lost_points(self) -> str:
        """Return a sentence if the last movement replaced the learner's own points, else ""."""
        before = self._past.before or {}
        if before.get("data") is None or self._controls["data"].value is not None:
            return ""
        return " Your points are gone: “undo” brings them back."

    # The band that the learner draws before the fit is shown.

    @property
    def _drawing(self) -> DrawnBand | None:
        """Return the learner's band while it is being drawn, else ``None``."""
        band = self._drawn_band
        return band if band is not None and band.stage == "drawing" else None

    def _go_on_drawing(self) -> None:
        """Move the learner's band to its next stage: being drawn, beside the fit, removed."""
        band, room = self._drawn_band, self._active_panels[0].room
        if band is None or self.result is None:
            return
        with RENDER_LOCK:
            band.uncover()
            if not band.stage and room is not None and room.conceal():
                self._canvas.redraw_background()
            self._advance(band)
            self._hold_axes()
            if self._drawing is not None:
                self._pin.unset()  # a pinned copy would show the answer
                band.hide(self._canvas.moving)
        self._say_what_is_shown()
        self._show_points()

    def _advance(self, band: DrawnBand) -> None:
        """Move ``band`` to its next stage, and label the button with what its next click does."""
        band.advance()
        words = {"": "draw it", "drawing": "show the fit", "shown": "clear"}
        self._made["draw"].description = words[band.stage]

    def _end_drawing(self) -> None:
        """Remove the learner's band, finished or not, and show hidden artists."""
        while self._drawn_band is not None and self._drawn_band.stage:
            self._go_on_drawing()

    def _forget_drawing(self) -> None:
        """Remove the learner's finished band, because the points have other units now."""
        if (band := self._drawn_band) is not None and band.stage == "shown":
            self._advance(band)

    def _beside_drawing(self, said: str) -> str:
        """Return ``said`` if the learner has drawn no band; else add the score of the band.

        While the band is being drawn, instructions take the place of ``said``.
        """
        band, shown = self._drawn_band, self._shown
        if band is None or not band.stage:
            return said
        if self._drawing is not None:
            return ASKS
        prediction: Any = getattr(shown, "prediction", None)
        x = self._doubt(shown)[0]
        return f"{band.score(x, prediction.mean, prediction.epistemic_std)}; {said}"

    # Messages of the page.

    def _on_message(self, _picture: Any, content: Any, _buffers: Any) -> None:
        act = content.get("act") if isinstance(content, dict) else None
        if act == "undo":
            self.undo()
        elif act == "redo":
            self.redo()
        elif act == "hover":
            self._on_hover(content)
        elif act == "table":
            self._on_table(content)
        elif act in ("down", "move", "up", "add", "remove"):
            self._on_pointer(content)

    def _on_pointer(self, did: dict[str, Any]) -> None:
        """Handle the pointer's message ``did``: edit points or the band, or call ``_point_at``."""
        act, band = did["act"], self._drawing
        self._newest_message = int(did.get("number", self._newest_message))
        if act in ("down", "up"):
            held = act == "down"
            self._past.end_movement()
            self._past.held = held
            ask = self._draw_again if held or band is not None else self._request
            ask(partial(self._hold_axes, held))
        if "panel" in did:
            self._point_at(did["x"], did["y"], act == "down")
        elif band is not None:
            if act == "move":
                self._draw_again(partial(band.move, did["i"], did["y"]))
                self._draw_again(self._show_points)
        elif "data" in self._controls and (now := self._shown_points()) is not None:
            self._edit_points(did, now)

    def _on_hover(self, did: dict[str, Any]) -> None:
        """Make the worker mark what is under the pointer, if that has changed."""
        found = None
        if self._shown is not None and self._drawing is None and did["panel"] >= 0:
            found = self._linked(self._shown, did["panel"], did["x"], did["y"])
        if found != self._pointed:
            self._draw_again(partial(setattr, self, "_pointed", found))

    def _hold_axes(self, held: bool = False) -> None:
        """Fix or free the y limits of the panels.

        They are fixed if ``held``, while the learner draws a band, and if a question pinned A.
        """
        held = held or self._drawing is not None or self._pin.pinned_by_question
        for panel in self._active_panels:
            if panel.room is not None:
                panel.room.held = held

    def _on_table(self, did: dict[str, Any]) -> None:
        """Read a pasted table; tell the page what is wrong or what the learner must choose."""
        chosen = {name: did[name] for name in ("columns", "decimal", "day_first") if name in did}
        answer: dict[str, Any] = {"refused": ""}
        self._past.end_movement()
        try:
            table = datasets.read_points(str(did.get("text")), **chosen)
            self._controls["data"].value = self._controls["data"].read(table)
            self._show_points()
        except datasets.ChooseColumns as error:
            answer = {"refused": "Which columns are x and y?", "columns": list(error.names)}
        except datasets.Ambiguous as error:
            ways = [[value, words] for value, words in error.readings.items()]
            answer = {"refused": error.question, "argument": error.argument, "readings": ways}
        except ValueError as error:
            answer = {"refused": str(error).removeprefix("data: ")}
        except Exception as error:  # every paste needs an answer
            answer = {"refused": f"this table cannot be used: {type(error).__name__}: {error}"}
        self._picture.send(answer)

    # Edits of the points.

    def _shown_points(self) -> points.Value | None:
        """Return the shown points as a value of the control ``data``."""
        value: points.Value | None = self._controls["data"].value
        if value is None and self.result is not None:
            data = self._data(self.result)
            value = points.from_course(data.x[:, 0], data.y[:, 0])
        return value

    def _edit_points(self, did: dict[str, Any], now: points.Value) -> None:
        after = own_data.after(did, now, self._controls["data"].most)
        if after is not None:
            if did["act"] != "move":
                self._past.end_movement()
            self._controls["data"].value = after
            self._show_points()

    def _show_points(self) -> None:
        """Send the page the places of the points or, while a band is drawn, of the band's edges."""
        if (band := self._drawing) is not None:
            edges = {"at": band.handles(), "answers": self._newest_message, "kind": "edges"}
            self._picture.points = edges
        elif "data" in self._controls and (now := self._shown_points()) is not None:
            at = np.stack(points.in_course(now), axis=1).round(4).tolist()
            self._picture.points = {"at": at, "answers": self._newest_message}

    def _ask_for_point(self) -> None:
        """Add a point where the model is least sure: the truth plus noise.

        If the truth is unknown, say in the status line where to measure.
        """
        result, now = self.result, self._shown_points()
        if result is None or now is None:
            return
        data: Any = self._data(result)
        x_grid, spread = self._doubt(result)
        taken = np.abs(x_grid[:, None] - data.x.T).min(axis=1, initial=math.inf) < 0.02
        at = float(x_grid[np.argmax(np.where(taken, -math.inf, spread))])
        y = float(data.truth(at))
        if math.isnan(y):
            x_name, y_name = points.names(data)
            place = f"{x_name} = {points.at(data, at)}"
            self._say(
                f"The function behind your points is unknown: measure {y_name} at "
                f"{place}, and add the point."
            )
            return
        rng = np.random.default_rng([self.state().get("seed", 0), len(now[0])])
        y += data.noise_std * rng.standard_normal()
        self._edit_points({"act": "add", "x": at, "y": y}, now)
