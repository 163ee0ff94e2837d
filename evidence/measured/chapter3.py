"""Bayes by Backprop on the sinusoid and the paper's curve (chapter 3 and its explorers)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bdl_teach import datasets, densities, metrics
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import bbb, local_reparam

X = np.linspace(-1.5, 1.5, 121)[:, None]
AMONG = np.abs(X[:, 0]) < 0.5 + 1e-9
N_NEW = 100  # new targets at each input
Plans = dict[str, dict[str, Any]]  # arguments of fits, by name
PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)


def _measured(fit: bbb.Fit, data: datasets.Regression1D, world: World) -> dict[str, float]:
    """Return a fit's error and sds in units of y, its coverage, and its costs in nats."""
    prediction, truth = fit.predict(X, n_samples=200), data.truth(X)[:, 0]
    sd, off = prediction.epistemic_std, prediction.mean - truth
    noise = np.random.default_rng(world.seed(2)).standard_normal((N_NEW, len(X)))
    distance = np.abs(data.noise_std * noise - off)[:, AMONG]
    cost = fit.cost(200)
    return {
        "error": float(np.sqrt(np.mean(off[AMONG] ** 2))),
        "peak": float(np.abs(prediction.mean[AMONG]).max()),
        "sd": float(sd[AMONG].mean()),
        "sd-outside": float(sd[~AMONG].mean()),
        "sd-ends": float(sd[[0, -1]].mean()),
        "total": float(prediction.total_std[AMONG].mean()),
        "covered": float(np.mean(distance <= 2 * prediction.total_std[AMONG])),
        "covered-epistemic": float(np.mean(distance <= 2 * sd[AMONG])),
        "complexity": cost.complexity,
        "F": cost.total,
        "roughness": float(np.diff(fit.history["free_energy"][50:]).std()),
    }


def _fit(
    world: World, n: int = 32, noise_std: float = 1.0, quiet: bool = True, **values: Any
) -> tuple[bbb.Fit, datasets.Regression1D]:
    """Return a fit (by the explorer's algorithm if ``quiet``, else the paper's) and its data."""
    data = datasets.sinusoid(n, noise_std, world.data_seed)
    given = {"prior": PRIOR, "noise_std": noise_std, "seed": world.start_seed}
    if quiet:
        return local_reparam.fit(data.x, data.y, **{**given, **local_reparam.QUIET, **values}), data
    return bbb.fit(data.x, data.y, **{**given, **values}), data


def _measured_plans(world: World, **plans: Mapping[str, Any]) -> dict[str, float]:
    """Return ``_measured`` of a fit for each plan, which gives arguments of ``_fit``."""
    return {
        f"{name} {key}": value
        for name, plan in plans.items()
        for key, value in _measured(*_fit(world, **plan), world).items()
    }


def presets(world: World) -> dict[str, float]:
    """Return errors, sds and costs of the fits at the sinusoid explorer's presets.

    The presets ``few``, ``loud`` and ``costly`` are fitted twice, since a fit may miss the sine:
    the second fit (``-kept``) starts from the trained weights of ``article``.
    """
    article, _ = _fit(world)
    start = article.mean, article.std
    kept: dict[str, Any] = {"initial": start, "steps": 3000, "learning_rate": 0.1}
    hard: Plans = {"few": {"n": 6}, "loud": {"noise_std": 3.0}, "costly": {"kl_weight": 10.0}}
    plans: Plans = {
        "article": {},
        "many": {"n": 64},
        "narrow": {"prior": densities.ScaleMixture(0.3, 0.3, 0.5)},
        "cold": {"kl_weight": 0.01},
        **hard,
        **{f"{name}-kept": {**values, **kept} for name, values in hard.items()},
    }
    figures = _measured_plans(world, **plans)
    for name in hard:
        for key in ("error", "total", "sd", "peak"):
            whole = figures[f"article {key}"]
            both = [figures[f"{fit} {key}"] / whole for fit in (name, f"{name}-kept")]
            figures |= {f"{name} least-{key}": min(both), f"{name} largest-{key}": max(both)}
    outside, among = (figures[f"cold {k}"] / figures[f"article {k}"] for k in ("sd-outside", "sd"))
    figures["cold shrinks-less"] = outside / among
    figures["cold widens"] = float(figures["cold sd-ends"] > figures["article sd-ends"])
    return figures


def estimators(world: World) -> dict[str, float]:
    """Return errors, sds and costs of a quiet fit, and of Bayes by Backprop with three settings."""
    plans: Plans = {"one": {}, "ten": {"n_samples": 10}, "forgotten": {"kl_weight": 32.0}}
    drawn = {name: {"quiet": False, **plan} for name, plan in plans.items()}
    return _measured_plans(world, quiet={}, **drawn)


def sliders(world: World) -> dict[str, float]:
    """Return errors, sds and costs of fits: ``article`` (default) and others with one change.

    Changed are the noise, the number of points or the prior. ``zero`` is Bayes by Backprop with
    KL weight 0; ``zero-on`` is that fit trained further.
    """
    zero, data = _fit(world, quiet=False, kl_weight=0.0)
    plans: Plans = {"noise": {"noise_std": 2.0}, "eight": {"n": 8}, "many": {"n": 64}}
    plans["wide"] = {"prior": densities.ScaleMixture(3.0, 0.1, 0.5)}
    figures = _measured_plans(world, article={}, **plans)
    for name, fit in (("zero", zero), ("zero-on", zero.refined(steps=4000))):
        figures |= {f"{name} {key}": value for key, value in _measured(fit, data, world).items()}
    return figures


def pruning(world: World) -> dict[str, float]:
    """Prune the network of mean weights; return its rms errors, divided by the error before."""
    fit, data = _fit(world, quiet=False)
    by_ratio = np.argsort(fit.signal_to_noise)
    at_random = np.random.default_rng(world.seed(2)).permutation(by_ratio)
    truth, x = data.truth(X[AMONG])[:, 0], X[AMONG]

    def error(gone: Array) -> float:
        w = fit.mean.copy()
        w[gone] = 0.0
        return metrics.rmse(truth, fit.evaluate(w[None], x)[0])

    whole, n = error(by_ratio[:0]), by_ratio.size
    return {
        "ratio nine-tenths": error(by_ratio[: int(0.9 * n)]) / whole,
        "random half": error(at_random[: n // 2]) / whole,
    }


def curve(world: World) -> dict[str, float]:
    """Return the epistemic sd on Blundell's curve, for targets that are multiplied by 20.

    ``among`` is the mean over the data's range, ``end`` the smaller of the sds at x = −0.4 and 0.9.
    """
    data = datasets.blundell_curve(n=32, seed=world.data_seed)
    x = np.linspace(-0.4, 0.9, 131)[:, None]
    among = (x[:, 0] > 0.05) & (x[:, 0] < 0.45)
    stretched = 4 * (data.x - 0.25), 20 * (data.y - 0.4)
    fit = bbb.fit(*stretched, prior=PRIOR, seed=world.start_seed, starts=3, start_scale=1.0)
    sd = fit.predict(4 * (x - 0.25), n_samples=200).epistemic_std
    return {"among": float(sd[among].mean()), "end": float(sd[[0, -1]].min())}
