"""Chapter 9: right answers written in another way than the references, and wrong ones."""

import math
from typing import Any

import numpy as np
import tensorflow as tf
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, logsumexp

from answers.forms import single, tensors


def brier(p: Any, labels: Any) -> Any:
    return np.mean((p**2).sum(axis=1) - 2 * p[np.arange(len(p)), labels] + 1)


def together(logs: Any) -> Any:
    top = logs.max(axis=0)
    return top + np.log(np.exp(logs - top).mean(axis=0))


def together_by(top: Any) -> Any:
    """The mean of networks, with something taken out first: a function of the logarithms."""
    return lambda logs: top(logs) + np.log(np.mean(np.exp(logs - top(logs)), axis=0))


def sure(p: Any) -> Any:
    return p.max(axis=1)


def right(p: Any, labels: Any) -> Any:
    return p.argmax(axis=1) == labels


def ends(n: int, n_bins: int) -> Any:
    """Where bins of equal count begin, and where the last ends."""
    size, rest = divmod(n, n_bins)
    return np.cumsum([0] + rest * [size + 1] + (n_bins - rest) * [size])


def cut(gap: Any, n_bins: int) -> Any:
    """Sums between the ends, as differences of one running sum."""
    return np.diff(np.append(0.0, np.cumsum(gap))[ends(len(gap), n_bins)])


def ece(p: Any, labels: Any, n_bins: Any) -> Any:
    gap = (sure(p) - right(p, labels))[np.lexsort([sure(p)])]
    return abs(cut(gap, n_bins)).sum() / len(p)


def tf_ece(p: Any, labels: Any, n_bins: Any) -> Any:
    said, found = tf.reduce_max(p, axis=1), tf.argmax(p, axis=1)
    gap = tf.gather(said - tf.cast(found == labels, tf.float32), tf.argsort(said))
    sizes = np.diff(ends(len(labels), int(n_bins)))
    return sum(abs(tf.reduce_sum(part)) for part in tf.split(gap, sizes)) / len(labels)


def bins_of_width(p: Any, labels: Any, n_bins: Any) -> Any:
    place = np.ceil(sure(p) * n_bins)
    gap = sure(p) - right(p, labels)
    return sum(abs(gap[place == b].sum()) for b in np.unique(place)) / len(p)


def coverage(p: Any, labels: Any, limit: Any) -> Any:
    """Answer all, and give up the unsurest until the risk is low enough."""
    order = list(np.argsort(sure(p)))
    while order and np.mean(~right(p, labels)[order]) > limit:
        order.pop(0)
    return len(order) / len(p)


def tf_coverage(p: Any, labels: Any, limit: Any) -> Any:
    order = tf.argsort(-tf.reduce_max(p, axis=1))
    wrong = tf.cast(tf.gather(tf.argmax(p, axis=1) != labels, order), tf.float32)
    n = tf.range(1.0, len(labels) + 1)
    suits = tf.cast(tf.cumsum(wrong) / n <= limit, tf.float32)
    return tf.reduce_max(suits * n) / len(labels)


def forwards(p: Any, labels: Any, limit: Any) -> Any:
    """Answer the surest, and the next, as long as the risk is low enough."""
    wrong, order = ~right(p, labels), np.argsort(-sure(p))
    k = 0
    while k < len(p) and np.mean(wrong[order[: k + 1]]) <= limit:
        k += 1
    return k / len(p)


def luck(p: Any, labels: Any) -> Any:
    """A mean over its standard error."""
    variance = np.mean(sure(p) - sure(p) ** 2)
    return np.mean(sure(p) - right(p, labels)) / np.sqrt(variance / len(p))


def tf_luck(p: Any, labels: Any) -> Any:
    said = tf.reduce_max(p, axis=1)
    surplus = said - tf.cast(tf.argmax(p, axis=1) == labels, tf.float32)
    return tf.reduce_sum(surplus) / tf.sqrt(tf.reduce_sum(said * (1 - said)))


def loss(logs: Any, labels: Any, t: Any) -> Any:
    """Of the average of tempered networks."""
    p = np.exp(log_softmax(logs / t, axis=2)).mean(axis=0)
    return -np.log(p[np.arange(len(labels)), labels]).mean()


def temperature(logs: Any, labels: Any) -> Any:
    grid = np.geomspace(0.1, 30, 250)
    return grid[np.argmin([loss(logs, labels, t) for t in grid])]


def by_slope(logs: Any, labels: Any) -> Any:
    """Where the log loss has no slope in log T, by halving."""
    low, high = 0.1, 10.0
    for _ in range(30):
        middle = math.sqrt(low * high)
        falls = loss(logs, labels, 1.001 * middle) < loss(logs, labels, middle)
        low, high = (middle, high) if falls else (low, middle)
    return middle


def mean(logs: Any) -> Any:
    return np.exp(logs).mean(axis=0)


def silent(logs: Any, labels: Any, mixed: Any, share: float = 0.65) -> Any:
    limit = np.sort(mean(logs).max(axis=1))[::-1][int(share * len(labels))]
    return mean(mixed).max(axis=1) >= limit


def by_chance(seed: int) -> Any:
    """Six of ten pictures are answered, whatever the networks say."""
    return lambda logs, y, mixed: np.random.default_rng(seed).random(mixed.shape[1]) < 0.6


def gaps(p: Any, labels: Any, n_bins: Any) -> Any:
    """Distance of accuracy and confidence in each bin of equal count."""
    gap = (sure(p) - right(p, labels))[np.argsort(sure(p))]
    return abs(cut(gap, n_bins)) / np.diff(ends(len(p), n_bins))


def rest_lost(p: Any, labels: Any, n_bins: Any) -> Any:
    gap = (sure(p) - right(p, labels))[np.argsort(sure(p))]
    size = len(p) // n_bins
    return sum(abs(gap[b * size : (b + 1) * size].sum()) for b in range(n_bins)) / len(p)


def in_chunks(p: Any, labels: Any, n_bins: Any) -> Any:
    """Bins of n over n_bins, rounded up; the last holds what is left."""
    gap, size = (sure(p) - right(p, labels))[np.argsort(sure(p))], -(-len(p) // n_bins)
    return sum(abs(gap[i : i + size].sum()) for i in range(0, len(p), size)) / len(p)


def at_even_places(p: Any, labels: Any, n_bins: Any) -> Any:
    gap = (sure(p) - right(p, labels))[np.argsort(sure(p))]
    places = np.linspace(0, len(p), n_bins + 1).astype(int)
    return sum(abs(gap[a:b].sum()) for a, b in zip(places, places[1:], strict=False)) / len(p)


def label_ece(p: Any, labels: Any, n_bins: Any) -> Any:
    said = p[np.arange(len(p)), labels]
    gap = (said - right(p, labels))[np.argsort(said)]
    return abs(cut(gap, n_bins)).sum() / len(p)


def shares(p: Any) -> Any:
    return np.arange(1, len(p) + 1) / len(p)


def risk(p: Any, labels: Any, share: Any) -> Any:
    return np.mean(~right(p, labels)[np.argsort(-sure(p))[: round(share * len(p))]])


def answered(score: Any, p: Any, labels: Any, limit: Any) -> Any:
    """The coverage, with the pictures in the order of another score."""
    curve = np.cumsum(~right(p, labels)[np.argsort(score)]) / np.arange(1, len(p) + 1)
    return max((k for k, r in zip(shares(p), curve, strict=True) if r <= limit), default=0.0)


def in_luck(p: Any, labels: Any, sd: Any) -> Any:
    """Confidence less accuracy, in an sd of one's own."""
    return np.mean(sure(p) - right(p, labels)) / sd


def scattered(p: Any, labels: Any, ddof: int) -> Any:
    return in_luck(p, labels, (sure(p) - right(p, labels)).std(ddof=ddof) / len(p) ** 0.5)


def label_luck(p: Any, labels: Any) -> Any:
    said = p[np.arange(len(p)), labels]
    return np.sum(said - right(p, labels)) / np.sqrt(np.sum(said - said**2))


RIGHT: dict[str, Any] = {
    "9.1": brier,
    "9.2": together,
    "9.3": "ade",
    "9.4": ece,
    "9.5": coverage,
    "9.6": luck,
    "9.7": temperature,
    "9.8": silent,
}

ALSO: list[tuple[str, Any]] = [
    ("9.2", lambda logs: np.logaddexp.reduce(logs) - math.log(len(logs))),
    ("9.2", single(together)),
    ("9.2", tensors(lambda logs: tf.reduce_logsumexp(logs, axis=0) - math.log(len(logs)))),
    ("9.3", {"a", "d", "e"}),
    ("9.3", {"a": True, "b": False, "c": False, "d": True, "e": True}),
    ("9.4", single(ece)),
    ("9.4", tensors(tf_ece)),
    ("9.4", lambda p, y, n: np.array([ece(p, y, n)])),
    ("9.5", single(coverage)),
    ("9.5", tensors(tf_coverage)),
    ("9.5", lambda p, y, limit: [coverage(p, y, limit)]),
    ("9.6", single(luck)),
    ("9.6", tensors(tf_luck)),
    ("9.6", lambda p, y: [luck(p, y)]),
    (
        "9.7",
        lambda logs, labels: math.exp(
            minimize_scalar(lambda u: loss(logs, labels, math.exp(u)), bounds=(-3, 3)).x
        ),
    ),
    ("9.7", by_slope),
    ("9.7", lambda logs, labels: np.float32(temperature(logs[:, ::2], labels[::2]))),
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
    ("9.2", "underflow", together_by(np.max)),
    ("9.2", "not the largest", together_by(lambda logs: np.min(logs, axis=0))),
    ("9.2", "not the largest", together_by(lambda logs: np.mean(logs, axis=0))),
    ("9.2", "not the largest", together_by(lambda logs: np.median(logs, axis=0))),
    ("9.2", "not the largest", together_by(lambda logs: logs[0])),
    ("9.2", "not the largest", together_by(lambda logs: logs[-1])),
    ("9.2", "expected", lambda logs: logsumexp(logs, axis=-1)),
    ("9.3", "statement b is not true", "abde"),
    ("9.3", "Read sections 9.3, 9.4, 9.7 and 9.8.", "abde"),
    ("9.3", "statement c is not true", "acde"),
    ("9.3", "statement a was left out", "de"),
    ("9.3", "statement d was left out", "ae"),
    ("9.3", "statement e was left out", "ad"),
    ("9.4", "bins of equal width", bins_of_width),
    ("9.4", "every bin counts alike", lambda p, y, n: np.mean(gaps(p, y, n))),
    ("9.4", "signs cancel", lambda p, y, n: abs(np.mean(sure(p) - right(p, y)))),
    ("9.4", "signs cancel", lambda p, y, n: np.mean(right(p, y) - sure(p))),
    ("9.4", "the largest", lambda p, y, n: np.max(gaps(p, y, n))),
    ("9.4", "not sorted", lambda p, y, n: abs(cut(sure(p) - right(p, y), n)).sum() / len(p)),
    (
        "9.4",
        "the answers stay behind",
        lambda p, y, n: abs(cut(np.sort(sure(p)) - right(p, y), n)).sum() / len(p),
    ),
    (
        "9.4",
        "each sorted for itself",
        lambda p, y, n: abs(cut(np.sort(sure(p)) - np.sort(right(p, y)), n)).sum() / len(p),
    ),
    (
        "9.4",
        "from the surest downwards",
        lambda p, y, n: (
            abs(cut((sure(p) - right(p, y))[np.argsort(sure(p))[::-1]], n)).sum() / len(p)
        ),
    ),
    ("9.4", "the rest is lost", rest_lost),
    ("9.4", "cut at other places", in_chunks),
    ("9.4", "cut at other places", at_even_places),
    ("9.4", "the label's probability", label_ece),
    ("9.4", "expected", lambda p, y, n: ece(p, y, n + 1)),
    ("9.4", "expected", lambda p, y, n: ece(p, y, n) * len(p)),
    ("9.5", "stopped too soon", forwards),
    (
        "9.5",
        "the smallest coverage",
        lambda p, y, c: next((k for k in shares(p) if risk(p, y, k) <= c), 0.0),
    ),
    (
        "9.5",
        "the unsurest first",
        lambda p, y, c: answered(sure(p), p, y, c),
    ),
    ("9.5", "in their order", lambda p, y, c: answered(np.arange(len(p)), p, y, c)),
    (
        "9.5",
        "errors among all",
        lambda p, y, c: max((k for k in shares(p) if k * risk(p, y, k) <= c), default=0.0),
    ),
    (
        "9.5",
        "the right ones",
        lambda p, y, c: max((k for k in shares(p) if 1 - risk(p, y, k) <= c), default=0.0),
    ),
    (
        "9.5",
        "not at it",
        lambda p, y, c: max((k for k in shares(p) if risk(p, y, k) < c), default=0.0),
    ),
    ("9.5", "one picture too few", lambda p, y, c: max(coverage(p, y, c) - 1 / len(p), 0)),
    ("9.5", "a number of pictures", lambda p, y, c: round(coverage(p, y, c) * len(p))),
    ("9.5", "confidence believed", lambda p, y, c: (1 - sure(p) <= c).sum() / len(p)),
    ("9.5", "raised IndexError", lambda p, y, c: [k for k in shares(p) if risk(p, y, k) <= c][-1]),
    ("9.5", "expected", lambda p, y, c: risk(p, y, 1.0)),
    ("9.6", "the sign is wrong", lambda p, y: -luck(p, y)),
    ("9.6", "without its sign", lambda p, y: abs(luck(p, y))),
    ("9.6", "the scatter that came", lambda p, y: scattered(p, y, 0)),
    ("9.6", "the scatter that came", lambda p, y: scattered(p, y, 1)),
    (
        "9.6",
        "one coin for all",
        lambda p, y: in_luck(p, y, (sure(p).mean() * (1 - sure(p).mean()) / len(p)) ** 0.5),
    ),
    (
        "9.6",
        "the coin of the accuracy",
        lambda p, y: in_luck(p, y, right(p, y).std() / len(p) ** 0.5),
    ),
    ("9.6", "variance for sd", lambda p, y: in_luck(p, y, (sure(p) - sure(p) ** 2).mean())),
    ("9.6", "the luck of one picture", lambda p, y: luck(p, y) / len(p) ** 0.5),
    (
        "9.6",
        "sds are added",
        lambda p, y: in_luck(p, y, ((sure(p) - sure(p) ** 2) ** 0.5).mean()),
    ),
    ("9.6", "the label's probability", label_luck),
    ("9.6", "not compared with luck", lambda p, y: np.mean(sure(p)) - np.mean(right(p, y))),
    ("9.6", "expected", lambda p, y: luck(p, y) ** 2),
    ("9.6", "expected", lambda p, y: p.max(axis=1).mean()),
    ("9.7", "the same in every world", lambda logs, y: 1.0),
    ("9.7", "the same in every world", lambda logs, y: np.float64(2.0)),
    ("9.7", "upside down", lambda logs, y: 1 / temperature(logs, y)),
    ("9.7", "averaged, then tempered", lambda logs, y: temperature(together(logs)[None], y)),
    (
        "9.7",
        "each network for itself",
        lambda logs, y: temperature(np.concatenate(logs)[None], np.tile(y, 5)),
    ),
    ("9.7", "each network for itself", lambda logs, y: temperature(logs[:1], y)),
    ("9.7", "does not do what is asked", lambda logs, y: 2 * temperature(logs, y)),
    ("9.7", "does not do what is asked", lambda logs, y: temperature(logs, y) / 2),
    ("9.7", "expected", lambda logs, y: np.array([1.0, 2.0])),
    ("9.8", "nobody is refused", lambda logs, y, m: np.ones(m.shape[1], bool)),
    ("9.8", "too silent", lambda logs, y, m: silent(logs, y, m, 0.2)),
    ("9.8", "strangers first", lambda logs, y, m: ~silent(logs, y, m)),
    ("9.8", "strangers first", lambda logs, y, m: ~silent(logs, y, m, 0.2)),
    *(("9.8", "as often as known", by_chance(seed)) for seed in range(4)),
    ("9.8", "as often as known", lambda logs, y, m: np.arange(m.shape[1]) < 240),
    ("9.8", "nobody is refused", lambda logs, y, m: np.arange(m.shape[1]) > 4),
    ("9.8", "expected", lambda logs, y, m: silent(logs, y, m)[:-1]),
    ("9.8", "neither yes nor no", lambda logs, y, m: mean(m).max(axis=1)),
    ("9.8", "expected shape (400,), got shape (398,)", lambda logs, y, m: mean(m)[y[0] :, 0]),
    ("9.8", "neither yes nor no", lambda logs, y, m: 2 * silent(logs, y, m)),
]
