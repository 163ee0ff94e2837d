"""The two networks of a variational autoencoder, and the KL term between their codes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bdl_teach import checks
from bdl_teach.backend import tf, tfd
from bdl_teach.checks import Array
from bdl_teach.densities import gaussian_kl
from bdl_teach.mlp import MLP

LIKELIHOODS = ("bernoulli", "gaussian")
_MIN_STD = 1e-6  # keeps log σ finite where the encoder is sure


class Model(NamedTuple):
    """The two networks and what the decoder's output means.

    Attributes:
        encoder: Maps x to μ and ρ, ``[n, 2 latent_dim]``; σ = softplus(ρ) + 10⁻⁶.
        decoder: Maps z to logits (Bernoulli) or means (Gaussian), ``[m, d]``.
        likelihood: One of ``LIKELIHOODS``.
    """

    encoder: MLP
    decoder: MLP
    likelihood: str

    def encode(self, weights: Any, x: Any) -> tuple[Any, Any]:
        """Return mean and standard deviation of q(z | x), ``[n, latent]`` each."""
        mean, rho = tf.split(self.encoder(weights, x), 2, axis=-1)
        return mean, tf.nn.softplus(rho) + _MIN_STD

    def decode(self, weights: Any, z: Any) -> Any:
        """Return the mean of p(x | z) for z ``[m, latent]``: ``[m, d]``."""
        out = self.decoder(weights, z)
        return tf.sigmoid(out) if self.likelihood == "bernoulli" else out

    def log_likelihood(self, weights: Any, x: Any, z: Any, decoder_std: Any) -> Any:
        """Return log p(x | z) for x ``[n, d]`` and z ``[s, n, latent]``: nats ``[s, n]``.

        A Bernoulli for a grey pixel in [0, 1] is the cross-entropy that everyone minimises; it
        is a log density of x only where pixels are 0 or 1.
        """
        s, n, latent = z.shape
        out = self.decoder(weights, tf.reshape(z, [s * n, latent]))
        out = tf.reshape(out, [s, n, x.shape[-1]])
        if self.likelihood == "bernoulli":
            each = x * out - tf.nn.softplus(out)
        else:
            each = tfd.Normal(out, decoder_std).log_prob(x)
        return tf.reduce_sum(each, axis=-1)  # [s, n, d] -> [s, n]


def kl_from_prior(mean: Any, std: Any) -> Array:
    """KL[N(mean, diag std²) ‖ N(0, I)], summed over the coordinates of z.

    Args:
        mean: ``[n, latent]``.
        std: ``[n, latent]``, > 0.

    Returns:
        Nats ``[n]``.

    Source: Kingma & Welling 2014, appendix B.
    """
    return np.asarray(gaussian_kl(mean, std, 0.0, 1.0).sum(axis=-1))


def checked_data(x: Any, likelihood: str) -> Array:
    """Return finite data ``[n, d]``, in [0, 1] for the Bernoulli, or raise ``ValueError``."""
    array: Array = checks.inputs("x", x)
    low, high = array.min(), array.max()
    if likelihood == "bernoulli" and (low < 0 or high > 1):
        raise ValueError(
            f"x: expected numbers in [0, 1] for the Bernoulli likelihood, got [{low:g}, {high:g}]"
        )
    return array


def sampled_kl(eps: Any, std: Any, z: Any) -> Any:
    """Return log q(z | x) − log p(z) at z = μ + σ ⊙ ε: nats ``[s, n]``."""
    return tf.reduce_sum((z**2 - eps**2) / 2 - tf.math.log(std), axis=-1)


def make_model(d: int, latent_dim: int, hidden_units: tuple[int, ...], likelihood: str) -> Model:
    """Build the two networks; the decoder has the encoder's hidden layers in reverse.

    Args:
        d: Numbers in an x.
        latent_dim: Coordinates of the code z, >= 1.
        hidden_units: Hidden ReLU layers of the encoder; () is linear.
        likelihood: One of ``LIKELIHOODS``.

    Raises:
        ValueError: A size is not an integer >= 1, or the likelihood is unknown.
    """
    checks.choice("likelihood", likelihood, LIKELIHOODS)
    latent = checks.count("latent_dim", latent_dim)
    widths = checks.layer_widths("hidden_units", hidden_units)
    return Model(MLP(d, widths, 2 * latent), MLP(latent, widths[::-1], d), likelihood)


def starting_weights(model: Model, seed: int, start: Any = None) -> list[Array]:
    """Weights of encoder and decoder to start from: those of ``start``, or drawn anew.

    Args:
        model: The networks.
        seed: Seed of the draw: weights from N(0, 1/fan-in), biases of 0.
        start: A fit of the same model, or ``None``.

    Raises:
        ValueError: ``start`` is of another model.
    """
    if start is None:
        rng = np.random.default_rng(seed)
        return [_random_weights(network, rng) for network in (model.encoder, model.decoder)]
    if start.model != model:
        raise ValueError(f"start: expected a fit of {model}, got one of {start.model}")
    return [start.encoder_weights, start.decoder_weights]


def _random_weights(network: MLP, rng: np.random.Generator) -> Array:
    layers = [rng.standard_normal(shape) * (shape[1] ** -0.5) for shape in network.shapes]
    layers[1::2] = [np.zeros_like(bias) for bias in layers[1::2]]
    return np.concatenate([layer.ravel() for layer in layers])
