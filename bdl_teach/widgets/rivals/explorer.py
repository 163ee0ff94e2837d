"""The rivals: any two ways to a posterior side by side, refitted on every tick, beside NUTS."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID as X_GRID
from bdl_teach.problems import MAX_WIDTH, Problem, truth_search
from bdl_teach.problems import own_points as points
from bdl_teach.problems.live_fits import N_FUNCTIONS, Options
from bdl_teach.problems.live_fits import QUICK as METHODS
from bdl_teach.problems.truth_search import TRUTH
from bdl_teach.widgets._engine import controls, touch
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.mission_checks import as_asked, left, ratio, untouched, with_more
from bdl_teach.widgets._engine.missions import Condition, Mission
from bdl_teach.widgets._engine.nuts import NutsRunner, Run
from bdl_teach.widgets._engine.points import Points
from bdl_teach.widgets._engine.question import Question
from bdl_teach.widgets.rivals import fits as rivals_fits
from bdl_teach.widgets.rivals.fits import Rival, RivalsResult
from bdl_teach.widgets.rivals.panels import RivalPanel, height_of

_Key = tuple[str, Problem, tuple[object, ...]]  # method, problem, the options that it heeds

_KEPT = 60  # fits kept, over all values of the controls
_PLACES = ("first", "second")
_ALWAYS = {"±2 sd total", "±2 sd epistemic", "draws or members", "mean", "data"}  # in the legend
_STYLES = {
    "first": ("-", plots.BLUE),
    "second": ("--", plots.ORANGE),
    "NUTS": ("-.", plots.GREEN),
}
_DEFAULTS: controls.Values = {
    "first": "ensemble",
    "second": "dropout",
    **Options()._asdict(),
    "prior_std": 3.0,
    "noise_std": 1.0,
    "width": MAX_WIDTH,
    "gap": 0.3,
    "n": 32,
    "seed": 0,
    "nuts": False,
}


def _doubt_of_first(result: RivalsResult, region: str) -> float:
    """Mean epistemic sd of the first method in a region."""
    return float(result.prediction.epistemic_std[result.regions[region]].mean())


def _first_is(state: controls.Values, name: str) -> Condition:
    """That this method is the one shown first."""
    return Condition(state["first"] == name, f"shown first is not {METHODS[name].label}")


def _limit_opens(state: controls.Values, result: RivalsResult) -> list[Condition]:
    times = ratio(_doubt_of_first(result, "gap"), _doubt_of_first(result, "data"))
    return [
        untouched(state, _DEFAULTS, "gap", "noise_std", "n"),
        _first_is(state, "infinite"),
        as_asked(times > 2.5, "its sd in the gap over that among the data", times),
    ]


def _pushed_draws_stay(state: controls.Values, result: RivalsResult) -> list[Condition]:
    sd = _doubt_of_first(result, "data")
    return [
        untouched(state, _DEFAULTS, "gap", "noise_std", "n", "width"),
        _first_is(state, "laplace"),
        Condition(not state["linearised"], "it is linearised"),
        Condition(state["structure"] == "full", "it is not the one of all weights"),
        as_asked(sd < 1.2, "the sd among the data", sd),
    ]


def _one_point_joins(state: controls.Values, result: RivalsResult) -> list[Condition]:
    sd, n = _doubt_of_first(result, "gap"), len(result.problem.data.x)
    return [
        left(state, _DEFAULTS, "gap", "prior_std", "noise_std", "width", "members"),
        Condition(state.get("data") is not None, "no point has been added"),
        as_asked(n <= 33, "the number of points", n),
        _first_is(state, "anchored"),
        as_asked(sd < 1.3, "its sd in the gap", sd),
    ]


class RivalsExplorer(Explorer[RivalsResult]):
    """Choose any two methods, and move the problem, the prior and their own options under them.

    What a movement does not touch is not fitted again. While the controls rest, the chains of SGHMC
    run on. A last layer alone belongs to a network that was trained at σ_p = 3 and stays as it is
    while the slider of the prior moves: its posterior is then exact, and chapter 1's.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    TITLE: ClassVar[str] = "Two rivals beside the truth"
    ALT: ClassVar[str] = (
        "Two large plots, one for each of the two methods: points of a sine with a gap in them, "
        "the mean, the ±2 sd bands, drawn functions or members of an ensemble, and NUTS if chosen; "
        "below them the epistemic sd of both and of NUTS along x."
    )
    STAYS: ClassVar[frozenset[str]] = frozenset({"nuts"})
    # claim: laplace-explodes-where-it-is-not-linearised
    QUESTION: ClassVar[Question] = Question(
        "Laplace puts a Gaussian round the best weights, and predicts with the model that is "
        "linear in them. You switch “linearised” off, so that the same draws go through the "
        "network itself. How wide is the band among the data then?",
        ("about as wide", "twice as wide", "more than twenty times as wide"),
        2,
        "A draw leaves the region where the parabola holds: many weights are hardly told anything "
        "each for itself, and only together, and linearly, do they keep to the data.",
        "linearised",
        target=False,
        before=(("first", "laplace"), ("structure", "full")),
    )
    PRESETS: ClassVar[controls.Presets] = {
        # claim: an-ensemble-opens-in-the-gap, dropout-hardly-opens-in-the-gap
        "start": (
            "The ensemble's band opens in the gap; that of dropout is hardly wider there than "
            "among the data",
            _DEFAULTS,
        ),
        # claim: anchors-keep-the-members-apart-among-the-data
        "with anchors and without": (
            "Among the data the anchored members differ half as much again as the plain ones",
            {**_DEFAULTS, "first": "anchored", "second": "ensemble"},
        ),
        # claim: laplace-explodes-where-it-is-not-linearised
        "Laplace explodes": (
            "Not linearised, Laplace's draws leave the data that their mode goes through: MAP",
            {**_DEFAULTS, "first": "laplace", "second": "map", "linearised": False},
        ),
        # claim: a-full-laplace-opens-in-the-gap, a-diagonal-laplace-hardly-opens-in-the-gap
        "Laplace's diagonal": (
            "Its band is hardly wider in the gap than among the data; make the structure full, and "
            "it opens",
            {**_DEFAULTS, "first": "laplace", "second": "sghmc", "structure": "diagonal"},
        ),
        # claim: a-last-layer-alone-is-too-sure-in-the-gap
        "the last layer alone": (
            "Exact for the last layer, and surer in the gap than the chains that move all weights",
            {**_DEFAULTS, "first": "laplace", "second": "sghmc", "structure": "last_layer"},
        ),
        # claim: cold-chains-are-too-sure-among-the-data
        "temperature 0": (
            "Chains without noise rest at their modes, and differ less among the data; raise T",
            {**_DEFAULTS, "first": "sghmc", "temperature": 0.0, "second": "ensemble"},
        ),
        # claim: eight-columns-do-not-open-the-gap
        "eight columns": (
            "Move the rank from 8 to 0: in the gap the band stays about as wide",
            {**_DEFAULTS, "first": "low_rank", "second": "mean_field"},
        ),
        # claim: the-limit-is-surer-in-the-gap-than-chains
        "infinitely wide": (
            "The limit is a Gaussian process, surer in the gap than the chains at width 20",
            {**_DEFAULTS, "first": "infinite", "second": "sghmc"},
        ),
    }

    MISSIONS: ClassVar[tuple[Mission, ...]] = (
        Mission(
            "rivals-the-limit-opens",
            "At σ_p = 3 the infinitely wide network is twice as unsure in the gap as among the "
            "data. Show it first, leave points, noise and gap, and make that two and a half times.",
            (
                "Among the data the points decide, in the gap the prior does.",
                "Choose infinite width as “first”, and take “σ_p” to 5.00.",
            ),
            _limit_opens,
            {"first": "infinite", "prior_std": 5.0},
        ),
        Mission(
            "rivals-pushed-draws-stay",
            "Laplace's draws, all weights, pushed through the network instead of linearised, "
            "explode. Bring their sd among the data below 1.2, with points, noise, gap and width "
            "as they are.",
            (
                "Along all that no datum tells, a draw goes as far as the prior lets it.",
                "Choose Laplace as “first”, switch “linearised” off, and take “σ_p” to 0.50.",
            ),
            _pushed_draws_stay,
            {"first": "laplace", "linearised": False, "prior_std": 0.5},
        ),
        Mission(
            "rivals-one-point-joins",
            "With one point more, and all else of problem, prior and members as it is, bring an "
            "anchored ensemble, shown first, below an sd of 1.3 in the gap.",
            (
                "A point says most where the members part most.",
                "Choose the anchored ensemble as “first”, and click one point into the "
                "gap, at (0.22, 9.8).",
            ),
            _one_point_joins,
            {"first": "anchored", "data": with_more(Problem().data, (0.22, 9.8))},
        ),
    )

    def _make_controls(self) -> dict[str, controls.Widget]:
        return {
            **self._make_choices(),
            **self._make_options(),
            **self._make_problem(),
            "data": Points(),
            "nuts": controls.toggle(
                "NUTS", "the true posterior: of a preset at once, else in ten seconds or more"
            ),
        }

    def _make_choices(self) -> dict[str, controls.Widget]:
        """The menus of the two methods."""
        options = [(method.label, name) for name, method in METHODS.items()]
        return {
            place: controls.menu(
                place, _DEFAULTS[place], options, f"the {place} of the two methods"
            )
            for place in _PLACES
        }

    def _make_options(self) -> dict[str, controls.Widget]:
        """What single methods are told."""
        d = _DEFAULTS
        made = {
            "members": controls.count_slider(
                "members", d["members"], 1, N_FUNCTIONS, "networks of an ensemble"
            ),
            "rate": controls.slider(
                "dropout", d["rate"], 0.0, 0.5, 0.05, "probability that a unit is left out"
            ),
            "temperature": controls.slider(
                "T", d["temperature"], 0.0, 1.0, 0.05, "SGHMC: 1 is the posterior, 0 its modes"
            ),
            "rank": controls.count_slider(
                "rank", d["rank"], 0, 20, "columns of a covariance of low rank; 0 is a diagonal"
            ),
            "structure": controls.choices(
                "Laplace",
                d["structure"],
                [("full", "full"), ("diagonal", "diagonal"), ("last layer", "last_layer")],
                [
                    "all weights, with their covariance",
                    "all weights, each for itself",
                    "the last layer of a network trained at σ_p = 3: exact for it",
                ],
            ),
            "linearised": controls.toggle(
                "linearised", "Laplace predicts with the model that is linear in the weights"
            ),
        }
        made["linearised"].value = d["linearised"]
        return made

    def _make_problem(self) -> dict[str, controls.Widget]:
        """The problem, and the data."""
        d = _DEFAULTS
        return {
            "prior_std": controls.slider(
                "σ_p", d["prior_std"], 0.3, 5.0, 0.1, "sd of the Gaussian prior of a weight"
            ),
            "noise_std": controls.slider(
                "noise σ", d["noise_std"], 0.3, 3.0, 0.1, "sd of the noise, in data and models"
            ),
            "width": controls.count_slider(
                "width", d["width"], 2, MAX_WIDTH, "units of the one hidden layer"
            ),
            "gap": controls.slider("gap", d["gap"], 0.0, 0.4, 0.05, "no data around x = ¼"),
            "n": controls.choice_slider(
                "points N", d["n"], (8, 16, 32), "points on [−½, ½] without the gap"
            ),
            "seed": controls.count_slider("seed", d["seed"], 0, 99, "of data, starts and noise"),
        }

    def _idle(self, values: controls.Values) -> set[str]:
        """Name the options that neither of the two methods is told."""
        return {*Options._fields}.difference(*(METHODS[values[p]].heeds for p in _PLACES))

    def _make_groups(self) -> dict[str, list[controls.Widget]]:
        self._nuts = NutsRunner(self._request, lambda: self._go({"nuts": False}))
        self._fits: dict[_Key, Rival] = {}
        c = self._controls
        resample = controls.button("resample", "next seed: other data and starts", self._resample)
        return {
            "METHODS": [
                *(c[name] for name in _PLACES), c["members"], c["rate"], c["temperature"],
                c["rank"], c["structure"], c["linearised"], c["nuts"], self._nuts.row,
            ],
            "MODEL AND DATA": [
                c["prior_std"], c["noise_std"], c["width"], c["gap"], c["n"], c["seed"],
                resample, *self._hand_buttons(),
            ],
        }  # fmt: skip

    def _make_canvas(self) -> Canvas:
        canvas = Canvas()
        grid = canvas.figure.add_gridspec(2, 2, height_ratios=(1.5, 1))
        self._panels = {
            place: RivalPanel(canvas.figure.add_subplot(grid[0, i]), X_GRID, TRUTH, place)
            for i, place in enumerate(_PLACES)
        }
        self._legend = plots.FigureLegend(self._panels["first"].axes, _ALWAYS, in_a_row=4)
        self._spread = plots.SpreadPanel(canvas.figure.add_subplot(grid[1, :]), X_GRID, _STYLES)
        for panel in (*self._panels.values(), self._spread):
            canvas.animate(panel.artists)
        return canvas

    def _touch_panels(self) -> list[touch.Panel]:
        return [
            touch.Panel(panel.axes, panel.room, spread=self._spread.axes)
            for panel in self._panels.values()
        ]

    def _data(self, result: RivalsResult) -> datasets.Regression1D:
        return result.problem.data

    def _doubt(self, result: RivalsResult) -> tuple[Array, Array]:
        return X_GRID[:, 0], result.prediction.epistemic_std

    def _compute(self, values: controls.Values) -> RivalsResult:
        problem = Problem.of(values)
        options = Options(**{name: values[name] for name in Options._fields})
        rivals = {place: self._keep(values[place], problem, options) for place in _PLACES}
        regions = problem.regions(X_GRID[:, 0])
        gold = self._nuts.ask(values["nuts"], nuts_run(values))
        result = RivalsResult(problem, regions, rivals)
        return rivals_fits.beside_nuts(result, gold.prediction, gold.report)

    def _keep(self, name: str, problem: Problem, options: Options) -> Rival:
        """Return what a method says, fitted unless it has been before."""
        key = name, problem, rivals_fits.heeded(name, options)
        if (kept := self._fits.get(key)) is not None:
            return replace(kept, seconds=0.0)
        self._fits[key] = rivals_fits.fit(name, problem, options)
        while len(self._fits) > _KEPT:
            self._fits.pop(next(iter(self._fits)))
        return self._fits[key]

    def _frames(self, result: RivalsResult) -> Sequence[int]:
        """Say the steps of the first of the two that goes in steps: the other keeps its pace."""
        return next(filter(None, map(rivals_fits.steps_of, result.rivals.values())), ())

    def _replay(self, result: RivalsResult, frame: int) -> RivalsResult:
        steps, at = self._frames(result), rivals_fits.at_share
        share = steps[frame] / steps[-1]
        then = {p: at(rival, share, result.problem) for p, rival in result.rivals.items()}
        made = replace(result, rivals=then)
        return rivals_fits.beside_nuts(made, result.nuts, result.nuts_report)

    def _improve(self, values: controls.Values, result: RivalsResult) -> RivalsResult | None:
        for rival in result.rivals.values():
            if (better := rivals_fits.refined(rival)) is not None:
                rivals = {
                    p: better if r.shown is rival.shown else r for p, r in result.rivals.items()
                }
                return rivals_fits.beside_nuts(
                    replace(result, rivals=rivals), result.nuts, result.nuts_report
                )
        return None

    def _draw(self, result: RivalsResult) -> None:
        shown = {place: rival.prediction for place, rival in result.rivals.items()}
        height = max(map(height_of, (*shown.values(), *([result.nuts] if result.nuts else []))))
        gap, data = result.regions["gap"], self._data(result)
        changed = [
            self._panels[place].update(
                f"{place}: {_name(rival)}", data, gap, rival, result.nuts, height
            )
            for place, rival in result.rivals.items()
        ]
        changed.append(self._spread.update({**shown, "NUTS": result.nuts}, gap))
        of_course = points.units_of(data) == points.COURSE
        changed.append(self._legend.show(truth=of_course, nuts=result.nuts is not None))
        if any(changed):
            self._canvas.redraw_background(arrange=True)

    def _describe(self, result: RivalsResult) -> str:
        from bdl_teach import calibration

        data = self._data(result)
        spreads = {
            place: {
                region: calibration.average(rival.prediction.epistemic_std, mask)
                for region, mask in result.regions.items()
            }
            for place, rival in result.rivals.items()
        }
        for by_region in spreads.values():
            among = by_region["data"] or math.nan  # one network has none
            by_region["gap/data"] = by_region["gap"] / among
        said = [f"Epistemic sd of {_each(result.rivals, spreads, data)}."]
        if result.distances:
            said.append(f"Distance to NUTS of {_each(result.rivals, result.distances, data)}.")
        return " ".join([*said, result.nuts_report]).strip()

    def _shares(self, result: RivalsResult) -> str:
        each = (f"{p} {1e3 * r.seconds:.0f} ms" for p, r in result.rivals.items())
        return f" ({', '.join(each)})"

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Compile every method, for what the sliders ask for and for a table."""
        problem = Problem()
        table = replace(problem, n=points.MOST)
        for one in (problem, table):
            for name in METHODS:
                yield partial(_warm, name, one)

    def close(self) -> None:
        """Stop the worker, and NUTS with it, and take the widgets away."""
        self._nuts.close()
        super().close()


def nuts_run(values: controls.Values) -> Run:
    """The run of NUTS that these values ask for."""
    problem = Problem.of(values)
    return Run(X_GRID, problem, truth_search.chains(problem))


def _warm(name: str, problem: Problem) -> None:
    """Compile all that a method may need."""
    for options in _ALL_PROGRAMS.get(name, (Options(),)):
        rivals_fits.refined(rivals_fits.fit(name, problem, options))


# Of methods that have more than one program: options that need each of them.
_ALL_PROGRAMS: Mapping[str, tuple[Options, ...]] = {
    "laplace": (Options(linearised=False),),
    "low_rank": (Options(rank=8), Options(rank=20)),
}


def _name(rival: Rival) -> str:
    """What a rival is called; of chains that run on, how far they are."""
    label = METHODS[rival.method].label
    if rival.remark:
        return f"{label}, {rival.remark}"
    if rival.method != "sghmc":
        return label
    fit: Any = rival.shown.fit
    return f"{label}, {fit.history['step'][-1]} steps"


def _figure(data: datasets.Regression1D, region: str, value: float) -> str:
    if math.isnan(value):
        return "–"
    return f"{value:.2f}" if "/" in region else points.sd(data, value, 2)  # a ratio has no unit


def _each(
    rivals: Mapping[str, Rival],
    figures: Mapping[str, Mapping[str, float]],
    data: datasets.Regression1D,
) -> str:
    """Write figures by region of both, a dash where a region is empty."""
    return "; ".join(
        f"the {place} ({_name(rivals[place])}): "
        + ", ".join(f"{r} {_figure(data, r, v)}" for r, v in by_region.items())
        for place, by_region in figures.items()
    )
