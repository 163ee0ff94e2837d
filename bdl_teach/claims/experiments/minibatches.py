"""Minibatches and their shares of the KL (chapter 3)."""

from __future__ import annotations

from bdl_teach import datasets, densities
from bdl_teach.claims.claim import Claim, Experiment, World, above
from bdl_teach.methods import bbb

PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)


def shares(world: World) -> dict[str, float]:
    """F in nats after 1500 steps: one batch, and 32 with uniform and with geometric shares."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    plans = {"one": (1, "uniform"), "uniform": (32, "uniform"), "geometric": (32, "geometric")}
    figures = {}
    for name, (n_batches, scheme) in plans.items():
        fit = bbb.fit(
            data.x,
            data.y,
            prior=PRIOR,
            n_batches=n_batches,
            kl_scheme=scheme,
            seed=world.start_seed,
        )
        figures[name] = fit.free_energy
    return figures


SHARES = Experiment(
    "minibatch-shares",
    shares,
    (
        Claim(
            "geometric-ends-higher-at-32",
            "With 32 minibatches of one point each, geometric shares of the KL end at a higher "
            "free energy than uniform ones in most worlds.",
            "worlds in which F ends higher with geometric shares",
            "",
            above(0.5),
            lambda f: float(f["geometric"] > f["uniform"]),
        ),
        Claim(
            "minibatches-of-one-end-higher",
            "In the same number of steps, 32 minibatches of one point each end at a higher free "
            "energy than whole batches.",
            "F, 32 minibatches − one",
            "nats",
            above(0.0, share=0.8),
            lambda f: f["uniform"] - f["one"],
        ),
    ),
    seconds=0.2,
)
