"""The sinusoid explorer: Bayes by Backprop on 32 points, refitted on every tick."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach.problems import INSIDE, Problem
from bdl_teach.problems import WIDE_GRID as X_GRID
from bdl_teach.widgets._engine import controls, status, texts
from bdl_teach.widgets._engine.beside_truth import ExplorerBesideTruth, GoldStandard
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.function_panel import FunctionPanel, Panel
from bdl_teach.widgets._engine.linking import LinkArtists, nearest_function
from bdl_teach.widgets._engine.texts import Texts
from bdl_teach.widgets.sinusoid import fits as sinusoid_fits
from bdl_teach.widgets.sinusoid.fits import SinusoidResult

_SPREADS = {"fit": ("-", plots.BLUE), plots.POSTERIOR: ("-.", plots.GREEN)}
_NEAR = 0.1  # so near to its mean on the axis of weights a weight is meant
_PAPER: controls.Values = {"estimator": "weights"}


class SinusoidExplorer(ExplorerBesideTruth[SinusoidResult]):
    """σ₁, σ₂, π, noise, KL weight, samples, width, N: each movement refits the network.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    TEXTS: ClassVar[Texts] = texts.of("sinusoid")
    GRID = X_GRID

    def _idle(self, values: controls.Values) -> set[str]:
        """Name the σ of a prior half without weight; the weight if both halves are equal."""
        idle = {name for name, none in (("sigma1", 0.0), ("sigma2", 1.0)) if values["pi"] == none}
        return idle | ({"pi"} if math.isclose(values["sigma1"], values["sigma2"]) else set())

    def _make_canvas(self) -> Canvas:
        canvas = Canvas()
        grid = canvas.figure.add_gridspec(2, 3, height_ratios=(1.4, 1), width_ratios=(1, 1.2, 1.1))
        function = canvas.figure.add_subplot(grid[0, :])
        spread, history, weights = (canvas.figure.add_subplot(grid[1, i]) for i in range(3))
        self._function = FunctionPanel(
            canvas, function, "What the network believes about y", X_GRID,
            hover=True, spread=spread,
        )  # fmt: skip
        self._function.stays = self._function.problem
        self._spread = plots.SpreadPanel(
            spread, X_GRID, _SPREADS, "How unsure, by x", (4, 12, 40, 120)
        )
        self._history = plots.HistoryPanel(history, trained_on=True)
        canvas.animate([*self._spread.artists, *self._history.artists])
        canvas.settle(self._spread.frame)
        self._make_weight_panel(canvas, weights)
        return canvas

    def _make_weight_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "Prior and weights", "weight w", "density (log)")
        edges = np.linspace(-5, 5, 61)
        ax.set(xlim=(-5, 5), yscale="log", ylim=(1e-3, 30))
        self._weights = plots.WeightArtists(ax, edges)
        plots.legend_above(ax, columns=2)
        canvas.animate(self._weights.artists)
        self._weight_axes = ax
        self._links = LinkArtists(self._function.axes, X_GRID[:, 0], ax)
        canvas.animate(self._links.artists)

    def _pointer_panels(self) -> list[Panel]:
        return [self._function, Panel(self._weight_axes, kind="seen", hover=True)]

    def _linked(
        self, result: SinusoidResult, panel: int, x: float, y: float
    ) -> tuple[str, int] | None:
        if panel == 1:
            near = np.abs(result.fit.mean - x) < _NEAR
            # Of a bar's weights the least certain one: it has the most to show.
            return ("weight", int(np.argmax(near * result.fit.std))) if near.any() else None
        drawn = result.prediction.samples
        height = 2 * self._function.axes.get_ylim()[1]
        k = None if drawn is None else nearest_function(drawn[:10], X_GRID[:, 0], (x, y), height)
        return None if k is None else ("draw", k)

    def _mark(self, result: SinusoidResult, linked: tuple[str, int] | None) -> None:
        self._links.show(None if linked is None else sinusoid_fits.mark(result, *linked))

    def _compute(self, values: controls.Values) -> SinusoidResult:
        result = sinusoid_fits.refit(values)
        if values["prior_functions"]:
            weights = result.prior.sample((10, result.fit.network.n_weights), values["seed"])
            result = replace(result, prior_functions=result.fit.evaluate(weights, X_GRID))
        return result

    def _with_truth(self, result: SinusoidResult, gold: GoldStandard) -> SinusoidResult:
        return sinusoid_fits.beside_nuts(result, gold.prediction, gold.report)

    def _improve(self, values: controls.Values, result: SinusoidResult) -> SinusoidResult | None:
        return sinusoid_fits.improve(result, values["n_predictions"])

    def _frames(self, result: SinusoidResult) -> Sequence[int]:
        return [frame.steps for frame in sinusoid_fits.frames(result)]

    def _replay(self, result: SinusoidResult, frame: int) -> SinusoidResult:
        then = sinusoid_fits.at(result, frame)
        return sinusoid_fits.beside_nuts(then, result.nuts, result.nuts_report)

    def _draw(self, result: SinusoidResult) -> None:
        self._function.update(result.data, result)
        if self._spread.update({"fit": result.prediction, plots.POSTERIOR: result.nuts}):
            self._canvas.redraw_settled()
        self._history.update(sinusoid_fits.history(result))
        self._weights.update(result.prior, result.fit.mean, result.fit.std)

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Compile what may come next: the paper's fit, more draws or points, rest, and chains."""
        more = {"n_samples": 2}
        for values in (_PAPER, more, _PAPER | more):
            yield partial(sinusoid_fits.refit, self.DEFAULTS | values)
        for values in ({}, more):
            quick = sinusoid_fits.refit(self.DEFAULTS | values)
            yield partial(sinusoid_fits.improve, quick, 1.0)
        yield from super()._chores()
        if self.result is not None:
            yield partial(sinusoid_fits.mark, self.result, "weight", 0)

    @staticmethod
    def _problem(values: controls.Values) -> Problem:
        return Problem.of(values, layers=2)

    def _readings(self, result: SinusoidResult) -> dict[str, float]:
        mean, sd = result.prediction.mean, result.prediction.epistemic_std
        costs = status.costs(result.cost)
        found = {
            **costs,
            "below": status.costs(result.stage.quick)["F"] - costs["F"],
            "sd_data": sd[INSIDE].mean(),
            "sd_ends": sd[[0, -1]].mean(),
            "sd_at_1": status.at(X_GRID, sd, 1.0),
            "mean_up": status.at(X_GRID, mean, 0.25),
            "mean_down": status.at(X_GRID, mean, -0.25),
            "off_sine": status.off_the_sine(X_GRID, mean),
        }
        if result.gap is not None and result.gap_outside is not None:
            found |= {"gap": result.gap, "gap_outside": result.gap_outside}
        return found

    def _words(self, result: SinusoidResult) -> dict[str, str]:
        return {
            **status.cost_words(result.cost),
            **status.shown_if(lower=result.stage.refined, gaps=result.gap is not None),
            "stage": str(result.stage),
            **({} if result.prediction.epistemic_std.any() else {"spread": "{one_network}"}),
            "nuts": result.nuts_report,
        }
