"""Agents that choose by a network's posterior, on a stand with a gap (chapter 10)."""

from typing import Any

import numpy as np

from bdl_teach import datasets, densities
from bdl_teach._support.checks import Array
from bdl_teach.claims import World
from bdl_teach.methods import bbb, laplace, mcmc, point
from bdl_teach.methods.catalogue import CATALOGUE
from bdl_teach.problems import GAP_GRID

ROUNDS, PRICE = 160, 8.0  # price of eating; its reward is the sinusoid at the context
REFITS = (0, 10, 20, 40, 80)  # rounds before which each agent is fitted anew
# "greedy" acts on one MAP network; "trained_on" is "bbb" after 1500 more steps.
AGENTS = (
    "greedy", "bbb", "trained_on", "lowest", "dropout", "ensemble", "anchored", "laplace", "hmc",
)  # fmt: skip
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
