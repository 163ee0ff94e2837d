"""Chapter 4: right answers computed differently than the references, and wrong answers."""

from typing import Any

import numpy as np

from bdl_teach import exercises


def rescaled(std_factor: float) -> Any:
    """Return an answer with the reference's means and its standard deviations times a factor."""
    fitted: Any = exercises.REGISTRY["4.6"]
    return lambda seed: np.multiply(fitted._returned[seed], [[1.0], [std_factor]])


RIGHT: list[tuple[str, Any]] = [
    ("4.6", rescaled(0.97)),
]

WRONG: list[tuple[str, str, Any]] = [
    ("4.6", "too high", rescaled(2.0)),
    ("4.6", "variances", lambda seed: (rescaled(1.0)(seed)[0], rescaled(1.0)(seed)[1] ** 2)),
    ("4.6", "some σ is not above 0", lambda seed: (np.zeros(481), np.full(481, -1.0))),
    ("4.7", "expected", lambda seed, steps: np.array(steps) < 80),
]
