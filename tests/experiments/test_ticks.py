"""What a fit says of itself is held to eight runs of 10,000 steps that it did not ask."""

from typing import Any

import pytest

from bdl_teach._support.errors import DivergedError
from bdl_teach.elbo import FreeEnergy
from bdl_teach.experiments.measured import ticks
from bdl_teach.experiments.world import World
from bdl_teach.methods._fitted import Variational


class Toy(Variational):
    """F is given, and the lowest of its five longer runs, of which the second diverges."""

    n_longer, tolerance = 5, 20.0

    def __init__(self, total: float, lowest: float = 0.0) -> None:
        self.total, self.lowest = total, lowest

    def cost(self) -> FreeEnergy:
        return FreeEnergy(0.0, self.total, 1.0)

    def refined(self) -> "Toy":
        return self

    def longer(self, k: int) -> "Toy":
        if k == 1:
            raise DivergedError(3, "begin elsewhere")
        return Toy(self.lowest if k == 4 else self.total)


@pytest.mark.parametrize(
    ("long", "unlike", "lowest", "arrived", "knows", "mistaken"),
    [
        (85.0, 85.0, 85.0, 1.0, 1.0, 0.0),
        (85.0, 85.0, 75.0, 1.0, 0.0, 0.0),  # too strict: by the runs of 10,000 steps it has arrived
        (75.0, 85.0, 85.0, 0.0, 0.0, 1.0),
        (85.0, None, 85.0, 1.0, 1.0, 0.0),  # those of another kind of start diverge
    ],
)
def test_convergence_verdict_agrees_with_longer_runs(
    long: float, unlike: float | None, lowest: float, arrived: float, knows: float, mistaken: float,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    runs: list[tuple[int, Any, float]] = []

    def fit(*_: Any, steps: int = 1500, seed: int, **settings: Any) -> Toy:
        if steps != 10_000:
            return Toy(100.0, lowest)
        kind = settings.get("start_scale", 0.3), settings.get("initial_rho", -1.0)
        runs.append((seed, *kind))
        if kind != (0.3, -1.0) and unlike is None:
            raise DivergedError(3, "begin elsewhere")
        return Toy(long if kind == (0.3, -1.0) or unlike is None else unlike)

    monkeypatch.setattr(ticks.local_reparam, "fit", fit)
    found = ticks.anywhere(World(0))
    assert (found["arrived"], found["knows"], found["mistaken"]) == (arrived, knows, mistaken)
    seeds, kinds = {seed for seed, *_ in runs}, {tuple(kind) for _, *kind in runs}
    assert len(seeds) == 8 == len(runs) / ticks.N_SETTINGS and len(kinds) == 5
