"""A ``repr`` of one line for objects that hold arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from numbers import Real
from typing import Any, TypeVar

import numpy as np

_LONGEST = 200  # characters of a line
_SHORT = 40  # of a value that is shown as it is
_JUDGED = ("free_energy", "loss", "potential", "elbo", "log_z")  # what a history is about
Class = TypeVar("Class", bound=type)


def one_line(cls: Class) -> Class:
    """Give a dataclass or NamedTuple a ``repr`` of one line: numbers, and the shapes of arrays."""
    cls.__repr__ = _line  # type: ignore[assignment, method-assign]
    return cls


def _line(self: Any) -> str:
    kind = type(self)
    module = kind.__module__.rpartition(".")[2].lstrip("_")
    name = f"{module}.{kind.__name__}" if ".methods." in kind.__module__ else kind.__name__
    names = getattr(self, "_fields", None) or [f.name for f in fields(self) if f.repr]
    told = [_told(each, getattr(self, each)) for each in names]
    line = f"{name}("
    for part in _trained(self) + sorted(filter(None, told), key=lambda part: part.endswith("]")):
        if len(line) + len(part) > _LONGEST - 6:
            return f"{line}, …)"
        line += part if line.endswith("(") else f", {part}"
    return f"{line})"


def _told(name: str, value: Any) -> str:
    """Return a value in a few words; "" if it needs more."""
    if isinstance(value, np.ndarray):
        return f"{name} {list(value.shape)}"
    if isinstance(value, Real) and not isinstance(value, bool):
        return f"{name}={value:.5g}"
    known = type(value).__module__.startswith(("builtins", "bdl_teach.densities"))
    if value is None or not known or callable(value) or hasattr(value, "_fields"):
        return ""
    text = repr(value)
    return f"{name}={text}" if len(text) <= _SHORT and "\n" not in text else ""


def _trained(self: Any) -> list[str]:
    """Describe a fit: its network, its number of points, and the end of its history."""
    sizes = getattr(getattr(self, "network", None), "sizes", ())
    data = getattr(getattr(self, "problem", None), "x", None)
    history: Mapping[str, Any] = getattr(self, "history", {})
    told = ["-".join(map(str, sizes))] if sizes else []
    told += [f"{len(data)} points"] if isinstance(data, np.ndarray) else []
    told += [f"{history[each][-1]:g} {each}s" for each in ("step", "epoch") if each in history]
    return told + [f"{k} {history[k][-1]:.5g}" for k in _JUDGED if k in history][:1]
