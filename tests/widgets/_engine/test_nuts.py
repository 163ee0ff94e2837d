"""NUTS beside the sliders: whose failure it is, and when it is asked again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from bdl_teach.widgets._engine import nuts
from bdl_teach.widgets._engine.nuts import NutsRunner


class Fit:
    """What a job of NUTS gives."""

    report = "R-hat 1.00"

    def predict(self, x: Any) -> Any:
        return f"prediction at {x}"


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Iterator[NutsRunner]:
    monkeypatch.setattr(nuts, "_REST", 0.01)
    monkeypatch.setattr(NutsRunner, "_results", {})
    done = threading.Semaphore(0)
    made = NutsRunner("the grid", done.release)  # type: ignore[arg-type]
    made.done = done  # type: ignore[attr-defined]
    yield made
    made.close()


def settle(runner: NutsRunner, key: Any, job: Any) -> nuts.GoldStandard:
    """Ask, wait until the job has ended, and ask again."""
    runner.ask(True, key, job)
    assert runner.done.acquire(timeout=60)  # type: ignore[attr-defined]
    return runner.ask(True, key, job)


def test_a_failure_of_nuts_is_of_its_values_only(runner: NutsRunner) -> None:
    calls: list[str] = []

    def fails(_: Any) -> Any:
        calls.append("fails")
        raise ArithmeticError("no finite gradient")

    failed = settle(runner, "one", fails)
    assert failed == nuts.GoldStandard(report="NUTS failed: no finite gradient")
    assert runner.ask(True, "one", fails) == failed, "it does not run for ever"
    assert calls == ["fails"]
    good = settle(runner, "other", lambda _: Fit())
    assert good == nuts.GoldStandard("prediction at the grid", "R-hat 1.00")  # type: ignore[arg-type]
    assert runner.bar.layout.display == "none"


def test_nuts_is_asked_again_for_the_same_values_after_it_was_switched_off(
    runner: NutsRunner,
) -> None:
    def fails(_: Any) -> Any:
        raise MemoryError("no room")

    assert settle(runner, "one", fails).report == "NUTS failed: no room"
    assert runner.ask(False, "one", fails) == nuts.GoldStandard()
    assert runner.ask(True, "one", lambda _: Fit()).report == "NUTS is running for these values"
    assert runner.done.acquire(timeout=60)  # type: ignore[attr-defined]
    assert runner.ask(True, "one", fails).report == "R-hat 1.00"
