"""The PBP stepper's right side: what it believes about the noise, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach.widgets.canvas import Canvas

if TYPE_CHECKING:  # TensorFlow is loaded by the worker, behind the progress line
    from bdl_teach.methods import pbp_replay


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
        gamma.set(yscale="log", ylim=(0.05, 2000))
        (self._alpha,) = gamma.plot([], [], "-", color=plots.BLUE, lw=2, label="α, counts points")
        (self._beta,) = gamma.plot([], [], "--", color=plots.RED, lw=2, label="β, adds up squares")
        (self._end,) = gamma.plot([], [], "o", color=plots.ORANGE, ms=6)
        plots.tidy(noise, "Noise that it believes in", "step", "sd, units of y")
        noise.set(ylim=(0, 15))
        (self._noise,) = noise.plot([], [], "-", color=plots.RED, lw=2, label="√(β/(α−1))")
        (self._true,) = noise.plot([], [], ":", color=plots.BLACK, lw=1.6, label="true σ")
        (self._now,) = noise.plot([], [], "o", color=plots.ORANGE, ms=6)
        for ax in (gamma, noise):
            _step_axis(ax, most_steps)
            plots.legend_above(ax, columns=2)
        canvas.animate([self._alpha, self._beta, self._end, self._true, self._noise, self._now])

    def update(self, replay: pbp_replay.Replay, true_std: float) -> None:
        """Draw the path up to the last step of ``replay``, beside the true noise sd."""
        steps = np.arange(len(replay.noise))
        self._alpha.set_data(steps, replay.noise[:, 0])
        self._beta.set_data(steps, replay.noise[:, 1])
        self._end.set_data(steps[[-1, -1]], replay.noise[-1])
        self._noise.set_data(steps, replay.noise_std)
        self._true.set_data([0, self._most_steps], [true_std, true_std])
        self._now.set_data(steps[-1:], replay.noise_std[-1:])


def _step_axis(ax: Axes, most_steps: int) -> None:
    """Steps on an axis that shows the first few as well as the last thousand."""
    ax.set_xscale("symlog", linthresh=20, linscale=0.8)
    ax.set_xlim(0, most_steps)
    ticks = (0, 10, 33, 100, 330, most_steps)
    ax.set_xticks(ticks, [str(tick) for tick in ticks])
    ax.minorticks_off()
