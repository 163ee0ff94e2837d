"""The VAE explorer: what a slider moves, what trains in the background, what the map holds."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from explorer_claims import (
    assert_every_control_moves_the_picture,
    assert_every_preset_shows_another_picture_and_says_what_to_see,
    pixels,
)

from bdl_teach import DivergedError
from bdl_teach.compiled import trace_count
from bdl_teach.widgets import VAEExplorer, vae_trainer
from bdl_teach.widgets.live import Explorer

MOVES: dict[str, Any] = {
    "z1": 1.0,
    "z2": -1.5,
    "beta": 0.2,
    "seed": 1,
    "kind": "plain autoencoder",
}


SHORT = 25  # steps of a stage where it does not matter how well a model is trained; its values
# of β and seed are asked for nowhere else, since the explorer keeps what it has trained


@pytest.fixture(scope="module")
def explorer() -> Iterator[VAEExplorer]:
    made = VAEExplorer().wait()
    yield made
    made.close()


def test_every_control_moves_the_picture_and_the_state_rebuilds_it(explorer, monkeypatch):
    explorer.preset("VAE")
    monkeypatch.setattr(vae_trainer, "STEPS", SHORT)
    assert_every_control_moves_the_picture(explorer, MOVES)
    state, picture = explorer.state(), pixels(explorer)
    explorer.preset("VAE")
    explorer.set(**state)
    assert (pixels(explorer) == picture).all()


def test_every_preset_shows_another_picture_and_says_what_to_see(explorer):
    assert_every_preset_shows_another_picture_and_says_what_to_see(explorer)
    assert explorer._repr_mimebundle_()["text/plain"].startswith(explorer.ALT)


def test_moving_z_decodes_another_place_with_the_same_model(explorer: VAEExplorer) -> None:
    before = explorer.preset("VAE").result
    after = explorer.set(z1=1.5).result
    assert after.trained is before.trained
    np.testing.assert_allclose(after.image.ravel(), after.trained.fit.decode([[1.5, 0.0]])[0])
    assert np.abs(after.image - before.image).max() > 0.2


def test_beta_trades_kl_against_reconstruction_until_the_code_falls_silent(explorer) -> None:
    scores = [explorer.preset(name).result.trained.scores for name in ("β = 0.1", "VAE", "β = 2")]
    for part in (1, 2):  # reconstruction, KL
        values = [score[part] for score in scores]
        assert values == sorted(values, reverse=True)
    assert scores[1][0] == max(score[0] for score in scores)  # the ELBO is best at β = 1
    assert explorer.preset("collapse").result.trained.scores[2] < 0.05


def test_the_codes_of_a_vae_fill_the_prior_and_those_of_an_autoencoder_do_not(explorer) -> None:
    codes = explorer.preset("VAE").result.codes
    assert (np.abs(codes.std(axis=0) - 0.9) < 0.3).all() and (np.abs(codes) < 3.5).all()
    codes = explorer.preset("plain autoencoder").result.codes
    assert np.hypot(codes.mean(axis=0), codes.std(axis=0) - 1).max() > 0.5
    assert "outside the map" in explorer.status and "ELBO" not in explorer.status


def test_while_a_model_trains_z_moves_on_the_one_before_it(explorer, monkeypatch) -> None:
    before = explorer.preset("VAE").result.trained
    slow = vae_trainer._stage

    def stage(*arguments: Any) -> Any:
        time.sleep(0.3)
        return slow(*arguments)

    monkeypatch.setattr(vae_trainer, "_stage", stage)
    explorer._controls["beta"].value = 10**-0.5
    explorer._controls["z1"].value = 2.0
    Explorer.wait(explorer)  # the picture, not the training
    assert explorer.result.z[0] == 2.0
    assert not explorer.result.finished and "training with seed 0, step" in explorer.status
    said = explorer._progress.get_text()  # the picture itself says so, on the first tick
    assert said.startswith("VAE, β = 0.316: training with seed 0, step")
    assert explorer.result.trained is before or explorer.result.trained.stage < 8
    explorer._controls["seed"].value = 7  # and another seed, while this one is being trained
    Explorer.wait(explorer)
    assert "training with seed 7" in explorer._progress.get_text()
    explorer.wait()
    assert explorer.result.finished and explorer.result.order[1:] == (10**-0.5, 7)
    assert not explorer._progress.get_text()


def test_of_many_betas_in_a_row_the_last_is_trained(explorer: VAEExplorer) -> None:
    for exponent in range(-10, 1):
        explorer._controls["beta"].value = 10 ** (exponent / 10)
    explorer.wait()
    assert explorer.result.finished and explorer.result.order.beta == 1.0


def test_no_slider_compiles_anything(explorer: VAEExplorer, monkeypatch) -> None:
    explorer.preset("VAE")
    monkeypatch.setattr(vae_trainer, "STEPS", SHORT)
    before = trace_count()
    for values in ({"beta": 0.5}, {"seed": 2}, {"kind": "plain autoencoder"}, {"z2": 1.0}):
        explorer.set(**values)
    assert trace_count() == before


def test_a_failed_training_is_said_and_the_next_one_works(explorer, monkeypatch) -> None:
    explorer.preset("VAE")

    def diverge(*_: Any) -> Any:
        raise DivergedError(3, "lower the learning rate")

    with monkeypatch.context() as patch:
        patch.setattr(vae_trainer, "_stage", diverge)
        with pytest.raises(DivergedError):
            explorer.set(beta=10**0.1)
        assert "diverged by step 3" in explorer.status
    assert explorer.set(beta=10**0.2).result.finished


def test_a_closed_explorer_stops_its_training() -> None:
    made = VAEExplorer(beta=10**-1.5)
    Explorer.wait(made)
    made.close()
    made._trainer.wait(1.0)
    made._trainer._thread.join(60.0)
    assert not made._trainer._thread.is_alive()
