"""What a claim is made of: a world, an experiment in it, a formula for the effect, a rule.

What a claim says and asks stands in the TOML file beside the experiment (``listing.py``), so that
a changed sentence or limit leaves the stored figures valid; a changed formula does not.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

Figures = Mapping[str, float]  # what an experiment measured in one world, by name


@dataclass(frozen=True)
class World:
    """Everything that is drawn by lot in one run of an experiment: a data set, a start.

    World n has the thousand seeds from 1000 (n + 1) on to itself. So no two worlds share a seed,
    and none has one of the small seeds 0, 1, 2, ... on which the course's settings were chosen.
    Data and start never have the *same* seed either: two generators that start alike would make
    the first weights of a network equal the noise on its data.

    Attributes:
        number: 0, 1, 2, ...
    """

    number: int

    @property
    def data_seed(self) -> int:
        """Seed of the data."""
        return self.seed(0)

    @property
    def start_seed(self) -> int:
        """Seed of the fit: its starting point and its noise. Fits that are compared share it."""
        return self.seed(1)

    def parts(self, n: int) -> list[World]:
        """The n worlds of which this is made, where one data set says little; no other has them."""
        return [World(n * self.number + k) for k in range(n)]

    def seed(self, k: int) -> int:
        """Seed k of this world, for what else is drawn: 0 is the data's, 1 the start's.

        Raises:
            ValueError: k is not one of 0, ..., 999.
        """
        if not 0 <= k < 1000:
            raise ValueError(f"k: expected 0 to 999, got {k}")
        return 1000 * (self.number + 1) + k


@dataclass(frozen=True)
class Rule:
    """What the effects of the worlds must be for a claim to hold.

    Attributes:
        above: What the mean effect lies above, by two standard errors.
        below: What it lies below, by two standard errors.
        share: In which share of the worlds the effect itself must lie between them.
    """

    above: float = -math.inf
    below: float = math.inf
    share: float = 0.0

    def met_by(self, effect: float) -> bool:
        """Whether the effect of one world lies between the limits."""
        return self.above < effect < self.below

    def in_words(self, unit: str = "") -> str:
        """The rule for a reader: ``"> 0 nats, in 80 % of the worlds"``."""
        number = {value: f"{value:g}".replace("-", "−") for value in (self.above, self.below)}
        limits = f"{number[self.above]} to {number[self.below]}"
        if math.isinf(self.below):
            limits = f"> {number[self.above]}"
        elif math.isinf(self.above):
            limits = f"< {number[self.below]}"
        where = f", in {self.share:.0%} of the worlds".replace("%", " %") if self.share else ""
        return f"{limits} {unit}".rstrip() + where


class Claim(NamedTuple):
    """One empirical sentence of the course, and what its effect must be for it to stand.

    Attributes:
        id: What a chapter refers to it by: lower-case words with hyphens.
        sentence: Exactly what may be said, in one plain sentence.
        measure: What the effect is, such as ``"F, geometric − uniform"``.
        unit: Of the effect; "" for a pure number.
        rule: What the effects must be.
    """

    id: str
    sentence: str
    measure: str
    unit: str
    rule: Rule


@dataclass(frozen=True)
class Experiment:
    """What is done in one world, and the claims that rest on it.

    Attributes:
        name: Unique; results are kept under it.
        run: Maps a world to figures by name; a function of a module, so that another process can
            be told its name, which depends on the world alone. Everything that costs time is here.
        effects: For each claim's id, the formula from the figures of one world to the effect.
            Methods are compared in pairs, on the same world: the effect is the difference. A share
            of worlds is the mean of 0s and 1s.
        seconds: About how long one world takes on two cores, for those who plan; tests sample
            the quick ones more.
    """

    name: str
    run: Callable[[World], Figures]
    effects: Mapping[str, Callable[[Figures], float]]
    seconds: float
