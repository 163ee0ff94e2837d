"""Test that the PBP stepper shows the method's own steps, and that play takes them."""

from typing import Any

import numpy as np
import pytest
from explorer_claims import assert_reads, assert_shows, line, panel, set_to
from waiting import until

from bdl_teach import datasets
from bdl_teach.methods import pbp
from bdl_teach.problems import own_points as points
from bdl_teach.widgets import PBPStepper
from bdl_teach.widgets.pbp_stepper import MOST_STEPS

MOVES: dict[str, Any] = {"step": 40, "n": 20, "noise_std": 2.0, "alpha": 10**1.5, "guess": 0.5}
MOVES |= {"seed": 3, "sorted": True, "speed": 50.0}
EXPLORER = PBPStepper
EPOCH_2 = {"step": 14, "n": 9, "guess": 0.5, "alpha": 20.0}
X = np.linspace(-1.5, 1.5, 121)
INSIDE = np.abs(X) <= 0.5


def order_of(v: dict[str, Any], epoch: int) -> list[int]:
    """Return the order in which an epoch learns the points."""
    if v["sorted"]:
        return list(range(v["n"]))
    return list(np.random.default_rng([v["seed"], epoch]).permutation(v["n"]))


class Walk:
    """The fits after each step, by ``pbp.Passes``."""

    def __init__(self, v: dict[str, Any]) -> None:
        self.data = datasets.sinusoid(v["n"], v["noise_std"], v["seed"])
        alpha = v["alpha"]
        prior = (alpha, (alpha - 1) * v["guess"] ** 2)
        how: dict[str, Any] = {"seed": v["seed"], "shuffle": not v["sorted"]}
        walk = pbp.Passes.of(self.data.x, self.data.y, (50,), prior, **how)
        state, self.fits = walk.start, [walk.fitted(walk.start)]
        for step in range(v["step"]):
            state, _ = walk.advance(state, step, step + 1)
            self.fits.append(walk.fitted(state))


@set_to([{}, {"step": 0, "seed": 2}, MOVES, EPOCH_2])
def test_picture_and_readings_show_the_current_pbp_step(explorer: PBPStepper) -> None:
    v, walk = explorer.state(), Walk(explorer.state())
    now, before = (fit.predict(X[:, None]) for fit in (walk.fits[-1], walk.fits[-2:][0]))
    for got, expected in ((explorer.result.prediction, now), (explorer.result.before, before)):
        for name in ("mean", "epistemic_std", "aleatoric_std"):
            np.testing.assert_allclose(getattr(got, name), getattr(expected, name), rtol=1e-6)
    ax = panel(explorer, "What the network believes about y")
    assert_shows(ax, explorer.result.prediction)
    np.testing.assert_allclose(line(ax, "mean before"), [X, before.mean], atol=1e-6)
    epoch = max(v["step"] - 1, 0) // (v["n"] + 1)
    taken, data = v["step"] - epoch * (v["n"] + 1), walk.data
    learned = order_of(v, epoch)[:taken]
    last = [] if taken == v["n"] + 1 or not learned else learned[-1:]
    for label, rows in (
        ("learned", sorted(learned)),
        ("to come", sorted(set(range(v["n"])) - set(learned))),
        ("learned last", last),
    ):
        expected = np.stack([data.x[rows, 0], data.y[rows, 0]])
        np.testing.assert_array_equal(line(ax, label), expected, err_msg=label)
    gamma, noise = (
        panel(explorer, "Gamma of the precision"),
        panel(explorer, "Noise that it believes"),
    )
    steps = np.arange(v["step"] + 1)
    alpha, beta = (np.array([getattr(f, name) for f in walk.fits]) for name in ("alpha", "beta"))
    sd = np.sqrt(beta / (alpha - 1)) * data.y.std()
    np.testing.assert_allclose(line(gamma, "α: points"), [steps, alpha], rtol=1e-8)
    np.testing.assert_allclose(line(gamma, "β: squares"), [steps, beta], rtol=1e-8)
    np.testing.assert_allclose(line(noise, "√(β/(α−1))"), [steps, sd], rtol=1e-8)
    assert alpha[0] == v["alpha"] and sd[0] == pytest.approx(v["guess"] * data.y.std())
    np.testing.assert_array_equal(line(noise, "true σ"), [[0, MOST_STEPS], [v["noise_std"]] * 2])
    read = {"epoch": epoch + 1, "sd_ends": now.epistemic_std[[0, -1]].mean()}
    assert_reads(explorer, step=v["step"], alpha=alpha[-1], beta=beta[-1], noise=sd[-1], **read)
    assert_reads(explorer, sd_data=now.epistemic_std[INSIDE].mean(), true=v["noise_std"])
    if last:
        assert_reads(explorer, x=data.x[last[0], 0])


def test_play_takes_steps_until_it_is_paused(explorer: PBPStepper) -> None:
    explorer.set(step=0, speed=100.0)
    explorer.set(play=True)
    until(lambda: explorer.state()["step"] >= 20, "20 steps")
    step = explorer.set(play=False).state()["step"]
    explorer.set(seed=1)
    assert explorer.wait().state()["step"] == step < MOST_STEPS


def test_play_ends_at_the_last_step_and_restarts_from_the_first(explorer: PBPStepper) -> None:
    explorer.set(step=MOST_STEPS - 3, speed=100.0, play=True)
    until(lambda: not explorer.state()["play"], "the end")
    assert explorer.state()["step"] == MOST_STEPS
    explorer._view.controls["play"].value = True
    until(lambda: 0 < explorer.state()["step"] < MOST_STEPS, "the first steps")
    explorer.set(play=False)


OWN = ((0.5, 0.1, 0.3, -0.2, 0.4), (1.0, 2.0, 3.0, 4.0, 5.0), points.COURSE)


def test_sorted_toggle_makes_pbp_take_the_rows_of_a_table_by_x(explorer: PBPStepper) -> None:
    for step, x in enumerate((-0.2, 0.1, 0.3, 0.4, 0.5), 1):
        result = explorer.set(data=OWN, sorted=True, step=step).result
        assert result.last is not None and result.data.x[result.last, 0] == pytest.approx(x)
        assert sorted(result.data.x[result.learned, 0])[-1] == pytest.approx(x)


def test_next_epoch_goes_to_the_end_of_the_present_epoch(explorer: PBPStepper) -> None:
    explorer.set(n=9, step=14)
    explorer._view._made["epoch"].click()
    assert explorer.wait().state()["step"] == 20  # two epochs of nine points and a refinement
    explorer.set(data=OWN, step=7)._view._made["epoch"].click()
    assert explorer.wait().state()["step"] == 12  # two epochs of five points


def test_movement_brings_its_context_panel_but_rounding_does_not(explorer: PBPStepper) -> None:
    explorer.set(show="gamma", guess=1.0)
    explorer._worker.send("move", name="guess", value=1.0 + 1e-12)  # as a page rounds
    assert explorer.wait()._worker.session.show == "gamma"
    assert explorer.set(guess=0.5)._worker.session.show == "noise"
