"""Measure all fifteen methods against NUTS: the table of the rivals (chapter 10)."""

import time
from dataclasses import replace

import numpy as np

from bdl_teach import calibration
from bdl_teach.experiments.measured import chapter10
from bdl_teach.experiments.measured.chapter10 import REGIONS, X
from bdl_teach.experiments.world import Figures, World
from bdl_teach.methods.catalogue import CATALOGUE
from bdl_teach.methods.exact import NutsFit
from bdl_teach.problems import Problem

RIVALS = tuple(name for name, method in CATALOGUE.items() if method.rival)
REFITS = 5  # timed, of which the least counts: whatever else the machine does only adds


def beside_nuts(world: World) -> dict[str, float]:
    """Score each method and NUTS, and measure each one's distance from NUTS (eq. 10.1).

    The distance of NUTS itself is that between two of its chains and the other two: with half as
    many draws each, they are by chance √2 times as far apart as two whole runs.
    """
    gold = chapter10.fitted("nuts", Problem(seed=world.data_seed).data, world.start_seed)
    assert isinstance(gold, NutsFit)
    truth = gold.predict(X)
    one, other = (replace(gold, weights=half).predict(X) for half in np.split(gold.weights, 2))
    told = {**chapter10.predictives(world, RIVALS), "nuts": truth}
    figures = {**chapter10.scores(told, world), "converged": float(gold.converged)}
    for region, mask in REGIONS.items():
        for name in RIVALS:
            figures[f"{name}-{region}"] = calibration.distance(told[name], truth, mask)
        figures[f"nuts-{region}"] = calibration.distance(one, other, mask)
    return figures | over_all(figures)


def over_all(f: Figures) -> dict[str, float]:
    """Sum up all methods together, from the figures of each."""
    beaten = {
        f"beaten-{region}": float(
            np.mean([f[f"{m}-{region}-lost"] > f[f"nuts-{region}-lost"] for m in RIVALS])
        )
        for region in ("gap", "outside")
    }
    widening = min(f[f"{m}-gap"] / f[f"{m}-data"] for m in RIVALS)
    nearest = min(f[f"{m}-gap"] for m in RIVALS)
    return {**beaten, "least-widening": widening, "nearest-gap": nearest}


def milliseconds(world: World) -> dict[str, float]:
    """Return the time of a fit by method: the least of some refits, after compiling."""
    return {name: 1e3 * least_seconds(name, world) for name in (*RIVALS, "nuts")}


def least_seconds(name: str, world: World) -> float:
    """Return the least time of a warm refit, compiled for exactly these points."""
    data, times = Problem(seed=world.data_seed).data, []
    chapter10.fitted(name, data, world.seed(10), room=None)
    for k in range(2 if name == "nuts" else REFITS):
        start = time.perf_counter()
        chapter10.fitted(name, data, world.seed(11 + k), room=None)
        times.append(time.perf_counter() - start)
    return min(times)
