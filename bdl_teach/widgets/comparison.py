"""The comparison explorer: chosen methods beside the true posterior, on the sine with a gap."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach.methods.catalogue import CATALOGUE
from bdl_teach.problems import GAP_GRID, Problem, live_fits
from bdl_teach.problems.truth_search import searched
from bdl_teach.widgets._engine import controls, convergence, status, texts
from bdl_teach.widgets._engine.canvas import RENDER_LOCK, Canvas
from bdl_teach.widgets._engine.function_panel import FunctionPanel, Panel
from bdl_teach.widgets.side_by_side import MethodFit, MethodsExplorer, SideBySide, height_of

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods.catalogue import Fitted
    from bdl_teach.predictive import Predictive

METHODS = {  # that a learner can choose
    name: method
    for name, method in CATALOGUE.items()
    if method.compared is not None and method.pace != "background"
}
LABELS = {**{name: method.label for name, method in METHODS.items()}, "nuts": plots.POSTERIOR}
_AT_START = ("map", "bbb", "pbp")
_TOGGLES = {
    name: controls.Control("toggle", method.label, name in _AT_START, (), method.hint)
    for name, method in METHODS.items()
}
_READINGS = {  # words for the readings of each method and region
    f"{name}{suffix}_{region}": f"{label}: {words} {where}"
    for name, label in LABELS.items()
    for suffix, words in (("", "share held"), ("_off", "distance"))
    for region, where in (("data", "among the data"), ("gap", "in the gap"), ("outside", "outside"))
}
N_PREDICTIONS = 200
_ALWAYS = {"±2 sd total", "±2 sd epistemic", "mean", "data"}  # always in the legend
_PATIENCE_S = 0.015  # time after which a tick shows the methods fitted so far
_LIMITS = (24.0, 36.0, 48.0, 72.0, 96.0)  # limits of y in the methods' panels
_MARKS = {  # marker and colour of the coverage in each region
    "data": ("o", plots.BLUE),
    "gap": ("D", plots.ORANGE),
    "outside": ("s", plots.GREEN),
}


class ComparisonExplorer(MethodsExplorer):
    """An explorer to choose methods, and to change the problem to which they are fitted."""

    TEXTS = texts.of("comparison", methods=_TOGGLES)
    TEXTS = replace(TEXTS, readings={**TEXTS.readings, **_READINGS})
    SIZE = (900, 322, (640, 412))
    MEAN_FIELD = "local"

    def _make_panels(self, canvas: Canvas) -> None:
        self._halves = canvas.figure.add_gridspec(1, 2, width_ratios=(3, 1))
        self._panels = {}
        for name, method in METHODS.items():
            ax = canvas.figure.add_subplot(self._halves[0])
            self._panels[name] = MethodPanel(canvas, ax, method.label)
        self._coverage = CoverageArtists(canvas, canvas.figure.add_subplot(self._halves[1]))
        self._arranged: tuple[str, ...] = ()
        self._arrange(_AT_START, nuts=False)
        any_panel = next(iter(self._panels.values())).axes
        self._legend = plots.FigureLegend(any_panel, _ALWAYS, in_a_row=6)

    def _arrange(self, names: tuple[str, ...], *, nuts: bool) -> bool:
        """Show a panel and a coverage row for each of ``names``; return whether anything changed.

        With ``nuts``, the coverage of NUTS has a row too.
        """
        changed = self._coverage.set_rows([*names, *(["nuts"] if nuts else [])])
        if names == self._arranged:
            return changed
        self._arranged, n = names, len(names)
        columns = min(n, 3) if n <= 6 else 4
        grid = self._halves[0].subgridspec(-(-n // columns), columns)
        for name, panel in self._panels.items():
            shown, ax = name in names, panel.axes
            i = names.index(name) if shown else 0
            place = grid[i // columns, i % columns]
            first, last = place.is_first_col(), i + columns >= n
            ax.set_visible(shown)
            ax.set_in_layout(shown)
            ax.set_subplotspec(place)
            ax.set_ylabel("y" if shown and first else "", fontsize=plots.LETTERS, labelpad=1)
            ax.set_xlabel("x" if last else "", fontsize=plots.LETTERS, labelpad=1)
            ax.tick_params(labelleft=first, labelbottom=last)
        return True

    def _pointer_panels(self) -> list[Panel]:
        return [*self._panels.values()]

    def _heeds(self, method: str) -> Iterable[str]:
        return ("epochs",) if "epochs" in METHODS[method].takes else ()

    def _fit(self, method: str, problem: Problem, values: controls.Values) -> Fitted:
        return live_fits.fit(method, problem, values["epochs"])

    def _predict(self, fit: Fitted) -> Predictive:
        return fit.predict(GAP_GRID, N_PREDICTIONS)

    def _compute(self, values: controls.Values) -> SideBySide:
        problem, asked = Problem.of(values), self._asked
        counted = problem.calibration_set if values["conformal"] else None
        result = SideBySide(problem, {}, level=values["level"], calibration_set=counted)
        chosen = [name for name in METHODS if values[name]]
        fits: dict[str, MethodFit] = {}
        shown, fitted = time.perf_counter(), False
        for name in chosen:
            if fits and self._asked > asked:  # a control has moved: the next tick is due
                break
            key = self._key(name, problem, values)
            new, slow = key not in self._fits, METHODS[name].pace == "slow"
            late = fitted and time.perf_counter() - shown > _PATIENCE_S
            if (late or (slow and new)) and self.state() == values:
                waiting = tuple(chosen[len(fits) :])
                so_far = replace(result, methods=dict(fits), waiting=waiting)
                self._show(self._with_truth(so_far, self._known(values)))
                shown = time.perf_counter()
            fitted |= new
            fits[name] = self._fit_or_recall(key, values)
        return replace(result, methods=fits)

    def _improve(
        self, values: controls.Values, result: SideBySide, *, at_rest: bool = True
    ) -> SideBySide | None:
        """Search for mean field's lowest F; then make longer runs, to see which fits converged."""
        better = super()._improve(values, result, at_rest=at_rest)
        if better is not None or not at_rest:
            return better
        for one in result.methods.values():
            if one.convergence is not None and not one.convergence.over:
                found = one.convergence.after_one_more(cast(Any, one.fit))
                return result.with_method(one, replace(one, convergence=found))
        return None

    def _show(self, result: SideBySide) -> None:
        """Show the methods fitted so far, before the others are fitted."""
        with RENDER_LOCK:
            self._draw(result)
            self._notice.set_visible(False)
            self._show_picture(sharp=False)

    def _draw(self, result: SideBySide) -> None:
        # If no method is chosen, one panel remains, and says so.
        places = (*result.methods, *result.waiting) or (next(iter(METHODS)),)
        nuts, more = bool(result.nuts_report), ["conformal"] * (result.calibration_set is not None)
        changed = self._arrange(places, nuts=nuts)
        if self._legend.show(truth=result.problem.is_drawn, nuts=nuts, more=more) or changed:
            self._canvas.redraw_background(arrange=True)
        height = height_of(result)
        for place in places:
            self._panels[place].show(result, place, height)
        self._coverage.update(result.coverage, result.level)

    def _readings(self, result: SideBySide) -> dict[str, float]:
        held, off = result.coverage, result.distances
        found = {f"{name}_{r}": 100 * share for name, by in held.items() for r, share in by.items()}
        found |= {f"{name}_off_{r}": far for name, by in off.items() for r, far in by.items()}
        found |= {"level": 100 * result.level, "share": 100 * result.share}
        three, two = ("bbb", "local", "eb"), ("mle", "map")
        five = ("map", "pbp", *three)
        if held.keys() >= {*five}:
            found["least_of_five"] = min(held[name]["data"] for name in five)
            found["most_of_five"] = max(held[name]["gap"] for name in five)
        if held.keys() >= {*three, *two}:
            found["least_of_three"] = min(held[name]["data"] for name in three)
            found["better_of_two"] = max(held[name]["data"] for name in two)
            found["lead_of_three"] = found["least_of_three"] - found["better_of_two"]
        if "pbp" in result.methods:
            found["pbp_noise"] = float(result.methods["pbp"].prediction.aleatoric_std[0])
        return found

    def _words(self, result: SideBySide) -> dict[str, str]:
        three = "{{{0}_data:{1}}}/{{{0}_gap:{1}}}/{{{0}_outside:{1}}}"
        falls = {
            n for n, one in result.methods.items() if one.convergence and one.convergence.falls
        }
        held = [
            f"{LABELS[name]}{' (F still falls)' * (name in falls)} {three.format(name, '.0f')}%"
            for name in result.coverage
        ]
        off = [f"{LABELS[name]} {three.format(f'{name}_off', 'sd')}" for name in result.distances]
        remarks = {LABELS[n]: one.remark for n, one in result.methods.items() if one.remark}
        return {
            **status.shown_if(beside=bool(off), own=result.problem.own is not None),
            **({} if result.problem.is_drawn else {"held": "{no_truth}"}),
            **({} if result.calibration_set is None else {"kind": "{conformal}"}),
            "methods": ", ".join(held) or "no method chosen",
            "distances": ", ".join(off),
            "replay": "".join(f"; {label} {remark}" for label, remark in remarks.items()),
            **super()._words(result),
        }

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Yield functions that compile HMC and all methods."""
        yield from super()._chores()
        for name in METHODS:
            yield partial(_warm, name)


def _warm(name: str) -> None:
    """Compile the programs of a method: fit it and, if it is variational, make longer runs."""
    from bdl_teach.methods._fitted import Variational

    fitted = live_fits.fit(name, Problem(), 10)
    if name == ComparisonExplorer.MEAN_FIELD:
        searched(Problem())
    elif isinstance(fitted, Variational):
        for k in range(2):  # one continues the training, one begins at another start
            convergence.Convergence(runs=k).after_one_more(fitted)


class MethodPanel(FunctionPanel):
    """The panel of one method: its bands, or a note that it is not fitted."""

    def __init__(self, canvas: Canvas, ax: Axes, title: str) -> None:
        super().__init__(
            canvas, ax, title, GAP_GRID,
            band=plots.PredictiveArtists, limits=_LIMITS, xlabel="", columns=0,
            most=live_fits.OWN_ROOM,
        )  # fmt: skip
        ax.set_xticks([-0.5, 0.0, 0.5], ["−0.5", "0", "0.5"])  # short: a row may have four panels
        ax.locator_params(axis="y", nbins=5)
        self.points.set_markersize(6)
        style: dict[str, Any] = {"color": plots.PURPLE, "lw": 1.6, "zorder": 3.5}
        self._ends = [ax.plot([], [], "-", label="conformal", **style)[0]]
        self._ends += ax.plot([], [], "-", **style)
        self._words = ax.text(
            0.5, 0.04, "", transform=ax.transAxes, ha="center", color=plots.GREY,
            fontsize=plots.LETTERS,
        )  # fmt: skip
        canvas.animate([*self._ends, self._words])

    def show(self, result: SideBySide, place: str, height: float) -> None:
        """Show the method named ``place``, or why it is missing; limits of y include ``height``."""
        one, more = result.methods.get(place), {}
        conformal = one is not None and result.calibration_set is not None
        if conformal:
            more["conformal"] = result.ends[place]
        for line, end in zip(self._ends, more.get("conformal", np.zeros((2, 0))), strict=True):
            line.set_visible(conformal)
            line.set_data(self._x if conformal else (), end)
        for artist in self.band.artists:
            artist.set_visible(one is not None)
        missing = "being fitted …" if place in result.waiting else "not chosen"
        self._words.set_text("" if one else missing)
        self.update(result, one.prediction if one else None, height, **more)


class CoverageArtists:
    """Artists of the coverage: a mark per method and region, and a line at the chosen level."""

    def __init__(self, canvas: Canvas, ax: Axes) -> None:
        self._ax, self._rows = ax, [""]
        plots.tidy(ax, "Inside the interval", "% of new points", "")
        ax.set(xlim=(-4, 104), xticks=[0, 25, 50, 75, 100])
        ax.grid(axis="y", which="minor", color="#DDDDDD", lw=0.8)
        ax.tick_params(axis="y", which="minor", length=0)
        self._level = ax.axvline(95, color=plots.BLACK, lw=1.2, ls="--", label="level")
        self._marks = {
            region: ax.plot([], [], marker, color=colour, ms=8, mec="white", label=region)[0]
            for region, (marker, colour) in _MARKS.items()
        }
        plots.legend_above(ax, columns=2)
        canvas.animate([self._level, *self._marks.values()])

    def set_rows(self, rows: list[str]) -> bool:
        """Give each method in ``rows`` a row with its label; return whether the rows changed."""
        if rows == self._rows:
            return False
        self._rows, n = rows, max(len(rows), 1)
        self._ax.set_ylim(n - 0.5, -0.5)
        self._ax.set_yticks(range(len(rows)), [LABELS[name] for name in rows])
        self._ax.set_yticks(np.arange(n - 1) + 0.5, minor=True)
        for line in self._marks.values():
            line.set_markersize(8 if n <= 8 else 6)
        return True

    def update(self, coverage: Mapping[str, Mapping[str, float]], level: float) -> None:
        """Show the coverage (shares by method, then by region) and the chosen level."""
        self._level.set_xdata([100 * level, 100 * level])
        for i, (region, line) in enumerate(self._marks.items()):
            shares = [coverage.get(name, {}).get(region, np.nan) for name in self._rows]
            line.set_data(100 * np.array(shares), np.arange(len(shares)) + 0.24 * (i - 1))
