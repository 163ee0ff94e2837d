"""Chapter 7: right answers computed differently than the references, and wrong answers."""

from typing import Any

import numpy as np
import tensorflow as tf
from scipy import special, stats

from answers.forms import reference, single, tensors
from bdl_teach.backend import tfp


def tf_relu(m: Any, v: Any) -> Any:
    s, normal = tf.sqrt(v), tfp.distributions.Normal(0.0, 1.0)
    mean = m * normal.cdf(m / s) + s * normal.prob(m / s)
    second = (m**2 + v) * normal.cdf(m / s) + m * s * normal.prob(m / s)
    return mean, second - mean**2


def no_digits(alpha: Any, beta: Any, r: Any, v: Any) -> Any:
    """Compute (7.13) with differences of logarithms, which loses digits."""
    z0, z1, z2 = (stats.norm(0, (v + beta / (alpha + k)) ** 0.5).logpdf(r) for k in (-1, 0, 1))
    new = 1 / np.expm1(z2 - 2 * z1 + z0 + np.log1p(1 / alpha))
    return new, new * beta / alpha * np.exp(z0 - z1)


def steps(by: float) -> Any:
    """Return an update that is off by `by` in α above 10⁶."""
    return lambda a, b, r, v: np.add(reference("7.6")(a, b, r, v), [by * (a > 1e6), 0.0])


def label(m: Any, v: Any, x: Any, t: Any) -> Any:
    """Compute the update in closed form, with h = φ(z)/Φ(z)."""
    total = 1 + x * x * v
    z = t * x * m / total**0.5
    h = np.exp(stats.norm.logpdf(z) - special.log_ndtr(z))
    return m + v * t * x * h / total**0.5, v - v**2 * x * x / total * h * (h + z)


RIGHT: list[tuple[str, Any]] = [
    ("7.10", lambda n: (6, 0.3, 30)),
    ("7.11", lambda p, a: float(np.median((0.5 - np.gradient(a, p))[20:] / a[20:] ** 2))),
    ("7.2", single(label)),
    ("7.4", tensors(tf_relu)),
]

WRONG: list[tuple[str, str, Any]] = [
    ("7.1", "expected", lambda y, m, v, a, b: stats.t(2 * a, m, (b / a + v) ** 0.5).logpdf(y)),
    ("7.2", "expected", lambda m, v, x, t: label(np.clip(m, -3, 3), v, x, t)),
    ("7.5", "expected", lambda m, v, a, b: reference("7.5")(m, np.minimum(v, 1), a, b)),
    ("7.6", "digits are lost", no_digits),
    ("7.6", "small α only", steps(1.0)),
    ("7.7", "expected", lambda *case: min(reference("7.7")(*case), 0.0)),
    ("7.9", "expected", lambda m, v, p, s: reference("7.9")(m, np.maximum(v, 0.01), p, s)),
    ("7.10", "believed too large", lambda n: (6.0, 6.0, 30)),
    ("7.10", "believed too small", lambda n: (6.0, 0.01, 10)),
    ("7.10", "doubt is counted away", lambda n: (6.0, 0.2, 120)),
    ("7.10", "no plan", lambda n: (6.0, 0.2, 2.5)),
    ("7.11", "same for all", lambda p, a: 1e-6),
]
