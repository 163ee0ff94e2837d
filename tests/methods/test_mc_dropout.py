"""MC dropout: what the masks do to mean and spread is known, and data do not narrow it."""

from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from bdl_teach import datasets
from bdl_teach.backend import tf
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import mc_dropout, point
from bdl_teach.mlp import MLP
from bdl_teach.predictive import BernoulliPredictive

DATA = datasets.sinusoid(n=8)
SMALL: dict[str, Any] = {"hidden_units": (3,), "steps": 60}
X = np.linspace(-1.0, 1.0, 5)[:, None]
RATE, N = 0.3, 4000  # draws that stand for many


def small(**changes: Any) -> mc_dropout.Fit:
    return mc_dropout.fit(DATA.x, changes.pop("y", DATA.y), **{**SMALL, **changes})


def made(hidden_units: tuple[int, ...], rate: float = RATE) -> mc_dropout.Fit:
    """A network with weights of the prior N(0, 1), not fitted to anything."""
    network = MLP(1, hidden_units)
    weights = Gaussian(1.0).sample(network.n_weights, seed=1)
    made: dict[str, Any] = {"network": network, "noise_std": 0.5, "history": {}}
    return mc_dropout.Fit(weights=weights, rate=rate, **made)


# What a draw is


@pytest.mark.parametrize("options", [{}, {"prior": ScaleMixture()}, {"likelihood": "bernoulli"}])
def test_at_rate_0_it_is_the_point_estimate(options):
    y = np.float64(DATA.y > 0) if "likelihood" in options else DATA.y
    fit = small(y=y, rate=0.0, seed=5, **options)
    alone = point.fit(DATA.x, y, seed=5, **SMALL, **options)
    np.testing.assert_allclose(fit.weights, alone.weights, atol=1e-5)
    for name, values in alone.history.items():
        np.testing.assert_allclose(fit.history[name], values, rtol=1e-4, atol=1e-6)
    p = fit.predict(X, n_samples=9)
    np.testing.assert_allclose(p.samples, np.tile(alone.predict(X).mean, (9, 1)), rtol=1e-5)
    np.testing.assert_allclose(p.epistemic_std, 0.0, atol=1e-6)


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


def test_two_hidden_layers_have_the_statistics_of_keras_dropout():
    """Mean and sd; Keras draws masks for each row, so that a row is a draw."""
    fit, x = made((4, 3)), 0.7
    layers = [tf.keras.layers.Dense(k, "relu") for k in (4, 3)]
    drops = [tf.keras.layers.Dropout(RATE, seed=s) for s in (1, 2)]
    model = tf.keras.Sequential(
        [layers[0], drops[0], layers[1], drops[1], tf.keras.layers.Dense(1)]
    )
    model.build((None, 1))
    sizes = np.cumsum([a * b for a, b in fit.network.shapes])[:-1]
    pieces = zip(np.split(fit.weights, sizes), fit.network.shapes, strict=True)
    arrays = [piece.reshape(shape).T for piece, shape in pieces]
    model.set_weights([a[0] if i % 2 else a for i, a in enumerate(arrays)])
    theirs = model(np.full((N, 1), x, np.float32), training=True).numpy()[:, 0]
    ours = fit.predict([[x]], n_samples=N).samples[:, 0]
    assert abs(ours.mean() - theirs.mean()) < 4 * theirs.std() * np.sqrt(2 / N)
    assert ours.std() == pytest.approx(theirs.std(), rel=0.1)


def test_labels_get_the_mean_of_the_draws_probabilities():
    fit = small(y=np.float64(DATA.y > 0), likelihood="bernoulli")
    p = fit.predict(X, n_samples=20)
    assert isinstance(p, BernoulliPredictive)
    logits = fit.evaluate(fit.draw(20), X)
    np.testing.assert_allclose(p.probability, expit(logits).mean(axis=0), rtol=1e-5)


# What is minimised


def test_a_gaussian_prior_is_the_weight_decay_of_the_paper():
    """½ l² [(1 − p) ‖M‖² + ‖the rest‖²] with M = m/(1 − p), beside what does not move."""
    fit = small(rate=RATE, prior=Gaussian(0.5))
    behind = np.zeros(10, bool)
    behind[6:9] = True  # of 1-3-1
    decay = (1 - RATE) * ((fit.weights / (1 - RATE))[behind] ** 2).sum()
    decay = 0.5 * 4 * (decay + (fit.weights[~behind] ** 2).sum())
    constant = 10 * np.log(0.5 * np.sqrt(2 * np.pi))
    assert fit.history["prior_cost"][-1] == pytest.approx(decay + constant, rel=1e-4)


# Why it recovers no Gaussian posterior


# Live
