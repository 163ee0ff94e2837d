"""Three errors of mean field: of optimisation, of the family, of the prior (chapter 4)."""

from typing import Any

import numpy as np
from scipy.special import softplus

from bdl_teach import calibration, datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.experiments.measured._measure import X, rms, score
from bdl_teach.experiments.world import World
from bdl_teach.methods import bbb, local_reparam, mcmc, point
from bdl_teach.predictive import Predictive

GAP = (0.1, 0.4)  # without data; the sine has its peak here
ONE_LAYER = (32,)  # a network whose posterior HMC samples in seconds
LONG = 6000  # steps of the quiet estimator; more gain next to nothing
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


def parts(world: World) -> dict[str, float]:
    """Measure how far fits and the posterior are from the truth, for priors N(0, 1) and N(0, 3²).

    ``fit`` is Bayes by Backprop at its defaults, ``on`` is that fit trained longer, ``mode`` a fit
    that starts at a MAP, ``best`` is the one of ``on`` and ``mode`` with the lower F, and
    ``posterior`` is HMC.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed, gap=GAP)
    truth = data.truth(X)[:, 0]
    figures: dict[str, float] = {}
    for name, prior_std in (("narrow", 1.0), ("wide", 3.0)):
        settings: dict[str, Any] = {"prior": densities.Gaussian(prior_std)}
        settings |= {"hidden_units": ONE_LAYER, "seed": world.start_seed}
        fit = bbb.fit(data.x, data.y, **settings)
        fits = {"fit": fit, "on": fit.refined(LONG)}
        start = point.fit(data.x, data.y, steps=3000, **settings).weights, 0.1
        quiet = {**local_reparam.QUIET, "learning_rate": 0.1, "steps": LONG, **settings}
        fits["mode"] = local_reparam.fit(data.x, data.y, initial=start, **quiet)
        fits["best"] = min(fits["on"], fits["mode"], key=lambda fit: fit.free_energy)
        posterior = mcmc.hmc(data.x, data.y, n_samples=2000, **settings).predict(X)
        p = {key: fit.predict(X, 1000) for key, fit in fits.items()} | {"posterior": posterior}
        figures |= {f"{name}-{key}-f": fit.free_energy for key, fit in fits.items()}
        for key, prediction in p.items():
            for where, mask in (("gap", IN_GAP), ("among", AMONG), ("outside", OUTSIDE)):
                sd = prediction.epistemic_std[mask].mean()
                figures[f"{name}-{key}-std-{where}"] = float(sd)
            figures[f"{name}-{key}-coverage"] = coverage(prediction, truth)
            figures[f"{name}-{key}-distance"] = calibration.distance(prediction, posterior, IN_GAP)
        figures[f"{name}-optimisation"] = calibration.distance(p["fit"], p["best"], IN_GAP)
        figures[f"{name}-prior"] = beyond(posterior, truth)
    others = figures["narrow-optimisation"], figures["narrow-best-distance"]
    figures["narrow-prior-ahead"] = figures["narrow-prior"] - max(others)
    return figures


def starts(world: World) -> dict[str, float]:
    """Return the least and the largest ``coverage`` of the gap by long fits from six starts.

    ``lowest-is-nearest`` is 1 if the fit with the lowest F is also nearest the truth, else 0.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed, gap=GAP)
    truth = data.truth(X)[:, 0]
    settings: dict[str, Any] = {"prior": densities.Gaussian(3.0), "hidden_units": ONE_LAYER}
    seeds = [world.seed(k + 1) for k in range(6)]
    fits = [bbb.fit(data.x, data.y, seed=seed, **settings).refined(LONG) for seed in seeds]
    predictions = [fit.predict(X) for fit in fits]
    covered = [coverage(p, truth) for p in predictions]
    lowest = np.argmin([fit.free_energy for fit in fits])
    nearest = np.argmin([beyond(p, truth) for p in predictions])
    return {
        "coverage-low": min(covered),
        "coverage-high": max(covered),
        "lowest-is-nearest": float(lowest == nearest),
    }


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

    A fit at temperature T has KL weight T, and a prior whose sd is multiplied by √T.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    cold = {"bayes": (1.0, 1.0), "kl": (1.0, 0.1), "tempered": (0.1**0.5, 0.1)}
    figures = {}
    for name, (prior_std, kl_weight) in cold.items():
        recipe: dict[str, Any] = {**local_reparam.QUIET, "kl_weight": kl_weight, "steps": LONG}
        recipe |= {"prior": densities.Gaussian(prior_std), "hidden_units": ONE_LAYER}
        fit = local_reparam.fit(data.x, data.y, seed=world.start_seed, **recipe)
        sd = fit.predict(X, seed=world.seed(2)).epistemic_std
        figures[f"{name}-among"] = float(sd[~OUTSIDE].mean())
        figures[f"{name}-outside"] = float(sd[OUTSIDE].mean())
    return figures
