"""The truth explorer: mean field beside the true posterior, and the parts of its error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID, MAX_WIDTH, Problem, own_points
from bdl_teach.widgets import truth_search
from bdl_teach.widgets._engine import controls, status, texts
from bdl_teach.widgets._engine.beside_truth import ModelBesideTruth
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.function_panel import FunctionPanel
from bdl_teach.widgets.parts import PartsPanel
from bdl_teach.widgets.truth_search import TruthResult

if TYPE_CHECKING:  # at run time this would load TensorFlow before the first picture frame
    from bdl_teach.predictive import Predictive

_LIMITS = (16.0, 24.0, 40.0, 80.0, 160.0)  # limits of y in the function's panel
_LENGTHS = (10.0, 20.0)  # limits of the bars: the first holds all presets
_QUICK = "#80B0D0"  # a pale blue, for the quick fit
_SPREADS = {  # line style and colour of each epistemic sd
    "fit": ("-", plots.BLUE),
    plots.POSTERIOR: ("-.", plots.GREEN),
}
_PARTS = ("optimisation", "family", "prior_miss")
_COLOURS = (_QUICK, plots.BLUE, plots.ORANGE)


class TruthModel(ModelBesideTruth[TruthResult]):
    """An explorer to compare a mean-field fit with the true posterior, and to split its error.

    The parts of the error (see ``TruthResult.parts``) become known while no control moves.
    """

    TEXTS = texts.of("truth")
    GRID = GAP_GRID

    def make_panels(self, canvas: Canvas) -> None:
        main = canvas.main("f")["f"]
        parts = canvas.context("parts", self._draw_parts)["c"]
        spread = canvas.context("spread", self._draw_spread)["c"]
        self.function = FunctionPanel(
            canvas, main, "What each believes about the function", GAP_GRID,
            band=MeanFieldArtists, limits=_LIMITS, columns=4, spread=spread,
        )  # fmt: skip
        rows = zip(_PARTS, ("optimisation", "family", "prior"), _COLOURS, strict=True)
        along = "over the gap, units of y"
        self._parts = PartsPanel(parts, "Whose distance is it?", along, [*rows], _LENGTHS)
        self._spread = plots.SpreadPanel(spread, GAP_GRID, _SPREADS, "How unsure, by x")
        canvas.animate([*self._parts.artists, *self._spread.artists])
        canvas.animate_seldom([*self._parts.frame, *self._spread.frame])

    def compute(self, values: controls.Values) -> TruthResult:
        problem = Problem.of(values)
        result = truth_search.refit(problem)
        if values["prior_functions"]:
            functions = problem.prior_functions(result.fit, GAP_GRID)
            result = replace(result, prior_functions=functions)
        return result

    def unseen_fit(self, values: controls.Values) -> TruthResult:
        result = self.compute(values)
        return truth_search.improve(result) or result

    def improve(
        self, values: controls.Values, result: TruthResult, *, at_rest: bool = True
    ) -> TruthResult | None:
        return truth_search.improve(result) if at_rest or not result.trained else None

    def replay(self, result: TruthResult, frame: int) -> TruthResult:
        return truth_search.at(result, frame)

    def draw(self, result: TruthResult) -> None:
        functions, panel = result.prior_functions, self.function
        middle = 0.0 if functions is None else np.quantile(np.abs(functions), 0.9, axis=0).max()
        panel.update(result, result.prediction, float(middle))
        panel.band.show_quick(result.quick)

    def _draw_spread(self, result: TruthResult) -> None:
        spreads = {"fit": result.prediction, plots.POSTERIOR: result.nuts}
        if self._spread.show(plots.POSTERIOR, bool(result.nuts_report)):
            self.canvas.redraw_background(arrange=True)
        if self._spread.update(spreads, result.regions["gap"], held=self.canvas.held):
            self.canvas.redraw_seldom()

    def _draw_parts(self, result: TruthResult) -> None:
        if self._parts.update(result.parts, partial(_missing, result)):
            self.canvas.redraw_seldom()

    def chores(self) -> Iterator[Callable[[], object]]:
        """Yield functions that compile HMC, prior functions, the search, and fits to a table."""
        yield from super().chores()
        yield partial(self.compute, self.TEXTS.defaults | {"prior_functions": True})
        yield partial(truth_search.searched, Problem())
        yield partial(truth_search.searched, Problem(n=own_points.MOST))

    def readings(self, result: TruthResult) -> dict[str, float]:
        problem, gap = result.problem, result.regions["gap"]
        reach = prior_height(problem.scales[0], problem.hidden_units[0])
        asked = prior_height(self.TEXTS.defaults["prior_std"], MAX_WIDTH)
        found = {
            **result.parts,
            "F": result.fit.free_energy,
            "excess": result.search.excess,
            "bars": float("prior_miss" in result.parts),
            "off_sine_gap": status.off_the_sine(GAP_GRID, result.prediction.mean, gap),
            "reach": reach,
            "reach_asked": asked,
            "reach_times": reach / asked,
        }
        for name, shown in {"fit": result.prediction, "nuts": result.posterior}.items():
            for region in ("data", "gap"):
                if shown is not None and result.regions[region].any():
                    sd = shown.epistemic_std[result.regions[region]]
                    found[f"{name}_{region}"] = sd.mean()
        return found

    def words(self, result: TruthResult) -> dict[str, str]:
        known = result.posterior is not None
        return {
            **status.shown_if(beside=known, beside_data=known),
            **({} if result.regions["gap"].any() else {"spread": "{no_gap}"}),
            "search": str(result.search),
            "nuts": result.nuts_report,
        }


class MeanFieldArtists(plots.Artists):
    """Artists of the mean and epistemic band of a fit, and of the quick fit's mean, at x [m]."""

    def __init__(self, ax: Axes, x: Array) -> None:
        self._x, zero = x, np.zeros_like(x)
        style: dict[str, Any] = {"color": plots.BLUE, "alpha": 0.3, "lw": 0, "zorder": 2}
        self._band = ax.fill_between(x, zero, zero, label=plots.mark("epistemic")["label"], **style)
        (self._mean,) = ax.plot(
            x, zero, color=plots.RED, lw=2.2, label=plots.mark("mean")["label"], zorder=3
        )
        style = {"color": _QUICK, "lw": 1.2, "zorder": 2.5}
        (self._quick,) = ax.plot(x, zero, "--", label="quick fit", **style)
        self.artists = [self._band, self._mean, self._quick]

    @staticmethod
    def edges(fit: Predictive) -> dict[str, Array]:
        """Return the curves "mean" and "band" of a fit, which the limits of y must include."""
        return {"mean": fit.mean, "band": plots.epistemic_edges(fit)}

    def update(self, fit: Predictive) -> None:
        """Show the mean and the epistemic band of a fit."""
        self._band.set_data(self._x, *plots.epistemic_edges(fit))
        self._mean.set_data(self._x, fit.mean)

    def show_quick(self, quick: Predictive | None) -> None:
        """Show the mean of the quick fit beside the lowest; show nothing if it is ``None``."""
        self._quick.set_ydata(np.full_like(self._x, np.nan) if quick is None else quick.mean)


def _missing(result: TruthResult, part: str) -> str:
    """Return why a part of the error is not known yet, or how to make it known."""
    if not result.regions["gap"].any():
        return "no gap"
    if part == "optimisation" or result.posterior is not None:
        return "at rest"
    if result.nuts is not None:
        return "chains not mixed yet"
    return "on its way" if result.nuts_report else "needs “true posterior”"


def prior_height(prior_std: float, width: int) -> float:
    """Return the sd at x = ¼ of networks of one hidden layer, drawn from the prior N(0, σ_p²).

    Each hidden unit adds the variance σ_p⁴ (1 + x²)/2, the bias of the output adds σ_p².
    """
    units = width * prior_std**4 * (1 + 0.25**2) / 2
    return math.sqrt(units + prior_std**2)
