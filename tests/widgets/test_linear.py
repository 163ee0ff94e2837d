"""Test that the linear-regression explorer agrees with the exact formulas."""

from typing import Any

import numpy as np
import pytest
from explorer_claims import artist, assert_reads, assert_shows, curves, line, panel, set_to

from bdl_teach import features
from bdl_teach.methods.exact import LinearPosterior, linear_regression
from bdl_teach.widgets import LinearRegressionExplorer, linear

HOME = LinearRegressionExplorer.DEFAULTS
MOVES: dict[str, Any] = {"n": 5, "prior_std": 10**0.5, "noise_std": 2.0, "n_features": 7, "seed": 3}
MOVES["kind"] = "polynomial"
EXPLORER = LinearRegressionExplorer
NARROW = LinearRegressionExplorer.PRESETS["prior too narrow"][1]
everywhere = set_to([{}, {"n": 0}, NARROW, MOVES])
X = np.linspace(-1.0, 1.0, 121)
INSIDE = np.abs(X) <= 0.5


def posterior(v: dict[str, Any], data: Any, **other: Any) -> LinearPosterior:
    """Return the exact posterior for an explorer's values; without points, the prior."""
    v = {**v, **other}
    phi, y = np.zeros((1, v["n_features"])), [0.0]
    if len(data.x):
        phi, y = features.design(v["kind"], data.x, v["n_features"]), data.y
    return linear_regression(phi, y, v["prior_std"], v["noise_std"])


@everywhere
def test_model_panel_and_readings_show_the_exact_prediction(
    explorer: LinearRegressionExplorer,
) -> None:
    v, result, ax = explorer.state(), explorer.result, panel(explorer, "What the model believes")
    phi = features.design(v["kind"], X[:, None], v["n_features"])
    expected = posterior(v, result.data).predict(phi)
    assert_shows(ax, expected)
    np.testing.assert_array_equal(line(ax, "data").T, np.hstack([result.data.x, result.data.y]))
    drawn = [curve[:, 1] for curve in curves(ax, "drawn networks")]
    np.testing.assert_allclose(drawn, result.weights @ phi.T)
    sd = expected.epistemic_std
    assert_reads(explorer, sd_middle=sd[INSIDE].mean(), sd_left=sd[0], sd_right=sd[-1])


@pytest.mark.parametrize("values", [{}, {"kind": "polynomial", "n_features": 4, "n": 5}])
def test_drawn_functions_have_the_posterior_covariance(
    made: LinearRegressionExplorer, values: dict[str, Any]
) -> None:
    """At three x, functions whitened by the posterior covariance must have covariance I."""
    at, whitened = [20, 60, 97], []
    for seed in range(60):
        v = {**HOME, **values, "seed": seed}
        result = made._worker.model.compute(v)
        phi = features.design(v["kind"], X[at, None], v["n_features"])
        root = np.linalg.cholesky(phi @ result.posterior.cov @ phi.T)
        whitened.append(np.linalg.solve(root, (result.functions - result.prediction.mean)[:, at].T))
    drawn = np.concatenate(whitened, axis=1)  # [3, 600]
    assert np.abs(drawn.mean(axis=1)).max() < 4 / np.sqrt(600)
    assert np.abs(drawn @ drawn.T / 600 - np.eye(3)).max() < 4 * np.sqrt(2 / 600)


@everywhere
def test_weights_panel_shows_their_posterior_and_prior(explorer: LinearRegressionExplorer) -> None:
    ax, pair = panel(explorer, "Two weights, ±2 sd"), list(explorer.result.pair)
    known, scale = posterior(explorer.state(), explorer.result.data), explorer.state()["prior_std"]
    mean, cov = known.mean[pair] / scale, known.cov[np.ix_(pair, pair)] / scale**2
    edge = artist(ax, "posterior").get_xy() - mean
    distance = np.einsum("ij,jk,ik->i", edge, np.linalg.inv(cov), edge)
    np.testing.assert_allclose(distance, 4.0, rtol=1e-6)
    np.testing.assert_allclose(np.abs(edge).max(axis=0), 2 * np.sqrt(np.diag(cov)), rtol=1e-2)
    np.testing.assert_allclose(np.hypot(*line(ax, "prior")), 2.0)
    np.testing.assert_allclose(line(ax, "mean")[:, 0], mean, atol=1e-9)
    np.testing.assert_allclose(line(ax, "draws").T, explorer.result.weights[:, pair] / scale)
    assert np.abs(edge + mean).max() <= ax.get_xlim()[1] == ax.get_ylim()[1], (
        "the ellipse leaves the panel"
    )


@everywhere
def test_evidence_panels_show_the_log_evidence(explorer: LinearRegressionExplorer) -> None:
    v, data = explorer.state(), explorer.result.data
    if not v["n"]:
        return assert_reads(explorer, log_evidence=0.0)
    here = posterior(v, data).log_evidence
    for title, name, choices in (
        ("Log evidence by σ", "prior_std", linear.PRIOR_STDS),
        ("… by features", "n_features", linear.COUNTS),
    ):
        log_p = [posterior(v, data, **{name: at}).log_evidence for at in choices]
        curve, dot = panel(explorer, title).get_lines()
        np.testing.assert_allclose(curve.get_xdata(), choices)
        below = np.maximum(np.array(log_p) - max(log_p), -25.0)
        np.testing.assert_allclose(curve.get_ydata(), below, atol=1e-6)
        at = [[v[name]], [max(here - max(log_p), -25.0)]]
        np.testing.assert_allclose(dot.get_data(), at, atol=1e-6)
        if name == "prior_std":
            assert_reads(explorer, log_evidence=here, best=choices[np.argmax(log_p)])


def test_same_two_weights_stay_plotted_while_points_are_added(
    made: LinearRegressionExplorer,
) -> None:
    made.preset("before any data").set(seed=5)
    assert len({made.set(n=n).result.pair for n in (0, 1, 7, 32)}) == 1
    made.set(kind="polynomial")
    pairs = [made.set(n_features=d).result.pair for d in (2, 3, 4, 14)]
    assert pairs == [(0, 1), (0, 1), (1, 3), (1, 3)]  # slope and cube, if there is a cube


@pytest.mark.parametrize("state", [HOME, NARROW], ids=["usual axes", "wide axes"])
def test_click_on_the_dot_of_a_weight_shows_that_weight(
    made: LinearRegressionExplorer, state: dict[str, Any]
) -> None:
    mean = made.set(**state).result.posterior.mean
    reaches = set()
    for weight in (int(np.abs(mean).argmax()), 0, 7):
        reach = panel(made, "Two weights").get_xlim()[1]
        x, y = ((2 * share - 1) * reach for share in ((weight + 0.5) / state["n_features"], 0.94))
        made._view.picture._handle_custom_msg({"act": "down", "panel": 1, "x": x, "y": y}, [])
        made.wait()
        reaches.add(reach)
    assert made.result.pair == made.state()["pair"] == (0, 7)
    assert (len(reaches) > 1) == (state is NARROW)
