"""Score-function and path-wise estimators of the gradient of E[f(z)]."""

import numpy as np
import pytest
from scipy.stats import norm

from bdl_teach import expectation_gradients as eg
from bdl_teach.expectation_gradients import KINDS, PARAMETERS, Cost

COSTS = (Cost(), Cost(3.0, 5.0), Cost(0.5, -1.0, 1.5))
PLACES = ((0.0, 1.0), (1.0, 0.3), (-1.5, 2.0))


@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_expected_cost_and_slope_agree_with_quadrature(cost):
    eps = np.linspace(-10.0, 10.0, 40_001)
    for mu, sigma in PLACES:
        z = mu + sigma * eps
        mean = np.trapezoid(norm.pdf(eps) * cost.value(z), eps)
        np.testing.assert_allclose(mean, cost.expected(mu, sigma), rtol=1e-8)
        numeric = (cost.value(z + 1e-6) - cost.value(z - 1e-6)) / 2e-6
        np.testing.assert_allclose(cost.slope(z), numeric, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("parameter", PARAMETERS)
@pytest.mark.parametrize("cost", COSTS, ids=str)
def test_gradient_estimators_have_exact_mean_and_stated_variance(kind, parameter, cost):
    eps = np.random.default_rng(0).standard_normal(200_000)
    for mu, sigma in PLACES:
        each = eg.draws(kind, parameter, cost, mu, sigma, eps)
        exact = cost.gradient(mu, sigma)[PARAMETERS.index(parameter)]
        error = each.std() / np.sqrt(eps.size)
        assert abs(each.mean() - exact) < 5 * error
        spread = np.square(each - each.mean())
        said = eg.variance(kind, parameter, cost, mu, sigma)
        assert abs(said - spread.mean()) < 6 * spread.std() / np.sqrt(eps.size)
