"""Empirical Bayes on the sinusoid: what it prunes, which σ_p it learns, its score (chapter 6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach.experiments.measured import _measure
from bdl_teach.experiments.world import World
from bdl_teach.methods import empirical_bayes, local_reparam, point

WEAK: dict[str, Any] = {"initial_gamma": 1.0}  # |μ| is about σ
STEPS_OF_GAMMA: dict[str, Any] = {
    **empirical_bayes.SOURCE,
    "initial_gamma": 20.0,
    "initial_rho": -2.0,
}  # from weights that are strong enough not to give up at once
SWEEP = np.logspace(-0.5, 1.5, 9)  # from σ_p to σ_p by a factor of 1.78


def learnt_priors(world: World) -> dict[str, float]:
    """F (nats), share of weights switched off, learnt σ_p, test log-likelihood (nats a point).

    ``each`` weight has a prior of its own, ``all`` share one, ``weak`` is the first from weak
    weights; ``-gamma`` has steps of γ, and ``all-mu`` steps of μ with all else as ``all-gamma``;
    ``mle`` is one network. ``swept`` is the σ_p, and its F, at which a prior set by hand gives the
    lowest F; ``again`` is set by hand, too, to the σ_p that ``all`` has learnt. ``level`` is
    whether two scores among the data are within a quarter of a nat.
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
    rival = point.fit(data.x, data.y, **options)
    *swept, again = (
        local_reparam.fit(
            data.x,
            data.y,
            prior=densities.Gaussian(float(std)),
            **local_reparam.QUIET,
            **options,
        )
        for std in (*SWEEP, figures["all-std"])
    )
    lowest = min(range(len(SWEEP)), key=lambda i: swept[i].free_energy)
    f = _scores({**fits, "mle": rival}, data, world)
    return {
        **figures,
        **f,
        "each-level": float(abs(f["each-among"] - f["all-among"]) < 0.25),
        "all-level": float(abs(f["all-among"] - f["mle-among"]) < 0.25),
        "learnt-outside": min(f["each-outside"], f["all-outside"]),
        "each-behind": float(f["each-outside"] < f["all-outside"]),
        "swept-F": swept[lowest].free_energy,
        "swept-std": float(SWEEP[lowest]),
        "again-F": again.free_energy,
    }


def _scores(
    fits: Mapping[str, empirical_bayes.Fit | point.Fit], data: datasets.Regression1D, world: World
) -> dict[str, float]:
    """Test log-likelihood of each, among the data and outside (to |x| = 1)."""
    x = np.linspace(-1, 1, 121)[:, None]
    among = np.abs(x[:, 0]) <= 0.5
    figures = {}
    for name, fit in fits.items():
        log_p = _measure.test_log_likelihood(fit.predict(x), data, x, world.seed(2))
        figures[f"{name}-among"] = float(log_p[among].mean())
        figures[f"{name}-outside"] = float(log_p[~among].mean())
    return figures
