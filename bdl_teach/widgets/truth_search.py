"""Fit mean field quickly, then find the fit of lowest free energy.

The network has one hidden layer. Therefore the free energy is exact, and ``local_reparam.LOWEST``
finds its lowest known value in a fifth of a second.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from bdl_teach.problems import GAP_GRID, Problem, live_fits, truth
from bdl_teach.widgets.results import Outcome

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.predictive import Predictive

QUICK_STEPS = 500  # Adam steps of the first fit
ENOUGH = 0.5  # the search ends when a round lowers F by fewer nats than this
N_PREDICTIONS = 500
MOST_ROUNDS = 8  # largest number of rounds after the first 16 starts


@dataclass(frozen=True)
class Search:
    """A search for the fit of lowest free energy, after a quick fit."""

    problem: Problem
    fit: Any  # to be shown: the quick fit, later the lowest
    further: Any = None  # the lowest fit so far, with which the search goes on
    rounds: int = 0  # number of times that it has gone on after its first starts
    below: float = 0.0  # nats by which the F of ``fit`` is lower than that of the fit before it
    excess: float = 0.0  # nats by which the F of the quick fit is above that of ``fit``
    trained: bool = False  # whether ``fit`` is to be shown now, after the quick fit

    @property
    def over(self) -> bool:
        """Return whether the search has ended: nothing more is to be tried."""
        return self.rounds > 1 and (self.further.gain < ENOUGH or self.rounds == MOST_ROUNDS)

    def __str__(self) -> str:
        """Return the state of the search in words."""
        if self.further is None:
            return "A quick fit; the lowest follows"
        energies = self.further.starts_free_energy
        agree = np.sum(energies < energies.min() + ENOUGH)
        falls = "; F still falls" if self.over and self.further.gain >= ENOUGH else ""
        return f"The lowest F of {len(energies)} starts, which {agree} reach{falls}"

    def improved(self) -> Search | None:
        """Return the search after one more step; ``None`` if it is over.

        The first step finds the lowest of 16 starts, which is shown. The others try 16 more and
        train the best ones on; what they find is shown at the end.
        """
        from bdl_teach.methods.local_reparam import LOWEST

        if self.over:
            return None
        if self.further is None:
            lowest = live_fits.fit("local", self.problem, **LOWEST)
            return replace(self, further=lowest)._shown()
        further = self.further.refined() if self.rounds else self.further.again()
        new = replace(self, further=further, rounds=self.rounds + 1, trained=False)
        return new._shown() if new.over else new

    def _shown(self) -> Search:
        """Return the search with its lowest fit as ``fit``, unless ``fit`` is about as low."""
        below = self.fit.free_energy - self.further.free_energy
        if self.rounds and below < ENOUGH:
            return replace(self, trained=True)
        excess = self.excess + below
        return replace(self, fit=self.further, below=below, excess=excess, trained=True)


Found = TypeVar("Found", bound="TruthResult")


@dataclass(frozen=True)
class TruthResult(Outcome):
    """A quick fit to a problem or, once it is found, the fit of lowest free energy."""

    search: Search
    quick: Predictive | None = None  # of the quick fit, once ``fit`` is the lowest

    @property
    def trained(self) -> bool:
        """Return whether this result is to be shown, after the quick fit."""
        return self.search.trained

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
    fit = live_fits.fit("local", problem, steps=QUICK_STEPS)
    prediction = fit.predict(GAP_GRID, N_PREDICTIONS)
    return TruthResult(problem, fit, prediction, Search(problem, fit))


def improve(result: Found) -> Found | None:
    """Return the result after one more step of its search; ``None`` if the search is over."""
    if (search := result.search.improved()) is None:
        return None
    if search.fit is result.fit:
        return replace(result, search=search)
    prediction = search.fit.predict(GAP_GRID, N_PREDICTIONS)
    quick = result.quick or result.prediction
    return replace(result, fit=search.fit, prediction=prediction, search=search, quick=quick)


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
