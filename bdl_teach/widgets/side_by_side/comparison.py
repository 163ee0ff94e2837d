"""The comparison explorer: every method and the truth on one problem, the sinusoid with a gap."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, cast

from bdl_teach import plots
from bdl_teach.methods.catalogue import CATALOGUE
from bdl_teach.problems import GAP_GRID, Problem, live_fits
from bdl_teach.problems.live_fits import OWN_ROOM
from bdl_teach.widgets._engine import controls, convergence, status, texts
from bdl_teach.widgets._engine.canvas import RENDER_LOCK, Canvas
from bdl_teach.widgets._engine.function_panel import Panel
from bdl_teach.widgets._engine.texts import Texts
from bdl_teach.widgets.side_by_side.explorer import MethodsExplorer
from bdl_teach.widgets.side_by_side.panels import CoverageArtists, MethodPanel, height_of
from bdl_teach.widgets.side_by_side.results import (
    STANDS_STILL,
    Interval,
    SideBySide,
    Told,
    compared,
)

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
N_PREDICTIONS = 200
_ALWAYS = {"±2 sd total", "±2 sd epistemic", "mean", "data"}  # named over the panels
_PATIENCE_S = 0.015  # after so long a tick shows what it has, and goes on


class ComparisonExplorer(MethodsExplorer):
    """Choose methods, and change the problem that all solve; only what changed is refitted.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    TEXTS: ClassVar[Texts] = texts.of("comparison", methods=_TOGGLES)

    def _make_canvas(self) -> Canvas:
        canvas = Canvas(900, 322, narrow=(640, 412))
        self._halves = canvas.figure.add_gridspec(1, 2, width_ratios=(3, 1))
        self._panels = {}
        for name, method in METHODS.items():
            ax = canvas.figure.add_subplot(self._halves[0])
            self._panels[name] = MethodPanel(ax, method.label, small=True)
            canvas.animate(self._panels[name].artists)
        self._coverage = CoverageArtists(canvas, canvas.figure.add_subplot(self._halves[1]))
        self._standing: tuple[str, ...] = ()
        self._stand(_AT_START, nuts=False)
        any_panel = next(iter(self._panels.values())).axes
        self._legend = plots.FigureLegend(any_panel, _ALWAYS, in_a_row=6)
        return canvas

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
            i = names.index(name) if name in names else 0
            place = grid[i // columns, i % columns]
            panel.stand(place, shown=name in names, last=i + columns >= n)
        return True

    def _pointer_panels(self) -> list[Panel]:
        return [
            Panel(panel.axes, panel.room, panel.truth, columns=0, most=OWN_ROOM)
            for panel in self._panels.values()
        ]

    def _heeds(self, method: str) -> Iterable[str]:
        return ("epochs",) if "epochs" in METHODS[method].takes else ()

    def _told(self, method: str, problem: Problem, values: controls.Values) -> Told:
        from bdl_teach.methods._variational import Variational

        fit = live_fits.fit(method, problem, values["epochs"])
        asked = convergence.Convergence() if isinstance(fit, Variational) else None
        return Told(method, fit, fit.predict(GAP_GRID, N_PREDICTIONS), convergence=asked)

    def _retold(self, told: Told, fit: Any, problem: Problem) -> Told:
        return replace(told, fit=fit, prediction=fit.predict(GAP_GRID, N_PREDICTIONS))

    def _compute(self, values: controls.Values) -> SideBySide:
        problem, asked = Problem.of(values), self._asked
        interval = Interval(values["level"], problem.kept_apart if values["conformal"] else None)
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
                so_far = SideBySide(problem, dict(told), interval=interval, waiting=waiting)
                self._show(compared(so_far, self._known(values)))
                shown = time.perf_counter()
            fitted |= new
            told[name] = self._keep(key, values)
        return compared(SideBySide(problem, told, interval=interval))

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
            for name in result.waiting:
                self._panels[name].say("being fitted …")
            self._notice.set_visible(False)
            self._show_picture(sharp=False)

    def _draw(self, result: SideBySide) -> None:
        # Without any method, one panel says that it is not chosen.
        places = (*result.told, *result.waiting) or (next(iter(METHODS)),)
        counted = result.interval is not None and result.interval.kept_apart is not None
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
        if any([self._panels[place].update(result, place, height) for place in places]):
            self._canvas.redraw_background()
        assert result.interval is not None
        self._coverage.update(result.coverage, result.interval.level)

    def _readings(self, result: SideBySide) -> dict[str, float]:
        held, off, interval = result.coverage, result.distances, result.interval
        assert interval is not None
        found = {f"{name}_{r}": 100 * share for name, by in held.items() for r, share in by.items()}
        found |= {f"{name}_off_{r}": far for name, by in off.items() for r, far in by.items()}
        found |= {"level": 100 * interval.level, "share": 100 * result.share}
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
        drawn, interval = result.problem.is_drawn, result.interval
        assert interval is not None
        three = "{{{0}_data:{1}}}/{{{0}_gap:{1}}}/{{{0}_outside:{1}}}"
        held = [f"{LABELS[name]} {three.format(name, '.0f')}%" for name in result.coverage]
        off = [f"{LABELS[name]} {three.format(f'{name}_off', 'sd')}" for name in result.distances]
        arrivals = {
            LABELS[n]: t.convergence for n, t in result.told.items() if t.convergence is not None
        }
        return {
            **status.shown_if(beside=bool(off)),
            **({} if drawn else {"held": "{no_truth}"}),
            **({} if interval.kept_apart is None else {"kind": "{conformal}"}),
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
    from bdl_teach.methods._variational import Variational

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
