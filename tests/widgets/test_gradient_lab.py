"""Test that the gradient lab's picture and readings agree with the formulas."""

from typing import Any

import numpy as np
import pytest
from explorer_claims import assert_reads, band, line, panel, set_to
from matplotlib.colors import to_hex

from bdl_teach import expectation_gradients as eg
from bdl_teach.widgets import GradientLab, gradient_lab

MOVES: dict[str, Any] = {"mu": 0.5, "sigma": 10**-0.3, "curvature": 10**0.5, "offset": 2.0}
MOVES |= {"ripple": 0.5, "n_draws": 10, "seed": 3, "parameter": "σ"}
NAMES = {"score": "score function", "pathwise": "pathwise"}
EXPLORER = GradientLab
everywhere = set_to([{}, MOVES, GradientLab.PRESETS["ripples"][1]])


def cost(v: dict[str, Any]) -> eg.Cost:
    return eg.Cost(v["curvature"], v["offset"], v["ripple"])


def variance(v: dict[str, Any], kind: str) -> float:
    """Return the variance of an estimate from one draw."""
    return float(eg.variance(kind, v["parameter"], cost(v), v["mu"], v["sigma"]))


def exact(v: dict[str, Any]) -> float:
    return float(cost(v).gradient(v["mu"], v["sigma"])[eg.PARAMETERS.index(v["parameter"])])


@everywhere
def test_cost_panel_shows_cost_density_and_draws(explorer: GradientLab) -> None:
    v, ax = explorer.state(), panel(explorer, "Draws of z, their cost")
    z, f = line(ax, "cost f(z)")
    np.testing.assert_allclose(f, cost(v).value(z))
    _, base, top = band(ax, "density of z")
    density = np.exp(-0.5 * ((z - v["mu"]) / v["sigma"]) ** 2)
    np.testing.assert_allclose(top - base, 8 * density, atol=1e-12)
    drawn, costs = line(ax, "draws")
    assert len(drawn) == v["n_draws"]
    np.testing.assert_allclose(costs, cost(v).value(drawn))
    eps = (drawn - v["mu"]) / v["sigma"]
    for kind, estimates in explorer.result.estimates.items():
        each = eg.draws(kind, v["parameter"], cost(v), v["mu"], v["sigma"], eps)
        assert estimates[0] == pytest.approx(each.mean()), "the first estimate uses the shown draws"
        assert len(np.unique(estimates)) == len(estimates) == 250


@everywhere
def test_each_estimator_has_its_own_cloud_and_variance_curve(explorer: GradientLab) -> None:
    v, ax, curves = (
        explorer.state(),
        panel(explorer, "250 gradient"),
        panel(explorer, "Variance of an estimate"),
    )
    ticks = dict(zip([t.get_text() for t in ax.get_xticklabels()], ax.get_xticks(), strict=True))
    clouds = {drawn.get_color(): drawn for drawn in ax.get_lines() if len(drawn.get_xdata()) > 2}
    measured = {
        to_hex(drawn.get_color()): drawn.get_data()
        for drawn in curves.get_lines()
        if drawn.get_label() == "measured"
    }
    for kind, name in NAMES.items():
        estimates, colour = explorer.result.estimates[kind], gradient_lab._STYLES[kind][1]
        x, errors = clouds[colour].get_data()
        assert np.abs(x - ticks[name]).max() < 0.5
        np.testing.assert_allclose(errors, np.clip(estimates - exact(v), -90, 90), atol=1e-6)
        draws, variances = line(curves, name)
        np.testing.assert_allclose(variances * draws, variance(v, kind))
        (at,), (height,) = measured[to_hex(colour)]
        assert (at, height) == pytest.approx((v["n_draws"], np.var(estimates)))


@everywhere
def test_gradient_lab_readings_agree_with_the_formulas(explorer: GradientLab) -> None:
    v = explorer.state()
    score, path = (variance(v, kind) / v["n_draws"] for kind in NAMES)
    measured = {f"{kind}_measured": np.var(e) for kind, e in explorer.result.estimates.items()}
    assert_reads(explorer, exact=exact(v), score=score, pathwise=path, score_times=score / path)
    assert_reads(explorer, n_draws=v["n_draws"], **measured)


@set_to([{"mu": -2.0, "sigma": 0.1, "offset": 10.0}])
def test_only_half_of_score_estimates_have_right_sign_if_cost_has_offset(
    explorer: GradientLab,
) -> None:
    """Here the pathwise estimator, the slope at z, is never positive: it has the right sign."""
    assert (explorer.result.estimates["pathwise"] < 0).all()
    assert 0.35 < explorer.readings()["right_signs"] < 0.65
