"""The panels of the comparison explorer."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.artist import Artist
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
    "data": ("o", plots.BLUE, "among the data"),
    "gap": ("D", plots.ORANGE, "in the gap"),
    "outside": ("s", plots.GREEN, "outside"),
}


class MethodPanel:
    """One method's bands over the data, and NUTS over them; empty while it is not chosen.

    Args:
        canvas: Where the panel's artists move.
        place: Its cell of a grid of panels.
        name: Of the method.
        x: Inputs ``[m]``, the same for every update.
        truth: Noise-free function at them ``[m, 1]``.
    """

    def __init__(
        self, canvas: Canvas, place: SubplotSpec, name: str, x: Array, truth: Array
    ) -> None:
        ax = self.axes = canvas.figure.add_subplot(place)
        first, last = place.is_first_col(), place.is_last_row()
        plots.tidy(ax, name, "x" if last else "", "y" if first else "")
        ax.set(
            xlim=(x[0], x[-1]),
        )
        ax.tick_params(labelleft=first, labelbottom=last)
        self.room = plots.Room(ax, _LIMITS)
        ax.locator_params(axis="y", nbins=5)
        whole = ax.get_xaxis_transform()  # of the height, whatever the limits
        self._gap = Rectangle((0, 0), 0, 1, color=plots.SHADE, zorder=0, lw=0, transform=whole)
        ax.add_patch(self._gap)
        self._band = plots.PredictiveArtists(ax, x)
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
        canvas.animate([self._gap, *self._band.artists, self.truth, *self._gold.artists])
        canvas.animate([self._points, self._words, *self.room.artists])

    def legend(self) -> tuple[list[Artist], list[str]]:
        """Handles and labels of everything that a panel can show."""
        handles, labels = self.axes.get_legend_handles_labels()
        shown = [copy(handle) for handle in handles]
        for handle in shown:  # a legend takes over whether an artist is hidden
            handle.set_visible(True)
        return shown, labels

    def say(self, words: str) -> None:
        """Put a few words where the bands are missing."""
        self._words.set_text(words)

    def update(
        self,
        x: Array,
        y: Array,
        gap: tuple[float, float] | None,
        prediction: Predictive | None,
        nuts: Predictive | None,
        height: float,
    ) -> bool:
        """Move to data ``x`` [n], ``y`` [n], a gap, a predictive and the gold standard.

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
        self._gold.show(nuts)
        return self.room.hold({} if prediction is None else plots.edges(prediction), height)


class CoverageArtists:
    """Share of new points inside each method's 95 % interval, one mark a region.

    Args:
        canvas: Where the artists move.
        ax: Where to draw.
        rows: Names of the methods by key, from top to bottom.
    """

    def __init__(self, canvas: Canvas, ax: Axes, rows: Mapping[str, str]) -> None:
        self._rows = list(rows)
        plots.tidy(ax, "Inside the 95 % interval", "% of new points", "")
        n = len(self._rows)
        ax.set(xlim=(-4, 104), ylim=(n - 0.5, -0.5), xticks=[0, 25, 50, 75, 95])
        ax.set_yticks(range(n), list(rows.values()))
        ax.axvline(95, color=plots.BLACK, lw=1.2, ls="--")
        ax.hlines(np.arange(n - 1) + 0.5, -4, 104, color="#DDDDDD", lw=0.8)
        self._marks = {}
        for region, (marker, colour, words) in _MARKS.items():
            (line,) = ax.plot([], [], marker, color=colour, ms=8, mec="white", label=words)
            self._marks[region] = line
        plots.legend_above(ax, columns=1)
        canvas.animate(self._marks.values())

    def update(self, coverage: Mapping[str, Mapping[str, float]]) -> None:
        """Move to shares by method and region; a method that is missing has no marks."""
        for i, (region, line) in enumerate(self._marks.items()):
            shares = [coverage.get(name, {}).get(region, np.nan) for name in self._rows]
            line.set_data(100 * np.array(shares), np.arange(len(shares)) + 0.24 * (i - 1))
