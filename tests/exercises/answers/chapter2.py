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


def refined(kl_weight: float = 1.0) -> Any:
    """Return an answer that walks up the ELBO in small steps, from draws and differences."""

    def answer(log_likelihood: Any, mean: Any, std: Any) -> Any:
        eps = np.random.default_rng(0).standard_normal((300, 2))
        p, steps = np.append(mean, np.log(std)), 1e-4 * np.eye(4)

        def elbo(p: Any) -> Any:
            kl = 0.5 * np.sum(p[:2] ** 2 + np.exp(2 * p[2:]) - 1 - 2 * p[2:])
            return np.mean(log_likelihood(p[:2] + np.exp(p[2:]) * eps)) - kl_weight * kl

        for _ in range(60):
            p = p + 0.05 * np.array([elbo(p + h) - elbo(p - h) for h in steps]) / 2e-4
        return p[:2], np.exp(p[2:])

    return answer


RIGHT: list[tuple[str, Any]] = [
    ("2.9", lambda *case: F32(1.03 * reference("2.9")(*case))),
    ("2.6", lambda x, a: grey(F32(x), F32(a))),
    ("2.10", lambda shuffles: 1.25),
    ("2.11", refined()),
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
    ("2.9", "the same amplitude in every case", lambda *case: 0.003),
    ("2.9", "below 0", lambda *case: -reference("2.9")(*case)),
    ("2.9", "noisier still", lambda *case: 0.5 * reference("2.9")(*case)),
    ("2.9", "quieter already", lambda *case: 2 * reference("2.9")(*case)),
    ("2.11", "no standard deviation", lambda f, mean, std: (mean, -std)),
    ("2.11", "worse than the encoder", refined(kl_weight=0.0)),
    ("2.11", "σ is the encoder's", lambda f, mean, std: (refined()(f, mean, std)[0], std)),
    ("2.11", "not far enough", lambda f, mean, std: (mean, refined()(f, mean, std)[1])),
    ("2.10", "says too much", lambda shuffles: 1.0),
    ("2.10", "says too little", lambda shuffles: 1.32),
    ("2.10", "not above 0", lambda shuffles: 0.0),
]
