"""Exercises 6.5 and 6.6: a Gaussian through a linear layer, and the update of the noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.exercises.engine import Exercise, Mistake

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
            "the mean is divided by in + 1",
            "the activations are divided by √(in + 1), and so is their mean; in + 1 is for "
            "variances.",
            lambda m, v, a, b: (
                _layer(m, v, a, b)[0] / np.sqrt(len(m) + 1),
                _layer(m, v, a, b)[1],
            ),
        ),
        Mistake(
            "the bias is missing",
            "append a 1 to the inputs: the last column multiplies it.",
            lambda m, v, a, b: (
                _layer(m, v, a, b)[0] - a[:, -1] / np.sqrt(len(m) + 1),
                _layer(m, v, a, b)[1] - b[:, -1] / (len(m) + 1),
            ),
        ),
        Mistake(
            "the bias's input is uncertain",
            "the input that is appended is a known 1: its variance is 0.",
            lambda m, v, a, b: (
                _layer(m, v, a, b)[0],
                _layer(m, v, a, b)[1] + (a**2 + b)[:, -1] / (len(m) + 1),
            ),
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
            "at α = 10¹² the ratio is 1 + 10⁻¹²: form its logarithm by log1p, then expm1, and form "
            "ℓ₁₀ and ℓ₂₁ without subtracting two logarithms: from v₁ − v₀ = −β/(α(α−1)).",
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
            "wrong sign of ℓ₁₀ in β′",
            "β′ = α′ (β/α) exp(−ℓ₁₀), with a minus.",
            lambda a, b, r, v: (
                _gamma(a, b, r, v)[0],
                _gamma(a, b, r, v)[0] ** 2 * (b / a) ** 2 / _gamma(a, b, r, v)[1],
            ),
        ),
        Mistake(
            "β/α for β/(α−1)",
            "Z has the noise variance β/(α−1); at α + 1 it is β/α.",
            recognises=lambda got, want: _shifted(got),
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


def _shifted(got: Any) -> bool:
    """Whether α′ is that of the noise variances β/α, β/(α+1), β/(α+2), for the first case."""
    alpha, beta, r, v = GAMMA.cases[0]
    total = v + beta / (alpha + np.arange(3.0))
    z = np.exp(-0.5 * r**2 / total) / np.sqrt(total)
    wanted = 1 / (z[0] * z[2] / z[1] ** 2 * (alpha + 1) / alpha - 1)
    return (
        isinstance(got[0], np.ndarray) and got[0].size == 2 and np.isclose(got[0].flat[0], wanted)
    )


def _only_the_last_differs(got: Any, want: Any) -> bool:
    if not all(isinstance(o, np.ndarray) and o.size == 2 for o in got):
        return False
    return bool(np.allclose(got[0], want[0], 1e-5) and not np.allclose(got[2], want[2], 1e-5))


EXERCISES: tuple[Exercise, ...] = (LAYER, GAMMA)
