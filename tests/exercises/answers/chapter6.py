"""Chapter 6: right answers computed differently than the references, and wrong answers."""

from typing import Any

import numpy as np

from answers.forms import reference


def each_prior(x: Any, y: Any, noise_std: Any, rounds: int = 30) -> Any:
    """Apply (6.16) to one weight after the other (Tipping & Faul)."""
    found = np.zeros(x.shape[::2])
    for x_k, y_k, std in zip(x, y, found, strict=True):
        std[:] = 0.5
        for weight in list(range(len(std))) * rounds:
            others = np.where(np.arange(len(std)) == weight, 0.0, std)
            cov = noise_std**2 * np.eye(len(y_k)) + (x_k * others**2) @ x_k.T
            pulled = np.linalg.solve(cov, x_k[:, weight])
            s, b = pulled @ x_k[:, weight], pulled @ y_k
            std[weight] = np.sqrt(max((b**2 - s) / s**2, 0.0))
    return found


def bar(height: float) -> Any:
    """Return an answer that keeps weights more than `height` standard errors from 0."""

    def keep(x: Any, y: Any, noise_std: Any) -> Any:
        q, r = np.linalg.qr(x)
        inverse = np.linalg.inv(r)
        return [abs(row @ q.T @ y) > height * noise_std * np.linalg.norm(row) for row in inverse]

    return keep


def by_score(score: Any) -> Any:
    """Return an answer that keeps ten weights, those of the highest scores of w and its error."""

    def keep(x: Any, y: Any, noise_std: Any) -> Any:
        errors = noise_std * np.sqrt(np.diag(np.linalg.inv(x.T @ x)))
        values = score(np.linalg.lstsq(x, y, rcond=None)[0], errors)
        return values >= np.sort(values)[-10]

    return keep


RIGHT: list[tuple[str, Any]] = [
    ("6.7", lambda g: np.log(np.abs(1 + 1j * g))),
    ("6.10", each_prior),
    ("6.11", lambda x, y, s: 1.0 * np.array(bar(3.5)(x, y, s))),
]

WRONG: list[tuple[str, str, Any]] = [
    ("6.1", "expected", lambda m, s: np.log(1 + np.minimum(m**2 / s**2, 1e6)).sum() / 2),
    ("6.6", "expected", lambda x, y, s: reference("6.6")(x, y, max(s, 0.01))),
    ("6.7", "ln|γ|", lambda g: np.log(abs(g) + 1e-8)),
    ("6.10", "worse than one prior", lambda x, y, s: np.ones(x.shape[::2])),
    ("6.10", "no weight has room", lambda x, y, s: 0.0 * np.ones(x.shape[::2])),
    (
        "6.10",
        "too little is gained",
        lambda x, y, s: [
            abs(np.linalg.lstsq(a, b, rcond=None)[0]) for a, b in zip(x, y, strict=True)
        ],
    ),
    ("6.10", "no standard deviations", lambda x, y, s: -each_prior(x, y, s)),
    ("6.11", "useless weights are kept", bar(1.0)),
    ("6.11", "useful weights are thrown away", bar(6.0)),
    ("6.11", "useless ones kept", lambda x, y, s: np.arange(40) < 10),
    ("6.11", "the units are used", by_score(lambda w, se: abs(w))),
    ("6.11", "the sign is used", by_score(lambda w, se: w / se)),
    ("6.11", "divided by the variance", by_score(lambda w, se: abs(w) / se**2)),
    ("6.11", "the useless ones are kept", by_score(lambda w, se: -abs(w / se))),
    ("6.11", "neither yes nor no", lambda x, y, s: x[0]),
]
