"""What commands print: sentences of progress, numbers, tables. Standard library only."""

from __future__ import annotations

import math
import os
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("tensorflow", "tensorflow-cpu", "tensorflow-probability", "tf-keras", "jupyterlab")


def say(sentence: str) -> None:
    """Print a sentence of progress, apart from what a command itself prints."""
    print(f"bdl_teach: {sentence}", file=sys.stderr, flush=True)


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
        value = "not measured" if self.value is None else f"{number(self.value)} {self.unit}"
        sign = "≤" if self.at_most else "≥"
        wanted = f"{sign} {number(self.limit)} {self.unit}"
        return [self.what, value, wanted, "ok" if self.ok else "MISSED"]


def number(value: float) -> str:
    """Three significant digits without an exponent; whole numbers from 100 up."""
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 6)}f}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lay out text in columns: the first one to the left, the others to the right."""
    lines = [list(heads), *[list(row) for row in rows]]
    widths = [max(len(line[i]) for line in lines) for i in range(len(heads))]

    def line(cells: Sequence[str]) -> str:
        first, *rest = (
            cell.ljust(width) if i == 0 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(cells, widths, strict=True))
        )
        return "  ".join([first, *rest]).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line(lines[0]), rule, *map(line, lines[1:])])


def quantile(values: Sequence[float], share: float) -> float | None:
    """The quantile with linear interpolation; ``None`` of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    position = share * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (position - low) * (ordered[high] - ordered[low])


def seconds(action: Callable[[], object]) -> float:
    """How long one call takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def median_seconds(action: Callable[[int], object], repeats: int) -> float:
    """Median time of ``action(0)``, ``action(1)``, ..."""
    return statistics.median(seconds(partial(action, i)) for i in range(repeats))


def cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def machine() -> dict[str, str | int | float]:
    """What a figure depends on: cores, load, Python and package versions."""
    facts: dict[str, str | int | float] = {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": cores(),
        "python": platform.python_version(),
    }
    if hasattr(os, "getloadavg"):
        facts["load"] = round(os.getloadavg()[0], 2)
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            continue
    return facts


def machine_line() -> str:
    """The same as one line."""
    return "Machine: " + ", ".join(f"{name} {value}" for name, value in machine().items())
