"""What the sinusoid explorer fits: Bayes by Backprop on a sine, and NUTS on the same problem."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.densities import Prior
    from bdl_teach.methods import bbb, exact
    from bdl_teach.predictive import Predictive

X_GRID = np.linspace(-1.5, 1.5, 121)[:, None]
INSIDE = np.abs(X_GRID[:, 0]) <= 0.5
# What refits are compiled for (``bbb.Capacity``, without loading TensorFlow): a small room for what
# most sliders ask for, and one for all the rest, which costs 30 MB of the kernel. The large one
# goes through draws and chunks of 32 points in a loop, so that few of them take less time.
SMALL_ROOM = (32, (20, 20), 1)
LARGE_ROOM = (64, (20, 20), 10, 32)
# Of NUTS: the article's prior leaves the log density's R-hat at 1.02 to 1.04 after 500 transitions
# of four chains, at 1.003 to 1.005 after 3000; every sixth of them tells as much.
CHAINS = {"n_chains": 4, "n_samples": 500, "n_thin": 6}
_COST_DRAWS = 100  # networks that a free energy is averaged over: 2 nats of standard error


@dataclass(frozen=True)
class FreeEnergy:
    """What a fitted q costs on the whole data set: kl_weight · complexity + likelihood.

    Attributes:
        complexity: KL[q ‖ P(w)] in nats, before its weight.
        likelihood: −E_q[log P(D | w)] in nats.
        kl_weight: Factor on the complexity.
    """

    complexity: float
    likelihood: float
    kl_weight: float = 1.0

    @property
    def total(self) -> float:
        """F in nats."""
        return self.kl_weight * self.complexity + self.likelihood

    def __str__(self) -> str:
        """Say F as the sum that it is; the numbers add up as they are printed."""
        digits = 0 if self.kl_weight == 1 else 1  # a factor magnifies what rounding leaves
        factor = f"{self.kl_weight:.4g}"
        complexity, likelihood = f"{self.complexity:.{digits}f}", f"{self.likelihood:.0f}"
        total = float(factor) * float(complexity) + float(likelihood)
        times = "" if self.kl_weight == 1 else f"{factor} × "
        return (
            f"free energy {total:.0f} nats = {times}{complexity} (complexity) + {likelihood} "
            f"(likelihood)"
        )


def free_energy(
    fit: bbb.Fit, prior: Prior, data: datasets.Regression1D, kl_weight: float
) -> FreeEnergy:
    """Average the free energy of a fit over many draws of its weights, on all data points.

    The last record of the fit's history is one draw on one minibatch: ten times this noise.
    """
    from bdl_teach import elbo, predictive
    from bdl_teach.backend import tf

    weights = predictive.draw_weights(fit.mean, fit.std, _COST_DRAWS, seed=1)  # [s, n_weights]
    w, eps, std, y, f = (
        tf.constant(values, tf.float32)
        for values in (
            weights,
            (weights - fit.mean) / fit.std,
            fit.std,
            data.y,  # [n, 1]
            fit.evaluate(weights, data.x)[..., None],  # [s, n, 1]
        )
    )
    each = (
        elbo.complexity_cost(eps, std, prior.log_prob(w)),
        elbo.likelihood_cost(y, f, tf.constant(fit.noise_std, tf.float32)),
    )
    complexity, likelihood = (float(tf.reduce_mean(costs)) for costs in each)
    return FreeEnergy(complexity, likelihood, kl_weight)


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
    prior_functions: Array | None = None
    nuts: Predictive | None = None
    nuts_report: str = ""
    gap: float | None = None
    gap_outside: float | None = None


def refit(
    *, sigma1: float, sigma2: float, pi: float, noise_std: float, kl_weight: float,
    n_samples: int, n_predictions: int, width: int, n: int, seed: int,
) -> SinusoidResult:  # fmt: skip
    """Fit Bayes by Backprop for these values of the sliders, and predict on ``X_GRID``."""
    from bdl_teach.densities import ScaleMixture
    from bdl_teach.methods import bbb

    data = datasets.sinusoid(n, noise_std, seed)
    prior = ScaleMixture(sigma1, sigma2, pi)
    small = n <= SMALL_ROOM[0] and n_samples <= SMALL_ROOM[2]
    fit = bbb.fit(
        data.x, data.y, prior=prior, noise_std=noise_std, hidden_units=(width, width),
        n_samples=n_samples, kl_weight=kl_weight, seed=seed,
        capacity=bbb.Capacity(*(SMALL_ROOM if small else LARGE_ROOM)),
    )  # fmt: skip
    prediction = fit.predict(X_GRID, n_samples=n_predictions)
    cost = free_energy(fit, prior, data, kl_weight)
    return SinusoidResult(data, prior, fit, X_GRID, prediction, cost)


def sample(result: SinusoidResult, progress: Callable[[int, int], None]) -> exact.NutsFit:
    """Sample the true posterior of what ``result`` fitted; ``progress(done, total)`` as it goes."""
    from bdl_teach.methods import exact

    return exact.nuts(
        result.data.x,
        result.data.y,
        prior=result.prior,
        noise_std=result.data.noise_std,
        hidden_units=result.fit.network.hidden_units,
        **CHAINS,
        progress=progress,
    )
