"""All methods on one network, beside NUTS and beside each other (chapter 10)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from bdl_teach import calibration, datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.claims.claim import Claim, Experiment, World, above, below, within
from bdl_teach.claims.experiments import _measure
from bdl_teach.methods import bbb, empirical_bayes, exact, local_reparam, pbp, point
from bdl_teach.methods.catalogue import Fitted
from bdl_teach.predictive import Predictive

GAP = (0.1, 0.4)  # nobody measured here
X = np.linspace(-0.7, 0.7, 141)[:, None]
PERFECT = -0.5 * np.log(2 * np.pi * np.e)  # the best log score to expect, with noise of sd 1
METHODS = ("mle", "map", "bbb", "local", "eb", "pbp")
CHAINS = {"n_chains": 4, "n_samples": 400, "n_warmup": 300}


def regions() -> dict[str, Array]:
    """Masks ``[m]`` of X: among the data, in the gap, outside."""
    x = X[:, 0]
    gap = (x > GAP[0] + 1e-9) & (x < GAP[1] - 1e-9)
    outside = np.abs(x) > 0.5 + 1e-9
    return {"data": ~gap & ~outside, "gap": gap, "outside": outside}


def problem(world: World) -> datasets.Regression1D:
    """The sinusoid with a gap: 32 points, noise of sd 1."""
    return datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed, gap=GAP)


def fitted(name: str, data: datasets.Regression1D, seed: int) -> Fitted:
    """A method's fit of 20 hidden units under the prior N(0, 3²)."""
    given = {"noise_std": 1.0, "hidden_units": (20,), "seed": seed}
    prior = densities.Gaussian(3.0)
    fits = {
        "mle": partial(point.fit, **given),
        "map": partial(point.fit, prior=prior, **given),
        "bbb": partial(bbb.fit, prior=prior, **given),
        "local": partial(local_reparam.fit, prior=prior, **given, **local_reparam.QUIET),
        "eb": partial(empirical_bayes.fit, tie="all", **given),
        "pbp": partial(pbp.fit, hidden_units=(20,), epochs=100, seed=seed),
        "nuts": partial(exact.nuts, prior=prior, **given, **CHAINS),
    }
    found: Fitted = fits[name](data.x, data.y)
    return found


def scored(prediction: Predictive, data: datasets.Regression1D, seed: int) -> dict[str, float]:
    """What a predictive on X is worth in each region.

    ``lost`` are nats a new point below the best that can be expected; ``covered`` the share of
    new points in its 95 % interval; ``error`` the rms distance of its mean from the truth; ``sd``
    the mean epistemic standard deviation.
    """
    truth = data.truth(X)[:, 0]
    log_p = _measure.test_log_likelihood(prediction, data, X, seed)
    inside = calibration.expected_coverage(truth, 1.0, *prediction.interval(0.95))
    figures = {}
    for region, mask in regions().items():
        figures[f"{region}-lost"] = float(PERFECT - log_p[mask].mean())
        figures[f"{region}-covered"] = float(inside[mask].mean())
        figures[f"{region}-error"] = float(np.sqrt(np.mean((prediction.mean - truth)[mask] ** 2)))
        figures[f"{region}-sd"] = float(prediction.epistemic_std[mask].mean())
    return figures


def predictives(world: World, names: Sequence[str] = METHODS) -> dict[str, Predictive]:
    """What methods say on X of the problem of one world, by method."""
    data, seed = problem(world), world.seed(2)
    fits = {name: fitted(name, data, world.start_seed) for name in names}
    return {name: fit.predict(X, n_samples=500, seed=seed) for name, fit in fits.items()}


def compared(world: World) -> dict[str, float]:
    """Every method but NUTS on the problem of one world: what ``scored`` says, by method."""
    return _scores(predictives(world), world)


def _scores(told: Mapping[str, Predictive], world: World) -> dict[str, float]:
    data, figures = problem(world), {}
    for name, prediction in told.items():
        each = scored(prediction, data, world.seed(3))
        figures |= {f"{name}-{what}": value for what, value in each.items()}
        figures[f"{name}-noise"] = float(prediction.aleatoric_std.mean())
    return figures


def beside_nuts(world: World) -> dict[str, float]:
    """The same with NUTS, and how far from it the others and a second run of it are (eq. 10.1)."""
    told = predictives(world, (*METHODS, "nuts"))
    again = fitted("nuts", problem(world), world.seed(4)).predict(X)
    figures = _scores(told, world)
    for region, mask in regions().items():
        for name, prediction in {**told, "again": again}.items():
            figures[f"{name}-{region}"] = calibration.distance(prediction, told["nuts"], mask)
    return figures
