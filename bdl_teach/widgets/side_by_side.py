"""The explorers that show methods side by side, in two layouts, beside the true posterior.

``ComparisonExplorer`` has a main panel for each method that is switched on; ``RivalsExplorer`` has
two, each for a method from a menu.
"""

from __future__ import annotations

import math
import time
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from statistics import NormalDist
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.methods.catalogue import CATALOGUE
from bdl_teach.problems import GAP_GRID, Problem, live_fits, own_points
from bdl_teach.widgets import method_fits
from bdl_teach.widgets._engine import controls, status, texts
from bdl_teach.widgets._engine.beside_truth import ModelBesideTruth
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.convergence import Convergence
from bdl_teach.widgets._engine.function_panel import FunctionPanel, Panel
from bdl_teach.widgets._engine.model import Host
from bdl_teach.widgets.method_fits import MethodFit
from bdl_teach.widgets.results import ProblemResult
from bdl_teach.widgets.truth_search import Search

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods.catalogue import Fitted
    from bdl_teach.predictive import Predictive

MEAN_FIELD = "local"  # the method of which the lowest F is found at rest
COMPARED = {  # methods with a toggle in the comparison explorer
    name: method
    for name, method in CATALOGUE.items()
    if method.compared is not None and method.pace != "background"
}
LABELS = {**{name: method.label for name, method in COMPARED.items()}, "nuts": plots.POSTERIOR}
PAIRED = {  # labels of the methods in the menus of the explorer of two methods
    name: method.title or method.label
    for name, method in CATALOGUE.items()
    if method.tuned is not None
}
PLACES = ("first", "second")
_AT_START = ("map", "bbb", "pbp")
_TOGGLES = {
    name: controls.Control("toggle", method.label, name in _AT_START, (), method.hint)
    for name, method in COMPARED.items()
}
_MENUS = {
    place: controls.Control(
        "menu", place, name, [[label, key] for key, label in PAIRED.items()],
        f"the {place} of the two methods",
    )
    for place, name in zip(PLACES, ("ensemble", "dropout"), strict=True)
}  # fmt: skip
_WHERE = {"gap": "in the gap", "data": "among the data", "outside": "outside"}
_OFF = "to the true posterior: rms over x of the difference in mean and sd"
_KINDS = (
    ("", "new points held, %", ".0f", "how many of 100 new points fall into its interval"),
    ("_off", "distance", "sd3", _OFF),
)
_READINGS = {  # rows of the table for each method and region
    f"{name}{suffix}_{region}": texts.Row(f"{label}: {words} {where}", form, meaning)
    for name, label in LABELS.items()
    for suffix, words, form, meaning in _KINDS
    for region, where in _WHERE.items()
}
_PATIENCE_S = 0.015  # time after which a tick shows the methods fitted so far
_LIMITS = (24.0, 36.0, 48.0, 72.0, 96.0)  # limits of y in the comparison's panels
_MARKS = {  # marker and colour of the coverage in each region
    "data": ("o", plots.BLUE),
    "gap": ("D", plots.ORANGE),
    "outside": ("s", plots.PURPLE),
}
_STYLES = {
    "first": ("-", plots.BLUE),
    "second": ("--", plots.ORANGE),
    plots.POSTERIOR: ("-.", plots.GREEN),
}
_COLOURS = (plots.BLUE, plots.ORANGE, plots.RED, plots.PURPLE, plots.SKY, plots.BLACK)
_SPREADS = {
    **{LABELS[n]: ("-" if i < 6 else "--", _COLOURS[i % 6]) for i, n in enumerate(COMPARED)},
    plots.POSTERIOR: ("-.", plots.GREEN),
}
_KEPT = 60  # number of fits that are kept
_ByRegion = dict[str, dict[str, float]]  # by key of ``methods`` (or "nuts"), then by region


@dataclass(frozen=True)
class SideBySide(ProblemResult):
    """The fits of the chosen methods to one problem, with their intervals and coverage."""

    methods: Mapping[str, MethodFit]  # by method name, or "first" and "second"
    level: float = 0.95  # share of new points that intervals should contain
    calibration_set: datasets.Regression1D | None = None  # calibration set of conformal bands
    waiting: tuple[str, ...] = ()  # chosen methods that are not fitted yet

    @property
    def trained(self) -> bool:
        """Return whether this is to be shown, after quick fits."""
        return all(one.trained for one in self.methods.values())

    @property
    def predictions(self) -> dict[str, Predictive]:
        """Return the predictive of each method, by key of ``methods``."""
        return {place: one.prediction for place, one in self.methods.items()}

    @property
    def fit(self) -> Fitted:
        """Return the fit of the first method."""
        return next(iter(self.methods.values())).fit

    @property
    def prediction(self) -> Predictive:
        """Return the predictive of the first method."""
        return next(iter(self.methods.values())).prediction

    def with_method(self, one: MethodFit, better: MethodFit) -> SideBySide:
        """Return a copy with ``better`` wherever ``one`` is shown."""
        new = {p: better if old.fit is one.fit else old for p, old in self.methods.items()}
        return replace(self, methods=new)

    @property
    def height(self) -> float:
        """Return the largest |y| of all bands, which the limits of all panels must include."""
        posterior = [] if self.nuts is None else [self.nuts]
        curves = [plots.edges(p)["band"] for p in (*self.predictions.values(), *posterior)]
        if self.calibration_set is not None:
            curves += [self.ends[place] for place in self.methods]
        return max((float(np.abs(curve).max()) for curve in curves), default=0.0)

    @cached_property
    def distances(self) -> _ByRegion:
        """Return ``calibration.distance`` to the posterior by method and region; {} if unknown."""
        from bdl_teach import calibration

        gold = self.posterior
        return {
            place: {name: calibration.distance(p, gold, m) for name, m in self.regions.items()}
            for place, p in self.predictions.items()
            if gold is not None
        }

    @cached_property
    def ends(self) -> dict[str, Array]:
        """Return the ends [2, m] of each predictive interval, NUTS's too, at ``GAP_GRID``."""
        shown = {**self.predictions, **({"nuts": self.posterior} if self.posterior else {})}
        found = {}
        for place, prediction in shown.items():
            reach = self._factor(prediction) * prediction.total_std
            found[place] = np.stack([prediction.mean - reach, prediction.mean + reach])
        return found

    def _factor(self, prediction: Predictive) -> float:
        """Return the half-width of the predictive interval, divided by the total sd.

        It is the conformal factor if there is a calibration set, else a Gaussian quantile.
        """
        from bdl_teach import calibration

        if self.calibration_set is None:
            return NormalDist().inv_cdf((1 + self.level) / 2)
        at, y = self.calibration_set.x[:, 0], self.calibration_set.y[:, 0]
        curves = (prediction.mean, prediction.total_std)
        mean, sd = (np.interp(at, GAP_GRID[:, 0], curve) for curve in curves)
        return calibration.conformal_factor(np.abs(y - mean) / sd, self.level)

    @property
    def judged_in(self) -> str:
        """Return the region that the status line is about: "gap", or "data" if there is no gap."""
        return "gap" if self.regions["gap"].any() else "data"

    @cached_property
    def coverage(self) -> _ByRegion:
        """Return the expected share of new points in ``ends``, by method (or "nuts") and region."""
        from bdl_teach import calibration

        truth, noise_std = self.data.truth(GAP_GRID)[:, 0], self.data.noise_std
        found = {}
        for place, ends in self.ends.items():
            inside = calibration.expected_coverage(truth, noise_std, *ends)
            shares = self.regions.items()
            found[place] = {name: calibration.average(inside, mask) for name, mask in shares}
        return found


class MethodsModel(ModelBesideTruth[SideBySide]):
    """An explorer of chosen methods; moving a control refits only the methods that it affects."""

    GRID = GAP_GRID
    JUDGES: ClassVar[bool] = False  # whether longer runs judge if variational fits converged
    _panels: dict[str, Any]

    def __init__(self, host: Host | None = None) -> None:
        super().__init__(host)
        self._fits: dict[method_fits.Key, MethodFit] = {}

    def _make_spread(self, canvas: Canvas, styles: Mapping[str, tuple[str, str]]) -> Axes:
        """Make the context panel of epistemic sds, with a curve for each label of ``styles``."""
        ax = canvas.context("spread", self._draw_spread)["c"]
        self._styles = styles
        self._spread = plots.SpreadPanel(ax, GAP_GRID, styles, "How unsure, by x")
        canvas.animate(self._spread.artists)
        canvas.animate_seldom(self._spread.frame)
        return ax

    def _draw_spread(self, result: SideBySide) -> None:
        spreads = {**result.predictions, **({"nuts": result.nuts} if result.nuts_report else {})}
        shown = {LABELS.get(place, place): prediction for place, prediction in spreads.items()}
        if any([self._spread.show(label, label in shown) for label in self._styles]):
            self.canvas.redraw_background(arrange=True)
        if self._spread.update(shown, result.regions["gap"], held=self.canvas.held):
            self.canvas.redraw_seldom()

    @abstractmethod
    def _options(self, method: str, values: controls.Values) -> dict[str, Any]:
        """Return the arguments of a method's ``fit`` that controls set, beside the problem."""

    def _fit(self, method: str, problem: Problem, options: dict[str, Any]) -> Fitted:
        fitted: Fitted = live_fits.fit(method, problem, live_fits.COMPARED, **options)
        return fitted

    def _predict(self, fit: Fitted) -> Predictive:
        """Return the predictive of a fit at ``GAP_GRID``; the picture shows its ``samples``."""
        return fit.predict(GAP_GRID, 200)

    def pointer_panels(self) -> list[Panel]:
        return [*self._panels.values()]

    def _key(self, method: str, problem: Problem, values: controls.Values) -> method_fits.Key:
        return method, problem, tuple(self._options(method, values).items())

    def _fitted(self, key: method_fits.Key) -> MethodFit:
        """Return the stored fit and predictions of a method, or else make them."""
        from bdl_teach.methods._fitted import Drawn, Variational
        from bdl_teach.methods._scaling import missed

        if key in self._fits:
            return self._fits[key]
        method, problem, options = key
        fit, data = self._fit(method, problem, dict(options)), problem.data
        search = Search(problem, fit) if method == MEAN_FIELD else None
        judged = self.JUDGES and search is None and isinstance(fit, Variational)
        lost = isinstance(fit, Drawn) and missed(fit, data.x, data.y)
        return MethodFit(
            key, fit, self._predict(fit), Convergence() if judged else None, search,
            trained=search is None and not method_fits.goes_on(fit),
            remark="misses points that are not scaled" if lost else "",
        )  # fmt: skip

    def complete(self, values: controls.Values, result: SideBySide) -> SideBySide:
        """Store all fits, and add what is known of the true posterior."""
        self._fits |= {one.key: one for one in result.methods.values()}
        for oldest in [*self._fits][:-_KEPT]:
            del self._fits[oldest]
        return super().complete(values, result)

    def improve(
        self, values: controls.Values, result: SideBySide, *, at_rest: bool = True
    ) -> SideBySide | None:
        """Improve the fit of the first method whose improvement is not over."""
        for one in result.methods.values():
            if (better := one.improved(self._predict, at_rest=at_rest)) is not None:
                return result.with_method(one, better)
        return None

    def doubt(self, result: SideBySide) -> tuple[Array, Array]:
        """Return the inputs, and the epistemic sd of the first method that has any."""
        spreads = [p.epistemic_std for p in result.predictions.values()]
        return GAP_GRID[:, 0], next((s for s in spreads if s.any()), np.zeros(len(GAP_GRID)))

    def words(self, result: SideBySide) -> dict[str, str]:
        searches = (one.search for one in result.methods.values())
        found = [f"t{str(s)[1:]}" for s in searches if s and s.trained]
        return {
            "found": f"Mean field: {found[0]}." if found else "",
            "nuts": result.nuts_report,
        }

    def _warm(self, method: str, problem: Problem, values: controls.Values) -> None:
        """Compile the programs that fit a method and improve the fit."""
        one: MethodFit | None = self._fitted(self._key(method, problem, values))
        for _ in range(3):  # the search begins, begins again, and trains on
            if one is not None:
                one = one.improved(self._predict)


class ComparisonModel(MethodsModel):
    """An explorer to choose methods, and to change the problem to which they are fitted."""

    TEXTS = texts.of("comparison", methods=_TOGGLES)
    TEXTS = replace(TEXTS, readings={**TEXTS.readings, **_READINGS})
    JUDGES = True

    def make_panels(self, canvas: Canvas) -> None:
        axes = canvas.main(ascii_lowercase[: len(COMPARED)]).values()
        self._panels = {
            name: MethodPanel(canvas, ax, method.label)
            for ax, (name, method) in zip(axes, COMPARED.items(), strict=True)
        }
        coverage = canvas.context("coverage", self._draw_coverage)["c"]
        self._coverage = CoverageArtists(canvas, coverage)
        self._make_spread(canvas, _SPREADS)
        for name in COMPARED:
            self._spread.show(LABELS[name], name in _AT_START)
        self._arranged: list[str] = []
        self._arrange([*_AT_START])

    def _arrange(self, names: list[str]) -> None:
        """Show a panel for each of ``names``; the first has the legend."""
        if names == self._arranged:
            return
        self._arranged, n = names, len(names)
        columns = n if n <= 3 else min(-(-n // 2), 4)
        for name, panel in self._panels.items():
            shown, ax = name in names, panel.axes
            i = names.index(name) if shown else 0
            first, last = i % columns == 0, i + columns >= n
            ax.set_visible(shown)
            ax.set_in_layout(shown)
            ax.set_ylabel("y" if first else "", fontsize=plots.LETTERS, labelpad=1)
            ax.set_xlabel("x" if last else "", fontsize=plots.LETTERS, labelpad=1)
            ax.tick_params(labelleft=first, labelbottom=last)
            panel.take_legend()
        first_row = [self._panels[name] for name in names[:columns]]
        first_row[0].give_legend(first_row[1:])
        self.canvas.rearrange([self._panels[name].axes for name in names], columns)

    def _options(self, method: str, values: controls.Values) -> dict[str, Any]:
        return {"epochs": values["epochs"]} if "epochs" in COMPARED[method].takes else {}

    def compute(self, values: controls.Values) -> SideBySide:
        """Return the last of the parts; show the others before, until a control moves."""
        for part in self._parts(values):
            if not part.waiting or self.host.moved():
                break
            self.host.show(self.complete(values, part))
        return replace(part, waiting=())

    def _parts(self, values: controls.Values) -> Iterator[SideBySide]:
        """Yield the methods fitted so far whenever the others take time; at last yield all."""
        problem = Problem.of(values)
        counted = problem.calibration_set if values["conformal"] else None
        chosen = [name for name in COMPARED if values[name]]
        result = SideBySide(problem, {}, level=values["level"], calibration_set=counted)
        since, fitted = time.perf_counter(), False
        for i, name in enumerate(chosen):
            new = (key := self._key(name, problem, values)) not in self._fits
            slow, late = COMPARED[name].pace == "slow", time.perf_counter() - since > _PATIENCE_S
            if (fitted and late) or (new and slow):
                yield replace(result, waiting=tuple(chosen[i:]))
                since = time.perf_counter()
            result = replace(result, methods={**result.methods, name: self._fitted(key)})
            fitted |= new
        yield result

    def draw(self, result: SideBySide) -> None:
        # If no method is chosen, one panel remains, and says so.
        places = [*result.methods, *result.waiting] or [next(iter(COMPARED))]
        self._arrange(places)
        for place in places:
            self._panels[place].show(result, place, result.height)

    def _draw_coverage(self, result: SideBySide) -> None:
        rows = [*result.methods, *result.waiting, *(["nuts"] if result.nuts_report else [])]
        if self._coverage.set_rows(rows):
            self.canvas.redraw_background(arrange=True)
        self._coverage.update(result.coverage, result.level)

    def readings(self, result: SideBySide) -> dict[str, float]:
        held, off = result.coverage, result.distances
        found = {f"{name}_{r}": 100 * share for name, by in held.items() for r, share in by.items()}
        found |= {f"{name}_off_{r}": far for name, by in off.items() for r, far in by.items()}
        found["level"] = 100 * result.level
        shares = {name: by[result.judged_in] for name, by in held.items()}
        if "nuts" in shares:
            found["held_by_nuts"] = 100 * shares.pop("nuts")
        if shares:
            found |= {"fewest": 100 * min(shares.values()), "most": 100 * max(shares.values())}
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

    def words(self, result: SideBySide) -> dict[str, str]:
        where = result.judged_in
        order = sorted(result.methods, key=lambda name: result.coverage[name][where])
        fits = result.methods.items()
        falls = [LABELS[n] for n, one in fits if one.convergence and one.convergence.falls]
        remarks = [f" {LABELS[n]} {one.remark}." for n, one in fits if one.remark]
        held = "{held}" if len(order) > 1 else "{held_by_one}" if order else "{no_method}"
        return {
            **super().words(result),
            **status.shown_if(learners=result.problem.own is not None),
            **status.shown_if(beside="nuts" in result.coverage),
            "judged": held if result.problem.is_drawn else "{no_truth}",
            **({} if result.calibration_set is None else {"kind": "{conformal}"}),
            "where": _WHERE[where].capitalize(),
            **{place: LABELS[order[i]] for place, i in (("first", 0), ("last", -1)) if order},
            "falls": f" F still falls: {', '.join(falls)}." if falls else "",
            "remarks": "".join(remarks),
        }

    def chores(self) -> Iterator[Callable[[], object]]:
        """Yield functions that compile HMC and all methods."""
        yield from super().chores()
        for name in COMPARED:
            yield partial(self._warm, name, Problem(), self.TEXTS.defaults | {"epochs": 10})


class RivalsModel(MethodsModel):
    """An explorer to choose two methods, their options and the problem to which they are fitted.

    While the controls rest, the mean field of lowest F is found, and the chains of SGHMC continue.
    The last-layer Laplace uses a network trained at σ_p = 3, whatever σ_p the control sets.
    """

    TEXTS = texts.of("pair", methods=_MENUS)

    def idle(self, values: controls.Values) -> set[str]:
        heeded = {control for place in PLACES for control in _tuned(values[place])}
        return {control for name in PAIRED for control in _tuned(name)} - heeded

    def make_panels(self, canvas: Canvas) -> None:
        axes = dict(zip(PLACES, canvas.main("ab").values(), strict=True))
        spread = self._make_spread(canvas, _STYLES)
        bands = partial(plots.PredictiveArtists, n_functions=method_fits.N_FUNCTIONS)
        self._panels = {}
        for place in PLACES:
            self._panels[place] = panel = FunctionPanel(
                canvas, axes[place], place, GAP_GRID,
                band=bands, columns=0, spread=spread,
            )  # fmt: skip
            panel.axes.locator_params(axis="x", nbins=5)
            panel.band.artists[2].set_label("functions")
        first, second = self._panels.values()
        first.columns, first.over = 4, [second.axes]
        first.draw_legend()

    def _options(self, method: str, values: controls.Values) -> dict[str, Any]:
        named = {"members": "n_members"}
        return {named.get(name, name): values[name] for name in _tuned(method)}

    def _fit(self, method: str, problem: Problem, options: dict[str, Any]) -> Fitted:
        return method_fits.quick(method, problem, options)

    def _predict(self, fit: Fitted) -> Predictive:
        return method_fits.shown(fit)

    def compute(self, values: controls.Values) -> SideBySide:
        problem = Problem.of(values)
        keys = {place: self._key(values[place], problem, values) for place in PLACES}
        fits = {key: self._fitted(key) for key in dict.fromkeys(keys.values())}
        return SideBySide(problem, {place: fits[key] for place, key in keys.items()})

    def draw(self, result: SideBySide) -> None:
        for place, one in result.methods.items():
            panel, title = self._panels[place], f"{place}: {_name(one)}"
            if panel.axes.get_title(loc="left") != title:
                panel.axes.set_title(title, fontsize=11, loc="left")
                self._panels["first"].draw_legend()  # it has raised the titles
                self.canvas.redraw_background(arrange=True)
            panel.update(result, one.prediction, result.height)

    def readings(self, result: SideBySide) -> dict[str, float]:
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
            if one.method == "sgmcmc":
                fit: Any = one.fit
                found[f"{place}_steps"] = int(fit.history["step"][-1])
        if result.posterior is not None:
            for region, mask in result.regions.items():
                sd = calibration.average(result.posterior.epistemic_std, mask)
                found[f"nuts_{region}"] = sd
        return found

    def words(self, result: SideBySide) -> dict[str, str]:
        names = {p: _name(one, f"{{{p}_steps:.0f}}") for p, one in result.methods.items()}
        there = result.posterior is not None
        beside = status.shown_if(beside_gap=there, beside_data=there)
        sds = f"{{sds_{result.judged_in}}}"
        return {**super().words(result), **names, **beside, "sds": sds}

    def chores(self) -> Iterator[Callable[[], object]]:
        """Yield functions that compile HMC and all methods, for few points and for many."""
        yield from super().chores()
        other = {"linearised": False, "rank": 20}  # values that need another program
        for problem in (Problem(), Problem(n=own_points.MOST)):
            for name in PAIRED:
                yield partial(self._warm, name, problem, self.TEXTS.defaults)
                if other.keys() & {*_tuned(name)}:
                    yield partial(self._warm, name, problem, self.TEXTS.defaults | other)


def _tuned(method: str) -> tuple[str, ...]:
    """Return the names of the controls that affect a method's fit in the ``RivalsExplorer``."""
    return CATALOGUE[method].tuned or ()


def _name(one: MethodFit, steps: str = "") -> str:
    """Return a method's label, with a remark on its training if it has one.

    For SGHMC without a remark, add the number of its steps or, if given, the text ``steps``.
    """
    label = PAIRED[one.method]
    if one.search is not None and one.trained:
        return f"{label} (lowest F)"
    if one.remark:
        return f"{label} ({one.remark})"
    if one.method == "sgmcmc":
        fit: Any = one.fit
        return f"{label} ({steps or fit.history['step'][-1]} steps)"
    return label


class MethodPanel(FunctionPanel):
    """The panel of one method: its bands, or a note that it is not fitted."""

    def __init__(self, canvas: Canvas, ax: Axes, title: str) -> None:
        super().__init__(
            canvas, ax, title, GAP_GRID,
            band=plots.PredictiveArtists, limits=_LIMITS, columns=0,
            most=live_fits.MOST_DRAWN,
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

    def take_legend(self) -> None:
        """Take the legend above this panel away, and lower the title."""
        self.columns = 0
        self.axes.set_title(self.axes.get_title(loc="left"), fontsize=11, loc="left", pad=6)
        if (legend := self.axes.get_legend()) is not None:
            legend.remove()

    def give_legend(self, others: Sequence[Panel]) -> None:
        """Put the legend above this panel, and above ``others`` at its right if it is long."""
        self.columns, self.over = 8, [other.axes for other in others]
        self.draw_legend()

    def show(self, result: SideBySide, place: str, height: float) -> None:
        """Show the method named ``place``, or why it is missing; limits of y include ``height``."""
        one, more = result.methods.get(place), {}
        conformal = one is not None and result.calibration_set is not None
        before = self._ends[0].get_visible(), self.band.artists[0].get_visible()
        if conformal:
            more["conformal"] = result.ends[place]
        for line, end in zip(self._ends, more.get("conformal", np.zeros((2, 0))), strict=True):
            line.set_visible(conformal)
            line.set_data(self._x if conformal else (), end)
        for artist in self.band.artists:
            artist.set_visible(one is not None)
        if before != (conformal, one is not None):
            self.draw_legend()
            self._canvas.redraw_background(arrange=True)
        missing = "being fitted …" if place in result.waiting else "not chosen"
        self._words.set_text("" if one else missing)
        self.update(result, one.prediction if one else None, height, **more)


class CoverageArtists:
    """Artists of the coverage: a mark per method and region, and a line at the chosen level."""

    def __init__(self, canvas: Canvas, ax: Axes) -> None:
        self._ax, self._rows = ax, [""]
        plots.tidy(ax, "New points held", "% of new points", "")
        ax.set(xlim=(-4, 104), xticks=[0, 25, 50, 75, 100])
        ax.grid(axis="y", which="minor", color="#DDDDDD", lw=0.8)
        ax.tick_params(axis="y", which="minor", length=0)
        self._level = ax.axvline(95, color=plots.BLACK, lw=1.2, ls="--", label="level")
        self._marks = {
            region: ax.plot([], [], marker, color=colour, ms=8, mec="white", label=region)[0]
            for region, (marker, colour) in _MARKS.items()
        }
        plots.legend_above(ax, columns=4)
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
