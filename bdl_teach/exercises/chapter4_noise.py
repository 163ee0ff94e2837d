"""Exercises 4.3, 4.5 and 4.6: what is independent, and what averages out."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.exercises._engine import Choice, Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(5)
_EPS = (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)  # what programs add below a line

INDEPENDENCE = Choice(
    "4.3",
    "Explain: what is independent of what?",
    "4.4",
    {"a", "c", "e"},
    statements={
        "a": "the weights of two units are different weights, so their outputs are independent.",
        "b": "rows that share one W covary: Σ_i x_mi x_ni σ_i² is not 0 in general.",
        "c": "each row has its own ζ, and ζ is all the randomness that there is.",
        "d": "two evaluations at the same x would give two values: there is no function behind it.",
        "e": "each single output has the same distribution; a sum over rows needs no more than "
        "that for its mean.",
    },
)


def _variance(n_data: Any, size: Any, var: Any, cov: Any) -> Any:
    return n_data**2 * (var / size + (size - 1) / size * cov)


MINIBATCH = Exercise(
    "4.5",
    "Change: the variance of a minibatch's gradient",
    "4.1",
    _variance,
    (
        (1000, 1, 2.0, 0.5),
        (1000, 10, 2.0, 0.5),
        (743, 7, 2.31, -0.17),
        (513, 64, 1.53, 1.07),
        (60000, 128, 0.3, 0.0),
        (90000, 2000, 0.004, 2e-5),
    ),
    (
        Mistake(
            "the covariance is missing",
            "this is right only for independent points; M(M−1) pairs covary.",
            lambda n, m, v, c: n**2 * v / m,
        ),
        Mistake(
            "N for N²",
            "the cost is scaled by N/M, its variance by (N/M)².",
            lambda n, m, v, c: n * (v / m + (m - 1) / m * c),
        ),
        Mistake(
            "N/M not squared",
            "a factor in front of a sum enters its variance squared: (N/M)².",
            lambda n, m, v, c: n * (v + (m - 1) * c),
        ),
        Mistake(
            "the factor N² is missing",
            "this is the variance of the *mean* over the minibatch; the estimate is N times it.",
            lambda n, m, v, c: v / m + (m - 1) / m * c,
        ),
        Mistake(
            "a point paired with itself",
            "of the M² pairs, M are a point with itself: they carry the variance.",
            lambda n, m, v, c: n**2 * (v / m + c),
        ),
        Mistake(
            "pairs counted once",
            "each pair stands twice in the square of a sum.",
            lambda n, m, v, c: n**2 * (v / m + (m - 1) / (2 * m) * c),
        ),
        Mistake(
            "pairs counted twice",
            "of i and j, M(M−1) ordered pairs can be made: both orders are in this number.",
            lambda n, m, v, c: n**2 * (v / m + 2 * (m - 1) / m * c),
        ),
        Mistake(
            "pairs of all data",
            "only the M points of the minibatch are in the sum: M(M−1) pairs.",
            lambda n, m, v, c: (n / m) ** 2 * (m * v + n * (n - 1) * c),
        ),
        Mistake(
            "the factor N/M is missing",
            "this is the variance of the plain sum; the minibatch stands for all N points.",
            lambda n, m, v, c: m * v + m * (m - 1) * c,
        ),
        Mistake(
            "nothing averages out",
            "the variances fall as 1/M.",
            lambda n, m, v, c: n**2 * (v + (m - 1) / m * c),
        ),
        Mistake(
            "standard deviation for variance",
            "no root: the exercise asks for the variance.",
            lambda n, m, v, c: np.sqrt(_variance(n, m, v, c)),
        ),
    ),
)


def _ratio(x: Any) -> Any:
    square = (x / np.max(np.abs(x))) ** 2
    return square.sum() ** 2 / (square**2).sum()


def _gain(x: Any) -> Any:
    """(4.4) as it stands."""
    return (x**2).sum() ** 2 / (x**4).sum()


# Ordinary batches, and among them those where what one might scale by is 0: the first input, the
# last, the largest, the sum, the spread, the median. Then the sizes that the exercise speaks of.
_BATCHES = (
    _RNG.normal(size=7),
    _RNG.uniform(0.5, 1.5, 20),
    _A([-3.0]),
    np.full(8, 1.3),
    _A([0.0, 0.0, -2.0, 0.0, -1.1]),
    _A([1.5, -2.5, 3.0, -2.0, 0.0]),
    _A([0.7, 0.0, 2.2]),
    1e200 * _A([1.0, -2.0, 0.5]),
    1e-120 * _A([3.0, 1.0]),
    1e-83 * _A([3.0, -2.0, 1.0]),
    _A([1e-120, -1e200, 3e199, 1.0]),
)

RATIO = Exercise(
    "4.6",
    "Break: a gain that cannot overflow",
    "4.2",
    _ratio,
    tuple((x,) for x in _BATCHES),
    (
        Mistake(
            "overflow",
            "x or a power of it leaves the floating-point numbers (float64 holds 10^±308, "
            "float32 10^±38); the ratio does not depend on the scale of x, so choose one.",
            (
                _gain,
                lambda x: ((x**2).sum() / np.sqrt((x**4).sum())) ** 2,
                lambda x: (np.linalg.norm(x) / np.linalg.norm(x, 4)) ** 4,
                lambda x: _gain(x / np.linalg.norm(x)),
                lambda x: _gain(x / np.sqrt((x**2).mean())),
                lambda x: _ratio(np.sqrt(x**2)),
                lambda x: np.exp(2 * np.log((x**2).sum()) - np.log((x**4).sum())),
            ),
            breaks=True,
        ),
        Mistake(
            "a scale that can be 0",
            "the sum, the mean, the spread or one of the inputs may be 0, or far below the rest; "
            "divide by the largest |x|.",
            tuple(
                lambda x, scale=scale: _gain(x / scale(x))
                for scale in (
                    *(np.sum, np.mean, np.max, np.min, np.std, np.median, np.ptp),
                    lambda x: np.median(np.abs(x)),
                    lambda x: x[0],
                    lambda x: x[-1],
                )
            ),
            breaks=True,
        ),
        Mistake(
            "only the large ones are scaled",
            "the fourth power of 10⁻¹²⁰ is 0 in floating point: divide small inputs by their "
            "largest as well.",
            lambda x: _gain(x / max(np.abs(x).max(), 1.0)),
            breaks=True,
        ),
        Mistake(
            "eps in the denominator",
            "inputs of 10⁻¹²⁰ are small on purpose: add nothing, and set no least value.",
            tuple(
                face
                for eps in _EPS
                for face in (
                    lambda x, eps=eps: _gain(x / (np.abs(x).max() + eps)),
                    lambda x, eps=eps: (x**2).sum() ** 2 / ((x**4).sum() + eps),
                )
            ),
            breaks=True,
        ),
        Mistake(
            "upside down",
            "the shared variance stands above: the gain is at least 1.",
            (lambda x: 1 / _ratio(x), lambda x: 1 / _gain(x)),
            breaks=True,
        ),
        Mistake(
            "the number of points",
            "M is the gain only if all |x| are equal.",
            lambda x: float(len(x)),
        ),
        Mistake(
            "x for x²",
            "the two sums are over x² and x⁴.",
            (
                lambda x: x.sum() ** 2 / (x**2).sum(),
                lambda x: (x / np.abs(x).max()).sum() ** 2 / ((x / np.abs(x).max()) ** 2).sum(),
            ),
            breaks=True,
        ),
        Mistake(
            "the square is inside",
            "(Σx²)² and Σx⁴ are not the same: square after the sum above.",
            lambda x: (x**4).sum() / (x**4).sum(),
            breaks=True,
        ),
        Mistake(
            "the square is missing",
            "the numerator is (Σx²)², the square of the sum.",
            (
                lambda x: (x**2).sum() / (x**4).sum(),
                lambda x: ((x / np.abs(x).max()) ** 2).sum() / ((x / np.abs(x).max()) ** 4).sum(),
            ),
            breaks=True,
        ),
        Mistake(
            "divided by M",
            "the gain itself is asked for, not its share of M.",
            (lambda x: _ratio(x) / len(x), lambda x: _gain(x) / len(x)),
            breaks=True,
        ),
    ),
)

EXERCISES = (INDEPENDENCE, MINIBATCH, RATIO)
