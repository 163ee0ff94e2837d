"""Chapter 8: right answers written in another way than the references, and wrong ones."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar

from bdl_teach import datasets, densities
from bdl_teach.methods import exact, laplace, mc_dropout, point

GAP = (0.1, 0.4)
SETTINGS: dict[str, Any] = {"prior": densities.Gaussian(3.0), "hidden_units": (20,)}


def member(x: Any, y: Any, anchor: Any, noise: Any, p: Any, s: Any) -> Any:
    """As least squares with the prior as further rows."""
    rows = np.vstack([x / s, np.eye(x.shape[1]) / p])
    return np.linalg.lstsq(rows, np.append((y + noise) / s, anchor / p), rcond=None)[0]


def dropout(contributions: Any, rate: Any) -> Any:
    return math.sqrt(rate / (1 - rate)) * np.linalg.norm(contributions, axis=-1)


def band(seen: Any, new: Any, p: Any, s: Any) -> Any:
    posterior = exact.linear_regression(seen, np.zeros(len(seen)), p, s)
    return np.linalg.norm(new @ np.linalg.cholesky(posterior.cov), axis=1)


def evidence(log_joint: Any, precision: Any) -> Any:
    return log_joint - np.log(np.linalg.eigvalsh(precision) / (2 * math.pi)).sum() / 2


def entropy(own_std: Any, columns: Any) -> Any:
    """Column after column: each adds what it goes beyond those before it."""
    rest, found = columns / own_std[:, None], 0.0
    gram = np.eye(rest.shape[1]) + rest.T @ rest
    found += np.log(np.diag(np.linalg.cholesky(gram))).sum()
    return found + np.sum(np.log(own_std * math.sqrt(2 * math.pi * math.e)))


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
    "8.1": lambda u: min(max(u) - u[0], max(u) - u[-1]),
    "8.2": member,
    "8.3": dropout,
    "8.4": band,
    "8.5": "adf",
    "8.6": evidence,
    "8.7": lambda w, g, rate, t, xi: (
        w + math.sqrt(2 * rate) * (math.sqrt(t) * xi - math.sqrt(rate / 2) * g)
    ),
    "8.8": entropy,
    "8.9": deserved,
    "8.10": calm,
}

# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = [
    ("8.2", lambda x, y, a, e, p, s: a + member(x, y - x @ a, 0 * a, e, p, s)),
    ("8.4", lambda seen, new, p, s: list(band(seen, new, p, s))),
    ("8.5", {"a", "d", "f"}),
    ("8.9", lambda seed: np.array([deserved(seed)])),
    ("8.10", lambda seed: 0.01),
]

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("8.1", "above the lower end", lambda u: max(u) - min(u[0], u[-1])),
    ("8.1", "above the start", lambda u: max(u) - u[0]),
    ("8.1", "above the mean of the ends", lambda u: max(u) - np.mean([u[0], u[-1]])),
    ("8.1", "the height at half-way", lambda u: u[len(u) // 2] - max(u[0], u[-1])),
    ("8.1", "above the lowest point", np.ptp),
    ("8.1", "the sign is wrong", lambda u: max(u[0], u[-1]) - max(u)),
    ("8.2", "the targets have no noise", lambda x, y, a, e, p, s: member(x, y, a, 0 * e, p, s)),
    ("8.2", "no anchor", lambda x, y, a, e, p, s: member(x, y, 0 * a, e, p, s)),
    (
        "8.2",
        "the anchor counts fully",
        lambda x, y, a, e, p, s: member(x, y, p**2 * a, e, p, s),
    ),
    ("8.2", "sd for variance", lambda x, y, a, e, p, s: member(x, y, a, e, p**0.5, s**0.5)),
    (
        "8.2",
        "the anchor added afterwards",
        lambda x, y, a, e, p, s: a + member(x, y, 0 * a, e, p, s),
    ),
    ("8.2", "expected", lambda x, y, a, e, p, s: a),
    ("8.3", "the variance", lambda c, r: dropout(c, r) ** 2),
    ("8.3", "what is kept is not divided", lambda c, r: (1 - r) * dropout(c, r)),
    ("8.3", "the sum is squared", lambda c, r: abs(c.sum(axis=1)) * math.sqrt(r / (1 - r))),
    ("8.3", "rate and its rest swapped", lambda c, r: dropout(c, 1 - max(r, 1e-12))),
    ("8.3", "the mean over the units", lambda c, r: dropout(c, r) / math.sqrt(c.shape[1])),
    ("8.3", "the rate alone", lambda c, r: dropout(c, r) * math.sqrt(1 - r)),
    ("8.3", "expected", lambda c, r: np.abs(c).sum(axis=1) * r),
    ("8.4", "the noise is in it", lambda seen, new, p, s: np.hypot(band(seen, new, p, s), s)),
    ("8.4", "the variance", lambda seen, new, p, s: band(seen, new, p, s) ** 2),
    (
        "8.4",
        "the diagonal of the precision",
        lambda seen, new, p, s: np.sqrt(
            np.sum(new**2 / ((seen**2).sum(axis=0) / s**2 + p**-2), axis=1)
        ),
    ),
    (
        "8.4",
        "the diagonal of the covariance",
        lambda seen, new, p, s: np.sqrt(new**2 @ band(seen, np.eye(seen.shape[1]), p, s) ** 2),
    ),
    ("8.4", "sd for variance", lambda seen, new, p, s: band(seen, new, p**0.5, s**0.5)),
    (
        "8.4",
        "the precision for the covariance",
        lambda seen, new, p, s: np.sqrt(
            ((new @ seen.T) ** 2).sum(axis=1) / s**2 + (new**2).sum(axis=1) / p**2
        ),
    ),
    ("8.4", "expected", lambda seen, new, p, s: p * np.linalg.norm(new, axis=1)),
    ("8.5", "statement b is not true", "abdf"),
    ("8.5", "statement c is not true", "acdf"),
    ("8.5", "statement e is not true", "adef"),
    ("8.5", "statement f was left out", "ad"),
    ("8.6", "log |Λ| with a plus", lambda j, lam: evidence(j, np.linalg.inv(lam))),
    ("8.6", "2π is missing", lambda j, lam: evidence(j, 2 * math.pi * lam)),
    (
        "8.6",
        "the half of log |Λ| is missing",
        lambda j, lam: evidence(j, lam) - np.log(np.linalg.eigvalsh(lam)).sum() / 2,
    ),
    ("8.6", "the diagonal's determinant", lambda j, lam: evidence(j, lam * np.eye(len(lam)))),
    (
        "8.6",
        "the determinant overflows",
        lambda j, lam: (
            j + math.log(2 * math.pi) * len(lam) / 2 - np.log(np.prod(np.linalg.eigvalsh(lam))) / 2
        ),
    ),
    ("8.6", "another base", lambda j, lam: j + (evidence(j, lam) - j) / math.log(2)),
    ("8.6", "expected", lambda j, lam: j),
    ("8.7", "uphill", lambda w, g, rate, t, xi: RIGHT["8.7"](w, -g, rate, t, xi)),
    ("8.7", "the noise is as long as the step", lambda w, g, r, t, xi: w + r * (2 * t * xi - g)),
    ("8.7", "the 2 is missing", lambda w, g, r, t, xi: RIGHT["8.7"](w, g, r, t / 2, xi)),
    ("8.7", "T outside the root", lambda w, g, r, t, xi: w - r * g + t * math.sqrt(2 * r) * xi),
    ("8.7", "one over T", lambda w, g, r, t, xi: RIGHT["8.7"](w, g, r, 1 / max(t, 1e-12), xi)),
    ("8.7", "T is missing", lambda w, g, r, t, xi: RIGHT["8.7"](w, g, r, 1, xi)),
    ("8.7", "expected", lambda w, g, r, t, xi: w - r * g),
    (
        "8.8",
        "the columns are missing",
        lambda d, c: entropy(d, np.zeros_like(c)),
    ),
    ("8.8", "the half is missing", lambda d, c: 2 * entropy(d, c) - entropy(d, 0 * c)),
    ("8.8", "the columns are not divided by D", lambda d, c: entropy(d, c * d[:, None])),
    ("8.8", "D⁻¹ for D⁻²", lambda d, c: entropy(d, c * np.sqrt(d)[:, None])),
    (
        "8.8",
        "the constant is missing",
        lambda d, c: entropy(d, c) - len(d) * math.log(2 * math.pi * math.e) / 2,
    ),
    ("8.8", "another base", lambda d, c: entropy(d, c) / math.log(2)),
    ("8.8", "the sign is wrong", lambda d, c: -entropy(d, c)),
    ("8.9", "the variance", lambda seed: deserved(seed) ** 2),
    ("8.9", "the prior that it was trained with", lambda seed: 3.0),
    ("8.9", "no standard deviation", lambda seed: -deserved(seed)),
    ("8.9", "the lowest evidence", lambda seed: 0.5),
    ("8.9", "expected", lambda seed: 20.0),
    ("8.9", "expected one number", lambda seed: np.ones(3)),
    ("8.10", "no dropout", lambda seed: 0.0),
    ("8.10", "near the usual rate", lambda seed: 0.1),
    ("8.10", "the probability of keeping", lambda seed: 0.99),
    ("8.10", "no rate", lambda seed: 1.0),
    ("8.10", "no rate", lambda seed: -0.01),
    ("8.10", "expected", lambda seed: 0.3),
    ("8.10", "expected one number", lambda seed: [0.01, 0.1]),
]
