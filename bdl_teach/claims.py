"""Collect the parts of ``bdl_teach.experiments`` that chapters and the command `claims` use."""

import importlib
import sys
from typing import TYPE_CHECKING, Any

from bdl_teach.experiments import claim, judge
from bdl_teach.experiments import measured as experiments
from bdl_teach.experiments.command import add_claims as add_arguments
from bdl_teach.experiments.command import run_claims as run

if TYPE_CHECKING:
    from bdl_teach.experiments import rivals
    from bdl_teach.experiments.runs import show, stored

__all__ = ["add_arguments", "claim", "experiments", "judge", "rivals", "run", "show", "stored"]
sys.modules |= {f"{__name__}.claim": claim, f"{__name__}.experiments": experiments}


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    """Import ``rivals``, ``show`` or ``stored``, which need third-party packages, on first use."""
    if name == "rivals":
        return importlib.import_module("bdl_teach.experiments.rivals")
    if name in ("show", "stored"):
        return getattr(importlib.import_module("bdl_teach.experiments.runs"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
