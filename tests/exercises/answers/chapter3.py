"""Chapter 3: right answers computed differently than the references, and wrong answers."""

import math
from typing import Any

import numpy as np
from scipy import stats

from answers.forms import reference
from bdl_teach.exercises import chapter3

F32 = np.float32


def information(p: Any) -> Any:
    """Return the mean KL from each network to the average."""
    return stats.entropy(p, p.mean(axis=0)[None], axis=-1).mean(axis=0)


def wide_beyond_20(w: Any, a: Any, b: Any, p: Any) -> Any:
    """Return the mixture log density, with only the wide part beyond |w| = 20."""
    wide = np.log(p) + stats.norm(0, a).logpdf(w)
    return np.where(np.abs(w) > 20, wide, reference("3.7")(w, a, b, p))


def logsumexp_shifted(f: Any, by: Any) -> Any:
    return np.log(np.exp(f - by[:, None]).sum(axis=1)) + by


def top(score: Any) -> Any:
    """Return an answer that picks the k pictures of highest score."""
    return lambda p, k: np.argsort(-np.asarray(score(p)))[:k]


def weights_left(seed: int, count: int, score: Any) -> Any:
    """Return a fit's means with all but `count` set to 0."""
    fit = chapter3._low_noise_fit(seed)
    last = np.sort(np.argsort(-score(fit))[:count])
    out = np.zeros(481)
    out[last] = fit.mean[last]
    return out


def size(fit: Any) -> Any:
    return abs(fit.mean)


RIGHT: list[tuple[str, Any]] = [
    ("3.15", lambda problems: 1.1),
    ("3.2", lambda f, error: math.ceil(F32(f).var(ddof=1) / F32(error) ** 2)),
    ("3.13", top(lambda p: information(p) / np.log(2))),
]

WRONG: list[tuple[str, str, Any]] = [
    ("3.1", "expected", lambda *v: np.where(reference("3.1")(*v) < 0.1, 0.0, reference("3.1")(*v))),
    ("3.7", "expected", wide_beyond_20),
    ("3.8", "expected", lambda m, r: reference("3.8")(m, r) if m < 50 else np.ones(m) / m),
    ("3.12", "infinite", lambda f, y: logsumexp_shifted(f, f.mean(axis=1)) - f[range(len(y)), y]),
    ("3.12", "expected", lambda f, y: np.minimum(reference("3.12")(f, y), 1000)),
    ("3.13", "expected", lambda p, k: np.argpartition(-information(p), k - 1)[:k]),
    ("3.14", "too many weights", lambda seed: weights_left(seed, 19, size)),
    ("3.14", "the sine is lost", lambda seed: weights_left(seed, 18, size)),
    ("3.14", "a mask", lambda seed: chapter3._low_noise_fit(seed).signal_to_noise > 3),
    ("3.14", "no weight is negative", lambda seed: abs(weights_left(seed, 18, size))),
    ("3.15", "no width of the wide part", lambda problems: np.log10(1.1)),
    ("3.15", "F for σ₁", lambda problems: 130.0),
    ("3.15", "too wide", lambda problems: 1.5),
    ("3.15", "too narrow", lambda problems: 0.1),
    ("3.15", "not above 0", lambda problems: 0.0),
]
