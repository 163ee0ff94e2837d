"""Six methods of the course on one network, beside each other (chapter 10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from bdl_teach import calibration, datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.claims.claim import Experiment, Figures, World
from bdl_teach.claims.experiments import _measure
from bdl_teach.methods import (
    bbb,
    empirical_bayes,
    ensemble,
    infinite_width,
    laplace,
    local_reparam,
    low_rank,
    mc_dropout,
    pbp,
    point,
    sgmcmc,
)
from bdl_teach.methods.catalogue import Fitted
from bdl_teach.predictive import Predictive
from bdl_teach.problems import MAX_WIDTH, Problem, live_fits

GAP = (0.1, 0.4)  # nobody measured here
X = np.linspace(-0.7, 0.7, 141)[:, None]
PERFECT = -0.5 * np.log(2 * np.pi * np.e)  # the best log score to expect, with noise of sd 1
METHODS = ("mle", "map", "bbb", "local", "eb", "pbp")
ROOM = bbb.Capacity(live_fits.OWN_ROOM, (MAX_WIDTH,), 1)
CHAINS: dict[str, Any] = {"n_chains": 4, "n_samples": 400, "n_warmup": 300}


def regions() -> dict[str, Array]:
    """Give the masks ``[m]`` of X: among the data, in the gap, outside."""
    x = X[:, 0]
    gap = (x > GAP[0] + 1e-9) & (x < GAP[1] - 1e-9)
    outside = np.abs(x) > 0.5 + 1e-9
    return {"data": ~gap & ~outside, "gap": gap, "outside": outside}


def problem(world: World) -> datasets.Regression1D:
    """The sinusoid with a gap: 32 points, noise of sd 1."""
    return datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed, gap=GAP)


def fitted(
    name: str, data: datasets.Regression1D, seed: int, room: bbb.Capacity | None = ROOM
) -> Fitted:
    """A method's fit of 20 hidden units under the prior N(0, 3²).

    Args:
        name: The method.
        data: The points.
        seed: Of the start.
        room: Sizes that it is compiled for, where it takes some: the explorer's.
    """
    prior, net = densities.Gaussian(3.0), {"noise_std": 1.0, "hidden_units": (20,)}
    exactly: dict[str, Any] = {**net, "prior": prior}
    free: dict[str, Any] = {**net, "seed": seed, "capacity": room}
    given: dict[str, Any] = {**free, "prior": prior}
    fits: dict[str, Any] = {
        "mle": partial(point.fit, **free),
        "map": partial(point.fit, **given),
        "infinite": partial(infinite_width.fit, **exactly),
        "laplace": partial(laplace.fit, **given),
        "last_layer": partial(laplace.fit, structure="last_layer", **given),
        "bbb": partial(bbb.fit, **given),
        "local": partial(local_reparam.fit, **given, **local_reparam.QUIET),
        "eb": partial(empirical_bayes.fit, tie="all", **free, **empirical_bayes.QUIET),
        "low_rank": partial(low_rank.fit, **given),
        "swag": partial(low_rank.swag, **given),
        "dropout": partial(mc_dropout.fit, **given),
        "ensemble": partial(ensemble.fit, **given),
        "anchored": partial(ensemble.fit, anchored=True, **given),
        "sgmcmc": partial(sgmcmc.fit, **given),
        "pbp": partial(pbp.fit, hidden_units=(20,), epochs=100, seed=seed),
        "nuts": partial(_measure.nuts_until_converged, **exactly, seed=seed, **CHAINS),
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


@lru_cache(maxsize=32)  # the chapter shows its claims in the worlds of which it has a table
def compared(world: World) -> dict[str, float]:
    """Every method but NUTS on the problem of one world: what ``scored`` says, by method."""
    return scores(predictives(world), world)


def scores(told: Mapping[str, Predictive], world: World) -> dict[str, float]:
    """What ``scored`` says of each predictive, by method."""
    data = problem(world)
    figures: dict[str, float] = {}
    for name, prediction in told.items():
        each = scored(prediction, data, world.seed(3))
        figures |= {f"{name}-{what}": value for what, value in each.items()}
        figures[f"{name}-noise"] = float(prediction.aleatoric_std.mean())
    return figures


def moved(world: World) -> dict[str, float]:
    """What the comparison explorer shows where its presets and its question lead."""
    figures: dict[str, float] = {}
    places: dict[str, dict[str, Any]] = {
        "start": {},
        "all-04": {"gap": 0.4},
        "no-gap": {"gap": 0.0},
        "few": {"n": 8},
        "loud": {"noise_std": 3.0},
    }
    for place, values in places.items():
        one = Problem(seed=world.data_seed, **values)
        for name in METHODS:
            figures |= _seen(f"{place}-{name}", one, name, 100)
    for epochs in (10, 40, 400):
        one = Problem(seed=world.data_seed)
        figures |= _seen(f"{epochs}-pbp", one, "pbp", epochs)
    return figures


def _seen(key: str, one: Problem, name: str, epochs: int) -> dict[str, float]:
    """Coverage, bias, noise and mean epistemic sd of a method in the explorer, by region."""
    prediction = live_fits.fit(name, one, epochs).predict(X, 200)
    truth, reach = one.data.truth(X)[:, 0], 1.96 * prediction.total_std
    ends = prediction.mean - reach, prediction.mean + reach
    inside = calibration.expected_coverage(truth, one.noise_std, *ends)
    figures = {f"{key}-noise": float(prediction.aleatoric_std.mean())}
    for region, mask in one.regions(X[:, 0]).items():
        if mask.any():
            figures[f"{key}-{region}-covered"] = float(inside[mask].mean())
            figures[f"{key}-{region}-bias"] = float((prediction.mean - truth)[mask].mean())
            figures[f"{key}-{region}-sd"] = float(prediction.epistemic_std[mask].mean())
    return figures


def lead(better: str, worse: str, region: str) -> Callable[[Figures], float]:
    """How many nats a new point one method scores higher than another in a region."""
    return lambda f: f[f"{worse}-{region}-lost"] - f[f"{better}-{region}-lost"]


COMPARED = Experiment(
    "compared",
    compared,
    {
        "bbb-misses-the-gap": lambda f: f["bbb-gap-covered"],
        "pbp-misses-the-gap": lambda f: f["pbp-gap-covered"],
        "pbp-covers-too-much-among-the-data": lambda f: f["pbp-data-covered"],
        "pbp-takes-the-noise-for-louder": lambda f: f["pbp-noise"],
        "eb-gains-nothing-among-the-data": lead("eb", "local", "data"),
        "mle-trails-outside": lead("mle", "bbb", "outside"),
    },
    seconds=0.4,
)
THREE = ("map", "bbb", "pbp")
MOVED = Experiment(
    "comparison-explorer",
    moved,
    {
        "all-six-fall-short-in-the-gap": lambda f: max(
            f[f"start-{m}-gap-covered"] for m in METHODS
        ),
        "without-a-gap-map-holds-less": lambda f: f["no-gap-map-data-covered"],
        "without-a-gap-pbp-holds-more": lambda f: f["no-gap-pbp-data-covered"],
        "with-few-points-bbb-underfits": lambda f: (
            f["few-bbb-data-covered"] - f["few-map-data-covered"]
        ),
        "loud-noise-hides-the-peak": lambda f: max(f[f"loud-{m}-gap-bias"] for m in THREE),
        "loud-noise-does-not-cover": lambda f: max(f[f"loud-{m}-gap-covered"] for m in THREE),
        "loud-noise-helps-pbp-cover": lambda f: (
            f["loud-pbp-gap-covered"] - f["start-pbp-gap-covered"]
        ),
        "ten-epochs-take-the-noise-for-three": lambda f: f["10-pbp-noise"],
        "ten-epochs-cover-by-being-vague": lambda f: f["10-pbp-data-covered"],
        "a-wide-gap-is-missed-by-bbb": lambda f: f["all-04-bbb-gap-covered"],
        "a-wide-gap-is-passed-below": lambda f: f["all-04-bbb-gap-bias"],
        "a-wide-gap-is-not-twice-as-wide": lambda f: (
            f["all-04-bbb-gap-sd"] / f["all-04-bbb-data-sd"]
        ),
        "a-wide-gap-is-missed-by-all": lambda f: float(
            np.mean([f[f"all-04-{m}-gap-covered"] for m in METHODS])
        ),
        "pbp-grows-surer-with-epochs": lambda f: f["400-pbp-data-sd"] / f["40-pbp-data-sd"],
        "pbp-lowers-the-noise-with-epochs": lambda f: f["400-pbp-noise"] / f["40-pbp-noise"],
    },
    seconds=1.5,
)
