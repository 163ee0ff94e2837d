"""The linear-regression explorer: exact, so that its claims can be held to formulas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from artists import (
    artist,
    assert_reads,
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


def test_the_model_s_panel_holds_the_posterior_predictive(moved: LinearRegressionExplorer) -> None:
    v = moved.state()
    mean, cov = posterior(v, moved.result.data)
    phi = features.design(v["kind"], X[:, None], v["n_features"])
    epistemic = np.sqrt(np.einsum("md,de,me->m", phi, cov, phi))
    expected = Predictive(phi @ mean, epistemic, np.full(len(X), v["noise_std"]))
    ax = panel(moved, "What the model believes about y", "x", "y")
    assert_shows(ax, expected)
    np.testing.assert_array_equal(
        line(ax, "data").T, np.hstack([moved.result.data.x, moved.result.data.y])
    )
    np.testing.assert_allclose(functions(ax, "some draws"), moved.result.weights @ phi.T)


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
    for (low, high), values in zip((ax.get_xlim(), ax.get_ylim()), (edge + mean).T, strict=True):
        assert low <= values.min() and values.max() <= high  # nothing is out of sight
        assert low == -high and high in 3.5 * 2.0 ** np.arange(8)  # it moves in steps


def test_evidence_panels_hold_the_marginal_density(moved: LinearRegressionExplorer) -> None:
    v, result = moved.state(), moved.result
    kind, d, std = v["kind"], v["n_features"], v["prior_std"]
    if not v["n"]:
        return assert_reads(moved, log_evidence=0.0)
    of_prior = [marginal_log_density(result, kind, d, s) for s in linear.PRIOR_STDS]
    of_count = [marginal_log_density(result, kind, int(k), std) for k in linear.COUNTS]
    here = marginal_log_density(result, kind, d, std)
    best = linear.PRIOR_STDS[np.argmax(of_prior)]
    assert_reads(moved, log_evidence=here, best=best)
    for title, choices, log_p, now in (
        ("Log evidence by σ", linear.PRIOR_STDS, np.array(of_prior), std),
        ("… by features", linear.COUNTS, np.array(of_count), d),
    ):
        curve, dot = panel(moved, title).get_lines()
        np.testing.assert_allclose(curve.get_xdata(), choices)
        below = np.maximum(log_p - log_p.max(), -25.0)
        np.testing.assert_allclose(curve.get_ydata(), below, atol=1e-6)
        at = [[now], [max(here - log_p.max(), -25.0)]]
        np.testing.assert_allclose(dot.get_data(), at, atol=1e-6)


def test_readings_are_of_the_posterior(moved: LinearRegressionExplorer) -> None:
    v = moved.state()
    _, cov = posterior(v, moved.result.data)
    phi = features.design(v["kind"], X[:, None], len(cov))
    sd = np.sqrt(np.einsum("md,de,me->m", phi, cov, phi))
    assert_reads(moved, sd_middle=sd[INSIDE].mean(), sd_left=sd[0], sd_right=sd[-1])


def test_the_watched_weights_stay_while_points_arrive(explorer: LinearRegressionExplorer) -> None:
    explorer.preset("before any data").set(seed=5)
    pairs = {explorer.set(n=n).result.pair for n in (0, 1, 7, 32)}
    assert len(pairs) == 1
    explorer.set(kind="polynomial")
    pairs = [explorer.set(n_features=d).result.pair for d in (2, 3, 4, 14)]
    assert pairs == [(0, 1), (0, 1), (1, 3), (1, 3)]  # slope and cube, once there is one
