"""Tasks, and the rows of a paper's table.

A module in ``papers/`` is a table. It has a ``TITLE`` (one line, with the source), ``COLUMNS``,
the heading of the published figures, perhaps ``REMARKS`` that stand below, and three functions:
``tasks(quick)`` returns the tasks, or a handful that take seconds; ``run(**arguments)`` maps those
of one task to figures by name; ``summarise(results)`` makes rows of the results there are.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

Arguments = Mapping[str, Any]  # of one task: whatever JSON holds
Results = Sequence[tuple[Arguments, Mapping[str, float]]]  # with the figures that came of them


class Task(NamedTuple):
    """One unit of work, such as one split of one data set, or one world."""

    key: str  # unique in its table and the same in each run, such as "boston/split-03"
    arguments: Arguments  # JSON-able keyword arguments of the function that runs it


def grid(key: str, **values: Iterable[Any]) -> list[Task]:
    """Return a task for each combination of values, the last one changing first.

    Args:
        key: The tasks' keys, as a format of their arguments.
        **values: The values of each argument.
    """
    combinations = [dict(zip(values, one, strict=True)) for one in product(*values.values())]
    return [Task(key.format(**arguments), arguments) for arguments in combinations]


class Row(NamedTuple):
    """One measured figure and the published one."""

    label: str  # what it is about, such as "boston"
    quantity: str  # what is measured, such as "RMSE"
    published: str  # the figure held against, as it is printed; "" if there is none
    ours: float  # our mean over the tasks
    standard_error: float  # of it; NaN for one task
    n: int  # tasks averaged
    verdict: str = ""  # "agrees", or a phrase that says how the two differ

    @classmethod
    def mean(cls, label: str, quantity: str, values: Sequence[float], published: str = "") -> "Row":
        """Return the mean of the values of some tasks."""
        return cls(label, quantity, published, *mean_and_error(values), len(values))


def grouped(results: Results, *names: str) -> dict[tuple[Any, ...], list[Mapping[str, float]]]:
    """Group figures by the values of some arguments, in order of first appearance."""
    groups: dict[tuple[Any, ...], list[Mapping[str, float]]] = {}
    for arguments, figures in results:
        groups.setdefault(tuple(arguments[name] for name in names), []).append(figures)
    return groups


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Return the mean and its standard error (NaN for one value)."""
    n = len(values)
    mean = math.fsum(values) / n
    if n < 2:
        return mean, math.nan
    spread = math.fsum((v - mean) ** 2 for v in values) / (n - 1)
    return mean, math.sqrt(spread / n)


def verdict(ours: float, published: float, standard_error: float, within: float = 2.0) -> str:
    """Return whether ``ours`` lies within some standard errors of the published figure.

    Args:
        ours: Our mean.
        published: The figure held against.
        standard_error: Standard error to measure in, > 0: the published one where there is one.
        within: The number of standard errors that still agree.
    """
    distance = abs(ours - published) / standard_error
    return f"{'agrees' if distance <= within else 'differs'}: {distance:.1f} SE"
