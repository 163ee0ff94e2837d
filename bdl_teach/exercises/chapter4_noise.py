"""Exercises 4.3, 4.5 and 4.6: what is independent, and what averages out."""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach.exercises.engine import Choice, Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(5)

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
    ((1000, 1, 2.0, 0.5), (1000, 10, 2.0, 0.5), (500, 64, 1.5, 1.0), (60000, 128, 0.3, 0.0)),
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


def _not_finite(outcomes: Any, expected: Any) -> bool:
    """The ordinary batches are right, and the extreme ones overflow or underflow."""
    good = all(
        isinstance(o, np.ndarray) and o.shape == e.shape and np.allclose(o, e)
        for o, e in zip(outcomes[:3], expected[:3], strict=True)
    )
    return good and any(
        isinstance(o, np.ndarray) and not np.isfinite(o).all() for o in outcomes[3:]
    )


RATIO = Exercise(
    "4.6",
    "Break: a gain that cannot overflow",
    "4.2",
    _ratio,
    (
        (np.ones(8),),
        (_RNG.uniform(0.5, 1.5, 20),),
        (_A([0.0, 0.0, -2.0]),),
        (1e200 * _A([1.0, -2.0, 0.5]),),
        (1e-120 * _A([3.0, 1.0]),),
    ),
    (
        Mistake(
            "overflow",
            "x⁴ leaves the floating-point numbers; the ratio does not depend on the scale of x.",
            recognises=_not_finite,
        ),
        Mistake(
            "upside down",
            "the shared variance stands above: the gain is at least 1.",
            lambda x: 1 / _ratio(x),
        ),
        Mistake(
            "the number of points",
            "M is the gain only if all |x| are equal.",
            lambda x: float(len(x)),
        ),
        Mistake(
            "x for x²",
            "the two sums are over x² and x⁴.",
            lambda x: x.sum() ** 2 / (x**2).sum(),
        ),
        Mistake(
            "the square is inside",
            "(Σx²)² and Σx⁴ are not the same: square after the sum above.",
            lambda x: (x**4).sum() / (x**4).sum(),
        ),
        Mistake(
            "the square is missing",
            "the numerator is (Σx²)², the square of the sum.",
            lambda x: (x**2).sum() / (x**4).sum(),
        ),
    ),
)

EXERCISES = (INDEPENDENCE, MINIBATCH, RATIO)
