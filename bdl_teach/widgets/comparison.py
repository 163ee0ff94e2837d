"""The comparison explorer: every method and the truth on one problem, the sinusoid with a gap."""

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
from bdl_teach.widgets._engine import controls, convergence, status, texts
from bdl_teach.widgets._engine.canvas import RENDER_LOCK, Canvas
from bdl_teach.widgets._engine.function_panel import FunctionPanel, Panel
from bdl_teach.widgets.side_by_side import (
    STANDS_STILL,
    MethodsExplorer,
    SideBySide,
    Told,
    height_of,
)

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods.catalogue import Fitted
    from bdl_teach.predictive import Predictive

METHODS = {  # those that a tick fits
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
_FIGURES = {  # names of the readings of each method and region, where pin A compares them
    f"{name}{figure}_{region}": f"{label}: {words} {where}"
    for name, label in LABELS.items()
    for figure, words in (("", "share held"), ("_off", "distance"))
    for region, where in (("data", "among the data"), ("gap", "in the gap"), ("outside", "outside"))
}
N_PREDICTIONS = 200
_ALWAYS = {"±2 sd total", "±2 sd epistemic", "mean", "data"}  # named over the panels
_PATIENCE_S = 0.015  # after so long a tick shows what it has, and goes on
_LIMITS = (24.0, 36.0, 48.0, 72.0, 96.0)  # heights of the methods' panels
_MARKS = {  # marker and colour of each region's coverage
    "data": ("o", plots.BLUE),
    "gap": ("D", plots.ORANGE),
    "outside": ("s", plots.GREEN),
}


class ComparisonExplorer(MethodsExplorer):
    """Choose methods, and change the problem that all solve; only what changed is refitted."""

    TEXTS = texts.of("comparison", methods=_TOGGLES)
    TEXTS = replace(TEXTS, readings={**TEXTS.readings, **_FIGURES})
    SIZE = (900, 322, (640, 412))

    def _make_panels(self, canvas: Canvas) -> None:
        self._halves = canvas.figure.add_gridspec(1, 2, width_ratios=(3, 1))
        self._panels = {}
        for name, method in METHODS.items():
            ax = canvas.figure.add_subplot(self._halves[0])
            self._panels[name] = MethodPanel(canvas, ax, method.label)
        self._coverage = CoverageArtists(canvas, canvas.figure.add_subplot(self._halves[1]))
        self._standing: tuple[str, ...] = ()
        self._stand(_AT_START, nuts=False)
        any_panel = next(iter(self._panels.values())).axes
        self._legend = plots.FigureLegend(any_panel, _ALWAYS, in_a_row=6)

    def _stand(self, names: tuple[str, ...], *, nuts: bool) -> bool:
        """Divide the space among these methods' panels; return whether any has moved."""
        rows = (*names, *(["nuts"] if nuts else []))
        moved = self._coverage.stand({name: LABELS[name] for name in rows})
        if names == self._standing:
            return moved
        self._standing, n = names, len(names)
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

    def _predict(self, fit: Any) -> Predictive:
        prediction: Predictive = fit.predict(GAP_GRID, N_PREDICTIONS)
        return prediction

    def _compute(self, values: controls.Values) -> SideBySide:
        problem, asked = Problem.of(values), self._asked
        counted = problem.kept_apart if values["conformal"] else None
        result = SideBySide(problem, {}, level=values["level"], kept_apart=counted)
        chosen = [name for name in METHODS if values[name]]
        told: dict[str, Told] = {}
        shown, fitted = time.perf_counter(), False
        for name in chosen:
            if told and self._asked > asked:  # the sliders moved on: their tick is next
                break
            key = self._key(name, problem, values)
            new, slow = key not in self._fits, METHODS[name].pace == "slow"
            late = fitted and time.perf_counter() - shown > _PATIENCE_S
            if (late or (slow and new)) and self.state() == values:
                waiting = tuple(chosen[len(told) :])
                so_far = replace(result, told=dict(told), waiting=waiting)
                self._show(self._with_truth(so_far, self._known(values)))
                shown = time.perf_counter()
            fitted |= new
            told[name] = self._keep(key, values)
        return replace(result, told=told)

    def _improve(self, values: controls.Values, result: SideBySide) -> SideBySide | None:
        """Make one longer run of the first method whose convergence is not yet known.

        This waits until all programs are compiled: a movement would have to wait for a compilation.
        """
        if not self._warmed.is_set():
            return None
        for name, told in result.told.items():
            if told.convergence is not None and not told.convergence.over:
                found = told.convergence.after_one_more(cast(Any, told.fit))
                key = self._key(name, result.problem, values)
                self._fits[key] = better = replace(told, convergence=found)
                return replace(result, told={**result.told, name: better})
        return None

    def _show(self, result: SideBySide) -> None:
        """Show a picture before all methods are fitted."""
        with RENDER_LOCK:
            self._draw(result)
            self._notice.set_visible(False)
            self._show_picture(sharp=False)

    def _draw(self, result: SideBySide) -> None:
        # Without any method, one panel says that it is not chosen.
        places = (*result.told, *result.waiting) or (next(iter(METHODS)),)
        counted = result.kept_apart is not None
        moved = [
            self._stand(places, nuts=bool(result.nuts_report)),
            self._legend.show(
                truth=result.problem.is_drawn,
                nuts=bool(result.nuts_report),
                more=["conformal"] if counted else [],
            ),
        ]
        if any(moved):
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
        if "pbp" in result.told:
            found["pbp_noise"] = float(result.told["pbp"].prediction.aleatoric_std[0])
        return found

    def _words(self, result: SideBySide) -> dict[str, str]:
        three = "{{{0}_data:{1}}}/{{{0}_gap:{1}}}/{{{0}_outside:{1}}}"
        held = [f"{LABELS[name]} {three.format(name, '.0f')}%" for name in result.coverage]
        off = [f"{LABELS[name]} {three.format(f'{name}_off', 'sd')}" for name in result.distances]
        arrivals = {
            LABELS[n]: t.convergence for n, t in result.told.items() if t.convergence is not None
        }
        return {
            **status.shown_if(beside=bool(off)),
            **({} if result.problem.is_drawn else {"held": "{no_truth}"}),
            **({} if result.kept_apart is None else {"kind": "{conformal}"}),
            "methods": ", ".join(held) or "no method chosen",
            "distances": ", ".join(off),
            "replay": _in_replay(result) if result.share < 1 else "",
            "arrivals": convergence.of_several(arrivals),
            "nuts": result.nuts_report,
        }

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Compile the chains, the methods not yet chosen and longer runs; then draw again."""
        yield from super()._chores()
        for name in METHODS:
            yield partial(_warm, name)
        yield self._request


def _warm(name: str) -> None:
    """Compile a method and its longer runs."""
    from bdl_teach.methods._fitted import Variational

    fitted = live_fits.fit(name, Problem(), 10)
    if isinstance(fitted, Variational):
        for k in range(2):  # one that trains on, and one that starts elsewhere
            convergence.Convergence(runs=k).after_one_more(fitted)


def _in_replay(result: SideBySide) -> str:
    """Say how far each method's training is in a replay."""
    by_epochs = "after {share:.1f}% of the epochs"
    said: dict[str, list[str]] = {by_epochs: []}
    for name, told in result.told.items():
        if "epochs" in METHODS[name].takes:
            words = by_epochs
        else:
            words = "as at the end" if told.remark == STANDS_STILL else told.remark
        said.setdefault(words, []).append(LABELS[name])
    return "".join(
        f"; {', '.join(names)} {words}" for words, names in said.items() if words and names
    )


class MethodPanel(FunctionPanel):
    """The panel of one method, with its conformal band, or with words in their place."""

    def __init__(self, canvas: Canvas, ax: Axes, title: str) -> None:
        super().__init__(
            canvas, ax, title, GAP_GRID,
            band=plots.PredictiveArtists, limits=_LIMITS, xlabel="", columns=0,
            most=live_fits.OWN_ROOM,
        )  # fmt: skip
        ax.set_xticks([-0.5, 0.0, 0.5], ["−0.5", "0", "0.5"])  # short: four may stand in a row
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
        """Show what the method predicts, or that it is not chosen, as high as other panels."""
        told, more = result.told.get(place), {}
        counted = told is not None and result.kept_apart is not None
        if counted:
            more["conformal"] = result.ends[place]
        for line, end in zip(self._ends, more.get("conformal", np.zeros((2, 0))), strict=True):
            line.set_visible(counted)
            line.set_data(self._x if counted else (), end)
        for artist in self.band.artists:
            artist.set_visible(told is not None)
        waits = "being fitted …" if place in result.waiting else "not chosen"
        self._words.set_text("" if told else waits)
        self.update(result, told.prediction if told else None, height, **more)


class CoverageArtists:
    """The share of new points inside each method's interval, one mark a region, and the level."""

    def __init__(self, canvas: Canvas, ax: Axes) -> None:
        self._ax, self._rows = ax, [""]
        plots.tidy(ax, "Inside the interval", "% of new points", "")
        ax.set(xlim=(-4, 104), xticks=[0, 25, 50, 75, 100])
        ax.grid(axis="y", which="minor", color="#DDDDDD", lw=0.8)
        ax.tick_params(axis="y", which="minor", length=0)
        self._level = ax.axvline(95, color=plots.BLACK, lw=1.2, ls="--", label="level")
        self._marks = {}
        for region, (marker, colour) in _MARKS.items():
            (line,) = ax.plot([], [], marker, color=colour, ms=8, mec="white", label=region)
            self._marks[region] = line
        plots.legend_above(ax, columns=2)
        canvas.animate([self._level, *self._marks.values()])

    def stand(self, rows: Mapping[str, str]) -> bool:
        """Give each method a row, by its key, from top to bottom; return whether rows changed."""
        if [*rows] == self._rows:
            return False
        self._rows, n = [*rows], max(len(rows), 1)
        self._ax.set_ylim(n - 0.5, -0.5)
        self._ax.set_yticks(range(len(rows)), list(rows.values()))
        self._ax.set_yticks(np.arange(n - 1) + 0.5, minor=True)
        for line in self._marks.values():
            line.set_markersize(8 if n <= 8 else 6)
        return True

    def update(self, coverage: Mapping[str, Mapping[str, float]], level: float) -> None:
        """Show the shares by method and region; a missing method has no marks."""
        self._level.set_xdata([100 * level, 100 * level])
        for i, (region, line) in enumerate(self._marks.items()):
            shares = [coverage.get(name, {}).get(region, np.nan) for name in self._rows]
            line.set_data(100 * np.array(shares), np.arange(len(shares)) + 0.24 * (i - 1))
