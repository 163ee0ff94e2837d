"""Chapter 2: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit, log_expit, xlogy


def kl(mean: Any, std: Any) -> Any:
    """By the variance and the logarithm of the variance."""
    var = std**2
    return np.sum(mean**2 + var - np.log(var) - 1, axis=1) / 2


def softplus(rho: Any) -> Any:
    return np.log1p(np.exp(rho))


def naive(x: Any, a: Any) -> Any:
    p = 1 / (1 + np.exp(-a))
    return np.sum(x * np.log(p) + (1 - x) * np.log(1 - p), axis=1)


def clipped(x: Any, a: Any) -> Any:
    p = np.clip(expit(a), 1e-7, 1 - 1e-7)
    return np.sum(xlogy(x, p) + xlogy(1 - x, 1 - p), axis=1)


def leave_one_out(f: Any, score: Any) -> Any:
    """By the identity f_i − mean of the others = S/(S − 1) (f_i − mean of all)."""
    n = len(f)
    return n / (n - 1) * np.mean((f - f.mean()) * score)


def safe_log_mean(log_w: Any) -> Any:
    top = log_w.max()
    return top + np.log(np.mean(np.exp(log_w - top)))


RIGHT: dict[str, Any] = {
    "2.1": kl,
    "2.2": lambda m, r, e: softplus(r) * e + m,
    "2.3": lambda f, z, m, s: f @ ((z - m) / s) / s / len(f),
    "2.4": "bdf",
    "2.5": lambda a, k, b: b * k - a.sum() / len(a),
    "2.6": lambda x, a: (x * log_expit(a) + (1 - x) * log_expit(-a)).sum(axis=1),
    "2.7": leave_one_out,
    "2.8": safe_log_mean,
}

# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = []

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("2.1", "not summed", lambda m, s: (m**2 + s**2 - 1) / 2 - np.log(s)),
    ("2.1", "mean for sum", lambda m, s: np.mean((m**2 + s**2 - 1) / 2 - np.log(s), axis=1)),
    ("2.1", "summed over everything", lambda m, s: kl(m, s).sum()),
    ("2.1", "σ for σ²", lambda m, s: kl(m, np.sqrt(s))),
    ("2.1", "log σ for log σ²", lambda m, s: np.sum(m**2 + s**2 - np.log(s) - 1, axis=1) / 2),
    ("2.1", "σ read as log σ²", lambda m, s: -np.sum(1 + s - m**2 - np.exp(s), axis=1) / 2),
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
    ("2.3", "missing 1/S", lambda f, z, m, s: f @ (z - m) / s**2),
    ("2.3", "σ for σ²", lambda f, z, m, s: np.mean(f * (z - m)) / s),
    ("2.3", "log q for its derivative", lambda f, z, m, s: np.mean(f * stats.norm(m, s).logpdf(z))),
    ("2.3", "variance is missing", lambda f, z, m, s: f @ (z - m) / len(f)),
    ("2.3", "wrong sign", lambda f, z, m, s: -np.mean(f * (z - m)) / s**2),
    ("2.3", "cost is missing", lambda f, z, m, s: np.mean(z - m) / s**2),
    ("2.3", "two means", lambda f, z, m, s: f.mean() * np.mean(z - m) / s**2),
    ("2.3", "by σ", lambda f, z, m, s: np.mean(f * ((z - m) ** 2 - s**2)) / s**3),
    ("2.3", "not averaged", lambda f, z, m, s: f * (z - m) / s**2),
    ("2.3", "μ forgotten", lambda f, z, m, s: np.mean(f * z) / s**2),
    ("2.4", "statement a is not true", "abdf"),
    ("2.4", "statement c is not true", {"b", "c", "d", "f"}),
    ("2.4", "statement e is not true", ["b", "d", "e", "f"]),
    ("2.4", "statement d was left out", "bf"),
    ("2.4", "expected a set of letters", {"b", "z"}),
    ("2.5", "missing 1/S", lambda a, k, b: b * k - a.sum()),
    ("2.5", "ELBO for the loss", lambda a, k, b: a.mean() - b * k),
    ("2.5", "wrong sign of the KL", lambda a, k, b: -a.mean() - b * k),
    ("2.5", "sign of the reconstruction", lambda a, k, b: a.mean() + b * k),
    ("2.5", "β on the reconstruction", lambda a, k, b: k - b * a.mean()),
    ("2.5", "β on both", lambda a, k, b: b * k - b * a.mean()),
    ("2.5", "β forgotten", lambda a, k, b: k - a.mean()),
    ("2.5", "not averaged", lambda a, k, b: b * k - a),
    ("2.6", "breaks for large logits", naive),
    ("2.6", "clipped", clipped),
    ("2.6", "wrong sign", lambda x, a: -RIGHT["2.6"](x, a)),
    (
        "2.6",
        "logits taken as probabilities",
        lambda x, a: np.sum((1 - x) * np.log(1 - a) + x * np.log(a), axis=1),
    ),
    ("2.6", "mean over the pixels", lambda x, a: RIGHT["2.6"](x, a) / x.shape[1]),
    ("2.6", "not summed", lambda x, a: x * log_expit(a) + (1 - x) * log_expit(-a)),
    ("2.6", "summed over everything", lambda x, a: RIGHT["2.6"](x, a).sum()),
    ("2.6", "only the bright", lambda x, a: (x * log_expit(a)).sum(axis=1)),
    ("2.6", "swapped", lambda x, a: RIGHT["2.6"](1 - x, a)),
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
    ("2.8", "", lambda a: stats.gmean(-a)),
]
