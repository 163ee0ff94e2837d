"""The claims of the course, read from a TOML file beside each module of experiments.

The first line of a file, ``about``, is its topic. Then comes a table for each experiment and, below
it, one for each of the experiment's claims::

    [one-network]                           # results are stored under this name
    run = "one_network.scores"              # module.trial, see :class:`Trial`
    seconds = 0.2                           # roughly, for one world on two cores

    [one-network.bbb-beats-mle-outside]     # the id that a chapter refers to
    says = "Outside the data, Bayes by Backprop scores higher than one network."
    measure = "log score outside, BBB − MLE"
    asked = { of = "bbb-outside", less = "mle-outside", above = 0.0, unit = "nats a point" }

The effect in a world is (``of`` − ``less``) / ``over``; the last two may be left out, and the unit
of a quotient, too: it is "ratio". A "share of worlds" is printed as "% of worlds". Sentences, units
and limits can change without a new run. Importing this module needs the standard library only.
"""

import importlib
import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

from bdl_teach.claims import Figures, World
from evidence import measured
from evidence.source import hash_of

T = TypeVar("T")


@dataclass(frozen=True)
class Trial(Generic[T]):
    """What an experiment does in a world: it trains, and measures what was trained."""

    fits: Callable[[World], T]  # trains, and returns all that is measured: predictions, F, ...
    measure: Callable[[T], Figures]  # pure: takes what ``fits`` returned, returns {name: number}

    def __call__(self, world: World) -> Figures:
        """Return the numbers that are measured in a world."""
        return self.measure(self.fits(world))


def scale_and_unit(unit: str) -> tuple[float, str]:
    """Return by what figures are multiplied in print, and their unit: a share is in percent."""
    return (100.0, f"% {unit[6:]}") if unit.startswith("share of ") else (1.0, unit)


class Rule(NamedTuple):
    """The limits that a claim's effect must meet."""

    above: float = -math.inf  # the mean effect exceeds this by two standard errors
    below: float = math.inf  # the mean effect is less than this by two standard errors
    share: float = 0.0  # of the worlds whose own effect lies between the two limits, at least

    def met_by(self, effect: float) -> bool:
        """Return whether the effect in one world lies between the limits."""
        return self.above < effect < self.below

    def in_words(self, unit: str = "") -> str:
        """Return the limits as text, such as ``"> 0 nats, in 80 % of the worlds"``."""
        scale, unit = scale_and_unit(unit)
        ends = (scale * self.above, scale * self.below)
        above, below = (f"{value:g}".replace("-", "−") for value in ends)
        limits = f"{above} to {below}"
        if math.isinf(self.below):
            limits = f"> {above}"
        elif math.isinf(self.above):
            limits = f"< {below}"
        where = f", in {self.share:.0%} of the worlds".replace("%", " %") if self.share else ""
        return f"{limits} {unit}".rstrip() + where


class Claim(NamedTuple):
    """One empirical sentence of the course, and the rule that its effect must meet."""

    id: str  # lower-case words with hyphens
    sentence: str  # exactly what may be said
    measure: str  # what the effect is, such as "F, geometric − uniform"
    unit: str  # of the effect, or what it is a share of: "nats", "ratio", "share of worlds"
    rule: Rule
    of: str = ""  # name of the number that is the effect
    less: str = ""  # name of a number that is subtracted from it
    over: str = ""  # name of a number that the difference is divided by

    def effect(self, figures: Figures) -> float:
        """Return the effect in one world, given the numbers measured there."""
        value = figures[self.of] - (figures[self.less] if self.less else 0.0)
        return float(value / (figures[self.over] if self.over else 1.0))


class Experiment(NamedTuple):
    """A trial that is run in each world, and the claims that use its results."""

    name: str  # results are stored under it
    run: str  # "module.trial"
    seconds: float  # roughly, for one world on two cores
    claims: tuple[Claim, ...]

    @property
    def module(self) -> str:
        """Return the name of the module that the trial stands in."""
        return f"{measured.__name__}.{self.run.partition('.')[0]}"

    @property
    def source(self) -> str:
        """Return a hash of the trial's code and of what that uses of ``evidence``."""
        return hash_of(self.module, self.run.partition(".")[2])

    @property
    def trial(self) -> Trial[Any]:
        """Import and return the trial."""
        module = importlib.import_module(self.module)
        found: Trial[Any] = getattr(module, self.run.partition(".")[2])
        return found


@lru_cache(maxsize=1)
def topics() -> list[tuple[str, list[Experiment]]]:
    """Return the topic (the line ``about``) and the experiments of each TOML file.

    Raises:
        ValueError: Two claims have the same id.
    """
    paths = [path for folder in measured.__path__ for path in Path(folder).glob("*.toml")]
    found = list(map(_topic, sorted(paths)))
    ids = [claim.id for _, some in found for one in some for claim in one.claims]
    if again := ", ".join({one for one in ids if ids.count(one) > 1}):
        raise ValueError(f"id: expected each to be used once, got these more often: {again}")
    return found


def experiments() -> list[Experiment]:
    """Return every experiment."""
    return [one for _, some in topics() for one in some]


def claims() -> dict[str, Claim]:
    """Return every claim, by its id."""
    return {claim.id: claim for one in experiments() for claim in one.claims}


def _topic(path: Path) -> tuple[str, list[Experiment]]:
    tables: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return tables.pop("about"), [_experiment(name, **table) for name, table in tables.items()]


def _experiment(name: str, *, run: str, seconds: float, **tables: Any) -> Experiment:
    return Experiment(name, run, seconds, tuple(_claim(id, **t) for id, t in tables.items()))


def _claim(id: str, *, says: str, measure: str, asked: dict[str, Any], unit: str = "") -> Claim:
    unit = unit or ("ratio" if "over" in asked else "")
    given = {"unit": unit, **asked}  # the unit may stand in a line of its own
    effect = {name: given.pop(name, "") for name in ("of", "less", "over")}
    return Claim(id, says, measure, given.pop("unit"), Rule(**given), **effect)
