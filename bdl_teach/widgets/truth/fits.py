"""What the truth explorer fits: mean field, quickly and as well as it goes, and NUTS.

The network has one hidden layer: NUTS explores its posterior in seconds, and the quiet estimator
has nothing left to draw, so that a fit stops where the optimiser stopped and not where noise left
it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import points
from bdl_teach.widgets.comparison.fits import ROOM, GapProblem

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.densities import Gaussian
    from bdl_teach.methods import bbb, exact
    from bdl_teach.predictive import Predictive

X_GRID = np.linspace(-0.7, 0.7, 71)[:, None]
TRUTH = GapProblem().data.truth(X_GRID)[:, 0]
MAX_WIDTH = 20  # hidden units that everything is compiled for
QUICK_STEPS, LONG_STEPS = 500, 1500  # of a tick's fit, and of each fit of the search
N_STARTS = 8  # that the search tries, each twice: as it is, and from the mode that it leads to
COLD = 1e-3  # temperature at which a mean field is the mode with next to no width
WIDTH_AT_MODE = 0.1  # sd of every weight that a fit from a mode starts with
ENOUGH, MOST_ROUNDS = 1.0, 5  # nats a round of training on, below which it ends; rounds
N_PREDICTIONS = 500
# Of NUTS: after half this warm-up one chain of sixteen lagged, and R-hat was 1.19.
N_CHAINS, N_TRANSITIONS = 4, 1000


@dataclass(frozen=True)
class Model:
    """What a posterior depends on.

    Attributes:
        problem: The points and their noise.
        prior_std: Standard deviation σ_p of the Gaussian prior of each weight.
        width: Units of the hidden layer.
    """

    problem: GapProblem = GapProblem()
    prior_std: float = 3.0
    width: int = MAX_WIDTH

    @property
    def prior(self) -> Gaussian:
        """The prior of each weight."""
        from bdl_teach.densities import Gaussian

        return Gaussian(self.prior_std)

    @property
    def capacity(self) -> bbb.Capacity:
        """Sizes to compile for: room for every problem of the sliders, or for any table."""
        from bdl_teach.methods import bbb

        n = len(self.problem.data.x)
        return bbb.Capacity(ROOM if n <= ROOM else points.MOST, (MAX_WIDTH,), 1)

    def evaluate(self, weights: Array, x: Array) -> Array:
        """Evaluate the network for given weights, in a program that has room for every width.

        Args:
            weights: ``[s, n_weights]``, in the order of a network of this width.
            x: Inputs ``[m, 1]``.

        Returns:
            Outputs ``[s, m]``.
        """
        from bdl_teach import predictive
        from bdl_teach.methods._loop import embed
        from bdl_teach.mlp import MLP

        network, padded = MLP(1, (self.width,)), MLP(1, (MAX_WIDTH,))
        return predictive.evaluate_weights(padded, embed(weights, network, padded), x)

    def seed(self, k: int) -> int:
        """Seed of the k-th start: those of ``starts=`` everywhere."""
        from bdl_teach import optimise

        return optimise.start_seeds(self.problem.seed, k + 1)[k]

    def fit(self, temperature: float = 1.0, **changes: object) -> bbb.Fit:
        """Fit by mean field with the quiet estimator, at some temperature of the posterior.

        P(w | D)^(1/T) has the noise s√T and the prior sd σ_p√T; as T falls, its mean field closes
        in on a mode.
        """
        from bdl_teach.densities import Gaussian
        from bdl_teach.methods import local_reparam

        data, root = self.problem.data, math.sqrt(temperature)
        settings: dict[str, Any] = {**local_reparam.QUIET, "seed": self.seed(0), **changes}
        return local_reparam.fit(
            data.x,
            data.y,
            prior=Gaussian(self.prior_std * root),
            noise_std=self.problem.noise_std * root,
            hidden_units=(self.width,),
            capacity=self.capacity,
            **settings,
        )


@dataclass(frozen=True)
class Search:
    """The lowest free energy that was found for a model.

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
        """Whether all starts were tried, and training on has come to its end."""
        return self.tried == N_STARTS and (self.gain < ENOUGH or self.rounds == MOST_ROUNDS)

    def __str__(self) -> str:
        """Say how far it has come, as the beginning of a status line."""
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
    """What one tick computed. Distances are over the gap, in the units of y.

    They are root mean squares over x of the 2-Wasserstein distance between two predictives taken
    as Gaussians (``calibration.distance``), so that ``whole`` is at most ``optimisation`` +
    ``family``.

    Attributes:
        model: What was fitted.
        regions: Masks ``[m]`` of ``X_GRID``: ``"data"``, ``"gap"`` and ``"outside"``.
        fit: The tick's own fit, the lowest of the starts that were asked for.
        prediction: Its predictive on ``X_GRID``.
        search: The lowest free energy found so far: the fit's own, until the sliders rest.
        optimisation: From the fit to the best fit; ``None`` before the search, or without a gap.
        family: From the best fit to NUTS; ``None`` before the search, without NUTS or a gap.
        prior_miss: What of the truth lies beyond NUTS's mean ± 2 sd: the root mean square over the
            gap of max(0, |truth − mean| − 2 sd); ``None`` without NUTS or a gap.
        whole: From the fit to NUTS; ``None`` as ``family``.
        prior_functions: Ten networks drawn from the prior ``[10, m]``, if they are shown.
        nuts: The gold standard's predictive on ``X_GRID``, if it is shown and computed.
        nuts_report: R-hat and effective sample size as a sentence, or why there is none.
    """

    model: Model
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
        """Nats by which the fit's free energy is above the lowest found; never negative."""
        return free_energy(self.fit) - free_energy(self.search.best)


def free_energy(fit: bbb.Fit) -> float:
    """F of a fit of this explorer, in nats: the last record.

    With one hidden layer the quiet estimator draws nothing: a record is F itself.
    ``fit.free_energy`` averages a thousand draws, and takes as long as the fit.
    """
    return float(fit.history["free_energy"][-1])


def refit(model: Model, starts: int) -> TruthResult:
    """Fit quickly from so many starts, and keep the lowest free energy."""
    from bdl_teach import optimise

    seeds = [model.seed(k) for k in range(starts)]
    fit = optimise.best_of(lambda s: model.fit(steps=QUICK_STEPS, seed=s), seeds, free_energy)
    prediction = fit.predict(X_GRID, N_PREDICTIONS)
    regions = model.problem.regions(X_GRID[:, 0])
    return TruthResult(model, regions, fit, prediction, Search(fit, prediction))


def improve(result: TruthResult) -> TruthResult | None:
    """Search on for a lower free energy; ``None`` when the search is over.

    Each round tries a start, twice; then rounds train the best of all on.
    """
    search = result.search
    if search.over:
        return None
    if search.tried < N_STARTS:
        best = min(search.best, *_from_start(result.model, search.tried), key=free_energy)
        search = replace(search, tried=search.tried + 1)
    else:
        on = search.best.refined()
        best = min(search.best, on, key=free_energy)
        gain = free_energy(search.best) - free_energy(best)
        search = replace(search, rounds=search.rounds + 1, gain=gain)
    if best is not search.best:
        search = replace(search, best=best, prediction=best.predict(X_GRID, N_PREDICTIONS))
    return replace(result, search=search)


def _from_start(model: Model, k: int) -> tuple[bbb.Fit, bbb.Fit]:
    """The k-th start's fit, and the fit that starts at its mode."""
    long: dict[str, Any] = {"steps": LONG_STEPS, "seed": model.seed(k)}
    return model.fit(**long), model.fit(initial=(mode(model, k), WIDTH_AT_MODE), **long)


def mode(model: Model, k: int) -> Array:
    """Weights ``[n_weights]`` at a mode of the posterior, from the k-th start.

    Found by the same compiled program as all else: as the mean field of a cold posterior.
    """
    rho = math.log(math.expm1(model.prior_std * math.sqrt(COLD) / 10))
    cold = model.fit(COLD, steps=LONG_STEPS, seed=model.seed(k), initial_rho=rho)
    return cold.mean


def at(result: TruthResult, frame: int) -> TruthResult:
    """Return the tick's fit as it was at a frame of its training; the search stays where it is."""
    fit = result.fit.at(frame)
    then = replace(result, fit=fit, prediction=fit.predict(X_GRID, N_PREDICTIONS))
    return beside_nuts(then, result.nuts, result.nuts_report)


def beside_nuts(result: TruthResult, nuts: Predictive | None, report: str) -> TruthResult:
    """Add the gold standard, if there is one, and take the gap to the truth apart."""
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


def chains(model: Model) -> dict[str, object]:
    """What ``sample`` gives to ``exact.nuts``."""
    return {
        **model.problem.repeated,
        "prior": model.prior,
        "hidden_units": (model.width,),
        "n_chains": N_CHAINS,
        "n_warmup": N_TRANSITIONS,
        "n_samples": N_TRANSITIONS,
        "seed": model.problem.seed,
    }


def sample(model: Model, progress: Callable[[int, int], None] | None = None) -> exact.NutsFit:
    """Sample the true posterior of ``model``; ``progress(done, total)`` as it goes."""
    from bdl_teach.methods import exact

    given: dict[str, Any] = chains(model)
    fitted = exact.nuts(**given, progress=progress)
    return replace(fitted, noise_std=model.problem.noise_std)
