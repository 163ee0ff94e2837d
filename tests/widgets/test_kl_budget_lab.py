"""The KL-budget lab: who pays, what it costs on all points, and what its presets promise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from explorer_claims import (
    as_printed,
    assert_the_picture_is_not_stale,
    band,
    bars,
    every_picture_is_drawn,
    legend_labels,
    line,
    panel,
    said,
)

from bdl_teach import datasets
from bdl_teach.densities import ScaleMixture
from bdl_teach.methods import bbb
from bdl_teach.problems import COST_DRAWS, live_fits
from bdl_teach.widgets import KLBudgetLab

START = KLBudgetLab.DEFAULTS
PRESETS = {name: values for name, (_, values) in KLBudgetLab.PRESETS.items()}
X = np.linspace(-1.5, 1.5, 121)


@pytest.fixture(scope="module")
def lab() -> Iterator[KLBudgetLab]:
    made = KLBudgetLab().wait()
    assert made.state() == START
    yield made
    made.close()


# The replay


def geometric(m: int) -> Any:
    """π_i = 2^(M−i)/(2^M − 1), in whole numbers up to the division."""
    return np.array([2 ** (m - i) / (2**m - 1) for i in range(1, m + 1)])


@every_picture_is_drawn
@pytest.mark.parametrize(
    ("m", "scheme", "shares"),
    [
        (1, "uniform", [1.0]),
        (4, "uniform", [0.25] * 4),
        (2, "geometric", [2 / 3, 1 / 3]),
        (32, "geometric", geometric(32)),
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
    i, paid = line(ax, "sum so far")
    np.testing.assert_array_equal(i, np.arange(1, m + 1))
    np.testing.assert_allclose(paid, [sum(shares[:k]) for k in range(1, m + 1)])
    assert paid[-1] == pytest.approx(1)
    assert set(legend_labels(ax)) == {"of batch i", "sum so far"}
    assert_the_picture_is_not_stale(lab)


@every_picture_is_drawn
def test_the_fit_s_panels_hold_the_fit(lab: KLBudgetLab) -> None:
    result = lab.set(n_batches=4, scheme="geometric", kl_weight=0.5).result
    ax, history = panel(lab, "How the free energy F fell"), result.fit.history
    for label, name in (
        ("F", "free_energy"),
        ("complexity", "complexity_cost"),
        ("likelihood", "likelihood_cost"),
    ):
        np.testing.assert_array_equal(line(ax, label), [history["step"], history[name]])
    ax, prediction = panel(lab, "What the network believes"), result.prediction
    np.testing.assert_allclose(line(ax, "mean"), [X, prediction.mean])
    total = np.hypot(prediction.epistemic_std, prediction.aleatoric_std)
    for name, std in (("epistemic", prediction.epistemic_std), ("total", total)):
        _, low, high = band(ax, f"±2 sd {name}")
        np.testing.assert_allclose([low, high], prediction.mean + np.array([[-2], [2]]) * std)
    data = datasets.sinusoid()
    np.testing.assert_array_equal(line(ax, "data"), [data.x[:, 0], data.y[:, 0]])
    assert_the_picture_is_not_stale(lab)


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
    ("values", "first", "share"),
    [
        ({"n_batches": 1}, "first carries", 1.0),
        ({"n_batches": 8}, "first carries", 1 / 8),
        ({"n_batches": 8, "scheme": "geometric"}, "first carries", 128 / 255),
        ({"n_batches": 16, "kl_weight": 8.0}, "first 10 carry", 10 / 16),
        ({"n_batches": 32, "scheme": "geometric"}, "first 10 carry", 1 - 2**-10),
    ],
)
def test_the_status_says_the_numbers_of_the_result(
    lab: KLBudgetLab, values: dict[str, Any], first: str, share: float
) -> None:
    result = lab.set(**{**START, **values}).result
    many = "es" * (values["n_batches"] > 1)
    m, *_, percent = said(
        lab.status, f"# minibatch{many}: the {first} # % of the KL; on all points"
    )
    assert (m, percent) == (values["n_batches"], as_printed(100 * share, 1))
    assert f"on all points {result.cost}." in lab.status
    assert result.cost.kl_weight == lab.state()["kl_weight"]


def test_all_points_and_draws_share_two_programs() -> None:
    """TensorFlow gives no program's memory back, and each is 30 MB of the kernel."""
    sizes = {live_fits.room(n, draws) for n in range(1, 201) for draws in range(1, 11)}
    assert len(sizes) == 2
