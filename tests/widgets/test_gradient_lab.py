"""The gradient lab: what its clouds, curves and status line hold, from the formulas alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from artists import assert_reads, band, line, panel
from matplotlib.colors import to_hex

from bdl_teach.widgets import GradientLab, gradient_lab

MOVES: dict[str, Any] = {
    "mu": 0.5,
    "sigma": 10**-0.3,
    "curvature": 10**0.5,
    "offset": 2.0,
    "ripple": 0.5,
    "n_draws": 10,
    "seed": 3,
    "parameter": "σ",
}
HOME = GradientLab.DEFAULTS
PRESETS = {name: values for name, (_, values) in GradientLab.PRESETS.items()}
NAMES = {"score": "score function", "pathwise": "pathwise"}
EPS = np.linspace(-10.0, 10.0, 20001)  # a fine sum: Gauss-Hermite nodes miss the ripples
WEIGHTS = np.exp(-0.5 * EPS**2) / np.exp(-0.5 * EPS**2).sum()


@pytest.fixture(scope="module")
def made() -> Iterator[GradientLab]:
    lab = GradientLab().wait()
    yield lab
    lab.close()


@pytest.fixture
def lab(made: GradientLab) -> GradientLab:
    return made.preset("a bowl")


@pytest.fixture(params=({}, MOVES, PRESETS["ripples"]), ids=("home", "all moved", "ripples"))
def moved(lab: GradientLab, request: Any) -> GradientLab:
    return lab.set(**{**HOME, **request.param})


def cost(v: dict[str, Any], z: Any) -> Any:
    return 0.5 * v["curvature"] * (z - 1) ** 2 + v["offset"] + v["ripple"] * np.cos(10 * z)


def one_draw(v: dict[str, Any], kind: str, eps: Any) -> Any:
    """Both estimators at a draw: f(z) ∂ log N/∂θ, and f′(z) ∂z/∂θ."""
    z, by_mean = v["mu"] + v["sigma"] * eps, v["parameter"] == "μ"
    if kind == "score":
        return cost(v, z) * (eps if by_mean else eps**2 - 1) / v["sigma"]
    slope = v["curvature"] * (z - 1) - 10 * v["ripple"] * np.sin(10 * z)
    return slope * (1 if by_mean else eps)


def moments(v: dict[str, Any], kind: str) -> tuple[float, float]:
    """Mean and variance of one draw, by a sum over ε."""
    each = one_draw(v, kind, EPS)
    return float(WEIGHTS @ each), float(WEIGHTS @ (each - WEIGHTS @ each) ** 2)


def test_the_cost_panel_holds_the_cost_its_density_and_the_draws(moved: GradientLab) -> None:
    v, ax = moved.state(), panel(moved, "Where z is drawn, what it costs", "z", "cost f(z)")
    z, f = line(ax, "cost f(z)")
    np.testing.assert_allclose(f, cost(v, z))
    assert (z[0], z[-1]) == ax.get_xlim()
    base, top = band(ax, "density of z")
    assert (base == ax.get_ylim()[0]).all()
    density = np.exp(-0.5 * ((z - v["mu"]) / v["sigma"]) ** 2)
    np.testing.assert_allclose(top - base, 8 * density, atol=1e-12)
    drawn, costs = line(ax, "draws")
    assert len(drawn) == v["n_draws"]
    np.testing.assert_allclose(costs, cost(v, drawn))


@pytest.mark.parametrize("parameter", ["μ", "σ"])
def test_an_estimate_is_the_mean_over_the_draws_that_are_shown(
    lab: GradientLab, parameter: str
) -> None:
    for values in ({"n_draws": 1}, {"n_draws": 25, "seed": 4, "sigma": 0.5, "ripple": 1.0}):
        v = lab.set(**{**HOME, **values, "parameter": parameter}).state()
        eps = (lab.result.z - v["mu"]) / v["sigma"]
        assert len(eps) == v["n_draws"]
        for kind, estimates in lab.result.estimates.items():
            assert estimates[0] == pytest.approx(one_draw(v, kind, eps).mean())
            assert len(np.unique(estimates)) == len(estimates) == 250


def test_the_clouds_hold_the_errors_each_over_its_own_name(moved: GradientLab) -> None:
    v, ax = moved.state(), panel(moved, "250 gradient estimates", "", "error")
    ticks = dict(zip([t.get_text() for t in ax.get_xticklabels()], ax.get_xticks(), strict=True))
    clouds = {drawn.get_color(): drawn for drawn in ax.get_lines() if len(drawn.get_xdata()) > 2}
    for kind, name in NAMES.items():
        x, errors = clouds[gradient_lab._COLOURS[kind]].get_data()
        assert np.abs(x - ticks[name]).max() < 0.5
        expected = moved.result.estimates[kind] - moments(v, "pathwise")[0]
        np.testing.assert_allclose(errors, np.clip(expected, -90, 90), atol=1e-6)


def test_the_variance_panel_holds_theory_and_what_was_measured(moved: GradientLab) -> None:
    v, ax = moved.state(), panel(moved, "Variance of an estimate", "draws S", "variance")
    measured = {
        to_hex(drawn.get_color()): drawn.get_data()
        for drawn in ax.get_lines()
        if drawn.get_label() == "measured"
    }
    for kind, name in NAMES.items():
        draws, variance = line(ax, name)
        assert set(draws) >= {1, 10, 100, 1000}
        np.testing.assert_allclose(variance * draws, moments(v, kind)[1], rtol=1e-6)
        (at,), (height,) = measured[to_hex(gradient_lab._COLOURS[kind]).lower()]
        assert at == v["n_draws"]
        assert height == pytest.approx(np.var(moved.result.estimates[kind]))
        drawn = next(child for child in ax.get_lines() if child.get_label() == name)
        assert to_hex(drawn.get_color()) == to_hex(gradient_lab._COLOURS[kind])


def test_readings_are_those_of_the_formulas(moved: GradientLab) -> None:
    v = moved.state()
    score, path = (moments(v, kind)[1] / v["n_draws"] for kind in ("score", "pathwise"))
    assert_reads(moved, exact=moments(v, "score")[0], score=score, pathwise=path)
    assert_reads(moved, score_times=score / path, n_draws=v["n_draws"])
    measured = {f"{k}_measured": np.var(e) for k, e in moved.result.estimates.items()}
    assert_reads(moved, **measured)


def test_measured_variances_are_those_of_the_theory(lab: GradientLab) -> None:
    """250 estimates: the standard error of a variance is √((kurtosis − 1)/250) of it."""
    for values in ({}, {"offset": 10.0}, {"parameter": "σ"}, {"n_draws": 10}):
        result = lab.preset("a bowl").set(**values).result
        for kind, estimates in result.estimates.items():
            z = (estimates - estimates.mean()) / estimates.std()
            error = np.sqrt(((z**4).mean() - 1) / len(z))
            ratio = estimates.var() * result.n_draws / result.variances[kind]
            assert abs(ratio - 1) < 6 * error, (values, kind)
            spread = np.sqrt(result.variances[kind] / result.n_draws / len(estimates))
            assert abs(estimates.mean() - result.exact) < 5 * spread
