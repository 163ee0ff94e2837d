"""What the pointer does in the picture: edit points, choose a place; pasted tables."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bdl_teach import datasets
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine import own_data
from bdl_teach.widgets._engine.background import Owned
from bdl_teach.widgets._engine.model import Model
from bdl_teach.widgets._engine.own_data import Points
from bdl_teach.widgets._engine.session import Session
from bdl_teach.widgets._engine.stage import Stage


class Pointer(Owned):
    """The messages of ``pointer.js``, which change the session and the stage."""

    def __init__(self, model: Model[Any], session: Session, stage: Stage) -> None:
        self._model, self._session, self._stage = model, session, stage
        self._answered = 0  # number of the page's last message about points
        self.answer: dict[str, Any] | None = None  # to a pasted table, for the page

    @property
    def _points(self) -> Points | None:
        return self._session.known.get("data")

    def on_pointer(self, did: dict[str, Any], when: float) -> None:
        """Handle what the pointer ``did``: edit points, or choose a place."""
        act, history = did["act"], self._session.history
        self._answered = int(did.get("number", self._answered))
        if act in ("down", "up"):
            history.end_movement()
            history.held = act == "down"
            self._stage.hold_axes(history.held)
            if act == "up":
                self._session.on_tick()
        if "panel" in did:
            self._choose_place(did, when)
        elif self._points is not None and (now := self.shown_points()) is not None:
            self._edit(did, now, when)

    def _choose_place(self, did: dict[str, Any], when: float) -> None:
        values, result = self._session.values, self._stage.result
        begins = did["act"] == "down"
        if result is None:
            return
        if (found := self._model.point_at(values, result, did["x"], did["y"], begins)) is not None:
            self._session.on_edit(found, when, goes_on=not begins)

    def on_table(self, did: dict[str, Any], when: float) -> None:
        """Read a pasted table; answer what is wrong or what the learner must choose."""
        chosen = {name: did[name] for name in ("columns", "decimal", "day_first") if name in did}
        self.answer = {"refused": ""}
        assert self._points is not None
        try:
            table = datasets.read_points(str(did.get("text")), **chosen)
            self._session.on_edit({"data": self._points.read(table)}, when)
        except datasets.ChooseColumns as error:
            self.answer = {"refused": "Which columns are x and y?", "columns": list(error.names)}
        except datasets.Ambiguous as error:
            ways = [[value, words] for value, words in error.readings.items()]
            given = {"argument": error.argument, "readings": ways}
            self.answer = {"refused": error.question, **given}
        except ValueError as error:
            self.answer = {"refused": str(error).removeprefix("data: ")}
        except Exception as error:  # every paste needs an answer
            said = f"this table cannot be used: {type(error).__name__}: {error}"
            self.answer = {"refused": said}

    def on_ask(self, when: float) -> str | None:
        """Add a point where the model is least sure: the truth plus noise.

        If the truth is unknown, return a sentence that says where to measure.
        """
        result, now = self._stage.result, self.shown_points()
        if result is None or now is None:
            return None
        data: Any = self._model.data(result)
        x_grid, spread = self._model.doubt(result)
        taken = np.abs(x_grid[:, None] - data.x.T).min(axis=1, initial=math.inf) < 0.02
        at = float(x_grid[np.argmax(np.where(taken, -math.inf, spread))])
        y = float(data.truth(at))
        if math.isnan(y):
            x_name, y_name = points.names(data)
            return (
                f"The function behind your points is unknown: measure {y_name} at "
                f"{x_name} = {points.at(data, at)}, and add the point."
            )
        rng = np.random.default_rng([self._session.values.get("seed", 0), len(now[0])])
        y += data.noise_std * rng.standard_normal()
        self._edit({"act": "add", "x": at, "y": y}, now, when)
        return None

    def _edit(self, did: dict[str, Any], now: points.Value, when: float) -> None:
        assert self._points is not None
        after = own_data.after(did, now, self._points.most)
        if after is not None:
            self._session.on_edit({"data": after}, when, goes_on=did["act"] == "move")

    def shown_points(self) -> points.Value | None:
        """Return the shown points as a value of the control ``data``."""
        if self._points is None:
            return None
        value: points.Value | None = self._session.values.get("data")
        if value is None and self._stage.result is not None:
            data = self._model.data(self._stage.result)
            value = points.from_course(data.x[:, 0], data.y[:, 0])
        return value

    def places(self) -> dict[str, Any]:
        """Return, for the page, the places of the points, if there are any.

        "answers" is the number of the newest message of the page that they answer.
        """
        now = self.shown_points()
        at = [] if now is None else np.stack(points.in_course(now), axis=1).round(4).tolist()
        return {"at": at, "answers": self._answered}

    def notes(self) -> str:
        """Return sentences on the points: how their table was read, and whether some are gone."""
        if self._points is None:
            return ""
        said = self._points.notes(self._stage.painted.get("data"))
        before = self._session.history.before or {}
        lost = before.get("data") is not None and self._session.values.get("data") is None
        return said + " Your points are gone: “undo” brings them back." * lost
