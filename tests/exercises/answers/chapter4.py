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


def posterior(seed: int, **chosen: Any) -> Any:
    data = datasets.sinusoid(seed=seed)
    return bbb.fit(data.x, data.y, **chosen)


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


RIGHT: dict[str, Any] = {
    "4.1": family,
    "4.2": tensors(
        lambda cov, a, b: (
            tf.sqrt(tf.einsum("i,ij,j->", b - a, cov, b - a)),
            tf.norm((b - a) / tf.sqrt(tf.linalg.diag_part(tf.linalg.inv(cov)))),
        )
    ),
    "4.3": "bde",
    "4.4": lambda h: sum(tf.math.lgamma(n + 1.0) + n * tf.math.log(2.0) for n in h),
    "4.5": lambda n, p, s, t: (
        math.sqrt(t * p**2 * s**2 / (t * s**2 + n * p**2)),
        math.sqrt(t) * p * s / math.hypot(s, p * math.sqrt(n)),
    ),
    "4.6": trained_on,
    "4.7": gains,
}

ALSO: list[tuple[str, Any]] = [
    ("4.5", single(RIGHT["4.5"])),
]

WRONG: list[tuple[str, str, Any]] = [
    ("4.6", "too high", lambda seed: as_it_is(seed, **bbb.ARTICLE)),
    ("4.6", "some σ is not above 0", lambda seed: (np.zeros(481), np.full(481, -1.0))),
    ("4.7", "expected", lambda seed, steps: np.array(steps) < 80),
]
