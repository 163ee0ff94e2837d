"""The network is a pure function of one flat weight vector."""

import numpy as np
import pytest

from bdl_teach.backend import tf
from bdl_teach.mlp import MLP

NETWORKS = [MLP(1, ()), MLP(3, ()), MLP(1, (4,)), MLP(2, (5, 3)), MLP(3, (4, 6, 2), 2)]


def by_hand(network: MLP, w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """One weight vector, one layer after the other, in NumPy."""
    h, rest = x, w
    for i, (n_in, n_out) in enumerate(zip(network.sizes[:-1], network.sizes[1:], strict=True)):
        weight, bias, rest = np.split(rest, [n_in * n_out, (n_in + 1) * n_out])
        h = h @ weight.reshape(n_out, n_in).T + bias
        if i < len(network.hidden_units):
            h = np.maximum(h, 0.0)
    assert not rest.size
    return h


def random(network: MLP, *shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(*shape, network.n_weights))


def inputs(network: MLP, n: int = 7) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(n, network.n_inputs))


@pytest.mark.parametrize("network", NETWORKS, ids=str)
@pytest.mark.parametrize("n", [7, 1])
def test_network_equals_numpy(network, n):
    w, x = random(network), inputs(network, n)
    out = network(tf.constant(w), tf.constant(x))
    np.testing.assert_allclose(out, by_hand(network, w, x), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_leading_axes_are_draws(network):
    w, x = random(network, 2, 3), inputs(network)
    out = network(tf.constant(w), tf.constant(x)).numpy()
    assert out.shape == (2, 3, len(x), network.n_outputs)
    each = [[by_hand(network, draw, x) for draw in row] for row in w]
    np.testing.assert_allclose(out, each, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("network", NETWORKS, ids=str)
@pytest.mark.parametrize("lead", [(), (2,), (2, 3)], ids=str)
def test_gradients_equal_finite_differences(network, lead):
    w, x = tf.constant(random(network, *lead)), tf.constant(inputs(network))
    direction = np.random.default_rng(2).normal(size=w.shape)

    def scalar(w):
        return tf.reduce_sum(tf.sin(network(w, x)))

    with tf.GradientTape() as tape:
        tape.watch(w)
        value = scalar(w)
    slope = np.sum(tape.gradient(value, w) * direction)
    step = 1e-6 * direction
    rise = (scalar(w + step) - scalar(w - step)) / 2e-6
    np.testing.assert_allclose(slope, rise, rtol=1e-6, atol=1e-7)


def test_without_hidden_units_the_network_is_linear():
    x = inputs(MLP(3, ()))
    out = MLP(3, ())(tf.constant([1.0, -2.0, 0.5, 10.0], tf.float64), tf.constant(x))
    np.testing.assert_allclose(out[:, 0], x @ [1.0, -2.0, 0.5] + 10.0)


def test_the_flat_vector_has_a_place_for_every_weight():
    network = MLP(1, (20, 20))
    assert network.n_weights == 1 * 20 + 20 + 20 * 20 + 20 + 20 + 1
    assert network.shapes == [(20, 1), (20, 1), (20, 20), (20, 1), (1, 20), (1, 1)]
    flat = np.arange(2.0 * network.n_weights).reshape(2, -1)
    parts = network.unflatten(tf.constant(flat))
    again = np.concatenate([part.numpy().reshape(2, -1) for part in parts], axis=1)
    np.testing.assert_array_equal(again, flat)


def test_fan_in_names_the_inputs_of_each_weight_and_bias():
    np.testing.assert_array_equal(MLP(3, (2,)).fan_in, [3] * (3 * 2 + 2) + [2] * (2 + 1))


@pytest.mark.parametrize("larger", [MLP(2, (5, 3)), MLP(2, (6, 3)), MLP(2, (5, 9)), MLP(2, (8, 8))])
def test_a_small_network_padded_with_zeros_computes_the_same(larger):
    small = MLP(2, (5, 3))
    w, x = random(small), inputs(small)
    padded = np.zeros(larger.n_weights)
    padded[small.positions_in(larger)] = w
    assert np.count_nonzero(padded) == small.n_weights
    out = larger(tf.constant(padded), tf.constant(x))
    np.testing.assert_allclose(out, by_hand(small, w, x), rtol=1e-12, atol=1e-12)
