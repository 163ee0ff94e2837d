"""Bayes by Backprop beside one network of maximum likelihood, on new points (chapter 3)."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.experiments.measured import _measure
from bdl_teach.experiments.world import World
from bdl_teach.methods import bbb, point
from bdl_teach.methods.catalogue import Fitted

N_SETS = 10  # data sets a world, of a share that one data set cannot show
PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)
X = np.linspace(-1, 1, 201)[:, None]
AMONG = np.abs(X[:, 0]) <= 0.5


def scores(world: World) -> dict[str, float]:
    """Test log-likelihood in nats a point, among the data (|x| ≤ ½) and outside (to |x| = 1)."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    seed = world.start_seed
    fits: dict[str, Fitted] = {
        "mle": point.fit(data.x, data.y, seed=seed),
        "bbb": bbb.fit(data.x, data.y, prior=PRIOR, seed=seed),
    }
    figures = {}
    for name, fit in fits.items():
        log_p = _score(fit, data, world)
        figures[f"{name}-among"] = float(log_p[AMONG].mean())
        figures[f"{name}-outside"] = float(log_p[~AMONG].mean())
    return figures


def _score(fit: Fitted, data: datasets.Regression1D, world: World) -> Array:
    """Log density of new points at each X ``[m]``, in nats."""
    prediction = fit.predict(X, n_samples=500, seed=world.seed(2))
    return _measure.test_log_likelihood(prediction, data, X, world.seed(3))


def leads(world: World) -> dict[str, float]:
    """Who scores higher among the data, on ten data sets.

    ``a-little-lower`` is the share of them on which BBB is less than ½ nat a point below one
    network, ``higher-once-trained-on`` that on which 4000 more steps raise its score;
    ``cold-lead`` is how many nats a point a tenth of the KL brings, on average.
    """
    network, bayes, on, cold = np.array([_among(one) for one in world.parts(N_SETS)]).T
    lead = bayes - network
    return {
        "a-little-lower": float(((lead > -0.5) & (lead < 0.0)).mean()),
        "higher-once-trained-on": float((on > bayes).mean()),
        "cold-lead": float((cold - bayes).mean()),
    }


def _among(world: World) -> list[float]:
    """Score among the data of one network, of BBB, of BBB trained on, and of a tenth of the KL."""
    data, seed = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed), world.start_seed
    bayes = bbb.fit(data.x, data.y, prior=PRIOR, seed=seed)
    fits: list[Fitted] = [
        point.fit(data.x, data.y, seed=seed),
        bayes,
        bayes.refined(4000),
        bbb.fit(data.x, data.y, prior=PRIOR, kl_weight=0.1, seed=seed),
    ]
    return [float(_score(fit, data, world)[AMONG].mean()) for fit in fits]
