"""Measure PBP after a number of points or epochs (chapter 7)."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bdl_teach import datasets, densities, metrics
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import bbb, local_reparam, pbp, point
from bdl_teach.methods.catalogue import Fitted
from bdl_teach.methods.pbp import replay
from bdl_teach.predictive import Predictive
from bdl_teach.problems import WIDE_GRID
from evidence.measured._measure import AMONG, X, rms, score

EPOCHS = (1, 10, 40, 200, 400)
STEPS = 1320  # 40 epochs of 32 points and a refinement
X_STD = np.linspace(-0.5, 0.5, 32).std()  # of the data's inputs
TRUTH = datasets.sinusoid().truth(X)[:, 0]


def epochs(world: World) -> dict[str, float]:
    """Score PBP after 1 to 400 epochs, and mean field and one network with the true noise sd."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    predictions = {name: fit.predict(X) for name, fit in epoch_fits(world, data).items()}
    figures = measure(predictions)
    for name, p in predictions.items():
        figures |= score(name, p, data, world.seed(2))
    figures["lowest-behind"] = float(figures["lowest-outside"] < figures["pbp-40-outside"])
    figures["lowest-3-ahead"] = float(figures["lowest-3-among"] > figures["lowest-among"])
    figures["stopped-behind"] = float(figures["bbb-among"] < figures["lowest-among"])
    return figures


def epoch_fits(world: World, data: datasets.Regression1D) -> dict[str, Fitted]:
    """Fit PBP (``pbp-{epochs}``), one network (``mle``) and mean field, all with 50 hidden units.

    With the mixture and with N(0, 3²) (``-3``), ``bbb`` has had 1500 steps of Bayes by Backprop and
    ``lowest`` is at its lowest F.
    """
    given: dict[str, Any] = {"hidden_units": (50,), "seed": world.start_seed}
    fits: dict[str, Fitted] = {
        f"pbp-{n}": pbp.fit(data.x, data.y, epochs=n, **given) for n in EPOCHS
    }
    fits["mle"] = point.fit(data.x, data.y, **given)
    for name, prior in (("", densities.ScaleMixture()), ("-3", densities.Gaussian(3.0))):
        given["prior"] = prior
        fits[f"bbb{name}"] = bbb.fit(data.x, data.y, **given)
        lowest = local_reparam.fit(data.x, data.y, **given, **local_reparam.LOWEST)
        fits[f"lowest{name}"] = lowest
    return fits


def measure(predictions: Mapping[str, Predictive]) -> dict[str, float]:
    """Return figures of predictions at ``X``: ``noise`` sd, and two for |x| ≤ ½.

    These are the mean epistemic sd, ``doubt``, and the rms ``error`` of the mean.
    """
    figures: dict[str, float] = {}
    for name, p in predictions.items():
        figures[f"{name}-doubt"] = float(p.epistemic_std[AMONG].mean())
        figures[f"{name}-error"] = metrics.rmse(TRUTH[AMONG], p.mean[AMONG])
        figures[f"{name}-noise"] = float(p.aleatoric_std[0])
    return figures


def noise_after_40_epochs(world: World) -> dict[str, float]:
    """Return PBP's α, and its noise sd divided by the true one, after 40 epochs on 32 points."""
    plans: dict[str, tuple[float, float, float]] = {  # noise, α, first guess in spreads of y
        "quiet": (1.0, 6.0, 1.0),
        "loud": (3.0, 6.0, 1.0),
        "sure": (1.0, 76.0, 2.0),
        "unsure": (1.0, 6.0, 2.0),
    }
    figures = {}
    for name, (noise, alpha, guess) in plans.items():
        data = datasets.sinusoid(n=32, noise_std=noise, seed=world.data_seed)
        prior = alpha, (alpha - 1) * guess**2
        end = replay.replay(data.x, data.y, STEPS, noise_prior=prior, seed=world.start_seed)
        figures[f"{name}-alpha"] = float(end.noise[-1, 0])
        figures[f"{name}-noise"] = float(end.noise_std[-1] / noise)
    return figures


def orders(world: World) -> dict[str, float]:
    """Measure PBP on 32 points in the order of x; the first 16 have x < 0.

    ``left`` and ``right`` are the epistemic sds at the left and at the right end of the data after
    16 points, divided by the sds there before the first point. ``distance`` is the rms difference
    of the predicted means after an epoch in the order of x and after one in random order.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    trail = replay.Trail(data.x, data.y, shuffle=False, seed=world.start_seed)
    other = replay.Trail(data.x, data.y, shuffle=True, seed=world.start_seed)

    def doubt(step: int, x: Array) -> float:
        return float(trail.at(step).predict(x[:, None])[0].epistemic_std.mean())

    ends = {"left": np.linspace(-0.5, -0.3, 21), "right": np.linspace(0.3, 0.5, 21)}
    means = [one.at(33).fit.predict(WIDE_GRID).mean for one in (trail, other)]
    shrunk = {end: doubt(16, x) / doubt(0, x) for end, x in ends.items()}
    return {**shrunk, "distance": rms(means[0] - means[1])}


def sites(world: World) -> dict[str, float]:
    """Measure PBP with each of ``pbp.SITES``, and mean field under the same prior."""
    return measure({name: fit.predict(X / X_STD) for name, fit in site_fits(world).items()})


def site_fits(world: World) -> dict[str, Fitted]:
    """Fit 50 hidden units to 32 points, whose x are divided by ``X_STD``.

    ``{kind}-{n}`` is PBP with one kind of sites after n epochs; ``told`` has average sites, 40
    epochs, and is told the noise. ``lowest`` is mean field at its lowest F, told the noise, under
    PBP's prior: N(0, 1) with factors 1/√2 and s/√51 on the layers, s being the sd of y. As a ReLU
    layer can pass factors on, both layers get their geometric mean.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    x, spread = data.x / X_STD, data.y.std()
    given: dict[str, Any] = {"hidden_units": (50,), "seed": world.start_seed}
    sure = 1e4, 1e4 / spread**2  # α and β of a Gamma for the standardised noise's precision
    plans: dict[str, Any] = {
        f"{kind}-{n}": {"sites": kind, "epochs": n} for kind in pbp.SITES for n in (40, 400)
    }
    plans["told"] = {"sites": "average", "epochs": 40, "noise_prior": sure}
    fits = {name: pbp.fit(x, data.y, **given, **plan) for name, plan in plans.items()}
    prior = densities.Gaussian((spread / 102**0.5) ** 0.5)
    lowest = local_reparam.fit(x, data.y, prior=prior, **given, **local_reparam.LOWEST)
    return {**fits, "lowest": lowest}
