"""PBP counts every epoch as new data: what that does to doubt, noise and score (chapter 7)."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets, densities, metrics
from bdl_teach.claims.claim import Experiment, World
from bdl_teach.claims.experiments import _measure
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
    return figures


def _beliefs(name: str, p: Predictive, data: datasets.Regression1D) -> dict[str, float]:
    """Doubt, error and noise among the data."""
    truth = data.truth(X[AMONG])[:, 0]
    return {
        f"{name}-doubt": float(p.epistemic_std[AMONG].mean()),
        f"{name}-error": float(metrics.rmse(truth, p.mean[AMONG])),
        f"{name}-noise": float(p.aleatoric_std[0]),
    }


COUNTING = Experiment(
    "pbp-epochs",
    epochs,
    {
        "pbp-loses-its-doubt": lambda f: f["pbp-400-doubt"] / f["pbp-400-error"],
        "pbp-ten-epochs-fit-better-than-one": lambda f: f["pbp-10-error"] / f["pbp-1-error"],
        "pbp-ten-epochs-are-too-sure": lambda f: f["pbp-10-doubt"] / f["pbp-10-error"],
        "pbp-more-epochs-less-doubt": lambda f: f["pbp-10-doubt"] / f["pbp-1-doubt"],
        "pbp-more-epochs-better-mean": lambda f: f["pbp-400-error"] / f["pbp-10-error"],
        "pbp-takes-misfit-for-noise": lambda f: f["pbp-40-noise"],
        "pbp-noise-comes-down": lambda f: f["pbp-40-noise"] / f["pbp-400-noise"],
        "pbp-40-epochs-lose-among-the-data": lambda f: f["pbp-40-among"] - f["mle-among"],
        "pbp-200-epochs-are-level-among-the-data": lambda f: f["pbp-200-among"] - f["mle-among"],
        "pbp-beats-mle-outside": lambda f: f["pbp-40-outside"] - f["mle-outside"],
        "pbp-fewer-epochs-better-outside": lambda f: f["pbp-40-outside"] - f["pbp-200-outside"],
        "bbb-with-a-wide-prior-beats-pbp": lambda f: f["bbb-3-among"] - f["pbp-40-among"],
        "bbb-with-the-mixture-does-not-beat-pbp-outside": lambda f: float(
            f["bbb-outside"] < f["pbp-40-outside"]
        ),
        "the-prior-decides-among-the-data": lambda f: float(f["bbb-3-among"] > f["bbb-among"]),
    },
    seconds=0.7,
)
