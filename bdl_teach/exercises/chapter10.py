"""Exercises of chapter 10: scores and decisions."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.densities import Gaussian
from bdl_teach.exercises._engine import exercise, mistakes
from bdl_teach.methods import bbb, ensemble, point
from bdl_teach.problems import mushrooms

_A = np.array


_RNG = np.random.default_rng(7)


def _log_normal(y: Any, mean: Any, std: Any) -> Any:
    return -0.5 * ((y - mean) / std) ** 2 - np.log(std) - 0.5 * np.log(2 * np.pi)


def _harmonic(each: Any) -> Any:
    """Logarithm of the harmonic mean of densities, from their logarithms."""
    return np.log(len(each)) - logsumexp(-each)


def _density(y: Any, samples: Any, noise_std: Any) -> Any:
    return np.exp(_log_normal(y, samples, noise_std))


@exercise(
    "10.1 Compute: the score of a point that was left out",
    "10.3",
    tuple(
        (y, _RNG.normal(0.0, spread, s), noise)
        for y, spread, s, noise in (
            (0.4, 1.0, 5, 0.5),
            (-2.0, 0.3, 20, 2.0),
            (3.0, 2.0, 50, 0.1),
            (-0.7, 1.5, 3, 0.8),
            (0.9, 1.0, 2, 1.3),
            (60.0, 2.0, 7, 0.6),  # a hundred standard deviations away: every density is 0
            (3e-6, 2e-6, 4, 1e-6),  # what is added to the noise shows
            (-75.0, 0.01, 3, 0.9),  # far from all, which are near each other: none is the nearest
        )
    ),
    mistakes(
        "the point is still in it: this is (10.2): the networks were drawn knowing the point. "
        "What must their weights be, so that they have not?",
        lambda y, f, s: logsumexp(_log_normal(y, f, s)) - np.log(len(f)),
        "missing 1/S: what is averaged over the draws is divided by S.",
        lambda y, f, s: -logsumexp(-_log_normal(y, f, s)),
        "mean of logarithms: average first what the derivation averages, then take the logarithm.",
        lambda y, f, s: np.mean(_log_normal(y, f, s)),
        "overflow: far from every network all densities are 0, and 1/0 is no weight: take "
        "logsumexp of logarithms.",
        lambda y, f, s: -np.log(np.mean(1 / _density(y, f, s))),
        "moments for the mixture: no Gaussian with the networks' mean and variance is asked for.",
        lambda y, f, s: _log_normal(y, np.mean(f), np.sqrt(np.var(f) + s**2)),
        "plug-in for the average: this scores the mean network alone.",
        lambda y, f, s: _log_normal(y, np.mean(f), s),
    ),
)
def _left_out(y: Any, samples: Any, noise_std: Any) -> Any:
    return _harmonic(_log_normal(y, samples, noise_std))


def _targets(count: int, most: float, noise: float) -> tuple[Any, ...]:
    """Targets on both sides, the nearer to an end of their interval the more of them."""
    mean, epistemic = most * 0.5 * _RNG.normal(size=count), most * _RNG.uniform(0.05, 1.0, count)
    near = np.where(_RNG.random(count) < 0.5, 0.15, 1.0) * _RNG.normal(size=count)
    z = _RNG.choice([-1.0, 1.0], count) * np.abs(1.96 + near)
    z += np.where(np.abs(np.abs(z) - 1.96) < 1e-3, 0.01, 0.0)  # 1.96 or its exact value: the same
    return mean + z * np.hypot(epistemic, noise), mean, epistemic, noise


def _within(y: Any, mean: Any, std: Any, noise: Any, z: float) -> Any:
    return np.mean(np.abs(y - mean) <= z * np.sqrt(std**2 + noise**2))


@exercise(
    "10.2 Compute: the coverage of a 95 % interval",
    "10.4",
    tuple(
        _targets(count, most, noise)
        for count, most, noise in (
            *((5, 1.5, 0.4), (151, 1.5, 0.4), (97, 2.5, 0.1), (83, 0.6, 1.7), (211, 1.0, 1.0)),
            *((307, 3.0, 2.2), (173, 0.3, 0.2), (269, 0.9, 0.6), (101, 3e-6, 2e-6)),
        )
    ),
    mistakes(
        "standard deviations added: variances add: √(epistemic² + noise²).",
        lambda y, m, e, s: _coverage(y, m, e + s, 0.0),
        "σ² for σ: the half-width is in the units of y: take the root.",
        lambda y, m, e, s: np.mean(np.abs(y - m) <= 1.96 * (e**2 + s**2)),
        "one-sided quantile: 95 % in the middle leaves 2.5 % on each side: 1.96, not 1.64.",
        lambda y, m, e, s: _within(y, m, e, s, 1.6448536269514722),
        "one sd for the quantile: ±1 sd holds 68 %.",
        lambda y, m, e, s: _within(y, m, e, s, 1.0),
        "one end only: a point beyond the other end is outside too: use |y − mean|.",
        lambda y, m, e, s: np.mean(y - m <= 1.959963984540054 * np.hypot(e, s)),
        "what was announced: 95 % is the claim; count how many targets are in fact inside.",
        lambda y, m, e, s: 0.95,
    ),
)
def _coverage(y: Any, mean: Any, epistemic_std: Any, noise_std: Any) -> Any:
    return _within(y, mean, epistemic_std, noise_std, 1.959963984540054)


def _quantile(level: Any, samples: Any, noise_std: Any, below: Any = ndtr) -> Any:
    """Where the mean of the distribution functions reaches the level, by bisection."""
    low = samples.min(axis=0) - 50 * noise_std
    high = samples.max(axis=0) + 50 * noise_std
    for _ in range(100):
        middle = (low + high) / 2
        short = below((middle - samples) / noise_std).mean(axis=0) < level
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high


_F = _RNG.normal(0.0, 1.0, (30, 6))


@exercise(
    "10.3 Compute: a quantile of an ensemble",
    "10.4",
    (
        (_A([0.1, 0.8]), (2 * _F[:3, :2]).round(2), 0.2),
        (_A([0.02, 0.25, 0.5, 0.66, 0.9, 0.999]), _F, 0.5),
        (_A([0.3, 0.05, 0.95, 0.7, 0.6, 0.15, 0.45]), _RNG.normal(0.2, 1.5, (4, 7)), 1.7),
        (_A([0.975, 0.025, 0.4]), _RNG.normal(0.0, 0.5, (2, 3)), 0.8),
        (_A([0.6, 0.1]), 1e-6 * _F[:3, :2], 1e-6),  # what is added to the noise shows
        (_A([0.5, 0.9]), _A([[-3.0, 0.4], [5.1, 8.1], [5.3, 0.9]]), 0.3),  # two groups
        # two that agree, and their tails
        (_A([1e-4, 0.999, 0.01]), _A([[0.6, -2.0, 7.0], [0.6, -2.0, 7.0]]), 1.4),
    ),
    mistakes(
        "the networks' quantiles averaged: the mean of the networks' quantiles is no quantile of "
        "their mixture: it is the distribution functions that are averaged.",
        lambda u, f, s: f.mean(axis=0) + s * ndtri(u),
        "moments for the mixture: a mixture has the quantiles of a Gaussian only if it is one.",
        lambda u, f, s: f.mean(axis=0) + np.sqrt(f.var(axis=0) + s**2) * ndtri(u),
        "the noise is missing: this is a quantile of the functions; y is a function value plus "
        "noise.",
        lambda u, f, s: np.diag(np.quantile(f, u, axis=0)),
        "the level of a central interval: the level is the probability below, not around the "
        "middle.",
        lambda u, f, s: _quantile((1 + u) / 2, f, s),
        "upper tail: the level is the probability *below* the quantile.",
        lambda u, f, s: _quantile(1 - u, f, s),
    ),
    rtol=1e-4,
)
def _quantile_of_ensemble(level: Any, samples: Any, noise_std: Any) -> Any:
    return _quantile(level, samples, noise_std)


_RNG_10_5 = np.random.default_rng(77)


def _two_sets(s: int, m: int, scale: float = 1.0) -> tuple[Any, Any]:
    """Draws round one peak and round two, at m inputs ``[s, m]`` each."""
    one = _RNG_10_5.normal(0.5, 1.0, (s, m))
    side = np.where(_RNG_10_5.random((s, m)) < 0.5, -2.0, 2.0)
    return scale * one.round(2), scale * (side + _RNG_10_5.normal(0.0, 0.6, (s, m))).round(2)


@exercise(
    "10.5 Extend: a distance without Gaussians",
    "10.2",
    (
        (_A([[0.0, 1.0], [3.0, 1.5], [1.0, -2.0]]), _A([[2.5, 0.0], [0.5, 4.0], [-1.0, 0.5]])),
        _two_sets(20, 4),
        _two_sets(7, 7),
        _two_sets(40, 1),
        (_A([[0.4], [1.3]]), _A([[1.4], [0.2]])),
        _two_sets(5, 3, 1e-6),  # what is added under the root shows
    ),
    mistakes(
        "draws paired as they come: draw k of the one has nothing to do with draw k of the "
        "other: which pairs make the way short?",
        lambda a, b: np.sqrt(np.mean((a - b) ** 2)),
        "Gaussians again: (10.1) sees mean and sd alone: one peak and two may have the same.",
        lambda a, b: np.sqrt(
            np.mean((a.mean(axis=0) - b.mean(axis=0)) ** 2 + (a.std(axis=0) - b.std(axis=0)) ** 2)
        ),
        "every pair: that is the distance of draws picked by chance; two equal sets must be 0 "
        "apart.",
        lambda a, b: np.sqrt(np.mean((a[:, None] - b) ** 2)),
        "root before mean: root mean square: average the squares over x too, then take the root.",
        lambda a, b: np.mean(
            np.sqrt(np.mean((np.sort(a, axis=0) - np.sort(b, axis=0)) ** 2, axis=0))
        ),
        "not averaged over x: one number is wanted: the mean over x, under the root.",
        lambda a, b: np.sqrt(np.mean((np.sort(a, axis=0) - np.sort(b, axis=0)) ** 2, axis=0)),
    ),
)
def _transport(a: Any, b: Any) -> Any:
    return np.sqrt(np.mean((np.sort(a, axis=0) - np.sort(b, axis=0)) ** 2))


def _announced(count: int, factor: float, shift: float) -> tuple[Any, Any, Any]:
    """Targets whose errors are ``factor`` times as large as announced, and not centred."""
    mean, std = _RNG_10_5.normal(size=count).round(2), _RNG_10_5.uniform(0.2, 1.9, count).round(2)
    return (mean + std * (shift + factor * _RNG_10_5.standard_normal(count))).round(2), mean, std


@exercise(
    "10.6 Break: mend an overconfident model by one factor",
    "10.3",
    tuple(
        _announced(*case)
        for case in ((3, 3.0, 0.5), (50, 3.0, -0.4), (7, 0.4, 0.1), (2, 2.0, 0.3), (20, 1.0, 0.2))
    )
    + (
        (_A([3e-6, -1e-6]), _A([0.0, 1e-6]), _A([1e-6, 2e-6])),  # what is added to s shows
        (_A([4.0, -2.5, 7.1]), _A([0.2, 1.0, -0.3]), _A([0.03, 0.08, 0.05])),  # far too sure
    ),
    mistakes(
        "absolute values for squares: the Gaussian likelihood is maximal at the root mean square "
        "of z.",
        lambda y, m, s: np.mean(np.abs(y - m) / s),
        "ratio of averages: divide each error by its own sd first.",
        lambda y, m, s: np.sqrt(np.mean((y - m) ** 2) / np.mean(s**2)),
        "sum for mean: the derivative is Σz²/k³ − n/k: the n does not drop out.",
        lambda y, m, s: np.sqrt(np.sum(((y - m) / s) ** 2)),
        "n − 1 for n: the derivative is Σz²/k³ − n/k: no mean has been estimated.",
        lambda y, m, s: np.sqrt(np.sum(((y - m) / s) ** 2) / (len(y) - 1)),
        "median for mean: the Gaussian likelihood is maximal at the root *mean* square of z.",
        lambda y, m, s: np.median(np.abs(y - m) / s),
        "the factor of the 95 % interval: this makes the coverage right at one level; the log "
        "score asks for all of y.",
        lambda y, m, s: np.quantile(np.abs(y - m) / s, 0.95) / 1.959963984540054,
    ),
    rtol=2e-4,
)
def _factor(y: Any, mean: Any, std: Any) -> Any:
    return np.sqrt(np.mean(((y - mean) / std) ** 2))


_CASES = []
for _actions, _size in 8 * [(3, 2), (6, 3), (9, 4), (5, 7)]:
    _root = _RNG_10_5.normal(size=(_size, _size))
    _CASES.append(
        (
            _RNG_10_5.normal(size=_size).round(2),
            (_root @ _root.T + 0.1 * np.eye(_size)).round(3),
            _RNG_10_5.normal(size=(_actions, _size)).round(2),
            _RNG_10_5.standard_normal(_size).round(2),
        )
    )


@exercise(
    "10.7 Extend: Thompson's choice",
    "10.8",
    tuple(_CASES),
    mistakes(
        "greedy: act on a *draw* of w, not on its mean: use eps.",
        lambda m, c, x, e: np.argmax(x @ m),
        "covariance for its root: w = m + L ε with L Lᵀ = Σ; with Σ itself the draws have "
        "covariance Σ².",
        lambda m, c, x, e: np.argmax(x @ (m + c @ e)),
        "correlations ignored: the square roots of the diagonal are not a root of Σ: use Cholesky.",
        lambda m, c, x, e: np.argmax(x @ (m + np.sqrt(np.diag(c)) * e)),
        "an upper bound: mean plus a multiple of the sd is UCB, which draws nothing.",
        tuple(
            lambda m, c, x, e, k=k: np.argmax(
                x @ m + k * np.sqrt(np.einsum("ij,jk,ik->i", x, c, x))
            )
            for k in (1.0, 2.0, 1.96, 3.0)
        ),
        "precision for covariance: `covariance` is Σ already: it is not inverted.",
        lambda m, c, x, e: np.argmax(x @ (m + np.linalg.cholesky(np.linalg.inv(c)) @ e)),
        "the weight for the action: the action is the largest reward, x_a · w: not the largest "
        "weight.",
        lambda m, c, x, e: np.argmax(m + np.linalg.cholesky(c) @ e),
    ),
)
def _choice(mean: Any, covariance: Any, contexts: Any, eps: Any) -> Any:
    w = mean + np.linalg.cholesky(covariance) @ eps
    return np.argmax(contexts @ w)


_PAYS = _RNG_10_5.normal(size=(12, 4)).round(2)
_CHOSEN = _RNG_10_5.integers(0, 4, 12)


@exercise(
    "10.8 Extend: cumulative regret",
    "10.8",
    (
        ((_PAYS[:3, :2] + 3.0), _A([0, 1, 0])),
        (_PAYS, _CHOSEN),
        (_PAYS[:5, :3] - 4.0, _A([2, 0, 1, 1, 0])),
        (_RNG_10_5.normal(size=(7, 7)), _RNG_10_5.integers(0, 7, 7)),
    ),
    mistakes(
        "not cumulative: add up what has been lost so far: np.cumsum.",
        lambda p, c: p.max(axis=1) - p[np.arange(len(c)), c],
        "only the total: a curve is wanted, one value a round.",
        lambda p, c: _regret(p, c)[-1],
        "reward for regret: this is what was earned; regret is what the best action would have "
        "earned more.",
        lambda p, c: np.cumsum(p[np.arange(len(c)), c]),
        "best of all rounds: compare with the best action of the *same* round: max over axis 1.",
        lambda p, c: np.cumsum(p.max() - p[np.arange(len(c)), c]),
        "one round late: the regret after a round contains this round.",
        lambda p, c: np.concatenate([[0.0], _regret(p, c)[:-1]]),
        "wrong choices counted: regret is what they cost, not how many they were.",
        lambda p, c: np.cumsum(p.argmax(axis=1) != c),
    ),
)
def _regret(pays: Any, chosen: Any) -> Any:
    return np.cumsum(pays.max(axis=1) - pays[np.arange(len(chosen)), chosen])


_STANDS = range(100, 104)  # seeds of the stands at which a plan is tried
_REGRET = 600.0  # of a good plan; 5 % in all rounds lose some 640


def _fault_of_plan(answer: Any, t: Any) -> str:
    """Judge a plan by what it loses at four stands."""
    if ((answer < 0) | (answer > 1)).any():
        return "no share"
    if np.mean([_regret_of(answer, seed) for seed in _STANDS]) < _REGRET:
        return ""
    late = answer[-500:].mean() > 0.02
    return "it still explores at the end" if late else "too little is learnt, or too dearly"


def _regret_of(plan: Array, seed: int) -> float:
    """Mean regret of an agent that acts at random in a share ``plan[t]`` of round t."""
    shares = iter(plan)

    def policy(mean: Array, sd: Array, rng: np.random.Generator) -> Array:
        explore = rng.random(mean.shape) < next(shares)
        return np.where(explore, rng.random(mean.shape) < 0.5, mean >= 0)

    return float(mushrooms.play(mushrooms.Stand.open(seed), policy, seed + 50)[-1].mean())


@exercise(
    "10.9 Open: an exploration that ends",
    "10.8",
    ((np.arange(mushrooms.ROUNDS),),),
    faults=(
        "no share: ε is the share of the rounds in which the agent acts at random: 0 to 1.",
        "it still explores at the end: what has been learnt by then is paid for in every later "
        "round, too: draw the regret of your plan round by round, and let ε fall.",
        "too little is learnt, or too dearly: draw the regret of several plans: more at first, "
        "for longer, or less of it?",
    ),
    judge=_fault_of_plan,
)
def _plan_of_exploring(t: Any) -> Any:
    return 0.2 * (t < 500)


_GAP_SEEDS = range(301_000, 307_000, 1000)
_NEW = np.linspace(-0.5, 0.5, 101)[:, None]
_IN_GAP = np.abs(_NEW[:, 0] - 0.25) < 0.15
_GIVEN: dict[str, Any] = {  # with room for as many points as the chapter's fits: one program
    "hidden_units": (20,),
    "capacity": bbb.Capacity(64, (20,), 1),
}


def _problems() -> tuple[tuple[Array, Array], ...]:
    """Points of six data sets: 32 each, none between 0.1 and 0.4."""
    made = (datasets.sinusoid(seed=seed, gap=(0.1, 0.4)) for seed in _GAP_SEEDS)
    return tuple((data.x, data.y) for data in made)


def _members(problems: Any, x_new: Any, n: int, noise_std: float = 1.0) -> Any:
    """Mean and sd of n MAP networks that differ in their start, ``[world, 2, m]``."""
    bands = []
    for x, y in problems:
        fits = [point.fit(x, y, prior=Gaussian(10.0), seed=k, **_GIVEN) for k in range(n)]
        f = np.array([fit.predict(x_new).mean for fit in fits])
        bands.append([f.mean(axis=0), np.hypot(f.std(axis=0), noise_std)])
    return np.array(bands)


def _sine(x_new: Any) -> Any:
    """What the data sets have in common, and nobody told."""
    return 10 * np.sin(2 * np.pi * x_new[:, 0])


def _repeats(answer: Any) -> bool:
    """Whether two data sets, which have nothing but the sine in common, got the same."""
    return any(np.array_equal(one, other) for one, other in combinations(answer, 2))


def _fault_of_bands(answer: Any, problems: Any, x_new: Any) -> str:
    mean, sd = answer[:, 0], answer[:, 1]
    if (sd <= 0).any():
        return "no sd"
    truth = _sine(x_new)
    covered = ndtr(mean + 1.96 * sd - truth) - ndtr(mean - 1.96 * sd - truth)
    score = -0.5 * np.log(2 * np.pi * sd**2) - 0.5 * ((truth - mean) ** 2 + 1) / sd**2
    if covered[:, ~_IN_GAP].mean() < 0.85:
        return "too sure among the data"
    if covered[:, _IN_GAP].mean() < 0.7:
        return "the gap is missed"
    if score[:, ~_IN_GAP].mean() < -2.0:
        return "covered by being vague"
    return "one band for several data sets" if _repeats(answer) else ""


@exercise(
    "10.10 Open: cover the gap without NUTS",
    "10.5 and 10.7",
    ((_problems(), _NEW),),
    faults=(
        "no sd: a standard deviation is above 0 everywhere.",
        "too sure among the data: fewer than 85 % of the new points there fall into your 95 % "
        "interval, over the six data sets: a new point has noise of sd 1.",
        "the gap is missed: fewer than 70 % of the new points in the gap fall into your 95 % "
        "interval, over the six data sets: draw your band on two of them. Do fits from other "
        "starts agree there?",
        "covered by being vague: a band that is wide everywhere covers the gap, but among the "
        "data it scores below −2 nats a point.",
        "one band for several data sets: each data set is to have the band that a fit to it "
        "alone announces.",
    ),
    judge=_fault_of_bands,
)
def _cover_the_gap(problems: Any, x_new: Any) -> Any:
    return _members(problems, x_new, 10)


_RNG_10_11 = np.random.default_rng(1011)


def _rank(scores: Any, level: Any) -> int:
    """Of the upper end: above it is (1 − level)/2 at most."""
    return int(np.ceil((len(scores) + 1) * (1 + level) / 2 - 1e-9))


def _by_ranks(rank: Any) -> Any:
    """Both ends at new inputs, with a rank of one's own for the upper; the lower is its mirror."""

    def ends(y: Any, mean: Any, std: Any, new_mean: Any, new_std: Any, level: Any) -> Any:
        scores = np.sort((y - mean) / std)
        k = int(rank(scores, level))
        return new_mean + scores[-k] * new_std, new_mean + scores[k - 1] * new_std

    return ends


def _symmetric(y: Any, mean: Any, std: Any, new_mean: Any, new_std: Any, level: Any) -> Any:
    """(10.11) as it stands."""
    scores = np.sort(np.abs(y - mean) / std)
    factor = scores[int(np.ceil((len(y) + 1) * level - 1e-9)) - 1]
    return new_mean - factor * new_std, new_mean + factor * new_std


def _mirrored(y: Any, mean: Any, std: Any, new_mean: Any, new_std: Any, level: Any) -> Any:
    """The upper end's factor to both sides."""
    upper = _conformal(y, mean, std, new_mean, new_std, level)[1]
    return 2 * new_mean - upper, upper


def _kept_apart(n: int, m: int, level: float, lean: float = 0.4) -> tuple[Any, ...]:
    """Points that lean to one side, some far off, with sds that differ; m new inputs."""
    mean, std = _RNG_10_11.normal(size=n).round(2), _RNG_10_11.uniform(0.3, 2.5, n).round(2)
    y = mean + std * (lean + 1.7 * _RNG_10_11.standard_t(3, n))
    new_mean, new_std = _RNG_10_11.normal(size=m), _RNG_10_11.uniform(0.3, 2.5, m)
    return y.round(3), mean, std, new_mean.round(2), new_std.round(2), level


@exercise(
    "10.11 Extend: a counted band that may lean",
    "10.9",
    tuple(
        _kept_apart(*case)
        for case in (
            *((63, 4, 0.95), (24, 3, 0.9), (12, 5, 0.8), (45, 1, 0.55)),
            *((31, 3, 0.75), (7, 2, 0.5)),  # (n + 1)(1 + c)/2 is whole, in floating point, too
            *((20, 3, 0.6, 4.0), (17, 2, 0.7, -4.0)),  # both ends on one side of the mean
        )
    ),
    mistakes(
        "as far to both sides: that is (10.11), by the size of the scores; here each end has a "
        "rank of its own.",
        _symmetric,
        "one end's factor for both: the scores lean: below, others are far off than above. Rank "
        "from either end.",
        _mirrored,
        "the whole level at each end: then twice 1 − c is left out: give each end one half of it.",
        _by_ranks(lambda scores, c: np.ceil((len(scores) + 1) * c - 1e-9)),
        "one rank too low: the new point takes a rank among the others, n + 1 scores in all; and "
        "the level is promised at least: round up.",
        _by_ranks(lambda scores, c: np.ceil(len(scores) * (1 + c) / 2 - 1e-9)),
        "the sign of the scores: where y lies above the mean the score is positive: (y − m)/s.",
        lambda y, m, s, n, t, c: _conformal(2 * m - y, m, s, n, t, c),
        "one rank too far out: where (n + 1)(1 + c)/2 is whole, it is the rank itself: the next "
        "leaves out less than it may. (Python counts from 0.)",
        _by_ranks(lambda scores, c: np.floor((len(scores) + 1) * (1 + c) / 2 + 1e-9) + 1),
    ),
)
def _conformal(y: Any, mean: Any, std: Any, new_mean: Any, new_std: Any, level: Any) -> Any:
    return _by_ranks(_rank)(y, mean, std, new_mean, new_std, level)


_PRICE = 8.0  # what an offer costs; the sine brings more round its peak only
_PEAK = np.abs(_NEW[:, 0] - 0.25) < 0.1
_N_DRAWS = 50


def _fault_of_draws(answer: Any, problems: Any, x_new: Any) -> str:
    takes = answer >= _PRICE
    if answer[:, :, _PEAK].std(axis=1).mean() < 1e-3:
        return "all draws are alike"
    if takes[:, :, ~_IN_GAP].mean() > 0.02:
        return "tries what is known not to pay"
    if takes[:, :, _PEAK].mean(axis=(1, 2)).min() < 0.05:
        return "the peak is hardly tried"
    return "the same draws for several data sets" if _repeats(answer) else ""


@exercise(
    "10.12 Open: an agent that tries the gap",
    "10.8",
    ((_problems(), _NEW),),
    faults=(
        "all draws are alike: an agent that always acts on the same function never tries what "
        "this one calls bad: each decision needs a draw of its own.",
        "tries what is known not to pay: among the data too many draws pay 8 for less: there the "
        "posterior knows better. Draw functions, without the noise of a new y.",
        "the peak is hardly tried: in at least one of the six worlds fewer than one draw in "
        "twenty takes what lies near the peak: which method of the course is unsure in the gap?",
        "the same draws for several data sets: each data set is to have draws of what a fit to "
        "it alone believes.",
    ),
    judge=_fault_of_draws,
)
def _one_a_decision(problems: Any, x_new: Any) -> Any:
    """Members of an anchored ensemble, drawn with replacement, of each data set ``[w, s, m]``."""
    drawn = []
    for x, y in problems:
        fit = ensemble.fit(x, y, prior=Gaussian(3.0), anchored=True, **_GIVEN)
        which = np.random.default_rng(0).integers(0, 10, _N_DRAWS)
        members = fit.predict(x_new).samples
        assert members is not None  # an ensemble's are its functions
        drawn.append(members[which])
    return np.array(drawn)
