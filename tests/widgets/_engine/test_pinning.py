"""Test pin A: the picture and status line compare the present state with a pinned one."""

from collections.abc import Iterator
from typing import Any

import pytest

from bdl_teach.widgets._engine import improving
from bdl_teach.widgets._engine.live import Explorer
from tests.waiting import until
from tests.widgets._engine.toy import ToyModel, text


class SlopeModel(ToyModel):
    """A toy whose height grows by 0.5 while nobody moves a control."""

    def improve(
        self, values: dict[str, Any], result: float, *, at_rest: bool = True
    ) -> float | None:
        return None if result % 1 else result + 0.5


Slope = Explorer.of("Slope", SlopeModel)
ASKED = "A is pinned, in grey. Move something: what stayed the same?"


@pytest.fixture
def slope() -> Iterator[Slope]:
    made = Slope().wait()
    yield made
    made.close()


def ghosts(explorer: Slope) -> list[list[float]]:
    ax = explorer._worker.stage.canvas.figure.axes[0]
    return [list(a.get_ydata()) for a in ax.lines if a.get_label() == "_pinned"]


def answer(explorer: Slope) -> str:
    return text(explorer._view._pin._words)


def status(explorer: Slope) -> str:
    """Return the status line without the time that the fit took."""
    return explorer.status.partition(" · ")[0]


def test_pinned_curve_stays_grey_and_status_numbers_show_differences(slope: Slope) -> None:
    assert slope.pin() is slope
    assert [0, 2] in ghosts(slope) and status(slope) == "Height 2."
    slope.set(n=5)
    assert [0, 2] in ghosts(slope) and slope._worker.model.height == 5
    assert status(slope) == "Height 5 (+3 from grey A)."
    assert "ms" in slope.status
    assert slope._repr_mimebundle_()["text/plain"].endswith("Height 5 (+3 from grey A).")


def test_pinned_result_is_replaced_when_longer_training_improves_it(
    slope: Slope, monkeypatch: pytest.MonkeyPatch, improved_at_rest: None
) -> None:
    slope.pin()
    slope.set()
    until(lambda: status(slope) == "Height 2.5.", "an improvement")
    assert [0, 2.5] in ghosts(slope)
    monkeypatch.setattr(improving.Improver, "_better", lambda *_: iter(()))
    slope.set(n=5)
    assert status(slope) == "Height 5 (+2.5 from grey A)."
    assert status(slope.set(n=2)) == "Height 2 (−0.5 from grey A).", "not improved yet"
    assert [0, 2.5] in ghosts(slope)
    slope._view._pin._answer.value = True
    slope.wait()
    assert answer(slope).startswith("Stayed: 7 of 7 controls; ")
    assert "Changed: the height 2.5 → 2 (−0.5)" in answer(slope)


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
        assert status(made.set(n=5)) == "Height 5."
        assert answer(made) == "A and this are compared once both are trained alike."
        made.unpin()
        assert status(made.pin().set(n=6)) == "Height 6 (+1 from grey A).", "both are quick"
    assert status(made.set(n=7).settle()) == "Height 7.5 (+2 from grey A)."
    assert drawn[-3:-1] == [7.0, 5.5], "A is trained, too"
    made.close()


def test_pin_removed_just_before_a_longer_fit_is_drawn_leaves_no_curve(slope: Slope) -> None:
    pin = slope.pin()._worker.stage.pin
    slope.close()  # this thread may change it now
    pin.own()
    pin.on_pin(on=False)
    pin.note(pin.seen, better=True)
    assert ghosts(slope) == []


def test_comparison_with_pinned_state_lists_what_stayed_and_what_changed(slope: Slope) -> None:
    slope.pin()
    assert answer(slope) == ASKED
    slope._view._pin._answer.value = True
    slope.wait()
    assert answer(slope) == "Nothing has moved: this is A itself."
    slope.set(width=3.0, n=3, kind="b", seen=True)
    assert answer(slope) == (
        "Stayed: 3 of 7 controls; in the picture zero. "
        "Changed: width 1.00 → 3.00, times 2 → 3, kind Alpha → Beta, seen off → on; "
        "the height 2 → 9 (+7); in the picture bar."
    )
    slope.set(width=1.0, kind="a", seen=False, n=5)
    assert answer(slope).startswith("Stayed: 6 of 7 controls; ")
    assert "times 2 → 5; the height 2 → 5" in answer(slope)
    slope._view._pin._answer.value = False
    slope.wait()
    assert answer(slope) == ASKED
