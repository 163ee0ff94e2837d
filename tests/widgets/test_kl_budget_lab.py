"""Test the KL-budget lab: each batch's share of the KL, the fit and its cost."""

from typing import Any

import numpy as np
import pytest
from explorer_claims import assert_reads, assert_shows, bars, line, panel

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
def test_picture_and_readings_show_kl_shares_fit_and_cost(
    explorer: KLBudgetLab, values: dict[str, Any], shares: Any, readings: dict[str, float]
) -> None:
    result, m = explorer.set(**values).result, values["n_batches"]
    ax = panel(explorer, "Who pays the KL")
    heights, edges = bars(ax, "of batch i")
    np.testing.assert_array_equal((edges[1:] + edges[:-1]) / 2, np.arange(1, 33))
    np.testing.assert_allclose(heights[:m], shares)
    assert np.isnan(heights[m:]).all()
    np.testing.assert_allclose(line(ax, "sum so far"), [np.arange(1, m + 1), np.cumsum(shares)])
    ax, history = panel(explorer, "How the free energy F fell"), result.fit.history
    for label, name in (
        ("F", "free_energy"),
        ("complexity", "complexity_cost"),
        ("likelihood", "likelihood_cost"),
    ):
        np.testing.assert_array_equal(line(ax, label), [history["step"], history[name]])
    assert_shows(panel(explorer, "What the network believes"), result.prediction)
    assert result.fit.problem.kl_weight == explorer.state()["kl_weight"]
    assert result.cost == result.fit.cost(COST_DRAWS)
    assert_reads(explorer, batches=m, complexity=result.cost.complexity, **readings)


def test_shares_are_those_that_the_fit_pays(explorer: KLBudgetLab) -> None:
    explorer.set(n_batches=32)
    even, early = (explorer.set(scheme=s).result.fit for s in ("uniform", "geometric"))
    # The last batches pay nothing early on, and so follow the data alone.
    assert not np.allclose(even.mean, early.mean, rtol=0.05)
