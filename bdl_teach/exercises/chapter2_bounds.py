"""Exercises 2.5 to 2.8: β, safe logits, a baseline, a tighter bound."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import logsumexp

from bdl_teach.exercises.engine import Exercise, Mistake

_A = np.array
_RNG = np.random.default_rng(22)

BETA = Exercise(
    "2.5",
    "Change: the loss with β",
    "2.6 and 2.7",
    lambda log_likelihood, kl, beta: -np.mean(log_likelihood) + beta * kl,
    (
        (_A([-21.0, -25.0, -19.5]), 2.5, 1.0),
        (_A([-21.0, -25.0, -19.5]), 2.5, 4.0),
        (_A([-3.0, -2.0]), 0.7, 0.0),
    ),
    (
        Mistake(
            "missing 1/S",
            "the reconstruction is a mean over the draws of z.",
            lambda a, k, b: -np.sum(a) + b * k,
        ),
        Mistake(
            "the ELBO for the loss",
            "the optimiser minimises: the reconstruction enters with a minus.",
            lambda a, k, b: np.mean(a) - b * k,
        ),
        Mistake(
            "wrong sign of the KL",
            "a code far from the prior must cost.",
            lambda a, k, b: -np.mean(a) - b * k,
        ),
        Mistake(
            "wrong sign of the reconstruction",
            "a better reconstruction, a larger log p(x | z), must lower the loss.",
            lambda a, k, b: np.mean(a) + b * k,
        ),
        Mistake(
            "β on the reconstruction",
            "β multiplies the KL.",
            lambda a, k, b: -b * np.mean(a) + k,
        ),
        Mistake(
            "β on both terms",
            "that changes the learning rate, and nothing else.",
            lambda a, k, b: b * (k - np.mean(a)),
        ),
        Mistake("β forgotten", "β multiplies the KL.", lambda a, k, b: k - np.mean(a)),
        Mistake(
            "not averaged",
            "one number is wanted: average over the draws.",
            lambda a, k, b: -a + b * k,
        ),
    ),
)


def _bernoulli(x: Any, logits: Any) -> Any:
    return (x * logits - np.logaddexp(0.0, logits)).sum(axis=-1)


def _breaks(got: Any, want: Any) -> bool:
    """Right where it is finite, and not finite somewhere: the logits were too large."""
    pairs = list(zip(got, want, strict=True))
    if not all(isinstance(g, np.ndarray) and g.shape == w.shape for g, w in pairs):
        return False
    broken = any(not np.isfinite(g).all() for g, _ in pairs[1:])
    moderate = bool(np.isfinite(pairs[0][0]).all())
    return (
        broken
        and moderate
        and all(np.allclose(g[np.isfinite(g)], w[np.isfinite(g)]) for g, w in pairs)
    )


def _clipped(got: Any, want: Any) -> bool:
    """Right for moderate logits, and of too small a size for the extreme ones."""
    pairs = list(zip(got, want, strict=True))
    if not all(isinstance(g, np.ndarray) and g.shape == w.shape for g, w in pairs):
        return False
    return bool(
        np.allclose(*pairs[0], rtol=1e-4)
        and all(np.isfinite(g).all() for g, _ in pairs)
        and all((np.abs(g) <= np.abs(w) + 1e-6).all() for g, w in pairs[1:])
    )


LOGITS = Exercise(
    "2.6",
    "Break: a likelihood that cannot break",
    "2.6",
    _bernoulli,
    (
        (_A([[0.0, 1.0, 0.3], [1.0, 1.0, 0.0]]), _A([[-1.0, 2.0, 0.5], [0.1, -3.0, 1.4]])),
        (_A([[0.0, 1.0]]), _A([[800.0, -900.0]])),
        (_A([[1.0, 0.0], [0.5, 1.0]]), _A([[40.0, -40.0], [-60.0, 1000.0]])),
    ),
    (
        Mistake(
            "breaks for large logits",
            "e^800 overflows and log 0 = −∞: write log p = −log(1 + e^(−a)) with np.logaddexp.",
            recognises=_breaks,
        ),
        Mistake(
            "clipped",
            "clipping hides the overflow, and makes the likelihood of a sure mistake too good.",
            recognises=_clipped,
        ),
        Mistake(
            "wrong sign",
            "asked for is the log likelihood; the cross-entropy is its negative.",
            lambda x, a: -_bernoulli(x, a),
        ),
        Mistake(
            "logits taken as probabilities",
            "a logit is any number; p = 1/(1 + e^(−a)) is the probability.",
            lambda x, a: (x * np.log(a) + (1 - x) * np.log(1 - a)).sum(axis=-1),
        ),
        Mistake(
            "mean over the pixels",
            "the log likelihood of a picture is the sum over its pixels.",
            lambda x, a: (x * a - np.logaddexp(0.0, a)).mean(axis=-1),
        ),
        Mistake(
            "not summed",
            "return one number a picture: sum over the last axis.",
            lambda x, a: x * a - np.logaddexp(0.0, a),
        ),
        Mistake(
            "summed over everything",
            "return one number a picture.",
            lambda x, a: _bernoulli(x, a).sum(),
        ),
        Mistake(
            "only the bright pixels",
            "a dark pixel says something too: (1 − x) log(1 − p).",
            lambda x, a: (-x * np.logaddexp(0.0, -a)).sum(axis=-1),
        ),
        Mistake(
            "x and 1 − x swapped",
            "p is the probability of a bright pixel.",
            lambda x, a: _bernoulli(1.0 - x, a),
        ),
    ),
)


def _leave_one_out(f: Any, score: Any) -> Any:
    others = (f.sum() - f) / (len(f) - 1)
    return np.mean((f - others) * score)


def _cost_case(n: int) -> tuple[Any, Any]:
    eps = _RNG.standard_normal(n)
    return 10.0 + (0.5 * eps - 1.0) ** 2, eps / 0.5


BASELINE = Exercise(
    "2.7",
    "Extend: a baseline for the score function",
    "2.5",
    _leave_one_out,
    (_cost_case(2), _cost_case(5), _cost_case(40)),
    (
        Mistake(
            "no baseline",
            "subtract from each cost the mean of the others.",
            lambda f, g: np.mean(f * g),
        ),
        Mistake(
            "its own cost in the baseline",
            "with f_i in its own baseline the estimate is S/(S − 1) times too small: leave it out.",
            lambda f, g: np.mean((f - f.mean()) * g),
        ),
        Mistake(
            "baseline added",
            "the baseline is subtracted.",
            lambda f, g: np.mean((f + (f.sum() - f) / (len(f) - 1)) * g),
        ),
        Mistake(
            "others divided by S",
            "there are S − 1 others.",
            lambda f, g: np.mean((f - (f.sum() - f) / len(f)) * g),
        ),
        Mistake(
            "the sum of the others",
            "the baseline is their mean: divide by S − 1.",
            lambda f, g: np.mean((f - (f.sum() - f)) * g),
        ),
        Mistake(
            "missing 1/S",
            "average over the draws.",
            lambda f, g: len(f) * _leave_one_out(f, g),
        ),
        Mistake(
            "wrong sign",
            "the cost comes first, the baseline is subtracted from it.",
            lambda f, g: -_leave_one_out(f, g),
        ),
        Mistake(
            "the score is missing",
            "the cost without its baseline multiplies the score.",
            lambda f, g: np.mean(f - (f.sum() - f) / (len(f) - 1)) + 0 * g.sum(),
        ),
        Mistake(
            "not averaged",
            "one number is wanted: average over the draws.",
            lambda f, g: (f - (f.sum() - f) / (len(f) - 1)) * g,
        ),
    ),
)


def _underflows(got: Any, want: Any) -> bool:
    return all(isinstance(g, np.ndarray) and g.shape == () for g in got) and bool(
        np.isclose(got[0], want[0]) and any(not np.isfinite(g) for g in got)
    )


TIGHTER = Exercise(
    "2.8",
    "Extend: a tighter bound",
    "2.3",
    lambda log_w: logsumexp(log_w) - np.log(len(log_w)),
    ((_A([-1.0, -2.0, -0.5]),), (_A([-1000.0, -1002.0]),), (_RNG.normal(-30.0, 3.0, 50),)),
    (
        Mistake(
            "underflow",
            "e^(−1000) is 0 and its logarithm −∞: take the maximum out first (logsumexp).",
            recognises=_underflows,
        ),
        Mistake(
            "mean of logarithms",
            "that is the ELBO; the tighter bound is the logarithm of a mean.",
            lambda a: np.mean(a),
        ),
        Mistake(
            "missing 1/S",
            "the weights are averaged inside the logarithm: subtract log S.",
            lambda a: logsumexp(a),
        ),
        Mistake(
            "wrong sign of log S",
            "log(1/S) = −log S.",
            lambda a: logsumexp(a) + np.log(len(a)),
        ),
        Mistake(
            "1/S outside the logarithm",
            "the mean is inside the logarithm.",
            lambda a: logsumexp(a) / len(a),
        ),
        Mistake(
            "the best draw only",
            "that is the largest log weight; average over all of them.",
            lambda a: np.max(a),
        ),
        Mistake(
            "wrong sign",
            "this is the bound on −log p(x).",
            lambda a: np.log(len(a)) - logsumexp(a),
        ),
    ),
)

EXERCISES: tuple[Exercise, ...] = (BETA, LOGITS, BASELINE, TIGHTER)
