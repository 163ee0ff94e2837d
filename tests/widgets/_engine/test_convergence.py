"""Test when longer training runs make a fit count as converged, and what is said of that."""

from dataclasses import dataclass
from typing import Any

from bdl_teach import DivergedError
from bdl_teach.methods._mean_field import N_LONGER, TOLERANCE
from bdl_teach.widgets._engine.convergence import Convergence


@dataclass
class FakeFit:
    """A fit with F = 100 nats whose longer runs end at the given values of F."""

    ends: tuple[float, ...] = ()
    free_energy: float = 100.0
    tolerance: float = TOLERANCE
    n_longer: int = N_LONGER

    def longer(self, k: int) -> "FakeFit":
        if self.ends[k] == float("inf"):
            raise DivergedError(7, "lower the learning rate")
        return FakeFit(free_energy=self.ends[k])


def after_each_run(fit: Any) -> list[Convergence]:
    """Return what is known after each longer run, until the answer is known."""
    said = [Convergence()]
    while not said[-1].over and len(said) <= N_LONGER:
        said.append(said[-1].after_one_more(fit))
    return said[1:]


def test_fit_has_not_converged_if_one_longer_run_gains_much() -> None:
    *before, after = after_each_run(FakeFit((float("inf"), 88.0, 70.0, 40.0)))
    assert [(one.gain, one.converged, str(one)) for one in before] == [
        (0.0, None, ""),  # a run that diverges gains nothing
        (12.0, None, ""),
    ]
    assert after == Convergence(runs=3, gain=30.0, over=True, tolerance=TOLERANCE)
    assert after.converged is False
    assert str(after) == "Not converged: a longer run ends 30 nats lower."


def test_fit_has_converged_if_longer_runs_gain_little() -> None:
    *before, last = after_each_run(FakeFit((100.0 - TOLERANCE, *(N_LONGER - 1) * (103.0,))))
    assert not any(one.over for one in before)
    assert last == Convergence(N_LONGER, TOLERANCE, over=True, tolerance=TOLERANCE)
    assert last.converged is True
    assert str(last) == f"Converged: a longer run gains less than {TOLERANCE:.0f} nats."
