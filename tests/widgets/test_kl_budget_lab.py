"""The KL-budget lab: who pays, and what it costs on all points."""

from __future__ import annotations

from functools import wraps
from typing import Any

import numpy as np
import pytest
from explorer_claims import assert_reads, assert_shows, bars, line, panel

from bdl_teach import datasets
from bdl_teach.densities import ScaleMixture
from bdl_teach.methods import bbb
from bdl_teach.problems import COST_DRAWS
from bdl_teach.widgets import KLBudgetLab

EXPLORER = KLBudgetLab


@pytest.mark.parametrize(
    ("values", "shares", "readings"),
    [
        ({"n_batches": 1}, [1.0], {}),
        ({"n_batches": 4}, [0.25] * 4, {"first_share": 25}),
        (
            {"n_batches": 32, "scheme": "geometric", "kl_weight": 0.5},
            [2 ** (32 - i) / (2**32 - 1) for i in range(1, 33)],
            {"ten_share": 100 * (1 - 2**-10), "first_pays": 0.25},
        ),
    ],
)
def test_picture_and_readings_hold_shares_fit_and_cost(
    explorer: KLBudgetLab, values: dict[str, Any], shares: Any, readings: dict[str, float]
) -> None:
    result, m = explorer.set(**values).result, values["n_batches"]
    ax = panel(explorer, "Who pays the KL")
    heights, edges = bars(ax, "of batch i")
    np.testing.assert_array_equal((edges[1:] + edges[:-1]) / 2, np.arange(1, 33), "batch i at i")
    np.testing.assert_allclose(heights[:m], shares)
    assert np.isnan(heights[m:]).all(), "no bar where there is no batch"
    np.testing.assert_allclose(line(ax, "sum so far"), [np.arange(1, m + 1), np.cumsum(shares)])
    ax, history = panel(explorer, "How the free energy F fell"), result.fit.history
    for label, name in (
        ("F", "free_energy"),
        ("complexity", "complexity_cost"),
        ("likelihood", "likelihood_cost"),
    ):
        np.testing.assert_array_equal(line(ax, label), [history["step"], history[name]])
    assert_shows(panel(explorer, "What the network believes"), result.prediction)
    assert result.cost == result.fit.cost(COST_DRAWS), "all points, fresh draws"
    assert_reads(explorer, batches=m, complexity=result.cost.complexity, **readings)


def test_every_control_reaches_the_fit(
    explorer: KLBudgetLab, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted: dict[str, Any] = {}

    @wraps(bbb.fit)
    def fit(x: Any, y: Any, **values: Any) -> Any:
        fitted.update(values, x=x, y=y)
        return original(x, y, **values)

    original = bbb.fit
    monkeypatch.setattr(bbb, "fit", fit)
    explorer.set(n_batches=16, scheme="geometric", kl_weight=0.25)
    data = datasets.sinusoid()
    assert (fitted["x"] == data.x).all() and (fitted["y"] == data.y).all()
    asked = {"n_batches": 16, "kl_scheme": "geometric", "kl_weight": 0.25, "seed": 0}
    asked |= {"prior": ScaleMixture(), "noise_std": 1.0, "hidden_units": (20, 20)}
    assert {name: fitted[name] for name in asked} == asked
