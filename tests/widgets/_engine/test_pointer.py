"""Test dragging, adding and removing points, pasting tables, drawing a band, and hovering."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from bdl_teach import datasets
from bdl_teach._support.checks import Array
from bdl_teach.predictive import Predictive
from bdl_teach.problems import Problem
from bdl_teach.problems import own_points as points
from bdl_teach.problems.own_points import COURSE
from bdl_teach.widgets._engine import own_data, texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.function_panel import FunctionPanel, Panel
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.model import Model

GRID = np.linspace(-1.0, 1.0, 21)[:, None]
NOW = points.from_course(np.array([-0.5, 0.0, 0.5]), np.array([1.0, 2.0, 3.0]))
TABLE = ((10.0, 14.0, 30.0), (1.0, 2.0, 6.0))


@dataclass(frozen=True)
class Answer:
    """A prediction with mean 0 and an epistemic sd of |x − 0.3|."""

    data: datasets.Regression1D
    x_grid: Array
    prediction: Predictive


class TouchedModel(Model[Answer]):
    """An explorer whose band does not depend on its points."""

    TEXTS = texts.parse("""
title = "Points"
alt = "Points."
[controls]
n = ["count", "n", 5, [1, 9], ""]
noise_std = ["slider", "noise", 1.0, [0.5, 3.0, 0.5], ""]
seed = ["count", "seed", 0, [0, 99], ""]
data = ["points"]
[groups]
ALL = ["n", "noise_std", "seed", "my data", "ask"]
[presets]
few = ["Three of them", { n = 3 }]
[status]
line = "{points}."
""")

    def make_panels(self, canvas: Canvas) -> None:
        main, spread = canvas.main("ab").values()
        spread.set(xlim=(-1, 1), ylim=(0, 4), ylabel="epistemic sd")
        self.fit = FunctionPanel(canvas, main, "Fit", GRID, spread=spread)

    def pointer_panels(self) -> list[Panel]:
        return [self.fit]

    def compute(self, values: dict[str, Any]) -> Answer:
        data, noise_std = Problem.of(values).data, values["noise_std"]
        sd = np.abs(GRID[:, 0] - 0.3)
        return Answer(data, GRID, Predictive(np.zeros(21), sd, np.full(21, noise_std), None))

    def draw(self, result: Answer) -> None:
        self.fit.update(result, result.prediction)

    def readings(self, result: Answer) -> dict[str, float]:
        return {}


Touched = Explorer.of("Touched", TouchedModel)


@pytest.fixture
def explorer() -> Iterator[Touched]:
    made = Touched().wait()
    yield made
    made.close()


def fit_of(explorer: Touched) -> FunctionPanel:
    return explorer._worker.model.fit


def shown(explorer: Touched) -> tuple[list[float], list[float]]:
    """Return x and y of the drawn points."""
    x, y = fit_of(explorer.wait()).points.get_data()
    return list(map(float, x)), list(map(float, y))


def hand(explorer: Touched, act: str, **more: Any) -> None:
    """Send what the page sends when the pointer acts."""
    explorer._view.picture._handle_custom_msg({"act": act, **more}, [])


def press(explorer: Touched, name: str) -> None:
    explorer._view._made[name].click()
    explorer.wait()


def test_last_point_cannot_be_removed_nor_a_201st_added() -> None:
    one = points.from_course(np.zeros(1), np.zeros(1))
    assert own_data.after({"act": "remove", "i": 0}, one) is None
    full = points.from_course(np.linspace(-1, 1, 200), np.zeros(200))
    add = {"act": "add", "x": 0.0, "y": 0.0}
    assert own_data.after(add, full) is None
    assert own_data.after(add, NOW, most=3) is None, "the explorer's own limit"


def test_drag_moves_one_point_and_is_one_undo_step(explorer: Touched) -> None:
    before = shown(explorer)
    hand(explorer, "down", number=1)
    for k in range(1, 6):
        hand(explorer, "move", i=2, x=0.1 * k, y=2.0 * k, number=1 + k)
        explorer.wait()._worker.session.history.__dict__["_when"] -= 5.0  # however slow the hand
    hand(explorer, "up", number=7)
    x, y = shown(explorer)
    assert (x[2], y[2]) == (0.5, 10.0)
    assert [*x[:2], *x[3:]] == pytest.approx([*before[0][:2], *before[0][3:]], abs=1e-5)
    assert (
        explorer.status.startswith("5 points of your own") and fit_of(explorer).truth.get_visible()
    )
    assert explorer._view.picture.points["answers"] == 7
    explorer.undo()
    assert shown(explorer) == before and "data" not in explorer.state()
    explorer.redo()
    assert shown(explorer)[1][2] == 10.0


def test_own_points_stay_until_new_points_are_drawn(explorer: Touched) -> None:
    hand(explorer, "add", x=0.9, y=-3.0)
    kept = explorer.wait().state()["data"]
    explorer.set(noise_std=2.0, seed=7)
    assert explorer.state()["data"] == kept and len(shown(explorer)[0]) == 6
    explorer._view.controls["n"].value = 4
    assert "data" not in explorer.wait().state() and len(shown(explorer)[0]) == 4
    hand(explorer, "add", x=0.9, y=-3.0)
    explorer.preset("few")
    assert "data" not in explorer.state() and len(shown(explorer)[0]) == 3


def assert_labelled(axis: Any, start: float, scale: float) -> None:
    """Check that the tick labels give the places in the table's units."""
    low, high = axis.get_view_interval()
    ticks = zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True)
    values = {at: text.get_text().replace("−", "-") for at, text in ticks if low <= at <= high}
    assert len(values) >= 3
    for at, value in values.items():
        assert float(value) == pytest.approx(start + scale * at)


def test_panel_of_pasted_data_shows_table_units_and_no_true_function(explorer: Touched) -> None:
    explorer.set(data=TABLE)
    x, y = shown(explorer)
    assert (min(x), max(x)) == pytest.approx((-0.5, 0.5))
    axes, spread = explorer._worker.stage.canvas.figure.axes
    assert_labelled(axes.xaxis, 20.0, 20.0)
    assert_labelled(axes.yaxis, 3.0, np.std(TABLE[1]) / 5.0)
    assert_labelled(spread.xaxis, 20.0, 20.0)
    assert_labelled(spread.yaxis, 0.0, np.std(TABLE[1]) / 5.0)
    assert not fit_of(explorer).truth.get_visible()
    assert "true function" not in {
        t.get_text() for t in fit_of(explorer).axes.get_legend().get_texts()
    }
    explorer.reset()
    explorer.wait()
    assert fit_of(explorer).truth.get_visible() and explorer._view.picture.panels[0][
        "units"
    ] == list(COURSE)
    assert "true function" in {t.get_text() for t in fit_of(explorer).axes.get_legend().get_texts()}


@pytest.fixture
def answers(explorer: Touched, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Collect what is sent to the page."""
    sent: list[Any] = []
    monkeypatch.setattr(explorer._view.picture, "send", lambda content, *_: sent.append(content))
    return sent


def test_pasted_table_is_used_or_refused_with_a_reason(
    explorer: Touched, answers: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    hand(explorer, "table", text="1,2\n1,5\n")
    explorer.wait()
    assert answers.pop() == {"refused": "all x are 1: there is nothing to fit"}
    assert "data" not in explorer.state()
    hand(explorer, "table", text="rooms,rent\n10,1\n14,2\n30,6")
    explorer.wait()
    assert answers.pop() == {"refused": ""}
    assert explorer.wait().state()["data"][:2] == TABLE
    axes = fit_of(explorer).axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("rooms", "rent")
    explorer.undo()
    explorer.wait()
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x", "y")

    def fail(*_: Any, **__: Any) -> None:
        raise OverflowError("too large")

    monkeypatch.setattr(datasets, "read_points", fail)
    hand(explorer, "table", text="1,2\n3,4")
    explorer.wait()
    assert answers == [{"refused": "this table cannot be used: OverflowError: too large"}]


def ticks_of(axis: Any) -> list[str]:
    """Return the visible tick labels, and the axis label, which holds their offset."""
    low, high = axis.get_view_interval()
    places, words = axis.get_majorticklocs(), axis.get_ticklabels()
    seen = [w.get_text() for at, w in zip(places, words, strict=True) if low <= at <= high]
    return [*seen, axis.get_label_text()]


@pytest.mark.parametrize(
    ("x", "ticks"),
    [
        (np.arange(2018, 2024), ["2020", "2024"]),
        (np.arange(2018, 2020), ["2018", "2019"]),
        (1.7e9 + 60 * np.arange(20), ["0", "1000"]),
        (np.arange("2023-01", "2024-01", dtype="M8[M]"), ["Sep", "2023", "May"]),
    ],
)
def test_neighbouring_axis_ticks_have_different_labels(
    explorer: Touched, x: Any, ticks: list[str]
) -> None:
    explorer.set(data=(x, 1e9 * (1 + np.arange(len(x)) % 3)))
    words = ticks_of(fit_of(explorer).axes.xaxis)
    assert set(ticks) <= set(words)
    assert all(one != other for one, other in itertools.pairwise(words))
    assert fit_of(explorer).axes.yaxis.get_label_text() == "y (1e9)"


def test_ask_where_unsure_adds_a_point_where_the_epistemic_sd_is_largest(explorer: Touched) -> None:
    press(explorer, "ask")
    x, y = shown(explorer)
    assert x[-1] == -1.0  # the furthest from 0.3
    rng = np.random.default_rng([0, 5])
    assert y[-1] == pytest.approx(float(rng.standard_normal()), abs=0.01)  # here the truth is 0
    explorer.set(noise_std=2.0)
    press(explorer, "ask")
    assert shown(explorer)[0][-1] == pytest.approx(-0.9)
    truth = float(datasets.sinusoid().truth(np.array([[-0.9]])).item())
    noise = 2.0 * np.random.default_rng([0, 6]).standard_normal()
    assert shown(explorer)[1][-1] == pytest.approx(truth + noise, abs=0.01)
    assert len(shown(explorer)[0]) == 7
    explorer._view.controls["data"].most = 7
    press(explorer, "ask")
    assert len(shown(explorer)[0]) == 7, "the limit of points is reached"
    explorer.set(data=TABLE)
    press(explorer, "ask")
    assert explorer.status.startswith(
        "The function behind your points is unknown: measure y at x = "
    )
    assert len(explorer.state()["data"][0]) == 3


def test_message_about_a_missing_point_is_ignored(explorer: Touched) -> None:
    before, state = shown(explorer), explorer.state()
    hand(explorer, "move", i=99, x=0.0, y=0.0)
    hand(explorer, "remove", i=9)
    hand(explorer, "nothing")
    assert shown(explorer) == before and explorer.state() == state
