"""Notice fits that miss their data because x or y are not scaled."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach._support import checks
from bdl_teach._support.checks import Array

_MISSED = 5.0  # residual, in noise sds, from which a fit to data that are not scaled misses them
_OFF = 5.0  # |mean| of each scaled column is at most this, or this many sds
_SPREADS = 0.05, 20.0  # sd of scaled values: the course's x have 0.3, its y have 7


def missed(fit: Any, x: ArrayLike, y: ArrayLike) -> str:
    """Say that a fit misses its data, and that they are not scaled; return "" if not both hold.

    Values are scaled if their sd is within ``_SPREADS`` and no column's mean is beyond ``_OFF``.
    """
    x, y = checks.regression_data(x, y)
    raw = [name for name, values in (("x", x), ("y", y)) if not _scaled(values)]
    if not raw or fit.likelihood != "gaussian":
        return ""
    away = np.sqrt(np.mean((y[:, 0] - fit.predict(x).mean) ** 2)) / fit.noise_std
    if away < _MISSED:
        return ""
    return (
        f"the fit misses the data by {away:,.0f} times noise_std, and {' and '.join(raw)} "
        f"{'is' if len(raw) == 1 else 'are'} not scaled: standardise x and y (subtract the mean, "
        "divide by the standard deviation), and divide noise_std by that of y"
    )


def warn_if_missed(fit: Any, x: ArrayLike, y: ArrayLike) -> None:
    """Give a ``UserWarning`` with what :func:`missed` says, at the line that called ``fit``."""
    if said := missed(fit, x, y):
        warnings.warn(said, UserWarning, stacklevel=3)


def _scaled(values: Array) -> bool:
    """Return whether values ``[n, d]`` are scaled; equal values are, unless they are far from 0."""
    sd = float(np.sqrt(values.var(axis=0).mean()))  # of all columns: some may be indicators
    off = float(np.abs(values.mean(axis=0)).max())
    return off <= _OFF * max(sd, 1.0) and (sd == 0 or _SPREADS[0] <= sd <= _SPREADS[1])
