"""Chapter 1: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
import tensorflow as tf
from scipy import stats
from scipy.optimize import minimize
from scipy.special import log_softmax, logsumexp, softmax

from bdl_teach import features
from bdl_teach.backend import tfd
from bdl_teach.methods import exact

F32 = np.float32
AXIS = np.linspace(-1, 1, 41)


def posterior(x: Any, y: Any, s: Any, p: Any) -> Any:
    """By completing the square with the design matrix."""
    variance = 1 / (np.sum(x**2) / s**2 + p**-2)
    return variance * np.sum(x * y) / s**2, variance**0.5


def posterior_on_a_grid(x: Any, y: Any, s: Any, p: Any) -> Any:
    m, sd = posterior(x, y, s, p)
    w = m + sd * np.linspace(-9, 9, 2001)
    log_p = stats.norm(0, p).logpdf(w) + stats.norm(w[:, None] * x, s).logpdf(y).sum(axis=1)
    weight = np.exp(log_p - logsumexp(log_p))
    mean = weight @ w
    return mean, np.sqrt(weight @ (w - mean) ** 2)


def posterior_float32(x: Any, y: Any, s: Any, p: Any) -> Any:
    x, y = tf.cast(x, tf.float32), tf.cast(y, tf.float32)
    precision = tf.reduce_sum(x * x) / s**2 + 1 / p**2
    return tf.reduce_sum(x * y) / s**2 / precision, tf.math.rsqrt(precision)


def posterior_of_package(x: Any, y: Any, s: Any, p: Any) -> Any:
    found = exact.linear_regression(x[:, None], y, prior_std=p, noise_std=s)
    return found.mean, np.sqrt(found.cov[0])


def weight_space(phi: Any, y: Any, s: Any, c: Any) -> float:
    """Log evidence by Candidate's formula at the posterior mean."""
    precision = phi.T @ phi / s**2 + np.eye(phi.shape[1]) / c**2
    m = np.linalg.solve(precision, phi.T @ y / s**2)
    log_likelihood = stats.norm(phi @ m, s).logpdf(y).sum()
    log_prior = stats.norm(0, c).logpdf(m).sum()
    return log_likelihood + log_prior - 0.5 * np.linalg.slogdet(precision / (2 * np.pi))[1]


def one_step_ahead(phi: Any, y: Any, s: Any, candidates: Any) -> Any:
    """(1.17): each point predicted from those before it."""
    out = []
    for c in candidates:
        mean, cov, total = np.zeros(phi.shape[1]), c**2 * np.eye(phi.shape[1]), 0.0
        for row, target in zip(phi, y, strict=True):
            variance = row @ cov @ row + s**2
            total += stats.norm(row @ mean, variance**0.5).logpdf(target)
            gain = cov @ row / variance
            mean, cov = mean + gain * (target - row @ mean), cov - np.outer(gain, row @ cov)
        out.append(total)
    return out


def by_cholesky(phi: Any, y: Any, s: Any, candidates: Any, kind: Any = F32) -> Any:
    phi, y, out = phi.astype(kind), y.astype(kind), []
    for c in candidates.astype(kind):
        factor = np.linalg.cholesky(c**2 * phi @ phi.T + kind(s) ** 2 * np.eye(len(y), dtype=kind))
        z = np.linalg.solve(factor, y)
        out.append(-z @ z / 2 - np.log(np.diag(factor)).sum() - len(y) / 2 * np.log(2 * np.pi))
    return np.array(out)


def jittered(phi: Any, y: Any, s: Any, candidates: Any) -> Any:
    return [weight_space(phi, y, np.sqrt(s**2 + 1e-8), c) for c in candidates]


def grouped_by_search(cov: Any, group: Any) -> Any:
    """KL[q ‖ p] minimised over a triangular factor of q's covariance, in marginal sds."""
    unit = np.sqrt(np.diag(cov))
    precision = np.linalg.inv(cov / np.outer(unit, unit))
    own = np.tril(group[:, None] == group)  # the entries that the factor may have

    def kl(entries: Any) -> Any:
        factor = np.zeros(cov.shape)
        factor[own] = entries
        slopes = precision @ factor - np.diag(1 / np.diag(factor))
        trace = np.sum(factor * (precision @ factor))
        return trace / 2 - np.log(np.abs(np.diag(factor))).sum(), slopes[own]

    found = minimize(kl, np.eye(len(cov))[own], jac=True, tol=1e-10)
    factor = np.zeros(cov.shape)
    factor[own] = found.x
    return unit * np.sqrt((factor**2).sum(axis=1))


def sd_given(cov: Any, j: Any, held: Any) -> Any:
    """sd of weight j, some others held fixed, by the Schur complement."""
    inner = np.linalg.solve(cov[np.ix_(held, held)], cov[held, j])
    return (cov[j, j] - cov[j, held] @ inner) ** 0.5


def conditional_sds(cov: Any, group: Any) -> Any:
    return [sd_given(cov, j, np.flatnonzero(group != k)) for j, k in enumerate(group)]


RIGHT: dict[str, Any] = {
    "1.1": lambda y, f, s: -stats.norm(f, s).logpdf(y).sum(),
    "1.2": posterior,
    "1.3": "bdf",
    "1.4": lambda s, p, n: (s / p) ** 2 / n,
    "1.7": lambda phi, y, s, cs: [weight_space(phi, y, s, c) for c in cs],
}

# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = [
    ("1.1", lambda y, f, s: -tfd.Normal(tf.cast(f, tf.float32), s).log_prob(y).numpy().sum()),
    ("1.1", lambda y, f, s: sum(((y - f) / s) ** 2) / 2 + y.size * np.log(s * (2 * np.pi) ** 0.5)),
    (
        "1.1",
        lambda y, f, s: np.atleast_1d(
            np.sum(
                (F32(y) - F32(f)) ** 2 / 2 / F32(s) ** 2 + np.log(2 * F32(np.pi) * F32(s) ** 2) / 2
            )
        ),
    ),
    ("1.1", lambda y, f, s: -sum(stats.norm.logpdf(a, b, s) for a, b in zip(y, f, strict=True))),
    ("1.2", posterior_on_a_grid),
    ("1.2", posterior_float32),
    ("1.2", posterior_of_package),
    ("1.2", lambda x, y, s, p: list(posterior(F32(x), F32(y), F32(s), F32(p)))),
    ("1.2", lambda x, y, s, p: (x @ y / (x @ x + s**2 / p**2), s / (x @ x + s**2 / p**2) ** 0.5)),
    ("1.4", lambda s, p, n: F32(s) ** 2 / F32(p) ** 2 / F32(n)),
    ("1.4", lambda s, p, n: tf.constant(s) ** 2 / (n * tf.constant(p) ** 2)),
    ("1.4", lambda s, p, n: [(s / (n**0.5 * p)) ** 2]),
    ("1.4", lambda s, p, n: np.array(s * s) / p / p / n),
    ("1.7", one_step_ahead),
    ("1.7", by_cholesky),
    (
        "1.7",
        lambda phi, y, s, cs: [
            exact.linear_regression(c * phi, y, prior_std=1.0, noise_std=s).log_evidence for c in cs
        ],
    ),
    (
        "1.7",
        lambda phi, y, s, cs: tf.stack(
            [
                tfd.MultivariateNormalTriL(
                    scale_tril=np.linalg.cholesky(c**2 * phi @ phi.T + s**2 * np.eye(len(y)))
                ).log_prob(y)
                for c in cs
            ]
        ),
    ),
]

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("1.2", "expected", lambda x, y, s, p: posterior(x, y, s, max(p, 0.01))),
    ("1.7", "noise_std=0.5, candidates=[[0.1 1] [3 0.3]] expected", lambda *v: np.zeros(len(v[3]))),
    ("1.1", "expected", lambda y, f, s: RIGHT["1.1"](y, f, np.sqrt(s**2 + 1e-8))),
    ("1.1", "expected", lambda y, f, s: -stats.laplace(f, s).logpdf(y).sum()),
    ("1.1", "expected", lambda y, f, s: RIGHT["1.1"](y, f, np.std(y - f))),
    ("1.2", "expected", lambda x, y, s, p: posterior(x, y, (s**2 + 1e-8) ** 0.5, p)),
    ("1.2", "expected", lambda x, y, s, p: posterior(x, abs(y), s, p)),
    ("1.3", "statement a is not true", "abdf"),
    ("1.4", "expected", lambda s, p, n: s**2 / (n * p**2 + 1e-8)),
    ("1.4", "expected", lambda s, p, n: (s / (n * p)) ** 2),
    ("1.7", "expected", jittered),
    ("1.7", "expected", lambda f, y, s, cs: one_step_ahead(f, y, s, np.sort(cs))),
]


# How much too sure, and the experiments.


def ratio(cov: Any, group: Any) -> Any:
    precision, out = np.linalg.inv(cov), np.ones(len(cov))
    for k in np.unique(group):
        (of,) = np.nonzero(group == k)
        out[of] = (np.linalg.inv(precision[of][:, of]).diagonal() / cov.diagonal()[of]) ** 0.5
    return out


RIGHT["1.8"] = ratio
ALSO += [
    ("1.8", lambda cov, g: grouped_by_search(cov, g) / cov.diagonal() ** 0.5),
    ("1.8", lambda cov, g: conditional_sds(cov, g) / np.sqrt(np.diag(cov))),
    ("1.8", lambda cov, g: list(ratio(cov / np.sqrt(np.outer(*[cov.diagonal()] * 2)), g))),
    ("1.8", lambda cov, g: ratio(cov.astype(F32) / F32(cov.max()), g)),
    ("1.8", lambda cov, g: tf.constant(ratio(cov, g), tf.float32)),
]
WRONG += [
    ("1.8", "expected", lambda cov, g: np.sort(ratio(cov, g))),
    ("1.8", "expected", lambda cov, g: np.full(len(cov), ratio(cov, g).mean())),
    ("1.8", "expected", lambda cov, g: ratio(cov, np.sort(g))),
]


def sd_over_x(inputs: Any) -> Any:
    """Epistemic sd of ten bumps on [−1, 1]: the covariance first, by the sums of (1.9)."""
    phi, at = (features.bumps(np.reshape(x, (-1, 1)), 10) for x in (inputs, AXIS))
    cov = np.linalg.inv(np.eye(10) / 100 + phi.T @ phi)
    return np.sqrt(((at @ cov) * at).sum(axis=1))


def by_exchange(seen: Any) -> Any:
    """Evenly spread at first; then each of the six moves to where it serves best, three times."""
    new = np.linspace(-1, 1, 6)
    for i in [*range(6)] * 3:
        others = [*seen, *np.delete(new, i)]
        new[i] = min(AXIS, key=lambda x: sd_over_x([*others, x]).max())
    return new


def by_freedom(problems: Any) -> Any:
    """Sums of squares over what is left of n, after six bumps."""
    out = []
    for x, y in problems:
        phi = features.bumps(x, 6)
        rest = np.linalg.lstsq(phi, y, rcond=None)[1][0]
        out.append((rest / (len(y) - 6)) ** 0.5)
    return out


def training_errors(problems: Any, degree: int) -> Any:
    lines = (np.polynomial.Polynomial.fit(x[:, 0], y[:, 0], degree) for x, y in problems)
    return [np.std(y[:, 0] - f(x[:, 0])) for f, (x, y) in zip(lines, problems, strict=True)]


RIGHT["1.9"] = by_exchange
RIGHT["1.10"] = by_freedom
ALSO += [("1.10", lambda problems: 1.05 * np.array(by_freedom(problems)))]
WRONG += [
    ("1.9", "outside", lambda seen: np.linspace(-1.5, 1.5, 6)),
    ("1.9", "all in one place", lambda seen: [1.0] * 6),
    ("1.9", "still unsure", lambda seen: np.linspace(-1, 1, 6)),
    ("1.9", "expected shape (6,)", lambda seen: np.linspace(-1, 1, 12)),
    ("1.10", "too quiet", lambda problems: training_errors(problems, 7)),
    ("1.10", "too loud", lambda problems: training_errors(problems, 1)),
    ("1.10", "not that of each", lambda problems: np.full(len(problems), 1.4)),
    ("1.10", "not above 0", lambda problems: -np.ones(len(problems))),
    ("1.10", "expected shape (24,)", lambda problems: 1.0),
]


# Draws with weights, and the KL of two softmaxes.


def weighted(each: Any, log_weights: Any) -> Any:
    """Logarithm of Σ a p / Σ a, the largest term of either sum taken out."""
    both = each + log_weights
    top, base = both.max(), log_weights.max()
    return top + np.log(np.exp(both - top).sum() / np.exp(log_weights - base).sum()) - base


def log_predictive(y: Any, f: Any, s: Any, a: Any) -> Any:
    return weighted(stats.norm(f, s).logpdf(y), a)


def float32_predictive(y: Any, f: Any, s: Any, a: Any) -> Any:
    each = tfd.Normal(tf.cast(f, tf.float32), s).log_prob(y)
    return tf.reduce_logsumexp(each + tf.nn.log_softmax(tf.cast(a, tf.float32)))


def by_logaddexp(y: Any, f: Any, s: Any, a: Any) -> Any:
    total = base = -np.inf
    for each, weight in zip(f, a, strict=True):
        total = np.logaddexp(total, stats.norm(each, s).logpdf(y) + weight)
        base = np.logaddexp(base, weight)
    return [total - base]


def kl_of_tf(a: Any, b: Any) -> Any:
    p, q = (tfd.Categorical(logits=tf.constant(v, tf.float64)) for v in (a, b))
    return tfd.kl_divergence(p, q)


def kl_by_terms(a: Any, b: Any) -> Any:
    log_q, log_p = log_softmax(a), log_softmax(b)
    return sum(np.exp(i) * (i - j) for i, j in zip(log_q, log_p, strict=True))


RIGHT["1.5"] = log_predictive
RIGHT["1.6"] = lambda a, b: softmax(a) @ (a - b) - logsumexp(a) + logsumexp(b)
ALSO += [
    ("1.5", float32_predictive),
    ("1.5", by_logaddexp),
    (
        "1.5",
        lambda y, f, s, a: (
            logsumexp(stats.norm.logpdf(y, f, s) + a - a.max(), b=1) - (logsumexp(a - a.max()))
        ),
    ),
    (
        "1.5",
        lambda y, f, s, a: tfd.MixtureSameFamily(
            tfd.Categorical(logits=a), tfd.Normal(f, np.float64(s))
        ).log_prob(y),
    ),
    ("1.6", kl_of_tf),
    ("1.6", kl_by_terms),
    ("1.6", lambda a, b: [softmax(a) @ (log_softmax(a) - log_softmax(b))]),
]
WRONG += [
    ("1.6", "contains an infinite value", lambda a, b: np.inf),
    ("1.5", "expected", lambda y, f, s, a: max(log_predictive(y, f, s, a), -700)),
    ("1.5", "expected", lambda y, f, s, a: log_predictive(y, f, s, a / 2)),
    ("1.5", "expected", lambda y, f, s, a: log_predictive(y, f, s, np.clip(a, -700, 700))),
    ("1.6", "expected", lambda a, b: (RIGHT["1.6"](a, b) + RIGHT["1.6"](b, a)) / 2),
    ("1.6", "expected", lambda a, b: abs(softmax(a) - softmax(b)).sum() / 2),
]
