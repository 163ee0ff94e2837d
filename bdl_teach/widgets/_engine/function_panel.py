"""The panel of a function: what a fit says of y along x, and the points that it was fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.touch import Panel

if TYPE_CHECKING:  # at run time this would load TensorFlow before the first picture frame
    from bdl_teach.predictive import Predictive


class FunctionPanel(Panel):
    """Bands, mean, drawn functions, truth and points, which can be touched.

    Under them lie the gap and functions of the prior, and over them the true posterior, where a
    result has any.

    Args:
        canvas: The canvas on which the artists move.
        ax: An empty panel.
        title: Its title.
        x: Inputs ``[m, 1]``, in rising order, the same for every update.
        n_functions: How many drawn functions to show.
        band: Class of the artists that show a predictive, if not the usual bands; the limits
            include its ``edges``.
        truth: Whether to show the sine.
        limits: Heights that the panel may have.
        xlabel: What stands along x.
        wrapped: Entries in a row of its legend, where one does not hold all.
        **touched: Fields of ``touch.Panel``.

    Attributes:
        band: What shows the predictive.
        points: The points.
        problem: What belongs to the problem, and not to a fit.
    """

    def __init__(
        self,
        canvas: Canvas,
        ax: Axes,
        title: str,
        x: Array,
        *,
        n_functions: int = 10,
        band: Any = None,
        truth: bool = True,
        limits: Sequence[float] = plots.ROOM,
        xlabel: str = "x",
        wrapped: int = 4,
        **touched: Any,
    ) -> None:
        plots.tidy(ax, title, xlabel, "y")
        ax.set_xlim(x[0, 0], x[-1, 0])
        self._canvas, self._wrapped, self._x = canvas, wrapped, x[:, 0]
        along, room, self._gap = self._x, plots.Room(ax, limits), plots.GapStripe(ax)
        self._before = plots.FunctionArtists(ax, along, "10 prior functions")
        self._edges = plots.edges if band is None else band.edges
        usual = partial(plots.PredictiveArtists, n_functions=n_functions)
        self.band: Any = (band or usual)(ax, along)
        self._over = plots.OverlayArtists(ax, along, plots.POSTERIOR)
        sine = plots.draw_truth(ax, x, datasets.sinusoid().truth(x)) if truth else None
        self.points = plots.draw_data(ax, [], [])
        lines = [sine] if sine else []
        self.problem = [*self._gap.artists, *lines, self.points]
        super().__init__(ax, room, sine, **touched)
        canvas.animate([*self._before.artists, *self._gap.artists, *self.band.artists, *lines])
        canvas.animate([*self._over.artists, self.points, *room.artists])
        canvas.settle(room.frame)
        self.name()

    def name(self) -> None:
        """Enter what is shown in the legend, if the panel has one of its own."""
        if self.columns:
            plots.legend_above(self.axes, self.columns, self._wrapped)

    def update(
        self,
        result: Any,
        prediction: Predictive | None,
        at_least: float = 0.0,
        **more: Array,
    ) -> None:
        """Show a result, and choose limits that hold it.

        Args:
            result: Has ``data``, and may have ``regions``, ``nuts`` and ``prior_functions``.
            prediction: What to show of it; of ``None`` the band stays as it is.
            at_least: A height that the limits must include.
            **more: Other curves that they must hold.
        """
        self.points.set_data(result.data.x[:, 0], result.data.y[:, 0])
        curves = {} if prediction is None else self._edges(prediction)
        if prediction is not None:
            self.band.update(prediction)
        if hasattr(result, "regions"):
            self._gap.update(self._x, result.regions["gap"])
        posterior = getattr(result, "nuts", None)
        named = self._over.show(posterior, asked=bool(getattr(result, "nuts_report", "")))
        if self._before.show(getattr(result, "prior_functions", None)) | named:
            self.name()
            self._canvas.redraw_background(arrange=True)
        assert self.room is not None
        if self.room.hold({**curves, **more}, at_least, posterior):
            self._canvas.redraw_settled()
