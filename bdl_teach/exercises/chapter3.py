"""Define the exercises of chapter 3: Bayes by Backprop."""

from functools import lru_cache
from typing import Any

import numpy as np
from scipy.special import entr, expit, log_softmax, ndtr, softmax

from bdl_teach import datasets, densities, metrics, mlp, predictive
from bdl_teach._support.checks import Array
from bdl_teach.exercises import _normal as norm
from bdl_teach.exercises._engine import exercise
from bdl_teach.methods import local_reparam

_PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)
_RNG, _RNG_3_9 = np.random.default_rng(3), np.random.default_rng(3)
_RNG_3_11 = np.random.default_rng(13)
_NORMAL, _GAMMA, _DIRICHLET = _RNG.normal, _RNG.gamma, _RNG_3_11.dirichlet


@exercise(
    "3.1",
    ([0.3], [0.5], [0.0], [1.0]),
    ([0.0, -1.2], [0.7, 2.0], [0.5, 0.1], [1.5, 0.4]),
    ([1.0], [0.2], [1.0], [0.2]),
    ([0.1, -0.3], [0.9, 1.1], [0.0, -0.2], [1.0, 1.0]),  # nearly the same
    (_NORMAL(size=3), _GAMMA(2.0, 1.0, 3), _NORMAL(size=3), _GAMMA(2.0, 1.0, 3)),
    ([0.7, -2.0, 4.0], [1e-6, 0.003, 25.0], [0.2, -2.01, -60.0], [0.9, 0.004, 7.0]),
    ([2e-6, 0.4], [3e-6, 2.0], [-1e-6, 5.0], [2e-6, 0.03]),
    "KL reversed: this is KL[p ‖ q]; the expectation is over q, so σ_q² stands over σ_p².",
    lambda a, b, c, d: densities.gaussian_kl(c, d, a, b),
    "σ for σ²: the fraction has variances in it: square both standard deviations.",
    lambda a, b, c, d: np.log(d / b) + (b + (a - c) ** 2) / (2 * d) - 0.5,
    "log of variances without ½: log(σ_p²/σ_q²) is twice log(σ_p/σ_q).",
    lambda a, b, c, d: 2 * np.log(d / b) + (b**2 + (a - c) ** 2) / (2 * d**2) - 0.5,
    "the fraction's ½ is missing: the denominator is 2 σ_p².",
    lambda a, b, c, d: np.log(d / b) + (b**2 + (a - c) ** 2) / d**2 - 0.5,
)
def _kl(mu_q: Any, sigma_q: Any, mu_p: Any, sigma_p: Any) -> Any:
    return np.log(sigma_p / sigma_q) + (sigma_q**2 + (mu_q - mu_p) ** 2) / (2 * sigma_p**2) - 0.5


def _pilot(count: float, sd: float, n: int = 1000) -> tuple[Array, float]:
    """Draw n estimates; return them, and the standard error of a mean of ``count`` of them."""
    estimates = 380.0 + sd * _RNG.normal(size=n)
    return estimates, float(estimates.std(ddof=1) / np.sqrt(count))


exercise(
    "3.2",
    *(_pilot(7.3, 12.0), _pilot(40.6, 0.5), _pilot(1.35, 90.0), _pilot(0.4, 3.0)),
    _pilot(640.4, 25.0, 8000),
    "sd for variance: the *variance* of a mean falls as 1/S, its standard error as 1/√S.",
    lambda f, error: np.ceil(np.std(f, ddof=1) / error),
    "two standard errors: `error` is *one* standard error.",
    lambda f, error: np.ceil(4 * np.var(f, ddof=1) / error**2),
)(lambda estimates, error: np.ceil(np.var(estimates, ddof=1) / error**2))

exercise(
    "3.3",
    (0.2, -3.0, 0.7, -14.7, -0.5),
    (0.2, 0.5, -1.9, 4.0, -0.3),
    ([1.0, -1.0], [-1.0, 2.0], [0.3, -0.8], [2.0, 5.0], [0.1, -2.0]),
    tuple(_RNG.normal(0.0, 2.0, 5) for _ in range(5)),
    (0.4, 5.0, 2.1, -0.8, 0.0),
    "the slope of softplus: 1/(1 + e^(−ρ)) belongs to σ = log(1 + e^ρ); here σ = e^ρ.",
    lambda m, r, e, w, p: w * e * expit(r) + p,
    "Δσ for Δρ: this is the path to σ; ρ moves σ by dσ/dρ.",
    lambda m, r, e, w, p: w * e + p,
    "the path is missing: f depends on ρ through w as well: ∂f/∂w · ∂w/∂ρ.",
    lambda m, r, e, w, p: p,
    "chain rule applied twice: ∂f/∂ρ is a derivative with respect to ρ already.",
    lambda m, r, e, w, p: (w * e + p) * np.exp(r),
)(lambda mu, rho, eps, df_dw, df_drho: df_dw * eps * np.exp(rho) + df_drho)


@exercise(
    "3.5",
    *((1.0, 320, 32, True), (1.0, 320, 32, False), (0.01, 60, 20, True)),
    *((0.2, 64, 16, False), (1 / 720, 720, 45, True), (0.5, 50, 50, False)),
    "a sum for a mean: this loss has the *mean* over the batch, 1/N of the whole cost.",
    lambda c, n, b, mean: c * n / b,
    "a mean for a sum: a *sum* over the batch is B/N of the whole likelihood cost, on average.",
    lambda c, n, b, mean: c * n,
    "sum and mean swapped: beside a *sum* over B points the KL counts for less.",
    lambda c, n, b, mean: _trained_weight(c, n, b, not mean),
    "upside down: λ is a factor of the KL, which counts once beside N points.",
    (lambda c, n, b, mean: c / n if mean else c * b / n, lambda c, n, b, mean: c / n),
)
def _trained_weight(factor: Any, n_data: Any, batch_size: Any, mean: Any) -> Any:
    return factor * n_data if mean else factor * n_data / batch_size


@exercise(
    "3.6",
    ([0.0, 1.0, -2.0], [0.5, 3.0, 0.2], 1.0),
    ([4.0], [1.5], 0.3),
    ([-7.0, 0.1, 2.5, 30.0, -0.6], [2.2, 0.7, 0.05, 9.0, 1.3], 2.6),
    ([1e-4, -3e-4], [2e-4, 5e-5], 1e-4),
    ([300.0, -90.0, 0.0, 55.0], [41.0, 7.0, 88.0, 0.3], 19.0),
    "standard deviations added: independent *variances* add: √(e² + s²).",
    lambda m, e, s: (m - 2 * (e + s), m + 2 * (e + s)),
    "σ² for σ: take the root of the summed variances.",
    lambda m, e, s: (m - 2 * (e**2 + s**2), m + 2 * (e**2 + s**2)),
    "1.96 for 2: that is the 95 % interval of a Gaussian; the exercise asks for ± 2 sd.",
    lambda m, e, s: (m - 1.96 * np.hypot(e, s), m + 1.96 * np.hypot(e, s)),
)
def _band(mean: Any, epistemic_std: Any, noise_std: Any) -> Any:
    std = np.hypot(epistemic_std, noise_std)
    return mean - 2 * std, mean + 2 * std


exercise(
    "3.7",
    ([0.0, 0.3, -1.1], 1.5, 0.1, 0.25),
    ([2.0, -0.02], 2.0, 0.5, 0.7),
    ([-9.0, 11.0, 4.0, -13.0, 0.6], 1.3, 1.1, 0.35),
    ([1e-4, -2e-3, 0.0], 2e-3, 1e-4, 0.6),
    ([22.0, -100.0, 1000.0], 1.5, 0.1, 0.5),
    ([60.0, -64.0, 25.0, 70.0], 1.5, 1.4993, 0.3),  # both parts count, both underflow
    ([-1000.0, 700.0], 250.0, 230.0, 0.9),
    "average of logarithms: the mixture adds densities, not their logarithms.",
    lambda w, a, b, p: p * norm.logpdf(w, scale=a) + (1 - p) * norm.logpdf(w, scale=b),
    "only one part: both the wide and the narrow part count where they are alike.",
    lambda w, a, b, p: np.log(p) + norm.logpdf(w, scale=a),
)(
    lambda w, sigma1, sigma2, pi: np.logaddexp(
        np.log(pi) + norm.logpdf(w, scale=sigma1), np.log(1 - pi) + norm.logpdf(w, scale=sigma2)
    )
)

exercise(
    "3.8",
    *((2, 0.5), (3, 0.25), (4, 1.0), (1, 0.7), (10, 2.0), (70, 0.999), (200, 1.1), (1030, 0.5)),
    *((2000, 2.0), (5000, 1.0), (5000, 1.5)),  # 2^2000 is no floating-point number
    "overflow: ratio^M is soon no number: divide by the largest power before you sum.",
    lambda m, r: r ** np.arange(float(m)) / np.sum(r ** np.arange(float(m))),
    "not normalised: the shares sum to 1.",
    lambda m, r: r ** np.arange(float(m)),
    "a softmax of the ratios: e^(ri) is no power of r: r^i is e to which number times i?",
    lambda m, r: softmax(r * np.arange(m)),
)(lambda n_batches, ratio: np.asarray(softmax(np.arange(n_batches) * np.log(ratio))))

exercise(
    "3.9",
    *(
        (_RNG_3_9.normal(0.0, 1.0, n), _RNG_3_9.gamma(1.0, 0.5, n) + 0.05, level)
        for n, level in ((6, 0.1), (9, 0.3), (40, 0.2), (25, 0.025), (7, 0.5), (60, 0.01))
    ),
    ([3e-9, 0.5, -0.03, 2.0], [1e-10, 0.01, 0.5, 3.0], 0.1),
    "two tails for one: the other sign lies on one side only.",
    lambda m, s, a: np.where(2 * ndtr(-np.abs(m) / s) > a, 0.0, m),
    "the ratio for a probability: `level` is a probability: turn |μ|/σ into one.",
    lambda m, s, a: np.where(np.abs(m) / s < a, 0.0, m),
)(lambda mean, std, level: np.where(ndtr(-np.abs(mean) / std) > level, 0.0, mean))


def _path(mu: Any, sigma: Any, eps: Any, x: Any, y: Any, prior_var: Any) -> Any:
    """Return ∂f/∂w of a one-weight classifier at w = μ + σε; f is the cost at one draw."""
    w = mu + sigma * eps
    return -eps / sigma + w / prior_var + np.sum((expit(w * x) - y) * x)


@exercise(
    "3.10",
    (0.4, -1.0, 0.7, [1.0, -0.5, 2.0], [1.0, 0.0, 1.0], 1.5),
    (-0.3, 0.4, -1.2, [0.3, 1.4], [0.0, 1.0], 0.7),
    (-2.0, 2.5, 0.3, _RNG_3_9.normal(0.0, 3.0, 7), [0.0, 1, 1, 0, 1, 0, 0], 5.0),
    (0.002, -7.0, -0.9, [0.8, -0.3, 0.4], [1.0, 1.0, 0.0], 0.6),
    (2.0, 0.3, 0.5, [0.1, -0.4], [0.0, 0.0], 0.04),
    "the explicit part is still there: leave out ∂f/∂ρ, that of log q at a fixed w.",
    lambda m, r, e, x, y, p: (
        _path_gradient(m, r, e, x, y, p) + (e**2 - 1) / np.logaddexp(0, r) * expit(r)
    ),
    "exponential for softplus: here σ = log(1 + e^ρ), not e^ρ.",
    lambda m, r, e, x, y, p: _path(m, np.exp(r), e, x, y, p**2) * e * np.exp(r),
)
def _path_gradient(mu: Any, rho: Any, eps: Any, x: Any, y: Any, sigma_p: Any) -> Any:
    return _path(mu, np.logaddexp(0, rho), eps, x, y, sigma_p**2) * eps * expit(rho)


def _expected(p: Any) -> Any:
    """Return the mean over networks of the entropy of their class probabilities p."""
    return entr(p).sum(axis=-1).mean(axis=0)


@exercise(
    "3.11",
    (_DIRICHLET(np.ones(4), (5, 3)),),  # [T, n, classes]
    (_DIRICHLET(np.full(3, 0.3), (6, 7)),),
    (np.eye(3)[[[0, 1], [0, 2], [0, 1]]],),  # certain networks: probabilities of exactly 0
    (_DIRICHLET(np.ones(5), (1, 4)),),  # one network
    (np.stack([np.r_[t, np.full(1999, (1 - t) / 1999)][None] for t in (0.95, 0.93)]),),
    "0 · log 0: where a probability is 0, its term counts as 0, the limit of p log p.",
    lambda p: -np.sum(p.mean(axis=0) * np.log(p.mean(axis=0)), axis=-1),
    "mean of entropies: that is the aleatoric part: average the probabilities first.",
    _expected,
    "mutual information: the entropy of the average alone; nothing is subtracted.",
    lambda p: _total(p) - _expected(p),
    atol=1e-14,
)
def _total(p: Any) -> Any:
    return entr(np.mean(p, axis=0)).sum(axis=-1)


# Two networks that disagree about 1200 pictures, to a different degree about each.
_OFF = _RNG_3_11.permutation(np.linspace(0.02, 0.48, 1200))
_TWO = np.stack([np.stack([0.5 + d, 0.5 - d], axis=-1) for d in (_OFF, -_OFF)])


def _picked(values: Any, labels: Any) -> Any:
    return values[np.arange(len(labels)), labels]


exercise(
    "3.12",
    ([[2.0, -1.0, 0.5], [0.1, 0.2, 0.3]], [0, 2]),
    (_RNG_3_11.normal(size=(4, 5)), [4, 0, 1, 1]),
    (_RNG_3_11.normal(size=(7, 2)), [1, 1, 0, 1, 0, 0, 1]),
    ([[-0.3, 1.2, 0.7]], [1]),
    ([[0.0, 2000.0, -3.0], [-2000.0, -2001.0, -1999.0]], [2, 0]),
    ([[300.0, 299.0, 295.0, -80.0], [5.0, 4.0, -38.0, 7.0]], [2, 2]),
    ([[1985.0, 2000.0], [-1980.0, -2000.0], [3.0, 2.5]], [0, 1, 1]),
    ([[1000.0, 0.0], [720.0, 0.0], [900.0, 0.0]], [1, 1, 0]),
    ([[120.0, 0.0], [0.0, 95.0]], [1, 0]),
    "overflow: e^2000 is no number: subtract each row's largest logit before you take e^.",
    lambda f, y: -np.log(_picked(np.exp(f) / np.exp(f).sum(-1, keepdims=True), y)),
    "one maximum for all rows: rows far below it underflow: subtract each row's own.",
    lambda f, y: np.log(np.exp(f - f.max()).sum(axis=-1)) - _picked(f - f.max(), y),
    "a cost for each pair of picture and label: take logits[np.arange(n), labels].",
    lambda f, y: -log_softmax(f, axis=-1)[:, y],
)(lambda logits, labels: -_picked(log_softmax(logits, axis=-1), labels))


def _order(score: Any, k: int) -> Array:
    return np.argsort(-np.asarray(score), kind="stable")[:k]


exercise(
    "3.13",
    (_DIRICHLET(np.ones(4), (6, 9)), 3),
    (_DIRICHLET(np.ones(3), (10, 12)) * 0.9 + 1 / 30, 5),
    (_DIRICHLET(np.full(5, 0.6), (7, 6)), 1),
    (_DIRICHLET(np.ones(2), (5, 20)), 20),  # every place in the order
    (_DIRICHLET(np.array([0.5, 2.0, 4.0]), (12, 30)), 30),
    (_DIRICHLET(np.ones(10), (4, 25)), 11),
    (_TWO, 350),
    "predictive entropy: subtract the doubt that each network has by itself.",
    lambda p, k: _order(_total(p), k),
    "the least sure prediction: the question is about (9.4), how far the networks disagree.",
    lambda p, k: _order(-p.mean(axis=0).max(axis=-1), k),
    "in the order of the pictures: the right pictures; return the most informative first.",
    lambda p, k: np.sort(_order(_total(p) - _expected(p), k)),
    "least informative: np.argsort sorts upwards: the last ones are the largest.",
    lambda p, k: _order(_expected(p) - _total(p), k),
)(lambda p, k: _order(_total(p) - _expected(p), k))

_LEFT = 18  # weights that may differ from 0
_AT_DATA = np.linspace(-0.5, 0.5, 101)[:, None]


def _low_noise_fit(seed: int) -> Any:
    data = datasets.sinusoid(seed=seed)
    return local_reparam.fit(data.x, data.y, prior=_PRIOR, **local_reparam.QUIET)


def _fault_of_weights(w: Any, seed: int) -> str:
    if np.isin(w, (0, 1)).all():
        return "a mask"
    if (w >= 0).all():
        return "no weight is negative"
    if np.count_nonzero(w) > _LEFT:
        return "too many weights"
    f = predictive.evaluate_weights(mlp.MLP(1, (20, 20)), w[None], _AT_DATA)[0]
    rmse = metrics.rmse(10 * np.sin(2 * np.pi * _AT_DATA[:, 0]), f)  # units of y
    return "the sine is lost" if rmse > 1.2 else ""


@exercise("3.14", (0,), (1,), (2,), judge=_fault_of_weights)
def _few_weights(seed: int) -> Array:
    fit = _low_noise_fit(seed)
    w = np.array(fit.mean)
    w[np.argsort(fit.signal_to_noise)[:-_LEFT]] = 0.0
    return w


_PROBLEMS = tuple((d.x, d.y) for d in (datasets.sinusoid(seed=k) for k in range(30, 34)))
_UNSEEN = range(40, 48)  # seeds of the data sets on which a σ₁ is judged
_NATS = 20.0  # by which F may be above F at σ₁ = 1: that of 0.7 and 1.2 is 13, of 1.5 is 26 above


@lru_cache(maxsize=32)
def _mean_free_energy(sigma1: float) -> float:
    """Return the mean F in nats of quiet fits to the ``_UNSEEN`` data, if the prior has this σ₁."""
    prior = densities.ScaleMixture(sigma1, 0.1, 0.5)
    sets = (datasets.sinusoid(seed=seed) for seed in _UNSEEN)
    fits = (local_reparam.fit(d.x, d.y, prior=prior, **local_reparam.QUIET) for d in sets)
    return float(np.mean([fit.free_energy for fit in fits]))


def _fault_of_sigma(sigma1: Any, problems: Any) -> str:
    if sigma1 <= 0:
        return "not above 0"
    if sigma1 < 0.1 or sigma1 > 20.0:  # σ₂ is 0.1
        return "no width of the wide part" if sigma1 < 0.1 else "F for σ₁"
    if 0.3 < sigma1 < 4 and _mean_free_energy(float(sigma1)) < _mean_free_energy(1.0) + _NATS:
        return ""
    return "too narrow" if sigma1 < 1 else "too wide"


exercise("3.15", (_PROBLEMS,), judge=_fault_of_sigma)(lambda problems: 1.0)
