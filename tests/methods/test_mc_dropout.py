"""MC dropout: what the masks do to mean and spread is known."""

from typing import Any

import numpy as np

from bdl_teach.densities import Gaussian
from bdl_teach.methods import mc_dropout
from bdl_teach.mlp import MLP

X = np.linspace(-1.0, 1.0, 5)[:, None]
RATE, N = 0.3, 4000  # draws that stand for many


def made(hidden_units: tuple[int, ...]) -> mc_dropout.Fit:
    """A network with weights of the prior N(0, 1), not fitted to anything."""
    network = MLP(1, hidden_units)
    weights = Gaussian(1.0).sample(network.n_weights, seed=1)
    made: dict[str, Any] = {"network": network, "noise_std": 0.5, "history": {}}
    return mc_dropout.Fit(weights=weights, rate=RATE, **made)


def test_one_hidden_layer_has_mean_and_variance_over_masks():
    """f = Σ_k v_k h_k z_k/(1 − p) + c: mean Σ v h + c, variance p/(1 − p) Σ (v h)²."""
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
    """Of 1-3-2-1: what leaves a unit is 0 or m/(1 − p), all of it at once."""
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
