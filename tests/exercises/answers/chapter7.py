"""Chapter 7: right answers written in another way than the references, and wrong ones."""

import decimal
from typing import Any

import numpy as np
import tensorflow as tf
from scipy import special, stats

from answers.forms import reference, single, tensors
from bdl_teach.backend import tfp


def relu(m: Any, v: Any) -> Any:
    """By Var = v Φ − E[relu(a)] E[relu(−a)]."""
    s = v**0.5
    up, down = (
        sign * m * stats.norm.cdf(sign * m / s) + s * stats.norm.pdf(m / s) for sign in (1, -1)
    )
    return up, v * stats.norm.cdf(m / s) - up * down


def relu_by_mask(m: Any, v: Any) -> Any:
    """Both moments where they are no zeros in floating point, by indexing arrays."""
    alpha, mean, var = m / np.sqrt(v), np.zeros_like(m), np.zeros_like(v)
    kept = alpha > -38
    for i in np.flatnonzero(kept):
        mean[i], var[i] = relu(m[i], v[i])
    return mean, var


def tf_relu(m: Any, v: Any) -> Any:
    s, normal = tf.sqrt(v), tfp.distributions.Normal(0.0, 1.0)
    mean = m * normal.cdf(m / s) + s * normal.prob(m / s)
    second = (m**2 + v) * normal.cdf(m / s) + m * s * normal.prob(m / s)
    return mean, second - mean**2


def gamma_by_fractions(alpha: float, beta: float, r: float, v: float) -> Any:
    """(7.12) with eighty digits."""
    with decimal.localcontext(prec=80):
        a, b, square, w = (decimal.Decimal(float(x)) for x in (alpha, beta, r * r, v))
        totals = w + b / (a - 1), w + b / a, w + b / (a + 1)
        z0, z1, z2 = ((-square / (2 * s)).exp() / s.sqrt() for s in totals)
        new = 1 / (z0 * z2 / z1**2 * (a + 1) / a - 1)
        return float(new), float(1 / (z2 / z1 * (a + 1) / b - z1 / z0 * a / b))


def no_digits(alpha: Any, beta: Any, r: Any, v: Any) -> Any:
    """(7.13) with the ℓ as differences of logarithms."""
    z0, z1, z2 = (stats.norm(0, (v + beta / (alpha + k)) ** 0.5).logpdf(r) for k in (-1, 0, 1))
    new = 1 / np.expm1(z2 - 2 * z1 + z0 + np.log1p(1 / alpha))
    return new, new * beta / alpha * np.exp(z0 - z1)


def stops(at: float) -> Any:
    """An update that stands still from some α on."""
    return lambda a, b, r, v: reference("7.6")(a, b, r, v) if a < at else (a, b)


def steps(by: float) -> Any:
    """An update that is off by so much in α from α = 10⁶ on."""
    return lambda a, b, r, v: np.add(reference("7.6")(a, b, r, v), [by * (a > 1e6), 0.0])


def label(m: Any, v: Any, x: Any, t: Any) -> Any:
    """In closed form: h (h + z) for the bracket, with h = φ(z)/Φ(z)."""
    total = 1 + x * x * v
    z = t * x * m / total**0.5
    h = np.exp(stats.norm.logpdf(z) - special.log_ndtr(z))
    return m + v * t * x * h / total**0.5, v - v**2 * x * x / total * h * (h + z)


def label_by_ratio(m: Any, v: Any, x: Any, t: Any, above: Any = special.ndtr) -> Any:
    """As it stands, φ over Φ; something else may stand for Φ."""
    root = (1 + x**2 * v) ** 0.5
    z = t * x * m / root
    h = np.exp(-(z**2) / 2) / (2 * np.pi) ** 0.5 / above(z)
    return m + v * t * x / root * h, v - (v * x / root) ** 2 * (h * h + z * h)


def label_by_differences(m: Any, v: Any, x: Any, t: Any) -> Any:
    def log_z(m: Any, v: Any) -> Any:
        return np.log(special.ndtr(t * x * m / np.sqrt(1 + x**2 * v)))

    gm = (log_z(m + 1e-5, v) - log_z(m - 1e-5, v)) / 2e-5
    gv = (log_z(m, v * 1.00001) - log_z(m, v * 0.99999)) / (2e-5 * v)
    return m + v * gm, v - v**2 * (gm**2 - 2 * gv)


def prior(w: Any, m: Any, v: Any) -> Any:
    return stats.norm(m, v**0.5).pdf(w)


def less(moments: Any, m: Any, v: Any) -> Any:
    return 1 / moments[1] - 1 / v, moments[0] / moments[1] - m / v


def site_by_sums(w: Any, m: Any, v: Any, f: Any) -> Any:
    share = prior(w, m, v) * f / np.sum(prior(w, m, v) * f)
    return less((share @ w, np.cov(w, aweights=share, ddof=0)), m, v)


RIGHT: list[tuple[str, Any]] = [
    ("7.2", label),
    ("7.4", relu),
    ("7.6", gamma_by_fractions),
    ("7.8", site_by_sums),
    ("7.10", lambda n: (6, 0.3, 30)),
    ("7.11", lambda p, a: float(np.median((0.5 - np.gradient(a, p))[20:] / a[20:] ** 2))),
    ("7.2", single(label_by_ratio)),
    ("7.2", label_by_differences),
    ("7.2", single(label)),
    ("7.4", relu_by_mask),
    ("7.4", tensors(tf_relu)),
]

WRONG: list[tuple[str, str, Any]] = [
    ("7.1", "expected", lambda y, m, v, a, b: stats.t(2 * a, m, (b / a + v) ** 0.5).logpdf(y)),
    ("7.2", "expected", lambda m, v, x, t: label_by_ratio(np.clip(m, -3, 3), v, x, t)),
    ("7.5", "expected", lambda m, v, a, b: reference("7.5")(m, np.minimum(v, 1), a, b)),
    ("7.6", "digits are lost", no_digits),
    ("7.6", "small α only", stops(1e11)),
    ("7.6", "small α only", steps(1.0)),
    ("7.7", "expected", lambda *case: min(reference("7.7")(*case), 0.0)),
    ("7.9", "expected", lambda m, v, p, s: reference("7.9")(m, np.maximum(v, 0.01), p, s)),
    ("7.9", "expected", lambda m, v, p, s: reference("7.9")(m, v, np.where(p < 0, 0.2, p), s)),
    ("7.10", "believed too large", lambda n: (6.0, 6.0, 30)),
    ("7.10", "believed too small", lambda n: (6.0, 0.01, 10)),
    ("7.10", "doubt is counted away", lambda n: (6.0, 0.2, 120)),
    ("7.10", "no plan", lambda n: (6.0, 0.2, 2.5)),
    ("7.11", "same for all", lambda p, a: 1e-6),
]
