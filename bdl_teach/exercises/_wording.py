"""Put numbers, arguments, errors and differences into words for the messages of checks."""

import os
import re
import sysconfig
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.exercises._outcomes import Changed, Outcome, breaks

# The learner's line in the text of an error inside a ``tf.function``.
_IN_GRAPH = re.compile(r'File "[^"]*", line (\d+), in \S+  \*\n(.*)')
_WRITTEN = 8  # a message shows only the ends of an array with more elements
_LONG = 150  # a message shows only the shape of an argument with more characters
_LIBRARIES = tuple(
    f"{folder}{os.sep}"
    for folder in (
        Path(__file__).resolve().parents[1],
        *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
    )
)


def error(found: BaseException) -> str:
    """Return an error's type and text, and the line of the learner's code that raised it."""
    if (in_graph := _IN_GRAPH.findall(str(found))) and "in user code:" in str(found):
        words = str(found).strip().splitlines()[-1].strip()
        number, code = in_graph[-1]
        return f"{words.rstrip('.: ')}, in line {number}: `{code.strip()}`"
    words = f"{type(found).__name__}: {found}".rstrip(".: ")
    frames = traceback.extract_tb(found.__traceback__)
    own = [f for f in frames if f.lineno and not f.filename.startswith(_LIBRARIES)]
    if not own:
        return words
    return f"{words}, in line {own[-1].lineno}" + (f": `{own[-1].line}`" if own[-1].line else "")


def argument(name: str, value: Any) -> str:
    """Return "name=value", or the name and the shape of a long value."""
    text = show(value)
    if len(text) <= _LONG:
        return f"{name}={text}"
    try:
        return f"{name} of shape {np.shape(value)}"
    except ValueError:  # a ragged tuple
        return f"{name} of {len(value)} parts"


def difference(got: Outcome, want: Array, *, is_pair: bool) -> str:
    """Return how ``got`` differs from ``want`` (a pair if ``is_pair``), to end a sentence."""
    if isinstance(got, Changed):
        return " your function changed its argument; work on a copy."
    if isinstance(got, BaseException):
        return f" your function raised {error(got)}."
    if got is None:
        return " your function returned nothing: does every way through it return?"
    wanted = _kind(want)
    if is_pair:
        wanted = f"a pair, each {_kind(want[0])}" if want.ndim > 1 else "a pair of numbers"
    if isinstance(got, str):
        return f" expected {wanted}, and your function returned {got}."
    if got.shape != want.shape:
        return f" expected {wanted}, got {_kind(got)}."
    if breaks(got, want):
        is_nan = np.isnan(got[~np.isfinite(got)].ravel()[0])
        return f" your answer contains {'NaN' if is_nan else 'an infinite value'}."
    where = ""
    if want.size > _WRITTEN and show(want) == show(got):  # they differ in elements not shown
        at = np.unravel_index(np.argmax(np.abs(got - want)), want.shape)
        where = f", at index {', '.join(map(str, at))},"
        got, want = got[at], want[at]
    return f"{where} expected {show(want, got)}, got {show(got, want)}."


def _kind(value: Array) -> str:
    return f"shape {value.shape}" if value.shape else "one number"


def show(value: object, other: object = None) -> str:
    """Format a value with six digits, or with sixteen if ``other`` has the same six digits."""
    text = _digits(value, 6)
    if other is not None and text == _digits(other, 6):
        text = _digits(value, 16)
    return text


def _digits(value: Any, digits: int) -> str:
    try:
        array = np.asarray(value)
    except ValueError:  # a ragged tuple: part by part
        return f"({', '.join(_digits(part, digits) for part in value)})"
    # NumPy would write 8 as "8.", and a sentence would end twice.
    formatter: Any = {"float_kind": lambda number: f"{number + 0.0:.{digits}g}"}  # no "-0"
    text = np.array2string(array, threshold=_WRITTEN, edgeitems=2, formatter=formatter)
    return " ".join(text.split())  # a matrix on one line
