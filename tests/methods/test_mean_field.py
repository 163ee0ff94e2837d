"""Shared parts of mean-field methods: common noise and prediction."""

from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from bdl_teach.densities import Gaussian
from bdl_teach.methods import empirical_bayes, local_reparam
from bdl_teach.methods._loop import (
    STRIDE,
    Plan,
    Problem,
    lay_out,
    row_noise,
)
from bdl_teach.methods._settings import Training
from bdl_teach.mlp import MLP

X, Y = np.linspace(-1.0, 1.0, 5)[:, None], np.zeros((5, 1))
NETWORK = MLP(1, (4,))


def plan(network: MLP = NETWORK, **changes: Any) -> Plan:
    n_samples, draws = changes.pop("n_samples", 1), changes.pop("draws_weights", True)
    o = Training(**{"hidden_units": network.hidden_units, "steps": 1000, **changes})
    return lay_out(X, Y, o, None, n_samples, draws)


def eps(**changes: Any) -> np.ndarray:
    return np.float64(plan(**changes).inputs.eps)


def assert_standard_normal(columns: np.ndarray) -> None:
    """Check mean 0, variance 1, and independence of columns and rows, within 5 errors."""
    n, d = columns.shape
    assert (np.abs(columns.mean(axis=0)) < 5 / np.sqrt(n)).all()
    covariance = columns.T @ columns / n
    assert (np.abs(covariance - np.eye(d)) < 5 * np.sqrt((1 + np.eye(d)) / n)).all()
    assert (np.abs((columns[1:] * columns[:-1]).mean(axis=0)) < 5 / np.sqrt(n)).all()


def assert_unlike(one: np.ndarray, other: np.ndarray) -> None:
    """Check that two arrays of standard normal draws are uncorrelated."""
    assert (np.abs((one * other).mean(axis=0)) < 5 / np.sqrt(len(one))).all()


def test_noise_and_start_are_standard_normal_and_follow_the_seed():
    one, two = eps(), eps(seed=1)
    assert_standard_normal(one)
    assert_unlike(one, two)
    np.testing.assert_array_equal(one, eps())
    starts = np.array([plan(seed=seed).draw for seed in range(400)])
    assert_standard_normal(starts)
    first = np.array([eps(seed=seed)[0] for seed in range(400)])
    assert_unlike(starts, first)


@pytest.mark.parametrize(("steps", "n_samples"), [(97 * 12, 97), (10, 2000), (4000, 3)])
def test_noise_differs_between_draws_of_a_step_and_between_steps(steps, n_samples):
    """Between steps of one draw, that is: draw 1 of step 0 has the noise of draw 0 of step 97."""
    n_rows = len(eps(network=MLP(1, ()), steps=steps, n_samples=n_samples))
    draws = STRIDE * np.arange(n_samples) % n_rows
    assert len(np.unique(draws)) == n_samples
    assert n_rows >= steps


def test_fits_of_few_and_many_steps_share_a_program():
    """Shapes are equal, no used row is empty, and common rows have equal noise."""
    widths = partial(local_reparam.noise_widths, "local")
    short, long, longer = (
        row_noise(plan(steps=steps, draws_weights=False), widths).numpy()
        for steps in (20, 2000, 2100)
    )
    assert short.shape == long.shape != longer.shape
    assert short[:1000].all() and long[:2000].all() and longer[:2100].all()
    np.testing.assert_array_equal(short[:1000, ..., 0], long[:1000, ..., 0])
    assert plan(steps=20, draws_weights=False).inputs.eps == ()


LINEAR = MLP(2, ())
MEAN, STD = np.array([0.5, -1.0, 2.0]), np.array([0.2, 0.6, 0.1])
POINTS = np.array([[1.0, 0.0], [0.5, -1.0], [-2.0, 3.0]])
DESIGN = np.hstack([POINTS, np.ones((3, 1))])


def posterior(likelihood: str) -> empirical_bayes.Fit:
    """Return an empirical Bayes posterior of a linear model."""
    parts = {"mean": MEAN, "std": STD, "network": LINEAR, "noise_std": 0.3, "history": {}}
    parts["problem"] = Problem(POINTS, np.zeros((3, 1)), Gaussian(1.0), 1.0, 0)
    model = empirical_bayes.choose(LINEAR, "all", True, "none")
    parts["likelihood"] = likelihood
    prior_std = empirical_bayes.optimal_prior_std(MEAN, STD, [0, 0, 0])
    return empirical_bayes.Fit(**parts, gamma=MEAN / STD, prior_std=prior_std, model=model)


def test_predictive_draws_have_moments_of_the_posterior():
    """Draws have mean Xμ and covariance X diag(σ²) Xᵀ; the noise is the given one."""
    n = 20_000
    prediction = posterior("gaussian").predict(POINTS, n_samples=n, seed=3)
    covariance = DESIGN @ np.diag(STD**2) @ DESIGN.T
    var = np.diag(covariance)
    assert (np.abs(prediction.mean - DESIGN @ MEAN) < 5 * np.sqrt(var / n)).all()
    error = np.sqrt((covariance**2 + np.outer(var, var)) / n)
    assert (np.abs(np.cov(prediction.samples.T) - covariance) < 5 * error).all()
    np.testing.assert_allclose(prediction.aleatoric_std, 0.3)


def test_plug_in_prediction_uses_the_mean_weights():
    prediction = posterior("gaussian").plug_in(POINTS)
    np.testing.assert_allclose(prediction.mean, DESIGN @ MEAN, rtol=1e-6)
    np.testing.assert_array_equal(prediction.epistemic_std, 0.0)
    labels = posterior("bernoulli").plug_in(POINTS)
    np.testing.assert_allclose(labels.probability, expit(DESIGN @ MEAN), rtol=1e-6)
