"""Fit Bayes by Backprop with Keras layers, for comparison with this package.

The layers are those of the article that the sinusoid comes from, written by hand, or those of
TensorFlow Probability. ``model.fit`` trains the network; predictions are averages over calls of
``model.predict``.

Source: M. Krasser, "Variational inference in Bayesian neural networks" (2019).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach._support.checks import Array
from bdl_teach.backend import Tensor, tf, tfd, tfp  # chooses Keras 2, before its import
from bdl_teach.densities import ScaleMixture

import tf_keras  # isort: skip

Keras: TypeAlias = Any  # a layer or a model
Maker: TypeAlias = Callable[..., Keras]  # makes a layer, given its units and activation
LEARNING_RATE = 0.08
BATCH_SIZE = 32


class VariationalDense(tf_keras.layers.Layer):  # type: ignore[misc]
    """A dense layer with a Gaussian over each weight; each call draws all weights anew.

    It adds its complexity cost at the drawn weights, Σ log q(w | θ) − log P(w), to the model's
    losses. P is a sum of two densities, as in the article, which underflows from |w| = 21.4 for
    σ₁ = 1.5 (``densities.scale_mixture_log_prob`` does not).

    Source: Blundell et al. 2015, section 3.2 and eq. 7.
    """

    def __init__(
        self,
        units: int,
        prior: ScaleMixture,
        kl_weight: float = 1.0,
        activation: str | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(**settings)
        self.units = units
        self.prior = prior
        self.kl_weight = kl_weight
        self.activation = tf_keras.activations.get(activation)

    def build(self, input_shape: Sequence[int]) -> None:
        """Create μ, drawn with the prior's sd, and ρ, which is 0, for weights and biases."""
        shapes = {"kernel": (int(input_shape[-1]), self.units), "bias": (self.units,)}
        self.mu, self.rho = {}, {}
        for name, shape in shapes.items():
            wide = tf_keras.initializers.RandomNormal(stddev=self.prior.std)
            self.mu[name] = self.add_weight(f"{name}_mu", shape, initializer=wide)
            self.rho[name] = self.add_weight(f"{name}_rho", shape, initializer="zeros")
        super().build(input_shape)

    def call(self, inputs: Tensor) -> Tensor:
        """Draw the weights, add their complexity cost, and return the outputs ``[n, units]``."""
        kernel, bias = self._draw("kernel"), self._draw("bias")
        return self.activation(tf.matmul(inputs, kernel) + bias)

    def _draw(self, name: str) -> Tensor:
        mu, sigma = self.mu[name], tf.math.softplus(self.rho[name])
        w = mu + sigma * self._noise(mu.shape)
        log_q = tfd.Normal(mu, sigma).log_prob(w)
        self.add_loss(self.kl_weight * tf.reduce_sum(log_q - self._log_prior(w)))
        return w

    def _log_prior(self, w: Tensor) -> Tensor:
        wide, narrow = tfd.Normal(0.0, self.prior.sigma1), tfd.Normal(0.0, self.prior.sigma2)
        return tf.math.log(self.prior.pi * wide.prob(w) + (1.0 - self.prior.pi) * narrow.prob(w))

    def _noise(self, shape: Sequence[int]) -> Tensor:
        return tf.random.normal(shape)


def article_layer(prior: ScaleMixture) -> Maker:
    """Return a function that makes :class:`VariationalDense` layers, given (units, activation)."""
    return lambda units, activation=None: VariationalDense(units, prior, activation=activation)


def tfp_layer(prior: ScaleMixture, kind: str = "DenseReparameterization") -> Maker:
    """Return a function that makes TFP layers: "DenseReparameterization" or "DenseFlipout".

    The prior and the KL, which is computed at one draw, are the article's; the posterior of weights
    and biases is TFP's default.
    """

    def maker(units: int, activation: str | None = None) -> Keras:
        return getattr(tfp.layers, kind)(
            units,
            activation=activation,
            kernel_posterior_fn=_posterior_fn(),
            kernel_prior_fn=_mixture_fn(prior),
            bias_prior_fn=_mixture_fn(prior),
            bias_posterior_fn=_posterior_fn(),
            kernel_divergence_fn=_divergence,
            bias_divergence_fn=_divergence,
        )

    return maker


def tfp_variational(prior: ScaleMixture) -> Maker:
    """Return a function that makes ``DenseVariational`` layers of TFP, with the article's prior."""

    def posterior(kernel_size: int, bias_size: int = 0, dtype: Any = None) -> Any:
        n = kernel_size + bias_size
        return tf_keras.Sequential(
            [
                tfp.layers.VariableLayer(2 * n, dtype=dtype, initializer="random_normal"),
                tfp.layers.DistributionLambda(
                    lambda t: tfd.Independent(
                        tfd.Normal(t[..., :n], tf.math.softplus(t[..., n:] - 3.0)), 1
                    )
                ),
            ]
        )

    def prior_fn(kernel_size: int, bias_size: int = 0, dtype: Any = None) -> Any:
        return lambda _: tfd.Sample(_mixture(prior), kernel_size + bias_size)

    return lambda units, activation=None: tfp.layers.DenseVariational(
        units, posterior, prior_fn, activation=activation
    )


def _posterior_fn() -> Callable[..., Any]:
    """Return TFP's default posterior with new initializers: layers that share them start equal."""
    normal = tf_keras.initializers.RandomNormal
    maker: Callable[..., Any] = tfp.layers.default_mean_field_normal_fn(
        loc_initializer=normal(stddev=0.1),
        untransformed_scale_initializer=normal(mean=-3.0, stddev=0.1),
    )
    return maker


def _mixture(prior: ScaleMixture) -> Any:
    return tfd.MixtureSameFamily(
        tfd.Categorical(probs=[prior.pi, 1.0 - prior.pi]),
        tfd.Normal([0.0, 0.0], [prior.sigma1, prior.sigma2]),
    )


def _mixture_fn(prior: ScaleMixture) -> Callable[..., Any]:
    return lambda dtype, shape, *_: tfd.Sample(_mixture(prior), shape)


def _divergence(q: Any, p: Any, w: Any) -> Any:
    """Return log q(w) − log p(w) at the layer's draw w, or at a new draw without one (Flipout)."""
    w = q.sample() if w is None else w
    return q.log_prob(w) - p.log_prob(w)


def network(
    layer: Maker,
    hidden_units: Sequence[int] = (20, 20),
    noise_std: float = 1.0,
    learning_rate: float = LEARNING_RATE,
) -> Keras:
    """Stack layers into a compiled ReLU model whose loss is the free energy of one draw.

    Args:
        layer: A function that makes layers, such as ``article_layer(prior)``.
        hidden_units: Width of each hidden layer.
        noise_std: Standard deviation of the noise on y.
        learning_rate: Learning rate of Adam.

    Returns:
        A Keras model of inputs ``[n, 1]``.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*add_variable.*")  # TFP's own layers call it
        hidden = [layer(units, activation="relu") for units in hidden_units]
        model = tf_keras.Sequential([tf_keras.Input((1,)), *hidden, layer(1)])

    def likelihood_cost(y: Tensor, f: Tensor) -> Tensor:
        return -tf.reduce_sum(tfd.Normal(f, noise_std).log_prob(y))

    model.compile(loss=likelihood_cost, optimizer=tf_keras.optimizers.Adam(learning_rate))
    return model


def train(model: Keras, x: ArrayLike, y: ArrayLike, epochs: int = 1500) -> Array:
    """Fit a model in batches of 32, and return the loss of each epoch in nats ``[epochs]``."""
    x, y = np.asarray(x, np.float32), np.asarray(y, np.float32)
    done = model.fit(x, y, batch_size=BATCH_SIZE, epochs=epochs, verbose=0)
    return np.asarray(done.history["loss"])


def predict(model: Keras, x: ArrayLike, n_samples: int = 500) -> Array:
    """Return outputs of drawn networks ``[n_samples, m]``: a call of ``model.predict`` each."""
    x = np.asarray(x, np.float32)
    return np.concatenate([model.predict(x, verbose=0) for _ in range(n_samples)], axis=1).T
