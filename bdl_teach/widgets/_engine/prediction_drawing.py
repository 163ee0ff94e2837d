"""Draw it first: the learner draws the edges of a band before the fit is shown, and gets a score.

Meanwhile the fit is hidden; then both are shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach._support.checks import Array

_AMONG = (-0.5, -0.25, 0.0, 0.25, 0.5)  # among the data: ends, peaks and zero of the sine
FIRST = 0.3  # height of an edge before it is moved, as a share of the panel's
ASKS = (
    "Draw the band: drag the points of its two edges to where you expect ±2 sd of what the model "
    "is unsure about (epistemic); then press “show the fit”."
)


class DrawnBand:
    """The two edges of a band, drawn by the learner in a panel.

    Args:
        axes: The panel.
        stays: Artists that stay visible while the edges are drawn.

    Attributes:
        artists: The drawn edges, once they stand beside the fit.
        stage: "" without any, "drawing", or "shown" beside the fit.
    """

    def __init__(self, axes: Axes, stays: Sequence[Artist]) -> None:
        self._axes, self._stays = axes, stays
        low, high = axes.get_xlim()
        far = [end / 2 + np.sign(end) / 4 for end in (low, high) if abs(end) > 1.0]
        self._x = np.array(sorted({low, high, *far, *_AMONG}))
        self._edges = np.zeros((2, len(self._x)))
        self._hidden: list[Artist] = []
        style: dict[str, Any] = {"color": plots.BLACK, "lw": 1.8, "ls": (0, (5, 2)), "zorder": 6}
        self._lines = [axes.plot([], [], **style)[0] for _ in range(2)]
        self.artists: list[Artist] = list(self._lines)
        self.stage = ""

    @property
    def drawing(self) -> bool:
        """Return whether the edges are being drawn, so that the fit is hidden."""
        return self.stage == "drawing"

    def handles(self) -> list[list[float]]:
        """Return the places of the lower edge, then those of the upper edge."""
        return [
            [float(x), float(y)] for edge in self._edges for x, y in zip(self._x, edge, strict=True)
        ]

    def advance(self) -> None:
        """Go to the next stage: from none to drawing, to shown, to none."""
        self.stage = {"": "drawing", "drawing": "shown", "shown": ""}[self.stage]
        if self.drawing:
            high = FIRST * self._axes.get_ylim()[1]
            self._edges[:] = [[-high], [high]]
        for line, edge in zip(self._lines, self._edges, strict=True):
            shown = self.stage == "shown"
            line.set_data((self._x, edge) if shown else ([], []))

    def move(self, i: int, y: float) -> None:
        """Move the i-th place to a height, and the other edge with it where they would cross."""
        side, place = divmod(min(max(i, 0), self._edges.size - 1), len(self._x))
        self._edges[side, place] = y
        if side:
            self._edges[0, place] = min(self._edges[0, place], y)
        else:
            self._edges[1, place] = max(self._edges[1, place], y)

    def hide(self, artists: Iterable[Artist]) -> None:
        """Hide the artists that would show the answer."""
        for artist in artists:
            if artist.get_visible() and artist not in self._stays:
                artist.set_visible(False)
                self._hidden.append(artist)

    def uncover(self) -> None:
        """Show again what was hidden."""
        while self._hidden:
            self._hidden.pop().set_visible(True)

    def score(self, x: Array, mean: Array, std: Array) -> str:
        """Say how near the drawn band is to mean ± 2 sd: arrays ``[m]`` at inputs ``[m]``.

        The score is the overlap of the bands over their union, and the mean error of the edges.
        """
        low, high = (np.interp(x, self._x, edge) for edge in self._edges)
        both, either, off = _compare((low, high), (mean - 2 * std, mean + 2 * std))
        return f"your band and this one share {both / either:.0%}, its edges are off by {off:.1f}"


def _compare(one: tuple[Array, Array], other: tuple[Array, Array]) -> tuple[float, float, float]:
    """Return the mean heights of overlap and union of two bands, and the mean error of edges."""
    shared = np.minimum(one[1], other[1]) - np.maximum(one[0], other[0])
    both = np.maximum(shared, 0.0)
    either = (one[1] - one[0]) + (other[1] - other[0]) - both
    off = np.abs(np.stack(one) - np.stack(other)).mean()
    return float(both.mean()), max(float(either.mean()), 1e-12), float(off)
