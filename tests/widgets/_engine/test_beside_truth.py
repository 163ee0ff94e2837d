"""Test the HMC run beside an explorer: how long it goes on, what ends it, and its report."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pytest

from bdl_teach.methods.mcmc import MIXED
from bdl_teach.problems import GAP_GRID, Problem
from bdl_teach.widgets._engine import background, beside_truth
from bdl_teach.widgets._engine.beside_truth import Chains, GoldStandard
from bdl_teach.widgets._engine.missions import Moved

pytestmark = pytest.mark.usefixtures("chains_run")


@dataclass(frozen=True)
class Fit:
    """Fake chains: draw t of chain c is ``value(t, c)`` at every x."""

    value: Callable[[Any, Any], Any]
    progress: Callable[..., object] | None = None
    n: int = 0
    last: int = 0
    noise_chains: None = None
    weights: Any = field(default_factory=lambda: np.zeros((4, 0, 1)))
    log_density = diverged = property(lambda self: self.weights[..., 0])  # type: ignore[assignment]

    def longer(self, n: int, progress: Callable[..., object]) -> Fit:
        progress(0, n)
        return replace(self, n=self.n + n, last=n)

    def outputs(self, x: Any) -> Any:
        t = np.arange(self.n - self.last, self.n)
        drawn = self.value(t, np.arange(4)[:, None]) + np.zeros((4, self.last))
        return np.repeat(drawn[..., None], len(x), axis=2)


def noise(t: Any, c: Any) -> Any:
    """Return draws of chains that have mixed."""
    return np.sin(1e4 * (t + 0.1) * (c + 1.3))


def apart(t: Any, c: Any) -> Any:
    """Return draws of chains that stay in different modes."""
    return 3.0 * c + noise(t, c)


class Made(Chains):
    """Chains with fake draws; a test sets ``moved`` when the controls have moved."""

    moved = False

    def __init__(self, value: Callable[[Any, Any], Any] = noise) -> None:
        self.value, self.begun, self.redrawn = value, 0, 0
        super().__init__(GAP_GRID, lambda: self.moved, self._redraw)

    def _redraw(self) -> None:
        self.redrawn += 1


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Made]]:
    """Return a function that makes ``Made`` chains, whose program counts as compiled."""
    chains: list[Made] = []

    def begin(problem: Problem, progress: Callable[..., object] | None) -> Fit:
        one = chains[-1]
        one.begun += 1
        return Fit(one.value).longer(50, progress or (lambda *_: None))

    def make(*given: Any) -> Made:
        chains.append(Made(*given))
        return chains[-1]

    monkeypatch.setattr(beside_truth, "_begin", begin)
    monkeypatch.setattr(beside_truth, "replace", lambda fit, **_: fit)
    monkeypatch.setattr(Chains, "_kept", {})
    monkeypatch.setattr(Chains, "_compiled", {beside_truth._shape(Problem())})
    yield make


def draws_of(gold: GoldStandard) -> int:
    """Return the number of draws of a chain, which the report states."""
    (n,) = re.findall(r"4 × (\d+) draws", gold.report)
    return int(n)


def test_hmc_run_goes_on_until_mixed_and_is_then_cached(made: Any) -> None:
    chains = made()
    gold = chains.ask(Problem())
    assert gold.prediction is None and "on its way" in gold.report
    draws = []
    while (gold := chains.go_on(beside_truth.MOST)) is not None:
        draws.append(draws_of(gold))
        last = gold
    assert draws == [50, 100, 200, 400, 800]
    assert last.report.startswith("The true posterior (HMC), 4 × 800 draws: mixed (R-hat ")
    assert (last.prediction.aleatoric_std == 1.0).all()
    other = made()
    assert other.ask(Problem()) is last and other.go_on(800) is None and other.begun == 0
    assert chains.ask(None).report == ""


def test_report_of_unmixed_chains_says_where_they_differ(made: Any) -> None:
    chains = made(apart)
    chains.ask(Problem())
    first = chains.go_on(800)
    assert "4 × 50 draws: not yet mixed (R-hat " in first.report
    assert "sd of 3.2 among the data, 3.2 in the gap, 3.2 outside." in first.report
    while (gold := chains.go_on(beside_truth.MOST)) is not None:
        last = gold
    assert "4 × 4000 draws: not mixed (R-hat " in last.report


def test_run_ends_with_the_most_draws_whatever_its_window(made: Any, monkeypatch: Any) -> None:
    for window in (10, 25, 70):
        monkeypatch.setattr(beside_truth, "_STEPS", {1: (window, 100)})
        chains = made(apart)
        chains.ask(Problem(seed=window))
        while (gold := chains.go_on(beside_truth.MOST)) is not None:
            last = gold
        assert draws_of(last) == beside_truth.MOST


def test_moved_control_ends_the_hmc_run_for_old_values(made: Any) -> None:
    chains = made()
    chains.ask(Problem())
    chains.go_on(800)
    chains.moved = True
    assert chains.go_on(800) is None
    with pytest.raises(Moved):
        chains.whole(Problem(seed=1))
    chains.moved = False
    assert chains.ask(Problem(noise_std=2.0)).prediction is None
    assert draws_of(chains.go_on(800)) == 50, "the new run starts at its beginning"


def test_failed_hmc_run_is_reported_only_for_the_problem_that_failed(made: Any) -> None:
    def fails(*_: Any) -> Any:
        raise ArithmeticError("no finite gradient")

    chains = made(fails)
    chains.ask(Problem())
    assert chains.go_on(800).report == "The true posterior (HMC) failed: no finite gradient."
    assert chains.go_on(800) is None, "a failed run is not repeated"
    chains.value = noise
    chains.ask(Problem(seed=1))
    assert chains.go_on(800).prediction is not None


def test_posterior_program_is_compiled_in_the_background_before_a_run(
    made: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[Callable[[], object]] = []
    monkeypatch.setattr(background, "start", jobs.append)
    monkeypatch.setattr(Chains, "_compiled", set())
    chains = made()
    chains.ask(Problem())
    assert chains.go_on(800) is chains.go_on(800) is None and len(jobs) == 1
    jobs[0]()
    assert chains.redrawn == 1 and chains.go_on(800) is not None


def test_checking_a_mission_with_other_seeds_keeps_shown_hmc_run(made: Any) -> None:
    chains = made()
    chains.ask(Problem())
    chains.go_on(800)
    assert draws_of(chains.whole(Problem(seed=1))) == 800
    assert draws_of(chains.go_on(800)) == 100


def test_posterior_band_includes_how_far_the_chains_stand_apart(made: Any) -> None:
    """Chains at 0, 3, 6 and 9 have a variance of 11.25, and draws at ±1 around each add 1."""
    chains = made(lambda t, c: 3.0 * c + (-1.0) ** t)
    chains.ask(Problem())
    np.testing.assert_allclose(chains.go_on(800).prediction.epistemic_std, 3.5)


def test_chains_that_differ_at_one_input_have_not_mixed() -> None:
    outputs = np.random.default_rng(0).standard_normal((4, 500, 200))
    assert beside_truth._judge(outputs, {}, Problem())[0] <= MIXED
    outputs[:, :, 3] += np.arange(4)[:, None]
    assert beside_truth._judge(outputs, {}, Problem())[0] > MIXED


def test_report_says_that_a_chain_did_not_move(made: Any) -> None:
    chains = made(lambda t, c: noise(t, c) * (c > 0))
    chains.ask(Problem())
    gold = chains.go_on(800)
    assert "not yet mixed (a chain did not move); the means" in gold.report and not gold.mixed
