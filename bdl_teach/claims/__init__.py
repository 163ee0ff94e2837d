"""The claims of the course: the worlds that they are measured in, and the stored verdicts.

A checkout has the experiments beside the package, in ``evidence/``. There
``python3 -m bdl_teach claims --store`` measures the claims and writes ``stored.json``.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from bdl_teach._support import report

Figures = Mapping[str, float]  # numbers measured in one run, by name
FILE = Path(__file__).with_name("stored.json")


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


class Verdict(NamedTuple):
    """What was found about one claim, in all worlds together."""

    id: str
    claim: str  # its sentence: exactly what may be said
    measure: str  # what the effect is, such as "F, geometric − uniform"
    effect: str  # mean ± standard error, and the unit: "37.1 ± 8.2 nats"
    asked: str  # the limits that the effect must meet: "> 0 nats"
    worlds: int  # in which it was measured
    met: int  # of them: those whose own effect meets the limits
    mean: float  # of the effect over the worlds
    error: float  # standard error of the mean
    verdict: str  # "holds", "does not hold" or "open"
    falls: bool  # whether the sentence must not be said


def show(*ids: str) -> list[Verdict]:
    """Print the stored verdicts on some claims as a table, and return them.

    A row has the claim's id in words, the mean effect ± its standard error, the limit that was
    asked for, and in how many worlds it was met. A line below says what the effect is of. The
    sentence is a field of the :class:`Verdict`.

    Args:
        *ids: Ids of claims; at least one.

    Returns:
        The :class:`Verdict` on each claim, in the order of ``ids``.

    Raises:
        ValueError: There is no claim of that id.
        LookupError: No verdict is stored on a claim.
    """
    verdicts = stored()["verdicts"]
    if not ids or (unknown := [one for one in ids if one not in verdicts]):
        came = ", ".join(unknown) if ids else "none"
        raise ValueError(f"ids: expected some of {', '.join(verdicts)}; got {came}")
    if without := [one for one in ids if not verdicts[one]]:
        command = f"python3 -m bdl_teach claims --store {' '.join(without)}"
        raise LookupError(f"No verdict is stored on these; in a checkout, measure them: {command}")
    found = [Verdict(one, **verdicts[one]) for one in ids]
    heads = ("claim", "mean ± error", "asked for", "worlds", "verdict")
    rows = [
        (
            one.id.replace("-", " "),
            one.effect,
            cast(re.Match[str], re.match(r"[<>]? ?[−.\d]+( to [−.\d]+)?( %)?", one.asked))[0],
            f"{one.met} of {one.worlds}",
            one.verdict,
        )
        for one in found
    ]
    lines = report.table(heads, rows).splitlines()
    pairs = zip(lines[2:], found, strict=True)
    below = [part for line, one in pairs for part in (line, f"    {one.measure}")]
    print("\n".join([*lines[:2], *below]))
    return found


def measured(name: str) -> dict[str, dict[str, float]]:
    """Return what an experiment or a paper's table measured, where a chapter draws it.

    Args:
        name: Of an experiment, such as ``"gap-bands"``, or a table, such as ``"refits"``.

    Returns:
        The numbers by name, for each world or other task.

    Raises:
        ValueError: Nothing of that name is stored.
    """
    every = stored()["figures"]
    if name not in every:
        raise ValueError(f"name: expected one of {', '.join(every)}; got {name!r}")
    rows = {
        task: zip(every[name]["names"], row, strict=True)
        for task, row in every[name]["rows"].items()
    }
    return {
        task: {key: value for key, value in row if value is not None} for task, row in rows.items()
    }


@cache
def stored() -> dict[str, Any]:
    """Return the contents of the file: the ``verdicts`` by id, ``figures`` and ``sources``."""
    contents: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return contents
