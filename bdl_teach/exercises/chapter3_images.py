"""Exercises 3.11 to 3.13: entropies and cross-entropies of classifiers of pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr, log_softmax

from bdl_teach._support.checks import Array
from bdl_teach.exercises._engine import Exercise, Mistake
from bdl_teach.exercises._faces import BASES, TINY

_A = np.array
_RNG = np.random.default_rng(13)

_SOFT = _RNG.dirichlet(np.ones(4), (5, 3))  # [T, n, classes]
_WIDE = _RNG.dirichlet(np.full(3, 0.3), (6, 7))
_HARD = np.eye(3)[_A([[0, 1], [0, 2], [0, 1]])]  # certain networks: probabilities of exactly 0
_ONE = _RNG.dirichlet(np.ones(5), (1, 4))  # one network
_LONG = np.stack([np.r_[t, np.full(1999, (1 - t) / 1999)][None] for t in (0.95, 0.93)])


# Two networks that disagree about 1200 pictures, about each to another degree.
_OFF = _RNG.permutation(np.linspace(0.02, 0.48, 1200))
_TWO = np.stack([np.stack([0.5 + d, 0.5 - d], axis=-1) for d in (_OFF, -_OFF)])


def _total(p: Any) -> Any:
    return entr(np.mean(p, axis=0)).sum(axis=-1)


def _naive(p: Any) -> Any:
    """The entropy of each distribution, NaN where a probability is 0."""
    return -np.sum(p * np.log(p), axis=-1)


def _expected(p: Any) -> Any:
    return entr(p).sum(axis=-1).mean(axis=0)


ENTROPY = Exercise(
    "3.11",
    "Compute: predictive entropy",
    "3.13",
    lambda p: _total(p),
    ((_SOFT,), (_WIDE,), (_HARD,), (_ONE,), (_LONG,)),
    (
        Mistake(
            "0 · log 0",
            "right where all probabilities are > 0; where one is 0, its term counts as 0, the "
            "limit of p log p.",
            lambda p: _naive(np.mean(p, axis=0)),
            breaks=True,
        ),
        Mistake(
            "a small number added",
            "the terms with p = 0 are 0: leave them out, and the logarithm of the others as it is.",
            (
                *(
                    lambda p, t=t: -np.sum(p.mean(axis=0) * np.log(p.mean(axis=0) + t), axis=-1)
                    for t in TINY
                    if t > 1e-13
                ),
                *(lambda p, t=t: _naive(np.maximum(p.mean(axis=0), t)) for t in TINY if t > 1e-16),
                *(lambda p, t=t: _naive(np.clip(p.mean(axis=0), t, 1 - t)) for t in TINY[5:]),
                *(lambda p, t=t: _naive(p.mean(axis=0) + t) for t in TINY if t > 1e-16),
            ),
        ),
        Mistake(
            "mean of entropies",
            "this is the expected entropy, the aleatoric part: average the probabilities first.",
            (_expected, lambda p: _naive(p).mean(axis=0)),
            breaks=True,
        ),
        Mistake(
            "mutual information",
            "the entropy of the average alone; nothing is subtracted.",
            (
                lambda p: _total(p) - _expected(p),
                lambda p: _naive(p.mean(axis=0)) - _naive(p).mean(axis=0),
            ),
            breaks=True,
        ),
        Mistake(
            "wrong sign",
            "log p is negative: a minus sign is missing.",
            (lambda p: -_total(p), lambda p: -_naive(p.mean(axis=0))),
            breaks=True,
        ),
        Mistake(
            "another logarithm",
            "nats: the natural logarithm, np.log.",
            (
                *(lambda p, b=b: _total(p) / b for b in BASES),
                *(lambda p, b=b: _naive(p.mean(axis=0)) / b for b in BASES),
            ),
            breaks=True,
        ),
        Mistake(
            "mean over the classes",
            "an entropy is a *sum* over the classes.",
            (
                lambda p: _total(p) / np.shape(p)[-1],
                lambda p: _naive(p.mean(axis=0)) / np.shape(p)[-1],
            ),
            breaks=True,
        ),
        Mistake(
            "divided by its largest value",
            "log C is the entropy of a shrug over C classes; (3.23) is not divided by it.",
            lambda p: _total(p) / np.log(np.shape(p)[-1]),
        ),
        Mistake(
            "entropies of each network",
            "average over the T networks first: one number a picture.",
            (lambda p: entr(p).sum(axis=-1), _naive),
            breaks=True,
        ),
        Mistake(
            "the weights are missing",
            "each −log p̄ is multiplied by its p̄.",
            (
                lambda p: -np.sum(np.log(p.mean(axis=0)), axis=-1),
                lambda p: -np.mean(np.log(p.mean(axis=0)), axis=-1),
            ),
        ),
        Mistake(
            "summed over the networks",
            "the mean over the T networks, not their sum.",
            (
                lambda p: entr(np.sum(p, axis=0)).sum(axis=-1),
                lambda p: entr(p).sum(axis=-1).sum(axis=0),
            ),
        ),
        Mistake(
            "taken over the pictures",
            "one number for each picture: the networks are the first axis.",
            (
                lambda p: entr(p.mean(axis=1)).sum(axis=-1),
                lambda p: _total(p).mean(),
                lambda p: _total(p).sum(),
            ),
        ),
        Mistake(
            "variance",
            "this is the variance of the probabilities over the draws.",
            (
                lambda p: np.var(p, axis=0).mean(axis=-1),
                lambda p: np.var(p, axis=0).sum(axis=-1),
            ),
        ),
        Mistake(
            "how sure of the likeliest class",
            "1 minus the largest probability, or its −log, leaves the other classes out.",
            (
                lambda p: 1 - p.mean(axis=0).max(axis=-1),
                lambda p: -np.log(p.mean(axis=0).max(axis=-1)),
                lambda p: p.mean(axis=0).max(axis=-1),
            ),
        ),
    ),
    atol=1e-14,  # of a certain picture it is exactly 0, also in float32
)


def _picked(values: Any, labels: Any) -> Any:
    return values[np.arange(len(labels)), labels]


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return -_picked(log_softmax(logits, axis=-1), labels)


def _softmax(logits: Any) -> Any:
    return np.exp(log_softmax(logits, axis=-1))


CROSS_ENTROPY = Exercise(
    "3.12",
    "Break: a cross-entropy that cannot break",
    "3.13",
    _cross_entropy,
    (
        (_A([[2.0, -1.0, 0.5], [0.1, 0.2, 0.3]]), _A([0, 2])),
        (_RNG.normal(size=(4, 5)), _A([4, 0, 1, 1])),
        (_RNG.normal(size=(7, 2)), _A([1, 1, 0, 1, 0, 0, 1])),
        (_A([[-0.3, 1.2, 0.7]]), _A([1])),
        (_A([[0.0, 2000.0, -3.0], [-2000.0, -2001.0, -1999.0]]), _A([2, 0])),
        (_A([[300.0, 299.0, 295.0, -80.0], [5.0, 4.0, -38.0, 7.0]]), _A([2, 2])),
        (_A([[1985.0, 2000.0], [-1980.0, -2000.0], [3.0, 2.5]]), _A([0, 1, 1])),
        (_A([[1000.0, 0.0], [720.0, 0.0], [900.0, 0.0]]), _A([1, 1, 0])),
        (_A([[120.0, 0.0], [0.0, 95.0]]), _A([1, 0])),
    ),
    (
        Mistake(
            "overflow",
            "right for small logits, but e^2000 is no floating-point number (and e^−2000 is 0): "
            "subtract the largest logit of each row before the exponential.",
            (
                lambda f, y: -np.log(_picked(np.exp(f) / np.exp(f).sum(-1, keepdims=True), y)),
                lambda f, y: np.log(np.exp(f).sum(axis=-1)) - _picked(f, y),
                lambda f, y: np.log(np.exp(f.astype(np.float32)).sum(axis=-1)) - _picked(f, y),
            ),
            breaks=True,
        ),
        Mistake(
            "log of the rounded softmax",
            "the softmax is safe, but a probability that is rounded to 0 costs infinity: take the "
            "logarithm of the sum, not of the quotient.",
            (
                lambda f, y: -np.log(_picked(_softmax(f), y)),
                lambda f, y: -np.log(_picked(_softmax(f.astype(np.float32)), y)),
            ),
        ),
        Mistake(
            "one maximum for all rows",
            "a row far below the largest logit of *all* rows underflows: subtract each row's own.",
            lambda f, y: np.log(np.exp(f - f.max()).sum(axis=-1)) - _picked(f - f.max(), y),
        ),
        Mistake(
            "clipped, or a small number added",
            "that hides the underflow, and makes a sure mistake far too cheap: take the logarithm "
            "of the sum, not of the quotient.",
            (
                *(lambda f, y, t=t: -np.log(_picked(_softmax(f), y) + t) for t in TINY),
                *(lambda f, y, t=t: -np.log(np.clip(_picked(_softmax(f), y), t, 1)) for t in TINY),
                *(
                    lambda f, y, t=t: -np.log(np.clip(_picked(_softmax(f), y), t, 1 - t))
                    for t in TINY[5:]
                ),
                *(
                    lambda f, y, t=t: _cross_entropy(np.clip(f, -t, t), y)
                    for t in (20, 50, 88, 100, 500, 700, 709)
                ),
            ),
        ),
        Mistake("wrong sign", "the cost is −log P.", lambda f, y: -_cross_entropy(f, y)),
        Mistake(
            "probability for its logarithm",
            "take −log of the probability of the label.",
            lambda f, y: _picked(_softmax(f), y),
        ),
        Mistake(
            "another logarithm",
            "nats belong to the natural logarithm, np.log.",
            tuple(lambda f, y, b=b: _cross_entropy(f, y) / b for b in BASES),
        ),
        Mistake(
            "mean for each",
            "one cost for each picture; do not average.",
            lambda f, y: np.mean(_cross_entropy(f, y)),
        ),
        Mistake(
            "summed",
            "one cost for each picture; do not sum.",
            lambda f, y: np.sum(_cross_entropy(f, y)),
        ),
        Mistake(
            "every class",
            "the cost of a picture is that of its label: one column a row.",
            lambda f, y: -log_softmax(f, axis=-1),
        ),
        Mistake(
            "a cost for each pair of picture and label",
            "logits[:, labels] takes all columns for every row: logits[np.arange(n), labels].",
            lambda f, y: -log_softmax(f, axis=-1)[:, y],
        ),
        Mistake(
            "the likeliest class for the label",
            "the label says which class it was, however unlikely.",
            lambda f, y: -log_softmax(f, axis=-1).max(axis=-1),
        ),
        Mistake(
            "the maximum is not added back",
            "log Σ e^(f − max) = logsumexp − max: shift the label's logit too, or add max again.",
            lambda f, y: _cross_entropy(f, y) - np.max(f, axis=-1),
        ),
        Mistake(
            "softmax over the pictures",
            "the classes are the last axis: axis=-1.",
            lambda f, y: -_picked(log_softmax(f, axis=0), y),
        ),
        Mistake(
            "the label's logit is missing",
            "this is the logsumexp alone; subtract the logit of the label.",
            lambda f, y: _cross_entropy(f, y) + _picked(f, y),
        ),
        Mistake(
            "the logsumexp is missing",
            "logits are not log probabilities: they need their normaliser.",
            lambda f, y: -_picked(f, y),
        ),
        Mistake(
            "labels counted from 1",
            "class 0 is the first column.",
            lambda f, y: _cross_entropy(f, y - 1),
        ),
    ),
)


def _order(score: Any, k: int) -> Array:
    return np.argsort(-np.asarray(score), kind="stable")[:k]


CHOICE = Exercise(
    "3.13",
    "Extend: which pictures should be labelled next?",
    "3.13",
    lambda p, k: _order(_total(p) - _expected(p), k),
    (
        (_RNG.dirichlet(np.ones(4), (6, 9)), 3),
        (_RNG.dirichlet(np.ones(3), (10, 12)) * 0.9 + 1 / 30, 5),
        (_RNG.dirichlet(np.full(5, 0.6), (7, 6)), 1),
        (_RNG.dirichlet(np.ones(2), (5, 20)), 20),  # every place in the order
        (_RNG.dirichlet(_A([0.5, 2.0, 4.0]), (12, 30)), 30),
        (_RNG.dirichlet(np.ones(10), (4, 25)), 11),
        (_TWO, 350),
    ),
    (
        Mistake(
            "predictive entropy",
            "it is also high where each network is unsure by itself, and there a label teaches "
            "little: subtract the expected entropy.",
            lambda p, k: _order(_total(p), k),
        ),
        Mistake(
            "expected entropy",
            "this chooses the pictures that every single network finds hard.",
            lambda p, k: _order(_expected(p), k),
        ),
        Mistake(
            "variance of the probabilities",
            "close in spirit; the question is about (3.24).",
            lambda p, k: _order(np.var(p, axis=0).sum(axis=-1), k),
        ),
        Mistake(
            "standard deviation of the probabilities",
            "close in spirit; the question is about (3.24).",
            lambda p, k: _order(np.std(p, axis=0).sum(axis=-1), k),
        ),
        Mistake(
            "the least sure prediction",
            "the largest averaged probability mixes hard pictures with those on which the "
            "networks disagree; the question is about (3.24).",
            lambda p, k: _order(-p.mean(axis=0).max(axis=-1), k),
        ),
        Mistake(
            "information over entropy",
            "(3.24) is a difference; it is not divided.",
            (
                lambda p, k: _order((_total(p) - _expected(p)) / _total(p), k),
                lambda p, k: _order(_total(p) / _expected(p), k),
            ),
        ),
        Mistake(
            "entropies added",
            "(3.24) subtracts the expected entropy.",
            lambda p, k: _order(_total(p) + _expected(p), k),
        ),
        Mistake(
            "in the order of the pictures",
            "the right pictures; return the most informative first.",
            lambda p, k: np.sort(_order(_total(p) - _expected(p), k)),
        ),
        Mistake(
            "the place of each picture",
            "np.argsort once gives the pictures in order; twice, each one's place in it.",
            lambda p, k: np.argsort(_order(_total(p) - _expected(p), np.shape(p)[1]))[:k],
        ),
        Mistake(
            "least informative",
            "np.argsort sorts upwards: the last ones are the largest.",
            lambda p, k: _order(_expected(p) - _total(p), k),
        ),
        Mistake(
            "least informative of the best first",
            "the right pictures, in the wrong order: most informative first.",
            lambda p, k: _order(_total(p) - _expected(p), k)[::-1],
        ),
        Mistake(
            "values for indices",
            "return which pictures, not how informative they are.",
            lambda p, k: -np.sort(_expected(p) - _total(p))[:k],
        ),
        Mistake(
            "all of them",
            "return k indices only.",
            lambda p, k: _order(_total(p) - _expected(p), np.shape(p)[1]),
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (ENTROPY, CROSS_ENTROPY, CHOICE)
