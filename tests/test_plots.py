"""What the figures' artists hold: the numbers that they were given, under the names they have."""

from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from explorer_claims import artist, band, bars, curves, legend_labels, line
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_hex
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
    assert [before.spines[side].get_visible() for side in ("top", "right")] == [True, True]
    assert [after.spines[side].get_visible() for side in ("top", "right")] == [False, False]


def test_a_tidy_panel_names_its_axes_and_has_half_a_frame(ax: Axes) -> None:
    plots.tidy(ax, "A title", "the x", "the y")
    assert ax.get_title(loc="left") == "A title"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("the x", "the y")
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
        heights.append(title.y0)
    assert heights[0] < heights[1] == heights[2]
    for columns, wrapped, expected in ((4, 2, 4), (3, 2, 2), (1, 2, 1)):
        plots.legend_above(ax, columns, wrapped=wrapped)
        assert ax.get_legend()._ncols == expected, "fewer, where one row does not hold all"


def test_data_and_truth_are_what_they_are_called(ax: Axes) -> None:
    data = datasets.sinusoid(5)
    points, truth = plots.draw_data(ax, data.x, data.y), plots.draw_truth(ax, X, np.cos(X))
    assert (points, truth) == (artist(ax, "data"), artist(ax, "truth"))
    np.testing.assert_array_equal(line(ax, "data"), [data.x[:, 0], data.y[:, 0]])
    np.testing.assert_array_equal(line(ax, "truth"), [X, np.cos(X)])
    assert (points.get_linestyle(), points.get_marker()) == ("None", "+")
    assert (truth.get_linestyle(), truth.get_marker()) == (":", "None")


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
    order = [a.get_zorder() for a in artists.artists]
    assert order == sorted(order), "from back to front, as they are blitted"


def test_a_fit_s_panel_holds_data_bands_truth_and_the_first_ten_functions(ax: Axes) -> None:
    truth = np.sin(X)
    artists = plots.FitArtists(ax, "Fit", X[:, None], truth)
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
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("Adam step", "nats")


def test_the_history_of_a_fit_that_is_trained_on_has_room_for_all_its_steps(ax: Axes) -> None:
    plots.history_panel(ax, trained_on=True)
    assert (ax.get_xscale(), *ax.get_xlim()) == ("log", 10, 5000)
    ticks = zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
    assert [(at, tick.get_text()) for at, tick in ticks] == [
        (10, "10"), (100, "100"), (1000, "1000"), (5000, "5000"),
    ]  # fmt: skip


def test_the_ticks_of_the_history_say_where_they_are(ax: Axes) -> None:
    plots.history_panel(ax)
    assert ax.get_xlim() == (0, 1500), "the steps of a fit at its defaults"
    assert ax.get_xscale() == "linear"
    words = {"0": 0.0, "500": 500.0, "10³": 1e3, "10⁴": 1e4, "10⁵": 1e5}
    assert ax.get_yscale() == "symlog"
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
    assert set(artists.artists) == {artist(ax, n) for n in ("fitted μ", "prior", "fitted q")}


def test_a_second_update_leaves_nothing_of_the_first(ax: Axes) -> None:
    artists = plots.WeightArtists(ax, EDGES)
    artists.update(Gaussian(1.0), np.zeros(3), np.ones(3))
    artists.update(Gaussian(0.5), np.full(3, 1.2), np.full(3, 0.5))
    assert np.argmax(bars(ax, "fitted μ")[0]) == 6
    assert line(ax, "prior")[1].max() == pytest.approx(2 / np.sqrt(2 * np.pi))
    x, marginal = line(ax, "fitted q")
    assert x[np.argmax(marginal)] == pytest.approx(1.2)


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
