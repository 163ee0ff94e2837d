"""Functions that several experiments share: scores of predictions, and NUTS."""

from typing import Any

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.datasets.toy import Regression1D
from bdl_teach.methods import exact
from bdl_teach.predictive import Predictive

N_NEW = 20  # new targets at each input
X = np.linspace(-1, 1, 201)[:, None]
AMONG = np.abs(X[:, 0]) <= 0.5  # inputs within the range of the sinusoid's data


def nuts_until_converged(x: Array, y: Array, **settings: Any) -> exact.NutsFit:
    """Run NUTS with 1, 2, 4, 8 times the transitions; return the first converged or last run."""
    for thin in (1, 2, 4, 8):
        fit = exact.nuts(x, y, n_thin=thin, **settings)
        if fit.converged:
            break
    return fit


def test_log_likelihood(prediction: Predictive, data: Regression1D, x: Array, seed: int) -> Array:
    """Return the mean log predictive density of 20 new targets at each x [m, 1]: ``[m]``."""
    noise = np.random.default_rng(seed).standard_normal((N_NEW, len(x)))
    new = data.truth(x)[:, 0] + data.noise_std * noise
    return np.asarray(np.mean([prediction.log_prob(y) for y in new], axis=0))


def score(
    name: str, prediction: Predictive, data: Regression1D, seed: int, x: Array = X
) -> dict[str, float]:
    """Return mean test log-likelihoods (nats): ``{name}-among`` for |x| ≤ ½, ``{name}-outside``."""
    log_p = test_log_likelihood(prediction, data, x, seed)
    among = np.abs(x[:, 0]) <= 0.5
    parts = {"among": among, "outside": ~among}
    return {f"{name}-{part}": float(log_p[mask].mean()) for part, mask in parts.items()}


def rms(values: Array) -> float:
    """Return the root mean square of an array."""
    return float(np.sqrt(np.mean(np.square(values))))
