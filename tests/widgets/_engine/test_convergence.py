"""Whether a fit has converged, asked one longer run at a time."""

from dataclasses import dataclass, field
from typing import Any

import pytest

from bdl_teach import DivergedError
from bdl_teach.methods._mean_field import N_LONGER, TOLERANCE
from bdl_teach.widgets._engine.convergence import Convergence, of_several


@dataclass
class Toy:
    """A fit of 100 nats whose longer runs end where they are told to."""

    ends: tuple[float, ...] = ()
    free_energy: float = 100.0
    tolerance: float = TOLERANCE
    n_longer: int = N_LONGER
    asked: list[int] = field(default_factory=list)

    def longer(self, k: int) -> "Toy":
        self.asked.append(k)
        return Toy(free_energy=self.ends[k])


def answers(fit: Any) -> list[Convergence]:
    """What is known after each longer run, up to the one that decides."""
    said = [Convergence()]
    while not said[-1].over and len(said) <= N_LONGER:
        said.append(said[-1].after_one_more(fit))
    return said[1:]


def test_first_much_lower_longer_run_means_not_converged() -> None:
    fit = Toy((105.0, 88.0, 70.0, 40.0))
    before, after = answers(fit)[:-1], answers(fit)[-1]
    assert [one.gain for one in before] == [0.0, 12.0]
    assert [one.converged for one in before] == [None, None]
    assert [str(one) for one in before] == ["", ""]
    assert after == Convergence(runs=3, gain=30.0, over=True, tolerance=TOLERANCE)
    assert after.converged is False
    assert str(after) == "Not converged: a longer run ends 30 nats lower."
    assert fit.asked == 2 * [0, 1, 2]


@pytest.mark.parametrize("gain", [-5.0, 0.0, TOLERANCE])
def test_fit_has_converged_if_all_longer_runs_gain_little(gain: float) -> None:
    """Their largest gain counts, not the last."""
    fit = Toy((100.0 - gain, *(N_LONGER - 1) * (103.0,)))
    *before, last = answers(fit)
    assert not any(one.over for one in before)
    assert last == Convergence(N_LONGER, max(gain, 0.0), over=True, tolerance=TOLERANCE)
    assert last.converged is True
    assert str(last) == f"Converged: a longer run gains less than {TOLERANCE:.0f} nats."
    assert fit.asked == list(range(N_LONGER))


def test_a_longer_run_that_diverges_has_found_nothing() -> None:
    fit, before = Toy(), Convergence(runs=3, gain=4.0)
    fit.longer = lambda _: diverge()  # type: ignore[assignment,method-assign]
    assert before.after_one_more(fit) == Convergence(4, 4.0, over=False, tolerance=TOLERANCE)


def diverge() -> Toy:
    raise DivergedError(7, "lower the learning rate")


def test_convergence_sentence_names_converged_and_other_fits() -> None:
    told = {
        "MAP": Convergence(8, 3.0, over=True, tolerance=20.0),
        "BBB": Convergence(2, 30.4, over=True, tolerance=20.0),
        "on its way": Convergence(1, 5.0, tolerance=20.0),
        "PBP": Convergence(1, 51.0, over=True, tolerance=20.0),
    }
    said = "Not converged, a longer run ends lower: BBB by 30, PBP by 51 nats. Converged: MAP."
    assert of_several(told) == said
    assert of_several({"on its way": told["on its way"]}) == ""
