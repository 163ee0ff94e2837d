"""Chapter 6: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
import tensorflow as tf

from answers.forms import reference, tensors


def tf_worth(x: Any, y: Any, s: Any) -> Any:
    ratio = tf.maximum(tf.reduce_sum(x * y) ** 2 / tf.reduce_sum(x**2) / s**2, 1.0)
    return (ratio - 1 - tf.math.log(ratio)) / 2


def tf_on(x: Any, g: Any, s: Any) -> Any:
    z = x @ (g * s) / tf.sqrt(x**2 @ s**2)
    return 0.5 * (1 + tf.math.erf(z / 2**0.5))


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


RIGHT: dict[str, Any] = {
    "6.1": tensors(tf_kl),
    "6.2": tensors(lambda m, s: tf.sqrt(tf.reduce_mean(m**2 + s**2))),
    "6.3": "bce",
    "6.4": tape(0),
    "6.5": tape(1),
    "6.6": tensors(tf_worth),
    "6.7": lambda g: np.log(np.abs(1 + 1j * g)),
    "6.8": tensors(tf_on),
    "6.9": tensors(lambda f: tf.reduce_mean(1 - tf.reduce_prod(tf.sigmoid(-f), axis=1))),
    "6.10": each_prior,
    "6.11": lambda x, y, s: 1.0 * np.array(bar(3.5)(x, y, s)),
}

WRONG: list[tuple[str, str, Any]] = [
    ("6.1", "expected", lambda m, s: np.log(1 + np.minimum(m**2 / s**2, 1e6)).sum() / 2),
    ("6.6", "expected", lambda x, y, s: reference("6.6")(x, y, max(s, 0.01))),
    ("6.7", "expected", lambda g: np.nan_to_num(np.log1p(g**2) / 2)),
    ("6.7", "expected", lambda g: np.log(abs(g) + 1e-8)),
    ("6.10", "worse than one prior", lambda x, y, s: np.ones(x.shape[::2])),
    ("6.10", "no weight has room", lambda x, y, s: 0.0 * np.ones(x.shape[::2])),
    (
        "6.10",
        "too little is gained",
        lambda x, y, s: [
            abs(np.linalg.lstsq(a, b, rcond=None)[0]) for a, b in zip(x, y, strict=True)
        ],
    ),
    ("6.10", "no standard deviations", lambda x, y, s: -each_prior(x, y, s)),
    ("6.11", "useless weights are kept", bar(1.0)),
    ("6.11", "useful weights are thrown away", bar(6.0)),
    ("6.11", "useless ones kept", by_size),
    ("6.11", "neither yes nor no", lambda x, y, s: x[0]),
]
