"""The free energy F = KL[q ‖ P(w)] − E_q[log P(D | w)], in nats over the whole data set.

F is the *negative* ELBO, which is minimised: KL[q ‖ P(w | D)] = F + log P(D).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach.backend import Tensor, tf
from bdl_teach.densities import HALF_LOG_TWO_PI

SCHEMES = ("uniform", "geometric")  # how the KL is shared among minibatches


@dataclass(frozen=True)
class FreeEnergy:
    """The free energy of q on the whole data set, in nats: kl_weight · complexity + likelihood.

    The complexity is KL[q ‖ P(w)], and the likelihood −E_q[log P(D | w)].
    """

    complexity: float
    likelihood: float
    kl_weight: float = 1.0

    @property
    def total(self) -> float:
        """Return F in nats."""
        return self.kl_weight * self.complexity + self.likelihood

    def __str__(self) -> str:
        """Return F and its two parts as text, rounded so that the parts add up to F."""
        digits = 0 if self.kl_weight == 1 else 1  # a factor magnifies the rounding error
        factor = f"{self.kl_weight:.4g}"
        complexity, likelihood = f"{self.complexity:.{digits}f}", f"{self.likelihood:.0f}"
        total = float(factor) * float(complexity) + float(likelihood)
        times = "" if self.kl_weight == 1 else f"{factor} × "
        parts = f"{times}complexity {complexity} + likelihood {likelihood}"
        return f"free energy F {total:.0f} nats = {parts}"


def complexity_cost(eps: Tensor, std: Tensor, log_prior: Tensor, mask: Tensor = 1.0) -> Tensor:
    """Estimate KL[q ‖ P(w)] from each draw w = μ + σ ε by Σ (log q(w) − log P(w)) over weights.

    Here log q(w) = −log σ − ½ε² − ½ log 2π.

    Args:
        eps: Standard normal draws ``[..., d]``.
        std: Posterior standard deviations ``[d]``.
        log_prior: log P(w) of each drawn weight ``[..., d]``.
        mask: 1 for a weight of the network, 0 for one that only pads the vector, ``[d]``.

    Returns:
        Nats, an estimate for each draw ``[...]``.

    Source: Blundell et al. 2015, eq. 2, first two terms.
    """
    log_q = -tf.math.log(std) - 0.5 * eps**2 - HALF_LOG_TWO_PI
    return tf.reduce_sum((log_q - log_prior) * mask, axis=-1)


def likelihood_cost(y: Tensor, f: Tensor, noise_std: Tensor, row_weight: Tensor = 1.0) -> Tensor:
    """Return −Σ log N(y | f, noise²) over the data points, in nats ``[...]``.

    Args:
        y: Targets ``[n, 1]``.
        f: Network outputs ``[..., n, 1]``.
        noise_std: Standard deviation of the noise, > 0.
        row_weight: 1 for a point that counts, else 0, ``[n, 1]``.
    """
    nll = 0.5 * ((y - f) / noise_std) ** 2 + tf.math.log(noise_std) + HALF_LOG_TWO_PI
    return tf.reduce_sum(nll * row_weight, axis=[-2, -1])


def free_energy(complexity: Tensor, likelihood: Tensor, kl_weight: Tensor) -> Tensor:
    """Return F = kl_weight · complexity + likelihood.

    F is lowest for Bayes' posterior if ``kl_weight`` is 1, for a "cold" one if it is below 1.

    Source: Blundell et al. 2015, eq. 1.
    """
    return kl_weight * complexity + likelihood


def minibatch_weights(n_batches: int, scheme: str = "uniform") -> Array:
    """Return the share of the KL in the cost of each of M minibatches ``[M]``; the sum is 1.

    ``"uniform"``: π_i = 1/M. ``"geometric"``: π_i = 2^(M−i)/(2^M − 1) = 2^(−i)/(1 − 2^(−M)).

    Args:
        n_batches: Number M of minibatches in an epoch, >= 1.
        scheme: ``"uniform"`` or ``"geometric"``.

    Raises:
        ValueError: M < 1 or an unknown scheme.

    Source: Graves 2011 (uniform); Blundell et al. 2015, section 3.4 (geometric).
    """
    m = checks.count("n_batches", n_batches)
    if checks.choice("scheme", scheme, SCHEMES) == "uniform":
        return np.full(m, 1.0 / m)
    i = np.arange(1, m + 1, dtype=np.float64)
    return np.exp2(-i) / -math.expm1(-m * math.log(2.0))


def minibatch_free_energies(kl: float, nll: ArrayLike, weights: ArrayLike) -> Array:
    """Return F_i = π_i KL + Σ_{j in batch i} nll_j for M minibatches, in nats ``[M]``; ΣF_i = F.

    Args:
        kl: KL[q ‖ P(w)] over all weights, in nats.
        nll: Expected negative log-likelihood of each point, in the order of an epoch ``[n]``.
        weights: Shares π of the KL, from :func:`minibatch_weights` ``[M]``.

    Raises:
        ValueError: n is not a multiple of M, or a value is not finite.
    """
    nll, weights = checks.finite("nll", nll), checks.finite("weights", weights)
    if weights.ndim != 1 or not weights.size:
        raise ValueError(f"weights: expected shape (M,) with M >= 1, got {weights.shape}")
    if nll.ndim != 1 or len(nll) % len(weights):
        raise ValueError(
            f"nll: expected shape (n,) with n a multiple of {len(weights)}, got {nll.shape}"
        )
    shares = weights * checks.number("kl", kl)
    return np.asarray(shares + nll.reshape(len(weights), -1).sum(axis=1))
