"""What a chapter shows of experiments: a few worlds run here and now, or figures that are kept."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bdl_teach.experiments.claim import claims
from bdl_teach.experiments.command import module_of

if TYPE_CHECKING:
    from bdl_teach.experiments.judge import Finding
    from bdl_teach.experiments.table import Row


def show(*ids: str, worlds: int = 4, first_world: int = 0) -> list[Finding]:
    """Run a few worlds of some claims here and now, and print what comes of them.

    A chapter calls this where it makes the statement.

    Args:
        *ids: Of the claims.
        worlds: How many worlds, >= 1.
        first_world: Number of the first.

    Returns:
        What came of each claim, in the order of ``ids``: ``effects``, ``mean``, ``error``,
        ``verdict``, and whether it ``falls``.

    Raises:
        ValueError: There is no such claim, or no world.
    """
    if worlds < 1 or first_world < 0:
        raise ValueError(f"expected worlds >= 1 from 0 on, got {worlds} from {first_world} on")
    return _told(ids, lambda runs: runs.judge_here(ids, range(first_world, first_world + worlds)))


def stored(*ids: str) -> list[Finding]:
    """Print what came of claims in the worlds that were run once and come with the package.

    Args:
        *ids: Of the claims: of experiments that are too dear to be run in a chapter.

    Returns:
        As :func:`show`.

    Raises:
        ValueError: There is no such claim.
        OSError: Its worlds do not come with the package.
    """
    return _told(ids, lambda runs: runs.judge_stored(ids))


def stored_table(table: str) -> Sequence[Row]:
    """Sum up the figures of a paper's table that come with the package.

    Args:
        table: Its name; one of those that have a CSV file beside their module.

    Raises:
        OSError: It has none.
    """
    runs, module = importlib.import_module("bdl_teach.experiments.runs"), module_of(table)
    figures = runs.read_kept(Path(str(module.__file__)).with_suffix(".csv")).figures
    rows: Sequence[Row] = runs.summed_up(module.TABLE, module.TABLE.tasks(False), figures)
    return rows


def _told(ids: Sequence[str], judged: Callable[[Any], list[Finding]]) -> list[Finding]:
    """Judge claims, and print what came of them, in the order of their ids.

    Raises:
        ValueError: An id is none of a claim, or there are no ids.
    """
    unknown = [one for one in ids if one not in claims()]
    if unknown or not ids:
        known = ", ".join(claims())
        raise ValueError(f"ids: expected some of {known}; got {', '.join(unknown) or 'none'}")
    runs = importlib.import_module("bdl_teach.experiments.runs")
    findings = sorted(judged(runs), key=lambda finding: ids.index(finding.claim.id))
    print(runs.report.as_sentences(findings))
    return findings
