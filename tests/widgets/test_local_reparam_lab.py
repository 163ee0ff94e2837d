"""The local-reparameterization lab: theory on every slider, and the draws within its error."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from artists import artist, assert_reads, line, panel

from bdl_teach.widgets import LocalReparamLab, local_reparam_lab
from bdl_teach.widgets.local_reparam_lab import KINDS, SIZES

HOME = LocalReparamLab.DEFAULTS
MOVES: dict[str, Any] = {
    "size": 4,
    "sigma": 0.6,
    "n_inputs": 3,
    "n_draws": 400,
    "seed": 7,
    "parameter": "σ",
    "score": True,
    "shared": False,
    "per_example": True,
    "flipout": True,
    "local": False,
}

NAMES = {  # in the first panel's legend, and beside the dots of the second
    "score": "score function",
    "shared": "one shared W",
    "per_example": "a W per example",
    "flipout": "Flipout",
    "local": "local",
}
SETTINGS = ({}, MOVES, {**dict.fromkeys(KINDS, True), "size": 2}, dict.fromkeys(KINDS, False))


@pytest.fixture(scope="module")
def made() -> Iterator[LocalReparamLab]:
    lab = LocalReparamLab().wait()
    yield lab
    lab.close()


@pytest.fixture
def lab(made: LocalReparamLab) -> LocalReparamLab:
    return made.preset("shared or local")


@pytest.fixture(params=SETTINGS, ids=("home", "all moved", "all five", "none"))
def moved(lab: LocalReparamLab, request: Any) -> LocalReparamLab:
    return lab.set(**{**HOME, **request.param})


def by_hand(kind: str, d: int, sigma: float, seed: int, parameter: str) -> Any:
    """Variance of the cost per data point's gradient by μ₁ or σ₁, at each size of the batch.

    With e the draw: Σ x₁ (r + σ x·e) for μ₁; for σ₁ (one input) the same times x₁ e.
    """
    mu, x, y = local_reparam_lab._pool(d, seed)
    found = []
    for m in SIZES:
        x1, rows, r = x[:m, 0], x[:m], x[:m] @ mu - y[:m]
        if parameter == "μ" and kind == "shared":
            of_sum = sigma**2 * ((x1 @ rows) ** 2).sum()
        elif parameter == "μ":  # noise of its own at each point
            of_sum = sigma**2 * (x1**2 @ rows**2).sum()
        elif kind == "shared":
            of_sum = (x1 @ r) ** 2 + 2 * sigma**2 * (x1 @ x1) ** 2
        else:
            of_sum = (x1**2 @ r**2) + 2 * sigma**2 * (x1**4).sum()
        found.append(of_sum / m**2)
    return np.array(found)


@pytest.mark.parametrize("kind", ["shared", "local", "per_example"])
@pytest.mark.parametrize(("parameter", "d"), [("μ", 1), ("μ", 3), ("σ", 1)])
def test_theory_is_what_the_sums_over_the_batch_say(
    lab: LocalReparamLab, kind: str, parameter: str, d: int
) -> None:
    lab.set(parameter=parameter, n_inputs=d, sigma=0.45, seed=2, per_example=True)
    expected = by_hand(kind, d, 0.45, 2, parameter)
    np.testing.assert_allclose(lab.result.theory[kind], expected)


def test_the_dots_are_the_gradients_at_m(moved: LocalReparamLab) -> None:
    v, result = moved.state(), moved.result
    ax = panel(moved, "Gradients drawn at this M", "error / sd with one shared W")
    variance, at = panel(moved, "Noise of a gradient"), SIZES.index(v["size"])
    places = {t.get_text(): y for t, y in zip(ax.get_yticklabels(), ax.get_yticks(), strict=True)}
    for kind, name in NAMES.items():
        colour = artist(variance, name).get_color()
        (dots,) = (other for other in ax.get_lines() if other.get_color() == colour)
        x, y = dots.get_data()
        assert len(x) == (v["n_draws"] if v[kind] else 0)
        if v[kind]:
            assert np.abs(y - places[name]).max() < 0.5
            np.testing.assert_array_equal(x, np.clip(result.draws[kind], -3.95, 3.95))
            assert abs(result.draws[kind].mean()) < 1e-9
            figures = {"measured": result.measured[kind][at], "theory": result.theory[kind][at]}
            assert_reads(moved, **{f"{kind}_{of}": figure for of, figure in figures.items()})


def test_the_row_panel_holds_both_outputs_and_their_correlation(moved: LocalReparamLab) -> None:
    v, ax = moved.state(), panel(moved, "Two outputs", "first / ", "second / ")
    _, x, _ = local_reparam_lab._pool(v["n_inputs"], v["seed"])
    first, second = x[:2]
    in_theory = {"shared": first @ second / np.sqrt(first @ first * (second @ second)), "local": 0}
    for kind, correlation in in_theory.items():
        rows = line(ax, NAMES[kind])
        assert rows.shape == (2, v["n_draws"])
        np.testing.assert_array_equal(rows.T, moved.result.rows[kind])
        error = (1 - correlation**2) / np.sqrt(v["n_draws"])
        assert np.corrcoef(rows)[0, 1] == pytest.approx(correlation, abs=4 * error + 1e-9)
        assert moved.result.correlation[kind] == pytest.approx(np.corrcoef(rows)[0, 1])
        error = np.sqrt(1 / (2 * v["n_draws"]))
        assert np.abs(rows.std(axis=1) - 1).max() < 4 * error
        assert np.abs(rows.mean(axis=1)).max() < 4 / np.sqrt(v["n_draws"])


@pytest.mark.parametrize("parameter", ["μ", "σ"])
def test_the_drawn_variances_are_those_of_theory(lab: LocalReparamLab, parameter: str) -> None:
    """In the mean over sizes and seeds: a single one is as noisy as it looks."""
    ratios: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for seed in range(10):
        lab.set(**dict.fromkeys(KINDS, True), parameter=parameter, seed=seed, n_draws=800)
        for kind in KINDS:
            ratios[kind].append(lab.result.measured[kind] / lab.result.theory[kind])
    for kind, values in ratios.items():
        error = np.std(values) / np.sqrt(np.size(values))
        assert abs(np.mean(values) - 1) < 5 * error, kind
        assert error < 0.15
