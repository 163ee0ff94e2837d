"""The panels of the comparison explorer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.gridspec import SubplotSpec
from matplotlib.patches import Rectangle

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine.canvas import Canvas

if TYPE_CHECKING:  # at run time this would load TensorFlow before the first picture frame
    from bdl_teach.predictive import Predictive

_LIMITS = (24.0, 36.0, 48.0, 72.0, 96.0)
_MARKS = {  # region -> marker, colour, words
    "data": ("o", plots.BLUE, "data"),
    "gap": ("D", plots.ORANGE, "gap"),
    "outside": ("s", plots.GREEN, "outside"),
}


class MethodPanel:
    """One method's bands over the data, and NUTS over them; it stands where it is told to.

    Args:
        canvas: Where the panel's artists move.
        place: A cell of a grid of panels.
        name: Of the method.
        x: Inputs ``[m]``, the same for every update.
        truth: Noise-free function at them ``[m, 1]``.
    """

    def __init__(
        self, canvas: Canvas, place: SubplotSpec, name: str, x: Array, truth: Array
    ) -> None:
        ax = self.axes = canvas.figure.add_subplot(place)
        plots.tidy(ax, name, "", "")
        ax.set_xlim(x[0], x[-1])
        ax.set_xticks([-0.5, 0.0, 0.5], ["−0.5", "0", "0.5"])  # short: four may stand in a row
        self.room = plots.Room(ax, _LIMITS)
        ax.locator_params(axis="y", nbins=5)
        whole = ax.get_xaxis_transform()  # of the height, whatever the limits
        self._gap = Rectangle((0, 0), 0, 1, color=plots.SHADE, zorder=0, lw=0, transform=whole)
        ax.add_patch(self._gap)
        self._band = plots.PredictiveArtists(ax, x)
        self._ends = IntervalArtists(ax, x)
        self._gold = plots.OverlayArtists(ax, x, "NUTS")
        self.truth = plots.draw_truth(ax, x, truth)
        self._points = plots.draw_data(ax, [], [])
        self._points.set_markersize(6)
        self._words = ax.text(
            0.5,
            0.04,
            "not chosen",
            transform=ax.transAxes,
            ha="center",
            color=plots.GREY,
            fontsize=plots.LETTERS,
        )
        canvas.animate([self._gap, *self._band.artists, *self._ends.artists, self.truth])
        canvas.animate(self._gold.artists)
        canvas.animate([self._points, self._words, *self.room.artists])

    def stand(self, place: SubplotSpec, *, shown: bool, last: bool = False) -> None:
        """Take a cell of the grid, and label the axes there; or only keep away from the others.

        Args:
            place: The cell.
            shown: Whether the panel is there at all.
            last: Whether no other stands below it.
        """
        first = place.is_first_col()
        self.axes.set_visible(shown)
        self.axes.set_in_layout(shown)
        self.axes.set_subplotspec(place)
        self.axes.set_ylabel("y" if shown and first else "", fontsize=plots.LETTERS, labelpad=1)
        self.axes.set_xlabel("x" if last else "", fontsize=plots.LETTERS, labelpad=1)
        self.axes.tick_params(labelleft=first, labelbottom=last)

    def say(self, words: str) -> None:
        """Put a few words where the bands are missing."""
        self._words.set_text(words)

    def update(
        self,
        x: Array,
        y: Array,
        gap: tuple[float, float] | None,
        prediction: Predictive | None,
        ends: Array | None,
        nuts: Predictive | None,
        height: float,
    ) -> bool:
        """Move to data ``x`` [n], ``y`` [n], a gap, a predictive and the gold standard.

        ``ends`` [2, m] are those of a conformal band, where one is chosen.

        Returns:
            Whether the frame, as high as the other panels' ``height``, has changed.
        """
        self._points.set_data(x, y)
        low, high = gap or (0.0, 0.0)
        self._gap.set_bounds(low, 0, high - low, 1)
        for artist in self._band.artists:
            artist.set_visible(prediction is not None)
        self.say("" if prediction else "not chosen")
        if prediction is not None:
            self._band.update(prediction)
        self._ends.show(ends)
        self._gold.show(nuts)
        curves = {} if prediction is None else plots.edges(prediction)
        if ends is not None:
            curves["conformal"] = ends
        return self.room.hold(curves, height, nuts)


class IntervalArtists(plots.Artists):
    """The two ends of a conformal band.

    Args:
        ax: Where to draw.
        x: Inputs ``[m]``, the same for every update.
    """

    def __init__(self, ax: Axes, x: Array) -> None:
        self._x = x
        style: dict[str, Any] = {"color": plots.PURPLE, "lw": 1.6, "zorder": 3.5}
        (self._low,) = ax.plot([], [], "-", label="conformal", **style)
        (self._high,) = ax.plot([], [], "-", **style)
        self.artists = [self._low, self._high]

    def show(self, ends: Array | None) -> None:
        """Move to the lower and the upper end ``[2, m]``, or hide."""
        for artist in self.artists:
            artist.set_visible(ends is not None)
        if ends is not None:
            self._low.set_data(self._x, ends[0])
            self._high.set_data(self._x, ends[1])


class CoverageArtists:
    """Share of new points inside each method's interval, one mark a region, and its level.

    Args:
        canvas: Where the artists move.
        ax: Where to draw.
    """

    def __init__(self, canvas: Canvas, ax: Axes) -> None:
        self._ax, self._rows = ax, [""]
        plots.tidy(ax, "Inside the interval", "% of new points", "")
        ax.set(xlim=(-4, 104), xticks=[0, 25, 50, 75, 100])
        ax.grid(axis="y", which="minor", color="#DDDDDD", lw=0.8)
        ax.tick_params(axis="y", which="minor", length=0)
        self._level = ax.axvline(95, color=plots.BLACK, lw=1.2, ls="--", label="level")
        self._marks = {}
        for region, (marker, colour, words) in _MARKS.items():
            (line,) = ax.plot([], [], marker, color=colour, ms=8, mec="white", label=words)
            self._marks[region] = line
        plots.legend_above(ax, columns=2)
        canvas.animate([self._level, *self._marks.values()])

    def stand(self, rows: Mapping[str, str]) -> bool:
        """Give each method a row, by its key, from top to bottom; says whether they are others."""
        if [*rows] == self._rows:
            return False
        self._rows, n = [*rows], max(len(rows), 1)
        self._ax.set_ylim(n - 0.5, -0.5)
        self._ax.set_yticks(range(len(rows)), list(rows.values()))
        self._ax.set_yticks(np.arange(n - 1) + 0.5, minor=True)
        for line in self._marks.values():
            line.set_markersize(8 if n <= 8 else 6)
        return True

    def update(self, coverage: Mapping[str, Mapping[str, float]], level: float) -> None:
        """Move to shares by method and region; a method that is missing has no marks."""
        self._level.set_xdata([100 * level, 100 * level])
        for i, (region, line) in enumerate(self._marks.items()):
            shares = [coverage.get(name, {}).get(region, np.nan) for name in self._rows]
            line.set_data(100 * np.array(shares), np.arange(len(shares)) + 0.24 * (i - 1))
