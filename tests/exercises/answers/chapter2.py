"""Chapter 2: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
import tensorflow as tf
from scipy.special import logsumexp

from answers.forms import reference
from bdl_teach.backend import tfd

F32 = np.float32


def tf32(*values: Any) -> Any:
    return [tf.cast(v, tf.float32) for v in values]


def kl_tf(mean: Any, std: Any) -> Any:
    m, s = tf32(mean, std)
    q = tfd.MultivariateNormalDiag(m, s)
    return tfd.kl_divergence(q, tfd.MultivariateNormalDiag(tf.zeros_like(m), tf.ones_like(s)))


def draw_tf(mean: Any, rho: Any, eps: Any) -> Any:
    m, r, e = tf32(mean, rho, eps)
    return m + tf.nn.softplus(r) * e


def baseline_tf(f: Any, score: Any) -> Any:
    f, g = tf32(f, score)
    n = float(len(f))
    return tf.reduce_mean((f - (tf.reduce_sum(f) - f) / (n - 1)) * g)


def crossing(mu: float, sigma: float, curvature: float) -> Any:
    """Where the two variances of the same draws cross, along a fine axis."""
    z = mu + sigma * np.random.default_rng(1).standard_normal(40_000)
    for a in np.geomspace(0.003, 10, 160):
        score = (curvature / 2 * (z - 1) ** 2 + a * np.cos(10 * z)) * (z - mu) / sigma**2
        if score.var() < np.var(curvature * (z - 1) - 10 * a * np.sin(10 * z)):
            return a
    return None


def free_nats_tf(a: Any, k: Any, free: float) -> Any:
    a, k = tf32(a, k)
    return tf.reduce_sum(tf.nn.relu(tf.reduce_mean(k, 0) - free) + free) - tf.reduce_mean(a)


def grey(x: Any, a: Any) -> Any:
    """By the integral from 0 to 1 of e^(xa), the larger end taken out."""
    size = np.maximum(abs(a), 1e-6)
    return np.sum(x * a - np.maximum(a, 0) - np.log(-np.expm1(-size)) + np.log(size), axis=1)


def grey_tf(x: Any, a: Any) -> Any:
    return tf.reduce_sum(tfd.ContinuousBernoulli(logits=tf.constant(a)).log_prob(x), axis=1)


RIGHT: dict[str, Any] = {
    "2.1": kl_tf,
    "2.2": draw_tf,
    "2.3": lambda f, z, m, s: np.mean(F32(f) * ((F32(z) - F32(m)) ** 2 / F32(s) ** 3 - 1 / F32(s))),
    "2.4": "bdf",
    "2.5": free_nats_tf,
    "2.6": grey_tf,
    "2.7": baseline_tf,
    "2.8": lambda a: tf.reduce_logsumexp(tf.cast(a, tf.float32)) - np.log(len(a)),
    "2.9": lambda *case: F32(1.03 * crossing(*case)),
    "2.10": lambda shuffles: 1.15,
}

ALSO: list[tuple[str, Any]] = [
    ("2.6", lambda x, a: grey(F32(x), F32(a))),
    ("2.10", lambda shuffles: 1.25),
]

WRONG: list[tuple[str, str, Any]] = [
    ("2.1", "expected", lambda m, s: reference("2.1")(m, np.clip(s, 1e-2, None))),
    ("2.2", "expected", lambda m, r, e: m + np.maximum(np.logaddexp(0, r), 1e-3) * e),
    ("2.6", "expected", lambda x, a: np.maximum(reference("2.6")(x, a), -100)),
    ("2.8", "expected", lambda w: -abs(logsumexp(w) - np.log(len(w)))),
    ("2.8", "infinite", lambda w: np.log(np.mean(np.exp(w + 9e3))) - 9e3),
    ("2.9", "below 0", lambda *case: -reference("2.9")(*case)),
    ("2.9", "noisier still", lambda *case: 0.5 * reference("2.9")(*case)),
    ("2.9", "quieter already", lambda *case: 2 * reference("2.9")(*case)),
    ("2.10", "says too much", lambda shuffles: 1.0),
    ("2.10", "says too little", lambda shuffles: 1.32),
    ("2.10", "not above 0", lambda shuffles: 0.0),
]
