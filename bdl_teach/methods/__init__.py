"""Inference methods, one in each file, with one interface: ``fit(x, y, *, ...)`` and ``.predict``.

:mod:`bdl_teach.methods.catalogue` defines that interface and lists the methods. A method's file
has, in this order: a docstring with formulae and papers; ``Settings``, the arguments of ``fit``;
``_loss`` or ``_free_energy``; ``_program``, which compiles it; ``fit``; and ``Fit``, the result.
"""

from __future__ import annotations

import importlib
from types import ModuleType

from bdl_teach.methods.catalogue import MODULES

__all__ = [*MODULES, "catalogue"]


def __getattr__(name: str) -> ModuleType:
    """Import the module of a method when its name is first used."""
    if name in MODULES:
        return importlib.import_module(f"bdl_teach.methods.{name}")
    raise AttributeError(f"module 'bdl_teach.methods' has no attribute {name!r}")
