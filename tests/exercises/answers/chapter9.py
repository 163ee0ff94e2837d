"""Chapter 9: right answers computed differently than the references, and wrong answers."""

from typing import Any

import numpy as np
from scipy.special import log_softmax

from answers.forms import reference
from bdl_teach.exercises import chapter9


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


def truth(mixed: Any) -> Any:
    return next(w.truth for w in chapter9._digits_and_unknown() if np.array_equal(w.new, mixed))


def shares(p: Any) -> Any:
    return np.arange(1, len(p) + 1) / len(p)


def risk(p: Any, labels: Any, share: Any) -> Any:
    return np.mean(~right(p, labels)[np.argsort(-sure(p))[: round(share * len(p))]])


RIGHT: list[tuple[str, Any]] = [
    ("9.7", lambda logs, labels: np.float32(temperature(logs[:, ::2], labels[::2]))),
    ("9.8", lambda *given: silent(*given, share=0.7).astype(int)),
]

WRONG: list[tuple[str, str, Any]] = [
    ("9.1", "do not divide by p.shape[1]", lambda p, y: np.mean((p - np.eye(p.shape[1])[y]) ** 2)),
    (
        "9.6",
        "the coin of the accuracy",
        lambda p, y: np.sum(sure(p) - right(p, y)) / (len(y) ** 0.5 * np.std(right(p, y))),
    ),
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
    ("9.7", "T is too low", lambda logs, y: reference("9.7")(logs, y) / 2),
    ("9.7", "T is too high", lambda logs, y: reference("9.7")(logs, y) * 2),
    ("9.7", "not above 0", lambda logs, y: -reference("9.7")(logs, y)),
    ("9.8", "nobody is refused", lambda logs, y, m: np.ones(m.shape[1], bool)),
    ("9.8", "too silent", lambda logs, y, m: silent(logs, y, m, 0.2)),
    ("9.8", "strangers first", lambda logs, y, m: ~silent(logs, y, m)),
    ("9.8", "as often as known", lambda logs, y, m: np.arange(m.shape[1]) < 240),
    ("9.8", "too many strangers", lambda logs, y, m: mean(m).max(axis=1) > 0.6),
    (
        "9.8",
        "too many strangers, and too many wrong answers",
        lambda logs, y, m: mean(m).max(axis=1) > 0.4,
    ),
    ("9.8", "too many answers are wrong", lambda logs, y, m: truth(m) >= 0),
    ("9.8", "neither yes nor no", lambda logs, y, m: mean(m).max(axis=1)),
]
