"""What every explorer is: the contract of a subclass, and the worker that keeps the picture live.

The handler only stores the values and wakes the worker, so that values which come while a
refit runs replace each other: none queues up, and the last one is never lost. Rendering holds a
process-wide lock, since Jupyter may run widget callbacks on another thread.
"""

from __future__ import annotations

import base64
import html
import os
import threading
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, Generic, Self, TypeVar

import ipywidgets
from matplotlib.text import Text

from bdl_teach._support.errors import DivergedError
from bdl_teach.widgets._engine import background, controls, frame, nuts
from bdl_teach.widgets._engine import record as recording
from bdl_teach.widgets._engine.canvas import RENDER_LOCK, Canvas, as_data_url
from bdl_teach.widgets._engine.controls import Presets, Values, Widget
from bdl_teach.widgets._engine.frame import Start
from bdl_teach.widgets._engine.hand import WHILE_OWN, Touched
from bdl_teach.widgets._engine.history import History
from bdl_teach.widgets._engine.latest import LatestValue
from bdl_teach.widgets._engine.mission_box import MissionBox
from bdl_teach.widgets._engine.missions import Mission, next_seeds
from bdl_teach.widgets._engine.picture import Picture, Place
from bdl_teach.widgets._engine.pin import Pin
from bdl_teach.widgets._engine.points import Unseen
from bdl_teach.widgets._engine.question import Question, QuestionBox
from bdl_teach.widgets._engine.replay import PACE, Film
from bdl_teach.widgets._engine.status import Readings, Said, plain
from bdl_teach.widgets._engine.texts import Texts

# The notebook builder sets this, so that a committed output holds the finished picture.
WAIT_VARIABLE = "BDL_TEACH_WAIT_FOR_PICTURE"
STILL = "still picture: run this cell to move it"
REST = 0.8  # seconds without a movement before a result is improved
SHARPEN = 0.2  # the same before its picture has all the pixels that the page can show


Result = TypeVar("Result")  # what a tick computes
_Job = tuple[int, Values]  # number of a request, which another size of the place leaves as it is


class Explorer(Touched, ipywidgets.VBox, Generic[Result]):  # type: ignore[misc]
    """Controls over one picture that is recomputed on every tick.

    Creating an explorer closes the one of the same class before it, which from then on is a still
    picture.

    What follows is for whoever writes one: ``class MyLab(Explorer[MyResult])``, where ``MyResult``
    is a frozen dataclass of what a tick computes.

    It sets:
        ALT: What the picture shows, for those who cannot see it, without its figures: these are in
            the status line.
        TITLE: What it is called, in its first line.
        PRESETS: ``{name: (sentence, values)}``. The name is in the menu and says what to see; the
            sentence stands below while it is shown, and says where to look; the values are of all
            controls. What they say must hold whatever the seed, and the explorer's tests say that
            it does.
        QUESTION: What to predict before a control is moved; ``None`` for nothing.
        MISSIONS: What a learner may bring about. One is done when it holds where the controls rest
            and for the next two seeds, too (see ``_next_seeds``); of these it is asked without what
            ``STAYS`` names, unless its ``way`` switches that on. Their chains are not run: a seed
            whose true posterior is not there is not tried.
        WORK: What a tick does, in the status line before its time.
        WIDE: Whether the picture needs the whole width, and the controls stand under it.
        STAYS: Toggles of what takes long to come beside the picture. A preset switches them on at
            most; undo, redo and reset leave them as they are.
        FOLDED: Groups of controls that stand behind *more*, so that a first look meets few.

    It defines, in the order in which they are called:
        ``_make_controls() -> {name: widget}``: Once. The name is the keyword of the constructor and
            of ``set``. ``controls.py`` makes the widgets.
        ``_make_canvas() -> Canvas``: Once, with ``RENDER_LOCK`` held. Makes the axes and all the
            artists that there will ever be; those that move go to ``canvas.animate``.
        ``_make_groups() -> {name: [widget]}``: Once. What stands beside the picture: every control,
            in named groups of few. What runs beside it (chains, a training) is made here.
        ``_compute(values) -> Result``: On the worker, on every tick. ``values`` is a snapshot: look
            at no control. Imports what loads TensorFlow inside. Nothing is random but by a seed
            among the values. What it raises is said over the picture.
        ``_draw(result)``: On the worker, with ``RENDER_LOCK`` held. Moves artists, makes none. If
            anything changed that does not move, such as limits: ``self._canvas.redraw_background``.
        ``_describe(result) -> str``: On the worker, or where a still picture is asked for. The
            status line: sentences whose every figure is the result's.

    It may define:
        ``_check(values, state)``: Where values are set, before anything moves. Raises
            ``ValueError`` for values that each control takes but that do not go together.
        ``_idle(values) -> names``: On the kernel's own thread: the controls that would change
            nothing, as the others stand. They are dimmed.
        ``_follow(values, result) -> Result | None``: On the worker, as soon as a tick is shown and
            again and again until it returns ``None``, as it does at once when something moves: the
            same with more of what comes beside it.
        ``_improve(values, result) -> Result | None``: On the worker, while nothing moves, again and
            again until it returns ``None``: a better result for the same values, such as a fit that
            was trained on. A movement waits for it, so that it must not take longer than a tick.
            Where it raises, what is shown already stands.
        ``_next_seeds(values) -> [values]``: On the worker: the same with other seeds, for which a
            mission must hold as well. They go to ``_compute`` while nothing moves; nothing of
            theirs may be drawn. The next two of the control ``seed``, if not defined.
        ``_frames(result) -> steps``: On the worker. Steps taken at each frame of the training that
            led to ``result``, the start's first; () where there is none. Whoever defines it has a
            row to replay the training with, under the picture.
        ``_replay(result, frame) -> Result``: On the worker. ``result`` as it was at a frame but the
            last, which is ``result`` itself.
        ``_touch_panels() -> [touch.Panel]``: The panels whose points a hand can move, add and
            remove; there is then a control ``data`` (``points.Points``), whose values
            ``points.chosen`` makes data of, and a result has ``data``. Called once, after
            ``_make_canvas``.
        ``_doubt(result) -> (x, sd)``: Where it may ask for a point ``[m]``, and how unsure it is
            there ``[m]``: the prediction's, if not defined.
        ``_point_at(panel, x, y, begins)``: Of a panel of the kind "at", by its number: the hand is
            there, and whether it has just come. On the kernel's own thread; moves controls.
        ``_linked(result, panel, x, y) -> hashable``: What a hand points at in a panel that is
            interested in it (``hover``), or ``None``. On the kernel's own thread.
        ``_mark(result, linked)``: On the worker, with ``RENDER_LOCK`` held: mark that, or nothing.
        ``_shares(result) -> str``: Behind the time of a tick in the status line, and in no still:
            what it went into.
        ``_chores() -> functions``: In the background, once a page shows the first picture, or
            ``warm`` is called. Each compiles something that the controls may ask for later.
        ``close()``: Stops what runs beside, then calls ``super().close()``.

    Attributes:
        result: What the last tick computed, whatever frame of its training is shown; ``None``
            before the first.
        ticks: How many pictures have been made.
    """

    TEXTS: ClassVar[Texts]
    DEFAULTS: ClassVar[Values]
    PRESETS: ClassVar[Presets]
    QUESTION: ClassVar[Question | None]
    MISSIONS: ClassVar[tuple[Mission, ...]]
    _DRAWN_BY: ClassVar[tuple[str, ...]] = ("n", "gap")  # moved, they draw points anew
    _newest: ClassVar[dict[type, Explorer[Any]]] = {}

    def __init_subclass__(cls, *, abstract: bool = False) -> None:
        """Refuse a subclass that leaves out what it must define, unless it says that it does.

        Raises:
            TypeError: It does; the message says what is missing.
        """
        super().__init_subclass__()
        if abstract:
            return
        left_out = [] if hasattr(cls, "TEXTS") else ["TEXTS"]
        for name, method in vars(Explorer).items():
            if getattr(method, "__isabstractmethod__", False) and getattr(cls, name) is method:
                left_out.append(name)
        if left_out:
            raise TypeError(f"{cls.__name__}: an explorer must define {', '.join(left_out)}")
        texts = cls.TEXTS
        cls.DEFAULTS, cls.PRESETS = texts.defaults, texts.presets
        cls.QUESTION, cls.MISSIONS = texts.question, texts.missions

    def __init__(self, **values: Any) -> None:
        self.result: Result | None = None
        self.ticks = 0
        self._shown: Result | None = None  # the result, or it at a frame of its training
        self._film = Film(self._frames, self._replay, self._draw_again)
        self._process = os.getpid()
        self._slot: LatestValue[_Job] = LatestValue()
        self._without_still: list[Any] = []  # handles of views that the notebook keeps no still of
        self._shown_at: Place | None = None  # of the picture, once the page has said it
        self._asking = threading.Lock()  # a gold standard asks from a thread of its own
        self._pointed: object = None  # what a hand points at
        self._heard = 0  # number of the page's last message about points
        self._asked = self._answered = 0  # number of the newest request, and of that shown
        self._warmed, self._chores_begun, self._quiet = threading.Event(), False, False
        self._controls: dict[str, Widget] = self._make_controls()
        self._status = controls.words("", "bdl-status")
        with RENDER_LOCK:
            self._canvas = self._make_canvas()
            self._touched = self._touch_panels()
            self._sketch = self._make_sketch()
            self._notice = _make_notice(self._canvas)
        self._picture = Picture(alt=self.TEXTS.alt)
        self._painted: Values = {}  # the values that the picture is of
        self._said, self._spent = Said(""), ""  # the status line, and how long it took
        self._compared: Values | None = None  # what is to be pinned before the next picture
        self._pin = Pin(
            self._canvas, self._controls, self.TEXTS.readings, self._draw_again, self._hold_axes
        )
        self._missions = (
            MissionBox(self.MISSIONS, self._controls, self._draw_again) if self.MISSIONS else None
        )
        self._start = (
            Start(self._presets_as_set(), self._choose, self.TEXTS.stays) if self.PRESETS else None
        )
        super().__init__(children=self._make_frame())
        self.add_class("bdl-explorer")
        if self.TEXTS.wide:
            self.add_class("bdl-wide")
        self._defaults = self.state()
        try:
            self._assign(values)
        except ValueError:
            self.close()
            raise
        self._past = History(self._undoable())
        self._show_state()
        for control in self._controls.values():
            control.observe(self._on_change, names="value")
        self._picture.on_place(self._on_place)
        self._picture.on_call({"undo": self.undo, "redo": self.redo})
        self._picture.on_touch(self._on_touch)
        self._picture.observe(self._on_use, names="in_use")
        self._replace_the_one_before()
        self._say("Loading TensorFlow …")
        background.start(self._work)
        self._request()

    # What a subclass defines.

    def _make_controls(self) -> dict[str, Widget]:
        """Make the controls, by the names that ``set`` knows them by."""
        return {name: self._make_control(name) for name in self.TEXTS.controls}

    def _make_control(self, name: str) -> Widget:
        """Make a control; one of a kind of its own is the explorer's to make."""
        return self.TEXTS.controls[name].make()

    @abstractmethod
    def _make_canvas(self) -> Canvas:
        """Make the figure with all its artists."""

    def _buttons(self) -> dict[str, Callable[[], object]]:
        """Say what the explorer's own buttons do, by their names in the data file."""
        return {}

    def _beside(self) -> dict[str, Widget]:
        """Make what else stands in the groups, by the names that it has there."""
        return {}

    def _make_groups(self) -> dict[str, list[Widget]]:
        """Make the groups of controls that belong together, by their names."""
        known = {
            **self._controls,
            **self._hand_buttons(),
            **{name: self._button(name, act) for name, act in self._buttons().items()},
            **self._beside(),
        }
        if "resample" in self.TEXTS.buttons:
            known["resample"] = self._button("resample", self._resample)
        return {name: [known[one] for one in row] for name, row in self.TEXTS.groups.items()}

    def _button(self, name: str, act: Callable[[], object]) -> Widget:
        """Make a button of the data file."""
        return controls.button(*self.TEXTS.buttons[name], act)

    @abstractmethod
    def _compute(self, values: Values) -> Result:
        """Compute what these values of the controls ask for."""

    @abstractmethod
    def _readings(self, result: Result) -> dict[str, float]:
        """Name every figure of ``result`` that anything says."""

    @abstractmethod
    def _draw(self, result: Result) -> None:
        """Move the artists to ``result``."""

    def _words(self, result: Result) -> dict[str, str]:
        """Choose the words of the status line that are no figures: templates, by their names."""
        return {}

    def _check(self, values: Values, state: Values) -> None:
        """Refuse values that each control takes but that do not go with the state they make."""

    def _idle(self, values: Values) -> set[str]:
        """Name the controls that would change nothing, as the others stand."""
        return set()

    def _improve(self, values: Values, result: Result) -> Result | None:
        """Return a better result for values that rest, or ``None`` when this one is good."""
        return None

    def _follow(self, values: Values, result: Result) -> Result | None:
        """Return a result with more beside it, or ``None`` when that has to wait."""
        return None

    def _next_seeds(self, values: Values) -> list[Values]:
        """Give the same values with the other seeds that a mission must hold for."""
        return next_seeds(values, self._controls["seed"]) if "seed" in self._controls else []

    def _frames(self, result: Result) -> Sequence[int]:
        """Say after how many steps the training that led to ``result`` can be shown."""
        return ()

    def _replay(self, result: Result, frame: int) -> Result:
        """Return what ``result`` was at a frame of its training."""
        return result

    def _shares(self, result: Any) -> str:
        """What the time of a tick went into."""
        return ""

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Yield what to compile in the background once the first picture is there."""
        return iter(())

    # What a user calls.

    def set(self, **values: Any) -> Self:
        """Move controls as a user would, and wait for the picture that shows it.

        Args:
            **values: New value of each named control.

        Returns:
            The explorer itself.

        Raises:
            ValueError: No such control, or a value outside its range; then none has moved.
            RuntimeError: It has been closed, or lives in another process.
            DivergedError: The fit diverged; whatever else a tick raises comes through as well.
        """
        self._must_live()
        self._go(values)
        return self.wait()

    def wait(self, timeout: float = 120.0) -> Self:
        """Wait for the picture of the latest values, and raise what its computation raised."""
        self._must_live()
        self._slot.wait(timeout)
        self._must_live()
        return self

    def warm(self, timeout: float = 300.0) -> Self:
        """Wait until everything that a control can ask for has been compiled."""
        self.wait(timeout)
        self._begin_chores(unseen=True)
        if not self._warmed.wait(timeout):
            raise TimeoutError(f"expected the compilations within {timeout:g} s")
        return self

    def replay(self, step: int | None = None) -> Self:
        """Show the fit as it was at a step of its training, and wait for the picture.

        Neither the controls nor ``result`` change; a movement shows the whole fit again.

        Args:
            step: Number of the step; the nearest one that was kept is shown. By default the last.

        Returns:
            The explorer itself.

        Raises:
            RuntimeError: It has been closed, or lives in another process.
        """
        self.wait()
        self._film.to_end()
        if step is not None:
            self._film.nearest(step)
        self._draw_again()
        return self.wait()

    @property
    def presets(self) -> tuple[str, ...]:
        """Names of the presets."""
        return tuple(self.PRESETS)

    def preset(self, name: str) -> Self:
        """Set all controls to the preset ``name`` and wait for its picture.

        What comes beside it stays where it is on: a preset switches it on at most.
        """
        if self._start is None or name not in self.PRESETS:
            raise ValueError(f"preset: expected one of {', '.join(self.PRESETS)}, got {name!r}")
        self._must_live()
        self._start.choose(name)
        return self.wait()

    def state(self) -> Values:
        """Return the values of all controls; ``type(explorer)(**state)`` rebuilds it.

        What a hand can set in the picture is there if it has been set.
        """
        return {
            name: control.value
            for name, control in self._controls.items()
            if not isinstance(control, Unseen) or control.value is not None
        }

    def _whole(self, state: Values) -> Values:
        """A state with all that it leaves as no hand has touched it."""
        unseen = [name for name, control in self._controls.items() if isinstance(control, Unseen)]
        return {**dict.fromkeys(unseen), **state}

    def readings(self) -> dict[str, float]:
        """Return every figure that is said of what is shown, by its name."""
        if self._shown is None:
            self.wait()
        assert self._shown is not None
        return self._readings_of(self._shown)

    @property
    def status(self) -> str:
        """Text of the status line."""
        return html.unescape(self._status.value)

    def png(self) -> bytes:
        """Return the current picture as PNG, of the same size whatever the page's."""
        with RENDER_LOCK:
            return self._canvas.still()

    def svg(self) -> bytes:
        """Return the current picture as SVG."""
        with RENDER_LOCK:
            return self._canvas.as_svg()

    def code(self) -> str:
        """Return the line of Python that rebuilds this state: only what is not its default."""
        given = ", ".join(
            f"{name}={_rounded(value)!r}"
            for name, value in self.state().items()
            if value != self._defaults.get(name)
        )
        return f"widgets.{type(self).__name__}({given})"

    def record(
        self,
        control: str | None = None,
        start: Any = None,
        stop: Any = None,
        *,
        states: Sequence[Values] | None = None,
        frames: int = 40,
        **options: Any,
    ) -> Path:
        """Write a moving picture of a sweep of one control, or of some states.

        Afterwards everything is as it was before.

        Args:
            control: Name of a control; its slider goes from ``start`` to ``stop``.
            start: The first value.
            stop: The last one.
            states: In place of a control: the values of each picture, by name.
            frames: How many pictures of a sweep, at most: no more than the slider has places.
            **options: ``file``, whose name ends in .gif or .mp4 (which needs ffmpeg); without it,
                a GIF in the current folder with this explorer's name. ``seconds`` that it takes
                (4). ``width`` in pixels (720).

        Returns:
            The file.

        Raises:
            ValueError: No such control, a value that it does not take, or another kind of file.
            RuntimeError: There is no ffmpeg for an .mp4, or the explorer has been closed.
        """
        self._must_live()
        if (control is None) == (states is None):
            raise ValueError("record: expected a control with two values, or states=[...]")
        if control is not None:
            states = recording.sweep(control, self._control(control), start, stop, frames)
        whole = [self._taken(state) for state in states or ()]
        before, past = self._whole(self.state()), self._past
        self._past = History(self.state())  # what is recorded is nothing to undo
        try:
            options.setdefault("file", f"{type(self).__name__}.gif")
            return recording.record(lambda state: self.set(**state).png(), whole, **options)
        finally:
            self.set(**before)
            self._past = past
            self._show_state()

    def pin(self) -> Self:
        """Keep what is shown now as A, in grey behind what comes, and say what changes."""
        self._must_live()
        self._pin.set()
        return self.wait()

    def unpin(self) -> Self:
        """Take A away."""
        self._must_live()
        self._pin.unset()
        return self.wait()

    @property
    def missions(self) -> tuple[str, ...]:
        """Ids of the missions."""
        return tuple(mission.id for mission in self.MISSIONS)

    @property
    def done(self) -> tuple[str, ...]:
        """Ids of the missions that are done, here or in an earlier session."""
        return () if self._missions is None else self._missions.done()

    def mission(self, name: str | None) -> Self:
        """Choose a mission, as the button *missions* does; ``None`` gives the question back.

        Whether it is done is found out when the controls rest: see ``done``.

        Args:
            name: One of ``missions``.

        Returns:
            The explorer itself.

        Raises:
            ValueError: There is no such mission.
            RuntimeError: It has been closed, or lives in another process.
        """
        self._must_live()
        if self._missions is None:
            raise ValueError(f"mission: {type(self).__name__} has none, got {name!r}")
        self._missions.choose(name)
        return self.wait()

    def undo(self) -> None:
        """Go back to the state before the last movement."""
        self._go_back(self._past.undo())

    def redo(self) -> None:
        """Go forward to the state that was undone last."""
        self._go_back(self._past.redo())

    def reset(self) -> None:
        """Go back to the state that it began with, but for ``STAYS``; this can be undone.

        A drawing is taken away, and the question is asked again.
        """
        self._end_drawing()
        self._pin.unset_for_question()
        self._go_back(self._past.first)
        if self._asks is not None:
            self._asks.ask()

    def close(self) -> None:
        """Stop the worker and take the widgets away, here and in the browser."""
        self._slot.close()
        if Explorer._newest.get(type(self)) is self:
            del Explorer._newest[type(self)]
        row = self._film.row  # which hangs on nothing where there is no training
        for widget in (*_parts(self), *_parts(row), row):
            widget.close()
        super().close()
        self.__dict__.pop("_repr_mimebundle_", None)  # ipywidgets hides ours behind None

    def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]:
        """Give the live view, and beside it a picture and a sentence for where widgets are dead.

        Of a closed explorer there is the picture, and the sentence says that it is closed.
        """
        if self._slot.closed:
            bundle: dict[str, Any] = {"text/plain": _sentence(self._closed())}
        else:
            if os.environ.get(WAIT_VARIABLE):
                self.wait()
            bundle = super()._repr_mimebundle_(**options)
        if self.result is not None:
            said = f"{bundle['text/plain']} It showed: " if self._slot.closed else ""
            with RENDER_LOCK:
                still = self._canvas.still(STILL)
            bundle["image/png"] = base64.b64encode(still).decode("ascii")
            bundle["text/plain"] = f"{said}{self.TEXTS.alt} {self._pin.marked(self._in_words())}"
        return bundle

    def _ipython_display_(self) -> None:
        """Show it; its picture joins what the notebook keeps as soon as it is there.

        What a cell returns cannot be changed afterwards, what it displays can: else a notebook
        that is saved, or made into slides, would keep no picture.
        """
        from IPython.display import display

        shown = display(self._repr_mimebundle_(), raw=True, display_id=True)
        if shown is not None and self.result is None and not self._slot.closed:
            self._without_still.append(shown)

    # The engine.

    def _keep_stills(self) -> None:
        """Add the picture to the views that were shown before there was one.

        The page builds these views anew then: not while somebody uses one of them.
        """
        while self._without_still and not self._picture.in_use:
            self._without_still.pop().update(self._repr_mimebundle_(), raw=True)

    def _replace_the_one_before(self) -> None:
        previous = Explorer._newest.pop(type(self), None)
        if previous is not None and previous._process == self._process:
            if self._more is not None and previous._more is not None:
                self._more.value = previous._more.value
            previous.close()
        Explorer._newest[type(self)] = self

    def _must_live(self) -> None:
        """Raise if no worker will ever answer.

        Raises:
            RuntimeError: The explorer has been closed, or its worker is in another process.
        """
        if self._slot.closed:
            raise RuntimeError(self._closed())
        if os.getpid() != self._process:
            raise RuntimeError(
                f"this {type(self).__name__} lives in the process that made it; a forked process "
                "has no thread to refit it: use it there"
            )

    def _closed(self) -> str:
        name = type(self).__name__
        return (
            f"this {name} was closed, by close() or because a newer one was made: use the newer "
            f"one, or make another with {name}()"
        )

    def _taken(self, values: Values) -> Values:
        """Values as their controls will hold them."""
        return {n: controls.take(n, self._control(n), value) for n, value in values.items()}

    def _control(self, name: str) -> Widget:
        if name not in self._controls:
            known = ", ".join(self._controls)
            raise ValueError(f"{name}: expected one of the controls {known}")
        return self._controls[name]

    def _assign(self, values: Values) -> None:
        """Set control values without a tick: all of them, or none and an error.

        Whoever watches a control hears of it when all have their values.

        Raises:
            ValueError: No such control, a value that it would refuse or silently clip, or values
                that do not go together.
        """
        values = self._taken(values)
        if "data" in self._controls and any(name in values for name in self._DRAWN_BY):
            values.setdefault("data", None)
        self._check(values, {**self.state(), **values})
        self._quiet = True
        try:
            with ExitStack() as held:
                for name in values:
                    held.enter_context(self._controls[name].hold_trait_notifications())
                for name, value in values.items():
                    self._controls[name].value = value
        finally:
            self._quiet = False

    def _make_frame(self) -> list[Widget]:
        """Lay out everything: see ``frame.py``."""
        acts = self._acts = {
            name: controls.button(name, hint, act)
            for name, hint, act in (
                ("undo", "the movement before (Ctrl+Z)", self.undo),
                ("redo", "what was undone (Ctrl+Y)", self.redo),
                ("reset", "all as it was at the start", self.reset),
                ("full screen", "for a lecture room; Esc ends it", controls.in_the_page),
                ("save picture", "as SVG and PNG", self._offer_picture),
                ("share", "copy the line of Python that rebuilds this", self._on_share),
            )
        }
        acts["full screen"].add_class("bdl-full")
        acts["share"].add_class("bdl-share")
        groups = self._make_groups()
        self._more: Widget | None = None
        if self.TEXTS.folded:
            self._more = controls.toggle("more", "all other controls, and what else there is to do")
            self._more.add_class("bdl-more")
        behind = [widget for name in self.TEXTS.folded for widget in groups[name]]
        self._behind = {n: control for n, control in self._controls.items() if control in behind}
        asked = self.QUESTION
        self._asks = None if asked is None else self._ask(asked)
        question = [] if self._asks is None else [self._asks]
        toggles, boxes = [self._pin.toggle], [self._pin.box]
        if self._missions is not None:
            toggles.append(self._missions.toggle)
            boxes.append(self._missions.box)
        if self._more is not None:
            for act in (*toggles, acts["save picture"], acts["share"]):
                act.add_class("bdl-folded")
        place = controls.box("bdl-place-of-question", [*question, *boxes])
        trains = type(self)._frames is not Explorer._frames
        film = self._film.row if trains else None
        return [
            frame.head(self.TEXTS.title, self._start, [*toggles, *acts.values()]),
            *([] if self._start is None else [self._start.look]),
            place,
            frame.body(self._picture, groups, film, self.TEXTS.folded, self._more),
            self._status,
        ]

    def _ask(self, asked: Question) -> QuestionBox:
        control, compare = self._controls[asked.control], self._pin.set_for_question
        return QuestionBox(asked, control, self._go_from_the_start, compare)

    def _go_from_the_start(self, values: Values) -> None:
        """Take some controls to ``values``, the others to where they began: a question is of them.

        From elsewhere the picture might contradict the verdict. What it was there is pinned.
        """
        assert self.QUESTION is not None
        first = {**self._past.first, **dict(self.QUESTION.before)}
        stays = {name: value for name, value in self.state().items() if name in self.TEXTS.stays}
        self._compared = {**stays, **first}
        self._go({**self._whole(self._past.first), **values})

    def _pin_before(self) -> None:
        """Pin where a question begins, if the next picture is to be compared with that."""
        before, self._compared = self._compared, None
        if before is None:
            return
        if not controls.same(before, self._painted):
            self._tick(before)
        with RENDER_LOCK:
            self._pin.set_for_question()
            self._pin.settle()

    def _presets_as_set(self) -> Presets:
        """The presets with the values that choosing them sets."""
        return {
            name: (look, {c: v for c, v in values.items() if v or c not in self.TEXTS.stays})
            for name, (look, values) in self.PRESETS.items()
        }

    def _choose(self, name: str) -> None:
        """Answer the choice of a preset."""
        self._pin.unset_for_question()
        self._go(self._whole(self._presets_as_set()[name][1]))

    def _undoable(self) -> Values:
        """The values that undo goes back to."""
        return {name: value for name, value in self.state().items() if name not in self.TEXTS.stays}

    def _go_back(self, state: Values | None) -> None:
        """Take all controls to a state that was, if there is one."""
        self._go(None if state is None else self._whole(state))

    def _go(self, values: Values | None) -> None:
        """Take controls to ``values``, if there are any, without waiting for the picture."""
        if values is not None:
            self._assign(values)
            self._past.end_movement()
            self._film.to_end()
            self._request()

    def _offer_picture(self) -> None:
        """Have the page save the picture, as vectors and as pixels."""
        name = type(self).__name__
        self._picture.offer(f"{name}.svg", "image/svg+xml", self.svg())
        self._picture.offer(f"{name}.png", "image/png", self.png())

    def _on_share(self) -> None:
        """Say what the page has copied."""
        self._say(f"Copied: {self.code()}")

    def _resample(self) -> None:
        """Answer a click on "resample": the next seed, where there is a slider of that name."""
        drawn = {"data": None} if "data" in self._controls else {}
        self._go({"seed": (self._controls["seed"].value + 1) % 100, **drawn})

    def _on_change(self, change: Any) -> None:
        if self._quiet:
            return
        if any(change["owner"] is self._controls.get(name) for name in self._DRAWN_BY):
            self._assign({"data": None} if "data" in self._controls else {})
        self._film.to_end()
        self._request()

    def _request(self) -> None:
        """Ask for a picture of the controls' values, whatever has changed."""
        with self._asking:
            self._past.note(self._undoable(), time.monotonic())
            self._asked += 1
            self._slot.put((self._asked, self.state()))
        if self._missions is not None:
            self._missions.moved()
        self._show_state()

    def _show_state(self) -> None:
        """Say what state this is, whether there is a way back, and which controls do nothing."""
        state = self.state()
        if self._start is not None:
            self._start.show(state)
        self._dim(state)
        if self._more is not None:
            moved = ", ".join(
                f"{control.description} {controls.written(control, control.value)}"
                for name, control in self._behind.items()
                if not controls.same({name: state[name]}, {name: self._defaults[name]})
            )
            self._more.description = f"more ({moved})" if moved else "more"
        self._acts["undo"].disabled = not self._past.behind
        self._acts["redo"].disabled = not self._past.ahead
        self._picture.line = f"from bdl_teach import widgets; {self.code()}"

    def _dim(self, state: Values) -> None:
        """Dim the controls that change nothing, or draw points while these are the learner's."""
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

    def _on_place(self, place: Place) -> None:
        """Have the worker draw the same again, for another size of its place."""
        self._shown_at = place
        self._draw_again()
        self._begin_chores()

    def _on_use(self, change: Any) -> None:
        """Have stills kept that waited for nobody to use the explorer."""
        if not change["new"] and self._without_still:
            self._draw_again()

    def _draw_again(self) -> None:
        """Have the worker draw the same again, and pin or unpin it where that was asked for."""
        with self._asking:
            self._slot.put((self._asked, self.state()))

    def _work(self) -> None:
        """Worker thread: recompute and redraw for the latest values until closed."""
        while (job := self._slot.take()) is not None:
            while job is not None:
                job = self._answer(*job)

    def _answer(self, version: int, job: _Job) -> tuple[int, _Job] | None:
        """Show these values, then better results for them; return what moved meanwhile, if any."""
        error: BaseException | None = None
        asked, values = job
        if asked == self._answered:
            self._repaint()
            self._slot.shown_again(version)
            return self._rest(values)
        self._answered, self._pointed = asked, None
        try:
            self._pin_before()
            self._tick(values)
        except BaseException as raised:  # handed to whoever waits, and said in the status
            error = raised
            self._show_failure(raised)
        self._slot.done(version, error)
        if error is not None:
            return None
        self._begin_chores()
        return self._rest(values)

    def _rest(self, values: Values) -> tuple[int, _Job] | None:
        """Sharpen and improve what is shown until something moves, or nothing is left to do.

        A replay goes on first; a frame on the way is not improved.
        """
        if (job := self._play()) is not None or self._slot.closed:
            return job
        while self._film.at_end and (more := self._followed(values)) is not None:
            self._paint(more, values, better=True)
            self._say_what_is_shown()
            if (job := self._slot.take(0.0)) is not None or self._slot.closed:
                return job
        if (job := self._slot.take(SHARPEN)) is not None or self._slot.closed:
            return job
        self._show_picture(sharp=True)
        self._picture.alt = f"{self.TEXTS.alt} {self.status}"
        self._keep_stills()
        pause = REST - SHARPEN
        if not self._film.at_end:
            return None
        while (job := self._slot.take(pause)) is None and not self._slot.closed:
            if (job := self._look_at_mission(values)) is not None or self._slot.closed:
                return job
            shown, better = self.result, None
            with suppress(Exception):  # what is shown already stands
                better = None if shown is None else self._improve(values, shown)
            if better is None:
                return None
            self._paint(better, values, better=True, sharp=True)
            self._say_what_is_shown()
            pause = 0.0
        return job

    def _followed(self, values: Values) -> Result | None:
        with suppress(Exception):  # what is shown already stands
            return None if self.result is None else self._follow(values, self.result)
        return None

    def _look_at_mission(self, values: Values) -> tuple[int, _Job] | None:
        """Find out whether the chosen mission is done; return what moved meanwhile, if any."""
        if self._missions is None or self._missions.chosen is None or self.result is None:
            return None
        away = {name: False for name in self.TEXTS.stays if not self._missions.chosen.way.get(name)}
        others = [{**other, **away} for other in self._next_seeds(values)]
        with suppress(Exception):  # such as a full disk: the picture goes on
            readings = self._readings_of(self.result)
            for _ in self._missions.judge(values, readings, others, self._read_unseen):
                if (job := self._slot.take(0.0)) is not None or self._slot.closed:
                    return job
        return None

    def _read_unseen(self, values: Values) -> Readings:
        """Compute what is not to be shown; what runs beside the picture goes on for it."""
        with nuts.nothing_starts():
            return self._readings_of(self._compute(values))

    def _tick(self, values: Values) -> None:
        start = time.perf_counter()
        result = self._compute(values)
        computed = time.perf_counter()
        self._paint(result, values)
        self.ticks += 1
        spent = f" · {self.TEXTS.work} {1e3 * (computed - start):.0f} ms{self._shares(result)}"
        self._spent = spent if self.ticks > 1 else ""
        self._say_what_is_shown()

    def _play(self) -> tuple[int, _Job] | None:
        """Show one frame after another while the replay plays; return what moved meanwhile."""
        spent = 0.0
        while self._film.playing and not self._slot.closed:
            if (job := self._slot.take(max(PACE - spent, 0.0))) is not None:
                return job
            began = time.perf_counter()
            if self._film.advance():
                self._repaint()
            spent = time.perf_counter() - began
        return None

    def _repaint(self) -> None:
        """Show the same at another size or marked, or another frame of its training."""
        if self.result is None or not self._film.moved:
            with RENDER_LOCK:
                self._mark(self._shown, self._pointed)
                if self._pin.settle():
                    self._say_what_is_shown()
                self._show_picture(sharp=False)
            return
        self._pointed = None
        try:
            self._paint(self.result, self._painted)
            self._say_what_is_shown()
        except Exception as error:
            self._show_failure(error)

    def _paint(
        self, result: Result, values: Values, *, better: bool = False, sharp: bool = False
    ) -> None:
        """Show a result of these values, or the frame of its training that is chosen.

        Args:
            result: The result.
            values: Of all controls.
            better: Whether only the result has become better.
            sharp: Whether to show it with all its pixels.
        """
        shown = self._film.develop(result)
        said = self._words_of(shown)
        with RENDER_LOCK:
            if self._label_axes(result):
                self._pin.unset()  # A is in other units, and so is a drawn band
                self._forget_drawing()
                self._canvas.redraw_background(arrange=True)
            if self._sketch is not None:
                self._sketch.uncover()  # what is drawn now knows itself whether it is to be seen
            self._draw(shown)
            self._mark(shown, self._pointed)
            if (sketch := self._drawing) is not None:
                sketch.hide(self._canvas.moving)
            self._notice.set_visible(False)
            self._pin.note(values, said, better=better)
            self._show_picture(sharp=sharp)
        self.result, self._shown, self._painted = result, shown, values
        self._said, self._spent = said, ""
        self._show_points()

    def _say_what_is_shown(self) -> None:
        words = self._beside_drawing(self._pin.marked(self._said))
        self._say(f"{words}{self._notes_on_points()}{self._lost_points()}{self._spent}")

    def _in_words(self) -> Said:
        """What is shown, in words."""
        assert self._shown is not None
        return self._words_of(self._shown)

    def _words_of(self, shown: Result) -> Said:
        """What a result, or a moment of its training, shows; and in which units that is said."""
        words = {
            **self.TEXTS.status,
            **self._words_on_points(shown),
            **self._words(shown),
            "film": self._film.words,
        }
        data = self._data(shown) if "data" in self._controls else None
        return Said("{film}{line}{units}", self._readings_of(shown), words, data)

    def _readings_of(self, shown: Any) -> dict[str, float]:
        """The readings of a result, those on its points among them."""
        return {**self._readings_on_points(shown), **self._readings(shown)}

    def _show_picture(self, *, sharp: bool) -> None:
        """Send what the artists show, for the place in the page.

        Where that has more than one device pixel to a pixel, a picture of as many pixels takes
        longer to draw and to send: not while something moves.
        """
        with RENDER_LOCK:
            place = self._shown_at
            if place is not None:
                self._canvas.fit(place if sharp else replace(place, ratio=min(place.ratio, 1.0)))
            picture = as_data_url(self._canvas.render())
            panels = [panel.place() for panel in self._touched if panel.axes.get_visible()]
        if picture != self._picture.value:
            self._picture.value = picture
        if panels != self._picture.panels:
            self._picture.panels = panels

    def _show_failure(self, error: BaseException) -> None:
        """Put the failure as a sentence over the last picture; the next tick works again."""
        kind = "" if isinstance(error, DivergedError | ValueError) else f"{type(error).__name__}: "
        sentence = f"{kind}{error}"
        self._film.empty()
        with RENDER_LOCK:
            self._notice.set_text(_sentence(sentence))
            self._notice.set_visible(True)
            self._show_picture(sharp=True)
        self._said, self._spent = Said(plain(sentence)), ""
        self._say(sentence)

    def _begin_chores(self, unseen: bool = False) -> None:
        """Start them once, after the first picture; without a page nobody moves a slider."""
        with self._asking:
            if self._chores_begun or not self.ticks or not (unseen or self._shown_at):
                return
            self._chores_begun = True
        background.start(self._do_chores)

    def _do_chores(self) -> None:
        """Compile what the sliders may ask for later, while the learner reads."""
        try:
            for chore in self._chores():
                if self._slot.closed:
                    return
                chore()
        finally:
            self._warmed.set()

    def _say(self, sentence: str) -> None:
        self._status.value = html.escape(sentence)


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."


def _rounded(value: object) -> object:
    """A value as it may be written: 0.1 and not 0.10000000000000002."""
    return float(f"{value:.10g}") if isinstance(value, float) else value


def _make_notice(canvas: Canvas) -> Text:
    """Make the box over the whole picture in which failures are said."""
    box = {"facecolor": "#FFF4CC", "edgecolor": "#7F7F7F", "boxstyle": "round,pad=0.6"}
    notice = canvas.figure.text(
        0.5, 0.5, "", ha="center", va="center", fontsize=15, wrap=True, zorder=20, bbox=box
    )
    canvas.animate([notice])
    return notice


def _parts(widget: Widget) -> list[Widget]:
    """All widgets that hang on ``widget``: children, layouts and styles, deepest first."""
    parts: list[Widget] = []
    for child in getattr(widget, "children", ()):
        parts += [*_parts(child), child]
    return [*parts, widget.layout, *([widget.style] if hasattr(widget, "style") else [])]


@background.at_exit
def _close_all() -> None:
    for explorer in list(Explorer._newest.values()):
        if explorer._process == os.getpid():  # a forked process leaves its parent's alone
            explorer.close()
