"""What the picture shows: a result, a frame of its training, the pinned state."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine import status
from bdl_teach.widgets._engine.background import Owned
from bdl_teach.widgets._engine.canvas import RENDER_LOCK, Place, as_data_url
from bdl_teach.widgets._engine.controls import Values, Widget
from bdl_teach.widgets._engine.model import Model
from bdl_teach.widgets._engine.pinning import Pin, Seen
from bdl_teach.widgets._engine.replay import Film
from bdl_teach.widgets._engine.status import Said


class Stage(Owned):
    """The panels and artists of a model, and what they show.

    Args:
        model: The model, whose panels this makes.
        known: The controls by name, with the words for their values.
    """

    def __init__(self, model: Model[Any], known: dict[str, Widget]) -> None:
        self._model, self.canvas = model, (canvas := model.canvas)
        with RENDER_LOCK:
            model.make_panels(canvas)
            self.panels = model.pointer_panels()
            self._notice = canvas.add_notice()  # the box that shows failures
        self.film = Film(model.frames, model.replay)
        self.pin = Pin(canvas, self.hold_axes)
        self.result: Any = None
        self.shown: Any = None  # the result, or a frame of its training
        self.painted: Values = {}  # the values that the picture shows
        self.said = Said("")
        self._turned = False  # whether the context panel has yet to be drawn
        self.has_trace = False  # whether a grey line shows the mean that a better fit has replaced
        self.place: Place | None = None  # where the page shows the picture, if it does
        self._limits: dict[tuple[str, str], tuple[float, float]] = {}  # that were last seen
        self._compares = False  # whether the picture is that of a preset

    # Readings and words.

    def readings_of(self, shown: Any) -> dict[str, float]:
        """Return the readings of a result, or of a frame, with those of its points.

        These are "n" (points), "own" (1 if the learner's) and "table" (1 if pasted).
        """
        found: dict[str, float] = {}
        if (data := self._model.data(shown)) is not None:
            found = {
                "n": len(data.x),
                "own": float(isinstance(data, points.OwnPoints)),
                "table": float(points.units_of(data) != points.COURSE),
            }
        return {**found, **self._model.readings(shown)}

    def words_of(self, shown: Any) -> Said:
        """Return the status line of a result, or of a frame of its training."""
        on_points = {"units": ""}
        if (data := self._model.data(shown)) is not None:
            on_points = {
                "units": points.stretched(data),
                "points": points.count(data).replace(str(len(data.x)), "{n}", 1),
                "ends": status.plain(points.ends(data)),
            }
        words = {**self._model.TEXTS.status, **on_points, **self._model.words(shown)}
        words["film"] = self.film.words
        return Said("{film}{line}{units}", self.readings_of(shown), words, data)

    def sentence(self, more: str = "") -> str:
        """Return the status line: what is shown, and ``more``."""
        words = str(self.said)
        stop = "." if more and not words.endswith(".") else ""
        return f"{words}{stop}{more}"

    def note_limits(self, *, preset: bool) -> None:
        """Note the limits of the axes before a movement, to compare a ``preset``'s with them."""
        self._limits |= self._limits_now()
        self._compares = preset

    @property
    def rescaled(self) -> str:
        """Say which axes of a preset's picture have other limits than when they were last seen."""
        now = self._limits_now() if self._compares else {}
        return "".join(
            f" Another scale of {axis} in “{panel}”: {low:,.4g} to {high:,.4g}.".replace("-", "−")
            for (panel, axis), (low, high) in now.items()
            if self._limits.get((panel, axis), (low, high)) != (low, high)
        )

    def _limits_now(self) -> dict[tuple[str, str], tuple[float, float]]:
        """Return the limits of the visible panels, by a panel's title and "x" or "y"."""
        return {
            (" ".join(panel.get_title(loc="left").split()), axis): (low, high)
            for panel in self.canvas.figure.axes
            if panel.get_visible()
            for axis, (low, high) in (("x", panel.get_xlim()), ("y", panel.get_ylim()))
            if low < high  # else they are rows of names
        }

    def table(self) -> str:
        """Return the table *numbers* as HTML: the readings of what is shown, and of A."""
        then = self.pin.pinned.said if self.pin.pinned is not None and self.pin.is_fair else None
        return status.table(self.said, self._model.TEXTS.readings, then)

    # The picture.

    def draw(self, result: Any, values: Values, *, better: bool = False) -> None:
        """Draw the result for these values, or the chosen frame; ``describe`` finds its words.

        With ``better``, the result replaces a pinned one for the same values.
        """
        shown = self.film.develop(result)
        panel = getattr(self._model, "function", None)
        replaced = None if panel is None or not better else panel.shown_mean
        with RENDER_LOCK:
            if self._label_axes(result):
                self.pin.unset()  # A is in other units
                self.canvas.redraw_background(arrange=True)
            self._model.draw(shown)
            self.canvas.draw_context(shown)
            self._turned = False
            self.has_trace = panel is not None and panel.leave_trace(replaced)
            self._notice.set_visible(False)
            seen = Seen(dict(values), result, partial(self.words_of, shown))
            self.pin.note(seen, better=better)
        self.result, self.shown, self.painted = result, shown, values

    def describe(self) -> None:
        """Write the status line of what is drawn, after its picture: its readings take longer."""
        if self.pin.seen is not None:
            self.said = self.pin.seen.said

    def choose(self, panel: str) -> None:
        """Show the context panel ``panel``; ``draw_context`` or the next ``draw`` draws it."""
        with RENDER_LOCK:
            self._turned = self.canvas.choose(panel) or self._turned

    def draw_context(self) -> None:
        """Draw the context panel if another one was shown before."""
        turned, self._turned = self._turned, False
        if turned and self.shown is not None:
            with RENDER_LOCK:
                self.canvas.draw_context(self.shown)

    def draw_part(self, result: Any) -> None:
        """Draw a part of a result, without its words."""
        with RENDER_LOCK:
            self._model.draw(result)
            self.canvas.draw_context(result)
            self._notice.set_visible(False)

    def settle_pin(self) -> None:
        """Pin or unpin A, as its button says."""
        with RENDER_LOCK:
            self.pin.settle()

    def fail(self, said: str) -> None:
        """Show a failure over the picture, and as the status line."""
        self.film.empty()
        with RENDER_LOCK:
            self._notice.set_text(said)
            self._notice.set_visible(True)
        self.said = Said(status.plain(said))

    def render(self, *, sharp: bool) -> tuple[bytes, list[dict[str, Any]]]:
        """Return the picture as a ``data:`` address, and the places of the panels in it.

        It has all pixels of a fine screen if ``sharp``.
        """
        with RENDER_LOCK:
            if (place := self.place) is not None:
                coarse = replace(place, ratio=min(place.ratio, 1.0))
                self.canvas.fit(place if sharp else coarse)
            picture = as_data_url(self.canvas.render())
            return picture, [one.place() for one in self.panels if one.axes.get_visible()]

    def _label_axes(self, result: Any) -> bool:
        """Label the panels in the units of the points; return whether the units changed."""
        data = self._model.data(result)
        return data is not None and any([panel.label(data) for panel in self.panels])

    def hold_axes(self, held: bool = False) -> None:
        """Fix or free the y limits of the panels.

        They are fixed if ``held``, and if a question pinned A.
        """
        self.canvas.held = held = held or self.pin.pinned_by_question
        for panel in self.panels:
            if panel.room is not None:
                panel.room.held = held
