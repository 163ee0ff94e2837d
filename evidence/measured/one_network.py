"""Bayes by Backprop compared with one network, other estimators, minibatches (chapters 3, 5)."""

from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import bbb, local_reparam, point
from bdl_teach.methods.catalogue import Fitted
from evidence.measured._measure import X, score

N_SETS = 10  # data sets a world, for shares that one data set cannot show
PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)
FAR = np.linspace(-1.5, 1.5, 151)[:, None]
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


def scores(world: World) -> dict[str, float]:
    """Return test log-likelihoods (nats a point) of one network and BBB, for |x| ≤ ½ and > ½."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    mle = point.fit(data.x, data.y, seed=world.start_seed)
    bayes = bbb.fit(data.x, data.y, prior=PRIOR, seed=world.start_seed)
    return {**_score("mle", mle, data, world), **_score("bbb", bayes, data, world)}


def _score(
    name: str, fit: Fitted, data: datasets.Regression1D, world: World, x: Array = X
) -> dict[str, float]:
    prediction = fit.predict(x, n_samples=500, seed=world.seed(2))
    return score(name, prediction, data, world.seed(3), x)


def leads(world: World) -> dict[str, float]:
    """Compare the test scores of BBB and of one network for |x| ≤ ½, over ten data sets."""
    network, bayes, on, cold = np.array([_among(one) for one in world.parts(N_SETS)]).T
    lead = bayes - network
    return {
        "a-little-lower": float(((lead > -0.5) & (lead < 0.0)).mean()),
        "higher-once-trained-on": float((on > bayes).mean()),
        "cold-lead": float((cold - bayes).mean()),
    }


def _among(world: World) -> list[float]:
    """Return scores on |x| ≤ ½: one network, BBB, BBB trained further, BBB with KL weight 0.1."""
    data, seed = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed), world.start_seed
    bayes = bbb.fit(data.x, data.y, prior=PRIOR, seed=seed)
    fits: list[Fitted] = [
        point.fit(data.x, data.y, seed=seed),
        bayes,
        bayes.refined(4000),
        bbb.fit(data.x, data.y, prior=PRIOR, kl_weight=0.1, seed=seed),
    ]
    return [_score("its", fit, data, world)["its-among"] for fit in fits]


def two_estimators(world: World) -> dict[str, float]:
    """Return F (nats) and test scores (nats a point) for three estimators of the gradient.

    ``shared`` is Bayes by Backprop, ``local`` local reparameterization, ``quiet`` its quiet form.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    given: dict[str, Any] = {"prior": PRIOR, "seed": world.start_seed}
    fits = {
        "shared": bbb.fit(data.x, data.y, **given),
        "local": local_reparam.fit(data.x, data.y, **given),
        "quiet": local_reparam.fit(data.x, data.y, **given, **local_reparam.QUIET),
    }
    figures: dict[str, float] = {}
    for name, fit in fits.items():
        figures |= _score(name, fit, data, world, FAR)
        figures[f"{name}-F"] = fit.free_energy
    return figures


def shares(world: World) -> dict[str, float]:
    """Return F in nats, and the largest |predicted mean| for |x| ≤ ½, of each fit of ``PLANS``."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    x = np.linspace(-0.5, 0.5, 41)[:, None]
    figures = {}
    for name, plan in PLANS.items():
        fit = bbb.fit(data.x, data.y, prior=PRIOR, seed=world.start_seed, **plan)
        figures[name] = fit.free_energy
        figures[f"{name}-peak"] = float(np.abs(fit.predict(x, n_samples=200).mean).max())
    return {**figures, "geometric-higher": float(figures["geometric"] > figures["uniform"])}
