"""Random features: a random hidden layer, and an exact posterior of the last layer.

f(x) = v · φ(x) with φ_k(x) = max(0, a_k · x + b_k)/√K, where a and b are standard normal numbers
times ``scale``. The posterior of v ~ N(0, scale² I) has a closed form.

Source: Rahimi & Recht 2007 for the features; Bishop 2006, section 3.3 for the last layer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach.methods import exact
from bdl_teach.predictive import Predictive


def _features(x: Array, hidden: Array) -> Array:
    """Return φ(x) ``[n, k]`` for x ``[n, d]``."""
    return np.asarray(np.maximum(0.0, x @ hidden[:-1] + hidden[-1]) / hidden.shape[1] ** 0.5)


def fit(
    x: ArrayLike,
    y: ArrayLike,
    *,
    noise_std: float = 1.0,
    n_features: int = 100,
    scale: float = 8.0,
    seed: int = 0,
) -> Fit:
    """Learn the last layer of a network whose hidden layer is random.

    Args:
        x: Inputs ``[n, d]``.
        y: Targets ``[n, 1]`` or ``[n]``.
        noise_std: Standard deviation of the noise on y, in the units of y, > 0.
        n_features: Number K of hidden units.
        scale: Standard deviation of every weight of the prior, > 0.
        seed: Seed of the hidden layer.

    Returns:
        A :class:`Fit`.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
    """
    x, y = checks.regression_data(x, y)
    rng = np.random.default_rng(checks.count("seed", seed, 0))
    shape = (x.shape[1] + 1, checks.count("n_features", n_features))
    hidden = checks.positive("scale", scale) * rng.standard_normal(shape)
    return Fit(hidden, exact.linear_regression(_features(x, hidden), y, scale, noise_std))


@dataclass(frozen=True)
class Fit:
    """A hidden layer, and the posterior of the last layer.

    Attributes:
        hidden: Weights of the hidden layer, biases last ``[d + 1, k]``.
        posterior: Posterior of the last layer's k weights.
    """

    hidden: Array
    posterior: exact.LinearPosterior

    def predict(self, x: ArrayLike, n_samples: int = 500, seed: int = 1) -> Predictive:
        """Predict with draws of the last layer; see ``catalogue.Fitted``."""
        x = checks.inputs("x", x, len(self.hidden) - 1)
        s = checks.count("n_samples", n_samples)
        rng = np.random.default_rng(checks.count("seed", seed, 0))
        v = rng.multivariate_normal(self.posterior.mean, self.posterior.cov, s)  # [s, k]
        return Predictive.from_samples(v @ _features(x, self.hidden).T, self.posterior.noise_std)
