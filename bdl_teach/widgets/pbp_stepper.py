"""The PBP stepper: assumed density filtering, one point at a time, there and back."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine import background, controls, touch
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.mission_checks import as_asked, own, untouched
from bdl_teach.widgets._engine.missions import Condition, Mission
from bdl_teach.widgets._engine.points import Points
from bdl_teach.widgets._engine.question import Question

if TYPE_CHECKING:
    from bdl_teach.methods.pbp import replay as pbp_replay
    from bdl_teach.predictive import Predictive


X_GRID = np.linspace(-1.5, 1.5, 121)[:, None]
MOST_STEPS = 1320  # 40 epochs of 32 points and a refinement of the prior
_WIDTH = 50  # hidden units: one program for every slider value
_EPOCH = 33  # steps: 32 points and a refinement
_PLAY, _PAUSE = "▶ play", "‖ pause"
_FRAMES = 12.0  # pictures a second while playing
_NOISE_ROOM = (15.0, 30.0, 60.0, 120.0, 240.0, 480.0)  # heights of the panel of the noise
_INSIDE = np.abs(X_GRID[:, 0]) <= 0.5
_TWENTY_EPOCHS = 660  # steps: 32 points and a refinement, 20 times
_SIX = math.log10(6.0)  # α of the paper: its slider can stand there
_DEFAULTS: controls.Values = {
    "step": MOST_STEPS,
    "speed": 10.0,
    "n": 32,
    "noise_std": 1.0,
    "alpha": 6.0,
    "guess": 1.0,
    "seed": 0,
    "sorted": False,
    "play": False,
}


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


def _counts_one_point_often(_state: controls.Values, result: StepperResult) -> list[Condition]:
    """Whether one point alone has raised α by 20."""
    alpha, n = result.replay.noise[:, 0], len(result.data.x)
    more = alpha[-1] - alpha[0]
    return [
        as_asked(n == 1, "the number of points", n),
        as_asked(more >= 20.0, "what α has gained", more),
    ]


def _has_unlearned_its_guess(state: controls.Values, result: StepperResult) -> list[Condition]:
    """Whether a guess of twice y's spread has come down below 4 in 20 epochs."""
    guess, step, noise = state["guess"], state["step"], result.replay.noise_std[-1]
    return [
        untouched(state, _DEFAULTS, "n", "noise_std"),
        as_asked(math.isclose(guess, 2.0), "the guess", guess),
        as_asked(step <= _TWENTY_EPOCHS, "the number of steps", step),
        as_asked(noise < 4.0, "the noise sd that is learnt", noise),
    ]


def _widens_by_a_surprise(_state: controls.Values, result: StepperResult) -> list[Condition]:
    """Whether the step that learned one of the learner's points has widened the band by 3 %."""
    before, now = (p.epistemic_std[_INSIDE].mean() for p in (result.before, result.prediction))
    said = f"the last step takes the epistemic sd among the data from {before:.3g} to {now:.3g}"
    return [
        own(result.data),
        Condition(result.replay.point is not None, "the last step learns no point"),
        Condition(bool(now > 1.03 * before), said),
    ]


class PBPStepper(Explorer[StepperResult]):
    """Steps taken, speed, N, noise, noise prior, seed, order: probabilistic backpropagation.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    TITLE: ClassVar[str] = "PBP, step by step"
    ALT: ClassVar[str] = (
        "Three plots: points of a sine, those learned so far marked, with the network's mean, its "
        "±2 sd bands and the mean before the last step; α and β of the noise by step; the noise "
        "that they stand for, beside the true one."
    )
    # claim: pbp-more-epochs-less-doubt, pbp-ten-epochs-fit-better-than-one
    # claim: pbp-ten-epochs-are-too-sure
    QUESTION: ClassVar[Question] = Question(
        "From step 33 you go to step 330: every point is learned ten times instead of once. What "
        "happens to the epistemic band among the data?",
        (
            "Nothing: it has seen all the points already",
            "It shrinks, as if there were ten times the data",
            "It widens, since the fit gets worse",
        ),
        1,
        "ADF takes each visit of a point for a new point. Passing over the data again improves "
        "the fit, but it counts the evidence again, too: the band becomes too narrow.",
        "step",
        target=330,
        before=(("step", 33),),
    )
    MISSIONS: ClassVar[tuple[Mission, ...]] = (
        Mission(
            "pbp-one-point-counted-often",
            "One single point (Shift and a click takes a point away), and PBP believes that it has "
            "seen dozens: let α end 20 or more above the prior's.",
            (
                "α counts the points that were learned, about a half for each visit, and does not "
                "ask if they are new.",
                "Take “points N” down to 4, remove three of them (Shift and a click), and move "
                "“steps” to 200.",
            ),
            _counts_one_point_often,
            {"n": 4, "data": ((0.0,), (3.0,), points.COURSE), "step": 200},
        ),
        Mission(
            "pbp-unlearn-a-guess",
            "The first guess of the noise is twice the spread of y: guess 2.00. With N = 32 and "
            "noise σ 1, let PBP come down to a noise sd below 4 in 20 epochs: "
            f"{_TWENTY_EPOCHS} steps at most.",
            (
                "A guess is worth twice as many points as its α says. What is this one to be "
                "worth?",
                "Move “guess” to 2.00, “prior α” all the way down to 1.9, and “steps” to "
                f"{_TWENTY_EPOCHS}.",
            ),
            _has_unlearned_its_guess,
            {"guess": 2.0, "alpha": 10.0 ** (_SIX - 0.5), "step": _TWENTY_EPOCHS},
        ),
        Mission(
            "pbp-a-surprise-widens",
            "With your own points, find a step that makes PBP less sure: the epistemic sd among "
            "the data grows by 3 % or more.",
            (
                "The bracket of (7.5) is negative for a point far outside the band and the "
                "noise, after many points that agree.",
                "Take “points N” to 9, drag eight of them to y = 0 and the ninth far up at x = "
                "0.5. Press “sorted by x”, move “guess” down to 0.1 and “steps” to 9: the ninth "
                "is learnt.",
            ),
            _widens_by_a_surprise,
            {
                "n": 9,
                "data": (
                    (-0.5, -0.4, -0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.5),
                    (*(0.0,) * 8, 15.0),
                    points.COURSE,
                ),
                "sorted": True,
                "guess": 0.1,
                "step": 9,
            },
        ),
    )
    PRESETS: ClassVar[controls.Presets] = {
        "before any data": ("Step 0: the prior, wide everywhere", {**_DEFAULTS, "step": 0}),
        # claim: one-point-pulls-the-mean, one-point-hardly-moves-the-band
        "one point": (
            "One point pulls the mean; the band moves by a few per cent at most",
            {**_DEFAULTS, "step": 1},
        ),
        "one epoch": ("Each point once, then the prior refined", {**_DEFAULTS, "step": _EPOCH}),
        # claim: forty-epochs-find-the-sine, forty-epochs-thin-the-band
        "40 epochs": (
            "The paper's 40 epochs: the sine is there, and the band is thin",
            dict(_DEFAULTS),
        ),
        "left to right": (
            "Points in order of x: the right half has not been seen yet",
            {**_DEFAULTS, "step": 16, "sorted": True},
        ),
        # claim: a-confident-guess-is-not-unlearned
        "sure of a wrong noise": (
            "α = 75.5 says that the noise is twice y's spread: 40 epochs do not unlearn it",
            {**_DEFAULTS, "alpha": 10.0 ** (_SIX + 1.1), "guess": 2.0, "step": MOST_STEPS},
        ),
        # claim: alpha-counts-points-not-noise
        "loud noise": (
            "σ = 3: α counts points all the same",
            {**_DEFAULTS, "step": _EPOCH, "noise_std": 3.0},
        ),
        # claim: pbp-is-no-wider-between-few-points
        "few points": (
            "Eight points, 40 epochs: the band is no wider between the points than at them",
            {**_DEFAULTS, "n": 8, "step": 360},
        ),
    }

    def _make_controls(self) -> dict[str, controls.Widget]:
        d = _DEFAULTS
        made = {
            "step": controls.count_slider(
                "steps", d["step"], 0, MOST_STEPS, "n points and one refinement an epoch"
            ),
            "speed": controls.log_slider(
                "speed", d["speed"], 0, 2, ".0f", "steps a second of play", step=0.2
            ),
            "n": controls.count_slider("points N", d["n"], 4, 32, "points on [−½, ½]"),
            "noise_std": controls.slider(
                "noise σ", d["noise_std"], 0.1, 5.0, 0.1, "sd of the noise in the data"
            ),
            "alpha": controls.log_slider(
                "prior α", d["alpha"], _SIX - 0.5, _SIX + 1.2, ".1f", "how sure the first guess is"
            ),
            "guess": controls.slider(
                "guess", d["guess"], 0.1, 2.0, 0.05, "first guess of the noise's sd, in y's"
            ),
            "seed": controls.count_slider("seed", d["seed"], 0, 99, "of data, start and orders"),
            "data": Points(),
            "sorted": controls.toggle("sorted by x", "learn the points in order of x"),
            "play": controls.toggle(_PLAY, "take steps, from 0 after the last"),
        }
        made["play"].add_class("bdl-play")
        made["play"].observe(self._on_play, names="value")
        return made

    def _idle(self, values: controls.Values) -> set[str]:
        """Name the order of the points where none has been learned."""
        return set() if values["step"] else {"sorted"}

    def _make_groups(self) -> dict[str, list[controls.Widget]]:
        self._stop = threading.Event()
        self._trail: tuple[Any, pbp_replay.Trail] | None = None
        c = self._controls
        moves = [
            controls.button("◀ back", "undo the last step", lambda: self._move(-1)),
            controls.button("step ▶", "one step more", lambda: self._move(+1)),
            controls.button("epoch ▶▶", "to the end of this epoch", self._next_epoch),
        ]
        return {
            "STEPS": [c["play"], *moves, c["step"], c["speed"]],
            "NOISE": [c["alpha"], c["guess"], self._draw_button()],
            "DATA": [c["n"], c["noise_std"], c["seed"], c["sorted"], *self._hand_buttons()],
        }

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
        problem = values["n"], values["noise_std"], values["seed"]
        data = points.chosen(
            values.get("data"), values["noise_std"], lambda: datasets.sinusoid(*problem)
        )
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

    def _describe(self, result: StepperResult) -> str:
        replay, sd, data = result.replay, result.prediction.epistemic_std, result.data
        n_steps = len(replay.noise) - 1
        learned = "the prior" if not n_steps else "prior refined"
        if result.last is not None:
            place = result.data.x[result.last, 0]
            of_course = points.units_of(data) == points.COURSE
            shown = f"{place:.2f}" if of_course else points.at(data, place)
            learned = f"learned {points.x_name(data)} = {shown}"
        true = _true_noise(result.data)
        beside = "" if math.isnan(true) else f" (true {true:.2f})"
        return (
            f"Step {n_steps}, epoch {replay.epoch + 1}: {learned}; α {replay.noise[-1, 0]:.1f}, "
            f"β {replay.noise[-1, 1]:.2f}, noise sd {points.sd(data, replay.noise_std[-1], 2)}"
            f"{beside}; epistemic sd {points.sd(data, sd[_INSIDE].mean())} among the data, "
            f"{points.sd(data, sd[[0, -1]].mean())} at {points.ends(data)}."
        )

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
        self._controls["play"].description = _PAUSE if change["new"] else _PLAY
        self._stop.set()  # whoever played before
        if change["new"]:
            self._stop = threading.Event()
            background.start(self._player(self._stop))

    def _player(self, stop: threading.Event) -> Callable[[], None]:
        """Take steps at the chosen speed, at most 12 pictures a second, until told to stop."""

        def play() -> None:
            owed = 0.0
            if self._controls["step"].value == MOST_STEPS:
                self._move(-MOST_STEPS)
            while not self._slot.closed and self._controls["step"].value < MOST_STEPS:
                speed = self._controls["speed"].value
                pause = 1.0 / min(speed, _FRAMES)
                if stop.wait(pause):
                    return
                owed += speed * pause
                self._move(int(owed))
                owed -= int(owed)
            self._controls["play"].value = False

        return play

    def close(self) -> None:
        """Stop playing, stop the worker and take the widgets away."""
        self._stop.set()
        super().close()


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
