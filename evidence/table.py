"""Tasks, and the rows of a paper's table.

A module in ``papers/`` is a table. It has a ``TITLE``, ``COLUMNS`` (the heading of the published
numbers), maybe ``REMARKS`` (printed below the table) and three functions: ``tasks(quick)`` returns
all tasks, or a few that take seconds; ``run(**arguments)`` runs one task and returns {name:
number}; ``summarise(results)`` turns the results of the finished tasks into rows.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

Arguments = Mapping[str, Any]  # of one task, such as JSON can hold
Results = Sequence[tuple[Arguments, Mapping[str, float]]]  # of tasks: arguments, numbers by name


class Task(NamedTuple):
    """A unit of work, such as one split of a data set, or one world."""

    key: str  # unique in its table and the same in each run, such as "boston/split-03"
    arguments: Arguments  # JSON-able keyword arguments of the function that runs it


def grid(key: str, **values: Iterable[Any]) -> list[Task]:
    """Return a task for each combination of ``values``; the last named value changes fastest.

    ``key`` is a format string for the tasks' keys, such as ``"{line}/split-{split}"``.
    """
    combinations = [dict(zip(values, one, strict=True)) for one in product(*values.values())]
    return [Task(key.format(**arguments), arguments) for arguments in combinations]


class Row(NamedTuple):
    """A row of a table: our mean over tasks, and the published number."""

    label: str  # what it is about, such as "boston"
    quantity: str  # what is measured, such as "RMSE"
    published: str  # the published number as printed; "" if there is none
    ours: float  # our mean over the tasks
    standard_error: float  # of our mean; NaN for one task
    n: int  # tasks averaged
    verdict: str = ""  # "agrees", or a phrase that says how the two differ

    @classmethod
    def mean(cls, label: str, quantity: str, values: Sequence[float], published: str = "") -> "Row":
        """Return a row with the mean and the standard error of values from several tasks."""
        return cls(label, quantity, published, *mean_and_error(values), len(values))


def grouped(results: Results, *names: str) -> dict[tuple[Any, ...], list[Mapping[str, float]]]:
    """Group the numbers of results by the values of the named arguments, in order of appearance."""
    groups: dict[tuple[Any, ...], list[Mapping[str, float]]] = {}
    for arguments, figures in results:
        groups.setdefault(tuple(arguments[name] for name in names), []).append(figures)
    return groups


def figure(mean: float, standard_error: float) -> str:
    """Format a mean and its standard error, to two digits of the error: ``"3.01 ± 0.18"``."""
    if not math.isfinite(mean) or not math.isfinite(standard_error) or standard_error <= 0:
        return f"{mean:.4g}"
    digits = min(max(1 - math.floor(math.log10(standard_error)), 0), 6)
    return f"{mean:.{digits}f} ± {standard_error:.{digits}f}"


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean of some values and its standard error (NaN for one value)."""
    n = len(values)
    mean = math.fsum(values) / n
    if n < 2:
        return mean, math.nan
    spread = math.fsum((v - mean) ** 2 for v in values) / (n - 1)
    return mean, math.sqrt(spread / n)


def verdict(ours: float, published: float, standard_error: float, within: float = 2.0) -> str:
    """Return ``"agrees: 1.2 SE"`` or ``"differs: 3.4 SE"``, with the distance of the two means.

    The means agree if they are at most ``within`` standard errors apart. ``standard_error``, > 0,
    is that of the published mean, or that of ours if none was published.
    """
    distance = abs(ours - published) / standard_error
    return f"{'agrees' if distance <= within else 'differs'}: {distance:.1f} SE"
