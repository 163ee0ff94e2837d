"""Explore what n tosses of a coin say about the probability of heads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from scipy import stats

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import controls, texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.model import Model
from bdl_teach.widgets._engine.texts import Texts

P_GRID = np.linspace(0.0, 1.0, 401)


@dataclass(frozen=True)
class CoinResult:
    """The result of one tick.

    Attributes:
        heads: Number of heads among the n tosses.
        density: Posterior density at ``P_GRID``, with a flat prior ``[401]``.
        std: Standard deviation of the posterior.
    """

    heads: int
    density: Array
    std: float


class Coin(Model[CoinResult]):
    """Controls for the number of tosses and the share of heads, and the posterior."""

    TEXTS: ClassVar[Texts] = texts.parse(Path(__file__).with_suffix(".toml").read_text("utf-8"))

    def make_panels(self, canvas: Canvas) -> None:
        ax = canvas.main("a")["a"]
        plots.tidy(ax, "What the tosses say", "probability of heads", "density")
        ax.set(xlim=(0, 1), ylim=(0, 30))
        (self._curve,) = ax.plot(P_GRID, np.full(401, np.nan), color=plots.BLUE, label="posterior")
        plots.legend_above(ax, columns=1)
        canvas.animate([self._curve])

    def compute(self, values: controls.Values) -> CoinResult:
        heads = round(values["share"] * values["n"])
        posterior = stats.beta(1 + heads, 1 + values["n"] - heads)
        return CoinResult(heads, posterior.pdf(P_GRID), float(posterior.std()))

    def draw(self, result: CoinResult) -> None:
        self._curve.set_ydata(result.density)

    def readings(self, result: CoinResult) -> dict[str, float]:
        return {"heads": result.heads, "std": result.std}


CoinExplorer = Explorer.of("CoinExplorer", Coin)
