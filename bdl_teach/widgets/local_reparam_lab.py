"""The local-reparameterization lab: the noise of five gradient estimators by batch size."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import controls, texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.model import Model

_TEXTS = texts.of("local_reparam_lab")
SIZES = tuple(_TEXTS.controls["size"].options)
N_DATA = SIZES[-1]
MOST_INPUTS = _TEXTS.controls["n_inputs"].range[1]
KINDS = ("score", "shared", "per_example", "flipout", "local")  # of ``bdl_teach.estimators``
_TOLD = ("shared", "local", "score", "flipout", "per_example")  # the first three shown are told of


@lru_cache(maxsize=4)
def _pool(d: int, seed: int) -> tuple[Array, Array, Array]:
    """Return the means of d weights, and 256 inputs and targets; a batch of M is the first M."""
    rng = np.random.default_rng([seed, 0])
    x, mu = rng.uniform(0.5, 1.5, (N_DATA, MOST_INPUTS))[:, :d], np.linspace(0.6, -0.6, d)
    return mu, x, x @ mu + rng.standard_normal(N_DATA)


@lru_cache(maxsize=8 * len(KINDS))  # changing M, or what is shown, draws nothing
def gradients(
    kind: str, d: int, sigma: float, seed: int, n_draws: int, name: str
) -> tuple[Array, Array]:
    """Draw estimates of a gradient by the estimator ``kind``, one of ``KINDS``, at each batch size.

    It is the gradient of the cost per data point with respect to μ or σ (``name`` is "mu" or
    "sigma") of the first of d weights. Return the estimates ``[len(SIZES), n_draws]``, and their
    variances in closed form ``[len(SIZES)]``.
    """
    from bdl_teach import estimators

    mu, x, y = _pool(d, seed)
    drawn, variances = [], []
    for m in SIZES:
        problem = estimators.minibatch(mu, np.full(d, sigma), x[:m], y[:m])
        batch = estimators.gradient_samples(kind, problem, n_draws=n_draws, seed=100 * m + seed)
        variance = estimators.gradient_variance(kind, problem)
        drawn.append(getattr(batch, name)[:, 0] / m)
        variances.append(getattr(variance, name)[0] / m**2)
    return np.array(drawn), np.array(variances)


@lru_cache(maxsize=8)
def two_rows(kind: str, d: int, sigma: float, seed: int, n_draws: int) -> Array:
    """Draw the outputs x·w at two data points with the noise of the estimator ``kind``.

    Return them ``[n_draws, 2]``, standardised: with mean 0 and sd 1 at each data point.
    """
    from bdl_teach import estimators

    mu, x, _ = _pool(d, seed)
    std = np.full(d, sigma)
    drawn = estimators.output_samples(kind, mu, std, x[:2], n_draws=n_draws, seed=seed)
    return np.asarray((drawn - x[:2] @ mu) / np.sqrt(x[:2] ** 2 @ std**2))


_STYLES: dict[str, tuple[str, str, str, str]] = {  # name, colour, line, marker
    "score": ("score function", plots.ORANGE, ":", "x"),
    "shared": ("one shared W", plots.RED, "-", "s"),
    "per_example": ("a W for each row", plots.PURPLE, "-.", "^"),
    "flipout": ("Flipout", plots.GREEN, "--", "D"),
    "local": ("local", plots.BLUE, "-", "o"),
}


@dataclass(frozen=True)
class VarianceResult:
    """Drawn gradients and outputs, and variances of the gradients; dictionaries by estimator."""

    size: int  # chosen batch size M
    sigma: float  # sd of each weight
    measured: dict[str, Array]  # variance of the drawn gradients at each of SIZES
    theory: dict[str, Array]  # variance of a gradient in closed form at each of SIZES
    draws: dict[str, Array]  # centred gradients at ``size``, over the sd of the estimator "shared"
    rows: dict[str, Array]  # standardised outputs at two data points [n_draws, 2]
    correlation: dict[str, float]  # between the outputs at the two data points


class LocalReparamModel(Model[VarianceResult]):
    """An explorer to compare gradient estimators at a chosen batch size and σ of the weights."""

    TEXTS = _TEXTS

    def idle(self, values: controls.Values) -> set[str]:
        return set() if any(values[kind] for kind in KINDS) else {"parameter"}

    def make_panels(self, canvas: Canvas) -> None:
        self._make_variance_panel(canvas.main("v")["v"])
        self._make_draw_panel(canvas.context("draws", self._draw_draws)["c"])
        self._make_row_panel(canvas.context("outputs", self._draw_outputs)["c"])
        canvas.animate([self._cursor, *self._theory.values(), *self._measured.values()])
        canvas.animate([*self._dots.values(), *self._clouds.values()])

    def _make_variance_panel(self, ax: Axes) -> None:
        title = "Noise of a gradient: marks drawn, lines theory"
        plots.tidy(ax, title, "batch size M", "variance / N²")
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

    def _make_draw_panel(self, ax: Axes) -> None:
        plots.tidy(ax, "Gradients at this M", "error, in sds of one W", "")
        ax.set(xlim=(-4, 4), ylim=(-0.6, len(KINDS) - 0.4))
        ax.set_yticks(range(len(KINDS)), ("local", "Flipout", "W a row", "one W", "score"))
        ax.axvline(0, color=plots.BLACK, lw=1)
        self._dots = {
            kind: ax.plot([], [], "o", ms=2.6, mew=0, alpha=0.55, color=_STYLES[kind][1])[0]
            for kind in KINDS
        }

    def _make_row_panel(self, ax: Axes) -> None:
        plots.tidy(ax, "Two outputs", "first / its sd", "second / its sd")
        ax.set(xlim=(-3.5, 3.5), ylim=(-3.5, 3.5), xticks=(-2, 0, 2), yticks=(-2, 0, 2))
        self._clouds = {}
        for kind in ("shared", "local"):
            name, colour, _, mark = _STYLES[kind]
            (self._clouds[kind],) = ax.plot(
                [], [], mark, ms=3.2, mew=0, alpha=0.6, color=colour, label=name
            )
        plots.legend_above(ax, columns=2)

    def compute(self, values: controls.Values) -> VarianceResult:
        d, sigma, seed, n = (values[key] for key in ("n_inputs", "sigma", "seed", "n_draws"))
        name, at = "mu" if values["parameter"] == "μ" else "sigma", SIZES.index(values["size"])
        found = {k: gradients(k, d, sigma, seed, n, name) for k in KINDS if values[k]}
        scale = np.sqrt(gradients("shared", d, sigma, seed, n, name)[1][at])
        rows = {kind: two_rows(kind, d, sigma, seed, n) for kind in ("shared", "local")}
        return VarianceResult(
            size=values["size"],
            sigma=sigma,
            measured={kind: drawn.var(axis=1, ddof=1) for kind, (drawn, _) in found.items()},
            theory={kind: variances for kind, (_, variances) in found.items()},
            draws={kind: (g[at] - g[at].mean()) / scale for kind, (g, _) in found.items()},
            rows=rows,
            correlation={kind: float(np.corrcoef(b.T)[0, 1]) for kind, b in rows.items()},
        )

    def draw(self, result: VarianceResult) -> None:
        self._cursor.set_xdata([result.size, result.size])
        for kind in KINDS:
            sizes = SIZES if kind in result.theory else ()
            self._theory[kind].set_data(sizes, result.theory.get(kind, ()))
            self._measured[kind].set_data(sizes, result.measured.get(kind, ()))

    def _draw_draws(self, result: VarianceResult) -> None:
        jitter = np.random.default_rng(0).uniform(-0.32, 0.32, 800)
        for place, kind in enumerate(reversed(KINDS)):
            draws = np.clip(result.draws.get(kind, np.empty(0)), -3.95, 3.95)
            self._dots[kind].set_data(draws, place + jitter[: len(draws)])

    def _draw_outputs(self, result: VarianceResult) -> None:
        for kind, cloud in self._clouds.items():
            cloud.set_data(*result.rows[kind].T)

    def readings(self, result: VarianceResult) -> dict[str, float]:
        at = SIZES.index(result.size)
        found: dict[str, float] = {"M": result.size, "shown": len(result.theory)}
        for kind, theory in result.theory.items():
            found[f"{kind}_measured"] = result.measured[kind][at]
            found[f"{kind}_theory"] = theory[at]
        found |= {f"r_{kind}": r for kind, r in result.correlation.items()}
        last = {kind: theory[-1] for kind, theory in result.theory.items()}
        if {"shared", "local"} <= last.keys():
            found["local_over_shared"] = last["local"] / last["shared"]
            sure = last["shared"] * (0.05 / result.sigma) ** 2  # variance is ∝ σ²
            found["local_over_sure"] = last["local"] / sure
        if {"shared", "flipout"} <= last.keys():
            found["flipout_over_shared"] = last["flipout"] / last["shared"]
        if {"per_example", "local"} <= last.keys():
            found["local_over_own"] = last["local"] / last["per_example"]
        return found

    def words(self, result: VarianceResult) -> dict[str, str]:
        told = [f"{{{kind}_said}}" for kind in _TOLD if kind in result.theory][:3]
        return {"what": "{variance}" if told else "{none}", "estimators": ", ".join(told)}
