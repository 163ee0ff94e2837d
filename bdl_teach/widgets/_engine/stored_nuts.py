"""Find the runs of NUTS that ``tools/store_nuts.py`` stores for the sinusoid explorer's presets."""

import hashlib
import json
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from bdl_teach.problems import Problem

FILE = Path(__file__).with_name("stored_nuts.json")


class Stored(NamedTuple):
    """A run of NUTS: names of presets, predictions at ``WIDE_GRID``, and how well it has mixed."""

    of: list[str]
    draws: str  # such as "4 × 500"
    r_hat: float  # ``mcmc.largest_r_hat`` at ``WIDE_GRID``
    mean: list[float]
    epistemic_std: list[float]


def key(problem: Problem) -> str:
    """Return the SHA-256 of a problem's data and model, each number rounded to six digits first.

    The rounding makes the key the same on all platforms.
    """
    data, model = problem.data, (*problem.scales, *problem.hidden_units)
    numbers = (*data.x[:, 0], *data.y[:, 0], problem.noise_std, *model)
    return hashlib.sha256(" ".join(f"{v:.6g}" for v in numbers).encode()).hexdigest()


@lru_cache(maxsize=1)
def read() -> dict[str, Stored]:
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    return {name: Stored(**entry) for name, entry in entries.items()}
