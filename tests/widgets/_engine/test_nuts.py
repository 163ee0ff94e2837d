"""NUTS beside the sliders: whose failure it is, and when it is asked again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from bdl_teach.widgets._engine import nuts
from bdl_teach.widgets._engine.nuts import NutsRunner
from tests.waiting import until


class Fit:
    """What a job of NUTS gives."""

    report = "R-hat 1.00"

    def predict(self, x: Any) -> Any:
        return f"prediction at {x}"


class Held:
    """A job whose chains begin, and go on when they may, to their one report."""

    def __init__(self) -> None:
        self.begun, self.go_on, self.ended = threading.Event(), threading.Event(), False

    def __call__(self, progress: Any) -> Fit:
        self.begun.set()
        assert self.go_on.wait(60)
        progress(1, 2)
        self.ended = True
        return Fit()


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> Iterator[NutsRunner]:
    monkeypatch.setattr(nuts, "_REST", 0.01)
    monkeypatch.setattr(NutsRunner, "_results", {})
    done = threading.Semaphore(0)
    given_up: list[str] = []
    made = NutsRunner(done.release, lambda: given_up.append("NUTS"))
    made.done, made.given_up = done, given_up  # type: ignore[attr-defined]
    yield made
    made.close()


def asked(runner: NutsRunner, wanted: bool, key: Any, job: Any) -> nuts.GoldStandard:
    """Ask for a run by a key of its own."""
    run = SimpleNamespace(key=key, sample=job, x_grid="the grid")
    return runner.ask(wanted, run)  # type: ignore[arg-type]


def settle(runner: NutsRunner, key: Any, job: Any) -> nuts.GoldStandard:
    """Ask, wait until the job has ended, and ask again."""
    asked(runner, True, key, job)
    assert runner.done.acquire(timeout=60)  # type: ignore[attr-defined]
    return asked(runner, True, key, job)


def test_a_failure_of_nuts_is_of_its_values_only(runner: NutsRunner) -> None:
    calls: list[str] = []

    def fails(_: Any) -> Any:
        calls.append("fails")
        raise ArithmeticError("no finite gradient")

    failed = settle(runner, "one", fails)
    assert failed == nuts.GoldStandard(report="NUTS failed: no finite gradient")
    assert asked(runner, True, "one", fails) == failed, "it does not run for ever"
    assert calls == ["fails"]
    good = settle(runner, "other", lambda _: Fit())
    assert good == nuts.GoldStandard("prediction at the grid", "R-hat 1.00")  # type: ignore[arg-type]
    assert runner.row.layout.visibility == "hidden"


def test_it_says_how_long_it_will_run_and_can_be_given_up(
    runner: NutsRunner, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[tuple[str, str, int]] = []
    moments = iter([100.0, 100.1, 110.0, 120.0])
    monkeypatch.setattr(nuts, "time", SimpleNamespace(monotonic=lambda: next(moments)))

    def job(progress: Any) -> Any:
        for done in (0, 10, 30):
            progress(done, 40)
            bar, row = runner.bar, runner.row
            said.append((bar.description, row.layout.visibility, bar.value))
        return Fit()

    settle(runner, "one", job)
    assert said[1:] == [("NUTS, 30 s left", "visible", 10), ("NUTS, 7 s left", "visible", 30)]
    assert said[0][2] == 0
    (_, cancel) = runner.row.children
    cancel.click()
    assert runner.given_up == ["NUTS"]  # type: ignore[attr-defined]


def test_what_is_asked_while_nuts_runs_for_other_values_runs_after_it(runner: NutsRunner) -> None:
    begun, go_on = threading.Event(), threading.Event()

    def first(_: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return Fit()

    asked(runner, True, "one", first)
    assert begun.wait(60)
    asked(runner, True, "other", lambda _: Fit())
    go_on.set()
    for _ in range(2):
        assert runner.done.acquire(timeout=60)  # type: ignore[attr-defined]
    assert asked(runner, True, "other", first).report == "R-hat 1.00"


@pytest.mark.parametrize("wanted", [False, True], ids=["switched off", "what is there"])
def test_chains_that_are_no_longer_asked_for_stop_at_their_next_report(
    runner: NutsRunner, wanted: bool
) -> None:
    there, job = settle(runner, "there", lambda _: Fit()), Held()
    asked(runner, True, "dropped", job)
    assert job.begun.wait(60)
    assert asked(runner, wanted, "there", job) == (there if wanted else nuts.GoldStandard())
    job.go_on.set()
    until(lambda: runner.row.layout.visibility == "hidden", "the end of the job")
    assert settle(runner, "other", lambda _: Fit()).report == "R-hat 1.00"
    assert not job.ended
    asked_for_a_picture = runner.done.acquire(blocking=False)  # type: ignore[attr-defined]
    assert not asked_for_a_picture, "though there is nothing new"


def test_chains_start_for_the_values_at_which_the_sliders_rest(runner: NutsRunner) -> None:
    ran: list[str] = []
    moves = ["two", "three"]

    def job(key: str) -> Any:
        return lambda _: ran.append(key) or Fit()

    class Moving(threading.Condition):
        """Sliders that move twice while the thread waits for them to rest."""

        def wait(self, timeout: float | None = None) -> bool:
            if timeout is None:
                return super().wait()
            if not moves:
                return False
            key = moves.pop(0)
            runner._job = SimpleNamespace(key=key, sample=job(key), x_grid="")  # type: ignore[assignment]
            return True

    runner._changed = Moving()  # for good: its thread waits on it till it is closed
    asked(runner, True, "one", job("one"))
    assert runner.done.acquire(timeout=60)  # type: ignore[attr-defined]
    assert ran == ["three"]
