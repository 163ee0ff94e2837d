"""Thompson sampling with networks, and with an exact linear posterior (chapter 10)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.claims import Figures, World
from bdl_teach.methods import bbb, laplace, mcmc, point
from bdl_teach.methods.catalogue import CATALOGUE
from bdl_teach.problems import GAP_GRID, mushrooms
from evidence.claim import Trial
from evidence.measured._measure import mean
from evidence.store import read_kept

ROUNDS, PRICE = 160, 8.0  # price of eating; its reward is the sinusoid at the context
REFITS = (0, 10, 20, 40, 80)  # rounds before which each agent is fitted anew
# "greedy" acts on one MAP network; "trained_on" is "bbb" after 1500 more steps.
AGENTS = (
    "greedy", "bbb", "trained_on", "lowest", "dropout", "ensemble", "anchored", "laplace", "hmc",
)  # fmt: skip
N_SETS = 2  # data sets a world: the regret on one data set is mostly luck
N_KNOWN = 32  # points outside the gap, known before the first round
ROOMS = (64, N_KNOWN + ROUNDS)  # numbers of points that programs are compiled for
MOST = 4000  # draws of each chain, with which chains that have not mixed are used


def fitted(agent: str, x: Array, y: Array, seed: int) -> Any:
    """Fit an agent's model to all points that the agent has seen, without a new compilation."""
    room = bbb.Capacity(next(rows for rows in ROOMS if len(x) <= rows), (20,), 1)
    prior = densities.Gaussian(3.0)
    given: dict[str, Any] = {"prior": prior, "hidden_units": (20,), "seed": seed, "capacity": room}
    if agent == "laplace":
        end = point.fit(x, y, **given)
        return laplace.around(laplace.to_mode(end, x, y, prior=prior), x, y, prior=prior)
    if agent == "trained_on":
        return bbb.fit(x, y, **given).refined()
    fit = CATALOGUE["map" if agent == "greedy" else agent].fit(x, y, **given)
    while isinstance(fit, mcmc.Fit) and fit.weights.shape[1] < MOST:
        if mcmc.largest_r_hat(fit.outputs(GAP_GRID)) <= mcmc.MIXED:
            break
        fit = fit.longer()
    return fit


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


def stored() -> list[Figures]:
    """Return :func:`mean_regrets` of the twenty worlds whose results are stored."""
    kept = read_kept(Path(__file__).with_name("network_bandits.csv"))
    return list(kept.figures.values())


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
