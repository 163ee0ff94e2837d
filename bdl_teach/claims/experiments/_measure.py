"""Measurements that several experiments take."""

from __future__ import annotations

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.datasets.toy import Regression1D
from bdl_teach.predictive import Predictive

N_NEW = 20  # new targets at each input


def test_log_likelihood(prediction: Predictive, data: Regression1D, x: Array, seed: int) -> Array:
    """Log density of new targets at each input ``x`` [m, 1], ``[m]`` in nats, over 20 draws."""
    noise = np.random.default_rng(seed).standard_normal((N_NEW, len(x)))
    new = data.truth(x)[:, 0] + data.noise_std * noise
    return np.asarray(np.mean([prediction.log_prob(y) for y in new], axis=0))
