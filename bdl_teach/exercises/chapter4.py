"""Define the exercises of chapter 4: how right is it?"""

import math
from typing import Any

import numpy as np

from bdl_teach import datasets, densities, mlp, predictive
from bdl_teach.exercises._engine import exercise
from bdl_teach.methods import local_reparam


def _excess(cov: Any) -> Any:
    """Return ½ Σ_i (Λ_ii Σ_ii − 1), in which Λ is the inverse of Σ = cov."""
    return 0.5 * (np.diag(np.linalg.inv(cov)) @ np.diag(cov) - len(cov))


def _covariance(d: int, scale: float = 1.0) -> Any:
    root = np.random.default_rng(d).normal(size=(d, d + 2)).round(1)
    return scale * root @ root.T / d


@exercise(
    "4.1",
    ([[2.0, 1.2], [1.2, 1.0]],),
    ([[1.0, -0.9], [-0.9, 1.0]],),
    (_covariance(3),),
    ([[0.5]],),
    (_covariance(60, 1e-8),),
    "the posterior's own marginals: the best σ_i is 1/√Λ_ii, with Λ the inverse of Σ.",
    (
        lambda cov: _excess(cov) + 0.5 * (np.linalg.slogdet(cov)[1] - np.log(np.diag(cov)).sum()),
        lambda cov: 0.5 * (np.linalg.slogdet(cov)[1] - np.log(np.diag(cov)).sum()),
    ),
    "the other direction: this is KL[P ‖ q]; F measures KL[q ‖ P].",
    (
        lambda cov: _excess(cov) - _family(cov),
        lambda cov: 0.5 * (np.log(np.diag(cov)).sum() - np.linalg.slogdet(cov)[1]),
    ),
    "the determinant is missing: the entropy of the posterior belongs to it, too: ½ log det Σ.",
    lambda cov: 0.5 * np.log(np.diag(np.linalg.inv(cov))).sum(),
    "the determinant underflows: take np.linalg.slogdet; 60 small numbers multiply to 0.",
    lambda cov: 0.5 * (np.log(np.diag(np.linalg.inv(cov))).sum() + np.log(np.linalg.det(cov))),
)
def _family(cov: Any) -> Any:
    return 0.5 * (np.log(np.diag(np.linalg.inv(cov))).sum() + np.linalg.slogdet(cov)[1])


def _sds(cov: Any, u: Any) -> Any:
    """Return the sd of uᵀw under the posterior and under its best mean-field approximation."""
    return np.array([u @ cov @ u, u**2 @ (1 / np.diag(np.linalg.inv(cov)))]) ** 0.5


def _as_if_independent(cov: Any, a: Any, b: Any) -> Any:
    """Return the sds of aᵀw − bᵀw, computed as if aᵀw and bᵀw were independent (a mistake)."""
    return np.hypot(_sds(cov, a), _sds(cov, b))


_COUPLED = np.array([[2.0, 1.2], [1.2, 1.0]])


@exercise(
    "4.2",
    (_COUPLED, [1.0, 0.5], [2.0, 2.5]),
    (_COUPLED, [1.0, 1.0], [3.0, -2.0]),
    (_covariance(4), [0.5, -1.0, 0.0, 2.0], [-0.5, 1.0, 1.5, 0.0]),
    ([[1.0, 0.999], [0.999, 1.0]], [0.0, 1.0], [1.0, 0.0]),
    "two strangers: both predictions are made with the same weights: they covary.",
    lambda cov, a, b: tuple(_as_if_independent(cov, a, b)),
    "independent weights, independent predictions: q, too, predicts both with one draw of w.",
    lambda cov, a, b: (_of_difference(cov, a, b)[0], _as_if_independent(cov, a, b)[1]),
    "a difference of standard deviations: what is random in f(b) − f(a)? Take the sd of that.",
    lambda cov, a, b: tuple(_sds(cov, b) - _sds(cov, a)),
    "the posterior's own marginals: the best member of the family has σ_i² = 1/Λ_ii, not Σ_ii.",
    lambda cov, a, b: (_of_difference(cov, a, b)[0], np.sqrt((b - a) ** 2 @ np.diag(cov))),
)
def _of_difference(cov: Any, a: Any, b: Any) -> Any:
    return tuple(_sds(cov, b - a))


def _orders(hidden_units: Any) -> float:
    return sum(math.lgamma(n + 1) for n in hidden_units)


@exercise(
    "4.4",
    *(((20, 20),), ((32,),), ((3, 5, 2),), ((1,),), ((400, 300),)),
    "only the orders: a tanh unit may also turn the signs of all its weights.",
    _orders,
    "2H for 2^H: each choice of a sign goes with every choice for the other units: multiply.",
    lambda hidden_units: _orders(hidden_units) + sum(math.log(2 * n) for n in hidden_units),
    "one sign for a layer: each unit has a sign of its own.",
    lambda hidden_units: _orders(hidden_units) + len(hidden_units) * math.log(2),
    "all units in one pot: units of different layers cannot be swapped: one factorial a layer.",
    lambda hidden_units: _copies((sum(hidden_units),)),
    "overflow: 400! is no float: add the logarithms of the factors, or use math.lgamma.",
    lambda hidden_units: math.log(
        math.prod(float(math.factorial(n)) * 2.0**n for n in hidden_units)
    ),
)
def _copies(hidden_units: Any) -> Any:
    return _orders(hidden_units) + math.log(2) * sum(hidden_units)


@exercise(
    "4.5",
    *((4, 1.0, 0.5, 0.1), (0, 2.0, 1.0, 0.25), (32, 3.0, 1.0, 0.5), (7, 0.5, 2.0, 4.0)),
    "the prior tempered twice: a KL weight divides the likelihood's precision only.",
    lambda n, p, s, t: (_tempered_stds(n, p, s, t)[1],) * 2,
    "the prior not tempered: a temperature divides the whole log posterior, prior included.",
    lambda n, p, s, t: (_tempered_stds(n, p, s, t)[0],) * 2,
    "t for √t: the precision is divided by t, so that the sd is multiplied by √t.",
    lambda n, p, s, t: (_tempered_stds(n, p, s, t)[0], t**0.5 * _tempered_stds(n, p, s, t)[1]),
)
def _tempered_stds(n: Any, prior_std: Any, noise_std: Any, t: Any) -> Any:
    weighted = 1 / prior_std**2 + n / (t * noise_std**2)
    tempered = (1 / prior_std**2 + n / noise_std**2) / t
    return weighted**-0.5, tempered**-0.5


_PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)


def _free_energy(posterior: Any, seed: int) -> float:
    """Return F in nats, on one data set, of a mean-field posterior ``[2, 481]`` (means, sds)."""
    mean, std = posterior
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=seed)
    w = predictive.draw_weights(mean, std, 500, 1)
    f = predictive.evaluate_weights(mlp.MLP(1, (20, 20)), w, data.x)
    log_q = -densities.gaussian_nll(w, mean, std**2)
    complexity = (log_q - np.asarray(_PRIOR.log_prob(w))).sum(axis=1)
    return float((complexity + densities.gaussian_nll(data.y.T, f, 1.0).sum(axis=1)).mean())


def _fault_of_posterior(posterior: Any, seed: int) -> str:
    if (posterior[1] <= 0).any():
        return "some σ is not above 0"
    # Fits with default settings end at 356 nats and more, the best of four low-noise fits 20 lower.
    if _free_energy(posterior, seed) <= 350.0:
        return ""
    of_variances = posterior[0], np.sqrt(posterior[1])
    return "variances" if _free_energy(of_variances, seed) <= 350.0 else "too high"


@exercise("4.6", (0,), (1,), (2,), judge=_fault_of_posterior)
def _converged(seed: int) -> Any:
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=seed)
    fit = local_reparam.fit(data.x, data.y, prior=_PRIOR, starts=4, **local_reparam.QUIET)
    return fit.mean, fit.std


# After 4000 low-noise steps, 4000 more gain less than 10 nats; after 50 or 100 they gain more.
exercise(
    "4.7",
    *((0, (4000, 50, 100)), (1, (50, 4000, 4000))),
    "all of them: 4000 quiet steps do arrive: compare F before and after, from fresh draws.",
    lambda seed, steps: [True] * len(steps),
    "none of them: after a short run, training on gains far more than 10 nats: measure it.",
    lambda seed, steps: [False] * len(steps),
    "the other way round: True is for the fits that training on still improves.",
    lambda seed, steps: [k >= 4000 for k in steps],
    rtol=0.1,
)(lambda seed, steps: [k < 4000 for k in steps])
