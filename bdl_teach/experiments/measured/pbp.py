"""Measure PBP after a number of points or epochs (chapter 7)."""

import numpy as np

from bdl_teach import datasets, densities, metrics
from bdl_teach._support.checks import Array
from bdl_teach.experiments.measured._measure import AMONG, X, rms, score
from bdl_teach.experiments.world import World
from bdl_teach.methods import bbb, pbp, point
from bdl_teach.methods.pbp import replay
from bdl_teach.problems import WIDE_GRID

EPOCHS = (1, 10, 40, 200, 400)
STEPS = 1320  # 40 epochs of 32 points and a refinement


def epochs(world: World) -> dict[str, float]:
    """Score PBP after 1 to 400 epochs, and BBB and one network with the true noise sd.

    ``doubt`` is the mean epistemic sd and ``error`` the rms error of the mean, both for |x| ≤ ½.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    seed, truth = world.start_seed, data.truth(X[AMONG])[:, 0]
    fits: dict[str, pbp.Fit | point.Fit | bbb.Fit] = {
        f"pbp-{n}": pbp.fit(data.x, data.y, epochs=n, seed=seed) for n in EPOCHS
    }
    fits["mle"] = point.fit(data.x, data.y, hidden_units=(50,), seed=seed)
    for name, prior in (("bbb", densities.ScaleMixture()), ("bbb-3", densities.Gaussian(3.0))):
        fits[name] = bbb.fit(data.x, data.y, hidden_units=(50,), prior=prior, seed=seed)
    figures: dict[str, float] = {}
    for name, fit in fits.items():
        p = fit.predict(X)
        figures |= score(name, p, data, world.seed(2))
        figures[f"{name}-doubt"] = float(p.epistemic_std[AMONG].mean())
        figures[f"{name}-error"] = float(metrics.rmse(truth, p.mean[AMONG]))
        figures[f"{name}-noise"] = float(p.aleatoric_std[0])
    figures["bbb-behind"] = float(figures["bbb-outside"] < figures["pbp-40-outside"])
    figures["bbb-3-ahead"] = float(figures["bbb-3-among"] > figures["bbb-among"])
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
    """Return epistemic sd and error of PBP with each of ``pbp.SITES``, after 40 and 400 epochs."""
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    x = np.linspace(-0.5, 0.5, 101)[:, None]
    figures: dict[str, float] = {}
    for kind in pbp.SITES:
        for n in (40, 400):
            p = pbp.fit(data.x, data.y, epochs=n, sites=kind, seed=world.start_seed).predict(x)
            figures[f"{kind}-{n}-doubt"] = float(p.epistemic_std.mean())
            figures[f"{kind}-{n}-error"] = metrics.rmse(data.truth(x)[:, 0], p.mean)
    return figures
