"""Chapter 1: right answers computed differently than the references, and wrong answers."""

from typing import Any

import numpy as np

from answers.forms import reference
from bdl_teach import features


def by_freedom(problems: Any) -> Any:
    """Estimate each noise sd with n − 6 degrees of freedom after six bumps."""
    out = []
    for x, y in problems:
        phi = features.bumps(x, 6)
        rest = np.linalg.lstsq(phi, y, rcond=None)[1][0]
        out.append((rest / (len(y) - 6)) ** 0.5)
    return out


def training_errors(problems: Any, degree: int) -> Any:
    lines = (np.polynomial.Polynomial.fit(x[:, 0], y[:, 0], degree) for x, y in problems)
    return [np.std(y[:, 0] - f(x[:, 0])) for f, (x, y) in zip(lines, problems, strict=True)]


RIGHT: list[tuple[str, Any]] = [
    ("1.10", lambda problems: 1.05 * np.array(by_freedom(problems))),
]

WRONG: list[tuple[str, str, Any]] = [
    ("1.2", "expected", lambda x, y, s, p: reference("1.2")(x, y, s, max(p, 0.01))),
    ("1.5", "expected", lambda y, f, s, a: reference("1.5")(y, f, s, np.clip(a, -700, 700))),
    ("1.9", "outside", lambda seen: np.linspace(-1.5, 1.5, 6)),
    ("1.9", "all in one place", lambda seen: [1.0] * 6),
    ("1.9", "still unsure", lambda seen: np.linspace(-1, 1, 6)),
    ("1.10", "too quiet", lambda problems: training_errors(problems, 7)),
    ("1.10", "too loud", lambda problems: training_errors(problems, 1)),
    ("1.10", "not that of each", lambda problems: np.full(len(problems), 1.4)),
    ("1.10", "not above 0", lambda problems: -np.ones(len(problems))),
]
