"""Measure if the sinusoid explorer's fits converge, and if ``converged`` is right (chapter 4)."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach._support.errors import DivergedError
from bdl_teach.experiments.world import World
from bdl_teach.methods import bbb, local_reparam
from bdl_teach.methods._fitted import ARRIVED
from bdl_teach.problems import ARTICLE, INSIDE, WIDE_GRID, live_fits

_ROOM = bbb.Capacity(64, (20, 20), 1)  # sizes that long runs are compiled for
Starts = Mapping[int, Mapping[str, Any]]  # options of long runs, by the number of the seed
DEFAULT: Starts = {k: {} for k in range(10, 14)}
UNLIKE: Starts = {  # these find some minima that default starts do not, 10 to 1000 nats lower
    20: {"start_scale": 1.0, "initial_rho": -5.0},
    21: {"initial_rho": -2.0},
    22: {"start_scale": 1.0, "initial_rho": -2.0},
    23: {"initial_rho": -5.0},
}
N_SETTINGS = 8  # of the sliders, in each world
CHANGES = (-0.003, -0.002, 0.002, 0.003)  # relative changes of y


def tick(world: World) -> dict[str, float]:
    """Return F of the explorer's fits minus the lowest known F, in nats, and ``log-moved``.

    The lowest known F is the least of the quiet fit and the long runs. For ``log-moved``, the quiet
    fit is repeated with y changed by ±0.2 % and by ±0.3 %; it is the mean log10 of the four rms
    changes of the predicted mean.
    """
    problem = replace(ARTICLE, seed=world.data_seed)
    data, prior = problem.data, problem.prior
    quiet, paper = (live_fits.fit(method, problem) for method in ("local", "bbb"))
    lowest = min(quiet.free_energy, lowest_of_long_runs(data, world, prior=prior))
    mean = quiet.predict(WIDE_GRID, 500).mean
    moved = []
    for change in CHANGES:
        given = {**local_reparam.QUIET, "prior": prior, "capacity": quiet.capacity}
        nudged = local_reparam.fit(data.x, (1 + change) * data.y, seed=world.data_seed, **given)
        shift = nudged.predict(WIDE_GRID, n_samples=500).mean - mean
        moved.append(np.sqrt(np.mean(shift[INSIDE] ** 2)))
    return {
        "quiet": quiet.free_energy - lowest,
        "paper": paper.free_energy - lowest,
        "log-moved": float(np.mean(np.log10(moved))),
    }


def lowest_of_long_runs(
    data: datasets.Regression1D, world: World, starts: Starts = DEFAULT, **problem: Any
) -> float:
    """Return the lowest F (nats) of 10,000-step runs from ``starts``; omit those that diverge."""
    plan = {**local_reparam.QUIET, "steps": 10_000, "capacity": _ROOM, **problem}
    found = []
    for k, start in starts.items():
        with suppress(DivergedError):
            fit = local_reparam.fit(data.x, data.y, seed=world.seed(k), **plan, **start)
            found.append(fit.free_energy)
    return min(found)


def anywhere(world: World) -> dict[str, float]:
    """Return how often fits at random settings arrive, and how often ``converged`` is right.

    A fit has arrived if no run of 10,000 steps has an F that is lower by more than 20 nats. The
    results are shares of the fits: ``arrived``; ``on-the-way`` (not arrived); ``knows``
    (``converged`` says correctly whether the fit has arrived); ``mistaken`` (``converged`` is true,
    but the fit has not arrived).
    """
    rng = np.random.default_rng(world.seed(2))
    arrived, said = np.array([_converged_and_reported(world, rng) for _ in range(N_SETTINGS)]).T
    return {
        "arrived": float(arrived.mean()),
        "on-the-way": 1.0 - float(arrived.mean()),
        "knows": float((said == arrived).mean()),
        "mistaken": float((said & ~arrived).mean()),
    }


def _converged_and_reported(world: World, rng: np.random.Generator) -> tuple[bool, bool]:
    scales = rng.uniform(0.1, 5.0), 10 ** rng.uniform(-2.0, 1.0), rng.uniform(0.0, 1.0)
    prior = densities.ScaleMixture(*scales)
    noise_std, kl_weight = rng.uniform(0.1, 3.0), 10 ** rng.uniform(-3.0, 1.0)
    width, n = (int(rng.integers(low, high)) for low, high in ((2, 21), (4, 65)))
    data = datasets.sinusoid(n, noise_std, world.data_seed)
    problem: dict[str, Any] = {"prior": prior, "noise_std": noise_std, "kl_weight": kl_weight}
    problem["hidden_units"] = (width, width)
    quiet = {**local_reparam.QUIET, "seed": world.start_seed, "capacity": _ROOM}
    fit = local_reparam.fit(data.x, data.y, **problem, **quiet)
    lowest = lowest_of_long_runs(data, world, {**DEFAULT, **UNLIKE}, **problem)
    return fit.free_energy - lowest <= ARRIVED, fit.converged
