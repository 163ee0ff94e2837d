"""The exact posterior of linear regression, in closed form (Bishop 2006, section 3.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import cho_factor, cho_solve

from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.one_line import one_line
from bdl_teach.methods.mcmc import Fit as NutsFit
from bdl_teach.methods.mcmc import nuts
from bdl_teach.predictive import Predictive

# ``nuts`` and its Fit are here for programs written before they moved to ``mcmc``.
__all__ = ["LinearPosterior", "NutsFit", "linear_regression", "nuts"]


def linear_regression(
    x: ArrayLike, y: ArrayLike, prior_std: float, noise_std: float
) -> LinearPosterior:
    """Return the exact posterior of linear regression; for an intercept, x needs a column of ones.

    Λ = I/prior_std² + xᵀx/noise_std², mean = Λ⁻¹ xᵀy/noise_std², cov = Λ⁻¹.

    Args:
        x: Design matrix ``[n, d]``.
        y: Targets ``[n]`` or ``[n, 1]``.
        prior_std: Standard deviation of each weight's prior, > 0.
        noise_std: Standard deviation of the noise, > 0.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.

    Source: Bishop 2006, eq. 3.53, 3.54 and 3.86.
    """
    x, y = checks.regression_data(x, y)
    n, d = x.shape
    noise_std = checks.positive("noise_std", noise_std)
    s2, noise2 = checks.positive("prior_std", prior_std) ** 2, noise_std**2
    precision = np.eye(d) / s2 + x.T @ x / noise2  # [d, d]
    factor = cho_factor(precision)
    mean = cho_solve(factor, x.T @ y[:, 0]) / noise2
    misfit = np.sum((y[:, 0] - x @ mean) ** 2) / noise2 + mean @ mean / s2
    log_det = 2.0 * np.log(np.diag(factor[0])).sum()
    constant = d * math.log(s2) + n * math.log(2 * math.pi * noise2)
    log_evidence = -0.5 * (misfit + log_det + constant)
    return LinearPosterior(mean, cho_solve(factor, np.eye(d)), float(log_evidence), noise_std)


@one_line
@dataclass(frozen=True)
class LinearPosterior:
    """The exact posterior of y = x·w + noise under w ~ N(0, prior_std² I).

    Attributes:
        mean: Posterior mean of the weights ``[d]``.
        cov: Posterior covariance of the weights ``[d, d]``.
        log_evidence: log P(y | x), in nats.
        noise_std: Standard deviation of the noise.
    """

    mean: Array
    cov: Array
    log_evidence: float
    noise_std: float

    def predict(self, x: ArrayLike) -> Predictive:
        """Return the exact predictive at ``x`` [m, d]: mean x·mean, epistemic variance xᵀ cov x.

        Raises:
            ValueError: x does not have d columns.
        """
        x = checks.inputs("x", x, len(self.mean))
        variance = np.einsum("md,de,me->m", x, self.cov, x)
        noise = np.full(len(x), self.noise_std)
        return Predictive(x @ self.mean, np.sqrt(np.maximum(variance, 0.0)), noise)
