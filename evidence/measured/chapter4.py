"""Three errors of mean field: of optimisation, of the family, of the prior (chapter 4)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import softplus

from bdl_teach import calibration, datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import bbb, local_reparam, mcmc, point
from bdl_teach.predictive import Predictive
from evidence.measured._measure import X, rms, score

GAP = (0.1, 0.4)  # without data; the sine has its peak here
ONE_LAYER = (32,)  # a network whose posterior HMC samples in seconds
LONG = 6000  # steps by which fits are trained on
IN_GAP = (X[:, 0] > GAP[0]) & (X[:, 0] < GAP[1])
AMONG = (np.abs(X[:, 0]) <= 0.5) & ~IN_GAP
OUTSIDE = np.abs(X[:, 0]) > 0.5


def coverage(prediction: Predictive, truth: Array) -> float:
    """Return the share of the gap in which the true function lies inside ±2 epistemic sd."""
    return float((np.abs(prediction.mean - truth) < 2 * prediction.epistemic_std)[IN_GAP].mean())


def beyond(prediction: Predictive, truth: Array) -> float:
    """Return how far (rms over the gap) the true function is outside the band ±2 epistemic sd."""
    miss = np.abs(prediction.mean - truth) - 2 * prediction.epistemic_std
    return rms(np.maximum(miss, 0.0)[IN_GAP])


def sinusoid(world: World) -> datasets.Regression1D:
    """Return 32 noisy points of a sine, none of them in ``GAP``."""
    return datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed, gap=GAP)


def fits(world: World, prior_std: float) -> dict[str, Any]:
    """Return four mean-field fits under the prior N(0, prior_std²), and HMC (``posterior``).

    ``fit`` is Bayes by Backprop at its defaults, that is after 1500 steps; ``on`` is that fit after
    ``LONG`` more; ``mode`` has ``LONG`` steps of the quiet estimator from a MAP; ``lowest`` is the
    lowest F of 32 starts, the best of which train on.
    """
    data, options = sinusoid(world), {"hidden_units": ONE_LAYER, "seed": world.start_seed}
    given: dict[str, Any] = {"prior": densities.Gaussian(prior_std), **options}
    fit = bbb.fit(data.x, data.y, **given)
    start = point.fit(data.x, data.y, steps=3000, **given).weights, 0.1
    quiet = {**local_reparam.QUIET, "learning_rate": 0.1, "steps": LONG, **given}
    lowest: Any = local_reparam.fit(data.x, data.y, **local_reparam.LOWEST, **given)
    return {
        "fit": fit,
        "on": fit.refined(LONG),
        "mode": local_reparam.fit(data.x, data.y, initial=start, **quiet),
        "lowest": lowest.again().refined(),
        "posterior": mcmc.hmc(data.x, data.y, n_samples=2000, **given),
    }


def measure(p: Mapping[str, Predictive], truth: Array) -> dict[str, float]:
    """Measure the predictions of :func:`fits` on ``X``; ``truth`` [m] is the true function.

    ``distance`` is that to the posterior and ``error`` that of the mean to the truth, both over the
    gap. ``optimisation`` is the distance from ``fit`` to ``lowest``, ``prior`` what of the truth is
    beyond the posterior, ``prior-ahead`` by how much that exceeds the other two parts. ``further``
    is 1 if ``lowest`` is further from the posterior in the gap than ``on``, else 0.
    """
    figures: dict[str, float] = {}
    for key, one in p.items():
        for where, mask in (("gap", IN_GAP), ("among", AMONG), ("outside", OUTSIDE)):
            figures[f"{key}-std-{where}"] = float(one.epistemic_std[mask].mean())
        figures[f"{key}-coverage"] = coverage(one, truth)
        figures[f"{key}-error"] = rms((one.mean - truth)[IN_GAP])
        figures[f"{key}-distance"] = calibration.distance(one, p["posterior"], IN_GAP)
    optimisation = calibration.distance(p["fit"], p["lowest"], IN_GAP)
    family, prior = figures["lowest-distance"], beyond(p["posterior"], truth)
    ahead = prior - max(optimisation, family)
    figures |= {"optimisation": optimisation, "prior": prior, "prior-ahead": ahead}
    return {**figures, "further": float(family > figures["on-distance"])}


def parts(world: World) -> dict[str, float]:
    """Return F of each of the :func:`fits`, and what :func:`measure` finds, for two priors.

    Names begin with ``narrow`` for the prior N(0, 1), with ``wide`` for N(0, 3²).
    """
    truth = sinusoid(world).truth(X)[:, 0]
    figures: dict[str, float] = {}
    for name, prior_std in (("narrow", 1.0), ("wide", 3.0)):
        found = fits(world, prior_std)
        posterior = found.pop("posterior")
        told = {key: fit.predict(X, 1000) for key, fit in found.items()}
        said = measure({**told, "posterior": posterior.predict(X)}, truth)
        said |= {f"{key}-f": fit.free_energy for key, fit in found.items()}
        figures |= {f"{name}-{key}": value for key, value in said.items()}
    return figures


def starts(world: World) -> dict[str, float]:
    """Return the least and the largest ``coverage`` of the gap by fits from six seeds.

    ``one`` is one start each, trained ``LONG`` steps on; ``lowest`` is the lowest F of 16 starts
    each, and ``lowest-agree`` is 1 if these cover the same to a tenth of the gap, else 0.
    ``lowest-is-nearest`` is 1 if, of the long fits, that of lowest F is nearest the truth.
    """
    data = sinusoid(world)
    truth = data.truth(X)[:, 0]
    given: dict[str, Any] = {"prior": densities.Gaussian(3.0), "hidden_units": ONE_LAYER}
    seeds = [{"seed": world.seed(k + 1), **given} for k in range(6)]
    long = [bbb.fit(data.x, data.y, **seed).refined(LONG) for seed in seeds]
    found = [local_reparam.fit(data.x, data.y, **local_reparam.LOWEST, **seed) for seed in seeds]
    figures: dict[str, float] = {}
    for name, some in (("one", long), ("lowest", found)):
        covered = [coverage(fit.predict(X), truth) for fit in some]
        figures |= {f"{name}-low": min(covered), f"{name}-high": max(covered)}
    lowest = np.argmin([fit.free_energy for fit in long])
    nearest = np.argmin([beyond(fit.predict(X), truth) for fit in long])
    figures["lowest-agree"] = float(figures["lowest-high"] - figures["lowest-low"] < 0.1)
    return {**figures, "lowest-is-nearest": float(lowest == nearest)}


def recipes(world: World) -> dict[str, float]:
    """Compare four ways to minimise F: the F reached, the test scores, and the predicted means.

    The problem is that of chapter 3. ``ours`` has the defaults of ``bbb.fit``, ``again`` the same
    from another start. A name that ends in ``-on`` is of a fit that was trained further.
    ``apart-again`` and ``apart-library`` are rms differences of the predicted mean from that of
    ``ours`` for |x| > ½; with ``-on``, both fits were trained further.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    prior, seed = densities.ScaleMixture(1.5, 0.1, 0.5), world.start_seed
    draw = np.random.default_rng(world.seed(2)).standard_normal(481)
    library: dict[str, Any] = {"initial": (0.1 * draw, softplus(-3.0))}
    library |= {"learning_rate": 0.03, "cooldown": 0.0}
    fits = {
        "article": bbb.fit(data.x, data.y, prior=prior, seed=seed, **bbb.ARTICLE),
        "library": bbb.fit(data.x, data.y, prior=prior, seed=seed, **library),
        "ours": bbb.fit(data.x, data.y, prior=prior, seed=seed),
        "quiet": local_reparam.fit(data.x, data.y, prior=prior, seed=seed, **local_reparam.QUIET),
    }
    fits["again"] = bbb.fit(data.x, data.y, prior=prior, seed=world.seed(5))
    fits |= {f"{name}-on": fits[name].refined(LONG) for name in ("ours", "again", "library")}
    figures = {f"{name}-f": fit.free_energy for name, fit in fits.items()}
    p = {name: fit.predict(X, seed=world.seed(3)) for name, fit in fits.items()}
    for name, prediction in p.items():
        figures |= score(name, prediction, data, world.seed(4))
    for other in ("again", "library"):
        for on in ("", "-on"):
            off = p[f"ours{on}"].mean - p[f"{other}{on}"].mean
            figures[f"apart-{other}{on}"] = rms(off[OUTSIDE])
    figures["agree-again-on"] = float(figures["apart-again-on"] < 1.0)
    return figures


def temperatures(world: World) -> dict[str, float]:
    """Return epistemic sds in units of y for KL weight 1, KL weight 0.1, and temperature 0.1.

    Each is of the fit of lowest F of 16 starts. A fit at temperature T has KL weight T, and a prior
    whose sd is multiplied by √T.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    cold = {"bayes": (1.0, 1.0), "kl": (1.0, 0.1), "tempered": (0.1**0.5, 0.1)}
    figures = {}
    for name, (prior_std, kl_weight) in cold.items():
        recipe: dict[str, Any] = {**local_reparam.LOWEST, "kl_weight": kl_weight}
        recipe |= {"prior": densities.Gaussian(prior_std), "hidden_units": ONE_LAYER}
        fit = local_reparam.fit(data.x, data.y, seed=world.start_seed, **recipe)
        sd = fit.predict(X, seed=world.seed(2)).epistemic_std
        figures[f"{name}-among"] = float(sd[~OUTSIDE].mean())
        figures[f"{name}-outside"] = float(sd[OUTSIDE].mean())
    return figures
