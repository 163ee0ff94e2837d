"""Format numbers and tables, and describe the computer, with the standard library only."""

from __future__ import annotations

import math
import os
import platform
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("tensorflow", "tensorflow-cpu", "tensorflow-probability", "tf-keras", "jupyterlab")


def say(sentence: str) -> None:
    """Print a message on standard error."""
    print(f"bdl_teach: {sentence}", file=sys.stderr, flush=True)


def number(value: float) -> str:
    """Format a number without an exponent.

    It has three significant digits, but at most six decimals; from 100 on it is an integer.
    """
    if not math.isfinite(value) or value == 0:
        return f"{value:g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{min(digits, 6)}f}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table as text: the first column is aligned to the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]

    def line(cells: Sequence[str]) -> str:
        rest = map(str.rjust, cells[1:], widths[1:])
        return "  ".join([cells[0].ljust(widths[0]), *rest]).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([line(heads), rule, *map(line, rows)])


def machine() -> dict[str, str | int | float]:
    """Return the system, cores, load (1 minute), and versions of Python and packages, by name."""
    facts: dict[str, str | int | float] = {
        "system": f"{platform.system()} {platform.machine()}",
        "cores": os.cpu_count() or 1,
        "python": platform.python_version(),
    }
    if hasattr(os, "sched_getaffinity"):
        facts["cores"] = len(os.sched_getaffinity(0))  # those that this process may use
    if hasattr(os, "getloadavg"):
        facts["load"] = round(os.getloadavg()[0], 2)
    for package in PACKAGES:
        with suppress(PackageNotFoundError):
            facts[package] = version(package)
    return facts


def machine_line() -> str:
    """Return :func:`machine` as one line of text."""
    return "Machine: " + ", ".join(f"{name} {value}" for name, value in machine().items())
