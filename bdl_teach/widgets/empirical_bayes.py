"""The empirical-Bayes explorer: a prior that is set or learnt, and the best one for the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import COST_DRAWS, Problem, live_fits, own_points
from bdl_teach.problems.live_fits import PRIOR_WIDTH
from bdl_teach.widgets._engine import controls, status, texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.convergence import Convergence
from bdl_teach.widgets._engine.function_panel import FunctionPanel
from bdl_teach.widgets._engine.model import Model, Move
from bdl_teach.widgets.results import Outcome

if TYPE_CHECKING:
    from bdl_teach.methods import _mean_field


X_GRID = np.linspace(-1.0, 1.0, 121)[:, None]
MODES = {"fixed": "", "per weight": "weight", "per layer": "layer", "one for all": "all"}
_GRID = 10.0 ** np.linspace(-2, 2, 201)  # σ_p at which the KL is plotted
_HIGHEST = 200.0  # upper limit of the panel of the KL, in nats above the lowest
_FLOOR = 1e-3  # lower limit of the panel of the weights; smaller σ_p are drawn here
_OFF = 0.5  # a weight whose |μ|/σ is below this counts as switched off


@dataclass(frozen=True)
class EmpiricalBayesResult(Outcome):
    """A fit under a set or learnt prior, and the σ_p at which the KL of its weights is smallest."""

    prior_std: Array  # σ_p of each weight [n_weights], set or learnt
    wanted_std: Array  # √(μ² + σ²) [n_weights]: the best σ_p if a weight had its own
    best_std: float  # the best σ_p if all weights share one, in closed form
    complexity: float  # KL[q ‖ prior], in nats
    least_complexity: float  # KL[q ‖ prior] in nats if every σ_p were best_std
    likelihood: float  # expected −log likelihood, in nats
    off: float  # share of the weights that are switched off
    convergence: Convergence = Convergence()
    x_grid: ClassVar[Array] = X_GRID


class EmpiricalBayesModel(Model[EmpiricalBayesResult]):
    """An explorer to set the σ of the prior by hand, or to have it learnt."""

    TEXTS = texts.of("empirical_bayes")

    def buttons(self) -> dict[str, Move]:
        return {"best": _to_best}

    def idle(self, values: controls.Values) -> set[str]:
        return set() if values["prior"] == "fixed" else {"prior_std"}

    def make_panels(self, canvas: Canvas) -> None:
        title = "What the network believes about y"
        self.function = FunctionPanel(canvas, canvas.main("f")["f"], title, X_GRID)
        self._make_best_panel(canvas.context("best", self._draw_best)["c"])
        self._make_weight_panel(canvas.context("weights", self._draw_weights)["c"])
        canvas.animate([self._curve, self._best, self._ring, self._in_use, self._wanted])

    def _make_best_panel(self, ax: Axes) -> None:
        plots.tidy(ax, "KL by σ of one prior for all", "prior σ", "nats above the best")
        ax.set(xscale="log", xlim=(0.025, 40), ylim=(-12, _HIGHEST))
        (self._curve,) = ax.plot(_GRID, _GRID, "-", color=plots.BLUE, lw=2, label="KL")
        (self._best,) = ax.plot([], [], "*", color=plots.GREEN, ms=14, clip_on=False, label="best")
        (self._ring,) = ax.plot(  # a ring, in which the star can be seen
            [], [], "o", mfc="none", mec=plots.RED, mew=2.4, ms=17, clip_on=False, label="now"
        )
        plots.legend_above(ax, columns=3)

    def _make_weight_panel(self, ax: Axes) -> None:
        plots.tidy(ax, "σ of each weight's prior", "weights, from the widest", "σ")
        ax.set(yscale="log", xlim=(0, 3 * PRIOR_WIDTH + 2), ylim=(_FLOOR, 40))
        (self._wanted,) = ax.plot([], [], ".", color=plots.ORANGE, ms=7, label="best: √(μ² + σ²)")
        (self._in_use,) = ax.plot([], [], "-", color=plots.BLACK, lw=1.8, label="in use")
        plots.legend_above(ax, columns=2)

    def compute(self, values: controls.Values) -> EmpiricalBayesResult:
        problem = Problem.of(values)
        return _result(problem, *live_fits.with_prior(problem, MODES[values["prior"]]))

    def replay(self, result: EmpiricalBayesResult, frame: int) -> EmpiricalBayesResult:
        fit = result.fit.at(frame)
        return _result(result.problem, fit, getattr(fit, "prior_std", result.prior_std))

    def draw(self, result: EmpiricalBayesResult) -> None:
        self.function.update(result, result.prediction)

    def _draw_best(self, result: EmpiricalBayesResult) -> None:
        std, best, n = result.prior_std, result.best_std, len(result.prior_std)
        now = std[:1] if np.ptp(std) == 0 else np.zeros(0)
        self._curve.set_ydata(_above_best(_GRID, best, n))
        self._best.set_data([best], [0.0])
        self._ring.set_data(now, np.minimum(_above_best(now, best, n), _HIGHEST))

    def _draw_weights(self, result: EmpiricalBayesResult) -> None:
        order = np.argsort(-result.wanted_std)
        places = np.arange(1, len(order) + 1)
        lines = (self._wanted, result.wanted_std), (self._in_use, result.prior_std)
        for line, stds in lines:
            line.set_data(places, np.maximum(stds[order], _FLOOR))

    def chores(self) -> Iterator[Callable[[], object]]:
        """Yield functions that compile fits with a learnt prior, then fits to a learner's table."""
        for mode in ("per weight", "per layer"):
            yield partial(self.compute, {**self.TEXTS.defaults, "prior": mode})
        for mode in ("fixed", "per weight", "per layer"):
            yield partial(
                self.compute, {**self.TEXTS.defaults, "prior": mode, "n": own_points.MOST}
            )

    def readings(self, result: EmpiricalBayesResult) -> dict[str, float]:
        n, saved = len(result.prior_std), result.complexity - result.least_complexity
        return {
            "used": n - round(n * result.off),
            "weights": n,
            "off": result.off,
            "F": result.complexity + result.likelihood,
            "complexity": result.complexity,
            "saved": saved,
            "difference": abs(saved),
            "best": result.best_std,
            "likelihood": result.likelihood,
            "off_sine": status.off_the_sine(X_GRID, result.prediction.mean),
        }

    def words(self, result: EmpiricalBayesResult) -> dict[str, str]:
        dearer = result.complexity >= result.least_complexity
        compared = "{dearer}" if dearer else "{cheaper}"
        return {"compared": compared, "convergence": str(result.convergence)}


def _to_best(values: controls.Values, result: EmpiricalBayesResult | None) -> controls.Values:
    """Return the fixed prior of the lowest KL, rounded to a step of the slider."""
    if result is None:
        return {}
    steps = np.clip(np.round(10 * np.log10(result.best_std)), -15, 15)
    return {"prior": "fixed", "prior_std": float(10 ** (steps / 10))}


def _result(problem: Problem, fit: _mean_field.Fit, std: Array) -> EmpiricalBayesResult:
    """Make the result of a fit, given the prior sd of each weight, ``std`` [n_weights]."""
    from bdl_teach.methods.empirical_bayes import optimal_prior_std, tied_kl

    used = std > 0
    mean, spread = fit.mean[used], np.maximum(fit.std[used], 1e-30)
    group = np.zeros(len(mean), int)
    best = float(optimal_prior_std(mean, spread, group)[0])
    wanted = optimal_prior_std(mean, spread)
    kl = np.log(std[used] / spread) + 0.5 * (wanted / std[used]) ** 2 - 0.5
    return EmpiricalBayesResult(
        problem=problem,
        fit=fit,
        prediction=fit.predict(X_GRID, n_samples=200),
        prior_std=std,
        wanted_std=wanted,
        best_std=best,
        complexity=float(kl.sum()),
        least_complexity=tied_kl(mean, spread, group),
        likelihood=fit.cost(COST_DRAWS).likelihood,
        off=float((fit.signal_to_noise < _OFF).mean()),
    )


def _above_best(prior_std: Array, best_std: float, n_weights: int) -> Array:
    """Return KL(σ_p) − KL(σ*) = n [ln(σ_p/σ*) + ½ (σ*²/σ_p² − 1)], where σ* is the best σ_p."""
    ratio = prior_std / best_std
    return np.asarray(n_weights * (np.log(ratio) + 0.5 * (ratio**-2 - 1)))
