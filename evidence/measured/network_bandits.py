"""Thompson sampling with networks, and with an exact linear posterior (chapter 10)."""

from collections.abc import Mapping

import numpy as np

from bdl_teach.claims import World
from bdl_teach.problems import mushrooms
from bdl_teach.problems.network_bandits import AGENTS, play

N_SETS = 2  # data sets a world: the regret on one data set is mostly luck


def fits(world: World) -> dict[str, list[float]]:
    """Return each agent's regret after 160 rounds on two data sets, ``{agent: [2]}``."""
    sets = world.parts(N_SETS)
    return {agent: [float(play(agent, one)[-1]) for one in sets] for agent in AGENTS}


def measure(lost: Mapping[str, list[float]]) -> dict[str, float]:
    """Return the mean of each agent's regrets ``lost`` over data sets.

    ``-part`` is an agent's mean divided by the sum of its own and that of BBB. ``bbb-less`` is the
    share of data sets in which BBB has less regret than the greedy agent, ``bbb-same`` the share in
    which it has the same.
    """
    figures = {agent: float(np.mean(each)) for agent, each in lost.items()}
    for agent in ("anchored", "laplace"):
        figures[f"{agent}-part"] = figures[agent] / (figures[agent] + figures["bbb"])
    bbb_lost, greedy_lost = np.array(lost["bbb"]), np.array(lost["greedy"])
    return {
        **figures,
        "bbb-less": float(np.mean(bbb_lost < greedy_lost)),
        "bbb-same": float(np.mean(bbb_lost == greedy_lost)),
    }


def regrets(world: World) -> dict[str, float]:
    """Return :func:`measure` of :func:`fits` in one world."""
    return measure(fits(world))


LATE = 500  # last rounds, averaged apart


POLICIES: dict[str, mushrooms.Policy] = {  # from posterior means and sds to whether to eat
    "greedy": lambda mean, sd, rng: np.asarray(mean >= 0),
    "epsilon_greedy": lambda mean, sd, rng: np.where(  # in 5 % of the rounds at random
        rng.random(mean.shape) < 0.05, rng.random(mean.shape) < 0.5, mean >= 0
    ),
    "thompson": lambda mean, sd, rng: mean + sd * rng.standard_normal(mean.shape) >= 0,
    "averaged": lambda mean, sd, rng: (  # of fifty draws
        mean + sd * rng.standard_normal((50, *mean.shape)).mean(axis=0) >= 0
    ),
}


def of_policies(world: World) -> dict[str, float]:
    """Return each policy's total regret after 2000 rounds, averaged over runs.

    ``-late`` is the mean regret per round in the last 500 rounds.
    """
    stand = mushrooms.Stand.open(world.data_seed)
    figures: dict[str, float] = {}
    for name, policy in POLICIES.items():
        regret = mushrooms.play(stand, policy, world.start_seed).mean(axis=1)
        figures[name] = float(regret[-1])
        figures[f"{name}-late"] = float(regret[-1] - regret[-LATE - 1]) / LATE
    for late in ("", "-late"):
        figures[f"least{late}"] = min(figures[f"greedy{late}"], figures[f"epsilon_greedy{late}"])
    return figures
