"""What is claimed: the TOML file beside each module of experiments, one table a claim.

Reading it needs nothing installed. A table is named by the claim's id and has the sentence
(``says``), what is measured (``measure``) and the limits of its effect (``asked``).
"""

from __future__ import annotations

import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from bdl_teach.claims import experiments
from bdl_teach.claims.claim import Claim, Rule


class Topic(NamedTuple):
    """The claims of one module of experiments.

    Attributes:
        name: Of the module.
        about: What the module is about, in one sentence.
        claims: Its claims, in the order of the file.
    """

    name: str
    about: str
    claims: tuple[Claim, ...]


@lru_cache(maxsize=1)
def topics() -> tuple[Topic, ...]:
    """Read every topic, in the order of their names.

    Raises:
        ValueError: Two claims have one id.
    """
    paths = sorted(path for folder in experiments.__path__ for path in Path(folder).glob("*.toml"))
    found = tuple(_topic(path) for path in paths)
    ids = [claim.id for topic in found for claim in topic.claims]
    if twice := {one for one in ids if ids.count(one) > 1}:
        raise ValueError(f"expected each claim to have an id of its own: {', '.join(twice)}")
    return found


@lru_cache(maxsize=1)
def claims() -> dict[str, Claim]:
    """Return what every claim says and asks, by its id."""
    return {claim.id: claim for topic in topics() for claim in topic.claims}


def _topic(path: Path) -> Topic:
    with path.open("rb") as file:
        tables: dict[str, Any] = tomllib.load(file)
    about = tables.pop("about")
    return Topic(path.stem, about, tuple(_claim(id, **one) for id, one in tables.items()))


def _claim(id: str, *, says: str, measure: str, asked: dict[str, Any]) -> Claim:
    limits = dict(asked)
    return Claim(id, says, measure, limits.pop("unit", ""), Rule(**limits))
