"""The network is a pure function of one flat weight vector."""

import numpy as np
import pytest

from bdl_teach.backend import tf
from bdl_teach.mlp import MLP

NETWORKS = [MLP(1, ()), MLP(3, ()), MLP(1, (4,)), MLP(2, (5, 3)), MLP(3, (4, 6, 2), 2)]


def by_hand(network: MLP, w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return the output for one weight vector, layer by layer in NumPy."""
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


def inputs(network: MLP) -> np.ndarray:
    return np.random.default_rng(1).normal(size=(7, network.n_inputs))


@pytest.mark.parametrize("network", NETWORKS, ids=str)
def test_network_equals_numpy_for_each_draw_of_weights(network):
    x, w = inputs(network), random(network, 2, 3)
    each = np.array([[by_hand(network, draw, x) for draw in row] for row in w])
    for draws, expected in ((w, each), (w[0, 0], each[0, 0])):
        out = network(tf.constant(draws), tf.constant(x))
        np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("larger", [MLP(2, (6, 3)), MLP(2, (8, 9))])
def test_network_padded_with_zeros_computes_the_same_output(larger):
    small = MLP(2, (5, 3))
    w, x = random(small), inputs(small)
    padded = np.zeros(larger.n_weights)
    padded[small.positions_in(larger)] = w
    assert np.count_nonzero(padded) == small.n_weights
    out = larger(tf.constant(padded), tf.constant(x))
    np.testing.assert_allclose(out, by_hand(small, w, x), rtol=1e-12, atol=1e-12)
