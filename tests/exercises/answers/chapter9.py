"""Chapter 9: right answers computed differently than the references, and wrong answers."""

from typing import Any

import numpy as np
from scipy.special import log_softmax

from answers.forms import reference


def sure(p: Any) -> Any:
    return p.max(axis=1)


def right(p: Any, labels: Any) -> Any:
    return p.argmax(axis=1) == labels


def loss(logs: Any, labels: Any, t: Any) -> Any:
    """Return the loss of the average of tempered networks."""
    p = np.exp(log_softmax(logs / t, axis=2)).mean(axis=0)
    return -np.log(p[np.arange(len(labels)), labels]).mean()


def temperature(logs: Any, labels: Any) -> Any:
    grid = np.geomspace(0.1, 30, 250)
    return grid[np.argmin([loss(logs, labels, t) for t in grid])]


def mean(logs: Any) -> Any:
    return np.exp(logs).mean(axis=0)


def silent(logs: Any, labels: Any, mixed: Any, share: float = 0.65) -> Any:
    limit = np.sort(mean(logs).max(axis=1))[::-1][int(share * len(labels))]
    return mean(mixed).max(axis=1) >= limit


def shares(p: Any) -> Any:
    return np.arange(1, len(p) + 1) / len(p)


def risk(p: Any, labels: Any, share: Any) -> Any:
    return np.mean(~right(p, labels)[np.argsort(-sure(p))[: round(share * len(p))]])


RIGHT: list[tuple[str, Any]] = [
    ("9.7", lambda logs, labels: np.float32(temperature(logs[:, ::2], labels[::2]))),
    ("9.8", lambda *given: silent(*given, share=0.7).astype(int)),
]

WRONG: list[tuple[str, str, Any]] = [
    ("9.5", "raised IndexError", lambda p, y, c: [k for k in shares(p) if risk(p, y, k) <= c][-1]),
    ("9.7", "the same in every world", lambda logs, y: 1.0),
    ("9.7", "upside down", lambda logs, y: 1 / reference("9.7")(logs, y)),
    (
        "9.7",
        "averaged, then tempered",
        lambda logs, y: reference("9.7")(reference("9.2")(logs)[None], y),
    ),
    (
        "9.7",
        "each network for itself",
        lambda logs, y: reference("9.7")(np.concatenate(logs)[None], np.tile(y, 5)),
    ),
    ("9.7", "does not do what is asked", lambda logs, y: reference("9.7")(logs, y) / 2),
    ("9.8", "nobody is refused", lambda logs, y, m: np.ones(m.shape[1], bool)),
    ("9.8", "too silent", lambda logs, y, m: silent(logs, y, m, 0.2)),
    ("9.8", "strangers first", lambda logs, y, m: ~silent(logs, y, m)),
    ("9.8", "as often as known", lambda logs, y, m: np.arange(m.shape[1]) < 240),
    ("9.8", "neither yes nor no", lambda logs, y, m: mean(m).max(axis=1)),
]
