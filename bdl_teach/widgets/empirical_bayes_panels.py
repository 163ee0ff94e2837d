"""The panels of the empirical-Bayes explorer that no other explorer has."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach.checks import Array

_GRID = 10.0 ** np.linspace(-2, 2, 201)


class BestPriorArtists:
    """KL[q ‖ N(0, σ_p²)] of all weights against σ_p, for the q that was found; its lowest point."""

    def __init__(self, ax: Axes) -> None:
        (self._curve,) = ax.plot(_GRID, _GRID, "-", color=plots.BLUE, lw=2, label="KL, q held")
        (self._best,) = ax.plot(
            [], [], "*", color=plots.GREEN, ms=14, clip_on=False, label="best, in closed form"
        )
        (self._now,) = ax.plot(  # a ring: the star may stand in it
            [], [], "o", mfc="none", mec=plots.RED, mew=2.4, ms=17, clip_on=False, label="now"
        )

    @property
    def artists(self) -> list[Any]:
        """All artists, from back to front."""
        return [self._curve, self._best, self._now]

    def update(self, n_weights: int, best_std: float, now: float | None) -> None:
        """Move to a q whose best common prior is ``best_std``; ``now`` is the prior in use."""
        self._curve.set_ydata(_above_best(_GRID, best_std, n_weights))
        self._best.set_data([best_std], [0.0])
        here = [] if now is None else [now]
        height = np.minimum(_above_best(np.array(here), best_std, n_weights), 200.0)
        self._now.set_data(here, height)


def _above_best(prior_std: Array, best_std: float, n_weights: int) -> Array:
    """KL at σ_p less the KL at the best one: n [ln(σ_p/σ*) + ½ (σ*²/σ_p² − 1)]."""
    ratio = prior_std / best_std
    return np.asarray(n_weights * (np.log(ratio) + 0.5 * (ratio**-2 - 1)))


class SortedArtists:
    """σ_p of each weight's prior, and the σ_p that would be best for it alone, sorted by that."""

    def __init__(self, ax: Axes) -> None:
        (self._wanted,) = ax.plot(
            [], [], ".", color=plots.ORANGE, ms=7, label="best for it alone: √(μ² + σ²)"
        )
        (self._prior,) = ax.plot([], [], "-", color=plots.BLACK, lw=1.8, label="prior in use")
        self._floor = float(ax.get_ylim()[0])

    @property
    def artists(self) -> list[Any]:
        """All artists, from back to front."""
        return [self._prior, self._wanted]

    def update(self, prior_std: Array, wanted_std: Array) -> None:
        """Move to σ_p in use and σ_p wanted ``[n_weights]``; far below is at the edge."""
        order = np.argsort(-wanted_std)
        places = np.arange(1, len(order) + 1)
        self._wanted.set_data(places, np.maximum(wanted_std[order], self._floor))
        self._prior.set_data(places, np.maximum(prior_std[order], self._floor))
