"""What wrong answers like to use: it makes the many faces of one mistake."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

# Added to a density or a probability, or a limit for it, so that its logarithm stays finite.
TINY = (1e-300, 1e-100, 1e-30, 1e-20, 1e-16, 1e-15, 1e-12, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6)

# What divides natural logarithms that were taken to another base.
BASES = (np.log(2.0), np.log(10.0))

# Added under a root or a line, so that nothing is divided by 0.
EPS = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)

# What is taken out of logarithms in the largest's place, along the first axis.
NOT_LARGEST: tuple[Callable[[Any], Any], ...] = (
    lambda logs: np.min(logs, axis=0),
    lambda logs: np.mean(logs, axis=0),
    lambda logs: np.median(logs, axis=0),
    lambda logs: logs[0],
    lambda logs: logs[-1],
)
