"""The local-reparameterization lab: theory on every slider, and the draws within its error."""

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

from bdl_teach.compiled import trace_count
from bdl_teach.widgets import LocalReparamLab
from bdl_teach.widgets.gradient_draws import KINDS, N_DATA, SIZES

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


@pytest.fixture(scope="module")
def made() -> Iterator[LocalReparamLab]:
    lab = LocalReparamLab().wait()
    yield lab
    lab.close()


@pytest.fixture
def lab(made: LocalReparamLab) -> LocalReparamLab:
    return made.preset("shared or local")


def test_every_control_moves_the_picture(lab: LocalReparamLab) -> None:
    assert_every_control_moves_the_picture(lab, MOVES)


def test_every_preset_shows_another_picture_and_says_what_to_see(lab: LocalReparamLab) -> None:
    assert_every_preset_shows_another_picture_and_says_what_to_see(lab)


def test_the_state_rebuilds_the_lab(made: LocalReparamLab) -> None:
    picture = pixels(made.set(**MOVES))
    state = made.state()
    again = type("Again", (LocalReparamLab,), {})(**state).wait()
    assert again.state() == state == MOVES
    assert (pixels(again) == picture).all()
    again.close()


def test_shared_stays_and_local_falls_with_the_batch(lab: LocalReparamLab) -> None:
    theory = lab.result.theory
    assert theory["shared"][0] == pytest.approx(theory["local"][0])  # one point: the same
    assert theory["shared"][-1] > 0.5 * theory["shared"][0]
    fall = theory["local"][0] / theory["local"][-1]
    assert N_DATA / 3 < fall < 3 * N_DATA


@pytest.mark.parametrize("parameter", ["μ", "σ"])
def test_the_drawn_variances_are_those_of_theory(lab: LocalReparamLab, parameter: str) -> None:
    """In the mean over sizes and seeds: a single one is as noisy as it looks."""
    ratios: dict[str, list[Any]] = {kind: [] for kind in KINDS}
    for seed in range(8):
        lab.set(**dict.fromkeys(KINDS, True), parameter=parameter, seed=seed, n_draws=800)
        for kind in KINDS:
            ratios[kind].append(lab.result.measured[kind] / lab.result.theory[kind])
    for kind, values in ratios.items():
        error = np.std(values) / np.sqrt(np.size(values))
        assert abs(np.mean(values) - 1) < 5 * error, kind
        assert error < 0.12


def test_two_rows_correlate_with_one_w_and_not_with_local_noise(lab: LocalReparamLab) -> None:
    assert lab.set(n_draws=800).result.correlation["shared"] == pytest.approx(1.0)
    assert abs(lab.result.correlation["local"]) < 5 / np.sqrt(800)
    more = lab.set(n_inputs=4).result.correlation
    assert 0.5 < more["shared"] < 1 and abs(more["local"]) < 5 / np.sqrt(800)


def test_the_status_has_the_figures_of_the_result(lab: LocalReparamLab) -> None:
    at = SIZES.index(32)
    ratio = lab.result.theory["shared"][at] / lab.result.theory["local"][at]
    assert f"M = 32: variance one shared W {lab.result.measured['shared'][at]:.2g}" in lab.status
    assert f"(theory {ratio:.1f})" in lab.status
    lab.set(shared=False, local=False)
    assert "variance of no estimator" in lab.status


def test_no_slider_compiles_anything(lab: LocalReparamLab) -> None:
    before = trace_count()
    for name, value in MOVES.items():
        lab.set(**{name: value})
    assert trace_count() == before


def test_resample_takes_the_next_seed(lab: LocalReparamLab) -> None:
    before = lab.state()["seed"]
    lab._resample()
    assert lab.wait().state()["seed"] == before + 1


@pytest.mark.parametrize(
    "values", [{"size": 3}, {"sigma": 0.0}, {"n_inputs": 9}, {"parameter": "ρ"}, {"m": 1}]
)
def test_values_that_no_control_has_are_refused(lab: LocalReparamLab, values: Any) -> None:
    before = lab.state()
    with pytest.raises(ValueError):
        lab.set(**values)
    assert lab.state() == before
