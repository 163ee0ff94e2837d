"""Fit mean field, quickly and as well as possible, and NUTS, for the truth explorer.

The network has one hidden layer: NUTS explores its posterior in seconds, and the quiet estimator
draws nothing at random, so that a fit has no noise and ends where the optimiser does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID as X_GRID
from bdl_teach.problems import Problem, truth

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods import bbb
    from bdl_teach.predictive import Predictive

TRUTH = truth(X_GRID)
QUICK_STEPS, LONG_STEPS = 500, 1500  # of a tick's fit, and of each fit of the search
N_STARTS = 8  # that the search tries, each twice: as it is, and from the mode that it leads to
COLD = 1e-3  # temperature at which a mean field is the mode with next to no width
WIDTH_AT_MODE = 0.1  # sd of every weight that a fit from a mode starts with
ENOUGH, MOST_ROUNDS = 1.0, 5  # nats a round of training on, below which it ends; rounds
N_PREDICTIONS = 500
# Of NUTS: after half this warm-up one chain of sixteen lagged, and R-hat was 1.19.
N_CHAINS, N_TRANSITIONS = 4, 1000


def seed(problem: Problem, k: int) -> int:
    """Return the seed of the k-th start, as ``starts=`` counts them."""
    from bdl_teach import optimise

    return optimise.start_seeds(problem.seed, k + 1)[k]


def mean_field(problem: Problem, temperature: float = 1.0, **changes: object) -> bbb.Fit:
    """Fit mean field with the quiet estimator to a posterior at some temperature.

    P(w | D)^(1/T) has the noise s√T and the prior sd σ_p√T; as T falls, its mean field closes in
    on a mode.
    """
    from bdl_teach.methods import local_reparam

    (prior_std,), root = problem.scales, math.sqrt(temperature)
    data, tempered = problem.data, replace(problem, scales=(prior_std * root,)).settings
    tempered |= {"noise_std": problem.noise_std * root, "seed": seed(problem, 0)}
    plan = {**tempered, **local_reparam.QUIET, "capacity": problem.capacity, **changes}
    return local_reparam.fit(data.x, data.y, **plan)


@dataclass(frozen=True)
class Search:
    """The lowest free energy that was found for a problem.

    Attributes:
        best: The fit that has it.
        prediction: Its predictive on ``X_GRID``.
        tried: How many starts were tried.
        rounds: How often the best of them was trained on.
        gain: Nats by which the last round lowered the free energy.
    """

    best: bbb.Fit
    prediction: Predictive
    tried: int = 0
    rounds: int = 0
    gain: float = math.inf

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
class TruthResult:
    """The fits of one slider position, and their distances over the gap in the units of y.

    Distances are root mean squares over x of the 2-Wasserstein distance between two predictives
    taken as Gaussians (``calibration.distance``), so that ``whole`` is at most ``optimisation`` +
    ``family``.

    Attributes:
        problem: The problem that was fitted.
        regions: Masks ``[m]`` of ``X_GRID``: ``"data"``, ``"gap"`` and ``"outside"``.
        fit: The tick's own fit, the lowest of the starts that were asked for.
        prediction: Its predictive on ``X_GRID``.
        search: The lowest free energy found so far: the fit's own, until the sliders rest.
        optimisation: Distance from the fit to the best fit; ``None`` before the search, or without
            a gap.
        family: Distance from the best fit to NUTS; ``None`` before the search, or without
            NUTS or a gap.
        prior_miss: What of the truth lies beyond NUTS's mean ± 2 sd: the root mean square over the
            gap of max(0, |truth − mean| − 2 sd); ``None`` without NUTS or a gap.
        whole: Distance from the fit to NUTS; ``None`` as ``family``.
        prior_functions: Ten networks drawn from the prior ``[10, m]``, if they are shown.
        nuts: The gold standard's predictive on ``X_GRID``, if it is shown and computed.
        nuts_report: R-hat and effective sample size as a sentence, or why there is none.
    """

    problem: Problem
    regions: dict[str, Array]
    fit: bbb.Fit
    prediction: Predictive
    search: Search
    optimisation: float | None = None
    family: float | None = None
    prior_miss: float | None = None
    whole: float | None = None
    prior_functions: Array | None = None
    nuts: Predictive | None = None
    nuts_report: str = ""

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

    seeds = [seed(problem, k) for k in range(starts)]
    fit = optimise.best_of(
        lambda s: mean_field(problem, steps=QUICK_STEPS, seed=s), seeds, free_energy
    )
    prediction = fit.predict(X_GRID, N_PREDICTIONS)
    regions = problem.regions(X_GRID[:, 0])
    return TruthResult(problem, regions, fit, prediction, Search(fit, prediction))


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
        on = search.best.refined()
        best = min(search.best, on, key=free_energy)
        gain = free_energy(search.best) - free_energy(best)
        search = replace(search, rounds=search.rounds + 1, gain=gain)
    if best is not search.best:
        search = replace(search, best=best, prediction=best.predict(X_GRID, N_PREDICTIONS))
    return beside_nuts(replace(result, search=search), result.nuts, result.nuts_report)


def _from_start(problem: Problem, k: int) -> tuple[bbb.Fit, bbb.Fit]:
    """Return the k-th start's fit, and the fit that starts at its mode."""
    long: dict[str, Any] = {"steps": LONG_STEPS, "seed": seed(problem, k)}
    return mean_field(problem, **long), mean_field(
        problem, initial=(mode(problem, k), WIDTH_AT_MODE), **long
    )


def mode(problem: Problem, k: int) -> Array:
    """Return weights ``[n_weights]`` at a mode of the posterior, from the k-th start.

    They are the mean field of a cold posterior, so that the same compiled program finds them.
    """
    rho = math.log(math.expm1(problem.scales[0] * math.sqrt(COLD) / 10))
    cold = mean_field(problem, COLD, steps=LONG_STEPS, seed=seed(problem, k), initial_rho=rho)
    return cold.mean


def at(result: TruthResult, frame: int) -> TruthResult:
    """Return the tick's fit at a frame of its training; the search does not change."""
    fit = result.fit.at(frame)
    then = replace(result, fit=fit, prediction=fit.predict(X_GRID, N_PREDICTIONS))
    return beside_nuts(then, result.nuts, result.nuts_report)


def beside_nuts(result: TruthResult, nuts: Predictive | None, report: str) -> TruthResult:
    """Add the NUTS run, if there is one, and split the gap to the truth into its parts."""
    from bdl_teach import calibration

    gap = result.regions["gap"]
    result = replace(result, nuts=nuts, nuts_report=report)
    if not gap.any():
        return result
    best, fit, searched = result.search.prediction, result.prediction, result.search.tried > 0
    if searched:
        result = replace(result, optimisation=calibration.distance(fit, best, gap))
    if nuts is None:
        return result
    miss = np.maximum(np.abs(TRUTH - nuts.mean) - 2 * nuts.epistemic_std, 0.0)
    result = replace(result, prior_miss=math.sqrt(calibration.average(miss**2, gap)))
    if searched:
        family, whole = (calibration.distance(p, nuts, gap) for p in (best, fit))
        result = replace(result, family=family, whole=whole)
    return result


def chains(problem: Problem) -> dict[str, Any]:
    """Return the arguments of ``problem.sample``: chains long enough for every slider value."""
    return {
        **problem.repeated,
        "n_chains": N_CHAINS,
        "n_warmup": N_TRANSITIONS,
        "n_samples": N_TRANSITIONS,
        "seed": problem.seed,
    }
