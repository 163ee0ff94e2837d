"""What the figures' artists hold: the numbers that they were given, under the names they have."""

from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from explorer_claims import artist, band, bars, curves, legend_labels, line
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure

from bdl_teach import datasets, plots
from bdl_teach.densities import Gaussian, ScaleMixture
from bdl_teach.predictive import Predictive

X = np.linspace(-1.0, 2.0, 7)


@pytest.fixture
def ax() -> Axes:
    return Figure().subplots()


def predictive(seed: int = 0, n_samples: int | None = 12) -> Predictive:
    """One whose mean, epistemic, aleatoric and total sd differ at every input."""
    rng = np.random.default_rng(seed)
    samples = None if n_samples is None else rng.normal(size=(n_samples, len(X)))
    sds = rng.uniform(0.5, 3.0, (2, len(X)))
    return Predictive(rng.normal(size=len(X)), sds[0], sds[1], samples)


def assert_draws(ax: Axes, prediction: Predictive, name: str = "") -> None:
    """Mean and both bands of a panel are those of ``prediction``."""
    x, mean = line(ax, f"{name}mean")
    np.testing.assert_array_equal(x, X)
    np.testing.assert_array_equal(mean, prediction.mean)
    total = np.sqrt(prediction.epistemic_std**2 + prediction.aleatoric_std**2)
    for kind, std in (("epistemic", prediction.epistemic_std), ("total", total)):
        x, low, high = band(ax, f"{name}±2 sd {kind}")
        np.testing.assert_array_equal(x, X)
        np.testing.assert_allclose(low, prediction.mean - 2 * std)
        np.testing.assert_allclose(high, prediction.mean + 2 * std)


def test_a_finished_panel_has_its_title_labels_and_legend(ax: Axes) -> None:
    ax.plot([0, 1], [2, 3], label="mean")
    plots.panel(ax, "The mean rises", "x", "y", fontsize=9)
    assert ax.get_title(loc="left") == "The mean rises"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    assert legend_labels(ax) == ["mean"]
    assert not ax.get_legend().get_frame_on()
    assert ax.get_legend().get_texts()[0].get_fontsize() == 9


def test_lecture_style_holds_for_the_figures_made_after_it() -> None:
    with mpl.rc_context():
        mpl.rcdefaults()
        before = Figure().subplots()
        plots.lecture_style()
        after = Figure().subplots()
        assert after.title.get_fontsize() > before.title.get_fontsize()
        assert after.plot([0, 1])[0].get_linewidth() > 2 > mpl.rcParamsDefault["lines.linewidth"]
        width, height = Figure().get_size_inches()
        assert width > 2 * height > 6, "two panels beside each other"
    assert [before.spines[side].get_visible() for side in ("top", "right")] == [True, True]
    assert [after.spines[side].get_visible() for side in ("top", "right")] == [False, False]


def luminance(colour: Any) -> float:
    """As WCAG 2 defines it, 1 for white."""
    channels = np.array(to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def test_colours_are_of_a_palette_for_the_colour_blind_and_red_letters_can_be_read() -> None:
    palette = {"BLUE", "ORANGE", "GREEN", "RED", "PURPLE", "SKY", "BLACK", "GREY"}
    assert len({getattr(plots, name) for name in palette}) == len(palette)
    cycle = mpl.style.library["seaborn-v0_8-colorblind"]["axes.prop_cycle"].by_key()["color"]
    shared = [plots.BLUE, plots.GREEN, plots.RED, plots.PURPLE, plots.SKY]
    assert set(shared) <= set(cycle), "Okabe and Ito's, in the shades that matplotlib has, too"
    *_, alpha = plots.SHADE
    assert 0 < alpha < 0.15, "a shade of a region hides nothing"
    assert 1.05 / (luminance(plots.RED) + 0.05) == pytest.approx(3.9, abs=0.05)
    assert 1.05 / (luminance(plots.RUST) + 0.05) == pytest.approx(6.1, abs=0.05)


def test_a_colour_means_one_thing_in_every_panel_of_a_fit(ax: Axes) -> None:
    plots.FitArtists(ax, "Fit", X[:, None], X)
    plots.OverlayArtists(ax, X, "NUTS")
    plots.FunctionArtists(ax, X, "from the prior")
    lines = {label: artist(ax, label).get_color() for label in ("mean", "truth", "data")}
    assert lines == {"mean": plots.RED, "truth": plots.BLACK, "data": plots.BLACK}
    for label in ("NUTS mean", "NUTS ±2 sd epistemic"):
        assert artist(ax, label).get_color() == plots.GREEN
    (edge,) = (a for a in ax.lines if a.get_linestyle() == "-." and a.get_label().startswith("_"))
    assert edge.get_color() == plots.GREEN, "its other edge"
    drawn = {"some draws": plots.BLUE, "from the prior": plots.GREY}
    for label, colour in drawn.items():
        assert to_hex(artist(ax, label).get_color()[0]) == colour.lower()
    order = ["from the prior", "±2 sd total", "±2 sd epistemic", "some draws", "mean", "NUTS mean"]
    heights = [artist(ax, label).get_zorder() for label in [*order, "data"]]
    assert heights == sorted(set(heights)), "what is more certain covers what is less"
    assert artist(ax, "mean").get_zorder() < artist(ax, "truth").get_zorder() < heights[-1]


def test_a_tidy_panel_names_its_axes_and_has_half_a_frame(ax: Axes) -> None:
    plots.tidy(ax, "A title", "the x", "the y")
    assert ax.get_title(loc="left") == "A title"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("the x", "the y")
    letters = [ax.xaxis.label, ax.yaxis.label, *ax.get_xticklabels(), *ax.get_yticklabels()]
    assert {text.get_fontsize() for text in letters} == {plots.LETTERS} and len(letters) > 6
    assert ax._left_title.get_fontsize() > plots.LETTERS
    shown = {side: ax.spines[side].get_visible() for side in ("top", "right", "left", "bottom")}
    assert shown == {"top": False, "right": False, "left": True, "bottom": True}


def test_the_legend_above_names_what_is_visible_and_leaves_the_title_room(ax: Axes) -> None:
    lines = [ax.plot([0, 1], label=name)[0] for name in "abcde"]
    lines[1].set_visible(False)
    plots.tidy(ax, "A title", "x", "y")
    heights = []
    for columns in (4, 3, 2):  # one row, then two, and two
        plots.legend_above(ax, columns)
        assert legend_labels(ax) == ["a", "c", "d", "e"]
        assert ax.get_legend()._ncols == columns
        assert ax.get_title(loc="left") == "A title"
        ax.figure.draw_without_rendering()
        title = ax._left_title.get_window_extent()
        legend = ax.get_legend().get_window_extent()
        assert title.y0 >= legend.y1 - 8, "the title stands above the legend"
        assert legend.y0 >= ax.get_window_extent().y1 - 8, "and that above what is drawn"
        heights.append(title.y0)
    assert heights[0] < heights[1] == heights[2]
    for columns, wrapped, expected in ((4, 2, 4), (3, 2, 2), (1, 2, 1)):
        plots.legend_above(ax, columns, wrapped=wrapped)
        assert ax.get_legend()._ncols == expected, "fewer, where one row does not hold all"
    assert {text.get_fontsize() for text in ax.get_legend().get_texts()} == {plots.LETTERS}
    assert ax._left_title.get_fontsize() > plots.LETTERS
    assert not ax.get_legend().get_in_layout(), "the title's place holds it already"


def test_a_long_legend_above_wraps_after_four_and_has_no_large_marks(ax: Axes) -> None:
    for name in "abcdef":
        ax.plot([0, 1], "o", ms=15.0, mew=3.0, label=name)
    for columns, expected in ((6, 6), (5, 4), (3, 3)):
        plots.legend_above(ax, columns)
        assert ax.get_legend()._ncols == expected
    assert max(h.get_markersize() for h in ax.get_legend().legend_handles) <= 8.0, "on the words"


@pytest.fixture
def panels() -> Axes:
    """The first of two panels; of NUTS and of the start there is nothing to be seen yet."""
    first, second = Figure(layout="constrained").subplots(1, 2)
    for panel in (first, second):
        plots.draw_predictive(panel, X, predictive())
        plots.draw_data(panel, X, X)
        plots.draw_truth(panel, X, X)
        plots.OverlayArtists(panel, X, "NUTS")
        panel.plot([], label="start", visible=False)
    return first


def test_the_legend_over_all_panels_names_what_is_drawn_and_nothing_else(panels: Axes) -> None:
    always = ["±2 sd total", "±2 sd epistemic", "mean", "data"]
    over = plots.FigureLegend(panels, set(always), in_a_row=5)

    def names() -> list[str]:
        (legend,) = panels.figure.legends
        assert all(handle.get_visible() for handle in legend.legend_handles)
        texts = legend.get_texts()
        assert {text.get_fontsize() for text in texts} == {plots.LETTERS}
        assert legend._ncols == (len(texts) if len(texts) <= 5 else 4)
        return [text.get_text() for text in texts]

    assert names() == [*always, "truth"], "as long as nobody says otherwise"
    gold = ["NUTS mean", "NUTS ±2 sd"]
    for shown, expected in (
        ({"truth": False, "nuts": False}, always),
        ({"truth": True, "nuts": True}, [*always, "truth", *gold]),
        ({"truth": False, "nuts": True}, [*always, *gold]),
        ({"truth": False, "nuts": False, "more": ["start"]}, [*always, "start"]),
        ({"truth": True, "nuts": False, "more": ["start"]}, [*always, "truth", "start"]),
        ({"truth": True, "nuts": False}, [*always, "truth"]),
    ):
        assert over.show(**shown), "other names than before"
        assert names() == expected
        assert not over.show(**shown), "the same names again"
        assert names() == expected
    hidden = ("NUTS mean", "NUTS ±2 sd epistemic", "start")
    assert not any(artist(panels, label).get_visible() for label in hidden)


def test_the_legend_over_all_panels_takes_room_from_them_at_the_upper_left(panels: Axes) -> None:
    plots.FigureLegend(panels, {"mean", "data"}, in_a_row=5)
    figure = panels.figure
    figure.draw_without_rendering()
    (legend,) = (each.get_window_extent() for each in figure.legends)
    assert legend.y0 > panels.get_window_extent().y1
    assert legend.x1 < figure.bbox.x1 / 2


def test_data_and_truth_are_what_they_are_called(ax: Axes) -> None:
    data = datasets.sinusoid(5)
    points, truth = plots.draw_data(ax, data.x, data.y), plots.draw_truth(ax, X, np.cos(X))
    assert (points, truth) == (artist(ax, "data"), artist(ax, "truth"))
    np.testing.assert_array_equal(line(ax, "data"), [data.x[:, 0], data.y[:, 0]])
    np.testing.assert_array_equal(line(ax, "truth"), [X, np.cos(X)])
    assert (points.get_linestyle(), points.get_marker()) == ("None", "+")
    assert (truth.get_linestyle(), truth.get_marker()) == (":", "None")


def test_a_panel_s_room_begins_at_its_first_step_and_the_word_stands_in_its_upper_corner(
    ax: Axes,
) -> None:
    room = plots.Room(ax)
    assert ax.get_ylim() == (-plots.ROOM[0], plots.ROOM[0]) == (-25.0, 25.0)
    assert list(plots.ROOM) == sorted(set(plots.ROOM)), "steps rise"
    room.hold({"mean": [-1234.0, 800.0], "band": [-300.0, 5000.0], "draws": [4.0]})
    (words,) = ax.texts
    assert words.get_text() == "▼ mean leaves, to −1,234\n▲ band leaves, to +5,000"
    assert room.artists == [words], "or it is not drawn with what moves"
    ax.figure.draw_without_rendering()
    box, frame = words.get_window_extent(), ax.get_window_extent()
    assert frame.x0 + frame.width / 2 < box.x0 < box.x1 < frame.x1
    assert frame.y0 + frame.height / 2 < box.y0 < box.y1 < frame.y1
    assert (words.get_color(), words.get_fontsize()) == (plots.RED, plots.LETTERS)
    assert words.get_zorder() > plots.draw_data(ax, [], []).get_zorder()
    assert set(room.frame) == {ax.yaxis, *ax.spines.values()}


def test_a_held_room_keeps_its_height_and_says_what_leaves_it(ax: Axes) -> None:
    room = plots.Room(ax, (10.0, 20.0, 40.0))
    assert not room.held
    room.held = True
    assert not room.hold({"mean": [15.0]}, at_least=30.0)
    assert (ax.get_ylim(), ax.texts[0].get_text()) == ((-10.0, 10.0), "▲ mean leaves, to +15")
    room.held = False
    assert room.hold({"mean": [15.0]})
    room.held = True
    assert not room.hold({"mean": [1.0]})
    assert (ax.get_ylim(), ax.texts[0].get_text()) == ((-20.0, 20.0), "")


def test_a_room_holds_the_gold_standard_and_the_curves_under_it(ax: Axes) -> None:
    room = plots.Room(ax, (10.0, 20.0, 40.0))
    nuts = Predictive(np.full(2, 9.0), np.full(2, 2.0), np.ones(2), None)  # up to 13
    assert room.hold({"mean": [1.0]}, nuts=nuts)
    assert ax.get_ylim() == (-20.0, 20.0)
    assert room.hold({"mean": [30.0]}, nuts=nuts)
    assert ax.get_ylim() == (-40.0, 40.0)
    assert room.hold({}), "of nothing, the first step"
    assert ax.get_ylim() == (-10.0, 10.0)


def test_the_edges_for_a_room_are_the_mean_and_two_total_sd_on_both_sides() -> None:
    prediction = predictive(5)
    found = plots.edges(prediction)
    total = np.hypot(prediction.epistemic_std, prediction.aleatoric_std)
    assert set(found) == {"mean", "band"}
    np.testing.assert_array_equal(found["mean"], prediction.mean)
    for edge, sign in zip(found["band"], (-1, 1), strict=True):
        np.testing.assert_allclose(edge, prediction.mean + sign * 2 * total)


def test_a_predictive_is_drawn_as_its_mean_and_two_sd_of_each_name(ax: Axes) -> None:
    plots.draw_predictive(ax, X[:, None], predictive())
    assert_draws(ax, predictive())
    (functions,) = (c for c in ax.collections if isinstance(c, LineCollection))
    assert not functions.get_segments(), "drawn functions were not asked for"


def test_a_method_s_name_stands_before_its_entries(ax: Axes) -> None:
    plots.draw_predictive(ax, X, predictive(1), "BBB")
    assert_draws(ax, predictive(1), "BBB: ")
    names = ax.get_legend_handles_labels()[1]
    assert set(names) == {"BBB: mean", "BBB: ±2 sd epistemic", "BBB: ±2 sd total"}


def test_an_update_moves_every_artist_and_the_drawn_functions_are_the_first(ax: Axes) -> None:
    artists = plots.PredictiveArtists(ax, X, n_functions=3)
    for seed in (0, 1):
        prediction = predictive(seed)
        artists.update(prediction)
        assert_draws(ax, prediction)
        drawn = curves(ax, "some draws")
        assert len(drawn) == 3
        for k, curve in enumerate(drawn):
            np.testing.assert_array_equal(curve, np.column_stack([X, prediction.samples[k]]))
    artists.update(predictive(2, n_samples=None))
    assert curves(ax, "some draws") == [], "a closed form has no drawn functions"
    assert set(artists.artists) == {
        artist(ax, name) for name in ("mean", "±2 sd epistemic", "±2 sd total", "some draws")
    }


def test_the_total_band_is_lighter_than_the_epistemic_which_lies_on_it(ax: Axes) -> None:
    artists = plots.PredictiveArtists(ax, X, n_functions=3)
    total, epistemic = artist(ax, "±2 sd total"), artist(ax, "±2 sd epistemic")
    assert to_hex(total.get_facecolor()[0]) == plots.SKY.lower()
    assert to_hex(epistemic.get_facecolor()[0]) == plots.BLUE.lower()
    assert total.get_zorder() < epistemic.get_zorder() < artist(ax, "mean").get_zorder()
    seen, shades = np.ones(3), []  # on white
    for band_ in (total, epistemic):
        *colour, alpha = band_.get_facecolor()[0]
        assert alpha < 0.5, "what is under it can be seen"
        seen = alpha * np.array(colour) + (1 - alpha) * seen
        shades.append(luminance(seen))
    assert shades[0] > 0.7 > 0.5 > shades[1]
    assert [list(each.get_linewidth()) for each in (total, epistemic)] == [[0.0]] * 2
    order = [a.get_zorder() for a in artists.artists]
    assert order == sorted(order), "from back to front, as they are blitted"


def test_a_fit_s_panel_holds_data_bands_truth_and_the_first_ten_functions(ax: Axes) -> None:
    truth = np.sin(X)
    artists = plots.FitArtists(ax, "Fit", X[:, None], truth)
    assert np.size(line(ax, "data")) == 0, "there are none yet"
    data, prediction = datasets.sinusoid(6, seed=2), predictive(3)
    artists.update(data, prediction)
    assert_draws(ax, prediction)
    np.testing.assert_array_equal(line(ax, "truth"), [X, truth])
    np.testing.assert_array_equal(line(ax, "data"), [data.x[:, 0], data.y[:, 0]])
    np.testing.assert_array_equal(
        [c[:, 1] for c in curves(ax, "some draws")], prediction.samples[:10]
    )
    assert ax.get_xlim() == (X[0], X[-1])
    assert ax.get_title(loc="left") == "Fit"
    assert set(legend_labels(ax)) == {a.get_label() for a in artists.artists if a.get_label()}
    assert len(artists.artists) == 7, "all of them move, and the word at the edge"
    order = [a.get_zorder() for a in artists.artists]
    assert order == sorted(order), "from back to front, as they are blitted"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("x", "y")
    assert ax.get_legend()._ncols == len(legend_labels(ax)), "in one row"


def test_a_fit_s_panel_makes_room_for_the_band_and_says_that_it_has(ax: Axes) -> None:
    artists = plots.FitArtists(ax, "Fit", X[:, None], X)
    data, zero = datasets.sinusoid(6), np.zeros_like(X)
    wide = Predictive(zero, zero + 3.0, zero + 20.0, None)
    assert not artists.update(data, predictive())
    assert artists.update(data, wide)
    assert ax.get_ylim()[1] > 2 * 20.0 and ax.get_ylim() == (-50.0, 50.0)
    assert not artists.update(data, wide)
    assert artists.update(data, predictive()), "and back again"


def test_the_overlay_is_mean_and_epistemic_band_and_hides_again(ax: Axes) -> None:
    overlay = plots.OverlayArtists(ax, X, "NUTS")
    assert [a.get_visible() for a in overlay.artists] == [False] * 3
    prediction = predictive(4)
    assert overlay.show(prediction), "hidden before: the legend must change"
    assert not overlay.show(prediction)
    assert [a.get_visible() for a in overlay.artists] == [True] * 3
    np.testing.assert_array_equal(line(ax, "NUTS mean"), [X, prediction.mean])
    edges = np.sort([a.get_ydata() for a in overlay.artists if a.get_linestyle() == "-."], axis=0)
    reach = 2 * prediction.epistemic_std
    np.testing.assert_allclose(edges, [prediction.mean - reach, prediction.mean + reach])
    assert artist(ax, "NUTS ±2 sd epistemic") in overlay.artists
    assert artist(ax, "NUTS mean").get_linestyle() == "--", "dashed: the first one's is not"
    other = predictive(9)
    assert not overlay.show(other) and (other.mean != prediction.mean).any()
    np.testing.assert_array_equal(line(ax, "NUTS mean"), [X, other.mean])
    low, high = (a.get_ydata() for a in overlay.artists if a.get_linestyle() == "-.")
    np.testing.assert_allclose(high - low, 4 * other.epistemic_std)
    assert overlay.show(None)
    assert not overlay.show(None)
    assert [a.get_visible() for a in overlay.artists] == [False] * 3


def test_single_functions_are_drawn_all_and_hide_again(ax: Axes) -> None:
    artists = plots.FunctionArtists(ax, X, "from the prior")
    functions = np.random.default_rng(0).normal(size=(4, len(X)))
    assert not artists.artists[0].get_visible()
    assert artists.show(functions)
    assert artists.artists[0].get_visible()
    np.testing.assert_array_equal([c[:, 1] for c in curves(ax, "from the prior")], functions)
    np.testing.assert_array_equal(curves(ax, "from the prior")[0][:, 0], X)
    assert not artists.show(functions[:2])
    assert len(curves(ax, "from the prior")) == 2
    assert artists.show(None)
    assert not artists.artists[0].get_visible()
    assert curves(ax, "from the prior") == []


def test_the_history_shows_each_cost_under_its_name_at_its_step(ax: Axes) -> None:
    history = {
        "step": np.array([15, 30, 45]),
        "free_energy": np.array([9.0, 8.0, 7.0]),
        "complexity_cost": np.array([1.0, 2.0, 3.0]),
        "likelihood_cost": np.array([8.0, 6.0, 4.0]),
    }
    artists = plots.history_panel(ax)
    artists.update(history)
    for label, name in {
        "F": "free_energy",
        "complexity": "complexity_cost",
        "likelihood": "likelihood_cost",
    }.items():
        np.testing.assert_array_equal(line(ax, label), [history["step"], history[name]])
        assert artist(ax, label) in artists.artists
    assert legend_labels(ax) == ["F", "complexity", "likelihood"]
    assert len({a.get_linestyle() for a in artists.artists}) == 3, "told apart without colour"
    assert len({a.get_color() for a in artists.artists}) == 3, "and by it"
    assert ax.get_title(loc="left") == "How the free energy F fell"
    assert ax.get_legend()._ncols == 3
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Adam step", "nats")


def test_the_history_of_a_fit_that_is_trained_on_has_room_for_all_its_steps(ax: Axes) -> None:
    plots.history_panel(ax, trained_on=True)
    assert (ax.get_xscale(), *ax.get_xlim()) == ("log", 10, 5000)
    ticks = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
    assert [(at, tick.get_text()) for at, tick in ticks] == [
        (10, "10"), (100, "100"), (1000, "1000"),
    ]  # fmt: skip
    assert list(ax.get_xticks(minor=True)) == [], "none without its number"


def test_the_ticks_of_the_history_say_where_they_are(ax: Axes) -> None:
    plots.history_panel(ax)
    assert ax.get_xlim() == (0, 1500), "the steps of a fit at its defaults"
    assert ax.get_xscale() == "linear"
    words = {"0": 0.0, "500": 500.0, "10³": 1e3, "10⁴": 1e4, "10⁵": 1e5}
    assert ax.get_yscale() == "symlog"
    assert ax.get_ylim()[0] < 0, "a free energy may fall below 0"
    heights = ax.transData.transform([(0, at) for at in (0, 500, 1000, 1e4, 1e5)])[:, 1]
    steps = np.diff(heights)
    np.testing.assert_allclose(steps[[0, 2]], steps[[1, 3]], rtol=1e-6)  # linear, then logarithmic
    for at, tick in zip(ax.get_yticks(), ax.get_yticklabels(), strict=True):
        assert words[tick.get_text()] == at
        assert ax.get_ylim()[0] <= at <= ax.get_ylim()[1]


EDGES = np.linspace(-2.0, 2.0, 9)


@pytest.mark.parametrize("prior", [Gaussian(0.7), ScaleMixture(1.5, 0.2, 0.3)])
def test_the_weights_panel_holds_the_prior_the_means_and_the_marginal(ax: Axes, prior: Any) -> None:
    artists = plots.WeightArtists(ax, EDGES, floor=1e-3)
    mean, std = np.array([-1.9, 0.1, 0.3, 0.4, 7.0]), np.array([0.3, 0.5, 1.0, 0.2, 0.4])
    artists.update(prior, mean, std)
    x, density = line(ax, "prior")
    assert (x[0], x[-1]) == (EDGES[0], EDGES[-1])
    np.testing.assert_allclose(density, np.exp(prior.log_prob(x)), rtol=1e-6)
    x, marginal = line(ax, "fitted q")
    z = (x - mean[:, None]) / std[:, None]
    expected = np.mean(np.exp(-(z**2) / 2) / (std[:, None] * np.sqrt(2 * np.pi)), axis=0)
    np.testing.assert_allclose(marginal, np.maximum(expected, 1e-3), rtol=1e-4)
    heights, edges = bars(ax, "fitted μ")
    np.testing.assert_array_equal(edges, EDGES)
    counts = np.array([1, 0, 0, 0, 3, 0, 0, 1])  # of the five means; the last lies beyond the frame
    np.testing.assert_allclose(heights, np.maximum(counts / 5 / 0.5, 1e-3))
    assert artist(ax, "fitted μ").get_fill()
    assert len(x) > 100, "a curve without corners"
    styles = [artist(ax, name).get_linestyle() for name in ("prior", "fitted q")]
    assert styles == ["-", "--"]
    colours = {to_hex(a.get_facecolor()) for a in [artist(ax, "fitted μ")]}
    colours |= {to_hex(artist(ax, name).get_color()) for name in ("prior", "fitted q")}
    assert len(colours) == 3
    assert artists.artists == [artist(ax, n) for n in ("fitted μ", "prior", "fitted q")]


def test_a_second_update_leaves_nothing_of_the_first(ax: Axes) -> None:
    artists = plots.WeightArtists(ax, EDGES)
    artists.update(Gaussian(1.0), np.zeros(3), np.ones(3))
    artists.update(Gaussian(0.5), np.full(3, 1.2), np.full(3, 0.5))
    assert np.argmax(bars(ax, "fitted μ")[0]) == 6
    assert line(ax, "prior")[1].max() == pytest.approx(2 / np.sqrt(2 * np.pi))
    x, marginal = line(ax, "fitted q")
    assert x[np.argmax(marginal)] == pytest.approx(1.2)
    floor = artist(ax, "fitted μ").get_data().baseline
    assert marginal.min() == floor == bars(ax, "fitted μ")[0].min() > 0, "the axis is logarithmic"


def test_a_regression_without_draws_can_be_drawn(ax: Axes) -> None:
    closed = SimpleNamespace(
        mean=X, epistemic_std=X**2, total_std=X**2 + 1, aleatoric_std=X, samples=None
    )
    plots.draw_predictive(ax, X, closed)
    _, low, high = band(ax, "±2 sd total")
    np.testing.assert_allclose(high - low, 4 * (X**2 + 1))


def test_each_connection_has_its_prior_and_its_posterior(ax: Axes) -> None:
    mean, std = np.array([[1.0, -4.0], [0.5, 2.0]]), np.array([[0.5, 0.2], [1.0, 0.1]])
    lines = plots.draw_beliefs(ax, mean, std, prior_std=1.5)
    priors = [each for each in ax.lines if each.get_linestyle() == "--"]
    zeros = [each for each in ax.lines if each.get_color() == plots.BLACK and each.get_lw() == 1.0]
    assert len(lines) == len(priors) == len(zeros) == 4
    widest = 4.0 + 3 * 0.2
    for each, prior, zero, m, s in zip(lines, priors, zeros, mean.flat, std.flat, strict=True):
        w = (each.get_xdata() - zero.get_xdata()[0]) / 0.17 * widest
        low = zero.get_ydata()[0]
        inside = np.abs(w - m) < 3 * s
        density = np.exp(-(((w - m) / s) ** 2) / 2)
        np.testing.assert_allclose((each.get_ydata() - low)[inside], 0.5 * density[inside])
        bell = np.exp(-((w / 1.5) ** 2) / 2)
        np.testing.assert_allclose(prior.get_ydata() - low, 0.5 * bell, atol=1e-12)
    assert all(a.get_xdata().max() < 1 < b.get_xdata().min() for a in lines[:2] for b in lines[2:])


def test_narrow_posteriors_leave_the_prior_its_three_sd(ax: Axes) -> None:
    plots.draw_beliefs(ax, np.zeros((2, 1)), np.full((2, 1), 0.1), prior_std=2.0)
    for prior in (each for each in ax.lines if each.get_linestyle() == "--"):
        heights = prior.get_ydata() - prior.get_ydata().min()
        assert heights[[0, -1]] == pytest.approx(0.0)  # from foot
        w = np.linspace(-6.0, 6.0, 301)  # to foot, three sd of the prior on each side
        bell = 0.5 * (np.exp(-((w / 2.0) ** 2) / 2) - np.exp(-4.5))
        np.testing.assert_allclose(heights, bell, atol=1e-12)


def test_each_belief_stands_on_its_own_connection_between_the_units(ax: Axes) -> None:
    """Of a hidden unit a row, the first on top; all connections end in units."""
    mean = np.array([[1.0, -1.0, 0.0], [0.5, 2.0, -2.0]])
    lines = plots.draw_beliefs(ax, mean, np.full((2, 3), 0.5), prior_std=1.0)
    (units,) = (np.transpose(each.get_data()) for each in ax.lines if each.get_marker() == "o")
    start, *hidden, end = map(tuple, units)
    heights = [y for _, y in hidden]
    assert [x for x, _ in (start, *hidden, end)] == [0, 1, 1, 1, 2]
    assert heights == sorted(heights, reverse=True)
    assert start[1] == end[1] == np.mean(heights), "in the middle"
    wanted = [(start, unit) for unit in hidden] + [(unit, end) for unit in hidden]
    ways = [each for each in ax.lines if len(each.get_xdata()) == 2 and each.get_lw() == 0.8]
    assert [tuple(zip(*way.get_data(), strict=True)) for way in ways] == wanted
    zeros = [each for each in ax.lines if len(each.get_xdata()) == 2 and each.get_lw() == 1.0]
    for zero, belief, ((x0, y0), (x1, y1)) in zip(zeros, lines, wanted, strict=True):
        x, (low, high) = zero.get_xdata()[0], zero.get_ydata()
        assert low == pytest.approx(y0 + (y1 - y0) * (x - x0)) and high > low
        assert belief.get_ydata().min() == pytest.approx(low, abs=1e-3)
        assert x0 < belief.get_xdata().min() < belief.get_xdata().max() < x1
        assert abs(x - 1) < 0.5, "nearer to the hidden unit, where they lie apart"
    (circles,) = (each for each in ax.lines if each.get_marker() == "o")
    assert all(circles.get_zorder() > way.get_zorder() for way in ways)
    assert not ax.axison


def test_the_beliefs_have_one_name_each_and_colours_of_their_own(ax: Axes) -> None:
    lines = plots.draw_beliefs(ax, np.ones((2, 3)), np.ones((2, 3)), prior_std=0.5)
    handles, names = ax.get_legend_handles_labels()
    assert names == ["prior", "posterior"]
    prior, posterior = handles
    assert posterior is lines[0] and len(lines) == 6
    assert (prior.get_linestyle(), posterior.get_linestyle()) == ("--", "-")
    assert {each.get_color() for each in lines} == {plots.BLUE} != {prior.get_color()}
