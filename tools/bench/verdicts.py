"""Figures that were measured, beside their limits."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from bdl_teach._support import report


@dataclass(frozen=True)
class Verdict:
    """A measured value beside its limit.

    Attributes:
        what: What was measured.
        value: The figure, ``None`` where nothing could be measured.
        unit: Of the figure and of the limit.
        limit: What is asked for.
        at_most: Whether the limit is an upper one.
    """

    what: str
    value: float | None
    unit: str
    limit: float
    at_most: bool = True

    @property
    def ok(self) -> bool:
        """Whether the figure is within its limit; what was not measured is not."""
        if self.value is None or math.isnan(self.value):
            return False
        return self.value <= self.limit if self.at_most else self.value >= self.limit

    def cells(self) -> list[str]:
        """The row of a table: what, figure, limit, verdict."""
        value = "not measured" if self.value is None else f"{report.number(self.value)} {self.unit}"
        sign = "≤" if self.at_most else "≥"
        wanted = f"{sign} {report.number(self.limit)} {self.unit}"
        return [self.what, value, wanted, "ok" if self.ok else "MISSED"]


def seconds(action: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def median_seconds(action: Callable[[int], object], repeats: int) -> float:
    """Median time of ``action(0)``, ``action(1)``, ..."""
    return statistics.median(seconds(partial(action, i)) for i in range(repeats))
