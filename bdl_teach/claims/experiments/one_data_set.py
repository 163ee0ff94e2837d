"""What one data set can show: who wins a gap, and who covers it, changes with it (chapter 10)."""

from __future__ import annotations

from bdl_teach.claims.claim import Claim, Experiment, World, above, within
from bdl_teach.claims.experiments import chapter10

N_SETS = 10  # data sets a world


def ten(world: World) -> dict[str, float]:
    """MAP, BBB and Laplace on ten data sets with a gap.

    ``covered`` is the share of the gap that the 95 % interval of MAP holds, least and most.
    ``ahead`` is on which share of the ten MAP scores higher than BBB, among the data (once in some
    fifty it is some nats lower, which would rule a mean) and in the gap; ``laplace`` how many nats
    a new point a full Laplace scores there above MAP, on average.
    """
    covered, among, gap, laplace = [], [], [], []
    for one in world.parts(N_SETS):
        data = chapter10.problem(one)
        f = {
            name: chapter10.scored(p, data, one.seed(3))
            for name, p in chapter10.predictives(one, ("map", "bbb", "laplace")).items()
        }
        covered.append(f["map"]["gap-covered"])
        among.append(f["map"]["data-lost"] < f["bbb"]["data-lost"])
        gap.append(f["map"]["gap-lost"] < f["bbb"]["gap-lost"])
        laplace.append(f["map"]["gap-lost"] - f["laplace"]["gap-lost"])
    return {
        "least-covered": min(covered),
        "most-covered": max(covered),
        "ahead": sum(among) / N_SETS,
        "ahead-in-the-gap": sum(gap) / N_SETS,
        "laplace": sum(laplace) / N_SETS,
    }


TEN = Experiment(
    "ten-data-sets",
    ten,
    (
        Claim(
            "map-and-bbb-trade-places-in-the-gap",
            "In the gap, which of MAP and Bayes by Backprop scores higher depends on the data set: "
            "each wins at least one in ten.",
            "share of ten data sets on which MAP scores higher in the gap",
            "",
            within(0.1, 0.9),
            lambda f: f["ahead-in-the-gap"],
        ),
        Claim(
            "a-full-laplace-scores-higher-in-the-gap-than-its-mode",
            "In the gap a full Laplace scores on average higher than the MAP network that it "
            "stands round.",
            "log score in the gap, full Laplace − MAP, mean of ten data sets",
            "nats a point",
            above(0.0, share=0.6),
            lambda f: f["laplace"],
        ),
        Claim(
            "map-covers-the-gap-by-luck",
            "How much of the gap the interval of one MAP network holds is luck: of ten data sets, "
            "the most exceeds the least by more than half of the new points.",
            "share of the gap that MAP covers, most − least of ten data sets",
            "",
            above(0.5, share=0.7),
            lambda f: f["most-covered"] - f["least-covered"],
        ),
        Claim(
            "map-beats-bbb-among-the-data",
            "Among the data the one MAP network scores higher than Bayes by Backprop at its "
            "defaults, on more than three data sets of five.",
            "share of ten data sets on which MAP scores higher among the data",
            "",
            above(0.6),
            lambda f: f["ahead"],
        ),
    ),
    seconds=3.5,
)
