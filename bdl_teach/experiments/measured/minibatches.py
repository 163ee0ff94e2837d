"""Minibatches and their shares of the KL (chapter 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach.experiments.world import World
from bdl_teach.methods import bbb

PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)


PLANS: dict[str, dict[str, Any]] = {
    "one": {},
    "eight-uniform": {"n_batches": 8},
    "eight-geometric": {"n_batches": 8, "kl_scheme": "geometric"},
    "uniform": {"n_batches": 32},
    "geometric": {"n_batches": 32, "kl_scheme": "geometric"},
    "calm-uniform": {"n_batches": 32, "learning_rate": 0.02},
    "calm-geometric": {"n_batches": 32, "learning_rate": 0.02, "kl_scheme": "geometric"},
    "forgotten": {"n_batches": 8, "kl_weight": 8.0},
}


def shares(world: World) -> dict[str, float]:
    """F in nats and the height of the mean after 1500 steps of each plan.

    ``calm`` are those of 32 at a learning rate of 0.02 instead of the usual 0.08.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    x = np.linspace(-0.5, 0.5, 41)[:, None]
    figures = {}
    for name, plan in PLANS.items():
        fit = bbb.fit(data.x, data.y, prior=PRIOR, seed=world.start_seed, **plan)
        figures[name] = fit.free_energy
        figures[f"{name}-peak"] = float(np.abs(fit.predict(x, n_samples=200).mean).max())
    return {**figures, "geometric-higher": float(figures["geometric"] > figures["uniform"])}
