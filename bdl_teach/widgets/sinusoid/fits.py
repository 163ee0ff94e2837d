"""What the sinusoid explorer fits: Bayes by Backprop on a sine, and NUTS on the same problem."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.densities import Prior
    from bdl_teach.elbo import FreeEnergy
    from bdl_teach.methods import bbb, exact
    from bdl_teach.predictive import Predictive

X_GRID = np.linspace(-1.5, 1.5, 121)[:, None]
INSIDE = np.abs(X_GRID[:, 0]) <= 0.5
# What refits are compiled for (``bbb.Capacity``, without loading TensorFlow): a small room for
# what most sliders ask for, one for more points, one for all the rest; each is 30 MB of the kernel.
# The last goes through draws and chunks of 32 points in a loop, so that few of them take less time.
SMALL_ROOM = (32, (20, 20), 1)
LONG_ROOM = (64, (20, 20), 1)
LARGE_ROOM = (64, (20, 20), 10, 32)
N_DRAWS = 1500  # of NUTS, a chain: 500 leave R-hat at 1.08 with the article's prior
ENOUGH, MOST_ROUNDS = 3.0, 12  # nats a round of training on, below which it ends; rounds
COST_DRAWS = 100  # networks that a free energy is averaged over: 2 nats of standard error


@dataclass(frozen=True)
class Stage:
    """How far a fit has come.

    Attributes:
        estimator: ``"quiet"``, ``"weights"`` (the paper's) or ``"article"``.
        rounds: How many times it was trained on.
        gain: Nats by which the last round lowered the free energy.
    """

    estimator: str = "quiet"
    rounds: int = 0
    gain: float = math.inf

    @property
    def over(self) -> bool:
        """Whether there is nothing more to be done."""
        return self.estimator != "quiet" or self.gain < ENOUGH or self.rounds == MOST_ROUNDS

    def __str__(self) -> str:
        """Say it, as the beginning of a status line."""
        if self.estimator != "quiet":
            return {"weights": "weights drawn", "article": "the article's recipe"}[self.estimator]
        if not self.rounds:
            return "quick fit"
        if self.over and self.gain >= ENOUGH:
            return f"not converged, the last round gained {self.gain:.0f} nats"
        return "refined"


@dataclass(frozen=True)
class SinusoidResult:
    """What one tick computed.

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
        gap: Distance to NUTS where there are data, in the units of y: the root mean square over
            x of the 2-Wasserstein distance between the two predictives taken as Gaussians.
        gap_outside: The same outside the data.
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


def refit(
    *, estimator: str, sigma1: float, sigma2: float, pi: float, noise_std: float, kl_weight: float,
    n_samples: int, n_predictions: int, width: int, n: int, seed: int,
) -> SinusoidResult:  # fmt: skip
    """Fit the network for these values of the sliders, and predict on ``X_GRID``."""
    from bdl_teach.densities import ScaleMixture
    from bdl_teach.methods import bbb, local_reparam

    data = datasets.sinusoid(n, noise_std, seed)
    prior = ScaleMixture(sigma1, sigma2, pi)
    rooms = (SMALL_ROOM, LONG_ROOM, LARGE_ROOM)
    room = next(room for room in rooms if n <= room[0] and n_samples <= room[2])
    common: dict[str, Any] = {
        "prior": prior, "noise_std": noise_std, "hidden_units": (width, width),
        "n_samples": n_samples, "kl_weight": kl_weight, "seed": seed,
        "capacity": bbb.Capacity(*room),
    }  # fmt: skip
    if estimator == "quiet":
        fit = local_reparam.fit(data.x, data.y, **common, **local_reparam.QUIET)
    else:
        recipe = bbb.ARTICLE if estimator == "article" else {}
        fit = bbb.fit(data.x, data.y, **common, **recipe)
    prediction, cost = fit.predict(X_GRID, n_samples=n_predictions), fit.cost(COST_DRAWS)
    return SinusoidResult(data, prior, fit, X_GRID, prediction, cost, Stage(estimator))


def improve(result: SinusoidResult, n_predictions: int) -> SinusoidResult | None:
    """Train on with the quiet estimator for one round; ``None`` when that is over.

    The paper's and the article's fits stay what they are: they are shown for what they leave.
    """
    stage = result.stage
    if stage.over:
        return None
    fit = result.fit.refined()
    prediction, cost = fit.predict(X_GRID, n_samples=n_predictions), fit.cost(COST_DRAWS)
    gain = result.cost.total - cost.total
    stage = replace(stage, rounds=stage.rounds + 1, gain=gain)
    return replace(result, fit=fit, prediction=prediction, cost=cost, stage=stage)


def sample(result: SinusoidResult, progress: Callable[[int, int], None]) -> exact.NutsFit:
    """Sample the true posterior of what ``result`` fitted; ``progress(done, total)`` as it goes."""
    from bdl_teach.methods import exact

    return exact.nuts(
        result.data.x,
        result.data.y,
        prior=result.prior,
        noise_std=result.data.noise_std,
        hidden_units=result.fit.network.hidden_units,
        n_samples=N_DRAWS,
        progress=progress,
    )
