"""The claims of the course: a short name for what chapters call of ``bdl_teach.experiments``."""

import importlib
import sys
from typing import Any

from bdl_teach.experiments import claim
from bdl_teach.experiments import measured as experiments
from bdl_teach.experiments.command import add_claims as add_arguments
from bdl_teach.experiments.command import claims as main
from bdl_teach.experiments.command import list_claims as print_list
from bdl_teach.experiments.command import run_claims as run
from bdl_teach.experiments.shown import show, stored

__all__ = [
    "add_arguments",
    "claim",
    "experiments",
    "main",
    "print_list",
    "run",
    "show",
    "stored",
]
sys.modules |= {f"{__name__}.{name}": claim for name in ("claim", "listing")}
sys.modules[f"{__name__}.experiments"] = experiments


def __getattr__(name: str) -> Any:
    if name in ("judge", "rivals"):
        return importlib.import_module(f"bdl_teach.experiments.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
