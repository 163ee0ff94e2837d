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
    from bdl_teach.problems.truth_search import TruthResult


class FunctionPanel(plots.Artists):
    """Data, truth, the fit with its band, the best mean, the true posterior, prior functions.

    Args:
        ax: An empty panel.
        x: Inputs ``[m, 1]``, in rising order, the same for every update.
        truth: The noise-free function at them ``[m]``.
    """

    LIMITS = (16.0, 24.0, 40.0, 80.0, 160.0)

    def __init__(self, ax: Axes, x: Array, truth: Array) -> None:
        plots.tidy(ax, "What each believes about the function", "x", "y")
        self.axes, self._x = ax, x[:, 0]
        ax.set_xlim(x[0, 0], x[-1, 0])
        self.room = plots.Room(ax, self.LIMITS)
        self._gap = plots.GapStripe(ax)
        self._before = plots.FunctionArtists(ax, self._x, "10 prior functions")
        zero = np.zeros_like(self._x)
        style: dict[str, Any] = {"color": plots.BLUE, "alpha": 0.3, "lw": 0, "zorder": 2}
        self._band = ax.fill_between(self._x, zero, zero, label="fit ±2 sd epistemic", **style)
        (self._mean,) = ax.plot(self._x, zero, color=plots.BLUE, lw=2.2, label="fit mean", zorder=3)
        style = {"color": plots.PURPLE, "lw": 1.8, "zorder": 3.5}
        (self._best,) = ax.plot([], [], "--", label="best fit mean", **style)
        self.truth = plots.draw_truth(ax, self._x, truth)
        self._gold = plots.OverlayArtists(ax, self._x, plots.POSTERIOR)
        self._points = plots.draw_data(ax, [], [])
        self._name_what_is_shown()
        self.artists = [
            *self._gap.artists, *self._before.artists, self._band, self._mean, self._best,
            self.truth, *self._gold.artists, self._points, *self.room.artists,
        ]  # fmt: skip
        self.problem = (*self._gap.artists, self.truth, self._points)

    def update(self, result: TruthResult, best: Predictive | None) -> bool:
        """Move to a result and the best fit; says whether something changed that does not move."""
        fit, data, functions = result.prediction, result.problem.data, result.prior_functions
        self._points.set_data(data.x[:, 0], data.y[:, 0])
        self._gap.update(self._x, result.regions["gap"])
        self._band.set_data(self._x, *plots.epistemic_edges(fit))
        self._mean.set_data(self._x, fit.mean)
        changed = self._best.get_visible() != (best is not None)
        self._best.set_visible(best is not None)
        if best is not None:
            self._best.set_data(self._x, best.mean)
        changed |= self._gold.show(result.nuts, asked=bool(result.nuts_report))
        if self._before.show(functions) | changed:
            changed = True
            self._name_what_is_shown()
        curves = {"mean": fit.mean, "band": plots.epistemic_edges(fit)}
        middle = 0.0 if functions is None else np.quantile(np.abs(functions), 0.9, axis=0).max()
        return self.room.hold(curves, float(middle), result.nuts) or changed  # of the middle ones

    def _name_what_is_shown(self) -> None:
        plots.legend_above(self.axes, columns=4, wrapped=3)


class PartsPanel(plots.Artists):
    """The three parts of the gap as bars; a word where one is not known."""

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
        """Move to each name's number, or the word that stands for it; as ``FunctionPanel``."""
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
