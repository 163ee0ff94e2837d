"""The simplified listing of PBP: its faults are there, and repairing one cures what it did."""

from functools import lru_cache

import numpy as np
import pytest
from numpy.testing import assert_allclose

from bdl_teach import DivergedError
from bdl_teach.backend import tf
from bdl_teach.methods import pbp, pbp_listing

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, (200, 2))
Y = 3.0 + np.abs(X[:, 0]) + 0.3 * RNG.standard_normal(200)


@lru_cache(maxsize=16)
def small(**changes) -> pbp.Fit:
    options = {"hidden_units": (5,), "epochs": 20, "n_records": 10}
    return pbp_listing.fit(X, Y, **{**options, **changes})


@pytest.mark.parametrize("eps", [1e-6, 1e-5, 1e-4])
def test_alpha_stops_at_the_square_root_of_half_over_eps(eps):
    history = small(eps=eps).history
    assert history["alpha"].max() < 1.05 * np.sqrt(0.5 / eps)
    if eps > 1e-6:  # 4000 updates are enough to get there
        assert history["alpha"][-1] == pytest.approx(np.sqrt(0.5 / eps), rel=0.05)


def test_when_alpha_stops_the_noise_grows_without_bound():
    noise = small(eps=1e-4).history["noise_std"]
    assert noise[-1] > 1.3 * noise[len(noise) // 2] > 1.3**2 * noise[len(noise) // 10]


def test_repairing_the_noise_update_alone_cures_it():
    sick, cured = small(eps=1e-5), small(noise_update="stable")
    assert 0.8 < cured.alpha / (len(X) * 20 / 2) <= 1.01
    assert cured.noise_std < 0.5 < sick.noise_std
    assert cured.predict(X).log_prob(Y).mean() > sick.predict(X).log_prob(Y).mean() + 0.5


def test_history_counts_points():
    history = small(epochs=20).history
    assert len(history["points"]) == 200
    assert (np.diff(history["points"]) == 20).all()
    assert history["points"][-1] == 20 * len(X)


def test_its_relu_has_negative_means_where_the_sound_one_has_none():
    alpha = np.array([-20.0, -16.0, -9.0, -5.5], np.float32)
    mean, _ = pbp_listing.relu_moments(tf.constant(alpha), tf.ones(4))
    sound, _ = pbp.relu_moments(alpha, 1.0)
    assert (mean.numpy() < 0).any()
    assert (sound > 0).all()
    near = tf.constant([-1.0, 0.5, 3.0], tf.float64)
    got = pbp_listing.relu_moments(near, tf.ones(3, tf.float64))
    assert_allclose(got, pbp.relu_moments(near.numpy(), 1.0), rtol=1e-3)


def test_summed_gradients_are_not_adf():
    """At 64 points a step the weights leave the finite numbers, or variances freeze at 0."""
    try:
        many = small(epochs=5, batch_size=64)
    except DivergedError as error:
        assert "batch_size=1" in str(error)
    else:
        assert (np.concatenate([v.ravel() for v in many.state.var]) == 0).any()
    one = small(epochs=5)
    assert (np.concatenate([v.ravel() for v in one.state.var]) > 0).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"noise_update": "sound"}, "noise_update: expected one of listing, stable"),
        ({"noise_update": "stable", "batch_size": 2}, "batch_size: expected 1"),
        ({"eps": -1.0}, "eps"),
        ({"batch_size": 0}, "batch_size"),
        ({"n_records": 0}, "n_records"),
    ],
)
def test_a_bad_argument_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        small(**changes)
