"""Papers' tables: a short name for what chapters call of ``bdl_teach.experiments``."""

import sys

from bdl_teach.experiments import papers as tables
from bdl_teach.experiments.command import add_tables as add_arguments
from bdl_teach.experiments.command import list_tables as show
from bdl_teach.experiments.command import reproduce as main
from bdl_teach.experiments.command import run_table as run
from bdl_teach.experiments.shown import stored_table as stored

__all__ = ["add_arguments", "main", "run", "show", "stored", "tables"]
sys.modules[f"{__name__}.tables"] = tables
