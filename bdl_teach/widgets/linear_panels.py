"""The panels of the linear-regression explorer that no other explorer has."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach.checks import Array

_CIRCLE = np.stack([f(np.linspace(0.0, 2.0 * np.pi, 121)) for f in (np.cos, np.sin)])  # [2, 121]


_REACH = 3.5  # of the weights' panel, in the prior's sds; doubled until all is inside


class EllipseArtists:
    """Two Gaussian weights against each other, in units of their prior's standard deviation."""

    def __init__(self, ax: Axes) -> None:
        self._ax, self._reach = ax, _REACH
        ax.set(xlim=(-_REACH, _REACH), ylim=(-_REACH, _REACH), aspect="equal")
        black, blue = plots.BLACK, plots.BLUE
        (self._prior,) = ax.plot(*(2 * _CIRCLE), "--", color=black, lw=1.6, label="prior, 2 sd")
        (self._area,) = ax.fill(*_CIRCLE, color=blue, alpha=0.35, label="posterior, 2 sd")
        (self._draws,) = ax.plot([], [], "o", color=blue, ms=3.5, label="10 draws")
        (self._mean,) = ax.plot([], [], "*", color=plots.RED, ms=11, label="mean = MAP")
        self._name = ax.text(0.03, 0.03, "", fontsize=9, transform=ax.transAxes)

    @property
    def artists(self) -> list[Any]:
        """All artists, from back to front."""
        return [self._area, self._prior, self._draws, self._mean, self._name]

    def update(self, mean: Array, cov: Array, draws: Array, name: str) -> bool:
        """Move to a posterior ``mean`` [2], ``cov`` [2, 2], ``draws`` [s, 2], and say of what.

        Returns:
            Whether the frame has changed: it doubles until ellipse and draws are inside.
        """
        edge = mean[:, None] + 2 * np.linalg.cholesky(cov) @ _CIRCLE  # [2, 121]
        self._area.set_xy(edge.T)
        self._draws.set_data(draws[:, 0], draws[:, 1])
        self._mean.set_data(mean[:1], mean[1:])
        self._name.set_text(name)
        return self._make_room(max(np.abs(edge).max(), np.abs(draws).max()))

    def _make_room(self, needed: float) -> bool:
        reach = _REACH * 2.0 ** max(0, int(np.ceil(np.log2(needed / _REACH))))
        changed, self._reach = reach != self._reach, reach
        self._ax.set(xlim=(-reach, reach), ylim=(-reach, reach))
        return changed


class EvidenceArtists:
    """The log evidence of each choice, as the distance to the best one; the current one marked."""

    def __init__(self, ax: Axes, choices: Array) -> None:
        self._choices = choices
        (self._curve,) = ax.plot([], [], ".-", color=plots.BLUE, lw=1.8, ms=5, label="log P(D)")
        (self._now,) = ax.plot([], [], "o", color=plots.RED, ms=9, clip_on=False, label="now")
        self._floor = float(ax.get_ylim()[0])

    @property
    def artists(self) -> list[Any]:
        """All artists, from back to front."""
        return [self._curve, self._now]

    def update(self, log_evidence: Array, choice: float) -> None:
        """Move to ``log_evidence`` of each choice and mark ``choice``; far below is at the edge."""
        below = np.maximum(log_evidence - log_evidence.max(), self._floor)
        self._curve.set_data(self._choices, below)
        nearest = int(np.argmin(np.abs(self._choices - choice)))
        self._now.set_data([self._choices[nearest]], [below[nearest]])
