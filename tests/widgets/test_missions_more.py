"""What the missions of the VAE take for done, and what falls just short of it.

Training one takes seconds: they are asked with results that were made up.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from bdl_teach.widgets import VAEExplorer
from bdl_teach.widgets.vae.explorer import VAEResult
from bdl_teach.widgets.vae.trainer import N_TRAIN, RATES, Order, Trained, pictures

MEAN = pictures()[0][:N_TRAIN].mean(axis=0).reshape(8, 8)
VAE_MISSIONS = {mission.id: mission for mission in VAEExplorer.MISSIONS}
# By mission: nats of KL, and how far the picture is from the mean digit, in its way.
FOUND = {
    "vae-a-deaf-decoder": {"kl": 0.0, "off": 0.01},
    "vae-a-whisper": {"kl": 0.4, "off": 0.04},
    "vae-what-a-distance-costs": {"kl": 4.45, "off": 0.3},
}


def done(
    name: str,
    *,
    kl: float,
    off: float,
    stage: int = len(RATES),
    variational: bool = True,
    **changed: float,
) -> bool:
    """Whether a mission takes a made-up result for done, in its way but for what has changed."""
    mission = VAE_MISSIONS[name]
    state = {**mission.way, "seed": 0, **changed}
    order = Order(variational, state["beta"], 0)
    scores = (-25.0, kl - 25.0, kl) if variational else None
    trained: Any = Trained(order, stage, None, scores)  # type: ignore[arg-type]
    z, none = np.array([state["z1"], state["z2"]]), np.zeros(0)
    return not mission.missing(state, VAEResult(order, trained, z, MEAN + off, none, none, none))


@pytest.mark.parametrize("name", FOUND)
def test_a_vae_mission_wants_a_vae_trained_to_the_end(name: str) -> None:
    attempt = partial(done, name, **FOUND[name])
    assert attempt()
    assert not attempt(stage=len(RATES) - 1)
    assert not attempt(variational=False)


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("vae-a-deaf-decoder", {"z1": 3.3}),
        ("vae-a-deaf-decoder", {"z2": 3.3}),
        ("vae-a-deaf-decoder", {"beta": 10**0.8}),
        ("vae-a-deaf-decoder", {"off": 0.04}),
        ("vae-a-whisper", {"kl": 0.09}),
        ("vae-a-whisper", {"kl": 1.1}),
        ("vae-a-whisper", {"off": 0.08}),
        ("vae-what-a-distance-costs", {"kl": 4.1}),
        ("vae-what-a-distance-costs", {"kl": 4.9}),
        ("vae-what-a-distance-costs", {"z1": 2.9}),
        ("vae-what-a-distance-costs", {"z1": 3.1}),
        ("vae-what-a-distance-costs", {"z2": 1.0}),
    ],
)
def test_a_vae_near_miss_is_none(name: str, changed: dict[str, float]) -> None:
    assert not done(name, **{**FOUND[name], **changed})


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("vae-a-deaf-decoder", {"z1": -3.5, "z2": -3.5}),
        ("vae-a-deaf-decoder", {"z2": -3.5}),
        ("vae-a-whisper", {"kl": 0.95}),
        ("vae-what-a-distance-costs", {"z1": 0.0, "z2": -3.0}),
        ("vae-what-a-distance-costs", {"z1": 2.1, "z2": 2.1}),
        ("vae-what-a-distance-costs", {"kl": 4.75}),
    ],
)
def test_a_vae_mission_is_done_in_every_way_that_its_text_leaves(
    name: str, changed: dict[str, float]
) -> None:
    assert done(name, **{**FOUND[name], **changed})


# What a made-up result holds, in the way of a mission and just beside it. Whatever a mission does
# not speak of is far from what it asks for.
