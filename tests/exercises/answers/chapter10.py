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
    ("10.2", "expected", within(1.96, np.maximum)),
    ("10.2", "expected", within(1.96, lambda e, s: 0.5 * (e + s))),
    ("10.6", "expected", lambda y, m, s: np.mean(((y - m) / s) ** 4) ** 0.25),
    ("10.6", "expected", lambda y, m, s: np.clip(np.mean(((y - m) / s) ** 2) ** 0.5, 1, 2)),
    ("10.7", "expected", lambda m, c, x, e: 0),
    ("10.7", "expected", lambda m, c, x, e: np.argmax(x @ draw(m, c, abs(e)))),
    ("10.7", "expected", lambda m, c, x, e: np.argsort(x @ draw(m, c, e))[-2]),
    ("10.8", "expected", lambda p, c: np.maximum.accumulate(losses(p, c))),
    ("10.8", "expected", lambda p, c: np.cumprod(1 + losses(p, c))),
    ("10.8", "expected", lambda p, c: np.cumsum(np.sort(p)[:, -1] - np.sort(p)[:, -2])),
    ("10.4", "statement a is not true", "abde"),
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
    ("10.9", "too little is learnt", lambda t: 1.0 * (t < 50)),
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
    ("10.1", "expected", lambda y, f, s: np.median(logs(y, f, s))),
    ("10.1", "expected", lambda y, f, s: max(left_out(y, f, s), -20)),
    ("10.1", "expected", lambda y, f, s: logs(y, f, s)),
    ("10.3", "expected", lambda u, f, s: np.median(f, axis=0)),
    ("10.3", "expected", lambda u, f, s: np.sort(quantile(u, f, s))),
    ("10.3", "expected", lambda u, f, s: quantile(np.clip(u, 0.1, 0.9), f, s)),
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


def by_inverted_cdf(y: Any, m: Any, s: Any, new: Any, t: Any, c: Any) -> Any:
    z, n = (y - m) / s, len(y)
    share = np.ceil((n + 1) * (1 + c) / 2) / n
    upper, lower = (np.quantile(each, share, method="inverted_cdf") for each in (z, -z))
    return new - lower * t, new + upper * t


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
    ("10.5", "expected", lambda a, b: np.median(abs(apart(a, b)))),
    ("10.5", "expected", lambda a, b: np.max(abs(apart(a, b)))),
    ("10.5", "expected", lambda a, b: transport(a - a.mean(0), b - b.mean(0))),
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
