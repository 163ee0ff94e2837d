"""Chapter 3: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
from scipy import stats
from scipy.special import logsumexp


def normal(w: Any, sigma: Any) -> Any:
    return np.exp(-0.5 * (w / sigma) ** 2) / (sigma * np.sqrt(2 * np.pi))


def log_normal(w: Any, sigma: Any) -> Any:
    return -0.5 * (w / sigma) ** 2 - np.log(sigma) - 0.5 * np.log(2 * np.pi)


def softplus(rho: Any) -> Any:
    return np.log1p(np.exp(rho))


def path(mu: Any, sigma: Any, eps: Any, x: Any, y: Any, s: Any, p: Any) -> Any:
    w = mu + sigma * eps
    return -eps / sigma + w / p**2 + ((w * x - y) @ x) / s**2


def keep(mean: Any, fraction: float, order: Any) -> Any:
    out = mean.copy()
    out[order[: int(fraction * len(out))]] = 0
    return out


def in_place(mean: Any, std: Any, fraction: float) -> Any:
    mean[np.argsort(abs(mean) / std)[: int(fraction * len(mean))]] = 0
    return mean


def information(p: Any) -> Any:
    """As the mean KL of each network to the average."""
    return stats.entropy(p, p.mean(axis=0)[None], axis=-1).mean(axis=0)


# Right answers, written in another way than the references.
RIGHT: dict[str, Any] = {
    "3.1": lambda a, b, c, d: 0.5 * ((b / d) ** 2 + ((a - c) / d) ** 2 - 1 - np.log((b / d) ** 2)),
    "3.2": lambda q, p, d: sum(q - p - d) / len(q),
    "3.3": lambda m, r, e, w, p: p + w * e * np.exp(r) / (1 + np.exp(r)),
    "3.4": "ace",
    "3.5": lambda k, v, n: (k * len(v) / n + sum(v)) / len(v),
    "3.6": lambda m, e, s: (m - 2 * (e**2 + s**2) ** 0.5, m + 2 * (e**2 + s**2) ** 0.5),
    "3.7": lambda w, a, b, p: np.where(
        abs(w) > 5,
        np.log(p) + log_normal(w, a),
        np.log(p * normal(w, a) + (1 - p) * normal(w, b)),
    ),
    "3.8": lambda m: [2 ** (m - i) / (2**m - 1) for i in range(1, m + 1)],
    "3.9": lambda m, s, f: keep(m, f, np.argsort((m / s) ** 2)),
    "3.10": lambda m, r, e, x, y, s, p: path(m, softplus(r), e, x, y, s, p),
    "3.11": lambda p: stats.entropy(p.mean(axis=0), axis=-1),
    "3.12": lambda f, y: logsumexp(f, axis=-1) - np.take_along_axis(f, y[:, None], 1)[:, 0],
    "3.13": lambda p, k: np.argsort(information(p))[::-1][:k],
}

# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = []

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
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
    ("3.2", "missing 1/S", lambda q, p, d: np.sum(q - p - d)),
    ("3.2", "wrong sign: this is the ELBO", lambda q, p, d: np.mean(d + p - q)),
    ("3.2", "prior and posterior swapped", lambda q, p, d: np.mean(p - q - d)),
    ("3.2", "wrong sign of the likelihood", lambda q, p, d: np.mean(q - p + d)),
    ("3.2", "not averaged", lambda q, p, d: q - p - d),
    ("3.2", "log q is missing", lambda q, p, d: -np.mean(p + d)),
    ("3.3", "softplus forgotten", lambda m, r, e, w, p: w * e + p),
    ("3.3", "softplus for its derivative", lambda m, r, e, w, p: w * e * softplus(r) + p),
    ("3.3", "exponential", lambda m, r, e, w, p: w * e * np.exp(r) + p),
    ("3.3", "explicit part is missing", lambda m, r, e, w, p: w * e / (1 + np.exp(-r))),
    ("3.3", "sign in the exponent", lambda m, r, e, w, p: w * e / (1 + np.exp(r)) + p),
    ("3.3", "Δμ for Δρ", lambda m, r, e, w, p: w + p),
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
    ("3.5", "everything divided by N", lambda k, v, n: k / n + sum(v) / n),
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
    ("3.5", "missing 1/N", lambda k, v, n: k + np.mean(v)),
    ("3.5", "divided by the batch size", lambda k, v, n: k / len(v) + np.mean(v)),
    ("3.5", "1/M for 1/N", lambda k, v, n: k / (n / len(v)) + np.mean(v)),
    ("3.5", "sum for mean", lambda k, v, n: k / n + np.sum(v)),
    ("3.5", "wrong sign", lambda k, v, n: k / n - np.mean(v)),
    ("3.6", "the noise is missing", lambda m, e, s: (m - 2 * e, m + 2 * e)),
    ("3.6", "standard deviations added", lambda m, e, s: (m - 2 * (e + s), m + 2 * (e + s))),
    ("3.6", "σ² for σ", lambda m, e, s: (m - 2 * (e * e + s * s), m + 2 * (e * e + s * s))),
    ("3.6", "one sd for two", lambda m, e, s: (m - np.hypot(e, s), m + np.hypot(e, s))),
    ("3.6", "upper and lower swapped", lambda m, e, s: RIGHT["3.6"](m, e, s)[::-1]),
    ("3.7", "underflow", lambda w, a, b, p: np.log(p * normal(w, a) + (1 - p) * normal(w, b))),
    (
        "3.7",
        "underflow",
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
    ("3.8", "overflow", lambda m: 2.0 ** (m - np.arange(1, m + 1)) / (2.0**m - 1)),
    ("3.8", "overflow", lambda m: 2 ** (m - np.arange(1, m + 1)) / (2**m - 1)),
    ("3.8", "uniform", lambda m: np.ones(m) / m),
    ("3.8", "not normalised", lambda m: 1 / np.exp2(np.arange(1, m + 1))),
    ("3.8", "order reversed", lambda m: np.array(RIGHT["3.8"](m))[::-1]),
    ("3.8", "counted from 0", lambda m: 2 * np.array(RIGHT["3.8"](m))),
    ("3.9", "σ ignored", lambda m, s, f: keep(m, f, np.argsort(abs(m)))),
    ("3.9", "wrong end", lambda m, s, f: keep(m, f, np.argsort(s / abs(m)))),
    ("3.9", "absolute value is missing", lambda m, s, f: keep(m, f, np.argsort(m / s))),
    ("3.9", "σ² for σ", lambda m, s, f: keep(m, f, np.argsort(abs(m) / s**2))),
    ("3.9", "changed its argument", in_place),
    (
        "3.10",
        "explicit part",
        lambda m, r, e, x, y, s, p: path(m, softplus(r), e, x, y, s, p) + e / softplus(r),
    ),
    ("3.10", "exponential", lambda m, r, e, x, y, s, p: path(m, np.exp(r), e, x, y, s, p)),
    ("3.10", "softplus forgotten", lambda m, r, e, x, y, s, p: path(m, r, e, x, y, s, p)),
    ("3.10", "σ for σ²", lambda m, r, e, x, y, s, p: path(m, softplus(r), e, x, y, s**0.5, p**0.5)),
    (
        "3.10",
        "mean for sum",
        lambda m, r, e, x, y, s, p: path(m, softplus(r), e, x, y, s * len(x) ** 0.5, p),
    ),
    ("3.11", "0 · log 0", lambda p: -np.sum(p.mean(0) * np.log(p.mean(0)), axis=-1)),
    ("3.11", "mean of entropies", lambda p: stats.entropy(p, axis=-1).mean(axis=0)),
    ("3.11", "wrong sign", lambda p: -stats.entropy(p.mean(axis=0), axis=-1)),
    ("3.11", "bits", lambda p: stats.entropy(p.mean(axis=0), axis=-1, base=2)),
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
]
