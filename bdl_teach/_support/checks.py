"""Convert arguments, or raise ``ValueError`` that says what was expected and what was given."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[Any]
_LARGEST_ROUNDING = 0.01  # share of a column's range by which float32 may move its values


def number(
    name: str,
    value: float,
    expected: str = "a finite number",
    holds: Callable[[float], bool] = math.isfinite,
) -> float:
    """Return ``value`` as a float; raise ``ValueError`` unless it is finite and ``holds(value)``.

    ``expected`` describes a valid value in the error's message.
    """
    try:
        result = math.nan if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError):
        result = math.nan
    if not (math.isfinite(result) and holds(result)):
        raise ValueError(f"{name}: expected {expected}, got {value!r}")
    return result


def positive(name: str, value: float) -> float:
    return number(name, value, "a finite number > 0", lambda number: number > 0)


def non_negative(name: str, value: float) -> float:
    return number(name, value, "a finite number >= 0", lambda number: number >= 0)


def probability(name: str, value: float) -> float:
    return number(name, value, "a number in [0, 1]", lambda number: 0 <= number <= 1)


def level(value: float) -> float:
    """Check that the ``level`` of an interval is inside (0, 1), and return it as a float."""
    return number("level", value, "a number inside (0, 1)", lambda number: 0 < number < 1)


def count(name: str, value: int, minimum: int = 1) -> int:
    try:
        result = -math.inf if isinstance(value, bool) else operator.index(value)
    except TypeError:
        result = -math.inf
    if result < minimum:
        raise ValueError(f"{name}: expected an integer >= {minimum}, got {value!r}")
    return int(result)


def batches(n_batches: int, n: int) -> int:
    """Return ``n_batches`` as an integer from 1 to ``n``, the number of data points."""
    result = count("n_batches", n_batches)
    if result > n:
        raise ValueError(f"n_batches: expected at most {n}, one for each point, got {n_batches}")
    return result


def starting_rho(name: str, value: float) -> float:
    """Return ρ as a float; raise ``ValueError`` if float32 cannot hold σ = log(1 + e^ρ) or σ²."""
    expected = "ρ >= -41 (below, σ² is too small for float32)"
    return number(name, value, expected, lambda rho: -41.0 <= rho <= 1e18)


def choice(name: str, value: str, options: Sequence[str]) -> str:
    if value not in options:
        raise ValueError(f"{name}: expected one of {', '.join(options)}, got {value!r}")
    return str(value)


def layer_widths(name: str, value: Sequence[int]) -> tuple[int, ...]:
    """Return the widths of hidden layers as integers >= 1; () is a linear model."""
    try:
        widths = tuple(value)
    except TypeError:
        raise ValueError(f"{name}: expected a tuple such as (20, 20), got {value!r}") from None
    return tuple(count(f"{name}[{i}]", width) for i, width in enumerate(widths))


def inputs(name: str, value: ArrayLike, n_features: int | None = None) -> Array:
    """Return a finite float64 array ``[n, d]`` with n, d >= 1, and d = ``n_features`` if given."""
    array = finite(name, value)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name}: expected shape [n, d] with n, d >= 1, got {array.shape}")
    if n_features is not None and array.shape[1] != n_features:
        raise ValueError(f"{name}: expected {n_features} columns, got {array.shape[1]}")
    return array


def regression_data(x: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Return data as finite arrays x ``[n, d]`` and y ``[n, 1]``; y may be given as ``[n]``."""
    x = inputs("x", x)
    y = finite("y", y)
    n = len(x)
    if y.shape not in ((n,), (n, 1)):
        raise ValueError(f"y: expected shape ({n}, 1) to go with x {x.shape}, got {y.shape}")
    return x, y.reshape(n, 1)


def resolved_in_float32(name: str, values: Array) -> Array:
    """Return ``values`` [n, d]; raise ``ValueError`` if float32 loses a column's differences."""
    with np.errstate(over="ignore", invalid="ignore"):
        rounded = values.astype(np.float32).astype(np.float64)
        spread = values.max(axis=0) - values.min(axis=0)
        lost = ~(np.abs(rounded - values).max(axis=0) <= _LARGEST_ROUNDING * spread)
        lost &= (spread > 0) | ~np.isfinite(rounded).all(axis=0)
    if lost.any():
        column = values[:, lost][:, 0]
        raise ValueError(
            f"{name}: expected columns whose values differ in float32; one column spans only "
            f"{column.min():.10g} to {column.max():.10g}: subtract its mean, and divide by its "
            "standard deviation"
        )
    return values


def finite(name: str, value: ArrayLike) -> Array:
    """Return ``value`` as a float64 array; raise ``ValueError`` if part is masked or not finite."""
    if isinstance(value, np.ma.MaskedArray) and value.mask.any():  # NumPy would unmask them
        hidden = int(value.mask.sum())
        raise ValueError(f"{name}: expected no masked values, got {hidden}: leave their rows out")
    try:
        if np.iscomplexobj(value):  # NumPy would drop the imaginary part with a warning
            raise TypeError
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name}: expected an array of real numbers, got {value!r}") from None
    bad = int(array.size - np.isfinite(array).sum())
    if bad:
        raise ValueError(f"{name}: expected finite numbers, got {bad} NaN or infinite value(s)")
    return array
