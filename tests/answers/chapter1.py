"""Chapter 1: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
from scipy import stats
from scipy.special import rel_entr


def posterior(x: Any, y: Any, s: Any, p: Any) -> Any:
    """By completing the square with the design matrix."""
    variance = 1 / (np.sum(x**2) / s**2 + p**-2)
    return variance * np.sum(x * y) / s**2, variance**0.5


def weight_space(phi: Any, y: Any, s: Any, c: Any) -> float:
    """Log evidence by Candidate's formula at the posterior mean."""
    precision = phi.T @ phi / s**2 + np.eye(phi.shape[1]) / c**2
    m = np.linalg.solve(precision, phi.T @ y / s**2)
    log_likelihood = stats.norm(phi @ m, s).logpdf(y).sum()
    log_prior = stats.norm(0, c).logpdf(m).sum()
    return log_likelihood + log_prior - 0.5 * np.linalg.slogdet(precision / (2 * np.pi))[1]


def naive_evidence(phi: Any, y: Any, s: Any, candidates: Any) -> Any:
    return [np.exp(weight_space(phi, y, s, c)) for c in candidates]


def fit_of_map(phi: Any, y: Any, s: Any, candidates: Any) -> Any:
    out = []
    for c in candidates:
        m = np.linalg.solve(phi.T @ phi + np.eye(phi.shape[1]) * (s / c) ** 2, phi.T @ y)
        out.append(stats.norm(phi @ m, s).logpdf(y).sum())
    return out


def log_predictive(y: Any, f: Any, s: Any) -> Any:
    each = stats.norm(f, s).logpdf(y)
    return each.max() + np.log(np.mean(np.exp(each - each.max())))


RIGHT: dict[str, Any] = {
    "1.1": lambda y, f, s: -stats.norm(f, s).logpdf(y).sum(),
    "1.2": posterior,
    "1.3": "bdf",
    "1.4": lambda s, p, n: (s / p) ** 2 / n,
    "1.5": log_predictive,
    "1.6": lambda q, p: rel_entr(q, p).sum(),
    "1.7": lambda phi, y, s, cs: [weight_space(phi, y, s, c) for c in cs],
    "1.8": lambda cov: np.linalg.inv(cov).diagonal() ** -0.5,
}

# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = []

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("1.1", "wrong sign", lambda y, f, s: stats.norm(f, s).logpdf(y).sum()),
    ("1.1", "mean for sum", lambda y, f, s: -stats.norm(f, s).logpdf(y).mean()),
    ("1.1", "not summed", lambda y, f, s: -stats.norm(f, s).logpdf(y)),
    ("1.1", "σ for σ²", lambda y, f, s: -stats.norm(f, s**0.5).logpdf(y).sum()),
    ("1.1", "normalising constant is missing", lambda y, f, s: ((y - f) ** 2 / 2 / s**2).sum()),
    ("1.1", "density for log density", lambda y, f, s: stats.norm(f, s).pdf(y).prod()),
    (
        "1.1",
        "½ of the constant",
        lambda y, f, s: ((y - f) ** 2 / 2 / s**2 + np.log(2 * np.pi * s**2)).sum(),
    ),
    (
        "1.1",
        "σ for σ² in the constant",
        lambda y, f, s: ((y - f) ** 2 / s**2 + np.log(2 * np.pi * s)).sum() / 2,
    ),
    ("1.1", "2π is missing", lambda y, f, s: ((y - f) ** 2 / 2 / s**2 + np.log(s)).sum()),
    ("1.1", "squared error alone", lambda y, f, s: (y - f) @ (y - f)),
    ("1.1", "the mean squared error", lambda y, f, s: np.square(y - f).mean()),
    ("1.2", "prior is missing", lambda x, y, s, p: (x @ y / (x @ x), s / (x @ x) ** 0.5)),
    ("1.2", "prior and noise swapped", lambda x, y, s, p: posterior(x, y, p, s)),
    (
        "1.2",
        "variance for sd",
        lambda x, y, s, p: (posterior(x, y, s, p)[0], posterior(x, y, s, p)[1] ** 2),
    ),
    ("1.2", "σ for σ²", lambda x, y, s, p: posterior(x, y, s**0.5, p**0.5)),
    (
        "1.2",
        "mean of maximum likelihood",
        lambda x, y, s, p: (x @ y / (x @ x), posterior(x, y, s, p)[1]),
    ),
    (
        "1.2",
        "noise is missing in the mean",
        lambda x, y, s, p: (posterior(x, y, s, p)[1] ** 2 * (x @ y), posterior(x, y, s, p)[1]),
    ),
    ("1.2", "noise taken as 1", lambda x, y, s, p: posterior(x, y, 1, p)),
    (
        "1.2",
        "sd without the prior",
        lambda x, y, s, p: (posterior(x, y, s, p)[0], s * (x @ x) ** -0.5),
    ),
    ("1.2", "sd first", lambda x, y, s, p: posterior(x, y, s, p)[::-1]),
    ("1.3", "statement a is not true", "abdf"),
    ("1.3", "statement c is not true", {"b", "c", "d", "f"}),
    ("1.3", "statement e is not true", ["b", "d", "e", "f"]),
    ("1.3", "statement d was left out", "bf"),
    ("1.4", "missing 1/N", lambda s, p, n: (s / p) ** 2),
    ("1.4", "half of it", lambda s, p, n: (s / p) ** 2 / n / 2),
    ("1.4", "upside down", lambda s, p, n: (p / s) ** 2 / n),
    ("1.4", "the noise is missing:", lambda s, p, n: 0.5 * p**-2),
    ("1.4", "σ for σ²", lambda s, p, n: s / p / n),
    ("1.4", "noise and the 1/N are missing", lambda s, p, n: p**-2),
    ("1.4", "half of it, and missing 1/N", lambda s, p, n: 0.5 * (s / p) ** 2),
    ("1.4", "upside down, and missing 1/N", lambda s, p, n: (p / s) ** 2),
    ("1.5", "mean of logarithms", lambda y, f, s: stats.norm(f, s).logpdf(y).mean()),
    ("1.5", "underflow", lambda y, f, s: np.log(stats.norm(f, s).pdf(y).mean())),
    ("1.5", "underflow", lambda y, f, s: np.log(stats.norm(f, s).pdf(y).mean() + 1e-300)),
    ("1.5", "plug-in", lambda y, f, s: stats.norm(f.mean(), s).logpdf(y)),
    (
        "1.5",
        "one Gaussian",
        lambda y, f, s: stats.norm(f.mean(), np.hypot(f.std(), s)).logpdf(y),
    ),
    ("1.5", "missing 1/T", lambda y, f, s: log_predictive(y, f, s) + np.log(len(f))),
    (
        "1.5",
        "1/T outside",
        lambda y, f, s: (log_predictive(y, f, s) + np.log(len(f))) / len(f),
    ),
    (
        "1.5",
        "normalising constant is missing",
        lambda y, f, s: log_predictive(y, f, s) + np.log(s * np.sqrt(2 * np.pi)),
    ),
    ("1.6", "KL reversed, and 0 log 0", lambda q, p: (p * np.log(p / q)).sum()),
    ("1.6", "0 log 0 left undefined", lambda q, p: (q * np.log(q / p)).sum()),
    ("1.6", "KL reversed", lambda q, p: rel_entr(p, q).sum()),
    (
        "1.6",
        "infinity taken away",
        lambda q, p: sum(a * np.log(a / b) for a, b in zip(q, p, strict=True) if a > 0 and b > 0),
    ),
    (
        "1.6",
        "infinity taken away",
        lambda q, p: ((q + 1e-12) * np.log((q + 1e-12) / (p + 1e-12))).sum(),
    ),
    ("1.6", "in bits", lambda q, p: rel_entr(q, p).sum() / np.log(2)),
    ("1.7", "likelihood of the MAP weights", fit_of_map),
    ("1.7", "density for log density", naive_evidence),
    ("1.7", "σ for σ²", lambda f, y, s, cs: [weight_space(f, y, s**0.5, c**0.5) for c in cs]),
    ("1.7", "σ_p not squared", lambda f, y, s, cs: [weight_space(f, y, s, c**0.5) for c in cs]),
    ("1.7", "s not squared", lambda f, y, s, cs: [weight_space(f, y, s**0.5, c) for c in cs]),
    ("1.7", "wrong sign", lambda f, y, s, cs: [-weight_space(f, y, s, c) for c in cs]),
    ("1.7", "per point", lambda f, y, s, cs: [weight_space(f, y, s, c) / len(y) for c in cs]),
    ("1.8", "marginal sds", lambda cov: cov.diagonal() ** 0.5),
    ("1.8", "variances for sds", lambda cov: 1 / np.linalg.inv(cov).diagonal()),
    ("1.8", "precisions for sds", lambda cov: np.linalg.inv(cov).diagonal()),
    ("1.8", "marginal variances", lambda cov: cov.diagonal()),
    ("1.8", "Cholesky", lambda cov: np.linalg.cholesky(cov).diagonal()),
    ("1.8", "eigenvalues", lambda cov: np.linalg.eigvalsh(cov) ** 0.5),
]
