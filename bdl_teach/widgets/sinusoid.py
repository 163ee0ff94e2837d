"""The sinusoid explorer: Bayes by Backprop on 32 points of a sine."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import COST_DRAWS, INSIDE, WIDE_GRID, Problem, live_fits, own_points
from bdl_teach.widgets._engine import controls, replay, status, texts
from bdl_teach.widgets._engine.beside_truth import ModelBesideTruth
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.function_panel import FunctionPanel
from bdl_teach.widgets.parts import PartsPanel
from bdl_teach.widgets.results import Outcome

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.elbo import FreeEnergy
    from bdl_teach.methods import bbb

MOST_RUNS = 9  # number of longer runs; the last one continues training the best fit
ENOUGH = 10.0  # nats that the last longer run may gain if the fit has converged
_PARTS = [
    ("gap", "fit, among the data", plots.BLUE),
    ("gap_outside", "fit, outside", plots.BLUE),
    ("off_data", "prior, among the data", plots.ORANGE),
    ("off_outside", "prior, outside", plots.ORANGE),
]
_SPREADS = {"fit": ("-", plots.BLUE), plots.POSTERIOR: ("-.", plots.GREEN)}
_MANY = 64  # a table has more points than this, so that each step takes longer
_FEW_STEPS = 900  # steps of a fit to a table


def _cost_of(fit: bbb.Fit) -> Callable[[], FreeEnergy]:
    """Return a function that computes the free energy of ``fit`` once, when it is called first."""
    return cache(partial(fit.cost, COST_DRAWS))


@dataclass(frozen=True)
class SinusoidResult(Outcome):
    """A fit by Bayes by Backprop, its free energy, and the runs of training that led to it."""

    estimator: str  # "quiet", "weights" (the paper's) or "article"
    find_cost: Callable[[], FreeEnergy]  # free energy of ``fit``, on all points
    find_quick: Callable[[], FreeEnergy]  # free energy of the first fit of this tick
    runs: tuple[bbb.Fit, ...]  # the trainings that led to ``fit``: each continues the one before
    n_samples: int = 1  # networks drawn in each step
    tried: int = 0  # number of longer runs made so far
    gain: float = 0.0  # nats by which the last longer run lowered the free energy
    trained: bool = False  # whether all longer runs are made
    is_frame: bool = False  # whether this is a frame of a replay
    x_grid: ClassVar[Array] = WIDE_GRID

    @property
    def cost(self) -> FreeEnergy:
        """Return the free energy of ``fit`` on all points; the picture does not wait for it."""
        return self.find_cost()

    @property
    def stage(self) -> str:
        """Return the name of the text that says how far the training is; "" if it is over."""
        if self.is_frame:
            return "in_training"
        if self.estimator != "quiet":
            return {"weights": "drawn", "article": "article"}[self.estimator]
        if not self.trained:
            return "quick"
        if self.gain > ENOUGH:
            return "falls"
        return "found" if self.find_quick().total - self.cost.total >= 1.5 else "settled"

    @cached_property
    def gaps(self) -> dict[str, float]:
        """Return ``calibration.distance`` to the posterior, by name; {} unless its chains mixed.

        The names are "gap" for the inputs |x| ≤ ½, and "gap_outside" for all others.
        """
        from bdl_teach import calibration

        if self.posterior is None:
            return {}
        where = {"gap": INSIDE, "gap_outside": ~INSIDE}
        distance = partial(calibration.distance, self.prediction, self.posterior)
        return {name: distance(mask) for name, mask in where.items()}

    @cached_property
    def frames(self) -> list[tuple[bbb.Fit, int, int]]:
        """Return the frames to replay as (run, index in it, steps since the first run began)."""
        found: list[tuple[bbb.Fit, int, int]] = []
        done = 0
        for run in self.runs:
            steps = replay.steps_of(run)
            # Of a later run each fourth frame, counted back from its last.
            kept = range(len(steps) - 1, 0, -4)[::-1] if done else range(len(steps))
            found += [(run, i, done + steps[i]) for i in kept]
            done = found[-1][2]
        return found

    @property
    def history(self) -> dict[str, Array]:
        """Return the joined histories of all runs; "step" counts from the start of the first."""
        found = [run.history for run in self.runs]
        lengths = [0, *(int(costs["step"][-1]) for costs in found[:-1])]
        joined = {name: np.concatenate([costs[name] for costs in found]) for name in found[0]}
        done = np.repeat(np.cumsum(lengths), [len(costs["step"]) for costs in found])
        return {**joined, "step": joined["step"] + done}


class SinusoidModel(ModelBesideTruth[SinusoidResult]):
    """An explorer to set the prior, the noise, the data, the network and its training."""

    TEXTS = texts.of("sinusoid")
    GRID = WIDE_GRID
    _last_drawn: tuple[bbb.Fit, bbb.Fit] | None = None  # a shown fit, and the paper's beside it

    def idle(self, values: controls.Values) -> set[str]:
        # A part of the prior without weight has no σ; two equal parts have no weight.
        idle = {name for name, none in (("sigma1", 0.0), ("sigma2", 1.0)) if values["pi"] == none}
        return idle | ({"pi"} if math.isclose(values["sigma1"], values["sigma2"]) else set())

    def make_panels(self, canvas: Canvas) -> None:
        main, weights = canvas.main("f")["f"], canvas.context("weights", self._draw_weights)["c"]
        history = canvas.context("training", self._draw_history)["c"]
        spread = canvas.context("spread", self._draw_spread)["c"]
        parts = canvas.context("parts", self._draw_parts)["c"]
        self.function = FunctionPanel(
            canvas, main, "What the network believes about y", WIDE_GRID, spread=spread
        )
        limits = (4, 12, 40, 120)
        self._spread = plots.SpreadPanel(spread, WIDE_GRID, _SPREADS, "How unsure, by x", limits)
        self._history = plots.HistoryPanel(history, longer=True)
        self._drawn = history.plot([], [], "-", color=plots.ORANGE, lw=1.2, label="F, drawn")[0]
        plots.legend_above(history, columns=2)
        self._parts = PartsPanel(parts, "Distance to\nthe posterior", "in units of y", _PARTS)
        self._make_weight_panel(weights)
        canvas.animate([*self._spread.artists, *self._history.artists, self._drawn])
        canvas.animate([*self._weights.artists, *self._parts.artists])
        canvas.animate_seldom([*self._spread.frame, *self._parts.frame, *self._history.frame])

    def _make_weight_panel(self, ax: Axes) -> None:
        plots.tidy(ax, "Prior and weights", "weight w", "density (log)")
        ax.set(xlim=(-5, 5), yscale="log", ylim=(1e-3, 30))
        self._weights = plots.WeightArtists(ax, np.linspace(-5, 5, 61))
        plots.legend_above(ax, columns=2)

    # How far a tick's fit is from convergence, and how smoothly it follows a slider:
    # claim: a-tick-arrives, a-tick-is-hardly-ever-far, a-tick-shows-the-model
    def compute(self, values: controls.Values) -> SinusoidResult:
        from bdl_teach.methods import bbb

        problem, estimator = Problem.of(values, layers=2), values["estimator"]
        options = {name: values[name] for name in ("kl_weight", "n_samples")}
        if estimator == "article":
            options |= bbb.ARTICLE
        elif estimator == "quiet" and len(problem.data.x) > _MANY and options["n_samples"] == 1:
            options["steps"] = _FEW_STEPS
        fit = live_fits.fit("local" if estimator == "quiet" else "bbb", problem, **options)
        prediction = fit.predict(WIDE_GRID, n_samples=round(values["n_predictions"]))
        functions = problem.prior_functions(fit, WIDE_GRID) if values["prior_functions"] else None
        cost = _cost_of(fit)
        more = {
            "n_samples": options["n_samples"],
            "prior_functions": functions,
            "trained": estimator != "quiet",
        }
        return SinusoidResult(problem, fit, prediction, estimator, cost, cost, (fit,), **more)

    def improve(
        self, values: controls.Values, result: SinusoidResult, *, at_rest: bool = True
    ) -> SinusoidResult | None:
        """Train for longer; take the new fit if its F is lower. Return ``None`` if all is done."""
        if result.trained or not at_rest:
            return None
        number = result.tried
        last = number == MOST_RUNS - 1
        fit = result.fit.refined() if last else result.fit.longer(number)
        cost = _cost_of(fit)
        gain = result.cost.total - cost().total
        result = replace(result, tried=number + 1, gain=max(gain, 0.0), trained=last)
        if gain <= 0:
            return result
        continues = last or number == 0  # the training of ``result.fit``, not of another start
        prediction = fit.predict(WIDE_GRID, n_samples=round(values["n_predictions"]))
        runs = (*result.runs, fit) if continues else (fit,)
        return replace(result, fit=fit, prediction=prediction, find_cost=cost, runs=runs)

    def frames(self, result: SinusoidResult) -> Sequence[int]:
        return [steps for _, _, steps in result.frames]

    def replay(self, result: SinusoidResult, frame: int) -> SinusoidResult:
        run, i, _ = result.frames[frame]
        fit, n_predictions = run.at(i), len(cast("Array", result.prediction.samples))
        before = takewhile(lambda earlier: earlier is not run, result.runs)
        return replace(
            result,
            fit=fit,
            runs=(*before, fit),
            prediction=fit.predict(WIDE_GRID, n_predictions),
            find_cost=_cost_of(fit),
            is_frame=True,
        )

    def draw(self, result: SinusoidResult) -> None:
        self.function.update(result, result.prediction)

    def _draw_weights(self, result: SinusoidResult) -> None:
        self._weights.update(result.problem.prior, result.fit.mean, result.fit.std)

    def _draw_spread(self, result: SinusoidResult) -> None:
        shown = {"fit": result.prediction, plots.POSTERIOR: result.nuts}
        if self._spread.update(shown, held=self.canvas.held):
            self.canvas.redraw_seldom()
        if self._spread.show(plots.POSTERIOR, bool(result.nuts_report)):
            self.canvas.redraw_background(arrange=True)

    def _draw_history(self, result: SinusoidResult) -> None:
        """Draw how F fell, and how it falls if weights are drawn as often as the slider says."""
        if self._history.update(result.history, held=result.is_frame):
            self.canvas.redraw_seldom()
        drawn: dict[str, Array] = {"step": np.zeros(0), "free_energy": np.zeros(0)}
        if result.estimator == "quiet" and not result.is_frame:
            drawn = self._fit_drawn(result).history
        self._drawn.set_data(drawn["step"], drawn["free_energy"])

    def _draw_parts(self, result: SinusoidResult) -> None:
        def missing(_name: str) -> str:
            if result.posterior is not None:
                return "unknown: own points"
            if result.nuts is not None:
                return "chains not mixed yet"
            return "on its way" if result.nuts_report else "needs “true posterior”"

        if self._parts.update(self.readings(result), missing):
            self.canvas.redraw_seldom()

    def _fit_drawn(self, result: SinusoidResult) -> bbb.Fit:
        """Return the paper's fit, which draws weights, to the problem of ``result``."""
        if self._last_drawn is None or self._last_drawn[0] is not result.runs[0]:
            options: controls.Values = {
                "kl_weight": result.fit.problem.kl_weight,
                "n_samples": result.n_samples,
            }
            self._last_drawn = result.runs[0], live_fits.fit("bbb", result.problem, **options)
        return self._last_drawn[1]

    def chores(self) -> Iterator[Callable[[], object]]:
        """Yield functions that compile HMC, longer runs, and fits that are not the default one."""
        paper: controls.Values = {"estimator": "weights"}
        more = {"n_samples": 2}
        for values in (paper, more, paper | more, {"n": own_points.MOST}):
            yield partial(self.compute, self.TEXTS.defaults | values)
        for values in ({}, more):
            quick = self.compute(self.TEXTS.defaults | values)
            yield partial(self.improve, {"n_predictions": 1.0}, quick)
        yield from super().chores()

    @staticmethod
    def problem(values: controls.Values) -> Problem:
        return Problem.of(values, layers=2)

    def readings(self, result: SinusoidResult) -> dict[str, float]:
        mean, sd, truth = result.prediction.mean, result.prediction.epistemic_std, result.posterior
        found = {
            **status.costs(result.cost),
            **result.gaps,
            "below": result.find_quick().total - result.cost.total,
            "sd_data": sd[INSIDE].mean(),
            "sd_ends": sd[[0, -1]].mean(),
            "sd_at_1": status.at(WIDE_GRID, sd, 1.0),
            "mean_up": status.at(WIDE_GRID, mean, 0.25),
            "mean_down": status.at(WIDE_GRID, mean, -0.25),
            "off_sine": status.off_the_sine(WIDE_GRID, mean),
        }
        if truth is not None:
            found["nuts_data"] = truth.epistemic_std[INSIDE].mean()
            found["nuts_ends"] = truth.epistemic_std[[0, -1]].mean()
            if not isinstance(result.data, own_points.OwnPoints):
                found["off_data"] = status.off_the_sine(WIDE_GRID, truth.mean, INSIDE)
                found["off_outside"] = status.off_the_sine(WIDE_GRID, truth.mean, ~INSIDE)
        return found

    def words(self, result: SinusoidResult) -> dict[str, str]:
        spread = "{beside}" if result.posterior is not None else self.TEXTS.status["spread"]
        return {
            "stage": f"{{{result.stage}}}" if result.stage else "",
            "spread": spread if result.prediction.epistemic_std.any() else "{one_network}",
            "nuts": result.nuts_report,
        }
