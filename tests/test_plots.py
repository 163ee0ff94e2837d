"""Limits of a panel, and curves drawn over others."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from explorer_claims import line
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from bdl_teach import plots
from bdl_teach.predictive import Predictive

MARKS = json.loads(Path(plots.__file__).with_name("marks.json").read_text("utf-8"))
NAMES = [mark.pop("name") for mark in MARKS]


@pytest.fixture
def ax() -> Axes:
    return Figure().subplots()


def test_panel_of_fixed_height_stays_so_and_names_curves_that_leave_it(ax: Axes) -> None:
    room = plots.Room(ax, (10.0, 20.0, 40.0))
    assert not room.held
    room.held = True
    assert not room.hold({"mean": [15.0, 0.0], "band": [-16.0, 16.0]}, at_least=30.0)
    assert ax.get_ylim() == (-10.0, 10.0)
    assert [one.get_text() for one in ax.texts] == ["▲ above: mean, band", "▼ below: band"]
    room.held = False
    assert room.hold({"mean": [15.0]})
    room.held = True
    assert not room.hold({"mean": [1.0]})
    assert ax.get_ylim() == (-20.0, 20.0)
    assert [one.get_text() for one in ax.texts] == ["", ""]


def test_panel_limits_include_true_posterior_and_curves(ax: Axes) -> None:
    room = plots.Room(ax, (10.0, 20.0, 40.0))
    nuts = Predictive(np.full(2, 9.0), np.full(2, 2.0), np.ones(2), None)  # up to 13
    assert room.hold({"mean": [1.0]}, nuts=nuts)
    assert ax.get_ylim() == (-20.0, 20.0)
    assert room.hold({"mean": [30.0]}, nuts=nuts)
    assert ax.get_ylim() == (-40.0, 40.0)
    assert room.hold({}), "without curves, the first step"
    assert ax.get_ylim() == (-10.0, 10.0)


def test_axis_of_sds_shrinks_only_when_no_hand_holds_it(ax: Axes) -> None:
    panel = plots.SpreadPanel(ax, np.array([[0.0], [1.0]]), {"fit": ("-", "red")})
    large, small = (Predictive(np.zeros(2), np.full(2, sd), np.ones(2)) for sd in (3.0, 0.5))
    assert panel.update({"fit": large}) and not panel.update({"fit": small}, held=True)
    assert ax.get_ylim() == (0.0, 4.0)
    assert panel.update({"fit": small}) and ax.get_ylim() == (0.0, 1.0)


def test_overlay_shows_mean_and_epistemic_band_and_can_be_hidden(ax: Axes) -> None:
    x = np.linspace(-1.0, 2.0, 7)
    overlay = plots.OverlayArtists(ax, x, "NUTS")
    assert [a.get_visible() for a in overlay.artists] == [False] * 3
    for prediction in (Predictive(x, x**2, np.ones(7)), Predictive(-x, 1 + x**2, np.ones(7))):
        changed = overlay.show(prediction)
        assert changed == (prediction.mean[0] == x[0]), "hidden before: the legend must change"
        assert [a.get_visible() for a in overlay.artists] == [True] * 3
        np.testing.assert_array_equal(line(ax, "NUTS"), [x, prediction.mean])
        low, high = (a.get_ydata() for a in overlay.artists if a.get_linestyle() == "-.")
        np.testing.assert_allclose(high - low, 4 * prediction.epistemic_std)
    assert overlay.show(None)
    assert not overlay.show(None)
    assert [a.get_visible() for a in overlay.artists] == [False] * 3


def test_legends_have_the_words_styles_and_order_of_the_list(ax: Axes) -> None:
    x = np.linspace(-1.0, 1.0, 5)
    plots.draw_truth(ax, x, x)
    plots.OverlayArtists(ax, x, plots.POSTERIOR)
    plots.FunctionArtists(ax, x, MARKS[NAMES.index("prior")]["label"])
    plots.PredictiveArtists(ax, x, n_functions=2)
    plots.draw_data(ax, x, x)
    plots.HistoryPanel(ax)
    plots.panel(ax, "", "", "")
    drawn = {str(artist.get_label()): artist for artist in ax.get_legend_handles_labels()[0]}
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [m["label"] for m in MARKS]
    for mark in MARKS:
        artist: Any = drawn[mark["label"]]
        if isinstance(artist, Line2D):
            assert {key: getattr(artist, f"get_{key}")() for key in mark} == mark
        else:
            assert to_hex(artist.get_edgecolor()[0]) == mark["color"].lower()
            assert artist.get_alpha() == mark.get("alpha")


def test_forest_has_a_row_for_each_name_with_its_worlds_and_their_middle(ax: Axes) -> None:
    values = [1.0, 2.0, 6.0]
    plots.draw_forest(ax, {"first": values, "second": [-1.0]})
    assert [label.get_text() for label in ax.get_yticklabels()] == ["first", "second"]
    assert ax.get_ylim() == (1.5, -0.5), "the first at the top"
    zero, worlds, bar, middle, one = ax.lines
    assert set(zero.get_xdata()) == {0}
    np.testing.assert_array_equal(worlds.get_xdata(), values)
    half = 2 * np.std(values, ddof=1) / np.sqrt(3)
    np.testing.assert_allclose(bar.get_xdata(), [3 - half, 3 + half])
    assert (middle.get_xdata().tolist(), middle.get_ydata().tolist()) == ([3.0], [0])
    assert (one.get_xdata().tolist(), one.get_ydata().tolist()) == ([-1.0], [1.0])


def test_forest_takes_another_middle(ax: Axes) -> None:
    plots.draw_forest(ax, {"a": [0.0, 1.0, 8.0]}, lambda values: (1.0, min(values), max(values)))
    _, _, bar, middle = ax.lines
    assert (bar.get_xdata().tolist(), middle.get_xdata().tolist()) == ([0.0, 8.0], [1.0])
