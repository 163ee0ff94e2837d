"""What presets of the explorers promise of the evidence and of PBP (chapters 1 and 7).

Each is measured on what its explorer computes at the preset.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bdl_teach import datasets, features, metrics
from bdl_teach._support.checks import Array
from bdl_teach.claims.claim import Experiment, World
from bdl_teach.methods import exact
from bdl_teach.methods.pbp import replay
from bdl_teach.predictive import Predictive
from bdl_teach.problems import INSIDE, WIDE_GRID, arrivals

N_SETS = 20  # data sets a world, of a share that one data set cannot show
DEGREES_TRIED = range(1, 14)
STEPPED = {  # points and steps of the stepper's presets
    "one point": (32, 1),
    "one epoch": (32, 33),
    "40 epochs": (32, 1320),
    "few points": (8, 360),
}
NOISE_PRIOR = (6.0, 5.0)  # its Gamma(α, β): a guess of 1, worth as much as the slider starts with


def degrees(world: World) -> dict[str, float]:
    """Share of twenty data sets for which the evidence prefers polynomials of degree 5."""
    chosen = []
    for k in range(N_SETS):
        data = arrivals(32, 1.0, world.seed(k))
        designs = [features.design("polynomial", data.x, degree + 1) for degree in DEGREES_TRIED]
        evidence = [exact.linear_regression(phi, data.y, 10.0**1.4, 1.0) for phi in designs]
        best = int(np.argmax([posterior.log_evidence for posterior in evidence]))
        chosen.append(DEGREES_TRIED[best])
    return {"five": float(np.mean(np.array(chosen) == 5))}


DEGREES = Experiment(
    "degrees",
    degrees,
    {
        "evidence-picks-degree-five": lambda f: f["five"],
    },
    seconds=0.1,
)


def steps(world: World) -> dict[str, float]:
    """What the PBP stepper shows at its presets, over |x| ≤ 1.5 or, where it says so, the data.

    ``nearer`` is how far the first point's y is from the mean after it was learned, over before;
    ``moved`` by which share the epistemic sd changes then, where it changes most; ``thinner`` the
    epistemic sd among the data after 40 epochs over that after one; ``error`` the rms distance of
    the mean from the sine then, over the sine's own rms; ``between`` the epistemic sd between
    eight points over that at them.
    """
    one, epoch, forty, few = (
        _stepped(name, world) for name in ("one point", "one epoch", "40 epochs", "few points")
    )
    x, among, truth = WIDE_GRID[:, 0], INSIDE, datasets.sinusoid().truth(WIDE_GRID)[:, 0]
    points = np.sort(few.x[:, 0])
    halfway = (points[1:] + points[:-1]) / 2
    at, between = (np.interp(p, x, few.now.epistemic_std).mean() for p in (points, halfway))
    x_one, y_one = one.last
    far = [abs(y_one - np.interp(x_one, x, p.mean)) for p in (one.before, one.now)]
    change = one.now.epistemic_std / one.before.epistemic_std - 1
    thinner = forty.now.epistemic_std[among].mean() / epoch.now.epistemic_std[among].mean()
    error = metrics.rmse(truth[among], forty.now.mean[among]) / np.sqrt(np.mean(truth[among] ** 2))
    return {
        "nearer": float(far[1] / far[0]),
        "moved": float(np.abs(change).max()),
        "thinner": float(thinner),
        "error": float(error),
        "between": float(between / at),
    }


class _Stepped(NamedTuple):
    """A step of the stepper: its data's x, the point learned last, before it and now."""

    x: Array
    last: tuple[float, float]
    before: Predictive
    now: Predictive


def _stepped(preset: str, world: World) -> _Stepped:
    n, step = STEPPED[preset]
    data = datasets.sinusoid(n, seed=world.data_seed)
    trail = replay.Trail(data.x, data.y, noise_prior=NOISE_PRIOR, seed=world.start_seed)
    there = trail.at(step)
    now, before = there.predict(WIDE_GRID)
    k = 0 if there.point is None else there.point
    return _Stepped(data.x, (float(data.x[k, 0]), float(data.y[k, 0])), before, now)


STEPS = Experiment(
    "pbp-presets",
    steps,
    {
        "one-point-pulls-the-mean": lambda f: f["nearer"],
        "one-point-hardly-moves-the-band": lambda f: f["moved"],
        "forty-epochs-thin-the-band": lambda f: f["thinner"],
        "forty-epochs-find-the-sine": lambda f: f["error"],
        "pbp-is-no-wider-between-few-points": lambda f: f["between"],
    },
    seconds=0.2,
)
