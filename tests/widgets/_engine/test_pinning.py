"""Test pin A: the picture and the table compare the present state with a pinned one."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from bdl_teach.widgets._engine import improving
from bdl_teach.widgets._engine.live import Explorer
from tests.waiting import until
from tests.widgets._engine.toy import ToyModel


class SlopeModel(ToyModel):
    """A toy whose height grows by 0.5 while nobody moves a control."""

    def improve(
        self, values: dict[str, Any], result: float, *, at_rest: bool = True
    ) -> float | None:
        return None if result % 1 else result + 0.5


Slope = Explorer.of("Slope", SlopeModel)


@pytest.fixture
def slope() -> Iterator[Slope]:
    made = Slope().wait()
    yield made
    made.close()


def ghosts(explorer: Slope) -> list[list[float]]:
    ax = explorer._worker.stage.canvas.figure.axes[0]
    return [list(a.get_ydata()) for a in ax.lines if a.get_label() == "_pinned"]


def row(explorer: Slope) -> list[str]:
    """Return the cells of the table's only row."""
    return re.findall(r"<td>(.*?)</td>", explorer._worker.stage.table())


def test_pinned_curve_stays_grey_and_the_table_has_its_column(slope: Slope) -> None:
    assert row(slope) == ["2"]
    assert slope.pin() is slope
    assert [0, 2] in ghosts(slope)
    slope.set(n=5)
    assert [0, 2] in ghosts(slope) and slope._worker.model.height == 5
    assert row(slope) == ["5", "2"]
    assert slope.status == "Height 5."
    assert row(slope.unpin()) == ["5"]


def test_pinned_result_is_replaced_when_longer_training_improves_it(
    slope: Slope, monkeypatch: pytest.MonkeyPatch, improved_at_rest: None
) -> None:
    slope.pin()
    slope.set()
    until(lambda: slope.status == "Height 2.5.", "an improvement")
    assert [0, 2.5] in ghosts(slope)
    monkeypatch.setattr(improving.Improver, "_better", lambda *_: iter(()))
    assert row(slope.set(n=5)) == ["5", "2.5"]
    assert row(slope.set(n=2)) == ["2", "2.5"], "not improved yet"


def test_improvement_of_other_settings_leaves_a_as_it_was(
    slope: Slope, improved_at_rest: None
) -> None:
    slope.pin().set(n=5)
    until(lambda: slope.status == "Height 5.5.", "an improvement")
    assert [0, 5.5] not in ghosts(slope) and row(slope)[1] in ("2", "2.5")


class Height(float):
    """A height that is to be improved at rest."""

    trained = False


class GrownModel(SlopeModel):
    """A slope whose quick result is not trained, and grows in two steps, of which one is shown."""

    def compute(self, values: dict[str, Any]) -> float:
        return Height(super().compute(values))

    def improve(
        self, values: dict[str, Any], result: float, *, at_rest: bool = True
    ) -> float | None:
        if not isinstance(result, Height):
            return None
        return result + 0.25 if result % 1 else Height(result + 0.25)


def test_results_are_compared_with_a_only_if_both_are_trained(
    improved_at_rest: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[float] = []
    monkeypatch.setattr(GrownModel, "draw", lambda self, height: drawn.append(float(height)))
    made = Explorer.of("Grown", GrownModel)().settle().pin()
    assert drawn[-1] == 2.5 and 2.25 not in drawn
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(improving.Improver, "_better", lambda *_: iter(()))
        assert row(made.set(n=5)) == ["5"], "a quick one is not compared with a trained one"
        made.unpin()
        assert row(made.pin().set(n=6)) == ["6", "5"], "both are quick"
    assert row(made.set(n=7).settle()) == ["7.5", "5.5"]
    assert drawn[-3:-1] == [7.0, 5.5], "A is trained, too"
    made.close()


def test_pin_removed_just_before_a_longer_fit_is_drawn_leaves_no_curve(slope: Slope) -> None:
    pin = slope.pin()._worker.stage.pin
    slope.close()  # this thread may change it now
    pin.own()
    pin.on_pin(on=False)
    pin.note(pin.seen, better=True)
    assert ghosts(slope) == []
