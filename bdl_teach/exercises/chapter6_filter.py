"""Exercises 6.5 and 6.6: a Gaussian through a linear layer, and the update of the noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bdl_teach.exercises._engine import Exercise, Mistake, Outcome, close

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
        for k, s in ((2, (3, 3)), (4, (1, 5)), (1, (5, 2)), (7, (2, 8)))
    )
    + (
        # All but certain, and not certain at all: what limits a variance shows.
        (
            np.array([0.4, -1.3]),
            np.array([2e-6, 3e-5]),
            np.array([[0.02, -0.1, 0.3], [1.1, 0.2, 0.7]]),
            np.array([[4e-6, 7e-5, 1e-6], [30.0, 2e-4, 8.0]]),
        ),
        (np.array([5.2]), np.array([14.0]), np.array([[-4.0, 9.0]]), np.array([[6.0, 25.0]])),
    ),
    (
        Mistake(
            "the scale is missing",
            "divide the mean by √(in + 1) and the variance by in + 1.",
            lambda m, v, a, b: _layer(m, v, a, b, 1.0),
        ),
        Mistake(
            "a small number added",
            "a variance of 10⁻⁶ is what is known: add nothing, and set no least value.",
            tuple(
                face
                for eps in (1e-3, 1e-4, 1e-5, 1e-6)
                for face in (
                    lambda m, v, a, b, eps=eps: (
                        _layer(m, v, a, b)[0],
                        _layer(m, v, a, b)[1] + eps,
                    ),
                    lambda m, v, a, b, eps=eps: _layer(m, v + eps, a, b),
                    lambda m, v, a, b, eps=eps: _layer(m, v, a, b + eps),
                )
            ),
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
            "the variance is divided by (in + 1)²",
            "dividing a by √(in + 1) divides its variance by in + 1.",
            lambda m, v, a, b: (_layer(m, v, a, b)[0], _layer(m, v, a, b)[1] / (len(m) + 1)),
        ),
        Mistake(
            "only one of the two is scaled",
            "divide the mean by √(in + 1) and the variance by in + 1.",
            (
                lambda m, v, a, b: (_layer(m, v, a, b, 1.0)[0], _layer(m, v, a, b)[1]),
                lambda m, v, a, b: (_layer(m, v, a, b)[0], _layer(m, v, a, b, 1.0)[1]),
            ),
        ),
        Mistake(
            "second moment for variance",
            "E[a²] contains m_w² m_z², which belongs to the square of the mean.",
            lambda m, v, a, b: (
                _layer(m, v, a, b)[0],
                _layer(m, v, a, b)[1] + a**2 @ np.append(m, 1.0) ** 2 / (len(m) + 1),
            ),
        ),
        Mistake(
            "a mean is not squared",
            "Var[wz] = m_w² v_z + v_w m_z² + v_w v_z: both means are squared.",
            (
                lambda m, v, a, b: (
                    _layer(m, v, a, b)[0],
                    _layer(m, v, a, b)[1] + (a - a**2)[:, :-1] @ v / (len(m) + 1),
                ),
                lambda m, v, a, b: (
                    _layer(m, v, a, b)[0],
                    _layer(m, v, a, b)[1] + b[:, :-1] @ (m - m**2) / (len(m) + 1),
                ),
                lambda m, v, a, b: (
                    _layer(m, v, a, b)[0],
                    _layer(m, v, a, b)[1]
                    + ((a - a**2)[:, :-1] @ v + b[:, :-1] @ (m - m**2)) / (len(m) + 1),
                ),
            ),
        ),
        Mistake(
            "the bias is first",
            "the bias is the last column: append the 1, do not put it in front.",
            lambda m, v, a, b: _layer(m, v, np.roll(a, -1, axis=1), np.roll(b, -1, axis=1)),
        ),
        Mistake(
            "sd for variance",
            "return the variance, not its root.",
            lambda m, v, a, b: (_layer(m, v, a, b)[0], np.sqrt(_layer(m, v, a, b)[1])),
        ),
        Mistake(
            "mean and variance swapped",
            "return (mean, variance).",
            lambda m, v, a, b: _layer(m, v, a, b)[::-1],
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


def _gamma(
    alpha: Any,
    beta: Any,
    r: Any,
    v: Any,
    *,
    shift: float = 0.0,
    eps: float = 0.0,
    ratio: Callable[[Any, Any], Any] = lambda l10, l21: l21 - l10,
    one: Callable[[Any], Any] = lambda alpha: np.log1p(1 / alpha),
    back: Callable[[Any], Any] = np.expm1,
    sign: float = -1.0,
) -> Any:
    """(6.13); what can be given makes its mistakes."""
    v0, v1, v2 = (v + beta / (alpha + k + shift) for k in (-1.0, 0.0, 1.0))
    at = alpha + shift

    def log_ratio(before: Any, after: Any, change: Any) -> Any:
        return -0.5 * (np.log1p(change / before) - r**2 * change / (before * after))

    l10 = log_ratio(v0, v1, -beta / (at * (at - 1)))
    l21 = log_ratio(v1, v2, -beta / (at * (at + 1)))
    new = 1 / (back(ratio(l10, l21) + one(alpha)) + eps)
    return new, new * beta / alpha * np.exp(sign * l10)


def _steps(got: Any, alpha: Any, beta: Any, _r: Any, _v: Any) -> Any:
    """What to compare: the steps, beside which α = 10¹² is large; β's in units of β/α."""
    return (got - np.array([alpha, beta])) * np.array([1.0, alpha / beta])


# At α = 10¹² float64 leaves the step three digits.
_STEP = 3e-3
_NOISES = (
    (6.0, 6.0, 0.1, 0.2),
    (6.0, 5.3, -2.2, 0.3),
    (2.3, 0.9, 0.7, 0.11),
    (51.0, 4.0, 0.9, 0.02),
    (1e4, 2.5e3, 1.1, 1e-2),
    (1e8, 3.0e7, -0.2, 2e-2),
    (1e10, 4.1e9, 1.7, 3e-3),
    (1e12, 8e10, 0.6, 1e-3),
)


def _loses_digits(got: Sequence[Outcome], want: Sequence[Outcome]) -> bool:
    """Whether the answer is right but for the rounding of numbers near 1.

    Rounding moves the bracket, 1/α′, by some multiple of 2⁻⁵³, another one in each case. Where α is
    small that is nothing, where it is large it is all. A term that was added moves it by the same
    everywhere; a wrong formula, by far less or by far more.
    """
    unit = 2.0**-53
    moved = []
    for case, a, b in zip(GAMMA.cases, got, want, strict=True):
        if not isinstance(a, np.ndarray) or not isinstance(b, np.ndarray) or a.shape != b.shape:
            return False
        with np.errstate(all="ignore"):
            change = (1 / a - 1 / b) * np.array([1.0, case[1] / case[0]]) / unit
        if not (np.abs(change) < 200).all():
            return False
        if case[0] < 1e6 and not close(_steps(a, *case), _steps(b, *case), _STEP, 0.0):
            return False
        moved.append(change[0])
    large = np.array(moved[-3:])
    return bool((np.abs(large) > 0.1).sum() >= 2 and np.ptp(large) > 0.5)


GAMMA = Exercise(
    "6.6",
    "Break: a noise update that never stops",
    "6.7",
    lambda alpha, beta, r, v: _gamma(alpha, beta, r, v),
    _NOISES,
    (
        Mistake(
            "eps in the denominator",
            "this is the fault that stops α at √(0.5/eps): add nothing, use expm1 and log1p.",
            tuple(
                face
                for eps in (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12, 1e-15, 1e-16, 1e-18)
                for face in (
                    lambda a, b, r, v, eps=eps: _gamma(a, b, r, v, eps=eps),
                    lambda a, b, r, v, eps=eps: (
                        _gamma(a, b, r, v, eps=eps)[0],
                        1 / (1 / _gamma(a, b, r, v)[1] + eps),
                    ),
                    lambda a, b, r, v, eps=eps: (
                        _gamma(a, b, r, v, eps=eps)[0],
                        _gamma(a, b, r, v)[1],
                    ),
                )
            ),
        ),
        Mistake(
            "digits are lost",
            "at α = 10¹² the ratio is 1 + 10⁻¹²: form its logarithm by log1p, then expm1, and form "
            "ℓ₁₀ and ℓ₂₁ without subtracting two logarithms: from v₁ − v₀ = −β/(α(α−1)).",
            recognises=_loses_digits,
        ),
        Mistake(
            "the network's variance is ignored",
            "α + ½, β + ½ r² is right for v = 0 only: part of the residual is the weights' fault.",
            (
                lambda a, b, r, v: (a + 0.5, b + 0.5 * r**2),
                lambda a, b, r, v: _gamma(a, b, r, 0.0),
            ),
        ),
        Mistake(
            "α and β swapped",
            "return (α′, β′).",
            lambda a, b, r, v: _gamma(a, b, r, v)[::-1],
        ),
        Mistake(
            "wrong sign of ℓ₁₀ in β′",
            "β′ = α′ (β/α) exp(−ℓ₁₀), with a minus.",
            lambda a, b, r, v: _gamma(a, b, r, v, sign=1.0),
        ),
        Mistake(
            "ℓ₁₀ and ℓ₂₁ swapped",
            "the ratio Z Z₂/Z₁² has the logarithm ℓ₂₁ − ℓ₁₀.",
            lambda a, b, r, v: _gamma(a, b, r, v, ratio=lambda l10, l21: l10 - l21),
        ),
        Mistake(
            "ℓ₁₀ added",
            "the ratio Z Z₂/Z₁² has the logarithm ℓ₂₁ − ℓ₁₀: Z₁ stands below, twice.",
            lambda a, b, r, v: _gamma(a, b, r, v, ratio=lambda l10, l21: l21 + l10),
        ),
        Mistake(
            "1/α for log1p(1/α)",
            "however large α is, ln(1 + 1/α) is smaller than 1/α by 1/(2α²), and that is half a "
            "step.",
            lambda a, b, r, v: _gamma(a, b, r, v, one=lambda alpha: 1 / alpha),
        ),
        Mistake(
            "expm1 is missing",
            "however large α is, e^t − 1 is larger than t by t²/2, and that is half a step.",
            lambda a, b, r, v: _gamma(a, b, r, v, back=lambda t: t),
        ),
        Mistake(
            "β/α for β/(α−1)",
            "Z has the noise variance β/(α−1); at α + 1 it is β/α.",
            lambda a, b, r, v: _gamma(a, b, r, v, shift=1.0),
        ),
        Mistake(
            "β is not updated",
            "β′ = α′ (β/α) exp(−l₁₀).",
            lambda a, b, r, v: (_gamma(a, b, r, v)[0], b),
        ),
        Mistake(
            "α is not updated",
            "α′ = 1/expm1(ℓ₂₁ − ℓ₁₀ + log1p(1/α)).",
            (
                lambda a, b, r, v: (a, _gamma(a, b, r, v)[1]),
                lambda a, b, r, v: (a, _gamma(a, b, r, v)[1] * a / _gamma(a, b, r, v)[0]),
            ),
        ),
        Mistake(
            "exp(−l₁₀) is missing",
            "β′ = α′ (β/α) exp(−l₁₀).",
            lambda a, b, r, v: _gamma(a, b, r, v, sign=0.0),
        ),
        Mistake(
            "sd for variance",
            "v is the variance of the output already: it is not squared.",
            lambda a, b, r, v: _gamma(a, b, r, v**2),
        ),
        Mistake(
            "the residual is not squared",
            "the ℓ contain r², as log N(y | m, v) does.",
            lambda a, b, r, v: _gamma(a, b, np.sqrt(np.abs(r)), v),
        ),
    ),
    rtol=_STEP,
    compared=_steps,
)


EXERCISES: tuple[Exercise, ...] = (LAYER, GAMMA)
