"""Chapter 6: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
from scipy import stats
from scipy.integrate import trapezoid


def relu(m: Any, v: Any) -> Any:
    """By Var = v Φ − E[relu(a)] E[relu(−a)]."""
    s = v**0.5
    up, down = (
        sign * m * stats.norm.cdf(sign * m / s) + s * stats.norm.pdf(m / s) for sign in (1, -1)
    )
    return up, v * stats.norm.cdf(m / s) - up * down


def layer(mean: Any, var: Any, a: Any, b: Any) -> Any:
    """By E[w²] E[z²] − m_w² m_z²."""
    z, z2 = np.concatenate([mean, [1.0]]), np.concatenate([var + mean**2, [1.0]])
    n = len(z)
    return a @ z / n**0.5, ((a**2 + b) @ z2 - a**2 @ z**2) / n


def gamma(alpha: Any, beta: Any, r: Any, v: Any) -> Any:
    """With v_k (α + k) = v (α + k) + β, so that differences of variances are products."""
    v0, v1, v2 = v + beta / (alpha - 1), v + beta / alpha, v + beta / (alpha + 1)
    down1, down2 = beta / (alpha * (alpha - 1)) / v0, beta / (alpha * (alpha + 1)) / v1
    l10 = -0.5 * np.log1p(-down1) - 0.5 * r**2 * down1 / v1
    l21 = -0.5 * np.log1p(-down2) - 0.5 * r**2 * down2 / v2
    new = 1 / np.expm1(np.log1p(1 / alpha) + l21 - l10)
    return new, new * np.exp(-l10) * (beta / alpha)


def naive(alpha: Any, beta: Any, r: Any, v: Any, eps: float = 0.0) -> Any:
    z0, z1, z2 = (stats.norm(0, (v + beta / (alpha + k)) ** 0.5).pdf(r) for k in (-1, 0, 1))
    new = 1 / (z0 * z2 / z1**2 * (alpha + 1) / alpha - 1 + eps)
    return new, 1 / (z2 / z1 * (alpha + 1) / beta - z1 / z0 * alpha / beta + eps)


def score(m: Any, v: Any, a: Any, b: Any, c: Any, s: Any, y: Any) -> Any:
    standardised = stats.norm(m, (v + b / (a - 1)) ** 0.5).logpdf((y - c) / s)
    return np.mean(standardised) - np.log(s)


def match(w: Any, p: Any, f: Any) -> Any:
    weights = p * f / trapezoid(p * f, w)
    mean = trapezoid(w * weights, w)
    return mean, trapezoid(w**2 * weights, w) - mean**2


RIGHT: dict[str, Any] = {
    "6.1": lambda y, m, v, a, b: stats.norm(m, (v + b / (a - 1)) ** 0.5).logpdf(y),
    "6.2": lambda m, v, g, h: (m + v * g, v * (1 - v * g**2 + 2 * v * h)),
    "6.3": "bdf",
    "6.4": relu,
    "6.5": layer,
    "6.6": gamma,
    "6.7": score,
    "6.8": match,
    "6.9": lambda m, v, p, s: ((m - v * s) / (1 - v * p), v / (1 - v * p)),
}

# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = []

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("6.1", "wrong sign", lambda y, m, v, a, b: -RIGHT["6.1"](y, m, v, a, b)),
    ("6.1", "noise is missing", lambda y, m, v, a, b: stats.norm(m, v**0.5).logpdf(y)),
    ("6.1", "β/α", lambda y, m, v, a, b: stats.norm(m, (v + b / a) ** 0.5).logpdf(y)),
    ("6.1", "precision", lambda y, m, v, a, b: stats.norm(m, (v + a / b) ** 0.5).logpdf(y)),
    ("6.1", "density", lambda y, m, v, a, b: stats.norm(m, (v + b / (a - 1)) ** 0.5).pdf(y)),
    (
        "6.1",
        "divided by v",
        lambda y, m, v, a, b: -0.5 * (np.log(v + b / (a - 1)) + (y - m) ** 2) / (v + b / (a - 1)),
    ),
    (
        "6.1",
        "network's variance",
        lambda y, m, v, a, b: stats.norm(m, (b / (a - 1)) ** 0.5).logpdf(y),
    ),
    ("6.1", "β/(α+1)", lambda y, m, v, a, b: stats.norm(m, (v + b / (a + 1)) ** 0.5).logpdf(y)),
    ("6.1", "sd for", lambda y, m, v, a, b: stats.norm(m, (v + b / (a - 1)) ** 0.25).logpdf(y)),
    ("6.2", "variance's step", lambda m, v, g, h: (m + v * g, v + v**2 * (g**2 - 2 * h))),
    ("6.2", "bracket is lost", lambda m, v, g, h: (m + v * g, v - v**2 * g**2 - 2 * h)),
    ("6.2", "√v for v", lambda m, v, g, h: (m + v**0.5 * g, v - v**2 * (g**2 - 2 * h))),
    ("6.2", "swapped", lambda m, v, g, h: (v - v**2 * (g**2 - 2 * h), m + v * g)),
    ("6.2", "wrong sign of the mean", lambda m, v, g, h: (m - v * g, v - v**2 * (g**2 - 2 * h))),
    ("6.2", "outer square", lambda m, v, g, h: (m + v * g, v - v * (g**2 - 2 * h))),
    ("6.2", "inner square", lambda m, v, g, h: (m + v * g, v - v**2 * (g - 2 * h))),
    ("6.2", "factor 2", lambda m, v, g, h: (m + v * g, v - v**2 * (g**2 - h))),
    ("6.2", "sign in the bracket", lambda m, v, g, h: (m + v * g, v - v**2 * (g**2 + 2 * h))),
    ("6.2", "sd for variance", lambda m, v, g, h: (m + v * g, (v - v**2 * (g**2 - 2 * h)) ** 0.5)),
    ("6.3", "statement a is not true", "abdf"),
    ("6.3", "statement d was left out", "bf"),
    ("6.3", "statement c is not true", {"b", "c", "d", "f"}),
    ("6.3", "statement e is not true", ["b", "d", "e", "f"]),
    ("6.3", "expected a set of letters", 7),
    ("6.4", "relu of the mean", lambda m, v: (np.maximum(m, 0), relu(m, v)[1])),
    ("6.4", "second moment", lambda m, v: (relu(m, v)[0], relu(m, v)[1] + relu(m, v)[0] ** 2)),
    (
        "6.4",
        "truncated",
        lambda m, v: (relu(m, v)[0] / stats.norm.cdf(m / v**0.5), relu(m, v)[1]),
    ),
    ("6.4", "sd for variance", lambda m, v: (relu(m, v)[0], relu(m, v)[1] ** 0.5)),
    ("6.4", "variance for sd", lambda m, v: relu(m, v**2)),
    (
        "6.4",
        "h(α)²",
        lambda m, v: (relu(m, v)[0], v * stats.norm.cdf(m / v**0.5) - relu(m, v)[0] ** 2),
    ),
    ("6.4", "scale is missing", lambda m, v: relu(m / v**0.5, 1.0 + 0 * v)),
    (
        "6.5",
        "divided by in + 1",
        lambda m, v, a, b: (
            _scaled(m, v, a, b, None, 0)[0] / (len(m) + 1) ** 0.5,
            layer(m, v, a, b)[1],
        ),
    ),
    ("6.5", "bias is missing", lambda m, v, a, b: _bias(m, v, a, b, 0.0, 0.0)),
    ("6.5", "bias's input is uncertain", lambda m, v, a, b: _bias(m, v, a, b, 1.0, 1.0)),
    ("6.5", "scale is missing", lambda m, v, a, b: _scaled(m, v, a, b, 1.0, 1.0)),
    ("6.5", "divided by √(in + 1)", lambda m, v, a, b: _scaled(m, v, a, b, None, 0.5)),
    (
        "6.5",
        "variance of z is missing",
        lambda m, v, a, b: layer(m, 0 * v, a, b)[:1] + _no_z(m, v, a, b),
    ),
    ("6.5", "variance of the weights", lambda m, v, a, b: _no_weights(m, v, a, b)),
    ("6.6", "eps in the denominator", lambda a, b, r, v: naive(a, b, r, v, 1e-6)),
    ("6.6", "network's variance is ignored", lambda a, b, r, v: (a + 0.5, b + r**2 / 2)),
    ("6.6", "wrong sign of ℓ₁₀", lambda a, b, r, v: _gamma_with(a, b, r, v, 1.0)),
    ("6.6", "β/α for β/(α−1)", lambda a, b, r, v: _shifted(a, b, r, v)),
    ("6.6", "swapped", lambda a, b, r, v: gamma(a, b, r, v)[::-1]),
    ("6.6", "β is not updated", lambda a, b, r, v: (gamma(a, b, r, v)[0], b)),
    ("6.6", "digits are lost", naive),
    ("6.7", "noise is missing", lambda m, v, a, b, c, s, y: score(m, v, a, 0, c, s, y)),
    ("6.7", "standardised", lambda m, v, a, b, c, s, y: score(m, v, a, b, c, s, y) + np.log(s)),
    ("6.7", "outputs are left", lambda m, v, a, b, c, s, y: score(m, v, a, b, 0.0, 1.0, y)),
    ("6.7", "noise is left", lambda m, v, a, b, c, s, y: score(m, v, a, b / s**2, c, s, y)),
    (
        "6.7",
        "variance is left",
        lambda m, v, a, b, c, s, y: score(m, v / s**2, a, b / s**2, c, s, y),
    ),
    ("6.7", "β/α", lambda m, v, a, b, c, s, y: score(m, v, a, b * (a - 1) / a, c, s, y)),
    ("6.7", "y_mean", lambda m, v, a, b, c, s, y: score(m, v, a, b, 0.0, s, y)),
    ("6.7", "sum for mean", lambda m, v, a, b, c, s, y: score(m, v, a, b, c, s, y) * len(y)),
    ("6.7", "wrong sign", lambda m, v, a, b, c, s, y: -score(m, v, a, b, c, s, y)),
    ("6.8", "prior is missing", lambda w, p, f: match(w, np.ones_like(w), f)),
    ("6.8", "likelihood is missing", lambda w, p, f: match(w, p, np.ones_like(w))),
    ("6.8", "sd for variance", lambda w, p, f: (match(w, p, f)[0], match(w, p, f)[1] ** 0.5)),
    ("6.8", "mode for mean", lambda w, p, f: (w[np.argmax(p * f)], match(w, p, f)[1])),
    ("6.8", "from the mean", lambda w, p, f: _raw(w, p * f)),
    (
        "6.9",
        "variance is subtracted",
        lambda m, v, p, s: ((m - v * s) / (1 - v * p), 1 / (1 / v - 1 / p)),
    ),
    ("6.9", "old variance", lambda m, v, p, s: (m - v * s, v / (1 - v * p))),
    ("6.9", "once more", lambda m, v, p, s: ((m + v * s) / (1 + v * p), v / (1 + v * p))),
    ("6.9", "natural parameter", lambda m, v, p, s: (m / v - s, v / (1 - v * p))),
    ("6.9", "precision for variance", lambda m, v, p, s: ((m - v * s) / (1 - v * p), 1 / v - p)),
    ("6.9", "left as it is", lambda m, v, p, s: (m, v / (1 - v * p))),
]


def _bias(m: Any, v: Any, a: Any, b: Any, mean: float, var: float) -> Any:
    z, z_var = np.append(m, mean), np.append(v, var)
    n = len(z)
    return a @ z / n**0.5, ((a**2 + b) @ (z**2 + z_var) - a**2 @ z**2) / n


def _gamma_with(a: Any, b: Any, r: Any, v: Any, sign: float) -> Any:
    new_a, new_b = gamma(a, b, r, v)
    return new_a, new_a * b / a * (new_b / new_a * a / b) ** -sign


def _shifted(a: Any, b: Any, r: Any, v: Any) -> Any:
    z0, z1, z2 = (stats.norm(0, (v + b / (a + k)) ** 0.5).logpdf(r) for k in range(3))
    new = 1 / np.expm1(z2 - 2 * z1 + z0 + np.log1p(1 / a))
    return new, new * b / a * np.exp(z0 - z1)


def _raw(w: Any, weights: Any) -> Any:
    mean = trapezoid(w * weights, w)
    return mean, trapezoid(w**2 * weights, w) - mean**2


def _scaled(m: Any, v: Any, a: Any, b: Any, scale: float | None, power: float) -> Any:
    mean, var = layer(m, v, a, b)
    n = len(m) + 1
    return (mean * n**0.5 if scale else mean), var * n**power


def _no_z(m: Any, v: Any, a: Any, b: Any) -> Any:
    z, z_var = np.append(m, 1.0), np.append(v, 0.0)
    return ((b @ z**2 + b @ z_var) / len(z),)


def _no_weights(m: Any, v: Any, a: Any, b: Any) -> Any:
    z_var = np.append(v, 0.0)
    return layer(m, v, a, b)[0], ((a**2 + b) @ z_var) / len(z_var)
