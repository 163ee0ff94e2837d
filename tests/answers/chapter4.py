"""Chapter 4: right answers written in another way than the references, and wrong ones."""

from typing import Any

import numpy as np


def moments(x: Any, mu: Any, sigma: Any) -> Any:
    return np.einsum("ni,io->no", x, mu), np.einsum("ni,io->no", x * x, sigma * sigma)


def draw(x: Any, mu: Any, sigma: Any, zeta: Any) -> Any:
    mean, var = moments(x, mu, sigma)
    return mean + var**0.5 * zeta


def covariance(x: Any, sigma: Any) -> Any:
    return x @ np.diag(sigma) @ np.diag(sigma) @ x.T


def flipout(x: Any, mu: Any, sigma: Any, eps: Any, r: Any, s: Any) -> Any:
    rows = zip(x, r, s, strict=True)
    return np.array([a @ (mu + sigma * eps * np.outer(t, q)) for a, q, t in rows])


def ratio(x: Any) -> Any:
    log = 2 * np.log(np.abs(x[x != 0]))
    return np.exp(2 * np.logaddexp.reduce(log) - np.logaddexp.reduce(2 * log))


# Right answers, written in another way than the references.
RIGHT: dict[str, Any] = {
    "4.1": moments,
    "4.2": draw,
    "4.3": "ace",
    "4.4": covariance,
    "4.5": lambda n, m, v, c: (n / m) ** 2 * (m * v + m * (m - 1) * c),
    "4.6": ratio,
    "4.7": flipout,
}

# (exercise, another right answer)
ALSO: list[tuple[str, Any]] = []

# (exercise, what the message must say, wrong answer)
WRONG: list[tuple[str, str, Any]] = [
    ("4.1", "σ for σ²", lambda x, m, s: (x @ m, x * x @ s)),
    ("4.1", "x not squared", lambda x, m, s: (x @ m, x @ (s * s))),
    ("4.1", "squared after the sum", lambda x, m, s: (x @ m, np.square(x @ s))),
    ("4.1", "standard deviation for variance", lambda x, m, s: (x @ m, moments(x, m, s)[1] ** 0.5)),
    ("4.1", "second moment for variance", lambda x, m, s: (x @ m, x**2 @ (s**2 + m**2))),
    ("4.1", "mean and variance swapped", lambda x, m, s: moments(x, m, s)[::-1]),
    ("4.1", "raised", lambda x, m, s: (m @ x, s @ x)),
    ("4.2", "variance for standard deviation", lambda x, m, s, z: x @ m + (x**2 @ s**2) * z),
    ("4.2", "ε times x·σ", lambda x, m, s, z: x @ m + (x @ s) * z),
    ("4.2", "ε times |x|·σ", lambda x, m, s, z: x @ m + (abs(x) @ s) * z),
    ("4.2", "one draw for all rows", lambda x, m, s, z: x @ m + (x**2 @ s**2) ** 0.5 * z[0]),
    ("4.2", "the mean is missing", lambda x, m, s, z: draw(x, m, s, z) - x @ m),
    ("4.2", "the scale is missing", lambda x, m, s, z: x @ m + z),
    ("4.3", "statement b is not true", {"a", "b", "c", "e"}),
    ("4.3", "statement d is not true", {"a", "c", "d", "e"}),
    ("4.3", "statement e was left out", ["a", "c"]),
    ("4.3", "statement a was left out", set()),
    ("4.3", "expected a set of letters", {"a", "z"}),
    ("4.4", "only the diagonal", lambda x, s: np.diag((x**2) @ s**2)),
    ("4.4", "σ for σ²", lambda x, s: x @ np.diag(s) @ x.T),
    ("4.4", "columns for rows", lambda x, s: x.T @ x * s**2),
    ("4.4", "the weights' variance is missing", lambda x, s: x @ x.T),
    ("4.4", "x squared", lambda x, s: (x**2 * s**2) @ (x**2).T),
    ("4.5", "the covariance is missing", lambda n, m, v, c: n * n * v / m),
    ("4.5", "N for N²", lambda n, m, v, c: n * (v + (m - 1) * c) / m),
    ("4.5", "a point paired with itself", lambda n, m, v, c: n**2 * (v + m * c) / m),
    ("4.5", "pairs counted once", lambda n, m, v, c: n**2 * (v + (m - 1) * c / 2) / m),
    ("4.5", "the factor N/M is missing", lambda n, m, v, c: m * (v + (m - 1) * c)),
    ("4.6", "overflow", lambda x: np.sum(x**2) ** 2 / np.sum(x**4)),
    ("4.6", "overflow", lambda x: (x @ x) ** 2 / (x**2 @ x**2)),
    ("4.6", "upside down", lambda x: 1 / ratio(x)),
    ("4.6", "the number of points", lambda x: len(x)),
    ("4.6", "x for x²", lambda x: np.sum(x) ** 2 / np.sum(x**2)),
    ("4.7", "no signs", lambda x, m, d, e, r, s: x @ m + x @ (d * e)),
    ("4.7", "signs on the mean", lambda x, m, d, e, r, s: (x * s) @ (m + d * e) * r),
    ("4.7", "only the signs of the inputs", lambda x, m, d, e, r, s: x @ m + x * s @ (d * e)),
    ("4.7", "only the signs of the outputs", lambda x, m, d, e, r, s: x @ m + r * (x @ (d * e))),
    ("4.1", "standard deviations added", lambda x, m, s: (x @ m, x @ s)),
    ("4.2", "ζ is missing", lambda x, m, s, z: x @ m + (x**2 @ s**2) ** 0.5),
    ("4.4", "one ε for all inputs", lambda x, s: np.outer(x @ s, s @ x.T)),
    ("4.5", "N/M not squared", lambda n, m, v, c: n / m * (m * v + m * (m - 1) * c)),
    ("4.5", "the factor N² is missing", lambda n, m, v, c: (v + (m - 1) * c) / m),
    ("4.7", "r and s swapped", lambda x, m, d, e, r, s: x @ m + s * (x * r @ (d * e))),
    (
        "4.7",
        "the first row's signs for all",
        lambda x, m, d, e, r, s: x @ (m + d * e * np.outer(s[0], r[0])),
    ),
    ("4.7", "σ is missing", lambda x, m, d, e, r, s: x @ m + r * ((x * s) @ e)),
]
