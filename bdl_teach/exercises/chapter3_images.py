"""Exercises 3.11 to 3.13: entropies and cross-entropies of classifiers of pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import entr, log_softmax

from bdl_teach.checks import Array
from bdl_teach.exercises.engine import Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(13)

_SOFT = _RNG.dirichlet(np.ones(4), (5, 3))  # [T, n, classes]
_WIDE = _RNG.dirichlet(np.full(3, 0.3), (6, 7))
_HARD = np.eye(3)[_A([[0, 1], [0, 2], [0, 1]])]  # certain networks: probabilities of exactly 0


def _total(p: Any) -> Any:
    return entr(np.mean(p, axis=0)).sum(axis=-1)


def _expected(p: Any) -> Any:
    return entr(p).sum(axis=-1).mean(axis=0)


ENTROPY = Exercise(
    "3.11",
    "Compute: predictive entropy",
    "3.13",
    lambda p: _total(p),
    ((_SOFT,), (_WIDE,), (_HARD,)),
    (
        Mistake(
            "0 · log 0",
            "right where all probabilities are > 0; where one is 0, its term counts as 0, the "
            "limit of p log p.",
            lambda p: -np.sum(np.mean(p, axis=0) * np.log(np.mean(p, axis=0)), axis=-1),
            breaks=True,
        ),
        Mistake(
            "mean of entropies",
            "this is the expected entropy, the aleatoric part: average the probabilities first.",
            _expected,
        ),
        Mistake(
            "mutual information",
            "the entropy of the average alone; nothing is subtracted.",
            lambda p: _total(p) - _expected(p),
        ),
        Mistake("wrong sign", "log p is negative: a minus sign is missing.", lambda p: -_total(p)),
        Mistake("bits", "nats: the natural logarithm, not log2.", lambda p: _total(p) / np.log(2)),
        Mistake(
            "mean over the classes",
            "an entropy is a *sum* over the classes.",
            lambda p: _total(p) / np.shape(p)[-1],
        ),
        Mistake(
            "entropies of each network",
            "average over the T networks first: one number a picture.",
            lambda p: entr(p).sum(axis=-1),
        ),
        Mistake(
            "variance",
            "this is the variance of the probabilities over the draws.",
            lambda p: np.var(p, axis=0).mean(axis=-1),
        ),
    ),
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
        (_A([[0.0, 2000.0, -3.0], [-2000.0, -2001.0, -1999.0]]), _A([2, 0])),
    ),
    (
        Mistake(
            "overflow",
            "right for small logits, but e^2000 is no floating-point number (and e^−2000 is 0): "
            "subtract the largest logit of each row before the exponential.",
            lambda f, y: -np.log(_picked(np.exp(f) / np.exp(f).sum(-1, keepdims=True), y)),
            breaks=True,
        ),
        Mistake("wrong sign", "the cost is −log P.", lambda f, y: -_cross_entropy(f, y)),
        Mistake(
            "probability for its logarithm",
            "take −log of the probability of the label.",
            lambda f, y: _picked(_softmax(f), y),
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
            lambda p, k: _order(np.var(p, axis=0).mean(axis=-1), k),
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
