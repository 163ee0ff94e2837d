"""Chapter 5: right answers computed differently than the references, and wrong answers."""

from typing import Any

import numpy as np

from answers.forms import reference


def scaled_gain(scale: Any) -> Any:
    """Return an answer that computes the gain after scaling the inputs."""
    return lambda x: np.sum((x / scale(x)) ** 2) ** 2 / np.sum((x / scale(x)) ** 4)


def correlation(x: Any, s: Any, k: Any) -> Any:
    cov = reference("5.4")(x, s, k)
    return cov / np.sqrt(np.outer(np.diag(cov), np.diag(cov)))


RIGHT: list[tuple[str, Any]] = [
    ("5.6", scaled_gain(lambda x: np.abs(x).mean())),
    ("5.8", lambda x, y, m, d, s, budget: np.array({2.0: (4, 64), 0.3: (32, 8)}.get(d, (85, 3)))),
]

WRONG: list[tuple[str, str, Any]] = [
    ("5.2", "one ε for all weights", lambda x, t, a, z: x @ t + x @ (a**0.5 * t) * z),
    (
        "5.2",
        "one draw for several",
        lambda x, t, a, z: x @ t + (x**2 @ (a * t**2)) ** 0.5 * z[0, 0],
    ),
    ("5.5", "1 − M/N", lambda n, m, v, c, d: n * (n * v + n * (m - 1) * c + d * (n - m)) / m),
    ("5.9", "the same in every case", lambda sizes, m, s: np.zeros(len(m))),
    ("5.9", "0 is called 1, 1 is called 0", lambda *g: np.array([1, 0, 2])[reference("5.9")(*g)]),
    ("5.9", "expected numbers, not names", lambda *g: [*map(str, reference("5.9")(*g))]),
    ("5.4", "a correlation for", correlation),
    ("5.4", "expected", lambda x, s, k: reference("5.4")(x, np.clip(s, 0.01, 3), k)),
    ("5.5", "expected", lambda n, m, v, c, d: reference("5.5")(n, m, max(v, 0.01), c, d)),
    ("5.6", "expected", lambda x: reference("5.6")(np.clip(x, -1e75, 1e75))),
    ("5.8", "too few draws of w", lambda x, y, m, d, s, budget: (budget, 1)),
    ("5.8", "too few rows", lambda x, y, m, d, s, budget: (1, budget)),
    ("5.8", "one split for all worlds", lambda x, y, m, d, s, budget: (16, 16)),
    ("5.8", "no split of the budget", lambda x, y, m, d, s, budget: (budget, budget)),
    ("5.8", "M and K are swapped", lambda *world: reference("5.8")(*world)[::-1]),
    (
        "5.8",
        "too few rows here, too few draws there",
        lambda x, y, m, d, s, budget: {2.0: (256, 1), 0.3: (32, 8)}.get(d, (2, 128)),
    ),
]
