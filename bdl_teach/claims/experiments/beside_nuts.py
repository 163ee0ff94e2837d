"""All fifteen methods beside the true posterior: the table of the rivals (chapter 10)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from bdl_teach import calibration
from bdl_teach.claims.claim import Experiment, Figures, World
from bdl_teach.claims.experiments import chapter10
from bdl_teach.claims.experiments.chapter10 import X, lead, problem, regions
from bdl_teach.methods.exact import NutsFit
from bdl_teach.predictive import Predictive

RIVALS = (
    "mle",
    "map",
    "infinite",
    "laplace",
    "last_layer",
    "bbb",
    "local",
    "eb",
    "low_rank",
    "swag",
    "dropout",
    "ensemble",
    "anchored",
    "sgmcmc",
    "pbp",
)
REFITS = 5  # timed, of which the least counts: whatever else the machine does only adds


def beside_nuts(world: World) -> dict[str, float]:
    """What ``scored`` says of each method and of NUTS; how far from NUTS each is (eq. 10.1).

    The distance of NUTS itself is that between two of its chains and the other two: of half as
    many draws each, they are √2 times as far apart as two whole runs would be by chance.
    ``converged`` is 1 if the chains of NUTS agree, by its own standard.
    """
    gold = chapter10.fitted("nuts", problem(world), world.start_seed)
    assert isinstance(gold, NutsFit)
    truth, halves = gold.predict(X), halves_of(gold)
    told = {**chapter10.predictives(world, RIVALS), "nuts": truth}
    figures = {**chapter10.scores(told, world), "converged": float(gold.converged)}
    for region, mask in regions().items():
        for name in RIVALS:
            figures[f"{name}-{region}"] = calibration.distance(told[name], truth, mask)
        figures[f"nuts-{region}"] = calibration.distance(*halves, mask)
    return figures


def halves_of(gold: NutsFit) -> tuple[Predictive, Predictive]:
    """What the first two chains say on X, and what the other two do."""
    one, other = (replace(gold, weights=half) for half in np.split(gold.weights, 2))
    return one.predict(X), other.predict(X)


def milliseconds(world: World) -> dict[str, float]:
    """How long a fit takes, by method: the least of some refits, once it has been compiled."""
    return {name: 1e3 * least_seconds(name, world) for name in (*RIVALS, "nuts")}


def least_seconds(name: str, world: World) -> float:
    """The least time of a warm refit, compiled for these points and no more."""
    data, times = problem(world), []
    chapter10.fitted(name, data, world.seed(10), room=None)
    for k in range(2 if name == "nuts" else REFITS):
        start = time.perf_counter()
        chapter10.fitted(name, data, world.seed(11 + k), room=None)
        times.append(time.perf_counter() - start)
    return min(times)


def share_beaten(f: Figures, region: str) -> float:
    """Share of the methods that score lower than NUTS in a region."""
    return float(np.mean([f[f"{m}-{region}-lost"] > f[f"nuts-{region}-lost"] for m in RIVALS]))


def nearness(one: str, other: str) -> Callable[[Figures], float]:
    """How far one method is from NUTS in the gap, in distances of another."""
    return lambda f: f[f"{one}-gap"] / f[f"{other}-gap"]


def widening(name: str) -> Callable[[Figures], float]:
    """How many times as wide a method's epistemic band is in the gap as among the data."""
    return lambda f: f[f"{name}-gap-sd"] / f[f"{name}-data-sd"]


BESIDE_NUTS = Experiment(
    "beside-nuts",
    beside_nuts,
    {
        "nuts-covers-the-gap": lambda f: f["nuts-gap-covered"],
        "nuts-covers-the-data": lambda f: f["nuts-data-covered"],
        "nuts-widens-in-the-gap": widening("nuts"),
        "bbb-does-not-widen-in-the-gap": widening("bbb"),
        "each-is-further-from-nuts-in-the-gap": lambda f: min(
            f[f"{m}-gap"] / f[f"{m}-data"] for m in RIVALS
        ),
        "each-is-further-than-chance": lambda f: min(f[f"{m}-gap"] for m in RIVALS) / f["nuts-gap"],
        "nuts-leads-bbb-a-little-among-the-data": lead("nuts", "bbb", "data"),
        "nuts-leads-bbb-in-the-gap": lead("nuts", "bbb", "gap"),
        "nuts-leads-pbp-in-the-gap": lead("nuts", "pbp", "gap"),
        "nuts-leads-bbb-outside": lead("nuts", "bbb", "outside"),
        "nuts-leads-pbp-outside": lead("nuts", "pbp", "outside"),
        "nuts-beats-most-in-the-gap": partial(share_beaten, region="gap"),
        "nuts-beats-most-outside": partial(share_beaten, region="outside"),
        "sghmc-is-far-nearer-than-one-gaussian": nearness("sgmcmc", "bbb"),
        "sghmc-scores-as-nuts-among-the-data": lead("nuts", "sgmcmc", "data"),
        "an-ensemble-is-nearer-than-one-of-its-kind": nearness("ensemble", "map"),
        "anchors-hold-more-outside": lambda f: (
            f["anchored-outside-covered"] - f["ensemble-outside-covered"]
        ),
        "columns-do-not-bring-it-nearer": nearness("low_rank", "bbb"),
        "dropout-misses-the-gap": lambda f: f["dropout-gap-covered"],
        "dropout-holds-more-outside-than-map": lambda f: (
            f["dropout-outside-covered"] - f["map-outside-covered"]
        ),
        "a-full-laplace-holds-the-gap": lambda f: f["laplace-gap-covered"],
        "a-full-laplace-is-no-nearer-than-its-mode": nearness("laplace", "map"),
    },
    seconds=6.0,
)
