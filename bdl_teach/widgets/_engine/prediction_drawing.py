"""The learner draws the edges of a band before the fit is shown, and gets a score."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach._support.checks import Array

_AMONG = (-0.5, -0.25, 0.0, 0.25, 0.5)  # x of handles at the data: ends, peaks and zero of the sine
FIRST = 0.3  # height of an edge before it is moved, as a share of the upper limit of y
ASKS = (
    "Draw the band: drag the points of its two edges to where you expect ±2 sd of what the model "
    "is unsure about (epistemic); then press “show the fit”."
)


class DrawnBand:
    """A band that the learner draws in a panel; meanwhile only some artists stay visible."""

    def __init__(self, axes: Axes, stays: Sequence[Artist]) -> None:
        self._axes, self._stays = axes, stays
        low, high = axes.get_xlim()
        far = [end / 2 + np.sign(end) / 4 for end in (low, high) if abs(end) > 1.0]
        self._x = np.array(sorted({low, high, *far, *_AMONG}))
        self._edges = np.zeros((2, len(self._x)))
        self._hidden: list[Artist] = []
        style: dict[str, Any] = {"color": plots.BLACK, "lw": 1.8, "ls": (0, (5, 2)), "zorder": 6}
        self.artists = [axes.plot([], [], **style)[0] for _ in range(2)]
        self.stage = ""  # without a band; then "drawing", then "shown" beside the fit

    def handles(self) -> Any:
        """Return the points [x, y] of the lower edge, then those of the upper edge."""
        return np.stack([np.tile(self._x, 2), self._edges.ravel()], axis=1).tolist()

    def advance(self) -> None:
        """Go to the next stage: from "" to "drawing", to "shown", to ""."""
        self.stage = {"": "drawing", "drawing": "shown", "shown": ""}[self.stage]
        if self.stage == "drawing":
            high = FIRST * self._axes.get_ylim()[1]
            self._edges[:] = [[-high], [high]]
        for line, edge in zip(self.artists, self._edges, strict=True):
            line.set_data((self._x, edge) if self.stage == "shown" else ([], []))

    def move(self, i: int, y: float) -> None:
        """Set point ``i`` of ``handles`` to height ``y``; where the edges would cross, set both."""
        side, place = divmod(min(max(i, 0), self._edges.size - 1), len(self._x))
        self._edges[side, place] = y
        meet = max if side == 0 else min
        self._edges[1 - side, place] = meet(self._edges[1 - side, place], y)

    def hide(self, artists: Iterable[Artist]) -> None:
        for artist in artists:
            if artist.get_visible() and artist not in self._stays:
                artist.set_visible(False)
                self._hidden.append(artist)

    def uncover(self) -> None:
        while self._hidden:
            self._hidden.pop().set_visible(True)

    def score(self, x: Array, mean: Array, std: Array) -> str:
        """Return a sentence that compares the drawn band with mean ± 2 sd at ``x`` ``[m]``."""
        low, high = (np.interp(x, self._x, edge) for edge in self._edges)
        below, above = mean - 2 * std, mean + 2 * std
        both = np.maximum(np.minimum(high, above) - np.maximum(low, below), 0.0)  # [m]
        either = (high - low) + (above - below) - both
        share = both.mean() / max(either.mean(), 1e-12)
        return f"your band and this one share {share:.0%}"
