"""Two unbiased estimators of the derivative of E f(z) by θ = μ or σ, for z ~ N(μ, σ²).

    score function   f(z) ∂ log N(z | μ, σ²)/∂θ     needs only the values of f
    pathwise         f′(z) ∂(μ + σ ε)/∂θ            needs the slope of f

The cost f is a quadratic plus an offset, which makes the score function noisy, and a ripple, which
makes the pathwise estimator noisy.

Source: Williams 1992 (score function); Kingma & Welling 2014, section 2.4 (pathwise).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach._support import checks
from bdl_teach._support.checks import Array

KINDS = ("score", "pathwise")
PARAMETERS = ("μ", "σ")
FREQUENCY = 10.0  # of the ripple, in radians per unit of z
_EPS = np.linspace(-9.0, 9.0, 4001)
_DENSITY = np.exp(-0.5 * _EPS**2) * (_EPS[1] - _EPS[0]) / np.sqrt(2.0 * np.pi)


@dataclass(frozen=True)
class Cost:
    """f(z) = ½ c (z − 1)² + b + a cos(10 z).

    Attributes:
        curvature: c, >= 0.
        offset: b, which changes neither f′ nor the derivatives of E f(z).
        ripple: a.
    """

    curvature: float = 1.0
    offset: float = 0.0
    ripple: float = 0.0

    def __post_init__(self) -> None:
        checks.non_negative("curvature", self.curvature)
        checks.number("offset", self.offset)
        checks.number("ripple", self.ripple)

    def value(self, z: float | Array) -> float | Array:
        """Return f(z), elementwise."""
        bowl = 0.5 * self.curvature * (z - 1.0) ** 2 + self.offset
        return bowl + self.ripple * np.cos(FREQUENCY * z) if self.ripple else bowl

    def slope(self, z: float | Array) -> float | Array:
        """Return f′(z), elementwise."""
        bowl = self.curvature * (z - 1.0)
        return bowl - self.ripple * FREQUENCY * np.sin(FREQUENCY * z) if self.ripple else bowl

    def expected(self, mu: float | Array, sigma: float | Array) -> float | Array:
        """Return E[f(z)] for z ~ N(μ, σ²), in closed form."""
        damped = np.cos(FREQUENCY * mu) * np.exp(-0.5 * (FREQUENCY * sigma) ** 2)
        bowl = 0.5 * self.curvature * ((mu - 1.0) ** 2 + sigma**2) + self.offset
        return bowl + self.ripple * damped

    def gradient(self, mu: float, sigma: float) -> tuple[float, float]:
        """Return (∂/∂μ, ∂/∂σ) of E[f(z)], in closed form."""
        ripple = self.ripple * FREQUENCY * np.exp(-0.5 * (FREQUENCY * sigma) ** 2)
        return (
            float(self.curvature * (mu - 1.0) - ripple * np.sin(FREQUENCY * mu)),
            float(self.curvature * sigma - ripple * FREQUENCY * sigma * np.cos(FREQUENCY * mu)),
        )


def draws(kind: str, parameter: str, cost: Cost, mu: float, sigma: float, eps: ArrayLike) -> Array:
    """Return an estimate of the derivative of E f(z) by μ or σ from each draw of ε.

    Args:
        kind: ``"score"`` or ``"pathwise"``.
        parameter: ``"μ"`` or ``"σ"``.
        cost: The cost f.
        mu: Mean of z.
        sigma: Standard deviation of z, > 0.
        eps: Standard normal draws of any shape; z = μ + σ ε.

    Raises:
        ValueError: The kind or parameter is unknown, σ is not > 0, or a draw is not finite.
    """
    checks.choice("kind", kind, KINDS)
    by_mean = checks.choice("parameter", parameter, PARAMETERS) == PARAMETERS[0]
    checks.number("mu", mu)
    checks.positive("sigma", sigma)
    eps = checks.finite("eps", eps)
    z = mu + sigma * eps
    if kind == "pathwise":
        return np.asarray(cost.slope(z) * (1.0 if by_mean else eps))  # f′(z) ∂z/∂θ
    score = eps / sigma if by_mean else (eps**2 - 1.0) / sigma  # ∂ log N(z | μ, σ²)/∂θ
    return np.asarray(cost.value(z) * score)


def variance(kind: str, parameter: str, cost: Cost, mu: float, sigma: float) -> float:
    """Return the variance of one estimate of :func:`draws`, by quadrature over ε."""
    each = draws(kind, parameter, cost, mu, sigma, _EPS)
    mean = each @ _DENSITY
    return float((each - mean) ** 2 @ _DENSITY)
