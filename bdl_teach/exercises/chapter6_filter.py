"""Exercises 6.5 to 6.9: a layer, the noise, the score in units of y, brute force, the cavity."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.exercises.engine import Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(6)


def _layer(mean: Any, var: Any, w_mean: Any, w_var: Any, scale: float | None = None) -> Any:
    mean, var = np.append(mean, 1.0), np.append(var, 0.0)
    scale = 1 / len(mean) if scale is None else scale
    out_var = w_mean**2 @ var + w_var @ mean**2 + w_var @ var
    return np.sqrt(scale) * (w_mean @ mean), scale * out_var


def _layer_without(mean: Any, var: Any, w_mean: Any, w_var: Any, part: str) -> Any:
    z_mean, z_var = np.append(mean, 1.0), np.append(var, 0.0)
    parts = {"w": w_mean**2 @ z_var, "z": w_var @ z_mean**2, "both": w_var @ z_var}
    out = sum(value for name, value in parts.items() if name != part)
    return (w_mean @ z_mean) / np.sqrt(len(z_mean)), out / len(z_mean)


LAYER = Exercise(
    "6.5",
    "Change: a Gaussian through a linear layer",
    "6.4",
    lambda mean, var, weight_mean, weight_var: _layer(mean, var, weight_mean, weight_var),
    tuple(
        (_RNG.normal(size=k), _RNG.uniform(0.1, 1, k), _RNG.normal(size=s), _RNG.uniform(0.1, 1, s))
        for k, s in ((2, (3, 3)), (4, (1, 5)))
    ),
    (
        Mistake(
            "the scale is missing",
            "divide the mean by √(in + 1) and the variance by in + 1.",
            lambda m, v, a, b: _layer(m, v, a, b, 1.0),
        ),
        Mistake(
            "1/√in for 1/√(in + 1)",
            "the bias is an input too, of value 1.",
            lambda m, v, a, b: _layer(m, v, a, b, 1 / len(m)),
        ),
        Mistake(
            "the variance is divided by √(in + 1)",
            "a variance scales with the square: divide it by in + 1.",
            lambda m, v, a, b: (_layer(m, v, a, b)[0], _layer(m, v, a, b)[1] * np.sqrt(len(m) + 1)),
        ),
        Mistake(
            "the variance of z is missing",
            "the input is uncertain as well: m_w² v_z.",
            lambda m, v, a, b: _layer_without(m, v, a, b, "w"),
        ),
        Mistake(
            "the product of the two variances is missing",
            "Var[wz] = m_w² v_z + v_w m_z² + v_w v_z.",
            lambda m, v, a, b: _layer_without(m, v, a, b, "both"),
        ),
        Mistake(
            "the variance of the weights is missing",
            "without v_w nothing would ever be uncertain at the first layer.",
            lambda m, v, a, b: _layer_without(m, v, a, b, "z"),
        ),
        Mistake(
            "the bias's variance is missing",
            "the bias is the last column, with an input of mean 1 and variance 0.",
            lambda m, v, a, b: (
                _layer(m, v, a, b)[0],
                _layer(m, v, a, b)[1] - b[:, -1] / (len(m) + 1),
            ),
        ),
    ),
)


def _gamma(alpha: Any, beta: Any, r: Any, v: Any) -> Any:
    v0, v1, v2 = (v + beta / (alpha + k) for k in (-1.0, 0.0, 1.0))

    def log_ratio(before: Any, after: Any, change: Any) -> Any:
        return -0.5 * (np.log1p(change / before) - r**2 * change / (before * after))

    l10 = log_ratio(v0, v1, -beta / (alpha * (alpha - 1)))
    l21 = log_ratio(v1, v2, -beta / (alpha * (alpha + 1)))
    new = 1 / np.expm1(l21 - l10 + np.log1p(1 / alpha))
    return new, new * beta / alpha * np.exp(-l10)


def _naive_gamma(alpha: Any, beta: Any, r: Any, v: Any, eps: float = 0.0) -> Any:
    logs = [-0.5 * (np.log(t) + r**2 / t) for t in (v + beta / (alpha + k) for k in (-1, 0, 1))]
    ratio = np.exp(logs[2] - 2 * logs[1] + logs[0]) * (alpha + 1) / alpha - 1
    rate = np.exp(logs[2] - logs[1]) * (alpha + 1) - np.exp(logs[1] - logs[0]) * alpha
    return 1 / (ratio + eps), beta / (rate + eps)


GAMMA = Exercise(
    "6.6",
    "Break: a noise update that never stops",
    "6.7",
    _gamma,
    ((6.0, 6.0, 0.1, 0.2), (1e4, 2.5e3, 0.2, 1e-2), (1e12, 8e10, 0.3, 1e-3)),
    (
        Mistake(
            "eps in the denominator",
            "this is the fault that stops α at √(0.5/eps): add nothing, use expm1 and log1p.",
            recognises=lambda got, want: _saturates(got),
        ),
        Mistake(
            "digits are lost",
            "at α = 10¹² the ratio is 1 + 10⁻¹²: form its logarithm by log1p, then expm1.",
            recognises=lambda got, want: _only_the_last_differs(got, want),
        ),
        Mistake(
            "the network's variance is ignored",
            "α + ½, β + ½ r² is right for v = 0 only: part of the residual is the weights' fault.",
            lambda a, b, r, v: (a + 0.5, b + 0.5 * r**2),
        ),
        Mistake(
            "α and β swapped",
            "return (α′, β′).",
            lambda a, b, r, v: _gamma(a, b, r, v)[::-1],
        ),
        Mistake(
            "β is not updated",
            "β′ = α′ (β/α) exp(−l₁₀).",
            lambda a, b, r, v: (_gamma(a, b, r, v)[0], b),
        ),
        Mistake(
            "exp(−l₁₀) is missing",
            "β′ = α′ (β/α) exp(−l₁₀).",
            lambda a, b, r, v: (_gamma(a, b, r, v)[0], _gamma(a, b, r, v)[0] * b / a),
        ),
    ),
)


def _saturates(got: Any) -> bool:
    """Whether α′ falls far below α for large α: something was added to a denominator."""
    alphas = [np.ravel(o)[0] for o in got if isinstance(o, np.ndarray) and o.size == 2]
    return len(alphas) == 3 and bool(0 < alphas[2] < 1e7)


def _only_the_last_differs(got: Any, want: Any) -> bool:
    if not all(isinstance(o, np.ndarray) and o.size == 2 for o in got):
        return False
    return bool(np.allclose(got[0], want[0], 1e-5) and not np.allclose(got[2], want[2], 1e-5))


def _score(m: Any, v: Any, alpha: Any, beta: Any, y_mean: Any, y_std: Any, y: Any) -> Any:
    mean, var = m * y_std + y_mean, (v + beta / (alpha - 1)) * y_std**2
    return np.mean(-0.5 * (np.log(2 * np.pi * var) + (y - mean) ** 2 / var))


_SCORES = tuple(
    (_RNG.normal(size=k), _RNG.uniform(0.1, 1, k), 9.0, 2.0, 22.5, 9.2, 22.5 + _RNG.normal(0, 9, k))
    for k in (1, 5)
)

SCORE = Exercise(
    "6.7",
    "Change: the test log-likelihood in the units of y",
    "6.10",
    _score,
    _SCORES,
    (
        Mistake(
            "the noise is missing",
            "without β/(α−1) it is the density of the function, not of y.",
            lambda m, v, a, b, c, s, y: _score(m, v, a, 0.0 * b, c, s, y),
        ),
        Mistake(
            "standardised units",
            "a density changes with the unit: subtract log y_std.",
            lambda m, v, a, b, c, s, y: _score(m, v, a, b, c, s, y) + np.log(s),
        ),
        Mistake(
            "y_std for y_std²",
            "variances scale with the square of the unit.",
            lambda m, v, a, b, c, s, y: np.mean(
                -0.5 * np.log(2 * np.pi * (v + b / (a - 1)) * s)
                - 0.5 * (y - m * s - c) ** 2 / ((v + b / (a - 1)) * s)
            ),
        ),
        Mistake(
            "sum for mean",
            "papers report the mean over the test points.",
            lambda m, v, a, b, c, s, y: _score(m, v, a, b, c, s, y) * len(y),
        ),
        Mistake(
            "wrong sign",
            "this is the negative log-likelihood.",
            lambda m, v, a, b, c, s, y: -_score(m, v, a, b, c, s, y),
        ),
    ),
)


def _match(w: Any, prior: Any, likelihood: Any) -> Any:
    tilted = prior * likelihood
    z = np.trapezoid(tilted, w)
    mean = np.trapezoid(w * tilted, w) / z
    return mean, np.trapezoid((w - mean) ** 2 * tilted, w) / z


def _unnormalised(w: Any, prior: Any, likelihood: Any) -> Any:
    mean = np.trapezoid(w * prior * likelihood, w)
    return mean, np.trapezoid((w - mean) ** 2 * prior * likelihood, w)


_W = np.linspace(-6, 6, 601)
_PRIORS = tuple(
    np.exp(-0.5 * (_W - m) ** 2 / v) / np.sqrt(2 * np.pi * v) for m, v in ((0, 1), (1, 0.3))
)

MATCH = Exercise(
    "6.8",
    "Extend: moment matching by brute force",
    "6.2",
    _match,
    ((_W, _PRIORS[0], 1 / (1 + np.exp(-2 * _W))), (_W, _PRIORS[1], np.exp(-np.abs(_W - 2)))),
    (
        Mistake(
            "Z is missing",
            "prior times likelihood is no density yet: divide by its integral.",
            _unnormalised,
        ),
        Mistake(
            "the prior is missing",
            "the exact posterior is proportional to prior times likelihood.",
            lambda w, p, f: _match(w, 1.0, f),
        ),
        Mistake(
            "the likelihood is missing",
            "these are the moments of the prior.",
            lambda w, p, f: _match(w, p, 1.0),
        ),
        Mistake(
            "second moment for variance",
            "subtract the square of the mean.",
            lambda w, p, f: (_match(w, p, f)[0], _match(w, p, f)[1] + _match(w, p, f)[0] ** 2),
        ),
        Mistake(
            "sd for variance",
            "return the variance.",
            lambda w, p, f: (_match(w, p, f)[0], np.sqrt(_match(w, p, f)[1])),
        ),
        Mistake(
            "mode for mean",
            "ADF matches the mean; the highest point is the MAP estimate.",
            lambda w, p, f: (w[np.argmax(p * f)], _match(w, p, f)[1]),
        ),
    ),
)


def _cavity(m: Any, v: Any, precision: Any, shift: Any) -> Any:
    rest = 1 / v - precision
    return (m / v - shift) / rest, 1 / rest


CAVITY = Exercise(
    "6.9",
    "Extend: take a factor out",
    "6.8",
    _cavity,
    ((0.3, 0.5, 0.8, 0.0), (_A([1.0, -2.0]), _A([0.1, 1.0]), _A([3.0, 0.5]), _A([0.4, -1.0]))),
    (
        Mistake(
            "the factor is put in once more",
            "to take a factor out, *subtract* its natural parameters.",
            lambda m, v, p, s: ((m / v + s) / (1 / v + p), 1 / (1 / v + p)),
        ),
        Mistake(
            "variances are subtracted",
            "Gaussians multiply by adding precisions 1/v, not variances.",
            lambda m, v, p, s: ((m / v - s) * (v - 1 / p), v - 1 / p),
        ),
        Mistake(
            "the natural parameter for the mean",
            "m/v − shift is mean over variance: multiply by the cavity's variance.",
            lambda m, v, p, s: (m / v - s, 1 / (1 / v - p)),
        ),
        Mistake(
            "precision for variance",
            "return the variance, 1 over the precision.",
            lambda m, v, p, s: (_cavity(m, v, p, s)[0], 1 / v - p),
        ),
        Mistake(
            "the mean is left as it is",
            "the factor pulled the mean as well: use its shift.",
            lambda m, v, p, s: (m, _cavity(m, v, p, s)[1]),
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (LAYER, GAMMA, SCORE, MATCH, CAVITY)
