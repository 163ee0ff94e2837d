"""What each task measured, as a small file that comes with the package: too dear to run for all."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bdl_teach._support.report import machine_line
from bdl_teach.reproduce.store import Figures


@dataclass(frozen=True)
class Kept:
    """Figures of tasks.

    Attributes:
        made: By which command, and on what machine.
        figures: By the key of the task.
    """

    made: str
    figures: Mapping[str, Figures]


def made_by(command: str) -> str:
    """How a file is made: the command's words after ``bdl_teach``, and this machine."""
    return f"Made by: python3 -m bdl_teach {command} --figures FILE. {machine_line()}"


def as_csv(kept: Kept) -> str:
    """The file: a line says how it was made, then one line a task, with four digits."""
    names = list(dict.fromkeys(name for figures in kept.figures.values() for name in figures))
    out = io.StringIO()
    out.write(f"# {kept.made}\n")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["task", *names])
    for key, figures in kept.figures.items():
        cells = (f"{figures[name]:.4g}" if name in figures else "" for name in names)
        writer.writerow([key, *cells])
    return out.getvalue()


def read(path: Path) -> Kept:
    """Read such a file.

    Raises:
        OSError: It cannot be read.
    """
    made, *lines = path.read_text(encoding="utf-8").splitlines()
    figures = {
        row.pop("task"): {name: float(value) for name, value in row.items() if value}
        for row in csv.DictReader(lines)
    }
    return Kept(made.removeprefix("# "), figures)
