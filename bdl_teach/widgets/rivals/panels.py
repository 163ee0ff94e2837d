"""The panels of the rivals' explorer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import own_points as points
from bdl_teach.problems.live_fits import N_FUNCTIONS
from bdl_teach.widgets.rivals.fits import Rival

if TYPE_CHECKING:  # at run time this would load TensorFlow before the first picture frame
    from bdl_teach.predictive import Predictive


class RivalPanel(plots.Artists):
    """One of the two: data, truth, bands, mean, some of its functions, and NUTS over them.

    Args:
        ax: An empty panel.
        x: Inputs ``[m, 1]``, in rising order, the same for every update.
        truth: The noise-free function at them ``[m]``.
        name: What it is called before the first update.

    Attributes:
        axes: The panel.
        room: Its height.
    """

    def __init__(self, ax: Axes, x: Array, truth: Array, name: str) -> None:
        plots.tidy(ax, name, "", "y")
        self.axes, self._x = ax, x[:, 0]
        ax.set_xlim(x[0, 0], x[-1, 0])
        ax.locator_params(axis="x", nbins=5)
        self.room = plots.Room(ax)
        self._gap = plots.GapStripe(ax)
        self._band = plots.PredictiveArtists(ax, self._x, n_functions=N_FUNCTIONS)
        self._band.artists[2].set_label("draws or members")
        self._truth = plots.draw_truth(ax, self._x, truth)
        self._gold = plots.OverlayArtists(ax, self._x, "NUTS")
        self._points = plots.draw_data(ax, [], [])
        self.artists = [
            *self._gap.artists, *self._band.artists, self._truth, *self._gold.artists,
            self._points, *self.room.artists,
        ]  # fmt: skip

    def update(
        self,
        name: str,
        data: datasets.Regression1D,
        gap: Array,
        rival: Rival,
        nuts: Predictive | None,
        height: float,
    ) -> bool:
        """Move everything; says whether something changed that does not move."""
        self._points.set_data(data.x[:, 0], data.y[:, 0])
        self._gap.update(self._x, gap)
        self._truth.set_visible(points.units_of(data) == points.COURSE)
        self._band.update(replace(rival.prediction, samples=rival.shown.functions))
        self._gold.show(nuts)
        changed = self.axes.get_title(loc="left") != name
        self.axes.set_title(name, fontsize=11, loc="left")
        return self.room.hold(plots.edges(rival.prediction), height, nuts) or changed


def height_of(prediction: Predictive) -> float:
    """How far from 0 the ±2 sd total band goes."""
    return float(np.abs(plots.edges(prediction)["band"]).max())
