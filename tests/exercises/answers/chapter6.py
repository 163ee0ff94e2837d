"""Chapter 6: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
import tensorflow as tf
from scipy.optimize import minimize_scalar
from scipy.special import erf, erfc, expit, log_expit, logsumexp
from scipy.stats import norm

from answers.forms import single, tensors


def softplus(rho: Any) -> Any:
    return np.log1p(np.exp(rho))


def moments(x: Any, y: Any, s: float) -> tuple[float, float]:
    """Mean and variance of w by least squares, before any prior."""
    return x @ y / (x @ x), s**2 / (x @ x)


def gamma_step(g: Any, r: Any, e: Any, d: Any, kl: Any) -> Any:
    return d * softplus(r) + kl


def best_variance(x: Any, y: Any, s: float) -> Any:
    """(6.16)."""
    return max(moments(x, y, s)[0] ** 2 - moments(x, y, s)[1], 0.0)


def evidence(prior_var: Any, x: Any, y: Any, s: float) -> Any:
    """ln p(D | σ_p) of chapter 1: y is Gaussian, with the covariance s² I + σ_p² x xᵀ."""
    cov = s**2 * np.eye(len(x)) + prior_var * np.outer(x, x)
    logs = np.linalg.slogdet(2 * np.pi * cov)[1]
    return -0.5 * (logs + y @ np.linalg.solve(cov, y))


def worth(x: Any, y: Any, s: float, variance: Any = None) -> Any:
    variance = best_variance(x, y, s) if variance is None else variance
    return evidence(variance, x, y, s) - evidence(0.0, x, y, s)


def tried(x: Any, y: Any, s: float) -> Any:
    """The highest evidence of many prior variances, none among them."""
    found = minimize_scalar(
        lambda log_var: -worth(x, y, s, np.exp(log_var)), bounds=(-40, 40), method="bounded"
    )
    return max(0.0, -found.fun)


def by_shrinking(x: Any, y: Any, s: float, variance: float) -> Any:
    """As ``worth``, without the difference of large numbers."""
    told = variance / (variance + moments(x, y, s)[1])  # 1 − α/(α + s)
    return (np.log1p(-told) + told * ratio_of(x, y, s)) / 2


def by_gamma(x: Any, y: Any, s: float) -> Any:
    """By the γ² of (6.18)."""
    square = np.maximum(np.sum(x * y) ** 2 / (np.sum(x**2) * s**2) - 1, 0)
    return (square - np.log1p(square)) / 2


def tf_worth(x: Any, y: Any, s: Any) -> Any:
    ratio = tf.maximum(tf.reduce_sum(x * y) ** 2 / tf.reduce_sum(x**2) / s**2, 1.0)
    return (ratio - 1 - tf.math.log(ratio)) / 2


def kept_or_0(of: Any) -> Any:
    """Of b²/s, where the weight is kept."""
    return lambda x, y, s: of(ratio_of(x, y, s)) if ratio_of(x, y, s) > 1 else 0.0


def ratio_of(x: Any, y: Any, s: float) -> Any:
    mean, var = moments(x, y, s)
    return mean**2 / var


def on(x: Any, g: Any, s: Any, std: Any = None) -> Any:
    """With the complementary error function, and the sd as a norm."""
    std = np.linalg.norm(x[:, :, None] * s, axis=1) if std is None else std
    return erfc(-np.einsum("ni,ij->nj", x, g * s) / std / np.sqrt(2)) / 2


def scaled(x: Any, g: Any, s: Any) -> Any:
    """As the mean of γ, with the weights x σ/√δ, whose squares sum to 1."""
    share = x[:, :, None] * s / np.sqrt(np.sum(np.square(x[:, :, None] * s), axis=1))[:, None]
    return phi(np.sum(share * g, axis=1))


def phi(z: Any) -> Any:
    """Φ."""
    return 0.5 * (1 + erf(np.asarray(z) / np.sqrt(2)))


def tf_on(x: Any, g: Any, s: Any) -> Any:
    z = x @ (g * s) / tf.sqrt(x**2 @ s**2)
    return 0.5 * (1 + tf.math.erf(z / 2**0.5))


RIGHT: dict[str, Any] = {
    "6.1": lambda m, s: np.sum(np.log(np.sqrt(m**2 + s**2) / s)),
    "6.2": lambda m, s: np.linalg.norm(np.hypot(m, s)) / np.sqrt(len(m)),
    "6.3": "bce",
    "6.4": lambda g, r, e, d: d * softplus(r) + 1 / (g + 1 / g),
    "6.5": lambda g, r, e, d: (g * d + e * d) * np.exp(r) / (1 + np.exp(r)),
    "6.6": worth,
    "6.7": lambda g: 0.5 * np.logaddexp(0.0, 2 * np.log(np.maximum(abs(g), 1e-300))),
    "6.8": on,
}


def kl_by_loop(mu: Any, sigma: Any) -> float:
    """(6.5) with the prior variance (6.8)."""
    total = 0.0
    for m, s in zip(mu, sigma, strict=True):
        prior = m**2 + s**2
        total += (s**2 / prior + m**2 / prior - np.log(s**2 / prior) - 1) / 2
    return total


def tf_kl(mu: Any, sigma: Any) -> Any:
    return tf.reduce_sum(tf.math.log1p(tf.square(mu / sigma))) / 2


def tape(index: int) -> Any:
    """The derivative in γ or in ρ by TensorFlow."""

    def gradient(*case: Any) -> Any:
        parts = [tf.Variable(value) for value in case[:2]]
        with tf.GradientTape() as watched:
            weight = tf.nn.softplus(parts[1]) * (parts[0] + case[2])
            loss = tf.reduce_sum(case[3] * weight + tf.math.log1p(parts[0] ** 2) / 2)
        return watched.gradient(loss, parts[index])

    return tensors(gradient)


def careful_kl(gamma: Any) -> Any:
    size = np.abs(gamma)
    small = np.minimum(size, 1.0)
    large = np.maximum(size, 1.0)
    return np.where(size < 1, np.log1p(small**2) / 2, np.log(large) + np.log1p(large**-2.0) / 2)


# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = [
    ("6.1", kl_by_loop),
    ("6.1", tensors(tf_kl)),
    ("6.1", single(lambda m, s: np.log1p((m / s) ** 2).sum() / 2)),
    ("6.1", lambda m, s: np.log(np.hypot(1, m / s)).sum(keepdims=True)),
    ("6.1", lambda m, s: -np.log(np.cos(np.arctan(m / s))).sum()),
    ("6.2", single(lambda m, s: np.sqrt(np.mean(m**2) + np.mean(s**2)))),
    ("6.2", tensors(lambda m, s: tf.sqrt(tf.reduce_mean(m**2 + s**2)))),
    ("6.2", lambda m, s: [(sum(a * a + b * b for a, b in zip(m, s, strict=True)) / len(m)) ** 0.5]),
    ("6.2", lambda m, s: np.sqrt(np.mean(m) ** 2 + np.var(m) + np.mean(s) ** 2 + np.var(s))),
    ("6.3", {"b": True, "c": True, "e": True, "a": False}),
    ("6.3", ["(b)", "(c)", "(e)"]),
    ("6.4", tape(0)),
    ("6.4", single(lambda g, r, e, d: d * np.logaddexp(0, r) + g / (1 + g * g))),
    ("6.4", lambda g, r, e, d: d * (np.maximum(r, 0) + np.log1p(np.exp(-abs(r)))) + g / (g**2 + 1)),
    ("6.4", lambda g, r, e, d: -d * log_expit(-np.asarray(r)) + np.sin(2 * np.arctan(g)) / 2),
    ("6.5", tape(1)),
    ("6.5", single(lambda g, r, e, d: d * (g + e) / (1 + np.exp(-r)))),
    ("6.5", lambda g, r, e, d: d * (g + e) * (1 - np.exp(-np.log1p(np.exp(r))))),
    ("6.5", lambda g, r, e, d: d * (g + e) * (0.5 + 0.5 * np.tanh(np.asarray(r) / 2))),
    ("6.6", tried),
    ("6.6", by_gamma),
    ("6.6", single(by_gamma)),
    ("6.6", tensors(tf_worth)),
    ("6.6", lambda x, y, s: np.array([worth(x, y, s)])),
    ("6.7", careful_kl),
    ("6.7", lambda g: [np.log(abs(complex(1, value))) for value in g]),
    ("6.7", lambda g: np.log(np.abs(1 + 1j * g))),
    (
        "6.7",
        lambda g: (
            np.log(np.maximum(1, abs(g)))
            + np.log(np.hypot(1 / np.maximum(1, abs(g)), g / np.maximum(1, abs(g))))
        ),
    ),
    ("6.8", scaled),
    ("6.8", single(on)),
    ("6.8", tensors(tf_on)),
    ("6.8", lambda x, g, s: 1 - on(-x, -g, s, -np.hypot.reduce(x[:, :, None] * s, axis=1))),
]

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("6.6", "expected", lambda x, y, s: worth(x, y, max(s, 0.01))),
    ("6.1", "in the logarithm", lambda m, s: 0.5 * np.log(1 + (m / s) ** 2 + 1e-6).sum()),
    ("6.2", "eps under the root", lambda m, s: np.sqrt(np.mean(m**2 + s**2) + 1e-8)),
    ("6.6", "expected", kept_or_0(lambda ratio: (ratio - 1 - np.log(ratio + 1e-3)) / 2)),
    ("6.1", "μ is not squared", lambda m, s: np.log(1 + abs(m) / s**2).sum() / 2),
    ("6.1", "squares are missing", lambda m, s: np.log(1 + abs(m) / s).sum() / 2),
    ("6.1", "squares are missing", lambda m, s: np.log(1 + m / s).sum() / 2),
    ("6.1", "not in nats", lambda m, s: np.log2(1 + m**2 / s**2).sum() / 2),
    ("6.1", "not in nats", lambda m, s: np.log10(np.hypot(1, m / s)).sum()),
    ("6.1", "eps in the denominator", lambda m, s: np.log(1 + m**2 / (s**2 + 1e-8)).sum() / 2),
    ("6.1", "eps in the denominator", lambda m, s: np.log1p((m / (s + 1e-8)) ** 2).sum() / 2),
    ("6.1", "one prior", lambda m, s: np.log(RIGHT["6.2"](m, s)) * len(m) - np.log(s).sum()),
    ("6.1", "mean for sum", lambda m, s: np.log(1 + m**2 / s**2).mean() / 2),
    (
        "6.1",
        "other way round",
        lambda m, s: (m**2 / s**2).sum() - np.log(1 + m**2 / s**2).sum() / 2,
    ),
    ("6.1", "expected", lambda m, s: np.sum((m / s) ** 2) / 2),
    ("6.1", "expected", lambda m, s: np.prod(np.sqrt(1 + m**2 / s**2))),
    ("6.1", "expected", lambda m, s: np.log(1 + abs(m.sum()) ** 2 / (s**2).sum()) / 2),
    ("6.1", "expected", lambda m, s: np.log(1 + np.minimum(m**2 / s**2, 1e6)).sum() / 2),
    ("6.2", "centred", lambda m, s: np.sqrt(m.var() + (s**2).mean())),
    ("6.2", "α for σ_p", lambda m, s: 1 / np.mean(m**2 + s**2)),
    ("6.2", "n − 1", lambda m, s: np.sqrt(sum(m**2 + s**2) / (len(m) - 1))),
    ("6.2", "σ for σ²", lambda m, s: np.sqrt(np.mean(m**2) + np.mean(s))),
    ("6.2", "μ for μ²", lambda m, s: np.sqrt(np.mean(abs(m)) + np.mean(s**2))),
    ("6.2", "squared after adding", lambda m, s: np.linalg.norm(m + s) / len(m) ** 0.5),
    ("6.2", "expected", lambda m, s: 1 / np.sqrt(np.mean(m**2 + s**2))),
    ("6.2", "expected", lambda m, s: np.exp(np.mean(np.log(np.hypot(m, s))))),
    ("6.2", "expected", lambda m, s: np.sqrt(np.median(m**2 + s**2))),
    ("6.2", "expected", lambda m, s: np.mean(abs(m) + s)),
    ("6.4", "inner derivative", lambda g, r, e, d: gamma_step(g, r, e, d, 1 / (1 + g * g))),
    ("6.4", "inner derivative", lambda g, r, e, d: gamma_step(g, r, e, d, 0.5 / (1 + g * g))),
    ("6.4", "exp for softplus", lambda g, r, e, d: d * np.exp(r) + g / (1 + g * g)),
    ("6.4", "likelihood is missing", lambda g, r, e, d: g / (1 + g * g)),
    ("6.4", "softplus forgotten", lambda g, r, e, d: d * r + g / (1 + g * g)),
    ("6.4", "derivative of softplus", lambda g, r, e, d: d * expit(r) + g / (1 + g * g)),
    ("6.4", "wrong sign", lambda g, r, e, d: -gamma_step(g, r, e, d, g / (1 + g * g))),
    ("6.4", "expected", lambda g, r, e, d: gamma_step(g, r, e, d, g / (1 + g))),
    ("6.4", "expected", lambda g, r, e, d: gamma_step(g, r, e, d, g / (1 + g**2) ** 0.5)),
    ("6.4", "expected", lambda g, r, e, d: d * np.log10(1 + np.exp(r)) + g / (1 + g**2)),
    ("6.4", "expected", lambda g, r, e, d: d * softplus(r) * g / (1 + g**2)),
    ("6.4", "expected", lambda g, r, e, d: gamma_step(g, r, e, d, abs(g) / (1 + g**2))),
    ("6.5", "derivative of the sigmoid", lambda g, r, e, d: d * (g + e) * expit(r) * expit(-r)),
    ("6.5", "∂nll/∂w", lambda g, r, e, d: (g + e) * expit(r)),
    ("6.5", "ε forgotten", lambda g, r, e, d: d * g * expit(r)),
    ("6.5", "wrong sign in the exponent", lambda g, r, e, d: d * (g + e) / (1 + np.exp(r))),
    ("6.5", "wrong sign:", lambda g, r, e, d: -d * (g + e) * expit(r)),
    ("6.5", "expected", lambda g, r, e, d: d * (g - e) * expit(r)),
    ("6.5", "expected", lambda g, r, e, d: d * g * e * expit(r)),
    ("6.5", "expected", lambda g, r, e, d: d * (g + e) * np.tanh(r)),
    ("6.5", "expected", lambda g, r, e, d: d + (g + e) * expit(r)),
    ("6.5", "expected", lambda g, r, e, d: d * abs(g + e) * expit(r)),
    ("6.5", "expected", lambda g, r, e, d: d * (g * softplus(r) + e) * expit(r)),
    (
        "6.6",
        "gain where it is pruned",
        lambda x, y, s: (ratio_of(x, y, s) - np.log(np.e * ratio_of(x, y, s))) / 2,
    ),
    ("6.6", "price of the prior is missing", kept_or_0(lambda ratio: (ratio - 1) / 2)),
    ("6.6", "price of the prior alone", kept_or_0(lambda ratio: np.log(ratio) / 2)),
    ("6.6", "price of the prior alone", kept_or_0(lambda ratio: np.log(1 / ratio) / 2)),
    ("6.6", "sign of the logarithm", kept_or_0(lambda ratio: (ratio - 1 + np.log(ratio)) / 2)),
    ("6.6", "what least squares gains", lambda x, y, s: (x @ y / s) ** 2 / (x @ x) / 2),
    ("6.6", "what least squares gains", kept_or_0(lambda ratio: ratio / 2)),
    ("6.6", "not shrunk", kept_or_0(lambda ratio: (ratio - np.log(ratio)) / 2)),
    ("6.6", "½ is missing", lambda x, y, s: 2 * worth(x, y, s)),
    ("6.6", "best prior's variance", best_variance),
    ("6.6", "σ_p = 1", lambda x, y, s: worth(x, y, s, 1.0)),
    ("6.6", "σ_p = 1", lambda x, y, s: max(0, worth(x, y, s, 1.0))),
    ("6.6", "σ_p for σ_p²", lambda x, y, s: worth(x, y, s, best_variance(x, y, s) ** 0.5)),
    (
        "6.6",
        "α for σ_p²",
        lambda x, y, s: by_shrinking(x, y, s, 1 / v) if (v := best_variance(x, y, s)) else 0,
    ),
    ("6.6", "not what is gained", lambda x, y, s: evidence(best_variance(x, y, s), x, y, s)),
    ("6.6", "noise is missing", lambda x, y, s: worth(x, y, 1.0)),
    ("6.6", "σ for σ²", lambda x, y, s: worth(x, y, s**0.5)),
    ("6.6", "another base", lambda x, y, s: worth(x, y, s) / np.log(2)),
    ("6.6", "another base", kept_or_0(lambda ratio: (ratio - 1 - np.log10(ratio)) / 2)),
    ("6.6", "the sign is wrong", lambda x, y, s: -worth(x, y, s)),
    ("6.6", "every way through", lambda x, y, s: worth(x, y, s) or None),
    ("6.6", "expected", lambda x, y, s: max(1e-5, worth(x, y, s))),
    ("6.6", "expected", lambda x, y, s: worth(x, y, s) + 1e-6),
    ("6.6", "expected", lambda x, y, s: worth(x, y, s) if x @ y > 0 else 0.0),
    ("6.7", "cut off", lambda g: np.log(1 + np.clip(g, -1e150, 1e150) ** 2) / 2),
    ("6.7", "negative number", lambda g: np.logaddexp(0, 2 * np.log(g)) / 2),
    ("6.7", "1/γ² at γ = 0", lambda g: np.log(abs(g)) + np.log(1 + (1 / g) ** 2) / 2),
    ("6.7", "½ is missing", lambda g: np.log(1 + g**2)),
    ("6.7", "square is missing", lambda g: np.log(1 + abs(g)) / 2),
    ("6.7", "do not meet", lambda g: np.where(abs(g) < 10, np.log1p(g * g) / 2, np.log(abs(g)))),
    ("6.7", "expected", lambda g: np.nan_to_num(np.log1p(g**2) / 2)),
    ("6.7", "expected", lambda g: np.nan_to_num(np.log1p(g**2) / 2, posinf=0)),
    ("6.7", "expected", lambda g: np.log(abs(g) + 1e-8)),
    ("6.7", "expected", lambda g: np.log10(np.hypot(1, g))),
    ("6.7", "the sign is wrong", lambda g: -np.log(np.hypot(1, g))),
    ("6.7", "expected", lambda g: np.log(np.hypot(1, g.astype(np.float32)))),
    ("6.7", "expected", lambda g: np.where(g > 0, np.log(np.hypot(1, g)), 0)),
    ("6.8", "γ for μ", lambda x, g, s: on(x, g / s, s, np.sqrt(x**2 @ s**2))),
    ("6.8", "one ε for all inputs", lambda x, g, s: on(x, g, s, x @ s)),
    ("6.8", "one ε for all inputs", lambda x, g, s: on(x, g, s, abs(x @ s))),
    ("6.8", "absolute values added", lambda x, g, s: on(x, g, s, abs(x) @ s)),
    ("6.8", "δ for √δ", lambda x, g, s: on(x, g, s, (x * x) @ (s * s))),
    ("6.8", "σ for σ²", lambda x, g, s: on(x, g, s, ((x * x) @ s) ** 0.5)),
    ("6.8", "x is not squared", lambda x, g, s: on(x, g, s, (x @ (s * s)) ** 0.5)),
    ("6.8", "x is not squared", lambda x, g, s: on(x, g, s, (abs(x) @ (s * s)) ** 0.5)),
    ("6.8", "the spread is missing", lambda x, g, s: on(x, g, s, 1.0)),
    ("6.8", "the mean alone", lambda x, g, s: (x @ (g * s) > 0).astype(int)),
    ("6.8", "how often it is off", lambda x, g, s: 1 - on(x, g, s)),
    ("6.8", "the ratio, and no", lambda x, g, s: x @ (g * s) / np.sqrt(x**2 @ s**2)),
    (
        "6.8",
        "the density for",
        lambda x, g, s: norm.pdf(x @ (g * s) / np.sqrt(x**2 @ s**2)),
    ),
    ("6.8", "the logistic", lambda x, g, s: expit(x @ (g * s) / np.sqrt(x**2 @ s**2))),
    ("6.8", "eps under the root", lambda x, g, s: on(x, g, s, (x**2 @ s**2 + 1e-8) ** 0.5)),
    ("6.8", "eps under the root", lambda x, g, s: on(x, g, s, (x**2 @ s**2) ** 0.5 + 1e-6)),
    ("6.8", "expected", lambda x, g, s: on(x, g, s, (x**2 @ s**2 + 1e-5) ** 0.5)),
    ("6.8", "expected", lambda x, g, s: on(x, g, s, np.linalg.norm(s, axis=0))),
    ("6.8", "expected shape", lambda x, g, s: on(x, g, s).T),
    ("6.1", "½ is missing", lambda m, s: np.log(1 + m**2 / s**2).sum()),
    ("6.1", "σ for σ²", lambda m, s: np.log(1 + m**2 / s).sum() / 2),
    ("6.1", "upside down", lambda m, s: np.log(1 + s**2 / m**2).sum() / 2),
    ("6.1", "KL to N(0, 1)", lambda m, s: ((s**2 + m**2 - 1) / 2 - np.log(s)).sum()),
    ("6.1", "not summed", lambda m, s: np.log(1 + m**2 / s**2) / 2),
    ("6.1", "wrong sign", lambda m, s: -np.log(1 + m**2 / s**2).sum() / 2),
    ("6.1", "1 is missing", lambda m, s: np.log(abs(m / s)).sum()),
    ("6.1", "one ratio for all", lambda m, s: np.log(1 + sum(m**2) / sum(s**2)) / 2),
    ("6.2", "averaged before squaring", lambda m, s: np.sqrt(m.mean() ** 2 + s.mean() ** 2)),
    ("6.2", "σ_p² for σ_p", lambda m, s: (m**2).mean() + (s**2).mean()),
    ("6.2", "sum for mean", lambda m, s: np.linalg.norm(np.hypot(m, s))),
    ("6.2", "prior for each weight", np.hypot),
    ("6.2", "standard deviations averaged", lambda m, s: np.hypot(m, s).mean()),
    ("6.2", "σ is missing", lambda m, s: np.linalg.norm(m) / np.sqrt(len(m))),
    ("6.2", "μ is missing", lambda m, s: np.linalg.norm(s) / np.sqrt(len(m))),
    ("6.3", "statement a is not true", "abce"),
    ("6.3", "statement d is not true", "bcde"),
    ("6.3", "statement f is not true", "bcef"),
    ("6.3", "statement b was left out", "ce"),
    ("6.4", "KL is missing", lambda g, r, e, d: gamma_step(g, r, e, d, 0.0)),
    ("6.4", "½ is missing", lambda g, r, e, d: gamma_step(g, r, e, d, 2 * g / (1 + g * g))),
    ("6.4", "weight decay", lambda g, r, e, d: gamma_step(g, r, e, d, g)),
    ("6.4", "wrong sign of the KL", lambda g, r, e, d: gamma_step(g, r, e, d, -g / (1 + g * g))),
    ("6.4", "∂w/∂γ is missing", lambda g, r, e, d: d + g / (1 + g * g)),
    ("6.4", "∂w/∂σ for ∂w/∂γ", lambda g, r, e, d: d * (g + e) + g / (1 + g * g)),
    ("6.4", "ε where there is none", lambda g, r, e, d: d * softplus(r) * e + g / (1 + g * g)),
    ("6.4", "KL for its slope", lambda g, r, e, d: gamma_step(g, r, e, d, np.log1p(g * g) / 2)),
    ("6.5", "exp for softplus", lambda g, r, e, d: (g + e) * d * np.exp(r)),
    ("6.5", "σ twice", lambda g, r, e, d: d * (g + e) * softplus(r) * expit(r)),
    ("6.5", "mean held still", lambda g, r, e, d: d * e * expit(r)),
    ("6.5", "softplus forgotten", lambda g, r, e, d: d * (g + e)),
    ("6.5", "softplus for its derivative", lambda g, r, e, d: d * (g + e) * softplus(r)),
    ("6.5", "KL where there is none", lambda g, r, e, d: d * (g + e) * expit(r) + g / (1 + g * g)),
    ("6.7", "ln|γ|", lambda g: np.log(np.sqrt(abs(g))) * 2),
    ("6.7", "overflow", lambda g: 0.5 * np.log1p(g**2)),
    ("6.7", "overflow", lambda g: 0.5 * np.log(1 + np.square(g))),
    ("6.7", "½ is missing", lambda g: 2 * np.log(np.hypot(1, g))),
    ("6.7", "ln(1 + |γ|)", lambda g: np.log(1 + abs(g))),
    ("6.7", "summed", lambda g: np.log(np.hypot(1, g)).sum()),
]


# The two experiments: other ways than the references'.


def each_prior(x: Any, y: Any, noise_std: Any, rounds: int = 30) -> Any:
    """Tipping & Faul: (6.16) for one weight after the other, with what the others leave."""
    found = np.zeros(x.shape[::2])
    for x_k, y_k, std in zip(x, y, found, strict=True):
        std[:] = 0.5
        for weight in list(range(len(std))) * rounds:
            others = np.where(np.arange(len(std)) == weight, 0.0, std)
            cov = noise_std**2 * np.eye(len(y_k)) + (x_k * others**2) @ x_k.T
            pulled = np.linalg.solve(cov, x_k[:, weight])
            s, b = pulled @ x_k[:, weight], pulled @ y_k
            std[weight] = np.sqrt(max((b**2 - s) / s**2, 0.0))
    return found


def bar(height: float) -> Any:
    """Keep what is so many standard errors from 0, by a QR factorisation."""

    def keep(x: Any, y: Any, noise_std: Any) -> Any:
        q, r = np.linalg.qr(x)
        inverse = np.linalg.inv(r)
        return [abs(row @ q.T @ y) > height * noise_std * np.linalg.norm(row) for row in inverse]

    return keep


def by_size(x: Any, y: Any, noise_std: Any) -> Any:
    size = abs(np.linalg.lstsq(x, y, rcond=None)[0])
    return size >= np.sort(size)[-10]


RIGHT["6.10"] = each_prior
RIGHT["6.11"] = bar(2.2)
ALSO += [
    ("6.10", lambda x, y, s: each_prior(x, y, s).tolist()),
    ("6.11", bar(3.0)),
    ("6.11", lambda x, y, s: 1.0 * np.array(bar(3.5)(x, y, s))),
]
WRONG += [
    ("6.10", "worse than one prior", lambda x, y, s: np.ones(x.shape[::2])),
    ("6.10", "noise fills", lambda x, y, s: 1 / (each_prior(x, y, s) + 0.1)),
    ("6.10", "no weight has room", lambda x, y, s: 0.0 * np.ones(x.shape[::2])),
    ("6.10", "no weight has room", lambda x, y, s: np.full(x.shape[::2], 0.01)),
    (
        "6.10",
        "too little is gained",
        lambda x, y, s: [
            abs(np.linalg.lstsq(a, b, rcond=None)[0]) for a, b in zip(x, y, strict=True)
        ],
    ),
    ("6.10", "your answer contains NaN", lambda x, y, s: np.full(x.shape[::2], np.nan)),
    ("6.10", "no standard deviations", lambda x, y, s: -each_prior(x, y, s)),
    ("6.10", "expected shape (6, 20)", lambda x, y, s: each_prior(x, y, s)[0]),
    ("6.11", "useless weights are kept", bar(1.0)),
    ("6.11", "useful weights are thrown away", bar(6.0)),
    ("6.11", "useful weights are thrown away", lambda x, y, s: np.zeros(40)),
    ("6.11", "useless ones kept", by_size),
    ("6.11", "neither yes nor no", lambda x, y, s: x[0]),
    ("6.11", "expected shape (40,)", lambda x, y, s: True),
]


# One of several patients.


def nobody(f: Any) -> Any:
    """By logarithms: e to the sum of log(1 − p), averaged over the draws."""
    return np.exp(logsumexp(log_expit(-f).sum(axis=1)) - np.log(len(f)))


RIGHT["6.9"] = lambda f: 1 - nobody(f)
ALSO += [
    ("6.9", single(lambda f: 1 - np.mean(np.prod(1 - expit(f), axis=1)))),
    ("6.9", tensors(lambda f: tf.reduce_mean(1 - tf.reduce_prod(tf.sigmoid(-f), axis=1)))),
    ("6.9", lambda f: [np.mean([1 - np.prod(1 - expit(row)) for row in f])]),
]
WRONG += [
    ("6.9", "each patient by himself", lambda f: 1 - np.prod(expit(-f).mean(0))),
    ("6.9", "none of them", nobody),
    ("6.9", "all of them", lambda f: expit(f).prod(axis=1).mean()),
    ("6.9", "not all of them", lambda f: 1 - expit(f).prod(axis=1).mean()),
    ("6.9", "probabilities added", lambda f: expit(f).sum(axis=1).mean()),
    ("6.9", "most probable patient", lambda f: max(expit(f).mean(0))),
    ("6.9", "plug-in", lambda f: 1 - (1 - expit(f.mean(0))).prod()),
    ("6.9", "a vote", lambda f: np.mean(np.max(f, axis=1) > 0)),
    ("6.9", "axes swapped", lambda f: 1 - nobody(f.T)),
    ("6.9", "not averaged", lambda f: 1 - expit(-f).prod(axis=1)),
    ("6.9", "one probability a patient", lambda f: expit(f).mean(0)),
    ("6.9", "mean of logarithms", lambda f: 1 - np.exp(log_expit(-f).sum(1).mean())),
    ("6.9", "the mean patient", lambda f: expit(f).mean()),
    ("6.9", "expected", lambda f: 1 - nobody(np.tanh(f))),
    ("6.9", "expected", lambda f: expit(f).std()),
    ("6.9", "expected", lambda f: np.round(1 - nobody(f))),
]
