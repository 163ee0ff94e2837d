"""The PBP stepper: probabilistic backpropagation one point at a time, forwards and backwards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar

import ipywidgets
import numpy as np
from matplotlib.axes import Axes

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import INSIDE, WIDE_GRID, Problem, own_points
from bdl_teach.widgets._engine import controls, status, texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.function_panel import FunctionPanel
from bdl_teach.widgets._engine.model import Host, Model, Move
from bdl_teach.widgets.results import Outcome

if TYPE_CHECKING:
    from bdl_teach.methods.pbp import replay as pbp_replay
    from bdl_teach.predictive import Predictive


_TEXTS = texts.of("pbp_stepper")
MOST_STEPS = _TEXTS.controls["step"].range[1]  # 40 epochs of 32 points
_WIDTH = 50  # hidden units
_PLAY, _PAUSE = "▶ play", "‖ pause"
_FRAMES = 12.0  # largest number of pictures a second while playing
_NOISE_LIMITS = (15.0, 30.0, 60.0, 120.0, 240.0, 480.0)  # upper limits of the panel of the noise
_LIMITS = (45.0, 60.0, 90.0, 120.0, 180.0, 240.0)  # limits of y in the function's panel


@dataclass(frozen=True)
class StepperResult(Outcome):
    """The posterior after the chosen number of PBP steps, and the predictions one step earlier."""

    before: Predictive  # the predictive before the last step
    order: Array  # rows of the data in the order in which the fit has them [n]
    x_grid: ClassVar[Array] = WIDE_GRID

    @property
    def learned(self) -> Array:
        """Return the indices of the data rows that this epoch has learned so far."""
        return np.asarray(self.order[self.fit.seen])

    @property
    def last(self) -> int | None:
        """Return the index of the row learned in the last step; ``None`` if it learned none."""
        return None if self.fit.point is None else int(self.order[self.fit.point])


class PBPModel(Model[StepperResult]):
    """An explorer to step through PBP, or to play its steps, for chosen data and noise prior."""

    TEXTS = _TEXTS

    def __init__(self, host: Host | None = None) -> None:
        super().__init__(host)
        self._owed = 0.0  # steps, with a fraction, that play has yet to take

    def make_control(self, name: str) -> controls.Widget:
        made = super().make_control(name)
        if name == "play":
            made.add_class("bdl-play")
            ipywidgets.dlink(
                (made, "value"), (made, "description"), lambda on: _PAUSE if on else _PLAY
            )
        return made

    def buttons(self) -> dict[str, Move]:
        return {
            "back": lambda values, result: _moved(values, -1),
            "forward": lambda values, result: _moved(values, +1),
            "epoch": lambda values, result: _moved(values, _left_of_epoch(values)),
        }

    def after(self, values: controls.Values, name: str) -> controls.Values:
        """If *play* begins at the last step, go to step 0."""
        begins = name == "play" and values["play"] and values["step"] == MOST_STEPS
        return {"step": 0} if begins else {}

    def idle(self, values: controls.Values) -> set[str]:
        return set() if values["step"] else {"sorted"}

    def make_panels(self, canvas: Canvas) -> None:
        self._make_function_panel(canvas, canvas.main("f")["f"])
        gamma = canvas.context("gamma", self._draw_gamma)["c"]
        noise = canvas.context("noise", self._draw_noise)["c"]
        self._make_noise_panels(gamma, noise)
        canvas.animate([self._old, self._waiting, self._last])
        canvas.animate([self._alpha, self._beta, self._gamma_end])
        canvas.animate([self._true, self._sd, self._sd_end])

    def _make_function_panel(self, canvas: Canvas, ax: Axes) -> None:
        title = "What the network believes about y"
        self.function = panel = FunctionPanel(
            canvas, ax, title, WIDE_GRID, band=plots.PredictiveArtists, limits=_LIMITS, columns=4
        )
        panel.points.set_label("learned")
        (self._old,) = ax.plot(
            [], [], "--", color=plots.BLACK, lw=1.4, label="mean before", zorder=3.5
        )
        (self._waiting,) = ax.plot(
            [], [], "x", color=plots.GREY, ms=5, mew=1.6, label="to come", zorder=5
        )
        (self._last,) = ax.plot(
            [], [], "o", color=plots.ORANGE, ms=13, mfc="none", mew=2.6, label="learned last",
            zorder=5,
        )  # fmt: skip
        plots.legend_above(ax, columns=4)

    def _make_noise_panels(self, gamma: Axes, noise: Axes) -> None:
        plots.tidy(gamma, "Gamma of the precision", "step", "log scale")
        gamma.set(yscale="log", ylim=(0.005, 2000))
        (self._alpha,) = gamma.plot([], [], "-", color=plots.BLUE, lw=2, label="α: points")
        (self._beta,) = gamma.plot([], [], "--", color=plots.RED, lw=2, label="β: squares")
        plots.tidy(noise, "Noise that it believes in", "step", "sd, units of y")
        noise.set(ylim=(0, _NOISE_LIMITS[0]))
        self._noise_axes = noise
        (self._sd,) = noise.plot([], [], "-", color=plots.RED, lw=2, label="√(β/(α−1))")
        (self._true,) = noise.plot([], [], ":", color=plots.BLACK, lw=1.6, label="true σ")
        dot: dict[str, Any] = {"color": plots.ORANGE, "ms": 6, "clip_on": False}
        (self._gamma_end,), (self._sd_end,) = (ax.plot([], [], "o", **dot) for ax in (gamma, noise))
        for ax in (gamma, noise):  # linear up to step 20, then logarithmic
            ax.set_xscale("symlog", linthresh=20, linscale=0.8)
            ax.set_xlim(0, MOST_STEPS)
            ticks = (0, 10, 33, 100, 330, MOST_STEPS)
            ax.set_xticks(ticks, [str(tick) for tick in ticks])
            ax.minorticks_off()
            plots.legend_above(ax, columns=2)

    def compute(self, values: controls.Values) -> StepperResult:
        problem, by_x = Problem.of(values), values["sorted"]
        fit = _trail(problem, values["alpha"], values["guess"], by_x).at(values["step"])
        now, before = fit.predict(WIDE_GRID)
        order = _order(problem.data, by_x)
        return StepperResult(problem, fit, now, before, order)

    def draw(self, result: StepperResult) -> None:
        x, y = result.data.x[:, 0], result.data.y[:, 0]
        self.function.update(result, result.prediction)
        self._old.set_data(WIDE_GRID[:, 0], result.before.mean)
        learned = np.isin(np.arange(len(x)), result.learned)
        self.function.points.set_data(x[learned], y[learned])
        self._waiting.set_data(x[~learned], y[~learned])
        last = [] if result.last is None else [result.last]
        self._last.set_data(x[last], y[last])

    def _draw_gamma(self, result: StepperResult) -> None:
        noise = result.fit.noise
        steps = np.arange(len(noise))
        self._alpha.set_data(steps, noise[:, 0])
        self._beta.set_data(steps, noise[:, 1])
        self._gamma_end.set_data(steps[[-1, -1]], noise[-1])

    def _draw_noise(self, result: StepperResult) -> None:
        sd, true = result.fit.noise_std, _true_noise(result.data)
        steps = np.arange(len(sd))
        self._sd.set_data(steps, sd)
        self._sd_end.set_data(steps[-1:], sd[-1:])
        self._true.set_data([0, MOST_STEPS], [true, true])
        height = plots.step_above(float(sd.max()), _NOISE_LIMITS)
        if height != self._noise_axes.get_ylim()[1]:
            self._noise_axes.set_ylim(0, height)
            self.canvas.redraw_background()

    def undoable(self, values: controls.Values) -> controls.Values:
        """Return the values that undo restores; *play* is off, because it would move ``step``."""
        return {**super().undoable(values), "play": False}

    def next(self, values: controls.Values) -> tuple[float, controls.Values] | None:
        """Return (pause in s, {"step": next}) while *play* is on, else ``None``.

        At the last step, return (0, {"play": False}).
        """
        if not values["play"]:
            return None
        if values["step"] == MOST_STEPS:
            return 0.0, {"play": False}
        pictures = min(values["speed"], _FRAMES)
        self._owed = self._owed % 1.0 + values["speed"] / pictures
        return 1.0 / pictures, {"step": min(values["step"] + int(self._owed), MOST_STEPS)}

    def readings(self, result: StepperResult) -> dict[str, float]:
        replay, sd = result.fit, result.prediction.epistemic_std
        alpha, before = replay.noise[:, 0], result.before.epistemic_std[INSIDE].mean()
        place = math.nan if result.last is None else result.data.x[result.last, 0]
        true = _true_noise(result.data)
        return {
            "step": len(replay.noise) - 1,
            "epoch": replay.epoch + 1,
            "learns": float(replay.point is not None),
            "x": place,
            "alpha": alpha[-1],
            "alpha_gain": alpha[-1] - alpha[0],
            "beta": replay.noise[-1, 1],
            "noise": replay.noise_std[-1],
            **({} if math.isnan(true) else {"true": true}),
            "sd_data": sd[INSIDE].mean(),
            "sd_before": before,
            "widening": sd[INSIDE].mean() / before,
            "sd_ends": sd[[0, -1]].mean(),
        }

    def words(self, result: StepperResult) -> dict[str, str]:
        of_course = own_points.units_of(result.data) == own_points.COURSE
        learned = "{prior}" if len(result.fit.noise) == 1 else "{refined}"
        if result.last is not None:
            learned = "{point}" if of_course else "{point_of_table}"
        return {
            "learned": learned,
            "x_name": status.plain(own_points.names(result.data)[0]),
            **status.shown_if(beside=of_course),
        }


def _moved(values: controls.Values, steps: int) -> controls.Values:
    """Return the step that is so many steps further, or the first or last."""
    return {"step": min(max(values["step"] + steps, 0), MOST_STEPS)}


def _left_of_epoch(values: controls.Values) -> int:
    """Return the number of steps to the beginning of the next epoch."""
    length = (len(values["data"][0]) if "data" in values else values["n"]) + 1
    return int(length - values["step"] % length)


@lru_cache(maxsize=1)  # the slider of the steps moves along one trail
def _trail(problem: Problem, alpha: float, guess: float, by_x: bool) -> pbp_replay.Trail:
    """Return a run of PBP that gets the points in the order of x if ``by_x``, else shuffled.

    Its Gamma prior of the noise precision has the shape ``alpha`` and E[1/precision] = guess².
    """
    from bdl_teach.methods.pbp import replay as pbp_replay

    data, order = problem.data, _order(problem.data, by_x)
    return pbp_replay.Trail(
        data.x[order],
        data.y[order],
        hidden_units=(_WIDTH,),
        noise_prior=(alpha, (alpha - 1.0) * guess**2),
        shuffle=not by_x,
        seed=problem.seed,
    )


def _order(data: datasets.Regression1D, by_x: bool) -> Array:
    """Return the row indices ``[n]`` in the order in which PBP gets the rows: by x, or as given."""
    return np.argsort(data.x[:, 0], kind="stable") if by_x else np.arange(len(data.x))


def _true_noise(data: datasets.Regression1D) -> float:
    """Return the sd of the noise in the data; NaN for a learner's table."""
    return data.noise_std if own_points.units_of(data) == own_points.COURSE else math.nan
