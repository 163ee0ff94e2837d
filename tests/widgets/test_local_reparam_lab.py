"""Test that the local-reparameterization lab agrees with the formulas of its estimators."""

from typing import Any

import numpy as np
import pytest
from explorer_claims import artist, assert_reads, line, panel, set_to

from bdl_teach import estimators
from bdl_teach.widgets import LocalReparamLab, local_reparam_lab
from bdl_teach.widgets.local_reparam_lab import KINDS, SIZES

MOVES: dict[str, Any] = {"size": 4, "sigma": 0.6, "n_inputs": 3, "n_draws": 400, "seed": 7}
MOVES |= {"parameter": "σ", "score": True, "shared": False, "per_example": True, "local": False}
NAMES = {  # in the legend and beside the dots
    "score": "score function",
    "shared": "one shared W",
    "per_example": "a W for each row",
    "flipout": "Flipout",
    "local": "local",
}
EXPLORER, ALL = LocalReparamLab, dict.fromkeys(KINDS, True)
everywhere = set_to([{}, MOVES, {**ALL, "size": 2}, dict.fromkeys(KINDS, False)])


@everywhere
def test_dots_and_lines_show_gradients_and_their_variances(
    explorer: LocalReparamLab,
) -> None:
    v, result, at = explorer.state(), explorer.result, SIZES.index(explorer.state()["size"])
    ax, variance = (
        panel(explorer, "Gradients at this M"),
        panel(explorer, "Noise of a gradient"),
    )
    names = ", ".join(tick.get_text() for tick in ax.get_yticklabels())
    assert names == "local, Flipout, W a row, one W, score"
    mu, inputs, y = local_reparam_lab._pool(v["n_inputs"], v["seed"])
    sigma, name = np.full(v["n_inputs"], v["sigma"]), "mu" if v["parameter"] == "μ" else "sigma"
    for place, (kind, label) in enumerate(reversed(NAMES.items())):
        colour = artist(variance, label).get_color()
        (dots,) = (other for other in ax.get_lines() if other.get_color() == colour)
        marks, lines = (
            one.get_data()
            for one in sorted(
                (a for a in variance.get_lines() if a.get_color() == colour),
                key=lambda a: a.get_label() != label,
            )
        )
        x, heights = dots.get_data()
        if not v[kind]:
            assert len(x) == len(marks[0]) == len(lines[0]) == 0
            continue
        assert len(x) == v["n_draws"] and np.abs(heights - place).max() < 0.5
        np.testing.assert_array_equal(x, np.clip(result.draws[kind], -3.95, 3.95))
        batches = [estimators.minibatch(mu, sigma, inputs[:m], y[:m]) for m in SIZES]
        in_theory = [
            getattr(estimators.gradient_variance(kind, batch), name)[0] / len(batch.x) ** 2
            for batch in batches
        ]
        np.testing.assert_allclose(lines, [SIZES, in_theory])
        np.testing.assert_allclose(marks, [SIZES, result.measured[kind]])
        assert 0.2 < np.median(result.measured[kind] / in_theory) < 5
        assert_reads(explorer, **{f"{kind}_measured": result.measured[kind][at]})
        assert_reads(explorer, **{f"{kind}_theory": in_theory[at]})


@everywhere
def test_outputs_panel_shows_outputs_at_two_points_and_their_correlation(
    explorer: LocalReparamLab,
) -> None:
    v, ax = explorer.state(), panel(explorer, "Two outputs")
    first, second = local_reparam_lab._pool(v["n_inputs"], v["seed"])[1][:2]
    in_theory = {"shared": first @ second / np.sqrt(first @ first * (second @ second)), "local": 0}
    for kind, correlation in in_theory.items():
        rows = line(ax, NAMES[kind])
        np.testing.assert_array_equal(rows.T, explorer.result.rows[kind])
        error = (1 - correlation**2) / np.sqrt(v["n_draws"])
        found = np.corrcoef(rows)[0, 1]
        assert found == pytest.approx(correlation, abs=4 * error + 1e-9)
        assert_reads(explorer, **{f"r_{kind}": found})
        assert np.abs(rows.std(axis=1) - 1).max() < 4 / np.sqrt(2 * v["n_draws"])
        assert np.abs(rows.mean(axis=1)).max() < 4 / np.sqrt(v["n_draws"])
