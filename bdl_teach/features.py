"""Make nonlinear features for a linear model: a design matrix ``[n, d]`` of inputs ``[n, 1]``."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach._support import checks
from bdl_teach._support.checks import Array

KINDS = ("bumps", "polynomial")
_OVERLAP = 0.75  # width of a bump, as a multiple of the distance between centres


def polynomial(x: ArrayLike, n_features: int) -> Array:
    """Return powers φ_k(x) = (2x)^k for k = 0 … d−1; for x in [−½, ½] they are in [−1, 1].

    Args:
        x: Inputs ``[n, 1]``.
        n_features: Number d of powers, >= 1.

    Returns:
        Design matrix ``[n, d]``.

    Raises:
        ValueError: An argument is out of range.

    Source: Bishop 2006, section 1.1.
    """
    n_features = checks.count("n_features", n_features)
    return np.asarray((2.0 * checks.inputs("x", x, 1)) ** np.arange(n_features))


def bumps(x: ArrayLike, n_features: int) -> Array:
    """Return Gaussian bumps φ_k(x) = exp(−½ ((x − c_k)/l)²), with c_k evenly spaced over [−1, 1].

    The width l is 0.75 of the distance between two centres. Far outside [−1, 1] all features are 0:
    whatever the data, the model is certain there that f = 0.

    Args:
        x: Inputs ``[n, 1]``.
        n_features: Number d of bumps, >= 2.

    Returns:
        Design matrix ``[n, d]``.

    Raises:
        ValueError: An argument is out of range.

    Source: Bishop 2006, eq. 3.4.
    """
    n_features = checks.count("n_features", n_features, minimum=2)
    centres = np.linspace(-1.0, 1.0, n_features)
    width = _OVERLAP * (centres[1] - centres[0])
    return np.asarray(np.exp(-0.5 * ((checks.inputs("x", x, 1) - centres) / width) ** 2))


def design(kind: str, x: ArrayLike, n_features: int) -> Array:
    """Return the design matrix ``[n, d]`` for the ``kind`` ``"bumps"`` or ``"polynomial"``."""
    make = bumps if checks.choice("kind", kind, KINDS) == "bumps" else polynomial
    return make(x, n_features)
