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
from bdl_teach.methods import exact, laplace, mc_dropout, point

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


def wall(u: Any) -> Any:
    """Of each leg, above its own ends."""
    return u.max(axis=1) - u[:, [0, -1]].max(axis=1)


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


def by_itself(contributions: Any, rate: Any) -> Any:
    return dropout(contributions, range(contributions.shape[1]), rate)


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


def mean_gradient(seen: Any, new: Any, p: Any, s: Any, variance: Any) -> Any:
    """With variances of one's own in the place of Λ⁻¹."""
    return np.sqrt(new.mean(axis=0) ** 2 @ variance(told(seen, p, s)))


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


def tuned_with_the_noise(seed: int) -> Any:
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=seed, gap=GAP)
    return laplace.fit(data.x, data.y, structure="last_layer", **SETTINGS).tuned().prior.std


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


def noisy(w: Any, v: Any, g: Any, r: Any, b: Any, variance: Any, xi: Any) -> Any:
    """A step whose noise has a variance of one's own."""
    v = b * v - r * g + math.sqrt(variance) * xi
    return w + v, v


def reverse(m: Any, d: Any, c: Any, p: Any) -> Any:
    """KL of the prior from q, with the whole matrix."""
    cov = np.diag(d**2) + c @ c.T
    inverse = np.linalg.inv(cov)
    square = p**2 * np.trace(inverse) + m @ inverse @ m - len(m)
    return (square + np.linalg.slogdet(cov / p**2)[1]) / 2


# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    (
        "8.1",
        "changed on the way",
        lambda a, b: lowest(
            a.max(axis=1).min() * np.ones((1, 1)),
            b.max(axis=1).min() * np.ones((1, 1)),
            (a[0, 0], b[0, -1]),
        ),
    ),
    ("8.1", "the highest of all", lambda a, b: max(a.max(), b.max()) - max(a[0, 0], b[0, -1])),
    ("8.1", "one leg only", lambda a, b: lowest(a, a, (a[0, 0], b[0, -1]))),
    ("8.1", "one leg only", lambda a, b: lowest(b, b, (a[0, 0], b[0, -1]))),
    (
        "8.1",
        "by the lowest middle point",
        lambda a, b: lowest(a[[np.argmin(a[:, -1])]], b[[np.argmin(a[:, -1])]]),
    ),
    ("8.1", "height of the middle point", lambda a, b: min(a[:, -1]) - max(a[0, 0], b[0, -1])),
    ("8.1", "middle point is left out", lambda a, b: lowest(a[:, :-1], b[:, 1:])),
    ("8.1", "expected", lambda a, b: lowest(a, b[:, :-1], (a[0, 0], b[0, -1]))),
    ("8.1", "expected", lambda a, b: lowest(a[:, 1:], b, (a[0, 0], b[0, -1]))),
    ("8.1", "above the ends of a leg", lambda a, b: min(map(max, wall(a), wall(b)))),
    ("8.1", "above the ends of a leg", lambda a, b: (wall(a) + wall(b)).min()),
    ("8.1", "above the lower mode", lambda a, b: lowest(a, b, (min(a[0, 0], b[0, -1]),))),
    ("8.1", "above the start", lambda a, b: lowest(a, b, (a[0, 0],))),
    ("8.1", "above the mean of the modes", lambda a, b: lowest(a, b, ((a[0, 0] + b[0, -1]) / 2,))),
    ("8.1", "the height alone", lambda a, b: lowest(a, b, (0.0,))),
    ("8.1", "the sign is wrong", lambda a, b: -lowest(a, b)),
    ("8.1", "expected", lambda a, b: lowest(a, b, (a[0, 0], b[0, -1], b[0, 0]))),
    ("8.1", "expected", lambda a, b: np.hstack([a, b]).max(axis=1) - max(a[0, 0], b[0, -1])),
    ("8.2", "the prior alone", lambda x, p, s: anchors(0 * x, p, s)),
    ("8.2", "the posterior's covariance", lambda x, p, s: np.linalg.inv(told(x, p, s))),
    ("8.2", "σ_p⁴ is missing", told),
    ("8.2", "σ_p² for σ_p⁴", lambda x, p, s: anchors(x, p, s) / p**2),
    ("8.2", "Λ² for Λ", lambda x, p, s: p**4 * np.linalg.matrix_power(told(x, p, s), 2)),
    ("8.2", "lacks, alone", lambda x, p, s: anchors(x, p, s) - p**2 * np.eye(x.shape[1])),
    ("8.2", "not weighted", lambda x, p, s: anchors(x / p**2, p, s)),
    ("8.2", "not weighted", lambda x, p, s: anchors(x * (s / p) ** 2, p, s)),
    ("8.2", "not weighted", lambda x, p, s: anchors(x / p, p, s)),
    ("8.2", "sd for variance", lambda x, p, s: anchors(x, p**0.5, s**0.5)),
    ("8.2", "the inverse", lambda x, p, s: np.linalg.inv(anchors(x, p, s))),
    ("8.2", "expected", lambda x, p, s: np.diag(np.diag(anchors(x, p, s)))),
    ("8.2", "expected shape", lambda x, p, s: np.diag(anchors(x, p, s))),
    ("8.2", "expected", lambda x, p, s: np.linalg.cholesky(anchors(x, p, s))),
    ("8.3", "each unit by itself", lambda c, g, r: by_itself(c, r)),
    ("8.3", "all units at once", lambda c, g, r: abs(c.sum(axis=1)) * math.sqrt(r / (1 - r))),
    ("8.3", "sds are added in a group", lambda c, g, r: dropout(abs(c), g, r)),
    ("8.3", "the mean of a group", lambda c, g, r: dropout(c / together(g).sum(axis=0), g, r)),
    (
        "8.3",
        "squares times the size",
        lambda c, g, r: np.sqrt(r / (1 - r) * (c**2 @ together(g).sum(axis=0))),
    ),
    ("8.3", "the variance", lambda c, g, r: dropout(c, g, r) ** 2),
    ("8.3", "what is kept is not divided", lambda c, g, r: (1 - r) * dropout(c, g, r)),
    ("8.3", "rate and its rest swapped", lambda c, g, r: dropout(c, g, 1 - max(r, 1e-12))),
    ("8.3", "the rate alone", lambda c, g, r: dropout(c, g, r) * math.sqrt(1 - r)),
    ("8.3", "expected", lambda c, g, r: dropout(c, np.sort(g), r)),
    ("8.3", "expected", lambda c, g, r: np.abs(c).sum(axis=1) * r),
    ("8.4", "the mean of the sds", lambda *given: band(*given).mean()),
    ("8.4", "root of the mean variance", lambda *given: np.sqrt(np.mean(band(*given) ** 2))),
    (
        "8.4",
        "were independent",
        lambda j, new, p, s: (sum(band(j, new, p, s) ** 2)) ** 0.5 / len(new),
    ),
    ("8.4", "the sum", lambda *given: np.sqrt(joint(*given).sum())),
    ("8.4", "the noise is in it", lambda j, g, p, s: np.hypot(doubt_of_mean(j, g, p, s), s)),
    (
        "8.4",
        "the noise is in it",
        lambda j, g, p, s: (np.mean(joint(j, g, p, s)) + s**2 / len(g)) ** 0.5,
    ),
    ("8.4", "the variance", lambda *given: joint(*given).mean()),
    (
        "8.4",
        "the diagonal of the precision",
        lambda *given: mean_gradient(*given, lambda lam: 1 / np.diag(lam)),
    ),
    (
        "8.4",
        "the diagonal of the covariance",
        lambda *given: mean_gradient(*given, lambda lam: np.diag(np.linalg.inv(lam))),
    ),
    ("8.4", "sd for variance", lambda j, g, p, s: doubt_of_mean(j, g, p**0.5, s**0.5)),
    (
        "8.4",
        "the precision for the covariance",
        lambda j, g, p, s: np.sqrt(
            np.sum((j @ g.mean(axis=0)) ** 2) / s**2 + np.sum(g.mean(axis=0) ** 2) / p**2
        ),
    ),
    ("8.4", "expected one number", band),
    ("8.4", "expected", lambda j, g, p, s: p * np.linalg.norm(g.mean(axis=0))),
    ("8.5", "statement b is not true", "abdf"),
    ("8.5", "statement c is not true", "acdf"),
    ("8.5", "Read sections 8.1, 8.2, 8.3, 8.4 and 8.8.", "acdf"),
    ("8.5", "statement e is not true", "adef"),
    ("8.5", "statement f was left out", "ad"),
    ("8.6", "the determinant stands still", lambda w, j, p, s: w @ w / p**2 - len(w)),
    (
        "8.6",
        "normaliser stands still",
        lambda w, j, p, s: w @ w / p**2 + doubt(j, p, s),
    ),
    ("8.6", "the weights are missing", lambda w, j, p, s: doubt(j, p, s) - len(w)),
    (
        "8.6",
        "the determinant pulls inwards",
        lambda w, j, p, s: w @ w / p**2 - len(w) - doubt(j, p, s),
    ),
    ("8.6", "the 2 of σ_p²", lambda w, j, p, s: pull(w, j, p, s) - doubt(j, p, s) / 2),
    ("8.6", "the 2 of σ_p²", lambda w, j, p, s: pull(w, j, p, s) - w @ w / (2 * p**2)),
    ("8.6", "by another quantity", lambda w, j, p, s: pull(w, j, p, s) / p),
    ("8.6", "by another quantity", lambda w, j, p, s: pull(w, j, p, s) / (2 * p**2)),
    (
        "8.6",
        "the diagonal of the precision",
        lambda w, j, p, s: (
            w @ w / p**2 - len(w) + np.sum(1 / ((j**2).sum(axis=0) * (p / s) ** 2 + 1))
        ),
    ),
    (
        "8.6",
        "the precision for the covariance",
        lambda w, j, p, s: w @ w / p**2 - len(w) + ((j**2).sum() / s**2 + len(w) / p**2) / p**2,
    ),
    ("8.6", "sd for variance", lambda w, j, p, s: pull(w, j, p**0.5, s**0.5)),
    ("8.6", "how many are told", lambda w, j, p, s: len(w) - doubt(j, p, s)),
    ("8.6", "the sign is wrong", lambda w, j, p, s: -pull(w, j, p, s)),
    ("8.6", "expected", evidence),
    (
        "8.7",
        "noise of plain steps",
        lambda w, v, g, r, b, t, xi: noisy(w, v, g, r, b, 2 * r * t, xi),
    ),
    (
        "8.7",
        "the sd shrinks",
        lambda w, v, g, r, b, t, xi: noisy(w, v, g, r, b, 2 * (1 - b) ** 2 * r * t, xi),
    ),
    (
        "8.7",
        "the velocity's own",
        lambda w, v, g, r, b, t, xi: noisy(w, v, g, r, b, (1 - b**2) * r * t, xi),
    ),
    ("8.7", "the 2 is missing", lambda *given: step(*given, share=1.0)),
    (
        "8.7",
        "no root",
        lambda w, v, g, r, b, t, xi: noisy(w, v, g, r, b, (2 * (1 - b) * r * t) ** 2, xi),
    ),
    ("8.7", "T outside", lambda w, v, g, r, b, t, xi: step(w, v, g, r, b, t**2, xi)),
    ("8.7", "T is missing", lambda w, v, g, r, b, t, xi: step(w, v, g, r, b, 1, xi)),
    ("8.7", "β and its rest", lambda w, v, g, r, b, t, xi: step(w, v, g, r, 1 - b, t, xi)),
    ("8.7", "uphill", lambda w, v, g, r, b, t, xi: step(w, v, -g, r, b, t, xi)),
    ("8.7", "the old velocity", lambda w, v, *more: (w + v, step(w, v, *more)[1])),
    (
        "8.7",
        "moves w alone",
        lambda w, v, g, r, b, t, xi: (step(w, v, g, r, b, t, xi)[0], b * v - r * g),
    ),
    ("8.7", "the velocity is forgotten", lambda w, v, *more: step(w, 0 * v, *more)),
    ("8.7", "the pair turned round", lambda *given: tuple(reversed(step(*given)))),
    ("8.7", "expected a pair", lambda *given: step(*given)[0]),
    ("8.7", "expected", lambda w, v, g, r, b, t, xi: step(w, v, g, r, b, t, abs(xi))),
    ("8.8", "the columns are missing", lambda m, d, c, p: price(m, d, 0 * c, p)),
    (
        "8.8",
        "variances without the columns",
        lambda m, d, c, p: (
            densities.gaussian_kl(m, d, 0, p).sum() - entropy(d, c) + entropy(d, 0 * c)
        ),
    ),
    (
        "8.8",
        "the entropy without the columns",
        lambda m, d, c, p: price(m, d, 0 * c, p) + np.sum(c**2) / (2 * p**2),
    ),
    ("8.8", "the means are missing", lambda m, d, c, p: price(0 * m, d, c, p)),
    ("8.8", "the entropy alone", lambda m, d, c, p: -entropy(d, c)),
    ("8.8", "without the entropy", lambda m, d, c, p: price(m, d, c, p) + entropy(d, c)),
    ("8.8", "log σ_p is missing", lambda m, d, c, p: price(m, d, c, p) - len(d) * math.log(p)),
    ("8.8", "the constants", lambda m, d, c, p: price(m, d, c, p) + len(d) / 2),
    (
        "8.8",
        "the constants",
        lambda m, d, c, p: price(m, d, c, p) - len(d) * math.log(2 * math.pi) / 2,
    ),
    (
        "8.8",
        "sd for variance",
        lambda m, d, c, p: (
            price(m, d, c, p) + (p - 1) * sum(np.sum(part**2) for part in (m, d, c)) / (2 * p**2)
        ),
    ),
    (
        "8.8",
        "the half of log det",
        lambda m, d, c, p: price(m, d, c, p) - entropy(d, c) + entropy(d, 0 * c),
    ),
    (
        "8.8",
        "not divided by D",
        lambda m, d, c, p: price(m, d, c, p) + entropy(d, c) - entropy(d, c * d[:, None]),
    ),
    (
        "8.8",
        "D⁻¹ for D⁻²",
        lambda m, d, c, p: price(m, d, c, p) + entropy(d, c) - entropy(d, c * d[:, None] ** 0.5),
    ),
    ("8.8", "the other way round", reverse),
    ("8.8", "another base", lambda m, d, c, p: price(m, d, c, p) / math.log(2)),
    ("8.8", "the sign is wrong", lambda m, d, c, p: -price(m, d, c, p)),
    ("8.8", "expected", lambda m, d, c, p: price(m, d, c, p) / 2),
    ("8.9", "the variance", lambda seed: deserved(seed) ** 2),
    ("8.9", "the prior that it was trained with", lambda seed: 3.0),
    ("8.9", "no standard deviation", lambda seed: -deserved(seed)),
    *(("8.9", "too narrow", lambda seed, std=std: std) for std in (0.5, 0.7, 1.0, 1.5, 2.5)),
    *(("8.9", "too wide", lambda seed, std=std: std) for std in (20.0, 45.0, 50.0)),
    ("8.9", "does not do what is asked", lambda seed: 4.0),
    ("8.9", "expected one number", lambda seed: np.ones(3)),
    ("8.10", "no dropout", lambda seed: 0.0),
    ("8.10", "near the usual rate", lambda seed: 0.1),
    ("8.10", "the probability of keeping", lambda seed: 0.99),
    ("8.10", "no rate", lambda seed: 1.0),
    ("8.10", "no rate", lambda seed: -0.01),
    ("8.10", "the probability of keeping", lambda seed: 1 - calm(seed)),
    ("8.10", "above the usual rate", lambda seed: 0.5),
    ("8.10", "does not do what is asked", lambda seed: 0.03),
    ("8.10", "expected one number", lambda seed: [0.01, 0.1]),
]
