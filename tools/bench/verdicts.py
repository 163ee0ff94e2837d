"""Compare measured values with their limits, and print the results of a benchmark."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

from bdl_teach._support import report


@dataclass(frozen=True)
class Verdict:
    """A measured value and its limit.

    Attributes:
        what: What was measured.
        value: The measured value, ``None`` if there is none.
        unit: Unit of the value and the limit.
        limit: The limit.
        at_most: Whether the limit is an upper one.
    """

    what: str
    value: float | None
    unit: str
    limit: float
    at_most: bool = True

    @property
    def ok(self) -> bool:
        """Return whether the value is within its limit; False if there is none."""
        if self.value is None or math.isnan(self.value):
            return False
        return self.value <= self.limit if self.at_most else self.value >= self.limit

    def cells(self) -> list[str]:
        """Return the row of a table: what, value, limit, verdict."""
        value = "not measured" if self.value is None else f"{report.number(self.value)} {self.unit}"
        sign = "≤" if self.at_most else "≥"
        wanted = f"{sign} {report.number(self.limit)} {self.unit}"
        return [self.what, value, wanted, "ok" if self.ok else "MISSED"]


def seconds(action: Callable[[], object]) -> float:
    """Return how many seconds a call of ``action`` takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def median_seconds(action: Callable[[int], object], repeats: int) -> float:
    """Return the median time in seconds of the calls ``action(0)``, ``action(1)``, ..."""
    return statistics.median(seconds(partial(action, i)) for i in range(repeats))


def finish(
    options: argparse.Namespace,
    results: Mapping[str, object],
    text: Sequence[str],
    verdicts: Sequence[Verdict],
) -> int:
    """Print the results as JSON or as text; return 1 if a limit is missed and `--strict` set."""
    if options.json:
        judged = [{**asdict(v), "ok": v.ok} for v in verdicts]
        print(json.dumps({"machine": report.machine(), **results, "verdicts": judged}, indent=2))
    else:
        rows = [verdict.cells() for verdict in verdicts]
        table = [report.table(["measured", "here", "limit", ""], rows)] if rows else []
        print(report.machine_line(), *text, *table, sep="\n\n")
    return 1 if options.strict and not all(v.ok for v in verdicts) else 0
