"""Test missions: done if they hold for three seeds, called luck for fewer, recorded once."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bdl_teach import progress as record
from bdl_teach.progress import SOLVED, Progress
from bdl_teach.widgets._engine import texts, worker
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.missions import Need
from bdl_teach.widgets._engine.model import Host
from tests.waiting import until
from tests.widgets._engine.toy import TEXTS, ToyModel, text


class LiftModel(ToyModel):
    """A toy with three missions, which calls ``trouble[seed]`` before it computes a seed."""

    TEXTS = texts.parse(
        TEXTS
        + """
[missions.lift-high]
text = "Above 4."
hints = ["Look right.", "Take height to 5 & more."]
needs = [["height", ">", 4]]
way = { n = 5 }
[missions.lift-lucky]
text = "A lucky seed."
hints = ["Look right.", "Take height to 5 & more."]
needs = [["seed", "==", 99, "the seed is {}"]]
way = { seed = 99 }
[missions.lift-golden]
text = "Beside NUTS."
hints = ["Look right.", "Take height to 5 & more."]
needs = [["seed", "<", 200, "the seed is too high"], ["seen", "==", true, "{{seen}} is off"],
  ["height", ">", 4]]
way = { seen = true }
"""
    )

    def __init__(self, host: Host | None = None) -> None:
        super().__init__(host)
        self.computed: list[dict[str, Any]] = []
        self.trouble: dict[int, Any] = {}  # functions by seed

    def compute(self, values: dict[str, Any]) -> float:
        self.computed.append(values)
        self.trouble.get(values["seed"], lambda: None)()
        return super().compute(values)


Lift = Explorer.of("Lift", LiftModel)


@pytest.fixture(autouse=True)
def progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Progress:
    monkeypatch.setattr(worker, "REST", worker.SHARPEN)
    saved = Progress(tmp_path / "progress.json")
    monkeypatch.setattr(record, "own", lambda: saved)
    return saved


@pytest.fixture
def lift() -> Iterator[Lift]:
    made = Lift().wait()
    yield made
    made.close()


def box(explorer: Explorer[Any]) -> Any:
    assert explorer._view._missions is not None
    return explorer._view._missions


def said(explorer: Explorer[Any], words: str) -> bool:
    until(lambda: text(box(explorer)._verdict) == words, words, seconds=10.0)
    return True


def seeds(lift: Lift) -> list[int]:
    return [values["seed"] for values in lift._worker.model.computed]


def test_mission_is_solved_once_its_condition_holds_for_three_seeds(
    lift: Lift, progress: Progress
) -> None:
    lift.mission("lift-high").set(n=5, seed=98)
    assert said(lift, "✓ Done, also with seeds 99 and 0.")
    assert lift.done == ("lift-high",)
    assert seeds(lift) == [0, 98, 99, 0]
    assert (lift.result, lift.state()["seed"]) == (5.0, 98), "the other seeds are not shown"
    assert lift.ticks == 2 and lift._worker.model.height == 5.0
    assert [name for name, _ in box(lift)._row.options] == ["1 ✓", "2", "3"]
    lift.set(n=1)
    assert said(lift, "Not yet: the height is 1.")
    lift.set(n=6)
    assert said(lift, "✓ Done, also with seeds 99 and 0.")
    assert progress.marks() == {"lift-high": SOLVED} and lift.done == ("lift-high",)


def test_condition_counts_what_is_shown_rather_than_what_the_control_would_draw() -> None:
    need = Need("n", "<=", 3, "there are {}")
    assert need.lacks({"n": 3}, {"n": 12.0}) == "there are 12" == need.lacks({"n": 12}, {})
    assert need.lacks({"n": 12}, {"n": 3.0}) is None
    assert need.lacks({}, {}) == "", "a reading that is not known yet"


def test_mission_that_holds_for_one_seed_only_is_called_luck(
    lift: Lift, progress: Progress
) -> None:
    lift.mission("lift-lucky").set(seed=99)
    lacks = "With seed 0 the seed is 0."
    assert said(lift, f"✗ It holds for seed 99, but not for seeds 0 and 1: luck. {lacks}")
    assert lift.done == () and progress.marks() == {}


def test_verdict_on_other_seeds_is_that_of_the_present_settings(
    lift: Lift, monkeypatch: pytest.MonkeyPatch
) -> None:
    def higher_with_seed_0(values: dict[str, Any]) -> float:
        return float(values["n"] + 3 * (values["seed"] == 0))

    monkeypatch.setattr(lift._worker.model, "compute", higher_with_seed_0)
    lift.mission("lift-high").set(n=2)
    lacks = "With seed 1 the height is 2."
    assert said(lift, f"✗ It holds for seed 0, but not for seeds 1 and 2: luck. {lacks}")
    lift.set(n=5)
    assert said(lift, "✓ Done, also with seeds 1 and 2.")


def test_explorer_goes_on_if_progress_cannot_be_saved(
    lift: Lift, progress: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError("full")

    monkeypatch.setattr(progress, "add", refuse)
    lift.mission("lift-high").set(n=5)
    until(lambda: 2 in seeds(lift), "the last seed")
    assert lift.set(n=3).result == 3.0


def test_fit_for_a_moved_control_runs_before_a_mission_checks_other_seeds(lift: Lift) -> None:
    begun, go_on = threading.Event(), threading.Event()
    lift._worker.model.trouble[1] = lambda: (
        begun.set(),
        go_on.wait(20.0),
    )  # computing seed 1 waits
    lift.mission("lift-high").set(n=5)
    assert begun.wait(20.0)
    lift._view.controls["n"].value = 3
    go_on.set()
    assert lift.wait().result == 3.0
    assert said(lift, "Not yet: the height is 3.")
    assert seeds(lift) == [0, 0, 1, 0] and lift.done == ()


def test_mission_check_with_other_seeds_omits_true_posterior_unless_needed(lift: Lift) -> None:
    lift.mission("lift-high").set(n=5, seen=True)
    assert said(lift, "✓ Done, also with seeds 1 and 2.")
    assert [values["seen"] for values in lift._worker.model.computed] == [False, True, False, False]
    lift.mission("lift-golden")
    assert said(lift, "✓ Done, also with seeds 1 and 2.")
    assert [values["seen"] for values in lift._worker.model.computed[4:]] == [True, True]
