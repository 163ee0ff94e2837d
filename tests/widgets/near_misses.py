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


# By mission: changes of its way, each of which must undo it.
MISSES: dict[str, dict[str, dict[str, Values]]] = {
    "LinearRegressionExplorer": {
        "linear-sure-at-both-ends": {
            "points too far inside": own(-0.9, 0.9),
            "one end only": own(0.9, 1.0),
            "four points": own(-1.0, -0.95, 0.95, 1.0),
            "another prior": {"prior_std": 10.0**0.5},
            "other features": {"kind": "polynomial"},
            "drawn points": {"data": None, "n": 2},
        },
        "linear-nothing-to-learn": {
            "four points": own(-0.4, -0.2, 0.0, 0.2),
            "points off zero": own(-0.4, -0.2, 0.0, 0.2, 0.4, y=8.0),
            "noise that hides everything": {"noise_std": 5.0} | own(-0.4, -0.2, 0, 0.2, 0.4, y=2.0),
            "drawn points": {"data": None, "n": 5},
        },
        "linear-two-weights-on-a-line": {"two points": {"n": 2}, "ten bumps": {"n_features": 10}},
    },
    "GradientLab": {
        "gradient-a-constant-that-helps": {
            "no constant": {"offset": 0.0},
            "away from the minimum": {"mu": 0.0},
            "too little of a constant": {"offset": -1.0},
            "too much of it": {"offset": -2.0},
            "with a ripple": {"ripple": 2.0, "offset": 0.0, "curvature": 0.1},
            "by σ": {"parameter": "σ"},
        },
        "gradient-the-sign-at-least": {
            "too few draws": {"n_draws": 251},
            "more than granted": {"n_draws": 794},
            "an easier offset": {"offset": 9.5},
            "an easier bowl": {"curvature": 10.0},
        },
        "gradient-a-ripple-nobody-sees": {
            "a ripple that shows": {"ripple": 0.2},
            "none": {"ripple": 0.0},
            "a steep bowl": {"curvature": 10**-0.9},
        },
    },
    "LocalReparamLab": {
        "local-flipout-gains-nothing": {
            "two inputs": {"n_inputs": 2},
            "for μ": {"parameter": "μ"},
            "weights too sure": {"sigma": 0.5},
            "a smaller batch": {"size": 128},
            "without local draws": {"local": False},
            "without the shared W": {"shared": False},
            "without Flipout": {"flipout": False},
        },
        "local-what-256-rows-are-worth": {
            "σ too small": {"sigma": 0.65},
            "σ too large": {"sigma": 0.8},
            "a smaller batch": {"size": 128},
            "for σ": {"parameter": "σ", "sigma": 0.4},
            "without the shared W": {"shared": False},
            "without local draws": {"local": False},
        },
        "local-better-than-own-weights": {
            "one input": {"n_inputs": 1},
            "for μ": {"parameter": "μ"},
            "with a third": {"flipout": True},
            "three inputs": {"n_inputs": 3},
            "a smaller batch": {"size": 128},
            "weights too unsure": {"sigma": 0.6},
            "without local draws": {"local": False},
            "without a W per example": {"per_example": False},
        },
    },
    "RivalsExplorer": {
        "rivals-the-limit-opens": {
            "a timid prior": {"prior_std": 4.0},
            "another method": {"first": "ensemble", "members": 1},
            "a wider gap": {"gap": 0.4},
            "quieter noise": {"noise_std": 0.5},
        },
        "rivals-pushed-draws-stay": {
            "too wide a prior": {"prior_std": 0.6},
            "linearised": {"linearised": True},
            "the diagonal": {"structure": "diagonal"},
            "the last layer alone": {"structure": "last_layer"},
            "a few units": {"width": 2},
            "another method": {"first": "map"},
        },
        "rivals-one-point-joins": {
            "no point": {"data": None},
            "a point outside": {"data": more(GAP, (0.9, 0.0))},
            "a point at the edge of the gap": {"data": more(GAP, (0.12, 5.0))},
            "two points": {"data": more(GAP, (0.2, 9.5), (0.3, 9.5))},
            "a lone member": {"members": 1},
            "a narrow prior": {"prior_std": 1.0},
            "no anchors": {"first": "ensemble"},
        },
    },
    "PBPStepper": {
        "pbp-one-point-counted-often": {
            "too few visits": {"step": 95},
            "two points": own(0.0, 0.1),
            "α large from the start": {"alpha": 60.0, "step": 0},
        },
        "pbp-unlearn-a-guess": {
            "a better guess": {"guess": 1.95},
            "a guess that counts": {"alpha": 10**0.6},
            "too many epochs": {"step": 661},
            "fewer points": {"n": 31},
            "points by hand": own(*np.linspace(-0.5, 0.5, 32).tolist()),
        },
        "pbp-a-surprise-widens": {
            "a point that was expected": {"step": 8},
            "the refinement": {"step": 10},
            "a guess that expects it": {"guess": 2.0},
            "drawn points": {
                "data": None,
                "n": 32,
                "noise_std": 5.0,
                "sorted": False,
                "step": 27,
                "seed": 1,
            },
        },
    },
    "KLBudgetLab": {
        "kl-budget-divided-twice": {
            "divided once": {"kl_weight": 1.0},
            "divided a little less": {"kl_weight": 10**-0.8},
            "divided a little more": {"kl_weight": 10**-1.0},
            "halving shares": {"scheme": "geometric"},
            "four batches": {"n_batches": 4, "kl_weight": 10**-0.6},
            "a point more": {"data": more(DRAWN, (1.0, 0.0))},
        },
        "kl-budget-first-pays-once": {
            "half and half": {"kl_weight": 1.0},
            "a little less": {"kl_weight": 10**0.2},
            "all alike": {"scheme": "uniform"},
            "four batches": {"n_batches": 4},
            "a point more": {"data": more(DRAWN, (1.0, 0.0))},
        },
        "kl-budget-sure-at-1": {
            "another KL weight": {"kl_weight": 10**0.1},
            "nine points more": {"data": more(DRAWN, *[(1.0, 0.0)] * 9)},
            "at the other end": {"data": more(DRAWN, *[(-1.0, 0.0)] * 8)},
            "not far enough out": {"data": more(DRAWN, *[(0.6, 0.0)] * 8)},
        },
    },
    "EmpiricalBayesExplorer": {
        "empirical-bayes-own-best": {
            "learnt": {"prior": "one for all"},
            "too narrow": {"prior_std": 10**0.5},
            "too wide": {"prior_std": 10**1.0},
            "so narrow that no weight gets anywhere": {"prior_std": 0.1},
            "another noise": {"noise_std": 0.8},
        },
        "empirical-bayes-nothing-to-learn": {
            "by hand": {"prior": "fixed", "prior_std": 10**-1.5},
            "three points": own(-0.5, 0.0, 0.5),
            "loud": {"noise_std": 1.1},
            "points to learn": {"data": None},
        },
        "empirical-bayes-no-idle-weights": {
            "idle ones": {"width": 8},
            "per layer": {"prior": "per layer"},
            "one unit": {"width": 1},
            "another noise": {"noise_std": 0.8},
        },
    },
    "PicturesExplorer": {
        "pictures-too-humble": {
            "not humble enough": {"temperature": 10**0.5},
            "another": {"kind": "BBB"},
            "too sure": {"temperature": 10**-0.7},
        },
        "pictures-hardly-an-error": {
            "too few": {"answered": 0.55},
            "too many": {"answered": 0.9},
            "another": {"kind": "ordinary"},
        },
        "pictures-few-strangers-in": {"too few": {"answered": 0.45}, "all": {"answered": 1.0}},
    },
    "SinusoidExplorer": {
        "sinusoid-wider-at-1": {
            "a narrower half": {"sigma2": 10**-0.5},
            "points by hand": own(0.0),
            "another KL weight": {"kl_weight": 10**-0.1},
        },
        "sinusoid-found-in-noise": {
            "half of the prior narrow": {"pi": 0.5},
            "less noise": {"noise_std": 2.9},
            "points by hand": own(0.0),
        },
        "sinusoid-six-points": {
            "another one": {"data": more(DRAWN, (0.25, 10.0))},
            "the paper's fit": {"estimator": "weights"},
            "the six that are drawn": {"data": None},
            "points not high enough": own(-0.25, 0.25, y=7.0),
        },
    },
    "TruthExplorer": {
        "truth-one-point": {
            "none": {"data": None},
            "two": {"data": more(GAP, (0.25, 10.0), (0.3, 9.5))},
            "one outside the gap": {"data": more(GAP, (0.5, 0.0))},
            "another prior": {"prior_std": 3.1},
        },
        "truth-few-units-reach-as-far": {
            "not shown": {"prior_functions": False},
            "six units": {"width": 6, "prior_std": 4.0},
            "not so far": {"prior_std": 4.0},
            "too far": {"prior_std": 4.5},
            "points by hand": own(0.0),
        },
    },
}
