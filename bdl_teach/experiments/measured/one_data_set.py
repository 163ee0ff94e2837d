"""What one data set can show: who wins a gap, and who covers it, changes with it (chapter 10)."""

from __future__ import annotations

import numpy as np

from bdl_teach.experiments.measured import chapter10
from bdl_teach.experiments.world import World

N_SETS = 10  # data sets a world


def ten(world: World) -> dict[str, float]:
    """MAP, BBB and Laplace on ten data sets with a gap.

    ``covered`` is the share of the gap that the 95 % interval of MAP holds, least and most.
    ``ahead`` is on which share of the ten MAP scores higher than BBB, among the data (once in some
    fifty it is some nats lower, which would rule a mean) and in the gap; ``lead`` by how many nats
    a new point in the gap, the median of ten; ``laplace`` how many nats a new point a full Laplace
    scores there above MAP, on average.
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
        gap.append(f["bbb"]["gap-lost"] - f["map"]["gap-lost"])
        laplace.append(f["map"]["gap-lost"] - f["laplace"]["gap-lost"])
    return {
        "least-covered": min(covered),
        "most-covered": max(covered),
        "ahead": sum(among) / N_SETS,
        "ahead-in-the-gap": float(np.mean(np.array(gap) > 0)),
        "lead": float(np.median(gap)),
        "laplace": sum(laplace) / N_SETS,
    }
