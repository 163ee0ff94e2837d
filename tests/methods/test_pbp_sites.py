"""Sites of PBP: what many epochs make of one data set, with and without a memory of its points.

A linear network with known noise and one standardised column has an exact posterior, nearly
diagonal, which PBP could reach.
"""

from functools import lru_cache

import numpy as np
import pytest

from bdl_teach.methods import exact, pbp

N, NOISE = 40, 0.5
X = np.random.default_rng(0).normal(size=(N, 1))
Y = 0.8 * X + NOISE * np.random.default_rng(1).normal(size=(N, 1))
UNIT = Y.std()
KNOWN = (1e8, 1e8 * (NOISE / UNIT) ** 2)  # a Gamma that no data will move
PRIOR_VAR = 6.0 / 5.0


def truth() -> exact.LinearPosterior:
    """The posterior of the two weights, as PBP has them: inputs scaled by 1/√2, bias last."""
    x, y = (X - X.mean()) / X.std(), (Y - Y.mean()) / UNIT
    design = np.hstack([x, np.ones((N, 1))]) / np.sqrt(2)
    return exact.linear_regression(design, y, PRIOR_VAR**0.5, NOISE / UNIT)


@lru_cache
def fit(sites: str, epochs: int) -> pbp.Fit:
    options = {"hidden_units": (), "noise_prior": KNOWN, "refine_prior": False}
    return pbp.fit(X, Y, epochs=epochs, sites=sites, **options)


@pytest.mark.parametrize(("sites", "near"), [("ep", 0.1), ("sep", 0.3)])
def test_with_sites_twenty_epochs_stay_at_the_exact_posterior(sites, near):
    """SEP's mean lies a little aside: the average forgets which point it learnt last."""
    found, wanted = fit(sites, 20).state, truth()
    np.testing.assert_allclose(found.var[0].ravel(), np.diag(wanted.cov), rtol=0.1)
    off = (found.mean[0].ravel() - wanted.mean) / np.sqrt(np.diag(wanted.cov))
    assert np.abs(off).max() < near


def test_without_sites_each_epoch_counts_the_data_once_more():
    for epochs in (1, 4, 20):
        share = fit("none", epochs).state.var[0].ravel() / np.diag(truth().cov)
        np.testing.assert_allclose(share, 1.0 / epochs, rtol=0.15)


@pytest.mark.parametrize("sites", ["ep", "sep"])
def test_the_noise_is_counted_once_as_well(sites):
    """α is 6 and half a point each: without sites it grows with every epoch."""
    plain, ours = (pbp.fit(X, Y, hidden_units=(), epochs=10, sites=s) for s in ("none", sites))
    assert plain.alpha > 6 + 9 * N / 2 * 0.8
    assert ours.alpha == pytest.approx(6 + N / 2, rel=0.15)
    assert ours.noise_std == pytest.approx(NOISE, rel=0.3)


def test_the_first_epoch_of_ep_is_that_of_the_paper():
    one, other = fit("none", 1).state, fit("ep", 1).state
    np.testing.assert_allclose(other.mean[0], one.mean[0], rtol=1e-9)
    np.testing.assert_allclose(other.var[0], one.var[0], rtol=1e-9)


def test_sites_that_are_none_are_refused():
    with pytest.raises(ValueError, match="^sites: expected one of none, ep, sep, got 'adf'"):
        pbp.fit(X, Y, sites="adf")
