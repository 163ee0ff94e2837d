"""The parts of a message: numbers, arguments, errors and the types of values."""

import linecache
import os
import re
import sysconfig
import traceback
from pathlib import Path
from typing import Any

import numpy as np

from bdl_teach.exercises._outcomes import Changed, Outcome, Unreadable, breaks

# A line of a function that TensorFlow made a graph of, as its errors have it.
_IN_GRAPH = re.compile(r'File "[^"]*", line (\d+), in \S+  \*\n(.*)')
_WRITTEN = 8  # of a longer array a message shows the ends
_LONG = 150  # letters of an argument; of a longer one it says the shape
_LIBRARIES = tuple(
    f"{folder}{os.sep}"
    for folder in (
        Path(__file__).resolve().parents[1],
        *(sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")),
    )
)


def error(found: BaseException) -> str:
    """Return an error's type and text, and the line of the learner's code that raised it.

    An error in a ``tf.function`` has these lines in its text, with a file that TensorFlow wrote.
    """
    if (in_graph := _IN_GRAPH.findall(str(found))) and "in user code:" in str(found):
        said = str(found).strip().splitlines()[-1].strip()
        number, text = in_graph[-1]
        return f"{said.rstrip('.: ')}, in line {number}: `{text.strip()}`"
    said = f"{type(found).__name__}: {found}".rstrip(".: ")
    return f"{said}{_line(found)}"


def _line(error: BaseException) -> str:
    """Say in which line of the learner's own code an error was raised."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.lineno and not f.filename.startswith(_LIBRARIES)]
    if not own:
        return ""
    last = own[-1]
    text = (last.line or linecache.getline(last.filename, last.lineno or 0)).strip()
    return f", in line {last.lineno}" + (f": `{text}`" if text else "")


def argument(name: str, value: Any) -> str:
    """Format an argument for a message, or only its shape if that is too long."""
    text = show(value)
    if len(text) <= _LONG:
        return f"{name}={text}"
    try:
        return f"{name} of shape {np.shape(value)}"
    except ValueError:  # a ragged tuple
        return f"{name} of {len(value)} parts"


def difference(got: Outcome, want: Outcome, *, is_pair: bool = False) -> str:
    """Say how the outcome of an answer differs from the expected one.

    Args:
        got: What the learner's function came to.
        want: The right answer.
        is_pair: Whether the right answer is a pair, which was stacked to be compared.
    """
    if isinstance(got, Changed):
        return " your function changed its argument; work on a copy."
    if isinstance(got, BaseException):
        return f" your function raised {error(got)}."
    if got is None:
        return " your function returned nothing: does every way through it return?"
    wanted = _kind(want)
    if is_pair and isinstance(want, np.ndarray):
        wanted = f"a pair, each {_kind(want[0])}" if want.ndim > 1 else "a pair of numbers"
    if isinstance(got, Unreadable):
        return f" expected {wanted}, and your function returned {got.text}."
    if not isinstance(want, np.ndarray) or got.shape != want.shape:
        return f" expected {wanted}, got {_kind(got)}."
    if breaks(got, want):
        is_nan = np.isnan(got[~np.isfinite(got)].ravel()[0])
        return f" your answer contains {'NaN' if is_nan else 'an infinite value'}."
    where = ""
    if want.size > _WRITTEN and show(want) == show(got):  # they differ in what is left out
        at = np.unravel_index(np.argmax(np.abs(got - want)), want.shape)
        where = f", at index {', '.join(map(str, at))},"
        got, want = got[at], want[at]
    return f"{where} expected {show(want, got)}, got {show(got, want)}."


def _kind(value: Outcome) -> str:
    if not isinstance(value, np.ndarray):
        return f"a {type(value).__name__}" if isinstance(value, BaseException) else "nothing"
    return f"shape {value.shape}" if value.shape else "one number"


def show(value: object, other: object = None) -> str:
    """Write a value with six figures, or with all where six do not tell it from ``other``."""
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
