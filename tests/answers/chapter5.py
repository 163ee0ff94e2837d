"""Chapter 5: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np
from scipy.special import expit


def softplus(rho: Any) -> Any:
    return np.log1p(np.exp(rho))


def moments(x: Any, y: Any, s: float) -> tuple[float, float]:
    """Mean and variance of w by least squares, before any prior."""
    return x @ y / (x @ x), s**2 / (x @ x)


def gamma_step(g: Any, r: Any, e: Any, d: Any, kl: Any) -> Any:
    return d * softplus(r) + kl


def precision_or_0(x: Any, y: Any, s: float) -> float:
    variance = float(RIGHT["5.6"](x, y, s))
    return 1 / variance if variance > 0 else 0.0


RIGHT: dict[str, Any] = {
    "5.1": lambda m, s: np.sum(np.log(np.sqrt(m**2 + s**2) / s)),
    "5.2": lambda m, s: np.linalg.norm(np.hypot(m, s)) / np.sqrt(len(m)),
    "5.3": "bce",
    "5.4": lambda g, r, e, d: d * softplus(r) + 1 / (g + 1 / g),
    "5.5": lambda g, r, e, d: (g * d + e * d) * np.exp(r) / (1 + np.exp(r)),
    "5.6": lambda x, y, s: np.clip(moments(x, y, s)[0] ** 2 - moments(x, y, s)[1], 0, None),
    "5.7": lambda g: 0.5 * np.logaddexp(0.0, 2 * np.log(np.maximum(abs(g), 1e-300))),
    "5.8": lambda x, s: np.linalg.norm(x[:, :, None] * s[None], axis=1),
    "5.9": lambda f: np.sum(0.5 + 0.5 * np.tanh(f / 2), axis=0) / len(f),
}

# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = []

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("5.1", "½ is missing", lambda m, s: np.log(1 + m**2 / s**2).sum()),
    ("5.1", "σ for σ²", lambda m, s: np.log(1 + m**2 / s).sum() / 2),
    ("5.1", "upside down", lambda m, s: np.log(1 + s**2 / m**2).sum() / 2),
    ("5.1", "KL to N(0, 1)", lambda m, s: ((s**2 + m**2 - 1) / 2 - np.log(s)).sum()),
    ("5.1", "not summed", lambda m, s: np.log(1 + m**2 / s**2) / 2),
    ("5.1", "wrong sign", lambda m, s: -np.log(1 + m**2 / s**2).sum() / 2),
    ("5.1", "1 is missing", lambda m, s: np.log(abs(m / s)).sum()),
    ("5.1", "one ratio for all", lambda m, s: np.log(1 + sum(m**2) / sum(s**2)) / 2),
    ("5.2", "averaged before squaring", lambda m, s: np.sqrt(m.mean() ** 2 + s.mean() ** 2)),
    ("5.2", "σ_p² for σ_p", lambda m, s: (m**2).mean() + (s**2).mean()),
    ("5.2", "sum for mean", lambda m, s: np.linalg.norm(np.hypot(m, s))),
    ("5.2", "prior for each weight", np.hypot),
    ("5.2", "standard deviations averaged", lambda m, s: np.hypot(m, s).mean()),
    ("5.2", "σ is missing", lambda m, s: np.linalg.norm(m) / np.sqrt(len(m))),
    ("5.2", "μ is missing", lambda m, s: np.linalg.norm(s) / np.sqrt(len(m))),
    ("5.3", "statement a is not true", "abce"),
    ("5.3", "statement d is not true", "bcde"),
    ("5.3", "statement f is not true", "bcef"),
    ("5.3", "statement b was left out", "ce"),
    ("5.4", "KL is missing", lambda g, r, e, d: gamma_step(g, r, e, d, 0.0)),
    ("5.4", "½ is missing", lambda g, r, e, d: gamma_step(g, r, e, d, 2 * g / (1 + g * g))),
    ("5.4", "weight decay", lambda g, r, e, d: gamma_step(g, r, e, d, g)),
    ("5.4", "wrong sign of the KL", lambda g, r, e, d: gamma_step(g, r, e, d, -g / (1 + g * g))),
    ("5.4", "∂w/∂γ is missing", lambda g, r, e, d: d + g / (1 + g * g)),
    ("5.4", "∂w/∂σ for ∂w/∂γ", lambda g, r, e, d: d * (g + e) + g / (1 + g * g)),
    ("5.4", "ε where there is none", lambda g, r, e, d: d * softplus(r) * e + g / (1 + g * g)),
    ("5.4", "KL for its slope", lambda g, r, e, d: gamma_step(g, r, e, d, np.log1p(g * g) / 2)),
    ("5.5", "exp for softplus", lambda g, r, e, d: (g + e) * d * np.exp(r)),
    ("5.5", "σ twice", lambda g, r, e, d: d * (g + e) * softplus(r) * expit(r)),
    ("5.5", "mean held still", lambda g, r, e, d: d * e * expit(r)),
    ("5.5", "softplus forgotten", lambda g, r, e, d: d * (g + e)),
    ("5.5", "softplus for its derivative", lambda g, r, e, d: d * (g + e) * softplus(r)),
    ("5.5", "KL where there is none", lambda g, r, e, d: d * (g + e) * expit(r) + g / (1 + g * g)),
    ("5.6", "negative variance", lambda x, y, s: moments(x, y, s)[0] ** 2 - moments(x, y, s)[1]),
    ("5.6", "square of least squares", lambda x, y, s: moments(x, y, s)[0] ** 2),
    ("5.6", "σ_p for σ_p²", lambda x, y, s: np.sqrt(RIGHT["5.6"](x, y, s))),
    ("5.6", "noise is missing", lambda x, y, s: RIGHT["5.6"](x, y, 1.0)),
    ("5.6", "precision for the variance", lambda x, y, s: precision_or_0(x, y, s)),
    ("5.6", "|b² − s|", lambda x, y, s: abs(moments(x, y, s)[0] ** 2 - moments(x, y, s)[1])),
    ("5.6", "s for s²", lambda x, y, s: RIGHT["5.6"](x, y, s) / moments(x, y, s)[1]),
    ("5.7", "ln|γ|", lambda g: np.log(np.sqrt(abs(g))) * 2),
    ("5.7", "overflow", lambda g: 0.5 * np.log1p(g**2)),
    ("5.7", "overflow", lambda g: 0.5 * np.log(1 + np.square(g))),
    ("5.7", "½ is missing", lambda g: 2 * np.log(np.hypot(1, g))),
    ("5.7", "ln(1 + |γ|)", lambda g: np.log(1 + abs(g))),
    ("5.7", "summed", lambda g: np.log(np.hypot(1, g)).sum()),
    ("5.8", "one ε for all inputs:", lambda x, s: np.einsum("ni,ij->nj", x, s)),
    ("5.8", "absolute values added", lambda x, s: abs(x) @ s),
    ("5.8", "δ for √δ", lambda x, s: (x * x) @ (s * s)),
    ("5.8", "σ for σ²", lambda x, s: ((x * x) @ s) ** 0.5),
    ("5.8", "x is not squared", lambda x, s: np.einsum("ni,ij->nj", x, s * s) ** 0.5),
    ("5.9", "exp for the sigmoid", lambda f: np.mean(np.exp(f), axis=0)),
    ("5.9", "plug-in", lambda f: expit(f.mean(axis=0))),
    ("5.9", "a vote", lambda f: np.mean(f > 0, axis=0)),
    ("5.9", "averaged over the inputs", lambda f: expit(f).mean(axis=1)),
    ("5.9", "log odds", lambda f: f.mean(axis=0)),
    ("5.9", "P(y = 0)", lambda f: 1 - expit(f).mean(axis=0)),
]
