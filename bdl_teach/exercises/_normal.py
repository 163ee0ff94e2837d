"""Compute normal densities by ``scipy.stats``, which is imported late: it takes a second."""

from typing import Any

import scipy


def pdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the density at ``x`` of a normal with mean ``loc`` and sd ``scale``, broadcast."""
    return scipy.stats.norm.pdf(x, loc, scale)


def logpdf(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    """Return the log density at ``x`` of a normal with mean ``loc`` and sd ``scale``, broadcast."""
    return scipy.stats.norm.logpdf(x, loc, scale)
