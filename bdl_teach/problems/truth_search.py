"""Fit mean field quickly, and search for its best fit, for the truth explorer.

The network has one hidden layer: the true posterior can be sampled in seconds, and the quiet
estimator draws nothing at random, so that a fit has no noise and ends where the optimiser does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID as X_GRID
from bdl_teach.problems import Outcome, Problem, truth

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods import bbb
    from bdl_teach.predictive import Predictive

QUICK_STEPS, LONG_STEPS = 500, 1500  # of a tick's fit, and of each fit of the search
N_STARTS = 8  # that the search tries, each twice: as it is, and from the mode that it leads to
COLD = 1e-3  # temperature at which a mean field is the mode with next to no width
WIDTH_AT_MODE = 0.1  # sd of every weight that a fit from a mode starts with
ENOUGH, MOST_ROUNDS = 1.0, 5  # nats a round of training on, below which it ends; rounds
N_PREDICTIONS = 500


def _mean_field(problem: Problem, start: int, temperature: float = 1.0, **own: Any) -> bbb.Fit:
    """Fit mean field from one of the starts to a posterior at some temperature.

    P(w | D)^(1/T) has the noise s√T and the prior sd σ_p√T; as T falls, its mean field closes in
    on a mode.
    """
    from bdl_teach import optimise
    from bdl_teach.methods import local_reparam

    (prior_std,), root = problem.scales, math.sqrt(temperature)
    given = replace(problem, scales=(prior_std * root,)).settings
    given |= {"noise_std": problem.noise_std * root, "capacity": problem.capacity}
    given["seed"] = optimise.start_seeds(problem.seed, start + 1)[start]
    x, y = problem.data.x, problem.data.y
    return local_reparam.fit(x, y, **given, **local_reparam.QUIET, **own)


@dataclass(frozen=True)
class Search:
    """The lowest free energy that was found for a problem."""

    best: bbb.Fit  # the fit that has it
    prediction: Predictive  # its predictive on X_GRID
    tried: int = 0  # how many starts were tried
    rounds: int = 0  # how often the best of them was trained on
    gain: float = math.inf  # nats by which the last round lowered the free energy

    @property
    def over(self) -> bool:
        """Return whether all starts were tried and the best was trained to the end."""
        return self.tried == N_STARTS and (self.gain < ENOUGH or self.rounds == MOST_ROUNDS)

    def __str__(self) -> str:
        """Return how far the search is, as the beginning of a status line."""
        if self.tried < N_STARTS:
            searched = f", {self.tried} of {N_STARTS} starts searched"
            return f"quick fit{searched * (self.tried > 0)}"
        if not self.over:
            return "quick fit, the best start being trained on"
        if self.gain < ENOUGH:
            return "refined"
        return f"not converged, the last round gained {self.gain:.0f} nats"


@dataclass(frozen=True)
class TruthResult(Outcome):
    """The fit of one slider position, the lowest of the starts that were asked for."""

    search: Search  # the lowest free energy found so far: the fit's own, until the sliders rest
    x_grid: ClassVar[Array] = X_GRID

    @cached_property
    def parts(self) -> dict[str, float]:
        """Return the known parts of the gap to the truth, over the gap, in the units of y.

        ``optimisation`` is the distance from the fit to the best fit, ``family`` from that to the
        true posterior, ``whole`` from the fit to it: root mean squares over x of the 2-Wasserstein
        distance between two predictives taken as Gaussians (``calibration.distance``), so that
        ``whole`` is at most the sum of the other two. ``prior_miss`` is what of the truth lies
        beyond the posterior's mean ± 2 sd: the root mean square of max(0, |truth − mean| − 2 sd).
        """
        from bdl_teach import calibration

        gap, nuts, found = self.regions["gap"], self.nuts, {}
        best = self.search.prediction if self.search.tried else None
        if not gap.any():
            return {}
        if best is not None:
            found["optimisation"] = calibration.distance(self.prediction, best, gap)
        if nuts is not None:
            miss = np.maximum(np.abs(truth(X_GRID) - nuts.mean) - 2 * nuts.epistemic_std, 0.0)
            found["prior_miss"] = math.sqrt(calibration.average(miss**2, gap))
        if best is not None and nuts is not None:
            found["family"] = calibration.distance(best, nuts, gap)
            found["whole"] = calibration.distance(self.prediction, nuts, gap)
        return found

    @property
    def excess(self) -> float:
        """Return the nats by which the fit's F is above the lowest found; never negative."""
        return free_energy(self.fit) - free_energy(self.search.best)


def free_energy(fit: bbb.Fit) -> float:
    """Return F of a fit of this explorer, in nats: the last record.

    With one hidden layer the quiet estimator draws nothing: a record is F itself.
    ``fit.free_energy`` averages a thousand draws, and takes as long as the fit.
    """
    return float(fit.history["free_energy"][-1])


def refit(problem: Problem, starts: int) -> TruthResult:
    """Fit quickly from several starts, and return the fit of lowest free energy."""
    from bdl_teach import optimise

    fit = optimise.best_of(
        lambda start: _mean_field(problem, start, steps=QUICK_STEPS), range(starts), free_energy
    )
    prediction = fit.predict(X_GRID, N_PREDICTIONS)
    return TruthResult(problem, fit, prediction, Search(fit, prediction))


def improve(result: TruthResult) -> TruthResult | None:
    """Search for a lower free energy; return ``None`` when the search is over.

    Each of the first rounds fits twice from one start; later rounds train the best fit on.
    """
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
        search = replace(search, best=best, prediction=best.predict(X_GRID, N_PREDICTIONS))
    return replace(result, search=search)


def _from_start(problem: Problem, start: int) -> tuple[bbb.Fit, bbb.Fit]:
    """Return a start's fit, and the fit that begins at the mode to which the start leads.

    The mode is the mean field of a cold posterior, so that the same compiled program finds it.
    """
    rho = math.log(math.expm1(problem.scales[0] * math.sqrt(COLD) / 10))
    cold = _mean_field(problem, start, COLD, steps=LONG_STEPS, initial_rho=rho)
    long = _mean_field(problem, start, steps=LONG_STEPS)
    at_mode = (cold.mean, WIDTH_AT_MODE)
    return long, _mean_field(problem, start, steps=LONG_STEPS, initial=at_mode)


def at(result: TruthResult, frame: int) -> TruthResult:
    """Return the tick's fit at a frame of its training; the search does not change."""
    fit = result.fit.at(frame)
    return replace(result, fit=fit, prediction=fit.predict(X_GRID, N_PREDICTIONS))
