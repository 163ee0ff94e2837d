"""Chapter 5: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
import scipy
import tensorflow as tf

from answers.forms import single, tensors


def covariance(x: Any, sigma: Any, machine: Any) -> Any:
    """Machine by machine: a block of the matrix each."""
    out = np.zeros((len(x), len(x)))
    for k in np.unique(machine):
        (rows,) = np.nonzero(machine == k)
        out[np.ix_(rows, rows)] = (x[rows] * sigma) @ (x[rows] * sigma).T
    return out


def together_on(machine: Any) -> Any:
    """By one-hot codes of the machines."""
    hot = np.eye(max(machine) + 1)[machine]
    return hot @ hot.T


def minibatch(n: Any, m: Any, v: Any, c: Any, spread: Any) -> Any:
    """By the covariance of two different rows of a minibatch, over both."""
    one, two = v + spread, c - spread / (n - 1)
    return (n / m) ** 2 * (m * one + m * (m - 1) * two)


def ratio(x: Any) -> Any:
    log = 2 * np.log(np.abs(x[x != 0]))
    return np.exp(2 * np.logaddexp.reduce(log) - np.logaddexp.reduce(2 * log))


RIGHT: dict[str, Any] = {
    "5.3": "ace",
    "5.4": covariance,
    "5.5": minibatch,
    "5.6": ratio,
}


def scaled_gain(scale: Any) -> Any:
    """The gain of inputs divided by a scale."""
    return lambda x: np.sum((x / scale(x)) ** 2) ** 2 / np.sum((x / scale(x)) ** 4)


def pairs(n: Any, m: Any, v: Any, c: Any, spread: Any) -> Any:
    two = c - spread / (n - 1)
    matrix = np.full((m, m), two) + (v + spread - two) * np.eye(m)
    return (n / m) ** 2 * matrix.sum()


def with_rows(given_rows: Any) -> Any:
    return lambda n, m, v, c, d: given_rows(n, m, v, c) + minibatch(n, m, 0, 0, d)


# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = [
    ("5.3", {"(a)", "(c)", "(e)"}),
    ("5.3", "(a) (c) (e)"),
    ("5.3", {"a": True, "b": False, "c": True, "d": False, "e": True}),
    ("5.3", ("A", "C", "E")),
    ("5.4", single(covariance)),
    (
        "5.4",
        tensors(
            lambda x, s, k: tf.where(
                k[:, None] == k[None], tf.matmul(x * s**2, x, transpose_b=True), 0.0
            )
        ),
    ),
    ("5.4", lambda x, s, k: (x * s) @ (x * s).T * together_on(k)),
    ("5.4", lambda x, s, k: np.einsum("mi,ni,i,mn->mn", x, x, s**2, np.equal.outer(k, k))),
    (
        "5.4",
        lambda x, s, k: [
            [sum(a * b * s**2) if i == j else 0 for b, j in zip(x, k, strict=True)]
            for a, i in zip(x, k, strict=True)
        ],
    ),
    ("5.5", lambda n, m, v, c, d: n * n * (c + (v - c) / m + (n / m - 1) / (n - 1) * d)),
    ("5.5", single(minibatch)),
    ("5.5", lambda n, m, v, c, d: [n**2 * (v + (m - 1) * c + (n - m) * d / (n - 1)) / m]),
    ("5.5", lambda n, m, v, c, d: tf.constant(minibatch(n, m, v, c, d), tf.float32)),
    ("5.5", pairs),
    ("5.6", scaled_gain(lambda x: np.abs(x).mean())),
    ("5.6", scaled_gain(lambda x: np.abs(x).sum())),
    ("5.6", scaled_gain(lambda x: -np.abs(x).max())),
    ("5.6", lambda x: scaled_gain(np.max)(np.abs(x))),
    ("5.6", lambda x: np.float64(np.sum(np.longdouble(x) ** 2) ** 2 / sum(np.longdouble(x) ** 4))),
    (
        "5.6",
        lambda x: (scipy.linalg.norm(x / abs(x).max()) / np.linalg.norm(x / abs(x).max(), 4)) ** 4,
    ),
]

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("5.4", "expected", lambda x, s, k: covariance(x, np.clip(s, 0.01, 3), k)),
    ("5.5", "expected", lambda n, m, v, c, d: minibatch(n, m, max(v, 0.01), c, d)),
    ("5.3", "statement c was left out", {"(a)"}),
    ("5.4", "expected", lambda x, s, k: np.tril(covariance(x, s, k))),
    ("5.4", "expected", lambda x, s, k: abs(covariance(x, s, k))),
    (
        "5.5",
        "expected",
        with_rows(lambda n, m, v, c: n * n / m * v + (n / m) ** 2 * n * (n - 1) * c),
    ),
    ("5.5", "expected", with_rows(lambda n, m, v, c: n**2 * (v + (m - 1) * c / m))),
    ("5.6", "expected", lambda x: ratio(np.clip(x, -1e75, 1e75))),
    ("5.6", "expected", lambda x: np.nan_to_num(np.sum(x**2) ** 2 / np.sum(x**4))),
    ("5.6", "expected", lambda x: ratio(np.abs(x) ** 0.5)),
]


# The two experiments: other ways than the references'.


def balanced(x: Any, y: Any, mu: Any, sigma: Any, noise_std: Any, budget: Any) -> Any:
    """Where the two noises that M and K can move are balanced: M² = budget · rows' / draw's."""
    of_rows, of_draw = np.var(x * (mu * x - y)), (sigma * np.mean(x * x)) ** 2
    rows = int(np.clip(round((budget * of_rows / of_draw) ** 0.5), 1, budget))
    return rows, budget // rows


def by_steps(sizes: Any, mu_gradients: Any, sigma_gradients: Any) -> Any:
    """A flat line loses less than a half in the three steps of four times the batch."""
    falls = [
        np.median(np.diff(np.log(np.var(g, axis=2)), axis=1), axis=1) < -0.5 * np.log(4)
        for g in (mu_gradients, sigma_gradients)
    ]
    return [1 if b else 2 if a else 0 for a, b in zip(*falls, strict=True)]


RIGHT["5.8"] = balanced
RIGHT["5.9"] = by_steps
ALSO += [
    ("5.8", lambda x, y, m, d, s, budget: np.array({2.0: (4, 64), 0.3: (32, 8)}.get(d, (85, 3)))),
    ("5.9", lambda n, m, s: np.array(by_steps(n, m, s), dtype=np.float32)),
]
WRONG += [
    ("5.8", "too few draws of w", lambda x, y, m, d, s, budget: (budget, 1)),
    ("5.8", "too few rows", lambda x, y, m, d, s, budget: (1, budget)),
    ("5.8", "one split for all worlds", lambda x, y, m, d, s, budget: (16, 16)),
    ("5.8", "no split of the budget", lambda x, y, m, d, s, budget: (budget, budget)),
    ("5.8", "contains NaN", lambda x, y, m, d, s, budget: (np.nan, 1)),
    ("5.8", "M and K are swapped", lambda *world: balanced(*world)[::-1]),
    (
        "5.8",
        "too few rows here, too few draws there",
        lambda x, y, m, d, s, budget: {2.0: (256, 1), 0.3: (32, 8)}.get(d, (2, 128)),
    ),
    ("5.8", "expected a pair of numbers", lambda x, y, m, d, s, budget: 64),
    ("5.9", "expected shape (3,)", lambda n, m, s: 1),
]


# Weights that move together, multiplicative noise, and Flipout backwards.


def together(x: Any, mu: Any, sigma: Any, u: Any) -> Any:
    """By the covariance of the weights of each unit."""
    covs = [np.diag(sd**2) + np.outer(v, v) for sd, v in zip(sigma.T, u.T, strict=True)]
    return x @ mu, np.stack([np.einsum("ni,ij,nj->n", x, cov, x) for cov in covs], axis=1)


def multiplied(x: Any, theta: Any, alpha: Any, zeta: Any) -> Any:
    scaled = x[:, :, None] * theta  # [n, in, out]
    return scaled.sum(axis=1) + (scaled**2 * alpha).sum(axis=1) ** 0.5 * zeta


def flipout_slope(x: Any, eps: Any, r: Any, s: Any, g: Any) -> Any:
    """Row by row, with the change of the weights that this row saw."""
    rows = zip(x, r, s, g, strict=True)
    return sum(np.outer(a * q, b * t) for a, t, q, b in rows) * eps


def flipout_by_tape(x: Any, eps: Any, r: Any, s: Any, g: Any) -> Any:
    sigma = tf.Variable(np.ones_like(eps))
    with tf.GradientTape() as tape:
        b = tf.matmul(x * s, sigma * eps) * r
        loss = tf.reduce_sum(b * g)
    return tape.gradient(loss, sigma)


RIGHT |= {"5.1": together, "5.2": multiplied, "5.7": flipout_slope}
ALSO += [
    ("5.1", single(together)),
    ("5.1", tensors(lambda x, m, s, u: (x @ m, x**2 @ s**2 + (x @ u) ** 2))),
    ("5.1", lambda x, m, s, u: np.stack([(m.T @ x.T).T, np.square(x) @ s**2 + np.square(x @ u)])),
    ("5.2", single(multiplied)),
    ("5.2", tensors(lambda x, t, a, z: x @ t + tf.sqrt(x**2 @ (a * t**2)) * z)),
    (
        "5.2",
        lambda x, t, a, z: (
            x @ t + np.linalg.norm(x[:, :, None] * np.sqrt(a) * t, axis=1) * z
        ).tolist(),
    ),
    ("5.7", single(flipout_slope)),
    ("5.7", flipout_by_tape),
    ("5.7", lambda x, e, r, s, g: np.einsum("ni,ni,no,no,io->io", x, s, g, r, e)),
]
WRONG += [
    ("5.1", "expected a pair, each shape (2, 1), got shape (2, 1)", lambda x, m, s, u: x @ m),
    ("5.1", "raised", lambda x, m, s, u: (m @ x, s @ x)),
    ("5.1", "expected", lambda x, m, s, u: (x @ m, x**2 @ s**2 - (x @ u) ** 2)),
    ("5.2", "expected", lambda x, t, a, z: multiplied(x, t, a, z[::-1])),
    ("5.2", "expected", lambda x, t, a, z: multiplied(x, t, a, abs(z))),
    ("5.2", "expected", lambda x, t, a, z: multiplied(x, t, a / (1 + a), z)),
    ("5.7", "expected", lambda x, e, r, s, g: flipout_slope(x, e, r, s, abs(g))),
]
