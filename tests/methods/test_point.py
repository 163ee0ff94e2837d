"""Point estimates: least squares, ridge and logistic regression."""

import numpy as np
import pytest

from bdl_teach import datasets
from bdl_teach.densities import Gaussian
from bdl_teach.methods import exact, point

DATA = datasets.sinusoid(n=8)
SMALL = {"hidden_units": (3,), "steps": 60}
LINEAR_X = np.random.default_rng(0).uniform(-1.0, 1.0, (20, 2))
LINEAR_Y = LINEAR_X @ [[0.8], [-1.5]] + 0.4 + 0.3 * np.random.default_rng(1).normal(size=(20, 1))
DESIGN = np.hstack([LINEAR_X, np.ones((20, 1))])
LINEAR = {"noise_std": 0.5, "hidden_units": (), "steps": 2000, "learning_rate": 0.05}


def small(**changes) -> point.Fit:
    return point.fit(DATA.x, DATA.y, **{**SMALL, **changes})


def linear(**changes) -> point.Fit:
    return point.fit(LINEAR_X, LINEAR_Y, **{**LINEAR, **changes})


def test_mle_of_linear_model_is_least_squares():
    least_squares = np.linalg.lstsq(DESIGN, LINEAR_Y[:, 0])[0]
    np.testing.assert_allclose(linear().weights, least_squares, atol=1e-3)


def test_map_of_linear_model_is_the_posterior_mean():
    sigma = 0.1
    posterior = exact.linear_regression(DESIGN, LINEAR_Y, prior_std=sigma, noise_std=0.5)
    np.testing.assert_allclose(linear(prior=Gaussian(sigma)).weights, posterior.mean, atol=1e-3)
    ridge = linear(weight_decay=sigma**-2)
    np.testing.assert_allclose(ridge.weights, posterior.mean, atol=1e-3)


def test_initial_weights_have_variance_two_over_inputs():
    """Use 40 seeds and a learning rate that moves nothing."""
    options = {"hidden_units": (9,), "steps": 1, "learning_rate": 1e-12}
    x = np.ones((1, 8))
    starts = np.array([point.fit(x, [0.0], seed=seed, **options).weights for seed in range(40)])
    for layer, n_in in ((slice(0, 81), 8), (slice(81, 91), 9)):
        values = starts[:, layer] / np.sqrt(2 / n_in)
        assert abs(values.mean()) < 5 / np.sqrt(values.size)
        assert values.std() == pytest.approx(1.0, abs=5 / np.sqrt(2 * values.size))


def test_prior_together_with_weight_decay_is_refused():
    with pytest.raises(ValueError, match="expected 0 if a prior is given"):
        small(prior=Gaussian(1.0), weight_decay=1.0)
