"""Log densities and KL divergences, in nats.

For numbers and arrays the functions return NumPy arrays in float64, for tensors a tensor of the
same dtype. With tensors they can be differentiated and compiled.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, wraps
from inspect import signature
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from bdl_teach._support import checks
from bdl_teach._support.checks import Array
from bdl_teach.backend import Tensor, Values, tf, tfd

HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_NODES, _SHARES = np.polynomial.legendre.leggauss(96)


def numpy_or_tensor(function: Callable[..., Values]) -> Callable[..., Values]:
    """Decorate a function of tensors so that it also maps numbers and arrays to float64 arrays."""
    parameters = signature(function)

    @wraps(function)
    def wrapper(*positional: Values, **named: Values) -> Values:
        arguments = parameters.bind(*positional, **named).args
        dtypes = [a.dtype for a in arguments if tf.is_tensor(a)]
        if dtypes:
            return function(*(tf.convert_to_tensor(a, dtypes[0]) for a in arguments))
        doubles = [tf.constant(np.asarray(a, dtype=np.float64)) for a in arguments]
        try:
            result = function(*doubles)
        except tf.errors.InvalidArgumentError:
            shapes = ", ".join(
                f"{name} {tuple(a.shape)}"
                for name, a in zip(parameters.parameters, doubles, strict=False)
            )
            raise ValueError(f"arguments: expected shapes that broadcast, got {shapes}") from None
        return tf.nest.map_structure(lambda t: t.numpy(), result)

    return wrapper


@numpy_or_tensor
def gaussian_kl(mu_q: Values, sigma_q: Values, mu_p: Values, sigma_p: Values) -> Values:
    """Return KL[N(mu_q, sigma_q²) ‖ N(mu_p, sigma_p²)], elementwise.

    Formula: log(σ_p/σ_q) + (σ_q² + (μ_q − μ_p)²) / (2 σ_p²) − ½.

    Args:
        mu_q: Mean of q.
        sigma_q: Standard deviation of q, > 0.
        mu_p: Mean of p.
        sigma_p: Standard deviation of p, > 0; all shapes broadcast.

    Returns:
        Nats, >= 0.

    Raises:
        ValueError: A standard deviation given as a number or array is not > 0.

    Source: Kingma & Welling 2014, appendix B, for a general p.
    """
    _positive_values("sigma_q", sigma_q)
    _positive_values("sigma_p", sigma_p)
    return tfd.kl_divergence(tfd.Normal(mu_q, sigma_q), tfd.Normal(mu_p, sigma_p))


@numpy_or_tensor
def gaussian_nll(y: Values, mean: Values, var: Values) -> Values:
    """Return −log N(y | mean, var) = ½ [log 2π·var + (y − mean)²/var], elementwise.

    Args:
        y: Observations.
        mean: Predicted means.
        var: Predicted *variances*, > 0; all shapes broadcast.

    Returns:
        Nats.

    Raises:
        ValueError: A variance given as a number or array is not > 0.
    """
    _positive_values("var", var)
    return -tfd.Normal(mean, tf.sqrt(var)).log_prob(y)


@numpy_or_tensor
def scale_mixture_log_prob(w: Values, sigma1: Values, sigma2: Values, pi: Values) -> Values:
    """Return the log density of π N(w | 0, σ₁²) + (1 − π) N(w | 0, σ₂²), elementwise.

    The two densities are added by log-sum-exp, so that the result is finite for every finite w.
    The densities themselves would be 0 in float32 from |w| = 21.4 on for σ₁ = 1.5.

    Args:
        w: Weights, any shape.
        sigma1: Standard deviation of the first component, > 0.
        sigma2: Standard deviation of the second component, > 0.
        pi: Weight of the first component, in [0, 1].

    Returns:
        Nats, of the shape of ``w``.

    Raises:
        ValueError: A parameter given as a number is out of range.

    Source: Blundell et al. 2015, eq. 7 (per weight).
    """
    _positive_values("sigma1", sigma1)
    _positive_values("sigma2", sigma2)
    if tf.executing_eagerly() and not bool(tf.reduce_all((pi >= 0) & (pi <= 1))):
        raise ValueError(f"pi: expected a number in [0, 1], got {np.asarray(pi)}")
    log_a = _log_component(w, sigma1, pi)
    log_b = _log_component(w, sigma2, 1.0 - pi)
    larger = tf.maximum(log_a, log_b)  # tfp.math.log_add_exp would delay the first fit
    return larger + tf.nn.softplus((log_a - larger) + (log_b - larger))


def _log_component(w: Values, sigma: Values, weight: Values) -> Values:
    largest = math.sqrt(w.dtype.max)  # its square does not overflow
    scaled = tf.clip_by_value(w / sigma, -largest, largest)
    return tf.math.log(weight) - tf.math.log(sigma) - HALF_LOG_TWO_PI - 0.5 * scaled**2


class LogDensityTerms(NamedTuple):
    """A prior's log density as log P(w) = offset − w²/(2 std²) + Σ_j heights_j exp(−½ rates_j w²).

    For a Gaussian w the mean of each term has a closed form: :func:`expected_log_prob`.
    """

    offset: Values  # in nats
    std: Values  # of the wider component
    heights: Values  # [4]; all 0 for a Gaussian prior, for which the form is exact
    rates: Values  # [4], >= 0


_N_BELLS = 4  # exponentials that approximate softplus(a − u); more cost time in every step


@lru_cache(maxsize=64)
def _softplus_bells(a: float) -> tuple[Array, Array]:
    """Return c_j and p_j of the fit softplus(a − u) ≈ Σ_j c_j exp(−p_j u) for u >= 0.

    The largest error is 0.005 for a = 2.7 (the default prior), 0.08 for a = 5, 0.25 for a = 7.3.
    A ridge penalty keeps the c_j small enough for float32.
    """
    rates = min(1.1, 4.0 / max(a, 1.0)) * np.geomspace(1.0, 2.1, _N_BELLS)
    u = np.linspace(0.0, math.sqrt(max(a, 0.0) + 12.0), 300) ** 2
    design = np.exp(-np.outer(u, rates))
    gram = design.T @ design + 1e-8 * np.eye(_N_BELLS)
    return np.asarray(np.linalg.solve(gram, design.T @ np.logaddexp(0.0, a - u))), rates


def expected_log_prob(mean: Tensor, std: Tensor, terms: LogDensityTerms) -> Tensor:
    """Return E[log P(w)] in nats ``[..., d]`` for w ~ N(mean, std²), in closed form, for tensors.

    The mean of an exponential is E exp(−½ k w²) = √r exp(−½ k r mean²) with r = 1/(1 + k std²).

    Args:
        mean: Means of the weights ``[..., d]``.
        std: Standard deviations of the weights ``[..., d]``, >= 0.
        terms: ``prior.terms``, exact for a ``Gaussian``, approximate for a ``ScaleMixture``.
    """
    bell = _expected_bells(mean, std, terms.heights, terms.rates)
    return terms.offset - 0.5 * (mean**2 + std**2) / terms.std**2 + bell


@tf.custom_gradient  # type: ignore[untyped-decorator]
def _expected_bells(mean: Tensor, std: Tensor, heights: Tensor, rates: Tensor) -> Tensor:
    """Return Σ_j heights_j E exp(−½ rates_j w²) for w ~ N(mean, std²), with a fast gradient."""
    shape = [-1] + [1] * len(std.shape)  # the weights come last, for XLA's loops
    k, c = tf.reshape(rates, shape), tf.reshape(heights, shape)
    shrink = 1.0 / (1.0 + k * std**2)  # r [terms, ..., d]
    pull = k * shrink
    each = c * tf.sqrt(shrink) * tf.exp(-0.5 * pull * mean**2)

    def gradient(upstream: Tensor) -> tuple[Tensor, Tensor, None, None]:
        slope = each * pull
        to_mean = -mean * tf.reduce_sum(slope, axis=0)
        to_std = -std * tf.reduce_sum(slope * (1.0 - pull * mean**2), axis=0)
        return upstream * to_mean, upstream * to_std, None, None

    return tf.reduce_sum(each, axis=0), gradient


class _Mixture:
    """Base class of the priors: what follows from the two components of ``mixture``."""

    @property
    def mixture(self) -> tuple[float, float, float]:
        """Return (σ₁, σ₂, π), as the compiled loops take them."""
        raise NotImplementedError

    def density(self, w: Values) -> Array:
        """Return the density of each weight, of the shape of ``w``."""
        return np.asarray(np.exp(np.logaddexp(*self.log_components(w))))

    def log_components(self, w: Values) -> tuple[Array, Array]:
        """Return log(π_i N(w | 0, σ_i²)) of both components i, each of the shape of ``w``."""
        sigma1, sigma2, pi = self.mixture
        with np.errstate(divide="ignore"):  # π = 0 or 1: a component with log weight −inf
            one, other = np.log(np.array([pi, 1.0 - pi]) / (sigma1, sigma2)) - HALF_LOG_TWO_PI
        w = np.asarray(w, dtype=np.float64)
        return one - 0.5 * (w / sigma1) ** 2, other - 0.5 * (w / sigma2) ** 2

    def precision(self, w: Values) -> Array:
        """Return E[1/σ² | w] over the components, of the shape of ``w``; −∂ log P/∂w is it · w."""
        one, other = self.log_components(w)
        share, (sigma1, sigma2, _) = expit(one - other), self.mixture
        return np.asarray(share / sigma1**2 + (1.0 - share) / sigma2**2)


@dataclass(frozen=True)
class ScaleMixture(_Mixture):
    """The scale-mixture prior π N(0, σ₁²) + (1 − π) N(0, σ₂²) on each weight.

    Attributes:
        sigma1: Standard deviation of the wide component, > 0.
        sigma2: Standard deviation of the narrow component, > 0.
        pi: Share of the wide component, in [0, 1].

    Source: Blundell et al. 2015, eq. 7.
    """

    sigma1: float = 1.5
    sigma2: float = 0.1
    pi: float = 0.5

    def __post_init__(self) -> None:
        checks.positive("sigma1", self.sigma1)
        checks.positive("sigma2", self.sigma2)
        checks.probability("pi", self.pi)

    @property
    def std(self) -> float:
        """Return the standard deviation of a weight, √(πσ₁² + (1−π)σ₂²)."""
        return math.sqrt(self.pi * self.sigma1**2 + (1 - self.pi) * self.sigma2**2)

    @property
    def mixture(self) -> tuple[float, float, float]:
        """Return (σ₁, σ₂, π), as the compiled loops take them."""
        return self.sigma1, self.sigma2, self.pi

    @property
    def terms(self) -> LogDensityTerms:
        """Return an approximation of log P(w): a quadratic plus exponentials.

        The quadratic is log(share · density) of the wider component; the exponentials are fitted
        to the rest.
        """
        wide, pi, a, b = self._bump
        if pi == 1.0:
            return Gaussian(wide).terms
        offset = math.log(pi / wide) - HALF_LOG_TWO_PI
        heights, rates = _softplus_bells(a)
        return LogDensityTerms(offset, wide, heights, 2.0 * b * rates)

    @property
    def _bump(self) -> tuple[float, float, float, float]:
        """Return σ₁ > σ₂, π, a, b of log P(w) = log πN(w; 0, σ₁²) + softplus(a − b w²)."""
        wide, narrow, pi = self.mixture
        if narrow > wide:
            wide, narrow, pi = narrow, wide, 1.0 - pi
        if pi in (0.0, 1.0):
            return wide if pi else narrow, 1.0, -math.inf, 0.0
        a = math.log(1.0 / pi - 1.0) + math.log(wide / narrow)
        return wide, pi, a, 0.5 * (narrow**-2 - wide**-2)

    def mean_log_prob(self, mean: Array, std: Array) -> Array:
        """Return E[log P(w)] in nats ``[...]`` for w ~ N(mean, std²), by quadrature.

        The error is below 10⁻⁶ nats, but a value takes a hundred times as long as one of
        :func:`expected_log_prob`.

        Args:
            mean: Means of the weights ``[...]``.
            std: Standard deviations of the weights ``[...]``, > 0.
        """
        wide, pi, a, b = self._bump
        rest = Gaussian(wide).mean_log_prob(mean, std) + math.log(pi)
        reach = math.sqrt((max(a, 0.0) + 38.0) / b) if b else math.inf  # softplus < 10⁻¹⁶ beyond
        ends = (np.clip(mean + side * 9.5 * std, -reach, reach) for side in (-1.0, 1.0))
        start, end = (np.asarray(edge)[..., None] for edge in ends)
        mean, std = np.asarray(mean)[..., None], np.asarray(std)[..., None]
        w = 0.5 * (start + end + (end - start) * _NODES)  # [..., nodes]
        mass = (
            0.5
            * (end - start)
            * _SHARES
            * np.exp(-HALF_LOG_TWO_PI - 0.5 * ((w - mean) / std) ** 2)
            / std
        )
        return np.asarray(rest + (mass * np.logaddexp(0.0, a - b * w**2)).sum(axis=-1))

    def log_prob(self, w: Values) -> Values:
        """Return the log density of each weight, in nats, of the shape of ``w``."""
        return scale_mixture_log_prob(w, *self.mixture)

    def sample(self, shape: int | tuple[int, ...], seed: int = 0) -> Array:
        """Draw an array of weights of this ``shape`` from the prior."""
        rng = np.random.default_rng(seed)
        wide = rng.random(shape) < self.pi
        return np.where(wide, self.sigma1, self.sigma2) * rng.standard_normal(shape)


@dataclass(frozen=True)
class Gaussian(_Mixture):
    """The prior N(0, σ²) on each weight, with σ > 0."""

    sigma: float = 1.0

    def __post_init__(self) -> None:
        checks.positive("sigma", self.sigma)

    @property
    def std(self) -> float:
        """Return the standard deviation of a weight."""
        return self.sigma

    @property
    def mixture(self) -> tuple[float, float, float]:
        """Return (σ, σ, ½): a scale mixture with the same density, for the compiled loops."""
        return self.sigma, self.sigma, 0.5

    @property
    def terms(self) -> LogDensityTerms:
        """Return log P(w), which is a quadratic; the exponentials have height 0."""
        none = np.zeros(_N_BELLS)
        return LogDensityTerms(-math.log(self.sigma) - HALF_LOG_TWO_PI, self.sigma, none, none)

    def mean_log_prob(self, mean: Array, std: Array) -> Array:
        """Return E[log P(w)] in nats ``[...]`` for w ~ N(mean, std²), with ``std`` >= 0."""
        spread = (np.square(mean) + np.square(std)) / self.sigma**2
        return np.asarray(-math.log(self.sigma) - HALF_LOG_TWO_PI - 0.5 * spread)

    def log_prob(self, w: Values) -> Values:
        """Return the log density of each weight, in nats, of the shape of ``w``."""
        return -gaussian_nll(w, 0.0, self.sigma**2)

    def sample(self, shape: int | tuple[int, ...], seed: int = 0) -> Array:
        """Draw an array of weights of this ``shape`` from the prior."""
        return self.sigma * np.random.default_rng(seed).standard_normal(shape)


Prior = ScaleMixture | Gaussian


@dataclass(frozen=True)
class HalfNormal:
    """The prior of a noise that is learnt: its standard deviation is |N(0, scale²)|.

    A density of the standard deviation σ itself, not of log σ or σ². An infinite scale makes it
    flat, so that a mode of P(D | w, σ) P(σ) is the maximum of the likelihood.

    Attributes:
        scale: In the units of y, > 0.

    Source: Gelman 2006, "Prior distributions for variance parameters", section 5.
    """

    scale: float

    def __post_init__(self) -> None:
        if self.scale != math.inf:
            checks.positive("scale", self.scale)

    @property
    def terms(self) -> tuple[float, float]:
        """Return a and b of −log P(σ) = ½ (aσ)² + b, in nats; both are 0 for the flat prior."""
        if self.scale == math.inf:
            return 0.0, 0.0
        return 1.0 / self.scale, math.log(self.scale) + HALF_LOG_TWO_PI - math.log(2.0)

    def log_prob(self, std: Array | float) -> Array:
        """Return log P(σ) in nats, of the shape of ``std`` > 0; 0 for the flat prior."""
        a, b = self.terms
        return np.asarray(-0.5 * np.square(a * np.asarray(std)) - b)

    def mode(self, residuals: Array) -> float:
        """Return the σ that maximises P(σ) Π N(r | 0, σ²) for residuals r ``[n]``."""
        n, squares = np.size(residuals), float(np.square(residuals).sum())
        root = math.sqrt(n * n + 4.0 * squares * self.terms[0] ** 2)
        return math.sqrt(2.0 * squares / (n + root))


def as_prior(name: str, value: object) -> Prior:
    """Return ``value`` if it is one of this module's priors; else raise ``ValueError``."""
    if not isinstance(value, ScaleMixture | Gaussian):
        raise ValueError(f"{name}: expected densities.ScaleMixture or .Gaussian, got {value!r}")
    return value


def _positive_values(name: str, value: Values) -> None:
    """Raise ``ValueError`` unless all values are finite and > 0; do nothing during tracing."""
    if tf.executing_eagerly() and not bool(tf.reduce_all((value > 0) & tf.math.is_finite(value))):
        raise ValueError(f"{name}: expected finite numbers > 0, got {np.asarray(value)}")
