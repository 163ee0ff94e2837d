"""The parts of ``evidence`` that chapters and the command `reproduce` call."""

import sys
from collections.abc import Sequence
from pathlib import Path

from evidence import papers as tables
from evidence.command import add_tables as add_arguments
from evidence.command import module_of
from evidence.command import run_table as run
from evidence.table import Row

__all__ = ["add_arguments", "run", "stored", "tables"]
sys.modules[f"{__name__}.tables"] = tables


def stored(table: str) -> Sequence[Row]:
    """Return the rows of a paper's table from the results that come with the package.

    Args:
        table: Its name on the command line, such as ``"ood-controls"``.

    Raises:
        OSError: No results of this table come with the package.
    """
    from evidence import runs, store  # need more than the standard library

    module = module_of(table)
    figures = store.read_kept(Path(str(module.__file__)).with_suffix(".csv")).figures
    return runs.summarised(module, module.tasks(False), figures)
