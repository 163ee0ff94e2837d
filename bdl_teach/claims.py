"""The worlds that claims are measured in, and what checks the claims (see ``evidence``)."""

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Figures = Mapping[str, float]  # numbers measured in one run, by name


@dataclass(frozen=True)
class World:
    """The seeds of one run: of its data, of the start of its fits, and of other random draws.

    World n has the seeds 1000 (n + 1) to 1000 (n + 1) + 999. No other world has them, and the
    course's settings were chosen with smaller seeds. Data and start have different seeds, since
    with equal ones a network's first weights would equal the noise on its data.
    """

    number: int  # 0, 1, 2, ...

    @property
    def data_seed(self) -> int:
        """Return the seed of the data."""
        return self.seed(0)

    @property
    def start_seed(self) -> int:
        """Return the seed of a fit's start and noise, which all fits of a comparison share."""
        return self.seed(1)

    def parts(self, n: int) -> "list[World]":
        """Return n worlds, one for each of n data sets of this run.

        For the same n, the parts of different worlds have different seeds.
        """
        return [World(n * self.number + k) for k in range(n)]

    def seed(self, k: int) -> int:
        """Return seed ``k`` (0 to 999) of this world; 0 is for the data, 1 for a fit's start."""
        if not 0 <= k < 1000:
            raise ValueError(f"k: expected 0 to 999, got {k}")
        return 1000 * (self.number + 1) + k


def __getattr__(name: str) -> Any:
    """Import from ``evidence``: a shim until the chapters no longer need it."""
    found = {
        "add_arguments": ("command", "add_claims"),
        "run": ("command", "run_claims"),
        "claim": ("claim", ""),
        "judge": ("judge", ""),
        "rivals": ("rivals", ""),
        "experiments": ("measured", ""),
        "show": ("runs", "show"),
        "stored": ("runs", "stored"),
    }
    if name not in found:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module, attribute = found[name]
    imported = importlib.import_module(f"evidence.{module}")
    return getattr(imported, attribute) if attribute else imported
