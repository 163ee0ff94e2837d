"""Local reparameterization in a whole network: the lower F, and what it is worth (chapter 5)."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets, densities, metrics
from bdl_teach.experiments.measured import _measure
from bdl_teach.experiments.world import World
from bdl_teach.methods import bbb, local_reparam


def two_estimators(world: World) -> dict[str, float]:
    """F (nats), test log-likelihood (nats a point, among the data and to |x| = 1.5), error, sd."""
    x = np.linspace(-1.5, 1.5, 151)[:, None]
    among = np.abs(x[:, 0]) <= 0.5
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    prior, seed = densities.ScaleMixture(1.5, 0.1, 0.5), world.start_seed
    fits = {
        "shared": bbb.fit(data.x, data.y, prior=prior, seed=seed),
        "local": local_reparam.fit(data.x, data.y, prior=prior, seed=seed),
        "quiet": local_reparam.fit(data.x, data.y, prior=prior, seed=seed, **local_reparam.QUIET),
    }
    figures: dict[str, float] = {}
    for name, fit in fits.items():
        p = fit.predict(x, n_samples=500, seed=world.seed(2))
        log_p = _measure.test_log_likelihood(p, data, x, world.seed(3))
        figures |= {
            f"{name}-F": fit.free_energy,
            f"{name}-among": float(log_p[among].mean()),
            f"{name}-outside": float(log_p[~among].mean()),
            f"{name}-std": float(p.epistemic_std[among].mean()),
            f"{name}-error": float(metrics.rmse(data.truth(x[among])[:, 0], p.mean[among])),
        }
    return figures
