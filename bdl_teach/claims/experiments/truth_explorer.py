"""What the presets and the question of the truth explorer promise (chapter 4)."""

from __future__ import annotations

import numpy as np

from bdl_teach.claims.claim import Experiment, World
from bdl_teach.predictive import Predictive
from bdl_teach.problems import GAP_GRID, Problem
from bdl_teach.problems import truth_search as search

AMONG = np.abs(GAP_GRID[:, 0]) <= 0.5


def beside_nuts(world: World) -> dict[str, float]:
    """The explorer beside NUTS for σ_p = 3 and 1 with the gap, and for σ_p = 3 without: bars, sd.

    Bars are in units of y, over the gap; ``held`` is the share of it where NUTS's ±2 sd band holds
    the sine.
    """
    figures: dict[str, float] = {}
    for name, prior_std, gap in (("wide", 3.0, 0.3), ("narrow", 1.0, 0.3), ("whole", 3.0, 0.0)):
        problem = Problem(seed=world.data_seed, gap=gap, scales=(prior_std,))
        result = search.refit(problem, starts=1)
        while (better := search.improve(result)) is not None:
            result = better
        nuts = problem.sample(search.chains(problem)).predict(GAP_GRID, 1000)
        result = search.beside_nuts(result, nuts, "")
        where = result.regions["gap"] if gap else AMONG
        figures |= {
            f"{name}-nuts": _sd(nuts, where),
            f"{name}-nuts-among": _sd(nuts, AMONG & ~result.regions["gap"]),
            f"{name}-best": _sd(result.search.prediction, where),
        }
        if gap:
            off = np.abs(search.TRUTH - nuts.mean)
            figures[f"{name}-held"] = float((off < 2 * nuts.epistemic_std)[where].mean())
            figures[f"{name}-optimisation"] = float(result.optimisation or 0.0)
            figures[f"{name}-family"] = float(result.family or 0.0)
            figures[f"{name}-prior"] = float(result.prior_miss or 0.0)
    return figures


def _sd(prediction: Predictive, where: np.ndarray) -> float:
    return float(prediction.epistemic_std[where].mean())


PROMISES = Experiment(
    "truth-explorer",
    beside_nuts,
    {
        "nuts-opens-the-gap-at-a-wide-prior": lambda f: f["wide-nuts"] / f["wide-best"],
        "nuts-widens-in-the-truth-explorer-s-gap": lambda f: f["wide-nuts"] / f["wide-nuts-among"],
        "the-family-outweighs-the-prior-at-a-wide-prior": lambda f: (
            f["wide-family"] - f["wide-prior"]
        ),
        "nuts-misses-the-sine-at-a-narrow-prior": lambda f: f["narrow-held"],
        "the-prior-s-part-is-longest-at-a-narrow-prior": lambda f: (
            f["narrow-prior"] - max(f["narrow-optimisation"], f["narrow-family"])
        ),
        "without-a-gap-mean-field-is-a-little-less-sure": lambda f: (
            f["whole-best"] / f["whole-nuts"]
        ),
    },
    seconds=40.0,
)
