"""Chapter 10: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
import tensorflow as tf
from scipy import linalg, optimize, special, stats

from answers.forms import single, tensors
from bdl_teach.backend import tfp
from bdl_teach.densities import Gaussian
from bdl_teach.methods import bbb, laplace, point


def coverage(y: Any, m: Any, e: Any, s: Any) -> float:
    total = (e**2 + s**2) ** 0.5
    inside = [a - 1.96 * t <= b <= a + 1.96 * t for a, b, t in zip(m, y, total, strict=True)]
    return sum(inside) / len(y)


def draw(m: Any, c: Any, e: Any) -> Any:
    return m + np.linalg.cholesky(c) @ e


def losses(p: Any, c: Any) -> Any:
    return np.array([max(row) - row[i] for row, i in zip(p, c, strict=True)])


RIGHT: dict[str, Any] = {
    "10.2": coverage,
    "10.4": "bde",
    "10.6": lambda y, m, s: np.linalg.norm((y - m) / s) / len(y) ** 0.5,
    "10.7": lambda m, c, x, e: int(np.argsort(x @ draw(m, c, e))[-1]),
    "10.8": lambda p, c: np.tri(len(c)) @ losses(p, c),
}


def coverage_by_pit(y: Any, m: Any, e: Any, s: Any) -> Any:
    return np.mean(abs(2 * stats.norm.cdf((y - m) / np.hypot(e, s)) - 1) <= 0.95)


def tf_coverage(y: Any, m: Any, e: Any, s: Any) -> Any:
    inside = tf.abs(y - m) <= 1.96 * tf.sqrt(e**2 + s**2)
    return tf.reduce_mean(tf.cast(inside, tf.float32))


def tf_choice(m: Any, c: Any, x: Any, e: Any) -> Any:
    return tf.argmax(tf.linalg.matvec(x, m + tf.linalg.matvec(tf.linalg.cholesky(c), e)))


def by_loop(p: Any, c: Any) -> list[float]:
    lost, curve = 0.0, []
    for row, action in zip(p, c, strict=True):
        lost += max(row) - row[action]
        curve.append(lost)
    return curve


def within(z: Any, rule: Any = np.hypot) -> Any:
    """The share within z widths, by a rule that makes one width of two."""
    return lambda y, m, e, s: np.mean(abs(y - m) <= z * rule(e, s))


# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = [
    ("10.2", coverage_by_pit),
    ("10.2", single(within(1.96))),
    ("10.2", tensors(tf_coverage)),
    ("10.2", lambda y, m, e, s: np.mean((y - m) ** 2 < 1.96**2 * (e**2 + s**2))),
    ("10.2", within(stats.norm.ppf(0.975))),
    ("10.4", {"b": True, "d": True, "e": True, "a": False}),
    ("10.4", "(b), (d), (e)"),
    ("10.6", single(lambda y, m, s: np.sqrt(np.mean(((y - m) / s) ** 2)))),
    ("10.6", tensors(lambda y, m, s: tf.sqrt(tf.reduce_mean(((y - m) / s) ** 2)))),
    ("10.6", lambda y, m, s: [(sum((y - m) ** 2 / s**2) / len(y)) ** 0.5]),
    ("10.6", lambda y, m, s: np.hypot(np.std((y - m) / s), np.mean((y - m) / s))),
    ("10.7", single(RIGHT["10.7"])),
    ("10.7", tensors(tf_choice)),
    ("10.7", lambda m, c, x, e: [np.argmax(x @ (m + linalg.cholesky(c, lower=True) @ e))]),
    ("10.7", lambda m, c, x, e: max(range(len(x)), key=lambda a: x[a] @ draw(m, c, e))),
    ("10.8", by_loop),
    ("10.8", single(lambda p, c: np.cumsum(losses(p, c)))),
    ("10.8", tensors(lambda p, c: tf.cumsum(tf.reduce_max(p, 1) - tf.gather(p, c, batch_dims=1)))),
    (
        "10.8",
        lambda p, c: np.cumsum(np.max(p, 1)) - np.cumsum(np.take_along_axis(p, c[:, None], 1)),
    ),
]

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("10.6", "expected", lambda y, m, s: min(np.sqrt(np.mean(((y - m) / s) ** 2)), 10.0)),
    ("10.2", "expected", within(1.96, lambda e, s: (e**2 + s**2 + 1e-8) ** 0.5)),
    ("10.6", "eps beside the sd", lambda y, m, s: np.mean(((y - m) / (s + 1e-8)) ** 2) ** 0.5),
    ("10.2", "σ for σ²", within(1.96, lambda e, s: (e + s**2) ** 0.5)),
    ("10.2", "σ for σ²", within(1.96, lambda e, s: (e**2 + s) ** 0.5)),
    ("10.2", "Student", lambda y, m, e, s: within(stats.t.ppf(0.975, len(y) - 1))(y, m, e, s)),
    ("10.2", "another level", within(stats.norm.ppf(0.995))),
    ("10.2", "three sd", within(3)),
    ("10.2", "half of the width", within(0.98)),
    ("10.2", "one width", lambda y, m, e, s: within(1.96)(y, m, e.mean(), s)),
    ("10.2", "one end only", lambda y, m, e, s: np.mean(y > m - 1.96 * np.hypot(e, s))),
    *(("10.2", "expected", within(z)) for z in (1.865, 1.9, 1.94, 1.95, 1.97, 1.98, 2.05, 1.5)),
    ("10.2", "expected", within(1.96, np.maximum)),
    ("10.2", "expected", within(1.96, lambda e, s: 0.5 * (e + s))),
    ("10.2", "expected", within(1.96, lambda e, s: (e * s) ** 0.5)),
    ("10.2", "expected", lambda y, m, e, s: within(1.96)(abs(y), abs(m), e, s)),
    ("10.6", "n − 1 for n", lambda y, m, s: np.linalg.norm((y - m) / s) / np.sqrt(len(y) - 1)),
    ("10.6", "n − 1 for n", lambda y, m, s: ((y - m) / s).std(ddof=1)),
    ("10.6", "sds for their", lambda y, m, s: np.sqrt(np.mean((y - m) ** 2 / s))),
    ("10.6", "median", lambda y, m, s: np.median(abs((y - m) / s))),
    ("10.6", "95 % interval", lambda y, m, s: np.quantile(abs(y - m) / s, 0.95) / 1.96),
    ("10.6", "expected", lambda y, m, s: np.mean(((y - m) / s) ** 2) ** 0.25),
    ("10.6", "expected", lambda y, m, s: np.mean(((y - m) / s) ** 4) ** 0.25),
    ("10.6", "expected", lambda y, m, s: np.clip(np.mean(((y - m) / s) ** 2) ** 0.5, 1, 2)),
    ("10.6", "expected", lambda y, m, s: min(1, np.mean(((y - m) / s) ** 2) ** 0.5)),
    ("10.6", "expected", lambda y, m, s: np.mean(((y - m) / s) ** 2) ** 0.5 - 1),
    ("10.6", "expected", lambda y, m, s: np.std(y) / np.mean(s)),
    ("10.6", "expected", lambda y, m, s: np.max(abs(y - m) / s)),
    (
        "10.7",
        "another root",
        lambda m, c, x, e: np.argmax(x @ (m + (v := np.linalg.eigh(c))[1] * v[0] ** 0.5 @ e)),
    ),
    ("10.7", "precision", lambda m, c, x, e: np.argmax(x @ draw(m, np.linalg.inv(c), e))),
    ("10.7", "as it is", lambda m, c, x, e: np.argmax(x @ (m + e))),
    ("10.7", "subtracted", lambda m, c, x, e: np.argmax(x @ draw(m, c, -e))),
    ("10.7", "weight for the action", lambda m, c, x, e: np.argmax(draw(m, c, e))),
    ("10.7", "size of the reward", lambda m, c, x, e: np.argmax(abs(x @ draw(m, c, e)))),
    ("10.7", "upper bound", lambda m, c, x, e: np.argmax(x @ m + 2 * ((x @ c) * x).sum(1) ** 0.5)),
    ("10.7", "expected", lambda m, c, x, e: 0),
    ("10.7", "expected", lambda m, c, x, e: np.argmax(x @ draw(m, c, abs(e)))),
    ("10.7", "expected", lambda m, c, x, e: 1 + np.argmax(x @ draw(m, c, e))),
    ("10.7", "expected", lambda m, c, x, e: np.argsort(x @ draw(m, c, e))[-2]),
    ("10.7", "expected", lambda m, c, x, e: np.argmax(x @ (m + np.linalg.det(c) * e))),
    ("10.7", "expected", lambda m, c, x, e: np.argmax(x @ draw(m, c, np.sort(e)))),
    ("10.8", "squared", lambda p, c: np.cumsum(losses(p, c) ** 2)),
    ("10.8", "total in every", lambda p, c: np.ones(len(c)) * losses(p, c).sum()),
    ("10.8", "from the end", lambda p, c: np.cumsum(losses(p, c)[::-1])),
    ("10.8", "one round late", lambda p, c: np.cumsum(losses(p, c)) - losses(p, c)),
    ("10.8", "mean action", lambda p, c: np.cumsum(losses(p, c) - p.max(1) + p.mean(1))),
    ("10.8", "wrong choices", lambda p, c: np.cumsum(losses(p, c) > 0)),
    ("10.8", "one best action", lambda p, c: np.cumsum(losses(p, c) - p.max(1) + p.mean(0).max())),
    ("10.8", "expected", lambda p, c: np.maximum.accumulate(losses(p, c))),
    ("10.8", "expected", lambda p, c: np.cumsum(losses(p, c))[::-1]),
    ("10.8", "expected", lambda p, c: np.cumprod(1 + losses(p, c))),
    ("10.8", "expected", lambda p, c: np.cumsum(np.sort(p)[:, -1] - np.sort(p)[:, -2])),
    ("10.8", "expected", lambda p, c: np.cumsum(losses(p, (c + 1) % p.shape[1]))),
    ("10.8", "expected", lambda p, c: np.cumsum(losses(p, c)) + 1e-3),
    ("10.8", "expected shape", lambda p, c: np.append(0, np.cumsum(losses(p, c)))),
    ("10.8", "expected", lambda p, c: np.cumsum(p[np.arange(len(c)), c] - p.min(1))),
    ("10.2", "the noise is missing", lambda y, m, e, s: np.mean(abs(y - m) < 1.96 * e)),
    ("10.2", "standard deviations added", lambda y, m, e, s: np.mean(abs(y - m) < 1.96 * (e + s))),
    ("10.2", "σ² for σ", lambda y, m, e, s: np.mean(abs(y - m) < 1.96 * (e * e + s * s))),
    ("10.2", "one-sided", lambda y, m, e, s: np.mean(abs(y - m) < 1.645 * np.hypot(e, s))),
    ("10.2", "one sd", lambda y, m, e, s: np.mean(abs(y - m) < np.hypot(e, s))),
    ("10.2", "misses for hits", lambda y, m, e, s: 1 - coverage(y, m, e, s)),
    ("10.2", "counted", lambda y, m, e, s: np.sum(abs(y - m) < 1.96 * np.hypot(e, s))),
    ("10.2", "one end only", lambda y, m, e, s: np.mean(y < m + 1.96 * np.hypot(e, s))),
    ("10.2", "two for 1.96", lambda y, m, e, s: np.mean(abs(y - m) < 2 * np.hypot(e, s))),
    ("10.2", "1.96 for 1.96²", lambda y, m, e, s: np.mean((y - m) ** 2 < 1.96 * (e**2 + s**2))),
    ("10.2", "epistemic part is missing", lambda y, m, e, s: np.mean(abs(y - m) < 1.96 * s)),
    ("10.2", "per cent", lambda y, m, e, s: 100 * coverage(y, m, e, s)),
    ("10.2", "what was announced", lambda y, m, e, s: 0.95),
    ("10.4", "statement a is not true", "abde"),
    ("10.4", "statement c is not true", {"b", "c", "d", "e"}),
    ("10.4", "statement f is not true", ["b", "d", "e", "f"]),
    ("10.4", "statement b was left out", "de"),
    ("10.4", "statement e was left out", "bd"),
    ("10.4", "expected a set of letters", {"a", "z"}),
    ("10.6", "σ² for σ", lambda y, m, s: np.mean((y - m) ** 2 / s**2)),
    ("10.6", "inverse", lambda y, m, s: np.mean((y - m) ** 2 / s**2) ** -0.5),
    ("10.6", "absolute values", lambda y, m, s: np.mean(abs((y - m) / s))),
    ("10.6", "ratio of averages", lambda y, m, s: np.linalg.norm(y - m) / np.linalg.norm(s)),
    ("10.6", "sds are ignored", lambda y, m, s: np.mean((y - m) ** 2) ** 0.5),
    ("10.6", "centred", lambda y, m, s: np.var((y - m) / s) ** 0.5),
    ("10.6", "sum for mean", lambda y, m, s: np.linalg.norm((y - m) / s)),
    ("10.6", "mean of z", lambda y, m, s: np.mean((y - m) / s)),
    ("10.6", "never below 1", lambda y, m, s: max(1, np.mean((y - m) ** 2 / s**2) ** 0.5)),
    ("10.7", "greedy", lambda m, c, x, e: (x @ m).argmax()),
    ("10.7", "covariance for its root", lambda m, c, x, e: (x @ (m + c @ e)).argmax()),
    (
        "10.7",
        "correlations ignored",
        lambda m, c, x, e: (x @ (m + c.diagonal() ** 0.5 * e)).argmax(),
    ),
    ("10.7", "L transposed", lambda m, c, x, e: (x @ (m + e @ np.linalg.cholesky(c))).argmax()),
    ("10.7", "upper bound", lambda m, c, x, e: (x @ m + (x @ c @ x.T).diagonal() ** 0.5).argmax()),
    ("10.7", "the worst", lambda m, c, x, e: (x @ draw(m, c, e)).argmin()),
    ("10.7", "reward for action", lambda m, c, x, e: (x @ draw(m, c, e)).max()),
    ("10.7", "another root", lambda m, c, x, e: (x @ (m + linalg.sqrtm(c) @ e)).argmax()),
    ("10.7", "variances as a root", lambda m, c, x, e: (x @ (m + c.diagonal() * e)).argmax()),
    ("10.7", "mean is missing", lambda m, c, x, e: (x @ draw(0 * m, c, e)).argmax()),
    ("10.8", "not cumulative", losses),
    ("10.8", "every column", lambda p, c: np.cumsum(p.max(axis=1) - p[:, c])),
    ("10.8", "nothing subtracted", lambda p, c: np.cumsum(np.max(p, axis=1))),
    ("10.8", "only the total", lambda p, c: losses(p, c).sum()),
    (
        "10.8",
        "reward for regret",
        lambda p, c: np.cumsum([row[i] for row, i in zip(p, c, strict=True)]),
    ),
    ("10.8", "wrong sign", lambda p, c: -np.cumsum(losses(p, c))),
    (
        "10.8",
        "one best action",
        lambda p, c: np.cumsum(
            [row[p.mean(0).argmax()] - row[i] for row, i in zip(p, c, strict=True)]
        ),
    ),
    (
        "10.8",
        "best of all rounds",
        lambda p, c: np.cumsum([p.max() - row[i] for row, i in zip(p, c, strict=True)]),
    ),
    ("10.8", "averaged", lambda p, c: np.cumsum(losses(p, c)) / (1 + np.arange(len(c)))),
]


# The two open experiments: other ways than the reference's.


def bands(problems: Any, x_new: Any, members: int, noise: float = 1.0, **options: Any) -> Any:
    made = []
    for x, y in problems:
        f = [
            point.fit(x, y, hidden_units=(20,), seed=50 + k, **options).predict(x_new).mean
            for k in range(members)
        ]
        made.append((np.mean(f, axis=0), np.sqrt(np.var(f, axis=0) + noise**2)))
    return made


RIGHT["10.9"] = lambda t: np.exp(-t / 200)
RIGHT["10.10"] = lambda p, x: bands(p, x, 16, prior=Gaussian(10.0))
ALSO += [
    ("10.9", lambda t: 0.3 * np.exp(-t / 300)),
    ("10.9", lambda t: np.where(t < 500, 0.3, 0)),
    ("10.10", lambda p, x: bands(p, x, 20, prior=Gaussian(5.0))),
]
WRONG += [
    ("10.9", "no share", lambda t: -0.1 + 0.0 * t),
    (
        "10.9",
        "your answer contains NaN",
        lambda t: np.where(t == 0, np.nan, 0.3 * np.exp(-t / 250)),
    ),
    ("10.9", "still explores", lambda t: 0.05 + 0.0 * t),
    ("10.9", "still explores", lambda t: 0.3 * (1 - t / 3000)),
    ("10.9", "too little is learnt", lambda t: 1.0 * (t < 50)),
    ("10.9", "too little is learnt", lambda t: 0.01 + 0.0 * t),
    ("10.10", "no sd", lambda p, x: [(0 * x[:, 0], -1 + 0 * x[:, 0]) for _ in p]),
    ("10.10", "too sure among", lambda p, x: bands(p, x, 3, noise=0.2)),
    ("10.10", "the gap is missed", lambda p, x: bands(p, x, 1, prior=Gaussian(3.0))),
    ("10.10", "being vague", lambda p, x: bands(p, x, 1, noise=9.0)),
    ("10.10", "one band for", lambda p, x: bands(p[:1], x, 16, prior=Gaussian(10.0)) * len(p)),
    (
        "10.10",
        "your answer contains NaN",
        lambda p, x: [(np.full(len(x), np.nan), np.ones(len(x))) for _ in p],
    ),
]


# A point that was left out, and a quantile of an ensemble.


def logs(y: Any, f: Any, s: Any) -> Any:
    return stats.norm(f, s).logpdf(y)


def left_out(y: Any, f: Any, s: Any) -> Any:
    """By the definition: weights 1/p, normalised, times p; the largest weight taken out."""
    each = logs(y, f, s)
    share = np.exp(each.min() - each)
    return each.min() - np.log(share.mean())


def tf_left_out(y: Any, f: Any, s: Any) -> Any:
    each = tfp.distributions.Normal(f, s).log_prob(y)
    return -tfp.math.reduce_logmeanexp(-each)


def quantile(u: Any, f: Any, s: Any) -> Any:
    """Column by column, by Brent's method."""
    found = []
    for level, column in zip(u, f.T, strict=True):
        scaled = column / s
        found.append(
            s
            * optimize.brentq(
                lambda q, at=scaled, want=level: stats.norm.cdf(q - at).mean() - want,
                scaled.min() - 30,
                scaled.max() + 30,
            )
        )
    return found


def halved(u: Any, f: Any, s: Any, beyond: float) -> Any:
    """By halving, from so many sds of the noise beyond the lowest and the highest network."""
    low, high = f.min(axis=0) - beyond * s, f.max(axis=0) + beyond * s
    for _ in range(60):
        middle = (low + high) / 2
        below = stats.norm.cdf((middle - f) / s).mean(axis=0) < u
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return middle


def on_a_grid(u: Any, f: Any, s: Any) -> Any:
    """The level read off a fine grid, between two of its points."""
    found = []
    for level, column in zip(u, f.T, strict=True):
        y = np.linspace(column.min() - 5 * s, column.max() + 5 * s, 20_000)
        found.append(np.interp(level, stats.norm.cdf((y[:, None] - column) / s).mean(axis=1), y))
    return np.array(found)


def of_functions(u: Any, f: Any) -> Any:
    return np.array([np.quantile(column, level) for column, level in zip(f.T, u, strict=True)])


RIGHT |= {"10.1": left_out, "10.3": quantile}
ALSO += [
    ("10.1", single(left_out)),
    ("10.1", tensors(tf_left_out)),
    ("10.1", lambda y, f, s: [-special.logsumexp(-logs(y, f, s), b=1 / len(f))]),
    ("10.3", lambda u, f, s: np.float32(quantile(u, f, s))),
    ("10.3", lambda u, f, s: halved(u, f, s, 5.0)),
    ("10.3", single(lambda u, f, s: halved(u, f, s, 6.0))),
    ("10.3", on_a_grid),
]
WRONG += [
    ("10.1", "still in it", lambda y, f, s: special.logsumexp(logs(y, f, s)) - np.log(len(f))),
    ("10.1", "overflow", lambda y, f, s: -np.log(np.mean(1 / stats.norm(f, s).pdf(y)))),
    (
        "10.1",
        "upside down",
        lambda y, f, s: special.logsumexp(2 * logs(y, f, s)) - special.logsumexp(logs(y, f, s)),
    ),
    ("10.1", "missing 1/S", lambda y, f, s: left_out(y, f, s) - np.log(len(f))),
    ("10.1", "log S subtracted", lambda y, f, s: left_out(y, f, s) - 2 * np.log(len(f))),
    ("10.1", "mean of logarithms", lambda y, f, s: logs(y, f, s).mean()),
    ("10.1", "farthest network", lambda y, f, s: logs(y, f, s).min()),
    (
        "10.1",
        "eps in the logarithm",
        lambda y, f, s: -np.log(np.mean(1 / (stats.norm(f, s).pdf(y) + 1e-8))),
    ),
    ("10.1", "eps beside the noise", lambda y, f, s: left_out(y, f, s + 1e-8)),
    ("10.1", "plug-in", lambda y, f, s: logs(y, f.mean(), s)),
    ("10.1", "moments", lambda y, f, s: logs(y, f.mean(), (f.var() + s**2) ** 0.5)),
    ("10.1", "not in nats", lambda y, f, s: left_out(y, f, s) / np.log(10)),
    ("10.1", "density for log density", lambda y, f, s: np.exp(left_out(y, f, s))),
    ("10.1", "σ² for σ", lambda y, f, s: left_out(y, f, s * s)),
    ("10.1", "normaliser", lambda y, f, s: left_out(y, f, s) + np.log(s * (2 * np.pi) ** 0.5)),
    ("10.1", "wrong sign", lambda y, f, s: -left_out(y, f, s)),
    ("10.1", "expected", lambda y, f, s: np.median(logs(y, f, s))),
    ("10.1", "expected", lambda y, f, s: max(left_out(y, f, s), -20)),
    ("10.1", "expected", lambda y, f, s: logs(y, f, s)),
    ("10.1", "expected", lambda y, f, s: left_out(abs(y), abs(f), s)),
    ("10.3", "quantiles averaged", lambda u, f, s: stats.norm(f, s).ppf(u).mean(0)),
    ("10.3", "median network", lambda u, f, s: np.median(stats.norm(f, s).ppf(u), axis=0)),
    (
        "10.3",
        "moments",
        lambda u, f, s: stats.norm(f.mean(0), np.hypot(f.std(0), s)).ppf(u),
    ),
    ("10.3", "noise is missing", lambda u, f, s: of_functions(u, f)),
    ("10.3", "noise added", lambda u, f, s: of_functions(u, f) + stats.norm(0, s).ppf(u)),
    *(("10.3", "too near", lambda *v, k=k: halved(*v, k)) for k in (0.0, 1.0, 2.0, 3.0)),
    ("10.3", "upper tail", lambda u, f, s: quantile(1 - u, f, s)),
    ("10.3", "central interval", lambda u, f, s: quantile((1 + u) / 2, f, s)),
    ("10.3", "PIT of the level", lambda u, f, s: stats.norm(f, s).cdf(u).mean(0)),
    ("10.3", "erf for Φ", lambda u, f, s: quantile(u, f, s / 2**0.5)),
    ("10.3", "eps beside", lambda u, f, s: quantile(u, f, s + 1e-7)),
    ("10.3", "√σ", lambda u, f, s: quantile(u, f, s**0.5)),
    ("10.3", "σ² for σ", lambda u, f, s: quantile(u, f, s**2)),
    ("10.3", "not divided", lambda u, f, s: quantile(u, f, 1.0)),
    ("10.3", "expected", lambda u, f, s: np.median(f, axis=0)),
    ("10.3", "expected", lambda u, f, s: np.sort(quantile(u, f, s))),
    ("10.3", "expected", lambda u, f, s: quantile(np.clip(u, 0.1, 0.9), f, s)),
    ("10.3", "expected", lambda u, f, s: np.round(quantile(u, f, s), 3)),
]


# A distance of draws, and a counted band that may lean.


def transport(a: Any, b: Any) -> Any:
    """The cheapest pairs, found by trying them: an assignment at each input."""
    squares = []
    for one, other in zip(a.T, b.T, strict=True):
        cost = np.subtract.outer(one, other) ** 2
        squares.append(cost[optimize.linear_sum_assignment(cost)].mean())
    return np.mean(squares) ** 0.5


def by_levels(a: Any, b: Any) -> Any:
    """Quantile less quantile at the levels of the draws, as for two Gaussians in section 10.2."""
    u = (np.arange(len(a)) + 0.5) / len(a)
    one, other = (np.quantile(each, u, axis=0, method="inverted_cdf") for each in (a, b))
    return np.mean((one - other) ** 2) ** 0.5


def tf_transport(a: Any, b: Any) -> Any:
    return tf.sqrt(tf.reduce_mean((tf.sort(a, axis=0) - tf.sort(b, axis=0)) ** 2))


def by_moments(a: Any, b: Any, ddof: int = 0) -> Any:
    far = np.mean((np.mean(a, 0) - np.mean(b, 0)) ** 2)
    return (far + np.mean((np.std(a, 0, ddof=ddof) - np.std(b, 0, ddof=ddof)) ** 2)) ** 0.5


def apart(a: Any, b: Any) -> Any:
    """Differences of draws of one rank ``[S, m]``."""
    return np.sort(a, axis=0) - np.sort(b, axis=0)


def kth(scores: Any, k: int) -> Any:
    return np.partition(scores, k - 1)[k - 1]


def rank(n: int, c: Any) -> int:
    """The first k of which k/(n + 1) reaches the level c."""
    return next(k for k in range(1, n + 2) if k / (n + 1) >= c - 1e-9)


def leaning(y: Any, m: Any, s: Any, new: Any, t: Any, c: Any) -> Any:
    """The upper end, and the upper end of all that is turned upside down."""
    k = rank(len(y), (1 + c) / 2)
    return new - kth((m - y) / s, k) * t, new + kth((y - m) / s, k) * t


def leaning_by_both_ranks(y: Any, m: Any, s: Any, new: Any, t: Any, c: Any) -> Any:
    z, n = np.sort((y - m) / s), len(y) + 1
    lower, upper = int(n * (1 - c) / 2), int(np.ceil(n * (1 + c) / 2))
    return np.stack([new + t * z[lower - 1], new + t * z[upper - 1]])


def ranked(rank_of: Any) -> Any:
    """Both ends by a rank of one's own for the upper, of (n, level)."""

    def ends(y: Any, m: Any, s: Any, new: Any, t: Any, c: Any) -> Any:
        k = int(rank_of(len(y), c))
        return new - kth((m - y) / s, k) * t, new + kth((y - m) / s, k) * t

    return ends


def even(y: Any, m: Any, s: Any, new: Any, t: Any, c: Any) -> Any:
    reach = kth(abs(y - m) / s, rank(len(y), c)) * t
    return new - reach, new + reach


def by_quantiles(y: Any, m: Any, s: Any, new: Any, t: Any, c: Any) -> Any:
    return [new + t * np.percentile((y - m) / s, 50 * (1 + sign * c)) for sign in (-1, 1)]


def high_below(y: Any, m: Any, s: Any, new: Any, t: Any, c: Any) -> Any:
    lower = kth((y - m) / s, rank(len(y), (1 - c) / 2))
    return new + lower * t, leaning(y, m, s, new, t, c)[1]


def from_zero(y: Any, m: Any, s: Any, new: Any, t: Any, c: Any) -> Any:
    """A rank rounded down, and taken for an index."""
    z, k = np.sort((y - m) / s), int((len(y) + 1) * (1 + c) / 2)
    return new + z[len(y) - 1 - k] * t, new + z[k] * t


def by_higher(y: Any, m: Any, s: Any, new: Any, t: Any, c: Any) -> Any:
    z, share = (y - m) / s, (len(y) + 1) / len(y) * (1 + c) / 2
    upper, lower = (np.quantile(each, share, method="higher") for each in (z, -z))
    return new - lower * t, new + upper * t


def by_inverted_cdf(y: Any, m: Any, s: Any, new: Any, t: Any, c: Any) -> Any:
    z, n = (y - m) / s, len(y)
    share = np.ceil((n + 1) * (1 + c) / 2) / n
    upper, lower = (np.quantile(each, share, method="inverted_cdf") for each in (z, -z))
    return new - lower * t, new + upper * t


def believed(y: Any, m: Any, s: Any, new: Any, t: Any, c: Any) -> Any:
    return stats.norm(new, t).interval(c)


RIGHT |= {"10.5": transport, "10.11": leaning}
ALSO += [
    ("10.5", single(transport)),
    ("10.5", tensors(tf_transport)),
    ("10.5", lambda a, b: [np.linalg.norm(apart(a, b)) / a.size**0.5]),
    ("10.5", by_levels),
    ("10.11", single(leaning)),
    ("10.11", leaning_by_both_ranks),
    ("10.11", by_inverted_cdf),
    ("10.11", tensors(lambda *given: leaning(*(each.numpy() for each in given)))),
    ("10.11", lambda *given: [list(end) for end in leaning(*given)]),
]
WRONG += [
    ("10.5", "as they come", lambda a, b: np.linalg.norm(a - b) / a.size**0.5),
    ("10.5", "Gaussians again", by_moments),
    ("10.5", "Gaussians again", lambda a, b: by_moments(a, b, 1)),
    ("10.5", "over the inputs", lambda a, b: np.mean((np.sort(a) - np.sort(b)) ** 2) ** 0.5),
    ("10.5", "over everything", lambda a, b: transport(a.reshape(-1, 1), b.reshape(-1, 1))),
    (
        "10.5",
        "the nearest draw",
        lambda a, b: np.mean(np.min(np.abs(a[:, None] - b[None]), axis=0) ** 2) ** 0.5,
    ),
    (
        "10.5",
        "every pair",
        lambda a, b: np.mean((a.mean(0) - b.mean(0)) ** 2 + a.var(0) + b.var(0)) ** 0.5,
    ),
    ("10.5", "absolute values", lambda a, b: np.mean(abs(apart(a, b)))),
    ("10.5", "the root is missing", lambda a, b: np.mean(apart(a, b) ** 2)),
    ("10.5", "root before mean", lambda a, b: np.mean(np.mean(apart(a, b) ** 2, 0) ** 0.5)),
    ("10.5", "not averaged", lambda a, b: np.mean(apart(a, b) ** 2, 0) ** 0.5),
    ("10.5", "sum for mean", lambda a, b: np.linalg.norm(apart(a, b))),
    ("10.5", "sum for mean", lambda a, b: np.mean(np.sum(apart(a, b) ** 2, 0)) ** 0.5),
    ("10.5", "sum for mean", lambda a, b: np.mean(np.sum(apart(a, b) ** 2, 1)) ** 0.5),
    ("10.5", "eps under the root", lambda a, b: (np.mean(apart(a, b) ** 2) + 1e-8) ** 0.5),
    ("10.5", "expected", lambda a, b: np.median(abs(apart(a, b)))),
    ("10.5", "expected", lambda a, b: np.max(abs(apart(a, b)))),
    ("10.5", "expected", lambda a, b: transport(a - a.mean(0), b - b.mean(0))),
    ("10.11", "as far to both sides", even),
    (
        "10.11",
        "one end's factor",
        lambda y, m, s, new, t, c: (
            new - (leaning(y, m, s, new, t, c)[1] - new),
            leaning(y, m, s, new, t, c)[1],
        ),
    ),
    (
        "10.11",
        "the mean is kept inside",
        lambda y, m, s, new, t, c: [
            np.minimum(leaning(y, m, s, new, t, c)[0], new),
            np.maximum(leaning(y, m, s, new, t, c)[1], new),
        ],
    ),
    (
        "10.11",
        "the mean is kept inside",
        lambda y, m, s, new, t, c: [
            new + sign * t * abs(kth(sign * (y - m) / s, rank(len(y), (1 + c) / 2)))
            for sign in (-1, 1)
        ],
    ),
    ("10.11", "the whole level", ranked(rank)),
    ("10.11", "rank too low", ranked(lambda n, c: np.ceil(n * (1 + c) / 2))),
    ("10.11", "rank too low", ranked(lambda n, c: (n + 1) * (1 + c) / 2)),
    ("10.11", "is rounded up", high_below),
    ("10.11", "rank too far out", from_zero),
    ("10.11", "rank too far out", by_higher),
    ("10.11", "a quantile", by_quantiles),
    ("10.11", "turned round", lambda *given: tuple(reversed(leaning(*given)))),
    (
        "10.11",
        "the sign of the scores",
        lambda y, m, s, new, t, c: 2 * new - np.array(leaning(y, m, s, new, t, c))[::-1],
    ),
    ("10.11", "not divided", lambda y, m, s, new, t, c: leaning(y, m, s / s, new, t, c)),
    ("10.11", "one width", lambda y, m, s, new, t, c: leaning(y, m, s, new, t / t, c)),
    ("10.11", "means are missing", lambda y, m, s, new, t, c: leaning(y, m, s, 0 * new, t, c)),
    ("10.11", "believed", believed),
    ("10.11", "a pair", lambda *given: leaning(*given)[1]),
    ("10.11", "expected", lambda y, m, s, new, t, c: leaning(y, m, s, new, 1.01 * t, c)),
    ("10.11", "expected", lambda y, m, s, new, t, c: leaning(abs(y), m, s, new, t, c)),
]


# Thompson sampling with a network.


def linearised(problems: Any, x_new: Any, **around: Any) -> Any:
    """Fifty draws of Laplace's linear model for each data set."""
    made = []
    for x, y in problems:
        fit = laplace.fit(x, y, prior=Gaussian(3.0), hidden_units=(20,), **around)
        f, rows = laplace.jacobian(fit.network, fit.mean, x_new)
        made.append(f + fit.spread.draw(50, 1) @ rows.T)
    return made


def alike(problems: Any, x_new: Any) -> Any:
    return [np.tile(draws.mean(axis=0), (50, 1)) for draws in linearised(problems, x_new)]


def mean_field(problems: Any, x_new: Any) -> Any:
    given: dict[str, Any] = {"prior": Gaussian(3.0), "hidden_units": (20,)}
    return [bbb.fit(x, y, **given).predict(x_new, 50).samples for x, y in problems]


def prior_alone(problems: Any, x_new: Any) -> Any:
    slopes = np.random.default_rng(1).normal(0.0, 30.0, (6, 50, 1))
    return slopes * (x_new[:, 0] + 0.5)


def some_missing(problems: Any, x_new: Any) -> Any:
    """Ten functions, and NaN for the other forty."""
    return [np.r_[draws[:10], 0 * draws[10:] + np.nan] for draws in linearised(problems, x_new)]


RIGHT["10.12"] = linearised
WRONG += [
    ("10.12", "draws are alike", alike),
    ("10.12", "known not to pay", prior_alone),
    ("10.12", "hardly tried", mean_field),
    ("10.12", "expected", lambda p, x: linearised(p, x)[0]),
    ("10.12", "your answer contains NaN", some_missing),
    ("10.12", "the same draws for", lambda p, x: linearised(p[:1], x) * len(p)),
]
