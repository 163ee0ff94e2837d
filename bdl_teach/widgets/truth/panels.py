"""The panels of the truth explorer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach._support.checks import Array

if TYPE_CHECKING:  # at run time this would load TensorFlow before the first picture frame
    from bdl_teach.predictive import Predictive


class MeanFieldArtists(plots.Artists):
    """A gap, a fit with its epistemic band, and the mean of the best fit.

    Args:
        ax: Where to draw.
        x: Inputs ``[m]``, the same for every update.
    """

    def __init__(self, ax: Axes, x: Array) -> None:
        self._x, zero, self.gap = x, np.zeros_like(x), plots.GapStripe(ax)
        style: dict[str, Any] = {"color": plots.BLUE, "alpha": 0.3, "lw": 0, "zorder": 2}
        self._band = ax.fill_between(x, zero, zero, label="fit ±2 sd epistemic", **style)
        (self._mean,) = ax.plot(x, zero, color=plots.BLUE, lw=2.2, label="fit mean", zorder=3)
        style = {"color": plots.PURPLE, "lw": 1.8, "zorder": 3.5, "visible": False}
        (self._best,) = ax.plot(x, zero, "--", label="best fit mean", **style)
        self.artists = [*self.gap.artists, self._band, self._mean, self._best]

    @staticmethod
    def edges(fit: Predictive) -> dict[str, Array]:
        """Return the curves of a fit that are drawn."""
        return {"mean": fit.mean, "band": plots.epistemic_edges(fit)}

    def update(self, fit: Predictive) -> None:
        """Show a fit."""
        self._band.set_data(self._x, *plots.epistemic_edges(fit))
        self._mean.set_data(self._x, fit.mean)

    def show_best(self, best: Predictive | None) -> bool:
        """Show the best fit, or hide it; return whether that changed."""
        changed = self._best.get_visible() != (best is not None)
        self._best.set_visible(best is not None)
        if best is not None:
            self._best.set_ydata(best.mean)
        return changed


class PartsPanel(plots.Artists):
    """The three parts of the gap as bars; a word in place of an unknown one."""

    LIMITS = (2.0, 4.0, 8.0, 16.0)
    NAMES = ("optimisation", "family", "prior")
    _COLOURS = (plots.BLUE, plots.PURPLE, plots.ORANGE)

    def __init__(self, ax: Axes) -> None:
        plots.tidy(ax, "Parts of the gap to the truth", "over the gap, in units of y", "")
        self._ax, self._limit = ax, self.LIMITS[0]
        ax.set(xlim=(0, self._limit), ylim=(2.6, -0.6))
        ax.set_yticks(range(3), self.NAMES)
        self._bars = ax.barh(range(3), [0.0] * 3, height=0.62, color=self._COLOURS)
        self._words = [ax.text(0, i, "", va="center", fontsize=plots.LETTERS) for i in range(3)]
        self.artists = [*self._bars, *self._words]

    def update(self, parts: Mapping[str, float | str]) -> bool:
        """Show each part's number, or the word in its place; return whether the limit changed."""
        numbers = {name: part for name, part in parts.items() if not isinstance(part, str)}
        limit = plots.step_above(max(numbers.values(), default=0.0), self.LIMITS)
        for bar, words, name in zip(self._bars, self._words, self.NAMES, strict=True):
            length = numbers.get(name, 0.0)
            bar.set_width(length)
            words.set_text(f"{length:.2f}" if name in numbers else f"{parts[name]}")
            inside = length > 0.8 * limit
            words.set(x=length + (-0.02 if inside else 0.02) * limit)
            words.set(ha="right" if inside else "left", color="white" if inside else plots.BLACK)
        changed, self._limit = limit != self._limit, limit
        if changed:
            self._ax.set_xlim(0, limit)
        return changed
