"""The linear-regression explorer: exact, so that its claims can be held to formulas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from artists import (
    artist,
    assert_says,
    assert_shows,
    controls_of,
    functions,
    line,
    panel,
    words_of_the_buttons,
)
from explorer_claims import (
    PRESET_RULE,
    assert_every_control_moves_the_picture,
    assert_every_preset_shows_another_picture_and_says_what_to_see,
    assert_the_picture_is_not_stale,
    every_picture_is_drawn,
    pixels,
)
from scipy.stats import multivariate_normal

from bdl_teach import datasets, features
from bdl_teach._support.compiled import trace_count
from bdl_teach.predictive import Predictive
from bdl_teach.widgets import LinearRegressionExplorer, linear
from bdl_teach.widgets._engine.link import STEPS, nearest_function
from bdl_teach.widgets._engine.points import COURSE

MOVES: dict[str, Any] = {
    "n": 5,
    "prior_std": 10**0.5,
    "noise_std": 2.0,
    "n_features": 7,
    "seed": 3,
    "kind": "polynomial",
}
HOME = {"n": 8, "prior_std": 10.0, "noise_std": 1.0, "n_features": 10, "seed": 0, "kind": "bumps"}
POLYNOMIAL = {"n": 32, "kind": "polynomial", "prior_std": 10**1.4}
PRESETS: dict[str, dict[str, Any]] = {  # what each changes
    "eight points": {},
    "before any data": {"n": 0},
    "one point": {"n": 1},
    "all points": {"n": 32},
    "loud noise": {"n": 32, "noise_std": 5.0},
    "prior too narrow": {"n": 32, "prior_std": 10**-0.5},
    "prior too wide": {"prior_std": 10**1.5, "n_features": 14},
    "sure and wrong": {**POLYNOMIAL, "n_features": 2},
    "evidence's choice": {**POLYNOMIAL, "n_features": 6},
}
SETTINGS = ({}, {"n": 0}, PRESETS["prior too narrow"], MOVES)
X = np.linspace(-1.0, 1.0, 121)
INSIDE = np.abs(X) <= 0.5


@pytest.fixture(scope="module")
def made() -> Iterator[LinearRegressionExplorer]:
    made = LinearRegressionExplorer().wait()
    yield made
    made.close()


@pytest.fixture
def explorer(made: LinearRegressionExplorer) -> LinearRegressionExplorer:
    return made.preset("eight points")


@pytest.fixture(params=SETTINGS, ids=("home", "no data", "narrow prior", "all moved"))
def moved(explorer: LinearRegressionExplorer, request: Any) -> LinearRegressionExplorer:
    return explorer.set(**{**HOME, **request.param})


def posterior(v: dict[str, Any], data: datasets.Regression1D) -> tuple[Any, Any]:
    """Mean and covariance of the weights, by the inverse of the precision."""
    d = v["n_features"]
    phi = features.design(v["kind"], data.x, d) if len(data.x) else np.zeros((0, d))
    precision = np.eye(d) / v["prior_std"] ** 2 + phi.T @ phi / v["noise_std"] ** 2
    cov = np.linalg.inv(precision)
    return cov @ phi.T @ data.y[:, 0] / v["noise_std"] ** 2, cov


def over_seeds(explorer: LinearRegressionExplorer, preset: str, n: int = 20) -> list[Any]:
    """Results of a preset with the first seeds; nothing is drawn."""
    return [explorer._compute({**HOME, **PRESETS[preset], "seed": s}) for s in range(n)]


def marginal_log_density(result: linear.LinearResult, kind: str, d: int, s: float) -> float:
    """log N(y | 0, s² Φ Φᵀ + noise² I): the evidence without its weights."""
    phi = features.design(kind, result.data.x, d)
    cov = s**2 * phi @ phi.T + result.data.noise_std**2 * np.eye(len(phi))
    return float(multivariate_normal(np.zeros(len(phi)), cov).logpdf(result.data.y[:, 0]))


# What the panels hold.


def test_the_model_s_panel_holds_the_posterior_predictive(moved: LinearRegressionExplorer) -> None:
    v = moved.state()
    mean, cov = posterior(v, moved.result.data)
    phi = features.design(v["kind"], X[:, None], v["n_features"])
    epistemic = np.sqrt(np.einsum("md,de,me->m", phi, cov, phi))
    expected = Predictive(phi @ mean, epistemic, np.full(len(X), v["noise_std"]))
    ax = panel(moved, "What the model believes about y", "x", "y")
    assert_shows(ax, expected)
    np.testing.assert_allclose(line(ax, "truth"), [X, 10 * np.sin(2 * np.pi * X)], atol=1e-12)
    np.testing.assert_array_equal(line(ax, "data").T, np.hstack(points(moved)))
    np.testing.assert_allclose(functions(ax, "some draws"), moved.result.weights @ phi.T)


def points(explorer: LinearRegressionExplorer) -> tuple[Any, Any]:
    return explorer.result.data.x, explorer.result.data.y


def test_the_points_are_those_of_the_sinusoid_with_this_seed_and_noise(
    moved: LinearRegressionExplorer,
) -> None:
    v = moved.state()
    every = datasets.sinusoid(32, v["noise_std"], v["seed"])
    where = np.searchsorted(every.x[:, 0], moved.result.data.x[:, 0])
    assert len(set(where)) == v["n"]
    np.testing.assert_array_equal(every.y[where], moved.result.data.y)


@pytest.mark.parametrize("values", [{}, {"kind": "polynomial", "n_features": 4, "n": 5}])
def test_drawn_functions_have_the_covariance_of_the_posterior(
    explorer: LinearRegressionExplorer, values: dict[str, Any]
) -> None:
    """At three places, in units in which the posterior's is the identity: Φ Σ Φᵀ."""
    at, whitened = [20, 60, 97], []
    for seed in range(60):
        v = {**HOME, **values, "seed": seed}
        result = explorer._compute(v)
        phi = features.design(v["kind"], X[at, None], v["n_features"])
        root = np.linalg.cholesky(phi @ posterior(v, result.data)[1] @ phi.T)
        whitened.append(np.linalg.solve(root, (result.functions - result.prediction.mean)[:, at].T))
    drawn = np.concatenate(whitened, axis=1)  # [3, 600]
    assert np.abs(drawn.mean(axis=1)).max() < 4 / np.sqrt(600)
    assert np.abs(drawn @ drawn.T / 600 - np.eye(3)).max() < 4 * np.sqrt(2 / 600)


def test_the_weights_panel_holds_their_posterior(moved: LinearRegressionExplorer) -> None:
    ax = panel(moved, "Two weights, ±2 sd", "one weight / prior σ", "another / prior σ")
    pair, (mean, cov) = list(moved.result.pair), posterior(moved.state(), moved.result.data)
    scale = moved.state()["prior_std"]
    mean, cov = mean[pair] / scale, cov[np.ix_(pair, pair)] / scale**2
    edge = artist(ax, "posterior").get_xy() - mean
    distance = np.einsum("ij,jk,ik->i", edge, np.linalg.inv(cov), edge)
    np.testing.assert_allclose(distance, 4.0, rtol=1e-6)
    np.testing.assert_allclose(np.abs(edge).max(axis=0), 2 * np.sqrt(np.diag(cov)), rtol=1e-2)
    np.testing.assert_allclose(np.hypot(*line(ax, "prior")), 2.0)
    np.testing.assert_allclose(line(ax, "mean")[:, 0], mean, atol=1e-9)
    np.testing.assert_allclose(line(ax, "draws").T, moved.result.weights[:, pair] / scale)
    shown = [text.get_text() for text in ax.texts]
    assert shown == [f"●: weights {pair[0]}, {pair[1]}"]
    for (low, high), values in zip((ax.get_xlim(), ax.get_ylim()), (edge + mean).T, strict=True):
        assert low <= values.min() and values.max() <= high  # nothing is out of sight
        assert low == -high and high in 3.5 * 2.0 ** np.arange(8)  # it moves in steps


def test_a_draw_beyond_the_ellipse_has_room(explorer: LinearRegressionExplorer) -> None:
    mean, cov, draws = np.zeros(2), np.eye(2), np.array([[0.5, 0.0], [-0.2, -9.0]])
    assert explorer._ellipses.update(mean, cov, draws, (0, 1), 10)
    assert explorer._ellipses.axes.get_ylim() == (-14.0, 14.0)
    explorer._ellipses.update(mean, cov, draws[:1], (0, 1), 10)
    assert explorer._ellipses.axes.get_ylim() == (-3.5, 3.5)


def test_a_frame_that_has_grown_is_drawn_and_shrinks_again(
    explorer: LinearRegressionExplorer,
) -> None:
    before = pixels(explorer.preset("eight points"))
    explorer.preset("prior too narrow")
    grown = pixels(explorer)
    explorer._canvas.redraw_background()
    assert (pixels(explorer) == grown).all()  # the numbers on the axes are those of the frame
    assert (pixels(explorer.preset("eight points")) == before).all()


def test_the_evidence_panels_hold_what_was_computed(moved: LinearRegressionExplorer) -> None:
    v, result = moved.state(), moved.result
    np.testing.assert_allclose(linear.PRIOR_STDS, 10.0 ** np.arange(-1, 1.51, 0.1))
    np.testing.assert_array_equal(linear.COUNTS, range(2, 15))
    for title, xlabel, choices, evidence, now in (
        ("Log evidence by σ", "prior σ", linear.PRIOR_STDS, "by_prior", v["prior_std"]),
        ("… by features", "features d", linear.COUNTS, "by_count", v["n_features"]),
    ):
        ax = panel(moved, title, xlabel, "from best")
        log_p = getattr(result, f"evidence_{evidence}")
        below = np.maximum(log_p - log_p.max(), -25.0)
        x, y = artist_data(ax, "log P(D)")
        np.testing.assert_allclose(x, choices)
        np.testing.assert_allclose(y, below)
        (x_now,), (y_now,) = artist_data(ax, "now")
        assert x_now == pytest.approx(now)
        assert y_now == pytest.approx(max(result.log_evidence - log_p.max(), -25.0), abs=1e-9)
        labels = [text.get_text() for text in ax.get_yticklabels()]
        assert labels == ["0", "−10", "≤ −25"]
        assert ax.get_ylim()[0] == -25.0


def test_the_frames_hold_every_choice(explorer: LinearRegressionExplorer) -> None:
    for title, choices in (
        ("Log evidence by σ", linear.PRIOR_STDS),
        ("… by features", linear.COUNTS),
    ):
        ax = panel(explorer, title)
        assert ax.get_xlim()[0] <= choices[0] and choices[-1] <= ax.get_xlim()[1]
        assert ax.get_ylim()[1] > 0
    low, high = panel(explorer, "What the model believes").get_xlim()
    assert (low, high) == (X[0], X[-1])


def artist_data(ax: Any, label: str) -> Any:
    """Points of a line, also where the panel beside it has the legend for both."""
    (found,) = (child for child in ax.get_lines() if child.get_label() == label)
    assert found.get_animated()
    return found.get_data()


# What the status line says.


def test_the_status_has_the_figures_of_the_posterior(moved: LinearRegressionExplorer) -> None:
    v = moved.state()
    _, cov = posterior(v, moved.result.data)
    phi = features.design(v["kind"], X[:, None], len(cov))
    sd = np.sqrt(np.einsum("md,de,me->m", phi, cov, phi))
    say, figures = "", []
    if v["n"]:
        by_prior = [
            marginal_log_density(moved.result, v["kind"], len(cov), s) for s in linear.PRIOR_STDS
        ]
        say, figures = " (best at prior σ {})", [linear.PRIOR_STDS[np.argmax(by_prior)]]
        figures.insert(0, marginal_log_density(moved.result, v["kind"], len(cov), v["prior_std"]))
    assert_says(
        moved.status,
        f"{{}} points, {{}} features: log evidence {{}} nats{say}; epistemic sd {{}} in the middle "
        "half, {} at the left end, {} at the right; noise sd {}.",
        *(v["n"], len(cov), *(figures or [0.0])),
        *(sd[INSIDE].mean(), sd[0], sd[-1], v["noise_std"]),
    )


def test_of_a_table_it_is_said_in_which_units_the_figures_are(
    explorer: LinearRegressionExplorer,
) -> None:
    words = " Your table is stretched here: x to ±½, y to mean 0 and sd 5."
    explorer.set(data=((0.0, 1.0), (2.0, 3.0), COURSE)).wait()
    assert explorer.status.startswith("2 points of your own") and words not in explorer.status
    explorer.set(data=((10.0, 20.0, 30.0), (100.0, 300.0, 200.0))).wait()
    assert explorer.status.startswith("3 points of your own") and words in explorer.status
    for name in ("linear-sure-at-both-ends", "linear-nothing-to-learn"):
        (mission,) = (one for one in explorer.MISSIONS if one.id == name)
        assert "stretched" in mission.missing(explorer.state(), explorer.result)[0]


@pytest.mark.parametrize(
    ("x", "n_features", "shared"), [(0.0, 2, False), (0.0, 3, True), (0.3, 14, True)]
)
def test_the_correlation_says_whether_other_weights_share_the_point(
    explorer: LinearRegressionExplorer, x: float, n_features: int, shared: bool
) -> None:
    explorer.set(n_features=n_features, data=((x,), (3.0,), COURSE), pair=(0, 1)).wait()
    (mission,) = (m for m in explorer.MISSIONS if m.id == "linear-two-weights-on-a-line")
    *_, said = mission.check(explorer.state(), explorer.result)
    assert ("other weights share" in said.now) is shared


def test_one_point_is_singular(explorer: LinearRegressionExplorer) -> None:
    assert explorer.preset("one point").status.startswith("1 point, 10 features")


# What presets promise, and the question.


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_sets_every_control(explorer: LinearRegressionExplorer, name: str) -> None:
    assert tuple(PRESETS) == explorer.presets, PRESET_RULE
    assert explorer.preset(name).state() == {**HOME, **PRESETS[name]}


def test_eight_points_the_band_is_narrow_at_them_and_opens_away(
    explorer: LinearRegressionExplorer,
) -> None:
    for result in over_seeds(explorer, "eight points"):
        away = np.abs(X[:, None] - result.data.x[:, 0]).min(axis=1)
        sd = result.prediction.epistemic_std
        assert sd[away < 0.01].max() < 1.1 < 5 < sd[away > 0.25].mean()


def test_one_point_narrows_one_direction_of_two_weights(
    explorer: LinearRegressionExplorer,
) -> None:
    for result in over_seeds(explorer, "one point"):
        pair = np.ix_(result.pair, result.pair)
        narrow, wide = np.sqrt(np.linalg.eigvalsh(result.posterior.cov[pair])) / 10.0
        assert narrow < 0.4 and wide > 0.99
        assert result.pair[1] - result.pair[0] == 1
        at = np.interp(result.data.x[0, 0], X, result.prediction.epistemic_std)
        assert at < 0.15 * result.prediction.epistemic_std.max()


def test_the_watched_weights_stay_while_points_arrive(explorer: LinearRegressionExplorer) -> None:
    explorer.preset("before any data").set(seed=5)
    pairs = {explorer.set(n=n).result.pair for n in (0, 1, 7, 32)}
    assert len(pairs) == 1
    explorer.set(kind="polynomial")
    pairs = [explorer.set(n_features=d).result.pair for d in (2, 3, 4, 14)]
    assert pairs == [(0, 1), (0, 1), (1, 3), (1, 3)]  # slope and cube, once there is one


def test_of_all_points_or_loud_ones_only_one_sd_is_the_noise_s(
    explorer: LinearRegressionExplorer,
) -> None:
    few, many, loud = (
        explorer.preset(name).result.prediction
        for name in ("eight points", "all points", "loud noise")
    )
    assert (many.epistemic_std <= few.epistemic_std).all()
    assert many.epistemic_std[INSIDE].mean() < 0.7 * few.epistemic_std[INSIDE].mean()
    assert (many.aleatoric_std == few.aleatoric_std).all()
    assert (loud.epistemic_std >= many.epistemic_std).all()
    assert loud.epistemic_std[INSIDE].mean() > 3 * many.epistemic_std[INSIDE].mean()


def test_a_prior_too_narrow_has_weights_outside_it_and_the_evidence_plunges(
    explorer: LinearRegressionExplorer,
) -> None:
    for result in over_seeds(explorer, "prior too narrow"):
        assert np.abs(result.posterior.mean).max() > 5 * result.prior_std  # far outside
        truth = result.data.truth(result.x_grid)[:, 0]
        assert np.ptp(result.prediction.mean) < 0.7 * np.ptp(truth)  # and still too small
        assert result.log_evidence < result.evidence_by_prior.max() - 100


def test_a_prior_too_wide_is_wild_between_the_points_and_pays_for_it(
    explorer: LinearRegressionExplorer,
) -> None:
    calm = over_seeds(explorer, "eight points")
    for tame, wild in zip(calm, over_seeds(explorer, "prior too wide"), strict=True):
        widest = [r.prediction.epistemic_std[INSIDE].max() for r in (tame, wild)]
        assert widest[1] > 2 * widest[0]
        assert wild.log_evidence < wild.evidence_by_prior.max() - 4
        assert wild.log_evidence < tame.log_evidence


def test_a_straight_line_is_sure_and_wrong(explorer: LinearRegressionExplorer) -> None:
    for result in over_seeds(explorer, "sure and wrong"):
        off = result.prediction.mean - result.data.truth(result.x_grid)[:, 0]
        off_rms = np.sqrt((off[INSIDE] ** 2).mean())
        assert off_rms > 10 * result.prediction.epistemic_std[INSIDE].max()
        assert np.allclose(np.diff(result.prediction.mean, 2), 0.0, atol=1e-9)


def test_the_evidence_chooses_degree_5_here_and_in_most_seeds(
    explorer: LinearRegressionExplorer,
) -> None:
    chosen = [
        r.evidence_by_count.argmax() + 1 for r in over_seeds(explorer, "evidence's choice", 40)
    ]
    assert chosen[0] == 5 == explorer.preset("evidence's choice").state()["n_features"] - 1
    assert set(chosen) == {3, 5, 6, 7}
    assert np.mean(np.array(chosen) == 5) == pytest.approx(0.75, abs=0.15)
    result = explorer.result
    assert result.evidence_by_prior.max() - result.log_evidence < 1.0


def test_one_more_point_widens_the_band_nowhere(explorer: LinearRegressionExplorer) -> None:
    asked = explorer.QUESTION
    for seed in range(20):
        explorer.preset("eight points").set(seed=seed)
        before = explorer.result.prediction.epistemic_std
        after = explorer.set(**{asked.control: explorer.state()[asked.control] + 1})
        assert (after.result.prediction.epistemic_std <= before + 1e-9).all()
    assert (asked.control, asked.choices[asked.answer]) == ("n", "No, nowhere")


def test_the_controls_are_called_what_they_move(explorer: LinearRegressionExplorer) -> None:
    assert controls_of(explorer) == {
        "n": ("points N", 0, 32),
        "prior_std": ("prior σ", -1, 1.5),
        "noise_std": ("noise σ", 0.1, 5),
        "n_features": ("how many d", 2, 14),
        "seed": ("seed", 0, 99),
        "kind": ("features", "bumps", "polynomial"),
    }


def test_no_two_buttons_have_one_name(explorer: LinearRegressionExplorer) -> None:
    words = words_of_the_buttons(explorer)
    assert len(set(words)) == len(words) >= len(explorer._acts)


# What holds of every explorer.


def test_every_control_moves_the_picture(explorer: LinearRegressionExplorer) -> None:
    explorer.preset("eight points")
    assert_every_control_moves_the_picture(explorer, MOVES)


def test_every_preset_shows_another_picture_and_says_what_to_see(
    explorer: LinearRegressionExplorer,
) -> None:
    assert_every_preset_shows_another_picture_and_says_what_to_see(explorer)


def test_the_state_rebuilds_the_explorer(explorer: LinearRegressionExplorer) -> None:
    first = explorer.set(**MOVES)
    picture, state = pixels(first), first.state()
    again = type("Again", (LinearRegressionExplorer,), {})(**state).wait()
    assert again.state() == state == MOVES
    assert (pixels(again) == picture).all()
    again.close()


def test_before_any_data_the_posterior_is_the_prior(explorer: LinearRegressionExplorer) -> None:
    result = explorer.set(n=0, prior_std=10.0, n_features=6, kind="bumps").result
    np.testing.assert_allclose(result.posterior.mean, 0.0, atol=1e-12)
    np.testing.assert_allclose(result.posterior.cov, 100.0 * np.eye(6), atol=1e-9)
    assert result.log_evidence == 0.0
    assert not result.evidence_by_prior.any()
    assert not result.evidence_by_count.any()


def test_points_arrive_one_by_one_and_stay(explorer: LinearRegressionExplorer) -> None:
    data = [explorer.set(n=n, noise_std=1.0, seed=4).result.data for n in (3, 9, 32)]
    for fewer, more in zip(data, data[1:], strict=False):
        np.testing.assert_array_equal(more.x[: len(fewer.x)], fewer.x)
        np.testing.assert_array_equal(more.y[: len(fewer.y)], fewer.y)
    assert sorted(data[-1].x[:, 0]) == pytest.approx(np.linspace(-0.5, 0.5, 32))


def test_the_epistemic_band_never_widens_as_points_arrive(
    explorer: LinearRegressionExplorer,
) -> None:
    explorer.preset("eight points")
    bands = [explorer.set(n=n).result.prediction.epistemic_std for n in (0, 1, 2, 8, 20, 32)]
    for before, after in zip(bands, bands[1:], strict=False):
        assert (after <= before + 1e-9).all()


@pytest.mark.parametrize("kind", features.KINDS)
def test_every_point_of_the_evidence_plots_is_the_marginal_density(
    explorer: LinearRegressionExplorer, kind: str
) -> None:
    result = explorer.set(n=9, noise_std=1.5, prior_std=10.0, n_features=6, kind=kind).result
    by_prior = [marginal_log_density(result, kind, 6, s) for s in linear.PRIOR_STDS]
    by_count = [marginal_log_density(result, kind, int(d), 10.0) for d in linear.COUNTS]
    np.testing.assert_allclose(result.evidence_by_prior, by_prior, rtol=1e-8)
    np.testing.assert_allclose(result.evidence_by_count, by_count, rtol=1e-8)
    assert result.log_evidence == pytest.approx(marginal_log_density(result, kind, 6, 10.0))


def test_the_draws_keep_their_noise_while_sliders_move(explorer: LinearRegressionExplorer) -> None:
    explorer.preset("before any data")
    narrow = explorer.set(prior_std=1.0).result.weights
    np.testing.assert_allclose(explorer.set(prior_std=10.0).result.weights, 10 * narrow)


@pytest.mark.parametrize("kind", features.KINDS)
@pytest.mark.parametrize(("noise_std", "prior_std"), [(0.1, 10**1.5), (0.1, 0.1), (5.0, 10**1.5)])
def test_the_far_corners_of_the_sliders_work(
    explorer: LinearRegressionExplorer, kind: str, noise_std: float, prior_std: float
) -> None:
    for n, d in ((0, 2), (1, 14), (32, 14), (32, 3)):
        result = explorer.set(
            n=n, n_features=d, kind=kind, noise_std=noise_std, prior_std=prior_std
        ).result
        assert np.isfinite(result.functions).all()
        assert np.isfinite(result.evidence_by_count).all()


def test_no_tick_compiles_anything(explorer: LinearRegressionExplorer) -> None:
    traces = trace_count()
    for name in explorer.presets:
        explorer.preset(name)
    assert trace_count() == traces


def test_the_picture_has_words_for_who_cannot_see_it(explorer: LinearRegressionExplorer) -> None:
    words = explorer.preset("eight points")._repr_mimebundle_()["text/plain"]
    assert words.startswith(explorer.ALT)
    assert "8 points, 10 features: log evidence" in words
    assert explorer.preset("one point").status.startswith("1 point, ")


def test_resample_brings_other_data(explorer: LinearRegressionExplorer) -> None:
    before = explorer.preset("eight points").result.data.y
    explorer._resample()
    explorer.wait()
    assert explorer.state()["seed"] == 1
    assert (explorer.result.data.y != before).any()


@pytest.mark.parametrize(
    ("values", "words"),
    [({"n": 33}, "n: expected a value between"), ({"kind": "splines"}, "kind:"), ({"m": 1}, "m:")],
)
def test_values_out_of_range_are_refused(
    explorer: LinearRegressionExplorer, values: dict[str, Any], words: str
) -> None:
    state = explorer.preset("eight points").state()
    with pytest.raises(ValueError, match=words):
        explorer.set(**values)
    assert explorer.state() == state


def test_sure_at_one_end_is_not_sure_at_both(explorer: LinearRegressionExplorer) -> None:
    (mission,) = (m for m in explorer.MISSIONS if m.id == "linear-sure-at-both-ends")
    for x, unsure in (((-1.0, 0.0), "x = 1"), ((0.0, 1.0), "x = −1")):
        explorer.set(n=2, data=(x, (0.0, 0.0), COURSE)).wait()
        (said,) = mission.missing(explorer.state(), explorer.result)
        assert said.startswith(f"the epistemic sd at {unsure} is ")


def test_points_that_a_slider_took_away_are_said_to_come_back_by_undo(
    explorer: LinearRegressionExplorer,
) -> None:
    own, words = ((-1.0, 1.0), (2.0, 3.0), COURSE), "Your points are gone: “undo” brings them back."
    explorer.set(data=own).wait()
    assert words not in explorer.status
    for n in (9, 10):  # a slider on its way
        explorer._controls["n"].value = n
    explorer.wait()
    assert explorer.status.startswith("10 points, ") and words in explorer.status
    explorer.undo()
    explorer.wait()
    assert explorer.state()["data"] == own and words not in explorer.status
    explorer.redo()
    explorer.set(noise_std=2.0).wait()
    assert words not in explorer.status


# What is marked, of what one points at.


def test_a_pair_is_one_of_the_weights_that_there_are(explorer: LinearRegressionExplorer) -> None:
    result = explorer.set(n_features=5, pair=(0, 5)).result
    assert result.pair != (0, 5) and max(result.pair) < 5


def test_a_click_on_a_dot_keeps_the_weight_that_was_chosen_last(
    explorer: LinearRegressionExplorer,
) -> None:
    explorer.set(pair=(2, 5))
    reach = explorer._ellipses.reach
    dots = explorer._ellipses._all.get_xdata()  # in shares of the panel
    explorer._point_at(1, (2 * dots[8] - 1) * reach, 0.99 * reach, True)
    assert explorer.wait().result.pair == (5, 8)


def test_a_marked_weight_stands_at_its_mean_and_so_many_sds_from_it(
    explorer: LinearRegressionExplorer,
) -> None:
    result = explorer.result
    i = result.pair[0]
    mark = linear._mark(result, "weight", i)
    sd = result.posterior.cov[i, i] ** 0.5
    expected = result.posterior.mean[i] + STEPS * sd
    np.testing.assert_allclose(mark.weights[:, 0] * result.prior_std, expected)


def test_a_draw_is_pointed_at_by_its_dot(explorer: LinearRegressionExplorer) -> None:
    result = explorer.result
    for k in (0, 7):
        x, y = result.weights[k, list(result.pair)] / result.prior_std
        assert explorer._linked(result, 1, x, y) == ("draw", k)


def test_where_the_panel_reaches_farther_a_draw_is_pointed_at_from_as_far_as_it_looks(
    explorer: LinearRegressionExplorer,
) -> None:
    result = explorer.set(prior_std=0.1, noise_std=0.1).result
    places, reach = (
        result.weights[:, list(result.pair)] / result.prior_std,
        explorer._ellipses.reach,
    )
    assert reach >= 7.0 == 2 * linear._REACH
    k = int(np.argmin(places[:, 0]))  # nothing is to the left of it
    x, y = places[k]
    assert explorer._linked(result, 1, x - 0.09 * reach, y) == ("draw", k)
    assert explorer._linked(result, 1, x - 0.11 * reach, y) is None
    explorer.reset()


def test_the_answer_beside_a_pinned_picture_names_the_weights_that_a_hand_chose(
    explorer: LinearRegressionExplorer,
) -> None:
    explorer.pin()._pin._answer.value = True
    explorer.set(pair=(0, 9))
    assert "pair not chosen → 0 and 9;" in explorer._pin._words.value
    explorer.pin().set(pair=None)
    assert "pair 0 and 9 → not chosen;" in explorer._pin._words.value
    explorer.unpin()


def test_a_function_is_pointed_at_from_near_by_alone() -> None:
    functions, x = np.array([[0.0, 0.0], [1.0, 1.0]]), np.array([0.0, 1.0])
    assert nearest_function(functions, x, (1.0, 1.01), 1.0) == 1
    assert nearest_function(functions, x, (1.0, 0.5), 1.0) is None


def test_a_drawn_function_is_pointed_at_from_as_near_as_the_eye_tells_apart(
    explorer: LinearRegressionExplorer,
) -> None:
    result, near = explorer.result, 0.03 * np.ptp(explorer._fit.axes.get_ylim())
    for column in (0, 120):
        k = int(np.argmax(result.functions[:, column]))  # nothing is above it
        x, y = X[column], result.functions[k, column]
        assert explorer._linked(result, 0, x, y + 0.9 * near) == ("draw", k)
        assert explorer._linked(result, 0, x, y + 1.1 * near) is None
        assert explorer._linked(result, 0, -x, y + 0.9 * near) != ("draw", k)


@pytest.mark.parametrize("n_features", [2, 10, 14])
def test_each_weight_is_pointed_at_by_its_dot_and_the_shown_ones_are_filled(
    explorer: LinearRegressionExplorer, n_features: int
) -> None:
    result, ellipses = explorer.set(n_features=n_features).result, explorer._ellipses
    across, up = ellipses._all.get_data()  # in shares of the panel
    assert len(across) == n_features
    for k, (share, height) in enumerate(zip(across, up, strict=True)):
        for off in (-0.45 / n_features, 0.0, 0.45 / n_features):
            x, y = ((2 * at - 1) * ellipses.reach for at in (share + off, height))
            assert explorer._linked(result, 1, x, y) == ("weight", k)
    edges = [ellipses.weight_at(x * ellipses.reach, ellipses.reach) for x in (-1.01, 1.01)]
    assert edges == [0, n_features - 1]
    assert ellipses.weight_at(0.0, 0.7 * ellipses.reach) is None, "below the row"
    np.testing.assert_array_equal(ellipses._two.get_data(), [across[[*result.pair]], up[:2]])


def test_a_click_takes_no_weight_that_is_shown_already_and_a_drag_over_the_dots_none(
    explorer: LinearRegressionExplorer,
) -> None:
    result, reach = explorer.set(seed=3).result, explorer._ellipses.reach
    dots = (2 * explorer._ellipses._all.get_xdata() - 1) * reach
    first, second = result.pair
    other = next(k for k in range(10) if k not in result.pair)
    explorer._point_at(1, dots[first], 0.99 * reach, True)
    explorer._point_at(1, dots[other], 0.99 * reach, False)
    explorer._point_at(1, dots[other], 0.5 * reach, True)
    assert "pair" not in explorer.wait().state()
    explorer._point_at(1, dots[other], 0.99 * reach, True)
    assert explorer.wait().state()["pair"] == (second, other)


def test_both_panels_are_interested_in_a_hand_that_points(
    explorer: LinearRegressionExplorer,
) -> None:
    panels = [panel.place() for panel in explorer._touched]
    assert [(p["kind"], p["hover"]) for p in panels] == [("points", True), ("at", True)]


@pytest.mark.parametrize("kind", features.KINDS)
def test_a_mark_has_its_functions_its_weights_and_its_words(
    explorer: LinearRegressionExplorer, kind: str
) -> None:
    result = explorer.set(kind=kind, n_features=6, prior_std=10**0.5).result
    mean, cov = posterior(explorer.state(), result.data)
    pair, phi = list(result.pair), features.design(kind, X[:, None], 6)
    mark = linear._mark(result, "draw", 4)
    np.testing.assert_allclose(mark.functions, result.weights[4:5] @ phi.T)
    np.testing.assert_allclose(mark.weights, result.weights[4:5, pair] / 10**0.5)
    assert mark.words == "draw 5"
    sd = np.sqrt(cov[2, 2])
    along = mean + STEPS[:, None] * cov[2] / sd  # the others at what they are then expected to be
    mark = linear._mark(result, "weight", 2)
    np.testing.assert_allclose(mark.functions, along @ phi.T, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(mark.weights, along[:, pair] / 10**0.5, rtol=1e-6, atol=1e-6)
    assert mark.words.startswith(f"weight 2: {mean[2]:.1f} ± {sd:.1f}; here from −2 to 2 sd")
    explorer._mark(result, ("weight", 2))
    assert explorer._links._lines.axes is panel(explorer, "What the model believes about y")
    assert explorer._links._dots.axes is panel(explorer, "Two weights, ±2 sd")
    explorer._mark(result, None)


@pytest.mark.parametrize("given", [(3, 3), (0, 14), (-1, 2), (1, 2, 3), (1,), 5, "ab", ("a", 1)])
def test_what_is_no_pair_of_weights_is_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="^pair: expected None or two different numbers of wei"):
        linear._read_pair(given)


def test_a_pair_is_of_any_two_weights_that_there_can_be() -> None:
    assert linear._read_pair(None) is None
    assert [linear._read_pair(pair) for pair in ([13, 0], (2, 5))] == [(13, 0), (2, 5)]


def test_the_watched_bumps_are_those_next_to_the_first_point_of_the_seed(
    explorer: LinearRegressionExplorer,
) -> None:
    orders, pairs = set(), set()
    for seed in range(6):
        result = explorer._compute({**HOME, "seed": seed})
        heights = features.bumps(result.data.x[:1], 10)[0]
        assert set(result.pair) == {*np.argsort(heights)[-2:]}
        orders.add(tuple(result.data.x[:, 0]))
        pairs.add(result.pair)
    assert len(orders) == 6 and len(pairs) > 1


def test_points_by_hand_have_the_noise_of_the_slider(explorer: LinearRegressionExplorer) -> None:
    result = explorer.set(data=((-0.2, 0.3), (1.0, 5.0), COURSE), noise_std=2.0).result
    assert result.data.noise_std == 2.0 and (result.prediction.aleatoric_std == 2.0).all()
    explorer.reset()


@every_picture_is_drawn
def test_where_the_functions_need_a_higher_panel_it_is_drawn(
    explorer: LinearRegressionExplorer,
) -> None:
    ax = panel(explorer, "What the model believes about y")
    low = explorer.set(n=0, prior_std=1.0) and ax.get_ylim()
    explorer.set(prior_std=10**1.5)
    assert ax.get_ylim() != low
    assert_the_picture_is_not_stale(explorer)
