"""The claims of the course, read from a TOML file beside each module of experiments.

A file has what it is ``about``, a table for each experiment and below it one for each claim::

    [one-network]                           # results are kept under this name
    run = "one_network.scores"              # the function, which maps a world to figures
    seconds = 0.2                           # of one world on two cores, about

    [one-network.bbb-beats-mle-outside]     # the id that a chapter refers to
    says = "Outside the data, Bayes by Backprop scores higher than one network."
    measure = "log score outside, BBB − MLE"
    asked = { of = "bbb-outside", less = "mle-outside", above = 0.0, unit = "nats a point" }

The effect of a claim is a figure (``of``), minus another one (``less``) or divided by one
(``over``); the function itself computes anything more complicated. So a changed sentence or limit
leaves the stored figures valid. Importing this module needs the standard library only.
"""

import importlib
import math
import tomllib
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from bdl_teach.experiments import measured
from bdl_teach.experiments.world import Figures, World


class Rule(NamedTuple):
    """The condition on the effects of the worlds under which a claim holds."""

    above: float = -math.inf  # the mean effect exceeds this by two standard errors
    below: float = math.inf  # likewise from below
    share: float = 0.0  # of the worlds in which the effect itself lies between them

    def met_by(self, effect: float) -> bool:
        """Return whether the effect of one world lies between the limits."""
        return self.above < effect < self.below

    def in_words(self, unit: str = "") -> str:
        """Return the rule for a reader: ``"> 0 nats, in 80 % of the worlds"``."""
        above, below = (f"{value:g}".replace("-", "−") for value in (self.above, self.below))
        limits = f"{above} to {below}"
        if math.isinf(self.below):
            limits = f"> {above}"
        elif math.isinf(self.above):
            limits = f"< {below}"
        where = f", in {self.share:.0%} of the worlds".replace("%", " %") if self.share else ""
        return f"{limits} {unit}".rstrip() + where


class Claim(NamedTuple):
    """One empirical sentence of the course, and the rule that its effect must meet."""

    id: str  # the name that chapters use: lower-case words with hyphens
    sentence: str  # exactly what may be said
    measure: str  # what the effect is, such as "F, geometric − uniform"
    unit: str  # of the effect; "" for a pure number
    rule: Rule
    of: str = ""  # the figure that is the effect,
    less: str = ""  # the one that is taken from it, if any: methods are compared on the same world,
    over: str = ""  # and the one that it is divided by, if any

    def effect(self, figures: Figures) -> float:
        """Compute the effect in one world from what was measured there."""
        value = figures[self.of] - (figures[self.less] if self.less else 0.0)
        return float(value / (figures[self.over] if self.over else 1.0))


class Experiment(NamedTuple):
    """A function that is run in each world, and the claims that use its figures."""

    name: str  # results are kept under it
    run: str  # "module.function", which maps a world to figures
    seconds: float  # of one world on two cores, about; tests leave the dear ones out
    claims: tuple[Claim, ...]

    @property
    def module(self) -> str:
        """Return the name of the function's module."""
        return f"{measured.__name__}.{self.run.partition('.')[0]}"

    @property
    def function(self) -> Callable[[World], Figures]:
        """Import the function."""
        found: Callable[[World], Figures]
        found = getattr(importlib.import_module(self.module), self.run.partition(".")[2])
        return found


class Topic(NamedTuple):
    """The contents of one TOML file: a sentence on the topic, and its experiments."""

    about: str
    experiments: tuple[Experiment, ...]


@lru_cache(maxsize=1)
def topics() -> tuple[Topic, ...]:
    """Read all topics, in the order of their files' names.

    Raises:
        ValueError: Two claims have one id.
    """
    paths = [path for folder in measured.__path__ for path in Path(folder).glob("*.toml")]
    found = tuple(_topic(path) for path in sorted(paths))
    ids = [claim.id for topic in found for one in topic.experiments for claim in one.claims]
    if twice := {one for one in ids if ids.count(one) > 1}:
        raise ValueError(f"expected each claim to have an id of its own: {', '.join(twice)}")
    return found


def experiments() -> list[Experiment]:
    """Return every experiment."""
    return [one for topic in topics() for one in topic.experiments]


def claims() -> dict[str, Claim]:
    """Return every claim by its id."""
    return {claim.id: claim for one in experiments() for claim in one.claims}


def _topic(path: Path) -> Topic:
    tables: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return Topic(tables.pop("about"), tuple(_experiment(name, **t) for name, t in tables.items()))


def _experiment(name: str, *, run: str, seconds: float, **tables: Any) -> Experiment:
    return Experiment(name, run, seconds, tuple(_claim(id, **t) for id, t in tables.items()))


def _claim(id: str, *, says: str, measure: str, asked: dict[str, Any], unit: str = "") -> Claim:
    given = {"unit": unit, **asked}  # the unit may stand below, where a line is too long
    effect = {name: given.pop(name, "") for name in ("of", "less", "over")}
    return Claim(id, says, measure, given.pop("unit"), Rule(**given), **effect)
