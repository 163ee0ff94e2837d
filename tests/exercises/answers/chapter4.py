"""Chapter 4: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np

from bdl_teach import datasets
from bdl_teach.exercises import chapter4
from bdl_teach.methods import bbb


def posterior(seed: int, **chosen: Any) -> Any:
    data = datasets.sinusoid(seed=seed)
    return bbb.fit(data.x, data.y, **chosen)


def as_it_is(seed: int, **chosen: Any) -> Any:
    fit = posterior(seed, **chosen)
    return fit.mean, fit.std


RIGHT: list[tuple[str, Any]] = [
    ("4.6", lambda seed: np.multiply(chapter4._converged(seed), [[1.0], [0.97]])),
]

WRONG: list[tuple[str, str, Any]] = [
    ("4.6", "too high", lambda seed: as_it_is(seed, **bbb.ARTICLE)),
    ("4.6", "some σ is not above 0", lambda seed: (np.zeros(481), np.full(481, -1.0))),
    ("4.7", "expected", lambda seed, steps: np.array(steps) < 80),
]
