"""The mushroom bandit: decide whether to eat; only a mushroom that is eaten shows its reward."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bdl_teach._support.checks import Array

RUNS, ROUNDS = 20, 2000
SAFE = np.array([0.95, 0.9, 0.85, 0.8, 0.75, 0.3, 0.2, 0.1, 0.1, 0.0])  # P(edible) by species
KINDS = len(SAFE)
NOISE_STD, PRIOR_STD = 8.0, 5.0  # sd of a reward; prior sd of the mean reward of a species


@dataclass(frozen=True)
class Stand:
    """The mushrooms that are offered, one in each round of each run: arrays ``[round, run]``."""

    kind: Array  # index of the species [round, run]
    reward: Array  # reward for eating the mushroom [round, run]
    pays: Array  # mean reward for eating its species [round, run]; not eating pays 0

    @classmethod
    def open(cls, seed: int) -> Stand:
        """Draw mushrooms and rewards: +5 if edible; −15 or +5, equally likely, if poisonous."""
        rng = np.random.default_rng(seed)
        kind = rng.integers(0, KINDS, (ROUNDS, RUNS))
        harmed = (rng.random(kind.shape) > SAFE[kind]) & (rng.random(kind.shape) < 0.5)
        return cls(kind, np.where(harmed, -15.0, 5.0), 10 * SAFE[kind] - 5)


# Maps posterior mean [run] and sd [run] of the offered species' reward, and a random generator, to
# the decisions to eat [run].
Policy = Callable[[Array, Array, np.random.Generator], Array]


def play(stand: Stand, policy: Policy, seed: int) -> Array:
    """Let a policy play all rounds; return the regret summed up to each round ``[round, run]``."""
    rng, runs = np.random.default_rng(seed), np.arange(RUNS)
    precision, b = np.full((RUNS, KINDS), PRIOR_STD**-2), np.zeros((RUNS, KINDS))
    lost = np.zeros(stand.kind.shape)
    for t, kind in enumerate(stand.kind):
        known = precision[runs, kind]
        ate = policy(b[runs, kind] / known, known**-0.5, rng).astype(float)
        lost[t] = np.maximum(stand.pays[t], 0) - stand.pays[t] * ate
        precision[runs, kind] += ate / NOISE_STD**2
        b[runs, kind] += ate * stand.reward[t] / NOISE_STD**2
    return np.cumsum(lost, axis=0)
