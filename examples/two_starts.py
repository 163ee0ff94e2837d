"""Measure how much two networks disagree that differ only in their start (chapter 3)."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets
from bdl_teach.claims import World
from bdl_teach.methods import point


def two_starts(world: World) -> dict[str, float]:
    """Return the rms distance of two networks, within the range of the data and outside it."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    x = np.linspace(-1, 1, 201)[:, None]
    seeds = world.start_seed, world.seed(2)
    one, other = (point.fit(data.x, data.y, seed=seed).predict(x).mean for seed in seeds)
    within = np.abs(x[:, 0]) <= 0.5
    square = (one - other) ** 2
    return {
        "within": float(np.sqrt(square[within].mean())),
        "outside": float(np.sqrt(square[~within].mean())),
    }
