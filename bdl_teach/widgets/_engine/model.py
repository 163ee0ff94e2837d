"""The model of an explorer: what its author writes. It needs no thread and no page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.controls import Values, Widget
from bdl_teach.widgets._engine.function_panel import Panel
from bdl_teach.widgets._engine.missions import SEEDS
from bdl_teach.widgets._engine.replay import steps_of
from bdl_teach.widgets._engine.texts import Texts

if TYPE_CHECKING:
    from bdl_teach.widgets._engine.function_panel import FunctionPanel

Result = TypeVar("Result")  # what a tick computes
Move = Callable[[Values, Any], Values | None]  # from values and result to values to set, if any


class Host:
    """What a model may ask of the worker that runs it; this one stands in where there is none."""

    def moved(self) -> bool:
        """Return whether a control has moved since the tick began, or the explorer is closed."""
        return False

    def show(self, result: Any) -> None:
        """Show a part of the result that ``compute`` is still at work on."""

    def tick(self) -> None:
        """Ask for a tick: something that ``compute`` uses has changed. Any thread may call this."""

    def wake(self) -> None:
        """Ask to go on with what has awaited another thread, which calls this."""


class Model(ABC, Generic[Result]):
    """The model of an explorer: ``class MyModel(Model[MyResult])``.

    ``MyResult`` is a frozen dataclass of what one tick computes. ``TEXTS`` is the data file with
    the controls and all texts. ``make_panels``, ``compute``, ``readings`` and ``draw`` are
    required, the other methods optional. ``Explorer.of`` makes the explorer.

    Args:
        host: The worker, which calls all methods on its thread, except ``idle``, ``improve`` and
            what ``chores`` yields: these must change nothing.
    """

    TEXTS: ClassVar[Texts]
    DRAWN_BY: ClassVar[tuple[str, ...]] = ("n", "gap")  # controls that draw new points

    function: FunctionPanel  # the panel of the fitted function, if there is one

    def __init__(self, host: Host | None = None) -> None:
        self.host, self.canvas = host or Host(), Canvas()

    # Controls and panels.

    def make_control(self, name: str) -> Widget:
        """Make the widget of a control; override this for a kind that ``Control`` does not know."""
        return self.TEXTS.controls[name].make()

    @abstractmethod
    def make_panels(self, canvas: Canvas) -> None:
        """Make all panels and artists, once; give those that move to ``canvas.animate``.

        ``canvas.main`` makes the main panels, and ``canvas.context`` each context panel that
        ``[context]`` of the data file names.
        """

    def pointer_panels(self) -> list[Panel]:
        """Return the panels in which the pointer acts; by default ``self.function``, if any."""
        return [self.function] if hasattr(self, "function") else []

    def beside(self) -> dict[str, Widget]:
        """Return further widgets by name; ``[groups]`` of the data file can list these names."""
        return {}

    def buttons(self) -> dict[str, Move]:
        """Return, by name, what each of the explorer's own buttons sets.

        Each is a function of the controls' values and the result, ``None`` before the first tick.
        It returns the values to set; ``None`` leaves all as they are.
        """
        return {}

    def after(self, values: Values, name: str) -> Values:
        """Return what the movement of the control ``name`` to ``values`` sets, too."""
        return {}

    def idle(self, values: Values) -> set[str]:
        """Return the names of the controls to dim, because they have no effect at these values."""
        return set()

    def undoable(self, values: Values) -> Values:
        """Return the values that undo restores: all but those of the toggles in ``stays``."""
        return {name: value for name, value in values.items() if name not in self.TEXTS.stays}

    # A tick.

    @abstractmethod
    def compute(self, values: Values) -> Result:
        """Return the result for these values; the worker calls this at each tick.

        Import TensorFlow here, not at the top of the module. Take randomness only from a seed in
        ``values``. An exception is shown over the picture.
        """

    @abstractmethod
    def draw(self, result: Result) -> None:
        """Update the artists of the main panels to show ``result``; ``RENDER_LOCK`` is held.

        Make no artist here. After a change to something that is not animated, such as axis limits,
        call ``self.canvas.redraw_background``.
        """

    @abstractmethod
    def readings(self, result: Result) -> dict[str, float]:
        """Return the readings of ``result`` by name; leave out those that are not known yet."""

    def words(self, result: Result) -> dict[str, str]:
        """Return more templates for the status line, by name; they override the data file's."""
        return {}

    def data(self, result: Any) -> Any:
        """Return the data points that a result shows; ``None`` in an explorer without points."""
        return result.data if "data" in self.TEXTS.controls else None

    def finished(self, result: Result) -> bool:
        """Return whether ``wait`` may return; if not, call ``host.tick`` when there is more."""
        return True

    def keeps(self, before: Values, values: Values) -> bool:
        """Return whether the result for ``before`` only needs ``complete`` to show ``values``."""
        return False

    # At rest.

    def improve(self, values: Values, result: Result, *, at_rest: bool = True) -> Result | None:
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

    def complete(self, values: Values, result: Result) -> Result:
        """Return a result to show with what else is known of it, such as the true posterior."""
        return result

    def follow(self, result: Result, *, at_rest: bool) -> Result | None:
        """Work on a slow part of ``result``, such as the true posterior; return the new one.

        Return ``None`` if nothing has changed. The worker calls this repeatedly after a tick, later
        with ``at_rest``. This method must return soon after ``host.moved()``. An exception is shown
        over the picture.
        """
        return None

    def awaits(self) -> bool:
        """Return whether ``follow`` waits for another thread, which will call ``host.wake``."""
        return False

    def next(self, values: Values) -> tuple[float, Values] | None:
        """Return (pause, new values) if controls are to move by themselves, else ``None``.

        The pause is in seconds and counts from the last such movement.
        """
        return None

    def chores(self) -> Iterator[Callable[[], object]]:
        """Yield functions that compile programs in the background after the first picture."""
        return iter(())

    # Missions.

    def next_seeds(self, values: Values) -> list[Values]:
        """Return copies of ``values`` with the next seeds, for which a mission must also hold."""
        if "seed" not in self.TEXTS.controls:
            return []
        low, high = self.TEXTS.controls["seed"].range[:2]
        places = high - low + 1  # after the slider's last seed comes the first
        following = [(values["seed"] - low + k) % places + low for k in range(1, SEEDS)]
        return [{**values, "seed": number} for number in following]

    def unseen(self, values: Values) -> Result:
        """Return the result for values that are not shown, such as those with another seed."""
        return self.compute(values)

    # The replay of a training.

    def frames(self, result: Result) -> Sequence[int]:
        """Return the number of training steps at each stored frame; () without a replay."""
        has_replay = type(self).replay is not Model.replay
        return steps_of(getattr(result, "fit", None)) if has_replay else ()

    def replay(self, result: Result, frame: int) -> Result:
        """Return ``result`` as it was at frame number ``frame`` of its training.

        This is not called for the last frame, which is ``result`` itself. An explorer that defines
        this method has replay controls behind *more*.
        """
        return result

    # The pointer.

    def doubt(self, result: Any) -> tuple[Array, Array]:
        """Return inputs ``[m]`` and the epistemic sds ``[m]`` of the prediction at them.

        The button *ask where unsure* asks for a new point where the sd is largest.
        """
        return result.x_grid[:, 0], result.prediction.epistemic_std

    def point_at(
        self, values: Values, result: Result, x: float, y: float, begins: bool
    ) -> Values | None:
        """Return what a press (``begins``) or drag at (x, y) sets, in a panel of kind "at"."""
        return None
