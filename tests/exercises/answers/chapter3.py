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


def wide_if_zero(w: Any, a: Any, b: Any, p: Any) -> Any:
    density = p * normal(w, a) + (1 - p) * normal(w, b)
    return np.where(density > 0, np.log(density), np.log(p) + log_normal(w, a))


def cross_entropy_tf(logits: Any, labels: Any) -> Any:
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, tf.cast(logits, tf.float32))


def cross_entropy_by_loop(logits: Any, labels: Any) -> Any:
    return [
        np.logaddexp.reduce(row - row[label]) for row, label in zip(logits, labels, strict=True)
    ]


def logsumexp_shifted(f: Any, by: Any) -> Any:
    return np.log(np.exp(f - by[:, None]).sum(axis=1)) + by


def one_shift(f: Any, y: Any) -> Any:
    shifted = f - f.max()
    return np.log(np.exp(shifted).sum(axis=1)) - shifted[range(len(y)), y]


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
    (
        "3.1",
        "KL reversed",
        lambda a, b, c, d: np.log(b / d) + (d**2 + (a - c) ** 2) / 2 / b**2 - 0.5,
    ),
    ("3.1", "σ for σ²", lambda a, b, c, d: np.log(d / b) + (b + (a - c) ** 2) / 2 / d - 0.5),
    ("3.1", "−½ is missing", lambda a, b, c, d: np.log(d / b) + (b**2 + (a - c) ** 2) / 2 / d**2),
    ("3.1", "logarithm is missing", lambda a, b, c, d: (b**2 + (a - c) ** 2) / 2 / d**2 - 0.5),
    ("3.1", "wrong sign", lambda a, b, c, d: -RIGHT["3.1"](a, b, c, d)),
    ("3.1", "summed", lambda a, b, c, d: np.sum(RIGHT["3.1"](a, b, c, d))),
    (
        "3.1",
        "twice",
        lambda a, b, c, d: np.log(d**2 / b**2) + (b**2 + (a - c) ** 2) / 2 / d**2 - 0.5,
    ),
    ("3.4", "statement b is not true", {"a", "b", "c", "e"}),
    ("3.4", "statement d is not true", {"a", "c", "d", "e"}),
    ("3.4", "statement e was left out", ["a", "c"]),
    ("3.4", "statement a was left out", set()),
    ("3.4", "expected a set of letters", {"a", "z"}),
    ("3.4", "expected a set of letters", 3),
    (
        "3.1",
        "logarithm is upside down",
        lambda a, b, c, d: np.log(b / d) + (b**2 + (a - c) ** 2) / 2 / d**2 - 0.5,
    ),
    (
        "3.1",
        "fraction's ½ is missing",
        lambda a, b, c, d: np.log(d / b) + (b**2 + (a - c) ** 2) / d**2 - 0.5,
    ),
    ("3.1", "means are missing", lambda a, b, c, d: np.log(d / b) + (b / d) ** 2 / 2 - 0.5),
    (
        "3.6",
        "σ for σ² of the noise",
        lambda m, e, s: (m - 2 * (e**2 + s) ** 0.5, m + 2 * (e**2 + s) ** 0.5),
    ),
    (
        "3.6",
        "1.96 for 2",
        lambda m, e, s: (m - 1.96 * np.hypot(e, s), m + 1.96 * np.hypot(e, s)),
    ),
    (
        "3.7",
        "1/σ forgotten",
        lambda w, a, b, p: (
            np.logaddexp(np.log(p) - (w / a) ** 2 / 2, np.log(1 - p) - (w / b) ** 2 / 2)
            - 0.5 * np.log(2 * np.pi)
        ),
    ),
    (
        "3.12",
        "maximum is not added back",
        lambda f, y: logsumexp(f - f.max(1)[:, None], axis=1) - f[range(len(y)), y],
    ),
    (
        "3.12",
        "softmax over the pictures",
        lambda f, y: logsumexp(f, axis=0)[y] - f[range(len(y)), y],
    ),
    ("3.6", "the noise is missing", lambda m, e, s: (m - 2 * e, m + 2 * e)),
    ("3.6", "standard deviations added", lambda m, e, s: (m - 2 * (e + s), m + 2 * (e + s))),
    ("3.6", "σ² for σ", lambda m, e, s: (m - 2 * (e * e + s * s), m + 2 * (e * e + s * s))),
    ("3.6", "one sd for two", lambda m, e, s: (m - np.hypot(e, s), m + np.hypot(e, s))),
    ("3.6", "upper and lower swapped", lambda m, e, s: RIGHT["3.6"](m, e, s)[::-1]),
    ("3.7", "underflow", lambda w, a, b, p: np.log(p * normal(w, a) + (1 - p) * normal(w, b))),
    (
        "3.7",
        "a small number",
        lambda w, a, b, p: np.log(p * normal(w, a) + (1 - p) * normal(w, b) + 1e-12),
    ),
    (
        "3.7",
        "density for log density",
        lambda w, a, b, p: p * normal(w, a) + (1 - p) * normal(w, b),
    ),
    ("3.7", "swapped", lambda w, a, b, p: RIGHT["3.7"](w, a, b, 1 - p)),
    (
        "3.7",
        "average of logarithms",
        lambda w, a, b, p: p * log_normal(w, a) + (1 - p) * log_normal(w, b),
    ),
    (
        "3.7",
        "weights forgotten",
        lambda w, a, b, p: np.logaddexp(log_normal(w, a), log_normal(w, b)),
    ),
    ("3.11", "0 · log 0", lambda p: -np.sum(p.mean(0) * np.log(p.mean(0)), axis=-1)),
    ("3.11", "mean of entropies", lambda p: stats.entropy(p, axis=-1).mean(axis=0)),
    ("3.11", "wrong sign", lambda p: -stats.entropy(p.mean(axis=0), axis=-1)),
    ("3.11", "another logarithm", lambda p: stats.entropy(p.mean(axis=0), axis=-1, base=2)),
    ("3.11", "mean over the classes", lambda p: stats.entropy(p.mean(0), axis=-1) / p.shape[-1]),
    ("3.11", "entropies of each network", lambda p: stats.entropy(p, axis=-1)),
    ("3.11", "mutual information", lambda p: information(p)),
    ("3.11", "variance", lambda p: p.var(axis=0).mean(axis=-1)),
    (
        "3.12",
        "overflow",
        lambda f, y: -np.log(np.exp(f) / np.exp(f).sum(1)[:, None])[range(len(y)), y],
    ),
    ("3.12", "wrong sign", lambda f, y: -RIGHT["3.12"](f, y)),
    ("3.12", "probability for its logarithm", lambda f, y: np.exp(-RIGHT["3.12"](f, y))),
    ("3.12", "mean for each", lambda f, y: RIGHT["3.12"](f, y).mean()),
    ("3.12", "summed", lambda f, y: RIGHT["3.12"](f, y).sum()),
    ("3.12", "logit is missing", lambda f, y: logsumexp(f, axis=-1)),
    ("3.12", "logsumexp is missing", lambda f, y: -f[range(len(y)), y]),
    ("3.12", "counted from 1", lambda f, y: RIGHT["3.12"](f, y - 1)),
    ("3.13", "predictive entropy", lambda p, k: np.argsort(-RIGHT["3.11"](p))[:k]),
    ("3.13", "expected entropy", lambda p, k: np.argsort(-stats.entropy(p, axis=-1).mean(0))[:k]),
    ("3.13", "variance", lambda p, k: np.argsort(-p.var(axis=0).mean(axis=-1))[:k]),
    ("3.13", "least informative", lambda p, k: np.argsort(information(p))[:k]),
    ("3.13", "wrong order", lambda p, k: np.argsort(information(p))[-k:]),
    ("3.13", "values for indices", lambda p, k: np.sort(information(p))[::-1][:k]),
    ("3.13", "k indices only", lambda p, k: np.argsort(information(p))[::-1]),
    ("3.1", "expected", lambda *v: np.where(RIGHT["3.1"](*v) < 0.1, 0.0, RIGHT["3.1"](*v))),
    ("3.1", "another logarithm", lambda *v: RIGHT["3.1"](*v) / np.log(2)),
    ("3.1", "σ_q not squared", lambda a, b, c, d: RIGHT["3.1"](a, b, c, d) - (b**2 - b) / 2 / d**2),
    ("3.1", "1 for ½", lambda *v: RIGHT["3.1"](*v) - 0.5),
    ("3.1", "summed", lambda *v: np.mean(RIGHT["3.1"](*v))),
    ("3.1", "expected", lambda a, b, c, d: RIGHT["3.1"](a, np.hypot(b, 1e-4), c, d)),
    ("3.1", "expected", lambda a, b, c, d: np.abs(RIGHT["3.1"](c, b, a, d) - 0.1)),
    (
        "3.1",
        "expected",
        lambda a, b, c, d: (RIGHT["3.1"](a, b, c, d) + RIGHT["3.1"](c, d, a, b)) / 2,
    ),
    (
        "3.6",
        "σ for σ² of the epistemic",
        lambda m, e, s: [m + z * (e + s**2) ** 0.5 for z in (-2, 2)],
    ),
    ("3.6", "only the noise", lambda m, e, s: (m - 2 * s, m + 2 * s)),
    ("3.6", "three sds", lambda m, e, s: [m + z * np.hypot(e, s) for z in (-3, 3)]),
    ("3.6", "one row a point", lambda m, e, s: np.stack(RIGHT["3.6"](m, e, s), axis=-1)),
    ("3.6", "1.96 for 2", lambda m, e, s: stats.norm(m, np.hypot(e, s)).interval(0.95)),
    ("3.6", "expected", lambda m, e, s: (m + 2 * np.hypot(e, s), m + 2 * np.hypot(e, s))),
    ("3.6", "expected", lambda m, e, s: [m + z * np.hypot(e, 1.0) for z in (-2, 2)]),
    ("3.6", "expected", lambda m, e, s: [m + z * np.maximum(e, s) for z in (-2, 2)]),
    ("3.6", "expected", lambda m, e, s: stats.norm(m, np.hypot(e, s)).interval(0.9)),
    ("3.7", "expected", wide_beyond(20)),
    ("3.7", "expected", wide_beyond(5)),
    ("3.7", "expected", wide_if_zero),
    ("3.7", "only one part", lambda w, a, b, p: np.log(p) + log_normal(w, a)),
    (
        "3.7",
        "only one part",
        lambda w, a, b, p: np.maximum(
            np.log(p) + log_normal(w, a), np.log(1 - p) + log_normal(w, b)
        ),
    ),
    ("3.7", "σ for σ²", lambda w, a, b, p: RIGHT["3.7"](w, a**0.5, b**0.5, p)),
    ("3.7", "σ² for σ", lambda w, a, b, p: RIGHT["3.7"](w, a**2, b**2, p)),
    ("3.7", "summed", lambda w, a, b, p: RIGHT["3.7"](w, a, b, p).sum()),
    ("3.7", "expected", lambda w, a, b, p: RIGHT["3.7"](np.clip(w, -500, 500), a, b, p)),
    ("3.7", "only one part", lambda w, a, b, p: RIGHT["3.7"](w, a, a, p)),
    (
        "3.7",
        "expected",
        lambda w, a, b, p: np.nan_to_num(np.log(p * normal(w, a) + (1 - p) * normal(w, b))),
    ),
    ("3.11", "a small number", lambda p: -np.sum(p.mean(0) * np.log(p.mean(0) + 1e-12), axis=-1)),
    (
        "3.11",
        "a small number",
        lambda p: -np.sum(p.mean(0).clip(1e-7, 1) * np.log(p.mean(0).clip(1e-7, 1)), axis=-1),
    ),
    ("3.11", "divided by its largest", lambda p: RIGHT["3.11"](p) / np.log(p.shape[-1])),
    ("3.11", "the weights are missing", lambda p: -np.log(p.mean(0)).sum(axis=-1)),
    ("3.11", "expected", lambda p: stats.entropy(np.median(p, axis=0), axis=-1)),
    ("3.11", "expected", lambda p: 1 - np.square(p.mean(0)).sum(axis=-1)),
    ("3.11", "expected", lambda p: stats.entropy(np.exp(np.log(p + 1e-9).mean(0)), axis=-1)),
    ("3.12", "every class", lambda f, y: logsumexp(f, axis=1, keepdims=True) - f),
    ("3.12", "one maximum for all rows", one_shift),
    ("3.12", "infinite", lambda f, y: logsumexp_shifted(f, f.mean(axis=1)) - f[range(len(y)), y]),
    (
        "3.12",
        "infinite",
        lambda f, y: logsumexp_shifted(f, f[range(len(y)), y]) - f[range(len(y)), y],
    ),
    ("3.12", "rounded softmax", lambda f, y: -np.log(softmax(f, axis=1)[range(len(y)), y])),
    ("3.12", "a small number", lambda f, y: -np.log(softmax(f, axis=1)[range(len(y)), y] + 1e-8)),
    ("3.12", "overflow", lambda f, y: np.log(np.exp(f).sum(1)) - f[range(len(y)), y]),
    ("3.12", "expected", lambda f, y: np.minimum(RIGHT["3.12"](f, y), 1000)),
    ("3.12", "expected", lambda f, y: RIGHT["3.12"](f / 2, y)),
    ("3.12", "expected", lambda f, y: f.max(axis=1) - f[range(len(y)), y]),
    ("3.13", "standard deviation", top(lambda p: p.std(0).sum(-1))),
    ("3.13", "least sure", top(lambda p: -p.mean(0).max(-1))),
    ("3.13", "in the order of the pictures", lambda p, k: np.sort(RIGHT["3.13"](p, k))),
    ("3.13", "over entropy", top(lambda p: information(p) / RIGHT["3.11"](p))),
    ("3.13", "expected", top(lambda p: -information(p)[::-1])),
    ("3.13", "expected", lambda p, k: np.argpartition(-information(p), k - 1)[:k]),
    ("3.13", "expected", lambda p, k: RIGHT["3.13"](p, k) + 1),
    ("3.13", "expected", lambda p, k: np.argsort(information(p))[-k - 1 : -1]),
    ("3.13", "expected", top(lambda p: p.std(0).max(-1))),
    ("3.13", "expected", top(lambda p: p.max(0).max(-1) - p.min(0).min(-1))),
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


def pruned(mean: Any, std: Any, count: int) -> Any:
    out = mean.copy()
    out[np.argsort(abs(mean) / std, kind="stable")[:count]] = 0
    return out


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
    ("3.2", "not rounded up", lambda f, error: (f.std() / error) ** 2),
    ("3.2", "not rounded up", lambda f, error: int((f.std() / error) ** 2)),
    ("3.2", "sd for variance", lambda f, error: math.ceil(f.std() / error)),
    ("3.2", "the error is not squared", lambda f, error: math.ceil(f.var() / error)),
    ("3.2", "always one draw", lambda f, error: math.ceil(stats.sem(f) ** 2 / error**2)),
    ("3.2", "always one draw", lambda f, error: math.ceil(f.var() / (error * f.mean()) ** 2)),
    ("3.2", "always one draw", lambda f, error: 1),
    ("3.2", "the mean for the spread", lambda f, error: math.ceil((f.mean() / error) ** 2)),
    ("3.2", "upside down", lambda f, error: math.ceil((error / f.std()) ** 2)),
    ("3.2", "two standard errors", lambda f, error: math.ceil((2 * f.std() / error) ** 2)),
    ("3.2", "expected", lambda f, error: math.ceil(np.ptp(f) / error)),
    ("3.2", "expected", lambda f, error: RIGHT["3.2"](f, error) + 1),
    ("3.2", "expected", lambda f, error: len(f)),
    ("3.3", "the slope of softplus", lambda m, r, e, w, p: w * e * expit(r) + p),
    ("3.3", "softplus for its derivative", lambda m, r, e, w, p: w * e * softplus(r) + p),
    ("3.3", "Δσ for Δρ", lambda m, r, e, w, p: w * e + p),
    ("3.3", "the logarithm's slope", lambda m, r, e, w, p: w * e / np.exp(r) + p),
    ("3.3", "ρ for e^ρ", lambda m, r, e, w, p: r * w * e + p),
    ("3.3", "explicit part subtracted", lambda m, r, e, w, p: w * e * np.exp(r) - p),
    ("3.3", "the path is missing", lambda m, r, e, w, p: p),
    ("3.3", "∂f/∂w is missing", lambda m, r, e, w, p: e * np.exp(r) + p),
    ("3.3", "the weight for the noise", lambda m, r, e, w, p: (m + np.exp(r) * e) * w + p),
    ("3.3", "explicit part is missing", lambda m, r, e, w, p: w * e * np.exp(r)),
    ("3.3", "chain rule applied twice", lambda m, r, e, w, p: np.exp(r) * (w * e + p)),
    ("3.3", "ε forgotten", lambda m, r, e, w, p: w * np.exp(r) + p),
    ("3.3", "Δμ for Δρ", lambda m, r, e, w, p: w + p),
    ("3.3", "wrong sign: ", lambda m, r, e, w, p: -w * e * np.exp(r) - p),
    ("3.3", "expected", lambda m, r, e, w, p: w * e**2 * np.exp(r) + p),
    ("3.3", "expected", lambda m, r, e, w, p: w * e * np.exp(2 * np.asarray(r)) + p),
    ("3.5", "a sum for a mean", lambda c, n, b, mean: c / b * n),
    ("3.5", "a mean for a sum", lambda c, n, b, mean: n * c),
    ("3.5", "sum and mean swapped", lambda c, n, b, mean: c * n / b if mean else c * n),
    ("3.5", "the factor itself", lambda c, n, b, mean: c),
    ("3.5", "upside down", lambda c, n, b, mean: c / n if mean else c / (n / b)),
    ("3.5", "the batch size for N", lambda c, n, b, mean: c * b if mean else c),
    ("3.5", "λ/N for λ", lambda c, n, b, mean: c if mean else c / b),
    ("3.5", "expected", lambda c, n, b, mean: c * (n // b) + 1),
    ("3.5", "expected", lambda c, n, b, mean: c * b / n if mean else c * n / b),
    ("3.9", "two tails", lambda m, s, a: np.where(2 * stats.norm.sf(abs(m) / s) > a, 0, m)),
    ("3.9", "the wrong ones", lambda m, s, a: m - RIGHT["3.9"](m, s, a)),
    ("3.9", "its own sign", lambda m, s, a: np.where(stats.norm.cdf(abs(m) / s) > a, 0, m)),
    ("3.9", "σ ignored", lambda m, s, a: np.where(stats.norm.sf(abs(m)) > a, 0, m)),
    ("3.9", "σ² for σ", lambda m, s, a: RIGHT["3.9"](m, s**2, a)),
    ("3.9", "absolute value", lambda m, s, a: np.where(stats.norm(m, s).cdf(0) > a, 0, m)),
    ("3.9", "lie above 0", lambda m, s, a: np.where(stats.norm(m, s).sf(0) > a, 0, m)),
    ("3.9", "ratio for a probability", lambda m, s, a: np.where(abs(m) / s < a, 0, m)),
    ("3.9", "density", lambda m, s, a: np.where(stats.norm.pdf(m / s) > a, 0, m)),
    (
        "3.9",
        "a share",
        lambda m, s, a: pruned(m, s, int(a * len(m))),
    ),
    ("3.9", "cut out", lambda m, s, a: m[RIGHT["3.9"](m, s, a) != 0]),
    ("3.9", "a mask", lambda m, s, a: RIGHT["3.9"](m, s, a) != 0),
    ("3.9", "the probabilities", lambda m, s, a: stats.norm.sf(abs(m) / s)),
    ("3.9", "changed its argument", in_place),
    ("3.9", "expected", lambda m, s, a: RIGHT["3.9"](m, s + 1e-6, a)),
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
    ("3.14", "too many weights", lambda seed: np.ones(481)),
    ("3.14", "the sine is lost", lambda seed: weights_left(seed, 18, lambda fit: abs(fit.mean))),
    ("3.14", "the sine is lost", lambda seed: weights_left(seed, 18, lambda fit: fit.std)),
    ("3.14", "expected shape (481,)", lambda seed: np.zeros(18)),
    ("3.14", "NaN", lambda seed: np.full(481, np.nan)),
    ("3.15", "too wide", lambda problems: 1.5),
    ("3.15", "too wide", lambda problems: 50.0),
    ("3.15", "too narrow", lambda problems: 0.1),
    ("3.15", "too narrow", lambda problems: 0.5),
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
    ("3.8", "overflow: ", lambda m, r: r ** np.arange(m) / np.sum(r ** np.arange(m))),
    (
        "3.8",
        "overflow, and 0/0",
        lambda m, r: r ** np.arange(m) * np.divide(1 - r, 1 - np.float64(r) ** m),
    ),
    (
        "3.8",
        "0/0 where",
        lambda m, r: shares_by_formula(m, r) if r != 1 else np.float64(0) / np.zeros(m),
    ),
    ("3.8", "halves", lambda m, r: shares_by_steps(m, 0.5)),
    ("3.8", "uniform", lambda m, r: np.ones(m) / m),
    ("3.8", "not normalised", lambda m, r: float(r) ** np.arange(m)),
    ("3.8", "upside down", lambda m, r: shares_by_steps(m, r)[::-1]),
    ("3.8", "one power too many", lambda m, r: shares_by_steps(m, r) * r),
    ("3.8", "softmax of the ratios", lambda m, r: softmax(r * np.arange(float(m)))),
    ("3.8", "wrong sign", lambda m, r: -shares_by_steps(m, r)),
    ("3.8", "expected", lambda m, r: shares_by_steps(m, r) if m < 50 else np.ones(m) / m),
    ("3.8", "expected", lambda m, r: shares_by_steps(m, min(r, 1.0))),
    ("3.8", "expected", lambda m, r: shares_by_steps(m, r + 1e-3)),
    (
        "3.10",
        "explicit part",
        lambda m, r, e, *v: landed(m, r, e, *v) + (e * e - 1) / softplus(r) * expit(r),
    ),
    (
        "3.10",
        "nothing of log q",
        lambda m, r, e, *v: (path(m, softplus(r), e, *v) + e / softplus(r)) * e * expit(r),
    ),
    ("3.10", "Δμ for Δρ", lambda m, r, e, *v: path(m, softplus(r), e, *v)),
    ("3.10", "the ε is missing", lambda m, r, e, *v: path(m, softplus(r), e, *v) * expit(r)),
    ("3.10", "slope of the softplus", lambda m, r, e, *v: path(m, softplus(r), e, *v) * e),
    ("3.10", "exponential", lambda m, r, e, *v: path(m, np.exp(r), e, *v) * e * np.exp(r)),
    (
        "3.10",
        "softplus for its derivative",
        lambda m, r, e, *v: path(m, softplus(r), e, *v) * e * softplus(r),
    ),
    ("3.10", "softplus forgotten", lambda m, r, e, *v: path(m, r, e, *v) * e * expit(r)),
    (
        "3.10",
        "of section 3.5",
        lambda m, r, e, x, y, p: (
            (
                (m + softplus(r) * e) / p**2
                - e / softplus(r)
                - np.sum((y - (m + softplus(r) * e) * x) * x)
            )
            * e
            * expit(r)
        ),
    ),
    (
        "3.10",
        "wrong sign of the path",
        lambda m, r, e, *v: (path(m, softplus(r), e, *v) + 2 * e / softplus(r)) * e * expit(r),
    ),
    ("3.10", "prior is missing", lambda m, r, e, x, y, p: landed(m, r, e, x, y, np.inf)),
    ("3.10", "σ_p for σ_p²", lambda m, r, e, x, y, p: landed(m, r, e, x, y, p**0.5)),
    ("3.10", "likelihood is missing", lambda m, r, e, x, y, p: landed(m, r, e, 0 * x, y, p)),
    ("3.10", "wrong sign: ", lambda *v: -landed(*v)),
    ("3.10", "expected", lambda m, r, e, *v: landed(m, r, -e, *v)),
    ("3.10", "expected", lambda m, r, e, x, y, p: landed(m, r, e, x, 1 - y, p)),
    ("3.10", "expected", lambda m, r, e, *v: landed(m, r, e, *v) + 2 * m),
]
