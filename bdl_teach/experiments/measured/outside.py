"""Scores outside the data, where one data set says little: the mean of ten a world (chapter 10)."""

from __future__ import annotations

import numpy as np

from bdl_teach.experiments.measured import chapter10
from bdl_teach.experiments.measured.chapter10 import lead
from bdl_teach.experiments.world import World

N_SETS = 10  # data sets a world
METHODS = ("map", "dropout", "local", "eb")


def leads(world: World) -> dict[str, float]:
    """Nats a new point that one method scores above another, on average over ten data sets.

    ``dropout-errs`` is how much further the mean of MC dropout is from the truth than MAP's.
    """
    dropout, learnt, errs = [], [], []
    for one in world.parts(N_SETS):
        figures = chapter10.scores(chapter10.predictives(one, METHODS), one)
        dropout.append(lead("dropout", "map", "outside")(figures))
        learnt.append(lead("eb", "local", "outside")(figures))
        errs.append(figures["dropout-outside-error"] - figures["map-outside-error"])
    return {
        "dropout-map": float(np.mean(dropout)),
        "eb-local": float(np.mean(learnt)),
        "dropout-errs": float(np.mean(errs)),
    }
