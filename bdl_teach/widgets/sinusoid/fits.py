"""What the sinusoid explorer fits: Bayes by Backprop on a sine, and the true posterior."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.problems import COST_DRAWS, INSIDE, Problem, live_fits
from bdl_teach.problems import WIDE_GRID as X_GRID
from bdl_teach.widgets._engine import replay
from bdl_teach.widgets._engine.controls import Values
from bdl_teach.widgets._engine.linking import STEPS, Mark

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.densities import Prior
    from bdl_teach.elbo import FreeEnergy
    from bdl_teach.methods import bbb
    from bdl_teach.mlp import MLP
    from bdl_teach.predictive import Predictive

MOST_RUNS = 9  # the longer runs of ``Fit.converged``, and one that trains the best of them on
ENOUGH = 10.0  # nats that this last one may still gain from what is called refined


class Frame(NamedTuple):
    """A frame of one of the runs that led to a fit, and the total number of steps until then."""

    run: bbb.Fit
    frame: int
    steps: int


@dataclass(frozen=True)
class Stage:
    """How far the search for a better fit has come.

    Attributes:
        estimator: ``"quiet"``, ``"weights"`` (the paper's) or ``"article"``.
        quick: Free energy of the tick's own fit.
        runs: How many longer runs it has been compared with, then trained on for.
        gain: Nats by which the last of them lowered the free energy.
        trained: Whether this is the end of a training, and not a frame of it.
    """

    estimator: str
    quick: FreeEnergy
    runs: int = 0
    gain: float = 0.0
    trained: bool = True

    @property
    def over(self) -> bool:
        """Return whether the search is over; the paper's and the article's fits have none."""
        return self.estimator != "quiet" or self.runs == MOST_RUNS

    @property
    def refined(self) -> bool:
        """Return whether all longer runs have been made."""
        return self.trained and self.over and self.runs > 0

    def after(self, gain: float) -> Stage:
        """Return the stage after one more run."""
        return replace(self, runs=self.runs + 1, gain=gain)

    def __str__(self) -> str:
        """Return the stage in words, as a status line begins."""
        if self.estimator != "quiet":
            return {"weights": "weights drawn", "article": "the article's recipe"}[self.estimator]
        if not self.trained:
            return "in training"
        if not self.over:
            run = f"training on by itself, run {self.runs} of {MOST_RUNS}"
            return run if self.runs else "quick fit"
        return "trained longer" if self.gain <= ENOUGH else "not converged"


@dataclass(frozen=True)
class SinusoidResult:
    """The result of one tick.

    Attributes:
        data: The training points.
        prior: The prior of the weights.
        fit: The fitted posterior.
        x_grid: Where it predicts ``[m, 1]``.
        prediction: The predictive on ``x_grid``.
        cost: The free energy of the fit, on all points.
        stage: What has been done: see ``improve``.
        prior_functions: Ten networks drawn from the prior ``[10, m]``, if they are shown.
        nuts: The gold standard's predictive on ``x_grid``, if it is shown and computed.
        nuts_report: R-hat and effective sample size as a sentence, or why there is none.
        gap: Distance to the true posterior where there are data, in the units of y: the root mean
            square over x of the 2-Wasserstein distance of the two predictives taken as Gaussians.
        gap_outside: The same outside the data.
        runs: The fit as the last of its runs, each trained on from the one before it.
    """

    data: datasets.Regression1D
    prior: Prior
    fit: bbb.Fit
    x_grid: Array
    prediction: Predictive
    cost: FreeEnergy
    stage: Stage
    prior_functions: Array | None = None
    nuts: Predictive | None = None
    nuts_report: str = ""
    gap: float | None = None
    gap_outside: float | None = None
    runs: tuple[bbb.Fit, ...] = ()


# What a tick leaves to the optimiser, and how smoothly it follows a slider:
# claim: a-tick-arrives, a-tick-is-hardly-ever-far, a-tick-shows-the-model
def refit(values: Values) -> SinusoidResult:
    """Fit the network for these values of the controls, and predict on ``X_GRID``."""
    problem = Problem.of(values, layers=2)
    how = {name: values[name] for name in ("estimator", "kl_weight", "n_samples")}
    fit = live_fits.backprop(problem, **how)
    prediction = fit.predict(X_GRID, n_samples=round(values["n_predictions"]))
    cost = fit.cost(COST_DRAWS)
    stage = Stage(values["estimator"], cost)
    return SinusoidResult(
        problem.data, problem.prior, fit, X_GRID, prediction, cost, stage, runs=(fit,)
    )


def improve(result: SinusoidResult, n_predictions: float) -> SinusoidResult | None:
    """Make one longer run and return the better fit; ``None`` when the search is over."""
    stage = result.stage
    if stage.over:
        return None
    last = stage.runs == MOST_RUNS - 1
    fit = result.fit.refined() if last else result.fit.longer(stage.runs)
    cost = fit.cost(COST_DRAWS)
    gain = result.cost.total - cost.total
    if gain <= 0:
        return replace(result, stage=stage.after(0.0))
    prediction = fit.predict(X_GRID, n_samples=round(n_predictions))
    trains_on = last or stage.runs == 0  # and does not start elsewhere
    better = replace(
        result,
        fit=fit,
        prediction=prediction,
        cost=cost,
        stage=stage.after(gain),
        runs=(*result.runs, fit) if trains_on else (fit,),
    )
    return beside_nuts(better, result.nuts, result.nuts_report)


def frames(result: SinusoidResult) -> list[Frame]:
    """Return the frames of all runs in turn; later runs change less and have fewer frames."""
    found: list[Frame] = []
    done = 0
    for run in result.runs:
        steps = replay.steps_of(run)
        kept = range(len(steps) - 1, 0, -4)[::-1] if done else range(len(steps))
        found += [Frame(run, i, done + steps[i]) for i in kept]
        done = found[-1].steps
    return found


def at(result: SinusoidResult, frame: int) -> SinusoidResult:
    """Return the fit of ``result`` as it was at a frame of its training."""
    run, i, _ = frames(result)[frame]
    fit, n_predictions = run.at(i), len(cast("Array", result.prediction.samples))
    before = takewhile(lambda earlier: earlier is not run, result.runs)
    return replace(
        result,
        fit=fit,
        runs=(*before, fit),
        prediction=fit.predict(X_GRID, n_predictions),
        cost=fit.cost(COST_DRAWS),
        stage=replace(result.stage, trained=False),
    )


def history(result: SinusoidResult) -> dict[str, Array]:
    """Return the costs at the steps of all runs, numbered as in ``frames``, up to this frame."""
    found = [run.history for run in result.runs]
    lengths = [0, *(int(costs["step"][-1]) for costs in found[:-1])]
    joined = {name: np.concatenate([costs[name] for costs in found]) for name in found[0]}
    done = np.repeat(np.cumsum(lengths), [len(costs["step"]) for costs in found])
    return {**joined, "step": joined["step"] + done}


def beside_nuts(result: SinusoidResult, nuts: Predictive | None, report: str) -> SinusoidResult:
    """Add the true posterior, if there is one, and the distance to it."""
    from bdl_teach import calibration

    result = replace(result, nuts=nuts, nuts_report=report)
    if nuts is None:
        return result
    gap, outside = (
        calibration.distance(result.prediction, nuts, mask) for mask in (INSIDE, ~INSIDE)
    )
    return replace(result, gap=gap, gap_outside=outside)


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
