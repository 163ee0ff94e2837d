"""The KL-budget lab: who pays, what it costs on all points, and what its presets promise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from artists import assert_reads, assert_shows, line, panel
from explorer_claims import bars

from bdl_teach import datasets
from bdl_teach.densities import ScaleMixture
from bdl_teach.methods import bbb
from bdl_teach.problems import COST_DRAWS
from bdl_teach.widgets import KLBudgetLab

START = KLBudgetLab.DEFAULTS


@pytest.fixture(scope="module")
def lab() -> Iterator[KLBudgetLab]:
    made = KLBudgetLab().wait()
    assert made.state() == START
    yield made
    made.close()


@pytest.mark.parametrize(
    ("m", "scheme", "shares"),
    [
        (1, "uniform", [1.0]),
        (4, "uniform", [0.25] * 4),
        (32, "geometric", [2 ** (32 - i) / (2**32 - 1) for i in range(1, 33)]),
    ],
)
def test_the_bars_are_what_each_minibatch_pays(
    lab: KLBudgetLab, m: int, scheme: str, shares: Any
) -> None:
    lab.set(n_batches=m, scheme=scheme)
    np.testing.assert_allclose(lab.result.shares, shares)
    ax = panel(lab, "Who pays the KL")
    heights, edges = bars(ax, "of batch i")
    np.testing.assert_array_equal((edges[1:] + edges[:-1]) / 2, np.arange(1, 33), "batch i at i")
    np.testing.assert_allclose(heights[:m], shares)
    assert np.isnan(heights[m:]).all(), "no bar where there is no batch"
    np.testing.assert_allclose(line(ax, "sum so far"), [np.arange(1, m + 1), np.cumsum(shares)])


def test_the_fit_s_panels_hold_the_fit(lab: KLBudgetLab) -> None:
    result = lab.set(n_batches=4, scheme="geometric", kl_weight=0.5).result
    ax, history = panel(lab, "How the free energy F fell"), result.fit.history
    for label, name in (
        ("F", "free_energy"),
        ("complexity", "complexity_cost"),
        ("likelihood", "likelihood_cost"),
    ):
        np.testing.assert_array_equal(line(ax, label), [history["step"], history[name]])
    assert_shows(panel(lab, "What the network believes"), result.prediction)


def test_every_control_reaches_the_fit(lab: KLBudgetLab, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted: dict[str, Any] = {}

    def fit(x: Any, y: Any, **values: Any) -> Any:
        fitted.update(values, x=x, y=y)
        return original(x, y, **values)

    original = bbb.fit
    monkeypatch.setattr(bbb, "fit", fit)
    result = lab.set(n_batches=16, scheme="geometric", kl_weight=0.25).result
    data = datasets.sinusoid()
    assert (fitted.pop("x") == data.x).all() and (fitted.pop("y") == data.y).all()
    fitted.pop("capacity")
    assert fitted == {
        "prior": ScaleMixture(),
        "noise_std": 1.0,
        "hidden_units": (20, 20),
        "n_batches": 16,
        "kl_scheme": "geometric",
        "kl_weight": 0.25,
        "seed": 0,
    }
    assert result.cost == result.fit.cost(COST_DRAWS), "all points, fresh draws"
    assert result.cost.kl_weight == 0.25


@pytest.mark.parametrize(
    ("values", "shares"),
    [
        ({"n_batches": 8}, {"first_share": 100 / 8}),
        ({"n_batches": 8, "scheme": "geometric"}, {"first_share": 12800 / 255}),
        ({"n_batches": 16, "kl_weight": 8.0}, {"ten_share": 1000 / 16, "first_pays": 0.5}),
        ({"n_batches": 32, "scheme": "geometric"}, {"ten_share": 100 * (1 - 2**-10)}),
    ],
)
def test_readings_are_kl_payments_and_cost_on_all_points(
    lab: KLBudgetLab, values: dict[str, Any], shares: dict[str, float]
) -> None:
    cost = lab.set(**{**START, **values}).result.cost
    assert_reads(lab, batches=values["n_batches"], complexity=cost.complexity, **shares)
    assert cost.kl_weight == lab.state()["kl_weight"]
