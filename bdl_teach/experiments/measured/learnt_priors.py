"""Empirical Bayes on the sinusoid: pruning, the learnt σ_p, and the score (chapter 6)."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach.experiments.measured._measure import score
from bdl_teach.experiments.world import World
from bdl_teach.methods import empirical_bayes, local_reparam, point

WEAK: dict[str, Any] = {"initial_gamma": 1.0}  # |μ| is about σ
# From weights that are strong enough not to give up at once.
STEPS_OF_GAMMA = {**empirical_bayes.SOURCE, "initial_gamma": 20.0, "initial_rho": -2.0}
X = np.linspace(-1, 1, 121)[:, None]
SWEEP = np.logspace(-0.5, 1.5, 9)  # from σ_p to σ_p by a factor of 1.78


def learnt_priors(world: World) -> dict[str, float]:
    """Measure F (nats), share of weights off, learnt σ_p, test log-likelihood (nats a point).

    ``each``: one prior a weight; ``all``: one shared prior; ``weak``: ``each`` from weak starting
    weights; ``-gamma``: steps of γ; ``all-mu``: ``all-gamma`` with steps of μ; ``mle``: one
    network. ``swept`` is the σ_p, and its F, at which a prior set by hand gives the lowest F;
    ``again`` is a prior set by hand to the σ_p that ``all`` has learnt. ``level`` is whether two
    scores among the data are within a quarter of a nat.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    options: dict[str, Any] = {"hidden_units": (20,), "seed": world.start_seed}
    plans: dict[str, dict[str, Any]] = {
        "each": empirical_bayes.QUIET,
        "weak": {**empirical_bayes.QUIET, **WEAK},
        "all": {"tie": "all", **empirical_bayes.QUIET},
        "each-gamma": STEPS_OF_GAMMA,
        "weak-gamma": {**STEPS_OF_GAMMA, **WEAK},
        "all-gamma": {"tie": "all", **STEPS_OF_GAMMA},
        "all-mu": {"tie": "all", **STEPS_OF_GAMMA, "coordinates": "mu"},
    }
    fits = {
        name: empirical_bayes.fit(data.x, data.y, **plan, **options) for name, plan in plans.items()
    }
    figures = {}
    for name, fit in fits.items():
        figures[f"{name}-F"] = fit.free_energy
        figures[f"{name}-off"] = float(fit.pruning().fraction)
        figures[f"{name}-std"] = float(fit.prior_std[0])
    *swept, again = (
        local_reparam.fit(
            data.x, data.y, prior=densities.Gaussian(float(std)), **local_reparam.QUIET, **options
        )
        for std in (*SWEEP, figures["all-std"])
    )
    lowest = min(range(len(SWEEP)), key=lambda i: swept[i].free_energy)
    f, mle = figures, point.fit(data.x, data.y, **options)
    for name, p in {
        **{k: fit.predict(X) for k, fit in fits.items()},
        "mle": mle.predict(X),
    }.items():
        f |= score(name, p, data, world.seed(2), X)
    return {
        **f,
        "each-level": float(abs(f["each-among"] - f["all-among"]) < 0.25),
        "all-level": float(abs(f["all-among"] - f["mle-among"]) < 0.25),
        "learnt-outside": min(f["each-outside"], f["all-outside"]),
        "each-behind": float(f["each-outside"] < f["all-outside"]),
        "swept-F": swept[lowest].free_energy,
        "swept-std": float(SWEEP[lowest]),
        "again-F": again.free_energy,
    }
