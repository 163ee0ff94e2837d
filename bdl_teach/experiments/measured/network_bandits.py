"""Thompson sampling with networks, and with an exact linear posterior (chapter 10)."""

from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.experiments.world import World
from bdl_teach.methods import bbb, laplace, point
from bdl_teach.methods.catalogue import CATALOGUE
from bdl_teach.problems import mushrooms

ROUNDS, PRICE = 160, 8.0  # price of eating; its reward is the sinusoid at the context
REFITS = (0, 10, 20, 40, 80)  # rounds before which each agent is fitted anew
AGENTS = ("greedy", "bbb", "dropout", "ensemble", "anchored", "laplace")
N_SETS = 6  # data sets a world: the regret on one data set is mostly luck
N_KNOWN = 32  # points outside the gap, known before the first round


def fitted(agent: str, x: Array, y: Array, seed: int) -> Any:
    """Fit an agent's model to all points that the agent has seen, without a new compilation."""
    prior, room = densities.Gaussian(3.0), bbb.Capacity(N_KNOWN + ROUNDS, (20,), 1)
    given: dict[str, Any] = {"prior": prior, "hidden_units": (20,), "seed": seed, "capacity": room}
    if agent != "laplace":
        return CATALOGUE["map" if agent == "greedy" else agent].fit(x, y, **given)
    end = point.fit(x, y, **given)
    return laplace.around(laplace.to_mode(end, x, y, prior=prior), x, y, prior=prior)


def functions(fit: Any, x: Array, seed: int) -> Array:
    """Draw one function for each row of x ``[m, 1]``, and evaluate it at that row: ``[m]``."""
    if isinstance(fit, laplace.Fit):
        drawn = fit.draw_linearised(x, len(x), seed)
    else:
        drawn = fit.predict(x, n_samples=len(x), seed=seed).samples
    which = np.random.default_rng(seed).integers(0, len(drawn), len(x))
    return np.asarray(drawn[which, np.arange(len(x))])


def play(agent: str, world: World) -> Array:
    """Return one agent's regret after each round ``[round]``; all agents meet the same contexts."""
    data = datasets.sinusoid(n=N_KNOWN, seed=world.data_seed, gap=(0.1, 0.4))
    rng = np.random.default_rng(world.seed(2))
    offered = rng.uniform(-0.5, 0.5, (ROUNDS, 1))
    brings = data.truth(offered)
    reward = brings + rng.standard_normal((ROUNDS, 1))
    ate = np.zeros(ROUNDS, bool)
    for first, last in zip(REFITS, (*REFITS[1:], ROUNDS), strict=True):
        x, y = np.vstack([data.x, offered[ate]]), np.vstack([data.y, reward[ate]])
        fit = fitted(agent, x, y, world.start_seed)
        believed = functions(fit, offered, world.seed(3 + first))
        ate[first:last] = believed[first:last] >= PRICE
    pays = brings[:, 0] - PRICE
    return np.cumsum(np.maximum(pays, 0) - pays * ate)


def regrets(world: World) -> dict[str, float]:
    """Return each agent's regret after 160 rounds, averaged over six data sets.

    ``-part`` is an agent's regret divided by the sum of its regret and that of BBB. ``bbb-less``
    is the share of data sets in which BBB has less regret than the greedy agent, ``bbb-same`` the
    share in which it has the same.
    """
    each = [{agent: float(play(agent, one)[-1]) for agent in AGENTS} for one in world.parts(N_SETS)]
    figures = {agent: float(np.mean([one[agent] for one in each])) for agent in AGENTS}
    for agent in ("anchored", "laplace"):
        figures[f"{agent}-part"] = figures[agent] / (figures[agent] + figures["bbb"])
    return {
        **figures,
        "bbb-less": float(np.mean([one["bbb"] < one["greedy"] for one in each])),
        "bbb-same": float(np.mean([one["bbb"] == one["greedy"] for one in each])),
    }


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
