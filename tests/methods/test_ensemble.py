"""Deep ensembles: members are point estimates; anchored members are posterior draws."""

from typing import Any

import numpy as np
import pytest

from bdl_teach import datasets
from bdl_teach._support import compiled
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import bbb, ensemble, exact, point

DATA = datasets.sinusoid(n=8)
SMALL: dict[str, Any] = {"hidden_units": (3,), "steps": 60, "n_members": 3}
ROOM = bbb.Capacity(11, (5,), 4, chunk=3)  # chunks of 3, 3, 2 and 0
RNG = np.random.default_rng(0)
LINEAR_X = RNG.uniform(-1.0, 1.0, (4, 2))  # so few that prior and data weigh about the same
LINEAR_Y = LINEAR_X @ [[0.8], [-1.5]] + 0.4 + 0.5 * RNG.normal(size=(4, 1))
DESIGN = np.hstack([LINEAR_X, np.ones((4, 1))])
LINEAR: dict[str, Any] = {"noise_std": 0.5, "hidden_units": (), "steps": 600, "learning_rate": 0.05}
N = 400  # members


def small(**changes: Any) -> ensemble.Fit:
    return ensemble.fit(DATA.x, changes.pop("y", DATA.y), **{**SMALL, **changes})


@pytest.mark.parametrize("options", [{"prior": ScaleMixture()}, {"likelihood": "bernoulli"}])
def test_each_ensemble_member_equals_point_estimate_trained_from_its_start(options):
    y = np.float64(DATA.y > 0) if "likelihood" in options else DATA.y
    fit = small(y=y, seed=5, **options)
    plan = {k: v for k, v in SMALL.items() if k != "n_members"}
    alone = [point.fit(DATA.x, y, seed=5 + 10**6 * k, **plan, **options) for k in range(3)]
    for k, one in enumerate(alone):
        np.testing.assert_allclose(fit.weights[k], one.weights, atol=1e-5)
    for name in ("loss", "prior_cost", "likelihood_cost"):
        mean = np.mean([one.history[name] for one in alone], axis=0)
        np.testing.assert_allclose(fit.history[name], mean, rtol=1e-4)
    np.testing.assert_array_equal(fit.history["step"], alone[0].history["step"])


def test_anchored_linear_models_are_draws_from_the_exact_posterior():
    """Mean, covariance and prediction agree within four Monte-Carlo errors."""
    posterior = exact.linear_regression(DESIGN, LINEAR_Y, prior_std=0.7, noise_std=0.5)
    options = {"n_members": N, "prior": Gaussian(0.7), "anchored": True, **LINEAR}
    fit = ensemble.fit(LINEAR_X, LINEAR_Y, **options)
    weights, std = fit.weights, np.sqrt(np.diag(posterior.cov))
    off = (weights.mean(axis=0) - posterior.mean) / std
    assert np.abs(off).max() < 4 / np.sqrt(N)
    np.testing.assert_allclose(weights.std(axis=0) / std, 1.0, atol=4 / np.sqrt(2 * N))
    correlation = posterior.cov / np.outer(std, std)
    np.testing.assert_allclose(np.corrcoef(weights.T), correlation, atol=4 / np.sqrt(N))
    x = np.array([[0.0, 0.0], [1.0, -1.0], [3.0, 3.0]])
    p, q = fit.predict(x), posterior.predict(np.hstack([x, np.ones((3, 1))]))
    np.testing.assert_allclose(p.epistemic_std / q.epistemic_std, 1.0, atol=4 / np.sqrt(2 * N))


def test_anchors_are_gaussian_with_standard_deviation_of_the_prior():
    prior = ScaleMixture(1.5, 0.1, 0.5)
    anchors = small(n_members=40, steps=1, prior=prior, anchored=True).anchors
    assert anchors.shape == (40, 10)
    assert anchors.std() == pytest.approx(prior.std, rel=4 / np.sqrt(2 * 400))
    assert (np.abs(anchors) < 0.2).mean() < 0.3  # more than half for draws of the mixture itself
    np.testing.assert_array_equal(small(prior=prior).anchors, 0.0)


def test_anchors_without_a_prior_are_refused():
    with pytest.raises(ValueError, match="^prior: expected a prior to draw"):
        small(anchored=True)


def test_ensembles_of_any_size_within_capacity_share_a_program():
    options: dict[str, Any] = {"prior": Gaussian(2.0), "anchored": True, "noise_std": 0.5}
    roomy, exactly = small(capacity=ROOM, **options), small(**options)
    np.testing.assert_allclose(roomy.weights, exactly.weights, atol=1e-4)
    for name, values in exactly.history.items():
        np.testing.assert_allclose(roomy.history[name], values, rtol=1e-4, atol=1e-4)
    for frame in (0, 7):
        np.testing.assert_allclose(roomy.at(frame).weights, exactly.at(frame).weights, atol=1e-4)
    x = np.linspace(-1.0, 1.0, 5)[:, None]
    np.testing.assert_allclose(roomy.predict(x).mean, exactly.predict(x).mean, atol=1e-4)
    before = compiled.trace_count()
    fewer = ensemble.fit(DATA.x[:5], DATA.y[:5], **SMALL | {"hidden_units": (5,)}, capacity=ROOM)
    assert fewer.predict(x).samples.shape == (3, 5)
    assert compiled.trace_count() == before
