"""The panels of methods side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.gridspec import SubplotSpec

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID, truth
from bdl_teach.problems.live_fits import N_FUNCTIONS
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets.side_by_side.results import SideBySide

TRUTH = truth(GAP_GRID)

_LIMITS = (24.0, 36.0, 48.0, 72.0, 96.0)
_MARKS = {  # region -> marker, colour, words
    "data": ("o", plots.BLUE, "data"),
    "gap": ("D", plots.ORANGE, "gap"),
    "outside": ("s", plots.GREEN, "outside"),
}


class MethodPanel(plots.Artists):
    """The panel of one method: data, truth, bands, mean, some of its functions, and the posterior.

    Args:
        ax: An empty panel.
        title: What stands over it.
        small: Whether it is one of many, that moves when others come and go.
    """

    def __init__(self, ax: Axes, title: str, *, small: bool) -> None:
        x = self._x = GAP_GRID[:, 0]
        self.axes, self._small = ax, small
        plots.tidy(ax, title, "", "" if small else "y")
        ax.set_xlim(x[0], x[-1])
        self.room = plots.Room(ax, _LIMITS if small else plots.ROOM)
        if small:
            ax.set_xticks([-0.5, 0.0, 0.5], ["−0.5", "0", "0.5"])  # short: four may stand in a row
            ax.locator_params(axis="y", nbins=5)
        else:
            ax.locator_params(axis="x", nbins=5)
        self._gap = plots.GapStripe(ax)
        self._band = plots.PredictiveArtists(ax, x, n_functions=0 if small else N_FUNCTIONS)
        if not small:
            self._band.artists[2].set_label("draws or members")
        self._ends = IntervalArtists(ax, x)
        self._gold = plots.OverlayArtists(ax, x, plots.POSTERIOR)
        self.truth = plots.draw_truth(ax, x, TRUTH)
        self._points = plots.draw_data(ax, [], [])
        if small:
            self._points.set_markersize(6)
        self._words = ax.text(
            0.5, 0.04, "", transform=ax.transAxes, ha="center", color=plots.GREY,
            fontsize=plots.LETTERS,
        )  # fmt: skip
        self.artists = [
            *self._gap.artists, *self._band.artists, *self._ends.artists, self.truth,
            *self._gold.artists, self._points, self._words, *self.room.artists,
        ]  # fmt: skip

    def stand(self, place: SubplotSpec, *, shown: bool, last: bool = False) -> None:
        """Move the panel to a cell of the grid and label its axes, or hide it.

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

    def name(self, title: str) -> bool:
        """Change the panel's title; return whether it is another one."""
        changed = self.axes.get_title(loc="left") != title
        self.axes.set_title(title, fontsize=11, loc="left")
        return changed

    def say(self, words: str) -> None:
        """Write a few words in place of missing bands."""
        self._words.set_text(words)

    def update(self, result: SideBySide, place: str, height: float) -> bool:
        """Show what the method predicts, or that it is not chosen.

        Returns:
            Whether the frame, as high as the other panels' ``height``, has changed.
        """
        told, ends = result.told.get(place), result.ends(place)
        self._points.set_data(result.data.x[:, 0], result.data.y[:, 0])
        self._gap.update(self._x, result.regions["gap"])
        for artist in self._band.artists:
            artist.set_visible(told is not None)
        self.say("" if told else "not chosen")
        curves: dict[str, Array] = {}
        if told is not None:
            shown = told.prediction
            if told.functions is not None:
                shown = replace(shown, samples=told.functions)
            self._band.update(shown)
            curves = plots.edges(told.prediction)
        self._ends.show(ends)
        self._gold.show(result.nuts)
        if ends is not None:
            curves["conformal"] = ends
        return self.room.hold(curves, height, result.nuts)


def height_of(result: SideBySide) -> float:
    """Return the largest distance from 0 of all bands and interval ends."""
    nuts = [] if result.nuts is None else [result.nuts]
    curves = [plots.edges(p)["band"] for p in (*result.predictions.values(), *nuts)]
    curves += [ends for place in result.told if (ends := result.ends(place)) is not None]
    return max((float(np.abs(curve).max()) for curve in curves), default=0.0)


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
        """Show the lower and the upper end ``[2, m]``, or hide both for ``None``."""
        for artist in self.artists:
            artist.set_visible(ends is not None)
        if ends is not None:
            self._low.set_data(self._x, ends[0])
            self._high.set_data(self._x, ends[1])


class CoverageArtists:
    """The share of new points inside each method's interval, one mark a region, and the level.

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
        """Give each method a row, by its key, from top to bottom; return whether rows changed."""
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
        """Show the shares by method and region; a missing method has no marks."""
        self._level.set_xdata([100 * level, 100 * level])
        for i, (region, line) in enumerate(self._marks.items()):
            shares = [coverage.get(name, {}).get(region, np.nan) for name in self._rows]
            line.set_data(100 * np.array(shares), np.arange(len(shares)) + 0.24 * (i - 1))
