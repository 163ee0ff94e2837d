"""The KL-budget lab: how minibatches share the complexity cost, and what that does to a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import ARTICLE, COST_DRAWS, Outcome, Problem, live_fits
from bdl_teach.problems import WIDE_GRID as X_GRID
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine import controls, status, texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.convergence import Convergence
from bdl_teach.widgets._engine.function_panel import FunctionPanel
from bdl_teach.widgets._engine.live import Explorer

if TYPE_CHECKING:
    from bdl_teach.elbo import FreeEnergy
    from bdl_teach.methods import bbb

_MOST = 32  # batches


@dataclass(frozen=True)
class KLBudgetResult(Outcome):
    """The result of one tick."""

    shares: Array  # share of the KL that each minibatch carries [M]
    cost: FreeEnergy  # the free energy of the fit on all points, whatever its steps saw
    convergence: Convergence = Convergence()  # the picture stays that of the minibatches
    x_grid: ClassVar[Array] = X_GRID


class KLBudgetLab(Explorer[KLBudgetResult]):
    """Number of minibatches, scheme of the KL shares, KL weight: each movement refits."""

    TEXTS = texts.of("kl_budget_lab")

    def _buttons(self) -> dict[str, Callable[[], object]]:
        return {"drawn": lambda: self._go({"data": None})}

    def _idle(self, values: controls.Values) -> set[str]:
        """Name the control of the shares while there is a single batch."""
        return {"scheme"} if values["n_batches"] == 1 else set()

    def _make_panels(self, canvas: Canvas) -> None:
        axes = canvas.figure.subplot_mosaic("ff;hs", height_ratios=(1.3, 1))
        self._make_share_panel(canvas, axes["s"])
        self._history = plots.HistoryPanel(axes["h"])
        self._function = FunctionPanel(
            canvas, axes["f"], "What the network believes", X_GRID,
            band=plots.PredictiveArtists, truth=False, columns=4,
        )  # fmt: skip
        canvas.animate(self._history.artists)

    def _make_share_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "Who pays the KL", "minibatch i of the epoch", "share of the KL")
        ax.set(xlim=(0, 33), ylim=(0, 1.05))
        none = np.full(_MOST, np.nan)
        edges = np.arange(0.5, _MOST + 1)
        self._bars = ax.stairs(none, edges, fill=True, color=plots.SKY, label="of batch i")
        (self._sum,) = ax.plot([], [], "o-", ms=3.5, color=plots.RED, label="sum so far")
        plots.legend_above(ax, columns=2)
        canvas.animate([self._bars, self._sum])

    def _compute(self, values: controls.Values) -> KLBudgetResult:
        from bdl_teach import elbo

        seed = values.get("seed", 0)  # no control has it: a mission asks for others
        m, scheme = values["n_batches"], values["scheme"]
        problem = replace(ARTICLE, seed=seed, own=values.get("data"))
        batches = {"kl_weight": values["kl_weight"], "n_batches": m, "kl_scheme": scheme}
        fit = live_fits.backprop(problem, "weights", **batches)
        return _result(problem, elbo.minibatch_weights(m, scheme), fit)

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Compile the fit to a table."""
        table = datasets.sinusoid(points.MOST)
        value = points.from_course(table.x[:, 0], table.y[:, 0])

        def fit_and_improve() -> None:
            result = self._compute({**self.DEFAULTS, "data": value})
            for _ in range(2):
                result = self._improve({}, result) or result

        yield fit_and_improve

    def _next_seeds(self, values: controls.Values) -> list[controls.Values]:
        """Return these values with other data and starts, for which the lab has no slider."""
        return [{**values, "seed": seed} for seed in (1, 2)]

    def _replay(self, result: KLBudgetResult, frame: int) -> KLBudgetResult:
        return _result(result.problem, result.shares, result.fit.at(frame))

    def _draw(self, result: KLBudgetResult) -> None:
        padded = np.full(_MOST, np.nan)
        padded[: len(result.shares)] = result.shares
        self._bars.set_data(padded)
        self._sum.set_data(np.arange(1, len(result.shares) + 1), np.cumsum(result.shares))
        self._history.update(result.fit.history)
        self._function.update(result, result.prediction)

    def _readings(self, result: KLBudgetResult) -> dict[str, float]:
        shares = result.shares
        paid, m = result.cost.kl_weight * shares, len(shares)
        return {
            "batches": m,
            "first_share": 100 * shares[0],
            **({"ten_share": 100 * shares[:10].sum()} if m > 10 else {}),
            "least_paid": m**2 * paid.min(),
            "most_paid": m**2 * paid.max(),
            "first_pays": paid[0],
            "others_pay": paid[1:].sum(),
            "sd_at_1": status.at(X_GRID, result.prediction.epistemic_std, 1.0),
            **status.costs(result.cost),
        }

    def _words(self, result: KLBudgetResult) -> dict[str, str]:
        m = len(result.shares)
        return {
            "many": "{one}" if m == 1 else "{several}",
            "first": "{first_ten}" if m > 10 else "{first_alone}",
            **status.cost_words(result.cost),
            "convergence": str(result.convergence),
        }


def _result(problem: Problem, shares: Array, fit: bbb.Fit) -> KLBudgetResult:
    """Return the result for a posterior that was fitted to the points with these shares."""
    prediction = fit.predict(X_GRID, n_samples=200)
    return KLBudgetResult(problem, fit, prediction, shares, fit.cost(COST_DRAWS))
