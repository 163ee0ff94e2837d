"""What the presets and the question of the prior's explorer promise (chapter 6).

Each is measured on what the explorer computes.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bdl_teach import metrics, problems
from bdl_teach.claims.claim import Experiment, World
from bdl_teach.methods.empirical_bayes import optimal_prior_std
from bdl_teach.problems import Problem, live_fits

X = np.linspace(-1.0, 1.0, 121)[:, None]
OFF = 0.5  # a weight with |μ|/σ below this is switched off
AMONG = np.abs(X[:, 0]) <= 0.5
PRESETS = {  # what is set, and which weights share a σ_p that is learnt
    "by hand": (Problem(gap=0.0, scales=(1.0,)), ""),
    "too narrow": (Problem(gap=0.0, scales=(10**-1.0,)), ""),
    "too wide": (Problem(gap=0.0, scales=(10.0,)), ""),
    "learn one": (Problem(gap=0.0), "all"),
    "learn each": (Problem(gap=0.0), "weight"),
    "wider, no worse": (Problem(gap=0.0, hidden_units=(30,)), "weight"),
    "noise wins": (Problem(n=8, noise_std=3.0, gap=0.0), "weight"),
}


def priors(world: World) -> dict[str, float]:
    """What the empirical Bayes explorer shows at each preset: star, ends, height, error, off.

    ``star`` is the best σ_p for the weights found, ``ends`` the mean epistemic sd at x = ±1,
    ``height`` the range of the mean, ``error`` its rms distance from the sine among the data,
    ``off`` the share of weights that are switched off.
    """
    figures: dict[str, float] = {}
    truth = problems.truth(X)
    for name, (problem, tie) in PRESETS.items():
        fit, std = live_fits.with_prior(replace(problem, seed=world.data_seed), tie)
        p, used = fit.predict(X, n_samples=200), std > 0
        spread, together = np.maximum(fit.std[used], 1e-30), np.zeros(used.sum(), int)
        figures |= {
            f"{name} star": float(optimal_prior_std(fit.mean[used], spread, together)[0]),
            f"{name} ends": float(p.epistemic_std[[0, -1]].mean()),
            f"{name} height": float(np.ptp(p.mean)),
            f"{name} error": float(metrics.rmse(truth[AMONG], p.mean[AMONG])),
            f"{name} off": float((fit.signal_to_noise < OFF).mean()),
        }
    return figures


PRIORS = Experiment(
    "prior-presets",
    priors,
    {
        "by-hand-the-star-is-further-right": lambda f: f["by hand star"],
        "a-prior-too-narrow-keeps-the-mean-flat": lambda f: f["too narrow height"],
        "a-prior-too-narrow-calls-itself-right": lambda f: f["too narrow star"],
        "under-a-wide-prior-the-star-stands-near-8": lambda f: f["too wide star"],
        "a-wider-prior-opens-the-band-beyond-the-data": lambda f: (
            f["too wide ends"] / f["by hand ends"]
        ),
        "thirty-units-are-about-as-near-as-twenty": lambda f: (
            f["wider, no worse error"] - f["learn each error"]
        ),
        "of-twenty-units-most-weights-are-off": lambda f: f["learn each off"],
        "of-thirty-units-most-weights-are-off": lambda f: f["wider, no worse off"],
        "few-loud-points-switch-nine-tenths-off": lambda f: f["noise wins off"],
    },
    seconds=0.5,
)
