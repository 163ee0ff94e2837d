"""Infinite width: its kernel by other computations, and exact regression."""

import numpy as np
import pytest
from scipy import integrate, stats

from bdl_teach import datasets
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import exact, infinite_width

DATA = datasets.sinusoid()
X = np.array([[-0.8], [0.1], [0.9]])
PLANE = np.random.default_rng(0).normal(size=(12, 2))
PRIORS = [Gaussian(0.8), ScaleMixture(1.5, 0.1, 0.3)]


def fit(**changes):
    values = {"prior": Gaussian(0.8), "hidden_units": (20,), "noise_std": 1.0, **changes}
    return infinite_width.fit(DATA.x, DATA.y, **values)


def by_quadrature(cov):
    """Integrate E[relu(u) relu(v)] over the quadrant in which both are positive."""
    density = stats.multivariate_normal([0.0, 0.0], cov).pdf
    reach = 9.0 * np.sqrt(np.diag(cov))
    return integrate.dblquad(lambda u, v: u * v * density([u, v]), 0, reach[1], 0, reach[0])[0]


@pytest.mark.parametrize("hidden_units", [(7,), (7, 5)])
@pytest.mark.parametrize("pair", [(-0.8, 0.9), (0.2, 0.5)])
def test_kernel_in_closed_form_equals_numerical_integration(hidden_units, pair):
    x = np.array(pair)[:, None]
    cov = 0.64 * (x @ x.T + 1.0)
    for width in hidden_units:
        moments = np.diag(np.diag(cov) / 2.0)
        moments[0, 1] = moments[1, 0] = by_quadrature(cov)
        cov = 0.64 * (width * moments + 1.0)
    kernel = infinite_width.kernel(x, prior=Gaussian(0.8), hidden_units=hidden_units)
    np.testing.assert_allclose(kernel, cov, rtol=1e-6)


def second_moments(f):
    """Return the mean of f fᵀ over draws ``[s, m]`` and its Monte-Carlo standard error."""
    each = f[:, :, None] * f[:, None]
    return each.mean(axis=0), each.std(axis=0) / np.sqrt(len(f))


def test_kernel_equals_covariance_of_networks_drawn_from_prior():
    """With one hidden layer this holds at any width."""
    n_samples, given = 100_000, {"prior": PRIORS[1], "hidden_units": (4,)}
    f = infinite_width.prior_functions(X, n_samples, seed=3, **given)
    mean, error = second_moments(f)
    assert (np.abs(mean - infinite_width.kernel(X, **given)) < 4.5 * error).all()
    assert (np.abs(f.mean(axis=0)) < 4.5 * f.std(axis=0) / np.sqrt(n_samples)).all()


def test_infinite_width_without_hidden_layer_is_linear_regression():
    y = PLANE @ [0.8, -1.5] + 0.4
    mine = infinite_width.fit(PLANE, y, prior=Gaussian(0.7), noise_std=0.5, hidden_units=())
    design = np.hstack([PLANE, np.ones((12, 1))])
    posterior = exact.linear_regression(design, y, prior_std=0.7, noise_std=0.5)
    one, other = mine.predict(PLANE), posterior.predict(design)
    np.testing.assert_allclose(one.mean, other.mean, rtol=1e-9)
    np.testing.assert_allclose(one.epistemic_std, other.epistemic_std, rtol=1e-7)
    assert mine.log_evidence == pytest.approx(posterior.log_evidence, rel=1e-9)


def test_variance_at_a_nearly_noiseless_point_is_finite():
    std = fit(noise_std=1e-7, prior=Gaussian(30.0)).predict(DATA.x).epistemic_std
    assert np.isfinite(std).all() and std.max() < 0.1


def test_infinite_width_refuses_mixture_prior_for_ten_inputs():
    x, y = np.ones((3, 10)), np.zeros(3)
    with pytest.raises(ValueError, match=r"^prior: expected a Gaussian for 10 or more inputs"):
        infinite_width.fit(x, y, prior=ScaleMixture())
    with pytest.raises(ValueError, match=r"got ScaleMixture\(.*\) for 10$"):
        infinite_width.kernel(x, prior=ScaleMixture())
    infinite_width.fit(x, y, prior=Gaussian(1.0))
    infinite_width.fit(x, y, prior=ScaleMixture(1.5, 0.1, 1.0))  # only one scale has weight
    infinite_width.fit(x[:, :9], y, prior=ScaleMixture())
