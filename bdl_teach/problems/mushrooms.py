"""A bandit problem: decide whether to eat mushrooms, when only eaten ones teach anything."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bdl_teach._support.checks import Array

RUNS, ROUNDS = 20, 2000
SAFE = np.array([0.95, 0.9, 0.85, 0.8, 0.75, 0.3, 0.2, 0.1, 0.1, 0.0])  # P(edible) of each kind
KINDS = len(SAFE)
NOISE_STD, PRIOR_STD = 8.0, 5.0  # of a reward, and of each kind's mean reward before any meal


@dataclass(frozen=True)
class Stand:
    """The mushrooms offered in each run."""

    kind: Array  # which mushroom [round, run]
    reward: Array  # the reward for eating it [round, run]
    pays: Array  # the mean reward for eating it [round, run]; leaving it is worth 0

    @classmethod
    def open(cls, seed: int) -> Stand:
        """Draw mushrooms: an edible one is worth +5, a poisonous one −15 or +5."""
        rng = np.random.default_rng(seed)
        kind = rng.integers(0, KINDS, (ROUNDS, RUNS))
        harmed = (rng.random(kind.shape) > SAFE[kind]) & (rng.random(kind.shape) < 0.5)
        return cls(kind, np.where(harmed, -15.0, 5.0), 10 * SAFE[kind] - 5)


# Of (mean, sd) of the kind before each run, and a generator: who eats, [run].
Policy = Callable[[Array, Array, np.random.Generator], Array]


def play(stand: Stand, policy: Policy, seed: int) -> Array:
    """Return the regret of each run after each round ``[round, run]``.

    The posterior of a kind is N(b/λ, 1/λ): contexts are one-hot, so the kinds are independent.
    """
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
