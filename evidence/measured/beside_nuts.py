"""Measure all methods of the catalogue beside NUTS, for the table of chapter 10."""

import timeit
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np

from bdl_teach import calibration
from bdl_teach.claims import Figures, World
from bdl_teach.claims.rivals import RIVALS
from bdl_teach.methods.exact import NutsFit
from bdl_teach.problems import Problem
from evidence.measured import chapter10
from evidence.measured.chapter10 import REGIONS, X

MINIMISE_F = ("bbb", "trained_on", "local", "lowest", "low_rank")  # under the same prior
REFITS = 5  # timed; the least time counts, as other load only adds to it


def beside_nuts(world: World) -> dict[str, float]:
    """Score each method and NUTS, and measure each method's distance from NUTS (eq. 10.1).

    The distance given for NUTS itself is that between two of its chains and its other two.
    ``-energy`` is the free energy in nats, of the methods that minimise it.
    """
    gold = chapter10.fitted("nuts", Problem(seed=world.data_seed).data, world.start_seed)
    assert isinstance(gold, NutsFit)
    truth = gold.predict(X)
    one, other = (replace(gold, weights=half).predict(X) for half in np.split(gold.weights, 2))
    fits = chapter10.fits(world, (*RIVALS, "hmc"))
    told = {**chapter10.predictives(world, fits), "nuts": truth}
    figures = {**chapter10.scores(told, world), "converged": float(gold.converged)}
    figures |= {f"{name}-energy": cast("Any", fits[name]).free_energy for name in MINIMISE_F}
    for region, mask in REGIONS.items():
        for name in (*RIVALS, "hmc"):
            figures[f"{name}-{region}"] = calibration.distance(told[name], truth, mask)
        figures[f"nuts-{region}"] = calibration.distance(one, other, mask)
    return figures | over_all(figures)


def over_all(f: Figures) -> dict[str, float]:
    """Return, from the figures of one world, three comparisons of all methods with NUTS.

    ``beaten-`` and a region: share of the methods that NUTS outscores; ``nearest-gap``: the least
    distance from NUTS in the gap; ``least-widening``: the least value of a method's distance in the
    gap divided by its distance at the data.
    """
    figures = {}
    for region in ("gap", "outside"):
        beaten = [f[f"{m}-{region}-lost"] > f[f"nuts-{region}-lost"] for m in RIVALS]
        figures[f"beaten-{region}"] = float(np.mean(beaten))
    figures["least-widening"] = min(f[f"{m}-gap"] / f[f"{m}-data"] for m in RIVALS)
    figures["nearest-gap"] = min(f[f"{m}-gap"] for m in RIVALS)
    return figures


def milliseconds(world: World) -> dict[str, float]:
    """Return the time in ms of each method's refit, the least of several after compilation."""
    data, times = Problem(seed=world.data_seed).data, {}
    for name in (*RIVALS, "hmc", "nuts"):
        refit = partial(chapter10.fitted, name, data, world.start_seed, room=None)
        refit()
        times[name] = 1e3 * min(timeit.repeat(refit, number=1, repeat=REFITS))
    return times
