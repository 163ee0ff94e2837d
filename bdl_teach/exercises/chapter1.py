"""Define the exercises of chapter 1: from maximum likelihood to Bayes."""

from typing import Any

import numpy as np
from scipy.special import log_softmax, logsumexp, rel_entr, softmax

from bdl_teach import datasets, features
from bdl_teach._support.checks import Array
from bdl_teach.exercises import _normal as norm
from bdl_teach.exercises._engine import exercise
from bdl_teach.methods import exact

_RNG, _RNG_1_7 = np.random.default_rng(11), np.random.default_rng(1)

exercise(
    "1.1",
    ([0.9, -0.4, 2.0], [1.0, 0.1, 1.2], 0.5),
    ([3.0], [-1.0], 2.0),
    ([0.1, 0.2, 0.3, 0.9], [0.0, 0.0, 0.5, 0.5], 0.1),
    ([1.0, -1.5], [2.2, -2.7], 0.7),  # the residuals sum to 0
    ([0.004, -0.002, 0.011], [0.001, 0.006, 0.003], 0.003),
    (_RNG.normal(0.0, 40.0, 7), _RNG.normal(0.0, 40.0, 7), 31.0),
    ([0.3, 60.0], [0.1, -40.0], 0.8),  # an outlier: its density is 0
    (_RNG.normal(0.0, 2.0, 900), np.zeros(900), 1.9),  # their product of densities is 0
    "the normalising constant is missing: it does not depend on w, but it does on s.",
    lambda y, f, s: np.sum((y - f) ** 2) / (2 * s**2),
    "the normalising constant counted once: each of the n points brings its own ½ log 2πs².",
    lambda y, f, s: np.sum((y - f) ** 2) / (2 * s**2) + np.log(2 * np.pi * s**2) / 2,
    "the ½ is missing: the exponent of a Gaussian is −½ (r/s)².",
    lambda y, f, s: np.sum((y - f) ** 2) / s**2 + len(y) / 2 * np.log(2 * np.pi * s**2),
)(lambda y, f, s: np.sum((y - f) ** 2) / (2 * s**2) + len(y) / 2 * np.log(2 * np.pi * s**2))


@exercise(
    "1.2",
    ([-1.0, -0.5, 0.5, 1.5], [-0.9, -0.1, 0.5, 1.1], 0.5, 1.0),
    ([2.0], [3.0], 1.5, 0.7),
    ([0.7, -2.1, 0.4], [1.3, 0.2, -3.0], 2.3, 0.06),
    ([1.0, -2.0], [0.01, 0.03], 0.02, 0.004),
    ([0.013, -0.02, 0.031, 0.008], [0.002, 0.001, 0.006, -0.003], 0.004, 0.15),
    (_RNG.normal(0.0, 30.0, 7), _RNG.normal(5.0, 900.0, 7), 700.0, 24.0),
    "the prior is missing: this is the likelihood alone: add the prior's precision 1/σ_p².",
    lambda x, y, s, p: _posterior(x, y, s, np.inf),
    "means for sums: every point adds to the precision: Σx² and Σxy are sums.",
    lambda x, y, s, p: _posterior(x, y, s * np.sqrt(len(x)), p),
)
def _posterior(x: Any, y: Any, s: Any, sigma_p: Any) -> Any:
    precision = x @ x / s**2 + 1 / sigma_p**2
    return x @ y / s**2 / precision, 1 / np.sqrt(precision)


exercise(
    "1.4",
    *((0.5, 1.0, 4), (2.0, 0.3, 100), (0.1, 3.0, 32), (0.37, 1.9, 1)),
    *((3.1, 0.004, 53), (0.003, 0.45, 7), (0.02, 0.003, 1)),
    "the factor 2s²/N is missing: Keras' objective is (1.4) times 2s²/N.",
    lambda s, p, n: 1 / (2 * p**2),
    "N times for 1/N: divide by N, do not multiply.",
    lambda s, p, n: n * s**2 / p**2,
)(lambda s, sigma_p, n: s**2 / (n * sigma_p**2))


@exercise(
    "1.5",
    (1.0, [0.2, 0.9, 1.5, -0.3], 0.5, [-1.0, 0.5, 0.3, -2.0]),
    (-2.0, [-1.0, 1.0], 1.2, [0.7, 1.6]),
    (0.7, [-0.4], 2.3, [3.0]),  # one draw: its weight does not matter
    (0.01, [0.012, 0.004, 0.007], 0.002, [-3.0, 0.0, -1.0]),
    (9.0, [1.1, 0.3, -0.8, 1.0, 0.2, -2.0, 0.95], 0.6, [0.1, 2, -1, 0.4, 1, 3, -2]),
    (60.0, [0.0, 3.0, 5.0], 1.0, [9.0, 1.0, -4.0]),  # all densities are 0
    (0.5, [0.1, 0.8, 2.0], 0.7, [-1001.0, -1000.0, -1003.0]),  # all densities and weights are 0
    (0.5, [0.1, 0.8, 2.0], 0.7, [804.0, 802.0, 805.0]),
    (-70.0, [1.0, 1.02, 0.98, 4.0], 1.7, [-2.0, 0.0, 1.0, 60.0]),
    (0.0, [60.0, 0.0, 100.0], 1.0, [0.2, 0.0, -0.3]),  # one draw has all the density
    "the weights are ignored: (1.12) is for draws that all count the same; here they do not.",
    lambda y, f, s, a: _log_predictive(y, f, s, 0 * f),
    "the weights do not sum to 1: a mean divides by the sum of its weights.",
    lambda y, f, s, a: logsumexp(norm.logpdf(y, f, s) + a),
    "mean of logarithms: average the *densities*, then take the logarithm.",
    lambda y, f, s, a: norm.logpdf(y, f, s) @ softmax(a),
    "plug-in: this is the density around the mean function; the draws disagree about it.",
    lambda y, f, s, a: norm.logpdf(y, f @ softmax(a), s),
)
def _log_predictive(y: Any, f: Any, s: Any, log_weights: Any) -> Any:
    return logsumexp(norm.logpdf(y, f, s) + log_softmax(log_weights))


exercise(
    "1.6",
    ([0.2, -0.5, 1.3], [0.25, 0.25, -0.5]),
    ([0.7, 0.1, -2.1, 3.1], [1.1, 0.2, 0.3, -0.4]),
    ([0.9, 0.0, -40.0, 1.0], [0.5, -30.0, 0.4, 0.1]),
    ([2.0, 0.0, -1.0], [400.0, -500.0, 30.0]),  # p rounds to 0, and the KL is finite
    ([-800.0, 900.0], [0.3, -0.2]),  # e^900 is no number
    ([-1000.0, -1001.0, -1003.0], [-1002.0, -1000.0, -1001.0]),  # e^−1000 is 0
    ([1.0, 1001.0], [1000.0, 0.0]),
    ([0.4, -0.4], [5.4, 4.2]),  # nearly the same
    ([0.3, 1.2, 0.6], [0.9, 0.4, 0.1]),  # no logit below 0
    "overflow, or underflow: e^900 is no number, and e^−900 is 0: normalise in logarithms.",
    lambda a, b: np.sum(rel_entr(np.exp(a) / np.exp(a).sum(), np.exp(b) / np.exp(b).sum())),
    "not normalised: a logit is a log probability only up to a constant.",
    lambda a, b: np.sum(softmax(a) * (a - b)),
    "cross-entropy: this is −Σ q log p; the entropy of q is missing.",
    lambda a, b: -np.sum(softmax(a) * (b - logsumexp(b))),
)(lambda a, b: np.sum(softmax(a) * (log_softmax(a) - log_softmax(b))))


def _cov(phi: Any, s: Any, c: Any) -> Any:
    return (phi * c**2) @ phi.T + s**2 * np.eye(len(phi))


def _misfit(cov: Any, y: Any) -> Any:
    return y @ np.linalg.solve(cov, y)


def _log_density(cov: Any, y: Any) -> Any:
    """Return log N(y | 0, cov)."""
    return -0.5 * (np.linalg.slogdet(2 * np.pi * cov)[1] + _misfit(cov, y))


def _scorer(score: Any) -> Any:
    """Return a wrong answer to exercise 1.7, which computes a score for each of k priors.

    The score is ``score(cov of y, y, noise_std)``; ``candidates`` are the priors' sds ``[k, d]``.
    """
    return lambda phi, y, noise_std, candidates: np.array(
        [score(_cov(phi, noise_std, prior_std), y, noise_std) for prior_std in candidates]
    )


_NORMAL, _GAMMA = _RNG_1_7.normal, _RNG_1_7.gamma
_MANY = _NORMAL(size=(90, 3))

exercise(
    "1.7",
    (_NORMAL(size=(5, 2)), _NORMAL(size=5), 0.5, [[0.1, 1.0], [3.0, 0.3]]),
    (_NORMAL(size=(4, 6)), 3 * _NORMAL(size=4), 1.5, _GAMMA(2.0, 1.0, (3, 6))),
    (np.ones((1, 1)), [2.0], 1.2, [[0.1], [1.0], [10.0]]),
    (_NORMAL(size=(7, 3)), 0.002 * _NORMAL(size=7), 0.001, [[0.003, 0.0004, 0.02]]),
    # The determinant is 0 in floating point; in the second case the density is infinite, too.
    (_MANY, 0.004 * _NORMAL(size=90), 0.0037, [[1e-3, 2e-3, 4e-3], [3e-3, 5e-4, 1e-3]]),
    (_MANY, 1e-5 * _NORMAL(size=90), 1.1e-5, [[3e-6, 5e-6, 1e-6]]),
    "likelihood of the MAP weights: the evidence averages over the prior instead.",
    _scorer(lambda cov, y, s: _log_density(s**2 * np.eye(len(y)), s**2 * np.linalg.solve(cov, y))),
    "the determinant is missing: −½ log det is the price of a wide prior.",
    _scorer(lambda cov, y, s: -0.5 * (_misfit(cov, y) + len(y) * np.log(2 * np.pi))),
    "correlations dropped: two outputs share their weights, so they covary.",
    _scorer(lambda cov, y, s: _log_density(np.diag(np.diag(cov)), y)),
)(
    lambda phi, y, noise_std, candidates: np.array(
        [_log_density(_cov(phi, noise_std, prior_std), y) for prior_std in candidates]
    )
)


def _inverse_by_group(matrix: Any, group: Any) -> Any:
    """Set the entries of ``matrix`` between weights of different groups to 0, and invert it."""
    return np.linalg.inv(np.where(group[:, None] == group, matrix, 0.0))


_FACTOR = _NORMAL(size=(5, 5)) + 2 * np.eye(5)

exercise(
    "1.8",
    ([[2.0, -0.6, 0.1], [-0.6, 0.5, 0.2], [0.1, 0.2, 1.5]], [0, 1, 0]),
    ([[1.0, 0.9], [0.9, 1.0]], [0, 1]),
    ([[4.0, 1.0], [1.0, 9.0]], [2, 2]),
    ([[0.3]], [0]),
    (1e-6 * _FACTOR @ _FACTOR.T, [0, 1, 0, 2, 1]),
    ([[7.0e8, 2.0e8, -1.0e8], [2.0e8, 4.0e8, 0.5e8], [-1.0e8, 0.5e8, 9.0e8]], [1, 0, 0]),
    "each weight alone: this is (1.22); here the weights of one group keep their correlations.",
    lambda cov, group: 1 / np.sqrt(np.diag(np.linalg.inv(cov)) * np.diag(cov)),
    "the covariance's blocks inverted: q holds other groups fixed: invert the precision's.",
    lambda cov, group: np.diag(_inverse_by_group(cov, group) * cov) ** -0.5,
    "all ratios are 1: that is KL[p ‖ q]; KL[q ‖ p] wants the slice of p, with smaller sds.",
    lambda cov, group: np.ones(len(cov)),
)(lambda cov, group: np.diag(_inverse_by_group(np.linalg.inv(cov), group) / cov) ** 0.5)

_GRID = np.linspace(-1, 1, 201)


def _epistemic(inputs: Any) -> Array:
    """Return the epistemic sd on ``_GRID`` for ten ``features.bumps`` and data at ``inputs``."""
    phi = features.bumps(np.reshape(inputs, (-1, 1)), 10)
    known = exact.linear_regression(phi, np.zeros(len(phi)), 10.0, 1.0)
    return known.predict(features.bumps(_GRID[:, None], 10)).epistemic_std


def _fault_of_inputs(new: Any, seen: Any) -> str:
    if np.abs(new).max() > 1 + 1e-6:
        return "outside"
    sd = _epistemic([*seen, *new]).max()  # units of y
    if sd < 3.0:  # it is 1.3 after measuring where the sd is largest, 4 to 5 on an even grid
        return ""
    return "all in one place" if np.ptp(new) < 0.05 else "still unsure somewhere"


def _seen(seed: int, left: float = -0.6, right: float = 0.3) -> tuple[Array]:
    return (np.random.default_rng(seed).uniform(left, right, 12),)


@exercise(
    "1.9",
    *(*map(_seen, range(100, 112)), *(_seen(112, left, left + 0.9) for left in (-1.0, -0.1, 0.1))),
    judge=_fault_of_inputs,
)
def _measure(seen: Any) -> Array:
    inputs = list(seen)
    for _ in range(6):
        inputs.append(_GRID[np.argmax(_epistemic(inputs))])
    return np.array(inputs[-6:])


_NOISES = 6 * (0.5, 1.0, 2.0, 4.0)
_SETS = [datasets.sinusoid(16, sd, seed + 100) for seed, sd in enumerate(_NOISES)]


def _fault_of_noises(found: Any, problems: Any) -> str:
    if found.min() <= 0:
        return "not above 0"
    off = np.log(found / np.array(_NOISES))  # by the evidence it is 0 ± 0.04 on average, sd 0.17
    if abs(off.mean()) > 0.12:
        return "too quiet" if off.mean() < 0 else "too loud"
    return "not that of each data set" if off.std() > 0.5 else ""


exercise(
    "1.10",
    (tuple((d.x, d.y) for d in _SETS),),
    "nothing is fitted: this is the spread of y: the curve in it is no noise.",
    lambda problems: np.array([np.std(y) for _, y in problems]),
    judge=_fault_of_noises,
    is_measured=True,
)(lambda problems: np.array(_NOISES))
