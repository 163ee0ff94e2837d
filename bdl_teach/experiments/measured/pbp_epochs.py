"""PBP counts every epoch as new data: what that does to doubt, noise and score (chapter 7)."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets, densities, metrics
from bdl_teach.experiments.measured import _measure
from bdl_teach.experiments.world import World
from bdl_teach.methods import bbb, pbp, point
from bdl_teach.predictive import Predictive

EPOCHS = (1, 10, 40, 200, 400)
X = np.linspace(-1, 1, 201)[:, None]
AMONG = np.abs(X[:, 0]) <= 0.5


def epochs(world: World) -> dict[str, float]:
    """PBP with 50 units after 1 to 400 epochs, beside one network and BBB, which know the noise.

    ``bbb`` has the mixture of chapter 3 as its prior, ``bbb-3`` N(0, 3²).

    For each: ``among`` and ``outside`` (to |x| = 1), test log-likelihood in nats a point; among
    the data ``doubt`` (epistemic sd), ``error`` (rms distance of mean and truth) and ``noise``
    (the sd it believes in; the true one is 1), in units of y.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    seed = world.start_seed
    fits: dict[str, pbp.Fit | point.Fit | bbb.Fit] = {
        f"pbp-{n}": pbp.fit(data.x, data.y, epochs=n, seed=seed) for n in EPOCHS
    }
    fits["mle"] = point.fit(data.x, data.y, hidden_units=(50,), seed=seed)
    for name, prior in (("bbb", densities.ScaleMixture()), ("bbb-3", densities.Gaussian(3.0))):
        fits[name] = bbb.fit(data.x, data.y, hidden_units=(50,), prior=prior, seed=seed)
    figures: dict[str, float] = {}
    for name, fit in fits.items():
        prediction = fit.predict(X)
        log_p = _measure.test_log_likelihood(prediction, data, X, world.seed(2))
        figures |= {
            f"{name}-among": float(log_p[AMONG].mean()),
            f"{name}-outside": float(log_p[~AMONG].mean()),
            **_beliefs(name, prediction, data),
        }
    return {
        **figures,
        "bbb-behind": float(figures["bbb-outside"] < figures["pbp-40-outside"]),
        "bbb-3-ahead": float(figures["bbb-3-among"] > figures["bbb-among"]),
    }


def _beliefs(name: str, p: Predictive, data: datasets.Regression1D) -> dict[str, float]:
    """Doubt, error and noise among the data."""
    truth = data.truth(X[AMONG])[:, 0]
    return {
        f"{name}-doubt": float(p.epistemic_std[AMONG].mean()),
        f"{name}-error": float(metrics.rmse(truth, p.mean[AMONG])),
        f"{name}-noise": float(p.aleatoric_std[0]),
    }
