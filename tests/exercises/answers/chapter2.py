"""Chapter 2: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
import tensorflow as tf
from scipy.special import log_expit, logsumexp

from bdl_teach import densities
from bdl_teach.backend import tfd

F32 = np.float32


def kl(mean: Any, std: Any) -> Any:
    """By the variance and the logarithm of the variance."""
    var = std**2
    return np.sum(mean**2 + var - np.log(var) - 1, axis=1) / 2


def softplus(rho: Any) -> Any:
    return np.log1p(np.exp(rho))


def leave_one_out(f: Any, score: Any) -> Any:
    """By the identity f_i − mean of the others = S/(S − 1) (f_i − mean of all)."""
    n = len(f)
    return n / (n - 1) * np.mean((f - f.mean()) * score)


def safe_log_mean(log_w: Any) -> Any:
    top = log_w.max()
    return top + np.log(np.mean(np.exp(log_w - top)))


def tf32(*values: Any) -> Any:
    return [tf.cast(v, tf.float32) for v in values]


def kl_tf(mean: Any, std: Any) -> Any:
    m, s = tf32(mean, std)
    q = tfd.MultivariateNormalDiag(m, s)
    return tfd.kl_divergence(q, tfd.MultivariateNormalDiag(tf.zeros_like(m), tf.ones_like(s)))


def draw_tf(mean: Any, rho: Any, eps: Any) -> Any:
    m, r, e = tf32(mean, rho, eps)
    return m + tf.nn.softplus(r) * e


def baseline_by_loop(f: Any, score: Any) -> Any:
    total = 0.0
    for i in range(len(f)):
        total += (f[i] - np.delete(f, i).mean()) * score[i]
    return np.array([total / len(f)])


def baseline_tf(f: Any, score: Any) -> Any:
    f, g = tf32(f, score)
    n = float(len(f))
    return tf.reduce_mean((f - (tf.reduce_sum(f) - f) / (n - 1)) * g)


def centred_scores(f: Any, g: Any) -> Any:
    return len(f) / (len(f) - 1) * np.mean((f - f.mean()) * (g - g.mean()))


RIGHT: dict[str, Any] = {
    "2.1": kl,
    "2.2": lambda m, r, e: softplus(r) * e + m,
    "2.4": "bdf",
    "2.7": leave_one_out,
    "2.8": safe_log_mean,
}

# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = [
    (
        "2.2",
        lambda m, r, e: [a + np.log1p(np.exp(b)) * c for a, b, c in zip(m, r, e, strict=True)],
    ),
    ("2.1", kl_tf),
    ("2.1", lambda m, s: kl(F32(m), F32(s))),
    ("2.1", lambda m, s: densities.gaussian_kl(m, s, 0.0, 1.0).sum(axis=-1)),
    (
        "2.1",
        lambda m, s: [sum((a * a + b * b - 1) / 2 - np.log(b)) for a, b in zip(m, s, strict=True)],
    ),
    ("2.2", draw_tf),
    ("2.2", lambda m, r, e: F32(m) + np.log1p(np.exp(F32(r))) * F32(e)),
    ("2.2", lambda m, r, e: m + np.log(1 + np.exp(r)) * e),
    ("2.2", lambda m, r, e: m - log_expit(-np.asarray(r)) * e),
    ("2.7", baseline_by_loop),
    ("2.7", baseline_tf),
    ("2.7", lambda f, g: np.cov(f, g)[0, 1]),
    ("2.7", centred_scores),
    ("2.7", lambda f, g: leave_one_out(F32(f), F32(g))),
    ("2.7", lambda f, g: np.sum((f - f.mean()) * g) / (len(f) - 1)),
    ("2.8", lambda a: logsumexp(a, b=1 / len(a))),
    ("2.8", lambda a: safe_log_mean(F32(a))),
    ("2.8", lambda a: tf.reduce_logsumexp(tf.cast(a, tf.float32)) - np.log(len(a))),
    ("2.8", lambda a: [np.logaddexp.reduce(a) - np.log(a.size)]),
]

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("2.8", "expected", lambda w: -abs(logsumexp(w) - np.log(len(w)))),
    ("2.2", "expected", lambda m, r, e: m + np.maximum(np.logaddexp(0, r), 1e-3) * e),
    ("2.8", "infinite", lambda w: np.log(np.mean(np.exp(w + 9e3))) - 9e3),
    ("2.4", "statement a is not true", "abdf"),
    ("2.8", "expected", lambda a: -safe_log_mean(-a)),
    ("2.1", "expected", lambda m, s: kl(m, s + 1e-3)),
    ("2.1", "expected", lambda m, s: kl(m, np.clip(s, 1e-2, None))),
    ("2.1", "expected", lambda m, s: kl(m - m.mean(0), s)),
    ("2.2", "expected", lambda m, r, e: softplus(m + r * e)),
    ("2.2", "expected", lambda m, r, e: m + softplus(r) * abs(e)),
    ("2.7", "expected", lambda f, g: np.mean((f - np.median(f)) * g)),
    ("2.7", "expected", lambda f, g: np.mean((f - np.roll(f, 1)) * g)),
    ("2.7", "expected", lambda f, g: np.mean((f - f.min()) * g)),
]


# The gradient by σ, and the experiments.


def score_by_tape(f: Any, z: Any, mu: float, sigma: float) -> Any:
    s = tf.Variable(sigma, dtype=tf.float64)
    with tf.GradientTape() as tape:
        weighed = tf.reduce_mean(f * tfd.Normal(np.float64(mu), s).log_prob(z))
    return tape.gradient(weighed, s)


def crossing(mu: float, sigma: float, curvature: float) -> Any:
    """Where the two variances of the same draws cross, along a fine axis."""
    z = mu + sigma * np.random.default_rng(1).standard_normal(40_000)
    for a in np.geomspace(0.003, 10, 160):
        score = (curvature / 2 * (z - 1) ** 2 + a * np.cos(10 * z)) * (z - mu) / sigma**2
        if score.var() < np.var(curvature * (z - 1) - 10 * a * np.sin(10 * z)):
            return a
    return None


RIGHT["2.3"] = lambda f, z, m, s: f @ (((z - m) / s) ** 2 - 1) / s / len(f)
RIGHT["2.9"] = crossing
RIGHT["2.10"] = lambda shuffles: 1.17
ALSO += [
    ("2.3", score_by_tape),
    ("2.3", lambda f, z, m, s: [np.mean(f * (z - m - s) * (z - m + s)) / s**3]),
    (
        "2.3",
        lambda f, z, m, s: np.mean(F32(f) * ((F32(z) - F32(m)) ** 2 / F32(s) ** 3 - 1 / F32(s))),
    ),
    ("2.9", lambda *case: F32(1.03 * crossing(*case))),
    ("2.10", lambda shuffles: 1.15),
    ("2.10", lambda shuffles: 1.19),
    ("2.10", lambda shuffles: 1.25),
]
WRONG += [
    ("2.3", "expected", lambda f, z, m, s: RIGHT["2.3"](f - f.mean(), z, m, s)),
    ("2.9", "below 0", lambda *case: -crossing(*case)),
    ("2.9", "noisier still", lambda *case: 0.5 * crossing(*case)),
    ("2.9", "quieter already", lambda *case: 2 * crossing(*case)),
    ("2.9", "does not do what is asked", lambda mu, sigma, curvature: 0.3),
    ("2.10", "says too much", lambda shuffles: 1.0),
    ("2.10", "says too little", lambda shuffles: 1.32),
    ("2.10", "not above 0", lambda shuffles: 0.0),
    ("2.10", "expected one number", lambda shuffles: [1.2, 1.2]),
]


# Free nats, and grey values.


def price(kl: Any, free: float) -> Any:
    said = np.mean(kl, axis=0)
    return sum(free if nats < free else nats for nats in said)


def free_nats_tf(a: Any, k: Any, free: float) -> Any:
    a, k = tf32(a, k)
    return tf.reduce_sum(tf.nn.relu(tf.reduce_mean(k, 0) - free) + free) - tf.reduce_mean(a)


def grey(x: Any, a: Any) -> Any:
    """By the integral from 0 to 1 of e^(xa), the larger end taken out."""
    size = np.maximum(abs(a), 1e-6)
    return np.sum(x * a - np.maximum(a, 0) - np.log(-np.expm1(-size)) + np.log(size), axis=1)


def grey_tf(x: Any, a: Any) -> Any:
    return tf.reduce_sum(tfd.ContinuousBernoulli(logits=tf.constant(a)).log_prob(x), axis=1)


RIGHT["2.5"] = lambda a, k, free: price(k, free) - a.mean()
RIGHT["2.6"] = grey
ALSO += [
    ("2.5", free_nats_tf),
    ("2.5", lambda a, k, free: [np.maximum(F32(k).mean(0), F32(free)).sum() - F32(a).mean()]),
    ("2.5", lambda a, k, free: np.mean(price(k, free) - a)),
    ("2.6", grey_tf),
    (
        "2.6",
        lambda x, a: [
            sum(row)
            for row in (x - 0.5) * a
            - np.log(
                np.where(a == 0, 1, 1 / np.where(a == 0, 1, a) * np.sign(a) * -np.expm1(-abs(a)))
            )
            - abs(a) / 2
        ],
    ),
    ("2.6", lambda x, a: grey(F32(x), F32(a))),
]
WRONG += [
    ("2.5", "expected", lambda a, k, free: price(k, free) - a.max()),
    ("2.5", "expected", lambda a, k, free: price(k, free) - np.median(a)),
    ("2.5", "expected", lambda a, k, free: price(k, 2 * free) - a.mean()),
    ("2.6", "expected", lambda x, a: grey(x, a / 2)),
    ("2.6", "expected", lambda x, a: np.maximum(grey(x, a), -100)),
    ("2.6", "NaN", lambda x, a: np.full(len(x), np.nan)),
]
