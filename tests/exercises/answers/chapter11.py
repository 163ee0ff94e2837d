"""Chapter 11: right answers computed differently than the references, and wrong answers."""

import math
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from answers.forms import reference


def _searched(residuals: Any, scale: Any) -> Any:
    """Return the mode as the zero of the derivative of the log density by σ."""
    n, squares = len(residuals), float(np.sum(residuals**2))
    return brentq(
        lambda s: n * s**2 + s**4 / scale**2 - squares, 0.0, math.sqrt(squares), xtol=1e-14
    )


def _counted(kl: Any, flat_std: Any, std: Any) -> int:
    """Return the number of points by trying one after the other."""
    n = 1
    while n * (np.log(flat_std) - np.log(std)) <= kl:
        n += 1
    return n


RIGHT: list[tuple[str, Any]] = [
    ("11.1", lambda y, f: np.linalg.norm(y - f) / np.sqrt(len(y))),
    ("11.4", lambda u, scale: stats.halfnorm(scale=scale).logpdf(np.exp(u)) + u),
    ("11.6", _counted),
    ("11.10", _searched),
]

WRONG: list[tuple[str, str, Any]] = [
    ("11.2", "expected", lambda x, y: np.var(y)),
    ("11.5", "expected", lambda y, m, v: np.sqrt(np.mean((y - m) ** 2) + 2 * np.mean(v))),
    ("11.8", "expected", lambda y, f, s: reference("11.8")(y, f, np.clip(s, -20, 20))),
    ("11.9", "expected", lambda ranks: np.zeros(len(ranks))),
]
