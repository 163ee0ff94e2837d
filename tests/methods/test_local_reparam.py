"""Local reparameterization: moments, noise, and vanishing standard deviations."""

import numpy as np
import pytest

from bdl_teach import datasets
from bdl_teach.methods import _loop, local_reparam
from bdl_teach.methods.bbb import Capacity

DATA = datasets.sinusoid(n=8)


def test_preactivation_moments_equal_the_oracle(oracle):
    truth = oracle("local_reparam")
    for case in truth["cases"]:
        mean, var = local_reparam.preactivation_moments(case["X"], case["mu"], case["sigma"])
        np.testing.assert_allclose(mean, case["gamma"], rtol=truth["tol"], atol=truth["tol"])
        np.testing.assert_allclose(var, case["delta"], rtol=truth["tol"], atol=truth["tol"])


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
