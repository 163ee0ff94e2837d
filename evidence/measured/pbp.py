"""Measure PBP after a number of points or epochs (chapter 7)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import bbb, local_reparam, pbp, point
from bdl_teach.methods.pbp import replay
from bdl_teach.predictive import Predictive
from bdl_teach.problems import WIDE_GRID
from evidence.claim import Trial
from evidence.measured._measure import (
    Found,
    X,
    figures,
    halves,
    new_targets,
    predicted,
    rms,
)

EPOCHS = (1, 10, 40, 200, 400)
STEPS = 1320  # 40 epochs of 32 points and a refinement
X_STD = np.linspace(-0.5, 0.5, 32).std()  # of the data's inputs
ENDS = {"left": np.linspace(-0.5, -0.3, 21), "right": np.linspace(0.3, 0.5, 21)}  # of the data


def _data(world: World, noise_std: float = 1.0) -> datasets.Regression1D:
    return datasets.sinusoid(n=32, noise_std=noise_std, seed=world.data_seed)


def after_epochs(world: World) -> Found:
    """Fit PBP (``pbp-{epochs}``), one network (``mle``) and mean field, all with 50 hidden units.

    With the mixture and with N(0, 3²) (``-3``), ``bbb`` has had 1500 steps of Bayes by Backprop and
    ``lowest`` is at its lowest F. All but PBP are told the noise.
    """
    data = _data(world)
    given: dict[str, Any] = {"hidden_units": (50,), "seed": world.start_seed}
    fits: dict[str, Any] = {f"pbp-{n}": pbp.fit(data.x, data.y, epochs=n, **given) for n in EPOCHS}
    fits["mle"] = point.fit(data.x, data.y, **given)
    for name, prior in (("", densities.ScaleMixture()), ("-3", densities.Gaussian(3.0))):
        given["prior"] = prior
        fits[f"bbb{name}"] = bbb.fit(data.x, data.y, **given)
        fits[f"lowest{name}"] = local_reparam.fit(data.x, data.y, **given, **local_reparam.LOWEST)
    return predicted(fits, X, halves(X), new_targets(X, world.seed(2)))


def by_epochs(found: Found) -> dict[str, float]:
    """Return the figures of :func:`after_epochs`, and three comparisons of test scores."""
    f = figures(found)
    behind = f["lowest-outside-score"] < f["pbp-40-outside-score"]
    ahead = f["lowest-3-among-score"] > f["lowest-among-score"]
    stopped = f["bbb-among-score"] < f["lowest-among-score"]
    shares = {"lowest-behind": behind, "lowest-3-ahead": ahead, "stopped-behind": stopped}
    return {**f, **{name: float(share) for name, share in shares.items()}}


def learnt_noise(world: World) -> dict[str, tuple[float, float, float]]:
    """Run PBP for 40 epochs on data with quiet or loud noise, with a sure or an unsure guess.

    Return the α of the noise's precision, its sd, and the true sd, in units of y.
    """
    plans: dict[str, tuple[float, float, float]] = {  # noise, α, first guess in spreads of y
        "quiet": (1.0, 6.0, 1.0),
        "loud": (3.0, 6.0, 1.0),
        "sure": (1.0, 76.0, 2.0),
        "unsure": (1.0, 6.0, 2.0),
    }
    found = {}
    for name, (noise, alpha, guess) in plans.items():
        data, prior = _data(world, noise), (alpha, (alpha - 1) * guess**2)
        end = replay.replay(data.x, data.y, STEPS, noise_prior=prior, seed=world.start_seed)
        found[name] = float(end.noise[-1, 0]), float(end.noise_std[-1]), noise
    return found


def alpha_and_noise(found: Mapping[str, tuple[float, float, float]]) -> dict[str, float]:
    """Return PBP's α, and its noise sd divided by the true one."""
    alphas = {f"{name}-alpha": alpha for name, (alpha, _, _) in found.items()}
    return alphas | {f"{name}-noise": std / true for name, (_, std, true) in found.items()}


def in_two_orders(world: World) -> dict[str, Predictive]:
    """Let PBP learn 32 points in the order of x (the first 16 have x < 0), and in random order.

    ``{end}-{n}`` are predictions at an end of the data after n points in the order of x;
    ``ordered`` and ``shuffled`` are those on ``WIDE_GRID`` after an epoch.
    """
    data, trails = _data(world), {}
    for name, shuffle in (("ordered", False), ("shuffled", True)):
        trails[name] = replay.Trail(data.x, data.y, shuffle=shuffle, seed=world.start_seed)

    def at(step: int, x: Array) -> Predictive:
        return trails["ordered"].at(step).predict(x[:, None])[0]

    ends = {f"{end}-{n}": at(n, x) for end, x in ENDS.items() for n in (0, 16)}
    return {**ends, **{name: one.at(33).fit.predict(WIDE_GRID) for name, one in trails.items()}}


def shrunk_and_apart(p: Mapping[str, Predictive]) -> dict[str, float]:
    """Return how the epistemic sds at both ends of the data shrink, and how far orders differ.

    ``left`` and ``right`` are sds after 16 points divided by those before the first. ``distance``
    is the rms difference of the predicted means after an epoch in either order.
    """
    sd = {name: float(one.epistemic_std.mean()) for name, one in p.items()}
    shrunk = {end: sd[f"{end}-16"] / sd[f"{end}-0"] for end in ENDS}
    return {**shrunk, "distance": rms(p["ordered"].mean - p["shuffled"].mean)}


def by_sites(world: World) -> Found:
    """Fit 50 hidden units to 32 points, whose x are divided by ``X_STD``.

    ``{kind}-{n}`` is PBP with one kind of sites after n epochs; ``told`` has average sites, 40
    epochs, and is told the noise. ``lowest`` is mean field at its lowest F, told the noise, under
    PBP's prior: N(0, 1) with factors 1/√2 and s/√51 on the layers, s being the sd of y. As a ReLU
    layer can pass factors on, both layers get their geometric mean.
    """
    data = _data(world)
    x, y_std = data.x / X_STD, data.y.std()
    given: dict[str, Any] = {"hidden_units": (50,), "seed": world.start_seed}
    sure = 1e4, 1e4 / y_std**2  # α and β of a Gamma for the standardised noise's precision
    plans: dict[str, Any] = {
        f"{kind}-{n}": {"sites": kind, "epochs": n} for kind in pbp.SITES for n in (40, 400)
    }
    plans["told"] = {"sites": "average", "epochs": 40, "noise_prior": sure}
    fits = {name: pbp.fit(x, data.y, **given, **plan) for name, plan in plans.items()}
    prior = densities.Gaussian((y_std / 102**0.5) ** 0.5)
    lowest = local_reparam.fit(x, data.y, prior=prior, **given, **local_reparam.LOWEST)
    found = predicted({**fits, "lowest": lowest}, X / X_STD, halves(X))
    return {name: replace(one, x=X) for name, one in found.items()}


epochs = Trial(after_epochs, by_epochs)
noise_after_40_epochs = Trial(learnt_noise, alpha_and_noise)
orders = Trial(in_two_orders, shrunk_and_apart)
sites = Trial(by_sites, figures)
