"""A small convolutional network with random kernels, made of TensorFlow Probability's layers.

Convolution (5 × 5, SAME, ReLU) → max-pooling by 2 → dense, one logit a class. Traits of TFP's
``*Reparameterization`` layers that matter here:

- their *biases are deterministic*;
- they draw one kernel a call, which all pictures of the call share, and Keras' ``predict`` calls
  them anew for every 32 pictures. So each draw is seeded here by a pair of whole numbers, and any
  number of calls can see the same weights;
- they need Keras 2, which is the package ``tf_keras``. Its initialisers get explicit seeds, since
  Keras would take new numbers in each process;
- they return logits here: the cross-entropy of a softmax that was rounded to 0 is infinite.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.backend import Tensor, tf, tfd, tfp


class Built(NamedTuple):
    """A network with its variables."""

    model: Any  # of Keras; each call draws its weights from ``draw``
    draw: Tensor  # variable [2], int32: the same pair gives the same weights
    # The model as one graph, pictures [n, height, width, 1] → [n, classes]: four times faster than
    # the model itself, which also computes the KL.
    logits: Callable[[Tensor], Tensor]

    @property
    def gaussians(self) -> list[tuple[Tensor, Tensor]]:
        """Return the variables (μ, ρ) of each Gaussian; deterministic biases are left out."""
        pairs = itertools.pairwise(self.model.trainable_variables)
        return [(mu, rho) for mu, rho in pairs if "untransformed_scale" in rho.name]


@dataclass(frozen=True)
class ConvNet:
    """Sizes of the network, its prior, and the starting values of its Gaussians."""

    image_shape: tuple[int, int]  # height and width of a picture, in pixels
    n_classes: int
    filters: int = 64  # maps of the convolution
    kernel_size: int = 5  # side of its window, in pixels
    prior_std: float = 1.0  # of each weight's prior N(0, prior_std²)
    initial_rho: float = -3.0  # of every Gaussian, σ = softplus(ρ)
    seed: int = 0  # of the starting μ, drawn from N(0, 0.1²) as TFP does

    def build(self) -> Built:
        """Make the variables with their starting values."""
        draw = tf.Variable([0, 0], dtype=tf.int32, trainable=False)
        layers = [
            tfp.layers.Convolution2DReparameterization(
                self.filters,
                self.kernel_size,
                padding="SAME",
                activation=tf.nn.relu,
                **self._layer_options(0, draw),
            ),
            tf.keras.layers.MaxPooling2D(2, padding="SAME"),
            tf.keras.layers.Flatten(),
            tfp.layers.DenseReparameterization(self.n_classes, **self._layer_options(1, draw)),
        ]
        model = tf.keras.Sequential(layers)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # TFP's layers call a deprecated Keras method
            model.build((None, *self.image_shape, 1))
        spec = tf.TensorSpec(model.input_shape, tf.float32)
        graph = tf.function(lambda x: model(x), input_signature=[spec], autograph=False)
        return Built(model, draw, graph)

    def _layer_options(self, layer: int, draw: Tensor) -> dict[str, Any]:
        """Return the arguments of a TFP layer: prior, posterior, and how to draw from it."""
        fold_in = tf.random.experimental.stateless_fold_in
        return {
            "kernel_prior_fn": self._prior,
            "kernel_posterior_fn": self._posterior(2 * layer),
            "kernel_posterior_tensor_fn": lambda q: q.sample(seed=fold_in(draw, 2 * layer)),
            "bias_posterior_fn": self._posterior(2 * layer + 1, is_deterministic=True),
        }

    def _prior(self, dtype: Any, shape: Any, *_: Any) -> Any:
        std = tf.fill(shape, tf.cast(self.prior_std, dtype))
        return tfd.Independent(tfd.Normal(tf.zeros_like(std), std), len(shape))

    def _posterior(self, place: int, is_deterministic: bool = False) -> Any:
        start, seed = tf.keras.initializers, int(key(self.seed, 0, place)[0]) % 2**31
        return tfp.layers.default_mean_field_normal_fn(
            is_singular=is_deterministic,
            loc_initializer=start.RandomNormal(stddev=0.1, seed=seed),
            untransformed_scale_initializer=start.Constant(self.initial_rho),
        )


def key(seed: int, *path: int) -> Array:
    """Return a pair of whole numbers that seeds stateless draws, different for each path."""
    return np.random.SeedSequence([seed, *path]).generate_state(2).astype(np.int32)
