"""Thompson sampling with networks, and with an exact linear posterior (chapter 10)."""

from collections.abc import Mapping

import numpy as np

from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.problems import mushrooms
from bdl_teach.problems.network_bandits import AGENTS, play
from evidence.claim import Trial
from evidence.measured._measure import mean

N_SETS = 2  # data sets a world: the regret on one data set is mostly luck


def lost_by_agents(world: World) -> dict[str, list[float]]:
    """Return each agent's regret after 160 rounds on two data sets, ``{agent: [2]}``."""
    sets = world.parts(N_SETS)
    return {agent: [float(play(agent, one)[-1]) for one in sets] for agent in AGENTS}


def mean_regrets(lost: Mapping[str, list[float]]) -> dict[str, float]:
    """Return the mean of each agent's regrets ``lost`` over data sets.

    ``-part`` is an agent's mean divided by the sum of its own and that of BBB. ``bbb-less`` is the
    share of data sets in which BBB has less regret than the greedy agent, ``bbb-same`` the share in
    which it has the same.
    """
    figures = {agent: mean(each) for agent, each in lost.items()}
    for agent in ("anchored", "laplace"):
        figures[f"{agent}-part"] = figures[agent] / (figures[agent] + figures["bbb"])
    pairs = list(zip(lost["bbb"], lost["greedy"], strict=True))
    less, same = mean(b < g for b, g in pairs), mean(b == g for b, g in pairs)
    return {**figures, "bbb-less": less, "bbb-same": same}


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


def lost_by_policies(world: World) -> dict[str, Array]:
    """Return each policy's regret after each of 2000 rounds, averaged over runs: ``[round]``."""
    stand = mushrooms.Stand.open(world.data_seed)
    return {
        name: mushrooms.play(stand, policy, world.start_seed).mean(axis=1)
        for name, policy in POLICIES.items()
    }


def total_and_late(lost: Mapping[str, Array]) -> dict[str, float]:
    """Return each policy's total regret, and that a round in the last 500 rounds (``-late``).

    ``least`` is the smaller one of the greedy and the ε-greedy policy.
    """
    figures: dict[str, float] = {}
    for name, regret in lost.items():
        figures[name] = float(regret[-1])
        figures[f"{name}-late"] = float(regret[-1] - regret[-LATE - 1]) / LATE
    for late in ("", "-late"):
        figures[f"least{late}"] = min(figures[f"greedy{late}"], figures[f"epsilon_greedy{late}"])
    return figures


regrets = Trial(lost_by_agents, mean_regrets)
of_policies = Trial(lost_by_policies, total_and_late)
