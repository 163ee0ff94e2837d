"""The sinusoid explorer: Bayes by Backprop on 32 points, refitted on every tick."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import takewhile
from typing import TYPE_CHECKING, ClassVar, cast

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import COST_DRAWS, INSIDE, Outcome, Problem, live_fits
from bdl_teach.problems import WIDE_GRID as X_GRID
from bdl_teach.widgets._engine import controls, replay, status, texts
from bdl_teach.widgets._engine.beside_truth import ExplorerBesideTruth
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.function_panel import FunctionPanel, Panel
from bdl_teach.widgets._engine.linking import STEPS, LinkArtists, Mark, nearest_function

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.elbo import FreeEnergy
    from bdl_teach.methods import bbb
    from bdl_teach.mlp import MLP

MOST_RUNS = 9  # the longer runs of ``Fit.converged``, and one that trains the best of them on
ENOUGH = 10.0  # nats that this last one may still gain from what is called refined
_SPREADS = {"fit": ("-", plots.BLUE), plots.POSTERIOR: ("-.", plots.GREEN)}
_NEAR = 0.1  # so near to its mean on the axis of weights a weight is meant
_PAPER: controls.Values = {"estimator": "weights"}


@dataclass(frozen=True)
class SinusoidResult(Outcome):
    """The result of one tick."""

    estimator: str  # "quiet", "weights" (the paper's) or "article"
    cost: FreeEnergy  # the free energy of the fit, on all points
    quick: FreeEnergy  # that of the tick's own fit
    runs: tuple[bbb.Fit, ...]  # the fit is the last, and each is trained on from the one before
    tried: int = 0  # number of longer runs that were made while the sliders rest: see _improve
    gain: float = 0.0  # nats by which the last of them lowered the free energy
    trained: bool = True  # whether this is the end of a training, and not a frame of it
    x_grid: ClassVar[Array] = X_GRID

    @property
    def over(self) -> bool:
        """Return whether no longer run follows; the paper's and the article's fits have none."""
        return self.estimator != "quiet" or self.tried == MOST_RUNS

    @property
    def refined(self) -> bool:
        """Return whether all longer runs have been made."""
        return self.trained and self.over and self.tried > 0

    @property
    def stage(self) -> str:
        """Return how far the training is, as a status line begins."""
        if self.estimator != "quiet":
            return {"weights": "weights drawn", "article": "the article's recipe"}[self.estimator]
        if not self.trained:
            return "in training"
        if not self.over:
            run = f"training on by itself, run {self.tried} of {MOST_RUNS}"
            return run if self.tried else "quick fit"
        return "trained longer" if self.gain <= ENOUGH else "not converged"

    @cached_property
    def gaps(self) -> dict[str, float]:
        """Return the distances to the true posterior, in the units of y; empty without it.

        ``gap`` is where there are data, ``gap_outside`` elsewhere: the root mean square over x of
        the 2-Wasserstein distance of the two predictives taken as Gaussians.
        """
        from bdl_teach import calibration

        if self.nuts is None:
            return {}
        where = {"gap": INSIDE, "gap_outside": ~INSIDE}
        distance = partial(calibration.distance, self.prediction, self.nuts)
        return {name: distance(mask) for name, mask in where.items()}


class SinusoidExplorer(ExplorerBesideTruth[SinusoidResult]):
    """σ₁, σ₂, π, noise, KL weight, samples, width, N: each movement refits the network."""

    TEXTS = texts.of("sinusoid")
    GRID = X_GRID

    def _idle(self, values: controls.Values) -> set[str]:
        """Name the σ of a prior half without weight; the weight if both halves are equal."""
        idle = {name for name, none in (("sigma1", 0.0), ("sigma2", 1.0)) if values["pi"] == none}
        return idle | ({"pi"} if math.isclose(values["sigma1"], values["sigma2"]) else set())

    def _make_panels(self, canvas: Canvas) -> None:
        ratios = {"height_ratios": (1.4, 1), "width_ratios": (1, 1.2, 1.1)}
        axes = canvas.figure.subplot_mosaic("fff;shw", gridspec_kw=ratios)
        self._function = FunctionPanel(
            canvas, axes["f"], "What the network believes about y", X_GRID,
            hover=True, spread=axes["s"],
        )  # fmt: skip
        self._function.stays = self._function.problem
        limits = (4, 12, 40, 120)
        self._spread = plots.SpreadPanel(axes["s"], X_GRID, _SPREADS, "How unsure, by x", limits)
        self._history = plots.HistoryPanel(axes["h"], longer=True)
        canvas.animate([*self._spread.artists, *self._history.artists])
        canvas.animate_seldom(self._spread.frame)
        self._make_weight_panel(canvas, axes["w"])

    def _make_weight_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "Prior and weights", "weight w", "density (log)")
        edges = np.linspace(-5, 5, 61)
        ax.set(xlim=(-5, 5), yscale="log", ylim=(1e-3, 30))
        self._weights = plots.WeightArtists(ax, edges)
        plots.legend_above(ax, columns=2)
        canvas.animate(self._weights.artists)
        self._weight_axes = ax
        self._links = LinkArtists(self._function.axes, X_GRID[:, 0], ax)
        canvas.animate(self._links.artists)

    def _pointer_panels(self) -> list[Panel]:
        return [self._function, Panel(self._weight_axes, kind="seen", hover=True)]

    def _linked(
        self, result: SinusoidResult, panel: int, x: float, y: float
    ) -> tuple[str, int] | None:
        if panel == 1:
            near = np.abs(result.fit.mean - x) < _NEAR
            # Of a bar's weights the least certain one: it has the most to show.
            return ("weight", int(np.argmax(near * result.fit.std))) if near.any() else None
        drawn = result.prediction.samples
        height = 2 * self._function.axes.get_ylim()[1]
        k = None if drawn is None else nearest_function(drawn[:10], X_GRID[:, 0], (x, y), height)
        return None if k is None else ("draw", k)

    def _mark(self, result: SinusoidResult, linked: tuple[str, int] | None) -> None:
        self._links.show(None if linked is None else mark(result, *linked))

    def _compute(self, values: controls.Values) -> SinusoidResult:
        return refit(values)

    def _improve(self, values: controls.Values, result: SinusoidResult) -> SinusoidResult | None:
        """Make one longer run and return the better fit; ``None`` when the search is over."""
        if result.over:
            return None
        number = result.tried
        last = number == MOST_RUNS - 1
        fit = result.fit.refined() if last else result.fit.longer(number)
        cost = fit.cost(COST_DRAWS)
        gain = result.cost.total - cost.total
        result = replace(result, tried=number + 1, gain=max(gain, 0.0))
        if gain <= 0:
            return result
        trains_on = last or number == 0  # and does not start elsewhere
        prediction = fit.predict(X_GRID, n_samples=round(values["n_predictions"]))
        runs = (*result.runs, fit) if trains_on else (fit,)
        return replace(result, fit=fit, prediction=prediction, cost=cost, runs=runs)

    def _frames(self, result: SinusoidResult) -> Sequence[int]:
        return [steps for _, _, steps in frames(result)]

    def _replay(self, result: SinusoidResult, frame: int) -> SinusoidResult:
        run, i, _ = frames(result)[frame]
        fit, n_predictions = run.at(i), len(cast("Array", result.prediction.samples))
        before = takewhile(lambda earlier: earlier is not run, result.runs)
        return replace(
            result,
            fit=fit,
            runs=(*before, fit),
            prediction=fit.predict(X_GRID, n_predictions),
            cost=fit.cost(COST_DRAWS),
            trained=False,
        )

    def _draw(self, result: SinusoidResult) -> None:
        self._function.update(result, result.prediction)
        if self._spread.update({"fit": result.prediction, plots.POSTERIOR: result.nuts}):
            self._canvas.redraw_seldom()
        if self._spread.show(plots.POSTERIOR, bool(result.nuts_report)):
            self._canvas.redraw_background(arrange=True)
        self._history.update(history(result))
        self._weights.update(result.problem.prior, result.fit.mean, result.fit.std)

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Compile what may come next: the paper's fit, more draws or points, rest, and chains."""
        more = {"n_samples": 2}
        for values in (_PAPER, more, _PAPER | more):
            yield partial(refit, self.DEFAULTS | values)
        for values in ({}, more):
            quick = refit(self.DEFAULTS | values)
            yield partial(self._improve, {"n_predictions": 1.0}, quick)
        yield from super()._chores()
        if self.result is not None:
            yield partial(mark, self.result, "weight", 0)

    @staticmethod
    def _problem(values: controls.Values) -> Problem:
        return Problem.of(values, layers=2)

    def _readings(self, result: SinusoidResult) -> dict[str, float]:
        mean, sd = result.prediction.mean, result.prediction.epistemic_std
        costs = status.costs(result.cost)
        return {
            **costs,
            **result.gaps,
            "below": status.costs(result.quick)["F"] - costs["F"],
            "sd_data": sd[INSIDE].mean(),
            "sd_ends": sd[[0, -1]].mean(),
            "sd_at_1": status.at(X_GRID, sd, 1.0),
            "mean_up": status.at(X_GRID, mean, 0.25),
            "mean_down": status.at(X_GRID, mean, -0.25),
            "off_sine": status.off_the_sine(X_GRID, mean),
        }

    def _words(self, result: SinusoidResult) -> dict[str, str]:
        return {
            **status.cost_words(result.cost),
            **status.shown_if(lower=result.refined, gaps=bool(result.gaps)),
            "stage": result.stage,
            **({} if result.prediction.epistemic_std.any() else {"spread": "{one_network}"}),
            "nuts": result.nuts_report,
        }


# What a tick leaves to the optimiser, and how smoothly it follows a slider:
# claim: a-tick-arrives, a-tick-is-hardly-ever-far, a-tick-shows-the-model
def refit(values: controls.Values) -> SinusoidResult:
    """Fit the network for these values of the controls, and predict on ``X_GRID``."""
    problem = Problem.of(values, layers=2)
    how = {name: values[name] for name in ("estimator", "kl_weight", "n_samples")}
    fit = live_fits.backprop(problem, **how)
    prediction = fit.predict(X_GRID, n_samples=round(values["n_predictions"]))
    asked = values.get("prior_functions")
    functions = problem.prior_functions(fit, X_GRID) if asked else None
    cost = fit.cost(COST_DRAWS)
    return SinusoidResult(
        problem, fit, prediction, values["estimator"], cost, cost, (fit,), prior_functions=functions
    )


def frames(result: SinusoidResult) -> list[tuple[bbb.Fit, int, int]]:
    """Return the frames of all runs in turn, as run, frame and the steps of all runs until then.

    Later runs change less and have fewer frames.
    """
    found: list[tuple[bbb.Fit, int, int]] = []
    done = 0
    for run in result.runs:
        steps = replay.steps_of(run)
        kept = range(len(steps) - 1, 0, -4)[::-1] if done else range(len(steps))
        found += [(run, i, done + steps[i]) for i in kept]
        done = found[-1][2]
    return found


def history(result: SinusoidResult) -> dict[str, Array]:
    """Return the costs at the steps of all runs, numbered as in ``frames``, up to this frame."""
    found = [run.history for run in result.runs]
    lengths = [0, *(int(costs["step"][-1]) for costs in found[:-1])]
    joined = {name: np.concatenate([costs[name] for costs in found]) for name in found[0]}
    done = np.repeat(np.cumsum(lengths), [len(costs["step"]) for costs in found])
    return {**joined, "step": joined["step"] + done}


def mark(result: SinusoidResult, kind: str, i: int) -> Mark:
    """Return what to mark for a weight (``"weight"``) or a drawn function (``"draw"``) of number i.

    The functions of a weight are drawn with the others at their means.
    """
    from bdl_teach import predictive

    fit = result.fit
    if kind == "weight":
        along = np.repeat(fit.mean[None], len(STEPS), axis=0)  # [k, n_weights]
        along[:, i] += STEPS * fit.std[i]
        words = f"{_name(fit.network, i)}: {fit.mean[i]:.2f} ± {fit.std[i]:.2f}"
        return Mark(fit.evaluate(along, X_GRID), along[:, i], f"{words}; here from −2 to 2 sd")
    drawn = result.prediction.samples
    assert drawn is not None
    weights = predictive.draw_weights(fit.mean, fit.std, len(drawn), 1)[i]
    return Mark(drawn[i : i + 1], weights, f"draw {i + 1}, and its {len(weights)} weights")


def _name(network: MLP, i: int) -> str:
    """Name the place of a weight: its layer, and the units that it connects."""
    for number, shape in enumerate(network.shapes):
        size = int(np.prod(shape))
        if i < size:
            unit, source = (int(k) + 1 for k in np.unravel_index(i, shape))
            what = f"weight from unit {source} to {unit}" if number % 2 == 0 else f"bias of {unit}"
            return f"layer {number // 2 + 1}, {what}"
        i -= size
    raise IndexError(i)
