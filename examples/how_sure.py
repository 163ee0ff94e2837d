"""The exercise that asks how sure one is after n points."""

from __future__ import annotations

from typing import Any

from bdl_teach.exercises import Exercise, Mistake


def _std_after(prior_std: Any, noise_std: Any, n: Any) -> Any:
    return (prior_std**-2 + n * noise_std**-2) ** -0.5


STD_AFTER = Exercise(
    "1.11",
    "Compute: how sure after n points",
    "1.4",
    _std_after,
    ((1.0, 0.5, 4), (3.0, 2.0, 1), (0.2, 0.7, 100), (1e-3, 5.0, 7)),
    (
        Mistake(
            "the prior is missing",
            "the prior counts like data: its precision 1/σ_p² is added to that of the points.",
            lambda prior_std, noise_std, n: noise_std / n**0.5,
        ),
        Mistake(
            "variance for sd",
            "one over the precision is the variance: take its root.",
            lambda prior_std, noise_std, n: _std_after(prior_std, noise_std, n) ** 2,
        ),
    ),
)
