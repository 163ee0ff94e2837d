"""Make the controls of explorers from ipywidgets, check their values and write them as text."""

import html
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import ipywidgets

from bdl_teach.problems import own_points
from bdl_teach.widgets._engine.own_data import Points, Unseen

Widget = Any  # ipywidgets has no types
Values = dict[str, Any]  # the value of each control, by the control's name
Presets = Mapping[str, tuple[str, Values]]  # by name: where to look, and values

_STYLE = {"description_width": "7em"}
_WIDE = {"width": "auto"}
_USUAL = 13  # letters of a label that fit into the width above
_BUTTONS = (ipywidgets.Button, ipywidgets.ToggleButton)


@dataclass(frozen=True)
class Control:
    """One control, as the data file of its explorer declares it.

    What ``range`` holds depends on the kind (an explorer makes controls of other kinds itself):

    - ``"slider"``, ``"count"`` (whole numbers): ``[low, high, step]``
    - ``"powers"`` (of ten): ``[low, high, step]`` of the exponent; the step is 0.1 if left out
    - ``"places"`` (a slider over given values), ``"menu"``, ``"row"`` (of buttons, of which one is
      down): the options, each a value or ``[text, value]``
    - ``"points"`` (set in the picture): ``[largest number of points]``
    - ``"toggle"``: none
    """

    kind: str
    label: str = ""  # the text beside it
    default: Any = None  # the starting value
    range: Sequence[Any] = ()
    hint: str | Sequence[str] = ""  # the tooltip; for a row one for each option
    readout: str = ".2f"  # the format in which a slider shows its value

    @property
    def unseen(self) -> bool:
        """Return whether the control has no widget, because it is set in the picture."""
        return self.kind in ("points", "unseen")

    @property
    def options(self) -> list[Any]:
        """Return the options, each a value or a pair of its text and its value."""
        return [tuple(one) if isinstance(one, list) else one for one in self.range]

    def value(self, given: Any) -> Any:
        """Convert a value from the data file to the control's type; round "powers" to a step."""
        if self.kind == "points":
            return own_points.read(given)[0]
        if self.kind == "slider":
            return float(given)
        if self.kind != "powers":
            return given
        low, step = self.range[0], self.range[2] if len(self.range) == 3 else 0.1
        power = low + round((math.log10(given) - low) / step) * step
        if math.isclose(power, round(power, 3), abs_tol=1e-12):
            power = round(power, 3)  # 0.9 and not 0.9000000000000004
        return float(given) if math.isclose(given, 10.0**power, rel_tol=1e-9) else 10.0**power

    def make(self) -> Widget:
        if self.kind == "points":
            return Points(*self.range)
        given: dict[str, Any] = {"value": self.value(self.default), "description": self.label}
        if self.kind in ("menu", "places", "row"):
            given["options"] = self.options
        else:
            given |= dict(zip(("min", "max", "step"), self.range, strict=False))
        if self.kind in ("slider", "powers"):
            given["readout_format"] = self.readout
        if self.kind == "row":
            return ipywidgets.ToggleButtons(**given, tooltips=list(self.hint))
        style = {} if self.kind == "toggle" else {"style": _STYLE}
        return _KINDS[self.kind](**given, **style, tooltip=self.hint, layout=_WIDE)


_KINDS: Mapping[str, Callable[..., Widget]] = {
    "slider": ipywidgets.FloatSlider,
    "count": ipywidgets.IntSlider,
    "powers": ipywidgets.FloatLogSlider,
    "places": ipywidgets.SelectionSlider,
    "menu": ipywidgets.Dropdown,
    "toggle": ipywidgets.ToggleButton,
}


def toggle(label: str, hint: str) -> Widget:
    return ipywidgets.ToggleButton(description=label, tooltip=hint, layout=_WIDE)


def button(label: str, hint: str, on_click: Callable[[], object]) -> Widget:
    widget = ipywidgets.Button(description=label, tooltip=hint, layout=_WIDE)
    widget.on_click(lambda _: on_click())
    return widget


def in_the_page() -> None:
    """Do nothing: a script in the page handles the click."""


def alike(one: Any, other: Any) -> bool:
    """Return whether two values are equal, up to the rounding of numbers in the page."""
    numbers = isinstance(one, int | float) and isinstance(other, int | float)
    return math.isclose(one, other, rel_tol=1e-6) if numbers else bool(one == other)


def same(one: Values, other: Values) -> bool:
    """Return whether two states have equal values, up to the rounding of numbers in the page."""
    return one.keys() == other.keys() and all(alike(one[name], other[name]) for name in one)


def take(known: Mapping[str, Widget], name: str, value: object) -> Any:
    """Return ``value`` if the control ``known[name]`` can hold it, else raise ``ValueError``.

    For a control that is set in the picture, return the value in the form that the control stores.
    """
    if name not in known:
        raise ValueError(f"{name}: expected one of the controls {', '.join(known)}")
    control = known[name]
    if isinstance(control, Unseen):
        return control.read(value)
    try:
        taken = bool(control.traits()["value"]._validate(control, value) == value)
    except Exception:  # traitlets' own messages do not name the control
        taken = False
    if not taken:
        raise ValueError(f"{name}: expected {_range(control)}, got {value!r}")
    return value


def options(control: Widget) -> list[Any]:
    """Return the values that a menu, a row of buttons or a slider over given values offers."""
    return [one[1] if isinstance(one, tuple) else one for one in control.options]


def _range(control: Widget) -> str:
    """Describe the values that a control takes, for an error message."""
    if isinstance(control, ipywidgets.ToggleButton):
        return "True or False"
    if hasattr(control, "options"):
        return f"one of {', '.join(map(str, options(control)))}"
    low, high = control.min, control.max
    if hasattr(control, "base"):
        low, high = control.base**low, control.base**high
    return f"a value between {low:g} and {high:g}"


def written(control: Widget, value: Any) -> str:
    """Return a value of a control as text, as the page shows it."""
    if isinstance(control, Unseen):
        return control.words(value)
    if isinstance(value, bool):
        return "on" if value else "off"
    if hasattr(control, "options"):
        names = (o if isinstance(o, tuple) else (str(o), o) for o in control.options)
        return next((str(name) for name, option in names if option == value), str(value))
    form = getattr(control, "readout_format", "")
    return format(value, f"#{form}" if form.endswith("g") else form)  # the page's g keeps zeros


def words(text: str, name: str) -> Widget:
    """Make a line of text; ``name`` is its class in the style sheet."""
    made = ipywidgets.HTML(value=html.escape(text))
    made.add_class(name)
    return made


def box(name: str, children: Iterable[Widget]) -> Widget:
    """Make a box of widgets; ``name`` is its class in the style sheet, which lays it out."""
    made = ipywidgets.Box(list(children))
    made.add_class(name)
    return made


def group(name: str, widgets: Sequence[Widget]) -> Widget:
    """Make a box of widgets under a heading; neighbouring buttons share a row."""
    sliders = [widget for widget in widgets if hasattr(widget, "readout")]
    if any(len(slider.description) > _USUAL for slider in sliders):
        for slider in sliders:
            slider.style.description_width = "7.4em"
    rows: list[Widget] = []
    for are_buttons, run in groupby(widgets, lambda widget: isinstance(widget, _BUTTONS)):
        some = list(run)
        rows += [box("bdl-buttons", some)] if are_buttons else some
    return box("bdl-group", [*([words(name, "bdl-name")] if name else []), *rows])
