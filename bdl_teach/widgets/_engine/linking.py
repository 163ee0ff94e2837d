"""Mark the functions that a weight makes, or a function's weights, when the pointer is on it."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection

from bdl_teach import plots
from bdl_teach._support.checks import Array

STEPS = np.linspace(-2.0, 2.0, 10)  # values of a weight, in sds, whose functions are drawn
_NEAR = 0.03  # of the panel's height: largest distance from the pointer to a function


@dataclass(frozen=True)
class Mark:
    """What to show while the pointer is on a weight or function."""

    functions: Array  # [k, m]
    weights: Array  # places [j] along x, or [j, 2]
    words: str


class LinkArtists(plots.Artists):
    """Artists that mark functions of ``x`` ``[m]`` in one panel, and weights in another panel."""

    def __init__(self, functions: Axes, x: Array, weights: Axes) -> None:
        self._x, self._weights = x, weights
        orange: dict[str, Any] = {"color": plots.ORANGE}
        self._lines = LineCollection([], colors=plots.ORANGE, linewidths=1.5, zorder=6)
        functions.add_collection(self._lines, autolim=False)
        (self._rug,) = weights.plot([], [], "|", ms=14, mew=1.2, zorder=6, **orange)
        (self._dots,) = weights.plot([], [], "o", ms=9, mfc="none", mew=2.4, zorder=6, **orange)
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1.0}
        style: dict[str, Any] = {"fontsize": plots.LETTERS, "zorder": 7, "bbox": box}
        self._words = functions.text(0.01, 0.03, "", transform=functions.transAxes, **style)
        self.artists: list[Artist] = [self._lines, self._rug, self._dots, self._words]
        self.show(None)

    def show(self, mark: Mark | None) -> None:
        for artist in self.artists:
            artist.set_visible(mark is not None)
        if mark is None:
            return
        self._lines.set_segments([np.column_stack([self._x, f]) for f in mark.functions])
        rug = mark.weights if mark.weights.ndim == 1 else np.zeros(0)
        low, high = self._weights.get_ylim()
        middle = (low * high) ** 0.5 if self._weights.get_yscale() == "log" else (low + high) / 2
        self._rug.set_data(rug, np.full(len(rug), middle))
        self._dots.set_data(*(mark.weights.T if mark.weights.ndim == 2 else ([], [])))
        self._words.set_text(mark.words)


def nearest_function(
    functions: Array, x_grid: Array, at: tuple[float, float], height: float
) -> int | None:
    """Return the index in ``functions`` ``[k, m]`` of the one nearest to the point ``at``.

    Return ``None`` if its vertical distance is more than 3 % of the panel's ``height``.
    """
    column = int(np.argmin(np.abs(x_grid - at[0])))
    far = np.abs(functions[:, column] - at[1])
    k = int(np.argmin(far))
    return k if far[k] <= _NEAR * height else None
