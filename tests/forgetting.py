"""Have the package forget what it keeps in the process: programs, tables of noise, fits."""

import sys
from typing import Any


def modules() -> list[Any]:
    """The modules of the package that are loaded."""
    return [m for name, m in sorted(sys.modules.items()) if name.split(".")[0] == "bdl_teach" and m]


def clear() -> None:
    """Forget all that was made while something was patched."""
    for module in modules():
        for value in list(vars(module).values()):
            of = getattr(value, "__module__", None)  # the learner's one record is no program
            if callable(getattr(value, "cache_clear", None)) and of != "bdl_teach.progress":
                value.cache_clear()
