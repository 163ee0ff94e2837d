"""Minibatches and their shares of the KL (chapter 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach.claims.claim import Claim, Experiment, World, above, below, within
from bdl_teach.methods import bbb

PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)


PLANS: dict[str, dict[str, Any]] = {
    "one": {},
    "eight-uniform": {"n_batches": 8},
    "eight-geometric": {"n_batches": 8, "kl_scheme": "geometric"},
    "uniform": {"n_batches": 32},
    "geometric": {"n_batches": 32, "kl_scheme": "geometric"},
    "calm-uniform": {"n_batches": 32, "learning_rate": 0.02},
    "calm-geometric": {"n_batches": 32, "learning_rate": 0.02, "kl_scheme": "geometric"},
    "forgotten": {"n_batches": 8, "kl_weight": 8.0},
}


def shares(world: World) -> dict[str, float]:
    """F in nats and the height of the mean after 1500 steps of each plan.

    ``calm`` are those of 32 at a learning rate of 0.02 instead of the usual 0.08.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    x = np.linspace(-0.5, 0.5, 41)[:, None]
    figures = {}
    for name, plan in PLANS.items():
        fit = bbb.fit(data.x, data.y, prior=PRIOR, seed=world.start_seed, **plan)
        figures[name] = fit.free_energy
        figures[f"{name}-peak"] = float(np.abs(fit.predict(x, n_samples=200).mean).max())
    return figures


SHARES = Experiment(
    "minibatch-shares",
    shares,
    (
        Claim(
            "shares-hardly-matter-at-eight",
            "With eight minibatches geometric shares of the KL end at the same free energy as "
            "uniform ones, give or take 40 nats on average.",
            "F, geometric − uniform, 8 minibatches",
            "nats",
            within(-40.0, 40.0),
            lambda f: f["eight-geometric"] - f["eight-uniform"],
        ),
        Claim(
            "geometric-ends-higher-at-32",
            "With 32 minibatches of one point each and calm steps (learning rate 0.02), geometric "
            "shares of the KL end at a higher free energy than uniform ones.",
            "F at rate 0.02, geometric − uniform",
            "nats",
            above(0.0, share=0.5),
            lambda f: f["calm-geometric"] - f["calm-uniform"],
        ),
        Claim(
            "either-scheme-may-end-higher-at-32",
            "At the usual rate of 0.08, with 32 minibatches of one point each, it changes from "
            "world to world which shares end at the higher free energy, geometric or uniform.",
            "worlds in which F ends higher with geometric shares",
            "",
            within(0.0, 1.0),
            lambda f: float(f["geometric"] > f["uniform"]),
        ),
        Claim(
            "eight-minibatches-cost-little",
            "In the same number of steps, eight minibatches end less than 40 nats above whole "
            "batches on average.",
            "F, 8 minibatches − one",
            "nats",
            below(40.0),
            lambda f: f["eight-uniform"] - f["one"],
        ),
        Claim(
            "minibatches-of-one-end-higher",
            "In the same number of steps at the same rate, 32 minibatches of one point each end "
            "at a free energy that is higher by more than a hundred nats than that of whole "
            "batches.",
            "F, 32 minibatches − one",
            "nats",
            above(100.0, share=0.8),
            lambda f: f["uniform"] - f["one"],
        ),
        Claim(
            "whole-kl-in-each-batch-flattens-the-mean",
            "The whole KL in each of eight minibatches flattens the mean to less than 0.9 of its "
            "height.",
            "largest |mean| among the data, KL weight 8 over 1, 8 minibatches",
            "",
            below(0.9, share=0.8),
            lambda f: f["forgotten-peak"] / f["eight-uniform-peak"],
        ),
    ),
    seconds=0.3,
)
