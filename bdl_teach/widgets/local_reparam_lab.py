"""The local-reparameterization lab: whose gradient is how noisy, against the size of the batch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.mission_checks import as_asked, hidden
from bdl_teach.widgets._engine.missions import Condition, Mission
from bdl_teach.widgets._engine.question import Question

SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
N_DATA = SIZES[-1]
MOST_INPUTS = 4
KINDS = ("score", "shared", "per_example", "flipout", "local")  # from top to bottom


@lru_cache(maxsize=4)
def _pool(d: int, seed: int) -> tuple[Array, Array, Array]:
    """Weights ``[d]``, and 256 data points of which a minibatch takes the first M."""
    rng = np.random.default_rng([seed, 0])
    x, mu = rng.uniform(0.5, 1.5, (N_DATA, MOST_INPUTS))[:, :d], np.linspace(0.6, -0.6, d)
    return mu, x, x @ mu + rng.standard_normal(N_DATA)


def _problem(size: int, d: int, sigma: float, seed: int) -> dict[str, Any]:
    mu, x, y = _pool(d, seed)
    return {"mu": mu, "sigma": np.full(d, sigma), "x": x[:size], "y": y[:size]}


@lru_cache(maxsize=8 * len(KINDS) * len(SIZES))  # moving M, or a button, draws nothing anew
def gradients(
    kind: str, size: int, d: int, sigma: float, seed: int, n_draws: int, name: str
) -> Array:
    """Drawn gradients of the first weight's μ or σ, per data point ``[n_draws]``."""
    from bdl_teach import estimators

    problem = _problem(size, d, sigma, seed)
    drawn = estimators.gradient_samples(kind, **problem, n_draws=n_draws, seed=100 * size + seed)
    return np.asarray(getattr(drawn, name)[:, 0] / size)


@lru_cache(maxsize=8 * len(KINDS))
def theory(kind: str, d: int, sigma: float, seed: int, name: str) -> Array:
    """Their variance in closed form, at each of ``SIZES``."""
    from bdl_teach import estimators

    found = [estimators.gradient_variance(kind, **_problem(m, d, sigma, seed)) for m in SIZES]
    return np.array([getattr(v, name)[0] / m**2 for m, v in zip(SIZES, found, strict=True)])


@lru_cache(maxsize=8)
def two_rows(kind: str, d: int, sigma: float, seed: int, n_draws: int) -> Array:
    """Outputs of two data points at each draw, standardised ``[n_draws, 2]``."""
    from bdl_teach import estimators

    mu, x, _ = _pool(d, seed)
    std = np.full(d, sigma)
    drawn = estimators.output_samples(kind, mu, std, x[:2], n_draws=n_draws, seed=seed)
    return np.asarray((drawn - x[:2] @ mu) / np.sqrt(x[:2] ** 2 @ std**2))


_STYLES: dict[str, tuple[str, str, str, str]] = {  # name, colour, line, marker
    "score": ("score function", plots.ORANGE, ":", "x"),
    "shared": ("one shared W", plots.RED, "-", "s"),
    "per_example": ("a W per example", plots.PURPLE, "-.", "^"),
    "flipout": ("Flipout", plots.GREEN, "--", "D"),
    "local": ("local", plots.BLUE, "-", "o"),
}
_SHOWN = {"score": False, "shared": True, "per_example": False, "flipout": False, "local": True}
_DEFAULTS: controls.Values = {
    "size": 32,
    "sigma": 0.3,
    "n_inputs": 1,
    "n_draws": 200,
    "seed": 0,
    "parameter": "μ",
    **_SHOWN,
}
_ALL = dict.fromkeys(KINDS, True)


@dataclass(frozen=True)
class VarianceResult:
    """What one tick computed; gradients are those of the cost per data point.

    Attributes:
        size: Points M of the minibatch on the right.
        measured: By kind: variance of the drawn gradients at each of ``SIZES``.
        theory: By kind: the same in closed form.
        draws: By kind: gradients at ``size`` less their mean, over the sd with shared weights.
        rows: By kind: outputs of two data points at each draw ``[n_draws, 2]``, less their mean,
            over their sd.
        correlation: By kind: between the two, measured.
    """

    size: int
    measured: dict[str, Array]
    theory: dict[str, Array]
    draws: dict[str, Array]
    rows: dict[str, Array]
    correlation: dict[str, float]


def _shown(result: VarianceResult, *kinds: str) -> Condition:
    """That the noise of these is shown."""
    return hidden([_STYLES[kind][0] for kind in kinds if kind not in result.theory])


def _at_the_largest(result: VarianceResult) -> Condition:
    return as_asked(result.size == N_DATA, "the batch size M", result.size)


def _gains_nothing(state: controls.Values, result: VarianceResult) -> list[Condition]:
    """Whether Flipout has the noise of one shared W at M = 256, and local draws a hundredth."""
    shown = _shown(result, "shared", "flipout", "local")
    if not shown.holds:
        return [shown]
    flipout, local = (
        result.theory[k][-1] / result.theory["shared"][-1] for k in ("flipout", "local")
    )
    return [
        _at_the_largest(result),
        as_asked(abs(flipout - 1.0) < 0.05, "Flipout's noise over that of one W", flipout),
        as_asked(local < 0.01, "local draws' noise over that of one W", local),
    ]


def _is_as_noisy_as_a_sure_one(state: controls.Values, result: VarianceResult) -> list[Condition]:
    """Whether local draws make the noise that one shared W made at σ = 0.05, at M = 256, by μ."""
    shown = _shown(result, "shared", "local")
    if not shown.holds:
        return [shown]
    sure = result.theory["shared"][-1] * (0.05 / state["sigma"]) ** 2  # it goes with σ²
    times = result.theory["local"][-1] / sure
    return [
        Condition(state["parameter"] == "μ", "the gradient is not by μ"),
        _at_the_largest(result),
        as_asked(abs(times - 1.0) < 0.12, "local draws' noise over that of one W at 0.05", times),
    ]


def _beats_a_w_per_example(_state: controls.Values, result: VarianceResult) -> list[Condition]:
    """Whether, these two alone shown, local draws have under 0.4 of the noise, at M = 256."""
    if set(result.theory) != {"local", "per_example"}:
        return [Condition(False, "it is not these two alone that are shown")]
    times = result.theory["local"][-1] / result.theory["per_example"][-1]
    return [
        _at_the_largest(result),
        as_asked(times < 0.4, "local draws' noise over that of a W for each example", times),
    ]


class LocalReparamLab(Explorer[VarianceResult]):
    """Batch size, σ of the weights, inputs, draws: each movement draws all gradients anew.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    TITLE: ClassVar[str] = "Noise of a gradient"
    ALT: ClassVar[str] = (
        "Three plots: the variance of the gradient against the batch size, drawn and in theory, "
        "for the chosen estimators; the drawn gradients at one batch size; the outputs of two "
        "data points against each other, with one shared W and with local noise."
    )
    QUESTION: ClassVar[Question] = Question(
        "Move the batch size M from 32 to 128. What will the variance of a gradient with one "
        "shared W do?",
        ("Fall to a quarter", "Fall to a half", "Hardly change"),
        2,
        "All points of the batch share the same draw of W, so their errors do not average out. "
        "Only noise that is drawn for each point falls as 1/M.",
        "size",
        target=128,
    )
    MISSIONS: ClassVar[tuple[Mission, ...]] = (
        Mission(
            "local-flipout-gains-nothing",
            "At the largest batch, show that Flipout's signs can be in vain: its noise within 5 "
            "% of that of one shared W, where local draws have less than a hundredth.",
            (
                "Flipout gives each row its own signs, but all rows share how large the draw is. "
                "Which derivative hears that alone, and with how many inputs?",
                "Move “batch M” to 256 and “weights' σ” to 1, leave “inputs d” at 1, choose "
                "“for” σ, and show “Flipout” too.",
            ),
            _gains_nothing,
            {"size": 256, "sigma": 1.0, "n_inputs": 1, "parameter": "σ", "flipout": True},
        ),
        Mission(
            "local-what-256-rows-are-worth",
            "At M = 256, for μ, make the weights so unsure that local draws are as noisy "
            "(within a tenth) as one shared W was with weights' σ 0.05. Show both.",
            (
                "For μ both variances go with σ², and local draws divide theirs by about the "
                "number of rows. How much larger may σ be?",
                "Move “batch M” to 256. Read the shared W's variance at “weights' σ” 0.05, then "
                "move that to 0.7: 14² is about what the rows are worth.",
            ),
            _is_as_noisy_as_a_sure_one,
            {"size": 256, "sigma": 0.7},
        ),
        Mission(
            "local-better-than-own-weights",
            "For μ, local draws are as noisy as a W for each example. Find where they have less "
            "than 0.4 of its noise at the largest batch; show these two alone.",
            (
                "Local draws know nothing of single weights: they pass on no noise of a weight "
                "that the unit never felt. Where is there such a noise?",
                "Move “batch M” to 256 and “inputs d” to 4, choose “for” σ, switch “a W per "
                "example” on and “one shared W” off.",
            ),
            _beats_a_w_per_example,
            {
                "size": 256,
                "n_inputs": 4,
                "parameter": "σ",
                "per_example": True,
                "shared": False,
            },
        ),
    )
    PRESETS: ClassVar[controls.Presets] = {
        "shared or local": (
            "From M = 32 on one line is nearly flat, the other falls as 1/M",
            dict(_DEFAULTS),
        ),
        "one point": (
            "M = 1: one point, one draw, no difference",
            {**_DEFAULTS, "size": 1, "per_example": True, "flipout": True},
        ),
        "all five": (
            "All five are unbiased; the score function is by far the noisiest",
            {**_DEFAULTS, **_ALL},
        ),
        "Flipout and σ": (
            "For σ Flipout stays with the shared W: the size of its draw is shared",
            {**_DEFAULTS, "parameter": "σ", "flipout": True, "per_example": True},
        ),
        "more inputs": (
            "With 4 inputs two rows share less, and for σ Flipout is below the shared W",
            {**_DEFAULTS, "n_inputs": 4, "flipout": True, "parameter": "σ"},
        ),
        "quiet weights": (
            "σ = 0.05: gradients with paths go quiet, the score function gets louder",
            {**_DEFAULTS, "sigma": 0.05, "score": True},
        ),
        "few draws": (
            "50 draws: a mark is off its line by about a fifth",
            {**_DEFAULTS, "n_draws": 50},
        ),
    }

    def _make_controls(self) -> dict[str, controls.Widget]:
        d = _DEFAULTS
        return {
            "size": controls.choice_slider(
                "batch M", d["size"], SIZES, "data points in the minibatch"
            ),
            "sigma": controls.slider(
                "weights' σ", d["sigma"], 0.05, 1.0, 0.05, "sd of each weight"
            ),
            "n_inputs": controls.count_slider(
                "inputs d", d["n_inputs"], 1, MOST_INPUTS, "weights of the unit"
            ),
            "n_draws": controls.choice_slider(
                "draws", d["n_draws"], (50, 100, 200, 400, 800), "gradients drawn of each kind"
            ),
            "seed": controls.count_slider("seed", d["seed"], 0, 99, "of the data and the draws"),
            "parameter": controls.choices(
                "for",
                d["parameter"],
                ["μ", "σ"],
                ["mean of the first weight", "its standard deviation"],
            ),
            **{kind: self._estimator_toggle(kind) for kind in KINDS},
        }

    def _estimator_toggle(self, kind: str) -> controls.Widget:
        name = _STYLES[kind][0]
        made = controls.toggle(name, f"show the estimator: {name}")
        made.value = _SHOWN[kind]
        return made

    def _idle(self, values: controls.Values) -> set[str]:
        """Name the choice of μ or σ where no gradient is shown."""
        return set() if any(values[kind] for kind in KINDS) else {"parameter"}

    def _make_groups(self) -> dict[str, list[controls.Widget]]:
        resample = controls.button("resample", "next seed", self._resample)
        return {"LAYER": [*self._controls.values(), resample]}

    def _make_canvas(self) -> Canvas:
        canvas = Canvas()
        grid = canvas.figure.add_gridspec(2, 2, height_ratios=(1.3, 1), width_ratios=(1.5, 1))
        axes = [canvas.figure.add_subplot(cell) for cell in (grid[0, :], grid[1, 0], grid[1, 1])]
        self._make_variance_panel(canvas, axes[0])
        self._make_draw_panel(canvas, axes[1])
        self._make_row_panel(canvas, axes[2])
        return canvas

    def _make_variance_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(
            ax,
            "Noise of a gradient: marks drawn, lines theory",
            "batch size M",
            "variance, per data point",
        )
        ax.set(xscale="log", yscale="log", xlim=(0.8, 330), ylim=(3e-6, 3e3))
        ax.set_xticks(SIZES[::2], [str(size) for size in SIZES[::2]])
        ax.minorticks_off()
        guide = np.array([1.0, 256.0])
        ax.plot(guide, 3e-3 / guide, "-", color=plots.GREY, lw=1, label="slope of 1/M")
        self._cursor = ax.axvline(1, color=plots.GREY, lw=6, alpha=0.25)
        self._theory, self._measured = {}, {}
        for kind, (name, colour, line, mark) in _STYLES.items():
            (self._theory[kind],) = ax.plot([], [], line, color=colour, lw=2)
            (self._measured[kind],) = ax.plot([], [], mark, color=colour, ms=6.5, label=name)
        plots.legend_above(ax, columns=3)
        canvas.animate([self._cursor, *self._theory.values(), *self._measured.values()])

    def _make_draw_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(
            ax,
            "Gradients drawn at this M",
            "error / sd with one shared W (±4: further)",
            "",
        )
        ax.set(xlim=(-4, 4), ylim=(-0.6, len(KINDS) - 0.4))
        names = ("local", "Flipout", "a W per example", "one shared W", "score function")
        ax.set_yticks(range(len(KINDS)), names, fontsize=plots.LETTERS)
        ax.axvline(0, color=plots.BLACK, lw=1)
        self._dots = {
            kind: ax.plot([], [], "o", ms=2.6, mew=0, alpha=0.55, color=_STYLES[kind][1])[0]
            for kind in KINDS
        }
        canvas.animate(self._dots.values())

    def _make_row_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "Two outputs", "first / its sd", "second / its sd")
        ax.set(xlim=(-3.5, 3.5), ylim=(-3.5, 3.5), aspect="equal", anchor="C")
        ax.set(xticks=(-2, 0, 2), yticks=(-2, 0, 2))
        self._clouds = {}
        for kind in ("shared", "local"):
            name, colour, _, mark = _STYLES[kind]
            (self._clouds[kind],) = ax.plot(
                [], [], mark, ms=3.2, mew=0, alpha=0.6, color=colour, label=name
            )
        plots.legend_above(ax, columns=1)
        canvas.animate(self._clouds.values())

    def _compute(self, values: controls.Values) -> VarianceResult:
        chosen = [kind for kind in KINDS if values[kind]]
        d, seed, n = values["n_inputs"], values["seed"], values["n_draws"]
        name, at = "mu" if values["parameter"] == "μ" else "sigma", SIZES.index(values["size"])
        sigma = values["sigma"]
        noise = {k: [gradients(k, m, d, sigma, seed, n, name) for m in SIZES] for k in chosen}
        in_theory = {kind: theory(kind, d, sigma, seed, name) for kind in (*chosen, "shared")}
        scale = np.sqrt(in_theory["shared"][at])
        rows = {kind: two_rows(kind, d, sigma, seed, n) for kind in ("shared", "local")}
        return VarianceResult(
            size=values["size"],
            measured={kind: np.array([g.var(ddof=1) for g in noise[kind]]) for kind in chosen},
            theory={kind: in_theory[kind] for kind in chosen},
            draws={kind: (noise[kind][at] - noise[kind][at].mean()) / scale for kind in chosen},
            rows=rows,
            correlation={kind: float(np.corrcoef(b.T)[0, 1]) for kind, b in rows.items()},
        )

    def _draw(self, result: VarianceResult) -> None:
        self._cursor.set_xdata([result.size, result.size])
        jitter = np.random.default_rng(0).uniform(-0.32, 0.32, 800)
        for place, kind in enumerate(reversed(KINDS)):
            shown = kind in result.theory
            sizes = SIZES if shown else ()
            self._theory[kind].set_data(sizes, result.theory.get(kind, ()))
            self._measured[kind].set_data(sizes, result.measured.get(kind, ()))
            draws = np.clip(result.draws.get(kind, np.empty(0)), -3.95, 3.95)
            self._dots[kind].set_data(draws, place + jitter[: len(draws)])
        for kind, cloud in self._clouds.items():
            cloud.set_data(*result.rows[kind].T)

    def _describe(self, result: VarianceResult) -> str:
        at = SIZES.index(result.size)
        parts = [
            f"{_STYLES[kind][0]} {result.measured[kind][at]:.2g} (theory {theory[at]:.2g})"
            for kind, theory in result.theory.items()
        ]
        ratio = ""
        if {"shared", "local"} <= set(result.theory):
            by_theory = result.theory["shared"][at] / result.theory["local"][at]
            drawn = result.measured["shared"][at] / result.measured["local"][at]
            ratio = f"; shared : local = {drawn:.1f} (theory {by_theory:.1f})"
        r = result.correlation
        return (
            f"M = {result.size}: variance {', '.join(parts) or 'of no estimator'}{ratio}. "
            f"Two rows correlate {r['shared']:.2f} with one W, {r['local']:.2f} with local noise."
        )
