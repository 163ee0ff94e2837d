"""All twelve methods beside the true posterior: the table of the rivals (chapter 10)."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from bdl_teach import calibration
from bdl_teach.claims.claim import Claim, Experiment, Figures, World, above, below, within
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
    """
    gold = chapter10.fitted("nuts", problem(world), world.start_seed)
    assert isinstance(gold, NutsFit)
    truth, halves = gold.predict(X), halves_of(gold)
    told = {**chapter10.predictives(world, RIVALS), "nuts": truth}
    figures = chapter10.scores(told, world)
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
    (
        Claim(
            "nuts-covers-the-gap",
            "With the prior N(0, 3²), the 95 % interval of NUTS holds on average more than seven "
            "tenths of the new points in the gap.",
            "share of new points in the gap inside the 95 % interval of NUTS",
            "",
            above(0.7, share=0.7),
            lambda f: f["nuts-gap-covered"],
        ),
        Claim(
            "nuts-covers-the-data",
            "Among the data, the interval of NUTS holds 95 %, give or take three.",
            "share of new points among the data inside the 95 % interval of NUTS",
            "",
            within(0.92, 0.98),
            lambda f: f["nuts-data-covered"],
        ),
        Claim(
            "nuts-widens-in-the-gap",
            "The epistemic band of NUTS is on average more than two and a half times as wide in "
            "the gap as among the data.",
            "mean epistemic sd of NUTS, in the gap over among the data",
            "",
            above(2.5, share=0.8),
            widening("nuts"),
        ),
        Claim(
            "bbb-does-not-widen-in-the-gap",
            "The band of Bayes by Backprop is on average less than one and a half times as wide in "
            "the gap as among the data.",
            "mean epistemic sd of BBB, in the gap over among the data",
            "",
            below(1.5, share=0.6),
            widening("bbb"),
        ),
        Claim(
            "each-is-further-from-nuts-in-the-gap",
            "Every method is further from NUTS in the gap than among the data: even the one whose "
            "distance grows least by a fifth and more.",
            "distance to NUTS, in the gap over among the data, least of fifteen methods",
            "",
            above(1.2, share=0.8),
            lambda f: min(f[f"{m}-gap"] / f[f"{m}-data"] for m in RIVALS),
        ),
        Claim(
            "each-is-further-than-chance",
            "In the gap even the nearest of fifteen methods is more than twice as far from NUTS as "
            "two chains of NUTS are from two others.",
            "distance to NUTS in the gap, nearest of fifteen methods over half the chains of NUTS",
            "",
            above(2.0, share=0.5),
            lambda f: min(f[f"{m}-gap"] for m in RIVALS) / f["nuts-gap"],
        ),
        Claim(
            "nuts-leads-bbb-a-little-among-the-data",
            "Among the data, NUTS scores higher than Bayes by Backprop, on average by less than "
            "three quarters of a nat a point.",
            "log score among the data, NUTS − BBB",
            "nats a point",
            within(0.0, 0.75),
            lead("nuts", "bbb", "data"),
        ),
        Claim(
            "nuts-leads-bbb-in-the-gap",
            "In the gap, NUTS scores higher than Bayes by Backprop by more than two nats a point.",
            "log score in the gap, NUTS − BBB",
            "nats a point",
            above(2.0, share=0.6),
            lead("nuts", "bbb", "gap"),
        ),
        Claim(
            "nuts-leads-pbp-in-the-gap",
            "In the gap, NUTS scores higher than PBP by more than two nats a point.",
            "log score in the gap, NUTS − PBP",
            "nats a point",
            above(2.0, share=0.7),
            lead("nuts", "pbp", "gap"),
        ),
        Claim(
            "nuts-leads-bbb-outside",
            "Outside the data, NUTS scores higher than Bayes by Backprop by more than one and a "
            "half nats a point.",
            "log score outside, NUTS − BBB",
            "nats a point",
            above(1.5, share=0.6),
            lead("nuts", "bbb", "outside"),
        ),
        Claim(
            "nuts-leads-pbp-outside",
            "Outside the data, NUTS scores higher than PBP by more than one and a half nats a "
            "point.",
            "log score outside, NUTS − PBP",
            "nats a point",
            above(1.5, share=0.8),
            lead("nuts", "pbp", "outside"),
        ),
        Claim(
            "nuts-beats-most-in-the-gap",
            "In the gap, NUTS scores higher than another method in more than three of four pairs "
            "of a method and a world.",
            "share of fifteen methods that NUTS beats in the gap",
            "",
            above(0.75),
            partial(share_beaten, region="gap"),
        ),
        Claim(
            "nuts-beats-most-outside",
            "Outside the data, NUTS scores higher than another method in more than eight of ten "
            "pairs of a method and a world.",
            "share of fifteen methods that NUTS beats outside",
            "",
            above(0.8),
            partial(share_beaten, region="outside"),
        ),
        Claim(
            "sghmc-is-far-nearer-than-one-gaussian",
            "In the gap SGHMC is less than half as far from NUTS as Bayes by Backprop.",
            "distance to NUTS in the gap, SGHMC over BBB",
            "",
            below(0.5, share=0.6),
            nearness("sgmcmc", "bbb"),
        ),
        Claim(
            "sghmc-scores-as-nuts-among-the-data",
            "Among the data SGHMC scores less than a tenth of a nat a point below NUTS.",
            "log score among the data, NUTS − SGHMC",
            "nats a point",
            below(0.1, share=0.8),
            lead("nuts", "sgmcmc", "data"),
        ),
        Claim(
            "an-ensemble-is-nearer-than-one-of-its-kind",
            "In the gap an ensemble of ten is nearer to NUTS than one MAP network.",
            "distance to NUTS in the gap, ensemble over MAP",
            "",
            below(1.0, share=0.6),
            nearness("ensemble", "map"),
        ),
        Claim(
            "anchors-hold-more-outside",
            "Outside the data the interval of an anchored ensemble holds more than a tenth more of "
            "the new points than that of a plain one.",
            "share of new points outside, anchored − plain",
            "",
            above(0.1, share=0.5),
            lambda f: f["anchored-outside-covered"] - f["ensemble-outside-covered"],
        ),
        Claim(
            "columns-do-not-bring-it-nearer",
            "In the gap a Gaussian with five columns is as far from NUTS as one without, Bayes by "
            "Backprop, within a half.",
            "distance to NUTS in the gap, low rank over BBB",
            "",
            within(0.5, 1.5),
            nearness("low_rank", "bbb"),
        ),
        Claim(
            "dropout-misses-the-gap",
            "The interval of MC dropout holds fewer than a fifth of the new points in the gap.",
            "share of new points in the gap, MC dropout",
            "",
            below(0.2, share=0.6),
            lambda f: f["dropout-gap-covered"],
        ),
        Claim(
            "dropout-holds-more-outside-than-map",
            "Outside the data the interval of MC dropout holds more of the new points than that of "
            "MAP.",
            "share of new points outside, MC dropout − MAP",
            "",
            above(0.0, share=0.6),
            lambda f: f["dropout-outside-covered"] - f["map-outside-covered"],
        ),
        Claim(
            "a-full-laplace-holds-the-gap",
            "The interval of a full Laplace holds on average more than half of the new points in "
            "the gap.",
            "share of new points in the gap, full Laplace",
            "",
            above(0.5, share=0.6),
            lambda f: f["laplace-gap-covered"],
        ),
        Claim(
            "a-full-laplace-is-wider-than-nuts-in-the-gap",
            "In the gap the epistemic band of a full Laplace is wider than that of NUTS.",
            "mean epistemic sd in the gap, full Laplace over NUTS",
            "",
            above(1.0, share=0.7),
            lambda f: f["laplace-gap-sd"] / f["nuts-gap-sd"],
        ),
        Claim(
            "a-full-laplace-is-no-nearer-than-its-mode",
            "In the gap a full Laplace is on average no nearer to NUTS than the MAP network that "
            "it stands round, to within a fifth.",
            "distance to NUTS in the gap, full Laplace over MAP",
            "",
            above(0.8),
            nearness("laplace", "map"),
        ),
    ),
    seconds=6.0,
)
