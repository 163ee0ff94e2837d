"""Bayes by Backprop compared with one network, other estimators, minibatches (chapters 3, 5)."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import bbb, local_reparam, point
from evidence.claim import Trial
from evidence.measured._measure import Found, X, figures, halves, mean, new_targets, predicted

N_SETS = 10  # data sets a world, for shares that one data set cannot show
PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)
FAR = np.linspace(-1.5, 1.5, 151)[:, None]
WITHIN = np.linspace(-0.5, 0.5, 41)[:, None]
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


def _data(world: World) -> datasets.Regression1D:
    return datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)


def _judged(
    fits: Mapping[str, Any], world: World, x: Array = X, energies: Collection[str] = ()
) -> Found:
    new, seed = new_targets(x, world.seed(3)), world.seed(2)
    return predicted(fits, x, halves(x), new, energies=energies, n_samples=500, seed=seed)


def mle_and_bbb(world: World) -> Found:
    """Fit one network (``mle``) and Bayes by Backprop (``bbb``)."""
    data, seed = _data(world), world.start_seed
    mle = point.fit(data.x, data.y, seed=seed)
    return _judged({"mle": mle, "bbb": bbb.fit(data.x, data.y, prior=PRIOR, seed=seed)}, world)


def ten_sets(world: World) -> list[Found]:
    """Fit one network and BBB to ten data sets; train BBB ``on``; fit it with KL weight 0.1."""
    found = []
    for one in world.parts(N_SETS):
        data, seed = _data(one), one.start_seed
        bayes = bbb.fit(data.x, data.y, prior=PRIOR, seed=seed)
        fits = {
            "mle": point.fit(data.x, data.y, seed=seed),
            "bbb": bayes,
            "on": bayes.refined(4000),
            "cold": bbb.fit(data.x, data.y, prior=PRIOR, kl_weight=0.1, seed=seed),
        }
        found.append(_judged(fits, one))
    return found


def leads_among(sets: Sequence[Found]) -> dict[str, float]:
    """Compare the test scores (nats a point) of :func:`ten_sets` for |x| ≤ ½."""
    each = [figures(found) for found in sets]
    leads = [f["bbb-among-score"] - f["mle-among-score"] for f in each]
    return {
        "a-little-lower": mean(-0.5 < lead < 0.0 for lead in leads),
        "higher-once-trained-on": mean(f["on-among-score"] > f["bbb-among-score"] for f in each),
        "cold-lead": mean(f["cold-among-score"] - f["bbb-among-score"] for f in each),
    }


def three_estimators(world: World) -> Found:
    """Fit with three estimators of the gradient.

    ``shared`` is Bayes by Backprop, ``local`` local reparameterization, ``quiet`` its quiet form.
    """
    data = _data(world)
    given: dict[str, Any] = {"prior": PRIOR, "seed": world.start_seed}
    fits = {
        "shared": bbb.fit(data.x, data.y, **given),
        "local": local_reparam.fit(data.x, data.y, **given),
        "quiet": local_reparam.fit(data.x, data.y, **given, **local_reparam.QUIET),
    }
    return _judged(fits, world, FAR, fits)


def by_plan(world: World) -> Found:
    """Fit by each of ``PLANS``."""
    data = _data(world)
    given: dict[str, Any] = {"prior": PRIOR, "seed": world.start_seed}
    fits = {name: bbb.fit(data.x, data.y, **given, **plan) for name, plan in PLANS.items()}
    return predicted(fits, WITHIN, {}, energies=PLANS, n_samples=200)


def with_peaks(found: Found) -> dict[str, float]:
    """Return the figures of each fit, and its largest |predicted mean| as ``-peak``."""
    f = figures(found)
    peaks = {f"{name}-peak": np.abs(one.prediction.mean).max() for name, one in found.items()}
    return {**f, **peaks, "geometric-higher": float(f["geometric-F"] > f["uniform-F"])}


scores = Trial(mle_and_bbb, figures)
leads = Trial(ten_sets, leads_among)
two_estimators = Trial(three_estimators, figures)
shares = Trial(by_plan, with_peaks)
