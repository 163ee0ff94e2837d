"""Chapter 2: right answers computed differently than the references, and wrong answers."""

from typing import Any

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp

from answers.forms import reference
from bdl_teach import expectation_gradients as eg

F32 = np.float32


def grey(x: Any, a: Any) -> Any:
    """Compute log p by the integral of e^(xa) over [0, 1], with the larger end factored out."""
    size = np.maximum(abs(a), 1e-6)
    return np.sum(x * a - np.maximum(a, 0) - np.log(-np.expm1(-size)) + np.log(size), axis=1)


def ripple_in_slope_alone(mu: float, sigma: float, curvature: float) -> Any:
    """Compare the variance of the pathwise estimate with that of a score function at a = 0."""
    score = eg.variance("score", "μ", eg.Cost(curvature), mu, sigma)

    def surplus(a: float) -> float:
        return eg.variance("pathwise", "μ", eg.Cost(curvature, ripple=a), mu, sigma) - score

    return brentq(surplus, 0.0, 50.0)


RIGHT: list[tuple[str, Any]] = [
    ("2.9", lambda *case: F32(1.03 * reference("2.9")(*case))),
    ("2.6", lambda x, a: grey(F32(x), F32(a))),
    ("2.10", lambda shuffles: 1.25),
]

WRONG: list[tuple[str, str, Any]] = [
    ("2.1", "expected", lambda m, s: reference("2.1")(m, np.clip(s, 1e-2, None))),
    ("2.2", "expected", lambda m, r, e: m + np.maximum(np.logaddexp(0, r), 1e-3) * e),
    ("2.6", "expected", lambda x, a: np.maximum(reference("2.6")(x, a), -100)),
    ("2.8", "expected", lambda w: -abs(logsumexp(w) - np.log(len(w)))),
    ("2.8", "infinite", lambda w: np.log(np.mean(np.exp(w + 9e3))) - 9e3),
    (
        "2.1",
        "divide by mean.shape[1]",
        lambda m, s: (m**2 / 2 + s**2 / 2 - np.log(s)).mean(1) - 0.5,
    ),
    ("2.9", "noisier still", ripple_in_slope_alone),
    ("2.9", "below 0", lambda *case: -reference("2.9")(*case)),
    ("2.9", "noisier still", lambda *case: 0.5 * reference("2.9")(*case)),
    ("2.9", "quieter already", lambda *case: 2 * reference("2.9")(*case)),
    ("2.10", "says too much", lambda shuffles: 1.0),
    ("2.10", "says too little", lambda shuffles: 1.32),
    ("2.10", "not above 0", lambda shuffles: 0.0),
]
