"""PBP learns the points one by one: what their order does (chapter 7)."""

from __future__ import annotations

import numpy as np

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.experiments.world import World
from bdl_teach.methods.pbp import replay


def left_to_right(world: World) -> dict[str, float]:
    """Epistemic sd at the left and the right end after 16 of 32 points, over that before.

    The stepper's network, 50 units, its points taken from left to right.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    trail = replay.Trail(data.x, data.y, shuffle=False, seed=world.start_seed)
    ends = {"left": np.linspace(-0.5, -0.3, 21), "right": np.linspace(0.3, 0.5, 21)}

    def doubt(step: int, x: Array) -> float:
        return float(trail.at(step).predict(x[:, None])[0].epistemic_std.mean())

    return {end: doubt(16, x) / doubt(0, x) for end, x in ends.items()}


def two_orders(world: World) -> dict[str, float]:
    """Rms distance (units of y, −1.5 to 1.5) of the means after an epoch in two orders.

    Beside it the mean epistemic sd after the first of them.
    """
    data = datasets.sinusoid(n=32, noise_std=1.0, seed=world.data_seed)
    x = np.linspace(-1.5, 1.5, 121)[:, None]
    options = {"seed": world.start_seed}
    shuffled, sorted_ = (
        replay.replay(data.x, data.y, 33, shuffle=shuffle, **options).fit.predict(x)
        for shuffle in (True, False)
    )
    return {
        "distance": float(np.sqrt(((shuffled.mean - sorted_.mean) ** 2).mean())),
        "doubt": float(shuffled.epistemic_std.mean()),
    }
