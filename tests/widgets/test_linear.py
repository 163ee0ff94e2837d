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
    functions,
    line,
    panel,
)
from scipy.stats import multivariate_normal

from bdl_teach import datasets, features
from bdl_teach.predictive import Predictive
from bdl_teach.widgets import LinearRegressionExplorer, linear

HOME = LinearRegressionExplorer.DEFAULTS
MOVES: dict[str, Any] = {
    "n": 5,
    "prior_std": 10**0.5,
    "noise_std": 2.0,
    "n_features": 7,
    "seed": 3,
    "kind": "polynomial",
}
PRESETS = {name: values for name, (_, values) in LinearRegressionExplorer.PRESETS.items()}
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


def test_the_watched_weights_stay_while_points_arrive(explorer: LinearRegressionExplorer) -> None:
    explorer.preset("before any data").set(seed=5)
    pairs = {explorer.set(n=n).result.pair for n in (0, 1, 7, 32)}
    assert len(pairs) == 1
    explorer.set(kind="polynomial")
    pairs = [explorer.set(n_features=d).result.pair for d in (2, 3, 4, 14)]
    assert pairs == [(0, 1), (0, 1), (1, 3), (1, 3)]  # slope and cube, once there is one


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


# What is marked, of what one points at.
