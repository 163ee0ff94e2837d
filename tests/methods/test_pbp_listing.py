"""The faulty listing of PBP, with its errors, against the method."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bdl_teach.backend import tf
from bdl_teach.methods import pbp
from bdl_teach.methods.pbp import _loop as pbp_loop
from bdl_teach.problems import pbp_listing

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, (200, 2))
Y = 3.0 + np.abs(X[:, 0]) + 0.3 * RNG.standard_normal(200)


@pytest.fixture
def eager(monkeypatch):
    """Run the loop without compilation, which is faster for a few points."""
    monkeypatch.setattr(pbp_listing, "Compiled", lambda function: function)
    monkeypatch.setattr(pbp_listing, "_program", pbp_listing._program.__wrapped__)


def started(n: int, seed: int = 0) -> tuple:
    """Return the first n rows, standardised, and the initial state of their fit, in float64."""
    x, y = X[:n], Y[:n]
    start = pbp_listing._initial_state((2, 5, 1), seed)
    double = tf.nest.map_structure(lambda t: tf.cast(t, tf.float64), start)
    rows = (x - x.mean(axis=0)) / x.std(axis=0), (y - y.mean()) / y.std()
    return rows, pbp.State(*double[:3], np.array([6.0, 6.0]), np.zeros((21, 4)))


@pytest.mark.parametrize("noise_update", pbp_listing.NOISE_UPDATES)
def test_published_code_without_its_small_constants_equals_our_pbp(eager, noise_update):
    """Two epochs in the order of the rows; float32 and a constant of 1e-6 make the difference."""
    fit = pbp_listing.fit(
        X[:6], Y[:6], hidden_units=(5,), epochs=2, eps=0.0, noise_update=noise_update
    )
    (x, y), state = started(6)
    learn = tf.function(pbp_loop.learn_point, autograph=False)
    for i in [*range(6), *range(6)]:
        state, _ = learn(state, tf.constant(x[i : i + 1]), tf.constant(y[i : i + 1]))
    for got, expected in zip(fit.state[:3], state[:3], strict=True):
        for a, b in zip(got, expected, strict=True):
            assert_allclose(a, b, rtol=2e-3, atol=2e-4)
