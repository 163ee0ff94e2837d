"""Define the exercises of chapter 10: scores and decisions."""

from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.densities import Gaussian
from bdl_teach.exercises import _normal as norm
from bdl_teach.exercises._engine import exercise
from bdl_teach.methods import bbb, ensemble, point
from bdl_teach.problems import mushrooms

_RNG = np.random.default_rng(7)


@exercise(
    "10.1",
    (0.4, _RNG.normal(0.0, 1.0, 5), 0.5),
    (-2.0, _RNG.normal(0.0, 0.3, 20), 2.0),
    (3.0, _RNG.normal(0.0, 2.0, 50), 0.1),
    (-0.7, _RNG.normal(0.0, 1.5, 3), 0.8),
    (0.9, _RNG.normal(0.0, 1.0, 2), 1.3),
    (60.0, _RNG.normal(0.0, 2.0, 7), 0.6),  # 100 sd away: every density is 0
    (3e-6, _RNG.normal(0.0, 2e-6, 4), 1e-6),  # reveals a small number added to the noise
    (-75.0, _RNG.normal(0.0, 0.01, 3), 0.9),  # far from all samples, which are near each other
    "the point is still in it: weight the networks as if they had not seen the point.",
    lambda y, f, s: logsumexp(norm.logpdf(y, f, s)) - np.log(len(f)),
    "moments for the mixture: no Gaussian with the networks' mean and variance is asked for.",
    lambda y, f, s: norm.logpdf(y, np.mean(f), np.sqrt(np.var(f) + s**2)),
    "mean of logarithms: average densities, then take the logarithm.",
    lambda y, f, s: np.mean(norm.logpdf(y, f, s)),
    "plug-in for the average: this scores the mean network alone.",
    lambda y, f, s: norm.logpdf(y, np.mean(f), s),
    "weights p for weights 1/p: without the point, networks near it have less weight, not more.",
    lambda y, f, s: logsumexp(2 * norm.logpdf(y, f, s)) - logsumexp(norm.logpdf(y, f, s)),
)
def _left_out(y: Any, samples: Any, noise_std: Any) -> Any:
    """Return the log of the harmonic mean of the densities of y, one density for each sample."""
    return np.log(len(samples)) - logsumexp(-norm.logpdf(y, samples, noise_std))


def _targets(count: int, scale: float, noise_std: float) -> tuple[Any, ...]:
    """Return (y, mean, epistemic sd, noise sd); many y are near an end of their 95 % interval."""
    mean, epistemic = scale * 0.5 * _RNG.normal(size=count), scale * _RNG.uniform(0.05, 1.0, count)
    near = np.where(_RNG.random(count) < 0.5, 0.15, 1.0) * _RNG.normal(size=count)
    z = _RNG.choice([-1.0, 1.0], count) * np.abs(1.96 + near)
    z += np.where(np.abs(np.abs(z) - 1.96) < 1e-3, 0.01, 0.0)  # so that 1.96 is exact enough
    return mean + z * np.hypot(epistemic, noise_std), mean, epistemic, noise_std


@exercise(
    "10.2",
    *(_targets(5, 1.5, 0.4), _targets(151, 1.5, 0.4), _targets(97, 2.5, 0.1)),
    *(_targets(83, 0.6, 1.7), _targets(211, 1.0, 1.0), _targets(307, 3.0, 2.2)),
    *(_targets(173, 0.3, 0.2), _targets(269, 0.9, 0.6), _targets(101, 3e-6, 2e-6)),
    "standard deviations added: variances add: √(epistemic² + noise²).",
    lambda y, m, e, s: np.mean(np.abs(y - m) <= 1.96 * (e + s)),
    "σ² for σ: the half-width is in the units of y: take the root.",
    lambda y, m, e, s: np.mean(np.abs(y - m) <= 1.96 * (e**2 + s**2)),
    "one-sided quantile: 95 % in the middle leaves 2.5 % on each side: 1.96, not 1.64.",
    lambda y, m, e, s: np.mean(np.abs(y - m) <= 1.645 * np.hypot(e, s)),
    "one end only: a point beyond the other end is outside too: use |y − mean|.",
    lambda y, m, e, s: np.mean(y - m <= 1.96 * np.hypot(e, s)),
)
def _coverage(y: Any, mean: Any, epistemic_std: Any, noise_std: Any) -> Any:
    return np.mean(np.abs(y - mean) <= 1.96 * np.hypot(epistemic_std, noise_std))


_F = _RNG.normal(0.0, 1.0, (30, 6))


@exercise(
    "10.3",
    ([0.1, 0.8], (2 * _F[:3, :2]).round(2), 0.2),
    ([0.02, 0.25, 0.5, 0.66, 0.9, 0.999], _F, 0.5),
    ([0.3, 0.05, 0.95, 0.7, 0.6, 0.15, 0.45], _RNG.normal(0.2, 1.5, (4, 7)), 1.7),
    ([0.975, 0.025, 0.4], _RNG.normal(0.0, 0.5, (2, 3)), 0.8),
    ([0.6, 0.1], 1e-6 * _F[:3, :2], 1e-6),  # reveals a small number added to the noise
    ([0.5, 0.9], [[-3.0, 0.4], [5.1, 8.1], [5.3, 0.9]], 0.3),  # two groups
    # two networks that agree, at levels in the tails
    ([1e-4, 0.999, 0.01], [[0.6, -2.0, 7.0], [0.6, -2.0, 7.0]], 1.4),
    "the networks' quantiles averaged: average the distribution functions instead.",
    lambda u, f, s: f.mean(axis=0) + s * ndtri(u),
    "moments for the mixture: a mixture has the quantiles of a Gaussian only if it is one.",
    lambda u, f, s: f.mean(axis=0) + np.sqrt(f.var(axis=0) + s**2) * ndtri(u),
    "the noise is missing: y is a function value plus noise.",
    lambda u, f, s: np.diag(np.quantile(f, u, axis=0)),
    "the level of a central interval: the level is the probability below.",
    lambda u, f, s: _quantile((1 + u) / 2, f, s),
    "upper tail: the level is the probability *below* the quantile.",
    lambda u, f, s: _quantile(1 - u, f, s),
    rtol=1e-4,
)
def _quantile(level: Any, samples: Any, noise_std: Any) -> Any:
    """Find by bisection the quantile at ``level`` of a mixture of normals, one for each sample."""
    low = samples.min(axis=0) - 50 * noise_std
    high = samples.max(axis=0) + 50 * noise_std
    for _ in range(60):
        middle = (low + high) / 2
        short = ndtr((middle - samples) / noise_std).mean(axis=0) < level
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high


_RNG_10_5 = np.random.default_rng(77)


def _two_sets(s: int, m: int, scale: float = 1.0) -> tuple[Any, Any]:
    """Return samples ``[s, m]`` from one peak, and samples ``[s, m]`` from two peaks."""
    one = _RNG_10_5.normal(0.5, 1.0, (s, m))
    side = np.where(_RNG_10_5.random((s, m)) < 0.5, -2.0, 2.0)
    return scale * one.round(2), scale * (side + _RNG_10_5.normal(0.0, 0.6, (s, m))).round(2)


exercise(
    "10.5",
    ([[0.0, 1.0], [3.0, 1.5], [1.0, -2.0]], [[2.5, 0.0], [0.5, 4.0], [-1.0, 0.5]]),
    _two_sets(20, 4),
    _two_sets(7, 7),
    _two_sets(40, 1),
    ([[0.4], [1.3]], [[1.4], [0.2]]),
    _two_sets(5, 3, 1e-6),  # reveals a small number added under the root
    "draws paired as they come: draw k of one has nothing to do with draw k of the other.",
    lambda a, b: np.sqrt(np.mean((a - b) ** 2)),
    "Gaussians again: (10.1) sees mean and sd alone: one peak and two may have the same.",
    lambda a, b: np.sqrt(
        np.mean((a.mean(axis=0) - b.mean(axis=0)) ** 2 + (a.std(axis=0) - b.std(axis=0)) ** 2)
    ),
    "every pair: two equal sets must be 0 apart.",
    lambda a, b: np.sqrt(np.mean((a[:, None] - b) ** 2)),
    "sorted over all inputs: the distance is one at each input: sort over the draws.",
    lambda a, b: np.sqrt(np.mean((np.sort(a, axis=None) - np.sort(b, axis=None)) ** 2)),
    "not averaged over x: one number is wanted: the mean over x, under the root.",
    lambda a, b: np.sqrt(np.mean((np.sort(a, axis=0) - np.sort(b, axis=0)) ** 2, axis=0)),
)(lambda a, b: np.sqrt(np.mean((np.sort(a, axis=0) - np.sort(b, axis=0)) ** 2)))


def _forecasts(count: int, factor: float, shift: float) -> tuple[Any, Any, Any]:
    """Draw targets y, predicted means m and sds s, with (y − m)/s from N(shift, factor²)."""
    mean, std = _RNG_10_5.normal(size=count).round(2), _RNG_10_5.uniform(0.2, 1.9, count).round(2)
    return (mean + std * (shift + factor * _RNG_10_5.standard_normal(count))).round(2), mean, std


exercise(
    "10.6",
    *map(_forecasts, (3, 50, 7, 2, 20), (3.0, 3.0, 0.4, 2.0, 1.0), (0.5, -0.4, 0.1, 0.3, 0.2)),
    ([3e-6, -1e-6], [0.0, 1e-6], [1e-6, 2e-6]),  # reveals a small number added to s
    ([4.0, -2.5, 7.1], [0.2, 1.0, -0.3], [0.03, 0.08, 0.05]),  # sds that are far too small
    "absolute values for squares: the likelihood is maximal at the root mean square of z.",
    lambda y, m, s: np.mean(np.abs(y - m) / s),
    "ratio of averages: divide each error by its own sd first.",
    (
        lambda y, m, s: np.sqrt(np.mean((y - m) ** 2) / np.mean(s**2)),
        lambda y, m, s: np.sqrt(np.mean((y - m) ** 2)) / np.mean(s),
    ),
    "sum for mean: the derivative is Σz²/k³ − n/k: the n does not drop out.",
    lambda y, m, s: np.sqrt(np.sum(((y - m) / s) ** 2)),
    "the factor of the 95 % interval: that mends one level; the log score asks for all of y.",
    lambda y, m, s: np.quantile(np.abs(y - m) / s, 0.95) / 1.96,
    rtol=2e-4,
)(lambda y, mean, std: np.sqrt(np.mean(((y - mean) / std) ** 2)))


def _bandit_case(n_actions: int, size: int) -> tuple[Any, ...]:
    """Draw the mean and covariance of weights w, the features of each action, and noise ε."""
    draw, root = _RNG_10_5.normal, _RNG_10_5.normal(size=(size, size))
    covariance = (root @ root.T + 0.1 * np.eye(size)).round(3)
    mean, contexts = draw(size=size).round(2), draw(size=(n_actions, size)).round(2)
    return mean, covariance, contexts, draw(size=size).round(2)


@exercise(
    "10.7",
    *(_bandit_case(*sizes) for _ in range(8) for sizes in ((3, 2), (6, 3), (9, 4), (5, 7))),
    "covariance for its root: w = m + L ε with L Lᵀ = Σ; Σ ε has covariance Σ².",
    lambda m, c, x, e: np.argmax(x @ (m + c @ e)),
    "correlations ignored: the square roots of the diagonal are not a root of Σ: use Cholesky.",
    lambda m, c, x, e: np.argmax(x @ (m + np.sqrt(np.diag(c)) * e)),
    "the reward for the action: return its place (np.argmax).",
    lambda m, c, x, e: np.max(x @ (m + np.linalg.cholesky(c) @ e)),
    "no draw: this is the best action on average; Thompson draws the weights first.",
    lambda m, c, x, e: np.argmax(x @ m),
    "the weight for the action: choose the largest reward x_a · w, not the largest weight.",
    lambda m, c, x, e: np.argmax(m + np.linalg.cholesky(c) @ e),
)
def _choice(mean: Any, covariance: Any, contexts: Any, eps: Any) -> Any:
    w = mean + np.linalg.cholesky(covariance) @ eps
    return np.argmax(contexts @ w)


_PAYS = _RNG_10_5.normal(size=(12, 4)).round(2)
_CHOSEN = _RNG_10_5.integers(0, 4, 12)

exercise(
    "10.8",
    ((_PAYS[:3, :2] + 3.0), [0, 1, 0]),
    (_PAYS, _CHOSEN),
    (_PAYS[:5, :3] - 4.0, [2, 0, 1, 1, 0]),
    (_RNG_10_5.normal(size=(7, 7)), _RNG_10_5.integers(0, 7, 7)),
    "not cumulative: add up what has been lost so far: np.cumsum.",
    lambda p, c: p.max(axis=1) - p[np.arange(len(c)), c],
    "reward for regret: regret is what the best action would have earned more.",
    lambda p, c: np.cumsum(p[np.arange(len(c)), c]),
    "best of all rounds: compare with the best action of the *same* round: max over axis 1.",
    lambda p, c: np.cumsum(p.max() - p[np.arange(len(c)), c]),
    "the best action on average: contexts differ: another action may be best in each round.",
    lambda p, c: np.cumsum(p.mean(axis=0).max() - p[np.arange(len(c)), c]),
    "one action for all rounds: the best action may be another one in each round.",
    lambda p, c: np.cumsum(p[:, p.sum(axis=0).argmax()] - p[np.arange(len(c)), c]),
    "wrong choices counted: regret is what they cost, not how many they were.",
    lambda p, c: np.cumsum(p.argmax(axis=1) != c),
)(lambda pays, chosen: np.cumsum(pays.max(axis=1) - pays[np.arange(len(chosen)), chosen]))


def _fault_of_plan(answer: Any, t: Any) -> str:
    if ((answer < 0) | (answer > 1)).any():
        return "no share"
    if np.mean([_regret_of(answer, seed) for seed in range(100, 104)]) < 600.0:
        return ""  # a share of 5 % in all rounds has a regret of about 640
    late = answer[-500:].mean() > 0.02
    return "it still explores at the end" if late else "too little is learnt, or too dearly"


def _regret_of(plan: Array, seed: int) -> float:
    """Return the mean final regret of acting at random with probability plan[t] in round t."""
    shares = iter(plan)

    def policy(mean: Array, sd: Array, rng: np.random.Generator) -> Array:
        explore = rng.random(mean.shape) < next(shares)
        return np.where(explore, rng.random(mean.shape) < 0.5, mean >= 0)

    return float(mushrooms.play(mushrooms.Stand.open(seed), policy, seed + 50)[-1].mean())


exercise("10.9", (np.arange(mushrooms.ROUNDS),), judge=_fault_of_plan)(lambda t: 0.2 * (t < 500))

_NEW = np.linspace(-0.5, 0.5, 101)[:, None]
_IN_GAP = np.abs(_NEW[:, 0] - 0.25) < 0.15
# The capacity of the chapter's fits, so that their compiled program is used.
_GIVEN: dict[str, Any] = {"hidden_units": (20,), "capacity": bbb.Capacity(64, (20,), 1)}


def _problems() -> tuple[tuple[Array, Array], ...]:
    """Return (x, y) of six data sets of 32 points, none with x between 0.1 and 0.4."""
    seeds = range(301_000, 307_000, 1000)
    made = (datasets.sinusoid(seed=seed, gap=(0.1, 0.4)) for seed in seeds)
    return tuple((data.x, data.y) for data in made)


def _repeats(answer: Any) -> bool:
    """Return whether at least two of the data sets got the same answer."""
    return any(np.array_equal(one, other) for one, other in combinations(answer, 2))


def _fault_of_bands(answer: Any, problems: Any, x_new: Any) -> str:
    mean, sd = answer[:, 0], answer[:, 1]
    if (sd <= 0).any():
        return "no sd"
    truth = 10 * np.sin(2 * np.pi * x_new[:, 0])
    covered = ndtr(mean + 1.96 * sd - truth) - ndtr(mean - 1.96 * sd - truth)
    score = -0.5 * np.log(2 * np.pi * sd**2) - 0.5 * ((truth - mean) ** 2 + 1) / sd**2
    if covered[:, ~_IN_GAP].mean() < 0.85:
        return "too sure among the data"
    if covered[:, _IN_GAP].mean() < 0.7:
        return "the gap is missed"
    if score[:, ~_IN_GAP].mean() < -2.0:
        return "covered by being vague"
    return "one band for several data sets" if _repeats(answer) else ""


@exercise("10.10", (_problems(), _NEW), judge=_fault_of_bands)
def _cover_the_gap(problems: Any, x_new: Any) -> Any:
    """Return ``[w, 2, m]``: for w data sets, mean and sd of y at m inputs, by ten MAP networks."""
    bands = []
    for x, y in problems:
        fits = [point.fit(x, y, prior=Gaussian(10.0), seed=k, **_GIVEN) for k in range(10)]
        f = np.array([fit.predict(x_new).mean for fit in fits])
        bands.append([f.mean(axis=0), np.hypot(f.std(axis=0), 1.0)])
    return np.array(bands)


_RNG_10_11 = np.random.default_rng(1011)


def _by_ranks(rank: Any) -> Any:
    """Return a wrong answer to exercise 10.11, a function that returns the ends of m intervals.

    The ends are new_mean + r · new_std, in which r is the k-th largest (lower ends) or the k-th
    smallest (upper ends) of the scores (y − mean)/std, and k is ``rank(scores, level)``.
    """

    def ends(y: Any, mean: Any, std: Any, new_mean: Any, new_std: Any, level: Any) -> Any:
        scores = np.sort((y - mean) / std)
        k = int(rank(scores, level))
        return new_mean + scores[-k] * new_std, new_mean + scores[k - 1] * new_std

    return ends


def _calibration_case(n: int, m: int, level: float, lean: float = 0.4) -> tuple[Any, ...]:
    """Draw n points and m new predictions for exercise 10.11; (y − mean)/std has mean ``lean``."""
    mean, std = _RNG_10_11.normal(size=n).round(2), _RNG_10_11.uniform(0.3, 2.5, n).round(2)
    y = mean + std * (lean + 1.7 * _RNG_10_11.standard_t(3, n))
    new_mean, new_std = _RNG_10_11.normal(size=m), _RNG_10_11.uniform(0.3, 2.5, m)
    return y.round(3), mean, std, new_mean.round(2), new_std.round(2), level


@exercise(
    "10.11",
    *(_calibration_case(63, 4, 0.95), _calibration_case(24, 3, 0.9)),
    *(_calibration_case(12, 5, 0.8), _calibration_case(45, 1, 0.55)),
    # (n + 1)(1 + c)/2 is whole, in floating point, too
    *(_calibration_case(31, 3, 0.75), _calibration_case(7, 2, 0.5)),
    # both ends are on one side of the mean
    *(_calibration_case(20, 3, 0.6, 4.0), _calibration_case(17, 2, 0.7, -4.0)),
    "the whole level at each end: that leaves out 1 − c twice: give each end half of it.",
    _by_ranks(lambda scores, c: np.ceil((len(scores) + 1) * c - 1e-9)),
    "one rank too low: the new point is one of n + 1; and round up.",
    (
        _by_ranks(lambda scores, c: np.ceil(len(scores) * (1 + c) / 2 - 1e-9)),
        lambda y, m, s, new_m, new_s, c: tuple(
            new_m + np.quantile((y - m) / s, (1 + side * c) / 2) * new_s for side in (-1, 1)
        ),
    ),
    "the band of (10.11): it goes as far up as down: count scores with their sign.",
    lambda y, m, s, new_m, new_s, c: tuple(
        new_m + side * np.sort(abs(y - m) / s)[int(np.ceil((len(y) + 1) * c - 1e-9)) - 1] * new_s
        for side in (-1, 1)
    ),
    "a Gaussian's quantile: count the ranks of the scores that were seen.",
    lambda y, m, s, a, b, c: (a + ndtri((1 - c) / 2) * b, a + ndtri((1 + c) / 2) * b),
    "one rank too far out: where (n + 1)(1 + c)/2 is whole, it is the rank itself.",
    _by_ranks(lambda scores, c: np.floor((len(scores) + 1) * (1 + c) / 2 + 1e-9) + 1),
)
def _leaning(y: Any, mean: Any, std: Any, new_mean: Any, new_std: Any, level: Any) -> Any:
    scores = np.sort((y - mean) / std)
    k = int(np.ceil((len(scores) + 1) * (1 + level) / 2 - 1e-9))
    return new_mean + scores[-k] * new_std, new_mean + scores[k - 1] * new_std


_PRICE = 8.0  # of an offer; only near its peak the sine pays more
_PEAK = np.abs(_NEW[:, 0] - 0.25) < 0.1


def _fault_of_draws(answer: Any, problems: Any, x_new: Any) -> str:
    takes = answer >= _PRICE
    if answer[:, :, _PEAK].std(axis=1).mean() < 1e-3:
        return "all draws are alike"
    if takes[:, :, ~_IN_GAP].mean() > 0.02:
        return "tries what is known not to pay"
    if takes[:, :, _PEAK].mean(axis=(1, 2)).min() < 0.05:
        return "the peak is hardly tried"
    around = answer - answer.mean(axis=1, keepdims=True)
    if np.square(np.diff(around, axis=2)).mean() > 0.5 * np.square(around).mean():
        return "neighbouring inputs do not go together"  # of white noise it is twice as much
    return "the same draws for several data sets" if _repeats(answer) else ""


@exercise("10.12", (_problems(), _NEW), judge=_fault_of_draws)
def _ensemble_draws(problems: Any, x_new: Any) -> Any:
    """Return ``[w, s, m]``: for w data sets, s draws from an anchored ensemble, at m inputs."""
    drawn = []
    for x, y in problems:
        fit = ensemble.fit(x, y, prior=Gaussian(3.0), anchored=True, **_GIVEN)
        which = np.random.default_rng(0).integers(0, 10, 50)
        members = fit.predict(x_new).samples
        assert members is not None  # for an ensemble they are its functions
        drawn.append(members[which])
    return np.array(drawn)
