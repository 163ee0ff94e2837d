"""Measure the promises of explorers' presets and questions (chapters 1, 6, 7 and 8).

Each is measured on what its explorer computes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bdl_teach import datasets, features, metrics, problems
from bdl_teach.experiments.world import World
from bdl_teach.methods import exact
from bdl_teach.methods.empirical_bayes import optimal_prior_std
from bdl_teach.methods.pbp import replay
from bdl_teach.predictive import Predictive
from bdl_teach.problems import GAP_GRID, INSIDE, WIDE_GRID, Problem, arrivals, live_fits

N_SETS = 20  # data sets a world, of a share that one data set cannot show
DEGREES_TRIED = range(1, 14)
STEPPED = {  # points and steps of the stepper's presets
    "one point": (32, 1),
    "one epoch": (32, 33),
    "40 epochs": (32, 1320),
    "few points": (8, 360),
}
NOISE_PRIOR = (6.0, 5.0)  # its Gamma(α, β): a guess of 1, worth as much as the slider starts with
X = np.linspace(-1.0, 1.0, 121)[:, None]
OFF = 0.5  # a weight with |μ|/σ below this is switched off
AMONG = np.abs(X[:, 0]) <= 0.5
PRESETS = {  # what is set, and which weights share a σ_p that is learnt
    "by hand": (Problem(gap=0.0, scales=(1.0,)), ""),
    "too narrow": (Problem(gap=0.0, scales=(10**-1.0,)), ""),
    "too wide": (Problem(gap=0.0, scales=(10.0,)), ""),
    "learn one": (Problem(gap=0.0), "all"),
    "learn each": (Problem(gap=0.0), "weight"),
    "wider, no worse": (Problem(gap=0.0, hidden_units=(30,)), "weight"),
    "noise wins": (Problem(n=8, noise_std=3.0, gap=0.0), "weight"),
}
ASKED: dict[str, tuple[str, dict[str, Any]]] = {  # method and options by the name of their figures
    "ensemble": ("ensemble", {}),
    "anchored": ("anchored", {}),
    "dropout": ("dropout", {}),
    "laplace": ("laplace", {}),
    "pushed": ("laplace", {"linearised": False}),
    "diagonal": ("laplace", {"structure": "diagonal"}),
    "last": ("laplace", {"structure": "last_layer"}),
    "chains": ("sghmc", {}),
    "cold": ("sghmc", {"temperature": 0.0}),
    "columns": ("low_rank", {"rank": 8}),
    "none": ("low_rank", {"rank": 0}),
    "infinite": ("infinite", {}),
}


def degrees(world: World) -> dict[str, float]:
    """Return the share of twenty data sets whose evidence prefers polynomials of degree 5."""
    chosen = []
    for k in range(N_SETS):
        data = arrivals(32, 1.0, world.seed(k))
        designs = [features.design("polynomial", data.x, degree + 1) for degree in DEGREES_TRIED]
        evidence = [exact.linear_regression(phi, data.y, 10.0**1.4, 1.0) for phi in designs]
        best = int(np.argmax([posterior.log_evidence for posterior in evidence]))
        chosen.append(DEGREES_TRIED[best])
    return {"five": float(np.mean(np.array(chosen) == 5))}


def steps(world: World) -> dict[str, float]:
    """Measure the PBP stepper at its presets, over |x| ≤ 1.5 unless the figure says otherwise.

    ``nearer`` is the distance of the first point's y from the mean after it was learned, over that
    before; ``moved`` the largest relative change of the epistemic sd then; ``thinner`` the
    epistemic sd among the data after 40 epochs over that after one; ``error`` the rms distance of
    the mean from the sine then, over the sine's own rms; ``between`` the epistemic sd between
    eight points over that at them.
    """
    x, truth = WIDE_GRID[:, 0], problems.truth(WIDE_GRID)[INSIDE]
    data, k, now, before = _stepped("one point", world)
    far = [abs(data.y[k, 0] - np.interp(data.x[k, 0], x, p.mean)) for p in (before, now)]
    change = now.epistemic_std / before.epistemic_std - 1
    epoch, forty = (_stepped(name, world)[2] for name in ("one epoch", "40 epochs"))
    thinner = forty.epistemic_std[INSIDE].mean() / epoch.epistemic_std[INSIDE].mean()
    error = metrics.rmse(truth, forty.mean[INSIDE]) / np.sqrt(np.mean(truth**2))
    few, _, now, _ = _stepped("few points", world)
    points = np.sort(few.x[:, 0])
    halfway = (points[1:] + points[:-1]) / 2
    at, between = (np.interp(p, x, now.epistemic_std).mean() for p in (points, halfway))
    return {
        "nearer": float(far[1] / far[0]),
        "moved": float(np.abs(change).max()),
        "thinner": float(thinner),
        "error": float(error),
        "between": float(between / at),
    }


def _stepped(
    preset: str, world: World
) -> tuple[datasets.Regression1D, int, Predictive, Predictive]:
    """Return a step of the stepper: data, last point, and the predictives now and before."""
    n, step = STEPPED[preset]
    data = datasets.sinusoid(n, seed=world.data_seed)
    trail = replay.Trail(data.x, data.y, noise_prior=NOISE_PRIOR, seed=world.start_seed)
    there = trail.at(step)
    return data, there.point or 0, *there.predict(WIDE_GRID)


def priors(world: World) -> dict[str, float]:
    """Measure star, ends, height, error and off of the empirical Bayes explorer's presets.

    ``star`` is the best σ_p for the weights found, ``ends`` the mean epistemic sd at x = ±1,
    ``height`` the range of the mean, ``error`` its rms distance from the sine among the data,
    ``off`` the share of weights that are switched off.
    """
    figures: dict[str, float] = {}
    truth = problems.truth(X)
    for name, (problem, tie) in PRESETS.items():
        fit, std = live_fits.with_prior(replace(problem, seed=world.data_seed), tie)
        p, used = fit.predict(X, n_samples=200), std > 0
        spread, together = np.maximum(fit.std[used], 1e-30), np.zeros(used.sum(), int)
        figures |= {
            f"{name} star": float(optimal_prior_std(fit.mean[used], spread, together)[0]),
            f"{name} ends": float(p.epistemic_std[[0, -1]].mean()),
            f"{name} height": float(np.ptp(p.mean)),
            f"{name} error": float(metrics.rmse(truth[AMONG], p.mean[AMONG])),
            f"{name} off": float((fit.signal_to_noise < OFF).mean()),
        }
    return figures


def spreads(world: World) -> dict[str, float]:
    """Return the mean epistemic sd of the explorer's methods, among the data and in the gap.

    σ_p is 3, and the fits are the quick ones that the explorer shows while a slider moves: SGHMC
    is not refined.
    """
    problem = Problem(seed=world.data_seed)
    regions = problem.regions(GAP_GRID[:, 0])
    figures: dict[str, float] = {}
    for name, (method, options) in ASKED.items():
        std = live_fits.shown(live_fits.quick(method, problem, options)).epistemic_std
        for region in ("data", "gap"):
            figures[f"{name}-{region}"] = float(std[regions[region]].mean())
    return figures
