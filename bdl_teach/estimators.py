"""Gradient estimators of the free energy, written out by hand, and their variances.

Five estimators of one gradient have the same mean and different variances. The gradient is that of
the expected likelihood cost of the linear model y = x·w, for a minibatch of M of the N data points,

    E_q[ (N/M) Σ_i ½ (y_i − x_i·w)² / noise² ],   q(w) = Π_k N(w_k | μ_k, σ_k²).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit

from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach.backend import Tensor
from bdl_teach.densities import Prior, as_prior

KINDS = ("score", "shared", "per_example", "local", "flipout")


class Gradients(NamedTuple):
    """Gradients by μ and by σ, or their variances: ``[d]`` each, or ``[n, d]`` for n draws."""

    mu: Array
    sigma: Array


class Minibatch(NamedTuple):
    """The posterior of the linear model and a minibatch of M points, made by :func:`minibatch`.

    ``residual`` is m_i = x_i·μ − y_i for each point ``[M]``. ``scale`` is c = (N/M) / noise², where
    N is the number of points in the whole data set.
    """

    mu: Array
    sigma: Array
    x: Array
    residual: Array
    scale: float

    @property
    def output_var(self) -> Array:
        """Return δ_i = Σ_k x_ik² σ_k², the variance of each output ``[M]``."""
        return np.asarray(self.x**2 @ self.sigma**2)

    @property
    def expected(self) -> Gradients:
        """Return the exact gradient: c Σ_i x_i m_i for μ, and c Σ_i x_i² σ for σ."""
        to_mu = self.residual @ self.x
        return Gradients(self.scale * to_mu, self.scale * (self.x**2).sum(axis=0) * self.sigma)


def minibatch(
    mu: ArrayLike,
    sigma: ArrayLike,
    x: ArrayLike,
    y: ArrayLike,
    noise_std: float = 1.0,
    n_data: int | None = None,
) -> Minibatch:
    """Check the arguments, and return the :class:`Minibatch` that the estimators take.

    Args:
        mu: Posterior means ``[d]``.
        sigma: Posterior standard deviations ``[d]``, > 0.
        x: Inputs of the minibatch ``[M, d]``.
        y: Targets ``[M]`` or ``[M, 1]``.
        noise_std: Standard deviation of the noise on y, > 0.
        n_data: Number N of points in the whole data set; M if not given.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    x, y = checks.regression_data(x, y)
    mu = checks.finite("mu", mu)
    if mu.shape != (x.shape[1],):
        raise ValueError(f"mu: expected shape ({x.shape[1]},) to go with x, got {mu.shape}")
    n_data = len(x) if n_data is None else checks.count("n_data", n_data, len(x))
    scale = n_data / len(x) / checks.positive("noise_std", noise_std) ** 2
    return Minibatch(mu, _checked_std(sigma, len(mu)), x, x @ mu - y[:, 0], scale)


def _checked_std(sigma: ArrayLike, d: int) -> Array:
    """Return ``sigma`` as an array of d numbers > 0, or raise ``ValueError``."""
    std = checks.finite("sigma", sigma)
    if std.shape != (d,) or not (std > 0).all():
        raise ValueError(f"sigma: expected {d} numbers > 0, got {std}")
    return std


def _score_variance(b: Minibatch) -> Gradients:
    """Return the variance of the score-function estimator: E[cost² h(ε_k)] − mean².

    Here h is the squared score: (ε_k/σ_k)² for μ_k, and ((ε_k² − 1)/σ_k)² for σ_k. The cost is a
    quadratic of the noise ε of all weights, a + u·ε + εᵀCε. For a fixed ε_k the cost has the mean
    a + tr C − C_kk + u_k ε_k + C_kk ε_k² over the other ε, and the variance
    Σ_l (u_l + 2 C_kl ε_k)² + 2 Σ_lm C_lm² with l, m ≠ k. So E[cost² | ε_k] is a polynomial in ε_k,
    which Gauss-Hermite quadrature integrates exactly.
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
    to_mu, to_sigma = b.expected
    return Gradients(
        (second * t**2) @ weights - to_mu**2,
        (second * (t**2 - 1.0) ** 2) @ weights - to_sigma**2,
    )


def _pathwise_variance(kind: str, b: Minibatch) -> Gradients:
    """Return the variance of an estimator that differentiates the cost: any but ``"score"``.

    For the gradients by μ_k and σ_k, with c, m_i and δ_i of :class:`Minibatch` and G = xᵀx:

    - ``"shared"``, one ε for all points:
      Var_μ = c² Σ_l G_kl² σ_l²; Var_σ = c² [(Σ_i x_ik m_i)² + Σ_l G_kl² σ_l² + G_kk² σ_k²];
    - ``"per_example"``, an ε for each point:
      Var_μ = c² Σ_i x_ik² δ_i; Var_σ = c² Σ_i x_ik² (m_i² + δ_i + x_ik² σ_k²);
    - ``"local"``, a normal number for each output, with the Var_μ of ``"per_example"``:
      Var_σ = c² Σ_i (x_ik⁴ σ_k² / δ_i) (m_i² + 2 δ_i);
    - ``"flipout"``, one ε with random signs for each point, with the Var_μ of ``"per_example"``:
      Var_σ = c² [Σ_i x_ik² m_i² + 2 σ_k² G_kk² + Σ_{l≠k} σ_l² Σ_i x_ik² x_il²].
    """
    square, delta, gram = b.x**2, b.output_var, b.x.T @ b.x
    quartic = (square**2).sum(axis=0) * b.sigma**2
    shared, to_mu, pull = gram**2 @ b.sigma**2, delta @ square, b.residual**2 @ square
    own = np.diag(gram) ** 2 * b.sigma**2
    if kind == "shared":
        to_mu, to_sigma = shared, (b.residual @ b.x) ** 2 + shared + own
    elif kind == "per_example":
        to_sigma = pull + to_mu + quartic
    elif kind == "flipout":
        to_sigma = pull + 2.0 * own + (to_mu - quartic)
    else:  # δ_i is 0 only if all of x_i is 0, and then nothing depends on σ
        weight = np.divide(
            b.residual**2 + 2.0 * delta, delta, out=np.zeros_like(delta), where=delta > 0
        )
        to_sigma = weight @ square**2 * b.sigma**2
    return Gradients(b.scale**2 * to_mu, b.scale**2 * to_sigma)


def bbb_gradients(
    mu: ArrayLike,
    rho: ArrayLike,
    eps: ArrayLike,
    x: ArrayLike,
    y: ArrayLike,
    noise_std: float,
    prior: Prior,
) -> tuple[Tensor, Tensor]:
    """Return Bayes by Backprop's pathwise gradients (Δμ, Δρ) for the one-weight model y = w·x.

    With f(w, θ) = log q(w | θ) − log P(w) − log P(D | w) and w = μ + softplus(ρ) ε:
    Δμ = ∂f/∂w + ∂f/∂μ and Δρ = ∂f/∂w · ε/(1 + e^(−ρ)) + ∂f/∂ρ.

    Args:
        mu: Posterior mean, any shape.
        rho: σ = softplus(ρ), same shape.
        eps: Standard normal draw, same shape.
        x: Inputs, a number, ``[n]`` or ``[n, 1]``.
        y: Targets, of the shape of ``x``.
        noise_std: Standard deviation of the noise, > 0.
        prior: ``densities.ScaleMixture`` or ``densities.Gaussian``.

    Returns:
        (Δμ, Δρ), each of the shape of ``mu``, in float64.

    Raises:
        ValueError: ``noise_std`` is not > 0, a value is not finite, shapes do not fit, or ``prior``
            is not a prior.

    Source: Blundell et al. 2015, eq. 3 and 4.
    """
    noise_var = checks.positive("noise_std", noise_std) ** 2
    named = {"mu": mu, "rho": rho, "eps": eps, "x": x, "y": y}
    mu, rho, eps, x, y = (checks.finite(name, value) for name, value in named.items())
    columns = [a[:, 0] if a.ndim == 2 and a.shape[1] == 1 else a for a in (x, y)]
    if columns[0].ndim > 1 or columns[0].shape != columns[1].shape:
        wanted = "two numbers, or the same shape [n] or [n, 1]"
        raise ValueError(f"x, y: expected {wanted}, got {x.shape} and {y.shape}")
    x, y = np.atleast_1d(*columns)
    sigma, slope = np.logaddexp(0.0, rho), expit(rho)  # softplus and its derivative
    w = mu + sigma * eps
    likelihood_score = ((y - w[..., None] * x) * x).sum(axis=-1) / noise_var
    df_dw = as_prior("prior", prior).precision(w) * w - eps / sigma - likelihood_score
    return df_dw + eps / sigma, (df_dw * eps + (eps**2 - 1.0) / sigma) * slope


def gradient_samples(
    kind: str, batch: Minibatch, *, n_draws: int = 1000, seed: int = 0
) -> Gradients:
    """Draw the gradient of a minibatch's expected cost with one of the estimators.

    ``"score"``: cost × ∇ log q, which needs no derivative of the cost; ``"shared"``: one w for all
    M points (Bayes by Backprop); ``"per_example"``: a w for each point; ``"local"``: each output
    from its own mean and variance; ``"flipout"``: one w, with signs flipped for each point.

    Args:
        kind: One of ``KINDS``.
        batch: What :func:`minibatch` returns.
        n_draws: Number of gradients to draw.
        seed: Seed of the draws.

    Returns:
        Draws of the gradients by μ and by σ, ``[n_draws, d]`` each, with mean ``batch.expected``.

    Raises:
        ValueError: An argument is out of range.

    Source: Williams 1992 (score); Blundell et al. 2015 (shared); Kingma, Salimans & Welling 2015
    (per example, local); Wen et al. 2018 (Flipout).
    """
    kind, n_draws = checks.choice("kind", kind, KINDS), checks.count("n_draws", n_draws)
    rng = np.random.default_rng([checks.count("seed", seed, 0), 0])
    return _draws(kind, batch, n_draws, rng)


def gradient_variance(kind: str, batch: Minibatch) -> Gradients:
    """Return the variance of one draw of the gradient, in closed form, for a given minibatch.

    For μ, one weight and c = (N/M)/noise² it is c² σ² (Σx²)² with ``"shared"``, and c² σ² Σx⁴ with
    ``"per_example"``, ``"local"`` and ``"flipout"``: M times less if all x are equal.

    Args:
        kind: One of ``KINDS``.
        batch: What :func:`minibatch` returns.

    Returns:
        The variances of the gradients by μ and by σ, ``[d]`` each.

    Raises:
        ValueError: ``kind`` is not one of ``KINDS``.
    """
    if checks.choice("kind", kind, KINDS) == "score":
        return _score_variance(batch)
    return _pathwise_variance(kind, batch)


def row_covariance(kind: str, x: ArrayLike, sigma: ArrayLike) -> Array:
    """Return the covariance of the outputs x_m·w of the data points ``[M, M]``.

    The covariance is Σ_k x_mk x_nk σ_k² if the points share one draw of w (``"score"``,
    ``"shared"``), and only the diagonal of this for the other kinds.

    Args:
        kind: One of ``KINDS``.
        x: Inputs ``[M, d]``.
        sigma: Posterior standard deviations ``[d]``, > 0.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    x = checks.inputs("x", x)
    covariance = (x * _checked_std(sigma, x.shape[1]) ** 2) @ x.T
    shared = checks.choice("kind", kind, KINDS) in ("score", "shared")
    return np.asarray(covariance if shared else np.diag(np.diag(covariance)))


def output_samples(
    kind: str, mu: ArrayLike, sigma: ArrayLike, x: ArrayLike, *, n_draws: int = 1000, seed: int = 0
) -> Array:
    """Draw the outputs x·w of a minibatch, with the noise of the estimator ``kind``.

    Args:
        kind: One of ``KINDS``.
        mu: Posterior means ``[d]``.
        sigma: Posterior standard deviations ``[d]``, > 0.
        x: Inputs ``[M, d]``.
        n_draws: Number of draws.
        seed: Seed of the draws.

    Returns:
        ``[n_draws, M]``: each column has mean x·μ and variance x²·σ², for every kind.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    x = checks.inputs("x", x)
    b = minibatch(mu, sigma, x, np.zeros(len(x)))
    kind, n_draws = checks.choice("kind", kind, KINDS), checks.count("n_draws", n_draws)
    rng = np.random.default_rng([checks.count("seed", seed, 0), 2])
    if kind == "local":
        return np.asarray(
            b.residual + np.sqrt(b.output_var) * rng.standard_normal((n_draws, len(x)))
        )
    return np.asarray(b.residual + (b.x * _noise(kind, b, n_draws, rng)) @ b.sigma)


def _draws(kind: str, b: Minibatch, n: int, rng: np.random.Generator) -> Gradients:
    """Draw ``n`` gradients of the minibatch's expected cost by μ and by σ, ``[n, d]`` each."""
    if kind == "local":
        zeta, std = rng.standard_normal((n, len(b.x))), np.sqrt(b.output_var)
        error = b.scale * (b.residual + std * zeta)  # [n, M]
        slope = b.x**2 * b.sigma / np.where(std > 0, std, 1.0)[:, None]  # [M, d]: dstd/dσ
        return Gradients(error @ b.x, (error * zeta) @ slope)
    noise = _noise(kind, b, n, rng)
    if kind == "score":
        eps = noise[:, 0]
        error = b.residual + (b.sigma * eps) @ b.x.T  # [n, M]
        cost = 0.5 * b.scale * (error**2).sum(axis=1)[:, None]
        return Gradients(cost * eps / b.sigma, cost * (eps**2 - 1.0) / b.sigma)
    path = b.x * noise  # [n, M, d]: d output / dσ
    error = b.scale * (b.residual + path @ b.sigma)  # [n, M]
    return Gradients(error @ b.x, np.einsum("nm,nmd->nd", error, path))


def _noise(kind: str, b: Minibatch, n: int, rng: np.random.Generator) -> Array:
    """Draw the weights' noise ε: ``[n, 1, d]`` if all points share it, else ``[n, M, d]``."""
    if kind == "per_example":
        return rng.standard_normal((n, *b.x.shape))
    signs = rng.integers(0, 2, (n, *b.x.shape)) if kind == "flipout" else 1
    return np.asarray(rng.standard_normal((n, 1, len(b.mu))) * (2.0 * signs - 1.0))
