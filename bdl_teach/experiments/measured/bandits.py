"""Four ways to act on one exact posterior at a mushroom stand (chapter 10)."""

from __future__ import annotations

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.experiments.world import World
from bdl_teach.problems.mushrooms import Stand, play

LATE = 500  # rounds at the end


def greedy(mean: Array, sd: Array, rng: np.random.Generator) -> Array:
    """Act on the posterior mean."""
    return np.asarray(mean >= 0)


def epsilon_greedy(mean: Array, sd: Array, rng: np.random.Generator) -> Array:
    """Act on the posterior mean, but at random in 5 % of the rounds."""
    explore = rng.random(mean.shape) < 0.05
    return np.where(explore, rng.random(mean.shape) < 0.5, mean >= 0)


def thompson(mean: Array, sd: Array, rng: np.random.Generator) -> Array:
    """Act on one draw from the posterior."""
    return np.asarray(mean + sd * rng.standard_normal(mean.shape) >= 0)


def averaged(mean: Array, sd: Array, rng: np.random.Generator) -> Array:
    """Act on the average of fifty draws."""
    return np.asarray(mean + sd * rng.standard_normal((50, *mean.shape)).mean(axis=0) >= 0)


def regrets(world: World) -> dict[str, float]:
    """Measure the mean regret of twenty runs after 2000 rounds, and a round over the last 500.

    ``least`` is the regret of the better of the two agents without random draws from the
    posterior.
    """
    stand = Stand.open(world.data_seed)
    figures: dict[str, float] = {}
    for policy in (greedy, epsilon_greedy, thompson, averaged):
        regret = play(stand, policy, world.start_seed).mean(axis=1)
        figures[policy.__name__] = float(regret[-1])
        figures[f"{policy.__name__}-late"] = float(regret[-1] - regret[-LATE - 1]) / LATE
    for late in ("", "-late"):
        figures[f"least{late}"] = min(figures[f"greedy{late}"], figures[f"epsilon_greedy{late}"])
    return figures
