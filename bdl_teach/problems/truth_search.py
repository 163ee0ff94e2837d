"""Fit mean field quickly, then search for the fit of lowest free energy, for the truth explorer.

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
    from bdl_teach.methods import bbb
    from bdl_teach.predictive import Predictive

QUICK_STEPS = 500  # Adam steps of the first fit
ENOUGH = 0.5  # the search ends when a round lowers F by fewer nats than this
LEAST = 0.1  # nats that a new best fit gains at least: a smaller gain shows in no picture
MOST_ROUNDS = 8  # largest number of rounds after the first 16 starts


@dataclass(frozen=True)
class Search:
    """The state of a search for the fit of lowest free energy to a problem."""

    best: bbb.Fit  # the fit of lowest free energy so far
    prediction: Predictive  # of the best fit, on ``GAP_GRID``
    tried: int = 0  # number of starts tried
    rounds: int = 0  # number of times that the search went on after its first starts
    lowest: Any = None  # the fit of ``LOWEST``, with which the search goes on
    gain: float = math.inf  # nats by which the last round lowered the free energy

    @property
    def over(self) -> bool:
        """Return whether the search has ended: nothing more is to be tried."""
        return self.rounds > 1 and (self.gain < ENOUGH or self.rounds == MOST_ROUNDS)

    def __str__(self) -> str:
        """Return the progress of the search in words, to begin a status line."""
        if not self.tried:
            return "quick fit"
        if not self.over:
            return f"quick fit, {self.tried} starts searched"
        if self.gain < ENOUGH:
            return "refined"
        return f"not converged, the last round gained {self.gain:.0f} nats"


@dataclass(frozen=True)
class TruthResult(Outcome):
    """A quick fit to a problem, and the state of the search for the fit of lowest free energy."""

    search: Search

    @cached_property
    def parts(self) -> dict[str, float]:
        """Return the known parts of the fit's error in the gap of the data, in the units of y.

        - ``optimisation``: distance from the fit to the best fit found
        - ``family``: distance from the best fit to the true posterior
        - ``whole``: distance from the fit to the true posterior, at most the sum of the two above
        - ``prior_miss``: root mean square of max(0, |truth − mean| − 2 sd) of the true posterior

        Distances are those of ``calibration.distance``. If the data have no gap, the dict is empty.
        Until the chains have mixed, the distances to the true posterior are unknown.
        """
        from bdl_teach import calibration

        gap, nuts, found = self.regions["gap"], self.posterior, {}
        best = self.search.prediction if self.search.tried else None
        if not gap.any():
            return {}
        if best is not None:
            found["optimisation"] = calibration.distance(self.prediction, best, gap)
        if nuts is not None:
            miss = np.maximum(np.abs(truth(GAP_GRID) - nuts.mean) - 2 * nuts.epistemic_std, 0.0)
            found["prior_miss"] = math.sqrt(calibration.average(miss**2, gap))
        if best is not None and nuts is not None:
            found["family"] = calibration.distance(best, nuts, gap)
            found["whole"] = calibration.distance(self.prediction, nuts, gap)
        return found

    @property
    def excess(self) -> float:
        """Return the free energy of the fit minus that of the best fit found, in nats."""
        return free_energy(self.fit) - free_energy(self.search.best)


def free_energy(fit: bbb.Fit) -> float:
    """Return the free energy of a fit, in nats: exact, since the network has one hidden layer."""
    return fit.free_energy


def refit(problem: Problem, starts: int) -> TruthResult:
    """Make quick fits from a number of starts; return a result with the fit of lowest F."""
    fit = live_fits.fit_method("local", problem, steps=QUICK_STEPS, starts=starts)
    prediction = fit.predict(GAP_GRID, N_PREDICTIONS)
    return TruthResult(problem, fit, prediction, Search(fit, prediction))


def improve(result: TruthResult) -> TruthResult | None:
    """Return the result after one more step of the search; ``None`` if the search is over.

    The first step tries 16 starts, the second 16 more; then the best ones train on.
    """
    from bdl_teach.methods.local_reparam import LOWEST

    search = result.search
    if search.over:
        return None
    if search.lowest is None:
        lowest = live_fits.fit_method("local", result.problem, **LOWEST)
    else:
        lowest = search.lowest.refined() if search.rounds else search.lowest.again()
        search = replace(search, rounds=search.rounds + 1, gain=lowest.gain)
    search = replace(search, tried=len(lowest.starts_free_energy), lowest=lowest)
    if free_energy(lowest) < free_energy(search.best) - LEAST:
        prediction = lowest.predict(GAP_GRID, N_PREDICTIONS)
        search = replace(search, best=lowest, prediction=prediction)
    return replace(result, search=search)


def searched(problem: Problem) -> TruthResult:
    """Return a quick fit to a problem, and the result of the whole search."""
    result = refit(problem, 1)
    while (better := improve(result)) is not None:
        result = better
    return result


def at(result: TruthResult, frame: int) -> TruthResult:
    """Return the result with its fit as it was at frame number ``frame`` of the training."""
    fit = result.fit.at(frame)
    return replace(result, fit=fit, prediction=fit.predict(GAP_GRID, N_PREDICTIONS))
