"""PBP that counts its data once: what many epochs leave of its doubt, and of its fit."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets, metrics
from bdl_teach.experiments.world import World
from bdl_teach.methods import pbp

EPOCHS = (40, 400)
X = np.linspace(-0.5, 0.5, 101)[:, None]  # among the data


def sites(world: World) -> dict[str, float]:
    """PBP with 50 units on 32 points, with and without an average site, 40 epochs and 400.

    For each: ``doubt`` (epistemic sd) and ``error`` (rms distance of mean and truth) among the
    data, in units of y.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    figures: dict[str, float] = {}
    for kind in pbp.SITES:
        for epochs in EPOCHS:
            fit = pbp.fit(data.x, data.y, epochs=epochs, sites=kind, seed=world.start_seed)
            p = fit.predict(X)
            figures[f"{kind}-{epochs}-doubt"] = float(p.epistemic_std.mean())
            figures[f"{kind}-{epochs}-error"] = metrics.rmse(data.truth(X)[:, 0], p.mean)
    return figures
