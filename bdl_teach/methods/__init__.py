"""One method a file, all behind the same face: ``fit(x, y, *, ...)`` and ``.predict``."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bdl_teach.methods import (
        bbb,
        empirical_bayes,
        exact,
        image_classifier,
        local_reparam,
        pbp,
        point,
        vae,
    )

_METHODS = (
    "bbb",
    "empirical_bayes",
    "exact",
    "image_classifier",
    "local_reparam",
    "pbp",
    "point",
    "vae",
)

__all__ = [
    "bbb",
    "empirical_bayes",
    "exact",
    "image_classifier",
    "local_reparam",
    "pbp",
    "point",
    "vae",
]


def __getattr__(name: str) -> ModuleType:
    """Import a method the first time that it is named."""
    if name in _METHODS:
        return importlib.import_module(f"bdl_teach.methods.{name}")
    raise AttributeError(f"module 'bdl_teach.methods' has no attribute {name!r}")
