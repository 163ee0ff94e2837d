"""Measure all methods of the catalogue beside NUTS, for the table of chapter 10."""

import timeit
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from bdl_teach import calibration
from bdl_teach.claims import Figures, World
from bdl_teach.claims.rivals import RIVALS
from bdl_teach.methods.exact import NutsFit
from bdl_teach.predictive import Predictive
from bdl_teach.problems import Problem
from evidence.claim import Trial
from evidence.measured import chapter10
from evidence.measured._measure import Found, mean
from evidence.measured.chapter10 import REGIONS, X

MINIMISE_F = ("bbb", "trained_on", "local", "lowest", "low_rank")  # under the same prior
REFITS = 5  # timed; the least time counts, as other load only adds to it


@dataclass(frozen=True)
class BesideNuts:
    """All methods and NUTS."""

    found: Found  # of ``RIVALS``, "hmc" and "nuts"
    halves: tuple[Predictive, Predictive]  # of two chains of NUTS, and of its other two
    converged: bool  # whether NUTS has


def every_method(world: World) -> BesideNuts:
    """Fit each method, and run NUTS."""
    nuts = chapter10.fitted("nuts", Problem(seed=world.data_seed).data, world.start_seed)
    assert isinstance(nuts, NutsFit)
    one, other = (replace(nuts, weights=half).predict(X) for half in np.split(nuts.weights, 2))
    found = chapter10.judged(chapter10.fits(world, (*RIVALS, "hmc")), world, MINIMISE_F)
    truth = replace(found["hmc"], prediction=nuts.predict(X))
    return BesideNuts({**found, "nuts": truth}, (one, other), nuts.converged)


def distances_and_scores(beside: BesideNuts) -> dict[str, float]:
    """Score each method and NUTS, and measure each method's distance from NUTS (eq. 10.1).

    The distance given for NUTS itself is that between two of its chains and its other two.
    ``-energy`` is the free energy in nats, of the methods that minimise it.
    """
    found = beside.found
    told = {**chapter10.scores(found), "converged": float(beside.converged)}
    told |= {f"{name}-energy": told.pop(f"{name}-F") for name in MINIMISE_F}
    for region, mask in REGIONS.items():
        for name in (*RIVALS, "hmc"):
            pair = found[name].prediction, found["nuts"].prediction
            told[f"{name}-{region}"] = calibration.distance(*pair, mask)
        told[f"nuts-{region}"] = calibration.distance(*beside.halves, mask)
    return told | over_all(told)


def over_all(f: Figures) -> dict[str, float]:
    """Return, from the figures of one world, three comparisons of all methods with NUTS.

    ``beaten-`` and a region: share of the methods that NUTS outscores; ``nearest-gap``: the least
    distance from NUTS in the gap; ``least-widening``: the least value of a method's distance in the
    gap divided by its distance at the data.
    """
    figures = {}
    for region in ("gap", "outside"):
        lost = f[f"nuts-{region}-lost"]
        figures[f"beaten-{region}"] = mean(f[f"{m}-{region}-lost"] > lost for m in RIVALS)
    figures["least-widening"] = min(f[f"{m}-gap"] / f[f"{m}-data"] for m in RIVALS)
    figures["nearest-gap"] = min(f[f"{m}-gap"] for m in RIVALS)
    return figures


def milliseconds(world: World) -> dict[str, float]:
    """Return the time in ms of each method's refit, the least of several after compilation.

    This is no trial: it measures the machine, and no prediction.
    """
    data, times = Problem(seed=world.data_seed).data, {}
    for name in (*RIVALS, "hmc", "nuts"):
        refit = partial(chapter10.fitted, name, data, world.start_seed, room=None)
        refit()
        times[name] = 1e3 * min(timeit.repeat(refit, number=1, repeat=REFITS))
    return times


beside_nuts = Trial(every_method, distances_and_scores)
