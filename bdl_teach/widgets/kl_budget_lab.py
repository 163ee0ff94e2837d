"""The KL-budget lab: how minibatches share the KL, and how the shares change the fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import ARTICLE, COST_DRAWS, WIDE_GRID, Problem, live_fits
from bdl_teach.problems.own_points import MOST
from bdl_teach.widgets._engine import controls, status, texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.convergence import Convergence
from bdl_teach.widgets._engine.function_panel import FunctionPanel
from bdl_teach.widgets._engine.model import Model
from bdl_teach.widgets.results import Outcome

if TYPE_CHECKING:
    from bdl_teach.elbo import FreeEnergy
    from bdl_teach.methods import bbb

_BATCHES = 32  # largest number of batches


@dataclass(frozen=True)
class KLBudgetResult(Outcome):
    """A fit with the chosen share of the KL in each minibatch, and its free energy."""

    shares: Array  # share of the KL that each minibatch carries [M]
    cost: FreeEnergy  # free energy of the fit, on all points
    convergence: Convergence = Convergence()
    x_grid: ClassVar[Array] = WIDE_GRID


class KLBudgetModel(Model[KLBudgetResult]):
    """An explorer to set the number of minibatches, their shares of the KL and the KL weight."""

    TEXTS = texts.of("kl_budget_lab")

    def idle(self, values: controls.Values) -> set[str]:
        return {"scheme"} if values["n_batches"] == 1 else set()

    def make_panels(self, canvas: Canvas) -> None:
        self.function = FunctionPanel(
            canvas, canvas.main("f")["f"], "What the network believes about y", WIDE_GRID,
            band=plots.PredictiveArtists, truth=False, columns=4,
        )  # fmt: skip
        self._make_share_panel(canvas.context("shares", self._draw_shares)["c"])
        self._history = plots.HistoryPanel(canvas.context("training", self._draw_history)["c"])
        canvas.animate([self._bars, self._sum, *self._history.artists])
        canvas.animate_seldom(self._history.frame)

    def _make_share_panel(self, ax: Axes) -> None:
        plots.tidy(ax, "Who pays the KL", "minibatch i of the epoch", "share of the KL")
        ax.set(xlim=(0, 33), ylim=(0, 1.05))
        none, edges = np.full(_BATCHES, np.nan), np.arange(0.5, _BATCHES + 1)
        self._bars = ax.stairs(none, edges, fill=True, color=plots.SKY, label="of batch i")
        (self._sum,) = ax.plot([], [], "o-", ms=3.5, color=plots.RED, label="sum so far")
        plots.legend_above(ax, columns=2)

    def compute(self, values: controls.Values) -> KLBudgetResult:
        from bdl_teach import elbo

        # The lab has no controls of seed and n; ``next_seeds`` and ``chores`` set them.
        unseen = {name: values[name] for name in ("seed", "n") if name in values}
        problem = replace(ARTICLE, own=values.get("data"), **unseen)
        m, scheme = values["n_batches"], values["scheme"]
        batches = {"kl_weight": values["kl_weight"], "n_batches": m, "kl_scheme": scheme}
        fit = live_fits.fit("bbb", problem, **batches)
        return _result(problem, elbo.minibatch_weights(m, scheme), fit)

    def chores(self) -> Iterator[Callable[[], object]]:
        """Yield a function that compiles the programs that fit data from a learner's table."""

        def fit_and_improve() -> None:
            result = self.compute({**self.TEXTS.defaults, "n": MOST})
            for _ in range(2):
                result = self.improve({}, result) or result

        yield fit_and_improve

    def next_seeds(self, values: controls.Values) -> list[controls.Values]:
        return [{**values, "seed": seed} for seed in (1, 2)]

    def replay(self, result: KLBudgetResult, frame: int) -> KLBudgetResult:
        return _result(result.problem, result.shares, result.fit.at(frame))

    def draw(self, result: KLBudgetResult) -> None:
        self.function.update(result, result.prediction)

    def _draw_shares(self, result: KLBudgetResult) -> None:
        padded = np.full(_BATCHES, np.nan)
        padded[: len(result.shares)] = result.shares
        self._bars.set_data(padded)
        self._sum.set_data(np.arange(1, len(result.shares) + 1), np.cumsum(result.shares))

    def _draw_history(self, result: KLBudgetResult) -> None:
        if self._history.update(result.fit.history):
            self.canvas.redraw_seldom()

    def readings(self, result: KLBudgetResult) -> dict[str, float]:
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
            "sd_at_1": status.at(WIDE_GRID, result.prediction.epistemic_std, 1.0),
            **status.costs(result.cost),
        }

    def words(self, result: KLBudgetResult) -> dict[str, str]:
        m = len(result.shares)
        return {
            "many": "{one}" if m == 1 else "{several}",
            "first": "{first_ten}" if m > 10 else "{first_alone}",
            "convergence": str(result.convergence),
        }


def _result(problem: Problem, shares: Array, fit: bbb.Fit) -> KLBudgetResult:
    prediction = fit.predict(WIDE_GRID, n_samples=200)
    return KLBudgetResult(problem, fit, prediction, shares, fit.cost(COST_DRAWS))
