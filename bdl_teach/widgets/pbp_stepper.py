"""The PBP stepper: assumed density filtering, one point at a time, there and back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import Problem
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine import controls, status, texts, touch
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.texts import Texts

if TYPE_CHECKING:
    from bdl_teach.methods.pbp import replay as pbp_replay
    from bdl_teach.predictive import Predictive


_TEXTS = texts.of("pbp_stepper")
MOST_STEPS = _TEXTS.controls["step"].range[1]  # 40 epochs
X_GRID = np.linspace(-1.5, 1.5, 121)[:, None]
_WIDTH = 50  # hidden units: one program for every slider value
_PLAY, _PAUSE = "▶ play", "‖ pause"
_FRAMES = 12.0  # pictures a second while playing
_NOISE_ROOM = (15.0, 30.0, 60.0, 120.0, 240.0, 480.0)  # heights of the panel of the noise
_INSIDE = np.abs(X_GRID[:, 0]) <= 0.5


@dataclass(frozen=True)
class StepperResult:
    """What one tick computed.

    Attributes:
        data: The training points.
        replay: The posterior after the steps, and before the last of them.
        prediction: Its predictive on ``x_grid``.
        before: The predictive before the last step.
        speed: Steps a second, for the picture to say so.
        order: The points as ``replay`` counts them: row of ``data`` of each ``[n]``.
        x_grid: Where it predicts ``[m, 1]``.
    """

    data: datasets.Regression1D
    replay: pbp_replay.Replay
    prediction: Predictive
    before: Predictive
    speed: float
    order: Array
    x_grid: Array = field(default_factory=lambda: X_GRID)

    @property
    def learned(self) -> Array:
        """Which points this epoch has learned so far."""
        return np.asarray(self.order[self.replay.seen])

    @property
    def last(self) -> int | None:
        """The point that the last step learned; ``None`` for the prior and its refinement."""
        return None if self.replay.point is None else int(self.order[self.replay.point])


class PBPStepper(Explorer[StepperResult]):
    """Steps taken, speed, N, noise, noise prior, seed, order: probabilistic backpropagation.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    TEXTS: ClassVar[Texts] = _TEXTS

    def _make_controls(self) -> dict[str, controls.Widget]:
        self._owed = 0.0  # steps that play has not taken yet
        self._trail: tuple[Any, pbp_replay.Trail] | None = None
        made = super()._make_controls()
        made["play"].add_class("bdl-play")
        made["play"].observe(self._on_play, names="value")
        return made

    def _buttons(self) -> dict[str, Callable[[], object]]:
        return {
            "back": lambda: self._move(-1),
            "forward": lambda: self._move(+1),
            "epoch": self._next_epoch,
        }

    def _idle(self, values: controls.Values) -> set[str]:
        """Name the order of the points where none has been learned."""
        return set() if values["step"] else {"sorted"}

    def _make_canvas(self) -> Canvas:
        canvas = Canvas()
        grid = canvas.figure.add_gridspec(2, 2, height_ratios=(1.5, 1))
        self._make_function_panel(canvas, canvas.figure.add_subplot(grid[0, :]))
        gamma, noise = (canvas.figure.add_subplot(grid[1, column]) for column in (0, 1))
        self._noise = NoiseArtists(canvas, gamma, noise, MOST_STEPS)
        self._speed = canvas.figure.text(
            0.985, 0.995, "", ha="right", va="top", fontsize=plots.LETTERS
        )
        canvas.animate([self._speed])
        return canvas

    def _make_function_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "What the network believes about y", "x", "y")
        ax.set_xlim(-1.5, 1.5)
        self._function_axes = ax
        self._room = plots.Room(ax, (30.0, 45.0, 60.0, 90.0, 120.0, 180.0, 240.0))
        self._band = plots.PredictiveArtists(ax, X_GRID[:, 0])
        (self._old,) = ax.plot(
            [], [], "--", color=plots.BLACK, lw=1.4, label="mean before", zorder=3.5
        )
        self._truth = truth = plots.draw_truth(ax, X_GRID, datasets.sinusoid().truth(X_GRID))
        style: dict[str, Any] = {"ls": "", "zorder": 5, "mew": 1.6}
        (self._waiting,) = ax.plot([], [], "x", color=plots.GREY, ms=5, label="to come", **style)
        (self._seen,) = ax.plot([], [], "+", color=plots.BLACK, ms=8, label="learned", **style)
        (self._last,) = ax.plot(
            [], [], "o", color=plots.ORANGE, ms=13, mfc="none", label="learned last",
            ls="", mew=2.6, zorder=6,
        )  # fmt: skip
        plots.legend_above(ax, columns=4)
        points = [self._waiting, self._seen, self._last, *self._room.artists]
        canvas.animate([*self._band.artists[:2], truth, self._band.artists[3], self._old, *points])
        canvas.settle(self._room.frame)

    def _touch_panels(self) -> list[touch.Panel]:
        stays = (self._truth, self._waiting, self._seen, self._last)
        return [touch.Panel(self._function_axes, self._room, self._truth, columns=4, stays=stays)]

    def _compute(self, values: controls.Values) -> StepperResult:
        data = Problem.of(values).data
        replay = self._trail_of(data, values).at(values["step"])
        order = _order(data, values["sorted"])
        return StepperResult(data, replay, *replay.predict(X_GRID), values["speed"], order)

    def _trail_of(self, data: datasets.Regression1D, values: controls.Values) -> pbp_replay.Trail:
        """Return the trail of these values: the one in use, unless something else has moved."""
        from bdl_teach.methods.pbp import replay as pbp_replay

        names = ("n", "noise_std", "seed", "data", "alpha", "guess", "sorted")
        key = tuple(values.get(name) for name in names)
        if self._trail is None or self._trail[0] != key:
            alpha = values["alpha"]
            order = _order(data, values["sorted"])
            trail = pbp_replay.Trail(
                data.x[order],
                data.y[order],
                hidden_units=(_WIDTH,),
                noise_prior=(alpha, (alpha - 1.0) * values["guess"] ** 2),
                shuffle=not values["sorted"],
                seed=values["seed"],
            )
            self._trail = key, trail
        return self._trail[1]

    def _draw(self, result: StepperResult) -> None:
        x, y, replay = result.data.x[:, 0], result.data.y[:, 0], result.replay
        self._band.update(result.prediction)
        if self._room.hold(plots.edges(result.prediction)):
            self._canvas.redraw_settled()
        self._old.set_data(X_GRID[:, 0], result.before.mean)
        learned = np.isin(np.arange(len(x)), result.learned)
        self._seen.set_data(x[learned], y[learned])
        self._waiting.set_data(x[~learned], y[~learned])
        last = [] if result.last is None else [result.last]
        self._last.set_data(x[last], y[last])
        if self._noise.update(replay, _true_noise(result.data)):
            self._canvas.redraw_background()
        self._speed.set_text(f"play takes {result.speed:.0f} steps a second")

    def _undoable(self) -> controls.Values:
        """Where undo leads nothing plays: it would leave that state at once."""
        return {**super()._undoable(), "play": False}

    # Moving without a slider.

    def _move(self, steps: int) -> None:
        slider = self._controls["step"]
        slider.value = min(max(slider.value + steps, 0), MOST_STEPS)

    def _next_epoch(self) -> None:
        own = self._controls["data"].value
        length = (self._controls["n"].value if own is None else len(own[0])) + 1
        self._move(length - self._controls["step"].value % length)

    def _on_play(self, change: Any) -> None:
        """Name what the button does next; at the last step, play from the first."""
        self._controls["play"].description = _PAUSE if change["new"] else _PLAY
        if change["new"] and self._controls["step"].value == MOST_STEPS:
            self._controls["step"].value = 0

    def _next(self, values: controls.Values) -> tuple[float, controls.Values] | None:
        """Take steps at the chosen speed while it plays, at most 12 pictures a second."""
        if not values["play"]:
            return None
        if values["step"] == MOST_STEPS:
            return 0.0, {"play": False}
        pictures = min(values["speed"], _FRAMES)
        self._owed = self._owed % 1.0 + values["speed"] / pictures
        return 1.0 / pictures, {"step": min(values["step"] + int(self._owed), MOST_STEPS)}

    def _readings(self, result: StepperResult) -> dict[str, float]:
        replay, sd = result.replay, result.prediction.epistemic_std
        alpha, before = replay.noise[:, 0], result.before.epistemic_std[_INSIDE].mean()
        place = math.nan if result.last is None else result.data.x[result.last, 0]
        return {
            "step": len(replay.noise) - 1,
            "epoch": replay.epoch + 1,
            "learns": float(replay.point is not None),
            "x": place,
            "alpha": alpha[-1],
            "alpha_gain": alpha[-1] - alpha[0],
            "beta": replay.noise[-1, 1],
            "noise": replay.noise_std[-1],
            "true": _true_noise(result.data),
            "sd_data": sd[_INSIDE].mean(),
            "sd_before": before,
            "widening": sd[_INSIDE].mean() / before,
            "sd_ends": sd[[0, -1]].mean(),
        }

    def _words(self, result: StepperResult) -> dict[str, str]:
        of_course = points.units_of(result.data) == points.COURSE
        learned = "{prior}" if len(result.replay.noise) == 1 else "{refined}"
        if result.last is not None:
            learned = "{point}" if of_course else "{point_of_table}"
        return {
            "learned": learned,
            "x_name": status.plain(points.x_name(result.data)),
            **status.shown_if(beside=of_course),
        }


def _order(data: datasets.Regression1D, by_x: bool) -> Array:
    """In which order the trail is given the points: that of x, or of the rows ``[n]``."""
    return np.argsort(data.x[:, 0], kind="stable") if by_x else np.arange(len(data.x))


def _true_noise(data: datasets.Regression1D) -> float:
    """The sd of the noise that was drawn; NaN for a table, of which nobody knows it."""
    return data.noise_std if points.units_of(data) == points.COURSE else math.nan


class NoiseArtists:
    """The Gamma over the noise precision, and the noise sd that it stands for.

    Args:
        canvas: Where the panels are animated.
        gamma: Panel for α and β.
        noise: Panel for the noise sd, in units of y.
        most_steps: The last step that there can be.
    """

    def __init__(self, canvas: Canvas, gamma: Axes, noise: Axes, most_steps: int) -> None:
        self._most_steps = most_steps
        plots.tidy(gamma, "Gamma over the noise precision", "step", "log scale")
        gamma.set(yscale="log", ylim=(0.005, 2000))
        (self._alpha,) = gamma.plot([], [], "-", color=plots.BLUE, lw=2, label="α: points")
        (self._beta,) = gamma.plot([], [], "--", color=plots.RED, lw=2, label="β: squares")
        (self._end,) = gamma.plot([], [], "o", color=plots.ORANGE, ms=6, clip_on=False)
        plots.tidy(noise, "Noise that it believes in", "step", "sd, units of y")
        noise.set(ylim=(0, _NOISE_ROOM[0]))
        self._panel = noise
        (self._noise,) = noise.plot([], [], "-", color=plots.RED, lw=2, label="√(β/(α−1))")
        (self._true,) = noise.plot([], [], ":", color=plots.BLACK, lw=1.6, label="true σ")
        (self._now,) = noise.plot([], [], "o", color=plots.ORANGE, ms=6, clip_on=False)
        for ax in (gamma, noise):
            _step_axis(ax, most_steps)
            plots.legend_above(ax, columns=2)
        canvas.animate([self._alpha, self._beta, self._end, self._true, self._noise, self._now])

    def update(self, replay: pbp_replay.Replay, true_std: float) -> bool:
        """Draw the path up to the last step of ``replay``, beside the true noise sd.

        Returns:
            Whether the noise needed another height.
        """
        steps = np.arange(len(replay.noise))
        self._alpha.set_data(steps, replay.noise[:, 0])
        self._beta.set_data(steps, replay.noise[:, 1])
        self._end.set_data(steps[[-1, -1]], replay.noise[-1])
        self._noise.set_data(steps, replay.noise_std)
        self._true.set_data([0, self._most_steps], [true_std, true_std])
        self._now.set_data(steps[-1:], replay.noise_std[-1:])
        height = plots.step_above(float(replay.noise_std.max()), _NOISE_ROOM)
        changed = height != self._panel.get_ylim()[1]
        self._panel.set_ylim(0, height)
        return changed


def _step_axis(ax: Axes, most_steps: int) -> None:
    """Steps on an axis that shows the first few as well as the last thousand."""
    ax.set_xscale("symlog", linthresh=20, linscale=0.8)
    ax.set_xlim(0, most_steps)
    ticks = (0, 10, 33, 100, 330, most_steps)
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
