"""The truth explorer: mean field, the true posterior, and the parts of the gap between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID as X_GRID
from bdl_teach.problems import MAX_WIDTH, Problem, truth_search
from bdl_teach.problems import own_points as points
from bdl_teach.problems.truth_search import TruthResult
from bdl_teach.widgets._engine import controls, status, texts
from bdl_teach.widgets._engine.beside_truth import ExplorerBesideTruth, GoldStandard
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.function_panel import FunctionPanel, Panel
from bdl_teach.widgets._engine.texts import Texts
from bdl_teach.widgets.truth.panels import MeanFieldArtists, PartsPanel

_LIMITS = (16.0, 24.0, 40.0, 80.0, 160.0)  # heights of the panel of the function
# Line style and colour of each epistemic sd.
_SPREADS = {
    "fit": ("-", plots.BLUE),
    "best fit": ("--", plots.PURPLE),
    plots.POSTERIOR: ("-.", plots.GREEN),
}


def prior_height(prior_std: float, width: int) -> float:
    """Return the sd at x = ¼ of functions drawn from the prior N(0, σ_p²) on all weights.

    f = Σ v_k max(0, a_k x + b_k) + c: each unit has the variance σ_p⁴ (1 + x²)/2.
    """
    units = width * prior_std**4 * (1 + 0.25**2) / 2
    return math.sqrt(units + prior_std**2)


class TruthExplorer(ExplorerBesideTruth[TruthResult]):
    """Gap, prior, starts, width, noise, N: each movement refits the network by mean field.

    The true posterior follows, by HMC. While the sliders rest, a search continues for the lowest
    free energy: more starts, starts at a mode, training on. The gap between the fit and the truth
    has three parts, all over the gap in the data and in the units of y: *optimisation* is the
    distance from the fit to the best fit, *family* that from the best fit to the true posterior,
    and *prior* what of the sine lies outside the true posterior's ±2 sd: see ``TruthResult``.

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
        function = canvas.figure.add_subplot(grid[0, :])
        parts, spread = (canvas.figure.add_subplot(grid[1, i]) for i in (0, 1))
        self._function = FunctionPanel(
            canvas, function, "What each believes about the function", X_GRID,
            band=MeanFieldArtists, limits=_LIMITS, columns=4, wrapped=3, spread=spread,
        )  # fmt: skip
        self._function.stays = [*self._function.band.gap.artists, *self._function.problem]
        self._parts = PartsPanel(parts)
        self._spread = plots.SpreadPanel(spread, X_GRID, _SPREADS)
        canvas.animate([*self._parts.artists, *self._spread.artists])
        return canvas

    def _pointer_panels(self) -> list[Panel]:
        return [self._function]

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

    def _replay(self, result: TruthResult, frame: int) -> TruthResult:
        return truth_search.at(result, frame)

    def _draw(self, result: TruthResult) -> None:
        best = result.search.prediction if result.search.tried else None
        spreads = {"fit": result.prediction, "best fit": best, plots.POSTERIOR: result.nuts}
        gap, functions, panel = result.regions["gap"], result.prior_functions, self._function
        middle = 0.0 if functions is None else np.quantile(np.abs(functions), 0.9, axis=0).max()
        panel.update(result.problem.data, result, float(middle))
        panel.band.gap.update(X_GRID[:, 0], gap)
        if named := panel.band.show_best(best):
            panel.name()
        changed = [
            named,
            self._parts.update(_bars(result)),
            self._spread.update(spreads, gap),
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
    """Return the length of each bar, or the reason why there is none."""
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
