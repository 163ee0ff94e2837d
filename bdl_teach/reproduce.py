"""A short name for the functions of ``bdl_teach.experiments`` that print papers' tables."""

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from bdl_teach.experiments import papers as tables
from bdl_teach.experiments.command import add_tables as add_arguments
from bdl_teach.experiments.command import run_table as run

if TYPE_CHECKING:
    from bdl_teach.experiments.table import Row

__all__ = ["add_arguments", "run", "stored", "tables"]
sys.modules[f"{__name__}.tables"] = tables


def stored(table: str) -> "Sequence[Row]":
    """Summarise the packaged figures of a paper's table, by the table's name."""
    from bdl_teach.experiments.runs import stored_table  # needs more than the standard library

    return stored_table(table)
