"""Clear the caches of the package: programs, tables of noise, fits."""

import sys


def clear() -> None:
    """Clear every cached function, except the learner's progress."""
    loaded = [
        m for name, m in sorted(sys.modules.items()) if name.split(".")[0] == "bdl_teach" and m
    ]
    for module in loaded:
        for value in list(vars(module).values()):
            of = getattr(value, "__module__", None)  # the learner's one record is no program
            if callable(getattr(value, "cache_clear", None)) and of != "bdl_teach.progress":
                value.cache_clear()
