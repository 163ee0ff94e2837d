"""Define the exercises of chapter 7: probabilistic backpropagation."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import log_ndtr, ndtr

from bdl_teach import datasets, metrics
from bdl_teach._support.checks import Array
from bdl_teach._support.errors import DivergedError
from bdl_teach.exercises import _normal as norm
from bdl_teach.exercises import common_mistakes
from bdl_teach.exercises._engine import exercise
from bdl_teach.exercises._outcomes import close
from bdl_teach.methods import pbp

_RNG, _RNG_7_7 = np.random.default_rng(6), np.random.default_rng(6)

exercise(
    "7.1",
    (0.7, -0.4, 1.5, 6.0, 6.0),
    (0.6, 0.8, 0.4, 40.0, 2.0),
    (-9.0, 1.3, 0.7, 1.5, 2.4),
    (4.1, 1.7, 0.05, 11.0, 17.0),
    (-7.3, 1.9, 0.3, 21.0, 18.0),  # a density of 10⁻¹⁶: reveals a small number added to it
    (3e-4, 0.0, 1e-7, 40.0, 4e-6),  # nearly no variance: reveals a small number added to it
    "the logarithm is divided by v: only the square is: −½[log 2πv + (y−m)²/v].",
    lambda y, m, v, a, b: -0.5 * (np.log(v + b / (a - 1)) + (y - m) ** 2) / (v + b / (a - 1)),
    "β/α for β/(α−1): the mean of the variance 1/τ is β/(α−1).",
    lambda y, m, v, a, b: norm.logpdf(y, m, np.sqrt(v + b / a)),
    "variance for sd: v + β/(α−1) is a variance: a scale is its root.",
    lambda y, m, v, a, b: norm.logpdf(y, m, v + b / (a - 1)),
    "the precision for the variance: α/β is the mean of τ; the noise's variance is 1/τ.",
    (
        lambda y, m, v, a, b: norm.logpdf(y, m, np.sqrt(v + a / b)),
        lambda y, m, v, a, b: norm.logpdf(y, m, np.sqrt(v + (a - 1) / b)),
    ),
)(lambda y, m, v, alpha, beta: norm.logpdf(y, m, np.sqrt(v + beta / (alpha - 1))))


def _adf(m: Any, v: Any, gm: Any, gv: Any) -> Any:
    return m + v * gm, v - v**2 * (gm**2 - 2 * gv)


def _label_slopes(m: Any, v: Any, x: Any, t: Any) -> Any:
    """Return ∂log Z/∂m and ∂log Z/∂v for Z = Φ(t x m/√(1 + x²v))."""
    total = 1 + x**2 * v
    z = t * x * m / np.sqrt(total)
    ratio = norm.pdf(z) / ndtr(z)
    return t * x / np.sqrt(total) * ratio, -0.5 * z * x**2 / total * ratio


def _by_update(update: Callable[..., Any]) -> Callable[..., Any]:
    """Return a wrong answer to 7.2, made with a wrong ``update(m, v, ∂log Z/∂m, ∂log Z/∂v)``."""
    return lambda m, v, x, t: update(m, v, *_label_slopes(m, v, x, t))


exercise(
    "7.2",
    ([0.3], [0.25], [2.0], [1.0]),
    ([0.0, -1.2], [1.5, 0.4], [1.0, -0.7], [1.0, -1.0]),
    ([0.4, 2.1, -0.6], [0.3, 1.2, 2.1], [-1.0, 0.5, 3.0], [-1.0, -1.0, 1.0]),
    ([0.2, -1.0], [2e-7, 3e-5], [3.0, -2.0], [1.0, -1.0]),  # weights of small variance
    ([1.0], [9.0], [0.8], [-1.0]),  # a large variance makes a long step
    # the labels have a probability of 10⁻⁹ and of nearly 1
    ([3.6, -2.5], [0.1, 0.4], [2.0, 1.5], [-1.0, -1.0]),
    "wrong sign of the mean's step: the mean goes *up* the gradient of log Z.",
    _by_update(lambda m, v, gm, gv: (m - v * gm, v - v**2 * (gm**2 - 2 * gv))),
    "the outer square is lost: the bracket is multiplied by v², not by v.",
    _by_update(lambda m, v, gm, gv: (m + v * gm, v - v * (gm**2 - 2 * gv))),
    "the new variance in the mean's step: both steps start from the old v.",
    _by_update(lambda m, v, gm, gv: (m + _adf(m, v, gm, gv)[1] * gm, _adf(m, v, gm, gv)[1])),
    "∂log Z/∂v is forgotten: v′ knows both derivatives.",
    _by_update(lambda m, v, gm, gv: (m + v * gm, v - v**2 * gm**2)),
    "the step is not scaled by v: an uncertain weight moves more: m + v ∂log Z/∂m.",
    _by_update(lambda m, v, gm, gv: (m + gm, _adf(m, v, gm, gv)[1])),
)(lambda m, v, x, t: _adf(m, v, *_label_slopes(m, v, x, t)))


def _truncated(m: Any, v: Any) -> Any:
    """Return the mean and variance of a ~ N(m, v), given a > 0."""
    ratio = np.exp(norm.logpdf(m / np.sqrt(v)) - log_ndtr(m / np.sqrt(v)))
    return m + np.sqrt(v) * ratio, v * (1 - ratio * (ratio + m / np.sqrt(v)))


def _compared_moments(got: Any, m: Any, v: Any) -> Any:
    """Return the moments ``got``, raised to a power below 1 where m/√v is far below 0.

    The power lets larger errors pass the comparison: 0.3 % for m/√v < −3.5, and 10 % for
    m/√v < −8. Answers in float32 need this, since they lose digits in a subtraction; wrong terms in
    a formula make still larger errors. For m/√v < −40 the right answer is 0, and the power is 1.
    """
    alpha = m / np.sqrt(v)
    power = np.select([alpha < -40, alpha < -8, alpha < -3.5], [1.0, 3e-4, 0.01], 1.0)
    return np.sign(got) * np.abs(got) ** power


@exercise(
    "7.4",
    ([0.0], [1.0]),
    ([-1.0, 0.5, 3.0], [1.0, 4.0, 0.25]),
    ([2.0], [9.0]),
    ([-1.3, 0.8, -0.2, 5.1, 0.4], [0.6, 0.3, 2.2, 1.7, 3.1]),
    ([-3.0], [0.25]),
    ([-24.0], [4.0]),  # a mean of 10⁻³⁴
    ([0.004, -0.002], [1e-4, 3e-5]),  # reveals a small number added to v
    ([-50.0, 1.0, -7.5], [1.0, 1.5, 1.0]),
    "relu of the mean: the mean of the outputs is not the output of the mean.",
    lambda m, v: (np.maximum(m, 0), _relu(m, v)[1]),
    "second moment for variance: subtract the square of the mean.",
    lambda m, v: (_relu(m, v)[0], _relu(m, v)[1] + _relu(m, v)[0] ** 2),
    "truncated for rectified: dividing by Φ(ζ) is for a > 0 only; the zeros count, too.",
    _truncated,
    "s is missing before φ: E max(a, 0) = m Φ(ζ) + s φ(ζ).",
    lambda m, v: (
        (mean := m * ndtr(m / np.sqrt(v)) + norm.pdf(m / np.sqrt(v))),
        (found := _relu(m, v))[1] + found[0] ** 2 - mean**2,
    ),
    compared=_compared_moments,
)
def _relu(m: Any, v: Any) -> Any:
    s = np.sqrt(v)
    alpha = m / s
    density, above = norm.pdf(alpha), ndtr(alpha)
    h, h_minus = density + alpha * above, density - alpha * (1 - above)
    return s * h, s**2 * (above - h * h_minus)


def _scaled(mean: Any, var: Any, w_mean: Any, w_var: Any, scale: float) -> Any:
    mean, var = np.append(mean, 1.0), np.append(var, 0.0)
    out_var = w_mean**2 @ var + w_var @ mean**2 + w_var @ var
    return np.sqrt(scale) * (w_mean @ mean), scale * out_var


@exercise(
    "7.5",
    *(
        (_RNG.normal(size=k), _RNG.uniform(0.1, 1, k), _RNG.normal(size=s), _RNG.uniform(0.1, 1, s))
        for k, s in ((2, (3, 3)), (4, (1, 5)), (1, (5, 2)), (7, (2, 8)))
    ),
    # Very small and very large variances reveal limits of a variance.
    ([0.4, -1.3], [2e-6, 3e-5], [[0.02, -0.1, 0.3]], [[4e-6, 7e-5, 1e-6]]),
    ([0.4, -1.3], [2e-6, 3e-5], [[1.1, 0.2, 0.7]], [[30.0, 2e-4, 8.0]]),
    ([5.2], [14.0], [[-4.0, 9.0]], [[6.0, 25.0]]),
    "the scale is missing: divide the mean by √(in + 1) and the variance by in + 1.",
    lambda m, v, a, b: _scaled(m, v, a, b, 1.0),
    "1/√in for 1/√(in + 1): the bias is an input too, of value 1.",
    lambda m, v, a, b: _scaled(m, v, a, b, 1 / len(m)),
    "second moment for variance: m_w² m_z² belongs to the square of the mean.",
    lambda m, v, a, b: (
        _layer(m, v, a, b)[0],
        _layer(m, v, a, b)[1] + a**2 @ np.append(m, 1.0) ** 2 / (len(m) + 1),
    ),
    "v Var[z] is missing: weight and input are both unsure: three products.",
    lambda m, v, a, b: (
        _layer(m, v, a, b)[0],
        _layer(m, v, a, b)[1] - b[:, :-1] @ v / (len(m) + 1),
    ),
    "the bias is missing: append a 1 to the inputs: the last column multiplies it.",
    lambda m, v, a, b: (
        _layer(m, v, a, b)[0] - a[:, -1] / np.sqrt(len(m) + 1),
        _layer(m, v, a, b)[1] - b[:, -1] / (len(m) + 1),
    ),
)
def _layer(mean: Any, var: Any, weight_mean: Any, weight_var: Any) -> Any:
    return _scaled(mean, var, weight_mean, weight_var, 1 / (len(mean) + 1))


def _steps(got: Any, alpha: Any, beta: Any, _r: Any, _v: Any) -> Any:
    """Return α′ − α and (β′ − β) α/β, which show errors that α′ and β′ hide if α is large."""
    return (got - np.array([alpha, beta])) * np.array([1.0, alpha / beta])


_STEP = 3e-3  # tolerance: at α = 10¹² float64 leaves the growth three digits
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


def _fault_of_digits(answers: list[Array]) -> str:
    for answer, case in zip(answers[:5], _NOISES[:5], strict=True):
        if not close(_steps(answer, *case), _steps(np.array(_gamma(*case)), *case), _STEP, 0.0):
            return ""
    return "right for small α only"


@exercise(
    "7.6",
    *_NOISES,
    "the network's variance is ignored: α + ½, β + ½ r² is right for v = 0 only.",
    lambda a, b, r, v: (a + 0.5, b + 0.5 * r**2),
    "v added to the square: that is the update if the mean is unsure, and γ is not.",
    lambda a, b, r, v: (a + 0.5, b + 0.5 * (r**2 + v)),
    "a small number in the denominator: for large α the bracket is as small itself.",
    tuple(
        lambda a, b, r, v, eps=eps: (1 / (1 / _gamma(a, b, r, v)[0] + eps), _gamma(a, b, r, v)[1])
        for eps in common_mistakes.EPS
    ),
    "α and β swapped: return (α′, β′).",
    lambda a, b, r, v: _gamma(a, b, r, v)[::-1],
    "β is not updated: β′ = α′ (β/α) exp(−l₁₀).",
    lambda a, b, r, v: (_gamma(a, b, r, v)[0], b),
    overall=_fault_of_digits,
    rtol=_STEP,
    compared=_steps,
)
def _gamma(alpha: Any, beta: Any, r: Any, v: Any) -> Any:
    """Return α and β of the noise precision's Gamma after an update (7.13), stable for large α."""
    v0, v1, v2 = (v + beta / (alpha + k) for k in (-1.0, 0.0, 1.0))

    def log_ratio(before: Any, after: Any, change: Any) -> Any:
        return -0.5 * (np.log1p(change / before) - r**2 * change / (before * after))

    l10 = log_ratio(v0, v1, -beta / (alpha * (alpha - 1)))
    l21 = log_ratio(v1, v2, -beta / (alpha * (alpha + 1)))
    new = 1 / np.expm1(l21 - l10 + np.log1p(1 / alpha))
    return new, new * beta / alpha * np.exp(-l10)


def _test_points(count: int, alpha: float, beta: float, y_mean: float, y_std: float) -> Any:
    y = y_mean + y_std * _RNG_7_7.normal(0.0, 1.3, count)
    outputs = _RNG_7_7.normal(size=count).round(2), _RNG_7_7.uniform(0.1, 1.0, count).round(2)
    return *outputs, alpha, beta, y_mean, y_std, y.round(2)


@exercise(
    "7.7",
    # units and noises of every size: none can be hard-coded
    _test_points(1, 9.0, 2.0, 22.5, 9.2),
    _test_points(3, 4.5, 7.3, -3.1, 0.4),
    _test_points(7, 120.0, 11.0, 0.8, 31.0),
    ([0.1, -0.4], [1e-3, 4e-3], 2.2, 0.004, -50.0, 2.7, [-49.5, -47.2]),
    ([0.3, -1.1], [0.2, 0.1], 8.0, 1.4, 4.0, 3.0, [-9.7, 14.8]),  # densities of 10⁻¹⁴
    ([0.2, -0.5], [0.03, 0.02], 6.0, 0.2, 0.3, 0.01, [0.3015, 0.2955]),  # above 1
    "standardised units: a density changes with the unit: subtract log y_std.",
    lambda m, v, a, b, c, s, y: _score(m, v, a, b, c, s, y) + np.log(s),
    "the outputs are left standardised: mean m y_std + y_mean, variances times y_std².",
    lambda m, v, a, b, c, s, y: _score(m, v, a, b, 0.0, 1.0, y),
    "the noise is left standardised: y_std² multiplies both variances, β/(α−1) as well.",
    lambda m, v, a, b, c, s, y: _score(m, v + (1 / s**2 - 1) * b / (a - 1), a, b, c, s, y),
    "the logarithm of the mean density: papers report the mean of the points' log densities.",
    lambda m, v, a, b, c, s, y: np.log(
        np.mean(norm.pdf(y, m * s + c, np.sqrt(v + b / (a - 1)) * s))
    ),
)
def _score(m: Any, v: Any, alpha: Any, beta: Any, y_mean: Any, y_std: Any, y: Any) -> Any:
    mean, var = m * y_std + y_mean, (v + beta / (alpha - 1)) * y_std**2
    return np.mean(norm.logpdf(y, mean, np.sqrt(var)))


def _match(w: Any, prior: Any, likelihood: Any) -> Any:
    tilted = prior * likelihood / np.trapezoid(prior * likelihood, w)
    mean = np.trapezoid(w * tilted, w)
    return mean, np.trapezoid((w - mean) ** 2 * tilted, w)


def _raw(w: Any, product: Any) -> Any:
    mean = np.trapezoid(w * product, w)
    return mean, np.trapezoid((w - mean) ** 2 * product, w)


def _contributed(moments: Any, m: Any, v: Any) -> Any:
    """Return precision and precision·mean of the factor that turns N(m, v) into ``moments``."""
    mean, var = moments
    return 1 / var - 1 / v, mean / var - m / v


# Fine grids of w.
_A, _B, _C = np.linspace(-8, 8, 801), np.linspace(-3, 5, 1201), np.linspace(2, 12, 334)

exercise(
    "7.8",
    (_A, 0.0, 1.0, 1 / (1 + np.exp(-2 * _A))),
    (_B, 1.0, 0.3, 3.7 / (1 + 5 * (_B - 3) ** 2) ** 2),  # a heavy tail: the precision falls
    (_C, 7.0, 0.6, np.exp(-2 * (_C - 6) ** 2) + 0.4 * np.exp(-3 * (_C - 8) ** 2)),
    (_A, 0.0, 1.0, 1e-9 / (1 + np.exp(1 - 3 * _A))),  # Z is small
    "the moments themselves: what did the Gaussian know before the point came?",
    lambda w, m, v, f: _match(w, norm.pdf(w, m, np.sqrt(v)), f),
    "not normalised: divide prior times likelihood by its integral first.",
    (
        lambda w, m, v, f: _contributed(_raw(w, norm.pdf(w, m, np.sqrt(v)) * f), m, v),
        lambda w, m, v, f: _contributed(_raw(w, np.exp(-((w - m) ** 2) / v / 2) * f), m, v),
    ),
    "mean and variance of the factor: return its precision, and precision times mean.",
    lambda w, m, v, f: (
        (found := _contributed(_match(w, norm.pdf(w, m, np.sqrt(v)), f), m, v))[1] / found[0],
        1 / found[0],
    ),
    "moments subtracted: what adds when densities are multiplied? Not means and variances.",
    lambda w, m, v, f: np.subtract(_match(w, norm.pdf(w, m, np.sqrt(v)), f), (m, v)),
    "the mean's step for the shift: a shift is a precision times a mean.",
    lambda w, m, v, f: (
        _contributed(_match(w, norm.pdf(w, m, np.sqrt(v)), f), m, v)[0],
        _match(w, norm.pdf(w, m, np.sqrt(v)), f)[0] - m,
    ),
    "the prior is missing: the exact posterior is proportional to prior times likelihood.",
    (
        lambda w, m, v, f: _contributed(_match(w, 1.0, f), m, v),
        lambda w, m, v, f: _contributed(
            (mean := w @ f / f.sum(), (w - mean) ** 2 @ f / f.sum()), m, v
        ),
    ),
)(lambda w, m, v, likelihood: _contributed(_match(w, norm.pdf(w, m, np.sqrt(v)), likelihood), m, v))


@exercise(
    "7.9",
    ([0.3], [0.5], [0.8], [0.0]),
    ([1.0, -2.0], [0.1, 1.0], [3.0, 0.5], [0.4, -1.0]),
    ([0.02], [1e-4], [2e3], [30.0]),
    ([2.0], [1e5], [3e-6], [1e-5]),  # reveals a small number added to a precision
    ([0.2, 1.3, -0.6], [2.0, 0.3, 0.7], [0.1, 2.9, 1.2], [-0.5, 1.6, 0.3]),
    ([1.0, -0.5], [1.0, 0.4], [-0.5, -0.9], [0.0, 0.3]),  # factors of negative precision
    "the factor is put in once more: to take a factor out, *subtract* its natural parameters.",
    lambda m, v, p, s: ((m / v + s) / (1 / v + p), 1 / (1 / v + p)),
    "variances are subtracted: Gaussians multiply by adding precisions 1/v, not variances.",
    lambda m, v, p, s: ((m / v - s) * (v - 1 / p), v - 1 / p),
    "a negative precision is refused: a factor may have made q wider.",
    lambda m, v, p, s: _cavity(m, v, np.maximum(p, 0), s),
    "the old variance in the mean: divide by the precision that is left.",
    lambda m, v, p, s: (m - v * s, _cavity(m, v, p, s)[1]),
    "the mean is left as it is: the factor pulled the mean as well: use its shift.",
    lambda m, v, p, s: (m, _cavity(m, v, p, s)[1]),
)
def _cavity(m: Any, v: Any, precision: Any, shift: Any) -> Any:
    rest = 1 / v - precision
    return (m / v - shift) / rest, 1 / rest


_TRUE_NOISES = (0.5, 1.0, 3.0)
_FACTOR = 1.6  # by which the learned noise may be off; after 40 epochs from (6, 6) it is 4.8


@lru_cache(maxsize=32)
def _beliefs(alpha: float, beta: float, epochs: int) -> tuple[Any, float]:
    """Fit PBP to six data sets, and return how its two kinds of sd compare with the truth.

    The first result is (learnt noise sd)/(true noise sd) for each of ``_TRUE_NOISES`` ``[3]``, a
    geometric mean over two data sets. The second is (mean epistemic sd)/(rms error of the predicted
    mean), a geometric mean over all six. The noise prior is Gamma(``alpha``, ``beta``).
    """
    noise, doubt, x = [], [], np.linspace(-0.5, 0.5, 51)[:, None]
    for true in _TRUE_NOISES:
        for seed in (200, 201):
            data = datasets.sinusoid(n=32, noise_std=true, seed=seed)
            fit = pbp.fit(data.x, data.y, noise_prior=(alpha, beta), epochs=epochs, seed=seed)
            p = fit.predict(x)
            noise.append(fit.noise_std / true)
            doubt.append(p.epistemic_std.mean() / metrics.rmse(data.truth(x)[:, 0], p.mean))
    ratios = np.exp(np.log(noise).reshape(len(_TRUE_NOISES), -1).mean(axis=1))
    return ratios, float(np.exp(np.log(doubt).mean()))


def _fault_of_plan(answer: Any, _: Any) -> str:
    alpha, beta, epochs = answer
    if not (alpha > 1 and beta > 0 and 1 <= epochs <= 1000) or epochs % 1:
        return "no plan"
    try:
        ratios, doubt = _beliefs(float(alpha), float(beta), int(epochs))
    except DivergedError:
        return "the noise is believed too small"
    if ratios.max() > _FACTOR:
        return "the noise is believed too large"
    if ratios.min() < 1 / _FACTOR:
        return "the noise is believed too small"
    # The ratio is about 0.9 after 40 epochs and 0.3 after 200.
    return "the doubt is counted away" if doubt < 0.55 else ""


exercise("7.10", (32,), judge=_fault_of_plan)(lambda n: np.array([6.0, 0.2, 40.0]))


def _record_of_alpha(eps: float, n: int, seed: int) -> tuple[Any, Any]:
    """Return how many points were learnt, from 0 to ``n``, and PBP's α after them, ``[41]`` each.

    After each point's update of α and β, ``eps`` is added to 1/α and to 1/β.
    """
    rng, alpha, beta, log = np.random.default_rng(seed), 6.0, 6.0, [6.0]
    marks = np.linspace(0, n, 41).astype(int)
    for i, r in enumerate(rng.normal(0.0, 0.5, n)):
        a, b = _gamma(alpha, beta, r, 0.005 + 0.5 / (20.0 + i))
        alpha, beta = 1 / (1 / a + eps), 1 / (1 / b + eps)
        if i + 1 in marks[1:]:
            log.append(alpha)
    return marks.astype(float), np.array(log)


@exercise(
    "7.11",
    *(_record_of_alpha(1e-4, 600, 0), _record_of_alpha(2e-5, 800, 1)),
    *(_record_of_alpha(3e-6, 600, 2), _record_of_alpha(4e-7, 1200, 3)),
    "taken to be at rest: in some logs α is still rising: draw it beside 6 + points/2.",
    lambda points, alpha: 0.5 / alpha[-1] ** 2,
    "the half is missing: a point counts one half: at rest, eps α² = ½.",
    lambda points, alpha: 1 / alpha[-1] ** 2,
    overall=lambda answers: "the same for all" if len(set(map(float, answers))) == 1 else "",
    is_measured=True,
    rtol=0.4,
)
def _eps_of(points: Any, alpha: Any) -> Any:
    """Estimate ``eps`` from a record of α, which grows by about ½ − eps α² with each point."""
    steps, middle = np.diff(alpha) / np.diff(points), 0.5 * (alpha[1:] + alpha[:-1])
    return -np.polyfit(middle**2, steps, 1)[0]
