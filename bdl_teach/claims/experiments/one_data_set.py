"""What one data set can show: who wins a gap, and who covers it, changes with it (chapter 10)."""

from __future__ import annotations

from bdl_teach.claims.claim import Claim, Experiment, World, above
from bdl_teach.claims.experiments import chapter10

N_SETS = 6  # data sets a world


def six(world: World) -> dict[str, float]:
    """MAP and BBB on six data sets with a gap: the least and the greatest of two figures.

    ``lead`` is how many nats a new point MAP scores higher in the gap, ``covered`` the share of
    the gap that its 95 % interval holds. ``ahead`` is in which share of the six MAP scores higher
    among the data: once in some fifty it is some nats lower, which would rule a mean.
    """
    lead, covered, ahead = [], [], []
    for one in world.parts(N_SETS):
        data = chapter10.problem(one)
        f = {
            name: chapter10.scored(p, data, one.seed(3))
            for name, p in chapter10.predictives(one, ("map", "bbb")).items()
        }
        lead.append(f["bbb"]["gap-lost"] - f["map"]["gap-lost"])
        covered.append(f["map"]["gap-covered"])
        ahead.append(f["map"]["data-lost"] < f["bbb"]["data-lost"])
    return {
        "least-lead": min(lead),
        "greatest-lead": max(lead),
        "least-covered": min(covered),
        "most-covered": max(covered),
        "ahead": sum(ahead) / N_SETS,
    }


SIX = Experiment(
    "six-data-sets",
    six,
    (
        Claim(
            "map-and-bbb-trade-places-in-the-gap",
            "In the gap, which of MAP and Bayes by Backprop scores higher depends on the data set: "
            "of six data sets, most often each wins at least one.",
            "share of worlds in which each wins one of six data sets",
            "",
            above(0.5),
            lambda f: float(f["least-lead"] < 0 < f["greatest-lead"]),
        ),
        Claim(
            "map-covers-the-gap-by-luck",
            "How much of the gap the interval of one MAP network holds is luck: of six data sets, "
            "the most exceeds the least by more than half of the new points.",
            "share of the gap that MAP covers, most − least of six data sets",
            "",
            above(0.5, share=0.7),
            lambda f: f["most-covered"] - f["least-covered"],
        ),
        Claim(
            "map-beats-bbb-among-the-data",
            "Among the data the one MAP network scores higher than Bayes by Backprop at its "
            "defaults, on more than three data sets of five.",
            "share of six data sets on which MAP scores higher among the data",
            "",
            above(0.6),
            lambda f: f["ahead"],
        ),
    ),
    seconds=2.0,
)
