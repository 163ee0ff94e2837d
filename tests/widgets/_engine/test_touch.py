"""A hand on the points: what each movement makes of them, and what the page is told."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.predictive import Predictive
from bdl_teach.widgets._engine import controls, points, sketch, touch
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.points import COURSE, Points

GRID = np.linspace(-1.0, 1.0, 21)[:, None]
NOW = points.from_course(np.array([-0.5, 0.0, 0.5]), np.array([1.0, 2.0, 3.0]))
TABLE = ((10.0, 14.0, 30.0), (1.0, 2.0, 6.0))


@dataclass(frozen=True)
class Answer:
    """A mean of 0, less sure further from x = 0.3."""

    data: datasets.Regression1D
    x_grid: Array
    prediction: Predictive


class Touched(Explorer[Answer]):
    """Points, and a band that knows nothing of them."""

    ALT = "Points."
    TITLE = "Points"
    PRESETS = {"few": ("Three of them", {"n": 3, "noise_std": 1.0, "seed": 0})}  # noqa: RUF012

    def _make_controls(self) -> dict[str, Any]:
        return {
            "n": controls.count_slider("n", 5, 1, 9, ""),
            "noise_std": controls.slider("noise", 1.0, 0.5, 3.0, 0.5, ""),
            "seed": controls.count_slider("seed", 0, 0, 99, ""),
            "data": Points(),
        }

    def _make_groups(self) -> dict[str, list[Any]]:
        c = self._controls
        return {"ALL": [c["n"], c["noise_std"], c["seed"], *self._hand_buttons()]}

    def _make_canvas(self) -> Canvas:
        canvas = Canvas(300, 200)
        truth = datasets.sinusoid().truth(GRID)
        self.fit = plots.FitArtists(canvas.figure.add_subplot(), "Fit", GRID, truth)
        canvas.animate(self.fit.artists)
        return canvas

    def _touch_panels(self) -> list[touch.Panel]:
        return [touch.of_fit(self.fit)]

    def _compute(self, values: dict[str, Any]) -> Answer:
        n, noise_std, seed = values["n"], values["noise_std"], values["seed"]
        data = points.chosen(
            values.get("data"), noise_std, lambda: datasets.sinusoid(n, noise_std, seed)
        )
        sd = np.abs(GRID[:, 0] - 0.3)
        return Answer(data, GRID, Predictive(np.zeros(21), sd, np.full(21, noise_std), None))

    def _draw(self, result: Answer) -> None:
        if self.fit.update(result.data, result.prediction):
            self._canvas.redraw_background()

    def _describe(self, result: Answer) -> str:
        return f"{points.count(result.data)}."


@pytest.fixture
def explorer() -> Iterator[Touched]:
    made = Touched().wait()
    yield made
    made.close()


def shown(explorer: Touched) -> tuple[list[float], list[float]]:
    """The points as the picture draws them."""
    x, y = explorer.wait().fit._points.get_data()
    return list(map(float, x)), list(map(float, y))


def hand(explorer: Touched, act: str, **more: Any) -> None:
    """What the page sends."""
    explorer._picture._handle_custom_msg({"touch": act, **more}, [])


# What a movement makes of the points


def test_a_point_goes_where_the_hand_takes_it_and_the_others_stay() -> None:
    after = touch.after({"touch": "move", "i": 1, "x": 0.25, "y": -4.0}, NOW)
    assert after == ((-0.5, 0.25, 0.5), (1.0, -4.0, 3.0), COURSE)


def test_a_new_point_comes_last_and_a_point_that_is_taken_away_is_gone() -> None:
    after = touch.after({"touch": "add", "x": 0.1, "y": 7.0}, NOW)
    assert after == ((-0.5, 0.0, 0.5, 0.1), (1.0, 2.0, 3.0, 7.0), COURSE)
    after = touch.after({"touch": "remove", "i": 0}, NOW)
    assert after == ((0.0, 0.5), (2.0, 3.0), COURSE)


def test_a_hand_moves_points_of_a_table_in_the_table_s_units() -> None:
    table = Points.normal(TABLE)
    assert table is not None
    after = touch.after({"touch": "move", "i": 1, "x": 0.5, "y": 0.0}, table)
    assert after == ((10.0, 30.0, 30.0), (1.0, 3.0, 6.0), table[2])


@pytest.mark.parametrize(
    "did",
    [
        {"touch": "move", "i": 3, "x": 0.0, "y": 0.0},
        {"touch": "move", "i": -1, "x": 0.0, "y": 0.0},
        {"touch": "move", "i": 0, "x": float("nan"), "y": 0.0},
        {"touch": "move", "i": None, "x": 0.0, "y": 0.0},
        {"touch": "move", "i": float("inf"), "x": 0.0, "y": 0.0},
        {"touch": "add", "x": float("inf"), "y": 0.0},
        {"touch": "add", "x": "far", "y": 0.0},
        {"touch": "remove", "i": 9},
        {"touch": "fold", "i": 0},
        {},
    ],
)
def test_what_cannot_be_done_changes_nothing(did: dict[str, Any]) -> None:
    assert touch.after(did, NOW) is None


def test_the_last_point_stays_and_there_is_room_for_200() -> None:
    one = points.from_course(np.zeros(1), np.zeros(1))
    assert touch.after({"touch": "remove", "i": 0}, one) is None
    full = points.from_course(np.linspace(-1, 1, 200), np.zeros(200))
    add = {"touch": "add", "x": 0.0, "y": 0.0}
    assert touch.after(add, full) is None
    assert touch.after(add, NOW, most=3) is None, "or for as many as the explorer says"
    assert touch.after(add, NOW, most=4) is not None


def test_the_least_sure_place_is_not_where_a_point_is() -> None:
    x, spread = np.array([-1.0, 0.0, 1.0]), np.array([3.0, 1.0, 2.0])
    assert touch.least_sure(x, spread, np.array([])) == -1.0
    assert touch.least_sure(x, spread, np.array([-1.01])) == 1.0


# In an explorer


def test_the_page_is_told_where_panel_and_points_are(explorer: Touched) -> None:
    (panel,) = explorer._picture.panels
    box = explorer.fit.axes.get_position()
    assert panel["left"] == pytest.approx(box.x0, abs=1e-4)
    assert panel["top"] == pytest.approx(1 - box.y1, abs=1e-4)
    assert panel["width"] == pytest.approx(box.width, abs=1e-4)
    assert panel["height"] == pytest.approx(box.height, abs=1e-4)
    assert panel["x"] == [-1.0, 1.0] and panel["y"] == list(explorer.fit.axes.get_ylim())
    assert panel["kind"] == "points" and panel["units"] == list(COURSE)
    x, y = shown(explorer)
    assert explorer._picture.points["at"] == [
        pytest.approx(pair, abs=1e-3) for pair in zip(x, y, strict=True)
    ]


def test_a_drag_moves_one_point_and_is_undone_at_once(explorer: Touched) -> None:
    before = shown(explorer)
    hand(explorer, "down", number=1)
    for k in range(1, 6):
        hand(explorer, "move", i=2, x=0.1 * k, y=2.0 * k, number=1 + k)
        explorer._past._when -= 5.0  # however slow the hand
    hand(explorer, "up", number=7)
    x, y = shown(explorer)
    assert (x[2], y[2]) == (0.5, 10.0)
    assert [*x[:2], *x[3:]] == pytest.approx([*before[0][:2], *before[0][3:]], abs=1e-5)
    assert explorer.status.startswith("5 points of your own")
    assert explorer._picture.points["answers"] == 7
    explorer.undo()
    assert shown(explorer) == before and "data" not in explorer.state()
    explorer.redo()
    assert shown(explorer)[1][2] == 10.0


def test_points_come_and_go_and_each_is_a_movement_of_its_own(explorer: Touched) -> None:
    hand(explorer, "add", x=0.9, y=-3.0)
    hand(explorer, "add", x=-0.9, y=3.0)
    assert shown(explorer)[0][-2:] == [0.9, -0.9]
    hand(explorer, "remove", i=5)
    assert shown(explorer)[0][-1] == -0.9
    for n in (7, 6, 5):
        explorer.undo()
        assert len(shown(explorer)[0]) == n
    assert "data" not in explorer.state()


def test_the_height_stays_while_a_point_is_held(explorer: Touched) -> None:
    hand(explorer, "down")
    explorer.set(noise_std=3.0)
    explorer._touched[0].room.hold({"band": [90.0]})
    assert explorer.fit.axes.get_ylim() == (-25.0, 25.0)
    hand(explorer, "up")
    explorer._touched[0].room.hold({"band": [90.0]})
    assert explorer.fit.axes.get_ylim() == (-100.0, 100.0)


def test_own_points_stay_until_points_are_drawn_anew(explorer: Touched) -> None:
    hand(explorer, "add", x=0.9, y=-3.0)
    kept = explorer.wait().state()["data"]
    explorer.set(noise_std=2.0, seed=7)
    assert explorer.state()["data"] == kept and len(shown(explorer)[0]) == 6
    explorer._controls["n"].value = 4  # a slider that says how many are drawn
    assert "data" not in explorer.wait().state() and len(shown(explorer)[0]) == 4
    hand(explorer, "add", x=0.9, y=-3.0)
    explorer.set(n=3)
    assert "data" not in explorer.state()
    hand(explorer, "add", x=0.9, y=-3.0)
    explorer._resample()
    assert "data" not in explorer.wait().state() and explorer.state()["seed"] == 8
    hand(explorer, "add", x=0.9, y=-3.0)
    explorer.preset("few")
    assert "data" not in explorer.state() and len(shown(explorer)[0]) == 3


def test_the_line_that_is_shared_rebuilds_own_points(explorer: Touched) -> None:
    explorer.set(data=TABLE)
    hand(explorer, "move", i=0, x=0.123, y=-1.0)
    state = explorer.wait().state()
    call = explorer.code().removeprefix("widgets.")
    explorer.close()
    rebuilt = eval(call, {"Touched": Touched}).wait()
    assert rebuilt.state() == state
    rebuilt.close()


def assert_labelled(axis: Any, start: float, scale: float, round_to: float) -> None:
    """Ticks stand where the table's units say, at round numbers of these, all over the panel."""
    low, high = axis.get_view_interval()
    ticks = dict(zip(axis.get_majorticklocs(), axis.get_ticklabels(), strict=True))
    values = {at: float(text.get_text()) for at, text in ticks.items() if low <= at <= high}
    assert len(values) >= 3
    for at, value in values.items():
        assert value == pytest.approx(start + scale * at)
        assert value / round_to == pytest.approx(round(value / round_to))


def test_a_table_s_axes_keep_its_units_and_its_panel_shows_no_truth(explorer: Touched) -> None:
    explorer.set(data=TABLE)
    x, y = shown(explorer)
    assert (min(x), max(x)) == pytest.approx((-0.5, 0.5))
    assert_labelled(explorer.fit.axes.xaxis, 20.0, 20.0, 5.0)
    assert_labelled(explorer.fit.axes.yaxis, 3.0, np.std(TABLE[1]) / 5.0, 2.5)
    explorer.set(data=((-30.0, 0.0, 30.0), (1.0, 2.0, 6.0)))
    assert_labelled(explorer.fit.axes.xaxis, 0.0, 60.0, 20.0)
    explorer.set(data=TABLE)
    assert not explorer.fit.truth.get_visible()
    assert "truth" not in {t.get_text() for t in explorer.fit.axes.get_legend().get_texts()}
    explorer.reset()
    explorer.wait()
    assert explorer.fit.truth.get_visible() and explorer._picture.panels[0]["units"] == list(COURSE)
    assert "truth" in {t.get_text() for t in explorer.fit.axes.get_legend().get_texts()}


def test_a_panel_of_weights_keeps_its_units_beside_a_table() -> None:
    panel = touch.Panel(Canvas(300, 200).figure.add_subplot(), kind="seen")
    table = points.chosen(Points.normal(TABLE), 1.0, datasets.sinusoid)
    assert points.units_of(table) != COURSE
    before = [label.get_text() for label in panel.axes.get_xticklabels()]
    assert not panel.label(table) and panel.place()["units"] == list(COURSE)
    assert [label.get_text() for label in panel.axes.get_xticklabels()] == before


def test_a_panel_says_how_many_points_it_takes_and_gets_no_legend_if_it_has_none() -> None:
    axes = Canvas(300, 200).figure.add_subplot()
    (truth,) = axes.plot([0, 1], [0, 1], label="truth")
    panel = touch.Panel(axes, truth=truth, columns=0, most=7)
    assert panel.place()["most"] == 7
    assert panel.label(points.chosen(Points.normal(TABLE), 1.0, datasets.sinusoid))
    assert axes.get_legend() is None and not truth.get_visible()


def test_a_pasted_table_is_taken_or_refused_in_the_page(
    explorer: Touched, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[Any] = []
    monkeypatch.setattr(explorer._picture, "send", lambda content, *_: sent.append(content))
    hand(explorer, "table", text="1,2\n3\n")
    assert sent.pop() == {"refused": "line 2: expected two columns, x and y, got 1: 3"}
    assert "data" not in explorer.state()
    hand(explorer, "table", text="1,2\n1,5\n")
    assert sent.pop() == {"refused": "expected x that differ, got 2 × 1.0"}
    hand(explorer, "table", text="10,1\n14,2\n30,6")
    assert sent.pop() == {"refused": ""}
    assert explorer.state()["data"][:2] == TABLE


def test_a_refused_value_leaves_everything_where_it_was(explorer: Touched) -> None:
    state = explorer.state()
    with pytest.raises(ValueError, match="data: expected as many x as y"):
        explorer.set(n=3, data=((1.0, 2.0), (1.0,)))
    assert explorer.state() == state


def test_a_point_is_asked_for_where_the_model_is_least_sure(explorer: Touched) -> None:
    explorer._ask_for_point()
    x, y = shown(explorer)
    assert x[-1] == -1.0  # the furthest from 0.3
    rng = np.random.default_rng([0, 5])
    assert y[-1] == pytest.approx(float(rng.standard_normal()), abs=0.01)  # the truth is 0 there
    explorer._controls["noise_std"].value = 2.0
    explorer.wait()._ask_for_point()
    assert shown(explorer)[0][-1] == pytest.approx(-0.9)
    truth = float(datasets.sinusoid().truth(np.array([[-0.9]])).item())
    noise = 2.0 * np.random.default_rng([0, 6]).standard_normal()
    assert shown(explorer)[1][-1] == pytest.approx(truth + noise, abs=0.01)
    assert len(shown(explorer)[0]) == 7
    explorer._controls["data"].most = 7
    explorer._ask_for_point()
    assert len(shown(explorer)[0]) == 7, "there is no room for more"


def test_a_table_cannot_be_asked(explorer: Touched) -> None:
    explorer.set(data=TABLE)
    explorer._ask_for_point()
    assert explorer.status == "A table cannot answer: measure y at x = 0."
    assert len(explorer.state()["data"][0]) == 3


def test_what_a_page_sends_that_makes_no_sense_is_left_alone(explorer: Touched) -> None:
    before, state = shown(explorer), explorer.state()
    for more in ({"i": 99, "x": 0.0, "y": 0.0}, {"i": 0}, {"i": "0", "x": None}):
        hand(explorer, "move", **more)
    hand(explorer, "nothing")
    assert shown(explorer) == before and explorer.state() == state


# Drawing the band first


class Drawn(Touched):
    """The same, with a band that can be drawn."""

    def _make_groups(self) -> dict[str, list[Any]]:
        return {**super()._make_groups(), "SHOW": [self._draw_button()]}

    def _touch_panels(self) -> list[touch.Panel]:
        return [replace(touch.of_fit(self.fit), stays=(self.fit._points, self.fit.truth))]


@pytest.fixture
def drawn() -> Iterator[Drawn]:
    made = Drawn().wait()
    yield made
    made.close()


def seen(explorer: Drawn) -> set[str]:
    """Labels of what is to be seen."""
    explorer.wait()
    shown = [a.get_label() for a in explorer._canvas.moving if a.get_visible()]
    return {str(label) for label in shown if not str(label).startswith("_")}


def test_while_the_band_is_drawn_nothing_gives_it_away(drawn: Drawn) -> None:
    everything = seen(drawn)
    assert {"mean", "±2 sd total", "±2 sd epistemic", "truth", "data"} <= everything
    drawn._drawn.click()
    assert seen(drawn) == {"truth", "data"}
    assert drawn.status == sketch.ASKS and drawn._drawn.description == "show the fit"
    drawn.set(noise_std=2.0)  # a tick does not show it either
    assert seen(drawn) == {"truth", "data"} and drawn.status.startswith(sketch.ASKS)
    hand(drawn, "hover", panel=0, x=0.0, y=0.0)
    drawn._drawn.click()
    assert seen(drawn) == everything
    assert re.match(r"your band and this one share \d+%, .*; 5 points\.", drawn.status)
    drawn._drawn.click()
    assert drawn.status.startswith("5 points.") and drawn._drawn.description == "draw it"


@pytest.mark.parametrize("clicks", [1, 2])
def test_reset_takes_a_drawing_away(drawn: Drawn, clicks: int) -> None:
    everything = seen(drawn)
    for _ in range(clicks):
        drawn._drawn.click()
    drawn.reset()
    assert seen(drawn) == everything
    assert drawn.status.startswith("5 points.") and drawn._drawn.description == "draw it"
    assert "kind" not in drawn._picture.points, "no edges"


def test_a_pinned_state_does_not_give_the_band_away(drawn: Drawn) -> None:
    drawn.pin()
    assert drawn.wait()._pin.toggle.value
    drawn._drawn.click()
    assert not drawn.wait()._pin.toggle.value
    assert not any("grey" in t.get_text() for t in drawn._canvas.figure.texts if t.get_visible())


def test_the_hand_moves_edges_up_and_down_and_no_point_while_it_draws(drawn: Drawn) -> None:
    drawn._drawn.click()
    before = drawn._picture.points
    assert before["kind"] == "edges" and len(before["at"]) == 14
    ticks = drawn.ticks
    hand(drawn, "down")
    hand(drawn, "move", i=10, x=0.9, y=8.0, number=4)
    hand(drawn, "move", i=0, x=0.0, y=float("nan"))
    hand(drawn, "add", x=0.0, y=1.0)
    hand(drawn, "remove", i=0)
    hand(drawn, "up")
    after = drawn.wait()._picture.points
    assert [
        k for k, (a, b) in enumerate(zip(before["at"], after["at"], strict=True)) if a != b
    ] == [10]
    assert after["at"][10] == [before["at"][10][0], 8.0] and after["answers"] == 4
    assert "data" not in drawn.state() and drawn.ticks == ticks
    drawn._drawn.click()
    assert drawn._picture.points["at"] == [
        pytest.approx(p, abs=1e-3) for p in zip(*shown(drawn), strict=True)
    ]


def test_the_drawn_band_is_scored_against_mean_and_two_epistemic_sd(drawn: Drawn) -> None:
    drawn._drawn.click()
    for side in (-1, 1):
        for k, (x, _) in enumerate(drawn._sketch.handles()[:7]):
            hand(drawn, "move", i=k + 7 * (side > 0), y=side * 2 * abs(x - 0.3))
    drawn._drawn.click()
    share = int(re.findall(r"share (\d+)%", drawn.status)[0])
    assert share >= 97, "but for the kink between two places"


def test_a_drawn_band_goes_when_the_points_come_in_other_units(drawn: Drawn) -> None:
    drawn._drawn.click()
    drawn._drawn.click()
    assert drawn.wait()._drawn.description == "clear" and "your band" in drawn.status
    drawn.set(data=([2000.0, 2010.0, 2020.0], [1.0, 5.0, 2.0]))
    assert drawn._drawn.description == "draw it" and "your band" not in drawn.status
    assert drawn._sketch is not None and not drawn._sketch.stage


def test_a_pinned_state_goes_when_the_points_come_in_other_units(explorer: Touched) -> None:
    explorer.pin().set(n=4)
    assert explorer.wait()._pin.toggle.value
    explorer.set(data=TABLE)
    assert not explorer.wait()._pin.toggle.value


# Pointing at something


class Pointed(Touched):
    """A panel that says on which side of 0 a hand points."""

    marked: str | None = None

    def _linked(self, result: Answer, panel: int, x: float, y: float) -> object:
        return None if x == 0 else "right" if x > 0 else "left"

    def _mark(self, result: Answer, linked: Any) -> None:
        self.marked = linked


def test_what_is_pointed_at_is_marked_without_a_refit_and_a_tick_forgets_it() -> None:
    made = Pointed().wait()
    ticks = made.ticks
    for x, marked in ((0.3, "right"), (-0.2, "left"), (0.0, None), (0.1, "right")):
        hand(made, "hover", panel=0, x=x, y=0.0)
        assert made.wait().marked == marked and made.ticks == ticks
    hand(made, "hover", panel=-1)
    assert made.wait().marked is None
    hand(made, "hover", panel=0, x=1.0, y=0.0)
    made.set(noise_std=2.0)
    assert made.marked is None
    made.close()
