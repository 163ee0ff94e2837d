"""Fit mean field quickly, then find the fit of lowest free energy, for the truth explorer.

The network has one hidden layer. Therefore the free energy is exact, and ``local_reparam.LOWEST``
finds its lowest known value in a fifth of a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from bdl_teach.problems import GAP_GRID, Outcome, Problem, live_fits, truth
from bdl_teach.problems.live_fits import N_PREDICTIONS

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.predictive import Predictive

QUICK_STEPS = 500  # Adam steps of the first fit
ENOUGH = 0.5  # the search ends when a round lowers F by fewer nats than this
MOST_ROUNDS = 8  # largest number of rounds after the first 16 starts


@dataclass(frozen=True)
class TruthResult(Outcome):
    """A quick fit to a problem or, once it is found, the fit of lowest free energy."""

    quick: Predictive | None = None  # of the quick fit, once ``fit`` is the lowest
    below: float = 0.0  # nats by which F is lower than that of the fit shown before
    excess: float = 0.0  # nats by which the F of the quick fit is above that of ``fit``
    rounds: int = 0  # rounds of the search after its first starts
    further: Any = None  # the fit with which the search goes on
    trained: bool = False  # whether this result is to be shown, after the quick fit

    @property
    def over(self) -> bool:
        """Return whether the search has ended: nothing more is to be tried."""
        return self.rounds > 1 and (self.further.gain < ENOUGH or self.rounds == MOST_ROUNDS)

    @property
    def falls(self) -> bool:
        """Return whether the search ended while F was still falling."""
        return self.over and self.further.gain >= ENOUGH

    def __str__(self) -> str:
        """Return the state of the search in words, to begin a status line."""
        if self.further is None:
            return "quick fit"
        energies = self.further.starts_free_energy
        agree = np.sum(energies < energies.min() + ENOUGH)
        said = f"the lowest of {len(energies)} starts, {agree} of which agree"
        return f"{said}; F still falls" if self.falls else said

    @cached_property
    def parts(self) -> dict[str, float]:
        """Return the known parts of the error in the gap of the data, in the units of y.

        - ``optimisation``: distance from the quick fit to the lowest
        - ``family``: distance from the lowest fit to the true posterior
        - ``whole``: distance from the quick fit to the true posterior, at most the sum of the two
        - ``prior_miss``: root mean square of max(0, |truth − mean| − 2 sd) of the true posterior

        Distances are those of ``calibration.distance``. If the data have no gap, the dict is empty.
        Until the chains have mixed, the distances to the true posterior are unknown.
        """
        from bdl_teach import calibration

        gap, nuts, found = self.regions["gap"], self.posterior, {}
        if not gap.any():
            return {}
        if self.quick is not None:
            found["optimisation"] = calibration.distance(self.quick, self.prediction, gap)
        if nuts is not None:
            miss = np.maximum(np.abs(truth(GAP_GRID) - nuts.mean) - 2 * nuts.epistemic_std, 0.0)
            found["prior_miss"] = math.sqrt(calibration.average(miss**2, gap))
        if self.quick is not None and nuts is not None:
            found["family"] = calibration.distance(self.prediction, nuts, gap)
            found["whole"] = calibration.distance(self.quick, nuts, gap)
        return found


def refit(problem: Problem) -> TruthResult:
    """Make a quick fit."""
    fit = live_fits.fit_method("local", problem, steps=QUICK_STEPS)
    return TruthResult(problem, fit, fit.predict(GAP_GRID, N_PREDICTIONS))


def improve(result: TruthResult) -> TruthResult | None:
    """Return the result after one more step of the search; ``None`` if the search is over.

    The first step finds the lowest of 16 starts, which is shown. The others try 16 more and train
    the best ones on; what they find is shown at the end.
    """
    from bdl_teach.methods.local_reparam import LOWEST

    if result.over:
        return None
    if result.further is None:
        lowest = live_fits.fit_method("local", result.problem, **LOWEST)
        return _shown(replace(result, further=lowest, quick=result.prediction))
    further = result.further.refined() if result.rounds else result.further.again()
    result = replace(result, further=further, rounds=result.rounds + 1, trained=False)
    return _shown(result) if result.over else result


def _shown(result: TruthResult) -> TruthResult:
    """Return the result with the lowest fit found so far, unless the shown one is as low."""
    further = result.further
    below = result.fit.free_energy - further.free_energy
    if result.rounds and below < ENOUGH:
        return replace(result, trained=True)
    return replace(
        result,
        fit=further,
        prediction=further.predict(GAP_GRID, N_PREDICTIONS),
        below=below,
        excess=result.excess + below,
        trained=True,
    )


def searched(problem: Problem) -> TruthResult:
    """Return the result of the whole search."""
    result = refit(problem)
    while (better := improve(result)) is not None:
        result = better
    return result


def at(result: TruthResult, frame: int) -> TruthResult:
    """Return the result with its fit as it was at frame number ``frame`` of the training."""
    fit = result.fit.at(frame)
    return replace(result, fit=fit, prediction=fit.predict(GAP_GRID, N_PREDICTIONS))
