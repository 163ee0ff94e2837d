"""Panels that the pointer can act in, and the panel of a fitted function y(x)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems.own_points import COURSE, MOST, PLAIN, Labels, Units, labels_of, units_of
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.own_data import label_axis

if TYPE_CHECKING:  # at run time this would load TensorFlow before the first picture frame
    from bdl_teach.predictive import Predictive

_LONGEST_Y = 16  # letters of a name that fit along the height of a panel
_NEAR = 0.25  # share of the points' range, on both sides of it, where curves set the limits of y
_TEN_FUNCTIONS = partial(plots.PredictiveArtists, n_functions=10)


@dataclass
class Panel:
    """A panel in which the pointer can act."""

    axes: Axes
    room: plots.Room | None = (
        None  # chooses the limits of y, which stay while a hand moves something
    )
    truth: Artist | None = None  # the line of the noise-free function, hidden if that is unknown
    columns: int = 6  # of the panel's legend; 0 if it has none of its own
    over: Sequence[Axes] = ()  # panels at its right, above which the legend may go on
    most: int = MOST  # largest number of points
    kind: str = "points"  # or "at" if the pointer only chooses a place
    spread: Axes | None = None  # a panel of sds of y along the same x, labelled in the same units
    units: Units = COURSE
    labels: Labels = PLAIN

    def __post_init__(self) -> None:
        self._names = self.axes.get_xlabel(), self.axes.get_ylabel()
        self._spread_name = "" if self.spread is None else self.spread.get_ylabel()

    def draw_legend(self) -> None:
        if self.columns:
            plots.legend_above(self.axes, self.columns, self.over)

    def label(self, data: datasets.Regression1D) -> bool:
        """Label the axes in the units of ``data``; return whether the units changed."""
        units, labels = units_of(data), labels_of(data)
        if self.kind != "points" or (units, labels) == (self.units, self.labels):
            return False
        self.units, self.labels = units, labels
        if self.truth is not None:
            self.truth.set_visible(units == COURSE)
            self.draw_legend()
        for i, axis in enumerate((self.axes.xaxis, self.axes.yaxis)):
            name = labels[i] or self._names[i]
            if i == 1 and len(name) > _LONGEST_Y:  # too long for the panel
                name = f"{name[: _LONGEST_Y - 1]}…"
            start, scale = units[2 * i : 2 * i + 2]
            values = start + scale * (data.x, data.y)[i]
            whole = bool((np.abs(values - np.round(values)) < 1e-5 * scale).all())
            label_axis(axis, name, start, scale, labels[2 + i], whole)
            if self.spread is not None and i == 0:
                label_axis(self.spread.xaxis, name, start, scale, labels[2], whole)
        if self.spread is not None:  # a standard deviation has no start, and no date
            label_axis(self.spread.yaxis, self._spread_name, 0.0, units[3])
        return True

    def place(self) -> dict[str, Any]:
        """Return the panel's settings, axis limits and place in the picture, for ``pointer.js``.

        "left", "top", "width" and "height" are fractions of the picture's size.
        """
        whole = self.axes.figure.bbox
        left, bottom, right, top = self.axes.bbox.extents / np.tile(whole.size, 2)
        return {
            "kind": self.kind,
            "most": self.most,
            "left": round(float(left), 5),
            "top": round(float(1.0 - top), 5),
            "width": round(float(right - left), 5),
            "height": round(float(top - bottom), 5),
            "x": list(map(float, self.axes.get_xlim())),
            "y": list(map(float, self.axes.get_ylim())),
            "units": list(self.units),
            "zeros": list(self.labels[2:]),
        }


class FunctionPanel(Panel):
    """A panel that shows a fit: bands, mean, drawn functions, the sine and the data.

    Args:
        x: Inputs ``[m, 1]`` of all predictions, in rising order.
        band: Makes the artists that show a prediction, from ``ax`` and the inputs ``[m]``. Their
            method ``edges``, if there is one, returns the curves that the y limits must include.
        truth: Whether to show the sine.
        limits: Rising values L; the y limits are ±L for the first that is large enough.
        **fields: Fields of ``Panel``.
    """

    def __init__(
        self,
        canvas: Canvas,
        ax: Axes,
        title: str,
        x: Array,
        *,
        band: Callable[[Axes, Array], Any] = _TEN_FUNCTIONS,
        truth: bool = True,
        limits: Sequence[float] = plots.ROOM,
        xlabel: str = "x",
        **fields: Any,
    ) -> None:
        plots.tidy(ax, title, xlabel, "y")
        ax.set_xlim(x[0, 0], x[-1, 0])
        self._canvas, self._x = canvas, x[:, 0]
        self.shown_mean: Array | None = None  # [m], of the prediction that is shown
        along, room, self._gap = self._x, plots.Room(ax, limits), plots.GapStripe(ax)
        self._before = plots.FunctionArtists(ax, along, "10 prior functions")
        self.band = band(ax, along)
        self._edges = getattr(self.band, "edges", plots.edges)
        self._over = plots.OverlayArtists(ax, along, plots.POSTERIOR)
        sine = plots.draw_truth(ax, x, datasets.sinusoid().truth(x)) if truth else None
        self._trace = ax.plot([], [], "-", color=plots.GREY, lw=1.0, zorder=2.8)[0]
        self.points = plots.draw_data(ax, [], [])
        lines = [sine] if sine else []
        super().__init__(ax, room, sine, **fields)
        canvas.animate([*self._before.artists, *self._gap.artists, *self.band.artists, *lines])
        canvas.animate([*self._over.artists, self.points, *room.artists])
        canvas.animate_for_a_moment(self._trace)
        canvas.animate_seldom(room.frame)
        self.draw_legend()

    def update(
        self, result: Any, prediction: Predictive | None, at_least: float = 0.0, **more: Array
    ) -> None:
        """Show ``prediction`` (if it is ``None``, keep the shown one), and choose the y limits.

        The limits include ``at_least`` and the curves ``more``. The panel also shows the ``data``
        of ``result`` and, if there are any, its ``regions``, ``nuts`` and ``prior_functions``.
        """
        self.points.set_data(result.data.x[:, 0], result.data.y[:, 0])
        curves = {} if prediction is None else self._edges(prediction)
        self._trace.set_data([], [])
        if prediction is not None:
            self.band.update(prediction)
            self.shown_mean = prediction.mean
        if hasattr(result, "regions"):
            self._gap.update(self._x, result.regions["gap"])
        posterior = getattr(result, "nuts", None)
        asked = bool(getattr(result, "nuts_report", ""))
        sure = posterior is None or getattr(result, "mixed", True)
        named = self._over.show(posterior, asked=asked, sure=sure)
        if self._before.show(getattr(result, "prior_functions", None)) | named:
            self.draw_legend()
            self._canvas.redraw_background(arrange=True)
        assert self.room is not None
        awaited = asked and posterior is None
        inputs = result.data.x if len(result.data.x) else self._x
        low, high = inputs.min(), inputs.max()
        margin = _NEAR * (high - low)
        near = (low - margin <= self._x) & (self._x <= high + margin)
        all_curves = {**curves, **more}
        if self.room.hold(all_curves, at_least, posterior, near=near, awaited=awaited):
            self._canvas.redraw_seldom()

    def leave_trace(self, mean: Array | None) -> bool:
        """Draw the mean ``[m]`` that a better fit has replaced, until the next update.

        Return whether it differs from the one that is shown.
        """
        if mean is None or self.shown_mean is None or np.array_equal(mean, self.shown_mean):
            return False
        self._trace.set_data(self._x, mean)
        return True
