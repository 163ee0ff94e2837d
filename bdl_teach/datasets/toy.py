"""Draw the toy problems of the course from explicit seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.one_line import one_line


@one_line
@dataclass(frozen=True)
class Regression1D:
    """A one-dimensional regression problem whose true function is known.

    Attributes:
        x: Inputs ``[n, 1]``.
        y: Noisy targets ``[n, 1]``.
        noise_std: Standard deviation of the noise on y, or of ε in :func:`blundell_curve`.
        function: The noise-free function, elementwise.
    """

    x: Array
    y: Array
    noise_std: float
    function: Callable[[Array], Array]

    def truth(self, x: ArrayLike) -> Array:
        """Return the noise-free target at ``x``, of the shape of ``x``."""
        return self.function(np.asarray(x, dtype=np.float64))


def _sine(x: Array) -> Array:
    return np.asarray(10.0 * np.sin(2.0 * np.pi * x))


def sinusoid(
    n: int = 32,
    noise_std: float = 1.0,
    seed: int = 0,
    gap: tuple[float, float] | None = None,
) -> Regression1D:
    """Draw noisy points of 10 sin(2πx) at evenly spaced x in [−½, ½].

    Args:
        n: Number of points, >= 1.
        noise_std: Standard deviation of the Gaussian noise, > 0.
        seed: Seed of the noise.
        gap: An interval (low, high) without points; all n points lie in the rest of [−½, ½].

    Raises:
        ValueError: An argument is out of range, or the gap leaves nothing of [−½, ½].

    Source: M. Krasser, "Variational inference in Bayesian neural networks" (2019).
    """
    n, noise_std = checks.count("n", n), checks.positive("noise_std", noise_std)
    x = _spread(n, gap)[:, None]
    noise = noise_std * np.random.default_rng(checks.count("seed", seed, 0)).standard_normal((n, 1))
    return Regression1D(x, _sine(x) + noise, noise_std, _sine)


def _spread(n: int, gap: tuple[float, float] | None) -> Array:
    """Return n evenly spaced points ``[n]`` in [−½, ½], none of them inside the gap."""
    if gap is None:
        return np.linspace(-0.5, 0.5, n)
    edges = checks.finite("gap", gap)
    low, high = np.clip(edges, -0.5, 0.5) if edges.shape == (2,) else (0.0, 0.0)
    if not low < high or high - low >= 1.0:
        asked = "(low, high), low < high, that does not cover all of [-0.5, 0.5]"
        raise ValueError(f"gap: expected {asked}, got {gap!r}")
    position = np.linspace(0.0, 1.0 - (high - low), n)  # from −½, not counting the gap
    left = low + 0.5
    beyond = position > left if left > 0 else position >= 0
    return position - 0.5 + np.where(beyond, high - low, 0.0)


def _curve(x: Array) -> Array:
    return np.asarray(x + 0.3 * np.sin(2 * np.pi * x) + 0.3 * np.sin(4 * np.pi * x))


def blundell_curve(n: int = 100, noise_std: float = 0.02, seed: int = 0) -> Regression1D:
    """Draw points of the regression curve of the Bayes-by-Backprop paper, on [0, ½].

    y = x + 0.3 sin 2π(x + ε) + 0.3 sin 4π(x + ε) + ε with ε ~ N(0, noise_std²). Because ε is also
    inside the sines, the spread of y changes with x.

    Args:
        n: Number of points, >= 1.
        noise_std: Standard deviation of ε, > 0.
        seed: Seed of x and ε.

    Raises:
        ValueError: An argument is out of range.

    Source: Blundell et al. 2015, section 5.2.
    """
    n, noise_std = checks.count("n", n), checks.positive("noise_std", noise_std)
    rng = np.random.default_rng(checks.count("seed", seed, 0))
    x = np.sort(rng.uniform(0.0, 0.5, (n, 1)), axis=0)
    eps = noise_std * rng.standard_normal((n, 1))
    return Regression1D(x, _curve(x + eps), noise_std, _curve)
