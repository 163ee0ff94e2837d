"""Chapter 8: right answers written in another way than the references, and wrong ones."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
import tensorflow as tf
from scipy.optimize import minimize_scalar

from answers.forms import tensors
from bdl_teach import datasets, densities
from bdl_teach.backend import tfp
from bdl_teach.methods import exact, point

GAP = (0.1, 0.4)
SETTINGS: dict[str, Any] = {"prior": densities.Gaussian(3.0), "hidden_units": (20,)}


def tf_lowest(first: Any, second: Any) -> Any:
    path = tf.concat([first, second], axis=1)
    return tf.reduce_min(tf.reduce_max(path, axis=1)) - tf.maximum(path[0, 0], path[0, -1])


def tf_anchors(x: Any, p: Any, s: Any) -> Any:
    return p**2 * (tf.eye(x.shape[1]) + (p / s) ** 2 * tf.transpose(x) @ x)


def tf_dropout(contributions: Any, group: Any, rate: Any) -> Any:
    one_hot = tf.one_hot(tf.unique(group)[1], len(group))
    return tf.sqrt(rate / (1 - rate) * tf.reduce_sum((contributions @ one_hot) ** 2, axis=1))


def tf_doubt(seen: Any, new: Any, p: Any, s: Any) -> Any:
    lam = tf.transpose(seen) @ seen / s**2 + tf.eye(seen.shape[1]) / p**2
    g = tf.reduce_mean(new, axis=0)[:, None]
    return tf.sqrt(tf.reduce_sum(g * tf.linalg.solve(lam, g)))


def tf_pull(w: Any, seen: Any, p: Any, s: Any) -> Any:
    k = len(w)
    told = tf.transpose(seen) @ seen * (p / s) ** 2 + tf.eye(k)
    return tf.reduce_sum(w**2) / p**2 - k + tf.linalg.trace(tf.linalg.inv(told))


def tf_step(w: Any, v: Any, g: Any, rate: Any, b: Any, t: Any, xi: Any) -> Any:
    v = b * v - rate * g + tf.sqrt(2 * (1 - b) * rate * t) * xi
    return w + v, v


def tf_price(m: Any, d: Any, c: Any, p: Any) -> Any:
    tfd = tfp.distributions
    q = tfd.MultivariateNormalDiagPlusLowRankCovariance(m, d**2, c)
    square = tf.reduce_sum(m**2) + tf.reduce_sum(q.variance())
    return square / (2 * p**2) + len(m) * tf.math.log(p * (2 * math.pi) ** 0.5) - q.entropy()


@lru_cache(maxsize=8)
def features(seed: int) -> Any:
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=seed, gap=GAP)
    w = point.fit(data.x, data.y, **SETTINGS).weights
    h = np.maximum(0, data.x * w[:20] + w[20:40])
    return np.hstack([h, np.ones_like(data.x)]), data.y


def deserved(seed: int) -> Any:
    phi, y = features(seed)

    def cost(log_sd: float) -> float:
        return -exact.linear_regression(phi, y, math.exp(log_sd), 1.0).log_evidence

    return math.exp(minimize_scalar(cost, bounds=(-2, 5), method="bounded").x)


RIGHT: dict[str, Any] = {
    "8.1": tensors(tf_lowest),
    "8.2": tensors(tf_anchors),
    "8.3": tensors(tf_dropout),
    "8.4": tensors(tf_doubt),
    "8.5": "adf",
    "8.6": tensors(tf_pull),
    "8.7": tensors(tf_step),
    "8.8": tensors(tf_price),
    "8.9": deserved,
    "8.10": lambda seed: 0.01,
}

WRONG: list[tuple[str, str, Any]] = [
    ("8.9", "the variance", lambda seed: deserved(seed) ** 2),
    ("8.9", "the prior that it was trained with", lambda seed: 3.0),
    ("8.9", "no standard deviation", lambda seed: -deserved(seed)),
    ("8.9", "too narrow", lambda seed: 1.5),
    ("8.9", "too wide", lambda seed: 45.0),
    ("8.10", "no dropout", lambda seed: 0.0),
    ("8.10", "near the usual rate", lambda seed: 0.1),
    ("8.10", "the probability of keeping", lambda seed: 0.99),
    ("8.10", "no rate", lambda seed: 1.0),
    ("8.10", "above the usual rate", lambda seed: 0.5),
]
