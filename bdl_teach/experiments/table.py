"""What is run: tasks. And what a paper's table is made of: tasks, and rows to print."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Arguments = Mapping[str, Any]  # of one task: whatever JSON holds
Results = Sequence[tuple[Arguments, Mapping[str, float]]]  # with the figures that came of them


@dataclass(frozen=True)
class Task:
    """One unit of work, such as one split of one data set, or one world.

    Attributes:
        key: Unique in its table and the same in each run, such as ``"boston/split-03"``.
        arguments: JSON-able keyword arguments of the function that runs it.
    """

    key: str
    arguments: Arguments


class Row(NamedTuple):
    """One figure beside the published one.

    Attributes:
        label: What it is about, such as ``"boston"``.
        quantity: What is measured, such as ``"RMSE"``.
        published: The figure held against, as it is printed; "" if there is none.
        ours: Our mean over the tasks.
        standard_error: Its standard error; NaN for one task.
        n: Number of tasks averaged.
        verdict: In words: ``"agrees"``, or what is the matter.
    """

    label: str
    quantity: str
    published: str
    ours: float
    standard_error: float
    n: int
    verdict: str = ""

    @classmethod
    def mean(
        cls,
        label: str,
        quantity: str,
        values: Sequence[float],
        published: str = "",
    ) -> Row:
        """Average the values of some tasks."""
        return cls(label, quantity, published, *mean_and_error(values), len(values))


def grouped(results: Results, *names: str) -> dict[tuple[Any, ...], list[Mapping[str, float]]]:
    """Gather figures by the values of some arguments, in the order in which these first come."""
    groups: dict[tuple[Any, ...], list[Mapping[str, float]]] = {}
    for arguments, figures in results:
        groups.setdefault(tuple(arguments[name] for name in names), []).append(figures)
    return groups


@dataclass(frozen=True)
class Table:
    """A table of a paper: its tasks, how to run one, how to sum them up.

    Attributes:
        name: What the command line calls it.
        title: One line on what it shows, with the source.
        tasks: Returns the tasks; ``quick`` asks for a handful that take seconds.
        run: Maps a task's arguments to figures by name; a function of a module, so that another
            process can be told its name, which depends on its arguments alone.
        summarise: Maps [(arguments, figures)] of the finished tasks to rows.
        columns: What ``published`` holds, for the heading.
        remarks: Why the figures differ where they do, as they are printed below them.
    """

    name: str
    title: str
    tasks: Callable[[bool], Sequence[Task]]
    run: Callable[..., Mapping[str, float]]
    summarise: Callable[[Results], Sequence[Row]]
    columns: str = field(default="published")
    remarks: str = ""


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error (NaN for one value)."""
    n = len(values)
    mean = math.fsum(values) / n
    if n < 2:
        return mean, math.nan
    spread = math.fsum((v - mean) ** 2 for v in values) / (n - 1)
    return mean, math.sqrt(spread / n)


def verdict(ours: float, published: float, standard_error: float, within: float = 2.0) -> str:
    """Say whether ``ours`` lies within so many standard errors of the published figure.

    Args:
        ours: Our mean.
        published: The figure held against.
        standard_error: Standard error to measure in, > 0: the published one where there is one.
        within: How many of them still agree.
    """
    distance = abs(ours - published) / standard_error
    return f"{'agrees' if distance <= within else 'differs'}: {distance:.1f} SE"
