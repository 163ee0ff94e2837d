"""Gradient estimators of the free energy, written out by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import expit, softmax

from bdl_teach import checks
from bdl_teach.densities import HALF_LOG_TWO_PI, Prior, as_prior


def prior_score(w: Any, prior: Prior) -> Any:
    """d/dw log P(w) of a scale-mixture prior: −w · E[1/σ² | w], elementwise, in float64.

    Args:
        w: Weights, any shape.
        prior: ``densities.ScaleMixture`` or ``densities.Gaussian``.

    Returns:
        Of the shape of ``w``.
    """
    w = np.asarray(w, dtype=np.float64)
    sigma1, sigma2, pi = as_prior("prior", prior).mixture
    sigma = np.array([sigma1, sigma2])
    with np.errstate(divide="ignore"):  # π = 0 or 1: a component with log weight −inf
        log_weight = np.log(np.array([pi, 1.0 - pi])) - np.log(sigma) - HALF_LOG_TWO_PI
    scaled = w[..., None] / sigma  # [..., 2]
    responsibility = softmax(log_weight - 0.5 * scaled**2, axis=-1)
    return -(responsibility * scaled / sigma).sum(axis=-1)


def bbb_gradients(
    mu: Any, rho: Any, eps: Any, x: Any, y: Any, noise_std: float, prior: Prior
) -> tuple[Any, Any]:
    """Pathwise gradients (Δμ, Δρ) of Bayes by Backprop for the one-weight model y = w·x.

    With f(w, θ) = log q(w | θ) − log P(w) − log P(D | w) and w = μ + softplus(ρ) ε:
    Δμ = ∂f/∂w + ∂f/∂μ and Δρ = ∂f/∂w · ε/(1 + e^(−ρ)) + ∂f/∂ρ.

    Args:
        mu: Posterior mean, any shape.
        rho: σ = softplus(ρ), same shape.
        eps: Standard normal draw, same shape.
        x: Inputs, a number or ``[n]``.
        y: Targets, a number or ``[n]``.
        noise_std: Standard deviation of the noise, > 0.
        prior: ``densities.ScaleMixture`` or ``densities.Gaussian``.

    Returns:
        (Δμ, Δρ), each of the shape of ``mu``, in float64.

    Raises:
        ValueError: ``noise_std`` is not > 0, a value is not finite, or shapes do not fit.

    Source: Blundell et al. 2015, eq. 3 and 4.
    """
    noise_var = checks.positive("noise_std", noise_std) ** 2
    named = {"mu": mu, "rho": rho, "eps": eps, "x": x, "y": y}
    mu, rho, eps, x, y = (checks.finite(name, value) for name, value in named.items())
    if x.ndim > 1 or x.shape != y.shape:
        raise ValueError(f"x, y: expected two numbers or [n] both, got {x.shape} and {y.shape}")
    x, y = np.atleast_1d(x, y)
    sigma, slope = np.logaddexp(0.0, rho), expit(rho)  # softplus and its derivative
    w = mu + sigma * eps
    likelihood_score = ((y - w[..., None] * x) * x).sum(axis=-1) / noise_var
    df_dw = -eps / sigma - prior_score(w, prior) - likelihood_score
    df_dmu = eps / sigma
    df_dsigma = (eps**2 - 1.0) / sigma
    return df_dw + df_dmu, (df_dw * eps + df_dsigma) * slope
