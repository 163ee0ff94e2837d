"""Put numbers, arguments, errors and differences into words for the messages of checks."""

import os
import re
import sysconfig
import tomllib
import traceback
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.exercises._outcomes import Changed, Outcome, breaks

# Titles, sections to read, faults, statements and changes of formulas; see the file itself.
TEXTS = tomllib.loads(files(__package__).joinpath("texts.toml").read_text("utf-8"))
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
    if re.match(r"(array\()?[\[(]+['\"]", str(got)):
        return f" expected numbers, not names, and your function returned {got}."
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


def meant(got: Outcome, want: Array, case: Any, names: Any) -> str:
    """Return what numbers of another kind or shape than ``want`` may be, as a sentence, or ""."""
    if not isinstance(got, np.ndarray) or not isinstance(want, np.ndarray) or not got.size:
        return ""
    whole = bool(np.isfinite(got).all() and (got % 1 == 0).all())
    truths = want.ndim > 0 and np.isin(want, (0, 1)).all()
    if got.shape == want.shape:
        if np.isin(got, (0, 1)).all() and not np.isin(want, range(10)).all() and np.ptp(got):
            return "truth values: return the values that are asked for."
        if truths and not whole:
            return "values for truth values: return True or False for each."
        sizes = [n for value in case if isinstance(value, np.ndarray) for n in value.shape]
        order = want.ndim == 1 and (want % 1 == 0).all() and 1 < want.size == len(np.unique(want))
        order = order and max(sizes, default=0) > want.max() and not whole
        return "values for places: return their indices." if order else ""
    listed = got.ndim == 1 and whole and got.min() >= 0 and len(np.unique(got)) == got.size
    if truths and want.ndim == 1 and listed and got.max() < want.size:
        return "places for truth values: return True or False for each."
    if want.ndim > 0 and got.ndim == 0:
        return "one for all: return one for each."
    if got.ndim > 1 and np.swapaxes(got, -1, -2).shape == want.shape:
        return "transposed: rows and columns are swapped."
    for axis in range(got.ndim):
        if np.delete(got.shape, axis).tolist() == list(want.shape):
            return f"an axis too many: axis {axis} of yours, of length {got.shape[axis]}, is to go."
    for name, value in zip(names, case, strict=True):
        shape = np.shape(value) if isinstance(value, np.ndarray) else ()
        over = {tuple(np.delete(shape, axis).tolist()): axis for axis in range(len(shape))}
        if want.shape in over and got.shape in over:
            at, by = over[got.shape], over[want.shape]
            return f"the wrong axis: you went over axis {at} of {name}, not over axis {by}."
    return ""


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
