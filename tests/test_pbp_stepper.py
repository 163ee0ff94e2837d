"""The PBP stepper: every control moves, there and back is the same, and play plays."""

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

from bdl_teach.compiled import trace_count
from bdl_teach.widgets.pbp_stepper import MOST_STEPS, PBPStepper

MOVES: dict[str, Any] = {
    "step": 40,
    "n": 20,
    "noise_std": 2.0,
    "alpha": 10**1.5,
    "guess": 0.5,
    "seed": 3,
    "sorted": True,
    "speed": 50.0,
}


@pytest.fixture
def stepper() -> Iterator[PBPStepper]:
    made = PBPStepper().wait()
    yield made
    made.close()


def test_every_control_moves_the_picture_and_none_compiles(stepper: PBPStepper) -> None:
    programs = trace_count()
    assert_every_control_moves_the_picture(stepper, MOVES, frozenset({"play"}))
    assert trace_count() == programs


def test_every_preset_shows_another_picture_and_says_what_to_see(stepper: PBPStepper) -> None:
    assert_every_preset_shows_another_picture_and_says_what_to_see(stepper)


def test_the_state_rebuilds_the_stepper() -> None:
    first = PBPStepper(**MOVES).wait()
    picture, state = pixels(first), first.state()
    again = PBPStepper(**state).wait()
    assert again.state() == state
    assert (pixels(again) == picture).all()
    again.close()


def test_step_and_back_is_the_same_picture(stepper: PBPStepper) -> None:
    before = pixels(stepper.set(step=5))
    stepper._move(+1)
    assert (pixels(stepper.wait()) != before).any()
    stepper._move(-1)
    assert (pixels(stepper.wait()) == before).all()
    assert stepper.state()["step"] == 5


def test_the_ends_hold(stepper: PBPStepper) -> None:
    stepper.set(step=0)
    stepper._move(-1)
    assert stepper.wait().state()["step"] == 0
    stepper.set(step=MOST_STEPS)
    stepper._move(+1)
    assert stepper.wait().state()["step"] == MOST_STEPS


def test_the_epoch_button_stops_at_the_refinement(stepper: PBPStepper) -> None:
    stepper.set(step=5, n=10)
    stepper._next_epoch()
    assert stepper.wait().state()["step"] == 11
    assert stepper.result.replay.point is None
    assert "prior refined" in stepper.status


def test_alpha_counts_half_a_point_a_step(stepper: PBPStepper) -> None:
    noise = stepper.preset("40 epochs").result.replay.noise
    assert len(noise) == MOST_STEPS + 1
    assert 0.5 < noise[-1, 0] / (32 * 40 / 2) < 1.0


def test_points_not_yet_learned_are_shown_apart(stepper: PBPStepper) -> None:
    stepper.preset("left to right")
    assert len(stepper._seen.get_xdata()) == 16
    assert len(stepper._waiting.get_xdata()) == 16
    assert stepper._last.get_xdata() == stepper.result.data.x[15]


@pytest.mark.parametrize("before", [5, MOST_STEPS])
def test_play_from_the_last_step_is_refused_and_nothing_moves(
    stepper: PBPStepper, before: int
) -> None:
    state = stepper.set(step=before, n=10).state()
    words = f"play: expected a step below {MOST_STEPS} to start from, got {MOST_STEPS}, the last"
    for values in (
        {"step": MOST_STEPS, "play": True, "n": 20},
        {"n": 20, "play": True, "step": MOST_STEPS},
    ):
        with pytest.raises(ValueError, match=words):
            stepper.set(**values)
        assert stepper.state() == state
        assert stepper._controls["play"].description == "▶ play"


@pytest.mark.parametrize("names", [("step", "play"), ("play", "step")])
def test_play_from_the_last_step_goes_on_where_it_is_set_back_to(
    stepper: PBPStepper, names: tuple[str, str]
) -> None:
    stepper.set(step=MOST_STEPS, speed=1.0)  # the first step comes after a second
    values = {"step": 7, "play": True}
    stepper._assign({name: values[name] for name in names})
    assert stepper._controls["play"].description == "⏸ pause"
    deadline = time.monotonic() + 60
    while stepper.state()["step"] == 7 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert 7 < stepper.state()["step"] < 60
    assert stepper.state()["play"]


def test_play_takes_steps_until_pause(stepper: PBPStepper) -> None:
    stepper.set(step=0, speed=100.0)
    stepper.set(play=True)
    deadline = time.monotonic() + 60
    while stepper.state()["step"] < 20 and time.monotonic() < deadline:
        time.sleep(0.05)
    assert stepper.state()["step"] >= 20
    stepper.set(play=False)
    time.sleep(0.3)  # a step that was under way
    stepper.wait()
    there = stepper.state()["step"]
    time.sleep(0.3)
    assert stepper.state()["step"] == there


def test_play_ends_by_itself(stepper: PBPStepper) -> None:
    stepper.set(step=MOST_STEPS - 2, speed=100.0)
    stepper.set(play=True)
    deadline = time.monotonic() + 60
    while stepper.state()["play"] and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not stepper.state()["play"]
    assert stepper.wait().state()["step"] == MOST_STEPS


def test_the_prediction_holds(stepper: PBPStepper) -> None:
    inside = np.abs(np.linspace(-1.5, 1.5, 121)) <= 0.5
    sd = [stepper.set(step=k).result.prediction.epistemic_std[inside].mean() for k in (33, 330)]
    assert stepper.PREDICTION.answer == 1
    assert sd[1] < 0.7 * sd[0]


def test_the_picture_has_words_for_who_cannot_see_it(stepper: PBPStepper) -> None:
    words = stepper._repr_mimebundle_()["text/plain"]
    assert words.startswith(stepper.ALT)
    assert "noise sd" in stepper.status
