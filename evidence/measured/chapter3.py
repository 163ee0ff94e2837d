"""Bayes by Backprop on the sinusoid and the paper's curve (chapter 3 and its explorers)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import bbb, local_reparam
from bdl_teach.predictive import Predictive
from bdl_teach.problems import truth
from evidence.claim import Trial
from evidence.measured._measure import (
    Found,
    Trained,
    figures,
    halves,
    new_targets,
    rms,
    spread,
)

X = np.linspace(-1.5, 1.5, 121)[:, None]
REGIONS = halves(X)
CURVE = np.linspace(-0.4, 0.9, 131)[:, None]  # inputs of Blundell's curve
ON_CURVE = (CURVE[:, 0] > 0.05) & (CURVE[:, 0] < 0.45)  # within the range of its data
N_NEW = 100  # new targets at each input
Plans = dict[str, dict[str, Any]]  # arguments of fits, by name
PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)
HARD: Plans = {"few": {"n": 6}, "loud": {"noise_std": 3.0}, "costly": {"kl_weight": 10.0}}
OF_HARD = {"error": "among-error", "total": "total", "sd": "among-sd", "peak": "peak"}


def _kept(fit: bbb.Fit, world: World, noise_std: float = 1.0) -> Trained:
    """Keep a fit's predictions, costs in nats, and how roughly F fell after the first records."""
    cost, path = fit.cost(200), fit.history["free_energy"]
    return Trained(
        prediction=fit.predict(X, n_samples=200),
        x=X,
        regions=REGIONS,
        new=new_targets(X, world.seed(2), N_NEW, noise_std),
        numbers={
            "F": cost.total,
            "complexity": cost.complexity,
            "roughness": float(np.diff(path[50:]).std()),
        },
    )


def _fit(
    world: World, n: int = 32, noise_std: float = 1.0, quiet: bool = True, **values: Any
) -> bbb.Fit:
    """Return a fit, by the explorer's algorithm if ``quiet``, else the paper's."""
    data = datasets.sinusoid(n, noise_std, world.data_seed)
    given = {"prior": PRIOR, "noise_std": noise_std, "seed": world.start_seed}
    if quiet:
        return local_reparam.fit(data.x, data.y, **{**given, **local_reparam.QUIET, **values})
    return bbb.fit(data.x, data.y, **{**given, **values})


def _by_plan(world: World, plans: Plans) -> dict[str, Trained]:
    """Fit by each plan, which gives arguments of ``_fit``."""
    return {
        name: _kept(_fit(world, **plan), world, plan.get("noise_std", 1.0))
        for name, plan in plans.items()
    }


def with_bands(found: Found) -> dict[str, float]:
    """Return the figures of each fit, and more for |x| ≤ ½: its peak, and widths of its bands.

    ``covered`` is the share of new targets within ±2 total sd, ``covered-epistemic`` that within ±2
    epistemic sd, ``total`` the mean total sd; ``ends`` is the mean epistemic sd at x = ±1.5.
    """
    told = figures(found)
    for name, one in found.items():
        assert one.new is not None
        p, among = one.prediction, one.regions["among"]
        distance, total = np.abs(one.new - p.mean)[:, among], p.total_std[among]
        told[f"{name}-peak"] = float(np.abs(p.mean[among]).max())
        told[f"{name}-ends"] = float(p.epistemic_std[[0, -1]].mean())
        told[f"{name}-total"] = float(total.mean())
        told[f"{name}-covered"] = float(np.mean(distance <= 2 * total))
        epistemic = 2 * p.epistemic_std[among]
        told[f"{name}-covered-epistemic"] = float(np.mean(distance <= epistemic))
    return told


def at_presets(world: World) -> dict[str, Trained]:
    """Fit at the sinusoid explorer's presets.

    The presets of ``HARD`` are fitted twice, since a fit may miss the sine: the second fit
    (``-kept``) starts from the trained weights of ``article``.
    """
    article = _fit(world)
    start = article.mean, article.std
    kept: dict[str, Any] = {"initial": start, "steps": 3000, "learning_rate": 0.1}
    plans: Plans = {
        "many": {"n": 64},
        "narrow": {"prior": densities.ScaleMixture(0.3, 0.3, 0.5)},
        "cold": {"kl_weight": 0.01},
        **HARD,
        **{f"{name}-kept": {**values, **kept} for name, values in HARD.items()},
    }
    return {"article": _kept(article, world), **_by_plan(world, plans)}


def beside_article(found: Found) -> dict[str, float]:
    """Return :func:`with_bands`, and figures relative to those of ``article``.

    ``least-`` and ``largest-`` are of the two fits of a preset of ``HARD``.
    """
    told = with_bands(found)
    for name in HARD:
        for key, figure in OF_HARD.items():
            both = [
                told[f"{fit}-{figure}"] / told[f"article-{figure}"]
                for fit in (name, f"{name}-kept")
            ]
            told |= {f"{name}-least-{key}": min(both), f"{name}-largest-{key}": max(both)}
    outside, among = (told[f"cold-{r}-sd"] / told[f"article-{r}-sd"] for r in ("outside", "among"))
    told["cold-shrinks-less"] = outside / among
    return {**told, "cold-widens": float(told["cold-ends"] > told["article-ends"])}


def by_estimator(world: World) -> dict[str, Trained]:
    """Fit quietly, and by Bayes by Backprop with three settings."""
    drawn: Plans = {"one": {}, "ten": {"n_samples": 10}, "forgotten": {"kl_weight": 32.0}}
    plans: Plans = {name: {"quiet": False, **plan} for name, plan in drawn.items()}
    return _by_plan(world, {"quiet": {}, **plans})


def at_sliders(world: World) -> dict[str, Trained]:
    """Fit ``article`` (default) and others with one change: of noise, number of points or prior.

    ``zero`` is Bayes by Backprop with KL weight 0; ``zero-on`` is that fit trained further.
    """
    zero = _fit(world, quiet=False, kl_weight=0.0)
    plans: Plans = {"noise": {"noise_std": 2.0}, "eight": {"n": 8}, "many": {"n": 64}}
    plans["wide"] = {"prior": densities.ScaleMixture(3.0, 0.1, 0.5)}
    found = _by_plan(world, {"article": {}, **plans})
    return {**found, "zero": _kept(zero, world), "zero-on": _kept(zero.refined(steps=4000), world)}


def with_fewer_weights(world: World) -> dict[str, Array]:
    """Return outputs for |x| ≤ ½ of the network of mean weights, ``whole`` and pruned.

    ``ratio nine-tenths`` lacks the weights of least |μ|/σ, ``random half`` half of all weights.
    """
    fit = _fit(world, quiet=False)
    by_ratio = np.argsort(fit.signal_to_noise)
    at_random = np.random.default_rng(world.seed(2)).permutation(by_ratio)
    n = by_ratio.size

    def without(gone: Array) -> Array:
        w = fit.mean.copy()
        w[gone] = 0.0
        return np.asarray(fit.evaluate(w[None], X[REGIONS["among"]])[0])

    return {
        "whole": without(by_ratio[:0]),
        "ratio nine-tenths": without(by_ratio[: int(0.9 * n)]),
        "random half": without(at_random[: n // 2]),
    }


def errors_over_the_whole(outputs: Mapping[str, Array]) -> dict[str, float]:
    """Return rms errors of networks' outputs, divided by that of the ``whole`` network."""
    error = {name: rms(f - truth(X[REGIONS["among"]])) for name, f in outputs.items()}
    return {name: error[name] / error["whole"] for name in error}


def on_the_curve(world: World) -> Predictive:
    """Fit Blundell's curve, with targets that are multiplied by 20."""
    data = datasets.blundell_curve(n=32, seed=world.data_seed)
    stretched = 4 * (data.x - 0.25), 20 * (data.y - 0.4)
    fit = bbb.fit(*stretched, prior=PRIOR, seed=world.start_seed, starts=3, start_scale=1.0)
    return fit.predict(4 * (CURVE - 0.25), n_samples=200)


def among_and_ends(prediction: Predictive) -> dict[str, float]:
    """Return the mean epistemic sd ``among`` the data, and the smaller of those at the two ends."""
    ends = prediction.epistemic_std[[0, -1]]
    return {"among": spread(prediction, ON_CURVE), "end": float(ends.min())}


presets = Trial(at_presets, beside_article)
estimators = Trial(by_estimator, with_bands)
sliders = Trial(at_sliders, with_bands)
pruning = Trial(with_fewer_weights, errors_over_the_whole)
curve = Trial(on_the_curve, among_and_ends)
