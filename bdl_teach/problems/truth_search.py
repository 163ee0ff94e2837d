"""Fit mean field quickly, then search for the fit of lowest free energy, for the truth explorer.

The network has one hidden layer. Therefore HMC takes seconds, and the quiet estimator computes the
free energy without sampling noise.
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

QUICK_STEPS, LONG_STEPS = 500, 1500  # Adam steps of the first fit, and of each fit of the search
N_STARTS = 8  # starts of the search; a second fit begins at the mode to which each start leads
COLD = 1e-3  # temperature at which a mean-field fit finds a mode
WIDTH_AT_MODE = 0.1  # sd of each weight where a fit begins at a mode
ENOUGH = 1.0  # the search ends when a round lowers F by fewer nats than this
MOST_ROUNDS = 5  # largest number of rounds of the search


def _mean_field(problem: Problem, start: int, temperature: float = 1.0, **own: Any) -> bbb.Fit:
    """Fit mean field to the tempered posterior P(w | D)^(1/T), from start number ``start``.

    This is the posterior of a problem whose noise sd and prior sd are √T times as large.
    """
    from bdl_teach import optimise

    root, seed = math.sqrt(temperature), optimise.start_seeds(problem.seed, start + 1)[start]
    tempered = replace(problem, scales=(problem.scales[0] * root,))
    own |= {"noise_std": problem.noise_std * root, "seed": seed}
    fit: bbb.Fit = live_fits.fit_method("local", tempered, **own)
    return fit


@dataclass(frozen=True)
class Search:
    """The state of a search for the fit of lowest free energy to a problem."""

    best: bbb.Fit  # the fit of lowest free energy so far
    prediction: Predictive  # of the best fit, on ``GAP_GRID``
    tried: int = 0  # number of starts tried
    rounds: int = 0  # number of times that training of the best fit was continued
    gain: float = math.inf  # nats by which the last round lowered the free energy

    @property
    def over(self) -> bool:
        """Return whether the search has ended: nothing more is to be tried."""
        return self.tried == N_STARTS and (self.gain < ENOUGH or self.rounds == MOST_ROUNDS)

    def __str__(self) -> str:
        """Return the progress of the search in words, to begin a status line."""
        if self.tried < N_STARTS:
            searched = f", {self.tried} of {N_STARTS} starts searched"
            return f"quick fit{searched * (self.tried > 0)}"
        if not self.over:
            return "quick fit, training of the best start goes on"
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
    """Return the free energy at the end of a fit's training, in nats."""
    return float(fit.history["free_energy"][-1])


def refit(problem: Problem, starts: int) -> TruthResult:
    """Make quick fits from a number of starts; return a result with the fit of lowest F."""
    from bdl_teach import optimise

    fit = optimise.best_of(
        lambda start: _mean_field(problem, start, steps=QUICK_STEPS), range(starts), free_energy
    )
    prediction = fit.predict(GAP_GRID, N_PREDICTIONS)
    return TruthResult(problem, fit, prediction, Search(fit, prediction))


def improve(result: TruthResult) -> TruthResult | None:
    """Return the result after one more step of the search; ``None`` if the search is over."""
    search = result.search
    if search.over:
        return None
    if search.tried < N_STARTS:
        best = min(search.best, *_from_start(result.problem, search.tried), key=free_energy)
        search = replace(search, tried=search.tried + 1)
    else:
        best = min(search.best, search.best.refined(), key=free_energy)
        gain = free_energy(search.best) - free_energy(best)
        search = replace(search, rounds=search.rounds + 1, gain=gain)
    if best is not search.best:
        search = replace(search, best=best, prediction=best.predict(GAP_GRID, N_PREDICTIONS))
    return replace(result, search=search)


def _from_start(problem: Problem, start: int) -> tuple[bbb.Fit, bbb.Fit]:
    """Return two fits: one from start number ``start``, one from a mode found from that start."""
    rho = math.log(math.expm1(problem.scales[0] * math.sqrt(COLD) / 10))
    cold = _mean_field(problem, start, COLD, steps=LONG_STEPS, initial_rho=rho)
    long = _mean_field(problem, start, steps=LONG_STEPS)
    at_mode = (cold.mean, WIDTH_AT_MODE)
    return long, _mean_field(problem, start, steps=LONG_STEPS, initial=at_mode)


def at(result: TruthResult, frame: int) -> TruthResult:
    """Return the result with its fit as it was at frame number ``frame`` of the training."""
    fit = result.fit.at(frame)
    return replace(result, fit=fit, prediction=fit.predict(GAP_GRID, N_PREDICTIONS))
