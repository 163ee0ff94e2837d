"""Chapter 3: right answers written in another way than the references, and wrong ones."""

import math
from typing import Any

import numpy as np
import tensorflow as tf
from scipy import stats
from scipy.special import entr, expit, logsumexp, softmax, xlogy

from bdl_teach import datasets, densities
from bdl_teach.backend import tfd
from bdl_teach.methods import bbb

F32 = np.float32
PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)


def normal(w: Any, sigma: Any) -> Any:
    return np.exp(-0.5 * (w / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))


def log_normal(w: Any, sigma: Any) -> Any:
    return -0.5 * (w / sigma) ** 2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)


def softplus(rho: Any) -> Any:
    return np.log1p(np.exp(rho))


def information(p: Any) -> Any:
    """As the mean KL of each network to the average."""
    return stats.entropy(p, p.mean(axis=0)[None], axis=-1).mean(axis=0)


def tf32(*values: Any) -> Any:
    return [tf.cast(v, tf.float32) for v in values]


def kl_tf(*parameters: Any) -> Any:
    a, b, c, d = tf32(*parameters)
    return tfd.kl_divergence(tfd.Normal(a, b), tfd.Normal(c, d))


def kl_by_quadrature(*parameters: Any) -> Any:
    """By Gauss-Hermite quadrature of log q − log p, with two nodes: it is a parabola."""
    a, b, c, d = (np.asarray(v)[..., None] for v in parameters)
    node = np.array([-1.0, 1.0])
    w = a + b * node
    return np.mean(stats.norm(a, b).logpdf(w) - stats.norm(c, d).logpdf(w), axis=-1)


def band_by_quantile(mean: Any, epistemic_std: Any, noise_std: Any) -> Any:
    total = np.sqrt(epistemic_std**2 + noise_std**2)
    return stats.norm(mean, total).interval(1 - 2 * stats.norm.sf(2))


def mixture_tfp(w: Any, a: Any, b: Any, p: Any) -> Any:
    return tfd.MixtureSameFamily(
        tfd.Categorical(probs=np.array([p, 1 - p])), tfd.Normal(np.zeros(2), np.array([a, b]))
    ).log_prob(w)


def mixture_by_loop(w: Any, a: Any, b: Any, p: Any) -> Any:
    out = []
    for each in w:
        one, two = np.log(p) + log_normal(each, a), np.log(1 - p) + log_normal(each, b)
        out.append(max(one, two) + np.log1p(np.exp(-abs(one - two))))
    return out


def wide_beyond(limit: float) -> Any:
    """The mixture, but far out only its wide part."""

    def answer(w: Any, a: Any, b: Any, p: Any) -> Any:
        whole = np.log(p * normal(w, a) + (1 - p) * normal(w, b))
        return np.where(np.abs(w) > limit, np.log(p) + log_normal(w, a), whole)

    return answer


def cross_entropy_tf(logits: Any, labels: Any) -> Any:
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.cast(logits, tf.float32))


def cross_entropy_by_loop(logits: Any, labels: Any) -> Any:
    return [
        np.logaddexp.reduce(row - row[label]) for row, label in zip(logits, labels, strict=True)
    ]


def logsumexp_shifted(f: Any, by: Any) -> Any:
    return np.log(np.exp(f - by[:, None]).sum(axis=1)) + by


def information_tf(p: Any) -> Any:
    (p,) = tf32(p)
    mean = tf.reduce_mean(p, axis=0)
    expected = tf.reduce_mean(tfd.Categorical(probs=p).entropy(), axis=0)
    return tfd.Categorical(probs=mean).entropy() - expected


def top(score: Any) -> Any:
    """A choice of pictures by a score of (p)."""
    return lambda p, k: np.argsort(-np.asarray(score(p)))[:k]


# Right answers, written in another way than the references.
def kl_by_loop(mu_q: Any, sigma_q: Any, mu_p: Any, sigma_p: Any) -> Any:
    rows = zip(mu_q, sigma_q, mu_p, sigma_p, strict=True)
    return [np.log(d / b) + (b * b + (a - c) ** 2) / (2 * d * d) - 0.5 for a, b, c, d in rows]


RIGHT: dict[str, Any] = {
    "3.1": lambda a, b, c, d: 0.5 * ((b / d) ** 2 + ((a - c) / d) ** 2 - 1 - np.log((b / d) ** 2)),
    "3.4": "ace",
    "3.6": lambda m, e, s: (m - 2 * (e**2 + s**2) ** 0.5, m + 2 * (e**2 + s**2) ** 0.5),
    "3.7": lambda w, a, b, p: logsumexp(
        [log_normal(w, a), log_normal(w, b)], b=[[p], [1 - p]], axis=0
    ),
    "3.11": lambda p: stats.entropy(p.mean(axis=0), axis=-1),
    "3.12": lambda f, y: logsumexp(f, axis=-1) - np.take_along_axis(f, y[:, None], 1)[:, 0],
    "3.13": lambda p, k: np.argsort(information(p))[::-1][:k],
}

# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = [
    ("3.1", kl_by_loop),
    ("3.1", kl_tf),
    ("3.1", kl_by_quadrature),
    ("3.1", lambda a, b, c, d: densities.gaussian_kl(a, b, c, d)),
    ("3.1", lambda *v: RIGHT["3.1"](*map(F32, v))),
    ("3.6", band_by_quantile),
    ("3.6", lambda m, e, s: [m + z * np.hypot(F32(e), F32(s)) for z in (-2, 2)]),
    ("3.6", lambda m, e, s: np.stack([m, m]) + 2 * np.array([[-1], [1]]) * (e * e + s * s) ** 0.5),
    ("3.6", lambda m, e, s: (tf.cast(m, tf.float32) - 2 * np.hypot(e, s), m + 2 * np.hypot(e, s))),
    ("3.7", mixture_tfp),
    ("3.7", mixture_by_loop),
    ("3.7", lambda w, a, b, p: densities.scale_mixture_log_prob(w, a, b, p)),
    ("3.7", lambda w, a, b, p: densities.scale_mixture_log_prob(*tf32(w, a, b, p))),
    (
        "3.7",
        lambda w, a, b, p: np.logaddexp(
            stats.norm(0, a).logpdf(w) + np.log(p), stats.norm(0, b).logpdf(w) + np.log(1 - p)
        ),
    ),
    ("3.11", lambda p: tfd.Categorical(probs=tf.reduce_mean(p, 0)).entropy()),
    ("3.11", lambda p: entr(F32(p).mean(axis=0)).sum(axis=-1)),
    ("3.11", lambda p: -xlogy(p.mean(axis=0), p.mean(axis=0)).sum(axis=-1)),
    ("3.11", lambda p: -np.nansum(p.mean(0) * np.log(p.mean(0)), axis=-1)),
    ("3.11", lambda p: [-sum(v * np.log(v) for v in row if v > 0) for row in p.mean(axis=0)]),
    ("3.12", cross_entropy_tf),
    ("3.12", cross_entropy_by_loop),
    ("3.12", lambda f, y: -tfd.Categorical(logits=f).log_prob(y)),
    ("3.12", lambda f, y: logsumexp(F32(f), axis=1) - F32(f)[range(len(y)), y]),
    ("3.13", lambda p, k: tf.math.top_k(information_tf(p), k).indices),
    ("3.13", top(lambda p: information(F32(p)))),
    ("3.13", top(lambda p: information(p) / np.log(2))),
    ("3.13", lambda p, k: sorted(range(p.shape[1]), key=(-information(p)).__getitem__)[:k]),
]

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    (
        "3.7",
        "expected",
        lambda w, a, b, p: RIGHT["3.7"](w, np.maximum(a, 0.01), np.maximum(b, 0.01), p),
    ),
    ("3.4", "statement b is not true", {"a", "b", "c", "e"}),
    ("3.1", "expected", lambda *v: np.where(RIGHT["3.1"](*v) < 0.1, 0.0, RIGHT["3.1"](*v))),
    ("3.1", "expected", lambda a, b, c, d: RIGHT["3.1"](a, np.hypot(b, 1e-4), c, d)),
    ("3.1", "expected", lambda a, b, c, d: np.abs(RIGHT["3.1"](c, b, a, d) - 0.1)),
    ("3.6", "expected", lambda m, e, s: (m + 2 * np.hypot(e, s), m + 2 * np.hypot(e, s))),
    ("3.6", "expected", lambda m, e, s: [m + z * np.maximum(e, s) for z in (-2, 2)]),
    ("3.6", "expected", lambda m, e, s: stats.norm(m, np.hypot(e, s)).interval(0.9)),
    ("3.7", "expected", wide_beyond(20)),
    ("3.7", "expected", wide_beyond(5)),
    ("3.11", "expected", lambda p: stats.entropy(np.median(p, axis=0), axis=-1)),
    ("3.11", "expected", lambda p: 1 - np.square(p.mean(0)).sum(axis=-1)),
    ("3.11", "expected", lambda p: stats.entropy(np.exp(np.log(p + 1e-9).mean(0)), axis=-1)),
    ("3.12", "infinite", lambda f, y: logsumexp_shifted(f, f.mean(axis=1)) - f[range(len(y)), y]),
    (
        "3.12",
        "infinite",
        lambda f, y: logsumexp_shifted(f, f[range(len(y)), y]) - f[range(len(y)), y],
    ),
    ("3.12", "expected", lambda f, y: np.minimum(RIGHT["3.12"](f, y), 1000)),
    ("3.13", "expected", top(lambda p: -information(p)[::-1])),
    ("3.13", "expected", lambda p, k: np.argpartition(-information(p), k - 1)[:k]),
    ("3.13", "expected", lambda p, k: np.argsort(information(p))[-k - 1 : -1]),
]


# Exercises that ask about another case than the cells of the chapter.


def delta_rho_tf(mu: Any, rho: Any, eps: Any, df_dw: Any, df_drho: Any) -> Any:
    r = tf.Variable(np.asarray(rho, np.float64))
    with tf.GradientTape() as tape:
        surrogate = tf.reduce_sum(df_dw * (mu + tf.exp(r) * eps))
    return tape.gradient(surrogate, r) + df_drho


def in_place(mean: Any, std: Any, level: float) -> Any:
    mean[stats.norm.sf(abs(mean) / std) > level] = 0
    return mean


RIGHT["3.2"] = lambda f, error: int(np.var(f, ddof=1) / error**2) + 1
RIGHT["3.3"] = lambda m, r, e, w, p: p + w * (m + np.exp(r) * e - m)
RIGHT["3.5"] = lambda c, n, b, mean: c / ((1 / n) if mean else (b / n))
RIGHT["3.9"] = lambda m, s, a: np.where(abs(m) / s < stats.norm.isf(a), 0, m)
ALSO += [
    ("3.2", lambda f, error: math.ceil((np.std(f) / error) ** 2)),
    ("3.2", lambda f, error: math.ceil(F32(f).var(ddof=1) / F32(error) ** 2)),
    ("3.2", lambda f, error: next(s for s in range(1, 999) if f.std() / s**0.5 <= error)),
    ("3.3", delta_rho_tf),
    ("3.3", lambda m, r, e, w, p: F32(w) * F32(e) * np.exp(F32(r)) + F32(p)),
    ("3.5", lambda c, n, b, mean: c * n / (1 if mean else b)),
    ("3.5", lambda c, n, b, mean: F32(c) * n / b * (b if mean else 1)),
    ("3.9", lambda m, s, a: m * (stats.norm(abs(m), s).cdf(0) <= a)),
    (
        "3.9",
        lambda m, s, a: F32(m) * (np.minimum(stats.norm(m, s).cdf(0), stats.norm(m, s).sf(0)) <= a),
    ),
]
WRONG += [
    ("3.2", "expected", lambda f, error: math.ceil(np.ptp(f) / error)),
    ("3.2", "expected", lambda f, error: len(f)),
    ("3.3", "expected", lambda m, r, e, w, p: w * e * np.exp(2 * np.asarray(r)) + p),
    ("3.5", "expected", lambda c, n, b, mean: c * (n // b) + 1),
    ("3.5", "expected", lambda c, n, b, mean: c * b / n if mean else c * n / b),
    ("3.9", "changed its argument", in_place),
    ("3.9", "expected", lambda m, s, a: abs(RIGHT["3.9"](m, s, a))),
]


# The experiments.


def weights_left(seed: int, count: int, score: Any, steps: int = 4000) -> Any:
    """The means of a fit that was trained on, all but some of them 0."""
    data = datasets.sinusoid(seed=seed)
    fit = bbb.fit(data.x, data.y, prior=PRIOR).refined(steps)
    last = np.sort(np.argsort(-score(fit))[:count])
    out = np.zeros(481)
    out[last] = fit.mean[last]
    return out


RIGHT["3.14"] = lambda seed: weights_left(seed, 18, lambda fit: abs(fit.mean) / fit.std)
RIGHT["3.15"] = lambda problems: 0.9
ALSO += [
    ("3.14", lambda seed: F32(weights_left(seed, 17, lambda fit: fit.signal_to_noise))),
    ("3.15", lambda problems: 1.1),
]
WRONG += [
    ("3.14", "too many weights", lambda seed: weights_left(seed, 19, lambda fit: abs(fit.mean))),
    ("3.14", "the sine is lost", lambda seed: weights_left(seed, 18, lambda fit: abs(fit.mean))),
    ("3.14", "expected shape (481,)", lambda seed: np.zeros(18)),
    ("3.14", "NaN", lambda seed: np.full(481, np.nan)),
    ("3.15", "too wide", lambda problems: 1.5),
    ("3.15", "too narrow", lambda problems: 0.1),
    ("3.15", "not above 0", lambda problems: 0.0),
    ("3.15", "expected one number", lambda problems: [1.0] * len(problems)),
]


# Shares of any ratio, and a gradient that lands.


def shares_by_steps(m: int, ratio: float) -> Any:
    """From the batch that carries most, each the one beside it times a number below 1."""
    out = np.ones(m)
    for i in range(1, m):
        out[i] = out[i - 1] * min(ratio, 1 / ratio)
    return (out if ratio <= 1 else out[::-1]) / out.sum()


def shares_by_formula(m: int, ratio: float) -> Any:
    if ratio == 1:
        return np.ones(m) / m
    if ratio > 1:
        return shares_by_formula(m, 1 / ratio)[::-1]
    return ratio ** np.arange(m) * (1 - ratio) / -np.expm1(m * np.log(ratio))


def path(m: Any, sigma: Any, e: Any, x: Any, y: Any, p: Any) -> Any:
    """∂f/∂w by the signs of the labels: the slope of log(1 + e^(−twx)), t = ±1."""
    w, t = m + sigma * e, 2 * y - 1
    return w / p**2 - e / sigma - np.sum(t * x / (1 + np.exp(t * x * w)))


def path_by_tape(m: Any, r: Any, e: Any, x: Any, y: Any, p: Any) -> Any:
    rho = tf.Variable(r, dtype=tf.float64)
    with tf.GradientTape() as tape:
        sigma = tf.nn.softplus(rho)
        w = m + sigma * e
        f = tfd.Normal(np.float64(m), tf.stop_gradient(sigma)).log_prob(w)
        f -= tfd.Normal(np.float64(0.0), np.float64(p)).log_prob(w)
        f += tf.reduce_sum(tf.nn.sigmoid_cross_entropy_with_logits(tf.constant(y), w * x))
    return tape.gradient(f, rho)


def landed(m: Any, r: Any, e: Any, x: Any, y: Any, p: Any) -> Any:
    return path(m, softplus(r), e, x, y, p) * e * expit(r)


RIGHT["3.8"] = shares_by_steps
RIGHT["3.10"] = landed
ALSO += [
    ("3.8", shares_by_formula),
    ("3.8", lambda m, r: F32(softmax(np.log(F32(r)) * np.arange(m)))),
    ("3.8", lambda m, r: tf.nn.softmax(tf.range(m, dtype=tf.float64) * np.log(r))),
    ("3.10", path_by_tape),
    ("3.10", lambda m, r, e, x, y, p: [landed(*map(F32, (m, r, e, x, y, p)))]),
]
WRONG += [
    ("3.8", "expected", lambda m, r: shares_by_steps(m, r) if m < 50 else np.ones(m) / m),
    ("3.8", "expected", lambda m, r: shares_by_steps(m, min(r, 1.0))),
    ("3.8", "expected", lambda m, r: shares_by_steps(m, r + 1e-3)),
    ("3.10", "expected", lambda m, r, e, *v: landed(m, r, e, *v) + 2 * m),
]
