"""One method a file, all behind the same face: ``fit(x, y, *, ...)`` and ``.predict``.

The face is written in :mod:`bdl_teach.methods.catalogue`, beside the list of the methods.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from bdl_teach.methods.catalogue import MODULES

__all__ = [*MODULES, "catalogue"]


def __getattr__(name: str) -> ModuleType:
    """Import a method the first time that it is named."""
    if name in MODULES:
        return importlib.import_module(f"bdl_teach.methods.{name}")
    raise AttributeError(f"module 'bdl_teach.methods' has no attribute {name!r}")
