"""The truth explorer: mean field, the true posterior, and the gap between them taken apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID as X_GRID
from bdl_teach.problems import MAX_WIDTH, Problem, truth_search
from bdl_teach.problems import own_points as points
from bdl_teach.problems.truth_search import TRUTH, TruthResult
from bdl_teach.widgets._engine import controls, replay, status, texts, touch
from bdl_teach.widgets._engine.beside_truth import ExplorerBesideTruth, GoldStandard
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.texts import Texts
from bdl_teach.widgets.truth.panels import FunctionPanel, PartsPanel

# Line style and colour of each epistemic sd.
_SPREADS = {
    "fit": ("-", plots.BLUE),
    "best fit": ("--", plots.PURPLE),
    plots.POSTERIOR: ("-.", plots.GREEN),
}


def prior_height(prior_std: float, width: int) -> float:
    """Standard deviation at x = ¼ of the functions of the prior N(0, σ_p²) on all weights.

    f = Σ v_k max(0, a_k x + b_k) + c: each unit has the variance σ_p⁴ (1 + x²)/2.
    """
    units = width * prior_std**4 * (1 + 0.25**2) / 2
    return math.sqrt(units + prior_std**2)


class TruthExplorer(ExplorerBesideTruth[TruthResult]):
    """Gap, prior, starts, width, noise, N: each movement refits the network by mean field.

    The true posterior follows, by HMC. While the sliders rest, a search goes on for the lowest free
    energy: more starts, starts at a mode, training on. The gap between the fit and the truth falls
    into three parts, all of them over the gap in the data and in the units of y: *optimisation* is
    the distance from the fit to the best fit, *family* that from the best fit to the true
    posterior, and *prior* is what of the truth this leaves beyond its ±2 sd: see ``TruthResult``.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    TEXTS: ClassVar[Texts] = texts.of("truth")
    GRID = X_GRID

    def _make_canvas(self) -> Canvas:
        canvas = Canvas()
        grid = canvas.figure.add_gridspec(2, 2, height_ratios=(1.5, 1))
        self._functions = FunctionPanel(canvas.figure.add_subplot(grid[0, :]), X_GRID, TRUTH)
        self._parts = PartsPanel(canvas.figure.add_subplot(grid[1, 0]))
        self._spread = plots.SpreadPanel(canvas.figure.add_subplot(grid[1, 1]), X_GRID, _SPREADS)
        for panel in (self._functions, self._parts, self._spread):
            canvas.animate(panel.artists)
        return canvas

    def _touch_panels(self) -> list[touch.Panel]:
        panel = self._functions
        return [
            touch.Panel(
                panel.axes,
                panel.room,
                panel.truth,
                columns=4,
                stays=panel.problem,
                spread=self._spread.axes,
            )
        ]

    def _data(self, result: TruthResult) -> datasets.Regression1D:
        return result.problem.data

    def _doubt(self, result: TruthResult) -> tuple[Array, Array]:
        return X_GRID[:, 0], result.prediction.epistemic_std

    def _compute(self, values: controls.Values) -> TruthResult:
        problem = Problem.of(values)
        result = truth_search.refit(problem, values["starts"])
        if values["prior_functions"]:
            weights = problem.prior.sample((10, result.fit.network.n_weights), values["seed"])
            result = replace(result, prior_functions=result.fit.evaluate(weights, X_GRID))
        return result

    def _with_truth(self, result: TruthResult, gold: GoldStandard) -> TruthResult:
        return truth_search.beside_nuts(result, gold.prediction, gold.report)

    def _improve(self, values: controls.Values, result: TruthResult) -> TruthResult | None:
        return truth_search.improve(result)

    def _frames(self, result: TruthResult) -> Sequence[int]:
        return replay.steps_of(result.fit)

    def _replay(self, result: TruthResult, frame: int) -> TruthResult:
        return truth_search.at(result, frame)

    def _draw(self, result: TruthResult) -> None:
        best = result.search.prediction if result.search.tried else None
        spreads = {"fit": result.prediction, "best fit": best, plots.POSTERIOR: result.nuts}
        changed = [
            self._functions.update(result, best),
            self._parts.update(_bars(result)),
            self._spread.update(spreads, result.regions["gap"]),
        ]
        if any(changed):
            self._canvas.redraw_background(arrange=True)

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Compile the chains, what draws prior functions, and the fit to a table."""
        problem = Problem()

        def draw() -> None:
            result = truth_search.refit(problem, 1)
            weights = problem.prior.sample((10, result.fit.network.n_weights), 0)
            result.fit.evaluate(weights, X_GRID)

        yield from super()._chores()
        yield draw
        table = replace(problem, n=points.MOST)
        yield partial(truth_search.refit, table, 1)

    def _readings(self, result: TruthResult) -> dict[str, float]:
        fit, lowest = (round(truth_search.free_energy(f)) for f in (result.fit, result.search.best))
        problem, gap = result.problem, result.regions["gap"]
        reach = prior_height(problem.scales[0], problem.hidden_units[0])
        asked = prior_height(self.DEFAULTS["prior_std"], MAX_WIDTH)
        found: dict[str, float | None] = {
            "F": fit,
            "lowest": lowest,
            "excess": fit - lowest,
            "optimisation": result.optimisation,
            "family": result.family,
            "whole": result.whole,
            "prior_miss": result.prior_miss,
            "bars": float(result.prior_miss is not None),
            "off_sine_gap": status.off_the_sine(X_GRID, result.prediction.mean, gap),
            "reach": reach,
            "reach_asked": asked,
            "reach_times": reach / asked,
        }
        for name, shown in {"fit": result.prediction, "nuts": result.nuts}.items():
            for region in ("data", "gap"):
                if shown is not None and result.regions[region].any():
                    sd = shown.epistemic_std[result.regions[region]]
                    found[f"{name}_{region}"] = sd.mean()
        return {name: value for name, value in found.items() if value is not None}

    def _words(self, result: TruthResult) -> dict[str, str]:
        known = result.family is not None and result.optimisation is not None
        gap, tried = result.regions["gap"].any(), bool(result.search.tried)
        return {
            **status.shown_if(split=tried, beside=result.nuts is not None, parts=known),
            **({} if gap else {"spread": "{no_gap}"}),
            "search": str(result.search),
            "nuts": result.nuts_report,
        }


def _bars(result: TruthResult) -> dict[str, float | str]:
    """The length of each bar, or why there is none."""
    if not result.regions["gap"].any():
        return dict.fromkeys(PartsPanel.NAMES, "there is no gap")
    later = "when the sliders have rested"
    without = "the posterior is on its way" if result.nuts_report else "press “posterior (HMC)”"
    family_word = without if result.nuts is None else later
    return {
        "optimisation": later if result.optimisation is None else result.optimisation,
        "family": family_word if result.family is None else result.family,
        "prior": without if result.prior_miss is None else result.prior_miss,
    }
