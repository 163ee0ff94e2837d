"""The truth explorer: mean field beside NUTS, and the gap between them taken apart."""

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
from bdl_teach.widgets._engine import controls, replay, touch
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.mission_checks import as_asked, follows, left, untouched, with_more
from bdl_teach.widgets._engine.missions import Condition, Mission
from bdl_teach.widgets._engine.nuts import NutsRunner, Run
from bdl_teach.widgets._engine.points import Points
from bdl_teach.widgets._engine.question import Question
from bdl_teach.widgets.truth.panels import FunctionPanel, PartsPanel

_DEFAULTS: controls.Values = {
    "gap": 0.3,
    "prior_std": 3.0,
    "starts": 1,
    "width": 20,
    "noise_std": 1.0,
    "n": 32,
    "seed": 0,
    "prior_functions": False,
    "nuts": False,
}

# Line style and colour of each epistemic sd.
_SPREADS = {
    "fit": ("-", plots.BLUE),
    "best fit": ("--", plots.PURPLE),
    "NUTS": ("-.", plots.GREEN),
}


def _points_mend_the_prior(state: controls.Values, result: TruthResult) -> list[Condition]:
    prior, n = state["prior_std"], len(result.problem.data.x)
    if (miss := result.prior_miss) is None:
        seen = Condition(False, "the bars are not there before NUTS has run")
    else:
        seen = as_asked(miss < 2.0, "the prior's bar", miss)
    return [
        as_asked(prior <= 1.0, "σ_p", prior),
        as_asked(state["noise_std"] >= 1.0, "noise σ", state["noise_std"]),
        as_asked(state["gap"] >= 0.3, "the gap", state["gap"]),
        as_asked(n <= 35, "the number of points", n),
        seen,
    ]


def _one_point_mends_all(state: controls.Values, result: TruthResult) -> list[Condition]:
    n = len(result.problem.data.x)
    return [
        left(state, _DEFAULTS, "gap", "prior_std", "noise_std", "width"),
        as_asked(n <= 33, "the number of points", n),
        follows(result, X_GRID, result.regions["gap"], within=1.7),
    ]


def prior_height(prior_std: float, width: int) -> float:
    """Standard deviation at x = ¼ of the functions of the prior N(0, σ_p²) on all weights.

    f = Σ v_k max(0, a_k x + b_k) + c: each unit has the variance σ_p⁴ (1 + x²)/2.
    """
    units = width * prior_std**4 * (1 + 0.25**2) / 2
    return math.sqrt(units + prior_std**2)


def _few_units_reach_as_far(state: controls.Values, result: TruthResult) -> list[Condition]:
    width = state["width"]
    far, asked = prior_height(state["prior_std"], width), prior_height(3.0, MAX_WIDTH)
    said = f"their sd at x = ¼ is {far:.3g}, that of 20 units under σ_p = 3 is {asked:.3g}"
    return [
        untouched(state, _DEFAULTS, "gap", "noise_std", "n"),
        Condition(result.prior_functions is not None, "the prior functions are not shown"),
        as_asked(width <= 5, "the number of units", width),
        Condition(abs(far / asked - 1) < 0.1, said),
    ]


class TruthExplorer(Explorer[TruthResult]):
    """Gap, prior, starts, width, noise, N: each movement refits the network by mean field.

    While the sliders rest, a search goes on for the lowest free energy: more starts, starts at a
    mode, training on. With NUTS beside it, the gap between the fit and the truth falls into three
    parts, all of them over the gap in the data and in the units of y: *optimisation* is the
    distance from the fit to the best fit, *family* that from the best fit to NUTS, and *prior* is
    what of the truth NUTS itself leaves beyond its ±2 sd: see ``TruthResult``.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    TITLE: ClassVar[str] = "How right is it?"
    ALT: ClassVar[str] = (
        "Three plots: points of a sine with a gap in them, the mean-field fit with its ±2 sd "
        "band, the mean of the fit whose free energy is the lowest found, and NUTS if chosen; "
        "three bars over the gap, which are the distance from the fit to the best fit "
        "(optimisation), from the best fit to NUTS (family), and what of the truth lies beyond "
        "NUTS's own ±2 sd (prior); the epistemic sd of all three along x."
    )
    STAYS: ClassVar[frozenset[str]] = frozenset({"nuts"})
    # claim: nuts-misses-the-sine-at-a-narrow-prior, nuts-widens-in-the-truth-explorer-s-gap
    QUESTION: ClassVar[Question] = Question(
        "NUTS draws from the posterior itself: press “NUTS”. With σ_p = 3 its band "
        "opens in the gap. You lower σ_p to 1: how much of the sine in the gap lies "
        "inside the band of NUTS?",
        ("all of it: NUTS is exact", "about half", "next to nothing"),
        2,
        "NUTS is exact for the prior that it is given. Under N(0, 1) curves as high as the peak "
        "are improbable where no data ask for them: that miss is the prior's, and no better "
        "inference mends it.",
        "prior_std",
        target=1.0,
        before=(("nuts", True),),
    )
    PRESETS: ClassVar[controls.Presets] = {
        # claim: mean-field-stays-narrower-in-the-gap-than-outside
        "start": (
            "σ_p = 3: the band stays narrower in the gap than outside the data, however long the "
            "search",
            _DEFAULTS,
        ),
        # claim: nuts-opens-the-gap-at-a-wide-prior, the-family-outweighs-the-prior-at-a-wide-prior
        "NUTS opens the gap": (
            "σ_p = 3: NUTS is twice as unsure in the gap as the best fit; the family's bar is "
            "longer than the prior's",
            {**_DEFAULTS, "nuts": True},
        ),
        # claim: the-prior-s-part-is-longest-at-a-narrow-prior
        "NUTS misses it too": (
            "σ_p = 1: NUTS itself leaves the sine outside its band; the prior's bar is the longest",
            {**_DEFAULTS, "prior_std": 1.0, "nuts": True},
        ),
        # claim: without-a-gap-mean-field-is-a-little-less-sure
        "no gap": (
            "Where there are data everywhere, the best fit is less sure than NUTS, but not by far",
            {**_DEFAULTS, "gap": 0.0, "nuts": True},
        ),
        # claim: eight-starts-leave-the-search-little
        "eight starts": (
            "σ_p = 1: of eight quick fits the lowest is kept; the search gains a few nats at most",
            {**_DEFAULTS, "prior_std": 1.0, "starts": 8},
        ),
        # claim: a-timid-prior-does-not-reach-the-peak
        "before the data": (
            "σ_p = 0.5: of ten networks of the prior none comes near the sine's peak",
            {**_DEFAULTS, "prior_std": 0.5, "prior_functions": True},
        ),
    }

    MISSIONS: ClassVar[tuple[Mission, ...]] = (
        Mission(
            "truth-points-mend-the-prior",
            "At σ_p = 1 or less NUTS itself misses the sine. With noise and gap as they are, and "
            "at most three points more, bring the prior's bar below 2.",
            (
                "The prior's part is what no better inference mends. What else does the posterior "
                "hear besides the prior?",
                "Take “σ_p” to 1.00, press “NUTS”, and click three points into the gap, at "
                "(0.2, 9.5), (0.25, 10) and (0.3, 9.5).",
            ),
            _points_mend_the_prior,
            {
                "prior_std": 1.0,
                "nuts": True,
                "data": with_more(Problem().data, (0.2, 9.5), (0.25, 10.0), (0.3, 9.5)),
            },
        ),
        Mission(
            "truth-one-point",
            "With one point more, and gap, prior, noise and width as they are, bring the mean of "
            "the quick fit to within 1.7 of the sine over the gap (root mean square).",
            (
                "Its band in the gap does not say where it is most wrong. Where is the sine "
                "furthest from a straight line across the gap?",
                "Click one point into the middle of the gap, at (0.25, 10).",
            ),
            _one_point_mends_all,
            {"data": with_more(Problem().data, (0.25, 10.0))},
        ),
        Mission(
            "truth-few-units-reach-as-far",
            "Show the prior functions of a network of 5 units or fewer that reach as far as those "
            "of 20 units under σ_p = 3 (their sd at x = ¼, give or take a tenth); leave data, gap "
            "and noise.",
            (
                "A unit adds σ_p⁴ to the variance of the function, and there are fewer of them.",
                "Take “width” to 5 and “σ_p” to 4.20, for 20·3⁴ is about 5·4.2⁴, and press “prior "
                "functions”.",
            ),
            _few_units_reach_as_far,
            {"width": 5, "prior_std": 4.2, "prior_functions": True},
        ),
    )

    def _make_controls(self) -> dict[str, controls.Widget]:
        d = _DEFAULTS
        return {
            "gap": controls.slider("gap", d["gap"], 0.0, 0.4, 0.05, "no data around x = ¼"),
            "prior_std": controls.slider(
                "σ_p", d["prior_std"], 0.3, 5.0, 0.1, "sd of the Gaussian prior of a weight"
            ),
            "starts": controls.count_slider(
                "starts", d["starts"], 1, 8, "quick fits, of which the lowest free energy is kept"
            ),
            "width": controls.count_slider(
                "width", d["width"], 2, MAX_WIDTH, "units of the one hidden layer"
            ),
            "noise_std": controls.slider(
                "noise σ", d["noise_std"], 0.3, 3.0, 0.1, "sd of the noise, in data and model"
            ),
            "n": controls.choice_slider(
                "points N", d["n"], (8, 16, 32), "points on [−½, ½] without the gap"
            ),
            "seed": controls.count_slider("seed", d["seed"], 0, 99, "of data, starts and chains"),
            "data": Points(),
            "prior_functions": controls.toggle(
                "prior functions", "ten networks drawn from the prior, before any data"
            ),
            "nuts": controls.toggle(
                "NUTS", "the true posterior: of a preset at once, else in ten seconds or more"
            ),
        }

    def _make_groups(self) -> dict[str, list[controls.Widget]]:
        self._nuts = NutsRunner(self._request, lambda: self._go({"nuts": False}))
        c = self._controls
        resample = controls.button("resample", "next seed: other data and starts", self._resample)
        return {
            "PRIOR": [c["prior_std"]],
            "MODEL": [c["noise_std"], c["width"]],
            "TRAIN": [c["starts"]],
            "DATA": [c["gap"], c["n"], c["seed"], resample, *self._hand_buttons()],
            "SHOW": [c["prior_functions"], c["nuts"], self._draw_button(), self._nuts.row],
        }

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
        return self._beside_nuts(result, values)

    def _improve(self, values: controls.Values, result: TruthResult) -> TruthResult | None:
        better = truth_search.improve(result)
        return None if better is None else self._beside_nuts(better, values)

    def _beside_nuts(self, result: TruthResult, values: controls.Values) -> TruthResult:
        """Add the gold standard, if it is asked for and there; otherwise have it computed."""
        gold = self._nuts.ask(values["nuts"], nuts_run(values))
        return truth_search.beside_nuts(result, gold.prediction, gold.report)

    def _frames(self, result: TruthResult) -> Sequence[int]:
        return replay.steps_of(result.fit)

    def _replay(self, result: TruthResult, frame: int) -> TruthResult:
        return truth_search.at(result, frame)

    def _draw(self, result: TruthResult) -> None:
        data, gap = result.problem.data, result.regions["gap"]
        best = result.search.prediction if result.search.tried else None
        points = data.x[:, 0], data.y[:, 0]
        changed = [
            self._functions.update(
                points, gap, result.prediction, best, result.nuts, result.prior_functions
            ),
            self._parts.update(_bars(result)),
            self._spread.update(
                {"fit": result.prediction, "best fit": best, "NUTS": result.nuts}, gap
            ),
        ]
        if any(changed):
            self._canvas.redraw_background(arrange=True)

    def _describe(self, result: TruthResult) -> str:
        fit, lowest = (round(truth_search.free_energy(f)) for f in (result.fit, result.search.best))
        sentence = f"{result.search}: free energy {fit} nats"
        if result.search.tried:
            sentence += f" = {lowest} (lowest found) + {fit - lowest} (optimisation)"
        return f"{sentence}; {_in_the_gap(result)}. {result.nuts_report}".strip()

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Compile what draws prior functions, and the fit to a table."""
        problem = Problem()

        def draw() -> None:
            result = truth_search.refit(problem, 1)
            weights = problem.prior.sample((10, result.fit.network.n_weights), 0)
            result.fit.evaluate(weights, X_GRID)

        yield draw
        table = replace(problem, n=points.MOST)
        yield partial(truth_search.refit, table, 1)

    def close(self) -> None:
        """Stop the worker, and NUTS with it, and take the widgets away."""
        self._nuts.close()
        super().close()


def nuts_run(values: controls.Values) -> Run:
    """The run of NUTS that these values ask for."""
    problem = Problem.of(values)
    return Run(X_GRID, problem, truth_search.chains(problem))


def _bars(result: TruthResult) -> dict[str, float | str]:
    """The length of each bar, or why there is none."""
    if not result.regions["gap"].any():
        return dict.fromkeys(PartsPanel.NAMES, "there is no gap")
    later, without = "when the sliders have rested", "press NUTS"
    if result.nuts is None and result.nuts_report:
        without = "NUTS has not come yet"
    family_word = without if result.nuts is None else later
    return {
        "optimisation": later if result.optimisation is None else result.optimisation,
        "family": family_word if result.family is None else result.family,
        "prior": without if result.prior_miss is None else result.prior_miss,
    }


def _in_the_gap(result: TruthResult) -> str:
    """The epistemic sd and the parts, as far as they are known, in words."""
    masks = result.regions
    sd = partial(points.sd, result.problem.data, places=2)
    if not masks["gap"].any():
        return f"no gap; epistemic sd {sd(result.prediction.epistemic_std[masks['data']].mean())}"
    shown = {"fit": result.prediction, "NUTS": result.nuts}
    spreads = [
        f"{name} {sd(p.epistemic_std[masks['gap']].mean())} in the gap, "
        f"{sd(p.epistemic_std[masks['data']].mean())} among the data"
        for name, p in shown.items()
        if p is not None
    ]
    sentence = f"epistemic sd: {'; '.join(spreads)}"
    if result.family is None or result.optimisation is None:
        return sentence
    parts = (result.optimisation, result.family, result.whole, result.prior_miss)
    optimisation, family, whole, prior = (sd(part or 0.0) for part in parts)
    return (
        f"{sentence}. Over the gap, in units of y: optimisation {optimisation}, family "
        f"{family} (both at once {whole}), prior {prior}"
    )
