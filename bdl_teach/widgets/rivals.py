"""The rivals explorer: two approximations of a posterior beside the true posterior."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from bdl_teach import plots
from bdl_teach.problems import GAP_GRID, Problem, live_fits, own_points, truth_search
from bdl_teach.problems.live_fits import N_FUNCTIONS, QUICK
from bdl_teach.widgets._engine import controls, status, texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.function_panel import FunctionPanel, Panel
from bdl_teach.widgets.side_by_side import (
    MethodFit,
    MethodsExplorer,
    SideBySide,
    height_of,
    longer_chains,
)

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods.catalogue import Fitted
    from bdl_teach.predictive import Predictive

PLACES = ("first", "second")
_ALWAYS = {"±2 sd total", "±2 sd epistemic", "draws or members", "mean", "data"}  # in the legend
_STYLES = {
    "first": ("-", plots.BLUE),
    "second": ("--", plots.ORANGE),
    plots.POSTERIOR: ("-.", plots.GREEN),
}
_FUNCTIONS = partial(plots.PredictiveArtists, n_functions=N_FUNCTIONS)
_CHOICES = [[method.label, name] for name, method in QUICK.items()]
_MENUS = {
    place: controls.Control("menu", place, name, _CHOICES, f"the {place} of the two methods")
    for place, name in zip(PLACES, ("ensemble", "dropout"), strict=True)
}


class RivalsExplorer(MethodsExplorer):
    """An explorer to choose two methods, their options and the problem to which they are fitted.

    While the controls rest, the mean field of lowest F is found, and the chains of SGHMC continue.
    The last-layer Laplace uses a network trained at σ_p = 3, whatever σ_p the control sets.
    """

    TEXTS = texts.of("rivals", methods=_MENUS)
    MEAN_FIELD = "mean_field"

    def _idle(self, values: controls.Values) -> set[str]:
        options = {name for method in QUICK.values() for name in method.heeds}
        return options.difference(*(QUICK[values[place]].heeds for place in PLACES))

    def _make_panels(self, canvas: Canvas) -> None:
        axes = canvas.figure.subplot_mosaic([[*PLACES], ["spread"] * 2], height_ratios=(1.5, 1))
        self._spread = plots.SpreadPanel(axes["spread"], GAP_GRID, _STYLES)
        self._panels = {}
        for place in PLACES:
            self._panels[place] = panel = FunctionPanel(
                canvas, axes[place], place, GAP_GRID,
                band=_FUNCTIONS, xlabel="", columns=0, spread=axes["spread"],
            )  # fmt: skip
            panel.axes.locator_params(axis="x", nbins=5)
            panel.band.artists[2].set_label("draws or members")
        self._legend = plots.FigureLegend(self._panels["first"].axes, _ALWAYS, in_a_row=4)
        canvas.animate(self._spread.artists)
        canvas.animate_seldom(self._spread.frame)

    def _pointer_panels(self) -> list[Panel]:
        return [*self._panels.values()]

    def _heeds(self, method: str) -> Iterable[str]:
        return QUICK[method].heeds

    def _fit(self, method: str, problem: Problem, values: controls.Values) -> Fitted:
        return live_fits.quick(method, problem, values)

    def _predict(self, fit: Fitted) -> Predictive:
        return live_fits.shown(fit)

    def _compute(self, values: controls.Values) -> SideBySide:
        problem = Problem.of(values)
        keys = {place: self._key(values[place], problem, values) for place in PLACES}
        return SideBySide(problem, {p: self._fit_or_recall(key, values) for p, key in keys.items()})

    def _draw(self, result: SideBySide) -> None:
        height, changed = height_of(result), []
        for place, one in result.methods.items():
            panel, title = self._panels[place], f"{place}: {_name(one)}"
            changed.append(panel.axes.get_title(loc="left") != title)
            panel.axes.set_title(title, fontsize=11, loc="left")
            panel.update(result, one.prediction, height)
        spreads = {**result.predictions, plots.POSTERIOR: result.nuts}
        if self._spread.update(spreads, result.regions["gap"]):
            self._canvas.redraw_seldom()
        nuts = bool(result.nuts_report)
        changed.append(self._spread.show(plots.POSTERIOR, nuts))
        changed.append(self._legend.show(truth=result.problem.is_drawn, nuts=nuts))
        if any(changed):
            self._canvas.redraw_background(arrange=True)

    def _readings(self, result: SideBySide) -> dict[str, float]:
        from bdl_teach import calibration

        found: dict[str, float] = {}
        for place, one in result.methods.items():
            for region, mask in result.regions.items():
                sd = calibration.average(one.prediction.epistemic_std, mask)
                found[f"{place}_{region}"] = sd
                if result.distances:
                    found[f"{place}_off_{region}"] = result.distances[place][region]
            at_data = found[f"{place}_data"] or math.nan  # a single network has the sd 0
            found[f"{place}_times"] = found[f"{place}_gap"] / at_data
            if one.method == "sghmc":
                fit: Any = one.fit
                found[f"{place}_steps"] = int(fit.history["step"][-1])
        return found

    def _words(self, result: SideBySide) -> dict[str, str]:
        names = {p: _name(one, f"{{{p}_steps:.0f}}") for p, one in result.methods.items()}
        return {
            **names,
            **status.shown_if(beside=bool(result.distances)),
            **super()._words(result),
        }

    def _shares(self, result: SideBySide) -> str:
        times = (f"{p} {1e3 * one.seconds:.0f} ms" for p, one in result.methods.items())
        return f" ({', '.join(times)})"

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Yield functions that compile HMC and all methods, for few points and for many."""
        yield from super()._chores()
        other = {"linearised": False, "rank": 20}  # values that need another program
        for problem in (Problem(), Problem(n=own_points.MOST)):
            for name, method in QUICK.items():
                yield partial(_warm, name, problem, self.DEFAULTS)
                if other.keys() & {*method.heeds}:
                    yield partial(_warm, name, problem, self.DEFAULTS | other)


def _name(one: MethodFit, steps: str = "") -> str:
    """Return a method's label, with a remark on its training if it has one.

    For SGHMC without a remark, add the number of its steps or, if given, the text ``steps``.
    """
    label = QUICK[one.method].label
    if one.search is not None and one.trained:
        return f"{label}, lowest F"
    if one.remark:
        return f"{label}, {one.remark}"
    if one.method == "sghmc":
        fit: Any = one.fit
        return f"{label}, {steps or fit.history['step'][-1]} steps"
    return label


def _warm(name: str, problem: Problem, options: controls.Values) -> None:
    """Fit a method with these options and predict, so that the programs are compiled."""
    fit = live_fits.quick(name, problem, options)
    live_fits.shown(fit)
    if name == RivalsExplorer.MEAN_FIELD:
        live_fits.shown(truth_search.searched(problem).fit)
    elif (longer := longer_chains(fit)) is not None:
        live_fits.shown(longer)
