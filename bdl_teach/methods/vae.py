"""The variational autoencoder: a decoder p(x | z), and an encoder q(z | x) fitted with it.

p(z) = N(0, I); a network gives μ and σ of q(z | x) = N(μ(x), diag σ(x)²); another gives p(x | z).
Together they minimise −E_q[log p(x | z)] + β KL[q(z | x) ‖ p(z)] in nats per example, −ELBO if
β = 1, with z = μ + σ ⊙ ε. A plain autoencoder has neither the noise ε nor the KL.

Source: Kingma & Welling 2014, "Auto-encoding variational Bayes", eq. 7-10; Higgins et al. 2017
for β.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from bdl_teach import optimise
from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, as_float, tf, tfd
from bdl_teach.densities import gaussian_kl
from bdl_teach.elbo import FreeEnergy
from bdl_teach.methods._fitted import Variational
from bdl_teach.mlp import MLP

LIKELIHOODS = ("bernoulli", "gaussian")
REMEDY = "lower the learning rate; for likelihood='gaussian', decoder_std may also be too small"
_OTHER_MINIBATCHES = 10**6  # added to the seed of a fit when its training continues
_MIN_STD = 1e-6  # keeps log σ finite


class Model(NamedTuple):
    """The two networks, and the likelihood of the decoder.

    Attributes:
        encoder: Maps x to μ and ρ, ``[n, 2 latent_dim]``; σ = softplus(ρ) + 10⁻⁶.
        decoder: Maps z to logits (Bernoulli) or means (Gaussian), ``[m, d]``.
        likelihood: One of ``LIKELIHOODS``.
    """

    encoder: MLP
    decoder: MLP
    likelihood: str

    def encode(self, weights: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return mean and standard deviation of q(z | x), ``[n, latent]`` each."""
        mean, rho = tf.split(self.encoder(weights, x), 2, axis=-1)
        return mean, tf.nn.softplus(rho) + _MIN_STD

    def decode(self, weights: Tensor, z: Tensor) -> Tensor:
        """Return the mean of p(x | z) for z ``[m, latent]``: ``[m, d]``."""
        out = self.decoder(weights, z)
        return tf.sigmoid(out) if self.likelihood == "bernoulli" else out

    def log_likelihood(self, weights: Tensor, x: Tensor, z: Tensor, decoder_std: Tensor) -> Tensor:
        """Return log p(x | z) for x ``[n, d]`` and z ``[s, n, latent]``: nats ``[s, n]``.

        For grey pixels the Bernoulli gives the cross-entropy, which is no log probability.
        """
        s, n, latent = z.shape
        out = self.decoder(weights, tf.reshape(z, [s * n, latent]))
        out = tf.reshape(out, [s, n, x.shape[-1]])
        if self.likelihood == "bernoulli":
            each = x * out - tf.nn.softplus(out)
        else:
            each = tfd.Normal(out, decoder_std).log_prob(x)
        return tf.reduce_sum(each, axis=-1)  # [s, n, d] -> [s, n]


def make_model(d: int, latent_dim: int, hidden_units: tuple[int, ...], likelihood: str) -> Model:
    """Build the two networks; the decoder has the encoder's hidden layers in reverse."""
    checks.choice("likelihood", likelihood, LIKELIHOODS)
    latent = checks.count("latent_dim", latent_dim)
    widths = checks.layer_widths("hidden_units", hidden_units)
    return Model(MLP(d, widths, 2 * latent), MLP(latent, widths[::-1], d), likelihood)


def starting_weights(model: Model, seed: int, start: Fit | None = None) -> list[Array]:
    """Return the weights of ``start``, or weights drawn from N(0, 1/fan-in) with biases of 0."""
    if start is not None:
        if start.model != model:
            raise ValueError(f"start: expected a fit of {model}, got one of {start.model}")
        return [start.encoder_weights, start.decoder_weights]
    rng, found = np.random.default_rng(seed), []
    for network in (model.encoder, model.decoder):
        layers = [rng.standard_normal(shape) * (shape[1] ** -0.5) for shape in network.shapes]
        layers[1::2] = [np.zeros_like(bias) for bias in layers[1::2]]
        found.append(np.concatenate([layer.ravel() for layer in layers]))
    return found


class Problem(NamedTuple):
    """The data and settings of a training, which ``Fit.cost`` and ``Fit.refined`` use again."""

    x: Array  # [n, d]
    beta: float
    seed: int
    same: dict[str, Any]  # further arguments of :func:`fit` that a continued training shares


class _LoopInputs(NamedTuple):
    """The tensors that the training program takes besides starting weights and a schedule."""

    x: Tensor  # [n, d]
    beta: Tensor
    decoder_std: Tensor
    noise: Tensor  # factor on ε: 1, or 0 for the plain autoencoder
    seed: Tensor


def kl_from_prior(mean: ArrayLike, std: ArrayLike) -> Array:
    """Return KL[N(mean, diag std²) ‖ N(0, I)] in nats ``[n]``, summed over the coordinates of z.

    Args:
        mean: ``[n, latent]``.
        std: ``[n, latent]``, > 0.

    Source: Kingma & Welling 2014, appendix B.
    """
    return np.asarray(gaussian_kl(mean, std, 0.0, 1.0).sum(axis=-1))


def sampled_kl(eps: Tensor, std: Tensor, z: Tensor) -> Tensor:
    """Return log q(z | x) − log p(z) at z = μ + σ ⊙ ε, in nats ``[s, n]``: its mean is the KL."""
    return tf.reduce_sum((z**2 - eps**2) / 2 - tf.math.log(std), axis=-1)


def _loss(
    model: Model, weights: Tensor, step: Tensor, p: _LoopInputs, sizes: tuple[int, int]
) -> tuple[Tensor, Tensor]:
    """Return a minibatch's loss, −reconstruction + β KL, and [ELBO, reconstruction, KL].

    All are nats per example. ``sizes`` is (examples in the batch, draws of z for each example).

    Source: Kingma & Welling 2014, eq. 7, averaged over the batch.
    """
    batch_size, n_samples = sizes
    key = tf.stack([p.seed, 2 * tf.cast(step, tf.int64)])
    row = tf.random.stateless_uniform([batch_size], key, 0, p.x.shape[0], tf.int32)
    eps_shape = [n_samples, batch_size, model.decoder.n_inputs]
    eps = p.noise * tf.random.stateless_normal(eps_shape, key + tf.constant([0, 1], tf.int64))
    x = tf.gather(p.x, row)  # [n, d]
    mean, std = model.encode(weights[0], x)
    z = mean + std * eps  # [s, n, latent]
    reconstruction = tf.reduce_mean(model.log_likelihood(weights[1], x, z, p.decoder_std))
    each = tfd.kl_divergence(tfd.Normal(mean, std), tfd.Normal(0.0, 1.0))
    kl = tf.reduce_mean(tf.reduce_sum(each, -1))
    return p.beta * kl - reconstruction, tf.stack([reconstruction - kl, reconstruction, kl])


@lru_cache(maxsize=16)
def _program(model: Model, batch_size: int, n_samples: int) -> Compiled:
    """Compile the training loop; data of another shape compile it again."""

    def run(starts: Tensor, schedule: optimise.Schedule, inputs: _LoopInputs) -> Tensor:
        def objective(weights: Tensor, step: Tensor, _: Tensor) -> tuple[Tensor, Tensor]:
            return _loss(model, weights, step, inputs, (batch_size, n_samples))

        return optimise.adam(objective, starts, schedule, keep_path=True)

    return Compiled(run)


def fit(
    x: ArrayLike,
    *,
    latent_dim: int = 2,
    beta: float = 1.0,
    likelihood: str = "bernoulli",
    decoder_std: float = 1.0,
    hidden_units: tuple[int, ...] = (128, 64),
    steps: int = 2000,
    batch_size: int = 100,
    learning_rate: float = 0.004,
    n_samples: int = 1,
    cooldown: float = 0.25,
    seed: int = 0,
    variational: bool = True,
    start: Fit | None = None,
) -> Fit:
    """Fit a variational autoencoder.

    Args:
        x: Data ``[n, d]``; in [0, 1] for the Bernoulli likelihood.
        latent_dim: Coordinates of the code z.
        beta: Factor on the KL term, >= 0; 1 is the ELBO.
        likelihood: ``"bernoulli"`` or ``"gaussian"``.
        decoder_std: Standard deviation of x given z, > 0, in the units of x (Gaussian only).
        hidden_units: Hidden ReLU layers of the encoder; the decoder has them in reverse.
        steps: Adam steps.
        batch_size: Examples a step, drawn with replacement.
        learning_rate: Adam step size, > 0.
        n_samples: Draws of z for each example of a step.
        cooldown: Share of the steps, at the end, over which the learning rate falls to 0.
        seed: Seed of the starting point, the minibatches and ε.
        variational: False fits a plain autoencoder, as :func:`fit_autoencoder` does.
        start: A fit with networks of the same sizes, from whose weights to start.

    Returns:
        A :class:`Fit`.

    Raises:
        ValueError: An argument is out of range.
        DivergedError: The loss became NaN or infinite.
    """
    x = checked_data(x, likelihood)
    model = make_model(x.shape[1], latent_dim, hidden_units, likelihood)
    batch = checks.count("batch_size", batch_size), checks.count("n_samples", n_samples)
    program = _program(model, *batch)
    schedule = optimise.schedule(steps, learning_rate, cooldown)
    seed = checks.count("seed", seed, 0)
    inputs = _LoopInputs(
        x=as_float(x),
        beta=as_float(checks.non_negative("beta", beta) * variational, "beta"),
        decoder_std=as_float(checks.positive("decoder_std", decoder_std), "decoder_std"),
        noise=as_float(variational),
        seed=tf.constant(seed, tf.int64),
    )
    starts = [as_float(weights) for weights in starting_weights(model, seed, start)]
    trace = program(starts, schedule, inputs)
    names = ("elbo", "reconstruction", "kl")
    history = optimise.history(trace, names, REMEDY)
    if not variational:  # without a posterior there is no KL
        del history["elbo"], history["kl"]
    encoder, decoder = (weights.numpy().astype(np.float64) for weights in trace.parameters)
    same = {"latent_dim": latent_dim, "hidden_units": hidden_units, "batch_size": batch_size}
    same |= {"likelihood": likelihood, "decoder_std": decoder_std, "variational": variational}
    problem = Problem(x, float(beta), seed, same)
    std, path = float(decoder_std), optimise.path(trace)
    return Fit(model, encoder, decoder, std, bool(variational), history, problem, path)


def fit_autoencoder(x: ArrayLike, **settings: Any) -> Fit:
    """Fit a plain autoencoder: the two networks of a VAE, but z = μ(x), and no KL term.

    Args:
        x: Data ``[n, d]``; in [0, 1] for the Bernoulli likelihood.
        **settings: What :func:`fit` takes; ``beta`` has no effect.

    Returns:
        A :class:`Fit`. Its ``sample`` decodes z ~ N(0, I), but the codes of data are not N(0, I).
    """
    return fit(x, **{**settings, "variational": False})


def checked_data(x: ArrayLike, likelihood: str) -> Array:
    """Check that data are finite, and in [0, 1] for the Bernoulli; return them as ``[n, d]``."""
    array = checks.resolved_in_float32("x", checks.inputs("x", x))
    low, high = array.min(), array.max()
    if likelihood == "bernoulli" and (low < 0 or high > 1):
        raise ValueError(
            f"x: expected numbers in [0, 1] for the Bernoulli likelihood, got [{low:g}, {high:g}]"
        )
    return array


@one_line
@dataclass(frozen=True)
class Fit(Variational):
    """A fitted variational autoencoder, or a plain autoencoder.

    Attributes:
        decoder_std: Standard deviation of each x given z (Gaussian likelihood only).
        variational: False for a plain autoencoder: z is not random, and there is no KL.
        history: ``step``, ``elbo``, ``reconstruction``, ``kl``: nats per example, each from the
            minibatch of one step; without ``elbo`` and ``kl`` for a plain autoencoder.
        problem: The training data, and some settings of the training.
        path: Frames of the training, see :meth:`at`; ``None`` if the networks are too large.
    """

    model: Model
    encoder_weights: Array
    decoder_weights: Array
    decoder_std: float
    variational: bool
    history: dict[str, Array]
    problem: Problem
    path: optimise.Path | None = field(default=None, repr=False)

    def at(self, frame: int) -> Fit:
        """Return the fit as it was at a frame of its training, after ``path.steps[frame]`` steps.

        The history stays that of the whole training.

        Args:
            frame: 0 for the start, −1 for the end.

        Raises:
            ValueError: There is no such frame, or no path.
        """
        path = optimise.with_frame(self.path, frame)
        encoder, decoder = (weights[frame].astype(np.float64) for weights in path.parameters)
        return replace(self, encoder_weights=encoder, decoder_weights=decoder)

    def cost(self, n_draws: int = 10, seed: int = 1) -> FreeEnergy:
        """Estimate the two parts of −ELBO on all training data: KL and reconstruction cost.

        Each example has its own draws of z, so that ten for each are enough.

        Args:
            n_draws: Draws of z for each example, >= 1.
            seed: Seed of the draws.

        Raises:
            ValueError: A count is out of range, or this is a plain autoencoder.
        """
        _, reconstruction, kl = self.elbo(self.problem.x, n_draws, seed)
        return FreeEnergy(float(kl.sum()), -float(reconstruction.sum()), self.problem.beta)

    def refined(self, steps: int = 2000, learning_rate: float = 0.002) -> Fit:
        """Continue training from this fit, with new minibatches, at a rate that falls to 0.

        Args:
            steps: Adam steps.
            learning_rate: First Adam step size, > 0.

        Raises:
            ValueError: An argument is out of range.
            DivergedError: The loss became NaN or infinite.
        """
        o = self.problem
        rate = {**o.same, "learning_rate": learning_rate, "cooldown": 1.0}
        seed = o.seed + _OTHER_MINIBATCHES
        return fit(o.x, beta=o.beta, seed=seed, steps=steps, start=self, **rate)

    @property
    def latent_dim(self) -> int:
        """Return the number of coordinates of the code."""
        return self.model.decoder.n_inputs

    def encode(self, x: ArrayLike) -> tuple[Array, Array]:
        """Return mean and standard deviation of q(z | x), ``[n, latent]`` each.

        The standard deviation is 0 in a plain autoencoder.

        Args:
            x: ``[n, d]``.

        Raises:
            ValueError: x does not fit the encoder.
        """
        x = tf.constant(checks.inputs("x", x, self.model.encoder.n_inputs))
        mean, std = self.model.encode(tf.constant(self.encoder_weights), x)
        return mean.numpy(), std.numpy() * self.variational

    def decode(self, z: ArrayLike) -> Array:
        """Return the mean of p(x | z), ``[m, d]``, for codes z ``[m, latent]``."""
        z = tf.constant(checks.inputs("z", z, self.latent_dim))
        return np.asarray(self.model.decode(tf.constant(self.decoder_weights), z))

    def sample(self, n: int, seed: int = 0) -> Array:
        """Generate x ``[n, d]``: draw z ~ N(0, I) from the prior, and return the mean of p(x | z).

        Args:
            n: Number of samples.
            seed: Seed of z.
        """
        rng = np.random.default_rng(checks.count("seed", seed, 0))
        return self.decode(rng.standard_normal((checks.count("n", n), self.latent_dim)))

    def elbo(self, x: ArrayLike, n_samples: int = 100, seed: int = 1) -> Elbo:
        """Estimate the ELBO of each example, and its two parts: reconstruction and KL.

        Args:
            x: ``[n, d]``.
            n_samples: Draws of z for each example, >= 1.
            seed: Seed of the draws.

        Raises:
            ValueError: An argument is out of range, or this is a plain autoencoder.
        """
        x = checks.inputs("x", x, self.model.encoder.n_inputs)
        rng = np.random.default_rng(checks.count("seed", seed, 0))
        eps = rng.standard_normal((checks.count("n_samples", n_samples), len(x), self.latent_dim))
        # one draw at a time: little memory
        parts = [self.elbo_draws(x, row[None])[0] for row in eps]
        reconstruction, kl = np.concatenate(parts).mean(axis=0), kl_from_prior(*self.encode(x))
        return Elbo(reconstruction - kl, reconstruction, kl)

    def elbo_draws(self, x: ArrayLike, eps: ArrayLike) -> tuple[Array, Array]:
        """Return reconstruction and KL of each example at z = μ + σ ⊙ ε, for given ε.

        Args:
            x: ``[n, d]``.
            eps: ``[s, n, latent]``.

        Returns:
            (log p(x | z), log q(z | x) − log p(z)), nats ``[s, n]`` each.

        Raises:
            ValueError: The shapes do not fit, or this is a plain autoencoder.
        """
        if not self.variational:
            raise ValueError("elbo: expected a VAE, got a plain autoencoder, whose KL is infinite")
        x, eps = checks.inputs("x", x, self.model.encoder.n_inputs), checks.finite("eps", eps)
        if eps.shape[1:] != (len(x), self.latent_dim):
            wanted = f"[s, {len(x)}, {self.latent_dim}]"
            raise ValueError(f"eps: expected shape {wanted}, got {eps.shape}")
        mean, std = self.encode(x)
        z = tf.constant(mean + std * eps)  # [s, n, latent]
        likelihood = self.model.log_likelihood(
            tf.constant(self.decoder_weights), tf.constant(x), z, self.decoder_std
        )
        return likelihood.numpy(), sampled_kl(eps, std, z).numpy()


class Elbo(NamedTuple):
    """The evidence lower bound and its parts, in nats per example.

    Attributes:
        elbo: reconstruction − kl ``[n]``, whatever β the model was fitted with.
        reconstruction: E_q[log p(x | z)] ``[n]``.
        kl: KL[q(z | x) ‖ p(z)] ``[n]``.
    """

    elbo: Array
    reconstruction: Array
    kl: Array
