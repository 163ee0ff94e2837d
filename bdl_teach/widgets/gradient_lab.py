"""The gradient lab: the noise of the score-function and of the pathwise gradient estimator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import controls, texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.model import Model

if TYPE_CHECKING:
    from bdl_teach.expectation_gradients import Cost

REPEATS = 250  # estimates drawn by each estimator
_TEXTS = texts.of("gradient_lab")
COUNTS = np.array(_TEXTS.controls["n_draws"].options)  # the values of S on the slider
_Z = np.linspace(-4.0, 4.0, 801)
_EDGE = 90.0  # larger errors are drawn here, inside the frame
_STYLES = {  # name, colour, line, marker
    "score": ("score function", plots.ORANGE, "--", "x"),
    "pathwise": ("pathwise", plots.BLUE, "-", "o"),
}


@dataclass(frozen=True)
class GradientResult:
    """Two estimators' estimates of the gradient of E[f(z)], their variances, the exact gradient."""

    cost: Cost  # f(z)
    mu: float  # mean of z
    sigma: float  # sd of z
    n_draws: int  # number of draws S that an estimate averages
    z: Array  # draws of the first estimate, at most 30
    exact: float  # gradient in closed form
    estimates: dict[str, Array]  # by estimator: [REPEATS], each the mean of S draws
    variances: dict[str, float]  # by estimator: variance of one draw, by quadrature


class GradientModel(Model[GradientResult]):
    """An explorer to compare two gradient estimators for a chosen cost and distribution of z."""

    TEXTS = _TEXTS

    def make_panels(self, canvas: Canvas) -> None:
        self._make_cloud_panel(canvas.main("c")["c"])
        self._make_cost_panel(canvas.context("cost", self._draw_cost)["c"])
        self._make_variance_panel(canvas.context("variance", self._draw_variance)["c"])
        canvas.animate([self._density, self._curve, self._drawn, *self._clouds.values()])
        canvas.animate([*self._lines.values(), *self._measured.values()])

    def _make_cost_panel(self, ax: Axes) -> None:
        plots.tidy(ax, "Draws of z, their cost", "z", "cost f(z)")
        ax.set(xlim=(-4, 4), ylim=(-12, 22))
        self._density = ax.fill_between(
            _Z, _Z, _Z, color=plots.SKY, alpha=0.5, lw=0, label="density of z"
        )
        (self._curve,) = ax.plot([], [], "-", color=plots.BLACK, lw=2.0, label="cost f(z)")
        (self._drawn,) = ax.plot([], [], "o", color=plots.RED, ms=5, label="draws", zorder=4)
        plots.legend_above(ax, columns=2)

    def _make_cloud_panel(self, ax: Axes) -> None:
        plots.tidy(ax, "250 gradient estimates of each kind", "", "error (far from 0 compressed)")
        ax.set_yscale("asinh", linear_width=3.0)  # errors range from below 1 to 90
        ax.set(xlim=(-0.5, 1.5), ylim=(-100, 100))
        ticks = (-100, -30, -10, -3, 0, 3, 10, 30, 100)
        ax.set_yticks(ticks, [f"{tick}".replace("-", "−") for tick in ticks])
        ax.minorticks_off()
        ax.set_xticks([0, 1], [name for name, *_ in _STYLES.values()], fontsize=plots.LETTERS)
        jitter = np.random.default_rng(0).uniform(-0.32, 0.32, REPEATS)
        self._jitter = {kind: i + jitter for i, kind in enumerate(_STYLES)}
        self._clouds = {
            kind: ax.plot([], [], mark, color=colour, ms=3.5, alpha=0.6)[0]
            for kind, (_, colour, _, mark) in _STYLES.items()
        }
        ax.axhline(0.0, ls="--", color=plots.BLACK, lw=1.8, label="exact gradient", zorder=0)
        plots.legend_above(ax, columns=1)

    def _make_variance_panel(self, ax: Axes) -> None:
        plots.tidy(ax, "Variance of an estimate", "draws S", "variance")
        ax.set(xscale="log", yscale="log", xlim=(0.8, 1300), ylim=(1e-6, 1e6))
        self._lines, self._measured = {}, {}
        for kind, (name, colour, style, mark) in _STYLES.items():
            (self._lines[kind],) = ax.plot([], [], style, color=colour, lw=2.0, label=name)
            (self._measured[kind],) = ax.plot(
                [], [], mark, color=colour, ms=8, mew=2.0, label="measured"
            )
        plots.legend_above(ax, columns=2)

    def compute(self, values: controls.Values) -> GradientResult:
        from bdl_teach import expectation_gradients as eg

        cost = eg.Cost(values["curvature"], values["offset"], values["ripple"])
        mu, sigma, by, s = (values[n] for n in ("mu", "sigma", "parameter", "n_draws"))
        eps = np.random.default_rng(values["seed"]).standard_normal((REPEATS, s))
        return GradientResult(
            cost=cost,
            mu=mu,
            sigma=sigma,
            n_draws=s,
            z=mu + sigma * eps[0, :30],
            exact=cost.gradient(mu, sigma)[eg.PARAMETERS.index(by)],
            estimates={k: eg.draws(k, by, cost, mu, sigma, eps).mean(axis=1) for k in eg.KINDS},
            variances={k: eg.variance(k, by, cost, mu, sigma) for k in eg.KINDS},
        )

    def draw(self, result: GradientResult) -> None:
        for kind, estimates in result.estimates.items():
            errors = np.clip(estimates - result.exact, -_EDGE, _EDGE)
            self._clouds[kind].set_data(self._jitter[kind], errors)

    def _draw_cost(self, result: GradientResult) -> None:
        scaled = np.exp(-0.5 * ((_Z - result.mu) / result.sigma) ** 2)
        self._density.set_data(_Z, -12.0, 8.0 * scaled - 12.0)
        self._curve.set_data(_Z, result.cost.value(_Z))
        self._drawn.set_data(result.z, result.cost.value(result.z))

    def _draw_variance(self, result: GradientResult) -> None:
        for kind, estimates in result.estimates.items():
            self._lines[kind].set_data(COUNTS, result.variances[kind] / COUNTS)
            self._measured[kind].set_data([result.n_draws], [estimates.var()])

    def readings(self, result: GradientResult) -> dict[str, float]:
        score, pathwise = (result.variances[kind] for kind in _STYLES)
        drawn = result.estimates
        return {
            "exact": result.exact,
            "n_draws": result.n_draws,
            "score": score / result.n_draws,
            "pathwise": pathwise / result.n_draws,
            "score_measured": drawn["score"].var(),
            "pathwise_measured": drawn["pathwise"].var(),
            "score_times": score / pathwise if pathwise > 0 else math.inf,
            "pathwise_times": pathwise / score if score > 0 else math.inf,
            "right_signs": np.mean(np.sign(drawn["score"]) == np.sign(result.exact)),
        }
