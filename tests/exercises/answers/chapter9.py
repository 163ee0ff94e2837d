"""Chapter 9: right answers written in another way than the references, and wrong ones."""

import math
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, logsumexp


def brier(p: Any, labels: Any) -> Any:
    return np.mean((p**2).sum(axis=1) - 2 * p[np.arange(len(p)), labels] + 1)


def together(logs: Any) -> Any:
    top = logs.max(axis=0)
    return top + np.log(np.exp(logs - top).mean(axis=0))


def ece(p: Any, labels: Any, n_bins: Any) -> Any:
    said, right = p.max(axis=1), p.argmax(axis=1) == labels
    total = 0.0
    for b in range(n_bins):
        inside = (said > b / n_bins) & (said <= (b + 1) / n_bins)
        total += abs(right[inside].sum() - said[inside].sum())
    return total / len(p)


def gaps(p: Any, labels: Any, n_bins: Any) -> Any:
    said, right = p.max(axis=1), p.argmax(axis=1) == labels
    place = np.ceil(said * n_bins)
    return [(right[place == b] - said[place == b]).mean() for b in np.unique(place)]


def risk(p: Any, labels: Any, share: Any) -> Any:
    k = max(1, int(share * len(p)))
    surest = np.argsort(p.max(axis=1))[::-1][:k]
    return (p[surest].argmax(axis=1) != labels[surest]).sum() / k


def excess(p: Any, labels: Any) -> Any:
    return np.mean(p.max(axis=1) - (p.argmax(axis=1) == labels))


def loss(logs: Any, labels: Any, t: Any) -> Any:
    return -log_softmax(logs / t, axis=1)[np.arange(len(labels)), labels].mean()


def temperature(logs: Any, labels: Any) -> Any:
    grid = np.geomspace(0.1, 10, 200)
    return grid[np.argmin([loss(logs, labels, t) for t in grid])]


def mean(logs: Any) -> Any:
    return np.exp(logs).mean(axis=0)


def silent(logs: Any, labels: Any, mixed: Any, share: float = 0.65) -> Any:
    limit = np.sort(mean(logs).max(axis=1))[::-1][int(share * len(labels))]
    return mean(mixed).max(axis=1) >= limit


RIGHT: dict[str, Any] = {
    "9.1": brier,
    "9.2": together,
    "9.3": "ace",
    "9.4": ece,
    "9.5": risk,
    "9.6": excess,
    "9.7": temperature,
    "9.8": silent,
}

ALSO: list[tuple[str, Any]] = [
    ("9.2", lambda logs: np.logaddexp.reduce(logs) - math.log(len(logs))),
    ("9.3", {"a", "c", "e"}),
    (
        "9.7",
        lambda logs, labels: math.exp(
            minimize_scalar(lambda u: loss(logs, labels, math.exp(u)), bounds=(-3, 3)).x
        ),
    ),
    ("9.8", lambda *given: silent(*given, share=0.7).astype(int)),
]


WRONG: list[tuple[str, str, Any]] = [
    ("9.1", "the label's class alone", lambda p, y: np.mean((p[np.arange(len(p)), y] - 1) ** 2)),
    ("9.1", "a mean over the classes", lambda p, y: np.mean((p - np.eye(p.shape[1])[y]) ** 2)),
    (
        "9.1",
        "distances for squares",
        lambda p, y: 2 * (1 - p[np.arange(len(p)), y]).mean(),
    ),
    ("9.1", "a sum over the pictures", lambda p, y: ((p - np.eye(p.shape[1])[y]) ** 2).sum()),
    ("9.1", "expected", lambda p, y: 1 - brier(p, y)),
    ("9.2", "the mean of the logarithms", lambda logs: np.mean(logs, axis=0)),
    ("9.2", "a geometric mean", lambda logs: log_softmax(logs.sum(axis=0) / len(logs), axis=-1)),
    ("9.2", "1/T is missing", lambda logs: np.logaddexp.reduce(logs)),
    ("9.2", "underflow", lambda logs: np.log(np.mean(np.exp(logs), axis=0))),
    ("9.2", "expected", lambda logs: logsumexp(logs, axis=-1)),
    ("9.3", "statement b is not true", "abce"),
    ("9.3", "statement d is not true", "acde"),
    ("9.3", "statement a was left out", "ce"),
    ("9.3", "statement e was left out", "ac"),
    ("9.4", "every bin counts alike", lambda p, y, n: np.mean(np.abs(gaps(p, y, n)))),
    ("9.4", "signs cancel", lambda p, y, n: abs(excess(p, y))),
    ("9.4", "signs cancel", lambda p, y, n: -excess(p, y)),
    ("9.4", "the largest", lambda p, y, n: np.max(np.abs(gaps(p, y, n)))),
    ("9.4", "the label's probability", lambda p, y, n: label_ece(p, y, n)),
    ("9.4", "expected", lambda p, y, n: ece(p, y, n + 1)),
    (
        "9.5",
        "the unsurest first",
        lambda p, y, c: risk_of(p, y, np.argsort(p.max(axis=1))[: int(c * len(p))]),
    ),
    ("9.5", "errors among all", lambda p, y, c: risk(p, y, c) * int(c * len(p)) / len(p)),
    ("9.5", "the right ones", lambda p, y, c: 1 - risk(p, y, c)),
    ("9.5", "in their order", lambda p, y, c: risk_of(p, y, np.arange(int(c * len(p))))),
    ("9.5", "expected", lambda p, y, c: risk(p, y, 1.0)),
    ("9.6", "the sign is wrong", lambda p, y: -excess(p, y)),
    ("9.6", "without its sign", lambda p, y: abs(excess(p, y))),
    (
        "9.6",
        "the label's probability",
        lambda p, y: p[np.arange(len(p)), y].mean() - (p.argmax(axis=1) == y).mean(),
    ),
    ("9.6", "accuracy alone", lambda p, y: (p.argmax(axis=1) == y).mean()),
    ("9.6", "expected", lambda p, y: p.max(axis=1).mean()),
    ("9.7", "the same in every world", lambda logs, y: 1.0),
    ("9.7", "the same in every world", lambda logs, y: np.float64(2.0)),
    ("9.7", "upside down", lambda logs, y: 1 / temperature(logs, y)),
    ("9.7", "expected", lambda logs, y: 1.5 * temperature(logs, y)),
    ("9.7", "expected", lambda logs, y: np.array([1.0, 2.0])),
    ("9.8", "nobody is refused", lambda logs, y, m: np.ones(m.shape[1], bool)),
    ("9.8", "too silent", lambda logs, y, m: silent(logs, y, m, 0.2)),
    ("9.8", "strangers first", lambda logs, y, m: ~silent(logs, y, m)),
    ("9.8", "expected", lambda logs, y, m: silent(logs, y, m)[:-1]),
    ("9.8", "expected", lambda logs, y, m: mean(m).max(axis=1)),
]


def risk_of(p: Any, labels: Any, chosen: Any) -> Any:
    return np.mean(p[chosen].argmax(axis=1) != labels[chosen])


def label_ece(p: Any, labels: Any, n_bins: Any) -> Any:
    said, right = p[np.arange(len(p)), labels], p.argmax(axis=1) == labels
    place = np.ceil(said * n_bins)
    return sum(abs((right - said)[place == b].sum()) for b in np.unique(place)) / len(p)
