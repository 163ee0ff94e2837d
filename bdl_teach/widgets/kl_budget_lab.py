"""The KL-budget lab: how minibatches share the complexity cost, and what that does to a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from matplotlib.axes import Axes

from bdl_teach import datasets, plots
from bdl_teach._support.checks import Array
from bdl_teach.problems import COST_DRAWS, live_fits
from bdl_teach.problems import WIDE_GRID as X_GRID
from bdl_teach.problems import own_points as points
from bdl_teach.widgets._engine import controls, replay, touch
from bdl_teach.widgets._engine.arrival import Arrival
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.mission_checks import as_asked, at, left, untouched, with_more
from bdl_teach.widgets._engine.missions import Condition, Mission
from bdl_teach.widgets._engine.points import Points
from bdl_teach.widgets._engine.question import Question

if TYPE_CHECKING:
    from bdl_teach.elbo import FreeEnergy
    from bdl_teach.methods import bbb
    from bdl_teach.predictive import Predictive

_BATCHES = (1, 2, 4, 8, 16, 32)
_DEFAULTS: controls.Values = {"n_batches": 8, "scheme": "uniform", "kl_weight": 1.0}


@dataclass(frozen=True)
class KLBudgetResult:
    """What one tick computed.

    Attributes:
        data: The training points.
        shares: Share of the KL that each minibatch carries ``[M]``.
        fit: The posterior, fitted with those minibatches.
        prediction: Its predictive on the sinusoid explorer's grid.
        cost: Its free energy on all points, whatever its steps saw.
        arrival: Whether it has converged; the picture stays that of the minibatches.
    """

    data: datasets.Regression1D
    shares: Array
    fit: bbb.Fit
    prediction: Predictive
    cost: FreeEnergy
    arrival: Arrival = Arrival()


def _is_divided_twice(state: controls.Values, result: KLBudgetResult) -> list[Condition]:
    m = len(result.shares)
    paid = state["kl_weight"] * result.shares * m**2
    said = f"the batches pay {paid.min():.3g} to {paid.max():.3g} times 1/M² of the KL"
    return [
        untouched(state, _DEFAULTS),
        as_asked(m >= 8, "the number of batches", m),
        Condition(bool((abs(paid - 1) < 0.1).all()), said),
    ]


def _first_pays_once(state: controls.Values, result: KLBudgetResult) -> list[Condition]:
    m, (first, *others) = len(result.shares), state["kl_weight"] * result.shares
    even = abs(first - 1) < 0.03 and abs(sum(others) - 1) < 0.03
    said = f"of the KL the first batch pays {first:.3g}, the others {sum(others):.3g}"
    return [
        untouched(state, _DEFAULTS),
        as_asked(m >= 8, "the number of batches", m),
        Condition(even, said),
    ]


def _is_sure_at_1(state: controls.Values, result: KLBudgetResult) -> list[Condition]:
    n, sd = len(result.data.x), at(X_GRID, result.prediction.epistemic_std, 1.0)
    return [
        left(state, _DEFAULTS, "kl_weight"),
        as_asked(n <= 40, "the number of points", n),
        as_asked(sd < 1.0, "the epistemic sd at x = 1", sd),
    ]


class KLBudgetLab(Explorer[KLBudgetResult]):
    """Number of minibatches, scheme of the KL shares, KL weight: each movement refits.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    TITLE: ClassVar[str] = "Who pays the KL"
    ALT: ClassVar[str] = (
        "Three plots: the share of the KL of each minibatch; the free energy by training step; "
        "the network's mean and its ±2 sd bands."
    )
    QUESTION: ClassVar[Question] = Question(
        "Choose the geometric shares with 32 minibatches. Which batches carry the KL?",
        ("All alike", "The first ten, nearly all of it", "The last ten, nearly all of it"),
        1,
        "The shares halve from batch to batch: ten batches carry 1 − 2⁻¹⁰ = 99.9 % of the KL.",
        "scheme",
        target="geometric",
        before=(("n_batches", 32),),
    )
    PRESETS: ClassVar[controls.Presets] = {
        "eight batches": (
            "Four points a step; each batch pays an eighth of the KL, all of them once",
            dict(_DEFAULTS),
        ),
        "one batch": ("The whole data set in each step", {**_DEFAULTS, "n_batches": 1}),
        # claim: minibatches-of-one-end-higher
        "32 uniform": (
            "One point a step, each with 1/32 of the KL: noisy steps end at a higher free energy",
            {**_DEFAULTS, "n_batches": 32},
        ),
        "32 geometric": (
            "One point a step; the first ten carry 99.9 % of the KL",
            {**_DEFAULTS, "n_batches": 32, "scheme": "geometric"},
        ),
        # claim: whole-kl-in-each-batch-flattens-the-mean
        "1/M forgotten": (
            "The whole KL in each of 8 batches: a KL weight of 8; the mean flattens",
            {**_DEFAULTS, "kl_weight": 10**0.9},
        ),
    }

    MISSIONS: ClassVar[tuple[Mission, ...]] = (
        Mission(
            "kl-budget-divided-twice",
            "Somebody divides by M once too often: each of M batches, eight or more, is given "
            "1/M² of the KL. Show what is fitted then, on the 32 points.",
            (
                "What do the batches of an epoch pay together? Which KL weight is that?",
                "Leave “batches M” at 8 and “shares” at uniform; take “KL weight” to 0.126, "
                "which is ⅛.",
            ),
            _is_divided_twice,
            {"n_batches": 8, "scheme": "uniform", "kl_weight": 10**-0.9},
        ),
        Mission(
            "kl-budget-first-pays-once",
            "On the 32 points in eight batches or more, let the first batch alone pay the whole "
            "KL, and all the others together the whole KL once more.",
            (
                "The KL is paid twice over; which shares give half of it to one batch?",
                "Take “batches M” to 16, “shares” to geometric and “KL weight” to 2.00: the "
                "first of the halving shares is nearly ½.",
            ),
            _first_pays_once,
            {"n_batches": 16, "scheme": "geometric", "kl_weight": 10**0.3},
        ),
        Mission(
            "kl-budget-sure-at-1",
            "Bring the epistemic sd at x = 1 below 1 without touching the KL weight, with at "
            "most 40 points in all.",
            (
                "Who pays the KL is the same for all x. What says something about x = 1?",
                "Leave all sliders; click eight points into the upper plot, all near (1, 0).",
            ),
            _is_sure_at_1,
            {"data": with_more(datasets.sinusoid(), *[(1.0, 0.0)] * 8)},
        ),
    )

    def _make_controls(self) -> dict[str, controls.Widget]:
        d = _DEFAULTS
        return {
            "n_batches": controls.choice_slider(
                "batches M", d["n_batches"], _BATCHES, "minibatches in an epoch of 32 points"
            ),
            "kl_weight": controls.log_slider(
                "KL weight", d["kl_weight"], -3, 1, ".3g", "factor on the complexity cost"
            ),
            "scheme": controls.choices(
                "shares",
                d["scheme"],
                ["uniform", "geometric"],
                ["1/M each", "2^(M−i)/(2^M−1): the early batches carry it"],
            ),
            "data": Points(),
        }

    def _idle(self, values: controls.Values) -> set[str]:
        """Name the shares where one batch pays all."""
        return {"scheme"} if values["n_batches"] == 1 else set()

    def _make_groups(self) -> dict[str, list[controls.Widget]]:
        batches, weight, scheme, _ = self._controls.values()
        drawn = controls.button("32 points", "of the sine again", lambda: self._go({"data": None}))
        return {"TRAIN": [batches, weight, scheme], "DATA": [drawn, *self._hand_buttons()]}

    def _make_canvas(self) -> Canvas:
        canvas = Canvas()
        grid = canvas.figure.add_gridspec(2, 2, height_ratios=(1.3, 1))
        function, shares, history = (
            canvas.figure.add_subplot(cell) for cell in (grid[0, :], grid[1, 1], grid[1, 0])
        )
        self._make_share_panel(canvas, shares)
        self._history = plots.history_panel(history)
        self._make_function_panel(canvas, function)
        canvas.animate(self._history.artists)
        return canvas

    def _make_share_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "Who pays the KL", "minibatch i of the epoch", "share of the KL")
        ax.set(xlim=(0, 33), ylim=(0, 1.05))
        none = np.full(_BATCHES[-1], np.nan)
        edges = np.arange(0.5, _BATCHES[-1] + 1)
        self._bars = ax.stairs(none, edges, fill=True, color=plots.SKY, label="of batch i")
        (self._sum,) = ax.plot([], [], "o-", ms=3.5, color=plots.RED, label="sum so far")
        plots.legend_above(ax, columns=2)
        canvas.animate([self._bars, self._sum])

    def _make_function_panel(self, canvas: Canvas, ax: Axes) -> None:
        plots.tidy(ax, "What the network believes", "x", "y")
        ax.set_xlim(-1.5, 1.5)
        self._room = plots.Room(ax)
        self._band = plots.PredictiveArtists(ax, X_GRID[:, 0])
        data = datasets.sinusoid()
        self._points = plots.draw_data(ax, data.x, data.y)
        plots.legend_above(ax, columns=4)
        self._band_axes = ax
        canvas.animate([*self._band.artists, self._points, *self._room.artists])
        canvas.settle(self._room.frame)

    def _touch_panels(self) -> list[touch.Panel]:
        return [touch.Panel(self._band_axes, self._room, columns=4)]

    def _doubt(self, result: KLBudgetResult) -> tuple[Array, Array]:
        return X_GRID[:, 0], result.prediction.epistemic_std

    def _compute(self, values: controls.Values) -> KLBudgetResult:
        from bdl_teach import elbo
        from bdl_teach.densities import ScaleMixture
        from bdl_teach.methods import bbb

        seed = values.get("seed", 0)  # no control has it: a mission asks for others
        drawn, prior = partial(datasets.sinusoid, seed=seed), ScaleMixture()
        data = points.chosen(values.get("data"), 1.0, drawn)
        fit = bbb.fit(
            data.x,
            data.y,
            prior=prior,
            kl_weight=values["kl_weight"],
            n_batches=values["n_batches"],
            kl_scheme=values["scheme"],
            seed=seed,
            capacity=bbb.Capacity(*live_fits.room(len(data.x))),
        )
        shares = elbo.minibatch_weights(values["n_batches"], values["scheme"])
        return _result(data, shares, fit)

    def _chores(self) -> Iterator[Callable[[], object]]:
        """Compile the fit to a table."""
        table = datasets.sinusoid(points.MOST)
        value = points.from_course(table.x[:, 0], table.y[:, 0])
        values = {**_DEFAULTS, "data": value}

        def fit_and_improve() -> None:
            result = self._compute(values)
            self._improve(values, self._improve(values, result) or result)

        yield fit_and_improve

    def _next_seeds(self, values: controls.Values) -> list[controls.Values]:
        """Other data and starts; no slider of the lab moves them."""
        return [{**values, "seed": seed} for seed in (1, 2)]

    def _improve(self, values: controls.Values, result: KLBudgetResult) -> KLBudgetResult | None:
        if result.arrival.over:
            return None
        return replace(result, arrival=result.arrival.after_one_more(result.fit))

    def _frames(self, result: KLBudgetResult) -> Sequence[int]:
        return replay.steps_of(result.fit)

    def _replay(self, result: KLBudgetResult, frame: int) -> KLBudgetResult:
        return _result(result.data, result.shares, result.fit.at(frame))

    def _draw(self, result: KLBudgetResult) -> None:
        self._points.set_data(result.data.x[:, 0], result.data.y[:, 0])
        padded = np.full(_BATCHES[-1], np.nan)
        padded[: len(result.shares)] = result.shares
        self._bars.set_data(padded)
        self._sum.set_data(np.arange(1, len(result.shares) + 1), np.cumsum(result.shares))
        self._history.update(result.fit.history)
        self._band.update(result.prediction)
        if self._room.hold(plots.edges(result.prediction)):
            self._canvas.redraw_settled()

    def _describe(self, result: KLBudgetResult) -> str:
        m = len(result.shares)
        first, carry = (10, "first 10 carry") if m > 10 else (1, "first carries")
        paid = f"the {carry} {100 * result.shares[:first].sum():.1f} % of the KL"
        said = f"{m} minibatch{'es' * (m > 1)}: {paid}; on all points {result.cost}."
        return f"{said} {result.arrival}".rstrip()


def _result(data: datasets.Regression1D, shares: Array, fit: bbb.Fit) -> KLBudgetResult:
    """Put a posterior beside the points and the shares that it was fitted with."""
    prediction = fit.predict(X_GRID, n_samples=200)
    return KLBudgetResult(data, shares, fit, prediction, fit.cost(COST_DRAWS))
