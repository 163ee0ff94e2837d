"""The predictive distributions that methods return."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtr, ndtri

from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach._support.compiled import Compiled, padded_size
from bdl_teach._support.one_line import one_line
from bdl_teach.backend import Tensor, tf
from bdl_teach.densities import HALF_LOG_TWO_PI
from bdl_teach.mlp import MLP

_BLOCK = 50  # draws evaluated at a time: 50 networks on 1000 points stay in the processor's cache
_BLOCKS = 5  # of one run of the program


@one_line
@dataclass(frozen=True)
class Predictive:
    """The predictive distribution of y at m test inputs.

    Attributes:
        mean: Predictive mean ``[m]``, in the units of y.
        epistemic_std: Standard deviation of the network output over the posterior ``[m]``.
        aleatoric_std: Standard deviation of the observation noise ``[m]``: √E[σ²] of its draws.
        samples: Network outputs of s posterior draws ``[s, m]``, or ``None`` for a Gaussian
            predictive.
        noise_draws: σ of the noise of each draw, ``[s, 1]`` or by x ``[s, m]``, if it is learnt.
    """

    mean: Array
    epistemic_std: Array
    aleatoric_std: Array
    samples: Array | None = None
    noise_draws: Array | None = None

    @classmethod
    def from_samples(cls, samples: ArrayLike, noise_std: ArrayLike) -> Predictive:
        """Build the predictive from network outputs ``[s, m]`` and the noise's standard deviation.

        ``noise_std`` is one number, that of each draw ``[s]``, or of each draw and x ``[s, m]``.

        Raises:
            ValueError: ``samples`` is not ``[s, m]`` with s >= 1, or ``noise_std`` is < 0 or has
                another shape.
        """
        samples = _outputs("samples", samples)
        if isinstance(noise_std, np.ndarray) and noise_std.ndim:
            draws = checks.finite("noise_std", noise_std)
            if draws.shape not in (samples.shape[:1], samples.shape) or (draws < 0).any():
                expected = f"numbers >= 0 of shape {samples.shape[:1]} or {samples.shape}"
                raise ValueError(f"noise_std: expected {expected}, got shape {draws.shape}")
            draws = draws.reshape(len(samples), -1)
            noise = np.broadcast_to(np.sqrt(np.mean(draws**2, axis=0)), samples.shape[1:])
            return cls(samples.mean(axis=0), samples.std(axis=0), noise, samples, draws)
        noise = np.full(
            samples.shape[1], checks.non_negative("noise_std", cast("float", noise_std))
        )
        return cls(samples.mean(axis=0), samples.std(axis=0), noise, samples)

    @property
    def _noise(self) -> Array:
        return self.aleatoric_std if self.noise_draws is None else self.noise_draws

    @property
    def total_std(self) -> Array:
        """Return √(epistemic² + aleatoric²), the standard deviation of a new y, ``[m]``."""
        return np.hypot(self.epistemic_std, self.aleatoric_std)

    @property
    def mc_error(self) -> Array:
        """Return the Monte-Carlo standard error of ``mean``, ``[m]``; 0 without ``samples``."""
        if self.samples is None:
            return np.zeros_like(self.mean)
        return self.epistemic_std / math.sqrt(max(len(self.samples) - 1, 1))

    def log_prob(self, y: ArrayLike) -> Array:
        """Return the log predictive density log 1/S Σ_s N(y | f_s, σ_s²), in nats ``[m]``.

        Args:
            y: Targets ``[m]`` or ``[m, 1]``.

        Raises:
            ValueError: y does not have one finite target for each input.
        """
        y = self.targets(y)
        if self.samples is None:
            return _log_normal(y, self.mean, self.total_std)
        each = _log_normal(y, self.samples, self._noise)  # [s, m]
        return np.asarray(np.logaddexp.reduce(each) - math.log(len(self.samples)))

    def interval(self, level: float = 0.95) -> tuple[Array, Array]:
        """Return the central interval that contains a new *noisy* y with probability ``level``.

        Args:
            level: Probability, inside (0, 1).

        Returns:
            Lower and upper ends, each ``[m]``.

        Raises:
            ValueError: ``level`` is not inside (0, 1).
        """
        tail = (1 - checks.level(level)) / 2
        return self._quantile(tail), self._quantile(1 - tail)

    def targets(self, y: ArrayLike) -> Array:
        """Return targets as an array ``[m]``, or raise ``ValueError``."""
        y = checks.finite("y", y)
        if y.shape not in ((len(self.mean),), (len(self.mean), 1)):
            raise ValueError(f"y: expected shape ({len(self.mean)},), got {y.shape}")
        return np.asarray(y.ravel())

    def _quantile(self, p: float) -> Array:
        if self.samples is None:
            return np.asarray(self.mean + ndtri(p) * self.total_std)
        if not self.aleatoric_std.any():
            return np.asarray(np.quantile(self.samples, p, axis=0))
        each = self.samples + ndtri(p) * self._noise  # each component's own quantile brackets it
        low, high = each.min(axis=0), each.max(axis=0)
        for _ in range(40):  # bisection on the mixture's distribution function
            middle = (low + high) / 2
            below = self.below(middle) < p
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return np.asarray((low + high) / 2)

    def below(self, y: Array) -> Array:
        """Return for each input the probability that a new target is at most ``y``, ``[m]``."""
        if self.samples is None:
            return np.asarray(ndtr((y - self.mean) / self.total_std))
        beyond, noisy = y - self.samples, self._noise > 0
        smooth = ndtr(beyond / np.where(noisy, self._noise, 1.0))
        return np.asarray(np.where(noisy, smooth, beyond >= 0).mean(axis=0))


@one_line
@dataclass(frozen=True)
class BernoulliPredictive(Predictive):
    """The predictive distribution of a binary classifier.

    ``samples`` [s, m] holds P(y = 1) under each draw of the weights, p_s, and ``mean`` [m] is its
    mean p̄ over the draws. The variance of y is p̄(1 − p̄) = Var_s[p_s] + mean_s[p_s(1 − p_s)],
    epistemic plus aleatoric.
    """

    @classmethod
    def from_logits(cls, logits: ArrayLike) -> BernoulliPredictive:
        """Build the predictive from network outputs ``[s, m]``, the logits of P(y = 1).

        Raises:
            ValueError: ``logits`` is not ``[s, m]`` with s >= 1.
        """
        p = expit(_outputs("logits", logits))
        noise = np.sqrt((p * (1 - p)).mean(axis=0))
        return cls(p.mean(axis=0), p.std(axis=0), noise, p)

    @property
    def probability(self) -> Array:
        """Return P(y = 1 | x, D) ``[m]``: the mean of sigmoids, not the sigmoid of a mean."""
        return self.mean

    def log_prob(self, y: ArrayLike) -> Array:
        """Return the log probability of each label, in nats ``[m]``.

        Args:
            y: Labels, 0 or 1, ``[m]`` or ``[m, 1]``.

        Raises:
            ValueError: y does not have one label 0 or 1 for each input.
        """
        y = self.targets(y)
        if not np.isin(y, (0.0, 1.0)).all():
            raise ValueError(f"y: expected labels 0 and 1, got {np.unique(y)[:5]}")
        with np.errstate(divide="ignore"):
            return np.log(np.where(y == 1, self.mean, 1 - self.mean))

    def below(self, y: Array) -> Array:
        """Return for each input the probability that a new label is at most ``y``, ``[m]``."""
        return np.asarray((1 - self.mean) * (y >= 0) + self.mean * (y >= 1))

    def _quantile(self, p: float) -> Array:
        return np.asarray(p > 1 - self.mean, dtype=np.float64)


def _outputs(name: str, value: ArrayLike) -> Array:
    """Return ``value`` as float64; raise ``ValueError`` unless its shape is ``[s, m]``, s >= 1."""
    outputs = np.asarray(value, dtype=np.float64)
    if outputs.ndim != 2 or not len(outputs):
        raise ValueError(f"{name}: expected shape [s, m] with s >= 1, got {outputs.shape}")
    return outputs


def _log_normal(y: Array, mean: Array, std: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        log_density = -0.5 * ((y - mean) / std) ** 2 - np.log(std) - HALF_LOG_TWO_PI
    return np.where(std > 0, log_density, np.where(y == mean, np.inf, -np.inf))


def draw_weights(mean: Array, std: Array, n_samples: int, seed: int) -> Array:
    """Draw weight vectors from N(mean, std²): ``[s, n_weights]``.

    Args:
        mean: Means of the weights ``[n_weights]``.
        std: Standard deviations of the weights ``[n_weights]``.
        n_samples: Number of draws S.
        seed: Seed of the draws. The first S draws are the same for every larger S.
    """
    eps = _prediction_noise(len(mean), padded_size(n_samples), seed)[:n_samples]
    return np.asarray(mean + std * eps)


def evaluate_weights(network: MLP, weights: Array, x: Array) -> Array:
    """Return network outputs ``[s, m]`` for ``weights`` [s, n_weights] at ``x`` [m, d].

    Those of a network of two outputs are ``[s, m, 2]``.

    Zeros are added to both, so that the program is rarely compiled for a new size: each of its
    runs takes 250 weight vectors, and a number of inputs that is a power of two.
    """
    n, m, evaluator = len(weights), len(x), _evaluator(network)
    inputs = tf.constant(np.pad(x, ((0, padded_size(m) - m), (0, 0))), tf.float32)
    padded = np.pad(weights, ((0, -n % (_BLOCKS * _BLOCK)), (0, 0)))
    outputs = []
    for i, run in enumerate(padded.reshape(-1, _BLOCKS, _BLOCK, padded.shape[1])):
        n_blocks = min(_BLOCKS, math.ceil(n / _BLOCK) - i * _BLOCKS)
        blocks = tf.constant(run, tf.float32)
        outputs.append(np.asarray(evaluator(blocks, inputs, tf.constant(n_blocks))))
    return np.concatenate(outputs)[:n, :m]


@lru_cache(maxsize=32)
def _evaluator(network: MLP) -> Compiled:
    """Return a compiled function of (weights, x, n_blocks) that evaluates the network.

    ``weights`` are ``[blocks, size, n_weights]``. The outputs are ``[blocks · size, m]``, or
    ``[blocks · size, m, 2]``: 0 for all blocks but the first ``n_blocks``.
    """
    heads = () if network.n_outputs == 1 else (network.n_outputs,)

    def evaluate(weights: Tensor, x: Tensor, n_blocks: Tensor) -> Tensor:
        def block(i: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
            f = network(weights[i], x)  # [block, m, outputs]
            f = f if heads else f[..., 0]
            return i + 1, tf.tensor_scatter_nd_update(out, [[i]], f[None])

        out = tf.zeros([*weights.shape[:2], x.shape[0], *heads], weights.dtype)
        _, out = tf.while_loop(lambda i, _: i < n_blocks, block, (tf.constant(0), out))
        return tf.reshape(out, [-1, x.shape[0], *heads])

    return Compiled(evaluate)


@lru_cache(maxsize=8)
def _prediction_noise(n_weights: int, n_rows: int, seed: int) -> Array:
    """Draw standard normal numbers ``[n_rows, n_weights]``; no row depends on ``n_rows``."""
    rng = np.random.default_rng([seed, 0x5EED])
    return rng.standard_normal((n_rows, n_weights), dtype=np.float32)
