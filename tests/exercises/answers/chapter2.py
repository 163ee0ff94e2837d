"""Chapter 2: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
import tensorflow as tf
from scipy import stats
from scipy.special import expit, log_expit, logsumexp

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


def shifted_by_first(log_w: Any) -> Any:
    return log_w[0] + np.log(np.mean(np.exp(log_w - log_w[0])))


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
    ("2.8", "largest", lambda w: w.mean() + np.log(np.mean(np.exp(w - w.mean())))),
    ("2.8", "largest", lambda w: np.median(w) + np.log(np.mean(np.exp(w - np.median(w))))),
    ("2.8", "largest", lambda w: w.min() + np.log(np.mean(np.exp(w - w.min())))),
    ("2.8", "infinite", lambda w: np.log(np.mean(np.exp(w + 9e3))) - 9e3),
    ("2.1", "not summed", lambda m, s: (m**2 + s**2 - 1) / 2 - np.log(s)),
    ("2.1", "mean for sum", lambda m, s: np.mean((m**2 + s**2 - 1) / 2 - np.log(s), axis=1)),
    ("2.1", "summed over everything", lambda m, s: kl(m, s).sum()),
    ("2.1", "σ for σ²", lambda m, s: kl(m, np.sqrt(s))),
    ("2.1", "log σ for log σ²", lambda m, s: np.sum(m**2 + s**2 - np.log(s) - 1, axis=1) / 2),
    ("2.1", "σ read as a log", lambda m, s: -np.sum(1 + s - m**2 - np.exp(s), axis=1) / 2),
    ("2.1", "sign of the logarithm", lambda m, s: kl(m, s) + 2 * np.log(s).sum(axis=1)),
    ("2.1", "missing ½", lambda m, s: np.sum(m**2 + s**2 - 1 - 2 * np.log(s), axis=1)),
    ("2.1", "the −1 is missing", lambda m, s: kl(m, s) + m.shape[1] / 2),
    ("2.1", "KL reversed", lambda m, s: kl(m / s, 1 / s)),
    ("2.1", "wrong sign: a KL", lambda m, s: -kl(m, s)),
    ("2.2", "softplus forgotten", lambda m, r, e: m + r * e),
    ("2.2", "exponential", lambda m, r, e: m + np.exp(r) * e),
    ("2.2", "log σ²", lambda m, r, e: m + np.exp(0.5 * r) * e),
    ("2.2", "σ² for σ", lambda m, r, e: m + softplus(r) ** 2 * e),
    ("2.2", "√σ for σ", lambda m, r, e: m + softplus(r) ** 0.5 * e),
    ("2.2", "mean is missing", lambda m, r, e: softplus(r) * e),
    ("2.2", "ε is missing", lambda m, r, e: m + softplus(r)),
    ("2.2", "no draw at all", lambda m, r, e: m),
    ("2.4", "statement a is not true", "abdf"),
    ("2.4", "statement c is not true", {"b", "c", "d", "f"}),
    ("2.4", "statement e is not true", ["b", "d", "e", "f"]),
    ("2.4", "statement d was left out", "bf"),
    ("2.4", "expected a set of letters", {"b", "z"}),
    ("2.7", "no baseline", lambda f, g: (f * g).mean()),
    ("2.7", "own cost", lambda f, g: ((f - f.mean()) * g).mean()),
    ("2.7", "baseline added", lambda f, g: 2 * (f * g).mean() - leave_one_out(f, g)),
    ("2.7", "divided by S", lambda f, g: ((f - (f.sum() - f) / len(f)) * g).mean()),
    ("2.7", "sum of the others", lambda f, g: ((2 * f - f.sum()) * g).mean()),
    ("2.7", "missing 1/S", lambda f, g: leave_one_out(f, g) * len(f)),
    ("2.7", "wrong sign", lambda f, g: -leave_one_out(f, g)),
    ("2.7", "not averaged", lambda f, g: len(f) / (len(f) - 1) * (f - f.mean()) * g),
    ("2.8", "underflow", lambda a: np.log(np.mean(np.exp(a)))),
    ("2.8", "mean of logarithms", np.mean),
    ("2.8", "missing 1/S", lambda a: safe_log_mean(a) + np.log(len(a))),
    ("2.8", "wrong sign of log S", lambda a: safe_log_mean(a) + 2 * np.log(len(a))),
    ("2.8", "outside the logarithm", lambda a: (safe_log_mean(a) + np.log(len(a))) / len(a)),
    ("2.8", "best draw only", max),
    ("2.8", "wrong sign", lambda a: -safe_log_mean(a)),
    ("2.8", "a small number", lambda a: np.log(np.mean(np.exp(a)) + 1e-300)),
    ("2.8", "maximum is not added back", lambda a: np.log(np.mean(np.exp(a - a.max())))),
    ("2.8", "another logarithm", lambda a: safe_log_mean(a) / np.log(2)),
    ("2.8", "not the largest taken out", shifted_by_first),
    ("2.8", "expected", lambda a: -safe_log_mean(-a)),
    ("2.8", "expected", lambda a: a.max() + np.log(np.mean(np.exp(a - a.max())) + 0.01)),
    ("2.8", "expected", lambda a: safe_log_mean(np.maximum(a, -700))),
    ("2.8", "expected", np.median),
    ("2.8", "expected", lambda a: a.max() if a.max() < -700 else safe_log_mean(a)),
    ("2.8", "expected one number", lambda a: a - np.log(len(a))),
    ("2.1", "summed over the examples", lambda m, s: kl(m.T, s.T)),
    ("2.1", "mean over the examples", lambda m, s: kl(m, s).mean()),
    ("2.1", "another logarithm", lambda m, s: kl(m, s) / np.log(2)),
    ("2.1", "the means are missing", lambda m, s: kl(0 * m, s)),
    ("2.1", "σ for σ² outside", lambda m, s: kl(m, s) - (s**2 - s).sum(1) / 2),
    ("2.1", "a small number", lambda m, s: np.sum(m**2 + s**2 - 1 - np.log(s**2 + 1e-8), 1) / 2),
    ("2.1", "μ not squared", lambda m, s: kl(abs(m) ** 0.5, s)),
    ("2.1", "expected", lambda m, s: kl(m, s + 1e-3)),
    ("2.1", "expected", lambda m, s: kl(m, np.clip(s, 1e-2, None))),
    ("2.1", "expected", lambda m, s: kl(m, s) + 0.5),
    ("2.1", "expected", lambda m, s: kl(m - m.mean(0), s)),
    ("2.2", "another softplus", lambda m, r, e: m + np.log2(1 + np.exp(r)) * e),
    ("2.2", "another softplus", lambda m, r, e: m + np.maximum(r, 0) * e),
    ("2.2", "slope of softplus", lambda m, r, e: m + expit(r) * e),
    ("2.2", "minus for plus", lambda m, r, e: m - softplus(r) * e),
    ("2.2", "μ and ε swapped", lambda m, r, e: m * softplus(r) + e),
    ("2.2", "expected", lambda m, r, e: softplus(m + r * e)),
    ("2.2", "expected", lambda m, r, e: m + softplus(r) * abs(e)),
    ("2.2", "expected", lambda m, r, e: (m + e) * softplus(r)),
    ("2.2", "expected", lambda m, r, e: m + np.where(np.asarray(r) > 4, r, softplus(r)) * e),
    ("2.2", "expected", lambda m, r, e: m + softplus(r) * np.mean(e)),
    ("2.2", "expected", lambda m, r, e: m + (softplus(r) + 1e-3) * e),
    ("2.7", "always 0", lambda f, g: leave_one_out(f, g * 0 + 1) * g.mean()),
    ("2.7", "always 0", lambda f, g: leave_one_out(f * g, 0 * g + 1)),
    ("2.7", "divided by S", lambda f, g: leave_one_out(f, g) * len(f) / (len(f) - 1)),
    ("2.7", "baseline alone", lambda f, g: (f * g).mean() - leave_one_out(f, g)),
    ("2.7", "standardised", lambda f, g: np.mean((f - f.mean()) / f.std() * g)),
    ("2.7", "expected", lambda f, g: np.mean((f - np.median(f)) * g)),
    ("2.7", "expected", lambda f, g: np.mean((f - np.roll(f, 1)) * g)),
    ("2.7", "expected", lambda f, g: np.mean((f - f.min()) * g)),
    ("2.7", "expected", lambda f, g: np.corrcoef(f, g)[0, 1]),
    ("2.7", "expected", lambda f, g: np.mean((f - np.mean(f * g**2) / np.mean(g**2)) * g)),
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
    ("2.3", "missing 1/S", lambda f, z, m, s: len(f) * RIGHT["2.3"](f, z, m, s)),
    ("2.3", "derivative by μ", lambda f, z, m, s: np.mean(f * (z - m)) / s**2),
    ("2.3", "normaliser is forgotten", lambda f, z, m, s: np.mean(f * ((z - m) / s) ** 2) / s),
    ("2.3", "by σ²", lambda f, z, m, s: RIGHT["2.3"](f, z, m, s) / s / 2),
    ("2.3", "by log σ", lambda f, z, m, s: RIGHT["2.3"](f, z, m, s) * s),
    ("2.3", "σ² for σ", lambda f, z, m, s: RIGHT["2.3"](f, z, m, s) / s),
    ("2.3", "wrong sign", lambda f, z, m, s: -RIGHT["2.3"](f, z, m, s)),
    ("2.3", "divided by S", lambda f, z, m, s: RIGHT["2.3"](f, z, m, s) * len(f) / (len(f) - 1)),
    ("2.3", "log q for its derivative", lambda f, z, m, s: np.mean(f * stats.norm(m, s).logpdf(z))),
    ("2.3", "pathwise", lambda f, z, m, s: np.mean(f * (z - m)) / s),
    ("2.3", "cost is missing", lambda f, z, m, s: RIGHT["2.3"](0 * f + 1, z, m, s)),
    ("2.3", "two means", lambda f, z, m, s: f.mean() * RIGHT["2.3"](0 * f + 1, z, m, s)),
    ("2.3", "not averaged", lambda f, z, m, s: f * (((z - m) / s) ** 2 - 1) / s),
    ("2.3", "μ forgotten", lambda f, z, m, s: RIGHT["2.3"](f, z, 0, s)),
    ("2.3", "expected", lambda f, z, m, s: RIGHT["2.3"](f, z, m, s + 1e-6)),
    ("2.3", "expected", lambda f, z, m, s: RIGHT["2.3"](f - f.mean(), z, m, s)),
    ("2.9", "below 0", lambda *case: -crossing(*case)),
    ("2.9", "noisier still", lambda *case: 0.5 * crossing(*case)),
    ("2.9", "quieter already", lambda *case: 2 * crossing(*case)),
    ("2.9", "does not do what is asked", lambda mu, sigma, curvature: 0.3),
    ("2.10", "says too much", lambda shuffles: 1.0),
    ("2.10", "says too much", lambda shuffles: 1.08),
    ("2.10", "says too little", lambda shuffles: 1.32),
    ("2.10", "says too much", lambda shuffles: 0.01),
    ("2.10", "says too little", lambda shuffles: 1.5),
    ("2.10", "says too little", lambda shuffles: 64.0),
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


def left_out(a: Any, below: float) -> Any:
    """What the small logits of each row owe for their normaliser."""
    return [sum(np.log(np.expm1(b) / b) for b in row if 0 < abs(b) < below) for row in a]


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
    (
        "2.5",
        "each image has its own",
        lambda a, k, free: np.maximum(k, free).sum(axis=1).mean() - a.mean(),
    ),
    ("2.5", "for all coordinates", lambda a, k, free: max(k.mean(0).sum(), free) - a.mean()),
    ("2.5", "the mean coordinate", lambda a, k, free: k.shape[1] * max(k.mean(), free) - a.mean()),
    ("2.5", "above λ", lambda a, k, free: price(k, free) - free * k.shape[1] - a.mean()),
    ("2.5", "at most λ", lambda a, k, free: np.minimum(k.mean(0), free).sum() - a.mean()),
    ("2.5", "nothing is free", lambda a, k, free: k.sum(1).mean() - a.mean()),
    ("2.5", "λ as a factor", lambda a, k, free: free * k.sum(1).mean() - a.mean()),
    ("2.5", "λ added", lambda a, k, free: k.sum(1).mean() + free * k.shape[1] - a.mean()),
    ("2.5", "mean over the coordinates", lambda a, k, free: price(k, free) / k.shape[1] - a.mean()),
    (
        "2.5",
        "summed over the images",
        lambda a, k, free: np.maximum(k.sum(0), free).sum() - a.mean(),
    ),
    ("2.5", "axes of the KL", lambda a, k, free: price(k.T, free) - a.mean()),
    ("2.5", "missing 1/S", lambda a, k, free: price(k, free) - a.sum()),
    ("2.5", "a bound for a loss", lambda a, k, free: a.mean() - price(k, free)),
    ("2.5", "wrong sign of the KL", lambda a, k, free: -price(k, free) - a.mean()),
    ("2.5", "sign of the reconstruction", lambda a, k, free: price(k, free) + a.mean()),
    ("2.5", "not averaged", lambda a, k, free: price(k, free) - a.mean(0)),
    ("2.5", "expected", lambda a, k, free: price(k, free) - a.max()),
    ("2.5", "expected", lambda a, k, free: price(k, free) - np.median(a)),
    ("2.5", "expected", lambda a, k, free: price(k, 2 * free) - a.mean()),
    ("2.6", "breaks for large", lambda x, a: (x * a - np.log((np.exp(a) - 1) / a)).sum(1)),
    (
        "2.6",
        "breaks for large",
        lambda x, a: (x * a - np.where(a == 0, 0, np.log(np.expm1(a) / a))).sum(axis=1),
    ),
    (
        "2.6",
        "at a logit of 0",
        lambda x, a: (x * a - np.maximum(a, 0) - np.log(-np.expm1(-abs(a)) / abs(a))).sum(1),
    ),
    ("2.6", "clipped", lambda x, a: grey(x, np.clip(a, -30, 30))),
    *(
        (
            "2.6",
            "the limit for a region",
            lambda x, a, t=t: grey(x, a) + left_out(a, t),
        )
        for t in (0.1, 0.2, 0.01)
    ),
    ("2.6", "cross-entropy", lambda x, a: np.sum(x * a - np.logaddexp(0, a), axis=1)),
    ("2.6", "not normalised", lambda x, a: np.sum(x * a, axis=1)),
    ("2.6", "of the normaliser", lambda x, a: 2 * np.sum(x * a, axis=1) - grey(x, a)),
    ("2.6", "wrong sign: ", lambda x, a: -grey(x, a)),
    ("2.6", "mean over the pixels", lambda x, a: grey(x, a) / x.shape[1]),
    ("2.6", "summed over everything", lambda x, a: grey(x, a).sum()),
    ("2.6", "summed over the pictures", lambda x, a: grey(x.T, a.T)),
    ("2.6", "mean over the pictures", lambda x, a: grey(x, a).mean()),
    ("2.6", "another logarithm", lambda x, a: grey(x, a) / np.log(2)),
    ("2.6", "rounded", lambda x, a: grey(np.round(x), a)),
    ("2.6", "Gaussian", lambda x, a: -np.square(x - expit(a)).sum(1)),
    ("2.6", "swapped", lambda x, a: grey(1 - x, a)),
    ("2.6", "expected", lambda x, a: grey(x, a / 2)),
    ("2.6", "expected", lambda x, a: np.maximum(grey(x, a), -100)),
    ("2.6", "NaN", lambda x, a: np.full(len(x), np.nan)),
]
