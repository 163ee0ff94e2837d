"""The contract of an explorer: the methods that its author defines, and the parts that they use."""

from __future__ import annotations

import html
import threading
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.background import LatestValue
from bdl_teach.widgets._engine.canvas import RENDER_LOCK, Canvas, Picture, Place
from bdl_teach.widgets._engine.controls import Presets, Values, Widget
from bdl_teach.widgets._engine.function_panel import Panel
from bdl_teach.widgets._engine.missions import SEEDS, Mission, MissionBox
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
Job = tuple[int, Values]  # number of the newest tick asked for, values of the controls


class Contract(Generic[Result]):
    """The methods that the author of an explorer defines: ``class MyLab(Explorer[MyResult])``.

    ``MyResult`` is a frozen dataclass of what one tick computes. ``TEXTS`` is the data file with
    the controls and all texts. ``_make_panels``, ``_compute``, ``_readings`` and ``_draw`` are
    required, the other methods optional.
    """

    TEXTS: ClassVar[Texts]
    DEFAULTS: ClassVar[Values]
    PRESETS: ClassVar[Presets]
    QUESTION: ClassVar[Question | None]
    MISSIONS: ClassVar[tuple[Mission, ...]]
    SIZE: ClassVar[tuple[Any, ...]] = ()  # arguments of the ``Canvas``
    _DRAWN_BY: ClassVar[tuple[str, ...]] = ("n", "gap")  # controls that draw new points

    def __init_subclass__(cls) -> None:
        """Raise ``TypeError`` if a subclass with ``TEXTS`` lacks a required method.

        A subclass without ``TEXTS`` is no explorer, but a part that explorers share.
        """
        super().__init_subclass__()
        if not hasattr(cls, "TEXTS"):
            return
        left_out = [
            name
            for name, method in vars(Contract).items()
            if getattr(method, "__isabstractmethod__", False) and getattr(cls, name) is method
        ]
        if left_out:
            raise TypeError(f"{cls.__name__}: an explorer must define {', '.join(left_out)}")
        texts = cls.TEXTS
        cls.DEFAULTS, cls.PRESETS = texts.defaults, texts.presets
        cls.QUESTION, cls.MISSIONS = texts.question, texts.missions

    # What an explorer defines.

    def _make_control(self, name: str) -> Widget:
        """Make the widget of a control; override this for a kind that ``Control`` does not know."""
        return self.TEXTS.controls[name].make()

    @abstractmethod
    def _make_panels(self, canvas: Canvas) -> None:
        """Make the axes and all artists, once; give those that move to ``canvas.animate``."""

    def _pointer_panels(self) -> list[Panel]:
        """Return the panels in which the pointer acts; by default ``self._function``, if any."""
        return [self._function] if hasattr(self, "_function") else []

    def _buttons(self) -> dict[str, Callable[[], object]]:
        """Return the functions that the explorer's own buttons call, by button name."""
        return {}

    def _beside(self) -> dict[str, Widget]:
        """Return further widgets by name; ``[groups]`` of the data file can list these names."""
        return {}

    def _idle(self, values: Values) -> set[str]:
        """Return the names of the controls to dim, because they have no effect at these values."""
        return set()

    @abstractmethod
    def _compute(self, values: Values) -> Result:
        """Return the result for these values; the worker calls this at each tick.

        Read no control: it may have moved. Import TensorFlow here, not at the top of the module.
        Take randomness only from a seed in ``values``. An exception is shown over the picture.
        """

    @abstractmethod
    def _draw(self, result: Result) -> None:
        """Update the artists to show ``result``; the worker calls this and holds ``RENDER_LOCK``.

        Make no artist here. After a change to something that is not animated, such as axis limits,
        call ``self._canvas.redraw_background``.
        """

    @abstractmethod
    def _readings(self, result: Result) -> dict[str, float]:
        """Return the readings of ``result`` by name; leave out those that are not known yet."""

    def _words(self, result: Result) -> dict[str, str]:
        """Return more templates for the status line, by name; they override the data file's."""
        return {}

    def _data(self, result: Any) -> Any:
        """Return the data points that a result shows; ``None`` in an explorer without points."""
        return result.data if "data" in self._controls else None

    def _shares(self, result: Result) -> str:
        """Return the end of the status line: how the time of a tick was spent."""
        return ""

    def _follow(self, *, at_rest: bool) -> Result | None:
        """Work on a slow part of ``self.result``, such as the true posterior; return the new one.

        Return ``None`` if nothing has changed. The worker calls this repeatedly after a tick, later
        with ``at_rest``. This method must return soon after a control has moved. A better
        ``self.result`` may be shown while it works. An exception is shown over the picture.
        """
        return None

    def _improve(self, values: Values, result: Result, *, at_rest: bool = True) -> Result | None:
        """Return a better result for the same values, or ``None`` if this one is good enough.

        A thread of its own calls this repeatedly while no control moves: at first with ``at_rest``
        false, for what takes a fifth of a second and has pauses in which another thread can fit.
        The thread may be in it during later ticks: change nothing. If the returned result has a
        field ``trained`` that is false, it is not shown, but improved further; a quick fit with
        such a field is not compared with a trained one. An exception is ignored. By default, if the
        result has a field ``convergence``, this makes one of the longer runs that show whether its
        ``fit`` converged.
        """
        now: Any = result
        if not at_rest or getattr(now, "convergence", None) is None or now.convergence.over:
            return None
        better: Result = replace(now, convergence=now.convergence.after_one_more(now.fit))
        return better

    def _next(self, values: Values) -> tuple[float, Values] | None:
        """Return (pause, new values) if controls are to move by themselves, else ``None``.

        The pause is in seconds and counts from the last such movement.
        """
        return None

    def _next_seeds(self, values: Values) -> list[Values]:
        """Return copies of ``values`` with the next seeds, for which a mission must also hold."""
        if (seed := self._controls.get("seed")) is None:
            return []
        places = seed.max - seed.min + 1  # after the slider's last seed comes the first
        following = [(values["seed"] - seed.min + k) % places + seed.min for k in range(1, SEEDS)]
        return [{**values, "seed": number} for number in following]

    def _frames(self, result: Result) -> Sequence[int]:
        """Return the number of training steps at each stored frame."""
        return steps_of(getattr(result, "fit", None))

    def _replay(self, result: Result, frame: int) -> Result:
        """Return ``result`` as it was at frame number ``frame`` of its training.

        The worker does not call this for the last frame, which is ``result`` itself. An explorer
        that defines this method has replay controls under its picture.
        """
        return result

    def _doubt(self, result: Any) -> tuple[Array, Array]:
        """Return inputs ``[m]`` and the epistemic sds ``[m]`` of the prediction at them.

        The button *ask where unsure* asks for a new point where the sd is largest.
        """
        return result.x_grid[:, 0], result.prediction.epistemic_std

    def _point_at(self, x: float, y: float, begins: bool) -> None:
        """Set controls for a press (``begins``) or drag at (x, y) in a panel with ``kind`` "at"."""

    def _linked(self, result: Result, panel: int, x: float, y: float) -> object:
        """Return what ``_mark`` is to mark while the pointer is at (x, y), or ``None`` for nothing.

        ``panel`` is the index in ``_pointer_panels`` of a panel whose ``hover`` is true.
        """
        return None

    def _mark(self, result: Any, linked: Any) -> None:
        """Mark in all panels what ``_linked`` returned, if anything. ``RENDER_LOCK`` is held."""

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Yield functions that compile programs in the background after the first picture."""
        return iter(())

    # What the parts of an explorer share.

    _function: FunctionPanel  # the panel of the fitted function, if there is one
    _made: dict[str, Widget]  # controls, buttons and other widgets of the groups, by name
    _past: History

    def _make_parts(self) -> None:
        """Make all parts except the boxes that lay out the page."""
        self.result: Result | None = None
        self.ticks = 0
        self._shown: Result | None = None  # the result, or a frame of its training
        self._film = Film(self._frames, self._replay, self._draw_again)
        self._slot: LatestValue[Job] = LatestValue()
        self._at_rest: LatestValue[Any] = LatestValue()  # what the thread that improves works on
        self._found: list[Callable[[], None]] = []  # what that thread has for the worker to show
        self._improved = 0  # number of the last tick whose result that thread was given
        self._rested = threading.Event()  # set when the newest result will not be improved further
        self._without_still: list[Any] = []  # handles of displayed outputs without a still
        self._shown_at: Place | None = None  # where the page shows the picture, if it does
        self._asking = threading.Lock()  # several threads ask the worker
        self._pointed: object = None  # what ``_linked`` has returned
        self._newest_message = 0  # number of the page's last message about points
        self._moved_at = 0.0  # when controls moved by themselves
        self._asked = self._answered = 0  # numbers of the newest and the last shown tick
        self._asked_at = 0.0  # when the newest tick was asked for, by ``time.monotonic``
        self._warmed = threading.Event()  # set when all programs have been compiled
        self._chores_begun = False
        self._left_out = ""  # sentences on values that were given for controls that are gone
        self._quiet = False  # while values are set: ignore the events of controls
        self._controls: dict[str, Widget] = self._make_controls()
        self._status = controls.words("", "bdl-status")
        with RENDER_LOCK:
            self._canvas = Canvas(*self.SIZE)
            self._make_panels(self._canvas)
            self._active_panels = self._pointer_panels()
            self._drawn_band: DrawnBand | None = None  # drawn by the learner, in the first panel
            for panel in [panel for panel in self._active_panels if panel.stays][:1]:
                self._drawn_band = DrawnBand(panel.axes, panel.stays)
                self._canvas.animate(self._drawn_band.artists)
            self._notice = self._canvas.add_notice()  # the box that shows failures
        self._picture = Picture(alt=self.TEXTS.alt)
        self._painted: Values = {}  # the values that the picture shows
        self._said, self._spent = Said(""), ""  # the status line, and the time of the tick
        self._compared: Values | None = None  # the state to pin before the next tick
        self._pin = Pin(
            self._canvas, self._controls, self.TEXTS.readings, self._draw_again, self._hold_axes
        )
        self._missions: MissionBox | None = None
        if self.MISSIONS:
            self._missions = MissionBox(self.MISSIONS, self._controls, self._draw_again)

    def _make_controls(self) -> dict[str, Widget]:
        return {name: self._make_control(name) for name in self.TEXTS.controls}

    def state(self) -> Values:
        """Return the values of all controls; ``type(explorer)(**state)`` rebuilds the explorer.

        Controls that hold no value are left out, such as ``data`` before the learner sets points.
        """
        values = {name: control.value for name, control in self._controls.items()}
        return {name: value for name, value in values.items() if value is not None}

    def _undoable(self) -> Values:
        """Return the values of all controls except the toggles in ``stays``: undo keeps them."""
        return {name: value for name, value in self.state().items() if name not in self.TEXTS.stays}

    @property
    def status(self) -> str:
        """Return the text of the status line."""
        return html.unescape(self._status.value)

    def png(self) -> bytes:
        """Return the current picture as PNG; its size does not depend on the page."""
        with RENDER_LOCK:
            return self._canvas.still()

    def svg(self) -> bytes:
        """Return the current picture as SVG."""
        with RENDER_LOCK:
            return self._canvas.as_svg()

    def code(self) -> str:
        """Return the line of Python that rebuilds the explorer in its present state."""
        moved = {n: v for n, v in self.state().items() if v != self.DEFAULTS.get(n)}
        shown = {n: float(f"{v:.10g}") if isinstance(v, float) else v for n, v in moved.items()}
        given = ", ".join(f"{name}={value!r}" for name, value in shown.items())
        return f"widgets.{type(self).__name__}({given})"

    def _say(self, sentence: str) -> None:
        self._status.value = html.escape(sentence)

    if TYPE_CHECKING:  # defined in the classes that build on this one

        def undo(self) -> None: ...
        def redo(self) -> None: ...
        def reset(self) -> None: ...
        def _request(self, act: Callable[[], object] | None = None) -> None: ...
        def _draw_again(self, act: Callable[[], object] | None = None) -> None: ...
        def _say_what_is_shown(self) -> None: ...
        def _show_state(self) -> None: ...
        def _hold_axes(self, held: bool = False) -> None: ...
        def _repr_mimebundle_(self, **options: Any) -> dict[str, Any]: ...
