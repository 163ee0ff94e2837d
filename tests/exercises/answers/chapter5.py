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


# Right answers, written in another way than the references.
def _gain(x: Any) -> Any:
    return (x**2).sum() ** 2 / (x**4).sum()


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
    (
        "5.6",
        "only the large ones",
        lambda x: _gain(x / abs(x).max() if abs(x).max() > 1e60 else x),
    ),
    ("5.6", "eps in the denominator", lambda x: _gain(x / (abs(x).max() + 1e-9))),
    ("5.3", "statement c was left out", {"(a)"}),
    ("5.4", "one W for all rows", lambda x, s, k: covariance(x, s, 0 * k)),
    ("5.4", "only rows on different", lambda x, s, k: x * s**2 @ x.T * (k[:, None] != k)),
    (
        "5.4",
        "only rows on different",
        lambda x, s, k: x * s**2 @ x.T - covariance(x, s, k) + np.diag(x**2 @ s**2),
    ),
    ("5.4", "no diagonal", lambda x, s, k: covariance(x, s, k) - np.diag(x**2 @ s**2)),
    ("5.4", "mean for sum", lambda x, s, k: covariance(x, s, k) / x.shape[1]),
    ("5.4", "|x| for x", lambda x, s, k: abs(x) @ np.diag(s**2) @ abs(x).T * together_on(k)),
    ("5.4", "|x| for x", lambda x, s, k: abs(covariance(abs(x), s, k))),
    (
        "5.4",
        "correlation",
        lambda x, s, k: covariance(x, s, k) / np.outer(*[(x**2 @ s**2) ** 0.5] * 2),
    ),
    ("5.4", "expected", lambda x, s, k: np.tril(covariance(x, s, k))),
    ("5.4", "expected", lambda x, s, k: abs(covariance(x, s, k))),
    ("5.4", "expected shape", lambda x, s, k: x**2 @ s**2),
    ("5.4", "expected", lambda x, s, k: x @ x.T * np.mean(s**2) * together_on(k)),
    ("5.4", "expected", lambda x, s, k: covariance(x, s, k) + 1e-3 * np.eye(len(x))),
    ("5.4", "expected", lambda x, s, k: covariance(x - x.mean(0), s, k)),
    ("5.4", "expected", lambda x, s, k: covariance(x, s, np.sort(k))),
    ("5.5", "the rows are given", lambda n, m, v, c, d: n * n * (c + (v - c) / m)),
    ("5.5", "the weights are given", lambda n, m, v, c, d: minibatch(n, m, 0, 0, d)),
    ("5.5", "with replacement", lambda n, m, v, c, d: n * n * (v + d + (m - 1) * c) / m),
    (
        "5.5",
        "N for N − 1",
        lambda n, m, v, c, d: n * n * (v + (m - 1) * c) / m + n * (n - m) * d / m,
    ),
    (
        "5.5",
        "all of it vanishes",
        lambda n, m, v, c, d: (n - m) / (n - 1) * n * n * (v + d + (m - 1) * c) / m,
    ),
    (
        "5.5",
        "the factor squared",
        lambda n, m, v, c, d: (
            minibatch(n, m, v, c, 0) + minibatch(n, m, 0, 0, d) * (n - m) / (n - 1)
        ),
    ),
    (
        "5.5",
        "does not average out",
        lambda n, m, v, c, d: minibatch(n, m, v, c, 0) + m * minibatch(n, m, 0, 0, d),
    ),
    (
        "5.5",
        "standard deviations added",
        lambda n, m, v, c, d: (
            sum(minibatch(n, m, *p) ** 0.5 for p in ((v, c, 0.0), (0.0, 0.0, d))) ** 2
        ),
    ),
    (
        "5.5",
        "pairs counted twice",
        with_rows(lambda n, m, v, c: (n / m) ** 2 * (m * v + 2 * m * (m - 1) * c)),
    ),
    ("5.5", "standard deviation for", lambda *case: minibatch(*case) ** 0.5),
    (
        "5.5",
        "expected",
        with_rows(lambda n, m, v, c: n * n / m * v + (n / m) ** 2 * n * (n - 1) * c),
    ),
    ("5.5", "expected", with_rows(lambda n, m, v, c: n**2 * (v + (m - 1) * c / m))),
    ("5.5", "expected", with_rows(lambda n, m, v, c: n**2 * (v + (m + 1) * c) / m)),
    ("5.5", "expected", with_rows(lambda n, m, v, c: n**2 * (v - (m - 1) * c) / m)),
    ("5.5", "expected", lambda n, m, v, c, d: minibatch(n, m, v, abs(c), d)),
    ("5.5", "expected", lambda n, m, v, c, d: minibatch(n, m, v, c, -d)),
    ("5.5", "with replacement", lambda n, m, v, c, d: minibatch(n, m, v + d, c, 0)),
    ("5.5", "expected", lambda n, m, v, c, d: (n - 1) / n * minibatch(n, m, v, c, d)),
    ("5.6", "overflow", lambda x: scaled_gain(lambda x: np.sqrt(np.mean(x**2)))(x)),
    ("5.6", "overflow", lambda x: np.linalg.norm(x) ** 4 / np.sum(x**4)),
    *(
        ("5.6", "a scale that can be 0", scaled_gain(scale))
        for scale in (np.mean, np.sum, lambda x: x[-1], lambda x: x[0], np.max, np.std, np.median)
    ),
    ("5.6", "eps in the denominator", scaled_gain(lambda x: abs(x).max() + 1e-8)),
    ("5.6", "eps in the denominator", lambda x: (x @ x) ** 2 / (np.sum(x**4) + 1e-12)),
    ("5.6", "expected", lambda x: ratio(np.clip(x, -1e75, 1e75))),
    ("5.6", "eps in the denominator", scaled_gain(lambda x: max(abs(x).max(), 1e-8))),
    ("5.6", "float32", lambda x: ratio(np.float32(x))),
    ("5.6", "expected", lambda x: np.nan_to_num(np.sum(x**2) ** 2 / np.sum(x**4))),
    ("5.6", "expected", lambda x: ratio(np.abs(x) ** 0.5)),
    ("5.6", "expected", lambda x: ratio(x - x.mean()) if np.ptp(x) else 1.0),
    ("5.3", "statement b is not true", {"a", "b", "c", "e"}),
    ("5.3", "statement d is not true", {"a", "c", "d", "e"}),
    ("5.3", "statement e was left out", ["a", "c"]),
    ("5.3", "statement a was left out", set()),
    ("5.3", "expected a set of letters", {"a", "z"}),
    ("5.4", "only the diagonal", lambda x, s, k: np.diag((x**2) @ s**2)),
    ("5.4", "σ for σ²", lambda x, s, k: x @ np.diag(s) @ x.T * together_on(k)),
    ("5.4", "columns for rows", lambda x, s, k: x.T @ x * s**2),
    ("5.4", "the weights' variance is missing", lambda x, s, k: x @ x.T * together_on(k)),
    ("5.4", "x squared", lambda x, s, k: (x**2 * s**2) @ (x**2).T * together_on(k)),
    ("5.5", "the covariance is missing", with_rows(lambda n, m, v, c: n * n * v / m)),
    ("5.5", "N for N²", lambda n, m, v, c, d: minibatch(n, m, v, c, d) / n),
    ("5.5", "a point paired", with_rows(lambda n, m, v, c: n**2 * (v + m * c) / m)),
    ("5.5", "pairs counted once", with_rows(lambda n, m, v, c: n**2 * (v + (m - 1) * c / 2) / m)),
    (
        "5.5",
        "the factor N/M is missing",
        lambda n, m, v, c, d: m * (v + d + (m - 1) * (c - d / (n - 1))),
    ),
    ("5.6", "overflow", lambda x: np.sum(x**2) ** 2 / np.sum(x**4)),
    ("5.6", "overflow", lambda x: (x @ x) ** 2 / (x**2 @ x**2)),
    ("5.6", "upside down", lambda x: 1 / ratio(x)),
    ("5.6", "the number of points", lambda x: len(x)),
    ("5.6", "x for x²", lambda x: np.sum(x) ** 2 / np.sum(x**2)),
    ("5.4", "one ε for all inputs", lambda x, s, k: np.outer(x @ s, s @ x.T) * together_on(k)),
    ("5.5", "N/M not squared", lambda n, m, *rest: minibatch(n, m, *rest) / (n / m)),
    ("5.5", "the factor N² is missing", lambda n, m, *rest: minibatch(n, m, *rest) / n / n),
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
    ("5.8", "no split of the budget", lambda x, y, m, d, s, budget: (0, budget)),
    ("5.8", "no split of the budget", lambda x, y, m, d, s, budget: (2.5, 10)),
    ("5.8", "contains NaN", lambda x, y, m, d, s, budget: (np.nan, 1)),
    ("5.8", "M and K are swapped", lambda *world: balanced(*world)[::-1]),
    (
        "5.8",
        "too few rows here, too few draws there",
        lambda x, y, m, d, s, budget: {2.0: (256, 1), 0.3: (32, 8)}.get(d, (2, 128)),
    ),
    ("5.8", "expected a pair of numbers", lambda x, y, m, d, s, budget: 64),
    ("5.9", "taken for local", lambda n, m, s: [1 * (k > 0) for k in by_steps(n, m, s)]),
    ("5.9", "taken for a shared", lambda n, m, s: [1 * (k == 1) for k in by_steps(n, m, s)]),
    ("5.9", "are swapped", lambda n, m, s: [(1, 0, 2)[k] for k in by_steps(n, m, s)]),
    ("5.9", "are swapped", lambda n, m, s: [(0, 2, 1)[k] for k in by_steps(n, m, s)]),
    ("5.9", "judged by the size", lambda n, m, s: np.argsort(np.argsort(-m[:, 0].std(1)))),
    ("5.9", "all alike", lambda n, m, s: [1] * len(m)),
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
    ("5.1", "an η for each", lambda x, m, s, u: (x @ m, x**2 @ (s**2 + u**2))),
    ("5.1", "no η at all", lambda x, m, s, u: (x @ m, x**2 @ s**2)),
    ("5.1", "no ε at all", lambda x, m, s, u: (x @ m, (x @ u) ** 2)),
    ("5.1", "one ε for all", lambda x, m, s, u: (x @ m, (x @ s) ** 2 + (x @ u) ** 2)),
    ("5.1", "under one noise", lambda x, m, s, u: (x @ m, x**2 @ (s + u) ** 2)),
    ("5.1", "without its sign", lambda x, m, s, u: (x @ m, x**2 @ s**2 + (abs(x) @ abs(u)) ** 2)),
    ("5.1", "u in the mean", lambda x, m, s, u: (x @ m + x @ u, together(x, m, s, u)[1])),
    ("5.1", "xu not squared", lambda x, m, s, u: (x @ m, x**2 @ s**2 + x @ u)),
    ("5.1", "σ for σ²", lambda x, m, s, u: together(x, m, s**0.5, u)),
    ("5.1", "standard deviation for", lambda x, m, s, u: (x @ m, together(x, m, s, u)[1] ** 0.5)),
    ("5.1", "second moment", lambda x, m, s, u: (x @ m, together(x, m, s, u)[1] + x**2 @ m**2)),
    ("5.1", "swapped", lambda *v: together(*v)[::-1]),
    ("5.1", "a small number", lambda x, m, s, u: (x @ m, together(x, m, s, u)[1] + 1e-8)),
    ("5.1", "expected a pair, each shape (2, 1), got shape (2, 1)", lambda x, m, s, u: x @ m),
    ("5.1", "raised", lambda x, m, s, u: (m @ x, s @ x)),
    ("5.1", "expected", lambda x, m, s, u: (x @ m, x**2 @ s**2 - (x @ u) ** 2)),
    ("5.1", "expected", lambda x, m, s, u: (abs(x) @ m, together(x, m, s, u)[1])),
    ("5.2", "variance for", lambda x, t, a, z: x @ t + (x**2 @ (a * t * t)) * z),
    ("5.2", "one ε for all", lambda x, t, a, z: x @ t + (x @ (a**0.5 * abs(t))) * z),
    ("5.2", "α for σ²", lambda x, t, a, z: x @ t + (x**2 @ a) ** 0.5 * z),
    ("5.2", "α squared", lambda x, t, a, z: multiplied(x, t, a * a, z)),
    ("5.2", "θ not squared", lambda x, t, a, z: x @ t + (x**2 @ (a * abs(t))) ** 0.5 * z),
    ("5.2", "output's size", lambda x, t, a, z: x @ t * (1 + a.mean(0) ** 0.5 * z)),
    ("5.2", "for all rows", lambda x, t, a, z: multiplied(x, t, a, z[0])),
    ("5.2", "for all units", lambda x, t, a, z: multiplied(x, t, a, z[:, :1])),
    (
        "5.2",
        "eps under the root",
        lambda x, t, a, z: x @ t + (x**2 @ (a * t * t) + 1e-8) ** 0.5 * z,
    ),
    ("5.2", "ζ is missing", lambda x, t, a, z: multiplied(x, t, a, 1.0)),
    ("5.2", "the mean is missing", lambda x, t, a, z: multiplied(x, t, a, z) - x @ t),
    ("5.2", "the scale is missing", lambda x, t, a, z: x @ t + z),
    ("5.2", "subtracted", lambda x, t, a, z: multiplied(x, t, a, -z)),
    ("5.2", "expected", lambda x, t, a, z: multiplied(x, t, a, z[::-1])),
    ("5.2", "expected", lambda x, t, a, z: multiplied(x, t, a, abs(z))),
    ("5.2", "expected", lambda x, t, a, z: multiplied(x, t, a / (1 + a), z)),
    ("5.7", "no signs", lambda x, e, r, s, g: x.T @ g * e),
    ("5.7", "signs of the inputs", lambda x, e, r, s, g: e * ((x * s).T @ g)),
    ("5.7", "signs of the outputs", lambda x, e, r, s, g: e * (x.T @ (g * r))),
    ("5.7", "first row's signs", lambda x, e, r, s, g: e * np.outer(s[0], r[0]) * (x.T @ g)),
    ("5.7", "ε is missing", lambda x, e, r, s, g: flipout_slope(x, 1.0, r, s, g)),
    ("5.7", "gradient by μ", lambda x, e, r, s, g: x.T @ g),
    ("5.7", "both gradients", lambda x, e, r, s, g: flipout_slope(x, e, r, s, g) + x.T @ g),
    ("5.7", "mean for sum", lambda x, e, r, s, g: flipout_slope(x, e, r, s, g) / len(x)),
    ("5.7", "transposed", lambda x, e, r, s, g: flipout_slope(x, e, r, s, g).T),
    ("5.7", "|ε|", lambda x, e, r, s, g: flipout_slope(x, abs(e), r, s, g)),
    ("5.7", "ε twice", lambda x, e, r, s, g: flipout_slope(x, e * e, r, s, g)),
    ("5.7", "wrong sign", lambda x, e, r, s, g: flipout_slope(x, -e, r, s, g)),
    ("5.7", "expected", lambda x, e, r, s, g: flipout_slope(x, e, r, s, g**2)),
    ("5.7", "expected", lambda x, e, r, s, g: flipout_slope(x, e, r, s, abs(g))),
]
