"""Chapter 7: right answers written in another way than the references, and wrong ones."""

import decimal
import math
from typing import Any

import numpy as np
import tensorflow as tf
from scipy import integrate, special, stats
from scipy.integrate import trapezoid

from answers.forms import single, tensors
from bdl_teach.backend import tfp


def relu(m: Any, v: Any) -> Any:
    """By Var = v Φ − E[relu(a)] E[relu(−a)]."""
    s = v**0.5
    up, down = (
        sign * m * stats.norm.cdf(sign * m / s) + s * stats.norm.pdf(m / s) for sign in (1, -1)
    )
    return up, v * stats.norm.cdf(m / s) - up * down


def layer(mean: Any, var: Any, a: Any, b: Any) -> Any:
    """By E[w²] E[z²] − m_w² m_z²."""
    z, z2 = np.concatenate([mean, [1.0]]), np.concatenate([var + mean**2, [1.0]])
    n = len(z)
    return a @ z / n**0.5, ((a**2 + b) @ z2 - a**2 @ z**2) / n


def gamma(alpha: Any, beta: Any, r: Any, v: Any) -> Any:
    """With v_k (α + k) = v (α + k) + β, so that differences of variances are products."""
    v0, v1, v2 = v + beta / (alpha - 1), v + beta / alpha, v + beta / (alpha + 1)
    down1, down2 = beta / (alpha * (alpha - 1)) / v0, beta / (alpha * (alpha + 1)) / v1
    l10 = -0.5 * np.log1p(-down1) - 0.5 * r**2 * down1 / v1
    l21 = -0.5 * np.log1p(-down2) - 0.5 * r**2 * down2 / v2
    new = 1 / np.expm1(np.log1p(1 / alpha) + l21 - l10)
    return new, new * np.exp(-l10) * (beta / alpha)


def score(m: Any, v: Any, a: Any, b: Any, c: Any, s: Any, y: Any) -> Any:
    standardised = stats.norm(m, (v + b / (a - 1)) ** 0.5).logpdf((y - c) / s)
    return np.mean(standardised) - np.log(s)


def relu_by_mask(m: Any, v: Any) -> Any:
    """Both moments where they are no zeros in floating point, by indexing arrays."""
    alpha, mean, var = m / np.sqrt(v), np.zeros_like(m), np.zeros_like(v)
    kept = alpha > -38
    for i in np.flatnonzero(kept):
        mean[i], var[i] = RIGHT["7.4"](m[i], v[i])
    return mean, var


def guarded(y: float, m: float, v: float, alpha: float, beta: float) -> float:
    """For one point, in plain Python."""
    total = v + beta / (alpha - 1)
    return -math.log(2 * math.pi * total) / 2 - (y - m) ** 2 / (2 * total) if total > 0 else 0.0


RIGHT: dict[str, Any] = {
    "7.1": lambda y, m, v, a, b: stats.norm(m, (v + b / (a - 1)) ** 0.5).logpdf(y),
    "7.3": "bdf",
    "7.4": relu,
    "7.5": layer,
    "7.6": gamma,
    "7.7": score,
    "7.9": lambda m, v, p, s: ((m - v * s) / (1 - v * p), v / (1 - v * p)),
}


def tf_log_z(y: Any, m: Any, v: Any, a: Any, b: Any) -> Any:
    return tfp.distributions.Normal(m, tf.sqrt(v + b / (a - 1))).log_prob(y)


def tf_relu(m: Any, v: Any) -> Any:
    s, normal = tf.sqrt(v), tfp.distributions.Normal(0.0, 1.0)
    mean = m * normal.cdf(m / s) + s * normal.prob(m / s)
    second = (m**2 + v) * normal.cdf(m / s) + m * s * normal.prob(m / s)
    return mean, second - mean**2


def by_natural_parameters(m: Any, v: Any, p: Any, s: Any) -> Any:
    first, second = m / v - s, -0.5 / v + 0.5 * p
    return -0.5 * first / second, -0.5 / second


def paper_relu(m: Any, v: Any, log_cdf: Any = special.log_ndtr) -> Any:
    """With the ratio φ/Φ, by logarithms."""
    a = m / v**0.5
    ratio = np.exp(stats.norm.logpdf(a) - log_cdf(a))
    given = m + v**0.5 * ratio
    mean = special.ndtr(a) * given
    var = mean * given * special.ndtr(-a) + special.ndtr(a) * v * (1 - ratio * (ratio + a))
    return mean, var


def layer_by_loops(mean: Any, var: Any, a: Any, b: Any) -> Any:
    n = len(mean) + 1
    rows = [
        (
            sum(w * z for w, z in zip(row, [*mean, 1], strict=True)) / n**0.5,
            sum(
                w * w * q + u * (z * z + q)
                for w, u, z, q in zip(row, spread, [*mean, 1], [*var, 0], strict=True)
            )
            / n,
        )
        for row, spread in zip(a, b, strict=True)
    ]
    return [list(part) for part in zip(*rows, strict=True)]


def tf_layer(mean: Any, var: Any, a: Any, b: Any) -> Any:
    z, q = tf.concat([mean, [1.0]], 0), tf.concat([var, [0.0]], 0)
    out = tf.linalg.matvec(a**2 + b, q) + tf.linalg.matvec(b, z**2)
    return tf.linalg.matvec(a, z) / len(z) ** 0.5, out / len(z)


def gamma_by_fractions(alpha: float, beta: float, r: float, v: float) -> Any:
    """(7.12) with eighty digits."""
    with decimal.localcontext(prec=80):
        a, b, square, w = (decimal.Decimal(float(x)) for x in (alpha, beta, r * r, v))
        totals = w + b / (a - 1), w + b / a, w + b / (a + 1)
        z0, z1, z2 = ((-square / (2 * s)).exp() / s.sqrt() for s in totals)
        new = 1 / (z0 * z2 / z1**2 * (a + 1) / a - 1)
        return float(new), float(1 / (z2 / z1 * (a + 1) / b - z1 / z0 * a / b))


def gamma_by_quotients(alpha: Any, beta: Any, r: Any, v: Any) -> Any:
    """(7.13), the variances' quotients as 1 + u with a small u."""
    ells = []
    for k in (0, 1):
        before, after = v + beta / (alpha + k - 1), v + beta / (alpha + k)
        u = beta / ((alpha + k) * (alpha + k - 1) * after)
        ells.append(np.log1p(u) / 2 - r**2 * u / before / 2)
    new = 1 / np.expm1(ells[1] - ells[0] - np.log1p(-1 / (alpha + 1)))
    return new, new * (beta / alpha) / np.exp(ells[0])


def no_digits(alpha: Any, beta: Any, r: Any, v: Any) -> Any:
    """(7.13) with the ℓ as differences of logarithms."""
    z0, z1, z2 = (stats.norm(0, (v + beta / (alpha + k)) ** 0.5).logpdf(r) for k in (-1, 0, 1))
    new = 1 / np.expm1(z2 - 2 * z1 + z0 + np.log1p(1 / alpha))
    return new, new * beta / alpha * np.exp(z0 - z1)


def stops(at: float) -> Any:
    """An update that stands still from some α on."""
    return lambda a, b, r, v: gamma(a, b, r, v) if a < at else (a, b)


def steps(by: float) -> Any:
    """An update that is off by so much in α from α = 10⁶ on."""
    return lambda a, b, r, v: (gamma(a, b, r, v)[0] + by * (a > 1e6), gamma(a, b, r, v)[1])


def tf_score(m: Any, v: Any, a: Any, b: Any, c: Any, s: Any, y: Any) -> Any:
    normal = tfp.distributions.Normal(m * s + c, s * tf.sqrt(v + b / (a - 1)))
    return tf.reduce_mean(normal.log_prob(y))


# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = [
    ("7.1", guarded),
    ("7.4", relu_by_mask),
    (
        "7.9",
        lambda m, v, p, s: (
            [(a / b - d) / (1 / b - c) for a, b, c, d in zip(m, v, p, s, strict=True)],
            [1 / (1 / b - c) for b, c in zip(v, p, strict=True)],
        ),
    ),
    ("7.1", single(RIGHT["7.1"])),
    ("7.1", tensors(tf_log_z)),
    ("7.1", lambda y, m, v, a, b: np.log(stats.norm.pdf(y, m, np.sqrt(v + b / (a - 1))))),
    (
        "7.1",
        lambda y, m, v, a, b: (
            -0.5 * np.log(2 * np.pi * (v * (a - 1) + b) / (a - 1))
            - 0.5 * (y - m) ** 2 * (a - 1) / (v * (a - 1) + b)
        ),
    ),
    ("7.3", "b, d, f"),
    ("7.3", {"(b)", "(d)", "(f)"}),
    ("7.4", single(relu)),
    ("7.4", tensors(tf_relu)),
    ("7.4", paper_relu),
    (
        "7.4",
        lambda m, v: (
            relu(m, v)[0],
            relu(m, v)[0] * (m - relu(m, v)[0]) + v * (0.5 + 0.5 * special.erf(m / np.sqrt(2 * v)))
            if np.all(m / v**0.5 > -3)
            else relu(m, v)[1],
        ),
    ),
    ("7.5", single(layer)),
    ("7.5", tensors(tf_layer)),
    ("7.5", layer_by_loops),
    (
        "7.5",
        lambda m, v, a, b: (
            (a[:, :-1] @ m + a[:, -1]) / np.sqrt(len(m) + 1),
            (b[:, -1] + b[:, :-1] @ m**2 + (a**2 + b)[:, :-1] @ v) / (len(m) + 1),
        ),
    ),
    ("7.6", gamma_by_fractions),
    ("7.6", gamma_by_quotients),
    ("7.6", lambda a, b, r, v: np.array(gamma(a, b, -r, v))[:, None]),
    ("7.6", lambda a, b, r, v: gamma(np.float64(a), np.float64(b), np.float64(r), np.float64(v))),
    ("7.7", single(score)),
    ("7.7", tensors(tf_score)),
    (
        "7.7",
        lambda m, v, a, b, c, s, y: np.mean(
            [
                stats.norm(i * s + c, s * (j + b / (a - 1)) ** 0.5).logpdf(k)
                for i, j, k in zip(m, v, y, strict=True)
            ]
        ),
    ),
    ("7.7", lambda m, v, a, b, c, s, y: np.array([score(m, v, a, b, c, s, y)])),
    ("7.9", single(RIGHT["7.9"])),
    ("7.9", tensors(by_natural_parameters)),
    ("7.9", by_natural_parameters),
    ("7.9", lambda m, v, p, s: [(m / v - s) * (v + v**2 * p / (1 - v * p)), 1 / (1 / v - p)]),
]

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("7.4", "expected", lambda m, v: RIGHT["7.4"](m, v + 1e-6)),
    ("7.5", "expected", lambda m, v, a, b: RIGHT["7.5"](m, np.minimum(v, 1), a, b)),
    ("7.9", "expected", lambda m, v, p, s: RIGHT["7.9"](m, np.maximum(v, 0.01), p, s)),
    ("7.7", "expected", lambda *case: abs(RIGHT["7.7"](*case))),
    ("7.7", "expected", lambda *case: min(RIGHT["7.7"](*case), 0.0)),
    ("7.1", "alpha=6, beta=6 expected", lambda y, m, v, a, b: 0.0),
    ("7.9", "expected", lambda m, v, p, s: RIGHT["7.9"](m, v, np.where(p < 0, 0.2, p), s)),
    ("7.1", "expected", lambda y, m, v, a, b: stats.t(2 * a, m, (b / a + v) ** 0.5).logpdf(y)),
    ("7.1", "expected", lambda y, m, v, a, b: stats.laplace(m, (v + b / (a - 1)) ** 0.5).logpdf(y)),
    ("7.4", "expected", lambda m, v: (relu(m, v)[0], v)),
    ("7.4", "expected", lambda m, v: (relu(m, v)[0], v * (m > 0))),
    ("7.5", "expected", lambda m, v, a, b: (layer(m, v, a, b)[0], abs(a @ np.append(v, 0)))),
    ("7.6", "digits are lost", no_digits),
    ("7.6", "expected", stops(1e5)),
    ("7.6", "expected", stops(1e11)),
    ("7.6", "expected", steps(1.0)),
    ("7.7", "expected", lambda m, v, a, b, c, s, y: score(m, v, 9.0, 2.0, c, s, y)),
    ("7.9", "expected", lambda m, v, p, s: ((m / v - s) / (1 / v + p), 1 / (1 / v - p))),
    ("7.3", "statement a is not true", "abdf"),
]


# The two experiments: other ways than the references'.


def rising(points: Any, alpha: Any) -> Any:
    """The eps with which α′ = 1/(1/(α + ½) + eps) comes nearest to the log."""

    def off(log_eps: float) -> float:
        rest = math.sqrt(0.5) * math.exp(-0.5 * log_eps)
        start = math.atanh(alpha[0] / rest) if alpha[0] < rest else 0.0
        return float(np.square(rest * np.tanh(points / (2 * rest) + start) - alpha).sum())

    grid = np.linspace(math.log(1e-9), math.log(1e-2), 2001)
    return math.exp(min(grid, key=off))


RIGHT["7.10"] = lambda n: (2.0, 0.1, 40)
RIGHT["7.11"] = rising
ALSO += [
    ("7.10", lambda n: (6, 0.3, 30)),
    ("7.10", lambda n: np.array([6.0, 0.2, 20.0])),
    ("7.11", lambda p, a: np.array([rising(p, a)])),
    ("7.11", lambda p, a: float(np.median((0.5 - np.gradient(a, p))[20:] / a[20:] ** 2))),
]
WRONG += [
    ("7.10", "believed too large", lambda n: (6.0, 6.0, 200)),
    ("7.10", "believed too small", lambda n: (6.0, 0.01, 10)),
    ("7.10", "doubt is counted away", lambda n: (6.0, 0.2, 400)),
    ("7.10", "no plan", lambda n: (6.0, 0.2, 2.5)),
    ("7.10", "your answer contains NaN", lambda n: (6.0, float("nan"), 40)),
    ("7.10", "expected shape (3,), got", lambda n: (6.0, 0.2)),
    ("7.11", "same for all", lambda p, a: 1e-6),
    ("7.11", "sign is wrong everywhere", lambda p, a: -rising(p, a)),
    ("7.11", "contains NaN", lambda p, a: float("nan")),
]


# A label learnt, and what one point has contributed.


def match(w: Any, p: Any, f: Any) -> Any:
    weights = p * f / trapezoid(p * f, w)
    mean = trapezoid(w * weights, w)
    return mean, trapezoid(w**2 * weights, w) - mean**2


def label(m: Any, v: Any, x: Any, t: Any) -> Any:
    """In closed form: h (h + z) for the bracket, with h = φ(z)/Φ(z)."""
    total = 1 + x * x * v
    z = t * x * m / total**0.5
    h = np.exp(stats.norm.logpdf(z) - special.log_ndtr(z))
    return m + v * t * x * h / total**0.5, v - v**2 * x * x / total * h * (h + z)


def label_on_a_grid(m: Any, v: Any, x: Any, t: Any) -> Any:
    """By brute force, weight by weight."""
    pairs = []
    for one in zip(m, v, x, t, strict=True):
        mean, var, at, sign = (float(value) for value in one)
        w = mean + var**0.5 * np.linspace(-12, 12, 20_001)
        density = stats.norm.pdf(w, mean, var**0.5) * special.ndtr(sign * at * w)
        pairs.append(match(w, 1.0, density))
    return np.transpose(pairs)


def label_by_ratio(m: Any, v: Any, x: Any, t: Any, above: Any = special.ndtr) -> Any:
    """As it stands, φ over Φ; something else may stand for Φ."""
    root = (1 + x**2 * v) ** 0.5
    z = t * x * m / root
    h = np.exp(-(z**2) / 2) / (2 * np.pi) ** 0.5 / above(z)
    return m + v * t * x / root * h, v - (v * x / root) ** 2 * (h * h + z * h)


def label_by_differences(m: Any, v: Any, x: Any, t: Any) -> Any:
    def log_z(m: Any, v: Any) -> Any:
        return np.log(special.ndtr(t * x * m / np.sqrt(1 + x**2 * v)))

    gm = (log_z(m + 1e-5, v) - log_z(m - 1e-5, v)) / 2e-5
    gv = (log_z(m, v * 1.00001) - log_z(m, v * 0.99999)) / (2e-5 * v)
    return m + v * gm, v - v**2 * (gm**2 - 2 * gv)


def label_by_tape(m: Any, v: Any, x: Any, t: Any) -> Any:
    m, v = tf.constant(m), tf.constant(v)
    with tf.GradientTape() as tape:
        tape.watch((m, v))
        z = t * x * m / tf.sqrt(1 + x**2 * v)
        log_z = tfp.distributions.Normal(np.float64(0), np.float64(1)).log_cdf(z)
    gm, gv = tape.gradient(log_z, (m, v))
    return m + v * gm, v - v**2 * (gm**2 - 2 * gv)


def prior(w: Any, m: Any, v: Any) -> Any:
    return stats.norm(m, v**0.5).pdf(w)


def less(moments: Any, m: Any, v: Any) -> Any:
    return 1 / moments[1] - 1 / v, moments[0] / moments[1] - m / v


def site(w: Any, m: Any, v: Any, f: Any) -> Any:
    return less(match(w, prior(w, m, v), f), m, v)


def site_by_sums(w: Any, m: Any, v: Any, f: Any) -> Any:
    share = prior(w, m, v) * f / np.sum(prior(w, m, v) * f)
    return less((share @ w, np.cov(w, aweights=share, ddof=0)), m, v)


def site_by_simpson(w: Any, m: Any, v: Any, f: Any) -> Any:
    z, first, second = (integrate.simpson(w**k * prior(w, m, v) * f, x=w) for k in (0, 1, 2))
    return less((first / z, second / z - (first / z) ** 2), m, v)


RIGHT |= {"7.2": label, "7.8": site}
ALSO += [
    ("7.2", label_by_tape),
    ("7.2", label_on_a_grid),
    ("7.2", label_by_ratio),
    ("7.2", single(label_by_ratio)),
    ("7.2", label_by_differences),
    (
        "7.2",
        lambda *v: label_by_ratio(*v, above=lambda z: (1 + special.erf(z / 2**0.5)) / 2),
    ),
    ("7.2", single(label)),
    ("7.2", lambda *v: [list(part) for part in label(*v)]),
    ("7.8", site_by_sums),
    ("7.8", site_by_simpson),
]
WRONG += [
    ("7.2", "a pair, each shape (1,), got shape (1,)", lambda *v: label(*v)[0]),
    ("7.2", "expected", lambda m, v, x, t: label_by_ratio(np.clip(m, -3, 3), v, x, t)),
    ("7.2", "expected", lambda m, v, x, t: (m, v)),
    ("7.8", "expected", lambda w, m, v, f: less(match(w, prior(w, m, v**0.5), f), m, v)),
    ("7.8", "expected", lambda w, m, v, f: less(match(w, prior(w, m, v**2), f), m, v)),
    ("7.8", "expected", lambda w, m, v, f: site(w, m, v, np.log(f))),
]
