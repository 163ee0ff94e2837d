"""Chapter 6: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
import tensorflow as tf
from scipy.optimize import minimize_scalar
from scipy.special import erf, erfc, expit, log_expit, logsumexp

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
    ("6.6", "expected", kept_or_0(lambda ratio: (ratio - 1 - np.log(ratio + 1e-3)) / 2)),
    ("6.1", "expected", lambda m, s: np.sum((m / s) ** 2) / 2),
    ("6.1", "expected", lambda m, s: np.log(1 + abs(m.sum()) ** 2 / (s**2).sum()) / 2),
    ("6.1", "expected", lambda m, s: np.log(1 + np.minimum(m**2 / s**2, 1e6)).sum() / 2),
    ("6.2", "expected", lambda m, s: np.exp(np.mean(np.log(np.hypot(m, s))))),
    ("6.2", "expected", lambda m, s: np.sqrt(np.median(m**2 + s**2))),
    ("6.2", "expected", lambda m, s: np.mean(abs(m) + s)),
    ("6.4", "expected", lambda g, r, e, d: gamma_step(g, r, e, d, g / (1 + g))),
    ("6.4", "expected", lambda g, r, e, d: gamma_step(g, r, e, d, g / (1 + g**2) ** 0.5)),
    ("6.4", "expected", lambda g, r, e, d: d * np.log10(1 + np.exp(r)) + g / (1 + g**2)),
    ("6.5", "expected", lambda g, r, e, d: d * g * e * expit(r)),
    ("6.5", "expected", lambda g, r, e, d: d * (g + e) * np.tanh(r)),
    ("6.5", "expected", lambda g, r, e, d: d + (g + e) * expit(r)),
    ("6.6", "every way through", lambda x, y, s: worth(x, y, s) or None),
    ("6.7", "expected", lambda g: np.nan_to_num(np.log1p(g**2) / 2)),
    ("6.7", "expected", lambda g: np.nan_to_num(np.log1p(g**2) / 2, posinf=0)),
    ("6.7", "expected", lambda g: np.log(abs(g) + 1e-8)),
    ("6.8", "expected", lambda x, g, s: on(x, g, s, (x**2 @ s**2 + 1e-5) ** 0.5)),
    ("6.8", "expected", lambda x, g, s: on(x, g, s, np.linalg.norm(s, axis=0))),
    ("6.3", "statement a is not true", "abce"),
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
    ("6.10", "no weight has room", lambda x, y, s: 0.0 * np.ones(x.shape[::2])),
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
    ("6.9", "expected", lambda f: 1 - nobody(np.tanh(f))),
    ("6.9", "expected", lambda f: expit(f).std()),
    ("6.9", "expected", lambda f: np.round(1 - nobody(f))),
]
