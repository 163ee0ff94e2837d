"""``Explorer``: the methods that a user calls, and how an explorer is made and closed."""

from __future__ import annotations

import base64
import os
from typing import Any, ClassVar, Self

from ipywidgets import VBox

from bdl_teach._startup import loading
from bdl_teach._support.views import stored_still
from bdl_teach.widgets._engine import background
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from bdl_teach.widgets._engine.contract import Result
from bdl_teach.widgets._engine.controls import Widget
from bdl_teach.widgets._engine.history import History
from bdl_teach.widgets._engine.page import Page
from bdl_teach.widgets._engine.worker import sentence

# Set by the notebook builder, so that a committed output holds the finished picture.
WAIT_VARIABLE = "BDL_TEACH_WAIT_FOR_PICTURE"
STILL = "still picture: run this cell to move it"
_CLOSED = (
    "this {0} was closed, by close() or because a newer one was made: use the newer one, or make "
    "another with {0}()"
)


class Explorer(Page[Result], VBox):  # type: ignore[misc]
    """A picture with controls; the picture is recomputed whenever a control moves.

    Creating an explorer closes the previous one of the same class, of which a still remains.

    Attributes:
        result: The result of the last tick, which a replay does not change; at first ``None``.
        ticks: Number of ticks so far.
    """

    _newest: ClassVar[dict[type, Explorer[Any]]] = {}

    def __init__(self, **values: Any) -> None:
        """Make the explorer.

        Args:
            **values: Starting values of controls, as ``state()`` returns them.

        Raises:
            ValueError: No such control, or a value outside its range.
        """
        self._process = os.getpid()
        self._make_parts()
        super().__init__(children=self._make_frame())
        self.add_class("bdl-explorer")
        if self.TEXTS.wide:
            self.add_class("bdl-wide")
        try:
            self._assign(values)
        except ValueError:
            self.close()
            raise
        self._past = History(self._undoable())
        self._show_state()
        for control in self._controls.values():
            control.observe(self._on_change, names="value")
        self._picture.observe(self._on_place, names="place")
        self._picture.observe(self._on_use, names="in_use")
        self._picture.on_msg(self._on_message)
        previous = Explorer._newest.pop(type(self), None)
        if previous is not None and previous._process == self._process:
            if self._more is not None and previous._more is not None:
                self._more.value = previous._more.value
            self._picture.value = previous._picture.value
            previous.close()
        else:
            still = stored_still(type(self).__name__)
            self._picture.value = f"data:image/png;base64,{still}".encode() if still else b""
        Explorer._newest[type(self)] = self
        self._say("Loading TensorFlow …")
        background.start(self._work)
        background.start(self._improve_at_rest)
        self._request()

    def set(self, **values: Any) -> Self:
        """Move controls as a user would, and wait for the picture.

        Args:
            **values: New values of controls, by name.

        Raises:
            ValueError: No such control, or a value outside its range; then no control has moved.
            RuntimeError: The explorer has been closed, or lives in another process.
            DivergedError: The fit diverged. Any other exception of a tick is raised as it is.
        """
        self._must_live()
        self._go(values)
        return self.wait()

    def wait(self, timeout: float = 120.0) -> Self:
        """Wait for the picture of the latest values; raise the error of the tick, if any."""
        self._must_live()
        self._slot.wait(timeout)
        self._must_live()
        return self

    def settle(self, timeout: float = 120.0) -> Self:
        """Wait for the picture, its best fit and, if it is switched on, the true posterior."""
        self.wait(timeout)
        if self._film.at_end and not self._rested.wait(timeout):
            raise TimeoutError(f"expected the best fit within {timeout:g} s, got none")
        return self.wait(timeout)

    def warm(self, timeout: float = 300.0) -> Self:
        """Wait until every program that a control can need has been compiled."""
        self.wait(timeout)
        self._begin_chores(unseen=True)
        if not self._warmed.wait(timeout):
            raise TimeoutError(f"expected all programs compiled within {timeout:g} s, some are not")
        return self

    def replay(self, step: int | None = None) -> Self:
        """Show the fit as it was at a step of its training, and wait for the picture.

        Neither the controls nor ``result`` change. The next tick shows the whole training again.

        Args:
            step: Number of the step; the nearest stored one is shown. By default the last.
        """
        self.wait()
        self._draw_again(self._film.to_end if step is None else lambda: self._film.nearest(step))
        return self.wait()

    @property
    def presets(self) -> tuple[str, ...]:
        """Return the names of the presets."""
        return tuple(self.PRESETS)

    def preset(self, name: str) -> Self:
        """Set all controls to the preset ``name``, and wait for its picture.

        A preset may switch the true posterior on, but never off.
        """
        if name not in self.PRESETS:
            raise ValueError(f"preset: expected one of {', '.join(self.PRESETS)}, got {name!r}")
        self._must_live()
        self._start.choose(name)
        return self.wait()

    def readings(self) -> dict[str, float]:
        """Return all readings of the shown result, by name."""
        if self._shown is None:
            self.wait()
        assert self._shown is not None
        return self._readings_of(self._shown)

    def pin(self) -> Self:
        """Pin what is shown as state A, in grey, to compare later states with it."""
        self._draw_again(self._pin.set)
        return self.wait()

    def unpin(self) -> Self:
        """Remove the pinned state A from the picture and the status line."""
        self._draw_again(self._pin.unset)
        return self.wait()

    @property
    def missions(self) -> tuple[str, ...]:
        """Return the ids of the missions."""
        return tuple(mission.id for mission in self.MISSIONS)

    @property
    def done(self) -> tuple[str, ...]:
        """Return the ids of the missions that have been done, now or in an earlier session."""
        return () if self._missions is None else self._missions.done()

    def mission(self, name: str | None) -> Self:
        """Choose a mission, as the button *missions* does.

        The mission is judged as soon as no control moves, and added to ``done`` if it is solved.

        Args:
            name: One of ``missions``; ``None`` shows the explorer's question in their place.

        Raises:
            ValueError: There is no such mission.
        """
        self._must_live()
        if self._missions is None:
            raise ValueError(f"mission: {type(self).__name__} has no missions, got {name!r}")
        self._missions.choose(name)
        return self.wait()

    def undo(self) -> None:
        """Go back to the state before the last movement of a control."""
        if (state := self._past.undo()) is not None:
            self._go(self._whole(state))

    def redo(self) -> None:
        """Go forward to the state that was undone last."""
        if (state := self._past.redo()) is not None:
            self._go(self._whole(state))

    def reset(self) -> None:
        """Set all controls but the true posterior's toggle to their starting values.

        This also removes a drawn band, and asks the explorer's question again.
        """
        self._draw_again(self._end_drawing)
        self._pin.unset(of_question=True)
        self._go(self._whole(self._past.first))
        if self._asks is not None:
            self._asks.ask()

    def close(self) -> None:
        """Stop the worker and remove the widgets, here and in the browser."""
        if self._slot.closed:
            return
        self._slot.close()
        self._at_rest.close()
        if Explorer._newest.get(type(self)) is self:
            del Explorer._newest[type(self)]
        row = self._film.row  # not a child of the page without a training
        for widget in (*_parts(self), *_parts(row), row):
            widget.close()
        super().close()
        _leave_outputs(self)
        loading.trim_heap()
        self.__dict__.pop("_repr_mimebundle_", None)  # ipywidgets has set it to None

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Return the MIME bundle of the live view or, if it is closed, of a sentence that says so.

        After the first tick, the bundle also has a still and a description of it.
        """
        if self._slot.closed:
            bundle: dict[str, Any] = {"text/plain": sentence(_CLOSED.format(type(self).__name__))}
        else:
            if os.environ.get(WAIT_VARIABLE):
                self.settle()
            bundle = super()._repr_mimebundle_(**options)
        if (shown := self._shown) is not None:
            said = f"{bundle['text/plain']} It showed: " if self._slot.closed else ""
            with RENDER_LOCK:
                still = self._canvas.still(STILL)
            bundle["image/png"] = base64.b64encode(still).decode("ascii")
            words = self._pin.marked(self._words_of(shown))
            bundle["text/plain"] = f"{said}{self.TEXTS.alt} {words}"
        return bundle

    def _ipython_display_(self) -> None:
        """Display the explorer, so that a still can be added to the cell's output later."""
        from IPython.display import display

        bundle = self._repr_mimebundle_()
        shown = display(bundle, raw=True, display_id=True)
        if shown is not None and "image/png" not in bundle and not self._slot.closed:
            self._without_still.append(shown)
            if self.result is not None:  # it came during the display
                self._draw_again()

    def _must_live(self) -> None:
        if self._slot.closed:
            raise RuntimeError(_CLOSED.format(type(self).__name__))
        if os.getpid() != self._process:
            raise RuntimeError(
                f"this {type(self).__name__} belongs to the process that made it: use it there; a "
                "forked process has no thread that refits it"
            )


def _leave_outputs(explorer: Explorer[Any]) -> None:
    """Remove an explorer from IPython's stored outputs, which would keep it in memory."""
    from IPython.core.getipython import get_ipython

    if (shell := get_ipython()) is None:
        return
    for held in (shell.user_ns, shell.user_ns_hidden, shell.user_ns.get("_oh", {})):
        for name in [n for n, v in held.items() if v is explorer and not str(n)[0].isalpha()]:
            del held[name]


def _parts(widget: Widget) -> list[Widget]:
    """Return the descendants of a widget, with all layouts and styles, deepest first."""
    parts: list[Widget] = []
    for child in getattr(widget, "children", ()):
        parts += [*_parts(child), child]
    return [*parts, widget.layout, *([widget.style] if hasattr(widget, "style") else [])]


def _close_all() -> None:
    for explorer in list(Explorer._newest.values()):
        if explorer._process == os.getpid():  # a forked process leaves its parent's alone
            explorer.close()


background.STOPS.append(_close_all)
