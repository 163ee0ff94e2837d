"""Model choice by the evidence of a linear model, compared with a test set (chapter 1)."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets, features
from bdl_teach._support.checks import Array
from bdl_teach.experiments.measured import _measure
from bdl_teach.experiments.world import World
from bdl_teach.methods import exact

PRIOR_STDS = (0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
_DATA_SETS = 10


def choices(world: World) -> dict[str, float]:
    """Measure evidence and test score of six priors for six bumps on 32 points of the sinusoid.

    ``chosen`` is the test log-likelihood (nats a point, among the data) of the prior that the
    evidence prefers, ``best`` that of the best prior on the test, ``worst`` that of the worst.
    ``another`` is the share of ten more data sets of this world where these two are not the same.
    """
    evidence, test = _scores(world.data_seed, world.seed(2))
    more = [_scores(world.seed(10 + k), world.seed(30 + k)) for k in range(_DATA_SETS)]
    return {
        "chosen": float(test[np.argmax(evidence)]),
        "best": float(test.max()),
        "worst": float(test.min()),
        "another": float(np.mean([np.argmax(e) != np.argmax(t) for e, t in more])),
    }


def _scores(data_seed: int, test_seed: int) -> tuple[Array, Array]:
    """Return the log evidence of each prior, and its test log-likelihood in nats a point."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=data_seed)
    x = np.linspace(-0.5, 0.5, 101)[:, None]
    phi, phi_new = features.bumps(data.x, 6), features.bumps(x, 6)
    evidence, test = [], []
    for prior_std in PRIOR_STDS:
        fit = exact.linear_regression(phi, data.y, prior_std, 1.0)
        evidence.append(fit.log_evidence)
        prediction = fit.predict(phi_new)
        test.append(_measure.test_log_likelihood(prediction, data, x, test_seed).mean())
    return np.array(evidence), np.array(test)
