"""Run an answer, read what it returns as numbers, and compare it with what is expected."""

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from bdl_teach._support.checks import Array

Function = Callable[..., Any]  # what an exercise asks for: numbers in, numbers out
Case = tuple[Any, ...]  # the arguments of one call
# Letters that a Russian or a Chinese keyboard writes where a Latin one is meant.
_LATIN = str.maketrans(
    "\u0430\u0432\u0441\u0435" + "".join(map(chr, range(0xFF41, 0xFF5B))),
    "abce" + "abcdefghijklmnopqrstuvwxyz",
)


@dataclass(frozen=True)
class Unreadable:
    """A returned value that cannot be compared; ``text`` says what it is."""

    text: str


class Changed(Exception):
    """The outcome of a call that changed its arguments."""


# What one call came to: an array, what it raised, what was no number, or None for nothing, `...`.
Outcome = Array | BaseException | Unreadable | None


def outcome(function: Function, case: Case) -> Outcome:
    """Run a function on a copy of one case, and catch what it raises."""
    arguments = copy.deepcopy(case)
    try:
        with np.errstate(all="ignore"):
            value = function(*arguments)
    except (Exception, SystemExit) as error:  # whatever a learner's code raises
        return error
    if not _unchanged(arguments, case):
        return Changed()
    return read(value)


def _unchanged(now: object, before: object) -> bool:
    """Say whether arguments are equal to their copies: numbers, arrays, and tuples of these.

    Tuples are not made arrays, and NaN equals NaN: a false alarm would be raised for the reference
    and for each answer alike, and then every answer would count as right.
    """
    if isinstance(before, tuple | list):
        if not isinstance(now, tuple | list) or len(now) != len(before):
            return False
        return all(_unchanged(a, b) for a, b in zip(now, before, strict=True))
    kept = np.asarray(before)
    return np.array_equal(np.asarray(now), kept, equal_nan=kept.dtype.kind in "fc")


def read(value: object) -> Outcome:
    """Convert a returned value to an array of floats, if it consists of numbers.

    NumPy, TensorFlow and Python numbers do, fractions too, alone or in tuples and lists.
    """
    if is_stub(value):
        return None
    try:
        array = _stack(value) if isinstance(value, tuple | list) else _array(value)
        if array.dtype.kind in "biuf":
            return np.asarray(array, dtype=np.float64)
    except Exception:  # ragged, or an object that is no array
        pass
    return Unreadable(short(value))


def _array(value: object) -> Array:
    """Make an array, of floats if the value has fractions, decimals or very large integers."""
    array = np.asarray(value)
    exact = array.dtype.kind == "O" and all(isinstance(v, Real | Decimal) for v in array.flat)
    return array.astype(np.float64) if exact else array


def _stack(parts: Sequence[object]) -> Array:
    """Stack the parts of a tuple; if one is a number, arrays of one element count as numbers."""
    arrays = [_array(part) for part in parts]
    if {array.shape for array in arrays} == {(), (1,)}:
        arrays = [array.reshape(()) for array in arrays]
    return np.asarray(arrays)


def close(got: Array, want: Array, rtol: float, atol: float, *, equal_nan: bool = False) -> bool:
    """Say whether arrays of one shape agree, with a tolerance relative to each value.

    Args:
        got: What was computed.
        want: What was expected.
        rtol: Share of each expected value by which it may be off.
        atol: Where the expected value is 0 (to rounding): share of the largest one.
        equal_nan: Whether NaN agrees with NaN.
    """
    finite = np.abs(want[np.isfinite(want)])
    largest = finite.max(initial=0.0) or 1.0
    allowed = np.where(np.abs(want) > 1e-12 * largest, rtol * np.abs(want), atol * largest)
    with np.errstate(invalid="ignore"):
        near = (got == want) | (np.isfinite(got) & np.isfinite(want) & (abs(got - want) <= allowed))
    return bool((near | (np.isnan(got) & np.isnan(want)) if equal_nan else near).all())


def unboxed(got: Array, want: Outcome) -> Array:
    """Return arrays of one element, alone or in a pair, as numbers where numbers are expected."""
    if isinstance(want, np.ndarray) and want.ndim <= 1 and want.size <= 2:
        return got[..., 0] if got.shape == (*want.shape, 1) else got
    return got


def is_stub(value: object) -> bool:
    """Say whether a value, or a part of a tuple, is still to be filled in."""
    if isinstance(value, tuple | list) and len(value):
        return any(part is None or part is Ellipsis for part in value)
    return value is None or value is Ellipsis


def breaks(got: Outcome, want: Outcome) -> bool:
    """Say whether NaN or infinity is where a finite number should be."""
    if not isinstance(got, np.ndarray) or not isinstance(want, np.ndarray):
        return False
    return bool(not np.isfinite(got).all() and np.isfinite(want).all())


def read_letters(answer: Any) -> set[str] | None:
    """Read letters from text, a collection, or a mapping to true or false."""
    if isinstance(answer, Mapping):
        answer = [letter for letter, holds in answer.items() if holds]
    if isinstance(answer, str):
        words = re.findall(r"\w+", answer)
        answer = words if all(len(word) == 1 for word in words) else list("".join(words))
    try:
        parts = [re.sub(r"[\W_]", "", str(part)).lower().translate(_LATIN) for part in answer]
    except TypeError:
        return None
    return {part for part in parts if part}


def short(value: object) -> str:
    """Shorten a learner's value to at most 60 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
