"""Define a ``repr`` of one line for objects that hold arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from numbers import Real
from typing import Any, TypeVar

import numpy as np

_LONGEST_LINE, _LONGEST_VALUE = 200, 40  # characters
_OBJECTIVES = ("free_energy", "loss", "potential", "elbo", "log_z")  # possible keys of a history
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
    values = [_value(each, getattr(self, each)) for each in names]
    line = f"{name}("
    for part in _training(self) + sorted(filter(None, values), key=lambda part: part.endswith("]")):
        if len(line) + len(part) > _LONGEST_LINE - 6:
            return f"{line}, …)"
        line += part if line.endswith("(") else f", {part}"
    return f"{line})"


def _value(name: str, value: Any) -> str:
    """Return "name [shape]" for an array, "name=value" for a number or short value, or else ""."""
    if isinstance(value, np.ndarray):
        return f"{name} {list(value.shape)}"
    if isinstance(value, Real) and not isinstance(value, bool):
        return f"{name}={value:.5g}"
    known = type(value).__module__ == "builtins" or hasattr(value, "log_prob")  # or a prior
    if value is None or not known or callable(value) or hasattr(value, "_fields"):
        return ""
    text = repr(value)
    return f"{name}={text}" if len(text) <= _LONGEST_VALUE and "\n" not in text else ""


def _training(self: Any) -> list[str]:
    """Return a fit's network, number of points, steps or epochs, and last objective as texts."""
    sizes = getattr(getattr(self, "network", None), "sizes", ())
    data = getattr(getattr(self, "problem", None), "x", None)
    history: Mapping[str, Any] = getattr(self, "history", {})
    parts = ["-".join(map(str, sizes))] if sizes else []
    parts += [f"{len(data)} points"] if isinstance(data, np.ndarray) else []
    parts += [f"{history[each][-1]:g} {each}s" for each in ("step", "epoch") if each in history]
    return parts + [f"{k} {history[k][-1]:.5g}" for k in _OBJECTIVES if k in history][:1]
