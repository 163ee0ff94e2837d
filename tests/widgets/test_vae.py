"""Test the VAE explorer: its map and pictures, and training in the background."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from explorer_claims import LAPTOP, TABLET, assert_reads, panel

from bdl_teach import datasets
from bdl_teach.widgets import VAEExplorer, vae_trainer
from bdl_teach.widgets._engine.canvas import RENDER_LOCK
from tests.waiting import until

HOME = VAEExplorer.DEFAULTS
SETTINGS = (
    {"z1": -0.7, "z2": 1.2},
    {"kind": "plain autoencoder", "z1": 2.0},
    {"beta": 0.1, "z2": -1.0, "seed": 1},
)


@pytest.fixture(scope="module")
def explorer() -> Iterator[VAEExplorer]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vae_trainer, "STEPS", 50)
        made = VAEExplorer().wait()
        yield made
        made.close()


@pytest.fixture(params=SETTINGS, ids=("VAE", "plain", "little KL"))
def moved(explorer: VAEExplorer, request: Any) -> VAEExplorer:
    return explorer.set(**{**HOME, **request.param})


def digits() -> tuple[Any, Any]:
    found = datasets.digits()
    return found.images.reshape(len(found.images), -1), found.labels


def test_latent_map_pictures_and_readings_agree_with_the_model(moved: VAEExplorer) -> None:
    v, fit, (x, labels) = moved.state(), moved.result.trained.fit, digits()
    ax, outside = panel(moved, "Where the encoder puts each digit"), []
    for digit in range(10):
        (marks,) = (other for other in ax.get_lines() if other.get_marker() == f"${digit}$")
        codes = fit.encode(x[labels == digit][:40])[0]
        shown, inside = np.array(marks.get_data()).T, np.abs(codes) <= 3.5
        np.testing.assert_allclose(shown[inside], codes[inside], atol=1e-6)
        assert (np.sign(shown) == np.sign(codes)).all()  # codes outside are drawn at the edge
        assert np.abs(shown[~inside]).min(initial=3.6) > 3.5
        outside.append((~inside).any(axis=1).mean())
    assert_reads(moved, outside=np.mean(outside))
    decoded, generated = (
        np.asarray(panel(moved, title).images[0].get_array())
        for title in ("Your z, decoded", "z ~ N(0, I), decoded")
    )
    expected = fit.decode([[v["z1"], v["z2"]]]).reshape(8, 8)
    np.testing.assert_allclose(decoded, expected, atol=1e-6)
    z = np.random.default_rng(0).standard_normal((25, 2))
    for number, image in enumerate(fit.decode(z).reshape(-1, 8, 8)):
        row, column = divmod(number, 5)
        cell = generated[9 * row : 9 * row + 8, 9 * column : 9 * column + 8]
        np.testing.assert_allclose(cell, image, atol=1e-6)
    if v["kind"] == "VAE":
        scores = fit.elbo(x[1500:], n_samples=5)
        elbo, reconstruction, kl = (float(part.mean()) for part in scores)
        assert_reads(moved, elbo=elbo, reconstruction=reconstruction, kl=kl)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Return two events: one set when a stage of training begins, one for which the stage waits."""
    begun, go_on, real = threading.Event(), threading.Event(), vae_trainer._stage

    def stage(*arguments: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return real(*arguments)

    monkeypatch.setattr(vae_trainer, "_stage", stage)
    return begun, go_on


def test_latent_point_can_be_moved_while_a_new_model_trains(explorer, gate) -> None:
    _, go_on = gate
    go_on.set()
    before = explorer.preset("VAE").result.trained.fit
    go_on.clear()
    explorer._view.controls["beta"].value = 10**-0.5
    explorer._view.controls["z1"].value = 2.0
    until(lambda: explorer.result.z[0] == 2.0 and not explorer.result.finished, "the picture")
    assert "training with seed 0, step" in explorer.status
    said = explorer._worker.model._progress.get_text()  # over the picture
    assert said.startswith("VAE, β = 0.316: training with seed 0, step")
    assert explorer.result.trained.fit is before
    explorer._view.controls["seed"].value = 7  # another seed, while this one trains
    until(lambda: explorer.result.order.seed == 7, "the picture")
    assert "training with seed 7" in explorer._worker.model._progress.get_text()
    go_on.set()
    explorer.wait()
    assert explorer.result.finished and explorer.result.order[1:] == (10**-0.5, 7)
    assert not explorer._worker.model._progress.get_text()


def test_moving_z_decodes_another_place_and_trains_nothing(explorer) -> None:
    before = explorer.preset("VAE").result
    after = explorer.set(z1=2.0, z2=-2.0).result
    assert after.trained is before.trained
    assert np.abs(after.image - before.image).max() > 0.05


def test_decoded_pictures_stand_side_by_side_where_they_are_below_the_map(explorer) -> None:
    canvas = explorer._worker.stage.canvas
    one, other = (panel(explorer, f"{what}, decoded") for what in ("Your z", "z ~ N(0, I)"))
    with RENDER_LOCK:
        for place, below in ((TABLET, True), (LAPTOP, False)):
            canvas.fit(place)
            canvas.render()
            assert (one.bbox.x1 < other.bbox.x0) == below != (one.bbox.y0 > other.bbox.y1)


def test_closing_the_explorer_stops_its_training(explorer, gate, monkeypatch) -> None:
    begun, go_on = gate
    made = VAEExplorer(beta=10**-1.5)
    assert begun.wait(60)
    made.close()
    stages: list[Any] = []
    monkeypatch.setattr(vae_trainer, "_stage", lambda *_: stages.append(1))
    go_on.set()
    time.sleep(0.3)
    assert stages == []
