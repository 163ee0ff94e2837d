"""Define the exercises of chapter 8: ensembles, Laplace and sampling."""

import math
from functools import lru_cache
from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.exercises._engine import exercise
from bdl_teach.methods import exact, laplace, mc_dropout, point

_GAP = (0.1, 0.4)
_GIVEN: dict[str, Any] = {"prior": densities.Gaussian(3.0), "hidden_units": (20,)}


def _tops(first: Any, second: Any) -> Any:
    """Return the highest potential ``[k]`` on each of k paths; a path has two legs of n points."""
    return np.maximum(first.max(axis=1), second.max(axis=1))


exercise(
    "8.1",
    (
        [[30.0, 90.0, 60.0], [30.0, 60.0, 100.0], [30.0, 85.0, 40.0], [30.0, 50.0, 38.0]],
        [[60.0, 70.0, 36.0], [100.0, 95.0, 36.0], [40.0, 48.0, 36.0], [38.0, 120.0, 36.0]],
    ),
    (
        [[9.0, 14.0, 25.0, 12.0], [9.0, 31.0, 22.0, 16.0]],
        [[12.0, 13.0, 40.0, 2.0], [16.0, 33.0, 27.0, 2.0]],
    ),
    ([[-4.0, -1.0, -6.0]], [[-6.0, -2.5, -9.0]]),
    ([[5.0, 8.0, 7.0], [5.0, 4.0, 3.0]], [[7.0, 6.0, 1.0], [3.0, 2.0, 1.0]]),
    # the best path is highest at its middle point, then at its end
    ([[1.0, 2.0, 5.0], [1.0, 8.0, 4.0]], [[5.0, 3.0, 0.0], [4.0, 6.0, 0.0]]),
    ([[2.0, 3.0, 4.0]], [[4.0, 5.0, 7.0]]),
    "the highest of all: of several paths, take the one whose highest point is lowest.",
    lambda a, b: np.max(_tops(a, b)) - max(a[0, 0], b[0, -1]),
    "one leg only: a path is climbed from end to end: look at both of its legs.",
    lambda a, b: a.max(axis=1).min() - max(a[0, 0], b[0, -1]),
    "by the lowest middle point: a wall may stand before it: look at the whole of both legs.",
    lambda a, b: _tops(a, b)[np.argmin(b[:, 0])] - max(a[0, 0], b[0, -1]),
    "each leg by itself: both legs of one path go through the same middle point.",
    (
        lambda a, b: max(a.max(1).min(), b.max(1).min()) - max(a[0, 0], b[0, -1]),
        lambda a, b: a.max(1).min() + b.max(1).min() - max(a[0, 0], b[0, -1]),
    ),
    "the height alone: subtract the height of the higher mode: how far must one climb?",
    lambda a, b: np.min(_tops(a, b)),
)(lambda first, second: np.min(_tops(first, second)) - max(first[0, 0], second[0, -1]))


def _precision(seen: Any, prior_std: Any, noise_std: Any) -> Any:
    return seen.T @ seen / noise_std**2 + np.eye(seen.shape[1]) / prior_std**2


def _inputs(n: int, d: int, prior_std: float, noise_std: float) -> tuple[Any, ...]:
    rng = np.random.default_rng([8, n, d])
    return rng.normal(size=(n, d)).round(1), prior_std, noise_std


exercise(
    "8.2",
    *(_inputs(1, 1, 2.0, 0.5), _inputs(5, 2, 3.0, 1.5), _inputs(2, 3, 0.5, 2.0)),
    "the posterior's covariance: the members get that; (8.2) shrinks an anchor on its way.",
    lambda x, p, s: np.linalg.inv(_precision(x, p, s)),
    "σ_p⁴ is missing: a member gets Λ⁻¹ a_k/σ_p²: with this C its covariance is Λ⁻¹/σ_p⁴.",
    _precision,
    "what the noise lacks, alone: the anchors' own σ_p² I is still needed.",
    lambda x, p, s: p**4 * (x.T @ x) / s**2,
)(lambda x, prior_std, noise_std: prior_std**4 * _precision(x, prior_std, noise_std))


def _dropout_std(contributions: Any, rate: Any) -> Any:
    """Return the sd of MC dropout's output by (8.3), for units that are dropped independently."""
    return _in_groups(contributions, np.arange(contributions.shape[1]), rate)


_CONTRIBUTIONS = np.random.default_rng(83).normal(size=(4, 6)).round(1)


@exercise(
    "8.3",
    (_CONTRIBUTIONS, [0, 0, 1, 1, 1, 2], 0.1),
    (3 * _CONTRIBUTIONS[:2], [7, 2, 7, 2, 5, 2], 0.5),
    (_CONTRIBUTIONS[:3, :3], [2, 1, 0], 0.3),
    ([[1.0, -1.0]], [4, 4], 0.2),
    ([[2.0]], [0], 0.0),
    "each unit by itself: that is (8.3) as it stands; units with one z are not independent.",
    lambda c, group, rate: _dropout_std(c, rate),
    "sds are added in a group: in a group, contributions of opposite sign cancel.",
    lambda c, group, rate: _in_groups(np.abs(c), group, rate),
    "rate and its rest swapped: r is the probability that a unit is left out.",
    (
        lambda c, group, rate: _in_groups(c, group, 1 - max(rate, 1e-12)),
        lambda c, group, rate: _in_groups(c, group, 1 - rate),
    ),
    "the rate alone: divide by 1 − r: z has the variance r (1 − r), and is divided by 1 − r.",
    lambda c, group, rate: math.sqrt(1 - rate) * _in_groups(c, group, rate),
)
def _in_groups(contributions: Any, group: Any, rate: Any) -> Any:
    sums = [contributions[:, group == g].sum(axis=1) for g in np.unique(group)]
    return np.sqrt(rate / (1 - rate) * np.square(sums).sum(axis=0))


def _linearised(seen: Any, new: Any, prior_std: Any, noise_std: Any) -> Any:
    """Return the sd of gᵀw for each row g of ``new``; the precision of w comes from ``seen``."""
    cov = np.linalg.inv(_precision(seen, prior_std, noise_std))
    return np.sqrt(np.sum(new @ cov * new, axis=1))


def _rows(n: int, m: int, k: int, prior_std: float, noise_std: float) -> tuple[Any, ...]:
    rng = np.random.default_rng([84, n, k])
    return rng.normal(size=(n, k)).round(1), rng.normal(size=(m, k)).round(1), prior_std, noise_std


@exercise(
    "8.4",
    *(_rows(4, 3, 2, 2.0, 0.5), _rows(2, 2, 5, 0.7, 1.5), _rows(1, 4, 1, 3.0, 1.0)),
    "the mean of the sds: that is for outputs that move as one; each has factors of its own.",
    lambda seen, new, p, s: np.mean(_linearised(seen, new, p, s)),
    "the root of the mean variance: in an average, ups and downs cancel.",
    lambda seen, new, p, s: np.sqrt(np.mean(_linearised(seen, new, p, s) ** 2)),
    "as if they were independent: outputs of one draw share its weights.",
    lambda seen, new, p, s: np.linalg.norm(_linearised(seen, new, p, s)) / len(new),
    "the noise is in it: the doubt about f is asked for; the noise on y comes on top.",
    lambda seen, new, p, s: np.sqrt(_averaged(seen, new, p, s) ** 2 + s**2),
)
def _averaged(seen: Any, new: Any, prior_std: Any, noise_std: Any) -> Any:
    g = new.mean(axis=0)
    return np.sqrt(g @ np.linalg.solve(_precision(seen, prior_std, noise_std), g))


def _mode(n: int, k: int, prior_std: float, noise_std: float) -> tuple[Any, ...]:
    rng = np.random.default_rng([86, n, k])
    w, seen = prior_std * rng.normal(size=k), rng.normal(size=(n, k))
    return w.round(1), seen.round(1), prior_std, noise_std


@exercise(
    "8.6",
    *(_mode(4, 2, 2.0, 0.5), _mode(3, 5, 0.6, 1.5), _mode(1, 1, 3.0, 0.8), _mode(8, 60, 1.7, 0.3)),
    "the determinant stands still: Λ knows σ_p: ½ log|Λ| falls as the prior widens.",
    lambda w, seen, p, s: w @ w / p**2 - len(w),
    "the prior's normaliser stands still: log P(w*) has −log σ_p for each weight.",
    lambda w, seen, p, s: _pull(w, seen, p, s) + len(w),
    "the determinant pulls inwards: −½ log|Λ| *rises* with σ_p, since Λ falls: two signs.",
    lambda w, seen, p, s: 2 * (w @ w / p**2 - len(w)) - _pull(w, seen, p, s),
)
def _pull(w: Any, seen: Any, prior_std: Any, noise_std: Any) -> Any:
    doubt = np.trace(np.linalg.inv(_precision(seen, prior_std, noise_std)))
    return (w @ w + doubt) / prior_std**2 - len(w)


_WALKER = (np.array([0.5, -1.0, 2.0]), np.array([0.2, 0.1, -0.4]), np.array([4.0, 0.5, -3.0]))
_XI = np.array([0.3, -1.2, 0.7])


@exercise(
    "8.7",
    (*_WALKER, 0.01, 0.9, 1.0, _XI),
    (*_WALKER, 0.1, 0.7, 0.25, _XI),
    (*_WALKER, 0.05, 0.8, 0.0, _XI),
    (*_WALKER, 0.02, 0.0, 3.0, _XI),
    ([1.0], [0.5], [-2.0], 0.02, 0.6, 4.0, [1.0]),
    "the noise of plain steps: a kick goes on to carry w, for 1/(1 − β) steps.",
    lambda w, v, g, rate, b, t, xi: _step(w, v, g, rate, b, t / (1 - b), xi),
    "the sd shrinks as the drift grows: the *variance* is in proportion to the drift.",
    lambda w, v, g, rate, b, t, xi: _step(w, v, g, rate, b, t * (1 - b), xi),
    "the 2 is missing: without it the walker samples at half the temperature; try β = 0.",
    lambda w, v, g, rate, b, t, xi: _step(w, v, g, rate, b, t / 2, xi),
)
def _step(
    w: Any, v: Any, slope: Any, rate: Any, momentum: Any, temperature: Any, xi: Any
) -> tuple[Any, Any]:
    kick = np.sqrt(2 * (1 - momentum) * rate * temperature) * xi
    velocity = momentum * v - rate * slope + kick
    return w + velocity, velocity


_UNIT = math.sqrt(2 * math.pi * math.e)  # the entropy of N(0, σ²) is log(σ _UNIT)


def _entropy(own_std: Any, columns: Any) -> Any:
    scaled = columns / own_std[:, None]
    log_det = np.linalg.slogdet(np.eye(columns.shape[1]) + scaled.T @ scaled)[1]
    return np.log(own_std * _UNIT).sum() + 0.5 * log_det


def _crossed(mean: Any, own_std: Any, columns: Any, prior_std: Any) -> Any:
    """Return −E_q[log N(w | 0, σ_p² I)] for q = N(mean, diag(own_std²) + L Lᵀ) with L = columns."""
    square = np.sum(mean**2) + np.sum(own_std**2) + np.sum(columns**2)
    return 0.5 * square / prior_std**2 + len(mean) * math.log(prior_std * math.sqrt(2 * math.pi))


def _columns(d: int, k: int, prior_std: float, scale: float = 1.0) -> tuple[Any, ...]:
    rng = np.random.default_rng([88, d, k])
    own_std, columns = np.exp(rng.normal(size=d).round(1)), rng.normal(size=(d, k)).round(1)
    return rng.normal(size=d).round(1), scale * own_std, scale * columns, prior_std


@exercise(
    "8.8",
    *(_columns(3, 1, 2.0), _columns(5, 2, 0.7), _columns(2, 2, 3.0), _columns(3000, 2, 1.5, 0.01)),
    "the entropy alone: KL[q‖p] is −H[q] less the mean of log p(w) under q.",
    lambda m, d, columns, p: -_entropy(d, columns),
    "without the entropy: KL[q‖p] is −H[q] less the mean of log p(w) under q.",
    _crossed,
    "the constants do not cancel: of the entropy's ½ for each weight, −½ stays.",
    lambda m, d, columns, p: _price(m, d, columns, p) + 0.5 * len(m),
    "correlations ignored: the entropy is of the whole q, not of each weight alone.",
    lambda m, d, c, p: _price(m, np.hypot(d, np.sqrt((c**2).sum(axis=1))), 0 * c, p),
)
def _price(mean: Any, own_std: Any, columns: Any, prior_std: Any) -> Any:
    return _crossed(mean, own_std, columns, prior_std) - _entropy(own_std, columns)


def _last_layer(n: int, k: int, prior_std: float, noise_std: float) -> tuple[Any, ...]:
    """Draw features ``[n, k]``, targets, mean and covariance of the weights, and the two sds."""
    rng = np.random.default_rng([811, n, k])
    root = 0.4 * rng.normal(size=(k, k)) + 0.3 * np.eye(k)
    phi, mean = rng.normal(size=(n, k)).round(1), rng.normal(size=k).round(1)
    y = (phi @ mean + noise_std * rng.normal(size=n)).round(2)
    return phi, y, mean, root @ root.T, prior_std, noise_std


def _kl_of_layer(mean: Any, cov: Any, prior_std: Any) -> Any:
    size = (np.trace(cov) + mean @ mean) / prior_std**2 - len(mean)
    return 0.5 * (size + 2 * len(mean) * np.log(prior_std) - np.linalg.slogdet(cov)[1])


def _log_likelihood(phi: Any, y: Any, mean: Any, var: Any) -> Any:
    return -0.5 * np.sum((y - phi @ mean) ** 2 / var + np.log(2 * np.pi * var))


@exercise(
    "8.11",
    *(_last_layer(4, 2, 2.0, 0.5), _last_layer(7, 3, 0.6, 1.5), _last_layer(1, 1, 3.0, 0.8)),
    (*_last_layer(300, 80, 1.5, 0.3)[:3], 1e-9 * np.eye(80) + 1e-10, 1.5, 0.3),  # det cov is 0
    "the doubt is missing: E (y − wᵀφ)² is more than (y − mᵀφ)²: w is not m.",
    lambda phi, y, m, c, p, s: _log_likelihood(phi, y, m, s**2) - _kl_of_layer(m, c, p),
    "the log of the mean for the mean of the log: that is the predictive density, and no bound.",
    lambda phi, y, m, c, p, s: (
        _log_likelihood(phi, y, m, s**2 + np.sum(phi @ c * phi, axis=1)) - _kl_of_layer(m, c, p)
    ),
    "correlations dropped: the variance of wᵀφ knows the whole covariance.",
    lambda phi, y, m, c, p, s: (
        _bound(phi, y, m, c, p, s) + 0.5 * np.sum(phi @ (c - np.diag(np.diag(c))) * phi) / s**2
    ),
    "the KL is missing: it is what keeps q near the prior.",
    lambda phi, y, m, c, p, s: _bound(phi, y, m, c, p, s) + _kl_of_layer(m, c, p),
    "the KL for each point: the data share one w, and pay for it once.",
    lambda phi, y, m, c, p, s: _bound(phi, y, m, c, p, s) - (len(y) - 1) * _kl_of_layer(m, c, p),
)
def _bound(phi: Any, y: Any, mean: Any, cov: Any, prior_std: Any, noise_std: Any) -> Any:
    doubt = np.sum(phi @ cov * phi) / noise_std**2
    fit = _log_likelihood(phi, y, mean, noise_std**2) - 0.5 * doubt
    return fit - _kl_of_layer(mean, cov, prior_std)


@lru_cache(maxsize=8)
def _networks(seed: int) -> tuple[tuple[Any, Any], ...]:
    """Return (inputs of the last layer ``[32, 21]``, y) of a ``laplace`` and of a ``point`` fit."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=seed, gap=_GAP)
    mode = laplace.fit(data.x, data.y, structure="last_layer", **_GIVEN).mean
    found = []
    for w in (mode, point.fit(data.x, data.y, **_GIVEN).weights):
        hidden = np.maximum(0.0, data.x * w[:20] + w[20:40])
        found.append((np.hstack([hidden, np.ones_like(data.x)]), data.y))
    return tuple(found)


def _log_evidence(prior_std: float, phi: Any, y: Any) -> float:
    return exact.linear_regression(phi, y, float(prior_std), 1.0).log_evidence


@lru_cache(maxsize=8)
def _best_widths(seed: int) -> list[float]:
    """Return the σ_p that maximises the evidence, for each network of ``_networks``."""
    widths = np.geomspace(0.5, 50.0, 41)
    return [float(max(widths, key=lambda s: _log_evidence(s, *net))) for net in _networks(seed)]


def _fault_of_width(prior_std: Any, seed: int) -> str:
    if prior_std <= 0:
        return "no standard deviation"
    networks = zip(_networks(seed), _best_widths(seed), strict=True)
    if any(_log_evidence(b, *n) - _log_evidence(prior_std, *n) < 0.1 for n, b in networks):
        return ""
    if prior_std == 3.0:
        return "the prior that it was trained with"
    return f"too {'narrow' if prior_std < min(_best_widths(seed)) else 'wide'}"


def _fault_of_widths(found: list[Array]) -> str:
    """Return "the variance" if answers differ and are near ``_best_widths`` squared, else ""."""
    near = [
        any(0.7 < float(width) / best**2 < 1.4 for best in _best_widths(seed))
        for seed, width in enumerate(found)
    ]
    return "the variance" if all(near) and len(set(map(float, found))) > 1 else ""


exercise("8.9", (0,), (1,), (2,), judge=_fault_of_width, overall=_fault_of_widths)(
    lambda seed: _best_widths(seed)[0]
)


_WANTED_STD = (0.55, 0.75)  # epistemic sd at the data, in units of y; Laplace's is 0.6 on average


@lru_cache(maxsize=64)
def _std_at_data(rate: float, seed: int) -> float:
    """Return the mean epistemic sd of MC dropout at the data, by (8.3), in units of y."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=seed, gap=_GAP)
    m = mc_dropout.fit(data.x, data.y, rate=rate, **_GIVEN).weights
    units = np.maximum(0.0, data.x * m[:20] + m[20:40]) * m[40:60]
    return float(_dropout_std(units, rate).mean())


def _fault_of_rate(rate: Any, seed: int) -> str:
    if not 0 <= rate < 1:
        return "no rate"
    if _WANTED_STD[0] < _std_at_data(float(rate), seed) < _WANTED_STD[1]:
        return ""
    if rate == 0:
        return "no dropout"
    if rate > 0.9:
        return "the probability of keeping"
    if _std_at_data(float(rate), seed) <= _WANTED_STD[0]:
        return "too calm"
    return f"{'near' if rate <= 0.2 else 'above'} the usual rate"


exercise("8.10", (0,), (1,), (2,), judge=_fault_of_rate)(lambda seed: 0.01)
