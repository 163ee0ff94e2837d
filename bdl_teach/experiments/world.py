"""A world: the seeds of all random draws in one run of an experiment."""

from collections.abc import Mapping
from dataclasses import dataclass

Figures = Mapping[str, float]  # what was measured in one run, by name


@dataclass(frozen=True)
class World:
    """A data set and a start, both fixed by seeds.

    World n owns the thousand seeds from 1000 (n + 1) on. So no two worlds share a seed, and none
    has one of the small seeds on which the course's settings were chosen. Data and start never have
    the *same* seed either: the first weights of a network would equal the noise on its data.
    """

    number: int  # 0, 1, 2, ...

    @property
    def data_seed(self) -> int:
        """Return the seed of the data."""
        return self.seed(0)

    @property
    def start_seed(self) -> int:
        """Return the seed of a fit's start and noise, which fits that are compared share."""
        return self.seed(1)

    def parts(self, n: int) -> "list[World]":
        """Return n sub-worlds with their own seeds, for experiments that need several data sets."""
        return [World(n * self.number + k) for k in range(n)]

    def seed(self, k: int) -> int:
        """Return seed k of this world for other draws: 0 is the data's, 1 the start's.

        Raises:
            ValueError: k is not one of 0, ..., 999.
        """
        if not 0 <= k < 1000:
            raise ValueError(f"k: expected 0 to 999, got {k}")
        return 1000 * (self.number + 1) + k
