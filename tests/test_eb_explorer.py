"""The empirical-Bayes explorer: its star is the closed form, and learnt priors are where it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from explorer_claims import (
    assert_every_control_moves_the_picture,
    assert_every_preset_shows_another_picture_and_says_what_to_see,
    pixels,
)

from bdl_teach import densities
from bdl_teach.compiled import trace_count
from bdl_teach.widgets import EmpiricalBayesExplorer

MOVES: dict[str, Any] = {
    "prior_std": 10**0.5,
    "noise_std": 2.0,
    "width": 7,
    "n": 11,
    "seed": 3,
    "prior": "per weight",
}


@pytest.fixture(scope="module")
def explorer() -> Iterator[EmpiricalBayesExplorer]:
    made = EmpiricalBayesExplorer().warm()
    yield made
    made.close()


def test_every_control_moves_the_picture(explorer: EmpiricalBayesExplorer) -> None:
    explorer.preset("by hand")
    assert_every_control_moves_the_picture(explorer, MOVES)


def test_every_preset_shows_another_picture_and_says_what_to_see(
    explorer: EmpiricalBayesExplorer,
) -> None:
    assert_every_preset_shows_another_picture_and_says_what_to_see(explorer)


def test_the_slider_of_the_prior_rests_while_the_prior_is_learnt(
    explorer: EmpiricalBayesExplorer,
) -> None:
    slider = explorer._controls["prior_std"]
    for name, rests in (("learn each", True), ("by hand", False), ("learn one", True)):
        explorer.preset(name)
        assert slider.disabled == rests
    explorer._to_best()
    assert not slider.disabled and explorer.wait().state()["prior"] == "fixed"


def test_there_and_back_is_the_same_picture(explorer: EmpiricalBayesExplorer) -> None:
    before = pixels(explorer.preset("by hand"))
    explorer.preset("learn each")
    assert (pixels(explorer.preset("by hand")) == before).all()


def test_no_value_of_any_slider_traces_again(explorer: EmpiricalBayesExplorer) -> None:
    for prior in ("fixed", "per weight", "per layer", "one for all"):
        explorer.set(prior=prior)
    before = trace_count()
    for prior in ("fixed", "per weight", "per layer", "one for all"):
        for width, n in ((1, 4), (30, 64), (11, 19)):
            explorer.set(prior=prior, width=width, n=n, noise_std=0.7, seed=width)
    assert trace_count() == before


@pytest.mark.parametrize("prior_std", [0.1, 1.0, 10.0])
def test_the_star_is_the_lowest_point_of_the_kl(
    explorer: EmpiricalBayesExplorer, prior_std: float
) -> None:
    explorer.preset("by hand")
    result = explorer.set(prior_std=prior_std).result

    def kl(std: float) -> float:
        return float(densities.gaussian_kl(result.fit.mean, result.fit.std, 0.0, std).sum())

    assert result.complexity == pytest.approx(kl(prior_std), rel=1e-6, abs=1e-6)
    assert result.least_complexity == pytest.approx(kl(result.best_std), rel=1e-6, abs=1e-6)
    for factor in (0.9, 1.1):
        assert kl(factor * result.best_std) > kl(result.best_std)


def test_a_learnt_prior_is_the_best_one(explorer: EmpiricalBayesExplorer) -> None:
    for prior, distinct in (("one for all", 1), ("per layer", 2)):
        result = explorer.preset("learn one").set(prior=prior).result
        assert len(np.unique(result.prior_std)) == distinct
    one = explorer.preset("learn one").result
    assert one.prior_std[0] == pytest.approx(one.best_std)
    assert one.complexity == pytest.approx(one.least_complexity, rel=1e-6)
    each = explorer.preset("learn each").result
    np.testing.assert_allclose(each.prior_std, each.wanted_std)
    assert each.complexity < each.least_complexity


def test_setting_the_prior_to_the_best_one_arrives_at_a_fixed_point(
    explorer: EmpiricalBayesExplorer,
) -> None:
    explorer.preset("by hand").set(prior_std=10**-0.3)
    for _ in range(8):
        explorer._to_best()
        explorer.wait()
    std, best = explorer.state()["prior_std"], explorer.result.best_std
    assert std > 1.0
    assert abs(np.log10(best / std)) <= 0.11  # a step of the slider


def test_of_a_wider_network_a_larger_share_is_switched_off(
    explorer: EmpiricalBayesExplorer,
) -> None:
    explorer.preset("learn each")
    narrow, wide = (
        np.mean([explorer.set(width=width, seed=seed).result.off for seed in range(4)])
        for width in (10, 30)
    )
    assert wide > narrow + 0.03
    assert wide > 0.5


def test_under_a_far_too_narrow_prior_the_star_agrees_with_it(
    explorer: EmpiricalBayesExplorer,
) -> None:
    result = explorer.preset("too narrow").result
    assert result.best_std == pytest.approx(0.1, rel=0.2)
    assert result.off > 0.9


def test_the_state_rebuilds_the_explorer() -> None:
    first = EmpiricalBayesExplorer(**MOVES).wait()
    picture, state = pixels(first), first.state()
    again = EmpiricalBayesExplorer(**state).wait()
    assert again.state() == state == MOVES
    assert (pixels(again) == picture).all()
    again.close()


def test_the_status_says_what_the_picture_shows() -> None:
    explorer = EmpiricalBayesExplorer(n=9).wait()
    assert "weights" in explorer.status
    assert "free energy" in explorer.status
    with pytest.raises(ValueError, match="width"):
        explorer.set(width=31)
    explorer._resample()
    assert explorer.wait().state()["seed"] == 1
    explorer.close()


def test_the_label_of_the_choices_stands_beside_them(explorer: EmpiricalBayesExplorer) -> None:
    """As a block it would stand above, and push the row out of line."""
    assert explorer._controls["prior"].layout.display == "flex"
