"""Three errors of mean field: of optimisation, of the family, of the prior (chapter 4)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.special import softplus

from bdl_teach import calibration, datasets, densities
from bdl_teach.claims import World
from bdl_teach.methods import bbb, local_reparam, mcmc, point
from evidence.claim import Trial
from evidence.measured._measure import (
    Found,
    Trained,
    X,
    figures,
    halves,
    mean,
    new_targets,
    predicted,
    rms,
)

GAP = (0.1, 0.4)  # without data; the sine has its peak here
ONE_LAYER = (32,)  # a network whose posterior HMC samples in seconds
LONG = 6000  # steps by which fits are trained on
IN_GAP = (X[:, 0] > GAP[0]) & (X[:, 0] < GAP[1])
REGIONS = {**halves(X), "among": halves(X)["among"] & ~IN_GAP, "gap": IN_GAP}
Settings = dict[str, Any]


def coverage(one: Trained) -> float:
    """Return the share of the gap in which the sine lies inside ±2 epistemic sd."""
    return mean(one.is_held[IN_GAP])


def beyond(one: Trained) -> float:
    """Return how far (rms over the gap) the sine is outside the band ±2 epistemic sd."""
    miss = np.abs(one.off) - 2 * one.prediction.epistemic_std
    return rms(np.maximum(miss, 0.0)[IN_GAP])


def apart(one: Trained, other: Trained) -> float:
    """Return the distance of two predictions in the gap (``calibration.distance``)."""
    return calibration.distance(one.prediction, other.prediction, IN_GAP)


def with_gap(world: World, n: int = 32) -> datasets.Regression1D:
    """Return n noisy points of a sine, none of them in ``GAP``."""
    return datasets.sinusoid(n=n, noise_std=1.0, seed=world.data_seed, gap=GAP)


def beside_posterior(world: World, prior_std: float) -> Found:
    """Fit mean field in four ways under the prior N(0, prior_std²), and sample the ``posterior``.

    ``fit`` is Bayes by Backprop at its defaults, that is after 1500 steps; ``on`` is that fit after
    ``LONG`` more; ``mode`` has ``LONG`` steps of the quiet estimator from a MAP; ``lowest`` is the
    lowest F of 32 starts, the best of which train on.
    """
    data, options = with_gap(world), {"hidden_units": ONE_LAYER, "seed": world.start_seed}
    given: Settings = {"prior": densities.Gaussian(prior_std), **options}
    fit = bbb.fit(data.x, data.y, **given)
    start = point.fit(data.x, data.y, steps=3000, **given).weights, 0.1
    quiet = {**local_reparam.QUIET, "learning_rate": 0.1, "steps": LONG, **given}
    lowest: Any = local_reparam.fit(data.x, data.y, **local_reparam.LOWEST, **given)
    fits = {
        "fit": fit,
        "on": fit.refined(LONG),
        "mode": local_reparam.fit(data.x, data.y, initial=start, **quiet),
        "lowest": lowest.again().refined(),
    }
    posterior = mcmc.hmc(data.x, data.y, n_samples=2000, **given)
    found = predicted(fits, X, REGIONS, energies=fits, n_samples=1000)
    return {**found, **predicted({"posterior": posterior}, X, REGIONS)}


def under_two_priors(world: World) -> dict[str, Found]:
    """Return :func:`beside_posterior` under N(0, 1), ``narrow``, and under N(0, 3²), ``wide``."""
    return {"narrow": beside_posterior(world, 1.0), "wide": beside_posterior(world, 3.0)}


def three_parts(found: Found) -> dict[str, float]:
    """Measure the fits of :func:`beside_posterior`.

    ``distance`` is that to the posterior in the gap. ``optimisation`` is the distance from ``fit``
    to ``lowest``, ``prior`` what of the sine is beyond the posterior, ``prior-ahead`` by how much
    that exceeds the other two parts. ``further`` is 1 if ``lowest`` is further from the posterior
    in the gap than ``on``, else 0.
    """
    away = {key: apart(one, found["posterior"]) for key, one in found.items()}
    optimisation, prior = apart(found["fit"], found["lowest"]), beyond(found["posterior"])
    return {
        **figures(found),
        **{f"{key}-distance": distance for key, distance in away.items()},
        "optimisation": optimisation,
        "prior": prior,
        "prior-ahead": prior - max(optimisation, away["lowest"]),
        "further": float(away["lowest"] > away["on"]),
    }


def three_parts_by_prior(found: Mapping[str, Found]) -> dict[str, float]:
    """Return :func:`three_parts` for each prior; names begin with that of the prior."""
    return {
        f"{name}-{key}": value
        for name, fits in found.items()
        for key, value in three_parts(fits).items()
    }


def from_six_seeds(world: World) -> dict[str, list[Trained]]:
    """Fit mean field under the prior N(0, 3²) from six seeds, in two ways.

    ``one`` is one start each, trained ``LONG`` steps on; ``lowest`` is the lowest F of 16 starts.
    """
    data, found = with_gap(world), dict[str, list[Trained]]()
    given: Settings = {"prior": densities.Gaussian(3.0), "hidden_units": ONE_LAYER}
    for k in range(6):
        seeded = {"seed": world.seed(k + 1), **given}
        lowest = local_reparam.fit(data.x, data.y, **local_reparam.LOWEST, **seeded)
        fits = {"one": bbb.fit(data.x, data.y, **seeded).refined(LONG), "lowest": lowest}
        for name, one in predicted(fits, X, REGIONS, energies=["one"]).items():
            found.setdefault(name, []).append(one)
    return found


def spread_of_starts(found: Mapping[str, Sequence[Trained]]) -> dict[str, float]:
    """Return the least and the largest :func:`coverage` by fits from six seeds.

    ``lowest-agree`` is 1 if the lowest fits cover the same to a tenth of the gap, else 0.
    ``lowest-is-nearest`` is 1 if, of the long fits, that of lowest F is nearest the truth.
    """
    told: dict[str, float] = {}
    for name, some in found.items():
        covered = list(map(coverage, some))
        told |= {f"{name}-low": min(covered), f"{name}-high": max(covered)}
    lowest = np.argmin([one.numbers["F"] for one in found["one"]])
    nearest = np.argmin([beyond(one) for one in found["one"]])
    told["lowest-agree"] = float(told["lowest-high"] - told["lowest-low"] < 0.1)
    return {**told, "lowest-is-nearest": float(lowest == nearest)}


def by_recipe(world: World) -> Found:
    """Minimise F in four ways, on the problem of chapter 3.

    ``ours`` has the defaults of ``bbb.fit``, ``again`` the same from another start. A name that
    ends in ``-on`` is of a fit that was trained further.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    prior, seed = densities.ScaleMixture(1.5, 0.1, 0.5), world.start_seed
    draw = np.random.default_rng(world.seed(2)).standard_normal(481)
    library: Settings = {"initial": (0.1 * draw, softplus(-3.0))}
    library |= {"learning_rate": 0.03, "cooldown": 0.0}
    fits = {
        "article": bbb.fit(data.x, data.y, prior=prior, seed=seed, **bbb.ARTICLE),
        "library": bbb.fit(data.x, data.y, prior=prior, seed=seed, **library),
        "ours": bbb.fit(data.x, data.y, prior=prior, seed=seed),
        "quiet": local_reparam.fit(data.x, data.y, prior=prior, seed=seed, **local_reparam.QUIET),
    }
    fits["again"] = bbb.fit(data.x, data.y, prior=prior, seed=world.seed(5))
    fits |= {f"{name}-on": fits[name].refined(LONG) for name in ("ours", "again", "library")}
    new = new_targets(X, world.seed(4))
    return predicted(fits, X, halves(X), new, energies=fits, seed=world.seed(3))


def recipes_apart(found: Found) -> dict[str, float]:
    """Return the figures of each recipe, and how far predicted means are apart.

    ``apart-again`` and ``apart-library`` are rms differences from the mean of ``ours`` for
    |x| > ½; with ``-on``, both fits were trained further.
    """
    told = figures(found)
    for other in ("again", "library"):
        for on in ("", "-on"):
            off = found[f"ours{on}"].off - found[f"{other}{on}"].off
            told[f"apart-{other}{on}"] = rms(off[REGIONS["outside"]])
    return {**told, "agree-again-on": float(told["apart-again-on"] < 1.0)}


def colder(world: World) -> Found:
    """Fit with KL weight 1 (``bayes``), KL weight 0.1 (``kl``), and temperature 0.1 (``tempered``).

    Each is the fit of lowest F of 16 starts. A fit at temperature T has KL weight T, and a prior
    whose sd is multiplied by √T.
    """
    data, fits = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed), {}
    cold = {"bayes": (1.0, 1.0), "kl": (1.0, 0.1), "tempered": (0.1**0.5, 0.1)}
    for name, (prior_std, kl_weight) in cold.items():
        recipe: Settings = {**local_reparam.LOWEST, "kl_weight": kl_weight}
        recipe |= {"prior": densities.Gaussian(prior_std), "hidden_units": ONE_LAYER}
        fits[name] = local_reparam.fit(data.x, data.y, seed=world.start_seed, **recipe)
    return predicted(fits, X, halves(X), seed=world.seed(2))


parts = Trial(under_two_priors, three_parts_by_prior)
starts = Trial(from_six_seeds, spread_of_starts)
recipes = Trial(by_recipe, recipes_apart)
temperatures = Trial(colder, figures)
