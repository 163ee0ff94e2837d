"""Bayes by Backprop beside one network of maximum likelihood, on new points (chapter 3)."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.claims.claim import Claim, Experiment, World, above
from bdl_teach.claims.experiments import _measure
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
    shared = bbb.fit(data.x, data.y, prior=PRIOR, seed=seed)
    fits: dict[str, Fitted] = {
        "mle": point.fit(data.x, data.y, seed=seed),
        "bbb": shared,
        "on": shared.refined(4000),
        "cold": bbb.fit(data.x, data.y, prior=PRIOR, kl_weight=0.1, seed=seed),
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


def lower(world: World) -> dict[str, float]:
    """Share of ten data sets on which BBB scores less than ½ nat a point below one network."""
    leads = []
    for one in world.parts(N_SETS):
        data = datasets.sinusoid(n=32, noise_std=1.0, seed=one.data_seed)
        bayes = bbb.fit(data.x, data.y, prior=PRIOR, seed=one.start_seed)
        network = point.fit(data.x, data.y, seed=one.start_seed)
        mine, other = (_score(fit, data, one)[AMONG].mean() for fit in (bayes, network))
        leads.append(mine - other)
    return {"a-little-lower": float(np.mean([-0.5 < lead < 0.0 for lead in leads]))}


SCORES = Experiment(
    "one-network",
    scores,
    (
        Claim(
            "bbb-beats-mle-outside",
            "Outside the data, Bayes by Backprop gives new points a far higher density than one "
            "network of maximum likelihood: on average by more than three nats a point.",
            "test log-likelihood outside, BBB − MLE",
            "nats a point",
            above(3.0, share=0.6),
            lambda f: f["bbb-outside"] - f["mle-outside"],
        ),
        Claim(
            "trained-on-bbb-scores-higher-among-the-data",
            "In most worlds Bayes by Backprop scores higher among the data once it is trained on.",
            "worlds in which that is so",
            "",
            above(0.5),
            lambda f: float(f["on-among"] > f["bbb-among"]),
        ),
        Claim(
            "a-tenth-of-the-kl-scores-higher-among-the-data",
            "Among the data, a tenth of the KL scores higher than the whole of it.",
            "test log-likelihood among the data, KL weight 0.1 − 1",
            "nats a point",
            above(0.0, share=0.6),
            lambda f: f["cold-among"] - f["bbb-among"],
        ),
    ),
    seconds=0.2,
)
LOWER = Experiment(
    "one-network-ten-sets",
    lower,
    (
        Claim(
            "bbb-scores-lower-than-mle-among-the-data",
            "On most data sets Bayes by Backprop at its defaults scores lower among the data than "
            "one network of maximum likelihood, by less than half a nat a point.",
            "share of ten data sets on which that is so",
            "",
            above(0.5),
            lambda f: f["a-little-lower"],
        ),
    ),
    seconds=1.0,
)
