"""What the figures' artists hold: the numbers that they were given, under the names they have."""

from typing import Any

import numpy as np
import pytest
from explorer_claims import artist, band, bars, curves, legend_labels, line
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from bdl_teach import plots
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


def test_held_panel_keeps_limits_and_names_curves_outside(ax: Axes) -> None:
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


def test_panel_limits_include_true_posterior_and_curves(ax: Axes) -> None:
    room = plots.Room(ax, (10.0, 20.0, 40.0))
    nuts = Predictive(np.full(2, 9.0), np.full(2, 2.0), np.ones(2), None)  # up to 13
    assert room.hold({"mean": [1.0]}, nuts=nuts)
    assert ax.get_ylim() == (-20.0, 20.0)
    assert room.hold({"mean": [30.0]}, nuts=nuts)
    assert ax.get_ylim() == (-40.0, 40.0)
    assert room.hold({}), "of nothing, the first step"
    assert ax.get_ylim() == (-10.0, 10.0)


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
    assert artist(ax, "NUTS ±2 sd") in overlay.artists
    assert artist(ax, "NUTS mean").get_linestyle() == "--", "dashed: the first one's is not"
    other = predictive(9)
    assert not overlay.show(other) and (other.mean != prediction.mean).any()
    np.testing.assert_array_equal(line(ax, "NUTS mean"), [X, other.mean])
    low, high = (a.get_ydata() for a in overlay.artists if a.get_linestyle() == "-.")
    np.testing.assert_allclose(high - low, 4 * other.epistemic_std)
    assert overlay.show(None)
    assert not overlay.show(None)
    assert [a.get_visible() for a in overlay.artists] == [False] * 3


def test_the_history_shows_each_cost_under_its_name_at_its_step(ax: Axes) -> None:
    history = {
        "step": np.array([15, 30, 45]),
        "free_energy": np.array([9.0, 8.0, 7.0]),
        "complexity_cost": np.array([1.0, 2.0, 3.0]),
        "likelihood_cost": np.array([8.0, 6.0, 4.0]),
    }
    artists = plots.HistoryPanel(ax)
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


EDGES = np.linspace(-2.0, 2.0, 9)


@pytest.mark.parametrize("prior", [Gaussian(0.7), ScaleMixture(1.5, 0.2, 0.3)])
def test_the_weights_panel_holds_the_prior_the_means_and_the_marginal(ax: Axes, prior: Any) -> None:
    artists = plots.WeightArtists(ax, EDGES)
    mean, std = np.array([-1.9, 0.1, 0.3, 0.4, 7.0]), np.array([0.3, 0.5, 1.0, 0.2, 0.4])
    artists.update(prior, mean, std)
    x, density = line(ax, "prior")
    assert (x[0], x[-1]) == (EDGES[0], EDGES[-1])
    np.testing.assert_allclose(density, np.exp(prior.log_prob(x)), rtol=1e-6)
    x, marginal = line(ax, "fitted q")
    z = (x - mean[:, None]) / std[:, None]
    expected = np.mean(np.exp(-(z**2) / 2) / (std[:, None] * np.sqrt(2 * np.pi)), axis=0)
    np.testing.assert_allclose(marginal, np.maximum(expected, 1e-4), rtol=1e-4)
    heights, edges = bars(ax, "fitted μ")
    np.testing.assert_array_equal(edges, EDGES)
    counts = np.array([1, 0, 0, 0, 3, 0, 0, 1])  # of the five means; the last lies beyond the frame
    np.testing.assert_allclose(heights, np.maximum(counts / 5 / 0.5, 1e-4))
    assert artist(ax, "fitted μ").get_fill()
    assert len(x) > 100, "a curve without corners"
    styles = [artist(ax, name).get_linestyle() for name in ("prior", "fitted q")]
    assert styles == ["-", "--"]
    colours = {to_hex(a.get_facecolor()) for a in [artist(ax, "fitted μ")]}
    colours |= {to_hex(artist(ax, name).get_color()) for name in ("prior", "fitted q")}
    assert len(colours) == 3
    assert artists.artists == [artist(ax, n) for n in ("fitted μ", "prior", "fitted q")]
