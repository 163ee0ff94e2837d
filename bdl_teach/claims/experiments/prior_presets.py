"""What the presets and the question of the prior's explorer promise (chapter 6).

Each is measured on what the explorer computes.
"""

from __future__ import annotations

import numpy as np

from bdl_teach import metrics
from bdl_teach.claims.claim import Claim, Experiment, World, above, below, within
from bdl_teach.widgets import empirical_bayes
from bdl_teach.widgets.empirical_bayes import EmpiricalBayesExplorer


def priors(world: World) -> dict[str, float]:
    """What the empirical Bayes explorer shows at each preset: star, ends, height, error, off.

    ``star`` is the best σ_p for the weights found, ``ends`` the mean epistemic sd at x = ±1,
    ``height`` the range of the mean, ``error`` its rms distance from the sine among the data,
    ``off`` the share of weights that are switched off.
    """
    figures: dict[str, float] = {}
    for name, (_, values) in EmpiricalBayesExplorer.PRESETS.items():
        result = empirical_bayes.refit(**{**values, "seed": world.data_seed})
        p, x = result.prediction, result.x_grid
        among = np.abs(x[:, 0]) <= 0.5
        truth = result.data.truth(x)[:, 0]
        figures |= {
            f"{name} star": result.best_std,
            f"{name} ends": float(p.epistemic_std[[0, -1]].mean()),
            f"{name} height": float(np.ptp(p.mean)),
            f"{name} error": float(metrics.rmse(truth[among], p.mean[among])),
            f"{name} off": result.off,
        }
    return figures


PRIORS = Experiment(
    "prior-presets",
    priors,
    (
        Claim(
            "by-hand-the-star-is-further-right",
            "With σ_p = 1 set by hand, the σ_p that would be best for the weights found is larger "
            "by a tenth and more.",
            "best σ_p for the weights found, σ_p = 1",
            "",
            above(1.1, share=0.9),
            lambda f: f["by hand star"],
        ),
        Claim(
            "a-prior-too-narrow-keeps-the-mean-flat",
            "With σ_p = 0.1 the mean of the network ranges over less than one of the sine's twenty "
            "units.",
            "range of the mean, σ_p = 0.1",
            "units of y",
            below(1.0, share=0.9),
            lambda f: f["too narrow height"],
        ),
        Claim(
            "a-prior-too-narrow-calls-itself-right",
            "With σ_p = 0.1 the σ_p that would be best for the weights found is 0.09 to 0.11.",
            "best σ_p for the weights found, σ_p = 0.1",
            "",
            within(0.09, 0.11, share=0.9),
            lambda f: f["too narrow star"],
        ),
        Claim(
            "under-a-wide-prior-the-star-stands-near-8",
            "With σ_p = 10 the σ_p that would be best for the weights found is 7 to 9.",
            "best σ_p for the weights found, σ_p = 10",
            "",
            within(7.0, 9.0, share=0.9),
            lambda f: f["too wide star"],
        ),
        Claim(
            "a-wider-prior-opens-the-band-beyond-the-data",
            "With σ_p = 10 instead of 1 the epistemic band at x = ±1 is more than twice as wide.",
            "epistemic sd at x = ±1, σ_p = 10 over 1",
            "",
            above(2.0, share=0.9),
            lambda f: f["too wide ends"] / f["by hand ends"],
        ),
        Claim(
            "thirty-units-are-about-as-near-as-twenty",
            "With a prior for each weight, 30 units come to within three quarters of a unit as "
            "near to the sine as 20, on average.",
            "rms error of the mean among the data, 30 units − 20",
            "units of y",
            below(0.75, share=0.6),
            lambda f: f["wider, no worse error"] - f["learn each error"],
        ),
        Claim(
            "of-twenty-units-most-weights-are-off",
            "With a prior for each weight and 20 units, more than half of the weights are switched "
            "off.",
            "share of weights with |γ| < ½, 20 units",
            "",
            above(0.5, share=0.9),
            lambda f: f["learn each off"],
        ),
        Claim(
            "of-thirty-units-most-weights-are-off",
            "With a prior for each weight and 30 units, more than half of the weights are switched "
            "off.",
            "share of weights with |γ| < ½, 30 units",
            "",
            above(0.5, share=0.9),
            lambda f: f["wider, no worse off"],
        ),
        Claim(
            "few-loud-points-switch-nine-tenths-off",
            "With σ = 3 and eight points, a prior for each weight switches more than nine in ten "
            "of them off.",
            "share of weights with |γ| < ½, σ = 3, 8 points",
            "",
            above(0.9, share=0.7),
            lambda f: f["noise wins off"],
        ),
    ),
    seconds=0.5,
)
