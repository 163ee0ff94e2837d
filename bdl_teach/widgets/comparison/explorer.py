"""The comparison explorer: every method and NUTS on one problem, the sinusoid with a gap."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import COUNTED, Problem, live_fits
from bdl_teach.problems import GAP_GRID as X_GRID
from bdl_teach.problems import own_points as points
from bdl_teach.problems.live_fits import OWN_ROOM
from bdl_teach.widgets._engine import arrival, controls, replay, touch
from bdl_teach.widgets._engine.arrival import Arrival
from bdl_teach.widgets._engine.canvas import RENDER_LOCK, Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.mission_checks import as_asked, hidden, left
from bdl_teach.widgets._engine.missions import Condition, Mission
from bdl_teach.widgets._engine.nuts import NutsRunner, Run
from bdl_teach.widgets._engine.points import Points
from bdl_teach.widgets._engine.question import Question
from bdl_teach.widgets.comparison import fits as comparison_fits
from bdl_teach.widgets.comparison.fits import METHODS, Interval, Kept
from bdl_teach.widgets.comparison.panels import CoverageArtists, MethodPanel

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods._variational import Variational
    from bdl_teach.methods.catalogue import Fitted
    from bdl_teach.predictive import Predictive

_Key = tuple[str, Problem, int | None]  # method, problem, epochs where it counts in them

N_PREDICTIONS = 200
_KEPT = 60  # fits kept, over all values of the sliders
_ALWAYS = {"±2 sd total", "±2 sd epistemic", "mean", "data"}  # named over the panels
_EPOCHS = (10, 20, 40, 100, 200, 400)
_PATIENCE_S = 0.015  # after so long a tick shows what it has, and goes on
_DEFAULTS: controls.Values = {
    "n": 32,
    "noise_std": 1.0,
    "gap": 0.3,
    "seed": 0,
    "epochs": 100,
    "level": 0.95,
    "conformal": False,
    **dict.fromkeys(METHODS, False),
    "map": True,
    "bbb": True,
    "pbp": True,
    "nuts": False,
}
_BELIEVED = Interval()
_SIX = ("mle", "map", "bbb", "local", "eb", "pbp")  # of which the presets' sentences were checked
_NUMBERS = {12: "twelve", 13: "thirteen", 14: "fourteen"}


@dataclass(frozen=True)
class ComparisonResult:
    """What one tick computed.

    Attributes:
        data: The training points.
        x_grid: Where everything predicts ``[m, 1]``.
        regions: Masks ``[m]`` of ``"data"``, ``"gap"`` and ``"outside"``.
        predictions: The predictive of each chosen method on ``x_grid``, by its short name.
        interval: How far the intervals reach.
        coverage: Share of new noisy points inside a method's interval, by method and region.
        nuts: The gold standard's predictive, if it is shown and computed.
        nuts_report: R-hat and effective sample size as a sentence, or why there is none.
        gap: Distance to NUTS by method and region, in the units of y: the root mean square over
            x of the 2-Wasserstein distance between the two predictives taken as Gaussians.
        arrivals: Whether the fit of each chosen variational method has converged, by its short
            name; the picture stays that of the fit.
        fits: The fit of each chosen method, by its short name.
        factors: In how many of its total sds each interval ends, by method; with "nuts".
        waiting: Methods that are chosen, and not fitted yet.
        share: How much of each training is done: 1 but in a replay.
        still: Methods that a replay leaves as they are at the end: they have kept no frames.
    """

    data: datasets.Regression1D
    x_grid: Array
    regions: Mapping[str, Array]
    predictions: Mapping[str, Predictive]
    coverage: Mapping[str, Mapping[str, float]]
    nuts: Predictive | None = None
    nuts_report: str = ""
    gap: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    arrivals: Mapping[str, Arrival] = field(default_factory=dict)
    fits: Mapping[str, Fitted] = field(default_factory=dict)
    factors: Mapping[str, float] = field(default_factory=dict)
    interval: Interval = _BELIEVED
    waiting: tuple[str, ...] = ()
    share: float = 1.0
    still: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[str, ...]:
        """The methods that have a panel: those chosen; without any, one says that it is not."""
        return (*self.predictions, *self.waiting) or (next(iter(METHODS)),)

    def ends(self, name: str) -> Array | None:
        """Both ends of a method's conformal band ``[2, m]``; ``None`` where there is none."""
        if self.interval.kept_apart is None or name not in self.predictions:
            return None
        return _ends(self.predictions[name], self.factors[name])


def _ends(prediction: Predictive, factor: float) -> Array:
    """Lower and upper end ``[2, m]`` of the mean ± so many total sds."""
    reach = factor * prediction.total_std
    return np.stack([prediction.mean - reach, prediction.mean + reach])


def _shares(result: ComparisonResult, region: str, *names: str) -> Array:
    """Share of new points inside the interval of each of these methods, all of them shown."""
    return np.array([result.coverage[name][region] for name in names])


def _all_agree_and_err(state: controls.Values, result: ComparisonResult) -> list[Condition]:
    names = ("map", "bbb", "local", "eb", "pbp")
    if not (shown := _shown(result, *names)).holds:
        return [shown]
    among, gap = (_shares(result, region, *names) for region in ("data", "gap"))
    return [
        as_asked(state["noise_std"] >= 1.0, "noise σ", state["noise_std"]),
        as_asked(among.min() >= 2 / 3, "the least share held among the data", among.min()),
        as_asked(gap.max() <= 0.25, "the largest share held in the gap", gap.max()),
    ]


def _shown(result: ComparisonResult, *names: str) -> Condition:
    """That these methods are shown."""
    return hidden([METHODS[name].label for name in names if name not in result.coverage])


def _gaussians_lead(state: controls.Values, result: ComparisonResult) -> list[Condition]:
    gaussians, others = ("bbb", "local", "eb"), ("mle", "map")
    if not (shown := _shown(result, *gaussians, *others)).holds:
        return [shown]
    least = _shares(result, "data", *gaussians).min()
    most = _shares(result, "data", *others).max()
    said = f"the three hold {least:.3g} or more, the better of MLE and MAP {most:.3g}"
    return [
        as_asked(state["n"] == 8, "the number of points", state["n"]),
        Condition(bool(least > most), said),
    ]


def _pbp_hears_the_noise(state: controls.Values, result: ComparisonResult) -> list[Condition]:
    if "pbp" not in result.predictions:
        return [hidden(["PBP"])]
    learnt = float(result.predictions["pbp"].aleatoric_std[0])
    return [
        left(state, _DEFAULTS, "noise_std"),
        as_asked(state["gap"] == 0.0, "the gap", state["gap"]),
        as_asked(learnt < 1.6, "the noise that PBP has learnt", learnt),
    ]


class ComparisonExplorer(Explorer[ComparisonResult]):
    """Choose methods, and move the problem under them; what changed is fitted again.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    WIDE: ClassVar[bool] = True
    STAYS: ClassVar[frozenset[str]] = frozenset({"nuts"})
    TITLE: ClassVar[str] = "All methods on one problem"
    ALT: ClassVar[str] = (
        f"Up to {_NUMBERS.get(len(METHODS), 'many')} plots, one a chosen method: points with a "
        "gap, the method's mean and ±2 sd bands, the ends of a conformal band and NUTS if chosen. "
        "Beside them, for each method, the share of new points inside its interval, among the "
        "data, in the gap and outside, and the level that it should have."
    )
    # claim: a-wide-gap-is-missed-by-bbb, a-wide-gap-is-passed-below
    # claim: a-wide-gap-is-not-twice-as-wide
    QUESTION: ClassVar[Question] = Question(
        text="Bayes by Backprop is shown 32 points with a gap, which you widen to 0.4. How "
        "many of 100 new points in the gap fall into its 95 % interval?",
        choices=("about 95", "more than 95: it is unsure there", "far fewer"),
        answer=2,
        because="The mean passes far below the peak, and the band in the gap is less than twice as "
        "wide as among the data.",
        control="gap",
        target=0.4,
    )
    PRESETS: ClassVar[controls.Presets] = {
        "start": ("MAP, Bayes by Backprop and PBP on 32 points with a gap", _DEFAULTS),
        # claim: all-six-fall-short-in-the-gap
        "all methods": (
            "Six ways to train the same network; in the gap each falls short of its 95 %",
            {**_DEFAULTS, **dict.fromkeys(_SIX, True)},
        ),
        # claim: without-a-gap-map-holds-less, without-a-gap-pbp-holds-more
        "no gap": (
            "Without a gap: among the data MAP holds a little less than 95 %, PBP more",
            {**_DEFAULTS, "gap": 0.0},
        ),
        # claim: with-few-points-bbb-underfits
        "few points": (
            "8 points: Bayes by Backprop holds fewer new points among the data than MAP does",
            {**_DEFAULTS, "n": 8},
        ),
        # claim: loud-noise-hides-the-peak, loud-noise-does-not-cover
        "loud noise": (
            "σ = 3: all three lose the peak, and fall short of 95 % in the gap",
            {**_DEFAULTS, "noise_std": 3.0},
        ),
        # claim: counted-bands-hold-95-among-the-data, counted-bands-fall-short-in-the-gap
        "conformal": (
            "Bands counted on 99 other points: on average all three hold their 95 % among the "
            "data, and fall short in the gap; move the level",
            {**_DEFAULTS, "conformal": True},
        ),
        # claim: ten-epochs-take-the-noise-for-three, ten-epochs-cover-by-being-vague
        "PBP, few epochs": (
            "10 epochs: PBP takes the noise for three times as loud, and covers by being vague",
            {**_DEFAULTS, "epochs": 10},
        ),
    }

    MISSIONS: ClassVar[tuple[Mission, ...]] = (
        Mission(
            "comparison-agree-and-err",
            "Five methods agree, and all err: with noise of 1 or more, MAP, BBB, local, emp. "
            "Bayes and PBP shall each hold two thirds of the new points among the data, and "
            "none more than a quarter of those in the gap.",
            (
                "Among the data any of them will do. What keeps each from the peak?",
                "Show “local, quiet” and “emp. Bayes” too, and take “gap” to 0.40: the peak lies "
                "far from the next point.",
            ),
            _all_agree_and_err,
            {"local": True, "eb": True, "gap": 0.4},
        ),
        Mission(
            "comparison-few-and-clear",
            "With 8 points BBB holds less among the data than MAP. Turn it round: with 8 points, "
            "let BBB, local and emp. Bayes each hold more new points among the data than both MLE "
            "and MAP do.",
            (
                "What a point says counts as much as n/σ²: what can stand in for more points?",
                "Show “MLE”, “local, quiet” and “emp. Bayes” as well, take “points N” to 8 and "
                "“noise σ” to 0.60.",
            ),
            _gaussians_lead,
            {"mle": True, "local": True, "eb": True, "n": 8, "noise_std": 0.6},
        ),
        Mission(
            "comparison-pbp-hears-the-noise",
            "PBP takes the noise for far louder than it is. Without a gap, and without touching "
            "the noise, bring what it has learnt below 1.6.",
            (
                "After few passes PBP calls noise what it cannot follow yet. Its light band says "
                "how loud.",
                "Take “gap” to 0.00 and “PBP epochs” to 400; leave the 32 points.",
            ),
            _pbp_hears_the_noise,
            {"gap": 0.0, "epochs": 400},
        ),
    )

    def _make_controls(self) -> dict[str, controls.Widget]:
        d = _DEFAULTS
        made = {
            "n": controls.choice_slider(
                "points N", d["n"], (8, 16, 32), "points on [−½, ½] without the gap"
            ),
            "noise_std": controls.slider(
                "noise σ", d["noise_std"], 0.3, 3.0, 0.1, "sd of the noise, in data and models"
            ),
            "gap": controls.slider("gap", d["gap"], 0.0, 0.4, 0.02, "no data around x = ¼"),
            "seed": controls.count_slider("seed", d["seed"], 0, 99, "of data, starts and noise"),
            "epochs": controls.choice_slider(
                "PBP epochs", d["epochs"], _EPOCHS, "passes over the data; moves PBP only"
            ),
            "level": controls.slider(
                "level", d["level"], 0.5, 0.99, 0.01, "share of new points that intervals promise"
            ),
            "conformal": controls.toggle(
                "conformal", f"count on {COUNTED} points kept apart how wide a band must be"
            ),
            "data": Points(OWN_ROOM),
        }
        for name, method in METHODS.items():
            made[name] = controls.toggle(method.label, method.hint)
            made[name].value = d[name]
        made["nuts"] = controls.toggle(
            "NUTS", "the true posterior: of a preset at once, else in some seconds"
        )
        return made

    def _make_groups(self) -> dict[str, list[controls.Widget]]:
        self._nuts = NutsRunner(self._request, lambda: self._go({"nuts": False}))
        self._fits: dict[_Key, Kept] = {}
        c = self._controls
        return {
            "DATA": [c["n"], c["noise_std"], c["gap"], *self._hand_buttons()],
            "SHOW": [*(c[name] for name in METHODS), c["nuts"]],
            "TRAIN AND JUDGE": [
                c["epochs"], c["seed"], c["level"],
                controls.box("bdl-running", [c["conformal"], self._nuts.row]),
            ],
        }  # fmt: skip

    def _make_canvas(self) -> Canvas:
        canvas = Canvas(900, 322, narrow=(640, 412))
        self._halves = canvas.figure.add_gridspec(1, 2, width_ratios=(3, 1))
        truth = datasets.sinusoid().truth(X_GRID)
        self._panels = {
            name: MethodPanel(canvas, self._halves[0], method.label, X_GRID[:, 0], truth)
            for name, method in METHODS.items()
        }
        self._coverage = CoverageArtists(canvas, canvas.figure.add_subplot(self._halves[1]))
        self._standing: tuple[str, ...] = ()
        self._stand(tuple(name for name in METHODS if _DEFAULTS[name]), nuts=False)
        any_panel = next(iter(self._panels.values())).axes
        self._legend = plots.FigureLegend(any_panel, _ALWAYS, in_a_row=6)
        return canvas

    def _stand(self, names: tuple[str, ...], *, nuts: bool) -> bool:
        """Let these methods' panels share the place; says whether anything stands elsewhere."""
        rows = {name: METHODS[name].label for name in names} | ({"nuts": "NUTS"} if nuts else {})
        moved = self._coverage.stand(rows)
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

    def _touch_panels(self) -> list[touch.Panel]:
        return [
            touch.Panel(panel.axes, panel.room, panel.truth, columns=0, most=OWN_ROOM)
            for panel in self._panels.values()
        ]

    def _doubt(self, result: ComparisonResult) -> tuple[Array, Array]:
        """The doubt of the first method that has any."""
        spreads = [p.epistemic_std for p in result.predictions.values()]
        return X_GRID[:, 0], next((s for s in spreads if s.any()), np.zeros(len(X_GRID)))

    def _compute(self, values: controls.Values) -> ComparisonResult:
        problem, interval, asked = Problem.of(values), _interval(values), self._asked
        chosen = [name for name in METHODS if values[name]]
        done: dict[str, Kept] = {}
        shown, fitted = time.perf_counter(), False
        for name in chosen:
            if done and self._asked > asked:  # the sliders moved on: their tick is next
                break
            slow, key = METHODS[name].pace == "slow", _key(name, problem, values)
            late = fitted and time.perf_counter() - shown > _PATIENCE_S
            if (late or (slow and key not in self._fits)) and self.state() == values:
                early = _result(problem, _predictions(done), interval)
                self._show(replace(early, waiting=tuple(chosen[len(done) :])))
                shown = time.perf_counter()
            fitted |= key not in self._fits
            done[name] = self._keep(key, values["epochs"])
        gold = self._nuts.ask(values["nuts"], nuts_run(values))
        result = _result(problem, _predictions(done), interval, gold.prediction, gold.report)
        result = replace(result, fits={name: kept.fit for name, kept in done.items()})
        arrivals = {n: kept.arrival for n, kept in done.items() if kept.arrival is not None}
        return replace(result, arrivals=arrivals)

    def _improve(
        self, values: controls.Values, result: ComparisonResult
    ) -> ComparisonResult | None:
        """Make one longer run of the first method of which it is not known what they find.

        Not before all programs are there: a movement would wait for what it compiles.
        """
        if not self._warmed.is_set():
            return None
        for name, so_far in result.arrivals.items():
            if not so_far.over:
                key = _key(name, Problem.of(values), values)
                kept = self._fits[key]
                found = so_far.after_one_more(cast("Variational", kept.fit))
                self._fits[key] = kept._replace(arrival=found)
                return replace(result, arrivals={**result.arrivals, name: found})
        return None

    def _frames(self, result: ComparisonResult) -> Sequence[int]:
        """Say the steps of the first method that goes in steps: the others keep its pace."""
        return next(filter(None, map(replay.steps_of, result.fits.values())), ())

    def _replay(self, result: ComparisonResult, frame: int) -> ComparisonResult:
        steps = self._frames(result)
        share = steps[frame] / steps[-1]
        then = {name: comparison_fits.at_share(fit, share) for name, fit in result.fits.items()}
        still = tuple(name for name, fit in then.items() if fit is result.fits[name])
        predictions = {name: fit.predict(X_GRID, N_PREDICTIONS) for name, fit in then.items()}
        shown = _compared(replace(result, predictions=predictions))
        return replace(shown, share=share, fits=then, still=still)

    def _keep(self, key: _Key, epochs: int) -> Kept:
        """Return a method's fit and its predictive, fitted unless it has been before."""
        name, problem, _ = key
        if key not in self._fits:
            fit = live_fits.fit(name, problem, epochs)
            self._fits[key] = comparison_fits.kept(fit, fit.predict(X_GRID, N_PREDICTIONS))
            while len(self._fits) > _KEPT:
                self._fits.pop(next(iter(self._fits)))
        return self._fits[key]

    def _show(self, result: ComparisonResult) -> None:
        """Show a picture before all methods are done."""
        with RENDER_LOCK:
            self._draw(result)
            for name in result.waiting:
                self._panels[name].say("being fitted …")
            self._notice.set_visible(False)
            self._show_picture(sharp=False)

    def _draw(self, result: ComparisonResult) -> None:
        x, y = result.data.x[:, 0], result.data.y[:, 0]
        inside = result.x_grid[result.regions["gap"], 0]
        gap = (float(inside[0]), float(inside[-1])) if len(inside) else None
        shown = [*result.predictions.values(), *([] if result.nuts is None else [result.nuts])]
        moved = [self._stand(result.shown, nuts=result.nuts is not None)]
        moved.append(
            self._legend.show(
                truth=points.units_of(result.data) == points.COURSE,
                nuts=result.nuts is not None,
                more=[] if result.interval.kept_apart is None else ["conformal"],
            )
        )
        if any(moved):
            self._canvas.redraw_background(arrange=True)
        ends = {name: result.ends(name) for name in result.shown}
        curves = [plots.edges(p)["band"] for p in shown] + [
            e for e in ends.values() if e is not None
        ]
        height = max((float(np.abs(curve).max()) for curve in curves), default=0.0)
        moved = [
            self._panels[name].update(
                x, y, gap, result.predictions.get(name), ends[name], result.nuts, height
            )
            for name in result.shown
        ]
        if any(moved):
            self._canvas.redraw_background()
        self._coverage.update(result.coverage, result.interval.level)

    def _describe(self, result: ComparisonResult) -> str:
        parts = [
            f"{'NUTS' if name == 'nuts' else METHODS[name].label} {_three(shares, '.0f', 100)}%"
            for name, shares in result.coverage.items()
        ]
        sentence = (
            f"{points.count(result.data)}. {_kind(result.interval)} hold (data / gap / outside): "
        )
        sentence += ", ".join(parts) or "no method chosen"
        if points.units_of(result.data) != points.COURSE:
            sentence = f"{points.count(result.data)}. No truth of a table to hold intervals against"
        if result.gap:
            scale = points.units_of(result.data)[3]
            form = ".1f" if scale == 1.0 else ".3g"
            gaps = [
                f"{METHODS[name].label} {_three(g, form, scale)}" for name, g in result.gap.items()
            ]
            sentence += f"; gap to NUTS: {', '.join(gaps)}"
        if result.share < 1:
            sentence += _in_replay(result)
        named = {METHODS[name].label: found for name, found in result.arrivals.items()}
        said = f"{sentence}.", arrival.of_several(named), result.nuts_report
        return " ".join(part for part in said if part)

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Compile the methods that are not chosen yet, and the longer runs; then look again."""
        for name in METHODS:
            yield partial(comparison_fits.warm, name)
        yield self._request

    def close(self) -> None:
        """Stop the worker, and NUTS with it, and take the widgets away."""
        self._nuts.close()
        super().close()


def nuts_run(values: controls.Values) -> Run:
    """The run of NUTS that these values ask for."""
    problem = Problem.of(values)
    return Run(X_GRID, problem, comparison_fits.chains(problem))


def _key(name: str, problem: Problem, values: controls.Values) -> _Key:
    """What a method's fit depends on."""
    return name, problem, values["epochs"] if "epochs" in METHODS[name].takes else None


def _in_replay(result: ComparisonResult) -> str:
    """What there is to say of single methods before the end of their training."""
    said = {
        f"after {result.share:.1%} of the epochs": [
            name for name in result.fits if "epochs" in METHODS[name].takes
        ],
        "round the weights so far": [name for name in result.fits if name == "laplace"],
        "as at the end": result.still,
    }
    named = {words: [METHODS[name].label for name in names] for words, names in said.items()}
    return "".join(f"; {', '.join(names)} {words}" for words, names in named.items() if names)


def _predictions(kept: Mapping[str, Kept]) -> dict[str, Predictive]:
    return {name: one.prediction for name, one in kept.items()}


def _three(by_region: Mapping[str, float], form: str, times: float = 1) -> str:
    """Write the numbers of the three regions, a dash where a region is empty."""
    return "/".join("–" if np.isnan(v) else f"{times * v:{form}}" for v in by_region.values())


def _interval(values: controls.Values) -> Interval:
    """The interval that the controls ask for."""
    return Interval(values["level"], Problem.of(values).kept_apart if values["conformal"] else None)


def _kind(interval: Interval) -> str:
    """What the status calls such intervals."""
    percent = f"{100 * interval.level:.0f} %"
    if interval.kept_apart is None:
        return f"{percent} intervals"
    return f"Conformal bands of {percent}, counted on {len(interval.kept_apart.x)} other points,"


def _result(
    problem: Problem,
    predictions: Mapping[str, Predictive],
    interval: Interval = _BELIEVED,
    nuts: Predictive | None = None,
    nuts_report: str = "",
) -> ComparisonResult:
    """Put the predictives beside the truth, and beside NUTS if it is there."""
    regions = problem.regions(X_GRID[:, 0])
    return _compared(
        ComparisonResult(
            problem.data, X_GRID, regions, predictions, {}, nuts, nuts_report, interval=interval
        )
    )


def _compared(result: ComparisonResult) -> ComparisonResult:
    """Say how much each predictive covers, and how far it is from NUTS."""
    from bdl_teach import calibration

    truth, nuts = result.data.truth(X_GRID)[:, 0], result.nuts

    def covered(p: Predictive, factor: float) -> dict[str, float]:
        ends = _ends(p, factor)
        each = calibration.expected_coverage(truth, result.data.noise_std, *ends)
        return {name: calibration.average(each, mask) for name, mask in result.regions.items()}

    def distances(p: Predictive, gold: Predictive) -> dict[str, float]:
        return {name: calibration.distance(p, gold, m) for name, m in result.regions.items()}

    gap = {} if nuts is None else {n: distances(p, nuts) for n, p in result.predictions.items()}
    shown = {**result.predictions, **({"nuts": nuts} if nuts else {})}
    factors = {name: result.interval.factor(X_GRID[:, 0], p) for name, p in shown.items()}
    coverage = {name: covered(p, factors[name]) for name, p in shown.items()}
    return replace(result, coverage=coverage, gap=gap, factors=factors)
