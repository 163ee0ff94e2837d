"""``Explorer``: the methods that a user calls, and how an explorer is made and closed."""

from __future__ import annotations

import base64
import os
import types
from functools import partial
from typing import Any, ClassVar, Generic, Self, cast

from ipywidgets import VBox

from bdl_teach._startup import loading
from bdl_teach._support.views import stored_still
from bdl_teach.widgets._engine import background
from bdl_teach.widgets._engine.background import Mailbox
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from bdl_teach.widgets._engine.controls import Presets, Values
from bdl_teach.widgets._engine.missions import Mission
from bdl_teach.widgets._engine.model import Model, Result
from bdl_teach.widgets._engine.question import Question
from bdl_teach.widgets._engine.session import Session
from bdl_teach.widgets._engine.stage import Stage
from bdl_teach.widgets._engine.texts import Texts
from bdl_teach.widgets._engine.view import View
from bdl_teach.widgets._engine.worker import Worker, WorkersHost, sentence

# Set by the notebook builder, so that a committed output holds the finished picture.
WAIT_VARIABLE = "BDL_TEACH_WAIT_FOR_PICTURE"
STILL = "still picture: run this cell to move it"
_CLOSED = (
    "this {0} was closed, by close() or because a newer one was made: use the newer one, or make "
    "another with {0}()"
)


class Explorer(VBox, Generic[Result]):  # type: ignore[misc]
    """A picture with controls; the picture is recomputed whenever a control moves.

    Creating an explorer closes the previous one of the same class, of which a still remains.
    """

    MODEL: ClassVar[type[Model[Any]]]
    TEXTS: ClassVar[Texts]
    DEFAULTS: ClassVar[Values]
    PRESETS: ClassVar[Presets]
    QUESTION: ClassVar[Question | None]
    MISSIONS: ClassVar[tuple[Mission, ...]]
    _newest: ClassVar[dict[type, Explorer[Any]]] = {}

    @staticmethod
    def of(name: str, model: type[Model[Result]]) -> type[Explorer[Result]]:
        """Make the class of an explorer with this name from its model."""
        texts = model.TEXTS
        given = {
            "__doc__": model.__doc__,
            "__module__": model.__module__,
            "MODEL": model,
            "TEXTS": texts,
            "DEFAULTS": texts.defaults,
            "PRESETS": texts.presets,
            "QUESTION": texts.question,
            "MISSIONS": texts.missions,
        }
        made = types.new_class(name, (Explorer,), exec_body=lambda room: room.update(given))
        return cast("type[Explorer[Result]]", made)

    def __init__(self, **values: Any) -> None:
        """Make the explorer.

        Args:
            **values: Starting values of controls, as ``state()`` returns them; and ``show``, the
                name of the context panel.

        Raises:
            ValueError: No such control, or a value outside its range.
        """
        self._process = os.getpid()
        mailbox, name = Mailbox(), type(self).__name__
        model = self.MODEL(WorkersHost(mailbox, lambda: self._worker))
        view = self._view = View(name, model, lambda act, **given: self._worker.send(act, **given))
        try:
            session = Session(model, view.controls, values)
        except ValueError:
            for widget in view.parts:
                widget.close()
            raise
        super().__init__(children=view.rows)
        self.add_class("bdl-explorer")
        self._worker = Worker(mailbox, model, session, Stage(model, view.controls), view)
        view.show_controls(session)
        view.listen()
        self._follow_the_previous()
        view.say("Loading TensorFlow …")
        self._worker.send("tick")
        background.start(self._worker.run)

    def _follow_the_previous(self) -> None:
        """Close the previous explorer of this class; show its picture, or a stored one, first."""
        previous = Explorer._newest.pop(type(self), None)
        if previous is not None and previous._process == self._process:
            self._view.more.value = previous._view.more.value
            self._view.picture.value = previous._view.picture.value
            previous.close()
        else:
            still = stored_still(type(self).__name__)
            address = f"data:image/png;base64,{still}".encode() if still else b""
            self._view.picture.value = address
        Explorer._newest[type(self)] = self

    @property
    def result(self) -> Result | None:
        """Return the result of the last tick, which a replay does not change; at first ``None``."""
        result: Result | None = self._worker.stage.result
        return result

    @property
    def ticks(self) -> int:
        """Return the number of ticks so far."""
        return self._worker.ticks

    @property
    def status(self) -> str:
        """Return the text of the status line."""
        return self._view.said

    def state(self) -> Values:
        """Return the values of all controls; ``type(explorer)(**state)`` rebuilds the explorer.

        Controls that hold no value are left out, such as ``data`` before the learner sets points.
        """
        return self._view.state()

    def code(self) -> str:
        """Return the line of Python that rebuilds the explorer in its present state."""
        return self._view.code()

    def png(self) -> bytes:
        """Return the current picture as PNG; its size does not depend on the page."""
        with RENDER_LOCK:
            return self._worker.stage.canvas.still()

    def svg(self) -> bytes:
        """Return the current picture as SVG."""
        with RENDER_LOCK:
            return self._worker.stage.canvas.as_svg()

    def readings(self) -> dict[str, float]:
        """Return all readings of the shown result, by name."""
        if self._worker.stage.shown is None:
            self.wait()
        return self._worker.stage.readings_of(self._worker.stage.shown)

    def set(self, **values: Any) -> Self:
        """Move controls as a user would, and wait for the picture.

        Args:
            **values: New values of controls, by name; ``show`` is the name of the context panel,
                which ``state`` and ``code`` leave out.

        Raises:
            ValueError: No such control, or a value outside its range; then no control has moved.
            RuntimeError: The explorer has been closed, or lives in another process.
            DivergedError: The fit diverged. Any other exception of a tick is raised as it is.
        """
        _must_live(self)
        session = self._worker.session
        show = session.panel(values.pop("show")) if "show" in values else None
        taken, left_out = session.taken(values)
        if taken or left_out or show is None:
            self._ask("set", values=taken, left_out=left_out)
        return self if show is None else self._ask("show", name=show)

    def _ask(self, act: str, **given: Any) -> Self:
        """Send a message to the worker, and wait for the picture."""
        _must_live(self)
        self._worker.send(act, **given)
        return self.wait()

    def wait(self, timeout: float = 120.0) -> Self:
        """Wait for the picture of the latest values; raise the error of the tick, if any."""
        _must_live(self)
        if not self._worker.mailbox.wait(timeout):
            raise TimeoutError(f"expected a picture within {timeout:g} s, got none")
        _must_live(self)
        return self

    def settle(self, timeout: float = 120.0) -> Self:
        """Wait for the picture, its best fit and, if it is switched on, the true posterior."""
        self.wait(timeout)
        if not self._worker.mailbox.wait(timeout, for_rest=True):
            raise TimeoutError(f"expected the best fit and the truth within {timeout:g} s")
        return self.wait(timeout)

    def warm(self, timeout: float = 300.0) -> Self:
        """Wait until every program that a control can need has been compiled."""
        self.wait(timeout)
        self._worker.send("warm")
        if not self._worker.chores.over.wait(timeout):
            raise TimeoutError(f"expected all programs compiled within {timeout:g} s, some are not")
        return self

    def replay(self, step: int | None = None) -> Self:
        """Show the fit as it was at a step of its training, and wait for the picture.

        Neither the controls nor ``result`` change. The next tick shows the whole training again.

        Args:
            step: Number of the step; the nearest stored one is shown. By default the last.
        """
        self.wait()
        return self._ask("step", step=self._worker.stage.film.steps[-1] if step is None else step)

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
        return self._ask("preset", name=name)

    def pin(self) -> Self:
        """Pin what is shown as state A, in grey, to compare later states with it."""
        return self._ask("pin", on=True)

    def unpin(self) -> Self:
        """Remove the pinned state A from the picture and the table."""
        return self._ask("pin", on=False)

    @property
    def missions(self) -> tuple[str, ...]:
        """Return the ids of the missions."""
        return tuple(mission.id for mission in self.MISSIONS)

    @property
    def done(self) -> tuple[str, ...]:
        """Return the ids of the missions that have been done, now or in an earlier session."""
        return self._worker.missions.done()

    def mission(self, name: str | None) -> Self:
        """Choose a mission, as the button *missions* does.

        The mission is judged as soon as no control moves, and added to ``done`` if it is solved.

        Args:
            name: One of ``missions``; ``None`` closes them.

        Raises:
            ValueError: There is no such mission.
        """
        if name is not None and name not in self.missions:
            known = ", ".join(self.missions) or "none (there are no missions)"
            raise ValueError(f"mission: expected one of {known}, or None, got {name!r}")
        return self._ask("mission", name=name)

    def undo(self) -> None:
        """Go back to the state before the last movement of a control; wait for the picture."""
        self._ask("undo")

    def redo(self) -> None:
        """Go forward to the state that was undone last, and wait for the picture."""
        self._ask("redo")

    def reset(self) -> None:
        """Set all controls but the true posterior's toggle to their starting values, and wait.

        This also removes a drawn band, and asks the explorer's question again.
        """
        self._ask("reset")

    def close(self) -> None:
        """Stop the worker and remove the widgets, here and in the browser."""
        if not hasattr(self, "_worker") or self._worker.mailbox.closed:
            return  # it was never made, or is closed
        self._worker.mailbox.close()
        if Explorer._newest.get(type(self)) is self:
            del Explorer._newest[type(self)]
        for widget in (*self._view.parts, self.layout):
            widget.close()
        super().close()
        _leave_outputs(self)
        loading.trim_heap()
        self.__dict__.pop("_repr_mimebundle_", None)  # ipywidgets has set it to None

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Return the MIME bundle of the live view or, if it is closed, of a sentence that says so.

        After the first tick, the bundle also has a still and a description of it.
        """
        stage, closed = self._worker.stage, self._worker.mailbox.closed
        if closed:
            bundle: dict[str, Any] = {"text/plain": sentence(_CLOSED.format(type(self).__name__))}
        else:
            if os.environ.get(WAIT_VARIABLE):
                self.settle()
            bundle = super()._repr_mimebundle_(**options)
        if stage.shown is not None:
            said = f"{bundle['text/plain']} It showed: " if closed else ""
            with RENDER_LOCK:
                still = stage.canvas.still(STILL)
            bundle["image/png"] = base64.b64encode(still).decode("ascii")
            words = stage.words_of(stage.shown)
            bundle["text/plain"] = f"{said}{self.TEXTS.alt} {words}"
        return bundle

    def _ipython_display_(self) -> None:
        """Display the explorer, so that a still can be added to the cell's output later."""
        from IPython.display import display

        bundle = self._repr_mimebundle_()
        shown = display(bundle, raw=True, display_id=True)
        if shown is not None and "image/png" not in bundle and not self._worker.mailbox.closed:
            self._worker.send("displayed", keep=partial(_add_still, self, shown))


def _add_still(explorer: Explorer[Any], shown: Any) -> None:
    """Add a still to a displayed output; ``shown`` is its handle."""
    shown.update(explorer._repr_mimebundle_(), raw=True)


def _must_live(explorer: Explorer[Any]) -> None:
    """Raise ``RuntimeError`` if the explorer is closed, or lives in another process."""
    name = type(explorer).__name__
    if explorer._worker.mailbox.closed:
        raise RuntimeError(_CLOSED.format(name))
    if os.getpid() != explorer._process:
        raise RuntimeError(
            f"this {name} belongs to the process that made it: use it there; a forked process has "
            "no thread that refits it"
        )


def _leave_outputs(explorer: Explorer[Any]) -> None:
    """Remove an explorer from IPython's stored outputs, which would keep it in memory."""
    from IPython.core.getipython import get_ipython

    if (shell := get_ipython()) is None:
        return
    for held in (shell.user_ns, shell.user_ns_hidden, shell.user_ns.get("_oh", {})):
        for name in [n for n, v in held.items() if v is explorer and not str(n)[0].isalpha()]:
            del held[name]


def _close_all() -> None:
    for explorer in list(Explorer._newest.values()):
        if explorer._process == os.getpid():  # a forked process leaves its parent's alone
            explorer.close()


background.STOPS.append(_close_all)
