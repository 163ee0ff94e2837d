"""The controls that explorers share: core ipywidgets, Unicode labels, one look."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import ipywidgets

Widget = Any  # ipywidgets has no types
Values = dict[str, Any]  # the value of each control, by the control's name
Presets = Mapping[str, tuple[str, Values]]  # by name: a sentence that says where to look, values

_STYLE = {"description_width": "9.5em"}
_WIDE = {"width": "auto"}


def slider(label: str, value: float, low: float, high: float, step: float, hint: str) -> Widget:
    """A slider over floats; every movement counts, not only the release."""
    return ipywidgets.FloatSlider(
        value=value, min=low, max=high, step=step, description=label, tooltip=hint,
        continuous_update=True, readout_format=".2f", style=_STYLE, layout=_WIDE,
    )  # fmt: skip


def count_slider(label: str, value: int, low: int, high: int, hint: str) -> Widget:
    """A slider over whole numbers."""
    return ipywidgets.IntSlider(
        value=value, min=low, max=high, description=label, tooltip=hint,
        continuous_update=True, style=_STYLE, layout=_WIDE,
    )  # fmt: skip


def log_slider(label: str, value: float, low: float, high: float, form: str, hint: str) -> Widget:
    """A slider over powers of ten, from 10^low to 10^high in tenths of a decade."""
    return ipywidgets.FloatLogSlider(
        value=value, base=10, min=low, max=high, step=0.1, description=label, tooltip=hint,
        continuous_update=True, readout_format=form, style=_STYLE, layout=_WIDE,
    )  # fmt: skip


def choice_slider(label: str, value: object, options: Iterable[object], hint: str) -> Widget:
    """A slider over given values."""
    return ipywidgets.SelectionSlider(
        value=value, options=list(options), description=label, tooltip=hint,
        continuous_update=True, style=_STYLE, layout=_WIDE,
    )  # fmt: skip


def toggle(label: str, hint: str) -> Widget:
    """A button that stays down."""
    return ipywidgets.ToggleButton(description=label, tooltip=hint, layout=_WIDE)


def button(label: str, hint: str, on_click: Callable[[], object]) -> Widget:
    """A button that calls ``on_click`` without arguments."""
    widget = ipywidgets.Button(description=label, tooltip=hint, layout=_WIDE)
    widget.on_click(lambda _: on_click())
    return widget


def check(name: str, control: Widget, value: object) -> None:
    """Refuse a value that the control would refuse, or change into another.

    Raises:
        ValueError: It is such a value; the message says which ones there are.
    """
    try:
        taken = bool(control.traits()["value"]._validate(control, value) == value)
    except Exception:  # of traitlets' own words none name the control
        taken = False
    if not taken:
        raise ValueError(f"{name}: expected {_range(control)}, got {value!r}")


def _range(control: Widget) -> str:
    """The values that a control takes, in words."""
    if isinstance(control, ipywidgets.ToggleButton):
        return "True or False"
    if hasattr(control, "options"):
        options = (o[1] if isinstance(o, tuple) else o for o in control.options)
        return f"one of {', '.join(map(str, options))}"
    low, high = control.min, control.max
    if hasattr(control, "base"):
        low, high = control.base**low, control.base**high
    return f"a value between {low:g} and {high:g}"


def for_screen_readers(words: str) -> Widget:
    """A sentence that is read out, and takes no room."""
    hidden = "position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)"
    value = f'<p style="{hidden}">{html.escape(words)}</p>'
    return ipywidgets.HTML(value=value, layout={"height": "0", "margin": "0"})


def preset_buttons(presets: Presets, choose: Callable[[str], object]) -> list[Widget]:
    """One button a preset; its tooltip says what to look for."""
    return [button(name, hint, partial(choose, name)) for name, (hint, _) in presets.items()]


def grid(widgets: Iterable[Widget], columns: int = 2) -> Widget:
    """Lay widgets out in columns of equal width."""
    return ipywidgets.GridBox(
        list(widgets),
        layout={"grid_template_columns": f"repeat({columns}, minmax(0, 1fr))", "width": "100%"},
    )


def row(widgets: Iterable[Widget]) -> Widget:
    """Lay widgets out in a row that wraps."""
    placed = [_in_line(widget) for widget in widgets]
    return ipywidgets.Box(placed, layout={"flex_flow": "row wrap", "width": "100%"})


def _in_line(widget: Widget) -> Widget:
    """Put the label of toggle buttons beside them; left alone it stands above, out of line."""
    if isinstance(widget, ipywidgets.ToggleButtons):
        widget.layout.display, widget.layout.margin = "flex", "2px 0 0 2px"  # as other buttons
        widget.description += "\N{NO-BREAK SPACE}"
        widget.style.button_width = "auto"
        widget.style.description_width = "initial"
    return widget
