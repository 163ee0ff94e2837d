"""Measure how much two networks disagree that differ only in their start (chapter 3)."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets
from bdl_teach.claims import World
from bdl_teach.methods import point
from bdl_teach.predictive import Predictive
from evidence.claim import Trial

X = np.linspace(-1, 1, 201)[:, None]


def two_networks(world: World) -> list[Predictive]:
    """Fit a data set from two starts; return the predictions on X."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    seeds = world.start_seed, world.seed(2)
    return [point.fit(data.x, data.y, seed=seed).predict(X) for seed in seeds]


def distances(predictions: list[Predictive]) -> dict[str, float]:
    """Return the rms distance of the two, within the range of the data and outside it."""
    one, other = predictions
    within, square = np.abs(X[:, 0]) <= 0.5, (one.mean - other.mean) ** 2
    return {
        "within": float(np.sqrt(square[within].mean())),
        "outside": float(np.sqrt(square[~within].mean())),
    }


two_starts = Trial(two_networks, distances)
