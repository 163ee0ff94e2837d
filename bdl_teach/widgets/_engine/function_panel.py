"""The panel of a function: what a fit says of y along x, and the points that it was fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.touch import Panel

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.predictive import Predictive


class FunctionPanel(Panel):
    """Bands, mean, drawn functions, truth and points, which can be touched.

    Args:
        canvas: Where it moves.
        ax: An empty panel.
        title: Its title.
        x: Inputs ``[m, 1]``, in rising order, the same for every update.
        n_functions: How many drawn functions to show.
        truth: Whether to show the sine.
        limits: Heights that the panel may have.
        **touched: Fields of ``touch.Panel``.
    """

    def __init__(
        self,
        canvas: Canvas,
        ax: Axes,
        title: str,
        x: Array,
        *,
        n_functions: int = 10,
        truth: bool = True,
        limits: Sequence[float] = plots.ROOM,
        **touched: Any,
    ) -> None:
        plots.tidy(ax, title, "x", "y")
        ax.set_xlim(x[0, 0], x[-1, 0])
        room = plots.Room(ax, limits)
        self._canvas = canvas
        self._band = plots.PredictiveArtists(ax, x[:, 0], n_functions=n_functions)
        sine = plots.draw_truth(ax, x, datasets.sinusoid().truth(x)) if truth else None
        self.points = plots.draw_data(ax, [], [])
        super().__init__(ax, room, sine, **touched)
        plots.legend_above(ax, self.columns)
        canvas.animate([*self._band.artists, *([sine] if sine else []), self.points])
        canvas.animate(room.artists)
        canvas.settle(room.frame)

    def update(self, data: datasets.Regression1D, prediction: Predictive) -> None:
        """Move to data and the predictive of its fit, and make room for it."""
        self.points.set_data(data.x[:, 0], data.y[:, 0])
        self._band.update(prediction)
        if self.room is not None and self.room.hold(plots.edges(prediction)):
            self._canvas.redraw_settled()
