"""What stands round the pictures and on the controls of every explorer, before a hand moves one.

Nothing is fitted here. ``faces.toml`` says of each explorer its panels (title, axes with what they
measure and from where to where, legend) and its controls (label, range, and where it begins).
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import ipywidgets
import pytest
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.legend import Legend
from matplotlib.ticker import FixedLocator

from bdl_teach import widgets
from bdl_teach.widgets._engine import background, controls

FACES = tomllib.loads(Path(__file__).with_name("faces.toml").read_text("utf-8"))


def axis(one: Axis, limits: tuple[float, float]) -> str:
    """``"prior σ: 0.1 … 32, log"``; where ticks are set, what stands where."""
    scale = one.get_scale()
    said = [f"{one.get_label_text() or 'unnamed'}: {limits[0]:g} … {limits[1]:g}"]
    said += [] if scale == "linear" else [scale]
    if isinstance(one.get_major_locator(), FixedLocator):
        ticks = zip(one.get_ticklocs(), one.get_ticklabels(), strict=True)
        said += [f"{place:g} is {tick.get_text()}" for place, tick in ticks]
    return ", ".join(said)


def entries(legend: Legend | None) -> list[str]:
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def panel(ax: Axes) -> list[str]:
    """Title, both axes, and what the legend names."""
    x, y = axis(ax.xaxis, ax.get_xlim()), axis(ax.yaxis, ax.get_ylim())
    return [ax.get_title(loc="left") or ax.get_title(), x, y, *entries(ax.get_legend())]


def control(widget: Any) -> str:
    """``"σ₁: 0.10 … 5.00 by 0.05, at 1.50"``; of a choice, all there are."""
    options = getattr(widget, "options", None)
    if options is not None:
        words = [str(option[0] if isinstance(option, tuple) else option) for option in options]
        chosen = words[widget.index]
        return f"{widget.description}: {', '.join(words)}; at {chosen}"
    if isinstance(widget, ipywidgets.ToggleButton):
        return f"{widget.description}: {'on' if widget.value else 'off'}"
    base = getattr(widget, "base", None)
    ends = [end if base is None else base**end for end in (widget.min, widget.max)]
    low, high, at = (controls.written(widget, value) for value in (*ends, widget.value))
    step = f"{widget.step:g}" + " of a decade" * (base is not None)
    return f"{widget.description}: {low} … {high} by {step}, at {at}"


@pytest.mark.parametrize("name", widgets.__all__)
def test_panels_and_controls_are_those_that_are_written_down(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert name in FACES, f"{name}: expected a table of that name in faces.toml"
    monkeypatch.setattr(background, "start", lambda _: None)
    explorer = getattr(widgets, name)()
    figure = explorer._canvas.figure
    shown = {k: v for k, v in explorer._controls.items() if getattr(v, "description", None)}
    assert {
        "panels": [panel(ax) for ax in figure.axes],
        "over all": [entries(legend) for legend in figure.legends],
        "controls": {k: control(v) for k, v in shown.items()},
    } == FACES[name]
    explorer.close()
