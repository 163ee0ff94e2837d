"""The learner's own points: a control without a widget, what a pasted text says, and the data.

A value is ``None`` for points that are drawn by number and seed, or ``(x, y, units)``: points in
the learner's units, and ``units = (x₀, x₁, y₀, y₁)`` which make x the course's (x − x₀)/x₁ and y
likewise. Drawn points that a hand has moved are in the course's own, ``(0, 1, 0, 1)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import traitlets

from bdl_teach import datasets
from bdl_teach._support.checks import Array

Units: TypeAlias = tuple[float, float, float, float]
Value: TypeAlias = "tuple[tuple[float, ...], tuple[float, ...], Units]"

MOST = 200  # points
COURSE: Units = (0.0, 1.0, 0.0, 1.0)
# Own y get this sd: the slider of the noise then goes from next to nothing to most of it, and the
# points fill the panel about as the sine does.
_SPREAD = 5.0
_STRETCH = f"x to ±½, y to mean 0 and sd {_SPREAD:.0f}"


class Unseen(traitlets.HasTraits):
    """A control without a widget: a hand in the picture sets it, or a line of Python.

    Args:
        read: Returns a value as the control will hold it, or raises ``ValueError``.
        words: Says such a value in words.
    """

    value = traitlets.Any(None, allow_none=True)

    def __init__(self, read: Callable[[object], Any], words: Callable[[Any], str]) -> None:
        super().__init__()
        self.read, self.words = read, words


class Points(Unseen):
    """The control that holds the points; pointer, keys and a pasted table set it.

    Args:
        most: How many there may be.
    """

    def __init__(self, most: int = MOST) -> None:
        super().__init__(self._within, _how_many)
        self.most = most

    def _within(self, given: object) -> Value | None:
        """Return ``given`` as a value, if there is room for it here."""
        value = self.normal(given)
        if value is not None and len(value[0]) > self.most:
            raise ValueError(
                f"data: expected at most {self.most} points in this explorer, got {len(value[0])}"
            )
        return value

    @staticmethod
    def normal(given: object) -> Value | None:
        """Return ``given`` as a value; a pair ``(x, y)`` is standardised.

        Args:
            given: ``None``, ``(x, y)`` or ``(x, y, units)``.

        Raises:
            ValueError: It is none of these, or holds what is no finite number, or too few points,
                or too many.
        """
        if given is None:
            return None
        if not isinstance(given, Sequence) or len(given) not in (2, 3):
            raise ValueError(f"data: expected None or a pair (x, y), got {_words(given)}")
        x, y = (_numbers(name, values) for name, values in zip("xy", given, strict=False))
        if len(x) != len(y):
            raise ValueError(f"data: expected as many x as y, got {len(x)} and {len(y)}")
        if len(x) > MOST:
            raise ValueError(f"data: expected at most {MOST} points, got {len(x)}")
        return _value(x, y, standard(x, y) if len(given) == 2 else _units(given[2]))


def _how_many(value: Value | None) -> str:
    return "as drawn" if value is None else f"{len(value[0])} by hand"


def _words(given: object) -> str:
    many = isinstance(given, Sequence) and not isinstance(given, str)
    return f"{len(given)} columns" if many else repr(given)[:80]  # type: ignore[arg-type]


def _numbers(name: str, given: Any) -> Array:
    try:
        values = np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"data: expected numbers for {name}, got {given!r}") from None
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or not len(values):
        raise ValueError(f"data: expected {name} of shape [n] or [n, 1], got {values.shape}")
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"data: expected finite numbers, got {values[row]} in row {row} of {name}")
    return values


def _units(given: Any) -> Units:
    x0, x1, y0, y1 = _numbers("units", given) if len(given) == 4 else (0.0,) * 4
    if x1 <= 0 or y1 <= 0:
        raise ValueError(f"data: expected units (x₀, x₁ > 0, y₀, y₁ > 0), got {given!r}")
    return float(x0), float(x1), float(y0), float(y1)


def standard(x: Array, y: Array) -> Units:
    """The units in which x fills [−½, ½] and y has mean 0 and sd 5, as the course's priors expect.

    Raises:
        ValueError: All x, or all y, are the same.
    """
    for name, values in (("x", x), ("y", y)):
        if np.ptp(values) == 0:
            raise ValueError(f"data: expected {name} that differ, got {len(values)} × {values[0]}")
    low, high = float(x.min()), float(x.max())
    return (low + high) / 2, high - low, float(y.mean()), float(y.std()) / _SPREAD


def _value(x: Iterable[float], y: Iterable[float], units: Units) -> Value:
    """Write numbers with no more digits than a millionth of their unit, so that a line is short."""
    return tuple(_short(x, units[1])), tuple(_short(y, units[3])), units


def _short(numbers: Iterable[float], unit: float) -> Iterable[float]:
    places = 6 - math.floor(math.log10(unit))
    return (round(float(number), places) for number in numbers)


def in_course(value: Value) -> tuple[Array, Array]:
    """The points of a value in the course's units: x and y ``[n]``."""
    x0, x1, y0, y1 = value[2]
    return (np.array(value[0]) - x0) / x1, (np.array(value[1]) - y0) / y1


def from_course(x: Array, y: Array, units: Units = COURSE) -> Value:
    """The value that holds points ``[n]`` of the course's units."""
    x0, x1, y0, y1 = units
    return _value(x * x1 + x0, y * y1 + y0, units)


@dataclass(frozen=True)
class OwnPoints(datasets.Regression1D):
    """Points that the learner has set, in the course's units.

    Attributes:
        units: What makes the learner's units the course's.
    """

    units: Units = COURSE


def chosen(
    value: Value | None, noise_std: float, drawn: Callable[[], datasets.Regression1D]
) -> datasets.Regression1D:
    """The data of these values of the controls: the learner's, or what ``drawn`` draws."""
    if value is None:
        return drawn()
    x, y = in_course(value)
    truth = datasets.sinusoid().function if value[2] == COURSE else _unknown
    return OwnPoints(x[:, None], y[:, None], noise_std, truth, value[2])


def _unknown(x: Array) -> Array:
    return np.full(np.shape(x), math.nan)


def units_of(data: datasets.Regression1D) -> Units:
    """The units of data; drawn ones have the course's."""
    return data.units if isinstance(data, OwnPoints) else COURSE


def count(data: datasets.Regression1D) -> str:
    """How many points there are, and whose."""
    n = len(data.x)
    return f"{n} point{'s' * (n != 1)}{' of your own' * isinstance(data, OwnPoints)}"


def stretched(data: datasets.Regression1D) -> str:
    """Say of a table in which units the figures and the sliders speak of it; else nothing."""
    return "" if units_of(data) == COURSE else f" Your table is stretched here: {_STRETCH}."


def parse(text: str) -> tuple[Array, Array]:
    """Read two columns: separated by tabs, semicolons, commas or blanks, with a header or without.

    Raises:
        ValueError: It is no such table; the message says which line, and what was expected.
    """
    lines = [(i, line.strip()) for i, line in enumerate(text.splitlines(), 1) if line.strip()]
    mark = next((m for m in "\t;," if any(m in line for _, line in lines)), None)
    rows = [(i, _fields(line, mark)) for i, line in lines]
    if rows and all(_number(field) is None for field in rows[0][1]):
        rows = rows[1:]  # their names
    if len(rows) < 2:
        raise ValueError(f"expected at least two lines of two numbers, got {len(rows)}")
    if len(rows) > MOST:
        raise ValueError(f"expected at most {MOST} lines, got {len(rows)}: paste a part of them")
    x, y = zip(*(_pair(i, fields) for i, fields in rows), strict=True)
    return np.array(x), np.array(y)


def _fields(line: str, mark: str | None) -> list[str]:
    fields = [field.strip().strip('"') for field in line.split(mark)]
    return fields if mark == "," else [field.replace(",", ".") for field in fields]


def _number(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None


def _pair(line: int, fields: list[str]) -> tuple[float, float]:
    if len(fields) != 2:
        raise ValueError(
            f"line {line}: expected two columns, x and y, got {len(fields)}: "
            f"{', '.join(fields)[:40]}"
        )
    x, y = (_number(field) for field in fields)
    if x is None or y is None or not (math.isfinite(x) and math.isfinite(y)):
        raise ValueError(f"line {line}: expected two numbers, got {', '.join(fields)[:40]}")
    return x, y
