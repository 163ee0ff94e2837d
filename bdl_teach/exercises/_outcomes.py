"""Run an answer, convert what it returns to numbers, and compare these with the expected ones."""

import copy
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from bdl_teach._support.checks import Array

Function = Callable[..., Any]  # an answer: it takes and returns numbers or arrays
Case = tuple[Any, ...]  # the arguments of one call
# Cyrillic and full-width letters, and the Latin letters that are meant.
_LATIN = str.maketrans(
    "\u0430\u0432\u0441\u0435" + "".join(map(chr, range(0xFF41, 0xFF5B))),
    "abce" + "abcdefghijklmnopqrstuvwxyz",
)


class Changed(Exception):
    """The outcome of a call that changed one of its arguments."""


# The outcome of a call: numbers, the error raised, the text of a value that is no number, or None
# for a stub.
Outcome = Array | BaseException | str | None


def outcome(function: Function, case: Case) -> Outcome:
    """Run a function on a copy of one case; return its numbers, or the error that it raises."""
    arguments = copy.deepcopy(case)
    try:
        with np.errstate(all="ignore"):
            value = function(*arguments)
    except (Exception, SystemExit) as error:  # whatever a learner's code raises
        return error
    if not _unchanged(arguments, case):
        return Changed()
    return read(value)


def _unchanged(now: Any, before: Any) -> bool:
    """Return whether arguments equal their copies, part by part; NaN equals NaN."""
    if isinstance(before, tuple):
        return all(map(_unchanged, now, before))
    kept = np.asarray(before)
    return np.array_equal(np.asarray(now), kept, equal_nan=kept.dtype.kind in "fc")


def read(value: object) -> Outcome:
    """Convert numbers, arrays and tuples of these to float64, a stub to None, the rest to text."""
    if is_stub(value):
        return None
    try:
        array = _stack(value) if isinstance(value, tuple | list) else _array(value)
        if array.dtype.kind in "biuf":
            return np.asarray(array, dtype=np.float64)
    except Exception:  # ragged, or an object that is no array
        pass
    return short(value)


def _array(value: object) -> Array:
    """Convert a value to an array; fractions, decimals and huge integers become float64."""
    array = np.asarray(value)
    exact = array.dtype.kind == "O" and all(isinstance(v, Real | Decimal) for v in array.flat)
    return array.astype(np.float64) if exact else array


def _stack(parts: Sequence[object]) -> Array:
    """Stack the parts of a tuple; arrays ``[1]`` become numbers if another part is a number."""
    arrays = [_array(part) for part in parts]
    if {array.shape for array in arrays} == {(), (1,)}:
        arrays = [array.reshape(()) for array in arrays]
    return np.asarray(arrays)


def close(got: Array, want: Array, rtol: float, atol: float) -> bool:
    """Return whether two arrays of the same shape agree; NaN agrees with NaN.

    An element may differ by ``rtol`` times its wanted value or, if that is 0, by ``atol`` times the
    largest wanted value.
    """
    size = np.where(np.isfinite(want), np.abs(want), 0.0)
    largest = size.max(initial=0.0) or 1.0
    allowed = np.where(size > 1e-12 * largest, rtol * size, atol * largest)
    return bool(np.isclose(got, want, 0.0, allowed, equal_nan=True).all())


def unboxed(got: Array, want: Array) -> Array:
    """Return ``got`` without an extra last axis of length 1, if ``want`` is one or two numbers."""
    is_boxed = want.ndim <= 1 and want.size <= 2 and got.shape == (*want.shape, 1)
    return got[..., 0] if is_boxed else got


def is_stub(value: object) -> bool:
    """Return whether a value, or a part of a tuple, is ``None`` or ``...``."""
    if isinstance(value, tuple | list) and len(value):
        return any(part is None or part is Ellipsis for part in value)
    return value is None or value is Ellipsis


def breaks(got: Any, want: Array) -> bool:
    """Return whether an answer has NaN or infinity although all expected numbers are finite."""
    return bool(not np.isfinite(got).all() and np.isfinite(want).all())


def read_letters(answer: Any) -> set[str] | None:
    """Return the letters in a text, a collection or a {letter: bool}; None for other answers."""
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
    """Return the ``repr`` of a value, cut to 60 characters."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else f"{text[:57]}..."
