"""Bayes by Backprop on the sinusoid and the paper's curve (chapter 3, its explorers).

What an explorer's preset or question promises is measured on the explorer's own fit, which uses
the quiet estimator.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bdl_teach import datasets, densities, metrics
from bdl_teach._support.checks import Array
from bdl_teach.datasets.toy import Regression1D
from bdl_teach.experiments.world import World
from bdl_teach.methods import bbb, local_reparam

X = np.linspace(-1.5, 1.5, 121)[:, None]
AMONG = np.abs(X[:, 0]) < 0.5 + 1e-9
N_NEW = 100  # new targets at each input among the data
PRIOR = densities.ScaleMixture(1.5, 0.1, 0.5)


def _measured(fit: bbb.Fit, data: Regression1D, world: World) -> dict[str, float]:
    """Measure a fit: errors and sds in units of y, F in nats."""
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


def _fitted(
    world: World, n: int = 32, noise_std: float = 1.0, **values: Any
) -> tuple[bbb.Fit, Regression1D]:
    """Return the explorer's fit, and its data."""
    data = datasets.sinusoid(n, noise_std, world.data_seed)
    common = {"prior": PRIOR, "noise_std": noise_std, "seed": world.start_seed}
    recipe = {**common, **local_reparam.QUIET, **values}
    return local_reparam.fit(data.x, data.y, **recipe), data


def _quiet(world: World, **values: Any) -> dict[str, float]:
    """Measure the explorer's fit."""
    return _measured(*_fitted(world, **values), world)


def _drawn(world: World, **values: Any) -> dict[str, float]:
    """Measure a fit by the paper's algorithm."""
    data = datasets.sinusoid(32, 1.0, world.data_seed)
    fit = bbb.fit(data.x, data.y, prior=PRIOR, seed=world.start_seed, **values)
    return _measured(fit, data, world)


def _flat(groups: dict[str, dict[str, float]]) -> dict[str, float]:
    return {f"{name} {key}": v for name, group in groups.items() for key, v in group.items()}


def presets(world: World) -> dict[str, float]:
    """Measure each preset of the sinusoid explorer, in the same world.

    Where a fresh start may lose the sine, a fit that starts from the article's is measured, too:
    ``kept``. ``least`` is the smaller of the two fits' figures over the article's, ``largest`` the
    larger.
    """
    article, data = _fitted(world)
    narrow = densities.ScaleMixture(0.3, 0.3, 0.5)
    hard: dict[str, dict[str, Any]] = {
        "few": {"n": 6},
        "loud": {"noise_std": 3.0},
        "costly": {"kl_weight": 10.0},
    }
    kept = {"initial": (article.mean, article.std), "steps": 3000, "learning_rate": 0.1}
    figures = _flat(
        {
            "article": _measured(article, data, world),
            "many": _quiet(world, n=64),
            "narrow": _quiet(world, prior=narrow),
            "cold": _quiet(world, kl_weight=0.01),
            **{name: _quiet(world, **values) for name, values in hard.items()},
            **{f"{name}-kept": _quiet(world, **values, **kept) for name, values in hard.items()},
        }
    )
    for name in hard:
        for key in ("error", "total", "sd", "peak"):
            both = [
                figures[f"{fit} {key}"] / figures[f"article {key}"]
                for fit in (name, f"{name}-kept")
            ]
            figures |= {f"{name} least-{key}": min(both), f"{name} largest-{key}": max(both)}
    outside, among = (figures[f"cold {k}"] / figures[f"article {k}"] for k in ("sd-outside", "sd"))
    figures["cold shrinks-less"] = outside / among
    figures["cold widens"] = float(figures["cold sd-ends"] > figures["article sd-ends"])
    return figures


def estimators(world: World) -> dict[str, float]:
    """Compare the paper's estimator with one draw a step and with ten, and the quiet one."""
    return _flat(
        {
            "quiet": _quiet(world),
            "one": _drawn(world),
            "ten": _drawn(world, n_samples=10),
            "forgotten": _drawn(world, kl_weight=32.0),
        }
    )


def sliders(world: World) -> dict[str, float]:
    """Measure the effect of noise, σ₁, N and KL weight alone; KL weight 0 also trained on."""
    data = datasets.sinusoid(32, 1.0, world.data_seed)
    zero = bbb.fit(data.x, data.y, prior=PRIOR, kl_weight=0.0, seed=world.start_seed)
    return _flat(
        {
            "article": _quiet(world),
            "noise": _quiet(world, noise_std=2.0),
            "wide": _quiet(world, prior=densities.ScaleMixture(3.0, 0.1, 0.5)),
            "eight": _quiet(world, n=8),
            "many": _quiet(world, n=64),
            "zero": _measured(zero, data, world),
            "zero-on": _measured(zero.refined(steps=4000), data, world),
        }
    )


def pruning(world: World) -> dict[str, float]:
    """Return rms errors of pruned networks of means, over that of the whole network."""
    data = datasets.sinusoid(32, 1.0, world.data_seed)
    fit = bbb.fit(data.x, data.y, prior=PRIOR, seed=world.start_seed)
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
    """Return the epistemic sd on the stretched curve of Blundell et al."""
    data = datasets.blundell_curve(n=32, seed=world.data_seed)
    x = np.linspace(-0.4, 0.9, 131)[:, None]
    among = (x[:, 0] > 0.05) & (x[:, 0] < 0.45)
    stretched = 4 * (data.x - 0.25), 20 * (data.y - 0.4)
    fit = bbb.fit(*stretched, prior=PRIOR, seed=world.start_seed, starts=3, start_scale=1.0)
    sd = fit.predict(4 * (x - 0.25), n_samples=200).epistemic_std
    return {"among": float(sd[among].mean()), "end": float(sd[[0, -1]].min())}
