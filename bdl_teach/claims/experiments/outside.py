"""Scores outside the data, where one data set says little: the mean of ten a world (chapter 10)."""

from __future__ import annotations

import numpy as np

from bdl_teach.claims.claim import Claim, Experiment, World, above, below
from bdl_teach.claims.experiments import chapter10
from bdl_teach.claims.experiments.chapter10 import lead

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


OUTSIDE = Experiment(
    "outside",
    leads,
    (
        Claim(
            "dropout-scores-higher-outside-than-map",
            "Outside the data MC dropout scores higher than one MAP network, on average.",
            "log score outside, MC dropout − MAP, mean of ten data sets",
            "nats a point",
            above(0.0, share=0.6),
            lambda f: f["dropout-map"],
        ),
        Claim(
            "dropout-errs-more-outside-than-map",
            "Outside the data the mean of MC dropout is on average further from the truth than "
            "MAP's.",
            "rms distance of the mean from the truth, MC dropout − MAP, mean of ten data sets",
            "",
            above(0.0, share=0.6),
            lambda f: f["dropout-errs"],
        ),
        Claim(
            "eb-gains-nothing-outside",
            "Outside the data, empirical Bayes, which learns the width of the prior, is on average "
            "less than 0.3 nats a point above the quiet fit, which was given one, if it is above "
            "at all.",
            "log score outside, emp. Bayes − local, quiet, mean of ten data sets",
            "nats a point",
            below(0.3),
            lambda f: f["eb-local"],
        ),
    ),
    seconds=4.0,
)
