"""PBP with sites counts its data once: in a linear network its posterior is nearly exact."""

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

from bdl_teach.backend import tf
from bdl_teach.methods import exact, pbp
from bdl_teach.methods.pbp import _loop

N, NOISE_STD = 50, 0.6
X = np.random.default_rng(5).normal(size=(N, 1))
Y = 1.0 + 0.9 * X + NOISE_STD * np.random.default_rng(6).normal(size=(N, 1))
KNOWN = (1e8, 1e8 * (NOISE_STD / Y.std()) ** 2)  # a Gamma that 50 points hardly change


@lru_cache
def linear(sites: str, epochs: int) -> pbp.Fit:
    """Fit without refinements of the prior, so that it is that of :func:`posterior`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_loop, "refine_prior", lambda state: state)
        _loop.advance.cache_clear()
        fit = pbp.fit(X, Y, hidden_units=(), noise_prior=KNOWN, epochs=epochs, sites=sites)
    _loop.advance.cache_clear()
    return fit


def posterior() -> exact.LinearPosterior:
    """Return the exact posterior of slope and bias in PBP's units: standardised, inputs over √2."""
    x, y = (X - X.mean()) / X.std(), (Y - Y.mean()) / Y.std()
    design = np.hstack([x, np.ones((N, 1))]) / 2**0.5
    return exact.linear_regression(design, y, (6.0 / 5.0) ** 0.5, NOISE_STD / Y.std())


def test_pbp_with_sites_finds_exact_posterior_of_linear_network():
    """The mean is slightly off, because the last points weigh more in the average site."""
    wanted, std = posterior(), np.sqrt(np.diag(posterior().cov))
    for epochs in (10, 40):
        state = linear("average", epochs).state
        np.testing.assert_allclose(state.var[0][0], std**2, rtol=0.1)
        assert np.abs(state.mean[0][0] - wanted.mean).max() < 0.35 * std.min()


def test_forty_pbp_epochs_without_sites_count_the_data_forty_times():
    share = linear("none", 40).state.var[0][0] / np.diag(posterior().cov)
    np.testing.assert_allclose(share, 1 / 40, rtol=0.1)


def state() -> _loop.State:
    """Return two layers of one unit, with prior factors that differ between weights."""
    rng = np.random.default_rng(0)
    mean = tuple(rng.normal(size=(1, n)) for n in (3, 2))
    var = tuple(rng.uniform(0.1, 0.5, (1, n)) for n in (3, 2))
    factors = rng.uniform(0.35, 0.63, (5, 4))
    return _loop.State(mean, var, np.array([30.0, 9.0]), np.array([6.0, 6.0]), factors)


def without(share: float, before: _loop.State) -> _loop.State:
    given = tf.nest.map_structure(tf.constant, before)
    noise = tf.constant([6.0, 4.0], tf.float64)
    left = _loop.without_a_site(given, tf.constant(share, tf.float64), noise)
    return tf.nest.map_structure(lambda t: t.numpy(), left)


@pytest.mark.parametrize("share", [0.25, 1.0])
def test_removing_share_of_sites_subtracts_that_share_of_their_parameters(share):
    """The natural parameters of q are the sum of those of the prior and of the sites."""
    before = state()
    left = without(share, before)
    flat = [np.concatenate([w.ravel() for w in ws]) for ws in (before.mean, before.var)]
    now = [np.concatenate([w.ravel() for w in ws]) for ws in (left.mean, left.var)]
    for i, natural in enumerate((lambda m, v: 1 / v, lambda m, v: m / v)):
        prior = before.factors[:, i]
        wanted = prior + (1 - share) * (natural(*flat) - prior)
        np.testing.assert_allclose(natural(*now), wanted, rtol=1e-12)
    wanted = np.array([6.0, 4.0]) + (1 - share) * np.array([24.0, 5.0])
    np.testing.assert_allclose(left.noise, wanted, rtol=1e-12)
    np.testing.assert_array_equal(left.factors, before.factors)


def test_second_pbp_epoch_removes_one_nth_of_average_site_before_each_point():
    """Repeat three epochs of five points step by step, with a refinement after each."""
    x, y = X[:5], Y[:5]
    options: dict[str, Any] = {"hidden_units": (2,), "noise_prior": (5.0, 3.0), "seed": 4}
    fit = pbp.fit(x, y, epochs=3, sites="average", **options)
    inputs, targets = (x - x.mean()) / x.std(), (y[:, 0] - y.mean()) / y.std()
    start = tf.nest.map_structure(tf.constant, _loop.initial_state((1, 2, 1), 4, (5.0, 3.0)))
    take_out, learn, refine = (
        tf.function(step, autograph=False)
        for step in (_loop.without_a_site, _loop.learn_point, _loop.refine_prior)
    )
    now = start
    for epoch in range(3):
        for i in np.random.default_rng([4, epoch]).permutation(5):
            share = tf.constant(0.2 if epoch else 0.0, tf.float64)
            now = take_out(now, share, start.noise)
            now, _ = learn(now, tf.constant(inputs[i : i + 1]), tf.constant(targets[i]))
        now = refine(now)
    for name in ("mean", "var"):
        for a, b in zip(getattr(fit.state, name), getattr(now, name), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-7)
    np.testing.assert_allclose(fit.state.noise, now.noise, rtol=1e-9)
