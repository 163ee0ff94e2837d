"""Local reparameterization in a whole network: the lower F, and what it is worth (chapter 5)."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets, densities, metrics
from bdl_teach.claims.claim import Claim, Experiment, World, below, within
from bdl_teach.claims.experiments import _measure
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


ESTIMATORS = Experiment(
    "local-draws",
    two_estimators,
    (
        Claim(
            "local-draws-end-lower",
            "At the same learning rate and in the same number of steps, local draws end at a lower "
            "free energy than one shared draw of the weights.",
            "F, local − shared",
            "nats",
            below(0.0, share=0.6),
            lambda f: f["local-F"] - f["shared-F"],
        ),
        Claim(
            "quiet-draws-end-lowest",
            "In the same number of steps, at the rate that its calm gradients bear, the quiet "
            "estimator ends at a lower free energy than local draws.",
            "F, quiet − local",
            "nats",
            below(-5.0, share=0.6),
            lambda f: f["quiet-F"] - f["local-F"],
        ),
        Claim(
            "a-lower-f-is-worth-little-among-the-data",
            "Among the data, the lower free energy of local draws is worth less than two fifths of "
            "a nat a point.",
            "test log-likelihood among the data, local − shared",
            "nats a point",
            within(-0.4, 0.4),
            lambda f: f["local-among"] - f["shared-among"],
        ),
    ),
    seconds=0.3,
)
