"""Chapter 10: right answers computed differently than the references, and wrong answers."""

from typing import Any

import numpy as np

from answers.forms import reference
from bdl_teach.densities import Gaussian
from bdl_teach.methods import bbb, laplace, point


def draw(m: Any, c: Any, e: Any) -> Any:
    return m + np.linalg.cholesky(c) @ e


def within(z: Any, rule: Any = np.hypot) -> Any:
    """Return a coverage answer; `rule` combines two sds into one width."""
    return lambda y, m, e, s: np.mean(abs(y - m) <= z * rule(e, s))


def bands(problems: Any, x_new: Any, members: int, noise: float = 1.0, **options: Any) -> Any:
    made = []
    for x, y in problems:
        f = [
            point.fit(x, y, hidden_units=(20,), seed=50 + k, **options).predict(x_new).mean
            for k in range(members)
        ]
        made.append((np.mean(f, axis=0), np.sqrt(np.var(f, axis=0) + noise**2)))
    return made


def linearised(problems: Any, x_new: Any, **around: Any) -> Any:
    """Draw fifty functions of the linearised Laplace fit to each data set."""
    made = []
    for x, y in problems:
        fit = laplace.fit(x, y, prior=Gaussian(3.0), hidden_units=(20,), **around)
        f, rows = laplace.jacobian(fit.network, fit.mean, x_new)
        made.append(f + fit.spread.draw(50, 1) @ rows.T)
    return made


def alike(problems: Any, x_new: Any) -> Any:
    return [np.tile(draws.mean(axis=0), (50, 1)) for draws in linearised(problems, x_new)]


def noise_along_x(problems: Any, x_new: Any) -> Any:
    return np.random.default_rng(0).permuted(np.array(linearised(problems, x_new)), axis=1)


def mean_field(problems: Any, x_new: Any) -> Any:
    given: dict[str, Any] = {"prior": Gaussian(3.0), "hidden_units": (20,)}
    return [bbb.fit(x, y, **given).predict(x_new, 50).samples for x, y in problems]


def prior_alone(problems: Any, x_new: Any) -> Any:
    slopes = np.random.default_rng(1).normal(0.0, 30.0, (6, 50, 1))
    return slopes * (x_new[:, 0] + 0.5)


RIGHT: list[tuple[str, Any]] = [
    ("10.9", lambda t: np.where(t < 500, 0.3, 0)),
]

WRONG: list[tuple[str, str, Any]] = [
    ("10.1", "expected", lambda y, f, s: max(reference("10.1")(y, f, s), -20)),
    ("10.2", "expected", within(1.96, lambda e, s: (e**2 + s**2 + 1e-8) ** 0.5)),
    ("10.3", "expected", lambda u, f, s: reference("10.3")(np.clip(u, 0.1, 0.9), f, s)),
    ("10.6", "expected", lambda y, m, s: min(np.sqrt(np.mean(((y - m) / s) ** 2)), 10.0)),
    ("10.9", "no share", lambda t: -0.1 + 0.0 * t),
    ("10.9", "still explores", lambda t: 0.05 + 0.0 * t),
    ("10.9", "too little is learnt", lambda t: 1.0 * (t < 50)),
    ("10.10", "no sd", lambda p, x: [(0 * x[:, 0], -1 + 0 * x[:, 0]) for _ in p]),
    ("10.10", "too sure among", lambda p, x: bands(p, x, 3, noise=0.2)),
    ("10.10", "the gap is missed", lambda p, x: bands(p, x, 1, prior=Gaussian(3.0))),
    ("10.10", "being vague", lambda p, x: bands(p, x, 1, noise=9.0)),
    ("10.10", "one band for", lambda p, x: bands(p[:1], x, 7, prior=Gaussian(10.0)) * len(p)),
    ("10.12", "draws are alike", alike),
    ("10.12", "neighbouring inputs", noise_along_x),
    ("10.12", "known not to pay", prior_alone),
    ("10.12", "hardly tried", mean_field),
    ("10.12", "the same draws for", lambda p, x: linearised(p[:1], x) * len(p)),
]
