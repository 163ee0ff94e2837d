"""One method a file, all with the same interface: ``fit(x, y, *, ...)`` and ``.predict``.

The interface is defined in :mod:`bdl_teach.methods.catalogue`, beside the list of the methods.

Each file reads from top to bottom in the same order, under the same names where it has them:

1. the docstring: what is assumed, in formulae, and where in which paper they stand;
2. hyper-parameters: constants, and ``Settings``: the arguments of ``fit``, and their text;
3. state: the loop's own inputs beside ``LoopInputs``, in a tuple of tensors;
4. objective: the formulae, then ``_loss`` or ``_free_energy``, and ``_program``, which compiles it;
5. ``fit``: checks of the arguments, the run, and the helpers that only ``fit`` calls;
6. ``Fit``: the fitted object with ``predict``, and what its methods return.
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
