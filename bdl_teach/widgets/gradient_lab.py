"""The gradient lab: how noisy the score-function and the pathwise gradient are, live."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.mission_checks import as_asked, left, ratio
from bdl_teach.widgets._engine.missions import Condition, Mission
from bdl_teach.widgets._engine.question import Question

if TYPE_CHECKING:
    from bdl_teach.expectation_gradients import Cost

REPEATS = 250  # estimates drawn of each kind
COUNTS = np.unique(np.round(10 ** np.linspace(0, 3, 31)).astype(int))  # what S can be
_MOST_FOR_THE_SIGN = 650  # draws that the mission grants
_Z = np.linspace(-4.0, 4.0, 801)
_EDGE = 90.0  # where the cloud panel shows what lies beyond its frame
_COLOURS = {"score": plots.ORANGE, "pathwise": plots.BLUE}
_NAMES = {"score": "score function", "pathwise": "pathwise"}
_MARKS = {"score": "x", "pathwise": "o"}
_DEFAULTS: controls.Values = {
    "mu": 0.0,
    "sigma": 1.0,
    "curvature": 1.0,
    "offset": 0.0,
    "ripple": 0.0,
    "n_draws": 1,
    "seed": 0,
    "parameter": "μ",
}


@dataclass(frozen=True)
class GradientResult:
    """What one tick computed.

    Attributes:
        cost: The cost f(z).
        mu: Mean of z.
        sigma: Standard deviation of z.
        n_draws: Draws S averaged in an estimate.
        z: The draws behind the first estimate ``[S]``, at most 30 of them.
        exact: The gradient in closed form.
        estimates: By kind: ``REPEATS`` estimates, each the mean of S draws.
        variances: By kind: variance of one draw, by quadrature.
    """

    cost: Cost
    mu: float
    sigma: float
    n_draws: int
    z: Array
    exact: float
    estimates: dict[str, Array]
    variances: dict[str, float]


def _has_a_baseline(state: controls.Values, result: GradientResult) -> list[Condition]:
    """Whether the score function comes as near to the other as it can over a bowl, by μ."""
    # 1.5 is the least that there is
    times = ratio(result.variances["score"], result.variances["pathwise"])
    return [
        Condition(state["parameter"] == "μ", "the gradient is not by μ"),
        Condition(state["ripple"] == 0.0, "there is a ripple"),
        as_asked(times < 1.6, "its variance over the pathwise one", times),
    ]


def _knows_the_sign(state: controls.Values, result: GradientResult) -> list[Condition]:
    """Whether 95 % of the score function's estimates have the right sign, at an offset of 10."""
    right = np.mean(np.sign(result.estimates["score"]) == np.sign(result.exact))
    rest = [name for name in _DEFAULTS if name not in ("offset", "n_draws", "seed")]
    return [
        as_asked(math.isclose(state["offset"], 10.0), "the offset b", state["offset"]),
        left(state, _DEFAULTS, *rest),
        as_asked(result.n_draws <= _MOST_FOR_THE_SIGN, "the number of draws", result.n_draws),
        as_asked(right >= 0.95, "the share of estimates with the right sign", right),
    ]


def _loses_to_a_hidden_ripple(state: controls.Values, result: GradientResult) -> list[Condition]:
    """Whether a ripple that hardly shows makes the pathwise estimator ten times the noisier."""
    times = ratio(result.variances["pathwise"], result.variances["score"])
    return [
        as_asked(state["ripple"] < 0.15, "the ripple a", state["ripple"]),
        as_asked(times > 10.0, "the pathwise variance over the score function's", times),
    ]


class GradientLab(Explorer[GradientResult]):
    """μ, σ, the cost's curvature, offset and ripple, draws S: each movement draws anew.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    TITLE: ClassVar[str] = "Two gradients of one mean"
    ALT: ClassVar[str] = (
        "Three plots: the cost over z with the density of z; errors of 250 gradient estimates of "
        "each kind; the variance of both estimators by number of draws."
    )
    PRESETS: ClassVar[controls.Presets] = {
        "a bowl": ("The pathwise cloud is the narrower one", dict(_DEFAULTS)),
        "nearly certain": (
            "σ = 0.1: half of it halves the pathwise noise and nearly doubles the score's",
            {**_DEFAULTS, "sigma": 0.1},
        ),
        "add a constant": (
            "Offset 10 changes no gradient, but it drowns the score function in noise",
            {**_DEFAULTS, "offset": 10.0},
        ),
        "at the minimum": (
            "μ = 1: the gradient is 0; neither estimator's noise is",
            {**_DEFAULTS, "mu": 1.0},
        ),
        "16 draws": (
            "S = 16: both clouds are 4 times narrower; their ratio stays",
            {**_DEFAULTS, "n_draws": 16},
        ),
        "ripples": (
            "A cost with steep ripples: here the score function wins",
            {**_DEFAULTS, "curvature": 0.1, "ripple": 2.0, "mu": 1.0},
        ),
        "by σ": (
            "By σ, too, the pathwise cloud is the narrower one",
            {**_DEFAULTS, "parameter": "σ"},
        ),
    }

    QUESTION: ClassVar[Question] = Question(
        "Add a constant to the cost: offset b up to 10. No gradient changes. And the two clouds?",
        ("Both stay as they are", "Both widen", "Only the score function's widens"),
        2,
        "The pathwise estimator sees the slope, which a constant does not have. The score "
        "function multiplies the value of the cost, constant and all, with noise.",
        "offset",
        target=10.0,
    )
    MISSIONS: ClassVar[tuple[Mission, ...]] = (
        Mission(
            "gradient-a-constant-that-helps",
            "Over the bowl alone (no ripple), by μ, bring the score function's variance below "
            "1.6 times that of the pathwise estimator.",
            (
                "The score function multiplies values of the cost with noise, and a constant "
                "changes no gradient: it may as well make those values small. And where does the "
                "bowl itself vary least?",
                "Move “mean μ” to 1, the minimum, and “offset b” to -1.5.",
            ),
            _has_a_baseline,
            {"mu": 1.0, "offset": -1.5},
        ),
        Mission(
            "gradient-the-sign-at-least",
            "At offset b = 10, and all else but S as at the start: spend as many draws that the "
            "score function knows the sign of the gradient in 95 of 100 estimates, but no more "
            f"than {_MOST_FOR_THE_SIGN}.",
            (
                "The sd of an estimate falls as 1/√S. It has to be well below the gradient "
                "itself: the status line has both numbers.",
                "Move “offset b” to 10 and “draws S” to 631.",
            ),
            _knows_the_sign,
            {"offset": 10.0, "n_draws": 631},
        ),
        Mission(
            "gradient-a-ripple-nobody-sees",
            "With a ripple a of 0.1 at most, which hardly shows, make the pathwise estimator ten "
            "times as noisy as the other.",
            (
                "One sees the slope of the cost, the other its values: make the values small, so "
                "that only a slope is left.",
                "Move “ripple a” to 0.1, “bowl c” down to 0.10 and “mean μ” to 1.",
            ),
            _loses_to_a_hidden_ripple,
            {"ripple": 0.1, "curvature": 0.1, "mu": 1.0},
        ),
    )
    WORK: ClassVar[str] = "drawn in"

    def _make_controls(self) -> dict[str, controls.Widget]:
        d = _DEFAULTS
        return {
            "mu": controls.slider("mean μ", d["mu"], -2.0, 2.0, 0.05, "mean of z"),
            "sigma": controls.log_slider("sd σ", d["sigma"], -1.5, 0.3, ".3f", "sd of z"),
            "curvature": controls.log_slider(
                "bowl c", d["curvature"], -1, 1, ".2f", "of the bowl ½ c (z − 1)²"
            ),
            "offset": controls.slider(
                "offset b", d["offset"], -10.0, 10.0, 0.5, "a constant added to the cost"
            ),
            "ripple": controls.slider(
                "ripple a", d["ripple"], 0.0, 2.0, 0.1, "a cos(10 z) added to the cost"
            ),
            "n_draws": controls.choice_slider(
                "draws S", d["n_draws"], COUNTS.tolist(), "draws averaged in one estimate"
            ),
            "seed": controls.count_slider("seed", d["seed"], 0, 99, "of the draws"),
            "parameter": controls.choices(
                "by",
                d["parameter"],
                ["μ", "σ"],
                ["derivative by the mean", "derivative by the standard deviation"],
            ),
        }

    def _make_groups(self) -> dict[str, list[controls.Widget]]:
        *sliders, parameter = self._controls.values()
        return {"PROBLEM": [*sliders, parameter]}

    def _make_canvas(self) -> Canvas:
        canvas = Canvas()
        grid = canvas.figure.add_gridspec(2, 2)
        cost, cloud, curve = (
            canvas.figure.add_subplot(cell) for cell in (grid[0, 0], grid[:, 1], grid[1, 0])
        )
        self._make_cost_panel(canvas, cost)
        self._make_cloud_panel(canvas, cloud)
        self._make_variance_panel(canvas, curve)
        return canvas

    def _make_cost_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "Where z is drawn, what it costs", "z", "cost f(z)")
        ax.set(xlim=(-4, 4), ylim=(-12, 22))
        self._base = -12.0
        self._density = ax.fill_between(
            _Z, _Z, _Z, color=plots.SKY, alpha=0.5, lw=0, label="density of z"
        )
        (self._curve,) = ax.plot([], [], "-", color=plots.BLACK, lw=2.0, label="cost f(z)")
        (self._drawn,) = ax.plot([], [], "o", color=plots.RED, ms=5, label="draws", zorder=4)
        plots.legend_above(ax, columns=2)
        canvas.animate([self._density, self._curve, self._drawn])

    def _make_cloud_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "250 gradient estimates", "", "error (far from 0 compressed)")
        ax.set_yscale("asinh", linear_width=3.0)  # both a bowl's clouds and a lifted one's fit
        ax.set(xlim=(-0.5, 1.5), ylim=(-100, 100))
        ticks = (-100, -30, -10, -3, 0, 3, 10, 30, 100)
        ax.set_yticks(ticks, [f"{tick}".replace("-", "−") for tick in ticks])
        ax.minorticks_off()
        ax.set_xticks([0, 1], ["score function", "pathwise"], fontsize=plots.LETTERS)
        jitter = np.random.default_rng(0).uniform(-0.32, 0.32, REPEATS)
        self._jitter = {kind: i + jitter for i, kind in enumerate(_NAMES)}
        self._clouds = {
            kind: ax.plot([], [], _MARKS[kind], color=_COLOURS[kind], ms=3.5, alpha=0.6)[0]
            for kind in _NAMES
        }
        ax.axhline(0.0, ls="--", color=plots.BLACK, lw=1.8, label="exact gradient", zorder=0)
        plots.legend_above(ax, columns=1)
        canvas.animate(self._clouds.values())

    def _make_variance_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "Variance of an estimate", "draws S", "variance")
        ax.set(xscale="log", yscale="log", xlim=(0.8, 1300), ylim=(1e-6, 1e6))
        self._lines, self._measured = {}, {}
        for kind, style in (("score", "--"), ("pathwise", "-")):
            (self._lines[kind],) = ax.plot(
                [], [], style, color=_COLOURS[kind], lw=2.0, label=_NAMES[kind]
            )
            (self._measured[kind],) = ax.plot(
                [], [], _MARKS[kind], color=_COLOURS[kind], ms=8, mew=2.0, label="measured"
            )
        plots.legend_above(ax, columns=2)
        canvas.animate([*self._lines.values(), *self._measured.values()])

    def _compute(self, values: controls.Values) -> GradientResult:
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

    def _draw(self, result: GradientResult) -> None:
        scaled = np.exp(-0.5 * ((_Z - result.mu) / result.sigma) ** 2)
        self._density.set_data(_Z, self._base, self._base + 8.0 * scaled)
        self._curve.set_data(_Z, result.cost.value(_Z))
        self._drawn.set_data(result.z, result.cost.value(result.z))
        for kind, estimates in result.estimates.items():
            errors = np.clip(estimates - result.exact, -_EDGE, _EDGE)
            self._clouds[kind].set_data(self._jitter[kind], errors)
            self._lines[kind].set_data(COUNTS, result.variances[kind] / COUNTS)
            self._measured[kind].set_data([result.n_draws], [estimates.var()])

    def _describe(self, result: GradientResult) -> str:
        score, path = (result.variances[kind] / result.n_draws for kind in _NAMES)
        return (
            f"Exact gradient {result.exact:.3g}. Variance with S = {result.n_draws}: "
            f"score function {score:.3g}, pathwise {path:.3g} "
            f"(ratio {score / path:.3g}); measured "
            f"{result.estimates['score'].var():.3g} and {result.estimates['pathwise'].var():.3g}."
        )
