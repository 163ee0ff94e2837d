"""The coin: what n tosses say of the probability of heads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy import stats

from bdl_teach import plots
from bdl_teach._support.checks import Array
from bdl_teach.widgets._engine import controls
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer

P_GRID = np.linspace(0.0, 1.0, 401)
_DEFAULTS: controls.Values = {"n": 10, "share": 0.5}


@dataclass(frozen=True)
class CoinResult:
    """What one tick computed.

    Attributes:
        heads: How many of the n tosses were heads.
        density: Posterior density at ``P_GRID``, after a flat prior ``[401]``.
        std: Standard deviation of the posterior.
    """

    heads: int
    density: Array
    std: float


class CoinExplorer(Explorer[CoinResult]):
    """Number of tosses and share of heads: each movement updates the posterior.

    Args:
        **values: Starting values of controls, as ``state()`` returns them.

    Raises:
        ValueError: No such control, or a value outside its range.
    """

    TITLE: ClassVar[str] = "A coin"
    ALT: ClassVar[str] = "One curve: the posterior density of the probability of heads."
    WORK: ClassVar[str] = "update"
    PRESETS: ClassVar[controls.Presets] = {
        "few tosses": ("A broad hill: much is still possible", {**_DEFAULTS, "n": 4}),
        "many tosses": ("Hundredfold the tosses, a narrow peak", {**_DEFAULTS, "n": 400}),
    }

    def _make_controls(self) -> dict[str, controls.Widget]:
        n, share = _DEFAULTS.values()
        return {
            "n": controls.count_slider("tosses", n, 0, 1000, "how often the coin was tossed"),
            "share": controls.slider("heads", share, 0, 1, 0.1, "share of the tosses"),
        }

    def _make_groups(self) -> dict[str, list[controls.Widget]]:
        return {"TOSSES": list(self._controls.values())}

    def _make_canvas(self) -> Canvas:
        canvas = Canvas()
        ax = canvas.figure.add_subplot()
        plots.tidy(ax, "What the tosses say", "probability of heads", "density")
        ax.set(xlim=(0, 1), ylim=(0, 30))
        (self._curve,) = ax.plot(P_GRID, np.full(401, np.nan), color=plots.BLUE, label="posterior")
        plots.legend_above(ax, columns=1)
        canvas.animate([self._curve])
        return canvas

    def _compute(self, values: controls.Values) -> CoinResult:
        heads = round(values["share"] * values["n"])
        posterior = stats.beta(1 + heads, 1 + values["n"] - heads)
        return CoinResult(heads, posterior.pdf(P_GRID), float(posterior.std()))

    def _draw(self, result: CoinResult) -> None:
        self._curve.set_ydata(result.density)

    def _describe(self, result: CoinResult) -> str:
        return f"{result.heads} heads: posterior sd {result.std:.3f}."
