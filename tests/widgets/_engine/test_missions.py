"""Missions in a small explorer: done for three seeds, told as luck for one, counted once."""

from __future__ import annotations

import html
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bdl_teach import progress as record
from bdl_teach.progress import SOLVED, Progress
from bdl_teach.widgets._engine import texts, worker
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from tests.waiting import until


class Lift(Explorer[float]):
    """As high as its control; other seeds can be held up, fail, or be unknown."""

    TEXTS = texts.parse("""
title = "A lift"
alt = "A line."
stays = ["nuts"]
[controls]
height = ["count", "height", 1, [0, 9], ""]
seed = ["count", "seed", 0, [0, 99], ""]
nuts = ["toggle", "NUTS", false, [], ""]
[groups]
ALL = ["height", "seed", "nuts"]
[missions.lift-high]
text = "Above 4."
hints = ["Look right.", "Take height to 5 & more."]
needs = [["up", ">", 4]]
way = { height = 5 }
[missions.lift-lucky]
text = "A lucky seed."
hints = ["Look right.", "Take height to 5 & more."]
needs = [["seed", "==", 99, "the seed is {}"]]
way = { seed = 99 }
[missions.lift-broken]
text = "No number."
hints = ["Look right.", "Take height to 5 & more."]
needs = [["up", ">", "nothing"]]
way = {}
[missions.lift-golden]
text = "Beside NUTS."
hints = ["Look right.", "Take height to 5 & more."]
needs = [["seed", "<", 200, "the seed is too high"], ["nuts", "==", true, "{{nuts}} is off"],
  ["up", ">", 4], ["up", ">", 3, "and not even above 3"]]
way = { nuts = true }
[readings]
up = "the height"
[status]
line = "Height {up:.1f}."
""")

    def _make_controls(self) -> dict[str, Any]:
        self.computed: list[dict[str, Any]] = []
        self.trouble: dict[int, Any] = {}  # by seed: what computing it does
        return super()._make_controls()

    def _make_canvas(self) -> Canvas:
        canvas = Canvas(300, 200)
        (self._line,) = canvas.figure.add_subplot().plot([0, 1], [0, 0])
        canvas.animate([self._line])
        return canvas

    def _compute(self, values: dict[str, Any]) -> float:
        self.computed.append(values)
        self.trouble.get(values["seed"], lambda: None)()
        return float(values["height"])

    def _draw(self, result: float) -> None:
        self._line.set_ydata([0, result])

    def _readings(self, result: float) -> dict[str, float]:
        return {"up": result}


@pytest.fixture(autouse=True)
def progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Progress:
    monkeypatch.setattr(worker, "REST", worker.SHARPEN)
    kept = Progress(tmp_path / "progress.json")
    monkeypatch.setattr(record, "own", lambda: kept)
    return kept


@pytest.fixture
def lift() -> Iterator[Lift]:
    made = Lift().wait()
    yield made
    made.close()


def box(explorer: Explorer[Any]) -> Any:
    assert explorer._missions is not None
    return explorer._missions


def text(widget: Any) -> str:
    return html.unescape(re.sub(r"<[^>]*>", "", widget.value))


def said(explorer: Explorer[Any], words: str) -> bool:
    until(lambda: text(box(explorer)._verdict) == words, words, seconds=10.0)
    return True


def seeds(lift: Lift) -> list[int]:
    return [values["seed"] for values in lift.computed]


def test_it_is_done_when_it_holds_for_the_next_two_seeds_as_well(lift: Lift) -> None:
    lift.mission("lift-high").set(height=5, seed=98)
    assert said(lift, "✓ Done, also with seeds 99 and 0.")
    assert lift.done == ("lift-high",)
    assert seeds(lift) == [0, 98, 99, 0]
    assert (lift.result, lift.state()["seed"]) == (5.0, 98), "nothing of theirs is shown"
    assert lift.ticks == 2 and lift._line.get_ydata()[1] == 5.0
    assert [name for name, _ in box(lift)._row.options] == ["1 ✓", "2", "3", "4"]
    assert box(lift).chosen is Lift.MISSIONS[0]


def test_what_holds_for_one_seed_alone_is_luck(lift: Lift, progress: Progress) -> None:
    lift.mission("lift-lucky").set(seed=99)
    it_lacks = "With seed 0 the seed is 0."
    assert said(lift, f"✗ It holds for seed 99, but not for seeds 0 and 1: luck. {it_lacks}")
    assert lift.done == () and progress.marks() == {}


def test_progress_that_cannot_be_kept_costs_no_picture(
    lift: Lift, progress: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> None:
        raise OSError("full")

    monkeypatch.setattr(progress, "add", refuse)
    lift.mission("lift-high").set(height=5)
    until(lambda: 2 in seeds(lift), "the last seed")
    assert lift.set(height=3).result == 3.0


def test_a_mission_that_is_done_is_counted_once(
    lift: Lift, progress: Progress, monkeypatch: pytest.MonkeyPatch
) -> None:
    added: list[tuple[str, str]] = []
    add = progress.add
    monkeypatch.setattr(progress, "add", lambda *it: (added.append(it), add(*it)))
    lift.mission("lift-high").set(height=5)
    assert said(lift, "✓ Done, also with seeds 1 and 2.")
    lift.set(height=1)
    assert said(lift, "Not yet: the height is 1.")
    lift.set(height=6)
    assert said(lift, "✓ Done, also with seeds 1 and 2.")
    assert added == [("lift-high", SOLVED)]


def hold_up(lift: Lift, seed: int = 1) -> tuple[threading.Event, threading.Event]:
    """Have a seed wait: (it has begun, it may go on)."""
    begun, go_on = threading.Event(), threading.Event()

    def wait() -> None:
        begun.set()
        assert go_on.wait(20.0)

    lift.trouble[seed] = wait
    return begun, go_on


def test_a_movement_comes_before_the_next_seed(lift: Lift) -> None:
    begun, go_on = hold_up(lift)
    lift.mission("lift-high").set(height=5)
    assert begun.wait(20.0)
    lift._controls["height"].value = 3
    go_on.set()
    assert lift.wait().result == 3.0
    assert said(lift, "Not yet: the height is 3.")
    assert seeds(lift) == [0, 0, 1, 0] and lift.done == ()


def test_other_seeds_go_without_nuts_unless_the_mission_s_way_has_it(lift: Lift) -> None:
    lift.mission("lift-high").set(height=5, nuts=True)
    assert said(lift, "✓ Done, also with seeds 1 and 2.")
    assert [values["nuts"] for values in lift.computed] == [False, True, False, False]
    lift.mission("lift-golden")
    assert said(lift, "✓ Done, also with seeds 1 and 2.")
    assert [values["nuts"] for values in lift.computed[4:]] == [True, True]
