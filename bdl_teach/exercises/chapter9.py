"""Define the exercises of chapter 9: pictures, and the unknown."""

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy.special import log_softmax, logsumexp

from bdl_teach import calibration, datasets, metrics
from bdl_teach._support.checks import Array
from bdl_teach.exercises._engine import CasesOnUse, exercise

_A = np.array
_RNG = np.random.default_rng(9)


def _draw(n: int, c: int, scale: float = 1.5) -> tuple[Any, Any]:
    """Draw class probabilities ``[n, c]``, and for each row a label with these probabilities."""
    p = np.exp(log_softmax(scale * _RNG.normal(size=(n, c)), axis=1))
    return p, _A([_RNG.choice(c, p=row) for row in p])


_FOUR = _A([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5], [0.05, 0.9, 0.05]])
_SOME = ((_FOUR, _A([0, 2, 2, 0])), _draw(50, 4), _draw(7, 2), (np.eye(3), _A([0, 1, 1])))

exercise(
    "9.1",
    *_SOME,
    "the label's class alone: the sum runs over all classes, the wrong ones included.",
    lambda p, labels: np.mean((1 - p[np.arange(len(p)), labels]) ** 2),
    "distances for squares: the distances are squared before they are added.",
    lambda p, labels: np.abs(p - np.eye(p.shape[1])[labels]).sum(axis=1).mean(),
)(lambda p, labels: np.mean(np.sum((p - np.eye(p.shape[1])[labels]) ** 2, axis=1)))

exercise(
    "9.2",
    (log_softmax(_RNG.normal(size=(3, 4, 5)), axis=-1),),
    (log_softmax(4 * _RNG.normal(size=(7, 2, 3)), axis=-1),),
    (log_softmax(_RNG.normal(size=(1, 3, 2)), axis=-1),),
    (log_softmax(_A([[[0.0, 1500.0]], [[0.0, 2000.0]]]), axis=-1),),
    # two networks disagree about a class by e^1500: subtract the largest logarithm, no other
    (log_softmax(_A([[[0.4, 0.0], [0.0, 1500.0]], [[0.0, 1500.0], [0.4, 0.0]]]), axis=-1),),
    "the mean of the logarithms: that is the logarithm of a geometric mean.",
    lambda logs: logs.mean(axis=0),
    "a geometric mean: networks are averaged as probabilities, not as logits.",
    lambda logs: log_softmax(logs.mean(axis=0), axis=-1),
    "1/S is missing: a mean is a sum divided by S: subtract log S.",
    lambda logs: logsumexp(logs, axis=0),
)(lambda logs: logsumexp(logs, axis=0) - math.log(len(logs)))


def _binned(confidence: Any, right: Any, n_bins: Any) -> Any:
    parts = np.array_split(confidence - right, n_bins)
    return sum(abs(part.sum()) for part in parts) / len(confidence)


def _unweighted(p: Any, labels: Any, n_bins: Any) -> Any:
    order = np.argsort(p.max(axis=1), kind="stable")
    gaps = (p.argmax(axis=1) == labels)[order] - p.max(axis=1)[order]
    return np.mean([abs(part.mean()) for part in np.array_split(gaps, n_bins)])


# Of ten answers the seventh and eighth in confidence are right. Only four bins that end at 3, 6, 8
# and 10 have a bin with just these two.
_PLACE = _A([3, 8, 1, 0, 5, 9, 2, 7, 6, 4])
_SURE = 0.56 + 0.04 * _PLACE
_TEN = np.column_stack([_SURE, 1 - _SURE]), 1 - np.isin(_PLACE, (6, 7))


@exercise(
    "9.4",
    *((*_draw(83, 3), 5), (*_draw(67, 4, 3.0), 10), (*_SOME[0], 2), (*_draw(40, 2), 1), (*_TEN, 4)),
    "bins of equal width: that is (9.7); here each bin has its share of the pictures.",
    lambda p, labels, n_bins: calibration.reliability(p, labels, n_bins).error,
    "not sorted: a bin holds pictures of nearly the same confidence: sort before you cut.",
    lambda p, labels, n_bins: _binned(p.max(axis=1), p.argmax(axis=1) == labels, n_bins),
    "the bins are not weighted: a bin counts as often as it holds pictures.",
    lambda p, labels, n_bins: _unweighted(p, labels, n_bins),
    "the answers stay behind: sort confidences and right answers by one order.",
    lambda p, labels, n: _binned(np.sort(p.max(axis=1)), p.argmax(axis=1) == labels, n),
)
def _equal_count(p: Any, labels: Any, n_bins: Any) -> Any:
    order = np.argsort(p.max(axis=1), kind="stable")
    return _binned(p.max(axis=1)[order], (p.argmax(axis=1) == labels)[order], n_bins)


def _curve(p: Any, labels: Any, order: Any = None) -> Any:
    """Return ``[n]``: the error rate in the first k = 1 … n pictures, by default surest first."""
    order = np.argsort(-p.max(axis=1), kind="stable") if order is None else order
    wrong = p[order].argmax(axis=1) != labels[order]
    return np.cumsum(wrong) / np.arange(1, len(p) + 1)


def _last(mask: Any) -> Any:
    """Return the last true element's position, from 1, divided by the length; 0 if none is true."""
    return (np.flatnonzero(mask)[-1] + 1) / len(mask) if mask.any() else 0.0


exercise(
    "9.5",
    (*_draw(40, 3), 0.21),
    (*_draw(60, 4), 0.25),
    (*_draw(25, 2), 0.16),
    (_FOUR, [1, 1, 0, 1], 0.5),  # the limit is met exactly
    (_FOUR, [0, 1, 2, 0], 0.27),  # only the surest answer is wrong
    (_FOUR, [1, 1, 2, 0], 0.2),  # the two surest answers are wrong: none may be given
    "stopped too soon: further on the curve may come below the limit once more.",
    lambda p, labels, limit: np.argmax(np.append(_curve(p, labels), np.inf) > limit) / len(p),
    "the unsurest first: np.argsort begins with the smallest: the surest are at the other end.",
    lambda p, labels, limit: _last(_curve(p, labels, np.argsort(p.max(axis=1))) <= limit),
    "counted, not the last: the curve crosses the limit more than once: how far may one go?",
    lambda p, labels, limit: np.mean(_curve(p, labels) <= limit),
    "errors among all: divide by the number of the answered pictures, not by that of all.",
    lambda p, labels, limit: _last(_curve(p, labels) * np.arange(1, len(p) + 1) / len(p) <= limit),
    "below the limit, not at it: a risk that is the limit exactly is allowed.",
    lambda p, labels, limit: _last(_curve(p, labels) < limit),
)(lambda p, labels, limit: _last(_curve(p, labels) <= limit))


def _surplus(p: Any, labels: Any) -> Any:
    return p.max(axis=1).sum() - np.sum(p.argmax(axis=1) == labels)


def _overconfident(p: Any, labels: Any) -> tuple[Any, Any]:
    return p**3 / np.sum(p**3, axis=1, keepdims=True), labels


@exercise(
    "9.6",
    _SOME[0],
    *(_draw(40, 4, scale) for scale in (0.5, 3.0)),
    _overconfident(*_draw(60, 3)),
    (np.full((5, 5), 0.2), np.arange(5)),
    "without its sign: the sign says which of the two it is: take no absolute value.",
    lambda p, labels: abs(_deviation(p, labels)),
    "one coin for all: the coins differ: add c (1 − c) over the pictures.",
    lambda p, labels: _surplus(p, labels) / np.sqrt(len(p) * (c := p.max(axis=1).mean()) * (1 - c)),
    "the coin of the accuracy: if the confidences are true, each c is a coin.",
    lambda p, labels: (
        _surplus(p, labels)
        / np.sqrt(len(p) * (share := np.mean(p.argmax(axis=1) == labels)) * (1 - share))
    ),
    "variance for sd: compare the sum with its sd: take the root.",
    lambda p, labels: _surplus(p, labels) / np.sum(p.max(axis=1) * (1 - p.max(axis=1))),
    "the spread of the gaps: with true confidences a gap has the variance c (1 − c).",
    tuple(
        lambda p, labels, n=n: (
            _surplus(p, labels)
            / (math.sqrt(len(p)) * np.std(p.max(axis=1) - (p.argmax(axis=1) == labels), ddof=n))
        )
        for n in (0, 1)
    ),
    "the luck of one picture: the variance of a mean is n times smaller than that of one.",
    lambda p, labels: _deviation(p, labels) / math.sqrt(len(p)),
)
def _deviation(p: Any, labels: Any) -> Any:
    confidence = p.max(axis=1)
    return _surplus(p, labels) / np.sqrt(np.sum(confidence * (1 - confidence)))


class _World(NamedTuple):
    """Five networks' predictions for labelled pictures and for new ones, with all true labels."""

    logs: Any  # log class probabilities [5, n, c] of the pictures that the learner has labels of
    labels: Any
    new: Any  # log class probabilities [5, m, c] of other pictures
    truth: Any  # their labels


@cache
def _miscalibrated() -> list[_World]:
    """Return three worlds whose networks' logits are noisy, and too large or small by a factor."""
    worlds = []
    for seed, factor in enumerate((4.0, 0.5, 2.0)):
        rng = np.random.default_rng([9, 7, seed])
        true = 4.0 * rng.normal(size=(3300, 6))
        p = np.exp(log_softmax(true, axis=1))
        labels = (rng.random((len(p), 1)) > p.cumsum(axis=1)).sum(axis=1).clip(max=5)
        logs = log_softmax(factor * (true + 3.0 * rng.normal(size=(5, *true.shape))), axis=2)
        worlds.append(_World(logs[:, :300], labels[:300], logs[:, 300:], labels[300:]))
    return worlds


def _log_loss(logs: Any, labels: Any, temperature: float) -> float:
    return -metrics.class_log_likelihood(calibration.tempered(logs, temperature), labels)


def _fault_of_temperature(temperature: Any, logs: Any, labels: Any) -> str:
    if temperature <= 0:
        return "not above 0"
    world = next(w for w in _miscalibrated() if np.array_equal(w.labels, labels))
    best = _log_loss(world.new, world.truth, _lowest(world.new, world.truth))
    # The temperature that is best for the 300 labelled pictures is within 0.006 nats.
    if _log_loss(world.new, world.truth, float(temperature)) < best + 0.02:
        return ""
    return f"T is too {'low' if temperature < _lowest(world.logs, world.labels) else 'high'}"


def _fault_of_temperatures(found: list[Array]) -> str:
    if np.ptp(found) < 1e-9:
        return "the same in every world"
    worlds = _miscalibrated()
    best = calibration.best_temperature
    averaged = [best(logsumexp(w.logs, axis=0) - math.log(5), w.labels) for w in worlds]
    if np.allclose(found, averaged, rtol=0.05):
        return "averaged, then tempered"
    alone = [best(np.concatenate(w.logs), np.tile(w.labels, 5)) for w in worlds]
    if np.allclose(found, alone, rtol=0.05):
        return "each network for itself"
    inverse = np.multiply(found, [_lowest(w.logs, w.labels) for w in worlds])
    return "upside down" if np.allclose(inverse, 1.0, atol=0.3) else ""


@exercise(
    "9.7",
    cases=CasesOnUse(lambda: tuple((w.logs, w.labels) for w in _miscalibrated())),
    judge=_fault_of_temperature,
    overall=_fault_of_temperatures,
    is_measured=True,
)
def _lowest(log_p: Any, labels: Any) -> float:
    found = scipy.optimize.minimize_scalar(
        lambda log_t: _log_loss(log_p, labels, math.exp(log_t)), bounds=(-3, 3), method="bounded"
    )
    return math.exp(found.x)


_ANSWERED = 0.5  # smallest share of the known pictures that must be answered
_WRONG, _UNKNOWN = 0.03, 0.25  # largest share of wrong answers; of unknown pictures answered
_AS_OFTEN = 0.1  # difference between two shares that counts as none


@cache
def _digits_and_unknown() -> list[_World]:
    """Return three worlds whose networks know 8 digits; in ``new`` are 2 others (``truth`` −1)."""
    digits, worlds = datasets.digits(), []
    x = digits.images.reshape(len(digits.images), -1).astype(float)
    for seed in range(3):
        rng = np.random.default_rng([9, 8, seed])
        unknown = rng.choice(10, 2, replace=False)
        order = rng.permutation(len(digits.images))
        is_unknown = np.isin(digits.labels[order], unknown)
        known, others = order[~is_unknown], order[is_unknown][:100]
        labels = np.searchsorted(np.setdiff1d(np.arange(10), unknown), digits.labels)
        train, choose, fresh = known[:300], known[300:500], known[500:800]
        nets = np.stack([_random_layer(x, labels, train, rng) for _ in range(5)])
        mix = rng.permutation(np.r_[fresh, others])
        truth = np.where(np.isin(mix, others), -1, labels[mix])
        worlds.append(_World(nets[:, choose], labels[choose], nets[:, mix], truth))
    return worlds


def _random_layer(x: Any, labels: Any, train: Any, rng: Any) -> Any:
    """Return log probabilities ``[n, 8]`` by a random hidden layer, fitted to rows ``train``."""
    hidden = np.maximum(x @ rng.normal(size=(x.shape[1], 150)) / 4 + rng.normal(size=150), 0)
    phi, target = hidden[train], np.eye(8)[labels[train]]
    w = np.linalg.solve(phi.T @ phi + 3.0 * np.eye(150), phi.T @ target)
    return log_softmax(6.0 * hidden @ w, axis=1)


def _unsure(logs: Any) -> Any:
    return metrics.predictive_entropy(np.exp(logs))


def _fault_of_refusal(answers: Any, logs: Any, labels: Any, mixed: Any) -> str:
    if not np.isin(answers, (0, 1)).all():
        return "neither yes nor no"
    world = next(w for w in _digits_and_unknown() if np.array_equal(w.new, mixed))
    chosen, is_unknown = np.asarray(answers, bool), world.truth < 0
    answered, guess = chosen & ~is_unknown, np.exp(mixed).mean(axis=0).argmax(axis=1)
    wrong = np.mean(guess[answered] != world.truth[answered]) if answered.any() else 1.0
    known, unknown = answered.sum() / (~is_unknown).sum(), chosen[is_unknown].mean()
    if known >= _ANSWERED and wrong <= _WRONG and unknown <= _UNKNOWN:
        return ""
    if known > 0.95 and unknown > 0.8:
        return "nobody is refused"
    if unknown > known + _AS_OFTEN:
        return "strangers first"
    if known < _ANSWERED:
        return "too silent"
    if unknown > known - _AS_OFTEN:
        return "strangers as often as known ones"
    if unknown <= _UNKNOWN:
        return "too many answers are wrong"
    return "too many strangers" + (", and too many wrong answers" if wrong > _WRONG else "")


exercise(
    "9.8",
    cases=CasesOnUse(lambda: tuple((w.logs, w.labels, w.new) for w in _digits_and_unknown())),
    judge=_fault_of_refusal,
)(lambda log_p, labels, log_new: _unsure(log_new) <= np.quantile(_unsure(log_p), 0.7))
