"""Variance in closed form of five estimators of the gradient of a linear model's expected cost.

The cost of a minibatch at one draw of the weights is (N/M) Σ_i ½ (x_i·w − y_i)² / noise², with
w_k = μ_k + σ_k ε_k. Each function below says what the noise of one draw does to its gradient;
``estimators.gradient_variance`` is the door to them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import checks
from bdl_teach.checks import Array


class Gradients(NamedTuple):
    """A gradient, draws of it, or their variance.

    Attributes:
        mu: With respect to μ, ``[..., d]``.
        sigma: With respect to σ, ``[..., d]``.
    """

    mu: Array
    sigma: Array


class Minibatch(NamedTuple):
    """The linear model at a minibatch of M data points.

    Attributes:
        mu: Posterior means ``[d]``.
        sigma: Posterior standard deviations ``[d]``.
        x: Inputs ``[M, d]``.
        residual: m_i = x_i·μ − y_i, ``[M]``.
        scale: c = (N/M) / noise².
    """

    mu: Array
    sigma: Array
    x: Array
    residual: Array
    scale: float

    @property
    def output_var(self) -> Array:
        """δ_i = Σ_k x_ik² σ_k², the variance of each output ``[M]``."""
        return np.asarray(self.x**2 @ self.sigma**2)

    @property
    def expected(self) -> Gradients:
        """The gradient itself: c Σ_i x_i m_i, and c Σ_i x_i² σ."""
        to_mu = self.residual @ self.x
        return Gradients(self.scale * to_mu, self.scale * (self.x**2).sum(axis=0) * self.sigma)


def minibatch(
    mu: Any, sigma: Any, x: Any, y: Any, noise_std: float, n_data: int | None
) -> Minibatch:
    """Check the arguments of ``estimators.gradient_samples`` and put them together.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    x, y = checks.regression_data(x, y)
    mu = checks.finite("mu", mu)
    if mu.shape != (x.shape[1],):
        raise ValueError(f"mu: expected shape ({x.shape[1]},) to go with x, got {mu.shape}")
    n_data = len(x) if n_data is None else checks.count("n_data", n_data, len(x))
    scale = n_data / len(x) / checks.positive("noise_std", noise_std) ** 2
    return Minibatch(mu, spread(sigma, len(mu)), x, x @ mu - y[:, 0], scale)


def spread(sigma: Any, d: int) -> Array:
    """Return ``sigma`` as d standard deviations > 0 or raise ``ValueError``."""
    std = checks.finite("sigma", sigma)
    if std.shape != (d,) or not (std > 0).all():
        raise ValueError(f"sigma: expected {d} numbers > 0, got {std}")
    return std


def score(b: Minibatch) -> Gradients:
    """E[cost² h(ε_k)] − mean², with h = (ε_k/σ_k)² for μ and ((ε_k² − 1)/σ_k)² for σ.

    The cost is a quadratic in ε, a + b·ε + εᵀCε. Given ε_k it has mean
    a + tr C − C_kk + b_k ε_k + C_kk ε_k² and variance Σ_l (b_l + 2 C_kl ε_k)² + 2 Σ_lm C_lm² over
    the other weights; what is left is a polynomial in ε_k, which Gauss-Hermite integrates exactly.
    """
    t, weights = np.polynomial.hermite_e.hermegauss(8)
    weights = weights / weights.sum()
    path = b.x * b.sigma
    constant = 0.5 * b.scale * (b.residual**2).sum()
    linear, square = b.scale * b.residual @ path, 0.5 * b.scale * path.T @ path  # [d], [d, d]
    own, row = np.diag(square)[:, None], (square**2).sum(axis=1)[:, None]  # [d, 1]
    mean = constant + np.trace(square) - own + linear[:, None] * t + own * t**2  # [d, t]
    slopes = linear + 2.0 * square[:, None, :] * t[:, None]  # [d, t, d]
    var = (slopes**2).sum(axis=2) - (linear[:, None] + 2.0 * own * t) ** 2
    var += 2.0 * ((square**2).sum() - 2.0 * row + own**2)
    second = (mean**2 + var) / b.sigma[:, None] ** 2  # E[cost² | ε_k] / σ_k²
    first = b.expected
    return Gradients(
        (second * t**2) @ weights - first.mu**2,
        (second * (t**2 - 1.0) ** 2) @ weights - first.sigma**2,
    )


def shared(b: Minibatch) -> Gradients:
    """One ε for all data points: its effects add up before they are squared.

    Var_μ = c² Σ_l G_kl² σ_l² with G = xᵀx;
    Var_σ = c² [(Σ_i x_ik m_i)² + Σ_l G_kl² σ_l² + G_kk² σ_k²].
    """
    gram = b.x.T @ b.x
    spread_var = gram**2 @ b.sigma**2
    pull = (b.residual @ b.x) ** 2
    own = np.diag(gram) ** 2 * b.sigma**2
    return _scaled(b, spread_var, pull + spread_var + own)


def per_example(b: Minibatch) -> Gradients:
    """An ε for each data point: squares add up.

    Var_μ = c² Σ_i x_ik² δ_i; Var_σ = c² Σ_i x_ik² (m_i² + δ_i + x_ik² σ_k²).
    """
    square = b.x**2
    own = (square**2).sum(axis=0) * b.sigma**2
    to_mu = b.output_var @ square
    return _scaled(b, to_mu, b.residual**2 @ square + to_mu + own)


def local(b: Minibatch) -> Gradients:
    """One ζ for each output: for μ as with weights for each point, for σ at most that.

    Var_μ = c² Σ_i x_ik² δ_i; Var_σ = c² Σ_i (x_ik⁴ σ_k² / δ_i) (m_i² + 2 δ_i).
    """
    square, delta = b.x**2, b.output_var
    # √δ_i may be 0 only where all of x_i is, and then nothing depends on σ
    weight = np.divide(
        b.residual**2 + 2.0 * delta, delta, out=np.zeros_like(delta), where=delta > 0
    )
    return _scaled(b, delta @ square, weight @ square**2 * b.sigma**2)


def flipout(b: Minibatch) -> Gradients:
    """One ε with a sign for each point: rows do not covary, but |ε| is still shared.

    Var_μ = c² Σ_i x_ik² δ_i;
    Var_σ = c² [Σ_i x_ik² m_i² + 2 σ_k² G_kk² + Σ_{l≠k} σ_l² Σ_i x_ik² x_il²].
    """
    square = b.x**2
    quartic = (square**2).sum(axis=0)
    to_mu = b.output_var @ square
    others = to_mu - quartic * b.sigma**2
    own = 2.0 * b.sigma**2 * square.sum(axis=0) ** 2
    return _scaled(b, to_mu, b.residual**2 @ square + own + others)


def _scaled(b: Minibatch, to_mu: Array, to_sigma: Array) -> Gradients:
    return Gradients(b.scale**2 * to_mu, b.scale**2 * to_sigma)


VARIANCES: dict[str, Callable[[Minibatch], Gradients]] = {
    "score": score,
    "shared": shared,
    "per_example": per_example,
    "local": local,
    "flipout": flipout,
}
