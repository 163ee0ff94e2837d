"""The sinusoid explorer: Bayes by Backprop on 32 points, refitted on every tick."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import ClassVar

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import datasets, plots
from bdl_teach.problems import INSIDE, Problem
from bdl_teach.problems import WIDE_GRID as X_GRID
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine import controls, touch
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.link import LinkArtists, nearest_function
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.mission_checks import (
    as_asked,
    at,
    finds_both_peaks,
    follows,
    left,
    untouched,
)
from bdl_teach.widgets._engine.missions import Condition, Mission
from bdl_teach.widgets._engine.nuts import NutsRunner, Run
from bdl_teach.widgets._engine.points import Points
from bdl_teach.widgets._engine.question import Question
from bdl_teach.widgets.sinusoid import fits as sinusoid_fits
from bdl_teach.widgets.sinusoid.fits import CHAINS, SinusoidResult

_DEFAULTS: controls.Values = {
    "estimator": "quiet",
    "sigma1": 1.5,
    "sigma2": 0.1,
    "pi": 0.5,
    "noise_std": 1.0,
    "kl_weight": 1.0,
    "n_samples": 1,
    "n_predictions": 10**2.4,  # where its slider can stand: 251
    "width": 20,
    "n": 32,
    "seed": 0,
    "prior_functions": False,
    "nuts": False,
}


_SPREADS = {"fit": ("-", plots.BLUE), "NUTS": ("-.", plots.GREEN)}
_NEAR = 0.1  # so near to its mean on the axis of weights a weight is meant
_PAPER: controls.Values = {"estimator": "weights"}


def _is_wide_and_cheap(state: controls.Values, result: SinusoidResult) -> list[Condition]:
    sd, total = at(X_GRID, result.prediction.epistemic_std, 1.0), result.cost.total
    return [
        untouched(state, _DEFAULTS, "n", "noise_std", "kl_weight", "width"),
        as_asked(sd > 3.5, "the epistemic sd at x = 1", sd),
        as_asked(total < 200, "F", total),
        follows(result, X_GRID, within=1.5),
    ]


def _finds_it_in_noise(state: controls.Values, result: SinusoidResult) -> list[Condition]:
    return [
        untouched(state, _DEFAULTS, "n", "kl_weight"),
        as_asked(state["noise_std"] == 3.0, "noise σ", state["noise_std"]),
        finds_both_peaks(result, X_GRID, 3.0),
    ]


def _finds_it_in_six(state: controls.Values, result: SinusoidResult) -> list[Condition]:
    names = ("sigma1", "sigma2", "pi", "noise_std", "kl_weight", "width")
    return [
        Condition(state["estimator"] == "quiet", "another fit is chosen"),
        left(state, _DEFAULTS, *names),
        as_asked(len(result.data.x) <= 6, "the number of points", len(result.data.x)),
        finds_both_peaks(result, X_GRID, 7.0),
    ]


class SinusoidExplorer(Explorer[SinusoidResult]):
    """σ₁, σ₂, π, noise, KL weight, samples, width, N: each movement refits the network.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    TITLE: ClassVar[str] = "Bayes by Backprop, refitted live"
    ALT: ClassVar[str] = (
        "Four plots: points of a sine with the network's mean and its ±2 sd bands; the epistemic "
        "sd along x; the free energy by training step; the prior against the fitted weights."
    )
    STAYS: ClassVar[frozenset[str]] = frozenset({"nuts"})
    FOLDED: ClassVar[frozenset[str]] = frozenset({"NETWORK AND TRAINING", "DATA", "SHOW"})
    # claim: cold-shrinks-among-the-data, cold-does-not-vanish, cold-shrinks-less-outside
    # claim: cold-may-widen-the-ends
    QUESTION: ClassVar[Question] = Question(
        "The KL weight falls from 1 to 0.01, as if each point had been seen a hundred times. What "
        "happens to the dark (epistemic) band?",
        (
            "It vanishes everywhere",
            "It shrinks among the data, less outside them",
            "It grows everywhere",
        ),
        1,
        "A small KL weight lets the likelihood sharpen every weight that the data speak about; "
        "outside the data little pulls on the functions, and at x = ±1.5 they may even disagree "
        "more.",
        "kl_weight",
        target=0.01,
    )
    PRESETS: ClassVar[controls.Presets] = {
        # claim: bbb-is-wide-outside
        "article": (
            "The settings of the article: wider outside the data than among them",
            dict(_DEFAULTS),
        ),
        # claim: six-points-lose-the-sine, a-fresh-start-gives-six-points-up
        "few points": (
            "Six points: the mean loses the sine; a fresh start may give it up, at a higher F",
            {**_DEFAULTS, "n": 6},
        ),
        # claim: more-points-less-epistemic
        "many points": (
            "64 points: epistemic falls among the data, noise stays",
            {**_DEFAULTS, "n": 64},
        ),
        # claim: loud-noise-hides-the-sine, loud-noise-widens-the-total-band
        "loud noise": (
            "σ = 3: the noise hides the sine; the mean follows less of it, the total band widens",
            {**_DEFAULTS, "noise_std": 3.0},
        ),
        # claim: narrow-prior-misses-the-peaks
        "narrow prior": (
            "σ₁ and σ₂ near 0.3: the prior holds the weights too tightly to reach the peaks",
            {**_DEFAULTS, "sigma1": 0.3, "sigma2": 10**-0.5},
        ),
        # claim: cold-shrinks-among-the-data, cold-shrinks-less-outside
        "cold posterior": (
            "KL weight 0.01, as if each point had been seen a hundred times: the band shrinks "
            "among the data, less outside",
            {**_DEFAULTS, "kl_weight": 0.01},
        ),
        # claim: kl-of-ten-lowers-the-mean, kl-of-ten-widens-the-band
        # claim: a-fresh-start-gives-up-at-kl-ten
        "KL takes over": (
            "KL weight 10: the mean is lower, the band wider; a fit from a fresh start "
            "ends at a much higher F",
            {**_DEFAULTS, "kl_weight": 10.0},
        ),
        # claim: drawn-weights-descend-roughly, drawn-weights-end-higher
        "paper's noise": (
            "Weights drawn once a step: a rougher descent, which ends at a higher free energy",
            {**_DEFAULTS, **_PAPER},
        ),
        # claim: ten-draws-descend-smoothly, ten-draws-end-lower
        "calm gradients": (
            "Weights drawn ten times a step: a smoother descent, and a lower end, than with one",
            {**_DEFAULTS, **_PAPER, "n_samples": 10},
        ),
    }

    MISSIONS: ClassVar[tuple[Mission, ...]] = (
        Mission(
            "sinusoid-wider-at-1",
            "Make the epistemic band at x = 1 far wider than at the start: sd above 3.5, at a "
            "free energy below 200, with a mean that follows the sine; leave points, noise, "
            "width and KL weight.",
            (
                "No point lies at x = 1: there the prior decides. Which of its halves holds most "
                "weights near 0?",
                "Take “σ₂ narrow part” to 1.000: the narrow half no longer holds weights near 0, "
                "and the free energy falls.",
            ),
            _is_wide_and_cheap,
            {"sigma2": 1.0},
        ),
        Mission(
            "sinusoid-found-in-noise",
            "Set the noise to σ = 3. For most sets of 32 points the mean no longer follows the "
            "sine. Bring it above 3 at x = ¼ and below −3 at −¼ for each set that is tried; leave "
            "points and KL weight.",
            (
                "The noise is not alone to blame: beside it the likelihood says less than the "
                "prior, which wants the weights at 0.",
                "Take “noise σ” to 3.00 and “π wide share” to 1.00: no half of the prior holds "
                "the weights at 0 any more.",
            ),
            _finds_it_in_noise,
            {"noise_std": 3.0, "pi": 1.0},
        ),
        Mission(
            "sinusoid-six-points",
            "With the six points that “points N” gives, the mean misses the sine. Drag six "
            "points or fewer so that the mean is above 7 at x = ¼ and below −7 at −¼; leave prior, "
            "noise, KL weight, width and fit.",
            (
                "A function other than 0 costs complexity. At which x does a point gain most "
                "likelihood for it? Two at one place count twice.",
                "Take “points N” to 6, then drag three of the points to (0.25, 10), and the "
                "other three to (−0.25, −10).",
            ),
            _finds_it_in_six,
            {
                "n": 6,
                "data": ((-0.25,) * 3 + (0.25,) * 3, (-10.0,) * 3 + (10.0,) * 3, points.COURSE),
            },
        ),
    )

    def _make_controls(self) -> dict[str, controls.Widget]:
        d = _DEFAULTS
        made = {
            # What the model assumes, and how much of its posterior is drawn.
            "sigma1": controls.slider(
                "σ₁ wide part", d["sigma1"], 0.1, 5.0, 0.05, "sd of the wide half of the prior"
            ),
            "sigma2": controls.log_slider(
                "σ₂ narrow part", d["sigma2"], -2, 1, ".3f", "sd of the narrow half of the prior"
            ),
            "pi": controls.slider(
                "π wide share", d["pi"], 0.0, 1.0, 0.05, "how much of the prior is its wide half"
            ),
            "noise_std": controls.slider(
                "noise σ", d["noise_std"], 0.1, 3.0, 0.1, "sd of the noise, in data and model"
            ),
            "kl_weight": controls.log_slider(
                "KL weight", d["kl_weight"], -3, 1, ".3g", "factor on the complexity cost"
            ),
            "n_predictions": controls.log_slider(
                "networks", d["n_predictions"], 0, 3, ".0f", "drawn for the picture", step=0.2
            ),
            # Which data, how many, how large a network, how calm its gradients.
            "seed": controls.count_slider("seed", d["seed"], 0, 99, "of data, start and noise"),
            "n": controls.count_slider("points N", d["n"], 4, 64, "points on [−½, ½]"),
            "width": controls.count_slider(
                "width", d["width"], 2, 20, "units in each of the two hidden layers"
            ),
            "n_samples": controls.count_slider(
                "samples/step", d["n_samples"], 1, 10, "weight draws in each gradient"
            ),
            "data": Points(),
            # How it is fitted, and what may be drawn beside it.
            "estimator": controls.menu(
                "fit",
                d["estimator"],
                [
                    ("quiet gradients", "quiet"),
                    ("weights drawn, as in the paper", "weights"),
                    ("the article's recipe", "article"),
                ],
                "how gradients are drawn; the quiet ones are those of chapter 5",
            ),
            "prior_functions": controls.toggle(
                "prior functions", "ten networks drawn from the prior, before any data"
            ),
            "nuts": controls.toggle(
                "NUTS",
                "the true posterior: of a preset at once, else in under a minute",
            ),
        }
        for name in ("sigma1", "sigma2", "pi", "noise_std", "n_samples"):
            made[name].style.description_width = "7.4em"
        return made

    def _idle(self, values: controls.Values) -> set[str]:
        """Name a half of the prior without weight, and the weight of two equal halves."""
        idle = {name for name, none in (("sigma1", 0.0), ("sigma2", 1.0)) if values["pi"] == none}
        return idle | ({"pi"} if math.isclose(values["sigma1"], values["sigma2"]) else set())

    def _make_groups(self) -> dict[str, list[controls.Widget]]:
        self._nuts = NutsRunner(self._request, lambda: self._go({"nuts": False}))
        c = self._controls
        resample = controls.button("resample", "next seed: other data and noise", self._resample)
        return {
            "PRIOR AND FIT": [c["sigma1"], c["sigma2"], c["pi"], c["noise_std"], c["n_samples"]],
            "NETWORK AND TRAINING": [c["width"], c["estimator"], c["kl_weight"]],
            "DATA": [c["n"], c["seed"], resample, *self._hand_buttons()],
            "SHOW": [
                c["n_predictions"],
                c["prior_functions"],
                c["nuts"],
                self._draw_button(),
                self._nuts.row,
            ],
        }

    def _make_canvas(self) -> Canvas:
        canvas = Canvas()
        grid = canvas.figure.add_gridspec(2, 3, height_ratios=(1.4, 1), width_ratios=(1, 1.2, 1.1))
        self._make_function_panel(canvas, canvas.figure.add_subplot(grid[0, :]))
        spread, history, weights = (canvas.figure.add_subplot(grid[1, i]) for i in range(3))
        self._spread = plots.SpreadPanel(spread, X_GRID, _SPREADS, "How unsure, by x", (4, 12, 40))
        self._history = plots.history_panel(history, trained_on=True)
        canvas.animate([*self._spread.artists, *self._history.artists])
        canvas.settle(self._spread.frame)
        self._make_weight_panel(canvas, weights)
        return canvas

    def _make_function_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "What the network believes about y", "x", "y")
        ax.set_xlim(-1.5, 1.5)
        self._room = plots.Room(ax)
        x = X_GRID[:, 0]
        self._before = plots.FunctionArtists(ax, x, "10 prior functions")
        self._band = plots.PredictiveArtists(ax, x, n_functions=10)
        self._gold = plots.OverlayArtists(ax, x, "NUTS")
        self._truth = truth = plots.draw_truth(ax, X_GRID, datasets.sinusoid().truth(X_GRID))
        self._points = plots.draw_data(ax, [], [])
        plots.legend_above(ax, columns=6)
        self._function_axes = ax
        canvas.animate(self._before.artists)
        canvas.animate([*self._band.artists, truth, *self._gold.artists, self._points])
        canvas.animate(self._room.artists)
        canvas.settle(self._room.frame)

    def _make_weight_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "Prior and weights", "weight w", "density (log)")
        edges = np.linspace(-5, 5, 61)
        ax.set(xlim=(-5, 5), yscale="log", ylim=(1e-3, 30))
        self._weights = plots.WeightArtists(ax, edges)
        plots.legend_above(ax, columns=2)
        canvas.animate(self._weights.artists)
        self._weight_axes = ax
        self._links = LinkArtists(self._function_axes, X_GRID[:, 0], ax)
        canvas.animate(self._links.artists)

    def _touch_panels(self) -> list[touch.Panel]:
        stays, spread = (self._points, self._truth), self._spread.axes
        return [
            touch.Panel(
                self._function_axes, self._room, self._truth, stays=stays, hover=True, spread=spread
            ),
            touch.Panel(self._weight_axes, kind="seen", hover=True),
        ]

    def _linked(
        self, result: SinusoidResult, panel: int, x: float, y: float
    ) -> tuple[str, int] | None:
        if panel == 1:
            near = np.abs(result.fit.mean - x) < _NEAR
            # Of a bar's weights the least certain one: it has the most to show.
            return ("weight", int(np.argmax(near * result.fit.std))) if near.any() else None
        drawn = result.prediction.samples
        height = 2 * self._function_axes.get_ylim()[1]
        k = None if drawn is None else nearest_function(drawn[:10], X_GRID[:, 0], (x, y), height)
        return None if k is None else ("draw", k)

    def _mark(self, result: SinusoidResult, linked: tuple[str, int] | None) -> None:
        self._links.show(None if linked is None else sinusoid_fits.mark(result, *linked))

    def _compute(self, values: controls.Values) -> SinusoidResult:
        result = _fit(values)
        if values["prior_functions"]:
            weights = result.prior.sample((10, result.fit.network.n_weights), values["seed"])
            result = replace(result, prior_functions=result.fit.evaluate(weights, X_GRID))
        return self._beside_nuts(result, values)

    def _improve(self, values: controls.Values, result: SinusoidResult) -> SinusoidResult | None:
        better = sinusoid_fits.improve(result, values["n_predictions"])
        return None if better is None else self._beside_nuts(better, values)

    def _beside_nuts(self, result: SinusoidResult, values: controls.Values) -> SinusoidResult:
        """Add the gold standard, if it is asked for and there; otherwise have it computed."""
        gold = self._nuts.ask(values["nuts"], nuts_run(values))
        return sinusoid_fits.beside_nuts(result, gold.prediction, gold.report)

    def _frames(self, result: SinusoidResult) -> Sequence[int]:
        return [frame.steps for frame in sinusoid_fits.frames(result)]

    def _replay(self, result: SinusoidResult, frame: int) -> SinusoidResult:
        then = sinusoid_fits.at(result, frame)
        return sinusoid_fits.beside_nuts(then, result.nuts, result.nuts_report)

    def _draw(self, result: SinusoidResult) -> None:
        self._points.set_data(result.data.x[:, 0], result.data.y[:, 0])
        self._band.update(result.prediction)
        if self._gold.show(result.nuts) | self._before.show(result.prior_functions):
            plots.legend_above(self._function_axes, columns=6)
            self._canvas.redraw_background(arrange=True)
        if self._room.hold(plots.edges(result.prediction), nuts=result.nuts):
            self._canvas.redraw_settled()
        if self._spread.update({"fit": result.prediction, "NUTS": result.nuts}):
            self._canvas.redraw_settled()
        self._history.update(sinusoid_fits.history(result))
        self._weights.update(result.prior, result.fit.mean, result.fit.std)

    def _describe(self, result: SinusoidResult) -> str:
        sd, data = result.prediction.epistemic_std, result.data
        spread = (
            f"epistemic sd {points.sd(data, sd[INSIDE].mean())} among the data, "
            f"{points.sd(data, sd[[0, -1]].mean())} at {points.ends(data)}"
        )
        if not sd.any():
            spread = "one drawn network shows no epistemic sd"
        stage = result.stage
        below = f", {stage.quick - result.cost.total:.0f} below the quick fit" * stage.refined
        sentence = f"{stage}, {points.count(result.data)}: {result.cost}{below}; {spread}"
        if result.gap is not None:
            gaps = (points.sd(data, gap or 0.0, 2) for gap in (result.gap, result.gap_outside))
            sentence += "; gap to NUTS {} among the data, {} outside".format(*gaps)
        return f"{sentence}. {result.nuts_report}".strip()

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Compile what comes next: the paper's fit, more draws or points, and rest."""
        more = {"n_samples": 2}
        for values in (_PAPER, more, _PAPER | more):
            yield partial(_fit, _DEFAULTS | values)
        for values in ({}, more):
            yield partial(_fit_and_rest, _DEFAULTS | values)
        if self.result is not None:
            yield partial(sinusoid_fits.mark, self.result, "weight", 0)

    def close(self) -> None:
        """Stop the worker, and NUTS with it, and take the widgets away."""
        self._nuts.close()
        super().close()


def nuts_run(values: controls.Values) -> Run:
    """The run of NUTS that these values ask for."""
    problem = Problem.of(values, layers=2)
    return Run(X_GRID, problem, {**problem.given, **CHAINS})


def _fit(values: controls.Values) -> SinusoidResult:
    """The fit that these values ask for."""
    names = ("estimator", "kl_weight", "n_samples", "n_predictions")
    return sinusoid_fits.refit(Problem.of(values, layers=2), *(values[name] for name in names))


def _fit_and_rest(values: controls.Values) -> None:
    """Run what is run while nothing moves after that fit."""
    sinusoid_fits.warm(_fit(values))
