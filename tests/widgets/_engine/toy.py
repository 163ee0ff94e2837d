"""A small explorer for the tests of the engine."""

import html
import re
from typing import Any

from bdl_teach.widgets._engine import texts
from bdl_teach.widgets._engine.canvas import Canvas
from bdl_teach.widgets._engine.live import Explorer
from bdl_teach.widgets._engine.model import Model

TEXTS = """
title = "A toy"
alt = "A bar."
stays = ["seen"]
[controls]
width = ["slider", "width", 1.0, [0.5, 3.0, 0.5], ""]
n = ["count", "times", 2, [0, 90], ""]
scale = ["powers", "scale", 1.0, [-2, 1], ""]
m = ["places", "m", 4, [1, 2, 4], ""]
kind = ["row", "kind", "a", [["Alpha", "a"], ["Beta", "b"]], []]
seen = ["toggle", "seen", false, [], ""]
seed = ["count", "seed", 0, [0, 99], ""]
[groups]
ALL = ["width", "n", "scale", "m", "kind", "seen", "seed"]
[presets]
high = ["The top of the bar", { width = 3.0, n = 9 }]
"high, seen" = ["The same", { width = 3.0, n = 9, seen = true }]
[readings]
height = ["the height"]
[status]
line = "Height {height:g}."
"""


class ToyModel(Model[float]):
    """A bar as high as width times n; computing n = 13 fails."""

    TEXTS = texts.parse(TEXTS)

    def make_panels(self, canvas: Canvas) -> None:
        ax = canvas.main("a")["a"]
        ax.set_ylim(0, 10)
        (self._bar,) = ax.plot([0, 1], [0, 0], label="bar")
        (self._zero,) = ax.plot([0, 1], [0, 0], ":", label="zero")
        canvas.animate([self._zero, self._bar])

    def compute(self, values: dict[str, Any]) -> float:
        if values["n"] == 13:
            raise ArithmeticError("too far")
        return float(values["width"] * values["n"])

    def draw(self, result: float) -> None:
        self._bar.set_ydata([0, result])

    def readings(self, result: float) -> dict[str, float]:
        return {"height": result}

    @property
    def height(self) -> float:
        return float(self._bar.get_ydata()[1])


Toy = Explorer.of("Toy", ToyModel)
START = dict(Toy.DEFAULTS)


def text(widget: Any) -> str:
    """Return the text that a page shows of a widget of HTML."""
    return html.unescape(re.sub(r"<[^>]*>", "", widget.value))
