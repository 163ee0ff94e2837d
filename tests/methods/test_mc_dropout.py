"""MC dropout: exact mean and variance over masks."""

from typing import Any

import numpy as np

from bdl_teach.densities import Gaussian
from bdl_teach.methods import mc_dropout
from bdl_teach.mlp import MLP

X = np.linspace(-1.0, 1.0, 5)[:, None]
RATE, N = 0.3, 4000  # dropout rate and draws


def made(hidden_units: tuple[int, ...]) -> mc_dropout.Fit:
    """Return a network with weights drawn from N(0, 1), without training."""
    network = MLP(1, hidden_units)
    weights = Gaussian(1.0).sample(network.n_weights, seed=1)
    made: dict[str, Any] = {"network": network, "noise_std": 0.5, "history": {}}
    return mc_dropout.Fit(weights=weights, rate=RATE, **made)


def test_dropout_mean_and_variance_of_one_layer_are_exact():
    """With masks z at rate p, f = Σ v h z/(1 − p) + c has variance p/(1 − p) Σ (v h)²."""
    fit = made((6,))
    a, b, v, c = np.split(fit.weights, [6, 12, 18])
    each = np.maximum(X * a + b, 0.0) * v  # [m, units]
    variance = RATE / (1 - RATE) * (each**2).sum(axis=1)
    p = fit.predict(X, n_samples=N)
    off = (p.mean - each.sum(axis=1) - c) / np.sqrt(variance / N)
    assert np.abs(off).max() < 4
    np.testing.assert_allclose(p.epistemic_std**2, variance, rtol=0.1)
    np.testing.assert_array_equal(p.aleatoric_std, 0.5)


def test_dropout_draw_removes_whole_units_only():
    """All weights that leave a unit are 0, or all are w/(1 − p); the network is 1-3-2-1."""
    fit = made((3, 2))
    ratio = fit.draw(N) / fit.weights
    inputs_and_biases = [*range(6), 12, 13, 16]
    np.testing.assert_allclose(ratio[:, inputs_and_biases], 1.0)
    leaving = [[6, 9], [7, 10], [8, 11], [14], [15]]  # W₂ is [2, 3] row by row
    kept = np.stack([ratio[:, units[0]] > 0 for units in leaving], axis=1)
    for unit, weights in enumerate(leaving):
        for weight in weights:
            np.testing.assert_allclose(ratio[:, weight] * (1 - RATE), kept[:, unit])
    np.testing.assert_allclose(kept.mean(axis=0), 1 - RATE, atol=4 * 0.46 / np.sqrt(N))
    assert np.abs(np.corrcoef(kept.T) - np.eye(5)).max() < 4 / np.sqrt(N)
