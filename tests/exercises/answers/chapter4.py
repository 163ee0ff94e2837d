"""Chapter 4: right answers written in another way than the references, and wrong ones."""

import math
from typing import Any

import numpy as np
import tensorflow as tf

from answers.forms import single, tensors
from bdl_teach import datasets
from bdl_teach.methods import bbb, local_reparam


def family(cov: Any) -> Any:
    std = np.diag(np.linalg.inv(cov)) ** -0.5
    correlation_like = cov / np.outer(std, std)
    return 0.5 * np.linalg.slogdet(correlation_like)[1]


def difference(cov: Any, a: Any, b: Any) -> Any:
    """By the covariance of the two predictions."""
    inputs, best = np.stack([a, b]), np.diag(1 / np.diag(np.linalg.inv(cov)))
    both = (inputs @ c @ inputs.T for c in (cov, best))
    return tuple(np.sqrt(v[0, 0] + v[1, 1] - 2 * v[0, 1]) for v in both)


def prediction(cov: Any, a: Any) -> Any:
    """The sds of one prediction."""
    return np.array(difference(cov, 0 * a, a))


def copies(hidden_units: Any) -> Any:
    return math.log(math.prod(math.factorial(n) << n for n in hidden_units))


def posterior(seed: int, **chosen: Any) -> Any:
    data = datasets.sinusoid(seed=seed)
    fit = bbb.fit(data.x, data.y, **chosen)
    return fit


def trained_on(seed: int) -> Any:
    fit = posterior(seed).refined(6000)
    return np.stack([fit.mean, fit.std])


def as_it_is(seed: int, **chosen: Any) -> Any:
    fit = posterior(seed, **chosen)
    return fit.mean, fit.std


def gains(seed: int, steps: Any) -> Any:
    data = datasets.sinusoid(seed=seed)
    short = [k for k in steps if k < 500]  # the long runs need no second look here
    quiet = {**local_reparam.QUIET}
    late = {}
    for k in short:
        fit = local_reparam.fit(data.x, data.y, **{**quiet, "steps": k})
        late[k] = fit.free_energy > fit.refined(2000).free_energy + 10
    return np.array([late.get(k, False) for k in steps])


# Right answers, written in another way than the references.
RIGHT: dict[str, Any] = {
    "4.1": family,
    "4.2": difference,
    "4.3": "bde",
    "4.4": copies,
    "4.5": lambda n, p, s, t: (
        math.sqrt(t * p**2 * s**2 / (t * s**2 + n * p**2)),
        math.sqrt(t) * p * s / math.hypot(s, p * math.sqrt(n)),
    ),
    "4.6": trained_on,
    "4.7": gains,
}

# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = [
    (
        "4.2",
        single(
            lambda cov, a, b: (
                np.linalg.norm(np.linalg.cholesky(cov).T @ (a - b)),
                np.linalg.norm((a - b) * np.diag(np.linalg.inv(cov)) ** -0.5),
            )
        ),
    ),
    ("4.2", lambda cov, a, b: [[sd] for sd in difference(cov, b, a)]),
    (
        "4.2",
        tensors(
            lambda cov, a, b: (
                tf.sqrt(tf.einsum("i,ij,j->", b - a, cov, b - a)),
                tf.norm((b - a) / tf.sqrt(tf.linalg.diag_part(tf.linalg.inv(cov)))),
            )
        ),
    ),
    ("4.3", {"b", "d", "e"}),
    ("4.4", lambda h: sum(np.log(np.arange(2, 2 * n + 1, 2)).sum() for n in h)),
    ("4.4", lambda h: np.float32([copies([n]) for n in h]).sum(keepdims=True)),
    ("4.4", lambda h: sum(tf.math.lgamma(n + 1.0) + n * tf.math.log(2.0) for n in h)),
    ("4.5", single(RIGHT["4.5"])),
]


# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("4.1", "the half is missing", lambda cov: 2 * family(cov)),
    ("4.1", "the posterior's own marginals", lambda cov: _kl(cov, np.diag(cov))),
    ("4.1", "the determinant is missing", lambda cov: family(cov) - np.linalg.slogdet(cov)[1] / 2),
    ("4.1", "another base", lambda cov: family(cov) / math.log(2)),
    (
        "4.1",
        "the determinant underflows",
        lambda cov: (
            np.log(np.linalg.det(cov)) / 2 - np.log(np.diag(np.linalg.inv(cov)) ** -0.5).sum()
        ),
    ),
    (
        "4.1",
        "the other direction",
        lambda cov: -family(cov) + 0.5 * (np.diag(cov) @ np.diag(np.linalg.inv(cov)) - len(cov)),
    ),
    ("4.1", "the sign is wrong", lambda cov: -family(cov)),
    (
        "4.2",
        "two strangers",
        lambda cov, a, b: (prediction(cov, a) ** 2 + prediction(cov, b) ** 2) ** 0.5,
    ),
    (
        "4.2",
        "independent weights, independent predictions",
        lambda cov, a, b: (
            difference(cov, a, b)[0],
            math.hypot(prediction(cov, a)[1], prediction(cov, b)[1]),
        ),
    ),
    ("4.2", "a difference of", lambda cov, a, b: prediction(cov, b) - prediction(cov, a)),
    ("4.2", "a difference of", lambda cov, a, b: abs(prediction(cov, a) - prediction(cov, b))),
    ("4.2", "the sum", lambda cov, a, b: difference(cov, -a, b)),
    (
        "4.2",
        "per unit of length",
        lambda cov, a, b: difference(cov, a, b) / np.sqrt(np.sum((a - b) ** 2)),
    ),
    ("4.2", "variances", lambda cov, a, b: np.square(difference(cov, a, b))),
    ("4.2", "swapped", lambda cov, a, b: difference(cov, a, b)[::-1]),
    (
        "4.2",
        "the posterior's own marginals",
        lambda cov, a, b: (difference(cov, a, b)[0], np.linalg.norm((b - a) * np.diag(cov) ** 0.5)),
    ),
    (
        "4.2",
        "standard deviations added",
        lambda cov, a, b: (
            difference(cov, a, b)[0],
            abs(b - a) @ (1 / np.sqrt(np.diag(np.linalg.inv(cov)))),
        ),
    ),
    ("4.2", "expected", lambda cov, a, b: (difference(cov, a, b)[0],) * 2),
    ("4.2", "expected", lambda cov, a, b: prediction(cov, b)),
    ("4.3", "statement a is not true", "abde"),
    ("4.3", "statement c is not true", "bcde"),
    ("4.3", "statement b was left out", "de"),
    ("4.3", "statement e was left out", "bd"),
    ("4.4", "only the orders", lambda h: math.log(math.prod(math.factorial(n) for n in h))),
    ("4.4", "only the signs", lambda h: math.log(2 ** sum(h))),
    ("4.4", "one sign for a whole", lambda h: sum(math.log(2 * math.factorial(n)) for n in h)),
    ("4.4", "2H for 2^H", lambda h: sum(math.log(2 * n * math.factorial(n)) for n in h)),
    ("4.4", "all units in one pot", lambda h: _by_lgamma(sum(h))),
    ("4.4", "the units of the layers multiplied", lambda h: _by_lgamma(math.prod(h))),
    ("4.4", "n log n", lambda h: sum(n * math.log(n) + n * math.log(2) for n in h)),
    ("4.4", "the last layer is forgotten", lambda h: copies(h[:1])),
    ("4.4", "another base", lambda h: copies(h) / math.log(10)),
    ("4.4", "another base", lambda h: math.log2(math.prod(math.factorial(n) << n for n in h))),
    ("4.4", "overflow", lambda h: math.log(math.prod(math.factorial(n) * 2.0**n for n in h))),
    ("4.4", "logarithms multiplied", lambda h: math.prod(copies([n]) for n in h)),
    ("4.4", "expected", lambda h: sum(math.lgamma(2 * n + 1) for n in h)),
    ("4.4", "expected", lambda h: copies(h) - sum(h) * math.log(4)),
    ("4.5", "swapped", lambda n, p, s, t: RIGHT["4.5"](n, p, s, t)[::-1]),
    ("4.5", "the prior tempered twice", lambda n, p, s, t: [RIGHT["4.5"](n, p, s, t)[1]] * 2),
    ("4.5", "the prior not tempered", lambda n, p, s, t: [RIGHT["4.5"](n, p, s, t)[0]] * 2),
    ("4.5", "t on the wrong side", lambda n, p, s, t: RIGHT["4.5"](n, p, s, 1 / t)),
    ("4.5", "variances", lambda n, p, s, t: np.array(RIGHT["4.5"](n, p, s, t)) ** 2),
    (
        "4.5",
        "t for √t",
        lambda n, p, s, t: (RIGHT["4.5"](n, p, s, t)[0], t * RIGHT["4.5"](n, p, s, 1)[0]),
    ),
    ("4.5", "expected", lambda n, p, s, t: (p, s)),
    ("4.6", "too high", lambda seed: as_it_is(seed, **bbb.ARTICLE)),
    ("4.6", "too high", lambda seed: (np.zeros(481), np.ones(481))),
    ("4.6", "some σ is not above 0", lambda seed: (np.zeros(481), np.full(481, -1.0))),
    ("4.6", "expected a pair, each shape (481,)", lambda seed: np.zeros(481)),
    ("4.6", "too high", lambda seed: as_it_is(seed, steps=300)),
    ("4.7", "the wrong way round", lambda seed, steps: np.array(steps) > 1000),
    ("4.7", "all of them", lambda seed, steps: np.ones(3)),
    ("4.7", "none of them", lambda seed, steps: np.zeros(3)),
    ("4.7", "expected", lambda seed, steps: np.array(steps) < 80),
]


def _by_lgamma(n: Any) -> Any:
    return math.lgamma(n + 1) + n * math.log(2)


def _kl(cov: Any, variance: Any) -> Any:
    """KL of the independent Gaussian of these variances to the posterior."""
    trace = np.diag(np.linalg.inv(cov)) @ variance - len(cov)
    return 0.5 * (trace - np.log(variance).sum() + np.linalg.slogdet(cov)[1])
