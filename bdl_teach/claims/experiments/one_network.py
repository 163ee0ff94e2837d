"""Bayes by Backprop beside one network of maximum likelihood, on new points (chapter 3)."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach.claims.claim import Claim, Experiment, World, above
from bdl_teach.claims.experiments import _measure
from bdl_teach.methods import bbb, point


def scores(world: World) -> dict[str, float]:
    """Test log-likelihood in nats a point, among the data (|x| ≤ ½) and outside (to |x| = 1)."""
    x = np.linspace(-1, 1, 201)[:, None]
    among = np.abs(x[:, 0]) <= 0.5
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    prior, seed = densities.ScaleMixture(1.5, 0.1, 0.5), world.start_seed
    shared = bbb.fit(data.x, data.y, prior=prior, seed=seed)
    fits: dict[str, bbb.Fit | point.Fit] = {
        "mle": point.fit(data.x, data.y, seed=seed),
        "bbb": shared,
        "on": shared.refined(4000),
        "cold": bbb.fit(data.x, data.y, prior=prior, kl_weight=0.1, seed=seed),
    }
    figures = {}
    for name, fit in fits.items():
        prediction = fit.predict(x, n_samples=500, seed=world.seed(2))
        log_p = _measure.test_log_likelihood(prediction, data, x, world.seed(3))
        figures[f"{name}-among"] = float(log_p[among].mean())
        figures[f"{name}-outside"] = float(log_p[~among].mean())
    return figures


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
            "bbb-scores-lower-than-mle-among-the-data",
            "In most worlds Bayes by Backprop at its defaults scores lower among the data than one "
            "network of maximum likelihood, by less than half a nat a point.",
            "worlds in which that is so",
            "",
            above(0.5),
            lambda f: float(-0.5 < f["bbb-among"] - f["mle-among"] < 0.0),
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
