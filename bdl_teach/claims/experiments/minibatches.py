"""Minibatches and their shares of the KL (chapter 3)."""

from __future__ import annotations

from typing import Any

from bdl_teach import datasets, densities
from bdl_teach.claims.claim import Claim, Experiment, World, above
from bdl_teach.methods import bbb

PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)


def shares(world: World) -> dict[str, float]:
    """F in nats after 1500 steps: one batch, and 32 with uniform and with geometric shares.

    ``calm`` are those of 32 at a learning rate of 0.02 instead of the usual 0.08.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    plans: dict[str, dict[str, Any]] = {
        "one": {"n_batches": 1},
        "uniform": {"n_batches": 32},
        "calm-uniform": {"n_batches": 32, "learning_rate": 0.02},
        "calm-geometric": {"n_batches": 32, "learning_rate": 0.02, "kl_scheme": "geometric"},
    }
    return {
        name: bbb.fit(data.x, data.y, prior=PRIOR, seed=world.start_seed, **plan).free_energy
        for name, plan in plans.items()
    }


SHARES = Experiment(
    "minibatch-shares",
    shares,
    (
        Claim(
            "geometric-ends-higher-at-32",
            "With 32 minibatches of one point each and calm steps (learning rate 0.02), geometric "
            "shares of the KL end at a higher free energy than uniform ones.",
            "F at rate 0.02, geometric − uniform",
            "nats",
            above(0.0, share=0.7),
            lambda f: f["calm-geometric"] - f["calm-uniform"],
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
    ),
    seconds=0.3,
)
