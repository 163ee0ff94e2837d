"""Measure if the sinusoid explorer's fits converge, and if ``converged`` is right (chapter 4)."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach._support.errors import DivergedError
from bdl_teach.claims import World
from bdl_teach.methods import bbb, local_reparam
from bdl_teach.methods._fitted import ARRIVED
from bdl_teach.predictive import Predictive
from bdl_teach.problems import ARTICLE, INSIDE, WIDE_GRID, live_fits
from evidence.claim import Trial
from evidence.measured._measure import mean, rms

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


class Tick(NamedTuple):
    """Fits of the sinusoid explorer, and of long runs; free energies in nats."""

    quiet: float  # F of the explorer's fit
    paper: float  # F of weights that are drawn once a step
    long: Sequence[float]  # F of the long runs
    prediction: Predictive  # of the explorer's fit on ``WIDE_GRID``
    nudged: Sequence[Predictive]  # of fits to slightly changed y


def at_defaults(world: World) -> Tick:
    """Fit as the explorer does at its defaults; also with y changed by ±0.2 % and by ±0.3 %."""
    problem = replace(ARTICLE, seed=world.data_seed)
    data, prior = problem.data, problem.prior
    quiet, paper = (live_fits.fit(method, problem) for method in ("local", "bbb"))
    given = {**local_reparam.QUIET, "prior": prior, "capacity": quiet.capacity}
    nudged = [
        local_reparam.fit(data.x, (1 + change) * data.y, seed=world.data_seed, **given)
        for change in CHANGES
    ]
    return Tick(
        quiet=quiet.free_energy,
        paper=paper.free_energy,
        long=long_runs(data, world, prior=prior),
        prediction=quiet.predict(WIDE_GRID, 500),
        nudged=[fit.predict(WIDE_GRID, n_samples=500) for fit in nudged],
    )


def above_the_lowest(found: Tick) -> dict[str, float]:
    """Return F of the explorer's fits minus the lowest known F, in nats, and ``log-moved``.

    The lowest known F is the least of the quiet fit and the long runs. ``log-moved`` is the mean
    log10 of the four rms changes of the predicted mean among the data.
    """
    lowest = min(found.quiet, *found.long)
    moved = [rms((one.mean - found.prediction.mean)[INSIDE]) for one in found.nudged]
    return {
        "quiet": found.quiet - lowest,
        "paper": found.paper - lowest,
        "log-moved": mean(np.log10(moved)),
    }


def long_runs(
    data: datasets.Regression1D, world: World, starts: Starts = DEFAULT, **problem: Any
) -> list[float]:
    """Return F (nats) of 10,000-step runs from ``starts``; omit those that diverge."""
    plan = {**local_reparam.QUIET, "steps": 10_000, "capacity": _ROOM, **problem}
    found = []
    for k, start in starts.items():
        with suppress(DivergedError):
            fit = local_reparam.fit(data.x, data.y, seed=world.seed(k), **plan, **start)
            found.append(fit.free_energy)
    return found


class Arrival(NamedTuple):
    """A fit at random settings of the sliders, and long runs there."""

    free_energy: float  # nats
    long: Sequence[float]  # F of the long runs
    converged: bool  # what the fit says of itself


def at_random_settings(world: World) -> list[Arrival]:
    """Fit quietly at eight random settings of the sliders; run long from usual and other starts."""
    rng = np.random.default_rng(world.seed(2))
    return [_arrival(world, rng) for _ in range(N_SETTINGS)]


def _arrival(world: World, rng: np.random.Generator) -> Arrival:
    scales = rng.uniform(0.1, 5.0), 10 ** rng.uniform(-2.0, 1.0), rng.uniform(0.0, 1.0)
    prior = densities.ScaleMixture(*scales)
    noise_std, kl_weight = rng.uniform(0.1, 3.0), 10 ** rng.uniform(-3.0, 1.0)
    width, n = (int(rng.integers(low, high)) for low, high in ((2, 21), (4, 65)))
    data = datasets.sinusoid(n, noise_std, world.data_seed)
    problem: dict[str, Any] = {"prior": prior, "noise_std": noise_std, "kl_weight": kl_weight}
    problem["hidden_units"] = (width, width)
    quiet = {**local_reparam.QUIET, "seed": world.start_seed, "capacity": _ROOM}
    fit = local_reparam.fit(data.x, data.y, **problem, **quiet)
    long = long_runs(data, world, {**DEFAULT, **UNLIKE}, **problem)
    return Arrival(fit.free_energy, long, fit.converged)


def shares_of_fits(found: Sequence[Arrival]) -> dict[str, float]:
    """Return how often fits arrive, and how often ``converged`` is right.

    A fit has arrived if no run of 10,000 steps has an F that is lower by more than 20 nats. The
    results are shares of the fits: ``arrived``; ``on-the-way`` (not arrived); ``knows``
    (``converged`` says correctly whether the fit has arrived); ``mistaken`` (``converged`` is true,
    but the fit has not arrived).
    """
    arrived = np.array([one.free_energy - min(one.long) <= ARRIVED for one in found])
    said = np.array([one.converged for one in found])
    return {
        "arrived": mean(arrived),
        "on-the-way": 1.0 - mean(arrived),
        "knows": mean(said == arrived),
        "mistaken": mean(said & ~arrived),
    }


tick = Trial(at_defaults, above_the_lowest)
anywhere = Trial(at_random_settings, shares_of_fits)
