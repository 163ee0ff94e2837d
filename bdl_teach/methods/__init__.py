"""Inference methods, one in each file, with one interface: ``fit(x, y, *, ...)`` and ``.predict``.

:mod:`bdl_teach.methods.catalogue` defines that interface and lists the methods.

A method's file has these parts, in this order:

1. the module's docstring: assumptions, formulae, and the papers that they come from;
2. ``Settings``: the arguments of ``fit``, with their defaults and their help text;
3. the formulae, ``_loss`` or ``_free_energy`` made of them, and ``_program``, which compiles it;
4. ``fit``, and the helper functions that only ``fit`` calls;
5. ``Fit``: the fitted object with ``predict``.
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
