"""Read the learner's own points, convert their units, and format numbers in those units.

The value of a ``data`` control is ``None`` for points that the course draws from the sine. For the
learner's points it is ``(x, y, units)`` or, with names or dates, ``(x, y, units, labels)``:

- ``x``, ``y``: numbers in the learner's units
- ``units = (x₀, x₁, y₀, y₁)``: the models are fitted to (x − x₀)/x₁ and (y − y₀)/y₁, which are in
  the *course's units*; drawn points moved by hand have ``units = (0, 1, 0, 1)``
- ``labels``: names of x and y, and the date or time at x = 0 and at y = 0; "" stands for none
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array

Units: TypeAlias = tuple[float, float, float, float]
Labels: TypeAlias = tuple[str, str, str, str]  # names of x and y; the date or time at x = 0, y = 0
Value: TypeAlias = "tuple[tuple[float, ...], tuple[float, ...], Units, *tuple[Labels, ...]]"

MOST = 200  # largest number of points
COURSE: Units = (0.0, 1.0, 0.0, 1.0)
PLAIN: Labels = ("", "", "", "")
_SPREAD = 5.0  # sd of a table's y in the course's units; the sine's is 7
_NOTHING = 1e-6  # smaller sds, in the course's units, come from rounding
RAISED = str.maketrans("0123456789-", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻")  # for exponents
_LARGEST = 1e100  # largest number that a picture can show; one over it is the smallest spread


def read(given: object, most: int = MOST) -> tuple[Value | None, list[str]]:
    """Return data as a value of the ``data`` control, and notes on what was left out or assumed.

    ``given`` is ``None``, ``(x, y)``, a value of the control, an array ``[n, 2]``, a data frame of
    two columns, the text of a table, or ``datasets.Points``. A value of the control keeps its
    ``units``; for other data they are chosen so that x and y fit the course's range. If there are
    more than ``most`` points, a random choice of ``most`` points is kept.

    Raises:
        ValueError: ``given`` has another form, no points, or a number that is not finite. Data
            without ``units`` also fail if a column is constant, has a number beyond ±1e100, or
            spans less than 1e-100.
    """
    if given is None:
        return None, []
    units, labels = None, PLAIN
    if isinstance(given, Sequence) and not isinstance(given, str) and len(given) in (3, 4):
        units, labels = _units(given[2]), _labels(given[3]) if len(given) == 4 else PLAIN
        given = given[:2]
    if isinstance(given, str):
        try:
            given = datasets.read_points(given)
        except ValueError as error:
            raise ValueError(f"data: {error}") from None
    table: datasets.Points = given if isinstance(given, datasets.Points) else _points(given)
    x, y, notes = table.x, table.y, list(table.notes)
    if units is None:
        units, labels = _standard(x, y), (*table.names, *table.zeros)
    if len(x) > most:
        notes.append(f"{most} of {len(x):,} points are taken at random")
        few = np.sort(np.random.default_rng(0).choice(len(x), most, replace=False))
        x, y = x[few], y[few]
    return _value(x, y, units, *[labels] * (labels != PLAIN)), notes


def _points(given: Any) -> datasets.Points:
    """Convert a pair (x, y), an array ``[n, 2]`` or a two-column data frame to ``Points``."""
    columns: list[Any] = []
    if hasattr(given, "columns"):  # a frame of pandas or polars
        columns = [given[name] for name in given.columns]
        names = [str(name) for name in given.columns]
    elif isinstance(given, Sequence | np.ndarray):
        columns = list(given.T if isinstance(given, np.ndarray) and given.ndim == 2 else given)
        names = [str(getattr(column, "name", None) or "") for column in columns]
    if len(columns) != 2:
        got = f"{len(columns)} columns" if columns else repr(given)[:80]
        got = f"an array {given.shape}" if isinstance(given, np.ndarray) else got
        raise ValueError(
            f"data: expected None, a pair (x, y), or a table of two columns, got {got}"
        )
    (x, x0), (y, y0) = (_column(name, values) for name, values in zip("xy", columns, strict=True))
    if len(x) != len(y):
        raise ValueError(f"data: expected as many x as y, got {len(x)} and {len(y)}")
    masked = np.ma.getmaskarray(x) | np.ma.getmaskarray(y)
    notes = [f"{masked.sum()} of {len(x)} rows are masked: left out"] * bool(masked.any())
    x, y = (_finite(name, np.ma.getdata(v)[~masked]) for name, v in (("x", x), ("y", y)))
    return datasets.Points(x, y, (names[0], names[1]), tuple(notes), (x0, y0))


def _column(name: str, given: Any) -> tuple[Any, str]:
    """Return a column as numbers ``[n]``, and its earliest date as text, "" if it has no dates.

    Dates become days since the earliest one. A masked array stays masked.
    """
    values = np.ma.asarray(given) if np.ma.isMaskedArray(given) else np.asarray(given)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or not len(values):
        raise ValueError(f"data: expected {name} of shape [n] or [n, 1], got {values.shape}")
    if values.dtype == object and all(hasattr(value, "isoformat") for value in values):
        values = values.astype("datetime64[us]")
    if values.dtype.kind == "M":
        if np.isnat(values).any():
            raise ValueError(f"data: expected dates in {name}, got NaT")
        zero = values.astype("datetime64[s]").min()
        days = (values - zero) / np.timedelta64(1, "D")
        return days, str(zero).replace("T", " ").removesuffix(":00").removesuffix(" 00:00")
    try:
        if values.dtype.kind in "cm":
            raise TypeError
        return values.astype(np.float64), ""
    except (TypeError, ValueError):
        raise ValueError(
            f"data: expected numbers or dates for {name}, got {repr(given)[:80]}"
        ) from None


def _finite(name: str, values: Array) -> Array:
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise ValueError(f"data: expected finite numbers, got {values[row]} in row {row} of {name}")
    if not len(values):
        raise ValueError("data: expected at least one row that is not masked, got none")
    return values


def _units(given: Any) -> Units:
    four = np.asarray(given, np.float64) if len(given) == 4 else np.zeros(4)
    if not np.isfinite(four).all() or four[1] <= 0 or four[3] <= 0:
        raise ValueError(
            "data: expected units of four numbers (x offset, x scale > 0, y offset, y scale > 0), "
            f"got {given!r}"
        )
    x0, x1, y0, y1 = map(float, four)
    return x0, x1, y0, y1


def _labels(given: Any) -> Labels:
    if len(given) != 4 or not all(isinstance(label, str) for label in given):
        raise ValueError(
            "data: expected as labels four strings (name of x, name of y, date or time at x = 0, "
            f'date or time at y = 0; "" for none), got {given!r}'
        )
    x, y, x0, y0 = given
    return x, y, x0, y0


def _standard(x: Array, y: Array) -> Units:
    """Return the units in which x fills [−½, ½] and y has mean 0 and sd 5."""
    for name, values in (("x", x), ("y", y)):
        if (values == values[0]).all():
            raise ValueError(f"data: all {name} are {values[0]:g}: there is nothing to fit")
        largest = float(np.abs(values).max())
        if largest > _LARGEST or np.ptp(values) < 1 / _LARGEST:
            raise ValueError(
                f"data: expected {name} between 1e-100 and 1e100, got {largest:g}: "
                "write them in another unit"
            )
    low, high = float(x.min()), float(x.max())
    return (low + high) / 2, high - low, float(y.mean()), float(y.std()) / _SPREAD


def _value(x: Iterable[float], y: Iterable[float], units: Units, *labels: Labels) -> Value:
    """Make a value of the ``data`` control; round x and y to a millionth of their scales."""

    def short(numbers: Iterable[float], unit: float) -> tuple[float, ...]:
        places = 6 - math.floor(math.log10(unit))
        return tuple(round(float(number), places) for number in numbers)

    return short(x, units[1]), short(y, units[3]), units, *labels


def in_course(value: Value) -> tuple[Array, Array]:
    """Convert a value of the ``data`` control to x and y ``[n]`` in the course's units."""
    x0, x1, y0, y1 = value[2]
    return (np.array(value[0]) - x0) / x1, (np.array(value[1]) - y0) / y1


def from_course(x: Array, y: Array, units: Units = COURSE, *labels: Labels) -> Value:
    """Convert x and y ``[n]``, in the course's units, to a value of the ``data`` control."""
    x0, x1, y0, y1 = units
    return _value(x * x1 + x0, y * y1 + y0, units, *labels)


@dataclass(frozen=True)
class OwnPoints(datasets.Regression1D):
    """Points that the learner has set, in the course's units."""

    units: Units = COURSE
    labels: Labels = PLAIN


def units_of(data: datasets.Regression1D) -> Units:
    """Return the units of data; drawn data have the course's units."""
    return data.units if isinstance(data, OwnPoints) else COURSE


def count(data: datasets.Regression1D) -> str:
    """Return the number of points in words: "32 points" or "12 points of your own"."""
    n = len(data.x)
    return f"{n} point{'s' * (n != 1)}{' of your own' * isinstance(data, OwnPoints)}"


def labels_of(data: datasets.Regression1D) -> Labels:
    """Return the names of x and y, and the date or time at x = 0 and at y = 0; "" for none."""
    return data.labels if isinstance(data, OwnPoints) else PLAIN


def stretched(data: datasets.Regression1D) -> str:
    """Return a sentence on how a table is rescaled; "" for points in the course's units."""
    if units_of(data) == COURSE:
        return ""
    return f" The sliders see x stretched to ±½ and y to sd 5: a σ of 1 is {sd(data, 1.0)}."


def figure(value: float, form: str = ".3g") -> str:
    """Return a number in Python's format ``form`` as a sentence writes it.

    The minus is "−", 0 has none, NaN and infinity are "–", and instead of "1.2e+03" and "1.2e-07"
    the text is "1200" and "1.2 × 10⁻⁷".
    """
    if not math.isfinite(value):
        return "–"
    text = format(value, form).removesuffix(".")
    mantissa, _, power = text.partition("e")
    if power and 0 <= int(power) < 6:
        text = f"{float(text):.0f}"
    elif power:
        text = f"{mantissa} × 10{str(int(power)).translate(RAISED)}"
    return text.replace("-", "−") if text.strip("-0.%") else text.removeprefix("-")


def sd(data: datasets.Regression1D, value: float, digits: int = 2) -> str:
    """Format an sd of y, given in the course's units, in the units of the points."""
    return "0" if abs(value) < _NOTHING else figure(value * units_of(data)[3], f"#.{digits}g")


def at(data: datasets.Regression1D, x: float) -> str:
    """Return ``x``, an input of the model, as text in the units of the data, or as a date."""
    x0, x1, _, _ = units_of(data)
    place, zero = x0 + x1 * x, labels_of(data)[2]
    if "-" in zero:
        passed = np.timedelta64(round(86400 * place), "s")
        when = np.datetime64(zero.replace(" ", "T"), "s") + passed
        return str(when)[: 10 if x1 > 3 else 16].replace("T", " ")
    digits = math.floor(math.log10(max(abs(place), x1))) - math.floor(math.log10(x1)) + 3
    return figure(place, f".{digits}g")


def names(data: datasets.Regression1D) -> tuple[str, str]:
    """Return the names of the columns x and y; "x" and "y" by default."""
    x, y, *_ = labels_of(data)
    return x or "x", y or "y"


def ends(data: datasets.Regression1D) -> str:
    """Return the ends of the x axis as text: "x = ±1.5", or two values in a table's units."""
    if units_of(data) == COURSE:
        return "x = ±1.5"
    return f"{names(data)[0]} = {at(data, -1.5)} and {at(data, 1.5)}"
