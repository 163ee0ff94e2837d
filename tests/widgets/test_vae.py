"""The VAE explorer: what a slider moves, what trains in the background, what the map holds."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from artists import assert_says, panel

from bdl_teach import DivergedError, datasets
from bdl_teach.methods import vae
from bdl_teach.widgets import VAEExplorer
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets.vae import trainer as vae_trainer
from bdl_teach.widgets.vae.trainer import Trainer

HOME = VAEExplorer.DEFAULTS
SETTINGS = (
    {"z1": -0.7, "z2": 1.2},
    {"kind": "plain autoencoder", "z1": 2.0},
    {"beta": 0.1, "z2": -1.0, "seed": 1},
)
SEEDS = (0, 1)  # of the promises; a training takes a second


@pytest.fixture(scope="module")
def explorer() -> Iterator[VAEExplorer]:
    made = VAEExplorer().wait()
    made._trainer.look_further = lambda order: None  # seconds, in the midst of other tests
    yield made
    made.close()


@pytest.fixture(params=SETTINGS, ids=("VAE", "plain", "little KL"))
def moved(explorer: VAEExplorer, request: Any) -> VAEExplorer:
    return explorer.set(**{**HOME, **request.param})


def digits() -> tuple[Any, Any]:
    """The digits as rows, and their classes."""
    found = datasets.digits()
    return found.images.reshape(len(found.images), -1), found.labels


# What the panels hold.


def test_the_map_holds_each_digit_where_it_is_encoded(moved: VAEExplorer) -> None:
    ax, (x, labels) = panel(moved, "Where the encoder puts each digit", "z₁", "z₂"), digits()
    fit = moved.result.trained.fit
    for digit in range(10):
        (marks,) = (other for other in ax.get_lines() if other.get_marker() == f"${digit}$")
        assert marks.get_animated()
        codes = fit.encode(x[labels == digit][:40])[0]
        shown = np.array(marks.get_data())
        inside = np.abs(codes) <= 3.5
        np.testing.assert_allclose(shown.T[inside], codes[inside], atol=1e-6)
        assert (np.sign(shown.T) == np.sign(codes)).all()  # outside: at the edge
        assert np.abs(shown.T[~inside]).min(initial=3.6) > 3.5
        low, high = ax.get_xlim()
        assert low < shown.min() and shown.max() < high == ax.get_ylim()[1]


def test_the_pictures_are_decoded_from_z_and_from_the_prior(moved: VAEExplorer) -> None:
    v, fit = moved.state(), moved.result.trained.fit
    shown = {
        title: np.asarray(panel(moved, title).images[0].get_array())
        for title in ("Your z, decoded", "z ~ N(0, I), decoded")
    }
    decoded, generated = shown.values()
    expected = fit.decode([[v["z1"], v["z2"]]]).reshape(8, 8)
    np.testing.assert_allclose(decoded, expected, atol=1e-6)
    z = np.random.default_rng(0).standard_normal((25, 2))
    for number, image in enumerate(fit.decode(z).reshape(-1, 8, 8)):
        row, column = divmod(number, 5)
        cell = generated[9 * row : 9 * row + 8, 9 * column : 9 * column + 8]
        np.testing.assert_allclose(cell, image, atol=1e-6)
    assert generated.shape == (44, 44)
    between = np.append(generated[8::9], generated[:, 8::9].T, axis=0)
    assert len(between) == 8 and np.ptp(between) == 0 and 0 < between[0, 0] < 1, "grey"
    for title in shown:
        image = panel(moved, title).images[0]
        assert image.get_animated() and image.get_clim() == (0, 1)
        assert image.get_cmap().name == "gray_r"  # 1 is ink


# What the status line says.


def test_the_status_has_the_figures_of_the_held_out_digits(moved: VAEExplorer) -> None:
    v, (x, labels) = moved.state(), digits()
    fit = moved.result.trained.fit
    shown = np.concatenate([x[labels == k][:40] for k in range(10)])
    outside = 100 * (np.abs(fit.encode(shown)[0]) > 3.5).any(axis=1).mean()
    if v["kind"] != "VAE":
        said = "Plain autoencoder: {}% of the codes lie outside the map."
        return assert_says(moved.status, said, outside)
    scores = fit.elbo(x[1500:], n_samples=5)
    elbo, reconstruction, kl = (float(part.mean()) for part in scores)
    assert elbo == pytest.approx(reconstruction - kl)
    assert_says(
        moved.status,
        f"VAE, β = {v['beta']:.3g}: for a held-out digit, ELBO {{}} nats = reconstruction {{}} − "
        "KL {}; {}% of the codes outside the map.",
        *(elbo, reconstruction, kl, outside),
    )


# How it is trained.


@dataclass(frozen=True)
class Noted:
    """A fit that was only asked for."""

    number: int
    variational: bool = False
    path: Any = None


@pytest.fixture
def trainer(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Trainer, list[Any]]]:
    """A trainer whose fits only note what they are asked."""
    asked: list[Any] = []

    def fit(x: Any, **settings: Any) -> Any:
        asked.append((x, settings))
        return Noted(len(asked) - 1)

    monkeypatch.setattr(vae, "fit", fit)
    made = Trainer(lambda: None)
    yield made, asked
    made.close()


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> tuple[threading.Event, threading.Event]:
    """Says that a stage has begun, and holds it until told to go on."""
    begun, go_on, real = threading.Event(), threading.Event(), vae_trainer._stage

    def stage(*arguments: Any) -> Any:
        begun.set()
        assert go_on.wait(60)
        return real(*arguments)

    monkeypatch.setattr(vae_trainer, "_stage", stage)
    return begun, go_on


# What presets promise, and the question.


def over_seeds(explorer: VAEExplorer, preset: str) -> list[Any]:
    """Results of a preset with the first seeds."""
    return [explorer.preset(preset).set(seed=seed).result for seed in SEEDS]


def share_within(result: Any, radius: float) -> float:
    """Share of the codes in the prior's circle of that radius."""
    return float((np.hypot(*result.codes.T) < radius).mean())


def generated_classes(result: Any) -> Any:
    """Shares of the classes among 500 generated pictures, each counted as its nearest digit."""
    x, labels = digits()
    made = result.trained.fit.sample(500, seed=1)
    distance = (made**2).sum(axis=1)[:, None] - 2 * made @ x.T + (x**2).sum(axis=1)
    return np.bincount(labels[distance.argmin(axis=1)], minlength=10) / 500


def test_a_vae_s_digits_fill_the_circles_and_it_generates_all_of_them(explorer) -> None:
    for result in over_seeds(explorer, "VAE"):
        assert share_within(result, 2) == pytest.approx(1 - np.exp(-2), abs=0.05)  # the prior's
        assert share_within(result, 1) == pytest.approx(1 - np.exp(-0.5), abs=0.15)
        assert generated_classes(result).min() > 0.03


def test_an_autoencoder_s_codes_go_anywhere_and_some_digits_are_hardly_generated(explorer) -> None:
    for result in over_seeds(explorer, "plain autoencoder"):
        assert share_within(result, 2) < 0.5
        assert (generated_classes(result) < 0.02).sum() >= 2


def test_little_kl_leaves_the_circles_and_says_more(explorer) -> None:
    usual = over_seeds(explorer, "VAE")
    for result, little in zip(usual, over_seeds(explorer, "β = 0.1"), strict=True):
        assert share_within(little, 2) < share_within(result, 2) - 0.05
        assert little.trained.scores[2] > 1.5 * result.trained.scores[2]  # KL: what z says


def test_more_kl_draws_the_digits_together_and_blurs_the_pictures(explorer) -> None:
    def blur(result: Any) -> float:
        """Share of grey pixels among those of 500 generated pictures."""
        made = result.trained.fit.sample(500, seed=1)
        return float(((made > 0.1) & (made < 0.9)).mean())

    usual = over_seeds(explorer, "VAE")
    for result, more in zip(usual, over_seeds(explorer, "β = 2"), strict=True):
        assert share_within(more, 2) > share_within(result, 2) + 0.05
        assert blur(more) > blur(result) + 0.03


def test_turned_all_the_way_up_beta_silences_the_code(explorer) -> None:
    """The question, and the preset: β from 1 to 10."""
    asked, mean = explorer.QUESTION, digits()[0].mean(axis=0)
    assert asked.choices[asked.answer] == "All at the origin"
    assert explorer._controls[asked.control].max == 1  # a decade: to 10, and no further
    for result in over_seeds(explorer, "collapse"):
        assert result.order.beta == 10
        assert np.abs(result.codes).max() < 0.1
        assert result.trained.scores[2] < 0.01
        anywhere = result.trained.fit.decode(3.5 * np.random.default_rng(0).uniform(-1, 1, (50, 2)))
        assert np.abs(anywhere - mean).max() < 0.15
        assert np.ptp(anywhere, axis=0).max() < 0.05
    assert share_within(explorer.preset("VAE").result, 0.5) < 0.3  # before


def test_off_the_map_the_decoder_answers_where_no_digit_is(explorer) -> None:
    for result in over_seeds(explorer, "off the map"):
        assert np.hypot(*(result.codes - result.z).T).min() > 2
        assert result.image.max() > 0.9  # as sure of its ink as anywhere


# What is live.


def test_while_a_model_trains_z_moves_on_the_one_before_it(explorer, gate) -> None:
    _, go_on = gate
    go_on.set()
    before = explorer.preset("VAE").result.trained.fit
    go_on.clear()
    explorer._controls["beta"].value = 10**-0.5
    explorer._controls["z1"].value = 2.0
    Explorer.wait(explorer)  # the picture, not the training
    assert explorer.result.z[0] == 2.0
    assert not explorer.result.finished and "training with seed 0, step" in explorer.status
    said = explorer._progress.get_text()  # the picture itself says so, on the first tick
    assert said.startswith("VAE, β = 0.316: training with seed 0, step")
    assert explorer.result.trained.fit is before
    explorer._controls["seed"].value = 7  # and another seed, while this one is being trained
    Explorer.wait(explorer)
    assert "training with seed 7" in explorer._progress.get_text()
    go_on.set()
    explorer.wait()
    assert explorer.result.finished and explorer.result.order[1:] == (10**-0.5, 7)
    assert not explorer._progress.get_text()


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
