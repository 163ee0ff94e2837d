"""What the presets and the question of the prior's explorer promise (chapter 6).

Each is measured on what the explorer computes.
"""

from __future__ import annotations

import numpy as np

from bdl_teach import metrics
from bdl_teach.experiments.world import World
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
