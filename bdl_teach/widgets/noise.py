"""The noise explorer: σ told, learnt, or a function of x, beside the true posterior."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import GAP_GRID, Problem, live_fits
from bdl_teach.widgets import truth_search
from bdl_teach.widgets._engine import controls, status, texts
from bdl_teach.widgets._engine.beside_truth import ModelBesideTruth
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.function_panel import FunctionPanel
from bdl_teach.widgets.truth_search import TruthResult

if TYPE_CHECKING:  # at run time this would load TensorFlow before the first picture frame
    from bdl_teach.predictive import Predictive

_LIMITS = (16.0, 24.0, 40.0, 80.0, 160.0)  # limits of y in the function's panel
_STYLES = {  # line style, colour and name of each σ
    "true": (":", plots.BLACK, "true σ"),
    "fit": ("-", plots.BLUE, "mean field"),
    "likely": ("--", plots.ORANGE, "max. likelihood"),
}
_TWO_HEADS: dict[str, Any] = {
    "steps": 1500,
    "learning_rate": 0.02,
    "initial_rho": -3.0,
}  # slow, or e^−2s diverges
_HALF_WIDTH = 0.1  # of the kernel of the density of log σ
_FURTHEST = (2.0, 4.0, 8.0, 16.0, 32.0)  # limits of σ


@dataclass(frozen=True)
class NoiseResult(TruthResult):
    """A fit with its noise; ``likely`` is maximum likelihood's, once it is known."""

    _: KW_ONLY
    likely: Predictive | None = None

    @property
    def sigmas(self) -> dict[str, Array]:
        """Return σ at each of ``x_grid`` ``[m]``: the true one, and those that methods found."""
        found = {"true": self.problem.true_noise(GAP_GRID[:, 0])}
        found["fit"] = self.prediction.aleatoric_std
        return found if self.likely is None else {**found, "likely": self.likely.aleatoric_std}

    @property
    def draws(self) -> Array | None:
        """Return σ of draws from the true posterior ``[s, 1]``, or ``[s, m]`` for σ(x)."""
        return None if self.posterior is None else self.posterior.noise_draws


class NoiseModel(ModelBesideTruth[NoiseResult]):
    """An explorer of a noise that is told, learnt as one number, or learnt as σ(x)."""

    TEXTS = texts.of("noise")
    GRID = GAP_GRID

    def make_panels(self, canvas: Canvas) -> None:
        main = canvas.main("f")["f"]
        self._density = DensityPanel(canvas.context("density", self._draw_density)["c"])
        self._along = AlongPanel(canvas.context("along", self._draw_along)["c"])
        self.function = FunctionPanel(
            canvas, main, "Function, and noise around it", GAP_GRID,
            band=plots.PredictiveArtists, limits=_LIMITS, columns=4,
        )  # fmt: skip
        canvas.animate([*self._density.artists, *self._along.artists])
        canvas.animate_seldom([*self._density.frame, *self._along.frame])

    def compute(self, values: controls.Values) -> NoiseResult:
        problem = Problem.of(values)
        if problem.noise != "x":
            return NoiseResult(**vars(truth_search.refit(problem)))
        # F is not exact with two heads, so that no lowest one is looked for.
        fit = live_fits.fit("local", problem, **_TWO_HEADS)
        search = truth_search.Search(problem, fit, trained=True)
        return NoiseResult(problem, fit, _in_the_middle(fit.predict(GAP_GRID)), search)

    def unseen_fit(self, values: controls.Values) -> NoiseResult:
        result = self.compute(values)
        return self.improve(values, result) or result

    def improve(
        self, values: controls.Values, result: NoiseResult, *, at_rest: bool = True
    ) -> NoiseResult | None:
        if result.likely is None and (at_rest or result.problem.noise != "x"):
            result = replace(result, likely=_most_likely(result.problem))
            return result if result.trained else truth_search.improve(result)
        searched = result.problem.noise == "x" or (result.trained and not at_rest)
        return None if searched else truth_search.improve(result)

    def replay(self, result: NoiseResult, frame: int) -> NoiseResult:
        fit = result.fit.at(frame)
        there = fit.predict(GAP_GRID)
        there = _in_the_middle(there) if result.problem.noise == "x" else there
        return replace(result, fit=fit, prediction=there)

    def draw(self, result: NoiseResult) -> None:
        edges = plots.edges(result.prediction)["band"]
        self.function.update(result, result.prediction, 0.0, band=edges)

    def _draw_density(self, result: NoiseResult) -> None:
        if self._density.update(result):
            self.canvas.redraw_seldom()

    def _draw_along(self, result: NoiseResult) -> None:
        if self._along.update(result):
            self.canvas.redraw_seldom()

    def chores(self) -> Iterator[Callable[[], object]]:
        """Yield functions that compile HMC and the fits, with σ learnt and with σ(x)."""
        yield from super().chores()
        start = self.TEXTS.defaults
        for changes in ({}, {"noise": "x"}, {"noise": "told"}, {"n": 128}):
            yield partial(self.unseen_fit, start | changes)
            yield partial(self._chains.prepare, self.problem(start | changes))

    def readings(self, result: NoiseResult) -> dict[str, float]:
        among, draws = result.regions["data"], result.draws
        found = {"n": float(len(result.data.x)), "F": result.fit.free_energy}
        for name, sigma in result.sigmas.items():
            if np.isfinite(sigma[among]).all():
                found[f"{name}_sigma"] = sigma[among].mean()
        if draws is not None:
            means = draws[:, among if draws.shape[1] > 1 else slice(None)].mean(axis=1)
            found["nuts_sigma"] = means.mean()
            found["nuts_low"], found["nuts_high"] = np.quantile(means, [0.05, 0.95])
        if result.problem.is_drawn:
            found["off_fit"] = status.off_the_sine(GAP_GRID, result.prediction.mean, among)
            if result.posterior is not None:
                found["off_nuts"] = status.off_the_sine(GAP_GRID, result.posterior.mean, among)
        return found

    def words(self, result: NoiseResult) -> dict[str, str]:
        told, x = result.problem.noise == "told", result.problem.noise == "x"
        return {
            **status.shown_if(likely=result.likely is not None, nuts=result.draws is not None),
            **({"sigma": "{told}"} if told else {"sigma": "{along}"} if x else {}),
            "search": "A quick fit" if x else str(result.search),
            "report": result.nuts_report,
        }


class _SigmaPanel(plots.Artists):
    """A panel with a line for each known σ; its limit moves in steps."""

    def __init__(self, ax: Axes, title: str, xlabel: str, ylabel: str) -> None:
        plots.tidy(ax, title, xlabel, ylabel)
        self._ax, self._limit = ax, _FURTHEST[0]
        self._lines = {
            name: ax.plot([], [], style, color=colour, lw=2.0, label=label)[0]
            for name, (style, colour, label) in _STYLES.items()
        }
        posterior = plots.mark("posterior_mean") | {"label": plots.POSTERIOR, "linestyle": "-"}
        (self._posterior,) = ax.plot([], [], **posterior)
        plots.legend_above(ax, columns=2)
        self.artists = [*self._lines.values(), self._posterior]

    def _furthest(self, sigmas: Mapping[str, Array], draws: Array | None) -> float:
        known = [s.max() for s in sigmas.values() if np.isfinite(s).all()]
        if draws is not None:
            known.append(np.quantile(draws, 0.98, axis=0).max())
        return plots.step_above(max(known), _FURTHEST)


class DensityPanel(_SigmaPanel):
    """The density of σ under the true posterior, and single values as upright lines."""

    def __init__(self, ax: Axes) -> None:
        super().__init__(ax, "How loud? What each says", "σ, units of y", "density")
        ax.set(xlim=(0, self._limit), ylim=(0, 1.1), yticks=(0, 1))
        self._words = ax.text(0.5, 0.5, "", transform=ax.transAxes, ha="center", color=plots.RUST)
        self.artists.append(self._words)
        self.frame = [ax.xaxis, *ax.spines.values()]

    def update(self, result: NoiseResult) -> bool:
        """Show the densities of one σ; return whether the limit changed."""
        one, draws = result.problem.noise != "x", result.draws
        sigmas = {name: sigma for name, sigma in result.sigmas.items() if one}
        for name, line in self._lines.items():
            at = sigmas[name].mean() if name in sigmas else np.nan
            line.set_data([at, at], [0.0, 1.0])
        limit = self._furthest(sigmas, draws if one else None) if one else self._limit
        grid = np.linspace(1e-3, limit, 200)
        density = np.full_like(grid, np.nan)
        if one and draws is not None:  # a kernel in log σ, which is never below 0
            away = (np.log(grid)[:, None] - np.log(draws[:, 0])) / _HALF_WIDTH
            density = np.exp(-0.5 * away**2).mean(axis=1) / grid
            density /= density.max()
        self._posterior.set_data(grid, density)
        self._words.set_text("" if one else "σ(x): see “by x”")
        changed, self._limit = limit != self._limit, limit
        self._ax.set_xlim(0, limit)
        return changed


class AlongPanel(_SigmaPanel):
    """Each σ along x, and where nine in ten draws from the true posterior lie."""

    def __init__(self, ax: Axes) -> None:
        super().__init__(ax, "How loud, by x", "x", "σ(x)")
        ax.set(xlim=(GAP_GRID[0, 0], GAP_GRID[-1, 0]), ylim=(0, self._limit))
        style = plots.mark("posterior_band")
        self._edges = [ax.plot([], [], **{**style, "label": "_"})[0] for _ in range(2)]
        self._gap = plots.GapStripe(ax)
        self.artists = [*self._gap.artists, *self.artists, *self._edges]
        self.frame = [ax.yaxis, *ax.spines.values()]

    def update(self, result: NoiseResult) -> bool:
        """Show σ at each x; return whether the limit changed."""
        x, draws, sigmas = GAP_GRID[:, 0], result.draws, result.sigmas
        near = np.abs(x) <= 0.5  # beyond the data σ(x) goes anywhere
        self._gap.update(x, result.regions["gap"])
        for name, line in self._lines.items():
            line.set_data(x, sigmas.get(name, np.full_like(x, np.nan)))
        three = np.full((3, len(x)), np.nan)
        if draws is not None:
            three[:] = np.quantile(draws, [0.05, 0.5, 0.95], axis=0)
        for line, curve in zip(
            (self._edges[0], self._posterior, self._edges[1]), three, strict=True
        ):
            line.set_data(x, curve)
        wide = draws is None or draws.shape[1] == 1
        shown = draws if wide or draws is None else draws[:, near]
        limit = self._furthest({name: s[near] for name, s in sigmas.items()}, shown)
        changed, self._limit = limit != self._limit, limit
        self._ax.set_ylim(0, limit)
        return changed


def _in_the_middle(prediction: Predictive) -> Predictive:
    """Return a predictive with the median of σ(x): far tails of log σ would hide all else."""
    assert prediction.noise_draws is not None
    return replace(prediction, aleatoric_std=np.median(prediction.noise_draws, axis=0))


def _most_likely(problem: Problem) -> Predictive:
    """Return maximum likelihood's predictive, which learns the noise even where it is told."""
    from bdl_teach.densities import HalfNormal

    own: dict[str, Any] = {"steps": 5000}
    if problem.noise != "x":
        own["noise_std"] = HalfNormal(np.inf)
    found: Predictive = live_fits.fit("mle", problem, **own).predict(GAP_GRID)
    return found
