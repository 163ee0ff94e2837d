"""Classifiers of pictures: Bayes by Backprop on a small convolutional network, and two controls.

q(w | θ) = Π_j N(w_j | μ_j, σ_j²) with σ = softplus(ρ) over the kernels of a ``ConvNet``,
and a Gaussian prior. Training minimises the free energy F = KL[q ‖ P(w)] − E_q[log P(D | w)] with
the KL in closed form and one weight draw a minibatch. Each step is a plain TensorFlow graph, since
XLA is slower for convolutions on a CPU.

The controls have the same layers and the same steps: an *ordinary* network,
``fit(..., **ORDINARY)``, and an :func:`ensemble` of ordinary networks.

Source: Blundell et al. 2015, "Weight uncertainty in neural networks", eq. 1-2 and 8, section 5.1.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import log_softmax

from bdl_teach import elbo
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.errors import DivergedError
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, tf, tfd, tfp
from bdl_teach.densities import gaussian_kl
from bdl_teach.elbo import FreeEnergy
from bdl_teach.methods._fitted import Variational

REMEDY = "lower the learning rate"
_CHUNK = 32  # pictures evaluated at a time: their 64 maps of 28 × 28 take 6 MB
_TRAINING, _PREDICTION = 1, 2  # random streams of one seed; stream 0 starts the network
_LEAST_STEPS = 1000  # of the continued training
_OTHER_ORDERS = 10**6  # added to the seed of a fit when its training continues
_NO_SPREAD = -50.0  # a ρ whose σ, 2e-22, changes no weight in float32
# For hundreds of pictures: at a KL weight of 1, 127,000 weights outweigh 720 labels. With a smaller
# one the weights that matter learn, and those that no training picture uses return to a wide prior.
# An out-of-distribution picture uses the latter, so that its draws differ.
FEW_IMAGES: dict[str, Any] = {"epochs": 30, "learning_rate": 0.01, "kl_weight": 0.3}
FEW_IMAGES |= {"prior_std": 3.0, "initial_rho": -4.0}
# One network, by maximum likelihood: no KL, and no σ ever changes a weight in float32.
ORDINARY: dict[str, Any] = {"kl_weight": 0.0, "initial_rho": _NO_SPREAD}


class Built(NamedTuple):
    """A Keras model with its variables, and a compiled function that computes its logits."""

    model: Any  # of Keras; each call draws its weights from ``draw``
    draw: Tensor  # variable [2], int32: the same pair gives the same weights
    # The model as one graph, pictures [n, height, width, 1] → [n, classes]: four times faster than
    # the model itself, which also computes the KL.
    logits: Callable[[Tensor], Tensor]

    @property
    def gaussians(self) -> list[tuple[Tensor, Tensor]]:
        """Return the variables (μ, ρ) of each kernel; the biases have no Gaussian."""
        pairs = itertools.pairwise(self.model.trainable_variables)
        return [(mu, rho) for mu, rho in pairs if "untransformed_scale" in rho.name]


@dataclass(frozen=True)
class ConvNet:
    """Sizes of the network, its prior, and the starting values of its posterior.

    The layers are a convolution (SAME, ReLU), max-pooling by 2, and a dense layer with one logit
    for each class. Kernels have a Gaussian posterior, biases are *deterministic*. Each call of the
    network draws its kernels once for all its pictures, from the seed in ``Built.draw``.
    """

    image_shape: tuple[int, int]  # height and width of a picture, in pixels
    n_classes: int
    filters: int = 64  # number of kernels of the convolution
    kernel_size: int = 5  # side of a kernel, in pixels
    prior_std: float = 1.0  # of each weight's prior N(0, prior_std²)
    initial_rho: float = -3.0  # of every Gaussian, σ = softplus(ρ)
    seed: int = 0  # of the starting μ, drawn from N(0, 0.1²) as TFP does

    def build(self) -> Built:
        """Make the Keras model, whose variables have their starting values."""
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
        """Return a TFP layer's arguments: its prior, its posterior, and how to draw weights."""
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
        start, seed = tf.keras.initializers, int(_key(self.seed, 0, place)[0]) % 2**31
        return tfp.layers.default_mean_field_normal_fn(
            is_singular=is_deterministic,
            loc_initializer=start.RandomNormal(stddev=0.1, seed=seed),
            untransformed_scale_initializer=start.Constant(self.initial_rho),
        )


def _key(seed: int, *path: int) -> Array:
    """Return an int32 pair that seeds a draw; ``path`` tells the draws of one ``seed`` apart."""
    return np.random.SeedSequence([seed, *path]).generate_state(2).astype(np.int32)


class Problem(NamedTuple):
    """The pictures and settings that define a classifier's free energy."""

    x: Array  # [n, height, width]: pixels in [0, 1]
    labels: Array  # [n]
    kl_weight: float
    learning_rate: float
    epochs: int
    batch_size: int
    seed: int  # of the order of the pictures and of every ε


def fit(
    images: ArrayLike,
    labels: ArrayLike,
    *,
    epochs: int = 10,
    learning_rate: float = 0.001,
    batch_size: int = 32,
    kl_weight: float = 1.0,
    prior_std: float = 1.0,
    initial_rho: float = -3.0,
    filters: int = 64,
    kernel_size: int = 5,
    n_classes: int | None = None,
    seed: int = 0,
) -> Fit:
    """Fit a Bayesian convolutional neural network by Bayes by Backprop.

    The defaults are for 60,000 pictures; for a few hundred add ``**FEW_IMAGES``.

    Args:
        images: ``[n, height, width]``, pixels in [0, 1].
        labels: ``[n]``, whole numbers from 0.
        epochs: Passes over the pictures.
        learning_rate: Adam step size, > 0.
        batch_size: Pictures in a minibatch; the last one of an epoch may be smaller.
        kl_weight: Factor on the KL term, >= 0; 1 is Bayes' rule.
        prior_std: Standard deviation of each weight's Gaussian prior, > 0.
        initial_rho: Starting value of every ρ; −3 is TFP's, σ = 0.049.
        filters: Number of kernels of the convolution.
        kernel_size: Side of a kernel, in pixels.
        n_classes: Number of classes; the largest label + 1 if not given.
        seed: Seed of the starting point, of the order of the pictures and of every ε.

    Returns:
        A :class:`Fit`.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
        DivergedError: The free energy became NaN or infinite.
    """
    x = _pictures(images)
    y, n_classes = _classes(labels, len(x), n_classes)
    network = ConvNet(
        image_shape=(x.shape[1], x.shape[2]),
        n_classes=n_classes,
        filters=checks.count("filters", filters),
        kernel_size=checks.count("kernel_size", kernel_size),
        prior_std=checks.positive("prior_std", prior_std),
        initial_rho=checks.number("initial_rho", initial_rho),
        seed=checks.count("seed", seed, 0),
    )
    kl_weight = checks.non_negative("kl_weight", kl_weight)
    learning_rate = checks.positive("learning_rate", learning_rate)
    sizes = checks.count("epochs", epochs), checks.count("batch_size", batch_size)
    problem = Problem(x[..., 0], y, kl_weight, learning_rate, *sizes, seed)
    return _trained(network, network.build(), problem)


def ensemble(
    images: ArrayLike, labels: ArrayLike, *, members: int = 5, seed: int = 0, **options: object
) -> Ensemble:
    """Fit several networks that differ in their start and in the order of the pictures.

    Args:
        images: ``[n, height, width]``, pixels in [0, 1].
        labels: ``[n]``, whole numbers from 0.
        members: Number of networks, >= 1.
        seed: Member k = 0, 1, ... is ``fit(..., seed=seed + k)``.
        **options: Arguments of :func:`fit`, which override ``ORDINARY``.

    Returns:
        An :class:`Ensemble`.

    Raises:
        ValueError: An argument is out of range or the shapes do not fit.
        DivergedError: The loss became NaN or infinite.

    Source: Lakshminarayanan, Pritzel & Blundell 2017, without adversarial examples.
    """
    first = checks.count("seed", seed, 0)
    seeds = range(first, first + checks.count("members", members))
    given: dict[str, Any] = {**ORDINARY, **options}
    return Ensemble(tuple(fit(images, labels, seed=one, **given) for one in seeds))


def _trained(network: ConvNet, built: Built, o: Problem) -> Fit:
    """Train the variables of ``built`` from their current values, and return the fit."""
    adam = tf.keras.optimizers.legacy.Adam(o.learning_rate)
    step = _train_step(built.model, adam, len(o.x), o.kl_weight)
    history = _train(step, o.x[..., None], built.draw, o)
    return Fit(network, built, history, o)


def _train(step: Callable[..., Tensor], x: Array, draw: Tensor, o: Problem) -> dict[str, Array]:
    """Train in minibatches, in a new order each epoch; return the mean costs of each epoch."""
    rng, epochs = np.random.default_rng([o.seed, _TRAINING]), []
    for epoch in range(o.epochs):
        records = []
        batches = np.split(rng.permutation(len(x)), range(o.batch_size, len(x), o.batch_size))
        for i, rows in enumerate(batches):
            draw.assign(_key(o.seed, _TRAINING, epoch, i))
            batch = tf.constant(x[rows], tf.float32), tf.constant(o.labels[rows], tf.int32)
            records.append(step(*batch))
        epochs.append(np.asarray(tf.reduce_mean(records, axis=0)))
        if not np.isfinite(epochs[-1]).all():
            raise DivergedError((epoch + 1) * len(batches), REMEDY)
    names = ("free_energy", "complexity_cost", "likelihood_cost")
    history = dict(zip(names, np.array(epochs).T, strict=True))
    return {**history, "epoch": np.arange(1, o.epochs + 1)}


def _train_step(model: Any, adam: Any, n_data: int, kl_weight: float) -> Callable[..., Any]:
    """Return a compiled function that takes one Adam step and returns (F, KL, likelihood cost)."""

    def step(x: Tensor, y: Tensor) -> Tensor:
        with tf.GradientTape() as tape:
            logits = model(x)  # [b, classes]; draws the weights, and leaves their KL in losses
            nll = tf.nn.sparse_softmax_cross_entropy_with_logits(y, logits)  # [b]
            complexity, likelihood = tf.add_n(model.losses), n_data * tf.reduce_mean(nll)
            loss = elbo.free_energy(complexity, likelihood, kl_weight)
        variables = model.trainable_variables
        adam.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return tf.stack([loss, complexity, likelihood])

    pictures = tf.TensorSpec([None, *model.input_shape[1:]], tf.float32)
    signature = [pictures, tf.TensorSpec([None], tf.int32)]
    graph: Callable[..., Tensor] = tf.function(step, input_signature=signature, autograph=False)
    return graph


def _pictures(value: ArrayLike, shape: tuple[int, int] | None = None) -> Array:
    """Check that pictures are finite and of this shape; return ``[n, height, width, 1]``."""
    array = checks.finite("images", value)
    wanted = "[n, height, width]" if shape is None else f"[n, {shape[0]}, {shape[1]}]"
    if array.ndim != 3 or 0 in array.shape or (shape and array.shape[1:] != shape):
        raise ValueError(f"images: expected shape {wanted} with n >= 1, got {array.shape}")
    return array.astype(np.float32)[..., None]


def _classes(value: ArrayLike, n: int, n_classes: int | None) -> tuple[Array, int]:
    """Check n labels, and return them with the number of classes, at least two."""
    labels = checks.finite("labels", value)
    if labels.shape != (n,):
        raise ValueError(f"labels: expected shape ({n},), one for each picture, got {labels.shape}")
    known = int(labels.max()) + 1 if n_classes is None else n_classes
    known = checks.count("n_classes", known, 2)
    if (labels != labels.astype(int)).any() or labels.min() < 0 or labels.max() >= known:
        raise ValueError(f"labels: expected whole numbers from 0 to {known - 1}, got {labels}")
    return labels.astype(np.int32), known


@one_line
@dataclass(frozen=True)
class Fit(Variational):
    """A fitted Bayesian classifier of pictures.

    Attributes:
        network: The sizes of the network.
        built: Its layers and variables.
        history: ``epoch``, ``free_energy``, ``complexity_cost`` and ``likelihood_cost`` in nats
            over all pictures, means over each epoch; ``complexity_cost`` is without ``kl_weight``.
        problem: The pictures and the settings of the training.
    """

    network: ConvNet
    built: Built
    history: dict[str, Array]
    problem: Problem

    def cost(self, n_draws: int = 30, seed: int = 1) -> FreeEnergy:
        """Return the two parts of F on all training pictures: exact KL, estimated likelihood cost.

        Args:
            n_draws: Number of draws of the weights, >= 1.
            seed: Seed of the draws.

        Raises:
            ValueError: ``n_draws`` < 1 or ``seed`` < 0.
        """
        log_p = self.log_predict(self.problem.x, n_draws, seed)  # [s, n, classes]
        labels = self.problem.labels[None, :, None]
        likelihood = -float(np.take_along_axis(log_p, labels, axis=-1).sum(axis=1).mean())
        std = self.std + np.finfo(np.float32).eps  # as TFP's layers have it
        complexity = gaussian_kl(self.mean, std, 0.0, self.network.prior_std).sum()
        return FreeEnergy(float(complexity), likelihood, self.problem.kl_weight)

    def refined(self) -> Fit:
        """Return a copy trained for as many epochs again, or for 1000 steps if that is more.

        Raises:
            DivergedError: The free energy became NaN or infinite.
        """
        o = self.problem
        least = -(-_LEAST_STEPS // -(-len(o.labels) // o.batch_size))
        problem = o._replace(epochs=max(o.epochs, least), seed=o.seed + _OTHER_ORDERS)
        return _trained(self.network, self._copy(), problem)

    def _copy(self) -> Built:
        built = self.network.build()
        built.model.set_weights(self.built.model.get_weights())
        return built

    @property
    def mean(self) -> Array:
        """Return μ of each random weight ``[n_weights]``: kernels, layer by layer."""
        return np.concatenate([mu.numpy().ravel() for mu, _ in self.built.gaussians])

    @property
    def std(self) -> Array:
        """Return σ of each random weight ``[n_weights]``."""
        stds = [tf.nn.softplus(rho).numpy().ravel() for _, rho in self.built.gaussians]
        return np.concatenate(stds)

    @property
    def signal_to_noise(self) -> Array:
        """Return |μ|/σ of each random weight ``[n_weights]``; pruning starts at the smallest."""
        return np.abs(self.mean) / self.std

    def predict(self, images: ArrayLike, n_samples: int = 30, seed: int = 1) -> Array:
        """Return the class probabilities ``[s, n, classes]`` of networks drawn from the posterior.

        Args:
            images: ``[n, height, width]``, pixels in [0, 1].
            n_samples: Number of draws S, >= 1.
            seed: Seed of the draws; the first draws of a larger S are those of a smaller one.

        Raises:
            ValueError: The pictures do not fit the network, S < 1, or ``seed`` < 0.
        """
        return np.exp(self.log_predict(images, n_samples, seed))

    def log_predict(self, images: ArrayLike, n_samples: int = 30, seed: int = 1) -> Array:
        """Return the logarithm of :meth:`predict`, finite even where a probability rounds to 0."""
        return np.asarray(log_softmax(self.logits(images, n_samples, seed), axis=-1))

    def logits(self, images: ArrayLike, n_samples: int = 30, seed: int = 1) -> Array:
        """Return the logits ``[s, n, classes]`` whose softmax is :meth:`predict`."""
        x = _pictures(images, self.network.image_shape)
        s, seed = checks.count("n_samples", n_samples), checks.count("seed", seed, 0)
        logits = np.empty((s, len(x), self.network.n_classes))
        for i in range(s):
            self.built.draw.assign(_key(seed, _PREDICTION, i))
            for start in range(0, len(x), _CHUNK):  # all chunks of one draw see the same weights
                logits[i, start : start + _CHUNK] = self.built.logits(x[start : start + _CHUNK])
        return logits

    def pruned(self, fraction: float) -> Fit:
        """Return a copy without the given fraction of the weights, lowest |μ|/σ first.

        Pruned weights get μ = 0 and a negligible σ; their number is rounded down.

        Args:
            fraction: Share of the weights to prune, in [0, 1].

        Raises:
            ValueError: The fraction is out of range.
        """
        ratio = self.signal_to_noise
        n_out = int(checks.probability("fraction", fraction) * ratio.size)
        out = np.zeros(ratio.size, dtype=bool)
        out[np.argsort(ratio, kind="stable")[:n_out]] = True
        built = self._copy()
        for mu, rho in built.gaussians:
            gone, out = np.split(out, [mu.shape.num_elements()])
            gone = gone.reshape(mu.shape)
            mu.assign(tf.where(gone, 0.0, mu))
            rho.assign(tf.where(gone, _NO_SPREAD, rho))
        return replace(self, built=built)


@one_line
@dataclass(frozen=True)
class Ensemble:
    """Several classifiers of pictures, averaged with equal weights."""

    members: tuple[Fit, ...]

    def predict(self, images: ArrayLike, n_samples: int = 1, seed: int = 1) -> Array:
        """Return the class probabilities of each member ``[members · n_samples, n, classes]``.

        Args:
            images: ``[n, height, width]``, pixels in [0, 1].
            n_samples: Draws of each member, >= 1; all draws of an ordinary network are equal.
            seed: Seed of the draws.
        """
        return np.exp(self.log_predict(images, n_samples, seed))

    def log_predict(self, images: ArrayLike, n_samples: int = 1, seed: int = 1) -> Array:
        """Return the logarithms of the class probabilities ``[members · n_samples, n, classes]``.

        Args:
            images: ``[n, height, width]``, pixels in [0, 1].
            n_samples: Draws of each member, >= 1; all draws of an ordinary network are equal.
            seed: Seed of the draws.

        Raises:
            ValueError: The pictures do not fit the networks, ``n_samples`` < 1, or ``seed`` < 0.
        """
        each = [one.log_predict(images, n_samples, seed) for one in self.members]
        return np.concatenate(each)
