"""Measurements that several experiments take."""

from __future__ import annotations

import numpy as np

from bdl_teach import densities
from bdl_teach._support.checks import Array
from bdl_teach.datasets.toy import Regression1D
from bdl_teach.densities import Prior
from bdl_teach.methods.bbb import Fit
from bdl_teach.predictive import Predictive, draw_weights

N_NEW = 20  # new targets at each input


def free_energy(fit: Fit, data: Regression1D, prior: Prior, seed: int) -> float:
    """F of a fit on all data in nats, from 400 fresh draws: what no last step can flatter."""
    w = draw_weights(fit.mean, fit.std, 400, seed)  # [s, n_weights]
    log_q = -densities.gaussian_nll(w, fit.mean, fit.std**2)
    complexity = (log_q - np.asarray(prior.log_prob(w))).sum(axis=1)
    f = fit.evaluate(w, data.x)  # [s, n]
    likelihood = densities.gaussian_nll(data.y.T, f, fit.noise_std**2).sum(axis=1)
    return float((complexity + likelihood).mean())


def test_log_likelihood(prediction: Predictive, data: Regression1D, x: Array, seed: int) -> Array:
    """Log density of new targets at each input ``x`` [m, 1], ``[m]`` in nats, over 20 draws."""
    noise = np.random.default_rng(seed).standard_normal((N_NEW, len(x)))
    new = data.truth(x)[:, 0] + data.noise_std * noise
    return np.asarray(np.mean([prediction.log_prob(y) for y in new], axis=0))
