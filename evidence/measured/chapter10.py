"""The regression methods of the catalogue, compared on 32 points with a gap (chapter 10)."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import calibration, datasets
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.datasets.toy import Regression1D
from bdl_teach.methods import bbb, mcmc
from bdl_teach.methods.catalogue import CATALOGUE, Fitted
from bdl_teach.predictive import Predictive
from bdl_teach.problems import Problem, live_fits, truth
from evidence.claim import Trial
from evidence.measured._measure import (
    Found,
    Trained,
    figures,
    mean,
    new_targets,
    nuts_until_converged,
    predicted,
)

GAP = (0.1, 0.4)  # without data
X = np.linspace(-0.7, 0.7, 141)[:, None]
REGIONS = Problem().regions(X[:, 0])  # masks: "data", "gap", "outside"
PERFECT = -0.5 * math.log(2 * math.pi * math.e)  # the best log score to expect, for noise of sd 1
METHODS = ("mle", "map", "bbb", "local", "lowest", "eb", "pbp")
PAIRED = ("map", "bbb", "laplace", "dropout", "local", "eb")
THREE = ("map", "bbb", "pbp")
ROOM = bbb.Capacity(*live_fits.COMPARED)
CHAINS: dict[str, Any] = {"n_chains": 4, "n_samples": 400, "n_warmup": 300}
N = 32  # points for training, and as many for calibration
EXPLORED = (0.5, 0.75, 0.9, 0.95, 0.99)  # levels of the explorer's slider
N_SETS = 10  # data sets a world, for claims that one data set cannot show


def fitted(name: str, data: Regression1D, seed: int, room: bbb.Capacity | None = ROOM) -> Fitted:
    """Fit a method of the catalogue, with 20 hidden units and the prior N(0, 3²).

    "trained_on" is "bbb" after 1500 more steps. A program is compiled for sizes up to ``room``; if
    that is None, for the size of these data.
    """
    given = Problem(seed=seed).settings
    if name == "nuts":
        return nuts_until_converged(data.x, data.y, **given, **CHAINS)
    if name == "hmc":
        return mcmc.hmc(data.x, data.y, n_samples=2000, **given)
    if name == "trained_on":
        return bbb.fit(data.x, data.y, capacity=room, **given).refined()
    method = CATALOGUE[name]
    method = replace(method, options={**method.options, **(method.compared or {})})
    return method.fit(data.x, data.y, capacity=room, epochs=100, **given)


def fits(world: World, names: Sequence[str] = METHODS) -> dict[str, Any]:
    """Fit the named methods in one world."""
    data = Problem(seed=world.data_seed).data
    return {name: fitted(name, data, world.start_seed) for name in names}


def judged(fits: Mapping[str, Any], world: World, energies: Collection[str] = ()) -> Found:
    """Return the predictions of fits on X, and the new targets that they are scored by."""
    new, seed = new_targets(X, world.seed(3)), world.seed(2)
    return predicted(fits, X, REGIONS, new, energies=energies, n_samples=500, seed=seed)


def seven_methods(world: World) -> Found:
    """Fit the methods of ``METHODS``."""
    return judged(fits(world), world)


def scores(found: Found) -> dict[str, float]:
    """Return the figures of each fit in the regions "data", "gap" and "outside", and two more.

    ``lost`` is the expected log score of the true density minus that of the prediction, in nats a
    point; ``covered`` the share of new points inside the 95 % interval.
    """
    told = figures(found)
    for name, one in found.items():
        inside = calibration.expected_coverage(truth(X), 1.0, *one.prediction.interval(0.95))
        for region, mask in one.regions.items():
            told[f"{name}-{region}-lost"] = PERFECT - told.pop(f"{name}-{region}-score")
            told[f"{name}-{region}-covered"] = float(inside[mask].mean())
    return told


def in_explorer(world: World) -> Found:
    """Fit as the comparison explorer does, at some of its settings.

    Names are of a place and a method, such as "few-bbb" (eight points), or of PBP's epochs.
    """
    start, found = Problem(seed=world.data_seed), {}
    places: dict[str, dict[str, Any]] = {"start": {}, "few": {"n": 8}, "loud": {"noise_std": 3.0}}
    places |= {"all-04": {"gap": 0.4}, "no-gap": {"gap": 0.0}}
    plans = [(f"{p}-{m}", replace(start, **c), m, 100) for p, c in places.items() for m in METHODS]
    plans += [(f"{epochs}-pbp", start, "pbp", epochs) for epochs in (10, 40, 400)]
    for name, problem, method, epochs in plans:
        own = {"epochs": epochs} if method == "pbp" else {}
        found[name] = Trained(
            prediction=live_fits.fit(method, problem, live_fits.COMPARED, **own).predict(X, 200),
            x=X,
            regions={r: mask for r, mask in problem.regions(X[:, 0]).items() if mask.any()},
            numbers={"true-noise": problem.noise_std},
        )
    return found


def at_settings(found: Found) -> dict[str, float]:
    """Return the figures of each fit, and its coverage of new points by ±1.96 sd, by region."""
    told = figures(found)
    for name, one in found.items():
        p, reach = one.prediction, 1.96 * one.prediction.total_std
        ends = p.mean - reach, p.mean + reach
        inside = calibration.expected_coverage(truth(X), one.numbers["true-noise"], *ends)
        for region, mask in one.regions.items():
            told[f"{name}-{region}-covered"] = float(inside[mask].mean())
    return {
        **told,
        "start-most-covered": max(told[f"start-{m}-gap-covered"] for m in METHODS),
        "loud-most-bias": max(told[f"loud-{m}-gap-bias"] for m in THREE),
        "loud-most-covered": max(told[f"loud-{m}-gap-covered"] for m in THREE),
        "all-04-mean-covered": mean(told[f"all-04-{m}-gap-covered"] for m in METHODS),
    }


class Counted(NamedTuple):
    """A fit, and the points that its conformal bands are calibrated on."""

    y: Array  # targets of the calibration points [n]
    here: Predictive  # at these points
    there: Predictive  # on X


def _counted(learn: Regression1D, count: Regression1D, seed: int) -> dict[str, Counted]:
    found = {}
    for name in THREE:
        fit = fitted(name, learn, seed)
        here, there = (fit.predict(x, n_samples=500, seed=1) for x in (count.x, X))
        found[name] = Counted(count.y[:, 0], here, there)
    return found


def on_held_out(world: World) -> dict[str, Counted]:
    """Fit three methods to 32 points, to be calibrated on 32 others of the same data set."""
    data = datasets.sinusoid(n=2 * N, seed=world.data_seed, gap=GAP)
    halves = np.split(np.random.default_rng(world.seed(2)).permutation(2 * N), 2)
    learn, count = (replace(data, x=data.x[half], y=data.y[half]) for half in halves)
    return _counted(learn, count, world.start_seed)


def on_99_more(world: World) -> dict[str, Counted]:
    """Fit three methods as the explorer does, to be calibrated on 99 more points."""
    count = datasets.sinusoid(n=99, seed=world.seed(2), gap=GAP)
    return _counted(Problem(seed=world.data_seed).data, count, world.start_seed)


def conformal_coverage(found: Mapping[str, Counted]) -> dict[str, float]:
    """Return the coverage of conformal bands in each region, at the levels of ``EXPLORED``.

    ``mean-data-`` is the mean of the three methods, ``most-gap-`` the largest of them;
    ``mean-above-level`` is the mean over methods and levels of the coverage minus the level.
    """
    told = {}
    for name, (y, here, there) in found.items():
        off = np.abs(y - here.mean) / here.total_std
        for level in EXPLORED:
            reach = calibration.conformal_factor(off, level) * there.total_std
            ends = there.mean - reach, there.mean + reach
            inside = calibration.expected_coverage(truth(X), 1.0, *ends)
            for region, mask in REGIONS.items():
                told[f"{name}-{region}-{100 * level:.0f}"] = float(inside[mask].mean())
    for level in (90, 95):
        told[f"mean-data-{level}"] = mean(told[f"{m}-data-{level}"] for m in THREE)
        told[f"most-gap-{level}"] = max(told[f"{m}-gap-{level}"] for m in THREE)
    above = mean(told[f"{m}-data-{100 * c:.0f}"] - c for m in THREE for c in EXPLORED)
    both = mean(told[f"{m}-gap-99"] for m in ("bbb", "pbp"))
    return {**told, "mean-above-level": above, "both-gap-99": both}


def ten_sets(world: World) -> list[Found]:
    """Fit the methods of ``PAIRED`` to ten data sets with a gap."""
    return [judged(fits(one, PAIRED), one) for one in world.parts(N_SETS)]


def pairs(sets: Sequence[Found]) -> dict[str, float]:
    """Compare pairs of methods over the data sets of :func:`ten_sets`.

    ``ahead`` is the share of the data sets in which MAP scores higher than BBB among the data; the
    mean difference is not used, since a single extreme data set would decide it.
    """
    each = [scores(found) for found in sets]
    covered = [f["map-gap-covered"] for f in each]
    gap = [f["bbb-gap-lost"] - f["map-gap-lost"] for f in each]
    return {
        "least-covered": min(covered),
        "most-covered": max(covered),
        "ahead": mean(f["map-data-lost"] < f["bbb-data-lost"] for f in each),
        "ahead-in-the-gap": mean(lead > 0 for lead in gap),
        "lead": float(np.median(gap)),
        "laplace": mean(f["map-gap-lost"] - f["laplace-gap-lost"] for f in each),
        **{key: mean(f[key] for f in each) for key in each[0] if "-outside-" in key},
    }


compared = Trial(seven_methods, scores)
moved = Trial(in_explorer, at_settings)
held = Trial(on_held_out, conformal_coverage)
held_on_99 = Trial(on_99_more, conformal_coverage)
ten = Trial(ten_sets, pairs)
