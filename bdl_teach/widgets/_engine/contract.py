"""The contract of an explorer: the methods that its author defines, and the parts that they use."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.canvas import RENDER_LOCK, Canvas
from bdl_teach.widgets._engine.controls import Presets, Values, Widget
from bdl_teach.widgets._engine.function_panel import Panel
from bdl_teach.widgets._engine.latest_value import LatestValue
from bdl_teach.widgets._engine.missions import Mission, MissionBox, next_seeds
from bdl_teach.widgets._engine.picture import Picture, Place
from bdl_teach.widgets._engine.pinning import Pin
from bdl_teach.widgets._engine.prediction_drawing import DrawnBand
from bdl_teach.widgets._engine.question import Question
from bdl_teach.widgets._engine.replay import Film, steps_of
from bdl_teach.widgets._engine.status import Said
from bdl_teach.widgets._engine.texts import Texts

if TYPE_CHECKING:
    from bdl_teach.widgets._engine.function_panel import FunctionPanel
    from bdl_teach.widgets._engine.history import History

Result = TypeVar("Result")  # what a tick computes
Job = tuple[int, Values]  # number of a request, which another size of the place leaves as it is


class Contract(Generic[Result]):
    """The methods that the author of an explorer defines: ``class MyLab(Explorer[MyResult])``.

    ``MyResult`` is a frozen dataclass of what a tick computes. ``TEXTS`` is the data file, which
    has the controls and all that is said. ``_make_panels``, ``_compute``, ``_readings`` and
    ``_draw`` must be defined, the others may be; they stand in the order in which they are called.
    Whatever runs beside (a training) is made in ``_beside`` and ended in ``close``.
    """

    TEXTS: ClassVar[Texts]
    DEFAULTS: ClassVar[Values]
    PRESETS: ClassVar[Presets]
    QUESTION: ClassVar[Question | None]
    MISSIONS: ClassVar[tuple[Mission, ...]]
    SIZE: ClassVar[tuple[Any, ...]] = ()  # of the ``Canvas``, if it is not the usual one
    _DRAWN_BY: ClassVar[tuple[str, ...]] = ("n", "gap")  # moved, they draw points anew

    def __init_subclass__(cls, *, abstract: bool = False) -> None:
        """Refuse a subclass that lacks a required method, unless it is declared abstract."""
        super().__init_subclass__()
        if abstract:
            return
        left_out = [] if hasattr(cls, "TEXTS") else ["TEXTS"]
        for name, method in vars(Contract).items():
            if getattr(method, "__isabstractmethod__", False) and getattr(cls, name) is method:
                left_out.append(name)
        if left_out:
            raise TypeError(f"{cls.__name__}: an explorer must define {', '.join(left_out)}")
        texts = cls.TEXTS
        cls.DEFAULTS, cls.PRESETS = texts.defaults, texts.presets
        cls.QUESTION, cls.MISSIONS = texts.question, texts.missions

    # What an explorer defines.

    def _make_control(self, name: str) -> Widget:
        """Make a control, once; an explorer overrides this for a kind of its own."""
        return self.TEXTS.controls[name].make()

    @abstractmethod
    def _make_panels(self, canvas: Canvas) -> None:
        """Make the axes and all artists, once; those that move go to ``canvas.animate``."""

    def _pointer_panels(self) -> list[Panel]:
        """List, once, the panels that the pointer can act in.

        For points there is a control ``data``, of whose values ``Problem.data`` makes points.
        By default this is the panel ``_function``, where there is one.
        """
        return [self._function] if hasattr(self, "_function") else []

    def _buttons(self) -> dict[str, Callable[[], object]]:
        """Return what the explorer's own buttons do, by their names in the data file."""
        return {}

    def _beside(self) -> dict[str, Widget]:
        """Make, once, the other widgets of the groups, by their names there."""
        return {}

    def _idle(self, values: Values) -> set[str]:
        """Name the controls that have no effect at these values; they are dimmed."""
        return set()

    @abstractmethod
    def _compute(self, values: Values) -> Result:
        """Compute the result for these values: on the worker, on every tick.

        The values are a snapshot: read no control. Import inside what loads TensorFlow. Randomness
        comes from a seed among the values only. An exception is shown over the picture.
        """

    @abstractmethod
    def _draw(self, result: Result) -> None:
        """Move artists to ``result``, and make none: on the worker, with ``RENDER_LOCK`` held.

        If anything changed that does not move, such as limits: ``self._canvas.redraw_background``.
        """

    @abstractmethod
    def _readings(self, result: Result) -> dict[str, float]:
        """Return, by name, the figures of ``result`` that texts use; leave out missing ones."""

    def _words(self, result: Result) -> dict[str, str]:
        """Choose the parts of the status line that are not figures: templates, by their names."""
        return {}

    def _data(self, result: Result) -> datasets.Regression1D:
        """Return the points of a result."""
        data: datasets.Regression1D = result.data  # type: ignore[attr-defined]
        return data

    def _shares(self, result: Result) -> str:
        """Say how the time of a tick was spent; shown behind it in the status line."""
        return ""

    def _follow(self, values: Values, result: Result, *, at_rest: bool) -> Result | None:
        """Return the result with more of what is computed beside it; ``None`` when that must wait.

        Called repeatedly: as soon as a tick is shown, and at rest after each ``_improve``. A
        movement ends it at once. An exception is shown over the picture.
        """
        return None

    def _improve(self, values: Values, result: Result) -> Result | None:
        """Return a better result for values that rest, or ``None`` when this one is good.

        Called repeatedly while nothing moves. A movement waits for it, so it must not take longer
        than a tick. After an exception the picture stays. By default it finds out the
        ``convergence`` of the result's ``fit``, if it has one.
        """
        now: Any = result
        if getattr(now, "convergence", None) is None or now.convergence.over:
            return None
        better: Result = replace(now, convergence=now.convergence.after_one_more(now.fit))
        return better

    def _next(self, values: Values) -> tuple[float, Values] | None:
        """Return (seconds, values) of the next move that controls make by themselves, if any."""
        return None

    def _next_seeds(self, values: Values) -> list[Values]:
        """Return these values with the other seeds for which a mission must hold, too.

        They go to ``_compute`` while nothing moves; nothing of theirs may be drawn.
        """
        seed = self._controls.get("seed")
        return [] if seed is None else next_seeds(values, seed)

    def _frames(self, result: Result) -> Sequence[int]:
        """Return the steps taken at each frame of the training, its start first."""
        return steps_of(getattr(result, "fit", None))

    def _replay(self, result: Result, frame: int) -> Result:
        """Return ``result`` as it was at a frame other than the last.

        Whoever defines it has a row to replay the training with, under the picture.
        """
        return result

    def _doubt(self, result: Any) -> tuple[Array, Array]:
        """Return inputs where a point may be asked for, and the model's uncertainty there."""
        return result.x_grid[:, 0], result.prediction.epistemic_std

    def _point_at(self, x: float, y: float, begins: bool) -> None:
        """Move the controls to the place that the pointer marks in a panel of kind ``"at"``."""

    def _linked(self, result: Result, panel: int, x: float, y: float) -> object:
        """Return what the pointer points at in a panel with ``hover``; ``None`` if nothing."""
        return None

    def _mark(self, result: Any, linked: Any) -> None:
        """Mark ``linked``, or nothing, in all panels: on the worker, with ``RENDER_LOCK`` held."""

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Yield what to compile in the background once a page shows the first picture."""
        return iter(())

    # What its parts share.

    _function: FunctionPanel  # what is fitted, along x
    _made: dict[str, Widget]  # all that stands in the groups, by its name there
    _past: History  # from the values on that it is made with

    def _make_parts(self) -> None:
        """Make all parts of an explorer except the boxes of its page."""
        self.result: Result | None = None
        self.ticks = 0
        self._shown: Result | None = None  # the result, or it at a frame of its training
        self._film = Film(self._frames, self._replay, self._draw_again)
        self._slot: LatestValue[Job] = LatestValue()
        self._without_still: list[Any] = []  # handles of views that the notebook keeps no still of
        self._shown_at: Place | None = None  # of the picture, once the page has said it
        self._asking = threading.Lock()  # the page asks, and so does what has been trained
        self._pointed: object = None  # what the pointer is on
        self._heard = 0  # number of the page's last message about points
        self._moved_at = 0.0  # when controls moved by themselves
        self._asked = self._answered = 0  # number of the newest request, and of that shown
        self._asked_at = 0.0  # when the newest request came, by ``time.monotonic``
        self._warmed = threading.Event()  # all that can be compiled is
        self._chores_begun = False
        self._quiet = False  # values are being set: no control is answered
        self._controls: dict[str, Widget] = self._make_controls()
        self._status = controls.words("", "bdl-status")
        with RENDER_LOCK:
            self._canvas = Canvas(*self.SIZE)
            self._make_panels(self._canvas)
            self._active_panels = self._pointer_panels()
            self._drawn_band = self._make_drawn_band()  # edges that are drawn by hand
            self._notice = self._canvas.add_notice()  # the box in which failures are said
        self._picture = Picture(alt=self.TEXTS.alt)
        self._painted: Values = {}  # the values that the picture is of
        self._said, self._spent = Said(""), ""  # the status line, and how long it took
        self._compared: Values | None = None  # what is to be pinned before the next picture
        self._pin = Pin(
            self._canvas, self._controls, self.TEXTS.readings, self._draw_again, self._hold_axes
        )
        self._missions: MissionBox | None = None
        if self.MISSIONS:
            self._missions = MissionBox(self.MISSIONS, self._controls, self._draw_again)
        self._defaults = self.state()

    def _make_controls(self) -> dict[str, Widget]:
        """Make the controls, by the names that ``set`` takes."""
        return {name: self._make_control(name) for name in self.TEXTS.controls}

    if TYPE_CHECKING:  # what a part has of those that build on it

        @property
        def status(self) -> str: ...
        def state(self) -> Values: ...
        def code(self) -> str: ...
        def png(self) -> bytes: ...
        def svg(self) -> bytes: ...
        def undo(self) -> None: ...
        def redo(self) -> None: ...
        def reset(self) -> None: ...
        def _go(self, values: Values) -> None: ...
        def _undoable(self) -> Values: ...
        def _request(self, act: Callable[[], object] | None = None) -> None: ...
        def _draw_again(self, act: Callable[[], object] | None = None) -> None: ...
        def _say(self, sentence: str) -> None: ...
        def _say_what_is_shown(self) -> None: ...
        def _show_state(self) -> None: ...
        def _make_drawn_band(self) -> DrawnBand | None: ...
        def _hold_axes(self, held: bool = False) -> None: ...
        def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]: ...
