"""Compute normal densities by ``scipy.stats``, which is imported late: it takes a second."""

import scipy
from numpy.typing import ArrayLike

from bdl_teach._support.checks import Array


def pdf(x: ArrayLike, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0) -> Array:
    """Return the density at ``x`` of a normal with mean ``loc`` and sd ``scale``, broadcast."""
    density: Array = scipy.stats.norm.pdf(x, loc, scale)
    return density


def logpdf(x: ArrayLike, loc: ArrayLike = 0.0, scale: ArrayLike = 1.0) -> Array:
    """Return the log density at ``x`` of a normal with mean ``loc`` and sd ``scale``, broadcast."""
    log_density: Array = scipy.stats.norm.logpdf(x, loc, scale)
    return log_density
