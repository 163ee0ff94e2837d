"""Define the exercises of chapter 6: empirical Bayes."""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

from bdl_teach._support.checks import Array
from bdl_teach.exercises._engine import exercise
from bdl_teach.methods import exact

_RNG, _RNG_6_6 = np.random.default_rng(51), np.random.default_rng(5)
_NORMAL = _RNG_6_6.normal


def _weights(count: int) -> tuple[Any, Any]:
    """Draw means and standard deviations of weights, ``[count]`` each."""
    return _RNG.normal(0.0, 1.5, count).round(2), _RNG.uniform(0.1, 2.0, count).round(2)


exercise(
    "6.1",
    ([0.3], [0.5]),
    ([0.0, -1.2, 2.0], [0.7, 2.0, 0.1]),
    ([5.0, -5.0], [0.01, 1.0]),
    _weights(3),
    _weights(7),
    ([-0.4, 0.9], [1e-6, 0.6]),  # reveals a small number added to σ
    ([0.08], [0.7]),  # reveals a small number added in the logarithm
    "one prior for all: (6.9) gives each weight a prior of its own; what is shared is (6.10).",
    lambda m, s: np.sum(np.log(_shared(m, s) / s)),
    "the KL the other way round: it is KL[q‖p], with the prior second.",
    lambda m, s: 0.5 * np.sum(m**2 / s**2 + (m / s) ** 2 - np.log1p((m / s) ** 2)),
    "the KL to N(0, 1): the prior is not fixed: put σ_p² = μ² + σ² into the formula.",
    lambda m, s: 0.5 * np.sum(s**2 + m**2 - np.log(s**2) - 1),
    "the 1 is missing: ½ ln(μ²/σ²) is −∞ at μ = 0; a KL is never negative: 1 + μ²/σ².",
    lambda m, s: 0.5 * np.sum(np.log((m / s) ** 2)),
)(lambda mu, sigma: 0.5 * np.sum(np.log1p((mu / sigma) ** 2)))


@exercise(
    "6.2",
    ([0.3, -0.1], [0.5, 0.2]),
    ([0.0, -1.2, 2.0], [0.7, 2.0, 0.1]),
    ([3.0, 3.0, 3.0, 0.0], [0.1, 0.1, 0.1, 4.0]),
    _weights(1),
    _weights(7),
    ([2e-6, -3e-6], [1e-6, 5e-6]),  # reveals a small number added under the root
    "a prior for each weight: the layer shares one: average μ² + σ² over it.",
    lambda m, s: np.sqrt(m**2 + s**2),
    "standard deviations averaged: average the variances, and take the root last.",
    lambda m, s: np.mean(np.sqrt(m**2 + s**2)),
    "averaged before squaring: average μ² + σ²: μ of both signs must not cancel.",
    lambda m, s: np.hypot(np.mean(m), np.mean(s)),
    "σ is missing: the posterior variance counts as the squared mean does.",
    (lambda m, s: np.std(m), lambda m, s: np.sqrt(np.mean(m**2))),
    "(6.16) for (6.8): that is of a point estimate, whose noise is taken off; here σ² is added.",
    lambda m, s: np.sqrt(np.maximum(np.mean(m**2 - s**2), 0)),
)
def _shared(mu: Any, sigma: Any) -> Any:
    return np.sqrt(np.mean(mu**2 + sigma**2))


_STEPS = (
    (0.5, -1.0, 0.7, -14.7),
    (-2.0, 0.5, -1.9, 4.0),
    ([1.0, -3.0], [-1.0, 2.0], [0.3, -0.8], [2.0, 5.0]),
    ([0.0, -0.4], [-2.5, 0.1], [1.3, 0.2], [0.8, -1.6]),
    tuple(_RNG.normal(0.0, 2.0, (4, 7)).round(2)),
)

exercise(
    "6.4",
    *_STEPS,
    "softplus forgotten: ∂w/∂γ = σ, and σ = softplus(ρ).",
    lambda g, r, e, d: d * r + g / (1 + g**2),
    "the slope of weight decay: ½γ² would pull with γ; the logarithm lets large γ go.",
    lambda g, r, e, d: d * np.logaddexp(0, r) + g,
    "the KL for its slope: the gradient of ½ ln(1 + γ²) is asked for.",
    lambda g, r, e, d: d * np.logaddexp(0, r) + 0.5 * np.log1p(g**2),
    "the derivative of softplus for softplus: ∂w/∂γ is σ itself.",
    lambda g, r, e, d: d * expit(r) + g / (1 + g**2),
)(lambda gamma, rho, eps, dnll_dw: dnll_dw * np.logaddexp(0, rho) + gamma / (1 + gamma**2))

exercise(
    "6.5",
    *_STEPS,
    "the mean held still: here μ = γσ moves with σ, so that ∂w/∂σ = γ + ε.",
    lambda g, r, e, d: d * e * expit(r),
    "softplus forgotten: this is the step of σ; ρ moves σ by 1/(1 + e^(−ρ)).",
    lambda g, r, e, d: d * (g + e),
    "a KL where there is none: ½ ln(1 + γ²) does not contain ρ.",
    lambda g, r, e, d: d * (g + e) * expit(r) + g / (1 + g**2),
    "the KL of chapter 3: with the best prior σ drops out of the KL.",
    tuple(
        lambda g, r, e, d, by=by: (d * (g + e) + by(g, np.logaddexp(0, r))) * expit(r)
        for by in (lambda g, s: -1 / s, lambda g, s: s - 1 / s, lambda g, s: s - 1 / s + s * g**2)
    ),
    "softplus for its slope: ∂σ/∂ρ is the logistic function.",
    lambda g, r, e, d: d * (g + e) * np.logaddexp(0, r),
)(lambda gamma, rho, eps, dnll_dw: dnll_dw * (gamma + eps) * expit(rho))


def _ratio(x: Any, y: Any, s: float) -> Any:
    """Return z² = (b/s)² for the least-squares estimate b and its standard error s."""
    return (x @ y) ** 2 / (x @ x) / s**2


@exercise(
    "6.6",
    ([0.5, -1.2, 2.0], [0.4, -1.0, 1.1], 0.5),
    ([1.0, 1.0], [0.3, 0.2], 0.3),
    ([1.0, -1.0, 0.5], [0.1, 0.1, -0.2], 0.4),
    ([2.0, 1.0], [-4.0, -2.5], 1.5),
    ([0.8], [0.5], 0.45),  # z² is a little above 1
    ([-0.8], [0.4], 0.42),  # z² is a little below 1
    (_NORMAL(size=7).round(2), _NORMAL(size=7).round(2), 0.7),
    # small inputs: reveal a small number added to a denominator
    ([2e-4, 3e-4], [0.5, 0.9], 0.1),
    ([0.5, -0.7], [0.013, -0.011], 0.004),  # hardly any noise
    ([1.0, 2.0], [0.0, 0.0], 1.0),  # y is 0
    "a gain where it is pruned: for z² <= 1 the best prior is σ_p = 0, and nothing is gained.",
    lambda x, y, s: 0.5 * (_ratio(x, y, s) - 1 - np.log(_ratio(x, y, s))),
    "the price of the prior is missing: ½ ln(1 − κ) in (6.15) pays for its width.",
    lambda x, y, s: max(0.5 * (_ratio(x, y, s) - 1), 0.0),
    "what least squares gains: the evidence averages over the prior: it gains less.",
    lambda x, y, s: 0.5 * _ratio(x, y, s),
    "the prior N(0, 1): it is the prior of (6.16), the best one, that is asked for.",
    tuple(
        lambda x, y, s, least=least: (
            0.5 * (_ratio(x, y, s) * (k := x @ x / (x @ x + s**2)) + np.log(1 - k))
            if _ratio(x, y, s) > least
            else 0.0
        )
        for least in (1.0, -1.0)
    ),
)
def _worth(x: Any, y: Any, noise_std: Any) -> Any:
    ratio = _ratio(x, y, noise_std)
    return 0.5 * (ratio - 1 - np.log(ratio)) if ratio > 1 else 0.0


exercise(
    "6.7",
    ([0.0, 0.5, -3.0],),
    ([20.0, -150.0, 0.07, 1.0],),
    ([1e100, -1e150],),
    ([1e200, 0.0],),
    ([-1e300],),
    "ln|γ|: this is right for large γ only; at γ = 0, where nothing is to be paid, it is −∞.",
    lambda g: np.log(np.abs(g)),
    "overflow: γ² is no number from |γ| = 10¹⁵⁵ on; np.hypot(1, γ) is √(1 + γ²).",
    lambda g: 0.5 * np.log1p(g**2),
    "1/γ² at γ = 0: ln|γ| + ½ ln(1 + 1/γ²) is right for large γ; at γ = 0 it is −∞ + ∞.",
    lambda g: np.log(np.abs(g)) + 0.5 * np.log1p(1 / g / g),
    rtol=3e-7,
)(lambda gamma: np.log(np.hypot(1.0, gamma)))


def _units(n_in: int, n_out: int) -> tuple[Any, Any]:
    """Draw γ = μ/σ and σ of the weights of a layer, ``[in, out]`` each."""
    shape = n_in, n_out
    return _NORMAL(size=shape).round(1), _RNG_6_6.uniform(0.1, 1.0, shape).round(2)


exercise(
    "6.8",
    ([[1.0, -2.0]], [[2.0], [1.0]], [[0.5], [0.1]]),
    (_NORMAL(size=(3, 4)).round(1), *_units(4, 2)),
    (
        np.ones((2, 3)),
        [[0.3, -1.0], [-1.5, 0.6], [0.4, 0.7]],
        [[0.3, 0.2], [0.4, 0.1], [1.2, 0.9]],
    ),
    ([[0.7], [-1.6]], *_units(1, 7)),
    # almost certain weights, some below 0: reveals a small number added under the root
    ([[1.2, -0.3, 0.5], [0.4, 0.8, -1.1]], [[1.0], [-0.5], [0.8]], [[3e-7], [9e-7], [5e-7]]),
    "γ for μ: the mean of a weight is μ = γσ, (6.11).",
    lambda x, g, s: ndtr(x @ g / np.sqrt(x**2 @ s**2)),
    "one ε for all inputs: independent weights add their variances.",
    lambda x, g, s: ndtr(x @ (g * s) / (x @ s)),
    "the mean network alone: its units are on or off; over the draws there is a share between.",
    lambda x, g, s: (x @ (g * s) > 0).astype(float),
)(lambda x, gamma, sigma: ndtr(x @ (gamma * sigma) / np.sqrt(x**2 @ sigma**2)))

exercise(
    "6.9",
    ([[-4.0, 0.3], [4.0, 0.5], [5.0, -1.0]],),
    (_NORMAL(-1.0, 2.0, (6, 4)),),
    ([[-2.0], [3.0]],),
    (_NORMAL(-2.0, 2.0, (5, 7)),),
    ([[0.4, -1.7, -3.0]],),
    ([[-4.0, -3.0, -3.5], [-4.5, -2.0, -5.0], [2.5, 3.0, 1.5]],),  # correlated patients
    "each patient by himself: they share the weights: multiply first, then average over draws.",
    lambda f: 1 - np.prod(1 - expit(f).mean(axis=0)),
    "probabilities added: two patients who are both ill would count twice.",
    lambda f: expit(f).mean(axis=0).sum(),
    "plug-in: these are the probabilities of the mean network; average over the networks.",
    lambda f: 1 - np.prod(expit(-f.mean(axis=0))),
    "all of them: at least one is asked for: 1 minus the probability that nobody is.",
    lambda f: np.mean(np.prod(expit(f), axis=1)),
    "exactly one: at least one is asked for.",
    lambda f: np.mean(np.prod(expit(-f), axis=1) * np.exp(f).sum(axis=1)),
)(lambda logits: 1 - np.mean(np.prod(expit(-logits), axis=1)))


def _few_matter(seed: int) -> tuple[Array, Array, Array]:
    """Return x ``[30, 20]``, y with noise of sd 1, and the true weights, of which 17 are 0."""
    rng = np.random.default_rng(seed)
    w = np.zeros(20)
    w[rng.permutation(20)[:3]] = rng.choice([-1.0, 1.0], 3)
    x = rng.standard_normal((30, 20))
    return x, x @ w + rng.standard_normal(30), w


_FEW = [_few_matter(seed) for seed in range(300, 306)]
_FEW_X, _FEW_Y = (np.stack([world[part] for world in _FEW]) for part in (0, 1))


def _fresh_score(x: Array, y: Array, true_w: Array, prior_std: Array) -> float:
    """Return the expected log predictive density of 400 new y = x·true_w + noise, nats a point."""
    z = x * prior_std  # inputs of the weights over σ_p, whose prior is N(0, 1)
    cov = np.linalg.inv(z.T @ z + np.eye(len(true_w)))
    new = np.random.default_rng(1).standard_normal((400, len(true_w)))
    z_new = new * prior_std
    var = np.einsum("ni,ij,nj->n", z_new, cov, z_new) + 1.0
    square = (new @ true_w - z_new @ cov @ (z.T @ y)) ** 2 + 1
    return -float(np.mean(np.log(2 * np.pi * var) + square / var)) / 2


@lru_cache(maxsize=1)
def _scores_of_one_prior() -> tuple[float, ...]:
    """Return each data set's ``_fresh_score`` if all weights share the σ_p of highest evidence."""
    sweep, scores = np.geomspace(0.01, 10, 40), []
    for x, y, w in _FEW:
        evidence = [exact.linear_regression(x, y, std, 1.0).log_evidence for std in sweep]
        scores.append(_fresh_score(x, y, w, np.full(20, sweep[np.argmax(evidence)])))
    return tuple(scores)


def _fault_of_priors(answer: Any, *_: Any) -> str:
    if (answer < 0).any():
        return "no standard deviations"
    scores = [_fresh_score(*world, std) for world, std in zip(_FEW, answer, strict=True)]
    gain = float(np.mean(np.subtract(scores, _scores_of_one_prior())))
    if gain > 0:  # nats a point: 0.18 after many iterations of (6.8), 0.03 after one
        return "" if gain > 0.1 else "too little is gained"
    # The weights that matter are 1 or −1; the best common σ_p is about 0.4.
    return "no weight has room" if answer.max() < 0.1 else "worse than one prior for all"


def _improved(step: Any, times: int = 100) -> Any:
    """Return a wrong answer to 6.10: ``step(σ_p, mean, variance of w/σ_p)``, from σ_p = 1."""

    def answer(x: Any, y: Any, noise_std: Any) -> Any:
        std = np.ones(x.shape[::2])
        for row, inputs, targets in zip(std, x, y, strict=True):
            for _ in range(times):
                z = inputs * row / noise_std
                cov = np.linalg.inv(z.T @ z + np.eye(len(row)))
                row[:] = step(row, cov @ z.T @ targets / noise_std, np.diag(cov))
        return std

    return answer


exercise(
    "6.10",
    (_FEW_X, _FEW_Y, 1.0),
    "one improvement: with the new σ_p the posterior is another one: improve again.",
    _improved(lambda std, m, v: std * np.sqrt(m**2 + v), 1),
    "μ² is left out: (6.8) adds the squared mean to the posterior variance.",
    _improved(lambda std, m, v: std * np.sqrt(v)),
    "σ_p of the scaled weights: the posterior is that of w/σ_p: multiply by the old σ_p.",
    _improved(lambda std, m, v: np.sqrt(m**2 + v)),
    "one σ_p for all weights of a data set: this is (6.10); (6.8) gives each its own.",
    _improved(lambda std, m, v: np.sqrt(np.mean(std**2 * (m**2 + v)))),
    judge=_fault_of_priors,
    is_measured=True,
)(lambda x, y, noise_std: np.abs([w for _, _, w in _FEW]))


def _useful_among(seed: int) -> tuple[Array, Array, Array]:
    """Return x ``[200, 40]`` in unequal units, y with noise of sd ½, and which features matter."""
    rng = np.random.default_rng(seed)
    useful = np.isin(np.arange(40), rng.permutation(40)[:10])
    x = rng.standard_normal((200, 40))
    y = 0.5 * x[:, useful] @ rng.choice([-1.0, 1.0], 10) * 6 / 200**0.5
    units = 10 ** rng.uniform(-1.5, 1.5, 40)
    return x * units, y + 0.5 * rng.standard_normal(200), useful


_USEFUL = [_useful_among(seed) for seed in range(310, 314)]

_BOTH = "useful ones are thrown away, and useless ones kept"


def _is_useful(y: Any) -> Any:
    return next(useful for _, other, useful in _USEFUL if np.array_equal(other, y))


def _fault_of_choice(answer: Any, _x: Any, y: Any, _s: Any) -> str:
    if not np.isin(answer, (0, 1)).all():
        return "neither yes nor no"
    useful = _is_useful(y)
    missed, too_many = (useful & (answer == 0)).sum() > 2, (~useful & (answer == 1)).sum() > 4
    if missed:
        return _BOTH if too_many else "useful weights are thrown away"
    return "useless weights are kept" if too_many else ""


def _is_bar(score: Any, answers: list[Array]) -> bool:
    """Return whether in each world the weights that are kept are those of the highest scores."""
    for (x, y, _), kept in zip(_USEFUL, answers, strict=True):
        inverse = np.linalg.inv(x.T @ x)
        values = score(inverse @ x.T @ y, 0.5 * np.sqrt(np.diag(inverse)))
        if not np.any(kept) or np.all(kept) or values[kept > 0].min() < values[kept == 0].max():
            return False
    return True


def _fault_of_choices(answers: list[Array]) -> str:
    if np.isin(answers, (0, 1)).all() and not _is_bar(lambda w, se: np.abs(w / se), answers):
        for fault, score in (
            ("the sign is used", lambda w, se: w / se),
            ("the units are used", lambda w, se: np.abs(w)),
            ("divided by the variance", lambda w, se: np.abs(w) / se**2),
            ("the useless ones are kept", lambda w, se: -np.abs(w / se)),
        ):
            if _is_bar(score, answers):
                return fault
    worlds = zip(_USEFUL, answers, strict=True)
    found = {_fault_of_choice(answer, x, y, 0.5) for (x, y, _), answer in worlds}
    both = {"useful weights are thrown away", "useless weights are kept"} <= found
    return _BOTH if both and "neither yes nor no" not in found else ""


exercise(
    "6.11",
    *((x, y, 0.5) for x, y, _ in _USEFUL),
    judge=_fault_of_choice,
    overall=_fault_of_choices,
)(lambda x, y, noise_std: _is_useful(y))
