"""Chapter 8: right answers written in another way than the references, and wrong ones."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
import tensorflow as tf
from scipy.optimize import minimize_scalar

from answers.forms import single, tensors
from bdl_teach import datasets, densities
from bdl_teach.backend import tfp
from bdl_teach.methods import exact, mc_dropout, point

GAP = (0.1, 0.4)
SETTINGS: dict[str, Any] = {"prior": densities.Gaussian(3.0), "hidden_units": (20,)}


def lowest(first: Any, second: Any, modes: Any = None) -> Any:
    """Path after path, point after point."""
    paths = [[*a, *b] for a, b in zip(first, second, strict=True)]
    ends = [paths[0][0], paths[0][-1]] if modes is None else modes
    return min(max(path) for path in paths) - max(ends)


def tf_lowest(first: Any, second: Any) -> Any:
    path = tf.concat([first, second], axis=1)
    return tf.reduce_min(tf.reduce_max(path, axis=1)) - tf.maximum(path[0, 0], path[0, -1])


def anchors(x: Any, p: Any, s: Any) -> Any:
    """The prior's covariance, and that of the anchors which do what the noise does."""
    as_anchor = p**2 / s**2 * x.T  # times ε
    return p**2 * np.eye(x.shape[1]) + s**2 * as_anchor @ as_anchor.T


def told(x: Any, p: Any, s: Any) -> Any:
    """Λ."""
    return np.linalg.inv(exact.linear_regression(x, np.zeros(len(x)), p, s).cov)


def by_solving(x: Any, p: Any, s: Any) -> Any:
    """A C Aᵀ = Λ⁻¹ with A = Λ⁻¹/σ_p², solved for the entries of C."""
    a, d = np.linalg.inv(told(x, p, s)) / p**2, x.shape[1]
    return np.linalg.solve(np.kron(a, a), p**2 * a.ravel()).reshape(d, d)


def tf_anchors(x: Any, p: Any, s: Any) -> Any:
    return p**2 * (tf.eye(x.shape[1]) + (p / s) ** 2 * tf.transpose(x) @ x)


def together(group: Any) -> Any:
    """1 where two units share a z, else 0 ``[H, H]``."""
    return np.equal.outer(group, group) * 1.0


def dropout(contributions: Any, group: Any, rate: Any) -> Any:
    """The whole covariance of the units, and its quadratic form."""
    each = np.einsum("mi,ij,mj->m", contributions, together(group), contributions)
    return np.sqrt(rate / (1 - rate) * each)


def tf_dropout(contributions: Any, group: Any, rate: Any) -> Any:
    one_hot = tf.one_hot(tf.unique(group)[1], len(group))
    return tf.sqrt(rate / (1 - rate) * tf.reduce_sum((contributions @ one_hot) ** 2, axis=1))


def joint(seen: Any, new: Any, p: Any, s: Any) -> Any:
    """Covariance of the outputs at the new inputs ``[m, m]``."""
    return new @ np.linalg.inv(told(seen, p, s)) @ new.T


def band(seen: Any, new: Any, p: Any, s: Any) -> Any:
    return np.sqrt(np.diag(joint(seen, new, p, s)))


def doubt_of_mean(seen: Any, new: Any, p: Any, s: Any) -> Any:
    """By all pairs of the new inputs."""
    return np.sqrt(np.mean(joint(seen, new, p, s)))


def as_process(seen: Any, new: Any, p: Any, s: Any) -> Any:
    """A Gaussian process with the kernel σ_p² J Jᵀ, from n equations instead of k."""
    g = new.mean(axis=0)
    both = p**2 * seen @ g
    rest = np.linalg.solve(p**2 * seen @ seen.T + s**2 * np.eye(len(seen)), both)
    return math.sqrt(p**2 * (g @ g) - both @ rest)


def tf_doubt(seen: Any, new: Any, p: Any, s: Any) -> Any:
    lam = tf.transpose(seen) @ seen / s**2 + tf.eye(seen.shape[1]) / p**2
    g = tf.reduce_mean(new, axis=0)[:, None]
    return tf.sqrt(tf.reduce_sum(g * tf.linalg.solve(lam, g)))


def evidence(w: Any, seen: Any, p: Any, s: Any) -> Any:
    """(8.6) but for what does not know σ_p."""
    precision = np.linalg.eigvalsh(seen.T @ seen / s**2 + np.eye(len(w)) / p**2)
    return -len(w) * math.log(p) - w @ w / (2 * p**2) - np.log(precision).sum() / 2


def doubt(seen: Any, p: Any, s: Any) -> Any:
    """tr Λ⁻¹/σ_p²: how many directions nobody tells."""
    told = np.linalg.svd(p / s * seen, compute_uv=False) ** 2
    return seen.shape[1] - np.sum(told / (1 + told))


def pull(w: Any, seen: Any, p: Any, s: Any) -> Any:
    return (w / p) @ (w / p) - len(w) + doubt(seen, p, s)


def pull_by_difference(w: Any, seen: Any, p: Any, s: Any) -> Any:
    up, down = (evidence(w, seen, p * math.exp(h), s) for h in (1e-5, -1e-5))
    return (up - down) / 2e-5


def tf_pull(w: Any, seen: Any, p: Any, s: Any) -> Any:
    k = len(w)
    told = tf.transpose(seen) @ seen * (p / s) ** 2 + tf.eye(k)
    return tf.reduce_sum(w**2) / p**2 - k + tf.linalg.trace(tf.linalg.inv(told))


def step(w: Any, v: Any, g: Any, rate: Any, b: Any, t: Any, xi: Any, share: Any = 2.0) -> Any:
    """In two halves: the velocity falls and is kicked, then the weights follow."""
    drift = b * v - rate * g
    kick = math.sqrt(share * (1 - b) * t * rate) * xi
    return [w + drift + kick, drift + kick]


def tf_step(w: Any, v: Any, g: Any, rate: Any, b: Any, t: Any, xi: Any) -> Any:
    v = b * v - rate * g + tf.sqrt(2 * (1 - b) * rate * t) * xi
    return w + v, v


def entropy(own_std: Any, columns: Any) -> Any:
    """Column after column: each adds what it goes beyond those before it."""
    rest, found = columns / own_std[:, None], 0.0
    gram = np.eye(rest.shape[1]) + rest.T @ rest
    found += np.log(np.diag(np.linalg.cholesky(gram))).sum()
    return found + np.sum(np.log(own_std * math.sqrt(2 * math.pi * math.e)))


def price(m: Any, d: Any, c: Any, p: Any) -> Any:
    """Weight by weight as in mean field, and what the columns add."""
    each = densities.gaussian_kl(m, d, 0.0, p).sum() + np.sum(c**2) / (2 * p**2)
    return each - (entropy(d, c) - entropy(d, 0 * c))


def tf_price(m: Any, d: Any, c: Any, p: Any) -> Any:
    tfd = tfp.distributions
    q = tfd.MultivariateNormalDiagPlusLowRankCovariance(m, d**2, c)
    square = tf.reduce_sum(m**2) + tf.reduce_sum(q.variance())
    return square / (2 * p**2) + len(m) * tf.math.log(p * (2 * math.pi) ** 0.5) - q.entropy()


@lru_cache(maxsize=8)
def features(seed: int) -> Any:
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=seed, gap=GAP)
    w = point.fit(data.x, data.y, **SETTINGS).weights
    h = np.maximum(0, data.x * w[:20] + w[20:40])
    return np.hstack([h, np.ones_like(data.x)]), data.y


def deserved(seed: int) -> Any:
    phi, y = features(seed)

    def cost(log_sd: float) -> float:
        return -exact.linear_regression(phi, y, math.exp(log_sd), 1.0).log_evidence

    return math.exp(minimize_scalar(cost, bounds=(-2, 5), method="bounded").x)


def calm(seed: int) -> Any:
    """The first of a few rates whose draws are vague enough."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=seed, gap=GAP)
    for rate in (0.004, 0.007, 0.01, 0.014):
        fit = mc_dropout.fit(data.x, data.y, rate=rate, **SETTINGS)
        if fit.predict(data.x, 4000).epistemic_std.mean() > 0.6:
            break
    return rate


# Right answers, written in another way than the references.
RIGHT: dict[str, Any] = {
    "8.1": lowest,
    "8.2": anchors,
    "8.3": dropout,
    "8.4": doubt_of_mean,
    "8.5": "adf",
    "8.6": pull,
    "8.7": step,
    "8.8": price,
    "8.9": deserved,
    "8.10": calm,
}

# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = [
    ("8.1", tensors(tf_lowest)),
    ("8.1", lambda a, b: min(min(max(p) - p[0], max(p) - p[-1]) for p in np.hstack([a, b]))),
    ("8.1", lambda a, b: [np.hstack([a, b]).max(axis=1).min() - max(a[-1, 0], b[-1, -1])]),
    ("8.2", by_solving),
    ("8.2", single(anchors)),
    ("8.2", tensors(tf_anchors)),
    ("8.2", lambda x, p, s: (p**4 * told(x, p, s)).tolist()),
    ("8.3", single(dropout)),
    ("8.3", tensors(tf_dropout)),
    ("8.3", lambda c, g, r: [math.sqrt(r / (1 - r) * (u @ together(g) @ u)) for u in c]),
    ("8.4", as_process),
    ("8.4", single(doubt_of_mean)),
    ("8.4", tensors(tf_doubt)),
    ("8.4", lambda seen, new, p, s: band(seen, new.mean(axis=0)[None], p, s)),
    ("8.5", {"a", "d", "f"}),
    ("8.6", pull_by_difference),
    ("8.6", single(pull)),
    ("8.6", tensors(tf_pull)),
    ("8.6", lambda *given: np.array([pull(*given)])),
    ("8.7", single(step)),
    ("8.7", tensors(tf_step)),
    ("8.8", single(price)),
    ("8.8", tensors(tf_price)),
    ("8.8", lambda m, d, c, p: price(m / p, d / p, c / p, 1.0)),
    ("8.9", lambda seed: np.array([deserved(seed)])),
    ("8.10", lambda seed: 0.01),
]


# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("8.1", "expected", lambda a, b: lowest(a, b[:, :-1], (a[0, 0], b[0, -1]))),
    ("8.1", "expected", lambda a, b: lowest(a[:, 1:], b, (a[0, 0], b[0, -1]))),
    ("8.1", "expected", lambda a, b: lowest(a, b, (a[0, 0], b[0, -1], b[0, 0]))),
    ("8.2", "expected", lambda x, p, s: np.diag(np.diag(anchors(x, p, s)))),
    ("8.2", "expected shape", lambda x, p, s: np.diag(anchors(x, p, s))),
    ("8.2", "expected", lambda x, p, s: np.linalg.cholesky(anchors(x, p, s))),
    ("8.3", "expected", lambda c, g, r: dropout(c, np.sort(g), r)),
    ("8.3", "expected", lambda c, g, r: np.abs(c).sum(axis=1) * r),
    ("8.4", "expected one number", band),
    ("8.5", "statement b is not true", "abdf"),
    ("8.6", "expected", evidence),
    ("8.7", "expected a pair", lambda *given: step(*given)[0]),
    ("8.7", "expected", lambda w, v, g, r, b, t, xi: step(w, v, g, r, b, t, abs(xi))),
    ("8.9", "the variance", lambda seed: deserved(seed) ** 2),
    ("8.9", "the prior that it was trained with", lambda seed: 3.0),
    ("8.9", "no standard deviation", lambda seed: -deserved(seed)),
    ("8.9", "too narrow", lambda seed: 1.5),
    ("8.9", "too wide", lambda seed: 45.0),
    ("8.9", "does not do what is asked", lambda seed: 4.0),
    ("8.9", "expected one number", lambda seed: np.ones(3)),
    ("8.10", "no dropout", lambda seed: 0.0),
    ("8.10", "near the usual rate", lambda seed: 0.1),
    ("8.10", "the probability of keeping", lambda seed: 0.99),
    ("8.10", "no rate", lambda seed: 1.0),
    ("8.10", "above the usual rate", lambda seed: 0.5),
    ("8.10", "does not do what is asked", lambda seed: 0.03),
    ("8.10", "expected one number", lambda seed: [0.01, 0.1]),
]
