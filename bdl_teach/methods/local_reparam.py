"""Local reparameterization: draw a layer's pre-activations instead of its weights.

With q(w) = Π N(w_ij | μ_ij, σ_ij²), the pre-activation of unit j for data point m,
b_mj = Σ_i x_mi w_ij, is Gaussian with mean γ_mj = Σ_i x_mi μ_ij and variance
δ_mj = Σ_i x_mi² σ_ij². To draw b_mj = γ_mj + √δ_mj ζ_mj for each data point is to give each point
its own weights: the expected likelihood is unchanged, and the noise of a gradient averages out
over the minibatch. Flipout draws the weights once and flips the signs of their deviations from μ
for each data point, to the same effect.

The KL has a closed form for a Gaussian prior. For a mixture it is estimated from weights that are
drawn for it alone.

Source: Kingma, Salimans & Welling 2015, eq. 6 (local); Wen et al. 2018, section 3 (Flipout).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from numpy.typing import ArrayLike

from bdl_teach import elbo, likelihoods
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach.backend import Tensor, tf
from bdl_teach.densities import Gaussian, gaussian_kl, scale_mixture_log_prob
from bdl_teach.methods import _loop, _lowest, _mean_field, _rao_blackwell
from bdl_teach.methods._loop import Block, Costs, LoopInputs
from bdl_teach.methods._mean_field import Fit
from bdl_teach.methods._settings import TwoHeads, taking
from bdl_teach.mlp import MLP, multiply

# The quiet estimator with a higher rate, which its gradients allow: ``fit(x, y, **QUIET)``.
QUIET: dict[str, Any] = {"estimator": "quiet", "learning_rate": 0.2}
# The lowest free energy that many starts find: ``fit(x, y, hidden_units=(20,), **LOWEST)``.
LOWEST: dict[str, Any] = {
    "estimator": "quiet", "side_by_side": True, "starts": 16, "steps": 1000, "learning_rate": 0.1,
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Settings(TwoHeads, _mean_field.Settings):
    """Settings of local reparameterization, in addition to those of ``bbb.fit``.

    Attributes:
        estimator: ``"local"`` draws each pre-activation; ``"flipout"`` draws the weights w once a
            step and flips signs of w − μ for each data point; ``"quiet"`` is like ``"local"``, but
            averages over the weights of the last two layers in closed form (for labels, over those
            of the last layer, by quadrature), and has the KL in closed form.
        side_by_side: Whether all ``starts`` train at once in one program, with the quiet estimator
            and on all data, from drawn weights, from modes and from fits of few hidden units;
            not with two heads. The
            fit has the ``starts_free_energy`` [starts]: exact with at most one hidden layer and a
            Gaussian likelihood (``fit.exact``), else averages over draws.
    """

    estimator: str = "local"
    side_by_side: bool = False


def preactivation_moments(x: ArrayLike, mu: ArrayLike, sigma: ArrayLike) -> tuple[Array, Array]:
    """Return mean γ = xμ and variance δ = x²σ² of a layer's outputs before the ReLU.

    Args:
        x: Inputs of the layer ``[n, in]``; a column of ones if it has biases.
        mu: Means of the weights ``[in, out]``.
        sigma: Standard deviations of the weights ``[in, out]``, > 0.

    Returns:
        (mean ``[n, out]``, variance ``[n, out]``), in float64.

    Raises:
        ValueError: A value is not finite, a σ is not > 0, or the shapes do not fit.

    Source: Kingma, Salimans & Welling 2015, eq. 6.
    """
    x, mu = checks.inputs("x", x), checks.inputs("mu", mu)
    sigma = checks.inputs("sigma", sigma)
    if mu.shape[0] != x.shape[1] or sigma.shape != mu.shape:
        raise ValueError(
            f"mu, sigma: expected shape [{x.shape[1]}, out], got {mu.shape} and {sigma.shape}"
        )
    if not (sigma > 0).all():
        raise ValueError(f"sigma: expected numbers > 0, got a minimum of {sigma.min()}")
    var = tf.matmul(tf.constant(x) ** 2, tf.constant(sigma) ** 2)
    return tf.matmul(x, mu).numpy(), var.numpy()


def forward(
    network: MLP, estimator: str, mu: Tensor, std: Tensor, eps: Tensor, zeta: Tensor, x: Tensor
) -> Tensor:
    """Return the network's outputs ``[n, 1]`` at the inputs ``x`` [n, d], for given noise.

    ``zeta`` is the noise of the data points, with the rows that :func:`noise_widths` counts and a
    column for each point. ``eps`` [n_weights] is the noise of the weights; only flipout uses it.
    """
    noise = tf.split(zeta, noise_widths(estimator, network))  # a part [units, n] each
    means = network.unflatten(mu)
    spreads = network.unflatten(std if estimator == "local" else std * eps)
    layer = _local_layer if estimator == "local" else _flipout_layer
    n_layers = len(network.shapes) // 2
    h = tf.transpose(x)  # [units, n]: one column a data point
    for i in range(n_layers):
        parts = slice(2 * i, 2 * i + 2)
        b = layer(h, means[parts], spreads[parts], noise[i::n_layers])
        h = tf.nn.relu(b)
    return tf.transpose(b)


def _local_layer(h: Tensor, mean: Tensor, std: Tensor, zeta: Tensor) -> Tensor:
    """Draw a layer's pre-activations ``[out, n]`` from its inputs h ``[in, n]`` and the noise ζ."""
    gamma = multiply(mean[0], h) + mean[1]  # [out, in] @ [in, n]
    delta = multiply(std[0] ** 2, h**2) + std[1] ** 2
    return gamma + tf.sqrt(tf.maximum(delta, _rao_blackwell.LEAST_VARIANCE)) * zeta[0]


def _flipout_layer(h: Tensor, mean: Tensor, change: Tensor, noise: Tensor) -> Tensor:
    """Draw a layer's pre-activations b = μh + r ⊙ (ΔW (s ⊙ h)) ``[out, n]`` from its inputs h.

    ``change`` is ΔW = σε, one draw for all points; r ``[out, n]`` and s ``[in, n]`` are the signs
    of the two arrays in ``noise``. The bias is a weight on an input of 1, which s does not flip.
    """
    r, s = (tf.where(z < 0, -tf.ones_like(z), tf.ones_like(z)) for z in noise)
    return multiply(mean[0], h) + mean[1] + r * (multiply(change[0], s * h) + change[1])


def noise_widths(estimator: str, network: MLP) -> list[int]:
    """Return each layer's number of outputs: a data point needs a random number for each output.

    For flipout, the number of inputs of each layer follows, in the second half of the list.
    """
    outputs, inputs = network.sizes[1:], network.sizes[:-1]
    return [*outputs, *(inputs if estimator == "flipout" else ())]


def _free_energy(
    estimator: str,
    closed_kl: bool,
    network: MLP,
    likelihood: str,
    theta: Tensor,
    block: Block,
    p: LoopInputs,
) -> Costs:
    mu, std = theta[0], tf.nn.softplus(theta[1])
    f = forward(network, estimator, mu, std, block.eps, block.zeta, block.x)
    cost = likelihoods.cost(likelihood, block.y, f, p.noise_std, block.row_weight)
    if closed_kl:
        kl = tf.reduce_sum(gaussian_kl(mu, std, 0.0, p.prior[0]) * p.unit_mask)
    else:
        w = mu + std * block.eps
        log_prior = scale_mixture_log_prob(w, p.prior[0], p.prior[1], p.prior[2])
        kl = elbo.complexity_cost(block.eps, std, log_prior, p.unit_mask)
    return _loop.costs(kl, cost, block, p)


_program = _loop.programs(_free_energy)


@taking(Settings)
def fit(x: ArrayLike, y: ArrayLike, settings: Settings) -> Fit:
    """Fit a Gaussian over each weight, with separate noise for each data point in the gradient.

    Start and free energy are those of ``bbb.fit``; only the gradient's estimate differs.
    """
    estimator = checks.choice("estimator", settings.estimator, ("local", "flipout", "quiet"))
    if settings.side_by_side:
        if estimator != "quiet":
            raise ValueError(f"estimator: expected 'quiet' with side_by_side, got {estimator!r}")
        checks.choice("likelihood", settings.likelihood, likelihoods.LIKELIHOODS)
        return _lowest.fit(x, y, settings)
    if estimator == "quiet":
        noise = _rao_blackwell.noise(settings.likelihood)
        return _mean_field.fit(_rao_blackwell.program, x, y, settings, **noise)
    program = partial(_program, estimator, isinstance(settings.prior, Gaussian))
    return _mean_field.fit(program, x, y, settings, widths=partial(noise_widths, estimator))
