"""What a fit says of itself is held to all of its longer runs, each made once."""

from typing import Any

import pytest

from bdl_teach._support.errors import DivergedError
from bdl_teach.claims.claim import World
from bdl_teach.claims.experiments import ticks
from bdl_teach.elbo import FreeEnergy
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


@pytest.mark.parametrize(("lowest", "arrived"), [(85.0, 1.0), (75.0, 0.0)])
def test_each_longer_run_is_made_once_and_one_may_diverge(
    lowest: float, arrived: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def fit(*_: Any, **settings: Any) -> Toy:
        return Toy(100.0, lowest, asked)

    monkeypatch.setattr(ticks.local_reparam, "fit", fit)
    assert ticks.anywhere(World(0)) == {"arrived": arrived, "knows": 1.0}
    assert asked == ticks.N_SETTINGS * [0, 1, 2, 3, 4]
