"""The Rao-Blackwellised local estimator: it averages in closed form instead of drawing.

Methods offer it as ``estimator="quiet"``. The free energy is the usual one; its gradient has less
noise, since three means over q are (almost) exact: the entropy, the mean of log P(w), and the mean
square error of an output given the inputs of the last hidden layer. Given these, the
pre-activations of that layer are independent Gaussians, whose moments after the ReLU are known. So
only the hidden layers before it are drawn; with one hidden layer the gradient has no noise at all.

For labels the cost needs the distribution of the logit, which is Gaussian given the outputs of the
last hidden layer. So all hidden layers are drawn, and quadrature averages over the logit. With two
heads all hidden layers are drawn, too, since then the heads are independent.

Source: Kingma, Salimans & Welling 2015, eq. 6 (pre-activations); Hernández-Lobato & Adams 2015,
eq. 17-18 (rectified moments); Ranganath, Gerrish & Blei 2014, section 3.1 (Rao-Blackwell).
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

from bdl_teach import likelihoods
from bdl_teach.backend import Tensor, tf
from bdl_teach.densities import HALF_LOG_TWO_PI, expected_log_prob
from bdl_teach.methods import _loop
from bdl_teach.methods._loop import Block, Costs, LoopInputs
from bdl_teach.mlp import MLP, multiply

LEAST_VARIANCE = 1e-30  # keeps the slope of √δ finite when every σ has gone to 0


def noise_widths(network: MLP, likelihood: str = "gaussian") -> list[int]:
    """Return the widths of the drawn hidden layers: all for labels, else all but the last."""
    return list(network.sizes[1 : -2 if likelihood == "gaussian" else -1])


def noise(likelihood: str) -> dict[str, Any]:
    """Return what the estimator draws, as arguments of ``_mean_field.prepare``."""
    return {"widths": partial(noise_widths, likelihood=likelihood), "draws_weights": False}


def complexity(mu: Tensor, std: Tensor, p: LoopInputs) -> Tensor:
    """Return KL[q ‖ P(w)] in nats, approximate for a mixture; even padding needs a ``std`` > 0."""
    minus_entropy = -tf.math.log(std) - HALF_LOG_TWO_PI - 0.5
    each = minus_entropy - expected_log_prob(mu, std, p.prior_terms)
    return tf.reduce_sum(each * p.unit_mask, axis=-1)


def output_moments(
    network: MLP, mu: Tensor, std: Tensor, zeta: Tensor, x: Tensor, likelihood: str = "gaussian"
) -> tuple[Tensor, Tensor]:
    """Return mean and variance of each output ``[..., n, 1]``, given the drawn hidden layers.

    ``zeta`` [units, n] is the noise of the drawn units, () if none is drawn. ``std`` is 0 for the
    weights that only pad the network to its compiled size.
    """
    means, spreads = network.unflatten(mu), network.unflatten(std**2)
    noise = tf.split(zeta, noise_widths(network, likelihood)) if tf.is_tensor(zeta) else []
    h, var = tf.transpose(x), None  # [units, n]: one column a data point; no variance but a mean's
    n_layers = len(network.shapes) // 2
    for i in range(n_layers):
        (weight, bias), (weight_var, bias_var) = (v[2 * i : 2 * i + 2] for v in (means, spreads))
        mean = multiply(weight, h) + bias
        if var is None:
            spread = multiply(weight_var, h**2) + bias_var
        else:
            spread = multiply(weight_var, h**2 + var) + multiply(weight**2, var) + bias_var
        if i < len(noise):
            h = tf.nn.relu(mean + tf.sqrt(tf.maximum(spread, LEAST_VARIANCE)) * noise[i])
        elif i < n_layers - 1:
            h, var = _rectified(mean, spread)
    return tf.linalg.matrix_transpose(mean), tf.linalg.matrix_transpose(spread)


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _rectified(mean: Tensor, var: Tensor) -> tuple[Tensor, Tensor]:
    """Return mean and variance of max(0, a) for a ~ N(mean, var), in float32.

    ``pbp.relu_moments`` is more exact but slower; the rounding errors here do not change a fit.
    """
    std = tf.sqrt(tf.maximum(var, LEAST_VARIANCE))
    alpha = mean / std
    density = math.exp(-HALF_LOG_TWO_PI) * tf.exp(-0.5 * alpha**2)
    above = 0.5 + 0.5 * tf.math.erf(math.sqrt(0.5) * alpha)  # P(a > 0) = Φ(α)
    first = std * density + mean * above
    second = mean * first + var * above  # E[max(0, a)²]
    rest = tf.maximum(second - first**2, 0.0)

    def gradient(d_first: Tensor, d_rest: Tensor) -> tuple[Tensor, Tensor]:
        d_mean = d_first * above + d_rest * 2.0 * first * (1.0 - above)
        d_var = d_first * 0.5 * density / std + d_rest * (above - first * density / std)
        return d_mean, d_var

    return (first, rest), gradient


def free_energy(network: MLP, kind: str, theta: Tensor, block: Block, p: LoopInputs) -> Costs:
    """Return what one block adds to F and to the costs; θ = (μ, ρ) is [..., n_weights] each."""
    mu, std = theta[0] * p.unit_mask, tf.nn.softplus(theta[1])
    # the mask on μ: a padded unit, whose mean is 1e-16 and not 0, would learn
    moments = output_moments(network, mu, std * p.unit_mask, block.zeta, block.x, kind)
    given = (block.y, *moments, p.noise_std, block.row_weight)
    cost = likelihoods.expected_cost(kind, *given)
    return _loop.costs(complexity(mu, std, p), cost, block, p)


program = _loop.programs(free_energy)
