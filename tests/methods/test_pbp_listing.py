"""The simplified listing of PBP: its faults are there, and repairing one cures what it did."""

from functools import lru_cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bdl_teach.backend import tf
from bdl_teach.methods import pbp
from bdl_teach.methods.pbp import _loop as pbp_loop
from bdl_teach.methods.pbp import listing as pbp_listing

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, (200, 2))
Y = 3.0 + np.abs(X[:, 0]) + 0.3 * RNG.standard_normal(200)


@lru_cache(maxsize=16)
def small(**changes) -> pbp.Fit:
    options = {"hidden_units": (5,), "epochs": 20, "n_records": 10}
    return pbp_listing.fit(X, Y, **{**options, **changes})


@pytest.mark.parametrize("eps", [1e-6, 1e-5])
def test_alpha_stops_at_the_square_root_of_half_over_eps(eps):
    history = small(eps=eps).history
    assert history["alpha"].max() < 1.05 * np.sqrt(0.5 / eps)
    if eps > 1e-6:  # 4000 updates are enough to get there
        assert history["alpha"][-1] == pytest.approx(np.sqrt(0.5 / eps), rel=0.05)


def test_when_alpha_stops_the_noise_grows_without_bound():
    noise = small(eps=1e-4).history["noise_std"]
    assert noise[-1] > 1.3 * noise[len(noise) // 2] > 1.3**2 * noise[len(noise) // 10]


def test_repaired_noise_update_makes_the_listing_learn():
    sick, cured = small(eps=1e-5), small(noise_update="stable")
    assert 0.8 < cured.alpha / (len(X) * 20 / 2) <= 1.01
    assert cured.noise_std < 0.5 < sick.noise_std
    assert cured.predict(X).log_prob(Y).mean() > sick.predict(X).log_prob(Y).mean() + 0.5


@pytest.fixture
def eager(monkeypatch):
    """Run the loop as plain TensorFlow, which is quicker for a few points."""
    monkeypatch.setattr(pbp_listing, "Compiled", lambda function: function)
    monkeypatch.setattr(pbp_listing, "_program", pbp_listing._program.__wrapped__)


def started(n: int, seed: int = 0) -> tuple:
    """The first rows standardised, and the state that a fit of them starts from, in float64."""
    x, y = X[:n], Y[:n]
    start = pbp_listing._initial_state((2, 5, 1), seed)
    double = tf.nest.map_structure(lambda t: tf.cast(t, tf.float64), start)
    rows = (x - x.mean(axis=0)) / x.std(axis=0), (y - y.mean()) / y.std()
    return rows, pbp.State(*double[:3], np.array([6.0, 6.0]), np.zeros((21, 4)))


@pytest.mark.parametrize("noise_update", pbp_listing.NOISE_UPDATES)
def test_listing_without_eps_learns_like_the_method(eager, noise_update):
    """In the order of the rows, twice; what is left is float32 and the 1e-6 of its density."""
    fit = pbp_listing.fit(
        X[:6], Y[:6], hidden_units=(5,), epochs=2, eps=0.0, noise_update=noise_update, n_records=1
    )
    (x, y), state = started(6)
    learn = tf.function(pbp_loop.learn_point, autograph=False)
    for i in [*range(6), *range(6)]:
        state, _ = learn(state, tf.constant(x[i : i + 1]), tf.constant(y[i : i + 1]))
    for got, expected in zip(fit.state[:3], state[:3], strict=True):
        for a, b in zip(got, expected, strict=True):
            assert_allclose(a, b, rtol=2e-3, atol=2e-4)


def test_its_relu_has_negative_means_where_the_sound_one_has_none():
    alpha = np.array([-20.0, -16.0, -9.0, -5.5], np.float32)
    mean, _ = pbp_listing.relu_moments(tf.constant(alpha), tf.ones(4))
    sound, _ = pbp.relu_moments(alpha, 1.0)
    assert (mean.numpy() < 0).any()
    assert (sound > 0).all()
    near = tf.constant([-1.0, 0.5, 3.0], tf.float64)
    got = pbp_listing.relu_moments(near, 4.0 * tf.ones(3, tf.float64))
    assert_allclose(got, pbp.relu_moments(near.numpy(), 4.0), rtol=1e-4)
