"""The Gaussian and the Bernoulli likelihood against TFP's, with rows of weight 0."""

import numpy as np
import pytest
from scipy.special import expit

from bdl_teach import likelihoods
from bdl_teach.backend import tf, tfd

RNG = np.random.default_rng(0)
F = RNG.normal(size=(3, 5, 1))  # three draws, five points
NOISE_STD = 0.7
ROW_WEIGHT = np.array([[1.0], [0.0], [1.0], [0.0], [1.0]])


def targets(likelihood: str) -> np.ndarray:
    y = RNG.normal(size=(5, 1))
    return np.float64(y > 0) if likelihood == "bernoulli" else y


def by_tfp(likelihood: str, y: np.ndarray) -> np.ndarray:
    """Return the cost in nats of each draw and point ``[3, 5]``."""
    f = tf.constant(F)
    noisy = {"gaussian": tfd.Normal(f, np.float64(NOISE_STD)), "bernoulli": tfd.Bernoulli(logits=f)}
    return -noisy[likelihood].log_prob(y).numpy()[..., 0]


@pytest.mark.parametrize("likelihood", likelihoods.LIKELIHOODS)
def test_likelihood_cost_of_each_draw_equals_tfp_summed_over_points(likelihood):
    """A row of weight 0 costs nothing, whatever its values."""
    y, noise = targets(likelihood), tf.constant(NOISE_STD, tf.float64)
    expected = by_tfp(likelihood, y)
    cost = likelihoods.cost(likelihood, y, tf.constant(F), noise)
    np.testing.assert_allclose(cost, expected.sum(axis=1), rtol=1e-12)
    spoilt_y, spoilt_f = (np.where(ROW_WEIGHT == 1, values, 1e6) for values in (y, F))
    cost = likelihoods.cost(likelihood, spoilt_y, tf.constant(spoilt_f), noise, ROW_WEIGHT)
    counted = expected[:, ROW_WEIGHT[:, 0] == 1].sum(axis=1)
    np.testing.assert_allclose(cost, counted, rtol=1e-12)


def test_label_cost_is_finite_for_extreme_logits():
    cost = likelihoods.cost("bernoulli", [[0.0], [1.0]], tf.constant([[1e4], [1e4]]), 1.0)
    assert float(cost) == pytest.approx(1e4)


@pytest.mark.parametrize("likelihood", likelihoods.LIKELIHOODS)
def test_expected_cost_equals_cost_averaged_over_gaussian_outputs(likelihood):
    """Integrate by the trapezoid rule, for certain and uncertain outputs near 0 and far from it."""
    y, mean = targets(likelihood), np.array([[0.0], [-3.0], [2.0], [6.0], [-1.0]])
    std, noise = np.array([[0.5], [2.0], [1.0], [2.0], [0.0]]), tf.constant(NOISE_STD, tf.float64)
    z = np.linspace(-10.0, 10.0, 4001)
    share = np.exp(-0.5 * z**2) / np.exp(-0.5 * z**2).sum()
    f = tf.constant((mean + std * z).T[..., None])  # [draws, n, 1]
    costs = np.stack(
        [likelihoods.cost(likelihood, y[i : i + 1], f[:, i : i + 1], noise) for i in range(5)]
    )
    for rows in (np.ones((5, 1)), ROW_WEIGHT):
        given = [tf.constant(values) for values in (y, mean, std**2)]
        ours = likelihoods.expected_cost(likelihood, *given, noise, rows)
        assert float(ours) == pytest.approx(float(rows[:, 0] @ costs @ share), abs=1e-5)


def test_expected_cost_of_two_heads_is_the_cost_averaged_over_both():
    mean, std = RNG.normal(size=(5, 2)), RNG.uniform(0.0, 0.8, size=(5, 2))
    z, share = np.polynomial.hermite_e.hermegauss(40)
    both, shares = np.stack(np.meshgrid(z, z), axis=-1).reshape(-1, 1, 2), np.outer(share, share)
    y, noise = targets(likelihoods.TWO_HEADS), tf.constant(NOISE_STD, tf.float64)
    draws = tf.constant(mean + std * both)  # [draws, n, 2]
    costs = likelihoods.cost(likelihoods.TWO_HEADS, y, draws, noise)
    given = [tf.constant(values) for values in (y, mean, std**2)]
    ours = likelihoods.expected_cost(likelihoods.TWO_HEADS, *given, noise)
    assert float(ours) == pytest.approx(np.average(costs, weights=shares.ravel()))


def test_slopes_of_expected_label_cost_are_finite_at_zero_variance():
    given = tf.constant([[0.3]]), tf.constant([[0.0]])
    with tf.GradientTape() as tape:
        tape.watch(given)
        cost = likelihoods.expected_cost("bernoulli", tf.constant([[1.0]]), *given, 1.0)
    by_mean, by_var = tape.gradient(cost, given)
    assert float(by_mean[0, 0]) == pytest.approx(expit(0.3) - 1.0, rel=1e-5)
    assert np.isfinite(by_var).all()


def test_labels_other_than_0_and_1_are_refused():
    with pytest.raises(ValueError, match=r"y: expected labels 0 and 1, got \[0.5\]"):
        likelihoods.data("bernoulli", [[0.0]], [[0.5]])
