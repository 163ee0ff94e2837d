"""Local reparameterization and Flipout: moments, noise, and the known optimum."""

from functools import partial

import numpy as np
import pytest

from bdl_teach import datasets, densities
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.methods import _loop, bbb, local_reparam
from bdl_teach.methods.bbb import Capacity

DATA = datasets.sinusoid(n=8)
LINEAR_X = np.random.default_rng(0).uniform(0.0, 1.5, (20, 1))
LINEAR_Y = 0.8 * LINEAR_X - 0.4 + 0.5 * np.random.default_rng(1).standard_normal((20, 1))


def test_preactivation_moments_equal_the_oracle(oracle):
    truth = oracle("local_reparam")
    for case in truth["cases"]:
        mean, var = local_reparam.preactivation_moments(case["X"], case["mu"], case["sigma"])
        np.testing.assert_allclose(mean, case["gamma"], rtol=truth["tol"], atol=truth["tol"])
        np.testing.assert_allclose(var, case["delta"], rtol=truth["tol"], atol=truth["tol"])


def mean_field_optimum() -> tuple[np.ndarray, np.ndarray]:
    """Return μ and σ_i = Λ_ii^−½ for slope and intercept under N(0, 1) with noise 0.5."""
    design = np.hstack([LINEAR_X, np.ones_like(LINEAR_X)])
    precision = np.eye(2) + design.T @ design / 0.25
    return np.linalg.solve(precision, design.T @ LINEAR_Y[:, 0] / 0.25), np.diag(precision) ** -0.5


def linear_fits(estimator: str, prior: densities.Prior) -> list[bbb.Fit]:
    options = {"prior": prior, "noise_std": 0.5, "hidden_units": (), "n_samples": 10}
    options |= {"steps": 2000, "learning_rate": 0.02, "cooldown": 1.0}
    fit = bbb.fit
    if estimator != "bbb":
        fit = partial(local_reparam.fit, estimator=estimator)
    return [fit(LINEAR_X, LINEAR_Y, **options, seed=seed) for seed in range(6)]


@pytest.mark.parametrize(
    ("estimator", "prior"),
    [
        ("bbb", Gaussian(1.0)),
        ("flipout", Gaussian(1.0)),
        ("local", ScaleMixture(1.0, 1.0, 0.3)),
        ("quiet", ScaleMixture(1.0, 1.0, 0.3)),
    ],
    ids=str,
)
def test_mean_field_optimum_of_linear_model_is_recovered(estimator, prior):
    """The KL is in closed form (Gaussian) or estimated (a mixture equal to the Gaussian)."""
    mean, std = mean_field_optimum()
    fits = linear_fits(estimator, prior)
    for values, optimum in (
        (np.array([(fit.mean - mean) / std for fit in fits]), 0.0),
        (np.array([fit.std / std for fit in fits]), 1.0),
    ):
        error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
        assert (error < 0.04).all()  # else the next line would be weak
        assert (np.abs(values.mean(axis=0) - optimum) < 6 * error + 1e-3).all()
        assert (np.abs(values - optimum) < 0.2).all()


@pytest.mark.parametrize("chunk", [None, 4])
def test_added_data_point_leaves_the_noise_of_others_unchanged(chunk):
    arguments = (2, 1), (3, 4), Capacity(10, (3,), 1, chunk), 64, 0
    few, many = (
        np.moveaxis(_loop._row_noise(*arguments, n).numpy(), 2, 0).reshape(7, 2048, -1)
        for n in (4, 9)
    )
    np.testing.assert_array_equal(few[..., :4], many[..., :4])
    used = many[:, :64, :9]  # [units, steps, points]
    padding = [2, 4, 5, 6]
    assert np.delete(used, padding, axis=0).all() and not used[padding].any()
    assert len(np.unique(np.delete(used, padding, axis=0))) > 0.99 * 3 * 64 * 9


@pytest.mark.parametrize("estimator", ["local", "quiet"])
def test_fit_stays_finite_when_standard_deviations_vanish(estimator):
    options = {"hidden_units": (3,), "steps": 60, "n_samples": 3, "initial_rho": -40.0}
    fit = local_reparam.fit(DATA.x, DATA.y, kl_weight=0.0, estimator=estimator, **options)
    assert np.isfinite(fit.mean).all()
    assert np.isfinite(fit.history["free_energy"]).all()
