"""Exercises of chapter 9: pictures, and the unknown."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import scipy
from scipy.special import log_softmax, logsumexp

from bdl_teach import calibration, datasets, metrics
from bdl_teach.exercises._engine import Choice, Exercise, Late, Mistake, Outcome
from bdl_teach.exercises._faces import NOT_LARGEST

_A = np.array
_RNG = np.random.default_rng(9)


def _said(n: int, c: int, scale: float = 1.5) -> tuple[Any, Any]:
    """Class probabilities ``[n, c]`` and labels ``[n]``, of which most come as they are said."""
    p = np.exp(log_softmax(scale * _RNG.normal(size=(n, c)), axis=1))
    return p, _A([_RNG.choice(c, p=row) for row in p])


_FOUR = _A([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.25, 0.25, 0.5], [0.05, 0.9, 0.05]])
_SOME = ((_FOUR, _A([0, 2, 2, 0])), _said(50, 4), _said(7, 2), (np.eye(3), _A([0, 1, 1])))

# Exercise 9.1.


def _brier(p: Any, labels: Any) -> Any:
    return metrics.brier_score(p, labels)


def _label(p: Any, labels: Any) -> Any:
    return p[np.arange(len(p)), labels]


BRIER = Exercise(
    "9.1",
    "Compute: the Brier score",
    "9.6",
    _brier,
    _SOME,
    (
        Mistake(
            "the label's class alone",
            "the sum runs over all classes: what went to the wrong ones counts as well.",
            lambda p, labels: np.mean((1 - _label(p, labels)) ** 2),
        ),
        Mistake(
            "a mean over the classes",
            "over the classes it is a sum; only over the pictures it is a mean.",
            lambda p, labels: _brier(p, labels) / p.shape[1],
        ),
        Mistake(
            "distances for squares",
            "the distances are squared before they are added.",
            lambda p, labels: np.abs(p - np.eye(p.shape[1])[labels]).sum(axis=1).mean(),
        ),
        Mistake(
            "a sum over the pictures",
            "it is a mean over the pictures.",
            lambda p, labels: len(p) * _brier(p, labels),
        ),
    ),
)

# Exercise 9.2.


def _together(logs: Any) -> Any:
    return logsumexp(logs, axis=0) - math.log(len(logs))


_DRAWS = (
    (log_softmax(_RNG.normal(size=(3, 4, 5)), axis=-1),),
    (log_softmax(4 * _RNG.normal(size=(7, 2, 3)), axis=-1),),
    (log_softmax(_RNG.normal(size=(1, 3, 2)), axis=-1),),
    (log_softmax(_A([[[0.0, 1500.0]], [[0.0, 2000.0]]]), axis=-1),),
    # one network thinks little of a class, the other nothing: only the largest may be taken out
    (log_softmax(_A([[[0.4, 0.0], [0.0, 1500.0]], [[0.0, 1500.0], [0.4, 0.0]]]), axis=-1),),
)

TOGETHER = Exercise(
    "9.2",
    "Change: the mean of networks, in logarithms",
    "9.3",
    _together,
    _DRAWS,
    (
        Mistake(
            "the mean of the logarithms",
            "that is the logarithm of a geometric mean; its rows do not even sum to 1.",
            lambda logs: logs.mean(axis=0),
        ),
        Mistake(
            "a geometric mean",
            "networks are averaged as probabilities, not as logits.",
            lambda logs: log_softmax(logs.mean(axis=0), axis=-1),
        ),
        Mistake(
            "1/T is missing",
            "a mean is a sum divided by T: subtract log T.",
            lambda logs: logsumexp(logs, axis=0),
        ),
        Mistake(
            "underflow",
            "a probability below 10⁻³²⁴ rounds to 0: for each picture and class, subtract the "
            "largest logarithm over the networks first.",
            lambda logs: np.log(np.exp(logs).mean(axis=0)),
            breaks=True,
        ),
        Mistake(
            "not the largest taken out",
            "a logarithm far above the one that is taken out overflows, and one far below counts "
            "for nothing anyway: take out the largest over the networks.",
            tuple(
                lambda logs, out=out: out(logs) + np.log(np.exp(logs - out(logs)).mean(axis=0))
                for out in NOT_LARGEST
            ),
        ),
    ),
)

# Exercise 9.3.

UNKNOWN = Choice(
    "9.3",
    "Explain: true or false",
    "9.3, 9.4, 9.7 and 9.8",
    frozenset("ade"),
    statements={
        "a": "by Jensen's inequality −log of a mean is at most the mean of −log, picture by "
        "picture.",
        "b": "one is always right and says 1, the other says 1/2 of two classes and is right half "
        "of the time: their mean says 3/4 and is always right.",
        "c": "two networks say 0.4 and 0.6, a third 1 and 0: their mean takes the first class; at "
        "a small T each has one vote, and the second class has two.",
        "d": "it is what the label says about which network was asked, and of five that is log 5 "
        "nats at most.",
        "e": "of two classes the entropy falls with the distance of the logits, and T divides all "
        "distances by one number; with three, (0.5, 0.5, 0) stays as it is where (0.6, 0.2, 0.2) "
        "becomes sure.",
    },
)

# Exercise 9.4.


def _by_count(said: Any, right: Any, n_bins: Any) -> list[Any]:
    """Sums of right less said, bin by bin, from the least sure upwards."""
    gap = (right - said)[np.argsort(said, kind="stable")]
    return [part.sum() for part in np.array_split(gap, n_bins)]


def _said_and_right(p: Any, labels: Any) -> tuple[Any, Any]:
    return p.max(axis=1), p.argmax(axis=1) == labels


def _equal_count(p: Any, labels: Any, n_bins: Any) -> Any:
    return np.abs(_by_count(*_said_and_right(p, labels), n_bins)).sum() / len(p)


def _equal_width(p: Any, labels: Any, n_bins: Any) -> Any:
    return calibration.reliability(p, labels, n_bins).error


def _gaps(p: Any, labels: Any, n_bins: Any) -> Any:
    """Distance of accuracy and confidence in each bin."""
    size = [len(part) for part in np.array_split(labels, n_bins)]
    return np.abs(_by_count(*_said_and_right(p, labels), n_bins)) / size


def _signed_gap(p: Any, labels: Any, n_bins: Any) -> Any:
    said, right = _said_and_right(p, labels)
    return np.mean(right) - said.mean()


def _in_their_order(p: Any, labels: Any, n_bins: Any) -> Any:
    said, right = _said_and_right(p, labels)
    return sum(abs(part.sum()) for part in np.array_split(right - said, n_bins)) / len(p)


def _torn(p: Any, labels: Any, n_bins: Any) -> Any:
    """Confidences sorted without their answers."""
    said, right = _said_and_right(p, labels)
    parts = np.array_split(right - np.sort(said), n_bins)
    return sum(abs(part.sum()) for part in parts) / len(p)


def _both_sorted(p: Any, labels: Any, n_bins: Any) -> Any:
    said, right = _said_and_right(p, labels)
    parts = np.array_split(np.sort(right) - np.sort(said), n_bins)
    return sum(abs(part.sum()) for part in parts) / len(p)


def _downwards(p: Any, labels: Any, n_bins: Any) -> Any:
    said, right = _said_and_right(p, labels)
    parts = np.array_split((right - said)[np.argsort(-said)], n_bins)
    return sum(abs(part.sum()) for part in parts) / len(p)


def _rest_lost(p: Any, labels: Any, n_bins: Any) -> Any:
    said, right = _said_and_right(p, labels)
    size = len(p) // n_bins
    kept = (right - said)[np.argsort(said)][: size * n_bins]
    return np.abs(kept.reshape(n_bins, size).sum(axis=1)).sum() / len(p)


def _label_as_confidence(p: Any, labels: Any, n_bins: Any) -> Any:
    said, right = _label(p, labels), p.argmax(axis=1) == labels
    return np.abs(_by_count(said, right, n_bins)).sum() / len(p)


def _cut_at(ends: Callable[[int, int], Any]) -> Callable[..., Any]:
    """Bins that end at places of one's own, of the numbers of pictures and of bins."""

    def error(p: Any, labels: Any, n_bins: Any) -> Any:
        said, right = _said_and_right(p, labels)
        gap = (right - said)[np.argsort(said)]
        return sum(abs(part.sum()) for part in np.split(gap, ends(len(p), n_bins))) / len(p)

    return error


# Ten answers, of which the seventh and eighth in confidence are right: four bins cut elsewhere
# than at 3, 6 and 8 part these two, or put others with them.
_PLACE = _A([3, 8, 1, 0, 5, 9, 2, 7, 6, 4])
_SURE = 0.56 + 0.04 * _PLACE
_TEN = np.column_stack([_SURE, 1 - _SURE]), 1 - np.isin(_PLACE, (6, 7))

ECE = Exercise(
    "9.4",
    "Change: bins of equal count",
    "9.7",
    _equal_count,
    ((*_said(83, 3), 5), (*_said(67, 4, 3.0), 10), (*_SOME[0], 2), (*_said(40, 2), 1), (*_TEN, 4)),
    (
        Mistake(
            "bins of equal width",
            "that is (9.7) as the chapter has it; here each bin has its share of the pictures.",
            _equal_width,
        ),
        Mistake(
            "every bin counts alike",
            "nearly, but not quite: where n is no multiple, the first bins hold one more.",
            lambda p, labels, n_bins: _gaps(p, labels, n_bins).mean(),
        ),
        Mistake(
            "signs cancel",
            "take the absolute value in each bin, before adding.",
            (_signed_gap, lambda *given: abs(_signed_gap(*given))),
        ),
        Mistake(
            "the largest",
            "that is the maximum calibration error; the expected one is a weighted mean.",
            lambda p, labels, n_bins: _gaps(p, labels, n_bins).max(),
        ),
        Mistake(
            "not sorted",
            "a bin holds pictures of nearly the same confidence: sort before you cut.",
            _in_their_order,
        ),
        Mistake(
            "the answers stay behind",
            "whether an answer is right goes along with its confidence: sort both by one order.",
            _torn,
        ),
        Mistake(
            "each sorted for itself",
            "whether an answer is right goes along with its confidence: sort both by one order.",
            _both_sorted,
        ),
        Mistake(
            "from the surest downwards",
            "the bins with one more are those of the least sure: begin at that end.",
            _downwards,
        ),
        Mistake(
            "the rest is lost",
            "where n is no multiple, pictures are left over: np.array_split leaves none.",
            _rest_lost,
        ),
        Mistake(
            "cut at other places",
            "where n is no multiple, the first bins hold one more and no bin holds two more: cut "
            "as np.array_split cuts.",
            (
                _cut_at(lambda n, bins: np.arange(1, bins) * math.ceil(n / bins)),
                _cut_at(lambda n, bins: np.arange(1, bins) * (n // bins)),
                _cut_at(lambda n, bins: np.arange(1, bins) * n // bins),
                _cut_at(lambda n, bins: np.round(np.arange(1, bins) * n / bins).astype(int)),
            ),
        ),
        Mistake(
            "the label's probability",
            "the confidence is the largest probability, whether the answer is right or not.",
            _label_as_confidence,
        ),
    ),
)

# Exercise 9.5.


def _curve(p: Any, labels: Any, order: Any = None) -> Any:
    """Risk of the first 1, 2, … n pictures, the surest first."""
    order = np.argsort(-p.max(axis=1), kind="stable") if order is None else order
    wrong = p[order].argmax(axis=1) != labels[order]
    return np.cumsum(wrong) / np.arange(1, len(p) + 1)


def _last(suits: Any) -> Any:
    """Share of the pictures up to the last that suits; 0 if none does."""
    return (np.flatnonzero(suits)[-1] + 1) / len(suits) if suits.any() else 0.0


def _coverage(p: Any, labels: Any, limit: Any) -> Any:
    return _last(_curve(p, labels) <= limit)


def _too_soon(p: Any, labels: Any, limit: Any) -> Any:
    above = _curve(p, labels) > limit
    return np.argmax(above) / len(p) if above.any() else 1.0


COVERAGE = Exercise(
    "9.5",
    "Extend: how much may be answered",
    "9.10",
    _coverage,
    (
        (*_said(40, 3), 0.21),
        (*_said(60, 4), 0.25),
        (*_said(25, 2), 0.16),
        (_FOUR, _A([1, 1, 0, 1]), 0.5),  # the limit is met exactly
        (_FOUR, _A([0, 1, 2, 0]), 0.27),  # the surest answer is wrong, and no other
        (_FOUR, _A([1, 1, 2, 0]), 0.2),  # and the next is, too: none may be answered
    ),
    (
        Mistake(
            "stopped too soon",
            "the curve goes up and down: it may come below the limit once more, further on.",
            _too_soon,
        ),
        Mistake(
            "the smallest coverage",
            "asked is the most that may be answered: of all places under the limit the last.",
            lambda p, labels, limit: _last(np.cumsum(np.cumsum(_curve(p, labels) <= limit)) == 1),
        ),
        Mistake(
            "the unsurest first",
            "np.argsort begins with the smallest: the surest are at the other end.",
            lambda p, labels, limit: _last(_curve(p, labels, np.argsort(p.max(axis=1))) <= limit),
        ),
        Mistake(
            "in their order",
            "answer where the classifier is surest: sort by the largest probability.",
            lambda p, labels, limit: _last(_curve(p, labels, np.arange(len(p))) <= limit),
        ),
        Mistake(
            "errors among all",
            "divide by the number of the answered pictures, not by that of all.",
            lambda p, labels, limit: _last(
                _curve(p, labels) * np.arange(1, len(p) + 1) / len(p) <= limit
            ),
        ),
        Mistake(
            "the right ones",
            "the risk is the share of the wrong answers.",
            lambda p, labels, limit: _last(1 - _curve(p, labels) <= limit),
        ),
        Mistake(
            "below the limit, not at it",
            "a risk that is the limit exactly is allowed.",
            lambda p, labels, limit: _last(_curve(p, labels) < limit),
        ),
        Mistake(
            "one picture too few",
            "Python counts from 0: at index i the curve has answered i + 1 pictures.",
            lambda p, labels, limit: max(0.0, _coverage(p, labels, limit) - 1 / len(p)),
        ),
        Mistake(
            "a number of pictures",
            "a coverage is a share: divide by the number of all pictures.",
            lambda p, labels, limit: len(p) * _coverage(p, labels, limit),
        ),
        Mistake(
            "confidence believed",
            "what a classifier says of itself is no count of its errors: use the labels.",
            lambda p, labels, limit: np.mean(p.max(axis=1) >= 1 - limit),
        ),
    ),
)

# Exercise 9.6.


def _surplus(p: Any, labels: Any) -> Any:
    """Sum of confidence less right."""
    return p.max(axis=1).sum() - np.sum(p.argmax(axis=1) == labels)


def _deviation(p: Any, labels: Any) -> Any:
    said = p.max(axis=1)
    return _surplus(p, labels) / np.sqrt(np.sum(said * (1 - said)))


def _scatter(ddof: int) -> Any:
    """In standard errors of the differences that came."""

    def found(p: Any, labels: Any) -> Any:
        differences = p.max(axis=1) - (p.argmax(axis=1) == labels)
        return _surplus(p, labels) / (math.sqrt(len(p)) * differences.std(ddof=ddof))

    return found


def _one_coin(p: Any, labels: Any, chance: Any) -> Any:
    return _surplus(p, labels) / np.sqrt(len(p) * chance * (1 - chance))


def _label_deviation(p: Any, labels: Any) -> Any:
    said = _label(p, labels)
    surplus = said.sum() - np.sum(p.argmax(axis=1) == labels)
    return surplus / np.sqrt(np.sum(said * (1 - said)))


def _overdone(p: Any, labels: Any) -> tuple[Any, Any]:
    """The same answers, said with too much confidence."""
    return p**3 / np.sum(p**3, axis=1, keepdims=True), labels


LUCK = Exercise(
    "9.6",
    "Diagnose: too sure, or bad luck?",
    "9.7",
    _deviation,
    (
        _SOME[0],
        *(_said(40, 4, scale) for scale in (0.5, 3.0)),
        _overdone(*_said(60, 3)),
        (np.full((5, 5), 0.2), np.arange(5)),
    ),
    (
        Mistake(
            "the sign is wrong",
            "too sure is positive: confidence minus accuracy.",
            lambda p, labels: -_deviation(p, labels),
        ),
        Mistake(
            "without its sign",
            "which of the two it is, the sign says: take no absolute value.",
            lambda p, labels: abs(_deviation(p, labels)),
        ),
        Mistake(
            "the scatter that came",
            "asked is the luck of a calibrated classifier: its variance needs no label.",
            (_scatter(0), _scatter(1)),
        ),
        Mistake(
            "one coin for all",
            "the coins differ: add c (1 − c) over the pictures. With the mean of c it is too much.",
            lambda p, labels: _one_coin(p, labels, p.max(axis=1).mean()),
        ),
        Mistake(
            "the coin of the accuracy",
            "if the classifier is calibrated, its coins come up as its confidences say.",
            lambda p, labels: _one_coin(p, labels, np.mean(p.argmax(axis=1) == labels)),
        ),
        Mistake(
            "variance for sd",
            "a sum is compared with the sd of that sum: take the root.",
            lambda p, labels: _surplus(p, labels) / np.sum(p.max(axis=1) * (1 - p.max(axis=1))),
        ),
        Mistake(
            "the luck of one picture",
            "a mean over n pictures has a variance n times smaller than one of them.",
            lambda p, labels: _deviation(p, labels) / math.sqrt(len(p)),
        ),
        Mistake(
            "sds are added",
            "of independent pictures the variances add.",
            lambda p, labels: (
                _surplus(p, labels) / np.sqrt(p.max(axis=1) * (1 - p.max(axis=1))).sum()
            ),
        ),
        Mistake(
            "the label's probability",
            "the confidence is the largest probability, whether the answer is right or not.",
            _label_deviation,
        ),
        Mistake(
            "not compared with luck",
            "confidence minus accuracy says by how much; divide it by the sd of luck.",
            (
                lambda p, labels: _surplus(p, labels) / len(p),
                _surplus,
            ),
        ),
    ),
)

# Exercise 9.7.


class _World(NamedTuple):
    """Five networks, each with noise of its own on logits that are ``factor`` times too large."""

    logs: Any  # of n pictures to choose on [5, n, 6]
    labels: Any
    others: Any
    fresh: Any


@lru_cache(maxsize=8)
def _sharpened(seed: int) -> _World:
    rng = np.random.default_rng([9, 7, seed])
    factor = (4.0, 0.5, 2.0)[seed % 3]
    true = 4.0 * rng.normal(size=(3300, 6))
    p = np.exp(log_softmax(true, axis=1))
    labels = (rng.random((len(p), 1)) > p.cumsum(axis=1)).sum(axis=1).clip(max=5)
    logs = log_softmax(factor * (true + 3.0 * rng.normal(size=(5, *true.shape))), axis=2)
    return _World(logs[:, :300], labels[:300], logs[:, 300:], labels[300:])


def _all_sharpened() -> tuple[_World, ...]:
    return tuple(map(_sharpened, range(3)))


_ROOM = 0.02  # nats a picture above the lowest; the best of 300 pictures comes within 0.006


def _log_loss(logs: Any, labels: Any, temperature: float) -> float:
    """Of the mean of tempered networks."""
    return -metrics.class_log_likelihood(calibration.tempered(logs, temperature), labels)


def _mends(temperature: Any, logs: Any, labels: Any) -> Any:
    """1 if the temperature is good on pictures on which it was not chosen, 0 if not."""
    if np.ndim(temperature) or not 0 < temperature < math.inf:
        return math.nan
    world = next(w for w in _all_sharpened() if np.array_equal(w.labels, labels))
    best = _log_loss(world.others, world.fresh, _lowest(world.others, world.fresh))
    return float(_log_loss(world.others, world.fresh, float(temperature)) < best + _ROOM)


def _lowest(log_p: Any, labels: Any) -> float:
    found = scipy.optimize.minimize_scalar(
        lambda log_t: _log_loss(log_p, labels, math.exp(log_t)), bounds=(-3, 3), method="bounded"
    )
    return math.exp(found.x)


def _after_averaging(world: _World) -> float:
    return calibration.best_temperature(logsumexp(world.logs, axis=0) - math.log(5), world.labels)


def _alone(world: _World) -> float:
    """One for all networks, each by itself."""
    return calibration.best_temperature(np.concatenate(world.logs), np.tile(world.labels, 5))


def _temperatures(outcomes: Sequence[Outcome]) -> list[float] | None:
    """One positive number a world, or None."""
    found = [float(o) for o in outcomes if isinstance(o, np.ndarray) and o.ndim == 0]
    whole = len(found) == len(outcomes) and all(0 < t < math.inf for t in found)
    return found if whole else None


def _is(of: Callable[[_World], float]) -> Callable[..., bool]:
    """Whether all temperatures are what ``of`` finds, within a twentieth."""

    def found(outcomes: Sequence[Outcome], _: Sequence[Outcome]) -> bool:
        temperatures = _temperatures(outcomes)
        wanted = [of(world) for world in _all_sharpened()]
        return temperatures is not None and np.allclose(temperatures, wanted, rtol=0.05)

    return found


def _is_upside_down(outcomes: Sequence[Outcome], _: Sequence[Outcome]) -> bool:
    found = _temperatures(outcomes)
    wanted = [_lowest(w.logs, w.labels) for w in _all_sharpened()]
    return found is not None and np.allclose(np.multiply(found, wanted), 1.0, atol=0.3)


def _is_one(outcomes: Sequence[Outcome], _: Sequence[Outcome]) -> bool:
    found = _temperatures(outcomes)
    return found is not None and np.ptp(found) < 1e-9


TEMPERATURE = Exercise(
    "9.7",
    "Experiment: temper, then average",
    "9.3 and 9.8",
    _lowest,
    Late(lambda: tuple((w.logs, w.labels) for w in _all_sharpened())),
    (
        Mistake(
            "the same in every world",
            "some of these networks are too sure, some too humble: look at the pictures.",
            recognises=_is_one,
        ),
        Mistake(
            "upside down",
            "the logarithms are divided by T: networks that are too sure want T > 1.",
            recognises=_is_upside_down,
        ),
        Mistake(
            "averaged, then tempered",
            "that is the temperature of the average; here each network is tempered first, and "
            "their disagreement softens the average once more.",
            recognises=_is(_after_averaging),
        ),
        Mistake(
            "each network for itself",
            "that makes a single network honest; the average of honest networks that disagree is "
            "too humble. Whose log loss is to be low?",
            recognises=_is(_alone),
        ),
    ),
    compared=_mends,
)

# Exercise 9.8.

_ANSWERED, _WRONG, _STRANGE = 0.5, 0.03, 0.25  # at least; at most; at most
_AS_OFTEN = 0.1  # shares of strange and of known pictures that are the same, over three worlds


class _Doubtful(NamedTuple):
    """What five networks say of known pictures, and of known and strange ones mixed."""

    logs: Any
    labels: Any
    mixed: Any
    truth: Any  # labels of the mixed pictures, −1 for a strange one


@lru_cache(maxsize=4)
def _doubtful(seed: int) -> _Doubtful:
    """Five networks whose hidden layers are random, on digits without two of the classes."""
    digits, rng = datasets.digits(), np.random.default_rng([9, 8, seed])
    unseen = rng.choice(10, 2, replace=False)
    order = rng.permutation(len(digits.images))
    strange = np.isin(digits.labels[order], unseen)
    mine, others = order[~strange], order[strange][:100]
    known = np.searchsorted(np.setdiff1d(np.arange(10), unseen), digits.labels)
    x = digits.images.reshape(len(digits.images), -1).astype(float)
    train, choose, fresh = mine[:300], mine[300:500], mine[500:800]
    nets = np.stack([_random_layer(x, known, train, rng) for _ in range(5)])
    mix = rng.permutation(np.r_[fresh, others])
    truth = np.where(np.isin(mix, others), -1, known[mix])
    return _Doubtful(nets[:, choose], known[choose], nets[:, mix], truth)


def _random_layer(x: Any, labels: Any, train: Any, rng: Any) -> Any:
    """Log class probabilities ``[n, 8]`` of a network whose last layer is least squares."""
    hidden = np.maximum(x @ rng.normal(size=(x.shape[1], 150)) / 4 + rng.normal(size=150), 0)
    phi, target = hidden[train], np.eye(8)[labels[train]]
    w = np.linalg.solve(phi.T @ phi + 3.0 * np.eye(150), phi.T @ target)
    return log_softmax(6.0 * hidden @ w, axis=1)


def _worlds() -> tuple[_Doubtful, ...]:
    return tuple(map(_doubtful, range(3)))


def _unsure(logs: Any) -> Any:
    return metrics.predictive_entropy(np.exp(logs))


def _reference_answers(log_p: Any, labels: Any, log_new: Any) -> Any:
    return _unsure(log_new) <= np.quantile(_unsure(log_p), 0.7)


def _measured(answers: Any, mixed: Any) -> tuple[float, float, float] | None:
    """Shares: known pictures answered, wrong among these, strange pictures answered."""
    world = next(w for w in _worlds() if np.array_equal(w.mixed, mixed))
    if np.shape(answers) != world.truth.shape or not np.isin(answers, (0, 1)).all():
        return None
    chosen, strange = np.asarray(answers, bool), world.truth < 0
    known = chosen & ~strange
    said = np.exp(mixed).mean(axis=0).argmax(axis=1)
    wrong = np.mean(said[known] != world.truth[known]) if known.any() else 1.0
    return known.sum() / (~strange).sum(), float(wrong), float(chosen[strange].mean())


def _refuses_well(answers: Any, logs: Any, labels: Any, mixed: Any) -> Any:
    found = _measured(answers, mixed)
    if found is None:
        return math.nan
    answered, wrong, strange = found
    return float(answered >= _ANSWERED and wrong <= _WRONG and strange <= _STRANGE)


def _each(outcomes: Sequence[Outcome]) -> list[tuple[float, float, float]]:
    pairs = zip(outcomes, _worlds(), strict=True)
    found = [_measured(o, w.mixed) for o, w in pairs if isinstance(o, np.ndarray)]
    return [one for one in found if one is not None]


def _gives_no_answers(outcomes: Sequence[Outcome], expected: Sequence[Outcome]) -> bool:
    """Whether there is something for each picture, and it is not True or False."""
    shapes, wanted = ([getattr(o, "shape", None) for o in os] for os in (outcomes, expected))
    return shapes == wanted and not _each(outcomes)


def _answers_all(outcomes: Sequence[Outcome], _: Sequence[Outcome]) -> bool:
    found = _each(outcomes)
    return len(found) == len(outcomes) and all(f[0] > 0.95 and f[2] > 0.8 for f in found)


def _answers_few(outcomes: Sequence[Outcome], _: Sequence[Outcome]) -> bool:
    found = _each(outcomes)
    return len(found) == len(outcomes) and all(f[0] < _ANSWERED and f[2] <= f[0] for f in found)


def _strangers_first(outcomes: Sequence[Outcome]) -> float | None:
    """By how much strange pictures are answered more often; None where nearly all are."""
    found = _each(outcomes)
    whole = len(found) == len(outcomes) and not _answers_all(outcomes, ())
    return float(np.mean([f[2] - f[0] for f in found])) if whole else None


def _prefers_strangers(outcomes: Sequence[Outcome], _: Sequence[Outcome]) -> bool:
    more = _strangers_first(outcomes)
    return more is not None and more > _AS_OFTEN


def _is_blind(outcomes: Sequence[Outcome], _: Sequence[Outcome]) -> bool:
    more = _strangers_first(outcomes)
    few = _answers_few(outcomes, ())
    return more is not None and not few and abs(more) <= _AS_OFTEN


REFUSE = Exercise(
    "9.8",
    "Experiment: know when to be silent",
    "9.10",
    _reference_answers,
    Late(lambda: tuple((w.logs, w.labels, w.mixed) for w in _worlds())),
    (
        Mistake(
            "neither yes nor no",
            "return True or False for each picture.",
            recognises=_gives_no_answers,
        ),
        Mistake(
            "nobody is refused",
            "nearly all pictures are answered, the strange ones, too: set a limit.",
            recognises=_answers_all,
        ),
        Mistake(
            "too silent",
            "fewer than half of the known pictures are answered: the limit is too strict.",
            recognises=_answers_few,
        ),
        Mistake(
            "strangers first",
            "strange pictures are answered more often than known ones: turn the limit round.",
            recognises=_prefers_strangers,
        ),
        Mistake(
            "strangers as often as known ones",
            "your choice does not tell them apart: draw a score of doubt for either sort first.",
            recognises=_is_blind,
        ),
    ),
    compared=_refuses_well,
)
