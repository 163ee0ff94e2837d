"""Define the exercise that asks how sure one is after n points.

A line of ``exercises/texts.toml`` would have its title and the section to read:
``"1.11" = ["Compute: how sure after n points", "1.4"]``.
"""

from __future__ import annotations

from typing import Any

from bdl_teach.exercises._engine import exercise


@exercise(
    "1.11",
    (1.0, 0.5, 4),
    (3.0, 2.0, 1),
    (0.2, 0.7, 100),
    (1e-3, 5.0, 7),
    "the prior is missing: the prior counts like data: its precision 1/σ_p² is added to that "
    "of the points.",
    lambda prior_std, noise_std, n: noise_std / n**0.5,
    "sds added for precisions: information adds up: 1/sd² = 1/σ_p² + n/s².",
    lambda prior_std, noise_std, n: 1 / (1 / prior_std + n / noise_std),
)
def std_after(prior_std: Any, noise_std: Any, n: Any) -> Any:
    """Return the sd of a weight that n points have measured directly."""
    return (prior_std**-2 + n * noise_std**-2) ** -0.5
