"""Near misses of missions: what falls just short of what one part of a mission asks for."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine.controls import Values

DRAWN = datasets.sinusoid(n=32, noise_std=1.0, seed=0)
GAP = datasets.sinusoid(n=32, noise_std=1.0, seed=0, gap=(0.1, 0.4))


def own(*x: float, y: float = 0.0) -> Values:
    """Points by hand, all at one height."""
    return {"data": (x, (y,) * len(x), points.COURSE)}


def more(data: datasets.Regression1D, *place: tuple[float, float]) -> points.Value:
    """The points of ``data``, and more."""
    x, y = zip(*place, strict=True)
    return points.from_course(np.append(data.x, x).round(3), np.append(data.y, y).round(2))


# By mission: changes of its way, each of which must undo it by what then comes out. That another
# value of a control that the mission names undoes it is told without them.
MISSES: dict[str, list[Values]] = {
    "linear-sure-at-both-ends": [
        own(-0.9, 0.9),
        own(0.9, 1.0),
        own(-1.0, -0.95, 0.95, 1.0),
    ],
    "linear-nothing-to-learn": [
        own(-0.4, -0.2, 0.0, 0.2),
        own(-0.4, -0.2, 0.0, 0.2, 0.4, y=8.0),
    ],
    "gradient-a-constant-that-helps": [
        {"offset": -1.0},
        {"offset": -2.0},
    ],
    "gradient-a-ripple-nobody-sees": [
        {"curvature": 10**-0.9},
    ],
    "local-flipout-gains-nothing": [
        {"n_inputs": 2},
        {"sigma": 0.5},
    ],
    "local-what-256-rows-are-worth": [
        {"sigma": 0.65},
        {"sigma": 0.8},
    ],
    "local-better-than-own-weights": [
        {"flipout": True},
        {"n_inputs": 3},
        {"sigma": 0.6},
    ],
    "rivals-the-limit-opens": [
        {"prior_std": 4.0},
    ],
    "rivals-pushed-draws-stay": [
        {"prior_std": 0.6},
    ],
    "rivals-one-point-joins": [
        {"data": more(GAP, (0.9, 0.0))},
        {"data": more(GAP, (0.12, 5.0))},
        {"data": more(GAP, (0.2, 9.5), (0.3, 9.5))},
    ],
    "pbp-one-point-counted-often": [
        {"step": 95},
        own(0.0, 0.1),
        {"alpha": 60.0, "step": 0},
    ],
    "pbp-unlearn-a-guess": [
        {"alpha": 10**0.6},
    ],
    "pbp-a-surprise-widens": [
        {"step": 8},
        {"step": 10},
        {"guess": 2.0},
        {"data": None, "n": 32, "noise_std": 5.0, "sorted": False, "step": 27, "seed": 1},
    ],
    "kl-budget-divided-twice": [
        {"kl_weight": 10**-0.8},
        {"kl_weight": 10**-1.0},
        {"scheme": "geometric"},
        {"n_batches": 4, "kl_weight": 10**-0.6},
    ],
    "kl-budget-first-pays-once": [
        {"kl_weight": 10**0.2},
        {"n_batches": 4},
    ],
    "kl-budget-sure-at-1": [
        {"data": more(DRAWN, *[(1.0, 0.0)] * 9)},
        {"data": more(DRAWN, *[(-1.0, 0.0)] * 8)},
        {"data": more(DRAWN, *[(0.6, 0.0)] * 8)},
    ],
    "empirical-bayes-own-best": [
        {"prior_std": 10**0.5},
        {"prior_std": 10**1.0},
        {"prior_std": 0.1},
    ],
    "empirical-bayes-nothing-to-learn": [
        own(-0.5, 0.0, 0.5),
    ],
    "empirical-bayes-no-idle-weights": [
        {"width": 8},
        {"width": 1},
    ],
    "pictures-too-humble": [
        {"temperature": 10**0.5},
        {"temperature": 10**-0.7},
    ],
    "sinusoid-wider-at-1": [
        {"sigma2": 10**-0.5},
    ],
    "sinusoid-six-points": [
        {"data": more(DRAWN, (0.25, 10.0))},
        own(-0.25, 0.25, y=7.0),
    ],
    "truth-one-point": [
        {"data": more(GAP, (0.25, 10.0), (0.3, 9.5))},
        {"data": more(GAP, (0.5, 0.0))},
    ],
    "truth-few-units-reach-as-far": [
        {"prior_std": 4.0},
        {"prior_std": 4.5},
    ],
}
