"""Chapter 7: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
from scipy import linalg, stats


def log_score(y: Any, f: Any, s: Any) -> Any:
    return np.log(np.mean(stats.norm(f, s).pdf(y) + 1e-300))


def coverage(y: Any, m: Any, e: Any, s: Any) -> float:
    total = (e**2 + s**2) ** 0.5
    inside = [a - 1.96 * t <= b <= a + 1.96 * t for a, b, t in zip(m, y, total, strict=True)]
    return sum(inside) / len(y)


def draw(m: Any, c: Any, e: Any) -> Any:
    return m + np.linalg.cholesky(c) @ e


def losses(p: Any, c: Any) -> Any:
    return np.array([max(row) - row[i] for row, i in zip(p, c, strict=True)])


RIGHT: dict[str, Any] = {
    "7.1": lambda y, f, s: (
        stats.norm(f, s).logpdf(y).max()
        + np.log(
            np.mean(np.exp(stats.norm(f, s).logpdf(y) - stats.norm(f, s).logpdf(y).max())),
        )
    ),
    "7.2": coverage,
    "7.3": lambda y, f, s: sum(stats.norm(row, s).cdf(y) for row in f) / len(f),
    "7.4": "bde",
    "7.5": lambda a, s, b, t: np.linalg.norm([a - b, s - t]) / len(a) ** 0.5,
    "7.6": lambda y, m, s: np.linalg.norm((y - m) / s) / len(y) ** 0.5,
    "7.7": lambda m, c, x, e: int(np.argsort(x @ draw(m, c, e))[-1]),
    "7.8": lambda p, c: np.tri(len(c)) @ losses(p, c),
}

# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = []

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("7.1", "missing 1/S", lambda y, f, s: np.log(stats.norm(f, s).pdf(y).sum() + 1e-300)),
    ("7.1", "mean of logarithms", lambda y, f, s: stats.norm(f, s).logpdf(y).mean()),
    (
        "7.1",
        "moments for the mixture",
        lambda y, f, s: stats.norm(f.mean(), (f.var() + s**2) ** 0.5).logpdf(y),
    ),
    ("7.1", "the noise is missing", lambda y, f, s: stats.norm(f.mean(), f.std()).logpdf(y)),
    ("7.1", "plug-in", lambda y, f, s: stats.norm(f.mean(), s).logpdf(y)),
    ("7.1", "density for log density", lambda y, f, s: stats.norm(f, s).pdf(y).mean()),
    ("7.1", "wrong sign", lambda y, f, s: -RIGHT["7.1"](y, f, s)),
    ("7.1", "σ² for σ", lambda y, f, s: RIGHT["7.1"](y, f, s * s)),
    ("7.1", "normaliser", lambda y, f, s: np.log(np.exp(-(((y - f) / s) ** 2) / 2).mean())),
    ("7.1", "a product", lambda y, f, s: stats.norm(f, s).logpdf(y).sum()),
    ("7.2", "the noise is missing", lambda y, m, e, s: np.mean(abs(y - m) < 1.96 * e)),
    ("7.2", "standard deviations added", lambda y, m, e, s: np.mean(abs(y - m) < 1.96 * (e + s))),
    ("7.2", "σ² for σ", lambda y, m, e, s: np.mean(abs(y - m) < 1.96 * (e * e + s * s))),
    ("7.2", "one-sided", lambda y, m, e, s: np.mean(abs(y - m) < 1.645 * np.hypot(e, s))),
    ("7.2", "one sd", lambda y, m, e, s: np.mean(abs(y - m) < np.hypot(e, s))),
    ("7.2", "misses for hits", lambda y, m, e, s: 1 - coverage(y, m, e, s)),
    ("7.2", "counted", lambda y, m, e, s: np.sum(abs(y - m) < 1.96 * np.hypot(e, s))),
    ("7.2", "one end only", lambda y, m, e, s: np.mean(y < m + 1.96 * np.hypot(e, s))),
    ("7.2", "two for 1.96", lambda y, m, e, s: np.mean(abs(y - m) < 2 * np.hypot(e, s))),
    ("7.2", "1.96 for 1.96²", lambda y, m, e, s: np.mean((y - m) ** 2 < 1.96 * (e**2 + s**2))),
    ("7.2", "epistemic part is missing", lambda y, m, e, s: np.mean(abs(y - m) < 1.96 * s)),
    ("7.2", "per cent", lambda y, m, e, s: 100 * coverage(y, m, e, s)),
    ("7.2", "what was announced", lambda y, m, e, s: 0.95),
    (
        "7.3",
        "moments for the mixture",
        lambda y, f, s: stats.norm(f.mean(0), np.hypot(f.std(0), s)).cdf(y),
    ),
    ("7.3", "the noise is missing", lambda y, f, s: np.mean(f < y, axis=0)),
    ("7.3", "plug-in", lambda y, f, s: stats.norm(f.mean(0), s).cdf(y)),
    ("7.3", "upper tail", lambda y, f, s: stats.norm(f, s).sf(y).mean(0)),
    ("7.3", "density for distribution", lambda y, f, s: stats.norm(f, s).pdf(y).mean(0)),
    ("7.3", "averaged over the points", lambda y, f, s: stats.norm(f, s).cdf(y).mean()),
    ("7.3", "not averaged", lambda y, f, s: stats.norm(f, s).cdf(y)),
    ("7.3", "wrong axis", lambda y, f, s: stats.norm(f, s).cdf(y).mean(1)),
    ("7.3", "σ² for σ", lambda y, f, s: stats.norm(f, s * s).cdf(y).mean(0)),
    ("7.3", "not divided", lambda y, f, s: stats.norm(f, 1).cdf(y).mean(0)),
    ("7.4", "statement a is not true", "abde"),
    ("7.4", "statement c is not true", {"b", "c", "d", "e"}),
    ("7.4", "statement f is not true", ["b", "d", "e", "f"]),
    ("7.4", "statement b was left out", "de"),
    ("7.4", "statement e was left out", "bd"),
    ("7.4", "expected a set of letters", {"a", "z"}),
    ("7.5", "spreads are ignored", lambda a, s, b, t: np.mean((a - b) ** 2) ** 0.5),
    (
        "7.5",
        "variances for standard",
        lambda a, s, b, t: np.mean((a - b) ** 2 + (s**2 - t**2) ** 2) ** 0.5,
    ),
    (
        "7.5",
        "variances are subtracted",
        lambda a, s, b, t: abs(np.mean((a - b) ** 2 + s**2 - t**2)) ** 0.5,
    ),
    ("7.5", "the root is missing", lambda a, s, b, t: np.mean((a - b) ** 2 + (s - t) ** 2)),
    ("7.5", "root before mean", lambda a, s, b, t: np.mean(((a - b) ** 2 + (s - t) ** 2) ** 0.5)),
    ("7.5", "sum for mean", lambda a, s, b, t: np.linalg.norm([a - b, s - t])),
    ("7.5", "not averaged", lambda a, s, b, t: ((a - b) ** 2 + (s - t) ** 2) ** 0.5),
    (
        "7.5",
        "two roots added",
        lambda a, s, b, t: (np.linalg.norm(a - b) + np.linalg.norm(s - t)) / len(a) ** 0.5,
    ),
    ("7.6", "σ² for σ", lambda y, m, s: np.mean((y - m) ** 2 / s**2)),
    ("7.6", "inverse", lambda y, m, s: np.mean((y - m) ** 2 / s**2) ** -0.5),
    ("7.6", "absolute values", lambda y, m, s: np.mean(abs((y - m) / s))),
    ("7.6", "ratio of averages", lambda y, m, s: np.linalg.norm(y - m) / np.linalg.norm(s)),
    ("7.6", "sds are ignored", lambda y, m, s: np.mean((y - m) ** 2) ** 0.5),
    ("7.6", "centred", lambda y, m, s: np.var((y - m) / s) ** 0.5),
    ("7.6", "sum for mean", lambda y, m, s: np.linalg.norm((y - m) / s)),
    ("7.6", "mean of z", lambda y, m, s: np.mean((y - m) / s)),
    ("7.6", "never below 1", lambda y, m, s: max(1, np.mean((y - m) ** 2 / s**2) ** 0.5)),
    ("7.7", "greedy", lambda m, c, x, e: (x @ m).argmax()),
    ("7.7", "covariance for its root", lambda m, c, x, e: (x @ (m + c @ e)).argmax()),
    (
        "7.7",
        "correlations ignored",
        lambda m, c, x, e: (x @ (m + c.diagonal() ** 0.5 * e)).argmax(),
    ),
    ("7.7", "L transposed", lambda m, c, x, e: (x @ (m + e @ np.linalg.cholesky(c))).argmax()),
    ("7.7", "upper bound", lambda m, c, x, e: (x @ m + (x @ c @ x.T).diagonal() ** 0.5).argmax()),
    ("7.7", "the worst", lambda m, c, x, e: (x @ draw(m, c, e)).argmin()),
    ("7.7", "reward for action", lambda m, c, x, e: (x @ draw(m, c, e)).max()),
    ("7.7", "another root", lambda m, c, x, e: (x @ (m + linalg.sqrtm(c) @ e)).argmax()),
    ("7.7", "variances as a root", lambda m, c, x, e: (x @ (m + c.diagonal() * e)).argmax()),
    ("7.7", "mean is missing", lambda m, c, x, e: (x @ draw(0 * m, c, e)).argmax()),
    ("7.8", "not cumulative", losses),
    ("7.8", "every column", lambda p, c: np.cumsum(p.max(axis=1) - p[:, c])),
    ("7.8", "nothing subtracted", lambda p, c: np.cumsum(np.max(p, axis=1))),
    ("7.8", "only the total", lambda p, c: losses(p, c).sum()),
    (
        "7.8",
        "reward for regret",
        lambda p, c: np.cumsum([row[i] for row, i in zip(p, c, strict=True)]),
    ),
    ("7.8", "wrong sign", lambda p, c: -np.cumsum(losses(p, c))),
    (
        "7.8",
        "one best action",
        lambda p, c: np.cumsum(
            [row[p.mean(0).argmax()] - row[i] for row, i in zip(p, c, strict=True)]
        ),
    ),
    (
        "7.8",
        "best of all rounds",
        lambda p, c: np.cumsum([p.max() - row[i] for row, i in zip(p, c, strict=True)]),
    ),
    ("7.8", "averaged", lambda p, c: np.cumsum(losses(p, c)) / (1 + np.arange(len(c)))),
]
