"""What presets of the explorers promise of the evidence and of PBP (chapters 1 and 7).

Each is measured on what its explorer computes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import datasets, features, metrics
from bdl_teach._support.checks import Array
from bdl_teach.experiments.world import World
from bdl_teach.methods import exact
from bdl_teach.methods.pbp import replay
from bdl_teach.predictive import Predictive
from bdl_teach.widgets import linear, pbp_stepper
from bdl_teach.widgets.linear import LinearRegressionExplorer
from bdl_teach.widgets.pbp_stepper import PBPStepper

N_SETS = 20  # data sets a world, of a share that one data set cannot show


def degrees(world: World) -> dict[str, float]:
    """Share of twenty data sets for which the evidence prefers polynomials of degree 5."""
    values = LinearRegressionExplorer.PRESETS["evidence's choice"][1]
    chosen = []
    for k in range(N_SETS):
        data = linear.arrivals(values["n"], values["noise_std"], world.seed(k))
        evidence = [
            exact.linear_regression(
                features.design(values["kind"], data.x, int(d)),
                data.y,
                values["prior_std"],
                values["noise_std"],
            ).log_evidence
            for d in linear.COUNTS
        ]
        chosen.append(linear.COUNTS[int(np.argmax(evidence))] - 1)
    return {"five": float(np.mean(np.array(chosen) == 5))}


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
    x = pbp_stepper.X_GRID[:, 0]
    among, truth = np.abs(x) <= 0.5, datasets.sinusoid().truth(pbp_stepper.X_GRID)[:, 0]
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
    v: Mapping[str, Any] = PBPStepper.PRESETS[preset][1]
    data = datasets.sinusoid(v["n"], v["noise_std"], world.data_seed)
    prior = v["alpha"], (v["alpha"] - 1) * v["guess"] ** 2
    trail = replay.Trail(data.x, data.y, noise_prior=prior, seed=world.start_seed)
    there = trail.at(v["step"])
    now, before = there.predict(pbp_stepper.X_GRID)
    k = 0 if there.point is None else there.point
    return _Stepped(data.x, (float(data.x[k, 0]), float(data.y[k, 0])), before, now)
