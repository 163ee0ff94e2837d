"""What a fit says of itself, by longer runs of its own, is held to eight of 10,000 steps."""

from typing import Any

import pytest

from bdl_teach._support.errors import DivergedError
from bdl_teach.elbo import FreeEnergy
from bdl_teach.experiments.measured import ticks
from bdl_teach.experiments.world import World
from bdl_teach.methods._variational import Variational


class Toy(Variational):
    """F is given; of its five longer runs the second diverges, the last is the lowest."""

    n_longer = 5
    tolerance = 20.0

    def __init__(self, total: float, lowest: float, asked: list[int]) -> None:
        self.total, self.lowest, self.asked = total, lowest, asked

    def cost(self) -> FreeEnergy:
        return FreeEnergy(0.0, self.total, 1.0)

    def longer(self, k: int) -> "Toy":
        self.asked.append(k)
        if k == 1:
            raise DivergedError(3, "begin elsewhere")
        return Toy(self.lowest if k == 4 else self.total, 0.0, [])


@pytest.mark.parametrize(
    ("long", "unlike", "lowest", "arrived", "knows", "mistaken"),
    [
        (85.0, 85.0, 85.0, 1.0, 1.0, 0.0),
        (85.0, 85.0, 75.0, 1.0, 0.0, 0.0),  # too strict: by the runs of 10,000 steps it has arrived
        (75.0, 85.0, 85.0, 0.0, 0.0, 1.0),
        (75.0, 75.0, 75.0, 0.0, 1.0, 0.0),
        (85.0, 75.0, 75.0, 0.0, 1.0, 0.0),  # found from another kind of start alone
        (85.0, 75.0, 85.0, 0.0, 0.0, 1.0),
        (85.0, None, 85.0, 1.0, 1.0, 0.0),  # those diverge
    ],
)
def test_what_a_fit_says_is_held_to_runs_that_it_did_not_ask(
    long: float,
    unlike: float | None,
    lowest: float,
    arrived: float,
    knows: float,
    mistaken: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []
    seeds: list[int] = []
    kinds: list[tuple[float | None, float]] = []

    def fit(*_: Any, steps: int = 1500, seed: int, **settings: Any) -> Toy:
        if steps != 10_000:
            return Toy(100.0, lowest, asked)
        seeds.append(seed)
        kind = settings.get("start_scale", 0.3), settings.get("initial_rho", -1.0)
        kinds.append(kind)
        if kind == (0.3, -1.0):
            return Toy(long, 0.0, [])
        if unlike is None:
            raise DivergedError(3, "begin elsewhere")
        return Toy(unlike, 0.0, [])

    monkeypatch.setattr(ticks.local_reparam, "fit", fit)
    found = ticks.anywhere(World(0))
    assert (found["arrived"], found["knows"], found["mistaken"]) == (arrived, knows, mistaken)
    assert asked == ticks.N_SETTINGS * [0, 1, 2, 3, 4]
    assert len(set(seeds)) == 8 == len(seeds) / ticks.N_SETTINGS
    assert len(set(kinds)) == 5, "the usual one, and four that are unlike it"
